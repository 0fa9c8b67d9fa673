"""Walls and dice laid down beforehand: one hand a line, in the notation of the rule cases."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.dice import Dice, DiceError, check_dice
from engine.tiles import TileError, parse_tiles


class ScriptError(ValueError):
    """A script that cannot be laid; the message names line and field."""


@dataclass(frozen=True, slots=True)
class ScriptedHand:
    """One hand's wall (side E, S, W, N, each in wall order) or None, and the dice in the order they are thrown."""

    wall: tuple[str, ...] | None
    dice: tuple[Dice, ...]


def parse_script(text: str, faces: Mapping[str, int]) -> tuple[ScriptedHand, ...]:
    """The hands of a JSONL text for a set with these faces; ScriptError names the first wrong line."""
    hands = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                hands.append(_hand(json.loads(line), faces))
            except json.JSONDecodeError as error:
                raise ScriptError(f"script line {number}: no JSON: {error}") from None
            except (ScriptError, TileError, DiceError) as error:
                raise ScriptError(f"script line {number}: {error}") from None
    if not hands:
        raise ScriptError('the script is empty: expected lines such as {"wall": "1m2m…", "dice": [[5, 1]]}')
    return tuple(hands)


def read_script(path: Path, faces: Mapping[str, int]) -> tuple[ScriptedHand, ...]:
    """The hands of a script file; ScriptError when it cannot be read or laid."""
    try:
        return parse_script(path.read_text(encoding="utf-8"), faces)
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(f"script {path}: {error}") from None


def _hand(body: Any, faces: Mapping[str, int]) -> ScriptedHand:
    if not isinstance(body, dict):
        raise ScriptError(f"expected an object, got {type(body).__name__}")
    unknown = sorted(set(body) - {"wall", "dice"})
    if unknown:
        raise ScriptError(f"unknown field {unknown[0]!r}: expected wall and dice")
    dice = body.get("dice", [])
    if not isinstance(dice, list):
        raise ScriptError("dice: expected a list of throws such as [[5, 1], [2, 4]]")
    return ScriptedHand(_wall(body.get("wall"), faces), tuple(check_dice(throw) for throw in dice))


def _wall(text: object, faces: Mapping[str, int]) -> tuple[str, ...] | None:
    if text is None:
        return None
    if not isinstance(text, str):
        raise ScriptError(f"wall: expected a string of tiles, got {type(text).__name__}")
    wall = parse_tiles(text)
    if Counter(wall) != Counter(dict(faces)):
        raise ScriptError(f"wall: {_difference(wall, faces)}")
    return tuple(wall)


def _difference(wall: Sequence[str], faces: Mapping[str, int]) -> str:
    found = Counter(wall)
    for face in sorted(set(found) | set(faces)):
        if found[face] != faces.get(face, 0):
            return f"{found[face]} tiles {face} where the set has {faces.get(face, 0)}"
    return "not the tiles of the set"
