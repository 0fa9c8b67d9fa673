"""Every rule of the rule book and the tests that hold it; a rule without any fails, and so does a name that is none.

A line names test functions (`tests/engine/test_dice.py::test_…`, with its class where it has one), published hands
(`record:r15-kongs`, whose first lines must name the rule) and rule cases (`case:opening/gold-half-stack`, which cite
the rule or belong to an operation that answers for it). A test function must check something and may not be skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.engine.empty_tests import named_tests

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "tests" / "records"
CASES = ROOT / "tests" / "cases"
BOOK = ROOT / "docs" / "rules.md"
NOT_USED = "R19"

ENGINE = "tests/engine"
PLAY = f"{ENGINE}/play"
SOURCES = f"{ENGINE}/test_points_of_the_sources.py"
MATCH = f"{ENGINE}/test_match.py"
BOOK_TOLD = f"{ENGINE}/book"
AT_TABLE = f"{ENGINE}/test_book_at_table.py"
BIDS = f"{ENGINE}/test_bids.py"
UNANSWERED = f"{ENGINE}/test_unanswered.py"

HELD_BY: Mapping[str, tuple[str, ...]] = {
    "R1": (
        f"{ENGINE}/test_dice.py::test_every_roll_points_as_the_rhyme_says",
        f"{ENGINE}/test_table.py::test_a_cocked_throw_is_a_new_throw_of_the_same_seat",
        "case:point/E-3",
    ),
    "R2": (
        f"{MATCH}::TestSeats::test_the_highest_sits_east",
        f"{MATCH}::TestSeats::test_equal_throws_are_thrown_again_among_themselves",
        f"{MATCH}::TestSeats::test_after_losing_half_and_after_losing_all",
        f"{MATCH}::TestSeats::test_after_a_win_once_each",
        f"{MATCH}::TestSeats::test_players_move_with_what_is_theirs",
    ),
    "R3": (
        f"{MATCH}::TestSeats::test_first_dealer",
        f"{ENGINE}/test_settlement.py::test_next_dealer_of_bijin_and_zhangzhou",
        "record:r18-bijin-last-drawer",
        "record:r42-zhangzhou-dealer",
    ),
    "R4": (
        f"{ENGINE}/test_opening_walk.py::test_straight_walls_are_taken_clockwise_from_behind_the_stacks_left",
        "case:opening/zhitui-new-5+1-E",
        "case:opening/zhitui-basic-5+1-E",
    ),
    "R5": (
        f"{ENGINE}/test_opening_walk.py::test_a_row_lies_as_its_stacks_stood",
        "case:opening/bagua-new-6-7-E",
    ),
    "R6": (
        f"{ENGINE}/test_opening_walk.py::test_rows_open_left_of_the_door_and_replace_right_of_it",
        "case:opening/bagua-classic-4-11-E",
    ),
    "R7": (
        f"{PLAY}/test_flowers_in_play.py::test_a_flower_is_replaced_at_once_from_the_tail",
        "record:r07-tail-of-stacks",
        "case:opening/flowers-three-rounds",
        "case:opening/zhitui-new-5+1-bottom-first",
    ),
    "R8": (
        f"{ENGINE}/test_opening_walk.py::test_every_gold_roll_counts_distinct_standing_tiles_from_the_tail",
        "case:opening/gold-half-stack",
        "case:opening/gold-flower-dealer",
        "case:opening/gold-flower-skip-stay",
        "case:opening/gold-flower-reroll",
    ),
    "R9": ("case:opening/gold-third-same", "case:opening/gold-third-same-twice", "case:opening/gold-second-same"),
    "R10": ("case:opening/successor-3m", "case:opening/successor-4z", "record:r20-gold-pair"),
    "R11": (
        f"{PLAY}/test_claims_in_play.py::test_the_gold_is_claimed_by_nobody_nor_part_of_a_meld",
        f"{ENGINE}/test_hands.py::test_a_fifth_copy_is_waited_for_though_none_is_left",
        "record:r12-r11-white-chi",
    ),
    "R12": (
        f"{PLAY}/test_claims_in_play.py::test_the_white_dragon_is_a_tile_of_the_golds_face_in_runs",
        "record:r12-r11-white-chi",
        "case:opening/gold-is-white",
        "case:hand/ex26",
    ),
    "R13": (
        f"{PLAY}/test_claims_in_play.py::test_a_window_waits_for_three_answers_and_each_stands",
        f"{PLAY}/test_claims_in_play.py::test_the_same_window_opens_for_a_tile_that_nobody_could_claim",
        "record:r13-priority",
        "record:r13-several-winners",
        "record:r13-special-first",
        "record:r13-chi",
    ),
    "R14": (
        f"{PLAY}/test_claims_in_play.py::test_claiming_for_chi_lets_the_pair_pass_too",
        "record:r14-missed-pong",
        "record:r14-missed-hu",
        "record:r14-claim-not-taken",
    ),
    "R15": (
        f"{PLAY}/test_kongs_in_play.py::test_a_fourth_tile_is_added_and_may_be_robbed_as_self_draw",
        "record:r15-kongs",
        "record:r15-qianggang",
        "record:r15-two-golds-no-qianggang",
        "record:r15-basic-no-robbing",
        "record:r15-rob-nearest",
        "record:r15-option-kong-after-claim",
        "record:r15-no-kong-after-claim",
    ),
    "R16": (
        f"{PLAY}/test_discards_in_play.py::test_of_several_singles_any_may_go",
        "record:r16-follow-enforce",
        "record:r16-follow-remind",
        "record:r16-follow-fault",
    ),
    "R17": (
        f"{PLAY}/test_discards_in_play.py::test_who_discards_a_gold_wins_by_self_draw_alone_until_his_next_draw",
        "record:r17-lock",
        "record:r17-illegal",
        "record:r39-gold-discard",
    ),
    "R18": (
        f"{PLAY}/test_walls_end.py::test_the_hand_is_drawn_when_the_reserve_is_left",
        "record:r18-draw-in-lap",
        "record:r18-classic-draw",
        "record:r18-basic-draw",
        "record:r18-draw-new-xiamen-base",
        "record:r18-kong-on-last-tile",
    ),
    "R20": (
        f"{ENGINE}/test_hands.py::test_complete_waiting_and_youjin_ready_hands_are_those_that_the_rules_make",
        "record:r20-gold-pair",
        "record:r20-no-seven-pairs",
        "record:r20-option-seven-pairs",
    ),
    "R21": (
        f"{PLAY}/test_tours.py::test_golds_ask_for_ways",
        "record:r21-gold-no-pinghu",
        "record:r21-two-golds-youjin",
        "record:r21-r23-three-golds",
        "record:r21-quanzhou-two-golds",
    ),
    "R22": (
        f"{ENGINE}/test_hands.py::test_complete_waiting_and_youjin_ready_hands_are_those_that_the_rules_make",
        "record:r22-youjin",
        "record:r22-youjin-flower",
        "record:r22-youjin-pong",
        "record:r22-youjin-triplet",
        "record:r22-claim-ends-youjin",
        "record:r22-classic-flower",
    ),
    "R23": (
        f"{PLAY}/test_tours.py::test_who_draws_in_the_last_lap",
        "record:r23-shuangyou",
        "record:r23-sanyou",
        "record:r23-lap-interrupted",
        "record:r23-option-guard",
        "record:r23-option-ming",
        "record:r23-an-before-ming",
        "record:r23-option-direct",
        "record:r23-option-sanyou-none",
        "record:r23-option-kong-only",
    ),
    "R24": (
        f"{PLAY}/test_kongs_in_play.py::test_without_the_rule_no_kong_leads_to_youjin",
        "record:r24-open-kong",
        "record:r24-added-kong",
        "record:r24-concealed-kong",
        "record:r22-own-kong-while-ready",
    ),
    "R25": (
        f"{ENGINE}/test_claims.py::test_a_nearer_seat_comes_first_at_the_same_way",
        "record:r25-sanjindao-tianhu",
        "record:r25-classic-tianhu",
        "record:r25-qiangjin",
        "record:r25-qiangjin-dealer",
        "record:r25-qiangshuangyou",
        "record:r25-bijin-others-first",
        "record:r25-option-own-discard",
        "record:r25-opening-held-before",
        "record:r25-opening-passed-before",
    ),
    "R26": (
        f"{PLAY}/test_flowers_in_play.py::test_two_do_not_and_a_tile_between_breaks_the_chain",
        "record:r26-shuanghuagang",
        "record:r26-shuanghuagang-dealt",
        "record:r26-sanhuayou",
        "record:r26-option-gold-flips",
        "record:r26-eight-flowers-water",
    ),
    "R27": (
        f"{PLAY}/test_walls_end.py::test_faces_in_melds_and_the_flipped_tile_are_seen",
        "record:r27-no-youjin",
        "record:r27-unseen-discard",
        "record:r27-unseen-then-self-draw",
        "record:r27-winner-unseen",
    ),
    "R28": (
        f"{PLAY}/test_fouls_in_play.py::test_a_hand_that_wins_is_no_false_win",
        "record:r28-false-tap",
        "record:r28-option-false-tap",
    ),
    "R29": (
        f"{PLAY}/test_openings_in_play.py::test_a_discarded_gold_is_taken_by_a_hand_that_waits_for_it_as_itself",
        "record:r29-qiangjin",
        "record:r29-mojin",
        "record:r29-dihu",
        "record:r29-not-natural",
    ),
    "R30": (f"{SOURCES}::TestDocument004::test_without_底", "record:r13-r30-pinghu", "record:r23-sanyou"),
    "R31": (
        f"{SOURCES}::TestDocument004::test_base_grows",
        "record:r31-classic-growth",
        "record:r31-base-youjin",
        "record:r31-option-uniform-base",
        "record:r31-quanzhou-qiangjin",
    ),
    "R32": (
        f"{ENGINE}/test_settlement.py::test_a_triplet_of_a_discard_is_no_concealed_one",
        "record:r31-r32-classic-zimo",
        "record:r26-eight-flowers-water",
    ),
    "R33": ("record:r33-bijin-pinghu", "record:r33-bijin-youjin", "record:r25-bijin-dealer-shuangyou"),
    "R34": (
        f"{ENGINE}/test_settlement.py::TestChips::test_clean_sweep",
        "record:r24-open-kong",
        "record:r23-r34-classic-shuangyou",
        "record:r34-r41-sanyou-sweeps",
    ),
    "R35": (
        f"{SOURCES}::TestDocument003::test_patterns",
        f"{SOURCES}::TestDocument003::test_streak",
        "record:r35-two-fan",
        "record:r35-jinlong",
        "record:r35-gangshangkaihua",
        "record:r35-fan-cap",
    ),
    "R36": (
        f"{ENGINE}/test_settlement.py::test_hardness_by_the_tiles",
        "record:r36-soft",
        "record:r36-hard",
        "record:r36-three-caishen",
        "record:r36-double-tianhu",
        "record:r36-qianggang",
        "record:r36-dealer-wins-with-bids",
        f"{BIDS}::test_a_bid_is_no_more_than_the_hands_base_and_its_refusal_says_so",
    ),
    "R37": (f"{SOURCES}::TestDocument004::test_offsets", "record:r37-base-example", "record:r33-bijin-youjin"),
    "R38": (
        f"{PLAY}/test_fouls_in_play.py::test_the_ready_are_told_for_the_heavy_judgement",
        "record:r38-zhahu",
        "record:r38-zhayou",
        "record:r38-zhashuangyou",
        "record:r38-zhahu-base",
        "record:r38-classic-fine",
        "record:r38-classic-judgement",
        "record:r38-bijin-fine",
    ),
    "R39": (
        f"{PLAY}/test_fouls_in_play.py::test_a_covered_seat_is_out_of_the_hand",
        f"{PLAY}/test_fouls_in_play.py::test_when_all_are_out_the_hand_is_drawn",
        "record:r39-gold-discard",
        "record:r39-wrong-count",
        "record:r39-covered-in-lap",
        "record:r39-dealer-covered",
    ),
    "R40": (
        f"{PLAY}/test_fouls_in_play.py::test_all_three_follow_the_dealers_discard",
        "record:r40-followed",
        "record:r40-not-followed",
        "record:r40-first-not-followed",
    ),
    "R41": (
        f"{MATCH}::TestChips::test_begins_with_what_is_agreed",
        f"{MATCH}::TestCourse::test_the_agreed_hands_end_it_and_a_void_hand_is_none",
        f"{SOURCES}::TestDocument004::test_playing_cards_of_200",
        "record:r41-cap",
        "record:r41-option-debt",
    ),
    "R42": (
        f"{ENGINE}/test_ruleset.py::test_the_examples_say_what_the_rule_book_says",
        f"{ENGINE}/test_ruleset.py::test_a_house_says_only_what_differs",
        "record:r42-zhangzhou-discarder",
        "record:r42-offline-parlor",
    ),
    "P1": (
        f"{AT_TABLE}::test_a_late_word_of_the_floor_decides_no_other_objection",
        f"{BOOK_TOLD}/test_keeping.py::test_actions_of_other_stages_and_unknown_ones",
        f"{ENGINE}/test_table_walks.py::test_nonsense_is_refused_and_changes_nothing",
    ),
    "P2": (
        f"{BOOK_TOLD}/test_patience.py::test_what_was_entered_survives_a_hand_that_is_taken_up_again",
        f"{BOOK_TOLD}/test_patience.py::test_what_does_not_fit_the_end_does_not_count",
        f"{BOOK_TOLD}/test_patience.py::test_every_entry_ends_by_time_whatever_was_entered",
        f"{BOOK_TOLD}/test_patience.py::test_a_seat_turns_a_hand_only_so_often",
        f"{AT_TABLE}::test_pressing_on_does_not_hold_the_clock",
        f"{AT_TABLE}::test_the_floor_ends_an_entry",
    ),
    "P3": (
        f"{BOOK_TOLD}/test_agreement.py::test_silence_agrees",
        f"{BOOK_TOLD}/test_agreement.py::test_all_four_agree",
        f"{BOOK_TOLD}/test_agreement.py::test_a_change_goes_back_to_the_entry_and_takes_agreement_back",
    ),
    "P4": (
        f"{BOOK_TOLD}/test_agreement.py::test_an_objection_is_withdrawn",
        f"{BOOK_TOLD}/test_agreement.py::test_three_to_one_for_the_first",
        f"{BOOK_TOLD}/test_agreement.py::test_two_against_two_waits_for_the_floor_or_a_change_of_mind",
        f"{BOOK_TOLD}/test_agreement.py::test_what_the_floor_may_decide",
        f"{AT_TABLE}::test_two_against_two_are_decided_by_time",
    ),
    "P5": (
        f"{ENGINE}/test_undo.py::test_a_booking_taken_back_is_told_anew_and_the_table_goes_on_where_it_was",
        f"{ENGINE}/test_undo.py::test_one_seat_alone_takes_nothing_back_and_may_think_again",
        f"{ENGINE}/test_undo.py::test_not_after_the_deal_roll_has_begun_nor_when_it_counts",
        f"{ENGINE}/test_undo.py::test_a_swap_makes_no_booking_final",
    ),
    "P6": (
        f"{ENGINE}/test_sessions.py::test_nothing_can_be_told_to_a_table_without_a_match",
        f"{ENGINE}/test_sessions.py::test_a_match_may_be_given_more_hands",
        f"{ENGINE}/test_sessions.py::test_another_party_finds_nothing_of_the_one_before",
        f"{ENGINE}/test_pause_park.py::test_the_pause_begins_after_the_hand_in_play_and_ends_with_a_word",
        f"{ENGINE}/test_pause_park.py::test_a_table_parks_from_any_phase_and_goes_on_as_if_it_had_not",
    ),
    "P7": (
        f"{BIDS}::test_all_are_asked_before_the_deal_roll_and_the_dice_wait",
        f"{BIDS}::test_the_last_word_counts_until_all_have_spoken",
        f"{BIDS}::test_nobody_waits_longer_for_somebody_who_is_away",
        f"{BIDS}::test_a_hand_that_was_read_is_paid_with_what_was_bid",
        f"{BIDS}::test_a_hand_that_is_told_does_not_ask_for_bids_again",
        f"{BIDS}::test_bids_are_said_anew_once_a_booking_was_taken_back",
    ),
    "P8": (
        f"{UNANSWERED}::test_a_hand_that_ends_in_doubt_is_agreed_on",
        f"{UNANSWERED}::test_a_question_that_nobody_answers_is_told_to_all",
        f"{UNANSWERED}::test_three_others_rule_in_place_of_who_left",
        f"{UNANSWERED}::test_the_floor_rules_in_place_of_who_left",
    ),
    "P9": (
        f"{UNANSWERED}::test_two_seats_call_off_a_hand_that_cannot_go_on",
        f"{UNANSWERED}::test_a_hand_is_not_called_off_by_one_seat_nor_for_nothing",
    ),
}

ANSWERED_BY: Mapping[str, tuple[str, ...]] = {
    "point": ("R1",),
    "opening": ("R4", "R5", "R6", "R7", "R8", "R9", "R10", "R12"),
    "opening_claims": ("R25",),
    "hand": ("R11", "R12", "R20", "R21", "R22"),
    "water": ("R22", "R30", "R32", "R33"),
    "fan": ("R35",),
    "settle": ("R3", "R27", "R30", "R31", "R33", "R34", "R35", "R36", "R37", "R38", "R39", "R40", "R41"),
}
"""The rules that the questions of each operation are about, where a case does not cite its rule."""


def rules_of_the_book() -> list[str]:
    """The numbers that the rule book gives, from its headings `**R1 …` and `**P1 …`."""
    return re.findall(r"^\*\*([RP]\d+)\b", BOOK.read_text(encoding="utf-8"), re.MULTILINE)


@cache
def cases() -> Mapping[str, Mapping[str, Any]]:
    """Every case by its id."""
    lines = (line for path in CASES.glob("*.jsonl") for line in path.read_text(encoding="utf-8").splitlines())
    return {case["id"]: case for case in map(json.loads, lines)}


def case_is_of(rule: str, case: Mapping[str, Any]) -> bool:
    """Whether a case cites a rule, or cites none and asks by an operation that answers for that rule."""
    cited = re.findall(r"\bR\d+\b", case["why"])
    return rule in cited if cited else rule in ANSWERED_BY[case["op"]]


def mistake(rule: str, name: str) -> str | None:
    """What is wrong with a name; None when there is such a test, which checks something and is of this rule."""
    if name.startswith("case:"):
        case = cases().get(name[5:])
        if case is None:
            return "there is no such case"
        return None if case_is_of(rule, case) else f"the case is not about {rule}"
    if name.startswith("record:"):
        path = RECORDS / f"{name[7:]}.txt"
        if not path.is_file():
            return "there is no such record"
        about = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("about:")]
        return None if rule in re.findall(r"R\d+", " ".join(about)) else f"the record is not about {rule}"
    module, _, test = name.partition("::")
    path = ROOT / module
    if not path.is_file() or test not in named_tests(path):
        return "there is no such test"
    return named_tests(path)[test]


def test_the_table_has_every_rule_of_the_book_and_no_other() -> None:
    book = rules_of_the_book()
    assert len(book) == len(set(book)) == 41 + 9
    assert NOT_USED not in book
    assert list(HELD_BY) == sorted(book, key=lambda rule: (rule[0] == "P", int(rule[1:])))


@pytest.mark.parametrize("rule", HELD_BY)
def test_a_rule_is_held_by_tests_that_exist(rule: str) -> None:
    names = HELD_BY[rule]
    assert len(names) == len(set(names)) >= 2
    assert [f"{name}: {wrong}" for name in names if (wrong := mistake(rule, name)) is not None] == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("tests/engine/test_dice.py::test_nothing_of_the_kind", "there is no such test"),
        ("tests/engine/test_no_such_module.py::test_x", "there is no such test"),
        ("tests/engine/test_match.py::test_the_highest_sits_east", "there is no such test"),
        ("record:no-such-hand", "there is no such record"),
        ("record:r15-kongs", "the record is not about R1"),
        ("case:opening/no-such-case", "there is no such case"),
        ("case:opening/gold-half-stack", "the case is not about R1"),
    ],
)
def test_a_name_that_is_none_is_found_out(name: str, told: str) -> None:
    assert mistake("R1", name) == told


def test_every_published_hand_is_of_some_rule() -> None:
    """A hand beside the table names the rules that it is about, so that it is found when they change."""
    for path in RECORDS.glob("*.txt"):
        about = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("about:")]
        assert set(re.findall(r"R\d+", " ".join(about))) & set(HELD_BY), path.name


def test_a_case_is_of_the_rules_it_cites_else_of_its_operation() -> None:
    cites, silent = {"op": "opening", "why": "R9: a third time"}, {"op": "opening", "why": "the walls of three rounds"}
    assert case_is_of("R9", cites) and not case_is_of("R4", cites)
    assert case_is_of("R4", silent) and not case_is_of("R20", silent)
