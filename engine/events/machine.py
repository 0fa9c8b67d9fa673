"""What the machine does, and what holds for the whole match: sets, centre, walls, faults, pause and parking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from engine.dice import Dice


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
class EveningEnded:
    """The evening is over: whoever plays next is another party, at a table that nobody has used yet."""


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
    """The table is to finish its cycle and park, with the reason (`command`, `key`, `power`, `time`, `fault`); with
    `service` it parks as it stands.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Parked:
    """Nothing moves and the centre is closed; the match is kept for later."""


@dataclass(frozen=True, slots=True)
class Unparked:
    """Somebody lets the table go on."""

    by: str


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
class OperationVouched:
    """A seat says that an operation of which the machine knows nothing stands done, as it can see."""

    step: str
    by: str


@dataclass(frozen=True, slots=True)
class OperationStands:
    """Two seats have said so: the operation counts as done, and nothing moves for it."""

    step: str


@dataclass(frozen=True, slots=True)
class ThrowBroken:
    """The machine could not throw, or could not say how: a fault code and a side, where there is one."""

    fault: str
    side: str


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
class MechanismSlow:
    """A mechanism takes longer than it used to, in ms: now, and usually."""

    verb: str
    now_ms: int
    usual_ms: int


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


@dataclass(frozen=True, slots=True)
class ServiceBegun:
    """A repairer has the table: play waits, and nothing that it wants is begun."""

    by: str


@dataclass(frozen=True, slots=True)
class ServiceDone:
    """Something that a repairer does; nothing of it belongs to the game."""

    by: str
    act: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ServiceEnded:
    """The repairer has given the table back: play goes on where it was."""

    by: str


@dataclass(frozen=True, slots=True)
class Audited:
    """A command that changed something, a table adopted, a hand revealed: nothing of it belongs to the game."""

    by: str
    act: str
    params: Mapping[str, Any]


MachineEvent: TypeAlias = (
    MatchStarted
    | MatchEnding
    | MatchEnded
    | EveningEnded
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
    | HandDropped
    | MinutePassed
    | PauseWanted
    | ParkWanted
    | Parked
    | Unparked
    | ServiceBegun
    | ServiceDone
    | Audited
    | ServiceEnded
    | OperationBroken
    | OperationRetried
    | OperationVouched
    | OperationStands
    | ThrowBroken
    | UnaskedThrow
    | FaultNoted
    | MechanismSlow
    | FaultGone
    | Stopped
    | ReleaseWanted
    | Released
)
