"""What deciding needs: the events decided so far and the state after them."""

from __future__ import annotations

from engine.chain import Refused
from engine.events import Event
from engine.folding import apply
from engine.state import State

__all__ = ["Chain", "Refused"]


class Chain:
    """Events decided so far and the state after them."""

    __slots__ = ("events", "state")

    def __init__(self, state: State) -> None:
        self.state = state
        self.events: list[Event] = []

    def add(self, event: Event) -> None:
        """One more event; the state follows at once."""
        self.events.append(event)
        self.state = apply(self.state, event)
