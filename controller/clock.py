"""Time for the daemon: the monotonic clock for everything that waits, time of day for stamps only."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

ClockState = Literal["synced", "unsynced"]

_TIME_ERROR: Final = 5
_IN_NANOSECONDS: Final = 0x2000
_LOOK_AGAIN_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Stamp:
    """When something happened: UTC in ms, monotonic ms since the daemon's start, whether the former can be trusted."""

    ts: int
    mono_ms: int
    clock: ClockState


AGES_AFTER_MS: Final = 3_600_000
"""How long the time of day must go without a step before it says what is old: a false one is corrected by then."""

STEP_MS: Final = 60_000


class AgeJudge:
    """Whether the time of day may decide what is old enough to leave: synchronised, and without a step for an hour.

    One false answer of a time server would otherwise make everything fifty years old.
    """

    def __init__(self) -> None:
        self._zero: int | None = None
        self._since_ms = 0

    def may_judge(self, stamp: Stamp) -> bool:
        """Call it now and then with the present moment of one epoch."""
        zero = stamp.ts - stamp.mono_ms
        if stamp.clock != "synced":
            self._zero = None
            return False
        if self._zero is None or abs(zero - self._zero) > STEP_MS:
            self._since_ms = stamp.mono_ms
        self._zero = zero
        return stamp.mono_ms - self._since_ms >= AGES_AFTER_MS


class SystemClock:
    """The machine's clocks. Whether the time of day is synchronised is looked up at most every 10 s.

    `monotonic` (seconds), `utc_ns` and `state` are where the times come from: the machine unless told otherwise.
    """

    def __init__(
        self,
        monotonic: Callable[[], float] = time.monotonic,
        utc_ns: Callable[[], int] = time.time_ns,
        state: Callable[[], ClockState] | None = None,
    ) -> None:
        self._monotonic = monotonic
        self._utc_ns = utc_ns
        self._look = state or kernel_clock_state
        self._began = monotonic()
        self._state: ClockState = "unsynced"
        self._look_at = self._began

    def monotonic(self) -> float:
        """Seconds that never step."""
        return self._monotonic()

    def mono_ms(self) -> int:
        """Milliseconds since the daemon's start, on one clock for the whole epoch."""
        return int((self._monotonic() - self._began) * 1000)

    def offset_ms(self) -> int | None:
        """How far the time of day is off, in ms (`kernel_clock_offset_ms`); None while it is not synchronised."""
        return kernel_clock_offset_ms() if self.stamp().clock == "synced" else None

    def stamp(self) -> Stamp:
        """The present moment."""
        now = self._monotonic()
        if now >= self._look_at:
            self._state = self._look()
            self._look_at = now + _LOOK_AGAIN_S
        return Stamp(max(0, self._utc_ns() // 1_000_000), self.mono_ms(), self._state)


def kernel_clock_state() -> ClockState:
    """What the kernel says of its time of day (`adjtimex`): a board without battery starts unsynced."""
    return "synced" if 0 <= adjtimex(Timex()) < _TIME_ERROR else "unsynced"


def kernel_clock_offset_ms() -> int | None:
    """How far the time of day is off, as the kernel reckons; None where it does not know.

    What it is still correcting where it is (signed), or its estimated error where that is more: which of the two is
    kept up depends on who sets the clock.
    """
    answer = Timex()
    if not 0 <= adjtimex(answer) < _TIME_ERROR:
        return None
    offset_us = answer.offset / 1000 if answer.status & _IN_NANOSECONDS else answer.offset
    return round(max(offset_us, answer.esterror, key=abs) / 1000)


class Timex(ctypes.Structure):
    """The beginning of the kernel's `struct timex`; all zeros ask without changing anything."""

    _fields_: ClassVar = [
        ("modes", ctypes.c_uint), ("offset", ctypes.c_long), ("freq", ctypes.c_long), ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long), ("status", ctypes.c_int), ("rest", ctypes.c_char * 256),
    ]  # fmt: skip
    offset: int
    esterror: int
    status: int


def adjtimex(about: Timex) -> int:
    """Ask the kernel; negative where it does not answer."""
    return int(ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(about)))
