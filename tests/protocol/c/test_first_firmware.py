"""The C reference on a PC with its own small plant, as a newcomer starts it: a real process on a real pty."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from protocol.serial.messages import (
    CentreRaise,
    ClearStop,
    DiceFaces,
    DiceOutcome,
    DiceQuery,
    DiceRoll,
    EmergencyStop,
    Lamp,
    OpAccepted,
    OpProgress,
    OpRefused,
    OpResult,
    SortOutcome,
    SortStart,
    StopCleared,
    StopLatched,
)
from tests.protocol.c.building import ROOT, SANITIZED, board
from tests.simulators.host import Host, LinkLost
from tests.table.harness import wait_for


@contextmanager
def program(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The board's program; at the end it is told to end, and must do so without complaint."""
    out = (folder / "said").open("a", encoding="utf-8")
    command = [str(board(flags=SANITIZED)), "--link", str(folder / "serial"), *arguments]
    with out, subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True) as running:
        try:
            wait_for(lambda: (folder / "serial").is_symlink() or running.poll() is not None, "the line")
            yield running
        finally:
            running.terminate()
            _, complaints = running.communicate(timeout=10)
            assert complaints == ""


@asynccontextmanager
async def host_at(folder: Path) -> AsyncIterator[Host]:
    host = Host(folder / "serial")
    host.open()
    try:
        yield host
    finally:
        host.close()


def said(folder: Path) -> list[str]:
    return (folder / "said").read_text("utf-8").splitlines()


def test_the_probe_finds_it(tmp_path: Path) -> None:
    with program(tmp_path) as running:
        command = [sys.executable, "-m", "cli.main", "link", "probe", str(tmp_path / "serial"), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        assert "Kaijin C reference" in json.dumps(json.loads(done.stdout))
        assert "a host is there" in said(tmp_path)
        running.terminate()
        assert running.wait(10) == 0
    assert not (tmp_path / "serial").is_symlink()


async def test_lamps_dice_and_motions(tmp_path: Path) -> None:
    with program(tmp_path, "--speed", "100", "--seed", "3"):
        async with host_at(tmp_path) as host:
            identity = await host.identify()
            assert (identity.capabilities.dice, identity.capabilities.memory) == ("read", "volatile")
            host.send(Lamp("S", 3, 7, "gold"))
            roll = DiceRoll(host.new_op())
            host.send(roll)
            await host.until(OpAccepted)
            first = await host.until(OpResult)
            faces = DiceOutcome.unpack(first.values).dice
            assert faces is not None and all(1 <= face <= 6 for face in faces)
            host.send(roll)
            assert await host.until(OpResult) == first
            host.send(DiceQuery(host.next_req()))
            assert (await host.until(DiceFaces)).dice == faces
            assert await host.refused(SortStart, set_no=1) == "gear"
            assert (await host.set_gear()).accepted
            result = await host.run(SortStart, set_no=1)
            assert SortOutcome.unpack(result.values).tiles == (30, 30, 30, 30)
            assert (await host.run(CentreRaise)).outcome == "done"
            assert await host.refused(SortStart, set_no=1) == "interlock"
    assert said(tmp_path).count("dice roll") == 1
    assert "lamps of side 1, stacks 3 to 7: colour 5" in said(tmp_path)


async def test_a_stop_holds_what_moves_and_lets_the_dice_fall(tmp_path: Path) -> None:
    with program(tmp_path, "--speed", "4"):
        async with host_at(tmp_path) as host:
            await host.identify()
            await host.set_gear()
            sort, roll = SortStart(host.new_op(), 1), DiceRoll(host.new_op())
            host.send(sort)
            host.send(roll)
            await host.until(OpProgress)
            host.send(EmergencyStop("a hand"))
            results = {}
            while len(results) < 2:
                result = await host.until(OpResult)
                results[result.op] = result.outcome
            assert results == {sort.op: "interrupted", roll.op: "done"}
            host.send(CentreRaise(host.new_op()))
            assert (await host.until(OpRefused)).reason == "latched"
            host.send(EmergencyStop("another"))
            assert (await host.until(StopLatched)).reason == "a hand"
            host.send(ClearStop(host.next_req()))
            await host.until(StopCleared)
            assert (await host.run(CentreRaise)).outcome == "done"


async def test_without_a_host_it_stops_and_tells_the_next_one(tmp_path: Path) -> None:
    with program(tmp_path):
        async with host_at(tmp_path) as host:
            await host.identify()
            await host.set_gear()
            sort = SortStart(host.new_op(), 1)
            host.send(sort)
            await host.until(OpProgress)
            host.deaf = True
            async with asyncio.timeout(10):
                while "sort: interrupted" not in said(tmp_path):
                    await asyncio.sleep(0.02)
            host.deaf = False
            await host.until(LinkLost)
            await host.identify()
            host.send(sort)
            assert (await host.until(OpResult)).outcome == "interrupted"
    assert "nobody is there" in said(tmp_path)


async def test_a_memory_in_flash_outlives_a_killed_process(tmp_path: Path) -> None:
    flash = ("--flash", str(tmp_path / "flash"), "--speed", "2")
    async with host_at_killed(tmp_path, flash) as (roll, result, sort, before):
        with program(tmp_path, *flash):
            async with host_at(tmp_path) as host:
                identity = await host.identify()
                assert identity.boot_id != before
                assert identity.capabilities.memory == "nonvolatile"
                host.send(roll)
                assert await host.until(OpResult) == result
                host.send(sort)
                told = await host.until(OpResult)
                assert (told.outcome, told.fault) == ("interrupted", "brown_out")


@asynccontextmanager
async def host_at_killed(
    folder: Path, flash: tuple[str, ...]
) -> AsyncIterator[tuple[DiceRoll, OpResult, SortStart, int]]:
    """A throw is over and a sort runs when the board's process is killed."""
    command = [str(board(flags=SANITIZED)), "--link", str(folder / "serial"), *flash]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        wait_for((folder / "serial").is_symlink, "the line")
        async with host_at(folder) as host:
            boot_id = (await host.identify()).boot_id
            await host.set_gear()
            roll, sort = DiceRoll(host.new_op()), SortStart(host.new_op(), 1)
            host.send(roll)
            result = await host.until(OpResult)
            host.send(sort)
            await host.until(OpProgress)
            running.kill()
            running.wait(10)
    (folder / "serial").unlink()
    yield roll, result, sort, boot_id


def test_a_wrong_word_is_answered_with_what_is_expected(tmp_path: Path) -> None:
    for arguments in ((), ("--link",), ("--link", "x", "--colour", "red"), ("--speed", "0", "--link", "x")):
        command = [str(board(flags=SANITIZED)), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False, cwd=tmp_path)
        assert done.returncode == 2
        assert "--link PATH" in done.stderr
