"""What serial lines do to people (F1 to F5), at a real pseudo-terminal: the driver goes on, and nothing moves twice."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from controller.hardware import Hardware
from controller.lines import Line, LineLost
from engine import inputs
from engine.state import WantId
from engine.wants import Want
from protocol.serial import messages as serial
from protocol.serial.frames import DELIMITER
from tests.controller.board import Board
from tests.controller.hardware.rig import RAISE, ROLL, SORT, Daemon, Notes, Start

Mangle = Callable[[bytes], Iterable[bytes]]


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.005)


# -- what a bad line does ----------------------------------------------------------------------------------------------


def ascii_lines(data: bytes) -> Iterable[bytes]:
    """A modem manager, a console and a kernel that complains share the line."""
    return (b"AT\r\n", data, b"login: ", b"[ 12.3] usb 1-1: reset\n")


def one_byte(data: bytes) -> Iterable[bytes]:
    return (data[at : at + 1] for at in range(len(data)))


class Halves:
    """Each burst is held back by half: half frames, merged with the next half."""

    def __init__(self) -> None:
        self.kept = b""

    def __call__(self, data: bytes) -> Iterable[bytes]:
        whole = self.kept + data
        cut = len(whole) - len(data) // 2
        self.kept = whole[cut:]
        return (whole[:cut],)


class BitFlips:
    """One bit of every third burst is wrong."""

    def __init__(self) -> None:
        self.chance, self.bursts = random.Random(3), 0

    def __call__(self, data: bytes) -> Iterable[bytes]:
        self.bursts += 1
        if self.bursts % 3:
            return (data,)
        harmed = bytearray(data)
        harmed[self.chance.randrange(len(harmed))] ^= 1 << self.chance.randrange(8)
        return (bytes(harmed),)


class Lost:
    """Every fourth burst never arrives."""

    def __init__(self) -> None:
        self.bursts = 0

    def __call__(self, data: bytes) -> Iterable[bytes]:
        self.bursts += 1
        return () if self.bursts % 4 == 0 else (data,)


def twice(data: bytes) -> Iterable[bytes]:
    return (data, data)


def noise(data: bytes) -> Iterable[bytes]:
    return (bytes(range(1, 256)) * 2, DELIMITER, b"\xff" * 40, data, DELIMITER * 5)


LINES: dict[str, Callable[[], Mangle]] = {
    "ascii": lambda: ascii_lines,
    "one byte": lambda: one_byte,
    "halves": Halves,
    "bit flips": BitFlips,
    "lost": Lost,
    "twice": lambda: twice,
    "noise": lambda: noise,
}


@pytest.mark.parametrize("name", LINES)
async def test_a_bad_line_costs_time_and_nothing_else(board: Board, start: Start, name: str) -> None:
    """F4: in both directions at once; every operation is carried out once and answered."""
    board.on_line, board.from_line = LINES[name](), LINES[name]()
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    for attempt in range(1, 4):
        wants = [
            Want(WantId(attempt, want.verb, 1), "operation", want.verb, params=want.params) for want in (SORT, ROLL)
        ]
        daemon.hardware.reconcile([*wants, Want(WantId(attempt, "centre_raise"), "operation", "centre_raise")])
        async with asyncio.timeout(30):
            await daemon.until(inputs.OperationDone, 3 * attempt)
    assert board.executed == {"SortStart": 3, "DiceRoll": 3, "CentreRaise": 3}
    assert len({done.want for done in daemon.of(inputs.OperationDone)}) == 9
    assert daemon.line.failures == 0 and daemon.line.ready


async def test_an_echoing_line_is_told_in_words_and_an_echoed_one_works(
    board: Board, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F4: two wires touch. Own frames that come back are no board, nor a sign of life."""
    monkeypatch.setattr("controller.lines.REOPEN_AFTER_S", 0.6)
    daemon = start(Notes())
    await until(lambda: daemon.line.ready)
    board.from_line = lambda data: (os.write(board._master, data) and data,)
    daemon.hardware.reconcile([RAISE])
    await daemon.until(inputs.OperationDone)
    assert daemon.line.stats.echoes > 0 and board.executed == {"CentreRaise": 1}
    board.from_line = lambda data: (os.write(board._master, data) and b"",)
    await until(lambda: "echoes" in daemon.line.trouble)
    board.from_line = lambda data: (data,)
    await until(lambda: daemon.line.ready)


async def test_another_device_at_the_port_is_told_in_words(
    board: Board, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F4: a console answers every HELLO with text, for ever."""
    monkeypatch.setattr("controller.lines.REOPEN_AFTER_S", 0.6)
    board.from_line = lambda data: (os.write(board._master, b"bash: command not found\r\n") and b"",)
    daemon = start(Notes())
    await until(lambda: "bytes came, but no answer of a table's board" in daemon.line.trouble)
    assert "115200" in daemon.line.trouble and not daemon.line.ready


# -- answers that come too late ----------------------------------------------------------------------------------------


async def test_an_answer_a_second_after_its_time_out_is_not_taken_for_the_next(
    board: Board, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F4: every exchange has a deadline, and every answer names its request."""
    daemon = start(Notes())
    await until(lambda: daemon.line.ready)
    await daemon.heard_out()
    answer, late = board._answer, [True]

    def slow(message: object) -> None:
        if late and isinstance(message, serial.StatusQuery):
            late.clear()
            asyncio.get_running_loop().call_later(1.0, lambda: (answer(message), board._pump()))
            return
        answer(message)

    monkeypatch.setattr(board, "_answer", slow)
    board.centre = "up"
    with pytest.raises(LineLost, match=r"no Status within 0\.2 s"):
        await daemon.line.request(serial.StatusQuery, serial.Status, 0.2)
    asked: list[serial.Status] = []
    async with asyncio.timeout(5):
        while len(asked) < 60:
            status = await daemon.line.request(serial.StatusQuery, serial.Status, 2)
            asked.append(status)
            board.centre = "down" if board.centre == "up" else "up"
            await asyncio.sleep(0.03)
    assert [status.centre for status in asked] == ["up", "down"] * 30
    assert len({status.req for status in asked}) == 60 and daemon.line.stats.sessions == 1


# -- stalls, resets, plugs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [3.0, pytest.param(20.0, marks=pytest.mark.long)])
async def test_a_board_that_stood_still_runs_nothing_twice(board: Board, start: Start, seconds: float) -> None:
    """F3: it wakes to a dozen repetitions in one read; the session is new, what ran is answered from memory."""
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([SORT, ROLL])
    await board.until(lambda: board.executed == Counter(SortStart=1, DiceRoll=1))
    board.stall()
    shows = [serial.Lamp("E", 0, 1, "E")] * 40
    daemon.line.send_soon(shows)
    await until(lambda: not daemon.line.ready)
    await asyncio.sleep(seconds - 2)
    board.wake()
    await until(lambda: daemon.line.ready and daemon.line.sessions == 2)
    assert board.losses[0] in ("silence", "line", "peer_restarted")
    board.finish()
    board.finish()
    await daemon.until(inputs.OperationDone, 2)
    assert board.executed == {"SortStart": 1, "DiceRoll": 1}
    assert not daemon.of(inputs.OperationUnknown)


async def test_a_port_whose_opening_resets_the_board_costs_one_handshake_and_no_throw(
    board: Board, start: Start
) -> None:
    """F5: a new boot id at each opening: what was thrown is read, never thrown again."""
    board.reset_on_open = True
    board.hold = True
    notes = Notes()
    first = start(notes)
    first.hardware.reconcile([])
    first.hardware.reconcile([ROLL])
    await board.until(lambda: board.executed["DiceRoll"] == 1)
    boots = board.boot_id
    await first.end()
    board.dice = serial.DiceFaces(0, True, (5, 4))
    second = start(notes)
    second.hardware.reconcile([ROLL])
    done = await second.until(inputs.OperationDone)
    assert board.boot_id > boots and done.result["dice"] == [5, 4]
    assert board.executed == {"DiceRoll": 1}


async def test_a_reset_in_mid_frame_is_a_new_start_and_no_garbage_for_ever(board: Board, start: Start) -> None:
    """F5: half a frame stays on the line when the board resets; the next burst ends it."""
    board.hold = True
    daemon = start(Notes())
    daemon.hardware.reconcile([])
    daemon.hardware.reconcile([ROLL])
    await board.until(lambda: board.executed["DiceRoll"] == 1)
    with board.quiet():
        board._link.send(serial.Key("lift", "", 80))
        os.write(board._master, board._link.outgoing(board._now())[:7])
        board.reboot()
        board.dice = serial.DiceFaces(0, True, (1, 2))
    done = await daemon.until(inputs.OperationDone)
    assert done.result["dice"] == [1, 2] and board.executed == {"DiceRoll": 1}
    assert not daemon.of(inputs.KeyPressed)
    assert sum(daemon.line.stats.errors.values()) <= 1


async def test_the_plug_goes_in_and_out_and_every_throw_is_thrown_once(board: Board, start: Start) -> None:
    """F1: ten times in the middle of ten throws, each time back under another name behind the same link."""
    notes = Notes()
    daemon = start(notes)
    daemon.hardware.reconcile([])
    board.hold = True
    for attempt in range(1, 6):
        want = Want(WantId(3, "dice_roll", attempt), "operation", "dice_roll", params={"purpose": "deal"})
        daemon.hardware.reconcile([want])
        await board.until(lambda attempt=attempt: board.executed["DiceRoll"] == attempt)  # type: ignore[misc]
        board.unplug()
        await until(lambda: not daemon.line.ready)
        board.finish()
        other, slave = os.openpty()
        board.plug()
        os.close(other)
        os.close(slave)
        await daemon.until(inputs.OperationDone, attempt)
    assert board.executed == {"DiceRoll": 5}
    assert daemon.line.sessions == 6


async def test_two_drivers_never_share_a_port(board: Board, start: Start, tmp_path: Path) -> None:
    """The second is turned away in words, again and again, and takes over when the first has gone."""
    first = start(Notes())
    await until(lambda: first.line.ready)
    line = Line(str(board.path), 115200, "second", tmp_path / "other")
    task = asyncio.create_task(line.run())
    await until(lambda: "another program holds this port" in line.trouble)
    first.hardware.reconcile([RAISE])
    await first.until(inputs.OperationDone)
    assert first.line.stats.sessions == 1 and not line.ready
    await end_of(first)
    await until(lambda: line.ready)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def end_of(daemon: Daemon) -> None:
    daemon.task.cancel()
    await asyncio.gather(daemon.task, return_exceptions=True)


async def test_nothing_is_thrown_elsewhere_while_the_dice_unit_has_not_said_who_it_is(tmp_path: Path) -> None:
    """Two boards that both have dice: the unit of its own throws, and until it answers nobody does."""
    table, unit = Board(tmp_path / "table"), Board(tmp_path / "unit")
    table.plug()
    lines = [Line(str(board.path), 115200, "test", tmp_path) for board in (table, unit)]
    done: list[inputs.Input] = []
    hardware = Hardware(lines, Notes(), done.append)
    running = [asyncio.create_task(line.run()) for line in lines]
    try:
        hardware.reconcile([])
        await until(lambda: lines[0].ready)
        hardware.reconcile([ROLL, RAISE])
        await table.until(lambda: table.executed["CentreRaise"] == 1)
        assert table.executed == {"CentreRaise": 1}
        unit.plug()
        await unit.until(lambda: unit.executed["DiceRoll"] == 1)
        await until(lambda: sum(isinstance(one, inputs.OperationDone) for one in done) == 2)
        assert table.executed == {"CentreRaise": 1} and unit.executed == {"DiceRoll": 1}
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await hardware.close()
        table.close()
        unit.close()
