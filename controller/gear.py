"""The gear of the match in play: the table's board is set to it before it moves anything."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

import structlog

from controller.faults import GEAR_MISMATCH, FaultLedger
from controller.lines import Line, LineLost
from protocol.serial import messages as serial

GEAR_AGAIN_S: Final = 1.0
"""A refused gear is set again after this time."""

QUERY_TIMEOUT_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Gear:
    """How many tiles are played, and the stacks of E, S, W, N."""

    tiles: int
    stacks: tuple[int, int, int, int]


class GearKeeper:
    """Knows the gear that is wanted and the one that the table's board is in."""

    def __init__(self, line: Line, faults: FaultLedger) -> None:
        self._line = line
        self._faults = faults
        self._wanted: Gear | None = None
        self._found: Gear | None = None
        self._lock = asyncio.Lock()
        self._log = structlog.get_logger("gear")

    def want(self, gear: Gear | None) -> None:
        """The gear of the match in play; None without one."""
        if gear != self._wanted:
            self._faults.over(GEAR_MISMATCH)
        self._wanted = gear

    def greeted(self, line: Line, identity: serial.Identity) -> None:
        """A board tells at the handshake which gear it is in."""
        if line is self._line:
            self._found = Gear(identity.gear_tiles, identity.stacks)

    def doubt(self) -> None:
        """The board says that its gear is not right: it is set whatever was known of it."""
        self._found = None

    async def ensure(self, line: Line) -> serial.Identity:
        """This session's board once it is in the match's gear, however long that takes; LineLost when it ends before.

        A board that sorts takes no gear until it is through; any other refusal is told as a fault while it lasts.
        """
        identity = line.identity
        async with self._lock:
            while identity is not None and line.identity is identity and self._differs(line):
                if not await self._set():
                    await line.pause(GEAR_AGAIN_S)
        if identity is None or line.identity is not identity:
            raise LineLost("the session ended")
        return identity

    def _differs(self, line: Line) -> bool:
        return line is self._line and self._wanted is not None and self._found != self._wanted

    async def _set(self) -> bool:
        gear = self._wanted
        if gear is None:
            return True
        answer = await self._line.request(
            lambda req: serial.SetGear(req, gear.tiles, gear.stacks), serial.GearSet, QUERY_TIMEOUT_S
        )
        if answer.accepted:
            self._found = gear
            self._faults.over(GEAR_MISMATCH)
            self._log.info("gear set", gear=gear.tiles, stacks=gear.stacks)
        elif answer.reason != "busy":
            self._log.error("the board refuses the gear", gear=gear.tiles, reason=answer.reason)
            self._faults.find(GEAR_MISMATCH, "gear")
        return answer.accepted
