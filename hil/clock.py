"""A loop on a clock of its own: time stands while anything is at work and then leaps to the next timer.

An evening takes what its work takes, and the same inputs come at the same moments. Not for sockets that others serve:
nobody else's time passes with it.

    with asyncio.Runner(loop_factory=LeapingLoop) as runner:
        runner.run(main())
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable
from typing import Any

from controller.clock import ClockState, Stamp


class LeapingLoop(asyncio.SelectorEventLoop):
    """`pace` real seconds pass for each second of its clock, 0 leaps; `turn` is what one turn of the loop takes, in
    seconds. `idle` returns when nothing is left to do now. RuntimeError when every task waits for what nobody does.
    """

    def __init__(self, pace: float = 0.0, turn: float = 0.0) -> None:
        self.now = 0.0
        self.pace = pace
        self.turn = turn
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
        loop.now += loop.turn
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
            raise RuntimeError("nothing will ever happen again on this clock: every task waits for what nobody does")
        if loop.pace:
            time.sleep(timeout * loop.pace)
        loop.now += timeout
        return super().select(0)


class LoopClock:
    """The daemon's clocks as the running loop has them; `began_ms` is the time of day at its second 0."""

    def __init__(self, began_ms: int = 0, clock: ClockState = "unsynced") -> None:
        self._began_ms = began_ms
        self._clock = clock

    def monotonic(self) -> float:
        """Seconds that never step."""
        return asyncio.get_running_loop().time()

    def mono_ms(self) -> int:
        """Milliseconds since the beginning."""
        return round(self.monotonic() * 1000)

    def offset_ms(self) -> int | None:
        """How far the time of day is off, in ms; None where it is not synchronised."""
        return 0 if self._clock == "synced" else None

    def stamp(self) -> Stamp:
        """The present moment."""
        return Stamp(self._began_ms + self.mono_ms(), self.mono_ms(), self._clock)
