"""The opening window as part of play (R25), what may be won later (R25, R29, R31), and deals that cannot be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.play import DealError, PlayState, asked, begin, held, options
from tests.engine.play.hands_at_play import deal_of, hu_ways, names, play, until, why_not, winner

SETS = "123m 456m 789m 123p 456p"


def start(name: str, hands: dict[str, str], **more: Any) -> PlayState:
    return begin(deal_of(name, hands, **{"opening": None, **more}))


def test_all_four_are_asked_whatever_they_hold() -> None:
    state = start("new-xiamen-120", {"E": "1p"})
    assert asked(state) == ("E", "S", "W", "N") and all(names(state, seat) == {"pass"} for seat in "ESWN")
    state = play(state, "pass")
    assert (state.phase, state.turn) == ("turn", "E")


def test_the_strongest_opening_wins() -> None:
    hands = {"E": f"{SETS} 77s", "S": "9s9s9s", "N": "123s 456s 789p 123s 66m 7p"}
    state = start("new-xiamen-120", hands)
    assert hu_ways(state, "E") == {"tianhu", "qiangjin"} and "sanjindao" in hu_ways(state, "S")
    assert winner(play(state, "E hu tianhu", "S hu sanjindao", "pass"))[:2] == ("S", "sanjindao")
    assert winner(play(state, "E hu tianhu", "pass"))[:2] == ("E", "tianhu")


def test_who_grabs_the_gold_takes_it() -> None:
    state = start("new-xiamen-120", {"E": "1p", "S": f"{SETS} 7s"})
    won = play(state, "S hu qiangjin", "pass")
    assert winner(won) == ("S", "qiangjin", "9s", None)
    assert sorted(held(won)["S"].concealed).count("9s") == 1 and len(held(won)["S"].concealed) == 17


def test_the_dealer_drops_a_tile_for_it() -> None:
    state = start("new-xiamen-120", {"E": f"{SETS} 7s 2s"})
    drops = {action.tile for action in _hus(state, "E")}
    assert drops == {"7s", "2s"}
    assert why_not(state, "E hu qiangjin") == ("no_claim", "R25")
    assert why_not(state, "E hu qiangjin 1m") == ("no_claim", "R25")
    won = play(state, "E hu qiangjin 2s", "pass")
    tiles = held(won)["E"].concealed
    assert "2s" not in tiles and "9s" in tiles and len(tiles) == 17


def _hus(state: PlayState, seat: str) -> list[Any]:
    return [action for action in options(state, seat) if action.name == "hu"]


def test_a_ready_hand_grabs_shuangyou() -> None:
    state = start("new-xiamen-120", {"E": "1p", "S": f"{SETS} 9s"})
    assert hu_ways(state, "S") == {"qiangshuangyou", "qiangjin"}
    won = play(state, "S hu qiangshuangyou", "pass")
    assert winner(won)[1] == "qiangshuangyou" and held(won)["S"].concealed.count("9s") == 2


def test_an_opening_already_held_at_the_table() -> None:
    assert winner(start("new-xiamen-120", {"E": f"{SETS} 77s"}, opening=("E", "tianhu")))[:2] == ("E", "tianhu")
    state = start("new-xiamen-120", {"E": f"{SETS} 7s 2s"}, opening=("E", "qiangjin"))
    assert len(held(state)["E"].concealed) == 17
    assert start("new-xiamen-120", {"E": "1p"}, opening=("", "")).phase == "turn"


def test_until_ones_own_first_discard_where_the_house_reads_it_so() -> None:
    hands = {"E": "1p", "S": f"{SETS} 7s", "N": "123s 456s 789p 333m 66m 77p"}
    own = {"qiangjin_window": "own_discard"}
    state = play(start("new-xiamen-120", hands, options=own, draws="2s"), "pass", "E discard 1p")
    assert hu_ways(state, "S") == {"qiangjin"}
    state = play(state, "pass")
    (hu,) = _hus(state, "S")
    assert (hu.way, hu.tile) == ("qiangjin", "2s")
    state = play(state, "S discard 2s")
    state = play(state, "pass")
    assert "qiangjin" not in hu_ways(until(state, "S"), "S")
    plain = play(start("new-xiamen-120", hands, draws="2s"), "pass", "E discard 1p")
    assert why_not(plain, "S hu qiangjin") == ("no_claim", "R25")


def test_three_golds_in_mid_hand() -> None:
    hands = {"E": "1p", "S": "9s9s"}
    state = play(start("quanzhou-common", hands, draws="9s"), "pass", "E discard 1p", "pass")
    assert hu_ways(state, "S") == {"sanjindao_late"}
    opening_only = play(start("new-xiamen-120", hands, draws="9s"), "pass", "E discard 1p", "pass")
    assert why_not(opening_only, "S hu sanjindao_late")[0] == "unknown_way"
    two = play(start("quanzhou-common", hands, draws="1p"), "pass", "E discard 1p", "pass")
    assert why_not(two, "S hu sanjindao_late") == ("three_golds", "R25")


# 003's own (R29); the gold is 8s.

TANKI = "123m 456m 789m 123p 7z"
RUN = "123m 456m 789m 11z 67s"


def basic(hands: dict[str, str], **more: Any) -> PlayState:
    return play(start("basic-136", hands, gold="8s", **more), "pass")


def test_a_discarded_gold_is_taken_by_a_hand_that_waits_for_it_as_itself() -> None:
    state = play(basic({"E": "8s", "S": RUN, "W": TANKI}), "E discard 8s")
    assert hu_ways(state, "S") == {"qiangjin"}
    assert hu_ways(state, "W") == set()
    assert winner(play(state, "S hu qiangjin", "pass")) == ("S", "qiangjin", "8s", "E")


def test_two_golds_are_a_pair() -> None:
    state = play(basic({"E": "8s", "S": "123m 456m 789m 123p 8s"}), "E discard 8s")
    assert hu_ways(state, "S") == {"qiangjin"}


def test_or_by_drawing_it() -> None:
    state = play(basic({"E": "1p", "S": RUN}, draws="8s"), "E discard 1p", "pass")
    assert hu_ways(state, "S") == {"qiangjin", "zimo"}
    assert winner(play(state, "S hu qiangjin")) == ("S", "qiangjin", "8s", None)
    other = play(basic({"E": "1p", "S": RUN}, draws="5s"), "E discard 1p", "pass")
    assert why_not(other, "S hu qiangjin") == ("not_the_gold", "R29")


def test_dihu_before_ones_own_first_draw() -> None:
    state = play(basic({"E": "7z", "S": "7z", "W": TANKI}, draws="7z"), "E discard 7z")
    assert hu_ways(state, "W") == {"dihu"}
    later = play(
        basic({"E": "1z", "W": TANKI}, draws="1s2s3s4s7z"), "E discard 1z", "pass", "turn", "turn", "turn", "turn"
    )
    assert hu_ways(play(later, "S discard 7z"), "W") == {"pinghu"}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"dealer": "X"}, "dealer"),
        ({"hands": {}}, "hands"),
        ({"gold": "1f"}, "gold"),
        ({"tail_order": (0, 0)}, "tail_order"),
        ({"opening": ("E", "dihu")}, "opening"),
        ({"wall": ("1m",) * 5}, "wall"),
        ({"dealer": "S"}, "hands.E"),
    ],
)
def test_a_deal_that_cannot_be_is_told_so(changes: dict[str, Any], field: str) -> None:
    deal = replace(deal_of("new-xiamen-120", {"E": "1p"}), **changes)
    with pytest.raises(DealError) as error:
        begin(deal)
    assert error.value.field == field


def test_flowers_belong_to_the_flowers() -> None:
    deal = deal_of("new-xiamen-120", {"E": "1p"})
    with pytest.raises(DealError, match="flower"):
        begin(replace(deal, hands={**deal.hands, "S": ("1f", *deal.hands["S"][1:])}))
    with pytest.raises(DealError, match="flowers alone"):
        begin(replace(deal, flowers={**deal.flowers, "S": ("1m",)}))
