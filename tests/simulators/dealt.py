"""A world in which a hand is dealt by the rule book up to the gold that lies open, and people who play it at random."""

from __future__ import annotations

import random
from typing import Any

from engine.opening import Lines, gold_path, lines, next_tiles, taking, wall_positions
from engine.play import Action
from engine.ruleset import PROFILES, Ruleset, load_ruleset
from engine.tiles import SEATS, is_flower
from simulators.acts import perform
from simulators.script import ScriptedHand
from simulators.world import World
from tests.engine.play.hands_at_play import choose, rich_deal

DEAL, DOOR = (5, 1), (2, 3)
LAYOUTS = ("zhitui", "bagua")
GAMES = [
    (rules, layout) for rules in PROFILES for layout in LAYOUTS if layout == "zhitui" or load_ruleset(rules).row > 0
]


class Table:
    """A hand with the gold opened by a throw of `dots`; `lines` are the wall's two ends, `gold` its position.

    `rich`: two seats are dealt golds and nearly nothing but sets, as this seed will have it.
    """

    def __init__(
        self,
        rules: str,
        layout: str = "zhitui",
        seed: int = 7,
        dealer: str = "E",
        dots: int = 7,
        rich: bool = False,
        **world: Any,
    ) -> None:
        self.rules: Ruleset = load_ruleset(rules)
        self.layout, self.dealer = layout, dealer
        self.lines: Lines = lines(self.rules, layout, dealer, DEAL, DOOR if layout == "bagua" else None)
        script = (self._rich_hand(seed, dots),) if rich else ()
        self.world = World(faces=self.rules.faces(), seed=seed, script=script, **world)
        self._raise_walls()
        self._deal()
        self.gold = self._open_gold(dots)

    @property
    def begin(self) -> dict[str, Any]:
        """What the dealer says once the gold lies open."""
        return {
            "rules": self.rules.name,
            "options": {},
            "layout": self.layout,
            "dealer": self.dealer,
            "deal": list(DEAL),
            "door": list(DOOR) if self.layout == "bagua" else None,
            "gold": self.gold,
        }

    def act(self, act: str, seat: str, **arguments: Any) -> dict[str, Any]:
        """One act of a person."""
        return perform(self.world, act, {"seat": seat, **arguments})

    def gone(self) -> set[str]:
        """The positions at which no tile stands any more, the gold's among them."""
        standing = {position for side in SEATS for position in self.world.standing(side)}
        return (set(self.lines.head) - standing) | {self.gold}

    def _rich_hand(self, seed: int, dots: int) -> ScriptedHand:
        chance = random.Random(f"rich/{seed}")
        deal = rich_deal(self.rules, chance)
        hands = {seat: list(deal.hands[seat]) for seat in SEATS}
        rest = [*deal.wall, *(tile for seat in SEATS for tile in deal.flowers[seat])]
        if len(hands[self.dealer]) == self.rules.hand:
            rest.append(hands[deal.dealer].pop())
            hands[self.dealer].append(rest.pop(next(at for at, tile in enumerate(rest) if not is_flower(tile))))
        chance.shuffle(rest)
        takes = [*taking(self.rules, self.layout, self.dealer, DEAL).takes, (self.dealer, (self.lines.extra,))]
        faces = {position: hands[seat].pop() for seat, positions in takes for position in positions}
        faces[gold_path(self.lines, faces, dots)[-1]] = deal.flipped
        every = wall_positions(self.rules, self.layout)
        return ScriptedHand(tuple(faces[place] if place in faces else rest.pop() for place in every), ())

    def _raise_walls(self) -> None:
        world = self.world
        world.sort(1, (self.rules.stacks,) * 4)
        world.move_centre("up")
        for seat in SEATS:
            world.push_in(seat)
        world.move_centre("down")
        world.raise_walls(1)
        if self.layout == "bagua":
            for side in SEATS:
                world.lay_row(side)

    def _deal(self) -> None:
        world = self.world
        for seat, positions in taking(self.rules, self.layout, self.dealer, DEAL).takes:
            world.take(seat, positions)
        world.take(self.dealer, [self.lines.extra])
        world.begin_flowers(self.dealer)
        while (turn := world.flower_turn()) is not None and not turn.done:
            count = len(world.lay_flowers(turn.seat))
            gone = set(self.lines.head) - {p for side in SEATS for p in world.standing(side)}
            world.take(turn.seat, next_tiles(self.lines.tail, gone, count))

    def _open_gold(self, sum_: int) -> str:
        world = self.world
        gone = set(self.lines.head) - {p for side in SEATS for p in world.standing(side)}
        position = gold_path(self.lines, gone, sum_)[-1]
        while is_flower(world.flip(position)):
            after = gold_path(self.lines, gone, 1, after=position)[0]
            if self.rules.flower_gold == "dealer_then_next":
                world.give_flower(position, self.dealer)
            elif self.rules.flower_gold == "return_reroll":
                world.turn_back(position)
            position = after
        return position


def plain(action: Action) -> dict[str, Any]:
    """An action as it travels."""
    told = {name: getattr(action, name) for name in ("name", "tile", "way", "kind", "reason")}
    return {**{name: value for name, value in told.items() if value}, "tiles": list(action.tiles)}


def play_out(table: Table, seed: int, steps: int = 1500) -> int:
    """Everybody who is asked does something legal, drawn by seed, until the hand is over; how many actions."""
    chance = random.Random(seed)
    hand = table.world.round
    assert hand is not None
    for step in range(steps):
        if hand.state.outcome is not None:
            return step
        seat = chance.choice(hand.state.asked)
        table.act("play", seat, action=plain(choose(hand.state, seat, chance)))
    raise AssertionError(f"no end after {steps} actions")
