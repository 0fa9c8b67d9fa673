"""Where a board answers: a port of this machine, a TCP address, or memory; and all that was heard there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from controller.serial_port import SerialPort, open_port
from protocol.serial.frames import DELIMITER, Frame, FrameDecoder, FrameError, FrameKind, encode_frame
from protocol.serial.messages import decode_message
from protocol.serial.wire import MessageError

QUIET_S: Final = 0.05
"""After so long without a byte what comes is a new burst of writing."""
SHOWN: Final = 8
"""Frames of a message that says what was seen."""


class Endpoint(Protocol):
    """Bytes to and from a board."""

    @property
    def name(self) -> str: ...

    def attach(self, on_data: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None: ...

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...


class PortEndpoint:
    """A real port, opened exclusively."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._port: SerialPort | None = None
        self._on_data: Callable[[bytes], None] = lambda data: None
        self._on_lost: Callable[[str], None] = lambda reason: None

    def attach(self, on_data: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        """Who hears of bytes, and of the end of the line."""
        self._on_data, self._on_lost = on_data, on_lost

    def write(self, data: bytes) -> None:
        """Send bytes as the line takes them."""
        if self._port is not None:
            self._port.write(data)

    def close(self) -> None:
        """Let go of the port."""
        if self._port is not None:
            self._port.abort()


async def open_endpoint(name: str, baud: int) -> PortEndpoint:
    """A device by its path, or `socket://HOST:PORT`; SerialPortError says why it cannot be had."""
    endpoint = PortEndpoint(name)
    endpoint._port = await open_port(
        name, baud, lambda data: endpoint._on_data(data), lambda reason: endpoint._on_lost(reason)
    )
    return endpoint


@dataclass(frozen=True, slots=True)
class Heard:
    """A frame of the board, or bytes that were none, and when it was whole, monotonic seconds."""

    at: float
    item: Frame | FrameError

    def is_kind(self, kind: FrameKind) -> bool:
        """A frame of this kind."""
        return isinstance(self.item, Frame) and self.item.kind == kind


class Tap:
    """Writes to an endpoint and keeps everything that comes, for whoever listens and for who asks later."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.heard: list[Heard] = []
        self.bytes_in = 0
        self.bytes_out = 0
        self.bursts = 0
        self.bursts_without_zero = 0
        self.lost = ""
        """Why the line is gone; empty while it is not."""
        self.on_bytes: Callable[[bytes], None] = lambda data: None
        self.on_heard: Callable[[Heard], None] = lambda heard: None
        self._decoder = FrameDecoder()
        self._last = -1.0
        self._arrived = asyncio.Event()
        endpoint.attach(self._data, self._gone)

    @staticmethod
    def now() -> float:
        """The clock of everything here, seconds."""
        return asyncio.get_running_loop().time()

    def write(self, data: bytes) -> None:
        """Bytes as they are."""
        self.bytes_out += len(data)
        self.endpoint.write(data)

    def say(self, *frames: Frame) -> None:
        """One burst: a zero, and the frames one behind the other."""
        self.write(DELIMITER + b"".join(encode_frame(frame) for frame in frames))

    def mark(self) -> int:
        """A place in `heard`: what comes from now on."""
        return len(self.heard)

    def frames(self, since: int) -> list[Frame]:
        """The frames since a mark."""
        return [heard.item for heard in self.heard[since:] if isinstance(heard.item, Frame)]

    async def wait_for(self, wanted: Callable[[Heard], bool], within: float, since: int) -> Heard | None:
        """The first that is wanted since a mark; None if it has not come in so many seconds."""
        until, at = self.now() + within, since
        while True:
            while at < len(self.heard):
                if wanted(self.heard[at]):
                    return self.heard[at]
                at += 1
            left = until - self.now()
            if left <= 0:
                return None
            self._arrived.clear()
            try:
                async with asyncio.timeout(left):
                    await self._arrived.wait()
            except TimeoutError:
                pass

    def _data(self, data: bytes) -> None:
        now = self.now()
        if now - self._last > QUIET_S:
            self.bursts += 1
            self.bursts_without_zero += data[:1] != DELIMITER
        self._last = now
        self.bytes_in += len(data)
        for item in self._decoder.scan(data):
            heard = Heard(now, item)
            self.heard.append(heard)
            self.on_heard(heard)
        self.on_bytes(data)
        self._arrived.set()

    def _gone(self, reason: str) -> None:
        self.lost = reason


def described(heard: Sequence[Heard]) -> str:
    """Frames in words for who reads a report: the last ones, heartbeats that say nothing new left out."""
    words: list[str] = []
    for one in heard:
        told = told_frame(one.item)
        if not words or words[-1] != told:
            words.append(told)
    if not words:
        return "nothing"
    more = len(words) - SHOWN
    return (f"{more} more, then " if more > 0 else "") + ", ".join(words[-SHOWN:])


def told_frame(item: Frame | FrameError) -> str:
    """One frame in a few words."""
    if isinstance(item, FrameError):
        return f"{item.length} bytes that are no frame ({item.kind})"
    if item.kind == FrameKind.DATA:
        try:
            message = decode_message(item.payload)
        except MessageError as error:
            return f"DATA {item.seq} that cannot be read ({error})"
        return f"DATA {item.seq} {message}"
    if item.kind in (FrameKind.HELLO_ACK, FrameKind.RESET, FrameKind.HELLO):
        return f"{item.kind.name} {item.session:08x}"
    return f"{item.kind.name} seq {item.seq} ack {item.ack}"
