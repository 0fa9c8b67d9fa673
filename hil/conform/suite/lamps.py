"""7.3: lamps and sounds, which move nothing and are always taken (section 6)."""

from __future__ import annotations

from hil.conform.bench import Bench
from hil.conform.raw import RawSession
from hil.conform.requirement import requirement
from protocol.serial.messages import SIDES, Buzzer, Lamp, LampsOff, Message


async def taken(b: Bench, session: RawSession, message: Message, what: str) -> None:
    """A show is acknowledged, and the link goes on."""
    since = b.tap.mark()
    session.send(message)
    await session.expect_ack(session.seq, since=since)
    await session.expect_alive(what)


@requirement(
    "7.3.1", "Lamps are taken",
    "Light a range of stacks of one side; the same range again replaces its colour.", section="9", profile="lamps",
)  # fmt: skip
async def lamps_are_taken(b: Bench) -> None:
    session = await b.raw()
    for side in SIDES:
        await taken(b, session, Lamp(side, 0, 3, side), f"a lamp at {side}")
        await taken(b, session, Lamp(side, 0, 3, "gold"), f"the same lamp at {side} in gold")
        await taken(b, session, Lamp(side, 0, 3, "off"), f"the same lamp at {side} off")
    await taken(b, session, LampsOff(), "LampsOff")


@requirement(
    "7.3.2", "Ranges that are none do no harm",
    "first stack, 0-based from the side's right-hand end … last stack, inclusive … Nothing may make a receiver "
    "fail or wait.", section="9",
)  # fmt: skip
async def ranges_that_are_none(b: Bench) -> None:
    session = await b.raw()
    for first, last in ((0, 255), (255, 255), (200, 210), (20, 3), (40, 41)):
        await taken(b, session, Lamp("N", first, last, "gold"), f"a lamp of the stacks {first} to {last}")
    await taken(b, session, LampsOff(), "LampsOff")


@requirement(
    "7.3.3", "Every pattern of the buzzer is taken",
    "0 short, 1 double, 2 long, 3 alarm; others as the board likes.", section="9",
)  # fmt: skip
async def every_pattern(b: Bench) -> None:
    session = await b.raw()
    for pattern in (0, 200, 255):
        await taken(b, session, Buzzer(pattern), f"pattern {pattern} of the buzzer")


@requirement(
    "7.3.4", "Lamps do not need motors",
    "sort stop, read wall, all queries, lamps, buzzer, service end | always (they move nothing)", section="6",
)  # fmt: skip
async def lamps_need_no_motors(b: Bench) -> None:
    talk = await b.talk()
    await talk.stop("kaijin conform 7.3.4")
    for message in (Lamp("E", 0, 1, "gold"), LampsOff(), Buzzer(0)):
        talk.send(message)
    await talk.status()
