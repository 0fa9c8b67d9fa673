"""A loop on a clock of its own: time stands while anything is at work and then leaps to the next timer."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable
from typing import Any, Final

from controller.clock import Stamp

TURN_S: Final = 1e-7
"""What one turn of the loop takes: whoever waits for the last billionth of a second must come to the end of it."""


class LeapingLoop(asyncio.SelectorEventLoop):
    """`pace` real seconds pass for each second of its clock, 0 leaps. `idle` returns when nothing is left to do now."""

    def __init__(self, pace: float = 0.0) -> None:
        self.now = 0.0
        self.pace = pace
        self.at_work = 0
        self.waiting: list[asyncio.Future[None]] = []
        super().__init__(_Leaping(self))

    def time(self) -> float:
        """Seconds on this loop's clock."""
        return self.now

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """As any loop; meanwhile the clock stands."""
        self.at_work += 1
        work = super().run_in_executor(executor, func, *args)
        work.add_done_callback(self._worked)
        return work

    async def idle(self) -> None:
        """Return once nothing more happens before the clock goes on."""
        waiter: asyncio.Future[None] = self.create_future()
        self.waiting.append(waiter)
        await waiter

    def _worked(self, _: asyncio.Future[Any]) -> None:
        self.at_work -= 1


class _Leaping(selectors.DefaultSelector):
    def __init__(self, loop: LeapingLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        loop = self._loop
        loop.now += TURN_S
        if timeout is not None and timeout <= 0:
            return super().select(0)
        if loop.at_work:
            return super().select(30)
        if loop.waiting:
            waiting, loop.waiting = loop.waiting, []
            for one in waiting:
                if not one.done():
                    one.set_result(None)
            return super().select(0)
        if timeout is None:
            raise RuntimeError("nothing will ever happen again on this clock")
        if loop.pace:
            time.sleep(timeout * loop.pace)
        loop.now += timeout
        return super().select(0)


class LoopClock:
    """The daemon's clocks as the running loop has them; the time of day is that of the recording."""

    def monotonic(self) -> float:
        """Seconds that never step."""
        return asyncio.get_running_loop().time()

    def mono_ms(self) -> int:
        """Milliseconds since the beginning."""
        return round(self.monotonic() * 1000)

    def stamp(self) -> Stamp:
        """The present moment."""
        return Stamp(self.mono_ms(), self.mono_ms(), "unsynced")
