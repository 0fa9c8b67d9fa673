"""Kongs, robbing them, and what comes after (R15, R24)."""

from __future__ import annotations

from typing import Any

from engine.play import PlayState, begin, held, legal
from tests.engine.play.hands_at_play import deal_of, hu_ways, names, play, until, why_not, winner


def start(hands: dict[str, str], name: str = "classic-xiamen-144", **more: Any) -> PlayState:
    rules = {"follow": "off", "missed_tiles": False} if name == "classic-xiamen-144" else {}
    return begin(deal_of(name, hands, **{**more, "options": {**rules, **more.get("options", {})}}))


def test_an_open_kong_draws_at_the_tail() -> None:
    state = play(start({"E": "2m", "W": "222m"}, tail="3p"), "E discard 2m", "W kong_open", "pass")
    assert state.seats["W"].melds[0].kind == "kong_open"
    assert (state.turn, state.drawn, state.entry) == ("W", "3p", "kong")


def test_a_concealed_kong_wants_four_in_hand_and_cannot_be_robbed() -> None:
    state = start({"E": "2222m 333m", "S": "1m"}, tail="4p")
    assert why_not(state, "E kong_concealed 3m") == ("no_kong", "R15")
    state = play(state, "E kong_concealed 2m")
    assert state.phase == "turn" and state.drawn == "4p" and len(state.seats["E"].hand) == 14


def test_no_kong_of_golds() -> None:
    state = start({"E": "9s9s9s"}, gold="9s")
    assert why_not(state, "E kong_concealed 9s") == ("gold_not_claimable", "R11")


def pong_then(more: dict[str, str], name: str = "classic-xiamen-144", **deal: Any) -> PlayState:
    """W has a pong of 2m and draws the fourth."""
    state = start({"E": "2m", "W": "22m 1s", **more}, name, draws=f"{deal.pop('before', '1p1p1p')}2m", **deal)
    state = play(state, "E discard 2m", "W pong", "pass")
    odd = next(tile for tile in state.seats["W"].hand if tile[1] != "m" and tile != state.deal.gold)
    return until(play(state, f"W discard {odd}", "pass"), "W")


ROBBER = "13m 456m 789m 123p 456p 77p"


def test_a_fourth_tile_is_added_and_may_be_robbed_as_self_draw() -> None:
    state = pong_then({"N": ROBBER})
    (choice,) = [one for one in legal(state, "W") if one.action.name == "kong_added"]
    assert choice.effect["robbable"]
    state = play(state, "W kong_added 2m")
    assert state.phase == "rob" and hu_ways(state, "N") == {"qianggang"}
    assert names(state, "S") == {"pass"}
    won = play(state, "N hu qianggang", "pass")
    assert winner(won) == ("N", "qianggang", "2m", "W")
    assert won.seats["W"].melds[0].kind == "pong" and "2m" not in held(won)["W"].concealed
    stands = play(state, "pass")
    assert stands.seats["W"].melds[0].kind == "kong_added" and stands.entry == "kong"


def test_an_added_kong_is_not_robbed_where_the_rules_do_not_know_it() -> None:
    state = pong_then({"N": ROBBER}, options={"rob_kong": False})
    state = play(state, "W kong_added 2m")
    assert state.phase == "turn" and state.entry == "kong"


def test_golds_in_the_robbers_hand_are_limited() -> None:
    robber = "13m 456m 789m 123p 456p 7p 9s"
    allowed = play(pong_then({"N": robber}, "new-xiamen-120", gold="9s", before="1p1p1p"), "W kong_added 2m")
    assert hu_ways(allowed, "N") == {"qianggang"}
    two = "13m 456m 789m 123p 45p 7p 9s9s"
    options = {"min_way_by_gold": ["self", "self", "self"]}
    state = play(pong_then({"N": two}, "new-xiamen-120", gold="9s", options=options), "W kong_added 2m")
    assert why_not(state, "N hu qianggang") == ("rob_golds", "R15")
    free = {**options, "rob_kong_golds": 2}
    state = play(pong_then({"N": two}, "new-xiamen-120", gold="9s", options=free), "W kong_added 2m")
    assert hu_ways(state, "N") == {"qianggang"}


def test_an_open_kong_of_a_discard_is_robbed_by_nobody() -> None:
    state = start({"E": "2m", "W": "222m", "N": ROBBER}, tail="3p")
    state = play(state, "E discard 2m", "W kong_open", "S pass")
    assert hu_ways(state, "N") == {"pinghu"}
    assert play(state, "N pass").turn == "W"


def test_no_kong_right_after_a_claim_unless_the_house_says_so() -> None:
    hands = {"E": "2m", "S": "22m 3333p"}
    state = play(start(hands), "E discard 2m", "S pong", "pass")
    assert why_not(state, "S kong_concealed 3p") == ("kong_needs_draw", "R15")
    state = play(start(hands, options={"kong_after_claim": True}), "E discard 2m", "S pong", "pass")
    assert "kong_concealed" in names(state, "S")


def test_a_win_with_a_replacement_is_told_as_such() -> None:
    state = start({"E": "2222m 456m 789m 123p 456p 7z"}, tail="7z")
    state = play(state, "E kong_concealed 2m", "E hu zimo")
    assert state.outcome is not None and state.outcome.winners[0].after_kong
    assert winner(state) == ("E", "zimo", "7z", None)


KONGED = "456m 789m 123p 456p 9s"


def test_after_an_open_or_added_kong_the_replacement_is_the_own_draw_of_a_youjin() -> None:
    open_kong = play(start({"E": "1z", "W": f"111z {KONGED}"}, tail="7z"), "E discard 1z", "W kong_open", "pass")
    assert hu_ways(open_kong, "W") == {"youjin"}
    added = start({"E": "1z", "W": f"11z {KONGED} 2z"}, draws="2p2p2p1z", tail="7z", gold="9s")
    added = until(play(added, "E discard 1z", "W pong", "pass", "W discard 2z", "pass"), "W")
    added = play(added, "W kong_added 1z", "pass")
    assert hu_ways(added, "W") == {"youjin"}


def test_after_a_concealed_kong_another_lap_is_needed() -> None:
    state = start({"E": f"1111z {KONGED}"}, tail="7z3p", draws="1s1s1s5z")
    state = play(state, "E kong_concealed 1z")
    assert hu_ways(state, "E") == {"zimo"}
    state = until(play(state, f"E discard {state.drawn}", "pass"), "E")
    assert hu_ways(state, "E") == {"youjin"}


def test_without_the_rule_no_kong_leads_to_youjin() -> None:
    hands = {"E": "1z", "W": f"111z {KONGED}"}
    state = play(start(hands, tail="7z", options={"kong_youjin": False}), "E discard 1z", "W kong_open", "pass")
    assert hu_ways(state, "W") == {"zimo"}


def test_a_kong_that_leaves_a_ready_hand_ready_does_not_end_its_youjin() -> None:
    """R22: only a claim that leaves the hand not ready does, whether R24 is played or not."""
    hands = {"E": f"1z 111s {KONGED}"}
    for on in (True, False):
        state = start(hands, draws="2p2p1s", tail="7z", options={"kong_youjin": on})
        state = play(state, "E discard 1z", "pass")
        while "kong_open" not in names(state, "E"):
            state = play(state, f"{state.turn} discard {state.drawn}", *([] if state.drawn == "1s" else ["pass"]))
        state = play(state, "E kong_open", "pass")
        assert hu_ways(state, "E") == {"youjin"}, on
