"""The frame: every situation fits both displays, can be touched and read, in three scripts and two themes."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.displays import scenes
from tests.displays.browser import LANGUAGES, PHONE, READY, Site, dress, opened, put, show, speak, text

pytestmark = pytest.mark.browser

ALL = scenes.names()


def situations(seats: str) -> list[list[Any]]:
    """[name, view, viewer] of every situation, as each of these seats sees it."""
    return [[f"{name}/{seat}", scenes.scene(name, seat), seat] for name in ALL for seat in seats]


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_overflows_and_every_target_is_large_enough(framed: Page, language: str) -> None:
    speak(framed, language)
    assert framed.evaluate("measure.every", ["troubles", situations("ES")]) == {}


def test_the_measure_finds_what_is_wrong(framed: Page) -> None:
    show(framed, "dice_pad")
    framed.evaluate("document.querySelector('#panel .press').style.minHeight = '2000px'")
    framed.evaluate(
        "document.querySelector('.dice-choice').style.cssText = 'width: 20px; min-height: 20px; height: 20px'"
    )
    found = " ".join(framed.evaluate("measure.troubles()"))
    assert "outside: press" in found and "small: touch dice-choice" in found and "below the column" in found
    framed.evaluate("document.querySelector('.say').style.color = '#555'")
    assert any("say" in one for one in framed.evaluate("measure.contrast()"))
    framed.reload()
    framed.wait_for_selector(READY)


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_contrast_is_high_enough(framed: Page, theme: str) -> None:
    dress(framed, theme)
    wrong = framed.evaluate("measure.every", ["contrast", situations("EW")])
    dress(framed, "dark")
    assert wrong == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_key_is_left_unworded(framed: Page, language: str) -> None:
    speak(framed, language)
    for name in ALL:
        show(framed, name)
        words = framed.evaluate("document.body.innerText")
        assert "undefined" not in words and "{" not in words and "NaN" not in words, name
        assert framed.evaluate("document.documentElement.lang") == language


def test_chinese_glyphs_are_really_drawn(page: Page) -> None:
    assert page.evaluate("measure.glyphs()") == []


def test_a_portrait_phone_has_everything_below_one_another(chromium: Site) -> None:
    with opened(chromium, PHONE, "reduce") as page:
        show(page, "vote")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        for name in ("taking", "flowers", "gold_face", "opening_read", "book", "claim_all", "entry_classic", "agree"):
            show(page, name)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
            say, board = page.locator(".say").bounding_box(), page.locator(".board").bounding_box()
            assert say and board and say["y"] < board["y"]
            assert board["width"] > 330


def test_the_wall_view_shows_all_and_asks_nothing(page: Page) -> None:
    put(page, scenes.public(scenes.scene("opening_read")), None)
    assert page.locator(".badge").count() == 4
    assert page.locator("#panel .press").count() == 0
    assert page.locator(".my-tiles .tile").count() == 0
    assert page.locator(".answer").is_hidden()
    assert "我的花" not in text(page, "#bottom")
    assert page.evaluate("measure.troubles()") == []
    assert text(page, ".say") == "看看有没有人开局就胡"


def test_language_and_theme_are_chosen_and_kept(page: Page) -> None:
    show(page, "taking")
    page.locator(".menu-button").click()
    page.get_by_text("English").click()
    page.get_by_text("Light").click()
    page.get_by_text("Close").click()
    assert page.locator("#menu").is_hidden()
    assert text(page, ".say") == "Please take stacks 10–11"
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.reload()
    page.wait_for_selector(READY)
    assert page.evaluate("[document.documentElement.lang, document.documentElement.dataset.theme]") == ["en", "light"]


def test_thousands_of_updates_leave_nothing_behind(page: Page) -> None:
    mixed = ("taking", "flowers", "gold_face", "opening_read", "sorting", "dice_pad", "notices", "claim_all", "entry")
    views = [scenes.scene(name) for name in mixed]
    run = """([views, rounds]) => {
      for (let n = 0; n < rounds; n += 1) {
        const view = structuredClone(views[n % views.length]);
        for (const want of view.me.wants) want.id = `${n}.x-0.1`;
        harness.show(view, "E");
        document.querySelector("#panel .press:not(:disabled)")?.click();
        harness.sent.length = 0;
      }
      harness.show(views[0], "E");
      return document.querySelectorAll("*").length;
    }"""
    session = page.context.new_cdp_session(page)

    def in_use() -> tuple[int, int]:
        session.send("HeapProfiler.collectGarbage")
        nodes = session.send("Memory.getDOMCounters")["nodes"]
        return int(session.send("Runtime.getHeapUsage")["usedSize"]), int(nodes)

    first = page.evaluate(run, [views, 350])
    heap_before, nodes_before = in_use()
    last = page.evaluate(run, [views, 2100])
    heap_after, nodes_after = in_use()
    assert last == first
    assert nodes_after <= nodes_before * 1.1
    assert heap_after <= heap_before * 1.1
