"""Where the objector's version differs from the first, for the four who decide."""

from __future__ import annotations

from typing import Any

from engine.book.state import Book, shown
from engine.book.words import COUNTS, Page, Said, plain_said
from engine.tiles import SEATS, format_tiles


def differs(book: Book) -> list[dict[str, Any]]:
    """Each word that the two versions tell otherwise: of a `seat`, or of the whole hand with the seat empty."""
    assert book.second is not None, "nobody has objected"
    found = _between("", _ending(book.first), _ending(book.second))
    for seat in SEATS:
        first, second = book.first.seats[seat], book.second.seats[seat]
        if first != second:
            found += _between(seat, _words(first, shown(book, seat)), _words(second, True))
    return found


def _between(seat: str, first: dict[str, Any], second: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"seat": seat, "what": what, "first": first.get(what), "second": second.get(what)}
        for what in dict.fromkeys((*first, *second))
        if first.get(what) != second.get(what)
    ]


def _ending(page: Page) -> dict[str, Any]:
    end, foul = page.end, page.foul
    return {
        "kind": end.kind,
        "winners": [{"seat": win.seat, "way": win.way, "source": win.source} for win in end.wins],
        "foul": foul and {"seat": foul.seat, "kind": foul.kind, "ready": list(foul.ready)},
        "last_drawer": end.last_drawer,
        "covered": list(end.covered),
        "pays_all": page.pays_all,
        "no_flowers": end.no_flowers,
        "followed": end.followed,
        "hardness": page.hardness,
    }


def _words(said: Said, open_tiles: bool) -> dict[str, Any]:
    """What counts of a seat: its counts or its tiles, whichever tell it; tiles as one text."""
    plain = plain_said(said)
    found = {name: plain[name] for name in ("flowers", "kongs", "patterns", "bid")}
    if not said.by_tiles:
        return {**found, **{name: plain[name] or 0 for name in COUNTS}}
    if not open_tiles:
        return {**found, "tiles": ""}
    melds = [{"kind": meld.kind, "tiles": format_tiles(meld.tiles)} for meld in said.melds]
    return {**found, "tiles": format_tiles(said.concealed), "melds": melds, "tile": said.tile}
