"""7.2: gear, sort, centre and walls (sections 6 and 8); what the interlocks forbid is in `interlocks`."""

from __future__ import annotations

from itertools import pairwise

from hil.conform.bench import Bench
from hil.conform.requirement import Failed, Skipped, requirement
from hil.conform.talk import Talk
from protocol.serial.messages import (
    CentreLower,
    CentreRaise,
    CentreVouched,
    FaultCleared,
    FaultRaised,
    GearSet,
    Key,
    OpAccepted,
    Operation,
    OpProgress,
    OpRefused,
    OpResult,
    PresentGroup,
    ReadWall,
    SetGear,
    SortOutcome,
    SortStart,
    SortStop,
    VouchCentre,
    WallsLower,
    WallsRaise,
)
from protocol.serial.wire import MessageError


async def sorting(b: Bench, talk: Talk) -> SortStart:
    """A sort that has begun; Skipped where it was over at once, or cannot begin."""
    await b.set_gear(talk)
    status = await talk.status()
    if status.centre != "down":
        raise Skipped(f"the centre is {status.centre}: nothing can be sorted")
    sort = SortStart(b.new_op(), 1)
    since = len(talk.heard)
    first = await talk.begin(sort)
    if isinstance(first, OpRefused):
        raise Failed("a sort to begin, the centre down and the gear set", f"refused: {first.reason}")
    if await talk.message(lambda one: isinstance(one, OpResult), 0.2, since) is not None:
        raise Skipped("the sort was over at once: nothing can be tried meanwhile")
    return sort


async def refused(talk: Talk, operation: Operation, reason: str, why: str) -> None:
    """Failed where an operation is not refused for this reason; what moves then is stopped."""
    answer = await talk.begin(operation)
    if isinstance(answer, OpAccepted):
        await talk.stop("kaijin conform: against an interlock")
    if not isinstance(answer, OpRefused) or answer.reason != reason:
        raise Failed(f"{type(operation).__name__} refused, {reason}: {why}", str(answer))


async def centre_up(b: Bench, talk: Talk) -> None:
    """The centre is raised; Skipped where the walls are not down."""
    if (await talk.status()).walls != "down":
        raise Skipped("the walls are not down: the centre cannot be raised")
    await done(talk, CentreRaise(b.new_op()))


async def done(talk: Talk, operation: Operation) -> OpResult:
    """An operation to its end, which must be done."""
    result = await talk.run(operation)
    if result.outcome != "done":
        raise Failed(f"{type(operation).__name__} done", f"{result.outcome} {result.fault}")
    return result


@requirement(
    "7.2.1", "A gear is set and told",
    "Gears are data: SetGear tells tiles and stacks of each side.", section="8", profile="deal",
)  # fmt: skip
async def a_gear_is_set(b: Bench) -> None:
    talk = await b.talk()
    tiles, stacks = await b.set_gear(talk)
    b.end()
    told = (await b.talk()).identity
    if (told.gear_tiles, told.stacks) != (tiles, stacks):
        raise Failed(f"the gear {tiles} {stacks} in Identity", f"{told.gear_tiles} {told.stacks}")


@requirement(
    "7.2.2", "A gear that is none is refused",
    "stacks of E, S, W, N; two tiles a stack … bad_argument | an argument means nothing here", section="9",
    profile="deal",
)  # fmt: skip
async def a_gear_that_is_none(b: Bench) -> None:
    talk = await b.talk()
    before = talk.identity
    for tiles, stacks in ((144, (1, 1, 1, 1)), (20, (40, 40, 40, 40)), (144, (18, 18, 18, 17))):
        answer = await talk.ask(lambda req, tiles=tiles, stacks=stacks: SetGear(req, tiles, stacks), GearSet)  # type: ignore[misc]
        if answer.accepted or not answer.reason:
            raise Failed(f"the gear {tiles} {stacks} refused with a reason: {sum(stacks)} stacks are "
                         f"{2 * sum(stacks)} tiles", str(answer))  # fmt: skip
    b.end()
    told = (await b.talk()).identity
    if (told.gear_tiles, told.stacks) != (before.gear_tiles, before.stacks):
        raise Failed(f"the gear as it was, {before.gear_tiles} {before.stacks}", f"{told.gear_tiles} {told.stacks}")


@requirement(
    "7.2.3", "Status and sensors agree",
    "Where are the mechanisms? … bit of Sensors.bits | set when it is so", section="9", profile="deal",
)  # fmt: skip
async def status_and_sensors_agree(b: Bench) -> None:
    talk = await b.talk()
    status, bits = await talk.status(), await talk.sensors()
    for mechanism, where in (("centre", status.centre), ("walls", status.walls)):
        shown = [word for word in ("down", "up") if bits[f"{mechanism}_{word}"]]
        if where in ("down", "up") and shown != [where]:
            raise Failed(f"the bit {mechanism}_{where} alone, as Status says that it is {where}", str(shown))
        if where in ("moving", "unknown") and shown:
            raise Failed(f"no bit of the {mechanism}, as Status says that it is {where}", str(shown))


@requirement(
    "7.2.4", "The centre goes up and down",
    "centre raise, lower | walls down; no sort under way", section="6", profile="deal", moves=True,
)  # fmt: skip
async def up_and_down(b: Bench) -> None:
    talk = await b.talk()
    await centre_up(b, talk)
    if (where := (await talk.status()).centre) != "up":
        raise Failed("the centre up after CentreRaise", where)
    await done(talk, CentreLower(b.new_op()))
    if (where := (await talk.status()).centre) != "down":
        raise Failed("the centre down after CentreLower", where)
    await done(talk, CentreLower(b.new_op()))


@requirement(
    "7.2.5", "A sort, its progress and its result",
    "Sort and stack one set; OpProgress on the way, SortOutcome in the result.", section="9", profile="deal",
    moves=True,
)  # fmt: skip
async def a_sort(b: Bench) -> None:
    talk = await b.talk()
    _, stacks = await b.set_gear(talk)
    sort = SortStart(b.new_op(), 1)
    since = len(talk.heard)
    began = b.now()
    result = await talk.run(sort)
    took = b.now() - began
    if result.outcome != "done":
        raise Failed("a sort with the outcome done", f"{result.outcome} {result.fault}")
    try:
        found = SortOutcome.unpack(result.values)
    except MessageError as error:
        raise Failed("a SortOutcome in the result of SortStart", str(error)) from None
    if any(count > 2 * room for count, room in zip(found.tiles, stacks, strict=True)):
        raise Failed(f"at most two tiles a stack of {stacks}", str(found.tiles))
    told = [one for one in talk.heard[since:] if isinstance(one, OpProgress)]
    if not told or any(one.op != sort.op for one in told):
        raise Failed("OpProgress of this operation on the way", talk.told(since))
    for earlier, later in pairwise(told):
        if later.seconds < earlier.seconds or any(a > b for a, b in zip(earlier.tiles, later.tiles, strict=True)):
            raise Failed("progress that never goes back", f"{earlier}, then {later}")
    if any(last > end for last, end in zip(told[-1].tiles, found.tiles, strict=True)):
        raise Failed(f"no more in the progress than in the result, {found.tiles}", str(told[-1]))
    at = talk.heard.index(result)
    await talk.message(lambda one: isinstance(one, OpProgress), 1.5, at)
    if any(isinstance(one, OpProgress) for one in talk.heard[at:]):
        raise Failed("no OpProgress after the result", talk.told(at))
    status = await talk.status()
    if sum(found.tiles) and status.sorted_set != 1:
        raise Failed("sorted_set 1 in Status", str(status.sorted_set))
    b.note(f"{len(told)} times progress, {took:.1f} s, {found.tiles}")


@requirement(
    "7.2.6", "A sort is stopped",
    "Stop a sort; the sort's own result is interrupted.", section="9", profile="deal", moves=True,
)  # fmt: skip
async def a_sort_is_stopped(b: Bench) -> None:
    talk = await b.talk()
    sort = await sorting(b, talk)
    status = await talk.status()
    if status.sorting_set != 1 or status.running_op != sort.op:
        raise Failed(f"sorting_set 1 and running_op {sort.op} in Status", str(status))
    await done(talk, SortStop(b.new_op()))
    result = await talk.result(sort.op, 5.0)
    if result.outcome != "interrupted":
        raise Failed("the sort's result interrupted", str(result))
    again = await talk.begin(sort)
    if again != result:
        raise Failed(f"the stored result, {result}", str(again))


@requirement(
    "7.2.7", "Another sort meanwhile",
    "busy | the mechanism is at work for another id", section="6", profile="deal", moves=True,
)  # fmt: skip
async def another_sort_meanwhile(b: Bench) -> None:
    talk = await b.talk()
    sort = await sorting(b, talk)
    answer = await talk.begin(SortStart(b.new_op(), 1))
    again = await talk.begin(sort)
    await talk.begin(SortStop(b.new_op()))
    await talk.result(sort.op, 5.0)
    if not isinstance(answer, OpRefused) or answer.reason != "busy":
        raise Failed("another sort refused, busy", str(answer))
    if not isinstance(again, OpAccepted):
        raise Failed("OpAccepted to an id that runs", str(again))


@requirement(
    "7.2.8", "Walls that are down go down",
    "Take the lifts of the walls back down. Needs: centre down.", section="9", profile="deal", moves=True,
)  # fmt: skip
async def walls_go_down(b: Bench) -> None:
    talk = await b.talk()
    await done(talk, WallsLower(b.new_op()))
    if (where := (await talk.status()).walls) != "down":
        raise Failed("the walls down after WallsLower", where)


@requirement(
    "7.2.9", "The word of people does not move a switch",
    "Answer to VouchCentre: the word was taken; not so where a switch says that the centre is up.", section="9",
    profile="deal", moves=True,
)  # fmt: skip
async def the_word_of_people(b: Bench) -> None:
    talk = await b.talk()
    await centre_up(b, talk)
    try:
        answer = await talk.ask(VouchCentre, CentreVouched)
    except Failed:
        if talk.lost:
            raise
        raise Skipped("the board does not know VouchCentre, which it may drop") from None
    if answer.accepted:
        raise Failed("the word not taken, as a switch says that the centre is up", str(answer))


@requirement(
    "7.2.10", "A table that does not deal refuses to",
    "unsupported | this table has no such thing", section="6", profile="deal", moves=True,
)  # fmt: skip
async def it_does_not_deal(b: Bench) -> None:
    if b.claim.identity.capabilities.aid == "present":
        raise Skipped("aid present: this table deals")
    talk = await b.talk()
    await refused(talk, PresentGroup(b.new_op(), "E", 0, 2, "E"), "unsupported", "this table does not deal")


@requirement(
    "7.2.11", "A table without readers reads no wall",
    "unsupported | this table has no such thing", section="6", profile="deal",
)  # fmt: skip
async def it_reads_no_wall(b: Bench) -> None:
    if b.claim.identity.capabilities.sensing == "full":
        raise Skipped("sensing full: this table reads walls")
    await refused(await b.talk(), ReadWall(b.new_op(), "E"), "unsupported", "this table reads nothing")


@requirement(
    "7.2.12", "The walls of a sorted set rise",
    "walls raise | centre down (or vouched for, below); that set sorted. … Lifts that return by themselves at the "
    "end of WallsRaise are told as walls down once they are.", section="6",
    profile="deal", moves=True, deeds=("clear_felt",),
)  # fmt: skip
async def walls_rise(b: Bench) -> None:
    talk = await b.talk()
    await walls_up(b, talk)
    status = await talk.status()
    if status.set_up != 1 or status.walls not in ("down", "up"):
        raise Failed("set_up 1, and the walls up or back down", str(status))
    if b.claim.identity.capabilities.aid == "present":
        await done(talk, PresentGroup(b.new_op(), "E", 0, 2, "S"))
    b.end()
    await clear_walls(b)


@requirement(
    "7.2.13", "Walls rise while the other set is sorted",
    "walls raise: … Sorting the other set at the same time is allowed.", section="6", profile="deal", moves=True,
    deeds=("clear_felt",),
)  # fmt: skip
async def walls_rise_meanwhile(b: Bench) -> None:
    if b.claim.identity.capabilities.sets < 2:
        raise Skipped("this table has one set")
    talk = await b.talk()
    await cleared(b, talk)
    await b.set_gear(talk)
    await done(talk, SortStart(b.new_op(), 1))
    sort = SortStart(b.new_op(), 2)
    since = len(talk.heard)
    if isinstance(first := await talk.begin(sort), OpRefused):
        raise Failed("the sort of the other set to begin", f"refused: {first.reason}")
    if await talk.message(lambda one: isinstance(one, OpResult), 0.2, since) is not None:
        raise Skipped("the sort was over at once: nothing can be tried meanwhile")
    rising = WallsRaise(b.new_op(), 1)
    answer = await talk.begin(rising)
    if not isinstance(answer, OpRefused):
        await talk.result(rising.op)
    await talk.begin(SortStop(b.new_op()))
    await talk.result(sort.op, since=since)
    if isinstance(answer, OpRefused):
        raise Failed("the walls of set 1 to rise during the sort of set 2", f"refused: {answer.reason}")
    await cleared(b, talk)


@requirement(
    "7.2.14", "A key that is pressed is told",
    "A key at the table was pressed and let go.", section="9", profile="deal", deeds=("press_lift",),
)  # fmt: skip
async def a_key_is_told(b: Bench) -> None:
    talk = await b.talk()
    since = len(talk.heard)
    await b.do("press_lift")
    told = await talk.message(lambda one: isinstance(one, Key), 2.0, since)
    if not isinstance(told, Key) or told.key != "lift":
        raise Failed("Key of the lift key", talk.told(since))


@requirement(
    "7.2.15", "A fault stands until it is cleared",
    "A fault is raised once and stands until it is cleared; a new session begins with all standing faults raised "
    "again, after Identity.", section="12", profile="deal", deeds=("open_lid", "close_lid"),
)  # fmt: skip
async def a_fault_stands(b: Bench) -> None:
    talk = await b.talk()
    since = len(talk.heard)
    await b.do("open_lid")
    raised = await talk.message(lambda one: isinstance(one, FaultRaised) and one.code == "lid_open", 1.0, since)
    if not isinstance(raised, FaultRaised):
        raise Skipped("the board raises no fault while its lid is open")
    await talk.status()
    if talk.heard[since:].count(raised) != 1:
        raise Failed("lid_open raised once", talk.told(since))
    b.end()
    talk = await b.talk()
    if await talk.message(lambda one: one == raised, 1.0) is None:
        raise Failed("lid_open raised again in a new session, as it stands", talk.told())
    since = len(talk.heard)
    await b.do("close_lid")
    gone = FaultCleared("lid_open", raised.side)
    if await talk.message(lambda one: one == gone, 2.0, since) is None:
        raise Failed(f"{gone} once the lid is closed", talk.told(since))


async def walls_up(b: Bench, talk: Talk) -> None:
    """A sorted set stands on the felt that hands have cleared before."""
    await cleared(b, talk)
    await b.set_gear(talk)
    await done(talk, SortStart(b.new_op(), 1))
    await done(talk, WallsRaise(b.new_op(), 1))


async def clear_walls(b: Bench) -> None:
    """What stands on the felt goes back in."""
    await cleared(b, await b.talk())


async def cleared(b: Bench, talk: Talk) -> None:
    """The centre goes up, hands push everything in, it closes."""
    if (await talk.status()).walls == "up":
        await done(talk, WallsLower(b.new_op()))
    await centre_up(b, talk)
    await b.do("clear_felt")
    await done(talk, CentreLower(b.new_op()))


