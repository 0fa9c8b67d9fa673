"""Thousands of presses at random: nothing but refusals comes of the wrong ones, and no book hangs or tells too much."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from engine import book as b
from engine.chain import Refused
from engine.declared import settle_declared
from engine.match import inputs as i
from engine.match.deciding import decide as decide_match
from engine.match.deciding import fold as fold_match
from engine.match.state import Player
from engine.ruleset import Ruleset, load_ruleset
from engine.tiles import FLOWERS, SEATS
from tests.engine.book.telling import all_done, ask, ended, entered, opened, refusal, through_json
from tests.engine.random_hands import ALL_RULES
from tests.engine.test_played_hands_settle import played


def some_params(chance: random.Random, rules: Ruleset, action: str) -> dict[str, Any]:
    """Values such as an action takes, some of them wrong."""
    seat = chance.choice(SEATS)
    faces = [face for face in rules.faces() if face not in FLOWERS]
    ways = [str(way) for way in rules.ways]
    values: Mapping[str, dict[str, Any]] = {
        "flower": {"tile": chance.choice(FLOWERS)},
        "unflower": {"tile": chance.choice(FLOWERS)},
        "kong": {"kind": chance.choice(("open", "added", "concealed")), "honour": chance.random() < 0.3},
        "unkong": {"kind": chance.choice(("open", "added", "concealed")), "honour": chance.random() < 0.3},
        "items": {chance.choice(("golds", "pongs_honour", "triplets_suited", "last_tile")): chance.randint(0, 3)},
        "tiles": {
            "concealed": [chance.choice(faces) for _ in range(chance.choice((0, 13, 14, 16, 17)))],
            "melds": [],
            "tile": chance.choice((None, *faces)),
        },
        "patterns": {"patterns": [chance.choice(("menqing", "pengpenghu", "hunyise", "luck"))]},
        "hardness": {"hardness": chance.choice(("soft", "hard", "double"))},
        "bid": {"points": chance.randint(0, 10)},
        "win": {"seat": seat, "way": chance.choice(ways), "source": chance.choice((None, *SEATS))},
        "unwin": {"seat": seat},
        "drawn": {"last_drawer": chance.choice((None, *SEATS))},
        "foul": {"seat": seat, "kind": chance.choice(("zhahu", "zhayou", "zhashuangyou"))},
        "ready": {"on": chance.random() < 0.5},
        "cover": {"seat": seat, "on": chance.random() < 0.3},
        "pays_all": {"seat": chance.choice((None, *SEATS))},
        "followed": {"no_flowers": chance.random() < 0.5, "followed": chance.randint(0, 2)},
        "vote": {"choice": chance.choice((1, 2))},
    }
    params = values.get(action, {})
    if params and chance.random() < 0.05:
        name = chance.choice(sorted(params))
        params = {**params, name: chance.choice((None, 7, "x", [], {}, True, -1, [None], ["1m", 2]))}
    return params


@pytest.mark.parametrize("name", ALL_RULES)
def test_presses_at_random(name: str) -> None:
    chance = random.Random(f"thumbs {name}")
    rules = load_ruleset(name)
    seen: Counter[str] = Counter()
    for _ in range(12):
        chips = {seat: chance.choice((1, 50, 200)) for seat in SEATS}
        book = opened(rules, chance.choice(SEATS), "9p", chance.randint(0, 3), chips=chips)
        for _ in range(150):
            seat = chance.choice(SEATS)
            offered = b.actions(book, seat)
            if book.stage == "closed":
                break
            action = chance.choice(offered) if offered and chance.random() < 0.95 else "agree"
            if action == "reopen" and chance.random() < 0.8:
                action = "done"
            try:
                events = b.decide(book, seat, action, some_params(chance, rules, action))
            except Refused as refused:
                assert refused.code and refused.rule[:1] in ("R", "P"), (refused.code, action)
                continue
            book = b.fold(book, through_json(events))
            seen[book.stage] += 1
            check(book)
        if book.stage in ("objection", "vote") and chance.random() < 0.5:
            book = b.fold(book, b.decide_floor(book, 1))
        for _ in range(3):
            assert (b.clock(book) == 0) == (book.stage in ("keeping", "closed"))
            book = b.fold(book, through_json(b.decide_clock(book)))
        assert book.stage in ("keeping", "closed"), "time alone closes every book whose hand has ended"
        if book.stage == "closed":
            assert book.closed is not None
            settled = settle_declared(book.closed, chips)
            assert sum(settled.net.values()) == sum(settled.bonus.values()) == 0
            assert settled.net == b.public(book)["settlement"]["net"]
            seen["settled"] += 1
    assert seen["settled"] and seen["agreement"] and seen["objection"]


def check(book: b.Book) -> None:
    """What holds of every book: prompts for all who can act, small and JSON, and no tiles where all can see."""
    asked = b.asks(book)
    assert [one.seat for one in asked] == ([] if book.stage == "closed" else list(SEATS))
    for one in asked:
        assert len(json.dumps(dict(one.params))) < 6_500
        assert set(one.actions) <= set(b.actions(book, one.seat))
        for name in set(b.actions(book, one.seat)) - set(one.actions):
            assert refusal(book, one.seat, name)[0] in ("objected_already", "too_often"), "used up"
        for name in {"object", "change"} & set(one.actions):
            b.decide(book, one.seat, name)
    seen = b.public(book)
    assert len(json.dumps(seen)) < 2_500
    assert set(seen) == {
        "stage", "kind", "winners", "foul", "done", "agreed", "by", "votes", "settlement", "second",
    }  # fmt: skip
    assert (book.closed is not None) == (book.stage == "closed")
    if book.stage in ("agreement", "objection", "vote"):
        assert seen["settlement"] is not None


@pytest.mark.parametrize("name", ALL_RULES)
def test_what_everybody_sees_does_not_depend_on_hidden_tiles(name: str) -> None:
    """Two losers' hands of the same 水 and the same words otherwise: byte-equal to everybody else."""
    rules = load_ruleset(name)
    book = opened(rules).but() if rules.water is None else opened(rules)
    hands = ["147m258p369s1122m334s", "258m147p369s1122m334s"] if rules.hand == 16 else ["147m258p369s1122m"] * 2
    won = b.fold(book, b.decide(book, "S", "win", {"way": "zimo"}))
    seen = []
    for hand in hands:
        told = b.fold(won, b.decide(won, "W", "tiles", {"concealed": hand, "melds": []}))
        seen.append([json.dumps(b.public(told)), *(json.dumps(dict(ask(told, seat).params)) for seat in "ESN")])
        assert "147m" not in "".join(seen[-1])
    assert seen[0] == seen[1]


@pytest.mark.parametrize("name", ALL_RULES)
def test_what_is_closed_is_what_the_match_books(name: str) -> None:
    chance = random.Random(f"booked {name}")
    match = fold_match(decide_match(fold_match(()), i.StartMatch(tuple(Player(str(n)) for n in range(1, 5)), name)))
    match = fold_match(decide_match(match, i.ThrowForDealer("E", (4, 1))), match)
    match = fold_match(decide_match(match, i.BeginHand()), match)
    end = played(chance, match.rules)
    assert end.dealer == match.dealer == "E"
    book = opened(match.rules, "E", end.gold, 0, chips=match.chips_by_seat())
    book = all_done(entered(ended(book, end), end, ()))
    book = b.fold(book, b.decide_clock(book))
    assert book.closed is not None
    booked = fold_match(decide_match(match, i.BookDeclared(book.closed)), match)
    last = booked.last_booking()
    assert last is not None
    assert {seat: last.points[match.seats[seat]] for seat in SEATS} == b.public(book)["settlement"]["net"]
