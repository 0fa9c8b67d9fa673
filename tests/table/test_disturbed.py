"""Hands in which readers err and the daemon is killed: they are booked as they are when nothing goes wrong."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from engine import events as e
from tests.table.evening import check_against_world, check_book, standing, steps, witnessed
from tests.table.harness import WholeTable

pytestmark = [pytest.mark.table, pytest.mark.timeout(600)]

HANDS = pytest.mark.parametrize(
    "hands",
    [
        pytest.param(3, id="short"),
        pytest.param(30, marks=[pytest.mark.long, pytest.mark.timeout(3600)], id="long"),
    ],
)


async def undisturbed(folder: Path, hands: int, **settings: Any) -> list[dict[str, Any]]:
    """What so many hands come to when all goes well."""
    folder.mkdir()
    async with WholeTable(folder, hands=0, matches=0, **settings) as table:
        await table.hands_ended(hands, 90 + 20 * hands)
    return standing(table.journal)[:hands]


@HANDS
async def test_readers_that_err_change_no_hand(tmp_path: Path, hands: int) -> None:
    """Missing, doubled and wrong tiles: the seats are asked, their word is kept as a correction, the hand is right."""
    right = await undisturbed(tmp_path / "right", hands, sensing="full", seed=23)
    table = WholeTable(
        tmp_path, hands=0, matches=0, sensing="full", seed=23, people="", simulate=["--reader-faults", "0.05"],
        timing={"agree_ms": 4000},
    )  # fmt: skip
    async with table, witnessed(table) as witness:
        table.start_people()
        await table.hands_ended(hands, 120 + 60 * hands)
        misread = (await table.physical())["misread"]
    assert misread >= 2 * hands
    assert standing(table.journal)[:hands] == right
    check_book(table.journal)
    check_against_world(table, witness)
    asked = [event for _, event, _, _ in steps(table.journal) if isinstance(event, e.CountDoubted)]
    mended = [event for _, event, _, _ in steps(table.journal) if isinstance(event, e.ZoneAccepted)]
    assert asked and mended


@HANDS
@pytest.mark.parametrize("sensing", ["none", "full"])
async def test_a_daemon_killed_again_and_again_books_the_same(tmp_path: Path, sensing: str, hands: int) -> None:
    """kill -9 in the midst of play, and of entry and agreement; and of everything between."""
    right = await undisturbed(tmp_path / "right", hands, sensing=sensing, seed=24)
    name, every = ("SeatPlayed", 45) if sensing == "full" else ("BookSaid", 4)
    kills, phases = 0, set()
    async with WholeTable(tmp_path, hands=0, matches=0, sensing=sensing, seed=24) as table:
        while table.count("HandEnded") < hands:
            seen = table.count(name)
            while table.count("HandEnded") < hands and table.count(name) < seen + every:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(table.kill, "daemon")
            kills += 1
            phases.add([after.phase for _, _, _, after in steps(table.journal)][-1])
            table.start_daemon()
        await table.hands_ended(hands, 120)
    assert standing(table.journal)[:hands] == right
    check_book(table.journal)
    assert kills >= 2 and phases & {"play", "settle"}, (kills, phases)
