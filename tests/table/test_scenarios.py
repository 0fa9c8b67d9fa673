"""Every shipped scenario at a whole table: play goes on, and what was played is what was booked."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from simulators.scenario import library

pytestmark = [pytest.mark.table, pytest.mark.timeout(300)]


@pytest.mark.long
@pytest.mark.parametrize("sensing", ["none", "full"])
@pytest.mark.parametrize("name", library.names())
def test_hands_are_played_through_every_scenario(name: str, sensing: str) -> None:
    """`kaijin demo` replays the records of what was booked and fails where they disagree."""
    if name == "erring_readers" and sensing == "none":
        pytest.skip("a table without readers")
    command = [sys.executable, "-m", "cli.main", "demo", "--headless", "--hands", "3", "--speed", "max", "--json"]
    command += ["--seed", "4", "--sensing", sensing, "--scenario", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr}"
    summary = json.loads(done.stdout.splitlines()[-1])
    assert summary["hands"] == 3 and summary["replayed"]
    assert summary["table"]["thrown_again"] == 0
    at_table = library.shipped(name).at_table
    assert sum(summary["table"]["ordered"].values()) >= min(1, len(at_table))
