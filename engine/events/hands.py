"""A hand after its opening and the evening around it: play, readers, the book, bookings taken back, seats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from engine.book import BookEvent
from engine.match.events import MatchEvent
from engine.play.events import PlayEvent


@dataclass(frozen=True, slots=True)
class SessionSaid:
    """Something happened in the session of matches: players, seats, bookings (`engine.match.events`)."""

    event: MatchEvent


@dataclass(frozen=True, slots=True)
class BookSaid:
    """Something happened in the book of a hand that people tell (`engine.book.events`); what a seat entered is secret
    until it is shown."""

    event: BookEvent


@dataclass(frozen=True, slots=True)
class PlayBegun:
    """The gold is known and the hands are complete: play begins from the tiles as they lie."""


@dataclass(frozen=True, slots=True)
class SeatPlayed:
    """What a seat does in play, with the fields of `engine.play.Action`; secret while a window is open."""

    seat: str
    name: str
    tile: str
    tiles: tuple[str, ...]
    way: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class WindowTimeUp:
    """The time of an open window is over: who has not answered has passed (R13)."""


@dataclass(frozen=True, slots=True)
class Played:
    """Something happened in play (`engine.play.events`), a draw once it has been seen; the tiles drawn are secret."""

    event: PlayEvent


@dataclass(frozen=True, slots=True)
class ZoneAccepted:
    """A seat says what lies in one of its zones, against its reader: a correction, kept as such (secret)."""

    seat: str
    zone: str
    tiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WallCorrected:
    """A tile that was drawn is another than the wall's readers said: `(position, face)` as they are now (secret)."""

    seat: str
    tiles: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class CountDoubted:
    """What a seat's reader shows does not go with the hand for a while: that seat alone is asked (R39)."""

    seat: str
    zone: str


@dataclass(frozen=True, slots=True)
class CountRight:
    """A doubted zone shows again what it should."""

    seat: str
    zone: str


@dataclass(frozen=True, slots=True)
class CountTold:
    """P8: a seat has not answered for a while what it was asked about a zone: all four are told so."""

    seat: str
    zone: str


@dataclass(frozen=True, slots=True)
class CountRuled:
    """P8: another says of such a zone that its reader errs (`believed`), or that its seat is `out` of the hand (盖牌);
    `by` is a seat, or empty where the floor decided.
    """

    by: str
    seat: str
    zone: str
    ruling: str


@dataclass(frozen=True, slots=True)
class EndDoubted:
    """P8: as the hand ended a zone of each of these seats showed what could not be: it is agreed on."""

    seats: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallOffAsked:
    """P9: a seat wants the hand called off; a second seat must want it too."""

    seat: str


@dataclass(frozen=True, slots=True)
class CallOffKept:
    """A seat wants the hand to go on."""

    seat: str


@dataclass(frozen=True, slots=True)
class DiscardRefused:
    """A discard that lies there is not allowed (R16, R17, R23): the seat is to take it back."""

    seat: str
    tile: str
    code: str
    rule: str


@dataclass(frozen=True, slots=True)
class UndoAsked:
    """A seat wants the last booking taken back; a second seat must want it too."""

    seat: str


@dataclass(frozen=True, slots=True)
class UndoKept:
    """A seat wants the last booking to stay."""

    seat: str


@dataclass(frozen=True, slots=True)
class HandReopened:
    """The last booking has been taken back: the hand's book is open again."""


@dataclass(frozen=True, slots=True)
class HandRebooked:
    """A reopened hand is booked anew; the table goes on where it was."""

    next_dealer: str
    streak: int


@dataclass(frozen=True, slots=True)
class EndAsked:
    """A seat wants the match to end after the hand in play; a second seat must want it too."""

    seat: str


@dataclass(frozen=True, slots=True)
class EndKept:
    """A seat wants the match to go on."""

    seat: str


@dataclass(frozen=True, slots=True)
class SeatsTaken:
    """Everybody sits where the draw or the swap has put him (R2)."""

    by: str


@dataclass(frozen=True, slots=True)
class SwapAsked:
    """R2: a seat uses its player's right to a swap; its throw decides."""

    seat: str
    right: str
    player: str


@dataclass(frozen=True, slots=True)
class HandEnded:
    """A hand is over and booked: who won how, or nobody; who deals next, how often the same has dealt before it."""

    winner: str
    way: str
    next_dealer: str
    streak: int


HandEvent: TypeAlias = (
    SessionSaid
    | BookSaid
    | PlayBegun
    | SeatPlayed
    | WindowTimeUp
    | Played
    | ZoneAccepted
    | WallCorrected
    | CountDoubted
    | CountRight
    | CountTold
    | CountRuled
    | EndDoubted
    | CallOffAsked
    | CallOffKept
    | DiscardRefused
    | UndoAsked
    | UndoKept
    | EndAsked
    | EndKept
    | HandReopened
    | HandRebooked
    | SeatsTaken
    | SwapAsked
    | HandEnded
)
