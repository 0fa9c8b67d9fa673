"""What a player knows of the wall from the rolls: whose take is next, where the tail is, who throws for the gold."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from functools import cache

from engine.opening import Lines, Taking, lines, side_positions, taking
from engine.ruleset import Ruleset, RulesetError, load_ruleset
from protocol.mqtt.views import SeatView
from simulators.sight import Sight


def roll_of(view: SeatView, purpose: str) -> tuple[int, int] | None:
    """The newest roll for a purpose."""
    return next((roll.values for roll in reversed(view.rolls) if roll.purpose == purpose), None)


def gold_thrower(view: SeatView) -> str | None:
    """Who throws, or has thrown, for the gold."""
    if view.dice is not None and view.dice.purpose == "gold" and view.dice.by:
        return view.dice.by
    return view.gold.by if view.gold is not None and view.gold.by else view.dealer


def dealt_by_table(sight: Sight, positions: Sequence[str]) -> bool:
    """Where the table deals it pushes out whole stacks of one side; everything else is taken by hand."""
    stacks = Counter(position[:-1] for position in positions)
    one_side = len({position[0] for position in positions}) == 1
    stacked = all(position[-1] in "tb" for position in positions)
    return sight.deals and one_side and stacked and set(stacks.values()) == {2}


def next_take(view: SeatView, sight: Sight) -> tuple[str, tuple[str, ...]] | None:
    """The first take of the deal that is not done yet, the dealer's last tile included; None when all are."""
    deal = roll_of(view, "deal")
    if deal is None or view.layout is None or view.dealer is None:
        return None
    known = _taking(view.rules, view.layout, view.dealer, deal)
    if known is None:
        return None
    for seat, positions in known.takes:
        standing = tuple(position for position in positions if sight.stands(position))
        if standing:
            return seat, standing
    wall = _lines(view.rules, view.layout, view.dealer, deal, roll_of(view, "door"))
    if wall is not None and sight.stands(wall.extra):
        return view.dealer, (wall.extra,)
    return None


def _tail_order(view: SeatView) -> tuple[str, ...]:
    """The tail's order; which tile of a stack comes first is taken from the display, since a house may differ."""
    deal = roll_of(view, "deal")
    if deal is None or view.layout is None or view.dealer is None:
        return ()
    wall = _lines(view.rules, view.layout, view.dealer, deal, roll_of(view, "door"))
    if wall is None:
        return ()
    shown = view.tail.next if view.tail is not None else ()
    for first, second in itertools.pairwise(shown):
        if first[:-1] == second[:-1] and first[-1] in "tb" and first[-1] != second[-1]:
            return _stacks_begin_with(wall.tail, first[-1])
    return wall.tail


def _stacks_begin_with(tail: tuple[str, ...], tier: str) -> tuple[str, ...]:
    turned = list(tail)
    for at in range(len(turned) - 1):
        if turned[at][:-1] == turned[at + 1][:-1] and turned[at][-1] != tier:
            turned[at], turned[at + 1] = turned[at + 1], turned[at]
    return tuple(turned)


def tail_is_off(view: SeatView, sight: Sight) -> int:
    """Level none: 1 or -1 where the display is behind or ahead of the tiles gone from the tail, else 0."""
    shown = view.tail.next[0] if view.tail is not None and view.tail.next else None
    end = from_tail(view, sight, 1)
    order = _tail_order(view)
    if not end or shown is None or shown == end[0] or shown not in order:
        return 0
    return 1 if order.index(end[0]) > order.index(shown) else -1


def undrawn(view: SeatView, sight: Sight) -> list[str]:
    """Level full: where a tile stands that the display takes for drawn; what lies open there is the gold."""
    rules = _ruleset(view.rules)
    if rules is None or view.layout is None or view.wall is None:
        return []
    gone = [
        position
        for side, bits in view.wall.items()
        for position, stands in zip(side_positions(rules, view.layout, side), bits, strict=True)
        if stands == "0"
    ]
    return [position for position in gone if sight.stands(position) and position not in sight.flipped]


def from_tail(view: SeatView, sight: Sight, count: int) -> list[str]:
    """The next tiles of the tail that stand."""
    standing = [position for position in _tail_order(view) if sight.stands(position)]
    return standing[:count]


@cache
def _ruleset(name: str) -> Ruleset | None:
    try:
        return load_ruleset(name)
    except RulesetError:
        return None


@cache
def _taking(rules: str, layout: str, dealer: str, deal: tuple[int, int]) -> Taking | None:
    known = _ruleset(rules)
    return None if known is None else taking(known, layout, dealer, deal)


@cache
def _lines(rules: str, layout: str, dealer: str, deal: tuple[int, int], door: tuple[int, int] | None) -> Lines | None:
    known = _ruleset(rules)
    if known is None or (layout == "bagua") != (door is not None):
        return None
    return lines(known, layout, dealer, deal, door)
