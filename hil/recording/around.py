"""What is around a daemon's core in a replay: a disk that takes its time of then, an outlet that nobody hears."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, Final

from controller.core import Core
from controller.journal import Journal
from controller.live import Live, TableFacts
from engine.ruleset import profiles
from engine.state import State
from hil.clock import LeapingLoop

DISK_S: Final = 2.0
"""How long the disk may take at most."""


class Outlet:
    """Nobody listens."""

    def set_retained(self, topic: str, payload: bytes | None) -> None:
        """Nobody reads it."""

    def publish(self, topic: str, payload: bytes, qos: int = 1) -> None:
        """Nobody hears it."""


class Disk:
    """A journal that has stored something when it had then: what a daemon does meanwhile depends on it."""

    def __init__(self, journal: Journal, loop: LeapingLoop, paced: bool) -> None:
        self._journal = journal
        self._loop = loop
        self._paced = paced
        self._stored = asyncio.Semaphore(0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    def append(self, *given: Any) -> asyncio.Future[Any]:
        """As the journal's own, but not before `stored`."""
        return self._loop.create_task(self._append(self._journal.append(*given)))

    def stored(self) -> None:
        """One transaction more was on the disk then."""
        self._stored.release()

    async def _append(self, commit: asyncio.Future[Any]) -> Any:
        done = await commit
        if self._paced:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(DISK_S):
                    await self._stored.acquire()
        return done


class ReplayCore(Core):
    """Its timers run out when they did then."""

    def _manage_timers(self) -> None:
        pass


def facts(rules: str) -> Callable[[], TableFacts]:
    """What seats are shown of the table; it decides nothing."""
    known = rules if rules in profiles() else profiles()[0]
    return lambda: TableFacts(known, "", "none", "read", "guide", 2, 0)


def undecorated(live: Live, state: State) -> Live:
    """Nothing is shown beside."""
    return live
