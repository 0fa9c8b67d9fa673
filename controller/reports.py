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
from controller.holding import TOLD_S
from controller.hub import Ledger
from controller.journal import Journal
from controller.lines import Line
from controller.live import TableFacts
from controller.metrics import Metrics
from controller.startup import kaijin_version
from engine.state import State

LINK_GRACE_S: Final = 5.0
"""How long after the start a board may stay silent before the table is at fault."""

CORE_STUCK_S: Final = 5.0
LEDGER_OLD_S: Final = 3600
"""What the hub has not acknowledged for so long is told."""

COUNTED_ON: Final = ("ready", "parked")
"""The availabilities of a table that does what it is asked."""

CONTRACT_VERSION: Final = "1.0"

_BROKER_COUNTS: Final = (
    "attempts", "connections", "received", "published", "dropped", "said_again", "denied", "refused_retained",
)  # fmt: skip


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
        ledger: Ledger,
    ) -> None:
        self.beat_at = clock.monotonic()
        """When the core last came by."""
        self._began = clock.monotonic()
        self._judged: tuple[str, str] = ("starting", "")
        self._lines = lines
        self._hardware = hardware
        self._session = session
        self._journal = journal
        self._clock = clock
        self._metrics = metrics
        self._adopted = adopted
        self._ledger = ledger

    @property
    def uptime(self) -> float:
        """Seconds since the daemon's start."""
        return self._clock.monotonic() - self._began

    def judge(self, state: State) -> tuple[str, str]:
        """`condition`, kept for whoever asks for the health."""
        self._judged = self.condition(state)
        return self._judged

    def condition(self, state: State) -> tuple[str, str]:
        """How far the table can be counted on: an availability and its reason."""
        if not self._adopted:
            return "maintenance", "not_adopted"
        if state.service:
            return "maintenance", "service"
        if self._journal.holds:
            return "fault", self._journal.trouble
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
        return "ready", "disk_unsafe" if self._journal.trouble else ""

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
            "disk_free_kb": _free_kb(self._journal.path.parent),
            "clock_offset_ms": self._clock.offset_ms(),
            "outbox": self._session.waiting,
            **self._ledger.heartbeat(),
            "links": {Path(line.name).name: _counters(line) for line in self._lines},
        }

    def health(self) -> tuple[bool, Mapping[str, Any]]:
        """Whether the table can be counted on, what is wrong where it cannot (`wrong`), and what else somebody should
        know (`warnings`). Called from other threads too.
        """
        age = self._clock.monotonic() - self.beat_at
        condition, reason = self._judged
        checks = {
            "link": self._hardware.link_state,
            "broker": self._broker(),
            "journal": self._journal_state(),
            "core": "ok" if age < CORE_STUCK_S else "stuck",
        }
        well = {"link": "up", "broker": "up", "journal": "ok", "core": "ok"}
        wrong = [f"{name}:{found}" for name, found in checks.items() if found != well[name]]
        if condition not in COUNTED_ON:
            wrong.append(f"table:{reason or condition}")
        if self._lost and self.uptime < TOLD_S:
            wrong.append(f"journal_found:{self._lost}")
        lines = {line.name: "up" if line.ready else line.trouble for line in self._lines}
        body = {
            **checks,
            "wrong": wrong,
            "warnings": self._warnings(),
            "availability": {"state": condition, "reason": reason},
            "clock": self._clock.stamp().clock,
            "ledger": self._ledger_state(),
            "holds": self._journal.holds,
            "unsafe": self._journal.unsafe,
            "beat_age_s": round(age, 1),
            "lines": lines,
            "epoch": self._journal.epoch,
            "uptime_s": int(self.uptime),
        }
        return not wrong, body

    def _journal_state(self) -> str:
        return (self._journal.trouble or "ok") if self._adopted else "not_adopted"

    @property
    def _lost(self) -> str:
        """How much of a damaged journal was saved, where something of it is lost: `part` or `none`."""
        opening = self._journal.opening
        found = opening.salvaged or ("none" if opening.lost else "")
        return "" if found == "whole" else found

    def _warnings(self) -> list[str]:
        """What does not keep people from playing, and is no reason to start anything anew."""
        opening = self._journal.opening
        found = []
        if opening.salvaged or opening.lost:
            found.append(f"journal_salvaged:{opening.salvaged or 'none'}")
        if opening.copied:
            found.append("journal_copied")
        if self._clock.stamp().clock != "synced":
            found.append("clock_unsynced")
        if self._ledger_state()["oldest_s"] >= LEDGER_OLD_S:
            found.append("ledger_old")
        return found

    def _ledger_state(self) -> dict[str, int]:
        told = self._ledger.heartbeat()
        return {"waiting": told["ledger_waiting"], "oldest_s": told["oldest_unacknowledged_s"] or 0}

    def _broker(self) -> str:
        """`denied`: it takes messages of ours and does not pass them on."""
        if not self._session.connected:
            return "down"
        return "denied" if self._session.unsaid else "up"

    def collect(self) -> None:
        """Bring the gauges up to date."""
        metrics, counters = self._metrics, self._session.counters
        metrics.uptime.set(self.uptime)
        metrics.memory.set(resident_bytes())
        metrics.broker_up.set(self._session.connected)
        well, told = self.health()
        metrics.healthy.set(well)
        metrics.wrong.clear()
        for name in (*told["wrong"], *told["warnings"]):
            metrics.wrong.labels(name).set(1)
        metrics.core_beat_age.set(told["beat_age_s"])
        metrics.journal_unsafe.set(self._journal.unsafe)
        metrics.clock_synced.set(told["clock"] == "synced")
        metrics.ledger_waiting.set(self._ledger.waiting)
        metrics.ledger_oldest.set(told["ledger"]["oldest_s"])
        metrics.broker_waiting.set(self._session.waiting)
        for what in _BROKER_COUNTS:
            metrics.broker.labels(what).set(getattr(counters, what))
        for line in self._lines:
            metrics.link_up.labels(line.name).set(line.ready)
            metrics.link_rtt.labels(line.name).set(line.stats.round_trip or 0.0)
            for what in ("frames_in", "frames_out", "retransmits", "duplicates", "gaps", "sessions", "losses"):
                metrics.link.labels(line.name, what).set(getattr(line.stats, what))
            metrics.link.labels(line.name, "bad_frames").set(_bad_frames(line))
            for kind, count in line.stats.errors.items():
                metrics.link_errors.labels(line.name, kind).set(count)
            metrics.link.labels(line.name, "failed_messages").set(line.failures)

    def links(self) -> list[dict[str, Any]]:
        """Every line's statistics: totals, a summary, each of the last ten minutes' seconds."""
        return [line.statistics() for line in self._lines]


def _free_kb(folder: Path) -> int | None:
    """Room on the disk; None where a disk that is gone or dying does not tell."""
    try:
        return shutil.disk_usage(folder).free // 1024
    except OSError:
        return None


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
        "errors": {kind: count for kind, count in stats.errors.items() if count},
        "round_trip_ms": None if stats.round_trip is None else round(stats.round_trip * 1000, 3),
    }


def _bad_frames(line: Line) -> int:
    return sum(line.stats.errors.values())
