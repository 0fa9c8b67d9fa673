"""What the source documents 003 and 004 say about points, sentence by sentence (R22, R26, R27, R30, R35, R37-R41)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from engine.match.cards import DECKS, as_cards, worth_of
from engine.outcome import Foul, HandEnd, Outcome, Win
from engine.ruleset import load_ruleset
from engine.settlement import settle_outcome
from tests.engine.hands_told import ended, held, meld, won

BASIC = "basic-136"
NEW = "new-xiamen-120"
NEW_BASE = "new-xiamen-120-base"
OFFLINE = "xiamen-offline"

CHI = meld("chi", "345p")


def net(rules: str, end: HandEnd, options: Mapping[str, Any] | None = None, seats: str = "ESWN") -> list[int]:
    """The points of the seats named."""
    settled = settle_outcome(load_ruleset(rules, options or {}), end)
    return [settled.net[seat] for seat in seats]


def told(rules: str, end: HandEnd, code: str) -> list[int]:
    """The numbers of every reason with a code."""
    settled = settle_outcome(load_ruleset(rules), end)
    return [reason.number for line in settled.transfers for reason in line.why if reason.code == code]


class TestDocument003:
    """底分 × 番数 (R35)."""

    plain = held("123m456p789s33z", (CHI,))

    def test_the_discarder_pays_all(self) -> None:
        """「点炮者承担全部输分，自摸则三家付分」"""
        assert net(BASIC, won("S", "pinghu", {"S": self.plain}, tile="9s", source="W")) == [0, 1, -1, 0]
        assert net(BASIC, won("S", "zimo", {"S": self.plain}, tile="9s")) == [-2, 6, -2, -2]

    def test_two_fan_at_one_point(self) -> None:
        """「底分为1分，胡了一个2番的牌型，则总分为2分」"""
        triplets = held("111m222p333s44z", (meld("pong", "555z"),))
        assert net(BASIC, won("S", "pinghu", {"S": triplets}, tile="4z", source="E")) == [-2, 2, 0, 0]

    def test_pinghu(self) -> None:
        """「平胡 1番 最基本的胡牌牌型，无特殊组合」"""
        assert told(BASIC, won("S", "pinghu", {"S": self.plain}, tile="9s", source="W"), "fan_pinghu") == [1]

    def test_zimo(self) -> None:
        """「自摸 +1番」"""
        assert told(BASIC, won("S", "zimo", {"S": self.plain}, tile="9s"), "fan_zimo") == [1, 1, 1]

    def test_menqing(self) -> None:
        """「门清 +1番 没有吃、碰、明杠，全部牌自己摸到」"""
        whole = held("123345m456p789s33z")
        assert net(BASIC, won("S", "pinghu", {"S": whole}, tile="9s", source="W")) == [0, 2, -2, 0]
        kong = held("123m456p789s33z", (meld("kong_concealed", "1111z"),))
        assert told(BASIC, won("S", "pinghu", {"S": kong}, tile="9s", source="W"), "fan_menqing") == [1]

    @pytest.mark.parametrize(
        ("tiles", "code", "fan"),
        [
            ("111m222p333s44z", "fan_pengpenghu", 2),
            ("123456m111333z99m", "fan_hunyise", 2),
            ("123456789m11m", "fan_qingyise", 4),
        ],
    )
    def test_patterns(self, tiles: str, code: str, fan: int) -> None:
        """「碰碰胡 2番」「混一色 2番」「清一色 4番」"""
        laid = {"fan_pengpenghu": "999s", "fan_hunyise": "777m", "fan_qingyise": "555m"}[code]
        concealed = tiles if code != "fan_hunyise" else "123456m111z99m"
        seat = held(concealed, (meld("pong", laid),))
        assert told(BASIC, won("S", "pinghu", {"S": seat}, tile=None, source="W"), code) == [fan]

    def test_three_golds(self) -> None:
        """「三金倒 5番 手中有三张金牌直接胡牌」"""
        seat = held("147m258p3s12z999p", ())
        assert told(BASIC, won("S", "sanjindao", {"S": seat}), "fan_sanjindao") == [5, 5, 5]

    def test_three_golds_add_up_with_the_others(self) -> None:
        """「三金倒的番数为5番，如果同时有其他番型（如门清、自摸等），可以叠加计算」"""
        seat = held("147m258p36s12z999p")
        assert net(BASIC, won("S", "sanjindao_late", {"S": seat}, tile="9p")) == [-7, 21, -7, -7]

    def test_jinlong(self) -> None:
        """「金龙 8番 手中有四张金牌」: with 三金倒 5, 自摸 1, 门清 1."""
        seat = held("123m456p78s33z9999p")
        assert net(BASIC, won("S", "zimo", {"S": seat}, tile="3z")) == [-15, 45, -15, -15]

    def test_tianhu_and_dihu(self) -> None:
        """「天胡 10番 庄家起手就胡牌」「地胡 10番 闲家在第一轮摸牌前胡牌」"""
        whole = held("123345m456p789s33z")
        assert net(BASIC, won("E", "tianhu", {"E": whole})) == [33, -11, -11, -11]
        assert net(BASIC, won("S", "dihu", {"S": whole}, tile="3z", source="E")) == [-11, 11, 0, 0]

    def test_a_kong_doubles(self) -> None:
        """「杠上开花：杠牌后补的牌正好是胡牌所需的牌，番数加倍」"""
        seat = held("123m456p789s33z", (meld("kong_open", "1111z"),))
        assert net(BASIC, won("S", "zimo", {"S": seat}, tile="9s", after_kong=True)) == [-4, 12, -4, -4]

    def test_qiangjin_and_mojin(self) -> None:
        """「如果其他玩家打出金牌，可以抢胡。如果自己摸到金牌，也可以直接胡牌，称为"摸金"」「自摸时三家付分」"""
        seat = held("123m456p78s33z9p", (CHI,))
        assert net(BASIC, won("S", "qiangjin", {"S": seat}, tile="9p", source="W")) == [0, 5, -5, 0]
        assert net(BASIC, won("S", "qiangjin", {"S": seat}, tile="9p")) == [-5, 15, -5, -5]

    def test_agreed_base_and_cap(self) -> None:
        """「游戏开始前玩家约定底分（如1分、2分等）」「有些玩法还会设置封顶番数，防止一家赢太多」"""
        end = won("E", "tianhu", {"E": held("123345m456p789s33z")})
        assert net(BASIC, end, {"base": 2}) == [66, -22, -22, -22]
        assert net(BASIC, end, {"base": 2, "fan_cap": 8}) == [48, -16, -16, -16]

    def test_one_discard_several_winners(self) -> None:
        """「一炮多响：允许一张牌点炮给多个玩家」"""
        wins = (Win("S", "pinghu", "9s", "W"), Win("N", "pinghu", "9s", "W"))
        end = ended(Outcome("win", wins), {"S": self.plain, "N": held("123345m456p789s33z")})
        assert net(BASIC, end) == [0, 1, -3, 2]

    def test_streak(self) -> None:
        """「连庄奖励：连庄次数越多，番数加成越高」"""
        grown = [
            net(BASIC, won("E", "zimo", {"E": self.plain}, tile="9s", steps=steps), {"streak_fan": 1}, "E")
            for steps in range(3)
        ]
        assert grown == [[6], [9], [12]]

    def test_drawn_hand(self) -> None:
        """「荒庄后，庄家继续连庄」"""
        settled = settle_outcome(load_ruleset(BASIC), ended(Outcome("draw"), dealer="W"))
        assert settled.next == ("W", 0)
        assert settled.transfers == ()


class TestDocument004:
    """新厦门, 有底 and 无底 (R30, R31, R37-R41)."""

    def test_dealer_stays_or_goes(self) -> None:
        """「后续如果庄家胡牌，则继续连庄；否则逆时针轮庄，若出现臭庄，庄家继续连庄」"""
        rules = load_ruleset(NEW)
        assert settle_outcome(rules, won("E", "zimo")).next == ("E", 0)
        assert settle_outcome(rules, won("W", "zimo")).next == ("S", 0)
        assert settle_outcome(rules, ended(Outcome("draw"), dealer="N")).next == ("N", 0)

    def test_bases_of_the_game_with_底(self) -> None:
        """「闲家8水，庄家16水」「庄家需要支付给赢家[（庄家的底+赢家的番）×对应胡牌方式的倍数]」"""
        end = won("W", "youjin", {"W": held(flowers="123f")})
        assert net(NEW_BASE, end) == [-(16 + 3) * 4, -(8 + 3) * 4, (19 + 11 + 11) * 4, -(8 + 3) * 4]

    def test_base_grows(self) -> None:
        """「庄家每连一次庄，则庄家的底+8，闲家底不变」「臭庄…庄家的底要累加。再次流局庄底再加」"""
        assert net(NEW_BASE, won("E", "pinghu", source="S", steps=2), seats="E") == [3 * 32]
        assert net(NEW_BASE, won("S", "pinghu", source="W", steps=2)) == [-32, 48, -8, -8]
        rules = load_ruleset(NEW_BASE)
        once = settle_outcome(rules, ended(Outcome("draw")))
        twice = settle_outcome(rules, ended(Outcome("draw"), steps=once.steps))
        assert (once.next, twice.next) == (("E", 1), ("E", 2))

    def test_offsets(self) -> None:
        """「东家胡牌，南家有3水，西家有3水，北家有2水，那么北家…还需要给南家付1分，给西家付1分」"""
        seats = {"S": held(flowers="123f"), "W": held(flowers="567f"), "N": held(flowers="48f")}
        settled = settle_outcome(load_ruleset(NEW_BASE), won("E", "zimo", seats))
        among = {(line.payer, line.receiver): line.amount for line in settled.transfers if line.receiver != "E"}
        assert among == {("N", "S"): 1, ("N", "W"): 1}
        assert settled.net == {"E": 96, "S": -31, "W": -31, "N": -34}

    def test_without_底(self) -> None:
        """「胡牌后，各家需要支付给赢家（基础分+水钱）积分」"""
        assert net(NEW, won("S", "pinghu", {"S": held(flowers="12f")}, source="N")) == [-4, 12, -4, -4]

    def test_qiangjin_counts_as_youjin(self) -> None:
        """「抢金按游金计番」; the gold taken is held: 1 水."""
        assert net(NEW, won("S", "qiangjin", {"S": held("9p")}, tile="9p"), seats="S") == [33]
        assert net(NEW_BASE, won("S", "qiangjin", {"S": held("9p")}, tile="9p"), seats="N") == [-(8 + 1) * 4]

    def test_three_flowers_count_as_youjin(self) -> None:
        """「连开三朵花算游金」"""
        assert net(NEW, won("S", "sanhuayou", {"S": held(flowers="123f")}, tile="3f"), seats="S") == [39]

    def test_eight_flowers_count_as_sanyou(self) -> None:
        """「手上摸到"春夏秋冬梅兰竹菊"直接胡牌，称为双花杠。按三游计算」"""
        seats = {"S": held(flowers="12345678f")}
        assert net(NEW, won("S", "shuanghuagang", seats), seats="S") == [3 * (80 + 8)]
        assert net(NEW_BASE, won("S", "shuanghuagang", seats), seats="N") == [-(8 + 16) * 16]

    def test_qianggang_counts_as_zimo(self) -> None:
        """「无金一金可以抢杠算自摸」"""
        assert net(NEW, won("S", "qianggang", tile="1m", source="W")) == [-4, 12, -4, -4]

    def test_last_tile_of_youjin(self) -> None:
        """「游金时，最后面拿上来的花和杠都是算分的（不可补牌）（碰牌拿杠算一分）」"""
        flower = {"S": held("123m", flowers="1f")}
        assert net(NEW, won("S", "youjin", flower, tile="1f"), seats="N") == [-11]
        ponged = {"S": held("1m9p", (meld("pong", "111m"),))}
        assert net(NEW, won("S", "youjin", ponged, tile="1m"), seats="N") == [-12]
        assert told(NEW, won("S", "youjin", ponged, tile="1m"), "water_last_tile") == [1, 1, 1]
        four = {"S": held("1111m9p")}
        assert net(NEW, won("S", "shuangyou", four, tile="1m"), seats="N") == [-23]
        assert net(NEW, won("S", "zimo", four, tile="1m"), seats="N") == [-5]
        assert net(NEW_BASE, won("S", "youjin", four, tile="1m"), seats="N") == [-(8 + 1 + 3) * 4]

    def test_false_wins(self) -> None:
        """「诈胡赔游金，炸游赔双游，炸双游赔三游」"""
        for kind, amount in (("zhahu", 10), ("zhayou", 20), ("zhashuangyou", 80)):
            end = ended(Outcome("foul", foul=Foul("N", kind)))
            assert net(NEW, end) == [amount, amount, amount, -3 * amount]
            assert settle_outcome(load_ruleset(NEW), end).next == ("E", 0)

    def test_a_covered_seat_pays_the_winner_and_the_waters(self) -> None:
        """「盖牌后此局你不可胡，还要通赔，要赔赢家的还要赔另外两家的水钱」"""
        seats = {"S": held(flowers="123f"), "W": held(flowers="4f"), "N": held(flowers="567f")}
        assert net(NEW, won("E", "zimo", seats, covered=("N",))) == [12, -4 + 3 + 2, -4 + 1 - 2, -4 - 3 - 1]

    def test_following_the_dealer(self) -> None:
        """「开局四家没有花，那么庄家通赔一张，跟庄跟牌第一次1张，第二次2张，第三次4张，依此类推」"""
        assert net(OFFLINE, ended(Outcome("draw", no_flowers=True))) == [-3, 1, 1, 1]
        paid = [net(OFFLINE, ended(Outcome("draw", followed=times)), seats="S") for times in range(5)]
        assert paid == [[0], [1], [1 + 2], [1 + 2 + 4], [1 + 2 + 4 + 8]]
        assert net(NEW, ended(Outcome("draw", no_flowers=True, followed=2))) == [0, 0, 0, 0]
        assert net(OFFLINE, won("E", "zimo", followed=1)) == [9, -3, -3, -3]

    def test_an_unseen_tile_pays_for_all(self) -> None:
        """「如果最后打生张…被胡或者被自摸游金需要包赔」"""
        seats = {"N": held(flowers="12f")}
        end = won("S", "youjin", seats, pays_all="W")
        assert net(OFFLINE, end) == [-2, 30, -30 - 2, 4]

    def test_playing_cards_of_200(self) -> None:
        """「按花色每人拿从1-K（不含5），1-10（不含5）为字面分数，J、Q、K每个50分，总计200分」"""
        suit = dict.fromkeys(DECKS[200], 1)
        assert "5" not in suit
        assert worth_of(suit, 200) == 200
        assert as_cards(73, 200) == (("K", 1), ("10", 2), ("3", 1))

    def test_playing_cards_of_300(self) -> None:
        """「1-10（不含5）为字面分数，J、Q、K每个50分，5为100分，总计300分」"""
        suit = dict.fromkeys(DECKS[300], 1)
        assert suit["5"] == 1
        assert worth_of(suit, 300) == 300
        assert as_cards(165, 300)[0] == ("5", 1)


@pytest.mark.parametrize("deck", [200, 300])
def test_every_sum_can_be_shown_in_cards(deck: int) -> None:
    for points in range(4 * deck + 1):
        cards = as_cards(points, deck)
        assert worth_of(dict(cards), deck) == points
        assert all(1 <= count <= 4 for _, count in cards)
    for wrong in (-1, 4 * deck + 1):
        with pytest.raises(ValueError, match="expected a sum"):
            as_cards(wrong, deck)
    with pytest.raises(ValueError, match="expected a deck"):
        as_cards(10, 100)
