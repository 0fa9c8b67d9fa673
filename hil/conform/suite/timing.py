"""8: times of the line and of the mechanisms (sections 4, 5 and 8); what the contract leaves open is only told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hil.conform.bench import Bench
from hil.conform.requirement import Failed, Skipped, requirement
from hil.conform.suite.session import offered
from protocol.serial.frames import FrameKind
from protocol.serial.messages import Counters, CountersQuery, DiceRoll, Ping, Pong
from protocol.serial.vocabulary import LEARNED


def told(seconds: Sequence[float]) -> str:
    """Median, nearly all, worst."""
    ordered = sorted(seconds)
    nearly = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    usual, worst = ordered[len(ordered) // 2], ordered[-1]
    return f"median {1000 * usual:.1f} ms, p99 {1000 * nearly:.1f} ms, worst {1000 * worst:.1f} ms"


@requirement(
    "8.1", "HELLO is answered before the next one",
    "The host sends HELLO (session = its number) every 250 ms until it is answered.", section="3",
)  # fmt: skip
async def hello_is_answered_soon(b: Bench) -> None:
    took = []
    for _ in range(3):
        session = b.unopened()
        began = b.now()
        await offered(session)
        took.append(b.now() - began)
    b.note(told(took))
    if max(took) > 0.25 + b.slack:
        raise Failed("HELLO_ACK within 250 ms", told(took))


@requirement(
    "8.2", "Round trip",
    "RTO = SRTT + 4·RTTVAR, at first 100 ms", section="4",
)  # fmt: skip
async def round_trip(b: Bench) -> None:
    session = await b.raw()
    took = []
    for _ in range(50):
        began = b.now()
        await session.ask(Ping, Pong)
        took.append(b.now() - began)
    b.note(told(took))
    usual = sorted(took)[len(took) // 2]
    if usual > 0.1 + b.slack:
        raise Failed("a Pong within 100 ms, mostly", told(took))


@requirement(
    "8.3", "A full window all the time",
    "so many DATA frames may be unacknowledged. … Within a session each message arrives once and in order, or the "
    "session ends.", section="4",
)  # fmt: skip
async def a_full_window(b: Bench) -> None:
    session = await b.raw()
    since, began, req = b.tap.mark(), b.now(), 2000
    while b.now() - began < 2.0 and req < 3000:
        session.send(*(Ping(req + number) for number in range(session.window)))
        req += session.window
        last = req - 1
        if await session.message(lambda one, last=last: one == Pong(last), 1.0 + b.slack) is None:  # type: ignore[misc]
            raise Failed(f"Pong {last} within 1 s at a full window", f"{len(session.messages)} messages so far")
    pongs = [one.req for one in session.messages if isinstance(one, Pong) and one.req >= 2000]
    if pongs != list(range(2000, req)):
        raise Failed(f"{req - 2000} Pongs, each once and in order", f"{len(pongs)}")
    b.note(f"{(req - 2000) / (b.now() - began):.0f} requests a second at a window of {session.window}")
    if naks := session.count(FrameKind.NAK, since):
        b.note(f"{naks} NAKs: bytes were lost on the way")


@requirement(
    "8.4", "The session lasts",
    "Any valid frame of the session counts as life. … the MCU its host after 1.0 s.", section="5",
)  # fmt: skip
async def the_session_lasts(b: Bench) -> None:
    session = await b.raw()
    since = b.tap.mark()
    await asyncio.sleep(5.0)
    if any(frame.kind == FrameKind.RESET for frame in b.tap.frames(since)):
        raise Failed("a session that lasts as long as the host says ACK", "RESET")
    await session.expect_alive("5 s of ACKs alone")


@requirement(
    "8.5", "Times that were learned",
    "The board learns the usual time of each movement (mean of recent cycles, Counters.learned_ms).", section="8",
    profile="dice", moves=True,
)  # fmt: skip
async def times_that_were_learned(b: Bench) -> None:
    if not b.throws:
        raise Skipped(f"dice {b.claim.identity.capabilities.dice}: the board throws none")
    talk = await b.talk()
    await talk.run(DiceRoll(b.new_op()))
    learned = dict(zip(LEARNED, (await talk.ask(CountersQuery, Counters)).learned_ms, strict=True))
    b.note(", ".join(f"{name} {ms} ms" for name, ms in learned.items() if ms) or "none learned")
    if not learned["dice"]:
        raise Failed("a learned time of the dice after a throw", "0")
