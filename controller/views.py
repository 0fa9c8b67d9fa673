"""What each audience may see of a table: pure functions from the state to plain JSON data.

This is a security boundary. The public view and the views of other seats never hold a hand's tiles, a wall's faces,
claims, prompts or answers of a seat; a seat's own view adds only what that seat's eyes could see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from controller.live import Live
from engine import events as e
from engine.dice import pointed_seat
from engine.opening import next_tiles, side_positions
from engine.ruleset import Ruleset, load_ruleset
from engine.state import (
    Problem,
    Roll,
    State,
    current_take,
    flower_turn_seat,
    gone_from_wall,
    held_flowers,
    next_of_tail,
    set_up,
    sorted_set,
    tail_drawn,
)
from engine.tiles import SEATS, format_tiles
from engine.wants import TAIL_SHOWN, Want, wants

ANSWERS_KEPT = 16
"""How many of a seat's last inputs its view answers."""

_SHOWN_PHASE = {"centre_up": "lift", "centre_down": "push_in", "reading": "walls"}
_ROLL_STATE = {"throwing": "rolling"}
_GOLD_STATE = {"checking": "checking", "opened": "shown"}
_TIMER_OF = {"dice_check": "dice_stands", "gold_check": "gold_stands", "opening": "window"}


def public_view(state: State, live: Live) -> dict[str, Any]:
    """What everybody at the table may see; also the public part of every seat's view."""
    view = _match(state, live)
    view["machine"] = _machine(state, live)
    view |= _walls(state)
    view |= _dice(state)
    view |= _taking(state)
    view |= _flowers(state)
    view["gold"] = _gold(state)
    view["window"] = _window(state, live)
    view["result"] = _result(state)
    view["notices"] = [dict(notice) for notice in live.notices]
    return view


def seat_view(state: State, seat: str, live: Live, public: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The whole view of one seat; `public` saves making the public part again."""
    view = dict(public_view(state, live) if public is None else public)
    device = live.devices.get(seat)
    view["me"] = {
        "seat": seat,
        "tiles": _own_tiles(state, seat),
        "wants": [_want(want, state, live) for want in wants(state) if want.seat == seat],
        "answers": [dict(answer) for answer in live.answers.get(seat, ())[-ANSWERS_KEPT:]],
        "points": None,
        "device": {"name": device} if device else None,
        "pairing": [dict(asked) for asked in live.pairing],
    }
    return view


def lamps(state: State) -> tuple[tuple[str, int, int, str], ...]:
    """Lamps to be lit: `(side, first stack, last stack, colour)`, the taker's colour or gold."""
    if state.setup is None:
        return ()
    take = current_take(state)
    gold = state.play.gold
    if take is not None:
        return _stack_ranges(take[2], take[1])
    if state.phase == "gold" and gold is not None:
        return _stack_ranges((gold.position,), "gold")
    if state.phase == "flowers" and state.play.lines is not None:
        seat = flower_turn_seat(state)
        count = len(held_flowers(state, seat)) if seat else 1
        return _stack_ranges(next_of_tail(state, count), seat or "white")
    return ()


def public_events(event: e.Event, before: State, after: State) -> tuple[tuple[str, str, dict[str, Any]], ...]:
    """The event as the public stream tells it: `(stream, type, data)`; empty for what is secret or of no interest."""
    tell = _TOLD.get(type(event))
    return () if tell is None else (tell(event, before, after),)


# -- parts of the public view ------------------------------------------------------------------------------------------


def _match(state: State, live: Live) -> dict[str, Any]:
    setup = state.setup
    playing = setup is not None and state.phase not in ("idle", "ended")
    shown = _SHOWN_PHASE.get(state.phase, state.phase)
    return {
        "use": "closing" if playing and state.ending else "playing" if playing else "free",
        "rules": setup.rules.name if setup else live.table.rules,
        "layout": setup.layout if setup else live.table.layout or None,
        "sensing": setup.sensing if setup else live.table.sensing,
        "dice_mode": setup.dice if setup else live.table.dice,
        "hand": match_hand(state),
        "hands": setup.hands if setup else 0,
        "dealer": state.dealer or None,
        "streak": state.streak,
        "base": _dealer_base(setup.rules, state.streak) if setup else None,
        "phase": shown,
    }


def match_hand(state: State) -> int:
    """The number of the hand within its match, from 1; 0 without a match; the last hand's once the match ends."""
    if state.setup is None:
        return 0
    number = state.hand - state.first_hand + 1
    if state.ending and state.result is not None and state.result.hand == state.hand - 1:
        return number - 1
    return number


def _dealer_base(rules: Ruleset, streak: int) -> int | None:
    """The dealer's 底 in his present turn (R31, R36), None in rules without one."""
    if rules.base_series:
        return rules.base_series[min(streak, len(rules.base_series) - 1)]
    if rules.base_dealer is None:
        return None
    if rules.base_growth == "double":
        return int(rules.base_dealer * 2**streak)
    return rules.base_dealer + int(rules.base_growth or 0) * streak


def _machine(state: State, live: Live) -> dict[str, Any]:
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
        "faults": [
            {"code": f.code, "severity": f.severity, "mechanism": f.mechanism, "side": f.side} for f in state.faults
        ],
        "problem": _problem(state.problems[0]) if state.problems else None,
        "unasked_dice": list(state.unasked[-1]) if state.unasked and state.unasked[-1] else None,
    }


def _problem_of_sort(state: State) -> bool:
    return any(problem.verb == "sort" for problem in state.problems)


def _problem(problem: Problem) -> dict[str, Any]:
    if problem.kind == "count":
        sides = [{"side": side, "counted": counted, "expected": wanted} for side, counted, wanted in problem.sides]
        return {"kind": "count", "set": problem.set, "sides": sides}
    return {"kind": "failed", "operation": problem.verb, "fault": problem.fault, "side": problem.side}


def _walls(state: State) -> dict[str, Any]:
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
    gone = gone_from_wall(state)
    wall = {
        side: "".join("0" if position in gone else "1" for position in side_positions(setup.rules, setup.layout, side))
        for side in SEATS
    }
    return {**shape, "wall": wall, "left": sum(bits.count("1") for bits in wall.values())}


def _points_at(purpose: str, by: str, dice: tuple[int, int]) -> str | None:
    return pointed_seat(by, dice) if by and purpose != "gold" else None


def _dice(state: State) -> dict[str, Any]:
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


def _taking(state: State) -> dict[str, Any]:
    hand = state.play
    take = current_take(state)
    deal = next((roll for roll in hand.rolls if roll.purpose == "deal"), None)
    bagua = state.setup is not None and state.match.layout == "bagua"
    broken = None
    if deal is not None and not bagua:
        broken = {"side": pointed_seat(deal.by, deal.dice), "left": min(deal.dice)}
    head = None
    if hand.lines is not None:
        head = next(iter(next_tiles(hand.lines.head, gone_from_wall(state), 1)), None)
    return {
        "take": None
        if take is None
        else {"seat": take[1], "positions": list(take[2]), "n": take[0], "of": len(hand.takes)},
        "extra": hand.lines.extra if hand.lines is not None else None,
        "break": broken,
        "door": hand.lines.extra if hand.lines is not None and bagua else None,
        "head": head,
        "counts": _counts(state),
    }


def _counts(state: State) -> dict[str, int] | None:
    if state.setup is None or not state.reads_tiles or not set_up(state):
        return None
    return {seat: len(state.play.hands.get(seat, ())) for seat in SEATS}


def _flowers(state: State) -> dict[str, Any]:
    hand = state.play
    tail = None
    if hand.lines is not None:
        tail = {"next": list(next_of_tail(state, TAIL_SHOWN)), "taken": tail_drawn(state)}
    seat = flower_turn_seat(state)
    turn = None
    if seat and hand.flower_turn is not None:
        count = len(held_flowers(state, seat))
        turn = {
            "round": hand.flower_turn[0],
            "seat": seat,
            "count": count,
            "positions": list(next_of_tail(state, count)),
        }
    return {"tail": tail, "flowers": {s: list(hand.flowers[s]) for s in SEATS}, "flower_turn": turn}


def _gold(state: State) -> dict[str, Any] | None:
    gold = state.play.gold
    if gold is None:
        return None
    thrown = next((roll for roll in reversed(state.play.rolls) if roll.purpose == "gold"), None)
    shown = _GOLD_STATE.get(gold.stage, "counting" if state.reads_tiles else "entering")
    return {
        "face": gold.face or gold.entered or None,
        "position": gold.position,
        "indicator": gold.tile if gold.face and gold.tile != gold.face else None,
        "white": gold.white,
        "path": list(gold.path),
        "roll": list(thrown.dice) if thrown else None,
        "passed": [[passed.position, passed.tile] for passed in state.play.passed],
        "by": thrown.by if thrown else "",
        "state": shown,
    }


def _window(state: State, live: Live) -> dict[str, Any] | None:
    """Only that a window is open and for how long: nothing that depends on who can claim (R13)."""
    if state.phase != "opening" or not state.reads_tiles:
        return None
    return {"kind": "opening", "left_ms": _left(live, "window", state)}


def _left(live: Live, timer: str, state: State) -> int | None:
    for want in wants(state):
        if want.kind == "timer" and want.verb == timer:
            return int(live.timers.get(str(want.id), want.after_ms))
    return None


def _result(state: State) -> dict[str, Any] | None:
    result = state.result
    if result is None:
        return None
    return {
        "hand": result.hand - state.first_hand + 1,
        "winner": result.winner or None,
        "way": result.way or None,
        "dealer": result.dealer or None,
    }


# -- the seat's own part -----------------------------------------------------------------------------------------------


def _own_tiles(state: State, seat: str) -> str | None:
    if state.setup is None or not state.reads_tiles or not set_up(state):
        return None
    seen = state.play.seen.get((seat, "hand")) or state.play.hands.get(seat, ())
    return format_tiles(seen)


def _want(want: Want, state: State, live: Live) -> dict[str, Any]:
    params = dict(want.params)
    if want.verb == "start":
        params |= {
            "rules": live.table.rules,
            "layout": live.table.layout,
            "rulesets": [{"name": name, "layouts": list(load_ruleset(name).layouts)} for name in live.table.rulesets],
            "hands": live.table.hands,
        }
    timer = _TIMER_OF.get(want.verb)
    return {
        "id": str(want.id),
        "verb": want.verb,
        "params": params,
        "actions": list(want.actions),
        "left_ms": _left(live, timer, state) if timer else None,
    }


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


# -- the public stream -------------------------------------------------------------------------------------------------

_Told = tuple[str, str, dict[str, Any]]


def _plain(stream: str, name: str, *names: str) -> Callable[[Any, State, State], _Told]:
    def tell(event: Any, _: State, after: State) -> _Told:
        data: dict[str, Any] = {"hand": match_hand(after)}
        for field in names:
            value = getattr(event, field)
            data[field] = list(value) if isinstance(value, tuple) else value
        return (stream, name, data)

    return tell


def _told_hand_ended(event: e.HandEnded, before: State, after: State) -> _Told:
    data = {
        "hand": match_hand(before),
        "winner": event.winner or None,
        "way": event.way or None,
        "tiles": format_tiles(event.tiles) if event.tiles else None,
        "dealer": before.dealer,
        "next_dealer": event.next_dealer,
    }
    return ("game", "hand_ended", data)


def _told_take(event: e.TakeDone, before: State, after: State) -> _Told:
    seat, positions = after.play.takes[event.n - 1]
    return ("game", "taken", {"hand": match_hand(after), "n": event.n, "seat": seat, "positions": list(positions)})


def _told_counted(event: e.SetMiscounted, before: State, after: State) -> _Told:
    sides = [{"side": side, "counted": counted, "expected": wanted} for side, counted, wanted in event.sides]
    return ("fault", "miscounted", {"set": event.set, "sides": sides})


_TOLD: Mapping[type[Any], Callable[[Any, State, State], _Told]] = {
    e.MatchStarted: _plain("game", "match_started", "rules", "layout", "sensing", "dice", "hands"),
    e.MatchEnded: _plain("game", "match_ended"),
    e.SortBegun: _plain("machine", "sort_begun", "set", "attempt"),
    e.SetSorted: _plain("machine", "sorted", "set"),
    e.SetMiscounted: _told_counted,
    e.CentreRaised: _plain("machine", "centre_up"),
    e.CentreLowered: _plain("machine", "centre_down"),
    e.WallsRaised: _plain("machine", "walls_up", "set"),
    e.RowsLaid: _plain("game", "rows_laid"),
    e.RollWanted: _plain("game", "roll_wanted", "purpose", "nth", "thrower"),
    e.RollSpoilt: _plain("game", "roll_spoilt", "reason"),
    e.DiceRolled: _plain("game", "rolled", "purpose", "by", "dice", "how"),
    e.DiceObjected: _plain("game", "dice_disputed", "by"),
    e.DiceLost: _plain("game", "dice_lost"),
    e.DealerChosen: _plain("game", "dealer", "seat"),
    e.TakeDone: _told_take,
    e.TakingDone: _plain("game", "all_taken"),
    e.FlowerDeclared: _plain("game", "flower", "seat", "tile"),
    e.FlowerWithdrawn: _plain("game", "flower_withdrawn", "seat", "tile"),
    e.TailShifted: _plain("game", "tail_shifted", "seat", "by"),
    e.FlowersReplaced: _plain("game", "flowers_replaced", "round", "seat", "flowers", "positions"),
    e.FlowersDone: _plain("game", "flowers_done"),
    e.GoldCounted: _plain("game", "gold_counted", "path"),
    e.GoldPassed: _plain("game", "gold_passed", "position", "tile", "why", "to"),
    e.GoldOpened: _plain("game", "gold", "position", "tile", "face", "white"),
    e.OpeningBegun: _plain("game", "opening"),
    e.HandEnded: _told_hand_ended,
    e.OperationBroken: _plain("fault", "operation_failed", "verb", "fault", "side"),
    e.OperationRetried: _plain("fault", "operation_retried", "step"),
    e.UnaskedThrow: _plain("audit", "unasked_throw", "dice"),
    e.FaultNoted: _plain("fault", "raised", "code", "severity", "mechanism", "side"),
    e.FaultGone: _plain("fault", "cleared", "code", "side"),
    e.Stopped: _plain("fault", "stopped", "reason"),
    e.ReleaseWanted: _plain("audit", "clear_stop", "by"),
    e.Released: _plain("fault", "released"),
}
