"""What the table does while its disk takes nothing: inputs wait or are refused, and the disk is tried again.

With `[journal] on_error = "hold"` nothing is applied that is not stored: a seat is answered `disk`, what the machine
reports waits in its order, nothing new moves. With `go_on` play goes on in memory, bounded and marked as unsafe, and is
stored in its order once the disk takes it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeVar

import structlog

from controller.journal import Journal, JournalDamaged, JournalError
from engine import inputs

Work = TypeVar("Work")

PAUSES_S: Final = (0.25, 5.0)
"""The disk is tried again after these pauses, the first and the longest."""

MOST_HELD: Final = 5_000
"""So many inputs wait before sights and keys are let go."""


class Holding(Generic[Work]):
    """The inputs that wait, and the task that tries the disk. `changed` is called when it takes nothing, and again."""

    def __init__(
        self, journal: Journal, changed: Callable[[], None], happened: Callable[[Work], object] = lambda work: work
    ) -> None:
        self._journal = journal
        self._changed = changed
        self._happened = happened
        self._let_go = 0
        self._log = structlog.get_logger("holding")
        self._held: deque[Work] = deque()
        self._probing: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Hear of the disk from now on; what it did not take before is heard of at once."""
        self._journal.on_trouble = self._troubled
        if self._journal.trouble:
            self._troubled()

    @property
    def on(self) -> bool:
        """Whether nothing may be applied now."""
        return self._journal.holds

    def keep(self, work: Work, first: bool = False) -> None:
        """An input waits, the last of all or (tried and not stored) the first.

        Of a zone of tiles only what was seen last waits. Where too much waits the oldest sight or key goes, and that is
        told; what became of operations, faults and stops never does.
        """
        zone = _zone(self._happened(work))
        older = None if zone is None else next((one for one in self._held if _zone(self._happened(one)) == zone), None)
        if older is not None and first:
            return
        if older is not None:
            self._held.remove(older)
        if first:
            self._held.appendleft(work)
        else:
            self._held.append(work)
        if len(self._held) > MOST_HELD:
            self._let_one_go()

    def next(self) -> Work | None:
        """The oldest input that waited, once inputs are taken again. JournalDamaged where the journal is: nobody can
        store anything in it any more, and only a start salvages it.
        """
        if self._journal.damage is not None:
            raise self._journal.damage
        return self._held.popleft() if self._held and not self.on else None

    def close(self) -> None:
        """Try no more."""
        if self._probing is not None:
            self._probing.cancel()

    def _troubled(self) -> None:
        if self._journal.trouble and (self._probing is None or self._probing.done()):
            self._probing = asyncio.create_task(self._probe(), name="try the disk")
        self._changed()

    def _let_one_go(self) -> None:
        gone = next((one for one in self._held if isinstance(self._happened(one), _MAY_GO)), None)
        if gone is None:
            return
        self._held.remove(gone)
        self._let_go += 1
        if self._let_go & (self._let_go - 1) == 0:
            what = type(self._happened(gone)).__name__
            self._log.error("too much waits for the disk; sights and keys are lost", lost=self._let_go, last=what)

    async def _probe(self) -> None:
        pause = PAUSES_S[0]
        while True:
            await asyncio.sleep(pause)
            try:
                if await self._journal.probe():
                    return
            except JournalDamaged:
                return
            except JournalError as error:
                self._log.critical("the disk takes something again, but not this", problem=str(error))
            pause = min(2 * pause, PAUSES_S[1])


_MAY_GO: Final = (inputs.ZoneSeen, inputs.TileFlipped, inputs.RowLaid, inputs.KeyPressed)


def _zone(happened: object) -> tuple[str, str] | None:
    """The zone of tiles of which an input tells all that lies there."""
    return (happened.seat, happened.zone) if isinstance(happened, inputs.ZoneSeen) else None


def journal_notices(journal: Journal, uptime_s: float) -> tuple[Mapping[str, Any], ...]:
    """What all four seats are told of the journal: that nothing can be kept, or how it was found at the start."""
    found = []
    if journal.trouble:
        found.append(journal.trouble if journal.holds else "disk_unsafe")
    opening = journal.opening
    if uptime_s < TOLD_S and (opening.salvaged or opening.lost or opening.copied):
        found.append(f"journal_{opening.salvaged or ('copied' if opening.copied else 'none')}")
    return tuple({"code": code, "seat": "", "left_ms": None} for code in found)


TOLD_S: Final = 900.0
"""How long after a start people are told what became of the journal."""
