"""Hands as people declare them: settled by the same code, checked as far as what is known reaches."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from engine import declarations as d
from engine.declarations import CODEC
from engine.declared import Refused, Sheet, declare, new_sheet, settle_declared
from engine.hands import golds_held
from engine.outcome import HandEnd, Win
from engine.plain import PlainError
from engine.ruleset import load_ruleset
from engine.settlement import settle_outcome
from engine.tiles import SEATS, parse_tiles
from engine.water import water
from tests.engine.hands_told import COMPLETE_16, NOTHING_16, meld
from tests.engine.random_hands import ALL_RULES, some_end, some_options

NEW = "new-xiamen-120"
CLASSIC = "classic-xiamen-144"


def faces(tiles: str) -> tuple[str, ...]:
    return tuple(parse_tiles(tiles))


def sheet(rules: str, *said: Any, dealer: str = "E", gold: str | None = "9p", **begun: Any) -> Sheet:
    """A sheet with declarations, carried through JSON on the way."""
    found = new_sheet(load_ruleset(rules), dealer, gold, **begun)
    for one in said:
        found = declare(found, CODEC.decode(json.loads(json.dumps(CODEC.encode(one)))))
    return found


def win(seat: str, way: str, tile: str | None = None, source: str | None = None) -> d.HandWon:
    return d.HandWon((Win(seat, way, tile, source),))


def refusal(rules: str, *said: Any, **begun: Any) -> tuple[str, str]:
    """The code and the rule of the refusal that declarations, or their settlement, meet."""
    with pytest.raises(Refused) as refused:
        settle_declared(sheet(rules, *said, **begun))
    return refused.value.code, refused.value.rule


def test_the_offsets_of_004() -> None:
    """「东家胡牌，南家有3水，西家有3水，北家有2水」, told as flowers, golds, kongs and a concealed triplet."""
    settled = settle_declared(
        sheet(
            "new-xiamen-120-base",
            d.FlowersHeld("S", faces("125f")),
            d.MeldsLaid("W", (meld("kong_concealed", "1111m"),)),
            d.GoldsHeld("N", 1),
            d.TripletsHeld("N", faces("2s")),
            d.GoldsHeld("E", 0),
            win("E", "zimo"),
        )
    )
    assert settled.net == {"E": 96, "S": -31, "W": -31, "N": -34}


def test_a_winner_by_his_hand_or_by_items() -> None:
    hand = [d.HandShown("S", faces("111234m567888p9s9p111s")), d.FlowersHeld("S", faces("1f"))]
    by_hand = settle_declared(sheet(CLASSIC, *hand, win("S", "zimo", "9p")))
    items = (("flowers", 1), ("golds", 1), ("triplet", 1), ("triplet", 1), ("triplet", 1))
    by_items = settle_declared(sheet(CLASSIC, d.WaterTold("S", items), win("S", "zimo")))
    assert by_hand.net == by_items.net == {"E": -42, "S": 94, "W": -26, "N": -26}
    whole = settle_declared(sheet(CLASSIC, d.WaterTold("S", (("water", 5),)), win("S", "zimo")))
    assert whole.net == by_hand.net
    assert {reason.code for reason in whole.transfers[0].why} == {"base_dealer", "water", "multiplier"}


def test_items_go_before_what_the_known_tiles_count() -> None:
    said = [d.GoldsHeld("S", 1), win("S", "zimo")]
    assert settle_declared(sheet(NEW, *said)).net["E"] == -5
    assert settle_declared(sheet(NEW, *said, d.WaterTold("S", ()))).net["E"] == -4


def test_draw_foul_cover_and_paying_for_all() -> None:
    zimo = d.HandWon((Win("E", "zimo"),))
    none = d.GoldsHeld("E", 0)
    drawn = settle_declared(sheet("bijin-xiamen-144", d.HandDrawn("N")))
    assert (drawn.next, drawn.transfers) == (("N", 0), ())
    foul = settle_declared(sheet(NEW, d.FalseWinShown("S", "zhayou")))
    assert foul.net == {"E": 20, "S": -60, "W": 20, "N": 20}
    judged = settle_declared(sheet(CLASSIC, d.WaterTold("N", (("water", 2),)), d.FalseWinShown("S", "zhahu", ("N",))))
    assert judged.net == {"E": 0, "S": -(18 + 10 + 10) * 4, "W": 0, "N": 38 * 4}
    covered = [d.FlowersHeld("W", faces("12f")), d.SeatCovered("W"), zimo]
    assert settle_declared(sheet(NEW, none, *covered)).net["W"] == -4
    assert settle_declared(sheet(NEW, none, *covered[:2], d.SeatCovered("W", False), zimo)).net["W"] == 0
    assert settle_declared(sheet(NEW, none, zimo, d.PaysAll("N"))).net == {"E": 12, "S": 0, "W": 0, "N": -12}
    followed = settle_declared(sheet("xiamen-offline", d.DealerFollowed(True, 2), d.HandDrawn()))
    assert followed.net == {"E": -12, "S": 4, "W": 4, "N": 4}


def test_games_without_water() -> None:
    basic = [d.PatternsTold("S", ("menqing", "pengpenghu")), win("S", "pinghu", source="W")]
    assert settle_declared(sheet("basic-136", *basic)).net == {"E": 0, "S": 3, "W": -3, "N": 0}
    shown = [d.HandShown("S", faces("111m222m333m44z555s")), win("S", "pinghu", "4z", "W")]
    assert settle_declared(sheet("basic-136", *shown)).net["S"] == 3
    seed = [d.GoldsHeld("N", 2), d.HardnessTold("hard"), win("S", "zimo")]
    settled = settle_declared(sheet("quanzhou-seed", *seed, steps=1, buy=5, top={"S": 3}))
    assert settled.net == {"E": -56 - 2, "S": 96 - 2, "W": -20 - 2, "N": -20 + 6}


def test_a_later_word_replaces_the_earlier() -> None:
    said = [d.FlowersHeld("S", faces("1234f")), d.FlowersHeld("S", faces("1f")), d.HandDrawn(), win("S", "zimo")]
    said.append(d.GoldsHeld("S", 0))
    assert settle_declared(sheet(NEW, *said)).net["E"] == -5


@pytest.mark.parametrize(
    ("code", "rule", "said"),
    [
        ("bad_seat", "R2", [d.FlowersHeld("X", ())]),
        ("not_a_flower", "R7", [d.FlowersHeld("S", faces("1m"))]),
        ("flower_twice", "R7", [d.FlowersHeld("S", ("1f", "1f"))]),
        ("flower_twice", "R7", [d.FlowersHeld("S", ("1f",)), d.FlowersHeld("W", ("1f",))]),
        ("unknown_face", "R12", [d.HandShown("S", faces("1z"))]),
        ("bad_meld", "R15", [d.MeldsLaid("S", (meld("pair", "11m"),))]),
        ("bad_meld", "R11", [d.MeldsLaid("S", (meld("chi", "124m"),))]),
        ("bad_meld", "R11", [d.MeldsLaid("S", (meld("kong_open", "9999p"),))]),
        ("hand_size", "R20", [d.MeldsLaid("S", tuple(meld("pong", f"{n}{n}{n}m") for n in range(1, 7)))]),
        ("too_many_copies", "R12", [d.HandShown("S", faces("11111m"))]),
        (
            "too_many_copies",
            "R12",
            [d.MeldsLaid("S", (meld("kong_open", "1111m"),)), d.TripletsHeld("W", ("1m",))],
        ),
        ("too_many_copies", "R8", [d.GoldsHeld("S", 2), d.GoldsHeld("W", 2), win("S", "shuangyou")]),
        ("bad_number", "R11", [d.GoldsHeld("S", 5)]),
        ("bad_triplet", "R32", [d.TripletsHeld("S", ("9p",))]),
        ("hand_size", "R20", [d.TripletsHeld("S", tuple(f"{n}s" for n in range(1, 7)))]),
        ("unknown_item", "R32", [d.WaterTold("S", (("luck", 3),))]),
        ("bad_number", "R32", [d.WaterTold("S", (("flowers", -3),))]),
        ("no_patterns_here", "R35", [d.PatternsTold("S", ("menqing",))]),
        ("bad_hardness", "R36", [d.HardnessTold("soft")]),
        ("no_winner", "R13", [d.HandWon(())]),
        ("one_winner", "R13", [d.HandWon((Win("S", "zimo"), Win("W", "zimo")))]),
        ("unknown_way", "R21", [win("S", "sanjindao_late")]),
        ("own_tile", "R13", [win("S", "pinghu", source="S")]),
        ("nobodys_tile", "R13", [win("S", "zimo", source="W")]),
        ("not_dealer", "R25", [win("S", "tianhu")]),
        ("unknown_face", "R12", [win("S", "zimo", tile="1z")]),
        ("unknown_foul", "R38", [d.FalseWinShown("S", "zha")]),
        ("bad_ready", "R38", [d.FalseWinShown("S", "zhahu", ("N",))]),
        ("no_following_here", "R40", [d.DealerFollowed(True, 1)]),
        ("no_end_declared", "R18", []),
        ("covered_wins", "R39", [d.SeatCovered("S"), win("S", "zimo")]),
        ("pays_all_without_win", "R27", [d.PaysAll("S"), d.HandDrawn()]),
        ("payer_won", "R27", [d.PaysAll("S"), win("S", "zimo")]),
        ("golds_missing", "R22", [d.GoldsHeld("S", 0), win("S", "youjin")]),
        ("golds_missing", "R22", [d.GoldsHeld("S", 2), win("S", "sanjindao")]),
        ("rob_golds", "R15", [d.GoldsHeld("S", 2), win("S", "qianggang", source="W")]),
        ("least_way", "R21", [d.GoldsHeld("S", 1), win("S", "pinghu", source="W")]),
        ("least_way", "R21", [d.GoldsHeld("S", 2), win("S", "zimo")]),
        ("least_way", "R21", [d.GoldsHeld("S", 3), win("S", "youjin")]),
        ("flowers_missing", "R26", [d.FlowersHeld("S", faces("1234567f")), win("S", "shuanghuagang")]),
        ("flowers_missing", "R26", [d.FlowersHeld("S", faces("12f")), win("S", "sanhuayou")]),
    ],
)
def test_what_cannot_be_is_refused(code: str, rule: str, said: list[Any]) -> None:
    assert refusal(NEW, *said) == (code, rule)


@pytest.mark.parametrize(
    ("code", "concealed", "end"),
    [
        ("hand_size", COMPLETE_16[:-3] + "4s", win("S", "zimo")),
        ("not_complete", "1237894m234p456678s5p", win("S", "zimo")),
        ("tile_not_held", COMPLETE_16, win("S", "zimo", "1s")),
        ("not_ready", "123789m23p9p456678s44s", win("S", "youjin")),
        ("not_ready", "123789m234p456678s49sp".replace("49sp", "4s9p"), win("S", "youjin", "9p")),
        ("golds_missing", COMPLETE_16, win("S", "qiangjin")),
    ],
)
def test_a_shown_hand_is_read(code: str, concealed: str, end: d.HandWon) -> None:
    assert refusal(NEW, d.HandShown("S", faces(concealed)), end)[0] == code


def test_hands_that_are_as_told() -> None:
    plain = [d.HandShown("S", faces(COMPLETE_16)), win("S", "pinghu", "4s", "W")]
    assert settle_declared(sheet(NEW, *plain)).net["S"] == 6
    ready = "123789m234p456678s9p"
    tour = [d.HandShown("S", faces(ready + "1s")), win("S", "youjin", "1s")]
    assert settle_declared(sheet(NEW, *tour)).net["S"] == 33
    grabbed = [d.HandShown("S", faces("123789m23499p456678s")), win("S", "qiangshuangyou")]
    assert settle_declared(sheet(NEW, *grabbed)).net["S"] == 66
    flower = [d.HandShown("S", faces(ready)), d.FlowersHeld("S", ("3f",)), win("S", "youjin", "3f")]
    assert settle_declared(sheet(NEW, *flower)).net["S"] == 36
    assert refusal(CLASSIC, *flower) == ("not_complete", "R22")
    golds = [d.HandShown("W", faces("1479m258p369s999p1234s".replace("258p", "25p"))), win("W", "sanjindao")]
    assert settle_declared(sheet(NEW, *golds)).net["W"] == 39
    eight = [d.FlowersHeld("N", faces("12345678f")), d.GoldsHeld("N", 0), win("N", "shuanghuagang")]
    assert settle_declared(sheet(NEW, *eight)).net["N"] == 264


def test_openings_have_no_melds_and_losers_hands_are_counted() -> None:
    laid = [d.MeldsLaid("E", (meld("pong", "111p"),)), d.HandShown("E", faces("123789m456678s44s")), win("E", "tianhu")]
    assert refusal(NEW, *laid) == ("melds_before_discard", "R25")
    loser = [d.GoldsHeld("S", 0), d.HandShown("N", faces("147m")), win("S", "zimo")]
    assert refusal(NEW, *loser) == ("hand_size", "R20")
    assert settle_declared(sheet(NEW, *loser, d.SeatCovered("N"))).net["N"] == -4
    whole = [d.GoldsHeld("S", 0), d.HandShown("N", faces(NOTHING_16)), win("S", "zimo")]
    assert settle_declared(sheet(CLASSIC, *whole)).net["N"] == -16


def test_what_the_points_rest_on_must_be_told() -> None:
    assert refusal("basic-136", win("S", "zimo")) == ("patterns_missing", "R35")
    assert refusal("basic-136", d.PatternsTold("S", ("zimo",)), win("S", "zimo")) == ("patterns_clash", "R35")
    assert refusal("basic-136", win("S", "pinghu")) == ("whose_tile", "R13")
    assert refusal("quanzhou-seed", win("S", "zimo")) == ("hardness_missing", "R36")
    assert refusal("bijin-xiamen-144", d.HandDrawn()) == ("last_drawer_missing", "R3")
    assert refusal("basic-136", d.WaterTold("S", (("water", 1),))) == ("no_water_here", "R32")
    assert refusal(NEW, d.GoldsHeld("S", 1), gold=None) == ("no_gold", "R8")
    assert refusal("quanzhou-seed", buy=11) == ("bad_number", "R36")
    assert refusal(NEW, gold="1f") == ("unknown_face", "R8")


@pytest.mark.parametrize("order", [1, -1])
def test_a_seat_out_of_the_hand_is_no_part_of_a_false_win(order: int) -> None:
    """R39, whichever is said first: neither the offender nor one of those who are judged again."""
    foul = d.FalseWinShown("S", "zhahu", ("N", "W"))
    assert refusal(CLASSIC, *[d.SeatCovered("W"), foul][::order]) == ("covered_ready", "R39")
    assert refusal(CLASSIC, *[d.SeatCovered("S"), foul][::order]) == ("covered_foul", "R39")
    assert settle_declared(sheet(CLASSIC, foul, d.SeatCovered("E"))).net["S"] < 0


@pytest.mark.parametrize(
    ("rules", "way", "rule", "golds"),
    [
        (NEW, "zimo", "R32", 0),
        (NEW, "shuanghuagang", "R32", 0),
        (NEW, "youjin", "R22", 1),
        (NEW, "sanyou", "R22", 1),
        (NEW, "qiangshuangyou", "R22", 2),
        (CLASSIC, "sanjindao_late", "R22", 3),
        ("new-xiamen-120-base", "sanjindao", "R22", 3),
        ("bijin-xiamen-144", "qiangjin", "R22", 1),
    ],
)
def test_the_water_of_a_winner_must_be_told(rules: str, way: str, rule: str, golds: int) -> None:
    """Items, a hand or golds; flowers and kongs alone do not say how many golds he holds."""
    eight = [d.FlowersHeld("S", faces("12345678f")), d.FlowersHeld("W", ())]
    assert refusal(rules, *eight, win("S", way)) == ("water_missing", rule)
    assert settle_declared(sheet(rules, *eight, d.GoldsHeld("S", golds), win("S", way))).net["S"] > 0


@pytest.mark.parametrize(
    ("rules", "way", "golds"),
    [
        (NEW, "youjin", 1),
        (NEW, "qiangshuangyou", 2),
        (NEW, "sanjindao", 3),
        (CLASSIC, "sanjindao_late", 3),
        (CLASSIC, "sanyou", 1),
    ],
)
def test_fewer_golds_than_the_way_needs(rules: str, way: str, golds: int) -> None:
    """R22: however they are told; a sum of 水 must have room for them, and one gold more each is enough."""
    for few, enough in (
        (d.GoldsHeld("S", golds - 1), d.GoldsHeld("S", golds)),
        (d.WaterTold("S", (("golds", golds - 1),)), d.WaterTold("S", (("golds", golds),))),
        (d.WaterTold("S", (("water", golds - 1),)), d.WaterTold("S", (("water", golds),))),
    ):
        assert refusal(rules, few, win("S", way)) == ("golds_missing", "R22")
        assert settle_declared(sheet(rules, enough, win("S", way))).net["S"] > 0
    assert refusal(rules, d.WaterTold("S", (("flowers", 3),)), win("S", way)) == ("golds_missing", "R22")


def test_golds_told_as_water_are_golds() -> None:
    """R15, R21: a way that so many golds do not allow is refused whichever way they were told."""
    two = d.WaterTold("S", (("golds", 2),))
    assert refusal(NEW, two, win("S", "zimo")) == ("least_way", "R21")
    assert refusal(NEW, two, win("S", "qianggang", source="W")) == ("rob_golds", "R15")
    assert sheet(NEW, two).known_golds == {"S": 2}
    assert sheet(NEW, d.WaterTold("S", (("water", 2),))).known_golds == {}


@pytest.mark.parametrize(
    ("rules", "item", "most"),
    [
        (NEW, "flowers", 8),
        (CLASSIC, "flowers", 16),
        ("bijin-xiamen-144", "flowers", 16),
        (NEW, "golds", 4),
        (NEW, "pong", 0),
        (NEW, "triplet", 0),
        (CLASSIC, "pong", 5),
        (CLASSIC, "triplet", 10),
        (CLASSIC, "kong_open", 15),
        (CLASSIC, "kong_added", 15),
        (CLASSIC, "kong_concealed", 20),
        (NEW, "last_tile", 2),
        (CLASSIC, "last_tile", 0),
        (NEW, "water", 8 + 4 + 10 + 2),
        (CLASSIC, "water", 16 + 4 + 20),
    ],
)
def test_no_item_of_water_is_more_than_a_hand_can_hold(rules: str, item: str, most: int) -> None:
    found = sheet(rules, d.WaterTold("S", ((item, most),)))
    assert found.seats["S"].items == (((item, most),) if most else ())
    for items in (((item, most + 1),), ((item, most), (item, 1)), ((item, 999),)):
        assert refusal(rules, d.WaterTold("S", items)) == ("bad_number", "R32")


def _told(end: HandEnd) -> list[Any]:
    """A played hand as people would declare it: every hand shown, or what counts of it."""
    said: list[Any] = []
    for seat in SEATS:
        own = end.held[seat]
        said += [d.FlowersHeld(seat, own.flowers), d.MeldsLaid(seat, own.melds)]
        said.append(d.GoldsHeld(seat, golds_held(own.concealed, end.gold)))
        counts = {face: own.concealed.count(face) for face in own.concealed if face != end.gold}
        said.append(d.TripletsHeld(seat, tuple(face for face, count in counts.items() if count >= 3)))
    outcome = end.outcome
    if outcome.foul is not None:
        return [*said, d.FalseWinShown(outcome.foul.seat, outcome.foul.kind, outcome.foul.ready)]
    said += [d.SeatCovered(seat) for seat in outcome.covered] + [d.PaysAll(outcome.pays_all)]
    return [*said, d.HandWon(outcome.winners) if outcome.winners else d.HandDrawn(outcome.last_drawer)]


@pytest.mark.parametrize("name", [one for one in ALL_RULES if one not in ("basic-136", "quanzhou-seed")])
def test_declared_and_played_hands_settle_alike(name: str) -> None:
    """Random hands, told by flowers, kongs, golds and triplets alone: as many points as with all tiles known."""
    chance = random.Random(f"declared {name}")
    compared = 0
    for _ in range(250):
        rules = load_ruleset(name, some_options(chance, name))
        end = some_end(chance, rules)
        found = new_sheet(rules, end.dealer, end.gold, end.steps)
        try:
            for one in _told(end):
                found = declare(found, one)
            if rules.dealer_followed:
                found = declare(found, d.DealerFollowed(end.outcome.no_flowers, end.outcome.followed))
            declared = settle_declared(found)
        except Refused as refused:
            assert refused.code in ("too_many_copies", "least_way", "golds_missing", "rob_golds", "flowers_missing")
            continue
        played = settle_outcome(rules, end)
        if not _last_tile_matters(end):
            assert (declared.net, declared.bonus, declared.next) == (played.net, played.bonus, played.next)
            compared += 1
    assert compared > 60


def _last_tile_matters(end: HandEnd) -> bool:
    """A discard that completes a triplet, or the last tile of a 游金, is told apart only by the whole hand."""
    return any(win.source is not None or win.way in ("youjin", "shuangyou", "sanyou") for win in end.outcome.winners)


def test_water_of_known_tiles_is_the_water_of_the_hand() -> None:
    rules = load_ruleset(CLASSIC)
    said = sheet(
        CLASSIC, d.GoldsHeld("S", 2), d.TripletsHeld("S", faces("1z3m")), d.MeldsLaid("S", (meld("pong", "444z"),))
    )
    known = said.seats["S"].held("9p")
    assert water(rules, "9p", known.flowers, known.concealed, known.melds) == [
        ("golds", 2),
        ("triplet", 1),
        ("triplet", 2),
        ("pong", 1),
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"type": "Nothing"},
        {"seat": "S"},
        {"type": "GoldsHeld", "seat": "S"},
        {"type": "GoldsHeld", "seat": "S", "golds": 1, "more": 2},
        {"type": 3},
    ],
)
def test_no_record_is_no_declaration(body: dict[str, Any]) -> None:
    with pytest.raises(PlainError):
        CODEC.decode(body)
