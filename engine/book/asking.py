"""What the book asks of each seat, and what everybody may see of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.book.deciding import offered
from engine.book.differing import differs
from engine.book.fields import fields, honours_matter, last_tiles, most, ways
from engine.book.sheets import Reckoning, water_so_far
from engine.book.state import Book, shown
from engine.book.words import COUNTS, Page, plain_said, plain_tiles
from engine.chain import Refused
from engine.settlement import Settlement, foul_kinds
from engine.tiles import SEATS


@dataclass(frozen=True, slots=True)
class Ask:
    """A prompt of one seat: `params` are for that seat alone."""

    seat: str
    verb: str
    actions: tuple[str, ...]
    params: Mapping[str, Any]


def asks(book: Book) -> tuple[Ask, ...]:
    """What every seat is asked now; none once the book is closed."""
    found = []
    for seat in SEATS if book.stage in _PARAMS else ():
        verb, params = _PARAMS[book.stage](book, seat)
        found.append(Ask(seat, verb, offered(book, seat), params))
    return tuple(found)


def public(book: Book) -> dict[str, Any]:
    """The book as everybody may see it, nobody's tiles or counts: the settlement is the one that stands."""
    open_second = book.second is not None and book.stage != "objection"
    second = book.reckoned_second if open_second else None
    stands, page = (second, book.second) if second and book.decided == 2 else (book.reckoned, book.first)
    assert page is not None
    return {
        "stage": book.stage,
        "kind": page.end.kind or None,
        "winners": _winners(page),
        "foul": _foul(page),
        "done": {seat: seat in book.done for seat in SEATS},
        "agreed": {seat: seat in book.agreed for seat in SEATS},
        "by": book.by or None,
        "votes": dict(book.votes),
        "settlement": totals(stands.settlement),
        "second": totals(second.settlement) if second is not None else None,
    }


def totals(settlement: Settlement | None) -> dict[str, Any] | None:
    """What a settlement comes to, without its payments."""
    if settlement is None:
        return None
    plain = settlement.plain()
    return {"net": plain["net"], "bonus": plain["bonus"], "next": plain["next"]}


def _keeping(book: Book, seat: str) -> tuple[str, dict[str, Any]]:
    rules, seats = book.rules, book.first.seats
    return "book", {
        "mine": list(seats[seat].flowers),
        "taken": {face: other for other in SEATS for face in seats[other].flowers},
        "kongs": {other: plain_said(seats[other])["kongs"] for other in SEATS},
        "covered": list(book.first.end.covered),
        "ways": ways(rules),
        "fouls": list(foul_kinds(rules)),
        "honours": honours_matter(rules),
        "several": rules.several_winners,
        "last_drawer": rules.dealer_after_draw == "last_drawer",
        "followed": _followed(book, book.first),
    }


def _entry(book: Book, seat: str) -> tuple[str, dict[str, Any]]:
    """What was bid has been said before the hand: it is asked for only of who has something to change (P7)."""
    own = _of_seat(book, book.first, seat, True)
    if book.kept and seat not in book.again:
        own["fields"] = [name for name in own["fields"] if name != "bid"]
    return "entry", {**_whole(book, seat), "needed": seat in book.needed, **own, "reopen": book.kept}


def _agreement(book: Book, seat: str) -> tuple[str, dict[str, Any]]:
    whole = _whole(book, seat)
    return "agree", {**whole, "agreed": {other: other in book.agreed for other in SEATS}}


def _objection(book: Book, seat: str) -> tuple[str, dict[str, Any]]:
    if seat != book.by or book.second is None:
        return "objection", {"by": book.by}
    page, first = book.second, book.first
    told = {
        other: _of_seat(
            book, page, other, other == seat or shown(book, other) or page.seats[other] != first.seats[other]
        )
        for other in SEATS
    }
    return "object_entry", {
        **_ending(book, page),
        **_settled(book.reckoned_second, book.missing(seat, 2), seat),
        "seats": told,
        "first": totals(book.reckoned.settlement),
    }


def _vote(book: Book, seat: str) -> tuple[str, dict[str, Any]]:
    return "vote", {
        "by": book.by,
        "first": totals(book.reckoned.settlement),
        "second": totals(book.reckoned_second.settlement),
        "differs": differs(book),
        "votes": dict(book.votes),
    }


_PARAMS: Mapping[str, Callable[[Book, str], tuple[str, dict[str, Any]]]] = {
    "keeping": _keeping,
    "entry": _entry,
    "agreement": _agreement,
    "objection": _objection,
    "vote": _vote,
}


def _whole(book: Book, seat: str) -> dict[str, Any]:
    """How the hand ended and what it comes to, as a seat may see it."""
    return {
        **_ending(book, book.first),
        **_settled(book.reckoned, book.missing(seat), seat),
        "done": {other: other in book.done for other in SEATS},
    }


def _ending(book: Book, page: Page) -> dict[str, Any]:
    end, rules = page.end, book.rules
    return {
        "kind": end.kind or None,
        "winners": _winners(page),
        "foul": _foul(page),
        "covered": list(end.covered),
        "pays_all": page.pays_all,
        "followed": _followed(book, page),
        "last_drawer": end.last_drawer,
        "hardness": page.hardness,
        "ways": ways(rules),
        "fouls": list(foul_kinds(rules)),
        "honours": honours_matter(rules),
        "several": rules.several_winners,
        "hand": rules.hand,
        "last_tile": list(last_tiles(rules)),
    }


def _settled(reckoning: Reckoning, missing: Refused | None, seat: str) -> dict[str, Any]:
    settlement = reckoning.settlement
    return {
        "settlement": totals(settlement),
        "missing": missing and {"code": missing.code, "rule": missing.rule, "params": dict(missing.params)},
        "lines": [line.plain() for line in settlement.of(seat)] if settlement is not None else [],
    }


def _of_seat(book: Book, page: Page, seat: str, open_tiles: bool) -> dict[str, Any]:
    said, asked = page.seats[seat], fields(book.frame, page.end, seat)
    return {
        "fields": list(asked),
        "most": {name: most(book.frame, name) for name in asked if name in (*COUNTS, "bid")},
        "said": {**plain_said(said), "ready": page.foul is not None and seat in page.foul.ready},
        "tiles": plain_tiles(said) if open_tiles else None,
        "water": water_so_far(book.frame, page, seat),
    }


def _winners(page: Page) -> list[dict[str, Any]]:
    return [{"seat": win.seat, "way": win.way, "source": win.source} for win in page.end.wins]


def _foul(page: Page) -> dict[str, Any] | None:
    foul = page.foul
    return {"seat": foul.seat, "kind": foul.kind, "ready": list(foul.ready)} if foul is not None else None


def _followed(book: Book, page: Page) -> dict[str, Any] | None:
    """R40, where the rules know it."""
    end = page.end
    return {"no_flowers": end.no_flowers, "followed": end.followed} if book.rules.dealer_followed else None
