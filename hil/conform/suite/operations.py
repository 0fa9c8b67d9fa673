"""4: operations at most once, whatever the line does (section 6); with SortStop, which moves nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hil.conform.bench import Bench
from hil.conform.requirement import Failed, Skipped, requirement
from hil.conform.talk import Talk
from protocol.serial.messages import (
    OpAccepted,
    Operation,
    OpId,
    OpRefused,
    OpResult,
    ReadWall,
)

REMEMBERED: Final = 32


async def ended(b: Bench, talk: Talk, op: OpId | None = None) -> tuple[Operation, OpResult]:
    """A harmless operation to its end."""
    operation = b.harmless(op or b.new_op())
    return operation, await talk.run(operation)


def looked_at(answer: object, what: str, expected: str) -> None:
    """Failed where an id was begun that must not be."""
    if isinstance(answer, OpAccepted):
        raise Failed(expected, f"OpAccepted: {what} was begun once more")


@requirement(
    "4.1", "Begun, then ended",
    "An id that runs is answered OpAccepted, one that has ended with its stored OpResult.", section="6",
)  # fmt: skip
async def begun_then_ended(b: Bench) -> None:
    talk = await b.talk()
    operation = b.harmless(b.new_op())
    since = len(talk.heard)
    first = await talk.begin(operation)
    if not isinstance(first, OpAccepted):
        raise Failed("OpAccepted to an operation that may begin", str(first))
    result = await talk.result(operation.op, since=since)
    if result.outcome != "done" or result.fault:
        raise Failed("the outcome done without a fault", f"{result.outcome} {result.fault}")


@requirement(
    "4.2", "The same id again",
    "The MCU begins an id at most once. … one that has ended with its stored OpResult, always the same.",
    section="6",
)  # fmt: skip
async def the_same_id_again(b: Bench) -> None:
    talk = await b.talk()
    operation, result = await ended(b, talk)
    for _ in range(3):
        answer = await talk.begin(operation)
        looked_at(answer, "an id that has ended", "the stored OpResult")
        if answer != result:
            raise Failed(f"the stored result, {result}", str(answer))


@requirement(
    "4.3", "The same id in another session",
    "The host may ask again at any time within one boot_id, over any number of sessions.", section="6",
)  # fmt: skip
async def in_another_session(b: Bench) -> None:
    operation, result = await ended(b, await b.talk())
    for goodbye in (True, False):
        b.end(goodbye)
        answer = await (await b.talk()).begin(operation)
        looked_at(answer, "an id that has ended", "the stored OpResult in a new session")
        if answer != result:
            raise Failed(f"the stored result, {result}", str(answer))


@requirement(
    "4.4", "32 results are remembered",
    "It remembers at least the last 32 results.", section="6",
)  # fmt: skip
async def results_are_remembered(b: Bench) -> None:
    talk = await b.talk()
    kept = [await ended(b, talk) for _ in range(REMEMBERED)]
    for number, (operation, result) in enumerate(kept):
        answer = await talk.begin(operation)
        if answer != result:
            back = REMEMBERED - number
            raise Failed(f"the stored result of the {back}th operation back, {result}", str(answer))


@requirement(
    "4.5", "The same id for something else",
    "The same id with another verb or other arguments is refused (bad_argument).", section="6",
)  # fmt: skip
async def for_something_else(b: Bench) -> None:
    talk = await b.talk()
    operation, _ = await ended(b, talk)
    other = ReadWall(operation.op, "E")  # moves nothing, whoever carries it out
    answer = await talk.begin(other)
    # A board without readers may find out first that it has none.
    if not isinstance(answer, OpRefused) or answer.reason not in ("bad_argument", "unsupported"):
        raise Failed(f"OpRefused, bad_argument: the id was that of a {type(operation).__name__}", str(answer))


@requirement(
    "4.6", "A forgotten id is not begun again",
    "So is an id that sorts before or at the latest one already forgotten in the same journal: it may have run.",
    section="6",
)  # fmt: skip
async def a_forgotten_id(b: Bench) -> None:
    talk = await b.talk()
    journal = b.new_journal()
    kept = [await ended(b, talk, b.new_op(journal)) for _ in range(140 if b.claim.mechanisms else 40)]
    for operation, result in kept[:3]:
        answer = await talk.begin(operation)
        looked_at(answer, "an id of long ago", "OpRefused, bad_argument (or the stored result)")
        if isinstance(answer, OpRefused) and answer.reason != "bad_argument":
            raise Failed("OpRefused, bad_argument", answer.reason)
        if isinstance(answer, OpResult) and answer != result:
            raise Failed(f"the stored result, {result}", str(answer))
    await ended(b, talk)


@requirement(
    "4.7", "A step may fail often",
    "Attempts that a later one of the same step has followed are forgotten first …; they do not make other ids count "
    "as forgotten, or a step that fails often enough could never be tried again.", section="6",
)  # fmt: skip
async def a_step_may_fail_often(b: Bench) -> None:
    if not b.claim.mechanisms:
        raise Skipped("a board of dice alone would have to throw a hundred times")
    talk = await b.talk()
    journal = b.new_journal()
    before, step = b.new_op(journal), b.new_op(journal)
    for attempt in range(100):
        operation = b.harmless(replace(step, attempt=attempt))
        answer = await talk.begin(operation)
        if isinstance(answer, OpRefused):
            raise Failed(f"attempt {attempt} of a step to begin", f"refused: {answer.reason}")
    for attempt in (0, 50, 98):
        looked_at(
            await talk.begin(b.harmless(replace(step, attempt=attempt))), f"attempt {attempt}",
            "a stored result, or OpRefused: a later attempt has followed",
        )  # fmt: skip
    answer = await talk.begin(b.harmless(before))
    if isinstance(answer, OpRefused):
        raise Failed("an earlier step of the journal to begin: it was not forgotten", f"refused: {answer.reason}")


@requirement(
    "4.8", "Every part of an id counts",
    "Whatever moves or rolls carries an operation id: (journal, hand, step, attempt), 16 bytes.", section="6",
)  # fmt: skip
async def every_part_counts(b: Bench) -> None:
    talk = await b.talk()
    base = OpId(b.new_journal() >> 1, 7, 7, 7)
    parts = [
        base,
        replace(base, attempt=base.attempt + 1),
        replace(base, step=base.step + 1),
        replace(base, step=base.step + 256),
        replace(base, hand=base.hand + 1),
        replace(base, hand=base.hand + 65_536),
        replace(base, journal=base.journal + 1),
        replace(base, journal=base.journal ^ 1 << 62),
    ]
    for op in parts:
        operation = b.harmless(op)
        answer = await talk.begin(operation)
        if not isinstance(answer, OpAccepted):
            raise Failed(f"{op} to be begun: it is another id than those before", str(answer))
        await talk.result(op)


@requirement(
    "4.9", "The last completed operation is told",
    "The answer tells … last completed operation.", section="3",
)  # fmt: skip
async def the_last_one_is_told(b: Bench) -> None:
    operation, _ = await ended(b, await b.talk())
    b.end()
    told = (await b.talk()).identity.last_op
    if told != operation.op:
        raise Failed(f"last_op {operation.op}", str(told))


@requirement(
    "4.10", "What was refused was not begun",
    "OpRefused means: not begun, not remembered; the same id may be asked again later.", section="6", moves=True,
)  # fmt: skip
async def refused_is_not_begun(b: Bench) -> None:
    talk = await b.talk()
    await talk.stop("kaijin conform 4.10")
    operation = b.mild(b.new_op())
    answer = await talk.begin(operation)
    if not isinstance(answer, OpRefused):
        raise Skipped(f"{type(operation).__name__} was not refused while a stop is latched: 6.6 looks at that")
    await talk.clear()
    result = await talk.run(operation)
    if result.outcome != "done":
        raise Failed("the same id to be carried out once the stop is cleared", str(result))


@requirement(
    "4.11", "Results outlive a reset where memory is nonvolatile",
    "Results outlive a reset only if memory is nonvolatile; what was running at the reset is then interrupted.",
    section="6", deeds=("reset",),
)  # fmt: skip
async def results_outlive_a_reset(b: Bench) -> None:
    if b.claim.identity.capabilities.memory != "nonvolatile":
        raise Skipped("the board claims a volatile memory")
    talk = await b.talk()
    operation, result = await ended(b, talk)
    b.end()
    await b.do("reset")
    talk = await b.talk()
    if talk.identity.last_op != operation.op:
        raise Failed(f"last_op {operation.op} after a reset", str(talk.identity.last_op))
    answer = await talk.begin(operation)
    looked_at(answer, "an id of before the reset", "the stored OpResult")
    if answer != result:
        raise Failed(f"the stored result, {result}", str(answer))
