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

from controller.journal import Journal

Work = TypeVar("Work")

PAUSES_S: Final = (0.25, 5.0)
"""The disk is tried again after these pauses, the first and the longest."""

MOST_HELD: Final = 5_000


class Holding(Generic[Work]):
    """The inputs that wait, and the task that tries the disk. `changed` is called when it takes nothing, and again."""

    def __init__(self, journal: Journal, changed: Callable[[], None]) -> None:
        self._journal = journal
        self._changed = changed
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
        """An input waits, the last of all or (tried and not stored) the first; the oldest goes where too many wait."""
        if first:
            self._held.appendleft(work)
        else:
            self._held.append(work)
        if len(self._held) > MOST_HELD:
            self._held.popleft()

    def next(self) -> Work | None:
        """The oldest input that waited, once inputs are taken again."""
        return self._held.popleft() if self._held and not self.on else None

    def close(self) -> None:
        """Try no more."""
        if self._probing is not None:
            self._probing.cancel()

    def _troubled(self) -> None:
        if self._journal.trouble and (self._probing is None or self._probing.done()):
            self._probing = asyncio.create_task(self._probe(), name="try the disk")
        self._changed()

    async def _probe(self) -> None:
        pause = PAUSES_S[0]
        while True:
            await asyncio.sleep(pause)
            if await self._journal.probe():
                return
            pause = min(2 * pause, PAUSES_S[1])


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
