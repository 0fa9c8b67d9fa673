"""Operations are asked once, thrown once, and go on over restarts (faults F1, F3, F5; the dice's honour)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from controller.gear import Gear
from controller.sent import once_key
from engine import inputs
from engine.wants import Want
from protocol.serial import messages as serial
from tests.controller.board import Board
from tests.controller.hardware.rig import PRESENT, RAISE, ROLL, SORT, Notes, Start


async def test_an_operation_is_asked_once_and_its_result_comes_back(board: Board, start: Start) -> None:
    daemon = start(Notes())
    daemon.hardware.set_gear(Gear(144, (18, 18, 18, 18)))
    daemon.hardware.reconcile([SORT])
    done = await daemon.until(inputs.OperationDone)
    assert done == inputs.OperationDone("3.sort-1.1", {"tiles": {"E": 30, "S": 30, "W": 30, "N": 30}})
    assert board.executed == {"SortStart": 1}
    assert board.gear == (144, (18, 18, 18, 18))


async def test_after_a_lost_line_the_same_start_is_asked_again_and_moves_nothing_twice(
    board: Board, start: Start
) -> None:
    """F1: the adapter goes in mid-operation and comes back under another number."""
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([ROLL])
    await board.until(lambda: board.executed["DiceRoll"] == 1)
    board.unplug()
    await daemon.until(inputs.FaultRaised)
    board.finish()
    board.plug()
    done = await daemon.until(inputs.OperationDone)
    assert done.result["dice"] == [2, 3]
    assert board.executed == {"DiceRoll": 1}
    assert daemon.of(inputs.FaultCleared) == [inputs.FaultCleared("link_lost")]


async def test_a_throw_is_never_sent_to_a_board_that_has_forgotten_it(board: Board, start: Start) -> None:
    """F5: the dice that lie there are read; the id is not asked again."""
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([ROLL])
    await board.until(lambda: board.executed["DiceRoll"] == 1)
    board.unplug()
    board.reboot()
    board.dice = serial.DiceFaces(0, True, (4, 1))
    board.plug()
    done = await daemon.until(inputs.OperationDone)
    assert done.result["dice"] == [4, 1]
    assert board.executed == {"DiceRoll": 1}


async def test_faces_that_lay_there_before_the_throw_are_not_taken_for_its_result(board: Board, start: Start) -> None:
    """A board that restarted before the throw began shows the throw before: people say what they saw."""
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([ROLL])
    await board.until(lambda: board.executed["DiceRoll"] == 1)
    board.unplug()
    board.reboot()
    board.plug()
    await daemon.until(inputs.OperationUnknown)
    assert board.executed == {"DiceRoll": 1}


async def test_dice_that_still_turn_after_a_restart_are_looked_at_until_they_lie(board: Board, start: Start) -> None:
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([ROLL])
    await board.until(lambda: board.executed["DiceRoll"] == 1)
    board.unplug()
    board.reboot()
    board.dice = serial.DiceFaces(0, False, (0, 0), moving=True)
    board.plug()
    await board.until(lambda: sum(isinstance(message, serial.DiceQuery) for message in board.asked) >= 2)
    board.dice = serial.DiceFaces(0, True, (5, 5))
    assert (await daemon.until(inputs.OperationDone)).result["dice"] == [5, 5]


async def test_a_throw_that_nobody_can_read_is_asked_of_the_people(board: Board, start: Start) -> None:
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([ROLL])
    await board.until(lambda: board.executed["DiceRoll"] == 1)
    board.unplug()
    board.reboot()
    board.dice = serial.DiceFaces(0, False)
    board.plug()
    assert await daemon.until(inputs.OperationUnknown) == inputs.OperationUnknown("3.dice_roll-1.1")
    assert board.executed == {"DiceRoll": 1}


async def test_a_daemon_that_was_killed_does_not_throw_again(board: Board, start: Start) -> None:
    """F5: the note that the throw was sent is on the disk before it is sent."""
    board.hold = True
    notes = Notes()
    first = start(notes)
    first.hardware.reconcile([])
    first.hardware.reconcile([ROLL])
    await board.until(lambda: board.executed["DiceRoll"] == 1)
    await first.end()
    board.finish(serial.DiceOutcome((1, 6), "clean", 2800).pack())
    second = start(notes)
    second.hardware.reconcile([ROLL])
    assert (await second.until(inputs.OperationDone)).result["dice"] == [1, 6]
    assert board.executed == {"DiceRoll": 1}


async def test_board_and_daemon_both_gone_the_dice_are_read(board: Board, start: Start) -> None:
    board.hold = True
    notes = Notes()
    first = start(notes)
    first.hardware.reconcile([])
    first.hardware.reconcile([ROLL])
    await board.until(lambda: board.executed["DiceRoll"] == 1)
    await first.end()
    board.reboot()
    board.dice = serial.DiceFaces(0, True, (3, 3))
    second = start(notes)
    second.hardware.reconcile([ROLL])
    assert (await second.until(inputs.OperationDone)).result["dice"] == [3, 3]
    assert board.executed == {"DiceRoll": 1}


async def test_the_note_of_a_throw_is_kept_until_its_want_is_gone(board: Board, start: Start) -> None:
    notes = Notes()
    daemon = start(notes)
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([ROLL])
    await daemon.until(inputs.OperationDone)
    assert notes.meta("throw:3.dice_roll-1.1")
    daemon.hardware.reconcile([])
    async with asyncio.timeout(5):
        while notes.meta("throw:3.dice_roll-1.1"):
            await asyncio.sleep(0)


async def test_a_throw_that_may_have_been_sent_without_a_note_is_left_to_the_people(board: Board, start: Start) -> None:
    """A want from before the daemon's start: whether it was thrown is not known, so it is not thrown."""
    daemon = start(Notes())
    daemon.hardware.reconcile([ROLL])
    await daemon.until(inputs.OperationUnknown)
    assert board.executed["DiceRoll"] == 0


async def test_from_a_copy_of_the_journal_an_outstanding_throw_is_not_thrown(board: Board, start: Start) -> None:
    """The copy has a new id, under which the board knows nothing: the dice are read."""
    board.hold = True
    notes = Notes()
    first = start(notes)
    first.hardware.reconcile([])
    first.hardware.reconcile([ROLL])
    await board.until(lambda: board.executed["DiceRoll"] == 1)
    await first.end()
    board.dice = serial.DiceFaces(0, True, (5, 2))
    notes.journal_id = 0xDEF
    second = start(notes)
    second.hardware.reconcile([ROLL])
    assert (await second.until(inputs.OperationDone)).result["dice"] == [5, 2]
    assert board.executed == {"DiceRoll": 1}


async def test_after_a_restart_the_mechanisms_tell_what_has_been_done(board: Board, start: Start) -> None:
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([RAISE])
    await board.until(lambda: board.executed["CentreRaise"] == 1)
    board.unplug()
    board.reboot()
    board.centre = "up"
    board.plug()
    assert await daemon.until(inputs.OperationDone) == inputs.OperationDone("3.centre_raise-0.1", {})
    assert board.executed == {"CentreRaise": 1}


async def test_after_a_restart_what_is_not_done_is_asked_again(board: Board, start: Start) -> None:
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([SORT])
    await board.until(lambda: board.executed["SortStart"] == 1)
    board.unplug()
    board.reboot()
    board.hold = False
    board.plug()
    await daemon.until(inputs.OperationDone)
    assert board.executed == {"SortStart": 2}


async def test_a_group_that_may_have_been_presented_is_not_presented_again(board: Board, start: Start) -> None:
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([PRESENT])
    await board.until(lambda: board.executed["PresentGroup"] == 1)
    assert (board.asked[0].first, board.asked[0].count) == (2, 2)
    board.unplug()
    board.reboot()
    board.plug()
    await daemon.until(inputs.OperationUnknown)
    assert board.executed == {"PresentGroup": 1}


async def test_a_group_wanted_before_the_daemon_started_is_not_presented_blindly(board: Board, start: Start) -> None:
    daemon = start(Notes())
    daemon.hardware.reconcile([PRESENT])
    await daemon.until(inputs.OperationUnknown)
    assert not board.executed


async def test_failure_and_interruption_reach_the_engine_with_fault_and_side(board: Board, start: Start) -> None:
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([SORT])
    await board.until(lambda: board.executed["SortStart"] == 1)
    board.finish(outcome="failed", fault="head_jam")
    assert await daemon.until(inputs.OperationFailed) == inputs.OperationFailed("3.sort-1.1", "head_jam", "")


async def test_a_refusal_for_now_is_asked_again_under_the_same_id(
    board: Board, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.hardware.RESEND_REFUSED_S", 0.01)
    refused: list[Any] = []

    def busy_twice(operation: Any) -> Any:
        if len(refused) < 2:
            refused.append(operation.op)
            return serial.OpRefused(operation.op, "busy")
        return None

    board.refuse = busy_twice
    daemon = start(Notes())
    daemon.hardware.reconcile([RAISE])
    await daemon.until(inputs.OperationDone)
    assert refused[0] == refused[1] and board.executed == {"CentreRaise": 1}


async def test_a_refusal_for_good_is_a_failure(board: Board, start: Start) -> None:
    board.refuse = lambda operation: serial.OpRefused(operation.op, "unsupported")
    daemon = start(Notes())
    daemon.hardware.reconcile([RAISE])
    assert (await daemon.until(inputs.OperationFailed)).fault == "unsupported"


@pytest.mark.parametrize(("want", "verb"), [(ROLL, "DiceRoll"), (PRESENT, "PresentGroup")])
async def test_a_note_that_nobody_can_read_counts_as_perhaps_sent(
    board: Board, start: Start, want: Want, verb: str
) -> None:
    """Neither is it done again, nor are dice that lie there taken for its result: people are asked."""
    notes = Notes()
    key = once_key(want.verb, str(want.id))
    notes.values[key] = "00000000zzzz:1 4,1 "
    daemon = start(notes)
    daemon.hardware.reconcile([want])
    assert await daemon.until(inputs.OperationUnknown) == inputs.OperationUnknown(str(want.id))
    assert not board.executed[verb] and notes.values[key]


class SpoiltNotes(Notes):
    """Notes that cannot be written, in a way that nobody thought of."""

    async def note(self, values: Mapping[str, str | None], *, on_disk: bool = False) -> None:
        raise RuntimeError("nobody thought of this")


async def test_a_mistake_under_an_operation_is_told_to_the_engine(
    board: Board, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table never waits for ever: what runs once is left to the people, anything else has failed."""
    daemon = start(SpoiltNotes())
    daemon.hardware.reconcile([])

    async def mistake(*_: object) -> None:
        raise KeyError("nor of this")

    monkeypatch.setattr(daemon.hardware, "_as_they_stand", mistake)
    monkeypatch.setattr(daemon.hardware, "_send_and_wait", mistake)
    daemon.hardware.reconcile([ROLL, RAISE])
    unknown, failed = await daemon.until(inputs.OperationUnknown), await daemon.until(inputs.OperationFailed)
    assert unknown.want == str(ROLL.id) and failed.want == str(RAISE.id)
    assert not board.executed["DiceRoll"]


class Policy(Notes):
    """Notes that are kept in memory unless they must be on the disk."""

    def __init__(self) -> None:
        super().__init__()
        self.on_disk: list[str] = []

    async def note(self, values: Mapping[str, str | None], *, on_disk: bool = False) -> None:
        await super().note(values)
        self.on_disk += [key for key, value in values.items() if value is not None and on_disk]


async def test_a_throw_asks_for_its_note_on_the_disk_whatever_the_policy(board: Board, start: Start) -> None:
    notes = Policy()
    daemon = start(notes)
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([ROLL])
    await daemon.until(inputs.OperationDone)
    assert notes.on_disk == [once_key("dice_roll", str(ROLL.id))]
