"""Melds: tiles laid open, or a concealed kong laid aside (R11, R12, R15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.ruleset import Ruleset
from engine.tiles import WHITE

MELD_KINDS: Mapping[str, int] = {"chi": 3, "pong": 3, "kong_open": 4, "kong_added": 4, "kong_concealed": 4}
"""Kinds of melds and how many tiles each has (R15)."""

KONGS: tuple[str, ...] = ("kong_open", "kong_added", "kong_concealed")


@dataclass(frozen=True, slots=True)
class Meld:
    """One meld; `tiles` as they lie there."""

    kind: str
    tiles: tuple[str, ...]


def natural_face(rules: Ruleset, gold: str | None, face: str) -> str:
    """R12: the face a tile is read as: 白 that stands for the gold is a natural tile of the gold's face."""
    if face == WHITE and gold is not None and rules.white_mode == "always":
        return gold
    return face


def is_meld(rules: Ruleset, gold: str | None, meld: Meld) -> bool:
    """Whether the tiles are what the meld's kind says, the gold never among them (R11)."""
    if len(meld.tiles) != MELD_KINDS[meld.kind] or (gold is not None and gold in meld.tiles):
        return False
    read = [natural_face(rules, gold, face) for face in meld.tiles]
    return _is_run(read) if meld.kind == "chi" else len(set(read)) == 1


def counts_as_honour(rules: Ruleset, gold: str | None, face: str) -> bool:
    """R32: whether a set of this face counts as one of honours; 白 that stands for the gold by `white_value`."""
    if face == WHITE and rules.white_value == "honour":
        return True
    return natural_face(rules, gold, face)[1] == "z"


def _is_run(faces: Sequence[str]) -> bool:
    suit = faces[0][1]
    numbers = sorted(int(face[0]) for face in faces)
    alike = all(face[1] == suit for face in faces)
    return suit in "mps" and alike and numbers == list(range(numbers[0], numbers[0] + 3))
