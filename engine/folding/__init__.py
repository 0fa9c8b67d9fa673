"""`apply`: how each event changes the state. Total for every event that `decide` made on that state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine import events as e
from engine.folding.hands import HAND_FOLDS
from engine.folding.machine import MACHINE_FOLDS
from engine.folding.opening import OPENING_FOLDS
from engine.state import State

__all__ = ["apply"]

_FOLDS: Mapping[type[Any], Callable[[State, Any], State]] = {**MACHINE_FOLDS, **OPENING_FOLDS, **HAND_FOLDS}


def apply(state: State, event: e.Event) -> State:
    """The state after an event."""
    changed: State = _FOLDS[type(event)](state, event)
    return changed
