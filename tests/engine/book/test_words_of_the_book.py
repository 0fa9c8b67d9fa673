"""Every refusal of the book is worded in the three scripts of the displays."""

from __future__ import annotations

import json
import re
from pathlib import Path

import displays
import engine.book

ROOMS = sorted(Path(engine.book.__file__).parent.glob("*.py"))
CATALOGUE = json.loads((Path(displays.__file__).parent / "catalogue.json").read_text(encoding="utf-8"))


def codes() -> set[str]:
    """The codes that the rooms name, in a refusal or beside one."""
    text = "\n".join(room.read_text(encoding="utf-8") for room in ROOMS)
    named = set(re.findall(r'Refused\("(\w+)"', text))
    chosen = set(re.findall(r'code = "(\w+)" if .* else "(\w+)"', text))
    return named | {code for pair in chosen for code in pair}


def test_every_refusal_is_worded() -> None:
    assert {"bad_value", "flower_twice", "flower_taken", "not_asked", "unknown_action", "tiles_clash"} <= codes()
    assert len(codes()) > 30
    assert {f"refused.{code}" for code in codes()} - CATALOGUE.keys() == set()
    assert all(len(CATALOGUE[f"refused.{code}"]) == 3 and all(CATALOGUE[f"refused.{code}"]) for code in codes())
