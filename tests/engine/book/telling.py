"""Books told in tests: every event goes through JSON on its way, as a journal would keep it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from engine import book as b
from engine.chain import Refused
from engine.melds import counts_as_honour, natural_face
from engine.outcome import HandEnd
from engine.ruleset import Ruleset, load_ruleset
from engine.tiles import SEATS, is_flower
from simulators import reckoner

NEW = "new-xiamen-120"
CLASSIC = "classic-xiamen-144"
SEED = "quanzhou-seed"
BASIC = "basic-136"
BIJIN = "bijin-xiamen-144"


def through_json(events: Iterable[b.BookEvent]) -> list[b.BookEvent]:
    """The events as they come out of a journal, the same as they went in."""
    events = list(events)
    read = [b.decode_book_event(json.loads(json.dumps(b.encode_book_event(event)))) for event in events]
    assert read == events
    return read


def opened(rules: str | Ruleset, dealer: str = "E", gold: str | None = "9p", steps: int = 0, **more: Any) -> b.Book:
    """A book that was just opened."""
    known = load_ruleset(rules) if isinstance(rules, str) else rules
    return b.fold(b.blank(known), through_json(b.begin_events(known, dealer, gold, steps, **more)))


def say(book: b.Book, seat: str, action: str, /, **params: Any) -> b.Book:
    """The book after an action."""
    return b.fold(book, through_json(b.decide(book, seat, action, params)))


def told(book: b.Book, *said: tuple[Any, ...]) -> b.Book:
    """The book after several actions, each `(seat, action)` or `(seat, action, params)`."""
    for seat, action, *params in said:
        book = say(book, seat, action, **(params[0] if params else {}))
    return book


def refusal(book: b.Book, seat: str, action: str, /, **params: Any) -> tuple[str, str]:
    """The code and the rule that an action is refused with."""
    with pytest.raises(Refused) as refused:
        b.decide(book, seat, action, params)
    assert refused.value.code != "bad_value" or set(refused.value.params) >= {"field", "expected"}
    return refused.value.code, refused.value.rule


def ask(book: b.Book, seat: str) -> b.Ask:
    """What a seat is asked."""
    return next(one for one in b.asks(book) if one.seat == seat)


def all_done(book: b.Book) -> b.Book:
    """Everybody who must has said all."""
    for seat in SEATS:
        if book.stage == "entry" and seat in book.needed and seat not in book.done:
            book = say(book, seat, "done")
    return book


def ended(book: b.Book, end: HandEnd) -> b.Book:
    """A played hand, told up to its end: flowers, 盖牌, 跟庄, and who won."""
    for seat in SEATS:
        for face in end.held[seat].flowers:
            if book.stage == "keeping":
                book = say(book, seat, "flower", tile=face)
    if book.stage == "entry":
        book = say(book, "E", "reopen")
    outcome = end.outcome
    for seat in outcome.covered:
        book = say(book, "W", "cover", seat=seat, on=True)
    if book.rules.dealer_followed:
        book = say(book, "N", "followed", no_flowers=outcome.no_flowers, followed=outcome.followed)
    if outcome.foul is not None:
        return told(book, ("E", "foul", {"seat": outcome.foul.seat, "kind": outcome.foul.kind}))
    if not outcome.winners:
        last = {"last_drawer": outcome.last_drawer} if book.rules.dealer_after_draw == "last_drawer" else {}
        return say(book, "S", "drawn", **last)
    for win in outcome.winners:
        book = say(book, "W", "win", seat=win.seat, way=win.way, source=win.source)
    if outcome.pays_all is not None:
        book = say(book, "N", "pays_all", seat=outcome.pays_all)
    return book


def entered(book: b.Book, end: HandEnd, tiles: Iterable[str]) -> b.Book:
    """What every seat that is asked enters of a played hand: `tiles` seats their hands, the others what they count."""
    shown = set(tiles)
    for seat in SEATS:
        if book.stage != "entry" or seat not in book.needed:
            continue
        fields = ask(book, seat).params["fields"]
        bid = end.buy if seat == end.dealer else end.top[seat]
        if book.first.seats[seat].bid != bid:
            book = say(book, seat, "bid", points=bid)
        if "ready" in fields and end.outcome.foul is not None:
            book = say(book, seat, "ready", on=seat in end.outcome.foul.ready)
        book = by_tiles(book, end, seat) if seat in shown else by_items(book, end, seat, fields)
    return book


def by_tiles(book: b.Book, end: HandEnd, seat: str) -> b.Book:
    """A seat enters its whole hand."""
    held = end.held[seat]
    win = next((win for win in end.outcome.winners if win.seat == seat), None)
    melds = [{"kind": meld.kind, "tiles": list(meld.tiles)} for meld in held.melds]
    tile = {"tile": win.tile} if win is not None and win.tile is not None else {}
    book = say(book, seat, "tiles", concealed=list(held.concealed), melds=melds, **tile)
    if win is not None and win.after_kong and book.rules.fans is not None:
        book = say(book, seat, "patterns", patterns=["gangshangkaihua"])
    return book


def by_items(book: b.Book, end: HandEnd, seat: str, fields: Iterable[str]) -> b.Book:
    """A seat touches what its display offers."""
    counted = counts(book.rules, end, seat)
    known = list(fields)
    if "kongs" in known:
        for meld in end.held[seat].melds:
            if meld.kind.startswith("kong"):
                honour = counts_as_honour(book.rules, end.gold, meld.tiles[0])
                book = say(book, seat, "kong", kind=meld.kind.removeprefix("kong_"), honour=honour)
    items = {name: counted[name] for name in known if name in counted}
    book = say(book, seat, "items", **items) if items else book
    held, win = end.held[seat], next((win for win in end.outcome.winners if win.seat == seat), None)
    if win is not None and "patterns" in known:
        melds = [(meld.kind, list(meld.tiles)) for meld in held.melds]
        names = reckoner.fan_names({}, end.gold, list(held.concealed), melds, win.way, win.after_kong)
        book = say(book, seat, "patterns", patterns=names)
    if win is not None and "hardness" in known:
        hardness = reckoner.hardness({}, end.gold, list(held.concealed), win.way)
        book = say(book, seat, "hardness", hardness=hardness)
    return book


def counts(rules: Ruleset, end: HandEnd, seat: str) -> dict[str, int]:
    """What a player finds before himself when he looks at his hand (R22, R32)."""
    held = end.held[seat]
    win = next((win for win in end.outcome.winners if win.seat == seat), None)
    taken = win.tile if win is not None and win.source is not None else None
    found: Counter[str] = Counter({"golds": held.concealed.count(str(end.gold))})
    for meld in held.melds:
        if meld.kind == "pong":
            found[f"pongs_{_kind(rules, end, meld.tiles[0])}"] += 1
    for face in set(held.concealed) - {end.gold}:
        copies = held.concealed.count(face)
        if copies - (face == taken) >= 3:
            found[f"triplets_{_kind(rules, end, face)}"] += 1
        elif copies >= 3:
            found[f"pongs_{_kind(rules, end, face)}"] += 1
    found["last_tile"] = _last_tile(rules, end, seat, win.tile if win is not None else None)
    names = ("golds", "pongs_suited", "pongs_honour", "triplets_suited", "triplets_honour", "last_tile")
    return {name: found[name] for name in names}


def _last_tile(rules: Ruleset, end: HandEnd, seat: str, tile: str | None) -> int:
    held = end.held[seat]
    if tile is None or is_flower(tile) or tile == end.gold:
        return 0
    pongs = [natural_face(rules, end.gold, meld.tiles[0]) for meld in held.melds if meld.kind == "pong"]
    if natural_face(rules, end.gold, tile) in pongs:
        return 1
    if held.concealed.count(tile) == 4:
        honour = counts_as_honour(rules, end.gold, tile)
        differ = rules.water is not None and _fourth(rules, True) != _fourth(rules, False)
        return 3 if honour and differ else 2
    return 0


def _fourth(rules: Ruleset, honour: bool) -> int:
    assert rules.water is not None
    return rules.water.kong_concealed[honour] - rules.water.triplet[honour]


def _kind(rules: Ruleset, end: HandEnd, face: str) -> str:
    return "honour" if counts_as_honour(rules, end.gold, face) else "suited"


def points(settled: Mapping[str, Any] | None) -> Any:
    """Net, bonus and next of a settlement shown."""
    assert settled is not None
    return settled["net"], settled["bonus"], (settled["next"]["dealer"], settled["next"]["base_steps"])
