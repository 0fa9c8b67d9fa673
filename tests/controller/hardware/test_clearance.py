"""What the daemon does not send, and what it does once it may: lid, mechanisms in the way, lost switches, stops."""

from __future__ import annotations

import asyncio

import pytest

from engine import inputs
from engine.state import Fault, WantId
from engine.wants import Want
from protocol.serial import messages as serial
from tests.controller.board import Board
from tests.controller.hardware.rig import CLEAR, PRESENT, RAISE, ROLL, SORT, Notes, Start

WALLS = Want(WantId(3, "walls_raise"), "operation", "walls_raise", params={"set": 1})
BY_WORD = Want(WantId(3, "walls_raise"), "operation", "walls_raise", params={"set": 1, "by_word": True})
LOWER = Want(WantId(3, "centre_lower"), "operation", "centre_lower")
LID = serial.FaultRaised("lid_open", "fault", "lid", "")
SWITCH = serial.FaultRaised("centre_limit_missing", "fault", "centre", "")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controller.clearance.LOOK_AGAIN_S", 0.02)
    monkeypatch.setattr("controller.clearance.BORNE_S", 0.1)


@pytest.mark.parametrize("want", [RAISE, LOWER, WALLS, SORT, ROLL, PRESENT], ids=lambda want: want.verb)
async def test_nothing_is_sent_that_moves_while_the_lid_is_open(board: Board, start: Start, want: Want) -> None:
    """Not even noted: a throw that was never sent is not one that nobody knows of."""
    board.standing = [LID]
    board.sorted_set = 1
    notes = Notes()
    daemon = start(notes)
    await daemon.until(inputs.FaultRaised)
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([want], "", [Fault("lid_open", "fault", "lid", "")])
    await asyncio.sleep(0.2)
    await daemon.heard_out()
    assert not board.executed and not [key for key in notes.values if key.startswith(("throw", "sent"))]
    board.say(serial.FaultCleared("lid_open"))
    await daemon.until(inputs.OperationDone)
    assert sum(board.executed.values()) == 1


async def test_a_lid_opened_between_asking_and_moving_is_waited_for_too(board: Board, start: Start) -> None:
    """The board refuses; the daemon does not count that as a failure while the lid is open."""
    board.refuse = lambda operation: serial.OpRefused(operation.op, "interlock") if board.standing else None
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    await daemon.heard_out()
    board.standing = [LID]
    daemon.hardware.reconcile([RAISE])
    await board.until(lambda: board.memory is not None)
    board.say(LID)
    await daemon.until(inputs.FaultRaised)
    await asyncio.sleep(0.3)
    assert not daemon.of(inputs.OperationFailed)
    board.standing = []
    board.say(serial.FaultCleared("lid_open"))
    await daemon.until(inputs.OperationDone)


async def test_a_centre_does_not_move_against_walls_and_people_are_told(board: Board, start: Start) -> None:
    board.walls = "up"
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([RAISE])
    assert await daemon.until(inputs.OperationFailed) == inputs.OperationFailed("3.centre_raise-0.1", "interlock")
    assert not board.executed


async def test_the_fault_behind_is_told_where_it_is_known(board: Board, start: Start) -> None:
    board.walls = "unknown"
    board.standing = [serial.FaultRaised("wall_not_home", "fault", "walls", "W")]
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    await daemon.until(inputs.FaultRaised)
    daemon.hardware.reconcile([RAISE])
    assert (await daemon.until(inputs.OperationFailed)).fault == "wall_not_home"


async def test_lifts_that_are_coming_home_are_waited_for(board: Board, start: Start) -> None:
    board.walls = "moving"
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([RAISE])
    await asyncio.sleep(0.05)
    assert not board.executed
    board.walls = "down"
    await daemon.until(inputs.OperationDone)


async def test_nothing_is_sorted_below_a_centre_that_no_switch_shows(board: Board, start: Start) -> None:
    board.centre = "unknown"
    board.standing = [SWITCH]
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    await daemon.until(inputs.FaultRaised)
    daemon.hardware.reconcile([SORT])
    assert (await daemon.until(inputs.OperationFailed)).fault == "centre_limit_missing"
    assert not board.executed


async def test_peoples_word_is_told_to_the_board_before_the_walls_rise(board: Board, start: Start) -> None:
    board.centre, board.sorted_set = "unknown", 1
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([BY_WORD])
    await daemon.until(inputs.OperationDone)
    assert [type(message) for message in board.asked] == [serial.VouchCentre, serial.WallsRaise]


@pytest.mark.parametrize("knows", [True, False])
async def test_a_board_that_does_not_take_the_word_moves_nothing(
    board: Board, start: Start, monkeypatch: pytest.MonkeyPatch, knows: bool
) -> None:
    """It says no, or it is of an earlier contract and says nothing at all."""
    monkeypatch.setattr("controller.clearance.QUERY_TIMEOUT_S", 0.3)
    board.centre, board.sorted_set = "unknown", 1
    board.vouch = "no" if knows else "silent"
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([BY_WORD])
    assert (await daemon.until(inputs.OperationFailed)).fault == "centre_limit_missing"
    assert not board.executed and daemon.line.ready


@pytest.mark.parametrize("want", [RAISE, LOWER, WALLS], ids=lambda want: want.verb)
async def test_after_a_restart_what_no_switch_shows_is_asked_of_people(board: Board, start: Start, want: Want) -> None:
    """The board has forgotten and cannot see: never guessed, never sent again unasked."""
    board.hold = True
    board.sorted_set = 1
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([want])
    await board.until(lambda: sum(board.executed.values()) == 1)
    board.unplug()
    board.reboot()
    board.centre = board.walls = "unknown"
    board.plug()
    assert await daemon.until(inputs.OperationUnknown) == inputs.OperationUnknown(str(want.id))
    assert sum(board.executed.values()) == 1


async def test_a_group_whose_result_never_comes_is_asked_of_people(
    board: Board, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    from controller.operations import Limit

    monkeypatch.setattr("controller.hardware.LIMITS", {"present_group": Limit(0.3, "single_tile_push")})
    monkeypatch.setattr("controller.hardware.QUERY_TIMEOUT_S", 0.1)
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([PRESENT])
    await daemon.until(inputs.OperationUnknown)
    assert board.executed == {"PresentGroup": 1}


@pytest.mark.parametrize("again", ["the line", "the daemon"])
async def test_a_group_that_was_pushed_is_no_failure_because_the_centre_cannot_be_seen_since(
    board: Board, start: Start, again: str
) -> None:
    """A failure would be tried again under another id, which pushes a second group."""
    board.hold = True
    notes = Notes()
    daemon = start(notes)
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([PRESENT])
    await board.until(lambda: board.executed["PresentGroup"] == 1)
    board.unplug()
    if again == "the daemon":
        await daemon.end()
    board.finish()
    board.centre = "unknown"
    if again == "the daemon":
        daemon = start(notes)
        daemon.hardware.reconcile([PRESENT])
    board.plug()
    assert await daemon.until(inputs.OperationDone) == inputs.OperationDone(str(PRESENT.id), {})
    assert board.executed == {"PresentGroup": 1} and not daemon.of(inputs.OperationFailed)


async def test_a_group_that_the_board_never_heard_of_is_refused_by_the_board_and_has_failed(
    board: Board, start: Start
) -> None:
    """The line went with the note written: the daemon cannot know, the board does."""
    board.refuse = lambda op: serial.OpRefused(op.op, "interlock" if board.centre == "unknown" else "busy")
    notes = Notes()
    daemon = start(notes)
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([PRESENT])
    async with asyncio.timeout(10):
        while not notes.values:
            await asyncio.sleep(0.01)
    board.unplug()
    board.centre = "unknown"
    board.plug()
    assert (await daemon.until(inputs.OperationFailed)).fault == "interlock"
    assert not board.executed


async def test_a_board_of_another_protocol_is_a_critical_fault_until_it_is_updated(board: Board, start: Start) -> None:
    board.protocol = 9
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    raised = await daemon.until(inputs.FaultRaised)
    assert raised == inputs.FaultRaised("firmware_mismatch", "critical", "firmware", "")
    board.unplug()
    board.protocol = serial.PROTOCOL
    board.plug()
    daemon.hardware.reconcile([], "", [Fault("firmware_mismatch", "critical", "firmware", "")])
    async with asyncio.timeout(15):
        while inputs.FaultCleared("firmware_mismatch") not in daemon.heard:
            daemon.fed.clear()
            await daemon.fed.wait()


async def test_times_are_learned_from_begin_to_result_and_a_slow_motor_is_warned_of(
    board: Board, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An operation that was answered from memory, or in another session, teaches nothing."""
    monkeypatch.setattr("controller.mechanisms.LEAST_MS", 20)
    monkeypatch.setattr("controller.mechanisms.LEAST", 3)
    monkeypatch.setattr("controller.mechanisms.RECENT", 3)
    notes = Notes()
    daemon = start(notes)
    daemon.hardware.reconcile([])
    board.hold = True

    async def once(number: int, seconds: float) -> None:
        daemon.hardware.reconcile([Want(WantId(number, "centre_raise"), "operation", "centre_raise")])
        await board.until(lambda: bool(board.memory.running))
        await asyncio.sleep(seconds)
        board.finish()
        await daemon.until(inputs.OperationDone, number)

    for number in range(1, 8):
        await once(number, 0.05)
    for number in range(8, 12):
        await once(number, 0.4)
    raised = await daemon.until(inputs.FaultRaised)
    assert (raised.code, raised.severity, raised.mechanism) == ("slow_centre_raise", "warning", "centre_raise")
    assert raised.now_ms > 300 > 150 > raised.usual_ms > 20
    known = daemon.hardware.times.learned()["centre_raise"]
    assert known.count == 11 and known.slow and known.last_ms > 300
    await daemon.end()
    again = start(notes)
    again.hardware.reconcile([], "", [Fault("slow_centre_raise", "warning", "centre_raise", "")])
    await again.heard_out()
    assert not again.of(inputs.FaultCleared), "the warning stands over a start of the daemon"
    again.hardware.reconcile([Want(WantId(99, "centre_raise"), "operation", "centre_raise")])
    await board.until(lambda: bool(board.memory.running))
    board.unplug()
    board.plug()
    async with asyncio.timeout(10):
        while again.line.sessions < 2 or not again.line.ready:
            await asyncio.sleep(0.01)
    board.finish()
    await again.until(inputs.OperationDone)
    assert again.hardware.times.learned()["centre_raise"].count == 11


# --- the stop ---------------------------------------------------------------------------------------------------------


async def test_a_board_that_forgot_the_stop_is_latched_again_with_the_first_reason(board: Board, start: Start) -> None:
    """Power went and came: on both sides until a person clears it."""
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    await daemon.heard_out()
    board.latch("button")
    await daemon.until(inputs.StopLatched)
    daemon.hardware.reconcile([RAISE], "button")
    for _ in range(2):
        board.unplug()
        board.reboot()
        board.stop_reason = ""
        board.plug()
        await board.until(lambda: board.stop_reason == "button")
        await daemon.heard_out()
    assert not daemon.of(inputs.StopCleared) and not board.executed
    daemon.hardware.reconcile([RAISE, CLEAR], "button")
    await daemon.until(inputs.StopCleared)
    assert board.stop_reason == ""


async def test_a_daemon_that_starts_with_a_stop_in_its_journal_latches_the_board(board: Board, start: Start) -> None:
    """kill -9 of the daemon and a board that has lost power meanwhile: the stop is still there."""
    daemon = start(Notes())
    daemon.hardware.reconcile([RAISE], "pinch")
    await board.until(lambda: board.stop_reason == "pinch")
    await daemon.heard_out()
    assert not board.executed and not daemon.of(inputs.StopCleared)


async def test_a_board_that_comes_back_while_people_clear_is_not_latched_against_them(
    board: Board, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.stops.CLEAR_AGAIN_S", 0.05)
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    await daemon.heard_out()
    board.latch("button")
    await daemon.until(inputs.StopLatched)
    board.button_in = True
    daemon.hardware.reconcile([CLEAR], "button")
    await daemon.until(inputs.StopLatched, 2)
    board.unplug()
    board.reboot()
    board.stop_reason, board.button_in = "", False
    board.plug()
    await daemon.until(inputs.StopCleared)
    daemon.hardware.reconcile([RAISE])
    await daemon.until(inputs.OperationDone)
