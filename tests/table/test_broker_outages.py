"""A whole table whose broker fails in every way: play goes on, displays are right within 5 s, the ledger is whole."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from controller.broker_address import payload_bytes
from controller.journal import read_ledger, read_session
from controller.private_broker import PrivateBroker
from engine.events import SessionSaid, decode_event
from engine.match import fold
from engine.match.state import Match
from tests.broker_proxy import BrokerProxy
from tests.controller.hubs import HubBook, ack
from tests.table.harness import TABLE, WholeTable, free_port

pytestmark = [pytest.mark.table, pytest.mark.timeout(240)]

RIGHT_S = 5.0
"""How soon after the broker's return displays are right."""


@dataclass
class Hub:
    """The parlor's hub: commits what it reads, acknowledges what is complete, comes back for ever."""

    table: WholeTable
    book: HubBook = field(default_factory=HubBook)
    acknowledges: bool = True
    connections: int = 0

    async def run(self) -> None:
        while True:
            with contextlib.suppress(aiomqtt.MqttError, OSError):
                await self._read()
            await asyncio.sleep(0.2)

    async def _read(self) -> None:
        topics = self.table.topics
        async with self.table.client("parlor") as client:
            await client.subscribe([(topics.ledger, 1), (topics.birth, 1)])
            self.connections += 1
            async for message in client.messages:
                payload = payload_bytes(message.payload)
                if not payload:
                    continue
                if message.topic.value == topics.birth:
                    # By what it holds the table knows what to say.
                    journal = json.loads(payload)["data"]["journal"]
                else:
                    journal = self.book.take(payload).journal
                if self.acknowledges:
                    await client.publish(topics.ledger_ack, ack(journal, self.book.complete(journal)), qos=1)

    async def complete(self, rows: int, seconds: float = 10) -> None:
        """Wait until so many rows are committed."""
        async with asyncio.timeout(seconds):
            while len(self.book.rows) < rows:
                await asyncio.sleep(0.02)


@dataclass
class Outages:
    """A table behind a proxy, its hub, and what is done to the broker."""

    table: WholeTable
    proxy: BrokerProxy
    hub: Hub

    async def right(self) -> None:
        """Within 5 s from now the table speaks, lives, and all four seats and the public see how it stands."""
        topics = self.table.topics
        wanted = {topics.state, topics.availability, *(topics.seat(seat) for seat in "ESWN")}
        live: set[str] = set()
        latest: dict[str, dict[str, Any]] = {}

        def holds() -> bool:
            if not wanted <= latest.keys() or latest[topics.availability]["data"]["state"] != "ready":
                return False
            epochs = {said["epoch"] for said in latest.values()}
            hands = {said["data"]["hand"] for topic, said in latest.items() if topic != topics.availability}
            return wanted - {topics.availability} <= live and len(epochs) == 1 and len(hands) == 1

        try:
            async with asyncio.timeout(RIGHT_S):
                while True:
                    with contextlib.suppress(aiomqtt.MqttError):
                        async with self.table.client(TABLE) as client:
                            await client.subscribe([(topic, 1) for topic in wanted])
                            async for message in client.messages:
                                if message.payload:
                                    latest[message.topic.value] = json.loads(payload_bytes(message.payload))
                                    if not message.retain:
                                        live.add(message.topic.value)
                                    if holds():
                                        return
        except TimeoutError:
            raise AssertionError(f"not right within {RIGHT_S} s: live {sorted(live)}, {self.table.logs()}") from None

    async def cut(self) -> None:
        self.proxy.cut()

    async def black_hole(self) -> None:
        self.proxy.freeze()
        await asyncio.sleep(6)
        self.proxy.thaw()

    async def forgotten(self) -> None:
        """The old will comes after the new ready."""
        self.proxy.forget()
        await asyncio.sleep(3.5)

    async def kicks(self) -> None:
        self.proxy.kick = True
        self.proxy.cut()
        await asyncio.sleep(2.5)
        self.proxy.kick = False

    async def says_nothing(self) -> None:
        self.proxy.swallow_connack = True
        self.proxy.cut()
        await asyncio.sleep(4)
        self.proxy.swallow_connack = False

    async def empty(self) -> None:
        await asyncio.to_thread(self.table.broker.restart, empty=True)

    async def killed_and_old(self) -> None:
        """Killed; what it had saved when the table had just begun is on it again."""
        broker = self.table.broker
        await asyncio.to_thread(broker.kill)
        shutil.copy(broker.folder / "old.db", broker.folder / "store" / "mosquitto.db")
        await asyncio.sleep(1)
        await asyncio.to_thread(broker.start)

    async def save(self) -> None:
        """Have the broker write its store, and keep a copy for `killed_and_old`."""
        broker = self.table.broker
        await asyncio.to_thread(broker.stop)
        shutil.copy(broker.folder / "store" / "mosquitto.db", broker.folder / "old.db")
        await asyncio.to_thread(broker.start)


@contextlib.asynccontextmanager
async def outages(folder: Path, **more: Any) -> AsyncIterator[Outages]:
    """A whole table whose daemon reaches its broker through a proxy; everybody else has it straight."""
    table = WholeTable(folder, **more)
    table.broker = PrivateBroker(folder / "broker", TABLE, port=free_port())
    async with BrokerProxy("127.0.0.1", table.broker.port) as proxy:
        table.daemon_broker = proxy.port
        async with table:
            hub = Hub(table)
            reading = asyncio.create_task(hub.run())
            try:
                yield Outages(table, proxy, hub)
                if reading.done():
                    reading.result()
            finally:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)


def session_of(table: WholeTable) -> Match:
    """The evening as the journal's events have it."""
    said = (decode_event(body) for body in read_session(table.journal).said)
    return fold([event.event for event in said if isinstance(event, SessionSaid)])


def whole(table: WholeTable, book: HubBook) -> None:
    """AssertionError unless the hub has the evening: every hand once, in order, and nothing else."""
    session = session_of(table)
    rows = read_ledger(table.journal)
    assert [row.envelope.encode() for row in rows] == [payload for _, payload in sorted(book.rows.items())]
    standing = [one for one in session.book if not one.voided]
    hands = [record for record in book.standing if record["kind"] == "hand"]
    assert [(hand["match"], hand["hand"], hand["points"]) for hand in hands] == [
        (one.match, one.hand, dict(one.points)) for one in standing
    ]
    assert book.kinds() == ["session_begun", "match_begun", *["hand"] * len(hands), "match_ended", "session_ended"]


FAULTS: dict[str, Callable[[Outages], Awaitable[None]]] = {
    "taking": Outages.black_hole,
    "flowers": Outages.cut,
    "play": Outages.kicks,
    "settle": Outages.empty,
    "lift": Outages.killed_and_old,
    "deal_roll": Outages.forgotten,
    "sorting": Outages.says_nothing,
}
"""What happens to the broker, by the phase of the hand in which it begins."""


async def at_every_phase(one: Outages, phases: list[str]) -> dict[str, int]:
    """Let each fault happen in its phase; how many events were stored meanwhile."""
    table, stored = one.table, {}
    for phase in phases:
        await table.state(lambda data, phase=phase: data["phase"] == phase, 60)  # type: ignore[misc]
        before = table.stored_events()
        await FAULTS[phase](one)
        stored[phase] = table.stored_events() - before
        await one.right()
    return stored


async def test_f7_f9_f11_f12_a_match_is_played_whatever_happens_to_the_broker(tmp_path: Path) -> None:
    """F7, F9, F11, F12: in each phase another fault. Play goes on meanwhile, displays are right within 5 s without a
    restart, and the hub has every hand once and in order.
    """
    async with outages(tmp_path, hands=1, speed="10", timing={"agree_ms": 5000}) as one:
        stored = await at_every_phase(one, ["taking", "play", "settle"])
        assert stored["taking"] >= 8, "the deal has gone on without a broker"
        await one.table.ended(120)
        await one.hub.complete(len(read_ledger(one.table.journal)))
        whole(one.table, one.hub.book)
        assert one.hub.connections >= 2


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("sensing", ["none", "full"])
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_long_matches_with_every_fault_in_every_phase(tmp_path: Path, sensing: str, seed: int) -> None:
    names = list(FAULTS)
    async with outages(tmp_path, hands=4, speed="10", sensing=sensing, seed=seed) as one:
        await one.save()
        for number, phase in enumerate(names * 4):
            wanted = (phase, "ended")
            found = await one.table.state(lambda data, wanted=wanted: data["phase"] in wanted, 120)  # type: ignore[misc]
            if found["phase"] == "ended":
                break
            await FAULTS[names[(number + seed + number // len(names)) % len(names)]](one)
            await one.right()
        await one.table.ended(300)
        await one.hub.complete(len(read_ledger(one.table.journal)))
        whole(one.table, one.hub.book)


async def test_f15_a_whole_match_offline_and_a_power_cut_and_everything_arrives_once_in_order(tmp_path: Path) -> None:
    """F15: played while no hub listens, daemon and broker lose power; start, every hand and stop come, in order.

    A hub that dies between reading and acknowledging reads again what it had not acknowledged, byte for byte.
    """
    async with outages(tmp_path, hands=2, speed="max", timing={"agree_ms": 1000}) as one:
        one.hub.acknowledges = False
        await one.table.ended(120)
        rows = len(read_ledger(one.table.journal))
        assert rows == 6
        table = one.table
        table.kill("daemon", signal.SIGKILL)
        await asyncio.to_thread(table.broker.kill)
        (table.broker.folder / "store" / "mosquitto.db").unlink(missing_ok=True)
        await asyncio.to_thread(table.broker.start)
        one.hub.book = HubBook()
        table.start_daemon()
        await one.hub.complete(rows, 20)
        whole(table, one.hub.book)
        assert all(not row.acked for row in read_ledger(table.journal)), "a receipt of the broker frees nothing"
        one.hub.acknowledges = True
        # A hub that says what it holds is told what follows: nothing, and all of it is free.
        async with table.client("parlor") as parlor:
            journal = read_ledger(table.journal)[0].journal
            await parlor.publish(table.topics.ledger_ack, ack(journal, rows), qos=1)
            async with asyncio.timeout(10):
                while not all(row.acked for row in read_ledger(table.journal)):
                    await asyncio.sleep(0.05)
            # Nothing is said again to who has it all.
            await parlor.subscribe(table.topics.ledger, qos=1)
            table.kill("daemon", signal.SIGTERM)
            table.start_daemon()
            await table.follow("view", table.topics.availability, lambda data: data["state"] == "ready", 20)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1.0):
                    await anext(aiter(parlor.messages))
