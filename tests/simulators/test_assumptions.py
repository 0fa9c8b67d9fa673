"""The file of assumptions: shipped, checked, and kept to by what is sampled from it."""

from __future__ import annotations

import random
from importlib.resources import files

import pytest

from simulators.assumptions import AssumptionsError, default_assumptions, parse_assumptions

TEXT = files("simulators").joinpath("assumptions.toml").read_text(encoding="utf-8")


def test_the_file_says_what_it_is() -> None:
    assert TEXT.startswith("# ASSUMPTIONS, NOT MEASUREMENTS.")


def test_sorts_lie_around_the_median_and_within_the_limits() -> None:
    times = default_assumptions().sort
    samples = sorted(times.sample(random.Random(seed)) for seed in range(2_000))
    assert times.shortest <= samples[0] and samples[-1] <= times.warn
    assert abs(samples[1_000] - times.median) < 2.5
    assert all(times.warn <= times.slow(random.Random(seed)) <= times.fault for seed in range(100))


def test_movements_lie_within_their_spread() -> None:
    lift = default_assumptions().movements["centre_up"]
    samples = [lift.sample(random.Random(seed)) for seed in range(500)]
    assert min(samples) >= lift.seconds * (1 - lift.spread) and max(samples) <= lift.seconds * (1 + lift.spread)
    assert max(samples) - min(samples) > lift.seconds * lift.spread


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[sort", "assumptions:"),
        (TEXT.replace("cocked = 0.02", "cocked = 2"), "rates.cocked"),
        (TEXT.replace("median = 26.0", ""), "sort.median"),
        (TEXT + "\n[more]\n", "more"),
    ],
)
def test_a_wrong_file_names_the_key(text: str, words: str) -> None:
    with pytest.raises(AssumptionsError, match=words):
        parse_assumptions(text)
