"""A hand is over: each enters what counts, all look at the settlement, and an objection is decided by four."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.book.sheets import AFTER_KONG
from engine.book.words import COUNTS
from engine.outcome import Held, Win
from engine.ruleset import Ruleset
from engine.tiles import SEATS
from protocol.mqtt.views import SeatView, Want
from simulators.minds.person import Answering, Intention, Person, by_anybody, rules_of, table_of
from simulators.minds.telling import (
    beside_the_end,
    listed,
    teller_of,
    tells,
    the_end,
    touch_kongs,
    touch_laid,
)
from simulators.minds.truth import Over, counts_of, expected, held_of, over_of, plain_melds, totals_of, win_of
from simulators.sight import Sight

BY_TILES = 0.35
"""How likely a seat enters its whole hand where numbers would do."""
MOST_GOLDS = 4


# --- entry ------------------------------------------------------------------------------------------------------------


def _entry(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    over, rules = over_of(sight), rules_of(view)
    if sight.round is None:
        # The table has refereed; what it knows is right.
        if want.params.get("needed") and not _done(person, want) and want.params.get("missing") is None:
            yield Intention("done", want=want.id, pace="think")
        return
    if over is None:
        if "reopen" in want.actions:
            yield by_anybody(person, _claimant(want) or view.dealer, want, "reopen")
        return
    if rules is None:
        return
    yield from touch_laid(person, view, sight, want)
    # Who is told to have won cannot be told to have covered (R39): first the end, then what stands beside it.
    yield from _end_right(person, view, want, over)
    if not _end_told(want, over):
        return
    yield from beside_the_end(person, view, want, over)
    if person.seat in _ready(over) and not table_of(want, "said").get("ready") and "ready" in want.actions:
        yield Intention("ready", {"on": True}, want=want.id)
    if over["pays_all"] != (want.params.get("pays_all") or ""):
        yield by_anybody(person, teller_of(view, over), want, "pays_all", seat=over["pays_all"] or None)
    if want.params.get("needed") and not _done(person, want):
        yield from _own_entry(person, view, sight, want, over, rules)


def _end_right(person: Person, view: SeatView, want: Want, over: Over) -> Iterator[Intention]:
    """How the hand ended, where the book says it otherwise."""
    if not _end_told(want, over):
        yield from the_end(person, view, want, over)
    winners = [one["seat"] for one in over["winners"]]
    for told in listed(want.params, "winners"):
        if over["kind"] == "win" and told["seat"] not in winners and len(listed(want.params, "winners")) > 1:
            yield by_anybody(person, teller_of(view, over), want, "unwin", seat=told["seat"])


def _end_told(want: Want, over: Over) -> bool:
    """Whether the book says how the hand ended."""
    if want.params.get("kind") != over["kind"]:
        return False
    if over["kind"] == "foul":
        foul = table_of(want, "foul")
        return (foul.get("seat"), foul.get("kind")) == (over["foul"]["seat"], over["foul"]["kind"])
    wins = [win for seat in SEATS if (win := win_of(over, seat)) is not None]
    return len(listed(want.params, "winners")) == len(wins) and all(tells(want, win) for win in wins)


def _own_entry(
    person: Person, view: SeatView, sight: Sight, want: Want, over: Over, rules: Ruleset
) -> Iterator[Intention]:
    """What this seat holds, by numbers or tile by tile, then done."""
    held, win = held_of(sight, over, person.seat), win_of(over, person.seat)
    if held is None:
        return
    said = table_of(want, "said")
    if _by_tiles(person, view, rules, win, want, over):
        entries = list(_tiles(rules, want, held, win, said, table_of(want, "tiles"), {}))
    else:
        entries = [
            *touch_kongs(person, view, sight, want),
            *_counts(person, view, sight, want, _known_counts(view, rules, held, win)),
        ]
    yield from entries
    if not entries and _may_be_done(person, want):
        yield Intention("done", want=want.id, pace="think")


def _by_tiles(person: Person, view: SeatView, rules: Ruleset, win: Win | None, want: Want, over: Over) -> bool:
    """Whether the whole hand is entered: where tiles alone tell what it is worth, where numbers did not do, or as
    chance will have it.
    """
    whole = rules.fans is not None or rules.scoring == "hardness"
    missing = table_of(want, "missing").get("params")
    refused = isinstance(missing, Mapping) and missing.get("seat") == person.seat and _told_counts(want)
    if (win is not None and whole) or person.seat in _ready(over) or refused:
        return True
    return person.chance("by_tiles", view.hand).random() < BY_TILES and not person.errs("wrong_entry", view.hand)


def _told_counts(want: Want) -> bool:
    said = table_of(want, "said")
    return said.get("by") == "items" and said.get("golds") is not None


def _tiles(
    rules: Ruleset,
    want: Want,
    held: Held,
    win: Win | None,
    said: Mapping[str, Any],
    tiles: Mapping[str, Any],
    whose: Mapping[str, str],
) -> Iterator[Intention]:
    """The whole hand, unless it has been entered so."""
    melds = plain_melds(held)
    tile = (win.tile or "") if win is not None else ""
    known = (sorted(tiles.get("concealed") or ()), _melds(tiles.get("melds") or ()), tiles.get("tile") or "")
    if said.get("by") != "tiles" or known != (sorted(held.concealed), _melds(melds), tile):
        arguments = {"concealed": list(held.concealed), "melds": melds, **({"tile": tile} if tile else {})}
        yield Intention("tiles", {**arguments, **whose}, want=want.id, pace="entry")
    elif win is not None and win.after_kong and AFTER_KONG in (rules.fans or ()) and not said.get("patterns"):
        yield Intention("patterns", {"patterns": [AFTER_KONG], **whose}, want=want.id)


def _melds(plain: Any) -> list[tuple[str, tuple[str, ...]]]:
    return sorted((str(meld["kind"]), tuple(meld["tiles"])) for meld in plain)


def _known_counts(view: SeatView, rules: Ruleset, held: Held, win: Win | None) -> dict[str, int]:
    return counts_of(rules, view.gold.face if view.gold is not None else None, held, win)


def _counts(person: Person, view: SeatView, sight: Sight, want: Want, right: Mapping[str, int]) -> Iterator[Intention]:
    """The numbers that count, all those that are not told yet with one touch of each."""
    fields = [name for name in COUNTS if name in listed(want.params, "fields")]
    said = table_of(want, "said")
    told = {name: right.get(name, 0) for name in fields}
    slip = ""
    if "golds" in told and person.errs("wrong_entry", view.hand) and all_lie_open(sight):
        wrong = told["golds"] + 1 if told["golds"] < MOST_GOLDS else 0
        slip = person.slip("wrong_entry", view.hand)
        stands = said.get("golds") == wrong and want.params.get("missing") is None
        told["golds"] = wrong if slip or stands else told["golds"]
    differing = {
        name: value
        for name, value in told.items()
        if (said.get(name) or 0) != value or (name == "golds" and said.get(name) is None)
    }
    if differing:
        yield Intention("items", differing, want=want.id, pace="entry", slip=slip)


def all_lie_open(sight: Sight) -> bool:
    """Whether everybody could see a wrong entry."""
    return all(seat in sight.shown for seat in SEATS if sight.counts[seat])


def _may_be_done(person: Person, want: Want) -> bool:
    """Nothing of one's own is missing any more."""
    missing = want.params.get("missing")
    if not isinstance(missing, Mapping):
        return True
    own = any(one["seat"] == person.seat for one in listed(want.params, "winners"))
    params = missing.get("params")
    return not own and not (isinstance(params, Mapping) and params.get("seat") == person.seat)


def _done(person: Person, want: Want) -> bool:
    return bool(table_of(want, "done").get(person.seat))


def _ready(over: Over) -> tuple[str, ...]:
    """Seats that are paid in a 重判 (R38)."""
    return tuple(over["foul"]["ready"]) if over["foul"] is not None else ()


def _claimant(want: Want) -> str:
    """Who has told a win that is none."""
    winners = listed(want.params, "winners")
    return str(winners[0]["seat"]) if winners else str(table_of(want, "foul").get("seat", ""))


# --- agreement, objection, vote ---------------------------------------------------------------------------------------


def _agree(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """Agree to what is so, object to what is not."""
    over = over_of(sight)
    if sight.round is not None and over is None:
        yield by_anybody(person, _claimant(want) or view.dealer, want, "change")
        return
    if over is not None and {*listed(want.params, "covered")} != {*over["covered"]} and "change" in want.actions:
        # A draw is agreed on as soon as it is told: what a false 胡 has kept from being said is said now.
        yield by_anybody(person, teller_of(view, over), want, "change")
    if table_of(want, "agreed").get(person.seat):
        return
    right, told = expected(view, sight), table_of(want, "settlement")
    if right is not None and not _same(told, totals_of(right)):
        if "object" in want.actions and not person.has_made("wrong_entry", view.hand):
            yield Intention("object", want=want.id, pace="think")
        return
    slip = person.slip("object", view.hand)
    if slip and "object" in want.actions:
        yield Intention("object", want=want.id, pace="think", slip=slip)
    # Hands that are not laid open yet are waited for a while.
    waits = over is not None and right is None and not all_lie_open(sight)
    yield Intention("agree", want=want.id, pace="think", rank=int(waits))


def _objecting(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """The objector writes what is so; who has objected to what was right takes it back, or is outvoted."""
    over, rules = over_of(sight), rules_of(view)
    right = expected(view, sight)
    told = table_of(want, "settlement")
    if over is None or rules is None or right is None:
        yield Intention("withdraw", want=want.id, pace="think")
    elif _same(table_of(want, "first"), totals_of(right)):
        yield from _stubborn(person, view, want)
    elif _same(told, totals_of(right)):
        yield Intention("propose", want=want.id, pace="think")
    else:
        fixes = list(_fixes(person, view, sight, want, over, rules))
        yield from fixes
        if not fixes:
            yield Intention("withdraw", want=want.id, pace="think")


def _fixes(
    person: Person, view: SeatView, sight: Sight, want: Want, over: Over, rules: Ruleset
) -> Iterator[Intention]:
    """What the other version needs until it is as the hand was played."""
    yield from beside_the_end(person, view, want, over)
    if not _end_told(want, over):
        for seat in SEATS:
            win = win_of(over, seat)
            if win is not None and not tells(want, win):
                source = {"source": win.source} if win.source is not None else {}
                yield Intention("win", {"way": win.way, "seat": seat, **source}, want=want.id)
        if over["kind"] != "win":
            yield from the_end(person, view, want, over)
    if over["pays_all"] != (want.params.get("pays_all") or ""):
        yield Intention("pays_all", {"seat": over["pays_all"] or None}, want=want.id)
    for seat, told in table_of(want, "seats").items():
        held = held_of(sight, over, seat)
        if held is None or not isinstance(told, Mapping):
            continue
        said, whose = told.get("said") or {}, {"seat": seat}
        flowers = listed(said, "flowers")
        for face in held.flowers:
            if face not in flowers:
                yield Intention("flower", {"tile": face, **whose}, want=want.id)
        for face in flowers:
            if face not in held.flowers:
                yield Intention("unflower", {"tile": face, **whose}, want=want.id)
        if told.get("fields"):
            yield from _tiles(rules, want, held, win_of(over, seat), said, told.get("tiles") or {}, whose)


def _stubborn(person: Person, view: SeatView, want: Want) -> Iterator[Intention]:
    """An objection to what is right: withdrawn, or a gold more claimed for a winner and put to the vote."""
    claimed = dict(_a_gold_more(want)) if person.chance("stubborn", view.hand).random() < 0.5 else {}
    if want.params.get("settlement") is None or not claimed:
        yield Intention("withdraw", want=want.id, pace="think")
    elif _same(table_of(want, "settlement"), table_of(want, "first")):
        yield Intention("items", claimed, want=want.id, pace="entry")
        yield Intention("withdraw", want=want.id, pace="think", rank=1)
    else:
        yield Intention("propose", want=want.id, pace="think")


def _a_gold_more(want: Want) -> Mapping[str, Any]:
    for one in listed(want.params, "winners"):
        told = table_of(want, "seats").get(one["seat"])
        said = told.get("said") if isinstance(told, Mapping) else None
        if isinstance(told, Mapping) and isinstance(said, Mapping) and "golds" in listed(told, "fields"):
            golds = said.get("golds") or 0
            if said.get("by") == "items" and golds < MOST_GOLDS:
                return {"golds": golds + 1, "seat": one["seat"]}
    return {}


def _vote(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """For the version that is so; the first where nobody can tell."""
    if table_of(want, "votes").get(person.seat) or want.params.get("by") == person.seat:
        return
    right = expected(view, sight)
    second = right is not None and _same(table_of(want, "second"), totals_of(right))
    yield Intention("vote", {"choice": 2 if second else 1}, want=want.id, pace="think")


def _same(told: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    return all(dict(told.get(name) or {}) == dict(right.get(name) or {}) for name in ("net", "bonus"))


WANTS: Mapping[str, Answering] = {
    "entry": _entry,
    "agree": _agree,
    "object_entry": _objecting,
    "vote": _vote,
}
