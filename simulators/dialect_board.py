"""A simulated board that speaks the example dialect: the same machine, told nothing but orders, answering none.

It has no sessions, ids, memory or dead-man: an order that is heard twice is carried out twice, and motors run on when
the host is gone. What it refuses it does not do, and says nothing.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable

from protocol.dialects import Order, Pressed, Shown, Started, Told, Verb
from protocol.dialects.example import ExampleDialect, order_ear, told_bytes
from protocol.serial.events import Delivered, LinkEvent
from protocol.serial.messages import (
    CentreLower,
    CentreRaise,
    DiceRoll,
    EmergencyStop,
    Identify,
    Key,
    Message,
    Operation,
    OpId,
    SetGear,
    SortStart,
    WallsRaise,
)
from simulators.felt import Happening
from simulators.line import Line
from simulators.mcu import Board, Mcu
from simulators.mechanisms import Mechanisms
from simulators.port import Port

WAITING = 256
"""Bytes that wait at most while nobody reads; older ones are lost, as on a wire."""

_MOTORS = ("centre_raise", "centre_lower", "walls_raise", "walls_lower", "sort")


class DialectLine(Line):
    """The board's end of such a line. Every `repeats_s` it says what its sensors show, and at every change.

    `noise`: the chance that a byte is lost or another one, in both directions, by `seed`.
    """

    def __init__(
        self, port: Port, on_event: Callable[[LinkEvent], None], shown: Callable[[], Shown], noise: float, seed: int
    ) -> None:
        super().__init__(port, on_event)
        self.orders: list[Order] = []
        self._ear = order_ear()
        self._shown = shown
        self._said: Shown | None = None
        self._noise = noise
        self._chance = random.Random(f"{seed}/dialect")
        self._bytes: deque[int] = deque(maxlen=WAITING)
        self._number = 0

    async def open(self) -> str:
        """Open the port; its name."""
        name = await super().open()
        self._repeat()
        return name

    def send(self, message: Message) -> None:
        """What of the contract's messages this dialect has words for."""
        if isinstance(message, Key) and message.key != "service":
            self.tell(Pressed(message.key, message.seat if message.key == "seat" else ""))

    def look(self) -> None:
        """Something may have changed that sensors show."""
        if self._shown() != self._said:
            self._show()

    def tell(self, told: Told) -> None:
        """Put it on the line; nobody will say whether it came."""
        if not self._down and self._frozen is None:
            self._bytes.extend(self._spoilt(told_bytes(told)))
            self._pump()

    def restart(self) -> None:
        """The board was reset."""
        self._bytes.clear()
        self._ear = order_ear()

    def mute(self, muted: bool) -> None:
        """While muted the board neither hears nor speaks; then it says that it has started."""
        self._down = muted
        if not muted:
            self.tell(Started())
            self._show()

    def freeze(self, frozen: bool) -> None:
        """While frozen nothing is read or said."""
        waiting, self._frozen = self._frozen, [] if frozen else None
        for data in waiting or ():
            self.received(data)

    def close(self) -> None:
        """Close the port."""
        if self._timer is not None:
            self._timer.cancel()
        self._down = True
        self._port.close()

    def received(self, data: bytes) -> None:
        """Bytes from the host."""
        if self._frozen is not None:
            self._frozen.append(data)
        elif not self._down:
            for order in self._ear.feed(self._spoilt(data)):
                self.orders.append(order)
                self._obey(order)

    def lost(self) -> None:
        """The line was cut: the board does not know."""
        self._bytes.clear()

    def _obey(self, order: Order) -> None:
        self._number += 1
        op = OpId(1, 1, self._number & 0xFFFF, self._number >> 16)
        made: dict[Verb, Callable[[], Message]] = {
            "centre_raise": lambda: CentreRaise(op),
            "centre_lower": lambda: CentreLower(op),
            "walls_raise": lambda: WallsRaise(op, order.arg),
            "sort": lambda: SortStart(op, order.arg),
            "dice_roll": lambda: DiceRoll(op),
            "gear": lambda: SetGear(1, order.arg, _stacks(order.arg)),
            "stop": lambda: EmergencyStop("stopped"),
        }
        self._on_event(Delivered(made[order.verb]()))

    def _repeat(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(ExampleDialect.repeats_s, self._repeat)
        self._show()

    def _show(self) -> None:
        self._said = self._shown()
        self.tell(self._said)

    def _spoilt(self, data: bytes) -> bytes:
        if not self._noise:
            return data
        passed = bytearray()
        for byte in data:
            spoilt = self._chance.random() < self._noise
            if not spoilt:
                passed.append(byte)
            elif self._chance.random() < 0.5:
                passed.append(self._chance.randrange(256))
        return bytes(passed)

    def _pump(self) -> None:
        while self._bytes and not self._down:
            piece = bytes(self._bytes)
            taken = self._port.write(piece)
            for _ in range(taken):
                self._bytes.popleft()
            if taken < len(piece):
                return


class DialectBoard(Mcu):
    """The board: `heard` are the orders that it understood, in their order."""

    def __init__(self, mechanisms: Mechanisms, board: Board, port: Port, noise: float = 0.0, seed: int = 1) -> None:
        super().__init__(mechanisms, board, port)
        self._gate = 2  # set 2 lies on the felt
        self.wire = DialectLine(port, self._on_link, self._as_shown, noise, seed)
        self._line = self.wire

    @property
    def heard(self) -> list[Order]:
        """Orders so far."""
        return self.wire.orders

    async def start(self) -> str:
        """Boot and open the line; its name."""
        name = await super().start()
        self.wire.tell(Started())
        return name

    async def cut_power(self, seconds: float) -> str:
        """The table is without power for so many real seconds; the name of the line afterwards."""
        name = await super().cut_power(seconds)
        self.wire.tell(Started())
        return name

    def noticed(self, happening: Happening) -> None:
        """Something happened in the world."""
        super().noticed(happening)
        if happening.kind in ("tiles", "zone"):
            self.wire.look()

    def press_stop(self) -> None:
        """The red button is pushed and stays in: motors stop."""
        super().press_stop()
        self.wire.look()

    def release_stop(self) -> None:
        """The red button is turned out: whatever is ordered next moves."""
        super().release_stop()
        self.stop_reason = ""
        self.wire.look()

    async def _run(self, operation: Operation, halt: asyncio.Event) -> None:
        await super()._run(operation, halt)
        self.wire.look()

    def _on_message(self, message: Message) -> None:
        super()._on_message(message)
        if isinstance(message, EmergencyStop) and not self.stop_button:
            self.stop_reason = ""  # nothing is latched: the next order moves again
        self.wire.look()

    def _boot(self) -> None:
        super()._boot()
        # It speaks without having been asked who it is.
        super()._on_message(Identify(1, 1, 1, "nobody"))

    def _as_shown(self) -> Shown:
        mechanisms, world = self.mechanisms, self.world
        self._gate = world.set_up or self._gate
        stacked = frozenset(
            number for number, sides in world.stacked.items() if sides and number != mechanisms.sorting_set
        )
        return Shown(
            closed=mechanisms.centre == "down",
            home=mechanisms.lifts == "down",
            button=self.stop_button,
            stacked=stacked,
            out=self._gate,
            busy=any(mechanisms.running[verb] for verb in _MOTORS),
        )


def _stacks(tiles: int) -> tuple[int, int, int, int]:
    """The board's own table of gears (docs/serial.md, section 8)."""
    if tiles == 108:
        return (14, 13, 14, 13)
    if tiles == 148:
        return (19, 18, 19, 18)
    each = tiles // 8
    return (each, each, each, each)
