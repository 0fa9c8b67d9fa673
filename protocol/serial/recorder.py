"""The flight recorder: the last frames each way, written out when the link fails, hidden tiles left out."""

import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from protocol.serial.frames import Frame, FrameError, FrameKind
from protocol.serial.messages import (
    CATALOGUE,
    DiceRoll,
    Message,
    OpResult,
    SelfTest,
    SortStart,
    TileFlipped,
    decode_message,
)
from protocol.serial.wire import MessageError, Tile, Tiles

FLIGHT_LENGTH: Final = 200
"""Frames kept each way."""

OPEN: Final = frozenset({TileFlipped})
"""Messages that tell a tile which everybody sees; the tiles of all others are hidden."""

_HIDDEN: Final = {
    spec.cls: tuple(field.name for field in spec.fields if isinstance(field.wire, Tiles | Tile))
    for spec in CATALOGUE
    if spec.cls not in OPEN
}

_PUBLIC: Final = frozenset(kind.__name__ for kind in (DiceRoll, SortStart, SelfTest))
_KNOWN: Final = {spec.cls.__name__: frozenset(_HIDDEN.get(spec.cls, ())) for spec in CATALOGUE}

Way = Literal["in", "out"]


@dataclass(frozen=True, slots=True)
class _Entry:
    number: int
    way: Way
    at: float
    item: Frame | FrameError


class FlightRecorder:
    """A ring of the last 200 frames each way with monotonic stamps; decoding waits until ``dump``."""

    def __init__(self, length: int = FLIGHT_LENGTH) -> None:
        self._rings: dict[Way, deque[_Entry]] = {"in": deque(maxlen=length), "out": deque(maxlen=length)}
        self._count = 0

    def heard(self, item: Frame | FrameError, now: float) -> None:
        """Something came in: a frame, or bytes that were none."""
        self._note("in", item, now)

    def said(self, frame: Frame, now: float) -> None:
        """A frame was handed to the writer."""
        self._note("out", frame, now)

    def dump(self, reveal: bool = False) -> list[dict[str, Any]]:
        """Both rings in the order of events, ready for JSON. ``reveal`` also tells the tiles of zones and walls."""
        entries = sorted((*self._rings["in"], *self._rings["out"]), key=lambda entry: entry.number)
        messages = {entry.number: _message_in(entry.item) for entry in entries}
        public = {message.op for message in messages.values() if isinstance(message, DiceRoll | SortStart | SelfTest)}
        return [_line(entry, messages[entry.number], reveal, public) for entry in entries]

    def _note(self, way: Way, item: Frame | FrameError, now: float) -> None:
        self._count += 1
        self._rings[way].append(_Entry(self._count, way, now, item))


def _message_in(item: Frame | FrameError) -> Message | MessageError | None:
    if isinstance(item, FrameError) or item.kind != FrameKind.DATA:
        return None
    try:
        return decode_message(item.payload)
    except MessageError as error:
        return error


def _line(entry: _Entry, message: Message | MessageError | None, reveal: bool, public: set[Any]) -> dict[str, Any]:
    line: dict[str, Any] = {"at": entry.at, "way": entry.way}
    item = entry.item
    if isinstance(item, FrameError):
        return {**line, "frame": "garbage", "error": item.kind, "length": item.length}
    line |= {
        "frame": item.kind.name,
        "sender": item.sender,
        "session": f"{item.session:08x}",
        "seq": item.seq,
        "ack": item.ack,
    }
    if isinstance(message, MessageError):
        return {**line, "message": "undecodable", "error": message.field}
    if message is not None:
        line["message"] = type(message).__name__
        line["fields"] = _told(message, reveal, public)
    return line


def _told(message: Message, reveal: bool, public: set[Any]) -> dict[str, Any]:
    values = {part.name: _plain(getattr(message, part.name)) for part in fields(message)}
    if reveal:
        return values
    for name in _HIDDEN.get(type(message), ()):
        hidden = getattr(message, name)
        values[name] = f"{len(hidden)} hidden" if isinstance(hidden, tuple) else "hidden"
    if isinstance(message, OpResult) and message.values and message.op not in public:
        values["values"] = f"{len(message.values)} bytes hidden"
    return values


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex(" ")
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def masked(lines: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A written recording with all hidden that `dump` hides, whoever wrote it; of unknown messages all fields."""
    entries = [dict(line) for line in lines]
    public = {str(_fields(entry).get("op")) for entry in entries if entry.get("message") in _PUBLIC}
    for entry in entries:
        if "message" not in entry or "fields" not in entry:
            continue
        told = _fields(entry)
        hidden = _KNOWN.get(str(entry["message"]), frozenset(told))
        if entry["message"] == OpResult.__name__ and str(told.get("op")) not in public:
            hidden |= {"values"}
        entry["fields"] = {name: _masked(value) if name in hidden else value for name, value in told.items()}
    return entries


def _fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    found = entry.get("fields")
    return found if isinstance(found, dict) else {}


def _masked(value: Any) -> Any:
    return value if value in ("", [], None) or re.fullmatch(r"(\d+ (bytes )?)?hidden", str(value)) else "hidden"
