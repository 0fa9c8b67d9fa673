"""The hardware driver against a board on a real pseudo-terminal (faults F1, F3, F5; the dice's honour)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from controller.hardware import Gear, Hardware
from controller.lines import Line
from engine import inputs
from engine.state import WantId
from engine.wants import Want
from protocol.serial import messages as serial
from tests.controller.board import Board


class Notes:
    """What outlives a daemon, in memory."""

    def __init__(self) -> None:
        self.journal_id = 0xABC
        self.values: dict[str, str] = {}

    def meta(self, key: str, default: str = "") -> str:
        return self.values.get(key, default)

    async def note(self, values: Mapping[str, str | None]) -> None:
        for key, value in values.items():
            if value is None:
                self.values.pop(key, None)
            else:
                self.values[key] = value


@dataclass
class Daemon:
    """A driver over one line, as one run of the daemon has it."""

    line: Line
    hardware: Hardware
    task: asyncio.Task[None]
    heard: list[inputs.Input] = field(default_factory=list)
    fed: asyncio.Event = field(default_factory=asyncio.Event)

    def of(self, kind: type[Any]) -> list[Any]:
        return [happened for happened in self.heard if isinstance(happened, kind)]

    async def until(self, kind: type[Any]) -> Any:
        async with asyncio.timeout(10):
            while not self.of(kind):
                self.fed.clear()
                await self.fed.wait()
        return self.of(kind)[0]

    async def end(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        await self.hardware.close()


Start = Callable[..., Daemon]


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    made = Board(tmp_path / "port")
    made.plug()
    yield made
    made.close()


@pytest.fixture
async def start(board: Board, tmp_path: Path) -> AsyncIterator[Start]:
    running: list[Daemon] = []

    def begin(notes: Notes, **options: Any) -> Daemon:
        line = Line(str(board.path), 115200, "test", tmp_path / "flights")
        hardware = Hardware([line], notes, lambda happened: tell(happened), **options)
        daemon = Daemon(line, hardware, asyncio.create_task(line.run()))

        def tell(happened: inputs.Input) -> None:
            daemon.heard.append(happened)
            daemon.fed.set()

        running.append(daemon)
        return daemon

    yield begin
    for daemon in running:
        await daemon.end()


ROLL = Want(WantId(3, "dice_roll", 1), "operation", "dice_roll", params={"purpose": "deal"})
RAISE = Want(WantId(3, "centre_raise"), "operation", "centre_raise")
SORT = Want(WantId(3, "sort", 1), "operation", "sort", params={"set": 1})


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
    daemon.hardware.reconcile([ROLL])
    await daemon.until(inputs.OperationDone)
    assert notes.meta("throw:3.dice_roll-1.1")
    daemon.hardware.reconcile([])
    async with asyncio.timeout(5):
        while notes.meta("throw:3.dice_roll-1.1"):
            await asyncio.sleep(0)


async def test_from_a_copy_of_the_journal_an_outstanding_throw_is_left_to_the_people(
    board: Board, start: Start
) -> None:
    daemon = start(Notes(), from_copy=True)
    daemon.hardware.reconcile([ROLL])
    await daemon.until(inputs.OperationUnknown)
    assert board.executed["DiceRoll"] == 0


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
    present = Want(
        WantId(3, "present_group", 1), "operation", "present_group",
        params={"side": "E", "first": 3, "count": 4, "seat": "S"},
    )  # fmt: skip
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([present])
    await board.until(lambda: board.executed["PresentGroup"] == 1)
    assert (board.asked[0].first, board.asked[0].count) == (2, 2)
    board.unplug()
    board.reboot()
    board.plug()
    await daemon.until(inputs.OperationUnknown)
    assert board.executed == {"PresentGroup": 1}


async def test_a_group_wanted_before_the_daemon_started_is_not_presented_blindly(board: Board, start: Start) -> None:
    params = {"side": "E", "first": 3, "count": 4, "seat": "S"}
    daemon = start(Notes())
    daemon.hardware.reconcile([Want(WantId(3, "present_group", 1), "operation", "present_group", params=params)])
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


async def test_while_a_stop_is_latched_nothing_is_asked(board: Board, start: Start) -> None:
    board.stop_reason = "button"
    daemon = start(Notes())
    daemon.hardware.reconcile([RAISE])
    assert await daemon.until(inputs.StopLatched) == inputs.StopLatched("button")
    assert board.executed["CentreRaise"] == 0
    board.stop_reason = ""
    board.say(serial.StopCleared())
    await daemon.until(inputs.OperationDone)


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
    assert daemon.of(inputs.ZoneSeen) == [inputs.ZoneSeen("E", "hand", ("1m", "2m"))]
    sorting = daemon.hardware.sorting
    assert sorting is not None and (sorting.set, sorting.tiles["W"], sorting.seconds) == (1, 5, 9)


async def test_lamps_are_lit_once_and_again_in_a_new_session(board: Board, start: Start) -> None:
    daemon = start(Notes())
    daemon.hardware.show((("E", 3, 4, "S"),))
    daemon.hardware.show((("E", 3, 4, "S"),))
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
