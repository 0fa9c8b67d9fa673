"""A board in memory, on a loop whose clock leaps (`hil.clock`): waiting costs nothing.

    report = run_virtual(lambda: run_suite(MemoryEndpoint(port), Options(moves=True)))
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from hil.clock import LeapingLoop
from simulators.port import MemoryPort

_Value = TypeVar("_Value")

TURN_S: Final = 1e-9
"""A hair: a timer that is due is due."""


def run_virtual(main: Callable[[], Coroutine[Any, Any, _Value]]) -> _Value:
    """Run a coroutine to its end on a clock that leaps."""
    with asyncio.Runner(loop_factory=lambda: LeapingLoop(turn=TURN_S)) as runner:
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
