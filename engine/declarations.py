"""What people declare of a hand at a table that reads no tiles; `CODEC` carries it through JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, get_args

from engine.melds import Meld
from engine.outcome import Win
from engine.plain import Codec
from engine.tally import Items


@dataclass(frozen=True, slots=True)
class FlowersHeld:
    """The flowers that lie before a seat."""

    seat: str
    faces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeldsLaid:
    """The melds of a seat, kongs before all; 吃 and 碰 may be left out where the hand is not shown."""

    seat: str
    melds: tuple[Meld, ...]


@dataclass(frozen=True, slots=True)
class GoldsHeld:
    """How many golds a seat holds in the end."""

    seat: str
    golds: int


@dataclass(frozen=True, slots=True)
class TripletsHeld:
    """Faces of which a seat holds three or more concealed (R32)."""

    seat: str
    faces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HandShown:
    """All concealed tiles of a seat, entered by hand; a winner's with the winning tile, unless it is a flower."""

    seat: str
    concealed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WaterTold:
    """水 of a seat item by item, or one `water` for the sum, where nobody enters what it comes from."""

    seat: str
    items: Items


@dataclass(frozen=True, slots=True)
class PatternsTold:
    """The patterns of a winner whose hand is not shown (R35)."""

    seat: str
    patterns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HardnessTold:
    """Soft, hard or double, where the winner's hand is not shown (R36)."""

    hardness: str


@dataclass(frozen=True, slots=True)
class HandWon:
    """Who won, how, on whose tile; several only where the rules know that (R13)."""

    wins: tuple[Win, ...]


@dataclass(frozen=True, slots=True)
class HandDrawn:
    """流局 (R18); who drew the last tile where that matters (R3)."""

    last_drawer: str | None = None


@dataclass(frozen=True, slots=True)
class FalseWinShown:
    """诈胡 (R38); the seats that were 游金-ready at that moment, where 重判 is known."""

    seat: str
    kind: str
    ready: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SeatCovered:
    """盖牌 of a seat (R39); `covered` false takes it back."""

    seat: str
    covered: bool = True


@dataclass(frozen=True, slots=True)
class PaysAll:
    """包赔 (R27); None takes it back."""

    seat: str | None


@dataclass(frozen=True, slots=True)
class DealerFollowed:
    """跟庄 (R40): whether nobody had a flower after the deal, and how many discards of the dealer all followed."""

    no_flowers: bool
    followed: int


Declaration: TypeAlias = (
    FlowersHeld
    | MeldsLaid
    | GoldsHeld
    | TripletsHeld
    | HandShown
    | WaterTold
    | PatternsTold
    | HardnessTold
    | HandWon
    | HandDrawn
    | FalseWinShown
    | SeatCovered
    | PaysAll
    | DealerFollowed
)

CODEC = Codec((*get_args(Declaration), Meld, Win))
"""Declarations through JSON."""
