"""The values of an action, read one by one; Refused `bad_value` names the field and what was expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.chain import Refused
from engine.melds import MELD_KINDS, Meld
from engine.tiles import ALL_FACES, FLOWERS, SEATS, TileError, parse_tiles

Params = Mapping[str, Any]


def only(params: Params, rule: str, *known: str) -> None:
    """No other fields than these."""
    for name in params:
        if name not in known:
            raise bad(str(name), ("one of " + ", ".join(known)) if known else "no values", rule)


def bad(field: str, expected: str, rule: str, **limits: Any) -> Refused:
    """The refusal of a value: what was expected in English, for programs as `allowed` values or `least` and `most`."""
    return Refused("bad_value", rule, {"field": field, "expected": expected, **limits})


def seat(params: Params, name: str, rule: str, default: str | None = None) -> str:
    """A seat; `default` where it was left out."""
    found = params.get(name, default)
    if not isinstance(found, str) or found not in SEATS:
        raise bad(name, "E, S, W or N", rule, allowed=list(SEATS))
    return found


def maybe_seat(params: Params, name: str, rule: str) -> str | None:
    """A seat, or None where it was left out or is null."""
    return None if params.get(name) is None else seat(params, name, rule)


def flag(params: Params, name: str, rule: str, default: bool | None = None) -> bool:
    """True or false; `default` where it was left out."""
    found = params.get(name, default)
    if not isinstance(found, bool):
        raise bad(name, "true or false", rule, allowed=[True, False])
    return found


def whole(params: Params, name: str, most: int, rule: str) -> int:
    """A whole number from 0 to `most`."""
    found = params.get(name)
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= most:
        raise bad(name, f"a whole number from 0 to {most}", rule, least=0, most=most)
    return found


def word(params: Params, name: str, choices: tuple[str, ...], rule: str) -> str:
    """One of some words."""
    found = params.get(name)
    if not isinstance(found, str) or found not in choices:
        raise bad(name, "one of " + ", ".join(choices), rule, allowed=list(choices))
    return found


def text(params: Params, name: str, rule: str) -> str:
    """Any word; what it means is checked elsewhere."""
    found = params.get(name)
    if not isinstance(found, str) or not found:
        raise bad(name, "a word", rule)
    return found


def words(params: Params, name: str, rule: str) -> tuple[str, ...]:
    """A list of words."""
    found = params.get(name)
    if not isinstance(found, list | tuple) or not all(isinstance(one, str) for one in found):
        raise bad(name, "a list of words", rule)
    return tuple(found)


def flower(params: Params, rule: str) -> str:
    """The flower under `tile`."""
    found = params.get("tile")
    if not isinstance(found, str) or found not in FLOWERS:
        raise bad("tile", "a flower 1f-8f", rule)
    return found


def maybe_face(params: Params, name: str, rule: str) -> str:
    """A face, or nothing."""
    found = params.get(name)
    if found is None or found == "":
        return ""
    if not isinstance(found, str) or found not in ALL_FACES:
        raise bad(name, "a face such as 5p", rule)
    return found


def faces(params: Params, name: str, rule: str, expected: str = "a list of faces such as 5p") -> tuple[str, ...]:
    """A list of faces, or one text of tiles run together."""
    return _faces(params.get(name), name, rule, expected)


def melds(params: Params, name: str, rule: str) -> tuple[Meld, ...]:
    """A list of melds, each with its kind and tiles; left out for none."""
    found = params.get(name, ())
    if not isinstance(found, list | tuple):
        raise bad(name, "a list of melds with kind and tiles", rule)
    return tuple(_meld(one, name, rule) for one in found)


def _meld(value: object, name: str, rule: str) -> Meld:
    if not isinstance(value, Mapping) or set(value) != {"kind", "tiles"}:
        raise bad(name, "a list of melds with kind and tiles", rule)
    kind = value["kind"]
    if not isinstance(kind, str) or kind not in MELD_KINDS:
        raise bad(name, "a kind of " + ", ".join(MELD_KINDS), rule)
    return Meld(kind, _faces(value["tiles"], name, rule, "melds with a list of faces such as 5p"))


def _faces(value: object, name: str, rule: str, expected: str) -> tuple[str, ...]:
    if isinstance(value, str):
        try:
            return tuple(parse_tiles(value))
        except TileError as error:
            raise bad(name, expected, rule) from error
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) and one in ALL_FACES for one in value):
        raise bad(name, expected, rule)
    return tuple(value)
