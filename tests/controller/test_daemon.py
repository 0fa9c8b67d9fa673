"""The daemon in one process with a real broker on its access list and a board on a real pseudo-terminal."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
from typing import Any

import pytest

from controller.journal import read_events
from controller.private_broker import PrivateBroker
from controller.settings import Settings
from controller.startup import StartError, check_rules
from engine.tiles import SEATS
from tests.controller.board import Board
from tests.controller.daemons import TABLE, TOPICS, Ear, Running, begin, client_of, command, offered, press, say


async def test_a_new_table_says_who_it_is_and_how_it_stands(running: Running, ear: Ear) -> None:
    ready = await ear.available("ready")
    assert ready["epoch"] == 1 and running.begun.boot == "cold"
    birth = await ear.until(TOPICS.birth, lambda said: said["data"]["versions"]["mcu"] == "t-1")
    assert birth["data"]["name"] == "一号桌" and birth["data"]["capabilities"]["sensing"] == "full"
    state = await ear.until(TOPICS.state, lambda said: said["data"]["machine"]["link"] == "up")
    assert state["data"]["phase"] == "idle"
    assert {seat: (await ear.until(TOPICS.seat(seat), lambda _: True))["data"]["me"]["seat"] for seat in SEATS} == {
        seat: seat for seat in SEATS
    }


async def test_a_seat_starts_a_match_once(running: Running, ear: Ear, board: Board, broker: PrivateBroker) -> None:
    await ear.available("ready")
    board.hold = True
    board.felt_sets = 0b10
    await press(broker, ear, "E", "first", "start", "start", rules="new-xiamen-120")
    assert await ear.answer("E", "first") == {"id": "first", "ok": True, "code": "", "rule": "", "params": {}}
    await board.until(lambda: board.executed["SortStart"] == 1)
    assert board.gear[0] == 120
    view = ear.latest[TOPICS.seat("E")]
    again = {"id": "first", "epoch": view["epoch"], "want": "1.start-0.1", "action": "start", "params": {}}
    await say(broker, f"{TABLE}-E", TOPICS.seat_input("E"), again)
    await say(broker, f"{TABLE}-S", TOPICS.seat_input("S"), {**again, "id": "second"})
    assert (await ear.answer("S", "second"))["code"] == "late"
    assert len([a for a in ear.latest[TOPICS.seat("E")]["data"]["me"]["answers"] if a["id"] == "first"]) == 1
    names = [said["data"]["name"] for topic, said in ear.heard if topic.startswith(f"{TOPICS.base}/event/")]
    assert names[:4] == ["match_started", "match_begun", "seats", "sort_begun"]
    seqs = [said["seq"] for topic, said in ear.heard if topic.startswith(f"{TOPICS.base}/event/")]
    assert seqs == list(range(1, len(seqs) + 1))


async def test_inputs_that_are_none_are_answered_and_do_nothing(
    running: Running, ear: Ear, broker: PrivateBroker, settings: Settings
) -> None:
    await ear.available("ready")
    good = {"id": "a", "epoch": 1, "want": "0.start-0.1", "action": "start", "params": {}}
    bad = [
        ({**good, "id": "epoch", "epoch": 99}, "old_epoch"),
        ({**good, "id": "action", "action": "explode"}, "unknown_action"),
        ({**good, "id": "params", "params": {"layout": "round"}}, "bad_value"),
        ({**good, "id": "late", "want": "7.roll-1.1", "action": "roll"}, "late"),
    ]
    for body, code in bad:
        await say(broker, f"{TABLE}-N", TOPICS.seat_input("N"), body)
        assert (await ear.answer("N", str(body["id"])))["code"] == code
    assert list(read_events(settings.journal.path)) == []


async def test_a_retained_input_is_refused_and_cleared(
    running: Running, ear: Ear, broker: PrivateBroker, settings: Settings, board: Board
) -> None:
    """F8: nothing retained acts. The message was left there while the table was away."""
    await ear.available("ready")
    await running.end()
    view = ear.latest[TOPICS.seat("W")]
    left = {"id": "left", "epoch": view["epoch"] + 1, "want": "0.start-0.1", "action": "start", "params": {}}
    left["want"] = next(want["id"] for want in view["data"]["me"]["wants"] if want["verb"] == "start")
    await say(broker, f"{TABLE}-W", TOPICS.seat_input("W"), left, retain=True)
    again = await begin(settings)
    assert (await ear.answer("W", "left"))["code"] == "retained"
    assert again.begun.epoch == 2 and ear.latest[TOPICS.state]["data"]["phase"] == "idle"
    async with client_of(broker, TABLE) as client:
        await client.subscribe(TOPICS.seat_input("W"))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(aiter(client.messages)), 0.3)
    await again.end()
    assert list(read_events(settings.journal.path)) == []


async def test_commands_are_answered_once_and_only_known_ones_act(
    running: Running, ear: Ear, broker: PrivateBroker, board: Board
) -> None:
    await ear.available("ready")
    response = TOPICS.response("hub-1")

    def outcomes(id: str) -> list[str]:
        return [said["data"]["outcome"] for topic, said in ear.heard if topic == response and said["data"]["id"] == id]

    await say(broker, "parlor", TOPICS.command("status"), command("s"))
    done = await ear.until(response, lambda said: said["data"]["outcome"] == "done")
    assert done["data"]["result"]["phase"] == "idle" and outcomes("s") == ["accepted", "done"]
    await say(broker, "parlor", TOPICS.command("start_match"), command("n"))
    rejected = await ear.until(response, lambda said: said["data"]["id"] == "n")
    assert rejected["data"]["code"] == "no_expiry"
    start_match = command("m", epoch=1, not_after_ms=600_000, args={"rules": "quanzhou-seed"})
    await say(broker, "parlor", TOPICS.command("start_match"), start_match)
    await ear.until(response, lambda said: said["data"]["id"] == "m" and said["data"]["outcome"] == "done")
    await say(broker, "parlor", TOPICS.command("start_match"), start_match)
    async with asyncio.timeout(5):
        while outcomes("m") != ["accepted", "done"] * 2:
            await asyncio.sleep(0.01)
    await press(broker, ear, "E", "go", "start", "start")
    await ear.until(TOPICS.state, lambda said: said["data"]["phase"] == "sorting")
    before = len([1 for topic, _ in ear.heard if "/event/" in topic])
    await say(broker, "parlor", TOPICS.command("replay"), command("r", args={"first": 1}))
    replayed = await ear.until(response, lambda said: said["data"]["id"] == "r" and said["data"]["outcome"] == "done")
    count = replayed["data"]["result"]["count"]
    async with asyncio.timeout(5):
        while len([1 for topic, _ in ear.heard if "/event/" in topic]) < before + count:
            await asyncio.sleep(0.01)
    events = [said for topic, said in ear.heard if "/event/" in topic]
    assert count >= 2 and events[:count] == events[before : before + count]


async def test_a_match_from_afar_is_an_offer_that_a_press_at_the_table_starts(
    running: Running, ear: Ear, broker: PrivateBroker, board: Board, settings: Settings
) -> None:
    """Nothing from afar moves the machine; the offer outlives a restart and is gone when it is taken."""
    await ear.available("ready")
    board.hold = True
    response = TOPICS.response("hub-1")
    args = {"rules": "quanzhou-seed", "layout": "zhitui"}
    bad = command("b", epoch=1, not_after_ms=600_000, args={**args, "rules": "bridge"})
    await say(broker, "parlor", TOPICS.command("start_match"), bad)
    failed = await ear.until(response, lambda said: said["data"]["id"] == "b" and said["data"]["outcome"] == "failed")
    assert failed["data"]["code"] == "bad_value" and "bridge" in failed["data"]["expected"]
    await say(broker, "parlor", TOPICS.command("start_match"), command("m", epoch=1, not_after_ms=600_000, args=args))
    done = await ear.until(response, lambda said: said["data"]["id"] == "m" and said["data"]["outcome"] == "done")
    assert done["data"]["result"] == args
    for seat in SEATS:
        await ear.until(TOPICS.seat(seat), lambda view: offered(view) == args)
    stored = {event.type for event in read_events(settings.journal.path)}
    assert stored <= {"Audited"} and not board.executed
    await running.end()
    again = await begin(settings)
    await ear.until(TOPICS.seat("W"), lambda view: view["epoch"] == 2 and offered(view) == args)
    await ear.until(TOPICS.state, lambda said: said["epoch"] == 2 and said["data"]["machine"]["link"] == "up")
    await press(broker, ear, "W", "go", "start", "start")
    state = await ear.until(TOPICS.state, lambda said: said["data"]["phase"] == "sorting")
    assert state["data"]["rules"] == "quanzhou-seed"
    await board.until(lambda: board.executed["SortStart"] == 1)
    await again.end()
    assert again.begun.journal.meta("offer") == ""


async def test_an_offer_that_nobody_has_taken_can_be_taken_back(
    running: Running, ear: Ear, broker: PrivateBroker
) -> None:
    await ear.available("ready")
    response = TOPICS.response("hub-1")
    usual = await ear.until(TOPICS.seat("E"), lambda view: bool(offered(view)))
    more: dict[str, Any] = {"epoch": 1, "not_after_ms": 600_000}
    await say(broker, "parlor", TOPICS.command("start_match"), command("m", **more, args={"rules": "quanzhou-seed"}))
    await ear.until(TOPICS.seat("E"), lambda view: offered(view)["rules"] == "quanzhou-seed")
    await say(broker, "parlor", TOPICS.command("end"), command("e", **more))
    await ear.until(response, lambda said: said["data"]["id"] == "e" and said["data"]["outcome"] == "done")
    await ear.until(TOPICS.seat("E"), lambda view: offered(view) == offered(usual))
    await say(broker, "parlor", TOPICS.command("end"), command("f", **more))
    failed = await ear.until(response, lambda said: said["data"]["id"] == "f" and said["data"]["outcome"] == "failed")
    assert failed["data"]["code"] == "no_match"


async def test_a_command_played_again_after_a_restart_is_answered_and_not_carried_out(
    running: Running, ear: Ear, broker: PrivateBroker, settings: Settings, board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the time of day it would still be valid: its id is in the journal."""
    monkeypatch.setattr("controller.clock.kernel_clock_state", lambda: "synced")
    await ear.available("ready")
    response = TOPICS.response("hub-1")
    valid = {"not_after": int(time.time() * 1000) + 300_000, "clock": "synced"}
    running.daemon._desk._clock._look = lambda: "synced"
    running.daemon._desk._clock._look_at = 0.0
    offer = command("o", **valid, args={"rules": "quanzhou-seed"})
    await say(broker, "parlor", TOPICS.command("start_match"), offer)
    await ear.until(response, lambda said: said["data"]["id"] == "o" and said["data"]["outcome"] == "done")
    await say(broker, "parlor", TOPICS.command("end"), command("e", **valid))
    await ear.until(response, lambda said: said["data"]["id"] == "e" and said["data"]["outcome"] == "done")
    await running.end()
    again = await begin(settings)
    usual = await ear.until(TOPICS.seat("E"), lambda view: view["epoch"] == 2 and bool(offered(view)))
    await say(broker, "parlor", TOPICS.command("start_match"), offer)
    repeated = await ear.until(
        response, lambda said: said["epoch"] == 2 and said["data"]["id"] == "o" and said["data"]["outcome"] == "done"
    )
    assert repeated["data"]["result"]["rules"] == "quanzhou-seed"
    assert not again.daemon._offer.made and offered(ear.latest[TOPICS.seat("E")]) == offered(usual)
    await again.end()


async def test_a_link_lost_when_the_daemon_ended_is_over_when_the_board_answers(
    running: Running, ear: Ear, board: Board, settings: Settings
) -> None:
    await ear.available("ready")
    board.unplug()
    await ear.until(TOPICS.state, lambda said: bool(said["data"]["machine"]["faults"]))
    await running.end()
    board.plug()
    again = await begin(settings)
    await ear.until(TOPICS.state, lambda said: said["epoch"] == 2 and not said["data"]["machine"]["faults"])
    await ear.until(TOPICS.availability, lambda said: said["epoch"] == 2 and said["data"]["state"] == "ready")
    await again.end()


async def test_health_tells_which_part_is_missing(running: Running, ear: Ear, board: Board) -> None:
    await ear.available("ready")
    health = running.daemon._health
    assert health is not None

    def look() -> tuple[int, dict[str, Any]]:
        request = urllib.request.Request(f"http://127.0.0.1:{health.port}/healthz")
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    status, body = await asyncio.to_thread(look)
    assert status == 200 and body["ok"]
    board.unplug()
    await ear.available("fault")
    status, body = await asyncio.to_thread(look)
    assert status == 503 and body["link"] == "lost" and body["broker"] == "up"
    board.plug()
    await ear.available("ready")


async def test_it_says_offline_and_stops_in_time_even_with_a_deaf_board(
    running: Running, ear: Ear, board: Board
) -> None:
    await ear.available("ready")
    board.deaf = True
    assert await running.end() < 5
    assert (await ear.available("offline"))["data"]["reason"] == ""


async def test_it_stops_in_time_without_board_and_broker(settings: Settings) -> None:
    nowhere = settings.model_copy(update={"broker": settings.broker.model_copy(update={"port": 1})})
    alone = await begin(nowhere)
    await asyncio.sleep(0.2)
    assert await alone.end() < 5


async def test_a_restart_goes_on_in_the_middle_under_the_next_epoch(
    running: Running, ear: Ear, board: Board, settings: Settings, broker: PrivateBroker
) -> None:
    await ear.available("ready")
    board.hold = True
    await press(broker, ear, "E", "go", "start", "start")
    await board.until(lambda: board.executed["SortStart"] == 1)
    await running.end()
    again = await begin(settings)
    state = await ear.until(TOPICS.state, lambda said: said["epoch"] == 2)
    assert state["data"]["phase"] != "idle" and again.begun.boot == "restart"
    board.finish()
    await ear.until(TOPICS.state, lambda said: said["data"]["machine"]["sorting"] is None)
    assert board.executed["SortStart"] == 1
    await again.end()


async def test_a_damaged_journal_is_said_and_the_table_goes_on_with_a_higher_epoch(
    running: Running, ear: Ear, settings: Settings, board: Board
) -> None:
    await ear.available("ready")
    await running.end()
    settings.journal.path.write_bytes(b"nothing of a journal")
    again = await begin(settings)
    await ear.until(TOPICS.availability, lambda said: said["epoch"] == 2 and said["data"]["state"] == "ready")
    assert again.begun.boot == "recovered" and again.begun.journal.opening.damaged is not None
    await again.end()


async def test_with_nothing_known_of_its_past_a_table_waits_to_be_adopted(
    ear: Ear, settings: Settings, board: Board
) -> None:
    settings.journal.path.write_bytes(b"nothing of a journal")
    orphan = await begin(settings)
    assert orphan.begun.epoch is None
    await ear.available("maintenance")
    assert await orphan.end() < 5 and not board.executed
    settings.journal.path.unlink()
    settings.journal.path.write_bytes(b"nothing of a journal")
    adopted = await begin(settings, adopt=True)
    await ear.available("ready")
    assert (adopted.begun.epoch, adopted.begun.boot) == (1, "adopted")
    await adopted.end()


async def test_an_engine_that_fails_costs_one_input_and_never_the_hand(
    running: Running, ear: Ear, broker: PrivateBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ear.available("ready")

    def broken(*_: Any) -> None:
        raise KeyError("a mistake")

    with monkeypatch.context() as patch:
        patch.setattr("controller.core.decide", broken)
        await press(broker, ear, "E", "first", "start", "start")
        assert (await ear.answer("E", "first"))["code"] == "internal"
    await press(broker, ear, "E", "second", "start", "start")
    assert (await ear.answer("E", "second"))["ok"] is True


async def test_rules_that_cannot_be_played_are_told_before_anything_starts(settings: Settings) -> None:
    with pytest.raises(StartError, match="rules"):
        check_rules(settings.model_copy(update={"match": settings.match.model_copy(update={"rules": "bridge"})}))
