"""A repairer takes the table in the middle of anything: nobody is asked, nothing is lost, play goes on where it was."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import events as e
from engine import inputs as i
from engine.chain import Refused
from engine.events import decode_event, encode_event
from engine.match_wants import waits_for_hands_off
from engine.state import State, new_state
from engine.table import apply, decide, fold
from engine.wants import wants
from tests.engine.tables import Told


def rolling() -> State:
    """Somebody is to throw."""
    table = Told(hold_sort=2)
    table.start()
    table.go("deal_roll")
    return table.state


def sorting() -> State:
    """The machine sorts the first set."""
    table = Told(hold_sort=1)
    table.start()
    return table.state


def after(state: State, *happened: i.Input) -> State:
    for one in happened:
        for event in decide(state, one):
            state = apply(state, event)
    return state


def test_nobody_is_asked_anything_and_the_same_is_asked_afterwards() -> None:
    state = rolling()
    before = wants(state)
    taken = after(state, i.Service(True, "Mei"))
    assert taken.service == "Mei" and wants(taken) == tuple(want for want in before if want.kind == "operation")
    back = after(taken, i.Serviced("Mei", "jog", {"motor": "walls", "ms": 200}), i.Service(False, "Mei", at_table=True))
    assert wants(back) == before and back == state


def test_a_press_and_a_key_mean_nothing_meanwhile() -> None:
    state = rolling()
    want = next(want for want in wants(state) if want.verb == "roll")
    taken = after(state, i.Service(True, "Mei"))
    with pytest.raises(Refused, match="service"):
        decide(taken, i.SeatAction(want.seat, str(want.id), "roll", {}))
    assert decide(taken, i.KeyPressed("dice", want.seat)) == ()
    assert decide(taken, i.TimerElapsed("1.pace-1.1")) == ()


def test_a_stop_can_be_cleared_and_faults_are_noted() -> None:
    fault = i.FaultRaised("eye_dirty", "fault", "eye", "W")
    taken = after(rolling(), i.Service(True, "Mei"), i.StopLatched("service"), fault)
    assert {want.verb for want in wants(taken) if want.kind == "prompt"} == {"stopped"}
    assert [fault.code for fault in taken.faults] == ["eye_dirty"]


def test_what_ran_when_it_began_ends_and_what_follows_is_only_wanted() -> None:
    run = sorting()
    sort = next(want for want in wants(run) if want.verb == "sort")
    taken = after(run, i.Service(True, "Mei"))
    assert sort in wants(taken), "it is not forgotten"
    done = after(taken, i.OperationDone(str(sort.id), {"tiles": dict.fromkeys("ESWN", 30)}))
    assert done.sets != taken.sets and done.service
    assert all(want.kind == "operation" for want in wants(done))


def test_no_match_begins_and_nothing_is_done_without_it() -> None:
    with pytest.raises(Refused, match="not_in_service"):
        decide(new_state(), i.Serviced("Mei", "jog", {}))
    taken = after(new_state(), i.Service(True, ""))
    assert taken.service == "?" and wants(taken) == ()
    with pytest.raises(Refused, match="service"):
        decide(taken, i.StartMatch("new-xiamen-120", {}, "", "none", "read", "guide", ("sorted", "inside"), 1))
    assert decide(taken, i.Service(True, "Bo")) == (), "he has it already"
    assert decide(new_state(), i.Service(False, "Bo")) == ()


def test_a_parked_table_can_be_serviced_and_is_parked_afterwards() -> None:
    parked = after(new_state(), i.Park("key"))
    assert parked.parked
    taken = after(parked, i.Service(True, "Mei"))
    assert wants(taken) == () and wants(after(taken, i.Service(False, "Mei", at_table=True))) == wants(parked)


def test_a_repairer_who_leaves_without_the_key_leaves_a_table_that_moves_nothing_until_somebody_lets_it() -> None:
    run = sorting()
    sort = next(want for want in wants(run) if want.verb == "sort")
    for pending in ((), (i.Park("power"),)):
        left = after(run, *pending, i.Service(True, "Mei"), i.Service(False, "time"))
        assert left.parked and waits_for_hands_off(left)
        asked = [want for want in wants(left) if want.kind == "prompt"]
        assert [want for want in wants(left) if want not in asked] == [sort], "it is held, and not forgotten"
        assert [(want.seat, want.verb) for want in asked] == [(seat, "parked") for seat in "ESWN"]
        assert asked[0].params == {"reason": "service"} and asked[0].actions == ("unpark",)
        assert decide(left, i.KeyPressed("dice", "E")) == ()
        assert after(left, i.SeatAction("S", str(asked[0].id), "unpark")) == replace(run, parks=1)
        late = after(left, i.OperationDone(str(sort.id), {"tiles": dict.fromkeys("ESWN", 30)}))
        assert late.parked and late.sets != run.sets, "what ended meanwhile is known"


def test_the_key_at_the_table_lets_it_go_on_after_a_second_visit_too() -> None:
    run = sorting()
    again = after(run, i.Service(True, "Mei"), i.Service(False, "Mei"), i.Service(True, "Mei"))
    assert all(want.kind == "operation" for want in wants(again))
    assert after(again, i.Service(False, "key", at_table=True)) == replace(run, parks=1)
    once_more = after(again, i.Service(False, "key"))
    assert once_more.parked and once_more.parking == "service"
    parked = after(run, i.StopLatched("pinch"), i.Park("key"), i.Service(True, "Mei"), i.Service(False, "time"))
    assert parked.parking == "key", "parked by somebody for a reason of his own"


def test_its_events_go_through_json() -> None:
    done = e.ServiceDone("Mei", "jog", {"motor": "walls", "ms": -300})
    events = (e.ServiceBegun("Mei"), done, e.ServiceEnded("time"))
    assert tuple(decode_event(encode_event(event)) for event in events) == events
    assert fold(events).service == ""
