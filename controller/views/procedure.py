"""The procedure as everybody sees it: the machine, walls, dice, taking, the gold, and the lamps along the walls."""

from __future__ import annotations

from collections import Counter
from typing import Any

from controller.live import Live
from controller.views.faults import faults, problem
from controller.views.play import gone
from engine.dice import pointed_seat
from engine.opening import next_tiles, side_positions, white_stands_for
from engine.state import (
    Roll,
    State,
    current_take,
    flower_turn_seat,
    next_of_tail,
    set_up,
    sorted_set,
    tail_drawn,
)
from engine.tiles import FLOWERS, SEATS
from engine.wants import TAIL_SHOWN

_ROLL_STATE = {"throwing": "rolling"}
_GOLD_STATE = {"checking": "checking", "opened": "shown"}
_NO_PLACES = ("gold", "seat")
"""Throws that point at no seat."""


def machine(state: State, live: Live) -> dict[str, Any]:
    """What the hardware does, and what hinders it."""
    sorting = live.sorting if state.sort is not None else None
    moving = state.phase in ("centre_up", "centre_down")
    return {
        "set_up": set_up(state),
        "sorting": None
        if state.sort is None or _problem_of_sort(state)
        else {
            "set": state.sort.set,
            "tiles": dict(sorting["tiles"]) if sorting else dict.fromkeys(SEATS, 0),
            "seconds": sorting["seconds"] if sorting else 0,
        },
        "sorted_set": sorted_set(state),
        "centre": "moving" if moving else state.centre,
        "link": live.link,
        "stop": state.stop or None,
        "faults": faults(state),
        "problem": problem(state),
        "unasked_dice": list(state.unasked[-1]) if state.unasked and state.unasked[-1] else None,
        "service": {"who": state.service, "act": "", "params": {}, **live.service} if state.service else None,
    }


def _problem_of_sort(state: State) -> bool:
    return any(one.verb == "sort" for one in state.problems)


def walls(state: State) -> dict[str, Any]:
    """The walls tile by tile, and how many are left."""
    setup = state.setup
    if setup is None:
        return {"stacks": {}, "row": 0, "wall": None, "rows_laid": False, "left": None}
    shape = {
        "stacks": dict.fromkeys(SEATS, setup.rules.stacks),
        "row": setup.rules.row if setup.layout == "bagua" else 0,
        "rows_laid": state.play.rows_laid,
    }
    if not set_up(state):
        return {**shape, "wall": None, "left": None}
    left = gone(state)
    wall = {
        side: "".join("0" if position in left else "1" for position in side_positions(setup.rules, setup.layout, side))
        for side in SEATS
    }
    return {**shape, "wall": wall, "left": sum(bits.count("1") for bits in wall.values())}


def _points_at(purpose: str, by: str, dice: tuple[int, int]) -> str | None:
    return pointed_seat(by, dice) if by and purpose not in _NO_PLACES else None


def dice(state: State) -> dict[str, Any]:
    """The throw under way and those of this hand."""
    rolls = [
        {
            "purpose": roll.purpose,
            "by": roll.by,
            "values": list(roll.dice),
            "points": _points_at(roll.purpose, roll.by, roll.dice),
        }
        for roll in state.play.rolls
    ]
    return {"dice": _throw(state.play.roll), "rolls": rolls}


def _throw(roll: Roll | None) -> dict[str, Any] | None:
    if roll is None:
        return None
    by = roll.by or roll.thrower
    return {
        "purpose": roll.purpose,
        "nth": roll.nth,
        "by": by,
        "values": list(roll.dice) if roll.dice else None,
        "state": _ROLL_STATE.get(roll.stage, roll.stage),
        "points": _points_at(roll.purpose, by, roll.dice) if roll.dice else None,
    }


def taking(state: State) -> dict[str, Any]:
    """Where the wall was broken, what is to be taken now, and by whom."""
    hand = state.play
    take = current_take(state)
    deal = next((roll for roll in hand.rolls if roll.purpose == "deal"), None)
    bagua = state.setup is not None and state.match.layout == "bagua"
    broken = None
    if deal is not None and not bagua:
        broken = {"side": pointed_seat(deal.by, deal.dice), "left": min(deal.dice)}
    head = None
    if hand.lines is not None:
        head = next(iter(next_tiles(hand.lines.head, gone(state), 1)), None)
    return {
        "take": None
        if take is None
        else {"seat": take[1], "positions": list(take[2]), "n": take[0], "of": len(hand.takes)},
        "extra": hand.lines.extra if hand.lines is not None else None,
        "break": broken,
        "door": hand.lines.extra if hand.lines is not None and bagua else None,
        "head": head,
    }


def replacing(state: State) -> dict[str, Any]:
    """The tail, and whose turn it is to replace flowers before play; of these, those that it has laid out."""
    hand = state.play
    tail = None
    if hand.lines is not None:
        following = next_tiles(hand.lines.tail, gone(state), TAIL_SHOWN)
        tail = {"next": list(following), "taken": tail_drawn(state)}
    seat = flower_turn_seat(state)
    turn = None
    if seat and hand.flower_turn is not None:
        count = _flowers_laid(state, seat)
        turn = {
            "round": hand.flower_turn[0],
            "seat": seat,
            "count": count,
            "positions": list(next_of_tail(state, count)),
        }
    return {"tail": tail, "flower_turn": turn}


def _flowers_laid(state: State, seat: str) -> int:
    """How many flowers a seat has laid out in its turn, as its reader shows them: what it holds is its own to know."""
    laid = Counter(state.play.seen.get((seat, "flowers"), ())) - Counter(state.play.flowers[seat])
    return min(laid.total(), len(FLOWERS))


def gold(state: State) -> dict[str, Any] | None:
    """The opening of the gold (R8-R10)."""
    found = state.play.gold
    if found is None:
        return _gold_of_book(state)
    thrown = next((roll for roll in reversed(state.play.rolls) if roll.purpose == "gold"), None)
    shown = _GOLD_STATE.get(found.stage, "counting" if state.reads_tiles else "entering")
    return {
        "face": found.face or found.entered or None,
        "position": found.position,
        "indicator": found.tile if found.face and found.tile != found.face else None,
        "white": found.white,
        "path": list(found.path),
        "roll": list(thrown.dice) if thrown else None,
        "passed": [[passed.position, passed.tile] for passed in state.play.passed],
        "by": thrown.by if thrown else "",
        "state": shown,
    }


def _gold_of_book(state: State) -> dict[str, Any] | None:
    """The gold of a hand whose booking was taken back: people tell it anew, and its tiles may be inside already."""
    if state.book is None or not state.back or state.book.frame.gold is None:
        return None
    face = state.book.frame.gold
    return {
        "face": face,
        "position": None,
        "indicator": None,
        "white": white_stands_for(state.match.rules, face),
        "path": [],
        "roll": None,
        "passed": [],
        "by": "",
        "state": "shown",
    }


def lamps(state: State) -> tuple[tuple[str, int, int, str], ...]:
    """Lamps to be lit: `(side, first stack, last stack, colour)`, the taker's colour or gold."""
    if state.setup is None:
        return ()
    take = current_take(state)
    found = state.play.gold
    if take is not None:
        return _stack_ranges(take[2], take[1])
    if state.phase == "gold" and found is not None:
        return _stack_ranges((found.position,), "gold")
    if state.phase == "flowers" and state.play.lines is not None:
        seat = flower_turn_seat(state)
        count = _flowers_laid(state, seat) if seat else 0
        return _stack_ranges(next_of_tail(state, max(count, 1)), seat or "white")
    return ()


def _stack_ranges(positions: tuple[str, ...], colour: str) -> tuple[tuple[str, int, int, str], ...]:
    """Neighbouring stacks of a side as ranges; a place of 八卦's row lies where its stack stood."""
    stacks: dict[str, set[int]] = {}
    for position in positions:
        number = position[1:].rstrip("tb")
        stack = int(number) if position[-1] in "tb" else 8 + (int(number) + 1) // 2
        stacks.setdefault(position[0], set()).add(stack)
    ranges: list[tuple[str, int, int, str]] = []
    for side, numbers in stacks.items():
        for stack in sorted(numbers):
            if ranges and ranges[-1][0] == side and ranges[-1][2] == stack - 1:
                ranges[-1] = (side, ranges[-1][1], stack, colour)
            else:
                ranges.append((side, stack, stack, colour))
    return tuple(ranges)
