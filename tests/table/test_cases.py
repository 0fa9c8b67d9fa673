"""The written cases laid into a whole table: the same hands, flowers and gold at the seats' displays (R4-R12)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from engine.ruleset import load_ruleset
from engine.tiles import SEATS, format_tiles, play_order
from simulators.mind import chosen_thrower
from tests.table.harness import WholeTable

pytestmark = [pytest.mark.table, pytest.mark.timeout(120)]

CASES = Path(__file__).parents[1] / "cases" / "opening.jsonl"
SEED = 7
THROWS = ([4, 5], [3, 3], [1, 2], [2, 2])
"""What one throws so that oneself, the next player, the one across, the previous one deals (R1, R3)."""


def walled_cases() -> list[dict[str, Any]]:
    """The cases with a wall whose first hand can be dealt so: a history of earlier golds cannot be laid."""
    rows = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    return [row for row in rows if "wall" in row and "error" not in row["want"] and "gold_history" not in row]


def laid(row: dict[str, Any]) -> dict[str, Any]:
    """A case as a hand of the simulator's script: the throw for the dealer goes before its own."""
    rolls = row["rolls"]
    door = [rolls["door"]] if "door" in rolls else []
    east = load_ruleset(row["rules"]).first_dealer == "east_rolls"
    thrower = "E" if east else chosen_thrower(SEED, 1)
    first = THROWS[play_order(thrower).index(row["dealer"])]
    return {"wall": row["wall"], "dice": [first, rolls["deal"], *door, *rolls["gold"]]}


def the_table(folder: Path, row: dict[str, Any], sensing: str) -> WholeTable:
    rules = load_ruleset(row["rules"])
    return WholeTable(
        folder,
        rules=row["rules"],
        layout=row.get("layout") or rules.layouts[0],
        sensing=sensing,
        hands=1,
        seed=SEED,
        options=row.get("options", {}),
        script=[laid(row)],
        simulate=["--cocked", "0"],
    )


@pytest.mark.parametrize("row", walled_cases(), ids=lambda row: row["id"])
async def test_where_tiles_are_read_every_seat_sees_its_hand_as_wanted(tmp_path: Path, row: dict[str, Any]) -> None:
    async with the_table(tmp_path, row, "full") as table:
        views = await asyncio.gather(
            *(table.follow(seat, table.topics.seat(seat), lambda data: data["phase"] == "opening") for seat in SEATS)
        )
    want = row["want"]
    for seat, seen in zip(SEATS, views, strict=True):
        last = seen[-1]
        assert last["dealer"] == row["dealer"]
        assert last["me"]["tiles"] == want["hands"][seat]
        assert {s: format_tiles(tiles) for s, tiles in last["flowers"].items()} == want["flowers"]
        check_gold(last, want)
        assert last["left"] == want["remaining"]
        assert last["tail"]["next"] == want["tail"][:6]
        assert last["head"] == want["draw"][0]


@pytest.mark.parametrize(
    "row",
    [row for row in walled_cases() if row["id"].startswith(("opening/random", "opening/gold-flower", "opening/bagua"))],
    ids=lambda row: row["id"],
)
async def test_where_nothing_is_read_flowers_and_gold_come_out_the_same(tmp_path: Path, row: dict[str, Any]) -> None:
    async with the_table(tmp_path, row, "none") as table:
        seen = await table.follow("W", table.topics.seat("W"), lambda data: data["phase"] == "play")
    last, want = seen[-1], row["want"]
    assert last["me"]["tiles"] is None
    assert last["dealer"] == row["dealer"]
    assert {seat: format_tiles(tiles) for seat, tiles in last["flowers"].items()} == want["flowers"]
    check_gold(last, want)
    assert last["left"] == want["remaining"]


def check_gold(view: dict[str, Any], want: dict[str, Any]) -> None:
    gold = view["gold"]
    assert gold["state"] == "shown"
    assert (gold["face"], gold["position"]) == (want["gold"]["tile"], want["gold"]["position"])
    assert gold["indicator"] == want["gold"].get("indicator")
    assert gold["passed"] == want["passed"]
