"""Reading the fields of a question: every value checked, every error named by its field and what was expected."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from engine.dice import Dice, DiceError, check_dice
from engine.melds import MELD_KINDS, Meld, is_meld
from engine.ruleset import EXAMPLES, PROFILES, Ruleset, RulesetError, load_ruleset
from engine.tiles import SEATS, TileError, is_flower, parse_tiles

_LONGEST_TOLD = 60
_MOST_TILES = 400


class QuestionError(ValueError):
    """A question that cannot be answered: `field` is the path of the value at fault."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


def told(value: object) -> str:
    """A value as an error shows it: JSON, shortened."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= _LONGEST_TOLD else f"{text[:_LONGEST_TOLD]}…"


def check_fields(given: Mapping[str, object], known: Collection[str], path: str = "") -> None:
    """QuestionError for the first field that is not known: a typo must not change a result in silence."""
    for field in given:
        if field not in known:
            raise QuestionError(f"{path}{_name(field)}", f"unknown field; known here: {', '.join(known)}")


def required(given: Mapping[str, object], field: str, path: str = "") -> object:
    """The value of a field that must be there."""
    if field not in given:
        raise QuestionError(f"{path}{field}", "missing")
    return given[field]


def a_mapping(value: object, field: str, what: str) -> Mapping[str, object]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise QuestionError(field, f"expected {what}, got {told(value)}")
    return value


def a_list(value: object, field: str, what: str) -> Sequence[object]:
    """A JSON array."""
    if not isinstance(value, list):
        raise QuestionError(field, f"expected {what}, got {told(value)}")
    return value


def a_bool(value: object, field: str) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise QuestionError(field, f"expected true or false, got {told(value)}")
    return value


def a_number(value: object, field: str, least: int = 0, most: int = 1_000_000) -> int:
    """A whole number in a range."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise QuestionError(field, f"expected a whole number from {least} to {most}, got {told(value)}")
    return value


def one_of(value: object, field: str, allowed: Iterable[str]) -> str:
    """One of some words."""
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        raise QuestionError(field, f"expected one of {', '.join(words)}, got {told(value)}")
    return value


def a_seat(value: object, field: str) -> str:
    """One of E, S, W, N."""
    return one_of(value, field, SEATS)


def seats(value: object, field: str) -> tuple[str, ...]:
    """A list of different seats."""
    found = tuple(a_seat(seat, field) for seat in a_list(value, field, 'a list of seats such as ["W"]'))
    if len(set(found)) != len(found):
        raise QuestionError(field, "the same seat twice")
    return found


def seat_numbers(value: object, field: str, most: int = 1_000_000) -> dict[str, int]:
    """A number for each of some seats; seats left out have 0."""
    given = a_mapping(value, field, 'a number per seat such as {"S": 3}')
    for seat in given:
        if seat not in SEATS:
            raise QuestionError(field, f"there is no seat {_name(seat)}; expected {', '.join(SEATS)}")
    return {seat: a_number(given.get(seat, 0), f"{field}.{seat}", 0, most) for seat in SEATS}


def dice(value: object, field: str) -> Dice:
    """A throw of two dice."""
    try:
        return check_dice(value)
    except DiceError as error:
        raise QuestionError(field, "expected two whole numbers 1-6 such as [5, 1], got " + told(value)) from error


def a_ruleset(question: Mapping[str, object]) -> Ruleset:
    """The ruleset of `rules`, single fields overridden by `options`; only what is shipped: no file is read."""
    name = one_of(required(question, "rules"), "rules", PROFILES + EXAMPLES)
    options = a_mapping(question.get("options", {}), "options", "an object of options")
    try:
        return load_ruleset(name, options)
    except RulesetError as error:
        raise QuestionError(error.field, error.message) from error


def tiles(value: object, field: str) -> list[str]:
    """A run of tiles such as `123m55p7z`, in the order written; the empty text is none."""
    if not isinstance(value, str):
        raise QuestionError(field, f"expected tiles such as 123m55p7z, got {told(value)}")
    if len(value) > 2 * _MOST_TILES:
        raise QuestionError(field, f"expected tiles, got a text of {len(value)} letters")
    try:
        return parse_tiles(value)
    except TileError as error:
        raise QuestionError(field, str(error)) from error


def tiles_of(rules: Ruleset, value: object, field: str) -> list[str]:
    """Tiles that a hand of these rules may hold: of its set, no flowers, no face more often than there are copies."""
    found = tiles(value, field)
    for face in found:
        if is_flower(face):
            raise QuestionError(field, f"{face} is a flower and no part of a hand (R7)")
    check_copies(rules, found, field)
    return found


def check_copies(rules: Ruleset, found: Iterable[str], field: str) -> None:
    """QuestionError when a tile is none of these rules, or is there more often than the set has copies."""
    have = rules.faces()
    for face, count in Counter(found).items():
        if face not in have:
            raise QuestionError(field, f"{face} is none of the {rules.tiles} tiles of {rules.name}")
        if count > have[face]:
            raise QuestionError(field, f"{count} copies of {face}, of which there are {have[face]}")


def a_face(rules: Ruleset, value: object, field: str) -> str:
    """One face of these rules' tiles, flowers excluded."""
    if not isinstance(value, str) or is_flower(value.ljust(2)) or value not in rules.faces():
        raise QuestionError(field, f"expected one face of {rules.name} such as 5p, no flower, got {told(value)}")
    return value


def a_gold(rules: Ruleset, question: Mapping[str, object]) -> str | None:
    """The gold's face; null before 开金."""
    value = required(question, "gold")
    return None if value is None else a_face(rules, value, "gold")


def melds(rules: Ruleset, gold: str | None, value: object) -> tuple[Meld, ...]:
    """The melds of a seat, each a run, a triplet or a kong of natural tiles (R11, R12)."""
    given = a_list(value, "melds", 'a list of melds such as {"kind": "chi", "tiles": "234m"}')
    if len(given) > rules.sets:
        raise QuestionError("melds", f"a hand of {rules.hand} has no more than {rules.sets} sets")
    return tuple(_meld(rules, gold, one, f"melds[{index}]") for index, one in enumerate(given))


def concealed_and_melds(
    rules: Ruleset, gold: str | None, question: Mapping[str, object]
) -> tuple[list[str], tuple[Meld, ...]]:
    """The concealed tiles and the melds of a waiting or a full hand, counted together."""
    held = tiles_of(rules, required(question, "concealed"), "concealed")
    laid = melds(rules, gold, question.get("melds", []))
    size = len(held) + 3 * len(laid)
    if size not in (rules.hand, rules.hand + 1):
        waiting = rules.hand - 3 * len(laid)
        beside = f" beside {len(laid)} melds" if laid else ""
        raise QuestionError("concealed", f"expected {waiting} or {waiting + 1} tiles{beside}, got {len(held)}")
    check_copies(rules, [*held, *(face for meld in laid for face in meld.tiles)], "concealed")
    return held, laid


def _meld(rules: Ruleset, gold: str | None, value: object, field: str) -> Meld:
    given = a_mapping(value, field, 'a meld such as {"kind": "chi", "tiles": "234m"}')
    check_fields(given, ("kind", "tiles"), f"{field}.")
    kind = one_of(required(given, "kind", f"{field}."), f"{field}.kind", MELD_KINDS)
    found = tiles_of(rules, required(given, "tiles", f"{field}."), f"{field}.tiles")
    if len(found) != MELD_KINDS[kind]:
        raise QuestionError(f"{field}.tiles", f"{kind} has {MELD_KINDS[kind]} tiles, got {len(found)}")
    if gold is not None and gold in found:
        raise QuestionError(f"{field}.tiles", f"the gold {gold} is part of no meld (R11)")
    meld = Meld(kind, tuple(found))
    if not is_meld(rules, gold, meld):
        wanted = "a run of one suit" if kind == "chi" else f"{len(found)} of one face"
        raise QuestionError(f"{field}.tiles", f"expected {wanted}, got {told(given['tiles'])}")
    return meld


def _name(field: str) -> str:
    return field if len(field) <= _LONGEST_TOLD else f"{field[:_LONGEST_TOLD]}…"
