"""Faults as the procedure meets them: what nobody can know is asked, two seats are believed, what is over goes on."""

from __future__ import annotations

from typing import Any

import pytest

from engine import events as e
from engine import inputs as i
from engine.state import State
from engine.table import Refused, fold, wants
from engine.tiles import SEATS
from engine.wants import SEEN_BY_PEOPLE, Want
from tests.engine.test_table import at_phase, prompts
from tests.engine.walker import Walker

PHASE_OF = {
    "sort": "sorting", "centre_raise": "centre_up", "centre_lower": "centre_down", "walls_raise": "walls",
    "read_wall": "reading", "dice_roll": "deal_roll", "present_group": "taking",
}  # fmt: skip
"""Operation → the phase in which it is wanted."""


def wanting(verb: str, **settings: Any) -> tuple[Walker, Want]:
    """A table at which an operation of this kind is outstanding."""
    aid = "present" if verb == "present_group" else "guide"
    walker = at_phase(PHASE_OF[verb], seed=3, aid=aid, **settings)
    if verb == "dice_roll":
        walker.feed(i.KeyPressed("dice"))
    return walker, operations(walker, verb)[0]


def operations(walker: Walker, verb: str) -> list[Want]:
    return [want for want in wants(walker.state) if want.kind == "operation" and want.verb == verb]


def say(walker: Walker, seat: str, verb: str, action: str) -> None:
    walker.feed(i.SeatAction(seat, str(prompts(walker, verb)[seat].id), action))


@pytest.mark.parametrize("verb", PHASE_OF)
def test_what_nobody_can_know_is_asked_of_all_four_whatever_it_was(verb: str) -> None:
    """Never guessed, and never sent again before somebody has answered."""
    walker, wanted = wanting(verb)
    walker.feed(i.OperationUnknown(str(wanted.id)))
    if verb == "dice_roll":
        assert set(prompts(walker, "dice_lost")) == set(SEATS)
        assert not operations(walker, verb)
        return
    asked = prompts(walker, "stands" if verb in SEEN_BY_PEOPLE["unknown"] else "retry")
    assert set(asked) == set(SEATS)
    assert {(want.params["operation"], want.params["fault"]) for want in asked.values()} == {(verb, "unknown")}
    assert str(wanted.id) not in [str(want.id) for want in wants(walker.state)]
    if verb not in SEEN_BY_PEOPLE["unknown"]:
        say(walker, "S", "retry", "retry")
        again = next(want for want in operations(walker, verb) if want.id.key == wanted.id.key)
        assert again.id.attempt == wanted.id.attempt + 1


@pytest.mark.parametrize("verb", sorted(SEEN_BY_PEOPLE["unknown"]))
def test_two_seats_that_say_it_stands_are_believed_and_nothing_moves_for_it(verb: str) -> None:
    walker, wanted = wanting(verb)
    before = walker.state
    walker.feed(i.OperationUnknown(str(wanted.id)))
    say(walker, "N", "stands", "stands")
    assert walker.state.problems[0].vouched == ("N",)
    asked = prompts(walker, "stands")["N"]
    assert asked.actions == ("retry",) and asked.params["said"] == ["N"]
    with pytest.raises(Refused):
        say(walker, "N", "stands", "stands")
    assert not operations(walker, verb), "one word is no proof"
    say(walker, "E", "stands", "stands")
    done = fold([e.OperationBroken(wanted.id.key, verb, "unknown", "")], before)
    assert done.problems and not walker.state.problems
    assert not [want for want in operations(walker, verb) if want.id.key == wanted.id.key]
    other, same = wanting(verb)
    other.feed(i.OperationDone(str(same.id), {}))
    assert as_if_seen(walker.state) == as_if_seen(other.state), "it goes on as if the machine had said so"


def as_if_seen(state: State) -> State:
    from dataclasses import replace

    return replace(state, by_word=False)


@pytest.mark.parametrize("verb", sorted(SEEN_BY_PEOPLE["unknown"]))
def test_one_seat_that_says_it_does_not_stand_lets_it_be_tried_again(verb: str) -> None:
    walker, wanted = wanting(verb)
    walker.feed(i.OperationUnknown(str(wanted.id)))
    say(walker, "N", "stands", "stands")
    say(walker, "W", "stands", "retry")
    again = next(want for want in operations(walker, verb) if want.id.key == wanted.id.key)
    assert again.id.attempt == 2
    walker.feed(i.OperationUnknown(str(again.id)))
    assert prompts(walker, "stands")["N"].actions == ("stands", "retry"), "asked anew, the word of before is gone"


def test_the_lift_key_answers_no_such_question() -> None:
    """A key says neither yes nor no: whoever leans on it lets nothing move."""
    walker, wanted = wanting("centre_lower")
    walker.feed(i.OperationUnknown(str(wanted.id)))
    assert not walker.feed(i.KeyPressed("lift", "S")) and not walker.feed(i.KeyPressed("lift"))
    assert not operations(walker, "centre_lower")


def test_a_raised_centre_whose_switch_is_lost_is_nobodys_word() -> None:
    """Hands go below it: it is tried again, or the repairer comes."""
    walker, wanted = wanting("centre_raise")
    walker.feed(i.OperationFailed(str(wanted.id), "centre_limit_missing"))
    assert not prompts(walker, "stands") and set(prompts(walker, "retry")) == set(SEATS)


def test_a_centre_closed_by_word_lets_walls_rise_so_and_is_forgotten_once_it_moves_or_is_seen() -> None:
    walker, wanted = wanting("centre_lower")
    walker.feed(i.OperationFailed(str(wanted.id), "centre_limit_missing"))
    walker.feed(i.FaultRaised("centre_limit_missing", "fault", "centre"))
    say(walker, "E", "stands", "stands")
    say(walker, "S", "stands", "stands")
    assert walker.state.by_word
    (walls,) = operations(walker, "walls_raise")
    assert walls.params["by_word"] is True
    assert not any("by_word" in want.params for want in operations(walker, "sort"))
    seen = fold([e.FaultGone("centre_limit_missing", "")], walker.state)
    assert not seen.by_word and "by_word" not in next(one for one in wants(seen) if one.verb == "walls_raise").params
    assert not fold([e.CentreRaised()], walker.state).by_word


@pytest.mark.parametrize(("code", "goes_on"), [("motor_overheat", True), ("eye_dirty", True), ("head_jam", False)])
def test_a_sort_goes_on_by_itself_once_what_ended_it_is_over(code: str, goes_on: bool) -> None:
    walker, wanted = wanting("sort")
    walker.feed(i.FaultRaised(code, "fault", "motor"))
    walker.feed(i.OperationFailed(str(wanted.id), code))
    assert set(prompts(walker, "retry")) == set(SEATS) and not operations(walker, "sort")
    walker.feed(i.FaultCleared(code))
    assert [want.id.attempt for want in operations(walker, "sort")] == ([2] if goes_on else [])


def test_no_other_movement_begins_by_itself_when_a_motor_has_cooled() -> None:
    walker, wanted = wanting("centre_raise")
    walker.feed(i.FaultRaised("motor_overheat", "fault", "motor"))
    walker.feed(i.OperationFailed(str(wanted.id), "motor_overheat"))
    walker.feed(i.FaultCleared("motor_overheat"))
    assert not operations(walker, "centre_raise") and set(prompts(walker, "retry")) == set(SEATS)


def test_a_throw_that_fails_says_with_what_before_people_are_asked() -> None:
    walker, wanted = wanting("dice_roll")
    told = walker.feed(i.OperationFailed(str(wanted.id), "dice_stuck"))
    assert told[:2] == (e.ThrowBroken("dice_stuck", ""), e.DiceLost())


def test_a_slow_mechanism_is_told_with_now_and_usual() -> None:
    walker, _ = wanting("sort")
    told = walker.feed(i.FaultRaised("slow_sort", "warning", "sort", "", 41_000, 26_000))
    assert told == (e.MechanismSlow("sort", 41_000, 26_000), e.FaultNoted("slow_sort", "warning", "sort", ""))
    assert walker.feed(i.FaultCleared("slow_sort")) == (e.FaultGone("slow_sort", ""),)


def test_a_table_with_its_lid_open_can_be_parked() -> None:
    """What waits for the lid does not move."""
    walker, _ = wanting("centre_raise")
    walker.feed(i.Park("power"))
    assert not walker.state.parked
    walker.feed(i.FaultRaised("lid_open", "fault", "lid"))
    assert walker.state.parked
