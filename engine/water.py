"""水 of one seat: flowers, golds, triplets, pongs and kongs (R30, R32, R33)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from engine.melds import Meld, counts_as_honour
from engine.ruleset import Ruleset
from engine.ruleset_model import Water
from engine.tiles import FLOWERS, tile_order

FLOWER_SETS: tuple[tuple[str, ...], ...] = (FLOWERS[:4], FLOWERS[4:])
"""春夏秋冬 and 梅兰竹菊."""


def water(
    rules: Ruleset,
    gold: str | None,
    flowers: Collection[str],
    concealed: Sequence[str],
    melds: Sequence[Meld],
    won_by_discard: str | None = None,
) -> list[tuple[str, int]]:
    """What counts and how much, as `(name, 水)` without zeros; nothing under rules without 水.

    `concealed` holds the winning tile; `won_by_discard` is that tile where it came from a discard: a triplet it
    completed is not concealed and counts as a pong. Losers' hands count by the same table.
    """
    if rules.water is None:
        return []
    items = [
        ("flowers", sum(_flowers(rules, rules.water, flowers))),
        ("golds", rules.water.gold * sum(1 for face in concealed if face == gold)),
        *_triplets(rules, rules.water, gold, concealed, won_by_discard),
        *_melds(rules, rules.water, gold, melds),
    ]
    return [(name, value) for name, value in items if value]


def _flowers(rules: Ruleset, table: Water, flowers: Collection[str]) -> Iterator[int]:
    for whole in FLOWER_SETS:
        held = sum(1 for flower in whole if flower in flowers)
        if held == len(whole) and rules.flower_set is not None:
            yield rules.flower_set
        else:
            yield table.flowers[held]


def _triplets(
    rules: Ruleset, table: Water, gold: str | None, concealed: Sequence[str], won_by_discard: str | None
) -> Iterator[tuple[str, int]]:
    """R32: three or more natural copies of a face, whatever else they could be part of."""
    held = Counter(face for face in concealed if face != gold)
    for face in sorted(held, key=tile_order):
        own = held[face] - (face == won_by_discard)
        honour = counts_as_honour(rules, gold, face)
        if own >= 3:
            yield "triplet", table.triplet[honour]
        elif held[face] >= 3:
            yield "pong", table.pong[honour]


def _melds(rules: Ruleset, table: Water, gold: str | None, melds: Sequence[Meld]) -> Iterator[tuple[str, int]]:
    values = {
        "chi": (0, 0),
        "pong": table.pong,
        "kong_open": table.kong_open,
        "kong_added": table.kong_open,
        "kong_concealed": table.kong_concealed,
    }
    for meld in melds:
        yield meld.kind, values[meld.kind][counts_as_honour(rules, gold, meld.tiles[0])]
