"""The engine settles as a second reckoner does, which was written from the rule book alone (R22, R30-R41)."""

from __future__ import annotations

import ast
import json
import random
from pathlib import Path
from typing import Any

import pytest

from engine.fan import patterns
from engine.purses import net_of
from engine.questions import answer
from engine.reasons import CODES, worth
from engine.ruleset import EXAMPLES, PROFILES, load_ruleset
from engine.settlement import Settlement, foul_kinds, settle_outcome
from simulators import reckoner
from tests.engine.random_hands import ALL_RULES, as_question, question, some_chips, some_end, some_options

CASES = Path(__file__).resolve().parents[1] / "cases" / "settle.jsonl"
QUESTIONS = 600
HANDS = 250


def _sound(settled: Settlement) -> None:
    """Payments are what their reasons come to, never negative, and every seat's sum is theirs."""
    for line in settled.transfers:
        assert line.amount == worth(line.why) >= 0, line
        assert line.payer != line.receiver
        assert {reason.code for reason in line.why} <= CODES.keys()
    assert sum(settled.net.values()) == sum(settled.bonus.values()) == 0
    assert settled.net == net_of(settled.transfers, "net")


def test_every_shipped_ruleset_is_reckoned() -> None:
    assert set(ALL_RULES) == {*PROFILES, *EXAMPLES}


@pytest.mark.parametrize("name", ALL_RULES)
def test_both_know_the_same_ways_and_fouls(name: str) -> None:
    rules = load_ruleset(name)
    known = {str(way): rules.value(str(way)) for way in rules.ways if rules.knows(str(way))}
    told = reckoner.ways(name, {})
    assert known.keys() == told.keys()
    assert rules.scoring == "hardness" or known == told
    assert foul_kinds(rules) == reckoner.fouls(name)


def test_the_reckoner_knows_nothing_of_the_engine() -> None:
    tree = ast.parse(Path(reckoner.__file__).read_text(encoding="utf-8"))
    names = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names == {"__future__", "collections", "functools", "typing"}


def test_every_case_of_the_rule_book() -> None:
    reckoned = 0
    for line in CASES.read_text(encoding="utf-8").splitlines():
        case: dict[str, Any] = json.loads(line)
        if "error" not in case["want"]:
            found = reckoner.settle(case["rules"], case.get("options", {}), case)
            assert found == case["want"], (case["id"], found)
            reckoned += 1
    assert reckoned >= 120


@pytest.mark.parametrize("name", ALL_RULES)
def test_random_questions(name: str) -> None:
    chance = random.Random(f"questions {name}")
    for _ in range(QUESTIONS):
        options = some_options(chance, name)
        asked = question(chance, name, options)
        found = answer(asked)
        assert found == reckoner.settle(name, options, asked), asked


@pytest.mark.parametrize("name", ALL_RULES)
def test_random_hands_with_their_tiles_and_chips(name: str) -> None:
    chance = random.Random(f"hands {name}")
    for _ in range(HANDS):
        options = some_options(chance, name) | ({"debt": True} if chance.random() < 0.3 else {})
        rules = load_ruleset(name, options)
        end = some_end(chance, rules)
        chips = some_chips(chance) if chance.random() < 0.6 else None
        settled = settle_outcome(rules, end, chips)
        _sound(settled)
        told = as_question(name, options, end) | ({"chips": chips} if chips else {})
        want = reckoner.settle(name, options, told)
        found = {"net": settled.net, "bonus": settled.bonus, "next": settled.plain()["next"]}
        assert found == want, (end, chips, options)
        if chips is not None and not rules.debt:
            assert all(chips[seat] + settled.net[seat] >= 0 for seat in chips)


def test_random_hands_reach_everything() -> None:
    """What the random hands above are made of: each kind of ending and each code of a reason comes up."""
    seen: set[str] = set()
    for name in ALL_RULES:
        chance = random.Random(f"reach {name}")
        for _ in range(250):
            options = some_options(chance, name)
            rules = load_ruleset(name, options)
            settled = settle_outcome(rules, some_end(chance, rules), some_chips(chance))
            seen |= {reason.code for line in settled.transfers for reason in line.why}
    assert CODES.keys() - seen == {"water"}, "only a sum told whole has no parts"


def test_random_patterns() -> None:
    chance = random.Random("patterns")
    rules = load_ruleset("basic-136")
    seen: set[str] = set()
    for _ in range(300):
        end = some_end(chance, rules)
        held = end.held["E"]
        melds = [(meld.kind, list(meld.tiles)) for meld in held.melds]
        want = reckoner.fan_names({}, end.gold, list(held.concealed), melds, "zimo", False)
        found = patterns(rules, end.gold, held.concealed, held.melds, "zimo")
        assert sorted(found) == sorted(want), (end.gold, held)
        seen.update(found)
    assert seen >= {"menqing", "pengpenghu", "hunyise", "qingyise", "sanjindao"}
