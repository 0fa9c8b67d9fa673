"""An open journal: one thread writes, everybody awaits it; what is awaited is on the disk."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, TypeVar

import structlog

from controller.clock import AgeJudge, Stamp
from controller.epoch import EpochFile, write_epoch_file
from controller.journal import pruning
from controller.journal.loading import load_events
from controller.journal.pruning import matches_begun, prune, prune_published
from controller.journal.rows import (
    TRANSACTION,
    JournalDamaged,
    JournalError,
    JournalUnwritable,
    Keeping,
    NewEvent,
    NewPublished,
    Opening,
    StoredEvent,
    StoredPublished,
    is_damage,
    last_event,
    meta_of,
    plain_json,
    put_meta,
    scalar,
    why_unwritable,
)
from controller.journal.snapshots import put_snapshot
from controller.journal.twin import Line
from controller.journal.writing import Writer
from controller.ledger import LedgerEntry, put_entry
from controller.records import NewRecord, StoredRecord, put_record, select_records

EVENTS_A_SNAPSHOT: Final = 1_500
"""So many events behind the last snapshot another is due, whatever happens at the table."""

_PRUNE_EVERY = 1_000
MOST_BACKLOG: Final = 2_000
"""Transactions that are kept in memory at most while the disk takes nothing."""

_RETRY_S: Final = (0.1, 5.0)
_TWIN_RECORDS: Final = 300
_TWIN_LEDGER: Final = 2_000

_Result = TypeVar("_Result")


class Journal:
    """An open journal. `append` and `note` are awaited off the loop; they finish when the disk has it.

    What the disk does not take is not stored: `append` raises JournalUnwritable, everything else waits until it can be
    written. With `keeping.go_on` it is kept in memory instead, up to a bound, and stored in its order later. `trouble`
    says why nothing can be written, one of `DISK_REASONS`, and is empty while all is well. A file that is found not to
    be what was written to it raises JournalDamaged, whatever was asked, and is `damage`: it is salvaged at a start.
    """

    def __init__(
        self, path: Path, writer: Writer, lock: IO[str], opening: Opening, journal_id: int, snapshot: int,
        keeping: Keeping,
    ) -> None:  # fmt: skip
        self.path = path
        self.opening = opening
        self.journal_id = journal_id
        self.trouble = ""
        self.damage: JournalDamaged | None = None
        self.on_trouble: Callable[[], None] = lambda: None
        """Called in the loop when `trouble` or `damage` has changed."""
        self._lock = lock
        self._writer = writer
        self._keeping = keeping
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")
        connection = writer.connection
        # The writer's thread alone touches the connection from now on; what is noted is kept here as well.
        self._notes = meta_of(connection)
        self._next_n: int = writer.last_event + 1
        self._next_seq: int = scalar(connection, "SELECT coalesce(max(seq), 0) FROM published") + 1
        oldest: int = scalar(connection, "SELECT coalesce(min(seq), 0) FROM published")
        self.first_kept = oldest or self._next_seq
        """The oldest published fact that `replay` still has; one more than the last where none is kept."""
        self.append_seconds = 0.0
        """Seconds that the last commit took."""
        self._backlog: deque[tuple[Callable[[sqlite3.Connection], None], int]] = deque()
        self._snapshot = snapshot
        self._log = structlog.get_logger("journal")
        self._ages = AgeJudge()

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

    @property
    def holds(self) -> bool:
        """Whether nothing may be applied because nothing can be stored."""
        return bool(self.trouble) and not (self._keeping.go_on and len(self._backlog) < MOST_BACKLOG)

    @property
    def unsafe(self) -> int:
        """How many transactions are in memory alone."""
        return len(self._backlog)

    @property
    def snapshot_is_due(self) -> bool:
        """Whether so much has happened since the last snapshot that a start would take long without another."""
        return self.last_event - self._snapshot >= EVENTS_A_SNAPSHOT

    def meta(self, key: str, default: str = "") -> str:
        """A value noted earlier."""
        return self._notes.get(key, default)

    def notes(self) -> dict[str, str]:
        """All that is noted."""
        return dict(self._notes)

    def load(self) -> Iterator[StoredEvent]:
        """Every event, oldest first. JournalDamaged when one cannot be read or is missing."""
        return load_events(self._writer.connection)

    def take_new_id(self) -> None:
        """Go on as a copy does: ids and numbers that this journal has given count as another's. For the start only.

        Blocks; JournalUnwritable where that cannot be stored.
        """
        new = secrets.randbits(64)
        noted = {"journal_id": f"{new:016x}", "copied_from": f"{self.journal_id:016x}"}
        self._writer.transact(lambda connection: put_meta(connection, noted), needed=True)
        self.journal_id = new
        self._notes.update(noted)
        salvaged = self.opening.salvaged
        self.opening = replace(self.opening, copied=True, salvaged="part" if salvaged == "whole" else salvaged)
        self._begin_twin()

    def begin_epoch(self, epoch: int) -> None:
        """Note the epoch of this start in the journal and then in the file beside it. For the start only.

        Blocks; JournalUnwritable where either cannot be stored.
        """
        self._notes["epoch"] = str(epoch)
        self._writer.transact(lambda connection: put_meta(connection, {"epoch": str(epoch)}), needed=True)
        beside = EpochFile(journal=f"{self.journal_id:016x}", epoch=epoch)
        try:
            write_epoch_file(self.path, beside)
        except OSError as error:
            if not self._writer.free_ballast():
                raise self._no_epoch_file(error) from None
            try:
                write_epoch_file(self.path, beside)
            except OSError as again:
                raise self._no_epoch_file(again) from None
        if not self._writer.has_ballast:
            self.trouble = self.trouble or "disk_full"

    def _no_epoch_file(self, error: OSError) -> JournalUnwritable:
        return JournalUnwritable(why_unwritable(error), f"{self.path}: its epoch: {error.strerror or error}")

    def append(
        self,
        events: Sequence[NewEvent],
        stamp: Stamp,
        epoch: int,
        published: Sequence[NewPublished] = (),
        records: Sequence[NewRecord] = (),
        ledger: LedgerEntry | None = None,
    ) -> asyncio.Future[None]:
        """Store events, the public facts that follow, the records of hands booked or taken back and what all that
        brings to the ledger, in one transaction. All is on the disk when it is done.

        The writer begins at once, so the caller can encode views before it awaits. JournalUnwritable: nothing of it is
        stored, and the numbers are free again.
        """
        if [fact.seq for fact in published] != list(range(self._next_seq, self._next_seq + len(published))):
            raise JournalError(f"published facts must go on from number {self._next_seq}")
        first, first_seq = self._next_n, self._next_seq
        self._next_n += len(events)
        self._next_seq += len(published)

        def store(connection: sqlite3.Connection) -> None:
            self._store(connection, first, events, stamp, epoch, published, records, ledger)

        def work() -> str:
            began = time.perf_counter()
            try:
                reason = self._write(store, len(events), needed=True)
            except BaseException:
                if events or published:
                    self._next_n, self._next_seq = first, first_seq
                raise
            self.append_seconds = time.perf_counter() - began
            return reason

        commit = self._run(work)
        commit.add_done_callback(self._appended)
        return commit  # type: ignore[return-value]

    async def note(self, values: Mapping[str, str | None], *, on_disk: bool = False) -> None:
        """Keep values by name across starts (None forgets one), on the disk when this returns.

        Under `keeping.go_on` they may be in memory alone as everything else, unless they must be `on_disk`.
        """
        for key, value in values.items():
            if value is None:
                self._notes.pop(key, None)
            else:
                self._notes[key] = value
        noted = dict(values)
        work = partial(_note, values=noted)
        if not self._keeping.go_on or on_disk:
            await self._until_done(partial(self._write_through, work))
            return
        reason = await self._until_done(partial(self._write, work, 0))
        if reason:
            self._trouble(reason, "notes are kept in memory")

    async def replay(self, first: int, last: int) -> list[StoredPublished]:
        """The published facts numbered first to last that are still kept."""
        query = "SELECT seq, stream, envelope FROM published WHERE seq BETWEEN ? AND ? ORDER BY seq"
        rows = await self._run(
            self._writer.read, lambda connection: connection.execute(query, (first, last)).fetchall()
        )
        return [StoredPublished(*row) for row in rows]

    async def records(
        self, match: int | None = None, hand: int | None = None, first: int = 0, most: int = 1_000
    ) -> list[StoredRecord]:
        """Records of booked hands from number `first` on, oldest first: of one match or one hand where that is said."""
        return await self._run(
            self._writer.read, lambda connection: list(select_records(connection, match, hand, first, most))
        )

    async def ledger(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Do something with the ledger's table (`controller.ledger`), in a transaction on the writer's thread."""
        return await self._until_done(partial(self._writer.transact, work))

    def keep_snapshot(self, body: Callable[[], Mapping[str, Any]], match: int, stamp: Stamp) -> asyncio.Future[None]:
        """Store the state behind the last event, and let go of what is too old; a disk that does not take it is told.

        `body` is called on the writer's thread. `match` is the one that was begun last.
        """
        n, self._snapshot = self.last_event, self.last_event
        return self._run(self._keep_snapshot, n, body, match, stamp)

    async def probe(self) -> bool:
        """Whether the disk takes something again: a note, and room kept for what must fit; `trouble` is over then."""
        try:
            await self._run(self._probe)
        except JournalUnwritable as error:
            self._trouble(error.reason, str(error))
            return False
        self._trouble("", "")
        return True

    async def close(self) -> None:
        """Finish what was asked for, store what is in memory alone if the disk takes it now, and close the file."""
        try:
            await self._run(self._close)
        finally:
            self._thread.shutdown(wait=False)
            self._lock.close()

    # --- on the writer's thread ---------------------------------------------------------------------------------------

    def _run(self, work: Callable[..., _Result], *arguments: Any) -> asyncio.Future[_Result]:
        running = asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)
        running.add_done_callback(self._ran)
        return running

    def _ran(self, done: asyncio.Future[Any]) -> None:
        """In the loop: damage ends the daemon, whoever has met it."""
        error = None if done.cancelled() else done.exception()
        if not isinstance(error, JournalDamaged) or self.damage is not None:
            return
        self.damage = error
        self._log.critical("the journal is damaged; it is salvaged at the next start", problem=str(error))
        self.on_trouble()

    def _write(self, work: Callable[[sqlite3.Connection], None], events: int, needed: bool = False) -> str:
        """Store something, or keep it in memory where that is the policy: why, or empty when it is stored."""
        if not self._backlog:
            try:
                self._writer.transact(work, events, needed=needed)
                return ""
            except JournalUnwritable as error:
                if not self._keeping.go_on:
                    raise
                reason = error.reason
        else:
            reason = self.trouble or "disk_error"
        if len(self._backlog) >= MOST_BACKLOG:
            raise JournalUnwritable(reason, f"{self.path}: {MOST_BACKLOG} transactions wait for the disk")
        self._backlog.append((work, events))
        return reason

    def _appended(self, done: asyncio.Future[str]) -> None:
        """In the loop, before whoever awaits it: everybody learns of a failure, and of the last room being taken."""
        if done.cancelled():
            return
        error = done.exception()
        if isinstance(error, JournalUnwritable):
            self._trouble(error.reason, str(error))
        elif error is None and done.result():
            self._trouble(done.result(), "play goes on in memory")
        elif error is None and not self.trouble and not self._writer.has_ballast:
            self._trouble("disk_full", "the room that was kept for this is used up")

    def _trouble(self, reason: str, problem: str) -> None:
        before, self.trouble = self.trouble, reason
        if before == reason:
            return
        if reason:
            self._log.critical("the journal cannot be written", reason=reason, problem=problem, journal=str(self.path))
        else:
            self._log.warning("the journal can be written again", journal=str(self.path))
        self.on_trouble()

    def _store(
        self,
        connection: sqlite3.Connection,
        first: int,
        events: Sequence[NewEvent],
        stamp: Stamp,
        epoch: int,
        published: Sequence[NewPublished],
        records: Sequence[NewRecord],
        ledger: LedgerEntry | None,
    ) -> None:
        rows = [
            (first + place, event.hand, epoch, stamp.ts, stamp.mono_ms, stamp.clock, event.type, plain_json(event.body))
            for place, event in enumerate(events)
        ]
        last_n = first + len(events) - 1
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        connection.executemany(
            "INSERT INTO published VALUES (?, ?, ?, ?)",
            [(fact.seq, last_n, fact.stream, fact.envelope) for fact in published],
        )
        for record in records:
            put_record(connection, record, last_n, stamp)
        if ledger is not None:
            put_entry(connection, ledger, last_n, stamp, epoch)
        if published and published[-1].seq % _PRUNE_EVERY < len(published):
            self.first_kept = prune_published(connection, pruning.PUBLISHED_KEPT)

    def _keep_snapshot(self, n: int, body: Callable[[], Mapping[str, Any]], match: int, stamp: Stamp) -> None:
        if self._backlog:
            return
        try:
            self._take_snapshot(n, body(), match, stamp)
        except JournalDamaged:
            raise
        except Exception as error:
            if isinstance(error, sqlite3.Error) and is_damage(error):
                raise JournalDamaged(f"{self.path}: {error}") from None
            self._log.error("no snapshot could be stored; the next start takes the one before it", problem=str(error))

    def _take_snapshot(self, n: int, body: Mapping[str, Any], match: int, stamp: Stamp) -> None:
        writer = self._writer
        writer.transact(lambda connection: put_snapshot(connection, n, match, body))
        old = self._ages.may_judge(stamp)
        writer.transact(lambda connection: prune(connection, self._keeping, stamp if old else None))
        connection = writer.connection
        self.first_kept = scalar(connection, "SELECT coalesce(min(seq), ?) FROM published", self._next_seq)
        # `execute` would give back one page alone.
        connection.executescript(f"PRAGMA incremental_vacuum({pruning.PAGES_GIVEN_BACK})")
        if writer.twin.is_long:
            self._begin_twin()

    def _begin_twin(self) -> None:
        connection = self._writer.connection
        version = scalar(connection, "PRAGMA user_version")
        self._writer.twin.begin(f"{self.journal_id:016x}", version, base_line(connection))

    def _probe(self) -> None:
        writer = self._writer
        self._reopen()
        self._store_backlog()
        writer.transact(lambda connection: put_meta(connection, {"probe": str(time.time_ns())}))
        writer.keep_ballast()
        if writer.twin.broken:
            self._begin_twin()

    def _reopen(self) -> None:
        """A connection that has met an error does not get over it, nor one that was made while nothing was writable."""
        if self.trouble not in ("", "disk_full"):
            self._writer.reopen()

    def _store_backlog(self, needed: bool = False) -> None:
        """Store what is in memory alone, in its order, as far as the disk takes it."""
        while self._backlog:
            self._writer.transact(*self._backlog[0], needed=needed)
            self._backlog.popleft()

    def _write_through(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Store something, and before it whatever is in memory alone: nothing older comes after it."""
        self._store_backlog()
        self._writer.transact(work)

    def _close(self) -> None:
        try:
            if self._backlog:
                self._reopen()
            self._store_backlog(needed=True)
        except JournalError as error:
            self._log.critical(
                "what was played in memory is lost: the disk does not take it", lost=self.unsafe, problem=str(error)
            )
        self._writer.twin.close()
        self._writer.connection.close()

    async def _until_done(self, work: Callable[[], _Result]) -> _Result:
        """Do something on the writer's thread, again and again while the disk does not take it."""
        pause = _RETRY_S[0]
        while True:
            try:
                return await self._run(work)
            except JournalUnwritable as error:
                self._trouble(error.reason, str(error))
            await asyncio.sleep(pause)
            pause = min(2 * pause, _RETRY_S[1])


def base_line(connection: sqlite3.Connection) -> Line:
    """What a twin begins with: all notes, the newest snapshot, the events since, and what must outlive a lost file.

    That is what was said in the match begun last with its records, the facts' last number, and what the parlor has not
    acknowledged.
    """
    last = last_event(connection)
    snapshot = scalar(connection, "SELECT coalesce(max(n), 0) FROM snapshots")
    begun = (matches_begun(connection) or [last])[-1]
    wanted = {
        "meta": "TRUE",
        "snapshots": f"n = {snapshot}",
        "events": f"n > {snapshot} OR n = {last} OR (type = 'SessionSaid' AND n >= {begun})",
        "published": "seq = (SELECT max(seq) FROM published)",
        "records": f"number > (SELECT coalesce(max(number), 0) - {_TWIN_RECORDS} FROM records)",
        "ledger": f"acked = 0 AND id > (SELECT coalesce(max(id), 0) - {_TWIN_LEDGER} FROM ledger)"
        " OR id = (SELECT max(id) FROM ledger)",
    }
    statements: list[str] = []
    for table, which in wanted.items():
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        values = " || ',' || ".join(f"quote({column})" for column in columns)
        query = f"SELECT 'INSERT OR REPLACE INTO {table} VALUES (' || {values} || ')' FROM {table} WHERE {which}"
        statements += [row[0] for row in connection.execute(query)]
    return Line(last + 1, last, 0, tuple(statements), int(meta_of(connection).get(TRANSACTION, "0")))


def _note(connection: sqlite3.Connection, values: Mapping[str, str | None]) -> None:
    put_meta(connection, {key: value for key, value in values.items() if value is not None})
    connection.executemany(
        "DELETE FROM meta WHERE key = ?", [(key,) for key, value in values.items() if value is None]
    )
