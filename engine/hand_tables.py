"""The tables behind `engine.hands`: what a suit or the honours lack, one byte for every code of counts.

A byte holds in its low six bits the fewest golds that turn the tiles into sets alone, and the flag PAIR where sets and
a pair together want one gold less. Where they do not, they want two more: counting tiles leaves no third case.

The suit is read left to right. What matters of the tiles read so far is how many runs still want the next tile, and the
one after it, and what each such reading has cost; runs of one kind number at most two, since three are three triplets.
Readings that a cheaper one can stand in for are dropped, so that few states remain (R20).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

PAIR = 64
NEED = PAIR - 1

_Costs: TypeAlias = tuple[tuple[int, int], ...]
_State: TypeAlias = tuple[_Costs, _Costs]
_Moves: TypeAlias = tuple[tuple[tuple[int, int, int], ...], ...]

_NONE = 99
_REMEMBERED = 1 << 15
_completing: dict[int, int] = {}
_START: _State = (((0, 0),), ())
# Covering 0-4 tiles that runs no longer cover costs so many golds more, by triplets.
_COVER = (0, 2, 1, 0, 2)
# By what a reading with pending runs (next, last) may at most be better than the one without.
_WORTH = tuple(_COVER[both + last] + _COVER[both] for both in range(3) for last in range(3))


@cache
def suit_table(natural_pairs: bool) -> bytes:
    """The byte of every suit code Σ count·5^i, i = 0-8; with `natural_pairs` a gold never pairs with a natural tile."""
    levels: list[dict[_State, list[tuple[int, _State]]]] = []
    states = [_START]
    for place in range(9):
        edges = {state: [_step(state, count, place, natural_pairs) for count in range(5)] for state in states}
        states = list(dict.fromkeys(after for steps in edges.values() for _, after in steps))
        levels.append(edges)
    told = {state: bytes([_last(state)]) for state in states}
    for edges in reversed(levels):
        told = {
            state: b"".join([told[after].translate(_more(golds)) if golds else told[after] for golds, after in steps])
            for state, steps in edges.items()
        }
    return told[_START]


@cache
def honour_table(natural_pairs: bool) -> bytes:
    """The byte of every honours code Σ count·5^i, i = 0-6."""
    table = b"\0"
    for _ in range(7):
        table = b"".join(_beside(table, honour_byte(count, natural_pairs)) for count in range(5))
    return table


def honour_byte(count: int, natural_pairs: bool) -> int:
    """The byte of one honour face held 0-5 times."""
    pairs = count >= 2 if natural_pairs else count >= 1
    return -count % 3 + (PAIR if pairs and count % 3 != 0 else 0)


def suit_byte(counts: Sequence[int], natural_pairs: bool) -> int:
    """The byte of nine counts 0-5, worked out without the table: for the fifth copy of a face, which no code holds."""
    golds = 0
    state = _START
    for place, count in enumerate(counts):
        more, state = _step(state, count, place, natural_pairs)
        golds += more
    return golds + _last(state)


def completing(natural_pairs: bool, honours: bool, code: int, left: int, paired: bool) -> int:
    """Where one tile more makes a suit (or the honours) complete with `left` golds: bit i for the face of 5^i.

    The pair is one gold of the `left`, be it here or, `paired`, in another field. A fifth copy of a face counts.
    Remembered for each code: codes come again from hand to hand and from discard to discard, whole hands do not.
    """
    key = ((code << 6 | left) << 1 | paired) << 2 | honours << 1 | natural_pairs
    found = _completing.get(key)
    if found is None:
        if len(_completing) >= _REMEMBERED:
            _completing.clear()
        found = _completing[key] = _completing_places(natural_pairs, honours, code, left, paired)
    return found


def forget_codes() -> None:
    """Forget what `completing` remembers; it is worked out anew."""
    _completing.clear()


def _completing_places(natural_pairs: bool, honours: bool, code: int, left: int, paired: bool) -> int:
    table = honour_table(natural_pairs) if honours else suit_table(natural_pairs)
    found = 0
    for place in range(7 if honours else 9):
        if code // 5**place % 5 < 4:
            lack = table[code + 5**place]
        elif honours:
            lack = _fifth_honour(table[code - 4 * 5**place], natural_pairs)
        else:
            lack = suit_byte([code // 5**i % 5 + (i == place) for i in range(9)], natural_pairs)
        if lack & NEED <= left if paired or lack >= PAIR else lack + 3 <= left:
            found |= 1 << place
    return found


def _fifth_honour(without: int, natural_pairs: bool) -> int:
    """The byte of the honours `without` a face, and that face five times."""
    fifth = honour_byte(5, natural_pairs)
    return (without & NEED) + (fifth & NEED) + (PAIR if (without | fifth) & PAIR else 0)


def _step(state: _State, count: int, place: int, natural_pairs: bool) -> tuple[int, _State]:
    """Read one face: the golds that the plainest reading cost, and the state after, its costs counted from there."""
    moves = _moves(count, place >= 7)
    pairs = count >= 2 or not natural_pairs
    sets = [_NONE] * 9
    paired = [_NONE] * 9
    for runs, cost in state[0]:
        for after, more, more_paired in moves[runs]:
            if cost + more < sets[after]:
                sets[after] = cost + more
            if pairs and cost + more_paired < paired[after]:
                paired[after] = cost + more_paired
    for runs, cost in state[1]:
        for after, more, _ in moves[runs]:
            if cost + more < paired[after]:
                paired[after] = cost + more
    plain, plain_paired = sets[0], paired[0]
    kept = tuple([(k, v - plain) for k, v in enumerate(sets) if k == 0 or v < plain + _WORTH[k]])
    kept_paired = tuple(
        [
            (k, v - plain)
            for k, v in enumerate(paired)
            if (v < plain if k == 0 else v < plain + _WORTH[k] and v < plain_paired + _WORTH[k])
        ]
    )
    return plain, (kept, kept_paired)


@cache
def _moves(count: int, no_new_runs: bool) -> _Moves:
    """From every pair of pending runs: the pending runs after, the golds without a pair, and with one in this face."""
    rows = []
    for pending in range(9):
        both, last = divmod(pending, 3)
        row = []
        for new in range(1 if no_new_runs else 3):
            runs = both + last + new
            row.append((new * 3 + both, _golds(runs, count), _golds(runs + 2, count)))
        rows.append(tuple(row))
    return tuple(rows)


def _golds(wanted: int, count: int) -> int:
    """Golds beside `count` tiles of which `wanted` are bound and what is over makes triplets."""
    return wanted - count if wanted >= count else (wanted - count) % 3


def _last(state: _State) -> int:
    """The byte at the end of the suit, its golds counted from the plainest reading."""
    return PAIR if any(runs == 0 and cost < 0 for runs, cost in state[1]) else 0


@cache
def _more(golds: int) -> bytes:
    """For `bytes.translate`: every byte with so many golds more (or fewer: a reading may win a gold back)."""
    return bytes((value + golds) % 256 for value in range(256))


def _beside(table: bytes, other: int) -> bytes:
    flag, golds = other & PAIR, other & NEED
    return table.translate(bytes(((value & NEED) + golds) & NEED | value & PAIR | flag for value in range(256)))
