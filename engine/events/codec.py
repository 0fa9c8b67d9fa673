"""The table's events as plain data: through JSON and back without loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeAlias, get_args

from engine.book import decode_book_event, encode_book_event
from engine.events.hands import BookSaid, HandEvent, Played, SessionSaid
from engine.events.machine import MachineEvent
from engine.events.opening import OpeningEvent
from engine.match.events import CODEC as MATCH_CODEC
from engine.plain import EventError
from engine.play.events import decode_play_event, encode_play_event

Event: TypeAlias = MachineEvent | OpeningEvent | HandEvent

EVENT_TYPES: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Event)}


_WITHIN: Mapping[type[Any], tuple[Callable[[Any], dict[str, Any]], Callable[[Any], Any]]] = {
    SessionSaid: (MATCH_CODEC.encode, MATCH_CODEC.decode),
    BookSaid: (encode_book_event, decode_book_event),
    Played: (encode_play_event, decode_play_event),
}
"""Events that carry one of a machine within the table's: how that one is written and read."""


def encode_event(event: Event) -> dict[str, Any]:
    """The event as plain JSON data: its type's name under `type` and its fields beside it."""
    body: dict[str, Any] = {"type": type(event).__name__}
    within = _WITHIN.get(type(event))
    if within is not None:
        return {**body, "event": within[0](getattr(event, "event"))}  # noqa: B009
    for item in fields(event):
        body[item.name] = _plain(getattr(event, item.name))
    return body


def decode_event(body: Mapping[str, Any]) -> Event:
    """The event of a record; EventError names an unknown type or a field too many or missing.

    A field with a usual value may be missing, as it is in records from before there was such a field.
    """
    name = body.get("type")
    kind = EVENT_TYPES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise EventError(f"unknown event type {name!r}")
    known = {item.name for item in fields(kind)}
    given = set(body) - {"type"}
    usual = {item.name for item in fields(kind) if item.default is not MISSING}
    if given - known or known - given - usual:
        raise EventError(f"{name}: fields {sorted(known ^ given)} are missing or unknown")
    within = _WITHIN.get(kind)
    if within is not None:
        wrapped: Event = kind(within[1](body["event"]))
        return wrapped
    event: Event = kind(**{key: _frozen(body[key]) for key in given})
    return event


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    return value
