"""`wants`: what is outstanding in a state: operations of the machine, prompts to seats, timers.

Each want has an id that no other event changes, so that the same state always wants the same things: the daemon makes
the world match this list, before and after a power cut alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from engine.asking import Want
from engine.asking import prompt as _prompt
from engine.asking import timer as _timer
from engine.match_wants import (
    between_wants,
    book_wants,
    clock_wants,
    end_wants,
    parked_wants,
    paused_wants,
    seats_wants,
    waits_for_hands_off,
)
from engine.memo import by_identity
from engine.play_wants import play_wants
from engine.scoring import most_bid
from engine.sessions import sits_back
from engine.state import (
    BID,
    STEPS,
    TAKEN,
    Problem,
    Roll,
    State,
    WantId,
    attempt,
    current_take,
    expected_hand,
    felt_set,
    flower_turn_seat,
    hand_disagrees,
    held_flowers,
    next_of_tail,
    resumable,
    sorted_set,
    tail_drawn,
)
from engine.tiles import FLOWERS, SEATS

__all__ = ["ALL_OF_A_STEP", "TAIL_SHOWN", "VOUCHERS", "Want", "wants"]

ALL_OF_A_STEP = 255
"""The index in a problem's key that stands for every index of its step (`read_wall-255`)."""

VOUCHERS = 2
"""So many seats must say that something stands before it counts as done."""

SEEN_BY_PEOPLE: Mapping[str, frozenset[str]] = {
    "unknown": frozenset({"centre_raise", "centre_lower", "walls_raise", "present_group"}),
    "wall_not_home": frozenset({"walls_raise"}),
    "centre_limit_missing": frozenset({"centre_lower"}),
}
"""Fault → operations whose end people can see and are asked for. A raised centre without its switch is not among them:
hands go below it. What a sort or a reader did nobody can see; both may run again."""

TAIL_SHOWN = 6
"""How many positions at the tail a prompt shows."""


@by_identity(4)
def wants(state: State) -> tuple[Want, ...]:
    """Everything outstanding, the hand's own business first.

    While the emergency stop is latched its operations are wanted none the less: whoever drives the machine holds them
    until the stop is cleared, so that a throw begun before it is not forgotten.
    """
    blocked = {problem.key for problem in state.problems}
    found = _stopped(state)
    if state.parked and not waits_for_hands_off(state):
        return tuple(found) if state.service else (*found, *parked_wants(state))
    found += [want for want in _PHASE_WANTS[state.phase](state) if not _is_blocked(want, blocked)]
    found += _sorting(state, blocked)
    found += _problems(state)
    found += _resuming(state)
    found += between_wants(state)
    found += end_wants(state)
    found += clock_wants(state)
    if state.service:
        return _in_service(found)
    return (*_in_service(found), *parked_wants(state)) if state.parked else tuple(found)


def _in_service(found: list[Want]) -> tuple[Want, ...]:
    """While a repairer has the table, or has left it, nobody is asked anything but to clear a stop, and no clock runs.

    Operations are wanted none the less: whoever drives the machine begins none of them, and forgets none that runs.
    """
    return tuple(want for want in found if want.kind == "operation" or want.verb == "stopped")


def _is_blocked(want: Want, blocked: set[str]) -> bool:
    return want.id.key in blocked or f"{want.id.step}-{ALL_OF_A_STEP}" in blocked


def _stopped(state: State) -> list[Want]:
    """A person at the table clears the stop; that asks the machine and moves nothing."""
    if not state.stop:
        return []
    found = _prompt(WantId(state.hand, "stopped", 0, state.stops), "stopped", SEATS, ("clear",), reason=state.stop)
    if state.clearing:
        found.append(Want(WantId(state.hand, "clear_stop", 0, state.stops), "operation", "clear_stop"))
    return found


def _operation(state: State, verb: str, index: int = 0, **params: Any) -> Want:
    key = f"{verb}-{index}"
    return Want(WantId(state.hand, verb, index, attempt(state, key)), "operation", verb, params=params)


def _idle(state: State) -> list[Want]:
    return _prompt(WantId(state.hand, "start"), "start", SEATS, ("start",))


def _nothing(_: State) -> list[Want]:
    return []


def _lift(state: State) -> list[Want]:
    return _prompt(WantId(state.hand, "lift"), "lift", SEATS, ("lift",))


def _centre_up(state: State) -> list[Want]:
    return [_operation(state, "centre_raise")]


def _push_in(state: State) -> list[Want]:
    return _prompt(WantId(state.hand, "push_in"), "push_in", SEATS, ("pushed",), set=felt_set(state))


def _centre_down(state: State) -> list[Want]:
    return [_operation(state, "centre_lower")]


def _walls(state: State) -> list[Want]:
    return [_operation(state, "walls_raise", set=sorted_set(state), **_by_word(state))]


def _by_word(state: State) -> dict[str, bool]:
    """Said of a motion that needs the centre down, where two seats alone have said that it is."""
    return {"by_word": True} if state.by_word else {}


def _reading(state: State) -> list[Want]:
    read = {position[0] for position in state.play.wall}
    return [_operation(state, "read_wall", index, side=side) for index, side in enumerate(SEATS) if side not in read]


def _row(state: State) -> list[Want]:
    return _prompt(WantId(state.hand, "row"), "row", SEATS, ("ok",))


def _bids(state: State) -> list[Want]:
    """P7: 买底 of the dealer, 顶底 of another; whoever has spoken may say otherwise until all have."""
    times = attempt(state, BID)
    most, bids = most_bid(state.match.rules, state.session.steps), state.play.bids
    found: list[Want] = []
    for seat in SEATS:
        kind = "buy" if seat == state.dealer else "top"
        wanted = WantId(state.hand, "bid", 0, times)
        found += _prompt(wanted, "bid", (seat,), ("bid",), kind=kind, most=most, points=bids.get(seat))
    found.append(_timer(WantId(state.hand, "bid_clock", 0, times), state.match.agree_ms, people=True))
    return found


def _rolling(state: State) -> list[Want]:
    roll = state.play.roll
    assert roll is not None
    found = list(_ROLL_STAGES[roll.stage](state, roll))
    if state.phase == "gold_roll" and not state.reads_tiles:
        shift = ("tail_shift",) if roll.stage == "wanted" else ()
        found += _flower_fields(state, "tail", shift)
    return found


def _roll_wanted(state: State, roll: Roll) -> Iterator[Want]:
    seats = (roll.thrower,) if roll.thrower else SEATS
    yield from _prompt(
        WantId(state.hand, "roll", roll.index, roll.attempt),
        "roll",
        seats,
        ("roll",),
        purpose=roll.purpose,
        nth=roll.nth,
        mode=state.match.dice,
        spoilt=roll.spoilt,
    )


def _roll_throwing(state: State, roll: Roll) -> Iterator[Want]:
    step = f"dice_roll-{roll.index}"
    number = roll.attempt + attempt(state, step) - 1
    yield Want(
        WantId(state.hand, "dice_roll", roll.index, number), "operation", "dice_roll", params={"purpose": roll.purpose}
    )


def _entry(state: State, roll: Roll, step: str) -> WantId:
    return WantId(state.hand, step, roll.index, roll.attempt * 256 + roll.entry)


def _roll_entering(state: State, roll: Roll) -> Iterator[Want]:
    who = roll.by or roll.thrower
    seats = (who,) if who else SEATS
    wanted = _entry(state, roll, "dice")
    yield from _prompt(wanted, "dice", seats, ("dice", "cocked"), purpose=roll.purpose, nth=roll.nth)


def _roll_checking(state: State, roll: Roll) -> Iterator[Want]:
    wanted = _entry(state, roll, "dice_check")
    shown = {"purpose": roll.purpose, "dice": list(roll.dice or ()), "by": roll.entered_by}
    for seat in SEATS:
        looked = seat == roll.entered_by or seat in roll.agreed
        actions = ("object",) if looked else ("agree", "object")
        yield from _prompt(wanted, "dice_check", (seat,), actions, **shown)
    yield _timer(_entry(state, roll, "dice_stands"), state.match.object_ms)


def _roll_lost(state: State, roll: Roll) -> Iterator[Want]:
    wanted = WantId(state.hand, "dice_lost", roll.index, roll.attempt)
    seen = {seat: list(dice) if dice else None for seat, dice in roll.witnesses.items()}
    yield from _prompt(wanted, "dice_lost", SEATS, ("dice", "nobody"), purpose=roll.purpose, seen=seen)


def _roll_done(_: State, __: Roll) -> Iterator[Want]:
    return iter(())


_ROLL_STAGES: Mapping[str, Callable[[State, Roll], Iterator[Want]]] = {
    "wanted": _roll_wanted,
    "throwing": _roll_throwing,
    "entering": _roll_entering,
    "checking": _roll_checking,
    "lost": _roll_lost,
    "done": _roll_done,
}


def _taking(state: State) -> list[Want]:
    take = current_take(state)
    if take is None:
        return []
    number, seat, positions = take
    total = len(state.play.takes)
    shown = {"seat": seat, "positions": list(positions), "n": number, "of": total}
    found: list[Want] = []
    if state.reads_tiles:
        found += _prompt(WantId(state.hand, "take", number), "take", (seat,), ("by_hand",), **shown)
        found += _hand_checks(state, number)
    else:
        # One prompt for the whole taking: a touch must not miss because the guide has just moved on.
        wanted = WantId(state.hand, "take", 0 if state.phase == "taking" else 1, attempt(state, TAKEN))
        found += _prompt(wanted, "take", SEATS, ("ok",), **shown)
    if state.match.aid == "present" and state.phase == "taking" and _presentable(positions):
        # A table that is to park ends the group that it is pushing out, and begins no other.
        if state.play.presented < number and (not state.parking or number == state.park_take):
            found.append(_presented(state, number, seat, positions))
    elif not state.reads_tiles and (number < total or state.phase == "door"):
        found.append(_timer(WantId(state.hand, "pace", number, attempt(state, TAKEN)), state.match.take_pace_ms))
    return found


def _resuming(state: State) -> list[Want]:
    """A thumb that said too soon that all is taken ends the taking of all four: any of them goes back to it."""
    if not resumable(state):
        return []
    return _prompt(WantId(state.hand, "taken", 0, attempt(state, TAKEN)), "taken", SEATS, ("not_yet",))


def _presentable(positions: tuple[str, ...]) -> bool:
    """Whether a dealing aid can push these out at once: whole neighbouring stacks of one side."""
    whole = all(first[:-1] == second[:-1] for first, second in zip(positions[::2], positions[1::2], strict=False))
    return whole and len(positions) % 2 == 0 and len({position[0] for position in positions}) == 1


def _presented(state: State, number: int, seat: str, positions: tuple[str, ...]) -> Want:
    first = positions[0]
    return _operation(
        state,
        "present_group",
        number,
        side=first[0],
        first=int(first[1:].rstrip("tb")),
        count=len(positions),
        seat=seat,
        **_by_word(state),
    )


def _hand_checks(state: State, number: int) -> list[Want]:
    found: list[Want] = []
    for seat in SEATS:
        if hand_disagrees(state, seat):
            counts = {"seen": len(state.play.seen[(seat, "hand")]), "expected": len(expected_hand(state, seat))}
            actions = () if counts["seen"] > counts["expected"] else ("ok",)
            found += _prompt(WantId(state.hand, "hand_check", number), "hand_check", (seat,), actions, **counts)
    return found


def _flowers(state: State) -> list[Want]:
    if not state.reads_tiles:
        return _flower_fields(state, "flowers", ("tail_shift", "ok"))
    turn = state.play.flower_turn
    seat = flower_turn_seat(state)
    if turn is None or not seat:
        return []
    held = held_flowers(state, seat)
    index = min(turn[0] * 4 + turn[1], 255)
    found = _prompt(
        WantId(state.hand, "flowers", index),
        "flowers",
        (seat,),
        ("by_hand",),
        tiles=list(held),
        positions=list(next_of_tail(state, len(held))),
        count=len(held),
        round=turn[0],
    )
    return found + _hand_checks(state, 128 + index % 128)


def _flower_fields(state: State, verb: str, more: tuple[str, ...]) -> list[Want]:
    """Sensing none: eight fields at every seat; which flower is whose is open information, they lie on the felt."""
    taken = {face: seat for seat in SEATS for face in state.play.flowers[seat]}
    found: list[Want] = []
    for seat in SEATS:
        mine = [face for face in FLOWERS if face in state.play.flowers[seat]]
        found += _prompt(
            WantId(state.hand, verb, 0, attempt(state, TAKEN)),
            verb,
            (seat,),
            ("flower", "unflower", *more),
            mine=mine,
            taken=taken,
            tail=list(next_of_tail(state, TAIL_SHOWN)),
            count=tail_drawn(state),
        )
    return found


def _gold(state: State) -> list[Want]:
    gold = state.play.gold
    assert gold is not None
    thrower = state.play.rolls[-1].by
    shown = {"position": gold.position, "nth": gold.flips}
    wanted = gold.flips * 256 + gold.entry
    if gold.stage == "flipping" and state.reads_tiles:
        found = _prompt(WantId(state.hand, "flip", gold.flips, wanted), "flip", (thrower,), ("face",), **shown)
    elif gold.stage == "flipping":
        found = _prompt(
            WantId(state.hand, "gold_face", gold.flips, wanted), "gold_face", (thrower,), ("face",), **shown
        )
    else:
        found = []
        for seat in SEATS:
            looked = seat == gold.entered_by or seat in gold.agreed
            actions = ("object",) if looked else ("agree", "object")
            found += _prompt(
                WantId(state.hand, "gold_check", gold.flips, wanted),
                "gold_check",
                (seat,),
                actions,
                tile=gold.entered,
                by=gold.entered_by,
            )
        found.append(_timer(WantId(state.hand, "gold_stands", gold.flips, wanted), state.match.object_ms))
    return found


def _play(state: State) -> list[Want]:
    return play_wants(state) if state.reads_tiles else book_wants(state)


def _settle(state: State) -> list[Want]:
    return seats_wants(state) if sits_back(state) else book_wants(state)


def _seating(state: State) -> list[Want]:
    return _rolling(state) + seats_wants(state) if state.play.roll is not None else []


def _sorting(state: State, blocked: set[str]) -> list[Want]:
    job = state.sort
    if job is None or f"sort-{job.set}" in blocked:
        return []
    wanted = WantId(job.hand, "sort", job.set, job.attempt)
    return [Want(wanted, "operation", "sort", params={"set": job.set})]


def _problems(state: State) -> list[Want]:
    found: list[Want] = []
    for problem in state.problems:
        found += _count_prompt(state, problem) if problem.kind == "count" else _retry_prompt(state, problem)
    return found


def _count_prompt(state: State, problem: Problem) -> list[Want]:
    tries = 1 if state.sort is None else state.sort.attempt
    sides = [{"side": side, "counted": counted, "expected": wanted} for side, counted, wanted in problem.sides]
    wanted_id = WantId(problem.hand, "count", problem.set, tries)
    return _prompt(wanted_id, "count", SEATS, ("retry",), set=problem.set, sides=sides)


def _retry_prompt(state: State, problem: Problem) -> list[Want]:
    step, _, number = problem.key.rpartition("-")
    tries = attempt(state, problem.key) if problem.verb != "sort" or state.sort is None else state.sort.attempt
    index = _retry_index(step, int(number))
    shown = {"operation": problem.verb, "fault": problem.fault, "side": problem.side, "step": problem.key}
    if problem.verb not in SEEN_BY_PEOPLE.get(problem.fault, ()):
        return _prompt(WantId(problem.hand, "retry", index, tries), "retry", SEATS, ("retry",), **shown)
    found: list[Want] = []
    for seat in SEATS:
        actions = ("retry",) if seat in problem.vouched else ("stands", "retry")
        wanted = WantId(problem.hand, "stands", index, tries)
        found += _prompt(wanted, "stands", (seat,), actions, **shown, said=list(problem.vouched))
    return found


def _retry_index(step: str, number: int) -> int:
    """A retry prompt's index tells which step it is about; prompts never travel as operation ids."""
    return STEPS.index(step) * 256 + number


_PHASE_WANTS: Mapping[str, Callable[[State], list[Want]]] = {
    "idle": _idle,
    "sorting": _nothing,
    "lift": _lift,
    "centre_up": _centre_up,
    "push_in": _push_in,
    "centre_down": _centre_down,
    "walls": _walls,
    "reading": _reading,
    "dealer_roll": _rolling,
    "row": _row,
    "bids": _bids,
    "deal_roll": _rolling,
    "taking": _taking,
    "door_roll": _rolling,
    "door": _taking,
    "flowers": _flowers,
    "gold_roll": _rolling,
    "gold": _gold,
    "opening": _play,
    "play": _play,
    "settle": _settle,
    "seating": _seating,
    "swapping": _seating,
    "paused": paused_wants,
    "ended": _idle,
}
