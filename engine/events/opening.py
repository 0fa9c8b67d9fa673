"""The opening of a hand: throws, taking, flowers, the gold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from engine.dice import Dice


@dataclass(frozen=True, slots=True)
class RowsLaid:
    """八卦: the stacks are pushed forward and the rows laid (R5)."""


@dataclass(frozen=True, slots=True)
class BidsAsked:
    """P7: each of the four may bid on the hand; what was bid for it before does not count."""


@dataclass(frozen=True, slots=True)
class BidSaid:
    """R36: a seat bids so many points, 0 for none: the dealer 买底, another 顶底; its last word counts."""

    seat: str
    points: int


@dataclass(frozen=True, slots=True)
class RollWanted:
    """A throw is asked for: purpose `dealer` | `deal` | `door` | `gold`; `thrower` empty when anybody may."""

    purpose: str
    nth: int
    thrower: str


@dataclass(frozen=True, slots=True)
class RollBegun:
    """Somebody throws (button or key); the dice spin, or, thrown by hand, are to be entered."""

    by: str


@dataclass(frozen=True, slots=True)
class RollSpoilt:
    """A throw gave nothing to count: `cocked`, `ambiguous`, `nobody_saw`; the same seat throws again (R1)."""

    reason: str


@dataclass(frozen=True, slots=True)
class DiceLie:
    """The dice have come to rest but the board cannot read them."""


@dataclass(frozen=True, slots=True)
class DiceEntered:
    """A person has entered the faces that lie there; the others may object."""

    by: str
    dice: Dice


@dataclass(frozen=True, slots=True)
class DiceAgreed:
    """A seat has looked at the entered faces and agrees; when all others have, nobody can object any more."""

    by: str


@dataclass(frozen=True, slots=True)
class DiceObjected:
    """The entered faces are disputed or taken back; they are entered again."""

    by: str


@dataclass(frozen=True, slots=True)
class DiceLost:
    """The power went in a throw: people say what they saw."""


@dataclass(frozen=True, slots=True)
class DiceWitnessed:
    """After a lost throw a seat says what it saw: faces, or None for nothing."""

    seat: str
    dice: Dice | None


@dataclass(frozen=True, slots=True)
class DiceRolled:
    """A throw counts: who threw, the faces, how they are known (`read` | `entered` | `agreed` | `witnessed`)."""

    purpose: str
    by: str
    dice: Dice
    how: str


@dataclass(frozen=True, slots=True)
class DealerChosen:
    """R3: the first hand's dealer."""

    seat: str


@dataclass(frozen=True, slots=True)
class HandSeen:
    """What the readers see in one zone of a seat, and how sure they are in per cent; secret for `hand`."""

    seat: str
    zone: str
    tiles: tuple[str, ...]
    confidence: int = 100


@dataclass(frozen=True, slots=True)
class TakeShown:
    """Sensing none: the guide moves on to the next take."""

    n: int


@dataclass(frozen=True, slots=True)
class TakeDone:
    """A take is in its hand: its number from 1; `tiles` where they are read (secret)."""

    n: int
    tiles: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class GroupPresented:
    """The dealing aid has pushed the tiles of a take out to its seat; readers say when they are in the hand."""

    n: int


@dataclass(frozen=True, slots=True)
class TakingDone:
    """Sensing none: somebody says that everything has been taken."""

    by: str


@dataclass(frozen=True, slots=True)
class TakingResumed:
    """Sensing none: a seat says that not everything has been taken; the guide shows what it showed before."""

    by: str


@dataclass(frozen=True, slots=True)
class HandAccepted:
    """A seat says that its hand is as the readers see it; kept as a correction (secret)."""

    seat: str
    tiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FlowerDeclared:
    """Sensing none: a seat has laid out a flower."""

    seat: str
    tile: str


@dataclass(frozen=True, slots=True)
class FlowerWithdrawn:
    """Sensing none: a seat takes a flower entry back."""

    seat: str
    tile: str


@dataclass(frozen=True, slots=True)
class TailShifted:
    """Sensing none: people say that one tile more (1) or less (-1) has gone from the tail."""

    seat: str
    by: int


@dataclass(frozen=True, slots=True)
class FlowerTurn:
    """R7: it is a seat's turn to replace flowers; `place` counts from the dealer, 0-3."""

    round: int
    place: int


@dataclass(frozen=True, slots=True)
class FlowersReplaced:
    """R7: a seat has laid its flowers out and taken as many tiles; `tiles` is secret."""

    round: int
    seat: str
    flowers: tuple[str, ...]
    positions: tuple[str, ...]
    tiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FlowersDone:
    """Nobody holds a flower; `by` names who said so where flowers are not read."""

    by: str


@dataclass(frozen=True, slots=True)
class GoldCounted:
    """R8: the positions counted from the tail; the last one is to be flipped."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GoldEntered:
    """Sensing none: the thrower has entered the flipped face; the others may object."""

    by: str
    tile: str


@dataclass(frozen=True, slots=True)
class GoldAgreed:
    """A seat has looked at the entered face and agrees."""

    by: str


@dataclass(frozen=True, slots=True)
class GoldObjected:
    """The entered face is disputed or taken back."""

    by: str


@dataclass(frozen=True, slots=True)
class GoldPassed:
    """A flipped tile that is not the gold: a flower (R8: `to` the dealer, or staying in the wall), or R9's third."""

    position: str
    tile: str
    why: str
    to: str


@dataclass(frozen=True, slots=True)
class NextFlipped:
    """R8: the next tile away from the tail is flipped instead."""

    position: str


@dataclass(frozen=True, slots=True)
class GoldOpened:
    """The gold is known: the flipped tile (under R10 an indicator), the gold's face, what 白板 stands for (R12)."""

    position: str
    tile: str
    face: str
    white: str | None


OpeningEvent: TypeAlias = (
    RowsLaid
    | BidsAsked
    | BidSaid
    | RollWanted
    | RollBegun
    | RollSpoilt
    | DiceLie
    | DiceEntered
    | DiceAgreed
    | DiceObjected
    | DiceLost
    | DiceWitnessed
    | DiceRolled
    | DealerChosen
    | HandSeen
    | TakeShown
    | TakeDone
    | GroupPresented
    | TakingDone
    | TakingResumed
    | HandAccepted
    | FlowerDeclared
    | FlowerWithdrawn
    | TailShifted
    | FlowerTurn
    | FlowersReplaced
    | FlowersDone
    | GoldCounted
    | GoldEntered
    | GoldAgreed
    | GoldObjected
    | GoldPassed
    | NextFlipped
    | GoldOpened
)
