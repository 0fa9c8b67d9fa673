"""Malformed bytes on the serial line: no crash, no hang, nothing changes; at the link, and at a driver on a real port.

Most are near misses: frames and messages of the running session with something wrong. A string that is right by chance
is left out, and there may only be a handful of those. Each batch is followed by something that must get through.
"""

from __future__ import annotations

import asyncio
import os
import random
import struct
from binascii import crc_hqx
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from cobs import cobs

from controller.hardware import Hardware
from controller.lines import Line
from controller.operations import LIMITS, Limit
from engine import inputs
from protocol.serial.declaration import TO_HOST, TO_MCU
from protocol.serial.events import Delivered, LinkConfig, Undecodable
from protocol.serial.frames import FRAME_LIMIT, PAYLOAD_LIMIT, Frame, FrameKind, Role, decode_frame, encode_frame
from protocol.serial.link import Link
from protocol.serial.messages import (
    CATALOGUE,
    DiceRoll,
    Jog,
    MessageError,
    OpId,
    OpProgress,
    Ping,
    Pong,
    Zone,
    decode_message,
    direction_of,
    encode_message,
)
from tests.controller.board import Board
from tests.controller.hardware.rig import RAISE, ROLL, SORT, Daemon, Notes
from tests.protocol.serial.pair import Table, tag_of

BATCH = 200
FEW, MANY = 3_000, 350_000


def counts(many: int = MANY) -> list[Any]:
    """A few by default, a great many in the long run: over a million strings altogether."""
    return [
        FEW,
        pytest.param(many, marks=[pytest.mark.long, pytest.mark.timeout(1800)]),
    ]


# -- what is wrong -----------------------------------------------------------------------------------------------------


class Wrong:
    """Malformed strings for one receiver of a running session, none of which holds a zero."""

    def __init__(self, seed: int, sender: Role, tag: int) -> None:
        self.chance = random.Random(seed)
        self.sender, self.tag = sender, tag
        self.right_by_chance = 0
        self.made = 0
        self.kinds: tuple[Callable[[], bytes], ...] = (
            self.noise, self.text, self.flipped, self.flipped, self.cut, self.drawn_out, self.joined, self.misformed,
            self.foreign, self.too_long, self.bad_check, self.own_frame,
        )  # fmt: skip

    def batch(self, count: int) -> list[bytes]:
        """So many strings, each of which a receiver must skip without a trace."""
        found: list[bytes] = []
        while len(found) < count:
            made = self.chance.choice(self.kinds)().replace(b"\0", b"\1")
            frame = decode_frame(made) if made else None
            if isinstance(frame, Frame) and frame.session == self.tag and frame.sender == self.sender:
                self.right_by_chance += 1
                continue
            if isinstance(frame, Frame) and frame.kind in (FrameKind.HELLO, FrameKind.HELLO_ACK):
                self.right_by_chance += 1
                continue
            found.append(made)
        self.made += count
        return found

    def frame(self) -> Frame:
        """A frame that would be right."""
        kind = self.chance.choice(list(FrameKind)[2:])
        payload = b""
        if kind == FrameKind.DATA:
            payload = encode_message(self.chance.choice(MESSAGES[self.sender]))
        seq, ack = self.chance.randrange(256), self.chance.randrange(256)
        return Frame(self.sender, kind, self.tag, seq, ack, payload)

    def noise(self) -> bytes:
        return self.chance.randbytes(self.chance.randrange(1, 64))

    def text(self) -> bytes:
        return self.chance.choice(
            (b"AT\r\n", b"ATZ\r", b"login: ", b"\x1b[0m$ ", b"ERROR\r\n", "好牌\n".encode(), b"+++")
        )

    def flipped(self) -> bytes:
        harmed = bytearray(encode_frame(self.frame())[:-1])
        for _ in range(self.chance.randint(1, 3)):
            harmed[self.chance.randrange(len(harmed))] ^= 1 << self.chance.randrange(8)
        return bytes(harmed)

    def cut(self) -> bytes:
        whole = encode_frame(self.frame())[:-1]
        return whole[: self.chance.randrange(len(whole))] if self.chance.random() < 0.5 else whole[1:]

    def drawn_out(self) -> bytes:
        return encode_frame(self.frame())[:-1] + self.chance.randbytes(self.chance.randint(1, 9))

    def joined(self) -> bytes:
        return encode_frame(self.frame())[:-1] + encode_frame(self.frame())[:-1]

    def misformed(self) -> bytes:
        """The check is right, the form is not: kind, version, length."""
        kind, version = self.chance.choice(((7, 1), (2, 3), (3, 9), (5, 0)))
        return self.sealed(kind, version, self.tag, self.chance.randbytes(self.chance.randrange(8)))

    def foreign(self) -> bytes:
        return encode_frame(replace(self.frame(), kind=FrameKind.BYE, session=self.tag ^ 0x5A5A, payload=b""))[:-1]

    def too_long(self) -> bytes:
        length = self.chance.choice((FRAME_LIMIT, FRAME_LIMIT + 2, 300, 1500))
        return bytes(self.chance.randrange(1, 256) for _ in range(8)) * (length // 8 + 1)

    def bad_check(self) -> bytes:
        body = struct.pack("<BIBB", self.header(FrameKind.DATA), self.tag, 0, 0) + self.chance.randbytes(9)
        return cobs.encode(body + struct.pack("<H", crc_hqx(body, 0xFFFF) ^ self.chance.randrange(1, 0x10000)))

    def own_frame(self) -> bytes:
        """What the receiver itself might have said, come back."""
        back: Role = "host" if self.sender == "mcu" else "mcu"
        return encode_frame(Frame(back, FrameKind.ACK, self.tag, self.chance.randrange(256), 0))[:-1]

    def header(self, kind: int, version: int = 1) -> int:
        return (0x80 if self.sender == "mcu" else 0) | kind << 4 | version

    def sealed(self, kind: int, version: int, session: int, payload: bytes) -> bytes:
        body = struct.pack("<BIBB", self.header(kind, version), session, 0, 0) + payload
        return cobs.encode(body + struct.pack("<H", crc_hqx(body, 0xFFFF)))


MESSAGES: dict[Role, list[Any]] = {
    "mcu": [Pong(1), Zone("E", "hand", ("1m", "2m", "??"), 90), OpProgress(OpId(1, 2, 3, 0), (1, 2, 3, 4), 5)],
    "host": [Ping(1), DiceRoll(OpId(1, 2, 3, 0)), Jog(OpId(1, 2, 4, 0), 3, -500)],
}


def wrong_messages(seed: int, sender: Role) -> Iterator[bytes]:
    """Payloads that are no message, or none that this side sends."""
    chance = random.Random(seed)
    mine = TO_HOST if sender == "mcu" else TO_MCU
    types = [spec.type_id for spec in CATALOGUE]
    while True:
        match chance.randrange(4):
            case 0:
                made = chance.randbytes(chance.randint(1, PAYLOAD_LIMIT))
            case 1:
                made = bytes((chance.choice(types),)) + chance.randbytes(chance.randrange(40))
            case 2:
                harmed = bytearray(encode_message(chance.choice(MESSAGES[sender])))
                harmed[chance.randrange(len(harmed))] ^= 1 << chance.randrange(8)
                made = bytes(harmed)
            case _:
                whole = encode_message(chance.choice(MESSAGES[sender]))
                made = whole[: chance.randrange(1, len(whole))] if chance.random() < 0.5 else whole + b"\7"
        try:
            if direction_of(decode_message(made)) == mine:
                continue
        except MessageError:
            pass
        yield made


# -- the link ----------------------------------------------------------------------------------------------------------


def state_of(link: Link) -> tuple[Any, ...]:
    """Everything of the session that a frame could change."""
    session = link._session
    assert session is not None
    flights = [(flight.seq, flight.payload, flight.sends) for flight in session.flights]
    return (session.tag, session.window, session.next_seq, session.expected, flights, list(session.queue),
            session.heard_at, session.round_trip, link._candidate, link._confirmed)  # fmt: skip


@pytest.mark.parametrize("count", counts())
@pytest.mark.parametrize("receiver", ["host", "mcu"])
def test_a_link_skips_whatever_is_no_frame_of_its_session(receiver: Role, count: int) -> None:
    table = Table().settle()
    link, peer = (table.host, table.mcu) if receiver == "host" else (table.mcu, table.host)
    wrong = Wrong(count, "mcu" if receiver == "host" else "host", tag_of(table.host_events))
    cuts = random.Random(1)
    while wrong.made < count:
        strings = wrong.batch(min(BATCH, count - wrong.made))
        before = state_of(link)
        data = b"\0" + b"\0".join(strings) + b"\0"
        cut = cuts.randrange(len(data))
        events = link.receive(data[:cut], table.now) + link.receive(data[cut:], table.now)
        assert events == [] and state_of(link) == before
        answer = link.outgoing(table.now)
        assert answer.count(b"\0") <= 4, "one NAK, one RESET and nothing else"
        peer.receive(answer, table.now)
        # What must get through does, once.
        heard = len(table.at_host()) + len(table.at_mcu())
        peer.send(Pong(7) if receiver == "host" else Ping(7))
        table.settle()
        assert len(table.at_host()) + len(table.at_mcu()) == heard + 1
        table.now += 0.01
    assert wrong.right_by_chance < 5 + count / 200
    assert sum(link.stats.errors.values()) > count / 2


@pytest.mark.parametrize("count", counts(100_000))
@pytest.mark.parametrize("receiver", ["host", "mcu"])
def test_a_link_drops_whatever_is_no_message(receiver: Role, count: int) -> None:
    """Well framed, in its turn, and no message of the catalogue: acknowledged, counted, dropped."""
    table = Table().settle()
    link = table.host if receiver == "host" else table.mcu
    sender: Role = "mcu" if receiver == "host" else "host"
    tag = tag_of(table.host_events)
    session = link._session
    assert session is not None
    payloads = wrong_messages(count, sender)
    for _ in range(0, count, BATCH):
        frames = [
            Frame(sender, FrameKind.DATA, tag, (session.expected + number) & 0xFF, 0, next(payloads))
            for number in range(BATCH)
        ]
        events = link.receive(b"".join(encode_frame(frame) for frame in frames), table.now)
        assert [type(event) for event in events] == [Undecodable] * BATCH
        assert link.outgoing(table.now).count(b"\0") == 2, "one acknowledgement for all of them"
    assert link.stats.undecodable >= count and link.connected
    right = Frame(sender, FrameKind.DATA, tag, session.expected, 0, encode_message(MESSAGES[sender][0]))
    assert link.receive(encode_frame(right), table.now) == [Delivered(MESSAGES[sender][0])]


# -- a driver at a port ------------------------------------------------------------------------------------------------


@dataclass
class Driven:
    """A driver on a real pseudo-terminal with three operations under way."""

    board: Board
    daemon: Daemon

    async def write(self, data: bytes) -> None:
        """Put bytes on the line, nothing of the board's between them, and wait until the driver has read them."""
        line = self.daemon.line
        with self.board.quiet():
            async with asyncio.timeout(30):
                for at in range(0, len(data), 2048):
                    piece = data[at : at + 2048]
                    while piece:
                        piece = piece[os.write(self.board._master, piece) :]
                        port = line._port
                        assert port is not None
                        before = port.bytes_in
                        while port.bytes_in == before:
                            await asyncio.sleep(0)
        for _ in range(3):
            await asyncio.sleep(0)


@pytest.fixture
async def driven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Driven]:
    board = Board(tmp_path / "port")
    board.plug()
    board.hold = True
    line = Line(str(board.path), 115200, "test", tmp_path / "flights")
    # Neither a slow machine nor a long run is what is tried here.
    patient = LinkConfig(host_silence=120, mcu_silence=120, patience=120)
    board._link = Link("mcu", board._link._session_ids, patient)
    line._link = Link("host", line._link._session_ids, patient, line._recorder)
    monkeypatch.setattr("controller.hardware.LIMITS", {verb: Limit(3600, "motor_stall") for verb in LIMITS})
    heard: list[inputs.Input] = []
    fed = asyncio.Event()

    def tell(happened: inputs.Input) -> None:
        heard.append(happened)
        fed.set()

    hardware = Hardware([line], Notes(), tell)
    daemon = Daemon(line, hardware, asyncio.create_task(line.run()), heard, fed)
    hardware.reconcile([])
    hardware.reconcile([SORT, ROLL, RAISE])
    await board.until(lambda: sum(board.executed.values()) == 3)
    await daemon.heard_out()
    yield Driven(board, daemon)
    await daemon.end()
    board.close()


@pytest.mark.parametrize("count", counts(200_000))
async def test_a_driver_skips_whatever_is_no_frame(driven: Driven, count: int) -> None:
    board, daemon = driven.board, driven.daemon
    line, before = daemon.line, list(daemon.heard)
    session = board._link._session
    assert session is not None
    wrong = Wrong(count + 1, "mcu", session.tag)
    while wrong.made < count:
        await driven.write(b"\0" + b"\0".join(wrong.batch(min(BATCH, count - wrong.made))) + b"\0")
    await nothing_has_happened(driven, before)
    assert sum(line.stats.errors.values()) > count / 2


@pytest.mark.parametrize("count", counts(100_000))
async def test_a_driver_drops_whatever_is_no_message(driven: Driven, count: int) -> None:
    board, daemon = driven.board, driven.daemon
    line, before = daemon.line, list(daemon.heard)
    payloads = wrong_messages(count + 1, "mcu")
    for _ in range(0, count, BATCH):
        session = board._link._session
        assert session is not None
        # The board's own link must know that these numbers are taken: nobody can send between here and the next await.
        for flight in session.flights:
            assert flight.sends, "nothing of the board's own waits"
        frames = []
        for _ in range(BATCH):
            frames.append(Frame("mcu", FrameKind.DATA, session.tag, session.next_seq, session.expected, next(payloads)))
            session.next_seq = (session.next_seq + 1) & 0xFF
        await driven.write(b"".join(encode_frame(frame) for frame in frames))
    await nothing_has_happened(driven, before)
    assert line.stats.undecodable == count


async def nothing_has_happened(driven: Driven, before: list[inputs.Input]) -> None:
    """The session stands, the engine was told nothing, what ran runs; and then it ends as it should."""
    board, daemon = driven.board, driven.daemon
    line = daemon.line
    assert (line.stats.sessions, line.stats.losses, line.failures) == (1, 0, 0)
    assert daemon.heard == before and line.ready
    assert board.executed == {"SortStart": 1, "DiceRoll": 1, "CentreRaise": 1}
    for _ in range(3):
        board.finish()
    await daemon.until(inputs.OperationDone, 3)
    assert board.executed == {"SortStart": 1, "DiceRoll": 1, "CentreRaise": 1}
