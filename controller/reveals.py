"""Hands in play that a support bundle reveals: announced first, put on record, and shown at all four seats.

Whoever makes such a bundle leaves a word beside the journal, one file each; only who may write there can. The daemon
puts it on record and shows it at the seats, and takes the file away, which whoever left it waits for. Without a daemon
the word stays there: the next start reads it and tells the seats before anything else.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import structlog

from controller.auditing import Auditor
from controller.private_files import write_private

TOLD_S: Final = 900.0
"""The seats are shown it for so long at least, and until the hand has ended."""

MOST_BYTES: Final = 4_096
_NOTED: Final = "revealed"


class Notes(Protocol):
    """The part of the journal that is used here."""

    @property
    def path(self) -> Path: ...

    def meta(self, key: str, default: str = "") -> str: ...

    async def note(self, values: Mapping[str, str | None]) -> None: ...


@dataclass(frozen=True, slots=True)
class Reveal:
    """Somebody reads the hand in play: `who` from where (`at`: UTC in ms)."""

    who: str
    at: int


def announce(journal: Path, who: str) -> Path:
    """Leave word that the hand in play of this journal is about to be revealed; on the disk when this returns."""
    path = journal.with_name(f"{journal.name}.reveal-{secrets.token_hex(8)}")
    write_private(path, json.dumps({"who": who, "at": time.time_ns() // 1_000_000}).encode())
    return path


def daemon_runs(journal: Path) -> bool:
    """Whether a process holds the journal."""
    try:
        with journal.with_name(journal.name + ".lock").open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def waiting(journal: Path) -> list[Path]:
    """Words that nobody has taken yet, the oldest first."""
    pattern = re.compile(re.escape(journal.name) + r"\.reveal-[0-9a-f]{16}")
    found: list[tuple[int, Path]] = []
    with contextlib.suppress(OSError), os.scandir(journal.parent) as entries:
        for entry in entries:
            if pattern.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    found.append((entry.stat(follow_symlinks=False).st_mtime_ns, journal.parent / entry.name))
    return [path for _, path in sorted(found)]


def read_word(path: Path) -> Reveal:
    """What a word says; of one that cannot be read only that there is one: it is told all the same."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file:
            said = json.loads(file.read(MOST_BYTES))
        return Reveal(str(said["who"])[:64], int(said["at"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Reveal("?", 0)


class Reveals:
    """Takes words and tells the seats. `hand` gives the hand in play (0: none), `now` monotonic seconds.

    `show` says the seats' views, and whether the broker has taken them.
    """

    def __init__(
        self, journal: Notes, auditor: Auditor, hand: Callable[[], int], now: Callable[[], float],
        show: Callable[[], Awaitable[bool]],
    ) -> None:  # fmt: skip
        self._journal = journal
        self._auditor = auditor
        self._hand = hand
        self._now = now
        self._show = show
        self._log = structlog.get_logger("reveals")
        self._shown = _read(journal.meta(_NOTED))
        self._until = now() + TOLD_S
        self._on_record: set[Path] = set()

    async def look(self) -> None:
        """Take every word that waits: on record, then at the seats, then gone."""
        words = waiting(self._journal.path)
        self._on_record &= set(words)
        for path in words:
            if path not in self._on_record and not await self._put_on_record(path):
                return
            if not await self._show():
                return  # No display can be reached: the word stays, and whoever left it waits.
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                self._log.error("the word of a revealed hand stays", path=str(path), problem=str(error))
                return

    async def _put_on_record(self, path: Path) -> bool:
        """False where the disk takes nothing: then nobody is told that it is on record."""
        reveal, hand = read_word(path), self._hand()
        if not await self._auditor.note(reveal.who, "revealed", {"at": reveal.at, "revealed_hand": hand}):
            return False
        self._on_record.add(path)
        self._shown, self._until = {"who": reveal.who, "hand": hand}, self._now() + TOLD_S
        await self._journal.note({_NOTED: json.dumps(self._shown)})
        self._log.critical("the hand in play is revealed to a repairer", who=reveal.who)
        return True

    def notices(self) -> Sequence[Mapping[str, Any]]:
        """What all four seats are shown."""
        shown = self._shown
        if shown is None or (self._now() >= self._until and self._hand() != shown["hand"]):
            return ()
        return ({"code": "hand_revealed", "seat": "", "left_ms": None, "params": {"who": shown["who"]}},)


def _read(text: str) -> dict[str, Any] | None:
    try:
        said = json.loads(text or "null")
        return {"who": str(said["who"]), "hand": int(said["hand"])} if said else None
    except (ValueError, KeyError, TypeError):
        return None
