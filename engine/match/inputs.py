"""What people tell a session of matches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from engine.declared import Sheet
from engine.dice import Dice
from engine.match.state import Player
from engine.outcome import HandEnd


@dataclass(frozen=True, slots=True)
class StartMatch:
    """A match; `players` in the order E S W N where they chose their seats, in any order where dice say (R2).

    `hands` and `minutes` are what was agreed, 0 for no limit; the clock itself is the caller's (`TimeUp`).
    """

    players: tuple[Player, ...]
    rules: str
    options: Mapping[str, Any] = field(default_factory=dict)
    hands: int = 0
    minutes: int = 0
    by_dice: bool = False


@dataclass(frozen=True, slots=True)
class ThrowForSeat:
    """R2: a player's throw for his seat."""

    player: str
    dice: Dice


@dataclass(frozen=True, slots=True)
class ThrowForDealer:
    """R3: the throw that makes the first dealer; the seat that threw."""

    seat: str
    dice: Dice


@dataclass(frozen=True, slots=True)
class BeginHand:
    """The next hand is dealt."""


@dataclass(frozen=True, slots=True)
class BookPlayed:
    """A hand that the table refereed is over."""

    end: HandEnd


@dataclass(frozen=True, slots=True)
class BookDeclared:
    """A hand is over, as people declared it."""

    sheet: Sheet


@dataclass(frozen=True, slots=True)
class TakeBack:
    """The last booking was wrong."""

    why: str = ""


@dataclass(frozen=True, slots=True)
class Swap:
    """R2: a player uses a right to a swap, with his throw."""

    player: str
    right: str
    dice: Dice


@dataclass(frozen=True, slots=True)
class Extend:
    """More hands or minutes than were agreed; only a limit that there is can be moved."""

    hands: int = 0
    minutes: int = 0


@dataclass(frozen=True, slots=True)
class TimeUp:
    """The agreed time is over: the hand being played is the last."""


@dataclass(frozen=True, slots=True)
class EndMatch:
    """The players agree to stop, after the hand being played."""


MatchInput: TypeAlias = (
    StartMatch
    | ThrowForSeat
    | ThrowForDealer
    | BeginHand
    | BookPlayed
    | BookDeclared
    | TakeBack
    | Swap
    | Extend
    | TimeUp
    | EndMatch
)
