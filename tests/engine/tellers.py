"""People who tell a hand in its book: random, but within what the prompts allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine import inputs as i
from engine.table import Refused
from engine.tiles import FLOWERS, SEATS
from engine.wants import Want

if TYPE_CHECKING:
    from tests.engine.walker import Walker

TOLD = ("book", "entry", "agree", "objection", "object_entry", "vote")


class Teller:
    """Tells a hand as it comes; what the book refuses is let be."""

    def __init__(self, walker: Walker) -> None:
        self.walker = walker
        self.refusals: list[Refused] = []

    def answer(self, want: Want) -> None:
        """One prompt answered, or not."""
        if not want.actions:
            return
        action, params = getattr(self, f"_{want.verb}")(want)
        if action:
            self.press(want, action, params)

    def press(self, want: Want, action: str, params: dict[str, Any]) -> None:
        """A touch that may be refused."""
        try:
            self.walker.feed(i.SeatAction(want.seat, str(want.id), action, params))
        except Refused as refused:
            self.refusals.append(refused)

    def _book(self, want: Want) -> tuple[str, dict[str, Any]]:
        chance = self.walker.random
        draw = chance.random()
        if draw < 0.15:
            free = [face for face in FLOWERS if face not in want.params["taken"]]
            return ("flower", {"tile": chance.choice(free)}) if len(free) > 2 else ("", {})
        if draw < 0.3:
            return "kong", {"kind": chance.choice(("open", "added", "concealed"))}
        if draw < 0.4:
            return "drawn", {}
        if draw < 0.45 and want.params["fouls"]:
            return "foul", {"kind": want.params["fouls"][0]}
        way = chance.choice(want.params["ways"])
        params = {"way": way["way"]}
        if way["source"]:
            params["source"] = chance.choice([seat for seat in SEATS if seat != want.seat])
        return "win", params

    def _entry(self, want: Want) -> tuple[str, dict[str, Any]]:
        chance = self.walker.random
        draw = chance.random()
        fields = want.params["fields"]
        if draw < 0.2:
            return "items", {"golds": chance.randint(0, 3)} if "golds" in fields else {}
        if draw < 0.3 and "patterns" in fields:
            return "patterns", {"patterns": ["pinghu"]}
        if draw < 0.4 and "hardness" in fields:
            return "hardness", {"hardness": "soft"}
        if draw < 0.45:
            return "reopen", {}
        return "done", {}

    def _agree(self, want: Want) -> tuple[str, dict[str, Any]]:
        return self.walker.random.choice(["agree", "agree", "agree", "object", "change"]), {}

    def _object_entry(self, want: Want) -> tuple[str, dict[str, Any]]:
        chance = self.walker.random
        if chance.random() < 0.5:
            return "items", {"seat": chance.choice(SEATS), "golds": chance.randint(0, 2)}
        return chance.choice([("propose", {}), ("withdraw", {})])

    def _vote(self, want: Want) -> tuple[str, dict[str, Any]]:
        return "vote", {"choice": self.walker.random.choice((1, 2))}
