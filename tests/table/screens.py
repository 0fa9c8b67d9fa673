"""Displays of a whole table in Chromium, as its people use them: what they say, what is touched, how they look."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Locator, Page, async_playwright, expect

from tests.displays.browser import LANGUAGES, SIZES, launch_options
from tests.table.harness import WholeTable

MEASURE = (Path(__file__).parents[1] / "displays" / "measure.js").read_text("utf-8")
PATIENCE_MS = 90_000
"""How long a person waits for the table, which may run slowly under tests."""
COUNT_TOUCHES = """window.touches = 0;
document.addEventListener(
  "click",
  event => { if (event.target.closest("button:not(:disabled)")) window.touches += 1; },
  true,
);
"""


def in_phase(*names: str) -> Callable[[dict[str, Any]], bool]:
    """Whether the public state is in one of these phases."""
    return lambda data: data["phase"] in names


@contextlib.asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """One browser for all displays of a table."""
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
        timeout=60,
        check=True,
    )
    (found,) = re.findall(r"http://\S+token=\S+", done.stdout)
    return str(found)


@dataclass
class Screen:
    """One display: its seat (`view`: the wall view), its page, and what went wrong in it."""

    seat: str
    page: Page
    folder: Path
    language: str = "zh-Hans"
    troubles: list[str] = field(default_factory=list)

    @property
    def panel(self) -> Locator:
        """The column that says what to do."""
        return self.page.locator("#panel")

    # -- reading -------------------------------------------------------------------------------------------------------

    async def says(self, *words: str) -> None:
        """Waits until the one sentence has all of these words."""
        for word in words:
            await expect(self.page.locator(".say")).to_contain_text(word, timeout=PATIENCE_MS)

    async def asks(self, verb: str) -> None:
        """Waits until the column is about this prompt."""
        await expect(self.panel).to_have_attribute("data-verb", verb, timeout=PATIENCE_MS)

    async def text(self, selector: str) -> str:
        """What the node that fits says, its words apart by single spaces."""
        return " ".join((await self.page.locator(selector).inner_text()).split())

    async def touches(self) -> int:
        """Touches of any button so far."""
        count: int = await self.page.evaluate("window.touches")
        return count

    # -- touching ------------------------------------------------------------------------------------------------------

    async def press(self, action: str, words: str = "") -> None:
        """Touches the button of an action in the column as soon as it is there; with `words` the one that says them."""
        button = self.panel.locator(f'button[data-action="{action}"]:enabled', has_text=words or None)
        await button.first.click(timeout=PATIENCE_MS)

    async def touch(self, selector: str, words: str = "") -> None:
        """Touches what fits in the column."""
        await self.panel.locator(selector, has_text=words or None).first.click(timeout=PATIENCE_MS)

    async def speak(self, language: str) -> None:
        """Switches the script as a person does: by the menu."""
        await self.page.locator("#top .menu-button").click()
        await self.page.locator(f'#menu .menu-choice[data-value="{language}"]').click()
        await self.page.locator("#menu .menu-buttons .press-primary").click()
        await expect(self.page.locator("html")).to_have_attribute("lang", language)
        self.language = language

    # -- looking -------------------------------------------------------------------------------------------------------

    async def look(self, name: str, languages: Sequence[str] = ()) -> None:
        """A picture of this moment at both sizes; nothing is cut off, overlaps or is too small to be touched."""
        first = self.language
        for language in languages or (first,):
            if language != self.language:
                await self.speak(language)
            for frame, size in SIZES.items():
                await self.page.set_viewport_size(size)
                path = self.folder / f"{name}-{self.seat}-{frame}-{language}.png"
                await self.page.screenshot(path=path, animations="disabled")
                found = await self.page.evaluate("measure.troubles()")
                assert found == [], f"{path}: {found}"
        if self.language != first:
            await self.speak(first)
        await self.page.set_viewport_size(SIZES["large"])

    async def look_everywhere(self, name: str) -> None:
        """The same in all three scripts."""
        await self.look(name, LANGUAGES)


async def open_screen(
    browser: Browser, table: WholeTable, seat: str, folder: Path, language: str = "zh-Hans", **context: Any
) -> Screen:
    """A display of its own at a seat's printed address."""
    place = await browser.new_context(viewport=SIZES["large"], reduced_motion="reduce", **context)
    page = await place.new_page()
    screen = Screen(seat, page, folder)
    page.on("pageerror", lambda error: screen.troubles.append(str(error)))
    page.on("console", lambda said: screen.troubles.append(said.text) if "Content Security" in said.text else None)
    await page.goto(address(table, seat))
    await expect(page.locator("#cover")).to_be_hidden(timeout=PATIENCE_MS)
    assert "token" not in page.url
    await page.evaluate(MEASURE)
    await page.evaluate(COUNT_TOUCHES)
    if language != "zh-Hans":
        await screen.speak(language)
    return screen
