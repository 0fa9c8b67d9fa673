"""Without any colour, as some people see and some screens show: tiles, seats and whose turn it is stay told apart."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.displays import scenes
from tests.displays.browser import SIZES, Site, dress, opened, put, show

pytestmark = pytest.mark.browser

LEVELS = 48
"""Of 256: a dot that differs by less is taken for the same."""
ENOUGH = 40
"""Dots of a picture that differ: of a tile 24 wide one in twenty."""
Box = list[float]
Picture = bytes
"""Its dots as red, green, blue and 255."""

TILES = """async copies => {
  const { FACES, tilePicture, backPicture } = await import("/tiles.js");
  const stage = document.createElement("div");
  stage.style.cssText = "position: fixed; inset: 0; display: grid; grid-template-columns: repeat(12, 48px)";
  const pictures = [...FACES.map(face => tilePicture(face)), backPicture(1), backPicture(2)];
  const names = [...FACES, "back 1", "back 2"];
  for (const [face, variable, colour] of copies) {
    const copy = tilePicture(face);
    copy.style.setProperty(variable, colour);
    pictures.push(copy);
    names.push(`${face} ${colour}`);
  }
  for (const picture of pictures) {
    picture.setAttribute("width", 24);
    picture.setAttribute("height", 34);
    stage.append(picture);
  }
  document.body.replaceChildren(document.getElementById("tile-symbols"), stage);
  const box = node => { const at = node.getBoundingClientRect(); return [at.x, at.y, at.width, at.height]; };
  return pictures.map((picture, index) => [names[index], box(picture)]);
}"""
CUT_OUT = """async ([picture, boxes]) => {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  pen.drawImage(image, 0, 0);
  return boxes.map(([x, y, width, height]) => {
    const { data } = pen.getImageData(Math.round(x), Math.round(y), Math.round(width), Math.round(height));
    let text = "";
    for (const byte of data) text += String.fromCharCode(byte);
    return btoa(text);
  });
}"""


@pytest.fixture(params=SIZES)
def grey(request: pytest.FixtureRequest, chromium: Site) -> Iterator[Page]:
    """A page in either frame that shows no colour."""
    with opened(chromium, SIZES[request.param], "reduce") as page:
        see(page, "achromatopsia")
        yield page


def see(page: Page, deficiency: str) -> None:
    """Lets the browser draw as somebody with this deficiency sees; `none` for the usual eye."""
    page.context.new_cdp_session(page).send("Emulation.setEmulatedVisionDeficiency", {"type": deficiency})


def cut_out(page: Page, boxes: Sequence[Box]) -> list[Picture]:
    """What is drawn in these boxes now."""
    picture = base64.b64encode(page.screenshot()).decode()
    return [base64.b64decode(one) for one in page.evaluate(CUT_OUT, [picture, list(boxes)])]


def difference(one: Picture, other: Picture) -> int:
    """How many dots differ."""
    assert len(one) == len(other) > 400
    apart = [abs(a - b) >= LEVELS for a, b in zip(one, other, strict=True)]
    return sum(map(any, zip(apart[::4], apart[1::4], apart[2::4], strict=True)))


def alike(pictures: dict[str, Picture]) -> list[tuple[str, str]]:
    """The pairs that can hardly be told apart."""
    pairs = itertools.combinations(pictures.items(), 2)
    return [(one, other) for (one, first), (other, second) in pairs if difference(first, second) < ENOUGH]


def boxes_of(page: Page, selector: str) -> dict[str, Box]:
    """Seat → where what fits is drawn of it."""
    found: dict[str, Box] = page.evaluate(
        """selector => Object.fromEntries([...document.querySelectorAll(selector)].map(node => {
          const at = node.getBoundingClientRect();
          return [node.closest("[data-seat]").dataset.seat, [at.x, at.y, at.width, at.height]];
        }))""",
        selector,
    )
    return found


def of_seats(page: Page, selector: str) -> dict[str, Picture]:
    """Seat → what is drawn of it; the same size for all."""
    boxes = boxes_of(page, selector)
    assert sorted(boxes) == sorted("ESWN"), (selector, boxes)
    wide, high = (min(box[side] for box in boxes.values()) for side in (2, 3))
    pictures = cut_out(page, [[x, y, wide, high] for x, y, _, _ in boxes.values()])
    return dict(zip(boxes, pictures, strict=True))


def test_all_42_faces_and_both_backs_differ_at_24_pixels(chromium: Site) -> None:
    """What differs in colour alone is found: a red dragon drawn in a green of the same lightness."""
    with opened(chromium, SIZES["small"], "reduce") as page:
        tiles: list[tuple[str, Box]] = page.evaluate(TILES, [["7z", "--red", "#006d00"]])
        assert len(tiles) == 42 + 2 + 1
        names, boxes = [name for name, _ in tiles], [box for _, box in tiles]
        assert alike(dict(zip(names, cut_out(page, boxes), strict=True))) == []
        see(page, "achromatopsia")
        seen = dict(zip(names, cut_out(page, boxes), strict=True))
    assert all(picture[::4] == picture[1::4] == picture[2::4] for picture in seen.values())
    assert alike(seen) == [("7z", "7z #006d00")]


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("scene", ["taking", "felt_turn"])
def test_seats_are_told_apart_by_their_glyphs(grey: Page, scene: str, theme: str) -> None:
    dress(grey, theme)
    show(grey, scene)
    assert alike(of_seats(grey, "#table .badge-disc")) == []


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize(("scene", "field"), [("taking", "take"), ("felt_turn", "play")])
def test_whose_turn_it_is_stands_beside_the_seat(grey: Page, scene: str, field: str, theme: str) -> None:
    """The mark of a turn is more than another colour of the same shape."""
    dress(grey, theme)
    view = show(grey, scene)
    part = "seat" if field == "take" else "turn"
    shown = {}
    for seat in "ESWN":
        view[field][part] = seat
        put(grey, view, "E")
        boxes = boxes_of(grey, "#table .badge-disc")
        around = [[x - wide / 2, y - high / 2, 2 * wide, 2 * high] for x, y, wide, high in boxes.values()]
        shown[seat] = dict(zip(boxes, cut_out(grey, around), strict=True))
    for seat, other in itertools.permutations("ESWN", 2):
        assert difference(shown[seat][seat], shown[other][seat]) >= ENOUGH, (seat, other)


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_wall_view_tells_seats_and_turn(chromium: Site, theme: str) -> None:
    with opened(chromium, SIZES["large"], "reduce") as page:
        see(page, "achromatopsia")
        dress(page, theme)
        view: dict[str, Any] = scenes.public(scenes.scene("felt_turn"))
        rows = {}
        for turn in "ES":
            view["play"]["turn"] = turn
            put(page, view, None)
            assert alike(of_seats(page, ".standing-seat > .owner")) == []
            boxes = boxes_of(page, ".standing-seat")
            around = [[x - 4, y - 4, wide + 8, high + 8] for x, y, wide, high in boxes.values()]
            rows[turn] = dict(zip(boxes, cut_out(page, around), strict=True))
        assert difference(rows["E"]["E"], rows["S"]["E"]) >= ENOUGH
        assert difference(rows["E"]["S"], rows["S"]["S"]) >= ENOUGH
        assert difference(rows["E"]["W"], rows["S"]["W"]) == 0


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_gold_is_framed_wherever_it_lies_among_others(grey: Page, theme: str) -> None:
    dress(grey, theme)
    show(grey, "felt_turn")
    framed, plain = ".my-tiles .tile.golden", ".my-tiles .tile:not(.golden)"
    assert grey.locator(framed).count() and grey.locator(plain).count()
    around = """selector => {
      const at = document.querySelector(selector).getBoundingClientRect();
      return [at.x - 3, at.y - 3, at.width + 6, at.height + 6];
    }"""
    box = grey.evaluate(around, framed)
    (with_frame,) = cut_out(grey, [box])
    grey.evaluate("document.querySelector('.my-tiles .tile.golden').style.outline = 'none'")
    (without,) = cut_out(grey, [box])
    assert difference(with_frame, without) >= ENOUGH
