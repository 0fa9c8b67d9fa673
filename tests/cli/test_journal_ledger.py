"""`kaijin journal ledger`: what a parlor without a hub has of its evening."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.journal_ledger import disagreement
from cli.main import kaijin
from controller.publisher import Step
from tests.controller.hubs import HubBook, ack, kept, until
from tests.controller.test_records import an_evening
from tests.engine.evenings import Evening

ACKNOWLEDGED = 3


@pytest.fixture(scope="module")
def evening() -> tuple[Evening, list[list[Step]]]:
    return an_evening(hands=2)


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory, evening: tuple[Evening, list[list[Step]]]) -> Path:
    """A match with a hand taken back, of which the hub has the first rows; its clock was never set."""
    path = tmp_path_factory.mktemp("journal") / "table.journal"
    _, taken = evening

    async def play() -> None:
        async with kept(path) as one:
            one.clock.clock = "unsynced"
            for steps in taken:
                one.clock.ms += 1_000
                await one.store(steps)
            await one.said(ACKNOWLEDGED)
            one.ledger.hear(ack(one.id, ACKNOWLEDGED))
            await until(lambda: one.outcomes("taken") == 1)

    asyncio.run(play())
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(kaijin, ["journal", "ledger", *map(str, arguments)])


def test_as_json_it_is_what_a_hub_would_have_read(journal: Path) -> None:
    book = HubBook()
    rows = [json.loads(line) for line in run(journal, "--json").output.splitlines()]
    for number, row in enumerate(rows, start=1):
        assert row["number"] == number and row["acknowledged"] == (number <= ACKNOWLEDGED)
        assert row["clock"] == "unsynced"
        book.take(json.dumps(row["envelope"], ensure_ascii=False, separators=(",", ":")).encode())
    assert book.kinds()[0] == "session_begun" and book.kinds()[-1] == "session_ended"
    waiting = [json.loads(line)["number"] for line in run(journal, "--json", "--waiting").output.splitlines()]
    assert waiting == list(range(ACKNOWLEDGED + 1, len(rows) + 1))


def test_as_a_sheet_points_come_to_nothing_and_what_was_taken_back_is_named(journal: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run(journal, "--csv").output)))
    hands = [row for row in rows if row["kind"] == "hand"]
    for row in hands:
        points = dict(one.split(":") for one in row["points"].split())
        assert sorted(points) == ["1", "2", "3", "4"] and sum(map(int, points.values())) == 0
        assert int(row["duration_ms"]) > 0 and row["time"].endswith("Z?")
    voided = {row["voids"] for row in rows if row["kind"] == "void"}
    assert voided and voided & {row["number"] for row in hands}


def test_as_text_it_is_one_line_a_row_and_marks_what_waits(journal: Path) -> None:
    lines = run(journal).output.splitlines()
    assert len(lines) == len(run(journal, "--json").output.splitlines())
    assert [line[6] for line in lines] == [" "] * ACKNOWLEDGED + ["*"] * (len(lines) - ACKNOWLEDGED)


def test_a_row_that_is_missing_double_or_wrong_is_found(
    journal: Path, evening: tuple[Evening, list[list[Step]]], tmp_path: Path
) -> None:
    book = evening[0].walker.state.session.book
    assert disagreement(journal, book) == ""
    assert "the ledger says" in disagreement(journal, book[:-1])
    hand = "(SELECT max(number) FROM ledger WHERE envelope LIKE '%\"kind\":\"hand\"%')"
    for number, (change, word) in enumerate(
        [
            (f"DELETE FROM ledger WHERE number = {hand}", "was to come"),
            (f"UPDATE ledger SET envelope = replace(envelope, '\"1\":', '\"9\":') WHERE number = {hand}", "says"),
        ]
    ):
        copy = tmp_path / f"{number}.journal"
        with sqlite3.connect(journal) as original, sqlite3.connect(copy) as changed:
            original.backup(changed)
            changed.execute(change)
            changed.commit()
        assert word in disagreement(copy, book)


def test_what_is_no_journal_is_named(tmp_path: Path) -> None:
    found = run(tmp_path / "none.journal")
    assert found.exit_code == 1 and "no journal there" in found.output
    (tmp_path / "text").write_text("nonsense" * 1000, encoding="utf-8")
    found = run(tmp_path / "text")
    assert found.exit_code == 1 and "no journal of a table" in found.output
    assert run().exit_code == 2
