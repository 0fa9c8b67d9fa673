"""How a hand ended, as play or a referee tells it: what the points are worked out from (R13-R18, R23-R29, R38-R40)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from engine.melds import Meld
from engine.tiles import SEATS

OutcomeKind: TypeAlias = Literal["win", "draw", "foul"]


@dataclass(frozen=True, slots=True)
class Win:
    """One seat's win.

    `tile` is the winning tile, None where none came (三金倒 and 双花杠 before any draw, 天胡); a flower where a flower
    completed a 游金 (R22). `source` is the discarder or the robbed, None for a drawn tile and for the openings.
    `after_kong`: the winning tile replaced a kong (R35).
    """

    seat: str
    way: str
    tile: str | None = None
    source: str | None = None
    after_kong: bool = False


@dataclass(frozen=True, slots=True)
class Foul:
    """R38: a false win laid open. `ready`: the other seats that were 游金-ready at that moment (重判)."""

    seat: str
    kind: str
    ready: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a hand ended.

    `winners` in play order from the discarder, empty unless `kind` is win. `covered` seats are under 盖牌 (R39).
    `pays_all` pays for all three (R27). `last_drawer` drew the last tile of the wall (R3). `no_flowers`: nobody had a
    flower after the deal; `followed`: how many discards of the dealer all three followed (R40).
    """

    kind: OutcomeKind
    winners: tuple[Win, ...] = ()
    covered: tuple[str, ...] = ()
    pays_all: str | None = None
    last_drawer: str | None = None
    foul: Foul | None = None
    no_flowers: bool = False
    followed: int = 0


@dataclass(frozen=True, slots=True)
class Held:
    """What a seat has when the hand ends.

    `concealed` holds a winner's winning tile, wherever it came from (a discard, a robbed kong, the flipped gold), but
    a flower, which lies among `flowers`; golds discarded in a tour and tiles put away in its lap are not held.
    """

    concealed: tuple[str, ...] = ()
    melds: tuple[Meld, ...] = ()
    flowers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HandEnd:
    """Everything that the points of one hand depend on, beside the rules and the chips.

    `steps` is how often the dealer's base has grown; `buy` 买底 and `top` 顶底 were bid before the hand (R36).
    """

    dealer: str
    gold: str | None
    outcome: Outcome
    held: Mapping[str, Held] = field(default_factory=lambda: {seat: Held() for seat in SEATS})
    steps: int = 0
    buy: int = 0
    top: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(SEATS, 0))
