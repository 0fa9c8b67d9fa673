"""Health tells the truth: 200 only where the table can be counted on, and by name what is wrong, or worth knowing."""

from __future__ import annotations

import asyncio
import ctypes
import json
import struct
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from controller.clock import SystemClock, Timex, adjtimex
from controller.holding import TOLD_S
from controller.journal import JournalUnwritable, read_events
from controller.journal.twin import twin_path
from controller.private_broker import PrivateBroker
from controller.reports import LEDGER_OLD_S
from controller.settings import Settings
from tests.controller.board import Board
from tests.controller.daemons import TABLE, TOPICS, Ear, Running, begin, command, say
from tests.controller.daemons import board as board
from tests.controller.daemons import broker as broker
from tests.controller.daemons import ear as ear
from tests.controller.daemons import running as running
from tests.controller.daemons import settings as settings


@pytest.fixture(autouse=True)
def synced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controller.clock.kernel_clock_state", lambda: "synced")


async def health(running: Running, until: Callable[[int, dict[str, Any]], bool]) -> dict[str, Any]:
    """What `/healthz` says once it says so, by its status too."""
    served = running.daemon._health
    assert served is not None

    def look() -> tuple[int, dict[str, Any]]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{served.port}/healthz", timeout=5) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)
        except urllib.error.URLError:
            return 0, {"ok": False, "wrong": ["not yet"]}

    async with asyncio.timeout(20):
        while True:
            status, body = await asyncio.to_thread(look)
            assert body["ok"] == (status == 200) == (not body["wrong"]), body
            if status and until(status, body):
                return body
            await asyncio.sleep(0.05)


async def test_a_table_that_is_well(running: Running, ear: Ear) -> None:
    await ear.available("ready")
    body = await health(running, lambda status, _: status == 200)
    assert body["wrong"] == [] and body["warnings"] == [] and body["availability"]["state"] == "ready"
    running.daemon._reporter.collect()
    registry = running.daemon._reporter._metrics.registry
    assert registry.get_sample_value("kaijin_healthy") == 1 and registry.get_sample_value("kaijin_clock_synced") == 1


async def test_the_line_is_lost(running: Running, ear: Ear, board: Board) -> None:
    await ear.available("ready")
    board.unplug()
    body = await health(running, lambda status, body: status == 503 and "table:link_lost" in body["wrong"])
    assert "link:lost" in body["wrong"] and body["broker"] == "up"
    assert list(body["lines"].values()) != ["up"]
    board.plug()
    await health(running, lambda status, _: status == 200)


async def test_the_broker_cannot_be_reached(settings: Settings, board: Board) -> None:
    away = settings.model_copy(update={"broker": settings.broker.model_copy(update={"port": 1})})
    alone = await begin(away)
    body = await health(alone, lambda status, body: body["link"] == "up" and body["availability"]["state"] == "ready")
    assert body["wrong"] == ["broker:down"]
    await alone.end()


async def test_the_disk_takes_nothing(
    running: Running, ear: Ear, broker: PrivateBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ear.available("ready")
    journal = running.begun.journal

    def full(*_: Any, **__: Any) -> None:
        raise JournalUnwritable("disk_full", "no room")

    with monkeypatch.context() as disk:
        disk.setattr(journal._writer, "transact", full)
        await say(broker, f"{TABLE}-E", TOPICS.seat_input("E"), start(ear))
        body = await health(running, lambda status, body: status == 503 and body["holds"])
        assert "journal:disk_full" in body["wrong"] and "table:disk_full" in body["wrong"]
        running.daemon._reporter.collect()
        registry = running.daemon._reporter._metrics.registry
        assert registry.get_sample_value("kaijin_wrong", {"what": "journal:disk_full"}) == 1
    body = await health(running, lambda status, _: status == 200)
    running.daemon._reporter.collect()
    assert registry.get_sample_value("kaijin_wrong", {"what": "journal:disk_full"}) is None


def start(ear: Ear) -> dict[str, Any]:
    """The press that begins a match."""
    view = ear.latest[TOPICS.seat("E")]
    want = next(want["id"] for want in view["data"]["me"]["wants"] if want["verb"] == "start")
    return {"id": "go", "epoch": view["epoch"], "want": want, "action": "start", "params": {}}


@pytest.mark.parametrize("twin", [True, False])
async def test_the_journal_was_damaged(settings: Settings, board: Board, ear: Ear, twin: bool) -> None:
    first = await begin(settings)
    await ear.available("ready")
    await first.end()
    settings.journal.path.write_bytes(b"spoilt " * 5000)
    if not twin:
        twin_path(settings.journal.path).unlink()
        settings.journal.path.with_name(settings.journal.path.name + "-wal").unlink(missing_ok=True)
    again = await begin(settings, adopt=True)
    body = await health(
        again, lambda _, body: body["availability"]["state"] == "ready" and body["broker"] == "up"
    )
    found = again.begun.journal.opening.salvaged
    assert f"journal_salvaged:{found}" in body["warnings"]
    assert body["wrong"] == ([] if found == "whole" else [f"journal_found:{found}"])
    assert twin or found == "none"
    again.daemon._reporter._began -= TOLD_S
    body = await health(again, lambda status, _: status == 200)
    assert f"journal_salvaged:{found}" in body["warnings"], "still told, when people have been asked"
    await again.end()


async def test_the_core_is_stuck(running: Running, ear: Ear, monkeypatch: pytest.MonkeyPatch) -> None:
    await ear.available("ready")
    for_ever = asyncio.Event()
    monkeypatch.setattr(running.daemon._core, "beat", for_ever.wait)
    await asyncio.sleep(1.2)
    running.daemon._reporter.beat_at -= 5.0
    body = await health(running, lambda status, _: status == 503)
    assert "core:stuck" in body["wrong"] and body["beat_age_s"] >= 5
    for_ever.set()
    await health(running, lambda status, _: status == 200)


async def test_a_clock_that_nobody_set_is_told_and_keeps_nobody_from_playing(
    settings: Settings, board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.clock.kernel_clock_state", lambda: "unsynced")
    table = await begin(settings)
    body = await health(table, lambda status, _: status == 200)
    assert body["warnings"] == ["clock_unsynced"] and body["clock"] == "unsynced"
    await table.end()


async def test_rows_that_the_hub_does_not_take_are_told(
    running: Running, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ear.available("ready")
    told = running.daemon._ledger.heartbeat()
    old = {**told, "ledger_waiting": 3, "oldest_unacknowledged_s": LEDGER_OLD_S}
    monkeypatch.setattr(running.daemon._ledger, "heartbeat", lambda: old)
    body = await health(running, lambda status, _: status == 200)
    assert body["warnings"] == ["ledger_old"] and body["ledger"] == {"waiting": 3, "oldest_s": LEDGER_OLD_S}


async def test_who_changed_what_is_on_record(
    running: Running, ear: Ear, broker: PrivateBroker, settings: Settings
) -> None:
    await ear.available("ready")
    for verb, args, outcome in (
        ("lock", {}, "done"),
        ("status", {}, "done"),
        ("pause", {"on": True}, "failed"),
        ("unlock", {}, "done"),
        ("rules", {"rules": "quanzhou-seed"}, "done"),
        ("decide", {"choice": 1, "want": "1.x-0.1"}, "failed"),
    ):
        more = {"epoch": 1, "not_after_ms": 600_000, "who": "Ah Ling"}
        await say(broker, "parlor", TOPICS.command(verb), command(f"{verb}-1", args=args, **more))
        response = f"{TOPICS.base}/response/hub-1"

        def ended(said: dict[str, Any], id: str = f"{verb}-1") -> bool:
            return bool(said["data"]["id"] == id and said["data"]["outcome"] != "accepted")

        assert (await ear.until(response, ended))["data"]["outcome"] == outcome, verb
    stored = [event.body for event in read_events(settings.journal.path) if event.type == "Audited"]
    assert stored == [
        {"by": "Ah Ling", "act": "command", "params": {"client": "hub-1", "verb": verb, "args": args}}
        for verb, args in (("lock", {}), ("unlock", {}), ("rules", {"rules": "quanzhou-seed"}))
    ]
    said = [one["data"]["params"]["verb"] for topic, one in ear.heard if topic == TOPICS.event("audit")]
    assert said == ["lock", "unlock", "rules"]


async def test_an_adopted_table_says_by_whom(settings: Settings, board: Board, ear: Ear) -> None:
    first = await begin(settings)
    await ear.available("ready")
    await first.end()
    settings.journal.path.write_bytes(b"spoilt " * 5000)
    for path in settings.journal.path.parent.glob("table.journal?*"):
        path.unlink()
    await ear.client.publish(TOPICS.birth, b"", qos=1, retain=True)
    adopted = await begin(settings, adopt=True)
    assert adopted.begun.boot == "adopted"
    said = await ear.until(TOPICS.event("audit"), lambda said: said["data"]["name"] == "adopted")
    assert said["data"]["params"]["by"] and said["data"]["params"]["epoch"] == 1
    await adopted.end()


ASKED: list[tuple[dict[str, int], int, int | None]] = [
    ({"offset": -3_400_000, "status": 0x2001, "esterror": 900}, 0, -3),
    ({"offset": -3_400, "status": 0x0001, "esterror": 900}, 0, -3),
    ({"offset": 1_000, "status": 0x2001, "esterror": 12_000}, 0, 12),
    ({"offset": 0, "status": 0x2001, "esterror": 0}, 0, 0),
    ({"offset": 0, "status": 0x2041, "esterror": 16_000_000}, 5, None),
    ({}, -1, None),
]
"""What the kernel answers, and how far the heartbeat says that the time of day is off (ms)."""


@pytest.mark.parametrize(("answer", "state", "told"), ASKED)
def test_how_far_the_clock_is_off_is_what_the_kernel_reckons(
    monkeypatch: pytest.MonkeyPatch, answer: dict[str, int], state: int, told: int | None
) -> None:
    def adjtimex(about: Timex) -> int:
        for name, value in answer.items():
            setattr(about, name, value)
        return state

    monkeypatch.setattr("controller.clock.adjtimex", adjtimex)
    assert SystemClock(state=lambda: "synced").offset_ms() == told
    assert SystemClock(state=lambda: "unsynced").offset_ms() is None


def test_the_kernel_is_asked_as_it_answers() -> None:
    """This machine's own answer, read in another way: places of the structure are those of the C library."""
    raw = ctypes.create_string_buffer(512)
    state = ctypes.CDLL(None).adjtimex(raw)
    answer = Timex()
    assert adjtimex(answer) == state
    assert struct.unpack_from("@Iqqqqi", raw)[4:] == (answer.esterror, answer.status) or state < 0


async def test_the_heartbeat_says_how_far_the_clock_is_off(
    running: Running, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ear.available("ready")
    monkeypatch.setattr("controller.clock.kernel_clock_offset_ms", lambda: -17)
    assert running.daemon._reporter.heartbeat()["clock_offset_ms"] == -17
