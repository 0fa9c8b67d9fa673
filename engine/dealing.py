"""From a wall that stands and hands that are held to the deal that play starts from (R4-R8)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from engine.opening import Lines, gold_of
from engine.play.deal import Deal
from engine.ruleset import Ruleset
from engine.tiles import SEATS


def make_deal(
    rules: Ruleset,
    dealer: str,
    wall: Lines,
    gone: Collection[str],
    faces: Mapping[str, str],
    hands: Mapping[str, Sequence[str]],
    flowers: Mapping[str, Sequence[str]],
    flipped: str = "",
    flips: int = 0,
    opening: tuple[str, str] | None = None,
) -> Deal:
    """The deal of a hand: what is left of the wall seen from both ends, the hands after 补花, the gold.

    `wall` are the two ends as the dice made them; `gone` the positions whose tiles have left, the flipped one among
    them; `faces` of the positions; `flipped` the face turned in 开金, empty without a gold; `flips` how many flowers
    were turned on the way to it (R26). DealError where these make no deal (`engine.play.begin` says so).
    """
    places = tuple(position for position in wall.head if position not in gone)
    index = {position: place for place, position in enumerate(places)}
    return Deal(
        rules=rules,
        dealer=dealer,
        gold=gold_of(rules, flipped) if flipped else None,
        flipped=flipped,
        hands={seat: tuple(hands[seat]) for seat in SEATS},
        flowers={seat: tuple(flowers[seat]) for seat in SEATS},
        wall=tuple(faces[position] for position in places),
        tail_order=tuple(index[position] for position in wall.tail if position in index),
        opening=opening,
        flips=flips,
    )


def places_left(wall: Lines, gone: Collection[str]) -> tuple[str, ...]:
    """The positions that a deal's wall indexes stand for, head first; `gone` as they were when it was made."""
    return tuple(position for position in wall.head if position not in gone)
