"""The rule book's questions: nothing asked raises, every error names its field, numbers stay honest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.questions import OPERATIONS, answer, answer_line
from engine.ruleset import load_ruleset, profiles
from engine.tiles import SEATS

CASES = Path(__file__).resolve().parents[1] / "cases"


def _first(operation: str) -> dict[str, Any]:
    """The first case of an operation that is no error, as a question."""
    for line in (CASES / f"{operation}.jsonl").read_text(encoding="utf-8").splitlines():
        case: dict[str, Any] = json.loads(line)
        if "error" not in case["want"]:
            return {field: value for field, value in case.items() if field not in ("want", "why", "id")}
    raise AssertionError(operation)


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_an_unknown_field_is_named(operation: str) -> None:
    found = answer({**_first(operation), "colour": "red"})
    assert found["error"].startswith("colour: unknown field")


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_every_field_is_checked(operation: str) -> None:
    question = _first(operation)
    every_kind: list[object] = [[[]], {"x": 1}, -3.5, "nonsense"]
    for field in OPERATIONS[operation].fields:
        for nonsense in every_kind:
            error = answer({**question, field: nonsense}).get("error", "")
            # A foul beside the winner of the question is told so before it is looked into.
            assert error.startswith("winner: a foul" if field == "foul" else field), (field, error)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "expected one JSON object"),
        ("[]", "expected one JSON object, got []"),
        ("{", "expected one JSON object"),
        ("NaN", "NaN is no JSON number"),
        ('{"op": "point", "id": 1e999}', "too large"),
        ('{"op": "point", "op": "hand"}', "op: given twice"),
        ('{"id": 3}', "op: missing"),
        ('{"op": "points"}', "op: expected one of point"),
        ('{"op": ["point"]}', "op: expected one of point"),
        ("[" * 100_000, "nested too deep"),
        ('{"op": "point", "roller": "' + "E" * 10_000 + '", "dice": [1, 1]}', "roller: expected one of E, S, W, N"),
    ],
)
def test_a_bad_line_is_answered(line: str, told: str) -> None:
    found = answer_line(line)
    assert told in json.loads(found)["error"]
    assert len(found) < 400


@pytest.mark.parametrize("name", [7, "a", None, {"deep": [1]}, "\ud800", "门"])
def test_the_id_comes_back(name: object) -> None:
    asked = {"op": "point", "roller": "E", "dice": [5, 1], "id": name}
    assert answer(asked) == {"id": name, "seat": "S"}
    line = answer_line(json.dumps(asked))
    assert line.encode() and json.loads(line) == {"id": name, "seat": "S"}
    assert answer({"op": "nothing", "id": name})["id"] == name


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 200)
    | st.text(max_size=6)
    | st.sampled_from(["E", "5p", "123m", "zimo"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["seat", "deal", "gold", "E"]), inner),
    max_leaves=5,
)


@settings(max_examples=300)
@given(st.sampled_from(sorted(OPERATIONS)), st.data())
def test_nothing_that_is_asked_raises(operation: str, data: st.DataObject) -> None:
    question = _first(operation)
    field = data.draw(st.sampled_from(OPERATIONS[operation].fields))
    question[field] = data.draw(JUNK)
    found = answer(question)
    assert json.dumps(found)
    assert isinstance(found.get("error", ""), str)


@settings(max_examples=300)
@given(st.data())
def test_what_one_pays_another_gets(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(profiles()))
    rules = load_ruleset(name)
    dealer, winner = data.draw(st.sampled_from(SEATS)), data.draw(st.sampled_from(SEATS))
    way = data.draw(st.sampled_from([way for way in rules.ways if rules.knows(way)]))
    asked: dict[str, Any] = {"op": "settle", "rules": name, "dealer": dealer, "winner": winner, "way": way}
    if way in ("pinghu", "dihu", "qianggang"):
        asked["from"] = data.draw(st.sampled_from([seat for seat in SEATS if seat != winner]))
    if rules.water is not None:
        asked["water"] = {seat: data.draw(st.integers(0, 30)) for seat in SEATS}
    if rules.scoring == "hardness":
        asked.update(
            hardness="hard", dealer_turn=data.draw(st.integers(1, 6)), caishen={"E": data.draw(st.integers(0, 3))}
        )
    elif rules.scoring == "multipliers":
        asked["base_steps"] = data.draw(st.integers(0, 5))
    if (way == "tianhu" and winner != dealer) or (way == "dihu" and winner == dealer):
        assert answer(asked)["error"].startswith("way: ")
        return
    found = answer(asked)
    assert sum(found["net"].values()) == 0
    assert sum(found["bonus"].values()) == 0
    assert found["net"][winner] > 0 or rules.scoring == "hardness"
    paying = data.draw(st.sampled_from([seat for seat in SEATS if seat != winner]))
    for_all = answer({**asked, "pays_all": paying})
    assert for_all["net"][winner] == found["net"][winner]
    assert sum(for_all["net"].values()) == 0
    assert for_all["next"] == found["next"]


def test_a_wall_that_every_profile_deals_leaves_the_right_hands() -> None:
    for name in profiles():
        rules = load_ruleset(name)
        wall = "".join(face * count for face, count in rules.faces().items())
        for layout in rules.layouts:
            rolls = {"deal": [3, 4], "gold": [[2, 2]]} | ({"door": [1, 6]} if layout == "bagua" else {})
            asked = {"op": "opening", "rules": name, "layout": layout, "dealer": "W", "rolls": rolls, "wall": wall}
            found = answer(asked)
            sizes = {seat: sum(letter.isdigit() for letter in found["hands"][seat]) for seat in SEATS}
            assert sizes == {seat: rules.hand + (seat == "W") for seat in SEATS}, (name, layout)
            held = sum(sizes.values()) + sum(len(found["flowers"][seat].rstrip("f")) for seat in SEATS)
            assert held + found["remaining"] + 1 == rules.tiles
