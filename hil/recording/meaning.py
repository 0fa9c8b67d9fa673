"""What a message or an event means, so that two runs can be compared although tags, numbers and times differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from protocol.serial import messages as serial

QUERIES: Final[Mapping[type[Any], type[Any]]] = {
    serial.Identify: serial.Identity,
    serial.Ping: serial.Pong,
    serial.StatusQuery: serial.Status,
    serial.CountersQuery: serial.Counters,
    serial.SensorsQuery: serial.Sensors,
    serial.DiceQuery: serial.DiceFaces,
}
"""Questions that move nothing and how they are answered; how often they are asked is left to time."""

REQUESTS: Final[Mapping[type[Any], tuple[type[Any], ...]]] = {
    **{question: (answer,) for question, answer in QUERIES.items()},
    serial.SetGear: (serial.GearSet,),
    serial.VouchCentre: (serial.CentreVouched,),
    serial.ClearStop: (serial.StopCleared, serial.StopLatched),
}
"""Everything that carries a request number."""

SHOWS: Final = (serial.Lamp, serial.LampsOff, serial.Buzzer)
"""What is only shown: compared, but nothing waits for it."""

REPAIR: Final = (serial.Jog, serial.SelfTest, serial.ServiceEnd)
"""What only a repairer's commands send; these commands are no part of a recording."""

_IN_TIME: Final = frozenset({"now_ms", "usual_ms"})
"""Fields of events that tell how long something took."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not as it was: `at` seconds into the recording, in which stream, what was and what is."""

    at: float
    where: str
    expected: str
    got: str

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {"at": round(self.at, 3), "where": self.where, "expected": self.expected, "got": self.got}

    def __str__(self) -> str:
        return f"{self.at:.3f} s, {self.where}: expected {self.expected}, got {self.got}"


NOTHING: Final = "nothing"


def of_message(message: serial.Message) -> str:
    """A message by name and values, without the number of a request and the host's name."""
    skipped = {"req", "host"}
    told = " ".join(
        f"{part.name}={_word(getattr(message, part.name))}" for part in fields(message) if part.name not in skipped
    )
    return f"{type(message).__name__} {told}".rstrip()


def of_event(event: Mapping[str, Any]) -> str:
    """An event of the journal by name and values, without times."""
    values = {key: value for key, value in event.items() if key != "type" and key not in _IN_TIME}
    return f"{event['type']} {json.dumps(values, ensure_ascii=False, sort_keys=True)}"


def alike(expected: str, got: str) -> bool:
    """Whether two things mean the same; of records of different versions, as far as both know their fields."""
    if expected == got:
        return True
    name, _, before = expected.partition(" ")
    other, _, now = got.partition(" ")
    if name != other or not before.startswith("{") or not now.startswith("{"):
        return False
    return _alike({"type": name, **json.loads(before)}, {"type": name, **json.loads(now)})


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict) and one.get("type") is not None:
        return all(_alike(one[key], other[key]) for key in one.keys() & other.keys())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other)


def channel_of(message: serial.Message) -> str:
    """In which stream of its line a message of the daemon is compared, or none.

    The dice, a sort inside and everything else run beside each other: which of them is asked for first is left to time.
    """
    if type(message) in QUERIES or isinstance(message, REPAIR):
        return ""
    if isinstance(message, serial.DiceRoll):
        return "dice"
    if isinstance(message, serial.SortStart | serial.SortStop | serial.SetGear):
        return "sorting"
    return "lamps" if isinstance(message, SHOWS) else "operations"


def _word(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
