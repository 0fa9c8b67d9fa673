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
from protocol.serial.faults import FAULTS
from protocol.serial.messages import (
    LEARNED,
    MOTORS,
    SIDES,
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
from protocol.serial.vocabulary import DealingAid, DiceAbility, Position
from simulators.assumptions import Assumptions
from simulators.pace import Pace
from simulators.servicing import Bench
from simulators.wear import Failure, Wear
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


@dataclass(frozen=True, slots=True)
class Ending:
    """How an operation ended: outcome, fault and its side, what it found, packed; `noticed` are faults beside it."""

    outcome: Outcome
    fault: FaultCode | Literal[""] = ""
    side: Seat = ""
    values: bytes = b""
    noticed: tuple[tuple[FaultCode, Seat], ...] = ()


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
        self.hot = False
        """A motor rests until it has cooled: nothing is sorted."""
        self.vouched = False
        """People have said that the centre is down."""
        self.bench = Bench(world, pace)
        self.gear: tuple[int, tuple[int, int, int, int]] = (0, (0, 0, 0, 0))
        self.cycles = 0
        self.motor_seconds = [0.0] * len(MOTORS)
        self._assumptions = assumptions
        self._wear = Wear(assumptions.faults_per_1000_cycles, world.seed, failures, wear)
        self._counts: Counter[str] = Counter()
        self._samples: Counter[str] = Counter()
        self._learned: dict[str, deque[float]] = {name: deque(maxlen=LEARN_FROM) for name in LEARNED}
        self.slowness: Callable[[str], float] = lambda movement: 1.0
        """By how much a movement's time is multiplied as it begins."""
        self._sort_halt: asyncio.Event | None = None
        self._spin: asyncio.Task[tuple[Throw, float]] | None = None

    @property
    def service(self) -> bool:
        """Whether the board is in service mode."""
        return self.bench.mode

    # --- where things are -----------------------------------------------------------------------------------------

    @property
    def centre(self) -> Position:
        """The centre as its switches show it: `unknown` where it stands at an end and no switch says so."""
        at = self.world.centre
        seen = self._sensors()
        return at if at == "moving" or seen.get(f"centre_{at}", True) else "unknown"

    @property
    def lifts(self) -> Position:
        """The walls' lifts as their switches show them."""
        at = self.world.lifts
        return at if at == "moving" or self._sensors().get(f"walls_{at}", True) else "unknown"

    @property
    def centre_taken_as_down(self) -> bool:
        """Seen down, or by people's word."""
        return self.centre == "down" or (self.vouched and self.centre == "unknown")

    def vouch_centre(self) -> bool:
        """People say that the centre is down; whether that is taken: not where a switch says otherwise."""
        self.vouched = self.centre in ("down", "unknown")
        return self.vouched

    def _sensors(self) -> Mapping[str, bool]:
        return self.bench.sensors()

    # --- before ---------------------------------------------------------------------------------------------------

    def refusal(self, operation: Operation) -> RefusalReason | None:
        """Why an operation may not begin now: the interlocks, what is busy, what this table has not; None if it may."""
        verb = VERBS[type(operation)]
        if self.hot and verb == "sort":
            return "busy"
        if self.lid_open and verb not in ("read_wall", "sort_stop"):
            return "interlock"
        if self.running[verb] and verb != "read_wall":
            return "busy"
        match operation:
            case CentreRaise() | CentreLower():
                if self.running["centre_raise"] or self.running["centre_lower"]:
                    return "busy"
                return "interlock" if self.lifts != "down" or self.sorting_set else None
            case WallsRaise(set_no=set_no):
                return self._walls_refusal(set_no)
            case WallsLower():
                return "busy" if self.running["walls_raise"] else self._unless(self.centre_taken_as_down)
            case SortStart():
                return self._sort_refusal()
            case DiceRoll():
                if self.build.dice in ("software", "hand"):
                    return "unsupported"
                return "busy" if self.world.spinning else None
            case PresentGroup(side=side, first=first):
                if self.build.aid != "present":
                    return "unsupported"
                if not self.centre_taken_as_down:
                    return "interlock"
                return None if 2 * first < len(self.world.walls[side]) else "bad_argument"
            case ReadWall():
                return None if self.build.readers else "unsupported"
            case Jog():
                return self.bench.refusal(moves=True)
            case SelfTest(number=number):
                return self.bench.test_refusal(number, self.build.readers)
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

    def fail_next(self, verb: str, fault: FaultCode) -> None:
        """The next operation of a verb fails once with this fault."""
        self._wear.fail_next(verb, self._counts[verb], fault)

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
            fault = self._wear.due(verb, self._counts[verb])
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
                    outcome, stall = await self.bench.jog(motor, milliseconds, halt, self.motor_seconds)
                    return Ending("failed", fault) if fault and outcome == "done" else Ending(outcome, stall)
                case SelfTest(number=number):
                    return Ending(*await self.bench.self_test(number, self.build.readers, fault, halt))
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
        self.vouched = False
        if self.centre == target:
            return Ending("done")
        if self.world.centre != target:
            self.world.move_centre("moving")
        if not await self._move(movement, halt):
            return Ending("interrupted")
        if fault:
            return self._failed(fault)
        self.world.move_centre("up" if target == "up" else "down")
        # Its drive time is over, and no switch has answered.
        return self._failed("centre_limit_missing") if self.centre == "unknown" else Ending("done")

    async def _walls_up(self, set_no: int, halt: asyncio.Event, fault: FaultCode | None) -> Ending:
        self.world.move_lifts("moving")
        if not await self._move("walls_up", halt):
            return Ending("interrupted")
        if fault:
            return self._failed(fault)
        if self.world.set_up != set_no:
            self.world.raise_walls(set_no)
        # The stacks are pushed out on to the felt and the lifts return: the centre moves only with them down.
        if not await self._move("walls_down", halt):
            return Ending("interrupted")
        self.world.move_lifts("down")
        return self._failed("wall_not_home") if self.lifts == "unknown" else Ending("done")

    async def _walls_down(self, halt: asyncio.Event, fault: FaultCode | None) -> Ending:
        if self.world.lifts == "down":
            return Ending("done")
        self.world.move_lifts("moving")
        if not await self._move("walls_down", halt):
            return Ending("interrupted")
        if fault:
            return self._failed(fault)
        self.world.move_lifts("down")
        return self._failed("wall_not_home") if self.lifts == "unknown" else Ending("done")

    async def _sort(self, set_no: int, halt: asyncio.Event, progress: Progress, fault: FaultCode | None) -> Ending:
        _, stacks = self.gear
        self.sorting_set, self._sort_halt = set_no, halt
        counted = self.world.sort(set_no, stacks)
        times = self._assumptions.sort
        chance = self._chance("sort", self.world.sorts)
        seconds = (times.slow(chance) if self._wear.slow(chance) else times.sample(chance)) * self.slowness("sort")
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
                    # At speed `max` it has cooled by the time that anybody asks again.
                    self.hot = fault == "motor_overheat" and going and self.pace.speed is not None
                    return self._failed(fault) if going and fault else Ending("interrupted")
                e, s, w, n = (_risen(count, step / steps, pull) for count, pull in zip(stacked, pulls, strict=True))
                progress((e, s, w, n), round(seconds * step / steps))
        finally:
            self.sorting_set, self._sort_halt = 0, None
        self.cycles += 1
        self._learned["sort"].append(seconds)
        e, s, w, n = stacked
        values = SortOutcome((e, s, w, n)).pack()
        noticed = self._miscounted(counted, stacks)
        if self.world.inside[set_no]:
            self.world.unstack(set_no)
            return Ending("failed", "gear_mismatch", "", values)
        return Ending("done", values=values, noticed=noticed)

    def _miscounted(self, counted: Mapping[str, int], stacks: Sequence[int]) -> tuple[tuple[FaultCode, Seat], ...]:
        """What the counts of a finished sort say: sides that are short, and that a tile was left out."""
        short: list[tuple[FaultCode, Seat]] = [
            ("side_short", side) for side, room in zip(SIDES, stacks, strict=True) if counted[side] < 2 * room
        ]
        return (*short, ("tile_left_out", "")) if short else ()

    async def cool(self) -> None:
        """The motors rest; that takes minutes."""
        await self.pace.sleep(self._time("cooling"))
        self.hot = False

    async def _dice(self, fault: FaultCode | None) -> Ending:
        throw, seconds = await self.throw()
        spin_ms = min(0xFFFF, round(seconds * 1000))
        if fault == "dice_ambiguous":
            values = DiceOutcome(None, "ambiguous", spin_ms).pack()
            return Ending("done", values=values, noticed=(("dice_ambiguous", ""),))
        if fault:
            return self._failed(fault)
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

    # --- within -------------------------------------------------------------------------------------------------------

    def _failed(self, fault: FaultCode) -> Ending:
        """An operation that failed so; a fault that belongs to a side is at one that seed and count decide."""
        if not FAULTS[fault].sided:
            return Ending("failed", fault)
        number = sum(self._counts.values())
        return Ending("failed", fault, random.Random(f"{self.world.seed}/side/{fault}/{number}").choice(SIDES))

    def _walls_refusal(self, set_no: int) -> RefusalReason | None:
        if self.running["walls_lower"]:
            return "busy"
        world = self.world
        if world.set_up == set_no and world.lifts == "moving":
            return None  # the stacks are out, the lifts have not come home: going on after an interruption
        ready = bool(world.stacked[set_no]) and self.sorting_set != set_no
        clear = not any(tile is not None for tiles in world.walls.values() for tile in tiles)
        return self._unless(self.centre_taken_as_down and world.lifts != "up" and ready and clear)

    def _sort_refusal(self) -> RefusalReason | None:
        if self.sorting_set:
            return "busy"
        if not self.gear[0]:
            return "gear"
        return self._unless(self.centre == "down")

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
        usual = self._assumptions.movements[movement].sample(self._chance(movement, self._samples[movement]))
        return usual * self.slowness(movement)

    def _chance(self, movement: str, nth: int) -> random.Random:
        return random.Random(f"{self.world.seed}/time/{movement}/{nth}")


def _risen(count: int, share: float, pull: float) -> int:
    """Tiles stacked of `count` when this share of the time has passed: quick at first, the last ones slow."""
    return min(count, int(count * share**pull + 1e-9))
