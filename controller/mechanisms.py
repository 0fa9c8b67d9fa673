"""Learned times: how long each mechanism usually takes, how far it strays, and when it has become slow.

A single slow cycle says nothing: the last tiles of a sort dominate it. So the median of the latest cycles is held
against the median and the spread (MAD) of those before them, and against what it was when first learned: a motor that
ages slowly must not take its measure with it. A warning comes long before the operation's hard limit
(`operations.LIMITS`), which is a fault. What was learned is kept in the journal's notes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final, Protocol

from controller.operations import LIMITS

KEPT: Final = 128
"""Cycles of a mechanism that are kept, in ms."""

RECENT: Final = 13
"""The latest of them, whose median is what it takes now."""

LEAST: Final = 24
"""Cycles before the latest without which nothing is usual yet."""

STRAYS: Final = 2.5
"""So many spreads of one cycle the recent median may lie above the usual one …"""

LEAST_SHARE: Final = 0.15
LEAST_MS: Final = 500
"""… or so much of it, or so many ms, whichever is most."""

NEAR_LIMIT: Final = 0.6
"""A recent median beyond this share of the hard limit warns, however slowly it has come to that."""

CALMER: Final = 0.8
"""The warning goes once the recent median has come back below this share of the way up to where it came."""

_MAD_TO_SPREAD: Final = 1.4826
_KEY: Final = "times:"


@dataclass(frozen=True, slots=True)
class Learned:
    """What is known of one mechanism, in ms: cycles kept, the usual time, its spread, the latest median, the last."""

    count: int
    usual_ms: int
    spread_ms: int
    recent_ms: int
    last_ms: int
    slow: bool


class Keeper(Protocol):
    """The part of the journal that learned times are kept in."""

    def meta(self, key: str, default: str = "") -> str: ...

    async def note(self, values: Mapping[str, str | None]) -> None: ...


@dataclass(slots=True)
class Times:
    """The cycles of one mechanism, oldest first, in ms; `limit_ms` is when its operation has failed."""

    limit_ms: int
    cycles: list[int] = field(default_factory=list)
    slow: bool = False
    first_ms: int = 0
    """The usual time as it was first learned; 0 before that."""

    def add(self, milliseconds: int) -> None:
        """One cycle more; `slow` is judged anew."""
        self.cycles.append(milliseconds)
        del self.cycles[:-KEPT]
        before, recent = self.cycles[:-RECENT], self.cycles[-RECENT:]
        if len(before) < LEAST:
            self.slow = False
            return
        usual, now = median(before), median(recent)
        self.first_ms = self.first_ms or round(usual)
        room = max(STRAYS * _spread(before, usual), LEAST_SHARE * self.first_ms, LEAST_MS)
        usual = min(usual, self.first_ms)
        edge = min(usual + room, max(self.limit_ms * NEAR_LIMIT, usual + LEAST_MS))
        if self.slow:
            edge = usual + CALMER * (edge - usual)
        self.slow = now > edge

    def learned(self) -> Learned:
        """What is known by now."""
        before = self.cycles[:-RECENT] or self.cycles
        if not before:
            return Learned(0, 0, 0, 0, 0, False)
        usual = median(before)
        return Learned(
            count=len(self.cycles),
            usual_ms=self.first_ms or round(usual),
            spread_ms=round(_spread(before, usual)),
            recent_ms=round(median(self.cycles[-RECENT:])),
            last_ms=self.cycles[-1],
            slow=self.slow,
        )


def _spread(cycles: list[int], middle: float) -> float:
    return _MAD_TO_SPREAD * median(abs(one - middle) for one in cycles)


class LearnedTimes:
    """All mechanisms of a table. `slow(verb, learned)` and `calm(verb)` are told when a warning comes and goes."""

    def __init__(
        self, keeper: Keeper, slow: Callable[[str, Learned], None], calm: Callable[[str], None]
    ) -> None:
        self._keeper = keeper
        self._tell_slow = slow
        self._tell_calm = calm
        self._times = {verb: self._kept(verb, limit.seconds) for verb, limit in LIMITS.items()}

    def learned(self) -> dict[str, Learned]:
        """By operation: how many cycles are kept, the usual time, its spread, and the last."""
        return {verb: times.learned() for verb, times in self._times.items()}

    def slow(self) -> tuple[str, ...]:
        """The operations that are slower than they used to be."""
        return tuple(verb for verb, times in self._times.items() if times.slow)

    async def finished(self, verb: str, seconds: float) -> None:
        """An operation took so long from being begun to its result. Returns when it is on the disk."""
        times = self._times.get(verb)
        if times is None:
            return
        was_slow = times.slow
        times.add(round(seconds * 1000))
        if times.slow and not was_slow:
            self._tell_slow(verb, times.learned())
        elif was_slow and not times.slow:
            self._tell_calm(verb)
        await self._keep(verb, times)

    async def forget(self, verb: str) -> None:
        """A repairer has mended the mechanism: what it took before says nothing any more."""
        times = self._times[verb]
        if times.slow:
            self._tell_calm(verb)
        times.cycles.clear()
        times.slow, times.first_ms = False, 0
        await self._keep(verb, times)

    async def _keep(self, verb: str, times: Times) -> None:
        body = {"slow": times.slow, "first": times.first_ms, "cycles": times.cycles}
        await self._keeper.note({_KEY + verb: json.dumps(body, separators=(",", ":"))})

    def _kept(self, verb: str, limit_s: float) -> Times:
        """As it was noted; from nothing where the note is none."""
        times = Times(round(limit_s * 1000))
        try:
            body: Any = json.loads(self._keeper.meta(_KEY + verb) or "{}")
            cycles = [one for one in body["cycles"] if type(one) is int and one >= 0]
            first = body["first"] if type(body["first"]) is int and body["first"] >= 0 else 0
        except (ValueError, KeyError, TypeError):
            return times
        return Times(times.limit_ms, cycles[-KEPT:], body.get("slow") is True, first)
