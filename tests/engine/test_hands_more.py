"""Distance from waiting, and complete hands read aloud, each against trying everything (R20)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations

import pytest

from engine.decompose import Group, decompose
from engine.hand_tables import completing
from engine.hands import complete, golds_held, waits
from engine.ruleset import Ruleset, load_ruleset
from engine.shanten import shanten
from engine.tiles import is_flower, parse_tiles, sort_tiles

PROFILES = ("new-xiamen-120", "classic-xiamen-144", "basic-136", "quanzhou-common")


@cache
def oracle(naturals: tuple[str, ...], golds: int, drawn: int, pair: bool, mixed_pair: bool) -> bool:
    """Whether tiles are sets, and a pair where one is asked for; what is `drawn` may be any natural tile or a gold."""
    if golds < 0 or drawn < 0:
        return False
    if not naturals:
        return (golds + drawn) % 3 == (2 if pair else 0)
    first, rest = naturals[0], naturals[1:]
    if pair:
        if first in rest and oracle(_less(rest, first), golds, drawn, False, mixed_pair):
            return True
        if oracle(rest, golds, drawn - 1, False, mixed_pair):
            return True
        if mixed_pair and oracle(rest, golds - 1, drawn, False, mixed_pair):
            return True
    return any(_with(rest, others, golds, drawn, pair, mixed_pair) for others in ((first, first), *_runs(first)))


def _with(rest: tuple[str, ...], others: tuple[str, ...], golds: int, drawn: int, pair: bool, mixed_pair: bool) -> bool:
    if golds < 0 or drawn < 0:
        return False
    if not others:
        return oracle(rest, golds, drawn, pair, mixed_pair)
    face, further = others[0], others[1:]
    return (
        (face in rest and _with(_less(rest, face), further, golds, drawn, pair, mixed_pair))
        or _with(rest, further, golds - 1, drawn, pair, mixed_pair)
        or _with(rest, further, golds, drawn - 1, pair, mixed_pair)
    )


def _runs(face: str) -> Iterator[tuple[str, str]]:
    if face[1] != "z":
        number, suit = int(face[0]), face[1]
        for start in (number - 2, number - 1, number):
            if 1 <= start <= 7:
                others = [f"{n}{suit}" for n in range(start, start + 3) if n != number]
                yield others[0], others[1]


def _less(tiles: tuple[str, ...], face: str) -> tuple[str, ...]:
    at = tiles.index(face)
    return tiles[:at] + tiles[at + 1 :]


def _reachable(rules: Ruleset, gold: str | None, tiles: list[str], drawn: int) -> bool:
    """Whether so many drawn tiles make these complete, whichever are thrown for them."""
    thrown = drawn - (len(tiles) % 3 == 1)
    if thrown < 0:
        return False
    stands = rules.white_mode == "always" and gold not in (None, "5z")
    named = sort_tiles(gold if face == "5z" and stands and gold is not None else face for face in tiles if face != gold)
    golds = golds_held(tiles, gold)
    mixed = rules.gold_in_pair == "any"
    for thrown_golds in range(min(thrown, golds) + 1):
        kept = (
            {tuple(found) for found in combinations(named, len(named) - thrown + thrown_golds)}
            if (thrown - thrown_golds <= len(named))
            else set()
        )
        if any(oracle(found, golds - thrown_golds, drawn, True, mixed) for found in kept):
            return True
    return False


def _dealt(rules: Ruleset, chance: random.Random, size: int) -> tuple[str | None, list[str]]:
    """Tiles of the set, of few faces so that they fit together, some exchanged for golds; one hand in five has none."""
    full = [face for face, count in rules.faces().items() for _ in range(count) if not is_flower(face)]
    gold = chance.choice(full)
    suits = chance.sample("mps", chance.choice((1, 1, 2, 3)))
    pool = [face for face in full if face[1] in suits or (face[1] == "z" and chance.random() < 0.3)]
    pool += [gold] * (full.count(gold) - pool.count(gold))
    tiles = chance.sample([face for face in pool if face != gold], size)
    for place in range(min(size, chance.randrange(5))):
        tiles[place] = gold
    chance.shuffle(tiles)
    return (gold, tiles) if gold in tiles or chance.random() < 0.5 else (None, tiles)


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("size", [4, 5, 7, 8])
def test_shanten_is_the_fewest_exchanges(name: str, size: int) -> None:
    rules = load_ruleset(name)
    chance = random.Random(f"shanten {name} {size}")
    found: Counter[int] = Counter()
    for _ in range(250):
        gold, tiles = _dealt(rules, chance, size)
        wanted = next(drawn for drawn in range(size + 1) if _reachable(rules, gold, tiles, drawn)) - 1
        assert shanten(rules, gold, tiles) == wanted, (gold, tiles)
        found[wanted] += 1
    assert len(found) >= 3, found


@pytest.mark.parametrize("name", PROFILES)
def test_shanten_of_whole_hands_near_waiting(name: str) -> None:
    rules = load_ruleset(name)
    chance = random.Random(f"whole {name}")
    found: Counter[int] = Counter()
    for number in range(120):
        gold, tiles = _dealt(rules, chance, rules.hand + number % 2)
        far = shanten(rules, gold, tiles)
        found[far] += 1
        for drawn in range(3):
            assert _reachable(rules, gold, tiles, drawn) == (far + 1 <= drawn), (gold, tiles, far)
    assert found[0] and found[1] and found[2] + found[3], found


@pytest.mark.parametrize("name", PROFILES)
def test_shanten_agrees_with_waiting_and_complete(name: str) -> None:
    rules = load_ruleset(name)
    chance = random.Random(f"agree {name}")
    seen: Counter[bool] = Counter()
    for _ in range(700):
        gold, tiles = _dealt(rules, chance, rules.hand + 1)
        far = shanten(rules, gold, tiles)
        assert (far == -1) == complete(rules, gold, tiles), (gold, tiles)
        left = tiles[:-1]
        assert (shanten(rules, gold, left) == 0) == bool(waits(rules, gold, left)), (gold, left)
        assert far <= shanten(rules, gold, left) <= far + 1, "one tile is one step at most"
        seen[bool(waits(rules, gold, left))] += 1
    assert min(seen.values()) > 25


def test_shanten_by_hand() -> None:
    rules = load_ruleset("basic-136")
    far = "147m258p369s12345z"
    assert shanten(rules, None, parse_tiles(far)[:13]) == 8
    assert shanten(rules, None, parse_tiles("123456789m1122p")) == 0
    assert shanten(rules, None, parse_tiles("123456789m11222p")) == -1
    assert shanten(rules, "9s", parse_tiles("123456789m12p99s")) == 0
    assert shanten(rules, None, parse_tiles("1m")) == 0
    with pytest.raises(ValueError, match="3 concealed tiles"):
        shanten(rules, None, parse_tiles("123m"))


def test_shanten_counts_seven_pairs_where_they_win() -> None:
    rules = load_ruleset("basic-136", {"seven_pairs": True})
    tiles = parse_tiles("1155m3399p2277s1z")
    assert shanten(rules, None, tiles) == 0
    assert shanten(load_ruleset("basic-136"), None, tiles) > 0
    assert shanten(rules, None, [*tiles, "1z"]) == -1
    assert shanten(rules, "9m", [*tiles[:-2], "2z", "9m"]) == 1, "a gold pairs with a gold alone (R20)"


@pytest.mark.parametrize("name", PROFILES)
def test_a_complete_hand_is_read_in_sets_and_a_pair(name: str) -> None:
    rules = load_ruleset(name)
    chance = random.Random(f"read {name}")
    read: Counter[int] = Counter()
    for _ in range(2500):
        gold, tiles = _dealt(rules, chance, chance.choice((2, 5, 8, 11, rules.hand + 1)))
        groups = decompose(rules, gold, tiles)
        assert (groups is not None) == complete(rules, gold, tiles), (gold, tiles)
        if groups is not None:
            _check(rules, gold, tiles, groups)
            read[golds_held(tiles, gold)] += 1
    assert all(read[golds] for golds in range(5)), read


def _check(rules: Ruleset, gold: str | None, tiles: list[str], groups: tuple[Group, ...]) -> None:
    assert sorted(held for group in groups for held in group.held) == sorted(tiles)
    assert [group.kind for group in groups].count("pair") == 1 and groups[-1].kind == "pair"
    white_stands = rules.white_mode == "always" and gold not in (None, "5z")
    for group in groups:
        for face, held in zip(group.faces, group.held, strict=True):
            assert held in (gold, face) or (held == "5z" and white_stands and face == gold), (gold, group)
            assert not (held == "5z" and white_stands and face == "5z")
        if group.kind == "run":
            numbers = [int(face[0]) for face in group.faces]
            assert numbers == [numbers[0], numbers[0] + 1, numbers[0] + 2]
            assert len({face[1] for face in group.faces}) == 1 and group.faces[0][1] != "z"
        else:
            assert len(set(group.faces)) == 1
            assert len(group.faces) == (2 if group.kind == "pair" else 3)
    if rules.gold_in_pair == "both_or_none":
        assert groups[-1].held.count(str(gold)) in (0, 2)


def test_a_reading_by_hand() -> None:
    rules = load_ruleset("new-xiamen-120")
    assert decompose(rules, "5p", parse_tiles("13m5p99s")) == (
        Group("run", ("1m", "2m", "3m"), ("1m", "5p", "3m")),
        Group("pair", ("9s", "9s"), ("9s", "9s")),
    )
    # 白 is the natural tile of the gold's face (R12).
    assert decompose(rules, "5p", ["4p", "5z", "6p", "5p", "5p"]) == (
        Group("run", ("4p", "5p", "6p"), ("4p", "5z", "6p")),
        Group("pair", ("5p", "5p"), ("5p", "5p")),
    )
    assert decompose(rules, "5p", parse_tiles("13m99s")) is None


def test_seven_pairs_are_read_as_pairs() -> None:
    options = {"seven_pairs": True, "gold_in_pair": "any"}
    groups = decompose(load_ruleset("basic-136", options), "9p", [*parse_tiles("1155m33p7799s1177z")[:-1], "9p"])
    assert groups is not None and [group.kind for group in groups] == ["pair"] * 7
    assert groups[-1] == Group("pair", ("7z", "7z"), ("7z", "9p"))


def test_what_is_remembered_of_codes_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.hand_tables._REMEMBERED", 3)
    before = [completing(True, False, code, 1, True) for code in range(40)]
    assert [completing(True, False, code, 1, True) for code in reversed(range(40))] == before[::-1]
    from engine import hand_tables

    assert len(hand_tables._completing) <= 3
