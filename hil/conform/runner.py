"""Runs the suite: the claim first, then each test on a board that was left as it was found."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final, Literal

from hil.conform import suite
from hil.conform.bench import Bench, Claim, Gear
from hil.conform.endpoint import Endpoint, Tap
from hil.conform.hands import SAID, Hands, NoHands
from hil.conform.requirement import Failed, Profile, Requirement, Skipped, in_order
from hil.conform.talk import ENDING_S
from protocol.serial.messages import (
    CentreLower,
    GearSet,
    LampsOff,
    OpRefused,
    ServiceEnd,
    SetGear,
    Status,
    protocol_refusal,
)
from protocol.serial.wire import MessageError

Verdict = Literal["pass", "fail", "skip"]
TEST_LIMIT_S: Final = 300.0
"""No test lasts longer."""


class ConformError(Exception):
    """The suite cannot be run here; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Options:
    """What is tried.

    `profiles` and `only` empty: all that the board claims; `only` names tests (`3.2`) or groups (`3`). `moves`:
    motors may run. `provoke`: motions may be asked for that the board must refuse. `gear`: the tiles in the table
    and the stacks of each side. `slack`: seconds that line and machine may add to any time.
    """

    profiles: tuple[Profile, ...] = ()
    only: tuple[str, ...] = ()
    moves: bool = False
    provoke: bool = False
    clear_stop: bool = False
    gear: Gear | None = None
    slack: float = 0.15


@dataclass(frozen=True, slots=True)
class Result:
    """How one test ended. `expected` and `seen` of a failure; `reason` of a skip; `notes` what was measured."""

    requirement: Requirement
    verdict: Verdict
    expected: str = ""
    seen: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Report:
    """The whole run. `claim` is missing where the board could not say what it is, for `trouble`."""

    port: str
    claim: Claim | None
    profiles: tuple[Profile, ...]
    results: tuple[Result, ...]
    trouble: str = ""
    left: tuple[str, ...] = ()
    """What the board was left with that it had not before; empty where all is as it was."""

    def of(self, verdict: Verdict) -> tuple[Result, ...]:
        """The results of one verdict."""
        return tuple(result for result in self.results if result.verdict == verdict)

    @property
    def failed(self) -> tuple[str, ...]:
        """Numbers of the tests that failed."""
        return tuple(result.requirement.number for result in self.of("fail"))


@dataclass
class _Run:
    bench: Bench
    options: Options
    profiles: Collection[Profile] = ()
    gone_since: str = ""
    results: list[Result] = field(default_factory=list)


async def run_suite(
    endpoint: Endpoint,
    options: Options,
    hands: Hands | None = None,
    told: Callable[[Result], None] = lambda result: None,
) -> Report:
    """Run the suite at an endpoint and let go of it; ConformError where it cannot be run.

    `told` hears of each result as it comes.
    """
    wanted = chosen(options.only)
    tap = Tap(endpoint)
    bench = Bench(tap, hands or NoHands(), options.slack, options.gear)
    bench.moves = options.moves
    run = _Run(bench, options)
    try:
        claim, trouble = await _claim(bench, options)
        run.profiles = options.profiles or (("core",) if claim is None else claim.profiles)
        for one in wanted:
            result = await _try(run, one)
            run.results.append(result)
            told(result)
        left = await _leave(run, claim) if claim is not None and not run.gone_since else ()
    finally:
        bench.end()
        await asyncio.sleep(0)
        endpoint.close()
    return Report(endpoint.name, claim, tuple(run.profiles), tuple(run.results), trouble, left)


def chosen(only: Collection[str]) -> tuple[Requirement, ...]:
    """The tests of these numbers and groups, all without any; ConformError for a number that is none."""
    known = in_order()
    for number in only:
        if not any(_is_in(one.number, number) for one in known):
            raise ConformError(f"{number}: there is no such test or group; --list shows them")
    return tuple(one for one in known if not only or any(_is_in(one.number, number) for number in only))


def _is_in(number: str, wanted: str) -> bool:
    return number == wanted or number.startswith(wanted + ".")


async def _claim(bench: Bench, options: Options) -> tuple[Claim | None, str]:
    try:
        claim = await bench.ask_claim()
    except Failed as failure:
        bench.end()
        return None, str(failure)
    bench.end()
    refusal = protocol_refusal(claim.identity.protocol)
    if refusal:
        raise ConformError(refusal)
    if claim.identity.stop_reason:
        if not options.clear_stop:
            raise ConformError(
                f"a stop is latched ({claim.identity.stop_reason}): look why, then clear it or give --clear-stop"
            )
        talk = await bench.talk()
        await talk.clear()
        bench.end()
    return claim, ""


async def _try(run: _Run, one: Requirement) -> Result:
    bench = run.bench
    reason = _not_tried(run, one)
    if reason:
        return Result(one, "skip", reason=reason)
    began = bench.now()
    bench.notes.clear()
    bench.stopped = False
    try:
        async with asyncio.timeout(TEST_LIMIT_S):
            await one.body(bench)
        result = Result(one, "pass")
    except Failed as failure:
        result = Result(one, "fail", failure.expected, failure.seen)
    except Skipped as skipped:
        result = Result(one, "skip", reason=str(skipped))
    except MessageError as error:
        result = Result(one, "fail", "values that can be read", str(error))
    except TimeoutError:
        result = Result(one, "fail", f"an end within {TEST_LIMIT_S:g} s", "none")
    bench.end()
    await bench.undo()
    if bench.tap.lost:
        run.gone_since = f"the line was lost in {one.number}: {bench.tap.lost}"
    elif (result.verdict == "fail" or one.moves or bench.stopped or one.deeds) and not await _settled(
        run, result.verdict == "fail"
    ):
        run.gone_since = f"the board does not answer any more since {one.number}"
    return Result(
        one, result.verdict, result.expected, result.seen, result.reason, tuple(bench.notes), bench.now() - began
    )


def _not_tried(run: _Run, one: Requirement) -> str:
    if run.gone_since:
        return run.gone_since
    if one.profile not in run.profiles:
        claimed = "asked for" if run.options.profiles else "claimed by the board"
        return f"the profile {one.profile} is not {claimed}"
    if one.moves and not run.options.moves:
        return "it lets motors run: --moves is not given"
    if one.provokes and not run.options.provoke:
        return "it asks for a motion that the board must refuse, and a bad board might make: --provoke is not given"
    missing = [deed for deed in one.deeds if not run.bench.hands.can(deed)]
    if missing:
        words = (SAID.get(deed, deed.replace("_", " ")) for deed in missing)
        return "it needs hands at the board: to " + ", ".join(words)
    return ""


async def _settled(run: _Run, failed: bool) -> bool:
    """Bring the board back to where each test begins: nothing runs, no stop is latched, the centre is down.

    What still runs after a test that has failed is stopped; otherwise it may end.
    """
    bench = run.bench
    try:
        talk = await bench.talk()
        if failed and (await talk.status()).running_op is not None:
            await talk.stop("kaijin conform: a test has failed")
        if talk.identity.stop_reason or bench.stopped or talk.stopped:
            await talk.clear()
        status = await bench.until(talk.status, _rests, ENDING_S)
        if run.options.moves and status.centre == "up" and status.walls == "down":
            answer = await talk.begin(CentreLower(bench.new_op()))
            if not isinstance(answer, OpRefused):
                await bench.until(talk.status, lambda one: one.centre == "down", 10.0)
    except Failed:
        bench.end()
        return await bench.answers()
    bench.end()
    return True


def _rests(status: Status) -> bool:
    return status.running_op is None and "moving" not in (status.centre, status.walls)


async def _leave(run: _Run, claim: Claim) -> tuple[str, ...]:
    """Leave the board as it was found; what could not be brought back."""
    bench, left = run.bench, []
    await _settled(run, failed=False)
    try:
        talk = await bench.talk()
        talk.send(LampsOff())
        if not claim.identity.capabilities.service:
            talk.send(ServiceEnd())
        if talk.identity.gear_tiles and (talk.identity.gear_tiles, talk.identity.stacks) != (
            claim.identity.gear_tiles,
            claim.identity.stacks,
        ):
            if claim.identity.gear_tiles:
                before = claim.identity
                await talk.ask(lambda req: SetGear(req, before.gear_tiles, before.stacks), GearSet)
            else:
                left.append(f"the gear {talk.identity.gear_tiles} is set; before there was none")
        status = await talk.status()
        if status.stop_reason:
            left.append(f"a stop is latched: {status.stop_reason}")
        if status.centre != "down":
            left.append(f"the centre is {status.centre}")
        if status.set_up and not claim.status.set_up:
            left.append(f"the walls of set {status.set_up} stand")
    except Failed as failure:
        left.append(str(failure))
    return tuple(left)


assert suite
