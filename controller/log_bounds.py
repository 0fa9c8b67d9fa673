"""The log is bounded: of each kind of line a handful at once, then one every few minutes with how many went untold.

A log that repeated one line for every attempt has filled cards. What lasts is summed up by whoever knows of it
(`controller.repeats`); this is for everything else, libraries too.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog
from structlog.typing import EventDict, WrappedLogger

AT_ONCE: Final = 30
"""Lines of one kind that are written as they come."""

EVERY_S: Final = 120.0
"""One more of them may be written for every so many seconds."""

MOST_KINDS: Final = 512


@dataclass(slots=True)
class _Kind:
    left: float
    at: float
    untold: int = 0


class LogBounds:
    """Counts lines by kind, which is their text before anything is put into it. `now`: monotonic seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._kinds: dict[str, _Kind] = {}

    def untold(self, kind: str) -> int | None:
        """Whether one more line of this kind is written: how many went untold before it, None where it is not."""
        now = self._now()
        known = self._kinds.pop(kind, None) or _Kind(AT_ONCE, now)
        self._kinds[kind] = known
        if len(self._kinds) > MOST_KINDS:
            del self._kinds[next(iter(self._kinds))]
        known.left = min(AT_ONCE, known.left + (now - known.at) / EVERY_S)
        known.at = now
        if known.left < 1:
            known.untold += 1
            return None
        known.left -= 1
        untold, known.untold = known.untold, 0
        return untold

    def processor(self, logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        """For structlog: drops a line too many. Debugging is not bounded."""
        if method == "debug":
            return event
        untold = self.untold(f"{method} {event.get('event', '')}")
        if untold is None:
            raise structlog.DropEvent
        if untold:
            event["untold"] = untold
        return event

    def record(self, record: logging.LogRecord) -> bool:
        """For the loggers of libraries: a filter."""
        untold = self.untold(f"{record.levelno} {record.name} {record.msg}")
        if untold:
            record.msg, record.args = f"{record.getMessage()} ({untold} more like this went untold)", ()
        return untold is not None
