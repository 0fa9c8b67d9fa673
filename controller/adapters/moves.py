"""How each movement of an adapted board ends: by what its sensors show, by time where that is safe, or not at all.

Pure. Times are seconds at a table's own speed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from protocol.dialects import Order, Shown, Verb
from protocol.serial import messages as serial
from protocol.serial.vocabulary import FaultCode

Ended = Literal["done", "failed", "interrupted"]

LOOKS: Final = 2
"""So often a board must have shown that it has not begun before an order is given again."""

TRIES: Final = 3
"""An order is given at most so often; one for the dice once."""


@dataclass(frozen=True, slots=True)
class Move:
    """One kind of movement.

    `verb` names it as the interlocks do; `least_s` must have passed before it can have ended, `most_s` is when it has
    failed with `fault`; `lost` is how it has ended where line or board were lost meanwhile: with `fault`, which asks
    people how it stands, or `interrupted`. `stands(shown, set, began)`: the sensors show its end; `idle(shown, set)`:
    they show that it has not begun. `again`: the order may be given again then.
    """

    verb: str
    order: Verb
    least_s: float
    most_s: float
    fault: FaultCode
    lost: Literal["interrupted", "fault"]
    stands: Callable[[Shown, int, bool], bool]
    idle: Callable[[Shown, int], bool]
    again: bool = True

    def order_for(self, set_no: int) -> Order:
        """What the board is told."""
        return Order(self.order, set_no)


MOVES: Final[Mapping[type[serial.Message], Move]] = {
    serial.CentreRaise: Move(
        "centre_raise", "centre_raise", 2.0, 7.0, "centre_limit_missing", "interrupted",
        # No switch at the upper end: it has left the lower one, its time is over and no motor runs.
        lambda shown, _, __: not shown.closed and not shown.busy,
        lambda shown, _: shown.closed and not shown.busy,
    ),
    serial.CentreLower: Move(
        "centre_lower", "centre_lower", 0.0, 7.0, "centre_limit_missing", "interrupted",
        lambda shown, _, __: shown.closed,
        lambda shown, _: not shown.closed and not shown.busy,
    ),
    serial.WallsRaise: Move(
        "walls_raise", "walls_raise", 0.0, 9.0, "wall_not_home", "fault",
        lambda shown, number, _: shown.home and shown.out == number and number not in shown.stacked,
        lambda shown, number: shown.home and number in shown.stacked and not shown.busy,
    ),
    serial.SortStart: Move(
        "sort", "sort", 0.0, 58.0, "sort_timeout", "interrupted",
        lambda shown, number, began: began and number in shown.stacked,
        lambda shown, number: not shown.busy,
    ),
    serial.DiceRoll: Move(
        "dice_roll", "dice_roll", 6.0, 6.0, "dice_stuck", "interrupted",
        # Nothing shows that the dice lie: their longest time is over. People say what they show.
        lambda shown, _, __: True,
        lambda shown, _: False,
        again=False,
    ),
}  # fmt: skip
"""Operation → its movement. What is not here such a board has not."""
