"""docs/rules.md holds what the engine does: every rule, profile and field, and examples that answer as printed.

Run as a program it writes the table of fields into the document.
"""

from __future__ import annotations

import json
import re
import types
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from annotated_types import Ge, Le
from pydantic import StrictBool, StrictInt

from engine.questions import OPERATIONS, answer_line
from engine.ruleset import EXAMPLES, Ruleset, profiles
from engine.ruleset_model import Water

BOOK = Path(__file__).resolve().parents[2] / "docs" / "rules.md"
BEGIN = "<!-- fields: made by tests/engine/test_rule_book.py from engine/ruleset_model.py -->\n"
END = "<!-- /fields -->"


def _text() -> str:
    return BOOK.read_text(encoding="utf-8")


def _allowed(kind: Any) -> str:
    """What a field may be, in words."""
    if kind is None or kind is type(None):
        return "unset"
    if kind is StrictBool or kind is bool:
        return "true, false"
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        bounds = [mark for mark in _marks(inner[1:]) if isinstance(mark, Ge | Le)]
        if inner[0] is bool:
            return "true, false"
        if bounds:
            least = next(mark.ge for mark in bounds if isinstance(mark, Ge))
            most = next(mark.le for mark in bounds if isinstance(mark, Le))
            return f"{least}–{most}"
        return _allowed(inner[0])
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if origin in (Union, types.UnionType):
        return ", ".join(dict.fromkeys(_allowed(part) for part in inner))
    if origin is tuple:
        if len(inner) == 2 and inner[1] is Ellipsis:
            return f"a list of {_allowed(inner[0])}"
        return f"{len(inner)} of {_allowed(inner[0])}"
    if origin is dict:
        return f"a table {_allowed(inner[0])} = {_allowed(inner[1])}"
    if kind is Water:
        return "a table, below"
    if kind in (int, StrictInt):
        return "a number"
    return "a text"


def _marks(metadata: tuple[Any, ...]) -> list[Any]:
    found: list[Any] = []
    for mark in metadata:
        found += [mark, *getattr(mark, "metadata", [])]
    return found


def _rows(model: type[Ruleset] | type[Water], prefix: str = "") -> list[str]:
    rows = []
    for field, about in model.model_fields.items():
        kind = Annotated[about.annotation, *about.metadata] if about.metadata else about.annotation
        assert about.description is not None
        rows.append(f"| `{prefix}{field}` | {about.title} | {_allowed(kind)} | {about.description.replace('|', '/')} |")
    return rows


def fields_table() -> str:
    """The table of fields as the document has it."""
    head = ["| field | | may be | what it says |", "|---|---|---|---|"]
    return "\n".join([*head, *_rows(Ruleset), *_rows(Water, "water.")]) + "\n"


def test_the_table_of_fields_is_that_of_the_code() -> None:
    between = _text().partition(BEGIN)[2].partition(END)[0]
    assert between == fields_table()


def test_every_rule_has_its_place() -> None:
    numbers = [int(number) for number in re.findall(r"^\*\*R(\d+)[ .]", _text(), re.MULTILINE)]
    assert numbers == [number for number in range(1, 43) if number != 19]
    procedure = [int(number) for number in re.findall(r"^\*\*P(\d+)[ .]", _text(), re.MULTILINE)]
    assert procedure == list(range(1, 10))


def test_every_rule_that_the_engine_cites_is_in_the_book() -> None:
    engine = BOOK.parents[1] / "engine"
    cited = {rule for path in engine.glob("**/*.py") for rule in re.findall(r"\b[RP]\d+\b", path.read_text("utf-8"))}
    assert cited - set(re.findall(r"^\*\*([RP]\d+)[ .]", _text(), re.MULTILINE)) == set()
    assert {"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9"} <= cited


@pytest.mark.parametrize("name", (*profiles(), *EXAMPLES))
def test_every_ruleset_is_named(name: str) -> None:
    assert name in _text()


def test_the_examples_answer_as_printed() -> None:
    asked = set()
    for block in re.findall(r"```json\n(.*?)```", _text(), re.DOTALL):
        lines = block.splitlines()
        for question, printed in zip(lines[::2], lines[1::2], strict=True):
            assert json.loads(answer_line(question)) == json.loads(printed), question
            asked.add(json.loads(question)["op"])
    assert asked == set(OPERATIONS)


if __name__ == "__main__":
    before, _, rest = _text().partition(BEGIN)
    BOOK.write_text(before + BEGIN + fields_table() + END + rest.partition(END)[2], encoding="utf-8")
