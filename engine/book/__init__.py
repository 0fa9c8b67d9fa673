"""The book of a hand where people tell it: what each enters, the settlement that follows, and how they agree on it."""

from engine.book.asking import Ask, asks, public, totals
from engine.book.deciding import actions, begin, begin_events, decide, decide_clock, decide_floor, fold
from engine.book.events import CODEC, BookEvent, decode_book_event, encode_book_event
from engine.book.folding import apply
from engine.book.sheets import page_of, sheet_of
from engine.book.state import Book, blank, clock, covered, decidable, kongs, restarts, shown, tail_taken
from engine.book.words import End, Kong, Page, Said

__all__ = [
    "CODEC",
    "Ask",
    "Book",
    "BookEvent",
    "End",
    "Kong",
    "Page",
    "Said",
    "actions",
    "apply",
    "asks",
    "begin",
    "begin_events",
    "blank",
    "clock",
    "covered",
    "decidable",
    "decide",
    "decide_clock",
    "decide_floor",
    "decode_book_event",
    "encode_book_event",
    "fold",
    "kongs",
    "page_of",
    "public",
    "restarts",
    "sheet_of",
    "shown",
    "tail_taken",
    "totals",
]
