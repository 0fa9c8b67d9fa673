"""Named values of actions and commands: the check of what may stand there, and words for who sent another."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from protocol.mqtt.parts import FACE
from protocol.mqtt.topics import SEATS


@dataclass(frozen=True, slots=True)
class Accepts:
    """A check of a value. `limits` says for programs what is accepted: `allowed` values, `least`, `most` of a number,
    the `pattern` of a text, the `length` of a list from and to, `null` where null is too; empty where none says it.
    """

    fits: Callable[[Any], bool]
    limits: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, value: Any) -> bool:
        return self.fits(value)


@dataclass(frozen=True, slots=True)
class Param:
    """One named value of an action or command; `expected` says in English what may stand there."""

    name: str
    expected: str
    accepts: Accepts = field(repr=False)
    required: bool = True


def whole(low: int, high: int) -> Accepts:
    """A whole number within bounds; true and false are none."""
    return Accepts(lambda value: type(value) is int and low <= value <= high, {"least": low, "most": high})


def text(pattern: str) -> Accepts:
    """A text of this pattern, whole."""
    compiled = re.compile(pattern)
    return Accepts(lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None, {"pattern": pattern})


def one_of(*words: str) -> Accepts:
    """One of these words."""
    return Accepts(lambda value: isinstance(value, str) and value in words, {"allowed": list(words)})


def some(accepts: Accepts, least: int, most: int) -> Accepts:
    """A list of so many values, each accepted."""
    return Accepts(
        lambda value: isinstance(value, list) and least <= len(value) <= most and all(map(accepts, value)),
        {"length": [least, most]},
    )


flag = Accepts(lambda value: isinstance(value, bool), {"allowed": [True, False]})
"""True or false."""

either_step = Accepts(lambda value: type(value) is int and value in (1, -1), {"allowed": [1, -1]})

document = Accepts(lambda value: isinstance(value, dict) and len(value) <= 64)
"""A JSON object of at most 64 fields."""


def or_null(accepts: Accepts) -> Accepts:
    """What is accepted, or null."""
    return Accepts(lambda value: value is None or accepts(value), {**accepts.limits, "null": True})


def run_of(least: int, most: int) -> Accepts:
    """So many faces: a list of them, or one text of tiles run together such as `123m5z`."""

    def accepts(value: Any) -> bool:
        if isinstance(value, str):
            return _RUN(value) and least <= sum(character.isdigit() for character in value) <= most
        return some(face, least, most)(value)

    return Accepts(accepts, {"length": [least, most]})


def _meld(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"kind", "tiles"}
        and one_of("chi", "pong", "kong_open", "kong_added", "kong_concealed")(value["kind"])
        and run_of(3, 4)(value["tiles"])
    )


NAME = r"[A-Za-z0-9_.-]{1,64}"
face = text(FACE[1:-1])
_RUN = text("(?:[1-9]{1,17}[mps]|[1-7]{1,17}z|[1-8]{1,8}f){0,17}")

RULES = Param("rules", "the name of a rule profile", text(NAME), required=False)
LAYOUT = Param("layout", "zhitui or bagua", one_of("zhitui", "bagua"), required=False)
OPTIONS = Param("options", "an object of house rules that differ from the profile", document, required=False)
HANDS = Param("hands", "a whole number from 0 to 10000; 0: no limit", whole(0, 10_000), required=False)
MINUTES = Param("minutes", "a whole number from 0 to 10080; 0: no limit", whole(0, 10_080), required=False)
SEATING = Param("seats", "free or dice", one_of("free", "dice"), required=False)

def _names(value: Any) -> bool:
    return isinstance(value, dict) and set(value) <= set(SEATS) and all(map(_A_NAME, value.values()))


_A_NAME = text(r"[^\W_](?:[ \w.·-]{0,22}[\w.])?")
NAMES = Param("names", "an object of names by seat, each of at most 24 letters", Accepts(_names), required=False)

DICE = Param("dice", "two whole numbers from 1 to 6", some(whole(1, 6), 2, 2))
FLOWER = Param("tile", "a flower, 1f to 8f", text("[1-8]f"))
TILE = Param("tile", "a face: 1m to 9m, p, s; 1z to 7z; 1f to 8f", face)
MAY_BE_TILE = Param("tile", TILE.expected, face, required=False)
WAY = Param("way", "a way to win, in lower case", text("[a-z_]{1,40}"))
SEAT = Param("seat", "E, S, W or N", one_of(*SEATS))
MAY_BE_SEAT = Param("seat", SEAT.expected, SEAT.accepts, required=False)
ON = Param("on", "true or false", flag)
MELDS = Param(
    "melds",
    'a list of at most 5 objects such as {"kind": "pong", "tiles": ["5z", "5z", "5z"]}',
    some(Accepts(_meld), 0, 5),
    required=False,
)
