"""Pausing after a hand, and turning off: the cycle ends, the centre closes, the match is kept (R41)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import inputs as i
from engine.state import PHASES, State
from engine.table import decide, fold, wants
from engine.tiles import SEATS
from tests.engine.invariants import Invariants
from tests.engine.tables import Told, in_play
from tests.engine.test_sessions import reached
from tests.engine.walker import Walker, refused

NEW = "new-xiamen-120"

# --- pause ------------------------------------------------------------------------------------------------------------


def test_the_pause_begins_after_the_hand_in_play_and_ends_with_a_word() -> None:
    table = Told(NEW, hands=3)
    table.run(lambda state: state.phase == "play")
    table.feed(i.Pause(True))
    assert table.state.phase == "play" and not table.feed(i.Pause(True)), "said once"
    table.won("S", "zimo")
    assert table.state.phase == "paused"
    asked = table.prompts("paused")
    assert set(asked) == set(SEATS) and asked["E"].actions == ()
    assert table.prompts("undo"), "what was booked may still be taken back"
    assert not table.feed(i.KeyPressed("lift")) and not table.feed(i.KeyPressed("dice"))
    table.feed(i.Pause(False))
    assert table.state.phase == "lift" and not table.prompts("paused")
    table.go("play")


@pytest.mark.parametrize("phase", ["sorting", "lift", "centre_up", "push_in", "centre_down"])
def test_a_pause_between_hands_begins_before_the_next_walls_rise(phase: str) -> None:
    walker = Told(NEW, hands=3, hold_sort=2 if phase == "sorting" else 0)
    walker.run(lambda state: state.phase == "play")
    walker.drawn()
    walker.go(phase)
    walker.hold_sort = 0
    walker.feed(i.Pause(True))
    for _ in range(2000):
        if walker.state.phase == "paused":
            break
        walker.step()
    assert walker.state.phase == "paused" and "up" not in walker.state.sets
    walker.feed(i.Pause(False))
    for _ in range(4000):
        if walker.state.phase == "play":
            return
        walker.step()
    raise AssertionError(f"the match does not go on: {walker.state.phase}")


def test_a_pause_holds_no_match_that_has_ended() -> None:
    table = Told(NEW, hands=1)
    table.run(lambda state: state.phase == "play")
    table.feed(i.Pause(True))
    table.won("S", "zimo")
    table.go("ended")
    table = Told(NEW, hands=3)
    table.run(lambda state: state.phase == "play")
    table.feed(i.Pause(True))
    table.won("S", "zimo")
    table.feed(i.EndMatch())
    table.go("ended")
    table.sets = table.state.sets
    table.start()
    assert not table.state.pausing, "the next match is none of that"


def test_a_swap_that_is_being_thrown_ends_before_the_pause() -> None:
    table = Told("bijin-xiamen-144", hands=3)
    table.run(lambda state: state.phase == "play")
    table.won("S", "zimo")
    table.go("lift")
    table.press("E", "swap", "swap", right="win")
    table.feed(i.Pause(True))
    assert table.state.phase == "swapping"
    table.press("E", "roll", "roll")
    table.feed(i.OperationDone(str(table.operation("dice_roll").id), {"dice": [1, 1], "quality": "clean"}))
    table.press("E", "seats", "ok")
    assert table.state.phase == "paused"


# --- park -------------------------------------------------------------------------------------------------------------


def machine_ends(walker: Walker) -> list[i.Input]:
    """A table is parked: the machine finishes what it does, and nobody touches anything."""
    walker.feed(i.Park("power"))
    fed: list[i.Input] = []
    for _ in range(60):
        if walker.state.parked:
            return fed
        outstanding = wants(walker.state)
        operations = [want for want in outstanding if want.kind == "operation"]
        waits = [want for want in outstanding if want.verb == "park_wait"]
        assert operations or waits, walker.state.phase
        happened: i.Input
        if operations:
            happened = i.OperationDone(str(operations[0].id), walker._result(operations[0]))
        else:
            happened = i.TimerElapsed(str(waits[0].id))
        walker.feed(happened)
        fed.append(happened)
    raise AssertionError(f"the table does not park: {walker.state.phase}")


def as_if_never_parked(state: State) -> State:
    return replace(state, parks=0)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("later", [0, 1, 3])
def test_a_table_parks_from_any_phase_and_goes_on_as_if_it_had_not(phase: str, later: int) -> None:
    walker = Walker(NEW) if phase in ("idle", "ended") else reached(phase)
    assert walker is not None, phase
    if phase == "ended":
        walker.run()
    for _ in range(later):
        if phase not in ("idle", "ended"):
            walker.step()
    walker.watch = Invariants()
    other = walker.state
    fed = machine_ends(walker)
    assert walker.state.centre == "down"
    outstanding = wants(walker.state)
    assert {want.verb for want in outstanding} == {"parked"} and {want.seat for want in outstanding} == set(SEATS)
    assert outstanding[0].params == {"reason": "power"} and outstanding[0].actions == ("unpark",)
    still = walker.state
    for nothing in (i.KeyPressed("lift"), i.KeyPressed("dice"), i.Park("again")):
        assert not walker.feed(nothing)
    for want in wants(other):
        if want.kind == "timer":
            assert not walker.feed(i.TimerElapsed(str(want.id)))
        elif want.kind == "prompt" and want.actions:
            assert refused(walker, i.SeatAction(want.seat, str(want.id), want.actions[0])).code == "late"
    if phase in ("idle", "ended"):
        assert refused(walker, i.StartMatch(NEW)).code == "parked"
    assert walker.state == still
    walker.feed(i.SeatAction("S", str(outstanding[0].id), "unpark"))
    assert not walker.state.parked and not walker.state.parking
    for happened in fed:
        waited = isinstance(happened, i.TimerElapsed)  # nobody pushed the tiles in; without parking somebody must
        other = fold(decide(other, i.KeyPressed("lift") if waited else happened), other)
    assert as_if_never_parked(walker.state) == as_if_never_parked(other)


@pytest.mark.parametrize("sensing", ["none", "full"])
@pytest.mark.parametrize("seed", range(6))
def test_a_match_that_is_parked_time_and_again_is_played_to_its_end(sensing: str, seed: int) -> None:
    walker = Walker(NEW, sensing=sensing, seed=seed, hands=1, fail_rate=0.1, watch=Invariants())
    walker.start()
    for number in range(12_000):
        if walker.state.phase == "ended" and not walker.state.parking:
            break
        if number % 37 == 36 and not walker.state.parking:
            walker.feed(i.Park("command"))
        elif walker.state.parked:
            walker.feed(i.Unpark())
        else:
            walker.step()
    assert walker.state.phase == "ended"


def test_a_parked_table_hears_no_tiles_and_learns_them_when_it_goes_on() -> None:
    table = in_play()
    table.feed(i.Park("key"))
    assert table.state.parked
    table.discard("E", "4p")
    assert table.game.phase == "turn", "nothing happens in the hand"
    table.feed(i.Unpark())
    assert (table.game.phase, table.game.tile) == ("window", "4p")


def test_what_has_failed_does_not_move_and_a_stopped_table_parks_at_once() -> None:
    walker = reached("centre_down")
    assert walker is not None
    (lower,) = [want for want in wants(walker.state) if want.verb == "centre_lower"]
    walker.feed(i.Park("fault"))
    assert not walker.state.parked
    walker.feed(i.OperationFailed(str(lower.id), "motor_stall", ""))
    assert walker.state.parked, "nothing moves any more"
    walker.feed(i.Unpark())
    assert "retry" in {want.verb for want in wants(walker.state)}
    walker = reached("centre_up")
    assert walker is not None
    walker.feed(i.StopLatched("pinch"))
    walker.feed(i.Park("command"))
    assert walker.state.parked
    assert {want.verb for want in wants(walker.state)} == {"stopped", "parked"}
    walker.feed(i.Unpark())
    assert "centre_raise" in {want.verb for want in wants(walker.state)}


def test_a_throw_that_spins_is_waited_for_and_counts() -> None:
    walker = reached("deal_roll")
    assert walker is not None
    machine_ends(walker)
    walker.feed(i.Unpark())
    walker.feed(i.KeyPressed("dice"))
    (throw,) = [want for want in wants(walker.state) if want.verb == "dice_roll"]
    walker.feed(i.Park("power"))
    assert not walker.state.parked
    walker.feed(i.OperationDone(str(throw.id), {"dice": [3, 2], "quality": "clean"}))
    assert walker.state.parked and walker.state.phase == "taking"
    assert walker.state.play.rolls[-1].dice == (3, 2)


def test_a_sort_ends_before_the_table_parks_and_no_other_begins() -> None:
    walker = Walker(NEW, sensing="none", sets=("inside", "inside"))
    walker.start()
    walker.feed(i.Park("power"))
    assert not walker.state.parked
    (sort,) = [want for want in wants(walker.state) if want.kind == "operation"]
    walker.feed(i.OperationDone(str(sort.id), walker._result(sort)))
    assert walker.state.parked and walker.state.sets == ("sorted", "inside")


def test_an_open_centre_waits_for_its_tiles_and_closes_without_them() -> None:
    for pushed in (True, False):
        walker = reached("push_in")
        assert walker is not None
        walker.feed(i.Park("power"))
        waits = {want.verb: want for want in wants(walker.state)}
        assert not walker.state.parked and {"push_in", "park_wait"} <= set(waits)
        if pushed:
            walker.feed(i.KeyPressed("lift"))
        else:
            walker.feed(i.TimerElapsed(str(waits["park_wait"].id)))
        (lower,) = [want for want in wants(walker.state) if want.verb == "centre_lower"]
        walker.feed(i.OperationDone(str(lower.id), {}))
        assert walker.state.parked and walker.state.centre == "down"


def test_what_is_told_to_a_parked_table_is_kept() -> None:
    """The match may be ended, and extended, while the table is parked; nothing moves before it goes on."""
    walker = reached("deal_roll")
    assert walker is not None
    machine_ends(walker)
    walker.feed(i.EndMatch())
    assert walker.state.parked and walker.state.session.ended == "agreed"
    walker.feed(i.Unpark())
    for _ in range(2000):
        if walker.state.phase == "ended":
            return
        walker.step()
    raise AssertionError(walker.state.phase)


def reason_of(walker: Walker) -> str:
    """Why a table parks or is to park."""
    return walker.state.parking


def test_a_critical_fault_parks_the_table_once_and_a_person_lets_it_go_on() -> None:
    walker = Walker(NEW, sensing="none", sets=("inside", "inside"))
    walker.start()
    walker.feed(i.FaultRaised("motor_overheat", "fault", "motor", ""))
    assert not walker.state.parking, "what is not critical stops nothing else"
    walker.feed(i.FaultRaised("brown_out", "critical", "supply", ""))
    assert reason_of(walker) == "fault" and not walker.state.parked, "the sort ends first"
    (sort,) = [want for want in wants(walker.state) if want.kind == "operation"]
    walker.feed(i.OperationDone(str(sort.id), walker._result(sort)))
    assert walker.state.parked
    walker.feed(i.FaultCleared("brown_out", ""))
    assert walker.state.parked, "nothing but a person's word ends it"
    walker.feed(i.FaultRaised("brown_out", "critical", "supply", ""))
    (want,) = [want for want in wants(walker.state) if want.seat == "N"]
    assert want.params == {"reason": "fault"}
    walker.feed(i.SeatAction("N", str(want.id), "unpark"))
    walker.feed(i.FaultRaised("brown_out", "critical", "supply", ""))
    assert not walker.state.parking, "the same fault, told again in a new session, was known when he let it go on"
    walker.feed(i.FaultCleared("brown_out", ""))
    walker.feed(i.FaultRaised("brown_out", "critical", "supply", ""))
    assert reason_of(walker) == "fault", "it has come again"


def test_a_critical_fault_parks_a_table_at_which_nothing_is_played() -> None:
    walker = Walker(NEW)
    walker.feed(i.FaultRaised("brown_out", "critical", "supply", ""))
    assert walker.state.parked and walker.state.phase == "idle"
    walker.feed(i.Unpark())
    assert not walker.state.parked
