"""5: heartbeats, and what a board does without its host (section 5)."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Final

from hil.conform.bench import Bench, ended_too_soon
from hil.conform.endpoint import described
from hil.conform.raw import RawSession, encoded
from hil.conform.requirement import Failed, Skipped, requirement
from hil.conform.suite.deal import sorting
from protocol.serial.frames import DELIMITER, Frame, FrameKind
from protocol.serial.messages import (
    DiceOutcome,
    DiceRoll,
    OpAccepted,
    OpResult,
    Ping,
)

HEARTBEAT_S: Final = 0.3
HOST_GONE_S: Final = 1.0


async def expect_gone(b: Bench, session: RawSession, after: str) -> None:
    """The board holds the session for lost: a frame of it is answered with RESET, and is not acted on."""
    since = b.tap.mark()
    b.tap.say(session.data(Ping(300)))
    found = await b.tap.wait_for(
        lambda one: isinstance(one.item, Frame)
        and one.item.kind == FrameKind.RESET
        and one.item.session == session.tag,
        0.5 + b.slack,
        since,
    )
    if found is None or 300 in session.pongs(since):
        raise Failed(f"RESET, as the session is over after {after}", described(b.tap.heard[since:]))


@requirement(
    "5.1", "Heartbeat",
    "Who has sent nothing for 300 ms sends ACK.", section="5",
)  # fmt: skip
async def heartbeat(b: Bench) -> None:
    session = await b.raw()
    since, began = b.tap.mark(), b.now()
    await asyncio.sleep(2.5)
    times = [began, *(one.at for one in b.tap.heard[since:] if isinstance(one.item, Frame)
                      and session.is_ours(one.item)), b.now()]  # fmt: skip
    gap = max(later - earlier for earlier, later in pairwise(times))
    b.note(f"longest silence {1000 * gap:.0f} ms")
    if gap > HEARTBEAT_S + b.slack:
        every = f"a frame of the session at least every {1000 * HEARTBEAT_S:.0f} ms"
        raise Failed(every, f"{1000 * gap:.0f} ms of silence")


@requirement(
    "5.2", "The host may be silent for a while",
    "The host declares the link lost after 2.0 s of silence, the MCU its host after 1.0 s.", section="5",
)  # fmt: skip
async def silent_for_a_while(b: Bench) -> None:
    for _ in range(3):
        session = await b.raw()
        session.alive = False
        began = b.now()
        await asyncio.sleep(HOST_GONE_S - 0.15 - min(b.slack, 0.3))
        if b.now() - began < HOST_GONE_S - 0.05:
            await session.expect_alive(f"{b.now() - began:.2f} s without a word of the host")
            return
        session.end()
    raise Skipped("this machine is too slow to be silent for less than a second")


@requirement(
    "5.3", "The host is lost after 1.0 s",
    "The host declares the link lost after 2.0 s of silence, the MCU its host after 1.0 s.", section="5",
)  # fmt: skip
async def the_host_is_lost(b: Bench) -> None:
    session = await b.raw()
    session.quiet()
    session.ack()
    await asyncio.sleep(HOST_GONE_S + 0.1 + b.slack)
    await expect_gone(b, session, f"{HOST_GONE_S + 0.1 + b.slack:.2f} s of silence")


@requirement(
    "5.4", "Echoes are no sign of life",
    "Own frames that come back … are known by bit 7 and ignored; they are no sign of life.", section="2",
)  # fmt: skip
async def echoes_are_no_life(b: Bench) -> None:
    session = await b.raw()
    session.quiet()
    session.ack()
    echo = session.frame(FrameKind.ACK)
    until = b.now() + HOST_GONE_S + 0.3 + b.slack
    while b.now() < until:
        b.tap.say(Frame("mcu", FrameKind.ACK, echo.session, echo.seq, echo.ack))
        await asyncio.sleep(0.1)
    await expect_gone(b, session, "more than a second of echoes alone")


@requirement(
    "5.5", "Noise is no sign of life",
    "Any valid frame of the session counts as life.", section="5",
)  # fmt: skip
async def noise_is_no_life(b: Bench) -> None:
    session = await b.raw()
    session.quiet()
    session.ack()
    until = b.now() + HOST_GONE_S + 0.3 + b.slack
    while b.now() < until:
        b.tap.write(DELIMITER + b"\x55AT\r\n" + DELIMITER)
        # The HELLO of somebody is no frame of this session either.
        b.tap.say(RawSession(b.tap).hello())
        await asyncio.sleep(0.1)
    await expect_gone(b, session, "more than a second of noise and HELLOs alone")


@requirement(
    "5.6", "Any frame of the session is a sign of life",
    "Any valid frame of the session counts as life.", section="5",
)  # fmt: skip
async def any_frame_is_life(b: Bench) -> None:
    session = await b.raw()
    session.alive = False
    repeated = encoded(session.data(Ping(310)))
    for number in range(12):
        if number % 2:
            session.say(session.frame(FrameKind.NAK))
        else:
            b.tap.write(DELIMITER + repeated + DELIMITER)
        await asyncio.sleep(0.2)
    await session.expect_alive("2.4 s in which the host said nothing but NAKs and repetitions")


@requirement(
    "5.7", "Silence is judged before what has just arrived",
    "Silence is judged before anything that has just arrived is read: a board that wakes after 20 s first knows that "
    "it was away, and acts on nothing of the flood that waits for it.", section="5", deeds=("freeze",),
)  # fmt: skip
async def silence_is_judged_first(b: Bench) -> None:
    session = await b.raw()
    op = b.new_op()
    operation = b.harmless(op)
    since = b.tap.mark()
    freezing = asyncio.create_task(b.do("freeze"))
    await asyncio.sleep(0.2)
    session.say(session.data(operation), session.data(Ping(320)))
    await freezing
    await asyncio.sleep(0.5)
    if 320 in session.pongs(since):
        raise Failed("nothing of what came while the board stood still to be acted on", "Pong")
    answered = [frame for frame in b.tap.frames(since) if frame.kind == FrameKind.DATA and frame.payload != b""
                and frame.payload[:1] in (b"\xa0", b"\xa1", b"\xa3")]  # fmt: skip
    if answered:
        raise Failed("no operation begun that came while the board stood still", described(b.tap.heard[since:]))
    session.end(goodbye=False)
    answer = await (await b.talk()).begin(operation)
    if not isinstance(answer, OpAccepted):
        raise Failed("the id not begun before: OpAccepted", str(answer))


@requirement(
    "5.8", "Motors stop without a host",
    "The MCU then stops every motor unaided … What was stopped half-way has the result interrupted.", section="5",
    profile="deal", moves=True,
)  # fmt: skip
async def motors_stop_without_a_host(b: Bench) -> None:
    talk = await b.talk()
    sort = await sorting(b, talk)
    b.end(goodbye=False)
    await asyncio.sleep(HOST_GONE_S + 0.4 + b.slack)
    talk = await b.talk()
    answer = await talk.begin(sort)
    if not isinstance(answer, OpResult) or answer.outcome != "interrupted":
        raise Failed(f"the result interrupted, as the host was silent for {HOST_GONE_S + 0.4:.1f} s", str(answer))
    status = await talk.status()
    if status.sorting_set or status.running_op is not None:
        raise Failed("nothing that runs", str(status))


@requirement(
    "5.9", "A throw is finished without a host",
    "A throw that has begun is finished and read by the MCU alone, host or not.", section="6", profile="dice",
    moves=True,
)  # fmt: skip
async def a_throw_is_finished(b: Bench) -> None:
    if not b.throws:
        raise Skipped(f"dice {b.claim.identity.capabilities.dice}: the board throws none")
    talk = await b.talk()
    roll = DiceRoll(b.new_op())
    if ended_too_soon(await talk.begin(roll)):
        raise Skipped("the throw was over at once: nothing can be tried meanwhile")
    b.end(goodbye=False)
    await asyncio.sleep(HOST_GONE_S + 0.4 + b.slack)
    talk = await b.talk()
    answer = await talk.begin(roll)
    if isinstance(answer, OpAccepted):
        answer = await talk.result(roll.op)
    if not isinstance(answer, OpResult) or answer.outcome != "done":
        raise Failed("the throw finished and its result kept", str(answer))
    DiceOutcome.unpack(answer.values)
