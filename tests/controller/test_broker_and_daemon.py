"""The daemon and its broker: what is denied is told where people look; a hub's acknowledgements, and nobody else's."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable

from controller.journal import read_ledger
from controller.private_broker import PrivateBroker
from controller.settings import Settings
from tests.controller.board import Board
from tests.controller.daemons import TABLE, TOPICS, Ear, Running, begin, client_of, press, say
from tests.controller.daemons import board as board
from tests.controller.daemons import broker as broker
from tests.controller.daemons import ear as ear
from tests.controller.daemons import running as running
from tests.controller.daemons import settings as settings
from tests.controller.hubs import HubBook, ack


async def until(true: Callable[[], bool], seconds: float = 10) -> None:
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.02)


async def test_health_tells_that_the_broker_denies_what_the_table_says(
    running: Running, ear: Ear, broker: PrivateBroker
) -> None:
    await ear.available("ready")
    acl = broker.folder / "acl"
    whole = acl.read_text(encoding="utf-8")

    def allow(text: str) -> None:
        acl.write_text(text, encoding="utf-8")
        assert broker.pid is not None
        os.kill(broker.pid, signal.SIGHUP)

    line = f"topic readwrite {TOPICS.base}/seat/+\n"
    assert line in whole
    reporter = running.daemon._reporter
    assert reporter.health()[1]["broker"] == "up"
    allow(whole.replace(line, "", 1))
    await until(lambda: reporter.health()[1]["broker"] == "denied")
    assert not reporter.health()[0]
    allow(whole)
    await until(lambda: reporter.health()[1]["broker"] == "up")
    assert reporter.health()[0]


async def test_only_the_hub_acknowledges_and_a_table_started_again_says_what_it_has_not(
    running: Running, ear: Ear, board: Board, broker: PrivateBroker, settings: Settings
) -> None:
    """F12, F15: a match begun is in the ledger before anything else is known of it, and goes out until it is taken."""
    await ear.available("ready")
    book = HubBook()
    journal = f"{running.begun.journal.journal_id:016x}"
    async with client_of(broker, "parlor") as hub:
        await hub.subscribe(TOPICS.ledger, qos=1)
        board.hold = True
        await press(broker, ear, "E", "go", "start", "start")
        async with asyncio.timeout(10):
            async for message in hub.messages:
                assert isinstance(message.payload, bytes)
                book.take(message.payload)
                if len(book.rows) == 2:
                    break
        assert book.kinds() == ["session_begun", "match_begun"]
        begun = book.standing[1]
        assert (begun["match"], begun["rules"], len(begun["players"])) == (1, "new-xiamen-120", 4)
        for user in (f"{TABLE}-E", f"{TABLE}-view", f"{TABLE}-web"):
            await say(broker, user, TOPICS.ledger_ack, json.loads(ack(journal, 2)))
        await running.end()
        assert not any(row.acked for row in read_ledger(settings.journal.path))
        again = await begin(settings)
        async with asyncio.timeout(10):
            async for message in hub.messages:
                assert isinstance(message.payload, bytes)
                book.take(message.payload)
                if book.repeated == 2:
                    break
        await hub.publish(TOPICS.ledger_ack, ack(journal, 2), qos=1)
        await until(lambda: all(row.acked for row in read_ledger(settings.journal.path)))
        await until(lambda: again.daemon._reporter.heartbeat()["ledger_waiting"] == 0)
        await again.end()
