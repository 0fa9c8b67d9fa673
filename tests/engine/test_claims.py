"""Openings (R25) and the flowers that win at once (R26)."""

from __future__ import annotations

import random

import pytest

from engine.claims import eight_flowers_win, opening_claims
from engine.hands import complete, golds_held
from engine.ruleset import load_ruleset, profiles
from engine.tiles import SEATS, is_flower, next_seat, parse_tiles, play_order

WAITS = parse_tiles("123789m234888p4599s")
READY = parse_tiles("123789m2345888p456s")
SCATTERED = parse_tiles("14589m1366789p2358s")
COMPLETE = parse_tiles("234678m111678p66677s")
THREE_GOLDS = parse_tiles("1458m13555669p2358s")


def test_the_hands_below_have_as_many_tiles_as_they_should() -> None:
    assert [len(hand) for hand in (WAITS, READY, SCATTERED, THREE_GOLDS, COMPLETE)] == [16, 16, 16, 16, 17]


def test_a_nearer_seat_comes_first_at_the_same_way() -> None:
    rules = load_ruleset("new-xiamen-120")
    for dealer in SEATS:
        hands = {seat: list(WAITS) for seat in SEATS}
        hands[dealer] = [*SCATTERED, "9s"]
        order = opening_claims(rules, dealer, "5p", hands)
        assert order == [(seat, "qiangjin") for seat in play_order(dealer)[1:]]


def test_new_and_old_xiamen_rank_tianhu_and_three_golds_differently() -> None:
    hands = {"E": COMPLETE, "S": THREE_GOLDS, "W": SCATTERED, "N": READY}
    new = opening_claims(load_ruleset("new-xiamen-120"), "E", "5p", hands)
    assert new == [("S", "sanjindao"), ("E", "tianhu"), ("N", "qiangshuangyou"), ("N", "qiangjin"), ("E", "qiangjin")]
    old = opening_claims(load_ruleset("classic-xiamen-144"), "E", "5p", hands)
    assert old == [("E", "tianhu"), ("S", "sanjindao"), ("N", "qiangjin"), ("E", "qiangjin")]
    quanzhou = opening_claims(load_ruleset("quanzhou-seed"), "E", "5p", hands)
    assert quanzhou == [("E", "tianhu"), ("S", "sanjindao")]


def test_only_in_bijin_the_dealer_grabs_the_double_tour() -> None:
    hands = {"E": [*READY, "2s"], "S": SCATTERED, "W": SCATTERED, "N": SCATTERED}
    assert ("E", "qiangshuangyou") in opening_claims(load_ruleset("bijin-xiamen-144"), "E", "5p", hands)
    assert ("E", "qiangshuangyou") not in opening_claims(load_ruleset("new-xiamen-120"), "E", "5p", hands)


@pytest.mark.parametrize("name", profiles())
def test_turning_the_table_turns_the_claims(name: str) -> None:
    rules = load_ruleset(name)
    chance = random.Random(f"claims {name}")
    tiles = [face for face, count in rules.faces().items() for _ in range(count) if not is_flower(face)]
    for _ in range(60):
        gold = chance.choice(tiles)
        chance.shuffle(tiles)
        hands = {seat: tiles[n * 17 : n * 17 + rules.hand + (seat == "E")] for n, seat in enumerate(SEATS)}
        hands[chance.choice(SEATS[1:])][:3] = [gold] * 3
        order = opening_claims(rules, "E", gold, hands)
        turned = {next_seat(seat): hand for seat, hand in hands.items()}
        assert opening_claims(rules, "S", gold, turned) == [(next_seat(seat), way) for seat, way in order]
        for seat, way in order:
            assert way != "tianhu" or (seat == "E" and complete(rules, gold, hands[seat]))
            assert way != "sanjindao" or golds_held(hands[seat], gold) >= 3


def test_eight_flowers_win_only_where_it_is_said() -> None:
    assert [name for name in profiles() if eight_flowers_win(load_ruleset(name))] == [
        "new-xiamen-120",
        "new-xiamen-120-base",
    ]
    assert eight_flowers_win(load_ruleset("quanzhou-common", {"eight_flowers": "wins"}))
