"""Hand shapes: is it complete, what does it wait for; beside the package `mahjong`, whose tests answer the same."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from statistics import median
from typing import Any, Final

from cli.benchmarks.rows import Goal, Row, Unmeasurable, in_turn, seconds_of
from engine.hand_tables import forget_codes, honour_table, suit_table
from engine.hands import Hand, Reading, reading
from engine.ruleset import Ruleset, load_ruleset
from engine.shanten import forget_shanten, shanten
from engine.tiles import HONOURS, SUITED

PLAIN: Final = (*SUITED, *HONOURS)
HANDS_OF_A_KIND: Final = 100
_ROUNDS: Final = 41
_SLOW_ROUNDS: Final = 7
_GOLD: Final = "5p"
_START_RUNS: Final = 5
_EARLIER_BATCHES: Final = 10
"""Hands asked for before those that are timed, so that their suits have been met as in play."""

_TABLES = """
import time
from engine.hand_tables import honour_table, suit_table
began = time.perf_counter()
suit_table(False), honour_table(False)
print(time.perf_counter() - began, len(suit_table(False)) + len(honour_table(False)))
"""
_NUMPY = """
import time
began = time.perf_counter()
import numpy
print(time.perf_counter() - began)
"""


def hands() -> list[Row]:
    """Every row of hand shapes; those that need an absent package say so."""
    rows: list[Row] = []
    for measure in (_completeness, _waits, _discards, _golds, _shanten, _shanten_with_golds, _tables):
        try:
            rows += measure()
        except Unmeasurable as lack:
            rows.append(Row("hands", measure.__doc__ or "", "", None, detail=str(lack)))
    return rows


def mixed_hands(draw: random.Random, each: int) -> list[list[str]]:
    """Hands of 17 tiles: as many complete ones as random ones and as ones with a single tile exchanged."""
    complete = [_complete(draw) for _ in range(each)]
    by_chance = [draw.sample(_all_tiles(), 17) for _ in range(each)]
    near = [_exchanged(draw, _complete(draw)) for _ in range(each)]
    return [*complete, *by_chance, *near]


def _completeness() -> list[Row]:
    """win check of 17 tiles without golds"""
    theirs_of = _is_agari()
    book = _book(None)
    dealt = mixed_hands(random.Random(17), HANDS_OF_A_KIND)
    counts = [_counts(tiles) for tiles in dealt]
    kept = [Hand(book, tiles) for tiles in dealt]
    if [hand.complete() for hand in kept] != [theirs_of(count) for count in counts]:
        raise RuntimeError("the engine and the package mahjong do not agree which hands are complete")

    def from_tiles() -> None:
        for tiles in dealt:
            book.complete(tiles)

    def from_codes() -> None:
        for hand in kept:
            hand.complete()

    def theirs() -> None:
        for count in counts:
            theirs_of(count)

    rows = []
    for what, ours, goal in (("from a list of tiles", from_tiles, 3.0), ("of a kept hand", from_codes, 10.0)):
        times = in_turn(ours, theirs, _ROUNDS)
        rows.append(
            Row(
                "hands", f"win check of 17 tiles {what}, times as fast", "is_agari of the package mahjong",
                1 / times.ratio, Goal("at least", goal), detail=_each(times.ours, times.theirs, len(dealt)),
            )
        )  # fmt: skip
    return rows


def _waits() -> list[Row]:
    """waits of 16 tiles"""
    theirs_of = _is_agari()
    book = _book(None)
    dealt = _waiting(random.Random(16), HANDS_OF_A_KIND)
    kept = [Hand(book, tiles) for tiles in dealt]
    counts = [_counts(tiles) for tiles in dealt]
    # The package knows no fifth copy of a face; the engine leaves that to who asks.
    expected = [_with_fifths_left_out(hand.waits(), tiles) for hand, tiles in zip(kept, dealt, strict=True)]
    if [_waits_by(theirs_of, count) for count in counts] != expected:
        raise RuntimeError("the engine and the package mahjong do not agree what hands wait for")

    def ours() -> None:
        for hand in kept:
            hand.waits()

    def theirs() -> None:
        for count in counts:
            _waits_by(theirs_of, count)

    times = in_turn(ours, theirs, _SLOW_ROUNDS)
    return [
        Row(
            "hands", "waits of 16 tiles, times as fast", "34 × is_agari", 1 / times.ratio, Goal("at least", 25),
            detail=f"{_each(times.ours, times.theirs, len(dealt))}; {_new_suits(book):.2f} µs with suits never met",
        )
    ]  # fmt: skip


def _new_suits(book: Reading) -> float:
    """Microseconds for the waits of a hand, nothing remembered of its suits: each hand is asked once."""
    kept = [Hand(book, tiles) for tiles in _waiting(random.Random(160), 10 * HANDS_OF_A_KIND)]
    times = []
    for hand in kept:
        forget_codes()
        began = time.perf_counter()
        hand.waits()
        times.append(time.perf_counter() - began)
    return median(times) * 1e6


def _discards() -> list[Row]:
    """waits after every discard of 17 tiles"""
    theirs_of = _is_agari()
    book = _book(None)
    draw = random.Random(18)
    dealt = [[*tiles, draw.choice(_rest(tiles))] for tiles in _waiting(draw, 30)]
    kept = [(Hand(book, tiles), sorted(set(tiles))) for tiles in dealt]
    counts = [_counts(tiles) for tiles in dealt]

    def ours() -> None:
        for hand, faces in kept:
            for face in faces:
                hand.remove(face)
                hand.waits()
                hand.add(face)

    def theirs() -> None:
        for count in counts:
            for place in range(34):
                if count[place]:
                    count[place] -= 1
                    _waits_by(theirs_of, count)
                    count[place] += 1

    times = in_turn(ours, theirs, _SLOW_ROUNDS)
    return [
        Row(
            "hands", "waits after each discard of 17 tiles, times as fast", "the same by is_agari", 1 / times.ratio,
            Goal("at least", 30), detail=_each(times.ours, times.theirs, len(dealt)),
        )
    ]  # fmt: skip


def _golds() -> list[Row]:
    """win check with four golds"""
    book = _book(_GOLD)
    dealt = [tiles for tiles in mixed_hands(random.Random(4), 2 * HANDS_OF_A_KIND) if _GOLD not in tiles]
    none = [Hand(book, tiles) for tiles in dealt]
    four = [Hand(book, [*tiles[:13], *[_GOLD] * 4]) for tiles in dealt]

    def ours() -> None:
        for hand in four:
            hand.complete()

    def theirs() -> None:
        for hand in none:
            hand.complete()

    times = in_turn(ours, theirs, _ROUNDS)
    return [
        Row(
            "hands", "win check with 4 golds", "with none", times.ratio, Goal("at most", 1.2),
            detail=_each(times.ours, times.theirs, len(dealt)),
        )
    ]  # fmt: skip


def _shanten() -> list[Row]:
    """shanten of 14 tiles without golds"""
    theirs_of = _their_shanten()
    rules = load_ruleset("basic-136")
    draw = random.Random(14)
    batches = [_far_hands(draw, 4) for _ in range(_SLOW_ROUNDS + 1)]
    counts = [[_counts(tiles) for tiles in dealt] for dealt in batches]
    if [shanten(rules, None, tiles) for tiles in batches[0]] != [theirs_of(count) for count in counts[0]]:
        raise RuntimeError("the engine and the package mahjong do not agree how far hands are from waiting")
    many = len(batches[0])
    first = _fresh_shanten(rules, None, batches[0])
    for _ in range(_EARLIER_BATCHES):
        _all_shanten(rules, None, _far_hands(draw, 4))
    # Each round has hands of its own: whole hands do not come again, suits do.
    our_hands, their_hands = iter(batches), iter(counts)

    def ours() -> None:
        _all_shanten(rules, None, next(our_hands))

    def theirs() -> None:
        for count in next(their_hands):
            theirs_of(count)

    times = in_turn(ours, theirs, _SLOW_ROUNDS)
    return [
        Row(
            "hands", "shanten of 14 tiles, times as fast", "Shanten of the package mahjong", 1 / times.ratio,
            detail=f"against Shanten of the package mahjong: {many / times.ours:,.0f} against "
            f"{many / times.theirs:,.0f} a second; {many / first:,.0f} with suits never met",
        )
    ]  # fmt: skip


def _shanten_with_golds() -> list[Row]:
    """shanten of 17 tiles with 0-4 golds"""
    rules = load_ruleset("classic-xiamen-144")
    draw = random.Random(17)
    each = []
    for golds in range(5):
        batches = [_with_golds(_far_hands(draw, 5), golds) for _ in range(_EARLIER_BATCHES + _SLOW_ROUNDS)]
        taken = [seconds_of(partial(_all_shanten, rules, _GOLD, dealt)) for dealt in batches]
        each.append(len(batches[0]) / median(taken[_EARLIER_BATCHES:]))
    told = ", ".join(f"{number:,.0f}" for number in each)
    return [
        Row(
            "hands", "shanten of 17 tiles with 0-4 golds", "", median(each), unit="/s",
            detail=f"with 0, 1, 2, 3, 4 golds: {told} a second",
        )
    ]  # fmt: skip


def _far_hands(draw: random.Random, sets: int) -> list[list[str]]:
    """As many random hands as hands two tiles off a complete one, of so many sets and a pair."""
    by_chance = [draw.sample(_all_tiles(), 3 * sets + 2) for _ in range(HANDS_OF_A_KIND)]
    return by_chance + [_exchanged(draw, _exchanged(draw, _complete(draw, sets))) for _ in range(HANDS_OF_A_KIND)]


def _with_golds(dealt: list[list[str]], golds: int) -> list[list[str]]:
    plain = [[face for face in tiles if face != _GOLD] for tiles in dealt]
    spare = [face for face in SUITED if face != _GOLD]
    filled = [[*tiles, *[face for face in spare if tiles.count(face) < 4]][:17] for tiles in plain]
    return [[*tiles[golds:], *[_GOLD] * golds] for tiles in filled]


def _all_shanten(rules: Ruleset, gold: str | None, dealt: list[list[str]]) -> None:
    for tiles in dealt:
        shanten(rules, gold, tiles)


def _fresh_shanten(rules: Ruleset, gold: str | None, dealt: list[list[str]]) -> float:
    """Seconds for hands when nothing is remembered before them."""
    forget_shanten()
    return seconds_of(lambda: _all_shanten(rules, gold, dealt))


def _their_shanten() -> Callable[[list[int]], int]:
    try:
        from mahjong.shanten import Shanten
    except ModuleNotFoundError:
        raise Unmeasurable("the package mahjong is not installed (it comes with `./kaijin bench`)") from None
    check: Callable[[list[int]], int] = Shanten().calculate_shanten_for_regular_hand
    return check


def _tables() -> list[Row]:
    """hand tables ready in a new process"""
    built = [_said(_TABLES) for _ in range(_START_RUNS)]
    milliseconds = sorted(run[0] for run in built)[_START_RUNS // 2] * 1000
    rows = [
        Row(
            "hands", "hand tables ready", "", milliseconds, Goal("at most", 50, "ms"),
            detail=f"built when first asked for, {built[0][1] / 1e6:.1f} MB",
        )
    ]  # fmt: skip
    if find_spec("numpy") is None:
        return [*rows, Row("hands", "hand tables, in imports of numpy", "", None, detail="numpy is not installed")]
    import_numpy = sorted(_said(_NUMPY)[0] for _ in range(_START_RUNS))[_START_RUNS // 2] * 1000
    detail = f"{milliseconds:.0f} ms against {import_numpy:.0f} ms"
    return [*rows, Row("hands", "hand tables, in imports of numpy", "", milliseconds / import_numpy, detail=detail)]


def _is_agari() -> Callable[[list[int]], bool]:
    try:
        from mahjong.agari import Agari
    except ModuleNotFoundError:
        raise Unmeasurable("the package mahjong is not installed (it comes with `./kaijin bench`)") from None
    check: Callable[[list[int]], bool] = Agari().is_agari
    return check


def _book(gold: str | None) -> Reading:
    book = reading(load_ruleset("classic-xiamen-144"), gold)
    # Built now, so that the first timing does not pay for it.
    suit_table(book.natural_pairs)
    honour_table(book.natural_pairs)
    return book


def _all_tiles() -> list[str]:
    return [face for face in PLAIN for _ in range(4)]


def _rest(tiles: Sequence[str]) -> list[str]:
    """The tiles of a whole set that are not among these."""
    return list((Counter(_all_tiles()) - Counter(tiles)).elements())


def _complete(draw: random.Random, sets: int = 5) -> list[str]:
    """So many sets and a pair, no face more than four times."""
    while True:
        tiles = [draw.choice(PLAIN)] * 2
        for _ in range(sets):
            if draw.random() < 0.6:
                first = draw.choice([face for face in SUITED if face[0] <= "7"])
                tiles += [f"{int(first[0]) + step}{first[1]}" for step in range(3)]
            else:
                tiles += [draw.choice(PLAIN)] * 3
        if max(Counter(tiles).values()) <= 4:
            draw.shuffle(tiles)
            return tiles


def _exchanged(draw: random.Random, tiles: list[str]) -> list[str]:
    rest = _rest(tiles)
    return [*tiles[1:], draw.choice(rest)]


def _waiting(draw: random.Random, many: int) -> list[list[str]]:
    """Hands of 16 tiles that wait for something."""
    return [_complete(draw)[1:] for _ in range(many)]


def _counts(tiles: Sequence[str]) -> list[int]:
    held = Counter(tiles)
    return [held[face] for face in PLAIN]


def _waits_by(is_agari: Callable[[list[int]], bool], counts: list[int]) -> list[str]:
    found = []
    for place, face in enumerate(PLAIN):
        if counts[place] < 4:
            counts[place] += 1
            if is_agari(counts):
                found.append(face)
            counts[place] -= 1
    return found


def _with_fifths_left_out(waits: Sequence[str], tiles: Sequence[str]) -> list[str]:
    held = Counter(tiles)
    return [face for face in waits if held[face] < 4]


def _each(ours: float, theirs: float, many: int) -> str:
    return f"{ours / many * 1e6:.2f} µs against {theirs / many * 1e6:.2f} µs"


def _said(program: str) -> list[float]:
    """The numbers that a program prints in a process of its own."""
    done: subprocess.CompletedProcess[Any] = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        raise Unmeasurable(lines[-1])
    return [float(word) for word in done.stdout.split()]
