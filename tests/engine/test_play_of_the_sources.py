"""What the source documents 003 and 004 say about tiles, dealing, the gold and play, each example by itself.

Their examples of points are in `test_points_of_the_sources`. Where a whole hand plays the sentence, the published
record is named and runs here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.dice import pointed_seat
from engine.hands import complete
from engine.melds import Meld, is_meld
from engine.questions import answer_line
from engine.record import parse_record
from engine.record_replay import replay
from engine.record_wants import unmet
from engine.ruleset import copies, load_ruleset
from engine.tiles import HONOURS, parse_tiles

RECORDS = Path(__file__).resolve().parents[1] / "records"
NEW = "new-xiamen-120"
BASIC = "basic-136"

PLAYED = {
    "003「当玩家听牌且听的是金牌时，如果其他玩家打出金牌，可以抢胡」": "r29-qiangjin",
    "003「如果自己摸到金牌，也可以直接胡牌，称为摸金」": "r29-mojin",
    "003「地胡 闲家在第一轮摸牌前胡牌」": "r29-dihu",
    "003「不能用一个金牌和一个非金牌的四万组成将牌」": "r20-gold-pair",
    "003「传统厦门麻将规则不允许七对子胡牌」": "r20-no-seven-pairs",
    "003「有些现代变体或家庭规则可能会允许」": "r20-option-seven-pairs",
    "003「手中有三张金牌时可以直接胡牌，无论其他牌是否成牌型」": "r35-sanjindao-late",
    "003「当牌墙只剩下最后16张牌时无人胡牌，本局流局」": "r18-basic-draw",
    "003「一炮多响：所有听这张牌的玩家都可以胡牌」": "r13-several-winners",
    "003「杠后补的牌正好是胡牌所需的牌，番数加倍」": "r35-gangshangkaihua",
    "003「底分为1分，胡了一个2番的牌型，则总分为2分」": "r35-two-fan",
    "003「点炮者承担全部输分」": "r29-qiangjin",
    "003「手中有四张金牌」": "r35-jinlong",
    "004「有金不可平胡」": "r21-gold-no-pinghu",
    "004「双金只可游金」": "r21-two-golds-youjin",
    "004「三金只可双游」": "r21-r23-three-golds",
    "004「起手不错三金倒」": "r25-sanjindao-tianhu",
    "004「点炮只可胡一家」": "r13-priority",
    "004「自摸」": "r21-r30-zimo-one-gold",
    "004「将对联中的另一张牌打出，到我方摸牌时将金现开，称为游金」": "r22-youjin",
    "004「游金时，最背面捏上来的花是算分的(不可补牌)」": "r22-youjin-flower",
    "004「碰牌捏杠算一分」": "r22-youjin-pong",
    "004「捏上来的杠是算分的」": "r22-youjin-triplet",
    "004「明游：把不要的拿张牌盖下，其他玩家一东说念主摸一张牌」": "r23-option-ming",
    "004「暗游>明游，你不错将金打出截胡」": "r23-an-before-ming",
    "004「双游：其它三家只可各自摸一张牌，如没能自摸则算游过」": "r23-shuangyou",
    "004「如能自摸双游就没过」": "r23-lap-interrupted",
    "004「双游保送：独一你我方能摸牌」": "r23-option-guard",
    "004「三游：不错再次将金打出」": "r23-sanyou",
    "004「在起手之后摸到了三个金，不不错作三金倒」": "r21-r23-three-golds",
    "004「双花杠：手上摸到春夏秋冬梅兰竹菊径直胡牌，按三游」": "r26-shuanghuagang",
    "004「天胡 庄家起手就和牌」": "r25-tianhu",
    "004「庄家天胡、闲家三金倒，则闲家三金倒优先」": "r25-sanjindao-tianhu",
    "004「庄家拿掉一张牌就听牌，拿进大开的金」": "r25-qiangjin-dealer",
    "004「闲家抢金>庄家抢金」": "r25-qiangjin",
    "004「庄不可抢双游，闲抢金不错抢双游」": "r25-qiangshuangyou",
    "004「抢金只须在你出牌之前抢就行了」": "r25-option-own-discard",
    "004「三花游：连开三朵花算游金」": "r26-sanhuayou",
    "004「臭庄：牌墙里总共的牌摸完，庄家的底要累加」": "r18-draw-new-xiamen-base",
    "004「无金一金不错抢杠算自摸」": "r15-qianggang",
    "004「双金不可抢杠」": "r15-two-golds-no-qianggang",
    "004「别东说念主打出来的牌杠了是不可抢的」": "r15-kongs",
    "004「诈胡赔游金」": "r38-zhahu",
    "004「炸游赔双游」": "r38-zhayou",
    "004「炸双游戏赔三游」": "r38-zhashuangyou",
    "004「盖牌后此局你不可胡，还要通赔」": "r39-wrong-count",
    "004「打金不是双游」": "r39-gold-discard",
    "004「开局四家莫得花，庄家通赔一张；跟庄第一次1张，第二次2张」": "r40-followed",
    "004「终末4张不可游金」": "r27-no-youjin",
    "004「终末8张打生张，被胡需要包赔」": "r27-unseen-discard",
    "004「或被自摸游金需要包赔」": "r27-unseen-then-self-draw",
    "004「金牌是一万，则白板为一万，不错和二三万构成顺子」": "r12-r11-white-chi",
    "004「东家胡牌，南3水，西3水，北2水：北给南1分，给西1分」": "r37-base-example",
    "004「（庄家的底+赢家的番）×对应胡牌神志的倍数」": "r31-base-youjin",
    "004「各家需要支付给赢家（基础分+水钱）」": "r13-r30-pinghu",
}
"""Sentences of the sources, and the published hand that plays each."""


@pytest.mark.parametrize("sentence", PLAYED)
def test_a_sentence_is_played(sentence: str) -> None:
    replayed = replay(parse_record((RECORDS / f"{PLAYED[sentence]}.txt").read_text(encoding="utf-8")))
    assert replayed.illegal is None and replayed.settlement is not None
    assert unmet(replayed) == ()


def asked(**question: Any) -> dict[str, Any]:
    """The answer of the rule book to one question."""
    answer: dict[str, Any] = json.loads(answer_line(json.dumps(question)))
    assert "error" not in answer, answer
    return answer


class TestDocument003:
    def test_tiles_and_hands(self) -> None:
        """「使用136张牌，没有花牌；庄家拥有14张牌，其他玩家13张」"""
        rules = load_ruleset(BASIC)
        assert (copies(rules).total(), rules.has_flowers, rules.hand) == (136, False, 13)

    @pytest.mark.parametrize(
        ("kind", "tiles"), [("chi", "234m"), ("pong", "555s"), ("kong_open", "5555s"), ("kong_concealed", "5555s")]
    )
    def test_sets(self, kind: str, tiles: str) -> None:
        """「顺子 如二万、三万、四万」「刻子 如三个五条」「杠子 四张相同的牌」"""
        assert is_meld(load_ruleset(BASIC), None, Meld(kind, tuple(parse_tiles(tiles))))

    def test_runs_are_of_one_suit_and_honours_make_none(self) -> None:
        """「三张同花色且顺序相连的牌」"""
        for tiles in ("23m4p", "891m", "123z", "224m"):
            assert not is_meld(load_ruleset(BASIC), None, Meld("chi", tuple(parse_tiles(tiles))))

    @pytest.mark.parametrize(
        ("flipped", "gold"),
        [
            *(("3m", "4m"), ("5p", "6p"), ("9m", "1m")),
            *(("1z", "2z"), ("2z", "3z"), ("3z", "4z"), ("4z", "7z"), ("7z", "6z"), ("6z", "5z"), ("5z", "1z")),
        ],
    )
    def test_the_gold_is_the_tile_after(self, flipped: str, gold: str) -> None:
        """「翻出三万，则四万就是金牌」「翻出五筒，则六筒」「翻出九万，则一万」「东→南→西→北→中→发→白→东」"""
        wall = sorted(copies(load_ruleset(BASIC)).elements())
        place, other = self._index(self._opened(wall)["position"]), wall.index(flipped)
        wall[place], wall[other] = wall[other], wall[place]
        opened = self._opened(wall)
        assert (opened["indicator"], opened["tile"]) == (flipped, gold)

    @staticmethod
    def _opened(wall: list[str]) -> dict[str, Any]:
        rolls = {"deal": [5, 1], "gold": [[1, 1]]}
        gold: dict[str, Any] = asked(op="opening", rules=BASIC, dealer="E", wall="".join(wall), rolls=rolls)["gold"]
        return gold

    @staticmethod
    def _index(position: str) -> int:
        """Where a stack position lies in the text of a wall of 17 stacks a side."""
        side, number, tier = position[0], int(position[1:-1]), position[-1]
        return ("ESWN".index(side) * 17 + number - 1) * 2 + (tier == "b")

    def test_the_pair(self) -> None:
        """「两张金可以作为将牌，但不能用一个金牌和一个非金牌的四万组成将牌」"""
        rules = load_ruleset(BASIC)
        sets = parse_tiles("123456789p567m")
        assert complete(rules, "4m", [*sets, "4m", "4m"])
        assert not complete(rules, "4m", [*sets, "4m", "9s"])
        assert complete(rules, "4m", [*sets, "9s", "9s"])

    def test_honours_there_are(self) -> None:
        """「风牌和箭牌」"""
        assert all(copies(load_ruleset(BASIC))[face] == 4 for face in HONOURS)


class TestDocument004:
    def test_tiles_and_hands(self) -> None:
        """「预计：120张」「庄家17张牌，闲家16张牌」"""
        rules = load_ruleset(NEW)
        assert (copies(rules).total(), rules.hand) == (120, 16)

    @pytest.mark.parametrize(
        ("sums", "seat"), [((5, 9), "E"), ((2, 6, 10), "S"), ((3, 7, 11), "W"), ((4, 8, 12), "N")]
    )
    def test_whom_a_roll_points_at(self, sums: tuple[int, ...], seat: str) -> None:
        """「1、5、9 点数为你」「2、6、10 下家」「3、7、11 对家」「4、8、12 上家」"""
        throws = [(first, second) for first in range(1, 7) for second in range(1, 7) if first + second in sums]
        assert throws
        assert {pointed_seat("E", throw) for throw in throws} == {seat}

    def test_five_and_one(self) -> None:
        """「两个骰子点数为5和1：下家眼前的牌墙，从右往左数，留1墩，从第2墩开动，每次两墩，庄家多补一张头牌」"""
        opened = asked(op="opening", rules=NEW, layout="zhitui", dealer="E", rolls={"deal": [5, 1]})
        assert opened["takes"][0] == ["E", ["S2t", "S2b", "S3t", "S3b"]]
        assert [seat for seat, _ in opened["takes"]] == ["E", "S", "W", "N"] * 4
        assert opened["tail"][:2] == ["S1t", "S1b"]
        taken = {place for _, places in opened["takes"] for place in places}
        assert len(taken) == 64 and opened["extra"] not in taken

    def test_bagua_six(self) -> None:
        """「摇到6点便是下家捏头手牌；下家拿标志1的4张，你是终末一个拿尾牌，标志4的4张」"""
        opened = asked(op="opening", rules=NEW, layout="bagua", dealer="E", rolls={"deal": [4, 2], "door": [3, 4]})
        assert opened["first_seat"] == "S"
        assert [seat for seat, _ in opened["takes"]] == ["S", "W", "N", "E"]
        for hand, (_, places) in enumerate(opened["takes"]):
            stacks = {2 * hand + 1, 2 * hand + 2}
            assert {int(place[1:-1]) for place in places} == stacks
            assert {place[0] for place in places} == set("ESWN")

    def test_the_door(self) -> None:
        """「摇到几，右手边留几张牌；庄家在开门的左边补门牌，右边补花，左门右花」"""
        opened = asked(op="opening", rules=NEW, layout="bagua", dealer="E", rolls={"deal": [4, 2], "door": [3, 4]})
        assert (opened["tail"][:7], opened["extra"], opened["draw"][0]) == (
            [f"N{number}" for number in range(7, 0, -1)],
            "N8",
            "N9",
        )

    def test_the_white_dragon_flipped_is_the_gold(self) -> None:
        """「开出来的金牌是白板时，白板为金牌此局莫得假金」"""
        rules = load_ruleset(NEW)
        sets = parse_tiles("123456789m123456p")
        assert complete(rules, "5z", [*sets, "5z", "7s"])
        assert not complete(rules, "9s", [*sets, "5z", "7s"])

    @pytest.mark.parametrize("pair_and_sets", range(6))
    def test_basic_shapes(self, pair_and_sets: int) -> None:
        """「11 123×5 … 11 111×5」"""
        runs = ["123m", "456m", "789m", "123p", "456p"]
        triplets = ["111s", "222s", "333s", "444s", "555s"]
        tiles = [*runs[pair_and_sets:], *triplets[:pair_and_sets], "99p"]
        assert complete(load_ruleset(NEW), "9s", [tile for part in tiles for tile in parse_tiles(part)])

    def test_the_three_false_wins(self) -> None:
        """「诈胡赔游金，炸游赔双游，炸双游戏赔三游」"""
        paid = [
            asked(op="settle", rules=NEW, dealer="E", foul={"seat": "W", "kind": kind})["net"]["E"]
            for kind in ("zhahu", "zhayou", "zhashuangyou")
        ]
        assert paid == [10, 20, 80]
