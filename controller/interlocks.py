"""What must be true before a motion: the daemon's side of the contract's interlocks, as one table. Pure.

The board keeps the same table and has the last word; the daemon sends nothing that it knows to be forbidden.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from protocol.serial.vocabulary import Position


@dataclass(frozen=True, slots=True)
class Facts:
    """What the daemon knows of a board now; of sets 0 is none.

    `by_word`: two seats have said that the centre is down, where its switch does not answer. `key_held`: the service
    key at the table.
    """

    centre: Position = "down"
    walls: Position = "down"
    sorted_set: int = 0
    set_up: int = 0
    sorting_set: int = 0
    lid_closed: bool = True
    stop: bool = False
    by_word: bool = False
    gear: bool = True
    service: bool = False
    key_held: bool = False


Condition = str
"""A condition in the words of the documents."""

LID: Final = "lid closed"
STOP: Final = "no stop latched"
WALLS_DOWN: Final = "walls down"
NO_SORT: Final = "no sort under way"
CENTRE_DOWN: Final = "centre down, seen or by two seats' word"
CENTRE_SEEN: Final = "centre seen down"
SET_SORTED: Final = "that set sorted"
GEAR: Final = "gear set"
SERVICE: Final = "service mode"
KEY: Final = "service key held at the table"

_HOLDS: Final[Mapping[Condition, Callable[[Facts, int], bool]]] = {
    LID: lambda facts, _: facts.lid_closed,
    STOP: lambda facts, _: not facts.stop,
    WALLS_DOWN: lambda facts, _: facts.walls == "down",
    NO_SORT: lambda facts, _: not facts.sorting_set,
    CENTRE_DOWN: lambda facts, _: facts.centre == "down" or (facts.by_word and facts.centre != "up"),
    CENTRE_SEEN: lambda facts, _: facts.centre == "down",
    SET_SORTED: lambda facts, number: number in (facts.sorted_set, facts.set_up),
    GEAR: lambda facts, _: facts.gear,
    SERVICE: lambda facts, _: facts.service,
    KEY: lambda facts, _: facts.key_held,
}

INTERLOCKS: Final[Mapping[str, tuple[Condition, ...]]] = {
    "centre_raise": (STOP, LID, WALLS_DOWN, NO_SORT),
    "centre_lower": (STOP, LID, WALLS_DOWN, NO_SORT),
    "walls_raise": (STOP, LID, CENTRE_DOWN, SET_SORTED),
    "walls_lower": (STOP, LID, CENTRE_DOWN),
    "sort": (STOP, LID, CENTRE_SEEN, GEAR),
    "present_group": (STOP, LID, CENTRE_DOWN),
    "dice_roll": (STOP, LID),
    "jog": (STOP, LID, SERVICE, KEY),
    "self_test": (STOP, LID, SERVICE),
    "read_wall": (),
    "sort_stop": (),
}
"""By verb; `read_wall` and `sort_stop` move nothing."""

WAITED_FOR: Final = frozenset({STOP, LID, NO_SORT})
"""What people, or a sort that runs, will bring about: a motion waits for it as long as it takes."""


def unmet(verb: str, facts: Facts, set_no: int = 0) -> Condition | None:
    """The first condition of a motion that does not hold; None when it may be sent. `set_no` of what it is about."""
    return next((one for one in INTERLOCKS[verb] if not _HOLDS[one](facts, set_no)), None)
