"""What fails at a simulated table: by order, once at a time, or as wear will have it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from protocol.serial.messages import FaultCode
from simulators.assumptions import FaultRates

WEAR: Mapping[str, tuple[tuple[str, FaultCode], ...]] = {
    "sort": (
        ("sort_timeout", "sort_timeout"),
        ("stuck_last_tile", "sort_timeout"),
        ("head_jam", "head_jam"),
        ("eye_dirty", "eye_dirty"),
        ("single_tile_push", "single_tile_push"),
        ("motor_overheat", "motor_overheat"),
    ),
    "walls_raise": (("wall_not_home", "wall_not_home"),),
    "centre_raise": (("centre_limit_missing", "centre_limit_missing"),),
}
"""What goes wrong now and then: verb → the assumed rates, and the fault that each shows as."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The `nth` operation of a verb (from 1) fails once with this fault."""

    verb: str
    nth: int
    fault: FaultCode


class Wear:
    """`failures` still to come, and `factor` times the assumed rates; chance follows from the seed alone."""

    def __init__(self, rates: FaultRates, seed: int, failures: Sequence[Failure], factor: float) -> None:
        self._rates = rates
        self._seed = seed
        self._failures = list(failures)
        self._factor = factor

    def fail_next(self, verb: str, count: int, fault: FaultCode) -> None:
        """The next operation of a verb of which there were `count` fails once with this fault."""
        waiting = sum(failure.verb == verb and failure.nth > count for failure in self._failures)
        self._failures.append(Failure(verb, count + 1 + waiting, fault))

    def due(self, verb: str, count: int) -> FaultCode | None:
        """How the `count`-th operation of a verb fails, if it does."""
        for failure in self._failures:
            if failure.verb == verb and failure.nth == count:
                self._failures.remove(failure)
                return failure.fault
        return self._worn(verb, count)

    def slow(self, chance: random.Random) -> bool:
        """Whether the last tiles of this sort lie badly."""
        return chance.random() * 1000 < self._factor * self._rates.slow_tail

    def _worn(self, verb: str, count: int) -> FaultCode | None:
        if not self._factor:
            return None
        drawn = 1000 * random.Random(f"{self._seed}/fault/{verb}/{count}").random()
        for rate, fault in WEAR.get(verb, ()):
            drawn -= self._factor * getattr(self._rates, rate)
            if drawn < 0:
                return fault
        return None
