"""A finished hand as its points see it: who won how, and what counts of what every seat held (R30-R40)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from engine.tiles import SEATS

Items: TypeAlias = tuple[tuple[str, int], ...]
"""水 of one seat: names of `engine.reasons.WATER_ITEMS` and their values, or one `water` for a sum told whole."""

HARDNESS: tuple[str, ...] = ("soft", "hard", "double")

NO_WATER: Mapping[str, Items] = {seat: () for seat in SEATS}
NO_POINTS: Mapping[str, int] = {seat: 0 for seat in SEATS}


@dataclass(frozen=True, slots=True)
class Winner:
    """One seat's win: how, and the patterns beside it where fan count (R35)."""

    seat: str
    way: str
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tally:
    """A hand that was won by somebody, or by nobody (`wins` empty).

    `steps` is how often the dealer's base has grown (in turns of the dealer: one less than the turn). `source` is the
    discarder or the robbed. `covered` seats are under 盖牌. `pays_all` pays for all (R27). `no_flowers` and `followed`
    are 跟庄 (R40).
    """

    dealer: str
    steps: int = 0
    wins: tuple[Winner, ...] = ()
    source: str | None = None
    water: Mapping[str, Items] = field(default_factory=lambda: NO_WATER)
    covered: tuple[str, ...] = ()
    pays_all: str | None = None
    last_drawer: str | None = None
    hardness: str = "soft"
    buy: int = 0
    top: Mapping[str, int] = field(default_factory=lambda: NO_POINTS)
    caishen: Mapping[str, int] = field(default_factory=lambda: NO_POINTS)
    no_flowers: bool = False
    followed: int = 0


@dataclass(frozen=True, slots=True)
class FalseWin:
    """R38: a false win, and the 水 of the seats that were 游金-ready at that moment (重判)."""

    dealer: str
    steps: int
    seat: str
    kind: str
    ready: Mapping[str, Items] = field(default_factory=dict)


def total(items: Items) -> int:
    """The 水 of one seat."""
    return sum(value for _, value in items)


def whole(water: int) -> Items:
    """水 told as one sum."""
    return (("water", water),) if water else ()
