"""6: stops latch, keep their first reason, and are cleared by a person (section 7)."""

from __future__ import annotations

import asyncio

from hil.conform.bench import Bench
from hil.conform.requirement import Failed, requirement
from hil.conform.suite.deal import sorting
from hil.conform.talk import Talk
from protocol.serial.messages import (
    Counters,
    CountersQuery,
    DiceFaces,
    DiceQuery,
    OpRefused,
    Ping,
    Pong,
    Sensors,
    SensorsQuery,
    StopCleared,
    StopLatched,
)


async def expect_latched(talk: Talk, reason: str, when: str) -> None:
    """Status tells this reason."""
    told = (await talk.status()).stop_reason
    if told != reason:
        raise Failed(f"a latched stop with the reason {reason!r} {when}", repr(told) if told else "no stop is latched")


@requirement(
    "6.1", "EmergencyStop latches",
    "EmergencyStop … latch a stop. The first reason is kept and told (StopLatched, Identity, Status)", section="7",
)  # fmt: skip
async def it_latches(b: Bench) -> None:
    talk = await b.talk()
    answer = await talk.stop("kaijin conform 6.1")
    if (answer.reason, answer.req) != ("kaijin conform 6.1", 0):
        raise Failed("StopLatched with the reason that was given and req 0", str(answer))
    await asyncio.sleep(0.2)
    await expect_latched(talk, "kaijin conform 6.1", "in Status")


@requirement(
    "6.2", "The first reason is kept",
    "The first reason is kept and told … later ones change nothing.", section="7",
)  # fmt: skip
async def the_first_reason(b: Bench) -> None:
    talk = await b.talk()
    await talk.stop("the first")
    again = await talk.stop("the second")
    if again.reason != "the first":
        raise Failed("StopLatched with the first reason, 'the first'", repr(again.reason))
    await expect_latched(talk, "the first", "after another EmergencyStop")


@requirement(
    "6.3", "A stop outlives the session",
    "The first reason is kept and told (StopLatched, Identity, Status) … A person clears it", section="7",
)  # fmt: skip
async def it_outlives_the_session(b: Bench) -> None:
    talk = await b.talk()
    await talk.stop("kaijin conform 6.3")
    for goodbye in (True, False):
        b.end(goodbye)
        talk = await b.talk()
        if talk.identity.stop_reason != "kaijin conform 6.3":
            raise Failed("the latched stop in Identity of a new session", repr(talk.identity.stop_reason))
        await expect_latched(talk, "kaijin conform 6.3", "in a new session")


@requirement(
    "6.4", "ClearStop is answered",
    "ClearStop is answered by StopCleared, or by StopLatched with its number while the cause is still there.",
    section="7",
)  # fmt: skip
async def clear_stop_is_answered(b: Bench) -> None:
    talk = await b.talk()
    await talk.stop("kaijin conform 6.4")
    answer = await talk.clear()
    if not isinstance(answer, StopCleared):
        raise Failed("StopCleared: nothing holds the stop", str(answer))
    await expect_latched(talk, "", "after StopCleared")
    answer = await talk.clear()
    if not isinstance(answer, StopCleared):
        raise Failed("StopCleared where none is latched", str(answer))


@requirement(
    "6.5", "Queries are answered while a stop is latched",
    "While latched, queries are answered.", section="7",
)  # fmt: skip
async def queries_are_answered(b: Bench) -> None:
    talk = await b.talk()
    await talk.stop("kaijin conform 6.5")
    await talk.ask(Ping, Pong)
    await talk.status()
    await talk.ask(SensorsQuery, Sensors)
    await talk.ask(CountersQuery, Counters)
    await talk.ask(DiceQuery, DiceFaces)


@requirement(
    "6.6", "Operations are refused while a stop is latched",
    "While latched, … operations refused with latched.", section="7", moves=True,
)  # fmt: skip
async def operations_are_refused(b: Bench) -> None:
    talk = await b.talk()
    await talk.stop("kaijin conform 6.6")
    operation = b.mild(b.new_op())
    answer = await talk.begin(operation)
    if not isinstance(answer, OpRefused) or answer.reason != "latched":
        if not isinstance(answer, OpRefused):
            await talk.result(operation.op)
        raise Failed(f"{type(operation).__name__} refused, latched", str(answer))


@requirement(
    "6.7", "A stop without a reason is a stop",
    "stop_reason … first reason of the latched stop; empty: none latched", section="9",
)  # fmt: skip
async def without_a_reason(b: Bench) -> None:
    talk = await b.talk()
    answer = await talk.stop("")
    told = (await talk.status()).stop_reason
    if not told or not answer.reason:
        raise Failed("a reason of the board's own for a stop that came without one, as empty says that none is latched",
                     f"StopLatched {answer.reason!r}, Status {told!r}")  # fmt: skip


@requirement(
    "6.8", "A stop stops what runs",
    "All motors stop; running operations end interrupted.", section="7", profile="deal", moves=True,
)  # fmt: skip
async def it_stops_what_runs(b: Bench) -> None:
    talk = await b.talk()
    since = len(talk.heard)
    sort = await sorting(b, talk)
    await talk.stop("kaijin conform 6.8")
    result = await talk.result(sort.op, 3.0, since)
    if result.outcome != "interrupted":
        raise Failed("the result interrupted", str(result))
    if (await talk.status()).sorting_set:
        raise Failed("no sort under way", "Status tells one")


@requirement(
    "6.9", "The stop button",
    "the stop button … latch a stop. … by StopLatched with its number while the cause is still there.",
    section="7", deeds=("press_stop", "release_stop"),
)  # fmt: skip
async def the_stop_button(b: Bench) -> None:
    talk = await b.talk()
    since = len(talk.heard)
    await b.do("press_stop")
    told = await talk.message(lambda one: isinstance(one, StopLatched), 2.0, since)
    if not isinstance(told, StopLatched) or told.req or not told.reason:
        raise Failed("StopLatched with a reason and req 0 when the stop button is pressed", talk.told(since))
    answer = await talk.clear()
    if not isinstance(answer, StopLatched):
        raise Failed("StopLatched with the number of ClearStop while the button is in", str(answer))
    await b.do("release_stop")
    await expect_latched(talk, told.reason, "after the button was turned out")
    answer = await talk.clear()
    if not isinstance(answer, StopCleared):
        raise Failed("StopCleared once the button is out", str(answer))
