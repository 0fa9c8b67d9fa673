"""The whole folder of a journal put back as it was once: card image, file, epoch and twin agree, and are old."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from controller.epoch import EpochFile, read_epoch_file
from controller.journal import open_journal, read_events, read_ledger, read_meta
from controller.journal.twin import read_twin
from controller.private_broker import PrivateBroker
from controller.settings import Settings
from controller.startup import notice_older_state
from tests.controller.board import Board
from tests.controller.daemons import TOPICS, Ear, begin
from tests.controller.hubs import HubBook, ack, kept, until
from tests.controller.test_journal import count
from tests.controller.test_journal_disk import notices, says
from tests.controller.test_ledger import play
from tests.controller.test_records import an_evening


def image(folder: Path, into: Path) -> Path:
    """A folder's files as they lie there now, or put back."""
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(folder, into, ignore=shutil.ignore_patterns("*.lock"))
    return into


async def test_a_folder_put_back_is_noticed_by_the_epoch_that_the_broker_keeps(
    settings: Settings, board: Board, ear: Ear, broker: PrivateBroker, tmp_path: Path
) -> None:
    """It goes on under another id and people are told: boards and parlor must not take old numbers for new ones."""
    path = tmp_path / "card" / "t.journal"
    settings = settings.model_copy(update={"journal": settings.journal.model_copy(update={"path": path})})
    running = await begin(settings)
    await ear.available("ready")
    await running.end()
    image(path.parent, tmp_path / "image")
    running = await begin(settings)
    board.felt_sets = 0b10
    await ear.until(TOPICS.seat("E"), lambda view: view["epoch"] == running.begun.epoch)
    assert (await says(broker, ear, "E", "first"))["ok"]
    old, epoch = running.begun.journal.journal_id, running.begun.epoch
    assert not running.begun.journal.opening.copied and epoch
    await ear.until(TOPICS.birth, lambda said: said["epoch"] == epoch)
    await running.end()
    image(tmp_path / "image", path.parent)
    assert read_meta(path)["epoch"] == str(epoch - 1) and read_meta(path)["journal_id"] == f"{old:016x}"

    running = await begin(settings)
    journal = running.begun.journal
    assert running.begun.epoch == epoch + 1 and journal.opening.copied and journal.journal_id != old
    birth = await ear.until(TOPICS.birth, lambda said: said["epoch"] == epoch + 1)
    assert birth["data"]["journal"] == f"{journal.journal_id:016x}"
    await ear.until(TOPICS.seat("N"), lambda view: "journal_copied" in notices(view))
    await running.end()
    meta = read_meta(path)
    assert (meta["journal_id"], meta["copied_from"]) == (f"{journal.journal_id:016x}", f"{old:016x}")
    assert read_epoch_file(path) == EpochFile(f"{journal.journal_id:016x}", epoch + 1)
    told = read_twin(path)
    assert told is not None and told.journal == f"{journal.journal_id:016x}" and told.proved
    running = await begin(settings)
    assert running.begun.journal.journal_id == journal.journal_id and not running.begun.journal.opening.copied
    await running.end()
    assert [one.n for one in read_events(path)] == list(range(1, running.begun.journal.last_event + 1))


async def test_what_is_booked_on_a_folder_put_back_reaches_a_hub_that_has_those_numbers(tmp_path: Path) -> None:
    """Under the old id the hub would say that it has these rows already, and nobody would ever tell it of them."""
    _, taken = an_evening(hands=1)
    path = tmp_path / "card" / "t.journal"
    half = len(taken) // 2
    book = HubBook()
    async with kept(path) as one:
        await play(one, taken[:half])
        old = one.id
    image(path.parent, tmp_path / "image")
    async with kept(path, epoch=2) as one:
        one.ledger.connected()
        await play(one, taken[half:])
        await until(lambda: len(one.outlet.said) >= len(read_ledger(path)))
        for payload in one.outlet.said:
            book.take(payload)
        assert book.complete(old) == len(read_ledger(path))
    image(tmp_path / "image", path.parent)

    async with kept(path, epoch=3, retained=2) as one:
        assert one.id != old
        one.ledger.connected()
        before = len(read_ledger(path))
        await play(one, taken[half:])
        one.ledger.hear(ack(old, book.complete(old)))
        new = len(read_ledger(path)) - before
        await until(lambda: {json.loads(p)["data"]["journal"] for p in one.outlet.said} >= {one.id})
        await until(lambda: sum(json.loads(p)["data"]["journal"] == one.id for p in one.outlet.said) >= new)
        for payload in one.outlet.said:
            book.take(payload)
        assert book.complete(one.id) == new > 0
        # What the hub has leaves under the old name, and nothing under the new one that it has not.
        await until(lambda: one.ledger.waiting == new)


@pytest.mark.parametrize(
    ("retained", "epoch", "beside", "anew"),
    [(None, 4, 4, False), (4, 4, 4, False), (3, 4, 4, False), (5, 4, 5, False), (5, 4, 4, True), (5, 4, 0, True)],
)
async def test_only_a_later_start_than_any_known_here_means_an_older_state(
    tmp_path: Path, retained: int | None, epoch: int, beside: int, anew: bool
) -> None:
    path = tmp_path / "t.journal"
    journal, _ = open_journal(path, count)
    journal.begin_epoch(epoch)
    await journal.close()
    again, _ = open_journal(path, count)
    notice_older_state(again, EpochFile("", beside) if beside else None, retained)
    assert again.opening.copied == anew == (again.journal_id != journal.journal_id)
    await again.close()


async def test_a_new_journal_has_a_new_id_already(tmp_path: Path) -> None:
    journal, _ = open_journal(tmp_path / "t.journal", count)
    before: Any = journal.journal_id, journal.opening
    notice_older_state(journal, None, 9)
    assert (journal.journal_id, journal.opening) == before
    await journal.close()
