"""1: frames, what is none, and how the board goes on after it (section 2)."""

from __future__ import annotations

import asyncio
import random
from binascii import crc_hqx

from cobs import cobs

from hil.conform.bench import Bench
from hil.conform.endpoint import QUIET_S, described
from hil.conform.raw import RawSession, encoded
from hil.conform.requirement import Failed, requirement
from protocol.serial.frames import DELIMITER, FRAME_LIMIT, PAYLOAD_LIMIT, FrameError, FrameKind
from protocol.serial.messages import Counters, CountersQuery, Ping, Pong, encode_message

SEED = 20_260
"""Of the noise; the same in every run."""


def as_line(body: bytes) -> bytes:
    """A frame of any bytes, with the check that belongs to them, without its zero."""
    line: bytes = cobs.encode(body + crc_hqx(body, 0xFFFF).to_bytes(2, "little"))
    return line


def body_of(session: RawSession, payload: bytes, header: int | None = None) -> bytes:
    """Header, session, numbers and payload of this session's next DATA frame, with another header byte where told."""
    whole: bytes = cobs.decode(encoded(session.frame(FrameKind.DATA, b"\x02")))
    head = whole[:7] if header is None else bytes((header,)) + whole[1:7]
    return head + payload


def ping(req: int) -> bytes:
    """A Ping."""
    return encode_message(Ping(req))


async def expect_skipped(session: RawSession, line: bytes, what: str, req: int) -> None:
    """These bytes hold a Ping that must not be read; the same Ping in a good frame is answered then."""
    since = session.tap.mark()
    session.garbage(line)
    await session.never(
        f"no Pong, as {what} is no frame", lambda frame: req in session.pongs(since), 0.3, since
    )
    await expect_pong(session, req, f"{what}, and the same Ping in a good frame")


async def expect_pong(session: RawSession, req: int, after: str) -> None:
    """A Ping in the next DATA frame is answered."""
    since = session.tap.mark()
    session.send(Ping(req))
    found = await session.message(lambda one: one == Pong(req), 1.0 + session.slack)
    if found is None:
        raise Failed(f"Pong with req {req} after {after}", described(session.tap.heard[since:]))


@requirement(
    "1.1", "All that the board says lies in frames",
    "bit 7 is the sender (0 host, 1 MCU) … a zero byte ends it.", section="2",
)  # fmt: skip
async def everything_lies_in_frames(b: Bench) -> None:
    session = await b.raw()
    since = b.tap.mark()
    for _ in range(20):
        await session.ask(Ping, Pong)
    bad = [heard for heard in b.tap.heard[since:] if isinstance(heard.item, FrameError)]
    if bad:
        raise Failed("nothing but frames whose COBS and CRC are right", described(bad))
    of_host = [heard for heard in b.tap.heard[since:] if getattr(heard.item, "sender", "mcu") != "mcu"]
    if of_host:
        raise Failed("bit 7 of the header set in each frame of the board", described(of_host))


@requirement(
    "1.2", "Each burst begins with a zero",
    "Each burst of writing begins with a zero too, which ends whatever noise lies before it.", section="2",
)  # fmt: skip
async def bursts_begin_with_a_zero(b: Bench) -> None:
    session = await b.raw()
    session.alive = False
    bursts, without = b.tap.bursts, b.tap.bursts_without_zero
    for _ in range(5):
        await asyncio.sleep(2 * QUIET_S)
        await session.ask(Ping, Pong)
    missing = b.tap.bursts_without_zero - without
    if missing:
        raise Failed("a zero byte first, after a pause", f"{missing} of {b.tap.bursts - bursts} bursts began without")


@requirement(
    "1.3", "Empty frames mean nothing",
    "Empty frames (two zeros in a row) mean nothing.", section="2",
)  # fmt: skip
async def empty_frames_mean_nothing(b: Bench) -> None:
    session = await b.raw()
    since = b.tap.mark()
    b.tap.write(DELIMITER * 5)
    b.tap.write(DELIMITER * 3 + encoded(session.data(Ping(7))) + DELIMITER * 4)
    found = await session.message(lambda one: one == Pong(7), 1.0)
    naks = session.count(FrameKind.NAK, since)
    if found is None or naks:
        raise Failed("a Pong and no NAK, zeros before and after the Ping", described(b.tap.heard[since:]))


@requirement(
    "1.4", "A frame may come byte by byte",
    "COBS takes every zero out of the frame; a zero byte ends it.", section="2",
)  # fmt: skip
async def byte_by_byte(b: Bench) -> None:
    session = await b.raw()
    session.alive = False
    since = b.tap.mark()
    for byte in DELIMITER + encoded(session.data(Ping(8))) + DELIMITER:
        b.tap.write(bytes((byte,)))
        await asyncio.sleep(0.005)
    if await session.message(lambda one: one == Pong(8), 1.0) is None:
        raise Failed("Pong to a Ping whose bytes came one by one", described(b.tap.heard[since:]))


@requirement(
    "1.5", "Many frames may come at once",
    "COBS takes every zero out of the frame; a zero byte ends it.", section="2",
)  # fmt: skip
async def many_at_once(b: Bench) -> None:
    session = await b.raw()
    count, since = min(4, session.window), b.tap.mark()
    session.send(*(Ping(20 + number) for number in range(count)))
    await session.message(lambda one: one == Pong(19 + count), 1.0)
    await asyncio.sleep(0.1)
    if session.pongs(since) != list(range(20, 20 + count)):
        raise Failed(f"{count} Pongs in order to {count} Pings in one burst", described(b.tap.heard[since:]))


@requirement(
    "1.6", "A wrong check",
    "What is no frame – … bad CRC … – is skipped up to the next zero and counted.", section="2",
)  # fmt: skip
async def a_wrong_check(b: Bench) -> None:
    session = await b.raw()
    for req, bit in ((30, 0), (31, 15)):
        body = body_of(session, ping(req))
        line: bytes = cobs.encode(body + (crc_hqx(body, 0xFFFF) ^ 1 << bit).to_bytes(2, "little"))
        await expect_skipped(session, line, f"a frame with bit {bit} of its CRC wrong", req)
    for start in (0x0000, 0x1D0F):
        body = body_of(session, ping(32))
        wrong: bytes = cobs.encode(body + crc_hqx(body, start).to_bytes(2, "little"))
        await expect_skipped(session, wrong, f"a frame whose CRC starts from {start:#06x}", 32)


@requirement(
    "1.7", "Bad COBS",
    "What is no frame – bad COBS … – is skipped up to the next zero and counted.", section="2",
)  # fmt: skip
async def bad_cobs(b: Bench) -> None:
    session = await b.raw()
    for req, code in ((33, 0xFF), (34, 0x40)):
        line = bytes((code,)) + as_line(body_of(session, ping(req)))[1:]
        await expect_skipped(session, line, f"a frame whose first COBS code is {code:#04x}", req)


@requirement(
    "1.8", "Too short",
    "What is no frame – … too short … – is skipped up to the next zero and counted.", section="2",
)  # fmt: skip
async def too_short(b: Bench) -> None:
    session = await b.raw()
    for length in range(1, 9):
        session.garbage(as_line(bytes(range(1, length + 1)))[: length + 1])
    session.garbage(as_line(b""))
    session.garbage(as_line(body_of(session, b"")[:6]))
    await session.expect_alive("frames of 1 to 8 bytes")


@requirement(
    "1.9", "Too long",
    "A receiver needs a buffer of that size and no more: what is longer is thrown away up to the next zero.",
    section="2",
)  # fmt: skip
async def too_long(b: Bench) -> None:
    session = await b.raw()
    for req, size in ((40, FRAME_LIMIT - 1), (41, 300), (42, 600), (43, 5000)):
        body = body_of(session, ping(req))
        await expect_skipped(
            session, as_line(body + bytes(1 + place % 250 for place in range(size - len(body)))),
            f"a frame of {size + 2} bytes before COBS", req,
        )  # fmt: skip
    b.tap.write(DELIMITER + bytes(1 + place % 255 for place in range(20_000)))
    await expect_pong(session, 44, "20,000 bytes without a zero")


@requirement(
    "1.10", "The longest payload",
    "What is no frame – … a payload length that does not fit the kind … DATA | one message, 1–230 bytes",
    section="2",
)  # fmt: skip
async def the_longest_payload(b: Bench) -> None:
    session = await b.raw()
    since = b.tap.mark()
    session.send(bytes((0x7E,)) * PAYLOAD_LIMIT)  # of a type that nobody knows
    await session.expect_ack(session.seq, since=since)
    since, before = b.tap.mark(), session.seq
    session.garbage(as_line(body_of(session, bytes((0x7E,)) * (PAYLOAD_LIMIT + 1))))
    await session.never(
        f"no acknowledgement of a DATA frame with {PAYLOAD_LIMIT + 1} bytes of payload",
        lambda frame: session.is_ours(frame) and frame.ack == (before + 1) & 0xFF, 0.3, since,
    )  # fmt: skip
    await session.expect_alive("a payload that is too long")


@requirement(
    "1.11", "An unknown kind",
    "What is no frame – … an unknown kind … – is skipped up to the next zero and counted.", section="2",
)  # fmt: skip
async def an_unknown_kind(b: Bench) -> None:
    session = await b.raw()
    since = b.tap.mark()
    await expect_skipped(session, as_line(body_of(session, ping(50), header=0x71)), "a frame of kind 7", 50)
    if session.count(FrameKind.NAK, since) != 1:
        raise Failed("one NAK, as to anything that is no frame", described(b.tap.heard[since:]))


@requirement(
    "1.12", "A payload that does not fit the kind",
    "What is no frame – … a payload length that does not fit the kind … – is skipped up to the next zero and counted.",
    section="2",
)  # fmt: skip
async def a_payload_that_does_not_fit(b: Bench) -> None:
    session = await b.raw()
    for header, payload, what in (
        (0x31, b"\x02\x01\x00", "an ACK with a payload"),
        (0x21, b"", "DATA without a message"),
        (0x61, b"\x01", "a BYE with a payload"),
    ):
        since = b.tap.mark()
        session.garbage(as_line(body_of(session, payload, header)))
        await session.expect(
            f"NAK, as {what} is no frame", lambda frame: frame.kind == FrameKind.NAK and session.is_ours(frame), 0.5,
            since,
        )  # fmt: skip
        await session.expect_alive(what)


@requirement(
    "1.13", "Another link version",
    "What is no frame – … another version in any kind but HELLO and HELLO_ACK – is skipped.", section="2",
)  # fmt: skip
async def another_version(b: Bench) -> None:
    session = await b.raw()
    await expect_skipped(session, as_line(body_of(session, ping(51), header=0x22)), "DATA of link version 2", 51)


@requirement(
    "1.14", "One NAK for each burst of garbage",
    "A burst begins with the first invalid frame and ends with the next valid frame of the session; the receiver "
    "answers it with one NAK, never more.", section="2",
)  # fmt: skip
async def one_nak_for_each_burst(b: Bench) -> None:
    session = await b.raw()
    session.alive = False
    for burst in (1, 2):
        since = b.tap.mark()
        for _ in range(6):
            session.garbage(b"\x55\x12\x34\x56\x78\x9a\xbc\xde\xf0\x11")
            await asyncio.sleep(0.03)
        await asyncio.sleep(0.1)
        naks = session.count(FrameKind.NAK, since)
        if naks != 1:
            raise Failed(f"one NAK to six invalid frames in a row (burst {burst})", f"{naks} NAKs")
        nak = next(frame for frame in b.tap.frames(since) if frame.kind == FrameKind.NAK)
        if nak.ack != session.seq:
            raise Failed(f"NAK with ack {session.seq}, the DATA frame that it expects next", f"ack {nak.ack}")
        await session.expect_alive("a burst of garbage")


@requirement(
    "1.15", "Garbage outside a session is not answered",
    "Outside a session nothing is answered.", section="2",
)  # fmt: skip
async def garbage_outside_a_session(b: Bench) -> None:
    session = await b.raw()
    session.end()
    await asyncio.sleep(0.1)
    since = b.tap.mark()
    session.garbage(b"\x55\x12\x34\x56\x78\x9a\xbc\xde\xf0\x11")
    session.garbage(b"AT\r\n")
    await session.never("nothing, as no session stands", lambda frame: True, 0.5, since)


@requirement(
    "1.16", "Own frames that come back",
    "Own frames that come back (an echoing line, a loose connector) are known by bit 7 and ignored.", section="2",
)  # fmt: skip
async def own_frames_that_come_back(b: Bench) -> None:
    session = await b.raw()
    since = b.tap.mark()
    echo = as_line(body_of(session, ping(60), header=0xA1))
    session.garbage(echo)
    await session.never("no Pong to a Ping with the board's own bit", lambda frame: 60 in session.pongs(since), 0.3,
                        since)  # fmt: skip
    if session.count(FrameKind.NAK, since):
        raise Failed("no NAK: a frame with bit 7 set is valid, and the board's own", described(b.tap.heard[since:]))
    await expect_pong(session, 60, "an echo, and the same number in a frame of the host")


@requirement(
    "1.17", "Noise that looks like text",
    "Some systems probe new serial ports with AT commands. It is garbage like any other.", section="14",
)  # fmt: skip
async def noise_that_looks_like_text(b: Bench) -> None:
    session = await b.raw()
    for text in (b"AT\r\n", b"~\x00~", b"\xff" * 40, b"ATE1 E0\r\nAT+GCAP\r\n"):
        b.tap.write(text)
        await session.expect_alive(f"{text[:12]!r} on the line")


@requirement(
    "1.18", "Random bytes",
    "Nothing may make a receiver fail or wait.", section="2",
)  # fmt: skip
async def random_bytes(b: Bench) -> None:
    session = await b.raw()
    chance = random.Random(SEED)
    for _ in range(8):
        b.tap.write(chance.randbytes(512))
        await asyncio.sleep(0.02)
        await session.expect_alive("512 random bytes")


@requirement(
    "1.19", "Half a frame",
    "A reset in mid-frame leaves half a frame: the zero at the start of the next burst ends it.", section="14",
)  # fmt: skip
async def half_a_frame(b: Bench) -> None:
    session = await b.raw()
    line = encoded(session.frame(FrameKind.DATA, ping(70)))
    b.tap.write(DELIMITER + line[: len(line) // 2])
    await asyncio.sleep(0.05)
    await expect_pong(session, 71, "half a frame")


@requirement(
    "1.20", "What is no frame is counted",
    "What is no frame … is skipped up to the next zero and counted.", section="2",
)  # fmt: skip
async def what_is_no_frame_is_counted(b: Bench) -> None:
    session = await b.raw()
    before = (await session.ask(CountersQuery, Counters)).bad_frames
    for number in range(5):
        session.garbage(bytes((0x55, 1 + number)) * 6)
    after = (await session.ask(CountersQuery, Counters)).bad_frames
    if after != before + 5:
        raise Failed("bad_frames grown by 5 after five invalid frames", f"{before} before, {after} after")
