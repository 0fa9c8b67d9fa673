"""What has happened in the book of a hand. What a seat entered is secret until its hand is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from engine.book.words import End, Kong, Page, Said
from engine.melds import Meld
from engine.outcome import Foul, Win
from engine.plain import Codec


@dataclass(frozen=True, slots=True)
class BookBegun:
    """The book of a hand is opened; `chips` are what every seat holds, None where nobody counts them."""

    dealer: str
    gold: str | None
    steps: int
    chips: Mapping[str, int] | None
    stage: str
    page: Page
    done: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SeatWritten:
    """A whole new word about one seat, in the first version or the objector's second; `by` is empty where it is the
    least that counts, as nobody said more in time.
    """

    by: str
    seat: str
    said: Said
    version: int


@dataclass(frozen=True, slots=True)
class EndWritten:
    """A whole new word about how the hand ended, in the first version or the objector's second."""

    by: str
    end: End
    version: int


@dataclass(frozen=True, slots=True)
class SeatsDone:
    """Seats have said all, or no longer."""

    seats: tuple[str, ...]
    done: bool


@dataclass(frozen=True, slots=True)
class EntryBegun:
    """Each enters what counts; `seat` has asked for it once more and must say when it is done, or is empty."""

    seat: str


@dataclass(frozen=True, slots=True)
class KeepingResumed:
    """The hand has not ended, says a seat: play goes on, and what was entered is kept."""

    seat: str


@dataclass(frozen=True, slots=True)
class AgreementBegun:
    """All that counts is told: four people look at the settlement, and silence agrees."""


@dataclass(frozen=True, slots=True)
class SeatAgreed:
    """A seat agrees with the settlement."""

    seat: str


@dataclass(frozen=True, slots=True)
class SeatObjected:
    """A seat objects: the clock stops, and it writes a version of its own."""

    seat: str


@dataclass(frozen=True, slots=True)
class VersionProposed:
    """The objector's version is put to the four."""


@dataclass(frozen=True, slots=True)
class ObjectionWithdrawn:
    """The objector takes his objection back."""


@dataclass(frozen=True, slots=True)
class SeatVoted:
    """A seat is for the first version or the second."""

    seat: str
    choice: int


@dataclass(frozen=True, slots=True)
class BookClosed:
    """The hand is told: by which version, and how it was decided: `agreed`, `silence`, `vote` or `floor`."""

    choice: int
    how: str


BookEvent: TypeAlias = (
    BookBegun
    | SeatWritten
    | EndWritten
    | SeatsDone
    | EntryBegun
    | KeepingResumed
    | AgreementBegun
    | SeatAgreed
    | SeatObjected
    | VersionProposed
    | ObjectionWithdrawn
    | SeatVoted
    | BookClosed
)

CODEC = Codec((*get_args(BookEvent), Page, Said, End, Kong, Meld, Win, Foul))


def encode_book_event(event: BookEvent) -> dict[str, Any]:
    """The event as plain JSON data."""
    return CODEC.encode(event)


def decode_book_event(body: Mapping[str, Any]) -> BookEvent:
    """The event of a record; PlainError names what is wrong with it."""
    event: BookEvent = CODEC.decode(body)
    return event
