"""How a line has been lately: one sample a second, the last ten minutes of them, in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from protocol.serial.events import LinkStats

SECONDS_KEPT: Final = 600
"""Samples that are kept: ten minutes."""

COUNTED: Final = (
    "frames_in", "frames_out", "bytes_in", "bytes_out", "retransmits", "naks_in", "naks_out", "duplicates", "gaps",
    "foreign", "echoes", "undecodable", "sessions", "losses",
)  # fmt: skip
"""What is counted each second, beside frames that were none (`bad`, by kind)."""


@dataclass(frozen=True, slots=True)
class Second:
    """One second of a line: what came and went in it. `at` monotonic seconds, times in ms, `waiting` bytes."""

    at: float
    up: bool
    counts: dict[str, int]
    bad: dict[str, int]
    round_trip_ms: float | None
    rto_ms: float
    waiting: int

    def told(self) -> dict[str, Any]:
        """As JSON has it; counts of 0 are left out."""
        return {
            "at": round(self.at, 3),
            "up": self.up,
            **self.counts,
            **({"bad": self.bad} if self.bad else {}),
            "round_trip_ms": self.round_trip_ms,
            "rto_ms": self.rto_ms,
            "waiting": self.waiting,
        }


class LinkHistory:
    """The ring. `note` once a second; reading is safe from other threads."""

    def __init__(self, kept: int = SECONDS_KEPT) -> None:
        self._ring: deque[Second] = deque(maxlen=kept)
        self._before = LinkStats()

    def __len__(self) -> int:
        return len(self._ring)

    def note(self, stats: LinkStats, up: bool, waiting: int, now: float) -> None:
        """A second has passed: what the counts have grown by since the last."""
        before, self._before = self._before, replace(stats, errors=dict(stats.errors))
        grown = {name: getattr(stats, name) - getattr(before, name) for name in COUNTED}
        bad = {kind: count - before.errors.get(kind, 0) for kind, count in stats.errors.items()}
        self._ring.append(
            Second(
                now,
                up,
                {name: count for name, count in grown.items() if count},
                {kind: count for kind, count in bad.items() if count},
                None if stats.round_trip is None else round(stats.round_trip * 1000, 3),
                round(stats.rto * 1000, 3),
                waiting,
            )
        )

    def last(self, count: int = SECONDS_KEPT) -> list[dict[str, Any]]:
        """The last so many seconds, oldest first."""
        return [second.told() for second in list(self._ring)[max(0, len(self._ring) - count) :]]

    def summary(self) -> dict[str, Any]:
        """All kept seconds in a few numbers: how long up, what was lost, how long the round trip was."""
        seconds = list(self._ring)
        trips = sorted(second.round_trip_ms for second in seconds if second.up and second.round_trip_ms is not None)
        return {
            "seconds": len(seconds),
            "seconds_up": sum(second.up for second in seconds),
            "seconds_bad": sum(bool(second.bad or second.counts.get("retransmits")) for second in seconds),
            "retransmits": sum(second.counts.get("retransmits", 0) for second in seconds),
            "bad_frames": sum(sum(second.bad.values()) for second in seconds),
            "losses": sum(second.counts.get("losses", 0) for second in seconds),
            "round_trip_ms": {"median": _part(trips, 0.5), "p99": _part(trips, 0.99), "worst": _part(trips, 1.0)},
        }


def totals(stats: LinkStats) -> dict[str, Any]:
    """The counts since the link was made, as JSON has them; times in ms."""
    counts = asdict(stats)
    trip, rto = counts.pop("round_trip"), counts.pop("rto")
    return {**counts, "round_trip_ms": None if trip is None else round(trip * 1000, 3), "rto_ms": round(rto * 1000, 3)}


def _part(ordered: Sequence[float], share: float) -> float | None:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None
