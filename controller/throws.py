"""What runs once at most, a throw above all: noted on the disk before it is sent, never sent to who forgot it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

import structlog

from controller.clearance import Clearance
from controller.lines import Line
from controller.operations import WantedOperation
from controller.sent import ONCE, BoardStart, Once, faces, once_key
from engine import inputs
from protocol.serial import messages as serial

LOOK_AGAIN_S: Final = 0.3
QUERY_TIMEOUT_S: Final = 2.0


class OnceNotes(Protocol):
    """The part of the journal that keeps what was sent."""

    @property
    def journal_id(self) -> int: ...

    def meta(self, key: str, default: str = "") -> str: ...

    async def note(self, values: Mapping[str, str | None], *, on_disk: bool = False) -> None: ...


class OnceKeeper:
    """The table's honour: one id runs at most once, whatever happens to board, line and daemon."""

    def __init__(self, notes: OnceNotes, clearance: Clearance) -> None:
        self._notes = notes
        self._clearance = clearance
        self._log = structlog.get_logger("once")

    async def before(
        self, name: str, want: WantedOperation, line: Line, identity: serial.Identity, perhaps_sent: bool
    ) -> inputs.Input | None:
        """How the operation has ended, as far as that can be known; None: it may be sent, and that is noted.

        The note is on the disk before the operation is sent, so one that may have been sent has a note or was lost.
        """
        verb, start = want.verb, BoardStart.of(identity)
        dice = verb == "dice_roll"
        note = Once.parse(self._notes.meta(once_key(verb, name)))
        if note is not None and note.spoilt:
            self._log.critical("the note of an operation cannot be read; it may have been sent", want=name, verb=verb)
            return inputs.OperationUnknown(name)
        if note is not None:
            if note.journal_id == self._notes.journal_id and note.start.remembered_by(identity):
                return None
            return await self._dice_that_lie(name, line, note.lay) if dice else inputs.OperationUnknown(name)
        if perhaps_sent:
            self._log.warning("nobody can know whether this has been done", want=name, verb=verb)
            return inputs.OperationUnknown(name)
        ended = await self._clearance.wait(name, want, line)
        if ended is not None:
            return ended
        lay = faces(await self._dice_at_rest(line)) if dice else ""
        await self._notes.note({once_key(verb, name): str(Once(self._notes.journal_id, start, lay))}, on_disk=True)
        return None

    def noted(self, verb: str, name: str) -> bool:
        """Whether a note of this operation is kept."""
        return verb in ONCE and bool(self._notes.meta(once_key(verb, name)))

    async def forget(self, verb: str, name: str) -> None:
        """The operation's outcome lies in the journal."""
        await self._notes.note({once_key(verb, name): None})

    async def _dice_at_rest(self, line: Line) -> serial.DiceFaces:
        while True:
            lie = await line.request(serial.DiceQuery, serial.DiceFaces, QUERY_TIMEOUT_S)
            if not lie.moving:
                return lie
            await line.pause(LOOK_AGAIN_S)

    async def _dice_that_lie(self, name: str, line: Line, lay_before: str) -> inputs.Input:
        """The faces after a restart; where they lay so before already, the board cannot know whether it threw."""
        lie = await self._dice_at_rest(line)
        self._log.warning("the board restarted with a throw outstanding; its dice are read", want=name, known=lie.known)
        if not lie.known or faces(lie) == lay_before:
            return inputs.OperationUnknown(name)
        return inputs.OperationDone(name, {"dice": list(lie.dice), "quality": "clean", "spin_ms": 0})
