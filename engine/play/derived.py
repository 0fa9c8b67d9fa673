"""What a value works out once and keeps: `functools.cached_property` without its lock, as a hand has thousands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class derived(Generic[Value]):
    """A method read like a field; its value lies in the `__dict__` of its owner under its own name from then on."""

    def __init__(self, work_out: Callable[[Any], Value]) -> None:
        self._work_out = work_out
        self._name = work_out.__name__
        self.__doc__ = work_out.__doc__

    @overload
    def __get__(self, owner: None, kind: type[Any]) -> derived[Value]: ...

    @overload
    def __get__(self, owner: object, kind: type[Any]) -> Value: ...

    def __get__(self, owner: object | None, kind: type[Any]) -> Value | derived[Value]:
        if owner is None:
            return self
        found = owner.__dict__[self._name] = self._work_out(owner)
        return found
