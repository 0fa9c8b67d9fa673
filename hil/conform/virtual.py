"""A clock that jumps: an event loop on which waiting costs nothing, and a board in memory on the same loop.

    report = run_virtual(lambda: run_suite(MemoryEndpoint(port), Options(moves=True)))
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from simulators.port import MemoryPort

_Value = TypeVar("_Value")


class _JumpingSelector(selectors.DefaultSelector):
    """Waits for nothing: what it should have waited goes to `jump`."""

    def __init__(self) -> None:
        super().__init__()
        self.jump: Callable[[float], None] = lambda seconds: None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("nothing will ever happen on this loop: every task waits for what nobody does")
        if not ready and timeout is not None and timeout > 0:
            self.jump(timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose time passes only where everybody waits, and then at once. Not for sockets that others serve."""

    def __init__(self) -> None:
        selector = _JumpingSelector()
        super().__init__(selector)
        self._virtual = 1000.0
        selector.jump = self._jump

    def time(self) -> float:
        """Seconds of this loop."""
        return self._virtual

    def _jump(self, seconds: float) -> None:
        # A hair more than asked for: a timer that is due is due.
        self._virtual += seconds + 1e-9


def run_virtual(main: Callable[[], Coroutine[Any, Any, _Value]]) -> _Value:
    """Run a coroutine on a virtual loop to its end."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main())


class MemoryEndpoint:
    """The host's end of a port in memory."""

    def __init__(self, port: MemoryPort, name: str = "memory") -> None:
        self.name = name
        self._port = port

    def attach(self, on_data: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        """Who hears of bytes, and of the end of the line."""
        self._port.host_data, self._port.host_lost = on_data, on_lost

    def write(self, data: bytes) -> None:
        """Send bytes to the board."""
        self._port.host_write(data)

    def close(self) -> None:
        """Hear no more."""
        self._port.host_data = lambda data: None
        self._port.host_lost = lambda reason: None


__all__ = ["MemoryEndpoint", "VirtualLoop", "run_virtual"]
