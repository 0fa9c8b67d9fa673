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

from engine.tiles import SEATS, parse_tiles, sort_tiles
from protocol.mqtt.topics import Topics
from tests.table.evening import check_against_world, check_book, steps, witnessed
from tests.table.harness import TABLE, WholeTable
from tests.table.hidden import FACES, Hidden, add_witness, hidden_in_case, hidden_in_journal
from tests.table.leaks import leaks_in_message, leaks_in_text, told_in_windows
from tests.table.test_cases import the_table, walled_cases
from tests.table.test_faults import fetch

pytestmark = [pytest.mark.table, pytest.mark.timeout(400)]

HANDS = pytest.mark.parametrize(
    "hands",
    [
        pytest.param(4, id="short"),
        pytest.param(50, marks=[pytest.mark.long, pytest.mark.timeout(1800)], id="long"),
    ],
)
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
    found = [f"{name}: {leak}" for name, text in texts.items() for leak in leaks_in_text(text)]
    for user, messages in seen.items():
        seat = user if user in SEATS else None
        for topic, payload in messages:
            found += [f"{user}, {topic}: {leak}" for leak in leaks_in_message(payload, hidden, seat or "")]
        found += [f"{user}: {name} while a window is open" for name in told_in_windows(messages)]
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


@HANDS
@pytest.mark.parametrize("rules", ["new-xiamen-120", "bijin-xiamen-144"])
async def test_no_user_receives_what_another_seat_may_see(tmp_path: Path, rules: str, hands: int) -> None:
    """Whole hands at a table that reads its tiles: every tile that anybody is told is one that he may see."""
    async with WholeTable(
        tmp_path, hands=0, matches=0, rules=rules, sensing="full", people="", web=True, seed=21
    ) as table:
        async with recorded(table) as seen:
            table.start_people()
            await table.hands_ended(hands, 60 + 15 * hands)
        texts = await written(table)
    check_topics(seen)
    check_book(table.journal)
    hidden = hidden_in_journal(table.journal)
    played = hidden.hands[:hands]
    assert all(len(hand.sides) == 4 and len(hand.groups) >= 24 and hand.offered for hand in played)
    assert any(hand.claims for hand in played)
    assert leaks(seen, texts, hidden) == []
    for seat in SEATS:
        views = [json.loads(payload)["data"] for topic, payload in seen[seat] if "/seat/" in topic and payload]
        held = {tuple(sort_tiles(parse_tiles(view["me"]["tiles"] or ""))) for view in views}
        assert len(held & set().union(*(hand.own[seat] for hand in played))) >= hands * 4
        assert any(view["play"] and any(view["play"]["discards"].values()) for view in views)
        assert {want["verb"] for view in views for want in view["me"]["wants"]} >= {"turn", "claim", "draw", "lay"}
        for other in set(SEATS) - {seat}:
            assert leaks({other: seen[seat]}, {}, hidden), "the search is blind"


@HANDS
async def test_where_people_tell_a_hand_nobody_is_told_more_than_that(tmp_path: Path, hands: int) -> None:
    """Whole hands at a table that reads nothing: before its end no tile but flowers and the gold is named to anybody,
    and what a seat enters then it alone is shown.
    """
    table = WholeTable(tmp_path, hands=0, matches=0, rules="basic-136", people="", web=True, seed=21)
    async with table:
        async with witnessed(table) as witness, recorded(table) as seen:
            table.start_people()
            await table.hands_ended(hands, 60 + 10 * hands)
        texts = await written(table)
    check_topics(seen)
    check_book(table.journal)
    check_against_world(table, witness)
    hidden = hidden_in_journal(table.journal)
    add_witness(hidden, witness.truths)
    assert all(len(hand.groups) >= 24 for hand in hidden.hands[:hands])
    assert leaks(seen, texts, hidden) == []
    entered = [seat for seat in SEATS for _, payload in seen[seat] if b'"concealed":["' in payload]
    assert entered, "nobody has entered a whole hand"


@pytest.mark.parametrize(
    "row",
    [row for row in walled_cases() if row["id"].startswith("opening/random-wall-new-")],
    ids=lambda row: row["id"],
)
async def test_where_nothing_is_read_nothing_comes_out_either(tmp_path: Path, row: dict[str, Any]) -> None:
    """The wall of a written case too, of which the table itself knows nothing."""
    table = the_table(tmp_path, row, "none")
    table.web, table.people = True, ""
    async with table:
        async with witnessed(table) as witness, recorded(table) as seen:
            table.start_people()
            await table.ended()
        texts = await written(table)
    check_topics(seen)
    hidden = hidden_in_journal(table.journal)
    add_witness(hidden, witness.truths)
    assert leaks(seen, texts, hidden) == []
    case = hidden_in_case(row).hands[0]
    lists = [faces for messages in seen.values() for _, payload in messages for faces in lists_in(payload)]
    told = [faces for faces in lists if case.is_secret(faces) and tuple(sort_tiles(faces)) not in hidden.hands[0].shown]
    assert lists and told == []


def lists_in(payload: bytes) -> list[list[str]]:
    """Every list of faces in a message, flowers apart: what lies open in a pond or is entered by its own seat."""
    found: list[list[str]] = []

    def look(value: Any) -> None:
        if isinstance(value, list):
            faces = [part for part in value if isinstance(part, str) and part in FACES and part[1] != "f"]
            found.extend([faces] if faces else [])
        for part in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
            look(part)

    look(json.loads(payload) if payload else None)
    return found


OPEN_ROWS = ("GoldOpened", "GoldPassed", "NextFlipped", "FlowersReplaced", "FlowerDeclared", "SessionSaid", "HandEnded")
"""Rows of the journal that name tiles which lie open; of `FlowersReplaced` the flowers alone."""


async def test_the_journal_command_hides_the_hand_in_play(tmp_path: Path) -> None:
    """Walls, hands, draws, claims and what a seat is asked are withheld until the hand is over; then they are told."""
    async with WholeTable(tmp_path, hands=0, sensing="full", seed=21) as table:
        await table.stored("HandEnded", 1, 120)
        now = table.count("SeatPlayed")
        await table.stored("SeatPlayed", now + 12, 60)
        table.kill("people")
        rows = [json.loads(line) for line in table.journal_rows()]
    last = max(row["hand"] for row in rows)
    in_play = [row for row in rows if row["hand"] == last]
    assert {"WallRead", "HandSeen", "TakeDone", "SeatPlayed", "Played"} <= {row["type"] for row in in_play}
    for row in in_play:
        if row["type"] == "FlowersReplaced":
            assert row["body"]["tiles"] == "withheld"
        elif row["type"] not in OPEN_ROWS:
            assert lists_of_faces(row["body"]) == [], row
    before = [row for row in rows if row["hand"] == last - 1 and row["type"] in ("WallRead", "Played")]
    assert any(lists_of_faces(row["body"]) for row in before)


def lists_of_faces(value: Any) -> list[str]:
    """Every face in a row, wherever it stands."""
    if isinstance(value, str):
        return [value] if value in FACES else []
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [face for part in parts for face in lists_of_faces(part)]


async def test_the_parlor_gets_records_of_hands_that_are_over_and_of_no_other(tmp_path: Path) -> None:
    """In the midst of a hand: what is exported and said again tells nothing of it."""
    async with WholeTable(tmp_path, hands=0, sensing="full", people="", web=True, seed=21) as table:
        async with recorded(table) as seen:
            table.start_people()
            await table.stored("HandEnded", 1, 120)
            now = table.count("SeatPlayed")
            await table.stored("SeatPlayed", now + 12, 60)
            table.kill("people")
            exported = await table.command("export")
            await table.command("replay", first=1)
            await table.command("status")
        state = [after for _, _, _, after in steps(table.journal)][-1]
        texts = await written(table)
    assert state.play.game is not None and state.play.game.phase != "over"
    told = exported["records"]
    assert [record["hand"] for record in told] == [1] and told[0]["text"]
    hidden = hidden_in_journal(table.journal)
    answered = [topic for topic, _ in seen["parlor"] if "/response/" in topic]
    assert len(answered) >= 6
    quiet = {user: [one for one in messages if "/response/" not in one[0]] for user, messages in seen.items()}
    assert leaks(quiet, texts, hidden) == []
    # Of the hand in play the answers name no run of tiles; of the one that is over they are full.
    for topic, payload in seen["parlor"]:
        if "/response/" in topic:
            text = payload.decode()
            for side in hidden.hands[-1].sides:
                assert " ".join(side[:6]) not in text and "".join(side[:6]) not in text


async def test_a_wrong_or_missing_password_gets_nothing(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=1, people="") as table:
        for user, password in (("E", "guess"), ("view", ""), ("", "guess")):
            with pytest.raises(aiomqtt.MqttError):
                async with aiomqtt.Client(
                    "127.0.0.1", table.broker.port, username=f"{TABLE}-{user}", password=password, timeout=3
                ):
                    pass
