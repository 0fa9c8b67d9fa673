"""The table drawing: walls and rows tile by tile, marks, dice, flowers, and the count towards the gold."""

from __future__ import annotations

import itertools
import math
from statistics import fmean

import pytest
from playwright.sync_api import Page

from tests.displays import scenes
from tests.displays.browser import READY, SIZES, Site, each, opened, put, show, style, text

pytestmark = pytest.mark.browser

SEATS = "ESWN"


@pytest.mark.parametrize(
    ("name", "a_side"), [("taking", 30), ("taking_bagua", 30), ("taking_136", 34), ("taking_144", 36), ("row", 30)]
)
def test_every_tile_of_the_walls_is_drawn_where_it_stands(page: Page, name: str, a_side: int) -> None:
    view = show(page, name)
    walls = page.evaluate("measure.walls()")
    assert len(walls) == 4 * a_side
    assert sum(stands for _, _, stands in walls.values()) == sum(bits.count("1") for bits in view["wall"].values())
    assert len(set(each(page, ".brick", "data-position"))) == 4 * a_side


def test_a_tile_vanishes_when_it_is_taken(page: Page) -> None:
    view = show(page, "taking")
    assert page.evaluate("measure.walls()")["S10t"][2]
    view["wall"]["S"] = view["wall"]["S"][:18] + "0000" + view["wall"]["S"][22:]
    put(page, view, "E")
    walls = page.evaluate("measure.walls()")
    assert not any(walls[position][2] for position in ("S10t", "S10b", "S11t", "S11b"))
    assert walls["S12t"][2]


def test_what_is_taken_now_pulses_in_the_takers_colour(page: Page) -> None:
    show(page, "taking_bagua", "W")
    wanted = [f"{side}{n}{tier}" for side in SEATS for n in (3, 4) for tier in "tb"]
    assert sorted(map(str, each(page, ".brick.wanted", "data-position"))) == sorted(wanted)
    assert style(page, ".brick.wanted .brick-back", "fill") == "rgb(124, 196, 255)"
    assert style(page, ".brick.wanted .brick-back", "animationName") == "pulse"


@pytest.mark.parametrize(("seat", "following"), list(itertools.pairwise("ESWNE")))
def test_my_side_is_at_the_bottom_and_the_next_player_on_the_right(page: Page, seat: str, following: str) -> None:
    show(page, "deal_roll", seat)
    walls = page.evaluate("measure.walls()")
    middle = {
        side: [fmean(spot[axis] for position, spot in walls.items() if position[0] == side) for axis in (0, 1)]
        for side in SEATS
    }
    assert max(middle, key=lambda side: middle[side][1]) == seat
    assert max(middle, key=lambda side: middle[side][0]) == following


def test_stacks_are_counted_from_their_owners_right_hand(page: Page) -> None:
    show(page, "deal_roll", "E")
    at = page.evaluate("measure.walls()")
    assert at["E1b"][0] > at["E15b"][0]
    assert at["S1b"][1] < at["S15b"][1]
    assert at["W1b"][0] < at["W15b"][0]
    # Clockwise: after East's left end comes the right end of North, his 上家.
    assert math.dist(at["E15b"][:2], at["N1b"][:2]) < math.dist(at["E15b"][:2], at["N15b"][:2])


def test_bagua_rows_lie_behind_the_pushed_stacks(page: Page) -> None:
    show(page, "taking_144", "E")
    walls = page.evaluate("measure.walls()")
    assert sum(position[0] == "E" and position[1:].isdigit() for position in walls) == 20
    assert walls["E1"][1] > walls["E1b"][1] + 20


def test_walls_have_the_back_of_the_set_that_is_up(page: Page) -> None:
    back = ".brick.stands:not(.wanted) .brick-back"
    view = show(page, "taking")
    first = style(page, back, "fill")
    show(page, "taking", machine={**view["machine"], "set_up": 2})
    assert style(page, back, "fill") != first


def test_the_break_is_marked(page: Page) -> None:
    show(page, "taking")
    assert page.locator(".break-line").count() == 1
    assert text(page, ".mark-text") == "留1"


def test_door_and_tail_are_marked_and_the_tail_has_its_direction(page: Page) -> None:
    show(page, "door")
    assert page.locator(".door-frame").count() == 1
    assert text(page, ".mark-door") == "门"
    assert text(page, ".mark-tail") == "尾"
    arrow, mark = page.locator(".tail-arrow").bounding_box(), page.locator(".mark-tail").bounding_box()
    assert arrow and mark
    # North sits on the left, his right hand points down: towards the smaller numbers.
    assert arrow["y"] > mark["y"] + mark["height"] / 2


def test_dice_land_as_thrown_and_point_at_the_seat(page: Page) -> None:
    show(page, "taking", "E")
    assert each(page, ".throw .die", "data-pips") == ["5", "1"]
    assert [page.locator(".throw .die").nth(index).locator("circle").count() for index in (0, 1)] == [5, 1]
    assert page.get_attribute(".throw", "data-by") == "E"
    assert page.get_attribute(".badge.pointed", "data-seat") == "S"
    assert "东 5+1=6" in text(page, ".throw")


def test_dealer_and_hand_counts_stand_beside_the_seats(page: Page) -> None:
    show(page, "taking_read", "W")
    assert text(page, '.badge[data-seat="E"]') == "东庄4"
    assert text(page, '.badge[data-seat="S"]') == "南4"


def test_flowers_lie_before_their_owners(page: Page) -> None:
    show(page, "flowers", "E")
    owners = each(page, ".layer-flowers [data-owner]", "data-owner")
    assert list(zip(owners, each(page, ".layer-flowers [data-owner]", "data-face"), strict=True)) == [
        ("E", "1f"), ("E", "6f"), ("W", "3f"),
    ]  # fmt: skip


def test_the_count_runs_one_two_three_towards_the_gold(page: Page) -> None:
    show(page, "gold_roll")
    show(page, "gold_face")
    assert page.locator(".layer-marks .disc").all_text_contents() == [str(n) for n in range(1, 8)]
    delays = [
        float(delay.removesuffix("ms"))
        for delay in page.evaluate("[...document.querySelectorAll('.count-runs')].map(n => n.style.animationDelay)")
    ]
    assert len(delays) == 7
    assert all(345 <= later - earlier <= 355 for earlier, later in itertools.pairwise(delays))
    assert text(page, ".count-last") == "7"


def test_a_reloaded_page_shows_the_whole_count_at_once(page: Page) -> None:
    page.reload()
    page.wait_for_selector(READY)
    show(page, "gold_face")
    assert page.locator(".layer-marks .disc").count() == 7
    assert page.locator(".count-runs").count() == 0


def test_reduced_motion_shows_the_whole_count_at_once(chromium: Site) -> None:
    with opened(chromium, SIZES["small"], "reduce") as page:
        show(page, "gold_roll")
        show(page, "gold_face")
        assert page.locator(".count-runs").count() == 7
        shown = page.evaluate("[...document.querySelectorAll('.count-runs')].map(n => getComputedStyle(n).opacity)")
        assert shown == ["1"] * 7


@pytest.mark.parametrize("seat", SEATS)
def test_numbers_of_the_count_never_cover_one_another(page: Page, seat: str) -> None:
    corner = scenes.scene("gold_face", seat)
    corner["gold"]["path"] = ["S1t", "S1b", "W15t", "W15b", "W14t", "W14b"]
    for view in (scenes.scene("gold_face", seat), scenes.scene("gold_144", seat), corner):
        put(page, view, seat)
        spots = page.evaluate("measure.numbers()")
        assert len(spots) == len(view["gold"]["path"])
        assert all(math.dist(a, b) > 17 for a, b in itertools.combinations(spots, 2))


def test_the_gold_lies_open_at_its_place_and_the_white_stands_for_it(page: Page) -> None:
    show(page, "opening_read")
    assert page.get_attribute(".open-gold", "data-position") == "W11t"
    assert each(page, ".open-gold [data-face]", "data-face") == ["3p"]
    assert each(page, ".top-gold [data-face]", "data-face") == ["3p", "5z", "3p"]
    assert each(page, ".my-tiles .golden", "data-face") == ["3p"]


def test_the_indicator_lies_open_where_the_next_face_is_the_gold(page: Page) -> None:
    show(page, "successor")
    assert each(page, ".open-gold [data-face]", "data-face") == ["3p"]
    assert each(page, ".top-gold .golden", "data-face") == ["4p"]
    assert text(page, ".hint") == "翻出三筒，下一张是金"


def test_sorting_shows_the_walls_growing(page: Page) -> None:
    show(page, "sorting")
    assert page.locator(".brick.rising").count() == 12 + 18 + 9 + 14
    assert page.locator(".sorting .count").all_text_contents() == ["12 / 30", "18 / 30", "9 / 30", "14 / 30"]
    assert "9 秒" in text(page, ".hint")
