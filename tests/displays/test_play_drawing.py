"""The table drawing of a hand in play: discards, melds, flowers, whose turn it is, the next tile, states of seats."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.displays import scenes
from tests.displays.browser import SIZES, Site, each, opened, put, show, style, text

pytestmark = pytest.mark.browser

SEATS = "ESWN"


def faces(page: Page, selector: str, seat: str) -> list[str | None]:
    """The faces drawn for a seat; `down` lies face down."""
    return each(page, f'{selector}[data-owner="{seat}"]', "data-face")


def centres(page: Page, selector: str) -> list[tuple[float, float]]:
    """Where the middle of every node that fits stands on the screen."""
    found: list[list[float]] = page.evaluate(
        """selector => [...document.querySelectorAll(selector)].map(node => {
          const at = node.getBoundingClientRect();
          return [at.x + at.width / 2, at.y + at.height / 2];
        })""",
        selector,
    )
    return [(x, y) for x, y in found]


def rectangles(page: Page, selector: str) -> list[dict[str, float]]:
    """The rectangles of every node that fits."""
    found: list[dict[str, float]] = page.evaluate(
        "selector => [...document.querySelectorAll(selector)].map(node => node.getBoundingClientRect().toJSON())",
        selector,
    )
    return found


@pytest.mark.parametrize("name", ["felt_turn", "felt_claim", "felt_tour", "felt_full", "felt_144"])
@pytest.mark.parametrize("seat", ["E", "N"])
def test_every_discard_and_flower_is_drawn_in_its_order(page: Page, name: str, seat: str) -> None:
    view = show(page, name, seat)
    for side in SEATS:
        assert faces(page, ".discard", side) == [face or "down" for face in view["play"]["discards"][side]]
        assert faces(page, ".layer-play .flower", side) == view["flowers"][side]


def test_discards_lie_in_rows_before_their_seat_the_oldest_nearest_the_middle(page: Page) -> None:
    show(page, "felt_turn", "E")
    mine, right = centres(page, '.discard[data-owner="E"]'), centres(page, '.discard[data-owner="S"]')
    opposite = centres(page, '.discard[data-owner="W"]')
    assert len({round(y) for _, y in mine[:6]}) == 1 and mine[6][1] > mine[0][1]
    assert all(a[0] < b[0] for a, b in itertools.pairwise(mine[:6]))
    # Each from his own left to his own right: upwards for the seat on the right, leftwards for the one opposite.
    assert right[1][1] < right[0][1] and right[-1][0] > right[0][0]
    assert opposite[1][0] < opposite[0][0] and opposite[-1][1] < opposite[0][1]


@pytest.mark.parametrize("name", ["felt_turn", "felt_full", "felt_144"])
@pytest.mark.parametrize("size", SIZES)
def test_nothing_on_the_felt_covers_anything_else(chromium: Site, name: str, size: str) -> None:
    with opened(chromium, SIZES[size], "reduce") as page:
        for seat in SEATS:
            show(page, name, seat)
            tiles = rectangles(page, ".discard:not(.last), .meld-tile:not(.fourth), .layer-play .flower")
            tiles += rectangles(page, ".put-away, .felt-pill, .layer-centre .console")
            walls = rectangles(page, ".brick.stands")
            for one, other in itertools.combinations(tiles, 2):
                wide = min(one["right"], other["right"]) - max(one["left"], other["left"])
                high = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
                # Rows overlap by the edge of a tile, and rings of the gold touch their neighbours.
                assert min(wide, high) <= 0.2 * min(one["width"], other["width"]), (name, seat, one, other)
            inner = [min(w["left"] for w in tiles), max(w["right"] for w in tiles), min(w["top"] for w in tiles)]
            board = page.locator(".board").bounding_box()
            assert board is not None
            assert board["x"] < inner[0] and inner[1] < board["x"] + board["width"] and board["y"] < inner[2]
            for tile, wall in itertools.product(tiles, walls):
                wide = min(tile["right"], wall["right"]) - max(tile["left"], wall["left"])
                high = min(tile["bottom"], wall["bottom"]) - max(tile["top"], wall["top"])
                assert min(wide, high) <= 1, (name, seat, tile, wall)


def test_discards_are_as_large_as_their_number_allows(page: Page) -> None:
    show(page, "felt_turn")
    few = rectangles(page, ".discard:not(.last)")[0]["width"]
    show(page, "felt_full")
    many = rectangles(page, ".discard:not(.last)")[0]["width"]
    assert few > 34 and 20 < many < few


def test_the_newest_discard_is_marked_and_pulses_while_it_may_be_claimed(page: Page) -> None:
    show(page, "felt_turn")
    assert each(page, ".last", "data-face") == ["6z"] and each(page, ".last", "data-owner") == ["N"]
    assert page.locator(".claimable").count() == 0
    show(page, "felt_claim")
    assert each(page, ".claimable", "data-face") == ["8m"] and each(page, ".claimable", "data-owner") == ["W"]
    assert style(page, ".claimable .last-ring", "animationName") == "pulse"
    assert style(page, ".claimable .last-ring", "fill") == "rgb(124, 196, 255)"


def test_a_kong_that_may_be_robbed_is_marked_where_it_lies(page: Page) -> None:
    show(page, "felt_rob")
    assert each(page, ".claimable", "data-face") == ["6z"]
    assert page.locator(".meld-kong_added .claimable").count() == 1


def test_melds_show_their_tiles_and_a_concealed_kong_only_what_it_must(page: Page) -> None:
    show(page, "felt_turn")
    assert each(page, '.meld[data-owner="N"]', "data-kind") == ["chi", "pong", "kong_concealed"]
    assert each(page, '.meld[data-owner="N"] .of-chi', "data-face") == ["6p", "7p", "8p"]
    assert each(page, '.meld[data-owner="N"] .of-kong_concealed', "data-face") == ["down", "1p", "down", "1p"]
    assert each(page, '.meld[data-owner="S"] .of-kong_open', "data-face") == ["7s"] * 4


def test_melds_lie_at_their_owners_right_hand(page: Page) -> None:
    show(page, "felt_turn", "E")
    board = page.locator(".board").bounding_box()
    assert board is not None
    middle = (board["x"] + board["width"] / 2, board["y"] + board["height"] / 2)
    (x, y), *_ = centres(page, '.meld[data-owner="E"]')
    assert x > middle[0] and y > middle[1]
    north = centres(page, '.meld[data-owner="N"]')
    assert all(one[0] < middle[0] for one in north) and max(one[1] for one in north) > middle[1]


def test_the_gold_is_ringed_wherever_it_lies(page: Page) -> None:
    show(page, "felt_tour")
    assert each(page, ".discard.of-gold", "data-face") == ["3p"]
    assert page.get_attribute(".open-gold", "data-position") == "W8t"
    assert each(page, ".my-tiles .golden", "data-face") == ["3p", "3p"]


def test_whose_turn_it_is_and_the_tile_that_is_drawn_next(page: Page) -> None:
    show(page, "felt_turn")
    assert each(page, ".badge.active", "data-seat") == ["E"]
    assert each(page, ".brick.next", "data-position") == ["N9b"]
    assert page.locator(".brick.wanted").count() == 0
    show(page, "felt_draw")
    assert each(page, ".badge.active", "data-seat") == ["S"]
    assert each(page, ".brick.wanted", "data-position") == ["N9b"]
    assert style(page, ".brick.wanted .brick-back", "fill") == "rgb(255, 147, 132)"
    assert text(page, ".console-left") == "23"


def test_tour_and_a_seat_out_of_the_hand_are_written_out(page: Page) -> None:
    show(page, "felt_tour")
    assert text(page, ".pill-tour") == "双游"
    assert page.locator('.felt-seat[data-seat="W"] .pill-tour').count() == 1
    assert page.locator('.felt-seat[data-seat="N"] .put-away').count() == 1
    show(page, "felt_covered")
    assert text(page, ".pill-covered") == "盖牌"
    assert each(page, ".felt-seat.covered", "data-seat") == ["S"]
    assert each(page, ".badge.covered", "data-seat") == ["S"]


def test_where_nothing_is_read_kongs_and_flowers_lie_there_and_the_gold_in_the_middle(page: Page) -> None:
    view = show(page, "felt_none")
    assert page.locator(".discard").count() == 0
    assert text(page, ".meld-kong_open") == "明杠" and text(page, ".meld-kong_concealed") == "暗杠"
    assert each(page, ".meld-tile", "data-face") == ["down"] * 8
    assert faces(page, ".layer-play .flower", "N") == view["flowers"]["N"]
    assert each(page, ".console-gold [data-face]", "data-face") == ["3p"]


def test_count_and_door_are_gone_once_the_hand_is_played(page: Page) -> None:
    view = scenes.scene("felt_turn")
    view["gold"]["path"], view["door"] = ["W10t", "W9b", "W9t", "W8b", "W8t"], "S1t"
    put(page, view, "E")
    assert page.locator(".count-plain, .count-mark, .count-last, .mark-door").count() == 0
    assert page.locator(".mark-tail").count() == 1


def test_the_felt_is_cleared_when_the_hand_is_over(page: Page) -> None:
    show(page, "felt_turn")
    show(page, "result_win")
    assert page.locator(".layer-play > *").count() == 0
    show(page, "flowers")
    assert page.locator(".layer-flowers [data-owner]").count() == 3


def test_only_what_changed_is_drawn_again(page: Page) -> None:
    view = show(page, "felt_turn")
    page.evaluate("document.querySelector('.felt-seat').dataset.kept = 'yes'")
    put(page, view | {"left": 39, "streak": 5}, "E")
    assert page.locator("[data-kept]").count() == 1
    view["play"]["discards"]["E"].append("5s")
    put(page, view, "E")
    assert page.locator("[data-kept]").count() == 0


def test_the_drawn_tile_stands_apart(page: Page) -> None:
    show(page, "felt_turn")
    assert each(page, ".my-tiles .tile", "data-face")[-1] == "8s"
    assert each(page, ".my-tiles .drawn", "data-face") == ["8s"]
    *_, before, drawn = rectangles(page, ".my-tiles .tile")
    assert drawn["left"] - before["right"] >= 8
    show(page, "felt_claim")
    assert page.locator(".my-tiles .drawn").count() == 0


def test_points_and_the_difference_to_each_other_seat(page: Page) -> None:
    show(page, "felt_turn", "E")
    assert text(page, ".points-sum") == "24 分"
    gaps: list[Any] = page.locator(".gap").all_text_contents()
    assert gaps == ["南+37", "西−7", "北+66"]


def test_the_top_strip_tells_tiles_left_hand_and_minutes(page: Page) -> None:
    view = show(page, "felt_turn")
    assert text(page, ".left-count") == "余 23 张"
    assert text(page, ".history-lines") == "第 3/20 局"
    put(page, view | {"match": view["match"] | {"left_min": 45, "hands": 0}}, "E")
    assert text(page, ".history-lines") == "第 3 局还有 45 分钟"
    assert "连1" in text(page, ".top-dealer") and "底24" in text(page, ".top-dealer")
