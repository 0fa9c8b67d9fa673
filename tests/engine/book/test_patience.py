"""Nothing that was entered is lost by a stray thumb, nobody who walks away holds up a hand, nor who presses on (P2)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from engine import book as b
from engine.book.state import MOST_TURNS, OWN_RESTARTS
from engine.chain import Refused
from engine.declared import settle_declared
from engine.declared_checks import check_wins
from engine.outcome import Win
from engine.ruleset import load_ruleset
from engine.tiles import FLOWERS, SEATS
from tests.engine.book.telling import BASIC, CLASSIC, NEW, SEED, all_done, ask, opened, refusal, say, through_json, told
from tests.engine.hands_told import COMPLETE_16
from tests.engine.random_hands import ALL_RULES

HAND = "147m258p369s9m1155p34s"


def time_over(book: b.Book) -> b.Book:
    """The stage's time is over; it must have run."""
    assert b.clock(book) > 0
    return b.fold(book, through_json(b.decide_clock(book)))


def entered() -> b.Book:
    """S has won; it tells its hand by tiles, E by counts, W by tiles, and E and W have said all."""
    return told(
        opened(NEW),
        ("S", "win", {"way": "zimo"}),
        ("S", "tiles", {"concealed": COMPLETE_16, "melds": [], "tile": "4s"}),
        ("E", "items", {"golds": 2}),
        ("W", "tiles", {"concealed": HAND, "melds": []}),
        ("E", "done"),
        ("W", "done"),
    )


# --- nothing is lost --------------------------------------------------------------------------------------------------


def test_what_was_entered_survives_a_hand_that_is_taken_up_again() -> None:
    before = entered()
    back = say(before, "N", "reopen")
    assert (back.stage, back.done, back.agreed, back.end.kind) == ("keeping", (), (), "")
    assert b.public(back)["settlement"] is None and not any(b.shown(back, seat) for seat in SEATS)
    again = say(back, "S", "win", way="zimo")
    assert again.first == before.first
    assert ask(again, "S").params["tiles"] == ask(before, "S").params["tiles"]
    assert ask(again, "E").params["said"]["golds"] == 2 and ask(again, "W").params["said"]["by"] == "tiles"
    assert ask(again, "N").params["settlement"] == ask(before, "N").params["settlement"]
    assert all_done(again).stage == "agreement"


def test_what_was_entered_survives_another_end() -> None:
    """Another winner, another way, a false win, a draw: every word is kept, and counts where it fits."""
    before = entered()
    for seat, action, params in (
        ("N", "win", {"way": "pinghu", "source": "E"}),
        ("S", "win", {"way": "youjin"}),
        ("E", "foul", {"kind": "zhahu"}),
        ("E", "drawn", {}),
    ):
        other = say(before, seat, action, **params)
        assert other.first.seats == before.first.seats, action
        back = say(other, "S", "change") if other.stage == "agreement" else other
        assert say(back, "S", "win", way="zimo").first == before.first


def test_what_does_not_fit_the_end_does_not_count() -> None:
    """The last tile of a 游金 of who has not won so, hardness and 重判 of another hand."""
    tour = told(opened(NEW), ("S", "win", {"way": "youjin"}), ("S", "items", {"golds": 1, "last_tile": 2}))
    assert ask(tour, "S").params["water"] == 3
    assert ask(say(tour, "S", "win", way="zimo"), "S").params["water"] == 1
    assert ask(say(tour, "W", "win", way="zimo"), "S").params["water"] == 1
    hard = told(opened(SEED), ("S", "win", {"way": "zimo"}), ("S", "hardness", {"hardness": "hard"}), ("S", "reopen"))
    assert ask(say(hard, "W", "win", way="zimo"), "W").params["missing"]["code"] == "hardness_missing"
    assert ask(say(hard, "S", "win", way="zimo"), "S").params["hardness"] == "hard"
    heavy = told(opened(CLASSIC), ("S", "foul", {"kind": "zhahu"}), ("N", "ready", {"on": True}), ("N", "reopen"))
    assert heavy.first.foul is None
    other = say(heavy, "N", "foul", kind="zhahu")
    assert other.first.foul is not None and other.first.foul.ready == (), "not who made it"
    assert b.public(say(heavy, "S", "foul", kind="zhahu"))["foul"]["ready"] == ["N"]


def test_play_that_goes_on_is_not_held_to_what_was_entered() -> None:
    """A kong after the hand was taken up again: the tiles and sets that were entered speak of an earlier hand."""
    back = say(entered(), "W", "reopen")
    kong = say(back, "W", "kong", kind="open")
    assert kong.first.seats["W"].kongs == (b.Kong("open"),) and not kong.first.seats["W"].by_tiles
    sets = told(opened(CLASSIC), ("S", "win", {"way": "zimo"}), ("S", "items", {"triplets_suited": 5}), ("S", "reopen"))
    won = told(sets, ("S", "kong", {"kind": "open"}), ("S", "win", {"way": "zimo"}))
    assert refusal(won, "S", "done") == ("hand_size", "R20")
    assert say(won, "S", "items", triplets_suited=4).reckoned.settlement is not None


# --- nobody holds up a hand by walking away ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "way", "golds", "net"),
    [
        (NEW, "youjin", 1, 33),
        (NEW, "shuangyou", 1, 63),
        (NEW, "zimo", 0, 12),
        (SEED, "zimo", 0, 30),
        (BASIC, "zimo", 0, 6),
    ],
)
def test_a_winner_who_walks_away_gets_the_least_of_his_way(rules: str, way: str, golds: int, net: int) -> None:
    book = say(opened(rules), "S", "win", way=way)
    over = time_over(book)
    assert (over.stage, over.first.seats["S"].golds or 0) == ("agreement", golds)
    closed = time_over(over)
    assert closed.closed is not None and settle_declared(closed.closed).net["S"] == net
    assert say(over, "S", "object").stage == "objection", "whoever knows better has a version of his own"


def test_what_he_did_say_counts_where_it_can_be() -> None:
    book = told(
        opened(NEW), ("S", "flower", {"tile": "1f"}), ("S", "win", {"way": "youjin"}), ("W", "items", {"golds": 1})
    )
    over = time_over(book)
    assert over.first.seats["W"].golds == 1 and over.first.seats["S"] == b.Said(("1f",), golds=1, hardness="soft")
    tiles = told(
        opened(NEW),
        ("S", "win", {"way": "zimo"}),
        ("S", "tiles", {"concealed": COMPLETE_16.replace("44s", "45s"), "melds": []}),
    )
    assert tiles.reckoned.settlement is None
    assert time_over(tiles).first.seats["S"] == b.Said(golds=0, hardness="soft")


def test_a_seat_that_has_said_all_keeps_it_while_another_one_is_wrong() -> None:
    book = told(entered(), ("E", "undone"), ("W", "undone"), ("S", "done"), ("E", "done"))
    clash = told(
        book,
        ("W", "tiles", {"concealed": "111m258p369s147m2s3p5p7s", "melds": []}),
        ("S", "tiles", {"concealed": "111234789m234p456s44s", "melds": [], "tile": "4s"}),
    )
    assert clash.reckoned.missing is not None
    over = time_over(clash)
    assert over.stage == "agreement" and over.first.seats["E"].golds == 2
    assert [seat for seat in SEATS if over.first.seats[seat] != clash.first.seats[seat]] == ["S"]


def test_eight_flowers_that_are_fewer_are_eight_by_their_way() -> None:
    book = opened(NEW, gold=None, flowers={"S": FLOWERS})
    assert book.stage == "entry"
    fewer = told(book, ("S", "unflower", {"tile": "8f"}), ("N", "flower", {"tile": "8f"}))
    assert time_over(say(book, "S", "unflower", tile="8f")).first.seats["S"].flowers == FLOWERS
    over = time_over(fewer)
    assert over.stage == "agreement" and over.first.seats["S"].flowers == FLOWERS
    assert refusal(book, "S", "win", way="youjin") == ("no_gold", "R8")


def test_the_floor_ends_an_entry_at_once() -> None:
    book = say(opened(NEW), "S", "win", way="youjin")
    over = b.fold(book, through_json(b.decide_floor(book, 1)))
    assert over == time_over(book) and over.stage == "agreement"
    with pytest.raises(Refused, match="not_proposed"):
        b.decide_floor(book, 2)


@pytest.mark.parametrize("name", ALL_RULES)
def test_every_entry_ends_by_time_whatever_was_entered(name: str) -> None:
    """Each way of each game, everybody's entries at random: time alone settles and closes it."""
    rules = load_ruleset(name)
    chance = random.Random(f"patience {name}")
    tried = 0
    for way in [str(way) for way in rules.ways if rules.knows(way)]:
        for _ in range(20):
            seat, source = chance.choice(SEATS), chance.choice((None, *SEATS))
            try:
                check_wins(rules, "E", [Win(seat, way, None, source)])
                book = say(opened(rules), seat, "win", way=way, source=source)
            except Refused:
                continue
            book = scribbled(book, chance)
            closed = time_over(time_over(book)) if book.stage == "entry" else time_over(book)
            assert (closed.stage, closed.how) == ("closed", "silence") and closed.closed is not None
            assert sum(settle_declared(closed.closed).net.values()) == 0
            tried += 1
    assert tried > 30


def scribbled(book: b.Book, chance: random.Random) -> b.Book:
    """Whatever four seats enter that is taken."""
    faces = [face for face in book.rules.faces() if face not in FLOWERS]
    for _ in range(12):
        seat = chance.choice(SEATS)
        hand = [chance.choice(faces) for _ in range(book.rules.hand + chance.randint(0, 1))]
        said: list[tuple[str, dict[str, Any]]] = [
            ("items", {chance.choice(("golds", "last_tile", "triplets_suited")): chance.randint(0, 3)}),
            ("tiles", {"concealed": hand, "melds": [], "tile": chance.choice(hand)}),
            ("kong", {"kind": chance.choice(("open", "concealed"))}),
            ("flower", {"tile": chance.choice(FLOWERS)}),
            ("patterns", {"patterns": [chance.choice(("menqing", "zimo", "gangshangkaihua"))]}),
            ("cover", {"seat": chance.choice(SEATS), "on": True}),
            ("done", {}),
        ]
        action, params = chance.choice(said)
        try:
            book = say(book, seat, action, **params)
        except Refused:
            continue
    return book


# --- nobody holds up a hand by pressing on ----------------------------------------------------------------------------


def test_a_seat_starts_the_clock_anew_only_so_often() -> None:
    book = say(opened(NEW), "S", "win", way="zimo")
    seen = set()
    for press in range(3 * OWN_RESTARTS):
        book = say(book, "S", "win", way="youjin" if press % 2 else "shuangyou")
        seen.add(b.restarts(book))
    assert seen == set(range(1, OWN_RESTARTS + 1)), "then it runs on"
    before = b.restarts(book)
    assert b.restarts(say(book, "W", "items", golds=1)) == before + 1, "the others have their own"
    waiting = told(book, ("W", "done"), ("W", "undone"))
    assert b.restarts(waiting) == before + 1, "taking it back starts nothing"


def test_votes_that_change_for_ever_hold_up_nothing() -> None:
    book = all_done(say(opened(NEW), "S", "win", way="zimo"))
    book = told(book, ("W", "object"), ("W", "items", {"seat": "S", "golds": 1}), ("W", "propose"))
    numbers = []
    for press in range(3 * OWN_RESTARTS):
        book = say(book, "E", "vote", choice=1 + press % 2)
        numbers.append(b.restarts(book))
    assert numbers[-1] == numbers[-OWN_RESTARTS] and numbers == sorted(numbers)


def test_a_seat_turns_a_hand_only_so_often() -> None:
    """Ends, reopenings and changes of one seat; the others can do it in its place."""
    book = opened(NEW)
    for _ in range(MOST_TURNS // 2):
        book = told(book, ("S", "win", {"way": "zimo"}), ("S", "reopen"))
    assert refusal(book, "S", "win", way="zimo") == ("too_often", "P2")
    book = say(book, "E", "win", seat="S", way="zimo")
    assert refusal(book, "S", "reopen") == ("too_often", "P2")
    agreed = all_done(book)
    assert refusal(agreed, "S", "change") == ("too_often", "P2")
    assert say(agreed, "N", "change").stage == "entry" and say(book, "N", "reopen").stage == "keeping"


def test_a_hand_that_all_have_turned_too_often_can_still_be_ended() -> None:
    book = opened(NEW)
    for seat in SEATS:
        for _ in range(MOST_TURNS // 2):
            book = say(say(book, seat, "win", way="zimo"), seat, "reopen")
    assert book.stage == "keeping"
    book = say(book, "W", "win", way="zimo")
    assert all(refusal(book, seat, "reopen") == ("too_often", "P2") for seat in SEATS)
    assert all_done(book).stage == "agreement"


def test_flowers_and_kongs_of_play_start_no_clock() -> None:
    book = opened(CLASSIC)
    for _ in range(OWN_RESTARTS + 1):
        book = told(book, ("S", "kong", {"kind": "open"}), ("S", "unkong", {"kind": "open"}))
    assert not b.restarts(book) and not b.clock(book)
