"""A host for tests: the real link over a real pty, nothing else of the daemon."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import termios
import tty
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from engine.ruleset import load_ruleset
from protocol.serial.events import Delivered, LinkEvent, LinkLost, SessionStarted
from protocol.serial.link import Link
from protocol.serial.messages import GearSet, Identify, Identity, Message, OpId, OpRefused, OpResult, SetGear
from simulators.channel import WorldClient
from simulators.table import SimulatedTable, TableConfig

RULES = load_ruleset("new-xiamen-120")
PATIENCE_S = 5.0

Kind = TypeVar("Kind")


class Host:
    """One side of the line. `deaf` stops everything it says and hears, as a stopped process would."""

    def __init__(self, device: Path | str) -> None:
        self.link = Link("host", lambda: secrets.randbits(32))
        self.device = device
        self.deaf = False
        self.heard: list[Message] = []
        self._events: asyncio.Queue[LinkEvent] = asyncio.Queue()
        self._timer: asyncio.TimerHandle | None = None
        self._fd = -1
        self._req = 0
        self._step = 0

    def open(self) -> None:
        """Open the device that the symlink names now, or connect to HOST:PORT."""
        if isinstance(self.device, Path):
            self._fd = os.open(self.device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            tty.setraw(self._fd, termios.TCSANOW)
        else:
            name, _, port = self.device.rpartition(":")
            self._fd = socket.create_connection((name, int(port))).detach()
            os.set_blocking(self._fd, False)
        asyncio.get_running_loop().add_reader(self._fd, self._readable)
        self._pump()

    def close(self) -> None:
        """Close the device and forget the session."""
        if self._timer is not None:
            self._timer.cancel()
        if self._fd >= 0:
            asyncio.get_running_loop().remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1
        for event in self.link.line_lost():
            self._events.put_nowait(event)

    async def until(self, kind: type[Kind]) -> Kind:
        """The next message or link event of a kind; everything before it is passed over (and kept in `heard`)."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                event = await self._events.get()
                found: Any = event
                if isinstance(event, Delivered):
                    found = event.message
                    self.heard.append(event.message)
                if isinstance(found, kind):
                    return found

    def send(self, message: Message) -> None:
        """Queue a message."""
        self.link.send(message)
        self._pump()

    async def identify(self) -> Identity:
        """Shake hands; the board's identity."""
        await self.until(SessionStarted)
        self.send(Identify(self.next_req(), 1, 1, "test"))
        return await self.until(Identity)

    async def set_gear(self) -> GearSet:
        """The gear of the rules that the tests play."""
        self.send(SetGear(self.next_req(), RULES.tiles, (RULES.stacks,) * 4))
        return await self.until(GearSet)

    async def run(self, operation: Any, **arguments: Any) -> OpResult:
        """An operation under a new id, to its result."""
        self.send(operation(self.new_op(), **arguments))
        return await self.until(OpResult)

    async def refused(self, operation: Any, **arguments: Any) -> str:
        """An operation that is expected to be refused; the reason."""
        self.send(operation(self.new_op(), **arguments))
        return (await self.until(OpRefused)).reason

    def new_op(self) -> OpId:
        """An id that was never used."""
        self._step += 1
        return OpId(journal=0xA1, hand=1, step=self._step, attempt=1)

    def next_req(self) -> int:
        """The number of the next request."""
        self._req += 1
        return self._req

    def _readable(self) -> None:
        data = os.read(self._fd, 4096)
        if not self.deaf:
            self._take(self.link.receive(data, asyncio.get_running_loop().time()))

    def _take(self, events: list[LinkEvent]) -> None:
        for event in events:
            self._events.put_nowait(event)
        self._pump()

    def _pump(self) -> None:
        loop = asyncio.get_running_loop()
        if self._fd < 0:
            return
        if not self.deaf and (data := self.link.outgoing(loop.time())):
            os.write(self._fd, data)
        if self._timer is not None:
            self._timer.cancel()
        due = self.link.next_deadline()
        self._timer = loop.call_at(max(loop.time() + 0.01, due), self._tick) if due is not None else None

    def _tick(self) -> None:
        if not self.deaf:
            self._take(self.link.tick(asyncio.get_running_loop().time()))
        else:
            self._timer = asyncio.get_running_loop().call_later(0.05, self._tick)


def config(folder: Path, **changes: Any) -> TableConfig:
    """A table of the rules that the tests play, as fast as it goes."""
    usual: dict[str, Any] = {
        "faces": RULES.faces(),
        "world": str(folder / "world"),
        "link": folder / "serial",
        "seed": 7,
        "speed": "max",
        "cocked": 0.0,
    }
    return TableConfig(**{**usual, **changes})


@asynccontextmanager
async def table_and_host(folder: Path, **changes: Any) -> AsyncIterator[tuple[SimulatedTable, Host]]:
    """A simulated table on a pty and a host that has not said anything yet."""
    async with SimulatedTable(config(folder, **changes)) as table:
        host = Host(folder / "serial" if "tcp" not in changes else table.line_name)
        host.open()
        try:
            yield table, host
        finally:
            host.close()


@asynccontextmanager
async def hands(table: SimulatedTable, seat: str | None = "E") -> AsyncIterator[WorldClient]:
    """A person's hands on the world channel."""
    seen = asyncio.Event()
    client = WorldClient(table.world_address, seat, lambda sight: seen.set())
    running = asyncio.create_task(client.run())
    try:
        await seen.wait()
        yield client
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


__all__ = ["RULES", "Host", "LinkLost", "config", "hands", "table_and_host"]
