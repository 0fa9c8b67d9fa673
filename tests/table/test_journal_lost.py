"""F6, F17 at a whole table: its journal is damaged while the power is off; the hand goes on, and people are told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine import events as e
from tests.table.evening import check_book, steps
from tests.table.harness import WholeTable

pytestmark = [pytest.mark.table, pytest.mark.timeout(600)]


def emptied(journal: Path) -> None:
    """File and log are there and say nothing, as some file systems leave them behind a power cut."""
    for path in (journal, journal.with_name(journal.name + "-wal")):
        path.write_bytes(bytes(path.stat().st_size))


def cut(journal: Path) -> None:
    """Its second half is gone, and its log ends in the middle."""
    journal.write_bytes(journal.read_bytes()[: journal.stat().st_size // 2])
    log = journal.with_name(journal.name + "-wal")
    log.write_bytes(log.read_bytes()[: log.stat().st_size // 2 + 77])


def log_lost(journal: Path) -> None:
    """The file is sound, but of its log nothing can be read: SQLite would not say a word."""
    log = journal.with_name(journal.name + "-wal")
    log.write_bytes(bytes(64) + log.read_bytes()[64:])


@pytest.mark.parametrize(
    "damage",
    [emptied, pytest.param(cut, marks=pytest.mark.long), pytest.param(log_lost, marks=pytest.mark.long)],
)
async def test_f6_a_hand_goes_on_from_a_damaged_journal(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    async with WholeTable(tmp_path, hands=1, speed="10", sensing="full") as table:
        await table.state(lambda data: data["phase"] == "taking")
        table.kill("daemon")
        before = table.count("RollBegun")
        damage(table.journal)
        table.start_daemon()
        view = (await table.follow("E", table.topics.seat("E"), told, 30))[-1]
        assert view["phase"] not in ("idle", "sorting", "lift")
        birth = (await table.follow("view", table.topics.birth, lambda data: data["boot"] == "recovered", 10))[-1]
        assert birth["replay"]["last"] > 0
        kept = [path for path in tmp_path.glob("table.journal.damaged-*") if path.name.endswith("Z")]
        assert len(kept) == 1
        await table.ended()
        physical = await table.physical()
    lines = [json.loads(line) for line in (tmp_path / "daemon.err").read_text().splitlines() if '"critical"' in line]
    assert [line["kept"] for line in lines] == [str(kept[0])] and "nothing is lost" in lines[0]["event"]
    check_book(table.journal)
    begun = sum(isinstance(event, e.RollBegun) for _, event, _, _ in steps(table.journal))
    assert physical["throws"] == begun >= before and physical["walls"] == 1 and not physical["thrown_again"]


def told(view: dict[str, Any]) -> bool:
    """Whether the seats read what became of the journal."""
    return any(notice["code"] == "journal_whole" for notice in view["notices"])
