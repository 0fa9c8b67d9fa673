"""What each fault asks of whom: who finds it, by which sensor, first aid, whom the parlor sends, and how it ends.

Codes travel, sentences do not: what players and repairers read of a code is in the displays' catalogue. The table of
`docs/faults.md` is made from this one (`python -m cli.faults_document`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from protocol.serial.faults import FAULTS
from protocol.serial.vocabulary import FAULT_CODES

Send = Literal["nobody", "floor", "repairer"]
"""Whom the parlor sends: players help themselves; somebody of the house; somebody with tools."""

Play = Literal["on", "waits", "stops"]
"""The hand goes on untouched; it goes on until it needs the movement, which waits; the table is parked."""

Aid = Literal[
    "look_for_tile", "take_out_tiles", "sort_by_backs", "clear_and_retry", "retry", "clean", "see_whether_down",
    "gear", "say_dice", "throw_again", "use_display", "play_on", "let_cool", "leave_tiles", "close_lid",
    "line_up_tiles", "call_service",
]  # fmt: skip
"""First aid by its kind, the same for faults that people meet in the same way."""

AIDS: Final[tuple[Aid, ...]] = get_args(Aid)

TRIES_BORNE: Final = 2
"""An operation that fails once more than so often is no longer for players: the repairer is sent."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """One fault's row. `sensors` are names of the contract's tables, `{side}` where it has one on each side.

    `found` and `ends` are for the documents: who finds it and how, and how the hand goes on.
    """

    found: str
    sensors: tuple[str, ...]
    aid: Aid
    send: Send
    play: Play
    ends: str


_AGAIN: Final = "somebody presses: a new attempt of the same operation"
_GONE: Final = "the board says that it is over"

REMEDIES: Final[Mapping[str, Remedy]] = {
    "sort_timeout": Remedy(
        "the board after 60 s; the daemon where no result has come by then", ("tiles_on_felt",), "look_for_tile",
        "nobody", "waits", "what lies about is put in by the flap, somebody presses: sorted again",
    ),
    "side_short": Remedy(
        "the board by the count of a side; the daemon by the counts of a sort's result", ("eye_{side}",),
        "look_for_tile", "nobody", "waits", "the tile is put in by the flap, somebody presses: sorted again",
    ),
    "side_long": Remedy(
        "the board by the count of a side; the daemon by the counts of a sort's result", ("eye_{side}",),
        "take_out_tiles", "floor", "waits", "what is too much is taken out, somebody presses: sorted again",
    ),
    "head_jam": Remedy("the board: the head does not let a tile pass", ("head_{side}",), "retry", "floor", "waits",
        "somebody presses: sorted again"),
    "single_tile_push": Remedy("the board: an eye above the stack sees nothing", ("eye_{side}",), "retry", "nobody",
        "waits", _AGAIN),
    "push_incomplete": Remedy("the board: the pusher's motor runs on without its end", ("motor_current",),
        "clear_and_retry", "floor", "waits", _AGAIN),
    "wall_not_home": Remedy(
        "the board: neither of the lifts' switches answers; the daemon where no result has come after 10 s",
        ("walls_down", "walls_up"), "clear_and_retry", "floor", "waits",
        _AGAIN + ", or two seats say that the walls stand",
    ),
    "centre_limit_missing": Remedy(
        "the board: no end switch answers after the drive time; the daemon where no result has come after 8 s",
        ("centre_down", "centre_up"), "see_whether_down", "repairer", "waits",
        _AGAIN + "; closed by time and two seats' word, where that is safe (below)",
    ),
    "eye_dirty": Remedy("the board: an eye's level is low", ("eye_level_{side}",), "clean", "floor", "on",
        _GONE + "; a sort that it ended is tried again"),
    "sets_mixed": Remedy("the board by the backs; the daemon by a wall's faces", (), "sort_by_backs",
        "floor", "waits", _AGAIN),
    "tile_left_out": Remedy("the board by the felt's sensor or the count", ("tiles_on_felt",), "look_for_tile",
        "nobody", "on", "the tile is put in by the flap; a short sort is sorted again"),
    "gear_mismatch": Remedy(
        "the board: tiles are left over; the daemon: the board refuses the gear of the match", (), "gear", "floor",
        "waits", "the daemon sets the gear until the board takes it; a sort that it ended is tried again",
    ),
    "dice_stuck": Remedy(
        "the board: the plate does not turn; the daemon where no result has come after 15 s",
        ("dice_still", "motor_current"), "say_dice", "floor", "waits",
        "people say what the dice show; where nobody saw them stop all four allow a new throw",
    ),
    "dice_ambiguous": Remedy("the board: the faces of a throw cannot be told", ("dice_still",), "throw_again",
        "nobody", "on", "the same seat throws again, as a new attempt"),
    "key_stuck": Remedy("the board: a key is pressed for too long", ("seat_key_{side}",), "use_display", "floor",
        "on", _GONE),
    "motor_overheat": Remedy("the board: its thermistor", ("motor_temperature",), "let_cool", "nobody", "waits",
        "it cools: a sort goes on by itself, anything else when somebody presses"),
    "motor_stall": Remedy("the board: current without a turn", ("motor_current",), "clear_and_retry", "repairer",
        "waits", _AGAIN),
    "brown_out": Remedy("the board: the supply broke in", ("supply",), "leave_tiles", "floor", "stops",
        "the table parks; any seat lets it go on where it was"),
    "lid_open": Remedy("the board: the lid's switch", ("lid_closed",), "close_lid", "nobody", "waits",
        "the lid is closed: what waited is begun; what it interrupted is tried again when somebody presses"),
    "reader_blind": Remedy("the board; the daemon by a wall that cannot be read", ("reader_ready",), "line_up_tiles",
        "repairer", "waits", "read again; in play a seat's word stands for its reader's"),
    "link_lost": Remedy("the daemon: 2 s of silence, or the port has gone", (), "leave_tiles", "repairer", "waits",
        "the line comes back: what was asked is asked again under its id, and runs once"),
    "firmware_mismatch": Remedy("the daemon at the handshake, or by a result that keeps no contract", (),
        "call_service", "repairer", "stops", "board or daemon is updated; the hand goes on where it was"),
}  # fmt: skip
"""Every fault of the vocabulary."""

REFUSALS: Final[Mapping[str, Remedy]] = {
    "interrupted": Remedy("the result of an operation that was stopped half-way", (), "clear_and_retry", "nobody",
        "waits", _AGAIN),
    "interlock": Remedy("the board refuses: something is not where it must be", (), "clear_and_retry", "floor",
        "waits", _AGAIN),
    "busy": Remedy("the board refuses: the mechanism is at work", (), "retry", "nobody", "waits", _AGAIN),
    "unsupported": Remedy("the board refuses: it has no such thing", (), "call_service", "repairer", "waits", _AGAIN),
    "bad_argument": Remedy("the board refuses: it makes no sense to it", (), "call_service", "repairer", "waits",
        _AGAIN),
    "gear": Remedy("the board refuses: it is in no gear", (), "gear", "floor", "waits", _AGAIN),
    "service_mode": Remedy("the board refuses: service mode, or none", (), "call_service", "repairer", "waits",
        _AGAIN),
    "unknown": Remedy("nobody at the machine can know whether it was done", (), "see_whether_down", "nobody",
        "waits", "two seats say that it stands: done; one says that it does not: a new attempt"),
}  # fmt: skip
"""What ends an operation beside the vocabulary's faults."""

SLOW: Final = Remedy("the daemon: the median of the latest cycles against what it has learned", (), "play_on",
    "repairer", "on", "it is as quick again as it was, or a repairer lets it be learned anew")
"""`slow_` and an operation: it takes longer than it used to, long before it fails."""

_OTHER: Final = Remedy("a board that knows more faults", (), "retry", "floor", "waits", _AGAIN)


def remedy(code: str) -> Remedy:
    """The row of a code; of one that is in no table, what is right for most."""
    return REMEDIES.get(code) or REFUSALS.get(code) or (SLOW if code.startswith("slow_") else _OTHER)


def named(code: str, side: str = "", tries: int = 1) -> dict[str, Any]:
    """What is told of a fault beside its code: the sensors in question, first aid, and whom to send.

    A sensor that is on each side is told where the side is known; `tries` are the failed attempts so far.
    """
    row = remedy(code)
    sensors = [name.format(side=side) for name in row.sensors if side or "{side}" not in name]
    return {"sensors": sensors, "aid": row.aid, "send": "repairer" if tries > TRIES_BORNE else row.send}


def mechanism_of(code: str, told: str = "") -> str:
    """The mechanism that a board tells of, or the vocabulary's where it tells none."""
    return told or next((FAULTS[known].mechanism for known in FAULT_CODES if known == code), "")
