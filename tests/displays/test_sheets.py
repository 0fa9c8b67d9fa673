"""History, statistics and records: asked of the table with `look`, shown over the drawing, paged, saved, closed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.displays import play_scenes, scenes
from tests.displays.browser import each, put, show, text

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def nothing_open(page: Page) -> None:
    """No sheet is open, asked for or just closed."""
    show(page, "felt_turn")
    page.evaluate("harness.page.sheets.close()")
    show(page, "felt_turn")
    page.evaluate("harness.reset()")


def sent(page: Page) -> list[dict[str, Any]]:
    """What was asked of the table, oldest first; forgets it."""
    found: list[dict[str, Any]] = page.evaluate("harness.sent.splice(0)")
    assert all(one["want"] == "" and one["action"] == "look" for one in found)
    return [one["params"] for one in found]


def opened_sheet(where: Page, what: str, **sheet: Any) -> None:
    """The table answers: the seat's view has this sheet."""
    view = scenes.scene("felt_turn")
    view["me"]["sheet"] = {"what": what, "page": 0, "pages": 1, "rows": [], "players": {}, "lines": []} | sheet
    put(where, view, "E")


def test_history_is_asked_for_from_the_top_strip(page: Page) -> None:
    show(page, "felt_turn")
    page.locator(".history-button").click()
    assert page.locator(".sheet .busy").is_visible()
    assert sent(page) == [{"what": "history"}]
    show(page, "sheet_history")
    assert page.locator(".sheet .busy").count() == 0
    assert page.locator(".history tbody tr").count() == 8
    assert page.locator(".say").is_visible()


@pytest.mark.parametrize("what", ["history", "statistics", "record", "match"])
def test_every_sheet_is_asked_for_from_the_menu(page: Page, what: str) -> None:
    show(page, "felt_turn")
    page.locator(".menu-button").click()
    page.locator(f'[data-look="{what}"]').click()
    assert page.locator("#menu").is_hidden()
    assert sent(page) == [{"what": what}]
    show(page, f"sheet_{what}")
    page.locator('[data-sheet="close"]').click()


def test_a_row_tells_who_dealt_how_it_ended_and_what_it_brought(page: Page) -> None:
    show(page, "sheet_history")
    row = page.locator('.history tr[data-hand="8"]')
    assert row.locator("td").all_text_contents() == ["8", "南", "东平胡", "+36", "−12", "−12", "−12"]
    assert page.locator('.history tr[data-hand="7"] .how').text_content() == "流局"
    assert page.locator('.history tr[data-hand="3"] .how').text_content() == "诈胡"
    assert page.locator('.history tr[data-hand="4"].voided .voided-mark').text_content() == "作废"


def test_players_are_shown_by_the_seat_they_have_now(page: Page) -> None:
    view = scenes.scene("sheet_history")
    people = view["match"]["players"]
    people["E"], people["W"] = people["W"], people["E"]
    put(page, view, "E")
    assert each(page, ".history thead [data-player]", "data-player") == ["3", "2", "1", "4"]
    assert page.locator('.history tr[data-hand="8"] td').nth(2).text_content() == "西平胡"


def test_a_hand_is_looked_at_with_its_reasons_and_then_its_record(page: Page) -> None:
    show(page, "sheet_history")
    page.locator('.history tr[data-hand="3"] .hand-button').click()
    assert sent(page) == [{"what": "hand", "match": 1, "hand": 3}]
    show(page, "sheet_hand", "E")
    assert page.locator(".one-end").text_content() == "第 3 局南双游"
    assert page.locator(".sheet .line-amount").all_text_contents() == ["+4", "−2", "−144"]
    page.locator('[data-sheet="record-of"]').click()
    assert sent(page) == [{"what": "record", "match": 1, "hand": 3}]


def test_payments_are_read_from_the_chair_of_that_hand(page: Page) -> None:
    view = scenes.scene("sheet_hand", "E")
    people = view["match"]["players"]
    people["E"], people["S"] = people["S"], people["E"]
    view["me"]["sheet"]["lines"] = play_scenes.lines("S")
    put(page, view, "E")
    assert page.locator(".sheet .line-amount").all_text_contents() == ["+144", "+64"]
    view["me"]["sheet"]["lines"] = play_scenes.lines("S")[:1]
    put(page, view, "E")
    assert page.locator(".sheet .line-amount").all_text_contents() == ["+144"]


def test_statistics_tell_wins_by_way_golds_and_the_biggest_hand(page: Page) -> None:
    show(page, "sheet_statistics")
    table = {
        row.locator("th").text_content(): row.locator("td").all_text_contents()
        for row in page.locator(".figures tbody tr").all()
    }
    assert table["胡"] == ["7", "6", "2", "0"]
    assert table["自摸"] == ["4", "·", "1", "·"] and table["平胡"] == ["2", "5", "·", "·"]
    assert table["胡牌的金"] == ["3", "6", "9", "12"]
    assert table["最大一局"] == ["283（第 1 场第 4 局）", "282（第 1 场第 5 局）", "281（第 1 场第 6 局）", "·"]
    assert table["总分"] == ["−118", "259", "−43", "−98"]


def test_pages_are_turned_on_the_screen_first_and_then_by_the_table(page: Page) -> None:
    show(page, "sheet_record")
    body = page.locator(".sheet-body")
    assert page.evaluate("document.querySelector('.sheet-body').scrollTop") == 0
    page.locator('[data-sheet="on"]').click()
    assert page.evaluate("document.querySelector('.sheet-body').scrollTop") > 100
    assert sent(page) == []
    show(page, "sheet_history")
    assert body.evaluate("node => node.scrollHeight <= node.clientHeight + 2")
    page.locator('[data-sheet="on"]').click()
    assert sent(page) == [{"what": "history", "page": 1}]
    page.locator('[data-sheet="back"]').click()
    assert sent(page) == []


def test_closing_tells_the_table_and_shows_the_drawing_at_once(page: Page) -> None:
    view = show(page, "sheet_history")
    page.locator('[data-sheet="close"]').click()
    assert sent(page) == [{"what": "none"}]
    assert page.locator(".sheet").is_hidden()
    put(page, view, "E")
    assert page.locator(".sheet").is_hidden()
    show(page, "felt_turn")
    show(page, "sheet_history")
    assert page.locator(".sheet").is_visible()


def test_a_refused_look_waits_no_longer(page: Page) -> None:
    view = show(page, "felt_turn")
    page.locator(".history-button").click()
    asked = page.evaluate("harness.sent.splice(0)")[0]
    view["me"]["answers"] = [{"id": asked["id"], "ok": False, "code": "bad_value", "rule": "", "params": {}}]
    put(page, view, "E")
    assert page.locator(".sheet").is_hidden()


def test_what_is_missing_is_said(page: Page) -> None:
    opened_sheet(page, "record", missing="no_record")
    assert text(page, ".sheet-body") == "还没有打完的牌局"
    opened_sheet(page, "statistics", missing="no_room")
    assert text(page, ".sheet-body") == "现在事情多，请稍后再看"


def test_a_record_is_saved_whole_as_text(page: Page, tmp_path: Path) -> None:
    parts = ["rules new-xiamen-120\n", "dealer E\n", "S hu shuangyou\n"]

    def answer(number: int) -> None:
        opened_sheet(page, "record", page=number, pages=3, match=1, hand=3, text=parts[number])

    answer(1)
    with page.expect_download() as download:
        page.locator('[data-sheet="save"]').click()
        for number in (0, 2):
            assert sent(page) == [{"what": "record", "page": number, "match": 1, "hand": 3}]
            answer(number)
    saved = tmp_path / "record.txt"
    download.value.save_as(saved)
    assert saved.read_text(encoding="utf-8") == "".join(parts)
    assert download.value.suggested_filename == "kaijin-1-3.txt"


def test_the_record_of_a_match_is_asked_for_beside_that_of_a_hand_and_saved_whole(page: Page, tmp_path: Path) -> None:
    show(page, "sheet_hand")
    page.locator('[data-sheet="match-of"]').click()
    assert sent(page) == [{"what": "match", "match": 1}]
    parts = ["match 2\n", "rules new-xiamen-120\n"]

    def answer(number: int) -> None:
        opened_sheet(page, "match", page=number, pages=2, match=2, text=parts[number])

    answer(0)
    assert page.get_attribute(".sheet", "aria-label") == "第 2 场牌谱"
    page.locator('[data-sheet="on"]').click()
    assert sent(page) == [{"what": "match", "match": 2, "page": 1}]
    answer(1)
    with page.expect_download() as download:
        page.locator('[data-sheet="save"]').click()
        assert sent(page) == [{"what": "match", "match": 2, "page": 0}]
        answer(0)
    saved = tmp_path / "match.txt"
    download.value.save_as(saved)
    assert saved.read_text(encoding="utf-8") == "".join(parts)
    assert download.value.suggested_filename == "kaijin-2.txt"


def test_an_urgent_prompt_stays_in_sight_beside_a_sheet(page: Page) -> None:
    view = scenes.scene("sheet_history")
    put(page, view, "E")
    sheet, panel = page.locator(".sheet").bounding_box(), page.locator("#panel").bounding_box()
    assert sheet and panel and sheet["x"] + sheet["width"] <= panel["x"] + 1
    assert page.locator(".my-tiles .tile").count() > 0
