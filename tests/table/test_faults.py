"""What goes wrong at a whole table: missing tiles, jams, plugs, restarts; the hand goes on, no throw is repeated."""

from __future__ import annotations

import asyncio
import json
import signal
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from tests.table.harness import TABLE, WholeTable

pytestmark = [pytest.mark.table, pytest.mark.timeout(150)]


def counted_throws(table: WholeTable) -> int:
    """Throws that the journal says were asked of the machine: one for each throw begun."""
    return sum(1 for name, _ in table.events() if name == "RollBegun")


async def test_a_set_of_119_tiles_stops_before_dealing_and_names_the_side(tmp_path: Path) -> None:
    """The forgotten tile is put in by hand, the set is sorted again, and the hand is dealt."""
    async with WholeTable(tmp_path, hands=1, simulate=["--missing-tile", "1:S"], people="") as table:
        waiting = await table.state(lambda data: data["machine"]["problem"] is not None)
        problem = waiting["machine"]["problem"]
        assert (problem["kind"], problem["set"]) == ("count", 1)
        assert problem["sides"] == [{"side": "S", "counted": 29, "expected": 30}]
        assert waiting["phase"] == "sorting"
        table.start_people()
        await table.ended()
        assert [name for name, _ in table.events()].count("SetMiscounted") == 1


async def test_a_jam_is_told_and_tried_again_by_people(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=1, simulate=["--fail", "centre_raise:1"]) as table:
        seen = await table.follow("view", table.topics.state, lambda data: data["phase"] == "ended")
        names = [name for name, _ in table.events()]
        assert names.count("OperationBroken") == names.count("OperationRetried") == 1
        assert seen[-1]["machine"]["problem"] is None


@pytest.mark.parametrize("dice", ["read", "unread"])
async def test_a_plug_pulled_in_mid_deal_does_not_lose_the_hand(tmp_path: Path, dice: str) -> None:
    """F1: the adapter drops and comes back under another name 0.6 s later."""
    async with WholeTable(tmp_path, hands=2, dice=dice, speed="10", sensing="full") as table:
        await table.state(lambda data: data["phase"] == "taking")
        await table.world_act("control", verb="unplug", seconds=0.6)
        await table.ended()
        physical = await table.physical()
        assert physical["throws"] == counted_throws(table)
        assert physical["walls"] == 2 and physical["boots"] == 1


async def test_a_killed_daemon_goes_on_in_the_middle_of_the_hand(tmp_path: Path) -> None:
    """kill -9 in several phases: what was done is not done again, dice above all."""
    async with WholeTable(tmp_path, hands=2, speed="10", sensing="full") as table:
        for phase in ("lift", "deal_roll", "taking", "gold_roll"):
            before = await table.state(lambda data, phase=phase: data["phase"] == phase)  # type: ignore[misc]
            table.kill("daemon")
            table.start_daemon()
            after = await table.state(lambda data: data["machine"]["link"] == "up")
            assert after["hand"] == before["hand"]
        await table.ended()
        physical = await table.physical()
        assert physical["throws"] == counted_throws(table)
        assert physical["walls"] == 2
        assert len([name for name, _ in table.events() if name == "HandEnded"]) == 2


async def test_a_board_reset_in_mid_throw_is_read_and_not_thrown_again(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=1, speed="1", people="") as table:
        # People only from here: the reset must fall into a throw that lasts seconds.
        table.start_people()
        await table.state(lambda data: data["dice"] is not None and data["dice"]["state"] == "rolling")
        await table.world_act("control", verb="reboot")
        await table.state(lambda data: data["phase"] in ("deal_roll", "taking"), 60)
        physical = await table.physical()
        assert physical["boots"] == 2
        assert physical["throws"] == 1


async def test_the_board_resets_again_and_again_and_every_throw_is_thrown_once(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=2, speed="10", dice="unread") as table:
        for _ in range(4):
            await asyncio.sleep(0.7)
            await table.world_act("control", verb="reboot")
        await table.ended()
        physical = await table.physical()
        spoilt = sum(1 for name, _ in table.events() if name == "RollSpoilt")
        assert physical["throws"] <= counted_throws(table)
        assert physical["throws"] + spoilt >= sum(1 for name, _ in table.events() if name == "DiceRolled")


async def test_a_broker_that_comes_back_empty_is_told_everything_again(tmp_path: Path) -> None:
    """F7: everything is right within 5 s of its return, and play has gone on."""
    async with WholeTable(tmp_path, hands=0, speed="10") as table:
        await table.state(lambda data: data["phase"] == "taking")
        await asyncio.to_thread(table.broker.restart, empty=True)
        again = await table.state(lambda data: data["use"] == "playing", 5)
        assert again["hand"] >= 1
        await table.follow("view", table.topics.availability, lambda data: data["state"] == "ready", 5)
        await table.state(lambda data: data["hand"] > again["hand"], 60)


async def test_a_table_without_a_broker_waits_for_it(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=0, speed="10", people="") as table:
        table.kill("daemon", signal.SIGTERM)
        table.broker.stop()
        table.start_daemon()
        with pytest.raises(aiomqtt.MqttError):
            await table.follow("view", table.topics.state, lambda data: True, 2)
        table.broker.start()
        await table.follow("view", table.topics.availability, lambda data: data["state"] == "ready", 10)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_daemon_ends_within_five_seconds_and_says_so(tmp_path: Path, number: int) -> None:
    async with WholeTable(tmp_path, hands=0, speed="10") as table:
        await table.state(lambda data: data["phase"] == "taking")
        began = asyncio.get_running_loop().time()
        code = await asyncio.to_thread(table.kill, "daemon", number)
        assert code == 0
        assert asyncio.get_running_loop().time() - began < 5
        await table.follow("view", table.topics.availability, lambda data: data["state"] == "offline", 3)


async def test_a_peer_that_stopped_reading_does_not_hold_the_daemon(tmp_path: Path) -> None:
    """F2: the simulated board is stopped; the daemon says the link is lost, and SIGTERM ends it in time."""
    async with WholeTable(tmp_path, hands=0, speed="10") as table:
        await table.state(lambda data: data["phase"] == "taking")
        table.processes["hardware"].send_signal(signal.SIGSTOP)
        try:
            await table.state(lambda data: data["machine"]["link"] == "lost", 10)
            assert await asyncio.to_thread(table.kill, "daemon", signal.SIGTERM) == 0
        finally:
            table.processes["hardware"].send_signal(signal.SIGCONT)


async def test_a_daemon_stopped_for_a_while_runs_nothing_twice(tmp_path: Path) -> None:
    """F3, shortened: stopped for 4 s in mid-play, longer than every liveness limit of the line."""
    async with WholeTable(tmp_path, hands=2, speed="10", sensing="full") as table:
        await table.state(lambda data: data["phase"] == "taking")
        table.processes["daemon"].send_signal(signal.SIGSTOP)
        await asyncio.sleep(4)
        table.processes["daemon"].send_signal(signal.SIGCONT)
        await table.ended()
        physical = await table.physical()
        assert physical["throws"] == counted_throws(table)
        assert physical["walls"] == 2


async def test_nothing_retained_repeated_or_foreign_moves_the_table(tmp_path: Path) -> None:
    """F8: retained inputs are cleared and do nothing; a repeated input is answered and acts once."""
    async with WholeTable(tmp_path, hands=0, people="", speed="10", sensing="none") as table:
        idle = await table.state(lambda data: data["phase"] in ("sorting", "lift"))
        assert idle["use"] == "playing"
        view = (await table.follow("E", table.topics.seat("E"), lambda data: bool(data["me"]["wants"]), 30))[-1]
        want = view["me"]["wants"][0]
        assert want["verb"] == "lift"
        async with table.client("E") as east:
            await east.subscribe(table.topics.seat("E"), qos=1)
            first = next(iter([message async for message in _some(east, 1)]))
            epoch = json.loads(bytes(first.payload))["epoch"]
            body = {"id": "once", "epoch": epoch, "want": want["id"], "action": want["actions"][0], "params": {}}
            await east.publish(table.topics.seat_input("E"), json.dumps({**body, "id": "kept"}), qos=1, retain=True)
            await asyncio.sleep(1.0)
            physical = await table.physical()
            assert physical["operations"] == 1, "only the sort has run: the retained press moved nothing"
            old = {**body, "id": "old", "epoch": epoch - 1}
            await east.publish(table.topics.seat_input("E"), json.dumps(old), qos=1)
            for nonsense in (b"", b"{", b"[]", b"\xff\x00", json.dumps({"id": "x"}).encode(), b"x" * 20_000):
                await east.publish(table.topics.seat_input("E"), nonsense, qos=1)
            for _ in range(5):
                await east.publish(table.topics.seat_input("E"), json.dumps(body), qos=1)
            answers = {}
            async for message in east.messages:
                data = json.loads(bytes(message.payload))["data"]
                answers = {answer["id"]: answer for answer in data["me"]["answers"]}
                if "once" in answers and "old" in answers and data["phase"] == "push_in":
                    break
            assert answers["once"]["ok"] and not answers["old"]["ok"]
            assert answers["old"]["code"] == "old_epoch"
        physical = await table.physical()
        assert physical["operations"] == 2, "the sort and one raising of the centre"
        assert table.processes["daemon"].poll() is None


async def _some(client: Any, count: int) -> Any:
    async for message in client.messages:
        yield message
        count -= 1
        if not count:
            return


async def test_health_and_metrics_tell_the_truth(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=0, speed="10") as table:
        await table.state(lambda data: data["phase"] == "taking")
        status, body = await asyncio.to_thread(fetch, table.health_port, "/healthz")
        assert status == 200 and json.loads(body)["link"] == "up"
        _, metrics = await asyncio.to_thread(fetch, table.health_port, "/metrics")
        assert "kaijin" in metrics
        table.kill("hardware")
        await table.state(lambda data: data["machine"]["link"] == "lost", 10)
        status, body = await asyncio.to_thread(fetch, table.health_port, "/healthz")
        assert status == 503 and json.loads(body)["link"] == "lost"
        assert TABLE


def fetch(port: int, path: str) -> tuple[int, str]:
    """Status and body of a plain request."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return int(answer.status), answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.parametrize("sensing", ["none", "full"])
@pytest.mark.parametrize("layout", ["zhitui", "bagua"])
async def test_a_table_that_deals_groups_itself_is_told_which(tmp_path: Path, sensing: str, layout: str) -> None:
    """The dealing aid `present`: whole stacks of one side are pushed out by the table, the rest is taken by hand."""
    table = WholeTable(tmp_path, layout=layout, hands=1, sensing=sensing, simulate=["--aid", "present"])
    async with table:
        await table.ended()
        physical = await table.physical()
    asked = 16 if layout == "zhitui" else 0
    spoilt = sum(1 for name, _ in table.events() if name == "RollSpoilt")
    rolls = 3 if layout == "zhitui" else 4
    walls_and_sorts = physical["walls"] + physical["sorts"] + 2 * 2 + (4 if sensing == "full" else 0)
    groups = physical["operations"] - walls_and_sorts - rolls - spoilt
    assert groups in (range(asked - 4, asked + 1) if asked else range(1))
