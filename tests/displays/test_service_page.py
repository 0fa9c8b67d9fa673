"""The repairer's page as it is drawn: fits both frames in three scripts, can be touched, says in words, acts once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from protocol.serial.vocabulary import MOTORS, SELF_TESTS, SENSOR_BITS, SENSOR_VALUES
from tests.displays import service_scenes as scenes
from tests.displays.browser import LANGUAGES, READY, SIZES, Site
from tests.displays.test_catalogue import CATALOGUE

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", params=SIZES)
def bench(request: pytest.FixtureRequest, chromium: Site) -> Iterator[Page]:
    """The page in either frame; no script may fail."""
    context = chromium.browser.new_context(viewport=SIZES[request.param], reduced_motion="reduce")
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(f"{chromium.address}/harness/service.html")
    page.wait_for_selector(READY)
    yield page
    context.close()
    assert troubles == []


def show(page: Page, name: str, **changes: Any) -> None:
    page.evaluate("state => harness.show(state)", {**scenes.SCENES[name], **changes})


def told(page: Page) -> list[Any]:
    found: list[Any] = page.evaluate("harness.told")
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_fits_can_be_touched_and_is_worded(bench: Page, language: str) -> None:
    bench.evaluate("language => harness.speak(language)", language)
    wrong = {}
    for name in scenes.SCENES:
        show(bench, name)
        found = bench.evaluate("harness.troubles()")
        words = bench.evaluate("document.body.innerText")
        found += [word for word in ("undefined", "{", "NaN", "service.") if word in words]
        if found:
            wrong[name] = found
    bench.evaluate("harness.speak('zh-Hans')")
    assert wrong == {}


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_words_stand_out_from_what_lies_behind_them(bench: Page, theme: str) -> None:
    bench.evaluate("theme => harness.dress(theme)", theme)
    wrong = {}
    for name in scenes.SCENES:
        show(bench, name)
        found = bench.evaluate("measure.contrast('#bar *, #tabs *, #sheet *, #line')")
        if found:
            wrong[name] = found
    bench.evaluate("harness.dress('dark')")
    assert wrong == {}


def test_every_name_of_the_serial_contract_is_worded() -> None:
    wanted = {f"service.motor.{motor}" for motor in MOTORS} | {f"service.test.{test}" for test in SELF_TESTS}
    names = (*SENSOR_BITS, *(name for name, _ in SENSOR_VALUES))
    wanted |= {f"service.sensor.{name[:-2] if name[-2:] in ('_E', '_S', '_W', '_N') else name}" for name in names}
    assert wanted - CATALOGUE.keys() == set()


def test_sensors_are_told_by_name_side_shape_and_word(bench: Page) -> None:
    show(bench, "sensors")
    west = bench.locator("[data-side=W]")
    assert west.locator(".bit").first.get_attribute("data-on") == "false" and "14 %" in west.inner_text()
    assert "24.1 V" in bench.locator("[data-code=supply]").inner_text()
    shapes = bench.evaluate(
        "['.bit-on i', '.bit-off i'].map(one => getComputedStyle(document.querySelector(one)).boxShadow)"
    )
    assert shapes[0] != shapes[1] and shapes[1] == "none", "told apart without any colour"


def test_a_motor_can_be_run_only_while_the_key_is_held(bench: Page) -> None:
    show(bench, "motors")
    assert bench.locator(".motor button:not([disabled])").count() == 0
    assert "维修键" in bench.locator("#line").inner_text()
    show(bench, "motors_held")
    bench.locator("[data-act=for-1000]").click()
    bench.locator("[data-act=jog-walls-back]").click()
    assert told(bench) == [["duration", 1000], ["jog", "walls", -500]]
    for hindered in ("motors_running", "stopped", "resting", "board_off"):
        show(bench, hindered)
        assert bench.locator(".motor button:not([disabled])").count() == 0, hindered
    assert "电机转不动" in show_text(bench, "motors_held", "[data-motor=walls]")


def test_a_test_that_moves_needs_the_key_and_others_do_not(bench: Page) -> None:
    show(bench, "tests")
    able = bench.evaluate("[...document.querySelectorAll('.test button:not([disabled])')].map(one => one.dataset.act)")
    assert able == [f"test-{n}" for n, name in enumerate(SELF_TESTS) if name not in ("all", "motors")]
    bench.locator("[data-act=test-6]").click()
    assert told(bench) == [["test", 6]]
    words = show_text(bench, "tests_done", "[data-test=eyes]")
    assert "西边：光眼脏了" in words and "擦光眼" in words
    assert "正常" in show_text(bench, "tests_done", "[data-test=heads]")


def test_the_stop_acts_as_it_is_touched_and_the_countdown_never_rebuilds_it(bench: Page) -> None:
    show(bench, "motors_held")
    bench.evaluate("window.first = document.querySelector('[data-act=stop]')")
    show(bench, "motors_held", left=1)
    assert bench.evaluate("window.first === document.querySelector('[data-act=stop]')")
    bench.locator("[data-act=stop]").dispatch_event("pointerdown")
    assert [name for name, *_ in told(bench)] == ["stop"]


def test_leaving_with_something_away_from_home_is_asked_twice(bench: Page) -> None:
    show(bench, "motors")
    bench.locator("[data-act=leave]").click()
    assert told(bench) == [["leave", False]]
    show(bench, "not_home")
    assert "中盘" in bench.locator("#line").inner_text()
    bench.locator("[data-act=leave]").click()
    assert told(bench) == [["leave", True]]


def test_the_history_says_which_side_which_sensor_and_how_often(bench: Page) -> None:
    words = show_text(bench, "history", "[data-fault=eye_dirty]")
    assert "西" in words and "西边光眼" in words and "14" in words and "28" in words
    bench.locator("[data-act=more]").click()
    assert told(bench) == [["more", 5]]
    assert "变慢了" in show_text(bench, "times", "[data-movement=centre_raise]")
    bench.locator("[data-act=forget-centre_raise]").click()
    assert told(bench) == [["forget", "centre_raise"]]


def show_text(page: Page, name: str, selector: str) -> str:
    show(page, name)
    return page.locator(selector).inner_text()


def test_scenes_are_what_travels() -> None:
    assert json.loads(json.dumps(scenes.SCENES)) == scenes.SCENES
