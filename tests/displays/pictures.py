"""Pictures of situations, for the documentation and for one's own eyes.

    python -m tests.displays.pictures FOLDER                     the pictures of the documentation
    python -m tests.displays.pictures FOLDER all                 every situation in every frame and script
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.displays import scenes
from tests.displays.browser import LANGUAGES, SIZES, Site, launch_options, opened, show, speak
from tests.displays.pages import serve

USAGE = "usage: python -m tests.displays.pictures FOLDER [all]"


def main(arguments: list[str]) -> int:
    """Draws into the folder that is named; 2 when it is called wrongly."""
    if len(arguments) not in (1, 2) or arguments[1:] not in ([], ["all"]):
        print(USAGE, file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    with serve() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launch_options())
        site = Site(browser, address)
        if arguments[1:]:
            draw_all(site, folder)
        else:
            draw(site, folder, "large", ("felt_turn",), "zh-Hans", "seat")
        browser.close()
    return 0


def draw_all(site: Site, folder: Path) -> None:
    """Every situation, in both frames and all scripts."""
    for frame in SIZES:
        for language in LANGUAGES:
            draw(site, folder, frame, scenes.names(), language)


def draw(site: Site, folder: Path, frame: str, names: Sequence[str], language: str, file: str = "") -> None:
    """Some situations in one frame and script, without motion."""
    with opened(site, SIZES[frame], "reduce") as page:
        speak(page, language)
        for name in names:
            show(page, name)
            page.screenshot(path=folder / f"{file or f'{name}-{frame}-{language}'}.png")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
