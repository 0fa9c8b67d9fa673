"""kill -9 at the writes of the journal of one whole hand: it comes to the same points, and no throw is made twice.

The points are those that the journal's writer passes (`controller.journal.writing.reached`), not a list by hand: each
daemon dies at the next write of play after the one that the daemon before it died at, or so many further on.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine import events as e
from tests.table.evening import check_book, standing, steps
from tests.table.harness import WholeTable

pytestmark = [pytest.mark.table, pytest.mark.timeout(900)]

SEED = 31


@dataclass
class DyingTable(WholeTable):
    """Its daemons die at a point of their journal, one after the other."""

    point: str = ""

    def start_daemon(self) -> None:
        """A daemon that dies, or one that does not where no point is set."""
        if not self.point:
            super().start_daemon()
            return
        run = [self.point, str(self.folder / "points"), "run", "--config", str(self.config)]
        command = ["setpriv", "--pdeathsig", "KILL", sys.executable, "-m", "tests.table.dying", *run]
        with (self.folder / "daemon.out").open("ab") as out, (self.folder / "daemon.err").open("ab") as err:
            self.processes["daemon"] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def points_tried(self) -> list[list[str]]:
        """Each counted write at the point: first event, events, point, what became of the daemon."""
        path = self.folder / "points"
        return [line.split(" ", 3) for line in path.read_text().splitlines()] if path.exists() else []


async def play_dying(table: DyingTable, points: list[str], seconds: float) -> int:
    """One hand by daemons that die at these points in turn, each restarted at once; how many died."""
    died = 0
    async with asyncio.timeout(seconds):
        while table.count("HandEnded") < 1:
            daemon = table.processes["daemon"]
            while daemon.poll() is None and table.count("HandEnded") < 1:
                await asyncio.sleep(0.02)
            if daemon.poll() is not None:
                assert daemon.returncode == -signal.SIGKILL, table.logs()
                died += 1
                table.point = points[died % len(points)]
                table.start_daemon()
    table.kill("daemon")
    table.point = ""
    table.start_daemon()
    await table.ended()
    return died


async def undisturbed(folder: Path) -> list[dict[str, Any]]:
    """What the hand comes to when nobody is killed."""
    folder.mkdir()
    async with WholeTable(folder, hands=1, seed=SEED) as table:
        await table.ended()
    return standing(table.journal)


WAYS = [
    pytest.param(["after:12", "twin:12", "before:12"], 3, id="some"),
    # A daemon that dies behind each note of a throw never comes to send one: that note is among the other ways.
    pytest.param(["after:1:events"], 40, marks=[pytest.mark.long, pytest.mark.timeout(3600)], id="behind every write"),
    pytest.param(["before:2"], 40, marks=[pytest.mark.long, pytest.mark.timeout(3600)], id="before every commit"),
    pytest.param(["twin:2"], 40, marks=[pytest.mark.long, pytest.mark.timeout(3600)], id="before every write"),
]


@pytest.mark.parametrize(("points", "least"), WAYS)
async def test_a_daemon_killed_at_every_write_plays_the_same_hand(
    tmp_path: Path, points: list[str], least: int
) -> None:
    right = await undisturbed(tmp_path / "right")
    async with DyingTable(tmp_path, hands=1, seed=SEED, point=points[0]) as table:
        died = await play_dying(table, points, 300 if least < 10 else 3000)
        physical = await table.physical()
    assert died >= least, table.points_tried()
    assert standing(table.journal) == right
    check_book(table.journal)
    # Where nobody could know whether a throw was made, people were asked, and it counts once at most.
    begun, lost = happened(table, e.RollBegun), happened(table, e.DiceLost)
    assert begun - lost <= physical["throws"] <= begun, "a throw was made twice, or not at all"
    assert physical["walls"] == 1 and not physical["thrown_again"]
    if least >= 40:
        # Behind every single write of the hand a daemon died, or before it: none was passed over.
        dead = {int(first) for first, _, _, what in table.points_tried() if what == "dies"}
        first = {stored.n for stored, _, _, _ in steps(table.journal)}
        assert len(dead) >= least and dead <= first | {max(first) + 1}


def happened(table: WholeTable, kind: type[Any]) -> int:
    """How many events of a kind the journal holds."""
    return sum(isinstance(event, kind) for _, event, _, _ in steps(table.journal))
