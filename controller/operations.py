"""The engine's wants of kind `operation` in the words of the serial contract: requests, results, limits.

Pure: what to send for a want, what a result says, and what the mechanisms' status proves after a board forgot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

from protocol.serial.messages import (
    CentreLower,
    CentreRaise,
    DiceOutcome,
    DiceRoll,
    MessageError,
    Operation,
    OpId,
    OpResult,
    PresentGroup,
    ReadWall,
    SortOutcome,
    SortStart,
    Status,
    WallOutcome,
    WallsRaise,
)
from protocol.serial.vocabulary import SIDES, Side


class WantIdentity(Protocol):
    """What an operation id is made of."""

    @property
    def hand(self) -> int: ...

    @property
    def attempt(self) -> int: ...

    @property
    def step_number(self) -> int: ...


class WantedOperation(Protocol):
    """The part of the engine's `Want` that the hardware driver reads."""

    @property
    def id(self) -> WantIdentity: ...

    @property
    def kind(self) -> str: ...

    @property
    def verb(self) -> str: ...

    @property
    def params(self) -> Mapping[str, Any]: ...


class UnknownOperation(ValueError):
    """A want that this driver has no words for."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How long a verb may take, in seconds, and the fault that taking longer is."""

    seconds: float
    fault: str


LIMITS: Final[Mapping[str, Limit]] = {
    "sort": Limit(60.0, "sort_timeout"),
    "centre_raise": Limit(8.0, "centre_limit_missing"),
    "centre_lower": Limit(8.0, "centre_limit_missing"),
    "walls_raise": Limit(10.0, "wall_not_home"),
    "dice_roll": Limit(15.0, "dice_stuck"),
    "read_wall": Limit(5.0, "reader_blind"),
    "present_group": Limit(8.0, "single_tile_push"),
}
"""By verb. A common sort takes 26 s, a centre stroke 1.2 s, the walls 2.5 s, the dice 3-5 s."""

RUN_AGAIN: Final = frozenset({"sort", "read_wall"})
"""Verbs that do no harm when a board that forgot them runs them a second time."""


def op_id(journal_id: int, want: WantedOperation) -> OpId:
    """The id under which the board knows this want; no other event changes it."""
    return OpId(journal=journal_id, hand=want.id.hand, step=want.id.step_number, attempt=want.id.attempt)


def request_for(want: WantedOperation, op: OpId) -> Operation:
    """The message that asks the board for a want; UnknownOperation when the driver has none."""
    build = _REQUESTS.get(want.verb)
    if build is None:
        raise UnknownOperation(f"no hardware operation {want.verb!r}; expected one of {', '.join(_REQUESTS)}")
    return build(op, want.params)


def result_of(verb: str, answer: OpResult) -> dict[str, Any]:
    """What a finished operation found, as the engine takes it; MessageError when the board's words are none."""
    if verb == "sort":
        counted = SortOutcome.unpack(answer.values).tiles
        return {"tiles": dict(zip(SIDES, counted, strict=True))}
    if verb == "dice_roll":
        throw = DiceOutcome.unpack(answer.values)
        return {
            "dice": None if throw.dice is None else list(throw.dice),
            "quality": throw.quality,
            "spin_ms": throw.spin_ms,
        }
    if verb == "read_wall":
        wall = WallOutcome.unpack(answer.values)
        return {"tiles": list(wall.tiles), "confidence": wall.confidence}
    if answer.values:
        raise MessageError("values", f"nothing for {verb}", f"{len(answer.values)} bytes")
    return {}


def proved_by_status(want: WantedOperation, status: Status) -> bool:
    """Whether the mechanisms already stand as the want asks, whoever moved them."""
    if want.verb == "centre_raise":
        return status.centre == "up"
    if want.verb == "centre_lower":
        return status.centre == "down"
    if want.verb == "walls_raise":
        return status.set_up == want.params["set"] and status.walls != "moving"
    return False


def nobody_can_tell(want: WantedOperation, status: Status) -> bool:
    """Whether the board itself does not know how the mechanism stands that the want is about."""
    if want.verb in ("centre_raise", "centre_lower"):
        return status.centre == "unknown"
    return want.verb == "walls_raise" and status.walls == "unknown"


def _side(params: Mapping[str, Any], key: str) -> Side:
    value = params[key]
    if value not in SIDES:
        raise UnknownOperation(f"{key}: expected one of {', '.join(SIDES)}, got {value!r}")
    return cast(Side, value)


_REQUESTS: Final[Mapping[str, Callable[[OpId, Mapping[str, Any]], Operation]]] = {
    "sort": lambda op, params: SortStart(op, params["set"]),
    "centre_raise": lambda op, params: CentreRaise(op),
    "centre_lower": lambda op, params: CentreLower(op),
    "walls_raise": lambda op, params: WallsRaise(op, params["set"]),
    "dice_roll": lambda op, params: DiceRoll(op),
    "read_wall": lambda op, params: ReadWall(op, _side(params, "side")),
    "present_group": lambda op, params: PresentGroup(
        op, _side(params, "side"), params["first"] - 1, (params["count"] + 1) // 2, _side(params, "seat")
    ),
}
