"""Frozen records through JSON without loss: each under its type's name, tuples as lists, records within records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any


class PlainError(ValueError):
    """JSON data that is no record of the kinds expected; the message names the type or field."""


class EventError(ValueError):
    """A record that is no event of this engine; the message names the type or field."""


class Codec:
    """Encodes and decodes the records of some types, each known by its name."""

    __slots__ = ("types",)

    def __init__(self, types: Iterable[type[Any]]) -> None:
        self.types = {kind.__name__: kind for kind in types}

    def encode(self, record: Any) -> dict[str, Any]:
        """The record as plain JSON data: its type's name under `type` and its fields beside it."""
        body = _plain(record)
        if not isinstance(body, dict) or type(record).__name__ not in self.types:
            raise PlainError(f"{type(record).__name__} is no record of these kinds")
        return body

    def decode(self, body: Mapping[str, Any]) -> Any:
        """The record that `encode` wrote; PlainError names an unknown type or a field too many or missing."""
        if not isinstance(body, Mapping) or "type" not in body:
            raise PlainError("expected a record with its type")
        return self._record(body)

    def _record(self, body: Mapping[str, Any]) -> Any:
        name = body["type"]
        kind = self.types.get(name) if isinstance(name, str) else None
        if kind is None:
            raise PlainError(f"unknown type {name!r}")
        known = {item.name for item in fields(kind)}
        given = set(body) - {"type"}
        if known != given:
            raise PlainError(f"{name}: fields {sorted(known ^ given)} are missing or unknown")
        return kind(**{key: self._value(body[key]) for key in known})

    def _value(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return tuple(self._value(item) for item in value)
        if isinstance(value, Mapping):
            return self._record(value) if "type" in value else {key: self._value(part) for key, part in value.items()}
        return value


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {
            "type": type(value).__name__,
            **{item.name: _plain(getattr(value, item.name)) for item in fields(value)},
        }
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value
