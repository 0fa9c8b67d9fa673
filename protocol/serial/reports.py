"""What the MCU sends: answers, the course of operations, and events."""

from dataclasses import dataclass
from typing import Annotated, Literal

from protocol.serial.declaration import TO_HOST, AtSide, Op, Req, message
from protocol.serial.parts import (
    CAPABILITIES,
    FACES,
    FAULT,
    FAULT_OR_NONE,
    OP_ID,
    POSITION,
    REASON,
    REASON_OR_NONE,
    SEAT,
    SET_OR_NONE,
    SIDE,
    STACKS,
    TEXT,
    U8,
    U16,
    U32,
    Capabilities,
    OpId,
    words,
)
from protocol.serial.vocabulary import (
    SEVERITIES,
    FaultCode,
    KeyName,
    Outcome,
    Position,
    RefusalReason,
    Seat,
    Severity,
    Side,
    ZoneName,
)
from protocol.serial.wire import Blob, Flag, Number, Optional, Several, Text, Tile, Tiles


@message(0x81, TO_HOST)
@dataclass(frozen=True, slots=True)
class Identity:
    """Who this board is and what it remembers."""

    req: Req
    protocol: Annotated[int, U8, "protocol major the board speaks"]
    firmware: Annotated[str, Text(24), "firmware version"]
    model: Annotated[str, Text(32), "hardware model"]
    serial_number: Annotated[str, Text(32), "serial number of the board"]
    boot_id: Annotated[int, U32, "random, new at every start of the MCU"]
    capabilities: Annotated[Capabilities, CAPABILITIES, "what this table can do"]
    gear_tiles: Annotated[int, U8, "tiles of the gear set last; 0 none"]
    stacks: Annotated[tuple[int, int, int, int], STACKS, "its stacks of E, S, W, N"]
    last_op: Annotated[OpId | None, Optional(OP_ID), "last completed operation"]
    stop_reason: Annotated[str, TEXT, "first reason of the latched stop; empty: none latched"]


@message(0x82, TO_HOST)
@dataclass(frozen=True, slots=True)
class Pong:
    """Answer to Ping."""

    req: Req


@message(0x83, TO_HOST)
@dataclass(frozen=True, slots=True)
class Status:
    """Answer to StatusQuery: where the mechanisms are and what runs."""

    req: Req
    centre: Annotated[Position, POSITION, "centre lift"]
    walls: Annotated[Position, POSITION, "wall lifts"]
    set_up: Annotated[int, SET_OR_NONE, "set whose walls are up or in play; 0 none"]
    sorted_set: Annotated[int, SET_OR_NONE, "set that lies sorted inside; 0 none"]
    sorting_set: Annotated[int, SET_OR_NONE, "set being sorted; 0 none"]
    felt_sets: Annotated[int, Number("B", 0, 3), "bit 0: set 1, bit 1: set 2 has loose tiles on the felt"]
    stop_reason: Annotated[str, TEXT, "first reason of the latched stop; empty: none latched"]
    running_op: Annotated[OpId | None, Optional(OP_ID), "operation that is being carried out, the oldest"]


@message(0x84, TO_HOST)
@dataclass(frozen=True, slots=True)
class GearSet:
    """Answer to SetGear."""

    req: Req
    accepted: Annotated[bool, Flag(), "the gear is set"]
    reason: Annotated[RefusalReason | Literal[""], REASON_OR_NONE, "why not"] = ""


@message(0x85, TO_HOST)
@dataclass(frozen=True, slots=True)
class Counters:
    """Answer to CountersQuery: what the board has done in its life."""

    req: Req
    cycles: Annotated[int, U32, "sorted sets in the board's life"]
    motor_seconds: Annotated[tuple[int, int, int, int, int, int], Several(U32, 6), "seconds each motor ran"]
    learned_ms: Annotated[tuple[int, int, int, int, int, int], Several(U16, 6), "usual time of each movement, ms"]
    frames_in: Annotated[int, U32, "valid frames received since start"] = 0
    frames_out: Annotated[int, U32, "frames sent since start"] = 0
    retransmits: Annotated[int, U32, "frames sent again since start"] = 0
    bad_frames: Annotated[int, U32, "frames thrown away as invalid since start"] = 0


@message(0x86, TO_HOST)
@dataclass(frozen=True, slots=True)
class Sensors:
    """Answer to SensorsQuery."""

    req: Req
    bits: Annotated[int, U32, "one bit a sensor"]
    values: Annotated[tuple[int, int, int, int, int, int, int, int], Several(U16, 8), "analogue values"]


@message(0x87, TO_HOST)
@dataclass(frozen=True, slots=True)
class DiceFaces:
    """Answer to DiceQuery: the faces that lie there."""

    req: Req
    known: Annotated[bool, Flag(), "the faces could be read"]
    dice: Annotated[tuple[int, int], FACES, "faces 1–6; 0, 0 when not known"] = (0, 0)
    moving: Annotated[bool, Flag(), "a throw is going on; ask again"] = False


# --- MCU → host: operations -------------------------------------------------------------------------------------------


@message(0x88, TO_HOST)
@dataclass(frozen=True, slots=True)
class CentreVouched:
    """Answer to VouchCentre: the word was taken; not so where a switch says that the centre is up."""

    req: Req
    accepted: Annotated[bool, Flag(), "the walls may rise by this word"]


@message(0xA0, TO_HOST)
@dataclass(frozen=True, slots=True)
class OpAccepted:
    """The operation is being carried out (also the answer to its repetition while it runs)."""

    op: Op


@message(0xA1, TO_HOST)
@dataclass(frozen=True, slots=True)
class OpRefused:
    """The operation was not begun. It is not remembered: the same id may be asked again."""

    op: Op
    reason: Annotated[RefusalReason, REASON, "why"]


@message(0xA2, TO_HOST)
@dataclass(frozen=True, slots=True)
class OpProgress:
    """How far a sort is."""

    op: Op
    tiles: Annotated[tuple[int, int, int, int], Several(U8, 4), "tiles stacked at E, S, W, N"]
    seconds: Annotated[int, U16, "seconds since it began"]


@message(0xA3, TO_HOST)
@dataclass(frozen=True, slots=True)
class OpResult:
    """The operation has ended; the same answer to every repetition of its id."""

    op: Op
    outcome: Annotated[Outcome, words("done", "failed", "interrupted"), "how it ended"]
    fault: Annotated[FaultCode | Literal[""], FAULT_OR_NONE, "fault that ended it"] = ""
    side: Annotated[Seat, SEAT, "side of that fault"] = ""
    values: Annotated[bytes, Blob(160), "what it found: see Outcomes"] = b""


# --- MCU → host: events -----------------------------------------------------------------------------------------------


@message(0xC0, TO_HOST)
@dataclass(frozen=True, slots=True)
class Key:
    """A key at the table was pressed and let go."""

    key: Annotated[KeyName, words("lift", "dice", "seat", "service"), "which key"]
    seat: Annotated[Seat, SEAT, "at which seat, where the board knows"] = ""
    pressed_ms: Annotated[int, U16, "how long it was held, ms"] = 0


@message(0xC1, TO_HOST)
@dataclass(frozen=True, slots=True)
class Zone:
    """The whole content of one reader zone after a change."""

    seat: Annotated[Side, SIDE, "whose zone"]
    zone: Annotated[ZoneName, words("hand", "flowers", "discards", "melds"), "which zone"]
    tiles: Annotated[tuple[str, ...], Tiles(64), "tiles in it, in the order they came"]
    confidence: Annotated[int, Number("B", 0, 100), "how sure the reader is, %"]


@message(0xC2, TO_HOST)
@dataclass(frozen=True, slots=True)
class TileFlipped:
    """A tile of the wall was turned face up in place."""

    position: Annotated[str, Text(8), "side, stack, top t or bottom b: for example W10b"]
    tile: Annotated[str, Tile(), "its face"]
    confidence: Annotated[int, Number("B", 0, 100), "how sure the reader is, %"]


@message(0xC3, TO_HOST)
@dataclass(frozen=True, slots=True)
class RowLaid:
    """The readers see a complete row laid out for the 八卦 deal at one side."""

    side: AtSide


@message(0xC4, TO_HOST)
@dataclass(frozen=True, slots=True)
class DiceUnasked:
    """A throw that no operation asked for (people play with the key). It never counts."""

    known: Annotated[bool, Flag(), "the faces could be read"]
    dice: Annotated[tuple[int, int], FACES, "faces 1–6; 0, 0 when not known"] = (0, 0)


@message(0xC5, TO_HOST)
@dataclass(frozen=True, slots=True)
class FaultRaised:
    """A fault has come; it stays until FaultCleared."""

    code: Annotated[FaultCode, FAULT, "which fault"]
    severity: Annotated[Severity, words(*SEVERITIES), "how bad"]
    mechanism: Annotated[str, Text(24), "mechanism, one word"] = ""
    side: Annotated[Seat, SEAT, "side, if it belongs to one"] = ""


@message(0xC6, TO_HOST)
@dataclass(frozen=True, slots=True)
class FaultCleared:
    """A fault has gone."""

    code: Annotated[FaultCode, FAULT, "which fault"]
    side: Annotated[Seat, SEAT, "side, as it was raised"] = ""


@message(0xC7, TO_HOST)
@dataclass(frozen=True, slots=True)
class StopLatched:
    """A stop is latched: no motion until a person clears it."""

    reason: Annotated[str, TEXT, "the first reason"]
    req: Annotated[int, U16, "ClearStop this refuses; 0: no request"] = 0


@message(0xC8, TO_HOST)
@dataclass(frozen=True, slots=True)
class StopCleared:
    """The latched stop was cleared."""

    req: Annotated[int, U16, "ClearStop this answers; 0: cleared at the table"] = 0
