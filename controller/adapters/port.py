"""A serial port with an adapted board behind it: to a `Line` it is a port at which a board of the contract answers."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import Final

from controller.adapters.board import AdaptedBoard
from controller.recording.port import Opener
from controller.serial_port import SerialPort, open_port
from controller.settings import Settings
from protocol.dialects import Dialect, dialect
from protocol.serial.events import Delivered, LinkEvent, LinkFull, LinkLost
from protocol.serial.link import Link
from protocol.serial.messages import Message

SILENT_AFTER: Final = 3
"""The line is lost once a board has left out so many of its repetitions, and a half."""


def opener_of(settings: Settings, number: int) -> Opener:
    """How the port of this number (from 1) is opened: the first by an adapter where the settings name a dialect."""
    return opener_for(settings.serial.dialect if number == 1 else "", settings.timing.speed)


def opener_for(name: str, speed: float = 1.0) -> Opener:
    """How a port is opened at which this dialect is spoken; the contract where `name` is empty."""
    return Adapter(dialect(name), speed).open if name else open_port


class Adapter:
    """Opens ports at which a dialect is spoken. One to each line: it remembers what was asked over all openings.

    `speed` divides the times of movements, as that of a simulated table does; 1 at a real one.
    """

    def __init__(self, dialect: Dialect, speed: float = 1.0) -> None:
        self.dialect = dialect
        self.board = AdaptedBoard(dialect, secrets.randbits(32), speed)

    async def open(
        self,
        name: str,
        baud: int,
        on_data: Callable[[bytes], None],
        on_lost: Callable[[str], None],
        on_drained: Callable[[], None] = lambda: None,
        timeout: float = 3.0,
    ) -> AdaptedPort:
        """As `open_port`; SerialPortError says why not."""
        port = AdaptedPort(self.dialect, self.board, on_data, on_lost)
        port.carry(await open_port(name, baud, port.received, port.lost, timeout=timeout))
        return port


class AdaptedPort:
    """One opening of the line. Until the board has been heard, whoever writes here is not answered."""

    def __init__(
        self, dialect: Dialect, board: AdaptedBoard, on_data: Callable[[bytes], None], on_lost: Callable[[str], None]
    ) -> None:
        self._board = board
        self._ear = dialect.ear()
        self._silence_s = (SILENT_AFTER + 0.5) * dialect.repeats_s
        self._on_data = on_data
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._link = Link("mcu", lambda: secrets.randbits(32))
        self._unsaid: list[Message] = []
        self._real: SerialPort | None = None
        self._heard_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def carry(self, real: SerialPort) -> None:
        """The port to the board is open."""
        self._real = real
        self._board.say, self._board.put = self._say, real.write

    @property
    def name(self) -> str:
        """The device's name."""
        return "" if self._real is None else self._real.name

    @property
    def alive(self) -> bool:
        """Whether bytes can still come and go."""
        return self._real is not None and self._real.alive

    @property
    def pending(self) -> int:
        """Bytes that wait for the line."""
        return 0 if self._real is None else self._real.pending

    @property
    def bytes_in(self) -> int:
        """Bytes that the board has said."""
        return 0 if self._real is None else self._real.bytes_in

    @property
    def bytes_out(self) -> int:
        """Bytes that the board was told."""
        return 0 if self._real is None else self._real.bytes_out

    def moved(self) -> bool:
        """Whether the name now leads to another device."""
        return self._real is not None and self._real.moved()

    def write(self, data: bytes) -> None:
        """What the daemon's link says."""
        if self.alive and self._board.shown is not None:
            self._handle(self._link.receive(data, self._loop.time()))

    def abort(self) -> None:
        """Let go of the port."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._real is not None and self._real.alive:
            self._board.line_lost()
            self._real.abort()

    # --- the board's line ---------------------------------------------------------------------------------------------

    def received(self, data: bytes) -> None:
        """Bytes of the board."""
        now = self._loop.time()
        for told in self._ear.feed(data):
            self._heard_at = now
            self._board.hear(told, now)
        self._board.junk = self._ear.junk
        self._pump()

    def lost(self, reason: str) -> None:
        """The port has gone."""
        self._board.line_lost()
        if self._timer is not None:
            self._timer.cancel()
        self._on_lost(reason)

    # --- within -------------------------------------------------------------------------------------------------------

    def _say(self, message: Message) -> None:
        if self._link.connected:
            self._unsaid.append(message)

    def _handle(self, events: list[LinkEvent]) -> None:
        for event in events:
            if isinstance(event, Delivered):
                self._board.take(event.message, self._loop.time())
            elif isinstance(event, LinkLost):
                self._unsaid.clear()
                self._board.host_lost()
        self._pump()

    def _pump(self) -> None:
        """Say what is due, and come back when the next thing is."""
        if not self.alive:
            return
        now = self._loop.time()
        while self._unsaid and self._link.connected:
            try:
                self._link.send(self._unsaid[0])
            except LinkFull:
                break
            del self._unsaid[0]
        data = self._link.outgoing(now)
        if data:
            # Not within the writer's own call: it would hear an answer before it has finished asking.
            self._loop.call_soon(self._deliver, data)
        if self._timer is not None:
            self._timer.cancel()
        due = [self._board.next_deadline(), self._link.next_deadline()]
        if self._board.shown is not None:
            due.append(self._heard_at + self._silence_s)
        times = [when for when in due if when is not None]
        self._timer = self._loop.call_at(max(now, min(times)), self._tick) if times else None

    def _deliver(self, data: bytes) -> None:
        if self.alive:
            self._on_data(data)

    def _tick(self) -> None:
        self._timer = None
        now = self._loop.time()
        if self._board.shown is not None and now >= self._heard_at + self._silence_s:
            self.abort()
            self._on_lost("the board has fallen silent")
            return
        self._board.tick(now)
        self._handle(self._link.tick(now))
