"""R1: whom each of the thirty-six rolls points at."""

from __future__ import annotations

import itertools

import pytest

from engine.dice import DiceError, check_dice, pointed_seat
from engine.tiles import SEATS, next_seat

RHYME = {2: 1, 3: 2, 4: 3, 5: 0, 6: 1, 7: 2, 8: 3, 9: 0, 10: 1, 11: 2, 12: 3}
"""5 in hand, 6 before, 8 behind, 7 across: steps to the right hand of the thrower."""


@pytest.mark.parametrize("roller", SEATS)
def test_every_roll_points_as_the_rhyme_says(roller: str) -> None:
    for first, second in itertools.product(range(1, 7), repeat=2):
        assert pointed_seat(roller, (first, second)) == next_seat(roller, RHYME[first + second])


def test_a_throw_is_two_whole_numbers() -> None:
    assert check_dice([5, 1]) == (5, 1)
    assert check_dice((6, 6)) == (6, 6)


@pytest.mark.parametrize("nonsense", [None, 7, "51", [5], [1, 2, 3], [0, 1], [1, 7], [1.5, 2], [True, 2], ["1", 2], {}])
def test_anything_else_is_an_error(nonsense: object) -> None:
    with pytest.raises(DiceError):
        check_dice(nonsense)
