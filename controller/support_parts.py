"""The parts of a support bundle that lie in files: versions, settings, journal, faults, times, recordings, logs."""

from __future__ import annotations

import contextlib
import json
import platform
import shutil
import sqlite3
import subprocess
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from controller.checkup import Finding
from controller.journal import JournalError, StoredEvent, read_events, read_meta
from controller.ledger import BOOK, HUB, SAID
from controller.mechanisms import LearnedTimes
from controller.mending import NOTED
from controller.recording.format import recordings_in
from controller.recording.redact import redacted_ends
from controller.redaction import finished_hands, redacted
from controller.service.history import FaultHistory
from controller.settings import Settings
from controller.startup import kaijin_version
from controller.support_secrets import told_settings
from protocol.serial.recorder import masked

EVENTS: Final = 2_000
"""Events that a bundle tells, the last ones."""

RECORDINGS: Final = 10
LOGS: Final = 5
LOG_BYTES: Final = 256 * 1024
RECORDING_BYTES: Final = 1024 * 1024
RECORDED_BYTES: Final = 8 * 1024 * 1024
HISTORY_BYTES: Final = 256 * 1024
JOURNALD_S: Final = 10.0
JOURNALD_LINES: Final = 2_000

TOLD_META: Final = frozenset(
    {"journal_id", "epoch", "schema", "probe", "table_locked", "events_from", "matches_gone", BOOK, HUB, SAID, NOTED}
)
"""Notes of the journal that are told; of all others only that they are there and how long they are."""

_PACKAGES: Final = (
    "aiohttp", "aiomqtt", "click", "cobs", "paho-mqtt", "prometheus-client", "pydantic", "pyserial", "structlog",
)  # fmt: skip


@dataclass(slots=True)
class Parts:
    """Files by name, and the names of those that cannot be had with the reason."""

    files: dict[str, bytes] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def json(self, name: str, told: Any) -> None:
        """One object as a file."""
        self.files[name] = (json.dumps(told, ensure_ascii=False, indent=1, default=str) + "\n").encode(
            "utf-8", "backslashreplace"
        )

    def lines(self, name: str, told: Iterable[Any]) -> None:
        """Many objects, one a line."""
        text = "".join(json.dumps(one, ensure_ascii=False, default=str) + "\n" for one in told)
        self.files[name] = text.encode("utf-8", "backslashreplace")

    def findings(self, found: Iterable[Finding]) -> None:
        """What doctor says."""
        self.lines(
            "doctor.jsonl",
            ({"level": one.level, "what": one.what, "found": one.found, "do": one.do} for one in found),
        )


def file_parts(settings: Settings, revealed: bool) -> Parts:
    """Everything that can be read beside a running daemon; a part that fails leaves the others alone."""
    parts = Parts()
    work: Mapping[str, Callable[[], None]] = {
        "versions.json": lambda: parts.json("versions.json", versions()),
        "settings.json": lambda: parts.json("settings.json", told_settings(settings)),
        "disk.json": lambda: parts.json("disk.json", _disk(settings)),
        "journal/meta.json": lambda: _meta(parts, settings.journal.path),
        "journal/events.jsonl": lambda: _events(parts, settings.journal.path, revealed),
        "flight": lambda: _recordings(parts, settings.log_directory),
        "recordings": lambda: recorded_parts(parts, settings.serial.record),
        "log": lambda: _logs(parts, settings.log_directory),
    }
    for name, do in work.items():
        try:
            do()
        except (OSError, ValueError, JournalError, sqlite3.Error) as error:
            parts.missing[name] = str(error) or type(error).__name__
    return parts


def versions() -> dict[str, Any]:
    """What runs here."""
    packages = {}
    for name in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            packages[name] = version(name)
    return {
        "kaijin": kaijin_version(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "packages": packages,
    }


def _disk(settings: Settings) -> dict[str, Any]:
    """Room, and the files beside the journal by name and size: those set aside are among them."""
    folder = settings.journal.path.parent
    files = {path.name: path.stat().st_size for path in sorted(folder.iterdir()) if path.is_file()}
    usage = shutil.disk_usage(folder)
    return {"folder": str(folder), "free": usage.free, "total": usage.total, "files": files}


def _meta(parts: Parts, journal: Path) -> None:
    """What the journal notes of itself, its faults and its times."""
    meta = read_meta(journal)
    parts.json(
        "journal/meta.json",
        {key: value if key in TOLD_META else f"{len(value)} characters" for key, value in sorted(meta.items())},
    )
    kept = _Kept(meta)
    parts.json("faults.json", FaultHistory(kept, lambda work: work.close()).told(most_bytes=HISTORY_BYTES))
    learned = LearnedTimes(kept, lambda verb, how: None, lambda verb: None).learned()
    parts.json("times.json", {verb: _plain(one) for verb, one in learned.items()})


def _events(parts: Parts, journal: Path, revealed: bool) -> None:
    """How many events of each kind there are, and the last ones, the hand in play withheld."""
    last: deque[StoredEvent] = deque(maxlen=EVENTS)
    ends: list[StoredEvent] = []
    kinds: dict[int, Counter[str]] = {}
    for event in read_events(journal):
        last.append(event)
        kinds.setdefault(event.hand, Counter())[event.type] += 1
        if event.type == "HandEnded":
            ends.append(event)
    finished = finished_hands(ends)
    by_kind: Counter[str] = Counter()
    for hand, counted in kinds.items():
        if hand in finished:
            by_kind += counted
    playing = max(kinds, default=0)
    parts.json(
        "journal/counts.json",
        {
            "events": sum(sum(counted.values()) for counted in kinds.values()),
            "hands": len(kinds),
            "hands_ended": len(finished),
            "of_ended_hands": dict(by_kind.most_common()),
            "of_other_hands": sum(sum(counted.values()) for hand, counted in kinds.items() if hand not in finished),
        },
    )
    parts.lines("journal/events.jsonl", (_event(event, redacted(event, finished)) for event in last))
    if revealed:
        told = [event for event in last if event.hand == playing and playing not in finished]
        parts.lines("revealed/events.jsonl", (_event(event, event.body) for event in told))


def _event(event: StoredEvent, body: Mapping[str, Any]) -> dict[str, Any]:
    stamp = event.stamp
    return {
        "n": event.n, "hand": event.hand, "epoch": event.epoch, "ts": stamp.ts, "clock": stamp.clock,
        "mono_ms": stamp.mono_ms, "type": event.type, "body": dict(body),
    }  # fmt: skip


def _recordings(parts: Parts, folder: Path) -> None:
    """The newest flight recordings, masked once more."""
    found = [path for path in folder.glob("flight-*.jsonl") if path.is_file() and not path.is_symlink()]
    for path in sorted(found, key=lambda path: path.stat().st_mtime_ns)[-RECORDINGS:]:
        name = f"flight/{path.name}"
        if path.stat().st_size > RECORDING_BYTES:
            parts.missing[name] = f"longer than {RECORDING_BYTES} bytes"
            continue
        try:
            entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        except ValueError:
            parts.missing[name] = "no lines of JSON"
            continue
        parts.lines(name, masked(entries))


def recorded_parts(parts: Parts, directory: Path | None) -> None:
    """The newest part of each stream that was recorded last, redacted."""
    if directory is None or not directory.is_dir():
        return
    newest = recordings_in(directory)[-1]
    for name, content in redacted_ends(newest).items():
        told = f"recordings/{newest.name}/{name}"
        if len(content) > RECORDED_BYTES:
            parts.missing[told] = f"longer than {RECORDED_BYTES} bytes"
        else:
            parts.files[told] = content


def _logs(parts: Parts, folder: Path) -> None:
    """The ends of log files, and of what the system keeps for the service where it keeps something."""
    found = [path for path in folder.glob("*.log") if path.is_file() and not path.is_symlink()]
    for path in sorted(found, key=lambda path: path.stat().st_mtime_ns)[-LOGS:]:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LOG_BYTES))
            parts.files[f"log/{path.name}"] = file.read(LOG_BYTES)
    name, program = "log/journald.txt", shutil.which("journalctl")
    if program is None:
        parts.missing[name] = "no journalctl here"
        return
    asked = [program, "--no-pager", "-q", "-o", "short-iso", "-n", str(JOURNALD_LINES), "-u", "kaijin*"]
    try:
        said = subprocess.run(asked, capture_output=True, timeout=JOURNALD_S, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        parts.missing[name] = f"journalctl did not answer in {JOURNALD_S:g} s"
        return
    if said.stdout:
        parts.files[name] = said.stdout[-LOG_BYTES:]
    else:
        parts.missing[name] = said.stderr.decode("utf-8", "replace")[:200].strip() or "nothing there"


class _Kept:
    """Notes of a journal that is only read."""

    def __init__(self, meta: Mapping[str, str]) -> None:
        self._meta = meta

    def meta(self, key: str, default: str = "") -> str:
        return self._meta.get(key, default)

    async def note(self, values: Mapping[str, str | None]) -> None:
        raise AssertionError("nothing is noted here")


def _plain(one: Any) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__}
