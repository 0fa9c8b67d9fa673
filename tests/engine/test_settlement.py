"""Settlements say why, sum to zero, and know the chips (R27, R31, R34, R36-R41)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from engine.outcome import Foul, Outcome
from engine.purses import net_of, within
from engine.reasons import CODES, Reason, Transfer, payment, worth
from engine.ruleset import Ruleset, load_ruleset
from engine.settlement import Settlement, settle, settle_outcome
from engine.tally import NO_WATER, Tally, Winner, whole
from engine.tiles import SEATS
from tests.engine.hands_told import ended, held, meld, won

CLASSIC = load_ruleset("classic-xiamen-144")
NEW = load_ruleset("new-xiamen-120")


def why(settled: Settlement, payer: str, receiver: str, account: str = "net") -> list[tuple[str, str, int]]:
    """The reasons of what one seat pays another."""
    lines = [
        line for line in settled.transfers if (line.payer, line.receiver, line.account) == (payer, receiver, account)
    ]
    assert len(lines) == 1, lines
    return [(reason.code, reason.act, reason.number) for reason in lines[0].why]


def holding(**chips: int) -> dict[str, int]:
    """What the seats hold, 100 unless told."""
    return dict.fromkeys(SEATS, 100) | chips


def test_a_line_says_base_water_item_by_item_and_multiplier() -> None:
    seat = held("222p9p", (meld("kong_concealed", "3333z"), meld("pong", "111s")), "12345f")
    settled = settle_outcome(CLASSIC, won("W", "youjin", {"W": seat}, steps=1))
    items = [("water_flowers", "add", 9), ("water_golds", "add", 1), ("water_triplet", "add", 1)]
    items.append(("water_kong_concealed", "add", 4))
    assert why(settled, "E", "W") == [("base_dealer", "add", 32), *items, ("multiplier", "times", 4)]
    assert why(settled, "S", "W") == [("base_others", "add", 8), *items, ("multiplier", "times", 4)]
    assert why(settled, "S", "W", "bonus") == [("bonus_way", "add", 50)]
    assert settled.net == {"E": -188, "S": -92, "W": 372, "N": -92}
    assert settled.bonus == {"E": -50, "S": -50, "W": 150, "N": -50}


def test_a_seat_sees_its_own_lines() -> None:
    seats = {"S": held(flowers="12f"), "N": held(flowers="5f")}
    settled = settle_outcome(NEW, won("E", "zimo", seats))
    assert {(line.payer, line.receiver) for line in settled.of("N")} == {("N", "E"), ("N", "S"), ("W", "N")}
    assert why(settled, "N", "S") == [("offset_theirs", "add", 2), ("offset_own", "add", -1)]
    assert why(settled, "W", "N") == [("offset_theirs", "add", 1)]


def test_who_pays_for_all_is_noted_on_every_line() -> None:
    settled = settle_outcome(NEW, won("S", "zimo", pays_all="W"))
    lines = [line for line in settled.transfers if line.payer == "W"]
    assert [line.amount for line in lines] == [4, 4, 4]
    assert sorted(str(reason.params["seat"]) for line in lines for reason in line.why if reason.code == "pays_all") == [
        "E",
        "N",
    ]


def test_a_covered_seat_is_noted() -> None:
    settled = settle_outcome(NEW, won("E", "zimo", {"S": held(flowers="1f"), "N": held(flowers="2f")}, covered=("N",)))
    assert ("covered", "note", 0) in why(settled, "N", "E")
    assert why(settled, "N", "S") == [("offset_theirs", "add", 1), ("covered", "note", 0)]


def test_hardness_and_golds_of_quanzhou() -> None:
    rules = load_ruleset("quanzhou-seed")
    soft = held("12m456m789m11p222s333s9p")
    settled = settle_outcome(rules, won("S", "pinghu", {"S": soft, "E": held("9p")}, tile="2s", source="N"))
    net = [line for line in settled.transfers if (line.payer, line.receiver) == ("N", "S")]
    assert [[reason.code for reason in line.why] for line in net] == [
        ["base_others", "hardness_soft"],
        ["caishen_theirs"],
    ]
    assert settled.net == {"E": -10 + 2, "S": 30 + 2, "W": -10 - 2, "N": -10 - 2}


@pytest.mark.parametrize(
    ("tiles", "way", "hardness"),
    [
        ("123m456m789m11p222s333s", "pinghu", "hard"),
        ("12m9p456m789m11p222s333s", "pinghu", "soft"),
        ("12m9p456m789m11p222s333s", "zimo", "hard"),
        ("12m9p456m789m11p222s333s", "qianggang", "hard"),
        ("123m456m789m11z222s789p", "pinghu", "hard"),
        ("123m456m789m11z222s785p", "pinghu", "soft"),
        ("123m456m7899m11z22s999p", "pinghu", "double"),
        ("147m258p369s1122z5s999p", "sanjindao_late", "hard"),
        ("123m456m789m11p222s333s", "tianhu", "double"),
    ],
)
def test_hardness_by_the_tiles(tiles: str, way: str, hardness: str) -> None:
    """R36: a 财神 that is its own tile leaves the hand hard; 白 is a tile of the gold's face."""
    rules = load_ruleset("quanzhou-seed")
    gold = "9p" if "785p" not in tiles else "5p"
    source = "W" if way in ("pinghu", "qianggang") else None
    seat = "E" if way == "tianhu" else "S"
    settled = settle_outcome(rules, won(seat, way, {seat: held(tiles)}, gold=gold, source=source))
    codes = {reason.code for line in settled.transfers for reason in line.why}
    assert f"hardness_{hardness}" in codes


def test_a_triplet_of_a_discard_is_no_concealed_one() -> None:
    """R32: by self-draw 2 of honours, by discard as a 碰 1."""
    seat = held("111z234m567m888m99m234s")
    drawn = settle_outcome(CLASSIC, won("S", "zimo", {"S": seat}, tile="1z"))
    taken = settle_outcome(CLASSIC, won("S", "pinghu", {"S": seat}, tile="1z", source="W"))
    assert ("water_triplet", "add", 2) in why(drawn, "W", "S")
    assert ("water_pong", "add", 1) in why(taken, "W", "S")


class TestChips:
    """R34, R41."""

    def test_nobody_pays_more_than_he_holds(self) -> None:
        settled = settle_outcome(CLASSIC, won("E", "zimo"), holding(S=20))
        assert settled.net == {"E": 84, "S": -20, "W": -32, "N": -32}
        assert why(settled, "S", "E")[-1] == ("cap", "limit", 20)

    def test_with_debt_he_does(self) -> None:
        rules = load_ruleset("classic-xiamen-144", {"debt": True})
        assert settle_outcome(rules, won("E", "zimo"), holding(S=20)).net["S"] == -32

    def test_the_winner_is_paid_first(self) -> None:
        """Offsets come after the winner, and what a loser gets of another counts as held."""
        seats = {"S": held(flowers="123f"), "W": held(flowers="4f")}
        end = won("E", "zimo", seats)
        assert settle_outcome(NEW, end, holding()).net == {"E": 12, "S": 1, "W": -5, "N": -8}
        short = settle_outcome(NEW, end, holding(N=5))
        assert short.net == {"E": 12, "S": -1, "W": -6, "N": -5}
        assert [line.amount for line in short.transfers if (line.payer, line.receiver) == ("N", "E")] == [4]

    def test_who_holds_nothing_pays_nothing(self) -> None:
        assert [line.amount for line in within([_pays("S", "E", 1)], holding(S=0))] == [0]
        assert [line.amount for line in within([_pays("S", "E", 1)], holding(S=-5))] == [0]

    def test_one_cut_can_leave_the_next_short(self) -> None:
        lines = [_pays("S", "E", 50), _pays("N", "S", 40), _pays("W", "N", 40)]
        cut = within(lines, {"E": 0, "S": 10, "W": 5, "N": 0})
        assert net_of(cut, "net") == {"E": 15, "S": -10, "W": -5, "N": 0}

    @pytest.mark.parametrize("seed", range(40))
    def test_cuts_never_take_more_and_never_make_anything(self, seed: int) -> None:
        chance = random.Random(seed)
        lines = []
        for _ in range(chance.randint(1, 9)):
            payer, receiver = chance.sample(SEATS, 2)
            lines.append(_pays(payer, receiver, chance.randint(0, 60)))
        chips = {seat: chance.randint(0, 50) for seat in SEATS}
        cut = within(lines, chips)
        net = net_of(cut, "net")
        assert sum(net.values()) == 0
        for before, after in zip(lines, cut, strict=True):
            assert 0 <= after.amount <= before.amount
            assert after.amount == worth(after.why)
        for seat in SEATS:
            assert chips[seat] + net[seat] >= 0
            was_cut = any(a.amount < b.amount for a, b in zip(cut, lines, strict=True) if a.payer == seat)
            assert not was_cut or chips[seat] + net[seat] == 0, "who was spared something has nothing left"

    def test_clean_sweep(self) -> None:
        """「杀三奖励100」 of each, 课外: one hand takes the last chips of all three."""
        settled = settle_outcome(CLASSIC, won("E", "zimo", steps=1), holding(S=60, W=64, N=10))
        assert settled.net == {"E": 134, "S": -60, "W": -64, "N": -10}
        assert settled.bonus == {"E": 300, "S": -100, "W": -100, "N": -100}
        assert why(settled, "N", "E", "bonus") == [("bonus_sweep", "add", 100)]
        almost = settle_outcome(CLASSIC, won("E", "zimo", steps=1), holding(S=60, W=65, N=10))
        assert almost.bonus == dict.fromkeys(SEATS, 0)

    def test_classic_sanyou_is_a_sweep(self) -> None:
        """「无需再计算水数，自然杀三」"""
        settled = settle_outcome(CLASSIC, won("S", "sanyou"), holding(E=90, W=400, N=100))
        assert settled.net == {"E": -90, "S": 590, "W": -400, "N": -100}
        assert settled.bonus["N"] == -250
        assert ("sweep", "add", 400 - 128) in why(settled, "W", "S")

    def test_a_sweep_settles_no_water_besides(self) -> None:
        """「其他各家不再摸牌，无需再计算水数」"""
        rules = load_ruleset("classic-xiamen-144", {"offsets": True, "debt": True})
        end = won("S", "sanyou", {"W": held(flowers="12f")})
        assert settle_outcome(rules, end, holding()).net == {"E": -256, "S": 512, "W": -128, "N": -128}
        assert settle_outcome(rules, end).net == {"E": -258, "S": 512, "W": -124, "N": -130}

    def test_bonus_off_has_no_sweep_either(self) -> None:
        rules = load_ruleset("classic-xiamen-144", {"bonus": False})
        assert settle_outcome(rules, won("S", "sanyou"), holding()).bonus == dict.fromkeys(SEATS, 0)

    def test_judged_again_with_what_it_would_have_swept(self) -> None:
        """「能杀三的，杀三的课外奖励也要包赔」"""
        foul = ended(Outcome("foul", foul=Foul("W", "zhahu", ("N",))))
        plenty = settle_outcome(CLASSIC, foul, holding(E=1000, S=1000, W=1000))
        assert plenty.net == {"E": 0, "S": 0, "W": -128, "N": 128}
        assert plenty.bonus == {"E": 50, "S": 50, "W": -300, "N": 200}
        swept = settle_outcome(CLASSIC, foul, holding(E=64, S=32, W=32))
        assert swept.bonus == {"E": 50, "S": 50, "W": -600, "N": 500}
        assert swept.net == {"E": 0, "S": 0, "W": -32, "N": 32}
        assert {line.payer for line in swept.transfers} == {"W"}

    def test_nothing_of_a_void_hand_counts(self) -> None:
        rules = load_ruleset("xiamen-offline")
        end = ended(Outcome("foul", foul=Foul("S", "zhahu"), no_flowers=True, followed=2))
        assert settle_outcome(rules, end).net == {"E": 10, "S": -30, "W": 10, "N": 10}


def test_worth_follows_the_reasons_in_order() -> None:
    steps = (Reason("base_others", "add", 8), Reason("multiplier", "times", 4), Reason("cap", "limit", 20))
    assert worth(steps) == 20
    assert worth((*steps, Reason("sweep", "add", 5), Reason("covered"))) == 25


def test_plain_data_of_a_settlement() -> None:
    plain = settle_outcome(NEW, won("E", "zimo")).plain()
    assert plain["next"] == {"dealer": "E", "base_steps": 0}
    assert plain["transfers"][0] == {
        "payer": "S",
        "receiver": "E",
        "amount": 4,
        "account": "net",
        "why": [{"code": "way", "act": "add", "number": 4, "params": {"way": "zimo"}}],
    }


def test_a_sum_told_whole_is_one_reason() -> None:
    settled = settle(NEW, Tally("E", wins=(Winner("S", "zimo"),), water={**NO_WATER, "S": whole(3)}))
    assert why(settled, "N", "S") == [("way", "add", 4), ("water", "add", 3)]


def test_every_code_names_a_rule() -> None:
    assert all(rule[0] == "R" and rule[1:].isdigit() for rule in CODES.values())


def test_next_dealer_of_bijin_and_zhangzhou() -> None:
    """R3, R42."""
    assert _next("bijin-xiamen-144", won("W", "zimo")) == ("W", 0)
    assert _next("bijin-xiamen-144", ended(Outcome("draw", last_drawer="N"))) == ("N", 0)
    assert _next("zhangzhou", won("E", "zimo", steps=1)) == ("S", 0)
    assert _next("zhangzhou", ended(Outcome("draw"), dealer="N")) == ("E", 0)


def test_zhangzhou_the_discarder_pays() -> None:
    rules = load_ruleset("zhangzhou")
    assert settle_outcome(rules, won("S", "pinghu", source="W")).net == {"E": 0, "S": 8, "W": -8, "N": 0}
    assert settle_outcome(rules, won("S", "qianggang", source="W")).net == {"E": -32, "S": 64, "W": -16, "N": -16}


def _next(name: str, end: Any) -> tuple[str, int]:
    rules: Ruleset = load_ruleset(name)
    return settle_outcome(rules, end).next


def _pays(payer: str, receiver: str, amount: int) -> Transfer:
    params: Mapping[str, str | int] = {}
    return payment(payer, receiver, "net", (Reason("fine", "add", amount, params),))
