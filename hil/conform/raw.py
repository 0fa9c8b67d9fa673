"""A host that speaks frame by frame: it keeps to the contract only as far as a test wants it to."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import Any, Final, TypeVar

from hil.conform.endpoint import Heard, Tap, described
from hil.conform.requirement import Failed
from protocol.serial.frames import DELIMITER, Frame, FrameKind, encode_frame
from protocol.serial.messages import (
    PROTOCOL,
    PROTOCOL_MIN,
    Identify,
    Identity,
    Message,
    Ping,
    Pong,
    decode_message,
    encode_message,
)
from protocol.serial.wire import MessageError

ALIVE_S: Final = 0.2
"""So often a session that is kept alive says something."""
ANSWER_S: Final = 1.0
"""Seconds that a board has for an answer, beside the slack of the line."""

Kind = TypeVar("Kind")


def fresh_number() -> int:
    """A session number: 32 bits, never 0."""
    return secrets.randbits(32) or 1


class RawSession:
    """One session, or an attempt at one.

    `acknowledge`: DATA of the board is acknowledged as it comes; `alive`: ACKs are sent while a test is quiet.
    `messages` are the board's, once and in order; `repeated` counts DATA that had come before.
    """

    def __init__(self, tap: Tap, window: int = 8, slack: float = 0.15) -> None:
        self.tap = tap
        self.own = fresh_number()
        self.peer = 0
        self.window = window
        self.slack = slack
        self.seq = 0
        self.expected = 0
        self.acknowledged = 0
        self.acknowledge = True
        self.alive = True
        self.messages: list[Message] = []
        self.repeated = 0
        self._spoke = 0.0
        self._req = 0
        self._answered = 0
        self._keeper: asyncio.Task[None] | None = None
        self._standing = False

    @property
    def tag(self) -> int:
        """The tag of the session."""
        return self.own ^ self.peer

    # --- beginning and end ------------------------------------------------------------------------------------------

    def hello(self, own: int | None = None, window: int | None = None, version: int = 1) -> Frame:
        """The HELLO of this host."""
        payload = bytes((self.window if window is None else window,))
        return Frame("host", FrameKind.HELLO, self.own if own is None else own, payload=payload, version=version)

    async def offer(self, within: float = 3.0) -> Frame:
        """Send HELLO every 250 ms until it is answered; the answer. Failed where none comes."""
        since, until = self.tap.mark(), self.tap.now() + within
        while self.tap.now() < until:
            self.tap.say(self.hello())
            found = await self.tap.wait_for(self.is_answer, 0.25, since)
            if found is not None and isinstance(found.item, Frame):
                return found.item
        raise Failed(f"HELLO_ACK {self.own:08x}, as HELLO was sent for {within:g} s", described(self.tap.heard[since:]))

    def is_answer(self, heard: Heard) -> bool:
        """Whether it is the HELLO_ACK of this host's HELLO."""
        item = heard.item
        return isinstance(item, Frame) and item.kind == FrameKind.HELLO_ACK and item.session == self.own

    def take(self, answer: Frame) -> None:
        """Confirm the session that the board's HELLO_ACK offers."""
        self.peer = int.from_bytes(answer.payload[:4], "little")
        self.window = max(1, min(self.window, answer.payload[4]))
        self.tap.on_heard = self._on_heard
        self._standing = True
        self.ack()
        self._keeper = asyncio.create_task(self._keep())

    async def open(self, identify: bool = True) -> RawSession:
        """Shake hands; with `identify` ask who the board is and wait until it has told what stands."""
        self.take(await self.offer())
        if identify:
            await self.identify()
            await self.settle()
        return self

    async def identify(self, low: int = PROTOCOL_MIN, high: int = PROTOCOL) -> Identity:
        """The first message of a session."""
        return await self.ask(lambda req: Identify(req, low, high, "kaijin conform"), Identity)

    async def settle(self) -> None:
        """Until the board has told what it tells to a new host: no DATA for 0.3 s, 5 s at most."""
        until = self.tap.now() + 5.0
        while self.tap.now() < until:
            if await self.tap.wait_for(lambda one: one.is_kind(FrameKind.DATA), 0.3, self.tap.mark()) is None:
                return

    def end(self, goodbye: bool = True) -> None:
        """Say BYE, or nothing; nothing is kept alive any more."""
        if self._keeper is not None:
            self._keeper.cancel()
        if self._standing:
            if goodbye:
                self.tap.say(self.frame(FrameKind.BYE))
            self._standing = False
            self.tap.on_heard = lambda heard: None

    def quiet(self) -> None:
        """Say nothing of one's own accord from now on."""
        self.alive = False
        self.acknowledge = False

    # --- saying -----------------------------------------------------------------------------------------------------

    def frame(self, kind: FrameKind, payload: bytes = b"", seq: int | None = None, ack: int | None = None) -> Frame:
        """A frame of this session."""
        return Frame(
            "host",
            kind,
            self.tag,
            self.seq if seq is None else seq & 0xFF,
            self.expected if ack is None else ack & 0xFF,
            payload,
        )

    def data(self, message: Message | bytes, seq: int | None = None) -> Frame:
        """A DATA frame; without a number of its own it has the next one, which is used up."""
        payload = message if isinstance(message, bytes) else encode_message(message)
        frame = self.frame(FrameKind.DATA, payload, seq)
        if seq is None:
            self.seq = (self.seq + 1) & 0xFF
        return frame

    def say(self, *frames: Frame) -> None:
        """Write frames in one burst."""
        self._spoke = self.tap.now()
        self.tap.say(*frames)

    def send(self, *messages: Message | bytes) -> None:
        """Messages, one DATA frame each, in one burst."""
        self.say(*(self.data(message) for message in messages))

    def ack(self) -> None:
        """An ACK."""
        self.say(self.frame(FrameKind.ACK))

    def garbage(self, data: bytes) -> None:
        """Bytes that are no frame, ended by a zero."""
        self.tap.write(DELIMITER + data + DELIMITER)

    def next_req(self) -> int:
        """The number of the next request."""
        self._req = self._req % 0xFFFF + 1
        return self._req

    # --- waiting ----------------------------------------------------------------------------------------------------

    async def ask(self, make: Callable[[int], Message], kind: type[Kind], within: float = ANSWER_S) -> Kind:
        """A request and its answer; it is sent again as long as it is not acknowledged. Failed where none comes."""
        req, since, read = self.next_req(), self.tap.mark(), len(self.messages)
        frame = self.data(make(req))
        until = self.tap.now() + within + self.slack
        while (left := until - self.tap.now()) > 0:
            self.say(frame)
            found = await self.message(lambda one: isinstance(one, kind) and _req(one) == req, min(0.4, left), read)
            if isinstance(found, kind):
                return found
        raise Failed(f"{kind.__name__} with req {req} within {within:g} s", described(self.tap.heard[since:]))

    async def message(self, wanted: Callable[[Message], bool], within: float, since: int = 0) -> Message | None:
        """The first wanted message since `messages` had so many; None where it does not come."""
        until = self.tap.now() + within
        while True:
            for one in self.messages[since:]:
                if wanted(one):
                    return one
            left = until - self.tap.now()
            if left <= 0:
                return None
            await self.tap.wait_for(lambda heard: True, left, self.tap.mark())

    async def expect(
        self, what: str, wanted: Callable[[Frame], bool], within: float, since: int | None = None
    ) -> Heard:
        """The first wanted frame of the board, counted from now or a mark; Failed where it does not come in time."""
        mark = self.tap.mark() if since is None else since
        found = await self.tap.wait_for(
            lambda one: isinstance(one.item, Frame) and one.item.sender == "mcu" and wanted(one.item),
            within + self.slack,
            mark,
        )
        if found is None:
            raise Failed(f"{what} within {within:g} s", described(self.tap.heard[mark:]))
        return found

    async def expect_ack(self, ack: int, within: float = 0.5, since: int | None = None) -> Heard:
        """A frame of the session that acknowledges everything before `ack`."""
        want = ack & 0xFF
        return await self.expect(
            f"a frame with ack {want}", lambda one: self.is_ours(one) and one.ack == want, within, since
        )

    async def expect_reset(self, tag: int, within: float = 0.5, since: int | None = None) -> Heard:
        """A RESET that carries a tag."""
        return await self.expect(
            f"RESET {tag:08x}", lambda one: one.kind == FrameKind.RESET and one.session == tag, within, since
        )

    async def never(self, what: str, wanted: Callable[[Frame], bool], seconds: float, since: int | None = None) -> None:
        """Wait so long; Failed where a frame came that must not, counted from now or a mark."""
        mark = self.tap.mark() if since is None else since
        await asyncio.sleep(seconds)
        found = [one for one in self.tap.heard[mark:] if isinstance(one.item, Frame) and wanted(one.item)]
        if found:
            raise Failed(what, described(found))

    async def expect_alive(self, after: str) -> None:
        """The board's link and program go on: a Ping is answered."""
        since = self.tap.mark()
        try:
            await self.ask(Ping, Pong)
        except Failed:
            raise Failed(f"the link to go on after {after}: Pong", described(self.tap.heard[since:])) from None

    def count(self, kind: FrameKind, since: int) -> int:
        """How many frames of a kind this session has brought since a mark."""
        return sum(one.kind == kind and self.is_ours(one) for one in self.tap.frames(since))

    def is_ours(self, frame: Frame) -> bool:
        """A frame of the board in this session."""
        return frame.sender == "mcu" and frame.session == self.tag and frame.kind not in _OUTSIDE

    def pongs(self, since: int) -> list[int]:
        """The `req` of every Pong since a mark, repetitions of one frame counted once."""
        found: dict[tuple[int, int], int] = {}
        for frame in self.tap.frames(since):
            if frame.kind == FrameKind.DATA:
                message = read(frame)
                if isinstance(message, Pong):
                    found[frame.session, frame.seq] = message.req
        return list(found.values())

    # --- within -----------------------------------------------------------------------------------------------------

    def _on_heard(self, heard: Heard) -> None:
        frame = heard.item
        if not isinstance(frame, Frame) or not self.is_ours(frame):
            return
        if (frame.ack - self.acknowledged) & 0xFF < 0x80:
            self.acknowledged = frame.ack
        if frame.kind != FrameKind.DATA:
            return
        if frame.seq == self.expected and self.acknowledge:
            self.expected = (self.expected + 1) & 0xFF
            message = read(frame)
            if message is not None:
                self.messages.append(message)
        else:
            self.repeated += 1
        if self.acknowledge:
            self.ack()

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(ALIVE_S / 2)
            if self.alive and self.tap.now() - self._spoke >= ALIVE_S / 2:
                self.ack()


_OUTSIDE: Final = (FrameKind.HELLO, FrameKind.HELLO_ACK, FrameKind.RESET)


def read(frame: Frame) -> Message | None:
    """The message of a DATA frame, where it can be read."""
    try:
        return decode_message(frame.payload)
    except MessageError:
        return None


def encoded(frame: Frame) -> bytes:
    """A frame as it goes on the line, without its closing zero."""
    return encode_frame(frame)[:-1]


def _req(message: Any) -> int:
    return int(getattr(message, "req", 0))
