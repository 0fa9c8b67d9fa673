"""What the people of a scenario do wrong: which seat, which mistake, in which hand, and by what chance."""

from __future__ import annotations

import random
from dataclasses import dataclass

from simulators.scenario.model import Mistake, Scenario


@dataclass(frozen=True, slots=True)
class Manners:
    """The mistakes of a scenario, each with its place in the file; none by default."""

    mistakes: tuple[tuple[int, Mistake], ...] = ()
    seed: int = 1

    @classmethod
    def of(cls, scenario: Scenario, seed: int | None = None) -> Manners:
        """What a scenario says of people, with another seed than its own where that is said."""
        return cls(scenario.of_people, scenario.seed if seed is None else seed)

    def errs(self, seat: str, name: str, moment: tuple[object, ...]) -> bool:
        """Whether a seat makes this mistake now; the first word of `moment` is the hand."""
        return any(self._happens(place, one, seat, name, moment) for place, one in self.mistakes)

    def _happens(self, place: int, one: Mistake, seat: str, name: str, moment: tuple[object, ...]) -> bool:
        if one.mistake != name or one.seat not in ("", seat):
            return False
        when = one.when
        if when is None:
            return True
        if when.hand is not None and when.hand != (moment[0] if moment else None):
            return False
        words = "/".join(map(str, (self.seed, place, name, *moment, seat)))
        return when.chance is None or random.Random(words).random() < when.chance
