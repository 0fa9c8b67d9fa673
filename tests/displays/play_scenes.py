"""Situations of a hand in play, of its result, of the evening's end, and the sheets that a seat asks for.

`SCENES` is name → function of the seat. Tiles are what a real hand could show: no face stands five times on the table.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from tests.displays.scene_parts import HANDS, SEATS, View, base, gone_from, read, rolled, stacks, want

NAMES = {"E": "陈阿明", "S": "Lin", "W": "黄美丽", "N": ""}
PLAYERS = {seat: {"id": str(number), "name": NAMES[seat]} for number, seat in enumerate(SEATS, 1)}
DISCARDS = {
    "E": ["1m", "9s", "4z", "2m", "7z", "9p", "1s", "6p"],
    "S": ["3z", "9m", "1p", "5m", "4z", "8s", "2s", "7m"],
    "W": ["2z", "1z", "9p", "3s", "6m", "1z", "8m"],
    "N": ["7z", "2z", "9s", "4m", "1s", "5p", "6z"],
}
MELDS = {
    "E": [{"kind": "pong", "tiles": "666z"}],
    "S": [{"kind": "chi", "tiles": "345m"}, {"kind": "kong_open", "tiles": "7777s"}],
    "W": [],
    "N": [
        {"kind": "chi", "tiles": "678p"}, {"kind": "pong", "tiles": "999m"},
        {"kind": "kong_concealed", "tiles": "1111p"},
    ],
}  # fmt: skip
FLOWERS = {"E": ["1f", "6f"], "S": ["3f"], "W": [], "N": ["4f", "8f"]}
POINTS = {"E": 24, "S": -13, "W": 31, "N": -42}


def scene(name: str, seat: str = "E") -> View:
    """The view of `seat` in the situation; a fresh copy each time."""
    return copy.deepcopy(SCENES[name](seat))


def names() -> list[str]:
    """All situations."""
    return list(SCENES)


def match(**changes: Any) -> View:
    """A match in its third hand."""
    return {
        "number": 1, "hand": 3, "hands": 20, "minutes": 0, "left_min": None, "stage": "playing", "ended": None,
        "players": copy.deepcopy(PLAYERS), "points": dict(POINTS), "chips": None, "deck": 0,
        "bonus": dict.fromkeys(SEATS, 0), "swaps": {seat: [] for seat in SEATS}, "steps": 1, "pausing": False,
    } | changes  # fmt: skip


def _playing(seat: str, rules: str = "new-xiamen-120", layout: str = "zhitui") -> View:
    view = base(seat, rules, layout)
    if layout == "zhitui":
        view["break"] = {"side": "S", "left": 1}
        gone = set(stacks("S", 2, 15)) | set(stacks("E", 1, 15)) | set(stacks("N", 1, 8))
        gone_from(view, gone | {"N9t", "S1t", "S1b", "W15t", "W15b", "W14t"})
        tail, at, position = ["W14b", "W13t", "W13b", "W12t", "W12b", "W11t"], "W8t", "N9b"
    else:
        gone = {place for side in SEATS for place in stacks(side, 1, 8)}
        gone_from(view, gone | {f"N{n}" for n in range(5, 21)} | {f"E{n}" for n in range(16, 21)})
        tail, at, position = ["E15", "E14", "E13", "E12", "E11", "E10"], "E6", "N4"
    rolled(view, "gold", [3, 4])
    view |= {"phase": "play", "head": position, "match": match(), "options": {}, "book": None}
    view["tail"] = {"next": tail, "taken": 5}
    view["gold"] = {
        "face": "3p", "position": at, "indicator": None, "white": "3p", "path": [at], "roll": [3, 4], "passed": [],
        "by": "E", "state": "shown",
    }  # fmt: skip
    view["flowers"] = copy.deepcopy(FLOWERS)
    view["me"] |= {"points": POINTS[seat], "lines": [], "sheet": None}
    return view


def _play(**changes: Any) -> View:
    return {
        "turn": "E", "stage": "turn", "tile": None, "source": None, "discards": copy.deepcopy(DISCARDS), "last": None,
        "melds": copy.deepcopy(MELDS), "aside": dict.fromkeys(SEATS, 0), "covered": {}, "tour": None, "to_draw": 23,
        "number": 30, "position": "N9b",
    } | changes  # fmt: skip


def _read(seat: str, **changes: Any) -> View:
    view = read(_playing(seat))
    view["play"] = _play(**changes)
    view["counts"] = {"E": 14, "S": 10, "W": 16, "N": 7}
    view["me"]["tiles"] = {"E": "3p1367m1344p233568s", "S": "12889m1456p5z", "W": HANDS["W"], "N": "125m367s5z"}[seat]
    return view


def _felt_begin(seat: str) -> View:
    none: dict[str, list[str]] = {side: [] for side in SEATS}
    view = _read(seat, discards=none, melds=none, to_draw=47, number=0)
    view["me"]["tiles"], view["counts"] = HANDS[seat], {"E": 17, "S": 16, "W": 16, "N": 16}
    return view


def _felt_turn(seat: str) -> View:
    view = _read(seat, last={"seat": "N", "tile": "6z"})
    if seat == "E":
        want(
            view, "turn", ["discard", "expose_false"], drawn="8s", options=[], follow=[],
            discards=["1m", "3m", "6m", "7m", "1p", "4p", "2s", "3s", "5s", "6s", "8s"],
        )  # fmt: skip
    return view


def _felt_claim(seat: str) -> View:
    view = _read(seat, turn="W", stage="window", tile="8m", source="W", last={"seat": "W", "tile": "8m"})
    view["window"] = {"kind": "claim", "left_ms": 6000}
    view["result"] = _booked(seat)["result"] | {"hand": 2, "open": False}
    return view


def _felt_draw(seat: str) -> View:
    return _read(seat, turn="S", stage="draw", last={"seat": "E", "tile": "6p"})


def _felt_tour(seat: str) -> View:
    view = _read(seat, turn="N", stage="lap", tour={"owner": "W", "level": 2}, last={"seat": "W", "tile": "3p"})
    view["play"]["discards"]["W"] += ["", "3p"]
    view["play"]["aside"]["N"] = 1
    return view


def _felt_covered(seat: str) -> View:
    return _read(seat, covered={"S": "wrong_count"}, last={"seat": "E", "tile": "6p"}, turn="S", stage="turn")


def _felt_rob(seat: str) -> View:
    view = _read(seat, turn="E", stage="rob", tile="6z", source="E")
    view["play"]["discards"]["N"].pop()
    view["play"]["melds"]["E"] = [{"kind": "kong_added", "tiles": "6666z"}]
    return view


def _felt_full(seat: str) -> View:
    """More than any hand brings: 24 discards each, five melds each, all flowers at one seat."""
    view = _read(seat, last={"seat": "N", "tile": "9s"}, tile="9s", source="N", stage="window")
    suited = [f"{n}{suit}" for n in range(1, 10) for suit in "mps"]
    view["play"]["discards"] = {side: [*(suited * 2)[at : at + 23], "9s"] for at, side in enumerate(SEATS)}
    kinds = ["kong_open", "chi", "kong_concealed", "pong", "kong_added"]
    tiles = ["1111m", "234s", "7777z", "555p", "8888s"]
    melds = [{"kind": kind, "tiles": run} for kind, run in zip(kinds, tiles, strict=True)]
    view["play"]["melds"] = {side: copy.deepcopy(melds) for side in SEATS}
    view["play"] |= {"covered": {"S": "follow"}, "tour": {"owner": "N", "level": 3}}
    view["play"]["aside"] = {"E": 2, "S": 3, "W": 1, "N": 0}
    view["flowers"] = {side: [f"{n}f" for n in range(1, 9)] for side in SEATS}
    return view


def _felt_144(seat: str) -> View:
    view = read(_playing(seat, "classic-xiamen-144", "bagua"))
    view["play"] = _play(position="N4", last={"seat": "N", "tile": "6z"})
    return view


def _felt_none(seat: str) -> View:
    """Where nothing is read: flowers and kongs alone."""
    view = _playing(seat)
    none: dict[str, list[Any]] = {side: [] for side in SEATS}
    melds = none | {"S": [{"kind": "kong_open", "tiles": ""}], "N": [{"kind": "kong_concealed", "tiles": ""}]}
    view["play"] = _play(
        turn=None, stage="keep", discards=none, melds=melds, to_draw=None, number=0, position=None,
        covered={"W": "wrong_count"},
    )  # fmt: skip
    return view


# -- results -----------------------------------------------------------------------------------------------------------

SHOWN = {"E": "3p1367m1344p233568s", "S": "12889m1456p5z", "W": "44579m22559p1456679s", "N": "125m367s5z"}


def _booked(seat: str, **changes: Any) -> View:
    """Between two hands: the last one stands in the book and may still be taken back."""
    view = base(seat)
    view |= {"phase": "lift", "wall": None, "left": None, "hand": 3, "dealer": "S", "streak": 0, "base": 16}
    view |= {"match": match(stage="between"), "options": {}, "book": None, "play": None}
    view["machine"] |= {"set_up": 0, "sorted_set": 2}
    view["result"] = {
        "hand": 3, "match": 1, "kind": "win", "winner": "S", "way": "shuangyou", "dealer": "E",
        "wins": [{"seat": "S", "way": "shuangyou", "source": None, "tile": "5z"}], "foul": None,
        "net": {"E": -142, "S": 272, "W": -74, "N": -56}, "bonus": dict.fromkeys(SEATS, 0), "next_dealer": "S",
        "tiles": dict(SHOWN), "melds": copy.deepcopy(MELDS), "open": True,
    } | changes  # fmt: skip
    view["match"]["points"] = {"E": -118, "S": 259, "W": -43, "N": -98}
    view["me"] |= {"points": view["match"]["points"][seat], "lines": lines(seat), "sheet": None}
    return want(view, "lift", ["lift"])


def _result_undo(seat: str) -> View:
    """Somebody wants the last booking back: a card that covers nothing of it."""
    view = _result_cards(seat)
    return want(view, "undo", ["keep"] if seat == "S" else ["undo", "keep"], hand=3, asked_by=["S"])


def reason(code: str, act: str = "note", number: int = 0, **params: Any) -> dict[str, Any]:
    """One reason of a payment."""
    return {"code": code, "act": act, "number": number, "params": params}


def lines(seat: str) -> list[dict[str, Any]]:
    """Payments of the hand that South won by 双游 with East dealing; every amount is what its reasons come to."""
    water = [reason("water_flowers", "add", 1), reason("water_kong_open", "add", 3)]
    times = reason("multiplier", "times", 4, way="shuangyou")
    won = [
        {"payer": payer, "receiver": "S", "amount": (base_of + 4) * 4, "account": "net", "why": [first, *water, times]}
        for payer, base_of, first in (
            ("E", 32, reason("base_dealer", "add", 32, seat="E")),
            ("W", 12, reason("base_others", "add", 12)),
            ("N", 12, reason("base_others", "add", 12)),
        )
    ]
    offsets = [
        {
            "payer": payer, "receiver": receiver, "amount": theirs - mine, "account": "net",
            "why": [
                reason("offset_theirs", "add", theirs, seat=receiver),
                *([reason("offset_own", "add", -mine, seat=payer)] if mine else []),
            ],
        }
        for payer, receiver, theirs, mine in (("E", "N", 6, 4), ("W", "N", 6, 0), ("W", "E", 4, 0))
    ]  # fmt: skip
    return [line for line in (*won, *offsets) if seat in (line["payer"], line["receiver"])]


def _result_several(seat: str) -> View:
    wins = [{"seat": one, "way": "pinghu", "source": "E", "tile": "6m"} for one in "SWN"]
    tiles = SHOWN | {"S": "126889m1456p5z", "W": "445679m2255p1456679s", "N": "1256m367s5z"}
    net = {"E": -36, "S": 12, "W": 12, "N": 12}
    view = _booked(seat, winner="S", way="pinghu", wins=wins, net=net, tiles=tiles)
    view["me"]["lines"] = [
        {
            "payer": "E", "receiver": one, "amount": 12, "account": "net",
            "why": [reason("way", "add", 8, way="pinghu"), reason("water_flowers", "add", 4)],
        }
        for one in "SWN" if seat in ("E", one)
    ]  # fmt: skip
    return view


def _result_draw(seat: str) -> View:
    view = _booked(
        seat, kind="draw", winner=None, way=None, wins=[], net=dict.fromkeys(SEATS, 0), next_dealer="E", melds={},
        tiles={},
    )  # fmt: skip
    view |= {"dealer": "E", "streak": 2, "base": 40}
    view["me"]["lines"] = []
    return view


def _result_foul(seat: str) -> View:
    view = _booked(
        seat, kind="foul", winner=None, way=None, wins=[], foul="N", net={"E": 10, "S": 10, "W": 10, "N": -30},
        tiles={"N": SHOWN["N"]}, melds={"N": MELDS["N"]},
    )  # fmt: skip
    fine = reason("fine", "add", 10, kind="zhahu")
    view["me"]["lines"] = [
        {"payer": "N", "receiver": one, "amount": 10, "account": "net", "why": [fine]}
        for one in "ESW"
        if seat in ("N", one)
    ]
    return view


def _result_none(seat: str) -> View:
    """Where nothing is read and the winner entered his 水 alone."""
    return _booked(seat, tiles={}, melds={}, wins=[{"seat": "S", "way": "shuangyou", "source": None, "tile": None}])


def _result_cards(seat: str) -> View:
    """Chips as playing cards, 课外 besides."""
    view = _booked(seat, bonus={"E": -2, "S": 6, "W": -2, "N": -2})
    view["match"] |= {"chips": {"E": 82, "S": 459, "W": 157, "N": 102}, "deck": 200}
    view["match"]["bonus"] = {"E": -2, "S": 6, "W": -2, "N": -2}
    bonus = reason("bonus_way", "add", 2, way="shuangyou")
    view["me"]["lines"] += [
        {"payer": one, "receiver": "S", "amount": 2, "account": "bonus", "why": [bonus]}
        for one in "EWN"
        if seat in ("S", one)
    ]
    return view


def _result_paused(seat: str) -> View:
    view = _booked(seat)
    view |= {"phase": "paused", "use": "paused"}
    view["match"]["pausing"] = True
    view["me"]["wants"] = []
    return want(view, "paused", [])


def _ended_table(seat: str) -> View:
    view = _booked(seat)
    view |= {"phase": "ended", "hand": 20}
    view["match"] |= {"stage": "ended", "ended": "hands", "hand": 20, "chips": {"E": 0, "S": 359, "W": 57, "N": -16}}
    view["match"]["bonus"] = {"E": -4, "S": 12, "W": -4, "N": -4}
    view["me"]["wants"] = []
    return view


def _ended_evening(seat: str) -> View:
    """The second match of an evening is over: what all matches came to matters more than the last one."""
    view = _ended_table(seat)
    view["match"] |= {"number": 2, "evening": {"1": 85, "2": 141, "3": -207, "4": -19}}
    view["match"]["evening_bonus"] = {"1": -6, "2": 10, "3": 2, "4": -6}
    return view


# -- sheets ------------------------------------------------------------------------------------------------------------


def _history(seat: str) -> View:
    view = _felt_turn(seat)
    ways = ["zimo", "pinghu", "youjin", "shuangyou", "sanjindao", "qiangjin", "sanyou"]
    rows: list[dict[str, Any]] = []
    for hand in range(8, 0, -1):
        winner = str(hand % 4 + 1)
        net = {player: 36 if player == winner else -12 for player in "1234"}
        wins = [{"player": winner, "way": ways[hand % 7]}]
        row = {"match": 1, "hand": hand, "dealer": str((hand + 1) % 4 + 1), "kind": "win", "wins": wins, "net": net}
        rows.append(row | {"bonus": {}, "voided": hand == 4})
    rows[1] |= {"kind": "draw", "wins": [], "net": dict.fromkeys("1234", 0)}
    rows[5] |= {"kind": "foul", "wins": [], "net": {"1": 10, "2": 10, "3": -30, "4": 10}}
    rows[6] |= {"wins": [{"player": "1", "way": "pinghu"}, {"player": "2", "way": "pinghu"}]}
    view["me"]["sheet"] = {"what": "history", "page": 0, "pages": 3, "rows": rows}
    return view


def _statistics(seat: str) -> View:
    view = _booked(seat)
    ways = [{"zimo": 4, "pinghu": 2, "youjin": 1}, {"pinghu": 5, "shuangyou": 1}, {"zimo": 1, "sanjindao": 1}, {}]
    players = {
        str(number): {
            "seat": SEATS[number - 1], "hands": 20, "wins": sum(won.values()), "ways": won, "golds": 3 * number,
            "paid_for": number, "fouls": number // 4, "points": [-118, 259, -43, -98][number - 1], "bonus": 0,
            "best": {"points": 284 - number, "match": 1, "hand": 3 + number} if won else None,
        }
        for number, won in enumerate(ways, 1)
    }  # fmt: skip
    view["me"]["sheet"] = {"what": "statistics", "page": 0, "pages": 1, "players": players}
    return view


def _hand(seat: str) -> View:
    view = _history(seat)
    row = {
        "match": 1, "hand": 3, "dealer": "1", "kind": "win", "wins": [{"player": "2", "way": "shuangyou"}],
        "net": {"1": -142, "2": 272, "3": -74, "4": -56}, "bonus": {}, "voided": False,
    }  # fmt: skip
    view["me"]["sheet"] = {
        "what": "hand", "page": 0, "pages": 1, "match": 1, "hand": 3, "rows": [row], "lines": lines(seat),
    }  # fmt: skip
    return view


RECORD = "\n".join(
    ["rules new-xiamen-120", "dealer E", "steps 1", "gold 3p", "hand E 1367m134489p2333568s"]
    + [f"{'ESWN'[n % 4]} draw {n % 9 + 1}m, discard {n % 7 + 1}z" for n in range(60)]
    + ["S hu shuangyou 5z", "settle E -142 S 272 W -74 N -56"]
)


def _record(seat: str) -> View:
    view = _booked(seat)
    view["me"]["sheet"] = {"what": "record", "page": 0, "pages": 1, "match": 1, "hand": 3, "text": RECORD}
    return view


def _match_record(seat: str) -> View:
    view = _booked(seat)
    view["me"]["sheet"] = {"what": "match", "page": 1, "pages": 4, "match": 2, "text": RECORD}
    return view


SCENES: dict[str, Callable[[str], View]] = {
    "felt_begin": _felt_begin, "felt_turn": _felt_turn, "felt_claim": _felt_claim, "felt_draw": _felt_draw,
    "felt_tour": _felt_tour, "felt_covered": _felt_covered, "felt_rob": _felt_rob, "felt_full": _felt_full,
    "felt_144": _felt_144, "felt_none": _felt_none, "result_win": _booked, "result_several": _result_several,
    "result_draw": _result_draw, "result_foul": _result_foul, "result_none": _result_none,
    "result_cards": _result_cards, "result_undo": _result_undo, "result_paused": _result_paused,
    "ended_table": _ended_table, "ended_evening": _ended_evening, "sheet_match": _match_record,
    "sheet_history": _history, "sheet_statistics": _statistics, "sheet_hand": _hand, "sheet_record": _record,
}  # fmt: skip
