"""What each action of a scenario does to a simulated table.

`carry_out` does at once what can be done at once, so that an action may strike the very frame that called for it; what
takes time is given back as a coroutine.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from protocol.serial.faults import FAULTS
from protocol.serial.messages import FaultCode, Message, OpResult, Seat, Severity
from simulators.behaviour import Behaviour
from simulators.mcu import Mcu
from simulators.mechanisms import USUAL_FAULT, Ending
from simulators.scenario import model as m
from simulators.scenario.wire import DIRECTIONS, FaultyPort, doubled, dropped, flipped, halved, inserted
from simulators.world import Missing, WorldError

UNASKED_MS = 1600
"""A dice key held so long throws by itself."""
FOREIGN_STEP = 60_000
"""Steps that no operation of a hand has."""


@dataclass
class Saying:
    """What happens to the next `left` messages of a name as the board is about to say them."""

    message: str
    left: int
    make: Callable[[Message], Sequence[Message]]


@dataclass
class Ordered(Behaviour):
    """The board's behaviour under orders: what was armed and has not happened yet.

    `moment` hears of what operations and people do; it is true where something was called for that begins now.
    """

    moment: Callable[[str, str], bool] = lambda kind, name: False
    sayings: list[Saying] = field(default_factory=list)
    factors: dict[str, list[float]] = field(default_factory=dict)
    sides: dict[str, list[Seat]] = field(default_factory=dict)
    stuck: dict[str, bool] = field(default_factory=dict)

    def saying(self, message: Message) -> Sequence[Message]:
        """What the board says in the place of a message."""
        name = type(message).__name__
        for one in self.sayings:
            if one.message in ("", name):
                one.left -= 1
                if one.left == 0:
                    self.sayings.remove(one)
                return one.make(message)
        return (message,)

    async def begun(self, verb: str) -> None:
        """An operation is about to move."""
        if self.moment("begun", verb):
            await asyncio.sleep(0)

    async def ended(self, verb: str, ending: Ending) -> Ending:
        """A movement is over, its answer not yet given."""
        sides = self.sides.get(verb)
        if sides and ending.outcome == "failed":
            ending = replace(ending, side=sides.pop(0))
        if self.moment("ended", verb):
            # Whatever was called for begins now, and may end this operation before it is answered.
            await asyncio.sleep(0)
        return ending

    def slowness(self, movement: str) -> float:
        """By how much a movement that begins is slowed down."""
        waiting = self.factors.get(movement)
        return waiting.pop(0) if waiting else 1.0

    def sensors(self, true: dict[str, bool]) -> dict[str, bool]:
        """What sensors show, the stuck ones what they are stuck at."""
        return {**true, **self.stuck}

    def acted(self, act: str, request: Any) -> None:
        """A person has acted."""
        self.moment("act", act)

    def heal(self) -> None:
        """Nothing that was armed happens any more."""
        self.sayings.clear()
        self.factors.clear()
        self.sides.clear()
        self.stuck.clear()


class Machine:
    """The parts of a simulated table that actions reach, and what is still to be undone."""

    def __init__(self, mcu: Mcu, wire: FaultyPort) -> None:
        self.mcu = mcu
        self.world = mcu.world
        self.wire = wire
        self.behaviour = Ordered()
        self.busy = asyncio.Lock()
        """Held by what takes time: a board is not reset while its adapter is out."""
        self._undoing: dict[int, tuple[asyncio.TimerHandle, Callable[[], None]]] = {}
        self._numbers = itertools.count()
        mcu.behaviour = self.behaviour
        mcu.mechanisms.slowness = self.behaviour.slowness

    def later(self, seconds: float, undo: Callable[[], None]) -> None:
        """Do something when so many real seconds have passed, or as soon as everything is healed."""
        number = next(self._numbers)

        def due() -> None:
            del self._undoing[number]
            undo()

        self._undoing[number] = (asyncio.get_running_loop().call_later(seconds, due), undo)

    def heal(self) -> None:
        """Everything that goes on is over: sensors, lid, stop button, line."""
        waiting, self._undoing = self._undoing, {}
        for timer, undo in waiting.values():
            timer.cancel()
            undo()
        self.behaviour.heal()
        self.wire.heal()

    def close(self) -> None:
        """The table is switched off: nothing is undone any more."""
        for timer, _ in self._undoing.values():
            timer.cancel()
        self._undoing.clear()

    def lid(self, opened: bool) -> None:
        """The lid is opened or closed."""
        self.mcu.open_lid(opened)

    def fault(self, code: FaultCode, severity: Severity, side: Seat, seconds: float) -> None:
        """A fault comes, and goes after so many seconds where that is said."""
        self.mcu.raise_fault(code, severity, FAULTS[code].mechanism, side)
        if seconds:
            self.later(seconds, lambda: self.mcu.clear_fault(code, side))


Work = Coroutine[Any, Any, Any]


def carry_out(action: m.Action, machine: Machine, seed: str) -> Work | None:
    """Do it; what takes time is given back to be awaited. WorldError where the table cannot do it."""
    done = _of_bytes(action, machine, seed) or _of_protocol(action, machine) or _of_machine(action, machine, seed)
    if done:
        return None
    return _in_time(action, machine)


def _of_bytes(action: m.Action, machine: Machine, seed: str) -> bool:
    wire = machine.wire
    match action:
        case m.Flip():
            wire.change(action.direction, action.message, action.frames, flipped(action.bits), seed)
        case m.Drop():
            wire.change(action.direction, action.message, action.frames, dropped(action.bytes), seed)
        case m.Insert():
            wire.change(action.direction, action.message, action.frames, inserted(action.bytes), seed)
        case m.Duplicate():
            wire.change(action.direction, action.message, action.frames, doubled, seed)
        case m.Half():
            wire.change(action.direction, action.message, action.frames, halved, seed)
        case m.Delay():
            wire.hold(action.direction, action.seconds)
        case m.Garbage():
            wire.inject(action.direction, action.text.encode() * action.times)
        case m.Noise():
            wire.noise(action.direction, action.rate, action.seconds, seed)
        case m.Echo():
            wire.echo(action.seconds)
        case m.Drip():
            wire.drip(action.direction, action.gap_ms / 1000, action.seconds)
        case m.Silence():
            for direction in DIRECTIONS:
                if action.direction in ("both", direction):
                    wire.mute(direction, action.seconds)
        case m.NakStorm():
            wire.nak_storm(action.naks)
        case m.NoAck():
            wire.no_acknowledgement(action.seconds)
        case m.StopReading():
            wire.pause_reading(True)
            machine.later(action.seconds, lambda: wire.pause_reading(False))
        case _:
            return False
    return True


def _of_protocol(action: m.Action, machine: Machine) -> bool:
    sayings, mcu = machine.behaviour.sayings, machine.mcu
    match action:
        case m.Swallow():
            sayings.append(Saying(action.message, action.messages, lambda message: ()))
        case m.Twice():
            sayings.append(Saying(action.message, action.messages, lambda message: (message, message)))
        case m.Late():
            seconds = action.seconds

            def keep_back(message: Message) -> Sequence[Message]:
                asyncio.get_running_loop().call_later(seconds, mcu.say, message)
                return ()

            sayings.append(Saying(action.message, action.messages, keep_back))
        case m.WrongOp():
            sayings.append(Saying("OpResult", action.messages, _with_a_stranger))
        case _:
            return False
    return True


def _with_a_stranger(message: Message) -> Sequence[Message]:
    if not isinstance(message, OpResult):
        return (message,)
    stranger = replace(message, op=replace(message.op, step=FOREIGN_STEP + message.op.step % 1000))
    return (stranger, message)


def _of_machine(action: m.Action, machine: Machine, seed: str) -> bool:
    mcu, world, behaviour = machine.mcu, machine.world, machine.behaviour
    match action:
        case m.Fail():
            fault = action.fault or USUAL_FAULT.get(action.operation)
            if fault is None:
                raise WorldError(f"fail: {action.operation} has no usual fault; expected one")
            _fail(machine, action.operation, fault, action.side, action.times)
        case m.MixedSets():
            _fail(machine, "sort", "sets_mixed", "", action.times)
        case m.Slow():
            behaviour.factors.setdefault(action.movement, []).extend([action.factor] * action.times)
        case m.StuckSensor():
            behaviour.stuck[action.sensor] = action.on
            if action.seconds:
                machine.later(action.seconds, lambda: _unstick(behaviour, action.sensor))
        case m.FaultComes():
            machine.fault(action.code, action.severity, action.side, action.seconds)
        case m.DirtyEye():
            sensor = f"eye_{action.side}"
            behaviour.stuck[sensor] = False
            machine.fault("eye_dirty", "warning", action.side, action.seconds)
            if action.seconds:
                machine.later(action.seconds, lambda: _unstick(behaviour, sensor))
        case m.ForgottenTile():
            world.missing = [*world.missing, Missing(world.sorts + 1, action.side, action.tiles)]
        case m.WrongGear():
            stacks = action.tiles // 8
            mcu.mechanisms.gear = (action.tiles, (stacks, stacks, stacks, stacks))
        case m.CockedDice():
            world.cocked_next += action.throws
        case m.StopButton():
            mcu.press_stop()
            if action.seconds:
                machine.later(action.seconds, mcu.release_stop)
        case m.Lid():
            machine.lid(True)
            if action.seconds:
                machine.later(action.seconds, lambda: machine.lid(False))
        case m.Misread():
            if not mcu.mechanisms.build.readers:
                raise WorldError("this table has no readers")
            mcu.readers.err(action.seat, action.zone, action.kind, action.tile, action.read_as)
            mcu.send_zone(action.seat, action.zone)
        case m.Press():
            world.press(action.key, action.seat, action.held_ms)
        case m.ThrowUnasked():
            world.press("dice", action.seat, UNASKED_MS)
        case m.Heal():
            machine.heal()
        case m.Mistake():
            raise WorldError("mistake: people err in `kaijin simulate players --scenario`")
        case _:
            return False
    return True


def _fail(machine: Machine, verb: str, fault: FaultCode, side: Seat, times: int) -> None:
    for _ in range(times):
        machine.mcu.mechanisms.fail_next(verb, fault)
    if side:
        machine.behaviour.sides.setdefault(verb, []).extend([side] * times)


def _unstick(behaviour: Ordered, sensor: str) -> None:
    behaviour.stuck.pop(sensor, None)


def _in_time(action: m.Action, machine: Machine) -> Work:
    mcu = machine.mcu
    match action:
        case m.Unplug():
            return mcu.unplug(action.seconds)
        case m.Reboot():
            return mcu.reboot()
        case m.PowerCut():
            return mcu.cut_power(action.seconds)
        case m.Freeze():
            return mcu.freeze(action.seconds)
        case m.BrownOut():
            return _brown_out(mcu, action)
    raise TypeError(f"no such action: {action!r}")


async def _brown_out(mcu: Mcu, action: m.BrownOut) -> None:
    for number in range(action.times):
        if number:
            await asyncio.sleep(action.gap)
        await mcu.reboot()
    if action.told:
        mcu.raise_fault("brown_out", "critical", FAULTS["brown_out"].mechanism, "")
        await asyncio.sleep(action.gap)
        mcu.clear_fault("brown_out", "")
