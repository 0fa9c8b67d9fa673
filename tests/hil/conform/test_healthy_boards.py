"""A healthy board passes everything that its capabilities ask for, and is left as it was found."""

from __future__ import annotations

from typing import Any

import pytest

from hil.conform.requirement import in_order
from protocol.serial.messages import Status
from tests.hil.conform.boards import FULLEST, GEAR, conform, conform_dice_unit, usual, why


def skipped(report: Any) -> dict[str, str]:
    return {result.requirement.number: result.reason for result in report.of("skip")}


def test_the_fullest_table_passes_everything() -> None:
    report = conform(**FULLEST, nonvolatile=True)
    assert not report.failed, why(report)
    assert report.profiles == ("core", "dice", "deal", "lamps", "readers", "service")
    # What belongs to a table that reads less, deals less or throws less, and a board that forgets its gear.
    assert set(skipped(report)) == {"7.1.8", "7.2.10", "7.2.11", "7.2.25"}
    assert len(report.results) == len(in_order()) > 100
    assert report.left == ("the gear 120 is set; before there was none",)


@pytest.mark.parametrize(
    ("config", "only", "not_tried"),
    [
        ({}, ("4", "7.2.10", "7.2.11"), {"4.11"}),
        ({"dice": "unread"}, ("5.9", "7.1"), {"7.1.6", "7.1.8"}),
        ({"dice": "software"}, ("4.10", "7.1"), {f"7.1.{number}" for number in range(2, 8)}),
        ({"dice": "hand"}, ("7.1",), {f"7.1.{number}" for number in range(2, 8)}),
    ],
    ids=["guide, none, volatile", "unread", "software", "hand"],
)
def test_a_table_with_less_passes_what_it_claims(
    config: dict[str, Any], only: tuple[str, ...], not_tried: set[str]
) -> None:
    report = conform(usual(only=only), **config)
    assert not report.failed, why(report)
    assert set(skipped(report)) == not_tried


def test_a_dice_unit_passes_what_it_claims() -> None:
    report = conform_dice_unit(usual(only=("2.16", "4", "5.9", "6.6", "7.1.2", "7.2.4", "7.3.1")), dice="read")
    assert not report.failed, why(report)
    assert report.claim is not None and not report.claim.mechanisms
    assert report.profiles == ("core", "dice", "service")
    assert set(skipped(report)) == {"4.7", "4.11", "7.2.4", "7.3.1"}


def test_without_moves_no_motor_is_asked_to_run() -> None:
    report = conform(usual(moves=False, provoke=False, only=("4", "5", "6", "7", "8.5")), **FULLEST)
    assert not report.failed, why(report)
    moving = {result.requirement.number for result in report.results if result.requirement.moves}
    told = skipped(report)
    assert len(moving) > 30 and moving <= set(told)
    assert "it lets motors run: --moves is not given" in set(told.values())
    assert report.claim is not None and isinstance(report.claim.status, Status)


def test_without_hands_and_without_a_gear_it_says_what_is_missing() -> None:
    from hil.conform.hands import NoHands

    told = skipped(conform(usual(gear=None, only=("6.9", "7.2.6", "7.5.4")), NoHands()))
    assert told["6.9"] == (
        "it needs hands at the board: to press the stop button and leave it in, turn the stop button out again"
    )
    assert told["7.2.6"] == "no gear is set, and nobody said which tiles lie in the table: --gear TILES"
    assert told["7.5.4"].startswith("it needs hands at the board: to hold the service key")


@pytest.mark.long
@pytest.mark.parametrize("memory", [False, True], ids=["volatile", "nonvolatile"])
@pytest.mark.parametrize("dice", ["read", "unread", "software", "hand"])
@pytest.mark.parametrize("aid", ["guide", "present"])
@pytest.mark.parametrize("sensing", ["none", "full"])
def test_every_combination_passes(sensing: str, aid: str, dice: str, memory: bool) -> None:
    report = conform(sensing=sensing, aid=aid, dice=dice, nonvolatile=memory)
    assert not report.failed, why(report)
    assert report.left == (f"the gear {GEAR[0]} is set; before there was none",)
