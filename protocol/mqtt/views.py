"""The public state and the view of one seat: what `state` and `seat/{s}` carry as `data`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from protocol.mqtt.hands import Book, Lines, Match, Play, Result, Sheet, Way
from protocol.mqtt.parts import (
    Bits,
    Code,
    Count,
    Dice,
    Face,
    Milliseconds,
    Name,
    Params,
    Payload,
    Position,
    Seat,
    TileSet,
)

__all__ = [
    "Answer", "Break", "DiceMode", "Fault", "FlowerTurn", "Gold", "Layout", "Machine", "Me", "Notice", "PairedDevice",
    "PairingAsk", "Phase", "Problem", "PublicState", "Purpose", "Result", "Roll", "SeatView", "Sensing", "SideCount",
    "Sorting", "Tail", "Take", "Throw", "Use", "Want", "Way", "Window",
]  # fmt: skip

Use = Literal["free", "open", "playing", "paused", "closing"]
Layout = Literal["zhitui", "bagua"]
Sensing = Literal["none", "full"]
DiceMode = Literal["read", "unread", "hand", "software"]
Phase = Literal[
    "idle", "seating", "sorting", "lift", "push_in", "walls", "row", "dealer_roll", "bids", "deal_roll", "taking",
    "door_roll", "door", "flowers", "gold_roll", "gold", "opening", "play", "settle", "paused", "over", "ended",
]  # fmt: skip
Purpose = Literal["seat", "swap", "dealer", "deal", "door", "gold"]


Send = Literal["nobody", "floor", "repairer"]


class Fault(Payload):
    """A fault of the machine that stands: the sensors in question, first aid, and whom the parlor sends."""

    code: Code
    severity: Code
    mechanism: str
    side: str = ""
    sensors: tuple[str, ...] = ()
    aid: Code | None = None
    send: Send = "nobody"


class SideCount(Payload):
    """Tiles counted on one side against the tiles that belong there."""

    side: Seat
    counted: Count
    expected: Count


class Problem(Payload):
    """Why the machine waits for people: tiles miscounted (`count`) or an operation that failed (`failed`)."""

    kind: Literal["count", "failed"]
    set: TileSet | None = None
    sides: tuple[SideCount, ...] = ()
    operation: str | None = None
    fault: str | None = None
    side: str | None = None
    sensors: tuple[str, ...] = ()
    aid: Code | None = None
    send: Send = "nobody"


class Sorting(Payload):
    """How far the sorting of the other set is."""

    set: TileSet
    tiles: dict[Seat, Count]
    seconds: Count


class ServiceShown(Payload):
    """A repairer has the table: who, what was done last (empty: nothing yet), with what (`motor`, `ms`, `number`)."""

    who: Name
    act: Annotated[str, Field(pattern=r"^[a-z_]{0,40}$")] = ""
    params: Params = Field(default_factory=dict)


class Machine(Payload):
    """What the hardware does: which set is up (0: none), sorting, the centre, the link, stop and faults."""

    set_up: Literal[0, 1, 2]
    sorting: Sorting | None = None
    sorted_set: Literal[0, 1, 2] = 0
    centre: Literal["down", "up", "moving"]
    link: Literal["up", "lost", "wait"]
    stop: str | None = None
    faults: tuple[Fault, ...] = ()
    problem: Problem | None = None
    unasked_dice: Dice | None = None
    service: ServiceShown | None = None


class Throw(Payload):
    """The last or present throw of this hand. `by` is empty while anyone may throw."""

    purpose: Purpose
    nth: Count
    by: Seat | Literal[""]
    values: Dice | None
    state: Literal["wanted", "rolling", "entering", "checking", "done", "lost"]
    points: Seat | None = None


class Roll(Payload):
    """A finished roll of this hand."""

    purpose: Purpose
    by: Seat | Literal[""]
    values: Dice
    points: Seat | None = None


class Take(Payload):
    """What is to be taken now, and by whom; `n` of `of` takes."""

    seat: Seat
    positions: tuple[Position, ...]
    n: Count
    of: Count


class Break(Payload):
    """The side that the dice pointed at and the stacks left standing at its right end."""

    side: Seat
    left: Count


class Tail(Payload):
    """Where flowers are replaced from: the next tiles, in order, and how many are gone."""

    next: tuple[Position, ...]
    taken: Count


class FlowerTurn(Payload):
    """Whose turn it is to replace flowers. `count` have been laid out, `positions` are the tiles drawn for them.

    How many the seat holds is told in its own want `flowers` alone.
    """

    round: Count
    seat: Seat
    count: Count
    positions: tuple[Position, ...]


class Gold(Payload):
    """The opening of the gold: the counted path, the tile that lies open, the face that is gold, what 白 stands for."""

    face: Face | None
    position: Position | None
    indicator: Face | None = None
    white: Face | None = None
    path: tuple[Position, ...] = ()
    roll: Dice | None = None
    passed: tuple[tuple[Position, Face], ...] = ()
    by: Seat | Literal[""] = ""
    state: Literal["counting", "entering", "checking", "shown"]


class Window(Payload):
    """A window is open, and for how long: no more than that is public. `agree`: silence agrees to the settlement;
    `bid`: it bids nothing.
    """

    kind: Literal["opening", "claim", "agree", "bid"]
    left_ms: Milliseconds | None = None


class Notice(Payload):
    """Something shown to all four seats for a while."""

    code: Code
    seat: Seat | Literal["view", "service", ""] = ""
    left_ms: Milliseconds | None = None
    params: Params = Field(default_factory=dict)


class PublicState(Payload):
    """Everything that anyone at the table may see. Holds no tile that is concealed or stands in a wall."""

    use: Use
    locked: bool = False
    rules: str
    layout: Layout | None
    options: dict[str, Any] = Field(default_factory=dict)
    sensing: Sensing
    dice_mode: DiceMode
    hand: Count
    hands: Count
    dealer: Seat | None
    streak: Count
    base: Count | None = None
    bids: dict[Seat, Count] | None = None
    phase: Phase
    machine: Machine
    stacks: dict[Seat, Count]
    row: Count
    wall: dict[Seat, Bits] | None
    rows_laid: bool
    dice: Throw | None
    rolls: tuple[Roll, ...]
    take: Take | None
    extra: Position | None
    break_: Annotated[Break | None, Field(alias="break")]
    door: Position | None
    tail: Tail | None
    head: Position | None
    left: Count | None
    flowers: dict[Seat, tuple[Face, ...]]
    flower_turn: FlowerTurn | None
    gold: Gold | None
    window: Window | None
    play: Play | None = None
    book: Book | None = None
    match: Match | None = None
    result: Result | None
    counts: dict[Seat, Count] | None
    notices: tuple[Notice, ...]


class Want(Payload):
    """Something asked of this seat: `id` names it in the answer, `actions` are the answers it takes."""

    id: Annotated[str, Field(min_length=1, max_length=64)]
    verb: Code
    params: Params
    actions: tuple[Code, ...]
    left_ms: Milliseconds | None = None


class Answer(Payload):
    """What became of one input of this seat: accepted, or refused with a code and the rule that says so."""

    id: Annotated[str, Field(min_length=1, max_length=40)]
    ok: bool
    code: Annotated[str, Field(pattern=r"^[a-z0-9_]{0,40}$")] = ""
    rule: str = ""
    params: Params = Field(default_factory=dict)


class PairedDevice(Payload):
    """The display that holds this seat."""

    name: Name


class PairingAsk(Payload):
    """A display that asks to be confirmed for a seat, with the code on its screen."""

    code: Annotated[str, Field(pattern=r"^[0-9]{6}$")]
    seat: Seat | Literal["view", "service"]
    name: Name = ""


class Me(Payload):
    """The part of a view that only its seat receives."""

    seat: Seat
    tiles: str | None
    wants: tuple[Want, ...]
    answers: Annotated[tuple[Answer, ...], Field(max_length=16)]
    points: int | None = None
    lines: Lines = ()
    sheet: Sheet | None = None
    device: PairedDevice | None = None
    pairing: tuple[PairingAsk, ...] = ()


class SeatView(PublicState):
    """The whole view of one seat: the public part and `me`."""

    me: Me
