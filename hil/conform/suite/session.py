"""2: sessions, how they begin and end, and who the board says that it is (section 3)."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from hil.conform.bench import Bench
from hil.conform.endpoint import described
from hil.conform.raw import RawSession, fresh_number
from hil.conform.requirement import Failed, Skipped, requirement
from protocol.serial.frames import Frame, FrameKind
from protocol.serial.messages import Identify, Identity, OpRefused, Ping, Pong


async def offered(session: RawSession) -> Frame:
    """The board's answer to this host's HELLO, looked at."""
    answer = await session.offer()
    if len(answer.payload) != 5:
        raise Failed("a HELLO_ACK whose payload is a number (u32) and a window (u8)", answer.payload.hex(" "))
    if answer.payload[:4] == bytes(4):
        raise Failed("a session number that is not 0", "0")
    return answer


@requirement(
    "2.1", "HELLO is answered",
    "The MCU answers with HELLO_ACK (session = the host's number), its own number and its window.", section="3",
)  # fmt: skip
async def hello_is_answered(b: Bench) -> None:
    session = b.unopened()
    answer = await offered(session)
    if answer.version != 1:
        raise Failed("link version 1", str(answer.version))
    if answer.payload[4] < 1:
        raise Failed("a window of at least 1", str(answer.payload[4]))
    b.note(f"window {answer.payload[4]}")


@requirement(
    "2.2", "The same HELLO, the same answer",
    "The same HELLO again gets the same answer.", section="3",
)  # fmt: skip
async def same_hello_same_answer(b: Bench) -> None:
    session = b.unopened()
    first, second = await offered(session), await offered(session)
    if first.payload != second.payload:
        raise Failed("the same number and window", f"{first.payload.hex(' ')}, then {second.payload.hex(' ')}")
    session.take(first)
    await session.identify()
    third = await offered(session)
    if third.payload != first.payload:
        raise Failed("the same answer once the session stands", f"{first.payload.hex(' ')}, then "
                     f"{third.payload.hex(' ')}")  # fmt: skip


@requirement(
    "2.3", "Session numbers are fresh",
    "Both sides bring a random number of 32 bits, never 0, fresh for each session.", section="3",
)  # fmt: skip
async def numbers_are_fresh(b: Bench) -> None:
    numbers = []
    for _ in range(4):
        session = await b.raw(identify=False)
        numbers.append(session.peer)
        session.end()
        await asyncio.sleep(0.02)
    if len(set(numbers)) < len(numbers):
        raise Failed("four numbers for four sessions", ", ".join(f"{number:08x}" for number in numbers))
    steps = {(second - first) & 0xFFFFFFFF for first, second in pairwise(numbers)}
    if len(steps) == 1 and steps.pop() in (1, 0xFFFFFFFF):
        raise Failed("random numbers", "a count: " + ", ".join(f"{number:08x}" for number in numbers))


@requirement(
    "2.4", "The tag is the exclusive or",
    "the tag of the session is the exclusive or of the two. … With this frame the new session stands at the MCU",
    section="3",
)  # fmt: skip
async def the_tag(b: Bench) -> None:
    session = await b.raw(identify=False)
    await session.identify()
    since = b.tap.mark()
    await session.ask(Ping, Pong)
    wrong = [frame for frame in b.tap.frames(since) if frame.session != session.tag]
    if wrong:
        raise Failed(f"the tag {session.tag:08x} in each frame of the session", f"{wrong[0].session:08x}")


@requirement(
    "2.5", "DATA is numbered from 0",
    "DATA is numbered from 0 in both directions.", section="3",
)  # fmt: skip
async def data_is_numbered_from_zero(b: Bench) -> None:
    for _ in range(2):
        session = await b.raw(identify=False)
        since = b.tap.mark()
        await session.identify()
        first = next(frame for frame in b.tap.frames(since) if frame.kind == FrameKind.DATA)
        if first.seq != 0:
            raise Failed("seq 0 in the board's first DATA frame", str(first.seq))
        await session.expect_ack(1, since=since)
        session.end()


@requirement(
    "2.6", "A HELLO does not touch a running session",
    "A HELLO that was delayed or echoed must not end a running session: only the first frame with the new tag does.",
    section="14",
)  # fmt: skip
async def hello_touches_nothing(b: Bench) -> None:
    session = await b.raw()
    other = b.unopened()
    await offered(other)
    b.tap.say(session.hello())
    await asyncio.sleep(0.3)
    await session.expect_alive("HELLO of another session, and its own HELLO again")


@requirement(
    "2.7", "A new session ends the old one",
    "With this frame the new session stands at the MCU, and an older one ends there.", section="3",
)  # fmt: skip
async def a_new_session_ends_the_old(b: Bench) -> None:
    old = await b.raw()
    old.alive = False
    new = await b.raw()
    since = b.tap.mark()
    b.tap.say(old.data(Ping(90)))
    await new.expect_reset(old.tag, since=since)
    if 90 in new.pongs(since):
        raise Failed("no Pong to a Ping of the old session", "Pong")
    await new.expect_alive("a frame of an older session")


@requirement(
    "2.8", "An unknown tag is answered with RESET",
    "A frame of the host with an unknown tag is answered with RESET carrying that tag.", section="3",
)  # fmt: skip
async def an_unknown_tag(b: Bench) -> None:
    session = await b.raw()
    since = b.tap.mark()
    tag = fresh_number()
    frame = session.frame(FrameKind.DATA, b"\x02\x5b\x00")
    b.tap.say(Frame("host", frame.kind, tag, frame.seq, frame.ack, frame.payload))
    reset = await session.expect_reset(tag, since=since)
    assert isinstance(reset.item, Frame)
    if reset.item.seq or reset.item.ack:
        raise Failed("seq and ack 0 in RESET", f"seq {reset.item.seq}, ack {reset.item.ack}")
    if 91 in session.pongs(since):
        raise Failed("no Pong to a Ping of an unknown session", "Pong")
    await session.expect_alive("a frame with an unknown tag")


@requirement(
    "2.9", "Without a session every tag is unknown",
    "RESET – MCU: I know no such session.", section="2",
)  # fmt: skip
async def without_a_session(b: Bench) -> None:
    session = await b.raw()
    session.end()
    await asyncio.sleep(0.1)
    since = b.tap.mark()
    b.tap.say(session.frame(FrameKind.ACK))
    await session.expect_reset(session.tag, since=since)


@requirement(
    "2.10", "No session before the host confirms",
    "The host sends its first frame with the new tag … With this frame the new session stands at the MCU", section="3",
)  # fmt: skip
async def no_session_before_it_is_confirmed(b: Bench) -> None:
    session = b.unopened()
    answer = await offered(session)
    session.peer = int.from_bytes(answer.payload[:4], "little")
    since = b.tap.mark()
    await session.never(
        "no frame of a session that the host has not confirmed", session.is_ours, 0.8, since
    )  # fmt: skip


@requirement(
    "2.11", "HELLO of another link version",
    "HELLO of another link version is answered with HELLO_ACK in the MCU's own version, payload five zeros. … no "
    "session stands.", section="3",
)  # fmt: skip
async def hello_of_another_version(b: Bench) -> None:
    session = b.unopened()
    since = b.tap.mark()
    b.tap.say(session.hello(version=2))
    found = await session.expect("HELLO_ACK", lambda frame: frame.kind == FrameKind.HELLO_ACK, 0.5, since)
    answer = found.item
    assert isinstance(answer, Frame)
    if (answer.session, answer.version, answer.payload) != (session.own, 1, bytes(5)):
        raise Failed(
            f"HELLO_ACK {session.own:08x} in version 1 with five zeros",
            f"{answer.session:08x}, version {answer.version}, {answer.payload.hex(' ')}",
        )
    since = b.tap.mark()
    b.tap.say(Frame("host", FrameKind.ACK, session.own))
    await session.expect_reset(session.own, since=since)


@requirement(
    "2.12", "A HELLO of the board's own",
    "Own frames that come back (an echoing line, a loose connector) are known by bit 7 and ignored", section="2",
)  # fmt: skip
async def an_echoed_hello(b: Bench) -> None:
    session = b.unopened()
    since = b.tap.mark()
    b.tap.say(Frame("mcu", FrameKind.HELLO, session.own, payload=b"\x08"))
    await session.never("no answer to a HELLO with bit 7 set", lambda frame: True, 0.5, since)


@requirement(
    "2.13", "BYE ends the session",
    "BYE | – | the sender ends the session on purpose … the board need not wait for silence.", section="3",
)  # fmt: skip
async def bye_ends_the_session(b: Bench) -> None:
    session = await b.raw()
    session.end()
    await asyncio.sleep(0.1)
    since = b.tap.mark()
    await session.never("silence of the board after BYE", session.is_ours, 0.8, since)
    b.tap.say(session.data(Ping(92)))
    await session.expect_reset(session.tag, since=since)
    if 92 in session.pongs(since):
        raise Failed("no Pong after BYE", "Pong")


@requirement(
    "2.14", "Identity answers Identify",
    "The first message of a session is Identify; the answer tells protocol, firmware, model, serial number, boot_id …",
    section="3",
)  # fmt: skip
async def identity_answers(b: Bench) -> None:
    told: list[Identity] = []
    for _ in range(2):
        session = await b.raw(identify=False)
        told.append(await session.identify())
        session.end()
    if told[0].boot_id != told[1].boot_id:
        raise Failed("the same boot_id in every session of one start", f"{told[0].boot_id:08x}, {told[1].boot_id:08x}")
    if not told[0].boot_id:
        raise Failed("a random boot_id", "0")
    if not told[0].firmware or not told[0].model:
        raise Failed("a firmware version and a model", f"{told[0].firmware!r}, {told[0].model!r}")


@requirement(
    "2.15", "A reset changes boot_id and ends the session",
    "boot_id (random, new at each start of the MCU) … A changed boot_id means that the board has forgotten what "
    "it was doing.", section="3", deeds=("reset",),
)  # fmt: skip
async def a_reset_changes_boot_id(b: Bench) -> None:
    session = await b.raw(identify=False)
    before = await session.identify()
    since = b.tap.mark()
    await b.do("reset")
    found = await b.tap.wait_for(
        lambda one: one.is_kind(FrameKind.RESET) and getattr(one.item, "session", 0) == session.tag, 20.0, since
    )
    if found is None:
        raise Failed(f"RESET {session.tag:08x} within 20 s of a reset, as the board knows no session any more",
                     described(b.tap.heard[since:]))  # fmt: skip
    session.end(goodbye=False)
    after = await (await b.raw(identify=False)).identify()
    if before.boot_id == after.boot_id:
        raise Failed("another boot_id after a reset", f"{after.boot_id:08x} as before")
    if (before.serial_number, before.model) != (after.serial_number, after.model):
        raise Failed("the same board after a reset", f"{after.model} {after.serial_number}")


@requirement(
    "2.16", "The protocol majors do not meet",
    "Where the protocol majors do not meet … the board refuses operations with unsupported.", section="3",
)  # fmt: skip
async def majors_do_not_meet(b: Bench) -> None:
    session = await b.raw(identify=False)
    await session.ask(lambda req: Identify(req, 201, 202, "kaijin conform"), Identity)
    await session.settle()
    op = b.new_op()
    operation = b.harmless(op)
    since = b.tap.mark()
    session.send(operation)
    found = await session.message(lambda one: getattr(one, "op", None) == op, 1.0)
    if not isinstance(found, OpRefused) or found.reason != "unsupported":
        raise Failed(
            f"{type(operation).__name__} refused, unsupported: the host speaks protocol 201 to 202 only",
            described(b.tap.heard[since:]),
        )


@requirement(
    "2.17", "The window is kept",
    "The window of both sides is the smaller of the two told: so many DATA frames may be unacknowledged.", section="3",
)  # fmt: skip
async def the_window_is_kept(b: Bench) -> None:
    for window in (1, 2):
        session = await b.raw(window=window)
        session.acknowledge = False
        since = b.tap.mark()
        for number in range(4):
            session.send(Ping(100 + number))
            await session.expect_ack(session.seq)
        await asyncio.sleep(0.5)
        seqs = {frame.seq for frame in b.tap.frames(since) if frame.kind == FrameKind.DATA and session.is_ours(frame)}
        if not seqs:
            raise Failed("a first Pong", "no DATA")
        if len(seqs) > window:
            raise Failed(
                f"at most {window} unacknowledged DATA frames, as the host's HELLO said", f"{len(seqs)}: {sorted(seqs)}"
            )
        session.end()


@requirement(
    "2.18", "Nothing of an old session comes in a new one",
    "Nothing of an old session is ever sent in a new one by the link; whoever wanted it asks again.", section="3",
)  # fmt: skip
async def nothing_old_in_a_new_session(b: Bench) -> None:
    old = await b.raw(window=1)
    old.acknowledge = False
    for number in range(3):
        old.send(Ping(120 + number))
        await old.expect_ack(old.seq)
    old.alive = False
    new = b.unopened()
    answer = await offered(new)
    since = b.tap.mark()
    new.take(answer)
    await new.identify()
    await asyncio.sleep(0.5)
    late = [req for req in new.pongs(since) if req >= 120]
    if late:
        raise Failed("no answer to a request of the session before", f"Pong {late}")


@requirement(
    "2.19", "The board says nothing before Identify but what the link needs",
    "The first message of a session is Identify.", section="3",
)  # fmt: skip
async def nothing_before_identify(b: Bench) -> None:
    session = await b.raw(identify=False)
    since = b.tap.mark()
    await asyncio.sleep(0.6)
    data = [heard for heard in b.tap.heard[since:] if heard.is_kind(FrameKind.DATA)]
    if data:
        raise Failed("no DATA before the host's Identify", described(data))
    if not any(session.is_ours(frame) for frame in b.tap.frames(since)):
        raise Skipped("the board said nothing at all: 5.1 looks at that")
