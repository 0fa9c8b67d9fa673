"""The opening of hands by the engine alone: a faultless machine and quick people, no wires, no clock, no disk."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, Final

from cli.benchmarks.rows import Row
from engine import inputs as i
from engine.ruleset import load_ruleset
from engine.state import State, new_state
from engine.table import apply, decide, wants
from engine.tiles import SEATS, is_flower
from engine.wants import Want

RULES: Final = "classic-xiamen-144"
HANDS: Final = 60
_MOST_INPUTS: Final = 2_000
"""More than any hand takes: about 40 are usual where tiles are read."""
_MOVED: Final = frozenset({"take", "flowers", "flip"})
"""What the readers see when people do it; it may be said by hand as well, for when they do not."""


def opening() -> list[Row]:
    """Hands opened a second where tiles are read: the engine decides, applies and says what is wanted."""
    people = People(RULES, hands=HANDS + 1, seed=7)
    people.play(lambda state: state.hand > 1)
    began, before = time.perf_counter(), people.inputs
    people.play(lambda state: state.phase == "ended")
    seconds = time.perf_counter() - began
    each = seconds / (people.inputs - before)
    return [
        Row(
            "opening", f"hands opened by the engine ({RULES}, tiles read)", "a second", HANDS / seconds, unit="/s",
            detail=f"{(people.inputs - before) / HANDS:.0f} inputs a hand, {each * 1e6:.0f} µs each",
        )
    ]  # fmt: skip


def at_gold_roll() -> State:
    """The state after the flower rounds of some hand: hands taken, dice thrown, tail known."""
    people = People("new-xiamen-120", hands=1, seed=7)
    people.play(lambda state: state.phase == "gold_roll")
    return people.state


class People:
    """Four people and a machine that do at once what is wanted; the same seed gives the same hands."""

    def __init__(self, rules: str, hands: int, seed: int) -> None:
        self.state = new_state()
        self.inputs = 0
        self._random = random.Random(seed)
        self._book = load_ruleset(rules)
        self._walls: dict[int, list[str]] = {}
        self._feed(i.StartMatch(rules=rules, sensing="full", dice="read", sets=("sorted", "felt"), hands=hands))

    def play(self, until: Callable[[State], bool]) -> None:
        """Meet one want after the other until a state is reached."""
        while not until(self.state):
            if self.inputs > _MOST_INPUTS * (self.state.hand + 1):
                raise RuntimeError(f"the hands do not come to an end: phase {self.state.phase}")
            self._meet(wants(self.state)[0])

    def _feed(self, happened: i.Input) -> None:
        self.inputs += 1
        for event in decide(self.state, happened):
            self.state = apply(self.state, event)

    def _meet(self, want: Want) -> None:
        wanted = str(want.id)
        if want.kind == "operation":
            self._feed(i.OperationDone(wanted, self._result(want)))
        elif want.kind == "timer":
            self._feed(i.TimerElapsed(wanted))
        elif not want.actions or want.verb in _MOVED:
            self._move_tiles(want)
        else:
            action = "pass" if "pass" in want.actions else want.actions[0]
            self._feed(i.SeatAction(want.seat, wanted, action, {}))

    def _result(self, want: Want) -> dict[str, Any]:
        side = self._book.stacks * 2
        match want.verb:
            case "sort":
                return {"tiles": dict.fromkeys(SEATS, side)}
            case "read_wall":
                first = SEATS.index(want.params["side"]) * side
                return {"tiles": self._wall()[first : first + side], "confidence": 99}
            case "dice_roll":
                dice = [self._random.randint(1, 6), self._random.randint(1, 6)]
                return {"dice": dice, "quality": "clean", "spin_ms": 3_000}
        return {}

    def _wall(self) -> list[str]:
        """The faces of this hand's wall, side by side from E."""
        hand = self.state.hand
        if hand not in self._walls:
            tiles = [face for face, copies in self._book.faces().items() for _ in range(copies)]
            self._random.shuffle(tiles)
            self._walls = {hand: tiles}
        return self._walls[hand]

    def _move_tiles(self, want: Want) -> None:
        """Somebody takes tiles, lays flowers out or turns the gold; the readers see it."""
        seat, play = want.seat, self.state.play
        if want.verb == "flip":
            position = want.params["position"]
            self._feed(i.TileFlipped(position, play.wall[position]))
            return
        held = play.seen.get((seat, "hand"), ())
        drawn = tuple(play.wall[position] for position in want.params["positions"])
        if want.verb == "flowers":
            laid = play.seen.get((seat, "flowers"), ())
            self._feed(i.ZoneSeen(seat, "flowers", laid + tuple(filter(is_flower, held))))
            held = tuple(face for face in held if not is_flower(face))
        self._feed(i.ZoneSeen(seat, "hand", held + drawn))
