"""What a bad board can be told to have: one defect each, and the tests of `kaijin conform` that find it.

`kaijin simulate table --defect NAME` is a table whose board has it; `kaijin simulate defects` lists them. A defect is
another kind of board, link, operation memory or mechanisms, otherwise as healthy as the rest; `found_by` and `also`
name exactly the tests that fail at the fullest table (readers, dealing) with every motion allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from simulators.defective import board, link, mechanisms, operations
from simulators.mcu import Mcu


@dataclass(frozen=True, slots=True)
class Defect:
    """`says`: what the board does wrong. `found_by`: the tests that are there to find it; `also` fail in its wake."""

    name: str
    says: str
    kind: type[Mcu]
    found_by: tuple[str, ...]
    also: tuple[str, ...] = ()


def _all() -> Mapping[str, Defect]:
    listed = [
        Defect(name, says, kind, tuple(FOUND_BY.get(name, "").split()), tuple(ALSO.get(name, "").split()))
        for name, says, kind in _KINDS
    ]
    return MappingProxyType({defect.name: defect for defect in listed})


_KINDS: Final[tuple[tuple[str, str, type[Mcu]], ...]] = (
    *link.KINDS,
    *operations.KINDS,
    *mechanisms.KINDS,
    *board.KINDS,
)

FOUND_BY: Final[Mapping[str, str]] = {
    "empty_frame_is_garbage": "1.3",
    "crc_not_checked": "1.6",
    "long_frames_kill": "1.9",
    "nak_for_each_bad_frame": "1.14",
    "no_nak": "1.14",
    "echo_taken_as_own": "1.16 2.12 5.4",
    "no_zero_first": "1.2",
    "bad_frames_not_counted": "1.20",
    "tag_not_checked": "2.8",
    "old_session_answered": "2.7",
    "hello_ends_session": "2.6",
    "hello_answers_differ": "2.2",
    "session_number_constant": "2.3",
    "link_version_accepted": "2.11",
    "window_ignored": "2.17",
    "old_words_in_new_session": "2.18",
    "bye_ignored": "2.13",
    "reset_not_said": "2.8",
    "duplicates_delivered": "3.2",
    "out_of_order_delivered": "3.3",
    "ack_of_the_last": "3.4",
    "gap_not_asked_for": "3.3 3.5",
    "never_sent_again": "3.6",
    "rto_never_doubled": "3.7",
    "repeated_frame_is_sample": "3.17",
    "nak_not_answered": "3.8",
    "any_ack_counts": "3.10",
    "never_gives_up": "3.9",
    "unknown_message_kills_link": "3.11",
    "unknown_not_acknowledged": "3.11",
    "wrong_direction_accepted": "3.12",
    "length_not_checked": "3.13",
    "no_heartbeat": "5.1",
    "host_never_lost": "5.3",
    "host_lost_too_soon": "5.2",
    "silence_judged_late": "5.7",
    "noise_is_life": "5.5",
    "executed_twice": "4.2",
    "forgets_after_four": "4.4",
    "forgotten_begun_again": "4.6",
    "result_differs": "4.2",
    "arguments_ignored": "4.5",
    "attempts_count_as_forgotten": "4.7",
    "hand_ignored": "4.8",
    "refusals_remembered": "4.10",
    "last_op_missing": "4.9",
    "flash_forgets": "4.11",
    "never_busy": "7.1.5 7.2.7",
    "walls_rise_into_centre": "7.2.21",
    "unsorted_walls_rise": "7.2.22",
    "sorts_with_centre_up": "7.2.20",
    "centre_rises_in_sort": "7.2.23",
    "presents_with_centre_up": "7.2.24",
    "lid_not_asked": "7.2.26",
    "lid_stops_nothing": "7.2.27",
    "lid_latches": "7.2.26 7.2.27",
    "any_gear_accepted": "7.2.2",
    "progress_missing": "7.2.5",
    "progress_after_result": "7.2.5",
    "interrupted_told_as_done": "7.2.6",
    "dead_man_missing": "5.8",
    "word_is_a_switch": "7.2.29",
    "unknown_taken_for_down": "7.2.29",
    "one_at_a_time": "7.2.13",
    "lid_refuses_all": "7.2.26",
    "boot_id_constant": "2.15",
    "protocol_major_ignored": "2.16",
    "speaks_before_identify": "2.19",
    "answers_without_req": "3.15",
    "queries_wait_for_clear": "6.5",
    "query_throws": "7.1.1",
    "cocked_guessed": "7.1.6",
    "unasked_as_result": "7.1.7",
    "throw_ends_with_host": "5.9",
    "stop_not_latched": "6.1",
    "second_reason_kept": "6.2",
    "moves_while_latched": "6.6",
    "session_clears_stop": "6.3",
    "stop_moves_on": "6.8",
    "button_cleared": "6.9",
    "clear_without_req": "6.4",
    "empty_reason_hidden": "6.7",
    "lamp_range_kills": "7.3.2",
    "jog_without_key": "7.5.6",
    "jog_outside_service": "7.5.3",
    "jog_outlives_key": "7.5.7",
    "self_test_outside_service": "7.5.2",
    "service_outlives_reset": "7.5.8",
    "service_end_ignored": "7.5.7",
    "keys_not_told": "7.2.14",
    "faults_told_once": "7.2.15",
    "jogged_dice_not_told": "7.5.9",
    "moving_test_without_key": "7.5.6",
    "status_wrong": "7.2.3",
}
"""The tests that are there to find it."""

ALSO: Final[Mapping[str, str]] = {
    "empty_frame_is_garbage": "1.11 1.14 1.16 1.20 3.3 3.16",
    "no_nak": "1.11 1.12",
    "tag_not_checked": "2.7",
    "bye_ignored": "1.15 2.9 2.12",
    "reset_not_said": "2.7 2.9 2.11 2.13 2.15 3.9 5.3 5.4 5.5",
    "duplicates_delivered": "3.16",
    "ack_of_the_last": (
        "1.10 1.14 2.5 2.17 2.18 3.1 3.2 3.3 3.5 3.11 3.12 3.13 3.14 7.1.2 7.1.5 7.2.5 7.2.12 7.2.13 "
        "7.2.21 7.2.28 7.2.29 7.3.1 7.3.2 7.3.3 7.4.4 8.5"
    ),
    "never_sent_again": "3.7 3.10",
    "unknown_message_kills_link": "1.10 3.1",
    "unknown_not_acknowledged": "1.10 3.1 3.12 3.13 3.14",
    "no_heartbeat": "4.10 5.9 7.1.2 7.1.3 7.1.4 7.1.5 7.1.6 7.2.12 7.2.28 8.5",
    "host_never_lost": "5.4 5.5 5.7",
    "silence_judged_late": "5.4 5.5",
    "executed_twice": "4.3 4.4 5.8 7.1.4 7.2.6 7.4.1",
    "forgets_after_four": "4.7",
    "result_differs": "4.3 4.4 7.4.1",
    "arguments_ignored": "7.4.2",
    "sorts_with_centre_up": "7.2.29",
    "interrupted_told_as_done": "5.8 6.8 7.2.27 7.5.7",
    "answers_without_req": "1.20 6.5 7.2.3 7.2.26 7.5.1 7.5.2 7.5.3 7.5.4 7.5.5 7.5.6 7.5.7 7.5.8 7.5.9 8.5",
    "query_throws": "7.1.2 7.1.3 7.1.4 7.1.5 7.1.6 7.1.7",
    "stop_not_latched": "6.2 6.3 6.6 6.7 6.9",
    "stop_moves_on": "7.2.23",
    "clear_without_req": "4.10 6.9",
    "jog_outside_service": "7.5.4",
    "self_test_outside_service": "7.5.6",
    "service_end_ignored": "7.5.9",
    "status_wrong": "7.2.4 7.2.5 7.2.6 7.2.7 7.2.8 7.2.21 7.2.23 7.2.27",
}
"""Tests that fail in its wake: they need what it spoils."""

DEFECTS: Final[Mapping[str, Defect]] = _all()
"""Every defect by its name."""


class UnknownDefect(ValueError):
    """No defect has this name; the message lists those that are."""


def known_defect(name: str) -> str:
    """The name of a defect, or none; UnknownDefect where there is no such defect."""
    if name and name not in DEFECTS:
        raise UnknownDefect(f"defect {name!r}: expected one of {', '.join(DEFECTS)}")
    return name


def board_kind(name: str) -> type[Mcu]:
    """The board that has this defect; UnknownDefect where there is none."""
    return DEFECTS[known_defect(name)].kind
