"""Carries a scenario out at a simulated table: hears of every moment and calls for what is due.

A moment is a kind and a name: `frame_out OpResult`, `ended dice_roll`, `act push_in`, `phase play`, `hand 3`. Chance is
drawn for the moment by its number among those of its kind and name, so nothing depends on what else happened between.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from simulators.pace import Pace
from simulators.scenario.actions import Machine, carry_out
from simulators.scenario.model import Action, Direction, Phase, Scenario, When
from simulators.tasks import cancel_all
from simulators.world import World, WorldError

SECONDS_AT_MAX: Final = 60.0
"""Seconds of table time in a real one at speed `max`, which has no time of its own."""


@dataclass(frozen=True, slots=True)
class Happened:
    """One thing that was ordered: its place in the file (0: a live order), at which moment, and why it was not done."""

    fault: int
    action: str
    moment: str
    at: float
    not_done: str = ""

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


@dataclass(slots=True)
class _Entry:
    place: int
    action: Action
    when: When
    matched: int = 0
    fired: int = 0

    @property
    def spent(self) -> bool:
        return 0 < self.action.count <= self.fired


class Director:
    """Orders what a scenario says, and what comes over the world channel. `told` hears of everything that happens."""

    def __init__(
        self,
        machines: Mapping[str, Machine],
        pace: Pace,
        scenario: Scenario | None = None,
        seed: int | None = None,
        told: Callable[[Happened], None] = lambda happened: None,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.seed = seed if seed is not None else (scenario.seed if scenario is not None else 1)
        self._machines = machines
        self._world = machines["table"].world
        self._factor = SECONDS_AT_MAX if pace.speed is None else pace.speed
        self._told = told
        entries = scenario.at_table if scenario is not None else ()
        self._entries = [_Entry(place, one, one.when or When(at=0.0)) for place, one in entries]
        self._moments: Counter[tuple[str, str]] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._began = 0.0
        self._phase: Phase | None = None
        self._hand = 0
        for machine in machines.values():
            machine.behaviour.moment = self.moment

    @property
    def now(self) -> float:
        """Seconds of table time since the start."""
        return (asyncio.get_running_loop().time() - self._began) * self._factor

    def start(self) -> None:
        """The table is running: time begins."""
        self._began = asyncio.get_running_loop().time()
        entries, self._entries = self._entries, []
        for entry in entries:
            self._await_moment(entry)

    async def stop(self) -> None:
        """Nothing is ordered any more."""
        for machine in self._machines.values():
            machine.close()
        await cancel_all(tuple(self._tasks))

    def changed(self) -> None:
        """The world has changed: perhaps a phase or a hand has begun."""
        if not self._entries:
            return
        world = self._world
        if world.raised != self._hand:
            self._hand = world.raised
            self.moment("hand", str(self._hand))
        now = phase_of(world, self._machines["table"].mcu.mechanisms.sorting_set)
        if now != self._phase:
            self._phase = now
            self.moment("phase", now)

    def moment(self, kind: str, name: str) -> bool:
        """Something has happened; True where something was called for that takes time and begins now."""
        if not self._entries:
            return False
        self._moments[kind, name] += 1
        begun = False
        for entry in self._entries:
            if not entry.spent and self._is_due(entry, kind, name):
                begun = self._fire(entry, f"{kind} {name} {self._moments[kind, name]}") or begun
        return begun

    async def order(self, action: Action) -> None:
        """A live order: done when this returns; with `when` it waits for its moment. WorldError where it cannot be."""
        machine = self._machine(action)
        if action.when is not None:
            self._await_moment(_Entry(0, action, action.when))
            return
        if _name(action) == "heal":
            self._entries = [entry for entry in self._entries if entry.place]
        self.counts[_name(action)] += 1
        self._told(Happened(0, _name(action), "order", round(self.now, 3)))
        work = carry_out(action, machine, f"{self.seed}/order/{self.counts.total()}")
        if work is not None:
            await self._in_turn(machine, work)

    # --- within -------------------------------------------------------------------------------------------------------

    def _await_moment(self, entry: _Entry) -> None:
        self._entries = [one for one in self._entries if one.place or not one.spent]
        self._entries.append(entry)
        if entry.when.frame is not None:
            for machine in self._machines.values():
                machine.wire.passing = self._frame
        if entry.when.at is not None or entry.when.every is not None:
            self._spawn(self._by_clock(entry, self.now if not entry.place else 0.0))

    def _frame(self, direction: Direction, name: str) -> None:
        self.moment(f"frame_{direction}", name)

    def _is_due(self, entry: _Entry, kind: str, name: str) -> bool:
        when = entry.when
        if not _fits(when, kind, name) or not self._holds(when):
            return False
        if when.chance is not None:
            words = (self.seed, entry.place, kind, name, self._moments[kind, name])
            return random.Random("/".join(map(str, words))).random() < when.chance
        entry.matched += 1
        after = entry.matched - when.nth
        each = when.each or (1 if entry.action.count != 1 else 0)
        return after == 0 or (each > 0 and after > 0 and after % each == 0)

    def _fire(self, entry: _Entry, moment: str) -> bool:
        entry.fired += 1
        name = _name(entry.action)
        self.counts[name] += 1
        try:
            machine = self._machine(entry.action)
            work = carry_out(entry.action, machine, f"{self.seed}/{entry.place}/{entry.fired}")
        except WorldError as error:
            self._told(Happened(entry.place, name, moment, round(self.now, 3), str(error)))
            return False
        self._told(Happened(entry.place, name, moment, round(self.now, 3)))
        if work is None:
            return False
        self._spawn(self._in_turn(machine, work))
        return True

    def _machine(self, action: Action) -> Machine:
        if action.board not in self._machines:
            raise WorldError(f"board: this table has no board {action.board}")
        return self._machines[action.board]

    @staticmethod
    async def _in_turn(machine: Machine, work: Coroutine[Any, Any, Any]) -> None:
        async with machine.busy:
            await work

    def _holds(self, when: When) -> bool:
        if when.hand is not None and when.hand != self._world.raised:
            return False
        running = (machine.mcu.mechanisms.running for machine in self._machines.values())
        return when.during is None or any(verbs[when.during] for verbs in running)

    async def _by_clock(self, entry: _Entry, since: float) -> None:
        when = entry.when
        due = since + (when.at if when.at is not None else (when.every or 0.0))
        number = 0
        while not entry.spent:
            await asyncio.sleep(max(0.0, (due - self.now) / self._factor))
            number += 1
            if self._allowed(entry, number):
                self._fire(entry, f"time {due:g}")
            if when.every is None:
                return
            due += when.every

    def _allowed(self, entry: _Entry, number: int) -> bool:
        when = entry.when
        if not self._holds(when):
            return False
        words = (self.seed, entry.place, "time", number)
        return when.chance is None or random.Random("/".join(map(str, words))).random() < when.chance

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def phase_of(world: World, sorting_set: int) -> Phase:
    """What goes on at the table as somebody sees it who looks at it from outside."""
    if world.spinning:
        return "rolling"
    if world.centre != "down":
        return "lift"
    if any(world.discards.values()):
        return "play"
    if world.set_up:
        if world.rounds is not None:
            return "flowers"
        return "taking" if any(world.hands.values()) else "walls"
    return "sorting" if sorting_set else "idle"


def _fits(when: When, kind: str, name: str) -> bool:
    if when.frame is not None:
        return kind == f"frame_{when.frame}" and when.message in ("", name)
    if when.operation is not None:
        return kind == when.point and name == when.operation
    if when.act is not None:
        return kind == "act" and name == when.act
    if when.phase is not None:
        return kind == "phase" and name == when.phase
    return kind == "hand" and when.at is None and when.every is None


def _name(action: Action) -> str:
    return str(action.action)  # type: ignore[attr-defined]
