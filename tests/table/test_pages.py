"""A person at a table's page in Chromium: paired by the printed address, every touch of an opening, three scripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from engine.tiles import format_tiles
from tests.displays.browser import LANGUAGES, SIZES
from tests.table.harness import WholeTable, can_connect, wait_for
from tests.table.screens import PATIENCE_MS, Screen, address, chromium, open_screen
from tests.table.test_cases import laid
from tests.table.test_pages_none import seen

pytestmark = [pytest.mark.table, pytest.mark.browser, pytest.mark.timeout(300)]

CASES = Path(__file__).parents[1] / "cases" / "opening.jsonl"
SLOW_GUIDE = {"take_pace_ms": 60_000, "object_ms": 10_000}
FLOWER_WORDS = {"zh-Hans": "有花请点一下", "zh-Hant": "有花請點一下", "en": "Touch your flowers"}


def case(name: str) -> dict[str, Any]:
    rows = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    return next(row for row in rows if row["id"] == name)


async def look(screen: Screen, name: str, words: dict[str, str]) -> None:
    """One moment at both sizes in all three scripts: nothing sticks out, the words are right, glyphs are drawn."""
    for language in LANGUAGES:
        await screen.speak(language)
        await screen.says(words[language])
        await screen.look(name)
    assert await screen.page.evaluate("measure.glyphs()") == [], "Chinese glyphs are not drawn: a font is missing"
    await screen.speak("zh-Hans")


async def push_in(table: WholeTable, screen: Screen) -> None:
    """Lift, and all tiles in: who presses before leaves tiles outside."""
    await screen.press("lift")
    await screen.asks("push_in")
    await seen(table, lambda sight: not sum(sight["felt"].values()))
    await screen.press("pushed")


async def test_a_person_opens_a_hand_at_a_table_that_reads_nothing(tmp_path: Path) -> None:
    """直推, dealer E is the person: roll, taking, flowers, gold roll, the gold's face: the case comes out."""
    row = case("opening/gold-after-flowers")
    table = WholeTable(
        tmp_path, hands=1, speed="10", web=True, people="", patience=60, script=[laid(row)],
        simulate=["--cocked", "0"], timing=SLOW_GUIDE,
    )  # fmt: skip
    async with table, chromium() as browser:
        east = await open_screen(browser, table, "E", tmp_path)
        table.start_people()
        await push_in(table, east)
        await east.press("roll")
        await table.state(lambda data: data["dealer"] == "E")
        await east.press("roll")
        await east.asks("take")
        assert await east.page.locator("#table .brick.wanted").count() > 0
        words = {"zh-Hans": "请拿第 2–3 墩", "zh-Hant": "請拿第 2–3 墩", "en": "Please take stacks 2–3"}
        await look(east, "taking", words)
        await seen(table, lambda sight: sum(sight["counts"].values()) == 65)
        await east.press("ok")
        await east.asks("flowers")
        for flower in ("1f", "3f", "4f"):
            await east.touch(f'[data-flower="{flower}"]')
        await table.state(lambda data: sum(map(len, data["flowers"].values())) == 8)
        await look(east, "flowers", FLOWER_WORDS)
        await east.press("ok")
        await east.press("roll")
        asking = await table.state(lambda data: data["gold"] is not None and data["gold"]["state"] == "entering")
        assert asking["gold"]["position"] == row["want"]["gold"]["position"]
        await look(east, "gold", {"zh-Hans": "数到 6", "zh-Hant": "數到 6", "en": "Count to 6"})
        await east.touch('[data-tile="3p"]')
        opened = await table.state(lambda data: data["gold"] is not None and data["gold"]["state"] == "shown")
        assert opened["gold"]["face"] == "3p" and opened["left"] == row["want"]["remaining"]
        await east.asks("book")
        await expect(east.page.locator("#top .top-gold [data-face]").first).to_have_attribute("data-face", "3p")
        await look(east, "opened", {"zh-Hans": "补花、开杠", "zh-Hant": "補花、開槓", "en": "Touch flowers and kongs"})
    assert east.troubles == []


async def test_a_person_sees_the_door_of_the_rows(tmp_path: Path) -> None:
    """八卦, dealer E is the person: the row, the door tile, left of it drawn, right of it replaced."""
    row = case("opening/bagua-gold-new")
    table = WholeTable(
        tmp_path, layout="bagua", hands=1, speed="10", web=True, people="", patience=60,
        script=[laid(row)], simulate=["--cocked", "0"],
        timing=SLOW_GUIDE,
    )  # fmt: skip
    async with table, chromium() as browser:
        east = await open_screen(browser, table, "E", tmp_path)
        table.start_people()
        await push_in(table, east)
        await east.press("roll")
        await east.says("推到前面")
        await east.press("ok")
        await east.press("roll")
        await table.state(lambda data: data["phase"] == "taking")
        await east.press("ok")
        door = await table.state(lambda data: data["phase"] == "door")
        assert door["door"] == row["want"]["extra"]
        await look(east, "door", {"zh-Hans": "开门", "zh-Hant": "開門", "en": "The door"})
    assert east.troubles == []


async def test_where_tiles_are_read_the_page_shows_the_own_hand_alone(tmp_path: Path) -> None:
    row = case("opening/gold-after-flowers")
    table = WholeTable(
        tmp_path, hands=1, speed="10", sensing="full", web=True, people="", patience=60,
        script=[laid(row)], simulate=["--cocked", "0"],
        options={"opening_window_ms": 60_000},
    )  # fmt: skip
    async with table, chromium() as browser:
        east = await open_screen(browser, table, "E", tmp_path)
        table.start_people()
        await push_in(table, east)
        await east.press("roll")
        await table.state(lambda data: data["dealer"] == "E")
        await east.press("roll")
        await east.press("roll")
        await table.state(lambda data: data["phase"] == "opening", 90)
        await expect(east.page.locator("#bottom .my-tiles [data-face]")).to_have_count(17, timeout=PATIENCE_MS)
        tiles = await east.page.locator("#bottom .my-tiles [data-face]").all()
        shown = [await tile.get_attribute("data-face") for tile in tiles]
        assert format_tiles([face for face in shown if face]) == row["want"]["hands"]["E"]
        await look(east, "opening", {"zh-Hans": "金是三筒", "zh-Hant": "金是三筒", "en": "The gold is"})
        html = await east.page.content()
        for seat in "SWN":
            assert row["want"]["hands"][seat] not in html
        await east.press("pass")
        await table.state(lambda data: data["phase"] == "play")
    assert east.troubles == []


async def test_the_page_comes_back_by_itself_and_says_when_it_is_stale(tmp_path: Path) -> None:
    """F16: page server and broker go and come; the page covers itself and recovers every time."""
    async with WholeTable(tmp_path, hands=0, speed="10", web=True) as table, chromium() as browser:
        north = await open_screen(browser, table, "N", tmp_path)
        cover = north.page.locator("#cover")
        for _ in range(3):
            table.kill("web")
            await expect(cover).to_be_visible(timeout=PATIENCE_MS)
            table.start_web()
            await expect(cover).to_be_hidden(timeout=PATIENCE_MS)
        table.kill("daemon")
        await expect(cover).to_be_visible(timeout=PATIENCE_MS)
        table.start_daemon()
        await expect(cover).to_be_hidden(timeout=PATIENCE_MS)
    assert north.troubles == []


async def test_a_second_device_is_refused_and_shown_to_all(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=0, speed="10", web=True) as table, chromium() as browser:
        first = await open_screen(browser, table, "W", tmp_path)
        context = await browser.new_context(viewport=SIZES["small"])
        second = await context.new_page()
        await second.goto(address(table, "W"))
        await expect(second.locator("#cover")).to_have_attribute("data-cover", "second", timeout=PATIENCE_MS)
        noticed = await table.state(lambda data: bool(data["notices"]), 20)
        assert noticed["notices"][0]["seat"] == "W"
        await expect(first.page.locator(".card").first).to_be_visible(timeout=PATIENCE_MS)
    assert first.troubles == []


async def test_the_page_server_is_up_before_anything_else_can_be_had_from_it(tmp_path: Path) -> None:
    """Without a credential plain requests yield the page and nothing of the game."""
    async with WholeTable(tmp_path, hands=0, speed="10", web=True, sensing="full") as table, chromium() as browser:
        wait_for(lambda: can_connect(table.web_port), "the page server")
        await table.state(lambda data: data["phase"] in ("flowers", "gold_roll", "opening"), 60)
        context = await browser.new_context()
        page = await context.new_page()
        for path in ("/", "/wall", "/state", "/seat/E", "/mqtt", "/healthz", "/metrics", "/broker/credentials.json"):
            answer = await page.request.get(f"http://127.0.0.1:{table.web_port}{path}")
            body = await answer.text()
            assert "password" not in body.lower() or path in ("/", "/wall")
            for secret in table.broker.credentials.values():
                assert secret not in body
