"""A journal read beside the daemon that writes it; nothing of it is changed."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from controller import ledger as books
from controller.journal.loading import Fold, Thaw, fold_journal, load_events
from controller.journal.pruning import EVENTS_FROM, MATCHES_GONE
from controller.journal.rows import JournalError, StoredEvent, meta_of, scalar
from controller.journal.schema import SNAPSHOTS_SINCE, check_version, connect_to_read
from controller.records import RECORDS_SINCE, StoredRecord, select_records

_Folded = TypeVar("_Folded")


@dataclass(frozen=True, slots=True)
class StoredSession:
    """What happened in the session, as bodies of events with their type, and the records of its hands, of one moment.

    Of the first `gone` matches nothing is kept; neither are their hands among the records.
    """

    said: list[dict[str, Any]]
    hands: list[StoredRecord]
    gone: int


def read_events(path: Path) -> Iterator[StoredEvent]:
    """The events of a journal that another process may be writing; changes nothing. JournalError when it is none.

    Of hands that have left only what was said in the session is told.
    """
    with _reading(path) as connection:
        check_version(connection, path)
        yield from load_events(connection)


def read_records(path: Path, match: int | None = None, hand: int | None = None) -> list[StoredRecord]:
    """The records in a journal that another process may be writing, oldest first; changes nothing.

    JournalError when it is no journal; none in one that was last written before there were records.
    """
    with _reading(path) as connection:
        if check_version(connection, path) < RECORDS_SINCE:
            return []
        return list(select_records(connection, match, hand))


def read_ledger(path: Path, only_waiting: bool = False) -> Sequence[books.StoredRow]:
    """The ledger of a journal that another process may be writing, oldest first; changes nothing.

    JournalError when it is no journal; none in one that was last written before there was a ledger.
    """
    if not path.is_file():
        raise JournalError(f"{path}: no journal there")
    try:
        return books.read_ledger(path, check_version, only_waiting)
    except sqlite3.DatabaseError as error:
        raise JournalError(f"{path}: no journal of a table, or a damaged one ({error})") from None


def read_session(path: Path) -> StoredSession:
    """The evening as the journal keeps it, beside a daemon that writes. JournalError when it is no journal."""
    with _reading(path) as connection:
        connection.execute("BEGIN")
        if check_version(connection, path) < RECORDS_SINCE:
            return StoredSession([], [], 0)
        rows = connection.execute("SELECT type, body FROM events WHERE type = 'SessionSaid' ORDER BY n")
        said = [{"type": kind, **json.loads(body)} for kind, body in rows]
        gone = int(meta_of(connection).get(MATCHES_GONE, "0"))
        hands = [one for one in select_records(connection, None, None) if one.match > gone]
        return StoredSession(said, hands, gone)


def read_meta(path: Path) -> dict[str, str]:
    """What a journal notes of itself (id, epoch, schema version); changes nothing. JournalError when it is none."""
    with _reading(path) as connection:
        problem = scalar(connection, "PRAGMA quick_check(1)")
        if problem != "ok":
            raise JournalError(f"{path}: damaged: {problem}")
        return {**meta_of(connection), "schema": str(check_version(connection, path))}


def read_state(path: Path, fold: Fold[_Folded], thaw: Thaw) -> tuple[_Folded, int]:
    """The state a journal comes to, and how many events it holds; changes nothing. JournalError when it is none."""
    with _reading(path) as connection:
        connection.execute("BEGIN")
        version = check_version(connection, path)
        count = scalar(connection, "SELECT count(*) FROM events")
        if version < SNAPSHOTS_SINCE:
            return fold(load_events(connection)), count
        return fold_journal(connection, fold, thaw)[0], count


def first_event_kept(path: Path) -> int:
    """The event from which on all are there: 1 while nothing has left. JournalError when it is no journal."""
    with _reading(path) as connection:
        return int(meta_of(connection).get(EVENTS_FROM, "1"))


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    if not path.is_file():
        raise JournalError(f"{path}: no journal there")
    connection = connect_to_read(path)
    try:
        yield connection
    except (sqlite3.DatabaseError, ValueError) as error:
        raise JournalError(f"{path}: no journal of a table, or a damaged one ({error})") from None
    finally:
        connection.close()
