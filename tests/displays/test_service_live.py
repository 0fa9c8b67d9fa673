"""The repairer's page as it is served: let in by the service key, then a real daemon, broker and board behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright, expect

from controller.private_broker import PrivateBroker
from controller.settings import load_settings
from controller.web import WebServer
from protocol.serial import messages as serial
from tests.controller.board import Board
from tests.controller.daemons import Running, begin
from tests.displays.browser import SIZES, launch_options

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

TABLE = "hall-8"
PATIENCE_MS = 30_000


class Scene:
    """Daemon, page server and board of one table, and a browser that nobody has used."""

    def __init__(self, server: WebServer, board: Board, running: Running, page: Page) -> None:
        self.server = server
        self.board = board
        self.running = running
        self.page = page
        self.troubles: list[str] = []
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("console", lambda said: self.troubles.append(said.text) if "Content Security" in said.text else None)

    def key(self, held_ms: int, mode: bool | None = None) -> None:
        """The service key was held so long; the board's own mode is then on or off."""
        if mode is not None:
            (self.board.shown.add if mode else self.board.shown.discard)("service_mode")
        self.board.say(serial.Key("service", "", held_ms))

    async def touch(self, what: str) -> None:
        await self.page.locator(f"[data-act={what}]").click(timeout=PATIENCE_MS)

    async def shows(self, selector: str, words: str) -> None:
        await expect(self.page.locator(selector)).to_contain_text(words, timeout=PATIENCE_MS)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    with PrivateBroker(tmp_path / "broker", TABLE) as broker:
        path = tmp_path / "table.toml"
        path.write_text(
            f"""
            [table]
            id = "{TABLE}"
            [serial]
            ports = ["port"]
            [broker]
            port = {broker.port}
            credentials = "{broker.credentials_path}"
            [journal]
            path = "table.journal"
            [health]
            listen = ""
            [web]
            listen = "127.0.0.1:0"
            health_listen = ""
            state_dir = "{tmp_path / "web"}"
            """,
            encoding="utf-8",
        )
        settings = load_settings(path, {})
        board = Board(tmp_path / "port")
        board.capabilities = serial.Capabilities()
        board.plug()
        running = await begin(settings)
        server = WebServer(settings)
        await server.start()
        serving = asyncio.create_task(server.run())
        await asyncio.wait_for(server.session.wait_connected(), 10)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(**launch_options())
            page = await (await browser.new_context(viewport=SIZES["small"], locale="zh-CN")).new_page()
            made = Scene(server, board, running, page)
            yield made
            await browser.close()
            assert made.troubles == []
        server.stop()
        await serving
        if not running.task.done():
            await running.end()
        board.close()


async def test_a_repairer_is_let_in_by_the_key_moves_a_motor_and_leaves(scene: Scene) -> None:
    page, board = scene.page, scene.board
    await page.goto(f"{scene.server.url}/service")
    await page.locator("#name").fill("陈师傅")
    await scene.touch("pair")
    await expect(page.locator(".code")).to_be_visible(timeout=PATIENCE_MS)
    board.say(serial.Key("lift", "", 2500))
    await asyncio.sleep(1.5)
    assert await page.locator(".code").count() == 1, "another key lets nobody in"
    scene.key(2200)

    await scene.touch("enter")
    await scene.shows("#sheet", "按住维修键 3 秒")
    scene.key(3200, mode=True)
    await scene.shows("[data-chip=mode]", "陈师傅")
    west = page.locator("[data-side=W] .bit").first
    await expect(west).to_have_attribute("data-on", "false", timeout=PATIENCE_MS)
    board.shown.add("eye_W")
    await expect(west).to_have_attribute("data-on", "true", timeout=PATIENCE_MS)

    await scene.touch("tab-motors")
    back = page.locator("[data-act=jog-walls-back]")
    await expect(back).to_be_disabled(timeout=PATIENCE_MS)
    board.shown.add("service_key")
    await scene.touch("jog-walls-back")
    await scene.shows("[data-motor=walls]", "动过了")
    (jog,) = [asked for asked in board.asked if isinstance(asked, serial.Jog)]
    assert (jog.motor, jog.milliseconds) == (1, -500)

    await scene.touch("tab-tests")
    board.hold = True
    await scene.touch("test-6")
    await board.until(lambda: board.executed["SelfTest"] == 1)
    board.finish(serial.SelfTestOutcome.of(((6, "eye_dirty", "S"),)).pack(), "failed", "eye_dirty")
    await scene.shows("[data-test=eyes]", "南边：光眼脏了")
    await scene.touch("tab-counters")
    await scene.shows("#sheet", "牌墙电机运转")
    await scene.touch("tab-times")
    await scene.shows("#sheet", "升中盘")

    board.centre = "moving"
    await scene.touch("leave")
    await scene.shows("#line", "还没有归位：中盘")
    board.centre = "down"
    await scene.touch("leave")
    await scene.shows("[data-chip=mode]", "未进入维修模式")


async def test_a_page_that_was_let_in_comes_back_and_another_takes_its_place(scene: Scene) -> None:
    page = scene.page
    await page.goto(f"{scene.server.url}/service#seat=service&token={scene.server.tokens.make('service')}")
    await scene.shows("[data-chip=mode]", "未进入维修模式")
    assert "token" not in page.url
    await page.reload()
    await scene.shows("[data-chip=mode]", "未进入维修模式")
    other = await (await page.context.browser.new_context()).new_page()  # type: ignore[union-attr]
    await other.goto(f"{scene.server.url}/service#seat=service&token={scene.server.tokens.make('service')}")
    await expect(other.locator("[data-chip=mode]")).to_be_visible(timeout=PATIENCE_MS)
    await expect(page.locator("[data-act=pair]")).to_be_visible(timeout=PATIENCE_MS)


async def test_a_page_that_nobody_let_in_hears_nothing(scene: Scene) -> None:
    page = scene.page
    await page.goto(f"{scene.server.url}/service")
    await expect(page.locator("[data-act=pair]")).to_be_visible(timeout=PATIENCE_MS)
    assert await page.locator("[data-act=enter], .tabs button:visible").count() == 0
