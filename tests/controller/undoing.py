"""Matches walked through with bookings taken back, for tests."""

from __future__ import annotations

from collections.abc import Callable

from engine import inputs as i
from engine.state import State
from engine.table import wants
from tests.engine.walker import Walker


def take_back(walker: Walker) -> bool:
    """Two seats say that the last booking is wrong; False where nobody is asked."""
    for seat in ("E", "S"):
        asked = [want for want in wants(walker.state) if want.verb == "undo" and want.seat == seat]
        if not asked or "undo" not in asked[0].actions:
            return False
        walker.feed(i.SeatAction(seat, str(asked[0].id), "undo"))
    return walker.state.phase == "settle"


def walk(walker: Walker, until: Callable[[State], bool] = lambda state: False) -> State:
    """The match to its end or that state, the first booking of every second hand taken back."""
    walker.start()
    undone: set[int] = set()
    while walker.state.phase != "ended" and not until(walker.state):
        hand = walker.state.undoable.hand if walker.state.undoable is not None else 0
        if hand % 2 == 1 and hand not in undone and take_back(walker):
            undone.add(hand)
        else:
            walker.step()
    return walker.state
