"""Chromium as the tests use it, and the page's states put before it."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from playwright.sync_api import Browser, Page, ViewportSize

from tests.displays import scenes

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES: dict[str, ViewportSize] = {"small": {"width": 800, "height": 480}, "large": {"width": 1280, "height": 800}}
PHONE: ViewportSize = {"width": 390, "height": 844}
LANGUAGES = ("zh-Hans", "zh-Hant", "en")
READY = "html[data-ready]"


@dataclass(frozen=True, slots=True)
class Site:
    """A running browser, and where the pages are served."""

    browser: Browser
    address: str


def chromium() -> str:
    """The path of Debian's chromium; a test that needs it fails with what to install."""
    found = os.environ.get("KAIJIN_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        raise RuntimeError("no chromium found: install Debian's package chromium, or set KAIJIN_CHROMIUM")
    return found


def launch_options() -> dict[str, Any]:
    """What playwright's launch takes."""
    return {"executable_path": chromium(), "args": ARGUMENTS}


@contextlib.contextmanager
def opened(site: Site, viewport: ViewportSize, motion: Literal["no-preference", "reduce"]) -> Iterator[Page]:
    """The harness in a page of its own; at the end no script may have failed or been forbidden."""
    context = site.browser.new_context(viewport=viewport, reduced_motion=motion)
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda said: troubles.append(said.text) if "Content Security" in said.text else None)
    page.goto(f"{site.address}/harness/harness.html")
    page.wait_for_selector(READY)
    try:
        yield page
    finally:
        context.close()
    assert troubles == []


def put(page: Page, view: dict[str, Any], viewer: str | None) -> None:
    """Lets the page draw a view for a seat, or for the wall view (None)."""
    page.evaluate("([view, viewer]) => harness.show(view, viewer)", [view, viewer])


def show(page: Page, name: str, seat: str = "E", **changes: Any) -> dict[str, Any]:
    """Lets the page draw a situation as this seat sees it; returns the view."""
    view = scenes.scene(name, seat) | changes
    put(page, view, view["me"]["seat"])
    return view


def speak(page: Page, language: str) -> None:
    """Chooses the script."""
    page.evaluate("language => harness.page.change('language', language)", language)


def dress(page: Page, theme: str) -> None:
    """Chooses the theme."""
    page.evaluate("theme => harness.page.change('theme', theme)", theme)


def text(page: Page, selector: str) -> str:
    """The text of the one node that fits."""
    return page.locator(selector).text_content() or ""


def each(page: Page, selector: str, name: str) -> list[str | None]:
    """An attribute of every node that fits."""
    found: list[str | None] = page.evaluate("measure.each", [selector, name])
    return found


def style(page: Page, selector: str, name: str) -> str:
    """A computed style of the first node that fits."""
    return str(page.evaluate("measure.style", [selector, name]))
