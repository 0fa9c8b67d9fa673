"""The moving parts of the simulated table: how long they take, what must be true before they move, how they fail.

A movement changes the world and tells how it ended. It can be halted; what has begun to fall or to be stacked ends by
itself (a throw, a stack), everything else stops where it is.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.tiles import SEATS
from protocol.serial.messages import (
    LEARNED,
    MOTORS,
    CentreLower,
    CentreRaise,
    DiceOutcome,
    DiceRoll,
    FaultCode,
    Jog,
    Operation,
    Outcome,
    PresentGroup,
    ReadWall,
    RefusalReason,
    Seat,
    SelfTest,
    SortOutcome,
    SortStart,
    SortStop,
    WallOutcome,
    WallsLower,
    WallsRaise,
)
from protocol.serial.vocabulary import DealingAid, DiceAbility
from simulators.assumptions import Assumptions
from simulators.pace import Pace
from simulators.world import Throw, World

LEARN_FROM = 8
"""Recent cycles that a movement's usual time is the mean of."""

VERBS: Mapping[type[Operation], str] = {
    CentreRaise: "centre_raise",
    CentreLower: "centre_lower",
    WallsRaise: "walls_raise",
    WallsLower: "walls_lower",
    SortStart: "sort",
    SortStop: "sort_stop",
    DiceRoll: "dice_roll",
    PresentGroup: "present_group",
    ReadWall: "read_wall",
    Jog: "jog",
    SelfTest: "self_test",
}
"""Operation → its word on the command line (`--fail sort:2`)."""

USUAL_FAULT: Mapping[str, FaultCode] = {
    "centre_raise": "centre_limit_missing",
    "centre_lower": "centre_limit_missing",
    "walls_raise": "wall_not_home",
    "walls_lower": "wall_not_home",
    "sort": "head_jam",
    "dice_roll": "dice_stuck",
    "present_group": "push_incomplete",
    "read_wall": "reader_blind",
    "jog": "motor_stall",
    "self_test": "eye_dirty",
}
"""How a movement fails unless another fault is asked for."""


WEAR: Mapping[str, tuple[tuple[str, FaultCode], ...]] = {
    "sort": (
        ("sort_timeout", "sort_timeout"),
        ("stuck_last_tile", "sort_timeout"),
        ("head_jam", "head_jam"),
        ("eye_dirty", "eye_dirty"),
        ("single_tile_push", "single_tile_push"),
        ("motor_overheat", "motor_overheat"),
    ),
    "walls_raise": (("wall_not_home", "wall_not_home"),),
    "centre_raise": (("centre_limit_missing", "centre_limit_missing"),),
}
"""What goes wrong now and then: verb → the assumed rates, and the fault that each shows as."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The `nth` operation of a verb (from 1) fails once with this fault."""

    verb: str
    nth: int
    fault: FaultCode


@dataclass(frozen=True, slots=True)
class Ending:
    """How an operation ended: outcome, fault and its side, and what it found, packed."""

    outcome: Outcome
    fault: FaultCode | Literal[""] = ""
    side: Seat = ""
    values: bytes = b""


@dataclass(frozen=True, slots=True)
class Build:
    """How this table is built: who throws and reads the dice, who deals, and whether it reads tiles."""

    dice: DiceAbility = "read"
    aid: DealingAid = "guide"
    readers: bool = False


Progress = Callable[[tuple[int, int, int, int], int], None]


class Mechanisms:
    """The motors of one table: `failures` still to come, and `wear` times the assumed rates of faults."""

    def __init__(
        self,
        world: World,
        build: Build,
        assumptions: Assumptions,
        pace: Pace,
        failures: Sequence[Failure] = (),
        wear: float = 0.0,
    ) -> None:
        self.world = world
        self.build = build
        self.pace = pace
        self.running: Counter[str] = Counter()
        self.sorting_set = 0
        self.lid_open = False
        self.service = False
        self.gear: tuple[int, tuple[int, int, int, int]] = (0, (0, 0, 0, 0))
        self.cycles = 0
        self.motor_seconds = [0.0] * len(MOTORS)
        self._assumptions = assumptions
        self._faulty = list(failures)
        self._wear = wear
        self._counts: Counter[str] = Counter()
        self._samples: Counter[str] = Counter()
        self._learned: dict[str, deque[float]] = {name: deque(maxlen=LEARN_FROM) for name in LEARNED}
        self._sort_halt: asyncio.Event | None = None
        self._spin: asyncio.Task[tuple[Throw, float]] | None = None

    # --- before ---------------------------------------------------------------------------------------------------

    def refusal(self, operation: Operation) -> RefusalReason | None:
        """Why an operation may not begin now: the interlocks, what is busy, what this table has not; None if it may."""
        verb = VERBS[type(operation)]
        if self.lid_open and verb not in ("read_wall", "sort_stop"):
            return "interlock"
        if self.running[verb] and verb != "read_wall":
            return "busy"
        match operation:
            case CentreRaise() | CentreLower():
                if self.running["centre_raise"] or self.running["centre_lower"]:
                    return "busy"
                return "interlock" if self.world.lifts != "down" or self.sorting_set else None
            case WallsRaise(set_no=set_no):
                return self._walls_refusal(set_no)
            case WallsLower():
                return "busy" if self.running["walls_raise"] else self._unless(self.world.centre == "down")
            case SortStart():
                return self._sort_refusal()
            case DiceRoll():
                if self.build.dice == "hand":
                    return "unsupported"
                return "busy" if self.world.spinning else None
            case PresentGroup(side=side, first=first):
                if self.build.aid != "present":
                    return "unsupported"
                return None if 2 * first < len(self.world.walls[side]) else "bad_argument"
            case ReadWall():
                return None if self.build.readers else "unsupported"
            case Jog() | SelfTest():
                return None if self.service else "service_mode"
            case SortStop():
                return None

    def set_gear(self, tiles: int, stacks: tuple[int, int, int, int]) -> RefusalReason | None:
        """Take another gear; the reason when it cannot be taken."""
        if self.sorting_set:
            return "busy"
        if tiles <= 0 or 2 * sum(stacks) != tiles:
            return "bad_argument"
        self.gear = (tiles, stacks)
        return None

    def usual_ms(self, movement: str) -> int:
        """The learned time of a movement in ms, as it would be at speed 1; 0 before the first."""
        samples = self._learned[movement]
        return min(0xFFFF, round(1000 * sum(samples) / len(samples))) if samples else 0

    # --- movements --------------------------------------------------------------------------------------------------

    async def run(self, operation: Operation, halt: asyncio.Event, progress: Progress) -> Ending:
        """Carry an operation out until it ends, fails or is halted."""
        verb = VERBS[type(operation)]
        self.running[verb] += 1
        self._counts[verb] += 1
        try:
            fault = self._due_fault(verb)
            match operation:
                case CentreRaise():
                    return await self._centre("centre_up", "up", halt, fault)
                case CentreLower():
                    return await self._centre("centre_down", "down", halt, fault)
                case WallsRaise(set_no=set_no):
                    return await self._walls_up(set_no, halt, fault)
                case WallsLower():
                    return await self._walls_down(halt, fault)
                case SortStart(set_no=set_no):
                    return await self._sort(set_no, halt, progress, fault)
                case SortStop():
                    if self._sort_halt is not None:
                        self._sort_halt.set()
                    return Ending("done")
                case DiceRoll():
                    return await self._dice(fault)
                case PresentGroup():
                    return await self._present(operation, halt, fault)
                case ReadWall(side=side):
                    await self.pace.sleep(self._time("read_wall"))
                    return Ending("failed", fault, side) if fault else self._read(side)
                case Jog(motor=motor, milliseconds=milliseconds):
                    return await self._jog(motor, milliseconds, halt, fault)
                case SelfTest():
                    await self.pace.sleep(self._time("self_test"))
                    return Ending("failed", fault) if fault else Ending("done")
        finally:
            self.running[verb] -= 1

    async def throw(self) -> tuple[Throw, float]:
        """The dice are thrown and come to rest, whoever waits for them; the throw and its seconds at speed 1."""
        if self._spin is None or self._spin.done():
            self._spin = asyncio.create_task(self._roll())
        return await asyncio.shield(self._spin)

    def forget_running(self) -> None:
        """The board was reset: nothing runs any more, a half-sorted set lies loose inside."""
        self.running.clear()
        self._sort_halt = None
        if self.sorting_set:
            self.world.unstack(self.sorting_set)
            self.sorting_set = 0

    async def _centre(self, movement: str, target: str, halt: asyncio.Event, fault: FaultCode | None) -> Ending:
        if self.world.centre == target:
            return Ending("done")
        self.world.move_centre("moving")
        if not await self._move(movement, halt):
            return Ending("interrupted")
        if fault:
            return Ending("failed", fault)
        self.world.move_centre("up" if target == "up" else "down")
        return Ending("done")

    async def _walls_up(self, set_no: int, halt: asyncio.Event, fault: FaultCode | None) -> Ending:
        self.world.move_lifts("moving")
        if not await self._move("walls_up", halt):
            return Ending("interrupted")
        if fault:
            return Ending("failed", fault, "E")
        if self.world.set_up != set_no:
            self.world.raise_walls(set_no)
        # The stacks are pushed out on to the felt and the lifts return: the centre moves only with them down.
        if not await self._move("walls_down", halt):
            return Ending("interrupted")
        self.world.move_lifts("down")
        return Ending("done")

    async def _walls_down(self, halt: asyncio.Event, fault: FaultCode | None) -> Ending:
        if self.world.lifts == "down":
            return Ending("done")
        self.world.move_lifts("moving")
        if not await self._move("walls_down", halt):
            return Ending("interrupted")
        if fault:
            return Ending("failed", fault, "E")
        self.world.move_lifts("down")
        return Ending("done")

    async def _sort(self, set_no: int, halt: asyncio.Event, progress: Progress, fault: FaultCode | None) -> Ending:
        _, stacks = self.gear
        self.sorting_set, self._sort_halt = set_no, halt
        counted = self.world.sort(set_no, stacks)
        times = self._assumptions.sort
        chance = self._chance("sort", self.world.sorts)
        slow = chance.random() * 1000 < self._wear * self._assumptions.faults_per_1000_cycles.slow_tail
        seconds = times.slow(chance) if slow else times.sample(chance)
        steps = times.progress_least
        if self.pace.speed is not None:
            steps = max(steps, int(seconds / times.progress_every))
        manners = self._chance("ports", self.world.sorts)
        pulls = [manners.uniform(0.5, 0.75) for _ in SEATS]
        stacked = tuple(counted[side] for side in SEATS)
        try:
            for step in range(1, steps + 1):
                going = await self.pace.sleep(seconds / steps, halt)
                self.motor_seconds[self._assumptions.motors["sort"]] += seconds / steps
                jammed = fault is not None and 2 * step > steps
                if not going or jammed:
                    self.world.unstack(set_no)
                    return Ending("failed", fault, "E") if going and fault else Ending("interrupted")
                e, s, w, n = (_risen(count, step / steps, pull) for count, pull in zip(stacked, pulls, strict=True))
                progress((e, s, w, n), round(seconds * step / steps))
        finally:
            self.sorting_set, self._sort_halt = 0, None
        self.cycles += 1
        self._learned["sort"].append(seconds)
        e, s, w, n = stacked
        values = SortOutcome((e, s, w, n)).pack()
        if self.world.inside[set_no]:
            self.world.unstack(set_no)
            return Ending("failed", "gear_mismatch", "", values)
        return Ending("done", values=values)

    async def _dice(self, fault: FaultCode | None) -> Ending:
        throw, seconds = await self.throw()
        if fault:
            return Ending("failed", fault)
        spin_ms = min(0xFFFF, round(seconds * 1000))
        if self.build.dice == "unread":
            return Ending("done", values=DiceOutcome(None, "unread", spin_ms).pack())
        if throw.cocked:
            return Ending("done", values=DiceOutcome(None, "cocked", spin_ms).pack())
        return Ending("done", values=DiceOutcome(throw.dice, "clean", spin_ms).pack())

    async def _roll(self) -> tuple[Throw, float]:
        self.world.spin()
        seconds = self._time("dice")
        await self.pace.sleep(seconds)
        self.motor_seconds[self._assumptions.motors["dice"]] += seconds
        self._learned["dice"].append(seconds)
        return self.world.settle(), seconds

    async def _present(self, group: PresentGroup, halt: asyncio.Event, fault: FaultCode | None) -> Ending:
        if not await self._move("present", halt):
            return Ending("interrupted")
        if fault:
            return Ending("failed", fault, group.side)
        stacks = [f"{group.side}{n + 1}" for n in range(group.first, group.first + group.count)]
        standing = [name for name in self.world.standing(group.side) if name[:-1] in stacks]
        if standing:
            self.world.take(group.to_seat, standing)
        return Ending("done")

    def _read(self, side: str) -> Ending:
        faces = tuple(tile.face for tile in self.world.walls[side] if tile is not None)
        return Ending("done", values=WallOutcome(faces, 100).pack())

    async def _jog(self, motor: int, milliseconds: int, halt: asyncio.Event, fault: FaultCode | None) -> Ending:
        seconds = abs(milliseconds) / 1000
        if not await self.pace.sleep(seconds, halt):
            return Ending("interrupted")
        self.motor_seconds[motor] += seconds
        return Ending("failed", fault) if fault else Ending("done")

    # --- within -------------------------------------------------------------------------------------------------------

    def _walls_refusal(self, set_no: int) -> RefusalReason | None:
        if self.running["walls_lower"]:
            return "busy"
        world = self.world
        if world.set_up == set_no and world.lifts == "moving":
            return None  # the stacks are out, the lifts have not come home: going on after an interruption
        ready = bool(world.stacked[set_no]) and self.sorting_set != set_no
        clear = not any(tile is not None for tiles in world.walls.values() for tile in tiles)
        return self._unless(world.centre == "down" and world.lifts != "up" and ready and clear)

    def _sort_refusal(self) -> RefusalReason | None:
        if self.sorting_set:
            return "busy"
        if not self.gear[0]:
            return "gear"
        return self._unless(self.world.centre == "down")

    @staticmethod
    def _unless(right: bool) -> RefusalReason | None:
        return None if right else "interlock"

    async def _move(self, movement: str, halt: asyncio.Event) -> bool:
        seconds = self._time(movement)
        if not await self.pace.sleep(seconds, halt):
            return False
        self.motor_seconds[self._assumptions.motors[movement]] += seconds
        if movement in self._learned:
            self._learned[movement].append(seconds)
        return True

    def _time(self, movement: str) -> float:
        self._samples[movement] += 1
        return self._assumptions.movements[movement].sample(self._chance(movement, self._samples[movement]))

    def _chance(self, movement: str, nth: int) -> random.Random:
        return random.Random(f"{self.world.seed}/time/{movement}/{nth}")

    def _due_fault(self, verb: str) -> FaultCode | None:
        for failure in self._faulty:
            if failure.verb == verb and failure.nth == self._counts[verb]:
                self._faulty.remove(failure)
                return failure.fault
        return self._worn_fault(verb)

    def _worn_fault(self, verb: str) -> FaultCode | None:
        """What wear brings at this operation, as seed and count will have it."""
        if not self._wear:
            return None
        drawn = 1000 * random.Random(f"{self.world.seed}/fault/{verb}/{self._counts[verb]}").random()
        for rate, fault in WEAR.get(verb, ()):
            drawn -= self._wear * getattr(self._assumptions.faults_per_1000_cycles, rate)
            if drawn < 0:
                return fault
        return None


def _risen(count: int, share: float, pull: float) -> int:
    """Tiles stacked of `count` when this share of the time has passed: quick at first, the last ones slow."""
    return min(count, int(count * share**pull + 1e-9))
