"""Hands at a table whose board speaks the example dialect: noise, lost bytes, a plug pulled, a daemon killed."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.table.evening import check_book, failures
from tests.table.harness import WholeTable

pytestmark = [pytest.mark.table, pytest.mark.timeout(300)]


@dataclass
class DialectTable(WholeTable):
    """A table with a board that answers nothing; `noise` is the chance of each byte to be lost or another."""

    noise: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.simulate = ["--dialect", "example", "--noise", str(self.noise)]

    def write_config(self) -> None:
        super().write_config()
        text = self.config.read_text("utf-8")
        self.config.write_text(text.replace("[serial]\n", '[serial]\ndialect = "example"\n'), "utf-8")


def count(table: WholeTable) -> Counter[str]:
    """The journal's events by their kinds."""
    return Counter(kind for kind, _ in table.events())


async def answer_for_dice_that_never_turned(table: WholeTable) -> None:
    """An order for the dice may be lost like any other: people who see none lie say so, and it is thrown anew."""
    while True:
        state = await table.state(lambda data: data["dice"] is not None and data["dice"]["state"] == "entering", 300)
        await asyncio.sleep(1)
        if not (await table.physical())["throws"]:
            await table.answer(state["dice"]["by"] or "E", "dice", "cocked")


@pytest.mark.long
async def test_a_hand_is_played_to_its_settlement_by_people_who_say_what_the_board_cannot(tmp_path: Path) -> None:
    async with DialectTable(tmp_path, hands=1) as table:
        await table.ended()
        done = await table.physical()
        kinds = count(table)
        check_book(table.journal)
        assert failures(table) == []
    # Every throw was entered by a person, and the dice turned once for each that was begun.
    assert kinds["DiceEntered"] == kinds["RollBegun"] == done["throws"] >= 3


async def test_a_hand_is_played_to_its_settlement_over_a_line_that_loses_and_spoils_bytes(tmp_path: Path) -> None:
    async with DialectTable(tmp_path, hands=1, noise=0.02) as table:
        helping = asyncio.create_task(answer_for_dice_that_never_turned(table))
        await table.ended(200)
        helping.cancel()
        done = await table.physical()
        kinds = count(table)
        check_book(table.journal)
    # What is lost is not thrown by itself: at most once for each throw that a person began.
    assert 1 <= done["throws"] <= kinds["RollBegun"]


async def test_what_nobody_can_know_is_asked_of_people_and_nothing_is_thrown_again(tmp_path: Path) -> None:
    """A plug pulled while walls rise and dice turn leaves the adapter without a board; a killed daemon takes it too."""
    async with DialectTable(tmp_path, hands=1, speed="8") as table:
        rising = {"operation": "walls_raise"}
        await table.world_act("control", verb="unplug", seconds=0.5, when=rising)
        await table.stored("OperationStands", 1, 60)
        await table.dice_roll()
        table.kill("daemon", signal.SIGKILL)
        table.start_daemon()
        await table.stored("DiceWitnessed", 2, 60)
        await table.stored("RollBegun", 2, 60)
        await table.dice_roll()
        thrown = (await table.physical())["throws"]
        await table.world_act("control", verb="unplug", seconds=0.5)
        await table.stored("DiceWitnessed", 4, 60)
        await table.stored("TakeShown", 1, 60)
        done = await table.physical()
        kinds = count(table)
    assert done["walls"] == 1
    assert thrown == 1
    assert done["throws"] == kinds["RollBegun"] == 2


@pytest.mark.long
async def test_a_dice_unit_of_the_contract_beside_such_a_board_reads_its_dice(tmp_path: Path) -> None:
    async with DialectTable(tmp_path, hands=1, dice_unit=True) as table:
        await table.ended()
        kinds = count(table)
        check_book(table.journal)
    assert kinds["DiceRolled"] >= 3
    assert kinds["DiceEntered"] == 0
