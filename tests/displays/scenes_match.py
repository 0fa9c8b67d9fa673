"""Situations of the book that people keep, of settlement and agreement, and of a match between its hands.

What the book asks comes from the book itself (`engine.book`), so that these are the prompts that a table makes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from engine import book as books
from engine.ruleset import load_ruleset
from tests.displays.scene_parts import SEATS, View, base, gone_from, rolled, stacks, want

FLOWERS = {"E": ["1f", "6f"], "S": [], "W": ["3f"], "N": []}
NEW, CLASSIC, BASIC, QUANZHOU = "new-xiamen-120", "classic-xiamen-144", "basic-136", "quanzhou-seed"
Step = tuple[str, str, dict[str, Any]]

# Five sets and a pair, the last tile of which East has drawn.
SHOWN = ["1m", "1m", "1m", "2p", "2p", "2p", "4s", "5s", "6s", "7s", "8s", "9s", "9p", "9p", "9p", "6m", "6m"]
HAND: Step = ("E", "tiles", {"concealed": SHOWN, "melds": [], "tile": "6m"})
SELF_DRAWN: Step = ("E", "win", {"way": "zimo"})
ALL_DONE: list[Step] = [
    SELF_DRAWN, ("E", "items", {"golds": 1}), ("S", "items", {"golds": 2}), ("S", "kong", {"kind": "open"}),
    ("W", "items", {"golds": 0}), ("N", "items", {"golds": 0}), *((seat, "done", {}) for seat in SEATS),
]  # fmt: skip
OBJECTED: list[Step] = [
    *ALL_DONE,
    ("E", "agree", {}),
    ("S", "object", {}),
    ("S", "kong", {"seat": "S", "kind": "concealed"}),
]
VOTED: list[Step] = [*OBJECTED, ("S", "propose", {}), ("N", "vote", {"choice": 1})]


def kept(*steps: Step, rules: str = NEW) -> books.Book:
    """A book after some answers of the seats."""
    profile = load_ruleset(rules)
    flowers = FLOWERS if profile.has_flowers else {}
    book = books.begin(profile, "E", "3p", 1, flowers)
    for seat, action, params in steps:
        book = books.fold(book, books.decide(book, seat, action, params))
    return book


def _book(seat: str, steps: list[Step], rules: str = NEW, left_ms: int | None = None) -> View:
    book = kept(*steps, rules=rules)
    view = base(seat, rules)
    rolled(view, "gold", [3, 4])
    side = view["stacks"]["E"]
    gone_from(view, set(stacks("S", 1, side)) | set(stacks("E", 1, side)))
    view["flowers"] = {one: list(said.flowers) for one, said in book.first.seats.items()}
    view["gold"] = {
        "face": "3p", "position": "W12b", "indicator": None, "white": None, "path": ["W12b"], "roll": [3, 4],
        "passed": [], "by": "E", "state": "shown",
    }  # fmt: skip
    if rules == NEW:
        view["gold"]["white"] = "3p"
    view |= {"phase": "play" if book.stage == "keeping" else "settle", "book": books.public(book)}
    if book.stage == "agreement":
        view["window"] = {"kind": "agree", "left_ms": left_ms}
    for ask in books.asks(book):
        if ask.seat == seat:
            want(view, ask.verb, list(ask.actions), left_ms=left_ms, **ask.params)
    return view


def _lines(seat: str) -> View:
    """Agreement under the rules with the most reasons for a payment."""
    steps: list[Step] = [
        ("S", "win", {"way": "youjin", "seat": "S"}), ("S", "kong", {"kind": "concealed"}),
        ("S", "items", {"golds": 2, "triplets_suited": 1}), ("W", "items", {"golds": 1}), ("E", "items", {"golds": 0}),
        ("N", "kong", {"kind": "open", "honour": False}), *((one, "done", {}) for one in SEATS),
    ]  # fmt: skip
    return _book(seat, steps, "new-xiamen-120-base", 21_000)


# -- between hands -----------------------------------------------------------------------------------------------------


def match(**changes: Any) -> dict[str, Any]:
    """A match in its third hand."""
    return {
        "number": 1, "hand": 3, "hands": 20, "minutes": 0, "left_min": None, "stage": "between", "ended": None,
        "players": {seat: {"id": str(n), "name": ""} for n, seat in enumerate(SEATS, 1)},
        "points": {"E": 24, "S": -13, "W": 31, "N": -42}, "chips": None, "deck": 0, "bonus": dict.fromkeys(SEATS, 0),
        "swaps": {seat: [] for seat in SEATS}, "steps": 1, "pausing": False,
    } | changes  # fmt: skip


def _between(seat: str, phase: str = "lift") -> View:
    view = base(seat)
    view |= {"phase": phase, "wall": None, "left": None, "match": match()}
    view["machine"] |= {"set_up": 0, "sorted_set": 2}
    view["result"] = {
        "hand": 2, "match": 1, "kind": "win", "winner": "W", "way": "zimo", "dealer": "W", "foul": None,
        "wins": [{"seat": "W", "way": "zimo", "source": None, "tile": None}],
        "net": {"E": -8, "S": -8, "W": 28, "N": -12}, "bonus": dict.fromkeys(SEATS, 0), "next_dealer": "W",
        "tiles": {}, "melds": {}, "open": True,
    }  # fmt: skip
    return view


def _undoable(seat: str) -> View:
    view = want(_between(seat), "lift", ["lift"])
    want(view, "undo", ["undo"], hand=2, asked_by=[])
    return want(view, "swap", ["swap"], rights=["half"]) if seat == "E" else view


def _undo_asked(seat: str) -> View:
    view = want(_between(seat), "lift", ["lift"])
    return want(view, "undo", ["keep"] if seat == "S" else ["undo", "keep"], hand=2, asked_by=["S"])


def _end_offered(seat: str) -> View:
    """A table without a parlor: any seat may ask for the end of the match, at any time."""
    view = _book(seat, [])
    view["match"] = match(stage="playing")
    return want(view, "end", ["end"], asked_by=[])


def _end_asked(seat: str) -> View:
    view = _book(seat, [])
    view["match"] = match(stage="playing")
    return want(view, "end", ["keep"] if seat == "S" else ["end", "keep"], asked_by=["S"])


def _swap(seat: str) -> View:
    view = want(_between(seat), "lift", ["lift"])
    return want(view, "swap", ["swap"], rights=["half", "all"]) if seat == "E" else view


def _start_whole(seat: str) -> View:
    view = base(seat)
    view |= {"use": "free", "hand": 0, "hands": 0, "dealer": None, "streak": 0, "base": None, "phase": "idle"}
    view |= {"wall": None, "left": None, "stacks": {}}
    view["machine"]["set_up"] = 0
    rulesets = [
        {"name": "new-xiamen-120", "layouts": ["zhitui", "bagua"]},
        {"name": "new-xiamen-120-base", "layouts": ["zhitui"]},
        {"name": "classic-xiamen-144", "layouts": ["bagua"]},
    ]  # fmt: skip
    return want(
        view, "start", ["start"], rules="new-xiamen-120", layout="zhitui", rulesets=rulesets, hands=20, minutes=0,
        seats="free", chips=200,
    )  # fmt: skip


def _start_again(seat: str) -> View:
    """Behind the second match of an evening, at a table that no parlor opens: the same party, or another one."""
    view = _start_whole(seat)
    points = {"E": 24, "S": -13, "W": 31, "N": -42}
    evening = {str(n): amount for n, amount in enumerate(points.values(), 1)}
    view |= {"phase": "ended", "match": match(number=2, stage="ended", ended="hands", evening=evening)}
    start = view["me"]["wants"][0]
    start |= {"id": "24.start-0.1", "params": {**start["params"], "fresh": True}}
    return view


def _seats_back(seat: str) -> View:
    """A booking was taken back behind a swap: E and W sit where they sat in the hand before it is told anew."""
    view = _between(seat, "settle")
    before = {"E": "3", "S": "2", "W": "1", "N": "4"}
    view["result"] = None
    view["match"]["players"] = {one: {"id": player, "name": ""} for one, player in before.items()}
    return want(view, "seats", ["ok"], seats={"E": "1", "S": "2", "W": "3", "N": "4"}, before=before)


def _seat_roll(seat: str) -> View:
    view = base(seat)
    view |= {"phase": "seating", "hand": 1, "dealer": None, "streak": 0, "base": None, "wall": None, "left": None}
    view |= {"match": match(stage="seating", hand=0)}
    view["dice"] = {"purpose": "seat", "nth": 1, "by": "S", "values": None, "state": "wanted", "points": None}
    if seat == "S":
        want(view, "roll", ["roll"], purpose="seat", nth=2, mode="unread", spoilt="")
    return view


def _swap_roll(seat: str) -> View:
    view = _seat_roll(seat)
    view["dice"] |= {"purpose": "swap", "by": "E"}
    view["me"]["wants"] = []
    return want(view, "roll", ["roll"], purpose="swap", nth=1, mode="unread", spoilt="") if seat == "E" else view


def _seats(seat: str) -> View:
    view = _seat_roll(seat)
    view |= {"dice": None}
    view["me"]["wants"] = []
    before = {"E": "1", "S": "2", "W": "3", "N": "4"}
    view["match"]["players"] = {one: {"id": player, "name": ""} for one, player in before.items()}
    return want(view, "seats", ["ok"], seats={"E": "3", "S": "2", "W": "4", "N": "1"}, before=before)


def _floor_paused(seat: str) -> View:
    return want(_between(seat, "paused"), "paused", [])


def _parked(seat: str) -> View:
    return want(_between(seat, "paused"), "parked", ["unpark"], reason="time")


def _locked(seat: str) -> View:
    return want(_between(seat, "ended") | {"use": "free", "locked": True}, "locked", [])


def _drawn_result(seat: str) -> View:
    view = want(_between(seat), "lift", ["lift"])
    view["result"] |= {"kind": "draw", "winner": None, "way": None, "wins": [], "net": dict.fromkeys(SEATS, 0)}
    return view


TWO_FOULS: list[Step] = [("E", "foul", {"kind": "zhahu", "seat": "S"})]
SCENES: dict[str, Callable[[str], View]] = {
    "book": partial(_book, steps=[("E", "kong", {"kind": "open"}), ("S", "kong", {"kind": "concealed"})]),
    "book_honours": partial(
        _book, steps=[("E", "kong", {"kind": "open", "honour": True}), ("E", "cover", {"seat": "N", "on": True})],
        rules="new-xiamen-120-base",
    ),
    "book_136": partial(_book, steps=[], rules=BASIC),
    "entry": partial(_book, steps=[SELF_DRAWN]),
    "entry_classic": partial(
        _book, steps=[("E", "win", {"way": "youjin"}), ("E", "items", {"golds": 1})], rules=CLASSIC
    ),
    "entry_136": partial(_book, steps=[("E", "win", {"way": "pinghu", "source": "W"})], rules=BASIC),
    "entry_hardness": partial(_book, steps=[SELF_DRAWN], rules=QUANZHOU),
    "entry_tiles": partial(_book, steps=[SELF_DRAWN, HAND]),
    "entry_done": partial(_book, steps=[SELF_DRAWN, ("E", "items", {"golds": 1}), ("E", "done", {})]),
    "entry_foul": partial(_book, steps=TWO_FOULS, rules=CLASSIC),
    "agree": partial(_book, steps=ALL_DONE, left_ms=24_000),
    "agree_lines": _lines,
    "agree_drawn": partial(_book, steps=[("E", "drawn", {})], left_ms=30_000),
    "objection": partial(_book, steps=OBJECTED),
    "vote": partial(_book, steps=VOTED),
    "undoable": _undoable, "undo_asked": _undo_asked, "end_offered": _end_offered, "end_asked": _end_asked,
    "swap": _swap, "start_whole": _start_whole, "start_again": _start_again, "seats_back": _seats_back,
    "seat_roll": _seat_roll, "swap_roll": _swap_roll, "seats": _seats, "floor_paused": _floor_paused,
    "parked": _parked, "locked": _locked, "drawn_result": _drawn_result,
}  # fmt: skip
