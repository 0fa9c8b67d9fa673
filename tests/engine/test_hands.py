"""Hand shapes against a slow reading of the rules that shares nothing with the tables (R20-R22)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

import pytest

from engine.hand_tables import NEED, PAIR, honour_byte, honour_table, suit_byte, suit_table
from engine.hands import (
    Hand,
    complete,
    golds_held,
    reading,
    waits,
    wins_by,
    youjin_discards,
    youjin_ready,
)
from engine.ruleset import EXAMPLES, PROFILES, Ruleset, load_ruleset
from engine.tiles import is_flower, parse_tiles, sort_tiles

HANDS = 100_800
"""Hands that are tried, the same number of every game's; each is asked whether it is complete, what it waits for once a
tile is gone, and whether it is youjin-ready."""

GAMES = (*PROFILES, *EXAMPLES)

Masks: TypeAlias = tuple[int, int]
"""Numbers of golds, bit n for n, that make sets only, and sets with one pair."""


@cache
def oracle(counts: tuple[int, ...], runs: bool, mixed_pair: bool) -> Masks:
    """How many golds make one suit's tiles sets, and sets with a pair: everything is tried for the first tile."""
    first = next((place for place, count in enumerate(counts) if count), None)
    if first is None:
        return 1, 0
    sets = pairs = 0
    if mixed_pair:
        pairs |= oracle(_less(counts, first), runs, mixed_pair)[0] << 1
    if counts[first] >= 2:
        pairs |= oracle(_less(counts, first, first), runs, mixed_pair)[0]
    for others in ((first, first), *(_runs(first, len(counts)) if runs else ())):
        for used in {others, others[:1], others[1:], ()}:
            taken = (first, *used)
            if all(counts[place] >= taken.count(place) for place in taken):
                more, more_paired = oracle(_less(counts, *taken), runs, mixed_pair)
                sets |= more << (2 - len(used))
                pairs |= more_paired << (2 - len(used))
    return sets, pairs


def _runs(place: int, places: int) -> list[tuple[int, int]]:
    starts = [start for start in (place - 2, place - 1, place) if 0 <= start <= places - 3]
    others = [tuple(other for other in range(start, start + 3) if other != place) for start in starts]
    return [(low, high) for low, high in others]


def _less(counts: tuple[int, ...], *places: int) -> tuple[int, ...]:
    left = list(counts)
    for place in places:
        left[place] -= 1
    return tuple(left)


@cache
def _beside(one: Masks, other: Masks) -> Masks:
    """The golds that two suits want together."""
    return _sums(one[0], other[0]), _sums(one[0], other[1]) | _sums(one[1], other[0])


def _sums(one: int, other: int) -> int:
    found = 0
    for place in range(one.bit_length()):
        if one >> place & 1:
            found |= other << place
    return found


def _enough(mask: int, golds: int) -> bool:
    """Whether one of the numbers is met; golds over must be sets of their own."""
    return any(mask >> used & 1 for used in range(golds, -1, -3))


@cache
def _made(wanted: Masks, golds: int) -> bool:
    """Whether so many golds make sets and a pair; two of them may be it."""
    return _enough(wanted[1], golds) or _enough(wanted[0], golds - 2)


class Judged:
    """The oracle's word on tiles as they are held."""

    def __init__(self, rules: Ruleset, gold: str | None, tiles: Sequence[str]) -> None:
        self.gold = gold
        self.stands = rules.white_mode == "always" and gold not in (None, "5z")
        self.mixed = rules.gold_in_pair == "any"
        self.golds = sum(1 for face in tiles if face == gold)
        self.suits = {suit: [0] * (7 if suit == "z" else 9) for suit in "mpsz"}
        for face in tiles:
            if face != gold:
                suit, place = self._natural(face)
                self.suits[suit][place] += 1
        self.masks = {suit: self._of(suit) for suit in "mpsz"}

    def complete(self) -> bool:
        """Whether the tiles are sets and a pair."""
        return _made(self._all(), self.golds)

    def ready(self, less: str) -> bool:
        """Whether the tiles without one are sets and one gold over."""
        self.add(less, -1)
        found = self.golds > 0 and _enough(self._all()[0], self.golds - 1)
        self.add(less, 1)
        return found

    def waits(self, faces: Sequence[str], less: str) -> list[str]:
        """The faces that complete the tiles without one."""
        self.add(less, -1)
        m, p, s, z = self.masks.values()
        others = {"m": (p, s, z), "p": (m, s, z), "s": (m, p, z), "z": (m, p, s)}
        rest = {suit: _beside(_beside(one, two), three) for suit, (one, two, three) in others.items()}
        found = []
        for face in faces:
            suit = self._natural(face)[0]
            if face == self.gold:
                made = _made(self._all(), self.golds + 1)
            else:
                self.add(face, 1)
                made = _made(_beside(rest[suit], self.masks[suit]), self.golds)
                self.add(face, -1)
            if made:
                found.append(face)
        self.add(less, 1)
        return found

    def add(self, face: str, copies: int) -> None:
        """Copies come or go."""
        if face == self.gold:
            self.golds += copies
            return
        suit, place = self._natural(face)
        self.suits[suit][place] += copies
        self.masks[suit] = self._of(suit)

    def _all(self) -> Masks:
        m, p, s, z = self.masks.values()
        return _beside(_beside(m, p), _beside(s, z))

    def _natural(self, face: str) -> tuple[str, int]:
        if face == "5z" and self.stands and self.gold is not None:
            face = self.gold
        return face[1], int(face[0]) - 1

    def _of(self, suit: str) -> Masks:
        return oracle(tuple(self.suits[suit]), suit != "z", self.mixed)


def _sample(chance: random.Random, full: list[str], white: bool, size: int) -> tuple[str, list[str]]:
    """A gold and tiles that the set can hold: scattered, complete with golds in it, or one tile off."""
    gold = chance.choice(full)
    if chance.random() < 0.2:
        return gold, chance.sample(full, size)
    while True:
        held: list[str] = []
        while len(held) < size - size % 3:
            face = chance.choice(full)
            run = chance.random() < 0.75 and face[1] != "z" and face[0] <= "7"
            held += [f"{int(face[0]) + step}{face[1]}" for step in range(3)] if run else [face] * 3
        held += [chance.choice(full)] * (size % 3)
        for _ in range(chance.randrange(5)):
            held[chance.randrange(size)] = gold
        if chance.random() < 0.3:
            held[chance.randrange(size)] = chance.choice(full)
        if white and chance.random() < 0.5:
            held = ["5z" if face == gold and chance.random() < 0.3 else face for face in held]
        if max(Counter(held).values()) <= 4:
            return gold, held


@pytest.mark.parametrize("name", GAMES)
def test_complete_waiting_and_youjin_ready_hands_are_those_that_the_rules_make(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    rules = load_ruleset(name)
    chance = random.Random(f"shapes {name}")
    full = [face for face, count in rules.faces().items() for _ in range(count) if not is_flower(face)]
    faces = sort_tiles(set(full))
    many = HANDS // len(GAMES)
    seen: Counter[str] = Counter()
    for number in range(many):
        face, tiles = _sample(chance, full, rules.white_mode == "always", rules.hand + 1)
        gold = None if number % 20 == 0 else face
        judged = Judged(rules, gold, tiles)
        whole = judged.complete()
        assert complete(rules, gold, tiles) == whole, (gold, tiles)
        gone = chance.choice(tiles)
        left = list(tiles)
        left.remove(gone)
        wanted = judged.waits(faces, gone)
        assert list(waits(rules, gold, left)) == wanted, (gold, left)
        over = [one for one in sort_tiles(set(tiles)) if rules.youjin and judged.ready(one)]
        assert youjin_ready(rules, gold, left) == (gone in over), (gold, left)
        assert list(youjin_discards(rules, gold, tiles)) == over, (gold, tiles)
        assert gone not in over or wanted == faces, "a youjin-ready hand waits for every tile"
        held = golds_held(tiles, gold)
        seen.update((f"{held} golds", f"complete {whole}", f"waiting {bool(wanted)}", f"ready {bool(over)}"))
        seen["white"] += "5z" in tiles
    record_property("hands", many)
    kinds = ["complete True", "complete False", "waiting True", "waiting False", "white"]
    assert many * len(GAMES) >= 100_000
    assert all(seen[kind] > many // 20 for kind in kinds), seen
    assert all(seen[f"{count} golds"] for count in range(5)), seen
    assert (seen["ready True"] > many // 100) == rules.youjin, seen


def _fewest(mask: int) -> int:
    """The least of the numbers; one too great for any hand where there is none."""
    return next((number for number in range(mask.bit_length()) if mask >> number & 1), 99)


@pytest.mark.parametrize("natural_pairs", [False, True])
def test_the_suit_table_agrees_with_trying_everything(natural_pairs: bool) -> None:
    table = suit_table(natural_pairs)
    assert len(table) == 5**9
    chance = random.Random(9)
    for _ in range(400):
        counts = [0] * 9
        for _ in range(chance.randrange(12)):
            place = chance.randrange(9)
            counts[place] = min(4, counts[place] + 1)
        sets, with_pair = (_fewest(mask) for mask in oracle(tuple(counts), True, not natural_pairs))
        paired = min(with_pair, sets + 2)
        byte = table[sum(count * 5**place for place, count in enumerate(counts))]
        assert byte & NEED == sets, counts
        assert bool(byte & PAIR) == (paired == sets - 1), counts
        assert bool(byte & PAIR) or paired == sets + 2, counts
        assert suit_byte(counts, natural_pairs) == byte


@pytest.mark.parametrize("natural_pairs", [False, True])
def test_honours_are_each_alone(natural_pairs: bool) -> None:
    table = honour_table(natural_pairs)
    assert len(table) == 5**7
    for count in range(5):
        byte = honour_byte(count, natural_pairs)
        assert table[count] == table[count * 5**6] == byte
        assert byte & NEED == _fewest(oracle((count,), False, not natural_pairs)[0])


def test_the_tables_take_no_more_than_three_megabytes() -> None:
    assert len(suit_table(False)) + len(honour_table(False)) < 3_000_000


def test_a_fifth_copy_is_waited_for_though_none_is_left() -> None:
    rules = load_ruleset("classic-xiamen-144")
    assert waits(rules, None, parse_tiles("1111m456p789s222333z")) == ("1m",)
    assert waits(rules, None, parse_tiles("456m789p222333s1111z")) == ("1z",)
    assert waits(rules, "5z", parse_tiles("1111m456p789s222333z")) == ("1m", "5z")


def test_a_hand_follows_its_tiles() -> None:
    rules = load_ruleset("new-xiamen-120")
    book = reading(rules, "5p")
    hand = Hand(book, parse_tiles("123789m2345888p456s"))
    assert hand.ready() and hand.golds == 1
    hand.add("9s")
    assert hand.complete()
    hand.remove("5p")
    hand.add("1m")
    assert hand.golds == 0 and not hand.complete()
    hand.remove("1m")
    hand.add("5p")
    assert hand.code == Hand(book, parse_tiles("123789m2345888p4569s")).code


def test_other_counts_of_tiles_are_neither_complete_nor_waiting() -> None:
    rules = load_ruleset("new-xiamen-120")
    assert not complete(rules, None, parse_tiles("123m"))
    assert waits(rules, None, parse_tiles("123m11p")) == ()
    assert not youjin_ready(rules, None, parse_tiles("11m"))
    assert complete(rules, None, parse_tiles("11m"))


def test_least_ways_by_golds() -> None:
    rules = load_ruleset("new-xiamen-120")
    assert [wins_by(rules, golds) for golds in range(5)] == [
        (True, True),
        (False, True),
        (False, False),
        (False, False),
        (False, False),
    ]


def test_seven_pairs_are_an_option_of_thirteen_tiles() -> None:
    plain = load_ruleset("basic-136")
    rules = load_ruleset("basic-136", {"seven_pairs": True})
    tiles = parse_tiles("113355m7799s1177z")
    assert not complete(plain, "9p", tiles) and complete(rules, "9p", tiles)
    assert waits(rules, "9p", tiles[:-1]) == ("7z",)
    one_gold = [*tiles[:-1], "9p"]
    assert not complete(rules, "9p", one_gold), "a gold and a natural are no pair (R20)"
    assert complete(load_ruleset("basic-136", {"seven_pairs": True, "gold_in_pair": "any"}), "9p", one_gold)
