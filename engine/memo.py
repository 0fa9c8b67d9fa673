"""What was worked out of the last few values, remembered by the very values: a state is asked many times over."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Value = TypeVar("Value")
Found = TypeVar("Found")


def by_identity(keep: int) -> Callable[[Callable[[Value], Found]], Callable[[Value], Found]]:
    """Remembers a pure function's results for the last `keep` arguments, which must be frozen."""

    def remembering(function: Callable[[Value], Found]) -> Callable[[Value], Found]:
        known: list[tuple[Value, Found]] = []

        @wraps(function)
        def remembered(value: Value) -> Found:
            for past, found in known:
                if past is value:
                    return found
            found = function(value)
            known.insert(0, (value, found))
            del known[keep:]
            return found

        return remembered

    return remembering
