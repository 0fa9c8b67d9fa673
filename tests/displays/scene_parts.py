"""What situations are made of: a plain view, a want more, tiles gone from the walls."""

from __future__ import annotations

from typing import Any

SEATS = "ESWN"
View = dict[str, Any]

# Rules -> (stacks a side, 八卦's row), concealed tiles of a full hand.
SIZES = {
    "new-xiamen-120": (15, 14, 16), "new-xiamen-120-base": (15, 14, 16), "basic-136": (17, 0, 13),
    "classic-xiamen-144": (18, 20, 16), "quanzhou-seed": (17, 0, 16),
}  # fmt: skip
HANDS = {
    "E": "1367m134489p2333568s",
    "S": "12334789m15668p18s5z",
    "W": "44579m2259p1456679s",
    "N": "125667m3679p347789s",
}


def bits(stacks: int, row: int, gone: set[str]) -> dict[str, str]:
    """The wall strings of all sides with some positions gone."""
    walls = {}
    for side in SEATS:
        places = [f"{side}{n}{tier}" for n in range(1, (8 if row else stacks) + 1) for tier in "tb"]
        places += [f"{side}{n}" for n in range(1, row + 1)]
        walls[side] = "".join("0" if place in gone else "1" for place in places)
    return walls


def base(seat: str, rules: str = "new-xiamen-120", layout: str = "zhitui", sensing: str = "none") -> View:
    high, row, _ = SIZES[rules]
    row = row if layout == "bagua" else 0
    return {
        "use": "playing", "rules": rules, "layout": layout, "sensing": sensing,
        "dice_mode": "read" if sensing == "full" else "unread",
        "hand": 3, "hands": 20, "dealer": "E", "streak": 1, "base": 24, "phase": "taking",
        "machine": {
            "set_up": 1, "sorting": None, "sorted_set": 0, "centre": "down", "link": "up", "stop": None, "faults": [],
            "problem": None, "unasked_dice": None,
        },
        "stacks": dict.fromkeys(SEATS, high), "row": row, "wall": bits(high, row, set()), "rows_laid": bool(row),
        "dice": None, "rolls": [], "take": None, "extra": None, "break": None, "door": None, "tail": None, "head": None,
        "left": 4 * high * 2, "flowers": {side: [] for side in SEATS}, "flower_turn": None, "gold": None,
        "window": None, "result": None, "counts": None, "notices": [],
        "me": {
            "seat": seat, "tiles": None, "wants": [], "answers": [], "points": None, "pairing": [],
            "device": {"name": "Chrome · Linux"},
        },
    }  # fmt: skip


def want(view: View, verb: str, actions: list[str], left_ms: int | None = None, **params: Any) -> View:
    wanted = {"id": f"3.{verb}-0.1", "verb": verb, "params": params, "actions": actions, "left_ms": left_ms}
    view["me"]["wants"].append(wanted)
    return view


def gone_from(view: View, gone: set[str]) -> None:
    high = view["stacks"]["E"]
    row = view["row"] if view["rows_laid"] or view["layout"] == "bagua" else 0
    view["wall"] = bits(high, row, gone)
    view["left"] = sum(wall.count("1") for wall in view["wall"].values())


def read(view: View) -> View:
    """As tables that read tiles show it."""
    view["sensing"], view["dice_mode"] = "full", "read"
    view["me"]["tiles"] = HANDS[view["me"]["seat"]]
    view["counts"] = {"E": 17, "S": 16, "W": 16, "N": 16}
    return view


def rolled(view: View, purpose: str, values: list[int], by: str = "E", points: str | None = None) -> None:
    view["dice"] = {
        "purpose": purpose, "nth": 1, "by": by, "values": values, "state": "done", "points": points,
    }  # fmt: skip
    view["rolls"].append({"purpose": purpose, "by": by, "values": values, "points": points})


def stacks(side: str, first: int, last: int) -> list[str]:
    return [f"{side}{n}{tier}" for n in range(first, last + 1) for tier in "tb"]
