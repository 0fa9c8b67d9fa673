"""Codes and records of play: every refusal is worded and has its rule, every event goes through JSON."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import engine.play
from engine.events import EventError
from engine.play import COVER_REASONS, PLAY_EVENTS, Action, begin, decode_play_event, encode_play_event, options, step
from engine.play.events import TileDrawn, WindowClosed
from engine.play.moves import MOVES
from tests.engine.play.hands_at_play import deal_of, play

ROOT = Path(__file__).resolve().parents[3]
CATALOGUE: dict[str, list[str]] = json.loads((ROOT / "displays" / "catalogue.json").read_text(encoding="utf-8"))


def refusals() -> Iterator[tuple[str, str]]:
    """Every code with its rule in the source of play."""
    for path in Path(engine.play.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "No":
                code, rule = node.args[0], node.args[1]
                assert isinstance(rule, ast.Constant)
                for part in [code.body, code.orelse] if isinstance(code, ast.IfExp) else [code]:
                    assert isinstance(part, ast.Constant)
                    yield str(part.value), str(rule.value)


def test_every_refusal_is_worded_and_has_its_rule() -> None:
    found = list(refusals())
    assert len(found) > 40
    assert {f"refused.{code}" for code, _ in found} - CATALOGUE.keys() == set()
    book = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert all(re.search(rf"^\*\*{rule}[ .]", book, re.M) for _, rule in found)


def test_every_action_is_in_the_table() -> None:
    assert set(MOVES) == set(engine.play.ACTIONS)
    assert len(set(COVER_REASONS)) == len(COVER_REASONS)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"type": "Nothing"}, "unknown event type"),
        ({}, "unknown event type"),
        ({"type": "TileDrawn", "seat": "E"}, "missing or unknown"),
        ({"type": "TileDrawn", "seat": "E", "tile": 1, "end": "head"}, "TileDrawn.tile: 1; expected str"),
        ({"type": "WindowClosed", "missed": "E"}, "expected a list of texts"),
        ({"type": "NoFlowers", "points": True}, "expected int"),
    ],
)
def test_a_record_that_is_no_event_is_told_so(body: dict[str, Any], told: str) -> None:
    with pytest.raises(EventError, match=re.escape(told)):
        decode_play_event(body)


def test_events_go_through_json() -> None:
    for event in (TileDrawn("E", "1m", "head"), WindowClosed(("S", "N"))):
        assert decode_play_event(json.loads(json.dumps(encode_play_event(event)))) == event
    assert {"TileDrawn", "HandWon", "PlayEnded"} <= set(PLAY_EVENTS)


def test_a_step_is_the_state_after_its_events() -> None:
    state = begin(deal_of("new-xiamen-120", {"E": "1p"}))
    assert step(state, "E", Action("discard", "1p")) == play(state, "E discard 1p")


def test_a_game_without_gold_is_played_too() -> None:
    deal = replace(deal_of("new-xiamen-120", {"E": "1p"}, opening=None), gold=None)
    state = play(begin(deal), "pass", "E discard 1p", "pass")
    assert state.turn == "S" and {action.name for action in options(state, "S")} == {"discard"}
