"""What leaves the journal: old hands by age and size, the oldest first; never what is needed, nor the evening in play.

Events that lie before the oldest kept snapshot can go, but what was said in a session stays with the records of its
match: whole matches leave together, with their number noted, so that those that follow keep theirs. The match that was
begun last stays, whatever its age. What the parlor has not acknowledged is the ledger's own affair.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Final

from controller.clock import Stamp
from controller.journal.rows import Keeping, meta_of, put_meta, scalar

SNAPSHOTS_KEPT: Final = 3
"""Should the newest be unreadable, the one before it and the events since are taken."""

PUBLISHED_KEPT = 20_000
"""Published facts that stay replayable, where there is room."""

PUBLISHED_KEPT_AT_LEAST: Final = 2_000
EVENTS_AT_ONCE: Final = 1_000
MATCHES_AT_ONCE: Final = 4
_STEPS_AT_ONCE: Final = 8
_FREED_SHARE: Final = 0.9
_DAY_MS: Final = 86_400_000
PAGES_GIVEN_BACK: Final = 1_024

EVENTS_FROM: Final = "events_from"
"""The note of the first event from which on all are there; those of sessions may lie before it."""

MATCHES_GONE: Final = "matches_gone"
"""The note of how many matches have left."""


def bytes_used(connection: sqlite3.Connection) -> int:
    """What the tables take, without free pages."""
    pages = scalar(connection, "PRAGMA page_count") - scalar(connection, "PRAGMA freelist_count")
    return int(pages) * int(scalar(connection, "PRAGMA page_size"))


def prune_published(connection: sqlite3.Connection, kept: int) -> int:
    """Let go of all but so many published facts; the oldest that is left."""
    newest = scalar(connection, "SELECT coalesce(max(seq), 0) FROM published")
    connection.execute("DELETE FROM published WHERE seq <= ?", (newest - kept,))
    return int(scalar(connection, "SELECT coalesce(min(seq), 0) FROM published"))


def prune(connection: sqlite3.Connection, keeping: Keeping, stamp: Stamp | None) -> bool:
    """Let go of what is too old or too much, a little at a time; whether more is to go. In the caller's transaction.

    Without a stamp (the time of day cannot be trusted, `AgeJudge`) nothing is too old.
    """
    connection.execute(
        "DELETE FROM snapshots WHERE n < (SELECT min(n) FROM (SELECT n FROM snapshots ORDER BY n DESC LIMIT ?))",
        (SNAPSHOTS_KEPT,),
    )
    limit = keeping.megabytes * 1_000_000
    before = None if stamp is None else stamp.ts - keeping.days * _DAY_MS
    too_much = bytes_used(connection) > limit
    target = limit * _FREED_SHARE if too_much else limit
    for _ in range(_STEPS_AT_ONCE):
        more = bytes_used(connection) > target
        if not _events(connection, before, more) and not _match(connection, before, more):
            if more and scalar(connection, "SELECT count(*) FROM published") > PUBLISHED_KEPT_AT_LEAST:
                prune_published(connection, PUBLISHED_KEPT_AT_LEAST)
            return False
    return True


def _events(connection: sqlite3.Connection, before: int | None, too_much: bool) -> bool:
    """The oldest events, if they may go and should."""
    start = int(meta_of(connection).get(EVENTS_FROM, "1"))
    bound = scalar(connection, "SELECT coalesce(min(n), 0) FROM snapshots")
    end = min(start + EVENTS_AT_ONCE - 1, bound)
    if end < start or scalar(connection, "SELECT count(*) FROM snapshots") < SNAPSHOTS_KEPT:
        return False
    if not too_much and not _older(connection, end, before):
        return False
    connection.execute("DELETE FROM events WHERE n BETWEEN ? AND ? AND type != 'SessionSaid'", (start, end))
    put_meta(connection, {EVENTS_FROM: str(end + 1)})
    return True


def _older(connection: sqlite3.Connection, n: int, before: int | None) -> bool:
    """Whether the first moment from an event on of which the time is known is long ago."""
    if before is None:
        return False
    known = connection.execute("SELECT ts FROM events WHERE n >= ? AND clock = 'synced' ORDER BY n LIMIT 1", (n,))
    found = known.fetchone()
    return found is not None and found[0] < before


def _match(connection: sqlite3.Connection, before: int | None, too_much: bool) -> bool:
    """The oldest matches, if another was begun after them and they should go."""
    notes = meta_of(connection)
    start, gone = int(notes.get(EVENTS_FROM, "1")), int(notes.get(MATCHES_GONE, "0"))
    begun = matches_begun(connection, start)
    if len(begun) < 2 or not (too_much or _older(connection, begun[1], before)):
        return False
    many = 1
    while many < min(len(begun) - 1, MATCHES_AT_ONCE) and (too_much or _older(connection, begun[many + 1], before)):
        many += 1
    connection.execute("DELETE FROM events WHERE n < ? AND type = 'SessionSaid'", (begun[many],))
    connection.execute("DELETE FROM records WHERE match <= ?", (gone + many,))
    put_meta(connection, {MATCHES_GONE: str(gone + many)})
    return True


def matches_begun(connection: sqlite3.Connection, before: int | None = None) -> list[int]:
    """The events with which matches were begun, of those that are kept, in order."""
    rows = connection.execute(
        "SELECT n, body FROM events WHERE type = 'SessionSaid' AND n < coalesce(?, n + 1) ORDER BY n", (before,)
    )
    found = []
    for n, body in rows:
        if '"MatchBegun"' in body and json.loads(body)["event"]["type"] == "MatchBegun":
            found.append(n)
    return found
