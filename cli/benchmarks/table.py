"""Whole hands at a table that reads its tiles, by the engine alone: opened, refereed, settled, the next one begun."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from statistics import median
from typing import Final

from cli.benchmarks.people import People, Player, by_brain, by_chance
from cli.benchmarks.play import refereed
from cli.benchmarks.rows import Row, in_turn, seconds_of
from engine.play import Action, Deal, PlayState
from engine.state import State

RULES: Final = "new-xiamen-120"
HANDS: Final = 8
_ROUNDS: Final = 3


def table() -> list[Row]:
    """Hands a second through the table's state machine, by players of chance and by the simulated players."""
    return [_by_chance(), _by_simulated()]


def _by_chance() -> Row:
    """Beside the same deals through the referee of play alone, without a table around it."""
    people, deals = _evening(by_chance)

    def alone() -> None:
        for number, deal in enumerate(deals):
            refereed(deal, by_chance, random.Random(number))

    times = in_turn(lambda: _evening(by_chance), alone, _ROUNDS)
    return Row(
        "table", f"whole hands at a table, tiles read ({RULES})", "a second", HANDS / times.ours, unit="/s",
        detail=f"played by chance; {people.inputs / HANDS:.0f} inputs a hand, "
        f"{times.ours / people.inputs * 1e6:.0f} µs each; play alone refereed {HANDS / times.theirs:.0f} a second",
    )  # fmt: skip


def _by_simulated() -> Row:
    thinking = _Timed(by_brain)
    seconds = []
    for _ in range(_ROUNDS + 1):
        thinking.seconds = 0.0
        seconds.append(seconds_of(lambda: _evening(thinking)))
    people, _ = _evening(thinking)
    ends = Counter(booking.kind for booking in people.state.session.book)
    ended = ", ".join(f"{many} by {kind}" for kind, many in sorted(ends.items()))
    each = median(seconds[1:])
    return Row(
        "table", "the same with simulated players", "a second", HANDS / each, unit="/s",
        detail=f"{people.inputs / HANDS:.0f} inputs and {people.chosen / HANDS:.0f} decisions a hand, "
        f"{thinking.seconds / people.chosen * 1e6:.0f} µs a decision; ended {ended}",
    )  # fmt: skip


class _Timed:
    """A player who takes the time of his decisions."""

    def __init__(self, player: Player) -> None:
        self.seconds = 0.0
        self._player = player

    def __call__(self, state: PlayState, seat: str, found: tuple[Action, ...], chance: random.Random) -> Action:
        began = time.perf_counter()
        try:
            return self._player(state, seat, found, chance)
        finally:
            self.seconds += time.perf_counter() - began


def _evening(player: Player) -> tuple[People, list[Deal]]:
    """A match of some hands, and what was dealt."""
    people = People(RULES, hands=HANDS, seed=7, player=player)
    deals: list[Deal] = []
    for hand in range(1, HANDS + 1):
        people.play(_in_play(hand))
        game = people.state.play.game
        assert game is not None
        deals.append(game.deal)
    people.play(lambda state: state.phase == "ended")
    return people, deals


def _in_play(hand: int) -> Callable[[State], bool]:
    return lambda state: state.hand == hand and state.play.game is not None
