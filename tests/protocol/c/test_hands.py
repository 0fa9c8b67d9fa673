"""The daemon plays against the C board as against the one in Python: the same seed, the same hands to the last tile."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli.main import kaijin
from simulators.channel import order
from tests.protocol.c.building import ROOT, board
from tests.table.harness import WholeTable

pytestmark = [pytest.mark.table, pytest.mark.timeout(600)]


def play(hands: int, seed: int, *arguments: str, seconds: float = 500) -> dict[str, Any]:
    """A demo without pages; what happened."""
    command = [sys.executable, "-m", "cli.main", "demo", "--headless", "--hands", str(hands), "--speed", "max"]
    command += ["--seed", str(seed), "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def compared(hands: int, seed: int, *arguments: str, seconds: float = 500) -> None:
    in_c = play(hands, seed, "--mcu", str(board()), *arguments, seconds=seconds)
    in_python = play(hands, seed, *arguments, seconds=seconds)
    assert in_c["hands"] == in_python["hands"] == hands
    for what in ("digest", "gold", "dealer", "wins", "points"):
        assert in_c[what] == in_python[what]
    assert in_c["table"]["boots"] == 1
    assert in_c["table"]["thrown_again"] == in_c["table"]["failed"] == 0


def test_a_few_hands_are_the_same() -> None:
    compared(2, 11)


async def test_a_hand_goes_on_when_the_board_is_reset_and_when_it_stands_still(tmp_path: Path) -> None:
    """At a table that reads its tiles: the hand ends, and no throw is made twice."""
    table = WholeTable(tmp_path, sensing="full", hands=1, simulate=("--mcu", str(board())))
    async with table:
        await table.stored("DiceRolled", 1, 120)
        await order(str(table.world), "reboot", {})
        await table.stored("GoldOpened", 1, 120)
        await order(str(table.world), "freeze", {"seconds": 2.5})
        await table.hands_ended(1, 200)
        table.kill("hardware", signal.SIGTERM)
        counts = table.counts("hardware")
    assert counts["boots"] == 2
    assert counts["thrown_again"] == 0


def test_what_a_board_of_its_own_cannot_have_is_refused(tmp_path: Path) -> None:
    usual = ["simulate", "table", "--world", str(tmp_path / "world"), "--mcu", str(board())]
    link = ["--link", str(tmp_path / "serial")]
    for arguments in (["--tcp", "127.0.0.1:0"], [*link, "--baud", "9600"], [*link, "--scenario", "loose-plug"]):
        done = CliRunner().invoke(kaijin, [*usual, *arguments])
        assert (done.exit_code, "--mcu" in done.output) == (2, True), done.output
    done = CliRunner().invoke(kaijin, [*usual[:-1], str(tmp_path / "none"), *link])
    assert (done.exit_code, "does not exist" in done.output) == (2, True), done.output


@pytest.mark.long
@pytest.mark.timeout(24 * 3600)
def test_a_thousand_hands_are_the_same() -> None:
    compared(1000, 17, seconds=11 * 3600)
