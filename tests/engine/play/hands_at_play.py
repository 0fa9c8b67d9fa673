"""Builders for tests of play: random deals, and deals written out by hand with as few words as possible."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.chain import Refused
from engine.hands import youjin_discards
from engine.opening import gold_of
from engine.play import Action, Deal, PlayEvent, PlayState, apply, asked, begin, decide, options
from engine.ruleset import Ruleset, copies, load_ruleset
from engine.tiles import SEATS, is_flower, parse_tiles, play_order

TAKES = ("tour_discard", "hu", "discard_down", "kong_open", "pong", "kong_concealed", "kong_added", "chi")


def tiles(text: str) -> tuple[str, ...]:
    return tuple(parse_tiles(text))


def random_deal(rules: Ruleset, chance: random.Random) -> Deal:
    """A shuffled set, dealt, flowers replaced, the gold opened: any deal that these rules know."""
    pile = list(copies(rules).elements())
    chance.shuffle(pile)
    dealer = chance.choice(SEATS)
    hands: dict[str, list[str]] = {}
    flowers: dict[str, list[str]] = {seat: [] for seat in SEATS}
    for seat in play_order(dealer):
        count = rules.hand + (seat == dealer)
        hands[seat], pile = pile[:count], pile[count:]
    while any(is_flower(tile) for hand in hands.values() for tile in hand):
        for seat in play_order(dealer):
            found = [tile for tile in hands[seat] if is_flower(tile)]
            flowers[seat] += found
            hands[seat] = [tile for tile in hands[seat] if not is_flower(tile)] + [pile.pop() for _ in found]
    flips = 0
    while is_flower(pile[-2]):
        flowers[dealer].append(pile.pop(-2))
        flips += 1
    flipped = pile.pop(-2)
    pairs = [place for pair in range(len(pile) - 2, -1, -2) for place in (pair, pair + 1)]
    order = (*pairs, 0) if len(pile) % 2 else tuple(pairs)
    return Deal(
        rules=rules,
        dealer=dealer,
        gold=gold_of(rules, flipped),
        flipped=flipped,
        hands={seat: tuple(hands[seat]) for seat in SEATS},
        flowers={seat: tuple(flowers[seat]) for seat in SEATS},
        wall=tuple(pile),
        tail_order=order,
        flips=flips,
    )


def rich_deal(rules: Ruleset, chance: random.Random) -> Deal:
    """A random deal in which two seats hold golds and nearly nothing but sets: hands that tour, kong and win."""
    deal = random_deal(rules, chance)
    pool = Counter(tile for hand in deal.hands.values() for tile in hand) + Counter(deal.wall)
    hands: dict[str, list[str]] = {seat: [] for seat in SEATS}
    for seat in chance.sample(SEATS, 2):
        golds = min(chance.choice((1, 1, 2, 3)), pool[deal.gold or ""])
        hands[seat] = [deal.gold or ""] * golds
        pool[deal.gold or ""] -= golds
        while len(hands[seat]) <= rules.hand - 4 and chance.random() < 0.97:
            hands[seat] += _some_set(pool, deal.gold, chance)
    rest = list(pool.elements())
    chance.shuffle(rest)
    flowers = [tile for tile in rest if is_flower(tile)]
    rest = [tile for tile in rest if not is_flower(tile)]
    for seat in SEATS:
        while len(hands[seat]) < len(deal.hands[seat]):
            hands[seat].append(rest.pop())
    wall = rest + flowers
    chance.shuffle(wall)
    opening = ("", "") if chance.random() < 0.7 else None
    return replace(deal, hands={seat: tuple(hands[seat]) for seat in SEATS}, wall=tuple(wall), opening=opening)


def _some_set(pool: Counter[str], gold: str | None, chance: random.Random) -> list[str]:
    """A run or a triplet taken from the pool; nothing when chance picks one that is not there."""
    face = chance.choice([face for face in pool if not is_flower(face)])
    if face[1] != "z" and face[0] < "8" and chance.random() < 0.6:
        found = [f"{int(face[0]) + step}{face[1]}" for step in range(3)]
    else:
        found = [face] * 3
    wanted = Counter(found)
    if gold in wanted or any(pool[tile] < count for tile, count in wanted.items()):
        return []
    pool.subtract(wanted)
    return found


def choose(state: PlayState, seat: str, chance: random.Random) -> Action:
    """A random legal action that likes to win, to tour and to meld, so that hands come to something."""
    found = options(state, seat)
    assert found, (state.phase, seat)
    for name in TAKES:
        of_it = [action for action in found if action.name == name]
        if of_it and chance.random() < (0.5 if name == "chi" else 0.8):
            return chance.choice(of_it)
    plain = [action for action in found if action.name not in TAKES]
    if len(plain) > 1 and plain[0].name == "discard":
        ready = youjin_discards(state.deal.rules, state.deal.gold, state.seats[seat].hand)
        to_ready = [action for action in plain if action.tile in ready]
        if to_ready and chance.random() < 0.8:
            return chance.choice(to_ready)
        return min(chance.sample(plain, min(4, len(plain))), key=lambda action: _use(state, seat, action.tile))
    return chance.choice(plain or list(found))


def _use(state: PlayState, seat: str, tile: str) -> int:
    """How much a tile is worth keeping: golds most, then neighbours and copies."""
    hand = Counter(state.seats[seat].hand)
    if tile == state.deal.gold:
        return 100
    near = sum(hand[f"{int(tile[0]) + step}{tile[1]}"] for step in (-2, -1, 1, 2)) if tile[1] != "z" else 0
    return 3 * hand[tile] + near


def play_out(deal: Deal, chance: random.Random, moves: int = 2000) -> tuple[PlayState, list[PlayEvent]]:
    """A whole hand by four random players; the events after those of its beginning."""
    state = begin(deal)
    events: list[PlayEvent] = []
    for _ in range(moves):
        seats = asked(state)
        if not seats:
            break
        seat = chance.choice(seats)
        for event in decide(state, seat, choose(state, seat, chance)):
            state = apply(state, event)
            events.append(event)
    assert state.outcome is not None, "the hand does not end"
    return state, events


def deal_of(
    name: str,
    hands: Mapping[str, str],
    *,
    draws: str = "",
    tail: str = "",
    left: int | None = None,
    dealer: str = "E",
    gold: str = "9s",
    flowers: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    opening: tuple[str, str] | None = ("", ""),
    flips: int = 0,
) -> Deal:
    """A deal with some hands written out, in parts (`123m 55z`); seats left out get tiles that fit nothing in sight.

    `draws` come from the head in this order, `tail` from the tail; `left` tiles are in the wall, all by default.
    The flipped tile is the gold itself, or the tile before it where the gold is a successor.
    """
    rules = load_ruleset(name, options)
    flipped = next(face for face in copies(rules) if not is_flower(face) and gold_of(rules, face) == gold)
    pool = copies(rules)
    given = {seat: tiles(text.replace(" ", "")) for seat, text in hands.items()}
    laid = {seat: tiles((flowers or {}).get(seat, "")) for seat in SEATS}
    head, end = tiles(draws), tiles(tail)
    for run in (*given.values(), *laid.values(), head, end, (flipped,)):
        for face in run:
            pool[face] -= 1
            assert pool[face] >= 0, f"{face} is written down too often"
    for seat in SEATS:
        short = rules.hand + (seat == dealer) - len(given.get(seat, ()))
        assert short >= 0, f"{seat} has {-short} tiles too many"
        given[seat] = (*given.get(seat, ()), *_dull(pool, short, gold))
    rest = [face for face in sorted(pool.elements(), key=lambda face: (is_flower(face), face)) if face != gold]
    size = len(rest) if left is None else left - len(head) - len(end)
    assert 0 <= size <= len(rest), f"{size} tiles between head and tail"
    wall = (*head, *rest[:size], *reversed(end))
    return Deal(rules, dealer, gold, flipped, given, laid, wall, opening=opening, flips=flips)


def _dull(pool: Counter[str], count: int, gold: str) -> tuple[str, ...]:
    """Tiles far apart from each other, taken from the pool."""
    order = [f"{n}{suit}" for n in (1, 4, 7, 2, 5, 8, 3, 6, 9) for suit in "mps"] + [f"{n}z" for n in range(1, 8)]
    taken: list[str] = []
    while len(taken) < count:
        for face in order:
            if len(taken) < count and pool[face] > 0 and face != gold:
                pool[face] -= 1
                taken.append(face)
    return tuple(taken)


def run(state: PlayState, *said: tuple[str, Action] | Sequence[Any]) -> PlayState:
    """The state after actions of seats, one after the other."""
    for seat, action in said:
        for event in decide(state, seat, action):
            state = apply(state, event)
    return state


def said(words: str) -> tuple[str, Action]:
    """A seat and its action in words: `E discard 1m`, `S chi 23m`, `W hu pinghu`, `E hu qiangjin 1z`, `N pass`."""
    seat, name, *rest = words.split()
    if name == "chi":
        return seat, Action(name, tiles=tiles(rest[0]))
    if name == "hu":
        return seat, Action(name, way=rest[0], tile=rest[1] if len(rest) > 1 else "")
    if name == "expose_false":
        return seat, Action(name, kind=rest[0])
    if name == "cover":
        return seat, Action(name, reason=rest[0])
    return seat, Action(name, tile=rest[0] if rest else "")


def play(state: PlayState, *lines: str) -> PlayState:
    """The state after actions in words; `pass` alone lets everybody asked pass, `turn` is a turn like `turn()`."""
    for line in lines:
        if line == "pass":
            for seat in asked(state):
                state = run(state, (seat, Action("pass")))
        elif line == "turn":
            state = turn(state)
        else:
            state = run(state, said(line))
    return state


def turn(state: PlayState) -> PlayState:
    """The seat whose turn it is discards what it drew, and nobody claims it."""
    return play(state, f"{state.turn} discard {state.drawn}", "pass")


def until(state: PlayState, seat: str) -> PlayState:
    """Turns go by until it is this seat's."""
    while state.turn != seat:
        state = turn(state)
    return state


def names(state: PlayState, seat: str) -> set[str]:
    """The names of what a seat may do."""
    return {action.name for action in options(state, seat)}


def hu_ways(state: PlayState, seat: str) -> set[str]:
    """The ways by which a seat may win now."""
    return {action.way for action in options(state, seat) if action.name == "hu"}


def why_not(state: PlayState, words: str) -> tuple[str, str]:
    """The code and rule by which an action is refused."""
    seat, action = said(words)
    try:
        decide(state, seat, action)
    except Refused as refused:
        return refused.code, refused.rule
    raise AssertionError(f"{words} is not refused")


def winner(state: PlayState) -> tuple[str, str, str | None, str | None]:
    """Seat, way, tile and source of the only winner."""
    assert state.outcome is not None and state.outcome.kind == "win"
    (win,) = state.outcome.winners
    return win.seat, win.way, win.tile, win.source
