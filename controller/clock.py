"""Time for the daemon: the monotonic clock for everything that waits, time of day for stamps only."""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass
from typing import Literal

ClockState = Literal["synced", "unsynced"]

_TIME_ERROR = 5
_LOOK_AGAIN_S = 10.0


@dataclass(frozen=True, slots=True)
class Stamp:
    """When something happened: UTC in ms, monotonic ms since the daemon's start, whether the former can be trusted."""

    ts: int
    mono_ms: int
    clock: ClockState


class SystemClock:
    """The machine's clocks. Whether the time of day is synchronised is looked up at most every 10 s."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._state: ClockState = "unsynced"
        self._look_at = 0.0

    def monotonic(self) -> float:
        """Seconds that never step."""
        return time.monotonic()

    def mono_ms(self) -> int:
        """Milliseconds since the daemon's start, on one clock for the whole epoch."""
        return int((time.monotonic() - self._began) * 1000)

    def stamp(self) -> Stamp:
        """The present moment."""
        now = time.monotonic()
        if now >= self._look_at:
            self._state = kernel_clock_state()
            self._look_at = now + _LOOK_AGAIN_S
        return Stamp(time.time_ns() // 1_000_000, self.mono_ms(), self._state)


def kernel_clock_state() -> ClockState:
    """What the kernel says of its time of day (`adjtimex`): a board without battery starts unsynced."""
    libc = ctypes.CDLL(None, use_errno=True)
    # struct timex is about 208 bytes; all zeros ask without changing anything.
    answer = libc.adjtimex(ctypes.create_string_buffer(512))
    return "synced" if 0 <= answer < _TIME_ERROR else "unsynced"
