"""Every refusal of the engine names the rule of the book that it rests on: of the game, or of the table's procedure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import engine

ENGINE = Path(engine.__file__).parent
ROOMS = sorted(ENGINE.glob("**/*.py"))
RULE_AT = {"Refused": 1, "_need": 2, "check_number": 3}
"""Which argument of a call is the rule's number."""


def rules_named(room: Path) -> Iterator[tuple[int, ast.expr | None]]:
    """The line and the rule of every refusal; None where it names none."""
    for node in ast.walk(ast.parse(room.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in RULE_AT:
            place = RULE_AT[called]
            named = next((one.value for one in node.keywords if one.arg == "rule"), None)
            yield node.lineno, node.args[place] if len(node.args) > place else named


def says_a_rule(rule: ast.expr | None) -> bool:
    """A number of the book, a choice between two, or one handed on under the name `rule`."""
    if isinstance(rule, ast.Constant):
        return isinstance(rule.value, str) and re.fullmatch(r"[RP]\d+", rule.value) is not None
    if isinstance(rule, ast.IfExp):
        return says_a_rule(rule.body) and says_a_rule(rule.orelse)
    handed_on = rule.id if isinstance(rule, ast.Name) else rule.attr if isinstance(rule, ast.Attribute) else ""
    return handed_on == "rule"


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(ENGINE)))
def test_every_refusal_names_its_rule(room: Path) -> None:
    assert [line for line, rule in rules_named(room) if not says_a_rule(rule)] == []


def test_refusals_are_found() -> None:
    assert sum(1 for room in ROOMS for _ in rules_named(room)) > 60


def test_a_refusal_without_a_rule_is_told(tmp_path: Path) -> None:
    room = tmp_path / "room.py"
    lines = (
        'Refused("a")',
        'Refused("b", "")',
        'Refused("c", "R3")',
        '_need(m, "d", "idle")',
        'Refused("e", one.rule)',
    )
    room.write_text("\n".join(lines), encoding="utf-8")
    assert [line for line, rule in rules_named(room) if not says_a_rule(rule)] == [1, 2, 4]
