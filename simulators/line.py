"""The shell around the link on the table's side: port, link and their timer on one event loop."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable

from protocol.serial.events import Delivered, LinkEvent, LinkFull, LinkLost, SessionStarted
from protocol.serial.link import Link
from protocol.serial.messages import Message, Zone
from simulators.port import Port

BITS_A_BYTE = 10
"""8N1: a start and a stop bit around eight."""
SLICE_S = 0.002
"""Seconds' worth of bytes that leave at once where a line's rate is kept."""


class Line:
    """Sends and receives messages as the MCU. `on_event` gets every event of the link.

    `baud` paces what is sent as a real line would; None sends as fast as it is taken. `link_kind` is what
    the board's program makes of the contract of the link.
    """

    def __init__(
        self,
        port: Port,
        on_event: Callable[[LinkEvent], None],
        baud: int | None = None,
        link_kind: type[Link] = Link,
    ) -> None:
        self._port = port
        self._on_event = on_event
        self._baud = baud
        self._link_kind = link_kind
        self._link = self._new_link()
        self._waiting: deque[Message] = deque()
        self._unsent = b""
        self._slice = None if baud is None else max(1, int(SLICE_S * baud / BITS_A_BYTE))
        self._timer: asyncio.TimerHandle | None = None
        self._next_write = 0.0
        self._down = True
        self._frozen: list[bytes] | None = None
        self.thinks: Callable[[], float] = lambda: 0.0
        """Seconds that the board's program takes to come to a message."""
        self._comes_to = 0.0
        self._thinking: list[asyncio.TimerHandle] = []

    @property
    def link(self) -> Link:
        """The link in use: its counts belong to the service pages."""
        return self._link

    async def open(self) -> str:
        """Open the port; its name."""
        name = await self._port.open(self)
        self._down = False
        return name

    async def unplug(self) -> None:
        """Pull the adapter."""
        self._down = True
        self._unsent = b""
        await self._port.unplug()
        self.lost()

    def send(self, message: Message) -> None:
        """Send a message when the link takes it; without a session it is forgotten. Zones say only their latest."""
        if not self._link.connected:
            return
        if isinstance(message, Zone):
            for at, waiting in enumerate(self._waiting):
                if isinstance(waiting, Zone) and (waiting.seat, waiting.zone) == (message.seat, message.zone):
                    del self._waiting[at]
                    break
        self._waiting.append(message)
        self._pump()

    def restart(self) -> None:
        """The board was reset: it knows nothing of a session."""
        self._forget_thoughts()
        self._waiting.clear()
        self._unsent = b""
        self._link = self._new_link()
        self._pump()

    def mute(self, muted: bool) -> None:
        """While muted the board neither hears nor speaks (it is booting, or its program hangs)."""
        self._down = muted
        if not muted:
            self._pump()

    def freeze(self, frozen: bool) -> None:
        """While frozen nothing is read or said and no timer runs; afterwards all that has come is read at once."""
        if frozen:
            self._frozen = []
            return
        waiting, self._frozen = self._frozen, None
        if waiting and not self._down:
            self._handle(self._link.receive(b"".join(waiting), self._now()))
        self._pump()

    def close(self) -> None:
        """Say goodbye and close the port."""
        if self._timer is not None:
            self._timer.cancel()
        self._forget_thoughts()
        self._link.close()
        if not self._down:
            self._port.write(self._link.outgoing(self._now()))
        self._down = True
        self._port.close()

    # --- what the port tells ------------------------------------------------------------------------------------------

    def received(self, data: bytes) -> None:
        """Bytes from the host."""
        if self._frozen is not None:
            self._frozen.append(data)
        elif not self._down:
            self._handle(self._link.receive(data, self._now()))

    def lost(self) -> None:
        """The line was cut or taken over."""
        self._unsent = b""
        self._handle(self._link.line_lost())

    def writable(self) -> None:
        """The port takes bytes again."""
        self._pump()

    # --- within -------------------------------------------------------------------------------------------------------

    def _new_link(self) -> Link:
        return self._link_kind("mcu", lambda: secrets.randbits(32))

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _handle(self, events: list[LinkEvent]) -> None:
        for event in events:
            if isinstance(event, LinkLost | SessionStarted):
                self._waiting.clear()
                self._forget_thoughts()
            if isinstance(event, Delivered) and (seconds := self.thinks()) > 0:
                self._think(event, seconds)
            else:
                self._on_event(event)
        self._pump()

    def _think(self, event: LinkEvent, seconds: float) -> None:
        """Come to a message later, and to those behind it later still."""
        self._comes_to = max(self._comes_to, self._now() + seconds)
        self._thinking = [timer for timer in self._thinking if timer.when() > self._now() and not timer.cancelled()]
        self._thinking.append(asyncio.get_running_loop().call_at(self._comes_to, self._on_event, event))

    def _forget_thoughts(self) -> None:
        for timer in self._thinking:
            timer.cancel()
        self._thinking.clear()

    def _pump(self) -> None:
        if self._down or self._frozen is not None:
            return
        now = self._now()
        while self._waiting and self._link.room:
            try:
                self._link.send(self._waiting[0])
            except LinkFull:
                break
            self._waiting.popleft()
        while now >= self._next_write:
            if not self._unsent:
                self._unsent = self._link.outgoing(now)
            if not self._unsent:
                break
            taken = self._port.write(self._unsent[: self._slice])
            self._unsent = self._unsent[taken:]
            if self._baud is not None:
                self._next_write = now + taken * BITS_A_BYTE / self._baud
            if taken == 0:
                break
        self._set_timer(now)

    def _set_timer(self, now: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self._link.next_deadline()
        if self._next_write > now:
            due = self._next_write if due is None else min(due, self._next_write)
        if due is not None:
            self._timer = asyncio.get_running_loop().call_at(max(due, now), self._due)

    def _due(self) -> None:
        self._timer = None
        if not self._down and self._frozen is None:
            self._handle(self._link.tick(self._now()))
