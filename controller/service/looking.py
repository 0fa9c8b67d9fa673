"""What a repairer looks at: sensors by name, learned times against now, counters of board and lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from controller.lines import Line, LineLost
from controller.mechanisms import Learned
from controller.operations import LIMITS
from protocol.serial import messages as serial

QUERY_S: Final = 2.0

MOVEMENTS: Final[Mapping[str, str]] = {
    "centre_up": "centre_raise",
    "centre_down": "centre_lower",
    "walls_up": "walls_raise",
    "sort": "sort",
    "dice": "dice_roll",
}
"""A movement whose usual time the board learns → the operation that is the same, measured by the host."""


@dataclass(frozen=True, slots=True)
class Readout:
    """The board's sensors at one moment, by the names of the serial contract; bits that it does not know are unset."""

    sensors: Mapping[str, bool]
    values: Mapping[str, int]

    @property
    def mode(self) -> bool:
        """The board is in service mode."""
        return self.sensors["service_mode"]

    @property
    def lid_closed(self) -> bool:
        """The lid's switch says so."""
        return self.sensors["lid_closed"]

    @property
    def key(self) -> bool:
        """The service key is held down."""
        return self.sensors["service_key"]


async def read_sensors(line: Line) -> Readout:
    """What the sensors show now; LineLost when the board does not say."""
    if not line.ready:
        raise LineLost("no session")
    found = await line.request(serial.SensorsQuery, serial.Sensors, QUERY_S)
    return Readout(
        {name: bool(found.bits >> bit & 1) for bit, name in enumerate(serial.SENSOR_BITS)},
        {name: value for (name, _), value in zip(serial.SENSOR_VALUES, found.values, strict=True)},
    )


async def at_rest(lines: Iterable[Line]) -> bool:
    """Whether no board carries anything out; one that is away counts as resting. LineLost when one goes meanwhile."""
    for line in lines:
        if line.ready:
            status = await line.request(serial.StatusQuery, serial.Status, QUERY_S)
            if status.running_op is not None:
                return False
    return True


async def away_from_home(line: Line, centre: str, either: bool) -> dict[str, str]:
    """Which mechanisms do not stand where play goes on from, by name and position; empty when all do.

    `centre` is where the centre is to be; `either`: it was on its way, both ends will do. LineLost as always.
    """
    if not line.ready:
        raise LineLost("no session")
    status = await line.request(serial.StatusQuery, serial.Status, QUERY_S)
    found: dict[str, str] = {}
    if status.centre not in (("down", "up") if either else (centre,)):
        found["centre"] = status.centre
    if status.walls not in ("down", "up"):
        found["walls"] = status.walls
    return found


async def counters(lines: Iterable[Line]) -> dict[str, Any]:
    """Cycles and motor seconds of the table's board, and how each line fares; what a silent board would say is null."""
    told: list[dict[str, Any]] = []
    first: serial.Counters | None = None
    for place, line in enumerate(lines):
        board = None
        if line.ready:
            board = await line.request(serial.CountersQuery, serial.Counters, QUERY_S)
        if place == 0:
            first = board
        stats = line.stats
        told.append(
            {
                "port": Path(line.name).name,
                "state": "up" if line.ready else "lost",
                "frames_in": stats.frames_in,
                "frames_out": stats.frames_out,
                "retransmits": stats.retransmits,
                "bad_frames": sum(stats.errors.values()),
                "losses": stats.losses,
                "board_retransmits": None if board is None else board.retransmits,
                "board_bad_frames": None if board is None else board.bad_frames,
            }
        )
    return {
        "cycles": None if first is None else first.cycles,
        "motor_seconds": None if first is None else dict(zip(serial.MOTORS, first.motor_seconds, strict=True)),
        "lines": told,
    }


async def times(line: Line, learned: Mapping[str, Learned]) -> dict[str, Any]:
    """Each movement: what the host has learned and measures now, when it counts as failed, what the board has learned.

    All in ms; null where there is nothing yet.
    """
    board: dict[str, int | None] = dict.fromkeys(serial.LEARNED)
    if line.ready:
        said = await line.request(serial.CountersQuery, serial.Counters, QUERY_S)
        board = {name: ms or None for name, ms in zip(serial.LEARNED, said.learned_ms, strict=True)}
    found: list[dict[str, Any]] = []
    of_board = {verb: movement for movement, verb in MOVEMENTS.items()}
    for verb, one in learned.items():
        found.append(
            {
                "movement": verb,
                "count": one.count,
                "usual_ms": one.usual_ms or None,
                "now_ms": one.recent_ms or None,
                "last_ms": one.last_ms or None,
                "spread_ms": one.spread_ms,
                "slow": one.slow,
                "limit_ms": round(LIMITS[verb].seconds * 1000),
                "board_ms": board.get(of_board.get(verb, "")),
            }
        )
    return {"movements": found, "board": board}
