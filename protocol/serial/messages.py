"""The message catalogue: one declaration per message, from which codec, document, header and vectors are made.

    >>> from protocol.serial.messages import DiceRoll, OpId, decode_message, encode_message
    >>> data = encode_message(DiceRoll(OpId(journal=0xA1B2, hand=3, step=7, attempt=0)))
    >>> decode_message(data)
    DiceRoll(op=OpId(journal=41394, hand=3, step=7, attempt=0))

A message is its type byte and its fields in the order of declaration. A new message takes a free type; an existing
one never changes its layout within a protocol version.
"""

from typing import Any, Final

from protocol.serial.declaration import DECLARED, Direction, MessageSpec
from protocol.serial.parts import Capabilities, DiceOutcome, OpId, SelfTestOutcome, SortOutcome, WallOutcome
from protocol.serial.reports import (
    CentreVouched,
    Counters,
    DiceFaces,
    DiceUnasked,
    FaultCleared,
    FaultRaised,
    GearSet,
    Identity,
    Key,
    OpAccepted,
    OpProgress,
    OpRefused,
    OpResult,
    Pong,
    RowLaid,
    Sensors,
    Status,
    StopCleared,
    StopLatched,
    TileFlipped,
    Zone,
)
from protocol.serial.requests import (
    Buzzer,
    CentreLower,
    CentreRaise,
    ClearStop,
    CountersQuery,
    DiceQuery,
    DiceRoll,
    EmergencyStop,
    Identify,
    Jog,
    Lamp,
    LampsOff,
    Operation,
    Ping,
    PresentGroup,
    ReadWall,
    SelfTest,
    SensorsQuery,
    ServiceEnd,
    SetGear,
    SortStart,
    SortStop,
    StatusQuery,
    VouchCentre,
    WallsLower,
    WallsRaise,
)
from protocol.serial.vocabulary import (
    FAULT_CODES,
    LEARNED,
    MOTORS,
    MOVING_TESTS,
    REFUSAL_REASONS,
    SELF_TESTS,
    SENSOR_BITS,
    SENSOR_VALUES,
    SEVERITIES,
    SIDES,
    TILE_CODES,
    UNKNOWN_TILE,
    DealingAid,
    DiceAbility,
    DiceQuality,
    FaultCode,
    KeyName,
    LampColour,
    OperationStore,
    Outcome,
    Position,
    RefusalReason,
    Seat,
    Sensing,
    Severity,
    Side,
    ZoneName,
)
from protocol.serial.wire import FieldSpec, MessageError

__all__ = [
    "CATALOGUE",
    "FAULT_CODES",
    "LEARNED",
    "MESSAGE_LIMIT",
    "MOTORS",
    "MOVING_TESTS",
    "OPERATIONS",
    "PROTOCOL",
    "PROTOCOL_MIN",
    "REFUSAL_REASONS",
    "SELF_TESTS",
    "SENSOR_BITS",
    "SENSOR_VALUES",
    "SEVERITIES",
    "SIDES",
    "TILE_CODES",
    "UNKNOWN_TILE",
    "Buzzer",
    "Capabilities",
    "CentreLower",
    "CentreRaise",
    "CentreVouched",
    "ClearStop",
    "Counters",
    "CountersQuery",
    "DealingAid",
    "DiceAbility",
    "DiceFaces",
    "DiceOutcome",
    "DiceQuality",
    "DiceQuery",
    "DiceRoll",
    "DiceUnasked",
    "Direction",
    "EmergencyStop",
    "FaultCleared",
    "FaultCode",
    "FaultRaised",
    "FieldSpec",
    "GearSet",
    "Identify",
    "Identity",
    "Jog",
    "Key",
    "KeyName",
    "Lamp",
    "LampColour",
    "LampsOff",
    "Message",
    "MessageError",
    "MessageSpec",
    "OpAccepted",
    "OpId",
    "OpProgress",
    "OpRefused",
    "OpResult",
    "Operation",
    "OperationStore",
    "Outcome",
    "Ping",
    "Pong",
    "Position",
    "PresentGroup",
    "ReadWall",
    "RefusalReason",
    "RowLaid",
    "Seat",
    "SelfTest",
    "SelfTestOutcome",
    "Sensing",
    "Sensors",
    "SensorsQuery",
    "ServiceEnd",
    "SetGear",
    "Severity",
    "Side",
    "SortOutcome",
    "SortStart",
    "SortStop",
    "Status",
    "StatusQuery",
    "StopCleared",
    "StopLatched",
    "TileFlipped",
    "VouchCentre",
    "WallOutcome",
    "WallsLower",
    "WallsRaise",
    "Zone",
    "ZoneName",
    "decode_message",
    "direction_of",
    "encode_message",
    "protocol_refusal",
]

PROTOCOL: Final = 1
"""The contract's major version this side speaks."""
PROTOCOL_MIN: Final = 1
"""The oldest major this side still understands."""
MESSAGE_LIMIT: Final = 230
"""Bytes of the longest message, type byte included: what a frame holds beside its header and check."""

Message = (
    Identify | Ping | StatusQuery | SetGear | CountersQuery | SensorsQuery | DiceQuery | VouchCentre
    | Operation | Lamp | LampsOff | Buzzer | EmergencyStop | ClearStop | ServiceEnd
    | Identity | Pong | Status | GearSet | Counters | Sensors | DiceFaces | CentreVouched
    | OpAccepted | OpRefused | OpProgress | OpResult
    | Key | Zone | TileFlipped | RowLaid | DiceUnasked | FaultRaised | FaultCleared | StopLatched | StopCleared
)  # fmt: skip

CATALOGUE: Final[tuple[MessageSpec, ...]] = tuple(DECLARED)
"""Every message, in the order of declaration."""

OPERATIONS: Final[tuple[type[Any], ...]] = tuple(spec.cls for spec in CATALOGUE if 0x20 <= spec.type_id < 0x40)
"""The messages that begin an operation: whatever moves, rolls or reads a wall; each carries ``op``."""

_by_type: Final[dict[int, MessageSpec]] = {spec.type_id: spec for spec in CATALOGUE}
_by_class: Final[dict[type[Any], MessageSpec]] = {spec.cls: spec for spec in CATALOGUE}


def encode_message(message: Message) -> bytes:
    """Type byte and fields, ≤ 230 bytes; MessageError names the field that the wire cannot carry."""
    spec = _by_class.get(type(message))
    if spec is None:
        raise MessageError("message", "a message of the catalogue", type(message).__name__)
    parts = [bytes((spec.type_id,))]
    parts += [field.wire.put(field.name, getattr(message, field.name)) for field in spec.fields]
    data = b"".join(parts)
    if len(data) > MESSAGE_LIMIT:
        raise MessageError(spec.name, f"at most {MESSAGE_LIMIT} bytes", f"{len(data)} bytes")
    return data


def decode_message(data: bytes) -> Message:
    """The message in these bytes; MessageError on a short, long, unknown or out-of-range one."""
    if not data:
        raise MessageError("type", "a type byte", "nothing")
    if len(data) > MESSAGE_LIMIT:
        raise MessageError("message", f"at most {MESSAGE_LIMIT} bytes", f"{len(data)} bytes")
    spec = _by_type.get(data[0])
    if spec is None:
        raise MessageError("type", "a type of the catalogue", f"0x{data[0]:02x}")
    values, at = [], 1
    for field in spec.fields:
        value, at = field.wire.take(field.name, data, at)
        values.append(value)
    if at != len(data):
        raise MessageError(spec.name, f"{at} bytes", f"{len(data)} bytes: the message is too long")
    message: Message = spec.cls(*values)
    return message


def direction_of(message: Message) -> Direction:
    """Who sends this message."""
    return _by_class[type(message)].direction


def protocol_refusal(board: int, host_min: int = PROTOCOL_MIN, host_max: int = PROTOCOL) -> str | None:
    """None where the board's protocol major is spoken by the host; else words that say which side must be updated."""
    if board > host_max:
        return f"the board speaks protocol {board}, this host only up to {host_max}: update the host's software"
    if board < host_min:
        return f"the board speaks protocol {board}, this host needs at least {host_min}: update the board's firmware"
    return None
