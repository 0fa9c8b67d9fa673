"""A hand told by items or by tiles comes to the points of the same hand played, under every profile."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from engine import book as b
from engine import declarations as d
from engine import play
from engine.chain import Refused
from engine.declared import declare, new_sheet, settle_declared
from engine.outcome import HandEnd, Win
from engine.ruleset import Ruleset, load_ruleset
from engine.settlement import foul_kinds, settle_outcome
from engine.tiles import FLOWERS, SEATS
from tests.engine.book.telling import all_done, ended, entered, opened, points
from tests.engine.hands_told import meld
from tests.engine.random_hands import ALL_RULES, some_chips, some_end, some_options
from tests.engine.test_played_hands_settle import chosen, played, shuffled


def closed(rules: Ruleset, end: HandEnd, tiles: Any, chips: dict[str, int] | None) -> b.Book:
    """The hand told, agreed on by silence."""
    book = opened(rules, end.dealer, end.gold, end.steps, chips=chips)
    book = all_done(entered(ended(book, end), end, tiles))
    assert book.stage == "agreement", book.reckoned.missing
    return b.fold(book, b.decide_clock(book))


def same_points(rules: Ruleset, end: HandEnd, tiles: Any, chips: dict[str, int]) -> None:
    book = closed(rules, end, tiles, chips)
    want = settle_outcome(rules, end, chips)
    assert book.closed is not None
    got = settle_declared(book.closed, chips)
    assert (got.net, got.bonus, got.next) == (want.net, want.bonus, want.next)
    assert points(b.public(book)["settlement"]) == (want.net, want.bonus, want.next)


@pytest.mark.parametrize("name", ALL_RULES)
def test_played_hands_told_by_items_and_by_tiles(name: str) -> None:
    chance = random.Random(f"told {name}")
    kinds: Counter[str] = Counter()
    for _ in range(8):
        rules = load_ruleset(name, some_options(chance, name))
        end = played(chance, rules)
        chips = some_chips(chance)
        kinds[end.outcome.kind] += 1
        same_points(rules, end, (), chips)
        same_points(rules, end, SEATS, chips)
        same_points(rules, end, [seat for seat in SEATS if chance.random() < 0.5], chips)
    assert kinds["win"]


@pytest.mark.parametrize("name", ALL_RULES)
def test_random_ends_told_by_items(name: str) -> None:
    """Rarer ends than play brings: all kongs, 包赔, 重判, 买底 and 顶底, the last tile of a 游金."""
    chance = random.Random(f"random {name}")
    compared: Counter[str] = Counter()
    for _ in range(120):
        rules = load_ruleset(name, some_options(chance, name))
        end = some_end(chance, rules)
        chips = some_chips(chance)
        try:
            book = entered(ended(opened(rules, end.dealer, end.gold, end.steps, chips=chips), end), end, ())
        except Refused as refused:
            assert refused.code in ("whose_tile", "too_many_copies"), refused.code
            continue
        missing = book.reckoned.missing
        if missing is not None:
            assert missing.code in ("least_way", "golds_missing", "rob_golds", "flowers_missing", "too_many_copies")
            continue
        book = all_done(book)
        assert book.stage == "agreement"
        want = settle_outcome(rules, end, chips)
        assert points(b.public(book)["settlement"]) == (want.net, want.bonus, want.next), end
        compared[end.outcome.kind] += 1
    assert compared["win"] > 15
    assert compared["draw"]


@pytest.mark.parametrize("name", ALL_RULES)
def test_the_sheet_of_a_played_hand(name: str) -> None:
    """`sheet_of` settles as play does, and a book opened with it, or with what another book closed, comes to it too."""
    chance = random.Random(f"sheet {name}")
    for _ in range(4):
        rules = load_ruleset(name, some_options(chance, name))
        end = played(chance, rules)
        chips = some_chips(chance)
        want = settle_outcome(rules, end, chips)
        sheet = b.sheet_of(rules, end)
        assert settle_declared(sheet, chips).transfers == want.transfers
        book = opened(rules, end.dealer, end.gold, end.steps, sheet=sheet, stage="agreement", chips=chips)
        assert book.stage == "agreement" and book.reckoned.settlement == want
        again = closed(rules, end, [seat for seat in SEATS if chance.random() < 0.5], chips)
        second = opened(rules, end.dealer, end.gold, end.steps, sheet=again.closed, stage="agreement", chips=chips)
        assert second.stage == "agreement"
        assert points(b.public(second)["settlement"]) == (want.net, want.bonus, want.next)
        assert b.fold(second, b.decide_clock(second)).closed == again.closed


def fouled(chance: random.Random, rules: Ruleset) -> HandEnd | None:
    """A hand in which somebody lays a false win open at some moment; None when it was over before."""
    state, presses = play.begin(shuffled(chance, rules)), chance.randint(0, 120)
    for _ in range(600):
        if state.outcome is not None:
            return None
        faults = [(seat, one) for seat in SEATS for one in play.faults(state, seat) if one.name == "expose_false"]
        if presses <= 0 and faults:
            return play.hand_end(play.step(state, *chance.choice(faults)))
        presses -= 1
        asked = play.asked(state)
        seat = chance.choice(sorted(asked)) if asked else ""
        events = play.decide(state, seat, chosen(chance, state, seat)) if seat else play.decide_clock(state)
        for event in events:
            state = play.apply(state, event)
    return None


@pytest.mark.parametrize("name", [one for one in ALL_RULES if foul_kinds(load_ruleset(one))])
def test_the_sheet_of_a_false_win(name: str) -> None:
    """Who was to discard still holds the tile drawn; who was ready is judged as played."""
    chance = random.Random(f"fouled {name}")
    rules, ends = load_ruleset(name), 0
    for _ in range(12):
        end = fouled(chance, rules)
        if end is None:
            continue
        ends += 1
        want = settle_outcome(rules, end)
        assert settle_declared(b.sheet_of(rules, end)).transfers == want.transfers
        book = opened(rules, end.dealer, end.gold, end.steps, sheet=b.sheet_of(rules, end), stage="agreement")
        assert book.stage == "agreement" and book.reckoned.settlement == want
        same_points(rules, end, (), dict.fromkeys(SEATS, 100))
    assert ends > 3


@pytest.mark.parametrize("name", ["new-xiamen-120", "new-xiamen-120-base", "quanzhou-common"])
def test_a_sheet_of_known_sets(name: str) -> None:
    """R26 before 开金: flowers, melds and triplets are known of every seat, no whole hand."""
    rules = load_ruleset(name, {"eight_flowers": "wins"})
    sheet = new_sheet(rules, "E", None)
    for said in (
        d.FlowersHeld("S", FLOWERS),
        d.GoldsHeld("S", 0),
        d.TripletsHeld("S", ("1m", "5z")),
        d.TripletsHeld("W", ("2m", "3m")),
        d.MeldsLaid("N", (meld("pong", "555p"), meld("kong_concealed", "7777p"), meld("chi", "123s"))),
        d.HandWon((Win("S", "shuanghuagang"),)),
    ):
        sheet = declare(sheet, said)
    book = opened(rules, "E", None, sheet=sheet, stage="agreement")
    want = settle_declared(sheet)
    assert book.stage == "agreement" and book.reckoned.settlement == want
    assert b.kongs(book)["N"] == (b.Kong("concealed"),) and b.tail_taken(book) == 9


def test_a_sum_told_whole_is_no_entry() -> None:
    sheet = declare(new_sheet(load_ruleset("new-xiamen-120"), "E", "9p"), d.WaterTold("S", (("water", 3),)))
    with pytest.raises(Refused) as refused:
        b.page_of(sheet)
    assert (refused.value.code, refused.value.params["field"]) == ("bad_value", "water")
