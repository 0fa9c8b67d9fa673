"""The journal of one table: SQLite in WAL mode, every commit on the disk before anything acts on it, one writer thread.

Events carry the number `n` (1, 2, 3 …); published facts carry `seq`, gapless too. Both are given in the transaction
that stores them. The journal's id is random, new when a journal is begun anew or from a copy; it is kept when the same
file is opened again. A file that cannot be trusted is set aside under a dated name, never overwritten.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, TypeVar

from controller.clock import Stamp
from controller.epoch import EpochFile, read_epoch_file, write_epoch_file
from controller.records import RECORDS_SINCE, NewRecord, StoredRecord, put_record, select_records

MIGRATIONS: Final[tuple[str, ...]] = (
    """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE events (
        n INTEGER PRIMARY KEY, hand INTEGER NOT NULL, epoch INTEGER NOT NULL,
        ts INTEGER NOT NULL, mono_ms INTEGER NOT NULL, clock TEXT NOT NULL,
        type TEXT NOT NULL, body TEXT NOT NULL
    );
    CREATE TABLE published (
        seq INTEGER PRIMARY KEY, n INTEGER NOT NULL, stream TEXT NOT NULL, envelope TEXT NOT NULL
    );
    """,
    """
    CREATE TABLE records (
        number INTEGER PRIMARY KEY, n INTEGER NOT NULL, match INTEGER NOT NULL, hand INTEGER NOT NULL,
        ts INTEGER NOT NULL, clock TEXT NOT NULL, voided INTEGER NOT NULL, body TEXT NOT NULL
    );
    CREATE INDEX records_by_hand ON records (match, hand);
    """,
)
"""Each entry takes the schema one version further; an entry that was released never changes."""

PUBLISHED_KEPT: Final = 20_000
"""Published facts that stay replayable."""

CHECKPOINT_PAGES: Final = 128

_PRUNE_EVERY = 1_000

_Folded = TypeVar("_Folded")


class JournalError(Exception):
    """The journal cannot be used; the message says why and what to do."""


class JournalDamaged(JournalError):
    """What is in the file cannot be trusted."""


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to be stored."""

    hand: int
    type: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event as it lies in the journal."""

    n: int
    hand: int
    epoch: int
    stamp: Stamp
    type: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class NewPublished:
    """A public fact to be stored: its stream, and its envelope as JSON but for the number it will get."""

    seq: int
    stream: str
    envelope: str


@dataclass(frozen=True, slots=True)
class StoredPublished:
    """A public fact with its number in the gapless stream."""

    seq: int
    stream: str
    envelope: str


@dataclass(frozen=True, slots=True)
class Opening:
    """How the journal was found at the start."""

    fresh: bool
    """No file was there."""
    lost: bool
    """No file (or an empty one) was there although this table has had one."""
    copied: bool
    """The file is a copy or an older state of this table's journal: it has a new id."""
    damaged: Path | None
    """Where an unusable file was put aside."""
    reason: str


class Journal:
    """An open journal. `append` and `note` are awaited off the loop; they finish when the disk has it."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, lock: IO[str], opening: Opening, journal_id: int
    ) -> None:
        self.path = path
        self._lock = lock
        self.opening = opening
        self.journal_id = journal_id
        self._connection = connection
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")
        self._next_n: int = _scalar(connection, "SELECT coalesce(max(n), 0) FROM events") + 1
        # The writer's thread alone touches the connection from now on; what is noted is kept here as well.
        self._notes = _meta(connection)
        self._next_seq: int = _scalar(connection, "SELECT coalesce(max(seq), 0) FROM published") + 1
        oldest: int = _scalar(connection, "SELECT coalesce(min(seq), 0) FROM published")
        self.first_kept = oldest or self._next_seq
        """The oldest published fact that `replay` still has; one more than the last where none is kept."""
        self.append_seconds = 0.0
        """Seconds that the last commit took."""

    @property
    def epoch(self) -> int:
        """The epoch of this start; 0 before one was begun."""
        return int(self.meta("epoch", "0"))

    @property
    def last_seq(self) -> int:
        """Number of the last published fact; 0 before the first."""
        return self._next_seq - 1

    @property
    def next_seq(self) -> int:
        """Number the next published fact must bear."""
        return self._next_seq

    @property
    def last_event(self) -> int:
        """Number of the last event; 0 before the first."""
        return self._next_n - 1

    def meta(self, key: str, default: str = "") -> str:
        """A value noted earlier."""
        return self._notes.get(key, default)

    def load(self) -> Iterator[StoredEvent]:
        """Every event, oldest first. JournalDamaged when one cannot be read or is missing."""
        return _load(self._connection)

    def begin_epoch(self, epoch: int) -> None:
        """Note the epoch of this start in the journal and then in the file beside it. Blocks; for the start only."""
        self._notes["epoch"] = str(epoch)
        with self._connection:
            _put_meta(self._connection, {"epoch": str(epoch)})
        write_epoch_file(self.path, EpochFile(journal=f"{self.journal_id:016x}", epoch=epoch))

    def append(
        self,
        events: Sequence[NewEvent],
        stamp: Stamp,
        epoch: int,
        published: Sequence[NewPublished] = (),
        records: Sequence[NewRecord] = (),
    ) -> asyncio.Future[None]:
        """Store events, the public facts that follow and the records of hands booked or taken back in one transaction.
        All is on the disk when it is done.

        The writer begins at once, so the caller can encode views before it awaits.
        """
        if [fact.seq for fact in published] != list(range(self._next_seq, self._next_seq + len(published))):
            raise JournalError(f"published facts must go on from number {self._next_seq}")
        first = self._next_n
        self._next_n += len(events)
        self._next_seq += len(published)
        return self._run(self._append, first, list(events), stamp, epoch, list(published), list(records))

    async def note(self, values: Mapping[str, str | None]) -> None:
        """Keep values by name across starts (None forgets one), on the disk when this returns."""
        for key, value in values.items():
            if value is None:
                self._notes.pop(key, None)
            else:
                self._notes[key] = value
        await self._run(self._note, dict(values))

    async def replay(self, first: int, last: int) -> list[StoredPublished]:
        """The published facts numbered first to last that are still kept."""
        return await self._run(self._replay, first, last)

    async def records(
        self, match: int | None = None, hand: int | None = None, first: int = 0, most: int = 1_000
    ) -> list[StoredRecord]:
        """Records of booked hands from number `first` on, oldest first: of one match or one hand where that is said."""
        return await self._run(self._records, match, hand, first, most)

    async def close(self) -> None:
        """Finish what was asked for and close the file."""
        await self._run(self._connection.close)
        self._writer.shutdown(wait=False)
        self._lock.close()

    def _run(self, work: Callable[..., _Folded], *arguments: Any) -> asyncio.Future[_Folded]:
        return asyncio.get_running_loop().run_in_executor(self._writer, work, *arguments)

    def _append(
        self,
        first: int,
        events: list[NewEvent],
        stamp: Stamp,
        epoch: int,
        published: list[NewPublished],
        records: list[NewRecord],
    ) -> None:
        began = time.perf_counter()
        rows = [
            (first + place, event.hand, epoch, stamp.ts, stamp.mono_ms, stamp.clock, event.type, _json(event.body))
            for place, event in enumerate(events)
        ]
        last_n = first + len(events) - 1
        with self._connection:
            self._connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            self._connection.executemany(
                "INSERT INTO published VALUES (?, ?, ?, ?)",
                [(fact.seq, last_n, fact.stream, fact.envelope) for fact in published],
            )
            for record in records:
                put_record(self._connection, record, last_n, stamp)
            if published and published[-1].seq % _PRUNE_EVERY < len(published):
                self._prune(published[-1].seq - PUBLISHED_KEPT)
        self.append_seconds = time.perf_counter() - began

    def _records(self, match: int | None, hand: int | None, first: int, most: int) -> list[StoredRecord]:
        return list(select_records(self._connection, match, hand, first, most))

    def _prune(self, last: int) -> None:
        if last >= self.first_kept:
            self._connection.execute("DELETE FROM published WHERE seq <= ?", (last,))
            self.first_kept = last + 1

    def _note(self, values: dict[str, str | None]) -> None:
        with self._connection:
            _put_meta(self._connection, {key: value for key, value in values.items() if value is not None})
            self._connection.executemany(
                "DELETE FROM meta WHERE key = ?", [(key,) for key, value in values.items() if value is None]
            )

    def _replay(self, first: int, last: int) -> list[StoredPublished]:
        rows = self._connection.execute(
            "SELECT seq, stream, envelope FROM published WHERE seq BETWEEN ? AND ? ORDER BY seq", (first, last)
        )
        return [StoredPublished(*row) for row in rows]


def open_journal(path: Path, fold: Callable[[Iterator[StoredEvent]], _Folded]) -> tuple[Journal, _Folded]:
    """Open or begin the journal and fold it; blocks, for the start only.

    A file that fails SQLite's check, or whose events do not fold, is set aside under a dated name (`opening.damaged`)
    and a new one is begun under a new id. JournalError when the folder cannot be written, another process holds the
    file, or it was written by a newer version.
    """
    lock = _lock(path)
    try:
        try:
            return _open(path, lock, fold, damaged=None, reason="")
        except JournalDamaged as error:
            aside = set_aside(path)
            return _open(path, lock, fold, damaged=aside, reason=str(error))
    except BaseException:
        lock.close()
        raise


def read_events(path: Path) -> Iterator[StoredEvent]:
    """The events of a journal that another process may be writing; changes nothing. JournalError when it is none."""
    if not path.is_file():
        raise JournalError(f"{path}: no journal there")
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        _check_version(connection, path)
        yield from _load(connection)
    except sqlite3.DatabaseError as error:
        raise JournalError(f"{path}: no journal of a table, or a damaged one ({error})") from None
    finally:
        connection.close()


def read_records(path: Path, match: int | None = None, hand: int | None = None) -> list[StoredRecord]:
    """The records in a journal that another process may be writing, oldest first; changes nothing.

    JournalError when it is no journal; none in one that was last written before there were records.
    """
    if not path.is_file():
        raise JournalError(f"{path}: no journal there")
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        if _check_version(connection, path) < RECORDS_SINCE:
            return []
        return list(select_records(connection, match, hand))
    except sqlite3.DatabaseError as error:
        raise JournalError(f"{path}: no journal of a table, or a damaged one ({error})") from None
    finally:
        connection.close()


def read_session(path: Path) -> tuple[list[dict[str, Any]], list[StoredRecord]]:
    """What happened in the session, as bodies of events with their type, and every record, both of one moment.

    Beside a daemon that writes; changes nothing. JournalError when it is no journal.
    """
    if not path.is_file():
        raise JournalError(f"{path}: no journal there")
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
    try:
        connection.execute("BEGIN")
        if _check_version(connection, path) < RECORDS_SINCE:
            return [], []
        rows = connection.execute("SELECT type, body FROM events WHERE type = 'SessionSaid' ORDER BY n")
        said = [{"type": kind, **json.loads(body)} for kind, body in rows]
        return said, list(select_records(connection, None, None))
    except (sqlite3.DatabaseError, ValueError) as error:
        raise JournalError(f"{path}: no journal of a table, or a damaged one ({error})") from None
    finally:
        connection.close()


def read_meta(path: Path) -> dict[str, str]:
    """What a journal notes of itself (id, epoch, schema version); changes nothing. JournalError when it is none."""
    if not path.is_file():
        raise JournalError(f"{path}: no journal there")
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        problem = _scalar(connection, "PRAGMA quick_check(1)")
        if problem != "ok":
            raise JournalError(f"{path}: damaged: {problem}")
        return {**_meta(connection), "schema": str(_check_version(connection, path))}
    except sqlite3.DatabaseError as error:
        raise JournalError(f"{path}: no journal of a table, or a damaged one ({error})") from None
    finally:
        connection.close()


def set_aside(path: Path) -> Path:
    """Rename a journal and its side files to a dated name that is still free, and say which."""
    stem = f"{path.name}.damaged-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
    aside = path.with_name(stem)
    count = 1
    while aside.exists():
        count += 1
        aside = path.with_name(f"{stem}-{count}")
    for suffix in ("-wal", "-shm", ""):
        part = path.with_name(path.name + suffix)
        if part.exists():
            os.replace(part, aside.with_name(aside.name + suffix))
    return aside


def _open(
    path: Path, lock: IO[str], fold: Callable[[Iterator[StoredEvent]], _Folded], damaged: Path | None, reason: str
) -> tuple[Journal, _Folded]:
    beside = read_epoch_file(path)
    missing = not path.exists() or path.stat().st_size == 0
    connection = _connect(path)
    try:
        _prepare(connection, path)
        journal_id, copied = _identity(connection, beside)
        opening = Opening(
            fresh=missing, lost=missing and damaged is None and beside is not None, copied=copied,
            damaged=damaged, reason=reason,
        )  # fmt: skip
        journal = Journal(path, connection, lock, opening, journal_id)
        try:
            folded = fold(journal.load())
        except sqlite3.DatabaseError as error:
            raise JournalDamaged(f"{path}: {error}") from None
        return journal, folded
    except BaseException:
        connection.close()
        raise


def _connect(path: Path) -> sqlite3.Connection:
    try:
        return sqlite3.connect(path, check_same_thread=False, timeout=1.0)
    except sqlite3.Error as error:
        raise JournalError(f"{path}: cannot be opened: {error}") from None


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Check the file and bring its schema up to date."""
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        # A short log is soon written over in place: a commit need not make the file longer, which halves its time.
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        problem = _scalar(connection, "PRAGMA quick_check(1)")
        if problem != "ok":
            raise JournalDamaged(f"{path}: {problem}")
        version = _check_version(connection, path)
        for number in range(version, len(MIGRATIONS)):
            connection.executescript(f"BEGIN; {MIGRATIONS[number]} PRAGMA user_version = {number + 1}; COMMIT;")
    except sqlite3.OperationalError as error:
        raise JournalError(f"{path}: cannot be used: {error}") from None
    except sqlite3.DatabaseError as error:
        raise JournalDamaged(f"{path}: {error}") from None


def _check_version(connection: sqlite3.Connection, path: Path) -> int:
    version: int = _scalar(connection, "PRAGMA user_version")
    if version > len(MIGRATIONS):
        raise JournalError(
            f"{path}: written by a newer Kaijin (journal version {version}, "
            f"this one knows {len(MIGRATIONS)}); update Kaijin"
        )
    return version


def _identity(connection: sqlite3.Connection, beside: EpochFile | None) -> tuple[int, bool]:
    """The journal's id, new for a new journal and for a copy: a file without its companion, or older than it."""
    meta = _meta(connection)
    known = meta.get("journal_id")
    copied = False
    if known is not None:
        copied = beside is None or beside.journal != known or beside.epoch > int(meta.get("epoch", "0"))
    if known is None or copied:
        known = f"{secrets.randbits(64):016x}"
        with connection:
            _put_meta(connection, {"journal_id": known})
            # Ids given out under the old name mean nothing to the board any more.
            _put_meta(connection, {"copied_from": meta.get("journal_id", "")})
    return int(known, 16), copied


def _load(connection: sqlite3.Connection) -> Iterator[StoredEvent]:
    expected = 1
    for n, hand, epoch, ts, mono_ms, clock, kind, body in connection.execute(
        "SELECT n, hand, epoch, ts, mono_ms, clock, type, body FROM events ORDER BY n"
    ):
        if n != expected:
            raise JournalDamaged(f"event {expected} is missing, {n} follows")
        expected += 1
        try:
            fields = json.loads(body)
        except ValueError:
            raise JournalDamaged(f"event {n} is no JSON") from None
        if not isinstance(fields, dict):
            raise JournalDamaged(f"event {n} is no object")
        yield StoredEvent(n, hand, epoch, Stamp(ts, mono_ms, clock), kind, fields)


def _meta(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT key, value FROM meta"))


def _put_meta(connection: sqlite3.Connection, values: Mapping[str, str]) -> None:
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))


def _scalar(connection: sqlite3.Connection, query: str) -> Any:
    return connection.execute(query).fetchone()[0]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _lock(path: Path) -> IO[str]:
    """The lock that one process at a time holds on a journal; JournalError when another one does."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(path.name + ".lock").open("w")
    except OSError as error:
        raise JournalError(f"{path.parent}: the journal's folder cannot be used: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise JournalError(f"{path}: another daemon holds this journal") from None
    return lock
