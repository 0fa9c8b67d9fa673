"""People err at 10 % each: nothing wrong is booked, and nothing hangs for longer than its window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine import events as e
from simulators.mistakes import MISTAKES
from tests.table.evening import check_against_world, check_book, failures, longest_wait, standing, steps, witnessed
from tests.table.harness import WholeTable

pytestmark = [pytest.mark.table, pytest.mark.timeout(600)]

COSTLY = ("forget_draw", "expose_false", "unasked_throw")
"""Mistakes after which something is played otherwise: 盖牌 (R39), points for a false win (R38), other dice later on."""


def rates(short: bool, *but: str) -> str:
    """10 % each; in a short run nobody is away so often, as each absence takes a second."""
    return ",".join(f"{name}={0.02 if short and name == 'away' else 0.1}" for name in MISTAKES if name not in but)


AGREE_MS = 4_000
LONGEST_S = 10.0 + 4 * AGREE_MS / 1000
"""The window of the openings, or the time in which entries are waited for; then some for a busy machine."""


async def played(folder: Path, hands: int, **settings: Any) -> WholeTable:
    """So many hands with a witness: what is booked is what lay there, replays, and nothing took longer than it may."""
    folder.mkdir()
    table = WholeTable(folder, hands=0, matches=0, timing={"agree_ms": AGREE_MS}, people="", **settings)
    async with table, witnessed(table) as witness:
        table.start_people()
        await table.hands_ended(hands, 60 + 20 * hands)
    check_book(table.journal)
    check_against_world(table, witness)
    assert failures(table) == []
    seconds, phase = longest_wait(table.journal)
    assert seconds < LONGEST_S, phase
    return table


def made(table: WholeTable) -> set[str]:
    """The mistakes that were made."""
    return {name.removeprefix("mistake_") for name, count in table.counts("people").items() if count} & MISTAKES.keys()


LONG = pytest.param(100, marks=[pytest.mark.long, pytest.mark.timeout(3000)], id="long")


@pytest.mark.parametrize("hands", [pytest.param(6, id="short"), LONG])
@pytest.mark.parametrize("sensing", ["none", "full"])
async def test_mistakes_that_are_put_right_change_no_points(tmp_path: Path, sensing: str, hands: int) -> None:
    right = await played(tmp_path / "right", hands, sensing=sensing, seed=31)
    wrong = await played(tmp_path / "wrong", hands, sensing=sensing, seed=31, mistakes=rates(hands < 100, *COSTLY))
    assert standing(wrong.journal)[:hands] == standing(right.journal)[:hands]
    assert len(made(wrong)) >= 4, made(wrong)


@pytest.mark.parametrize("hands", [pytest.param(6, id="short"), LONG])
@pytest.mark.parametrize("sensing", ["none", "full"])
async def test_whatever_people_do_wrong_the_book_is_right(tmp_path: Path, sensing: str, hands: int) -> None:
    table = await played(
        tmp_path / "one", hands, sensing=sensing, seed=32, mistakes=rates(hands < 100), rules="classic-xiamen-144"
    )
    assert len(standing(table.journal)) >= hands
    assert len(made(table)) >= 5, made(table)


async def test_claims_that_nobody_presses_come_out_as_if_they_were_pressed(tmp_path: Path) -> None:
    """R13: everybody lays melds without a word; points, and who may claim, are those of a table that presses."""
    pressed = await played(tmp_path / "pressed", 4, sensing="full", seed=33)
    laid = await played(tmp_path / "laid", 4, sensing="full", seed=33, mistakes="no_press=1")
    assert standing(laid.journal)[:4] == standing(pressed.journal)[:4]
    assert laid.counts("people")["mistake_no_press"] > 10
    assert not any(isinstance(event, e.ZoneAccepted) for _, event, _, _ in steps(laid.journal))
