"""Snapshots in the journal: the state behind an event, compressed, under a checksum and a version."""

from __future__ import annotations

import base64
import json
import sqlite3
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from controller.journal.rows import JournalDamaged, StoredSnapshot, plain_json


def put_snapshot(connection: sqlite3.Connection, n: int, match: int, body: Mapping[str, Any]) -> None:
    """Store a state behind the event `n`; `match` is the one that was begun last."""
    packed = base64.b85encode(zlib.compress(plain_json(body).encode("utf-8", "surrogatepass"), 1)).decode("ascii")
    connection.execute(
        "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)",
        (n, body["version"], match, zlib.crc32(packed.encode("ascii")), packed),
    )


def stored_snapshots(connection: sqlite3.Connection) -> list[StoredSnapshot]:
    """What is stored, the newest first; those that cannot be read are left out."""
    found = []
    for (n,) in connection.execute("SELECT n FROM snapshots ORDER BY n DESC").fetchall():
        try:
            row = connection.execute("SELECT n, version, crc, body FROM snapshots WHERE n = ?", (n,)).fetchone()
        except sqlite3.DatabaseError:
            continue
        if row is not None:
            found.append(StoredSnapshot(*row))
    return found


class SnapshotForeign(JournalDamaged):
    """It is as it was stored, and not understood."""


def thawed(stored: StoredSnapshot, thaw: Callable[[Mapping[str, Any]], Any]) -> Any:
    """The state of a snapshot; JournalDamaged when it is not what was stored, or cannot be understood."""
    try:
        packed = stored.body.encode("ascii")
        if zlib.crc32(packed) != stored.crc:
            raise JournalDamaged(f"the snapshot behind event {stored.n} is damaged")
        body = json.loads(zlib.decompress(base64.b85decode(packed)))
    except (ValueError, LookupError, TypeError, zlib.error) as error:
        raise JournalDamaged(f"the snapshot behind event {stored.n} cannot be read: {error}") from None
    try:
        return thaw(body)
    except (ValueError, LookupError, TypeError, zlib.error) as error:
        raise SnapshotForeign(f"the snapshot behind event {stored.n} cannot be understood: {error}") from None
