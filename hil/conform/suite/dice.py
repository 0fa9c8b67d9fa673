"""7.1: dice that are thrown once, read without guessing, and never moved by a question (section 6)."""

from __future__ import annotations

import asyncio

from hil.conform.bench import Bench, ended_too_soon
from hil.conform.requirement import Failed, Skipped, requirement
from hil.conform.talk import Talk
from protocol.serial.messages import (
    DiceFaces,
    DiceOutcome,
    DiceQuery,
    DiceRoll,
    DiceUnasked,
    OpAccepted,
    OpRefused,
    OpResult,
)
from protocol.serial.wire import MessageError


async def faces(talk: Talk) -> DiceFaces:
    """What lies there."""
    return await talk.ask(DiceQuery, DiceFaces)


async def thrown(b: Bench, talk: Talk) -> tuple[DiceRoll, DiceOutcome]:
    """A throw to its end; Skipped at a board that throws none."""
    ability = b.claim.identity.capabilities.dice
    if not b.throws:
        raise Skipped(f"dice {ability}: the board throws none")
    roll = DiceRoll(b.new_op())
    return roll, outcome(await talk.run(roll))


def outcome(result: OpResult) -> DiceOutcome:
    """What a throw found, looked at: faces if and only if they were read without doubt."""
    if result.outcome != "done":
        raise Failed("a throw with the outcome done", f"{result.outcome} {result.fault}")
    try:
        found = DiceOutcome.unpack(result.values)
    except MessageError as error:
        raise Failed("a DiceOutcome in the result of DiceRoll", str(error)) from None
    if (found.dice is None) == (found.quality == "clean"):
        raise Failed("faces where the quality is clean, none otherwise", str(found))
    return found


@requirement(
    "7.1.1", "A question moves nothing",
    "DiceQuery tells the faces that lie there and moves nothing.", section="6", profile="dice",
)  # fmt: skip
async def a_question_moves_nothing(b: Bench) -> None:
    talk = await b.talk()
    before = await b.until(lambda: faces(talk), lambda one: not one.moving, 10.0)
    for _ in range(5):
        now = await faces(talk)
        await asyncio.sleep(0.1)
        if now.moving or (now.known, now.dice) != (before.known, before.dice):
            raise Failed(f"the same as before, {before}: a question throws nothing", str(now))
    if before.known != (0 not in before.dice):
        raise Failed("faces 1 to 6 where known, 0 and 0 where not", str(before))


@requirement(
    "7.1.2", "A throw and its result",
    "Throw the dice once; DiceOutcome in the result. … known only if both faces were read without doubt.", section="6",
    profile="dice", moves=True,
)  # fmt: skip
async def a_throw_and_its_result(b: Bench) -> None:
    talk = await b.talk()
    for _ in range(3):
        _, found = await thrown(b, talk)
        b.note(f"{found.dice} {found.quality}, spun {found.spin_ms} ms")
        ability = b.claim.identity.capabilities.dice
        if (ability == "unread") != (found.quality == "unread"):
            raise Failed(f"the quality that belongs to dice {ability}", found.quality)


@requirement(
    "7.1.3", "The faces that lie there are those of the result",
    "DiceQuery tells the faces that lie there.", section="6", profile="dice", moves=True,
)  # fmt: skip
async def those_of_the_result(b: Bench) -> None:
    talk = await b.talk()
    _, found = await thrown(b, talk)
    lying = await faces(talk)
    if found.dice is not None and (not lying.known or lying.dice != found.dice):
        raise Failed(f"the faces of the throw, {found.dice}", str(lying))
    if found.dice is None and lying.known:
        raise Failed(f"no faces, as the throw's were {found.quality}", str(lying))


@requirement(
    "7.1.4", "The same id throws no second time",
    "The MCU begins an id at most once … with its stored OpResult, always the same.", section="6", profile="dice",
    moves=True,
)  # fmt: skip
async def no_second_time(b: Bench) -> None:
    talk = await b.talk()
    roll, found = await thrown(b, talk)
    lying = await faces(talk)
    for _ in range(3):
        answer = await talk.begin(roll)
        if isinstance(answer, OpAccepted):
            await talk.result(roll.op)
            raise Failed("the stored result of the throw", "OpAccepted: it was thrown once more")
        if not isinstance(answer, OpResult) or DiceOutcome.unpack(answer.values) != found:
            raise Failed(f"the stored result of the throw, {found}", str(answer))
        now = await faces(talk)
        if now.moving or (now.known, now.dice) != (lying.known, lying.dice):
            raise Failed(f"the dice as they lay, {lying}", str(now))


@requirement(
    "7.1.5", "Two throws at a time",
    "busy | the mechanism is at work for another id", section="6", profile="dice", moves=True,
)  # fmt: skip
async def two_at_a_time(b: Bench) -> None:
    if not b.throws:
        raise Skipped(f"dice {b.claim.identity.capabilities.dice}: the board throws none")
    talk = await b.talk()
    roll, other = DiceRoll(b.new_op()), DiceRoll(b.new_op())
    since = len(talk.heard)
    if ended_too_soon(await talk.begin(roll)):
        raise Skipped("the throw was over at once: nothing can be tried meanwhile")
    moving = await faces(talk)
    running = (await talk.status()).running_op
    answer = await talk.begin(other)
    again = await talk.begin(roll)
    if any(isinstance(one, OpResult) and one.op == roll.op for one in talk.heard[since:]):
        raise Skipped("the throw was over too soon: nothing can be tried meanwhile")
    if not isinstance(answer, OpRefused) or answer.reason != "busy":
        raise Failed("another throw refused, busy", str(answer))
    if not isinstance(again, OpAccepted):
        raise Failed("OpAccepted to an id that runs", str(again))
    if not moving.moving or moving.known:
        raise Failed("moving, and no faces, while a throw is going on", str(moving))
    if running != roll.op:
        raise Failed(f"running_op {roll.op} in Status", str(running))
    outcome(await talk.result(roll.op))


@requirement(
    "7.1.6", "Dice that lean are not guessed",
    "Leaning or doubtful dice are told by quality (cocked, ambiguous) and are not guessed.", section="6",
    profile="dice", moves=True, deeds=("lean_die",),
)  # fmt: skip
async def not_guessed(b: Bench) -> None:
    if b.claim.identity.capabilities.dice != "read":
        raise Skipped(f"dice {b.claim.identity.capabilities.dice}: the board reads none")
    talk = await b.talk()
    await b.do("lean_die")
    _, found = await thrown(b, talk)
    if found.dice is not None or found.quality not in ("cocked", "ambiguous"):
        raise Failed("no faces, and the quality cocked or ambiguous: a die leans", str(found))
    lying = await faces(talk)
    if lying.known:
        raise Failed("no faces in DiceFaces: a die leans", str(lying))


@requirement(
    "7.1.7", "A throw that nobody commanded",
    "A throw that nobody commanded is told by DiceUnasked and never as a result.", section="6", profile="dice",
    deeds=("throw_unasked",),
)  # fmt: skip
async def nobody_commanded_it(b: Bench) -> None:
    if not b.throws:
        raise Skipped(f"dice {b.claim.identity.capabilities.dice}: the board throws none")
    talk = await b.talk()
    since = len(talk.heard)
    await b.do("throw_unasked")
    await asyncio.sleep(0.1)
    await b.until(lambda: faces(talk), lambda one: not one.moving, 15.0)
    await asyncio.sleep(0.3)
    told = [one for one in talk.heard[since:] if isinstance(one, DiceUnasked)]
    results = [one for one in talk.heard[since:] if isinstance(one, OpResult)]
    if results or len(told) != 1:
        raise Failed("DiceUnasked once, and no OpResult", talk.told(since))


@requirement(
    "7.1.8", "A board that throws none refuses",
    "software and hand: DiceRoll is refused, unsupported.", section="6", profile="dice", moves=True,
)  # fmt: skip
async def it_refuses(b: Bench) -> None:
    if b.throws:
        raise Skipped(f"dice {b.claim.identity.capabilities.dice}: the board throws")
    talk = await b.talk()
    answer = await talk.begin(DiceRoll(b.new_op()))
    if not isinstance(answer, OpRefused) or answer.reason != "unsupported":
        raise Failed("DiceRoll refused, unsupported", str(answer))
