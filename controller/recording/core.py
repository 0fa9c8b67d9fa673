"""Listens at the core: every input that reaches it, from whom, and the events that it was decided to mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, Final, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from controller.recording.writer import StreamWriter
from engine import inputs as i
from engine.events import Event, encode_event

BOARD: Final = (
    i.OperationDone, i.OperationFailed, i.OperationUnknown, i.KeyPressed, i.ZoneSeen, i.TileFlipped, i.RowLaid,
    i.DiceUnasked, i.FaultRaised, i.FaultCleared, i.StopLatched, i.StopCleared,
)  # fmt: skip
"""Inputs that follow from what boards say; all others come from people or from the clock."""

_INPUTS: Final = {kind.__name__: kind for kind in get_args(i.Input)}

NOTES: Final = ("times:", "throw:", "sent:")
"""Notes of the journal that the hardware driver goes by, by how their keys begin."""


def source_of(happened: i.Input) -> str:
    """`board`, `timer` or `people`."""
    if isinstance(happened, BOARD):
        return "board"
    return "timer" if isinstance(happened, i.TimerElapsed) else "people"


def encode_input(happened: i.Input) -> dict[str, Any]:
    """An input as plain JSON data: its kind under `type`, and its fields."""
    body: dict[str, Any] = to_jsonable_python(happened, fallback=str)
    return {"type": type(happened).__name__, **body}


def decode_input(body: Mapping[str, Any]) -> i.Input:
    """The input that `encode_input` wrote; ValueError names the kind or field that is none.

    A field that this version does not know, or that is empty where it has a default, may be of another version.
    """
    kind = _INPUTS.get(str(body.get("type")))
    if kind is None:
        raise ValueError(f"unknown input {body.get('type')!r:.40}")
    parts = {part.name: (part.default, part.default_factory) != (MISSING, MISSING) for part in fields(kind)}
    told = {
        key: value for key, value in body.items() if key in parts and not (parts[key] and value in ([], {}, ""))
    }
    try:
        made: i.Input = _adapter(kind).validate_python(told)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{body['type']}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    return made


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


class CoreTap:
    """Records the core of one start."""

    def __init__(self, stream: StreamWriter) -> None:
        self._stream = stream

    def fed(self, happened: i.Input, seat: str, id: str, asked: bool) -> None:
        """An input has come and waits for its turn; `id` that of a seat's, `asked` where its answer is waited for."""
        said = {"from": source_of(happened)}
        if seat:
            said |= {"seat": seat, "id": id}
        elif asked:
            said["asked"] = "1"
        self._stream.put(lambda: {"in": encode_input(happened), **said})

    def decided(self, events: Sequence[Event]) -> None:
        """Events are on the disk."""
        kept = tuple(events)
        self._stream.put(lambda: {"out": [encode_event(event) for event in kept]})

    def refused(self, happened: i.Input, code: str) -> None:
        """The engine has refused an input."""
        self._stream.put({"out": [], "refused": code, "input": type(happened).__name__})
