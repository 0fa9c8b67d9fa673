"""游金, 双游, 三游: ready hands, laps and their options (R21-R23)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.play import PlayState, asked, begin, held, legal, options
from tests.engine.play.hands_at_play import deal_of, hu_ways, names, play, until, why_not, winner

SETS = "123m 456m 789m 123p 456p"
ROUND = "1s2s3s"
"""What S, W and N draw in a lap; it helps nobody."""


def start(name: str = "classic-xiamen-144", hands: dict[str, str] | None = None, **more: Any) -> PlayState:
    """E has five sets, a gold and 7s, unless said otherwise."""
    plain = {"follow": "off", "missed_tiles": False} if name == "classic-xiamen-144" else {}
    deal = deal_of(
        name, {"E": f"{SETS} 9s 7s", **(hands or {})}, **{**more, "options": plain | more.get("options", {})}
    )
    return begin(deal)


def touring(draws: str, name: str = "classic-xiamen-144", **more: Any) -> PlayState:
    """E has discarded 7s, all others have drawn and discarded, E has drawn the first of `draws`."""
    state = play(start(name, draws=f"{ROUND}{draws}", **more), "E discard 7s", "pass")
    return until(state, "E")


def test_five_sets_and_a_gold_after_a_discard_are_ready() -> None:
    state = start()
    (choice,) = [one for one in legal(state, "E") if one.action.name == "discard" and one.action.tile == "7s"]
    assert choice.effect["ready"] and len(choice.effect["waits"]) == 34
    assert play(state, "E discard 7s").seats["E"].ready
    assert not play(start(), "E discard 1m").seats["E"].ready


def test_any_tile_of_the_next_own_draw_wins_as_youjin() -> None:
    state = touring("8p")
    assert hu_ways(state, "E") == {"youjin"}
    assert why_not(state, "E hu zimo") == ("higher_way", "R22")
    assert winner(play(state, "E hu youjin")) == ("E", "youjin", "8p", None)


def test_a_ready_hand_is_judged_anew_after_every_own_discard() -> None:
    state = play(touring("8p1s1s1s8m"), "E discard 8p", "pass")
    assert state.seats["E"].ready
    state = play(touring("8p1s1s1s3z"), "E discard 1m", "pass")
    assert not state.seats["E"].ready
    state = until(state, "E")
    assert hu_ways(state, "E") == set()


def test_a_claim_ends_it_until_the_next_discard() -> None:
    state = start(hands={"E": f"{SETS} 9s 7s", "N": "2m"}, draws="1s2s3s")
    state = play(state, "E discard 7s", "pass", "turn", "turn", "N discard 2m", "E chi 13m", "pass")
    assert not state.seats["E"].ready
    odd = play(state, "E discard 4p")
    assert not odd.seats["E"].ready
    assert play(state, "E discard 2m").seats["E"].ready


def test_a_gold_drawn_may_go_on_to_shuangyou_and_the_others_draw_one_each() -> None:
    state = touring("9s 1p2p3p 8s".replace(" ", ""))
    assert hu_ways(state, "E") == {"youjin"}
    (tour,) = [one for one in legal(state, "E") if one.action.name == "tour_discard"]
    assert tour.effect["level"] == "shuangyou"
    assert why_not(state, "E discard 9s") == ("gold_is_tour", "R23")
    state = play(state, "E tour_discard 9s")
    for seat, drawn in (("S", "1p"), ("W", "2p"), ("N", "3p")):
        assert (asked(state), state.phase, state.drawn) == ((seat,), "lap", drawn)
        assert names(state, seat) == {"pass"}
        state = play(state, f"{seat} pass")
        assert state.seats[seat].aside == (drawn,) and len(state.seats[seat].hand) == 16
    assert (state.turn, state.drawn) == ("E", "8s")
    assert names(state, "E") == {"hu"} and hu_ways(state, "E") == {"shuangyou"}
    assert why_not(state, "E discard 8s") == ("tour_forced", "R23")
    won = play(state, "E hu shuangyou")
    assert winner(won) == ("E", "shuangyou", "8s", None)
    assert held(won)["E"].concealed.count("9s") == 1


def test_and_once_more_to_sanyou() -> None:
    state = play(touring("9s1p2p3p9s1s2s3s8s"), "E tour_discard 9s", "S pass", "W pass", "N pass")
    assert hu_ways(state, "E") == {"shuangyou"} and "tour_discard" in names(state, "E")
    state = play(state, "E tour_discard 9s", "S pass", "W pass", "N pass")
    assert names(state, "E") == {"hu"} and hu_ways(state, "E") == {"sanyou"}
    assert why_not(state, "E tour_discard 9s")[1] == "R23"
    assert winner(play(state, "E hu sanyou"))[1] == "sanyou"


def test_the_others_may_win_in_the_lap_by_self_draw_alone() -> None:
    state = play(touring("9s4m", hands={"S": "123s 456s 777p 888p 11z 23m"}), "E tour_discard 9s")
    assert hu_ways(state, "S") == {"zimo"}
    passed = play(state, "S pass")
    assert passed.turn == "W" and passed.phase == "lap"
    assert winner(play(state, "S hu zimo")) == ("S", "zimo", "4m", None)


def test_a_flower_in_the_lap_is_not_replaced_but_kept() -> None:
    state = play(touring("9s1f2f"), "E tour_discard 9s")
    assert state.seats["S"].flowers == ("1f",) and state.phase == "lap"
    state = play(state, "S pass")
    assert state.seats["S"].aside == () and len(state.seats["S"].hand) == 16 and state.turn == "W"


def test_a_ready_hand_that_draws_in_anothers_lap_wins_as_youjin() -> None:
    hands = {"E": f"{SETS} 9s 7s", "W": "123s 456s 789p 111z 222z 9s"}
    state = start(hands=hands, draws="1s3z3s9s1p2p", options={"follow": "off"})
    state = play(state, "E discard 7s", "pass", "turn", "W discard 3z", "pass", "turn", "E tour_discard 9s", "S pass")
    assert hu_ways(state, "W") == {"youjin"}


def test_in_a_guarded_tour_nobody_else_draws() -> None:
    state = play(touring("9s9s8s", options={"tour_guard": True}), "E tour_discard 9s")
    assert (state.turn, state.drawn) == ("E", "9s")
    state = play(state, "E tour_discard 9s")
    assert winner(play(state, "E hu sanyou"))[1] == "sanyou"


@pytest.mark.parametrize(("interrupt", "next_seat"), [("self_draw", "S"), ("kong_only", "S"), ("none", "E")])
def test_who_draws_in_the_last_lap(interrupt: str, next_seat: str) -> None:
    options = {"sanyou_interrupt": interrupt}
    state = play(touring("9s1p2p3p9s1s2s3s", options=options), "E tour_discard 9s", "S pass", "W pass", "N pass")
    assert play(state, "E tour_discard 9s").turn == next_seat


def test_only_a_kongs_replacement_wins_in_the_last_lap_where_the_house_says_so() -> None:
    south = {"S": "444s 123m 777p 888p 11z 2z"}
    options = {"sanyou_interrupt": "kong_only"}
    state = touring("9s1p2p3p9s4s", hands=south, tail="2z", options=options)
    state = play(state, "E tour_discard 9s", "S pass", "W pass", "N pass", "E tour_discard 9s")
    assert names(state, "S") == {"pass", "kong_concealed"}
    state = play(state, "S kong_concealed 4s")
    assert (state.turn, state.drawn, state.phase) == ("S", "2z", "lap")
    south = {"S": "444s 123m 777p 888p 11z 99p"}
    state = touring("9s1p2p3p9s4s", hands=south, tail="1z", options=options)
    state = play(state, "E tour_discard 9s", "S pass", "W pass", "N pass", "E tour_discard 9s")
    assert why_not(state, "S hu zimo") == ("kong_only", "R23")
    state = play(state, "S kong_concealed 4s")
    assert hu_ways(state, "S") == {"zimo"}


def test_no_kong_in_other_laps() -> None:
    state = play(touring("9s4s", hands={"S": "444s"}), "E tour_discard 9s")
    assert why_not(state, "S kong_concealed 4s") == ("no_kong_in_lap", "R23")


def test_with_a_gold_from_a_hand_that_was_not_ready_only_where_the_house_says_so() -> None:
    hands = {"E": f"{SETS} 9s9s"}
    plain = start(hands=hands)
    assert why_not(plain, "E tour_discard 9s") == ("no_tour", "R23")
    assert play(plain, "E discard 9s").phase == "window"
    straight = start(hands=hands, options={"direct_shuangyou": True}, draws="1p2p3p8s")
    state = play(straight, "E tour_discard 9s", "S pass", "W pass", "N pass")
    assert hu_ways(state, "E") == {"shuangyou"}


def test_the_rest_must_be_ready_again() -> None:
    state = touring("8p")
    assert why_not(state, "E tour_discard 9s") == ("not_ready", "R22")


# The new game: two golds want 游金, three 双游.


def test_golds_ask_for_ways() -> None:
    state = play(start("new-xiamen-120", draws=f"{ROUND}9s"), "E discard 7s", "pass")
    assert hu_ways(until(state, "E"), "E") == {"youjin"}
    one = start("new-xiamen-120", {"E": "123m 456m 789m 123p 44p 28s 9s"})
    assert why_not(one, "E hu zimo") == ("not_complete", "R20")
    self_drawn = start("new-xiamen-120", {"E": "123m 456m 789m 123p 44p 78p 9s"})
    assert hu_ways(self_drawn, "E") == {"zimo"}
    two = start("new-xiamen-120", {"E": "123m 456m 789m 44p 78p 13p 9s9s"})
    assert why_not(two, "E hu zimo") == ("least_way", "R21")
    by_discard = start("new-xiamen-120", {"E": "6p", "S": "123m 456m 789m 123p 44p 9s 7p"})
    assert why_not(play(by_discard, "E discard 6p"), "S hu pinghu") == ("least_way", "R21")


def test_a_third_gold_must_be_discarded() -> None:
    hands = {"E": "123m 456m 789m 123p 45p 9s9s 7s"}
    state = until(play(start("new-xiamen-120", hands, draws=f"{ROUND}9s1p2p3p8s"), "E discard 7s", "pass"), "E")
    assert why_not(state, "E hu youjin") == ("least_way", "R21")
    assert "discard" not in names(state, "E") and "tour_discard" in names(state, "E")
    assert why_not(state, "E discard 1m") == ("tour_forced", "R23")
    state = play(state, "E tour_discard 9s", "S pass", "W pass", "N pass")
    assert hu_ways(state, "E") == {"shuangyou"}


def test_a_drawn_flower_completes_a_youjin_and_is_not_replaced() -> None:
    state = touring("1f", "new-xiamen-120")
    assert names(state, "E") == {"hu"} and state.phase == "flower"
    won = play(state, "E hu youjin")
    assert winner(won) == ("E", "youjin", "1f", None)
    assert len(held(won)["E"].concealed) == 16 and held(won)["E"].flowers == ("1f",)
    classic = touring("1f", tail="8p")
    assert (classic.phase, classic.drawn) == ("turn", "8p") and hu_ways(classic, "E") == {"youjin"}


def test_it_completes_a_shuangyou_too() -> None:
    state = play(touring("9s1p2p3p1f", "new-xiamen-120"), "E tour_discard 9s", "S pass", "W pass", "N pass")
    assert hu_ways(state, "E") == {"shuangyou"} and names(state, "E") == {"hu"}


# 明游


MING: dict[str, Any] = {"options": {"tour_discard": "ming"}}


def test_a_tile_laid_face_down_is_claimed_by_nobody_and_the_others_draw_one() -> None:
    state = start("new-xiamen-120", {"S": "77s"}, draws="1s2s3s8p", **MING)
    assert {action.tile for action in options(state, "E") if action.name == "discard_down"} == {"7s"}
    state = play(state, "E discard_down 7s")
    assert (state.phase, state.turn, names(state, "S")) == ("lap", "S", {"pass"})
    state = play(state, "S pass", "W pass", "N pass")
    assert names(state, "E") == {"hu"} and hu_ways(state, "E") == {"youjin"}


def test_face_down_only_where_the_house_plays_it_and_only_into_youjin() -> None:
    assert why_not(start("new-xiamen-120"), "E discard_down 7s") == ("no_ming", "R23")
    state = start("new-xiamen-120", **MING)
    assert why_not(state, "E discard_down 1m") == ("not_ready", "R22")
    assert why_not(state, "E discard_down 9s") == ("no_ming", "R23")


def test_open_is_still_open_where_tiles_may_lie_face_down() -> None:
    state = play(start("new-xiamen-120", {"S": "77s"}, **MING), "E discard 7s")
    assert "pong" in names(state, "S")


def test_face_down_and_a_gold_drawn_go_on_to_shuangyou() -> None:
    state = play(
        start("new-xiamen-120", draws="1s2s3s9s1s2s3s8p", **MING), "E discard_down 7s", "S pass", "W pass", "N pass"
    )
    assert names(state, "E") == {"hu", "tour_discard"}
    state = play(state, "E tour_discard 9s", "S pass", "W pass", "N pass")
    assert hu_ways(state, "E") == {"shuangyou"}


@pytest.mark.parametrize("guard", [True, False])
def test_an_open_youjin_goes_before_one_face_down_under_guard(guard: bool) -> None:
    rules = {"options": {"tour_discard": "ming", "tour_guard": guard}}
    hands = {"E": "23m 456m 789m 123p 456p 9s 7s 8p", "W": "123s 456s 789p 555s 666s 9s"}
    state = start("new-xiamen-120", hands, draws="7p8s1p 1m 2p9s8p".replace(" ", ""), **rules)
    state = play(state, "E discard 8p", "pass", "turn", "W discard 8s", "pass", "turn", "E discard_down 7s", "S pass")
    assert (state.turn, state.phase, state.drawn) == ("W", "lap", "9s")
    assert hu_ways(state, "W") == {"youjin"}
    if not guard:
        assert why_not(state, "W tour_discard 9s") == ("no_tour", "R23")
        return
    state = play(state, "W tour_discard 9s")
    assert (state.turn, state.drawn) == ("W", "8p") and hu_ways(state, "W") == {"shuangyou"}
    assert state.tour is not None and state.tour.owner == "W"
