"""Between hands and at the end: scores, tiles, reasons, chips; what the wall view shows, and that it shows no more."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize
from pydantic_core import to_json

from controller.live import Live, TableFacts
from controller.views import seat_view
from engine.match.cards import as_cards
from tests.displays import scenes
from tests.displays.browser import LANGUAGES, Site, dress, each, opened, put, show, speak, text
from tests.engine.walker import Walker

pytestmark = pytest.mark.browser

SEATS = "ESWN"
LIVE = Live(TableFacts("new-xiamen-120", "zhitui", "full", "read", "guide", 2, 0))
WALLS: dict[str, ViewportSize] = {"wall": {"width": 1280, "height": 800}, "hall": {"width": 1920, "height": 1080}}


def cells(page: Page, kind: str) -> list[str]:
    """One column of the scores, E S W N."""
    return page.locator(f".result .scores td.{kind}").all_text_contents()


def test_scores_go_up_with_what_the_hand_brought_and_the_new_points(page: Page) -> None:
    view = show(page, "result_win", "E")
    assert cells(page, "net") == ["−142", "+272", "−74", "−56"]
    assert cells(page, "points") == ["−118", "259", "−43", "−98"]
    assert text(page, ".result-end") == "南家双游"
    assert each(page, ".scores .mine", "data-seat") == ["E"] and each(page, ".scores .won", "data-seat") == ["S"]
    assert page.locator(".result .name").all_text_contents() == ["陈阿明", "Lin", "黄美丽", "北家"]
    assert sum(view["result"]["net"].values()) == 0


def test_the_winners_tiles_and_melds_lie_open_the_winning_tile_apart(page: Page) -> None:
    show(page, "result_win", "E")
    row = '.result-row[data-seat="S"]'
    melds = ["3m", "4m", "5m", "7s", "7s", "7s", "7s"]
    assert each(page, f"{row} .result-meld [data-face]", "data-face") == melds
    assert "".join(map(str, each(page, f"{row} .result-concealed [data-face]", "data-face"))) == "1m2m8m8m9m1p4p5p6p5z"
    assert each(page, ".winning", "data-face") == ["5z"]
    assert each(page, ".result-row", "data-seat") == ["S", "E", "W", "N"]


def test_reasons_are_readable_at_each_seat(page: Page) -> None:
    show(page, "result_win", "E")
    lines = page.locator(".result-lines li").all_text_contents()
    assert [line for line in lines if line.startswith("−144")] == ["−144南底 32（庄） · 花 1 水 · 明杠 3 水 · 双游 × 4"]
    assert len(lines) == 3
    show(page, "result_win", "S")
    assert page.locator(".line-amount").all_text_contents() == ["+144", "+64"]
    assert each(page, ".result-lines li:nth-child(2) .owner", "aria-label") == ["西家", "北家"]


def test_amounts_of_the_lines_are_the_net_of_the_seat() -> None:
    for name in ("result_win", "result_several", "result_foul", "result_cards"):
        for seat in SEATS:
            view = scenes.scene(name, seat)
            for account, key in (("net", "net"), ("bonus", "bonus")):
                lines = [line for line in view["me"]["lines"] if line["account"] == account]
                came = sum(line["amount"] if line["receiver"] == seat else -line["amount"] for line in lines)
                assert came == view["result"][key][seat], (name, seat, account)


def test_next_dealer_streak_and_base_are_told(page: Page) -> None:
    show(page, "result_draw")
    assert text(page, ".result-end") == "流局"
    assert text(page, ".result-next") == "下一局庄东陈阿明连2底40"
    show(page, "result_win")
    assert text(page, ".result-next") == "下一局庄南Lin底16"


def test_several_winners_and_a_false_win_are_said_in_one_sentence(page: Page) -> None:
    show(page, "result_several", "E")
    assert text(page, ".result-end") == "南家、西家、北家平胡，您打的牌"
    assert each(page, ".result-row.first", "data-seat") == ["S", "W", "N"]
    show(page, "result_foul", "S")
    assert text(page, ".result-end") == "北家诈胡"
    assert each(page, ".result-row.first", "data-seat") == ["N"]


def test_the_drawing_comes_back_when_the_next_hand_is_dealt(page: Page) -> None:
    view = show(page, "result_win")
    assert page.locator(".result").is_visible()
    put(page, scenes.scene("deal_roll") | {"result": view["result"], "match": view["match"]}, "E")
    assert page.locator(".result").is_hidden() and page.locator(".board").is_visible()


@pytest.mark.parametrize("deck", [200, 300])
def test_cards_are_counted_as_the_table_counts_them(page: Page, deck: int) -> None:
    sums = [0, 1, 5, 49, 50, 99, 112, deck, 3 * deck - 7, 4 * deck]
    shown = page.evaluate(
        """async ([sums, deck]) => {
          const { asCards } = await import("/chips.js");
          return sums.map(points => asCards(points, deck));
        }""",
        [sums, deck],
    )
    assert shown == [[list(pair) for pair in as_cards(number, deck)] for number in sums]
    beyond = "async ([n, deck]) => (await import('/chips.js')).asCards(n, deck)"
    assert [page.evaluate(beyond, [number, deck]) for number in (-1, 4 * deck + 1)] == [None, None]
    assert page.evaluate(beyond, [10, 100]) is None


def test_chips_are_shown_as_cards_or_as_a_number(page: Page) -> None:
    show(page, "result_cards", "S")
    held = page.locator('.scores tr[data-seat="S"] .held')
    assert held.text_content() == "459K×4Q×4J9"
    assert cells(page, "extra") == ["−2", "+6", "−2", "−2"]
    show(page, "ended_table", "S")
    assert page.locator(".scores .held").all_text_contents() == ["359", "57", "−16", "0"]


def test_the_table_of_the_evening_is_in_the_order_of_points(page: Page) -> None:
    show(page, "ended_table", "E")
    assert text(page, ".result-end") == "最后的总分"
    assert each(page, ".evening tbody tr", "data-seat") == ["S", "W", "N", "E"]
    assert page.locator(".evening .place").all_text_contents() == ["1", "2", "3", "4"]
    view = scenes.scene("ended_table")
    view["match"]["points"] = {"E": 10, "S": -30, "W": 10, "N": 10}
    put(page, view, "E")
    assert page.locator(".evening .place").all_text_contents() == ["1", "1", "1", "4"]


def test_the_table_of_several_matches_is_that_of_the_evening(page: Page) -> None:
    view = show(page, "ended_evening", "E")
    assert page.locator(".evening thead th").all_text_contents() == ["", "", "今晚合计", "第 2 场", "筹码"]
    assert each(page, ".evening tbody tr", "data-seat") == ["S", "E", "N", "W"]
    assert page.locator(".evening .net").all_text_contents() == ["+141课外+10", "+85课外−6", "−19课外−6", "−207课外+2"]
    assert page.locator(".evening .points > span").all_text_contents() == ["+259", "−118", "−98", "−43"]
    people = view["match"]["players"]
    people["E"], people["N"] = people["N"], people["E"]
    put(page, view, "E")
    assert each(page, ".evening tbody tr", "data-seat") == ["S", "N", "E", "W"]
    assert page.locator(".evening .net > span").all_text_contents() == ["+141", "+85", "−19", "−207"]
    put(page, scenes.public(scenes.scene("ended_evening")), None)
    assert page.locator(".evening .net > span").all_text_contents() == ["+141", "+85", "−19", "−207"]


# -- hands as tables play them -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["new-xiamen-120", "classic-xiamen-144", "basic-136"])
def test_a_hand_really_played_shows_the_tile_that_won(page: Page, rules: str) -> None:
    for seed in range(1, 60):
        walker = Walker(rules, sensing="full", hands=1, seed=seed)
        walker.run(lambda state: state.undoable is not None)
        view: dict[str, Any] = json.loads(to_json(seat_view(walker.state, "E", LIVE)))
        if view["result"]["wins"]:
            break
    (win, *_) = view["result"]["wins"]
    put(page, view, "E")
    row = page.locator(f'.result-row.first[data-seat="{win["seat"]}"]')
    assert win["tile"]
    assert row.locator(".winning").evaluate_all("nodes => nodes.map(node => node.dataset.face)") == [win["tile"]]
    # Apart from the rest, which is the hand as it stood: its tiles, three a meld.
    winning, others = row.locator(".winning").bounding_box(), row.locator(".result-concealed .tile").all()
    last = others[-2].bounding_box()
    assert winning and last
    assert winning["x"] - last["x"] - last["width"] > 4 or winning["y"] > last["y"]
    melds = view["result"]["melds"].get(win["seat"], [])
    assert len(others) == walker.book.hand + 1 - 3 * len(melds)


# -- wall view ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=WALLS)
def hung(request: pytest.FixtureRequest, chromium: Site) -> Any:
    """The wall view's page on a screen on the wall."""
    with opened(chromium, WALLS[request.param], "reduce") as page:
        yield page


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_wall_view_fits_and_can_be_read(hung: Page, language: str, theme: str) -> None:
    speak(hung, language)
    dress(hung, theme)
    views = [[name, scenes.public(scenes.scene(name)), None] for name in scenes.names()]
    assert hung.evaluate("measure.every", ["troubles", views]) == {}
    assert hung.evaluate("measure.every", ["contrast", views]) == {}


def test_the_wall_view_has_nothing_of_a_seats_own(hung: Page) -> None:
    private = ".my-tiles .tile, .my-flowers > *, .my-points > *, .result-lines, .sheet, .history-button, #panel .press"
    for name in scenes.names():
        put(hung, scenes.public(scenes.scene(name)), None)
        shown = [node for node in hung.locator(private).all() if node.is_visible()]
        assert shown == [], name


def test_the_wall_view_uses_its_room(hung: Page) -> None:
    put(hung, scenes.public(scenes.scene("felt_turn")), None)
    wide, high = hung.evaluate("[innerWidth, innerHeight]")
    board, standing = hung.locator(".board").bounding_box(), hung.locator(".standing").bounding_box()
    assert board and standing
    assert board["height"] > 0.88 * high
    assert standing["x"] + standing["width"] > 0.98 * wide and standing["y"] + standing["height"] > 0.97 * high
    assert standing["height"] > 0.5 * high
    rows = [row.bounding_box() for row in hung.locator(".standing-seat").all()]
    assert all(row and row["height"] > 70 for row in rows)


def test_the_wall_view_shows_four_scores_whose_turn_it_is_and_the_last_hand(hung: Page) -> None:
    speak(hung, "zh-Hans")
    put(hung, scenes.public(scenes.scene("felt_claim")), None)
    assert hung.locator(".standing-points").all_text_contents() == ["24", "−13", "31", "−42"]
    assert each(hung, ".standing-seat.now", "data-seat") == ["W"]
    assert text(hung, ".standing-last").endswith("南家双游")
    put(hung, scenes.public(scenes.scene("result_win")), None)
    assert hung.locator(".standing-net").all_text_contents() == ["−142", "+272", "−74", "−56"]
    assert hung.locator(".result").is_visible() and text(hung, ".result-end") == "南家双游"
    put(hung, scenes.public(scenes.scene("felt_covered")), None)
    assert "盖牌" in text(hung, '.standing-seat[data-seat="S"]')
    put(hung, scenes.public(scenes.scene("bids")), None)
    assert text(hung, "#panel .say") == "等南家、西家报底" and text(hung, "#panel .countdown") == "21 秒"
    assert "买底 10" in text(hung, '.standing-seat[data-seat="E"]')
    assert "不顶底" in text(hung, '.standing-seat[data-seat="N"]')
