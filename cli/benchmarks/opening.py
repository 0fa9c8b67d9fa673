"""The opening of hands by the engine alone: a faultless machine and quick people, no wires, no clock, no disk."""

from __future__ import annotations

import time
from typing import Final

from cli.benchmarks.people import People
from cli.benchmarks.rows import Row
from engine.state import State

RULES: Final = "classic-xiamen-144"
HANDS: Final = 60


def opening() -> list[Row]:
    """Hands opened a second where tiles are read: from the start of a match until its first gold lies open."""
    _opened(0)
    began = time.perf_counter()
    inputs = sum(_opened(seed).inputs for seed in range(1, HANDS + 1))
    seconds = time.perf_counter() - began
    each = seconds / inputs
    return [
        Row(
            "opening", f"hands opened by the engine ({RULES}, tiles read)", "a second", HANDS / seconds, unit="/s",
            detail=f"{inputs / HANDS:.0f} inputs a hand, {each * 1e6:.0f} µs each",
        )
    ]  # fmt: skip


def _opened(seed: int) -> People:
    people = People(RULES, hands=1, seed=seed)
    people.play(lambda state: state.play.game is not None)
    return people


def at_gold_roll() -> State:
    """The state after the flower rounds of some hand: hands taken, dice thrown, tail known."""
    people = People("new-xiamen-120", hands=1, seed=7)
    people.play(lambda state: state.phase == "gold_roll")
    return people.state
