"""The board inside the simulated table: what its firmware answers, remembers and tells by itself."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from engine.tiles import SEATS
from protocol.serial.events import Delivered, LinkEvent, LinkLost
from protocol.serial.link import Link
from protocol.serial.messages import (
    MOTORS,
    PROTOCOL,
    SIDES,
    Buzzer,
    Capabilities,
    CentreVouched,
    ClearStop,
    CountersQuery,
    DiceQuery,
    DiceUnasked,
    EmergencyStop,
    FaultCode,
    GearSet,
    Identify,
    Identity,
    Jog,
    Key,
    Lamp,
    LampsOff,
    Message,
    Operation,
    OpId,
    OpProgress,
    OpRefused,
    Ping,
    Pong,
    RefusalReason,
    RowLaid,
    Seat,
    SelfTest,
    SensorsQuery,
    ServiceEnd,
    SetGear,
    Severity,
    Side,
    Status,
    StatusQuery,
    StopCleared,
    StopLatched,
    TileFlipped,
    VouchCentre,
    Zone,
    protocol_refusal,
)
from protocol.serial.operations import OperationMemory
from simulators.behaviour import Behaviour
from simulators.counting import counters, dice_faces, sensors
from simulators.felt import ZONES, Happening
from simulators.line import Line
from simulators.mechanisms import VERBS, Mechanisms
from simulators.port import Port
from simulators.readers import SURE, Readers
from simulators.servicing import moves
from simulators.standing import Standing
from simulators.tasks import cancel_all

FIRMWARE = "sim-1.0"
MODEL = "Kaijin simulated table"
BOOT_SECONDS = 0.3
"""Real seconds from reset to the first frame."""
UNASKED_HELD_MS = 1500
"""A dice key held this long throws without being asked to."""


@dataclass
class Board:
    """What this board is and what outlives its resets."""

    serial_number: str
    nonvolatile: bool = False
    boots: int = 0
    flash: bytes = b""


class Mcu:
    """Answers the host, runs operations at most once, keeps the interlocks, and stops by itself without a host."""

    # What the board's program is made of; a bad one (simulators.defects) has others.
    link_kind: type[Link] = Link
    memory_kind: type[OperationMemory] = OperationMemory
    mechanisms_kind: type[Mechanisms] = Mechanisms

    def __init__(
        self,
        mechanisms: Mechanisms,
        board: Board,
        port: Port,
        baud: int | None = None,
        readers: Readers | None = None,
    ) -> None:
        self.mechanisms = mechanisms
        self.world = mechanisms.world
        self.readers = readers or Readers(self.world)
        self.board = board
        self.behaviour = Behaviour()
        self.counts: Counter[str] = Counter()
        self.thrown: Counter[OpId] = Counter()
        self.lamps: dict[str, dict[int, str]] = {side: {} for side in SEATS}
        self.stop_reason = ""
        self.stop_button = False
        self._line = Line(port, self._on_link, baud, self.link_kind)
        self._memory = self.memory_kind()
        self._boot_id = 0
        self._identified = False
        self._refused_protocol = False
        self._standing = Standing(self._send)
        self._halts: dict[OpId, asyncio.Event] = {}
        self._service_ops: set[OpId] = set()
        mechanisms.bench.sensors = self._shown
        mechanisms.bench.standing = lambda: self._standing.faults
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def line(self) -> Line:
        """The board's end of the line."""
        return self._line

    @property
    def faults(self) -> tuple[tuple[FaultCode, Seat], ...]:
        """The faults that stand, each with its side."""
        return tuple(self._standing.faults)

    # --- switching on and off -------------------------------------------------------------------------------------

    async def start(self) -> str:
        """Boot and open the line; its name."""
        self._boot()
        return await self._line.open()

    async def stop(self) -> None:
        """Switch off: motors stop, the line closes."""
        self._halt_motors()
        await cancel_all(tuple(self._tasks))
        self._line.close()

    async def reboot(self) -> None:
        """The board resets in whatever it was doing; dice that roll come to rest without it."""
        self._line.mute(True)
        await self._lose_power(BOOT_SECONDS)
        self._line.restart()
        self._line.mute(False)

    async def cut_power(self, seconds: float) -> str:
        """The table is without power for so many real seconds, its adapter with it; the name of the line afterwards."""
        await self._line.unplug()
        await self._lose_power(seconds)
        self._line.restart()
        return await self._line.open()

    async def freeze(self, seconds: float) -> None:
        """The board's program stands still for so many real seconds, then reads all that has come meanwhile at once."""
        self._line.freeze(True)
        await asyncio.sleep(seconds)
        self._line.freeze(False)

    async def unplug(self, seconds: float) -> str:
        """The adapter drops and returns after so many real seconds under another name, which is given back."""
        await self._line.unplug()
        await asyncio.sleep(seconds)
        return await self._line.open()

    def noticed(self, happening: Happening) -> None:
        """Something happened in the world: sensors and readers see what they can see."""
        match happening.kind:
            case "key_down":
                self.mechanisms.bench.key_down(happening.word, happening.seat)
            case "key":
                self._on_key(happening)
            case "zone" if self.mechanisms.build.readers:
                self.readers.changed(happening.seat, happening.word)
                self.send_zone(happening.seat, happening.word)
            case "flip" if self.mechanisms.build.readers:
                self._send(TileFlipped(happening.position, happening.face, SURE))
            case "row" if self.mechanisms.build.readers:
                self._send(RowLaid(_side(happening.seat)))

    def press_stop(self) -> None:
        """The red button is pushed and stays in."""
        self.stop_button = True
        self._latch("stop button")

    def release_stop(self) -> None:
        """The red button is turned out again; the stop stays latched until the host clears it."""
        self.stop_button = False

    def raise_fault(self, code: FaultCode, severity: Severity, mechanism: str, side: Seat) -> None:
        """A fault comes and is told once."""
        self._standing.come(code, severity, mechanism, side)

    def clear_fault(self, code: FaultCode, side: Seat) -> None:
        """A fault goes."""
        if code == "motor_overheat":
            self.mechanisms.hot = False
        self._standing.go(code, side)

    def open_lid(self, opened: bool) -> None:
        """The lid is opened, and everything stops that is not falling already; or it is closed."""
        self.mechanisms.lid_open = opened
        if opened:
            self._standing.come("lid_open", "fault", "lid", "")
            self._halt_motors()
        else:
            self._standing.go("lid_open", "")

    def send_zone(self, seat: str, zone: str) -> None:
        """The readers tell all of a zone."""
        name = next((known for known in ZONES if known == zone), None)
        if name is not None:
            reading = self.readers.read(seat, zone)
            self._send(Zone(_side(seat), name, reading.tiles, reading.confidence))

    # --- the host -------------------------------------------------------------------------------------------------

    def _on_link(self, event: LinkEvent) -> None:
        if isinstance(event, Delivered):
            self._on_message(event.message)
        elif isinstance(event, LinkLost):
            self.counts[f"link_lost_{event.reason}"] += 1
            self._identified = False
            self._halt_motors()

    def _on_message(self, message: Message) -> None:
        self.counts[type(message).__name__] += 1
        match message:
            case Identify(req=req, protocol_min=low, protocol_max=high):
                self._refused_protocol = protocol_refusal(PROTOCOL, low, high) is not None
                self._identify(req)
            case Ping(req=req):
                self._send(Pong(req))
            case StatusQuery(req=req):
                self._send(self._status(req))
            case SetGear(req=req, tiles=tiles, stacks=stacks):
                reason = self.mechanisms.set_gear(tiles, stacks)
                self._send(GearSet(req, reason is None, reason or ""))
            case CountersQuery(req=req):
                self._send(counters(req, self.mechanisms, self._line.link.stats))
            case SensorsQuery(req=req):
                self._send(sensors(req, self._shown(), self.mechanisms.running))
            case VouchCentre(req=req):
                self._send(CentreVouched(req, self.mechanisms.vouch_centre()))
            case DiceQuery(req=req):
                self._send(dice_faces(req, self.mechanisms))
            case Lamp(side=side, first=first, last=last, colour=colour):
                self.lamps[side].update(dict.fromkeys(range(first, last + 1), colour))
            case LampsOff():
                self.lamps = {side: {} for side in SEATS}
            case Buzzer():
                pass  # counted above; there is nobody to hear it
            case ServiceEnd():
                self.mechanisms.bench.mode = False
                self._halt_service()
            case EmergencyStop(reason=reason):
                self._latch(reason)
            case ClearStop(req=req):
                self._clear_stop(req)
            case _ if isinstance(message, Operation):
                self._on_operation(message)

    def _on_operation(self, operation: Operation) -> None:
        known = self._memory.admit(operation)
        if known is not None:
            self.counts["repeated_operations"] += 1
            self._send(known)
            return
        reason = self._refusal(operation)
        if reason is not None:
            self.counts["refused_operations"] += 1
            self._send(OpRefused(operation.op, reason))
            return
        accepted = self._memory.begin(operation)
        self._keep()
        self._send(accepted)
        halt = self._halts[operation.op] = asyncio.Event()
        if isinstance(operation, Jog) or (isinstance(operation, SelfTest) and moves(operation.number)):
            self._service_ops.add(operation.op)
        self._spawn(self._run(operation, halt))

    def _refusal(self, operation: Operation) -> RefusalReason | None:
        if self._refused_protocol:
            return "unsupported"
        return "latched" if self.stop_reason else self.mechanisms.refusal(operation)

    async def _run(self, operation: Operation, halt: asyncio.Event) -> None:
        op, verb = operation.op, VERBS[type(operation)]
        try:
            await self.behaviour.begun(verb)
            if verb == "dice_roll":
                self.thrown[op] += 1
            ending = await self.mechanisms.run(
                operation, halt, lambda tiles, seconds: self._send(OpProgress(op, tiles, seconds))
            )
            ending = await self.behaviour.ended(verb, ending)
        finally:
            self._halts.pop(op, None)
            self._service_ops.discard(op)
        result = self._memory.finish(op, ending.outcome, ending.fault, ending.side, ending.values)
        self._keep()
        self.counts[f"{VERBS[type(operation)]}_{ending.outcome}"] += 1
        if not isinstance(operation, Jog | SelfTest):
            self._standing.ended(verb, ending)
        self._send(result)
        if ending.fault == "motor_overheat":
            self._spawn(self._cool())
        if isinstance(operation, Jog) and MOTORS[operation.motor] == "dice":
            self._send(DiceUnasked(known=False))

    def _identify(self, req: int) -> None:
        build = self.mechanisms.build
        tiles, stacks = self.mechanisms.gear
        self._identified = True
        self._send(
            Identity(
                req=req,
                protocol=PROTOCOL,
                firmware=FIRMWARE,
                model=MODEL,
                serial_number=self.board.serial_number,
                boot_id=self._boot_id,
                capabilities=Capabilities(
                    sensing="full" if build.readers else "none",
                    aid=build.aid,
                    sets=2,
                    dice=build.dice,
                    memory="nonvolatile" if self.board.nonvolatile else "volatile",
                    lamps=True,
                    readers=build.readers,
                    service=self.mechanisms.service,
                ),
                gear_tiles=tiles,
                stacks=stacks,
                last_op=self._memory.last_completed,
                stop_reason=self.stop_reason,
            )
        )
        self._tell_what_stands()

    def _tell_what_stands(self) -> None:
        """A new host learns what sensors and readers see now: it may have missed the changes."""
        self._standing.tell()
        if not self.mechanisms.build.readers:
            return
        for laid in sorted(self.world.rows):
            self._send(RowLaid(_side(laid)))
        for seat in SEATS:
            for zone in ZONES:
                self.send_zone(seat, zone)
        for position in sorted(self.world.flipped):
            self._send(TileFlipped(position, self.world.face_at(position), SURE))

    def _status(self, req: int) -> Status:
        world = self.world
        if self.mechanisms.centre != "unknown":
            self._standing.go("centre_limit_missing", "")
        stacked = [number for number, sides in world.stacked.items() if sides and number != self.mechanisms.sorting_set]
        running = self._memory.running
        return Status(
            req=req,
            centre=self.mechanisms.centre,
            walls=self.mechanisms.lifts,
            set_up=world.set_up,
            sorted_set=stacked[0] if stacked else 0,
            sorting_set=self.mechanisms.sorting_set,
            felt_sets=world.felt_sets(),
            stop_reason=self.stop_reason,
            running_op=running[0] if running else None,
        )

    def _shown(self) -> dict[str, bool]:
        """What every sensor shows now."""
        world = self.world
        true = {
            "lid_closed": not self.mechanisms.lid_open,
            "centre_down": world.centre == "down",
            "centre_up": world.centre == "up",
            "walls_down": world.lifts == "down",
            "walls_up": world.lifts == "up",
            "stop_button": self.stop_button,
            **self.mechanisms.bench.keys(),
            "dice_still": not world.spinning,
            "tiles_on_felt": bool(world.felt_sets()),
            "reader_ready": self.mechanisms.build.readers,
            **{f"eye_{side}": True for side in SEATS},
            **{f"head_{side}": True for side in SEATS},
        }
        return self.behaviour.sensors(true)

    # --- keys, stops, faults ------------------------------------------------------------------------------------------

    def _on_key(self, happening: Happening) -> None:
        held = happening.held_ms
        self.mechanisms.bench.key_up(happening.word, happening.seat, held)
        if happening.word == "service":
            self._halt_service()
        match happening.word:
            case "lift":
                self._send(Key("lift", "", held))
            case "dice" if held >= UNASKED_HELD_MS:
                if not self.stop_reason and not self.world.spinning and self.mechanisms.build.dice != "hand":
                    self._spawn(self._unasked())
            case "dice":
                self._send(Key("dice", "", held))
            case "seat":
                self._send(Key("seat", _side(happening.seat), held))
            case "service":
                self._send(Key("service", "", held))

    async def _unasked(self) -> None:
        self.counts["unasked_throws"] += 1
        throw, _ = await self.mechanisms.throw()
        if self.mechanisms.build.dice == "unread" or throw.cocked:
            self._send(DiceUnasked(known=False))
        else:
            self._send(DiceUnasked(known=True, dice=throw.dice))

    def _latch(self, reason: str) -> None:
        self._halt_motors()
        self.stop_reason = self.stop_reason or reason or "stopped"
        self._send(StopLatched(self.stop_reason))

    def _clear_stop(self, req: int) -> None:
        if self.stop_button:
            self._send(StopLatched(self.stop_reason, req))
            return
        self.stop_reason = ""
        self._send(StopCleared(req))

    def _halt_motors(self) -> None:
        for halt in self._halts.values():
            halt.set()

    def _halt_service(self) -> None:
        """The service key was let go, or service mode is over: what it held going stops."""
        for op in self._service_ops:
            if op in self._halts:
                self._halts[op].set()

    async def _cool(self) -> None:
        """A motor that was too hot rests; nothing of its kind begins meanwhile."""
        await self.mechanisms.cool()
        self.clear_fault("motor_overheat", "")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- within -------------------------------------------------------------------------------------------------------

    async def _lose_power(self, seconds: float) -> None:
        await cancel_all(tuple(self._tasks))
        self.mechanisms.forget_running()
        await asyncio.sleep(seconds)
        self._boot()

    def _boot(self) -> None:
        self.board.boots += 1
        self._boot_id = secrets.randbits(32)
        self._identified = False
        self._halts.clear()
        self._standing.forget()
        self.mechanisms.bench.mode = False
        self.stop_reason = "stop button" if self.stop_button else ""
        kept = self.board.nonvolatile and self.board.flash
        self._memory = self.memory_kind.restore(self.board.flash) if kept else self.memory_kind()

    def _keep(self) -> None:
        if self.board.nonvolatile:
            self.board.flash = self._memory.export()

    def _send(self, message: Message) -> None:
        """To a host that has identified itself, or as its first answer."""
        if self._identified:
            for said in self.behaviour.saying(message):
                self._line.send(said)

    def say(self, message: Message) -> None:
        """Say a message as it is, whatever the behaviour would make of it."""
        if self._identified:
            self._line.send(message)


def _side(seat: str) -> Side:
    """A seat or side as the wire's word for it."""
    return next(side for side in SIDES if side == seat)
