"""What has happened at a table: the events that `decide` makes, `apply` folds and the journal keeps.

`encode_event` and `decode_event` carry them through JSON without loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias, get_args

from engine.book import BookEvent, decode_book_event, encode_book_event
from engine.dice import Dice
from engine.match.events import CODEC as MATCH_CODEC
from engine.match.events import MatchEvent
from engine.plain import EventError
from engine.play.events import PlayEvent, decode_play_event, encode_play_event

__all__ = ["Event", "EventError", "decode_event", "encode_event"]


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
    agree_ms: int


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
class SessionSaid:
    """Something happened in the session of matches: players, seats, bookings (`engine.match.events`)."""

    event: MatchEvent


@dataclass(frozen=True, slots=True)
class BookSaid:
    """Something happened in the book of a hand that people tell (`engine.book.events`); what a seat entered is secret
    until it is shown."""

    event: BookEvent


@dataclass(frozen=True, slots=True)
class PlayBegun:
    """The gold is known and the hands are complete: play begins from the tiles as they lie."""


@dataclass(frozen=True, slots=True)
class SeatPlayed:
    """What a seat does in play, with the fields of `engine.play.Action`; secret while a window is open."""

    seat: str
    name: str
    tile: str
    tiles: tuple[str, ...]
    way: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class WindowTimeUp:
    """The time of an open window is over: who has not answered has passed (R13)."""


@dataclass(frozen=True, slots=True)
class Played:
    """Something happened in play (`engine.play.events`), a draw once it has been seen; the tiles drawn are secret."""

    event: PlayEvent


@dataclass(frozen=True, slots=True)
class ZoneAccepted:
    """A seat says what lies in one of its zones, against its reader: a correction, kept as such (secret)."""

    seat: str
    zone: str
    tiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WallCorrected:
    """A tile that was drawn is another than the wall's readers said: `(position, face)` as they are now (secret)."""

    seat: str
    tiles: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class CountDoubted:
    """What a seat's reader shows does not go with the hand for a while: that seat alone is asked (R39)."""

    seat: str
    zone: str


@dataclass(frozen=True, slots=True)
class CountRight:
    """A doubted zone shows again what it should."""

    seat: str
    zone: str


@dataclass(frozen=True, slots=True)
class DiscardRefused:
    """A discard that lies there is not allowed (R16, R17, R23): the seat is to take it back."""

    seat: str
    tile: str
    code: str
    rule: str


@dataclass(frozen=True, slots=True)
class UndoAsked:
    """A seat wants the last booking taken back; a second seat must want it too."""

    seat: str


@dataclass(frozen=True, slots=True)
class UndoKept:
    """A seat wants the last booking to stay."""

    seat: str


@dataclass(frozen=True, slots=True)
class HandReopened:
    """The last booking has been taken back: the hand's book is open again."""


@dataclass(frozen=True, slots=True)
class HandRebooked:
    """A reopened hand is booked anew; the table goes on where it was."""

    next_dealer: str
    streak: int


@dataclass(frozen=True, slots=True)
class SeatsTaken:
    """Everybody sits where the draw or the swap has put him (R2)."""

    by: str


@dataclass(frozen=True, slots=True)
class SwapAsked:
    """R2: a seat uses its player's right to a swap; its throw decides."""

    seat: str
    right: str
    player: str


@dataclass(frozen=True, slots=True)
class HandDropped:
    """The match has ended before the hand was dealt: the walls that stand are to be pushed in."""


@dataclass(frozen=True, slots=True)
class MinutePassed:
    """One minute more of the match has gone by on the table's clock."""

    minutes: int


@dataclass(frozen=True, slots=True)
class PauseWanted:
    """The floor pauses the match after this hand, or lets it go on."""

    on: bool


@dataclass(frozen=True, slots=True)
class ParkWanted:
    """The table is to finish its cycle and park, with the reason (`command`, `key`, `power`, `time`, `fault`)."""

    reason: str


@dataclass(frozen=True, slots=True)
class Parked:
    """Nothing moves and the centre is closed; the match is kept for later."""


@dataclass(frozen=True, slots=True)
class Unparked:
    """Somebody lets the table go on."""

    by: str


@dataclass(frozen=True, slots=True)
class HandEnded:
    """A hand is over and booked: who won how, or nobody; who deals next, how often the same has dealt before it."""

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
    | SessionSaid
    | BookSaid
    | PlayBegun
    | SeatPlayed
    | WindowTimeUp
    | Played
    | ZoneAccepted
    | WallCorrected
    | CountDoubted
    | CountRight
    | DiscardRefused
    | UndoAsked
    | UndoKept
    | HandReopened
    | HandRebooked
    | SeatsTaken
    | SwapAsked
    | HandDropped
    | MinutePassed
    | PauseWanted
    | ParkWanted
    | Parked
    | Unparked
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
    """The event of a record; EventError names an unknown type or a field too many or missing."""
    name = body.get("type")
    kind = EVENT_TYPES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise EventError(f"unknown event type {name!r}")
    known = {item.name for item in fields(kind)}
    given = set(body) - {"type"}
    if known != given:
        raise EventError(f"{name}: fields {sorted(known ^ given)} are missing or unknown")
    within = _WITHIN.get(kind)
    if within is not None:
        wrapped: Event = kind(within[1](body["event"]))
        return wrapped
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
