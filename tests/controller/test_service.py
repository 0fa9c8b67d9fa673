"""A repairer at a daemon: service mode with the key at the table, jogs, self-tests, what is looked at, the way out."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from controller.journal import NewPublished, read_events
from controller.pairing import Pairing
from controller.private_broker import PrivateBroker
from controller.service import mode
from controller.service.history import FaultHistory
from controller.settings import Settings
from controller.sights import Sights
from engine import inputs
from protocol.mqtt.models import PairingRequest
from protocol.serial import messages as serial
from tests.controller.board import Board
from tests.controller.daemons import TABLE, TOPICS, Ear, Running, begin, client_of, command, press, say

REPAIRER = f"{TABLE}-service"


class Repairer:
    """The repairer's page: what it asks for, what it is answered, what it sees live."""

    def __init__(self, broker: PrivateBroker, ear: Ear) -> None:
        self.broker = broker
        self.ear = ear
        self.count = 0

    async def sends(self, action: str, id: str = "", verb: str = "service", **more: Any) -> str:
        self.count += 1
        id = id or f"r{self.count}"
        args = {"action": action, **more.pop("args", {})} if verb == "service" else {}
        own = self.ear.latest.get(TOPICS.availability, {"epoch": 1})
        body = command(id, client="service", who="Mei", epoch=own["epoch"], not_after_ms=await self.soon(), args=args)
        await say(self.broker, REPAIRER, TOPICS.command(verb), {**body, **more})
        return id

    async def soon(self) -> int:
        """Ten seconds from now on the table's clock."""
        self.count += 1
        await say(self.broker, REPAIRER, TOPICS.command("status"), command(f"s{self.count}", client="service"))
        said = await self.answered(f"s{self.count}")
        return int(said["mono_ms"]) + 10_000

    async def answered(self, id: str) -> dict[str, Any]:
        ended = ("done", "failed", "rejected")
        return await self.ear.until(
            TOPICS.response("service"), lambda said: said["data"]["id"] == id and said["data"]["outcome"] in ended
        )

    async def asks(self, action: str, **more: Any) -> dict[str, Any]:
        """How it ended."""
        data: dict[str, Any] = (await self.answered(await self.sends(action, **more)))["data"]
        return data

    async def does(self, action: str, **args: Any) -> dict[str, Any]:
        ended = await self.asks(action, args=args)
        assert ended["outcome"] == "done", ended
        result: dict[str, Any] = ended["result"]
        return result

    async def fails(self, action: str, **args: Any) -> tuple[str, dict[str, Any]]:
        ended = await self.asks(action, args=args)
        assert ended["outcome"] == "failed", ended
        return ended["code"], ended["params"]

    async def live(self, **wanted: Any) -> dict[str, Any]:
        said = await self.ear.until(
            TOPICS.service, lambda said: all(said["data"][key] == value for key, value in wanted.items())
        )
        data: dict[str, Any] = said["data"]
        return data

    async def enters(self, board: Board) -> None:
        assert (await self.does("enter"))["service"] == "asked"
        await board.until(lambda: serial.ServiceEnd() in board.asked)
        turn_mode(board, True)
        await self.ear.available("maintenance")
        await self.live(board_mode=True, at_rest=True)


def turn_mode(board: Board, on: bool) -> None:
    """The service key was held for three seconds: the board's own mode turns."""
    (board.shown.add if on else board.shown.discard)("service_mode")
    board.say(serial.Key("service", "", 3200))


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    """A board that reads no tiles."""
    made = Board(tmp_path / "port")
    made.capabilities = serial.Capabilities()
    made.plug()
    yield made
    made.close()


@pytest.fixture
async def repairer(broker: PrivateBroker, running: Running, ear: Ear) -> AsyncIterator[Repairer]:
    await ear.available("ready")
    async with client_of(broker, REPAIRER) as client:
        page = Ear(client, ear.latest, ear.heard, ear.came)
        await client.subscribe([(TOPICS.service, 0), (TOPICS.response("service"), 1)])
        listening = asyncio.create_task(page.listen())
        yield Repairer(broker, ear)
        listening.cancel()


async def test_service_mode_needs_the_key_at_the_table(repairer: Repairer, board: Board, ear: Ear) -> None:
    assert await repairer.fails("jog", motor="walls") == ("not_in_service", {})
    assert await repairer.fails("sensors") == ("not_in_service", {})
    await repairer.enters(board)
    said = await ear.available("maintenance")
    assert said["data"]["reason"] == "service"
    seen = await ear.until(TOPICS.seat("W"), lambda view: view["data"]["machine"]["service"] is not None)
    assert seen["data"]["machine"]["service"]["who"] == "Mei" and seen["data"]["me"]["wants"] == []
    assert await repairer.fails("jog", motor="walls") == ("key_not_held", {}), "the daemon itself refuses"
    assert board.executed["Jog"] == 0
    turn_mode(board, False)
    await ear.available("ready")
    await ear.until(TOPICS.seat("W"), lambda view: [w["verb"] for w in view["data"]["me"]["wants"]] == ["start"])


async def test_a_key_that_nobody_asked_for_begins_nothing(repairer: Repairer, board: Board, ear: Ear) -> None:
    turn_mode(board, True)
    await board.until(lambda: serial.ServiceEnd() in board.asked)
    assert (await repairer.does("status"))["service"] == "off"
    assert ear.latest[TOPICS.availability]["data"]["state"] == "ready"


async def test_seats_are_told_who_waits_for_the_key(repairer: Repairer, board: Board, ear: Ear) -> None:
    await repairer.does("enter")
    view = await ear.until(TOPICS.seat("E"), lambda view: bool(view["data"]["notices"]))
    notice = view["data"]["notices"][0]
    assert (notice["code"], notice["params"]) == ("service_asked", {"who": "Mei"}) and notice["left_ms"] > 50_000
    await repairer.does("leave")
    await ear.until(TOPICS.seat("E"), lambda view: not view["data"]["notices"])
    turn_mode(board, True)
    assert (await repairer.does("status"))["service"] == "off", "it was taken back"


async def test_a_jog_moves_once_however_often_it_arrives(repairer: Repairer, board: Board, ear: Ear) -> None:
    await repairer.enters(board)
    board.shown.add("service_key")
    first = await repairer.asks("jog", id="jog-1", args={"motor": "centre", "ms": -200})
    assert first["outcome"] == "done" and first["result"] == {"outcome": "done", "fault": "", "side": ""}
    for _ in range(3):
        await repairer.sends("jog", id="jog-1", args={"motor": "centre", "ms": -200})
    await repairer.asks("jog", id="jog-2", args={"motor": "walls"})
    jogs = [asked for asked in board.asked if isinstance(asked, serial.Jog)]
    assert [(jog.motor, jog.milliseconds) for jog in jogs] == [(0, -200), (1, mode.USUAL_JOG_MS)]
    assert len({jog.op for jog in jogs}) == 2
    shown = await ear.until(TOPICS.seat("S"), lambda v: v["data"]["machine"]["service"]["params"].get("ms") == 300)
    assert shown["data"]["machine"]["service"]["act"] == "jog"


async def test_what_is_retained_or_old_or_without_an_end_moves_nothing(repairer: Repairer, board: Board) -> None:
    await repairer.enters(board)
    board.shown.add("service_key")
    args = {"motor": "walls"}
    for more, code in (
        ({"not_after_ms": None, "epoch": None}, "no_expiry"),
        ({"not_after_ms": 0}, "expired"),
        ({"epoch": 0}, "old_epoch"),
        ({"not_after_ms": 400_000}, "expiry_too_far"),
    ):
        assert (await repairer.asks("jog", args=dict(args), **more))["code"] == code
    await say(
        repairer.broker, REPAIRER, TOPICS.command("service"),
        command("kept", client="service", epoch=1, not_after_ms=await repairer.soon(), args={"action": "jog", **args}),
        retain=True,
    )  # fmt: skip
    assert (await repairer.answered("kept"))["data"]["code"] == "retained"
    assert board.executed["Jog"] == 0


async def test_every_action_is_on_the_disk_and_public_before_it_moves(
    repairer: Repairer, board: Board, ear: Ear, settings: Settings
) -> None:
    await repairer.enters(board)
    board.shown.add("service_key")
    board.hold = True
    await repairer.sends("jog", args={"motor": "pushers", "ms": 500})
    await board.until(lambda: board.executed["Jog"] == 1)
    stored = [(event.type, event.body) for event in read_events(settings.journal.path)]
    assert stored[-1] == ("ServiceDone", {"by": "Mei", "act": "jog", "params": {"motor": "pushers", "ms": 500}})
    live = await repairer.live(motion={"action": "jog", "what": "pushers", "left_ms": 0})
    assert live["key"]
    assert await repairer.fails("jog", motor="walls") == ("busy", {"what": "service"}), "one at a time"
    assert await repairer.fails("leave") == ("busy", {"what": "service"})
    board.finish(b"")
    await repairer.live(motion=None)
    await repairer.does("leave")
    audit = [said["data"] for topic, said in ear.heard if topic == TOPICS.event("audit")]
    assert [one["name"] for one in audit] == ["service_begun", "service_done", "service_ended"]
    assert audit[1]["params"] == {"by": "Mei", "act": "jog", "params": {"motor": "pushers", "ms": 500}}


async def test_a_board_that_does_not_stop_when_the_key_is_let_go_is_stopped(repairer: Repairer, board: Board) -> None:
    await repairer.enters(board)
    board.shown.add("service_key")
    board.hold = True
    id = await repairer.sends("jog", args={"motor": "walls", "ms": 3000})
    await board.until(lambda: board.executed["Jog"] == 1)
    board.shown.discard("service_key")
    assert (await repairer.answered(id))["data"]["code"] == "not_stopped"
    await board.until(lambda: serial.EmergencyStop("service key let go") in board.asked or bool(board.stop_reason))


async def test_the_boards_own_refusal_is_told(repairer: Repairer, board: Board) -> None:
    await repairer.enters(board)
    board.shown.add("service_key")
    board.refuse = lambda operation: serial.OpRefused(operation.op, "interlock")
    assert await repairer.fails("jog", motor="walls") == ("interlock", {})
    assert (await repairer.asks("jog", args={"motor": "wheels"}))["code"] == "bad_value"
    assert (await repairer.asks("jog", args={"motor": "walls", "ms": 0}))["code"] == "bad_value"
    assert (await repairer.asks("jog", args={"motor": "walls", "ms": 9000}))["code"] == "bad_value"


async def test_the_daemon_itself_lets_nothing_move_under_an_open_lid(repairer: Repairer, board: Board) -> None:
    """A board whose own interlock is broken would carry it out."""
    await repairer.enters(board)
    board.shown.add("service_key")
    board.shown.discard("lid_closed")
    assert await repairer.fails("jog", motor="walls") == ("interlock", {})
    assert await repairer.fails("self_test", number=10) == ("interlock", {})
    assert await repairer.fails("self_test", number=6) == ("interlock", {})
    board.shown.add("lid_closed")
    board.say(serial.FaultRaised("lid_open", "fault", "lid", ""))
    await repairer.ear.until(TOPICS.state, lambda said: bool(said["data"]["machine"]["faults"]))
    assert await repairer.fails("jog", motor="walls") == ("interlock", {}), "the board says it otherwise"
    assert board.executed["Jog"] == board.executed["SelfTest"] == 0
    board.say(serial.FaultCleared("lid_open", ""))
    await repairer.ear.until(TOPICS.state, lambda said: not said["data"]["machine"]["faults"])
    await repairer.does("jog", motor="walls")
    assert board.executed["Jog"] == 1


async def test_a_key_let_go_while_the_disk_takes_its_time_moves_nothing(
    repairer: Repairer, running: Running, board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    await repairer.enters(board)
    board.shown.add("service_key")
    audit = running.daemon._service._audit

    async def slow(*args: Any) -> None:
        await audit(*args)
        board.shown.discard("service_key")

    monkeypatch.setattr(running.daemon._service, "_audit", slow)
    assert await repairer.fails("jog", motor="walls") == ("key_not_held", {})
    assert board.executed["Jog"] == 0


async def test_self_tests_say_what_they_found(repairer: Repairer, board: Board) -> None:
    await repairer.enters(board)
    board.hold = True
    id = await repairer.sends("self_test", args={"number": 6})
    await board.until(lambda: board.executed["SelfTest"] == 1)
    board.finish(serial.SelfTestOutcome.of(((6, "eye_dirty", "W"),)).pack(), "failed", "eye_dirty")
    result = (await repairer.answered(id))["data"]["result"]
    assert (result["outcome"], result["fault"], result["test"]) == ("failed", "eye_dirty", "eyes")
    assert result["checks"] == [{"number": 6, "test": "eyes", "fault": "eye_dirty", "side": "W"}]
    board.hold = False
    assert await repairer.fails("self_test", number=0) == ("key_not_held", {}), "all of them move motors too"


async def test_what_is_looked_at(repairer: Repairer, board: Board) -> None:
    counted = await repairer.does("counters")
    assert counted["cycles"] == 3 and counted["motor_seconds"]["walls"] == 0
    assert [line["state"] for line in counted["lines"]] == ["up"]
    told = await repairer.does("times")
    assert {one["movement"] for one in told["movements"]} >= {"sort", "centre_raise", "walls_raise"}
    await repairer.enters(board)
    board.shown -= {"dice_still"}
    shown = await repairer.does("sensors")
    assert shown["sensors"]["centre_down"] and not shown["sensors"]["dice_still"]
    assert shown["values"]["supply"] == 24_000
    live = await repairer.live(key=False)
    assert set(live["sensors"]) == set(serial.SENSOR_BITS)
    lamps = await repairer.does("lamps")
    await board.until(lambda: serial.Lamp("W", 0, 17, "W") in board.asked)
    assert lamps["seconds"] > 0
    await repairer.does("buzzer", pattern=1)
    await board.until(lambda: serial.Buzzer(1) in board.asked)


async def test_another_page_is_let_in_while_service_mode_lasts(
    repairer: Repairer, board: Board, broker: PrivateBroker, ear: Ear
) -> None:
    await repairer.enters(board)
    ask = {"code": "482913", "seat": "service", "device": "device-2", "name": "phone"}
    async with client_of(broker, f"{TABLE}-web") as web:
        await web.subscribe(TOPICS.pairing("grant"), qos=1)
        await web.publish(TOPICS.pairing("request"), json.dumps(ask), qos=1)
        await ear.until(TOPICS.seat("E"), lambda view: bool(view["data"]["me"]["pairing"]))
        board.say(serial.Key("service", "", 2300))
        async with asyncio.timeout(10):
            granted = json.loads(bytes((await anext(aiter(web.messages))).payload))
    assert granted["data"] == {"code": "482913", "seat": "service", "device": "device-2", "ok": True}
    assert (await repairer.does("status"))["service"] == "on"


async def test_a_mended_mechanism_is_learned_anew(repairer: Repairer, running: Running, board: Board) -> None:
    await running.daemon._hardware.times.finished("walls_raise", 2.5)
    assert await repairer.fails("forget", movement="walls_raise") == ("not_in_service", {})
    await repairer.enters(board)
    assert (await repairer.asks("forget", args={"movement": "wheels"}))["code"] == "bad_value"
    await repairer.does("forget", movement="walls_raise")
    (row,) = [one for one in (await repairer.does("times"))["movements"] if one["movement"] == "walls_raise"]
    assert row["count"] == 0 and row["last_ms"] is None


async def test_a_board_that_comes_back_in_service_mode_is_taken_out_of_it(repairer: Repairer, board: Board) -> None:
    """It was away when service mode ended."""
    board.capabilities = serial.Capabilities(service=True)
    board.unplug()
    board.reboot()
    board.plug()
    await board.until(lambda: serial.ServiceEnd() in board.asked)


async def test_play_does_not_go_on_until_everything_is_home(repairer: Repairer, board: Board, ear: Ear) -> None:
    await repairer.enters(board)
    board.centre = "moving"
    board.walls = "unknown"
    assert await repairer.fails("leave") == ("not_home", {"centre": "moving", "walls": "unknown"})
    turn_mode(board, False)
    await asyncio.sleep(0)
    assert (await repairer.does("status"))["service"] == "on", "the key does not end it either"
    assert (await repairer.does("leave", sure=True))["service"] == "off", "a person has looked"
    assert (await ear.available("parked"))["data"]["reason"] == "service", "and another says that it may go on"
    board.say(serial.Key("service", "", 6000))
    await ear.available("ready")


async def test_the_key_ends_it_too(repairer: Repairer, board: Board, ear: Ear) -> None:
    await repairer.enters(board)
    turn_mode(board, False)
    await ear.available("ready")
    assert (await repairer.does("status"))["service"] == "off"


async def test_it_ends_by_itself_when_nothing_is_done(
    repairer: Repairer, board: Board, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    await repairer.enters(board)
    monkeypatch.setattr(mode, "IDLE_S", 0.5)
    assert (await ear.available("parked"))["data"]["reason"] == "service"
    ended = [said["data"] for topic, said in ear.heard if topic == TOPICS.event("audit")][-1]
    assert (ended["name"], ended["params"]) == ("service_ended", {"by": "time"})


async def test_the_hand_waits_untouched_and_goes_on(
    repairer: Repairer, board: Board, ear: Ear, broker: PrivateBroker
) -> None:
    """The walls stand and the deal roll is asked for; a repairer comes, moves a motor, goes; the same roll is asked."""
    board.sorted_set = 1
    board.hold = True
    await press(broker, ear, "E", "begin", "start", "start")
    await board.until(lambda: board.executed["WallsRaise"] == 1)
    board.finish()
    rolling = await ear.until(
        TOPICS.seat("E"), lambda view: any(want["verb"] == "roll" for want in view["data"]["me"]["wants"])
    )
    want = next(want for want in rolling["data"]["me"]["wants"] if want["verb"] == "roll")
    await board.until(lambda: board.executed["SortStart"] == 1)
    await repairer.does("enter")
    turn_mode(board, True)
    await ear.available("maintenance")
    board.shown.add("service_key")
    assert await repairer.fails("jog", motor="walls") == ("busy", {"what": "machine"}), "the sort is still under way"
    body = {"id": "late", "epoch": 1, "want": want["id"], "action": "roll", "params": {}}
    await say(broker, f"{TABLE}-E", TOPICS.seat_input("E"), body)
    assert (await ear.answer("E", "late"))["code"] == "service"
    board.hold = False
    board.finish()
    await repairer.live(at_rest=True)
    await repairer.does("jog", motor="walls")
    before = board.executed.copy()
    turn_mode(board, False)
    again = await ear.until(
        TOPICS.seat("E"), lambda view: want["id"] in [one["id"] for one in view["data"]["me"]["wants"]]
    )
    assert again["data"]["phase"] == rolling["data"]["phase"] and board.executed == before
    await press(broker, ear, "E", "roll", "roll", "roll")
    await board.until(lambda: board.executed["DiceRoll"] == 1)


@pytest.mark.parametrize("way", ["command", "time", "by a name like the key's"])
async def test_left_without_the_key_nothing_moves_before_somebody_at_the_table_says_so(
    repairer: Repairer, board: Board, ear: Ear, broker: PrivateBroker, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """The walls are to rise, held by the open lid, then by the repairer, who goes, or whose page is far away."""
    board.sorted_set = 1
    board.hold = True
    board.say(serial.FaultRaised("lid_open", "warning", "lid", ""))
    await ear.until(TOPICS.state, lambda said: bool(said["data"]["machine"]["faults"]))
    await press(broker, ear, "E", "begin", "start", "start")
    await ear.until(TOPICS.state, lambda said: said["data"]["use"] == "playing")
    await repairer.enters(board)
    board.say(serial.FaultCleared("lid_open", ""))
    await ear.until(TOPICS.state, lambda said: not said["data"]["machine"]["faults"])
    if way == "time":
        monkeypatch.setattr(mode, "IDLE_S", 0.5)
    else:
        who = {"who": "key"} if way != "command" else {}
        await repairer.asks("leave", args={"sure": True}, **who)
    assert (await ear.available("parked"))["data"]["reason"] == "service"
    sorts, walls = board.executed["SortStart"], board.executed["WallsRaise"]
    board.unplug()
    await ear.until(TOPICS.state, lambda said: said["data"]["machine"]["link"] != "up")
    board.plug()
    await ear.until(TOPICS.state, lambda said: said["data"]["machine"]["link"] == "up")
    assert (await repairer.does("counters"))["cycles"] == 3, "the board answers, and is asked for no motion"
    assert (board.executed["SortStart"], board.executed["WallsRaise"]) == (sorts, walls) == (0, 0)
    await press(broker, ear, "W", "on", "parked", "unpark")
    await board.until(lambda: board.executed["WallsRaise"] == 1)


async def test_a_daemon_that_starts_anew_finds_the_repairer_still_at_it(
    broker: PrivateBroker, settings: Settings, board: Board, ear: Ear
) -> None:
    first = await begin(settings)
    await ear.available("ready")
    async with client_of(broker, REPAIRER) as client:
        page = Ear(client, ear.latest, ear.heard, ear.came)
        await client.subscribe([(TOPICS.service, 0), (TOPICS.response("service"), 1)])
        listening = asyncio.create_task(page.listen())
        repairer = Repairer(broker, ear)
        await repairer.enters(board)
        first.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await first.task
        second = await begin(settings)
        await ear.until(
            TOPICS.availability, lambda said: said["epoch"] == 2 and said["data"]["state"] == "maintenance"
        )
        assert (await repairer.does("status"))["who"] == "Mei"
        turn_mode(board, False)
        await ear.available("ready")
        await second.end()
        listening.cancel()


async def test_a_restart_waits_for_the_hand_and_is_then_begun(
    repairer: Repairer, running: Running, board: Board, ear: Ear, broker: PrivateBroker
) -> None:
    board.sorted_set = 1
    await press(broker, ear, "E", "begin", "start", "start")
    await ear.until(TOPICS.state, lambda said: said["data"]["use"] == "playing")
    id = await repairer.sends("", verb="restart")
    await ear.until(
        TOPICS.response("service"),
        lambda said: said["data"]["id"] == id and said["data"]["outcome"] == "accepted",
    )
    await asyncio.sleep(1)
    assert not running.task.done(), "a hand is in play"
    board.say(serial.Key("service", "", 6000))  # the table is parked
    assert (await repairer.answered(id))["data"]["outcome"] == "done"
    async with asyncio.timeout(10):
        await running.task
    assert running.daemon.restarting


async def test_the_history_counts_by_side_and_sensor_and_outlives_a_start(
    repairer: Repairer, running: Running, board: Board, ear: Ear, settings: Settings
) -> None:
    for _ in range(3):
        board.say(serial.FaultRaised("eye_dirty", "warning", "eye", "W"))
        await ear.until(TOPICS.state, lambda said: bool(said["data"]["machine"]["faults"]))
        board.say(serial.FaultCleared("eye_dirty", "W"))
        await ear.until(TOPICS.state, lambda said: not said["data"]["machine"]["faults"])
    told = await repairer.does("history")
    (row,) = told["faults"]
    assert (row["code"], row["side"], row["count"], row["sensors"]) == ("eye_dirty", "W", 3, row["sensors"])
    assert any("W" in sensor for sensor in row["sensors"]), "which eye"
    assert [one["code"] for one in told["latest"]] == ["eye_dirty"] * 3
    await running.end()
    second = await begin(settings)
    await ear.until(TOPICS.availability, lambda said: said["epoch"] == 2 and said["data"]["state"] == "ready")
    assert (await repairer.does("history"))["faults"][0]["count"] == 3
    await second.end()


def test_nothing_that_the_page_sees_live_names_a_tile() -> None:
    names = (*serial.SENSOR_BITS, *(name for name, _ in serial.SENSOR_VALUES))
    assert not [name for name in names if name[:1].isdigit()], json.dumps(names)


def test_only_the_service_key_lets_a_repairers_page_in() -> None:
    pairing = Pairing(lambda: 0.0)
    ask = {"device": "device-1", "name": "phone"}
    pairing.asked(PairingRequest(code="111111", seat="service", **ask))
    pairing.asked(PairingRequest(code="222222", seat="E", **ask))
    assert pairing.answer("111111", True) is None, "a seat cannot"
    assert pairing.key_held("service", "", 1900) is None
    granted = pairing.key_held("lift", "", 2500)
    assert granted is not None and granted.seat == "E", "another key is for another display"
    granted = pairing.key_held("service", "", 2500)
    assert granted is not None and (granted.code, granted.seat, granted.ok) == ("111111", "service", True)
    pairing.asked(PairingRequest(code="333333", seat="service", **ask))
    refused = pairing.answer("333333", False)
    assert refused is not None and not refused.ok, "but it can refuse"


def test_what_readers_tell_in_service_is_told_once_it_is_over() -> None:
    fed: list[inputs.Input] = []
    sights = Sights(fed.append)
    sights.see(inputs.ZoneSeen("E", "hand", ("1m",), 100))
    sights.hold(True)
    sights.see(inputs.ZoneSeen("E", "hand", (), 100))
    sights.see(inputs.ZoneSeen("E", "discards", ("1m",), 100))
    sights.see(inputs.ZoneSeen("E", "hand", ("2m",), 100))
    assert len(fed) == 1
    sights.hold(False)
    assert fed[1:] == [
        inputs.ZoneSeen("E", "discards", ("1m",), 100), inputs.ZoneSeen("E", "hand", ("2m",), 100),
    ]  # fmt: skip
    sights.hold(False)
    assert len(fed) == 3


class Facts:
    """A run of public facts, as the journal keeps them."""

    def __init__(self) -> None:
        self.stored: list[NewPublished] = []

    def add(self, name: str, **params: Any) -> NewPublished:
        stream = "machine" if name == "sorted" else "fault"
        body = {"data": {"stream": stream, "name": name, "hand": 1, "params": params}, "ts": 1, "clock": "synced"}
        fact = NewPublished(len(self.stored) + 1, stream, json.dumps(body))
        self.stored.append(fact)
        return fact

    async def replay(self, first: int, last: int) -> list[NewPublished]:
        return self.stored[first - 1 : last]


class Kept:
    """The journal's notes."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.writes: list[Any] = []

    def meta(self, key: str, default: str = "") -> str:
        return self.values.get(key, default)

    async def note(self, values: Any) -> None:
        self.values.update(values)


async def test_a_fault_is_counted_once_however_often_it_is_told_and_per_thousand_cycles() -> None:
    facts, kept = Facts(), Kept()
    history = FaultHistory(kept, kept.writes.append)
    dirty = {"code": "eye_dirty", "side": "W", "mechanism": "eye", "severity": "warning"}
    history.heard([facts.add("raised", **dirty), facts.add("raised", **dirty)])
    for _ in range(4):
        history.heard([facts.add("sorted", set=1)])
    history.heard([facts.add("cleared", code="eye_dirty", side="W"), facts.add("raised", **dirty)])
    history.heard([facts.add("operation_failed", verb="sort", fault="eye_dirty", side="W")])
    history.heard([facts.add("operation_failed", verb="walls_raise", fault="wall_not_home", side="S")])
    history.heard([facts.add("miscounted", set=1, sides=[{"side": "N", "counted": 35, "expected": 36}])])
    rows = {(row["code"], row["side"]): (row["count"], row["per_1000"]) for row in history.told()["faults"]}
    assert rows == {("eye_dirty", "W"): (2, 500), ("wall_not_home", "S"): (1, 250), ("side_short", "N"): (1, 250)}
    for writing in kept.writes:
        await writing
    # A power cut came before the last two facts were counted: the next start counts them, and nothing twice.
    facts.add("raised", code="head_jam", side="E", mechanism="head", severity="fault")
    facts.add("sorted", set=2)
    again = FaultHistory(kept, kept.writes.append)
    await again.catch_up(facts.replay, len(facts.stored))
    await again.catch_up(facts.replay, len(facts.stored))
    told = again.told()
    assert told["cycles"] == 5
    assert (told["faults"][0]["code"], told["faults"][0]["count"]) == ("eye_dirty", 2)
    assert ("head_jam", "E", 1) in [(row["code"], row["side"], row["count"]) for row in told["faults"]]
    assert FaultHistory(kept, kept.writes.append).through == len(facts.stored)


async def test_a_long_history_goes_by_pages_that_fit_into_a_message() -> None:
    facts, kept = Facts(), Kept()
    history = FaultHistory(kept, lambda work: work.close())
    for number in range(120):
        code = f"fault_of_a_board_{number}"
        history.heard([facts.add("raised", code=code, side="E", mechanism="x", severity="fault")])
    first, seen = 0, []
    while first is not None:
        page = history.told(first)
        assert len(json.dumps(page)) < 7_500
        seen += [row["code"] for row in page["faults"]]
        first = page["next"]
    assert len(seen) == len(set(seen)) == 120


def test_notes_that_are_none_begin_a_new_history() -> None:
    kept = Kept()
    for nonsense in ("", "{", "[]", '{"rows": [{"code": 1}]}', '{"through": 3, "more": 1}'):
        kept.values["fault_history"] = nonsense
        assert FaultHistory(kept, kept.writes.append).told()["faults"] == []
