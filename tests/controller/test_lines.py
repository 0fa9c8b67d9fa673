"""What a line keeps of itself: statistics by the second, flight recordings, a log that trouble cannot fill (F18)."""

from __future__ import annotations

import asyncio
import fcntl
import io
import json
import logging
import os
import pty
import subprocess
import sys
import threading
import tty
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from structlog.testing import LogCapture

from controller.broker import BrokerSession
from controller.broker_address import BrokerAddress
from controller.flight import KEPT, FlightLog
from controller.lines import Line
from controller.link_history import SECONDS_KEPT, LinkHistory
from controller.log_bounds import LogBounds
from controller.logs import configure_logging
from controller.port_holder import holder_of
from controller.repeats import MOST_KINDS, Repeats, Summary
from controller.serial_port import CLOSE_S, SerialPortError, open_serial_port
from hil.clock import LeapingLoop
from protocol.serial import messages as serial
from protocol.serial.events import LinkStats
from protocol.serial.frames import Frame, FrameKind, encode_frame
from protocol.serial.messages import Zone, encode_message
from protocol.serial.recorder import FlightRecorder
from tests.controller.board import Board


@pytest.fixture
def log() -> Iterator[LogCapture]:
    capture = LogCapture()
    before = structlog.get_config()
    structlog.configure(processors=[capture], cache_logger_on_first_use=False)
    yield capture
    structlog.configure(**before)


@pytest.fixture
def device() -> Iterator[str]:
    """A serial device: the slave of a pty whose other side stays open."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    yield os.ttyname(slave)
    os.close(master)
    os.close(slave)


# -- bounded telling ---------------------------------------------------------------------------------------------------


def test_lasting_trouble_is_told_once_and_then_summed_up_further_and_further_apart() -> None:
    repeats = Repeats(first_s=60, cap_s=3600, calm_s=600)
    told = {second: summary for second in range(86_400) if (summary := repeats.hear("busy", float(second)))}
    assert told[0] == Summary(1, 0.0)
    assert list(told)[:4] == [0, 60, 180, 420]
    assert told[60] == Summary(60, 60.0)
    assert len(told) < 32, "a whole day of it"
    assert sum(summary.times for summary in told.values()) > 82_000, "and hardly any of it is untold"


def test_what_comes_and_goes_is_not_new_each_time_and_what_has_been_calm_is() -> None:
    repeats = Repeats(first_s=60, cap_s=3600, calm_s=600)
    flapping = [repeats.hear("lost", float(second)) for second in range(0, 7_200, 10)]
    assert sum(summary is not None for summary in flapping) < 10
    assert repeats.hear("lost", 7_190.0 + 600) is not None
    assert repeats.hear("another", 7_200.0) == Summary(1, 0.0)


def test_any_number_of_kinds_is_borne() -> None:
    repeats = Repeats()
    for number in range(10 * MOST_KINDS):
        assert repeats.hear(f"kind {number}", 0.0) == Summary(1, 0.0)
    assert len(repeats._known) == MOST_KINDS


def test_a_port_held_by_another_process_for_an_hour_costs_few_lines(
    device: str, tmp_path: Path, log: LogCapture
) -> None:
    """F18: one line, then summaries with counts; the holder is named. An hour passes on the loop's own clock."""
    holder = subprocess.Popen(
        [sys.executable, "-c", f"import fcntl, sys\nf = open({device!r}, 'rb')\nfcntl.flock(f, fcntl.LOCK_EX)\n"
         "print('held', flush=True)\nsys.stdin.read()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert holder.stdin is not None and holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"held\n"
        loop = LeapingLoop()
        try:
            line = Line(device, 115200, "test", tmp_path)
            loop.run_until_complete(_for_a_while(line, 3600.0))
        finally:
            loop.close()
    finally:
        holder.stdin.close()
        holder.wait(5)
    assert f"(process {holder.pid})" in line.trouble
    told = [entry for entry in log.entries if entry["event"] == "line down"]
    assert len(log.entries) == len(told) <= 8, "an hour with an attempt about every other second"
    assert "another program holds this port" in told[0]["problem"] and "times" not in told[0]
    assert told[1]["times"] > 20 and told[-1]["minutes"] > 20
    assert sum(entry.get("times", 1) for entry in told) > 600
    assert not list(tmp_path.iterdir()), "nothing has flown, nothing is recorded"


async def _for_a_while(line: Line, seconds: float) -> None:
    running = asyncio.create_task(line.run())
    await asyncio.sleep(seconds)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_broker_that_cannot_be_reached_costs_few_lines(
    log: LogCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F18: ten minutes' worth of refused connections, hurried."""
    monkeypatch.setattr("controller.broker.FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr("controller.broker.LONGEST_PAUSE_S", 0.002)
    session = BrokerSession(BrokerAddress("127.0.0.1", 1, None, None, None, 2), (), lambda *heard: None)
    running = asyncio.create_task(session.run())
    async with asyncio.timeout(60):
        while session.counters.attempts < 300:
            await asyncio.sleep(0.01)
    session.stop()
    await running
    assert 1 <= len(log.entries) <= 5


def test_a_minute_of_every_trouble_at_once_and_a_day_of_it_fill_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """F18: whatever logs once for each attempt, a library too: a handful, then a line in two minutes with a count."""
    now = [0.0]
    monkeypatch.setattr("controller.logs.LogBounds", lambda: LogBounds(lambda: now[0]))
    out = io.StringIO()
    before, root = structlog.get_config(), logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        configure_logging("info", "json", out)
        log, library = structlog.get_logger("core"), logging.getLogger("some.library")
        for attempt in range(60 * 50):
            now[0] += 0.02
            for trouble in ("the disk is full", "the broker hangs", "a view cannot be made"):
                log.error(trouble, attempt=attempt)
            library.warning("lock error %d", attempt)
        minute = [json.loads(line) for line in out.getvalue().splitlines()]
        assert len(minute) <= 4 * 31
        for attempt in range(24 * 360):
            now[0] += 10.0
            log.error("the disk is full", attempt=attempt)
    finally:
        structlog.configure(**before)
        root.handlers[:] = handlers
        root.setLevel(level)
    day = [json.loads(line) for line in out.getvalue().splitlines()][len(minute) :]
    assert 600 < len(day) < 800
    assert sum(1 + line.get("untold", 0) for line in day) > 24 * 360


def test_a_line_now_and_then_is_never_bounded_and_kinds_are_forgotten() -> None:
    now = [0.0]
    bounds = LogBounds(lambda: now[0])
    for _ in range(1000):
        now[0] += 130.0
        assert bounds.untold("a jam") == 0
    for number in range(5000):
        bounds.untold(f"kind {number}")
    assert len(bounds._kinds) == 512


async def test_a_board_that_babbles_costs_few_lines(board: Board, line: Callable[[], Line], log: LogCapture) -> None:
    """A message that keeps no contract is told once, however often it comes."""
    made = line()
    await until(lambda: made.ready)
    tag = board._link._session.tag  # type: ignore[union-attr]
    for number in range(200):
        seq = board._link._session.next_seq  # type: ignore[union-attr]
        board._link._session.next_seq = (seq + 1) & 0xFF  # type: ignore[union-attr]
        expected = board._link._session.expected  # type: ignore[union-attr]
        os.write(
            board._master, encode_frame(Frame("mcu", FrameKind.DATA, tag, seq, expected, b"\xee" + bytes((number,))))
        )
    await until(lambda: made.stats.undecodable == 200)
    assert [entry["event"] for entry in log.entries].count("a message that keeps no contract") == 1


# -- statistics --------------------------------------------------------------------------------------------------------


def test_each_second_tells_what_came_and_went_in_it() -> None:
    history = LinkHistory()
    stats = LinkStats(
        frames_in=10, frames_out=12, errors={"crc": 0, "cobs": 2}, round_trip=0.002, rto=0.025, sessions=1
    )
    history.note(stats, True, 0, 1.0)
    stats.frames_in, stats.errors["crc"], stats.retransmits = 15, 3, 1
    history.note(stats, True, 17, 2.0)
    history.note(stats, False, 0, 3.0)
    first, second, third = history.last()
    assert (first["frames_in"], first["bad"], first["round_trip_ms"]) == (10, {"cobs": 2}, 2.0)
    assert (second["frames_in"], second["bad"], second["retransmits"], second["waiting"]) == (5, {"crc": 3}, 1, 17)
    assert "frames_in" not in third and not third["up"]
    lately = history.summary()
    assert (lately["seconds"], lately["seconds_up"], lately["bad_frames"], lately["retransmits"]) == (3, 2, 5, 1)


def test_a_day_of_seconds_takes_no_more_room_than_ten_minutes() -> None:
    history = LinkHistory()
    for second in range(86_400):
        history.note(LinkStats(frames_in=second), True, 0, float(second))
    assert len(history) == SECONDS_KEPT and history.last()[-1]["at"] == 86_399.0
    assert len(history.last(5)) == 5 and history.last(0) == []


async def test_a_line_counts_its_seconds(
    board: Board, line: Callable[[], Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.lines._SECOND_S", 0.02)
    made = line()
    await until(lambda: len(made._history) >= 3 and made.ready)
    os.write(board._master, b"AT\r\n\0")
    await until(lambda: any(second.get("bad") for second in made.statistics()["each_second"]))
    told = made.statistics(2)
    assert told["state"] == "up" and told["trouble"] == "" and len(told["each_second"]) == 2
    assert sum(told["since_start"]["errors"].values()) == 1
    assert json.loads(json.dumps(told)) == told
    board.unplug()
    await until(lambda: not made.ready)
    told = made.statistics()
    assert told["state"] == "lost" and told["trouble"] and told["lately"]["losses"] <= 1


# -- flight recordings -------------------------------------------------------------------------------------------------


def recorded() -> FlightRecorder:
    recorder = FlightRecorder()
    zone = encode_message(Zone("E", "hand", ("1m", "9p"), 90))
    recorder.heard(Frame("mcu", FrameKind.DATA, 7, payload=zone), 1.0)
    return recorder


def test_recordings_are_few_and_hold_no_hidden_tile(tmp_path: Path) -> None:
    log = FlightLog(tmp_path / "flights", "/dev/kaijin-table")
    written = [log.write(recorded(), "silence", {"frames_in": 1}, 100.0, [{"at": 99.0}]) for _ in range(KEPT + 5)]
    assert [path for path in written if path.exists()] == written[5:]
    head, zone = map(json.loads, written[-1].read_text().splitlines())
    assert (head["reason"], head["stats"], head["seconds"]) == ("silence", {"frames_in": 1}, [{"at": 99.0}])
    assert zone["message"] == "Zone"
    assert "1m" not in written[-1].read_text() and "9p" not in written[-1].read_text()


def test_a_clock_that_steps_back_neither_hides_nor_overwrites_a_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F14: a board without a battery clock starts in 1970 again; the newest recording must not go for the oldest."""
    log = FlightLog(tmp_path, "port")
    for _ in range(KEPT):
        log.write(recorded(), "silence", {}, 1.0)
    monkeypatch.setattr("controller.flight.time.gmtime", lambda: (1970, 1, 1, 0, 0, 7, 3, 1, 0))
    newest = [FlightLog(tmp_path, "port").write(recorded(), f"reason {number}", {}, 1.0) for number in range(3)]
    assert all(path.exists() for path in newest) and len(set(newest)) == 3
    assert [path for _, path in log.recordings()][-3:] == newest and len(log.recordings()) == KEPT


def test_lines_whose_names_begin_alike_keep_their_own(tmp_path: Path) -> None:
    for _ in range(KEPT + 3):
        FlightLog(tmp_path, "/dev/table").write(recorded(), "silence", {}, 1.0)
    for _ in range(KEPT + 3):
        FlightLog(tmp_path, "/dev/table-dice").write(recorded(), "silence", {}, 1.0)
    assert len(list(tmp_path.iterdir())) == 2 * KEPT


def test_a_recording_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = FlightLog(tmp_path, "port")
    first = log.write(recorded(), "silence", {}, 1.0)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("controller.flight.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        log.write(recorded(), "silence", {}, 2.0)
    assert list(tmp_path.iterdir()) == [first]


async def test_a_line_is_recorded_when_it_fails_and_when_it_stops(
    board: Board, line: Callable[[], Line], tmp_path: Path
) -> None:
    """Each failure once, and not again while it flaps; the end too; hidden tiles in none of them."""
    flights = tmp_path / "flights"

    def reasons() -> list[str]:
        return sorted(json.loads(path.read_text().splitlines()[0])["reason"] for path in flights.glob("*.jsonl"))

    made = line()
    await until(lambda: made.ready)
    board.say(serial.Zone("S", "hand", ("7s", "7s"), 99))
    await until(lambda: made.stats.frames_in > 3)
    for sessions in (2, 3, 4):
        board.unplug()
        await until(lambda: not made.ready)
        board.plug()
        await until(lambda sessions=sessions: made.sessions == sessions)  # type: ignore[misc]
    await until(lambda: reasons() == ["line"])
    await made.stop()  # type: ignore[attr-defined]
    await until(lambda: reasons() == ["closed", "line"])
    assert board.losses[-1] == "peer_closed", "the board is told, and need not wait for silence"
    texts = [path.read_text() for path in flights.glob("*.jsonl")]
    assert all('"message": "Zone"' in text and "7s" not in text and "2 hidden" in text for text in texts)


async def test_a_disk_that_takes_no_recording_costs_the_line_nothing(
    board: Board, line: Callable[[], Line], tmp_path: Path, log: LogCapture
) -> None:
    (tmp_path / "flights").write_text("no folder")
    made = line()
    await until(lambda: made.ready)
    board.unplug()
    await until(lambda: any(entry["event"] == "the flight recording cannot be written" for entry in log.entries))
    board.plug()
    await until(lambda: made.ready)


# -- who holds the port ------------------------------------------------------------------------------------------------


def test_the_holder_is_named_as_far_as_it_is_known(device: str) -> None:
    assert holder_of(device) == "", "nobody but this test has it open, and nobody has locked it"
    assert holder_of("/dev/nothing-of-the-kind") == ""
    descriptor = os.open(device, os.O_RDWR | os.O_NOCTTY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert holder_of(device) == "this very process"
    os.close(descriptor)


@pytest.mark.parametrize("first", ["the daemon", "another program"])
async def test_whoever_comes_second_is_turned_away(device: str, first: str) -> None:
    """The lock binds both ways: the daemon does not take a port that is locked, nobody who asks takes the daemon's."""
    command = f"import serial, sys\np = serial.Serial({device!r}, exclusive=True)\n"
    command += "print('opened', flush=True)\nsys.stdin.read()"
    if first == "the daemon":
        port = open_serial_port(device, 115200, lambda data: None, lambda reason: None)
        other = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", command], capture_output=True, text=True)
        assert other.returncode != 0 and "Could not exclusively lock port" in other.stderr
        assert port.alive
        port.abort()
        return
    holder = subprocess.Popen([sys.executable, "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdin is not None and holder.stdout is not None
    assert await asyncio.to_thread(holder.stdout.readline) == b"opened\n"
    with pytest.raises(SerialPortError, match=rf"holds this port \(python.* \(process {holder.pid}\)\)") as refused:
        open_serial_port(device, 115200, lambda data: None, lambda reason: None)
    assert refused.value.code == "busy"
    holder.stdin.close()
    await asyncio.to_thread(holder.wait, 5)
    open_serial_port(device, 115200, lambda data: None, lambda reason: None).abort()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
async def test_a_program_that_asks_nobody_is_turned_away_from_a_real_port(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TIOCEXCL: a terminal program or ModemManager that just opens the device gets EBUSY (root is let in by Linux)."""
    monkeypatch.setattr("controller.serial_port._PTY_MAJORS", range(0))
    os.chmod(device, 0o666)
    port = open_serial_port(device, 115200, lambda data: None, lambda reason: None)
    command = f"import os\nos.setuid(65534)\nos.open({device!r}, os.O_RDWR | os.O_NOCTTY)"
    other = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", command], capture_output=True, text=True)
    assert "Device or resource busy" in other.stderr
    port.abort()


async def test_a_driver_that_hangs_in_closing_holds_nobody(device: str) -> None:
    """F2: close() of a dead device may wait for bytes that are never taken."""
    port = open_serial_port(device, 115200, lambda data: None, lambda reason: None)
    released = threading.Event()
    owner: Any = port._owner
    close = owner.close
    owner.close = lambda: (released.wait(30), close())
    began = asyncio.get_running_loop().time()
    port.abort()
    assert asyncio.get_running_loop().time() - began < CLOSE_S + 1
    assert not port.alive
    released.set()


# -- parts -------------------------------------------------------------------------------------------------------------


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():
            await asyncio.sleep(0.005)


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    made = Board(tmp_path / "port")
    made.plug()
    yield made
    made.close()


@pytest.fixture
async def line(board: Board, tmp_path: Path) -> AsyncIterator[Callable[[], Line]]:
    running: list[asyncio.Task[None]] = []

    def begin() -> Line:
        made = Line(str(board.path), 115200, "test", tmp_path / "flights")
        task = asyncio.create_task(made.run())
        running.append(task)

        async def stop() -> None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        made.stop = stop  # type: ignore[attr-defined]
        return made

    yield begin
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
