"""The files of a recording: what stands in them, how they are named, and how they are read and checked.

A file is a `head` (the first line) and its entries, each one JSON object a line. Every entry has `n`, which counts over
all files of the recording, so that they can be merged in the order in which things happened, and `at`, seconds on the
monotonic clock since the recording began.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FORMAT: Final = 1
"""Version of these files; a reader refuses any other."""

CORE: Final = "core"
LINE: Final = "line-"
"""Streams: `core`, and `line-1` … for the lines in the order of `[serial] ports`."""

LONGEST_LINE: Final = 16 * 1024 * 1024
"""Bytes of one line at most; a snapshot of an evening's state has a few hundred thousand."""

MARK: Final = "kaijin_recording"

_PART: Final = re.compile(r"(core|line-[1-9])-(\d{4})\.jsonl")
_KINDS: Final = ("way", "note", "in", "out")


class RecordingError(ValueError):
    """Files that are no recording, or none that this version reads: file and line, what is wrong, what was expected."""


def part_name(stream: str, part: int) -> str:
    """The file of a stream's part, counted from 1."""
    return f"{stream}-{part:04}.jsonl"


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream of a recording: the head of its first part that is kept, and the entries of all parts.

    `first_part` is 1 unless the beginning has made room; `cut` says that the last line was only half written.
    """

    name: str
    head: Mapping[str, Any]
    entries: tuple[Mapping[str, Any], ...]
    first_part: int
    cut: bool


@dataclass(frozen=True, slots=True)
class Recording:
    """Everything that was recorded of one start."""

    folder: Path
    streams: Mapping[str, Stream]

    @property
    def head(self) -> Mapping[str, Any]:
        """What is the same in all heads: table, start, versions, redacted or not."""
        return next(iter(self.streams.values())).head

    @property
    def lines(self) -> tuple[Stream, ...]:
        """The streams of serial lines, in the order of ports."""
        return tuple(stream for name, stream in sorted(self.streams.items()) if name.startswith(LINE))

    @property
    def core(self) -> Stream | None:
        """The core's stream; None where only lines were recorded."""
        return self.streams.get(CORE)

    @property
    def redacted(self) -> bool:
        """Whether hands and names were taken out."""
        return bool(self.head.get("redacted"))


def parts_in(folder: Path) -> dict[str, list[tuple[int, Path]]]:
    """The files of a recording by stream, in the order of their parts."""
    found: dict[str, list[tuple[int, Path]]] = {}
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            named = _PART.fullmatch(path.name)
            if named is not None and path.is_file() and not path.is_symlink():
                found.setdefault(named[1], []).append((int(named[2]), path))
    return found


def recordings_in(folder: Path) -> list[Path]:
    """The recordings in a folder, oldest first: the folder itself where it is one."""
    if parts_in(folder):
        return [folder]
    if not folder.is_dir():
        raise RecordingError(f"{folder}: no such folder; expected a recording (see [serial] record)")
    found = [path for path in sorted(folder.iterdir()) if path.is_dir() and parts_in(path)]
    if not found:
        raise RecordingError(f"{folder}: no recording in it; expected files such as {part_name('line-1', 1)}")
    return found


def read_recording(folder: Path) -> Recording:
    """One recording, checked; RecordingError says what of it cannot be read."""
    parts = parts_in(folder)
    if not parts:
        recordings_in(folder)  # says what is wrong
        raise RecordingError(f"{folder}: several recordings; name one of the folders in it")
    streams = {name: _read_stream(name, files) for name, files in sorted(parts.items())}
    starts = {str(stream.head["start"]) for stream in streams.values()}
    if len(starts) != 1:
        raise RecordingError(f"{folder}: its files are of different recordings ({', '.join(sorted(starts))})")
    return Recording(folder, streams)


def _read_stream(name: str, files: list[tuple[int, Path]]) -> Stream:
    head: Mapping[str, Any] | None = None
    entries: list[Mapping[str, Any]] = []
    cut = False
    for place, (part, path) in enumerate(files):
        if part != files[0][0] + place:
            missing = path.with_name(part_name(name, part - 1))
            raise RecordingError(f"{path}: the part before it, {missing.name}, is missing")
        if cut:
            raise RecordingError(f"{files[place - 1][1]}: its last line is cut off, though a part follows")
        own, rows, cut = read_part(name, path)
        head = head or own
        if own["start"] != head["start"] or own["part"] != part:
            raise RecordingError(f"{path}:1: part {own['part']} of {own['start']}; expected {part} of {head['start']}")
        last = int(entries[-1]["n"]) if entries else 0
        for number, row in rows:
            if row["n"] <= last:
                raise RecordingError(f"{path}:{number}: n {row['n']} behind {last}; expected a larger one")
            last = row["n"]
            entries.append(row)
    assert head is not None
    return Stream(name, head, tuple(entries), files[0][0], cut)


def read_part(name: str, path: Path) -> tuple[dict[str, Any], list[tuple[int, dict[str, Any]]], bool]:
    """One file of a stream: its head, its entries with the numbers of their lines, whether the last line is cut off."""
    rows: list[tuple[int, dict[str, Any]]] = []
    head: dict[str, Any] | None = None
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(_lines(path, file), 1):
                if not raw.endswith(b"\n"):
                    if head is None:
                        raise RecordingError(f"{path}:1: the head is cut off; the recording has no beginning")
                    return head, rows, True
                row = _object(path, number, raw)
                if head is None:
                    head = _checked_head(path, name, row)
                else:
                    rows.append((number, _checked_entry(path, number, row)))
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror}") from None
    if head is None:
        raise RecordingError(f"{path}: empty; expected the head of a recording in its first line")
    return head, rows, False


def _lines(path: Path, file: Any) -> Iterator[bytes]:
    number = 0
    while raw := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(raw) > LONGEST_LINE:
            raise RecordingError(f"{path}:{number}: a line of more than {LONGEST_LINE} bytes")
        yield raw


def _object(path: Path, number: int, raw: bytes) -> dict[str, Any]:
    try:
        row = json.loads(raw)
    except (ValueError, RecursionError):
        raise RecordingError(f"{path}:{number}: no JSON; expected one object a line") from None
    if not isinstance(row, dict):
        raise RecordingError(f"{path}:{number}: expected an object, got {type(row).__name__}")
    return row


def _checked_head(path: Path, name: str, row: dict[str, Any]) -> dict[str, Any]:
    version = row.get(MARK)
    if version is None:
        raise RecordingError(f'{path}:1: no recording; expected a head with "{MARK}"')
    if version != FORMAT:
        raise RecordingError(f"{path}:1: a recording of version {version!r}; this Kaijin reads version {FORMAT}")
    wanted: dict[str, type | tuple[type, ...]] = {"stream": str, "part": int, "start": str, "table": str, "began": dict}
    wanted |= {"journal_id": str, "state": (dict, type(None)), "notes": dict} if name == CORE else {"port": str}
    for key, kind in wanted.items():
        if not isinstance(row.get(key), kind) or isinstance(row.get(key), bool):
            raise RecordingError(f"{path}:1: {key}: missing or of another kind ({row.get(key)!r:.40})")
    if row["stream"] != name:
        raise RecordingError(f"{path}:1: the file of stream {row['stream']!r:.40} under the name of {name}")
    return row


def _checked_entry(path: Path, number: int, row: dict[str, Any]) -> dict[str, Any]:
    where = f"{path}:{number}"
    if type(row.get("n")) is not int or row["n"] < 1:
        raise RecordingError(f"{where}: n: expected a whole number from 1, got {row.get('n')!r:.40}")
    if type(row.get("at")) not in (int, float) or not 0 <= row["at"] < 1e12:
        raise RecordingError(f"{where}: at: expected seconds from 0, got {row.get('at')!r:.40}")
    kinds = [kind for kind in _KINDS if kind in row]
    if len(kinds) != 1:
        raise RecordingError(f"{where}: expected one of {', '.join(_KINDS)}, got {', '.join(kinds) or 'none'}")
    if kinds == ["way"]:
        if row["way"] not in ("in", "out"):
            raise RecordingError(f'{where}: way: expected "in" or "out", got {row["way"]!r:.40}')
        try:
            bytes.fromhex(row["hex"])
        except (KeyError, TypeError, ValueError):
            raise RecordingError(f"{where}: hex: expected bytes as hexadecimal digits") from None
    return row
