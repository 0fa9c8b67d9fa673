"""A whole state as JSON data and back without loss, by the types of its fields: what a start goes on from.

`decode(encode(state)) == state`, and what follows from either is the same. A record is an object of its fields; where
several kinds of records may stand, its kind is under `$`. Rulesets are written once each, and named by their place.
A field that is not there takes its default, so that a state may gain fields; anything else is a SnapshotError.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, Final, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from engine.ruleset import Ruleset
from engine.state import State

VERSION: Final = 1
"""Of the shape of a snapshot; one more where a state of before can no longer be read as one of today."""

_KIND: Final = "$"


class SnapshotError(ValueError):
    """Data that is no state of this engine; the message names the record or field."""


class _Rules:
    """The rulesets of one snapshot, each once."""

    def __init__(self, told: list[Any] | None = None) -> None:
        self.told: list[Any] = []
        self._places: dict[int, int] = {}
        self._held: list[Ruleset] = []
        for one in told or []:
            self._held.append(Ruleset.model_validate(one))

    def place(self, rules: Ruleset) -> int:
        """Under which number a ruleset is written."""
        found = self._places.get(id(rules))
        if found is None:
            found = next((place for place, held in enumerate(self._held) if held == rules), len(self._held))
            if found == len(self._held):
                self._held.append(rules)
                self.told.append(rules.model_dump(mode="json", exclude_none=True))
            self._places[id(rules)] = found
        return found

    def at(self, place: int) -> Ruleset:
        """The ruleset of a number."""
        if not 0 <= place < len(self._held):
            raise SnapshotError(f"there is no ruleset {place}")
        return self._held[place]


_Encoder: TypeAlias = Callable[[Any, _Rules], Any]
_Decoder: TypeAlias = Callable[[Any, _Rules], Any]
_Coding: TypeAlias = tuple[_Encoder, _Decoder]


def encode(state: State) -> dict[str, Any]:
    """The state as plain JSON data."""
    rules = _Rules()
    told = _coding(State)[0](state, rules)
    return {"version": VERSION, "rules": rules.told, "state": told}


def decode(body: Mapping[str, Any]) -> State:
    """The state that `encode` wrote; SnapshotError for any other data, and for one of another version."""
    try:
        if body["version"] != VERSION:
            raise SnapshotError(f"a snapshot of version {body['version']!r}; this engine reads {VERSION}")
        state = _coding(State)[1](body["state"], _Rules(body["rules"]))
    except SnapshotError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise SnapshotError(f"no state: {type(error).__name__}: {str(error)[:200]}") from None
    assert isinstance(state, State)
    return state


@cache
def _coding(kind: Any) -> _Coding:
    """How a type is written and read."""
    if kind is Ruleset:
        return (lambda value, rules: rules.place(value)), (lambda value, rules: rules.at(value))
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _union(inner)
    if origin is tuple:
        return _tuple(inner)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(*inner)
    if origin is Literal:
        return _plain(frozenset(type(value) for value in inner))
    if is_dataclass(kind) and isinstance(kind, type):
        return _record(kind)
    if kind in (Any, object):
        return _thaw, (lambda value, _: _freeze(value))
    if kind in (str, int, bool, float, type(None)):
        return _plain(frozenset({kind}))
    raise TypeError(f"a state holds a {kind}, which no snapshot knows")


def _plain(kinds: frozenset[type[Any]]) -> _Coding:
    def read(value: Any, _: _Rules) -> Any:
        if type(value) not in kinds:
            raise SnapshotError(f"{value!r} is no {' or '.join(sorted(kind.__name__ for kind in kinds))}")
        return value

    return (lambda value, _: value), read


def _tuple(inner: tuple[Any, ...]) -> _Coding:
    if len(inner) == 2 and inner[1] is Ellipsis:
        write, read = _coding(inner[0])
        return (
            lambda value, rules: [write(item, rules) for item in value],
            lambda value, rules: tuple([read(item, rules) for item in _a_list(value)]),
        )
    codings = [_coding(kind) for kind in inner]
    return (
        lambda value, rules: [coding[0](item, rules) for coding, item in zip(codings, value, strict=True)],
        lambda value, rules: tuple(
            [coding[1](item, rules) for coding, item in zip(codings, _a_list(value), strict=True)]
        ),
    )


def _mapping(key: Any, inner: Any) -> _Coding:
    """A mapping as an object; as a list of pairs where its keys are no text."""
    write, read = _coding(inner)
    if key is str:
        return (
            lambda value, rules: {name: write(item, rules) for name, item in value.items()},
            lambda value, rules: {name: read(item, rules) for name, item in value.items()},
        )
    write_key, read_key = _coding(key)
    return (
        lambda value, rules: [[write_key(name, rules), write(item, rules)] for name, item in value.items()],
        lambda value, rules: {read_key(name, rules): read(item, rules) for name, item in _a_list(value)},
    )


def _union(inner: tuple[Any, ...]) -> _Coding:
    """`None` and one kind, several plain kinds, or several kinds of records."""
    rest = [kind for kind in inner if kind is not type(None)]
    if len(rest) == 1:
        write, read = _coding(rest[0])
        return (
            lambda value, rules: None if value is None else write(value, rules),
            lambda value, rules: None if value is None else read(value, rules),
        )
    if all(kind in (str, int, bool, float) for kind in rest):
        return _plain(frozenset(inner))
    kinds = {kind.__name__: _coding(kind) for kind in rest}
    return (
        lambda value, rules: (
            None
            if value is None
            else {_KIND: type(value).__name__, **kinds[type(value).__name__][0](value, rules)}
        ),
        lambda value, rules: (
            None
            if value is None
            else kinds[value[_KIND]][1]({key: item for key, item in value.items() if key != _KIND}, rules)
        ),
    )


def _record(kind: type[Any]) -> _Coding:
    hints = get_type_hints(kind)
    parts: list[tuple[str, Field[Any], _Coding]] = []

    def prepared() -> list[tuple[str, Field[Any], _Coding]]:
        # Not before it is used: kinds of records may hold one another.
        if not parts:
            parts.extend((item.name, item, _coding(hints[item.name])) for item in fields(kind))
        return parts

    def write(value: Any, rules: _Rules) -> Any:
        return {name: coding[0](getattr(value, name), rules) for name, _, coding in prepared()}

    def read(value: Any, rules: _Rules) -> Any:
        given = {}
        for name, item, coding in prepared():
            if name in value:
                given[name] = coding[1](value[name], rules)
            elif item.default is MISSING and item.default_factory is MISSING:
                raise SnapshotError(f"{kind.__name__} has no {name}")
        unknown = value.keys() - given.keys()
        if unknown:
            raise SnapshotError(f"{kind.__name__} knows no {', '.join(sorted(unknown))}")
        return kind(**given)

    return write, read


def _a_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise SnapshotError(f"{value!r} is no list")
    return value


def _thaw(value: Any, rules: _Rules) -> Any:
    """What has no type of its own is JSON data already, but for its tuples."""
    if isinstance(value, tuple | list):
        return [_thaw(item, rules) for item in value]
    if isinstance(value, Mapping):
        return {key: _thaw(item, rules) for key, item in value.items()}
    if value is not None and not isinstance(value, str | int | float):
        raise TypeError(f"a state holds a {type(value).__name__}, which no snapshot knows")
    return value


def _freeze(value: Any) -> Any:
    if isinstance(value, list):
        return tuple([_freeze(item) for item in value])
    if isinstance(value, dict):
        return {key: _freeze(item) for key, item in value.items()}
    return value
