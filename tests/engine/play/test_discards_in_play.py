"""What may be discarded: 跟打 (R16) and golds (R17)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.melds import Meld
from engine.play import PlayState, begin, faults, legal, options
from tests.engine.play.hands_at_play import deal_of, hu_ways, names, play, until, why_not


def start(hands: dict[str, str], name: str = "classic-xiamen-144", **more: Any) -> PlayState:
    return begin(deal_of(name, hands, **more))


def discards(state: PlayState, seat: str) -> set[str]:
    return {action.tile for action in options(state, seat) if action.name == "discard"}


def test_a_single_honour_discarded_before_must_follow() -> None:
    state = play(start({"E": "1z", "S": "1z 3z"}, draws="5m"), "E discard 1z", "pass")
    assert discards(state, "S") == {"1z"}
    assert why_not(state, "S discard 5m") == ("follow", "R16")


def test_of_several_any_and_pairs_are_kept() -> None:
    state = start({"E": "1z2z", "S": "1z 2z 33z"}, draws="1p1p1p1p2z", options={"missed_tiles": False})
    state = play(state, "E discard 1z", "pass", "S discard 1z", "pass")
    state = until(state, "E")
    state = play(state, "E discard 2z", "pass")
    assert discards(state, "S") == {tile for tile in state.seats["S"].hand}
    assert state.seats["S"].hand.count("2z") == 2


def test_of_several_singles_any_may_go() -> None:
    hands = {"E": "1z", "S": "7z", "W": "1z 7z"}
    state = play(start(hands, draws="5m6m"), "E discard 1z", "pass", "S discard 7z", "pass")
    assert discards(state, "W") == {"1z", "7z"}


def test_the_gold_and_a_white_that_stands_for_a_suited_one_are_exempt() -> None:
    state = play(start({"E": "5z", "S": "5z"}, gold="9s", draws="5m"), "E discard 5z", "pass")
    assert len(discards(state, "S")) > 5
    state = play(start({"E": "1z", "S": "1z"}, gold="1z", draws="5m"), "E discard 1z", "pass")
    assert len(discards(state, "S")) > 5
    state = play(start({"E": "5z", "S": "5z"}, gold="1z", draws="5m"), "E discard 5z", "pass")
    assert discards(state, "S") == {"5z"}


def test_following_is_reminded_of_or_a_fault() -> None:
    hands = {"E": "1z", "S": "1z"}
    state = play(start(hands, draws="5m", options={"follow": "remind"}), "E discard 1z", "pass")
    (told,) = [one for one in legal(state, "S") if one.action.name == "discard" and one.action.tile == "5m"]
    assert told.effect["follow"] == ("1z",)
    state = play(start(hands, draws="5m", options={"follow": "fault"}), "E discard 1z", "pass")
    assert discards(state, "S") == {"1z"}
    assert "5m" in {action.tile for action in faults(state, "S")}
    state = play(state, "S discard 5m")
    assert state.seats["S"].covered == "follow" and state.phase == "window"


WAITING = "123m 456m 789m 123p 456p 7z"


def test_who_discards_a_gold_wins_by_self_draw_alone_until_his_next_draw() -> None:
    hands = {"E": f"{WAITING} 9s", "S": "7z"}
    options = {"follow": "off", "missed_tiles": False}
    state = start(hands, options=options, draws="2s2s2s1s1s7z")
    told = {one.action.tile: one.effect for one in legal(state, "E") if one.action.name == "discard"}
    assert told["9s"]["locks"] and "locks" not in told["7z"]
    state = play(state, "E discard 9s", "pass", "S discard 7z")
    assert why_not(state, "E hu pinghu") == ("locked", "R17")
    state = until(play(state, "pass"), "E")
    state = play(state, f"E discard {state.drawn}", "pass", "turn", "W discard 7z")
    assert hu_ways(state, "E") == {"pinghu"}


def test_a_locked_seat_may_rob_a_kong_which_counts_as_self_draw() -> None:
    hands = {"E": "2m", "N": "13m 456m 789m 123p 456p 77p", "W": "22m 1z"}
    options = {"follow": "off", "missed_tiles": False}
    state = start(hands, draws="9s1z1z2m", options=options)
    state = play(state, "E discard 2m", "W pong", "pass", "W discard 1z", "pass", "N discard 9s", "pass")
    state = play(until(state, "W"), "W kong_added 2m")
    assert state.seats["N"].locked
    assert hu_ways(state, "N") == {"qianggang"}


def test_a_gold_discarded_is_a_fault_or_refused_where_the_house_says_so() -> None:
    hands = {"E": "9s 1z"}
    state = start(hands, options={"gold_discard": "illegal"})
    assert why_not(state, "E discard 9s") == ("gold_discard", "R17")
    state = start(hands, options={"gold_discard": "fault"})
    assert "9s" not in discards(state, "E")
    assert "9s" in {action.tile for action in faults(state, "E") if action.name == "discard"}
    state = play(state, "E discard 9s")
    assert state.seats["E"].covered == "gold_discard"
    state = play(state, "pass")
    assert state.turn == "S"


@pytest.mark.parametrize("policy", ["illegal", "fault"])
def test_who_holds_nothing_but_golds_may_discard_one(policy: str) -> None:
    options = {"gold_discard": policy, "min_way_by_gold": ["self", "shuangyou", "shuangyou"]}
    state = start({"E": "1m"}, "bijin-xiamen-144", options=options)
    melds = tuple(Meld("pong", (face,) * 3) for face in ("2p", "3p", "4p", "5p", "6p"))
    bare = replace(state.seats["E"], hand=("9s", "9s"), melds=melds)
    state = replace(state, seats={**state.seats, "E": bare})
    assert names(state, "E") == {"discard"}
    assert play(state, "E discard 9s").seats["E"].covered == ""
