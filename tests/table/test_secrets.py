"""Nobody learns another's tiles or the wall: every topic recorded as every user, logs, metrics, world of the web."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from engine.ruleset import load_ruleset
from engine.tiles import SEATS, format_tiles, parse_tiles
from protocol.mqtt.topics import Topics
from tests.table.harness import TABLE, WholeTable
from tests.table.test_faults import fetch

pytestmark = [pytest.mark.table, pytest.mark.timeout(200)]

HANDS = 12


async def record(table: WholeTable, user: str | None, into: list[tuple[str, bytes]]) -> None:
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
        async for message in client.messages:
            into.append((str(message.topic), bytes(message.payload)))


async def test_no_user_receives_what_another_seat_may_see(tmp_path: Path) -> None:
    seen: dict[str | None, list[tuple[str, bytes]]] = {user: [] for user in (None, *SEATS, "view", "web", "parlor")}
    async with WholeTable(tmp_path, hands=HANDS, sensing="full", people="", web=True) as table:
        recorders = [asyncio.create_task(record(table, user, into)) for user, into in seen.items()]
        await table.state(lambda data: data["phase"] in ("sorting", "lift"))
        table.start_people()
        await table.ended(150)
        for task in recorders:
            task.cancel()
        await asyncio.gather(*recorders, return_exceptions=True)
        metrics = (await asyncio.to_thread(fetch, table.health_port, "/metrics"))[1]
        web_metrics = (await asyncio.to_thread(fetch, table.web_port, "/metrics"))[1]
        logs = "".join(path.read_text("utf-8", "replace") for path in tmp_path.glob("*.err"))
        logs += "".join(path.read_text("utf-8", "replace") for path in tmp_path.rglob("*.log"))
        hidden = hidden_hands(table)
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
    assert len(hidden) >= HANDS * 4
    for user in (None, "view", "web", "parlor"):
        text = b"".join(payload for _, payload in seen[user]).decode()
        assert not [hand for hand in hidden if hand in text], user
    for text in (metrics, web_metrics, logs):
        assert not [hand for hand in hidden if hand in text]
    own = {seat: hands_in_views(seen[seat]) for seat in SEATS}
    for seat in SEATS:
        assert len(own[seat]) >= HANDS
        for other in SEATS:
            assert other == seat or not own[seat] & own[other], (seat, other)


def hands_in_views(messages: list[tuple[str, bytes]]) -> set[str]:
    """All whole hands that a seat was shown."""
    found = set()
    for topic, payload in messages:
        if "/seat/" in topic and payload:
            tiles = json.loads(payload)["data"]["me"]["tiles"]
            if tiles and len(parse_tiles(tiles)) >= 13:
                found.add(tiles)
    return found


def hidden_hands(table: WholeTable) -> set[str]:
    """The concealed hands of finished matches as texts, from the journal itself."""
    return {
        format_tiles(row["tiles"])
        for name, row in table.events()
        if name == "HandSeen" and row["zone"] == "hand" and len(row["tiles"]) >= 13
    }


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
