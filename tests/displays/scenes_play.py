"""Situations of play where tiles are read: every prompt of it, as one seat has it and as the others see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.displays.scene_parts import SEATS, View, base, gone_from, read, rolled, stacks, want

FIVE = ["hu", "kong_open", "pong", "chi", "pass", "expose_false"]
FOULS = ["zhahu", "zhayou", "zhashuangyou"]
TURN = ["hu", "kong_concealed", "kong_added", "tour_discard", "discard", "discard_down", "expose_false"]
PLAIN = ["1m", "3m", "6m", "7m", "1p", "4p", "8p", "9p", "2s", "3s", "5s", "6s", "8s"]


def in_play(seat: str, rules: str = "new-xiamen-120") -> View:
    """A hand in play whose tiles are read, in its second lap."""
    view = read(base(seat, rules))
    view |= {"phase": "play", "break": {"side": "S", "left": 1}, "head": "N5t"}
    rolled(view, "deal", [5, 1], points="S")
    rolled(view, "gold", [3, 4])
    gone_from(view, set(stacks("S", 1, 15)) | set(stacks("E", 1, 15)) | set(stacks("N", 1, 4)) | {"W15t"})
    view["tail"] = {"next": ["W15b", "W14t", "W14b", "W13t", "W13b", "W12t"], "taken": 3}
    view["flowers"] = {"E": ["1f", "6f"], "S": [], "W": ["3f"], "N": []}
    view["gold"] = {
        "face": "3p", "position": "W12b", "indicator": None, "white": "3p", "path": ["W12b"], "roll": [3, 4],
        "passed": [], "by": "E", "state": "shown",
    }  # fmt: skip
    view["play"] = {
        "turn": "E", "stage": "turn", "tile": None, "source": None,
        "discards": {"E": ["1m", "9p"], "S": ["1z", "2m"], "W": ["9s"], "N": ["4z"]},
        "last": {"seat": "N", "tile": "4z"}, "melds": {side: [] for side in SEATS}, "aside": dict.fromkeys(SEATS, 0),
        "covered": {}, "tour": None, "to_draw": 41, "number": 6, "position": None,
    }  # fmt: skip
    return view


def _staged(seat: str, stage: str, turn: str = "E", **play: Any) -> View:
    view = in_play(seat)
    view["play"] |= {"stage": stage, "turn": turn} | play
    return view


def _turn(seat: str) -> View:
    view = _staged(seat, "turn")
    if seat == "E":
        want(view, "turn", TURN, drawn="8s", options=[], discards=PLAIN, follow=[], fouls=FOULS)
    return view


def _turn_follow(seat: str) -> View:
    view = _staged(seat, "turn")
    view["rules"] = "classic-xiamen-144"
    if seat == "E":
        want(view, "turn", TURN, drawn="4z", options=[], discards=["1z", "4z"], follow=["1z", "4z"], fouls=[])
    return view


def _turn_rich(seat: str) -> View:
    """A turn in which everything may be done at once."""
    view = _staged(seat, "turn")
    options: list[dict[str, Any]] = [
        {"name": "hu", "way": "youjin"}, {"name": "tour_discard", "tile": "3p"},
        {"name": "kong_concealed", "tile": "3s"}, {"name": "kong_added", "tile": "9p"},
        *({"name": "discard_down", "tile": tile} for tile in ("1m", "6m", "5s")),
    ]  # fmt: skip
    if seat == "E":
        want(view, "turn", TURN, drawn="3p", options=options, discards=PLAIN, follow=[], fouls=FOULS)
    return view


def _turn_claimed(seat: str) -> View:
    view = _staged(seat, "turn", melds={"E": [{"kind": "pong", "tiles": "999p"}], "S": [], "W": [], "N": []})
    if seat == "E":
        want(view, "turn", TURN, drawn="", options=[], discards=PLAIN, follow=[], fouls=[])
    return view


def _draw(seat: str) -> View:
    view = _staged(seat, "draw", position="N5t")
    return want(view, "draw", ["by_hand"], position="N5t", end="head") if seat == "E" else view


def _draw_tail(seat: str) -> View:
    view = _staged(seat, "draw", position="W15b")
    return want(view, "draw", ["by_hand"], position="W15b", end="tail") if seat == "E" else view


def _claimable(seat: str, kind: str, options: list[dict[str, Any]]) -> View:
    stage = "rob" if kind == "kong" else "window"
    view = _staged(seat, stage, turn="N", tile="4s", source="N", last={"seat": "N", "tile": "4s"})
    view["window"] = {"kind": "claim", "left_ms": 2500}
    if seat != "N":
        mine = options if seat == "E" else [{"name": "pass"}]
        want(view, "claim", FIVE, left_ms=2500, tile="4s", source="N", kind=kind, options=mine, fouls=FOULS)
    return view


def _claim(seat: str) -> View:
    chi = [{"name": "chi", "tiles": tiles} for tiles in (["2s", "3s"], ["3s", "5s"], ["5s", "6s"])]
    return _claimable(seat, "discard", [{"name": "pong"}, *chi, {"name": "pass"}])


def _claim_all(seat: str) -> View:
    win = [{"name": "hu", "way": "pinghu"}]
    rest = [{"name": "kong_open"}, {"name": "pong"}, {"name": "chi", "tiles": ["5s", "6s"]}, {"name": "pass"}]
    return _claimable(seat, "discard", [*win, *rest])


def _rob(seat: str) -> View:
    return _claimable(seat, "kong", [{"name": "hu", "way": "qianggang"}, {"name": "pass"}])


def _lay(seat: str) -> View:
    view = _staged(seat, "turn", melds={"E": [{"kind": "chi", "tiles": "456s"}], "S": [], "W": [], "N": []})
    lay = {"kind": "chi", "tiles": ["4s", "5s", "6s"], "tile": "4s", "source": "N"}
    return want(view, "lay", ["by_hand"], **lay) if seat == "E" else view


def _lay_kong(seat: str) -> View:
    view = _staged(seat, "draw")
    lay = {"kind": "kong_concealed", "tiles": ["3s"] * 4, "tile": "", "source": ""}
    return want(view, "lay", ["by_hand"], **lay) if seat == "E" else view


def _lay_aside(seat: str) -> View:
    view = _staged(seat, "lap", turn="E", tour={"owner": "S", "level": 2})
    lay = {"kind": "aside", "tiles": ["7m"], "tile": "", "source": ""}
    return want(view, "lay", ["by_hand"], **lay) if seat == "E" else view


def _lap(seat: str) -> View:
    view = _staged(seat, "lap", turn="E", tour={"owner": "S", "level": 2})
    actions = ["hu", "kong_concealed", "kong_added", "tour_discard", "pass", "expose_false"]
    options = [{"name": "hu", "way": "zimo"}, {"name": "pass"}]
    return want(view, "lap", actions, drawn="7m", options=options) if seat == "E" else view


def _lap_none(seat: str) -> View:
    view = _lap(seat)
    for asked in view["me"]["wants"]:
        asked["params"]["options"] = [{"name": "pass"}]
    return view


def _flower_wins(seat: str) -> View:
    view = _staged(seat, "turn")
    options = [{"name": "hu", "way": "shuanghuagang"}, {"name": "pass"}]
    return want(view, "flower", ["hu", "pass"], tile="5f", options=options) if seat == "E" else view


def _replace(seat: str) -> View:
    view = _staged(seat, "draw", position="W15b")
    return want(view, "replace", ["by_hand"], tile="5f") if seat == "E" else view


def _wrong_discard(seat: str) -> View:
    view = _staged(seat, "turn")
    return want(view, "wrong_discard", [], tile="3p", code="gold_discard", rule="R17") if seat == "E" else view


def _count_wrong(seat: str) -> View:
    view = _staged(seat, "draw", turn="S")
    return want(view, "count_wrong", ["ok", "admit"], zone="hand", seen=15, expected=16) if seat == "E" else view


def _reader_check(seat: str) -> View:
    view = _staged(seat, "turn")
    shown = {"zone": "hand", "seen": ["8p"], "believed": ["6p"]}
    return want(view, "reader_check", ["believed", "seen"], **shown) if seat == "E" else view


def _covered(seat: str) -> View:
    return _staged(seat, "turn", turn="S", covered={"E": "wrong_count"})


def _window_down(seat: str) -> View:
    return _staged(seat, "window", turn="S", source="S", tour={"owner": "S", "level": 1})


def _opening_drop(seat: str) -> View:
    """抢金 where a tile must be dropped: which is chosen of."""
    view = in_play(seat)
    view |= {"phase": "opening", "window": {"kind": "opening", "left_ms": 8000}}
    view["play"] |= {"turn": None, "discards": {}, "last": None, "number": 0}
    options = [{"name": "hu", "way": "qiangjin", "tile": tile} for tile in ("1m", "9p", "5s")]
    options.append({"name": "hu", "way": "sanjindao"})
    told = {"options": options, "claims": ["qiangjin", "sanjindao"]} if seat == "E" else {"options": [], "claims": []}
    return want(view, "opening", ["claim", "pass"], left_ms=8000, **told)


SCENES: dict[str, Callable[[str], View]] = {
    "turn": _turn, "turn_follow": _turn_follow, "turn_rich": _turn_rich, "turn_claimed": _turn_claimed, "draw": _draw,
    "draw_tail": _draw_tail, "claim": _claim, "claim_all": _claim_all, "rob": _rob, "lay": _lay, "lay_kong": _lay_kong,
    "lay_aside": _lay_aside, "lap": _lap, "lap_none": _lap_none, "flower_wins": _flower_wins, "replace": _replace,
    "wrong_discard": _wrong_discard, "count_wrong": _count_wrong, "reader_check": _reader_check, "covered": _covered,
    "window_down": _window_down, "opening_drop": _opening_drop,
}  # fmt: skip
