"""`apply`: how each event changes a book. Total for every event that `decide` made on that book."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.book import events as e
from engine.book.sheets import Frame
from engine.book.state import Book
from engine.book.words import Page
from engine.tiles import SEATS


def apply(book: Book, event: e.BookEvent) -> Book:
    """The book after an event; its first is folded onto `blank(rules)`."""
    changed: Book = _FOLDS[type(event)](book, event)
    return changed


def _begun(book: Book, event: e.BookBegun) -> Book:
    return Book(
        Frame(book.rules, event.dealer, event.gold, event.steps, event.chips),
        event.stage,
        kept=event.stage == "keeping",
        first=event.page,
        done=event.done,
    )


def _seat_written(book: Book, event: e.SeatWritten) -> Book:
    page = _page(book, event.version).with_seat(event.seat, event.said)
    return _edited(_with_page(book, event.version, page), event.by)


def _end_written(book: Book, event: e.EndWritten) -> Book:
    page = _page(book, event.version).with_end(event.end)
    ends = book.stage == "keeping" and event.end.kind
    return _with_page(_turned(book, event.by) if ends else _edited(book, event.by), event.version, page)


def _edited(book: Book, seat: str) -> Book:
    """A seat has written something; in play there is no clock that it would start anew."""
    if not seat or book.stage == "keeping":
        return book
    return book.but(edits={**book.edits, seat: book.edits.get(seat, 0) + 1})


def _turned(book: Book, seat: str) -> Book:
    return book.but(turns={**book.turns, seat: book.turns.get(seat, 0) + 1}) if seat else book


def _page(book: Book, version: int) -> Page:
    return book.second if version == 2 and book.second is not None else book.first


def _with_page(book: Book, version: int, page: Page) -> Book:
    return book.but(second=page) if version == 2 else book.but(first=page)


def _seats_done(book: Book, event: e.SeatsDone) -> Book:
    left = {*book.done, *event.seats} if event.done else {*book.done} - {*event.seats}
    if event.done and len(event.seats) == 1:
        book = _edited(book, *event.seats)
    return book.but(done=tuple(seat for seat in SEATS if seat in left))


def _entry_begun(book: Book, event: e.EntryBegun) -> Book:
    turned = _turned(book, event.seat)
    return turned.but(stage="entry", agreed=(), again=(event.seat,) if event.seat else ())


def _keeping_resumed(book: Book, event: e.KeepingResumed) -> Book:
    return _turned(book, event.seat).but(stage="keeping", agreed=(), again=(), done=())


def _agreement_begun(book: Book, _: e.AgreementBegun) -> Book:
    return book.but(stage="agreement", agreed=(), again=())


def _agreed(book: Book, event: e.SeatAgreed) -> Book:
    return book.but(agreed=(*book.agreed, event.seat))


def _objected(book: Book, event: e.SeatObjected) -> Book:
    agreed = tuple(seat for seat in book.agreed if seat != event.seat)
    return book.but(stage="objection", by=event.seat, second=book.first, agreed=agreed)


def _proposed(book: Book, _: e.VersionProposed) -> Book:
    return book.but(stage="vote", votes={book.by: 2})


def _withdrawn(book: Book, _: e.ObjectionWithdrawn) -> Book:
    objected = (*book.objected, book.by)
    return book.but(stage="agreement", by="", second=None, votes={}, objected=objected)


def _voted(book: Book, event: e.SeatVoted) -> Book:
    return _edited(book, event.seat).but(votes={**book.votes, event.seat: event.choice})


def _closed(book: Book, event: e.BookClosed) -> Book:
    return book.but(stage="closed", decided=event.choice, how=event.how)


_FOLDS: Mapping[type[Any], Callable[[Book, Any], Book]] = {
    e.BookBegun: _begun,
    e.SeatWritten: _seat_written,
    e.EndWritten: _end_written,
    e.SeatsDone: _seats_done,
    e.EntryBegun: _entry_begun,
    e.KeepingResumed: _keeping_resumed,
    e.AgreementBegun: _agreement_begun,
    e.SeatAgreed: _agreed,
    e.SeatObjected: _objected,
    e.VersionProposed: _proposed,
    e.ObjectionWithdrawn: _withdrawn,
    e.SeatVoted: _voted,
    e.BookClosed: _closed,
}
