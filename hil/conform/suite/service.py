"""7.5: service mode, its key, jogs and self-tests (section 7)."""

from __future__ import annotations

import asyncio
from typing import Final

from hil.conform.bench import Bench
from hil.conform.requirement import Failed, Skipped, requirement
from hil.conform.talk import Talk
from protocol.serial.messages import (
    MOTORS,
    SELF_TESTS,
    DiceUnasked,
    Jog,
    OpAccepted,
    Operation,
    OpRefused,
    OpResult,
    SelfTest,
    SelfTestOutcome,
    ServiceEnd,
)
from protocol.serial.wire import MessageError

GENTLE_MS: Final = 50
"""A jog so short moves next to nothing."""
MOTORS_TEST: Final = SELF_TESTS.index("motors")
SUPPLY: Final = SELF_TESTS.index("supply")


def motor(b: Bench) -> int:
    """The motor that is jogged: the dice where there are any, else the stirrer; neither has an end."""
    return MOTORS.index("dice" if b.throws else "stirrer")


async def refused(talk: Talk, operation: Operation, why: str) -> None:
    """Failed where it is not refused; `unsupported` where the board has no such thing is one too."""
    answer = await talk.begin(operation)
    if isinstance(answer, OpRefused) and answer.reason == "unsupported":
        raise Skipped(f"{type(operation).__name__} is not supported by this board")
    if not isinstance(answer, OpRefused) or answer.reason != "service_mode":
        raise Failed(f"{type(operation).__name__} refused, service_mode: {why}", str(answer))


async def service_on(b: Bench, talk: Talk) -> None:
    """Service mode is on; Failed where the held key does not turn it on."""
    if (await talk.sensors())["service_mode"]:
        return
    await b.do("turn_service")
    if not (await b.until(talk.sensors, lambda bits: bits["service_mode"], 2.0))["service_mode"]:
        raise Failed("the bit service_mode set after the service key was held for more than 3 s", "clear")


async def service_off(b: Bench, talk: Talk) -> None:
    """Service mode is off."""
    talk.send(ServiceEnd())
    if (await talk.sensors())["service_mode"]:
        raise Failed("the bit service_mode clear after ServiceEnd", "set")


@requirement(
    "7.5.1", "ServiceEnd is always taken",
    "ServiceEnd turns it off at any time … Moves nothing, always taken.", section="7", profile="service",
)  # fmt: skip
async def service_end_is_taken(b: Bench) -> None:
    talk = await b.talk()
    await service_off(b, talk)
    b.end()
    if (await b.talk()).identity.capabilities.service:
        raise Failed("service off in Identity", "on")


@requirement(
    "7.5.2", "No self-test outside service mode",
    "other self-tests | service mode", section="6", profile="service",
)  # fmt: skip
async def no_self_test_outside(b: Bench) -> None:
    talk = await b.talk()
    await service_off(b, talk)
    await refused(talk, SelfTest(b.new_op(), SUPPLY), "the board is not in service mode")


@requirement(
    "7.5.3", "No jog outside service mode",
    "jog, self-test that moves | service mode, the service key held at the table all the while", section="6",
    profile="service", provokes=True,
)  # fmt: skip
async def no_jog_outside(b: Bench) -> None:
    talk = await b.talk()
    await service_off(b, talk)
    await refused(talk, Jog(b.new_op(), motor(b), GENTLE_MS), "the board is not in service mode")


@requirement(
    "7.5.4", "The key turns service mode on and off",
    "The service key held for 3 s turns the board's service mode on or off when it is let go.", section="7",
    profile="service", deeds=("turn_service",),
)  # fmt: skip
async def the_key_turns_it(b: Bench) -> None:
    talk = await b.talk()
    await service_off(b, talk)
    await service_on(b, talk)
    await b.do("turn_service")
    if (await b.until(talk.sensors, lambda bits: not bits["service_mode"], 2.0))["service_mode"]:
        raise Failed("the bit service_mode clear after the key was held once more", "set")


@requirement(
    "7.5.5", "A self-test tells what it found",
    "Run one self-test; SelfTestOutcome in the result. … number, fault no. or 0, side or 255; for each test",
    section="9",
    profile="service", deeds=("turn_service",),
)  # fmt: skip
async def a_self_test(b: Bench) -> None:
    talk = await b.talk()
    await service_on(b, talk)
    test = SelfTest(b.new_op(), SUPPLY)
    if isinstance(first := await talk.begin(test), OpRefused):
        raise Failed("a self-test that moves nothing to run in service mode, the key not held", first.reason)
    result = await talk.result(test.op)
    try:
        checks = SelfTestOutcome.unpack(result.values).checks
    except MessageError as error:
        raise Failed("a SelfTestOutcome in the result of SelfTest", str(error)) from None
    if not checks or any(number != SUPPLY for number, _, _ in checks):
        raise Failed(f"what test {SUPPLY} found", str(checks))
    if (result.outcome == "done") != all(not fault for _, fault, _ in checks):
        raise Failed("done where nothing was found, failed otherwise", f"{result.outcome}, {checks}")
    unknown = await talk.begin(SelfTest(b.new_op(), 250))
    if not isinstance(unknown, OpRefused) or unknown.reason not in ("unsupported", "bad_argument"):
        raise Failed("self-test 250 refused, unsupported", str(unknown))


@requirement(
    "7.5.6", "No jog without the key",
    "jog, self-test that moves | service mode, the service key held at the table all the while", section="6",
    profile="service",
    provokes=True, deeds=("turn_service",),
)  # fmt: skip
async def no_jog_without_the_key(b: Bench) -> None:
    talk = await b.talk()
    await service_on(b, talk)
    await refused(talk, Jog(b.new_op(), motor(b), GENTLE_MS), "nobody holds the service key")
    await refused(talk, SelfTest(b.new_op(), MOTORS_TEST), "it moves motors, and nobody holds the service key")


@requirement(
    "7.5.7", "A jog ends when the key is let go",
    "A jog, and a self-test that moves something, runs while the key is held and not a moment longer: let go, the "
    "motor stops and the result is interrupted.",
    section="7", profile="service", moves=True, deeds=("turn_service", "hold_key", "release_key"),
)  # fmt: skip
async def it_ends_with_the_key(b: Bench) -> None:
    talk = await b.talk()
    await service_on(b, talk)
    await b.do("hold_key")
    if not (await b.until(talk.sensors, lambda bits: bits["service_key"], 2.0))["service_key"]:
        raise Failed("the bit service_key set while the key is held", "clear")
    short = await talk.begin(Jog(b.new_op(), motor(b), GENTLE_MS))
    if not isinstance(short, OpAccepted):
        raise Failed("a jog in service mode with the key held", str(short))
    result = await talk.result(short.op)
    if result.outcome != "done":
        raise Failed(f"a jog of {GENTLE_MS} ms done", str(result))
    long = Jog(b.new_op(), motor(b), 20_000)
    since = len(talk.heard)
    if isinstance(first := await talk.begin(long), OpRefused):
        raise Failed("a jog in service mode with the key held", str(first))
    await asyncio.sleep(0.05)
    if any(isinstance(one, OpResult) for one in talk.heard[since:]):
        raise Skipped("the jog was over at once: nothing can be tried meanwhile")
    await b.do("release_key")
    found = await talk.message(lambda one: isinstance(one, OpResult) and one.op == long.op, 0.6 + b.slack, since)
    if not isinstance(found, OpResult):
        await talk.stop("kaijin conform 7.5.7")
        raise Failed("the jog stopped within 0.6 s of the key", "it went on")
    if found.outcome != "interrupted":
        raise Failed("the result interrupted", str(found))
    await service_off(b, talk)


@requirement(
    "7.5.8", "A reset ends service mode",
    "ServiceEnd turns it off at any time, and so does a reset.", section="7", profile="service",
    deeds=("turn_service", "reset"),
)  # fmt: skip
async def a_reset_ends_it(b: Bench) -> None:
    talk = await b.talk()
    await service_on(b, talk)
    b.end()
    await b.do("reset")
    talk = await b.talk()
    if talk.identity.capabilities.service or (await talk.sensors())["service_mode"]:
        raise Failed("service mode off after a reset", "on")


@requirement(
    "7.5.9", "Dice that were jogged are told",
    "Dice that were jogged are told as DiceUnasked.", section="7", profile="service", moves=True,
    deeds=("turn_service", "hold_key", "release_key"),
)  # fmt: skip
async def jogged_dice_are_told(b: Bench) -> None:
    if not b.throws:
        raise Skipped(f"dice {b.claim.identity.capabilities.dice}: the board throws none")
    talk = await b.talk()
    await service_on(b, talk)
    await b.do("hold_key")
    since = len(talk.heard)
    await talk.run(Jog(b.new_op(), MOTORS.index("dice"), GENTLE_MS))
    await b.do("release_key")
    if await talk.message(lambda one: isinstance(one, DiceUnasked), 1.0, since) is None:
        raise Failed("DiceUnasked after a jog of the dice", talk.told(since))
    await service_off(b, talk)
