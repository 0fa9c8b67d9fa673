"""The flight recorder: the last frames each way, written out when the link fails, hidden tiles left out."""

from collections import deque
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from protocol.serial.frames import Frame, FrameError, FrameKind
from protocol.serial.messages import (
    DiceRoll,
    Message,
    OpResult,
    SortStart,
    Zone,
    decode_message,
)
from protocol.serial.wire import MessageError

FLIGHT_LENGTH: Final = 200
"""Frames kept each way."""

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
        public = {message.op for message in messages.values() if isinstance(message, DiceRoll | SortStart)}
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
    if isinstance(message, Zone):
        values["tiles"] = f"{len(message.tiles)} hidden"
    if isinstance(message, OpResult) and message.values and message.op not in public:
        values["values"] = f"{len(message.values)} bytes hidden"
    return values


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex(" ")
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | None) else str(value)
