"""Flight recordings: the last frames of a line, written out when it fails; few, and never hidden tiles."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from protocol.serial.recorder import FlightRecorder

KEPT: Final = 20
"""Recordings of one line that stay on the disk."""

APART_S: Final = 10.0
"""A line that fails over and over is recorded at most this often."""


class FlightLog:
    """Writes the recordings of one line into a folder."""

    def __init__(self, folder: Path, line: str) -> None:
        self._folder = folder
        self._stem = "flight-" + re.sub(r"[^A-Za-z0-9]+", "-", line).strip("-")[-40:]
        self._next_at = 0.0

    def write(self, recorder: FlightRecorder, reason: str, stats: Mapping[str, Any], now: float) -> Path | None:
        """Write the recording down and forget the oldest; None when one was just written. May raise OSError."""
        if now < self._next_at:
            return None
        self._next_at = now + APART_S
        self._folder.mkdir(parents=True, exist_ok=True)
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        path = self._folder / f"{self._stem}-{stamp}.jsonl"
        head = {"reason": reason, "at": now, "stats": dict(stats)}
        lines = [json.dumps(entry, ensure_ascii=False) for entry in (head, *recorder.dump())]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        for old in sorted(self._folder.glob(f"{self._stem}-*.jsonl"))[:-KEPT]:
            old.unlink(missing_ok=True)
        return path
