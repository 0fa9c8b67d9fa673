"""7.2.20 and on: motions that the board must refuse (section 6, interlocks). A bad board makes them, and is stopped."""

from __future__ import annotations

import asyncio

from hil.conform.bench import Bench
from hil.conform.requirement import Failed, Skipped, requirement
from hil.conform.suite.deal import centre_up, cleared, done, refused, sorting
from protocol.serial.messages import (
    CentreRaise,
    CentreVouched,
    DiceFaces,
    DiceQuery,
    DiceRoll,
    OpRefused,
    OpResult,
    PresentGroup,
    SortStart,
    SortStop,
    VouchCentre,
    WallsLower,
    WallsRaise,
)


@requirement(
    "7.2.20", "No sort with the centre up",
    "sort start | centre down, by its switch; gear set", section="6", profile="deal", provokes=True,
)  # fmt: skip
async def no_sort_with_the_centre_up(b: Bench) -> None:
    talk = await b.talk()
    await b.set_gear(talk)
    await centre_up(b, talk)
    await refused(talk, SortStart(b.new_op(), 1), "interlock", "the centre is up")


@requirement(
    "7.2.21", "No walls with the centre up",
    "walls raise | centre down … walls lower | centre down", section="6", profile="deal", provokes=True,
)  # fmt: skip
async def no_walls_with_the_centre_up(b: Bench) -> None:
    talk = await b.talk()
    if (await talk.status()).sorted_set != 1:
        # Only walls of a sorted set could rise at all.
        await b.set_gear(talk)
        await done(talk, SortStart(b.new_op(), 1))
    await centre_up(b, talk)
    await refused(talk, WallsRaise(b.new_op(), 1), "interlock", "the centre is up")
    await refused(talk, WallsLower(b.new_op()), "interlock", "the centre is up")


@requirement(
    "7.2.22", "No walls of a set that is not sorted",
    "walls raise | centre down (or vouched for, below); that set sorted.", section="6", profile="deal", provokes=True,
)  # fmt: skip
async def no_walls_of_an_unsorted_set(b: Bench) -> None:
    talk = await b.talk()
    status = await talk.status()
    other = next((number for number in (2, 1) if number not in (status.sorted_set, status.set_up)), None)
    if other is None:
        raise Skipped("both sets lie sorted or are in play")
    await refused(talk, WallsRaise(b.new_op(), other), "interlock", f"set {other} is not sorted")


@requirement(
    "7.2.23", "The centre stays down during a sort",
    "centre raise, lower | walls down; no sort under way", section="6", profile="deal", provokes=True,
)  # fmt: skip
async def the_centre_stays_down(b: Bench) -> None:
    talk = await b.talk()
    sort = await sorting(b, talk)
    await refused(talk, CentreRaise(b.new_op()), "interlock", "a sort is under way")
    await talk.stop("kaijin conform 7.2.23")
    await talk.result(sort.op, 5.0)


@requirement(
    "7.2.24", "No group with the centre up",
    "present group | centre down (or vouched for)", section="6", profile="deal", provokes=True,
)  # fmt: skip
async def no_group_with_the_centre_up(b: Bench) -> None:
    if b.claim.identity.capabilities.aid != "present":
        raise Skipped("aid guide: this table does not deal")
    talk = await b.talk()
    await centre_up(b, talk)
    await refused(talk, PresentGroup(b.new_op(), "E", 0, 2, "E"), "interlock", "the centre is up")


@requirement(
    "7.2.25", "No sort without a gear",
    "gear | no gear is set, or it does not fit", section="6", profile="deal", provokes=True,
)  # fmt: skip
async def no_sort_without_a_gear(b: Bench) -> None:
    talk = await b.talk()
    if talk.identity.gear_tiles and b.hands.can("reset"):
        b.end()
        await b.do("reset")
        talk = await b.talk()
    if talk.identity.gear_tiles:
        raise Skipped("a gear is set")
    await refused(talk, SortStart(b.new_op(), 1), "gear", "no gear is set")


@requirement(
    "7.2.26", "Nothing moves with the lid open",
    "any motion | lid closed; no stop latched", section="6", profile="deal", provokes=True,
    deeds=("open_lid", "close_lid"),
)  # fmt: skip
async def nothing_moves_with_the_lid_open(b: Bench) -> None:
    talk = await b.talk()
    await b.set_gear(talk)
    await b.do("open_lid")
    if (await talk.sensors())["lid_closed"]:
        raise Failed("the bit lid_closed clear while the lid is open", "set")
    await refused(talk, b.mild(b.new_op()), "interlock", "the lid is open")
    await refused(talk, SortStart(b.new_op(), 1), "interlock", "the lid is open")
    stopping = await talk.begin(SortStop(b.new_op()))
    if isinstance(stopping, OpRefused):
        raise Failed("SortStop to be taken with the lid open, as always: it moves nothing", str(stopping))
    if (await talk.status()).stop_reason:
        raise Failed("no stop latched: a lid stops without latching", "a latched stop")
    await b.do("close_lid")


@requirement(
    "7.2.27", "A lid that is opened stops what moves",
    "A lid that is opened stops every motor, as a stop does but without latching; what ran is interrupted.",
    section="6", profile="deal", provokes=True, deeds=("open_lid", "close_lid"),
)  # fmt: skip
async def a_lid_stops_what_moves(b: Bench) -> None:
    talk = await b.talk()
    sort = await sorting(b, talk)
    await b.do("open_lid")
    result = await talk.message(lambda one: isinstance(one, OpResult) and one.op == sort.op, 3.0)
    if not isinstance(result, OpResult) or result.outcome != "interrupted":
        raise Failed("the sort interrupted by an open lid", str(result))
    if (await talk.status()).stop_reason:
        raise Failed("no stop latched: a lid stops without latching", "a latched stop")
    await b.do("close_lid")


@requirement(
    "7.2.28", "A throw outlives the lid",
    "A begun throw ends by itself.", section="6", profile="dice", provokes=True, deeds=("open_lid", "close_lid"),
)  # fmt: skip
async def a_throw_outlives_the_lid(b: Bench) -> None:
    if not b.throws:
        raise Skipped(f"dice {b.claim.identity.capabilities.dice}: the board throws none")
    talk = await b.talk()
    roll = DiceRoll(b.new_op())
    await talk.begin(roll)
    await asyncio.sleep(0.1)
    if not (await talk.ask(DiceQuery, DiceFaces)).moving:
        raise Skipped("the throw was over at once: nothing can be tried meanwhile")
    await b.do("open_lid")
    result = await talk.result(roll.op, 15.0)
    await b.do("close_lid")
    if result.outcome != "done":
        raise Failed("a throw that ends by itself, done", str(result))


@requirement(
    "7.2.29", "A centre that no switch shows",
    "The host may send VouchCentre …: the board then takes it for down for WallsRaise and PresentGroup, until it moves "
    "or a switch answers; never for SortStart.", section="6", profile="deal", provokes=True,
    deeds=("hide_centre", "show_centre", "clear_felt"),
)  # fmt: skip
async def a_centre_that_no_switch_shows(b: Bench) -> None:
    talk = await b.talk()
    await cleared(b, talk)
    await b.set_gear(talk)
    await done(talk, SortStart(b.new_op(), 1))
    await b.do("hide_centre")
    if (where := (await talk.status()).centre) != "unknown":
        raise Failed("the centre told as unknown, as no switch shows it", where)
    await refused(talk, SortStart(b.new_op(), 2), "interlock", "no switch says that the centre is down")
    await refused(talk, WallsRaise(b.new_op(), 1), "interlock", "no switch says that the centre is down")
    try:
        answer = await talk.ask(VouchCentre, CentreVouched)
    except Failed:
        if talk.lost:
            raise
        raise Skipped("the board does not know VouchCentre, which it may drop") from None
    if not answer.accepted:
        raise Failed("the word of people taken where no switch says otherwise", str(answer))
    await refused(talk, SortStart(b.new_op(), 2), "interlock", "a word is no switch")
    await done(talk, WallsRaise(b.new_op(), 1))
    await b.do("show_centre")
    await cleared(b, talk)
