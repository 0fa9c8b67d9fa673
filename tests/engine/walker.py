"""A table of random people and a faultless or faulty machine, played against the state machine alone."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine import events as e
from engine import inputs as i
from engine.folding import apply
from engine.ruleset import Ruleset, load_ruleset
from engine.state import State, new_state
from engine.table import Refused, decide, wants
from engine.tiles import FLOWERS, SEATS, is_flower, parse_tiles
from engine.wants import Want
from tests.engine.hands_at_table import PLAYED, HandsAtPlay
from tests.engine.tellers import TOLD, Teller

Watcher = Callable[[State, tuple[e.Event, ...], State], None]


UNANSWERED = ("count_open", "count_ruling", "call_off")
"""What happens alone where somebody leaves a question open: of walkers that take back now and then (`undo_rate`)."""


@dataclass
class Walker:
    """Feeds one state machine until its match ends; `watch` sees the events of every input
    with the states around them (what a journal keeps in one transaction).

    `wall` lays a given wall (in every hand), else each hand's is shuffled; `dice` gives throws in order, then random
    ones; rates are chances per thing that can go wrong.
    """

    rules: str
    layout: str = ""
    sensing: str = "full"
    dice_mode: str = "read"
    aid: str = "guide"
    sets: tuple[str, ...] = ("inside", "felt")
    hands: int = 2
    seed: int = 1
    wall: str = ""
    dice: Sequence[Sequence[int]] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    spoil_rate: float = 0.0
    fail_rate: float = 0.0
    object_rate: float = 0.0
    blind_rate: float = 0.0
    undo_rate: float = 0.0
    watch: Watcher | None = None
    minutes: int = 0
    by_dice: bool = False
    fresh: bool = False
    names: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.book: Ruleset = load_ruleset(self.rules, dict(self.options))
        self.state = new_state()
        self.events: list[e.Event] = []
        self.walls: dict[int, list[str]] = {}
        self.thrown: dict[tuple[int, int, int], int] = {}
        self.throws = iter(list(self.dice))
        self.hands_at = HandsAtPlay(self)
        self.teller = Teller(self)

    def feed(self, happened: i.Input) -> tuple[e.Event, ...]:
        """One input; its events are applied and watched."""
        decided, before = decide(self.state, happened), self.state
        for event in decided:
            self.state = apply(self.state, event)
        self.events.extend(decided)
        if self.watch is not None:
            self.watch(before, decided, self.state)
        return decided

    def start(self) -> None:
        """The match begins."""
        self.feed(
            i.StartMatch(
                rules=self.rules,
                options=dict(self.options),
                layout=self.layout,
                sensing=self.sensing,
                dice=self.dice_mode,
                aid=self.aid,
                sets=self.sets,
                hands=self.hands,
                minutes=self.minutes,
                by_dice=self.by_dice,
                fresh=self.fresh,
                names=dict(self.names),
            )
        )

    def run(self, until: Callable[[State], bool] | None = None) -> None:
        """Plays until the match ends, or until a state is reached."""
        self.start()
        for _ in range(20_000):
            if self.state.phase == "ended" or (until is not None and until(self.state)):
                return
            self.step()
        raise AssertionError(f"the match does not end: phase {self.state.phase}")

    def step(self) -> None:
        """One outstanding want is met, or something goes wrong with it."""
        left = ("end", "taken") if self.undo_rate else ("end", "taken", *UNANSWERED)
        outstanding = [want for want in wants(self.state) if want.verb not in left]
        assert outstanding, f"nothing is wanted in phase {self.state.phase}"
        want = outstanding[0] if self.random.random() < 0.6 else self.random.choice(outstanding)
        {"operation": self._machine, "timer": self._clock, "prompt": self._person}[want.kind](want)

    def wall_of(self, hand: int) -> list[str]:
        """The faces of a hand's wall in the order of the notation."""
        if hand not in self.walls:
            tiles = parse_tiles(self.wall)
            if not tiles:
                tiles = [face for face, copies in self.book.faces().items() for _ in range(copies)]
                self.random.shuffle(tiles)
            self.walls[hand] = tiles
        return self.walls[hand]

    def _machine(self, want: Want) -> None:
        wanted = str(want.id)
        if self.random.random() < self.fail_rate:
            if want.verb == "dice_roll" and self.random.random() < 0.5:
                self.feed(i.OperationUnknown(wanted))
            else:
                self.feed(i.OperationFailed(wanted, "motor_stall", "E"))
            return
        self.feed(i.OperationDone(wanted, self._result(want)))

    def _result(self, want: Want) -> dict[str, Any]:
        side = self.book.stacks * 2
        if want.verb == "sort":
            short = self.random.random() < self.fail_rate
            return {"tiles": {seat: side - (1 if short and seat == "S" else 0) for seat in SEATS}}
        if want.verb == "read_wall":
            at = SEATS.index(want.params["side"]) * side
            return {"tiles": self.wall_of(self.state.hand)[at : at + side], "confidence": 99}
        if want.verb == "dice_roll":
            key = (want.id.hand, want.id.index, want.id.attempt)
            self.thrown[key] = self.thrown.get(key, 0) + 1
            if self.random.random() < self.spoil_rate:
                return {"dice": None, "quality": "cocked"}
            if self.dice_mode != "read":
                return {"dice": None, "quality": "unread"}
            return {"dice": self._throw(), "quality": "clean", "spin_ms": 3000}
        return {}

    def _throw(self) -> list[int]:
        given = next(self.throws, None)
        return list(given) if given is not None else [self.random.randint(1, 6), self.random.randint(1, 6)]

    def _clock(self, want: Want) -> None:
        if self.random.random() < 0.3:
            self.feed(i.TimerElapsed(str(want.id)))

    def _person(self, want: Want) -> None:
        if want.verb in TOLD:
            self.teller.answer(want)
            return
        if want.verb in PLAYED:
            self.hands_at.answer(want)
            return
        if want.verb in ("undo", "swap", "parked", *UNANSWERED) and self.random.random() >= self.undo_rate:
            return
        seen_by_readers = want.verb in ("flip", "take") or (want.verb == "flowers" and "by_hand" in want.actions)
        if seen_by_readers and "ok" not in want.actions and self.random.random() >= self.blind_rate:
            self._hands(want)
            return
        if not want.actions:
            return
        action = self.random.choice(want.actions)
        if action == "object" and self.random.random() >= self.object_rate:
            return
        if action == "cocked" and self.random.random() >= self.spoil_rate:
            return
        params = self._params(want, action)
        if params is not None:
            self.feed(i.SeatAction(want.seat, str(want.id), action, params))

    def _params(self, want: Want, action: str) -> dict[str, Any] | None:
        if action == "bid":
            points = self.random.choice((0, 0, self.random.randint(0, want.params["most"])))
            return {"points": points} if points != want.params["points"] else None
        if action == "dice":
            return {"dice": self._throw()}
        if action == "flower":
            free = [face for face in FLOWERS if face not in want.params["taken"]]
            return {"tile": self.random.choice(free)} if len(free) > 2 else None
        if action == "unflower":
            by_gold = {passed.tile for passed in self.state.play.passed if passed.to}
            mine = [face for face in want.params["mine"] if face not in by_gold]
            return {"tile": self.random.choice(mine)} if mine else None
        if action == "tail_shift":
            return {"by": 1} if want.params["count"] < 20 else None
        if action == "face" and want.verb == "flip":
            return {"tile": self.state.play.wall[want.params["position"]]}
        if action == "face":
            taken = {face for flowers in self.state.play.flowers.values() for face in flowers}
            return {"tile": self.random.choice([face for face in self.book.faces() if face not in taken])}
        if action == "swap":
            return {"right": want.params["rights"][0]}
        return {}

    def _hands(self, want: Want) -> None:
        """Readers see what people do: take, replace flowers, flip."""
        seat, play = want.seat, self.state.play
        held = list(play.hands.get(seat, ()))
        if want.verb == "flip":
            position = want.params["position"]
            self.feed(i.TileFlipped(position, play.wall[position]))
            return
        drawn = tuple(play.wall[position] for position in want.params["positions"])
        if want.verb == "flowers":
            laid = play.flowers[seat]
            out = tuple(face for face in held if is_flower(face))
            self.feed(i.ZoneSeen(seat, "flowers", laid + out))
            held = [face for face in held if not is_flower(face)]
        self.feed(i.ZoneSeen(seat, "hand", (*held, *drawn)))


def refused(walker: Walker, happened: i.Input) -> Refused:
    """The refusal of an input, which must change nothing."""
    before = walker.state
    try:
        decide(walker.state, happened)
    except Refused as refusal:
        assert walker.state is before
        return refusal
    raise AssertionError(f"{happened} was not refused")
