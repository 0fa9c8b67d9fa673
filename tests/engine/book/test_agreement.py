"""Silence agrees; an objection shows both versions and is decided three to one, or by the floor (P3, P4)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine import book as b
from engine.chain import Refused
from engine.declared import settle_declared
from engine.tiles import SEATS
from tests.engine.book.telling import BASIC, CLASSIC, NEW, all_done, ask, opened, points, refusal, say, told


def settled(rules: str = NEW, way: str = "zimo", **more: Any) -> b.Book:
    """S has won by self-draw without anything beside; all look at it."""
    book = all_done(say(opened(rules, **more), "S", "win", way=way))
    assert book.stage == "agreement"
    return book


def proposed(book: b.Book, by: str = "W", golds: int = 1) -> b.Book:
    """Somebody says that S holds a gold."""
    return told(book, (by, "object"), (by, "items", {"seat": "S", "golds": golds}), (by, "propose"))


def net_of(book: b.Book) -> dict[str, int]:
    assert book.closed is not None
    return settle_declared(book.closed).net


def floor(book: b.Book, choice: int) -> b.Book:
    return b.fold(book, b.decide_floor(book, choice))


def test_silence_agrees() -> None:
    book = settled()
    assert b.clock(book) and [one.verb for one in b.asks(book)] == ["agree"] * 4
    closed = b.fold(book, b.decide_clock(book))
    assert (closed.stage, closed.how, b.asks(closed), b.clock(closed)) == ("closed", "silence", (), 0)
    assert net_of(closed) == {"E": -4, "S": 12, "W": -4, "N": -4}
    assert b.decide_clock(closed) == ()
    assert refusal(closed, "E", "object") == ("not_asked", "P1")


def test_all_four_agree() -> None:
    book = told(settled(), ("E", "agree"), ("S", "agree"), ("N", "agree"))
    assert refusal(book, "E", "agree") == ("already_answered", "P3")
    assert ask(book, "W").params["agreed"] == {"E": True, "S": True, "W": False, "N": True}
    closed = say(book, "W", "agree")
    assert (closed.stage, closed.how) == ("closed", "agreed")


def test_a_change_goes_back_to_the_entry_and_takes_agreement_back() -> None:
    book = told(settled(), ("E", "agree"), ("S", "change"))
    assert (book.stage, book.agreed, book.done, book.needed) == ("entry", (), ("E", "W", "N"), SEATS)
    book = told(book, ("S", "items", {"golds": 1}), ("S", "done"))
    assert (book.stage, book.agreed) == ("agreement", ()) and ask(book, "E").params["settlement"]["net"]["E"] == -5


def test_a_draw_that_was_none_is_changed() -> None:
    """Who asked must say when he is done: a draw has nothing that anybody need enter."""
    book = told(say(opened(NEW), "S", "drawn"), ("N", "change"))
    assert (book.stage, book.needed) == ("entry", ("N",))
    assert say(book, "N", "done").stage == "agreement"
    won = say(book, "N", "win", way="zimo")
    assert won.needed == SEATS and all_done(won).stage == "agreement"
    assert say(book, "W", "reopen").stage == "keeping"
    loser = told(settled(CLASSIC), ("W", "change"))
    assert loser.needed == ("S", "W") and ask(loser, "W").params["needed"]


def test_an_objection_stops_the_clock() -> None:
    book = told(settled(), ("W", "agree"), ("W", "object"))
    assert (book.stage, book.by, book.agreed) == ("objection", "W", ())
    assert b.clock(book) > 1, "no longer the agreement's"
    assert ask(book, "W").verb == "object_entry"
    for seat in ("E", "S", "N"):
        asked = ask(book, seat)
        assert (asked.verb, asked.actions, asked.params) == ("objection", (), {"by": "W"})
        assert refusal(book, seat, "items", golds=1) == ("not_asked", "P1")
    assert refusal(book, "W", "done") == ("not_asked", "P1")


def test_an_objector_who_goes_away_objects_no_longer() -> None:
    book = say(settled(), "W", "object")
    book = b.fold(book, b.decide_clock(book))
    assert (book.stage, book.by, book.second, b.clock(book)) == ("agreement", "", None, 1)
    again = say(book, "W", "object")
    assert (again.stage, again.by) == ("objection", "W"), "he was only thinking"
    again = b.fold(again, b.decide_clock(again))
    assert again.stage == "agreement" and refusal(again, "W", "object") == ("objected_already", "P4")
    assert b.fold(again, b.decide_clock(again)).decided == 1, "and time alone books it"


def test_who_goes_away_in_a_vote_is_for_what_was_proposed_first() -> None:
    alone = proposed(settled())
    closed = b.fold(alone, b.decide_clock(alone))
    assert (closed.decided, closed.how) == (1, "vote")
    two = say(proposed(settled()), "E", "vote", choice=2)
    open_still = b.fold(two, b.decide_clock(two))
    assert open_still.stage == "vote", "two against two: the floor, or a change of mind"
    assert b.clock(open_still) == 4 * b.clock(two) and b.restarts(open_still) > b.restarts(two)


def test_who_goes_away_with_the_entry_undone_has_said_all_that_counts() -> None:
    book = told(opened(NEW), ("S", "win", {"way": "zimo"}), ("S", "items", {"golds": 1}), ("S", "done"))
    assert book.stage == "entry" and b.clock(book) > 1
    assert b.fold(book, b.decide_clock(book)).stage == "agreement"


def test_the_objector_writes_a_version_of_his_own() -> None:
    book = told(
        settled(),
        ("W", "object"),
        ("W", "items", {"seat": "S", "golds": 1}),
        ("W", "flower", {"seat": "N", "tile": "3f"}),
        ("W", "kong", {"kind": "open"}),
    )
    assert book.first.seats["S"].golds is None and b.tail_taken(book) == 0, "the first version stands as it was"
    params = ask(book, "W").params
    assert points(params["first"])[0] == {"E": -4, "S": 12, "W": -4, "N": -4}
    assert points(params["settlement"])[0] == {"E": -7, "S": 15, "W": -4, "N": -4}
    assert params["seats"]["S"]["said"]["golds"] == 1 and params["seats"]["W"]["water"] == 1
    assert b.public(book)["second"] is None, "not before it is proposed"
    book = say(book, "W", "propose")
    assert book.stage == "vote" and points(b.public(book)["second"])[0]["E"] == -7
    params = ask(book, "N").params
    assert {(one["seat"], one["what"]) for one in params["differs"]} == {
        ("S", "golds"),
        ("W", "kongs"),
        ("N", "flowers"),
    }
    assert next(one for one in params["differs"] if one["what"] == "golds") == {
        "seat": "S",
        "what": "golds",
        "first": 0,
        "second": 1,
    }


def test_another_end_of_the_hand_as_the_second_version() -> None:
    book = told(settled(), ("E", "object"), ("E", "win", {"seat": "N", "way": "youjin"}))
    book = told(book, ("E", "items", {"seat": "N", "golds": 1}), ("E", "cover", {"seat": "W", "on": True}))
    book = told(book, ("E", "pays_all", {"seat": "S"}), ("E", "propose"), ("S", "vote", {"choice": 2}))
    whole = {one["what"] for one in ask(book, "E").params["differs"] if one["seat"] == ""}
    assert whole == {"winners", "covered", "pays_all"}
    closed = say(book, "N", "vote", choice=2)
    assert net_of(closed) == {"E": 0, "S": -33, "W": 0, "N": 33}
    assert b.public(closed)["winners"] == [{"seat": "N", "way": "youjin", "source": None}]
    assert points(b.public(closed)["settlement"])[0]["S"] == -33


def test_a_version_must_differ_and_be_complete() -> None:
    book = say(settled(), "W", "object")
    assert refusal(book, "W", "propose") == ("no_difference", "P4")
    book = say(book, "W", "win", seat="S", way="youjin")
    assert ask(book, "W").params["missing"]["code"] == "golds_missing"
    assert refusal(book, "W", "propose") == ("golds_missing", "R22")
    assert refusal(book, "W", "items", seat="X", golds=1) == ("bad_value", "R32")


@pytest.mark.parametrize("stage", ["objection", "vote"])
def test_an_objection_is_withdrawn(stage: str) -> None:
    book = say(say(settled(), "E", "agree"), "W", "object")
    if stage == "vote":
        book = told(book, ("W", "items", {"seat": "S", "golds": 1}), ("W", "propose"), ("S", "vote", {"choice": 1}))
        assert refusal(book, "S", "withdraw") == ("not_asked", "P1")
    book = say(book, "W", "withdraw")
    assert (book.stage, book.second, book.votes, book.agreed, book.by) == ("agreement", None, {}, ("E",), "")
    assert b.clock(book) and "object" in ask(book, "W").actions, "a thumb that takes it back may have slipped"
    assert say(book, "E", "object").stage == "objection"
    book = told(book, ("W", "object"), ("W", "withdraw"))
    assert refusal(book, "W", "object") == ("objected_already", "P4"), "two a seat and hand"
    again = told(book, ("S", "change"), ("S", "done"))
    assert again.stage == "agreement" and refusal(again, "W", "object") == ("objected_already", "P4")


def test_what_is_used_up_is_not_offered_any_more() -> None:
    """P4: two objections a seat and hand; P2: a seat goes back to the entry only so often."""
    book = told(settled(), ("W", "object"), ("W", "withdraw"), ("W", "object"), ("W", "withdraw"))
    assert {seat: ask(book, seat).actions for seat in SEATS} == {
        seat: ("agree", "change") if seat == "W" else ("agree", "object", "change") for seat in SEATS
    }
    while "change" in ask(book, "S").actions:
        book = told(book, ("S", "change"), ("S", "done"))
    assert refusal(book, "S", "change") == ("too_often", "P2") and ask(book, "S").actions == ("agree", "object")
    assert "change" in ask(book, "E").actions and ask(book, "W").actions == ("agree", "change")


def test_three_to_one_for_the_first() -> None:
    book = told(proposed(settled()), ("E", "vote", {"choice": 1}), ("S", "vote", {"choice": 1}))
    assert book.stage == "vote" and b.public(book)["votes"] == {"W": 2, "E": 1, "S": 1}
    closed = say(book, "N", "vote", choice=1)
    assert (closed.decided, closed.how) == (1, "vote") and net_of(closed)["E"] == -4


def test_three_to_one_for_the_second() -> None:
    book = told(proposed(settled()), ("E", "vote", {"choice": 2}))
    closed = say(book, "N", "vote", choice=2)
    assert (closed.decided, closed.how) == (2, "vote") and net_of(closed)["E"] == -5
    assert closed.closed is not None and closed.closed.seats["S"].golds == 1
    assert points(b.public(closed)["settlement"])[0]["E"] == -5


def test_two_against_two_waits_for_the_floor_or_a_change_of_mind() -> None:
    book = told(proposed(settled()), ("E", "vote", {"choice": 2}), ("S", "vote", {"choice": 1}))
    book = say(book, "N", "vote", choice=1)
    assert book.stage == "vote" and b.clock(book) == 16
    over = b.fold(book, b.decide_clock(book))
    assert (over.stage, over.decided, over.how) == ("closed", 1, "silence"), "the first version stands"
    assert refusal(book, "N", "vote", choice=1) == ("already_answered", "P4")
    assert refusal(book, "N", "vote", choice=3) == ("bad_value", "P4")
    assert refusal(book, "N", "vote", choice=True) == ("bad_value", "P4")
    assert refusal(book, "N", "vote") == ("bad_value", "P4")
    assert say(book, "N", "vote", choice=2).decided == 2
    assert say(book, "E", "vote", choice=1).decided == 1
    assert say(book, "W", "vote", choice=1).decided == 1, "the objector is convinced"
    for choice, net in ((1, -4), (2, -5)):
        closed = floor(book, choice)
        assert (closed.stage, closed.decided, closed.how) == ("closed", choice, "floor") and net_of(closed)["E"] == net


def test_what_the_floor_may_decide() -> None:
    writing = say(settled(), "W", "object")
    assert floor(writing, 1).decided == 1
    for book, choice, code in (
        (writing, 2, "not_proposed"),
        (settled(), 1, "nothing_to_decide"),
        (proposed(settled()), 0, "bad_value"),
        (proposed(settled()), True, "bad_value"),
    ):
        with pytest.raises(Refused) as refused:
            b.decide_floor(book, choice)
        assert (refused.value.code, refused.value.rule) == (code, "P4")


def test_what_everybody_sees_is_small_and_without_tiles() -> None:
    """The largest: three winners, 课外 in the least lucky numbers, both versions, all votes."""
    chips = dict.fromkeys(SEATS, 1_000_000)
    book = opened(BASIC, gold="1m", steps=100, chips=chips)
    for seat in ("E", "S", "N"):
        book = say(book, seat, "win", way="pinghu", source="W")
    book = all_done(book)
    second = told(book, ("E", "object"), ("E", "win", {"seat": "S", "way": "dihu", "source": "W"}), ("E", "propose"))
    second = told(second, ("S", "vote", {"choice": 2}), ("N", "vote", {"choice": 1}))
    assert len(second.end.wins) == 3 and b.public(second)["second"] is not None
    assert len(json.dumps(b.public(second))) < 1_500
    heavy = say(opened(CLASSIC, steps=40), "S", "foul", kind="zhahu")
    for seat in ("E", "W", "N"):
        heavy = told(heavy, (seat, "ready", {"on": True}), (seat, "items", {"golds": 1}), (seat, "done"))
    voted = told(heavy, ("E", "object"), ("E", "ready", {"seat": "N", "on": False}), ("E", "propose"))
    seen = b.public(voted)
    assert min(seen["settlement"]["net"].values()) < -(2**42) and seen["second"] is not None
    assert len(json.dumps(seen)) < 1_500
    assert "transfers" not in json.dumps(seen)


def test_what_counts_for_nothing_keeps_nobody_waiting() -> None:
    """A loser without a share in the points has entered a hand that cannot be: refused when he says he is done."""
    book = say(
        say(opened(CLASSIC), "S", "win", way="zimo"), "W", "tiles", concealed="147m258p369s99m1155p34s", melds=[]
    )
    assert refusal(book, "W", "done") == ("hand_size", "R20")
    assert say(book, "S", "done").stage == "agreement"
    needed = say(say(opened(NEW), "S", "win", way="zimo"), "W", "tiles", concealed="147m258p369s99m1155p34s", melds=[])
    assert ask(needed, "W").params["missing"]["code"] == "hand_size"


def test_hands_are_open_only_once_they_are_shown() -> None:
    """A loser's tiles are his own until he has said all; the objector sees what lies open and what he wrote."""
    hand = "147m258p369s9m1155p34s"
    book = say(opened(CLASSIC), "S", "win", way="zimo")
    book = say(book, "W", "tiles", concealed=hand, melds=[])
    assert not b.shown(book, "W") and b.shown(book, "S")
    book = say(all_done(book), "N", "object")
    assert ask(book, "N").params["seats"]["W"]["tiles"] is None
    assert "W" not in b.public(book)["winners"] and hand not in json.dumps(b.public(book))
    book = told(book, ("N", "items", {"seat": "W"}), ("N", "items", {"seat": "S", "golds": 1}), ("N", "propose"))
    tiles = [one for one in ask(book, "E").params["differs"] if one["what"] == "tiles"]
    assert tiles == [{"seat": "W", "what": "tiles", "first": "", "second": None}]
    done = told(
        say(opened(NEW), "S", "win", way="zimo"), ("W", "tiles", {"concealed": hand, "melds": []}), ("W", "done")
    )
    assert b.shown(done, "W")
    assert ask(say(all_done(done), "N", "object"), "N").params["seats"]["W"]["tiles"]["concealed"] is not None
