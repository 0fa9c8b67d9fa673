"""The journal's tables, how an older journal gets them, and how the file is opened."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path
from typing import Final

from controller.journal.rows import JournalDamaged, JournalError, scalar
from controller.ledger import LEDGER_SCHEMA

SNAPSHOTS_SINCE: Final = 4
"""The version of the schema that brought the table of snapshots."""

MIGRATIONS: tuple[str, ...] = (
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
    LEDGER_SCHEMA,
    """
    CREATE TABLE snapshots (
        n INTEGER PRIMARY KEY, version INTEGER NOT NULL, match INTEGER NOT NULL, crc INTEGER NOT NULL,
        body TEXT NOT NULL
    );
    """,
)
"""Each entry takes the schema one version further; an entry that was released never changes."""

CHECKPOINT_PAGES: Final = 128

SYNCHRONOUS = "FULL"
"""A commit waits for the disk; the benchmarks alone set this to OFF, to measure what that costs."""


def private_opener(path: str, flags: int) -> int:
    """For `open`: what is made is its owner's alone (0600); hands lie in it."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def connect(path: Path) -> sqlite3.Connection:
    """The file, to be written, made for its owner alone; every transaction is begun and ended by hand."""
    try:
        # An existing one is not opened here: closing it again would drop the locks that SQLite holds on it.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise JournalError(f"{path}: cannot be opened: {error.strerror or error}") from None
    try:
        return sqlite3.connect(path, check_same_thread=False, timeout=1.0, isolation_level=None)
    except sqlite3.Error as error:
        raise JournalError(f"{path}: cannot be opened: {error}") from None


def connect_to_read(path: Path) -> sqlite3.Connection:
    """The file, to be read beside a process that writes it; nothing of it is changed, its log neither."""
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)


def configure(connection: sqlite3.Connection) -> None:
    """What is set at each opening."""
    if not scalar(connection, "SELECT count(*) FROM sqlite_schema"):
        # Only before the first table; what old hands leave behind is given back to the disk piece by piece.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
    # A short log is soon written over in place: a commit need not make the file longer, which halves its time.
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")


def migrate(connection: sqlite3.Connection, path: Path, upto: int | None = None) -> None:
    """Bring the schema up to date, or to the version `upto`."""
    version = check_version(connection, path)
    for number in range(version, len(MIGRATIONS) if upto is None else upto):
        connection.executescript(f"BEGIN; {MIGRATIONS[number]} PRAGMA user_version = {number + 1}; COMMIT;")
    if 0 < version < SNAPSHOTS_SINCE and upto is None:
        # An older file is written anew once, so that it can shrink; where the disk has no room for that it cannot.
        with contextlib.suppress(sqlite3.Error):
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("VACUUM")


def check_version(connection: sqlite3.Connection, path: Path) -> int:
    """The schema's version; JournalError when a newer Kaijin wrote it."""
    version: int = scalar(connection, "PRAGMA user_version")
    if version > len(MIGRATIONS):
        raise JournalError(
            f"{path}: written by a newer Kaijin (journal version {version}, "
            f"this one knows {len(MIGRATIONS)}); update Kaijin"
        )
    return version


def check_whole(connection: sqlite3.Connection, path: Path) -> int:
    """The schema's version of a file that SQLite finds sound; JournalDamaged, or JournalError for a newer one's."""
    try:
        problem = scalar(connection, "PRAGMA quick_check(1)")
        if problem != "ok":
            raise JournalDamaged(f"{path}: {problem}")
        return check_version(connection, path)
    except sqlite3.OperationalError as error:
        raise unusable(path, error) from None
    except sqlite3.DatabaseError as error:
        raise JournalDamaged(f"{path}: {error}") from None


def unusable(path: Path, error: sqlite3.Error) -> JournalError:
    """What an error of SQLite's says of a file: damage, or a place that cannot be used."""
    name = getattr(error, "sqlite_errorname", "") or ""
    # A page that the disk cannot read any more is lost like one that it reads wrongly.
    damage = name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_READ"))
    if damage or "malformed" in str(error) or not isinstance(error, sqlite3.OperationalError) or name == "SQLITE_ERROR":
        return JournalDamaged(f"{path}: {error}")
    return JournalError(f"{path}: cannot be used: {error}")

