"""A person at a table's page in Chromium: paired by the printed address, every touch of an opening, three scripts."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from engine.tiles import format_tiles
from tests.displays.browser import LANGUAGES, SIZES, launch_options
from tests.table.harness import WholeTable, can_connect, wait_for
from tests.table.test_cases import laid

pytestmark = [pytest.mark.table, pytest.mark.browser, pytest.mark.timeout(180)]

MEASURE = (Path(__file__).parents[1] / "displays" / "measure.js").read_text("utf-8")
CASES = Path(__file__).parents[1] / "cases" / "opening.jsonl"
SLOW_GUIDE = {"take_pace_ms": 60_000, "object_ms": 10_000}
FLOWER_WORDS = {"zh-Hans": "有花请点一下", "zh-Hant": "有花請點一下", "en": "Touch your flowers"}


def case(name: str) -> dict[str, Any]:
    rows = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    return next(row for row in rows if row["id"] == name)


@contextlib.asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch_options())
        yield browser
        await browser.close()


def address(table: WholeTable, seat: str) -> str:
    """The address that `kaijin pair` prints for a seat, with its one-time token."""
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "pair", "--config", str(table.config), "--seat", seat],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    (found,) = re.findall(r"http://\S+token=\S+", done.stdout)
    return str(found)


async def seat_page(browser: Browser, table: WholeTable, seat: str, troubles: list[str]) -> Page:
    """A browser of its own at a seat's printed address."""
    context = await browser.new_context(viewport=SIZES["large"])
    page = await context.new_page()
    page.on("pageerror", lambda error: troubles.append(str(error)))
    await page.goto(address(table, seat))
    await expect(page.locator("#cover")).to_be_hidden(timeout=15_000)
    return page


async def say(page: Page, words: str, seconds: float = 30) -> None:
    """Waits for the one sentence."""
    await expect(page.locator(".say")).to_contain_text(words, timeout=seconds * 1000)


async def press(page: Page, action: str) -> None:
    """Presses the button of an action as soon as it is there."""
    await page.locator(f'#panel button[data-action="{action}"]').first.click(timeout=60_000)


async def speak(page: Page, language: str) -> None:
    """Switches the script as a person does: by the menu."""
    await page.locator("#top button").last.click()
    await page.locator("#menu .menu-row").first.locator(".menu-choice").nth(LANGUAGES.index(language)).click()
    await page.locator("#menu .menu-buttons .press-primary").click()
    await expect(page.locator("html")).to_have_attribute("lang", language)


async def look(page: Page, folder: Path, name: str, words: dict[str, str]) -> None:
    """One moment at both sizes in all three scripts: nothing sticks out, the words are right, glyphs are drawn."""
    for language in LANGUAGES:
        await speak(page, language)
        for size in SIZES.values():
            await page.set_viewport_size(size)
            await say(page, words[language])
            assert await page.evaluate("measure.troubles()") == []
            await page.screenshot(path=folder / f"{name}-{size['width']}-{language}.png")
    assert await page.evaluate(GLYPHS), "Chinese glyphs are not drawn: a font is missing"
    await speak(page, "zh-Hans")
    await page.set_viewport_size(SIZES["large"])


GLYPHS = """() => {
  const drawn = text => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 48;
    const pen = canvas.getContext("2d");
    pen.font = `32px ${getComputedStyle(document.body).fontFamily}`;
    pen.fillText(text, 4, 36);
    return canvas.toDataURL();
  };
  const seen = new Set([...["东", "南", "西", "北", "金", "張"].map(drawn), drawn("\\u{10FFFD}")]);
  return seen.size === 7;
}"""


async def pushed_in(table: WholeTable) -> None:
    """Waits until no tile lies on the felt any more: who presses before leaves tiles outside."""
    while sum((await table.sight())["felt"].values()):
        await asyncio.sleep(0.05)


async def prepare(page: Page) -> None:
    await page.evaluate(MEASURE)


async def test_a_person_opens_a_hand_at_a_table_that_reads_nothing(tmp_path: Path) -> None:
    """直推, dealer E is the person: roll, taking, flowers, gold roll, the gold's face, begin: the case comes out."""
    row = case("opening/gold-after-flowers")
    troubles: list[str] = []
    table = WholeTable(
        tmp_path,
        hands=1,
        speed="10",
        web=True,
        people="",
        patience=60,
        script=[laid(row)],
        simulate=["--cocked", "0"],
        timing=SLOW_GUIDE,
    )
    async with table, chromium() as browser:
        page = await seat_page(browser, table, "E", troubles)
        assert "token" not in page.url
        await prepare(page)
        table.start_people()
        await press(page, "lift")
        await pushed_in(table)
        await press(page, "pushed")
        await press(page, "roll")
        await table.state(lambda data: data["dealer"] == "E")
        await press(page, "roll")
        await table.state(lambda data: data["phase"] == "taking")
        assert await page.locator("#table .brick.wanted").count() > 0
        await look(
            page, tmp_path, "taking",
            {"zh-Hans": "请拿第 2–3 墩", "zh-Hant": "請拿第 2–3 墩", "en": "Please take stacks 2–3"},
        )  # fmt: skip
        await press(page, "ok")
        await table.state(lambda data: data["phase"] == "flowers")
        for flower in ("1f", "3f", "4f"):
            await page.locator(f'#panel [data-flower="{flower}"]').click()
        await table.state(lambda data: sum(map(len, data["flowers"].values())) == 8)
        await look(page, tmp_path, "flowers", FLOWER_WORDS)
        await press(page, "ok")
        await press(page, "roll")
        asking = await table.state(lambda data: data["gold"] is not None and data["gold"]["state"] == "entering")
        assert asking["gold"]["position"] == row["want"]["gold"]["position"]
        await look(page, tmp_path, "gold", {"zh-Hans": "数到 6", "zh-Hant": "數到 6", "en": "Count to 6"})
        await page.locator("#panel .suit-choice").nth(1).click()
        await page.locator('#panel .face-choice:has([data-face="3p"])').click()
        await press(page, "face")
        opened = await table.state(lambda data: data["gold"] is not None and data["gold"]["state"] == "shown")
        assert opened["gold"]["face"] == "3p" and opened["left"] == row["want"]["remaining"]
        await look(page, tmp_path, "opened", {"zh-Hans": "金是三筒", "zh-Hant": "金是三筒", "en": "The gold is"})
        await press(page, "ok")
        await table.ended()
    assert troubles == []


async def test_a_person_sees_the_door_of_the_rows(tmp_path: Path) -> None:
    """八卦, dealer E is the person: the row, the door tile, left of it drawn, right of it replaced."""
    row = case("opening/bagua-gold-new")
    troubles: list[str] = []
    table = WholeTable(
        tmp_path, layout="bagua", hands=1, speed="10", web=True, people="", patience=60,
        script=[laid(row)], simulate=["--cocked", "0"],
        timing=SLOW_GUIDE,
    )  # fmt: skip
    async with table, chromium() as browser:
        page = await seat_page(browser, table, "E", troubles)
        await prepare(page)
        table.start_people()
        await press(page, "lift")
        await pushed_in(table)
        await press(page, "pushed")
        await press(page, "roll")
        await say(page, "推到前面")
        await press(page, "ok")
        await press(page, "roll")
        await table.state(lambda data: data["phase"] == "taking")
        await press(page, "ok")
        door = await table.state(lambda data: data["phase"] == "door")
        assert door["door"] == row["want"]["extra"]
        await look(page, tmp_path, "door", {"zh-Hans": "开门", "zh-Hant": "開門", "en": "The door"})
    assert troubles == []


async def test_where_tiles_are_read_the_page_shows_the_own_hand_alone(tmp_path: Path) -> None:
    row = case("opening/gold-after-flowers")
    troubles: list[str] = []
    table = WholeTable(
        tmp_path, hands=1, speed="10", sensing="full", web=True, people="", patience=60,
        script=[laid(row)], simulate=["--cocked", "0"],
        options={"opening_window_ms": 60_000},
    )  # fmt: skip
    async with table, chromium() as browser:
        page = await seat_page(browser, table, "E", troubles)
        await prepare(page)
        table.start_people()
        await press(page, "lift")
        await pushed_in(table)
        await press(page, "pushed")
        await press(page, "roll")
        await table.state(lambda data: data["dealer"] == "E")
        await press(page, "roll")
        await press(page, "roll")
        await table.state(lambda data: data["phase"] == "opening", 90)
        await expect(page.locator("#bottom .my-tiles [data-face]")).to_have_count(17, timeout=10_000)
        tiles = await page.locator("#bottom .my-tiles [data-face]").all()
        shown = [await tile.get_attribute("data-face") for tile in tiles]
        assert format_tiles([face for face in shown if face]) == row["want"]["hands"]["E"]
        await look(page, tmp_path, "opening", {"zh-Hans": "金是三筒", "zh-Hant": "金是三筒", "en": "The gold is"})
        html = await page.content()
        for seat in "SWN":
            assert row["want"]["hands"][seat] not in html
        await press(page, "pass")
        await table.ended()
    assert troubles == []


async def test_the_page_comes_back_by_itself_and_says_when_it_is_stale(tmp_path: Path) -> None:
    """F16: page server and broker go and come; the page covers itself and recovers every time."""
    troubles: list[str] = []
    async with WholeTable(tmp_path, hands=0, speed="10", web=True) as table, chromium() as browser:
        page = await seat_page(browser, table, "N", troubles)
        for _ in range(3):
            table.kill("web")
            await expect(page.locator("#cover")).to_be_visible(timeout=15_000)
            table.start_web()
            await expect(page.locator("#cover")).to_be_hidden(timeout=20_000)
        table.kill("daemon")
        await expect(page.locator("#cover")).to_be_visible(timeout=20_000)
        table.start_daemon()
        await expect(page.locator("#cover")).to_be_hidden(timeout=20_000)
    assert troubles == []


async def test_the_wall_view_shows_what_all_may_see(tmp_path: Path) -> None:
    troubles: list[str] = []
    async with (
        WholeTable(tmp_path, hands=0, speed="1", sensing="full", web=True) as table,
        chromium() as browser,
    ):
        page = await seat_page(browser, table, "view", troubles)
        await table.state(lambda data: data["phase"] in ("taking", "flowers"), 90)
        await prepare(page)
        await page.screenshot(path=tmp_path / "wall.png")
        assert await page.locator("#bottom [data-face]").count() == 0
        assert await page.locator("button[data-action]").count() == 0
    assert troubles == []


async def test_a_second_device_is_refused_and_shown_to_all(tmp_path: Path) -> None:
    troubles: list[str] = []
    async with WholeTable(tmp_path, hands=0, speed="10", web=True) as table, chromium() as browser:
        first = await seat_page(browser, table, "W", troubles)
        context = await browser.new_context(viewport=SIZES["small"])
        second = await context.new_page()
        await second.goto(address(table, "W"))
        await expect(second.locator("#cover")).to_be_visible(timeout=10_000)
        noticed = await table.state(lambda data: bool(data["notices"]), 20)
        assert noticed["notices"][0]["seat"] == "W"
        await expect(first.locator(".card").first).to_be_visible(timeout=10_000)
    assert troubles == []


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
