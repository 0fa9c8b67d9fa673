"""Sensing full: hands that end in doubt, questions that nobody answers, and seats that have left (P8, P9, R39)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine import events as e
from engine import inputs as i
from engine.match_wants import to_decide
from engine.play import events as p
from engine.play.state import without
from engine.tiles import SEATS, parse_tiles
from tests.engine.tables import HANDS, Table, in_play, played
from tests.engine.walker import refused


def waits_for_2s(draws: str = "") -> Table:
    """S has discarded 2s, by which W may win."""
    table = in_play(draws=draws)
    table.discard("E", "4p")
    table.passes()
    table.draw("S")
    return table


def won(table: Table) -> None:
    table.press("W", "claim", "hu", way="pinghu")
    table.passes("E", "N")


def one_more(table: Table, seat: str) -> None:
    table.show(seat, "hand", (*table.lies(seat, "hand"), "6s"))


def other_faces(table: Table, seat: str) -> None:
    table.show(seat, "hand", "1m1m4m4m6m8m9p9p2p2p4p6p8p1s1s4s")


# --- hands that end in doubt ------------------------------------------------------------------------------------------

DOUBTS: list[tuple[str, str, Callable[[Table, str], None], bool]] = [
    ("a tile too many of the winner, not yet asked", "W", one_more, False),
    ("other faces of the winner, asked", "W", other_faces, True),
    ("other faces of the winner, not yet asked", "W", other_faces, False),
    ("a tile too many of another, asked", "N", one_more, True),
    ("a tile too many of another, not yet asked", "N", one_more, False),
]


@pytest.mark.parametrize(("what", "seat", "show", "asked"), DOUBTS, ids=[row[0] for row in DOUBTS])
def test_a_hand_that_ends_in_doubt_is_agreed_on(
    what: str, seat: str, show: Callable[[Table, str], None], asked: bool
) -> None:
    """All four see the settlement and whose zone it is; silence books it as it was played."""
    table = waits_for_2s()
    show(table, seat)
    if asked:
        table.elapse("count_seen")
    table.discard("S", "2s")
    won(table)
    assert table.state.phase == "settle" and table.state.result is None, what
    for other in SEATS:
        agree = table.prompt("agree", other)
        assert agree.params["doubted"] == [seat] and "object" in agree.actions
    table.elapse("agree_clock")
    assert table.state.result is not None and table.state.result.winner == "W"


def test_a_hand_of_readers_that_see_well_is_booked_at_once() -> None:
    table = waits_for_2s()
    table.discard("S", "2s")
    won(table)
    assert table.state.result is not None and table.state.result.winner == "W"


def test_a_winner_who_takes_the_tile_before_he_says_so_is_in_no_doubt() -> None:
    table = waits_for_2s()
    table.discard("S", "2s")
    table.show("S", "discards", ())
    table.show("W", "hand", (*table.lies("W", "hand"), "2s"))
    won(table)
    assert table.state.result is not None and table.state.result.winner == "W"


@pytest.mark.parametrize("taken", [False, True])
def test_a_pong_that_a_win_outbids_is_no_doubt(taken: bool) -> None:
    """N has laid its own two tiles, with the discard or before it took that."""
    table = in_play({**HANDS, "E": "159m159p159s468m2468p8s", "N": "111p333p555p777p99p88s"})
    table.discard("E", "8s")
    table.show("N", "hand", without(table.lies("N", "hand"), "8s", "8s"))
    table.show("N", "melds", "888s" if taken else "88s")
    if taken:
        table.show("E", "discards", ())
    table.press("W", "claim", "pass")
    table.press("S", "claim", "hu", way="pinghu")
    table.elapse("claim_window")
    assert table.state.result is not None and table.state.result.winner == "S"


def test_the_others_put_out_who_did_not_answer_in_the_agreement() -> None:
    table = waits_for_2s()
    one_more(table, "N")
    table.elapse("count_seen")
    table.discard("S", "2s")
    won(table)
    table.press("E", "agree", "object")
    table.press("E", "object_entry", "cover", seat="N", on=True)
    table.press("E", "object_entry", "propose")
    for seat in "SW":
        table.press(seat, "vote", "vote", choice=2)
    assert table.state.result is not None
    assert table.state.undoable is not None and "N" in table.state.undoable.sheet.covered


# --- questions that nobody answers ------------------------------------------------------------------------------------


def unanswered(seat: str = "N") -> Table:
    """A seat's reader shows a tile too many; it is asked and does not answer."""
    table = in_play()
    one_more(table, seat)
    table.elapse("count_seen")
    return table


def test_a_question_that_nobody_answers_is_told_to_all() -> None:
    table = unanswered()
    timer = table.timer("count_open")
    assert timer.after_ms == table.state.match.agree_ms and timer.params == {"seat": "N", "zone": "hand"}
    assert all("count_ruling" not in table.asked(seat) for seat in SEATS), "told to its seat alone at first"
    table.show("N", "hand", (*table.lies("N", "hand"), "6s", "7s"))
    assert table.timer("count_open").id == timer.id, "who moves his tiles gains no time"
    table.elapse("count_open")
    told = table.prompts("count_ruling")
    assert set(told) == {"E", "S", "W"}
    assert all(want.params == {"seat": "N", "zone": "hand", "said": {}} for want in told.values())
    assert "count_wrong" in table.asked("N"), "it may still answer"
    table.press("N", "count_wrong", "ok")
    assert not table.prompts("count_ruling") and not table.state.play.told


def test_what_is_put_right_is_asked_and_told_no_more() -> None:
    table = unanswered()
    table.elapse("count_open")
    table.press("E", "count_ruling", "out")
    table.settle("N", "hand")
    assert not table.asked() & {"count_ruling", "count_wrong", "call_off"} and not table.state.play.rulings
    one_more(table, "N")
    table.elapse("count_seen")
    assert "count_ruling" not in table.asked() and table.timer("count_open").id.attempt == 2


# --- seats that have left ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruling", ["believed", "out"])
def test_three_others_rule_in_place_of_who_left(ruling: str) -> None:
    table = unanswered("E")
    table.elapse("count_open")
    other = {"believed": "out", "out": "believed"}[ruling]
    table.press("S", "count_ruling", other)
    table.press("W", "count_ruling", ruling)
    table.press("N", "count_ruling", ruling)
    assert "count_ruling" in table.asked("S"), "two of three rule nothing"
    table.press("S", "count_ruling", ruling)
    assert "count_ruling" not in table.asked()
    _is_ruled(table, ruling)


def _is_ruled(table: Table, ruling: str) -> None:
    """E, in turn, is out and S draws; or its reader erred, and it is its turn as before."""
    if ruling == "out":
        assert table.game.seats["E"].covered == "wrong_count"
        assert table.prompt("draw").seat == "S"
    else:
        assert not table.game.seats["E"].covered and table.state.play.corrected
        assert table.prompt("turn").seat == "E"
        assert sorted(table.state.play.seen[("E", "hand")]) == sorted(parse_tiles(HANDS["E"]))


@pytest.mark.parametrize(("choice", "ruling"), [(1, "believed"), (2, "out")])
def test_the_floor_rules_in_place_of_who_left(choice: int, ruling: str) -> None:
    table = unanswered("E")
    assert to_decide(table.state) == ""
    assert refused(table, i.Decide(choice, "1.count_ruling-0.1")).code == "no_objection"
    table.elapse("count_open")
    assert refused(table, i.Decide(choice, "1.count_ruling-4.1")).code == "late"
    table.feed(i.Decide(choice, to_decide(table.state)))
    _is_ruled(table, ruling)


def test_a_seat_says_the_same_once() -> None:
    table = unanswered()
    table.elapse("count_open")
    table.press("E", "count_ruling", "out")
    assert table.prompt("count_ruling", "E").actions == ("believed",)
    assert table.prompt("count_ruling", "S").params["said"] == {"E": "out"}


def test_two_seats_call_off_a_hand_that_cannot_go_on() -> None:
    """It ends as one that nobody has won, once all four agree or say nothing."""
    table = unanswered("E")
    table.elapse("count_open")
    table.press("S", "call_off", "call_off")
    table.press("W", "call_off", "call_off")
    assert [event.kind for event in played(table, p.PlayEnded)] == ["draw"]
    assert table.state.phase == "settle" and table.prompt("agree", "N").params["doubted"] == ["E"]
    table.elapse("agree_clock")
    assert table.state.result is not None and not table.state.result.winner
    booking = table.state.result.booking
    assert booking is not None and booking.kind == "draw" and sum(booking.points.values()) == 0


def test_a_hand_is_called_off_where_the_match_ends_and_a_seat_has_left() -> None:
    table = in_play(hands_in_match=4)
    assert "call_off" not in table.asked()
    for seat in "SW":
        table.press(seat, "end", "end")
    for seat in "SW":
        table.press(seat, "call_off", "call_off")
    assert "doubted" not in table.prompt("agree", "N").params
    table.elapse("agree_clock")
    assert table.state.result is not None and table.state.session.phase == "ended"


def test_a_hand_is_not_called_off_by_one_seat_nor_for_nothing() -> None:
    table = unanswered("E")
    assert "call_off" not in table.asked()
    table.elapse("count_open")
    table.press("S", "call_off", "call_off")
    assert table.prompt("call_off", "S").actions == ("keep",)
    table.press("N", "call_off", "keep")
    assert table.prompt("call_off", "S").actions == ("call_off",) and not table.state.play.called_off
    assert not table.game.outcome and table.prompt("turn").seat == "E"


def test_what_is_told_of_an_unanswered_question_names_no_tile() -> None:
    table = unanswered()
    table.elapse("count_open")
    told = [event for event in table.events if isinstance(event, e.CountTold)]
    assert [e.encode_event(event)["seat"] for event in told] == ["N"]
    assert all(set(e.encode_event(event)) <= {"type", "seat", "zone"} for event in told)
