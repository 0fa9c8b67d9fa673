"""What may come between in a hand, as the display of a seat and the wall show it: stops, faults, pauses, lost links."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import expect

from tests.displays.browser import LANGUAGES
from tests.table.evening import bookings, came_to, failures
from tests.table.harness import WholeTable
from tests.table.screens import PATIENCE_MS, Screen, chromium, in_phase, open_screen
from tests.table.test_pages_full import HAND, OPTIONS, look_at_wall, pushed_in
from tests.table.test_pages_none import HAND as TOLD
from tests.table.test_pages_none import POINTS, SOUTH_HOLDS, TIMING, seen, the_opening

pytestmark = [pytest.mark.table, pytest.mark.browser, pytest.mark.timeout(900)]


async def test_a_stop_a_fault_a_lost_broker_and_a_pause_in_the_middle_of_play(tmp_path: Path) -> None:
    """East's turn outlasts all of it, and the tile that is then discarded at the display is the first of the hand."""
    table = WholeTable(
        tmp_path, hands=2, sensing="full", speed="10", web=True, people="", patience=60, script=[HAND],
        simulate=["--cocked", "0"], options=OPTIONS,
    )  # fmt: skip
    async with table, chromium() as browser:
        east = await open_screen(browser, table, "E", tmp_path)
        wall = await open_screen(browser, table, "view", tmp_path)
        table.start_people("ESWN")
        await to_the_first_turn(table, east)
        await table.world_act("control", verb="stop_button")
        await east.says("机器已急停")
        await east.look("stopped", LANGUAGES)
        await look_at_wall(wall, "stopped")
        await table.world_act("control", verb="stop_button", pressed=False)
        await east.press("choose")
        await east.look("stopped_sure")
        await east.press("clear")
        await east.asks("turn")
        await table.world_act("control", verb="fault", code="eye_dirty", side="N")
        await expect(east.panel.locator(".warning")).to_contain_text("北边", timeout=PATIENCE_MS)
        await east.look("warning", LANGUAGES)
        await look_at_wall(wall, "warning")
        await table.world_act("control", verb="fault", code="eye_dirty", side="N", cleared=True)
        table.broker.kill()
        await expect(east.page.locator("#cover")).to_be_visible(timeout=PATIENCE_MS)
        await east.page.screenshot(path=tmp_path / "lost.png")
        table.broker.start()
        await expect(east.page.locator("#cover")).to_be_hidden(timeout=PATIENCE_MS)
        await east.asks("turn")
        await table.command("pause", on=True)
        await expect(east.page.locator(".top-hand")).to_contain_text("打完这局暂停", timeout=PATIENCE_MS)
        await east.look("pausing", LANGUAGES)
        await east.touch('[data-action="choose"]', "在这里打")
        await east.says("打哪一张？")
        await east.look("discard_here", LANGUAGES)
        await east.touch('[data-tiles="1s"]')
        await east.press("discard")
        lying = await table.state(lambda data: data["play"] is not None and data["play"]["number"] >= 1)
        assert lying["play"]["discards"]["E"][0] == "1s"
        await to_the_end(table, east)
        await east.says("前台暂停了这一桌")
        await east.look("paused", LANGUAGES)
        await look_at_wall(wall, "paused")
        await table.command("pause", on=False)
        # South may lift at once: nobody can count on seeing that asked.
        await table.state(lambda data: data["phase"] != "paused")
        await table.command("park", on=True)
        await east.asks("parked")
        await east.look("parked", LANGUAGES)
        await wall.says("牌桌已收好")
        await look_at_wall(wall, "parked")
        await east.press("unpark")
        await table.state(in_phase("taking", "flowers"), 90)
        assert await east.panel.get_attribute("data-verb") != "parked"
    assert east.troubles + wall.troubles == []
    assert failures(table) == []


async def test_broker_and_table_go_and_come_in_the_middle_of_an_entry(tmp_path: Path) -> None:
    """South has touched half of its tiles: they are there when the picture is true again, and the hand is booked."""
    table = WholeTable(
        tmp_path, hands=1, speed="10", web=True, people="", patience=60, script=[TOLD], simulate=["--cocked", "0"],
        timing=TIMING,
    )  # fmt: skip
    async with table, chromium() as browser:
        east = await open_screen(browser, table, "E", tmp_path)
        south = await open_screen(browser, table, "S", tmp_path, "en")
        table.start_people()
        await the_opening(table, east, south)
        await seen(table, lambda sight: bool(sight["melds"]["E"]))
        await east.touch('[data-kong="concealed"]')
        await seen(table, lambda sight: {"W", "N"} <= sight["shown"].keys())
        await south.touch('[data-action="choose"]', "Win")
        await south.touch(".pick", "Pinghu")
        await south.touch(".seat-touch", "West")
        await south.asks("entry")
        await south.touch(".tab", "By tiles")
        faces = SOUTH_HOLDS.split()
        for face in faces[:9]:
            await south.touch(f'[data-key="{face}"]')
        table.broker.kill()
        await expect(south.page.locator("#cover")).to_be_visible(timeout=PATIENCE_MS)
        table.broker.start()
        await expect(south.page.locator("#cover")).to_be_hidden(timeout=PATIENCE_MS)
        await expect(south.panel.locator(".pad-hand .tile")).to_have_count(9)
        for face in faces[9:14]:
            await south.touch(f'[data-key="{face}"]')
        table.kill("daemon")
        await expect(south.page.locator("#cover")).to_be_visible(timeout=PATIENCE_MS)
        await south.page.screenshot(path=tmp_path / "lost.png")
        table.start_daemon()
        await expect(south.page.locator("#cover")).to_be_hidden(timeout=PATIENCE_MS)
        await expect(south.panel.locator(".pad-hand .tile")).to_have_count(14)
        for face in faces[14:]:
            await south.touch(f'[data-key="{face}"]')
        await south.touch(".pad-mode", "Win tile")
        await south.touch('[data-key="8p"]')
        await south.press("tiles")
        await south.press("done")
        await east.press("done")
        await south.press("agree")
        await east.press("agree")
        await table.state(lambda data: data["result"] is not None)
    assert east.troubles + south.troubles == []
    (booked,) = bookings(table.journal)
    assert came_to(booked)["net"] == POINTS


async def to_the_first_turn(table: WholeTable, east: Screen) -> None:
    await east.press("lift")
    await east.asks("push_in")
    await pushed_in(table)
    await east.press("pushed")
    for phase in ("deal_roll", "taking", "opening"):
        await east.asks("roll")
        await east.press("roll")
        await table.state(in_phase(phase, "gold_roll"), 90)
    await east.asks("opening")
    await east.press("pass")
    await east.asks("turn")


async def to_the_end(table: WholeTable, east: Screen) -> None:
    """East wins when it may, lets everything else pass, and discards at the display."""
    ended = asyncio.create_task(table.state(lambda data: data["result"] is not None, 300))
    while not ended.done():
        verb = await east.panel.get_attribute("data-verb")
        with contextlib.suppress(PlaywrightError):
            if verb == "claim":
                await east.page.locator('#panel[data-verb="claim"] [data-action="pass"]').click(timeout=1000)
            elif verb == "turn" and await east.panel.locator('[data-action="hu"]').count():
                await east.panel.locator('[data-action="hu"]').click(timeout=1000)
            elif verb == "turn" and await east.panel.locator(".pick").count():
                await east.panel.locator(".pick").last.click(timeout=1000)
                await east.panel.locator('[data-action="discard"]').click(timeout=1000)
            elif verb == "turn":
                await east.panel.locator('[data-action="choose"]', has_text="在这里打").click(timeout=1000)
        await asyncio.sleep(0.2)
    await ended
