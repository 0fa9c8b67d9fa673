"""Views as the table would send them, one per situation that a display must have a face for.

The places come from the rule book's own example (R4): dealer East throws 5+1, South's wall, one stack is left standing.
"""

from __future__ import annotations

import copy

from tests.displays import play_scenes, scenes_match, scenes_play
from tests.displays.scene_parts import HANDS, SEATS, View, bits
from tests.displays.scene_parts import base as _base
from tests.displays.scene_parts import gone_from as _gone
from tests.displays.scene_parts import read as _read
from tests.displays.scene_parts import rolled as _rolled
from tests.displays.scene_parts import stacks as _stacks
from tests.displays.scene_parts import want as _want

__all__ = ["HANDS", "SEATS", "View", "bits", "names", "public", "scene"]


def scene(name: str, seat: str = "E") -> View:
    """The view of `seat` in the situation; a fresh copy each time."""
    return copy.deepcopy(_SCENES[name](seat))


def names() -> list[str]:
    """All situations."""
    return list(_SCENES)


def public(view: View) -> View:
    """The public part alone, as the wall view gets it."""
    return {key: value for key, value in view.items() if key != "me"}


# -- before the walls --------------------------------------------------------------------------------------------------


def _idle(seat: str) -> View:
    view = _base(seat)
    view |= {"use": "free", "hand": 0, "hands": 0, "dealer": None, "streak": 0, "base": None, "phase": "idle"}
    view |= {"wall": None, "left": None, "stacks": {}}
    view["machine"]["set_up"] = 0
    rulesets = ["new-xiamen-120", "new-xiamen-120-base", "classic-xiamen-144", "basic-136", "quanzhou-common"]
    return _want(view, "start", ["start"], rules="new-xiamen-120", layout="zhitui", rulesets=rulesets, hands=20)


def _sorting(seat: str) -> View:
    view = _base(seat)
    view |= {"phase": "sorting", "dealer": None, "hand": 1, "streak": 0, "base": None, "wall": None, "left": None}
    view["machine"] |= {"set_up": 0, "sorting": {"set": 2, "tiles": {"E": 12, "S": 18, "W": 9, "N": 14}, "seconds": 9}}
    return view


def _lift(seat: str) -> View:
    view = _base(seat)
    view |= {"phase": "lift", "wall": None, "left": None}
    view["result"] = {"hand": 2, "winner": "W", "way": "tianhu", "dealer": "W"}
    view["machine"] |= {"set_up": 0, "sorted_set": 2}
    return _want(view, "lift", ["lift"])


def _push_in(seat: str) -> View:
    view = _lift(seat)
    view["phase"] = "push_in"
    view["machine"]["centre"] = "up"
    view["me"]["wants"] = []
    return _want(view, "push_in", ["pushed"], set=1)


def _count(seat: str) -> View:
    view = _sorting(seat)
    sides = [{"side": side, "counted": 29 if side == "W" else 30, "expected": 30} for side in SEATS]
    view["machine"] |= {"sorting": None, "problem": {"kind": "count", "set": 2, "sides": sides}}
    return _want(view, "count", ["retry"], set=2, sides=sides)


def _fault(seat: str) -> View:
    view = _sorting(seat)
    view["machine"]["faults"] = [{"code": "head_jam", "severity": "fault", "mechanism": "head", "side": "S"}]
    problem = {"kind": "failed", "operation": "sort", "fault": "head_jam", "side": "S"}
    view["machine"] |= {"sorting": None, "problem": problem}
    return _want(view, "retry", ["retry"], operation="sort", fault="head_jam", side="S")


def _stopped(seat: str) -> View:
    view = _sorting(seat)
    view["machine"]["stop"] = "stop button"
    return view


def _link_lost(seat: str) -> View:
    view = _taking(seat)
    view["machine"]["link"] = "lost"
    return view


def _paused(seat: str) -> View:
    view = _taking(seat)
    view["use"] = "paused"
    view["me"]["wants"] = []
    return view


# -- dice and taking ---------------------------------------------------------------------------------------------------


def _bids(seat: str) -> View:
    """East deals and has bought 10; North has bid nothing, the others have not spoken."""
    view = _base(seat, "quanzhou-seed")
    view |= {"phase": "bids", "base": 20, "bids": {"E": 10, "N": 0}, "window": {"kind": "bid", "left_ms": 21_000}}
    kind = "buy" if seat == "E" else "top"
    return _want(view, "bid", ["bid"], left_ms=21_000, kind=kind, most=20, points=view["bids"].get(seat))


def _bids_first(seat: str) -> View:
    """Nobody has spoken."""
    view = _bids(seat)
    view["bids"] = {}
    view["me"]["wants"][0]["params"]["points"] = None
    return view


def _bids_played(seat: str) -> View:
    """The hand that was bid on is played, with the most that there can be to tell."""
    view = play_scenes.scene("felt_turn", seat)
    return view | {"rules": "quanzhou-seed", "base": 40, "streak": 3, "bids": {"E": 40, "S": 35, "W": 40, "N": 15}}


def _deal_roll(seat: str) -> View:
    view = _base(seat)
    view["phase"] = "deal_roll"
    view["dice"] = {"purpose": "deal", "nth": 1, "by": "E", "values": None, "state": "wanted", "points": None}
    if seat == "E":
        _want(view, "roll", ["roll"], purpose="deal", nth=1, mode="unread", spoilt="")
    return view


def _rolling(seat: str) -> View:
    view = _deal_roll(seat)
    view["dice"]["state"] = "rolling"
    view["me"]["wants"] = []
    return view


def _dice_pad(seat: str) -> View:
    view = _deal_roll(seat)
    view["dice"]["state"] = "entering"
    view["me"]["wants"] = []
    return _want(view, "dice", ["dice", "cocked"], purpose="deal", nth=1) if seat == "E" else view


def _dice_check(seat: str) -> View:
    view = _deal_roll(seat)
    view["dice"] |= {"state": "checking", "values": [5, 1], "points": "S"}
    view["me"]["wants"] = []
    actions = ["object"] if seat == "E" else ["agree", "object"]
    return _want(view, "dice_check", actions, left_ms=4000, purpose="deal", dice=[5, 1], by="E")


def _dice_lost(seat: str) -> View:
    view = _deal_roll(seat)
    view["dice"]["state"] = "lost"
    view["me"]["wants"] = []
    return _want(view, "dice_lost", ["dice", "nobody"], purpose="deal", seen={"S": [5, 1], "W": None})


def _taking(seat: str) -> View:
    view = _base(seat)
    _rolled(view, "deal", [5, 1], points="S")
    view["break"] = {"side": "S", "left": 1}
    _gone(view, set(_stacks("S", 2, 9)))
    view["take"] = {"seat": "E", "positions": _stacks("S", 10, 11), "n": 5, "of": 17}
    return _want(view, "take", ["ok"], **view["take"])


def _taking_read(seat: str) -> View:
    view = _read(_taking(seat))
    view["me"]["tiles"] = "134m89p2s"
    view["counts"] = {"E": 4, "S": 4, "W": 4, "N": 4}
    view["me"]["wants"] = [{**want, "actions": []} for want in view["me"]["wants"] if seat == "E"]
    return view


def _row(seat: str) -> View:
    view = _base(seat, layout="bagua")
    view |= {"phase": "row", "rows_laid": False}
    return _want(view, "row", ["ok"])


def _taking_bagua(seat: str) -> View:
    view = _base(seat, layout="bagua")
    _rolled(view, "deal", [5, 1], points="S")
    _gone(view, {place for side in SEATS for place in _stacks(side, 1, 2)})
    positions = [place for side in "WNES" for place in _stacks(side, 3, 4)]
    view["take"] = {"seat": "W", "positions": positions, "n": 2, "of": 4}
    return _want(view, "take", ["ok"], **view["take"])


def _taking_144(seat: str) -> View:
    view = _base(seat, rules="classic-xiamen-144", layout="bagua")
    _rolled(view, "deal", [6, 6], points="N")
    positions = [place for side in "NESW" for place in _stacks(side, 1, 2)]
    view["take"] = {"seat": "N", "positions": positions, "n": 1, "of": 4}
    return _want(view, "take", ["ok"], **view["take"])


def _taking_136(seat: str) -> View:
    view = _base(seat, rules="basic-136")
    _rolled(view, "deal", [5, 1], points="S")
    view["break"] = {"side": "S", "left": 1}
    gone = set(_stacks("S", 2, 17)) | set(_stacks("E", 1, 8))
    _gone(view, gone)
    view["take"] = {"seat": "E", "positions": ["E9t"], "n": 13, "of": 17}
    return _want(view, "take", ["ok"], **view["take"])


def _door(seat: str) -> View:
    view = _base(seat, layout="bagua")
    _rolled(view, "deal", [5, 1], points="S")
    _rolled(view, "door", [3, 4], by="S", points="N")
    view |= {"phase": "door", "door": "N8", "extra": "N8", "head": "N9"}
    view["tail"] = {"next": ["N7", "N6", "N5", "N4", "N3", "N2"], "taken": 0}
    _gone(view, {place for side in SEATS for place in _stacks(side, 1, 8)})
    view["take"] = {"seat": "E", "positions": ["N8"], "n": 5, "of": 5}
    return _want(view, "take", ["ok"], **view["take"])


def _all_taken(view: View) -> set[str]:
    """Marks all hands as taken; what is gone from the walls."""
    view |= {"break": {"side": "S", "left": 1}, "extra": "N4t", "head": "N4b"}
    gone = set(_stacks("S", 2, 15)) | set(_stacks("E", 1, 15)) | set(_stacks("N", 1, 3)) | {"N4t"}
    _gone(view, gone)
    return gone


# -- flowers and gold --------------------------------------------------------------------------------------------------


def _flowers(seat: str) -> View:
    view = _base(seat)
    view["phase"] = "flowers"
    _rolled(view, "deal", [5, 1], points="S")
    gone = _all_taken(view)
    view["flowers"] = {"E": ["1f", "6f"], "S": [], "W": ["3f"], "N": []}
    _gone(view, gone | {"S1t", "S1b", "W15t"})
    view["tail"] = {"next": ["W15b", "W14t", "W14b", "W13t", "W13b", "W12t"], "taken": 3}
    taken = {"1f": "E", "6f": "E", "3f": "W"}
    return _want(
        view, "flowers", ["flower", "unflower", "tail_shift", "ok"],
        mine=view["flowers"][seat], taken=taken, tail=view["tail"]["next"], count=3,
    )  # fmt: skip


def _flowers_read(seat: str) -> View:
    view = _read(_flowers(seat))
    view["me"]["wants"] = []
    view["flower_turn"] = {"round": 1, "seat": "E", "count": 2, "positions": ["W15b", "W14t"]}
    if seat == "E":
        _want(view, "flowers", [], tiles=["5f", "8f"], positions=["W15b", "W14t"], count=2, round=1)
    return view


PATH = ["W15b", "W14t", "W14b", "W13t", "W13b", "W12t", "W12b"]


def _gold_base(seat: str) -> View:
    view = _flowers(seat)
    view["me"]["wants"] = []
    view["phase"] = "gold"
    _rolled(view, "gold", [3, 4])
    view["gold"] = {
        "face": None, "position": "W12b", "indicator": None, "white": None, "path": PATH, "roll": [3, 4], "passed": [],
        "by": "E", "state": "entering",
    }  # fmt: skip
    return view


def _gold_roll(seat: str) -> View:
    view = _flowers(seat)
    view |= {"phase": "gold_roll"}
    view["dice"] = {"purpose": "gold", "nth": 1, "by": "E", "values": None, "state": "wanted", "points": None}
    params = view["me"]["wants"].pop()["params"]
    if seat == "E":
        _want(view, "roll", ["roll"], purpose="gold", nth=1, mode="unread", spoilt="")
    return _want(view, "tail", ["flower", "unflower", "tail_shift"], **params)


def _gold_face(seat: str) -> View:
    view = _gold_base(seat)
    if seat == "E":
        _want(view, "gold_face", ["face"], position="W12b", nth=1)
    return _want(view, "tail", ["flower", "unflower"], mine=view["flowers"][seat], taken={}, tail=[], count=3)


def _gold_check(seat: str) -> View:
    view = _gold_base(seat)
    view["gold"] |= {"face": "3p", "state": "checking"}
    actions = ["object"] if seat == "E" else ["agree", "object"]
    return _want(view, "gold_check", actions, left_ms=4000, tile="3p", by="E")


def _flip(seat: str) -> View:
    view = _read(_gold_base(seat))
    view["gold"]["state"] = "counting"
    return _want(view, "flip", [], position="W12b", nth=1) if seat == "E" else view


def _shown(view: View) -> View:
    view["phase"] = "opening"
    view["gold"] |= {"face": "3p", "white": "3p", "position": "W11t", "passed": [["W12b", "2f"]], "state": "shown"}
    view["gold"]["path"] = [*PATH, "W11t"]
    view["flowers"]["E"].append("2f")
    return view


def _opening_none(seat: str) -> View:
    view = _shown(_gold_base(seat))
    _want(view, "opening", ["ok"])
    return _want(view, "tail", ["flower", "unflower"], mine=view["flowers"][seat], taken={"1f": "E"}, tail=[], count=3)


def _opening_read(seat: str) -> View:
    view = _read(_shown(_gold_base(seat)))
    view["window"] = {"kind": "opening", "left_ms": 8000}
    claims = ["qiangjin"] if seat == "S" else []
    return _want(view, "opening", ["claim", "pass"], left_ms=8000, claims=claims)


def _opening_two(seat: str) -> View:
    view = _opening_read("S")
    view["me"]["wants"][0]["params"]["claims"] = ["qiangjin", "sanjindao"]
    return view


def _gold_144(seat: str) -> View:
    view = _base(seat, rules="classic-xiamen-144", layout="bagua")
    view["phase"] = "gold"
    _rolled(view, "gold", [6, 6], by="S")
    _gone(view, {place for side in SEATS for place in _stacks(side, 1, 8)} | {f"N{n}" for n in range(4, 9)})
    path = ["N3", "N2", "N1", *(f"E{n}" for n in range(20, 11, -1))]
    view["gold"] = {
        "face": None, "position": path[-1], "indicator": None, "white": None, "path": path, "roll": [6, 6],
        "passed": [], "by": "S", "state": "entering",
    }  # fmt: skip
    view["flowers"] = {"E": [f"{n}f" for n in range(1, 9)], "S": [], "W": [], "N": []}
    return view


def _all_flowers(seat: str) -> View:
    view = _gold_144(seat)
    view["flowers"] = {"E": [], "S": [f"{n}f" for n in range(1, 9)], "W": [], "N": []}
    return view


def _successor(seat: str) -> View:
    view = _read(_shown(_gold_base(seat)))
    view["gold"] |= {"face": "4p", "indicator": "3p", "white": None, "passed": []}
    view["me"]["wants"] = []
    return view


# -- the rest ----------------------------------------------------------------------------------------------------------


def _hand_check(seat: str) -> View:
    view = _flowers_read(seat)
    view["me"]["wants"] = []
    return _want(view, "hand_check", ["ok"], seen=15, expected=16)


def _busy_sorting(seat: str) -> View:
    view = _taking(seat)
    view["machine"]["sorting"] = {"set": 2, "tiles": {"E": 12, "S": 18, "W": 9, "N": 14}, "seconds": 9}
    view["machine"]["faults"] = [{"code": "eye_dirty", "severity": "warning", "mechanism": "eye", "side": "W"}]
    return view


def _notices(seat: str) -> View:
    view = _taking(seat)
    view["machine"]["unasked_dice"] = [3, 4]
    view["notices"] = [{"code": "second_device", "seat": "N", "left_ms": 9000, "params": {}}]
    view["me"]["pairing"] = [{"code": "482915", "seat": "W", "name": "Chrome · Android"}]
    return view


def _over(seat: str) -> View:
    view = _shown(_gold_base(seat))
    view |= {"phase": "over", "result": {"hand": 3, "winner": "S", "way": "qiangjin", "dealer": "S"}}
    return view


def _ended(seat: str) -> View:
    view = _idle(seat)
    view |= {"phase": "ended", "result": {"hand": 20, "winner": None, "way": None, "dealer": "E"}}
    view["me"]["wants"] = []
    return view


def _service(seat: str) -> View:
    view = _taking(seat)
    shown = {"act": "jog", "params": {"motor": "walls", "ms": 500}}
    view["machine"]["service"] = {"who": "陈师傅", **shown}
    view["me"]["wants"] = []
    return view


def _service_asked(seat: str) -> View:
    view = _taking(seat)
    view["notices"] = [{"code": "service_asked", "seat": "", "left_ms": 52_000, "params": {"who": "陈师傅"}}]
    view["me"]["pairing"] = [{"code": "482913", "seat": "service", "name": "Chrome · Android"}]
    return view


_SCENES = {
    "idle": _idle, "sorting": _sorting, "lift": _lift, "push_in": _push_in, "count": _count, "fault": _fault,
    "stopped": _stopped, "link_lost": _link_lost, "paused": _paused, "deal_roll": _deal_roll, "rolling": _rolling,
    "bids": _bids, "bids_first": _bids_first, "bids_played": _bids_played,
    "dice_pad": _dice_pad, "dice_check": _dice_check, "dice_lost": _dice_lost, "taking": _taking,
    "taking_read": _taking_read, "row": _row, "taking_bagua": _taking_bagua, "taking_144": _taking_144,
    "taking_136": _taking_136, "door": _door, "flowers": _flowers, "flowers_read": _flowers_read,
    "gold_roll": _gold_roll, "gold_face": _gold_face, "gold_check": _gold_check, "flip": _flip,
    "opening_none": _opening_none, "opening_read": _opening_read, "opening_two": _opening_two, "gold_144": _gold_144,
    "all_flowers": _all_flowers, "successor": _successor, "hand_check": _hand_check, "busy_sorting": _busy_sorting,
    "notices": _notices, "service": _service, "service_asked": _service_asked, "over": _over, "ended": _ended,
    **scenes_play.SCENES, **scenes_match.SCENES, **play_scenes.SCENES,
}  # fmt: skip
