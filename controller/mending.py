"""Times that were stamped before the time of day was known, put right afterwards.

A stamp has UTC and the milliseconds of the epoch's monotonic clock. Once the clock is synchronised, the difference of
the two holds for the whole epoch, backwards too, and for every earlier epoch of the same start of the machine. It is
noted in the journal; whoever shows a stamp made unsynced takes the true time from it. Where no epoch of a start
was ever synchronised its stamps stay unsynced: only their order, by number, can be told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from controller.clock import Stamp

NOTED: Final = "epoch_clocks"
"""Under which name the journal notes what is known of its epochs' clocks."""

EPOCHS_KEPT: Final = 1_000

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class ShownTime:
    """A time as people and programs are told it. `unsynced`: only the order can be believed; `mended`: put right."""

    ts: int
    clock: Literal["synced", "unsynced", "mended"]


@dataclass(frozen=True, slots=True)
class EpochClock:
    """What is known of one epoch that began unsynced: the machine's start, when on its clock (ms), UTC at its 0 ms."""

    boot: str
    began_ms: int
    zero_ts: int | None


class Clocks(Protocol):
    """The part of the daemon's clock that is used."""

    def monotonic(self) -> float: ...

    def mono_ms(self) -> int: ...

    def stamp(self) -> Stamp: ...


class Notes(Protocol):
    """The part of the journal that is used."""

    def meta(self, key: str, default: str = "") -> str: ...

    async def note(self, values: Mapping[str, str | None]) -> None: ...


def shown(stamp: Stamp, epoch: int, zeros: Mapping[int, int]) -> ShownTime:
    """A stamp as it is told, given UTC (ms) at 0 ms of each epoch where that is known."""
    if stamp.clock == "synced":
        return ShownTime(stamp.ts, "synced")
    zero = zeros.get(epoch)
    return ShownTime(stamp.ts, "unsynced") if zero is None else ShownTime(zero + stamp.mono_ms, "mended")


def read_zeros(noted: str) -> dict[int, int]:
    """UTC (ms) at 0 ms of each epoch that was synchronised later, from what the journal notes (`NOTED`)."""
    return {epoch: clock.zero_ts for epoch, clock in _decode(noted).items() if clock.zero_ts is not None}


class EpochClocks:
    """Watches this epoch's clock and notes it: that it began unsynced, and once it is synchronised, what holds."""

    def __init__(self, clock: Clocks, notes: Notes, epoch: int, boot: str | None = None) -> None:
        self._clock = clock
        self._notes = notes
        self._epoch = epoch
        self._boot = boot if boot is not None else _boot_id()

    @property
    def zeros(self) -> dict[int, int]:
        """UTC (ms) at 0 ms of each epoch that began unsynced and whose clock is known now."""
        return read_zeros(self._notes.meta(NOTED))

    async def look(self) -> bool:
        """Call it about once a second. True when it has just become known how the clock goes; on the disk then."""
        stamp = self._clock.stamp()
        known = _decode(self._notes.meta(NOTED))
        own = known.get(self._epoch)
        if stamp.clock == "unsynced":
            if own is None:
                began = round(self._clock.monotonic() * 1000) - self._clock.mono_ms()
                known[self._epoch] = EpochClock(self._boot, began, None)
                await self._notes.note({NOTED: _encode(known)})
            return False
        if own is None or own.zero_ts is not None:
            return False
        zero = stamp.ts - stamp.mono_ms
        for epoch, other in known.items():
            if other.zero_ts is None and other.boot == own.boot and self._boot:
                known[epoch] = EpochClock(other.boot, other.began_ms, zero + other.began_ms - own.began_ms)
        known[self._epoch] = EpochClock(own.boot, own.began_ms, zero)
        await self._notes.note({NOTED: _encode(known)})
        return True


def _encode(known: Mapping[int, EpochClock]) -> str:
    newest = sorted(known)[-EPOCHS_KEPT:]
    rows = {str(epoch): [known[epoch].boot, known[epoch].began_ms, known[epoch].zero_ts] for epoch in newest}
    return json.dumps(rows, separators=(",", ":"))


def _decode(noted: str) -> dict[int, EpochClock]:
    """What was noted; nothing where it cannot be understood: then stamps stay as they are."""
    found: dict[int, EpochClock] = {}
    try:
        rows: Any = json.loads(noted or "{}")
        for epoch, (boot, began, zero) in rows.items():
            found[int(epoch)] = EpochClock(str(boot), int(began), None if zero is None else int(zero))
    except (ValueError, TypeError, AttributeError):
        return {}
    return found


def _boot_id() -> str:
    """Which start of the machine this is; empty where the system does not tell."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""
