"""A board for tests: the MCU's own link and memory on a real pseudo-terminal, one behaviour at a time overridden."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import random
import tty
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from protocol.serial import messages as serial
from protocol.serial.events import Delivered, LinkLost
from protocol.serial.frames import FrameDecoder, FrameKind
from protocol.serial.link import Link
from protocol.serial.operations import OperationMemory


class Board:
    """Healthy unless told otherwise. `hold` keeps operations running until `finish`; `deaf` boards read nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.capabilities = serial.Capabilities(sensing="full", readers=True)
        self.protocol = serial.PROTOCOL
        self.gear: tuple[int, tuple[int, int, int, int]] = (0, (0, 0, 0, 0))
        self.stop_reason = ""
        self.centre: Any = "down"
        self.vouch = "yes"
        self.set_up = 0
        self.sorted_set = 0
        self.felt_sets = 0
        self.dice = serial.DiceFaces(0, True, (6, 6))
        self.hold = False
        self.deaf = False
        self.refuse: Callable[[Any], Any] = lambda operation: None
        self.on_line: Callable[[bytes], Iterable[bytes]] = lambda data: (data,)
        """What really goes on to the line of what the board says, piece by piece."""
        self.from_line: Callable[[bytes], Iterable[bytes]] = lambda data: (data,)
        """What the board is given of what comes from the line, piece by piece."""
        self.reset_on_open = False
        """Whoever opens the port resets the board, as DTR does on many."""
        self.refuse_gear: Any = ""
        self.button_in = False
        self.shown: set[str] = {"lid_closed", "centre_down", "walls_down", "dice_still"}
        """The sensors whose bits are set."""
        self.values: Any = (24_000, 120, 3081, 3131, 930, 930, 930, 930)
        self.walls: Any = "down"
        self.standing: list[serial.FaultRaised] = []
        self.executed: Counter[str] = Counter()
        self.asked: list[Any] = []
        self.boot_id = 1
        self.serial_number = "T1"
        self.losses: list[str] = []
        self.memory = OperationMemory()
        self._random = random.Random(5)
        self._opened_by = 0
        self._master = self._slave = -1
        self._link = self._new_link()
        self._timer: asyncio.TimerHandle | None = None
        self._changed = asyncio.Event()

    def plug(self) -> None:
        """Appear behind the symlink, under whatever number the system gives."""
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        scratch = self.path.with_name(self.path.name + ".new")
        scratch.unlink(missing_ok=True)
        scratch.symlink_to(os.ttyname(self._slave))
        scratch.replace(self.path)
        asyncio.get_running_loop().add_reader(self._master, self._readable)

    def unplug(self) -> None:
        """The adapter is pulled out."""
        asyncio.get_running_loop().remove_reader(self._master)
        os.close(self._master)
        os.close(self._slave)
        self._master = self._slave = -1
        self.path.unlink(missing_ok=True)
        self._link.line_lost()

    def reboot(self) -> None:
        """Power is cut and comes back: the board has forgotten everything, or what ran is interrupted."""
        self.boot_id += 1
        kept = self.capabilities.memory == "nonvolatile"
        self.memory = OperationMemory.restore(self.memory.export()) if kept else OperationMemory()
        self._link = self._new_link()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._master >= 0:
            self.unplug()

    def say(self, message: Any) -> None:
        """Send something that nobody asked for."""
        self._link.send(message)
        self._pump()

    def latch(self, reason: str) -> None:
        """The red button is pushed: what runs is interrupted, nothing new begins."""
        self.stop_reason = reason
        self._link.send(serial.StopLatched(reason))
        for result in self.memory.interrupt():
            self._link.send(result)
        self._pump()

    def finish(self, values: bytes | None = None, outcome: Any = "done", fault: Any = "") -> None:
        """End the oldest running operation."""
        op = self.memory.running[0]
        kind = next(message for message in self.asked if getattr(message, "op", None) == op)
        if isinstance(kind, serial.SortStart) and outcome == "done":
            self.sorted_set = kind.set_no
        found = self._values(kind) if values is None else values
        result = self.memory.finish(op, outcome, fault, "", found if outcome == "done" or values else b"")
        if self._link.connected:
            self._link.send(result)
            self._pump()

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """Neither read nor say anything meanwhile: a test writes to the line itself."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._master)
        if self._timer is not None:
            self._timer.cancel()
        yield
        loop.add_reader(self._master, self._readable)
        self._tick()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something has come true at the board."""
        async with asyncio.timeout(10):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    def _new_link(self) -> Link:
        return Link("mcu", lambda: self._random.getrandbits(32))

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _readable(self) -> None:
        if self.deaf:
            asyncio.get_running_loop().remove_reader(self._master)
            return
        try:
            data = os.read(self._master, 4096)
        except OSError:
            return
        for piece in self.from_line(data):
            self._resets(piece)
            self._handle(self._link.receive(piece, self._now()))

    def _resets(self, data: bytes) -> None:
        """The first HELLO with a new number shows that the port was opened."""
        for frame in FrameDecoder().feed(data) if self.reset_on_open else ():
            if frame.kind == FrameKind.HELLO and frame.session != self._opened_by:
                self._opened_by = frame.session
                self.reboot()

    def stall(self) -> None:
        """The board stands still: it reads nothing, says nothing and knows nothing of time."""
        asyncio.get_running_loop().remove_reader(self._master)
        if self._timer is not None:
            self._timer.cancel()

    def wake(self) -> None:
        """It goes on, with everything that has come meanwhile before it."""
        asyncio.get_running_loop().add_reader(self._master, self._readable)

    def _handle(self, events: Any) -> None:
        for event in events:
            match event:
                case Delivered(message=message):
                    self._answer(message)
                case LinkLost(reason=reason):
                    self.losses.append(reason)
        self._pump()
        self._changed.set()

    def _answer(self, message: Any) -> None:
        send = self._link.send
        match message:
            case serial.Identify(req=req):
                send(
                    serial.Identity(
                        req, self.protocol, "t-1", "test board", self.serial_number, self.boot_id, self.capabilities,
                        self.gear[0], self.gear[1], self.memory.last_completed, self.stop_reason,
                    )
                )  # fmt: skip
                for fault in self.standing:
                    send(fault)
            case serial.StatusQuery(req=req):
                running = self.memory.running
                send(
                    serial.Status(
                        req, self.centre, self.walls, self.set_up, self.sorted_set, 0, self.felt_sets, self.stop_reason,
                        running[0] if running else None,
                    )
                )  # fmt: skip
            case serial.VouchCentre(req=req):
                self.asked.append(message)
                if self.vouch != "silent":
                    send(serial.CentreVouched(req, self.vouch == "yes"))
            case serial.SetGear(req=req, tiles=tiles, stacks=stacks):
                self.asked.append(message)
                if self.refuse_gear:
                    send(serial.GearSet(req, False, self.refuse_gear))
                    return
                self.gear = (tiles, stacks)
                send(serial.GearSet(req, True))
            case serial.EmergencyStop(reason=reason):
                self.asked.append(message)
                self.latch(self.stop_reason or reason)
            case serial.ClearStop(req=req):
                self.asked.append(message)
                if self.button_in:
                    send(serial.StopLatched(self.stop_reason, req))
                    return
                self.stop_reason = ""
                send(serial.StopCleared(req))
            case serial.DiceQuery(req=req):
                self.asked.append(message)
                send(serial.DiceFaces(req, self.dice.known, self.dice.dice, self.dice.moving))
            case serial.SensorsQuery(req=req):
                bits = sum(1 << bit for bit, name in enumerate(serial.SENSOR_BITS) if name in self.shown)
                send(serial.Sensors(req, bits, self.values))
            case serial.CountersQuery(req=req):
                send(serial.Counters(req, 3, (0,) * 6, (0,) * 6))
            case _ if isinstance(message, serial.OPERATIONS):
                self._operate(message)
            case _:
                self.asked.append(message)

    def _operate(self, operation: Any) -> None:
        answer = self.memory.admit(operation) or self.refuse(operation)
        if answer is None and self.stop_reason:
            answer = serial.OpRefused(operation.op, "latched")
        if answer is not None:
            self._link.send(answer)
            return
        self.asked.append(operation)
        self._link.send(self.memory.begin(operation))
        self.executed[type(operation).__name__] += 1
        if not self.hold:
            self.finish()

    def _values(self, operation: Any) -> bytes:
        match operation:
            case serial.DiceRoll():
                return serial.DiceOutcome((2, 3), "clean", 3000).pack()
            case serial.SortStart():
                return serial.SortOutcome((30, 30, 30, 30)).pack()
            case serial.ReadWall():
                return serial.WallOutcome(("1m", "2m"), 99).pack()
        return b""

    def _pump(self) -> None:
        if self._master < 0:
            return
        data = self._link.outgoing(self._now())
        for piece in self.on_line(data) if data else ():
            os.write(self._master, piece)
        deadline = self._link.next_deadline()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if deadline is None else asyncio.get_running_loop().call_at(deadline, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._handle(self._link.tick(self._now()))
