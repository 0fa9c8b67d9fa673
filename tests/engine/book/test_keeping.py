"""The book while play goes on: flowers, kongs, 盖牌, and the end of the hand, each of which can be taken back."""

from __future__ import annotations

from typing import Any

import pytest

from engine import book as b
from engine.chain import Refused
from engine.tiles import FLOWERS, SEATS
from tests.engine.book.telling import BASIC, BIJIN, CLASSIC, NEW, SEED, ask, opened, refusal, say, told


def test_flowers_are_touched_and_taken_back() -> None:
    book = told(opened(NEW, flowers={"W": ["2f"]}), ("S", "flower", {"tile": "1f"}))
    assert (book.flowers["S"], book.flowers["W"], b.tail_taken(book)) == (("1f",), ("2f",), 2)
    asked = ask(book, "S")
    assert (asked.verb, asked.params["mine"], asked.params["taken"]) == ("book", ["1f"], {"1f": "S", "2f": "W"})
    assert refusal(book, "N", "flower", tile="1f") == ("flower_taken", "R7")
    assert refusal(book, "S", "flower", tile="1f") == ("flower_twice", "R7")
    assert refusal(book, "N", "unflower", tile="1f") == ("flower_not_yours", "R7")
    assert refusal(book, "N", "flower", tile="1m") == ("bad_value", "R7")
    assert refusal(opened(SEED), "N", "flower", tile="1f") == ("not_a_flower", "R7")
    book = say(book, "S", "unflower", tile="1f")
    assert say(book, "N", "flower", tile="1f").flowers["N"] == ("1f",)


def test_kongs_are_touched_and_taken_back() -> None:
    book = told(opened(CLASSIC), ("S", "kong", {"kind": "open"}), ("S", "kong", {"kind": "concealed", "honour": True}))
    both = [{"kind": "open", "honour": False}, {"kind": "concealed", "honour": True}]
    assert ask(book, "N").params["kongs"]["S"] == both
    assert (b.tail_taken(book), b.kongs(book)["S"][1].honour) == (2, True)
    assert refusal(book, "S", "unkong", kind="added") == ("no_such_kong", "R15")
    assert refusal(book, "S", "unkong", kind="open", honour=True) == ("no_such_kong", "R15")
    assert refusal(book, "S", "kong", kind="closed") == ("bad_value", "R15")
    assert refusal(book, "S", "kong", kind="open", honour=1) == ("bad_value", "R15")
    book = told(book, ("S", "unkong", {"kind": "concealed", "honour": True}), ("S", "unkong", {"kind": "open"}))
    assert b.kongs(book)["S"] == () and b.tail_taken(book) == 0


def test_kongs_of_honours_are_told_apart_only_where_they_count_otherwise() -> None:
    plain = say(opened(NEW), "S", "kong", kind="open", honour=True)
    assert not ask(plain, "S").params["honours"]
    assert b.kongs(say(plain, "S", "unkong", kind="open"))["S"] == ()
    assert ask(opened(CLASSIC), "S").params["honours"]
    five = told(opened(NEW), *[("S", "kong", {"kind": "open"})] * 5)
    assert refusal(five, "S", "kong", kind="open") == ("hand_size", "R20")
    four = told(opened(BASIC), *[("S", "kong", {"kind": "open"})] * 4)
    assert refusal(four, "S", "kong", kind="open") == ("hand_size", "R20")


def test_covered_seats() -> None:
    book = opened(NEW, covered=["N"])
    assert b.covered(book) == ("N",)
    book = told(book, ("E", "cover", {"seat": "W", "on": True}), ("E", "cover", {"seat": "N", "on": False}))
    assert b.covered(book) == ("W",) and ask(book, "E").params["covered"] == ["W"]
    assert b.covered(say(book, "E", "cover", seat="W", on=True)) == ("W",)
    assert refusal(book, "W", "win", way="zimo") == ("covered_wins", "R39")
    assert refusal(book, "W", "foul", kind="zhahu") == ("covered_foul", "R39")
    assert refusal(book, "E", "cover", seat="W") == ("bad_value", "R39")
    assert refusal(book, "E", "cover", seat="X", on=True) == ("bad_value", "R39")


@pytest.mark.parametrize(
    ("rules", "seat", "params", "want"),
    [
        (NEW, "S", {"way": "pinghu"}, ("whose_tile", "R13")),
        (NEW, "S", {"way": "qianggang"}, ("whose_tile", "R13")),
        (NEW, "S", {"way": "zimo", "source": "W"}, ("nobodys_tile", "R13")),
        (NEW, "S", {"way": "pinghu", "source": "S"}, ("own_tile", "R13")),
        (NEW, "S", {"way": "pinghu", "source": "X"}, ("bad_value", "R13")),
        (NEW, "S", {"way": "pinghu", "seat": 3, "source": "E"}, ("bad_value", "R13")),
        (NEW, "S", {"way": "dihu"}, ("unknown_way", "R21")),
        (NEW, "S", {"way": "tianhu"}, ("not_dealer", "R25")),
        (BASIC, "E", {"way": "dihu", "source": "W"}, ("is_dealer", "R29")),
        (NEW, "S", {}, ("bad_value", "R13")),
        (NEW, "S", {"way": ["zimo"]}, ("bad_value", "R13")),
        (NEW, "S", {"way": "zimo", "tile": "1m"}, ("bad_value", "R13")),
    ],
)
def test_wins_that_cannot_be(rules: str, seat: str, params: dict[str, Any], want: tuple[str, str]) -> None:
    assert refusal(opened(rules), seat, "win", **params) == want


def test_a_win_is_declared_by_anybody_and_taken_back_by_anybody() -> None:
    book = told(opened(NEW), ("S", "flower", {"tile": "1f"}), ("S", "kong", {"kind": "open"}))
    book = say(book, "N", "win", seat="S", way="pinghu", source="W")
    assert book.stage == "entry" and [one.verb for one in b.asks(book)] == ["entry"] * 4
    book = told(book, ("S", "items", {"golds": 1}), ("W", "done"), ("E", "pays_all", {"seat": "W"}))
    book = say(book, "E", "reopen")
    assert (book.stage, book.done, book.end.kind, book.first.pays_all) == ("keeping", (), "", None)
    assert book.first.seats["S"] == b.Said(flowers=("1f",), kongs=(b.Kong("open"),), golds=1)
    assert [one.verb for one in b.asks(book)] == ["book"] * 4


def test_the_eighth_flower_wins_by_itself_and_can_be_taken_back() -> None:
    seven = told(opened(NEW, gold=None), *[("S", "flower", {"tile": face}) for face in FLOWERS[:7]])
    book = say(seven, "S", "flower", tile="8f")
    assert (book.stage, book.end.wins[0].way, book.end.wins[0].seat) == ("entry", "shuanghuagang", "S")
    back = say(book, "N", "reopen")
    assert back.stage == "keeping" and len(back.flowers["S"]) == 8
    assert say(back, "S", "unflower", tile="8f").stage == "keeping"
    assert opened(NEW, flowers={"S": FLOWERS}).stage == "entry"
    assert opened(BIJIN, flowers={"S": FLOWERS}).stage == "keeping"
    corrected = say(book, "S", "unflower", tile="8f")
    assert corrected.stage == "entry" and ask(corrected, "S").params["missing"]["code"] == "flowers_missing"


def test_a_draw_is_settled_at_once() -> None:
    assert say(opened(NEW), "W", "drawn").stage == "agreement"
    assert refusal(opened(BIJIN), "W", "drawn") == ("last_drawer_missing", "R3")
    assert refusal(opened(BIJIN), "W", "drawn", last_drawer="x") == ("bad_value", "R18")
    book = say(opened(BIJIN), "W", "drawn", last_drawer="N")
    assert book.stage == "agreement" and ask(book, "E").params["settlement"]["next"]["dealer"] == "N"


def test_a_false_win_is_settled_at_once_but_for_a_heavy_judgement() -> None:
    book = say(opened(NEW), "E", "foul", kind="zhayou", seat="S")
    assert book.stage == "agreement" and ask(book, "S").params["settlement"]["net"]["S"] == -60
    assert ask(say(opened(BIJIN), "S", "foul", kind="zhahu"), "E").params["settlement"]["net"]["E"] == 10
    assert refusal(opened(SEED), "S", "foul", kind="zhahu") == ("unknown_foul", "R38")
    assert refusal(opened(NEW), "S", "foul", kind="zha") == ("unknown_foul", "R38")
    heavy = say(opened(CLASSIC, covered=["N"]), "S", "foul", kind="zhahu")
    assert (heavy.stage, heavy.needed) == ("entry", ("E", "W"))


def test_what_the_display_offers() -> None:
    params = ask(opened(BASIC), "S").params
    ways = {one["way"]: (one["source"], one["may"]) for one in params["ways"]}
    assert ways["pinghu"] == (True, True) and ways["qiangjin"] == (False, True) and ways["zimo"] == (False, False)
    assert (params["several"], params["fouls"], params["followed"]) == (True, [], None)
    params = ask(opened("xiamen-offline"), "S").params
    assert params["fouls"] == ["zhahu", "zhayou", "zhashuangyou"]
    assert params["followed"] == {"no_flowers": False, "followed": 0}


def test_following_the_dealer_is_told_before_a_draw() -> None:
    book = say(opened("xiamen-offline"), "S", "followed", no_flowers=True, followed=2)
    assert ask(say(book, "S", "drawn"), "E").params["settlement"]["net"]["E"] == -12
    assert refusal(opened(NEW), "S", "followed", no_flowers=True, followed=0) == ("no_following_here", "R40")
    assert refusal(book, "S", "followed", no_flowers=True, followed=9) == ("bad_value", "R40")


def test_actions_of_other_stages_and_unknown_ones() -> None:
    book = opened(NEW)
    for action in ("items", "tiles", "done", "agree", "object", "vote", "propose", "reopen", "change"):
        assert refusal(book, "S", action) == ("not_asked", "P1")
    assert refusal(book, "S", "dance") == ("unknown_action", "P1")
    with pytest.raises(Refused, match="bad_seat"):
        b.decide(book, "X", "drawn", {})
    with pytest.raises(Refused, match="nothing_to_decide"):
        b.decide_floor(book, 1)
    assert b.decide_clock(book) == () and not b.clock(book) and book.closed is None
    assert all(ask(book, seat).actions == ask(book, "E").actions for seat in SEATS)
