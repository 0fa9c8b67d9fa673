"""The emergency stop and the faults that a board reports."""

from __future__ import annotations

import asyncio

import pytest

from controller.gear import Gear
from engine import inputs
from engine.state import Fault
from engine.wants import Want
from protocol.serial import messages as serial
from tests.controller.board import Board
from tests.controller.hardware.rig import CLEAR, PRESENT, RAISE, ROLL, SORT, Notes, Start


async def test_while_a_stop_is_latched_nothing_is_asked(board: Board, start: Start) -> None:
    board.stop_reason = "button"
    daemon = start(Notes())
    daemon.hardware.reconcile([RAISE])
    assert await daemon.until(inputs.StopLatched) == inputs.StopLatched("button")
    assert board.executed["CentreRaise"] == 0
    board.stop_reason = ""
    board.say(serial.StopCleared())
    await daemon.until(inputs.OperationDone)


async def test_a_stop_in_mid_throw_and_a_reset_do_not_throw_twice(board: Board, start: Start) -> None:
    """The stop hides nothing: the note of the throw is kept, and after it is cleared the dice are read."""
    board.hold = True
    notes = Notes()
    daemon = start(notes)
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([ROLL])
    await board.until(lambda: board.executed["DiceRoll"] == 1)
    board.say(serial.StopLatched("button"))
    await daemon.until(inputs.StopLatched)
    daemon.hardware.reconcile([], "button")
    daemon.hardware.reconcile([ROLL], "button")
    await asyncio.sleep(0)
    assert notes.meta("throw:3.dice_roll-1.1")
    board.unplug()
    board.reboot()
    board.dice = serial.DiceFaces(0, True, (2, 5))
    board.plug()
    await board.until(lambda: board.stop_reason == "button")
    assert not daemon.of(inputs.StopCleared), "the board has forgotten the stop; nobody has cleared it"
    daemon.hardware.reconcile([ROLL, CLEAR], "button")
    await daemon.until(inputs.StopCleared)
    daemon.hardware.reconcile([ROLL])
    assert (await daemon.until(inputs.OperationDone)).result["dice"] == [2, 5]
    assert board.executed == {"DiceRoll": 1}


@pytest.mark.parametrize("want", [ROLL, PRESENT])
async def test_what_ran_before_daemon_and_board_began_anew_under_a_stop_is_not_sent_again(
    board: Board, start: Start, want: Want
) -> None:
    """The board comes back latched, both times that the daemon starts; then people clear the stop."""
    board.hold = True
    notes = Notes()
    first = start(notes)
    first.hardware.reconcile([])
    first.hardware.reconcile([want])
    await board.until(lambda: sum(board.executed.values()) == 1)
    await first.end()
    board.reboot()
    board.stop_reason = "button"
    for _ in range(2):
        again = start(notes)
        again.hardware.reconcile([want], "button")
        await again.heard_out()
        await again.end()
    last = start(notes)
    last.hardware.reconcile([], "button")
    last.hardware.reconcile([want], "button")
    await last.heard_out()
    last.hardware.reconcile([want, CLEAR], "button")
    await last.until(inputs.StopCleared)
    last.hardware.reconcile([want])
    await last.until(inputs.OperationUnknown)
    assert sum(board.executed.values()) == 1


async def test_under_a_stop_nothing_new_is_sent_and_nothing_is_forgotten(board: Board, start: Start) -> None:
    """The engine holds the stop although no board does: the board is latched too, what is wanted waits for people."""
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    await daemon.heard_out()
    daemon.hardware.reconcile([RAISE], "button")
    await daemon.heard_out()
    assert not board.executed and board.stop_reason == "button"
    daemon.hardware.reconcile([RAISE, CLEAR], "button")
    await daemon.until(inputs.StopCleared)
    daemon.hardware.reconcile([RAISE])
    await daemon.until(inputs.OperationDone)
    assert board.executed == {"CentreRaise": 1}


async def test_what_is_first_seen_under_a_stop_may_have_been_sent_before(board: Board, start: Start) -> None:
    """Wants of an earlier run that a stop hid at the start: nobody knows, so nothing is sent blindly."""
    daemon = start(Notes())
    daemon.hardware.reconcile([], "button")
    daemon.hardware.reconcile([PRESENT], "button")
    daemon.hardware.reconcile([PRESENT])
    await daemon.until(inputs.OperationUnknown)
    assert not board.executed


async def test_a_board_that_began_anew_in_another_gear_is_set_again(board: Board, start: Start) -> None:
    daemon = start(Notes())
    daemon.hardware.set_gear(Gear(144, (18, 18, 18, 18)))
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([SORT])
    await daemon.until(inputs.OperationDone)
    board.unplug()
    board.reboot()
    board.gear = (0, (0, 0, 0, 0))
    board.plug()
    daemon.hardware.reconcile([RAISE])
    await daemon.until(inputs.OperationDone, 2)
    assert board.gear == (144, (18, 18, 18, 18))


async def test_a_stop_is_cleared_when_people_ask_for_it(board: Board, start: Start) -> None:
    board.stop_reason = "button"
    daemon = start(Notes())
    daemon.hardware.reconcile([RAISE])
    await daemon.until(inputs.StopLatched)
    daemon.hardware.reconcile([RAISE], "button")
    await daemon.heard_out()
    assert not board.asked
    daemon.hardware.reconcile([RAISE, CLEAR], "button")
    await daemon.until(inputs.StopCleared)
    assert daemon.of(inputs.StopCleared) == [inputs.StopCleared()]
    assert [type(message) for message in board.asked] == [serial.ClearStop] and not board.executed
    daemon.hardware.reconcile([RAISE])
    await daemon.until(inputs.OperationDone)


async def test_while_the_cause_of_a_stop_stands_it_is_told_again_and_cleared_later(
    board: Board, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.stops.CLEAR_AGAIN_S", 0.01)
    board.stop_reason = "button"
    board.button_in = True
    daemon = start(Notes())
    daemon.hardware.reconcile([], "button")
    daemon.hardware.reconcile([CLEAR], "button")
    assert await daemon.until(inputs.StopLatched) == inputs.StopLatched("button")
    assert not daemon.of(inputs.StopCleared)
    board.button_in = False
    await daemon.until(inputs.StopCleared)


async def test_a_stop_that_nobody_asks_to_clear_any_more_is_left_alone(
    board: Board, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.stops.CLEAR_AGAIN_S", 0.01)
    board.stop_reason = "button"
    board.button_in = True
    daemon = start(Notes())
    daemon.hardware.reconcile([CLEAR], "button")
    await daemon.until(inputs.StopLatched)
    daemon.hardware.reconcile([], "button")
    await daemon.heard_out()
    asked = len(board.asked)
    board.button_in = False
    await asyncio.sleep(0.1)
    await daemon.heard_out()
    assert len(board.asked) == asked and not daemon.of(inputs.StopCleared)


async def test_asked_to_clear_a_stop_that_no_board_holds_the_engine_is_told(board: Board, start: Start) -> None:
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    await daemon.heard_out()
    daemon.hardware.reconcile([CLEAR], "button")
    await daemon.until(inputs.StopCleared)


def held(*codes: str) -> list[Fault]:
    return [Fault(code, "fault", "", "") for code in codes]


async def test_faults_that_stand_no_more_are_cleared_at_the_handshake(board: Board, start: Start) -> None:
    """A fault from before the daemon's start, a board's own whose end was missed, and one that still stands."""
    board.standing = [serial.FaultRaised("lid_open", "warning", "lid", "")]
    daemon = start(Notes())
    daemon.hardware.reconcile([], "", held("link_lost", "head_jam", "lid_open", "gear_mismatch"))
    await daemon.until(inputs.FaultCleared, 3)
    await daemon.heard_out()
    cleared = {fault.code for fault in daemon.of(inputs.FaultCleared)}
    assert cleared == {"link_lost", "head_jam", "gear_mismatch"}
    assert daemon.of(inputs.FaultRaised) == [inputs.FaultRaised("lid_open", "warning", "lid", "")]


async def test_faults_stay_while_the_board_has_not_been_heard(board: Board, start: Start) -> None:
    board.unplug()
    daemon = start(Notes())
    daemon.hardware.reconcile([], "", held("link_lost", "head_jam"))
    await asyncio.sleep(0.2)
    assert not daemon.of(inputs.FaultCleared)
    board.plug()
    await daemon.until(inputs.FaultCleared, 2)


async def test_a_fault_that_comes_and_goes_is_told_as_the_board_tells_it(board: Board, start: Start) -> None:
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    await daemon.heard_out()
    board.say(serial.FaultRaised("eye_dirty", "warning", "eye", "N"))
    await daemon.until(inputs.FaultRaised)
    daemon.hardware.reconcile([], "", [Fault("eye_dirty", "warning", "eye", "N")])
    await daemon.heard_out()
    assert not daemon.of(inputs.FaultCleared)
    board.say(serial.FaultCleared("eye_dirty", "N"))
    assert await daemon.until(inputs.FaultCleared) == inputs.FaultCleared("eye_dirty", "N")


async def test_progress_of_something_else_than_a_sort_and_what_comes_behind_it(board: Board, start: Start) -> None:
    """The message behind it in the same read has been acknowledged: it must not be lost."""
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([RAISE])
    await board.until(lambda: board.executed["CentreRaise"] == 1)
    board.say(serial.OpProgress(board.memory.running[0], (1, 1, 1, 1), 2))
    board.say(serial.Key("lift", "", 80))
    assert await daemon.until(inputs.KeyPressed) == inputs.KeyPressed("lift", "")
    assert daemon.hardware.sorting is None and daemon.line.failures == 0


async def test_a_message_that_the_daemon_fails_on_costs_itself_alone(board: Board, start: Start) -> None:
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    await daemon.heard_out()

    def broken(key: str, seat: str, pressed_ms: int) -> bool:
        raise KeyError("a mistake")

    daemon.hardware.on_key = broken
    board._link.send(serial.Key("lift", "", 80))
    board._link.send(serial.Key("dice", "", 80))
    board._link.send(serial.Zone("E", "hand", ("1m",), 90))
    board._pump()
    assert await daemon.until(inputs.ZoneSeen) == inputs.ZoneSeen("E", "hand", ("1m",), 90)
    assert daemon.line.failures == 2 and not daemon.of(inputs.KeyPressed)
