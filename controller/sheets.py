"""What a seat asked to look at: history and statistics of the evening, a hand and its payments, the records.

Made anew from the state with every view, never journaled; a record's text is fetched from the journal once. Every page
leaves the rest of a view room within the 8 KiB of a message.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic_core import to_json

from controller.matches import parts
from controller.records import StoredRecord
from engine.match.state import Booking, Match
from engine.match.statistics import figures

ROWS_A_PAGE: Final = 8
TEXT_A_PAGE: Final = 1_800
"""Bytes of a record's text on one page."""

MOST_LINES: Final = 2_000
"""Bytes that the payments of a hand may take with their reasons; beyond, the sums alone are shown."""

FetchRecords = Callable[[int, int], Awaitable[Sequence[StoredRecord]]]
"""The records of a match's hand, oldest first."""

FetchMatch = Callable[[Match, int], Awaitable[str]]
"""The record of a match of the session by its number; empty where there is none."""


@dataclass(frozen=True, slots=True)
class _Look:
    """What a seat looks at. `parts` are a record's pages, none where it has none; numbers are 0 where none was said."""

    what: str
    page: int = 0
    match: int = 0
    hand: int = 0
    parts: tuple[str, ...] = ()


class Sheets:
    """By seat, until the seat closes it with `none`."""

    def __init__(self, fetch: FetchRecords, fetch_match: FetchMatch) -> None:
        self._fetch = fetch
        self._fetch_match = fetch_match
        self._looks: dict[str, _Look] = {}
        self._before = 0

    async def look(self, seat: str, params: Mapping[str, Any], session: Match) -> None:
        """The seat turns to another sheet or page, or closes what it has open."""
        self._turn(session)
        if params["what"] == "none":
            self._looks.pop(seat, None)
            return
        asked = _Look(params["what"], params.get("page", 0), params.get("match", 0), params.get("hand", 0))
        one = _booking(session, asked)
        if one is not None:
            asked = replace(asked, match=one.match, hand=one.hand)
        if asked.what == "match":
            number = asked.match or session.match
            asked = replace(asked, match=number if number > session.before else 0)  # another evening's is not theirs
        self._looks[seat] = asked
        text = await self._text(asked, one, session)
        if text and self._looks.get(seat) is asked:
            self._looks[seat] = replace(asked, parts=parts(text, TEXT_A_PAGE))

    async def _text(self, asked: _Look, one: Booking | None, session: Match) -> str:
        """The text of the record that is asked for; empty where there is none, and of other sheets."""
        if asked.what == "match":
            return await self._fetch_match(session, asked.match) if asked.match else ""
        if asked.what != "record" or one is None:
            return ""
        found = await self._fetch(asked.match, asked.hand)
        return found[-1].text if found else ""

    def _turn(self, session: Match) -> None:
        """What was looked at on an evening that is over is closed."""
        if self._before != session.before:
            self._before = session.before
            self._looks.clear()

    def close(self, seat: str) -> None:
        """The seat has lost its display: nobody looks at anything."""
        self._looks.pop(seat, None)

    def shown(self, session: Match) -> dict[str, Mapping[str, Any]]:
        """Every open sheet as its seat's view shows it; those of an evening that is over are closed."""
        self._turn(session)
        return {seat: _SHOWN[look.what](session, look, seat) for seat, look in self._looks.items()}


def _booking(session: Match, look: _Look) -> Booking | None:
    """The hand that is meant: of the match named or the newest, the hand named or the newest; none for other sheets."""
    if look.what not in ("hand", "record"):
        return None
    booked = [
        one
        for one in session.book
        if (not look.match or one.match == look.match) and (not look.hand or one.hand == look.hand)
    ]
    standing = [one for one in booked if not one.voided]
    found = standing or booked
    return found[-1] if found else None


def _history(session: Match, look: _Look, _: str) -> dict[str, Any]:
    """The newest hands first."""
    book = session.book[::-1]
    page, pages = _pages(look.page, len(book), ROWS_A_PAGE)
    rows = [_row(one) for one in book[page * ROWS_A_PAGE : (page + 1) * ROWS_A_PAGE]]
    return {"what": "history", "page": page, "pages": pages, "rows": rows}


def _row(one: Booking) -> dict[str, Any]:
    """One hand by its players, whatever chairs they have taken since (R2)."""
    return {
        "match": one.match,
        "hand": one.hand,
        "dealer": one.seats[one.dealer],
        "kind": one.kind,
        "wins": [{"player": one.seats[win["seat"]], "way": win["way"]} for win in one.wins],
        "net": dict(one.points),
        "bonus": {player: amount for player, amount in one.bonus.items() if amount},
        "voided": one.voided,
    }


def _statistics(session: Match, look: _Look, _: str) -> dict[str, Any]:
    return {
        "what": "statistics",
        "page": 0,
        "pages": 1,
        "players": {player.id: _figures(session, player.id) for player in session.players},
    }


def _figures(session: Match, player: str) -> dict[str, Any]:
    found = figures(session, player)
    best = None if found.best is None else dict(zip(("points", "match", "hand"), found.best, strict=True))
    return {
        "seat": session.seat_of(player) if player in session.seats.values() else None,
        "hands": found.hands,
        "wins": found.wins,
        "ways": dict(found.ways),
        "golds": found.golds,
        "paid_for": found.paid_for,
        "fouls": found.fouls,
        "points": found.points,
        "bonus": found.bonus,
        "best": best,
    }


def _hand(session: Match, look: _Look, seat: str) -> dict[str, Any]:
    """One hand with what the seat's player paid and got in it, in the seats of that hand."""
    one = _booking(session, look)
    if one is None:
        return _nothing(look)
    player = session.seats.get(seat, "")
    then = next((other for other, sat in one.seats.items() if sat == player), "")
    lines = [line.plain() for line in one.transfers if then in (line.payer, line.receiver)]
    if len(to_json(lines)) > MOST_LINES:
        lines = [{**line, "why": []} for line in lines]
    return {
        "what": "hand", "page": 0, "pages": 1, "match": one.match, "hand": one.hand, "rows": [_row(one)],
        "lines": lines,
    }  # fmt: skip


def _record(session: Match, look: _Look, _: str) -> dict[str, Any]:
    """The text of a hand's record, by whole lines."""
    return {**_page(look), "hand": look.hand} if look.parts else _nothing(look)


def _match(session: Match, look: _Look, _: str) -> dict[str, Any]:
    """The text of a match's record, by whole lines."""
    return _page(look)


def _page(look: _Look) -> dict[str, Any]:
    if not look.parts:
        return _nothing(look)
    page, pages = _pages(look.page, len(look.parts), 1)
    return {"what": look.what, "page": page, "pages": pages, "match": look.match, "text": look.parts[page]}


def _nothing(look: _Look) -> dict[str, Any]:
    return {"what": look.what, "page": 0, "pages": 1, "missing": "no_hand" if look.what == "hand" else "no_record"}


def _pages(page: int, count: int, each: int) -> tuple[int, int]:
    """The page shown, the last one where there are not so many, and how many there are."""
    pages = max(1, -(-count // each))
    return min(page, pages - 1), pages


_SHOWN: Mapping[str, Callable[[Match, _Look, str], dict[str, Any]]] = {
    "history": _history,
    "statistics": _statistics,
    "hand": _hand,
    "record": _record,
    "match": _match,
}
