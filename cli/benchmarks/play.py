"""Whole hands refereed, beside a bare loop that draws, checks for a win and discards: the same deals, in turn."""

from __future__ import annotations

import random
from typing import Final

from cli.benchmarks.people import Player, by_chance
from cli.benchmarks.rows import Goal, Row, in_turn
from engine.hands import complete
from engine.opening import gold_of
from engine.play import Action, Deal, PlayState, begin, options, step
from engine.ruleset import Ruleset, copies, load_ruleset
from engine.shanten import shanten
from engine.tiles import SEATS, is_flower, next_seat, play_order

RULES: Final = "new-xiamen-120"
HANDS: Final = 30
SKILLED_HANDS: Final = 8
_ROUNDS: Final = 5


def play() -> list[Row]:
    """Hands refereed a second: players who do anything that is legal, and players who come nearer to waiting."""
    rules = load_ruleset(RULES)
    rows = []
    for what, player, many, goal in (
        ("random hands refereed", by_chance, HANDS, 1 / 4),
        ("the same by players with skill", by_shanten, SKILLED_HANDS, 1 / 20),
    ):
        deals = [some_deal(rules, random.Random(number)) for number in range(many)]
        actions = [0]

        def ours(deals: list[Deal] = deals, player: Player = player, actions: list[int] = actions) -> None:
            actions[0] = sum(refereed(deal, player, random.Random(number)) for number, deal in enumerate(deals))

        def theirs(deals: list[Deal] = deals) -> None:
            for number, deal in enumerate(deals):
                bare(deal, random.Random(number))

        times = in_turn(ours, theirs, _ROUNDS)
        rows.append(
            Row(
                "play", f"{what}, in hands of the bare loop", "draws, win checks of all four, discards by chance",
                1 / times.ratio, Goal("at least", goal),
                detail=f"{many / times.ours:.0f} against {many / times.theirs:.0f} a second; "
                f"{actions[0] / many:.0f} actions a hand, {times.ours / actions[0] * 1e6:.1f} µs each",
            )
        )  # fmt: skip
    return rows


def refereed(deal: Deal, player: Player, chance: random.Random) -> int:
    """One hand from the deal to its end; how many actions it took."""
    state = begin(deal)
    actions = 0
    while state.asked:
        seat = state.asked[0]
        state = step(state, seat, player(state, seat, options(state, seat), chance))
        actions += 1
    return actions


def bare(deal: Deal, chance: random.Random) -> None:
    """The least that a hand can be: a tile drawn, a tile thrown, each looked at for a win, to the wall's end."""
    rules, gold = deal.rules, deal.gold
    tiles = {seat: list(deal.hands[seat]) for seat in SEATS}
    seat = deal.dealer
    for drawn in ("", *deal.wall[: len(deal.wall) - rules.reserve]):
        own = tiles[seat]
        if drawn and is_flower(drawn):
            continue
        if drawn:
            own.append(drawn)
        if complete(rules, gold, own):
            return
        thrown = own.pop(chance.randrange(len(own)))
        for other in play_order(seat)[1:]:
            if complete(rules, gold, [*tiles[other], thrown]):
                return
        seat = next_seat(seat)


def by_shanten(state: PlayState, seat: str, found: tuple[Action, ...], chance: random.Random) -> Action:
    """Wins, and else whatever brings the hand nearest to waiting; claims only what brings it nearer."""
    first = found[0]
    if len(found) == 1 or first.name in ("hu", "tour_discard"):
        return first
    hand = state.seats[seat].hand
    if found[-1].name == "pass":
        return _claim(state, hand, found)
    return min(found, key=lambda action: (_far(state, _less(hand, action)), chance.random()))


def _claim(state: PlayState, hand: tuple[str, ...], found: tuple[Action, ...]) -> Action:
    now = _far(state, hand)
    for action in found[:-1]:
        if action.name in ("pong", "chi") and _after_claim(state, hand, action) < now:
            return action
    return found[-1]


def _after_claim(state: PlayState, hand: tuple[str, ...], action: Action) -> int:
    rest = list(hand)
    for tile in action.tiles or (state.tile,) * 2:
        rest.remove(tile)
    return _far(state, tuple(rest))


def _less(hand: tuple[str, ...], action: Action) -> tuple[str, ...]:
    """What an action of one's own turn leaves."""
    gone = 4 if action.name == "kong_concealed" else 1
    rest = list(hand)
    for _ in range(gone):
        rest.remove(action.tile)
    return tuple(rest)


def _far(state: PlayState, hand: tuple[str, ...]) -> int:
    return shanten(state.deal.rules, state.deal.gold, hand)


def some_deal(rules: Ruleset, chance: random.Random) -> Deal:
    """A shuffled set, dealt, the flowers replaced from the tail, the gold turned; nobody wins before play."""
    wall = list(copies(rules).elements())
    chance.shuffle(wall)
    dealer = chance.choice(SEATS)
    hands: dict[str, list[str]] = {}
    flowers: dict[str, list[str]] = {}
    for seat in play_order(dealer):
        count = rules.hand + (seat == dealer)
        hands[seat], wall = wall[:count], wall[count:]
    for seat in play_order(dealer):
        flowers[seat] = []
        while found := [tile for tile in hands[seat] if is_flower(tile)]:
            flowers[seat] += found
            hands[seat] = [tile for tile in hands[seat] if not is_flower(tile)] + [wall.pop() for _ in found]
    place = next(place for place in range(len(wall) - 1, -1, -1) if not is_flower(wall[place]))
    flipped = wall.pop(place)
    return Deal(
        rules, dealer, gold_of(rules, flipped), flipped,
        {seat: tuple(hands[seat]) for seat in SEATS}, {seat: tuple(flowers[seat]) for seat in SEATS},
        tuple(wall), opening=("", ""),
    )  # fmt: skip
