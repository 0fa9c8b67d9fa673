"""The last booking taken back, open until the next deal roll (R41), at both sensing levels."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import events as e
from engine import inputs as i
from engine.export import match_records
from engine.match.statistics import history
from engine.record_match_replay import replay_match
from engine.sessions import UNDO_PHASES
from engine.table import wants
from engine.tiles import SEATS
from tests.engine.evenings import Evening
from tests.engine.tables import Told, in_play
from tests.engine.walker import refused

BIJIN, NEW = "bijin-xiamen-144", "new-xiamen-120"


def booked(phase: str, rules: str = NEW) -> Told:
    """A table that waits in a phase after its first hand, which S has won by himself."""
    table = Told(rules, hands=1 if phase == "ended" else 3)
    if phase == "row":
        table.layout = "bagua"
    table.hold_sort = 2 if phase == "sorting" else 0
    table.run(lambda state: state.phase == "play")
    if phase == "paused":
        table.feed(i.Pause(True))
    table.won("S", "zimo")
    table.go(phase)
    table.hold_sort = 0
    return table


def taken_back(table: Told, first: str = "E", second: str = "W") -> None:
    """Two seats want the booking taken back."""
    table.press(first, "undo", "undo")
    assert table.prompt("undo", first).actions == ("keep",)
    assert table.prompt("undo", second).actions == ("undo", "keep")
    assert table.prompt("undo", second).params["asked_by"] == [first]
    table.press(second, "undo", "undo")


@pytest.mark.parametrize("phase", [phase for phase in UNDO_PHASES if phase != "bids"])
def test_a_booking_taken_back_is_told_anew_and_the_table_goes_on_where_it_was(phase: str) -> None:
    table = booked(phase)
    assert (table.points()["2"], table.state.dealer, table.state.streak) == (12, "S", 0)
    outside = [want for want in wants(table.state) if want.kind == "operation"]
    taken_back(table)
    assert table.state.phase == "settle" and table.points() == dict.fromkeys("1234", 0)
    assert (table.state.dealer, table.state.streak) == ("E", 0), "as the hand was dealt"
    entry = table.prompt("entry", "S").params
    assert entry["winners"] == [{"seat": "S", "way": "zimo", "source": None}] and not entry["reopen"]
    assert outside == [want for want in wants(table.state) if want.kind == "operation"]
    table.tell("E", "win", seat="E", way="zimo")
    table.agreed()
    assert table.points() == {"1": 12, "2": -4, "3": -4, "4": -4}
    assert (table.state.dealer, table.state.streak) == ("E", 1)
    result = table.state.result
    assert result is not None and (result.winner, result.hand) == ("E", 1)
    if phase == "ended":
        table.go("ended")
    else:
        assert table.state.phase == phase
        if phase == "deal_roll":
            assert table.prompt("roll").seat == "E", "he deals on"
    book = table.state.session.book
    assert [(one.hand, one.voided, one.points["1"]) for one in book] == [(1, True, -4), (1, False, 12)]
    assert len(history(table.state.session, "1")) == 1, "kept as a record, not counted"


@pytest.mark.parametrize("phase", ["lift", "deal_roll"])
def test_the_same_booking_again_changes_nothing(phase: str) -> None:
    table = booked(phase)
    before = (table.points(), table.state.dealer, table.state.streak, table.state.session.steps)
    taken_back(table)
    table.agreed()
    assert (table.points(), table.state.dealer, table.state.streak, table.state.session.steps) == before
    assert table.state.phase == phase
    taken_back(table, "S", "N")
    table.agreed()
    assert (table.points(), table.state.dealer, table.state.streak, table.state.session.steps) == before
    table.go("play")
    table.drawn()
    assert [one.hand for one in table.state.session.book if not one.voided] == [1, 2]


def test_one_seat_alone_takes_nothing_back_and_may_think_again() -> None:
    table = booked("lift")
    asked = table.prompt("undo", "E")
    table.press("E", "undo", "undo")
    assert refused(table, i.SeatAction("E", str(asked.id), "undo")).code == "unknown_action"
    table.press("S", "undo", "keep")
    assert str(table.prompt("undo", "W").id) != str(asked.id), "a press that came too late means nothing"
    table.press("W", "undo", "undo")
    assert table.state.phase == "lift" and table.points()["2"] == 12


def test_not_after_the_deal_roll_has_begun_nor_when_it_counts() -> None:
    table = booked("deal_roll")
    asked = table.prompt("undo", "E")
    table.press("S", "roll", "roll")
    assert not table.prompts("undo")
    assert refused(table, i.SeatAction("E", str(asked.id), "undo")).code == "late"
    table.feed(i.OperationDone(str(table.operation("dice_roll").id), {"dice": None, "quality": "cocked"}))
    assert table.prompts("undo"), "it gave nothing"
    table.press("S", "roll", "roll")
    table.feed(i.OperationDone(str(table.operation("dice_roll").id), {"dice": [3, 2], "quality": "clean"}))
    assert table.state.phase == "taking" and not table.prompts("undo")
    table.go("play")
    table.drawn()
    assert table.state.undoable is not None and table.state.undoable.hand == table.state.hand - 1


def swapped(table: Told, seat: str = "W", dice: tuple[int, int] = (1, 1)) -> None:
    """A seat uses its right to swap after a win, and everybody sits down."""
    table.press(seat, "swap", "swap", right="win")
    assert not table.prompts("undo"), "first the throw"
    table.press(seat, "roll", "roll")
    table.feed(i.OperationDone(str(table.operation("dice_roll").id), {"dice": list(dice), "quality": "clean"}))
    if table.prompts("seats"):
        table.press(seat, "seats", "ok")


@pytest.mark.parametrize("phase", ["sorting", "lift", "push_in", "row", "deal_roll"])
def test_a_swap_makes_no_booking_final(phase: str) -> None:
    """P5, R2: the swap is undone with the booking: all sit where they sat in the hand, and the right is free again."""
    table = booked("lift" if phase == "push_in" else phase, BIJIN)
    if phase == "lift":
        swapped(table, "E", (4, 1))
    before = dict(table.state.session.seats)
    swapped(table)
    moved = dict(table.state.session.seats)
    assert moved == {**before, "W": before["N"], "N": before["W"]}
    table.go(phase)
    used = table.state.session.swaps_used
    taken_back(table)
    assert dict(table.state.session.seats) == before and table.points() == dict.fromkeys("1234", 0)
    assert table.asked() == {"seats", "end"}, "nobody tells the hand from another's seat"
    assert table.prompt("seats", "W").params == {"seats": before, "before": moved}
    table.press("S", "seats", "ok")
    table.tell("W", "win", seat="W", way="zimo")
    table.agreed()
    assert table.state.phase == phase and table.points() == {"1": -2, "2": -2, "3": 6, "4": -2}
    assert ("3", "win") in used and not table.state.session.swaps_used
    if phase != "push_in":
        assert set(table.prompts("swap")) == set(SEATS), "the right is free again"
        swapped(table)
        assert dict(table.state.session.seats) == moved
    table.go("play")


def test_a_swap_that_moved_nobody_is_free_again_and_nobody_is_asked_to_move() -> None:
    table = booked("lift", BIJIN)
    swapped(table, dice=(4, 5))
    taken_back(table)
    assert table.prompts("entry") and not table.prompts("seats")
    table.agreed()
    assert set(table.prompts("swap")) == set(SEATS)


def test_swaps_before_an_earlier_hand_stay_used() -> None:
    table = booked("lift", BIJIN)
    swapped(table, "W")
    table.go("play")
    seats = dict(table.state.session.seats)
    table.won("S", "zimo")
    table.go("lift")
    swapped(table, "E")
    taken_back(table)
    table.press("S", "seats", "ok")
    assert dict(table.state.session.seats) == seats and table.state.session.swaps_used == (("3", "win"),)


def test_nobody_swaps_while_a_booking_is_doubted() -> None:
    """One press more would carry people away from the seats of which is spoken."""
    table = booked("lift", BIJIN)
    swap = table.prompt("swap", "W")
    table.press("E", "undo", "undo")
    assert not table.prompts("swap")
    assert refused(table, i.SeatAction("W", str(swap.id), "swap", {"right": "win"})).code == "late"
    table.press("W", "undo", "keep")
    assert set(table.prompts("swap")) == set(SEATS)


def test_no_centre_that_is_to_close_waits_for_a_hand_told_anew() -> None:
    table = booked("push_in")
    table.feed(i.Park("power"))
    assert not table.prompts("undo") and table.timer("park_wait")


def test_nothing_is_sorted_below_an_open_centre_while_a_hand_is_told_anew() -> None:
    table = booked("push_in")
    taken_back(table)
    table.state = replace(table.state, sets=tuple("inside" if one != "felt" else one for one in table.state.sets))
    table.feed(i.Extend(hands=1))
    assert table.state.sort is None and not [want for want in wants(table.state) if want.kind == "operation"]


def test_a_deal_throw_asked_for_anew_is_another_throw() -> None:
    table = booked("deal_roll")
    table.press("S", "roll", "roll")
    spoilt = table.operation("dice_roll")
    table.feed(i.OperationDone(str(spoilt.id), {"dice": None, "quality": "cocked"}))
    taken_back(table)
    table.agreed()
    table.press("S", "roll", "roll")
    assert str(table.operation("dice_roll").id) != str(spoilt.id)


def test_a_match_that_the_taken_back_hand_had_ended_goes_on() -> None:
    """R41, R38: the hand was void, so it does not count among those agreed."""
    table = booked("ended")
    assert set(table.prompts("start")) == set(SEATS)
    taken_back(table)
    assert not table.prompts("start") and not table.state.ending
    table.tell("W", "foul", kind="zhahu")
    table.agreed()
    assert not table.state.ending and table.state.session.ended == ""
    assert table.points() == {"1": 10, "2": 10, "3": -30, "4": 10}
    table.go("play")
    assert table.state.dealer == "E" and table.state.hand == 2
    table.won("S", "zimo")
    table.go("ended")
    assert table.state.session.ended == "hands"


@pytest.mark.parametrize("phase", ["lift", "deal_roll"])
def test_a_match_ended_by_agreement_stays_ended_once_the_hand_is_told_anew(phase: str) -> None:
    table = booked(phase)
    table.feed(i.EndMatch())
    table.go("ended")
    taken_back(table)
    table.agreed()
    assert table.state.ending and table.state.session.ended == "agreed"
    table.go("ended")


def test_the_floor_may_pause_and_go_on_while_a_hand_is_told_anew() -> None:
    for pausing in (True, False):
        table = booked("lift" if pausing else "paused")
        taken_back(table)
        table.feed(i.Pause(pausing))
        assert table.state.phase == "settle"
        table.agreed()
        assert table.state.phase == ("paused" if pausing else "lift")


def test_chips_that_were_too_few_are_whole_again() -> None:
    """A booking paid as far as the chips went is voided as it was paid."""
    table = Told(NEW, hands=0)
    table.run(lambda state: state.phase == "play")
    for _ in range(3):
        table.won("S", "sanyou", golds=1)
    assert table.state.session.ended == "empty"
    taken_back(table)
    assert table.points() == {"1": -162, "2": 486, "3": -162, "4": -162}
    table.tell("S", "win", seat="S", way="zimo")
    table.tell("S", "items", golds=0)
    table.agreed()
    assert not table.state.ending and table.points()["2"] == 498


def test_a_refereed_hand_taken_back_can_be_told_anew_with_its_tiles() -> None:
    table = in_play(hands_in_match=2)
    table.discard("E", "4p")
    table.passes()
    table.draw("S")
    table.discard("S", "2s")
    table.press("W", "claim", "hu", way="pinghu")
    table.passes()
    assert table.state.result is not None and table.state.result.booking is not None
    points = dict(table.state.result.booking.points)
    for seat in ("E", "S"):
        table.press(seat, "undo", "undo")
    entry = table.prompt("entry", "W").params
    assert entry["tiles"]["tile"] == "2s" and len(entry["tiles"]["concealed"]) == 17
    assert entry["settlement"]["net"] == {"E": 0, "S": -3, "W": 6, "N": -3}
    for seat in SEATS:
        if "entry" in table.asked(seat) and table.prompt("entry", seat).params["needed"]:
            table.press(seat, "entry", "done")
    table.elapse("agree_clock")
    result = table.state.result
    assert result is not None and result.booking is not None and dict(result.booking.points) == points
    assert result.held["W"].concealed
    ends = [type(event) for event in table.events if isinstance(event, e.HandEnded | e.HandRebooked)]
    assert ends == [e.HandEnded, e.HandRebooked]


@pytest.mark.parametrize("early", [True, False])
def test_the_record_of_a_match_that_was_ended_and_told_anew_replays(early: bool) -> None:
    """Ended between hands, or while a hand was played; taken back, told anew, and ended again with that hand."""
    evening = Evening(NEW, "none", seed=2)
    table = Told(NEW, hands=0, watch=evening._see)
    table.run(lambda state: state.phase == "play")
    if early:
        table.feed(i.EndMatch())
    table.won("S", "zimo")
    if not early:
        table.feed(i.EndMatch())
    table.go("ended")
    taken_back(table)
    table.agreed()
    table.go("ended")
    replayed = replay_match(match_records(evening.said, evening.texts)[1])
    assert replayed.illegal is None and replayed.unmet == ()
    assert replayed.match.ended == "agreed" and replayed.match.book == table.state.session.book
