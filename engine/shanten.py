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

from engine.hands import Reading, reading, split
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
    far = shanten_of(book, book.code(concealed), count)
    if rules.seven_pairs and count in (13, 14):
        far = min(far, _to_seven_pairs(rules, gold, concealed) - 1)
    return far


def shanten_of(book: Reading, code: int, count: int) -> int:
    """`shanten` of so many tiles by their code, seven pairs left out."""
    use, golds = _use_of(code)
    return _exchanges(use, count // 3, golds, book.natural_pairs) - 1


def to_youjin(code: int, count: int) -> int | None:
    """R22: the fewest tiles to exchange until 3n+1 tiles are youjin-ready, after a discard where there are 3n+2.

    None without a gold: nobody knows when one comes.
    """
    use, golds = _use_of(code)
    sets = count // 3
    return max(0, 3 * sets - use[3 * sets] - (golds - 1)) if golds else None


def forget_shanten() -> None:
    """Forget what is remembered of codes; it is worked out anew."""
    _of_field.cache_clear()
    _blocks.cache_clear()
    _joined.cache_clear()


def _use_of(code: int) -> tuple[_Use, int]:
    """What all fields can give together, and the golds."""
    m, p, s, z, golds = split(code)
    use = _joined(_joined(_of_field(m, False), _of_field(p, False)), _of_field(s, False))
    return (_joined(use, _of_field(z, True)) if z else use), golds


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
    """What one field can give: its sets, what lacks one tile to a set, and single tiles, of which each begins a set."""
    tiles = sum(code // 5**place % 5 for place in range(9))
    blocks = _blocks(code, honours)
    best = [_NONE] * (3 * _MOST_SETS + 3)
    for pair in range(3):
        beside = blocks[_MOST_SETS + 1 :] if pair == _PAIR else blocks
        for whole in range(_MOST_SETS + 1):
            left = tiles - 3 * whole - pair
            if beside[whole] == _NONE or left < 0:
                continue
            for sets in range(whole, _MOST_SETS + 1):
                begun = min(beside[whole], sets - whole, left // 2)
                alone = min(sets - whole - begun, left - 2 * begun)
                used = 3 * whole + 2 * begun + alone + pair
                best[3 * sets + pair] = max(best[3 * sets + pair], used)
    return tuple(best)


@lru_cache(maxsize=1 << 17)
def _blocks(code: int, honours: bool) -> tuple[int, ...]:
    """The most pairs of tiles that lack one to a set, beside so many sets: without a pair, then with one.

    The lowest tile is left over, or it is part of one of at most six blocks; what is left is looked at in the same way.
    """
    if code == 0:
        return _NO_BLOCKS
    while code % 5 == 0:
        code //= 5
    lowest, second, third = code % 5, code // 5 % 5, code // 25 % 5
    found = [_blocks(code - 1, honours)]
    if lowest >= 2:
        rest = _blocks(code - 2, honours)
        found += [_begun(rest), _paired(rest)]
    if lowest >= 3:
        found.append(_complete(_blocks(code - 3, honours)))
    if not honours and second:
        found.append(_begun(_blocks(code - 6, honours)))
    if not honours and third:
        found.append(_begun(_blocks(code - 26, honours)))
    if not honours and second and third:
        found.append(_complete(_blocks(code - 31, honours)))
    return tuple(map(max, *found)) if len(found) > 1 else found[0]


_NO_BLOCKS: Final = (0, *(_NONE,) * (2 * _MOST_SETS + 1))


def _begun(blocks: tuple[int, ...]) -> tuple[int, ...]:
    """With one block more that lacks a tile."""
    return tuple([most if most == _NONE else most + 1 for most in blocks])


def _complete(blocks: tuple[int, ...]) -> tuple[int, ...]:
    """With one set more."""
    return (_NONE, *blocks[:_MOST_SETS], _NONE, *blocks[_MOST_SETS + 1 : -1])


def _paired(blocks: tuple[int, ...]) -> tuple[int, ...]:
    """With the pair, where there was none."""
    return (*(_NONE,) * (_MOST_SETS + 1), *blocks[: _MOST_SETS + 1])
