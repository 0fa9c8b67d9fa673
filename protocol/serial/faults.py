"""The fault vocabulary: how bad a fault usually is, which mechanism it belongs to, and what it means."""

from dataclasses import dataclass
from typing import Final

from protocol.serial.vocabulary import FaultCode, Severity


@dataclass(frozen=True, slots=True)
class Fault:
    """What a fault code stands for. ``sided``: it names a side of the table. Sentences for people live elsewhere."""

    severity: Severity
    mechanism: str
    sided: bool
    says: str


FAULTS: Final[dict[FaultCode, Fault]] = {
    "sort_timeout": Fault("fault", "sort", False, "a sort lasts over 60 s: mostly a forgotten tile or a wrong gear"),
    "side_short": Fault("warning", "sort", True, "a side got fewer tiles than its gear says"),
    "side_long": Fault("warning", "sort", True, "a side got more tiles than its gear says"),
    "head_jam": Fault("fault", "head", True, "a tile is stuck in the sorting head of a side"),
    "single_tile_push": Fault("warning", "pusher", True, "a stack of one tile was pushed"),
    "push_incomplete": Fault("fault", "pusher", True, "a pusher did not reach its end"),
    "wall_not_home": Fault("fault", "walls", True, "a wall lift is neither up nor down"),
    "centre_limit_missing": Fault("fault", "centre", False, "neither end switch of the centre answers"),
    "eye_dirty": Fault("warning", "eye", True, "a light barrier is nearly blind"),
    "sets_mixed": Fault("fault", "sort", False, "tiles of both backs in one set"),
    "tile_left_out": Fault("warning", "sort", False, "the count shows a tile that was not pushed in"),
    "gear_mismatch": Fault("fault", "sort", False, "tiles counted do not fit the gear"),
    "dice_stuck": Fault("fault", "dice", False, "the dice do not turn"),
    "dice_ambiguous": Fault("warning", "dice", False, "the faces cannot be told"),
    "key_stuck": Fault("warning", "key", True, "a key has been pressed for too long"),
    "motor_overheat": Fault("fault", "motor", False, "a motor is too hot: it rests until it has cooled"),
    "motor_stall": Fault("fault", "motor", False, "a motor draws current and does not turn"),
    "brown_out": Fault("critical", "supply", False, "the supply broke in"),
    "lid_open": Fault("warning", "lid", False, "the lid is open: nothing moves"),
    "reader_blind": Fault("warning", "reader", True, "a tag reader sees nothing or does not answer"),
    "link_lost": Fault("fault", "link", False, "host and board do not hear each other"),
    "firmware_mismatch": Fault("critical", "firmware", False, "host and board speak different protocols"),
}
"""Every code of the vocabulary; the severity a board uses where it knows no better."""
