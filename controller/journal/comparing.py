"""A journal held against its twin: what is not as it was stored, what it lacks, and which events are vouched for."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from controller.journal.pruning import EVENTS_FROM
from controller.journal.rows import TRANSACTION, JournalDamaged, meta_of, scalar
from controller.journal.schema import migrate
from controller.journal.twin import Line, TwinTold, crc_of_events

_AN_EVENT = "INSERT OR REPLACE INTO events "


def compare(connection: sqlite3.Connection, twin: TwinTold | None) -> tuple[Line, ...]:
    """What a sound file lacks of its twin: one transaction with events at most was on its way; more is damage."""
    notes = meta_of(connection)
    if twin is None or twin.journal != notes.get("journal_id"):
        return ()
    last = scalar(connection, "SELECT coalesce(max(n), 0) FROM events")
    begun = int(notes.get(EVENTS_FROM, "1"))
    for line in twin.lines:
        if begun <= line.first <= line.last <= last and line.crc != _crc(connection, line):
            raise JournalDamaged(f"events {line.first} to {line.last} are not as they were stored")
    for n, told in base_events(twin).items():
        row = connection.execute("SELECT type, body FROM events WHERE n = ?", (n,)).fetchone()
        if row is not None and n >= begun and row != told:
            raise JournalDamaged(f"event {n} is not as it was stored")
    lacking = twin.after(last)
    if lacking is None:
        if twin.last > last:
            raise JournalDamaged(f"it ends with event {last}, but event {twin.last} was stored")
        return ()
    if sum(line.first <= line.last for line in lacking) > 1:
        raise JournalDamaged(f"it ends with event {last}, but event {twin.last} was stored")
    # A note may have been made anew since: a twin whose end was lost must not turn it back.
    there = int(notes.get(TRANSACTION, "0"))
    return tuple(line for line in lacking if line.first <= line.last or not line.number or line.number > there)


def base_events(twin: TwinTold) -> dict[int, tuple[str, str]]:
    """Type and body of the events that a twin begins with, by number."""
    told = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate(told, Path(":memory:"), twin.schema)
        for statement in twin.base.statements:
            if statement.startswith(_AN_EVENT):
                told.execute(statement)
        return {n: (kind, body) for n, kind, body in told.execute("SELECT n, type, body FROM events")}
    finally:
        told.close()


def vouches(twin: TwinTold, first: int, last: int) -> bool:
    """Whether a twin knows every event from `first` to `last`, as it was stored."""
    known = set(base_events(twin))
    for line in twin.lines:
        known.update(range(line.first, line.last + 1))
    return all(n in known for n in range(first, last + 1))


def _crc(connection: sqlite3.Connection, line: Line) -> int:
    return crc_of_events(
        connection.execute(
            "SELECT n, type, body FROM events WHERE n BETWEEN ? AND ? ORDER BY n", (line.first, line.last)
        )
    )
