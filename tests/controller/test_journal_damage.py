"""F6, F17: whatever page of a journal is lost, the table goes on from the last good record and keeps the file.

A journal of two hands and a half, as the daemon writes it, is damaged in every place: its points are never lost.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from controller.epoch import read_epoch_file
from controller.journal import (
    JournalDamaged,
    JournalError,
    JournalNotFollowed,
    StoredEvent,
    open_journal,
    read_records,
    read_session,
    set_aside,
)
from controller.journal.opening import ASIDE_KEPT, asides
from controller.journal.twin import stale_path, twin_path
from controller.startup import fold_events, thaw
from engine.state import State
from tests.controller.written import Scribe, opened, written

PAGE = 4096


class Evening:
    """A journal in a folder, cut off as by a killed daemon: file, log and twin lie there."""

    def __init__(self, folder: Path, scribe: Scribe) -> None:
        self.folder = folder
        self.path = folder / "t.journal"
        self.identity = scribe.journal.journal_id
        self.state = scribe.states[-1][1]
        self.states = dict(scribe.states)
        self.ends = sorted(self.states)
        self.last = scribe.journal.last_event
        self.seq = scribe.journal.last_seq

    def copied(self, into: Path) -> Path:
        """The same in another folder."""
        shutil.copytree(self.folder, into, ignore=shutil.ignore_patterns("*.lock"))
        return into / "t.journal"


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Evening:
    """A daemon that was killed in the third hand: the log has not been taken into the file."""
    folder = tmp_path_factory.mktemp("killed")
    kept = tmp_path_factory.mktemp("kept")

    async def write() -> Evening:
        scribe = await written(folder / "t.journal", 4, lambda state: state.hand == 3 and state.phase == "play")
        # What lies there now is what a killed process leaves behind.
        shutil.copytree(folder, kept / "evening", ignore=shutil.ignore_patterns("*.lock", "*-shm"))
        evening = Evening(kept / "evening", scribe)
        await scribe.journal.close()
        return evening

    return asyncio.run(write())


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Evening:
    """A daemon that has been stopped: everything lies in the file."""
    folder = tmp_path_factory.mktemp("stopped")

    async def write() -> Evening:
        scribe = await written(folder / "t.journal", 4, lambda state: state.hand == 3 and state.phase == "play")
        await scribe.journal.close()
        return Evening(folder, scribe)

    return asyncio.run(write())


def points(state: State) -> dict[str, int]:
    return dict(state.session.chips)


async def is_whole(evening: Evening, path: Path, damage: bytes | None, same_id: bool = True) -> None:
    """The table goes on exactly where it was; what could not be trusted is kept as it was found."""
    journal, state = await asyncio.to_thread(opened, path)
    try:
        assert state == evening.state
        assert (journal.last_event, journal.last_seq) == (evening.last, evening.seq)
        assert (journal.journal_id == evening.identity) == same_id
        assert journal.meta("told") == "3"
        journal.begin_epoch(2)
        aside = journal.opening.damaged
        if aside is not None:
            assert journal.opening.salvaged == ("whole" if same_id else "part") and journal.opening.reason
            if damage is not None:
                assert aside.read_bytes() == damage
    finally:
        await journal.close()
    again, state = await asyncio.to_thread(opened, path)
    assert state == evening.state and again.opening.damaged is None and not again.opening.copied
    await again.close()


def pages(path: Path) -> int:
    return path.stat().st_size // PAGE


def zeroed(path: Path, page: int) -> bytes:
    content = bytearray(path.read_bytes())
    content[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    path.write_bytes(content)
    return bytes(content)


def cut(path: Path, page: int) -> bytes:
    content = path.read_bytes()[: page * PAGE + 100 * (page % 3)]
    path.write_bytes(content)
    return content


EACH_PAGE = pytest.mark.parametrize(
    ("how", "stride"),
    [
        (zeroed, 5),
        (cut, 8),
        pytest.param(zeroed, 1, marks=pytest.mark.long),
        pytest.param(cut, 1, marks=pytest.mark.long),
    ],
)


def some_pages(path: Path, stride: int) -> list[int]:
    """Pages to be damaged: the first four, in which the tables begin, and every so many of the others."""
    return [page for page in range(pages(path)) if page < 4 or page % stride == 0]


@EACH_PAGE
async def test_f6_any_page_of_the_file_may_be_lost(
    stopped: Evening, tmp_path: Path, how: Callable[[Path, int], bytes], stride: int
) -> None:
    """Every page in turn, with the twin there: not one event is lost, nor is the id."""
    damaged, tried = 0, some_pages(stopped.path, stride)
    for page in tried:
        path = stopped.copied(tmp_path / f"{page}")
        content = how(path, page)
        journal, state = await asyncio.to_thread(opened, path)
        assert state == stopped.state, f"page {page}"
        assert (journal.journal_id, journal.last_event) == (stopped.identity, stopped.last), f"page {page}"
        aside = journal.opening.damaged
        if aside is not None:
            assert aside.read_bytes() == content and "damaged-" in aside.name
            damaged += 1
        await journal.close()
        assert (path.read_bytes() != content) or aside is None
        shutil.rmtree(path.parent)
    assert damaged >= 0.7 * len(tried), "a lost page must be noticed, but for pages that are not used"


@pytest.mark.parametrize("how", [zeroed, cut])
async def test_f6_any_page_of_the_log_may_be_lost(
    killed: Evening, tmp_path: Path, how: Callable[[Path, int], bytes]
) -> None:
    """SQLite forgets without a word what lies behind a bad frame; the twin does not."""
    frames = pages(killed.path.with_name("t.journal-wal"))
    assert frames > 3
    lost = 0
    for page in range(0, frames + 1, 1 if frames < 20 else frames // 12):
        path = killed.copied(tmp_path / f"{page}")
        how(path.with_name("t.journal-wal"), page)
        journal, state = await asyncio.to_thread(opened, path)
        assert state == killed.state, f"page {page}"
        assert (journal.journal_id, journal.last_event, journal.meta("told")) == (killed.identity, killed.last, "3")
        lost += journal.opening.damaged is not None
        await journal.close()
        shutil.rmtree(path.parent)
    assert lost > 3


@EACH_PAGE
async def test_f6_points_survive_a_lost_page_even_without_the_twin(
    stopped: Evening, tmp_path: Path, how: Callable[[Path, int], bytes], stride: int
) -> None:
    """What is read from the file alone is never wrong; a file that cannot say which table it is says nothing."""
    nothing = 0
    for page in some_pages(stopped.path, stride)[0 if how is zeroed else 1 :]:
        path = stopped.copied(tmp_path / f"{page}")
        twin_path(path).unlink()
        how(path, page)
        journal, state = await asyncio.to_thread(opened, path)
        if journal.opening.salvaged == "none":
            nothing += 1
            assert state == State()
        else:
            assert state == stopped.states[journal.last_event], f"page {page}"
        if journal.opening.damaged is not None:
            assert journal.journal_id != stopped.identity
        await journal.close()
        shutil.rmtree(path.parent)
    assert nothing < pages(stopped.path) if how is cut else nothing <= 6


async def test_f6_the_twin_may_be_lost_or_damaged_in_any_place(killed: Evening, tmp_path: Path) -> None:
    size = twin_path(killed.path).stat().st_size
    for place in range(0, size, max(1, size // 25)):
        path = killed.copied(tmp_path / f"{place}")
        content = bytearray(twin_path(path).read_bytes())
        content[place] ^= 0x20
        twin_path(path).write_bytes(content)
        await is_whole(killed, path, None)
        shutil.rmtree(path.parent)
    path = killed.copied(tmp_path / "none")
    twin_path(path).unlink()
    await is_whole(killed, path, None)


async def test_f17_a_flipped_letter_in_an_event_is_noticed(killed: Evening, tmp_path: Path) -> None:
    """SQLite finds nothing wrong with other text in a row: the twin knows what was stored."""
    path = killed.copied(tmp_path / "flipped")
    with sqlite3.connect(path) as connection:
        after = connection.execute("SELECT max(n) FROM snapshots").fetchone()[0]
        changed_rows = connection.execute("UPDATE events SET body = replace(body, '1', '2') WHERE n > ?", (after,))
        assert changed_rows.rowcount > 3
    connection.close()
    changed = path.read_bytes()
    journal, state = await asyncio.to_thread(opened, path)
    assert state == killed.state and "not as they were stored" in journal.opening.reason
    assert journal.opening.damaged is not None and journal.opening.damaged.read_bytes() == changed
    await journal.close()


async def test_a_damaged_snapshot_is_passed_over(stopped: Evening, tmp_path: Path) -> None:
    """It is not trusted: the one before it is, with all events since."""
    path = stopped.copied(tmp_path / "snap")
    with sqlite3.connect(path) as connection:
        newest = connection.execute("SELECT max(n) FROM snapshots").fetchone()[0]
        assert connection.execute("SELECT count(*) FROM snapshots").fetchone()[0] == 2
        connection.execute("UPDATE snapshots SET body = 'x' || substr(body, 2) WHERE n = ?", (newest,))
    connection.close()
    await is_whole(stopped, path, None)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE snapshots SET version = 99")
        connection.execute("UPDATE snapshots SET body = ''")
    connection.close()
    await is_whole(stopped, path, None)


async def test_f6_a_journal_that_is_gone_comes_back_from_its_twin(stopped: Evening, tmp_path: Path) -> None:
    path = stopped.copied(tmp_path / "gone")
    path.unlink()
    journal, state = await asyncio.to_thread(opened, path)
    assert state == stopped.state and journal.opening.lost and journal.opening.salvaged == "whole"
    assert journal.journal_id == stopped.identity
    await journal.close()
    path = stopped.copied(tmp_path / "emptied")
    path.write_bytes(b"")
    await is_whole(stopped, path, b"")


async def test_f6_nothing_to_go_on_from_begins_anew_loudly_and_keeps_both(stopped: Evening, tmp_path: Path) -> None:
    path = stopped.copied(tmp_path / "both")
    path.write_bytes(b"not a database")
    twin_path(path).write_bytes(b"nor a twin")
    journal, state = await asyncio.to_thread(opened, path)
    assert state == State() and journal.opening.salvaged == "none" and journal.journal_id != stopped.identity
    aside = journal.opening.damaged
    assert aside is not None and aside.read_bytes() == b"not a database"
    assert twin_path(aside).read_bytes() == b"nor a twin"
    assert (beside := read_epoch_file(path)) is not None and beside.epoch == 1
    await journal.close()


async def test_a_cold_twin_proves_nothing(killed: Evening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine was off since: the twin's last lines may never have reached the disk, so the id is a new one."""
    path = killed.copied(tmp_path / "cold")
    damage = bytes(path.stat().st_size)
    path.write_bytes(damage)
    path.with_name("t.journal-wal").unlink()
    monkeypatch.setattr("controller.journal.twin.machine_start", lambda: "another start")
    await is_whole(killed, path, damage, same_id=False)


async def test_a_twin_that_the_disk_did_not_let_go_on_proves_nothing(stopped: Evening, tmp_path: Path) -> None:
    path = stopped.copied(tmp_path / "stale")
    twin_path(path).rename(stale_path(path))
    zeroed(path, 0)
    journal, state = await asyncio.to_thread(opened, path)
    assert state == stopped.state and journal.opening.salvaged == "part" and journal.journal_id != stopped.identity
    await journal.close()


async def test_a_file_that_cannot_be_put_together_again_is_not_written_over(
    stopped: Evening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fails during the salvage: no start, and everything lies there for the next one."""
    path = stopped.copied(tmp_path / "full")
    damage = zeroed(path, 0)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("controller.journal.salvage.put_in_place", full)
        with pytest.raises(JournalError, match="No space left"):
            opened(path)
    assert path.read_bytes() == damage and not list(path.parent.glob("t.journal.damaged-*"))
    with monkeypatch.context() as patch:
        # The power goes when the damaged file has made room, and the new one has not taken it yet.
        patch.setattr("controller.journal.opening.put_in_place", full)
        with pytest.raises(OSError, match="No space left"):
            opened(path)
    assert not path.exists()
    await is_whole(stopped, path, None)


async def test_records_and_matches_survive_too(stopped: Evening, tmp_path: Path) -> None:
    before, said = read_records(stopped.path), read_session(stopped.path)
    assert len(before) == 2
    for page in range(0, pages(stopped.path), 5):
        path = stopped.copied(tmp_path / f"{page}")
        zeroed(path, page)
        journal, _ = await asyncio.to_thread(opened, path)
        await journal.close()
        assert read_records(path) == before and read_session(path) == said
        shutil.rmtree(path.parent)


def edited(path: Path, statement: str, *arguments: object) -> None:
    """A row that somebody, or a disk, has changed behind everybody's back."""
    with sqlite3.connect(path) as connection:
        assert connection.execute(statement, arguments).rowcount == 1
    connection.close()


async def test_one_bad_event_costs_what_followed_it_and_nothing_before(stopped: Evening, tmp_path: Path) -> None:
    """Without a twin: everything up to the last good event is there, points first of all."""
    for name, change in {"no json": "body = '{bad'", "no event": "type = 'Nonsense'", "no kind": "hand = 'x'"}.items():
        path = stopped.copied(tmp_path / name)
        twin_path(path).unlink()
        bad = stopped.ends[-3] + 1
        edited(path, f"UPDATE events SET {change} WHERE n = ?", bad)
        journal, state = await asyncio.to_thread(opened, path)
        assert journal.opening.salvaged == "part" and journal.journal_id != stopped.identity, name
        assert journal.last_event == bad - 1 and points(state) == points(stopped.state), name
        assert state == stopped.states[bad - 1], name
        assert journal.opening.damaged is not None
        journal.begin_epoch(2)
        await journal.close()
        again, resumed = await asyncio.to_thread(opened, path)
        assert resumed == state and again.opening.damaged is None
        await again.close()


async def test_a_record_of_a_hand_that_is_not_booked_any_more_is_marked(stopped: Evening, tmp_path: Path) -> None:
    path = stopped.copied(tmp_path / "record")
    twin_path(path).unlink()
    with sqlite3.connect(path) as connection:
        booked = connection.execute("SELECT max(n) FROM records").fetchone()[0]
        connection.execute("DELETE FROM snapshots WHERE n >= ?", (booked,))
        connection.execute("UPDATE events SET body = '' WHERE n = ?", (booked,))
    connection.close()
    journal, state = await asyncio.to_thread(opened, path)
    await journal.close()
    assert [record.voided for record in read_records(path)] == [False, True]
    assert state == stopped.states[stopped.ends[stopped.ends.index(booked) - 1]], "half a transaction is none"


async def test_a_sound_journal_that_this_version_cannot_follow_is_not_touched(
    stopped: Evening, tmp_path: Path
) -> None:
    """A version too old, or one with a mistake: it says so and does not start, and the right version goes on."""
    path = stopped.copied(tmp_path / "version")
    before = {part.name: part.read_bytes() for part in path.parent.iterdir()}

    def follows_nothing(events: Iterator[StoredEvent], since: State | None = None) -> State:
        for event in events:
            if event.n >= stopped.last - 1:
                raise JournalDamaged(f"event {event.n} ({event.type}) does not follow")
        return State()

    with pytest.raises(JournalNotFollowed, match=f"event {stopped.last - 1} .*version of Kaijin.*Nothing was changed"):
        open_journal(path, follows_nothing, thaw)
    assert {name: path.with_name(name).read_bytes() for name in before} == before
    # Damage beside it changes nothing: the twin tells the same events.
    broken = stopped.copied(tmp_path / "broken")
    zeroed(broken, 0)
    with pytest.raises(JournalNotFollowed, match="version of Kaijin"):
        open_journal(broken, follows_nothing, thaw)
    assert not list(broken.parent.glob("*.damaged-*"))
    for one in (path, broken):
        journal, state = await asyncio.to_thread(opened, one)
        assert state == stopped.state and journal.journal_id == stopped.identity
        await journal.close()


async def test_snapshots_of_another_version_are_no_damage(stopped: Evening, tmp_path: Path) -> None:
    """Where the events before them have left, nothing else can tell the points."""
    path = stopped.copied(tmp_path / "thaw")
    with sqlite3.connect(path) as connection:
        first = connection.execute("SELECT min(n) FROM snapshots").fetchone()[0]
        connection.execute("DELETE FROM events WHERE n <= ? AND type != 'SessionSaid'", (first,))
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('events_from', ?)", (str(first + 1),))
    connection.close()
    before = path.read_bytes()

    def newer(body: object) -> State:
        raise ValueError("version 99 of a state")

    with pytest.raises(JournalNotFollowed, match="version 99"):
        open_journal(path, fold_events, newer)
    assert path.read_bytes() == before and not list(path.parent.glob("*.damaged-*"))


async def test_a_digit_changed_before_the_last_start_is_noticed(stopped: Evening, tmp_path: Path) -> None:
    """The twin was written anew at that start: what it begins with is compared too."""
    path = stopped.copied(tmp_path / "digit")
    journal, _ = await asyncio.to_thread(opened, path)
    journal.begin_epoch(2)
    await journal.close()
    edited(path, "UPDATE events SET body = replace(body, ':', ': ') WHERE n = ?", stopped.last)
    journal, state = await asyncio.to_thread(opened, path)
    assert f"event {stopped.last} is not as it was stored" in journal.opening.reason
    assert state == stopped.state and journal.opening.salvaged == "whole"
    await journal.close()


async def test_a_power_cut_does_not_turn_notes_back(tmp_path: Path) -> None:
    """The twin is not waited for: its end may be lost while the file has what was noted last."""
    path = tmp_path / "t.journal"
    scribe = await written(path, 1, lambda state: state.phase == "play")
    journal = scribe.journal
    await journal.note({"rule": "old", "gone": "there"})
    size = twin_path(path).stat().st_size
    await journal.note({"rule": "new", "gone": None})
    await journal.close()
    for name, damage in (("sound", False), ("damaged", True)):
        copied = Evening(tmp_path, scribe).copied(tmp_path.with_name(f"{tmp_path.name}-{name}"))
        os.truncate(twin_path(copied), size)
        if damage:
            edited(copied, "UPDATE events SET body = '{bad' WHERE n = ?", scribe.journal.last_event)
        again, state = await asyncio.to_thread(opened, copied)
        assert again.meta("rule") == "new" and state == scribe.states[-1][1]
        assert damage or again.meta("gone") == ""
        assert (again.opening.damaged is not None) == damage
        await again.close()


def test_what_was_set_aside_is_bounded_and_the_first_stays(tmp_path: Path) -> None:
    """A disk that spoils the file at every start must not be filled by that."""
    path = tmp_path / "t.journal"
    made = []
    for number in range(12):
        path.write_text(str(number))
        path.with_name("t.journal-wal").write_text("log")
        twin_path(path).write_text("twin")
        made.append(set_aside(path))
    kept = [made[0], *made[-ASIDE_KEPT + 1 :]]
    assert asides(path) == kept and [one.read_text() for one in kept] == ["0", "7", "8", "9", "10", "11"]
    assert len(list(tmp_path.iterdir())) == 3 * ASIDE_KEPT


async def test_what_a_salvage_left_half_built_goes(stopped: Evening, tmp_path: Path) -> None:
    path = stopped.copied(tmp_path / "half")
    for name in (".salvaging", ".salvaging-wal", ".reading", ".salvaged"):
        path.with_name(path.name + name).write_bytes(b"half of a journal")
    await is_whole(stopped, path, None)
    assert not [part.name for part in path.parent.iterdir() if "salvag" in part.name or "reading" in part.name]


async def test_hands_are_for_the_owner_alone(stopped: Evening, tmp_path: Path) -> None:
    """Whatever the umask is, and also where an older version has left the files open to others."""
    before = os.umask(0o000)
    try:
        path = tmp_path / "new" / "t.journal"
        scribe = await written(path, 1, lambda state: state.phase == "play")
        there = modes(path)
        await scribe.journal.close()
        older = stopped.copied(tmp_path / "older")
        for part in (older, twin_path(older)):
            part.chmod(0o644)
        zeroed(older, 0)
        journal, _ = await asyncio.to_thread(opened, older)
        assert journal.opening.damaged is not None
        salvaged = modes(older)
        await journal.close()
    finally:
        os.umask(before)
    assert {"t.journal", "t.journal-wal", "t.journal.twin", "t.journal.ballast"} <= there.keys()
    assert any("damaged" in name for name in salvaged)
    assert set(there.values()) | set(salvaged.values()) == {0o600}


def modes(path: Path) -> dict[str, int]:
    """Of all files of a journal that tell something."""
    parts = [part for part in path.parent.iterdir() if part.suffix not in (".lock", ".epoch")]
    return {part.name: part.stat().st_mode & 0o777 for part in parts}


def test_set_aside_never_takes_a_name_twice(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    names = set()
    for number in range(3):
        path.write_text(str(number))
        names.add(set_aside(path))
    assert sorted(one.read_text() for one in names) == ["0", "1", "2"]


async def test_events_that_do_not_follow_are_damage_too(stopped: Evening, tmp_path: Path) -> None:
    """Without a twin and with events that no engine decided: what can be folded is taken, the rest is kept aside."""
    path = stopped.copied(tmp_path / "odd")
    twin_path(path).unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE events SET type = 'Nonsense' WHERE n = ?", (stopped.last,))
    connection.close()
    journal, _ = await asyncio.to_thread(opened, path)
    assert journal.opening.damaged is not None and "Nonsense" in journal.opening.reason
    await journal.close()


