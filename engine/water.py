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


def gold_water(rules: Ruleset, golds: int) -> int:
    """水 of so many golds held."""
    return rules.water.gold * golds if rules.water is not None else 0


def flower_water(rules: Ruleset, flowers: Collection[str]) -> int:
    """水 of flowers, whole sets of four included."""
    return sum(_flowers(rules, rules.water, flowers)) if rules.water is not None else 0


def set_water(rules: Ruleset, kind: str, honour: bool) -> int:
    """水 of one set: `triplet` (concealed) or a kind of `engine.melds.MELD_KINDS`; suited or of honours (R32)."""
    if rules.water is None or kind == "chi":
        return 0
    pair: tuple[int, int] = getattr(rules.water, "kong_open" if kind == "kong_added" else kind)
    return pair[honour]


def last_tile_water(rules: Ruleset, own: str, honour: bool) -> int:
    """R22 (004): the last tile of a 游金 as the fourth of an own `pong` 1, of an own concealed `triplet` what a 暗杠
    counts more than the triplet.
    """
    if rules.water is None or not rules.tour_last_tile:
        return 0
    return 1 if own == "pong" else set_water(rules, "kong_concealed", honour) - set_water(rules, "triplet", honour)


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
        ("flowers", flower_water(rules, flowers)),
        ("golds", gold_water(rules, sum(1 for face in concealed if face == gold))),
        *_triplets(rules, gold, concealed, won_by_discard),
        *((meld.kind, set_water(rules, meld.kind, counts_as_honour(rules, gold, meld.tiles[0]))) for meld in melds),
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
    rules: Ruleset, gold: str | None, concealed: Sequence[str], won_by_discard: str | None
) -> Iterator[tuple[str, int]]:
    """R32: three or more natural copies of a face, whatever else they could be part of."""
    held = Counter(face for face in concealed if face != gold)
    for face in sorted(held, key=tile_order):
        own = held[face] - (face == won_by_discard)
        if held[face] >= 3:
            kind = "triplet" if own >= 3 else "pong"
            yield kind, set_water(rules, kind, counts_as_honour(rules, gold, face))
