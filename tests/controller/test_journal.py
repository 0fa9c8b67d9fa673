"""The journal: what is acknowledged is there after a kill, numbers have no gaps, copies are noticed."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.clock import Stamp
from controller.epoch import EpochFile, next_epoch, read_epoch_file, write_epoch_file
from controller.journal import (
    Journal,
    JournalError,
    NewEvent,
    NewPublished,
    StoredEvent,
    open_journal,
    read_events,
)
from controller.redaction import PUBLIC_EVENTS, SECRET_FIELDS, finished_hands, redacted
from engine.events import EVENT_TYPES

STAMP = Stamp(1_700_000_000_000, 12, "unsynced")


def count(events: Iterator[StoredEvent], *since: int) -> int:
    return sum(1 for _ in events)


def every(events: Iterator[StoredEvent], *since: object) -> list[StoredEvent]:
    return list(events)


def event(number: int, hand: int = 1) -> NewEvent:
    return NewEvent(hand, "TakeShown", {"n": number})


async def test_events_and_facts_come_back_as_they_were_stored(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    journal, found = open_journal(path, count)
    assert found == 0 and journal.opening.fresh and journal.epoch == 0
    journal.begin_epoch(1)
    await journal.append([event(1), event(2)], STAMP, 1, [NewPublished(1, "game", '{"a":1}')])
    await journal.append([event(3, hand=2)], STAMP, 1, [NewPublished(2, "fault", "{}"), NewPublished(3, "game", "{}")])
    await journal.note({"throw": "5", "gone": "1"})
    await journal.note({"gone": None})
    identity = journal.journal_id
    await journal.close()

    again, stored = open_journal(path, every)
    assert [(e.n, e.hand, e.type, e.body) for e in stored] == [
        (1, 1, "TakeShown", {"n": 1}),
        (2, 1, "TakeShown", {"n": 2}),
        (3, 2, "TakeShown", {"n": 3}),
    ]
    assert stored[0].stamp == STAMP and stored[0].epoch == 1
    assert (again.journal_id, again.epoch, again.last_seq, again.last_event) == (identity, 1, 3, 3)
    assert (again.meta("throw"), again.meta("gone", "none")) == ("5", "none")
    assert not again.opening.copied and not again.opening.fresh and again.opening.damaged is None
    assert [(fact.seq, fact.stream) for fact in await again.replay(2, 9)] == [(2, "fault"), (3, "game")]
    await again.close()


async def test_a_gap_in_the_public_numbers_is_refused(tmp_path: Path) -> None:
    journal, _ = open_journal(tmp_path / "t.journal", count)
    with pytest.raises(JournalError, match="number 1"):
        journal.append([event(1)], STAMP, 1, [NewPublished(2, "game", "{}")])
    await journal.close()


KILLED = """
import asyncio, sys
from pathlib import Path
from controller.clock import Stamp
from controller.journal import NewEvent, NewPublished, open_journal

async def main():
    journal, _ = open_journal(Path(sys.argv[1]), lambda events, *since: sum(1 for _ in events))
    journal.begin_epoch(1)
    number = journal.next_seq
    while True:
        batch = [NewEvent(1, "TakeShown", {"n": number}), NewEvent(1, "TakeShown", {"n": -number})]
        await journal.append(batch, Stamp(1, 1, "synced"), 1, [NewPublished(number, "game", "{}")])
        print(number, flush=True)
        number += 1

asyncio.run(main())
"""


@pytest.mark.parametrize("after", [1, 7, 40])
def test_what_was_acknowledged_is_there_after_kill_9_and_whole(tmp_path: Path, after: int) -> None:
    path = tmp_path / "t.journal"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    acknowledged = 0
    for line in process.stdout:
        acknowledged = int(line)
        if acknowledged >= after:
            process.send_signal(signal.SIGKILL)
            break
    acknowledged = max([acknowledged, *(int(line) for line in process.stdout if line.strip())])
    process.wait(timeout=10)
    journal, stored = open_journal(path, every)
    assert journal.last_seq >= acknowledged
    assert len(stored) == 2 * journal.last_seq
    assert journal.opening.damaged is None and not journal.opening.copied


async def filled(path: Path, events: int = 40) -> int:
    journal, _ = open_journal(path, count)
    journal.begin_epoch(4)
    for number in range(events):
        await journal.append([event(number)], STAMP, 4)
    identity = journal.journal_id
    await journal.close()
    return identity


async def test_a_copy_goes_on_under_a_new_id(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    identity = await filled(path)
    elsewhere = tmp_path / "other" / "t.journal"
    elsewhere.parent.mkdir()
    shutil.copy(path, elsewhere)
    journal, found = open_journal(elsewhere, count)
    assert found == 40 and journal.opening.copied and journal.journal_id != identity
    await journal.close()


async def test_an_older_state_of_the_same_journal_goes_on_under_a_new_id(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    identity = await filled(path)
    write_epoch_file(path, EpochFile(f"{identity:016x}", 9))
    journal, _ = open_journal(path, count)
    assert journal.opening.copied and journal.journal_id != identity
    assert next_epoch(journal.epoch, read_epoch_file(path), None) == 10
    journal.begin_epoch(10)
    taken_over = journal.journal_id
    await journal.close()
    again, _ = open_journal(path, count)
    assert not again.opening.copied and again.journal_id == taken_over
    await again.close()


async def test_a_second_daemon_is_turned_away(tmp_path: Path) -> None:
    journal, _ = open_journal(tmp_path / "t.journal", count)
    with pytest.raises(JournalError, match="another daemon"):
        open_journal(tmp_path / "t.journal", count)
    await journal.close()
    again, _ = open_journal(tmp_path / "t.journal", count)
    await again.close()


async def test_a_newer_journal_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    await filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(JournalError, match="newer Kaijin"):
        open_journal(path, count)
    assert events_in(path) == 40


def events_in(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("SELECT count(*) FROM events").fetchone()[0])
    finally:
        connection.close()


async def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="folder"):
        open_journal(tmp_path / "file" / "t.journal", count)


async def test_another_process_reads_while_one_writes(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    journal, _ = open_journal(path, count)
    await journal.append([event(1)], STAMP, 1)
    assert [e.body for e in read_events(path)] == [{"n": 1}]
    await journal.close()


def test_the_epoch_is_one_more_than_the_highest_known() -> None:
    beside = EpochFile("00", 7)
    assert next_epoch(5, beside, None) == 8
    assert next_epoch(9, beside, 3) == 10
    assert next_epoch(0, None, 12) == 13
    assert next_epoch(0, None, None) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"journal": 1, "epoch": 2}', '{"journal": "a"}'])
def test_an_epoch_file_that_says_nothing_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.journal"
    (tmp_path / "t.journal.epoch").write_text(text)
    assert read_epoch_file(path) is None


def test_every_event_type_has_been_judged_before_it_is_shown() -> None:
    assert PUBLIC_EVENTS | SECRET_FIELDS.keys() == EVENT_TYPES.keys()
    assert not PUBLIC_EVENTS & SECRET_FIELDS.keys()


def stored(n: int, hand: int, kind: str, **body: object) -> StoredEvent:
    return StoredEvent(n, hand, 1, STAMP, kind, dict(body))


def test_the_hand_in_play_is_withheld_and_an_ended_one_told() -> None:
    wall = stored(1, 1, "WallRead", side="E", tiles=["1m"])
    ended = stored(2, 1, "HandEnded", winner="", way="")
    now = stored(3, 2, "WallRead", side="E", tiles=["9p"])
    unknown = stored(4, 2, "NewThing", tiles=["9p"], side="E")
    finished = finished_hands([wall, ended, now])
    assert redacted(wall, finished) == {"side": "E", "tiles": ["1m"]}
    assert redacted(now, finished) == {"side": "E", "tiles": "withheld"}
    assert redacted(unknown, finished) == {"side": "withheld", "tiles": "withheld"}


async def test_only_so_many_facts_stay_replayable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controller.journal.pruning.PUBLISHED_KEPT", 10)
    monkeypatch.setattr("controller.journal.store._PRUNE_EVERY", 5)
    journal: Journal
    journal, _ = open_journal(tmp_path / "t.journal", count)
    for seq in range(1, 26):
        await journal.append([event(seq)], STAMP, 1, [NewPublished(seq, "game", "{}")])
    assert journal.first_kept == 16
    assert [fact.seq for fact in await journal.replay(1, 99)] == list(range(16, 26))
    await journal.close()
    again, _ = open_journal(tmp_path / "t.journal", count)
    assert (again.first_kept, again.last_seq) == (16, 25)
    await again.close()
