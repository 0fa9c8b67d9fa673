"""The hardware driver against a board on a real pseudo-terminal (faults F1, F3, F5; the dice's honour)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from controller.gear import Gear
from controller.hardware import Hardware
from controller.lines import Line
from controller.operations import Limit
from engine import inputs
from engine.state import Fault, WantId
from engine.wants import Want
from protocol.serial import messages as serial
from protocol.serial.operations import OperationMemory
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

    async def until(self, kind: type[Any], count: int = 1) -> Any:
        """The first input of a kind, once there are so many."""
        async with asyncio.timeout(10):
            while len(self.of(kind)) < count:
                self.fed.clear()
                await self.fed.wait()
        return self.of(kind)[0]

    async def heard_out(self) -> None:
        """Wait until what the driver was about to ask has been asked, and all that the board has said has arrived."""
        async with asyncio.timeout(10):
            while not self.line.ready:
                await asyncio.sleep(0.01)
            for _ in range(3):
                await self.line.request(serial.StatusQuery, serial.Status, 5)

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
PRESENT = Want(
    WantId(3, "present_group", 1), "operation", "present_group",
    params={"side": "E", "first": 3, "count": 4, "seat": "S"},
)  # fmt: skip
CLEAR = Want(WantId(3, "clear_stop", 0, 1), "operation", "clear_stop")
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
    """The engine holds the stop although no board does: what is wanted waits for the engine."""
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    await daemon.heard_out()
    daemon.hardware.reconcile([RAISE], "button")
    await daemon.heard_out()
    assert not board.executed
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
