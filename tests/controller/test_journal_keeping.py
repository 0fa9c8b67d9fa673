"""What stays in a journal and what leaves, older journals, copies, and a start that does not grow with the evening."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from controller.clock import Stamp
from controller.journal import (
    JournalError,
    Keeping,
    NewEvent,
    StoredEvent,
    first_event_kept,
    open_journal,
    read_events,
    read_meta,
    read_records,
    read_session,
    read_state,
    schema,
)
from controller.journal.pruning import prune
from controller.records import NewRecord
from controller.startup import fold_events, thaw
from engine.export import match_record
from engine.match.events import CODEC
from engine.state import State
from tests.controller.written import STAMP, opened, written

DAY = 86_400_000


def texts(path: Path, number: int) -> str:
    """The record of a match out of a journal."""
    stored = read_session(path)
    said = [CODEC.decode(body["event"]) for body in stored.said]
    return match_record(said, [hand.text for hand in stored.hands], number, stored.gone)


def counted(path: Path, table: str) -> int:
    with sqlite3.connect(path) as connection:
        found = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    connection.close()
    return int(found)


async def test_a_start_folds_only_what_followed_the_last_hand(tmp_path: Path) -> None:
    """However many hands lie there: the events behind the newest snapshot, and none before."""
    path = tmp_path / "t.journal"
    scribe = await written(path, 4, lambda state: state.hand == 4 and state.phase == "play")
    await scribe.journal.close()
    folded: list[int] = []

    def counting(events: Iterator[StoredEvent], *since: State) -> State:
        def watched() -> Iterator[StoredEvent]:
            for event in events:
                folded.append(event.n)
                yield event

        return fold_events(watched(), *since)

    journal, state = open_journal(path, counting, thaw)
    assert state == scribe.states[-1][1]
    await journal.close()
    booked = max(n for n, state in scribe.states if state.hand == 3 and state.session.phase == "playing")
    assert folded and min(folded) > booked and len(folded) < journal.last_event / 3
    assert read_state(path, fold_events, thaw) == (state, journal.last_event)


async def two_matches(path: Path) -> State:
    """A journal of two matches of two hands each, the second one over."""
    for seed in (5, 6):
        scribe = await written(path, 2, seed=seed)
        await scribe.journal.close()
    return scribe.states[-1][1]


async def test_old_hands_leave_by_age_and_the_last_match_stays_whole(tmp_path: Path) -> None:
    """Events, then whole matches with their records; points, numbers and the last match's record are as before."""
    path = tmp_path / "t.journal"
    state = await two_matches(path)
    second = texts(path, 2)
    journal, found = opened(path, Keeping(days=1))
    assert found == state
    late = Stamp(STAMP.ts + 40 * DAY, 0, "synced")
    await journal.keep_snapshot(lambda: {"version": 0}, 2, replace(late, clock="unsynced"))
    assert first_event_kept(path) == 1, "a clock that nobody has set says nothing of age"
    for minutes in (1, 20, 50):
        await journal.keep_snapshot(lambda: {"version": 0}, 2, replace(late, mono_ms=minutes * 60_000))
    assert first_event_kept(path) == 1, "a clock that has stepped within the hour says nothing of age"
    for _ in range(3):
        await journal._run(journal._writer.transact, lambda one: prune(one, Keeping(days=1), late))
    await journal.close()
    assert first_event_kept(path) > 100
    assert {one.match for one in read_records(path)} == {2}
    assert read_session(path).gone == 1
    assert texts(path, 2) == second
    with pytest.raises(ValueError, match="no match 1"):
        texts(path, 1)
    kept = [event.n for event in read_events(path) if event.n >= first_event_kept(path)]
    assert kept == list(range(first_event_kept(path), journal.last_event + 1))
    again, found = opened(path)
    assert found == state and again.last_event == journal.last_event and again.opening.damaged is None
    await again.close()


async def test_old_hands_leave_by_size_and_the_file_shrinks(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    scribe = await written(path, 3)
    state = scribe.states[-1][1]
    journal = scribe.journal
    booked = len(read_records(path))
    big = [NewEvent(9, "UnaskedThrow", {"dice": [1, 2], "text": "x" * 30_000})]
    for _ in range(300):
        await journal.append(big, STAMP, 1)
    before = journal.last_event
    journal._keeping = Keeping(days=3650, megabytes=4)
    body: dict[str, Any] = {"version": 0}
    for _ in range(12):
        await journal.append([NewEvent(9, "UnaskedThrow", {"dice": [1, 2]})], STAMP, 1)
        await journal.keep_snapshot(lambda: body, 1, STAMP)
    assert first_event_kept(path) > before - 300
    await journal.close()
    assert path.stat().st_size < 5_000_000
    assert len(read_records(path)) == booked >= 3, "the evening in play never leaves"
    assert texts(path, 1) and state.session.match == 1


async def test_what_the_parlor_has_not_acknowledged_stays(tmp_path: Path) -> None:
    journal, _ = opened(tmp_path / "t.journal")
    await journal.ledger(
        lambda connection: connection.execute(
            "INSERT INTO ledger (journal, number, n, epoch, ts, mono_ms, clock, acked, envelope)"
            " VALUES ('a', 1, 1, 1, 1, 1, 'synced', 0, '{}')"
        )
    )
    late = Stamp(STAMP.ts + 4000 * DAY, 0, "synced")
    await journal._run(journal._writer.transact, lambda one: prune(one, Keeping(days=1, megabytes=4), late))
    await journal.close()
    assert counted(tmp_path / "t.journal", "ledger") == 1


@pytest.mark.parametrize("version", [1, 2, 3])
async def test_an_older_journal_is_taken_further_and_nothing_of_it_is_lost(tmp_path: Path, version: int) -> None:
    """A hand that an older Kaijin wrote goes on under this one, its file with room to shrink."""
    new = tmp_path / "new" / "t.journal"
    new.parent.mkdir()
    scribe = await written(new, 2, lambda state: state.hand == 2 and state.phase == "play")
    await scribe.journal.close()
    path = tmp_path / "t.journal"
    with sqlite3.connect(path) as old:
        for number in range(version):
            old.executescript(f"{schema.MIGRATIONS[number]} PRAGMA user_version = {number + 1};")
        old.execute("ATTACH ? AS new", (str(new),))
        for table in ("meta", "events", "published", *(("records",) if version > 1 else ())):
            columns = ", ".join(row[1] for row in old.execute(f"PRAGMA main.table_info({table})"))
            old.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}")
    old.close()
    shutil.copy(new.with_name("t.journal.epoch"), path.with_name("t.journal.epoch"))
    journal, state = opened(path)
    assert state == scribe.states[-1][1] and not journal.opening.copied and journal.opening.damaged is None
    assert (journal.last_event, journal.last_seq) == (scribe.journal.last_event, scribe.journal.last_seq)
    await journal.append([], STAMP, 1, records=[NewRecord(7, 7, "text")])
    await journal.close()
    assert read_meta(path)["schema"] == str(len(schema.MIGRATIONS))
    assert [one.text for one in read_records(path)][-1] == "text"
    assert len(read_records(path)) == (2 if version > 1 else 1)
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA auto_vacuum").fetchone()[0] == 2
    connection.close()


async def test_a_newer_journal_is_neither_written_nor_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    scribe = await written(path, 1)
    await scribe.journal.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    content = path.read_bytes()
    with pytest.raises(JournalError, match="newer Kaijin"):
        opened(path)
    assert path.read_bytes() == content and not list(tmp_path.glob("*damaged*"))


async def test_a_copy_on_another_table_goes_on_under_another_id(tmp_path: Path) -> None:
    """Ids of operations that were given out under the old name mean nothing there."""
    path = tmp_path / "t.journal"
    scribe = await written(path, 1)
    identity = scribe.journal.journal_id
    await scribe.journal.close()
    other = tmp_path / "other" / "t.journal"
    other.parent.mkdir()
    shutil.copy(path, other)
    journal, state = opened(other)
    assert journal.opening.copied and journal.journal_id != identity and state == scribe.states[-1][1]
    await journal.close()


async def test_an_older_copy_put_back_is_noticed_and_the_twin_knows_more(tmp_path: Path) -> None:
    """Somebody restores last week's file: what the twin holds is newer, and the older file is kept aside."""
    path = tmp_path / "t.journal"
    scribe = await written(path, 1)
    await scribe.journal.close()
    shutil.copy(path, tmp_path / "backup")
    again, state = opened(path)
    again.begin_epoch(2)
    for die in (2, 3, 4):
        await again.append([NewEvent(1, "UnaskedThrow", {"dice": [1, die]})], STAMP, 2)
    last = again.last_event
    await again.close()
    shutil.copy(tmp_path / "backup", path)
    journal, state = await asyncio.to_thread(opened, path)
    assert journal.last_event == last and state.unasked == ((1, 4),)
    aside = journal.opening.damaged
    assert aside is not None and aside.read_bytes() == (tmp_path / "backup").read_bytes()
    journal.begin_epoch(3)
    await journal.close()
    # Without the twin it is an older state of the same table: it goes on from there, under another id.
    shutil.copy(tmp_path / "backup", path)
    path.with_name("t.journal.twin").unlink()
    older, state = await asyncio.to_thread(opened, path)
    assert older.opening.copied and state == scribe.states[-1][1]
    await older.close()
