"""A table without wires or time: the engine, the world and four minds, each acting in turn. For tests."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from controller.live import Live, TableFacts
from controller.views import seat_view
from engine import inputs
from engine.events import Event
from engine.play import PlayState
from engine.ruleset import Ruleset, load_ruleset
from engine.table import Refused, apply, decide, new_state, wants
from engine.tiles import SEATS
from protocol.mqtt.views import SeatView
from simulators.channel import perform
from simulators.mind import LEAVE, Intention, Person, intention
from simulators.sight import seat_sight
from simulators.world import Happening, World, WorldError

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
        rates: Mapping[str, float] | None = None,
        hands: int = 0,
        **world: Any,
    ) -> None:
        self.rules: Ruleset = load_ruleset(rules, options)
        self.world = World(faces=self.rules.faces(), seed=seed, notify=self._noticed, **world)
        self.state = new_state()
        self.events: list[Event] = []
        self.refused: list[str] = []
        self.mistakes: Counter[str] = Counter()
        self.elapsed: list[str] = []
        self.game: PlayState | None = None
        self._kept_from: dict[tuple[str, str], tuple[int, int]] = {}
        self.done_by: dict[str, list[Intention]] = {seat: [] for seat in SEATS}
        self._reads = sensing == "full"
        self._dice = dice
        self._meddle = meddle
        self._inputs: deque[inputs.Input] = deque()
        self._people = {seat: Person(seat, seed, rates=rates or {}) for seat in SEATS}
        self._made: set[str] = set()
        self._pressed: dict[str, set[str]] = {seat: set() for seat in SEATS}
        self._live = Live(TableFacts(rules, layout, sensing, dice, "guide", 2, 0), link="up")
        self._begin = inputs.StartMatch(rules, options or {}, layout, sensing, dice, hands=hands)
        self._start()

    def _start(self) -> None:
        """A match begins, the first or the next; as the daemon begins it with what it knows of the table."""
        again = self.state.phase == "ended"
        self.feed(replace(self._begin, sets=self.state.sets) if again else self._begin)

    def feed(self, happened: inputs.Input) -> None:
        """One input, and everything that it led to by way of sensors."""
        self._inputs.append(happened)
        while self._inputs:
            for event in decide(self.state, self._inputs.popleft()):
                self.events.append(event)
                self.state = apply(self.state, event)
                self.game = self.state.play.game or self.game

    def play(self, until: Callable[[Tabletop], bool]) -> None:
        """Let everybody act in turn until the condition holds; AssertionError when nothing more happens."""
        for _ in range(STEPS):
            if until(self):
                return
            if not self._machine_moves() and not self._somebody_acts() and not self._time_passes():
                break
        outstanding = [(want.verb, want.seat) for want in wants(self.state)]
        raise AssertionError(
            f"the table stands still in {self.state.phase}: {outstanding}, refused {self.refused[-3:]}"
        )

    def do(self, seat: str, wanted: Intention) -> None:
        """One act of hands, with all that readers tell of it."""
        perform(self.world, wanted.act, {"seat": seat, **wanted.arguments})
        while self._inputs:
            self.feed(self._inputs.popleft())

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

    def _time_passes(self) -> bool:
        """Nobody does anything any more: the shortest of the clocks that run is over."""
        running = [want for want in wants(self.state) if want.kind == "timer"]
        if not running:
            return False
        first = min(running, key=lambda want: want.after_ms)
        self.elapsed.append(first.verb)
        self.feed(inputs.TimerElapsed(str(first.id)))
        return True

    # --- people -----------------------------------------------------------------------------------------------------

    def _somebody_acts(self) -> bool:
        found = self._first_asked()
        if found is None:
            return False
        seat, wanted = found
        wanted = self._meddle(seat, wanted)
        self._pressed[seat].add(wanted.key)
        self.done_by[seat].append(wanted)
        if wanted.slip:
            self._made.add(f"{seat} {wanted.slip}")
            self.mistakes[wanted.slip.partition("/")[0]] += 1
        if wanted.act == LEAVE:
            return True
        if wanted.on_display:
            try:
                self.feed(inputs.SeatAction(seat, wanted.want, wanted.act, wanted.arguments))
            except Refused as refusal:
                if refusal.code == "start_needs_table":
                    self._start()
                else:
                    self.refused.append(f"{seat} {wanted.act} {wanted.want}: {refusal.code}")
            return True
        try:
            perform(self.world, wanted.act, {"seat": seat, **wanted.arguments})
            if wanted.act != "press":
                self._pressed[seat].discard(wanted.key)
        except WorldError as error:
            self.refused.append(f"{seat} {wanted.act}: {error}")
            self._kept_from[seat, wanted.key] = self._moment
        while self._inputs:
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
        kept = {key for (whose, key), at in self._kept_from.items() if whose == seat and at == self._moment}
        made = {label.partition(" ")[2] for label in self._made if label.startswith(seat)}
        person = replace(self._people[seat], done=self._pressed[seat] | kept, made=made)
        return intention(person, view, seat_sight(self.world, seat))

    @property
    def _moment(self) -> tuple[int, int]:
        """Changes whenever anything has happened: what was refused may be tried again then."""
        return self.world.version, len(self.events)
