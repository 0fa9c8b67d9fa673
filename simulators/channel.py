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
from simulators.sight import Sight, public_sight, seat_sight
from simulators.tasks import cancel_all
from simulators.world import World, WorldError

LINE_LIMIT = 64 * 1024
"""Bytes of the longest line either side sends."""

Control = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


class ChannelError(ConnectionError):
    """The world channel cannot be opened or was closed; the message says which address."""


class ActRefused(RuntimeError):
    """The world did not let an act happen; the message is the world's reason."""


class WorldServer:
    """Serves one world to any number of people; `control` answers the acts that belong to the hardware's faults."""

    def __init__(self, world: World, address: str, control: Control) -> None:
        self._world = world
        self._address = address
        self._control = control
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
                    answer = await self._answer(request)
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
                sight = public_sight(self._world) if seat is None else seat_sight(self._world, seat)
                writer.write(_line({"sight": sight.model_dump()}))
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            self._watchers.discard(changed)

    async def _answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        try:
            if "error" in request:
                raise WorldError(str(request["error"]))
            act = request.get("act")
            if act == "control":
                return {"ok": True, **await self._control(_text(request, "verb"), request)}
            result = perform(self._world, str(act), request)
            return {"ok": True, "seen": self._world.version, **result}
        except (WorldError, OSError) as error:
            return {"ok": False, "error": str(error)}


def perform(world: World, act: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Carry out one act of a person; WorldError names what was wrong with it."""
    if act == "see":
        seat = request.get("seat")
        sight = public_sight(world) if seat is None else seat_sight(world, _seat(request))
        return {"sight": sight.model_dump()}
    if act == "press":
        world.press(_text(request, "key"), _seat(request), _held(request))
        return {}
    if act == "throw":
        throw = world.throw_by_hand()
        return {"dice": list(throw.dice)}
    if act == "push_in":
        return {"tiles": world.push_in(_seat(request))}
    if act == "put_in":
        return {"tiles": world.put_in_forgotten()}
    if act == "lay_row":
        world.lay_row(_seat(request))
        return {}
    if act == "take":
        return {"tiles": world.take(_seat(request), _texts(request, "positions"))}
    if act == "lay_flowers":
        faces = _texts(request, "faces") if "faces" in request else None
        return {"tiles": world.lay_flowers(_seat(request), faces)}
    if act == "begin_flowers":
        world.begin_flowers(_seat(request, "dealer"))
        return {}
    if act == "flip":
        return {"tile": world.flip(_text(request, "position"))}
    if act == "turn_back":
        world.turn_back(_text(request, "position"))
        return {}
    if act == "give_flower":
        return {"tile": world.give_flower(_text(request, "position"), _seat(request, "to"))}
    raise WorldError(f"no act {act!r}: see docs/simulators.md for the acts")


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
            raise ActRefused(str(result.get("error", "refused")))
        return result


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


def _text(request: Mapping[str, Any], name: str) -> str:
    value = request.get(name)
    if not isinstance(value, str):
        raise WorldError(f"{name}: expected a text, got {value!r}")
    return value


def _texts(request: Mapping[str, Any], name: str) -> list[str]:
    value = request.get(name)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise WorldError(f"{name}: expected a list of texts, got {value!r}")
    return value


def _seat(request: Mapping[str, Any], name: str = "seat") -> str:
    value = request.get(name)
    if value not in SEATS:
        raise WorldError(f"{name}: expected E, S, W or N, got {value!r}")
    return str(value)


def _held(request: Mapping[str, Any]) -> int:
    value = request.get("held_ms", 80)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 60_000:
        raise WorldError(f"held_ms: expected 0 to 60000, got {value!r}")
    return value
