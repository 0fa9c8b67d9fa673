"""What a scenario file may say, checked: `[about]`, `seed`, and one `[[fault]]` for each thing that goes wrong.

A fault is an action with its words and, in `when`, one trigger with its conditions. Times of actions are real seconds;
`at` and `every` are seconds of table time, which runs `speed` times as fast.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from protocol.serial.declaration import DECLARED
from protocol.serial.frames import FrameKind
from protocol.serial.messages import SENSOR_BITS, FaultCode, KeyName, Severity, ZoneName
from simulators.mechanisms import VERBS
from simulators.mistakes import MISTAKES
from simulators.readers import Misreading

Side = Literal["E", "S", "W", "N"]
SideOrNone = Literal["E", "S", "W", "N", ""]
Direction = Literal["out", "in"]
Phase = Literal["idle", "lift", "sorting", "rolling", "walls", "taking", "flowers", "play"]
PHASES: tuple[Phase, ...] = get_args(Phase)

Seconds = Annotated[float, Field(ge=0, le=86_400)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Chance = Annotated[float, Field(gt=0, le=1)]

OPERATIONS = tuple(VERBS.values())
MESSAGES = tuple(spec.name for spec in DECLARED) + tuple(kind.name for kind in FrameKind if kind.name != "DATA")
MOVEMENTS = ("centre_up", "centre_down", "walls_up", "walls_down", "dice", "sort", "present", "read_wall", "self_test")


class Strict(BaseModel):
    """Nothing that is not known is passed over."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class About(Strict):
    """What a scenario is, for people: its title, what players see, and what the table should do."""

    title: str = Field(min_length=1)
    players: str = Field(min_length=1)
    table: str = Field(min_length=1)


class When(Strict):
    """One trigger (`at`/`every`, `frame`, `operation`, `act`, `phase`), or none: each hand; and its conditions.

    Of the moments that fit, the `nth` counts and, where the action may happen again (`count`), each `each`-th one after
    it; with `chance` each counts by chance instead.
    """

    at: Seconds | None = None
    every: Annotated[float, Field(gt=0, le=86_400)] | None = None
    frame: Direction | None = None
    message: str = ""
    operation: str | None = None
    point: Literal["begun", "ended"] = "begun"
    act: str | None = None
    phase: Phase | None = None
    nth: Count = 1
    each: Count | None = None
    hand: Count | None = None
    during: str | None = None
    chance: Chance | None = None

    @model_validator(mode="after")
    def _one_trigger(self) -> Self:
        told = [name for name in ("frame", "operation", "act", "phase") if getattr(self, name) is not None]
        told += ["at"] if self.at is not None or self.every is not None else []
        if len(told) > 1:
            raise ValueError(f"one trigger expected, got {' and '.join(told)}")
        if not told and self.hand is None and self.chance is None:
            raise ValueError("expected a trigger: at, every, frame, operation, act, phase, or a hand")
        if self.message and self.frame is None:
            raise ValueError("message goes with frame")
        if self.point != "begun" and self.operation is None:
            raise ValueError("point goes with operation")
        if self.chance is not None and (self.each is not None or self.nth != 1):
            raise ValueError("chance stands in the place of nth and each: expected one of them")
        if told == ["at"] and (self.each is not None or self.nth != 1):
            raise ValueError("nth and each count moments: with a time expected at and every alone")
        _known("operation", self.operation, OPERATIONS)
        _known("during", self.during, OPERATIONS)
        _known("message", self.message or None, MESSAGES)
        return self


def _known(name: str, word: str | None, known: tuple[str, ...]) -> None:
    if word is not None and word not in known:
        raise ValueError(f"{name} {word!r}: expected one of {', '.join(known)}")


class Action(Strict):
    """What goes wrong. `when`: at which moment; left out, at once. `count`: so often at most, 0 for any number.

    `board`: whose line and program it is about, where the dice have a board of their own.
    """

    when: When | None = None
    count: Annotated[int, Field(ge=0)] = 1
    board: Literal["table", "dice"] = "table"


# --- bytes: of the next `frames` frames that pass, or for so many seconds ---------------------------------------------


class _OfFrames(Action):
    direction: Direction = "out"
    message: str = ""
    frames: Count = 1

    @model_validator(mode="after")
    def _message_is_known(self) -> Self:
        _known("message", self.message or None, MESSAGES)
        return self


class Flip(_OfFrames):
    """Bits of a frame are turned over."""

    action: Literal["flip"]
    bits: Annotated[int, Field(ge=1, le=64)] = 1


class Drop(_OfFrames):
    """A frame is lost; with `bytes` only so many of its bytes."""

    action: Literal["drop"]
    bytes: Annotated[int, Field(ge=0, le=256)] = 0


class Insert(_OfFrames):
    """Random bytes come up in the midst of a frame."""

    action: Literal["insert"]
    bytes: Annotated[int, Field(ge=1, le=256)] = 3


class Duplicate(_OfFrames):
    """A frame arrives twice."""

    action: Literal["duplicate"]


class Half(_OfFrames):
    """A frame breaks off in the middle."""

    action: Literal["half"]


class Delay(Action):
    """The line stands still, then brings all at once."""

    action: Literal["delay"]
    direction: Direction = "out"
    seconds: Seconds = 0.5


class Garbage(Action):
    """Bytes that are no frame: text such as `AT`, as programs write that look for modems."""

    action: Literal["garbage"]
    direction: Direction = "out"
    text: Annotated[str, Field(min_length=1, max_length=4096)] = "AT\r\n"
    times: Count = 1


class Noise(Action):
    """For a while each byte is spoilt by chance."""

    action: Literal["noise"]
    direction: Direction = "out"
    rate: Chance = 0.01
    seconds: Seconds = 5.0


class Echo(Action):
    """For a while the host hears itself."""

    action: Literal["echo"]
    seconds: Seconds = 2.0


class Drip(Action):
    """For a while bytes come one at a time, with a pause between."""

    action: Literal["drip"]
    direction: Direction = "out"
    gap_ms: Annotated[float, Field(gt=0, le=1000)] = 2.0
    seconds: Seconds = 2.0


class Silence(Action):
    """For a while nothing gets through."""

    action: Literal["silence"]
    direction: Literal["out", "in", "both"] = "both"
    seconds: Seconds = 3.0


# --- the protocol -----------------------------------------------------------------------------------------------------


class _OfMessages(Action):
    message: str = "OpResult"
    messages: Count = 1

    @model_validator(mode="after")
    def _message_is_known(self) -> Self:
        _known("message", self.message or None, MESSAGES)
        return self


class Swallow(_OfMessages):
    """The board never says it."""

    action: Literal["swallow"]


class Twice(_OfMessages):
    """The board says it twice."""

    action: Literal["twice"]


class Late(_OfMessages):
    """The board says it so many seconds too late."""

    action: Literal["late"]
    seconds: Seconds = 3.0


class WrongOp(Action):
    """The board answers with the id of an operation that nobody asked for, and then rightly."""

    action: Literal["wrong_op"]
    messages: Count = 1


class NakStorm(Action):
    """The board asks for everything again, many times over."""

    action: Literal["nak_storm"]
    naks: Annotated[int, Field(ge=1, le=10_000)] = 50


class NoAck(Action):
    """The board takes everything and acknowledges nothing."""

    action: Literal["no_ack"]
    seconds: Seconds = 5.0


class StopReading(Action):
    """The board reads nothing: what is written piles up at the host."""

    action: Literal["stop_reading"]
    seconds: Seconds = 5.0


# --- the machine ------------------------------------------------------------------------------------------------------


class Fail(Action):
    """The next operations of a kind fail, with the usual fault or with this one."""

    action: Literal["fail"]
    operation: str
    fault: FaultCode | None = None
    side: SideOrNone = ""
    times: Count = 1

    @model_validator(mode="after")
    def _operation_is_known(self) -> Self:
        _known("operation", self.operation, OPERATIONS)
        return self


class Slow(Action):
    """The next movements of a kind take so many times as long."""

    action: Literal["slow"]
    movement: str
    factor: Annotated[float, Field(gt=0, le=100)] = 2.0
    times: Count = 1

    @model_validator(mode="after")
    def _movement_is_known(self) -> Self:
        _known("movement", self.movement, MOVEMENTS)
        return self


class StuckSensor(Action):
    """A sensor shows the same, whatever is so."""

    action: Literal["stuck_sensor"]
    sensor: str
    on: bool = False
    seconds: Seconds = 0.0

    @model_validator(mode="after")
    def _sensor_is_known(self) -> Self:
        _known("sensor", self.sensor, SENSOR_BITS)
        return self


class FaultComes(Action):
    """The board tells a fault; after `seconds` it is over, with 0 it stays."""

    action: Literal["fault"]
    code: FaultCode
    side: SideOrNone = ""
    severity: Severity = "warning"
    seconds: Seconds = 0.0


class DirtyEye(Action):
    """The light barrier of a side is nearly blind; after `seconds` it is wiped, with 0 it stays so."""

    action: Literal["eye_dirty"]
    side: Side = "E"
    seconds: Seconds = 0.0


class ForgottenTile(Action):
    """At the next sort tiles are missing at a side: they lie about until somebody puts them in."""

    action: Literal["forgotten_tile"]
    side: Side = "S"
    tiles: Annotated[int, Field(ge=1, le=40)] = 1


class WrongGear(Action):
    """Somebody has turned the board's gear: tiles in a set."""

    action: Literal["wrong_gear"]
    tiles: Annotated[int, Field(ge=8, le=160, multiple_of=8)] = 112


class MixedSets(Action):
    """The next sorts find tiles of both backs in one set."""

    action: Literal["mixed_sets"]
    times: Count = 1


class CockedDice(Action):
    """The next throws lean, so that the board cannot read them."""

    action: Literal["cocked_dice"]
    throws: Count = 1


class Unplug(Action):
    """The adapter drops and comes back under another name."""

    action: Literal["unplug"]
    seconds: Seconds = 0.6


class Reboot(Action):
    """The board resets; what it has in volatile memory is gone."""

    action: Literal["reboot"]


class BrownOut(Action):
    """The supply breaks in and the board resets, over and over; `told`: the board says so, which parks the table."""

    action: Literal["brown_out"]
    times: Count = 3
    gap: Seconds = 0.5
    told: bool = False


class PowerCut(Action):
    """The table is without power for a while: board and adapter."""

    action: Literal["power_cut"]
    seconds: Seconds = 1.0


class Freeze(Action):
    """The board's program stands still, then goes on."""

    action: Literal["freeze"]
    seconds: Seconds = 20.0


class StopButton(Action):
    """The red button is pushed in; after `seconds` it is turned out again, with 0 it stays in."""

    action: Literal["stop_button"]
    seconds: Seconds = 2.0


class Lid(Action):
    """The lid is opened; after `seconds` it is closed, with 0 it stays open."""

    action: Literal["lid"]
    seconds: Seconds = 2.0


class Misread(Action):
    """A reader errs at a zone until that changes."""

    action: Literal["misread"]
    seat: Side
    zone: ZoneName = "hand"
    kind: Misreading = "missing"
    tile: str = ""
    read_as: str = ""


# --- people -----------------------------------------------------------------------------------------------------------


class Press(Action):
    """Somebody presses a key."""

    action: Literal["press"]
    key: KeyName
    seat: Side = "E"
    held_ms: Annotated[int, Field(ge=0, le=60_000)] = 80


class ThrowUnasked(Action):
    """Somebody holds the dice key though nothing is to be thrown."""

    action: Literal["throw_unasked"]
    seat: Side = "E"


class Mistake(Action):
    """A simulated person errs (`simulate players --scenario`): everybody, or one seat; in every hand, or in one."""

    action: Literal["mistake"]
    mistake: str
    seat: SideOrNone = ""

    @model_validator(mode="after")
    def _mistake_is_known(self) -> Self:
        _known("mistake", self.mistake, tuple(MISTAKES))
        told = self.when.model_dump(exclude_defaults=True) if self.when is not None else {}
        wrong = sorted(set(told) - {"hand", "chance"})
        if wrong:
            raise ValueError(f"when: of a mistake expected hand and chance alone, got {', '.join(wrong)}")
        if self.count != 1:
            raise ValueError("count: a mistake happens once a moment; expected when.chance in its place")
        return self


class Heal(Action):
    """Everything that was ordered and still goes on is over."""

    action: Literal["heal"]


AnyAction = Annotated[
    Flip | Drop | Insert | Duplicate | Half | Delay | Garbage | Noise | Echo | Drip | Silence
    | Swallow | Twice | Late | WrongOp | NakStorm | NoAck | StopReading
    | Fail | Slow | StuckSensor | FaultComes | DirtyEye | ForgottenTile | WrongGear | MixedSets | CockedDice
    | Unplug | Reboot | BrownOut | PowerCut | Freeze | StopButton | Lid | Misread
    | Press | ThrowUnasked | Mistake | Heal,
    Field(discriminator="action"),
]  # fmt: skip

KINDS: dict[str, type[Action]] = {
    get_args(kind.model_fields["action"].annotation)[0]: kind for kind in get_args(get_args(AnyAction)[0])
}
"""Every action by its name."""


class Scenario(Strict):
    """A whole file. `seed`: what is left to chance follows from it, from the fault's place and the moment alone."""

    about: About | None = None
    seed: int = 1
    fault: tuple[AnyAction, ...] = Field(min_length=1)

    @property
    def at_table(self) -> tuple[tuple[int, Action], ...]:
        """What happens at the table, with its place in the file."""
        return tuple((at, one) for at, one in enumerate(self.fault, 1) if not isinstance(one, Mistake))

    @property
    def of_people(self) -> tuple[tuple[int, Mistake], ...]:
        """What the people do, with its place in the file."""
        return tuple((at, one) for at, one in enumerate(self.fault, 1) if isinstance(one, Mistake))


def words_of(kind: type[Action]) -> dict[str, Any]:
    """The words that an action takes of its own, each with its default; required ones have `...`."""
    fields = kind.model_fields
    own = {name: one for name, one in fields.items() if name not in ("when", "count", "board", "action")}
    return {name: ... if one.is_required() else one.default for name, one in own.items()}
