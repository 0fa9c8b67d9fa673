"""A board at the end of a pseudo-terminal that does at once whatever it is asked, and keeps a throw until told."""

from __future__ import annotations

import os
import secrets
import termios
import time
import tty
from pathlib import Path
from typing import Final

from protocol.serial.events import Delivered
from protocol.serial.link import Link
from protocol.serial.messages import (
    PROTOCOL,
    Capabilities,
    DiceFaces,
    DiceOutcome,
    DiceQuery,
    DiceRoll,
    GearSet,
    Identify,
    Identity,
    Key,
    Message,
    OpAccepted,
    Operation,
    OpId,
    OpResult,
    Ping,
    Pong,
    SetGear,
    SortOutcome,
    SortStart,
    Status,
    StatusQuery,
    WallsRaise,
)

_READ: Final = 4096
_SPIN_MS: Final = 3_100


class BenchBoard:
    """The board's side of a serial line. One set lies sorted inside, the other on the felt.

    Watch `descriptor`; call `read` when it is readable and `tick` when `deadline` has come. What the daemon asks for
    with DiceRoll waits in `throw` for `dice_lie`.
    """

    def __init__(self, link_path: Path) -> None:
        self.descriptor, self._slave = os.openpty()
        tty.setraw(self._slave, termios.TCSANOW)
        os.set_blocking(self.descriptor, False)
        self.path = link_path
        link_path.symlink_to(os.ttyname(self._slave))
        self.throw: OpId | None = None
        self.walls_up = False
        self._link = Link("mcu", lambda: secrets.randbits(32))
        self._stacks: tuple[int, int, int, int] = (0, 0, 0, 0)
        self._tiles = 0
        self._boot = secrets.randbits(32)

    @property
    def deadline(self) -> float | None:
        """When `tick` is due, on the monotonic clock."""
        return self._link.next_deadline()

    def read(self) -> None:
        """Take what has arrived and answer it."""
        try:
            data = os.read(self.descriptor, _READ)
        except (BlockingIOError, OSError):
            return
        self._handle(data)

    def tick(self) -> None:
        """Let time pass."""
        self._link.tick(time.monotonic())
        self._write()

    def press(self, key: str) -> None:
        """Somebody presses `lift` or `dice`."""
        self._link.send(Key("dice" if key == "dice" else "lift", "", 80))
        self._write()

    def dice_lie(self, dice: tuple[int, int] | None) -> float:
        """Tell the outcome of the throw that waits, None for a leaning die; the moment before it is written."""
        op, self.throw = self.throw, None
        if op is None:
            raise RuntimeError("no throw was asked for")
        outcome = DiceOutcome(dice, "clean" if dice else "cocked", _SPIN_MS)
        self._link.send(OpResult(op, "done", "", "", outcome.pack()))
        data = self._link.outgoing(time.monotonic())
        before = time.monotonic()
        os.write(self.descriptor, data)
        return before

    def close(self) -> None:
        """Take the line away."""
        self.path.unlink(missing_ok=True)
        os.close(self.descriptor)
        os.close(self._slave)

    def _handle(self, data: bytes) -> None:
        for event in self._link.receive(data, time.monotonic()):
            if isinstance(event, Delivered):
                for answer in self._answers(event.message):
                    self._link.send(answer)
        self._write()

    def _write(self) -> None:
        data = self._link.outgoing(time.monotonic())
        if data:
            os.write(self.descriptor, data)

    def _answers(self, message: Message) -> list[Message]:
        match message:
            case Identify(req=req):
                return [self._identity(req)]
            case Ping(req=req):
                return [Pong(req)]
            case StatusQuery(req=req):
                return [self._status(req)]
            case SetGear(req=req, tiles=tiles, stacks=stacks):
                self._tiles, self._stacks = tiles, stacks
                return [GearSet(req, True)]
            case DiceQuery(req=req):
                return [DiceFaces(req, known=False)]
            case DiceRoll(op=op):
                self.throw = op
                return [OpAccepted(op)]
            case _ if isinstance(message, Operation):
                self.walls_up = self.walls_up or isinstance(message, WallsRaise)
                return [OpAccepted(message.op), OpResult(message.op, "done", "", "", self._found(message))]
        return []

    def _found(self, operation: Operation) -> bytes:
        if not isinstance(operation, SortStart):
            return b""
        east, south, west, north = (2 * stacks for stacks in self._stacks)
        return SortOutcome((east, south, west, north)).pack()

    def _identity(self, req: int) -> Identity:
        return Identity(
            req=req,
            protocol=PROTOCOL,
            firmware="bench",
            model="bench",
            serial_number="0",
            boot_id=self._boot,
            capabilities=Capabilities(dice="read"),
            gear_tiles=self._tiles,
            stacks=self._stacks,
            last_op=None,
            stop_reason="",
        )

    def _status(self, req: int) -> Status:
        return Status(
            req=req,
            centre="down",
            walls="down",
            set_up=1 if self.walls_up else 0,
            sorted_set=0 if self.walls_up else 1,
            sorting_set=0,
            felt_sets=2,
            stop_reason="",
            running_op=None,
        )
