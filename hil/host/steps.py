"""What each step of a script does on a bench, and what it measures."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable
from statistics import median
from typing import Any, Final, get_args

from hil.host import script as s
from hil.host.bench import Bench, Ended
from hil.host.limits import Limits
from hil.host.measure import at_most, failed, fairness, info, passed, share, skipped, times, within
from hil.host.operator import EXERCISE, Absent, Operator, SimulatedHands, Task
from hil.host.record import Measurement, StepRecord
from protocol.serial import messages as serial
from protocol.serial.faults import FAULTS
from protocol.serial.parts import DiceOutcome, SelfTestOutcome, SortOutcome
from protocol.serial.vocabulary import SELF_TESTS, SIDES, DiceQuality

LIMIT_S: Final = {"centre": 8.0, "walls": 10.0, "sort": 60.0, "dice": 15.0, "test": 30.0}
"""When an operation has failed whatever the limits say (docs/faults.md)."""

MEDIAN_OF: Final = 5
"""The median of fewer sorts is judged by nothing: the last tiles of one may take long."""

NONE_MADE: Final = "none was made"

BUSY_S: Final = 0.5
BUSY_TRIES: Final = 120
"""What is busy is asked again so often: a motor that is too hot rests for minutes, and then the step has failed."""


class Steps:
    """Does steps, one after the other, and writes into their records as it goes.

    `speed` is a simulated table's: times are multiplied by it, and judged by nothing where it is None (`max`).
    `tell` is told how far a long step is.
    """

    def __init__(
        self, bench: Bench, limits: Limits, operator: Operator, speed: float | None, tell: Callable[[str], None]
    ) -> None:
        self._bench = bench
        self._limits = limits
        self._operator = operator
        self._speed = speed
        self._tell = tell
        self._do: dict[str, Callable[[Any, StepRecord], Awaitable[None]]] = {
            "dice": self._dice, "sort": self._sort, "centre": self._centre, "walls": self._walls,
            "lamps": self._lamps, "keys": self._keys, "faults": self._faults, "selftest": self._self_test,
        }  # fmt: skip

    async def do(self, step: s.Step, records: list[StepRecord]) -> None:
        """One step, its record appended at once: what was measured stays, however it ends."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        if isinstance(step, s.RepeatStep):
            rounds, first = 0, len(records)
            try:
                while (not step.times or rounds < step.times) and (
                    not step.seconds or loop.time() - began < step.seconds
                ):
                    rounds += 1
                    for inner in step.step:
                        await self.do(inner, records)
            finally:
                self._all_throws(records, first)
            return
        record = StepRecord(do=step.do, words=step.model_dump(mode="json", exclude={"do"}))
        records.append(record)
        try:
            await self._do[step.do](step, record)
        except asyncio.CancelledError:
            # What was not come to is no failure of the board.
            record.measurements = [one for one in record.measurements if one.reason != NONE_MADE]
            record.measurements.append(info("stopped", "before its end"))
            raise
        except Absent as error:
            record.measurements.append(failed(step.do, str(error)))
        except serial.MessageError as error:
            record.measurements.append(failed(step.do, f"a result that keeps no contract: {error}"))
        finally:
            record.seconds = round(loop.time() - began, 3)
            record.judge()

    # --- dice ---------------------------------------------------------------------------------------------------------

    async def _dice(self, step: s.DiceStep, record: StepRecord) -> None:
        ability = self._bench.can.dice
        if ability not in ("read", "unread"):
            record.measurements.append(skipped("dice", f"this table's dice are {ability}"))
            return
        throws: list[tuple[int, int]] = []
        spins: list[float] = []
        endings: Counter[str] = Counter()
        try:
            for number in range(1, step.times + 1):
                ended = await self._patiently(serial.DiceRoll, LIMIT_S["dice"])
                if ended.outcome != "done":
                    endings[ended.words] += 1
                    continue
                outcome = DiceOutcome.unpack(ended.values)
                endings[outcome.quality] += 1
                spins.append(outcome.spin_ms / 1000)
                if outcome.dice is not None:
                    throws.append(outcome.dice)
                if number % 50 == 0:
                    self._tell(f"{number} of {step.times} throws")
        finally:
            record.data = {"throws": ["".join(map(str, throw)) for throw in throws], "spin_s": spins}
            record.measurements += self._dice_found(step.times, endings, throws, spins, ability)

    def _dice_found(
        self, wanted: int, endings: Counter[str], throws: list[tuple[int, int]], spins: list[float], ability: str
    ) -> list[Measurement]:
        limits, made = self._limits.dice, sum(endings.values())
        if not made:
            return [failed("throws", NONE_MADE)]
        found = [info("throws", made, "", "" if made == wanted else f"of {wanted}")]
        wrong = sum(count for words, count in endings.items() if words not in get_args(DiceQuality))
        found.append(share("failed", wrong, made, limits.failed))
        found += [info(f"ended {words}", count) for words, count in sorted(endings.items())]
        found += [share("cocked", endings["cocked"], made, limits.cocked)]
        found += [share("ambiguous", endings["ambiguous"], made, limits.ambiguous)]
        found += times("spin", spins, limits.spin, self._speed is not None or not spins or max(spins) > 0)
        if ability == "unread":
            return [*found, skipped("fairness", "this board does not read its dice")]
        return found + fairness(throws, self._limits.fairness)

    def _all_throws(self, records: list[StepRecord], first: int) -> None:
        """The throws of a repeated step together say what those of one round cannot."""
        told = [text for one in records[first:] if one.do == "dice" for text in one.data.get("throws", ())]
        if not told or sum(one.do == "dice" for one in records[first:]) < 2:
            return
        throws = [(int(text[0]), int(text[1])) for text in told]
        record = StepRecord(do="dice", words={"throws of all rounds": len(throws)})
        record.measurements = fairness(throws, self._limits.fairness)
        record.judge()
        records.append(record)

    # --- sort, centre, walls ------------------------------------------------------------------------------------------

    async def _sort(self, step: s.SortStep, record: StepRecord) -> None:
        await self._set_gear()
        number = step.set or await self._set_inside()
        loop = asyncio.get_running_loop()
        end = loop.time() + step.seconds if step.seconds else None
        sorts = _Sorts()
        try:
            while (not step.cycles or sorts.made < step.cycles) and (end is None or loop.time() < end):
                await self._one_sort(number, sorts)
                self._tell(f"{sorts.made} sorts")
        finally:
            record.data = sorts.data()
            record.measurements += self._sorts_found(sorts)

    async def _one_sort(self, number: int, sorts: _Sorts) -> bool:
        before = self._bench.progress
        ended = await self._patiently(lambda op: serial.SortStart(op, number), LIMIT_S["sort"])
        sorts.made += 1
        if ended.outcome != "done":
            sorts.endings[ended.words] += 1
            return False
        tiles = SortOutcome.unpack(ended.values).tiles
        sorts.tiles.append(tiles)
        sorts.told += self._bench.progress > before
        if ended.seconds is not None:
            sorts.seconds.append(self._at_speed_1(ended.seconds))
        return True

    def _sorts_found(self, sorts: _Sorts) -> list[Measurement]:
        limits, judged = self._limits, self._speed is not None
        if not sorts.made:
            return [failed("sorts", NONE_MADE)]
        room = tuple(2 * stacks for stacks in limits.gear.stacks)
        wrong = [tiles for tiles in sorts.tiles if tiles != room]
        found = [info("sorts", sorts.made)]
        found.append(share("failed sorts", sum(sorts.endings.values()), sorts.made, limits.sorts.failed))
        found += [info(f"ended {words}", count) for words, count in sorted(sorts.endings.items())]
        found.append(share("miscounted", len(wrong), sorts.made, limits.sorts.miscounted))
        for at, side in enumerate(SIDES):
            counts = [tiles[at] for tiles in sorts.tiles]
            if counts:
                span = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)}–{max(counts)}"
                found.append(info(f"tiles at {side}", span, f"of {room[at]}"))
        found += times("sort", sorts.seconds, limits.seconds.sort, judged)
        if judged and len(sorts.seconds) >= MEDIAN_OF:
            found.append(within("sort median", median(sorts.seconds), "s", limits.seconds.sort_median))
        if sorts.tiles:
            silent = len(sorts.tiles) - sorts.told
            found.append(at_most("sorts without a progress report", silent, 0))
        return found

    async def _centre(self, step: s.CentreStep, record: StepRecord) -> None:
        seconds: dict[str, list[float]] = {"centre_raise": [], "centre_lower": []}
        wrong: list[str] = []
        try:
            for number in range(1, step.times + 1):
                await self._stroke("up", seconds, wrong)
                await self._stroke("down", seconds, wrong)
                if number % 10 == 0:
                    self._tell(f"{number} of {step.times} strokes")
        finally:
            record.data = dict(seconds)
            record.measurements += self._centre_found(seconds, wrong)

    async def _stroke(self, to: str, seconds: dict[str, list[float]], wrong: list[str]) -> None:
        kind, verb = (serial.CentreRaise, "centre_raise") if to == "up" else (serial.CentreLower, "centre_lower")
        ended = await self._patiently(kind, LIMIT_S["centre"])
        if ended.outcome != "done":
            wrong.append(f"{verb}: {ended.words}")
            return
        if ended.seconds is not None:
            seconds[verb].append(self._at_speed_1(ended.seconds))
        at = (await self._bench.status()).centre
        if at != to:
            wrong.append(f"{verb}: done, but its switches show {at}")

    def _centre_found(self, seconds: dict[str, list[float]], wrong: list[str]) -> list[Measurement]:
        made = sum(map(len, seconds.values()))
        found = [info("strokes", made)]
        found += [failed(words, f"{count} times") for words, count in Counter(wrong).items()]
        for verb, taken in seconds.items():
            found += times(verb, taken, getattr(self._limits.seconds, verb), self._speed is not None)
        return found if made or wrong else [failed("strokes", NONE_MADE)]

    async def _walls(self, step: s.WallsStep, record: StepRecord) -> None:
        await self._set_gear()
        number = step.set or await self._set_inside()
        sorts, strokes, raised = _Sorts(), dict[str, list[float]](centre_raise=[], centre_lower=[]), list[float]()
        wrong: list[str] = []
        try:
            for at in range(1, step.times + 1):
                await self._one_wall(number, sorts, strokes, raised, wrong)
                self._tell(f"{at} of {step.times} walls")
        finally:
            record.data = {"walls_raise": raised, **strokes, **sorts.data()}
            record.measurements.append(info("walls", len(raised)))
            record.measurements += [failed(words, f"{count} times") for words, count in Counter(wrong).items()]
            limit = self._limits.seconds.walls_raise
            record.measurements += times("walls_raise", raised, limit, self._speed is not None)
            record.measurements += self._sorts_found(sorts)

    async def _one_wall(
        self, number: int, sorts: _Sorts, strokes: dict[str, list[float]], raised: list[float], wrong: list[str]
    ) -> None:
        if not await self._one_sort(number, sorts):
            return
        ended = await self._patiently(lambda op: serial.WallsRaise(op, number), LIMIT_S["walls"])
        if ended.outcome != "done":
            wrong.append(f"walls_raise: {ended.words}")
            return
        raised += [] if ended.seconds is None else [self._at_speed_1(ended.seconds)]
        status = await self._bench.status()
        if status.set_up != number:
            wrong.append(f"walls_raise: done, but set {status.set_up} is told to be up")
        if status.walls != "down":
            wrong.append(f"walls_raise: done, but its lifts are told to be {status.walls}")
        await self._stroke("up", strokes, wrong)
        await self._operator.do(Task("push_in"))
        await self._stroke("down", strokes, wrong)

    # --- lamps, keys --------------------------------------------------------------------------------------------------

    async def _lamps(self, step: s.LampsStep, record: StepRecord) -> None:
        if not self._bench.can.lamps:
            record.measurements.append(skipped("lamps", "this table has none"))
            return
        for colour in step.colours:
            await self._bench.show(*(serial.Lamp(side, 0, step.stacks - 1, colour) for side in SIDES))
            question = f"are all lamps lit in {_COLOURS[colour]}?"
            record.measurements.append(await self._looked(f"lamps {colour}", question))
        await self._bench.show(serial.LampsOff())
        record.measurements.append(await self._looked("lamps off", "are all lamps dark?"))

    async def _looked(self, name: str, question: str) -> Measurement:
        seen = await self._operator.sees(question)
        if seen is None and isinstance(self._operator, SimulatedHands):
            return skipped(name, "simulated hands see no lamps")
        if seen is None:
            return failed(name, "nobody looked")
        return passed(name) if seen else failed(name, f"not so: {question}")

    async def _keys(self, step: s.KeysStep, record: StepRecord) -> None:
        for key in step.keys:
            seat = key if key in SIDES else ""
            before = len(self._bench.keys)
            await self._operator.do(Task("press", "seat" if seat else key, seat))
            wanted = ("seat", seat) if seat else (key, "")

            def pressed(before: int = before, wanted: tuple[str, str] = wanted) -> bool:
                return any(_key(one) == wanted for one in self._bench.keys[before:])

            came = await self._bench.until(pressed, self._limits.waits.operator)
            others = [_named(one) for one in self._bench.keys[before:] if _key(one) != wanted]
            if not came:
                said = f"; told instead: {', '.join(others)}" if others else ""
                late = f"not told within {self._limits.waits.operator:g} s{said}"
                record.measurements.append(failed(f"key {key}", late))
                continue
            held = next(one.pressed_ms for one in self._bench.keys[before:] if _key(one) == wanted)
            record.measurements.append(passed(f"key {key}", f"held {held} ms"))

    # --- faults, self-tests -------------------------------------------------------------------------------------------

    async def _faults(self, step: s.FaultsStep, record: StepRecord) -> None:
        for code in step.codes or self._limits.claims.faults:
            if FAULTS[code].mechanism == "reader" and not self._bench.can.readers:
                record.measurements.append(skipped(code, "this table has no readers"))
                continue
            if FAULTS[code].mechanism == "dice" and self._bench.can.dice != "read" and code == "dice_ambiguous":
                record.measurements.append(skipped(code, "this board does not read its dice"))
                continue
            for side in step.sides if FAULTS[code].sided else ("",):
                record.measurements += await self._one_fault(code, side)
                self._tell(f"{code}{f' {side}' if side else ''}")

    async def _one_fault(self, code: serial.FaultCode, side: str) -> list[Measurement]:
        name = f"{code} {side}".strip()
        here = (code, side)
        if here in self._bench.standing:
            return [failed(f"{name} raised", "it stands before anything was done")]
        raised = await self._fault_after(Task("provoke", code=code, side=side), f"{name} raised", here, True)
        if raised.verdict == "fail":
            with contextlib.suppress(Absent):
                await self._operator.do(Task("undo", code=code, side=side))
            return [raised]
        severity = self._bench.standing[here].severity if here in self._bench.standing else ""
        cleared = await self._fault_after(Task("undo", code=code, side=side), f"{name} cleared", here, False)
        return [raised, info(f"{name} severity", severity), cleared]

    async def _fault_after(self, task: Task, name: str, here: tuple[str, str], stands: bool) -> Measurement:
        """What is told once it was done; its time only of simulated hands: nobody knows when people did it."""
        loop = asyncio.get_running_loop()
        most, person = self._limits.waits.fault, not isinstance(self._operator, SimulatedHands)
        patience = self._limits.waits.operator if person else (most.max or self._limits.waits.operator) + 1
        await self._operator.do(task)
        before, moving = loop.time(), None
        if person and task.code in EXERCISE:
            moving = asyncio.create_task(self._exercise(EXERCISE[task.code]), name="exercise")
            patience += LIMIT_S[EXERCISE[task.code]]
        try:
            if not await self._bench.until(lambda: (here in self._bench.standing) is stands, patience):
                return failed(name, f"not told within {patience:g} s")
            taken = round(loop.time() - before, 3)
        except asyncio.CancelledError:
            if moving is not None:
                moving.cancel()
            raise
        finally:
            if moving is not None and not moving.cancelling():
                await moving
        return passed(name) if person else within(name, taken, "s", most)

    async def _exercise(self, what: str) -> None:
        """Move what a fault shows at; how that ends is the fault's affair."""
        if what == "dice":
            await self._patiently(serial.DiceRoll, LIMIT_S["dice"])
        elif what == "centre":
            await self._patiently(serial.CentreRaise, LIMIT_S["centre"])
            await self._patiently(serial.CentreLower, LIMIT_S["centre"])
        else:
            await self._set_gear()
            number = await self._set_inside()
            await self._patiently(lambda op: serial.SortStart(op, number), LIMIT_S["sort"])
            if what == "walls":
                await self._patiently(lambda op: serial.WallsRaise(op, number), LIMIT_S["walls"])

    async def _self_test(self, step: s.SelfTestStep, record: StepRecord) -> None:
        if not await self._in_service():
            await self._operator.do(Task("service"))
            if not await self._service_comes():
                record.measurements.append(failed("service mode", "the service key did not turn it on"))
                return
        try:
            for test in step.tests:
                record.measurements.append(await self._one_test(test))
        finally:
            await self._bench.show(serial.ServiceEnd())

    async def _one_test(self, test: str) -> Measurement:
        moves = test in serial.MOVING_TESTS
        if moves:
            await self._operator.do(Task("hold", "service"))
            await self._sensor("service_key", self._limits.waits.operator)
        try:
            number = SELF_TESTS.index(test)
            ended = await self._bench.run(lambda op: serial.SelfTest(op, number), LIMIT_S["test"])
        finally:
            if moves:
                await self._operator.do(Task("let_go", "service"))
        if ended == Ended("refused", "unsupported"):
            return skipped(f"self-test {test}", "this board has no such test")
        if ended.outcome == "done":
            return passed(f"self-test {test}")
        bad = [check for check in _checks(ended.values) if check[1]]
        found = ", ".join(f"{SELF_TESTS[at] if at < len(SELF_TESTS) else at}: {' '.join(what)}" for at, *what in bad)
        return failed(f"self-test {test}", found or ended.words)

    async def _in_service(self) -> bool:
        return await self._sensor("service_mode", 0)

    async def _service_comes(self) -> bool:
        return await self._sensor("service_mode", self._limits.waits.operator)

    async def _sensor(self, name: str, seconds: float) -> bool:
        """Whether a sensor's bit is set, at once or within a time."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        bit = 1 << serial.SENSOR_BITS.index(name)
        while not (await self._bench.ask(serial.SensorsQuery, serial.Sensors)).bits & bit:
            if loop.time() >= end:
                return False
            await asyncio.sleep(0.1)
        return True

    # --- within -------------------------------------------------------------------------------------------------------

    async def _patiently(self, make: Callable[[serial.OpId], serial.Operation], limit_s: float) -> Ended:
        """An operation; asked for again while the mechanism is busy."""
        for _ in range(BUSY_TRIES):
            ended = await self._bench.run(make, limit_s)
            if ended != Ended("refused", "busy"):
                break
            await asyncio.sleep(BUSY_S)
        return ended

    async def _set_gear(self) -> None:
        gear = self._limits.gear
        await self._bench.ask(lambda req: serial.SetGear(req, gear.tiles, gear.stacks), serial.GearSet)

    async def _set_inside(self) -> int:
        """The set that lies inside: sorted, or the one that is neither up nor on the felt."""
        status = await self._bench.status()
        if status.sorted_set:
            return status.sorted_set
        felt = [number for number in (1, 2) if status.felt_sets & 1 << (number - 1)]
        return next((number for number in (1, 2) if number not in (status.set_up, *felt)), 1)

    def _at_speed_1(self, seconds: float) -> float:
        return round(seconds * (self._speed or 1.0), 3)


class _Sorts:
    """What sorts have come to."""

    def __init__(self) -> None:
        self.made = 0
        self.told = 0
        self.seconds: list[float] = []
        self.tiles: list[tuple[int, int, int, int]] = []
        self.endings: Counter[str] = Counter()

    def data(self) -> dict[str, Any]:
        """The single values."""
        return {"sort": self.seconds, "tiles": [list(tiles) for tiles in self.tiles]}


_COLOURS: Final = {
    "off": "no colour", "E": "East's colour", "S": "South's colour", "W": "West's colour", "N": "North's colour",
    "gold": "gold", "white": "white",
}  # fmt: skip


def needs_operator(step: s.Step) -> bool:
    """Whether somebody must be at the table for a step."""
    return isinstance(step, s.WallsStep | s.LampsStep | s.KeysStep | s.FaultsStep | s.SelfTestStep)


def _key(one: serial.Key) -> tuple[str, str]:
    return (one.key, one.seat if one.key == "seat" else "")


def _named(one: serial.Key) -> str:
    return " ".join(filter(None, _key(one)))


def _checks(values: bytes) -> tuple[tuple[int, str, str], ...]:
    try:
        return SelfTestOutcome.unpack(values).checks if values else ()
    except serial.MessageError:
        return ()


