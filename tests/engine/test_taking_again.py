"""Sensing none: a word that all is taken, said too soon, is taken back until the next step has begun."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine import events as e
from engine import inputs as i
from engine import snapshots
from engine.asking import Want
from engine.state import current_take
from engine.table import wants
from engine.tiles import SEATS
from tests.engine.walker import Walker, refused


def at(phase: str, rules: str = "new-xiamen-120", layout: str = "zhitui", **options: Any) -> Walker:
    walker = Walker(rules, layout, sensing="none", hands=1, seed=5, **options)
    walker.run(lambda state: state.phase == phase)
    assert walker.state.phase == phase
    return walker


def of(walker: Walker, verb: str) -> dict[str, Want]:
    return {want.seat: want for want in wants(walker.state) if want.verb == verb}


def say(walker: Walker, seat: str, verb: str, action: str, **params: Any) -> i.SeatAction:
    said = i.SeatAction(seat, str(of(walker, verb)[seat].id), action, params)
    walker.feed(said)
    return said


def shown_on(walker: Walker, times: int) -> None:
    for _ in range(times):
        (pace,) = of(walker, "pace").values()
        walker.feed(i.TimerElapsed(str(pace.id)))


@pytest.mark.parametrize(
    ("rules", "layout", "then"),
    [
        ("new-xiamen-120", "zhitui", "flowers"),
        ("classic-xiamen-144", "bagua", "door_roll"),
        ("basic-136", "zhitui", "gold_roll"),
    ],
)
def test_a_careless_thumb_ends_the_taking_and_any_seat_goes_back_to_it(rules: str, layout: str, then: str) -> None:
    walker = at("taking", rules, layout)
    shown_on(walker, 2)
    before, pace = current_take(walker.state), of(walker, "pace")
    careless = say(walker, "W", "take", "ok")
    assert walker.state.phase == then and current_take(walker.state) is None
    assert list(of(walker, "taken")) == list(SEATS), "whoever still takes says so"
    back = say(walker, "N", "taken", "not_yet")
    assert walker.state.phase == "taking" and current_take(walker.state) == before
    assert not of(walker, "taken") and not of(walker, "roll")
    assert of(walker, "pace").keys() == pace.keys() and str(of(walker, "pace")[""].id) != str(pace[""].id)
    assert refused(walker, careless).code == "late", "the same thumb once more, or sent twice, ends nothing"
    assert walker.feed(back) == (), "who said the same a moment later is right"
    shown_on(walker, 1)
    say(walker, "E", "take", "ok")
    assert walker.state.phase == then, "and it ends as ever"
    for _ in range(4_000):
        if walker.state.phase == "ended":
            return
        walker.step()
    raise AssertionError(f"the match does not end: {walker.state.phase}")


def test_the_door_tile_is_gone_back_to_as_well() -> None:
    walker = at("door", "classic-xiamen-144", "bagua")
    before = current_take(walker.state)
    say(walker, "S", "take", "ok")
    assert walker.state.phase == "flowers"
    say(walker, "E", "taken", "not_yet")
    assert walker.state.phase == "door" and current_take(walker.state) == before


def test_once_the_next_step_has_begun_it_stands() -> None:
    walker = at("taking")
    say(walker, "W", "take", "ok")
    say(walker, "E", "flowers", "flower", tile="3f")
    assert not of(walker, "taken")
    say(walker, "E", "flowers", "unflower", tile="3f")
    late = of(walker, "taken")["S"]
    say(walker, "E", "flowers", "ok")
    assert walker.state.phase == "gold_roll" and not of(walker, "taken")
    assert refused(walker, i.SeatAction("S", str(late.id), "not_yet")).code == "late"


def test_a_throw_for_the_door_settles_it() -> None:
    walker = at("taking", "classic-xiamen-144", "bagua")
    say(walker, "W", "take", "ok")
    asked = of(walker, "taken")["S"]
    (thrower,) = of(walker, "roll")
    throw = say(walker, thrower, "roll", "roll")
    assert not of(walker, "taken")
    assert refused(walker, i.SeatAction("S", str(asked.id), "not_yet")).code == "late"
    walker = at("taking", "classic-xiamen-144", "bagua")
    say(walker, "W", "take", "ok")
    say(walker, "S", "taken", "not_yet")
    assert refused(walker, throw).code == "late", "a throw asked for before moves nothing"
    say(walker, "W", "take", "ok")
    assert str(of(walker, "roll")[thrower].id) != throw.want


def test_what_was_shown_outlasts_a_power_cut() -> None:
    walker = at("taking")
    shown_on(walker, 3)
    before = current_take(walker.state)
    say(walker, "W", "take", "ok")
    walker.state = snapshots.decode(json.loads(json.dumps(snapshots.encode(walker.state))))
    say(walker, "W", "taken", "not_yet")
    assert current_take(walker.state) == before


def test_where_tiles_are_read_nobody_is_asked() -> None:
    walker = Walker("new-xiamen-120", seed=5)
    walker.run(lambda state: state.phase == "gold_roll" or bool(of_phase(state)))
    assert walker.state.phase == "gold_roll"
    assert not [event for event in walker.events if isinstance(event, e.TakingDone | e.TakingResumed)]


def of_phase(state: Any) -> list[Want]:
    return [want for want in wants(state) if want.verb == "taken"]
