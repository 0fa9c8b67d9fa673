"""What has happened in a session of matches; `CODEC` carries the events through JSON without loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from engine.dice import Dice
from engine.match.state import Booking, Player
from engine.plain import Codec
from engine.reasons import Reason, Transfer


@dataclass(frozen=True, slots=True)
class MatchBegun:
    """A match begins; `options` override single fields of the rules (chips and debt among them)."""

    players: tuple[Player, ...]
    rules: str
    options: Mapping[str, Any]
    hands: int
    minutes: int
    by_dice: bool


@dataclass(frozen=True, slots=True)
class SeatThrown:
    """R2: a player threw for his seat."""

    player: str
    dice: Dice


@dataclass(frozen=True, slots=True)
class Seated:
    """R2: who sits where, chosen freely or by the throws."""

    seats: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class DealerThrown:
    """R3: a throw made the first dealer."""

    thrower: str
    dice: Dice
    dealer: str


@dataclass(frozen=True, slots=True)
class HandBegun:
    """A hand is dealt; what was booked before stands for good."""

    hand: int


@dataclass(frozen=True, slots=True)
class HandBooked:
    """The result of a hand enters the book."""

    booking: Booking


@dataclass(frozen=True, slots=True)
class BookingVoided:
    """The last booking is taken back: the hand is open again, and so is a match that it had ended; a swap of seats
    since is undone.
    """

    hand: int
    why: str


@dataclass(frozen=True, slots=True)
class SeatsSwapped:
    """R2: a player used his right to a swap; `other` is himself when the throw pointed at him."""

    player: str
    right: str
    dice: Dice
    other: str


@dataclass(frozen=True, slots=True)
class MatchExtended:
    """The match goes on for more hands or minutes than were agreed."""

    hands: int
    minutes: int


@dataclass(frozen=True, slots=True)
class MatchEnding:
    """No further hand will be dealt: `time` or `agreed`."""

    why: str


@dataclass(frozen=True, slots=True)
class MatchOver:
    """The match is over: `empty`, `hands`, `time` or `agreed`."""

    why: str


MatchEvent: TypeAlias = (
    MatchBegun
    | SeatThrown
    | Seated
    | DealerThrown
    | HandBegun
    | HandBooked
    | BookingVoided
    | SeatsSwapped
    | MatchExtended
    | MatchEnding
    | MatchOver
)

CODEC = Codec((*get_args(MatchEvent), Player, Booking, Transfer, Reason))
