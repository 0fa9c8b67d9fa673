"""The emergency stop on all boards of a table: latched by any, cleared by people, held until the last is clear."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Final

from controller.lines import Line, LineLost
from engine import inputs
from protocol.serial import messages as serial

CLEAR_AGAIN_S: Final = 1.0
"""A stop that does not clear is cleared again after this time."""

ANSWER_S: Final = 2.0


class StopKeeper:
    """Knows which boards have latched a stop and what the engine holds; tells the one of the other."""

    def __init__(self, lines: Sequence[Line], feed: Callable[[inputs.Input], None], wake: Callable[[], None]) -> None:
        self._lines = tuple(lines)
        self._feed = feed
        self._wake = wake
        self._told = ""
        self._service = False
        self._latched: dict[Line, str] = {}
        self._clearing: asyncio.Task[None] | None = None

    @property
    def holds(self) -> bool:
        """Nothing may be sent that moves: a board has latched, the engine holds a stop, or a repairer has the table."""
        return self._service or bool(self._told) or any(self._latched.values())

    def repairer_has_it(self, service: bool) -> None:
        """Whether a repairer has the table."""
        if self._service != service:
            self._service = service
            self._wake()

    def engine_holds(self, stop: str, clear: bool) -> None:
        """The stop in the engine's state, empty for none, and whether a person has asked to clear it."""
        changed, self._told = stop != self._told, stop
        reason = next(filter(None, self._latched.values()), "")
        if reason and not stop:
            self._feed(inputs.StopLatched(reason))
        if changed:
            self._wake()
        self._keep_clearing(clear)
        if changed and stop and not clear:
            for line in self._lines:
                if line.ready and not self._latched.get(line):
                    self._latch_too(line)

    def greeted(self, line: Line, reason: str) -> None:
        """What a board says of its stop at the handshake. A board that has forgotten one is latched again."""
        self._latched[line] = reason
        if reason and not self._told:
            self._feed(inputs.StopLatched(reason))
        elif self._told and self._clearing is not None:
            self._tell_if_clear()
        elif self._told and not reason:
            self._latch_too(line)

    def _latch_too(self, line: Line) -> None:
        """The stop is on both sides until a person has cleared it, whatever starts anew meanwhile."""
        self._latched[line] = self._told
        line.send_soon([serial.EmergencyStop(self._told)])

    def latched(self, line: Line, reason: str) -> None:
        """A board has latched a stop, or does not let go of it."""
        self._latched[line] = reason
        self._feed(inputs.StopLatched(reason))

    def cleared(self, line: Line) -> None:
        """A board has let go of its stop."""
        self._latched[line] = ""
        self._tell_if_clear()
        self._wake()

    def close(self) -> None:
        """Clear nothing any more."""
        self._keep_clearing(False)

    def _keep_clearing(self, asked: bool) -> None:
        if asked and (self._clearing is None or self._clearing.done()):
            self._clearing = asyncio.create_task(self._clear(), name="clear the stop")
        elif not asked and self._clearing is not None:
            self._clearing.cancel()
            self._clearing = None

    async def _clear(self) -> None:
        """Ask every board that has latched, again and again, until none has, or until nobody asks for it any more."""
        self._tell_if_clear()
        while not self._all_clear():
            for line in self._lines:
                if line.ready and self._latched.get(line):
                    with contextlib.suppress(LineLost):
                        await self._clear_one(line)
            if not self._all_clear():
                await asyncio.sleep(CLEAR_AGAIN_S)

    async def _clear_one(self, line: Line) -> None:
        answer = await line.ask(serial.ClearStop, (serial.StopCleared, serial.StopLatched), ANSWER_S)
        if isinstance(answer, serial.StopLatched):
            self.latched(line, answer.reason)
        else:
            self.cleared(line)

    def _all_clear(self) -> bool:
        """Every board has been heard, and none has latched."""
        return all(self._latched.get(line) == "" for line in self._lines)

    def _tell_if_clear(self) -> None:
        if self._all_clear():
            self._feed(inputs.StopCleared())
