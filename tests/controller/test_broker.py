"""The session with the broker, against a real mosquitto on the shipped configuration and access list."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import aiomqtt
import pytest

from controller.broker import BrokerSession, never_retained
from controller.broker_address import BrokerAddress, read_retained
from controller.private_broker import BrokerError, PrivateBroker
from protocol.mqtt.topics import Topics

TABLE = "hall-7"
TOPICS = Topics(TABLE)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[PrivateBroker]:
    with PrivateBroker(tmp_path / "broker", TABLE) as running:
        yield running


def address(broker: PrivateBroker, user: str = TABLE) -> BrokerAddress:
    return BrokerAddress(broker.host, broker.port, broker.socket, user, broker.credentials[user], keepalive=1)


def client(broker: PrivateBroker, user: str) -> aiomqtt.Client:
    return address(broker, user).client()


class Table:
    """A daemon's side of the session: records what it is given."""

    def __init__(self, where: BrokerAddress, epoch: int = 1) -> None:
        self.messages: list[tuple[str, bytes, bool]] = []
        self.refused: list[tuple[str, bytes]] = []
        self.session = BrokerSession(
            where,
            TOPICS.table_reads(),
            self.take,
            read_back=(TOPICS.availability, TOPICS.birth, TOPICS.state),
            will=lambda: (TOPICS.availability, b'{"state":"lost","epoch":%d}' % epoch),
            on_refused=lambda topic, payload: self.refused.append((topic, payload)),
        )
        self.session.set_retained(TOPICS.seat("E"), b"view of E")
        self.session.set_retained(TOPICS.state, b"state")
        self.session.set_retained(TOPICS.birth, b"birth")
        self.session.set_retained(TOPICS.availability, b"ready")

    def take(self, topic: str, payload: bytes, retained: bool) -> None:
        self.messages.append((topic, payload, retained))


@contextlib.asynccontextmanager
async def running(where: BrokerAddress, epoch: int = 1) -> AsyncIterator[Table]:
    table = Table(where, epoch)
    task = asyncio.create_task(table.session.run())
    try:
        async with asyncio.timeout(5):
            await table.session.wait_connected()
        yield table
    finally:
        table.session.stop()
        async with asyncio.timeout(6):
            await task


def payload_of(message: aiomqtt.Message) -> bytes:
    assert isinstance(message.payload, bytes)
    return message.payload


async def until(true: Callable[[], bool], seconds: float = 5) -> None:
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.01)


async def retained(broker: PrivateBroker, topic: str, user: str = TABLE) -> bytes | None:
    return await read_retained(address(broker, user), topic)


async def until_retained(broker: PrivateBroker, topic: str, payload: bytes | None, seconds: float = 5) -> None:
    async with asyncio.timeout(seconds):
        while await retained(broker, topic) != payload:
            await asyncio.sleep(0.02)


async def test_says_everything_retained_in_the_order_of_the_contract(broker: PrivateBroker) -> None:
    async with client(broker, TABLE) as reader:
        await reader.subscribe([(topic, 1) for topic in TOPICS.table_retains()])
        async with running(address(broker)):
            heard = [(await anext(reader.messages)).topic.value for _ in range(4)]
    assert heard == [TOPICS.birth, TOPICS.state, TOPICS.seat("E"), TOPICS.availability]


async def test_gives_inputs_and_commands_to_the_daemon(broker: PrivateBroker) -> None:
    async with running(address(broker)) as table:
        async with client(broker, f"{TABLE}-W") as seat:
            await seat.publish(TOPICS.seat_input("W"), b"press", qos=1)
        async with client(broker, "parlor") as hub:
            await hub.publish(TOPICS.command("status"), b"how are you", qos=1)
        await until(lambda: len(table.messages) == 2)
    assert table.messages == [
        (TOPICS.seat_input("W"), b"press", False),
        (TOPICS.command("status"), b"how are you", False),
    ]


@pytest.mark.parametrize("unix", [False, True])
async def test_only_the_latest_content_of_a_topic_is_kept(tmp_path: Path, unix: bool) -> None:
    with PrivateBroker(tmp_path / "b", TABLE, unix=unix) as broker:
        async with running(address(broker)) as table:
            for number in range(500):
                table.session.set_retained(TOPICS.seat("N"), b"%d" % number)
            await until(lambda: not table.session.waiting)
            await until_retained(broker, TOPICS.seat("N"), b"499")
            assert table.session.counters.published < 50


async def test_f8_retained_inputs_and_commands_are_refused_and_cleared(broker: PrivateBroker) -> None:
    """F8: what was left on the broker while the table was away does nothing when it comes back."""
    async with client(broker, f"{TABLE}-E") as seat:
        await seat.publish(TOPICS.seat_input("E"), b"old press", qos=1, retain=True)
    async with client(broker, "parlor") as hub:
        await hub.publish(TOPICS.command("park"), b"open the garage", qos=1, retain=True)
        await hub.publish(TOPICS.ledger_ack, b"all of it", qos=1, retain=True)
    async with running(address(broker)) as table:
        await until(lambda: len(table.refused) == 3)
        for topic in (TOPICS.seat_input("E"), TOPICS.command("park"), TOPICS.ledger_ack):
            await until_retained(broker, topic, None)
        assert table.session.counters.refused_retained == 3
    assert sorted(table.refused) == [
        (TOPICS.command("park"), b"open the garage"),
        (TOPICS.ledger_ack, b"all of it"),
        (TOPICS.seat_input("E"), b"old press"),
    ]
    assert table.messages == []


async def test_f8_what_is_published_as_retained_now_is_refused_and_cleared_too(broker: PrivateBroker) -> None:
    """F8: published as retained while the table listens: the press beside it counts, the kept one does not."""
    async with running(address(broker)) as table:
        async with client(broker, f"{TABLE}-E") as seat:
            await seat.publish(TOPICS.seat_input("E"), b"kept press", qos=1, retain=True)
            await seat.publish(TOPICS.seat_input("E"), b"press", qos=1)
        await until(lambda: len(table.messages) == 1)
        await until_retained(broker, TOPICS.seat_input("E"), None)
        assert table.refused == [(TOPICS.seat_input("E"), b"kept press")]
        assert table.messages == [(TOPICS.seat_input("E"), b"press", False)]
        assert table.session.counters.refused_retained == 1


async def test_a_broker_that_speaks_only_the_older_version_will_do() -> None:
    versions = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello = await reader.read(200)
        versions.append(hello[hello.index(b"MQTT") + 4])
        if versions[-1] == 5:
            writer.write(bytes((0x20, 2, 0, 1)))
        else:
            writer.write(bytes((0x20, 2, 0, 0)))
            subscribe = await reader.read(200)
            writer.write(bytes((0x90, 3)) + subscribe[2:4] + b"\x01")
            await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    where = BrokerAddress(port=server.sockets[0].getsockname()[1], user="u", password="p")
    session = BrokerSession(where, ("a/topic",), lambda *_: None)
    task = asyncio.create_task(session.run())
    await until(lambda: session.connected)
    assert versions == [5, 4]
    session.stop()
    await task
    server.close()


async def test_f7_a_broker_restarted_empty_hears_everything_again(broker: PrivateBroker) -> None:
    """F7: nothing is retained any more; what happened meanwhile is there too."""
    async with running(address(broker)) as table:
        await until_retained(broker, TOPICS.availability, b"ready")
        broker.kill()
        await until(lambda: not table.session.connected)
        table.session.set_retained(TOPICS.seat("E"), b"newer view of E")
        broker.restart(empty=True)
        assert await retained(broker, TOPICS.seat("S")) is None
        await until_retained(broker, TOPICS.availability, b"ready", 5)
        await until_retained(broker, TOPICS.seat("E"), b"newer view of E", 5)
        await until_retained(broker, TOPICS.birth, b"birth", 5)


async def test_f7_an_old_will_after_ready_is_corrected(broker: PrivateBroker) -> None:
    """F7: an old session's "lost" after the new "ready", and a topic of ours emptied by somebody."""
    async with running(address(broker)) as table:
        await until_retained(broker, TOPICS.availability, b"ready")
        async with client(broker, TABLE) as old_session:
            await old_session.publish(TOPICS.availability, b'{"state":"lost","epoch":0}', qos=1, retain=True)
        await until(lambda: table.session.counters.said_again >= 1)
        await until_retained(broker, TOPICS.availability, b"ready")
        async with client(broker, TABLE) as meddler:
            await meddler.publish(TOPICS.state, b"", qos=1, retain=True)
        await until_retained(broker, TOPICS.state, b"state")


async def test_the_will_says_lost_and_a_clean_stop_says_offline(broker: PrivateBroker) -> None:
    async with running(address(broker), epoch=9) as table:
        await until_retained(broker, TOPICS.availability, b"ready")
        table.session.set_retained(TOPICS.availability, b"offline")
    assert await retained(broker, TOPICS.availability) == b"offline"

    crashing = """
import asyncio, os, sys
from controller.broker import BrokerSession
from controller.broker_address import BrokerAddress
async def main():
    topic = "kaijin/1/hall-7/availability"
    where = BrokerAddress(port=int(sys.argv[1]), user="hall-7", password=sys.argv[2])
    session = BrokerSession(where, (), print, will=lambda: (topic, b"lost in epoch 9"))
    asyncio.ensure_future(session.run())
    await session.wait_connected()
    os._exit(1)
asyncio.run(main())
"""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", crashing, str(broker.port), broker.credentials[TABLE]
    )
    assert await process.wait() == 1
    await until_retained(broker, TOPICS.availability, b"lost in epoch 9")


async def test_events_survive_a_broken_connection_in_order(broker: PrivateBroker) -> None:
    async with running(address(broker)) as table:
        broker.kill()
        await until(lambda: not table.session.connected)
        for number in range(50):
            table.session.publish(TOPICS.event("game"), b"%d" % number)
        table.session.publish(TOPICS.heartbeat, b"lost", qos=0)
        broker.start()
        async with client(broker, "parlor") as hub:
            await hub.subscribe(f"{TOPICS.base}/event/+", qos=1)
            await hub.subscribe(TOPICS.heartbeat)
            async with asyncio.timeout(5):
                heard = [int(payload_of(await anext(hub.messages))) for _ in range(50)]
        assert heard == list(range(50))
        assert table.session.counters.dropped == 1


async def test_f9_a_hung_broker_is_noticed(broker: PrivateBroker) -> None:
    """F9: the process is stopped; its kernel still takes what is sent."""
    async with running(address(broker)) as table:
        assert broker.pid is not None
        os.kill(broker.pid, signal.SIGSTOP)
        try:
            await until(lambda: not table.session.connected, 5)
        finally:
            os.kill(broker.pid, signal.SIGCONT)
        await until(lambda: table.session.connected, 8)


async def test_what_is_said_leaves_before_the_loop_turns(broker: PrivateBroker) -> None:
    async with running(address(broker)) as table:
        await until(lambda: not table.session.waiting)
        async with client(broker, f"{TABLE}-S") as seat:
            await seat.subscribe(TOPICS.seat("S"), qos=1)
            table.session.set_retained(TOPICS.seat("S"), b"view of S")
            # The loop is held up: only what is on the socket already can reach the broker and come back.
            raw = seat._client.socket()
            assert raw is not None
            assert select.select([raw], [], [], 2.0)[0]
            assert payload_of(await anext(seat.messages)) == b"view of S"


async def test_a_broker_that_reads_nothing_holds_nobody_up(broker: PrivateBroker) -> None:
    big = bytes(60_000)
    async with running(address(broker)) as table:
        await until(lambda: not table.session.waiting)
        assert broker.pid is not None and table.session._talk is not None
        sock = table.session._talk.client._client.socket()
        assert isinstance(sock, socket.socket)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
        os.kill(broker.pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            for number in range(40):
                table.session.publish(TOPICS.event("game"), b"%d" % number + big)
            assert time.monotonic() - began < 0.5
            assert table.session.waiting == 40
            assert table.session._talk.client._client.want_write(), "the socket took everything: nothing was tested"
        finally:
            os.kill(broker.pid, signal.SIGCONT)
        # What the socket did not take at once is written by the loop, and the session is at rest afterwards.
        await until(lambda: not table.session.waiting)
        assert table.session.counters.connections == 1
        used = time.process_time()
        await asyncio.sleep(0.3)
        assert time.process_time() - used < 0.15, "a writer that is never taken off the loop"


async def test_stops_quickly_while_nobody_answers() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    session = BrokerSession(BrokerAddress(port=server.sockets[0].getsockname()[1]), (), lambda *_: None)
    task = asyncio.create_task(session.run())
    await until(lambda: session.counters.attempts == 1)
    session.stop()
    async with asyncio.timeout(3):
        await task
    assert not session.connected
    server.close()


async def test_a_failing_handler_does_not_end_the_session(broker: PrivateBroker) -> None:
    heard = []

    def handle(topic: str, payload: bytes, retained: bool) -> None:
        heard.append(payload)
        raise KeyError("handler")

    session = BrokerSession(address(broker), TOPICS.table_reads(), handle)
    task = asyncio.create_task(session.run())
    await session.wait_connected()
    async with client(broker, f"{TABLE}-E") as seat:
        await seat.publish(TOPICS.seat_input("E"), b"1", qos=1)
        await seat.publish(TOPICS.seat_input("E"), b"2", qos=1)
    await until(lambda: heard == [b"1", b"2"])
    assert session.counters.handler_errors == 2
    assert session.counters.connections == 1
    session.stop()
    await task


async def test_a_message_that_cannot_be_sent_is_dropped_not_repeated(broker: PrivateBroker) -> None:
    async with running(address(broker)) as table:
        table.session.publish("kaijin/1/#", b"no topic to publish to")
        table.session.publish(TOPICS.event("game"), b"fine")
        await until(lambda: table.session.counters.dropped == 1 and not table.session.waiting)
        assert table.session.counters.connections == 1


async def test_a_wrong_password_keeps_trying_and_stays_out(broker: PrivateBroker) -> None:
    where = BrokerAddress(broker.host, broker.port, user=TABLE, password="wrong")
    session = BrokerSession(where, TOPICS.table_reads(), lambda *_: None)
    task = asyncio.create_task(session.run())
    await until(lambda: session.counters.attempts >= 3)
    assert session.counters.connections == 0
    session.stop()
    await task


async def test_the_epoch_of_the_retained_birth_can_be_read_before_a_session(broker: PrivateBroker) -> None:
    assert await retained(broker, TOPICS.birth) is None
    async with client(broker, TABLE) as table:
        await table.publish(TOPICS.birth, b'{"epoch":4}', qos=1, retain=True)
    assert await retained(broker, TOPICS.birth) == b'{"epoch":4}'


def test_what_may_be_retained() -> None:
    assert never_retained(TOPICS.seat_input("E"))
    assert never_retained(TOPICS.command("park"))
    assert never_retained(TOPICS.pairing("request"))
    assert not never_retained(TOPICS.pairing("state"))
    assert not never_retained(TOPICS.config_desired)
    assert not never_retained("something/else")


def test_the_broker_says_why_it_cannot_start(tmp_path: Path) -> None:
    with PrivateBroker(tmp_path / "one", TABLE) as first:
        second = PrivateBroker(tmp_path / "two", TABLE, port=first.port)
        with pytest.raises(BrokerError, match=r"ended with code .*[Aa]ddress"):
            second.start()
        assert second.pid is None
