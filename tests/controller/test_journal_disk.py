"""A disk that is full, fails or is read-only: nothing that is booked is lost or doubled, and people are told."""

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
from controller.journal import (
    Journal,
    JournalError,
    JournalUnwritable,
    Keeping,
    NewEvent,
    NewPublished,
    open_journal,
    read_events,
)
from controller.journal.twin import read_twin
from controller.journal.writing import ballast_path
from controller.private_broker import PrivateBroker
from controller.settings import Settings
from controller.startup import StartError
from engine import inputs
from engine.tiles import SEATS
from tests.controller.board import Board
from tests.controller.daemons import TABLE, TOPICS, Ear, begin, press, say
from tests.controller.written import STAMP

SIZE_MB = 8


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few megabytes of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a disk of its own can be mounted by root alone")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def fill(folder: Path) -> Path:
    """Take all the room that is left on a disk."""
    filler = folder / "filler"
    with filler.open("ab", buffering=0) as out:
        for size in (65_536, 4096, 1):
            try:
                while True:
                    out.write(bytes(size))
            except OSError:
                pass
    return filler


def opened(path: Path, keeping: Keeping | None = None) -> tuple[Journal, int]:
    """A journal of events that no engine reads, and how many it holds."""
    return open_journal(path, lambda events, *since: sum(1 for _ in events), None, keeping)


def one(number: int) -> list[NewEvent]:
    return [NewEvent(1, "UnaskedThrow", {"dice": [1, 2], "n": number, "text": "x" * 3000})]


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.02)


async def test_a_full_disk_takes_what_was_being_booked_and_then_nothing_until_there_is_room(small_disk: Path) -> None:
    """The room that was kept is given up for it; nothing is stored half, numbers stay gapless, and then it goes on."""
    path = small_disk / "t.journal"
    journal, _ = opened(path)
    journal.begin_epoch(1)
    await journal.append(one(1), STAMP, 1, [NewPublished(1, "game", "{}")])
    filler = fill(small_disk)
    stored, failed = 1, ""
    while not failed:
        try:
            seq = journal.next_seq
            await journal.append(one(stored + 1), STAMP, 1, [NewPublished(seq, "game", "{}")])
            stored += 1
        except JournalUnwritable as error:
            failed = error.reason
        assert stored < 2_000
    assert stored > 10, "what is on its way must fit when the disk is full"
    assert failed == journal.trouble == "disk_full" and journal.holds
    assert (journal.last_event, journal.last_seq) == (stored, stored)
    assert not await journal.probe()
    noted = asyncio.create_task(journal.note({"throw": "1"}))
    await asyncio.sleep(0.3)
    assert not noted.done(), "a note is on the disk, or nobody goes on"
    filler.unlink()
    await until(noted.done)
    assert await journal.probe() and not journal.trouble
    await journal.append(one(stored + 1), STAMP, 1, [NewPublished(journal.next_seq, "game", "{}")])
    await journal.close()
    assert [event.body["n"] for event in read_events(path)] == list(range(1, stored + 2))


async def test_a_start_on_a_full_disk_fits_and_says_so(small_disk: Path) -> None:
    path = small_disk / "t.journal"
    journal, _ = opened(path)
    journal.begin_epoch(1)
    await journal.append(one(1), STAMP, 1)
    await journal.close()
    filler = fill(small_disk)
    again, found = opened(path)
    again.begin_epoch(2)
    assert found == 1 and again.trouble == "disk_full" and again.holds
    filler.unlink()
    assert await again.probe() and not again.holds
    await again.close()


async def test_with_go_on_play_goes_on_in_memory_and_is_stored_in_order(small_disk: Path) -> None:
    path = small_disk / "t.journal"
    journal, _ = opened(path, Keeping(go_on=True))
    journal.begin_epoch(1)
    filler = fill(small_disk)
    for number in range(1, 601):
        await journal.append(one(number), STAMP, 1, [NewPublished(number, "game", "{}")])
        if number == 300:
            await journal.note({"kept": "in memory"})
    assert journal.trouble == "disk_full" and journal.unsafe > 10 and not journal.holds
    assert not await journal.probe()
    await journal.append(one(601), STAMP, 1)
    filler.unlink()
    assert await journal.probe() and not journal.unsafe and not journal.trouble
    await journal.append(one(602), STAMP, 1)
    await journal.close()
    assert [event.body["n"] for event in read_events(path)] == list(range(1, 603))
    again, _ = opened(path)
    assert again.meta("kept") == "in memory" and again.opening.damaged is None
    await again.close()


async def test_what_is_kept_in_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, _ = opened(tmp_path / "t.journal", Keeping(go_on=True))
    monkeypatch.setattr("controller.journal.store.MOST_BACKLOG", 5)
    with monkeypatch.context() as patch:
        patch.setattr("controller.journal.writing.reached", failing)
        for number in range(1, 6):
            await journal.append(one(number), STAMP, 1)
        assert journal.holds, "as much waits as may wait: the table waits too"
        with pytest.raises(JournalUnwritable, match="5 transactions wait"):
            await journal.append(one(6), STAMP, 1)
    assert await journal.probe()
    await journal.append(one(6), STAMP, 1)
    assert journal.last_event == 6
    await journal.close()


def failing(point: str) -> None:
    """The disk fails when a transaction is committed."""
    if point == "before":
        raise sqlite3.OperationalError("disk I/O error")


async def fails_at(journal: Journal, path: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One event that the disk does not take: it fails at the begin, within, or when the twin or the file has it."""
    if where == "begin":
        # Another process holds the file for longer than anybody waits.
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            with pytest.raises(JournalUnwritable):
                await journal.append(one(99), STAMP, 1)
        finally:
            other.close()
        return

    def fail(point: str) -> None:
        if point == where:
            raise sqlite3.OperationalError("disk I/O error")

    def not_stored(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr("controller.journal.writing.reached", fail)
        if where == "work":
            patch.setattr("controller.journal.store.plain_json", not_stored)
        with pytest.raises(JournalUnwritable):
            await journal.append(one(99), STAMP, 1)


@pytest.mark.parametrize("where", ["begin", "work", "twin", "before"])
async def test_wherever_a_transaction_fails_the_twin_keeps_those_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    path = tmp_path / "t.journal"
    journal, _ = opened(path)
    journal.begin_epoch(1)
    for number in (1, 2):
        await journal.append(one(number), STAMP, 1)
    for _ in range(2):
        await fails_at(journal, path, where, monkeypatch)
        told = read_twin(path)
        assert told is not None and (told.last, told.sound, told.proved) == (2, True, True)
    assert await journal.probe()
    await journal.append(one(3), STAMP, 1)
    await journal.close()
    told = read_twin(path)
    assert told is not None and (told.last, told.sound) == (3, True)
    path.write_bytes(b"")
    again, _ = opened(path)
    assert again.opening.salvaged == "whole"
    await again.close()
    assert [event.body["n"] for event in read_events(path)] == [1, 2, 3]


async def test_a_failed_commit_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in the file nor in its twin: a start behind it finds no event that was refused."""
    path = tmp_path / "t.journal"
    journal, _ = opened(path)
    journal.begin_epoch(1)
    await journal.append(one(1), STAMP, 1)
    with monkeypatch.context() as patch:
        patch.setattr("controller.journal.writing.reached", failing)
        with pytest.raises(JournalUnwritable) as caught:
            await journal.append(one(2), STAMP, 1)
    assert caught.value.reason == journal.trouble == "disk_error"
    assert await journal.probe(), "a connection that has met an error is made anew"
    await journal.append(one(3), STAMP, 1)
    await journal.close()
    assert [event.body["n"] for event in read_events(path)] == [1, 3]
    path.write_bytes(b"")
    again, _ = opened(path)
    assert again.last_event == 2
    await again.close()
    assert [event.body["n"] for event in read_events(path)] == [1, 3]


async def test_the_room_that_is_kept_is_for_events_alone_and_its_loss_is_told(tmp_path: Path) -> None:
    """A note that does not fit waits: what is booked next needs that room."""
    path = tmp_path / "t.journal"
    journal, _ = opened(path)
    journal.begin_epoch(1)
    kept = ballast_path(path)
    told: list[str] = []
    journal.on_trouble = lambda: told.append(journal.trouble)
    full = sqlite3.OperationalError("database or disk is full")

    def point(name: str) -> None:
        if kept.exists():
            raise full

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("controller.journal.writing.reached", point)
        noted = asyncio.create_task(journal.note({"a": "1"}))
        await until(lambda: bool(told))
        assert kept.exists() and not noted.done() and told == ["disk_full"]
        await journal.append(one(1), STAMP, 1)
        assert not kept.exists() and journal.last_event == 1
        await until(noted.done)
    assert journal.trouble == "disk_full", "it is told until the room is kept again"
    assert await journal.probe() and kept.exists() and not journal.trouble
    kept.unlink()
    await journal.append(one(2), STAMP, 1)
    assert journal.trouble == "disk_full", "whoever took it"
    await journal.close()


async def test_with_go_on_a_throw_is_noted_on_the_disk_or_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.journal"
    journal, _ = opened(path, Keeping(go_on=True))
    with monkeypatch.context() as patch:
        patch.setattr("controller.journal.writing.reached", failing)
        await journal.append(one(1), STAMP, 1)
        await journal.note({"throw:1": None})
        assert journal.unsafe == 2
        noted = asyncio.create_task(journal.note({"throw:1": "sent"}, on_disk=True))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(noted), 0.5)
    await until(noted.done)
    assert not journal.unsafe
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT value FROM meta WHERE key = 'throw:1'").fetchall() == [("sent",)]
    connection.close()
    await journal.close()


async def test_notes_wait_where_no_more_may_be_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, _ = opened(tmp_path / "t.journal", Keeping(go_on=True))
    monkeypatch.setattr("controller.journal.store.MOST_BACKLOG", 2)
    with monkeypatch.context() as patch:
        patch.setattr("controller.journal.writing.reached", failing)
        for number in (1, 2):
            await journal.append(one(number), STAMP, 1)
        noted = asyncio.create_task(journal.note({"a": "1"}))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(noted), 0.4)
    assert await journal.probe()
    await asyncio.wait_for(noted, 10)
    assert not journal.unsafe
    await journal.close()


async def test_what_is_in_memory_alone_is_stored_at_the_end_if_the_disk_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.journal"
    journal, _ = opened(path, Keeping(go_on=True))
    with monkeypatch.context() as patch:
        patch.setattr("controller.journal.writing.reached", failing)
        for number in range(1, 4):
            await journal.append(one(number), STAMP, 1)
    assert journal.unsafe == 3
    await journal.close()
    assert [event.body["n"] for event in read_events(path)] == [1, 2, 3]


class Stub:
    """A journal whose disk takes nothing, and then fails in a way of its own."""

    def __init__(self) -> None:
        self.trouble = "disk_full"
        self.holds = True
        self.damage = None
        self.probes = 0
        self.on_trouble: Callable[[], None] = lambda: None

    async def probe(self) -> bool:
        self.probes += 1
        if self.probes < 3:
            raise JournalError("what is stored does not fit what lies there")
        self.trouble, self.holds = "", False
        return True


async def test_the_disk_is_tried_again_whatever_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controller.holding.PAUSES_S", (0.01, 0.02))
    journal: Any = Stub()
    holding: Holding[Any] = Holding(journal, lambda: None)
    holding.begin()
    await until(lambda: not holding.on)
    assert journal.probes == 3
    holding.close()


def test_what_became_of_an_operation_waits_however_much_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controller.holding.MOST_HELD", 20)
    journal: Any = Stub()
    holding: Holding[Any] = Holding(journal, lambda: None)
    holding.keep(inputs.OperationDone("first"))
    for number in range(100):
        holding.keep(inputs.ZoneSeen("E", "discards", (f"{number % 9 + 1}m",)))
    holding.keep(inputs.ZoneSeen("E", "discards", ("old",)), first=True)
    for number in range(100):
        holding.keep(inputs.KeyPressed("seat", "S"))
        holding.keep(inputs.OperationDone(f"{number}"))
    journal.holds = False
    waited = list(iter(holding.next, None))
    done = [one.want for one in waited if isinstance(one, inputs.OperationDone)]
    assert done == ["first", *(str(number) for number in range(100))]
    assert len(waited) == 101, "sights and keys go before anything else"


def test_of_a_zone_what_was_seen_last_waits() -> None:
    journal: Any = Stub()
    holding: Holding[Any] = Holding(journal, lambda: None)
    for number in range(1, 10):
        for seat in ("E", "S"):
            holding.keep(inputs.ZoneSeen(seat, "discards", (f"{number}m",)))
    journal.holds = False
    assert [one.tiles for one in iter(holding.next, None)] == [("9m",), ("9m",)]


# -- the whole daemon --------------------------------------------------------------------------------------------------


async def says(broker: PrivateBroker, ear: Ear, seat: str, id: str) -> dict[str, Any]:
    await press(broker, ear, seat, id, "start", "start", rules="new-xiamen-120")
    return await ear.answer(seat, id)


def notices(view: dict[str, Any]) -> list[str]:
    return [notice["code"] for notice in view["data"]["notices"]]


async def test_a_table_on_a_full_disk_holds_says_why_and_goes_on_by_itself(
    settings: Settings, board: Board, ear: Ear, broker: PrivateBroker, small_disk: Path
) -> None:
    """The press is not applied and is answered `disk`; nothing moves or is published; then it goes on by itself."""
    keep = settings.journal.model_copy(update={"path": small_disk / "t.journal"})
    settings = settings.model_copy(update={"journal": keep})
    running = await begin(settings)
    await ear.available("ready")
    board.hold = True
    board.felt_sets = 0b10
    journal = running.begun.journal
    filler = fill(small_disk)
    # A real evening fills the disk hand by hand; here notes do, until the room that was kept is used up as well.
    full = asyncio.Event()
    filling = asyncio.create_task(use_up(journal, full))
    lost = await ear.available("fault")
    assert lost["data"]["reason"] == "disk_full"
    for seat in SEATS:
        await ear.until(TOPICS.seat(seat), lambda view: "disk_full" in notices(view))
    before = journal.last_event, journal.last_seq
    answer = await says(broker, ear, "E", "held")
    assert (answer["ok"], answer["code"]) == (False, "disk")
    assert (journal.last_event, journal.last_seq) == before and not board.executed
    assert ear.latest[TOPICS.seat("E")]["data"]["phase"] == "idle"
    full.set()
    filler.unlink()
    await ear.available("ready")
    await asyncio.wait_for(filling, 20)
    assert (await says(broker, ear, "E", "again"))["ok"]
    await board.until(lambda: board.executed["SortStart"] == 1)
    assert "disk_full" not in notices(ear.latest[TOPICS.seat("E")])
    await running.end()
    assert [one.n for one in read_events(keep.path)] == list(range(1, journal.last_event + 1))


async def use_up(journal: Journal, full: asyncio.Event) -> None:
    """Notes until the disk takes no more; the last one waits for room."""
    number = 0
    while not full.is_set():
        number += 1
        await journal.note({f"filling-{number}": "x" * 20_000})


async def test_what_the_machine_reports_meanwhile_is_applied_afterwards_in_order(
    settings: Settings, board: Board, ear: Ear, broker: PrivateBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An operation that ends while nothing can be stored is not forgotten, and nothing follows on it before."""
    running = await begin(settings)
    await ear.available("ready")
    board.hold = True
    board.felt_sets = 0b10
    assert (await says(broker, ear, "E", "first"))["ok"]
    await board.until(lambda: board.executed["SortStart"] == 1)
    journal = running.begun.journal
    with monkeypatch.context() as patch:
        patch.setattr("controller.journal.writing.reached", failing)
        before = journal.last_event
        board.finish()
        await ear.until(TOPICS.availability, lambda said: said["data"]["reason"] == "disk_error")
        await says_anything(broker, ear)
        assert journal.last_event == before
    await ear.available("ready")
    await ear.until(TOPICS.state, lambda said: said["data"]["phase"] == "lift")
    assert board.executed["SortStart"] == 1
    await running.end()


async def says_anything(broker: PrivateBroker, ear: Ear) -> None:
    """A press that no rule would take: it is answered with the disk before any rule is asked."""
    view = ear.latest[TOPICS.seat("S")]
    body = {"id": "any", "epoch": view["epoch"], "want": "1.lift-0.1", "action": "lift", "params": {}}
    await say(broker, f"{TABLE}-S", TOPICS.seat_input("S"), body)
    assert (await ear.answer("S", "any"))["code"] == "disk"


async def test_a_start_on_a_disk_that_is_read_only_is_refused_where_people_look(
    settings: Settings, board: Board, ear: Ear, small_disk: Path
) -> None:
    """The daemon ends with words; the displays are told why instead of waiting for ever; a whole disk starts again."""
    keep = settings.journal.model_copy(update={"path": small_disk / "t.journal"})
    settings = settings.model_copy(update={"journal": keep})
    running = await begin(settings)
    before = await ear.available("ready")
    await running.end()
    remount(small_disk, "ro")
    with pytest.raises(StartError, match=r"Read-only|read-?only"):
        await begin(settings)
    said = await ear.available("fault")
    assert said["data"]["reason"] == "disk_read_only" and said["epoch"] == before["epoch"]
    remount(small_disk, "rw")
    running = await begin(settings)
    assert (await ear.available("ready"))["epoch"] > before["epoch"]
    with pytest.raises(StartError, match="another daemon"):
        await begin(settings)
    assert ear.latest[TOPICS.availability]["data"]["state"] == "ready", "the other one speaks for the table"
    await running.end()


async def test_a_journal_that_cannot_be_followed_is_told_where_people_look(
    settings: Settings, board: Board, ear: Ear
) -> None:
    running = await begin(settings)
    await ear.available("ready")
    await running.end()
    with contextlib.closing(sqlite3.connect(settings.journal.path)) as connection:
        connection.execute("PRAGMA user_version = 9999")
        connection.commit()
    with pytest.raises(StartError):
        await begin(settings)
    assert (await ear.available("fault"))["data"]["reason"] == "journal_unusable"


def remount(folder: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True, capture_output=True)
