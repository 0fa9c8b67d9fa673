"""One person at a real broker and a real world: answers once, again after a restart, never for somebody else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from controller.broker_address import BrokerAddress
from controller.live import Live, TableFacts
from controller.private_broker import BrokerError, PrivateBroker, find_mosquitto
from controller.views import seat_view
from engine.table import new_state
from protocol.mqtt.envelope import Envelope, encode
from protocol.mqtt.topics import Topics
from simulators.assumptions import default_assumptions
from simulators.crew import CrewConfig, CrewError
from simulators.people import LEAST_ABSENCE_S, Player, Seating
from simulators.table import SimulatedTable
from simulators.tasks import cancel_all
from tests.simulators.host import config

TOPICS = Topics("demo")


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[PrivateBroker]:
    try:
        find_mosquitto()
    except BrokerError as error:
        pytest.fail(f"this test needs a broker: {error}")
    with PrivateBroker(tmp_path / "broker", "demo", unix=True) as running:
        yield running


def view_of(device: str | None, seat: str, phase: str = "lift") -> dict[str, Any]:
    """A seat's view before any match, with the wants of a lift in it."""
    live = Live(TableFacts("new-xiamen-120", "zhitui", "none", "read", "guide", 2, 0), devices={seat: device})
    body = seat_view(new_state(), seat, live)
    want = {"id": "1.lift-0.1", "verb": "lift", "params": {}, "actions": ["lift"], "left_ms": None}
    return {**body, "phase": phase, "me": {**body["me"], "wants": [want]}}


def said(kind: str, data: dict[str, Any], epoch: int = 1, number: int = 1) -> bytes:
    return encode(
        Envelope(type=kind, table="demo", epoch=epoch, seq=number, id=f"m{number}", ts=0, clock="synced", mono_ms=0,
                 cause=None, data=data)
    )  # fmt: skip


@asynccontextmanager
async def table_with(
    broker: PrivateBroker,
    folder: Path,
    seat: str,
    device: str | None = None,
    mistakes: Mapping[str, float] | None = None,
) -> AsyncIterator[tuple[aiomqtt.Client, SimulatedTable, Player]]:
    """A broker that says one view for ever, the world, and the person of a seat."""
    user = broker.credentials.of_seat(seat)
    async with SimulatedTable(config(folder)) as table:
        address = BrokerAddress(socket=broker.socket, user="demo", password=broker.credentials["demo"])
        async with address.client() as client:
            await client.subscribe(TOPICS.seat_input(seat), qos=1)
            await client.publish(TOPICS.availability, said("availability", {"state": "ready"}), qos=1, retain=True)
            await client.publish(TOPICS.seat(seat), said("seat", view_of(device, seat)), qos=1, retain=True)
            seating = Seating(seat, "demo", "", 0, broker.socket, *user, table.world_address, 2, "max")
            seating = replace(seating, mistakes=mistakes or {})
            player = Player(seating, default_assumptions().people)
            playing = asyncio.create_task(player.run())
            try:
                yield client, table, player
            finally:
                await cancel_all([playing])


async def next_input(client: aiomqtt.Client, seconds: float = 5.0) -> dict[str, Any]:
    async with asyncio.timeout(seconds):
        async for message in client.messages:
            found: dict[str, Any] = json.loads(bytes(message.payload))
            return found
    raise AssertionError("no input")


async def test_a_want_is_answered_once_and_again_after_a_restart(broker: PrivateBroker, tmp_path: Path) -> None:
    async with table_with(broker, tmp_path, "E") as (client, _, player):
        first = await next_input(client)
        assert (first["want"], first["action"], first["epoch"]) == ("1.lift-0.1", "lift", 1)
        assert 0 < len(first["id"]) <= 40
        answered = view_of(None, "E")
        answered["me"]["answers"] = [{"id": first["id"], "ok": True, "code": "", "rule": "", "params": {}}]
        await client.publish(TOPICS.seat("E"), said("seat", answered, number=2), qos=1, retain=True)
        await client.publish(TOPICS.seat("E"), said("seat", answered, epoch=2, number=3), qos=1, retain=True)
        again = await next_input(client)
        assert again["want"] == first["want"] and again["epoch"] == 2 and again["id"] != first["id"]
        assert player.counts["accepted"] == 1 and player.counts["answers"] == 2


async def test_a_display_held_by_a_person_is_left_to_that_person(broker: PrivateBroker, tmp_path: Path) -> None:
    async with table_with(broker, tmp_path, "E", device="tablet") as (client, table, player):
        async with asyncio.timeout(5):
            table.world.move_centre("up")
            while table.world.felt["E"]:
                await asyncio.sleep(0.01)
        with pytest.raises(TimeoutError):
            await next_input(client, 0.3)
        assert player.counts["push_in"] == 1 and player.counts["answers"] == 0


async def test_a_double_press_is_the_same_input_again_and_once_under_another_name(
    broker: PrivateBroker, tmp_path: Path
) -> None:
    async with table_with(broker, tmp_path, "E", mistakes={"double_press": 1.0}) as (client, _, player):
        inputs = [await next_input(client) for _ in range(3)]
        assert {(one["want"], one["action"]) for one in inputs} == {("1.lift-0.1", "lift")}
        assert inputs[0]["id"] == inputs[1]["id"] != inputs[2]["id"]
        assert player.counts["mistake_double_press"] == 1 and player.counts["answers"] == 1


async def test_who_is_away_answers_when_back_and_is_away_once(broker: PrivateBroker, tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    async with table_with(broker, tmp_path, "E", mistakes={"away": 1.0}) as (client, _, player):
        began = loop.time()
        assert (await next_input(client))["action"] == "lift"
        assert loop.time() - began > 0.9 * LEAST_ABSENCE_S
        assert player.counts["mistake_away"] >= 1


async def test_unreadable_views_are_counted_and_the_person_stays(broker: PrivateBroker, tmp_path: Path) -> None:
    async with table_with(broker, tmp_path, "E") as (client, _, player):
        await next_input(client)
        await client.publish(TOPICS.seat("E"), b"", qos=1)  # nothing to say: no mistake
        for nonsense in (b"\xff", b"{}", said("seat", {"me": 1})):
            await client.publish(TOPICS.seat("E"), nonsense, qos=1)
        await client.publish(TOPICS.seat("E"), said("seat", view_of(None, "E"), epoch=2), qos=1)
        assert (await next_input(client))["epoch"] == 2
        assert player.counts["unreadable_views"] == 3


def test_a_crew_that_cannot_sit_down_says_why(tmp_path: Path) -> None:
    good = tmp_path / "users.json"
    good.write_text(json.dumps({"demo-E": "x"}), encoding="utf-8")
    bad = tmp_path / "bad.json"
    bad.write_text("[]", encoding="utf-8")
    usual: dict[str, Any] = {
        "world": "/w",
        "broker": "127.0.0.1:1",
        "credentials": good,
        "table": "demo",
        "seats": "E",
        "seed": 1,
    }
    assert CrewConfig.checked(**usual, speed="max").seatings[0].user == "demo-E"
    assert CrewConfig.checked(**usual, speed="max", mistakes="away=0.5").seatings[0].mistakes == {"away": 0.5}
    for changes, words in (
        ({"seats": "EX"}, "expected some of E, S, W, N"),
        ({"seats": "EE"}, "each once"),
        ({"seats": "ES"}, "no user demo-S"),
        ({"speed": "fast"}, "expected a number above 0"),
        ({"broker": "there"}, "expected HOST:PORT"),
        ({"credentials": bad}, "expected an object"),
        ({"credentials": tmp_path / "none"}, "No such file"),
        ({"table": "X"}, "table"),
        ({"mistakes": "sleep=1"}, "expected one of all, forget_flower"),
    ):
        with pytest.raises(CrewError, match=words):
            CrewConfig.checked(**{**usual, "speed": "1", **changes})
