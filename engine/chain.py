"""What deciding needs: the events decided so far, and the refusal of an input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.events import Event
from engine.folding import apply
from engine.state import State


class Refused(Exception):
    """An input that the table does not carry out: a code that displays word, the rule's number, parameters."""

    def __init__(self, code: str, rule: str = "", params: Mapping[str, Any] | None = None) -> None:
        super().__init__(code, rule, params)
        self.code = code
        self.rule = rule
        self.params = {} if params is None else params


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
