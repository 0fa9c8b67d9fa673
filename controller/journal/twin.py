"""The twin of a journal: everything since a moment, line by line, in a plain file beside the database.

SQLite drops what lies behind a damaged frame of its log without a word, and a damaged first page takes the whole file.
The twin knows the last event and can tell all of it again: the state at a hand boundary, what must outlive it, and
each transaction since, as the statements that the database was given. A line is written before its transaction is
committed and taken back when it fails; it is not waited for, so it costs no time. Until the machine is switched off
nothing of it can be missing.

A line is `CRC {JSON}`: the CRC-32 of the JSON as eight hexadecimal digits. The first is the head.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from controller.journal.rows import plain_json
from controller.journal.schema import private_opener

FORMAT: Final = 1
REWRITE_BYTES: Final = 2_000_000
"""A twin that has grown by so much, and by as much as it was when it was written anew, is written anew."""

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


def twin_path(journal: Path) -> Path:
    """Where the twin of a journal lies."""
    return journal.with_name(journal.name + ".twin")


def stale_path(journal: Path) -> Path:
    """Where a twin lies that the disk did not let go on."""
    return journal.with_name(journal.name + ".twin.stale")


def machine_start() -> str:
    """Which start of this machine it is; empty where nobody says."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class Line:
    """One transaction: `first` and `last` of its events, both those before it where it has none, and its statements.

    `crc` is that of its events' rows (`crc_of_events`). `number`: of it where it has no events, otherwise of the last
    before it that had none; 0 in a twin of a Kaijin that did not number them.
    """

    first: int
    last: int
    crc: int
    statements: tuple[str, ...]
    number: int = 0


@dataclass(frozen=True)
class TwinTold:
    """What a twin says. `sound`: its last line is whole; `proved`: nothing can have been written that it lacks."""

    journal: str
    schema: int
    base: Line
    lines: tuple[Line, ...] = field(repr=False)
    sound: bool
    proved: bool

    @property
    def number(self) -> int:
        """The last transaction without events that it knows."""
        return max(line.number for line in (self.base, *self.lines))

    @property
    def last(self) -> int:
        """The last event it knows."""
        return self.lines[-1].last if self.lines else self.base.last

    def after(self, n: int) -> tuple[Line, ...] | None:
        """What follows on the event `n`; None where the twin does not know that event."""
        if n == self.base.last:
            return tuple(self.lines)
        for place in range(len(self.lines) - 1, -1, -1):
            line = self.lines[place]
            if line.last == n and line.first <= line.last:
                return self.lines[place + 1 :]
        return None


def crc_of_events(rows: Iterable[Sequence[Any]]) -> int:
    """The checksum of events as they lie in the database: number, type and body of each."""
    crc = 0
    for n, kind, body in rows:
        crc = zlib.crc32(f"{n} {kind} {body}\n".encode("utf-8", "surrogatepass"), crc)
    return crc


class Twin:
    """A twin that is written. Every failure makes it stale and is told by `broken`, never by an exception."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._file = -1
        self._size = 0
        self._before = 0
        self._base_size = 0
        self.broken = ""
        self._marked = True

    @property
    def is_long(self) -> bool:
        """Whether it should be written anew."""
        return bool(self.broken) or self._size - self._base_size > max(REWRITE_BYTES, self._base_size)

    def begin(self, journal_id: str, schema: int, base: Line) -> None:
        """Write the twin anew, in one step."""
        target = twin_path(self._journal)
        scratch = target.with_name(target.name + ".new")
        head = {"twin": FORMAT, "journal": journal_id, "schema": schema, "boot": machine_start()}
        content = _line(head) + _line(_plain(base))
        try:
            with open(scratch, "wb", opener=private_opener) as out:
                out.write(content)
                out.flush()
                os.fsync(out.fileno())
            self._let_go()
            os.replace(scratch, target)
            self._file = os.open(target, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            with contextlib.suppress(OSError):
                stale_path(self._journal).unlink()
        except OSError as error:
            with contextlib.suppress(OSError):
                scratch.unlink()
            self._break(str(error.strerror or error))
            return
        self.broken, self._marked = "", True
        self._size = self._before = self._base_size = len(content)

    def add(self, line: Line) -> None:
        """Write a transaction that is about to be committed."""
        if self.broken or self._file < 0:
            self._mark()
            return
        self._before = self._size
        content = _line(_plain(line))
        try:
            written = os.write(self._file, content)
            if written != len(content):
                raise OSError(28, "the disk is full")
        except OSError as error:
            self._break(str(error.strerror or error))
            return
        self._size += len(content)

    def settle(self) -> None:
        """The transaction written last is committed: nothing takes it back any more."""
        self._before = self._size

    def take_back(self) -> None:
        """The transaction that was written and is not settled, if there is one, has failed."""
        if self._file < 0 or self._before == self._size:
            return
        try:
            os.ftruncate(self._file, self._before)
            self._size = self._before
        except OSError as error:
            self._break(str(error.strerror or error))

    def close(self) -> None:
        """Say that nothing follows, and wait for the disk."""
        if self._file >= 0 and not self.broken:
            with contextlib.suppress(OSError):
                os.write(self._file, _line({"closed": True}))
                os.fsync(self._file)
        self._let_go()

    def _break(self, why: str) -> None:
        """It lacks something from now on: whoever reads it must not believe that it lacks nothing."""
        self.broken = why
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._before)
            self._let_go()
            self._marked = False
            self._mark()

    def _mark(self) -> None:
        """Give it the name of one that lacks something; a disk that takes nothing is asked again at the next line."""
        if not self._marked:
            with contextlib.suppress(OSError):
                os.replace(twin_path(self._journal), stale_path(self._journal))
                self._marked = True

    def _let_go(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def read_twin(journal: Path) -> TwinTold | None:
    """What the twin of a journal says up to its first damaged line; None where there is none to be understood."""
    for path in (twin_path(journal), stale_path(journal)):
        try:
            content = path.read_bytes()
        except OSError:
            continue
        told = _told(content, stale=path == stale_path(journal))
        if told is not None:
            return told
    return None


def _told(content: bytes, stale: bool) -> TwinTold | None:
    bodies = list(_bodies(content))
    sound = content.endswith(b"\n") and sum(len(body) + 10 for body in bodies) == len(content)
    try:
        head, *rest = (json.loads(body) for body in bodies)
        closed = bool(rest) and "closed" in rest[-1]
        lines = [_parsed(one) for one in rest if "closed" not in one]
        if head["twin"] != FORMAT or not lines:
            return None
        same_start = bool(head["boot"]) and head["boot"] == machine_start()
        whole = _consecutive(lines)
        return TwinTold(
            str(head["journal"]), int(head["schema"]), lines[0], tuple(lines[1:whole]), sound and whole == len(lines),
            proved=not stale and sound and whole == len(lines) and (closed or same_start),
        )  # fmt: skip
    except (ValueError, TypeError, LookupError):
        return None


def _consecutive(lines: Sequence[Line]) -> int:
    """How many lines follow on each other."""
    last = lines[0].last
    for place, line in enumerate(lines[1:], 1):
        if line.first <= line.last and line.first != last + 1:
            return place
        last = max(last, line.last)
    return len(lines)


def _bodies(content: bytes) -> Iterator[bytes]:
    """The JSON of each sound line, up to the first that is not."""
    for line in content.split(b"\n"):
        if len(line) < 10 or line[8:9] != b" ":
            return
        try:
            crc = int(line[:8], 16)
        except ValueError:
            return
        if zlib.crc32(line[9:]) != crc:
            return
        yield line[9:]


def _line(body: dict[str, Any]) -> bytes:
    text = plain_json(body).encode("utf-8", "surrogatepass")
    return b"%08x %b\n" % (zlib.crc32(text), text)


def _plain(line: Line) -> dict[str, Any]:
    return {
        "first": line.first,
        "last": line.last,
        "crc": line.crc,
        "sql": list(line.statements),
        "number": line.number,
    }


def _parsed(body: dict[str, Any]) -> Line:
    statements = tuple(str(one) for one in body["sql"])
    return Line(int(body["first"]), int(body["last"]), int(body["crc"]), statements, int(body.get("number", 0)))
