"""The statistics of dice, held against tables of the textbooks, and against what chance does."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hil.host.fairness import (
    PAIRS,
    bias_seen,
    binomial_tail,
    chi_square_critical,
    chi_square_sf,
    faces_statistic,
    longest_run,
    pairs_statistic,
    proportion_cutoff,
    run_cutoff,
    worst_proportion,
)
from hil.host.limits import default_limits
from hil.host.measure import fairness, share

LIMITS = default_limits().fairness


@pytest.mark.parametrize(
    ("df", "alpha", "value"),
    [
        (1, 0.05, 3.841), (5, 0.01, 15.086), (5, 0.05, 11.070), (20, 0.01, 37.566), (35, 0.01, 57.342),
        (100, 0.01, 135.807),
    ],
)  # fmt: skip
def test_chi_square_is_that_of_the_tables(df: int, alpha: float, value: float) -> None:
    assert chi_square_critical(alpha, df) == pytest.approx(value, abs=0.001)
    assert chi_square_sf(value, df) == pytest.approx(alpha, rel=0.002)


def test_a_binomial_tail_is_the_sum_of_its_chances() -> None:
    assert binomial_tail(2, 2, 0.5) == pytest.approx(0.25)
    assert binomial_tail(8, 10, 0.5) == pytest.approx(56 / 1024)
    assert binomial_tail(0, 10, 0.5) == 1.0
    assert binomial_tail(11, 10, 0.5) == 0.0


def test_cutoffs_are_the_first_that_chance_reaches_seldom_enough() -> None:
    assert run_cutoff(20) == 6
    cutoff = proportion_cutoff(512, 20)
    assert binomial_tail(cutoff, 512, 1 / 18) <= 2**-20 < binomial_tail(cutoff - 1, 512, 1 / 18)


def throws(seed: int, count: int, six: float = 1 / 6) -> list[tuple[int, int]]:
    chance = random.Random(seed)
    weights = [(1 - six) / 5] * 5 + [six]
    faces = chance.choices(range(1, 7), weights, k=2 * count)
    return list(zip(faces[::2], faces[1::2], strict=True))


def failing(made: list[tuple[int, int]]) -> set[str]:
    return {one.name for one in fairness(made, LIMITS) if one.verdict == "fail"}


def test_fair_dice_fail_about_as_often_as_the_confidence_says() -> None:
    wrong = sum(bool(failing(throws(seed, 1000))) for seed in range(300))
    # Two tests at 1 %: 6 of 300 on average; 18 or more has a chance below 1 in 10,000.
    assert wrong < 18


def test_the_bias_that_is_said_to_be_seen_is_seen_nine_times_in_ten() -> None:
    bias = bias_seen(1000, 0.01)
    assert bias == pytest.approx(0.0391, abs=0.0005)
    critical = chi_square_critical(0.01, 5)
    seen = sum(faces_statistic(throws(seed, 1000, 1 / 6 + bias))[0] > critical for seed in range(400))
    assert 330 <= seen <= 388  # 360 expected, five spreads of 6
    assert bias_seen(4000, 0.01) == pytest.approx(bias / 2, rel=0.001)


def test_dice_that_hang_together_are_found_though_each_is_fair() -> None:
    chance = random.Random(5)
    made = []
    for _ in range(1000):
        first = chance.randint(1, 6)
        made.append((first, 7 - first if chance.random() < 0.2 else chance.randint(1, 6)))
    assert "pairs chi-square" in failing(made)
    assert "faces chi-square" not in failing(made)


def test_a_reader_that_tells_the_smaller_die_first_is_no_bias() -> None:
    made = [(min(throw), max(throw)) for throw in throws(9, 2000)]
    assert failing(made) == set()


def test_a_reader_that_sticks_is_an_alarm() -> None:
    made = throws(3, 200)
    assert failing(made) == set()
    assert "same pair in a row" in failing(made[:100] + [(2, 5)] * 6 + made[100:])
    # No row of it, yet one throw in five.
    stuck = [(3, 4) if at % 5 == 0 else throw for at, throw in enumerate(made + made + made)]
    assert longest_run(stuck) < 6
    assert "one pair in a window" in failing(stuck)
    assert worst_proportion(stuck, 512) >= proportion_cutoff(512, 20)


def test_every_pair_has_its_place_and_few_throws_are_not_judged() -> None:
    assert len(PAIRS) == 21
    one_each = [pair for pair in PAIRS for _ in range(1 if pair[0] == pair[1] else 2)]
    assert pairs_statistic(one_each)[0] == pytest.approx(0)
    assert {one.name for one in fairness(throws(1, 10), LIMITS) if one.verdict == "skipped"} == {
        "faces chi-square", "pairs chi-square", "one pair in a window",
    }  # fmt: skip
    assert fairness([], LIMITS)[0].verdict == "skipped"


def test_a_share_fails_only_where_chance_would_not_bring_so_many() -> None:
    assert share("cocked", 2, 20, 0.04).verdict == "pass"
    assert share("cocked", 200, 2000, 0.04).verdict == "fail"
    assert share("cocked", 0, 5, 0.0).verdict == "pass"
    assert share("cocked", 1, 5, 0.0).verdict == "fail"


def test_the_document_says_what_the_program_goes_by() -> None:
    text = (Path(__file__).parents[3] / "docs" / "end-of-line.md").read_text("utf-8")
    assert f"above {chi_square_critical(0.01, 5):.2f}, which" in text
    assert f"above {chi_square_critical(0.01, 20):.2f}, the same" in text
    assert f"| {proportion_cutoff(512, 20)} times or more, the same |" in text
    words = ("1,000 throws, nine times in ten, a face that comes in", "with 4,000 in", "with 200 in")
    for throws_made, before in zip((1000, 4000, 200), words, strict=True):
        assert f"{before} {100 * (1 / 6 + bias_seen(throws_made, 0.01)):.1f}" in text
