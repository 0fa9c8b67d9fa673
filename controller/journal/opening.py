"""A journal opened or begun: looked at without touching it first, put aside whole when it is damaged, and salvaged."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import shutil
import sqlite3
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final, Generic

import structlog

from controller.epoch import EpochFile, read_epoch_file
from controller.journal import schema
from controller.journal.comparing import compare, vouches
from controller.journal.loading import Fold, Folded, Thaw, fold_journal
from controller.journal.pruning import EVENTS_FROM
from controller.journal.rows import (
    EventUnusable,
    JournalDamaged,
    JournalError,
    JournalNotFollowed,
    JournalTaken,
    JournalUnwritable,
    Keeping,
    Opening,
    last_event,
    meta_of,
    put_meta,
    scalar,
)
from controller.journal.salvage import apply_lines, clear_leftovers, put_in_place, salvage, salvaged_path
from controller.journal.schema import check_whole, configure, connect, connect_to_read, migrate
from controller.journal.store import Journal, base_line
from controller.journal.twin import Line, Twin, TwinTold, read_twin
from controller.journal.writing import BALLAST_BYTES, Writer, ballast_path


def open_journal(
    path: Path, fold: Fold[Folded], thaw: Thaw | None = None, keeping: Keeping | None = None
) -> tuple[Journal, Folded]:
    """Open or begin the journal and fold it; blocks, for the start only.

    With `thaw` the fold goes on from the newest snapshot that can be trusted. A file that SQLite finds damaged, that
    lacks what its twin knows, or whose events do not fold, is set aside untouched under a dated name
    (`opening.damaged`), and the journal goes on from all that file and twin still hold, up to the first event that
    cannot be used. JournalError when the folder cannot be written, another process holds the file, or it was written by
    a newer version; JournalNotFollowed, and nothing is touched, where events that are as they were stored do not fold.
    """
    lock = _lock(path)
    try:
        _make_room(path)
        _make_private(path)
        clear_leftovers(path)
        if not path.exists() and salvaged_path(path).exists():
            # The power went between the damaged file's making room and this one's taking it.
            put_in_place(salvaged_path(path), path)
        missing = not path.exists() or path.stat().st_size == 0
        beside, twin = read_epoch_file(path), read_twin(path)
        opening = Opening(missing, missing and (beside is not None or twin is not None), False, None, "")
        looked: _Looked[Folded] = _Looked((), None)
        try:
            if missing and twin is not None:
                raise JournalDamaged(f"{path}: it is gone, but its twin is there")
            if not missing:
                looked = _look(path, fold, thaw, twin)
        except JournalDamaged as error:
            return _salvaged(path, lock, fold, thaw, keeping, twin, replace(opening, reason=str(error)))
        if missing and any(path.with_name(path.name + suffix).exists() for suffix in ("-wal", ".twin", ".twin.stale")):
            # The log of a file that is gone must not be taken for that of the new one; a twin that cannot be read
            # must not be written over.
            set_aside(path)
        return _open(path, lock, fold, thaw, keeping, beside, looked, opening)
    except BaseException:
        lock.close()
        raise


def set_aside(path: Path) -> Path:
    """Rename a journal, its log and its twin to a dated name that is still free, and say which.

    Of those set aside before, the first and the newest stay, `ASIDE_KEPT` in all with this one.
    """
    before = [one.name for one in asides(path)]
    date = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    count = 1 + max((count for at, count in map(_age, before) if at == date), default=0)
    aside = path.with_name(f"{path.name}.damaged-{date}" + (f"-{count}" if count > 1 else ""))
    # The twin last: while the file is there it may be needed.
    for suffix in _PARTS:
        part = path.with_name(path.name + suffix)
        if part.exists():
            os.replace(part, aside.with_name(aside.name + suffix))
    for name in before[1 : max(1, len(before) + 2 - ASIDE_KEPT)]:
        for suffix in _PARTS:
            with contextlib.suppress(OSError):
                path.with_name(name + suffix).unlink()
    return aside


def asides(path: Path) -> list[Path]:
    """The journals that were set aside beside this one, by their dates."""
    return [path.with_name(name) for name in sorted({_group(name) for name in _names(path)} - {""}, key=_age)]


def _names(path: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return [one.name for one in path.parent.iterdir() if one.name.startswith(f"{path.name}.damaged-")]
    return []


def _group(name: str) -> str:
    """The name under which something was set aside, of one of its parts."""
    found = _ASIDE.fullmatch(name)
    return found[1] if found is not None else ""


def _age(name: str) -> tuple[str, int]:
    date, _, count = name.rpartition(".damaged-")[2].partition("-")
    return date, int(count or 1)


ASIDE_KEPT: Final = 6
"""Journals set aside that stay: the first, in which most may be, and the newest."""

_PARTS: Final = ("-wal", "-shm", "", ".twin", ".twin.stale")
_ASIDE: Final = re.compile(r"(.*\.damaged-\d{8}T\d{6}Z(?:-\d+)?)(?:-wal|-shm|\.twin|\.twin\.stale)?")


@dataclass(frozen=True, slots=True)
class _Looked(Generic[Folded]):
    """What a look at a sound file has found: what its twin knows beyond it, and the state with its snapshot's place,
    where the file need not be changed to be folded.
    """

    lines: tuple[Line, ...]
    folded: tuple[Folded, int] | None


def _look(path: Path, fold: Fold[Folded], thaw: Thaw | None, twin: TwinTold | None) -> _Looked[Folded]:
    """Read the whole file without changing it; JournalDamaged says what is wrong with it."""
    connection = connect_to_read(path)
    try:
        version = check_whole(connection, path)
        if version == 0:
            if scalar(connection, "SELECT count(*) FROM sqlite_schema"):
                raise JournalDamaged(f"{path}: no journal of a table")
            if twin is not None and twin.last:
                raise JournalDamaged(f"{path}: it is empty, but event {twin.last} was stored")
            return _Looked((), None)
        lines = compare(connection, twin)
        if lines or version < len(schema.MIGRATIONS):
            return _Looked(lines, None)
        return _Looked((), _folded(path, connection, fold, thaw))
    except sqlite3.DatabaseError as error:
        raise schema.unusable(path, error) from None
    finally:
        connection.close()


def _folded(
    path: Path, connection: sqlite3.Connection, fold: Fold[Folded], thaw: Thaw | None
) -> tuple[Folded, int]:
    """The state and its snapshot's place. JournalNotFollowed where events are as they were stored and do not follow:
    a wrong version of Kaijin, not a damaged file.
    """
    try:
        folded, snapshot = fold_journal(connection, fold, thaw)
    except EventUnusable as error:
        twin = read_twin(path) if error.read else None
        same = twin is not None and twin.journal == meta_of(connection).get("journal_id")
        if twin is not None and same and vouches(twin, error.since + 1, error.n):
            raise JournalNotFollowed(f"{path}: {error}") from None
        raise
    last = scalar(connection, "SELECT coalesce(max(n), 0) FROM events")
    if last < snapshot and int(meta_of(connection).get(EVENTS_FROM, "1")) <= snapshot:
        raise JournalDamaged(f"events end with {last}, before the snapshot of event {snapshot}")
    return folded, snapshot


def _open(
    path: Path,
    lock: IO[str],
    fold: Fold[Folded],
    thaw: Thaw | None,
    keeping: Keeping | None,
    beside: EpochFile | None,
    looked: _Looked[Folded],
    opening: Opening,
) -> tuple[Journal, Folded]:
    connection = connect(path)
    try:
        configure(connection)
        apply_lines(connection, looked.lines)
        migrate(connection, path)
        folded, snapshot = looked.folded or _folded(path, connection, fold, thaw)
        journal_id, copied = _identity(connection, beside)
        told = opening.told_by_twin or _events_in(looked.lines)
        opening = replace(opening, copied=copied and not opening.salvaged, told_by_twin=told)
        twin = Twin(path)
        twin.begin(f"{journal_id:016x}", scalar(connection, "PRAGMA user_version"), base_line(connection))
        writer = Writer(path, connection, twin)
        # What a salvage has built is in place, or was not needed: later it would be an old state.
        with contextlib.suppress(OSError):
            salvaged_path(path).unlink()
        journal = Journal(path, writer, lock, opening, journal_id, snapshot, keeping or Keeping())
        try:
            writer.keep_ballast()
        except JournalUnwritable as error:
            journal.trouble = error.reason
        return journal, folded
    except JournalDamaged as error:
        connection.close()
        if opening.salvaged:
            raise JournalError(f"{path}: what was salvaged cannot be used either: {error}") from None
        return _salvaged(path, lock, fold, thaw, keeping, read_twin(path), replace(opening, reason=str(error)))
    except sqlite3.DatabaseError as error:
        connection.close()
        raise JournalError(f"{path}: cannot be used: {error}") from None
    except BaseException:
        connection.close()
        raise


def _salvaged(
    path: Path,
    lock: IO[str],
    fold: Fold[Folded],
    thaw: Thaw | None,
    keeping: Keeping | None,
    twin: TwinTold | None,
    opening: Opening,
) -> tuple[Journal, Folded]:
    """Put the file aside and go on from what it and its twin still hold; what is salvaged is built beside it first."""
    log = structlog.get_logger("journal")
    there = any(path.with_name(path.name + suffix).exists() for suffix in ("", "-wal"))
    for told in (twin, None) if twin is not None else (None,):
        try:
            found, beyond = salvage(path, path if path.exists() else None, told, fold, thaw)
        except (sqlite3.DatabaseError, JournalDamaged) as error:
            if getattr(error, "sqlite_errorname", "").startswith(_OF_THE_DISK):
                raise JournalError(f"{path}: it is damaged and cannot be put together again: {error}") from None
            log.error("a source of the journal cannot be used", twin=told is not None, problem=str(error))
            continue
        except OSError as error:
            raise JournalError(f"{path}: it is damaged and cannot be put together again: {error.strerror}") from None
        opening = replace(opening, damaged=set_aside(path) if there else None)
        put_in_place(salvaged_path(path), path)
        return _open(
            path, lock, fold, thaw, keeping, _as_it_is(path) if found == "whole" else None, _Looked((), None),
            replace(opening, salvaged=found, told_by_twin=beyond),
        )  # fmt: skip
    opening = replace(opening, damaged=set_aside(path) if there else None, salvaged="none")
    return _open(path, lock, fold, thaw, keeping, None, _Looked((), None), opening)


_OF_THE_DISK: Final = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN")


def _as_it_is(path: Path) -> EpochFile | None:
    """The file beside a journal of which nothing is missing: it goes on under its name, however its epoch was lost."""
    beside = read_epoch_file(path)
    connection = connect_to_read(path)
    try:
        notes = meta_of(connection)
    finally:
        connection.close()
    known = notes.get("journal_id", "")
    epoch = int(notes.get("epoch", "0"))
    return EpochFile(known, min(epoch, beside.epoch) if beside is not None else epoch)


def _identity(connection: sqlite3.Connection, beside: EpochFile | None) -> tuple[int, bool]:
    """The journal's id, new for a new journal and for a copy: a file without its companion, or older than it."""
    meta = meta_of(connection)
    known = meta.get("journal_id")
    copied = False
    # One that no start was ever noted in was cut off while it was begun: there is nothing that could be copied.
    if known is not None and ("epoch" in meta or last_event(connection)):
        copied = beside is None or beside.journal != known or beside.epoch > int(meta.get("epoch", "0"))
    if known is None or copied:
        known = f"{secrets.randbits(64):016x}"
        connection.execute("BEGIN IMMEDIATE")
        # Ids given out under the old name mean nothing to the board any more.
        put_meta(connection, {"journal_id": known, "copied_from": meta.get("journal_id", "")})
        connection.execute("COMMIT")
    return int(known, 16), copied


def _make_room(path: Path) -> None:
    """On a full disk the room that was kept is given up, so that at least the start fits."""
    with contextlib.suppress(OSError):
        if shutil.disk_usage(path.parent).free < BALLAST_BYTES // 2:
            ballast_path(path).unlink()


def _make_private(path: Path) -> None:
    """Hands lie in a journal: an older one that others may read is closed to them."""
    for suffix in ("", "-wal", "-shm", ".twin", ".twin.stale", ".ballast", ".salvaged"):
        part = path.with_name(path.name + suffix)
        with contextlib.suppress(OSError):
            if part.stat().st_mode & 0o077:
                part.chmod(0o600)


def _events_in(lines: tuple[Line, ...]) -> int:
    return sum(max(0, line.last - line.first + 1) for line in lines)


def _lock(path: Path) -> IO[str]:
    """The lock that one process at a time holds on a journal; JournalError when another one does."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(path.name + ".lock").open("w")
    except OSError as error:
        raise JournalError(f"{path.parent}: the journal's folder cannot be used: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise JournalTaken(f"{path}: another daemon holds this journal") from None
    return lock


