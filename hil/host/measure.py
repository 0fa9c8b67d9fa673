"""Values against limits: how a number, a share and a series of times become measurements. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any, Final

from hil.host.fairness import (
    LEAST_EXPECTED,
    WINDOW,
    Throw,
    bias_seen,
    binomial_tail,
    chi_square_critical,
    faces_statistic,
    longest_run,
    pairs_statistic,
    proportion_cutoff,
    run_cutoff,
    worst_proportion,
)
from hil.host.limits import Between, Fairness
from hil.host.record import Bounds, Measurement

LEAST_WINDOW: Final = 64
"""With fewer throws the proportion test says nothing."""

CHANCE: Final = 0.01
"""More failures than a share allows count as too many only where chance would bring so many less often than this."""


def within(name: str, value: float, unit: str, limit: Between) -> Measurement:
    """A value that must lie between bounds."""
    bounds = Bounds(**limit.model_dump())
    if limit.holds(value):
        return Measurement(name=name, value=value, unit=unit, limit=bounds, verdict="pass")
    low = limit.min is not None and value < limit.min
    wanted = f"at least {limit.min:g}" if low else f"at most {limit.max:g}"
    said = f"{value:.4g} {unit}".strip()
    return Measurement(
        name=name, value=value, unit=unit, limit=bounds, verdict="fail", reason=f"{said}, expected {wanted}"
    )


def at_most(name: str, count: int, most: int) -> Measurement:
    """A count with an upper bound."""
    return within(name, count, "", Between(max=most))


def share(name: str, count: int, of: int, most: float) -> Measurement:
    """A share that must not be above `most`, as far as so many can say."""
    value, bounds = count / of, Bounds(max=most)
    by_chance = binomial_tail(count, of, most)
    if value <= most or by_chance >= CHANCE:
        return Measurement(name=name, value=value, limit=bounds, verdict="pass", reason=f"{count} of {of}")
    reason = f"{count} of {of}, expected at most {most:g} of all"
    return Measurement(name=name, value=value, limit=bounds, verdict="fail", reason=reason)


def info(name: str, value: Any, unit: str = "", reason: str = "") -> Measurement:
    """Something that no limit judges."""
    return Measurement(name=name, value=value, unit=unit, verdict="info", reason=reason)


def skipped(name: str, reason: str) -> Measurement:
    """Something that was not measured, and rightly so."""
    return Measurement(name=name, verdict="skipped", reason=reason)


def failed(name: str, reason: str) -> Measurement:
    """Something that went wrong without a number."""
    return Measurement(name=name, verdict="fail", reason=reason)


def passed(name: str, reason: str = "") -> Measurement:
    """Something that was as it should be, without a number."""
    return Measurement(name=name, verdict="pass", reason=reason)


def times(name: str, seconds: Sequence[float], limit: Between, judged: bool = True) -> list[Measurement]:
    """The quickest, the median and the slowest of a movement, the outer two against the limit."""
    if not seconds:
        return []
    if not judged:
        return [skipped(f"{name} time", "a table at speed max keeps no times")]
    return [
        within(f"{name} quickest", min(seconds), "s", Between(min=limit.min)),
        info(f"{name} median", median(seconds), "s"),
        within(f"{name} slowest", max(seconds), "s", Between(max=limit.max)),
    ]


def fairness(throws: Sequence[Throw], limits: Fairness) -> list[Measurement]:
    """The four tests, each where there are throws enough, and what bias so many throws would have shown."""
    count, alpha = len(throws), 1 - limits.confidence
    if not count:
        return [skipped("fairness", "no throw was read")]
    found: list[Measurement] = []
    for name, statistic, rarest in (("faces", faces_statistic, 2 / 6), ("pairs", pairs_statistic, 1 / 36)):
        if count * rarest < LEAST_EXPECTED:
            found.append(skipped(f"{name} chi-square", f"needs {-int(-LEAST_EXPECTED // rarest)} throws"))
            continue
        value, df = statistic(throws)
        limit = Between(max=round(chi_square_critical(alpha, df), 3))
        found.append(within(f"{name} chi-square", round(value, 3), f"({df} degrees)", limit))
    cutoff = run_cutoff(limits.alpha_bits)
    found.append(within("same pair in a row", longest_run(throws), "", Between(max=cutoff - 1)))
    window = min(WINDOW, count)
    if window < LEAST_WINDOW:
        found.append(skipped("one pair in a window", f"needs {LEAST_WINDOW} throws"))
    else:
        most = Between(max=proportion_cutoff(window, limits.alpha_bits) - 1)
        found.append(within("one pair in a window", worst_proportion(throws, window), f"of {window}", most))
    bias = bias_seen(count, alpha)
    seen = f"a face in {100 * (1 / 6 + bias):.1f} % of the places, not 16.7, would be found nine times in ten"
    found.append(info("bias that would be seen", round(bias, 4), "", seen))
    return found
