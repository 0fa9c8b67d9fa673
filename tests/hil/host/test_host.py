"""The host drives a simulated table through scripts: what it finds, what it writes, and how it leaves the machine."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from cli.main import kaijin
from engine.ruleset import load_ruleset
from hil.host.bench import BenchError
from hil.host.limits import LimitsError, default_limits, limits_of, limits_toml, load_limits
from hil.host.operator import Nobody, Person, SimulatedHands
from hil.host.record import Record, as_json, as_text, read_record, write_record
from hil.host.runner import Run, run_scripts
from hil.host.script import ScriptError, find_script, names, parse_script
from simulators.felt import Happening
from simulators.table import SimulatedTable, TableConfig
from simulators.wear import Failure
from simulators.world import Missing

ROOT = Path(__file__).parents[3]
LOOSE = limits_of({"seconds": {name: {"max": 600.0} for name in ("centre_raise", "centre_lower", "walls_raise", "sort",
                                                                 "sort_median")},
                   "line": {"losses": 0, "retransmits": 1.0, "boots": 0}, "waits": {"operator": 5.0}})  # fmt: skip
"""What a loaded machine keeps at any speed."""


@asynccontextmanager
async def table(folder: Path, **more: Any) -> AsyncIterator[SimulatedTable]:
    config = TableConfig(
        faces=load_ruleset("new-xiamen-120").faces(), world=str(folder / "world"), link=folder / "port",
        **{"speed": "max", "seed": 3, **more},
    )  # fmt: skip
    async with SimulatedTable(config) as simulated:
        yield simulated


async def run(folder: Path, *scripts: str, **more: Any) -> Record:
    given = Run(
        port=str(folder / "port"), baud=115200, scripts=[find_script(name) for name in scripts], limits=LOOSE,
        limits_from="test", operator=SimulatedHands(str(folder / "world")), speed=None,
    )  # fmt: skip
    return await run_scripts(replace(given, **more), lambda words: None)


def found(record: Record, name: str) -> list[Any]:
    return [one for script in record.scripts for step in script.steps for one in step.measurements if one.name == name]


def failures(record: Record) -> list[str]:
    return [one.name for script in record.scripts for step in script.steps for one in step.measurements
            if one.verdict == "fail"]  # fmt: skip


# --- what it finds --------------------------------------------------------------------------------------------------


async def test_a_sound_table_passes_every_script_and_the_record_says_what_it_was(tmp_path: Path) -> None:
    moves = ["centre:times=3", "dice:times=200", "sort:cycles=3", "walls:times=2"]
    scripts = [*moves, "keys", "faults", "selftest", "lamps"]
    async with table(tmp_path, cocked=0.01) as simulated:
        record = await run(tmp_path, *scripts, note="bench 4")
        throws, lamps = simulated.world.throws, simulated.mcu.lamps
        service = simulated.mcu.mechanisms.service
    assert (record.verdict, record.reasons, failures(record)) == ("pass", [], [])
    assert record.board.serial_number == "SIM-0001" and record.note == "bench 4"
    assert len(record.board.boot_ids) == 1
    assert throws == 200 and found(record, "throws")[0].value == 200
    assert found(record, "tiles at E")[0].value == "30"
    assert {one.verdict for one in found(record, "lamps gold")} == {"skipped"}
    told = {one.name.split()[0] for one in record.scripts[5].steps[0].measurements}
    assert told == set(default_limits().claims.faults)
    # It leaves nothing behind.
    assert lamps == {side: {} for side in "ESWN"} and not service
    assert read_record(json.dumps(as_json(record))) == record
    shown = CliRunner().invoke(kaijin, ["simulate", "host", "--show-schema"])
    jsonschema.validate(as_json(record), json.loads(shown.output))
    assert as_text(record).startswith("PASS  Kaijin simulated table, firmware sim-1.0, serial number SIM-0001")


async def test_loaded_dice_fail_and_the_reason_says_by_how_much(tmp_path: Path) -> None:
    async with table(tmp_path, cocked=0.0) as simulated:
        fair = simulated.world.settle

        def loaded() -> Any:
            thrown = fair()
            first = 6 if thrown.number % 4 == 0 else thrown.dice[0]
            simulated.world.lying = replace(thrown, dice=(first, thrown.dice[1]))
            return simulated.world.lying

        simulated.world.settle = loaded  # type: ignore[method-assign]
        record = await run(tmp_path, "dice:times=400")
    assert record.verdict == "fail"
    assert "faces chi-square" in failures(record)
    assert "expected at most 15.086" in record.reasons[0]


async def test_dice_that_lean_too_often_or_are_not_read_are_told_apart(tmp_path: Path) -> None:
    async with table(tmp_path, cocked=0.3):
        assert "cocked" in failures(await run(tmp_path, "dice:times=80"))
    (tmp_path / "other").mkdir()
    async with table(tmp_path / "other", dice="unread"):
        record = await run(tmp_path / "other", "dice:times=20")
    assert record.verdict == "pass"
    assert [one.verdict for one in found(record, "fairness")] == ["skipped"]


async def test_a_sort_that_fails_and_one_that_is_short_are_in_the_record(tmp_path: Path) -> None:
    failing, short = Failure("sort", 2, "head_jam"), Missing(3, "S")
    async with table(tmp_path, failures=[failing], missing=[short]):
        strict = limits_of({**LOOSE.model_dump(), "sorts": {"failed": 0.0, "miscounted": 0.0}})
        record = await run(tmp_path, "sort:cycles=4", limits=strict)
    # The tile that was lost at the third sort is short at every one after it.
    assert failures(record) == ["failed sorts", "miscounted"]
    assert found(record, "tiles at S")[0].value != "30"
    assert any(one.name.startswith("ended failed head_jam") for one in record.scripts[0].steps[0].measurements)


async def test_a_board_that_is_too_slow_fails_by_its_times(tmp_path: Path) -> None:
    slow = limits_of({**LOOSE.model_dump(), "seconds": {**LOOSE.seconds.model_dump(), "centre_raise": {"max": 0.6}}})
    async with table(tmp_path, speed=2):
        record = await run(tmp_path, "centre:times=1", limits=slow, speed=2.0)
    assert failures(record) == ["centre_raise slowest"]
    # 1.2 s a stroke at the table's own speed, however fast it is simulated.
    assert 1.0 < found(record, "centre_raise slowest")[0].value < 3.0


async def test_a_fault_that_is_never_told_or_never_cleared_fails(tmp_path: Path) -> None:
    async with table(tmp_path) as simulated:
        board = simulated.mcu
        tell, clear = board.raise_fault, board.clear_fault
        board.raise_fault = lambda *told: None if told[0] == "eye_dirty" else tell(*told)  # type: ignore[method-assign]
        board.clear_fault = lambda *told: None if told[0] == "head_jam" else clear(*told)  # type: ignore[method-assign]
        quick = limits_of({**LOOSE.model_dump(), "waits": {"operator": 1.0, "fault": {"max": 0.5}}})
        record = await run(tmp_path, str(_script(tmp_path)), limits=quick)
    assert failures(record) == ["eye_dirty E raised", "head_jam E cleared"]


def _script(folder: Path) -> Path:
    path = folder / "some.toml"
    path.write_text(
        '[about]\ntitle = "Some faults"\n[[step]]\ndo = "faults"\ncodes = ["eye_dirty", "head_jam", "lid_open"]\n'
    )
    return path


async def test_a_fault_that_shows_in_movement_is_provoked_by_a_person_and_moved_by_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "one.toml"
    script.write_text('[about]\ntitle = "One"\n[[step]]\ndo = "faults"\ncodes = ["sort_timeout", "dice_stuck"]\n')
    reading, writing = os.pipe()
    with os.fdopen(reading) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        os.write(writing, b"\n" * 4)
        wedged = [Failure("sort", 1, "sort_timeout"), Failure("dice_roll", 1, "dice_stuck")]
        async with table(tmp_path, failures=wedged) as simulated:
            record = await run(tmp_path, str(script), operator=Person())
            assert (simulated.world.sorts, simulated.world.throws) == (2, 2)
        os.close(writing)
    assert record.verdict == "pass", record.reasons
    assert [one.name for one in record.scripts[0].steps[0].measurements if one.verdict == "pass"] == [
        "sort_timeout raised", "sort_timeout cleared", "dice_stuck raised", "dice_stuck cleared",
    ]  # fmt: skip
    assert "hold a tile back at the feed mouth" in capsys.readouterr().err


async def test_a_key_that_is_wired_to_another_seat_fails_and_says_which_came(tmp_path: Path) -> None:
    async with table(tmp_path) as simulated:
        noticed = simulated.mcu.noticed

        def crossed(happening: Happening) -> None:
            noticed(replace(happening, seat={"E": "S"}.get(happening.seat, happening.seat)))

        simulated.mcu.noticed = crossed  # type: ignore[method-assign]
        record = await run(tmp_path, "keys", limits=limits_of({**LOOSE.model_dump(), "waits": {"operator": 0.5}}))
    assert failures(record) == ["key E"]
    assert "told instead: seat S" in record.reasons[0]


async def test_a_person_is_told_what_to_do_and_asked_what_only_eyes_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        os.write(writing, b"y\nn\n")
        async with table(tmp_path) as simulated:
            work = asyncio.create_task(run(tmp_path, 'lamps:colours=["gold"]', "keys", operator=Person()))
            said = ""
            for key, seat in (("lift", "E"), ("dice", "E"), *(("seat", seat) for seat in "ESWN")):
                while f">> press the {key} key{' of seat ' + seat if key == 'seat' else ''}" not in said:
                    said += capsys.readouterr().err
                    await asyncio.sleep(0.01)
                simulated.world.press(key, seat)
            record = await work
        os.close(writing)
    assert ">> are all lamps lit in gold? [y/n]" in said
    assert failures(record) == ["lamps off"]
    assert [one.verdict for one in record.scripts[1].steps[0].measurements] == ["pass"] * 6


async def test_a_self_test_that_fails_names_what_it_found(tmp_path: Path) -> None:
    async with table(tmp_path) as simulated:
        simulated.mcu.raise_fault("eye_dirty", "warning", "eye", "W")
        record = await run(tmp_path, "selftest")
    assert failures(record) == ["self-test eyes"]
    assert "eyes: eye_dirty W" in record.reasons[0]


async def test_repeated_throws_are_judged_together(tmp_path: Path) -> None:
    script = tmp_path / "mix.toml"
    script.write_text(
        '[about]\ntitle = "Mix"\n[[step]]\ndo = "repeat"\ntimes = 20\n[[step.step]]\ndo = "dice"\ntimes = 10\n'
    )
    async with table(tmp_path, cocked=0.0):
        record = await run(tmp_path, str(script))
    assert len(record.scripts[0].steps) == 21
    together = record.scripts[0].steps[-1]
    assert together.words == {"throws of all rounds": 200}
    passed = {one.name for one in together.measurements if one.verdict == "pass"}
    assert passed >= {"faces chi-square", "pairs chi-square"}


# --- trouble on the way ---------------------------------------------------------------------------------------------


async def test_a_plug_pulled_in_the_middle_throws_nothing_twice_and_is_in_the_record(tmp_path: Path) -> None:
    async with table(tmp_path, speed=20) as simulated:
        work = asyncio.create_task(run(tmp_path, "dice:times=12", speed=20.0))
        while simulated.world.throws < 4:
            await asyncio.sleep(0.01)
        await simulated.mcu.unplug(0.3)
        record = await work
        assert simulated.world.throws == 12
    assert [one.verdict for one in record.line.measurements if one.name == "sessions lost"] == ["fail"]
    assert record.verdict == "fail"


async def test_a_board_that_starts_anew_in_a_throw_is_not_asked_for_it_again(tmp_path: Path) -> None:
    async with table(tmp_path, speed=4) as simulated:
        work = asyncio.create_task(run(tmp_path, "dice:times=3", speed=4.0))
        while not simulated.world.spinning:
            await asyncio.sleep(0.01)
        await simulated.mcu.reboot()
        record = await work
        assert simulated.world.throws == 3
        assert set(simulated.mcu.thrown.values()) == {1}
    assert [one.value for one in found(record, "ended forgotten the board started anew")] == [1]
    assert len(record.board.boot_ids) == 2


async def test_a_port_without_a_board_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hil.host.bench.COMES_BACK_S", 0.5)
    with pytest.raises(BenchError, match="no such device"):
        await run(tmp_path, "dice")


async def test_a_board_of_a_dialect_is_tested_with_what_it_can(tmp_path: Path) -> None:
    from controller.adapters import Adapter
    from protocol.dialects import dialect

    async with table(tmp_path, dialect="example") as simulated:
        record = await run(
            tmp_path, "centre:times=1", "dice:times=2", operator=Nobody(),
            opener=Adapter(dialect("example"), 100.0).open,
        )  # fmt: skip
        assert [order.verb for order in simulated.mcu.heard] == [  # type: ignore[attr-defined]
            "centre_raise", "centre_lower", "dice_roll", "dice_roll",
        ]  # fmt: skip
    assert record.verdict == "pass"


# --- stopping -------------------------------------------------------------------------------------------------------


async def test_a_cancelled_run_stops_the_sort_and_keeps_what_was_measured(tmp_path: Path) -> None:
    async with table(tmp_path, speed=20) as simulated:
        work = asyncio.create_task(run(tmp_path, "dice:times=2", "sort:cycles=50", speed=20.0))
        while simulated.world.sorts < 2:
            await asyncio.sleep(0.01)
        work.cancel()
        record = await work
        assert not any(simulated.mcu.mechanisms.running.values())
        assert simulated.mcu.counts["sort_interrupted"] == 1
        assert not simulated.mcu.stop_reason
    assert record.verdict == "stopped" and "stopped before its end" in record.reasons
    assert record.left == ["the sort was stopped"]
    assert found(record, "throws")[0].value == 2
    assert found(record, "sorts")[0].value >= 1


async def test_a_second_ctrl_c_stops_at_once_and_says_that_a_stop_is_latched(tmp_path: Path) -> None:
    async with table(tmp_path, speed=0.1) as simulated:
        given = Run(
            port=str(tmp_path / "port"), baud=115200, scripts=[find_script("centre:times=5")], limits=LOOSE,
            limits_from="test", operator=Nobody(), speed=0.1,
        )  # fmt: skip
        work = asyncio.create_task(run_scripts(given, lambda words: None, signals=True))
        while simulated.world.centre != "moving":
            await asyncio.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.1)
        assert simulated.mcu.mechanisms.running["centre_raise"]  # a stroke may end by itself …
        os.kill(os.getpid(), signal.SIGINT)
        record = await work
        # … unless somebody is in a hurry: it would have taken 12 s.
        assert simulated.mcu.stop_reason == "the end-of-line test was stopped"
        assert not any(simulated.mcu.mechanisms.running.values())
    assert record.left == ["an emergency stop is latched: clear it before the table is used"]
    assert record.verdict == "stopped"


def test_ctrl_c_leaves_the_machine_still_and_writes_the_record(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "cli.main", "simulate"]
    where = ["--link", str(tmp_path / "port"), "--world", str(tmp_path / "world"), "--speed", "10", "--json"]
    board = subprocess.Popen([*command, "table", *where], stdout=subprocess.PIPE, env=environment, text=True)
    try:
        assert board.stdout is not None and board.stdout.readline()
        host = subprocess.Popen(
            [*command, "host", str(tmp_path / "port"), "sort", "--speed", "10", "--record", str(tmp_path / "r.json")],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True,
        )  # fmt: skip
        assert host.stderr is not None
        for line in host.stderr:
            if line.startswith("1 sorts"):
                break
        host.send_signal(signal.SIGINT)
        out, _ = host.communicate(timeout=30)
        assert host.returncode == 3
        assert out.startswith("STOPPED")
        record = read_record((tmp_path / "r.json").read_text("utf-8"))
        assert record.verdict == "stopped" and found(record, "sorts")[0].value >= 1
        board.send_signal(signal.SIGTERM)
        summary = json.loads(board.communicate(timeout=20)[0].splitlines()[-1])
        assert summary["running"] == []
    finally:
        board.kill()
        board.wait(5)


def test_what_is_wrong_with_a_call_is_said() -> None:
    def call(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(kaijin, ["simulate", "host", *words])
        return done.exit_code, done.output

    code, said = call("/nowhere", "keys")
    assert code == 2 and "keys needs somebody at the table" in said
    code, said = call("/nowhere", "dise")
    assert code == 2 and "no script 'dise': expected one of burn_in, centre, dice" in said
    code, said = call("/nowhere")
    assert code == 2 and "at least one SCRIPT" in said
    code, said = call("/nowhere", "dice", "--record", "/nowhere/at/all.json")
    assert code == 2 and "there is no folder" in said
    assert call("--list")[0] == 0 and "burn_in" in call("--list")[1]


# --- scripts and limits ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", names())
def test_every_built_in_script_can_be_read(name: str) -> None:
    assert find_script(name).about.says


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("dice:cycles=3", "no step of it has the word 'cycles'"),
        ("dice:times=many", "times"),
        ("dice:times", "expected WORD=VALUE"),
        ("nowhere/x.toml", "cannot be read"),
        ("sort:cycles=0,seconds=0", "how often"),
    ],
)
def test_a_script_that_cannot_be_run_is_refused_with_its_word(told: str, said: str) -> None:
    with pytest.raises(ScriptError, match=said):
        find_script(told)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[step]]\ndo = 'dice'\n", "about"),
        ("[about]\ntitle = 'x'\n", r"at least one \[\[step\]\]"),
        ("[about]\ntitle = 'x'\n[[step]]\ndo = 'dance'\n", "step 1"),
        ("[about]\ntitle = 'x'\n[[step]]\ndo = 'faults'\ncodes = ['link_lost']\n", "link_lost is found by the host"),
        ("[about]\ntitle = 'x'\n[[step]]\ndo = 'selftest'\ntests = ['brakes']\n", "'brakes': expected some of"),
        ("[about]\ntitle = 'x'\n[[step]]\ndo = 'repeat'\n[[step.step]]\ndo = 'dice'\n", "repeat: how often"),
        ("title = [", "expected TOML"),
    ],
)
def test_a_bad_script_is_named_with_step_and_word(text: str, said: str) -> None:
    with pytest.raises(ScriptError, match=said):
        parse_script(text, "mine.toml")


def test_the_shown_limits_are_read_as_the_default(tmp_path: Path) -> None:
    path = tmp_path / "limits.toml"
    path.write_text(limits_toml(default_limits()), encoding="utf-8")
    assert load_limits(path) == default_limits()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[dise]\n", r"there is no \[dise\]; expected one of fairness, dice"),
        ("[dice]\ncocked = 3\n", "dice.cocked"),
        ("[seconds]\nsort = { min = 3, max = 2 }\n", "min is above max"),
        ("[gear]\ntiles = 121\n", "two tiles a stack"),
        ("[claims]\nfaults = ['link_lost']\n", "found by the host"),
        ("x", "expected TOML"),
    ],
)
def test_bad_limits_are_named_with_their_key(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "limits.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LimitsError, match=said):
        load_limits(path)


def test_a_record_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    record = Record(
        begun="2026-01-01T00:00:00Z", clock="synced", host="h", port="p", speed=1.0, limits={}, limits_from="default",
        board={"model": "m", "firmware": "f", "serial_number": "", "protocol": 1, "capabilities": {}, "gear": {},
               "boot_ids": []},  # type: ignore[arg-type]
    )  # fmt: skip
    with pytest.raises(OSError):
        write_record(record, tmp_path / "nowhere" / "r.json")
    write_record(record, tmp_path / "r.json")
    assert read_record((tmp_path / "r.json").read_text("utf-8")) == record
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]
