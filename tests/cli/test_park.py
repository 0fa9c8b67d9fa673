"""`kaijin park`: the machine ends its cycle, the table is parked and says so, and the match goes on another day."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import kaijin
from cli.park import WAIT_S
from controller.credentials import make_credentials, save_credentials
from tests.table.harness import TABLE, WholeTable, free_port

ROOT = Path(__file__).resolve().parents[2]
SORT_FAULT_S = 60
STOP_S = 5
SOON_S = 20
"""Far less than the waiting that is allowed, and enough for a busy machine to start a program."""


def settings(folder: Path, port: int) -> Path:
    """The settings of a table whose broker is, or is not, at a port."""
    save_credentials(folder / "credentials.json", make_credentials(TABLE))
    path = folder / "table.toml"
    broker = f'port = {port}\ncredentials = "credentials.json"'
    path.write_text(f'[table]\nid = "{TABLE}"\n[serial]\nports = ["none"]\n[broker]\n{broker}\n')
    return path


def call(config: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cli.main", "park", "--config", str(config), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


async def parks(table: WholeTable, *options: str) -> tuple[int, str]:
    """What the command answers, while the table goes on: its exit code and its only line."""
    done = await asyncio.to_thread(call, table.config, *options)
    (line,) = (done.stdout + done.stderr).splitlines()
    return done.returncode, line


async def stops_and_starts(table: WholeTable) -> None:
    """A plain end by SIGTERM, within its time, and a new start."""
    began = time.monotonic()
    assert await asyncio.to_thread(table.kill, "daemon", signal.SIGTERM) == 0
    assert time.monotonic() - began < STOP_S
    table.start_daemon()
    await available(table, "parked", reason="power")


async def available(table: WholeTable, state: str, **more: str) -> None:
    wanted = {"state": state, **more}
    await table.follow("view", table.topics.availability, lambda data: wanted.items() <= data.items(), 30)


# --- nobody there -----------------------------------------------------------------------------------------------------


def test_without_a_broker_it_says_so_at_once(tmp_path: Path) -> None:
    port = free_port()
    began = time.monotonic()
    result = CliRunner().invoke(kaijin, ["park", "--config", str(settings(tmp_path, port))])
    assert result.exit_code == 1 and time.monotonic() - began < SOON_S
    assert result.output.startswith(f"Error: the broker at 127.0.0.1:{port} cannot be used: ")
    assert len(result.output.splitlines()) == 1


def test_without_settings_or_credentials_it_names_them(tmp_path: Path) -> None:
    result = CliRunner().invoke(kaijin, ["park", "--config", str(tmp_path / "table.toml")])
    assert result.exit_code == 1 and "no such file" in result.output
    config = settings(tmp_path, free_port())
    (tmp_path / "credentials.json").unlink()
    result = CliRunner().invoke(kaijin, ["park", "--config", str(config)])
    assert result.exit_code == 1 and "credentials.json: no such file" in result.output
    result = CliRunner().invoke(kaijin, ["park", "--config", str(config), "--reason", "fun"])
    assert result.exit_code == 2 and "power" in result.output


@pytest.mark.table
async def test_without_a_daemon_or_with_one_that_hangs_it_ends_soon(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, people="", autostart=False) as table:
        await available(table, "ready")
        daemon = table.processes["daemon"]
        daemon.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        code, line = await parks(table)
        assert code == 1 and time.monotonic() - began < SOON_S
        assert re.fullmatch(f"Error: the daemon of {TABLE} (does not answer .*|is not running .lost.: .*)", line)
        daemon.send_signal(signal.SIGCONT)
        await available(table, "ready")
        table.kill("daemon", signal.SIGTERM)
        began = time.monotonic()
        code, line = await parks(table)
        assert (code, line) == (1, f"Error: the daemon of {TABLE} is not running (offline): nothing moves")
        assert time.monotonic() - began < SOON_S


# --- a table that is turned off ---------------------------------------------------------------------------------------


@pytest.mark.table
@pytest.mark.timeout(180)
async def test_in_the_midst_of_sorting_the_sort_ends_and_the_match_goes_on_later(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=1, speed="10", people="") as table:
        await table.state(lambda data: data["machine"]["sorting"] is not None)
        code, line = await parks(table, "--reason", "power")
        assert (code, line) == (0, f"{TABLE} is parked (power); the match is kept")
        done = await table.physical()
        assert done["sorts"] == 1, "what was begun is ended, nothing else is begun"
        state = await table.state(lambda data: data["machine"]["sorting"] is None)
        assert state["match"]["number"] == 1 and state["use"] == "closing"
        assert await parks(table) == (0, f"{TABLE} is parked already (power)")
        await stops_and_starts(table)
        assert (await table.physical())["sorts"] == 1
        code, line = await parks(table, "--unpark")
        assert code == 1 and line.startswith(f"Error: {TABLE} is parked (power) and stays so: it goes on by a press")
        await available(table, "parked")
        assert (await table.physical())["sorts"] == 1
        await table.answer("W", "parked", "unpark")
        table.speed = "max"
        table.start_people()
        await table.ended()
        assert [name for name, _ in table.events() if name in ("MatchStarted", "HandEnded")] == [
            "MatchStarted",
            "HandEnded",
        ]


@pytest.mark.table
@pytest.mark.timeout(180)
@pytest.mark.parametrize("sensing", ["none", "full"])
async def test_in_mid_hand_the_hand_goes_on_later_where_it_stood(tmp_path: Path, sensing: str) -> None:
    async with WholeTable(tmp_path, hands=1, speed="20", sensing=sensing) as table:
        await table.state(lambda data: data["phase"] == "play")
        code, line = await parks(table, "--reason", "power")
        assert (code, line) == (0, f"{TABLE} is parked (power); the match is kept")
        before = await table.state(lambda data: data["use"] == "closing")
        await stops_and_starts(table)
        after = await table.state(lambda data: data["machine"]["link"] == "up")
        for kept in ("phase", "hand", "dealer", "gold", "flowers", "match", "play", "book"):
            assert after[kept] == before[kept], kept
        await table.answer("W", "parked", "unpark")
        await table.ended()
        names = [name for name, _ in table.events()]
        assert names.count("HandEnded") == names.count("MatchStarted") == 1
        assert (await table.physical())["throws"] == names.count("RollBegun")


@pytest.mark.table
async def test_an_open_centre_is_waited_for_and_a_late_table_is_told(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=1, people="", timing={"answer_speed": 3.0}) as table:
        await table.answer("E", "lift", "lift")
        await table.state(lambda data: data["phase"] == "push_in")
        code, line = await parks(table, "--wait", "1", "--reason", "time")
        assert (code, line) == (3, f"Error: {TABLE} is not parked after 1 s (phase push_in); it still will be")
        assert await parks(table, "--unpark") == (0, f"{TABLE} is not parked (ready), and will not be")
        await table.state(lambda data: data["use"] == "playing", 5)
        code, line = await parks(table, "--wait", "1", "--reason", "time")
        assert (code, line) == (3, f"Error: {TABLE} is not parked after 1 s (phase push_in); it still will be")
        assert await parks(table) == (0, f"{TABLE} is parked (time); the match is kept")
        await table.state(lambda data: data["use"] == "closing" and data["machine"]["centre"] == "down", 5)


@pytest.mark.table
async def test_a_critical_fault_parks_the_table_and_a_person_lets_it_go_on(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, people="", autostart=False) as table:
        await available(table, "ready")
        await table.world_act("control", verb="fault", code="motor_stall", severity="fault")
        await available(table, "fault", reason="motor_stall")
        await table.world_act("control", verb="fault", code="brown_out", severity="critical")
        await available(table, "parked", reason="fault")
        await table.answer("S", "parked", "unpark")
        await available(table, "fault")
        await table.world_act("control", verb="reboot")
        await table.state(lambda data: data["machine"]["link"] == "up")
        assert [name for name, _ in table.events() if name == "Parked"] == ["Parked"]


@pytest.mark.table
async def test_a_match_that_starts_by_itself_waits_until_a_parked_table_goes_on(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, people="", autostart=False) as table:
        await available(table, "ready")
        assert await parks(table, "--unpark") == (0, f"{TABLE} is not parked (ready), and will not be")
        assert await parks(table, "--reason", "power") == (0, f"{TABLE} is parked (power)")
        table.autostart = True
        table.write_config()
        await stops_and_starts(table)
        await table.state(lambda data: data["machine"]["link"] == "up" and data["phase"] == "idle")
        await table.answer("E", "parked", "unpark")
        await table.state(lambda data: data["phase"] == "lift", 10)


# --- the unit ---------------------------------------------------------------------------------------------------------


def unit(name: str) -> dict[str, list[str]]:
    """The keys of a unit, with all that stands behind each."""
    found: dict[str, list[str]] = {}
    for line in (ROOT / "deploy" / "systemd" / f"{name}.service").read_text(encoding="utf-8").splitlines():
        key, sign, value = line.partition("=")
        if sign and not line.startswith("#"):
            found.setdefault(key, []).append(value)
    return found


def test_the_unit_parks_before_it_stops_and_leaves_time_for_it() -> None:
    keys = unit("kaijin")
    (stop,) = keys["ExecStop"]
    assert stop.startswith("-"), "a table that cannot be parked is stopped none the less"
    words = stop.split()[1:]
    assert words[0] == "park" and words[words.index("--reason") + 1] == "power"
    wait = int(words[words.index("--wait") + 1])
    assert wait == WAIT_S > SORT_FAULT_S
    assert int(keys["TimeoutStopSec"][0]) >= wait + STOP_S
    assert int(keys["TimeoutAbortSec"][0]) < 15, "a daemon that hangs is not waited for so long"
    assert {"kaijin-broker.service", "kaijin-web.service"} <= set(keys["After"][0].split()), "they end after it"
    assert CliRunner().invoke(kaijin, [*words, "--config", "nowhere.toml"]).exit_code == 1, "its options exist"
