"""Transactions of the journal: written to the twin, committed to the disk, or nothing of them has happened."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from controller.journal.rows import (
    TRANSACTION,
    JournalDamaged,
    JournalError,
    JournalUnwritable,
    is_damage,
    last_event,
    meta_of,
    put_meta,
    why_unwritable,
)
from controller.journal.schema import configure, connect, private_opener
from controller.journal.twin import Line, Twin, crc_of_events

_Result = TypeVar("_Result")

_QUIET: Final = ("SELECT", "PRAGMA", "BEGIN", "COMMIT", "ROLLBACK", "WITH", "--", "EXPLAIN")

BALLAST_BYTES: Final = 1_000_000
"""Room that is kept, so that what is being booked when the disk runs full still fits."""


def reached(point: str) -> None:
    """A transaction has come to `twin` (nothing of it is written), `before` or `after` its commit: tests die there."""


def ballast_path(journal: Path) -> Path:
    """Where the room lies that a journal keeps."""
    return journal.with_name(journal.name + ".ballast")


class Writer:
    """The connection to the database and the twin beside it; used by the journal's own thread alone."""

    def __init__(self, path: Path, connection: sqlite3.Connection, twin: Twin) -> None:
        self.path = path
        self.connection = connection
        self.twin = twin
        self.last_event = last_event(connection)
        self._number = int(meta_of(connection).get(TRANSACTION, "0"))
        self._ballast = ballast_path(path)

    def transact(
        self, work: Callable[[sqlite3.Connection], _Result], events: int = 0, *, needed: bool = False
    ) -> _Result:
        """Do something in one transaction that brings so many events, on the disk when this returns.

        For what is `needed` the room that was kept is given up when the disk is full. JournalUnwritable when the disk
        does not take it, JournalDamaged when the file is not what was written: then nothing of it is stored.
        """
        try:
            return self._transact(work, events)
        except JournalUnwritable as error:
            if not needed or error.reason != "disk_full" or not self.free_ballast():
                raise
        return self._transact(work, events)

    def read(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Look at what is stored; errors as those of `transact`."""
        try:
            return work(self.connection)
        except sqlite3.Error as error:
            raise self._failed(error, "cannot be read") from None

    def keep_ballast(self) -> None:
        """Keep room for what must still fit when the disk is full; JournalUnwritable when there is none."""
        try:
            if self._ballast.exists() and self._ballast.stat().st_size == BALLAST_BYTES:
                return
            with open(self._ballast, "wb", opener=private_opener) as out:
                os.posix_fallocate(out.fileno(), 0, BALLAST_BYTES)
        except OSError as error:
            self.free_ballast()
            raise JournalUnwritable(why_unwritable(error), f"{self._ballast}: {error.strerror or error}") from None

    @property
    def has_ballast(self) -> bool:
        """Whether there is room left for what must fit."""
        return self._ballast.exists()

    def free_ballast(self) -> bool:
        """Give the room up; whether there was any."""
        try:
            self._ballast.unlink()
        except OSError:
            return False
        return True

    def reopen(self) -> None:
        """A new connection, after one that has met an error of the disk, or was opened while nothing could be written.

        JournalUnwritable where the file cannot be opened, or is not there now: another is never begun in its place.
        """
        try:
            size = self.path.stat().st_size
        except OSError as error:
            raise JournalUnwritable(why_unwritable(error), f"{self.path}: {error.strerror or error}") from None
        if not size:
            raise JournalDamaged(f"{self.path}: it is empty")
        with contextlib.suppress(sqlite3.Error):
            self.connection.close()
        try:
            self.connection = connect(self.path)
            configure(self.connection)
        except sqlite3.Error as error:
            raise self._failed(error, "cannot be opened") from None

    def _transact(self, work: Callable[[sqlite3.Connection], _Result], events: int) -> _Result:
        first, last = self.last_event + 1, self.last_event + events
        statements: list[str] = []
        connection = self.connection
        begun = False
        try:
            connection.execute("BEGIN IMMEDIATE")
            begun = True
            connection.set_trace_callback(statements.append)
            try:
                result = work(connection)
            finally:
                connection.set_trace_callback(None)
            changes = tuple(one for one in statements if not one.lstrip().upper().startswith(_QUIET))
            if not changes:
                connection.execute("ROLLBACK")
                return result
            number = self._number
            if not events:
                # Events have their numbers; what comes without any must be known from what came after it, too.
                number += 1
                put_meta(connection, {TRANSACTION: str(number)})
            reached("twin")
            self.twin.add(Line(first, last, self._crc(first, last), changes, number))
            reached("before")
            connection.execute("COMMIT")
        except sqlite3.IntegrityError as error:
            self._undo(begun)
            raise JournalError(f"{self.path}: what is stored does not fit what lies there: {error}") from None
        except sqlite3.Error as error:
            self._undo(begun)
            raise self._failed(error, "cannot be written") from None
        except BaseException:
            self._undo(begun)
            raise
        self.twin.settle()
        self.last_event, self._number = last, number
        reached("after")
        return result

    def _failed(self, error: sqlite3.Error, what: str) -> JournalError:
        if is_damage(error):
            return JournalDamaged(f"{self.path}: {what}: {error}")
        return JournalUnwritable(why_unwritable(error), f"{self.path}: {what}: {error}")

    def _crc(self, first: int, last: int) -> int:
        if first > last:
            return 0
        return crc_of_events(
            self.connection.execute(
                "SELECT n, type, body FROM events WHERE n BETWEEN ? AND ? ORDER BY n", (first, last)
            )
        )

    def _undo(self, begun: bool) -> None:
        self.twin.take_back()
        if begun:
            with contextlib.suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")
