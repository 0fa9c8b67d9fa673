"""What each audience may see of a table: pure functions from the state to plain JSON data.

This is a security boundary. The public view and the views of other seats never hold a hand's tiles, a wall's faces,
claims, prompts or answers of a seat, nor anything that depends on them; a seat's own view adds only what that seat's
eyes could see.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controller.live import Live
from controller.views import evening, play, procedure
from controller.views.evening import match_hand, use
from controller.views.once import wanted
from controller.views.procedure import lamps
from controller.views.seat import ANSWERS_KEPT, HEAD_ROOM, fitted, lasting, own, rests
from controller.views.stream import public_events
from engine.state import State

__all__ = [
    "ANSWERS_KEPT",
    "HEAD_ROOM",
    "fitted",
    "lamps",
    "lasting",
    "match_hand",
    "own",
    "public_events",
    "public_view",
    "rests",
    "seat_view",
    "use",
    "wanted",
]


def public_view(state: State, live: Live) -> dict[str, Any]:
    """What everybody at the table may see; also the public part of every seat's view."""
    return {
        **evening.evening(state, live),
        "machine": procedure.machine(state, live),
        **procedure.walls(state),
        **procedure.dice(state),
        **procedure.taking(state),
        **procedure.replacing(state),
        "flowers": play.flowers(state),
        "counts": play.counts(state),
        "gold": procedure.gold(state),
        "window": play.window(state, live),
        "play": play.play(state),
        "book": play.book(state),
        "match": evening.match(state),
        "result": evening.result(state),
        "notices": [dict(notice) for notice in live.notices],
    }


def seat_view(state: State, seat: str, live: Live, public: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The whole view of one seat; `public` saves making the public part again."""
    return {**(public_view(state, live) if public is None else public), "me": own(state, seat, live)}
