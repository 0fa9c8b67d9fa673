"""One look at a board: open the port, shake hands, ask what it is and what it has done. Moves nothing."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from controller.recording.port import Opener, PortLike
from controller.serial_port import open_port
from protocol.serial import messages as serial
from protocol.serial.events import (
    Delivered,
    LinkEvent,
    LinkLost,
    LinkStats,
    SessionStarted,
    Undecodable,
    VersionRefused,
)
from protocol.serial.link import Link

_Answer = TypeVar("_Answer", bound=serial.Message)


class ProbeError(Exception):
    """The board cannot be spoken to; the message says why and what to look at."""


@dataclass(frozen=True, slots=True)
class Probed:
    """What a board said. `refusal` is set where it speaks another protocol; then the rest is missing."""

    identity: serial.Identity
    refusal: str
    status: serial.Status | None
    counters: serial.Counters | None
    stats: LinkStats


async def probe(name: str, baud: int, host: str, patience: float = 3.0, opener: Opener = open_port) -> Probed:
    """Speak to the board at a port for a moment; ProbeError or SerialPortError where that fails."""
    async with asyncio.timeout(patience * 4):
        talk = _Talk()
        async with asyncio.timeout(patience):
            port = await opener(name, baud, talk.read, talk.port_lost, lambda: None)
        talk.port = port
        try:
            return await _interview(talk, name, baud, host, patience)
        finally:
            talk.hang_up()
            await asyncio.sleep(0)
            port.abort()


async def _interview(talk: _Talk, name: str, baud: int, host: str, patience: float) -> Probed:
    talk.pump()
    try:
        async with asyncio.timeout(patience):
            await talk.session
    except TimeoutError:
        raise ProbeError(_nobody(name, baud, talk)) from None
    identity = await talk.ask(
        lambda req: serial.Identify(req, serial.PROTOCOL_MIN, serial.PROTOCOL, host), serial.Identity, patience
    )
    refusal = serial.protocol_refusal(identity.protocol) or ""
    if refusal:
        return Probed(identity, refusal, None, None, talk.link.stats)
    status = await talk.ask(serial.StatusQuery, serial.Status, patience)
    counters = await talk.ask(serial.CountersQuery, serial.Counters, patience)
    return Probed(identity, "", status, counters, talk.link.stats)


def _nobody(name: str, baud: int, talk: _Talk) -> str:
    stats = talk.link.stats
    if stats.echoes:
        return f"{name}: the line echoes what is sent: are its two wires joined?"
    if stats.bytes_in:
        return (
            f"{name}: {stats.bytes_in} bytes came, but no frame of a table's board; "
            f"is {baud} its baud rate, and is it the right port?"
        )
    return f"{name}: nobody answers; is the board powered, is it the right port, is {baud} its baud rate?"


class _Talk:
    """The link of one probe."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.link = Link("host", lambda: secrets.randbits(32))
        self.port: PortLike | None = None
        self.session: asyncio.Future[None] = self._loop.create_future()
        self._timer: asyncio.TimerHandle | None = None
        self._next = 1
        self._waiting: dict[int, asyncio.Future[Any]] = {}

    async def ask(self, make: Callable[[int], serial.Message], answer: type[_Answer], patience: float) -> _Answer:
        """One request and its answer."""
        number, self._next = self._next, self._next + 1
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting[number] = future
        self.link.send(make(number))
        self.pump()
        try:
            async with asyncio.timeout(patience):
                reply = await future
        except TimeoutError:
            raise ProbeError(f"the board's link answers, its firmware does not: no {answer.__name__}") from None
        if not isinstance(reply, answer):
            raise ProbeError(f"the board answers {type(reply).__name__} where {answer.__name__} was expected")
        return reply

    def read(self, data: bytes) -> None:
        self._handle(self.link.receive(data, self._loop.time()))
        self.pump()

    def port_lost(self, reason: str) -> None:
        self._fail(ProbeError(f"the line was lost: {reason}"))

    def pump(self) -> None:
        if self.port is None or not self.port.alive:
            return
        self.port.write(self.link.outgoing(self._loop.time()))
        deadline = self.link.next_deadline()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if deadline is None else self._loop.call_at(deadline, self._tick)

    def hang_up(self) -> None:
        self._handle(self.link.close())
        self.pump()
        if self._timer is not None:
            self._timer.cancel()

    def _tick(self) -> None:
        self._handle(self.link.tick(self._loop.time()))
        self.pump()

    def _handle(self, events: list[LinkEvent]) -> None:
        for event in events:
            match event:
                case SessionStarted():
                    if not self.session.done():
                        self.session.set_result(None)
                case Delivered(message=message):
                    future = self._waiting.pop(getattr(message, "req", 0), None)
                    if future is not None and not future.done():
                        future.set_result(message)
                case Undecodable(error=error):
                    self._fail(ProbeError(f"the board's words cannot be read: {error}; update the older side"))
                case VersionRefused(words=words):
                    self._fail(ProbeError(words))
                case LinkLost(reason=reason):
                    if reason != "closed":
                        self._fail(ProbeError(f"the session with the board was lost ({reason})"))

    def _fail(self, error: ProbeError) -> None:
        for future in (self.session, *self._waiting.values()):
            if not future.done():
                future.set_exception(error)
