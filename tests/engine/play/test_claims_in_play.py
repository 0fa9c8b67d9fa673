"""Turns, claim windows and missed tiles (R11-R14)."""

from __future__ import annotations

import pytest

from engine.play import PlayState, apply, asked, begin, begin_events, decide_clock, fold, held, options
from engine.tiles import next_seat
from tests.engine.play.hands_at_play import deal_of, hu_ways, names, play, tiles, turn, until, why_not, winner

PLAIN = {"follow": "off", "missed_tiles": False}
WAITS_7Z = "123m 456m 789m 123p 456p 7z"


def classic(hands: dict[str, str], **more: object) -> PlayState:
    return begin(deal_of("classic-xiamen-144", hands, **{"options": PLAIN, **more}))  # type: ignore[arg-type]


def test_play_goes_round_and_each_draws_at_the_head() -> None:
    state = classic({"E": "1z"}, draws="2m 3p 4s 5m".replace(" ", ""))
    assert (state.turn, state.drawn) == ("E", "")
    state = play(state, "E discard 1z", "pass")
    for seat, tile in zip("SWNE", tiles("2m3p4s5m"), strict=True):
        assert (state.turn, state.drawn, state.seats[seat].hand[-1]) == (seat, tile, tile)
        state = turn(state)


def test_only_the_seat_whose_turn_it_is_discards_and_only_what_it_holds() -> None:
    state = classic({"E": "1z"})
    assert why_not(state, "S discard 1m") == ("not_your_turn", "R13")
    assert why_not(state, "E discard 6z") == ("not_in_hand", "R13")
    assert why_not(state, "E pass") == ("not_asked", "R13")
    assert why_not(state, "E jump 1z") == ("unknown_action", "R13")
    assert why_not(state, "E pong 1z") == ("bad_value", "R13")


def test_chi_from_the_player_before_alone() -> None:
    state = classic({"E": "2m", "S": "1m 3m", "W": "1m 3m"})
    state = play(state, "E discard 2m")
    assert "chi" in names(state, "S") and "chi" not in names(state, "W")
    assert why_not(state, "W chi 13m") == ("chi_seat", "R13")
    assert why_not(state, "S chi 35m")[0] in ("not_in_hand", "no_set")
    state = play(state, "S chi 13m", "pass")
    assert state.seats["S"].melds[0].tiles == ("1m", "2m", "3m")
    assert (state.turn, state.phase, state.entry) == ("S", "turn", "claim")
    assert names(state, "S") == {"discard"}
    assert state.discards[0].taken == "S"


def test_a_run_may_be_laid_in_each_of_its_ways() -> None:
    state = play(classic({"E": "3m", "S": "1245m"}), "E discard 3m")
    assert {action.tiles for action in options(state, "S") if action.name == "chi"} == {
        ("1m", "2m"),
        ("2m", "4m"),
        ("4m", "5m"),
    }


def test_the_white_dragon_is_a_tile_of_the_golds_face_in_runs() -> None:
    state = play(classic({"E": "8s", "S": "7s 5z"}, gold="9s"), "E discard 8s", "S chi 7s5z", "pass")
    assert state.seats["S"].melds[0].tiles == ("7s", "8s", "5z")


def test_the_gold_is_claimed_by_nobody_nor_part_of_a_meld() -> None:
    state = classic({"E": "9s", "S": "7s 8s", "W": "9s 9s"}, gold="9s")
    state = play(state, "E discard 9s")
    assert [names(state, seat) for seat in "SWN"] == [{"pass"}] * 3
    assert why_not(state, "W pong") == ("gold_not_claimable", "R11")
    state = play(classic({"E": "8s", "S": "7s 9s"}, gold="9s"), "E discard 8s")
    assert why_not(state, "S chi 7s9s") == ("no_set", "R13")


def test_pong_goes_before_chi_whoever_was_first_to_say_so() -> None:
    state = play(classic({"E": "2m", "S": "1m 3m", "W": "22m"}), "E discard 2m", "S chi 13m", "W pong", "N pass")
    assert state.turn == "W" and state.seats["W"].melds[0].kind == "pong"
    assert state.seats["S"].melds == ()


def test_hu_goes_before_pong() -> None:
    state = play(classic({"E": "7z", "S": "77z", "N": WAITS_7Z}), "E discard 7z", "S pong", "N hu pinghu", "W pass")
    assert winner(state) == ("N", "pinghu", "7z", "E")
    assert "7z" in held(state)["N"].concealed and len(held(state)["N"].concealed) == 17


def test_of_two_who_win_the_nearest_after_the_discarder() -> None:
    hands = {"E": "7z", "S": WAITS_7Z, "N": "123s 456s 123s 789p 789p 7z"}
    state = play(classic(hands, gold="8s"), "E discard 7z", "N hu pinghu", "S hu pinghu", "pass")
    assert winner(state)[0] == "S"


def test_one_tile_may_be_won_by_several() -> None:
    hands = {"E": "7z", "S": "123m 456m 789m 123p 7z", "N": "123s 456s 123s 789p 7z"}
    state = begin(deal_of("basic-136", hands, gold="8s"))
    state = play(state, "E discard 7z", "N hu dihu", "S hu dihu", "pass")
    assert state.outcome is not None
    assert [win.seat for win in state.outcome.winners] == ["S", "N"]


@pytest.mark.parametrize(("first", "wins"), [(True, "N"), (False, "S")])
def test_a_special_hand_goes_first_where_the_rules_say_so(first: bool, wins: str) -> None:
    hands = {"E": "7z", "S": WAITS_7Z, "N": "123s 456s 12s 78p 9s9s9s 78p 7z"}
    state = begin(deal_of("quanzhou-seed", hands, options={"special_first": first}))
    state = play(state, "E discard 7z", "S hu pinghu", "N hu pinghu", "pass")
    assert winner(state)[0] == wins


def test_a_window_waits_for_three_answers_and_each_stands() -> None:
    state = play(classic({"E": "2m", "W": "22m"}), "E discard 2m")
    assert asked(state) == ("S", "W", "N")
    state = play(state, "W pong")
    assert asked(state) == ("S", "N") and state.phase == "window"
    assert why_not(state, "W pass") == ("already_answered", "R14")
    assert why_not(state, "W pong") == ("already_answered", "R14")
    assert why_not(state, "E pass") == ("not_asked", "R13")
    assert play(state, "pass").turn == "W"


def test_a_window_that_times_out_takes_silence_for_a_pass() -> None:
    state = play(classic({"E": "2m", "W": "22m"}), "E discard 2m", "W pong")
    for event in decide_clock(state):
        state = apply(state, event)
    assert state.turn == "W"
    assert decide_clock(state) == ()


def test_the_same_window_opens_for_a_tile_that_nobody_could_claim() -> None:
    state = play(classic({"E": "9s"}), "E discard 9s")
    assert state.phase == "window" and asked(state) == ("S", "W", "N")


@pytest.mark.parametrize("missing", [True, False])
def test_a_pair_let_pass_may_not_be_claimed_again_before_the_own_draw(missing: bool) -> None:
    options = {"follow": "off", "missed_tiles": missing}
    state = begin(deal_of("classic-xiamen-144", {"E": "2m", "W": "22m"}, draws="2m1z", options=options))
    state = play(state, "E discard 2m", "pass", "S discard 2m")
    assert ("pong" in names(state, "W")) is not missing
    if missing:
        assert why_not(state, "W pong") == ("missed", "R14")


def test_a_win_let_pass_may_not_be_taken_before_the_own_draw_but_a_run_may() -> None:
    hands = {"E": "7z", "N": WAITS_7Z}
    options = {"follow": "off", "missed_tiles": True}
    state = begin(deal_of("classic-xiamen-144", hands, draws="7z1z1z1z1z7z", options=options))
    state = play(state, "E discard 7z", "pass", "S discard 7z")
    assert why_not(state, "N hu pinghu") == ("missed", "R14")
    state = until(play(state, "pass"), "N")
    assert state.seats["N"].missed == ()
    hands = {"E": "2m", "W": "22m 3m 4m"}
    state = begin(deal_of("classic-xiamen-144", hands, draws="2m", options=options))
    state = play(state, "E discard 2m", "pass", "S discard 2m")
    assert "chi" in names(state, "W") and "pong" not in names(state, "W")


def test_claiming_for_chi_lets_the_pair_pass_too() -> None:
    options = {"follow": "off", "missed_tiles": True}
    state = begin(deal_of("classic-xiamen-144", {"E": "3m", "S": "33m 12m"}, options=options))
    state = play(state, "E discard 3m", "S chi 12m", "pass")
    assert state.seats["S"].missed == ("3m",)


def test_nobody_has_missed_what_he_could_not_claim() -> None:
    state = begin(deal_of("classic-xiamen-144", {"E": "2m", "W": "2m"}, options={"missed_tiles": True}))
    state = play(state, "E discard 2m", "pass")
    assert all(seat.missed == () for seat in state.seats.values())


def test_who_let_go_of_dihu_may_still_win_by_a_later_discard() -> None:
    state = begin(deal_of("basic-136", {"E": "7z", "W": "123m 456m 789m 123p 7z"}, gold="8s", draws="7z"))
    state = play(state, "E discard 7z")
    assert hu_ways(state, "W") == {"dihu"}
    assert why_not(state, "W hu pinghu") == ("higher_way", "R29")


def test_a_record_of_events_gives_the_state_again() -> None:
    deal = deal_of("classic-xiamen-144", {"E": "2m"}, options=PLAIN)
    state = begin(deal)
    assert fold(deal, begin_events(deal)) == state
    assert next_seat(state.turn) == "S"
