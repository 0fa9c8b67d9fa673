"""Hand shapes against a slow reading of the rules that shares nothing with the tables (R20-R22)."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

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
from engine.ruleset import Ruleset, load_ruleset
from engine.tiles import is_flower, parse_tiles, sort_tiles

HANDS = 3000
"""Random hands for each of the profiles below."""

PROFILES = ("new-xiamen-120", "classic-xiamen-144", "basic-136", "quanzhou-common")


@cache
def oracle(naturals: tuple[str, ...], golds: int, pair: bool, mixed_pair: bool) -> bool:
    """Whether the tiles are sets, and a pair where one is asked for: try everything for the first tile."""
    if golds < 0:
        return False
    if not naturals:
        return golds % 3 == (2 if pair else 0)
    first, rest = naturals[0], naturals[1:]
    if pair and mixed_pair and oracle(rest, golds - 1, False, mixed_pair):
        return True
    if pair and first in rest and oracle(_less(rest, first), golds, False, mixed_pair):
        return True
    return any(_with_others(rest, others, golds, pair, mixed_pair) for others in ((first, first), *_runs(first)))


def _with_others(rest: tuple[str, ...], others: tuple[str, ...], golds: int, pair: bool, mixed_pair: bool) -> bool:
    """Finish a set with these others, each a natural tile or a gold."""
    if not others:
        return oracle(rest, golds, pair, mixed_pair)
    face, further = others[0], others[1:]
    if face in rest and _with_others(_less(rest, face), further, golds, pair, mixed_pair):
        return True
    return golds > 0 and _with_others(rest, further, golds - 1, pair, mixed_pair)


def _runs(face: str) -> list[tuple[str, str]]:
    if face[1] == "z":
        return []
    number, suit = int(face[0]), face[1]
    found = []
    for start in (number - 2, number - 1, number):
        if 1 <= start <= 7:
            others = [f"{n}{suit}" for n in range(start, start + 3) if n != number]
            found.append((others[0], others[1]))
    return found


def _less(tiles: tuple[str, ...], face: str) -> tuple[str, ...]:
    at = tiles.index(face)
    return tiles[:at] + tiles[at + 1 :]


def _judged(rules: Ruleset, gold: str | None, tiles: list[str], pair: bool, spare: int = 0) -> bool:
    """The oracle's word on tiles as they are held; `spare` golds are laid aside first."""
    stands = rules.white_mode == "always" and gold not in (None, "5z")
    naturals = [gold if face == "5z" and stands else face for face in tiles if face != gold]
    named = tuple(sort_tiles(face for face in naturals if face is not None))
    mixed = rules.gold_in_pair == "any"
    return oracle(named, golds_held(tiles, gold) - spare, pair, mixed)


def _full_set(rules: Ruleset) -> list[str]:
    return [face for face, count in rules.faces().items() for _ in range(count) if not is_flower(face)]


def _sample(rules: Ruleset, chance: random.Random, size: int) -> tuple[str, list[str]]:
    """A gold and tiles that the set can hold: scattered, complete with golds in it, or one tile off."""
    tiles = _full_set(rules)
    gold = chance.choice(tiles)
    if chance.random() < 0.2:
        chance.shuffle(tiles)
        return gold, tiles[:size]
    left = Counter(tiles)
    held: list[str] = []
    kinds = [*["run"] * 3, "triplet"]
    while len(held) < size - size % 3:
        face = chance.choice(tiles)
        group = [face] * 3
        if chance.choice(kinds) == "run" and face[1] != "z" and face[0] <= "7":
            group = [f"{int(face[0]) + step}{face[1]}" for step in range(3)]
        held += group
    held += [chance.choice(tiles)] * (size % 3)
    for _ in range(chance.randrange(5)):
        held[chance.randrange(size)] = gold
    if chance.random() < 0.3:
        held[chance.randrange(size)] = chance.choice(tiles)
    if rules.white_mode == "always" and chance.random() < 0.5:
        held = ["5z" if face == gold and chance.random() < 0.3 else face for face in held]
    if any(count > left[face] for face, count in Counter(held).items()):
        return _sample(rules, chance, size)
    return gold, held


@pytest.mark.parametrize("name", PROFILES)
def test_complete_hands_are_those_that_the_rules_make(name: str) -> None:
    rules = load_ruleset(name)
    chance = random.Random(f"complete {name}")
    verdicts: Counter[bool] = Counter()
    golds: Counter[int] = Counter()
    for _ in range(HANDS):
        gold, tiles = _sample(rules, chance, rules.hand + 1)
        found = complete(rules, gold, tiles)
        assert found == _judged(rules, gold, tiles, pair=True), (gold, tiles)
        verdicts[found] += 1
        golds[golds_held(tiles, gold)] += 1
    assert min(verdicts.values()) > HANDS // 10, "both kinds of hands must come up"
    assert all(golds[count] for count in range(5))


@pytest.mark.parametrize("name", PROFILES)
def test_waits_are_the_faces_that_complete(name: str) -> None:
    rules = load_ruleset(name)
    chance = random.Random(f"waits {name}")
    faces = [face for face in rules.faces() if not is_flower(face)]
    waiting = 0
    for _ in range(HANDS // 8):
        gold, tiles = _sample(rules, chance, rules.hand + 1)
        tiles.remove(chance.choice(tiles))
        found = waits(rules, gold, tiles)
        wanted = sort_tiles(face for face in faces if _judged(rules, gold, [*tiles, face], pair=True))
        assert list(found) == wanted, (gold, tiles)
        waiting += bool(found)
    assert waiting > HANDS // 40


@pytest.mark.parametrize("name", ("new-xiamen-120", "classic-xiamen-144"))
def test_youjin_is_sets_and_a_gold_over(name: str) -> None:
    rules = load_ruleset(name)
    chance = random.Random(f"youjin {name}")
    ready = 0
    for _ in range(HANDS // 4):
        gold, tiles = _sample(rules, chance, rules.hand + 1)
        wanted = []
        for face in sort_tiles(set(tiles)):
            left = list(tiles)
            left.remove(face)
            is_ready = golds_held(left, gold) > 0 and _judged(rules, gold, left, pair=False, spare=1)
            assert youjin_ready(rules, gold, left) == is_ready, (gold, left)
            if is_ready:
                wanted.append(face)
                assert set(waits(rules, gold, left)) == {f for f in rules.faces() if not is_flower(f)}
        assert list(youjin_discards(rules, gold, tiles)) == wanted, (gold, tiles)
        ready += bool(wanted)
    assert ready > HANDS // 80


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
        tiles = tuple(f"{place + 1}m" for place, count in enumerate(counts) for _ in range(count))
        sets = next(golds for golds in range(40) if oracle(tiles, golds, False, not natural_pairs))
        paired = next(golds for golds in range(40) if oracle(tiles, golds, True, not natural_pairs))
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
        tiles = ("1z",) * count
        assert byte & NEED == next(golds for golds in range(9) if oracle(tiles, golds, False, not natural_pairs))


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
