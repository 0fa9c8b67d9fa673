"""A TCP proxy before a broker that does to it what networks and brokers do to people."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

CONNACK = 0x20


@dataclass(eq=False)
class _Pair:
    """A client's connection and ours to the broker behind it."""

    client: asyncio.StreamWriter
    broker: asyncio.StreamWriter
    tasks: list[asyncio.Task[None]] = field(default_factory=list)


class BrokerProxy:
    """Listens on a port of its own and passes on to the broker. What it does is changed at any time:

    `freeze` passes nothing on, in either direction, and closes nothing: a black hole; new clients are accepted into it.
    The broker's side of a client that gives up stays open, as after a real one: its will comes when the broker notices.
    `thaw` lets new connections through; what was frozen stays dead.
    `swallow_connack`: the broker hears the client, the client hears nothing. `kick`: accepts, answers, closes at once.
    `old`: a broker that does not understand MQTT 5.
    `cut` breaks every connection now, `forget` the clients' sides alone, as a router that was restarted does. `delay`
    holds each piece back for so many seconds, `rate` passes at most so many bytes a second to clients (0: no limit).
    `refuse` closes the port.
    """

    def __init__(self, host: str, port: int) -> None:
        self.target = (host, port)
        self.port = 0
        self.delay = 0.0
        self.rate = 0.0
        self.swallow_connack = False
        self.kick = False
        self.old = False
        self.accepted: list[float] = []
        """When a client came, on the monotonic clock."""
        self._frozen = False
        self._pairs: set[_Pair] = set()
        self._held: set[_Pair] = set()
        self._server: asyncio.Server | None = None
        self._work: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self.accept()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.refuse()
        self.cut()
        for task in list(self._work):
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)

    async def accept(self) -> None:
        """Listen, at the same port each time."""
        self._server = await asyncio.start_server(self._came, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def refuse(self) -> None:
        """Listen no more; what is connected stays."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def freeze(self) -> None:
        """Become a black hole."""
        self._frozen = True
        self._held |= self._pairs

    def thaw(self) -> None:
        """Be a network again, for new connections."""
        self._frozen = False

    def cut(self) -> None:
        """Break everything that is connected, on both sides, as a reset does."""
        for pair in [*self._pairs, *self._held]:
            for writer in (pair.client, pair.broker):
                _reset(writer)
            for task in pair.tasks:
                task.cancel()
        self._pairs.clear()
        self._held.clear()

    def forget(self) -> None:
        """Break the clients' sides; the broker does not learn of it."""
        for pair in self._pairs:
            self._held.add(pair)
            _reset(pair.client)
        self._pairs.clear()

    def _came(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted.append(time.monotonic())
        if self.kick:
            with contextlib.suppress(OSError):
                await reader.read(400)
                writer.write(bytes((CONNACK, 3, 0, 0, 0)))
                await writer.drain()
            writer.close()
            return
        if self._frozen:
            # Into the black hole: what the client says is never read further than the socket's buffer.
            with contextlib.suppress(OSError):
                while await reader.read(4096):
                    pass
            writer.close()
            return
        try:
            from_broker, to_broker = await asyncio.open_connection(*self.target)
        except OSError:
            _reset(writer)
            return
        if self.old:
            hello = await reader.read(400)
            if hello[hello.index(b"MQTT") + 4] == 5:
                writer.write(bytes((CONNACK, 2, 0, 1)))
                writer.close()
                to_broker.close()
                return
            to_broker.write(hello)
        pair = _Pair(writer, to_broker)
        self._pairs.add(pair)
        deaf = self.swallow_connack
        pair.tasks = [
            asyncio.ensure_future(self._pump(pair, reader, to_broker, False)),
            asyncio.ensure_future(self._pump(pair, from_broker, writer, True, deaf)),
        ]
        await asyncio.wait(pair.tasks)
        if pair not in self._held:
            for end in (writer, to_broker):
                end.close()
        self._pairs.discard(pair)

    async def _pump(
        self, pair: _Pair, source: asyncio.StreamReader, sink: asyncio.StreamWriter, down: bool, deaf: bool = False
    ) -> None:
        with contextlib.suppress(OSError):
            while piece := await source.read(4096):
                if self.delay:
                    await asyncio.sleep(self.delay)
                if pair in self._held or deaf:
                    continue
                if down and self.rate:
                    await asyncio.sleep(len(piece) / self.rate)
                sink.write(piece)
                await sink.drain()
        if pair not in self._held:
            sink.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close so that the other side sees a reset."""
    with contextlib.suppress(OSError):
        raw = writer.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
