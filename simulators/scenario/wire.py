"""A port around the simulated table's port: what passes is a healthy line's until somebody orders otherwise.

Bytes are changed frame by frame, in both directions: `out` from the board to the host, `in` from the host to the board.
Seconds are those of the event loop. Nothing that is changed is ever turned into another valid frame by intent, but for
`no_ack` and `nak_storm`, which say what a board with a broken program would say.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from protocol.serial.frames import DELIMITER, Frame, FrameKind, decode_frame, encode_frame
from protocol.serial.messages import decode_message
from protocol.serial.wire import MessageError
from simulators.port import Port, Shell

Direction = Literal["out", "in"]
DIRECTIONS: tuple[Direction, Direction] = ("out", "in")
ROOM = 16_384
"""Bytes that may wait on the way out before the board is told that the line is busy."""


@dataclass
class Change:
    """What happens to the next `left` frames that are named `message` (empty: to any)."""

    message: str
    left: int
    make: Callable[[bytes, random.Random], bytes]
    chance: random.Random


class FaultyPort:
    """Both ends of the wrapping: a port to the board's line, a shell to the real port.

    `passing` hears of each frame before anything is done to it; set it only where frames are counted.
    """

    def __init__(self, port: Port) -> None:
        self.passing: Callable[[Direction, str], None] | None = None
        self._port = port
        self._shell: Shell | None = None
        self._changes: dict[Direction, list[Change]] = {"out": [], "in": []}
        self._partial: dict[Direction, bytes] = {"out": b"", "in": b""}
        self._queue: dict[Direction, bytearray] = {"out": bytearray(), "in": bytearray()}
        self._held: dict[Direction, float] = {"out": 0.0, "in": 0.0}
        self._mute: dict[Direction, float] = {"out": 0.0, "in": 0.0}
        self._noise: dict[Direction, tuple[float, float, random.Random]] = {}
        self._drips: dict[Direction, tuple[float, float]] = {}
        self._echo_until = 0.0
        self._frozen_ack: tuple[float, int | None] = (0.0, None)
        self._last_out: Frame | None = None
        self._last_said = b""
        self._timers: dict[Direction, asyncio.TimerHandle] = {}

    # --- orders -------------------------------------------------------------------------------------------------------

    def change(
        self, direction: Direction, message: str, frames: int, make: Callable[[bytes, random.Random], bytes], seed: str
    ) -> None:
        """`make` of so many frames to come what is to pass in their place, given the seed's chance."""
        self._changes[direction].append(Change(message, frames, make, random.Random(seed)))

    def inject(self, direction: Direction, data: bytes) -> None:
        """Bytes that nobody sent are on the line now."""
        self._push(direction, data)

    def hold(self, direction: Direction, seconds: float) -> None:
        """The line stands still for a while; then everything comes at once."""
        self._held[direction] = max(self._held[direction], self._now() + seconds)
        self._pump(direction)

    def mute(self, direction: Direction, seconds: float) -> None:
        """What is said in this time is lost."""
        self._mute[direction] = max(self._mute[direction], self._now() + seconds)

    def noise(self, direction: Direction, rate: float, seconds: float, seed: str) -> None:
        """Each byte of this time is spoilt with the chance `rate`."""
        self._noise[direction] = (self._now() + seconds, rate, random.Random(seed))

    def drip(self, direction: Direction, gap_s: float, seconds: float) -> None:
        """Bytes of this time come one by one."""
        self._drips[direction] = (self._now() + seconds, gap_s)

    def echo(self, seconds: float) -> None:
        """What the host says comes back to it."""
        self._echo_until = self._now() + seconds

    def no_acknowledgement(self, seconds: float) -> None:
        """For a while the board's frames confirm nothing that has come since now."""
        last = self._spoken_last()
        self._frozen_ack = (self._now() + seconds, last.ack if last is not None else None)

    def nak_storm(self, naks: int) -> None:
        """So many NAKs for what the board has confirmed last; nothing before a session has spoken."""
        last = self._spoken_last()
        if last is not None:
            self.inject("out", encode_frame(replace(last, kind=FrameKind.NAK, payload=b"")) * naks)

    def pause_reading(self, paused: bool) -> None:
        """The board's end reads nothing: what the host writes piles up on its side."""
        self._port.pause_reading(paused)

    def heal(self) -> None:
        """The line is healthy from now on; what waits goes on its way."""
        for direction in DIRECTIONS:
            self._changes[direction].clear()
            self._held[direction] = self._mute[direction] = 0.0
        self._noise.clear()
        self._drips.clear()
        self._echo_until, self._frozen_ack = 0.0, (0.0, None)
        self._port.pause_reading(False)
        for direction in DIRECTIONS:
            self._pump(direction)

    # --- a port, to the board -----------------------------------------------------------------------------------------

    async def open(self, shell: Shell) -> str:
        """Open the real port; its name."""
        self._shell = shell
        self._forget()
        return await self._port.open(self)

    async def unplug(self) -> None:
        """Pull the adapter."""
        self._forget()
        await self._port.unplug()

    def write(self, data: bytes) -> int:
        """Bytes taken: all, unless too much waits already."""
        if self._is_plain("out"):
            self._last_said = data
            return self._port.write(data)
        if len(self._queue["out"]) > ROOM:
            return 0
        self._take("out", data)
        return len(data)

    def close(self) -> None:
        """Close the real port."""
        self._forget()
        self._port.close()

    # --- a shell, to the real port ------------------------------------------------------------------------------------

    def received(self, data: bytes) -> None:
        """Bytes from the host."""
        if self._now() < self._echo_until:
            self._push("out", data)
        if self._is_plain("in"):
            self._deliver("in", data)
        else:
            self._take("in", data)

    def lost(self) -> None:
        """The line was cut or taken over."""
        self._forget()
        if self._shell is not None:
            self._shell.lost()

    def writable(self) -> None:
        """The real port takes bytes again."""
        self._pump("out")
        if not self._queue["out"] and self._shell is not None:
            self._shell.writable()

    # --- within -------------------------------------------------------------------------------------------------------

    def _spoken_last(self) -> Frame | None:
        """The last frame of a session that the board has said."""
        for piece in self._last_said.split(DELIMITER):
            frame = decode_frame(piece) if piece else None
            if isinstance(frame, Frame) and frame.kind in (FrameKind.DATA, FrameKind.ACK, FrameKind.NAK):
                self._last_out = frame
        self._last_said = b""
        return self._last_out

    def _is_plain(self, direction: Direction) -> bool:
        """Whether nothing is to be seen, changed or kept back in this direction."""
        busy = self._changes[direction] or self._queue[direction] or self._partial[direction]
        now = self._now()
        timed = max(self._held[direction], self._mute[direction], self._frozen_ack[0] if direction == "out" else 0.0)
        until = max((timed, *(one[0] for one in (self._noise.get(direction), self._drips.get(direction)) if one)))
        return self.passing is None and not busy and now >= until

    def _take(self, direction: Direction, data: bytes) -> None:
        pieces = (self._partial[direction] + data).split(DELIMITER)
        self._partial[direction] = pieces.pop()
        for piece in pieces:
            self._push(direction, self._changed(direction, piece) if piece else DELIMITER)
        if len(self._partial[direction]) > ROOM:
            self._push(direction, self._partial[direction])
            self._partial[direction] = b""

    def _changed(self, direction: Direction, piece: bytes) -> bytes:
        """What passes in the place of an encoded frame, its delimiter included."""
        frame = decode_frame(piece)
        if not isinstance(frame, Frame):
            return piece + DELIMITER
        name = _name(frame)
        if self.passing is not None:
            self.passing(direction, name)
        if direction == "out" and frame.kind not in (FrameKind.HELLO_ACK, FrameKind.RESET):
            frozen_until, ack = self._frozen_ack
            if self._now() < frozen_until and frame.kind != FrameKind.BYE:
                ack = frame.ack if ack is None else ack
                self._frozen_ack = (frozen_until, ack)
                frame = replace(frame, ack=ack)
            self._last_out, self._last_said = frame, b""
        if self._now() < self._mute[direction]:
            return b""
        data = encode_frame(frame)
        for change in tuple(self._changes[direction]):
            if change.message in ("", name):
                data = change.make(data, change.chance)
                change.left -= 1
                if change.left == 0:
                    self._changes[direction].remove(change)
                break
        noise = self._noise.get(direction)
        if noise is not None and self._now() < noise[0]:
            data = bytes(byte if noise[2].random() >= noise[1] else noise[2].randrange(256) for byte in data)
        return data

    def _push(self, direction: Direction, data: bytes) -> None:
        self._queue[direction] += data
        self._pump(direction)

    def _pump(self, direction: Direction) -> None:
        queue = self._queue[direction]
        timer = self._timers.pop(direction, None)
        if timer is not None:
            timer.cancel()
        while queue:
            now = self._now()
            if now < self._held[direction]:
                self._later(direction, self._held[direction])
                return
            drip = self._drips.get(direction)
            slow = drip is not None and now < drip[0]
            piece = bytes(queue[: 1 if slow else len(queue)])
            taken = self._deliver(direction, piece)
            del queue[:taken]
            if taken < len(piece):
                return  # the real port says when it takes more
            if slow and drip is not None and queue:
                self._later(direction, now + drip[1])
                return

    def _later(self, direction: Direction, when: float) -> None:
        self._timers[direction] = asyncio.get_running_loop().call_at(when, self._go_on, direction)

    def _go_on(self, direction: Direction) -> None:
        self._pump(direction)
        if direction == "out" and not self._queue["out"] and self._shell is not None:
            self._shell.writable()

    def _deliver(self, direction: Direction, data: bytes) -> int:
        if direction == "out":
            return self._port.write(data)
        if self._shell is not None:
            self._shell.received(data)
        return len(data)

    def _forget(self) -> None:
        for direction in DIRECTIONS:
            self._partial[direction] = b""
            self._queue[direction].clear()
            timer = self._timers.pop(direction, None)
            if timer is not None:
                timer.cancel()
        self._last_out, self._last_said = None, b""

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


def flipped(bits: int) -> Callable[[bytes, random.Random], bytes]:
    """So many bits of a frame are turned over."""

    def make(data: bytes, chance: random.Random) -> bytes:
        spoilt = bytearray(data)
        for bit in chance.sample(range(8 * len(data)), min(bits, 8 * len(data))):
            spoilt[bit // 8] ^= 1 << bit % 8
        return bytes(spoilt)

    return make


def dropped(count: int) -> Callable[[bytes, random.Random], bytes]:
    """A frame is lost, or so many of its bytes."""

    def make(data: bytes, chance: random.Random) -> bytes:
        if not count:
            return b""
        lost = set(chance.sample(range(len(data)), min(count, len(data))))
        return bytes(byte for at, byte in enumerate(data) if at not in lost)

    return make


def inserted(count: int) -> Callable[[bytes, random.Random], bytes]:
    """Random bytes come up within a frame."""

    def make(data: bytes, chance: random.Random) -> bytes:
        at = chance.randrange(len(data))
        return data[:at] + chance.randbytes(count) + data[at:]

    return make


def doubled(data: bytes, chance: random.Random) -> bytes:
    """A frame arrives twice."""
    return data + data


def halved(data: bytes, chance: random.Random) -> bytes:
    """A frame breaks off."""
    return data[: max(1, len(data) // 2)]


def _name(frame: Frame) -> str:
    if frame.kind != FrameKind.DATA:
        return frame.kind.name
    try:
        return type(decode_message(frame.payload)).__name__
    except MessageError:
        return "undecodable"
