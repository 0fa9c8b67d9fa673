"""The least that the end of a hand implies: what counts where somebody has gone away without saying all (P2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from engine.book.words import Page, Said, touched
from engine.declared_ends import flowers_needed, golds_needed
from engine.tally import HARDNESS
from engine.tiles import FLOWERS, SEATS, sort_tiles


def least(page: Page, silent: Collection[str], settles: Callable[[Page], bool]) -> Page:
    """The version nearest to what was said that settles: as it is, with the least of one of the `silent` seats, of all
    of them, of everybody, and last without the flowers and kongs that were touched.
    """
    return next(filter(settles, _versions(page, silent)), page)


def _versions(page: Page, silent: Collection[str]) -> Iterator[Page]:
    yield page
    for seat in silent:
        yield _least_of(page, (seat,))
    yield _least_of(page, silent)
    yield _least_of(page, SEATS)
    yield _least_of(Page({seat: Said(bid=said.bid) for seat, said in page.seats.items()}, page.end), SEATS)


def _least_of(page: Page, seats: Collection[str]) -> Page:
    """What was touched in play, and of a winner the golds and flowers of his way and the softest hand."""
    for seat in seats:
        page = page.with_seat(seat, touched(page.seats[seat]))
    for win in page.end.wins:
        if win.seat in seats:
            said = replace(page.seats[win.seat], golds=golds_needed(win.way), hardness=HARDNESS[0])
            page = page.with_seat(win.seat, replace(said, flowers=_flowers(page, win.seat, flowers_needed(win.way))))
    return page


def _flowers(page: Page, seat: str, needed: int) -> tuple[str, ...]:
    """A seat's flowers, and as many that lie before nobody as its way needs."""
    own = page.seats[seat].flowers
    taken = {face for said in page.seats.values() for face in said.flowers}
    free = [face for face in FLOWERS if face not in taken]
    return tuple(sort_tiles((*own, *free[: max(0, needed - len(own))])))
