"""The ledger in the journal: rows for the parlor's hub, stored with what they tell of, kept until it has them.

A row is its envelope, as it was born and as it will be said every time. Its number has no gaps within the journal that
gave it: a journal that goes on under a new id (a copy, an older state) counts anew from 1.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from controller.clock import Stamp

LEDGER_SINCE: Final = 3
"""The version of the journal's schema that brought the ledger."""

LEDGER_SCHEMA: Final = """
    CREATE TABLE ledger (
        id INTEGER PRIMARY KEY, journal TEXT NOT NULL, number INTEGER NOT NULL, n INTEGER NOT NULL,
        epoch INTEGER NOT NULL, ts INTEGER NOT NULL, mono_ms INTEGER NOT NULL, clock TEXT NOT NULL,
        acked INTEGER NOT NULL, envelope TEXT NOT NULL, UNIQUE (journal, number)
    );
    CREATE INDEX ledger_waiting ON ledger (id) WHERE acked = 0;
    CREATE INDEX ledger_unsynced ON ledger (epoch) WHERE clock = 'unsynced';
    """
"""Entry of the journal's migrations. `ts` and `clock` are mended when the clock is set, the envelope never changes."""

BOOK: Final = "ledger"
"""The name under which the journal notes how its ledger stands, in the transaction of each entry."""

SAID: Final = "ledger_said"
HUB: Final = "ledger_hub"


@dataclass(frozen=True, slots=True)
class Ref:
    """One row."""

    journal: str
    number: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment in the journal from which durations are counted on: its last event, in which epoch, on which clock."""

    n: int = 0
    epoch: int = 0
    mono_ms: int = 0


@dataclass(frozen=True, slots=True)
class Running:
    """How long something has lasted at the mark, while the table was on, and how often the daemon was started since."""

    ms: int = 0
    restarts: int = 0


@dataclass(frozen=True, slots=True)
class LedgerState:
    """How the ledger stands after its last entry.

    `opened`: how the session was begun (`parlor`, `match`), empty while the table is free. `match`: the match whose
    begin has a row. `booked`, `ended`, `closed`: the rows that a booking taken back may void, as long as they stand.
    """

    journal: str = ""
    last: int = 0
    session: int = 0
    opened: str = ""
    match: int = 0
    matches: int = 0
    booked: Ref | None = None
    ended: Ref | None = None
    closed: Ref | None = None
    mark: Mark = field(default_factory=Mark)
    of_hand: Running = field(default_factory=Running)
    of_match: Running = field(default_factory=Running)
    of_session: Running = field(default_factory=Running)

    def encode(self) -> str:
        """As the journal notes it."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @staticmethod
    def decode(text: str) -> LedgerState:
        """What `encode` made; the beginning where nothing was noted. ValueError for anything else."""
        if not text:
            return LedgerState()
        try:
            return _STATE.validate_json(text, strict=True)
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False)[0]
            raise ValueError(f"{'.'.join(map(str, found['loc'])) or 'all of it'}: {found['msg']}") from None


_STATE: Final = TypeAdapter(LedgerState)


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row to be stored: its number, and its envelope as JSON."""

    journal: str
    number: int
    envelope: str


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What one transaction brings to the ledger: rows, and how it stands afterwards."""

    rows: tuple[NewRow, ...]
    state: LedgerState
    zeros: tuple[tuple[int, int], ...] = ()
    """Epochs whose clock is known now, each with UTC (ms) at 0 ms of it."""


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A row as it lies in the journal. `clock`: `synced`, `unsynced`, or `mended` where `ts` was put right later."""

    id: int
    journal: str
    number: int
    epoch: int
    ts: int
    mono_ms: int
    clock: str
    acked: int
    envelope: str


@dataclass(frozen=True, slots=True)
class Standing:
    """How much waits for the hub, and the oldest of it."""

    waiting: int
    oldest: StoredRow | None


_COLUMNS: Final = "id, journal, number, epoch, ts, mono_ms, clock, acked, envelope"


def put_entry(connection: sqlite3.Connection, entry: LedgerEntry, last_n: int, stamp: Stamp, epoch: int) -> None:
    """Store an entry within the caller's transaction."""
    connection.executemany(
        "INSERT INTO ledger (journal, number, n, epoch, ts, mono_ms, clock, acked, envelope)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)",
        [
            (row.journal, row.number, last_n, epoch, stamp.ts, stamp.mono_ms, stamp.clock, row.envelope)
            for row in entry.rows
        ],
    )
    for zero in entry.zeros:
        mend(connection, *zero)
    noted = replace(entry.state, mark=Mark(last_n, epoch, stamp.mono_ms)).encode()
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (BOOK, noted))


def waiting_rows(connection: sqlite3.Connection, most: int) -> list[StoredRow]:
    """The oldest rows that the hub has not acknowledged, in order."""
    return list(_rows(connection, "WHERE acked = 0 ORDER BY id LIMIT ?", most))


def standing(connection: sqlite3.Connection) -> Standing:
    """How much waits."""
    oldest = waiting_rows(connection, 1)
    count = connection.execute("SELECT count(*) FROM ledger WHERE acked = 0").fetchone()[0]
    return Standing(count, oldest[0] if oldest else None)


def acknowledge(connection: sqlite3.Connection, up_to: Ref) -> None:
    """The hub has everything of this journal up to this number; within the caller's transaction."""
    connection.execute(
        "UPDATE ledger SET acked = 1 WHERE acked = 0 AND journal = ? AND number <= ?", (up_to.journal, up_to.number)
    )
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, '1')", (HUB,))


def acknowledged(connection: sqlite3.Connection, journal: str) -> int:
    """The number up to which the hub has acknowledged this journal's rows, as far as they are still kept."""
    found = connection.execute("SELECT max(number) FROM ledger WHERE journal = ? AND acked = 1", (journal,)).fetchone()
    return found[0] or 0


def last_number(connection: sqlite3.Connection, journal: str) -> int:
    """The last number that a journal has given; 0 before the first."""
    found = connection.execute("SELECT max(number) FROM ledger WHERE journal = ?", (journal,)).fetchone()
    return found[0] or 0


def rebuilt(connection: sqlite3.Connection, journal: str) -> LedgerState:
    """How the ledger stands as its rows tell it, where the note of that is spoilt; what lasted is counted anew."""
    state = LedgerState()
    for row in _rows(connection, "ORDER BY id"):
        with contextlib.suppress(ValueError, LookupError, TypeError):
            state = _after(state, Ref(row.journal, row.number), json.loads(row.envelope)["data"]["record"])
    newest = connection.execute("SELECT n, epoch, mono_ms FROM ledger ORDER BY id DESC LIMIT 1").fetchone()
    mark = Mark(*newest) if newest is not None else Mark()
    return replace(state, journal=journal, last=last_number(connection, journal), mark=mark)


def _after(state: LedgerState, ref: Ref, record: dict[str, Any]) -> LedgerState:
    """How the ledger stands behind one row more."""
    match record["kind"]:
        case "session_begun":
            return replace(state, session=record["session"], opened=record["by"], matches=0, closed=None)
        case "match_begun":
            known = replace(state, session=record["session"], match=record["match"], matches=state.matches + 1)
            return replace(known, booked=None, ended=None, closed=None)
        case "hand":
            return replace(state, session=record["session"], booked=ref, ended=None, closed=None)
        case "match_ended":
            return replace(state, ended=ref)
        case "session_ended":
            return replace(state, session=record["session"], opened="", closed=ref)
        case "void":
            opened = "match" if record["what"] == "session_ended" else state.opened
            return replace(state, opened=opened, booked=None, ended=None, closed=None)
    return state


def mend(connection: sqlite3.Connection, epoch: int, zero_ts: int) -> None:
    """The clock of an epoch is known at last: its rows get their true time beside the one that they were born with."""
    connection.execute(
        "UPDATE ledger SET ts = ? + mono_ms, clock = 'mended' WHERE epoch = ? AND clock = 'unsynced'", (zero_ts, epoch)
    )


@dataclass(frozen=True, slots=True)
class Unsynced:
    """Rows of one epoch that were born before the clock was set: the first and the last number that a journal gave."""

    epoch: int
    journal: str
    first: int
    last: int


def unsynced(connection: sqlite3.Connection) -> list[Unsynced]:
    """The rows whose true time is not known, by epoch."""
    rows = connection.execute(
        "SELECT epoch, journal, min(number), max(number) FROM ledger WHERE clock = 'unsynced'"
        " GROUP BY epoch, journal ORDER BY min(id)"
    )
    return [Unsynced(*row) for row in rows]


def prune(connection: sqlite3.Connection, older_than_ts: int, hub: bool) -> None:
    """Let go of rows that are older and acknowledged, or older where no hub has ever acknowledged anything.

    A row whose time is not known stays, and so does the newest.
    """
    connection.execute(
        "DELETE FROM ledger WHERE ts < ? AND clock != 'unsynced' AND (acked = 1 OR ?)"
        " AND id < (SELECT max(id) FROM ledger)",
        (older_than_ts, not hub),
    )


def time_on(connection: sqlite3.Connection, mark: Mark) -> int:
    """For how many ms the table was on between a mark and its last event; what followed that is not known."""
    rows = connection.execute("SELECT epoch, max(mono_ms) FROM events WHERE n > ? GROUP BY epoch", (mark.n,))
    return sum(max(0, last - mark.mono_ms) if epoch == mark.epoch else last for epoch, last in rows.fetchall())


def select_ledger(connection: sqlite3.Connection, first: int = 0, only_waiting: bool = False) -> Iterator[StoredRow]:
    """Rows from `id` on, oldest first."""
    yield from _rows(connection, "WHERE id >= ? AND (acked = 0 OR NOT ?) ORDER BY id", first, only_waiting)


def plain_row(row: StoredRow) -> dict[str, Any]:
    """A row for people and programs: whether the hub has it, its time as far as it is known, and what was said."""
    return {
        "journal": row.journal,
        "number": row.number,
        "acknowledged": bool(row.acked),
        "ts": row.ts,
        "clock": row.clock,
        "envelope": json.loads(row.envelope),
    }


def _rows(connection: sqlite3.Connection, where: str, *arguments: Any) -> Iterator[StoredRow]:
    for row in connection.execute(f"SELECT {_COLUMNS} FROM ledger {where}", arguments):
        yield StoredRow(*row)


def read_ledger(path: Path, check: Any, only_waiting: bool = False) -> Sequence[StoredRow]:
    """The rows of a journal that another process may be writing; changes nothing.

    `check(connection, path)` gives the version of its schema. Raises sqlite3.DatabaseError for what is no journal.
    """
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        if check(connection, path) < LEDGER_SINCE:
            return ()
        return tuple(select_ledger(connection, 0, only_waiting))
    finally:
        connection.close()
