"""A whole hand at a table that reads its tiles, as two people at their displays and the wall have it, in Chromium."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.async_api import ViewportSize, expect

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
        "E": "123456789m1119p346s1s",
        "S": "13578m2467p13579s36p",
        "W": "2469m3578p2468s9m7p3m1s",
        "N": "234445678p235688m5s",
    },
    gold="9p",
    gold_roll=(2, 4),
    draws="8s9s4m3s2s6p7s",
)
"""East has four sets and a gold, and may take North's 5 of bamboo in two ways; its next draw is a 游金."""
POINTS = {"E": 33, "S": -11, "W": -11, "N": -11}
WALLS: dict[str, ViewportSize] = {"1280": {"width": 1280, "height": 800}, "1920": {"width": 1920, "height": 1080}}
OPTIONS = {"opening_window_ms": 60_000, "claim_window_ms": 60_000}


async def test_a_hand_that_is_read_to_the_evenings_end(tmp_path: Path) -> None:
    """East and South press their displays and discard by hand; West and North are simulated."""
    table = WholeTable(
        tmp_path, hands=1, sensing="full", speed="10", web=True, people="", patience=60, script=[HAND],
        simulate=["--cocked", "0"], options=OPTIONS,
    )  # fmt: skip
    async with table, chromium() as browser:
        east = await open_screen(browser, table, "E", tmp_path, accept_downloads=True)
        south = await open_screen(browser, table, "S", tmp_path, "en")
        wall = await open_screen(browser, table, "view", tmp_path)
        table.start_people()
        await the_opening(table, east, south, wall)
        await the_first_lap(table, east, south, wall)
        await the_second_lap(table, east, south, wall)
        await the_settlement(east, south, wall)
        await the_sheets(east, tmp_path)
        await the_end(table, east, south, wall)
    assert east.troubles + south.troubles + wall.troubles == []
    assert failures(table) == []
    check_book(table.journal)
    (booked,) = bookings(table.journal)
    assert came_to(booked)["net"] == POINTS and came_to(booked)["wins"] == [("E", "youjin")]


async def the_opening(table: WholeTable, east: Screen, south: Screen, wall: Screen) -> None:
    for action in ("lift", "pushed", "roll"):
        await east.press(action)
        if action == "lift":
            await east.asks("push_in")
            await pushed_in(table)
    await table.state(lambda data: data["dealer"] == "E")
    await east.asks("roll")
    await east.press("roll")
    await table.state(lambda data: data["phase"] == "taking")
    await look_at_wall(wall, "taking")
    await table.state(lambda data: data["phase"] == "gold_roll", 90)
    await east.press("roll")
    await east.asks("opening")
    await expect(east.page.locator("#bottom .my-tiles [data-face]")).to_have_count(17, timeout=PATIENCE_MS)
    await east.look("opening", LANGUAGES)
    await south.look("opening")
    await look_at_wall(wall, "opening")
    await east.press("pass")
    await south.press("pass")


async def the_first_lap(table: WholeTable, east: Screen, south: Screen, wall: Screen) -> None:
    """Everybody discards once; West takes South's 7 of dots, East and South let all pass."""
    await east.asks("turn")
    await east.says("请打一张")
    await east.look("turn")
    await table.world_act("discard", seat="E", tile="1s")
    await south.asks("claim")
    await south.says("East discards 1 of bamboo")
    assert await five(south) == ["Win", "Kong", "Pong", "Chi", "Pass"]
    await south.look("claim", LANGUAGES)
    await look_at_wall(wall, "claim")
    await south.press("pass")
    await south.asks("turn")
    await south.says("You drew 8 of bamboo")
    await east.says("请南家打牌")
    await east.look("waits")
    await south.look("turn")
    await table.world_act("discard", seat="S", tile="7p")
    await east.asks("claim")
    await east.says("南家打七筒")
    await east.press("pass")
    await east.says("西家打八筒")
    await south.says("West discards 8 of dots")
    await south.press("pass")
    await east.press("pass")


async def the_second_lap(table: WholeTable, east: Screen, south: Screen, wall: Screen) -> None:
    """吃 with a choice of two ways, and the draw that wins."""
    await east.says("北家打五条")
    can = east.panel.locator(".press-five.can")
    await expect(can).to_have_text(["吃"])
    await south.press("pass")
    await east.touch('[data-action="choose"]', "吃")
    await expect(east.panel.locator(".pick")).to_have_count(2)
    await east.look("chi", LANGUAGES)
    await expect(east.panel.locator(".countdown")).to_have_text(re.compile(r"^\d+ 秒$"))
    await east.touch('[data-tiles="3s4s"]')
    await east.asks("turn")
    await east.look("turn_after_chi")
    await look_at_wall(wall, "play")
    await table.world_act("discard", seat="E", tile="6s")
    await south.press("pass")
    await south.asks("turn")
    await table.world_act("discard", seat="S", tile="1m")
    await east.says("南家打一万")
    await east.press("pass")
    for words, said in (("西家打六万", "West discards 6 of wan"), ("北家打九条", "North discards 9 of bamboo")):
        await east.says(words)
        await east.press("pass")
        await south.says(said)
        await south.press("pass")
    await east.asks("turn")
    await expect(east.panel.locator('[data-action="hu"]')).to_have_text("胡 · 游金", timeout=PATIENCE_MS)
    await east.look("youjin", LANGUAGES)
    await east.press("hu")


async def the_settlement(east: Screen, south: Screen, wall: Screen) -> None:
    """Nothing is typed: the hand is booked, and every seat reads its own payments with their reasons."""
    for screen, reason in ((east, "游金 10 · 金 1 水"), (south, "Youjin 10 · golds 1")):
        await screen.asks("lift")
        await expect(screen.page.locator(".result-lines")).to_contain_text(reason, timeout=PATIENCE_MS)
        await screen.look("result", LANGUAGES)
    await look_at_wall(wall, "result")


async def the_end(table: WholeTable, east: Screen, south: Screen, wall: Screen) -> None:
    """The last hand's tiles are put away; the final scores stand there."""
    await east.says("最后一局打完了")
    await east.press("lift")
    await east.asks("push_in")
    await pushed_in(table)
    await east.press("pushed")
    await table.ended()
    await expect(south.page.locator(".scores.evening")).to_be_visible(timeout=PATIENCE_MS)
    await east.look("ended", LANGUAGES)
    await south.look("ended")
    await look_at_wall(wall, "ended")


async def the_sheets(east: Screen, folder: Path) -> None:
    """History, statistics, the record: looked at, and saved as a text that replays."""
    page = east.page
    await page.locator(".history-button").click()
    await expect(page.locator(".sheet .history")).to_contain_text("游金", timeout=PATIENCE_MS)
    await east.look("history", LANGUAGES)
    await page.locator(".sheet-tabs button").nth(1).click()
    await expect(page.locator(".sheet .figures")).to_contain_text("33", timeout=PATIENCE_MS)
    await east.look("statistics", LANGUAGES)
    await page.locator(".sheet-tabs button").nth(2).click()
    await expect(page.locator(".sheet")).to_contain_text("new-xiamen-120", timeout=PATIENCE_MS)
    await east.look("record", LANGUAGES)
    async with page.expect_download() as told:
        await page.locator(".sheet").get_by_text("存成文本").click()
    download = await told.value
    path = folder / download.suggested_filename
    await download.save_as(path)
    lines = path.read_text("utf-8").splitlines()
    assert {"E chi 5s with 34s", "E hu youjin", "want: net E 33 S -11 W -11 N -11"} <= set(lines)
    command = [sys.executable, "-m", "cli.main", "rules", "play", str(path)]
    played = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60)
    assert played.returncode == 0, played.stdout + played.stderr
    await page.locator(".sheet").get_by_text("关闭").click()
    await expect(page.locator(".sheet")).to_be_hidden()


async def five(screen: Screen) -> list[str]:
    """The words on the five buttons."""
    return await screen.panel.locator(".press-five").all_inner_texts()


async def pushed_in(table: WholeTable) -> None:
    """Waits until no tile lies on the felt any more: who presses before leaves tiles outside."""
    async with asyncio.timeout(90):
        while sum((await table.sight())["felt"].values()):
            await asyncio.sleep(0.05)


async def look_at_wall(wall: Screen, name: str) -> None:
    """The wall view at both of its sizes: nothing is cut off, and there is nothing to press but the settings."""
    for frame, size in WALLS.items():
        await wall.page.set_viewport_size(size)
        await wall.page.screenshot(path=wall.folder / f"{name}-wall-{frame}.png", animations="disabled")
        assert await wall.page.evaluate("measure.troubles()") == [], (name, frame)
    assert await wall.page.locator("button[data-action]").count() == 0
    assert await wall.page.locator("#bottom [data-face]").count() == 0
