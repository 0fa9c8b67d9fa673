"""What several audiences need of the same state is worked out once: states never change, so the last one is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from engine.state import State
from engine.wants import Want, wants

_Found = TypeVar("_Found")


class Once(Generic[_Found]):
    """A function of a state that remembers its last answer."""

    def __init__(self, find: Callable[[State], _Found]) -> None:
        self._find = find
        self._last: tuple[State, _Found] | None = None

    def __call__(self, state: State) -> _Found:
        if self._last is None or self._last[0] is not state:
            self._last = (state, self._find(state))
        return self._last[1]


wanted: Once[tuple[Want, ...]] = Once(wants)
"""`engine.wants.wants`."""
