"""Four people at a table on a clock (`clocked.py`), whose hands do what their displays ask and a plan says otherwise.

Each does everything after a time of its own. Tiles are moved as things that stood at a place in the wall; their faces
are looked at by their own seat alone.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.tiles import SEATS
from tests.controller.clocked import Act, Table

BEAT_S = 0.25
LOOKS_S = {"E": 0.5, "S": 0.7, "W": 0.9, "N": 1.1}
"""How long each takes to answer."""
MOVE_S = 0.2

Press = tuple[str, Mapping[str, Any]]
Idle = Callable[[str, Mapping[str, Any], int], bool]


def passing(seat: str, number: int) -> Press | None:
    """S lets the time of every second window run out, everybody else passes."""
    return None if seat == "S" and number % 2 else ("pass", {})


@dataclass
class Plan:
    """What people do where they have a choice.

    `discards`: by seat the faces it discards, one after the other, "" and what follows for the tile just drawn.
    `presses`: by seat and number of discards what it presses in its own turn instead. `claims`: what a seat presses in
    the window after so many discards; without an entry `passes` says, as in the window of the openings (number 0).
    `idle` says what nobody does: a seat's prompt after so many discards (-1 before play).
    """

    until: Callable[[Table], bool]
    discards: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    presses: Mapping[tuple[str, int], Press] = field(default_factory=dict)
    claims: Mapping[tuple[str, int], Press] = field(default_factory=dict)
    idle: Idle = lambda seat, want, number: False
    passes: Callable[[str, int], Press | None] = passing
    longer_s: float = 5.0


class People:
    """Plays a plan at a table; what they did is the table's `acts`."""

    def __init__(self, table: Table, plan: Plan) -> None:
        self.table, self.plan = table, plan
        self.lying: dict[tuple[str, str], list[str]] = {
            (seat, zone): [] for seat in SEATS for zone in ("hand", "flowers", "melds", "discards")
        }
        self._seen: set[tuple[str, str, str]] = set()
        self._discarded: Counter[str] = Counter()
        self._pressed: set[tuple[str, int]] = set()
        self._busy: list[asyncio.Task[None]] = []

    async def play(self) -> None:
        """Until the plan is fulfilled, and a while longer in which nobody does anything."""
        async with asyncio.timeout(900):
            while not self.plan.until(self.table):
                await asyncio.sleep(BEAT_S)
                self._look()
        for task in self._busy:
            task.cancel()
        await asyncio.sleep(self.plan.longer_s)

    def _look(self) -> None:
        for seat in SEATS:
            for want in self.table.view.get(seat, {}).get("me", {}).get("wants", ()):
                key = (seat, want["verb"], want["id"])
                answer = getattr(self, f"_{want['verb']}", None)
                if key not in self._seen and answer is not None:
                    self._seen.add(key)
                    self._busy.append(asyncio.create_task(self._answer(answer, seat, want)))
        for task in [task for task in self._busy if task.done()]:
            self._busy.remove(task)
            task.result()

    async def _answer(self, answer: Callable[..., Any], seat: str, want: dict[str, Any]) -> None:
        await asyncio.sleep(LOOKS_S[seat])
        if not self.plan.idle(seat, want, self._number()):
            await answer(seat, want, want["params"])

    def _number(self) -> int:
        """How many tiles were discarded; -1 before play."""
        play = self.table.view["view"]["play"]
        return -1 if play is None else int(play["number"])

    # -- what hands do -------------------------------------------------------------------------------------------------

    def _press(self, seat: str, want: Mapping[str, Any], action: str, params: Mapping[str, Any] | None = None) -> None:
        number = sum(1 for act in self.table.acts if act.payload)
        body = {"id": f"press-{number}", "epoch": 1, "want": want["id"], "action": action, "params": dict(params or {})}
        self.table.do(Act(self.table.now, seat, json.dumps(body).encode()))

    async def _move(self, seat: str, zone: str, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> None:
        """Places come into a zone and leave it, which its reader shows; the hand needs a moment for it."""
        await asyncio.sleep(MOVE_S)
        lying = self.lying[seat, zone]
        lying[:] = [place for place in lying if place not in remove] + list(add)
        self.table.do(Act(self.table.now, seat, zone=zone, places=tuple(lying)))

    def _with_face(self, seat: str, zone: str, face: str) -> str:
        found = [place for place in self.lying[seat, zone] if self.table.faces[place] == face]
        assert found, f"{seat} has no {face} in {zone}"
        return found[-1]

    # -- before play ---------------------------------------------------------------------------------------------------

    async def _lift(self, seat: str, want: Any, params: Any) -> None:
        if seat == "E":
            self._press(seat, want, "lift")

    async def _push_in(self, seat: str, want: Any, params: Any) -> None:
        if seat == "E":
            self._press(seat, want, "pushed")

    async def _roll(self, seat: str, want: Any, params: Any) -> None:
        wanted = [other for other in SEATS if any(one["verb"] == "roll" for one in self._wants(other))]
        if wanted[:1] == [seat]:
            self._press(seat, want, "roll")

    def _wants(self, seat: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.table.view[seat]["me"]["wants"]
        return found

    async def _take(self, seat: str, want: Any, params: Any) -> None:
        await self._move(seat, "hand", add=tuple(params["positions"]))

    async def _flowers(self, seat: str, want: Any, params: Any) -> None:
        out = tuple(self._with_face(seat, "hand", face) for face in params["tiles"])
        await self._move(seat, "flowers", add=out)
        await self._move(seat, "hand", add=tuple(params["positions"]), remove=out)

    async def _flip(self, seat: str, want: Any, params: Any) -> None:
        self.table.do(Act(self.table.now, seat, zone="flip", places=(params["position"],)))

    async def _opening(self, seat: str, want: Any, params: Any) -> None:
        self._claim_or_pass(seat, want, 0)

    # -- in play -------------------------------------------------------------------------------------------------------

    def _claim_or_pass(self, seat: str, want: Any, number: int) -> None:
        press = self.plan.claims.get((seat, number)) or self.plan.passes(seat, number)
        if press is not None:
            self._press(seat, want, *press)

    async def _claim(self, seat: str, want: Any, params: Any) -> None:
        self._claim_or_pass(seat, want, self._number())

    async def _draw(self, seat: str, want: Any, params: Any) -> None:
        await self._move(seat, "hand", add=(params["position"],))

    async def _replace(self, seat: str, want: Any, params: Any) -> None:
        out = self._with_face(seat, "hand", params["tile"])
        await self._move(seat, "flowers", add=(out,))
        await self._move(seat, "hand", remove=(out,))

    async def _flower(self, seat: str, want: Any, params: Any) -> None:
        self._press(seat, want, "pass")

    async def _lap(self, seat: str, want: Any, params: Any) -> None:
        self._press(seat, want, "pass")

    async def _turn(self, seat: str, want: Any, params: Any) -> None:
        at = (seat, self._number())
        press = self.plan.presses.get(at)
        if press is not None and at not in self._pressed:
            self._pressed.add(at)
            self._press(seat, want, *press)
            return
        faces = self.plan.discards.get(seat, ())
        number, self._discarded[seat] = self._discarded[seat], self._discarded[seat] + 1
        face = faces[number] if number < len(faces) else ""
        place = self._with_face(seat, "hand", face) if face else self.lying[seat, "hand"][-1]
        await self._move(seat, "hand", remove=(place,))
        await self._move(seat, "discards", add=(place,))

    async def _lay(self, seat: str, want: Any, params: Any) -> None:
        if params["kind"] == "aside":
            await self._move(seat, "hand", remove=(self._with_face(seat, "hand", params["tiles"][0]),))
            return
        missing, claimed = Counter(params["tiles"]), ()
        if params["kind"] == "kong_added":
            missing = Counter(params["tiles"][:1])
        if params["source"]:
            claimed = (self._with_face(params["source"], "discards", params["tile"]),)
            missing[params["tile"]] -= 1
            await self._move(params["source"], "discards", remove=claimed)
        own = []
        for face, copies in missing.items():
            own += [place for place in self.lying[seat, "hand"] if self.table.faces[place] == face][:copies]
        await self._move(seat, "melds", add=(*claimed, *own))
        await self._move(seat, "hand", remove=tuple(own))
