"""Nobody learns another's tiles or the wall: every topic recorded as every user, logs, figures, recordings."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from engine.ruleset import load_ruleset
from engine.tiles import SEATS, parse_tiles, sort_tiles
from protocol.mqtt.topics import Topics
from tests.table.harness import TABLE, WholeTable
from tests.table.leaks import Hidden, hidden_in_case, hidden_in_journal, leaks_in_message, leaks_in_text
from tests.table.test_cases import the_table, walled_cases
from tests.table.test_faults import fetch

pytestmark = [pytest.mark.table, pytest.mark.timeout(200)]

HANDS = 6
USERS = (None, *SEATS, "view", "web", "parlor")
"""Everybody who may connect but the table itself; None: without a credential."""

Recording = Mapping[str | None, list[tuple[str, bytes]]]


async def record(table: WholeTable, user: str | None, into: list[tuple[str, bytes]], listening: asyncio.Event) -> None:
    """Everything the broker hands to a user that subscribes to everything, until cancelled."""
    given: dict[str, Any] = {}
    if user is not None:
        name = user if user in table.broker.credentials else f"{TABLE}-{user}"
        given = {"username": name, "password": table.broker.credentials[name]}
    async with aiomqtt.Client("127.0.0.1", table.broker.port, **given) as client:
        mine = f"kaijin/1/{TABLE}"
        for pattern in ("#", "kaijin/#", f"{mine}/#", f"{mine}/seat/+", f"{mine}/seat/+/input"):
            # A refused subscription is an answer of the broker like any other.
            with contextlib.suppress(aiomqtt.MqttError):
                await client.subscribe(pattern, qos=1)
        listening.set()
        async for message in client.messages:
            into.append((str(message.topic), bytes(message.payload)))


@contextlib.asynccontextmanager
async def recorded(table: WholeTable) -> AsyncIterator[Recording]:
    """What each user receives from before the first lift until the end of the block."""
    seen: dict[str | None, list[tuple[str, bytes]]] = {user: [] for user in USERS}
    listening = [asyncio.Event() for _ in USERS]
    recorders = [
        asyncio.create_task(record(table, user, into, ready))
        for (user, into), ready in zip(seen.items(), listening, strict=True)
    ]
    try:
        async with asyncio.timeout(30):
            await asyncio.gather(*(ready.wait() for ready in listening))
        await table.state(lambda data: data["phase"] in ("sorting", "lift"))
        yield seen
    finally:
        for task in recorders:
            task.cancel()
        await asyncio.gather(*recorders, return_exceptions=True)


async def written(table: WholeTable) -> dict[str, str]:
    """Figures of both processes, and every log and recording: what is not meant for players at all."""
    texts = {
        "metrics": (await asyncio.to_thread(fetch, table.health_port, "/metrics"))[1],
        "web metrics": (await asyncio.to_thread(fetch, table.web_health_port, "/metrics"))[1],
    }
    files = [path for kind in ("*.err", "*.out", "*.log", "flight-*") for path in table.folder.rglob(kind)]
    assert {"daemon.err", "web.err", "mosquitto.log"} <= {path.name for path in files}
    return texts | {path.name: path.read_text("utf-8", "replace") for path in files}


def leaks(seen: Recording, texts: Mapping[str, str], hidden: Hidden) -> list[str]:
    """Everything hidden that is found, as `reader, topic or file: where: what`."""
    found = [f"{name}: {leak}" for name, text in texts.items() for leak in leaks_in_text(text, hidden)]
    for user, messages in seen.items():
        seat = user if user in SEATS else None
        for topic, payload in messages:
            found += [f"{user}, {topic}: {leak}" for leak in leaks_in_message(payload, hidden, seat or "")]
    return found


def check_topics(seen: Recording) -> None:
    """Each user receives something, and of its own topics alone."""
    topics = Topics(TABLE)
    allowed: dict[str | None, set[str]] = {
        None: {topics.availability},
        "view": {topics.availability, topics.birth, topics.state},
        **{seat: {topics.availability, topics.seat(seat)} for seat in SEATS},
    }
    for user, topics_allowed in allowed.items():
        assert {topic for topic, _ in seen[user]} <= topics_allowed, user
        assert seen[user], user
    for user in ("web", "parlor"):
        assert not [topic for topic, _ in seen[user] if "/seat/" in topic], user


async def test_no_user_receives_what_another_seat_may_see(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=HANDS, sensing="full", people="", web=True) as table:
        async with recorded(table) as seen:
            table.start_people()
            await table.ended(150)
        texts = await written(table)
    check_topics(seen)
    hidden = hidden_in_journal(table.journal)
    assert len(hidden.sides) >= HANDS * 4 and len(hidden.groups) >= HANDS * 24
    assert leaks(seen, texts, hidden) == []
    for seat in SEATS:
        views = [json.loads(payload)["data"] for topic, payload in seen[seat] if "/seat/" in topic and payload]
        held = {tuple(sort_tiles(parse_tiles(view["me"]["tiles"] or ""))) for view in views}
        assert len(held & hidden.own[seat]) >= HANDS * 4
        assert any(view["play"] and any(view["play"]["discards"].values()) for view in views)
        for other in set(SEATS) - {seat}:
            found = (leaks_in_message(payload, hidden, other) for _, payload in seen[seat])
            assert any(found), "the search is blind"


@pytest.mark.parametrize(
    "row",
    [row for row in walled_cases() if row["id"].startswith("opening/random-wall-new-")],
    ids=lambda row: row["id"],
)
async def test_where_nothing_is_read_nothing_comes_out_either(tmp_path: Path, row: dict[str, Any]) -> None:
    table = the_table(tmp_path, row, "none")
    table.web, table.people = True, ""
    async with table:
        async with recorded(table) as seen:
            table.start_people()
            await table.ended()
        texts = await written(table)
    check_topics(seen)
    hidden = hidden_in_case(row)
    # What people have entered tile by tile is laid open with the result.
    hidden.shown = hidden_in_journal(table.journal).shown
    assert leaks(seen, texts, hidden) == []


async def test_the_journal_command_hides_the_hand_in_play(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=0, sensing="full", speed="10") as table:
        await table.state(lambda data: data["phase"] in ("gold_roll", "gold", "opening"), 90)
        rows = table.events()
        secret = [row for name, row in rows if name in ("HandSeen", "WallRead", "TakeDone")]
        faces = set(load_ruleset("new-xiamen-120").faces())
        assert secret
        for row in secret:
            assert not faces & set(row["tiles"] or ()), row


async def test_a_wrong_or_missing_password_gets_nothing(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=1, people="") as table:
        for user, password in (("E", "guess"), ("view", ""), ("", "guess")):
            with pytest.raises(aiomqtt.MqttError):
                async with aiomqtt.Client(
                    "127.0.0.1", table.broker.port, username=f"{TABLE}-{user}", password=password, timeout=3
                ):
                    pass
