"""A whole hand at a table that reads nothing, as two people at their displays have it, in Chromium."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.displays.browser import LANGUAGES
from tests.table.evening import bookings, came_to, check_book, failures
from tests.table.harness import WholeTable
from tests.table.screens import PATIENCE_MS, Screen, chromium, open_screen
from tests.table.walls import wall_for

pytestmark = [pytest.mark.table, pytest.mark.browser, pytest.mark.timeout(900)]

HAND = wall_for(
    "new-xiamen-120",
    (5, 1),
    hands={
        "E": "134699m1f1299p14s7777s",
        "S": "123789m34567p4699s5z",
        "W": "234567m1128p125688s",
        "N": "112348m1579p225688s",
    },
    gold="3s",
    gold_roll=(2, 4),
    draws="5s6s4m",
    tail="5m",
)
"""East has a flower and a hidden kong; South's first tile makes it wait for 8 of dots, which West discards."""
SOUTH_HOLDS = "1m 2m 3m 7m 8m 9m 3p 4p 5p 6p 7p 4s 5s 6s 9s 9s"
POINTS = {"E": 4, "S": 6, "W": -5, "N": -5}
"""平胡 2 from each; East's 水, a flower and a hidden kong of suits, from the two others who lost."""
TIMING = {"take_pace_ms": 60_000, "object_ms": 60_000, "agree_ms": 600_000}


async def test_a_hand_from_the_lift_key_to_the_next_deal(tmp_path: Path) -> None:
    """East deals and objects, South wins; West and North are simulated, and so are the hands of the other two."""
    table = WholeTable(
        tmp_path, hands=2, speed="10", web=True, people="", patience=60, script=[HAND], simulate=["--cocked", "0"],
        timing=TIMING,
    )  # fmt: skip
    async with table, chromium() as browser:
        east = await open_screen(browser, table, "E", tmp_path)
        south = await open_screen(browser, table, "S", tmp_path, "en")
        table.start_people()
        await the_opening(table, east, south)
        await the_play(table, east, south)
        await the_entry(east, south)
        await the_objection(east, south)
        await the_result(east, south)
        await the_undo(table, east, south)
        await the_next_hand(table, east, south)
    assert east.troubles + south.troubles == []
    assert failures(table) == []
    check_book(table.journal)
    booked = bookings(table.journal)
    assert [one.voided for one in booked] == [True, False]
    assert [came_to(one)["net"] for one in booked] == [POINTS, POINTS]
    assert came_to(booked[1])["wins"] == [("S", "pinghu")] and booked[1].source == "W"


async def the_opening(table: WholeTable, east: Screen, south: Screen) -> None:
    await east.asks("lift")
    await east.press("lift")
    await east.asks("push_in")
    await east.look("push_in")
    await seen(table, lambda sight: not sum(sight["felt"].values()))
    await east.press("pushed")
    await east.press("roll")
    await table.state(lambda data: data["dealer"] == "E")
    await east.press("roll")
    await east.asks("take")
    await east.says("请拿第 2–3 墩")
    await east.look("take")
    await south.look("take")
    await seen(table, lambda sight: sum(sight["counts"].values()) == 65)
    await south.press("ok")
    await east.asks("flowers")
    await east.touch('[data-flower="1f"]')
    await table.state(lambda data: data["flowers"]["E"] == ["1f"])
    await seen(table, lambda sight: sight["counts"]["E"] == 17)
    await expect(south.panel.locator('[data-flower="1f"]')).to_be_disabled(timeout=PATIENCE_MS)
    await east.look("flowers")
    await south.press("ok")
    await east.press("roll")
    await east.asks("gold_face")
    await south.says("East tells its face")
    await east.look("gold_face")
    await south.look("gold_face")
    await east.touch('[data-tile="3s"]')
    await south.asks("gold_check")
    await south.says("3 of bamboo was flipped")
    await south.look("gold_check")
    await south.press("agree")


async def the_play(table: WholeTable, east: Screen, south: Screen) -> None:
    await east.asks("book")
    await east.look("book")
    await seen(table, lambda sight: bool(sight["melds"]["E"]))
    await east.touch('[data-kong="concealed"]')
    await expect(east.panel.locator('[data-kong="concealed"] .times')).to_have_text("×1", timeout=PATIENCE_MS)
    # A careless thumb: one kong too many, taken back.
    await east.touch('[data-kong="open"]')
    await east.touch('[data-kong="open-"]')
    await expect(east.panel.locator('[data-kong="open-"]')).to_have_count(0, timeout=PATIENCE_MS)
    await seen(table, lambda sight: {"W", "N"} <= sight["shown"].keys())
    await east.look("book_kong")
    await south.touch('[data-action="choose"]', "Win")
    await south.says("Who won, and how?")
    await south.look("win")
    await south.touch(".pick", "Pinghu")
    await south.says("Whose tile was it?")
    await south.look("win_source")
    await south.touch(".seat-touch", "West")


async def the_entry(east: Screen, south: Screen) -> None:
    await south.asks("entry")
    await south.says("Well done!")
    await south.look("entry", LANGUAGES)
    await south.touch(".tab", "By tiles")
    await south.look("pad_empty")
    for face in SOUTH_HOLDS.split():
        await south.touch(f'[data-key="{face}"]')
    await south.touch(".pad-mode", "Win tile")
    await south.look("pad_won")
    await south.touch('[data-key="8p"]')
    await expect(south.panel.locator(".pad-count")).to_have_text("✓ all there")
    await south.look("pad_full", LANGUAGES)
    await south.press("tiles")
    await expect(south.panel.locator(".entry-part")).to_contain_text("entered tile by tile", timeout=PATIENCE_MS)
    await south.press("done")
    await south.says("Waiting for", "East")
    await south.look("entry_done")
    await east.asks("entry")
    await east.says("请报您的水")
    # East holds no gold; a gold too many is taken back, and the settlement follows.
    await east.touch('[data-step="golds+"]')
    await expect(east.panel.locator(".water")).to_have_text("您的水：4", timeout=PATIENCE_MS)
    await east.touch('[data-step="golds-"]')
    await expect(east.panel.locator(".water")).to_have_text("您的水：3", timeout=PATIENCE_MS)
    await east.look("entry", LANGUAGES)
    await east.press("done")


async def the_objection(east: Screen, south: Screen) -> None:
    await south.asks("agree")
    await east.asks("agree")
    await east.says("这样算，对吗？")
    assert await nets(east) == {"E": "+4", "S": "+6", "W": "−5", "N": "−5"}
    await east.look("agree", LANGUAGES)
    await south.look("agree")
    await east.press("object")
    await east.asks("object_entry")
    await south.says("East objects")
    await east.look("object")
    await south.look("objection")
    await east.touch(".entry-seats .seat-touch", "南家")
    await east.touch(".tab", "花")
    await east.touch('[data-flower="2f"]')
    await expect(east.panel.locator(".sums .seat-S b")).to_have_text("+9", timeout=PATIENCE_MS)
    await east.look("object_changed", LANGUAGES)
    await east.press("propose")
    await south.asks("vote")
    await south.says("Which version is right?")
    assert "Flowers none → summer" in await south.text(".differs")
    assert "+6" in await south.text(".version-1") and "+9" in await south.text(".version-2")
    await south.look("vote", LANGUAGES)
    await east.look("vote")
    await south.press("vote", "As it was")


async def the_result(east: Screen, south: Screen) -> None:
    """Three to one: the first version is booked, and each seat reads what it paid and why."""
    for screen, reason in ((east, "您的水 3"), (south, "Pinghu (plain win) 2")):
        await screen.asks("lift")
        await expect(screen.page.locator(".result-lines")).to_contain_text(reason, timeout=PATIENCE_MS)
        await screen.look("result", LANGUAGES)
    assert "南家平胡，西家打的牌" in await east.text(".result")


async def the_undo(table: WholeTable, east: Screen, south: Screen) -> None:
    """Two seats take the booking back: its book is open again with all that was said, and is agreed on anew."""
    await east.press("undo")
    await expect(east.page.locator(".card")).to_contain_text("等另一家同意", timeout=PATIENCE_MS)
    await expect(south.page.locator(".card")).to_contain_text("East would take hand 1 back", timeout=PATIENCE_MS)
    await east.look("undo")
    await south.look("undo", LANGUAGES)
    await south.page.locator('.card [data-action="undo"]').click()
    await east.asks("entry")
    assert "您的水：3" in await east.text(".entry-sum")
    await south.press("done")
    await east.press("done")
    await south.press("agree")
    await east.press("agree")
    await table.state(lambda data: data["result"] is not None and data["phase"] == "lift")


async def the_next_hand(table: WholeTable, east: Screen, south: Screen) -> None:
    """South deals."""
    await south.asks("lift")
    await south.press("lift")
    await south.asks("push_in")
    await seen(table, lambda sight: not sum(sight["felt"].values()))
    await south.press("pushed")
    await south.asks("roll")
    await south.says("Please roll for the deal")
    await south.look("next_roll")
    await south.press("roll")
    await table.state(lambda data: data["phase"] == "taking" and data["hand"] == 2 and data["dealer"] == "S")
    await expect(east.page.locator("#top .top-dealer")).to_contain_text("南", timeout=PATIENCE_MS)
    await east.look("next_take")


async def nets(screen: Screen) -> dict[str, str]:
    """What the settlement says of every seat."""
    return {seat: await screen.panel.locator(f".sums .seat-{seat} b").inner_text() for seat in "ESWN"}


async def seen(table: WholeTable, until: Callable[[dict[str, Any]], bool], seconds: float = 90) -> None:
    """Waits until a bystander sees it."""
    async with asyncio.timeout(seconds):
        while not until(await table.sight()):
            await asyncio.sleep(0.05)
