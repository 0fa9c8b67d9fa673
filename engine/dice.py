"""Two dice and whom they point at (R1)."""

from __future__ import annotations

from typing import TypeAlias

from engine.tiles import next_seat

Dice: TypeAlias = tuple[int, int]


class DiceError(ValueError):
    """Something that is no throw of two dice."""


def check_dice(value: object) -> Dice:
    """`[5, 1]` as a throw; DiceError unless it is two whole numbers 1-6."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise DiceError(f"expected two numbers 1-6 such as [5, 1], got {value!r}")
    for face in value:
        if isinstance(face, bool) or not isinstance(face, int) or not 1 <= face <= 6:
            raise DiceError(f"a die shows 1-6, got {face!r}")
    return (value[0], value[1])


def pointed_seat(roller: str, dice: Dice) -> str:
    """R1: the roller is 1, the next 2 and on: 1 5 9 self, 2 6 10 next, 3 7 11 across, 4 8 12 previous."""
    return next_seat(roller, sum(dice) - 1)
