"""Matches walked through at a table, and what its journal would hold of them: the session's events and the records."""

from __future__ import annotations

from typing import Any

from engine import events as e
from engine import inputs as i
from engine.export import hand_record
from engine.folding import apply
from engine.match.events import MatchEvent
from engine.state import State
from engine.table import wants
from engine.wants import Want
from tests.engine.walker import Walker


def play_taking_back(walker: Walker) -> None:
    """One match to its end, in which two seats have the first hand that they can taken back."""
    walker.run(until=lambda state: bool(_undos(state)))
    for seat in ("E", "W"):
        walker.feed(i.SeatAction(seat, str(_undos(walker.state)[seat].id), "undo", {}))
    for _ in range(20_000):
        if walker.state.phase == "ended":
            return
        walker.step()
    raise AssertionError(f"the match does not end: phase {walker.state.phase}")


def _undos(state: State) -> dict[str, Want]:
    """What asks each seat whether the last booking stands."""
    return {want.seat: want for want in wants(state) if want.verb == "undo"}


class Evening:
    """A table's matches; `texts` are the records of all hands in the order of their bookings."""

    def __init__(self, rules: str, sensing: str, seed: int, hands: int = 3, **more: Any) -> None:
        self.said: list[MatchEvent] = []
        self.texts: list[str] = []
        self.walker = Walker(rules=rules, sensing=sensing, seed=seed, hands=hands, watch=self._see, **more)

    def play(self, taking_back: bool = False) -> State:
        """One match to its end."""
        if taking_back:
            play_taking_back(self.walker)
        else:
            self.walker.run()
        return self.walker.state

    def _see(self, before: State, events: tuple[e.Event, ...], after: State) -> None:
        state = before
        for event in events:
            if isinstance(event, e.SessionSaid):
                self.said.append(event.event)
            if isinstance(event, e.HandEnded | e.HandRebooked):
                self.texts.append(hand_record(state))
            state = apply(state, event)
        assert state == after
