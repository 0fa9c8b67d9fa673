"""Whether a motion may be sent now: the daemon's interlocks held against what the board says of its mechanisms."""

from __future__ import annotations

from typing import Final

import structlog

from controller.faults import FaultLedger
from controller.interlocks import CENTRE_SEEN, WAITED_FOR, WALLS_DOWN, Condition, Facts, unmet
from controller.lines import Line, LineLost
from controller.operations import WantedOperation, proved_by_status
from controller.stops import StopKeeper
from engine import inputs
from protocol.serial import messages as serial

LOOK_AGAIN_S: Final = 0.3
"""How often mechanisms that are not where they should be are looked at."""

BORNE_S: Final = 3.0
"""Mechanisms at rest that are in the way for so long stay there: the operation has failed."""

QUERY_TIMEOUT_S: Final = 2.0

_BEHIND: Final = {CENTRE_SEEN: "centre_limit_missing", WALLS_DOWN: "wall_not_home"}
"""What is told where a known fault is behind a condition that does not hold."""


class Clearance:
    """Asks before each motion. People close a lid and clear a stop, and a sort ends: for these it waits."""

    def __init__(self, faults: FaultLedger, stops: StopKeeper) -> None:
        self._faults = faults
        self._stops = stops
        self._log = structlog.get_logger("interlocks")

    async def wait(
        self, name: str, want: WantedOperation, line: Line, known: bool = False
    ) -> inputs.Input | None:
        """None once nothing known forbids the motion, else its end without having been sent; LineLost as the session
        ends or a stop is latched.

        `known`: this board was asked before and remembers. Then what stays in the way is no end: the motion may be
        done, which the board answers from memory; one that it has never heard of it refuses itself.
        """
        waited, told = 0.0, ""
        while True:
            self.check_stop()
            status = await line.request(serial.StatusQuery, serial.Status, QUERY_TIMEOUT_S)
            missing = self._unmet(want, status)
            if missing is None:
                self.check_stop()
                return await self._vouch(name, want, line, status)
            if missing != told:
                told = missing
                self._log.info("a motion waits", want=name, verb=want.verb, until=missing)
            if missing not in WAITED_FOR:
                if proved_by_status(want, status):
                    return inputs.OperationDone(name, {})
                if waited >= BORNE_S and known:
                    return None
                if waited >= BORNE_S:
                    return inputs.OperationFailed(name, self._why(missing))
                waited += LOOK_AGAIN_S / (1 if status.running_op is None else 4)
            await line.pause(LOOK_AGAIN_S)

    def refused(self, reason: str) -> str:
        """What a board's refusal is told as: the fault behind it where one is known."""
        return "motor_overheat" if reason == "busy" and self._faults.stands("motor_overheat") else reason

    def check_stop(self) -> None:
        """LineLost where nothing may be sent that moves."""
        if self._stops.holds:
            raise LineLost("a stop is latched, or a repairer has the table")

    def _unmet(self, want: WantedOperation, status: serial.Status) -> Condition | None:
        facts = Facts(
            centre=status.centre,
            walls=status.walls,
            sorted_set=status.sorted_set,
            set_up=status.set_up,
            sorting_set=status.sorting_set,
            lid_closed=not self._faults.stands("lid_open"),
            stop=bool(status.stop_reason),
            by_word=bool(want.params.get("by_word")),
        )
        return unmet(want.verb, facts, want.params.get("set", 0))

    def _why(self, missing: Condition) -> str:
        fault = _BEHIND.get(missing, "")
        return fault if fault and self._faults.stands(fault) else "interlock"

    async def _vouch(
        self, name: str, want: WantedOperation, line: Line, status: serial.Status
    ) -> inputs.Input | None:
        """Where the centre is down by people's word alone the board is told so, before it is asked for the walls."""
        if not want.params.get("by_word") or status.centre == "down":
            return None
        identity = line.identity
        try:
            answer = await line.request(serial.VouchCentre, serial.CentreVouched, QUERY_TIMEOUT_S)
        except LineLost:
            if identity is None or line.identity is not identity:
                raise
            # A board of an earlier contract drops what it does not know, and says nothing.
            return inputs.OperationFailed(name, "centre_limit_missing")
        return None if answer.accepted else inputs.OperationFailed(name, "centre_limit_missing")
