"""What the daemon says of itself: birth, heartbeat, availability, health, gauges. Only reads."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from controller.broker import BrokerSession
from controller.clock import SystemClock
from controller.commands import CARRIED_OUT
from controller.hardware import Hardware
from controller.journal import Journal
from controller.lines import Line
from controller.live import TableFacts
from controller.metrics import Metrics
from controller.startup import kaijin_version
from engine.state import State

LINK_GRACE_S: Final = 5.0
"""How long after the start a board may stay silent before the table is at fault."""

CORE_STUCK_S: Final = 5.0
CONTRACT_VERSION: Final = "1.0"


class Reporter:
    """Knows every part, changes none."""

    def __init__(
        self,
        lines: Sequence[Line],
        hardware: Hardware,
        session: BrokerSession,
        journal: Journal,
        clock: SystemClock,
        metrics: Metrics,
        adopted: bool,
    ) -> None:
        self.beat_at = clock.monotonic()
        """When the core last came by."""
        self._began = clock.monotonic()
        self._lines = lines
        self._hardware = hardware
        self._session = session
        self._journal = journal
        self._clock = clock
        self._metrics = metrics
        self._adopted = adopted

    @property
    def uptime(self) -> float:
        """Seconds since the daemon's start."""
        return self._clock.monotonic() - self._began

    def condition(self, state: State) -> tuple[str, str]:
        """How far the table can be counted on: an availability and its reason."""
        if not self._adopted:
            return "maintenance", "not_adopted"
        if any(line.refusal for line in self._lines):
            return "fault", "firmware_mismatch"
        if state.parked:
            return "parked", state.parking
        link = self._hardware.link_state
        if link == "wait" and self.uptime < LINK_GRACE_S:
            return "starting", ""
        if link != "up":
            return "fault", "link_lost"
        if state.stop:
            return "fault", "stopped"
        for fault in state.faults:
            if fault.severity in ("fault", "critical"):
                return "fault", fault.code
        return "ready", ""

    def birth(self, facts: TableFacts, layouts: Sequence[str], boot: str) -> dict[str, Any]:
        """Who this table is."""
        identity = self._hardware.last_identity
        journal = self._journal
        return {
            "name": facts.name,
            "journal": f"{journal.journal_id:016x}",
            "versions": {
                "daemon": kaijin_version(),
                "mcu": identity.firmware if identity is not None else "",
                "contract": CONTRACT_VERSION,
            },
            "capabilities": {
                "sensing": facts.sensing,
                "dice": facts.dice,
                "sets": facts.sets,
                "layouts": list(layouts),
                "deals": facts.aid == "present",
                "commands": list(CARRIED_OUT),
            },
            "boot": boot,
            "replay": {"first": journal.first_kept, "last": journal.last_seq} if journal.last_seq else None,
        }

    def heartbeat(self) -> dict[str, Any]:
        """How the table itself is."""
        return {
            "uptime_s": int(self.uptime),
            "memory_kb": resident_bytes() // 1024,
            "disk_free_kb": shutil.disk_usage(self._journal.path.parent).free // 1024,
            "clock_offset_ms": None,
            "outbox": self._session.waiting,
            "oldest_unacknowledged_s": None,
            "links": {Path(line.name).name: _counters(line) for line in self._lines},
        }

    def health(self) -> tuple[bool, Mapping[str, Any]]:
        """Whether the table can do its work, and which part cannot."""
        age = self._clock.monotonic() - self.beat_at
        checks = {
            "link": self._hardware.link_state,
            "broker": "up" if self._session.connected else "down",
            "journal": "ok" if self._adopted else "not_adopted",
            "core": "ok" if age < CORE_STUCK_S else "stuck",
        }
        well = checks == {"link": "up", "broker": "up", "journal": "ok", "core": "ok"}
        lines = {line.name: "up" if line.ready else line.trouble for line in self._lines}
        return well, {**checks, "lines": lines, "epoch": self._journal.epoch, "uptime_s": int(self.uptime)}

    def collect(self) -> None:
        """Bring the gauges up to date."""
        metrics, counters = self._metrics, self._session.counters
        metrics.uptime.set(self.uptime)
        metrics.memory.set(resident_bytes())
        metrics.broker_up.set(self._session.connected)
        metrics.broker_waiting.set(self._session.waiting)
        for what in ("attempts", "connections", "received", "published", "dropped", "said_again", "refused_retained"):
            metrics.broker.labels(what).set(getattr(counters, what))
        for line in self._lines:
            metrics.link_up.labels(line.name).set(line.ready)
            metrics.link_rtt.labels(line.name).set(line.stats.round_trip or 0.0)
            for what in ("frames_in", "frames_out", "retransmits", "duplicates", "gaps", "sessions", "losses"):
                metrics.link.labels(line.name, what).set(getattr(line.stats, what))
            metrics.link.labels(line.name, "bad_frames").set(_bad_frames(line))
            metrics.link.labels(line.name, "failed_messages").set(line.failures)


def resident_bytes() -> int:
    """Resident memory of this process."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")


def _counters(line: Line) -> dict[str, Any]:
    stats = line.stats
    return {
        "state": "up" if line.ready else "lost",
        "frames_in": stats.frames_in,
        "frames_out": stats.frames_out,
        "bad_frames": _bad_frames(line),
        "retransmits": stats.retransmits,
        "sessions": stats.sessions,
    }


def _bad_frames(line: Line) -> int:
    return sum(line.stats.errors.values())
