"""How far a hand is from waiting, golds counted (R20).

A suit or the honours can give so many tiles to so many sets, and to a pair. That is worked out once for each code of
counts and remembered; a hand joins its four fields. As in `engine.hands`, a face may be wanted a fifth time, and
whether copies are left does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from engine.hands import reading, split
from engine.ruleset import Ruleset

_MOST_SETS: Final = 5
_NONE: Final = -99
_HALF_PAIR, _PAIR = 1, 2

_Use: TypeAlias = tuple[int, ...]
"""Place 3·sets + pair: the most tiles that are of use for so many sets and a pair of 0, 1 or 2 tiles that are here."""


def shanten(rules: Ruleset, gold: str | None, concealed: Sequence[str]) -> int:
    """The fewest tiles to exchange until a hand waits: 0 for one that waits, -1 for a complete one of 3n+2 tiles.

    `concealed`: 3n+1 or 3n+2 tiles, at most 17, melds left out; ValueError for other counts.
    """
    count = len(concealed)
    if count % 3 == 0 or count > 3 * _MOST_SETS + 2:
        raise ValueError(f"{count} concealed tiles: expected 3n+1 or 3n+2, at most 17")
    book = reading(rules, gold)
    *codes, golds = split(book.code(concealed))
    use = _of_field(codes[0], False)
    for code in codes[1:3]:
        use = _joined(use, _of_field(code, False))
    use = _joined(use, _of_field(codes[3], True))
    far = _exchanges(use, count // 3, golds, book.natural_pairs)
    if rules.seven_pairs and count in (13, 14):
        far = min(far, _to_seven_pairs(rules, gold, concealed))
    return far - 1


def forget_shanten() -> None:
    """Forget what is remembered of codes; it is worked out anew."""
    _of_field.cache_clear()
    _joined.cache_clear()


def _exchanges(use: _Use, sets: int, golds: int, natural_pairs: bool) -> int:
    """Tiles that are missing from sets and a pair, when golds stand for what they may stand for."""
    without, half, whole = (3 * sets - use[3 * sets], *(3 * sets + k - use[3 * sets + k] for k in (_HALF_PAIR, _PAIR)))
    if not natural_pairs:
        return max(0, min(without + 2, half + 1, whole) - golds)
    # A gold pairs with a gold alone, so that half a pair of naturals wants a natural tile (R20).
    of_golds = max(0, 2 - golds) + max(0, without - max(0, golds - 2))
    return min(of_golds, 1 + max(0, half - golds), max(0, whole - golds))


def _to_seven_pairs(rules: Ruleset, gold: str | None, tiles: Sequence[str]) -> int:
    weights = reading(rules, gold).weights
    counts = Counter(weights[face] for face in tiles)
    golds = counts.pop(weights[gold], 0) if gold is not None else 0
    pairs = sum(count // 2 for count in counts.values())
    singles = sum(count % 2 for count in counts.values())
    if rules.gold_in_pair == "both_or_none":
        pairs, singles, golds = pairs + golds // 2, singles + golds % 2, 0
    pairs = min(7, pairs)
    return max(0, 14 - 2 * pairs - min(singles, 7 - pairs) - golds)


@lru_cache(maxsize=1 << 14)
def _joined(one: _Use, other: _Use) -> _Use:
    """What two fields can give together."""
    best = [_NONE] * (3 * _MOST_SETS + 3)
    for place, mine in enumerate(one):
        sets, pair = divmod(place, 3)
        for more in range(_MOST_SETS - sets + 1):
            at = 3 * (sets + more)
            for theirs in range(3) if pair == 0 else (0,):
                given = mine + other[3 * more + theirs]
                if given > best[at + pair + theirs]:
                    best[at + pair + theirs] = given
    return tuple(best)


@lru_cache(maxsize=1 << 14)
def _of_field(code: int, honours: bool) -> _Use:
    """What one field can give. Read from the first face to the last; a reading is the runs that want the next face and
    the one after, the sets begun, and the pair."""
    counts = [code // 5**place % 5 for place in range(9)]
    readings = {(0, 0, 0, 0): 0}
    for place, count in enumerate(counts):
        # A set of which no tile is here is no matter of this field.
        begins = 0 if honours or place > 6 else min(2, max(counts[place : place + 3]))
        triplets = 0 if count == 0 else 2 if count == 4 else 1
        after: dict[tuple[int, int, int, int], int] = {}
        for (last, both, sets, pair), given in readings.items():
            for runs in range(min(begins, _MOST_SETS - sets) + 1):
                for alike in range(min(triplets, _MOST_SETS - sets - runs) + 1):
                    for own in range(min(2, count) + 1) if pair == 0 else (0,):
                        key = (both, runs, sets + runs + alike, pair or own)
                        used = given + min(count, last + both + runs + 3 * alike + own)
                        if used > after.get(key, _NONE):
                            after[key] = used
        readings = after
    best = [_NONE] * (3 * _MOST_SETS + 3)
    for (_, _, sets, pair), given in readings.items():
        best[3 * sets + pair] = max(best[3 * sets + pair], given)
    for place in range(3, len(best)):
        best[place] = max(best[place], best[place - 3])
    return tuple(best)
