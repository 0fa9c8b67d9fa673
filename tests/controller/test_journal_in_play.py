"""The disk or the file goes bad while a table is played at, or at its start: it goes on by itself, or says why not."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.holding import Holding
from controller.journal import JournalDamaged, Keeping, read_events
from controller.journal.twin import read_twin, stale_path, twin_path
from controller.private_broker import PrivateBroker
from controller.settings import Settings
from controller.startup import StartError
from engine import inputs
from tests.controller.board import Board
from tests.controller.daemons import TOPICS, Ear, begin, client_of
from tests.controller.test_journal_disk import Stub, failing, notices, one, opened, says, small_disk, until
from tests.controller.written import STAMP

__all__ = ["small_disk"]


@pytest.fixture
def protected(small_disk: Path) -> Iterator[Callable[[bool], None]]:
    """Makes that disk read-only and writable again for whoever opens something there from now on."""
    mounted = False

    def protect(on: bool) -> None:
        nonlocal mounted
        # What is open already keeps the disk from being made read-only; a view of it over itself is not kept.
        ways = [] if mounted else [["mount", "--bind", str(small_disk), str(small_disk)]]
        ways.append(["mount", "-o", f"remount,bind,{'ro' if on else 'rw'}", str(small_disk)])
        for way in ways:
            subprocess.run(way, check=True, capture_output=True)
            mounted = True

    yield protect
    if mounted:
        subprocess.run(["umount", "-l", str(small_disk)], check=False)


def at(settings: Settings, path: Path) -> Settings:
    """The same table with its journal elsewhere."""
    return settings.model_copy(update={"journal": settings.journal.model_copy(update={"path": path})})


# -- read-only ---------------------------------------------------------------------------------------------------------


async def test_a_disk_that_becomes_read_only_in_play_is_used_again_once_it_is_writable(
    settings: Settings, board: Board, ear: Ear, broker: PrivateBroker, small_disk: Path,
    protected: Callable[[bool], None], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """It fails, comes back read-only and later writable: nobody has to start the daemon anew."""
    settings = at(settings, small_disk / "t.journal")
    running = await begin(settings)
    await ear.available("ready")
    journal = running.begun.journal
    before = journal.last_event
    with monkeypatch.context() as patch:
        patch.setattr("controller.journal.writing.reached", failing)
        protected(True)
        await says(broker, ear, "E", "lost")
        await ear.until(TOPICS.availability, lambda said: said["data"]["reason"] == "disk_error")
    await ear.until(TOPICS.availability, lambda said: said["data"]["reason"] == "disk_read_only")
    await ear.until(TOPICS.seat("S"), lambda view: "disk_read_only" in notices(view))
    assert (await says(broker, ear, "E", "held"))["code"] == "disk" and journal.last_event == before
    protected(False)
    await ear.available("ready")
    assert (await says(broker, ear, "E", "again"))["ok"] and journal.last_event > before
    told = read_twin(journal.path)
    assert told is not None and told.last == journal.last_event
    await running.end()
    assert [event.n for event in read_events(journal.path)] == list(range(1, journal.last_event + 1))


async def test_what_is_in_memory_is_stored_at_the_end_on_a_disk_that_was_read_only(
    small_disk: Path, protected: Callable[[bool], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = small_disk / "t.journal"
    journal, _ = opened(path, Keeping(go_on=True))
    journal.begin_epoch(1)
    await journal.append(one(1), STAMP, 1)
    with monkeypatch.context() as patch:
        patch.setattr("controller.journal.writing.reached", failing)
        await journal.append(one(2), STAMP, 1)
    protected(True)
    assert not await journal.probe() and journal.trouble == "disk_read_only" and journal.unsafe == 1
    protected(False)
    await journal.close()
    assert [event.body["n"] for event in read_events(path)] == [1, 2]


async def test_a_twin_that_broke_on_such_a_disk_never_passes_for_whole(
    small_disk: Path, protected: Callable[[bool], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While nothing can be renamed it keeps its name; the next transaction takes that away, a probe writes it anew."""
    path = small_disk / "t.journal"
    journal, _ = opened(path)
    journal.begin_epoch(1)
    await journal.append(one(1), STAMP, 1)
    twin = journal._writer.twin
    protected(True)
    twin._break("Read-only file system")
    assert twin_path(path).exists()
    protected(False)
    await journal.append(one(2), STAMP, 1)
    assert stale_path(path).exists() and not twin_path(path).exists()
    assert (told := read_twin(path)) is not None and not told.proved
    assert await journal.probe()
    assert (told := read_twin(path)) is not None and told.proved and told.last == 2
    await journal.close()


# -- damage ------------------------------------------------------------------------------------------------------------


def spoil(path: Path) -> None:
    """What lies in the file is not what was written there any more, as its owner finds out at the next look."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("INSERT OR REPLACE INTO meta VALUES ('spoilt', '1')")
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    # By a process of its own: to close the file in this one would drop the locks on it.
    size = path.stat().st_size
    script = "import sys; out = open(sys.argv[1], 'r+b'); out.seek(4096); out.write(b'\\xa5' * int(sys.argv[2]))"
    subprocess.run(["python3", "-c", script, str(path), str(size - 4096)], check=True)


async def test_a_file_found_damaged_in_play_ends_the_daemon_and_the_next_one_salvages_it(
    settings: Settings, board: Board, ear: Ear, broker: PrivateBroker
) -> None:
    running = await begin(settings)
    await ear.available("ready")
    board.felt_sets = 0b10
    assert (await says(broker, ear, "E", "first"))["ok"]
    await ear.until(TOPICS.state, lambda said: said["data"]["phase"] == "lift")
    journal = running.begun.journal
    last = journal.last_event
    spoil(journal.path)
    noting = asyncio.create_task(journal.note({"anything": "1"}))
    with pytest.raises(ExceptionGroup) as ended:
        async with asyncio.timeout(20):
            await running.task
    assert all(isinstance(error, JournalDamaged) for error in ended.value.exceptions)
    assert isinstance(noting.exception(), JournalDamaged)
    assert (await ear.available("offline"))["data"]["reason"] == "failed"
    running = await begin(settings)
    assert running.begun.journal.opening.salvaged == "whole"
    assert running.begun.journal.last_event >= last
    await ear.until(TOPICS.seat("W"), lambda view: "journal_whole" in notices(view))
    await ear.until(TOPICS.state, lambda said: said["data"]["phase"] == "lift")
    await running.end()


@pytest.mark.parametrize("met_by", ["append", "replay", "snapshot", "probe"])
async def test_whoever_meets_the_damage_everybody_learns_of_it(tmp_path: Path, met_by: str) -> None:
    path = tmp_path / "t.journal"
    journal, _ = opened(path)
    journal.begin_epoch(1)
    for number in range(1, 40):
        await journal.append(one(number), STAMP, 1)
    told: list[bool] = []
    journal.on_trouble = lambda: told.append(journal.damage is not None)
    spoil(path)
    ways: dict[str, Callable[[], Any]] = {
        "append": lambda: journal.append(one(40), STAMP, 1),
        "replay": lambda: journal.replay(1, 9),
        "snapshot": lambda: journal.keep_snapshot(lambda: {"version": 1}, 1, STAMP),
        "probe": journal.probe,
    }
    with pytest.raises(JournalDamaged):
        await ways[met_by]()
    await until(lambda: told == [True])
    with pytest.raises(JournalDamaged, match=r"malformed|not a database"):
        await journal.append(one(41), STAMP, 1)
    await journal.close()
    assert told == [True]


async def test_a_damaged_journal_is_no_disk_to_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever takes the inputs ends with it, whatever waits: only a start salvages the file."""
    monkeypatch.setattr("controller.holding.PAUSES_S", (0.01, 0.02))
    journal: Any = Stub()
    told: list[bool] = []
    holding: Holding[Any] = Holding(journal, lambda: told.append(True))
    holding.begin()
    holding.keep(inputs.OperationDone("first"))
    journal.damage = JournalDamaged("the disk image is malformed")
    journal.on_trouble()
    with pytest.raises(JournalDamaged, match="malformed"):
        holding.next()
    assert told == [True, True]
    holding.close()


async def test_no_other_journal_is_begun_where_the_file_is_gone_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A card whose contact is lost: it is waited for."""
    path = tmp_path / "card" / "t.journal"
    journal, _ = opened(path)
    journal.begin_epoch(1)
    await journal.append(one(1), STAMP, 1)
    path.parent.rename(tmp_path / "away")
    path.parent.mkdir()
    journal.trouble = "disk_error"
    assert not await journal.probe() and not list(path.parent.iterdir())
    path.parent.rmdir()
    (tmp_path / "away").rename(path.parent)
    assert await journal.probe()
    await journal.append(one(2), STAMP, 1)
    await journal.close()
    assert [event.body["n"] for event in read_events(path)] == [1, 2]


# -- at a start --------------------------------------------------------------------------------------------------------


def fails_to(*_: object) -> None:
    raise OSError(5, "Input/output error")


@pytest.mark.parametrize(
    ("where", "fails"),
    [
        ("controller.journal.writing.reached", failing),
        ("controller.journal.store.write_epoch_file", fails_to),
        ("controller.journal.opening.set_aside", fails_to),
    ],
)
async def test_a_start_that_fails_at_any_step_says_so_where_people_look(
    settings: Settings, board: Board, ear: Ear, monkeypatch: pytest.MonkeyPatch, where: str, fails: Any
) -> None:
    """Not only where the file cannot be opened: the epoch is noted, a damaged file is put together again."""
    running = await begin(settings)
    before = await ear.available("ready")
    await running.end()
    await ear.available("offline")
    if "opening" in where:
        os.truncate(settings.journal.path, 4096)
    with monkeypatch.context() as patch:
        patch.setattr(where, fails)
        with pytest.raises(StartError, match=r"I/O error|Input/output error"):
            await begin(settings)
    said = await ear.available("fault")
    assert said["data"]["reason"] == "disk_error" and said["epoch"] >= before["epoch"]
    running = await begin(settings)
    assert (await ear.available("ready"))["epoch"] > before["epoch"]
    await running.end()


# -- what the table says of itself -------------------------------------------------------------------------------------


async def test_a_disk_that_does_not_tell_its_room_stops_nobody(
    settings: Settings, board: Board, ear: Ear, broker: PrivateBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder goes away under a table at work: its heart beats on, and play is the disk policy's affair."""
    monkeypatch.setattr("controller.daemon.HEARTBEAT_S", 0.05)
    folder = tmp_path / "card"
    running = await begin(at(settings, folder / "t.journal"))
    await ear.available("ready")
    async with client_of(broker, "parlor") as parlor:
        hub = Ear(parlor)
        await parlor.subscribe(f"{TOPICS.base}/heartbeat")
        listening = asyncio.create_task(hub.listen())
        topic = f"{TOPICS.base}/heartbeat"
        await hub.until(topic, lambda said: said["data"]["disk_free_kb"] > 0)
        folder.rename(tmp_path / "away")
        await hub.until(topic, lambda said: said["data"]["disk_free_kb"] is None)
        (tmp_path / "away").rename(folder)
        await hub.until(topic, lambda said: (said["data"]["disk_free_kb"] or 0) > 0)
        listening.cancel()
    assert not running.task.done()
    await running.end()


async def test_what_the_ledger_cannot_tell_is_not_carried_out_and_the_table_goes_on(
    settings: Settings, board: Board, ear: Ear, broker: PrivateBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = await begin(settings)
    await ear.available("ready")
    board.felt_sets = 0b10
    before = running.begun.journal.last_event
    with monkeypatch.context() as patch:
        patch.setattr("controller.bookkeeping.Bookkeeper.booked", lambda *_, **__: 1 // 0)
        answer = await says(broker, ear, "E", "first")
    assert (answer["ok"], answer["code"]) == (False, "internal") and running.begun.journal.last_event == before
    async with asyncio.timeout(20):
        # A view of the refused press may still be on its way: its prompt is stale.
        tries = 0
        while not (await says(broker, ear, "E", f"again-{tries}"))["ok"]:
            tries += 1
    await ear.until(TOPICS.state, lambda said: said["data"]["phase"] == "lift")
    await running.end()


@pytest.mark.parametrize("cut_off", ["controller.journal.twin.Twin.begin", "controller.journal.store.write_epoch_file"])
async def test_a_first_start_that_was_cut_off_is_begun_again(
    settings: Settings, board: Board, ear: Ear, monkeypatch: pytest.MonkeyPatch, cut_off: str
) -> None:
    """The power goes while a new table's journal is made: nobody has to adopt a table in which nothing has happened."""
    with monkeypatch.context() as patch:
        patch.setattr(cut_off, fails_to)
        with pytest.raises(StartError):
            await begin(settings)
    running = await begin(settings)
    assert (await ear.available("ready"))["epoch"] >= 1
    assert running.begun.journal.opening.damaged is None and running.begun.epoch
    await running.end()
