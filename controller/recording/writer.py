"""Writes a recording: entries are handed over in the loop and written by a thread of its own, within a bound.

    DIR/TABLE-20260102T030405Z-001/core-0001.jsonl, line-1-0001.jsonl …

Files are their owner's alone. A stream goes on in a new part once one has grown; where all recordings in DIR together
pass the bound, the oldest parts go. A disk that takes nothing ends the recording and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

import structlog

from controller.clock import kernel_clock_state
from controller.private_files import private_folder
from controller.recording.format import FORMAT, MARK, part_name, parts_in
from protocol.serial.frames import LINK_VERSION
from protocol.serial.messages import PROTOCOL

PARTS: Final = 16
"""A part takes at most this share of the bound …"""

LEAST_PART: Final = 16 * 1024
"""… and at least so many bytes."""

MOST_WAITING: Final = 20_000
"""Entries that wait for the disk at most; what comes beyond is not recorded, and a note says so."""

CLOSE_S: Final = 0.8

_STARTS: Final = 1000
_Entry: TypeAlias = Mapping[str, Any] | Callable[[], Mapping[str, Any]]


class Recorder:
    """The recording of one start. `stream` opens a stream, `close` ends all of them; both in the loop."""

    def __init__(self, directory: Path, table: str, most_bytes: int, now: Callable[[], float], software: str) -> None:
        """Makes the folder; OSError where that cannot be."""
        self.folder = _new_folder(directory, table)
        self._directory = directory
        self._most = most_bytes
        self._now = now
        self._began = now()
        self._common = {
            "start": secrets.token_hex(8),
            "table": table,
            "software": software,
            "protocol": PROTOCOL,
            "link": LINK_VERSION,
            "redacted": False,
            "began": {
                "utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "clock": kernel_clock_state(),
                "monotonic": round(self._began, 6),
            },
        }
        self._numbered = 0
        self._left_out = 0
        self._failed = False
        self._queue: queue.SimpleQueue[tuple[_File, _Entry] | None] = queue.SimpleQueue()
        self._files: list[_File] = []
        self._log = structlog.get_logger("recording")
        self._thread = threading.Thread(target=self._write_all, name="recording", daemon=True)
        self._thread.start()

    def stream(self, name: str, head: Mapping[str, Any]) -> StreamWriter:
        """A stream with what its head says beside what all heads say."""
        file = _File(self.folder, name, {MARK: FORMAT, "stream": name, **self._common, **head}, self._part_bytes)
        self._files.append(file)
        return StreamWriter(self, file)

    def close(self) -> None:
        """Note the end, and wait a moment until all is written."""
        for file in self._files:
            self._put(file, {"note": "end"})
        self._queue.put(None)
        self._thread.join(CLOSE_S)

    @property
    def failed(self) -> bool:
        """The disk has taken something not; nothing more is recorded."""
        return self._failed

    @property
    def waiting(self) -> int:
        """Entries that wait for the disk."""
        return self._queue.qsize()

    @property
    def _part_bytes(self) -> int:
        return max(LEAST_PART, self._most // PARTS)

    def _put(self, file: _File, entry: _Entry) -> None:
        """In the loop: number and time are given here, everything else is the thread's work."""
        if self._failed:
            return
        if self._queue.qsize() > MOST_WAITING:
            self._left_out += 1
            return
        self._numbered += 1
        stamp = {"n": self._numbered, "at": round(self._now() - self._began, 6)}
        if self._left_out:
            lost, self._left_out = self._left_out, 0
            self._queue.put((file, {**stamp, "note": "gap", "entries": lost}))
            self._numbered += 1
            stamp = {**stamp, "n": self._numbered}
        self._queue.put((file, lambda: {**stamp, **(entry() if callable(entry) else entry)}))

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _write_all(self) -> None:
        try:
            while (work := self._queue.get()) is not None:
                file, entry = work
                if file.write(entry() if callable(entry) else entry):
                    self._make_room()
                if self._queue.empty():
                    for each in self._files:
                        each.flush()
        except OSError as error:
            self._failed = True
            self._log.error("the recording has ended: it cannot be written", problem=error.strerror or str(error))
        except Exception:
            self._failed = True
            self._log.exception("the recording has ended: an entry cannot be written")
        finally:
            for each in self._files:
                with contextlib.suppress(OSError):
                    each.close()

    def _make_room(self) -> None:
        """Let the oldest parts go until all recordings of the folder are within the bound, with room for the next."""
        current = {file.path for file in self._files}
        parts = []
        for start in [self._directory, *self._directory.iterdir()]:
            for files in parts_in(start).values() if start != self._directory else ():
                parts += [(path.stat().st_mtime_ns, path) for _, path in files]
        total = sum(path.stat().st_size for _, path in parts)
        for _, path in sorted(parts):
            if total + self._part_bytes <= self._most:
                break
            if path in current:
                continue
            total -= path.stat().st_size
            path.unlink(missing_ok=True)
            if path.parent != self.folder:
                with contextlib.suppress(OSError):
                    path.parent.rmdir()


class StreamWriter:
    """One stream of a recording."""

    def __init__(self, recorder: Recorder, file: _File) -> None:
        self._recorder = recorder
        self._file = file

    def put(self, entry: _Entry) -> None:
        """Record something now; what is callable makes its entry in the writer's thread."""
        self._recorder._put(self._file, entry)


class _File:
    """The part of a stream that is written now."""

    def __init__(self, folder: Path, name: str, head: Mapping[str, Any], most: int) -> None:
        self._folder = folder
        self._name = name
        self._head = dict(head)
        self._most = most
        self._part = 0
        self._size = 0
        self._head_size = 0
        self._out: IO[bytes] | None = None
        self.path = folder

    def write(self, entry: Mapping[str, Any]) -> bool:
        """One line more; whether a new part was begun for it."""
        line = _encoded(entry)
        begun = self._out is None or (self._size > self._head_size and self._size + len(line) > self._most)
        out = self._begin() if begun or self._out is None else self._out
        out.write(line)
        self._size += len(line)
        return begun

    def flush(self) -> None:
        if self._out is not None:
            self._out.flush()

    def close(self) -> None:
        if self._out is not None:
            self._out.close()

    def _begin(self) -> IO[bytes]:
        self.close()
        self._part += 1
        self.path = self._folder / part_name(self._name, self._part)
        out: IO[bytes] = os.fdopen(_private(self.path), "wb")
        told = self._head if self._part == 1 else {**self._head, **_light(self._head)}
        head = _encoded({**told, "part": self._part})
        out.write(head)
        self._size = self._head_size = len(head)
        self._out = out
        return out


def _light(head: Mapping[str, Any]) -> dict[str, Any]:
    """What only the first part tells: the state at the beginning says nothing of the middle."""
    return {"state": None} if "state" in head else {}


def _private(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def _encoded(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"


def _new_folder(directory: Path, table: str) -> Path:
    private_folder(directory)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    # By number first: the time of day may step back between two starts.
    taken = [int(path.name.split("-", 1)[0]) for path in directory.iterdir() if path.name.split("-", 1)[0].isdecimal()]
    for number in range(max(taken, default=0) + 1, max(taken, default=0) + _STARTS):
        folder = directory / f"{number:06}-{table}-{stamp}"
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return folder
    raise FileExistsError(f"{directory}: no name is left for a recording")
