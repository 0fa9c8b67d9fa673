"""The C reference passes the suite as the board in Python does: nothing in it depends on how a board was made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hil.conform.processes import SLACK, only, run, simulated
from tests.protocol.c.building import board

pytestmark = [pytest.mark.table, pytest.mark.timeout(600)]


def test_a_board_in_c_passes_what_is_tried_of_each_group(tmp_path: Path) -> None:
    with simulated(tmp_path, "--link", "serial", "--speed", "50", "--mcu", str(board())) as where:
        done = run(
            tmp_path, "serial", "--moves", "--provoke", "--gear", "120", "--world", where["world"], "--slack", SLACK,
            *only("1.6", "1.14", "2.8", "3.4", "4.5", "5.4", "6.2", "7.1.3", "7.2.20"), "--json",
        )  # fmt: skip
    assert json.loads(done.stdout)["counts"] == {"pass": 9, "fail": 0, "skip": 0}, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("words", [(), ("--sensing", "full", "--aid", "present", "--memory", "nonvolatile")],
                         ids=["plain", "fullest"])  # fmt: skip
def test_a_board_in_c_passes_everything(tmp_path: Path, words: tuple[str, ...]) -> None:
    with simulated(tmp_path, "--link", "serial", "--speed", "20", *words, "--mcu", str(board())) as where:
        done = run(
            tmp_path, "serial", "--moves", "--provoke", "--gear", "120", "--world", where["world"], "--slack", "0.4",
            seconds=500,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
