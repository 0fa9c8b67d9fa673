"""What has happened in play: events that `decide` makes and `apply` folds; they carry all that a replay needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias, get_args

from engine.plain import EventError


@dataclass(frozen=True, slots=True)
class NoFlowers:
    """R40: nobody had a flower after the deal; the dealer pays each so many points."""

    points: int


@dataclass(frozen=True, slots=True)
class OpeningPassed:
    """R25: nobody has won before the first discard; the dealer's turn."""


@dataclass(frozen=True, slots=True)
class TileDrawn:
    """A seat has drawn at the `head` or `tail` of the wall; the tile is secret unless it is a flower."""

    seat: str
    tile: str
    end: str


@dataclass(frozen=True, slots=True)
class FlowerReplaced:
    """R7: a flower laid out is to be replaced from the tail."""

    seat: str


@dataclass(frozen=True, slots=True)
class TileDiscarded:
    """A discard: `open`, a gold of a `tour`, or `ming` (face down, its tile secret).

    `ready`: the hand is youjin-ready now (secret); `unseen`: at the wall's end, a face nobody had seen (R27).
    """

    seat: str
    tile: str
    how: str
    ready: bool
    unseen: bool


@dataclass(frozen=True, slots=True)
class ClaimAnswered:
    """A seat has answered in a window: secret until it closes; `drop` is the tile dropped for an opening."""

    seat: str
    name: str
    tiles: tuple[str, ...]
    way: str
    drop: str


@dataclass(frozen=True, slots=True)
class WindowClosed:
    """R13: a window is over; `missed` are the seats that let the face pass for 碰 or 胡 (R14, secret)."""

    missed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeldLaid:
    """A meld: its tiles, the tile claimed from `source` or added, both empty for a 暗杠; `ready` as R24 says."""

    seat: str
    kind: str
    tiles: tuple[str, ...]
    tile: str
    source: str
    ready: bool


@dataclass(frozen=True, slots=True)
class KongShown:
    """R15: a 补杠 is announced and may be robbed."""

    seat: str
    tile: str


@dataclass(frozen=True, slots=True)
class LapPassed:
    """R23: a seat puts away what it drew in another's lap."""

    seat: str


@dataclass(frozen=True, slots=True)
class SeatCovered:
    """R39: a seat is out of the hand, for one of `COVER_REASONS`."""

    seat: str
    reason: str


@dataclass(frozen=True, slots=True)
class DealerFollowed:
    """R40: all three have followed the dealer's discard; he pays each so many points."""

    points: int


@dataclass(frozen=True, slots=True)
class HandWon:
    """One seat's win; `tile` empty where none came, `source` empty where nobody gave it, `drop` dropped for it."""

    seat: str
    way: str
    tile: str
    source: str
    after_kong: bool
    drop: str


@dataclass(frozen=True, slots=True)
class HandFouled:
    """R38: a false win laid open, and the other seats that were youjin-ready then."""

    seat: str
    kind: str
    ready: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlayEnded:
    """The hand is over: `win`, `draw` or `foul`; `pays_all` pays for all three, or empty (R27)."""

    kind: str
    pays_all: str


PlayEvent: TypeAlias = (
    NoFlowers
    | OpeningPassed
    | TileDrawn
    | FlowerReplaced
    | TileDiscarded
    | ClaimAnswered
    | WindowClosed
    | MeldLaid
    | KongShown
    | LapPassed
    | SeatCovered
    | DealerFollowed
    | HandWon
    | HandFouled
    | PlayEnded
)

PLAY_EVENTS: Mapping[str, type[Any]] = {kind.__name__: kind for kind in get_args(PlayEvent)}


def encode_play_event(event: PlayEvent) -> dict[str, Any]:
    """The event as plain JSON data: its type's name under `type` and its fields beside it."""
    body: dict[str, Any] = {"type": type(event).__name__}
    for item in fields(event):
        value = getattr(event, item.name)
        body[item.name] = list(value) if isinstance(value, tuple) else value
    return body


def decode_play_event(body: Mapping[str, Any]) -> PlayEvent:
    """The event of a record; EventError names an unknown type, a field too many or missing, or a value of no use."""
    name = body.get("type")
    kind = PLAY_EVENTS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise EventError(f"unknown event type {name!r}")
    known = {item.name: str(item.type) for item in fields(kind)}
    odd = sorted(set(known) ^ (set(body) - {"type"}))
    if odd:
        raise EventError(f"{name}: fields {odd} are missing or unknown")
    event: PlayEvent = kind(**{field: _value(name, field, known[field], body[field]) for field in known})
    return event


def _value(name: Any, field: str, kind: str, value: Any) -> Any:
    if kind.startswith("tuple"):
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
    elif type(value).__name__ == kind:
        return value
    raise EventError(f"{name}.{field}: {value!r}; expected {'a list of texts' if kind.startswith('tuple') else kind}")
