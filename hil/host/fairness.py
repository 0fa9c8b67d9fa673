"""Whether dice are fair, as far as so many throws can say. Pure; the tests are of the textbooks and of NIST SP 800-90B.

Chi-square asks whether faces and pairs come equally often; the two health tests whether a throw is stuck (the same
pair again and again) or much too frequent. A throw is a pair without order: a reader may tell either die first.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement, groupby
from typing import Final

FACES: Final = 6
PAIRS: Final = tuple(combinations_with_replacement(range(1, FACES + 1), 2))
"""The 21 pairs without order."""

LIKELIEST: Final = 2 / 36
"""Chance of the likeliest pair: two different faces."""

LEAST_EXPECTED: Final = 5
"""A class of chi-square needs as many expected at least."""

WINDOW: Final = 512
"""Throws in a window of the proportion test (SP 800-90B, 4.4.2)."""

POWER: Final = 0.9
"""A bias that is said to be seen is seen so often."""

Throw = tuple[int, int]


def chi_square_sf(x: float, df: int) -> float:
    """The chance that chi-square with `df` degrees of freedom is `x` or more."""
    if x <= 0:
        return 1.0
    half = x / 2
    if df % 2 == 0:
        return math.fsum(math.exp(k * math.log(half) - half - math.lgamma(k + 1)) for k in range(df // 2))
    tail = [math.exp((k - 0.5) * math.log(half) - half - math.lgamma(k + 0.5)) for k in range(1, (df + 1) // 2)]
    return min(1.0, math.erfc(math.sqrt(half)) + math.fsum(tail))


@cache
def chi_square_critical(alpha: float, df: int) -> float:
    """The value that is exceeded with the chance `alpha`."""
    low, high = 0.0, 10.0 * df + 100
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if chi_square_sf(middle, df) > alpha else (low, middle)
    return (low + high) / 2


def chi_square(counts: Sequence[int], chances: Sequence[float]) -> float:
    """The statistic of these counts where the classes have these chances."""
    total = sum(counts)
    return math.fsum((n - total * p) ** 2 / (total * p) for n, p in zip(counts, chances, strict=True))


def faces_statistic(throws: Sequence[Throw]) -> tuple[float, int]:
    """Chi-square of the faces of all dice, and its degrees of freedom."""
    seen = Counter(face for throw in throws for face in throw)
    return chi_square([seen[face] for face in range(1, FACES + 1)], [1 / FACES] * FACES), FACES - 1


def pairs_statistic(throws: Sequence[Throw]) -> tuple[float, int]:
    """Chi-square of the 21 pairs, and its degrees of freedom: dice that are fair one by one may still hang together."""
    seen = Counter(pair(throw) for throw in throws)
    chances = [1 / 36 if first == second else 2 / 36 for first, second in PAIRS]
    return chi_square([seen[one] for one in PAIRS], chances), len(PAIRS) - 1


def pair(throw: Throw) -> Throw:
    """A throw without order."""
    return min(throw), max(throw)


def longest_run(throws: Sequence[Throw]) -> int:
    """The longest row of the same pair."""
    return max((sum(1 for _ in run) for _, run in groupby(map(pair, throws))), default=0)


def run_cutoff(alpha_bits: int) -> int:
    """A row of so many is an alarm: it comes with the chance 2^-`alpha_bits` at most (SP 800-90B, 4.4.1)."""
    return 1 + math.ceil(alpha_bits / -math.log2(LIKELIEST))


def worst_proportion(throws: Sequence[Throw], window: int) -> int:
    """How often the first pair of a window comes in it, at most, over all whole windows."""
    pairs = [pair(throw) for throw in throws]
    windows = (pairs[at : at + window] for at in range(0, len(pairs) - window + 1, window))
    return max((one.count(one[0]) for one in windows), default=0)


@cache
def proportion_cutoff(window: int, alpha_bits: int) -> int:
    """So often is an alarm (SP 800-90B, 4.4.2)."""
    alpha = 2.0**-alpha_bits
    return next(count for count in range(window + 2) if binomial_tail(count, window, LIKELIEST) <= alpha)


def binomial_tail(least: int, trials: int, chance: float) -> float:
    """The chance of `least` or more among `trials`."""
    if least <= 0:
        return 1.0
    if chance <= 0 or least > trials:
        return 0.0
    if chance >= 1:
        return 1.0
    whole = math.lgamma(trials + 1)
    return min(
        1.0,
        math.fsum(
            math.exp(
                whole - math.lgamma(k + 1) - math.lgamma(trials - k + 1)
                + k * math.log(chance) + (trials - k) * math.log1p(-chance)
            )
            for k in range(least, trials + 1)
        ),
    )  # fmt: skip


@cache
def bias_seen(throws: int, alpha: float) -> float:
    """How much above 1/6 one face's share must be for so many throws of two dice to show it, nine times in ten.

    The other faces share what it takes. 0.039 for 1,000 throws at 99 %: a face that comes in 20.6 % of the places.
    """
    df = FACES - 1
    critical = chi_square_critical(alpha, df)
    low, high = 0.0, 200.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if _noncentral_sf(critical, df, middle) < POWER else (low, middle)
    # One face at 1/6 + d, five at 1/6 - d/5: the noncentrality of n dice is n * 6 * d^2 * (1 + 1/5).
    return math.sqrt(high / (2 * throws * 7.2))


def _noncentral_sf(x: float, df: int, noncentrality: float) -> float:
    """As `chi_square_sf` where the mean is shifted: a mixture over the Poisson numbers."""
    half = noncentrality / 2
    most = int(half + 12 * math.sqrt(half + 1) + 12)
    weights = (math.exp(k * math.log(half) - half - math.lgamma(k + 1)) if half else float(k == 0) for k in range(most))
    return math.fsum(weight * chi_square_sf(x, df + 2 * k) for k, weight in enumerate(weights))
