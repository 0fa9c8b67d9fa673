"""The demo as a story: public events in, a line per step out, and what has happened in numbers."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cli.demo_lines import SEATS, discards_line, told
from simulators.sight import Sight

ROUND = 4
"""Discards that are told in one line."""


@dataclass
class Booked:
    """A hand as it was booked: its match and number, points and 课外 by seat."""

    match: int
    number: int
    kind: str
    net: Mapping[str, int]
    bonus: Mapping[str, int]
    voided: bool = False


class Story:
    """What the events tell, hand by hand; discards a round at a time, or as soon as something else happens."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.ways: Counter[str] = Counter()
        self.hands: list[dict[str, Any]] = []
        self.booked: list[Booked] = []
        self._hand: dict[str, Any] = {}
        self._discards: list[tuple[str, str]] = []

    def tell(self, name: str, params: Mapping[str, Any]) -> str | None:
        """One event: counted, and the line or lines that tell it; None where there is nothing to say."""
        self.counts["events"] += 1
        self.counts[name] += 1
        self._note(name, params)
        if name == "discarded":
            self._discards.append((str(params.get("seat")), str(params.get("tile") or "")))
            return self._thrown() if len(self._discards) >= ROUND else None
        line = told(name, params)
        return line if line is None or not self._discards else f"{self._thrown()}\n{line}"

    @property
    def digest(self) -> str:
        """A fingerprint of all hands: the same seed gives the same."""
        return hashlib.sha256(json.dumps(self.hands, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def standing(self) -> list[Booked]:
        """The hands in the book, without those taken back."""
        return [one for one in self.booked if not one.voided]

    @property
    def points(self) -> dict[str, int]:
        """What every seat has won or lost over all hands in the book."""
        return {seat: sum(one.net[seat] for one in self.standing) for seat in "ESWN"}

    @property
    def bonus(self) -> dict[str, int]:
        """课外 of every seat."""
        return {seat: sum(one.bonus[seat] for one in self.standing) for seat in "ESWN"}

    def settled(self) -> dict[str, Any]:
        """The hands in the book in numbers: how many, how they ended, and what every seat has of them."""
        kinds = Counter(one.kind for one in self.standing)
        return {
            "settled": len(self.standing),
            "draws": kinds["draw"],
            "fouls": kinds["foul"],
            "voided": len(self.booked) - len(self.standing),
            "matches": len({one.match for one in self.booked}),
            "points": self.points,
            "bonus": self.bonus,
        }

    def _thrown(self) -> str:
        line = discards_line(self._discards)
        self._discards = []
        return line

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
            self._lay(str(params.get("seat")), {*map(str, tiles)}, set())
        elif name == "flower_withdrawn":
            self._lay(str(params.get("seat")), set(), {str(params.get("tile"))})
        elif name == "booked":
            self._book(params)
        elif name == "booking_voided":
            self._void(params)
        elif name == "hand_ended":
            ended = {key: params.get(key) for key in ("dealer", "winner", "way")}
            net = dict(self.booked[-1].net) if self.booked else {}
            self.hands.append({"gold": None, "position": None, **hand, **ended, "net": net})
            self._hand = {}
            if params.get("way"):
                self.ways[str(params["way"])] += 1

    def _lay(self, seat: str, laid: set[str], taken: set[str]) -> None:
        flowers = self._hand.setdefault("flowers", {})
        flowers[seat] = sorted({*flowers.get(seat, ()), *laid} - taken)

    def _book(self, params: Mapping[str, Any]) -> None:
        net, bonus = dict(params.get("net") or {}), dict(params.get("bonus") or {})
        match, number = int(params.get("match") or 0), int(params.get("number") or 0)
        self.booked.append(Booked(match, number, str(params.get("kind")), net, bonus))

    def _void(self, params: Mapping[str, Any]) -> None:
        match, number = int(params.get("match") or 0), int(params.get("number") or 0)
        for one in self.booked:
            one.voided = one.voided or (one.match, one.number) == (match, number)


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
