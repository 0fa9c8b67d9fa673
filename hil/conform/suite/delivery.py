"""3: each message once and in order, or the session ends (section 4)."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any, Final

from hil.conform.bench import Bench
from hil.conform.endpoint import Heard, described
from hil.conform.raw import RawSession
from hil.conform.requirement import Failed, Skipped, requirement
from protocol.serial.frames import Frame, FrameKind
from protocol.serial.messages import (
    Counters,
    CountersQuery,
    DiceFaces,
    DiceQuery,
    EmergencyStop,
    Ping,
    Pong,
    Sensors,
    SensorsQuery,
    Status,
    StatusQuery,
    StopCleared,
    encode_message,
)

UNKNOWN = bytes((0x7E, 1, 2, 3))
"""A message of a type that no version has."""
MOST_REPETITIONS: Final = 8
"""In 3.3 s."""


async def unacknowledged(b: Bench, session: RawSession, messages: int = 1) -> list[Heard]:
    """Let the board send so many Pongs that are not acknowledged; the frames as they came first."""
    await session.settle()
    session.acknowledge = False
    since = b.tap.mark()
    session.send(*(Ping(200 + number) for number in range(messages)))
    return [await expect_data(session, session.expected + number, since) for number in range(messages)]


async def expect_data(session: RawSession, number: int, since: int) -> Heard:
    """The board's DATA frame of this number."""
    seq = number & 0xFF
    return await session.expect(
        f"DATA {seq}",
        lambda frame: session.is_ours(frame) and frame.kind == FrameKind.DATA and frame.seq == seq,
        1.0,
        since,
    )


def times_of(b: Bench, session: RawSession, seq: int, since: int) -> list[float]:
    """When a DATA frame of the board came, each time."""
    return [
        heard.at
        for heard in b.tap.heard[since:]
        if isinstance(heard.item, Frame)
        and session.is_ours(heard.item)
        and heard.item.kind == FrameKind.DATA
        and heard.item.seq == seq
    ]


@requirement(
    "3.1", "What has arrived is acknowledged",
    "A DATA frame with seq = expected is delivered and acknowledged (by the ack of any frame; ACK if there is nothing "
    "else to say).", section="4",
)  # fmt: skip
async def it_is_acknowledged(b: Bench) -> None:
    session = await b.raw()
    for _ in range(3):
        since, began = b.tap.mark(), b.now()
        session.send(UNKNOWN)  # nothing follows from it that could carry the acknowledgement
        heard = await session.expect_ack(session.seq, 0.3, since)
        b.note(f"acknowledged after {1000 * (heard.at - began):.0f} ms")


@requirement(
    "3.2", "What was had before is dropped",
    "One that was had before (up to 128 back) is acknowledged again and dropped.", section="4",
)  # fmt: skip
async def duplicates_are_dropped(b: Bench) -> None:
    session = await b.raw()
    frame = session.data(Ping(210))
    since = b.tap.mark()
    session.say(frame)
    await session.message(lambda one: one == Pong(210), 1.0)
    session.alive = False
    await asyncio.sleep(0.05)
    again = b.tap.mark()
    for _ in range(3):
        session.say(frame)
        await asyncio.sleep(0.05)
    await session.expect_ack(session.seq, since=again)
    await asyncio.sleep(0.3)
    if (pongs := session.pongs(since)) != [210]:
        raise Failed("one Pong to one Ping that came four times", f"{len(pongs)} Pongs")
    session.alive = True
    await session.expect_alive("repetitions")


@requirement(
    "3.3", "What comes from ahead is dropped, with one NAK",
    "One from ahead is dropped; the receiver sends one NAK for the gap.", section="4",
)  # fmt: skip
async def from_ahead(b: Bench) -> None:
    session = await b.raw()
    if session.window < 2:
        raise Skipped("the board's window is 1: nothing may come from ahead")
    session.alive = False
    first, second = session.data(Ping(220)), session.data(Ping(221))
    expected = first.seq
    since = b.tap.mark()
    session.say(second)
    await asyncio.sleep(0.05)
    session.say(second)
    await asyncio.sleep(0.2)
    if session.pongs(since):
        raise Failed("nothing delivered before the frame that is missing", f"Pong {session.pongs(since)}")
    naks = [frame for frame in b.tap.frames(since) if frame.kind == FrameKind.NAK and session.is_ours(frame)]
    if len(naks) != 1 or naks[0].ack != expected:
        raise Failed(f"one NAK with ack {expected} for the gap", described(b.tap.heard[since:]))
    session.say(first, second)
    await session.message(lambda one: one == Pong(221), 1.0)
    await asyncio.sleep(0.1)
    if session.pongs(since) != [220, 221]:
        raise Failed("both Pongs in order once the missing frame has come", f"Pong {session.pongs(since)}")


@requirement(
    "3.4", "ack is the number expected next",
    "ack the number of the DATA frame that the sender expects next.", section="2",
)  # fmt: skip
async def ack_is_the_next_number(b: Bench) -> None:
    session = await b.raw()
    for number in range(5):
        since = b.tap.mark()
        session.send(Ping(230 + number))
        await session.message(lambda one, req=230 + number: one == Pong(req), 1.0)  # type: ignore[misc]
        await asyncio.sleep(0.02)
        acks = {frame.ack for frame in b.tap.frames(since) if session.is_ours(frame)}
        if not acks <= {session.seq, (session.seq - 1) & 0xFF} or session.seq not in acks:
            raise Failed(f"ack {session.seq} after DATA {(session.seq - 1) & 0xFF}", f"ack {sorted(acks)}")


@requirement(
    "3.5", "The seq of an ACK shows a gap",
    "The seq of ACK and NAK shows a gap too, so that a lost last frame is found.", section="4",
)  # fmt: skip
async def seq_of_an_ack_shows_a_gap(b: Bench) -> None:
    session = await b.raw()
    session.alive = False
    lost = session.data(Ping(240))  # numbered, never sent
    since = b.tap.mark()
    session.ack()
    await session.expect(
        f"NAK with ack {lost.seq}: the host has sent DATA {lost.seq}",
        lambda frame: session.is_ours(frame) and frame.kind == FrameKind.NAK and frame.ack == lost.seq, 0.5, since,
    )  # fmt: skip
    session.say(lost)
    if await session.message(lambda one: one == Pong(240), 1.0) is None:
        raise Failed("Pong once the lost frame has come", described(b.tap.heard[since:]))


@requirement(
    "3.6", "What is not acknowledged is sent again",
    "The sender keeps a frame until it is acknowledged. … On a time-out … everything in flight is sent again in "
    "order.",
    section="4",
)  # fmt: skip
async def it_is_sent_again(b: Bench) -> None:
    session = await b.raw()
    since = b.tap.mark()
    count = min(2, session.window)
    sent = await unacknowledged(b, session, count)
    await asyncio.sleep(0.7)
    for heard in sent:
        assert isinstance(heard.item, Frame)
        again = [
            frame for frame in b.tap.frames(since)
            if frame.kind == FrameKind.DATA and session.is_ours(frame) and frame.seq == heard.item.seq
        ]  # fmt: skip
        if len(again) < 2:
            raise Failed(f"DATA {heard.item.seq} again within 0.7 s, as it is not acknowledged", "it came once")
        if any(frame.payload != heard.item.payload for frame in again):
            raise Failed("the same message under the same number", described(b.tap.heard[since:]))
    session.acknowledge = True
    await session.expect_alive("frames that were acknowledged late")


@requirement(
    "3.7", "The time-out doubles",
    "RTO … at first 100 ms, always 25 ms ≤ RTO ≤ 2 s, doubled at each time-out.", section="4",
)  # fmt: skip
async def the_time_out_doubles(b: Bench) -> None:
    session = await b.raw()
    since = b.tap.mark()
    (first,) = await unacknowledged(b, session)
    assert isinstance(first.item, Frame)
    await asyncio.sleep(3.3)
    times = times_of(b, session, first.item.seq, since)
    gaps = [later - earlier for earlier, later in pairwise(times)]
    told = ", ".join(f"{1000 * gap:.0f}" for gap in gaps) + " ms"
    if len(gaps) < 2:
        raise Failed("at least two repetitions in 3.3 s", told if gaps else "none")
    b.note(f"repeated after {told}")
    early = b.slack / 10
    if gaps[0] < 0.025 - early or any(gap > 2.0 + b.slack for gap in gaps):
        raise Failed("25 ms ≤ RTO ≤ 2 s", told)
    # From 25 ms on eight repetitions last 6 s. The shortest gaps are left alone: they drown in the machine's own times.
    if len(gaps) > MOST_REPETITIONS or gaps[-1] < min(1.5 * gaps[-2], 1.9) - b.slack:
        raise Failed("each time-out twice the one before, up to 2 s", told)


@requirement(
    "3.8", "A NAK is answered at once",
    "On a time-out or a NAK everything in flight is sent again in order.", section="4",
)  # fmt: skip
async def a_nak_is_answered(b: Bench) -> None:
    session = await b.raw()
    count = min(2, session.window)
    since = b.tap.mark()
    sent = await unacknowledged(b, session, count)
    # After some time-outs the next one is far away: what comes now comes by the NAK.
    await asyncio.sleep(1.2)
    mark, asked = b.tap.mark(), b.now()
    session.say(session.frame(FrameKind.NAK))
    await asyncio.sleep(0.05 + b.slack)
    again = [
        frame.seq for frame in b.tap.frames(mark) if frame.kind == FrameKind.DATA and session.is_ours(frame)
    ]  # fmt: skip
    want = [heard.item.seq for heard in sent if isinstance(heard.item, Frame)]
    if again[: len(want)] != want:
        raise Failed(f"DATA {want} in order within {1000 * (b.now() - asked):.0f} ms of a NAK with ack {want[0]}",
                     described(b.tap.heard[since:]))  # fmt: skip


@requirement(
    "3.9", "A link never limps",
    "It is lost … when a frame stays unacknowledged for 4 s although it was sent again and again.", section="3",
)  # fmt: skip
async def a_link_never_limps(b: Bench) -> None:
    session = await b.raw()
    (first,) = await unacknowledged(b, session)
    reset = await b.tap.wait_for(
        lambda one: isinstance(one.item, Frame) and one.item.kind == FrameKind.RESET
        and one.item.session == session.tag, 6.5 + b.slack, b.tap.mark(),
    )  # fmt: skip
    if reset is None:
        raise Failed("the session given up 4 s after a frame that is never acknowledged: RESET to the host's ACK",
                     described(b.tap.heard[-6:]))  # fmt: skip
    after = reset.at - first.at
    b.note(f"given up after {after:.1f} s")
    if after < 4.0 - b.slack:
        raise Failed("the session to last 4 s without an acknowledgement", f"{after:.1f} s")


@requirement(
    "3.10", "An ack of what was never sent says nothing",
    "ack outside what is in flight says nothing.", section="4",
)  # fmt: skip
async def a_senseless_ack(b: Bench) -> None:
    session = await b.raw()
    (first,) = await unacknowledged(b, session)
    assert isinstance(first.item, Frame)
    since = b.tap.mark()
    for ahead in (5, 100, 200):
        session.say(session.frame(FrameKind.ACK, ack=first.item.seq + ahead))
    await asyncio.sleep(1.0)
    if not times_of(b, session, first.item.seq, since):
        raise Failed(f"DATA {first.item.seq} again: acks outside what is in flight say nothing",
                     described(b.tap.heard[since:]))  # fmt: skip
    session.acknowledge = True
    await session.expect_alive("senseless acks")


@requirement(
    "3.11", "An unknown message does not hold up the others",
    "A message of unknown type … is acknowledged, counted and dropped: it does not hold up the others.", section="4",
)  # fmt: skip
async def an_unknown_message(b: Bench) -> None:
    session = await b.raw()
    for type_id in (0x00, 0x09, 0x1F, 0x2B, 0x3F, 0x46, 0x7E):
        since = b.tap.mark()
        session.send(bytes((type_id, 1, 2, 3)))
        await session.expect_ack(session.seq, since=since)
        await session.expect_alive(f"a message of type {type_id:#04x}")


@requirement(
    "3.12", "A message of the wrong direction is dropped",
    "A message … of the wrong direction … is acknowledged, counted and dropped.", section="4",
)  # fmt: skip
async def the_wrong_direction(b: Bench) -> None:
    session = await b.raw()
    b.stopped = True
    session.send(EmergencyStop("kaijin conform 3.12"))
    if not (await session.ask(StatusQuery, Status)).stop_reason:
        raise Skipped("EmergencyStop latches no stop: 6.1 looks at that")
    since = b.tap.mark()
    session.send(StopCleared(0))
    await session.expect_ack(session.seq, since=since)
    session.send(Pong(3))
    await session.expect_ack(session.seq, since=since)
    status = await session.ask(StatusQuery, Status)
    if not status.stop_reason:
        raise Failed("the stop to stay latched: StopCleared is a word of the board's", "it was cleared by it")
    await session.expect_alive("messages of the board's own")


@requirement(
    "3.13", "A message of the wrong length is dropped",
    "A message … too short, too long … is acknowledged, counted and dropped.", section="4",
)  # fmt: skip
async def the_wrong_length(b: Bench) -> None:
    session = await b.raw()
    whole = encode_message(Ping(250))
    for payload, what in ((whole[:-1], "a Ping without its last byte"), (whole + b"\x00", "a Ping and a byte more"),
                          (whole[:1], "a Ping without its number")):  # fmt: skip
        since = b.tap.mark()
        session.send(payload)
        await session.expect_ack(session.seq, since=since)
        await session.never(f"no Pong to {what}", lambda frame: bool(session.pongs(since)), 0.2, since)  # noqa: B023
        await session.expect_alive(what)


@requirement(
    "3.14", "A value out of range is dropped",
    "A message … with a value out of range is acknowledged, counted and dropped.", section="4",
)  # fmt: skip
async def a_value_out_of_range(b: Bench) -> None:
    session = await b.raw()
    for payload, what in (
        (bytes((0x04, 1, 0, 144, 41, 18, 18, 18)), "SetGear with 41 stacks"),
        (bytes((0x40, 4, 0, 1, 1)), "a Lamp at side 4"),
        (bytes((0x40, 0, 0, 1, 7)), "a Lamp of colour 7"),
        (bytes((0x43, 2, 0xFF, 0xFE)), "EmergencyStop with a reason that is no UTF-8"),
        (bytes((0x43, 49)) + b"x" * 49, "EmergencyStop with a reason of 49 bytes"),
        (bytes((0x43, 5)) + b"xy", "EmergencyStop whose reason is shorter than it says"),
    ):
        since, read = b.tap.mark(), len(session.messages)
        session.send(payload)
        await session.expect_ack(session.seq, since=since)
        await session.expect_alive(what)
        answered = [one for one in session.messages[read:] if not isinstance(one, Pong) and _answers(one)]
        if answered:
            raise Failed(f"no answer to {what}", str(answered[0]))


def _answers(message: Any) -> bool:
    return type(message).__name__ in ("GearSet", "StopLatched")


@requirement(
    "3.15", "An answer carries the number of its request",
    "Where an answer belongs to a request, it carries its req (1–65535; 0 is none).", section="4",
)  # fmt: skip
async def an_answer_carries_its_number(b: Bench) -> None:
    session = await b.raw()
    kinds: tuple[tuple[Any, Any], ...] = (
        (Ping, Pong), (StatusQuery, Status), (CountersQuery, Counters), (SensorsQuery, Sensors), (DiceQuery, DiceFaces),
    )  # fmt: skip
    for make, kind in kinds:
        for req in (1, 255, 256, 0xFFFF):
            read, since = len(session.messages), b.tap.mark()
            session.send(make(req))
            found = await session.message(lambda one, kind=kind: isinstance(one, kind), 1.0, read)  # type: ignore[misc]
            if getattr(found, "req", None) != req:
                raise Failed(f"{kind.__name__} with req {req}", described(b.tap.heard[since:]))


@requirement(
    "3.16", "Numbers go round at 256",
    "Numbers go round at 256: compare them by their difference.", section="14",
)  # fmt: skip
async def numbers_go_round(b: Bench) -> None:
    session = await b.raw()
    step = min(4, session.window)
    for first in range(1000, 1280, step):
        session.send(*(Ping(first + number) for number in range(step)))
        last = first + step - 1
        if await session.message(lambda one, last=last: one == Pong(last), 1.0 + b.slack) is None:  # type: ignore[misc]
            raise Failed(f"Pong {last}, about DATA {session.seq}", described(b.tap.heard[-6:]))
    pongs = [one.req for one in session.messages if isinstance(one, Pong) and one.req >= 1000]
    if pongs != list(range(1000, 1280)):
        raise Failed("280 Pongs, each once and in order", f"{len(pongs)} Pongs")
    since = b.tap.mark()
    session.say(session.data(Ping(1999), seq=session.seq - 120))
    await asyncio.sleep(0.3)
    if 1999 in session.pongs(since) or session.count(FrameKind.NAK, since):
        raise Failed("a frame of 120 back dropped without a NAK: it was had before", described(b.tap.heard[since:]))


@requirement(
    "3.17", "The doubled time-out stays",
    "Karn's rule: a frame sent more than once is no sample, and the doubled RTO stays until there is one.",
    section="4",
)  # fmt: skip
async def the_doubled_time_out_stays(b: Bench) -> None:
    session = await b.raw()
    since = b.tap.mark()
    (first,) = await unacknowledged(b, session)
    assert isinstance(first.item, Frame)
    await asyncio.sleep(1.0)
    times = times_of(b, session, first.item.seq, since)
    if len(times) < 3:
        raise Skipped("the board repeats too seldom: 3.6 and 3.7 look at that")
    reached = times[-1] - times[-2]
    session.expected = (session.expected + 1) & 0xFF
    session.ack()
    await asyncio.sleep(0.05)
    mark = b.tap.mark()
    (second,) = await unacknowledged(b, session)
    assert isinstance(second.item, Frame)
    await asyncio.sleep(2 * reached + 0.3)
    again = times_of(b, session, second.item.seq, mark)
    if len(again) < 2:
        raise Failed(f"DATA {second.item.seq} again within {2 * reached + 0.3:.1f} s", "it came once")
    gap = again[1] - again[0]
    if gap < 0.9 * reached - min(b.slack / 2, 0.3 * reached):
        raise Failed(
            f"a first time-out of {1000 * reached:.0f} ms at least: the frame before was repeated and is no sample",
            f"{1000 * gap:.0f} ms",
        )
