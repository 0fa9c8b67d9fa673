"""How the machine and what holds for the whole match change the state: sets, centre, walls, faults, parking."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from engine import events as e
from engine.changing import replace
from engine.folding.shared import of_sorting, with_play
from engine.match import Match
from engine.opening import side_positions, stand_positions
from engine.ruleset import load_ruleset
from engine.state import (
    Fault,
    HandState,
    Problem,
    Setup,
    SortJob,
    State,
    current_take,
)


def _match_started(state: State, event: e.MatchStarted) -> State:
    setup = Setup(
        rules=load_ruleset(event.rules, event.options),
        layout=event.layout,
        sensing=event.sensing,
        dice=event.dice,
        aid=event.aid,
        hands=event.hands,
        object_ms=event.object_ms,
        take_pace_ms=event.take_pace_ms,
        options=event.options,
        agree_ms=event.agree_ms,
    )
    return State(
        setup=setup,
        session=state.session,
        book_turn=state.book_turn,
        parks=state.parks,
        service=state.service,
        gold_history=state.gold_history,
        phase="sorting",
        hand=state.hand + 1,
        first_hand=state.hand + 1,
        sets=event.sets,
        faults=state.faults,
        stop=state.stop,
        stops=state.stops,
        clearing=state.clearing,
        by_word=state.by_word,
        unasked=state.unasked,
    )


def _match_ending(state: State, _: e.MatchEnding) -> State:
    return replace(state, ending=True)


def _match_ended(state: State, _: e.MatchEnded) -> State:
    return replace(state, phase="ended")


def _evening_ended(state: State, _: e.EveningEnded) -> State:
    """As a table at which nobody has played. The machine and its tiles are where they are, a sort that goes on is
    counted by the rules that it was begun for, and numbers count on.
    """
    return replace(
        state,
        phase="idle",
        dealer="",
        streak=0,
        ending=False,
        gold_history=(),
        result=None,
        unasked=(),
        session=Match(match=state.session.match, before=state.session.match),
        book=None,
        back="",
        undoable=None,
        swap=("", "", ""),
        came_from={},
        minutes=0,
        end_asked=(),
        pausing=False,
        play=HandState(),
    )


def _phase(state: State, event: e.PhaseEntered) -> State:
    """Back among the flowers the book that the eighth of them had opened is given up for what it says of them."""
    if event.phase == "flowers" and state.book is not None:
        flowers = dict(state.book.flowers)
        return with_play(replace(state, phase="flowers", book=None), flowers=flowers)
    return replace(state, phase=event.phase)


def _with_set(state: State, number: int, where: str) -> tuple[str, ...]:
    return tuple(where if index + 1 == number else old for index, old in enumerate(state.sets))


def _sort_begun(state: State, event: e.SortBegun) -> State:
    return replace(
        state,
        sets=_with_set(state, event.set, "sorting"),
        sort=SortJob(event.set, event.hand, event.attempt),
        problems=_without(state, f"sort-{event.set}"),
    )


def _set_sorted(state: State, event: e.SetSorted) -> State:
    return replace(state, sets=_with_set(state, event.set, "sorted"), sort=None)


def _set_miscounted(state: State, event: e.SetMiscounted) -> State:
    problem = Problem("count", f"sort-{event.set}", "sort", set=event.set, sides=event.sides, hand=state.hand)
    return replace(state, problems=(*state.problems, problem))


def _lift(state: State, _: e.LiftPressed) -> State:
    return replace(state, phase="centre_up")


def _centre_raised(state: State, _: e.CentreRaised) -> State:
    return replace(state, centre="up", phase="push_in", by_word=False)


def _pushed(state: State, _: e.TilesPushed) -> State:
    return replace(state, phase="centre_down")


def _centre_lowered(state: State, _: e.CentreLowered) -> State:
    inside = tuple("inside" if where == "felt" else where for where in state.sets)
    return replace(state, centre="down", sets=inside, phase="sorting")


def _walls_raised(state: State, event: e.WallsRaised) -> State:
    return replace(state, sets=_with_set(state, event.set, "up"))


def _wall_read(state: State, event: e.WallRead) -> State:
    places = side_positions(state.match.rules, state.match.layout, event.side)
    assert len(places) == len(stand_positions(state.match.rules, event.side))
    return with_play(state, wall={**state.play.wall, **dict(zip(places, event.tiles, strict=True))})


def _wall_rejected(state: State, _: e.WallRejected) -> State:
    """All sides are to be read anew: each under a new attempt, since a board answers a known id from memory."""
    attempts = dict(state.attempts)
    for index in range(4):
        attempts[f"read_wall-{index}"] = attempts.get(f"read_wall-{index}", 1) + 1
    return with_play(replace(state, attempts=attempts), wall={})


def _dropped(state: State, _: e.HandDropped) -> State:
    felt = tuple("felt" if where == "up" else where for where in state.sets)
    problems = of_sorting(state)
    hand = state.hand + 1
    return replace(state, phase="sorting", hand=hand, sets=felt, attempts={}, play=HandState(), problems=problems)


def _minute(state: State, event: e.MinutePassed) -> State:
    return replace(state, minutes=event.minutes)


def _pause(state: State, event: e.PauseWanted) -> State:
    return replace(state, pausing=event.on)


def _park(state: State, event: e.ParkWanted) -> State:
    take = current_take(state)
    return replace(state, parking=event.reason, park_take=take[0] if take is not None else 0)


def _parked(state: State, _: e.Parked) -> State:
    return replace(state, parked=True, parks=state.parks + 1)


def _unparked(state: State, _: e.Unparked) -> State:
    return replace(state, parking="", park_take=0, parked=False)


def _service_begun(state: State, event: e.ServiceBegun) -> State:
    return replace(state, service=event.by)


def _service_ended(state: State, _: e.ServiceEnded) -> State:
    return replace(state, service="")


def _without(state: State, key: str) -> tuple[Problem, ...]:
    return tuple(problem for problem in state.problems if problem.key != key)


def _broken(state: State, event: e.OperationBroken) -> State:
    problem = Problem("failed", event.step, event.verb, event.fault, event.side, hand=state.hand)
    return replace(state, problems=(*_without(state, event.step), problem))


def _retried(state: State, event: e.OperationRetried) -> State:
    attempts = {**state.attempts, event.step: state.attempts.get(event.step, 1) + 1}
    return replace(state, problems=_without(state, event.step), attempts=attempts)


def _vouched(state: State, event: e.OperationVouched) -> State:
    problems = tuple(
        dataclasses.replace(problem, vouched=(*problem.vouched, event.by)) if problem.key == event.step else problem
        for problem in state.problems
    )
    return replace(state, problems=problems)


def _stands(state: State, event: e.OperationStands) -> State:
    by_word = state.by_word or any(
        problem.key == event.step and problem.verb == "centre_lower" for problem in state.problems
    )
    return replace(state, problems=_without(state, event.step), by_word=by_word)


def _nothing(state: State, _: Any) -> State:
    """Told, never kept."""
    return state


def _unasked(state: State, event: e.UnaskedThrow) -> State:
    return replace(state, unasked=(event.dice,))


def _fault_noted(state: State, event: e.FaultNoted) -> State:
    kept = tuple(f for f in state.faults if (f.code, f.side) != (event.code, event.side))
    return replace(state, faults=(*kept, Fault(event.code, event.severity, event.mechanism, event.side)))


def _fault_gone(state: State, event: e.FaultGone) -> State:
    left = tuple(f for f in state.faults if (f.code, f.side) != (event.code, event.side))
    return replace(state, faults=left, by_word=state.by_word and event.code != "centre_limit_missing")


def _stopped(state: State, event: e.Stopped) -> State:
    return replace(state, stop=state.stop or event.reason, stops=state.stops + 1, clearing=False)


def _release_wanted(state: State, _: e.ReleaseWanted) -> State:
    return replace(state, clearing=True)


def _released(state: State, _: e.Released) -> State:
    return replace(state, stop="", clearing=False)


MACHINE_FOLDS: Mapping[type[Any], Callable[[State, Any], State]] = {
    e.MatchStarted: _match_started,
    e.MatchEnding: _match_ending,
    e.MatchEnded: _match_ended,
    e.EveningEnded: _evening_ended,
    e.PhaseEntered: _phase,
    e.SortBegun: _sort_begun,
    e.SetSorted: _set_sorted,
    e.SetMiscounted: _set_miscounted,
    e.LiftPressed: _lift,
    e.CentreRaised: _centre_raised,
    e.TilesPushed: _pushed,
    e.CentreLowered: _centre_lowered,
    e.WallsRaised: _walls_raised,
    e.WallRead: _wall_read,
    e.WallRejected: _wall_rejected,
    e.HandDropped: _dropped,
    e.MinutePassed: _minute,
    e.PauseWanted: _pause,
    e.ParkWanted: _park,
    e.Parked: _parked,
    e.Unparked: _unparked,
    e.ServiceBegun: _service_begun,
    e.ServiceDone: _nothing,
    e.Audited: _nothing,
    e.ServiceEnded: _service_ended,
    e.OperationBroken: _broken,
    e.OperationRetried: _retried,
    e.OperationVouched: _vouched,
    e.OperationStands: _stands,
    e.ThrowBroken: _nothing,
    e.MechanismSlow: _nothing,
    e.UnaskedThrow: _unasked,
    e.FaultNoted: _fault_noted,
    e.FaultGone: _fault_gone,
    e.Stopped: _stopped,
    e.ReleaseWanted: _release_wanted,
    e.Released: _released,
}
