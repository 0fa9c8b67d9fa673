"""Whole tables whose lines fail: two boards, a board that stands still, one that stops reading (F1, F2, F3, F5)."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.table.harness import WholeTable
from tests.table.test_faults import counted, counted_throws, fetch

pytestmark = [pytest.mark.table, pytest.mark.timeout(180)]


async def physical_is_what_was_asked(table: WholeTable, forgotten_sorts: int = 0) -> None:
    """Every throw begun was thrown once, and every sort; but one that its board forgot in a reset is begun again."""
    physical = await table.physical()
    assert physical["throws"] == counted_throws(table)
    assert 0 <= physical["sorts"] - counted(table, "SortBegun") <= forgotten_sorts


@pytest.mark.parametrize(
    ("lost", "how"),
    [
        ("dice", "unplug"),
        pytest.param("table", "unplug", marks=pytest.mark.long),
        pytest.param("dice", "reboot", marks=pytest.mark.long),
        pytest.param("table", "reboot", marks=pytest.mark.long),
    ],
)
async def test_two_boards_either_of_them_is_lost_in_mid_throw(tmp_path: Path, lost: str, how: str) -> None:
    """F1 and F5 with a dice unit of its own: each line has its own session and memory; every throw is thrown once."""
    async with WholeTable(tmp_path, hands=1, speed="5", sensing="full", dice_unit=True) as table:
        await table.dice_roll()
        await table.world_act("control", verb=how, board=lost)
        await table.state(lambda data: data["phase"] in ("taking", "flowers"))
        await physical_is_what_was_asked(table, forgotten_sorts=(lost, how) == ("table", "reboot"))
        physical = await table.physical()
        assert physical["boots"] == (2 if how == "unplug" else 3)
        assert physical["walls"] == 1 and physical["throws"] >= 2
        links = json.loads((await asyncio.to_thread(fetch, table.health_port, "/links"))[1])["links"]
        sessions = {Path(link["port"]).name: link["since_start"]["sessions"] for link in links}
        assert sessions == {f"{lost}-port": 2, f"{'table' if lost == 'dice' else 'dice'}-port": 1}


async def test_a_table_waits_for_the_board_that_is_not_there(tmp_path: Path) -> None:
    """Two boards: while one of them is away the link is lost, health names the line, and `link stats` tells of it."""
    async with WholeTable(tmp_path, hands=1, speed="max", dice_unit=True, people="", autostart=False) as table:
        await table.state(lambda data: data["machine"]["link"] == "up")
        away = asyncio.create_task(table.world_act("control", verb="unplug", board="dice", seconds=3.0))
        await table.state(lambda data: data["machine"]["link"] == "lost", 10)
        status, body = await asyncio.to_thread(fetch, table.health_port, "/healthz")
        lines = json.loads(body)["lines"]
        assert status == 503 and lines[str(table.port_link)] == "up" and lines[str(table.dice_link)] != "up"
        await away
        await table.state(lambda data: data["machine"]["link"] == "up" and not data["machine"]["faults"], 10)
        asked = [sys.executable, "-m", "cli.main", "link", "stats", "--config", str(table.config)]
        told = await asyncio.to_thread(subprocess.run, asked, capture_output=True, text=True, timeout=30)
        assert f"{table.port_link}: up" in told.stdout and f"{table.dice_link}: up" in told.stdout, told.stderr
        assert "round trip: median" in told.stdout and "1 sessions lost" in told.stdout


async def test_a_board_that_stops_reading_holds_nobody(tmp_path: Path) -> None:
    """F2: the board reads nothing any more. Heartbeats, health and views go on; SIGTERM ends it within 5 s."""
    async with WholeTable(tmp_path, hands=0, speed="10") as table:
        await table.state(lambda data: data["phase"] == "taking")
        table.processes["hardware"].send_signal(signal.SIGSTOP)
        try:
            await table.state(lambda data: data["machine"]["link"] == "lost", 10)
            # Two more of the views that are said anew every 3 s: the loop lives while the line does not.
            seen = await table.follow("view", table.topics.state, _nth(3), 15)
            assert {data["machine"]["link"] for data in seen} == {"lost"}
            status, body = await asyncio.to_thread(fetch, table.health_port, "/healthz")
            assert status == 503 and json.loads(body)["core"] == "ok"
            began = asyncio.get_running_loop().time()
            assert await asyncio.to_thread(table.kill, "daemon", signal.SIGTERM) == 0
            assert asyncio.get_running_loop().time() - began < 5
        finally:
            table.processes["hardware"].send_signal(signal.SIGCONT)


def _nth(count: int) -> Callable[[dict[str, Any]], bool]:
    seen: list[dict[str, Any]] = []

    def reached(data: dict[str, Any]) -> bool:
        seen.append(data)
        return len(seen) >= count

    return reached


@pytest.mark.long
@pytest.mark.parametrize("sensing", ["none", "full"])
async def test_a_board_that_stood_still_for_20_s_in_mid_sort(tmp_path: Path, sensing: str) -> None:
    """F3: on waking it finds a heap of repetitions and HELLOs; it has stopped by itself, and nothing runs twice."""
    async with WholeTable(tmp_path, hands=1, speed="3", sensing=sensing) as table:
        await table.state(lambda data: data["phase"] == "sorting" and any(data["machine"]["sorting"]["tiles"].values()))
        table.processes["hardware"].send_signal(signal.SIGSTOP)
        await table.state(lambda data: data["machine"]["link"] == "lost", 10)
        await asyncio.sleep(18)
        table.processes["hardware"].send_signal(signal.SIGCONT)
        await table.ended()
        await physical_is_what_was_asked(table)
        physical = await table.physical()
        assert physical["walls"] == 1 and physical["boots"] == 1
