"""Listens at a serial port: bytes each way, and when it was opened and closed, for the recording."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias

from controller.recording.writer import StreamWriter
from controller.serial_port import SerialPortError, open_port


class PortLike(Protocol):
    """The part of a port that a line uses."""

    @property
    def bytes_in(self) -> int: ...

    @property
    def alive(self) -> bool: ...

    @property
    def pending(self) -> int: ...

    def write(self, data: bytes) -> None: ...

    def moved(self) -> bool: ...

    def abort(self) -> None: ...


Opener: TypeAlias = Callable[
    [str, int, Callable[[bytes], None], Callable[[str], None], Callable[[], None]], Awaitable[PortLike]
]
"""As `controller.serial_port.open_port`: name, baud, what takes bytes, what hears of the loss, what of room."""

_QUIET: Final = 5
"""A port that cannot be opened is noted so many times in a row, then only when it can be again."""


class PortTap:
    """Records one line. `open` opens its port as `open_port` does."""

    def __init__(self, stream: StreamWriter, opener: Opener = open_port) -> None:
        self._stream = stream
        self._opener = opener
        self._failures = 0

    async def open(
        self, name: str, baud: int, on_data: Callable[[bytes], None], on_lost: Callable[[str], None],
        on_drained: Callable[[], None] = lambda: None,
    ) -> PortLike:  # fmt: skip
        """A port that is listened to; SerialPortError as the port itself says it."""

        def heard(data: bytes) -> None:
            self.note({"way": "in", "hex": data.hex()})
            on_data(data)

        def lost(reason: str) -> None:
            self.note({"note": "closed", "by": "port", "reason": reason})
            on_lost(reason)

        try:
            port = await self._opener(name, baud, heard, lost, on_drained)
        except SerialPortError as error:
            self._failures += 1
            if self._failures <= _QUIET:
                self.note({"note": "no_port", "code": error.code})
            raise
        self._failures = 0
        self.note({"note": "opened"})
        return _RecordedPort(port, self)

    def note(self, entry: Mapping[str, Any]) -> None:
        """One entry of this line."""
        self._stream.put(entry)


class _RecordedPort:
    """A port whose writing and closing are noted."""

    def __init__(self, port: PortLike, tap: PortTap) -> None:
        self._port = port
        self._tap = tap

    @property
    def bytes_in(self) -> int:
        return self._port.bytes_in

    @property
    def alive(self) -> bool:
        return self._port.alive

    @property
    def pending(self) -> int:
        return self._port.pending

    def write(self, data: bytes) -> None:
        if data and self._port.alive:
            self._tap.note({"way": "out", "hex": data.hex()})
        self._port.write(data)

    def moved(self) -> bool:
        return self._port.moved()

    def abort(self) -> None:
        if self._port.alive:
            self._tap.note({"note": "closed", "by": "host"})
        self._port.abort()
