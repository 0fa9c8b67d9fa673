"""The history of faults: how often each, at which side, by which sensor; counted from the public facts.

Kept in the journal's notes: it outlives restarts and the facts themselves. The number of the last fact that is counted
stands beside the counts, so that a start counts what a power cut left uncounted, and nothing twice.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol

import structlog

from controller.remedies import named

ROWS: Final = 200
"""Kinds of faults that are kept; of more, those that came last the longest ago are forgotten."""

LATEST: Final = 40
"""Single faults that are kept with their moment."""

NOTED_EVERY: Final = 1_000
"""Facts of other kinds after which it is noted how far has been counted."""

PER: Final = 1_000
"""Counts are told per so many cycles."""

_KEY: Final = "fault_history"


class Notes(Protocol):
    """The part of the journal that the history is kept in."""

    def meta(self, key: str, default: str = "") -> str: ...

    async def note(self, values: Mapping[str, str | None]) -> None: ...


class Fact(Protocol):
    """A public fact with its number."""

    @property
    def seq(self) -> int: ...

    @property
    def stream(self) -> str: ...

    @property
    def envelope(self) -> str: ...


@dataclass(slots=True)
class Row:
    """One kind of fault at one side: how often, in how many of the cycles, first and last."""

    code: str
    side: str
    mechanism: str
    sensors: list[str]
    count: int = 0
    first_ts: int = 0
    last_ts: int = 0
    last_clock: str = "unsynced"
    last_hand: int = 0
    last_cycle: int = 0


@dataclass(slots=True)
class Counted:
    """Everything that is noted."""

    through: int = 0
    cycles: int = 0
    standing: list[list[str]] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    latest: list[dict[str, Any]] = field(default_factory=list)


class FaultHistory:
    """Hears public facts in their order. `spawn` runs what writes the notes."""

    def __init__(self, notes: Notes, spawn: Callable[[Any], None]) -> None:
        self._notes = notes
        self._spawn = spawn
        self._log = structlog.get_logger("history")
        self._known = _read(notes.meta(_KEY))
        self._noted = self._known.through

    @property
    def through(self) -> int:
        """The number of the last fact that is counted."""
        return self._known.through

    @property
    def cycles(self) -> int:
        """How many sets have been sorted since the history began."""
        return self._known.cycles

    async def catch_up(self, replay: Callable[[int, int], Awaitable[Sequence[Fact]]], last: int) -> None:
        """Count the facts of earlier runs that are not counted yet, as far as they are still kept."""
        if self._known.through > last:
            # The journal is another one, or an older state of itself: its numbers begin anew.
            self._known.through = 0
        if self._known.through < last:
            self._take(await replay(self._known.through + 1, last))
            await self._keep()

    def heard(self, facts: Iterable[Fact]) -> None:
        """Facts that have just been stored."""
        if self._take(facts) or self._known.through - self._noted >= NOTED_EVERY:
            self._spawn(self._keep())

    def told(self, first: int = 0, most_bytes: int = 6_000) -> dict[str, Any]:
        """The kinds of faults from row `first` on, the most frequent first, as many as fit; `next`: where to go on."""
        rows = sorted(self._known.rows, key=lambda row: (-row.count, -row.last_ts, row.code, row.side))
        told: list[dict[str, Any]] = []
        size = 0
        for row in rows[first:]:
            one = {**asdict(row), "per_1000": self._per(row)}
            size += len(json.dumps(one)) + 1
            if told and size > most_bytes:
                break
            told.append(one)
        following = first + len(told)
        return {
            "cycles": self._known.cycles,
            "faults": told,
            "latest": list(reversed(self._known.latest[-8:])) if first == 0 else [],
            "next": following if following < len(rows) else None,
        }

    def _per(self, row: Row) -> int | None:
        """How often in 1,000 cycles; None before there have been enough to say."""
        return round(row.count * PER / self._known.cycles) if self._known.cycles else None

    def _take(self, facts: Iterable[Fact]) -> bool:
        """Count facts; whether any of them was a fault's."""
        changed = False
        for fact in facts:
            if fact.seq <= self._known.through:
                continue
            self._known.through = fact.seq
            if fact.stream not in ("fault", "machine"):
                continue
            try:
                envelope = json.loads(fact.envelope)
                changed |= self._count(envelope["data"], envelope)
            except (ValueError, KeyError, TypeError):
                self._log.warning("a stored fact that keeps no contract", seq=fact.seq)
        return changed

    def _count(self, data: Mapping[str, Any], envelope: Mapping[str, Any]) -> bool:
        params = data["params"]
        match data["name"]:
            case "sorted":
                self._known.cycles += 1
                return False
            case "raised":
                key = [params["code"], params["side"]]
                if key in self._known.standing:
                    return False  # told anew in a new session, not anew come
                self._known.standing.append(key)
                self._add(params["code"], params["side"], params["mechanism"], data, envelope)
            case "cleared":
                key = [params["code"], params["side"]]
                self._known.standing = [one for one in self._known.standing if one != key]
            case "operation_failed":
                if any(code == params["fault"] for code, _ in self._known.standing):
                    return False  # the board has told of it already
                self._add(params["fault"], params["side"], params["verb"], data, envelope)
            case "miscounted":
                for one in params["sides"]:
                    short = one["counted"] < one["expected"]
                    self._add("side_short" if short else "side_long", one["side"], "sort", data, envelope)
            case _:
                return False
        return True

    def _add(
        self, code: str, side: str, mechanism: str, data: Mapping[str, Any], envelope: Mapping[str, Any]
    ) -> None:
        known = self._known
        found = next((row for row in known.rows if (row.code, row.side) == (code, side)), None)
        if found is None:
            found = Row(code, side, mechanism, list(named(code, side)["sensors"]), first_ts=envelope["ts"])
            known.rows.append(found)
            if len(known.rows) > ROWS:
                known.rows.remove(min(known.rows, key=lambda row: row.last_cycle))
        found.count += 1
        found.last_ts, found.last_clock = envelope["ts"], envelope["clock"]
        found.last_hand, found.last_cycle = data.get("hand") or 0, known.cycles
        one = {"code": code, "side": side, "ts": envelope["ts"], "clock": envelope["clock"], "cycle": known.cycles}
        known.latest = [*known.latest[-(LATEST - 1) :], one]

    async def _keep(self) -> None:
        self._noted = self._known.through
        await self._notes.note({_KEY: json.dumps(asdict(self._known), separators=(",", ":"))})


def _read(text: str) -> Counted:
    """What was noted; from nothing where it is none."""
    try:
        raw = json.loads(text or "{}")
        rows = [Row(**row) for row in raw.get("rows", [])]
        return Counted(**{**raw, "rows": rows})
    except (ValueError, TypeError, AttributeError):
        return Counted()
