"""False wins (R28, R38), 盖牌 (R39) and 跟庄 (R40)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.outcome import Foul
from engine.play import COVER_REASONS, PlayState, asked, begin, faults, hand_end, legal, options
from engine.play.events import NoFlowers
from engine.play.hand import begin_events
from engine.settlement import settle_outcome
from tests.engine.play.hands_at_play import deal_of, names, play, turn, until, why_not

SETS = "123m 456m 789m 123p 456p"
PLAIN = {"follow": "off", "missed_tiles": False}


def start(name: str = "classic-xiamen-144", hands: dict[str, str] | None = None, **more: Any) -> PlayState:
    plain = PLAIN if name == "classic-xiamen-144" else {}
    return begin(deal_of(name, {"E": "1p", **(hands or {})}, **{**more, "options": plain | more.get("options", {})}))


def test_a_false_hu_is_refused() -> None:
    state = start()
    assert why_not(state, "E hu zimo") == ("not_complete", "R20")
    assert why_not(play(state, "E discard 1p"), "S hu pinghu") == ("not_complete", "R20")


@pytest.mark.parametrize(
    ("way", "kind"),
    [("zimo", "zhahu"), ("youjin", "zhayou"), ("shuangyou", "zhashuangyou"), ("sanyou", "zhashuangyou")],
)
def test_or_it_is_a_false_win_where_the_house_says_so(way: str, kind: str) -> None:
    state = start("xiamen-offline")
    assert ("hu", way) in {(action.name, action.way) for action in faults(state, "E")}
    state = play(state, f"E hu {way}")
    assert state.outcome is not None and state.outcome.kind == "foul"
    assert state.outcome.foul == Foul("E", kind, ())


@pytest.mark.parametrize("way", ["zimo", "shuangyou", "sanyou"])
def test_a_hand_that_wins_another_way_is_no_false_win(way: str) -> None:
    """R28: only a hand that is none is one; a way named wrongly is refused."""
    hands = {"E": f"{SETS} 9s 7s"}
    state = until(play(start("xiamen-offline", hands, gold="9s", draws="1s1s2s8s"), "E discard 7s", "pass"), "E")
    assert {action.way for action in options(state, "E") if action.name == "hu"} == {"youjin"}
    assert why_not(state, f"E hu {way}")[1].startswith("R")
    assert ("hu", way) not in {(action.name, action.way) for action in faults(state, "E")}


def test_a_hand_laid_open_that_is_none_is_a_false_win_whoevers_turn_it_is() -> None:
    state = play(start(), "N expose_false zhahu")
    assert state.outcome is not None and state.outcome.foul == Foul("N", "zhahu", ())
    assert asked(state) == () and options(state, "E") == ()
    assert why_not(state, "E discard 1p") == ("hand_over", "R13")


def test_the_three_kinds_are_those_of_the_new_game() -> None:
    for kind in ("zhahu", "zhayou", "zhashuangyou"):
        state = play(start("new-xiamen-120"), f"S expose_false {kind}")
        assert state.outcome is not None and state.outcome.foul is not None and state.outcome.foul.kind == kind
    assert why_not(start(), "S expose_false zhayou") == ("unknown_foul", "R38")
    assert why_not(start("basic-136"), "S expose_false zhahu") == ("unknown_foul", "R38")


def test_a_hand_that_wins_is_no_false_win() -> None:
    state = start(hands={"E": f"{SETS} 77z"})
    assert why_not(state, "E expose_false zhahu") == ("it_wins", "R28")


def test_the_ready_are_told_for_the_heavy_judgement() -> None:
    state = play(start(hands={"E": f"{SETS} 9s 7s"}), "E discard 7s", "pass", "W expose_false zhahu")
    assert state.outcome is not None and state.outcome.foul == Foul("W", "zhahu", ("E",))
    assert hand_end(state).held["E"].concealed.count("9s") == 1


@pytest.mark.parametrize("reason", COVER_REASONS)
def test_a_covered_seat_is_out_of_the_hand(reason: str) -> None:
    state = play(start(), f"S cover {reason}")
    assert why_not(state, "S discard 1m") == ("covered", "R39")
    assert why_not(state, f"S cover {reason}") == ("covered", "R39")
    state = play(state, "E discard 1p")
    assert asked(state) == ("W", "N")
    state = play(state, "pass")
    assert state.turn == "W"
    for seat in "WNE":
        assert state.turn == seat
        state = turn(state)
    assert state.turn == "W"


def test_only_for_reasons_of_the_rule_book() -> None:
    assert why_not(start(), "S cover late") == ("bad_reason", "R39")


def test_a_seat_covered_in_its_turn_discards_nothing() -> None:
    state = play(start(), "E cover wrong_count")
    assert state.turn == "S" and state.discards == () and len(state.seats["E"].hand) == 17


def test_a_claim_of_a_covered_seat_is_void_and_the_window_goes_on() -> None:
    state = play(start(hands={"W": "11p"}), "E discard 1p", "W pong", "W cover wrong_claim")
    assert asked(state) == ("S", "N")
    assert play(state, "pass").turn == "S"


def test_a_covered_seat_is_passed_over_in_a_lap_and_its_own_tour_is_over() -> None:
    hands = {"E": f"{SETS} 9s 7s"}
    ready = until(play(start(hands=hands, draws="1s2s3s9s1p2p8p"), "E discard 7s", "pass"), "E")
    state = play(ready, "W cover wrong_count", "E tour_discard 9s", "S pass")
    assert state.turn == "N"
    over = play(ready, "E tour_discard 9s", "E cover wrong_count")
    assert over.tour is None and (over.turn, over.phase) == ("S", "turn")
    assert "discard" in names(over, "S")


def test_covered_in_ones_own_lap_draw_the_next_one_draws() -> None:
    hands = {"E": f"{SETS} 9s 7s"}
    ready = until(play(start(hands=hands, draws="1s2s3s9s1p2p8p"), "E discard 7s", "pass"), "E")
    state = play(ready, "E tour_discard 9s", "S cover wrong_draw")
    assert (state.turn, state.phase) == ("W", "lap")


def test_a_konger_put_out_while_he_may_be_robbed() -> None:
    state = start(hands={"W": "11p 2s"}, draws="3s3s3s1p")
    state = play(state, "E discard 1p", "W pong", "pass", "W discard 2s", "pass")
    state = play(until(state, "W"), "W kong_added 1p", "W cover wrong_claim")
    assert state.phase == "turn" and state.turn == "N"


def test_when_all_are_out_the_hand_is_drawn() -> None:
    state = play(start(), "S cover wrong_count", "W cover wrong_count", "N cover wrong_count")
    state = play(state, "E discard 1p")
    assert state.turn == "E"
    state = play(state, "E cover wrong_count")
    assert state.outcome is not None and state.outcome.kind == "draw"
    assert state.outcome.covered == ("E", "S", "W", "N")


def test_the_dealer_covered_before_the_first_discard() -> None:
    state = begin(deal_of("new-xiamen-120", {"E": "1p"}, opening=None))
    state = play(state, "E cover wrong_opening", "pass")
    assert state.turn == "S" and state.phase == "turn"


def test_no_flower_at_all_costs_the_dealer() -> None:
    offline = deal_of("xiamen-offline", {"E": "1p"})
    assert begin_events(offline)[0] == NoFlowers(1)
    state = begin(offline)
    assert state.no_flowers
    assert not start("new-xiamen-120").no_flowers
    assert not begin(deal_of("xiamen-offline", {"E": "1p"}, flowers={"N": "1f"})).no_flowers
    flipped = deal_of("xiamen-offline", {"E": "1p"}, flowers={"E": "1f"}, flips=1)
    assert begin(flipped).no_flowers


def test_all_three_follow_the_dealers_discard() -> None:
    state = start("xiamen-offline", {"E": "1p 2p", "S": "1p 2p", "W": "1p 2p", "N": "1p 2p"}, draws="3s3s3s3s")
    for seat in "ESWN":
        state = play(state, f"{seat} discard 1p", "pass")
    assert state.followed == 1
    for seat in "ESWN":
        state = play(state, f"{seat} discard 2p", "pass")
    assert state.followed == 2


def test_once_broken_following_does_not_begin_again() -> None:
    hands = {"E": "1p 2p", "S": "1p 2p", "W": "1p 2p", "N": "3p 2p"}
    state = start("xiamen-offline", hands, draws="3s3s3s3s")
    for tile in ("1p", "1p", "1p", "3p", "2p", "2p", "2p", "2p"):
        state = play(state, f"{state.turn} discard {tile}", "pass")
    assert state.followed == 0


def test_a_choice_to_win_tells_the_points_that_it_brings() -> None:
    """What `legal` says of a 胡 is what the settlement pays once it is carried out."""
    state = start("new-xiamen-120", {"E": f"{SETS} 77s"}, gold="9s")
    (choice,) = [choice for choice in legal(state, "E") if choice.action.name == "hu"]
    won = play(state, f"E hu {choice.action.way}")
    settled = settle_outcome(won.deal.rules, hand_end(won))
    assert choice.effect["points"] == settled.net["E"] > 0
    assert choice.effect.get("bonus", 0) == settled.bonus["E"]
