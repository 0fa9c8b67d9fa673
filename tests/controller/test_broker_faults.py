"""What networks and brokers do to a table, through a proxy before a real mosquitto: displays are right within 5 s."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import aiomqtt
import pytest

from controller import broker as sessions
from controller.broker import BrokerSession
from controller.broker_address import BrokerAddress, payload_bytes
from controller.private_broker import PrivateBroker
from protocol.mqtt.topics import SEATS, Topics
from tests.broker_proxy import BrokerProxy

TABLE = "hall-7"
TOPICS = Topics(TABLE)
RIGHT_S = 5.0
"""How soon after the broker's return everything on it is right."""


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[PrivateBroker]:
    with PrivateBroker(tmp_path / "broker", TABLE) as running:
        yield running


@pytest.fixture
async def proxy(broker: PrivateBroker) -> AsyncIterator[BrokerProxy]:
    async with BrokerProxy(broker.host, broker.port) as made:
        yield made


class Table:
    """The daemon's side: every retained topic has a content with a number that goes up."""

    def __init__(self, broker: PrivateBroker, port: int, keepalive: int = 1) -> None:
        where = BrokerAddress(broker.host, port, None, TABLE, broker.credentials[TABLE], keepalive=keepalive)
        self.number = 0
        self.session = BrokerSession(
            where,
            TOPICS.table_reads(),
            lambda *_: None,
            read_back=(TOPICS.availability, TOPICS.birth, TOPICS.state),
            will=lambda: (TOPICS.availability, b"lost"),
        )
        self.session.set_retained(TOPICS.birth, b"birth")
        self.session.set_retained(TOPICS.availability, b"ready")
        self.say()

    def say(self) -> None:
        """Something has happened: state and views are new."""
        self.number += 1
        for topic in (TOPICS.state, *(TOPICS.seat(seat) for seat in SEATS)):
            self.session.set_retained(topic, b"%d" % self.number)

    @property
    def latest(self) -> dict[str, bytes]:
        return dict(self.session.retained)


@contextlib.asynccontextmanager
async def running(broker: PrivateBroker, port: int, keepalive: int = 1) -> AsyncIterator[Table]:
    table = Table(broker, port, keepalive)
    task = asyncio.create_task(table.session.run())
    try:
        yield table
    finally:
        table.session.stop()
        async with asyncio.timeout(6):
            await task


async def until(true: Callable[[], bool], seconds: float = RIGHT_S) -> float:
    """Wait for a condition; how many seconds it took."""
    began = time.monotonic()
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.01)
    return time.monotonic() - began


class Displays:
    """A reader of everything retained, straight at the broker: the latest of each topic, and all that came."""

    def __init__(self) -> None:
        self.latest: dict[str, bytes] = {}
        self.heard: list[tuple[str, bytes]] = []


@contextlib.asynccontextmanager
async def displays(broker: PrivateBroker) -> AsyncIterator[Displays]:
    found = Displays()
    where = BrokerAddress(broker.host, broker.port, None, TABLE, broker.credentials[TABLE], keepalive=30)

    async def read(client: aiomqtt.Client) -> None:
        async for message in client.messages:
            payload = payload_bytes(message.payload)
            found.latest[message.topic.value] = payload
            found.heard.append((message.topic.value, payload))

    async with where.client() as client:
        await client.subscribe([(topic, 1) for topic in TOPICS.table_retains()])
        reading = asyncio.create_task(read(client))
        try:
            yield found
        finally:
            reading.cancel()


async def right(table: Table, broker: PrivateBroker, seconds: float = RIGHT_S) -> None:
    """Displays that look now see the newest of everything within so many seconds; AssertionError with what is not."""
    async with displays(broker) as seen:
        try:
            await until(lambda: seen.latest == table.latest, seconds)
        except TimeoutError:
            wrong = {topic: (seen.latest.get(topic), said) for topic, said in table.latest.items()}
            raise AssertionError({topic: both for topic, both in wrong.items() if both[0] != both[1]}) from None


@pytest.mark.parametrize(("keepalive", "busy"), [(2, False), (1, True)])
async def test_f9_a_black_hole_is_noticed_within_two_keepalives(
    broker: PrivateBroker, proxy: BrokerProxy, keepalive: int, busy: bool
) -> None:
    """F9: half-open TCP. Nothing is closed, nothing comes; the table gives it up, and is right as soon as it can be."""
    async with running(broker, proxy.port, keepalive) as table:
        await table.session.wait_connected()
        await until(lambda: not table.session.waiting)
        proxy.freeze()
        if busy:
            table.say()
        noticed = await until(lambda: not table.session.connected, 6)
        assert noticed <= min(2.2 * keepalive, 5.0) + 0.2
        table.say()
        before = len(proxy.accepted)
        await asyncio.sleep(0.5)
        proxy.thaw()
        await right(table, broker)
        assert len(proxy.accepted) - before <= 4


async def test_f7_the_will_of_a_half_open_connection_that_comes_after_ready_is_corrected(
    broker: PrivateBroker, proxy: BrokerProxy
) -> None:
    """F7: the broker notices the dead connection long after the new one has said that all is well."""
    async with displays(broker) as seen, running(broker, proxy.port, keepalive=2) as table:
        await until(lambda: seen.latest == table.latest)
        # Only the table knows: it comes back at once.
        proxy.forget()
        await until(lambda: table.session.counters.connections == 2)
        await until(lambda: (TOPICS.availability, b"lost") in seen.heard, 8)
        await until(lambda: seen.latest == table.latest)
        assert table.session.counters.said_again >= 1


async def test_f9_a_broker_that_answers_no_connect_is_asked_seldom_and_at_once_when_it_answers(
    broker: PrivateBroker, proxy: BrokerProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F9: the loop that ended before CONNACK and stayed off for ever."""
    monkeypatch.setattr("controller.broker_address.CONNECT_S", 1.0)
    proxy.swallow_connack = True
    async with running(broker, proxy.port) as table:
        await until(lambda: len(proxy.accepted) >= 2, 8)
        assert not table.session.connected
        gaps = [later - earlier for earlier, later in zip(proxy.accepted, proxy.accepted[1:], strict=False)]
        assert min(gaps) >= 0.9, "a broker that says nothing is waited for"
        proxy.swallow_connack = False
        await until(lambda: table.session.connected)
        await right(table, broker, 1)


async def test_f9_attempts_at_a_broker_that_kicks_are_few_and_never_in_step(broker: PrivateBroker) -> None:
    """F9: reconnect storms. Three tables that are thrown out at the same moment do not come back at the same moment."""
    async with contextlib.AsyncExitStack() as stack:
        proxies = [await stack.enter_async_context(BrokerProxy(broker.host, broker.port)) for _ in range(3)]
        for proxy in proxies:
            proxy.kick = True
        tables = [await stack.enter_async_context(running(broker, proxy.port)) for proxy in proxies]
        await asyncio.sleep(3)
        for proxy in proxies:
            assert 3 <= len(proxy.accepted) <= 8
        last = sorted(proxy.accepted[-1] - proxy.accepted[0] for proxy in proxies)
        assert last[0] < last[1] < last[2] and last[2] - last[0] > 0.02, "jitter"
        for proxy in proxies:
            proxy.kick = False
        for table in tables:
            await until(lambda table=table: table.session.connected)  # type: ignore[misc]


async def test_f9_only_a_stable_connection_makes_the_next_attempt_a_quick_one(
    broker: PrivateBroker, proxy: BrokerProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "STABLE_S", 1.0)
    async with running(broker, proxy.port) as table:
        for number in range(1, 6):
            await until(lambda number=number: table.session.counters.connections == number)  # type: ignore[misc]
            proxy.cut()
            await until(lambda: not table.session.connected)
        gaps = [later - earlier for earlier, later in zip(proxy.accepted, proxy.accepted[1:], strict=False)]
        assert gaps[-1] > 0.6 > 0.3 > gaps[0], "connections that hold for a moment do not shorten the pause"
        await until(lambda: table.session.counters.connections == 6)
        await asyncio.sleep(1.1)
        proxy.cut()
        assert await until(lambda: len(proxy.accepted) == 7) < 0.5
        await right(table, broker)


async def test_a_broker_that_is_not_there_at_the_start_is_found_when_it_comes(tmp_path: Path) -> None:
    broker = PrivateBroker(tmp_path / "broker", TABLE)
    with broker:
        port = broker.port
    async with running(broker, port) as table:
        await until(lambda: table.session.counters.attempts >= 3)
        table.say()
        broker.start()
        try:
            await right(table, broker)
        finally:
            broker.stop()


async def test_f7_a_broker_that_comes_back_with_an_older_store_is_put_right(
    broker: PrivateBroker, proxy: BrokerProxy
) -> None:
    """F7: it was killed long after it had last saved: availability, state and views of long ago are on it again."""
    store = broker.folder / "store" / "mosquitto.db"
    async with running(broker, proxy.port) as table:
        await right(table, broker)
        broker.stop()
        shutil.copy(store, broker.folder / "old.db")
        broker.start()
        table.say()
        await right(table, broker)
        broker.kill()
        shutil.copy(broker.folder / "old.db", store)
        proxy.refuse()
        broker.start()
        async with displays(broker) as seen:
            old = {topic: b"1" for topic in (TOPICS.state, *(TOPICS.seat(seat) for seat in SEATS))}
            await until(lambda: seen.latest == {**old, TOPICS.birth: b"birth", TOPICS.availability: b"lost"})
            await proxy.accept()
            await until(lambda: seen.latest == table.latest)


async def test_what_the_broker_takes_and_denies_is_noticed_whatever_its_receipts_say(
    broker: PrivateBroker, proxy: BrokerProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A publish that the access list denies is acknowledged none the less: with MQTT 5 the receipt says so, with the
    older version the topic does not come back. The rest is said all the same, and it ends when the list is put right.
    """
    monkeypatch.setattr(sessions, "_ECHO_S", 0.5)
    acl = broker.folder / "acl"
    whole = acl.read_text(encoding="utf-8")
    denied = {TOPICS.state, TOPICS.event("game"), TOPICS.seat("S")}

    def allow(text: str) -> None:
        acl.write_text(text, encoding="utf-8")
        assert broker.pid is not None
        os.kill(broker.pid, signal.SIGHUP)

    fewer = whole
    for line in (f"readwrite {TOPICS.state}", f"write {TOPICS.base}/event/+", f"readwrite {TOPICS.base}/seat/+"):
        assert f"topic {line}\n" in fewer
        fewer = fewer.replace(f"topic {line}\n", "", 1)
    fewer = fewer.replace(f"user {TABLE}\n", f"user {TABLE}\ntopic read {TOPICS.state}\n", 1)
    allow(fewer)
    async with running(broker, proxy.port) as table:
        await table.session.wait_connected()
        await until(lambda: not table.session.waiting)
        table.session.publish(TOPICS.event("game"), b"an event")
        await until(lambda: denied <= table.session.unsaid)
        assert not {TOPICS.availability, TOPICS.birth} & table.session.unsaid
        assert table.session.counters.denied >= 3 and table.session.counters.connections == 1
        allow(whole)
        table.say()
        table.session.publish(TOPICS.event("game"), b"an event")
        await until(lambda: not table.session.unsaid)
        await right(table, broker)
        # The older version tells nothing in its receipts.
        allow(fewer)
        proxy.old = True
        proxy.cut()
        await until(lambda: table.session.counters.connections == 2)
        table.say()
        await until(lambda: TOPICS.state in table.session.unsaid)
        allow(whole)
        await until(lambda: not table.session.unsaid)


async def test_f10_a_seat_that_reads_slowly_or_not_at_all_holds_up_nobody_and_catches_up(
    broker: PrivateBroker, proxy: BrokerProxy
) -> None:
    """F10: views of 8 KiB at full pace; one display gets them through a straw, three must not notice."""
    heard: dict[str, bytes] = {}
    late: list[float] = []

    async def read(seat: str, port: int) -> None:
        where = BrokerAddress(broker.host, port, None, f"{TABLE}-{seat}", broker.credentials[f"{TABLE}-{seat}"], 30)
        async with where.client() as client:
            await client.subscribe(TOPICS.seat(seat), qos=1)
            async for message in client.messages:
                heard[seat] = payload_bytes(message.payload)
                if seat != "S" and len(heard[seat]) > 20:
                    late.append(time.monotonic() - float(heard[seat][:20]))

    async with running(broker, broker.port) as table:
        readers = [asyncio.create_task(read(seat, proxy.port if seat == "S" else broker.port)) for seat in SEATS]
        await until(lambda: len(heard) == 4)
        proxy.rate = 4_000.0
        for _ in range(400):
            said = b"%020.6f" % time.monotonic() + bytes(7_000)
            for seat in SEATS:
                table.session.set_retained(TOPICS.seat(seat), said)
            await asyncio.sleep(0.005)
        await until(lambda: all(heard[seat] == said for seat in "EWN"), 1)
        assert heard["S"] != said, "the straw was wide enough: nothing was tested"
        assert max(late) < 0.5 and table.session.counters.connections == 1
        proxy.rate = 0.0
        # As the table does every 3 s: what the broker has dropped for the slow one comes with the next view.
        await asyncio.sleep(1.5)
        said = b"%020.6f" % time.monotonic()
        table.session.set_retained(TOPICS.seat("S"), said)
        await until(lambda: heard["S"] == said, RIGHT_S - 3.0)
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)


@pytest.mark.long
async def test_delays_of_a_bad_network_change_nothing_but_the_time(broker: PrivateBroker, proxy: BrokerProxy) -> None:
    proxy.delay = 0.3
    async with running(broker, proxy.port, keepalive=2) as table:
        await table.session.wait_connected()
        for _ in range(20):
            table.say()
            await asyncio.sleep(0.1)
        await right(table, broker)
        assert table.session.counters.connections == 1
