"""kill -9 at the writes of the journal of one whole hand: it comes to the same points, and no throw is made twice.

The points are those that the journal's writer passes (`controller.journal.writing.reached`) and the files that take
their place beside it, not a list by hand: each daemon dies at the next write after the one that the daemon before it
died at, or so many further on. The table pushes its tiles out itself where it can, and a hub acknowledges the ledger.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from controller.journal import read_ledger
from engine import events as e
from tests.controller.hubs import HubBook, ack
from tests.table.evening import check_book, standing, steps
from tests.table.harness import WholeTable

pytestmark = [pytest.mark.table, pytest.mark.timeout(900)]

SEED = 31
PRESENT = ("--aid", "present")

Way = Callable[[int], str]
"""At which point the next daemon dies when so many have died; empty: at none."""


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
        """Each counted write at the point: first event, events, what, point, what became of the daemon."""
        path = self.folder / "points"
        return [line.split(" ") for line in path.read_text().splitlines()] if path.exists() else []


async def play_dying(table: DyingTable, way: Way, seconds: float) -> int:
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
                table.point = way(died)
                table.start_daemon()
    table.kill("daemon")
    table.point = ""
    table.start_daemon()
    await table.ended()
    return died


@contextlib.asynccontextmanager
async def hub(table: WholeTable) -> AsyncIterator[HubBook]:
    """A parlor's hub that commits every row that comes and says so."""
    book = HubBook()

    async def listen() -> None:
        async with table.client("parlor") as client:
            await client.subscribe(table.topics.ledger, qos=1)
            async for message in client.messages:
                assert isinstance(message.payload, bytes)
                journal = book.take(message.payload).journal
                await client.publish(table.topics.ledger_ack, ack(journal, book.complete(journal)), qos=1)

    listening = asyncio.create_task(listen())
    try:
        yield book
        assert not listening.done(), listening.exception()
    finally:
        listening.cancel()


@dataclass(frozen=True)
class Right:
    """What the hand comes to when nobody is killed."""

    book: list[dict[str, Any]]
    presented: int


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Right:
    async def undisturbed() -> Right:
        async with WholeTable(tmp_path_factory.mktemp("right"), hands=1, seed=SEED, simulate=PRESENT) as table:
            await table.ended()
            presented = (await table.physical())["presented"]
        return Right(standing(table.journal), presented)

    return asyncio.run(undisturbed())


def climbing(points: str, most: int) -> Way:
    """At the first write of all, at the second, and so on, at each of the points: every write of a start, and more."""
    named = points.split()
    return lambda died: f"{named[died % len(named)]}:{died // len(named) + 1}:all" if died < most * len(named) else ""


def some(died: int) -> str:
    """The first writes of a start, of a journal that is just being begun among them; then one in twenty."""
    started = 6
    if died < started:
        return climbing("before after", started)(died)
    return ["after:20", "twin:20:all", "before:20"][died % 3]


LONG = [pytest.mark.long, pytest.mark.timeout(3600)]
WAYS = [
    pytest.param(some, 9, id="some"),
    # A daemon that dies behind each note of a throw never comes to send one: that note is among the other ways.
    pytest.param(lambda died: "after:1:events", 40, marks=LONG, id="behind every write"),
    pytest.param(lambda died: "before:2", 40, marks=LONG, id="before every commit"),
    pytest.param(lambda died: "twin:2", 40, marks=LONG, id="before every write"),
    pytest.param(climbing("before after twin", 30), 40, marks=LONG, id="whatever is written"),
]

EVERYTHING = {
    "Journal.append.store", "Journal.begin_epoch.<lambda>:put_meta", "Journal._take_snapshot.<lambda>:put_snapshot",
    "_note:throw", "_note:sent", "_note:ledger_said", "acknowledge", "file:.epoch", "file:.twin",
}  # fmt: skip
"""What daemons must have died at where it is whatever is written."""


@pytest.mark.parametrize(("way", "least"), WAYS)
async def test_a_daemon_killed_at_every_write_plays_the_same_hand(
    tmp_path: Path, right: Right, way: Way, least: int, request: pytest.FixtureRequest
) -> None:
    async with DyingTable(tmp_path, hands=1, seed=SEED, simulate=PRESENT, point=way(0)) as table, hub(table) as book:
        died = await play_dying(table, way, 300 if least < 40 else 3000)
        physical = await table.physical()
        assert died >= least, table.points_tried()
        assert standing(table.journal) == right.book
        check_book(table.journal)
        await acknowledged(table, book)
    # Where nobody could know whether a throw was made, people were asked, and it counts once at most.
    begun, lost = happened(table, e.RollBegun), happened(table, e.DiceLost)
    assert begun - lost <= physical["throws"] <= begun, "a throw was made twice, or not at all"
    assert physical["walls"] == 1 and not physical["thrown_again"]
    assert physical["presented"] <= right.presented, "tiles were pushed out twice"
    tried = table.points_tried()
    name = request.node.callspec.id
    if name == "whatever is written":
        died_at = {what for _, _, what, _, fate in tried if fate == "dies"}
        assert not EVERYTHING - died_at, died_at
    elif least >= 40:
        none_was_passed_over(table, tried)


def none_was_passed_over(table: WholeTable, tried: list[list[str]]) -> None:
    """Of everything that was stored until the hand was over, each transaction is one that a daemon had died at.

    But for the very first of a way that lets each daemon write once, and the one with which the hand was over.
    """
    dead = {int(first) for first, events, _, _, fate in tried if fate == "dies" and int(events)}
    transactions: dict[tuple[int, int, int], list[int]] = {}
    for stored, event, _, _ in steps(table.journal):
        transactions.setdefault((stored.epoch, stored.stamp.ts, stored.stamp.mono_ms), []).append(stored.n)
        if isinstance(event, e.HandEnded):
            break
    firsts = sorted(min(numbers) for numbers in transactions.values())
    assert len(firsts) > 40 and set(firsts[1:-1]) <= dead, sorted(set(firsts[1:-1]) - dead)


async def acknowledged(table: WholeTable, book: HubBook) -> None:
    """Until the hub has everything that the journal's ledger tells, each row once."""
    async with asyncio.timeout(30):
        while len(book.rows) < rows_in(table.journal):
            await asyncio.sleep(0.05)
    assert len(book.rows) == rows_in(table.journal)


def rows_in(journal: Path) -> int:
    """How many rows the ledger of a journal has."""
    return len(read_ledger(journal))


def happened(table: WholeTable, kind: type[Any]) -> int:
    """How many events of a kind the journal holds."""
    return sum(isinstance(event, kind) for _, event, _, _ in steps(table.journal))
