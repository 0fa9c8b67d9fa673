"""A daemon in one process with a real broker on its access list and a board on a real pseudo-terminal, for tests."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from controller.broker_address import BrokerAddress
from controller.clock import SystemClock
from controller.daemon import Daemon
from controller.notify import Notifier
from controller.private_broker import PrivateBroker
from controller.settings import Settings, load_settings
from controller.startup import Start, broker_address, check_rules, start
from engine.tiles import SEATS
from protocol.mqtt.topics import Topics
from tests.controller.board import Board

TABLE = "test-daemon"
TOPICS = Topics(TABLE)


@dataclass
class Ear:
    """A client of the broker: the latest of each topic, everything that came, and a voice."""

    client: aiomqtt.Client
    latest: dict[str, dict[str, Any]] = field(default_factory=dict)
    heard: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)
    empty: set[str] = field(default_factory=set)
    """Topics that hold nothing now."""

    async def listen(self) -> None:
        async for message in self.client.messages:
            payload = bytes(message.payload) if isinstance(message.payload, bytes) else b""
            if not payload:
                self.empty.add(message.topic.value)
                self.came.set()
            else:
                self.empty.discard(message.topic.value)
                self.latest[message.topic.value] = json.loads(payload)
                self.heard.append((message.topic.value, json.loads(payload)))
                self.came.set()

    async def until(self, topic: str, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        async with asyncio.timeout(10):
            while topic not in self.latest or not holds(self.latest[topic]):
                self.came.clear()
                await self.came.wait()
        return self.latest[topic]

    async def emptied(self, *topics: str) -> None:
        """Nothing is kept of these topics."""
        async with asyncio.timeout(10):
            while not self.empty.issuperset(topics):
                self.came.clear()
                await self.came.wait()

    async def available(self, state: str) -> dict[str, Any]:
        return await self.until(TOPICS.availability, lambda said: said["data"]["state"] == state)

    async def answer(self, seat: str, id: str) -> dict[str, Any]:
        def answers(view: dict[str, Any]) -> list[dict[str, Any]]:
            return [answer for answer in view["data"]["me"]["answers"] if answer["id"] == id]

        return answers(await self.until(TOPICS.seat(seat), lambda view: bool(answers(view))))[0]


@dataclass
class Running:
    """A daemon at work."""

    daemon: Daemon
    begun: Start
    task: asyncio.Task[None]

    async def end(self) -> float:
        """Stop it; how long that took."""
        began = time.monotonic()
        self.daemon.stop()
        await self.task
        return time.monotonic() - began


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateBroker]:
    with PrivateBroker(tmp_path_factory.mktemp("broker"), TABLE) as running:
        yield running


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    made = Board(tmp_path / "port")
    made.plug()
    yield made
    made.close()


@pytest.fixture
def settings(broker: PrivateBroker, tmp_path: Path) -> Settings:
    path = tmp_path / "table.toml"
    path.write_text(
        f"""
        [table]
        id = "{TABLE}"
        name = "一号桌"
        [serial]
        ports = ["port"]
        [broker]
        port = {broker.port}
        credentials = "{broker.credentials_path}"
        [journal]
        path = "table.journal"
        [health]
        listen = "127.0.0.1:0"
        """,
        encoding="utf-8",
    )
    return load_settings(path, {})


async def begin(settings: Settings, adopt: bool = False) -> Running:
    check_rules(settings)
    address = broker_address(settings, settings.broker_user)
    begun = await start(settings, address, adopt)
    daemon = Daemon(settings, begun, address, SystemClock(), Notifier({}))
    return Running(daemon, begun, asyncio.create_task(daemon.run()))


@pytest.fixture
async def running(settings: Settings, board: Board, ear: Ear) -> AsyncIterator[Running]:
    made = await begin(settings)
    yield made
    if not made.task.done():
        await made.end()


@pytest.fixture
async def ear(broker: PrivateBroker) -> AsyncIterator[Ear]:
    """Hears what the table's own user may read back, and the parlor's share."""
    async with client_of(broker, TABLE) as own, client_of(broker, "parlor") as parlor:
        listening = Ear(own)
        hub = Ear(parlor, listening.latest, listening.heard, listening.came, listening.empty)
        for topic in (TOPICS.availability, TOPICS.birth, TOPICS.state, *(TOPICS.seat(seat) for seat in SEATS)):
            await own.publish(topic, b"", qos=1, retain=True)
            await own.subscribe(topic, qos=1)
        for topic in (f"{TOPICS.base}/event/+", f"{TOPICS.base}/response/+"):
            await parlor.subscribe(topic, qos=1)
        tasks = [asyncio.create_task(listening.listen()), asyncio.create_task(hub.listen())]
        yield listening
        for task in tasks:
            task.cancel()


def client_of(broker: PrivateBroker, user: str) -> aiomqtt.Client:
    address = BrokerAddress(broker.host, broker.port, None, user, broker.credentials[user], 5)
    return address.client()


async def say(broker: PrivateBroker, user: str, topic: str, body: dict[str, Any], retain: bool = False) -> None:
    async with client_of(broker, user) as client:
        await client.publish(topic, json.dumps(body).encode(), qos=1, retain=retain)


async def press(broker: PrivateBroker, ear: Ear, seat: str, id: str, verb: str, action: str, **params: Any) -> None:
    """Answer a seat's prompt of this verb."""
    view = await ear.until(TOPICS.seat(seat), lambda view: any(w["verb"] == verb for w in view["data"]["me"]["wants"]))
    want = next(want["id"] for want in view["data"]["me"]["wants"] if want["verb"] == verb)
    body = {"id": id, "epoch": view["epoch"], "want": want, "action": action, "params": params}
    await say(broker, f"{TABLE}-{seat}", TOPICS.seat_input(seat), body)


def command(id: str, **more: Any) -> dict[str, Any]:
    """The body of a parlor's command."""
    return {"id": id, "client": "hub-1", "who": "test", "args": {}, **more}


def offered(view: dict[str, Any]) -> dict[str, Any]:
    """The start prompt of a seat's view, as far as it names the match; empty without one."""
    wants = [want["params"] for want in view["data"]["me"]["wants"] if want["verb"] == "start"]
    return {name: wants[0][name] for name in ("rules", "layout")} if wants else {}
