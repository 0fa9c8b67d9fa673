"""The rule book as questions and answers, as `kaijin rules eval` reads and writes them: one JSON object a line.

Every operation runs the functions of the table itself. A question that cannot be answered gets
`{"error": "field: what was expected"}`; nothing that is asked raises to the caller.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from engine import question_fields as read
from engine.claims import opening_claims
from engine.dice import Dice, pointed_seat
from engine.hands import complete, golds_held, waits, wins_by, youjin_discards, youjin_ready
from engine.opening import (
    Lines,
    Taking,
    gold_of,
    gold_path,
    lines,
    next_flower_turn,
    next_tiles,
    next_to_flip,
    taking,
    third_in_a_row,
    wall_positions,
)
from engine.question_fields import QuestionError
from engine.question_points import FAN_FIELDS, SETTLE_FIELDS, WATER_FIELDS, ask_fan, ask_settle, ask_water
from engine.ruleset import Ruleset
from engine.tiles import SEATS, format_tiles, is_flower, play_order

Question: TypeAlias = Mapping[str, object]
Answer: TypeAlias = dict[str, Any]

DRAW_SHOWN = 8
TAIL_SHOWN = 12


def answer(question: object) -> Answer:
    """The rule book's answer to one question; `{"error": …}` when there is none. Echoes `id`."""
    if not isinstance(question, dict):
        return {"error": f"expected one JSON object, got {read.told(question)}"}
    try:
        found = _answer(question)
    except QuestionError as error:
        found = {"error": str(error)}
    return found if "id" not in question else {"id": question["id"], **found}


def answer_line(text: str) -> str:
    """The answer to one line of JSON as one line of JSON, without its end."""
    try:
        question = json.loads(text, object_pairs_hook=_no_field_twice, parse_constant=_no_number, parse_float=_finite)
        line = json.dumps(answer(question), ensure_ascii=False)
    except QuestionError as error:
        line = json.dumps({"error": str(error)}, ensure_ascii=False)
    except RecursionError:
        line = json.dumps({"error": "expected one JSON object, got brackets nested too deep"})
    except ValueError as error:
        line = json.dumps({"error": f"expected one JSON object: {error}"}, ensure_ascii=False)
    return line if _encodable(line) else json.dumps(json.loads(line))


def _answer(question: Question) -> Answer:
    operation = OPERATIONS[read.one_of(read.required(question, "op"), "op", OPERATIONS)]
    read.check_fields(question, ("op", "id", *operation.fields))
    return operation.run(question)


def _no_field_twice(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for field, value in pairs:
        if field in found:
            raise QuestionError(field, "given twice")
        found[field] = value
    return found


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _finite(number: str) -> float:
    value = float(number)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{number} is too large")
    return value


def _encodable(line: str) -> bool:
    try:
        line.encode()
    except UnicodeEncodeError:
        return False
    return True


# -- point -------------------------------------------------------------------------------------------------------------


def _point(question: Question) -> Answer:
    """R1: whom a roll points at."""
    roller = read.a_seat(read.required(question, "roller"), "roller")
    return {"seat": pointed_seat(roller, read.dice(read.required(question, "dice"), "dice"))}


# -- opening -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rolls:
    """The throws of an opening."""

    deal: Dice
    door: Dice | None
    gold: tuple[Dice, ...]


@dataclass(frozen=True, slots=True)
class _Flip:
    """The gold as it was opened, and what was flipped before it."""

    position: str
    tile: str
    passed: tuple[tuple[str, str], ...]
    kept: tuple[str, ...]


def _opening(question: Question) -> Answer:
    """R4-R10: takes, door, flowers and gold from the rolls, and from the wall where it is known."""
    rules = read.a_ruleset(question)
    dealer = read.a_seat(read.required(question, "dealer"), "dealer")
    layout = read.one_of(question.get("layout", rules.layouts[0]), "layout", rules.layouts)
    rolls = _rolls(question, layout)
    history = [
        read.a_face(rules, face, "gold_history")
        for face in read.a_list(question.get("gold_history", []), "gold_history", 'a list of faces such as ["5p"]')
    ]
    plan = taking(rules, layout, dealer, rolls.deal)
    wall = lines(rules, layout, dealer, rolls.deal, rolls.door)
    if "wall" not in question:
        return _ends(plan, wall, frozenset())
    return _opened(rules, dealer, plan, wall, _tiles_in_place(rules, layout, question["wall"]), rolls, history)


def _rolls(question: Question, layout: str) -> _Rolls:
    given = read.a_mapping(read.required(question, "rolls"), "rolls", 'rolls such as {"deal": [5, 1]}')
    read.check_fields(given, ("deal", "door", "gold"), "rolls.")
    deal = read.dice(read.required(given, "deal", "rolls."), "rolls.deal")
    door = None
    if layout == "bagua":
        door = read.dice(read.required(given, "door", "rolls."), "rolls.door")
    elif "door" in given:
        raise QuestionError("rolls.door", "直推 has no door roll (R4)")
    throws = read.a_list(given.get("gold", []), "rolls.gold", "a list of throws such as [[2, 4]]")
    return _Rolls(deal, door, tuple(read.dice(throw, "rolls.gold") for throw in throws))


def _tiles_in_place(rules: Ruleset, layout: str, value: object) -> dict[str, str]:
    places = wall_positions(rules, layout)
    found = read.tiles(value, "wall")
    if len(found) != len(places):
        raise QuestionError("wall", f"expected the {len(places)} tiles of {rules.name}, got {len(found)}")
    read.check_copies(rules, found, "wall")
    return dict(zip(places, found, strict=True))


def _ends(plan: Taking, wall: Lines, gone: frozenset[str]) -> Answer:
    return {
        "first_seat": plan.first_seat,
        "takes": [[seat, list(positions)] for seat, positions in plan.takes],
        "extra": wall.extra,
        "draw": list(next_tiles(wall.head, gone, DRAW_SHOWN)),
        "tail": list(next_tiles(wall.tail, gone, TAIL_SHOWN)),
        "remaining": len(wall.head) - len(gone.intersection(wall.head)),
    }


def _opened(
    rules: Ruleset,
    dealer: str,
    plan: Taking,
    wall: Lines,
    standing: Mapping[str, str],
    rolls: _Rolls,
    history: Sequence[str],
) -> Answer:
    hands: dict[str, list[str]] = {seat: [] for seat in SEATS}
    for seat, positions in (*plan.takes, (dealer, (wall.extra,))):
        hands[seat] += [standing[position] for position in positions]
    flowers: dict[str, list[str]] = {seat: [] for seat in SEATS}
    replacements = _replace_flowers(dealer, wall, standing, hands, flowers)
    gone = {position for _, _, position, _ in replacements}
    flip = _flip_gold(rules, wall, standing, gone, rolls.gold, history)
    flowers[dealer] += flip.kept
    gold = gold_of(rules, flip.tile)
    gone.update(position for position, tile in flip.passed if tile in flip.kept)
    gone.add(flip.position)
    told = {"position": flip.position, "tile": gold}
    return {
        "hands": {seat: format_tiles(hands[seat]) for seat in SEATS},
        "flowers": {seat: format_tiles(flowers[seat]) for seat in SEATS},
        "replacements": [list(one) for one in replacements],
        "gold": told if rules.gold == "flipped" else {**told, "indicator": flip.tile},
        "passed": [list(one) for one in flip.passed],
        **_ends(plan, wall, frozenset(gone)),
    }


def _replace_flowers(
    dealer: str,
    wall: Lines,
    standing: Mapping[str, str],
    hands: dict[str, list[str]],
    flowers: dict[str, list[str]],
) -> list[tuple[int, str, str, str]]:
    """R7: rounds from the dealer on until nobody holds a flower; changes `hands` and `flowers`."""
    replaced: list[tuple[int, str, str, str]] = []
    turn = next_flower_turn(hands, dealer, (1, 0))
    while turn is not None:
        number, place = turn
        seat = play_order(dealer)[place]
        laid = [face for face in hands[seat] if is_flower(face)]
        drawn = next_tiles(wall.tail, {position for _, _, position, _ in replaced}, len(laid))
        replaced += [(number, seat, position, standing[position]) for position in drawn]
        kept = [face for face in hands[seat] if not is_flower(face)]
        hands[seat] = kept + [standing[position] for position in drawn]
        flowers[seat] += laid
        turn = next_flower_turn(hands, dealer, (number, place + 1))
    return replaced


def _flip_gold(
    rules: Ruleset,
    wall: Lines,
    standing: Mapping[str, str],
    gone: set[str],
    throws: tuple[Dice, ...],
    history: Sequence[str],
) -> _Flip:
    """R8, R9: flip tiles until one is the gold, with exactly the throws that the rules ask for."""
    passed: list[tuple[str, str]] = []
    kept: list[str] = []
    left = set(gone)
    after = None
    for number, throw in enumerate(throws, 1):
        path = gold_path(wall, left, sum(throw), after)
        if len(path) < sum(throw):
            raise QuestionError("rolls.gold", f"throw {number} counts past the end of the wall")
        position = path[-1]
        while is_flower(standing[position]):
            passed.append((position, standing[position]))
            if rules.flower_gold == "return_reroll":
                break
            if rules.flower_gold == "dealer_then_next":
                kept.append(standing[position])
                left.add(position)
            position = next_to_flip(wall, left, position)
        tile = standing[position]
        if is_flower(tile):
            after = None
        elif third_in_a_row(rules, history, gold_of(rules, tile)):
            passed.append((position, tile))
            after = position
        elif number < len(throws):
            raise QuestionError("rolls.gold", f"{len(throws)} throws given, the rules ask for {number} (R8, R9)")
        else:
            return _Flip(position, tile, tuple(passed), tuple(kept))
    raise QuestionError("rolls.gold", f"throw {len(throws) + 1} is missing: the rules ask for it (R8, R9)")


# -- hand --------------------------------------------------------------------------------------------------------------


def _hand(question: Question) -> Answer:
    """R20-R22: the shape of one hand."""
    rules = read.a_ruleset(question)
    gold = read.a_gold(rules, question)
    held, _ = read.concealed_and_melds(rules, gold, question)
    golds = golds_held(held, gold)
    if len(held) % 3 == 1:
        return {
            "waits": list(waits(rules, gold, held)),
            "golds": golds,
            "youjin_ready": youjin_ready(rules, gold, held),
        }
    full = complete(rules, gold, held)
    by_discard, by_self_draw = wins_by(rules, golds)
    return {
        "complete": full,
        "golds": golds,
        "youjin_discards": list(youjin_discards(rules, gold, held)),
        "by_discard": full and by_discard,
        "by_self_draw": full and by_self_draw,
    }


# -- opening_claims ----------------------------------------------------------------------------------------------------


def _opening_claims(question: Question) -> Answer:
    """R25: who may win before the first discard."""
    rules = read.a_ruleset(question)
    dealer = read.a_seat(read.required(question, "dealer"), "dealer")
    gold = read.a_gold(rules, question)
    if gold is None:
        raise QuestionError("gold", "expected the gold's face: openings are claimed after 开金 (R25)")
    hands = _four_hands(rules, dealer, gold, read.required(question, "hands"))
    order = opening_claims(rules, dealer, gold, hands)
    winner, way = order[0] if order else (None, None)
    return {"winner": winner, "way": way, "order": [list(one) for one in order]}


def _four_hands(rules: Ruleset, dealer: str, gold: str, value: object) -> dict[str, list[str]]:
    given = read.a_mapping(value, "hands", 'tiles per seat such as {"E": "123m…"}')
    read.check_fields(given, SEATS, "hands.")
    hands: dict[str, list[str]] = {}
    for seat in SEATS:
        hands[seat] = read.tiles_of(rules, read.required(given, seat, "hands."), f"hands.{seat}")
        expected = rules.hand + (seat == dealer)
        if len(hands[seat]) != expected:
            raise QuestionError(f"hands.{seat}", f"expected {expected} tiles, got {len(hands[seat])}")
    flipped = [gold] if rules.gold == "flipped" else []
    read.check_copies(rules, [*flipped, *(face for hand in hands.values() for face in hand)], "hands")
    return hands


# -- the operations ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that can be asked: its fields beside `op` and `id`, and what answers it."""

    fields: tuple[str, ...]
    run: Callable[[Question], Answer]


OPERATIONS: Mapping[str, Operation] = {
    "point": Operation(("roller", "dice"), _point),
    "opening": Operation(("rules", "options", "layout", "dealer", "rolls", "wall", "gold_history"), _opening),
    "hand": Operation(("rules", "options", "gold", "concealed", "melds"), _hand),
    "opening_claims": Operation(("rules", "options", "dealer", "gold", "hands"), _opening_claims),
    "water": Operation(WATER_FIELDS, ask_water),
    "settle": Operation(SETTLE_FIELDS, ask_settle),
    "fan": Operation(FAN_FIELDS, ask_fan),
}
