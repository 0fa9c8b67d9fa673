"""What the parlor commands of matches: rules, length, pause, end, parking, records; and what seats look at."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from controller.core import MOST_PENDING
from controller.journal import read_events, read_ledger
from controller.private_broker import PrivateBroker
from controller.records import NewRecord
from controller.settings import Settings
from engine import inputs as i
from engine.chain import Refused
from engine.record_match import parse_match
from protocol.mqtt.topics import Topics
from protocol.serial import messages as serial
from tests.controller.board import Board
from tests.controller.daemons import TABLE, TOPICS, Ear, Running, begin, command, offered, press, say


class Parlor:
    """The parlor's counter: commands and what became of them."""

    def __init__(self, broker: PrivateBroker, ear: Ear) -> None:
        self._broker = broker
        self._ear = ear
        self._count = 0

    async def asks(self, verb: str, epoch: int = 1, **args: Any) -> dict[str, Any]:
        """How a command ended."""
        self._count += 1
        id = f"p{epoch}-{self._count}"
        await say(
            self._broker, "parlor", TOPICS.command(verb), command(id, epoch=epoch, not_after_ms=600_000, args=args)
        )
        ended = await self._ear.until(
            TOPICS.response("hub-1"),
            lambda said: said["data"]["id"] == id and said["data"]["outcome"] in ("done", "failed", "rejected"),
        )
        found: dict[str, Any] = ended["data"]
        return found

    async def refused(self, verb: str, **args: Any) -> str:
        """The code with which a command failed."""
        ended = await self.asks(verb, **args)
        assert ended["outcome"] == "failed", ended
        return str(ended["code"])

    async def does(self, verb: str, **args: Any) -> dict[str, Any]:
        """The result of a command that was carried out."""
        ended = await self.asks(verb, **args)
        assert ended["outcome"] == "done", ended
        result: dict[str, Any] = ended["result"]
        return result


@pytest.fixture
async def parlor(running: Running, broker: PrivateBroker, ear: Ear) -> Parlor:
    await ear.available("ready")
    return Parlor(broker, ear)


async def start(broker: PrivateBroker, ear: Ear, board: Board, **params: Any) -> dict[str, Any]:
    """A match begins; the sort that follows goes on until the test ends it."""
    board.hold = True
    await press(broker, ear, "E", "go", "start", "start", **params)
    await board.until(lambda: board.executed["SortStart"] == 1)
    return await ear.until(TOPICS.state, lambda said: said["data"]["phase"] == "sorting")


async def test_a_match_is_agreed_for_hands_and_minutes_and_may_be_given_more(
    parlor: Parlor, broker: PrivateBroker, ear: Ear, board: Board
) -> None:
    assert await parlor.refused("extend", hands=2) == "no_match"
    state = await start(broker, ear, board, rules="new-xiamen-120", hands=8, minutes=90)
    match = state["data"]["match"]
    assert (match["hands"], match["minutes"], match["left_min"], match["number"]) == (8, 90, 90, 1)
    assert match["players"]["W"] == {"id": "3", "name": ""} and match["chips"] == dict.fromkeys("ESWN", 200)
    await parlor.does("extend", hands=4, minutes=30)
    await ear.until(TOPICS.state, lambda said: said["data"]["match"]["hands"] == 12)
    assert ear.latest[TOPICS.state]["data"]["match"]["left_min"] == 120
    assert await parlor.refused("extend") == "bad_value"
    names = [said["data"]["name"] for topic, said in ear.heard if "/event/" in topic]
    assert "match_extended" in names


async def test_the_rules_of_later_matches_are_set_between_matches_and_kept(
    parlor: Parlor, running: Running, broker: PrivateBroker, ear: Ear, settings: Settings
) -> None:
    usual = offered(await ear.until(TOPICS.seat("E"), lambda view: bool(offered(view))))
    assert await parlor.refused("rules", rules="bridge") == "bad_value"
    assert await parlor.refused("rules", options={"kong_sound": 3}) == "bad_value"
    set_to = {"rules": "quanzhou-seed", "layout": "zhitui"}
    assert await parlor.does("rules", **set_to) == set_to
    await ear.until(TOPICS.seat("S"), lambda view: offered(view) == set_to)
    once = {"rules": "new-xiamen-120", "layout": "bagua"}
    await parlor.does("start_match", **once, hands=4, seats="dice", options={"claim_window_ms": 5000})
    view = await ear.until(TOPICS.seat("S"), lambda view: offered(view) == once)
    (want,) = [want for want in view["data"]["me"]["wants"] if want["verb"] == "start"]
    told = {name: want["params"][name] for name in ("hands", "minutes", "seats", "options", "chips")}
    assert told == {"hands": 4, "minutes": 0, "seats": "dice", "options": {"claim_window_ms": 5000}, "chips": 200}
    await parlor.does("end")
    await ear.until(TOPICS.seat("S"), lambda view: offered(view) == set_to)
    await running.end()
    again = await begin(settings)
    await ear.until(TOPICS.seat("S"), lambda view: view["epoch"] == 2 and offered(view) == set_to)
    await parlor.does("rules", epoch=2)
    await ear.until(TOPICS.seat("S"), lambda view: view["epoch"] == 2 and offered(view) == usual)
    await again.end()


async def test_a_start_at_the_table_takes_what_was_offered(
    parlor: Parlor, broker: PrivateBroker, ear: Ear, board: Board
) -> None:
    await parlor.does("start_match", hands=4, seats="dice", options={"claim_window_ms": 5000})
    board.hold = True
    await press(broker, ear, "E", "go", "start", "start")
    state = await ear.until(TOPICS.state, lambda said: said["data"]["phase"] == "seating")
    assert state["data"]["options"] == {"claim_window_ms": 5000}
    assert (state["data"]["match"]["hands"], state["data"]["match"]["stage"]) == (4, "seating")
    assert state["data"]["dice"]["purpose"] == "seat"


def asked(view: dict[str, Any]) -> set[str]:
    return {want["verb"] for want in view["data"]["me"]["wants"]}


async def test_a_locked_table_begins_nothing_says_so_at_the_seats_and_keeps_it_over_a_start(
    parlor: Parlor, running: Running, broker: PrivateBroker, ear: Ear, board: Board, settings: Settings
) -> None:
    view = await ear.until(TOPICS.seat("E"), lambda view: "start" in asked(view))
    old = next(want["id"] for want in view["data"]["me"]["wants"] if want["verb"] == "start")
    assert await parlor.does("lock") == {"locked": True}
    assert await parlor.does("lock") == {"locked": True}, "locked is locked"
    for seat in "ESWN":
        view = await ear.until(TOPICS.seat(seat), lambda view: "locked" in asked(view))
        assert "start" not in asked(view) and all(not want["actions"] for want in view["data"]["me"]["wants"])
        assert view["data"]["locked"]
    assert await parlor.refused("start_match") == "table_locked"
    assert await parlor.refused("open") == "table_locked"
    body = {"id": "sly", "epoch": 1, "want": old, "action": "start", "params": {}}
    await say(broker, f"{TABLE}-E", TOPICS.seat_input("E"), body)
    assert (await ear.answer("E", "sly"))["code"] == "table_locked"
    assert board.executed["SortStart"] == 0 and running.daemon._core.state.phase == "idle"
    await running.end()
    again = await begin(settings)
    await ear.until(TOPICS.seat("W"), lambda view: view["epoch"] == 2 and "locked" in asked(view))
    assert (await parlor.does("status", epoch=2))["locked"]
    assert await parlor.does("unlock", epoch=2) == {"locked": False}
    await ear.until(TOPICS.seat("W"), lambda view: view["epoch"] == 2 and "start" in asked(view))
    await again.end()


async def test_a_match_that_is_played_goes_on_at_a_locked_table(
    parlor: Parlor, broker: PrivateBroker, ear: Ear, board: Board
) -> None:
    await start(broker, ear, board)
    await parlor.does("lock")
    await parlor.does("pause")
    await parlor.does("pause", on=False)
    state = await ear.until(TOPICS.state, lambda said: said["data"]["locked"])
    assert state["data"]["phase"] == "sorting" and state["data"]["use"] == "playing"
    await parlor.does("unlock")
    assert await parlor.refused("open") == "match_running"


async def test_an_evening_is_opened_under_its_rules_and_closed_and_both_stand_in_the_ledger(
    parlor: Parlor, running: Running, broker: PrivateBroker, ear: Ear, settings: Settings
) -> None:
    usual = offered(await ear.until(TOPICS.seat("E"), lambda view: bool(offered(view))))
    assert await parlor.refused("open", rules="bridge") == "bad_value"
    evening = {"rules": "quanzhou-seed", "layout": "zhitui"}
    assert evening != usual
    assert await parlor.does("open", **evening) == evening
    assert await parlor.does("open", **evening) == evening
    await ear.until(TOPICS.seat("S"), lambda view: offered(view) == evening and view["data"]["use"] == "open")
    await running.end()
    again = await begin(settings)
    state = await ear.until(TOPICS.state, lambda said: said["epoch"] == 2 and said["data"]["phase"] == "idle")
    assert state["data"]["use"] == "open"
    assert offered(await ear.until(TOPICS.seat("S"), lambda view: view["epoch"] == 2)) == evening
    await parlor.does("end", epoch=2)
    await ear.until(TOPICS.state, lambda said: said["epoch"] == 2 and said["data"]["use"] == "free")
    await ear.emptied(*(TOPICS.seat(seat) for seat in "ESWN"))
    ended = await parlor.asks("end", epoch=2)
    assert (ended["outcome"], ended["code"]) == ("failed", "no_match")
    assert await parlor.does("open", epoch=2) == usual
    assert offered(await ear.until(TOPICS.seat("S"), lambda view: offered(view) == usual))
    await again.end()
    rows = [json.loads(row.envelope)["data"]["record"] for row in read_ledger(settings.journal.path)]
    assert [(row["kind"], row["session"], row["by"]) for row in rows] == [
        ("session_begun", 1, "parlor"),
        ("session_ended", 1, "parlor"),
        ("session_begun", 2, "parlor"),
    ]
    assert rows[1]["restarts"] == 1 and rows[1]["matches"] == 0


SEAT_TOPICS = tuple(TOPICS.seat(seat) for seat in "ESWN")


async def begun_and_ended(
    parlor: Parlor, broker: PrivateBroker, ear: Ear, board: Board, number: int = 1, epoch: int = 1, **params: Any
) -> dict[str, Any]:
    """A match begins and is ended while its tiles are sorted; its state as it was played."""
    board.hold = True
    await press(broker, ear, "E", f"go-{epoch}-{number}", "start", "start", **params)

    def plays(said: dict[str, Any]) -> bool:
        return bool(said["data"]["match"]) and said["data"]["match"]["number"] == number

    state = await ear.until(TOPICS.state, plays)
    await parlor.does("end", epoch=epoch)
    await ear.until(TOPICS.state, lambda said: plays(said) and said["data"]["phase"] == "ended")
    await board.until(lambda: bool(board.memory.running))
    board.finish()
    await ear.until(TOPICS.state, lambda said: plays(said) and said["data"]["machine"]["sorting"] is None)
    board.sorted_set = 0  # somebody has mixed the tiles
    return state


async def look(broker: PrivateBroker, ear: Ear, id: str, epoch: int = 1, **params: Any) -> dict[str, Any]:
    """What the seat S is shown that looks at something."""
    body = {"id": id, "epoch": epoch, "want": "", "action": "look", "params": params}
    await say(broker, f"{TABLE}-S", TOPICS.seat_input("S"), body)
    assert (await ear.answer("S", id))["ok"]
    sheet: dict[str, Any] = ear.latest[TOPICS.seat("S")]["data"]["me"]["sheet"]
    return sheet


async def test_an_evening_that_is_over_leaves_nothing_at_the_seats_and_the_next_begins_anew(
    parlor: Parlor, running: Running, broker: PrivateBroker, ear: Ear, board: Board, settings: Settings
) -> None:
    """The seats' topics are emptied, and stay so over a start, until the parlor opens the table for the next party."""
    await parlor.does("open", names={"E": "阿明", "W": "小 林"})
    state = await begun_and_ended(parlor, broker, ear, board)
    assert [state["data"]["match"]["players"][seat]["name"] for seat in "ESWN"] == ["阿明", "", "小 林", ""]
    assert not running.daemon._offer.terms.names, "people may have changed seats: those who have a name keep it"
    assert "阿明" in (await look(broker, ear, "m", what="match"))["text"]
    again = await begun_and_ended(parlor, broker, ear, board, 2)
    assert again["data"]["match"]["players"]["E"]["name"] == "阿明" and again["data"]["match"]["evening"]
    await parlor.does("end")
    await ear.emptied(*SEAT_TOPICS)
    state = await ear.until(TOPICS.state, lambda said: said["data"]["use"] == "free")
    assert (state["data"]["match"], state["data"]["result"], state["data"]["phase"]) == (None, None, "idle")
    assert (state["data"]["hand"], state["data"]["hands"], state["data"]["dealer"]) == (0, 0, None)
    await running.end()
    later = await begin(settings)
    await ear.until(TOPICS.state, lambda said: said["epoch"] == 2 and said["data"]["machine"]["link"] == "up")
    assert ear.empty.issuperset(SEAT_TOPICS)
    await parlor.does("open", epoch=2)
    view = await ear.until(TOPICS.seat("S"), lambda view: view["epoch"] == 2)
    (want,) = view["data"]["me"]["wants"]
    assert (want["verb"], want["params"]["fresh"]) == ("start", False)
    assert view["data"]["match"] is None and view["data"]["me"]["sheet"] is None
    third = await begun_and_ended(parlor, broker, ear, board, 3, 2)
    match = third["data"]["match"]
    assert {player["name"] for player in match["players"].values()} == {""} and not match["evening"]
    assert (await look(broker, ear, "old", 2, what="match", match=1))["missing"] == "no_record"
    assert (await look(broker, ear, "hand", 2, what="hand", match=1, hand=1))["missing"] == "no_hand"
    assert "阿明" not in (await look(broker, ear, "new", 2, what="match"))["text"]
    await later.end()


async def test_a_closed_table_asks_for_what_only_people_can_do(
    parlor: Parlor, broker: PrivateBroker, ear: Ear, board: Board
) -> None:
    view = await ear.until(TOPICS.seat("E"), lambda view: "start" in asked(view))
    (want,) = view["data"]["me"]["wants"]
    await parlor.does("open")
    await parlor.does("end")
    await ear.emptied(*SEAT_TOPICS)
    body = {"id": "sly", "epoch": 1, "want": want["id"], "action": "start", "params": {}}
    await say(broker, f"{TABLE}-E", TOPICS.seat_input("E"), body)
    await parlor.does("park")
    await ear.until(TOPICS.seat("N"), lambda view: asked(view) == {"parked"})
    assert (await ear.answer("E", "sly"))["code"] == "table_locked", "a press that was on its way begins nothing"
    await press(broker, ear, "N", "on", "parked", "unpark")
    await ear.emptied(*SEAT_TOPICS)
    await parlor.does("start_match", hands=4)
    await ear.until(TOPICS.seat("N"), lambda view: asked(view) == {"start"})


async def test_an_offer_that_is_withdrawn_leaves_a_closed_table_closed(
    parlor: Parlor, broker: PrivateBroker, ear: Ear, board: Board
) -> None:
    """As long as a match is offered it may be started; withdrawn, the evening is as over as it was."""
    view = await ear.until(TOPICS.seat("E"), lambda view: "start" in asked(view))
    (want,) = view["data"]["me"]["wants"]
    await parlor.does("open")
    await parlor.does("end")
    await ear.emptied(*SEAT_TOPICS)
    await parlor.does("start_match", hands=4)
    await ear.until(TOPICS.seat("E"), lambda view: asked(view) == {"start"})
    await parlor.does("end")
    await ear.emptied(*SEAT_TOPICS)
    body = {"id": "sly", "epoch": 1, "want": want["id"], "action": "start", "params": {}}
    await say(broker, f"{TABLE}-E", TOPICS.seat_input("E"), body)
    await parlor.does("park")
    await ear.until(TOPICS.seat("N"), lambda view: asked(view) == {"parked"})
    assert (await ear.answer("E", "sly"))["code"] == "table_locked"


async def test_at_a_table_that_the_parlor_opened_no_seat_ends_the_evening(
    parlor: Parlor, broker: PrivateBroker, ear: Ear, board: Board
) -> None:
    await parlor.does("open")
    await begun_and_ended(parlor, broker, ear, board)
    view = await ear.until(TOPICS.seat("E"), lambda view: asked(view) >= {"start"})
    assert not next(one for one in view["data"]["me"]["wants"] if one["verb"] == "start")["params"]["fresh"]
    await press(broker, ear, "E", "new", "start", "start", fresh=True)
    assert (await ear.answer("E", "new"))["code"] == "bad_value"


async def test_at_a_table_that_nobody_opened_the_next_party_says_so_or_the_parlor_does(
    parlor: Parlor, broker: PrivateBroker, ear: Ear, board: Board
) -> None:
    await begun_and_ended(parlor, broker, ear, board)
    view = await ear.until(TOPICS.seat("E"), lambda view: asked(view) == {"start"})
    assert view["data"]["me"]["wants"][0]["params"]["fresh"], "another party may sit down"
    same = await begun_and_ended(parlor, broker, ear, board, 2)
    assert same["data"]["match"]["evening"]
    other = await begun_and_ended(parlor, broker, ear, board, 3, fresh=True)
    assert not other["data"]["match"]["evening"]
    await parlor.does("end")
    await ear.until(TOPICS.state, lambda said: said["data"]["phase"] == "idle")
    view = await ear.until(TOPICS.seat("E"), lambda view: view["data"]["match"] is None)
    assert asked(view) == {"start"}, "it need not be opened"
    assert await parlor.refused("end") == "no_match"
    await begun_and_ended(parlor, broker, ear, board, 4)
    await parlor.does("start_match", names={"N": "Li"})
    await parlor.does("end")
    assert ear.latest[TOPICS.state]["data"]["match"]["number"] == 4, "the offer alone is withdrawn"
    bad = await parlor.asks("open", names={"N": "\n"})
    assert (bad["outcome"], bad["code"], bad["field"]) == ("rejected", "bad_value", "args.names")
    await parlor.does("open")
    await ear.until(TOPICS.state, lambda said: said["data"]["match"] is None and said["data"]["use"] == "open")


async def test_a_pause_is_shown_and_taken_back(parlor: Parlor, broker: PrivateBroker, ear: Ear, board: Board) -> None:
    assert await parlor.refused("pause") == "no_match"
    await start(broker, ear, board)
    await parlor.does("pause")
    await ear.until(TOPICS.state, lambda said: said["data"]["match"]["pausing"])
    await parlor.does("pause", on=False)
    await ear.until(TOPICS.state, lambda said: not said["data"]["match"]["pausing"])
    said = [said["data"] for topic, said in ear.heard if "/event/game" in topic and said["data"]["name"] == "paused"]
    assert [event["params"]["on"] for event in said] == [True, False]


async def test_a_parked_table_finishes_its_cycle_says_so_and_goes_on_where_it_was(
    parlor: Parlor, broker: PrivateBroker, ear: Ear, board: Board, running: Running, settings: Settings
) -> None:
    await start(broker, ear, board, hands=8)
    await parlor.does("park")
    state = await ear.until(TOPICS.state, lambda said: said["data"]["use"] == "closing")
    assert state["data"]["machine"]["sorting"] is not None
    board.finish()
    parked = await ear.available("parked")
    assert parked["data"]["reason"] == "command"
    state = await ear.until(TOPICS.state, lambda said: said["data"]["machine"]["sorting"] is None)
    assert state["data"]["match"]["number"] == 1 and state["data"]["use"] == "closing"
    assert await running.end() < 5
    again = await begin(settings)
    await ear.until(TOPICS.availability, lambda said: said["epoch"] == 2 and said["data"]["state"] == "parked")
    view = await ear.until(TOPICS.seat("N"), lambda view: view["epoch"] == 2)
    assert [want["verb"] for want in view["data"]["me"]["wants"]] == ["parked"]
    assert board.executed.total() == 1 and again.begun.state.session.match == 1
    await press(broker, ear, "N", "on", "parked", "unpark")
    assert (await ear.answer("N", "on"))["ok"]
    await ear.until(TOPICS.availability, lambda said: said["epoch"] == 2 and said["data"]["state"] == "ready")
    await ear.until(TOPICS.state, lambda said: said["epoch"] == 2 and said["data"]["use"] == "playing")
    await board.until(lambda: board.executed["WallsRaise"] == 1)
    await again.end()


async def test_who_parks_says_why_and_nobody_far_away_lets_it_go_on(
    parlor: Parlor, ear: Ear, broker: PrivateBroker, board: Board
) -> None:
    bad = await parlor.asks("park", reason="lunch")
    assert (bad["outcome"], bad["code"], bad["field"]) == ("rejected", "bad_value", "args.reason")
    await parlor.does("park", reason="time")
    assert (await ear.available("parked"))["data"]["reason"] == "time"
    assert await parlor.refused("park", on=False) == "parked"
    assert ear.latest[TOPICS.availability]["data"]["state"] == "parked"
    await press(broker, ear, "S", "on", "parked", "unpark")
    await ear.available("ready")


async def test_an_order_to_park_is_taken_back_before_the_table_has_come_to_rest(
    parlor: Parlor, broker: PrivateBroker, ear: Ear, board: Board
) -> None:
    await start(broker, ear, board, hands=8)
    await parlor.does("park")
    await ear.until(TOPICS.state, lambda said: said["data"]["use"] == "closing")
    await parlor.does("park", on=False)
    await ear.until(TOPICS.state, lambda said: said["data"]["use"] == "playing")
    board.say(serial.Key("service", "", 5000))
    await ear.until(TOPICS.state, lambda said: said["data"]["use"] == "closing")
    assert await parlor.refused("park", on=False) == "parked", "whoever has the key has said so for a reason"


async def test_the_service_key_held_long_parks_and_lets_go_on(
    parlor: Parlor, broker: PrivateBroker, ear: Ear, board: Board
) -> None:
    board.say(serial.Key("service", "", 4999))
    board.say(serial.Key("service", "", 5000))
    assert (await ear.available("parked"))["data"]["reason"] == "key"
    board.say(serial.Key("service", "", 6000))
    await ear.available("ready")
    said = [said["data"]["name"] for topic, said in ear.heard if "/event/machine" in topic]
    assert [name for name in said if "park" in name] == ["parking", "parked", "unparked"]


async def test_an_objection_is_decided_only_where_there_is_one(parlor: Parlor, settings: Settings) -> None:
    assert await parlor.refused("decide", choice="first", want="1.vote-1.1") == "no_objection"
    ended = await parlor.asks("decide", choice=2, want="1.vote-1.1")
    assert (ended["code"], ended["rule"], ended["expected"]) == ("no_objection", "P4", "")
    bad = await parlor.asks("decide", choice="third", want="1.vote-1.1")
    assert (bad["outcome"], bad["code"], bad["field"]) == ("rejected", "bad_value", "args.choice")
    bad = await parlor.asks("decide", choice="first")
    assert (bad["outcome"], bad["code"], bad["field"]) == ("rejected", "missing", "args.want")
    assert list(read_events(settings.journal.path)) == []


async def test_a_refusal_of_the_rules_is_answered_with_its_rule_and_params(
    parlor: Parlor, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask(happened: i.Input, cause: str | None = None) -> None:
        raise Refused("bad_number", "R41", {"what": "hands", "most": 10_000})

    monkeypatch.setattr(running.daemon._core, "ask", ask)
    ended = await parlor.asks("extend", hands=10_000)
    assert (ended["code"], ended["rule"], ended["params"]) == ("bad_number", "R41", {"what": "hands", "most": 10_000})
    assert ended["expected"] == ""


async def test_records_are_exported_by_as_many_as_fit(parlor: Parlor, running: Running) -> None:
    journal = running.begun.journal
    stamp = running.daemon._publisher._clock.stamp()
    texts = {hand: f"# hand {hand}\n" + "1m " * 700 for hand in range(1, 6)}
    for hand, text in texts.items():
        await journal.append([], stamp, 1, records=[NewRecord(1, hand, text)])
    await journal.append([], stamp, 1, records=[NewRecord(1, 2, None), NewRecord(1, 2, "again")])
    found: list[dict[str, Any]] = []
    following: int | None = 0
    while following is not None:
        result = await parlor.does("export", **{"from": following})
        found += result["records"]
        following = result["next"]
    assert [(one["number"], one["hand"], one["voided"]) for one in found] == [
        (1, 1, False), (2, 2, True), (3, 3, False), (4, 4, False), (5, 5, False), (6, 2, False),
    ]  # fmt: skip
    assert found[0]["text"] == texts[1] and found[-1]["text"] == "again"
    assert [one["hand"] for one in (await parlor.does("export", match=1, hand=2))["records"]] == [2, 2]
    assert (await parlor.does("export", match=2)) == {"records": [], "next": None}
    assert await parlor.refused("export", whole=True) == "no_match"
    assert await parlor.refused("export", whole=True, hand=2) == "bad_value"
    await journal.append([], stamp, 1, records=[NewRecord(2, 1, "x" * 9000)])
    (long,) = (await parlor.does("export", match=2))["records"]
    assert long["text"] is None and long["bytes"] == 9000


async def test_a_seat_looks_at_the_evening_and_nobody_else_hears_of_it(
    parlor: Parlor, broker: PrivateBroker, ear: Ear, board: Board, settings: Settings
) -> None:
    await start(broker, ear, board)
    events = len(list(read_events(settings.journal.path)))

    async def look(id: str, **params: Any) -> dict[str, Any] | None:
        body = {"id": id, "epoch": 1, "want": "", "action": "look", "params": params}
        await say(broker, f"{TABLE}-S", TOPICS.seat_input("S"), body)
        assert (await ear.answer("S", id))["ok"]
        sheet: dict[str, Any] | None = ear.latest[TOPICS.seat("S")]["data"]["me"]["sheet"]
        return sheet

    history = await look("h", what="history", page=3)
    assert history is not None and (history["rows"], history["page"], history["pages"]) == ([], 0, 1)
    statistics = await look("s", what="statistics")
    assert statistics is not None and statistics["players"]["2"]["seat"] == "S" and len(statistics["players"]) == 4
    assert (await look("r", what="record") or {})["missing"] == "no_record"
    assert (await look("d", what="hand", hand=7) or {})["missing"] == "no_hand"
    assert await look("n", what="none") is None
    assert ear.latest[TOPICS.seat("E")]["data"]["me"]["sheet"] is None
    assert len(list(read_events(settings.journal.path))) == events


async def test_the_record_of_a_match_is_exported_and_looked_at_before_its_first_hand(
    parlor: Parlor, broker: PrivateBroker, ear: Ear, board: Board
) -> None:
    await start(broker, ear, board, rules="new-xiamen-120", hands=8)
    found = await parlor.does("export", whole=True)
    assert (found["match"], found["page"], found["pages"], found["next"]) == (1, 0, 1, None)
    record = parse_match(found["text"])
    assert (record.number, record.rules, record.hands) == (1, "new-xiamen-120", 8)
    assert await parlor.refused("export", whole=True, match=2) == "no_match"
    assert await parlor.refused("export", whole=True, **{"from": 1}) == "bad_value"
    body = {"id": "m", "epoch": 1, "want": "", "action": "look", "params": {"what": "match"}}
    await say(broker, f"{TABLE}-W", TOPICS.seat_input("W"), body)
    assert (await ear.answer("W", "m"))["ok"]
    sheet = ear.latest[TOPICS.seat("W")]["data"]["me"]["sheet"]
    assert (sheet["what"], sheet["match"], sheet["page"], sheet["text"]) == ("match", 1, 0, found["text"])


async def test_a_look_at_nothing_known_is_refused(parlor: Parlor, broker: PrivateBroker, ear: Ear) -> None:
    """What may be looked at is told for programs: no sentence travels to a seat."""
    topics = Topics(TABLE)
    body = {"id": "l", "epoch": 1, "want": "", "action": "look", "params": {"what": "walls"}}
    await say(broker, f"{TABLE}-S", topics.seat_input("S"), body)
    answer = await ear.answer("S", "l")
    assert answer["code"] == "bad_value"
    allowed = ["history", "statistics", "hand", "record", "match", "none"]
    assert answer["params"] == {"field": "params.what", "allowed": allowed}
    await press(broker, ear, "S", "bad", "start", "start", rules="no-such-rules")
    answer = await ear.answer("S", "bad")
    assert (answer["code"], answer["params"]) == ("bad_rules", {"field": "rules"})


async def test_presses_beyond_those_that_may_wait_are_answered_busy(parlor: Parlor, running: Running, ear: Ear) -> None:
    core = running.daemon._core
    for number in range(MOST_PENDING + 3):
        core.seat_says("S", f"p-{number}", i.SeatAction("S", "1.claim-1.1", "pass", {}))
    codes = [answer["code"] for answer in core.answers.shown()["S"]]
    assert codes == ["busy"] * 3
    assert (await ear.answer("S", "p-31"))["code"] == "late"


async def test_metrics_tell_no_refusal_of_the_engine_from_another(parlor: Parlor, running: Running, ear: Ear) -> None:
    """Which rule a press breaks may follow from its tiles; that it comes late, or is no input at all, does not."""
    core = running.daemon._core

    def counted(outcome: str) -> float:
        return core._metrics.registry.get_sample_value("kaijin_inputs_total", {"outcome": outcome}) or 0.0

    before = counted("refused")
    core.seat_says("S", "e-1", i.SeatAction("S", "1.claim-1.1", "pass", {}))
    core.seat_says("S", "e-2", i.StartMatch("no-such-rules"))
    assert (await ear.answer("S", "e-1"))["code"] == "late" and (await ear.answer("S", "e-2"))["code"] == "bad_rules"
    assert counted("refused") == before + 2 and counted("bad_rules") == counted("late") == 0
    core.refuse("S", "e-3", "bad_value")
    assert counted("bad_value") == 1


async def test_stopping_takes_less_than_5_s_while_a_match_is_being_parked(
    parlor: Parlor, broker: PrivateBroker, ear: Ear, board: Board, running: Running
) -> None:
    await start(broker, ear, board)
    await parlor.does("park")
    began = time.monotonic()
    await running.end()
    assert time.monotonic() - began < 5
