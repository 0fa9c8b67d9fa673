"""Flight recordings: the last frames of a line, written out when it fails or stops; few, and never hidden tiles."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from controller.clock import kernel_clock_state
from controller.repeats import Repeats
from protocol.serial.recorder import FlightRecorder

KEPT: Final = 20
"""Recordings of one line that stay on the disk."""

APART_S: Final = 10.0
"""A line that fails in the same way over and over is recorded again after so long, then after twice that, and so on."""

_NUMBERED = re.compile(r"-(\d{6,})-\d{8}T\d{6}\.jsonl")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


class FlightLog:
    """Writes the recordings of one line into a folder: `flight-LINE-NUMBER-TIME.jsonl`.

    The number grows whatever the time of day does; the lowest are the oldest.
    """

    def __init__(self, folder: Path, line: str) -> None:
        self._folder = folder
        self._stem = "flight-" + re.sub(r"[^A-Za-z0-9]+", "-", line).strip("-")[-40:]
        self._repeats = Repeats(first_s=APART_S)

    def due(self, reason: str, now: float) -> bool:
        """Whether a failure for this reason is to be written down."""
        return self._repeats.hear(reason, now) is not None

    def write(
        self,
        recorder: FlightRecorder,
        reason: str,
        stats: Mapping[str, Any],
        now: float,
        seconds: Sequence[Mapping[str, Any]] = (),
    ) -> Path:
        """Write the recording down whole, or nothing, and forget the oldest. May raise OSError."""
        self._folder.mkdir(parents=True, exist_ok=True)
        head = {
            "reason": reason,
            "at": now,
            "utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "clock": kernel_clock_state(),
            "stats": dict(stats),
            "seconds": [dict(second) for second in seconds],
        }
        lines = [json.dumps(entry, ensure_ascii=False) for entry in (head, *recorder.dump())]
        kept = self.recordings()
        number = 1 + max((number for number, _ in kept), default=0)
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        path = self._folder / f"{self._stem}-{number:06}-{stamp}.jsonl"
        self._write_whole(path, "\n".join(lines) + "\n")
        for _, old in [*kept, (number, path)][:-KEPT]:
            old.unlink(missing_ok=True)
        return path

    def recordings(self) -> list[tuple[int, Path]]:
        """The recordings of this line on the disk with their numbers, oldest first."""
        found = []
        for path in self._folder.glob(f"{self._stem}-*.jsonl"):
            numbered = _NUMBERED.fullmatch(path.name.removeprefix(self._stem))
            if numbered is not None:
                found.append((int(numbered[1]), path))
        return sorted(found)

    def _write_whole(self, path: Path, text: str) -> None:
        """The file with all of it or no file, whenever the power goes; what a former run left half-written goes."""
        scratch = self._folder / f".{self._stem}.new"
        try:
            with open(scratch, "w", encoding="utf-8", opener=_private) as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            os.replace(scratch, path)
        except OSError:
            scratch.unlink(missing_ok=True)
            raise
