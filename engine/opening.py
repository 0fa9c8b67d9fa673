"""Dealing, door, flowers and gold: where every tile stands and in which order it leaves (R4-R10).

Positions are texts: `S2t` is side S, stack 2 from the owner's right end, top tile; `N8` is place 8 of the
single-layer row of 八卦. Every function is pure and total for checked arguments; dice are `(1-6, 1-6)`.
The table's state machine and `kaijin rules eval` both run these very functions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from engine.dice import Dice, pointed_seat
from engine.ruleset import Ruleset
from engine.tiles import HONOURS, SEATS, is_flower, next_seat, play_order, previous_seat

PUSHED_STACKS = 8
"""八卦: stacks that each side pushes to the front (R5)."""

SUCCESSOR_OF_HONOUR = {"1z": "2z", "2z": "3z", "3z": "4z", "4z": "7z", "7z": "6z", "6z": "5z", "5z": "1z"}
"""R10: 东南西北中发白东 in this book's numbers of honours."""


@dataclass(frozen=True, slots=True)
class Taking:
    """Who takes what, in order: 直推 two stacks a time (13-tile hands end with single tiles), 八卦 one entry a seat."""

    first_seat: str
    takes: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """The wall after the taking: the dealer's last tile, then every other tile in head order and in tail order."""

    extra: str
    head: tuple[str, ...]
    tail: tuple[str, ...]


def side_positions(rules: Ruleset, layout: str, side: str) -> tuple[str, ...]:
    """The positions of one side in the order of the wall's notation (`CASES`: stacks top then bottom, then the row)."""
    if layout == "bagua":
        pushed = tuple(f"{side}{n}{tier}" for n in range(1, PUSHED_STACKS + 1) for tier in "tb")
        return pushed + tuple(f"{side}{n}" for n in range(1, rules.row + 1))
    return tuple(f"{side}{n}{tier}" for n in range(1, rules.stacks + 1) for tier in "tb")


def wall_positions(rules: Ruleset, layout: str) -> tuple[str, ...]:
    """All positions of a layout in the order of the wall's notation: side E, S, W, N."""
    return tuple(position for side in SEATS for position in side_positions(rules, layout, side))


def stand_positions(rules: Ruleset, side: str) -> tuple[str, ...]:
    """The positions of a side as the machine raises it, before 八卦's rows are laid: stacks from the right end."""
    return tuple(f"{side}{n}{tier}" for n in range(1, rules.stacks + 1) for tier in "tb")


def taking(rules: Ruleset, layout: str, dealer: str, deal: Dice) -> Taking:
    """The takes that a deal roll orders (R4 直推, R5 八卦), without the dealer's last tile."""
    pointed = pointed_seat(dealer, deal)
    if layout == "bagua":
        return Taking(pointed, _bagua_takes(pointed))
    ring = _ring(rules, pointed, min(deal))
    order = play_order(dealer)
    takes: list[tuple[str, tuple[str, ...]]] = []
    at = 0
    for _ in range(rules.hand // 4):
        for seat in order:
            takes.append((seat, ring[at : at + 4]))
            at += 4
    for _ in range(rules.hand % 4):
        for seat in order:
            takes.append((seat, ring[at : at + 1]))
            at += 1
    return Taking(dealer, tuple(takes))


def lines(rules: Ruleset, layout: str, dealer: str, deal: Dice, door: Dice | None = None) -> Lines:
    """The dealer's last tile and the wall's two ends (R4; in 八卦 from the door roll of the 头手 player, R6).

    `door` is the second roll of 八卦 and must be None in 直推.
    """
    if layout == "bagua":
        assert door is not None
        thrower = pointed_seat(dealer, deal)
        ring = _row_ring(rules, pointed_seat(thrower, door), sum(door))
        return Lines(extra=ring[0], head=ring[1:], tail=tuple(reversed(ring[1:])))
    ring = _ring(rules, pointed_seat(dealer, deal), min(deal))
    taken = rules.hand * 4
    rest = ring[taken + 1 :]
    return Lines(extra=ring[taken], head=rest, tail=_tail_of_stacks(rules, rest))


def next_tiles(line: Sequence[str], gone: Collection[str], count: int) -> tuple[str, ...]:
    """The next `count` positions of a head or tail line that have not gone yet; fewer where the wall ends."""
    found: list[str] = []
    for position in line:
        if len(found) == count:
            break
        if position not in gone:
            found.append(position)
    return tuple(found)


def gold_path(wall: Lines, gone: Collection[str], count: int, after: str | None = None) -> tuple[str, ...]:
    """R8, R9: the positions counted 1, 2, 3 … from the present tail; the last one is the tile arrived at.

    `after` starts the count at the tile behind that position, headwards (R9's second roll).
    """
    start = 0 if after is None else wall.tail.index(after) + 1
    return next_tiles(wall.tail[start:], gone, count)


def next_to_flip(wall: Lines, gone: Collection[str], position: str) -> str:
    """R8: the tile flipped in place of a flower: the next one away from the tail."""
    return gold_path(wall, gone, 1, after=position)[0]


def gold_of(rules: Ruleset, flipped: str) -> str:
    """The gold's face for a flipped tile: the face itself, or its successor (R10)."""
    if rules.gold == "flipped":
        return flipped
    if flipped in HONOURS:
        return SUCCESSOR_OF_HONOUR[flipped]
    return f"{int(flipped[0]) % 9 + 1}{flipped[1]}"


def white_stands_for(rules: Ruleset, gold: str) -> str | None:
    """R12: the face 白板 stands for, or None where it is a plain tile or the gold itself."""
    if rules.white_mode == "off" or gold == "5z":
        return None
    return gold


def third_in_a_row(rules: Ruleset, history: Sequence[str], face: str) -> bool:
    """R9: whether this face was also the gold of the last two hands and must be opened again."""
    return rules.third_same_gold and len(history) >= 2 and all(past == face for past in history[-2:])


def next_flower_turn(hands: Mapping[str, Collection[str]], dealer: str, at: tuple[int, int]) -> tuple[int, int] | None:
    """R7: the next `(round, place)` at which a seat holds flowers, from `at` on; None when nobody does.

    Places count 0-3 in play order from the dealer. A seat that has had its turn in a round waits for the next one.
    """
    order = play_order(dealer)
    number, place = at
    for later in range(place, 4):
        if any(is_flower(face) for face in hands[order[later]]):
            return (number, later)
    for earlier in range(4):
        if any(is_flower(face) for face in hands[order[earlier]]):
            return (number + 1, earlier)
    return None


def gold_thrower(rules: Ruleset, layout: str, dealer: str, deal: Dice) -> str:
    """R8: who throws for the gold: 直推 the dealer or the owner of the broken side (option), 八卦 the 头手 player."""
    if layout == "bagua" or rules.gold_roller == "break_owner":
        return pointed_seat(dealer, deal)
    return dealer


def _ring(rules: Ruleset, side: str, leave: int) -> tuple[str, ...]:
    """Every tile of the stacked wall clockwise from behind the stacks left standing, each stack top before bottom."""
    places = [(s, n) for s in _clockwise(side) for n in range(1, rules.stacks + 1)]
    places = places[leave:] + places[:leave]
    return tuple(f"{s}{n}{tier}" for s, n in places for tier in "tb")


def _row_ring(rules: Ruleset, side: str, leave: int) -> tuple[str, ...]:
    """Every tile of the four rows clockwise from the door tile on."""
    places = [f"{s}{n}" for s in _clockwise(side) for n in range(1, rules.row + 1)]
    return tuple(places[leave:] + places[:leave])


def _clockwise(side: str) -> tuple[str, ...]:
    return (side, previous_seat(side), next_seat(side, 2), next_seat(side))


def _bagua_takes(first: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    takes = []
    for hand, seat in enumerate(play_order(first)):
        stacks = (2 * hand + 1, 2 * hand + 2)
        positions = tuple(f"{side}{n}{tier}" for side in play_order(seat) for n in stacks for tier in "tb")
        takes.append((seat, positions))
    return tuple(takes)


def _tail_of_stacks(rules: Ruleset, rest: Sequence[str]) -> tuple[str, ...]:
    """R7: the tail runs stack by stack from the end, the top tile of a stack first (option: the bottom first)."""
    stacks: list[list[str]] = []
    for position in rest:
        if stacks and stacks[-1][-1][:-1] == position[:-1]:
            stacks[-1].append(position)
        else:
            stacks.append([position])
    if rules.tail_stack_order == "bottom_first":
        stacks = [stack[::-1] for stack in stacks]
    return tuple(position for stack in reversed(stacks) for position in stack)
