"""MQTT over WebSocket, bridged to the broker: bytes both ways, and one look at the CONNECT.

A paired display connects with a secret of its own; the bridge puts the broker's password of that seat in its place, so
that the broker's passwords never leave the board and un-pairing ends a display's access at once. Whoever connects
otherwise is the broker's to judge.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from aiohttp import WSCloseCode, WSMsgType, web

from controller.credentials import Credentials, user_of
from controller.web_pairing import PLACES, Register, secret_hash
from protocol.mqtt.connect import MAX_CONNECT_BYTES, Connect, ConnectError, parse_connect

CONNECT_S = 5.0
BROKER_S = 3.0
HEARTBEAT_S = 15.0
CLOSE_S = 1.0

_READ_BYTES = 16 * 1024

_log = structlog.get_logger("bridge")


@dataclass(slots=True)
class BridgeCounters:
    """What went over the bridge since the start, and what was refused."""

    opened: int = 0
    refused: int = 0
    bad_connects: int = 0
    bytes_in: int = 0
    bytes_out: int = 0


@dataclass(eq=False, slots=True)
class _Passage:
    """One open WebSocket: the seat and secret it came in with, if it is a paired display."""

    place: str = ""
    secret_hash: str = ""
    closing: asyncio.Event = field(default_factory=asyncio.Event)


class Bridge:
    """Serves `/mqtt`. `max_sockets` in all, `max_sockets_each` of one address, messages of at most `max_message`."""

    def __init__(
        self,
        host: str,
        port: int,
        socket: Path | None,
        credentials: Credentials,
        register: Register,
        *,
        max_sockets: int,
        max_sockets_each: int,
        max_message: int,
    ) -> None:
        self.counters = BridgeCounters()
        self._host, self._port, self._socket = host, port, socket
        self._credentials = credentials
        self._register = register
        self._max_sockets = max_sockets
        self._max_sockets_each = max_sockets_each
        self._max_message = max_message
        self._places = {user_of(credentials.table, place): place for place in PLACES}
        self._open: set[_Passage] = set()
        self._addresses: Counter[str] = Counter()

    @property
    def open(self) -> int:
        """How many WebSockets are open."""
        return len(self._open)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One WebSocket, from its opening to its end."""
        address = request.remote or ""
        asked = [one.strip() for one in request.headers.get("Sec-WebSocket-Protocol", "").split(",")]
        socket = web.WebSocketResponse(
            protocols=("mqtt",), max_msg_size=self._max_message, heartbeat=HEARTBEAT_S, compress=False, timeout=CLOSE_S
        )
        if not socket.can_prepare(request) or "mqtt" not in asked:
            self.counters.refused += 1
            raise web.HTTPUpgradeRequired(text="expected a WebSocket with the subprotocol mqtt\n")
        if self.open >= self._max_sockets or self._addresses[address] >= self._max_sockets_each:
            self.counters.refused += 1
            raise web.HTTPServiceUnavailable(text="too many connections\n", headers={"Retry-After": "5"})
        passage = _Passage()
        self._open.add(passage)
        self._addresses[address] += 1
        self.counters.opened += 1
        try:
            await socket.prepare(request)
            await self._pass(socket, passage)
        finally:
            self._open.discard(passage)
            self._addresses[address] -= 1
            if not self._addresses[address]:
                del self._addresses[address]
            with contextlib.suppress(ConnectionError, RuntimeError, TimeoutError):
                await asyncio.wait_for(socket.close(), CLOSE_S)
        return socket

    def close_released(self) -> None:
        """End the WebSockets of displays that were un-paired."""
        for passage in self._open:
            if passage.place and not self._register.holds(passage.place, passage.secret_hash):
                passage.closing.set()

    def close_all(self) -> None:
        """End every WebSocket."""
        for passage in self._open:
            passage.closing.set()

    async def _pass(self, socket: web.WebSocketResponse, passage: _Passage) -> None:
        try:
            async with asyncio.timeout(CONNECT_S):
                first = await self._first_bytes(socket, passage)
        except TimeoutError:
            self.counters.bad_connects += 1
            await socket.close(code=WSCloseCode.POLICY_VIOLATION, message=b"expected a CONNECT")
            return
        except ConnectError as error:
            self.counters.bad_connects += 1
            await socket.close(code=WSCloseCode.PROTOCOL_ERROR, message=str(error).encode()[:100])
            return
        if first is None:
            return
        try:
            async with asyncio.timeout(BROKER_S):
                reader, writer = await self._reach_broker()
        except (OSError, TimeoutError) as error:
            _log.warning("bridge_without_broker", error=str(error) or "no answer")
            await socket.close(code=WSCloseCode.TRY_AGAIN_LATER, message=b"no broker")
            return
        try:
            writer.write(first)
            self.counters.bytes_in += len(first)
            await self._both_ways(socket, passage, reader, writer)
        finally:
            writer.close()
            with contextlib.suppress(OSError, TimeoutError):
                await asyncio.wait_for(writer.wait_closed(), 1.0)

    async def _first_bytes(self, socket: web.WebSocketResponse, passage: _Passage) -> bytes | None:
        """The display's first bytes with the broker's password put in; None if it went away."""
        buffer = b""
        while True:
            message = await socket.receive()
            if message.type is WSMsgType.TEXT:
                raise ConnectError("expected binary messages")
            if message.type is not WSMsgType.BINARY:
                return None
            buffer += message.data
            connect = parse_connect(buffer)
            if connect is not None:
                return self._with_credential(connect, passage, buffer)
            if len(buffer) > MAX_CONNECT_BYTES:
                raise ConnectError(f"expected a CONNECT of at most {MAX_CONNECT_BYTES} bytes")

    def _with_credential(self, connect: Connect, passage: _Passage, buffer: bytes) -> bytes:
        place = self._places.get(connect.user or "")
        if place is None or connect.password is None or self._register.device_of(place, connect.password) is None:
            return buffer
        passage.place, passage.secret_hash = place, secret_hash(connect.password)
        _, password = self._credentials.of_seat(place)
        return connect.with_password(password) + buffer[connect.size :]

    async def _reach_broker(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._socket is not None:
            return await asyncio.open_unix_connection(str(self._socket))
        return await asyncio.open_connection(self._host, self._port)

    async def _both_ways(
        self,
        socket: web.WebSocketResponse,
        passage: _Passage,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        tasks = {
            asyncio.create_task(self._inward(socket, writer)),
            asyncio.create_task(self._outward(socket, reader)),
            asyncio.create_task(passage.closing.wait()),
        }
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _inward(self, socket: web.WebSocketResponse, writer: asyncio.StreamWriter) -> None:
        async for message in socket:
            if message.type is not WSMsgType.BINARY:
                await socket.close(code=WSCloseCode.UNSUPPORTED_DATA, message=b"expected binary messages")
                return
            self.counters.bytes_in += len(message.data)
            writer.write(message.data)
            await writer.drain()

    async def _outward(self, socket: web.WebSocketResponse, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(_READ_BYTES):
            self.counters.bytes_out += len(data)
            await socket.send_bytes(data)
