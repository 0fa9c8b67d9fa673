"""The pages as they are served: paired, connected through the bridge to a real broker, judged by the retain flag."""

from __future__ import annotations

import asyncio
import contextlib
import json
import operator
import re
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiomqtt
import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from controller.private_broker import PrivateBroker
from controller.settings import BrokerSettings, SerialSettings, Settings, TableSettings, WebSettings
from controller.web import WebServer
from protocol.mqtt.envelope import Envelope, Kind, encode
from protocol.mqtt.topics import Topics
from tests.displays import scenes
from tests.displays.browser import SIZES, launch_options

pytestmark = pytest.mark.browser

TABLE = "hall-7"
TOPICS = Topics(TABLE)


@dataclass
class Site:
    """The page server, a broker, a browser, and the table's own voice."""

    server: WebServer
    broker: PrivateBroker
    browser: Browser
    table: aiomqtt.Client
    mono: int = 0
    troubles: list[str] = field(default_factory=list)

    def envelope(self, kind: Kind, data: dict[str, Any], epoch: int) -> bytes:
        self.mono += 10
        return encode(
            Envelope(
                type=kind, table=TABLE, epoch=epoch, seq=1, id=str(self.mono), ts=0, clock="unsynced",
                mono_ms=self.mono, data=data,
            )
        )  # fmt: skip

    async def say(self, view: dict[str, Any], epoch: int = 1) -> None:
        """The view of one seat, retained, as the table says it."""
        topic = TOPICS.seat(view["me"]["seat"])
        await self.table.publish(topic, self.envelope("seat", view, epoch), qos=1, retain=True)

    async def available(self, state: str, epoch: int = 1, reason: str = "") -> None:
        payload = self.envelope("availability", {"state": state, "reason": reason}, epoch)
        await self.table.publish(TOPICS.availability, payload, qos=1, retain=True)

    async def inputs(self, seat: str) -> AsyncIterator[dict[str, Any]]:
        """What the display of a seat sends."""
        await self.table.subscribe(TOPICS.seat_input(seat), qos=1)
        async for message in self.table.messages:
            assert isinstance(message.payload, bytes)
            yield json.loads(message.payload)

    async def page(self) -> Page:
        """An empty page of a browser that nobody has used."""
        context = await self.browser.new_context(viewport=SIZES["large"])
        page = await context.new_page()
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("console", lambda said: self.troubles.append(said.text) if "Content Security" in said.text else None)
        return page

    async def paired(self, seat: str) -> Page:
        """A page that was paired by its one-time token."""
        page = await self.page()
        await page.goto(f"{self.server.url}/#seat={seat}&token={self.server.tokens.make(seat)}")
        return page


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[PrivateBroker]:
    with PrivateBroker(tmp_path / "broker", TABLE) as running:
        yield running


@pytest.fixture
async def site(broker: PrivateBroker, tmp_path: Path) -> AsyncIterator[Site]:
    settings = Settings(
        table=TableSettings(id=TABLE),
        serial=SerialSettings(ports=("/dev/null",)),
        broker=BrokerSettings(port=broker.port, credentials=broker.credentials_path, keepalive=1),
        web=WebSettings(listen="127.0.0.1:0", state_dir=tmp_path / "web"),
    )
    server = WebServer(settings)
    await server.start()
    running = asyncio.create_task(server.run())
    table = aiomqtt.Client(
        broker.host, broker.port, username=TABLE, password=broker.credentials[TABLE], identifier=TABLE, timeout=3
    )
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch_options())
        with contextlib.suppress(aiomqtt.MqttError):  # a test may end the broker
            async with table:
                await asyncio.wait_for(server.session.wait_connected(), 5)
                one = Site(server, broker, browser, table)
                yield one
                assert one.troubles == []
        await browser.close()
    server.stop()
    await asyncio.wait_for(running, 5)


async def cover(page: Page, kind: str | None, seconds: float = 5) -> None:
    """Waits until the page is covered by this face, or by none."""
    place = page.locator("#cover")
    if kind is None:
        await expect(place).to_be_hidden(timeout=seconds * 1000)
    else:
        await expect(place).to_have_attribute("data-cover", kind, timeout=seconds * 1000)


async def told(site: Site, page: Page, view: dict[str, Any], epoch: int = 1) -> None:
    """The table says a view again and again, as it does, until the page shows it as fresh."""
    async with asyncio.timeout(10):
        while not await page.locator("#cover").is_hidden():
            await site.say(view, epoch)
            await asyncio.sleep(0.2)


async def test_a_token_pairs_and_leaves_the_address_and_presses_reach_the_table(site: Site) -> None:
    await site.available("ready")
    await site.say(scenes.scene("taking", "E"))
    page = await site.paired("E")
    await cover(page, "connecting")
    assert page.url == f"{site.server.url}/"
    # The retained view is there, but only a live one makes the picture fresh.
    await expect(page.locator(".say")).to_have_text("请拿第 10–11 墩")
    await cover(page, "connecting")
    view = scenes.scene("taking", "E")
    await told(site, page, view)

    inputs = site.inputs("E")
    waiting = asyncio.ensure_future(anext(inputs))
    button = page.locator("#panel .press-primary")
    await button.click()
    said = await asyncio.wait_for(waiting, 5)
    assert (said["epoch"], said["want"], said["action"]) == (1, "3.take-0.1", "ok")
    await expect(button).to_have_attribute("data-state", "pending")
    view["me"]["answers"] = [{"id": said["id"], "ok": True, "code": "", "rule": "", "params": {}}]
    await site.say(view)
    await expect(button).to_have_attribute("data-state", "ok")

    # A reload needs no token; the credential is nowhere in the page.
    await page.reload()
    await site.say(view)
    await expect(page.locator(".say")).to_have_text("请拿第 10–11 墩")
    secret = await page.evaluate("JSON.parse(localStorage.getItem('kaijin.pairing.E')).password")
    assert secret not in await page.content()


async def test_silence_is_unmistakable_and_old_epochs_are_not_believed(site: Site) -> None:
    await site.available("ready", epoch=2)
    silent, spoken = await site.paired("E"), await site.paired("S")
    await cover(silent, "connecting")
    await cover(spoken, "connecting")
    await told(site, silent, scenes.scene("taking", "E"), epoch=2)
    await told(site, spoken, scenes.scene("taking", "S"), epoch=2)
    async with asyncio.timeout(15):
        while await silent.locator("#cover").is_hidden():
            await site.say(scenes.scene("taking", "S"), epoch=2)
            await asyncio.sleep(0.5)
    await cover(silent, "stale")
    await expect(silent.locator(".cover-hint")).to_contain_text("10 秒")
    assert await spoken.locator("#cover").is_hidden()
    # A live message of an earlier epoch changes nothing: the next one of this epoch is heard after it.
    await silent.evaluate(
        """() => {
          window.seen = [];
          new MutationObserver(() => window.seen.push(document.querySelector(".say").textContent))
            .observe(document.querySelector(".say"), { childList: true, characterData: true, subtree: true });
        }"""
    )
    await site.say(scenes.scene("dice_pad", "E"), epoch=1)
    await site.say(scenes.scene("flowers", "E"), epoch=2)
    await cover(silent, None)
    assert await silent.evaluate("window.seen") == ["有花请点一下，从牌尾补一张"]
    # A restarted table is heard of, and its new view believed.
    await site.say(scenes.scene("dice_pad", "E"), epoch=3)
    await expect(silent.locator(".say")).to_have_text("骰子是几点？")
    # Its will covers the page at once; a late will of an earlier start does not.
    await site.available("lost", epoch=2)
    await site.say(scenes.scene("dice_lost", "E"), epoch=3)
    await expect(silent.locator(".say")).to_have_text("这一掷没有读到，骰子停在几点？")
    await cover(silent, None)
    await site.available("lost", epoch=3)
    await cover(silent, "lost")


async def test_a_table_that_cannot_start_says_so_at_its_displays(site: Site, tmp_path: Path) -> None:
    await site.available("fault", epoch=4, reason="disk_read_only")
    page = await site.paired("E")
    await cover(page, "unstartable")
    hint = page.locator("#cover .cover-hint")
    await expect(hint).to_have_text("机器写不进存储，暂停；请叫店家，牌不用动")
    for epoch, reason, words in (
        (5, "disk_full", "机器存满了，暂停；请叫店家清理，牌不用动"),
        (6, "disk_error", "机器存储出错，暂停；请叫店家，牌不用动"),
        (7, "journal_unusable", "机器的记录打不开；请叫店家，牌不用动"),
    ):
        await site.available("fault", epoch=epoch, reason=reason)
        await expect(hint).to_have_text(words)
    await page.screenshot(path=tmp_path / "unstartable.png")
    await site.available("ready", epoch=8)
    await told(site, page, scenes.scene("taking", "E"), epoch=8)
    await cover(page, None)


async def test_the_page_comes_back_by_itself_after_the_broker_was_gone(site: Site) -> None:
    await site.available("ready")
    page = await site.paired("N")
    await cover(page, "connecting")
    await told(site, page, scenes.scene("taking", "N"))
    site.broker.restart(empty=True)
    table = aiomqtt.Client(
        site.broker.host, site.broker.port, username=TABLE, password=site.broker.credentials[TABLE], timeout=3
    )
    async with table:
        site.table = table
        async with asyncio.timeout(15):
            while await page.locator(".say").text_content() != "有花请点一下，从牌尾补一张":
                await site.say(scenes.scene("flowers", "N"))
                await asyncio.sleep(0.2)
        await cover(page, None)


async def test_an_unpaired_page_shows_a_code_that_is_confirmed_at_the_table(site: Site) -> None:
    await site.table.subscribe(TOPICS.pairing("request"), qos=1)
    page = await site.page()
    await page.goto(f"{site.server.url}/")
    await cover(page, "unpaired")
    await page.get_by_text("西家").click()
    await cover(page, "code")
    message = await asyncio.wait_for(anext(aiter(site.table.messages)), 5)
    assert isinstance(message.payload, bytes)
    asked = json.loads(message.payload)
    assert asked["seat"] == "W"
    assert (await page.locator(".cover-code").text_content() or "").replace(" ", "") == asked["code"]
    grant = {"code": asked["code"], "seat": "W", "device": asked["device"], "ok": True}
    await site.table.publish(TOPICS.pairing("grant"), site.envelope("pairing/grant", grant, 1), qos=1)
    await cover(page, "connecting")
    await told(site, page, scenes.scene("taking", "W"))

    # A second display at that seat is refused, and told by whom it is held.
    other = await site.paired("W")
    await cover(other, "second")
    await expect(other.locator(".cover-title")).to_have_text("西家已有一台屏幕")

    # Un-pairing frees the seat: the table empties the topic, the page asks for a seat again.
    inputs = site.inputs("W")
    waiting = asyncio.ensure_future(anext(inputs))
    await page.locator(".menu-button").click()
    await page.get_by_text("解除这台屏幕").click()
    await page.get_by_text("再按一次").click()
    said = await asyncio.wait_for(waiting, 5)
    assert (said["want"], said["action"]) == ("", "unpair")
    await site.table.publish(TOPICS.pairing("release"), site.envelope("pairing/release", {"seat": "W"}, 1), qos=1)
    await site.table.publish(TOPICS.seat("W"), b"", qos=1, retain=True)
    await cover(page, "unpaired")
    assert await page.evaluate("localStorage.getItem('kaijin.pairing.W')") is None


async def test_a_table_closed_for_the_evening_says_so_and_the_page_goes_on_when_it_is_opened(site: Site) -> None:
    """The seats' topics are emptied, again every few seconds: displays stay paired, one switched on then too."""
    page = await site.paired("S")
    await told(site, page, scenes.scene("ended", "S"))
    await site.table.publish(TOPICS.seat("S"), b"", qos=1, retain=True)
    await cover(page, "ended")
    await expect(page.locator(".cover-title")).to_have_text("今天打完了，辛苦各位")
    await page.reload()
    await cover(page, "connecting")
    async with asyncio.timeout(10):
        while await page.locator("#cover").get_attribute("data-cover") != "ended":
            await site.table.publish(TOPICS.seat("S"), b"", qos=1, retain=True)
            await asyncio.sleep(0.2)
    assert await page.evaluate("localStorage.getItem('kaijin.pairing.S')") is not None
    await site.say(scenes.scene("start_whole", "S"))
    await cover(page, None)
    await expect(page.locator("#panel")).to_have_attribute("data-verb", "start")
    await expect(page.locator(".result")).to_be_hidden()


async def test_the_wall_view_reads_the_public_state(site: Site) -> None:
    page = await site.page()
    await page.goto(f"{site.server.url}/wall#seat=view&token={site.server.tokens.make('view')}")
    await cover(page, "connecting")
    public = scenes.public(scenes.scene("opening_none"))
    async with asyncio.timeout(10):
        while not await page.locator("#cover").is_hidden():
            await site.table.publish(TOPICS.state, site.envelope("state", public, 1), qos=1, retain=True)
            await asyncio.sleep(0.2)
    await expect(page.locator(".open-gold")).to_have_attribute("data-position", "W11t")
    assert await page.locator("#panel .press").count() == 0


async def test_two_seats_in_two_tabs_of_one_browser_stay_apart(site: Site) -> None:
    """A tab remembers its own seat over a reload, whatever another tab of the same browser holds."""
    context = await site.browser.new_context(viewport=SIZES["large"])
    pages = []
    for seat in "EW":
        tab = await context.new_page()
        await tab.goto(f"{site.server.url}/#seat={seat}&token={site.server.tokens.make(seat)}")
        await told(site, tab, scenes.scene("taking", seat))
        pages.append(tab)
    for seat, tab in zip("EW", pages, strict=True):
        await tab.reload()
        await cover(tab, "connecting")
        await told(site, tab, scenes.scene("taking", seat))
        await expect(tab.locator("body")).to_have_class(re.compile(f"seat-{seat}"))


async def test_the_language_can_be_chosen_before_a_seat(site: Site) -> None:
    page = await site.page()
    await page.goto(site.server.url)
    await cover(page, "unpaired")
    await page.locator('.cover-language:has([lang="en"])').click()
    await expect(page.locator(".cover-title")).to_have_text("Which seat is this display for?")


async def test_an_address_pasted_into_an_open_page_pairs_it(site: Site) -> None:
    page = await site.page()
    await page.goto(site.server.url)
    await cover(page, "unpaired")
    await page.goto(f"{site.server.url}/#seat=S&token={site.server.tokens.make('S')}")
    await cover(page, "connecting")
    await told(site, page, scenes.scene("taking", "S"))


EVENING = (
    "taking", "flowers", "gold_face", "opening_read", "felt_turn", "felt_claim", "turn_rich", "lap", "book", "entry",
    "entry_classic", "agree", "objection", "vote", "result_cards", "sheet_history", "sheet_statistics", "sheet_record",
)  # fmt: skip


@pytest.mark.timeout(180)
async def test_an_evening_of_messages_through_the_broker_leaves_nothing_behind(site: Site) -> None:
    """F16: over a thousand views of every room at speed, with presses on the way: neither memory nor the page grows."""
    await site.available("ready")
    page = await site.paired("E")
    await told(site, page, scenes.scene("taking", "E"))
    session = await page.context.new_cdp_session(page)

    async def in_use() -> tuple[int, int, int]:
        await session.send("HeapProfiler.collectGarbage")
        await page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        counters = await session.send("Memory.getDOMCounters")
        heap = await session.send("Runtime.getHeapUsage")
        return int(heap["usedSize"]), int(counters["nodes"]), int(counters["jsEventListeners"])

    async def play(rounds: int) -> None:
        for number in range(rounds):
            view = scenes.scene(EVENING[number % len(EVENING)], "E") | {"hand": number // len(EVENING) + 1}
            for want in view["me"]["wants"]:
                want["id"] = f"{number}.{want['id']}"
            await site.say(view)
            if number % 25 == 0:
                await page.evaluate("document.querySelector('#panel .press:not(:disabled)')?.click()")
        await site.say(scenes.scene("flowers", "E") | {"hand": rounds})
        await expect(page.locator(".say")).to_have_text("有花请点一下，从牌尾补一张", timeout=60_000)

    async def held(most: tuple[float, ...] = ()) -> tuple[int, int, int]:
        """What is unused is freed at leisure: the least of a few looks, of more where it is beyond `most`."""
        looks = [await in_use() for _ in range(6)]
        until = time.monotonic() + 20
        while True:
            heaps, nodes, listeners = zip(*looks, strict=True)
            least = (min(heaps), min(nodes), min(listeners))
            if not most or all(map(operator.le, least, most)) or time.monotonic() > until:
                return least
            looks.append(await in_use())

    await play(20 * len(EVENING))
    heap, nodes, listeners = await held()
    await play(60 * len(EVENING))
    heap_after, nodes_after, listeners_after = await held((heap * 1.1, nodes * 1.1, listeners * 1.1))
    assert heap_after <= heap * 1.1, (heap, heap_after)
    assert nodes_after <= nodes * 1.1, (nodes, nodes_after)
    assert listeners_after <= listeners * 1.1, (listeners, listeners_after)
