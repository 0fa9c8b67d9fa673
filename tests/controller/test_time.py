"""The time of day steps (first synchronisation, an hour back, years on) and nobody at the table notices (F10, F14).

What waits, waits on the monotonic clock; UTC is for stamps alone. What was stamped before UTC was known is mended.
"""

from __future__ import annotations

import ast
import asyncio
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli.journal import journal
from controller.clock import AgeJudge, ClockState, Stamp, SystemClock
from controller.daemon import Daemon
from controller.journal import read_events, read_meta
from controller.mending import NOTED, EpochClocks, ShownTime, read_zeros, shown
from controller.notify import Notifier
from controller.settings import Settings
from controller.startup import broker_address, start
from protocol.serial import messages as serial
from tests.controller.board import Board
from tests.controller.clocked import BEGAN_MS, Heard, Table, run
from tests.controller.clocked_people import People, Plan
from tests.controller.daemons import TOPICS, Ear, PrivateBroker, Running
from tests.controller.daemons import board as board
from tests.controller.daemons import broker as broker
from tests.controller.daemons import ear as ear
from tests.controller.daemons import settings as settings
from tests.controller.test_equal_traffic import Case, discards

ROOT = Path(__file__).parents[2]
HOUR_MS = 3_600_000
YEARS_56_MS = 56 * 365 * 24 * HOUR_MS
STEPS_MS = (YEARS_56_MS, -HOUR_MS, HOUR_MS, -YEARS_56_MS, 1, -1)


# -- nothing reads the time of day to wait by it -----------------------------------------------------------------------

MAY_ASK_UTC: Mapping[str, str] = {
    "controller/clock.py": "stamps",
    "controller/journal/store.py": "a value that was not there before",
    "controller/reveals.py": "when somebody asked for a hand, for the record",
    "controller/support.py": "the dates of files in an archive",
}
"""Files that may read the time of day, and what for. Names of files (`gmtime`) are no durations."""

_ASKS = {("time", "time"), ("time", "time_ns"), ("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today")}


def asking(path: Path) -> list[int]:
    """The lines on which a source reads the time of day."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
            if (owner, node.attr) in _ASKS:
                found.append(node.lineno)
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            found += [node.lineno for name in node.names if name.name in ("time", "time_ns")]
    return found


def test_only_the_clock_asks_for_the_time_of_day() -> None:
    """F10: a timer that was set by it would fire, or starve, at the first synchronisation."""
    packages = ("engine", "protocol", "controller", "simulators", "cli")
    sources = [path for package in packages for path in sorted((ROOT / package).rglob("*.py"))]
    found = {path.relative_to(ROOT).as_posix(): lines for path in sources if (lines := asking(path))}
    assert {name for name in found if not name.startswith("cli/benchmarks/")} <= set(MAY_ASK_UTC), found
    assert len(sources) > 150


def test_no_page_asks_for_the_time_of_day() -> None:
    """F10: countdowns run from `left_ms` on `performance.now()`."""
    pages = [path for path in sorted((ROOT / "displays").rglob("*.js")) if "vendor" not in path.parts]
    found = {path.name for path in pages if re.search(r"\bDate\b", path.read_text(encoding="utf-8"))}
    assert not found and len(pages) > 30


# -- a hand while the clock steps --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """A hand up to its sixth discard, with a clock that is right all the while."""
    case = Case(Plan(discards(6)), ("", ""))
    return run(tmp_path_factory.mktemp("played") / "table", case.laid(), lambda table: People(table, case.plan).play())


def again(folder: Path, played: Table) -> Table:
    """The same acts at the same moments."""

    async def play(table: Table) -> None:
        await table.follow(tuple(played.acts))
        await asyncio.sleep(2)

    return run(folder, played.laid, play)


def without_time(heard: list[Heard]) -> list[tuple[int, str, Any, str]]:
    """What was said and when, but for UTC and what is known of it."""
    told = []
    for one in heard:
        body = json.loads(one.payload) if one.payload.startswith(b"{") else one.payload
        if isinstance(body, dict):
            body = {key: value for key, value in body.items() if key not in ("ts", "clock")}
        told.append((one.at_ms, one.topic, body, one.how))
    # Of what falls into the same millisecond either may be first.
    return sorted(told, key=lambda entry: entry[:2])


@dataclass
class Utc:
    """A time of day that is stepped by hand, over the loop's own clock."""

    at: Callable[[float], tuple[int, ClockState]]

    def stamp(self) -> Stamp:
        now = asyncio.get_running_loop().time()
        ts, state = self.at(now)
        return Stamp(ts, round(now * 1000), state)


@pytest.fixture
def wall_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[float], tuple[int, ClockState]]], None]:
    """Puts a time of day in place, for the daemon's stamps and for every library that asks the system."""

    def put(at: Callable[[float], tuple[int, ClockState]]) -> None:
        monkeypatch.setattr("hil.clock.LoopClock.stamp", lambda self: Utc(at).stamp())
        monkeypatch.setattr(time, "time", lambda: at(asyncio.get_running_loop().time())[0] / 1000)
        monkeypatch.setattr(time, "time_ns", lambda: at(asyncio.get_running_loop().time())[0] * 1_000_000)

    return put


def stepping(now: float) -> tuple[int, ClockState]:
    """UTC that steps every 3 s: 56 years on, an hour back, an hour on, 56 years back, …"""
    off = sum(STEPS_MS[number % len(STEPS_MS)] for number in range(int(now / 3)))
    return BEGAN_MS + round(now * 1000) + off, "unsynced"


def test_no_timer_fires_or_starves_when_the_time_of_day_steps(
    tmp_path: Path, played: Table, wall_clock: Callable[..., None]
) -> None:
    """F10: the same acts, and the clock steps every 3 s: everything is said at the same moment, to the millisecond."""
    wall_clock(stepping)
    table = again(tmp_path / "table", played)
    ended_at = table.heard[-1].at_ms - 1000
    steady, stepped = (
        [entry for entry in without_time(heard) if entry[0] < ended_at] for heard in (played.heard, table.heard)
    )
    for was, now in zip(steady, stepped, strict=False):
        assert now == was
    assert len(stepped) == len(steady) > 300
    stamps = [json.loads(one.payload)["ts"] for one in table.heard if one.payload.startswith(b'{"')]
    assert max(stamps) - min(stamps) > YEARS_56_MS, "the clock did step"


def test_what_was_stamped_before_the_first_synchronisation_is_mended(
    tmp_path: Path, played: Table, wall_clock: Callable[..., None]
) -> None:
    """F14: the table starts in 1970, is told the time in mid-hand, later the clock goes back an hour."""
    synced_at, back_at = 40.0, 60.0

    def utc(now: float) -> tuple[int, ClockState]:
        if now < synced_at:
            return round(now * 1000), "unsynced"
        return BEGAN_MS + round(now * 1000) - (HOUR_MS if now >= back_at else 0), "synced"

    wall_clock(utc)
    table = again(tmp_path / "table", played)
    assert table.heard[-1].at_ms > (back_at + 5) * 1000, "all of it happened"
    path = tmp_path / "table" / "table.journal"
    stored = list(read_events(path))
    assert read_zeros(read_meta(path)[NOTED]) == {1: BEGAN_MS}
    told = [json.loads(line) for line in CliRunner().invoke(journal, ["show", str(path), "--json"]).output.splitlines()]
    assert [event["mono_ms"] for event in told] == sorted(event["mono_ms"] for event in told)
    early = [event for event in told if event["mono_ms"] < synced_at * 1000]
    # The machine is asked every 10 s whether its time of day is known.
    later = [event for event in told if (synced_at + 10) * 1000 <= event["mono_ms"] < back_at * 1000]
    assert len(early) > 10 and len(later) > 3
    assert {event["clock"] for event in early} == {"mended"} and {event["clock"] for event in later} == {"synced"}
    assert all(event["ts"] == BEGAN_MS + event["mono_ms"] for event in early + later)
    assert {event.stamp.clock for event in stored[: len(early)]} == {"unsynced"}, "what was stored stays as it was"
    shown_text = CliRunner().invoke(journal, ["show", str(path)]).output.splitlines()
    assert "1970-" not in "\n".join(shown_text) and "Z~" in shown_text[1]


# -- mending -----------------------------------------------------------------------------------------------------------


@dataclass
class Notes:
    values: dict[str, str] = field(default_factory=dict)
    written: int = 0

    def meta(self, key: str, default: str = "") -> str:
        return self.values.get(key, default)

    async def note(self, values: Mapping[str, str | None]) -> None:
        self.written += 1
        self.values.update({key: value for key, value in values.items() if value is not None})


@dataclass
class Machine:
    """A computer without a battery clock: its clocks, and whether the time of day is known."""

    mono: float = 5.0
    utc_ms: int = 0
    state: ClockState = "unsynced"

    def clock(self) -> SystemClock:
        return SystemClock(lambda: self.mono, lambda: self.utc_ms * 1_000_000, lambda: self.state)

    def passes(self, seconds: float) -> None:
        self.mono += seconds
        self.utc_ms += round(seconds * 1000)


async def test_stamps_of_an_epoch_are_mended_once_its_clock_is_known() -> None:
    """F14: durations are those of the monotonic clock, whatever UTC did meanwhile."""
    machine, notes = Machine(), Notes()
    clock = machine.clock()
    watch = EpochClocks(clock, notes, 7)
    stamps = []
    for _ in range(5):
        machine.passes(60)
        stamps.append(clock.stamp())
        assert not await watch.look()
    assert notes.written == 1 and watch.zeros == {}
    assert [shown(stamp, 7, watch.zeros).clock for stamp in stamps] == ["unsynced"] * 5
    machine.utc_ms += YEARS_56_MS
    machine.passes(30)
    machine.state = "synced"
    right = machine.utc_ms
    assert await watch.look()
    assert not await watch.look() and notes.written == 2
    machine.utc_ms -= HOUR_MS
    machine.passes(30)
    mended = [shown(stamp, 7, watch.zeros) for stamp in stamps]
    assert [time.clock for time in mended] == ["mended"] * 5
    assert mended[-1].ts == right - 30_000
    assert [later.ts - earlier.ts for earlier, later in pairwise(mended)] == [60_000] * 4
    assert shown(Stamp(5, 1, "synced"), 7, watch.zeros) == ShownTime(5, "synced")
    assert shown(stamps[0], 8, watch.zeros).clock == "unsynced", "another epoch, of which nothing is known"


async def test_a_daemon_that_was_killed_before_the_clock_was_known_is_mended_by_the_next_of_the_same_start() -> None:
    machine, notes = Machine(), Notes()
    first = machine.clock()
    await EpochClocks(first, notes, 3, "boot-a").look()
    machine.passes(100)
    stamp = first.stamp()
    machine.passes(20)
    second = machine.clock()
    watch = EpochClocks(second, notes, 4, "boot-a")
    await watch.look()
    machine.utc_ms += YEARS_56_MS
    machine.passes(10)
    machine.state = "synced"
    assert await watch.look()
    assert shown(stamp, 3, watch.zeros) == ShownTime(machine.utc_ms - 30_000, "mended")


async def test_across_starts_of_the_machine_without_a_clock_only_the_order_is_known() -> None:
    machine, notes = Machine(), Notes()
    await EpochClocks(machine.clock(), notes, 3, "boot-a").look()
    machine = Machine()
    watch = EpochClocks(machine.clock(), notes, 4, "boot-b")
    await watch.look()
    machine.passes(20)
    machine.state = "synced"
    await watch.look()
    assert set(watch.zeros) == {4}


async def test_a_clock_that_is_right_from_the_start_notes_nothing() -> None:
    machine, notes = Machine(state="synced"), Notes()
    watch = EpochClocks(machine.clock(), notes, 1)
    for _ in range(3):
        machine.passes(20)
        assert not await watch.look()
    assert notes.written == 0


async def test_what_is_noted_of_epochs_stays_small_and_nonsense_is_borne(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controller.mending.EPOCHS_KEPT", 20)
    notes = Notes({NOTED: "[1, 2"})
    for epoch in range(50):
        await EpochClocks(Machine().clock(), notes, epoch, f"boot-{epoch}").look()
    assert list(map(int, json.loads(notes.values[NOTED]))) == list(range(30, 50))
    assert read_zeros("{}") == read_zeros("") == read_zeros('{"x": [1]}') == read_zeros("7") == {}


def test_a_clock_before_1970_is_still_a_stamp() -> None:
    machine = Machine(utc_ms=-5)
    assert machine.clock().stamp() == Stamp(0, 0, "unsynced")


# -- a whole daemon ----------------------------------------------------------------------------------------------------


@pytest.fixture
def system_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Steps the time of day of this process by ms, for everything that asks for it."""
    off = [0]
    real, real_ns = time.time, time.time_ns
    monkeypatch.setattr(time, "time", lambda: real() + off[0] / 1000)
    monkeypatch.setattr(time, "time_ns", lambda: real_ns() + off[0] * 1_000_000)

    def step(by_ms: int) -> None:
        off[0] += by_ms

    yield step


async def test_line_and_broker_do_not_notice_a_step_in_mid_frame(
    settings: Settings, board: Board, ear: Ear, broker: PrivateBroker, system_time: Callable[[int], None]
) -> None:
    """F10: UTC steps while half a frame is on the line: no session ends, nothing is sent again, no broker is lost."""
    address = broker_address(settings, settings.broker_user)
    begun = await start(settings, address, adopt=False)
    daemon = Daemon(settings, begun, address, SystemClock(utc_ns=lambda: time.time_ns()), Notifier({}))
    running = Running(daemon, begun, asyncio.create_task(daemon.run()))
    await ear.available("ready")
    line = daemon._lines[0]
    keys: list[int] = []
    hear = line.on_message

    def listen(line: Any, message: Any) -> None:
        if isinstance(message, serial.Key):
            keys.append(message.pressed_ms)
        hear(line, message)

    line.on_message = listen
    began = daemon._session.counters.connections
    for number, by in enumerate(STEPS_MS * 2):
        board._link.send(serial.Key("dice", "", 100 + number))
        with board.quiet():
            whole = board._link.outgoing(board._now())
            cut = len(whole) // 2
            os.write(board._master, whole[:cut])
            system_time(by)
            await asyncio.sleep(0.03)
            os.write(board._master, whole[cut:])
        async with asyncio.timeout(5):
            while len(keys) <= number:
                await asyncio.sleep(0.002)
    assert keys == list(range(100, 100 + 2 * len(STEPS_MS)))
    assert (line.stats.sessions, line.stats.losses, board.losses) == (1, 0, [])
    assert line.stats.errors == dict.fromkeys(line.stats.errors, 0)
    assert daemon._session.counters.connections == began == 1
    said = [body["mono_ms"] for topic, body in ear.heard if topic == TOPICS.state and body["epoch"] == begun.epoch]
    assert said == sorted(said)
    assert await running.end() < 5


def test_a_time_of_day_judges_ages_only_after_an_hour_without_a_step() -> None:
    """F10: a first network time, or a false one, makes nothing old at once."""
    judge = AgeJudge()
    hour = 3_600_000
    assert not judge.may_judge(Stamp(0, 0, "unsynced"))
    assert not judge.may_judge(Stamp(10**12, 1_000, "synced"))
    assert not judge.may_judge(Stamp(10**12 + hour - 1_001, hour - 1, "synced"))
    assert judge.may_judge(Stamp(10**12 + hour + 1_000, hour + 1_000, "synced"))
    years = 56 * 365 * 24 * hour
    assert not judge.may_judge(Stamp(10**12 + years + hour, hour + 2_000, "synced"))
    assert not judge.may_judge(Stamp(10**12 + 2 * hour, 2 * hour, "synced")), "put right again is a step as well"
    assert judge.may_judge(Stamp(10**12 + 3 * hour, 3 * hour, "synced"))
    assert not judge.may_judge(Stamp(10**12 + 4 * hour, 4 * hour, "unsynced"))
