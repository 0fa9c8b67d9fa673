"""Flowers drawn in play (R7) and those that win (R26)."""

from __future__ import annotations

from typing import Any

from engine.play import PlayState, begin
from tests.engine.play.hands_at_play import deal_of, hu_ways, names, play, why_not, winner


def start(name: str, **more: Any) -> PlayState:
    """E has discarded 1p and nobody claimed it."""
    return play(begin(deal_of(name, {"E": "1p"}, **more)), "E discard 1p", "pass")


def test_a_flower_is_replaced_at_once_from_the_tail() -> None:
    state = start("classic-xiamen-144", draws="1f", tail="2f3p")
    assert (state.turn, state.drawn, state.phase) == ("S", "3p", "turn")
    assert state.seats["S"].flowers == ("1f", "2f") and len(state.seats["S"].hand) == 17


def test_three_in_one_chain_may_win_as_sanhuayou() -> None:
    state = start("new-xiamen-120", draws="1f", tail="2f3f4p")
    assert state.phase == "flower" and names(state, "S") == {"hu", "pass"}
    assert winner(play(state, "S hu sanhuayou"))[:2] == ("S", "sanhuayou")
    passed = play(state, "S pass")
    assert (passed.phase, passed.drawn) == ("turn", "4p")


def test_two_do_not_and_a_tile_between_breaks_the_chain() -> None:
    assert start("new-xiamen-120", draws="1f", tail="2f4p").phase == "turn"
    state = begin(deal_of("new-xiamen-120", {"E": "2222p 1p", "S": "3333p"}, draws="1f4s", tail="2f5p3f6p"))
    state = play(state, "E discard 1p", "pass")
    assert (state.phase, state.drawn) == ("turn", "5p")
    state = play(state, "S kong_concealed 3p")
    assert (state.phase, state.drawn) == ("turn", "6p")


def test_three_flowers_do_not_win_where_the_rules_do_not_know_it() -> None:
    state = start("new-xiamen-120", draws="1f", tail="2f3f4p", options={"sanhuayou": "off"})
    assert state.phase == "turn"
    assert why_not(state, "S hu sanhuayou")[1] == "R28"


def test_three_golds_ask_for_more_than_three_flowers() -> None:
    deal = deal_of("new-xiamen-120", {"E": "1p", "S": "9s9s9s"}, draws="1f", tail="2f3f4p")
    state = play(begin(deal), "E discard 1p", "pass")
    assert state.phase == "turn"


def test_the_eighth_flower_wins_at_once() -> None:
    seven = {"S": "1234567f"}
    state = start("new-xiamen-120", draws="8f", flowers=seven)
    assert winner(state) == ("S", "shuanghuagang", "8f", None)
    assert start("classic-xiamen-144", draws="8f", flowers=seven).phase == "turn"


def test_all_eight_held_before_the_first_discard_win() -> None:
    state = begin(deal_of("new-xiamen-120", {"E": "1p"}, flowers={"W": "12345678f"}))
    assert winner(state) == ("W", "shuanghuagang", None, None)


def test_three_flowers_flipped_for_the_gold_may_win_for_the_dealer() -> None:
    options = {"sanhuayou": "gold_flips"}
    deal = deal_of("new-xiamen-120", {"E": "1p"}, flowers={"E": "123f"}, flips=3, options=options, opening=None)
    state = begin(deal)
    assert hu_ways(state, "E") == {"sanhuayou"} and hu_ways(state, "S") == set()
    assert winner(play(state, "E hu sanhuayou", "pass"))[:2] == ("E", "sanhuayou")
    two = begin(deal_of("new-xiamen-120", {"E": "1p"}, flowers={"E": "12f"}, flips=2, options=options, opening=None))
    assert hu_ways(two, "E") == set()
