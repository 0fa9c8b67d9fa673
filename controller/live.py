"""What people see beside the engine's state: progress, countdowns, answers, devices. Never journaled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What a match would be started with: the settings' match on what the hardware says it can do."""

    rules: str
    layout: str
    sensing: str
    dice: str
    aid: str
    sets: int
    hands: int
    minutes: int = 0
    seats: str = "free"
    """`free`, or `dice` for the draw of R2."""
    rulesets: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    locked: bool = False
    """Nothing new begins until the parlor unlocks."""
    opened: bool = False
    """The parlor has opened the table for an evening."""
    over: bool = False
    """The parlor has closed the table behind an evening, and has neither opened it since nor offers a match."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Of the players by seat, as the parlor knows them."""

    @property
    def shut(self) -> bool:
        """Nothing may begin here."""
        return self.locked or self.over


@dataclass(frozen=True, slots=True)
class Live:
    """One moment of it; all durations in ms."""

    table: TableFacts
    link: str = "wait"
    """`up`, `lost`, or `wait` before the first handshake."""
    sorting: Mapping[str, Any] | None = None
    """`{"set", "tiles": {side: count}, "seconds"}` while a set is sorted."""
    timers: Mapping[str, int] = field(default_factory=dict)
    """Time left by the id of the timer want."""
    answers: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """By seat: what became of its last 16 inputs."""
    devices: Mapping[str, str | None] = field(default_factory=dict)
    """By seat: the name of the display paired with it."""
    pairing: Sequence[Mapping[str, Any]] = ()
    """Displays that ask to be confirmed: `{"code", "seat", "name"}`."""
    sheets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By seat: the page that it looks at."""
    service: Mapping[str, Any] = field(default_factory=dict)
    """What a repairer did last: `{"act", "params"}`; empty before the first."""
    notices: Sequence[Mapping[str, Any]] = ()
    """Shown to all four: `{"code", "seat", "left_ms"}`."""
