"""A journal put together again from its twin and from what of the damaged file can still be read."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import structlog

from controller.journal.comparing import vouches
from controller.journal.loading import Fold, Folded, Thaw, fold_journal
from controller.journal.pruning import EVENTS_FROM, MATCHES_GONE, matches_begun
from controller.journal.rows import (
    TRANSACTION,
    EventUnusable,
    JournalDamaged,
    JournalError,
    JournalNotFollowed,
    Salvaged,
    meta_of,
    put_meta,
    scalar,
)
from controller.journal.schema import MIGRATIONS, configure, connect, migrate, private_opener
from controller.journal.twin import Line, TwinTold

_TABLES: Final = {"events": "n", "meta": "", "snapshots": "n", "published": "seq", "records": "number", "ledger": "id"}
"""The tables, and by what their rows are counted."""

_SCRATCH: Final = ".salvaging"
_READING: Final = ".reading"
_STRIDE: Final = 64
_BLOCK: Final = 4096
_MOST_MISSES: Final = 2_000
_MOST_UNKNOWN: Final = 200_000


def apply_lines(connection: sqlite3.Connection, lines: Sequence[Line]) -> None:
    """Carry out transactions that a twin tells; one that is there already does nothing."""
    for line in lines:
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in line.statements:
                connection.execute(statement)
            connection.execute("COMMIT")
        except sqlite3.IntegrityError:
            connection.execute("ROLLBACK")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise


def salvage(
    path: Path, source: Path | None, twin: TwinTold | None, fold: Fold[Folded], thaw: Thaw | None
) -> tuple[Salvaged, int]:
    """Build the journal anew at `salvaged_path`; how much of it could be had, and how many events its twin added.

    What follows on an event that cannot be used is let go. sqlite3.DatabaseError or JournalDamaged where the sources
    lead to no state, JournalNotFollowed where they do, and this version cannot follow.
    """
    scratch = path.with_name(path.name + _SCRATCH)
    clear_leftovers(path)
    connection = connect(scratch)
    try:
        configure(connection)
        connection.execute("PRAGMA synchronous = OFF")
        if twin is not None and twin.schema > len(MIGRATIONS):
            raise JournalError(f"{path}: its twin was written by a newer Kaijin; update Kaijin")
        migrate(connection, scratch, twin.schema if twin is not None else None)
        if twin is not None:
            apply_lines(connection, (twin.base, *twin.lines))
            migrate(connection, scratch)
        known = twin.last if twin is not None else 0
        found = _copy_readable(connection, source, twin) if source is not None else 0
        _mend(connection, twin, thaw is not None)
        cut = _fold_what_follows(connection, twin, fold, thaw)
        told: Salvaged = "part"
        if twin is not None and twin.proved and not cut:
            told = "whole"
        elif not scalar(connection, "SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM snapshots)"):
            told = "none"
        if told != "whole":
            # What boards were told in the last moments is not known: ids that were given out are not given again.
            connection.execute("DELETE FROM meta WHERE key = 'journal_id'")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    finally:
        connection.close()
    put_in_place(scratch, salvaged_path(path))
    return told, max(0, known - found) if twin is not None else 0


def _fold_what_follows(
    connection: sqlite3.Connection, twin: TwinTold | None, fold: Fold[Folded], thaw: Thaw | None
) -> bool:
    """Let go of everything from the first event on that cannot be used; whether there was one.

    JournalNotFollowed where the twin knows that it is as it was stored.
    """
    cut = False
    while True:
        try:
            fold_journal(connection, fold, thaw)
            return cut
        except EventUnusable as error:
            if error.read and twin is not None and vouches(twin, error.since + 1, error.n):
                raise JournalNotFollowed(str(error)) from None
            if not scalar(connection, "SELECT count(*) FROM events WHERE n >= ?", error.n):
                raise
            structlog.get_logger("journal").error("events cannot be used", first=error.n, problem=str(error))
            connection.execute("BEGIN IMMEDIATE")
            _let_go_behind(connection, _behind_what(connection, error.n))
            connection.execute("COMMIT")
            cut = True


def _behind_what(connection: sqlite3.Connection, n: int) -> int:
    """The last event of the transaction before that of the event `n`: half a transaction is none.

    Its events bear one stamp, and facts and snapshots are numbered by the last event of theirs.
    """
    bound = scalar(
        connection,
        "SELECT max(coalesce((SELECT max(n) FROM published WHERE n < ?1), 0),"
        " coalesce((SELECT max(n) FROM snapshots WHERE n < ?1), 0))",
        n,
    )
    stamp = "SELECT epoch, ts, mono_ms FROM events WHERE n = ?"
    of_it = connection.execute(stamp, (n,)).fetchone()
    first = n
    while of_it and first - 1 > bound and connection.execute(stamp, (first - 1,)).fetchone() == of_it:
        first -= 1
    return first - 1


def _let_go_behind(connection: sqlite3.Connection, last: int) -> None:
    """Nothing that came behind the event `last` counts; records of hands stay, and are marked."""
    for table in ("events", "published", "snapshots"):
        connection.execute(f"DELETE FROM {table} WHERE n > ?", (last,))
    connection.execute("UPDATE records SET voided = 1 WHERE n > ?", (last,))


def clear_leftovers(path: Path) -> None:
    """Remove what a salvage that was cut off has left half-built."""
    for name in (_SCRATCH, _READING):
        for suffix in ("", "-wal", "-shm", "-journal"):
            with contextlib.suppress(OSError):
                path.with_name(path.name + name + suffix).unlink()


def salvaged_path(journal: Path) -> Path:
    """Where a journal lies that has been put together again, until the damaged one has made room for it."""
    return journal.with_name(journal.name + ".salvaged")


def put_in_place(scratch: Path, path: Path) -> None:
    """Give a finished file its name, for good."""
    with scratch.open("rb+") as built:
        os.fsync(built.fileno())
    os.replace(scratch, path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _copy_readable(connection: sqlite3.Connection, aside: Path, twin: TwinTold | None) -> int:
    """Copy every row of a damaged file that can be read and is not known yet; the last event that was found in it."""
    last, known = 0, twin.last if twin is not None else 0
    known_number = twin.number if twin is not None else 0
    with _copy_of(aside) as copied:
        try:
            source = sqlite3.connect(copied, isolation_level=None)
        except sqlite3.Error:
            return 0
        try:
            for table, key in _TABLES.items():
                rows = list(_readable(source, table, key, known))
                if table == "events":
                    last = max((row[0] for row in rows), default=0)
                # What is noted is newer where the file is: a twin is not waited for.
                newer = table == "meta" and (last > known or _number(rows) > known_number)
                _insert(connection, table, rows, "REPLACE" if newer else "IGNORE")
        finally:
            with contextlib.suppress(sqlite3.Error):
                source.close()
    return last


def _number(notes: Sequence[tuple[Any, ...]]) -> int:
    """The last transaction without events that notes tell of."""
    said = str(dict(notes).get(TRANSACTION, ""))
    return int(said) if said.isdecimal() else 0


@contextlib.contextmanager
def _copy_of(aside: Path) -> Iterator[Path]:
    """A copy to read from, so that what was put aside stays as it was found."""
    copied = aside.with_name(aside.name + _READING)
    try:
        for suffix in ("", "-wal"):
            part = aside.with_name(aside.name + suffix)
            if part.exists():
                _copy_what_can_be_read(part, copied.with_name(copied.name + suffix))
        yield copied
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            with contextlib.suppress(OSError):
                copied.with_name(copied.name + suffix).unlink()


def _copy_what_can_be_read(source: Path, target: Path) -> None:
    """Block by block; one that the disk does not give is left empty."""
    size = source.stat().st_size
    with source.open("rb", buffering=0) as given, open(target, "wb", opener=private_opener) as out:
        for start in range(0, size, _BLOCK):
            block = bytes(min(_BLOCK, size - start))
            with contextlib.suppress(OSError):
                given.seek(start)
                block = given.read(_BLOCK)
            out.seek(start)
            out.write(block)


def _insert(connection: sqlite3.Connection, table: str, rows: Sequence[Sequence[Any]], otherwise: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for row in rows:
        marks = ", ".join("?" * len(row))
        with contextlib.suppress(sqlite3.Error):
            connection.execute(f"INSERT OR {otherwise} INTO {table} VALUES ({marks})", row)
    connection.execute("COMMIT")


def _readable(source: sqlite3.Connection, table: str, key: str, known: int) -> Iterator[tuple[Any, ...]]:
    """The rows of a table that can be read: by ranges of its key, then one by one where a page is lost."""
    try:
        yield from source.execute(f"SELECT * FROM {table}").fetchall()
        return
    except sqlite3.DatabaseError:
        if not key:
            return
    first, last = _bounds(source, table, key, known)
    misses = 0
    for start in range(first, last + 1, _STRIDE):
        try:
            yield from source.execute(
                f"SELECT * FROM {table} WHERE {key} BETWEEN ? AND ?", (start, start + _STRIDE - 1)
            ).fetchall()
            continue
        except sqlite3.DatabaseError:
            pass
        for number in range(start, min(start + _STRIDE, last + 1)):
            if misses > _MOST_MISSES:
                break
            try:
                yield from source.execute(f"SELECT * FROM {table} WHERE {key} = ?", (number,)).fetchall()
            except sqlite3.DatabaseError:
                misses += 1


def _bounds(source: sqlite3.Connection, table: str, key: str, known: int) -> tuple[int, int]:
    """Between which numbers rows may lie; the ends themselves may lie in a lost page."""
    ends = []
    for which, otherwise in (("min", 1), ("max", 0)):
        try:
            ends.append(source.execute(f"SELECT coalesce({which}({key}), {otherwise}) FROM {table}").fetchone()[0])
        except sqlite3.DatabaseError:
            ends.append(1 if which == "min" else known + _MOST_UNKNOWN)
    return int(ends[0]), int(ends[1])


def _mend(connection: sqlite3.Connection, twin: TwinTold | None, with_snapshots: bool) -> None:
    """Let go of what does not hang together: events behind a gap, and beginnings that lead nowhere."""
    there = {n for (n,) in connection.execute("SELECT n FROM events")}
    snapshots = [n for (n,) in connection.execute("SELECT n FROM snapshots ORDER BY n")] if with_snapshots else []
    last = twin.last if twin is not None else snapshots[-1] if snapshots else 0
    while last + 1 in there:
        last += 1
    if not last and twin is None:
        raise JournalDamaged("no state can be read from it, and its first events are lost")
    start = last + 1
    while start - 1 in there:
        start -= 1
    was = int(meta_of(connection).get(EVENTS_FROM, "1"))
    start = max(start, was) if start <= was else start
    connection.execute("BEGIN IMMEDIATE")
    _let_go_behind(connection, last)
    if start > was:
        # Something of the past is lost: only matches that are there whole are told as matches.
        connection.execute("DELETE FROM events WHERE n < ? AND type != 'SessionSaid'", (start,))
        put_meta(connection, {EVENTS_FROM: str(start)})
        _number_matches(connection, start)
    connection.execute("COMMIT")


def _number_matches(connection: sqlite3.Connection, start: int) -> None:
    """Of how many matches it is no longer known what was said: all but the one begun last."""
    newest = scalar(connection, "SELECT coalesce((SELECT match FROM snapshots ORDER BY n DESC LIMIT 1), 0)")
    begun = matches_begun(connection)
    later = sum(1 for n in begun if n >= start)
    gone = max(0, newest - 1) if not later else max(0, newest - later)
    keep_from = begun[-1 - later] if len(begun) > later and not later else begun[-later] if later else start
    connection.execute("DELETE FROM events WHERE n < ? AND type = 'SessionSaid'", (keep_from,))
    put_meta(connection, {MATCHES_GONE: str(gone)})
