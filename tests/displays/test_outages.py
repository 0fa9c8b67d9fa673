"""A page whose broker comes and goes: it recovers every time, believes nothing that is only kept, and does not grow."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiomqtt
import pytest
from playwright.async_api import Page, async_playwright, expect

from controller.private_broker import PrivateBroker
from controller.settings import BrokerSettings, SerialSettings, Settings, TableSettings, WebSettings
from controller.web import WebServer
from tests.broker_proxy import BrokerProxy
from tests.displays import scenes
from tests.displays.browser import launch_options
from tests.displays.test_live import TABLE, Site, cover, told

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

OUTAGES = 20
STALE_S = 10.0


@dataclass
class Away(Site):
    """A site whose page server reaches the broker through a proxy; the table's own voice does not."""

    proxy: BrokerProxy | None = None

    @property
    def way(self) -> BrokerProxy:
        assert self.proxy is not None
        return self.proxy


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Away]:
    with PrivateBroker(tmp_path / "broker", TABLE) as broker:
        async with BrokerProxy(broker.host, broker.port) as proxy, async_playwright() as playwright:
            server = WebServer(
                Settings(
                    table=TableSettings(id=TABLE),
                    serial=SerialSettings(ports=("/dev/null",)),
                    broker=BrokerSettings(port=proxy.port, credentials=broker.credentials_path, keepalive=1),
                    web=WebSettings(listen="127.0.0.1:0", health_listen="", state_dir=tmp_path / "web"),
                )
            )
            await server.start()
            running = asyncio.create_task(server.run())
            browser = await playwright.chromium.launch(**launch_options())
            table = aiomqtt.Client(
                broker.host, broker.port, username=TABLE, password=broker.credentials[TABLE], identifier=TABLE
            )
            async with table:
                await asyncio.wait_for(server.session.wait_connected(), 5)
                one = Away(server, broker, browser, table, proxy=proxy)
                yield one
                assert one.troubles == []
            await browser.close()
            server.stop()
            await asyncio.wait_for(running, 5)


async def came_back(site: Away, page: Page, before: int, text: str, scene: str) -> None:
    """The page has a connection again and shows what the table says now, within 5 s."""
    async with asyncio.timeout(5):
        while await page.locator("#cover").is_visible() or await page.locator(".say").text_content() != text:
            await site.say(scenes.scene(scene, "E"))
            await asyncio.sleep(0.1)
    assert len(site.way.accepted) > before


async def test_f16_a_page_recovers_from_twenty_outages_and_does_not_grow(site: Away) -> None:
    """F16: it hung on "reconnecting…" for seven hours, and its memory grew all day."""
    await site.available("ready")
    page = await site.paired("E")
    await cover(page, "connecting")
    await told(site, page, scenes.scene("taking", "E"))
    session = await page.context.new_cdp_session(page)

    async def held() -> int:
        found = []
        for _ in range(4):
            await session.send("HeapProfiler.collectGarbage")
            await page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
            found.append(int((await session.send("Runtime.getHeapUsage"))["usedSize"]))
        return min(found)

    texts = [("flowers", "有花请点一下，从牌尾补一张"), ("taking", "请拿第 10–11 墩")]
    heaps = []
    for number in range(OUTAGES):
        before = len(site.way.accepted)
        if number % 5 == 4:
            # Now and then the broker is away for a while and throws out whoever comes.
            site.way.kick = True
            site.way.cut()
            await asyncio.sleep(2.5)
            site.way.kick = False
        else:
            site.way.cut()
        scene, text = texts[number % 2]
        await came_back(site, page, before, text, scene)
        if number % 5 == 4:
            heaps.append(await held())
    assert heaps[-1] <= heaps[0] * 1.10, heaps


async def test_f13_what_is_only_kept_never_makes_an_old_picture_look_fresh(site: Away) -> None:
    """F13: the table stops; the page loses its connection again and again and is handed the kept view each time."""
    await site.available("ready")
    page = await site.paired("E")
    await told(site, page, scenes.scene("taking", "E"))
    began = asyncio.get_running_loop().time()
    connections = len(site.way.accepted)
    while asyncio.get_running_loop().time() - began < STALE_S - 0.5:
        site.way.cut()
        await asyncio.sleep(2.5)
    assert len(site.way.accepted) >= connections + 3, "it came back each time"
    await expect(page.locator(".say")).to_have_text("请拿第 10–11 墩")
    await cover(page, "stale", 4)
    # A page that is opened now shows the kept view and says at once that it proves nothing.
    await page.reload()
    await expect(page.locator(".say")).to_have_text("请拿第 10–11 墩")
    with contextlib.suppress(AssertionError):
        await expect(page.locator("#cover")).to_be_hidden(timeout=2_000)
        raise RuntimeError("a kept view was believed")
    await told(site, page, scenes.scene("taking", "E"))
