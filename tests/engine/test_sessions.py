"""The evening at the table: seats drawn and swapped, matches begun and ended, dealers and bases (R2, R3, R41)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine import events as e
from engine import inputs as i
from engine.match.statistics import figures, history
from engine.match_wants import to_decide
from engine.snapshots import decode as thaw
from engine.snapshots import encode as freeze
from engine.state import PHASES
from engine.table import Refused, decide, wants
from engine.tiles import SEATS
from tests.engine.tables import DEALER, Table, Told
from tests.engine.walker import Walker, refused

BIJIN, NEW, BASE, CLASSIC = "bijin-xiamen-144", "new-xiamen-120", "new-xiamen-120-base", "classic-xiamen-144"


def throw(table: Table, seat: str, dice: tuple[int, int]) -> None:
    """The seat that is asked to throw does, and the dice are read."""
    table.press(seat, "roll", "roll")
    table.feed(i.OperationDone(str(table.operation("dice_roll").id), {"dice": list(dice), "quality": "clean"}))


# --- seats by dice (R2) -----------------------------------------------------------------------------------------------


def test_the_highest_throw_sits_east_and_equal_ones_throw_again() -> None:
    table = Told(by_dice=True)
    table.start()
    assert table.state.phase == "seating"
    for seat, dice in zip("ESWN", ((3, 4), (5, 5), (3, 4), (1, 1)), strict=True):
        assert table.prompt("roll").seat == seat and table.prompt("roll").params["purpose"] == "seat"
        throw(table, seat, dice)
    for seat, dice in (("E", (6, 6)), ("W", (6, 6)), ("E", (1, 2)), ("W", (2, 2))):
        assert table.prompt("roll").seat == seat, "those who threw the same, among themselves"
        throw(table, seat, dice)
    assert dict(table.state.session.seats) == {"E": "2", "S": "3", "W": "1", "N": "4"}
    asked = table.prompts("seats")
    assert set(asked) == set(SEATS)
    assert asked["E"].params == {
        "seats": {"E": "2", "S": "3", "W": "1", "N": "4"},
        "before": {"E": "1", "S": "2", "W": "3", "N": "4"},
    }
    assert "roll" not in table.asked()
    table.press("N", "seats", "ok")
    assert table.state.phase in ("sorting", "lift")
    table.go("play")
    assert table.state.dealer == "E" and table.state.session.deal == "2"


def test_a_cocked_throw_for_a_seat_is_thrown_again_by_the_same() -> None:
    table = Told(by_dice=True)
    table.start()
    table.press("E", "roll", "roll")
    first = table.operation("dice_roll")
    table.feed(i.OperationDone(str(first.id), {"dice": None, "quality": "cocked"}))
    assert table.prompt("roll").seat == "E" and table.prompt("roll").params["spoilt"] == "cocked"
    table.press("E", "roll", "roll")
    assert str(table.operation("dice_roll").id) != str(first.id)


@pytest.mark.parametrize("mode", ["unread", "hand", "software"])
def test_seats_are_drawn_with_any_dice(mode: str) -> None:
    table = Told(by_dice=True, dice_mode=mode, seed=4)
    table.run(lambda state: state.phase == "play")
    assert sorted(table.state.session.seats.values()) == ["1", "2", "3", "4"]


def test_players_keep_their_ids_and_their_history_over_the_matches_of_an_evening() -> None:
    table = Told(by_dice=True, hands=1, dice=[(3, 4), (5, 5), (2, 4), (1, 1), DEALER])
    table.run(lambda state: state.phase == "play")
    seats = dict(table.state.session.seats)
    assert seats == {"E": "2", "S": "1", "W": "3", "N": "4"}
    table.won("S", "zimo")
    table.go("ended")
    assert table.points() == {"2": -4, "1": 12, "3": -4, "4": -4}
    table.by_dice, table.sets = False, table.state.sets
    table.start()
    assert dict(table.state.session.seats) == seats, "everybody sits where he sat"
    table.go("play")
    table.won("E", "zimo")
    session = table.state.session
    assert session.match == 2 and [one.points["2"] for one in history(session, "2")] == [-4, 12]
    assert figures(session, "1").points == 8 and figures(session, "1").wins == 1
    assert figures(session, "2").ways == {"zimo": 1}


def test_who_leaves_a_draw_for_seats_is_who_he_was() -> None:
    table = Told(hands=1, by_dice=True, dice=[(3, 4), (5, 5), (2, 4), (1, 1), DEALER])
    table.run(lambda state: state.phase == "play")
    seats = dict(table.state.session.seats)
    table.drawn()
    table.go("ended")
    table.sets = table.state.sets
    table.start()
    throw(table, "E", (1, 1))
    table.feed(i.EndMatch())
    table.go("ended")
    table.by_dice, table.sets = False, table.state.sets
    table.start()
    assert dict(table.state.session.seats) == seats


# --- swaps (R2) -------------------------------------------------------------------------------------------------------


def after_a_win(phase: str, **changes: Any) -> Told:
    """比金 after a hand that S has won by himself: E, who dealt, S and the others may swap once each."""
    table = Told(BIJIN, hands=3, **changes)
    if phase == "row":
        table.layout = "bagua"
    table.run(lambda state: state.phase == "dealer_roll")
    throw(table, "E", (4, 1))
    table.hold_sort = 2 if phase == "sorting" else 0
    table.won("S", "zimo")
    table.go(phase)
    table.hold_sort = 0
    return table


@pytest.mark.parametrize("phase", ["sorting", "lift", "row", "deal_roll"])
@pytest.mark.parametrize(
    ("dice", "seats"),
    [((1, 1), "2134"), ((5, 1), "2134"), ((1, 2), "3214"), ((2, 2), "4231"), ((4, 1), ""), ((4, 5), "")],
)
def test_a_throw_says_with_whom_one_changes_places(phase: str, dice: tuple[int, int], seats: str) -> None:
    """2, 6, 10 with 下家, 3, 7, 11 with 对家, 4, 8, 12 with 上家, else nobody; the table goes on where it was."""
    table = after_a_win(phase)
    before = dict(table.state.session.seats)
    assert table.state.session.deal == "2" and table.state.dealer == "S", "the winner deals (比金)"
    assert set(table.prompts("swap")) == set(SEATS)
    table.press("E", "swap", "swap", right="win")
    assert table.state.phase == "swapping" and table.prompt("roll").seat == "E"
    assert table.prompt("roll").params["purpose"] == "swap"
    throw(table, "E", dice)
    if not seats:
        assert dict(table.state.session.seats) == before and not table.prompts("seats")
    else:
        now = dict(zip(SEATS, seats, strict=True))
        assert dict(table.state.session.seats) == now
        assert table.prompt("seats", "W").params == {"seats": now, "before": before}
        table.press("S", "seats", "ok")
    assert table.state.phase == phase
    assert table.state.session.deal == "2" and table.state.dealer == table.state.session.seat_of("2")
    if phase == "deal_roll":
        assert table.prompt("roll").seat == table.state.dealer
    mine = table.state.session.seat_of("1")
    assert set(table.prompts("swap")) == set(SEATS) - {mine}, "once a match"
    assert set(table.prompts("undo")) == set(SEATS), "what was booked before may still be taken back"
    table.go("play")
    assert table.points()["2"] == 6


def test_a_right_that_is_none_is_refused() -> None:
    table = after_a_win("lift")
    refusal = table.refusal("E", "swap", "swap", right="half")
    assert (refusal.code, refusal.rule) == ("no_swap", "R2")
    assert table.refusal("E", "swap", "swap", right=["win"]).code == "no_swap"
    table.go("play")
    table.drawn("W")
    table.go("lift")
    assert not table.prompts("swap"), "nobody has won this one"


def test_an_extension_while_people_change_places_does_not_forget_who_sat_where() -> None:
    table = after_a_win("lift")
    before = dict(table.state.session.seats)
    table.press("E", "swap", "swap", right="win")
    throw(table, "E", (1, 1))
    table.feed(i.Extend(hands=2))
    assert table.prompt("seats", "E").params["before"] == before


def test_a_swap_after_half_and_after_all_of_the_chips_are_lost() -> None:
    """004: 100 of 200, and all; with 赊 the match goes on beyond that."""
    table = Told(NEW, hands=9, options={"debt": True})
    table.run(lambda state: state.phase == "play")
    table.won("S", "sanyou", golds=1)
    table.go("lift")
    assert not table.prompts("swap"), "81 are less than half"
    table.won("S", "sanyou", golds=1)
    table.go("lift")
    assert {seat: want.params["rights"] for seat, want in table.prompts("swap").items()} == {
        seat: ["half"] for seat in "EWN"
    }
    table.won("S", "sanyou", golds=1)
    table.go("lift")
    assert table.prompt("swap", "W").params["rights"] == ["half", "all"]
    table.press("W", "swap", "swap", right="half")
    throw(table, "W", (1, 1))
    table.press("E", "seats", "ok")
    assert table.prompt("swap", "N").params["rights"] == ["all"], "W's player sits at N now"


def test_a_deal_throw_that_was_spoilt_before_a_swap_is_not_thrown_again_under_its_name() -> None:
    """A board answers an operation that it knows from memory: each throw has a name of its own."""
    table = after_a_win("deal_roll")
    dealer = table.state.dealer
    table.press(dealer, "roll", "roll")
    spoilt = table.operation("dice_roll")
    table.feed(i.OperationDone(str(spoilt.id), {"dice": None, "quality": "cocked"}))
    table.press("N", "swap", "swap", right="win")
    throw(table, "N", (4, 5))
    table.press(dealer, "roll", "roll")
    assert str(table.operation("dice_roll").id) != str(spoilt.id)


def test_seats_are_swapped_with_dice_thrown_by_hand() -> None:
    table = Told(BIJIN, hands=2, dice_mode="hand", seed=3)
    table.run(lambda state: state.phase == "play")
    table.won("S", "zimo")
    table.go("deal_roll")
    assert table.prompt("dice").seat == table.state.dealer
    assert set(table.prompts("swap")) == set(SEATS) and table.prompts("undo")
    table.press("W", "swap", "swap", right="win")
    table.press("W", "dice", "dice", dice=[1, 1])
    table.elapse("dice_stands")
    table.press("E", "seats", "ok")
    assert table.state.phase == "deal_roll" and table.prompt("dice").seat == table.state.dealer
    table.go("play")


# --- how long a match is (R41) ----------------------------------------------------------------------------------------


def test_a_match_of_so_many_hands_and_void_hands_do_not_count() -> None:
    table = Told(NEW, hands=2)
    table.run(lambda state: state.phase == "play")
    table.won("E", "pinghu", "S")
    table.fouled("W")
    assert not table.state.ending
    table.drawn()
    assert table.state.ending and table.state.session.ended == "hands"
    table.go("ended")
    assert "up" not in table.state.sets and "felt" not in table.state.sets, "all tiles are inside"
    assert set(table.prompts("start")) == set(SEATS)


def test_a_match_may_be_given_more_hands() -> None:
    table = Told(NEW, hands=1)
    table.run(lambda state: state.phase == "play")
    table.feed(i.Extend(hands=1))
    table.drawn()
    assert not table.state.ending
    assert refused(table, i.Extend(minutes=5)).code == "no_limit"
    assert refused(table, i.Extend(hands=-1)).code == "bad_number"


def test_a_match_of_so_many_minutes_ends_with_the_hand_in_play() -> None:
    table = Told(NEW, hands=0, minutes=2)
    table.run(lambda state: state.phase == "play")
    while table.state.minutes < 2:
        table.elapse("minute")
    assert table.state.session.ending == "time" and table.state.phase == "play"
    assert "minute" not in {want.verb for want in wants(table.state)}
    table.won("S", "zimo")
    assert table.state.session.ended == "time"
    table.go("ended")


def test_time_that_has_run_out_may_be_given_back_before_the_hand_is_over() -> None:
    table = Told(NEW, hands=0, minutes=1)
    table.run(lambda state: state.phase == "play")
    if not table.state.session.ending:
        table.elapse("minute")
    table.feed(i.Extend(minutes=30))
    table.won("S", "zimo")
    assert not table.state.ending and table.timer("minute")


def test_time_between_hands_ends_the_match_at_once() -> None:
    table = Told(NEW, hands=0, minutes=50)
    table.run(lambda state: state.phase == "play")
    table.won("S", "zimo")
    table.go("deal_roll")
    while not table.state.ending:
        table.elapse("minute")
    assert table.state.session.ended == "time"
    table.go("ended")


def test_the_match_ends_when_a_player_has_no_chips_left() -> None:
    """R41: he pays no more than he holds."""
    table = Told(NEW, hands=0)
    table.run(lambda state: state.phase == "play")
    for times in range(3):
        assert not table.state.ending, times
        table.won("S", "sanyou", golds=1)
    assert table.state.session.ended == "empty"
    assert table.state.session.chips == {"1": 0, "2": 800, "3": 0, "4": 0}


def reached(phase: str) -> Walker | None:
    """A table in its second hand, or before its first, in a phase; None for one that this kind of table has not."""
    if phase in ("reading", "opening"):
        walker = Walker(NEW, sensing="full", hands=4, seed=2)
    elif phase in ("row", "door_roll", "door"):
        walker = Walker(NEW, layout="bagua", sensing="none", hands=4, seed=2)
    elif phase == "bids":
        walker = Walker("quanzhou-seed", sensing="full", hands=4, seed=2)
    elif phase == "seating":
        walker = Walker(NEW, sensing="none", hands=4, seed=2, by_dice=True)
    elif phase == "swapping":
        table = Told(BIJIN, hands=4)
        table.run(lambda state: state.phase == "play")
        table.won("S", "zimo")
        table.go("lift")
        table.press("E", "swap", "swap", right="win")
        return table
    else:
        walker = Walker(NEW, sensing="none", hands=4, seed=2)
    if phase == "paused":
        walker.run(lambda state: state.phase == "play")
        walker.feed(i.Pause(True))
    else:
        walker.start()
    for _ in range(6000):
        if walker.state.phase == phase:
            return walker
        walker.step()
    return None


@pytest.mark.parametrize("phase", [phase for phase in PHASES if phase not in ("idle", "ended")])
@pytest.mark.parametrize("later", [0, 1, 2])
def test_a_match_may_be_ended_at_any_moment(phase: str, later: int) -> None:
    """No operation that has begun is forgotten, a hand that is dealt is played, and the tiles go in."""
    walker = reached(phase)
    assert walker is not None, phase
    for _ in range(later):
        if walker.state.phase == phase:
            walker.step()
    begun = {str(want.id) for want in wants(walker.state) if want.kind == "operation"}
    dealt = walker.state.session.phase == "playing"
    walker.feed(i.EndMatch())
    assert begun <= {str(want.id) for want in wants(walker.state) if want.kind == "operation"}
    walker.undo_rate = 0.0
    booked = len(walker.state.session.book)
    for _ in range(6000):
        if walker.state.phase == "ended":
            break
        walker.step()
    assert walker.state.phase == "ended", walker.state.phase
    assert walker.state.session.ended == "agreed"
    if not dealt:
        assert len(walker.state.session.book) == booked, "no further hand"
    assert not {"up", "felt"} & set(walker.state.sets)
    assert refused(walker, i.EndMatch()).code == "no_match"


@pytest.mark.parametrize("phase", [phase for phase in PHASES if phase not in ("idle", "ended")])
def test_a_match_may_be_extended_at_any_moment(phase: str) -> None:
    walker = reached(phase)
    assert walker is not None
    assert walker.feed(i.Extend(hands=3))
    agreement = walker.state.session.agreement
    assert agreement is not None and agreement.hands == 7
    assert refused(walker, i.StartMatch(NEW)).code == "match_running"


def test_nothing_can_be_told_to_a_table_without_a_match() -> None:
    walker = Walker(NEW)
    for happened, code in (
        (i.EndMatch(), "no_match"),
        (i.Extend(hands=1), "no_match"),
        (i.Pause(True), "no_match"),
        (i.Decide(1, ""), "no_objection"),
        (i.StartMatch("no such rules"), "bad_rules"),
        (i.StartMatch(NEW, layout="round"), "bad_layout"),
        (i.StartMatch(NEW, hands=-1), "bad_number"),
        (i.StartMatch(NEW, minutes=10**6), "bad_number"),
    ):
        assert refused(walker, happened).code == code


# --- dealer, 连庄 and 底 (R3, R31) ------------------------------------------------------------------------------------


def test_the_dealer_and_the_base_over_wins_draws_and_void_hands() -> None:
    table = Told(BASE, hands=0, options={"debt": True})
    table.run(lambda state: state.phase == "play")
    seen = []
    hands: list[tuple[Any, ...]] = [
        (table.won, "E", "pinghu", "S"),  # the dealer wins: he deals on, 底 grows
        (table.drawn,),  # a draw as well
        (table.fouled, "W"),  # a void hand leaves all as it was
        (table.won, "W", "zimo"),  # a 闲 wins: the next player deals, from the first base
        (table.drawn,),
        (table.won, "N", "pinghu", "E"),
    ]
    for how, *said in hands:
        how(*said)
        seen.append((table.state.dealer, table.state.streak, table.state.session.steps))
    assert seen == [("E", 1, 1), ("E", 2, 2), ("E", 2, 2), ("S", 0, 0), ("S", 1, 1), ("W", 0, 0)]


def test_the_base_that_has_grown_is_paid() -> None:
    """16 + 8 for each step: what the dealer wins by 平胡 from each."""
    table = Told(BASE, hands=0)
    table.run(lambda state: state.phase == "play")
    table.drawn()
    table.drawn()
    before = table.points()
    table.won("E", "pinghu", "S")
    assert table.points()["1"] - before["1"] == 3 * (16 + 8 * 2)


def test_classic_bonuses_are_kept_apart_from_chips() -> None:
    """R34, R38: 诈胡 50 to each, 课外."""
    table = Told(CLASSIC, hands=0)
    table.run(lambda state: state.phase == "play")
    table.fouled("W")
    assert table.points() == dict.fromkeys("1234", 0)
    assert dict(table.state.session.bonus) == {"1": 50, "2": 50, "3": -150, "4": 50}


# --- objections and the floor -----------------------------------------------------------------------------------------


def disputed() -> Told:
    table = Told(NEW, hands=0)
    table.run(lambda state: state.phase == "play")
    table.tell("S", "win", way="zimo", seat="S")
    for seat in SEATS:
        table.tell(seat, "done")
    return table


@pytest.mark.parametrize(("choice", "points"), [(1, 12), (2, 15)])
def test_the_floor_decides_an_objection(choice: int, points: int) -> None:
    table = disputed()
    assert refused(table, i.Decide(1, to_decide(table.state))).code == "nothing_to_decide"
    table.tell("N", "object")
    objected = to_decide(table.state)
    table.tell("N", "items", seat="S", golds=1)
    assert refused(table, i.Decide(2, objected)).code == "not_proposed"
    table.tell("N", "propose")
    assert refused(table, i.Decide(choice, objected)).code == "late", "said of what was before"
    for wrong in (0, 3, True, "1"):
        assert refused(table, i.Decide(wrong, to_decide(table.state))).code == "bad_value"  # type: ignore[arg-type]
    table.feed(i.Decide(choice, to_decide(table.state)))
    assert table.points()["2"] == points
    assert refused(table, i.Decide(1, to_decide(table.state))).code == "no_objection"


def test_three_of_four_decide_and_all_are_asked_anew_at_each_stage() -> None:
    table = disputed()
    agree = table.prompt("agree", "E")
    table.tell("N", "object")
    with pytest.raises(Refused):
        decide(table.state, i.SeatAction("E", str(agree.id), "agree"))
    table.tell("N", "items", seat="S", golds=1)
    table.tell("N", "propose")
    table.tell("E", "vote", choice=2)
    assert table.state.result is None
    table.tell("W", "vote", choice=2)
    assert table.points()["2"] == 15


def test_a_gold_that_would_be_the_fifth_of_its_kind_is_none() -> None:
    """R9: a third same gold is turned back, at most as often as there are such tiles."""
    table = Told(NEW, hands=1)
    table.run(lambda state: state.phase == "deal_roll")
    table.state = replace(table.state, gold_history=("9s", "9s"))
    for _ in range(4):
        table.go("gold")
        table.press(table.prompt("gold_face").seat, "gold_face", "face", tile="9s")
        table.elapse("gold_stands")
    table.go("gold")
    refusal = table.refusal(table.prompt("gold_face").seat, "gold_face", "face", tile="9s")
    assert (refusal.code, refusal.rule) == ("no_such_tile", "R9")


def test_a_thumb_that_ends_a_hand_too_early_takes_it_back() -> None:
    table = Told(NEW, hands=0)
    table.run(lambda state: state.phase == "play")
    table.tell("E", "win", way="zimo", seat="E")
    assert table.state.phase == "settle"
    table.tell("S", "reopen")
    assert table.state.phase == "play" and set(table.prompts("book")) == set(SEATS)
    table.won("S", "zimo")
    assert table.points()["2"] == 12


def test_eight_flowers_that_are_none_are_taken_back_to_the_flowers() -> None:
    """R26: all eight end the hand before the gold; wrongly touched they do not cost the hand its gold."""
    table = Told(NEW, hands=1)
    table.run(lambda state: state.phase == "flowers")
    for number in range(1, 9):
        table.press("S", "flowers", "flower", tile=f"{number}f")
    table.press("E", "flowers", "ok")
    assert table.state.phase == "settle" and table.state.book is not None
    assert [win.way for win in table.state.book.first.end.wins] == ["shuanghuagang"]
    table.tell("S", "reopen")
    assert table.state.phase == "flowers" and table.state.book is None
    assert table.state.play.flowers["S"] == tuple(f"{number}f" for number in range(1, 9))
    table.press("S", "flowers", "unflower", tile="8f")
    table.press("N", "flowers", "flower", tile="8f")
    table.press("E", "flowers", "ok")
    table.go("play")
    assert table.state.play.gold is not None and table.state.book is not None
    assert table.state.book.flowers["N"] == ("8f",)
    table.won("S", "zimo")
    assert not [event for event in table.events if isinstance(event, e.HandEnded)][1:]


def press_end(table: Walker, seat: str, action: str) -> None:
    """A seat's press of the prompt that ends the match."""
    asked = next(want for want in wants(table.state) if want.verb == "end" and want.seat == seat)
    table.feed(i.SeatAction(seat, str(asked.id), action))


def test_two_seats_end_a_match_that_no_parlor_ends() -> None:
    """R41: whoever presses first waits for a second; anybody may say that it goes on; the hand in play is the last."""
    table = Walker(NEW, hands=0, seed=2)
    table.run(lambda state: state.phase == "play")
    press_end(table, "W", "end")
    assert table.state.end_asked == ("W",) and not table.state.ending
    assert {want.actions for want in wants(table.state) if want.verb == "end" and want.seat == "W"} == {("keep",)}
    press_end(table, "E", "keep")
    assert not table.state.end_asked
    press_end(table, "W", "end")
    press_end(table, "S", "end")
    assert table.state.session.ending == "agreed" and table.state.phase == "play"
    booked = len(table.state.session.book)
    while table.state.phase != "ended":
        table.step()
    assert len(table.state.session.book) == booked + 1 and table.state.session.ended == "agreed"


# --- one evening after the other --------------------------------------------------------------------------------------


def played(*, fresh: bool = False, end: bool = False) -> Told:
    """A match of one hand that S has won, and a second, of the same evening or of the next, that E has won."""
    table = Told(NEW, hands=1, names={"E": "阿明", "S": "阿芳"})
    table.run(lambda state: state.phase == "play")
    table.won("S", "zimo")
    table.go("ended")
    if end:
        table.feed(i.EndEvening())
    table.sets, table.fresh, table.names = table.state.sets or table.sets, fresh, {}
    table.start()
    table.go("play")
    table.won("E", "zimo")
    table.go("ended")
    return table


@pytest.mark.parametrize("how", [{"fresh": True}, {"end": True}])
def test_another_party_finds_nothing_of_the_one_before(how: dict[str, bool]) -> None:
    table = played(**how)
    session = table.state.session
    assert (session.match, session.before) == (2, 1), "records are kept by the number of their match"
    assert [(one.match, one.points["1"]) for one in history(session, "1")] == [(2, 12)]
    theirs = figures(session, "2")
    assert (theirs.points, theirs.best, theirs.hands) == (-4, None, 1)
    assert {player.name for player in session.players} == {""}
    assert table.points() == {"1": 12, "2": -4, "3": -4, "4": -4}
    assert table.state.gold_history == (table.state.gold_history[-1],), "R9: a gold of theirs counts for nobody else"
    assert sum(isinstance(event, e.EveningEnded) for event in table.events) == 1


def test_the_same_party_goes_on_with_its_history_and_names() -> None:
    session = played().state.session
    assert [one.match for one in history(session, "1")] == [1, 2] and session.before == 0
    assert [player.name for player in session.players] == ["阿明", "阿芳", "", ""]


def test_an_evening_that_is_over_leaves_a_table_that_nobody_has_used() -> None:
    table = Told(NEW, hands=1)
    assert not table.feed(i.EndEvening()), "there was none"
    table.run(lambda state: state.phase == "play")
    assert refused(table, i.EndEvening()).code == "match_running"
    table.won("S", "zimo")
    table.go("ended")
    before = table.state
    assert table.prompts("undo") and table.feed(i.EndEvening())
    state = table.state
    assert (state.phase, state.result, state.undoable, state.play.rolls) == ("idle", None, None, ())
    assert (state.sets, state.hand, state.centre, state.session.match) == (before.sets, before.hand, "down", 1)
    assert table.asked() == {"start"}
    assert not table.feed(i.EndEvening())


def test_a_sort_goes_on_behind_the_end_of_the_evening() -> None:
    """What the machine does is not the party's: it is brought to its end, also where it fails on the way."""
    table = Told(NEW, hands=1, sets=("inside",))
    table.run(lambda state: state.phase == "play")
    table.hold_sort = 1
    table.won("S", "zimo")
    table.go("ended")
    sort = table.operation("sort")
    table.feed(i.EndEvening())
    assert table.operation("sort").id == sort.id
    table.feed(i.OperationFailed(str(sort.id), "motor_stall"))
    table.press("N", "retry", "retry")
    again = table.operation("sort")
    assert str(again.id) != str(sort.id)
    table.feed(i.OperationDone(str(again.id), {"tiles": dict.fromkeys(SEATS, 30)}))
    assert table.state.sort is None and table.asked() == {"start"}
    assert thaw(freeze(table.state)) == table.state


def test_who_has_lost_everything_is_offered_no_swap_where_that_ends_the_match() -> None:
    """R2, R41: without `debt` nobody goes on with nothing; the second swap of `after_losses` is for games with it."""
    table = Told(NEW, hands=0)
    table.run(lambda state: state.phase == "play")
    for _ in range(3):
        table.won("S", "sanyou", golds=1)
    assert table.state.session.ended == "empty" and table.state.session.chips["1"] == 0
    assert not table.prompts("swap")
    table.go("ended")
    assert not table.prompts("swap")
