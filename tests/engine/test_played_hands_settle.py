"""Whole hands, played by people with a little skill, settle as the second reckoner and as declared hands do."""

from __future__ import annotations

import random
from typing import Any

import pytest

from engine import declarations as d
from engine import play
from engine.declared import declare, new_sheet, settle_declared
from engine.opening import gold_of
from engine.outcome import HandEnd
from engine.ruleset import Ruleset, load_ruleset
from engine.settlement import settle_outcome
from engine.shanten import shanten
from engine.tiles import SEATS, is_flower
from simulators import reckoner
from tests.engine.random_hands import ALL_RULES, as_question, some_chips, some_options

HANDS = 6


def shuffled(chance: random.Random, rules: Ruleset) -> play.Deal:
    """A random deal after 补花 and 开金: flowers that came lie before the seats."""
    tiles = list(rules.faces().elements())
    chance.shuffle(tiles)
    hands: dict[str, tuple[str, ...]] = {}
    flowers: dict[str, tuple[str, ...]] = {}
    for seat in SEATS:
        own: list[str] = []
        laid: list[str] = []
        while len(own) < rules.hand + (seat == "E"):
            tile = tiles.pop()
            (laid if is_flower(tile) else own).append(tile)
        hands[seat], flowers[seat] = tuple(own), tuple(laid)
    turned = next(index for index in range(len(tiles) - 1, -1, -1) if not is_flower(tiles[index]))
    flipped = tiles.pop(turned)
    return play.Deal(rules, "E", gold_of(rules, flipped), flipped, hands, flowers, tuple(tiles))


def played(chance: random.Random, rules: Ruleset) -> HandEnd:
    """A hand played to its end by people who take wins and keep what is nearest to one."""
    state = play.begin(shuffled(chance, rules))
    for _ in range(2_000):
        if state.outcome is not None:
            return play.hand_end(state)
        asked = play.asked(state)
        seat = chance.choice(sorted(asked)) if asked else ""
        events = play.decide(state, seat, chosen(chance, state, seat)) if seat else play.decide_clock(state)
        for event in events:
            state = play.apply(state, event)
    raise AssertionError("the hand does not end")


def chosen(chance: random.Random, state: play.PlayState, seat: str) -> play.Action:
    """Mostly the sensible thing."""
    actions = play.options(state, seat)
    wins = [action for action in actions if action.name in ("hu", "tour_discard")]
    if wins and chance.random() < 0.9:
        return chance.choice(wins)
    claims = [action for action in actions if action.name in ("pong", "chi") or action.name.startswith("kong")]
    if claims and chance.random() < 0.4:
        return chance.choice(claims)
    passes = [action for action in actions if action.name == "pass"]
    if passes:
        return passes[0]
    discards = [action for action in actions if action.name in ("discard", "discard_down")]
    concealed = list(play.held(state)[seat].concealed)
    return min(discards or actions, key=lambda action: _distance(state, concealed, action.tile))


def _distance(state: play.PlayState, concealed: list[str], tile: str) -> int:
    rest = list(concealed)
    if tile in rest:
        rest.remove(tile)
    return 10 * shanten(state.deal.rules, state.deal.gold, rest) + (tile == state.deal.gold)


def declared(rules: Ruleset, end: HandEnd) -> Any:
    """The same hand as people would enter it, every tile of every seat."""
    sheet = new_sheet(rules, end.dealer, end.gold, end.steps)
    said: list[Any] = [d.FlowersHeld(seat, end.held[seat].flowers) for seat in SEATS]
    said += [d.MeldsLaid(seat, end.held[seat].melds) for seat in SEATS]
    said += [d.HandShown(seat, end.held[seat].concealed) for seat in SEATS]
    said += [d.SeatCovered(seat) for seat in end.outcome.covered] + [d.PaysAll(end.outcome.pays_all)]
    if rules.dealer_followed:
        said.append(d.DealerFollowed(end.outcome.no_flowers, end.outcome.followed))
    said.append(d.HandWon(end.outcome.winners) if end.outcome.winners else d.HandDrawn(end.outcome.last_drawer))
    for one in said:
        sheet = declare(sheet, one)
    return settle_declared(sheet)


@pytest.mark.parametrize("name", ALL_RULES)
def test_played_hands(name: str) -> None:
    chance = random.Random(f"played {name}")
    won = 0
    for _ in range(HANDS):
        options = some_options(chance, name)
        rules = load_ruleset(name, options)
        end = played(chance, rules)
        won += bool(end.outcome.winners)
        chips = some_chips(chance)
        settled = settle_outcome(rules, end, chips)
        want = reckoner.settle(name, options, as_question(name, options, end) | {"chips": chips})
        assert {"net": settled.net, "bonus": settled.bonus, "next": settled.plain()["next"]} == want
        assert declared(rules, end).transfers == settle_outcome(rules, end).transfers, end
    assert won
