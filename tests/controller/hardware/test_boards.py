"""Gears, memories and boards that change, and what a board tells by itself."""

from __future__ import annotations

import asyncio

import pytest

from controller.gear import Gear
from controller.operations import Limit
from engine import inputs
from engine.state import WantId
from engine.wants import Want
from protocol.serial import messages as serial
from protocol.serial.operations import OperationMemory
from tests.controller.board import Board
from tests.controller.hardware.rig import PRESENT, RAISE, ROLL, SORT, Notes, Start


async def test_while_the_gear_is_refused_nothing_is_sent_and_people_are_told(
    board: Board, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.gear.GEAR_AGAIN_S", 0.01)
    board.refuse_gear = "bad_argument"
    daemon = start(Notes())
    daemon.hardware.set_gear(Gear(144, (18, 18, 18, 18)))
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([SORT])
    assert await daemon.until(inputs.FaultRaised) == inputs.FaultRaised("gear_mismatch", "fault", "gear", "")
    await board.until(lambda: len(board.asked) >= 3)
    assert not board.executed and len(daemon.of(inputs.FaultRaised)) == 1
    board.refuse_gear = ""
    await daemon.until(inputs.OperationDone)
    assert daemon.of(inputs.FaultCleared) == [inputs.FaultCleared("gear_mismatch")]


async def test_a_board_that_sorts_is_waited_for_before_its_gear_is_changed(
    board: Board, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.gear.GEAR_AGAIN_S", 0.01)
    board.refuse_gear = "busy"
    daemon = start(Notes())
    daemon.hardware.set_gear(Gear(144, (18, 18, 18, 18)))
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([RAISE])
    await board.until(lambda: len(board.asked) >= 2)
    board.refuse_gear = ""
    await daemon.until(inputs.OperationDone)
    assert not daemon.of(inputs.FaultRaised)


async def test_the_gear_of_an_earlier_match_is_set_again(board: Board, start: Start) -> None:
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    for attempt, tiles in enumerate((144, 120, 144), 1):
        daemon.hardware.set_gear(Gear(tiles, (tiles // 8,) * 4))
        daemon.hardware.reconcile([Want(WantId(3, "sort", 1, attempt), "operation", "sort", params={"set": 1})])
        await daemon.until(inputs.OperationDone, attempt)
        assert board.gear[0] == tiles


@pytest.mark.parametrize("want", [ROLL, PRESENT, SORT])
async def test_a_board_whose_memory_outlives_a_reset_is_asked_again(board: Board, start: Start, want: Want) -> None:
    """The result came while nobody listened; the id is repeated, and nothing runs twice."""
    board.capabilities = serial.Capabilities(sensing="full", readers=True, memory="nonvolatile")
    board.hold = True
    notes = Notes()
    first = start(notes)
    first.hardware.reconcile([])
    first.hardware.reconcile([want])
    await board.until(lambda: sum(board.executed.values()) == 1)
    await first.end()
    board.finish()
    board.reboot()
    second = start(notes)
    second.hardware.reconcile([want])
    await second.until(inputs.OperationDone)
    assert sum(board.executed.values()) == 1 and not second.of(inputs.OperationUnknown)


async def test_another_board_in_its_place_remembers_nothing(board: Board, start: Start) -> None:
    board.capabilities = serial.Capabilities(sensing="full", readers=True, memory="nonvolatile")
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([ROLL])
    await board.until(lambda: board.executed["DiceRoll"] == 1)
    board.unplug()
    board.reboot()
    board.memory = OperationMemory()
    board.serial_number = "T2"
    board.dice = serial.DiceFaces(0, False)
    board.plug()
    await daemon.until(inputs.OperationUnknown)
    assert board.executed == {"DiceRoll": 1}


async def test_mechanisms_that_stand_half_way_for_ever_do_not_hold_the_hand(
    board: Board, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a reset in mid-movement the lift stands where it is: it is asked to go on."""
    monkeypatch.setattr("controller.hardware.LOOK_AGAIN_S", 0.01)
    monkeypatch.setattr("controller.hardware.LIMITS", {"centre_raise": Limit(0.05, "centre_limit_missing")})
    board.centre = "moving"
    daemon = start(Notes())
    daemon.hardware.reconcile([RAISE])
    await daemon.until(inputs.OperationDone)
    assert board.executed == {"CentreRaise": 1}


async def test_walls_that_are_up_are_not_a_failure_when_the_board_refuses(
    board: Board, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Raised before the daemon knew: an interlock refuses, and the mechanisms prove the want."""
    monkeypatch.setattr("controller.hardware.RESEND_REFUSED_S", 0.01)
    board.set_up = 1
    board.refuse = lambda operation: serial.OpRefused(operation.op, "interlock")
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([Want(WantId(3, "walls_raise", 0, 2), "operation", "walls_raise", params={"set": 1})])
    await daemon.until(inputs.OperationDone)
    assert not board.executed


async def test_a_want_that_is_gone_before_its_result_feeds_nothing(board: Board, start: Start) -> None:
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([SORT])
    await board.until(lambda: board.executed["SortStart"] == 1)
    daemon.hardware.reconcile([RAISE])
    board.finish()
    await board.until(lambda: board.executed["CentreRaise"] == 1)
    board.finish()
    done = await daemon.until(inputs.OperationDone)
    assert done.want == "3.centre_raise-0.1"


async def test_progress_is_shown_and_what_the_board_tells_becomes_inputs(board: Board, start: Start) -> None:
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([SORT])
    await board.until(lambda: board.executed["SortStart"] == 1)
    board.say(serial.OpProgress(board.memory.running[0], (7, 6, 5, 4), 9))
    board.say(serial.Zone("E", "hand", ("1m", "2m"), 90))
    board.say(serial.Key("dice", "", 80))
    assert await daemon.until(inputs.KeyPressed) == inputs.KeyPressed("dice", "")
    assert daemon.of(inputs.ZoneSeen) == [inputs.ZoneSeen("E", "hand", ("1m", "2m"), 90)]
    sorting = daemon.hardware.sorting
    assert sorting is not None and (sorting.set, sorting.tiles["W"], sorting.seconds) == (1, 5, 9)


async def test_lamps_are_lit_once_and_again_in_a_new_session(board: Board, start: Start) -> None:
    daemon = start(Notes())
    daemon.hardware.lamps.show((("E", 3, 4, "S"),))
    daemon.hardware.lamps.show((("E", 3, 4, "S"),))
    lamp = serial.Lamp("E", 2, 3, "S")
    await board.until(lambda: board.asked.count(lamp) == 1)
    board.unplug()
    board.plug()
    await board.until(lambda: board.asked.count(lamp) == 2)
    assert board.asked.count(serial.LampsOff()) == 2


async def test_a_foreign_board_is_refused_with_words(board: Board, start: Start) -> None:
    board.protocol = 9
    daemon = start(Notes())
    daemon.hardware.reconcile([RAISE])
    async with asyncio.timeout(10):
        while not daemon.line.refusal:
            await asyncio.sleep(0.01)
    assert "update the host" in daemon.line.refusal
    assert not daemon.line.ready and not board.executed


async def test_where_the_sets_lie_is_what_the_board_says(board: Board, start: Start) -> None:
    board.felt_sets, board.sorted_set = 0b10, 1
    daemon = start(Notes())
    async with asyncio.timeout(10):
        while not daemon.line.ready:
            await asyncio.sleep(0.01)
    assert await daemon.hardware.where_sets_are() == ("sorted", "felt")


async def test_a_board_that_stops_reading_is_given_up_and_found_again(board: Board, start: Start) -> None:
    """F2: the driver neither spins nor hangs; the link goes on when the board does."""
    daemon = start(Notes())
    daemon.hardware.reconcile([RAISE])
    await daemon.until(inputs.OperationDone)
    board.deaf = True
    daemon.hardware.reconcile([SORT])
    assert (await daemon.until(inputs.FaultRaised)).code == "link_lost"
    began = asyncio.get_running_loop().time()
    await daemon.end()
    assert asyncio.get_running_loop().time() - began < 1.0
