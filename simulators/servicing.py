"""The repairer's side of the simulated board: keys held and let go, jogs that move what sensors see, self-tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Literal

from engine.tiles import SEATS
from protocol.serial.messages import (
    MOTORS,
    MOVING_TESTS,
    SELF_TESTS,
    FaultCode,
    RefusalReason,
    Seat,
    SelfTestOutcome,
)
from simulators.world import World

if TYPE_CHECKING:
    from simulators.pace import Pace

HELD_MS: Final = 3000
"""A service key held this long turns service mode on or off, unless a motor was run meanwhile."""

STEP_S: Final = 0.05
PUSHED_S: Final = 0.5
"""A motor that is jogged against its end for longer stalls."""

TEST_S: Final = 0.3
"""Seconds of one self-test."""

TRAVEL: Final[Mapping[str, float]] = {"centre": 1.2, "walls": 2.0}
"""Seconds of a motor from one end to the other."""

TEST_OF: Final[Mapping[FaultCode, str]] = {
    "brown_out": "supply", "key_stuck": "keys", "centre_limit_missing": "centre_limits", "wall_not_home": "wall_homes",
    "eye_dirty": "eyes", "head_jam": "heads", "single_tile_push": "heads", "dice_stuck": "dice",
    "dice_ambiguous": "dice", "reader_blind": "readers", "motor_overheat": "motors", "motor_stall": "motors",
}  # fmt: skip
"""Which self-test finds a fault that stands."""

Check = tuple[int, FaultCode | Literal[""], Seat]


class Bench:
    """What a repairer does at this table. `sensors` gives what the board's sensors show now."""

    def __init__(self, world: World, pace: Pace) -> None:
        self.world = world
        self.pace = pace
        self.mode = False
        self.held: set[tuple[str, str]] = set()
        """Keys that are held down: which, and at which seat."""
        self.sensors: Callable[[], Mapping[str, bool]] = dict
        self.standing: Callable[[], Mapping[tuple[FaultCode, Seat], object]] = dict
        self._ran = False
        self._at: dict[str, float] = {}

    @property
    def key_held(self) -> bool:
        """The service key is held down."""
        return any(key == "service" for key, _ in self.held)

    def key_down(self, key: str, seat: str) -> None:
        """A key is pressed and not let go yet."""
        self.held.add((key, seat))

    def key_up(self, key: str, seat: str, held_ms: int) -> None:
        """A key was let go; the service key, held long, turns the mode."""
        self.held.discard((key, seat))
        if key != "service":
            return
        if held_ms >= HELD_MS and not self._ran:
            self.mode = not self.mode
        self._ran = False

    def refusal(self, moves: bool) -> RefusalReason | None:
        """Why nothing of service may begin now."""
        return None if self.mode and (self.key_held or not moves) else "service_mode"

    def test_refusal(self, number: int, readers: bool) -> RefusalReason | None:
        """Why a self-test may not begin now."""
        if number >= len(SELF_TESTS) or (SELF_TESTS[number] == "readers" and not readers):
            return "unsupported"
        return self.refusal(moves(number))

    def keys(self) -> dict[str, bool]:
        """What the keys' bits show."""
        found = {f"seat_key_{seat}": ("seat", seat) in self.held for seat in SEATS}
        found |= {f"{key}_key": any(held == key for held, _ in self.held) for key in ("lift", "dice")}
        return found | {"service_key": self.key_held, "service_mode": self.mode}

    async def jog(
        self, motor: int, milliseconds: int, halt: asyncio.Event, seconds: list[float]
    ) -> tuple[Literal["done", "failed", "interrupted"], FaultCode | Literal[""]]:
        """Run a motor, for so long or until it is halted; what it turns moves, and sensors see that."""
        self._ran = True
        left, way, pushed = abs(milliseconds) / 1000, 1 if milliseconds > 0 else -1, 0.0
        while left > 0:
            step = min(left, STEP_S)
            if not await self.pace.sleep(step, halt):
                return "interrupted", ""
            left -= step
            seconds[motor] += step
            pushed = 0.0 if self._turn(MOTORS[motor], way * step) else pushed + step
            if pushed > PUSHED_S:
                return "failed", "motor_stall"
        return "done", ""

    async def self_test(
        self, number: int, readers: bool, due: FaultCode | None, halt: asyncio.Event
    ) -> tuple[Literal["done", "failed", "interrupted"], FaultCode | Literal[""], Seat, bytes]:
        """One self-test, or all: what each found."""
        named = SELF_TESTS[number]
        wanted = [name for name in SELF_TESTS[1:] if named in ("all", name) and (readers or name != "readers")]
        checks: list[Check] = []
        for name in wanted:
            if not await self.pace.sleep(TEST_S, halt):
                return "interrupted", "", "", b""
            checks += self._checked(SELF_TESTS.index(name), name)
        if due is not None:
            at = SELF_TESTS.index(TEST_OF.get(due, wanted[0]))
            checks = [check for check in checks if check[0] != at] + [(at, due, "")]
        _, fault, side = next((check for check in checks if check[1]), (0, "", ""))
        values = SelfTestOutcome.of(tuple(sorted(checks))).pack()
        return "failed" if fault else "done", fault, side, values

    def _checked(self, number: int, name: str) -> list[Check]:
        found = [(code, side) for code, side in self.standing() if TEST_OF.get(code) == name]
        found += [wrong for wrong in self._seen(name) if wrong not in found]
        return [(number, code, side) for code, side in found] or [(number, "", "")]

    def _seen(self, name: str) -> list[tuple[FaultCode, Seat]]:
        """What the sensors themselves show to be wrong."""
        shown = self.sensors()
        match name:
            case "centre_limits" if not shown["centre_down"] and not shown["centre_up"]:
                return [("centre_limit_missing", "")]
            case "wall_homes" if not shown["walls_down"] and not shown["walls_up"]:
                return [("wall_not_home", "")]
            case "eyes":
                return [("eye_dirty", _seat(side)) for side in SEATS if not shown[f"eye_{side}"]]
            case "heads":
                return [("head_jam", _seat(side)) for side in SEATS if not shown[f"head_{side}"]]
            case "dice" if not shown["dice_still"]:
                return [("dice_stuck", "")]
            case "readers" if not shown["reader_ready"]:
                return [("reader_blind", "")]
        return []

    def _turn(self, motor: str, seconds: float) -> bool:
        """What a motor turns moves on; False where it stands at its end."""
        if motor == "dice":
            # Whatever lay there lies otherwise now, and nobody has thrown.
            self.world.lying = None
            self.world.changed()
        travel = TRAVEL.get(motor)
        if travel is None:
            return True
        before = self._place(motor)
        place = self._at[motor] = min(1.0, max(0.0, before + seconds / travel))
        word: Literal["down", "up", "moving"] = "down" if place == 0 else "up" if place == 1 else "moving"
        if motor == "centre" and word != self.world.centre:
            # Not the end of a cycle: whatever lies on the felt stays where it is.
            self.world.centre = word
            self.world.changed()
        elif motor == "walls" and word != self.world.lifts:
            self.world.move_lifts(word)
        return place != before

    def _place(self, motor: str) -> float:
        """Where it stands: 0 at the lower end, 1 at the upper; where it stopped half-way, as far as it had come."""
        word = self.world.centre if motor == "centre" else self.world.lifts
        return {"down": 0.0, "up": 1.0}.get(word, min(0.99, max(0.01, self._at.get(motor, 0.5))))


def moves(number: int) -> bool:
    """Whether a self-test moves something."""
    return number < len(SELF_TESTS) and SELF_TESTS[number] in MOVING_TESTS


def _seat(side: str) -> Seat:
    return next(seat for seat in ("E", "S", "W", "N") if seat == side)
