"""What goes into a journal and comes out of it, and what can be wrong with one."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from controller.clock import Stamp


class JournalError(Exception):
    """The journal cannot be used; the message says why and what to do."""


class JournalTaken(JournalError):
    """Another daemon has the journal open."""


class JournalDamaged(JournalError):
    """What is in the file cannot be trusted."""


class EventUnusable(JournalDamaged):
    """The event `n` is lost, cannot be read, or does not follow on those since the snapshot behind the event `since`.

    `read`: it can be read, and merely does not follow.
    """

    def __init__(self, n: int, message: str, since: int = 0, read: bool = False) -> None:
        super().__init__(message)
        self.n = n
        self.since = since
        self.read = read


class JournalNotFollowed(JournalError):
    """What was stored is there, but this Kaijin cannot follow it: nothing is changed, another version may."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"{problem}; this is what was stored, but this version of Kaijin cannot follow it. Nothing was changed: "
            "start the version that wrote it (or a newer one), or move the journal away to begin a new one"
        )


class JournalUnwritable(JournalError):
    """The disk does not take what is to be stored; nothing of it is stored. `reason` is one of `DISK_REASONS`."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


DISK_REASONS: Final = ("disk_full", "disk_read_only", "disk_error")
"""Why nothing can be stored, as availability and displays tell it."""


def why_unwritable(error: sqlite3.Error | OSError) -> str:
    """Which of `DISK_REASONS` an error means."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_FULL") or getattr(error, "errno", 0) == 28 or "full" in str(error):
        return "disk_full"
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")) or getattr(error, "errno", 0) == 30:
        return "disk_read_only"
    return "disk_error"


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error says that the file is not what was written to it: another try will come to the same."""
    name = getattr(error, "sqlite_errorname", "") or ""
    # What is asked for is always there in a journal, unless its first page is lost.
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or (name == "SQLITE_ERROR" and "no such" in str(error))


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


Salvaged = Literal["", "whole", "part", "none"]


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
    salvaged: Salvaged = ""
    """Of a damaged or lost file: `whole` where it is proved that nothing is missing, `part` where the last moments may
    be, `none` where nothing could be read; empty of a sound one."""
    told_by_twin: int = 0
    """Events that the twin held beyond those of the file."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """What of the past stays: whole days and megabytes at most; see `controller.journal.pruning`.

    `go_on`: what the disk does not take is kept in memory, so that play can go on.
    """

    days: int = 30
    megabytes: int = 32
    go_on: bool = False


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """A state as it lies in the journal, behind the event `n`."""

    n: int
    version: int
    crc: int
    body: str


def plain_json(value: object) -> str:
    """JSON as short as it can be written."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


TRANSACTION: Final = "transaction"
"""The note of the number of the last transaction that brought no event: 1, 2, 3 …"""

_NUMBERS: Final[Mapping[str, re.Pattern[str]]] = {
    "journal_id": re.compile("[0-9a-f]{1,16}"),
    **dict.fromkeys(("epoch", "events_from", "matches_gone", TRANSACTION), re.compile("[0-9]{1,18}")),
}
"""Notes that are numbers: one that is none has been spoilt, and counts as not noted."""


def meta_of(connection: sqlite3.Connection) -> dict[str, str]:
    """Everything that is noted by name and can be understood."""
    return {
        key: value
        for key, value in connection.execute("SELECT key, value FROM meta")
        if isinstance(value, str) and (key not in _NUMBERS or _NUMBERS[key].fullmatch(value))
    }


def put_meta(connection: sqlite3.Connection, values: Mapping[str, str]) -> None:
    """Note values by name."""
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))


def scalar(connection: sqlite3.Connection, query: str, *arguments: Any) -> Any:
    """The one value of a query."""
    return connection.execute(query, arguments).fetchone()[0]


def last_event(connection: sqlite3.Connection) -> int:
    """The number of the last event, or of that behind which a snapshot lies where the event itself is lost."""
    query = "SELECT max(coalesce((SELECT max(n) FROM events), 0), coalesce((SELECT max(n) FROM snapshots), 0))"
    return int(scalar(connection, query))
