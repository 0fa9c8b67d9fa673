"""What a benchmark says: rows with a goal, and how two things are timed in turn."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

Bound = Literal["at most", "at least"]


class Unmeasurable(Exception):
    """Something that this row needs is not here; the message says what."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What is aimed at: at most or at least a number of some unit (`×` for a ratio, `s`, `MB`)."""

    bound: Bound
    number: float
    unit: str = "×"

    def __str__(self) -> str:
        sign = "≤" if self.bound == "at most" else "≥"
        return f"{sign} {written(self.number)}{_spaced(self.unit)}"

    def met(self, value: float) -> bool:
        """Whether a measured value reaches the goal."""
        return value <= self.number if self.bound == "at most" else value >= self.number


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `value` has the goal's unit, or `unit` where there is no goal; None where not measured."""

    name: str
    what: str
    against: str
    value: float | None
    goal: Goal | None = None
    unit: str = "×"
    detail: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None without a goal or a measurement."""
        return None if self.goal is None or self.value is None else self.goal.met(self.value)

    @property
    def measured(self) -> str:
        """The value in words."""
        if self.value is None:
            return "–"
        return written(self.value) + _spaced(self.goal.unit if self.goal is not None else self.unit)


@dataclass(frozen=True, slots=True)
class Measured:
    """Medians of two things done in turn, in seconds."""

    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        """Ours against theirs: below 1 is faster."""
        return self.ours / self.theirs


def in_turn(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> Measured:
    """Do both things alternately, after one round that does not count; the garbage collector rests meanwhile."""
    ours()
    theirs()
    times: tuple[list[float], list[float]] = ([], [])
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            times[0].append(seconds_of(ours))
            times[1].append(seconds_of(theirs))
    finally:
        gc.enable()
    return Measured(median(times[0]), median(times[1]))


def seconds_of(work: Callable[[], object]) -> float:
    """How long it takes once."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def written(number: float) -> str:
    """A number with about three figures: 0.37, 12.4, 118, 61,000."""
    if number >= 10_000:
        return f"{round(number, -3):,.0f}"
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}"


def _spaced(unit: str) -> str:
    return unit if unit in ("", "×") else f" {unit}"
