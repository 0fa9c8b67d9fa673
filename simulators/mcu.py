"""The board inside the simulated table: what its firmware answers, remembers and tells by itself."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from dataclasses import dataclass

from engine.tiles import SEATS
from protocol.serial.events import Delivered, LinkEvent, LinkLost
from protocol.serial.messages import (
    LEARNED,
    PROTOCOL,
    SENSOR_BITS,
    SIDES,
    Buzzer,
    Capabilities,
    ClearStop,
    Counters,
    CountersQuery,
    DiceFaces,
    DiceQuery,
    DiceUnasked,
    EmergencyStop,
    FaultCleared,
    FaultCode,
    FaultRaised,
    GearSet,
    Identify,
    Identity,
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
    RowLaid,
    Seat,
    Sensors,
    SensorsQuery,
    SetGear,
    Severity,
    Side,
    Status,
    StatusQuery,
    StopCleared,
    StopLatched,
    TileFlipped,
    Zone,
)
from protocol.serial.operations import OperationMemory
from simulators.felt import ZONES, Happening
from simulators.line import Line
from simulators.mechanisms import VERBS, Ending, Mechanisms
from simulators.port import Port
from simulators.readers import SURE, Readers
from simulators.tasks import cancel_all

FIRMWARE = "sim-1.0"
MODEL = "Kaijin simulated table"
BOOT_SECONDS = 0.3
"""Real seconds from reset to the first frame."""
UNASKED_HELD_MS = 1500
"""A dice key held this long throws without being asked to."""
SERVICE_HELD_MS = 3000
"""A service key held this long turns service mode on or off."""


@dataclass
class Board:
    """What this board is and what outlives its resets."""

    serial_number: str
    nonvolatile: bool = False
    boots: int = 0
    flash: bytes = b""


class Mcu:
    """Answers the host, runs operations at most once, keeps the interlocks, and stops by itself without a host."""

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
        self.counts: Counter[str] = Counter()
        self.lamps: dict[str, dict[int, str]] = {side: {} for side in SEATS}
        self.stop_reason = ""
        self.stop_button = False
        self._line = Line(port, self._on_link, baud)
        self._memory = OperationMemory()
        self._boot_id = 0
        self._identified = False
        self._standing: dict[tuple[FaultCode, Seat], tuple[Severity, str]] = {}
        self._halts: dict[OpId, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def faults(self) -> tuple[tuple[FaultCode, Seat], ...]:
        """The faults that stand, each with its side."""
        return tuple(self._standing)

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
        await cancel_all(tuple(self._tasks))
        self.mechanisms.forget_running()
        await asyncio.sleep(BOOT_SECONDS)
        self._boot()
        self._line.restart()
        self._line.mute(False)

    async def unplug(self, seconds: float) -> str:
        """The adapter drops and returns after so many real seconds under another name, which is given back."""
        await self._line.unplug()
        await asyncio.sleep(seconds)
        return await self._line.open()

    def noticed(self, happening: Happening) -> None:
        """Something happened in the world: sensors and readers see what they can see."""
        match happening.kind:
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
        if (code, side) not in self._standing:
            self._standing[code, side] = (severity, mechanism)
            self._send(FaultRaised(code, severity, mechanism, side))

    def clear_fault(self, code: FaultCode, side: Seat) -> None:
        """A fault goes."""
        if self._standing.pop((code, side), None) is not None:
            self._send(FaultCleared(code, side))

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
            case Identify(req=req):
                self._identify(req)
            case Ping(req=req):
                self._send(Pong(req))
            case StatusQuery(req=req):
                self._send(self._status(req))
            case SetGear(req=req, tiles=tiles, stacks=stacks):
                reason = self.mechanisms.set_gear(tiles, stacks)
                self._send(GearSet(req, reason is None, reason or ""))
            case CountersQuery(req=req):
                self._send(self._counters(req))
            case SensorsQuery(req=req):
                self._send(self._sensors(req))
            case DiceQuery(req=req):
                self._send(self._dice_faces(req))
            case Lamp(side=side, first=first, last=last, colour=colour):
                self.lamps[side].update(dict.fromkeys(range(first, last + 1), colour))
            case LampsOff():
                self.lamps = {side: {} for side in SEATS}
            case Buzzer():
                pass  # counted above; there is nobody to hear it
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
        reason = "latched" if self.stop_reason else self.mechanisms.refusal(operation)
        if reason is not None:
            self.counts["refused_operations"] += 1
            self._send(OpRefused(operation.op, reason))
            return
        accepted = self._memory.begin(operation)
        self._keep()
        self._send(accepted)
        halt = self._halts[operation.op] = asyncio.Event()
        task = asyncio.create_task(self._run(operation, halt))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, operation: Operation, halt: asyncio.Event) -> None:
        op = operation.op
        try:
            ending = await self.mechanisms.run(
                operation, halt, lambda tiles, seconds: self._send(OpProgress(op, tiles, seconds))
            )
        finally:
            self._halts.pop(op, None)
        result = self._memory.finish(op, ending.outcome, ending.fault, ending.side, ending.values)
        self._keep()
        self.counts[f"{VERBS[type(operation)]}_{ending.outcome}"] += 1
        self._tell_fault(VERBS[type(operation)], ending)
        self._send(result)

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
        for (code, side), (severity, mechanism) in self._standing.items():
            self._send(FaultRaised(code, severity, mechanism, side))
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
        stacked = [number for number, sides in world.stacked.items() if sides and number != self.mechanisms.sorting_set]
        running = self._memory.running
        return Status(
            req=req,
            centre=world.centre,
            walls=world.lifts,
            set_up=world.set_up,
            sorted_set=stacked[0] if stacked else 0,
            sorting_set=self.mechanisms.sorting_set,
            felt_sets=world.felt_sets(),
            stop_reason=self.stop_reason,
            running_op=running[0] if running else None,
        )

    def _counters(self, req: int) -> Counters:
        stats = self._line.link.stats
        one, two, three, four, five, six = (round(seconds) for seconds in self.mechanisms.motor_seconds)
        a, b, c, d, e, f = (self.mechanisms.usual_ms(movement) for movement in LEARNED)
        return Counters(
            req=req,
            cycles=self.mechanisms.cycles,
            motor_seconds=(one, two, three, four, five, six),
            learned_ms=(a, b, c, d, e, f),
            frames_in=stats.frames_in,
            frames_out=stats.frames_out,
            retransmits=stats.retransmits,
            bad_frames=sum(stats.errors.values()),
        )

    def _sensors(self, req: int) -> Sensors:
        world = self.world
        true = {
            "lid_closed": not self.mechanisms.lid_open,
            "centre_down": world.centre == "down",
            "centre_up": world.centre == "up",
            "walls_down": world.lifts == "down",
            "walls_up": world.lifts == "up",
            "stop_button": self.stop_button,
            "service_key": self.mechanisms.service,
            "dice_still": not world.spinning,
            "tiles_on_felt": bool(world.felt_sets()),
            "reader_ready": self.mechanisms.build.readers,
            **{f"eye_{side}": True for side in SEATS},
            **{f"head_{side}": True for side in SEATS},
        }
        bits = sum(1 << bit for bit, name in enumerate(SENSOR_BITS) if true.get(name, False))
        current = 120 + 480 * sum(self.mechanisms.running.values())
        return Sensors(req, bits, (24_000, current, 3081, 3131, 930, 930, 930, 930))

    def _dice_faces(self, req: int) -> DiceFaces:
        lying = self.world.lying
        if self.world.spinning:
            return DiceFaces(req, known=False, moving=True)
        if self.mechanisms.build.dice not in ("read", "software") or lying is None or lying.cocked:
            return DiceFaces(req, known=False)
        return DiceFaces(req, known=True, dice=lying.dice)

    # --- keys, stops, faults ------------------------------------------------------------------------------------------

    def _on_key(self, happening: Happening) -> None:
        held = happening.held_ms
        match happening.word:
            case "lift":
                self._send(Key("lift", "", held))
            case "dice" if held >= UNASKED_HELD_MS:
                if not self.stop_reason and not self.world.spinning and self.mechanisms.build.dice != "hand":
                    task = asyncio.create_task(self._unasked())
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
            case "dice":
                self._send(Key("dice", "", held))
            case "seat":
                self._send(Key("seat", _side(happening.seat), held))
            case "service":
                if held >= SERVICE_HELD_MS:
                    self.mechanisms.service = not self.mechanisms.service
                self._send(Key("service", "", held))

    async def _unasked(self) -> None:
        throw, _ = await self.mechanisms.throw()
        self.counts["unasked_throws"] += 1
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

    def _tell_fault(self, verb: str, ending: Ending) -> None:
        if ending.outcome == "failed" and ending.fault:
            self.raise_fault(ending.fault, "fault", verb, ending.side)
        elif ending.outcome == "done":
            for (code, side), (_, mechanism) in tuple(self._standing.items()):
                if mechanism == verb:
                    self.clear_fault(code, side)

    # --- within -------------------------------------------------------------------------------------------------------

    def _boot(self) -> None:
        self.board.boots += 1
        self._boot_id = secrets.randbits(32)
        self._identified = False
        self._halts.clear()
        self._standing.clear()
        self.stop_reason = "stop button" if self.stop_button else ""
        kept = self.board.nonvolatile and self.board.flash
        self._memory = OperationMemory.restore(self.board.flash) if kept else OperationMemory()

    def _keep(self) -> None:
        if self.board.nonvolatile:
            self.board.flash = self._memory.export()

    def _send(self, message: Message) -> None:
        """To a host that has identified itself, or as its first answer."""
        if self._identified:
            self._line.send(message)


def _side(seat: str) -> Side:
    """A seat or side as the wire's word for it."""
    return next(side for side in SIDES if side == seat)
