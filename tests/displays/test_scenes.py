"""The situations that the pages are tried with are such as the contract allows."""

from __future__ import annotations

import pytest

from protocol.mqtt.views import PublicState, SeatView
from tests.displays import scenes


@pytest.mark.parametrize("name", scenes.names())
def test_every_situation_is_a_view_of_the_contract(name: str) -> None:
    for seat in scenes.SEATS:
        view = scenes.scene(name, seat)
        SeatView.model_validate(view, extra="forbid")
        PublicState.model_validate(scenes.public(view), extra="forbid")


def test_phases_are_all_tried() -> None:
    phases = {scenes.scene(name)["phase"] for name in scenes.names()}
    before = {"idle", "sorting", "lift", "push_in", "row", "bids", "deal_roll"}
    assert before | {"taking", "door", "flowers", "gold_roll", "gold", "opening", "over", "ended"} <= phases
