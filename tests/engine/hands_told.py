"""Ends of hands written shortly, for tests."""

from __future__ import annotations

from typing import Any

from engine.melds import Meld
from engine.outcome import HandEnd, Held, Outcome, Win
from engine.tiles import SEATS, parse_tiles

COMPLETE_16 = "123789m234p456678s44s"
"""Five runs and a pair, no gold (16 + 1)."""

NOTHING_16 = "147m258p369s1234567z"


def meld(kind: str, tiles: str) -> Meld:
    """A meld from its tiles."""
    return Meld(kind, tuple(parse_tiles(tiles)))


def held(concealed: str = "", melds: tuple[Meld, ...] = (), flowers: str = "") -> Held:
    """What a seat has, from runs of tiles."""
    return Held(tuple(parse_tiles(concealed)), melds, tuple(parse_tiles(flowers)))


def won(
    seat: str,
    way: str,
    seats: dict[str, Held] | None = None,
    *,
    dealer: str = "E",
    gold: str | None = "9p",
    steps: int = 0,
    tile: str | None = None,
    source: str | None = None,
    after_kong: bool = False,
    **outcome: Any,
) -> HandEnd:
    """A hand that a seat won."""
    win = Win(seat, way, tile, source, after_kong)
    return HandEnd(dealer, gold, Outcome("win", (win,), **outcome), _all(seats), steps)


def ended(outcome: Outcome, seats: dict[str, Held] | None = None, *, dealer: str = "E", steps: int = 0) -> HandEnd:
    """A hand that ended in any way."""
    return HandEnd(dealer, "9p", outcome, _all(seats), steps)


def _all(seats: dict[str, Held] | None) -> dict[str, Held]:
    return {seat: Held() for seat in SEATS} | (seats or {})
