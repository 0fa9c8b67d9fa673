"""What can happen to a table: every input that the state machine takes (`engine.table.decide`).

Inputs are facts reported by hardware, seats, readers and the clock; they carry no time of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from engine.dice import Dice


@dataclass(frozen=True, slots=True)
class StartMatch:
    """A match begins: rules by name with the options that differ, layout, what the table can do, and its tile sets.

    `sensing`: `none` | `full`; `dice`: `read` | `unread` | `software` | `hand`; `aid`: `guide` | `present`;
    `sets`: where each tile set is: `inside` (unsorted), `sorted`, `felt`; `hands` and `minutes`: how many to play, 0
    without end; `by_dice`: the seats are drawn (R2); `fresh`: by another party than the last match, so that a new
    evening begins; `names` of the players by seat where they gave them.
    """

    rules: str
    options: Mapping[str, Any] = field(default_factory=dict)
    layout: str = ""
    sensing: str = "none"
    dice: str = "read"
    aid: str = "guide"
    sets: tuple[str, ...] = ("inside", "felt")
    hands: int = 0
    object_ms: int = 4000
    take_pace_ms: int = 2500
    agree_ms: int = 30_000
    minutes: int = 0
    by_dice: bool = False
    fresh: bool = False
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EndMatch:
    """The match ends after the hand in play (parlor or seat)."""


@dataclass(frozen=True, slots=True)
class EndEvening:
    """The evening is over: nothing of it is shown to whoever plays next. Between matches only; its record is kept."""


@dataclass(frozen=True, slots=True)
class SeatAction:
    """A seat answers a prompt: `want` is the prompt's id as text, `params` as the action's table says."""

    seat: str
    want: str
    action: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KeyPressed:
    """A key of the table: `lift`, `dice`, `seat`; `seat` names whose, empty for the shared ones."""

    key: str
    seat: str = ""


@dataclass(frozen=True, slots=True)
class OperationDone:
    """The machine finished a wanted operation; `result` as the verb's row in the contract says."""

    want: str
    result: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OperationFailed:
    """The machine could not finish a wanted operation: a fault code and the side, where there is one."""

    want: str
    fault: str
    side: str = ""


@dataclass(frozen=True, slots=True)
class OperationUnknown:
    """Nobody at the machine can know whether a wanted operation was done (the board forgot)."""

    want: str


@dataclass(frozen=True, slots=True)
class TimerElapsed:
    """A wanted timer ran out."""

    want: str


@dataclass(frozen=True, slots=True)
class ZoneSeen:
    """A reader's whole content of one zone of a seat: `hand` | `flowers` | `discards` | `melds`, oldest tile first.

    `confidence` in per cent: how sure the reader is of all of it; below `engine.state.SURE_FROM` a face may be wrong.
    """

    seat: str
    zone: str
    tiles: tuple[str, ...]
    confidence: int = 100


@dataclass(frozen=True, slots=True)
class TileFlipped:
    """A reader saw the wall tile at a position turned face up."""

    position: str
    tile: str


@dataclass(frozen=True, slots=True)
class RowLaid:
    """A reader saw that one side has laid its row (R5)."""

    side: str


@dataclass(frozen=True, slots=True)
class DiceUnasked:
    """A throw that nobody asked for; it is shown and never counts."""

    dice: Dice | None = None


@dataclass(frozen=True, slots=True)
class FaultRaised:
    """The machine reports a fault of the vocabulary; of a slow mechanism, how long it takes now and usually, in ms."""

    code: str
    severity: str = "fault"
    mechanism: str = ""
    side: str = ""
    now_ms: int = 0
    usual_ms: int = 0


@dataclass(frozen=True, slots=True)
class FaultCleared:
    """A reported fault is over."""

    code: str
    side: str = ""


@dataclass(frozen=True, slots=True)
class StopLatched:
    """The emergency stop is latched, with its first reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class StopCleared:
    """A person has cleared the emergency stop."""


@dataclass(frozen=True, slots=True)
class Decide:
    """The floor decides an objection: 1 for what was proposed first, 2 for the objector's version; or it ends an entry
    by 1. `want` is the id of what it decides, `engine.match_wants.to_decide`: a late word decides nothing else.
    """

    choice: int
    want: str


@dataclass(frozen=True, slots=True)
class Extend:
    """The parlor gives the match more hands or minutes."""

    hands: int = 0
    minutes: int = 0


@dataclass(frozen=True, slots=True)
class Pause:
    """The floor pauses the match after the hand in play, or lets it go on."""

    on: bool


@dataclass(frozen=True, slots=True)
class Park:
    """The table is to be turned off: it finishes its cycle and parks. `reason`: command, key, power, time, fault."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unpark:
    """The table may go on. `from_afar`: nobody at the table says so, which lets nothing move that has come to rest."""

    by: str = ""
    from_afar: bool = False


@dataclass(frozen=True, slots=True)
class Service:
    """A repairer takes the table (`on`), which only happens with the service key held there, or gives it back.

    `at_table`: with that key too, so that he sees whose hands are where. Given back otherwise the table is parked.
    """

    on: bool
    by: str
    at_table: bool = False


@dataclass(frozen=True, slots=True)
class Serviced:
    """What a repairer is about to do: `jog`, `self_test` …, with its motor, time or number."""

    by: str
    act: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Audit:
    """Something was done beside the game, or is about to be, that must be on record: who, what, and its values."""

    by: str
    act: str
    params: Mapping[str, Any]


Input: TypeAlias = (
    StartMatch
    | EndMatch
    | EndEvening
    | SeatAction
    | KeyPressed
    | OperationDone
    | OperationFailed
    | OperationUnknown
    | TimerElapsed
    | ZoneSeen
    | TileFlipped
    | RowLaid
    | DiceUnasked
    | FaultRaised
    | FaultCleared
    | StopLatched
    | StopCleared
    | Decide
    | Extend
    | Pause
    | Park
    | Unpark
    | Service
    | Serviced
    | Audit
)
