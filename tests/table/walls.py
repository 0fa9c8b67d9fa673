"""Walls laid so that the hand is known: hands, draws, the tail and the gold chosen, the rest as chance has it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

from engine.dice import Dice
from engine.opening import Lines, lines, taking, wall_positions
from engine.ruleset import Ruleset, load_ruleset
from engine.tiles import format_tiles, parse_tiles


def wall_for(
    rules: str,
    deal: Dice,
    hands: Mapping[str, str],
    gold: str,
    gold_roll: Dice,
    draws: str = "",
    tail: str = "",
    seed: int = 1,
) -> dict[str, Any]:
    """A hand of the simulator's script in 直推 with dealer E, who throws [4, 5] for it.

    `hands` are as they are taken, flowers among them, the dealer's last tile at the end; `tail` are the tiles that
    replace flowers, in order; `draws` the first that are drawn in play; `gold` lies where `gold_roll` counts to once as
    many tiles as `tail` has are gone.
    """
    profile = load_ruleset(rules)
    ends = lines(profile, "zhitui", "E", deal)
    lying: dict[str, str] = {}
    _deal(profile, deal, ends, hands, lying)
    lying.update(zip(ends.tail, parse_tiles(tail), strict=False))
    lying.update(zip(ends.head, parse_tiles(draws), strict=False))
    lying[ends.tail[len(parse_tiles(tail)) + sum(gold_roll) - 1]] = gold
    rest = Counter(profile.faces()) - Counter(lying.values())
    assert rest + Counter(lying.values()) == Counter(profile.faces()), "some tile was laid more often than there are"
    places = [position for position in ends.head if position not in lying]
    middle = len(places) // 2
    lying.update(zip(places[middle:] + places[:middle], _flowers_first(rest, seed), strict=True))
    wall = [lying[position] for position in wall_positions(profile, "zhitui")]
    return {"wall": "".join(wall), "dice": [[4, 5], list(deal), list(gold_roll)]}


def _deal(profile: Ruleset, deal: Dice, ends: Lines, hands: Mapping[str, str], lying: dict[str, str]) -> None:
    left = {seat: list(parse_tiles(hand)) for seat, hand in hands.items()}
    for seat, positions in taking(profile, "zhitui", "E", deal).takes:
        for position in positions:
            lying[position] = left[seat].pop(0)
    lying[ends.extra] = left["E"].pop(0)
    assert not any(left.values()), {seat: format_tiles(tiles) for seat, tiles in left.items()}


def _flowers_first(rest: Counter[str], seed: int) -> list[str]:
    """What is left of the set, by chance, its flowers first: in the middle of the wall they come to nobody for long."""
    others = sorted(rest.elements())
    random.Random(seed).shuffle(others)
    return sorted(others, key=lambda face: face[1] != "f")
