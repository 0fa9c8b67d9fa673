"""The world channel: people and tools act in the world and see it, as JSON lines over a unix socket or TCP.

A request is `{"id": 1, "act": "take", "seat": "E", "positions": ["S2t"]}`; its answer `{"id": 1, "ok": true, …}` or
`{"id": 1, "ok": false, "error": "no tile stands at S2t any more"}`. After `{"id": 0, "act": "watch", "seat": "E"}` the
channel sends `{"sight": {…}}` at once and after every change, only the latest where the reader is slow; without a seat
it is a bystander's sight. `docs/simulators.md` has the table of acts.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from engine.tiles import SEATS
from simulators.acts import perform, text_of
from simulators.round import ActionRefused
from simulators.sight import Eyes, Sight
from simulators.tasks import cancel_all
from simulators.world import World, WorldError

__all__ = ["ActRefused", "ChannelError", "Control", "WorldClient", "WorldServer", "perform", "split_address"]

LINE_LIMIT = 64 * 1024
"""Bytes of the longest line either side sends."""

SIGHT_LIMIT = 1 << 20
"""Bytes of the longest line that somebody reads who looks at everything."""

Control = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


class ChannelError(ConnectionError):
    """The world channel cannot be opened or was closed; the message says which address."""


class ActRefused(RuntimeError):
    """The world did not let an act happen; the message is its reason. `code` and `rule`: why the rules forbid it."""

    def __init__(self, message: str, code: str = "", rule: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.rule = rule


class WorldServer:
    """Serves one world to any number of people; `control` answers the acts that belong to the hardware's faults.

    `acted` hears of every act of a person that was carried out.
    """

    def __init__(
        self,
        world: World,
        address: str,
        control: Control,
        acted: Callable[[str, Mapping[str, Any]], None] = lambda act, request: None,
    ) -> None:
        self._world = world
        self._address = address
        self._control = control
        self._acted = acted
        self._eyes = Eyes(world)
        self._watchers: set[asyncio.Event] = set()
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    def changed(self) -> None:
        """The world has changed: everybody looks."""
        for watcher in self._watchers:
            watcher.set()

    async def start(self) -> str:
        """Listen; the address as a client needs it. ChannelError when it cannot be had."""
        host, port, path = split_address(self._address)
        try:
            if path is not None:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
                self._server = await asyncio.start_unix_server(self._serve, path, limit=LINE_LIMIT)
                os.chmod(path, 0o600)
                return path
            self._server = await asyncio.start_server(self._serve, host, port, limit=LINE_LIMIT)
        except OSError as error:
            raise ChannelError(f"world channel {self._address}: {error.strerror or error}") from None
        bound = self._server.sockets[0].getsockname()
        return f"{bound[0]}:{bound[1]}"

    async def stop(self) -> None:
        """Close every connection and the socket."""
        if self._server is None:
            return
        self._server.close()
        await cancel_all(tuple(self._connections))
        with contextlib.suppress(OSError):
            _, _, path = split_address(self._address)
            if path is not None:
                os.unlink(path)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        watching: asyncio.Task[None] | None = None
        try:
            async for line in reader:
                request = _request(line)
                if request.get("act") == "watch":
                    if watching is not None:
                        watching.cancel()
                    seat = request.get("seat")
                    watching = asyncio.create_task(self._watch(writer, seat if seat in SEATS else None))
                    answer: dict[str, Any] = {"ok": True}
                else:
                    answer = await self.answer(request)
                if "id" in request:
                    answer["id"] = request["id"]
                writer.write(_line(answer))
                await writer.drain()
        except (ConnectionError, ValueError, asyncio.CancelledError):
            pass  # the reader left, sent an endless line, or the table is being switched off
        finally:
            if watching is not None:
                watching.cancel()
            writer.close()
            self._connections.discard(task)

    async def _watch(self, writer: asyncio.StreamWriter, seat: str | None) -> None:
        changed = asyncio.Event()
        changed.set()
        self._watchers.add(changed)
        try:
            while True:
                await changed.wait()
                changed.clear()
                writer.write(f'{{"sight": {self._eyes.sight(seat)}}}\n'.encode())
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            self._watchers.discard(changed)

    async def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out one request, as if it had come over the channel; its answer."""
        try:
            if "error" in request:
                raise WorldError(str(request["error"]))
            act = request.get("act")
            if act == "control":
                return {"ok": True, **await self._control(text_of(request, "verb"), request)}
            result = perform(self._world, str(act), request)
            self._acted(str(act), request)
            return {"ok": True, "seen": self._world.version, **result}
        except ActionRefused as refused:
            because = {"code": refused.code, "rule": refused.rule, "params": refused.params}
            return {"ok": False, "error": str(refused), **because}
        except (WorldError, OSError) as error:
            return {"ok": False, "error": str(error)}


class WorldClient:
    """One person's connection to the world. `sight` is the latest seen; `on_sight` is called after each."""

    def __init__(self, address: str, seat: str | None, on_sight: Callable[[Sight], None]) -> None:
        self._address = address
        self._seat = seat
        self._on_sight = on_sight
        self._writer: asyncio.StreamWriter | None = None
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._last = 0

    async def run(self) -> None:
        """Connect, watch, and hand every answer to its act, until the channel closes; ChannelError then."""
        host, port, path = split_address(self._address)
        try:
            if path is not None:
                reader, self._writer = await asyncio.open_unix_connection(path, limit=LINE_LIMIT)
            else:
                reader, self._writer = await asyncio.open_connection(host, port, limit=LINE_LIMIT)
        except OSError as error:
            raise ChannelError(f"world channel {self._address}: {error.strerror or error}") from None
        try:
            self._writer.write(_line({"act": "watch", "seat": self._seat}))
            async for line in reader:
                message = _request(line)
                if "sight" in message and "id" not in message:
                    self._on_sight(Sight.model_validate(message["sight"]))
                elif (answer := self._waiting.pop(message.get("id", 0), None)) is not None and not answer.done():
                    answer.set_result(message)
        except OSError as error:
            raise ChannelError(f"world channel {self._address}: {error.strerror or error}") from None
        finally:
            self._writer.close()
            self._writer = None
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(ChannelError(f"world channel {self._address} was closed"))
            self._waiting.clear()
        raise ChannelError(f"world channel {self._address} was closed")

    async def act(self, act: str, **arguments: Any) -> dict[str, Any]:
        """Do one thing and wait for the world's answer; ActRefused with its reason, ChannelError without a world."""
        if self._writer is None:
            raise ChannelError(f"world channel {self._address} is not connected")
        self._last += 1
        number = self._last
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self._writer.write(_line({"id": number, "act": act, "seat": self._seat, **arguments}))
            await self._writer.drain()
            result = await answer
        except OSError as error:
            raise ChannelError(f"world channel {self._address}: {error.strerror or error}") from None
        finally:
            self._waiting.pop(number, None)
        if not result.get("ok"):
            words = (str(result.get(name, "")) for name in ("error", "code", "rule"))
            raise ActRefused(*words)
        return result


async def order(address: str, verb: str, words: Mapping[str, Any]) -> dict[str, Any]:
    """Let a simulated table's hardware do something (`control`) and wait until it is done; what it answers.

    ActRefused with the reason where it cannot be done; ChannelError where there is no world.
    """
    host, port, path = split_address(address)
    try:
        if path is not None:
            reader, writer = await asyncio.open_unix_connection(path, limit=SIGHT_LIMIT)
        else:
            reader, writer = await asyncio.open_connection(host, port, limit=SIGHT_LIMIT)
        try:
            writer.write(_line({**words, "id": 1, "act": "control", "verb": verb}))
            line = await reader.readline()
        finally:
            writer.close()
    except OSError as error:
        raise ChannelError(f"world channel {address}: {error.strerror or error}") from None
    if not line:
        raise ChannelError(f"world channel {address}: closed without an answer")
    answer: dict[str, Any] = json.loads(line)
    if not answer.get("ok"):
        raise ActRefused(str(answer.get("error", "")))
    return answer


def split_address(address: str) -> tuple[str, int, str | None]:
    """`HOST:PORT` or a socket's path as (host, port, path); ChannelError when it is neither."""
    if "/" in address:
        return "", 0, str(Path(address))
    host, colon, port = address.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ChannelError(f"{address!r} is no address: expected HOST:PORT or the path of a socket with a /")
    return host.strip("[]") or "127.0.0.1", int(port), None


def _request(line: bytes) -> dict[str, Any]:
    try:
        body = json.loads(line)
    except ValueError as error:
        return {"error": f"no JSON: {error}"}
    return body if isinstance(body, dict) else {"error": f"expected an object, got {type(body).__name__}"}


def _line(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode() + b"\n"
