"""What several kinds of events do to a state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.changing import replace
from engine.state import Problem, Roll, State


def with_play(state: State, **changes: Any) -> State:
    """The state with another hand's part."""
    return replace(state, play=replace(state.play, **changes))


def roll_key(roll: Roll) -> str:
    """Under what the attempts of a throw are counted."""
    return f"roll-{roll.index}"


def attempts_now(state: State) -> Mapping[str, int]:
    """The attempts with those of the throw that is given up: no id of it may come twice."""
    roll = state.play.roll
    return state.attempts if roll is None else {**state.attempts, roll_key(roll): roll.attempt}


def zone_shown(
    state: State, seat: str, zone: str, tiles: tuple[str, ...], sure: bool = True, **changes: Any
) -> State:
    """A zone lies so, whoever says it, surely or as a reader believes that is not sure."""
    at = (seat, zone)
    if not sure or at in state.play.unsure:
        others = tuple(one for one in state.play.unsure if one != at)
        changes["unsure"] = others if sure else (*others, at)
    looks = {**state.play.looks, at: state.play.looks.get(at, 0) + 1}
    return with_play(state, seen={**state.play.seen, at: tiles}, looks=looks, **changes)


def of_sorting(state: State) -> tuple[Problem, ...]:
    """The problems that a hand leaves behind."""
    return tuple(problem for problem in state.problems if problem.verb == "sort")
