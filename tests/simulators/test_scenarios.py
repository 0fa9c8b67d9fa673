"""Scenarios: files that say what is wrong with them, and boards that do what they are ordered, at the moment named."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli.main import kaijin
from protocol.serial.events import LinkLost
from protocol.serial.messages import (
    CentreRaise,
    DiceFaces,
    DiceOutcome,
    DiceQuery,
    DiceRoll,
    FaultRaised,
    OpAccepted,
    OpResult,
    Ping,
    Pong,
    Sensors,
    SensorsQuery,
    SortOutcome,
    SortStart,
)
from simulators.channel import ActRefused, order
from simulators.minds.person import Person
from simulators.scenario import library
from simulators.scenario.director import Director, Happened
from simulators.scenario.manners import Manners
from simulators.scenario.model import KINDS, words_of
from simulators.scenario.reading import ScenarioError, parse_order, parse_scenario
from simulators.table import CONTROLS, SimulatedTable, TableConfig
from simulators.world import WorldError
from tests.simulators.host import Host, config, table_and_host


def scenario(text: str) -> Any:
    return parse_scenario(text, "test")


async def ready(host: Host) -> None:
    await host.identify()
    await host.set_gear()


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[fault", "a.toml: expected TOML"),
        ("seed = 1", "a.toml: expected at least one [[fault]]"),
        ('[[fault]]\naction = "fli"', "[[fault]] 1 (fli): there is no action 'fli'"),
        ('[[fault]]\naction = "fli"', "did you mean flip?"),
        ("[[fault]]\nbits = 1", "[[fault]] 1: action is missing"),
        ('[[fault]]\naction="reboot"\n[[fault]]\naction="flip"\nbits=99', "[[fault]] 2 (flip) bits: expected less"),
        ('[[fault]]\naction = "flip"\nbit = 9', "[[fault]] 1 (flip) bit: there is no such word here"),
        ('[[fault]]\naction = "misread"', "[[fault]] 1 (misread) seat: is missing"),
        ('[[fault]]\naction = "fail"\noperation = "sorting"', "operation 'sorting': expected one of centre_raise"),
        ('[[fault]]\naction = "fail"\noperation = "sort"\nfault = "x"', "(fail) fault: expected 'sort_timeout'"),
        ('[[fault]]\naction = "reboot"\nwhen = {}', "(reboot) when: expected a trigger: at, every, frame"),
        ('[[fault]]\naction = "reboot"\nwhen = { at = 1, phase = "play" }', "one trigger expected, got phase and at"),
        ('[[fault]]\naction = "reboot"\nwhen = { at = 1, nth = 2 }', "nth and each count moments"),
        ('[[fault]]\naction = "reboot"\nwhen = { phase = "play", chance = 0.5, nth = 3 }', "in the place of nth"),
        ('[[fault]]\naction = "reboot"\nwhen = { frame = "out", message = "Pang" }', "message 'Pang': expected one of"),
        ('[[fault]]\naction = "reboot"\ncount = -1', "count: expected greater than or equal to 0, got -1"),
        ('[[fault]]\naction = "mistake"\nmistake = "cheat"', "mistake 'cheat': expected one of forget_flower"),
        ('[[fault]]\naction = "mistake"\nmistake = "away"\nwhen = { at = 1 }', "hand and chance alone, got at"),
        ('[about]\ntitle = "x"\n[[fault]]\naction = "reboot"', "[about] players: is missing"),
        ('seed = "many"\n[[fault]]\naction = "reboot"', "seed: expected a valid integer"),
    ],
)
def test_a_wrong_file_says_where_and_what_was_expected(text: str, words: str) -> None:
    with pytest.raises(ScenarioError) as error:
        parse_scenario(text, "a.toml")
    assert words in str(error.value)
    assert str(error.value).startswith("a.toml: ")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"none\.toml: No such file"):
        library.find_scenario(str(tmp_path / "none.toml"))
    with pytest.raises(ScenarioError, match="there is no scenario 'loose_plugs'; expected one of brown_out_loop"):
        library.find_scenario("loose_plugs")


@pytest.mark.parametrize("name", library.names())
def test_every_shipped_scenario_says_what_players_see_and_what_the_table_does(name: str) -> None:
    about = library.shipped(name).about
    assert about is not None and len(about.players) > 6 and len(about.table) > 20


def test_the_shipped_scenarios_are_those_that_repairers_ask_for() -> None:
    assert set(library.names()) >= {
        *("forgotten_tile", "dirty_eye", "dying_motor", "loose_plug", "brown_out_loop", "noisy_line", "wrong_gear"),
        *("mixed_sets", "rigged_dice", "slow_card", "careless_people", "power_cut_in_throw"),
    }


def test_every_action_can_be_ordered_live() -> None:
    assert set(CONTROLS) == {*KINDS, "summary"}
    needed: Mapping[str, Mapping[str, Any]] = {
        "fail": {"operation": "sort"},
        "slow": {"movement": "sort"},
        "stuck_sensor": {"sensor": "eye_E"},
        "fault": {"code": "eye_dirty"},
        "misread": {"seat": "E"},
        "press": {"key": "lift"},
        "mistake": {"mistake": "away"},
    }
    for action, kind in KINDS.items():
        assert {name for name, value in words_of(kind).items() if value is ...} == set(needed.get(action, {})), action
        assert parse_order({"action": action, **needed.get(action, {})}).action == action


def test_the_library_is_listed_and_shown() -> None:
    listed = CliRunner().invoke(kaijin, ["simulate", "scenarios"])
    assert [line.split()[0] for line in listed.output.splitlines()] == list(library.names())
    shown = CliRunner().invoke(kaijin, ["simulate", "scenarios", "loose_plug"])
    assert parse_scenario(shown.output, "shown") == library.shipped("loose_plug")
    actions = CliRunner().invoke(kaijin, ["simulate", "scenarios", "--actions"]).output
    assert all(f"\n{name} " in f"\n{actions}" for name in KINDS)


# --- what the board is made to do -------------------------------------------------------------------------------------


async def test_between_the_throw_and_its_answer_the_power_goes(tmp_path: Path) -> None:
    """The dice lie there, the board has forgotten them: the answer never comes, the faces can be read."""
    cut = scenario('[[fault]]\naction = "power_cut"\nseconds = 0.2\nwhen = {operation="dice_roll", point="ended"}')
    async with table_and_host(tmp_path, scenario=cut) as (table, host):
        await ready(host)
        host.send(DiceRoll(host.new_op()))
        # That it was accepted may be lost with the power as well.
        await _until(lambda: table.mcu.board.boots == 2)
        assert table.world.throws == 1 and table.world.lying is not None
        host.close()
        host.open()
        await host.identify()
        host.send(DiceQuery(host.next_req()))
        assert (await host.until(DiceFaces)).dice == table.world.lying.dice
    assert not any(isinstance(message, OpResult) for message in host.heard)
    assert table.summary()["ordered"] == {"power_cut": 1} and table.summary()["thrown_again"] == 0


async def _until(condition: Any) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    "fault",
    [
        'action = "flip"\nbits = 3\ncount = 0\nwhen = { frame = "out", message = "OpResult", each = 2 }',
        'action = "drop"\ncount = 3\nwhen = { frame = "out", message = "OpResult", each = 1 }',
        'action = "half"\ncount = 3\nwhen = { frame = "in", message = "DiceRoll", each = 1 }\ndirection = "in"',
        'action = "insert"\ncount = 3\nwhen = { frame = "out", message = "OpAccepted", each = 1 }',
        'action = "duplicate"\ncount = 0\ndirection = "in"\nwhen = { frame = "in", each = 1 }',
        'action = "garbage"\ncount = 0\nwhen = { operation = "dice_roll", each = 1 }',
        'action = "delay"\nseconds = 0.2\ncount = 2\nwhen = { operation = "dice_roll", each = 1 }',
        'action = "drip"\ngap_ms = 1\nseconds = 0.3\nwhen = { operation = "dice_roll" }',
        'action = "echo"\nseconds = 0.5',
        'action = "nak_storm"\nwhen = { operation = "dice_roll", nth = 2 }',
        'action = "twice"\nmessages = 4',
        'action = "wrong_op"\nmessages = 4',
    ],
    ids=lambda text: text.split('"')[1],
)
async def test_a_line_that_is_spoilt_brings_every_answer_once_and_rightly(tmp_path: Path, fault: str) -> None:
    told: list[Happened] = []
    settings = config(tmp_path, scenario=scenario(f"[[fault]]\n{fault}"))
    async with SimulatedTable(settings, told.append) as table:
        host = Host(tmp_path / "serial")
        host.open()
        try:
            await ready(host)
            for number in range(1, 5):
                op = host.new_op()
                host.send(DiceRoll(op))
                while (result := await host.until(OpResult)).op != op:
                    pass
                assert DiceOutcome.unpack(result.values).dice is not None
                assert table.world.throws == number
        finally:
            host.close()
    assert told and not any(one.not_done for one in told)
    assert table.summary()["thrown_again"] == 0


async def test_an_answer_that_is_swallowed_is_given_when_it_is_asked_for_again(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, scenario=scenario('[[fault]]\naction = "swallow"')) as (table, host):
        await ready(host)
        op = host.new_op()
        host.send(DiceRoll(op))
        await host.until(OpAccepted)
        await _until(lambda: table.world.throws == 1 and not table.mcu.mechanisms.running["dice_roll"])
        host.send(DiceRoll(op))
        assert (await host.until(OpResult)).op == op
        assert table.world.throws == 1 and table.summary()["repeated"] == 1


async def test_an_answer_that_comes_late_is_still_the_right_one(tmp_path: Path) -> None:
    late = scenario('[[fault]]\naction = "late"\nmessage = "Pong"\nseconds = 0.3')
    async with table_and_host(tmp_path, scenario=late) as (_, host):
        await ready(host)
        first, second = host.next_req(), host.next_req()
        host.send(Ping(first))
        host.send(Ping(second))
        assert [(await host.until(Pong)).req for _ in range(2)] == [second, first]


@pytest.mark.parametrize(("fault", "reason"), [("silence", "silence"), ("no_ack", "no_answer"), ("freeze", "silence")])
async def test_a_board_that_is_not_heard_is_noticed_and_comes_back(tmp_path: Path, fault: str, reason: str) -> None:
    async with table_and_host(tmp_path) as (table, host):
        await ready(host)
        ordered = asyncio.create_task(order(table.world_address, fault, {"seconds": 5 if fault == "no_ack" else 2.6}))
        await asyncio.sleep(0)
        if fault == "no_ack":
            await ordered
            host.send(Ping(host.next_req()))
        lost = await host.until(LinkLost)
        assert lost.reason == reason
        await ordered
        await host.identify()


async def test_a_board_that_stops_reading_fills_the_line_and_reads_all_later(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host):
        await ready(host)
        await order(table.world_address, "stop_reading", {"seconds": 0.4})
        request = host.next_req()
        host.send(Ping(request))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await host.until(Pong)
        assert (await host.until(Pong)).req == request


async def test_a_movement_fails_at_the_side_that_is_named_and_then_works(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host):
        await ready(host)
        await order(table.world_address, "fail", {"operation": "sort", "fault": "head_jam", "side": "W", "times": 2})
        for _ in range(2):
            result = await host.run(SortStart, set_no=1)
            assert (result.outcome, result.fault, result.side) == ("failed", "head_jam", "W")
        assert (await host.run(SortStart, set_no=1)).outcome == "done"


async def test_a_tile_forgotten_by_order_is_missing_at_its_side(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, scenario=library.shipped("forgotten_tile")) as (table, host):
        await ready(host)
        result = await host.run(SortStart, set_no=1)
        assert SortOutcome.unpack(result.values).tiles == (30, 29, 30, 30)
        assert [seat for seat, _ in table.world.forgotten] == ["S"]


async def test_dice_lean_and_a_sensor_sticks_by_order(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host):
        await ready(host)
        await order(table.world_address, "cocked_dice", {"throws": 1})
        await order(table.world_address, "stuck_sensor", {"sensor": "centre_down"})
        assert DiceOutcome.unpack((await host.run(DiceRoll)).values).quality == "cocked"
        assert DiceOutcome.unpack((await host.run(DiceRoll)).values).quality == "clean"
        host.send(SensorsQuery(host.next_req()))
        stuck = (await host.until(Sensors)).bits
        await order(table.world_address, "heal", {})
        host.send(SensorsQuery(host.next_req()))
        assert (await host.until(Sensors)).bits ^ stuck == 1 << 1


async def test_a_movement_is_slowed_down(tmp_path: Path) -> None:
    slow = scenario('[[fault]]\naction = "slow"\nmovement = "centre_up"\nfactor = 10')
    async with table_and_host(tmp_path, scenario=slow) as (table, host):
        await ready(host)
        assert (await host.run(CentreRaise)).outcome == "done"
        assert table.mcu.mechanisms.usual_ms("centre_up") > 9_000


async def test_lid_and_stop_button_come_and_go_by_themselves(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host):
        await ready(host)
        await order(table.world_address, "lid", {"seconds": 0.2})
        assert (await host.until(FaultRaised)).code == "lid_open"
        assert await host.refused(CentreRaise) == "interlock"
        await _until(lambda: not table.mcu.mechanisms.lid_open)
        await order(table.world_address, "stop_button", {"seconds": 0.2})
        assert await host.refused(CentreRaise) == "latched"
        await _until(lambda: not table.mcu.stop_button)


async def test_an_order_may_wait_for_its_moment(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host):
        await ready(host)
        await order(table.world_address, "reboot", {"when": {"operation": "sort", "point": "ended"}})
        assert table.mcu.board.boots == 1
        host.send(SortStart(host.new_op(), set_no=1))
        await _until(lambda: table.mcu.board.boots == 2)
        assert table.world.sorts == 1


async def test_what_cannot_be_ordered_is_said(tmp_path: Path) -> None:
    async with SimulatedTable(config(tmp_path)) as table:
        for verb, words, told in (
            ("flip", {"bits": 0}, r"\(flip\) bits: expected greater than or equal to 1"),
            ("explode", {}, "control 'explode'"),
            ("unplug", {"seconds": "soon"}, r"\(unplug\) seconds: expected a valid number"),
            ("misread", {"seat": "E", "kind": "missing"}, "no readers"),
            ("flip", {"board": "dice"}, "no board dice"),
            ("mistake", {"mistake": "away"}, "simulate players"),
        ):
            with pytest.raises(ActRefused, match=told):
                await order(table.world_address, verb, words)


async def test_the_command_orders_what_it_is_told(tmp_path: Path) -> None:
    async with SimulatedTable(config(tmp_path)) as table:
        command = ["simulate", "fault", "--world", table.world_address]
        done = await asyncio.to_thread(CliRunner().invoke, kaijin, [*command, "forgotten_tile", "side=W", "tiles=2"])
        assert done.exit_code == 0, done.output
        assert [(one.side, one.count) for one in table.world.missing] == [("W", 2)]
        told = await asyncio.to_thread(CliRunner().invoke, kaijin, [*command, "summary"])
        assert json.loads(told.output)["ordered"] == {"forgotten_tile": 1}
        wrong = await asyncio.to_thread(CliRunner().invoke, kaijin, [*command, "unplug", "seconds"])
        assert wrong.exit_code == 2 and "expected WORD=VALUE" in wrong.output


# --- chance -----------------------------------------------------------------------------------------------------------


async def spoilt(folder: Path, seed: int, pings: int) -> list[str]:
    """The moments at which a line with chance in it is spoilt while dice are thrown, with pings between."""
    folder.mkdir()
    told: list[Happened] = []
    file = scenario('[[fault]]\naction = "drop"\ncount = 0\nwhen = {frame="out", message="OpResult", chance=0.4}')
    async with SimulatedTable(config(folder, scenario=file, scenario_seed=seed), told.append):
        host = Host(folder / "serial")
        host.open()
        try:
            await ready(host)
            for _ in range(12):
                for _ in range(pings):
                    host.send(Ping(host.next_req()))
                await host.run(DiceRoll)
        finally:
            host.close()
    return [one.moment for one in told]


async def test_the_same_seed_spoils_the_same_messages_whatever_passes_between(tmp_path: Path) -> None:
    first = await spoilt(tmp_path / "a", 3, 0)
    again = await spoilt(tmp_path / "b", 3, 4)
    other = await spoilt(tmp_path / "c", 4, 0)
    shared = min(len(first), len(again))
    assert shared >= 2 and first[:shared] == again[:shared] and first[:shared] != other[:shared]


def test_people_err_in_the_hand_and_at_the_seat_that_is_named() -> None:
    manners = Manners.of(
        scenario(
            '[[fault]]\naction = "mistake"\nmistake = "object"\nseat = "N"\nwhen = { hand = 2 }\n'
            '[[fault]]\naction = "mistake"\nmistake = "away"\nwhen = { chance = 0.3 }'
        )
    )
    people = {seat: Person(seat, 1, ordered=manners.errs) for seat in "ESWN"}
    objecting = [(seat, hand) for seat in "ESWN" for hand in range(1, 5) if people[seat].errs("object", hand)]
    assert objecting == [("N", 2)]
    away = sum(people["E"].errs("away", hand, "key") for hand in range(1000))
    assert 200 < away < 400
    assert not any(people["E"].errs("double_press", hand) for hand in range(100))


def test_moments_are_those_that_the_file_names(tmp_path: Path) -> None:
    """nth, each, hand and count, against a list of moments."""
    file = scenario(
        '[[fault]]\naction = "twice"\ncount = 2\nwhen = { operation = "sort", nth = 2, each = 3 }\n'
        '[[fault]]\naction = "swallow"\ncount = 0\nwhen = { operation = "sort", point = "ended", hand = 1 }\n'
    )
    told: list[str] = []

    def listen(happened: Happened) -> None:
        told.append(f"{happened.action} {happened.moment}")

    async def play() -> None:
        table = SimulatedTable(config(tmp_path, scenario=file), listen)
        director: Director = table.director
        director.start()
        for number in range(1, 12):
            table.world.raised = number // 4
            director.moment("begun", "sort")
            director.moment("ended", "sort")
        await director.stop()

    asyncio.run(play())
    assert [line for line in told if line.startswith("twice")] == ["twice begun sort 2", "twice begun sort 5"]
    assert [line for line in told if line.startswith("swallow")] == [f"swallow ended sort {n}" for n in range(4, 8)]


def test_a_table_without_a_second_board_says_so(tmp_path: Path) -> None:
    async def play() -> list[str]:
        told: list[str] = []
        file = scenario('[[fault]]\naction = "reboot"\nboard = "dice"\nwhen = { hand = 1 }')
        settings: TableConfig = config(tmp_path, scenario=file)
        table = SimulatedTable(settings, lambda happened: told.append(happened.not_done))
        table.director.start()
        with pytest.raises(WorldError):
            await table.director.order(parse_order({"action": "reboot", "board": "dice"}))
        table.world.raised = 1
        table.director.changed()
        await table.director.stop()
        return told

    assert asyncio.run(play()) == ["board: this table has no board dice"]
