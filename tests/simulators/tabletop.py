"""A table without wires or time: the engine, the world and four minds, each acting in turn. For tests."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from controller.live import Live, TableFacts
from controller.views import seat_view
from engine import inputs
from engine.events import Event
from engine.ruleset import Ruleset, load_ruleset
from engine.table import Refused, apply, decide, new_state, wants
from engine.tiles import SEATS
from protocol.mqtt.views import SeatView
from simulators.channel import perform
from simulators.mind import Intention, Person, intention
from simulators.sight import seat_sight
from simulators.world import Happening, World

STEPS = 5_000


class Tabletop:
    """One match. `events` are all that happened; `meddle` may change an intention before it is carried out."""

    def __init__(
        self,
        rules: str,
        layout: str,
        sensing: str,
        dice: str,
        seed: int,
        meddle: Callable[[str, Intention], Intention] = lambda seat, wanted: wanted,
        options: Mapping[str, Any] | None = None,
        **world: Any,
    ) -> None:
        self.rules: Ruleset = load_ruleset(rules, options)
        self.world = World(faces=self.rules.faces(), seed=seed, notify=self._noticed, **world)
        self.state = new_state()
        self.events: list[Event] = []
        self.refused: list[str] = []
        self.done_by: dict[str, list[Intention]] = {seat: [] for seat in SEATS}
        self._reads = sensing == "full"
        self._dice = dice
        self._meddle = meddle
        self._inputs: deque[inputs.Input] = deque()
        self._people = {seat: Person(seat, seed) for seat in SEATS}
        self._pressed: dict[str, set[str]] = {seat: set() for seat in SEATS}
        self._live = Live(TableFacts(rules, layout, sensing, dice, "guide", 2, 0), link="up")
        self.feed(inputs.StartMatch(rules, options or {}, layout, sensing, dice))

    def feed(self, happened: inputs.Input) -> None:
        """One input, and everything that it led to by way of sensors."""
        self._inputs.append(happened)
        while self._inputs:
            for event in decide(self.state, self._inputs.popleft()):
                self.events.append(event)
                self.state = apply(self.state, event)

    def play(self, until: Callable[[Tabletop], bool]) -> None:
        """Let everybody act in turn until the condition holds; AssertionError when nothing more happens."""
        for _ in range(STEPS):
            if until(self):
                return
            if not self._machine_moves() and not self._somebody_acts():
                break
        outstanding = [(want.verb, want.seat) for want in wants(self.state)]
        raise AssertionError(
            f"the table stands still in {self.state.phase}: {outstanding}, refused {self.refused[-3:]}"
        )

    def view(self, seat: str) -> SeatView:
        """What the display of a seat says."""
        return SeatView.model_validate(seat_view(self.state, seat, self._live))

    def of(self, *kinds: type[Any]) -> list[Any]:
        """The events of some kinds, in order."""
        return [event for event in self.events if isinstance(event, kinds)]

    # --- the machine ------------------------------------------------------------------------------------------------

    def _machine_moves(self) -> bool:
        for want in wants(self.state):
            if want.kind == "operation":
                self.feed(inputs.OperationDone(str(want.id), self._run(want.verb, want.params)))
                return True
        return False

    def _run(self, verb: str, params: Mapping[str, Any]) -> dict[str, Any]:
        world = self.world
        match verb:
            case "sort":
                return {"tiles": world.sort(params["set"], (self.rules.stacks,) * 4)}
            case "centre_raise" | "centre_lower":
                world.move_centre("up" if verb == "centre_raise" else "down")
            case "walls_raise":
                world.raise_walls(params["set"])
            case "read_wall":
                tiles = [world.face_at(position) for position in world.standing(params["side"])]
                return {"tiles": tiles, "confidence": 100}
            case "dice_roll":
                throw = world.settle()
                if self._dice == "unread":
                    return {"dice": None, "quality": "unread", "spin_ms": 1}
                quality = "cocked" if throw.cocked else "clean"
                return {"dice": None if throw.cocked else list(throw.dice), "quality": quality, "spin_ms": 1}
        return {}

    def _noticed(self, happening: Happening) -> None:
        match happening.kind:
            case "key":
                self._inputs.append(inputs.KeyPressed(happening.word))
            case "zone" if self._reads:
                tiles = self.world.zone_faces(happening.seat, happening.word)
                self._inputs.append(inputs.ZoneSeen(happening.seat, happening.word, tiles))
            case "flip" if self._reads:
                self._inputs.append(inputs.TileFlipped(happening.position, happening.face))

    # --- people -----------------------------------------------------------------------------------------------------

    def _somebody_acts(self) -> bool:
        found = self._first_asked()
        if found is None:
            return False
        seat, wanted = found
        wanted = self._meddle(seat, wanted)
        self._pressed[seat].add(wanted.key)
        self.done_by[seat].append(wanted)
        if wanted.on_display:
            try:
                self.feed(inputs.SeatAction(seat, wanted.want, wanted.act, wanted.arguments))
            except Refused as refusal:
                self.refused.append(f"{seat} {wanted.act} {wanted.want}: {refusal.code}")
        else:
            perform(self.world, wanted.act, {"seat": seat, **wanted.arguments})
            if wanted.act != "press":
                self._pressed[seat].discard(wanted.key)
            if self._inputs:
                self.feed(self._inputs.popleft())
        return True

    def _first_asked(self) -> tuple[str, Intention] | None:
        """Whoever has something to do that no other is asked for first."""
        best: tuple[str, Intention] | None = None
        for seat in SEATS:
            wanted = self._intention(seat)
            if wanted is not None and (best is None or wanted.rank < best[1].rank):
                best = (seat, wanted)
            if best is not None and best[1].rank == 0:
                return best
        return best

    def _intention(self, seat: str) -> Intention | None:
        view = self.view(seat)
        outstanding = {want.id for want in view.me.wants}
        self._pressed[seat] = {key for key in self._pressed[seat] if key.partition("|")[0] in outstanding}
        person = Person(seat, self._people[seat].seed, self._pressed[seat], self._thrown_before)
        return intention(person, view, seat_sight(self.world, seat))

    _thrown_before: int | None = None
