"""Words of the serial contract and their codes on the wire: seats, tiles, faults, sensors, motors.

Order is the contract: a word's place in its tuple is its code. New words are added at the end only.
"""

from typing import Final, Literal, get_args

Side = Literal["E", "S", "W", "N"]
Seat = Literal["E", "S", "W", "N", ""]
SIDES: Final[tuple[Side, ...]] = get_args(Side)

Sensing = Literal["none", "full"]
DealingAid = Literal["guide", "present"]
DiceAbility = Literal["read", "unread", "software", "hand"]
OperationStore = Literal["volatile", "nonvolatile"]
Position = Literal["down", "up", "moving", "unknown"]
LampColour = Literal["off", "E", "S", "W", "N", "gold", "white"]
RefusalReason = Literal["latched", "interlock", "busy", "unsupported", "service_mode", "bad_argument", "gear"]
Outcome = Literal["done", "failed", "interrupted"]
DiceQuality = Literal["clean", "cocked", "ambiguous", "unread"]
KeyName = Literal["lift", "dice", "seat", "service"]
ZoneName = Literal["hand", "flowers", "discards", "melds"]
Severity = Literal["info", "warning", "fault", "critical"]
FaultCode = Literal[
    "sort_timeout",
    "side_short",
    "side_long",
    "head_jam",
    "single_tile_push",
    "push_incomplete",
    "wall_not_home",
    "centre_limit_missing",
    "eye_dirty",
    "sets_mixed",
    "tile_left_out",
    "gear_mismatch",
    "dice_stuck",
    "dice_ambiguous",
    "key_stuck",
    "motor_overheat",
    "motor_stall",
    "brown_out",
    "lid_open",
    "reader_blind",
    "link_lost",
    "firmware_mismatch",
]

REFUSAL_REASONS: Final[tuple[RefusalReason, ...]] = get_args(RefusalReason)
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
FAULT_CODES: Final[tuple[FaultCode, ...]] = get_args(FaultCode)

UNKNOWN_TILE: Final = "??"
"""A tile that lies there and could not be read."""

TILE_CODES: Final[dict[str, int]] = {
    **{f"{rank}{suit}": base + rank for suit, base in (("m", 0x00), ("p", 0x10), ("s", 0x20)) for rank in range(1, 10)},
    **{f"{rank}z": 0x30 + rank for rank in range(1, 8)},
    **{f"{rank}f": 0x40 + rank for rank in range(1, 9)},
    UNKNOWN_TILE: 0xFF,
}
"""Face → byte: high nibble the suit (0 characters, 1 dots, 2 bamboo, 3 honours, 4 flowers), low nibble the rank."""

TILES_BY_CODE: Final[dict[int, str]] = {code: tile for tile, code in TILE_CODES.items()}

MOTORS: Final[tuple[str, ...]] = ("centre", "walls", "stirrer", "lifters", "pushers", "dice")
"""Motor number (``Jog.motor``, place in ``Counters.motor_seconds``) → what it turns."""

LEARNED: Final[tuple[str, ...]] = ("centre_up", "centre_down", "walls_up", "walls_down", "sort", "dice")
"""Place in ``Counters.learned_ms`` → the movement whose usual time it is."""

SENSOR_BITS: Final[tuple[str, ...]] = (
    "lid_closed",
    "centre_down",
    "centre_up",
    "walls_down",
    "walls_up",
    "stop_button",
    "lift_key",
    "dice_key",
    "seat_key_E",
    "seat_key_S",
    "seat_key_W",
    "seat_key_N",
    "service_key",
    "eye_E",
    "eye_S",
    "eye_W",
    "eye_N",
    "head_E",
    "head_S",
    "head_W",
    "head_N",
    "dice_still",
    "tiles_on_felt",
    "reader_ready",
    "service_mode",
)
"""Bit number in ``Sensors.bits`` → what is true when it is set. A bit of a key: it is held down at this moment."""

SENSOR_VALUES: Final[tuple[tuple[str, str], ...]] = (
    ("supply", "mV"),
    ("motor_current", "mA"),
    ("board_temperature", "0.1 K"),
    ("motor_temperature", "0.1 K"),
    ("eye_level_E", "‰"),
    ("eye_level_S", "‰"),
    ("eye_level_W", "‰"),
    ("eye_level_N", "‰"),
)
"""Place in ``Sensors.values`` → name and unit."""

SELF_TESTS: Final[tuple[str, ...]] = (
    "all",
    "supply",
    "stop_circuit",
    "keys",
    "centre_limits",
    "wall_homes",
    "eyes",
    "heads",
    "dice",
    "readers",
    "motors",
)
"""Self-test number (``SelfTest.number``) → what it looks at. A board without such a test refuses it, `unsupported`."""

MOVING_TESTS: Final[frozenset[str]] = frozenset({"all", "motors"})
"""Self-tests that move something: as a jog they need the service key held all the while."""
