"""Trouble that lasts is told once and then summed up, at longer and longer intervals: a log must not fill the disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MOST_KINDS: Final = 64
"""Kinds of trouble that are remembered at once."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a line has to say: how many times since the last line, and for how many seconds it has lasted (0: new)."""

    times: int
    seconds: float


@dataclass(slots=True)
class _Trouble:
    since: float
    told_at: float
    heard_at: float
    interval: float
    untold: int = 0


class Repeats:
    """Which of many equal lines are worth writing. Times are monotonic seconds, the same clock in every call.

    The first of a kind is; then a summary `first_s` later, and at intervals doubled each time, up to `cap_s`. A kind
    that has not come for `calm_s` is new again: what comes and goes all day is not told each time.
    """

    def __init__(self, first_s: float = 60.0, cap_s: float = 3600.0, calm_s: float = 600.0) -> None:
        self._first, self._cap, self._calm = first_s, cap_s, calm_s
        self._known: dict[str, _Trouble] = {}

    def hear(self, kind: str, now: float) -> Summary | None:
        """It has happened (again); what to tell now, None for nothing."""
        known = self._known.pop(kind, None)
        if known is None or now - known.heard_at >= self._calm:
            # Put last: the dictionary is in the order of hearing, and the one not heard longest is forgotten.
            self._known[kind] = _Trouble(now, now, now, self._first)
            if len(self._known) > MOST_KINDS:
                del self._known[next(iter(self._known))]
            return Summary(1 + (known.untold if known is not None else 0), 0.0)
        self._known[kind] = known
        known.heard_at = now
        known.untold += 1
        if now - known.told_at < known.interval:
            return None
        summary = Summary(known.untold, now - known.since)
        known.told_at, known.untold = now, 0
        known.interval = min(self._cap, 2 * known.interval)
        return summary
