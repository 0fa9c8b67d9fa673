"""Rulesets as data: packaged profiles, files of a house, derivation, options, and errors that name the line.

A file is TOML: fields of `Ruleset`, with `parent = "name"` for what it does not say itself. Tables (`ways`, `water`,
`fans`, `bonus_points`) are completed key by key; `without = ["youjin_base", "ways.tianhu"]` takes inherited lines out.
"""

from __future__ import annotations

import reprlib
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from engine.ruleset_model import Ruleset, copies

__all__ = [
    "EXAMPLES",
    "PROFILES",
    "Ruleset",
    "RulesetError",
    "copies",
    "has_option",
    "load_ruleset",
    "load_ruleset_file",
    "profiles",
    "ruleset_from_mapping",
]

PROFILES: tuple[str, ...] = (
    "new-xiamen-120",
    "new-xiamen-120-base",
    "classic-xiamen-144",
    "bijin-xiamen-144",
    "basic-136",
    "quanzhou-seed",
    "quanzhou-common",
)
EXAMPLES: tuple[str, ...] = ("zhangzhou", "xiamen-offline")
"""Derived rules that are shipped as examples of a house's own (R42)."""

_TABLES = ("ways", "water", "fans", "bonus_points")
_NOT_OPTIONS = ("name", "title", "parent")
_BY_SCORING = {"fan_cap": "fan", "streak_fan": "fan"}
_UNSET_BUT_KNOWN = ("flowers",)


LONGEST_NAME = 64
"""Characters of a ruleset's name, which is that of its file too."""


class RulesetError(ValueError):
    """A ruleset that cannot be: `field` is the line at fault, the message says what was expected."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


def profiles() -> tuple[str, ...]:
    """The names of the rule book's seven profiles."""
    return PROFILES


def load_ruleset(name: str, options: Mapping[str, object] | None = None, search: Sequence[Path] = ()) -> Ruleset:
    """A ruleset by name, with single fields overridden.

    `name` is a profile, an example, or what is found as `NAME.toml` in a folder of `search`; never a path, so that a
    name from outside opens no other file. RulesetError names the field; `rules` when there is no such ruleset.
    """
    if not isinstance(name, str):
        raise _unknown(name)
    rules = ruleset_from_mapping(_find(name, search), search) if search else _packaged(name)
    return rules if not options else _with_options(rules, options)


def load_ruleset_file(path: Path, options: Mapping[str, object] | None = None) -> Ruleset:
    """The ruleset of a house's file, its parents looked for in the same folder first; RulesetError names the field."""
    rules = ruleset_from_mapping(_parsed(_read_file(path), str(path)), (path.parent,))
    return rules if not options else _with_options(rules, options)


def ruleset_from_mapping(lines: Mapping[str, object], search: Sequence[Path] = ()) -> Ruleset:
    """A ruleset from the lines of a file, its parents' lines underneath; RulesetError names the line."""
    return _checked(_inherited(lines, search, ()))


def has_option(rules: Ruleset, field: str) -> bool:
    """Whether a field is part of this game and may be overridden by itself."""
    if field not in Ruleset.model_fields or field in _NOT_OPTIONS:
        return False
    if field in _BY_SCORING:
        return rules.scoring == _BY_SCORING[field]
    if field == "flower_gold":
        return rules.has_flowers
    return field in _UNSET_BUT_KNOWN or getattr(rules, field) is not None


@cache
def _packaged(name: str) -> Ruleset:
    return ruleset_from_mapping(_find(name, ()))


def _find(name: str, search: Sequence[Path]) -> Mapping[str, object]:
    """The lines of a named ruleset: a house's folder before the packaged ones."""
    if 0 < len(name) <= LONGEST_NAME and all(part.isalnum() for part in name.split("-")):
        for folder in search:
            path = folder / f"{name}.toml"
            if path.is_file():
                return _parsed(_read_file(path), str(path))
        if name in PROFILES + EXAMPLES:
            return _parsed(_read_packaged(name), name)
    raise _unknown(name)


def _unknown(name: object) -> RulesetError:
    known = ", ".join(PROFILES + EXAMPLES)
    return RulesetError("rules", f"there is no ruleset {reprlib.repr(name)}; expected one of {known}")


def _read_packaged(name: str) -> bytes:
    return files("engine").joinpath("rulesets", f"{name}.toml").read_bytes()


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise RulesetError("rules", f"cannot read {path}: {error.strerror or error}") from error


def _parsed(data: bytes, source: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise RulesetError("rules", f"{source} is no TOML: {error}") from error


def _inherited(lines: Mapping[str, object], search: Sequence[Path], children: tuple[str, ...]) -> dict[str, object]:
    """The lines over those of the parent, its parent and so on."""
    parent = lines.get("parent")
    if parent is None:
        under: dict[str, object] = {}
    elif not isinstance(parent, str):
        raise RulesetError("parent", f"expected the name of a ruleset, got {parent!r}")
    elif parent in children:
        raise RulesetError("parent", f"{' → '.join((*children, parent))} goes in a circle")
    else:
        under = _inherited(_find(parent, search), search, (*children, parent))
    return _over(_without(under, lines.get("without", [])), lines)


def _without(under: dict[str, object], taken: object) -> dict[str, object]:
    if not isinstance(taken, list) or not all(isinstance(line, str) for line in taken):
        raise RulesetError("without", f"expected a list of lines to leave out, got {taken!r}")
    left = dict(under)
    for line in taken:
        table, _, key = line.partition(".")
        inner = left.get(table)
        if not key and table in left:
            del left[table]
        elif isinstance(inner, Mapping) and key in inner:
            left[table] = {name: value for name, value in inner.items() if name != key}
        else:
            raise RulesetError("without", f"the parent has no line {line!r}")
    return left


def _over(under: Mapping[str, object], lines: Mapping[str, object]) -> dict[str, object]:
    merged = dict(under)
    for field, value in lines.items():
        inner = merged.get(field)
        if field in _TABLES and isinstance(inner, Mapping) and isinstance(value, Mapping):
            merged[field] = {**inner, **value}
        elif field != "without":
            merged[field] = value
    if "tiles" in lines and "flowers" not in lines:
        merged.pop("flowers", None)
    if "flowers" in lines and "tiles" not in lines and merged.get("tiles") in (136, 144):
        merged["tiles"] = 144 if lines["flowers"] is True else 136
    return merged


def _with_options(rules: Ruleset, options: Mapping[str, object]) -> Ruleset:
    for field in options:
        if not has_option(rules, field):
            raise RulesetError(f"options.{field}", f"{rules.name} knows no such option")
    try:
        return _checked(_over(rules.model_dump(exclude_none=True), options))
    except RulesetError as error:
        raise RulesetError(f"options.{error.field}", error.message) from error


def _checked(lines: Mapping[str, object]) -> Ruleset:
    try:
        return Ruleset.model_validate(lines)
    except ValidationError as error:
        raise _first_error(error) from error


def _first_error(error: ValidationError) -> RulesetError:
    """The first line at fault, with all that was expected there where it could have been several things."""
    found = error.errors(include_url=False)
    first = found[0]
    if first["type"] == "contradiction":
        return RulesetError(str(first["ctx"]["field"]).partition(" ")[0], str(first["ctx"]["told"]))
    field = _line(first["loc"])
    same = [item for item in found if _line(item["loc"]) == field]
    if first["type"] == "missing" and len(first["loc"]) == 1 + (first["loc"][0] in _TABLES):
        return RulesetError(field, "missing")
    if first["type"] == "extra_forbidden":
        return RulesetError(field, "there is no such field")
    expected = " or ".join(dict.fromkeys(_expected(item["type"], item["msg"], item.get("ctx")) for item in same))
    return RulesetError(field, f"expected {expected}, got {reprlib.repr(first['input'])}")


def _line(place: Sequence[int | str]) -> str:
    """The field's name as it is written: `layouts`, `ways.tianhu`; without the branches of a union."""
    parts = [str(part) for part in place]
    return ".".join(parts[:2]) if parts[0] in _TABLES and len(parts) > 1 else parts[0]


def _expected(kind: str, message: str, context: Mapping[str, Any] | None) -> str:
    told = context or {}
    if kind == "literal_error":
        return str(told["expected"])
    plain = {
        "missing": "more values",
        "int_type": "a whole number",
        "bool_type": "true or false",
        "string_type": "a text",
        "tuple_type": "a list",
        "dict_type": "a table",
    }
    if kind in plain:
        return plain[kind]
    if kind in ("too_short", "too_long"):
        least = kind == "too_short"
        return f"at least {told['min_length']} of them" if least else f"at most {told['max_length']} of them"
    bounds = {"greater_than_equal": ("ge", "at least"), "less_than_equal": ("le", "at most")}
    if kind in bounds:
        key, words = bounds[kind]
        return f"{words} {told[key]}"
    return message
