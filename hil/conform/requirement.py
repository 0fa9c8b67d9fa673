"""What a test of the suite is: a number, the sentence of the contract, what it needs; how it fails and is skipped."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from hil.conform.bench import Bench

Profile = Literal["core", "dice", "deal", "lamps", "readers", "service"]
PROFILES: Final[tuple[Profile, ...]] = ("core", "dice", "deal", "lamps", "readers", "service")

Deed = Literal[
    "reset",
    "freeze",
    "open_lid",
    "close_lid",
    "press_stop",
    "release_stop",
    "turn_service",
    "hold_key",
    "release_key",
    "throw_unasked",
    "lean_die",
    "clear_felt",
    "flip_tile",
    "press_lift",
    "hide_centre",
    "show_centre",
]
"""What hands do at a board while it is tried (`hil.conform.hands`)."""

Body: TypeAlias = "Callable[[Bench], Awaitable[None]]"

GROUPS: Final[dict[str, str]] = {
    "1": "Framing",
    "2": "Session",
    "3": "Delivery",
    "4": "Operations",
    "5": "Liveness",
    "6": "Stop",
    "7.1": "Dice",
    "7.2": "Gear, sort, centre, walls",
    "7.3": "Lamps and sounds",
    "7.4": "Readers",
    "7.5": "Service",
    "8": "Timing",
}
"""Number of a group → its name, in the order of the suite."""


class Failed(Exception):
    """The board did not do what the contract says."""

    def __init__(self, expected: str, seen: str) -> None:
        super().__init__(f"expected {expected}; seen: {seen}")
        self.expected = expected
        self.seen = seen


class Skipped(Exception):
    """The test cannot be made here; the message says why."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One test. `says` is the sentence of the contract, `section` where it stands in `docs/serial.md`.

    `moves`: motors run. `provokes`: a motion is asked for that the board must refuse; one that does not moves against
    its interlocks. `deeds`: what hands must do meanwhile.
    """

    number: str
    title: str
    says: str
    section: str
    profile: Profile
    moves: bool
    provokes: bool
    deeds: tuple[Deed, ...]
    body: Body

    @property
    def group(self) -> str:
        """The number of its group: `3`, or `7.1`."""
        return self.number.rpartition(".")[0]


REQUIREMENTS: Final[dict[str, Requirement]] = {}
"""Every test by its number; `hil.conform.suite` fills it."""


def requirement(
    number: str,
    title: str,
    says: str,
    *,
    section: str,
    profile: Profile = "core",
    moves: bool = False,
    provokes: bool = False,
    deeds: tuple[Deed, ...] = (),
) -> Callable[[Body], Body]:
    """Declare a test of the suite; ValueError for a number that is taken."""

    def declare(body: Body) -> Body:
        if number in REQUIREMENTS:
            raise ValueError(f"number {number}: expected one that is free")
        REQUIREMENTS[number] = Requirement(
            number, title, says, section, profile, moves or provokes, provokes, deeds, body
        )
        return body

    return declare


def in_order() -> tuple[Requirement, ...]:
    """All tests as the suite runs them."""
    return tuple(sorted(REQUIREMENTS.values(), key=lambda one: tuple(int(part) for part in one.number.split("."))))
