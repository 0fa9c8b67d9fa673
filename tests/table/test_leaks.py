"""The search for leaks finds each kind that is planted, and takes nothing harmless for one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.tiles import format_tiles, join_tiles
from tests.table.leaks import Hidden, leaks_in_message, leaks_in_text

SIDE = ("5m", "1p", "7z", "9s", "2f", "2m", "2m", "8p", "3s", "1z", "6m", "4p")
HAND = ("9m", "1m", "1m", "4s", "5z", "7p", "8p", "6s", "6s", "2z", "3f", "9p", "7m")
OTHER = ("1p", "1p", "2s", "2s", "3z", "4z", "5p", "5p", "6p", "7s", "7s", "8m", "4m")
TAKE = ("3s", "1z", "5p", "9m")
REPLACED = ("6z", "6z", "8s")
LAID = ("9s", "2m", "2m", "8p", "3s", "1z")
MELD = ("3s", "4s", "5s")


@pytest.fixture
def hidden() -> Hidden:
    known = Hidden(sides={SIDE}, claims={("S", "sanjindao")})
    for tiles in (HAND, OTHER, TAKE, REPLACED):
        known.add_group(tiles)
    known.add_hand("S", HAND)
    known.add_hand("E", OTHER)
    known.laid.update({LAID, tuple(MELD)})
    return known


def message(**data: Any) -> bytes:
    """A seat's view with something in it that should not be there."""
    harmless = {
        "wall": {"E": "111000111", "S": "0" * 30},
        "flowers": {"E": ["1f", "2f", "3f", "4f"], "S": []},
        "gold": {"face": "3p", "path": ["W1t", "W1b"], "passed": [["W1t", "5f"], ["W1b", "6f"]], "roll": [1, 2]},
        "tail": {"next": ["N15t", "N15b", "N14t"], "taken": 4},
        "rules": "new-xiamen-120",
        "me": {"seat": "S", "tiles": format_tiles(HAND), "wants": [], "answers": []},
    }
    envelope = {"v": 1, "type": "seat", "table": "hall-1m", "id": "1234f1234f1234f5", "cause": "5678f", "seq": 1}
    return json.dumps({**envelope, "data": {**harmless, **data}}).encode()


def test_what_a_seat_may_see_is_no_leak(hidden: Hidden) -> None:
    assert leaks_in_message(message(), hidden, "S") == []
    wants = [{"verb": "opening", "params": {"claims": ["sanjindao"]}}, {"params": {"tiles": ["3f", "7f", "8f"]}}]
    me = {"seat": "S", "tiles": format_tiles(HAND), "wants": wants}
    assert leaks_in_message(message(me=me), hidden, "S") == []
    assert leaks_in_message(b"", hidden, "S") == []


def test_what_lies_open_is_no_leak_where_it_is_shown_and_as_it_lies(hidden: Hidden) -> None:
    play = {"discards": {"E": list(LAID), "S": []}, "melds": {"W": [{"kind": "chi", "tiles": join_tiles(MELD)}]}}
    assert leaks_in_message(message(play=play), hidden, "S") == []
    result = {"melds": play["melds"], "way": "sanjindao", "wins": [{"seat": "S", "way": "sanjindao"}]}
    assert leaks_in_message(message(result=result), hidden, "E")[1:] == []
    longer = {**play, "discards": {"E": [*LAID, "6m", "4p"]}}
    assert leaks_in_message(message(play=longer), hidden, "S")
    hand = {**play, "melds": {"W": [{"kind": "chi", "tiles": format_tiles(HAND)}]}}
    assert leaks_in_message(message(play=hand), hidden, "S")
    assert leaks_in_message(message(extra=list(LAID)), hidden, "S")


def test_a_hand_in_a_view_is_the_own_one_alone(hidden: Hidden) -> None:
    for reader in ("E", "W", ""):
        assert leaks_in_message(message(), hidden, reader) == [f"data.me.tiles: tiles {format_tiles(HAND)}"]


PLANTED: dict[str, Any] = {
    "a wall side": list(SIDE),
    "a part of a wall side": list(SIDE[3:6]),
    "a wall side backwards": list(SIDE[::-1]),
    "a wall side behind a flower": ["8f", *SIDE[5:8]],
    "a wall side as text": join_tiles(SIDE),
    "a wall by position": {f"E{n}t": face for n, face in enumerate(SIDE)},
    "a wall in pairs": [[f"E{n}t", face] for n, face in enumerate(SIDE)],
    "a wall in objects": [{"position": f"E{n}t", "tile": face} for n, face in enumerate(SIDE)],
    "a hand as it was seen": list(HAND),
    "a hand in order": sorted(HAND),
    "a hand as text": format_tiles(HAND),
    "a hand as text, unsorted": join_tiles(HAND),
    "a hand within words": f"the hand is {format_tiles(HAND)}.",
    "a hand as a list within words": f"the hand is {list(HAND)}.",
    "a hand deep inside": {"a": [{"b": [[list(OTHER)]]}]},
    "a hand as a name": {format_tiles(OTHER): 1},
    "a hand as names": dict.fromkeys(TAKE, 1),
    "a part of a hand as text": "456p7z",
    "a take": list(TAKE),
    "a take in another order": list(TAKE[::-1]),
    "a take as text": join_tiles(TAKE),
    "replacements": list(REPLACED),
    "replacements as text": join_tiles(REPLACED),
    "a claim": "sanjindao",
    "claims": [["S", "sanjindao"]],
}


@pytest.mark.parametrize("what", PLANTED)
@pytest.mark.parametrize("reader", ["", "S"])
def test_what_is_planted_in_a_message_is_found(hidden: Hidden, what: str, reader: str) -> None:
    planted = message(extra=PLANTED[what], me={"tiles": None})
    assert any(leak.startswith("data.extra") for leak in leaks_in_message(planted, hidden, reader))
    offered = message(me={"tiles": None, "wants": [{"params": {"x": PLANTED[what]}}]})
    assert leaks_in_message(offered, hidden, reader)


def test_a_claim_of_another_seat_is_found(hidden: Hidden) -> None:
    offered = message(me={"tiles": None, "wants": [{"params": {"claims": ["sanjindao"]}}]})
    assert leaks_in_message(offered, hidden, "S") == []
    assert leaks_in_message(offered, hidden, "E") == ["data.me.wants.0.params.claims.0: claim sanjindao"]


def test_the_winners_hand_is_told_at_the_end_and_nowhere_else(hidden: Hidden) -> None:
    hidden.shown.add(format_tiles(HAND))
    told = {"tiles": format_tiles(HAND), "way": "sanjindao"}
    assert leaks_in_message(message(me=None, params=told), hidden) == []
    assert leaks_in_message(message(me=None, params={"tiles": format_tiles(OTHER)}), hidden)
    assert leaks_in_message(message(me=None, other=told), hidden)


SIDE_BY_SIDE = [what for what in PLANTED if "claim" not in what and "pairs" not in what and "objects" not in what]


@pytest.mark.parametrize("what", [what for what in SIDE_BY_SIDE if isinstance(PLANTED[what], str | list)])
def test_what_is_planted_in_a_log_is_found(hidden: Hidden, what: str) -> None:
    planted = PLANTED[what]
    for line in (f"x {planted!r} y", json.dumps({"event": "x", "y": planted}), json.dumps(json.dumps([planted]))):
        assert leaks_in_text(line, hidden), line
    assert leaks_in_text(f'kaijin_hands{{tiles="{planted}"}} 1.0', hidden)


def test_harmless_lines_are_no_leaks(hidden: Hidden) -> None:
    lines = (
        '{"event": "paired", "seat": "E", "boot": "1234f", "timestamp": "2026-11-29T23:59:59.123456Z"}',
        "kaijin_loop_seconds 1.2345e-05\nkaijin_up 1.0\n1m 2m 9p",
        "gold 3p at W10b; flowers 1f 2f 3f 4f; 12345678f",
    )
    assert [leak for line in lines for leak in leaks_in_text(line, hidden)] == []
