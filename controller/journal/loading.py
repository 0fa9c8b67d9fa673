"""What a journal comes to: the newest state that can be trusted, and every event since."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar, cast

import structlog

from controller.clock import ClockState, Stamp
from controller.journal.pruning import EVENTS_FROM
from controller.journal.rows import EventUnusable, JournalDamaged, JournalNotFollowed, StoredEvent, meta_of
from controller.journal.snapshots import SnapshotForeign, stored_snapshots, thawed

Folded = TypeVar("Folded")
_Out = TypeVar("_Out", covariant=True)


class Fold(Protocol[_Out]):
    """What events lead to, from the beginning or from what a snapshot held."""

    def __call__(self, events: Iterator[StoredEvent], /, *since: Any) -> _Out: ...


Thaw = Callable[[Mapping[str, Any]], Any]
"""What a snapshot's data holds; ValueError when it cannot be understood."""


def load_events(connection: sqlite3.Connection, first: int = 0) -> Iterator[StoredEvent]:
    """Every event from `first` on, oldest first; JournalDamaged when one cannot be read or is missing.

    From 0 on also what was said in sessions of which the other events have left.
    """
    begun = int(meta_of(connection).get(EVENTS_FROM, "1"))
    expected = max(first, begun)
    query = "SELECT n, hand, epoch, ts, mono_ms, clock, type, body FROM events WHERE n >= ? ORDER BY n"
    for n, hand, epoch, ts, mono_ms, clock, kind, body in connection.execute(query, (first,)):
        if n >= begun:
            if n != expected:
                raise EventUnusable(expected, f"event {expected} is missing, {n} follows")
            expected += 1
        whole = type(hand) is type(epoch) is type(ts) is type(mono_ms) is int
        if not whole or clock not in ("synced", "unsynced") or not isinstance(kind, str):
            raise EventUnusable(n, f"event {n} has columns of other kinds")
        try:
            fields = json.loads(body)
        except (ValueError, TypeError, RecursionError):
            raise EventUnusable(n, f"event {n} is no JSON") from None
        if not isinstance(fields, dict):
            raise EventUnusable(n, f"event {n} is no object")
        yield StoredEvent(n, hand, epoch, Stamp(ts, mono_ms, cast(ClockState, clock)), kind, fields)


def fold_journal(connection: sqlite3.Connection, fold: Fold[Folded], thaw: Thaw | None) -> tuple[Folded, int]:
    """The newest state that can be trusted with what followed, and behind which event its snapshot lies (0: none).

    A snapshot that cannot be read or understood is told and passed over. EventUnusable for the first event that cannot
    be used; JournalDamaged where no snapshot is left and the events do not go back to the first, JournalNotFollowed
    where there is one that is whole and not understood.
    """
    foreign = ""
    log = structlog.get_logger("journal")
    for stored in stored_snapshots(connection) if thaw is not None else ():
        assert thaw is not None
        try:
            since = thawed(stored, thaw)
        except JournalDamaged as error:
            foreign = foreign or (str(error) if isinstance(error, SnapshotForeign) else "")
            log.error("a snapshot cannot be trusted; an older one or the events are taken", problem=str(error))
            continue
        return _fold(load_events(connection, stored.n + 1), fold, stored.n, since), stored.n
    begun = int(meta_of(connection).get(EVENTS_FROM, "1"))
    if thaw is not None and begun > 1 and foreign:
        raise JournalNotFollowed(foreign)
    if thaw is not None and begun > 1:
        raise JournalDamaged(f"no snapshot can be read, and the events before {begun} have left the journal")
    return _fold(load_events(connection), fold, 0), 0


def _fold(events: Iterator[StoredEvent], fold: Fold[Folded], behind: int, *since: Any) -> Folded:
    """Fold events, and say of which one it is that it does not follow."""
    at = behind + 1

    def one_by_one() -> Iterator[StoredEvent]:
        nonlocal at
        for event in events:
            at = event.n
            yield event

    try:
        return fold(one_by_one(), *since)
    except EventUnusable:
        raise
    except JournalDamaged as error:
        raise EventUnusable(at, str(error), behind, read=True) from None
