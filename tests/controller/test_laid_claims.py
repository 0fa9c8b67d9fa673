"""A claim laid by hand tells the others nothing before its window closes, and then what a press tells (R13)."""

from __future__ import annotations

from typing import Any

import pytest

from controller.live import Live, TableFacts
from controller.views import public_events, public_view, seat_view
from engine import events as e
from engine.table import apply
from tests.engine.tables import Table, claims_of, in_play
from tests.engine.test_laid_claims import Laying

LIVE = Live(TableFacts("new-xiamen-120", "zhitui", "full", "read", "guide", 2, 0))


def told(table: Table, seat: str) -> list[Any]:
    """All views but those of a seat."""
    state = table.state
    return [public_view(state, LIVE), *(seat_view(state, other, LIVE) for other in "ESWN" if other != seat)]


@pytest.mark.parametrize(("seat", "own"), [("W", "5m5m"), ("W", "5m5m5m"), ("S", "4m6m")])
def test_nothing_changes_for_anybody_else_while_a_claim_is_laid_and_counts(seat: str, own: str) -> None:
    table = in_play()
    claims_of(table, "5m")
    before, begun = told(table, seat), table.state
    happened: list[e.Event] = []
    for at in (meld := Laying(table, seat, own)).after:
        happened += table.show(*at, meld.after[at])
        assert told(table, seat) == before
    happened += table.elapse("laid")
    assert told(table, seat) == before and table.game.answers.keys() == {seat}
    state = begun
    for event in happened:
        after = apply(state, event)
        assert public_events(event, state, after) == ()
        state = after
