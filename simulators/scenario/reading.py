"""Scenario files and live orders read: what is wrong is told with file, entry, and what was expected."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from simulators.scenario.model import KINDS, AnyAction, Scenario

_ACTIONS: TypeAdapter[Any] = TypeAdapter(AnyAction)


class ScenarioError(ValueError):
    """A scenario, or an order, that cannot be read; the message says where, what was wrong and what was expected."""


def read_scenario(path: Path) -> Scenario:
    """The scenario of a file; ScenarioError names the file, the entry and what was wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: expected UTF-8 text, byte {error.start} is none") from None
    return parse_scenario(text, str(path))


def parse_scenario(text: str, name: str) -> Scenario:
    """The scenario of a TOML text that is called `name`."""
    try:
        body = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"{name}: expected TOML: {error}") from None
    try:
        return Scenario.model_validate(body)
    except ValidationError as error:
        told = error.errors()
        # An entry that is wrong leaves the list shorter, which is no news beside it.
        news = [one for one in told if one["type"] != "too_short"] or told
        raise ScenarioError("\n".join(f"{name}: {_problem(body, one)}" for one in news)) from None


def parse_order(words: Mapping[str, Any]) -> Any:
    """One action of a live order: `{"action": "flip", "bits": 2}`; with a `when` it waits for its moment."""
    try:
        return _ACTIONS.validate_python(dict(words))
    except ValidationError as error:
        told = [_problem({"fault": [dict(words)]}, _as_entry(one)) for one in error.errors()]
        raise ScenarioError("; ".join(one.removeprefix("[[fault]] 1 ") for one in told)) from None


def _as_entry(error: Any) -> Any:
    return {**error, "loc": ("fault", 0, *error["loc"])}


def _problem(body: Mapping[str, Any], error: Any) -> str:
    where, at = [], tuple(error["loc"])
    if at[:1] == ("fault",) and len(at) == 1:
        return "expected at least one [[fault]]"
    if at[:1] == ("fault",):
        entry = body["fault"][at[1]]
        action = entry.get("action") if isinstance(entry, Mapping) else None
        where.append(f"[[fault]] {at[1] + 1}" + (f" ({action})" if action else ""))
        at = at[3:] if len(at) > 2 and at[2] in KINDS else at[2:]
        if error["type"] == "union_tag_invalid":
            near = difflib.get_close_matches(str(action), KINDS, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            return f"{where[0]}: there is no action {action!r}; expected one of {', '.join(KINDS)}{hint}"
        if error["type"] == "union_tag_not_found":
            return f"{where[0]}: action is missing; expected one of {', '.join(KINDS)}"
    elif at:
        where.append(f"[{at[0]}]" if len(at) > 1 else str(at[0]))
        at = at[1:]
    where += [".".join(map(str, at))] if at else []
    return f"{' '.join(where)}: {_words(error)}"


def _words(error: Any) -> str:
    match error["type"]:
        case "extra_forbidden":
            return "there is no such word here"
        case "missing":
            return "is missing"
        case "value_error":
            return str(error["ctx"]["error"])
    return f"{error['msg'].replace('Input should be', 'expected')}, got {error['input']!r}"
