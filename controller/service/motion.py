"""What a repairer sets going: one operation at a time, under ids of its own, and never longer than the key is held.

The board is the first to stop a motor whose key was let go. A board that goes on none the less is stopped by the host.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import structlog

from controller.commands import CommandFailed
from controller.hardware import Hardware
from controller.lines import Line, LineLost
from protocol.serial import messages as serial

JOURNAL_MARK: Final = 0x5E17_1CE0_0000_0001
"""Makes of the journal's id the one that a repairer's operations are under, so that neither pushes the other out."""

LOOK_S: Final = 0.1
KEY_GRACE_S: Final = 0.6
"""So long a board may take to stop a motor whose key was let go."""

OVERDUE_S: Final = 3.0
"""What an operation may take beyond its own time."""

Said = serial.OpAccepted | serial.OpRefused | serial.OpResult
Make = Callable[[serial.OpId], serial.Operation]


@dataclass(frozen=True, slots=True)
class Motion:
    """What is under way: the action, what it moves or tests, and when it will be over, on the loop's clock."""

    action: str
    what: str
    until: float


class Mover:
    """Carries out one operation of service. `key_held()` asks the board whether the service key is down."""

    def __init__(
        self, hardware: Hardware, journal_id: int, epoch: int, key_held: Callable[[], Awaitable[bool]]
    ) -> None:
        self.motion: Motion | None = None
        self._journal = journal_id ^ JOURNAL_MARK
        self._epoch = epoch
        self._key_held = key_held
        self._begun = 0
        self._answers: dict[serial.OpId, asyncio.Queue[Said]] = {}
        self._log = structlog.get_logger("service")
        hardware.on_result = self._heard

    async def run(self, line: Line, make: Make, motion: Motion, needs_key: bool) -> serial.OpResult:
        """Begin an operation and see it end; one at a time.

        CommandFailed with the board's reason, `link_lost`, `not_stopped` or `no_answer`.
        """
        op = self._next()
        answers = self._answers[op] = asyncio.Queue()
        self.motion = motion
        try:
            await line.send(make(op))
            return await self._until_it_ends(line, answers, motion.until + OVERDUE_S, needs_key)
        except LineLost:
            # A board that hears no host stops its motors by itself.
            raise CommandFailed("link_lost") from None
        finally:
            self.motion = None
            del self._answers[op]

    async def _until_it_ends(
        self, line: Line, answers: asyncio.Queue[Said], latest: float, needs_key: bool
    ) -> serial.OpResult:
        loop = asyncio.get_running_loop()
        let_go: float | None = None
        while True:
            try:
                said = await line.while_up(answers.get(), LOOK_S)
            except TimeoutError:
                said = None
            match said:
                case serial.OpResult():
                    return said
                case serial.OpRefused(reason=reason):
                    raise CommandFailed(reason)
            released = needs_key and not await self._key_held()
            let_go = (let_go or loop.time()) if released else None
            if let_go is not None and loop.time() - let_go > KEY_GRACE_S:
                await self._stop(line, "service key let go")
                raise CommandFailed("not_stopped")
            if loop.time() > latest:
                await self._stop(line, "service motion overdue")
                raise CommandFailed("no_answer")

    async def _stop(self, line: Line, reason: str) -> None:
        self._log.error("a board does not end what a repairer set going: emergency stop", reason=reason)
        await line.send(serial.EmergencyStop(reason))

    def _next(self) -> serial.OpId:
        """An id that no start of the daemon has given out: a later epoch sorts behind."""
        self._begun += 1
        step = min(self._begun, 0xFFFF)
        return serial.OpId(self._journal, self._epoch & 0xFFFF_FFFF, step, self._begun - step)

    def _heard(self, said: Said) -> None:
        answers = self._answers.get(said.op)
        if answers is not None:
            answers.put_nowait(said)
