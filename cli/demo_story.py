"""The demo as a story: public events in, a line per step out, and what has happened in numbers."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from simulators.sight import Sight

SEATS = {"E": "东 E", "S": "南 S", "W": "西 W", "N": "北 N", "": "anyone"}
PURPOSES = {
    "dealer": "for the dealer (定庄)",
    "deal": "for the deal",
    "door": "for the door (开门)",
    "gold": "for the gold (开金)",
}
WAYS = {
    "tianhu": "天胡",
    "dihu": "地胡",
    "sanjindao": "三金倒",
    "qiangjin": "抢金",
    "qiangshuangyou": "抢双游",
    "shuanghuagang": "双花杠",
}  # fmt: skip


class Story:
    """What the events tell, hand by hand."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.ways: Counter[str] = Counter()
        self.hands: list[dict[str, Any]] = []
        self._hand: dict[str, Any] = {}

    def tell(self, name: str, params: Mapping[str, Any]) -> str | None:
        """One event: counted, and the line that tells it; None where there is nothing to say."""
        self.counts["events"] += 1
        self.counts[name] += 1
        self._note(name, params)
        teller = _LINES.get(name)
        return None if teller is None else teller(params)

    @property
    def digest(self) -> str:
        """A fingerprint of all hands: the same seed gives the same."""
        return hashlib.sha256(json.dumps(self.hands, sort_keys=True).encode()).hexdigest()[:16]

    def _note(self, name: str, params: Mapping[str, Any]) -> None:
        hand = self._hand
        if name == "rolled":
            hand.setdefault("rolls", []).append([params.get("purpose"), params.get("by"), params.get("dice")])
        elif name == "gold":
            hand["gold"], hand["position"] = params.get("face"), params.get("position")
        elif name == "gold_passed":
            hand.setdefault("passed", []).append([params.get("position"), params.get("tile")])
        elif name in ("flower", "flowers_replaced"):
            tiles = params.get("flowers") or [params.get("tile")]
            flowers = hand.setdefault("flowers", {}).setdefault(str(params.get("seat")), [])
            flowers[:] = sorted({*flowers, *map(str, tiles)})
        elif name == "hand_ended":
            ended = {key: params.get(key) for key in ("dealer", "winner", "way")}
            self.hands.append({"gold": None, "position": None, **hand, **ended})
            self._hand = {}
            if params.get("way"):
                self.ways[str(params["way"])] += 1


class Felt:
    """What lies open on the felt, told when it changes: `dice` and `tiles`, each where the table cannot read them."""

    def __init__(self, dice: bool, tiles: bool) -> None:
        self._dice, self._tiles = dice, tiles
        self._told: set[str] = set()
        self._set_up = 0

    def news(self, sight: Sight) -> str:
        """What has come since the last look; empty when nothing has."""
        if sight.set_up != self._set_up:
            self._set_up = sight.set_up
            self._told.clear()
        lying = []
        if self._dice and sight.dice.values is not None and not sight.dice.moving:
            lying.append(f"throw {sight.dice.throw} shows {sight.dice.values[0]}+{sight.dice.values[1]}")
        if self._tiles:
            lying += [f"{SEATS[seat]} has {face}" for seat, faces in sight.flowers.items() for face in faces]
            lying += [f"{position} is {face}" for position, face in sight.flipped.items()]
        new = [one for one in lying if one not in self._told]
        self._told.update(new)
        return f"  (on the felt: {', '.join(new)})" if new else ""


def sorting_line(machine: Mapping[str, Any]) -> str | None:
    """How far the sorting is: tiles per side and seconds; None when nothing is sorted."""
    sorting = machine.get("sorting")
    if not isinstance(sorting, Mapping):
        return None
    sides = "  ".join(f"{side} {count:>2}" for side, count in dict(sorting.get("tiles") or {}).items())
    return f"sorting set {sorting.get('set')}: {sides}  ({sorting.get('seconds')} s)"


def _seat(params: Mapping[str, Any], key: str = "seat") -> str:
    return SEATS.get(str(params.get(key) or ""), "?")


def _rolled(params: Mapping[str, Any]) -> str:
    first, second = params.get("dice") or (0, 0)
    how = {"read": "read by the table"}.get(str(params.get("how")), f"{params.get('how')} at the displays")
    return f"{_seat(params, 'by')} throws {first}+{second} {PURPOSES.get(str(params.get('purpose')), '')} ({how})"


def _taken(params: Mapping[str, Any]) -> str:
    return f"{_seat(params)} takes {_places(params)}"


def _places(params: Mapping[str, Any]) -> str:
    positions = [str(position) for position in params.get("positions") or ()]
    return " ".join(positions) if len(positions) <= 4 else f"{' '.join(positions[:2])} … {positions[-1]}"


def _replaced(params: Mapping[str, Any]) -> str:
    flowers = " ".join(params.get("flowers") or ())
    return (
        f"round {params.get('round')} of 补花: {_seat(params)} lays out {flowers}, takes {_places(params)} at the tail"
    )


def _gold(params: Mapping[str, Any]) -> str:
    white = f", 白 stands for {params['white']}" if params.get("white") else ""
    return f"开金 at {params.get('position')}: {params.get('tile')} is flipped, the gold is {params.get('face')}{white}"


def _passed(params: Mapping[str, Any]) -> str:
    why = (
        "the third of its kind running: opened again"
        if params.get("why") == "third_same"
        else "a flower: on to the next"
    )
    return f"{params.get('position')} is flipped: {params.get('tile')}, {why}"


def _ended(params: Mapping[str, Any]) -> str:
    head = f"hand {params.get('hand')} is opened, dealer {_seat(params, 'dealer')}"
    if params.get("winner"):
        way = str(params.get("way"))
        return f"{head}: {_seat(params, 'winner')} wins with {WAYS.get(way, way)}"
    return f"{head}: nobody wins in the opening"


def _miscounted(params: Mapping[str, Any]) -> str:
    sides = ", ".join(f"{one['side']} {one['counted']} of {one['expected']}" for one in params.get("sides") or ())
    return f"set {params.get('set')} is not complete ({sides}): look on the felt and under the rims"


_LINES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "match_started": lambda p: f"a match begins: {p.get('rules')}, {p.get('layout')}, sensing {p.get('sensing')}",
    "sort_begun": lambda p: f"set {p.get('set')} is being sorted and stacked",
    "sorted": lambda p: f"set {p.get('set')} stands sorted",
    "miscounted": _miscounted,
    "centre_up": lambda p: "the centre is up: tiles are pushed in",
    "centre_down": lambda p: "the centre is closed",
    "walls_up": lambda p: f"the walls of set {p.get('set')} rise",
    "rows_laid": lambda p: "八卦: stacks pushed forward, rows laid",
    "rolled": _rolled,
    "roll_spoilt": lambda p: f"a throw that does not count ({p.get('reason')}): thrown again",
    "dice_disputed": lambda p: f"{_seat(p, 'by')} objects to the dice",
    "dice_lost": lambda p: "the power went in a throw: who saw the dice?",
    "dealer": lambda p: f"{_seat(p)} is dealer (庄)",
    "taken": _taken,
    "all_taken": lambda p: "everything has been taken",
    "flower": lambda p: f"补花: {_seat(p)} lays out {p.get('tile')}",
    "flowers_replaced": _replaced,
    "flowers_done": lambda p: "nobody holds a flower any more",
    "gold_counted": lambda p: f"counted along the tail to {(p.get('path') or ['?'])[-1]}",
    "gold_passed": _passed,
    "gold": _gold,
    "hand_ended": _ended,
    "operation_failed": lambda p: (
        f"the machine fails: {p.get('verb')}, {p.get('fault')} {p.get('side') or ''}".rstrip()
    ),
    "operation_retried": lambda p: "tried again",
    "stopped": lambda p: f"EMERGENCY STOP: {p.get('reason')}",
    "released": lambda p: "the emergency stop is cleared",
    "unasked_throw": lambda p: "a throw that nobody asked for; it does not count",
}
