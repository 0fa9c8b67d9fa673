"""Each seat enters what counts: by items or by tiles, taken back or told anew until all have said all."""

from __future__ import annotations

from typing import Any

import pytest

from engine import book as b
from engine.tiles import SEATS
from tests.engine.book.telling import BASIC, CLASSIC, NEW, SEED, all_done, ask, opened, refusal, say, told
from tests.engine.hands_told import COMPLETE_16

BASE = "new-xiamen-120-base"
OFFLINE = "xiamen-offline"
KONG = {"kind": "kong_concealed", "tiles": ["7m", "7m", "7m", "7m"]}


def won(rules: str, way: str = "zimo", seat: str = "S", source: str | None = None, **more: Any) -> b.Book:
    return say(opened(rules, **more), seat, "win", way=way, source=source)


def water(book: b.Book, seat: str) -> int:
    found = ask(book, seat).params["water"]
    assert isinstance(found, int)
    return found


def net(book: b.Book) -> dict[str, int]:
    found = ask(book, "E").params["settlement"]["net"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("rules", "way", "gold", "winner", "loser"),
    [
        (NEW, "zimo", "9p", ["flowers", "golds", "kongs"], ["flowers", "golds", "kongs"]),
        (NEW, "youjin", "9p", ["flowers", "golds", "kongs", "last_tile"], ["flowers", "golds", "kongs"]),
        (CLASSIC, "zimo", "9p", ["pongs_honour", "triplets_suited", "triplets_honour"], []),
        (BASE, "zimo", "9p", ["triplets_suited"], ["triplets_suited"]),
        (BASIC, "zimo", "9p", ["patterns"], []),
        (SEED, "zimo", "9p", ["golds", "hardness"], ["golds"]),
    ],
)
def test_what_each_seat_is_asked_for(rules: str, way: str, gold: str, winner: list[str], loser: list[str]) -> None:
    book = won(rules, way, gold=gold)
    mine, others = ask(book, "S").params["fields"], ask(book, "W").params["fields"]
    assert [name for name in mine if name in winner] == winner
    assert [name for name in others if name in loser] == loser
    assert {name.partition("_")[2] for name in (*mine, *others) if name.endswith("honour")} <= {"honour"}
    assert ("pongs_honour" in mine) == (rules == CLASSIC)
    assert ask(book, "S").params["needed"] and ask(book, "W").params["needed"] == bool(loser)


def test_white_that_stands_for_an_honour_counts_as_one() -> None:
    assert "triplets_honour" in ask(won(CLASSIC, gold="1z"), "S").params["fields"]
    assert "triplets_honour" not in ask(won(BASE, gold="5z"), "S").params["fields"]


def test_items_are_whole_values_and_the_settlement_grows() -> None:
    book = won(NEW)
    assert net(book)["E"] == -4 and ask(book, "S").params["said"]["golds"] is None
    book = say(book, "S", "items", golds=1)
    assert net(book)["E"] == -5 and water(book, "S") == 1
    book = say(book, "S", "items", golds=0)
    assert net(book)["E"] == -4 and ask(book, "S").params["said"]["golds"] == 0
    book = told(
        book, ("W", "flower", {"tile": "5f"}), ("W", "kong", {"kind": "concealed"}), ("W", "items", {"golds": 1})
    )
    assert net(book) == {"E": -8, "S": 12, "W": 4, "N": -8} and water(book, "W") == 4
    book = told(book, ("W", "unflower", {"tile": "5f"}), ("W", "unkong", {"kind": "concealed"}))
    assert water(book, "W") == 1
    lines = ask(book, "E").params["lines"]
    assert {line["payer"] for line in lines} == {"E"} and sum(line["amount"] for line in lines) == 5


def test_every_set_has_the_value_of_the_rules() -> None:
    """R32, honours apart."""
    book = told(
        won(CLASSIC),
        ("S", "items", {"golds": 2, "pongs_honour": 1, "triplets_suited": 1, "triplets_honour": 1}),
        ("S", "kong", {"kind": "added", "honour": True}),
        ("S", "kong", {"kind": "concealed"}),
    )
    assert water(book, "S") == 2 + 1 + 1 + 2 + 3 + 3
    assert refusal(book, "S", "items", triplets_suited=2) == ("hand_size", "R20")
    assert refusal(book, "S", "kong", kind="open") == ("hand_size", "R20")


@pytest.mark.parametrize(("number", "worth"), [(0, 0), (1, 1), (2, 2)])
def test_the_last_tile_of_a_tour(number: int, worth: int) -> None:
    """R22: the fourth of an own pong, or of an own concealed triplet."""
    book = say(won(NEW, "youjin"), "S", "items", golds=1, last_tile=number)
    assert ask(book, "S").params["last_tile"] == [0, 1, 2]
    assert water(book, "S") == 1 + worth and net(book)["E"] == -11 - worth


@pytest.mark.parametrize(
    ("rules", "items", "want"),
    [
        (NEW, {"golds": 5}, ("bad_value", "R32")),
        (NEW, {"golds": True}, ("bad_value", "R32")),
        (NEW, {"golds": -1}, ("bad_value", "R32")),
        (NEW, {"golds": "1"}, ("bad_value", "R32")),
        (NEW, {"last_tile": 3}, ("bad_value", "R32")),
        (NEW, {"pongs_honour": 1}, ("unknown_item", "R32")),
        (NEW, {"luck": 1}, ("unknown_item", "R32")),
        (CLASSIC, {"pongs_suited": 1}, ("unknown_item", "R32")),
        (CLASSIC, {"last_tile": 1}, ("unknown_item", "R32")),
        (CLASSIC, {"triplets_suited": 6}, ("bad_value", "R32")),
        (CLASSIC, {"triplets_suited": 3, "triplets_honour": 3}, ("hand_size", "R20")),
        (BASIC, {"golds": 1}, ("unknown_item", "R32")),
    ],
)
def test_items_that_cannot_be(rules: str, items: dict[str, Any], want: tuple[str, str]) -> None:
    assert refusal(won(rules), "S", "items", **items) == want


def test_golds_before_the_gold_is_open() -> None:
    book = won(NEW, "shuanghuagang", gold=None, flowers={"S": [f"{n}f" for n in range(1, 8)]})
    assert refusal(book, "S", "items", golds=1) == ("no_gold", "R8")


def test_nobody_enters_for_another() -> None:
    book = won(NEW)
    for action, params in (("items", {"golds": 1}), ("flower", {"tile": "1f"}), ("tiles", {"concealed": []})):
        assert refusal(book, "W", action, seat="S", **params)[0] == "bad_value"


def tiles_of(concealed: str = COMPLETE_16, tile: str | None = "4s", **more: Any) -> dict[str, Any]:
    return {"concealed": concealed, "melds": [], "tile": tile, **more}


def test_a_hand_by_tiles_and_taken_back() -> None:
    """The kongs that were touched are those that the tiles say; taking the tiles back keeps the counts."""
    book = told(won(CLASSIC), ("S", "kong", {"kind": "open"}), ("S", "items", {"golds": 1, "triplets_suited": 1}))
    counted = water(book, "S")
    book = say(book, "S", "tiles", concealed="123m111p4455789s", melds=[KONG], tile="5s")
    assert water(book, "S") == 3 + 1 and b.tail_taken(book) == 1
    assert ask(book, "S").params["said"]["kongs"] == [{"kind": "concealed", "honour": False}]
    assert ask(book, "S").params["tiles"]["melds"] == [KONG]
    assert ask(book, "W").params["tiles"]["concealed"] is None
    assert refusal(book, "S", "kong", kind="open") == ("kongs_by_tiles", "R15")
    assert refusal(book, "S", "unkong", kind="concealed") == ("kongs_by_tiles", "R15")
    book = say(book, "S", "tiles", concealed=[], melds=[])
    assert ask(book, "S").params["tiles"] == {"concealed": None, "melds": None, "tile": None}
    assert water(book, "S") == counted + 1, "the kong is the concealed one now"
    again = say(say(book, "S", "tiles", **tiles_of()), "S", "items", golds=1)
    assert ask(again, "S").params["said"]["by"] == "items"


def test_flowers_given_with_tiles_go_before_those_touched() -> None:
    book = told(won(NEW), ("S", "flower", {"tile": "1f"}), ("S", "tiles", tiles_of(flowers=["2f", "3f"])))
    assert book.flowers["S"] == ("2f", "3f") and water(book, "S") == 2
    assert refusal(book, "S", "tiles", **tiles_of(flowers=["2f", "2f"])) == ("flower_twice", "R7")
    assert refusal(book, "S", "tiles", **tiles_of(flowers=["2m"])) == ("not_a_flower", "R7")


@pytest.mark.parametrize(
    ("tiles", "want"),
    [
        ({"concealed": "11111m"}, ("too_many_copies", "R12")),
        ({"concealed": "1z"}, ("unknown_face", "R12")),
        ({"concealed": ["1m", "9x"]}, ("bad_value", "R20")),
        ({"concealed": "12"}, ("bad_value", "R20")),
        ({"concealed": None, "melds": []}, ("bad_value", "R20")),
        ({"concealed": "123m"}, ("hand_size", "R20")),
        ({"concealed": COMPLETE_16 + "1m"}, ("hand_size", "R20")),
        (tiles_of(tile="1s"), ("tile_not_held", "R20")),
        (tiles_of(tile="1f"), ("tile_not_held", "R20")),
        (tiles_of(tile="one"), ("bad_value", "R20")),
        ({"concealed": "1m", "melds": "123m"}, ("bad_value", "R20")),
        ({"concealed": "1m", "melds": [{"kind": "chi"}]}, ("bad_value", "R20")),
        ({"concealed": "1m", "melds": [{"kind": "pair", "tiles": "11m"}]}, ("bad_value", "R20")),
        ({"concealed": "1m", "melds": [{"kind": "chi", "tiles": [1, 2]}]}, ("bad_value", "R20")),
        ({"concealed": "1m", "melds": [{"kind": "chi", "tiles": "124m"}]}, ("bad_meld", "R11")),
        ({"concealed": "1m", "melds": [{"kind": "pong", "tiles": "999p"}]}, ("bad_meld", "R11")),
        (tiles_of(wall=["1m"]), ("bad_value", "R20")),
    ],
)
def test_tiles_that_cannot_be(tiles: dict[str, Any], want: tuple[str, str]) -> None:
    assert refusal(won(NEW), "S", "tiles", **tiles) == want


def test_tiles_of_two_seats_that_do_not_go_together_block_nobody() -> None:
    """Who is wrong puts it right, or takes it back; until then the table says what is the matter."""
    book = say(won(NEW), "W", "tiles", concealed="111m258p369s147m2s3p5p7s", melds=[])
    book = say(book, "S", "tiles", **tiles_of("111234789m234p456s44s"))
    asked = ask(book, "N").params
    assert asked["missing"] == {"code": "tiles_clash", "rule": "R12", "params": {}} and asked["settlement"] is None
    assert ask(book, "W").params["missing"]["params"] == {"tile": "1m", "copies": 4}, "his own tiles, and the winner's"
    assert refusal(book, "S", "done") == ("tiles_clash", "R12")
    book = told(book, ("W", "tiles", {"concealed": [], "melds": []}))
    assert ask(book, "N").params["missing"] is None


@pytest.mark.parametrize(
    ("way", "tiles", "code"),
    [
        ("zimo", tiles_of(COMPLETE_16.replace("44s", "45s")), "not_complete"),
        ("youjin", tiles_of(), "golds_missing"),
        ("youjin", tiles_of("123789m234p456678s9p1s", None), "tile_missing"),
        ("zimo", tiles_of("123789m234p456s6s99p44s"), "least_way"),
        ("shuangyou", tiles_of(COMPLETE_16), "golds_missing"),
    ],
)
def test_hands_that_did_not_win_so(way: str, tiles: dict[str, Any], code: str) -> None:
    book = say(won(NEW, way), "S", "tiles", **tiles)
    assert ask(book, "S").params["missing"]["code"] == code
    assert refusal(book, "S", "done")[0] == code
    assert say(book, "S", "tiles", concealed=[], melds=[]).first.seats["S"] == b.Said()


def test_a_tile_by_which_a_shown_hand_was_won_must_be_told() -> None:
    """R32: a triplet that a discard completed is no concealed one."""
    book = won(CLASSIC, "pinghu", source="W")
    hand = "123m456m111p99m" + "789s456s"
    book = say(book, "S", "tiles", concealed=hand, melds=[])
    assert ask(book, "S").params["missing"] == {"code": "tile_missing", "rule": "R32", "params": {"seat": "S"}}
    assert water(say(book, "S", "tiles", concealed=hand, melds=[], tile="1p"), "S") == 0
    assert water(say(book, "S", "tiles", concealed=hand, melds=[], tile="9m"), "S") == 1


def test_patterns_and_hardness() -> None:
    book = won(BASIC, "pinghu", source="W")
    assert net(book) == {"E": 0, "S": 1, "W": -1, "N": 0}
    book = say(book, "S", "patterns", patterns=["menqing", "pengpenghu"])
    assert net(book)["S"] == 3
    assert net(say(book, "S", "patterns", patterns=[]))["S"] == 1
    assert refusal(book, "S", "patterns", patterns=["hunyise", "qingyise"]) == ("patterns_clash", "R35")
    assert refusal(book, "S", "patterns", patterns=["luck"]) == ("unknown_pattern", "R35")
    assert refusal(book, "S", "patterns", patterns="menqing") == ("bad_value", "R35")
    assert refusal(book, "W", "patterns", patterns=[]) == ("not_a_winner", "R35")
    assert refusal(won(NEW), "S", "patterns", patterns=[]) == ("no_patterns_here", "R35")
    book = won(SEED)
    assert ask(book, "S").params["missing"]["code"] == "hardness_missing"
    assert refusal(book, "S", "done") == ("hardness_missing", "R36")
    assert refusal(book, "W", "hardness", hardness="soft") == ("not_a_winner", "R36")
    assert refusal(book, "S", "hardness", hardness="easy") == ("bad_value", "R36")
    assert refusal(won(NEW), "S", "hardness", hardness="soft") == ("bad_hardness", "R36")
    book = told(book, ("S", "hardness", {"hardness": "hard"}), ("N", "items", {"golds": 2}))
    assert net(book) == {"E": -22, "S": 58, "W": -22, "N": -14}
    another = say(book, "W", "win", way="zimo")
    assert another.first.hardness is None, "another's hand"
    assert say(another, "E", "win", seat="S", way="zimo").first.hardness == "hard"


def test_bids() -> None:
    """R36: 买底 and 顶底 touch only what passes between the dealer and the bidder."""
    book = told(won(SEED), ("S", "hardness", {"hardness": "soft"}), ("E", "bid", {"points": 5}))
    assert net(say(book, "S", "bid", points=3))["E"] == -18
    assert refusal(book, "S", "bid", points=11) == ("bad_value", "R36")
    assert refusal(won(NEW), "S", "bid", points=1) == ("no_bids_here", "R36")


def test_several_winners_on_one_tile() -> None:
    book = say(opened(BASIC), "S", "win", way="pinghu", source="W")
    book = say(book, "N", "win", way="pinghu", source="W")
    assert (book.end.winners, book.needed) == (("N", "S"), ("S", "N")), "in play order from the discarder"
    moved = say(book, "S", "win", way="pinghu", source="E")
    assert {win.source for win in moved.end.wins} == {"E"}, "one tile: the last word names whose"
    assert say(book, "E", "unwin", seat="N").end.winners == ("S",)
    assert refusal(book, "E", "unwin", seat="W") == ("not_a_winner", "R13")
    assert refusal(say(book, "E", "unwin", seat="N"), "E", "unwin", seat="S") == ("no_winner", "R13")
    assert refusal(book, "W", "win", way="pinghu", source="W") == ("own_tile", "R13")
    assert say(book, "W", "win", way="zimo").end.winners == ("W",)
    one = say(won(NEW, "pinghu", source="W"), "N", "win", way="pinghu", source="W")
    assert one.end.winners == ("N",), "where one wins the last word stands"


def test_who_must_say_that_he_has_said_all() -> None:
    assert won(NEW).needed == SEATS and won(SEED).needed == SEATS
    assert won(CLASSIC).needed == ("S",) == won(BASIC, "pinghu", source="W").needed
    assert say(won(NEW), "E", "cover", seat="W", on=True).needed == ("E", "S", "N")
    assert say(won(SEED), "E", "cover", seat="W", on=True).needed == SEATS, "财神 are paid for all the same"
    assert say(won(CLASSIC), "S", "done").stage == "agreement"


def test_done_is_taken_back_by_undone_and_by_a_new_word() -> None:
    book = told(won(NEW), ("S", "done"), ("W", "done"))
    assert ask(book, "E").params["done"] == {"E": False, "S": True, "W": True, "N": False}
    assert refusal(book, "S", "done") == ("already_done", "P2")
    assert refusal(book, "E", "undone") == ("not_done", "P2")
    assert say(book, "S", "undone").done == ("W",)
    assert say(book, "S", "items", golds=1).done == ("W",)
    assert say(book, "N", "win", seat="S", way="youjin").done == ()
    assert refusal(book, "S", "done", now=True) == ("bad_value", "P2")
    assert all_done(book).stage == "agreement"


def test_ways_of_the_end_replace_each_other() -> None:
    book = told(won(NEW), ("E", "pays_all", {"seat": "W"}))
    assert net(book)["W"] == -12
    assert say(book, "E", "pays_all", seat=None).first.pays_all is None
    assert refusal(book, "E", "pays_all", seat="S") == ("payer_won", "R27")
    assert refusal(book, "E", "pays_all", seat="X") == ("bad_value", "R27")
    other = say(book, "W", "win", way="zimo")
    assert other.first.pays_all is None and net(other)["S"] == -4
    drawn = say(book, "E", "drawn")
    assert (drawn.stage, drawn.end.kind, drawn.first.pays_all) == ("agreement", "draw", None)
    assert net(told(other, ("E", "win", {"seat": "S", "way": "zimo"})))["W"] == -12, "kept, and counts once more"
    assert say(book, "E", "foul", kind="zhahu", seat="N").end.wins == ()
    assert refusal(book, "E", "ready", on=True) == ("no_foul", "R38")
    assert refusal(book, "E", "cover", seat="S", on=True) == ("covered_wins", "R39")
    followed = say(say(opened(OFFLINE), "S", "win", way="zimo"), "E", "followed", no_flowers=False, followed=1)
    assert net(followed)["E"] == -7


def test_a_heavy_judgement() -> None:
    """R38 重判: who was ready says so, with his 水; the offender alone pays."""
    book = say(opened(CLASSIC), "S", "foul", kind="zhahu")
    assert "ready" in ask(book, "N").params["fields"] and ask(book, "S").params["fields"] == []
    assert refusal(book, "S", "ready", on=True) == ("bad_ready", "R38")
    assert refusal(book, "E", "pays_all", seat="W") == ("pays_all_without_win", "R27")
    book = told(book, ("N", "ready", {"on": True}), ("N", "items", {"golds": 2}))
    assert net(book) == {"E": 0, "S": -(18 + 10 + 10) * 4, "W": 0, "N": 38 * 4}
    assert ask(book, "N").params["said"]["ready"] and not ask(book, "W").params["said"]["ready"]
    assert say(book, "N", "ready", on=False).reckoned.settlement != book.reckoned.settlement
    assert refusal(book, "S", "cover", seat="S", on=True) == ("covered_foul", "R39")
    covered = say(book, "S", "cover", seat="W", on=True)
    assert refusal(covered, "W", "ready", on=True) == ("covered_ready", "R39")
    out = say(book, "S", "cover", seat="N", on=True)
    assert ask(out, "N").params["missing"] is None and set(net(out).values()) == {0}, "out of the hand: not paid"
    assert all_done(book).stage == "agreement"
    shown = say(book, "N", "tiles", concealed="147m258p369s1234567z", melds=[])
    assert ask(shown, "N").params["missing"]["code"] == "not_ready"
    ready = say(book, "N", "tiles", concealed="123789m234p456678s9p", melds=[])
    assert ask(ready, "N").params["missing"] is None


def test_a_book_opened_with_a_sheet_has_no_play_to_go_back_to() -> None:
    closed = b.fold(all_done(won(NEW)), b.decide_clock(all_done(won(NEW))))
    book = opened(NEW, sheet=closed.closed, stage="entry")
    assert book.stage == "entry" and "reopen" not in ask(book, "E").actions
    assert refusal(book, "E", "reopen") == ("not_asked", "P1")
    assert ask(opened(NEW, stage="entry"), "E").params["missing"]["code"] == "no_end_declared"
    assert opened(NEW, sheet=say(opened(NEW), "S", "drawn").reckoned.sheet, stage="agreement").stage == "agreement"
