"""What has happened at a table: the events that `decide` makes, `apply` folds and the journal keeps.

`encode_event` and `decode_event` carry them through JSON without loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias, get_args

from engine.dice import Dice


class EventError(ValueError):
    """A record that is no event of this engine; the message names the type or field."""


@dataclass(frozen=True, slots=True)
class MatchStarted:
    """A match begins; the fields of `StartMatch` with the layout filled in."""

    rules: str
    options: Mapping[str, Any]
    layout: str
    sensing: str
    dice: str
    aid: str
    sets: tuple[str, ...]
    hands: int
    object_ms: int
    take_pace_ms: int


@dataclass(frozen=True, slots=True)
class MatchEnding:
    """No further hand will be dealt."""


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """The last hand is over and its tiles are inside."""


@dataclass(frozen=True, slots=True)
class PhaseEntered:
    """The table goes on to another phase of `engine.state.PHASES`."""

    phase: str


@dataclass(frozen=True, slots=True)
class SortBegun:
    """A set of tiles that lies inside is to be sorted and stacked; attempts count from 1."""

    set: int
    hand: int
    attempt: int


@dataclass(frozen=True, slots=True)
class SetSorted:
    """A set stands stacked and complete."""

    set: int


@dataclass(frozen=True, slots=True)
class SetMiscounted:
    """A sorted set has a wrong number of tiles: `[side, counted, expected]` of each wrong side."""

    set: int
    sides: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class LiftPressed:
    """The players want the centre up."""

    seat: str


@dataclass(frozen=True, slots=True)
class CentreRaised:
    """The centre is up: tiles can be pushed in."""


@dataclass(frozen=True, slots=True)
class TilesPushed:
    """The players say that all tiles are in."""

    seat: str


@dataclass(frozen=True, slots=True)
class CentreLowered:
    """The centre is down and what lay on the felt is inside."""


@dataclass(frozen=True, slots=True)
class WallsRaised:
    """A sorted set stands on the felt."""

    set: int


@dataclass(frozen=True, slots=True)
class WallRead:
    """The readers' content of one side's wall in the order of the notation, `??` where illegible; secret."""

    side: str
    tiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WallRejected:
    """The four sides as read are no set of these rules (`sets_mixed`) or not legible (`reader_blind`): read again."""

    fault: str


@dataclass(frozen=True, slots=True)
class RowsLaid:
    """八卦: the stacks are pushed forward and the rows laid (R5)."""


@dataclass(frozen=True, slots=True)
class RollWanted:
    """A throw is asked for: purpose `dealer` | `deal` | `door` | `gold`; `thrower` empty when anybody may."""

    purpose: str
    nth: int
    thrower: str


@dataclass(frozen=True, slots=True)
class RollBegun:
    """Somebody throws (button or key); the dice spin, or, thrown by hand, are to be entered."""

    by: str


@dataclass(frozen=True, slots=True)
class RollSpoilt:
    """A throw gave nothing to count: `cocked`, `ambiguous`, `nobody_saw`; the same seat throws again (R1)."""

    reason: str


@dataclass(frozen=True, slots=True)
class DiceLie:
    """The dice have come to rest but the board cannot read them."""


@dataclass(frozen=True, slots=True)
class DiceEntered:
    """A person has entered the faces that lie there; the others may object."""

    by: str
    dice: Dice


@dataclass(frozen=True, slots=True)
class DiceAgreed:
    """A seat has looked at the entered faces and agrees; when all others have, nobody can object any more."""

    by: str


@dataclass(frozen=True, slots=True)
class DiceObjected:
    """The entered faces are disputed or taken back; they are entered again."""

    by: str


@dataclass(frozen=True, slots=True)
class DiceLost:
    """The power went in a throw: people say what they saw."""


@dataclass(frozen=True, slots=True)
class DiceWitnessed:
    """After a lost throw a seat says what it saw: faces, or None for nothing."""

    seat: str
    dice: Dice | None


@dataclass(frozen=True, slots=True)
class DiceRolled:
    """A throw counts: who threw, the faces, how they are known (`read` | `entered` | `agreed` | `witnessed`)."""

    purpose: str
    by: str
    dice: Dice
    how: str


@dataclass(frozen=True, slots=True)
class DealerChosen:
    """R3: the first hand's dealer."""

    seat: str


@dataclass(frozen=True, slots=True)
class HandSeen:
    """What the readers see in one zone of a seat; secret for `hand`."""

    seat: str
    zone: str
    tiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TakeShown:
    """Sensing none: the guide moves on to the next take."""

    n: int


@dataclass(frozen=True, slots=True)
class TakeDone:
    """A take is in its hand: its number from 1; `tiles` where they are read (secret)."""

    n: int
    tiles: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class TakingDone:
    """Sensing none: somebody says that everything has been taken."""

    by: str


@dataclass(frozen=True, slots=True)
class HandAccepted:
    """A seat says that its hand is as the readers see it; kept as a correction (secret)."""

    seat: str
    tiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FlowerDeclared:
    """Sensing none: a seat has laid out a flower."""

    seat: str
    tile: str


@dataclass(frozen=True, slots=True)
class FlowerWithdrawn:
    """Sensing none: a seat takes a flower entry back."""

    seat: str
    tile: str


@dataclass(frozen=True, slots=True)
class TailShifted:
    """Sensing none: people say that one tile more (1) or less (-1) has gone from the tail."""

    seat: str
    by: int


@dataclass(frozen=True, slots=True)
class FlowerTurn:
    """R7: it is a seat's turn to replace flowers; `place` counts from the dealer, 0-3."""

    round: int
    place: int


@dataclass(frozen=True, slots=True)
class FlowersReplaced:
    """R7: a seat has laid its flowers out and taken as many tiles; `tiles` is secret."""

    round: int
    seat: str
    flowers: tuple[str, ...]
    positions: tuple[str, ...]
    tiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FlowersDone:
    """Nobody holds a flower; `by` names who said so where flowers are not read."""

    by: str


@dataclass(frozen=True, slots=True)
class GoldCounted:
    """R8: the positions counted from the tail; the last one is to be flipped."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GoldEntered:
    """Sensing none: the thrower has entered the flipped face; the others may object."""

    by: str
    tile: str


@dataclass(frozen=True, slots=True)
class GoldAgreed:
    """A seat has looked at the entered face and agrees."""

    by: str


@dataclass(frozen=True, slots=True)
class GoldObjected:
    """The entered face is disputed or taken back."""

    by: str


@dataclass(frozen=True, slots=True)
class GoldPassed:
    """A flipped tile that is not the gold: a flower (R8: `to` the dealer, or staying in the wall), or R9's third."""

    position: str
    tile: str
    why: str
    to: str


@dataclass(frozen=True, slots=True)
class NextFlipped:
    """R8: the next tile away from the tail is flipped instead."""

    position: str


@dataclass(frozen=True, slots=True)
class GoldOpened:
    """The gold is known: the flipped tile (under R10 an indicator), the gold's face, what 白板 stands for (R12)."""

    position: str
    tile: str
    face: str
    white: str | None


@dataclass(frozen=True, slots=True)
class OpeningBegun:
    """R25's window opens; `claims` are all valid ones, strongest first (secret)."""

    claims: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class OpeningAnswered:
    """A seat has claimed a way in the window, or passed (empty)."""

    seat: str
    way: str


@dataclass(frozen=True, slots=True)
class HandEnded:
    """A hand is over: the winner and way of an opening (R25, R26), or none; who deals next."""

    winner: str
    way: str
    tiles: tuple[str, ...] | None
    next_dealer: str
    streak: int


@dataclass(frozen=True, slots=True)
class OperationBroken:
    """An operation failed; people are asked before it is tried again. `step` names it (`sort-1`)."""

    step: str
    verb: str
    fault: str
    side: str


@dataclass(frozen=True, slots=True)
class OperationRetried:
    """Somebody says that a failed operation can be tried again: a new attempt."""

    step: str
    by: str


@dataclass(frozen=True, slots=True)
class UnaskedThrow:
    """Dice were thrown that nobody asked for; shown, never counted."""

    dice: Dice | None


@dataclass(frozen=True, slots=True)
class FaultNoted:
    """The machine reports a fault."""

    code: str
    severity: str
    mechanism: str
    side: str


@dataclass(frozen=True, slots=True)
class FaultGone:
    """A reported fault is over."""

    code: str
    side: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The emergency stop is latched; the first reason is kept."""

    reason: str


@dataclass(frozen=True, slots=True)
class ReleaseWanted:
    """A person at the table clears the stop; the machine is asked to."""

    by: str


@dataclass(frozen=True, slots=True)
class Released:
    """The emergency stop is cleared by a person."""


Event: TypeAlias = (
    MatchStarted
    | MatchEnding
    | MatchEnded
    | PhaseEntered
    | SortBegun
    | SetSorted
    | SetMiscounted
    | LiftPressed
    | CentreRaised
    | TilesPushed
    | CentreLowered
    | WallsRaised
    | WallRead
    | WallRejected
    | RowsLaid
    | RollWanted
    | RollBegun
    | RollSpoilt
    | DiceLie
    | DiceEntered
    | DiceAgreed
    | DiceObjected
    | DiceLost
    | DiceWitnessed
    | DiceRolled
    | DealerChosen
    | HandSeen
    | TakeShown
    | TakeDone
    | TakingDone
    | HandAccepted
    | FlowerDeclared
    | FlowerWithdrawn
    | TailShifted
    | FlowerTurn
    | FlowersReplaced
    | FlowersDone
    | GoldCounted
    | GoldEntered
    | GoldAgreed
    | GoldObjected
    | GoldPassed
    | NextFlipped
    | GoldOpened
    | OpeningBegun
    | OpeningAnswered
    | HandEnded
    | OperationBroken
    | OperationRetried
    | UnaskedThrow
    | FaultNoted
    | FaultGone
    | Stopped
    | ReleaseWanted
    | Released
)

EVENT_TYPES: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Event)}


def encode_event(event: Event) -> dict[str, Any]:
    """The event as plain JSON data: its type's name under `type` and its fields beside it."""
    body: dict[str, Any] = {"type": type(event).__name__}
    for item in fields(event):
        body[item.name] = _plain(getattr(event, item.name))
    return body


def decode_event(body: Mapping[str, Any]) -> Event:
    """The event of a record; EventError names an unknown type or a field too many or missing."""
    name = body.get("type")
    kind = EVENT_TYPES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise EventError(f"unknown event type {name!r}")
    known = {item.name for item in fields(kind)}
    given = set(body) - {"type"}
    if known != given:
        raise EventError(f"{name}: fields {sorted(known ^ given)} are missing or unknown")
    event: Event = kind(**{key: _frozen(body[key]) for key in known})
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
