"""`kaijin rules`: which rulesets there are, what a ruleset says, and what the rule book answers."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from cli.rules_play import play

if TYPE_CHECKING:
    from engine.ruleset import Ruleset

_SECTIONS = {
    "name": "The ruleset",
    "tiles": "Tiles and walls",
    "first_dealer": "Seats and dealer",
    "gold": "The gold 金",
    "gold_in_pair": "Shapes and limits",
    "opening_priority": "Openings",
    "claim_window_ms": "Play",
    "scoring": "Points",
    "chips": "Chips",
}
"""The field that begins each part of the table."""

_VALUE_COLUMN = 26
_TEXT_COLUMN = 54


@click.group()
def rules() -> None:
    """List, show and evaluate house rules, and referee a hand."""


rules.add_command(play)


@rules.command("list")
def list_rules() -> None:
    """One line for each ruleset that is shipped."""
    from engine.ruleset import EXAMPLES, load_ruleset, profiles

    for name in (*profiles(), *EXAMPLES):
        ruleset = load_ruleset(name)
        tail = f"  (example, from {ruleset.parent})" if name in EXAMPLES else ""
        click.echo(f"{_padded(name, 22)}{ruleset.title}{tail}")


@rules.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="The fields as one JSON object.")
def show(name: str, as_json: bool) -> None:
    """Every field of a ruleset, those marked * that differ from its parent.

    NAME is one of `kaijin rules list`, or a file of a house that ends in .toml.
    """
    from engine.ruleset import RulesetError, load_ruleset, load_ruleset_file

    try:
        ruleset = load_ruleset_file(Path(name)) if name.endswith(".toml") else load_ruleset(name)
        changed = _changed(ruleset, name)
    except RulesetError as error:
        raise click.ClickException(f"{name}: {error}") from error
    if as_json:
        told = {**ruleset.model_dump(mode="json"), "stacks": ruleset.stacks, "row": ruleset.row}
        click.echo(json.dumps({**told, "differs": sorted(changed)}, ensure_ascii=False, indent=2))
        return
    for line in _table(ruleset, changed):
        click.echo(line)


@rules.command("eval")
@click.option("--file", "source", type=click.File("rb"), default="-", help="Read a file, not standard input.")
def evaluate(source: IO[bytes]) -> None:
    """Answer one JSON question a line, in order; a bad line gets {"error": …} and never stops the run."""
    from engine.questions import answer_line

    out = sys.stdout.buffer
    for raw in source:
        try:
            line = answer_line(raw.rstrip(b"\r\n").decode())
        except UnicodeDecodeError as error:
            line = json.dumps({"error": f"expected one JSON object in UTF-8: {error.reason} at byte {error.start}"})
        out.write(line.encode() + b"\n")
        out.flush()


def _changed(ruleset: Ruleset, name: str) -> frozenset[str]:
    """The lines of a ruleset that its parent does not say, as `field` or `table.key`; none without a parent."""
    from engine.ruleset import load_ruleset

    if ruleset.parent is None:
        return frozenset()
    folder = (Path(name).parent,) if name.endswith(".toml") else ()
    parent = dict(_lines(load_ruleset(ruleset.parent, search=folder).model_dump(mode="json")))
    own = dict(_lines(ruleset.model_dump(mode="json")))
    skipped = ("name", "title", "parent")
    return frozenset(line for line, value in own.items() if line not in skipped and parent.get(line) != value)


def _lines(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for field, value in fields.items():
        if isinstance(value, dict):
            yield from ((f"{field}.{key}", inner) for key, inner in value.items())
        else:
            yield field, value


def _table(ruleset: Ruleset, changed: frozenset[str]) -> Iterator[str]:
    from engine.ruleset import Ruleset, has_option

    width = max(shutil.get_terminal_size((110, 24)).columns, _TEXT_COLUMN + 30)
    if ruleset.parent is not None:
        yield f"* differs from {ruleset.parent}"
    values = ruleset.model_dump(mode="json")
    for field, about in Ruleset.model_fields.items():
        if field in _SECTIONS:
            yield from ("", _SECTIONS[field])
        if field not in ("name", "title", "parent") and not has_option(ruleset, field):
            continue
        text = f"{about.title}. {about.description}"
        value = values[field]
        if isinstance(value, dict):
            yield from _row(" ", field, "", text, width)
            for key, inner in value.items():
                mark = "*" if f"{field}.{key}" in changed else " "
                yield from _row(mark, f"  {key}", _told(inner), _way_told(ruleset, field, key, inner), width)
        elif value is not None or field == "fan_cap":
            yield from _row("*" if field in changed else " ", field, _told(value), text, width)


def _way_told(ruleset: Ruleset, field: str, key: str, value: object) -> str:
    """What a way that follows another comes to, and whether it is switched off."""
    if field != "ways":
        return ""
    if not ruleset.knows(key):
        return "not in this game"
    return f"= {ruleset.value(key)}" if isinstance(value, str) else ""


def _row(mark: str, field: str, value: str, text: str, width: int) -> Iterator[str]:
    values = textwrap.wrap(value, _TEXT_COLUMN - _VALUE_COLUMN - 2, break_on_hyphens=False) or [""]
    texts = _wrapped(text, width - _TEXT_COLUMN) or [""]
    for index in range(max(len(values), len(texts))):
        left = f"{mark} {field}" if index == 0 else ""
        middle = values[index] if index < len(values) else ""
        right = texts[index] if index < len(texts) else ""
        yield f"{_padded(_padded(left, _VALUE_COLUMN) + middle, _TEXT_COLUMN)}{right}".rstrip()


def _told(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_told(one) for one in value)
    return str(value)


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _padded(text: str, columns: int) -> str:
    return text + " " * max(1, columns - _columns(text))


def _wrapped(text: str, columns: int) -> list[str]:
    """Lines of words that take no more columns, where a Chinese letter takes two."""
    found: list[str] = []
    for word in text.split():
        if found and _columns(found[-1]) + 1 + _columns(word) <= columns:
            found[-1] += f" {word}"
        else:
            found.append(word)
    return found
