"""A board for tests: the MCU's own link and memory on a real pseudo-terminal, one behaviour at a time overridden."""

from __future__ import annotations

import asyncio
import os
import pty
import random
import tty
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from protocol.serial import messages as serial
from protocol.serial.events import Delivered, LinkLost
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
        self.set_up = 0
        self.sorted_set = 0
        self.felt_sets = 0
        self.dice = serial.DiceFaces(0, True, (6, 6))
        self.hold = False
        self.deaf = False
        self.refuse: Callable[[Any], Any] = lambda operation: None
        self.refuse_gear: Any = ""
        self.button_in = False
        self.standing: list[serial.FaultRaised] = []
        self.executed: Counter[str] = Counter()
        self.asked: list[Any] = []
        self.boot_id = 1
        self.serial_number = "T1"
        self.losses: list[str] = []
        self.memory = OperationMemory()
        self._random = random.Random(5)
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
        found = self._values(kind) if values is None else values
        result = self.memory.finish(op, outcome, fault, "", found if outcome == "done" else b"")
        if self._link.connected:
            self._link.send(result)
            self._pump()

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
        self._handle(self._link.receive(data, self._now()))

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
                        req, self.centre, "down", self.set_up, self.sorted_set, 0, self.felt_sets, self.stop_reason,
                        running[0] if running else None,
                    )
                )  # fmt: skip
            case serial.SetGear(req=req, tiles=tiles, stacks=stacks):
                self.asked.append(message)
                if self.refuse_gear:
                    send(serial.GearSet(req, False, self.refuse_gear))
                    return
                self.gear = (tiles, stacks)
                send(serial.GearSet(req, True))
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
        if data:
            os.write(self._master, data)
        deadline = self._link.next_deadline()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if deadline is None else asyncio.get_running_loop().call_at(deadline, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._handle(self._link.tick(self._now()))
