"""What goes wrong at a whole table: missing tiles, jams, plugs, restarts; the hand goes on, no throw is repeated."""

from __future__ import annotations

import asyncio
import json
import signal
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from engine.opening import taking
from engine.ruleset import load_ruleset
from tests.table.harness import WholeTable

pytestmark = [pytest.mark.table, pytest.mark.timeout(150)]


def counted(table: WholeTable, name: str) -> int:
    """How many events of this name the journal holds."""
    return sum(1 for found, _ in table.events() if found == name)


def counted_throws(table: WholeTable) -> int:
    """Throws that the journal says were asked of the machine: one for each throw begun."""
    return counted(table, "RollBegun")


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


@pytest.mark.parametrize("dice", ["read", pytest.param("unread", marks=pytest.mark.long)])
async def test_a_plug_pulled_in_mid_deal_does_not_lose_the_hand(tmp_path: Path, dice: str) -> None:
    """F1: the adapter drops and comes back under another name 0.6 s later."""
    async with WholeTable(tmp_path, hands=1, dice=dice, speed="10", sensing="full") as table:
        await table.state(lambda data: data["phase"] == "taking")
        await table.world_act("control", verb="unplug", seconds=0.6)
        await table.ended()
        physical = await table.physical()
        assert physical["throws"] == counted_throws(table)
        assert physical["walls"] == 1 and physical["boots"] == 1


async def test_a_killed_daemon_goes_on_in_the_middle_of_the_hand(tmp_path: Path) -> None:
    """F5: kill -9 in several phases while the board goes on: what was done is not done again, dice above all."""
    async with WholeTable(tmp_path, hands=1, speed="10", sensing="full") as table:
        for phase in ("lift", "deal_roll", "taking", "gold_roll"):
            before = await table.state(lambda data, phase=phase: data["phase"] == phase)  # type: ignore[misc]
            table.kill("daemon")
            table.start_daemon()
            after = await table.state(lambda data: data["machine"]["link"] == "up")
            assert after["hand"] == before["hand"]
        await table.ended()
        physical = await table.physical()
        assert physical["throws"] == counted_throws(table)
        assert physical["walls"] == 1
        assert len([name for name, _ in table.events() if name == "HandEnded"]) == 1


async def test_a_board_reset_in_mid_throw_is_read_and_not_thrown_again(tmp_path: Path) -> None:
    """F5: the board comes back with a new boot id and has forgotten the throw."""
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
    """Four resets, each while dice turn that this board cannot read: people say what they saw, nothing is thrown twice.

    Every throw begun was thrown, and each has ended: counted as people saw it, or spoilt since nobody had.
    """
    async with WholeTable(tmp_path, hands=2, speed="8", dice="unread") as table:
        for _ in range(4):
            await table.dice_roll()
            await table.world_act("control", verb="reboot")
            await table.state(lambda data: data["dice"] is not None and data["dice"]["state"] != "rolling")
        await table.ended(120)
        physical = await table.physical()
        assert physical["boots"] == 5
        assert physical["throws"] == counted_throws(table)
        assert physical["throws"] == counted(table, "DiceRolled") + counted(table, "RollSpoilt")


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


async def test_a_daemon_stopped_for_a_while_runs_nothing_twice(tmp_path: Path) -> None:
    """F3: stopped for 20 s in mid-sort. The board stops by itself, people have it sorted again, nothing runs twice."""
    async with WholeTable(tmp_path, hands=1, speed="6", sensing="full") as table:
        await table.state(lambda data: data["phase"] == "sorting" and any(data["machine"]["sorting"]["tiles"].values()))
        table.processes["daemon"].send_signal(signal.SIGSTOP)
        await asyncio.sleep(20)
        table.processes["daemon"].send_signal(signal.SIGCONT)
        await table.ended()
        physical = await table.physical()
        assert physical["interrupted"] == counted(table, "OperationBroken") == 1
        assert physical["sorts"] == counted(table, "SortBegun")
        assert [body["attempt"] for name, body in table.events() if name == "SortBegun"][:2] == [1, 2]
        assert physical["throws"] == counted_throws(table)
        assert physical["walls"] == 1 and physical["boots"] == 1


@pytest.mark.parametrize("when", ["rolling", pytest.param("sorting", marks=pytest.mark.long)])
async def test_an_emergency_stop_is_cleared_by_a_seat_and_the_hand_goes_on(tmp_path: Path, when: str) -> None:
    """The red button in mid-hand: it cannot be cleared while it is in; what was under way is not done twice."""
    async with WholeTable(tmp_path, hands=1, speed="8", sensing="full") as table:
        if when == "rolling":
            await table.dice_roll()
        else:
            await table.state(lambda data: data["machine"]["sorting"] is not None)
        await table.world_act("control", verb="stop_button")
        stopped = await table.state(lambda data: data["machine"]["stop"] is not None, 10)
        assert stopped["machine"]["stop"] == "stop button"
        await table.follow("view", table.topics.availability, lambda data: data["reason"] == "stopped", 10)
        refused = await table.answer("S", "stopped", "clear")
        await table.follow(
            "S", table.topics.seat("S"), lambda data: refused not in [want["id"] for want in data["me"]["wants"]], 10
        )
        before = await table.physical()
        await table.world_act("control", verb="stop_button", pressed=False)
        await table.answer("W", "stopped", "clear", unlike=refused)
        await table.state(lambda data: data["machine"]["stop"] is None, 10)
        await table.ended()
        physical = await table.physical()
        assert before["throws"] <= 1 and before["walls"] == (when == "rolling")
        assert physical["throws"] == counted_throws(table)
        assert physical["sorts"] == counted(table, "SortBegun")
        assert physical["walls"] == 1
        # Once latched, and once more for each time that somebody tried to clear it with the button still in.
        assert counted(table, "Stopped") >= 2 and counted(table, "Released") == 1


async def test_faults_of_an_earlier_run_do_not_stay(tmp_path: Path) -> None:
    """The link goes, the daemon ends, both return; and a fault of the board ends while nobody listens."""
    async with WholeTable(tmp_path, hands=0, speed="10", people="") as table:
        await table.state(lambda data: data["machine"]["link"] == "up")
        await table.world_act("control", verb="fault", code="eye_dirty", side="N")
        await table.state(lambda data: [fault["code"] for fault in data["machine"]["faults"]] == ["eye_dirty"], 10)
        unplugged = asyncio.create_task(table.world_act("control", verb="unplug", seconds=2.0))
        await table.state(
            lambda data: {fault["code"] for fault in data["machine"]["faults"]} == {"eye_dirty", "link_lost"}
        )
        table.kill("daemon")
        await unplugged
        await table.world_act("control", verb="fault", code="eye_dirty", side="N", cleared=True)
        table.start_daemon()
        await table.state(lambda data: not data["machine"]["faults"] and data["machine"]["link"] == "up", 15)
        await table.follow("view", table.topics.availability, lambda data: data["state"] == "ready", 10)


async def test_nothing_retained_repeated_or_foreign_moves_the_table(tmp_path: Path) -> None:
    """F8: retained inputs are cleared and do nothing; a repeated input is answered and acts once."""
    async with WholeTable(tmp_path, hands=0, people="", speed="10", sensing="none") as table:
        idle = await table.state(lambda data: data["phase"] in ("sorting", "lift"))
        assert idle["use"] == "playing"
        view = (await table.follow("E", table.topics.seat("E"), lambda data: "lift" in verbs(data), 30))[-1]
        want = next(want for want in view["me"]["wants"] if want["verb"] == "lift")
        async with table.client("E") as east:
            await east.subscribe(table.topics.seat("E"), qos=1)
            first = next(iter([message async for message in _some(east, 1)]))
            epoch = json.loads(bytes(first.payload))["epoch"]
            body = {"id": "once", "epoch": epoch, "want": want["id"], "action": want["actions"][0], "params": {}}
            await east.publish(table.topics.seat_input("E"), json.dumps({**body, "id": "kept"}), qos=1, retain=True)
            refused = 'kaijin_broker_total{what="refused_retained"}'
            async with asyncio.timeout(20):
                while not (await asyncio.to_thread(metrics, table.health_port)).get(refused):
                    await asyncio.sleep(0.05)
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


def verbs(view: dict[str, Any]) -> list[str]:
    return [want["verb"] for want in view["me"]["wants"]]


async def _some(client: Any, count: int) -> Any:
    async for message in client.messages:
        yield message
        count -= 1
        if not count:
            return


async def test_health_and_metrics_tell_the_truth(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=0, speed="10") as table:
        port = f'{{port="{table.port_link}"}}'
        await table.state(lambda data: data["phase"] == "flowers")
        status, body = await asyncio.to_thread(fetch, table.health_port, "/healthz")
        assert status == 200 and json.loads(body)["link"] == "up"
        values = await asyncio.to_thread(metrics, table.health_port)
        assert values[f"kaijin_link_up{port}"] == values["kaijin_broker_connected"] == 1
        assert 0 < values["kaijin_journal_commit_seconds_count"] <= len(table.events())
        assert values["kaijin_uptime_seconds"] > 0
        assert values['kaijin_inputs_total{outcome="accepted"}'] >= 1, "everything has been taken"
        counts = {what: values[f'kaijin_link_total{{port="{table.port_link}",what="{what}"}}'] for what in _COUNTS}
        assert counts["frames_in"] > 10 and counts["frames_out"] > 10
        assert (counts["sessions"], counts["losses"], counts["failed_messages"]) == (1, 0, 0)
        table.kill("hardware")
        await table.state(lambda data: data["machine"]["link"] == "lost", 10)
        status, body = await asyncio.to_thread(fetch, table.health_port, "/healthz")
        assert status == 503 and json.loads(body)["link"] == "lost"
        values = await asyncio.to_thread(metrics, table.health_port)
        assert values[f"kaijin_link_up{port}"] == 0
        assert values[f'kaijin_link_total{{port="{table.port_link}",what="losses"}}'] == 1
        assert values["kaijin_core_failures_total"] == 0


_COUNTS = ("frames_in", "frames_out", "sessions", "losses", "failed_messages")


def metrics(port: int) -> dict[str, float]:
    """The values that are told, by name and labels as written."""
    _, text = fetch(port, "/metrics")
    rows = [line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, value in rows}


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
    events = table.events()
    dealer = next(body["seat"] for name, body in events if name == "DealerChosen")
    deal = next(body["dice"] for name, body in events if name == "DiceRolled" and body["purpose"] == "deal")
    takes = taking(load_ruleset(table.rules), layout, dealer, (deal[0], deal[1])).takes
    expected = sum(1 for _, positions in takes if whole_stacks_of_one_side(positions))
    assert physical["presented"] == expected
    assert expected >= 12 if layout == "zhitui" else expected == 0


def whole_stacks_of_one_side(positions: Sequence[str]) -> bool:
    """Whether a pusher can bring these tiles out at once."""
    stacks = Counter(position.rstrip("tb") for position in positions)
    return set(stacks.values()) == {2} and len({position[0] for position in positions}) == 1


async def test_tiles_that_were_not_pushed_in_are_missed_and_put_in_afterwards(tmp_path: Path) -> None:
    """Somebody presses before a single tile is in: the sort names what is missing, people put it in, play goes on."""
    async with WholeTable(tmp_path, hands=2, speed="10", people="") as table:
        for verb, action in (("lift", "lift"), ("push_in", "pushed")):
            asked = (await table.follow("E", table.topics.seat("E"), wants(verb), 40))[-1]
            want = next(want for want in asked["me"]["wants"] if want["verb"] == verb)
            async with table.client("E") as east:
                body = {"id": verb, "epoch": 1, "want": want["id"], "action": action, "params": {}}
                await east.publish(table.topics.seat_input("E"), json.dumps(body), qos=1)
        table.start_people()
        await table.ended()
        assert [name for name, _ in table.events()].count("SetMiscounted") == 1


def wants(verb: str) -> Callable[[dict[str, Any]], bool]:
    """Whether a seat's view asks for something."""
    return lambda data: any(want["verb"] == verb for want in data["me"]["wants"])
