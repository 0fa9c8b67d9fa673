"""A real Chromium with the pages in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, sync_playwright

from tests.displays.browser import SIZES, Site, launch_options, opened
from tests.displays.pages import serve


@pytest.fixture(scope="module")
def chromium() -> Iterator[Site]:
    """A browser and a server of the pages; one a module, so that no other test meets its event loop."""
    with serve() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launch_options())
        yield Site(browser, address)
        browser.close()


@pytest.fixture(scope="module", params=SIZES)
def framed(request: pytest.FixtureRequest, chromium: Site) -> Iterator[Page]:
    """A page in the small or the large frame, without motion."""
    with opened(chromium, SIZES[request.param], "reduce") as page:
        yield page


@pytest.fixture(scope="module")
def large(chromium: Site) -> Iterator[Page]:
    """A page in the large frame, with motion."""
    with opened(chromium, SIZES["large"], "no-preference") as page:
        yield page


@pytest.fixture
def page(large: Page) -> Page:
    """A page in the large frame, with motion, that remembers nothing of earlier tests."""
    large.evaluate("harness.reset()")
    return large
