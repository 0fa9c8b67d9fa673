"""What a house agrees on before it plays: every field of a ruleset, its type, its range and the rule it belongs to.

`engine.ruleset` loads rulesets from data; this room holds only the model and its checks.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, model_validator
from pydantic_core import PydanticCustomError

from engine.ruleset_checks import contradictions, switched_off
from engine.tiles import FLOWERS, HONOURS, SUITED, WHITE

Layout: TypeAlias = Literal["zhitui", "bagua"]
LeastWay: TypeAlias = Literal["any", "self", "youjin", "shuangyou"]
Way: TypeAlias = Literal[
    "pinghu",
    "zimo",
    "qianggang",
    "youjin",
    "shuangyou",
    "sanyou",
    "qiangjin",
    "qiangshuangyou",
    "sanjindao",
    "sanjindao_late",
    "tianhu",
    "dihu",
    "shuanghuagang",
    "sanhuayou",
]
Pattern: TypeAlias = Literal["menqing", "pengpenghu", "hunyise", "qingyise", "jinlong", "gangshangkaihua"]
OpeningClaim: TypeAlias = Literal[
    "tianhu",
    "dihu",
    "sanjindao",
    "qiangshuangyou@others",
    "qiangshuangyou@dealer",
    "qiangjin@others",
    "qiangjin@dealer",
]
Points: TypeAlias = Annotated[StrictInt, Field(ge=0, le=10_000)]
Window: TypeAlias = Annotated[StrictInt, Field(ge=500, le=60_000)]
TileCount: TypeAlias = Annotated[StrictInt, Field(ge=0, le=40)]


TOUR: tuple[str, str, str] = ("youjin", "shuangyou", "sanyou")
"""The three levels of 游金 (R22, R23)."""


class Water(BaseModel):
    """水 of what a seat holds (R30, R32, R33); pairs are suited tiles first, honours second."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    flowers: Annotated[
        tuple[Points, Points, Points, Points, Points],
        Field(title="Flowers 花", description="水 of 0, 1, 2, 3 and 4 flowers of one set of four (R30, R32, R33)."),
    ]
    gold: Annotated[Points, Field(title="Gold 金", description="水 of each gold held (R30, R32, R33).")] = 1
    pong: Annotated[tuple[Points, Points], Field(title="Pong 碰", description="Suited, honour (R32).")] = (0, 0)
    triplet: Annotated[
        tuple[Points, Points], Field(title="Concealed triplet 暗刻", description="Suited, honour (R32).")
    ] = (0, 0)
    kong_open: Annotated[
        tuple[Points, Points], Field(title="Open or added kong 明杠 补杠", description="Suited, honour (R30, R32).")
    ] = (1, 1)
    kong_concealed: Annotated[
        tuple[Points, Points], Field(title="Concealed kong 暗杠", description="Suited, honour (R30, R32).")
    ] = (2, 2)


class Ruleset(BaseModel):
    """One house's rules, checked; frozen. A field that is None is not part of the game."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[
        str,
        Field(
            title="Name",
            description="What the rules are called: lower case, digits, hyphens.",
            pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$",
            max_length=40,
        ),
    ]
    title: Annotated[str, Field(title="Title 名称", description="One line for people.", max_length=120)]
    parent: Annotated[
        str | None, Field(title="Parent 来自", description="The ruleset this one is derived from (R42).")
    ] = None

    # Tiles and walls
    tiles: Annotated[
        Literal[120, 136, 144],
        Field(
            title="Tiles 牌数",
            description="120: suits, four 白, eight flowers; 136: suits and honours; 144: these and eight flowers.",
        ),
    ]
    flowers: Annotated[
        StrictBool | None,
        Field(title="Flowers 花牌", description="A variant with or without the eight flowers; follows `tiles` (R35)."),
    ] = None
    hand: Annotated[
        Literal[13, 16],
        Field(title="Hand 手牌", description="Tiles a player holds: 16 make five sets and a pair, 13 four (R20)."),
    ] = 16
    layouts: Annotated[
        tuple[Layout, ...],
        Field(
            title="Layouts 摆牌",
            description="Ways to lay the wall, the first by default: zhitui 直推 (R4), bagua 八卦 (R5).",
            min_length=1,
            max_length=2,
        ),
    ]
    tail_stack_order: Annotated[
        Literal["top_first", "bottom_first"],
        Field(title="Tail stack 牌尾", description="Which tile of a stack the tail gives first (R7)."),
    ] = "top_first"
    reserve: Annotated[
        TileCount,
        Field(title="Never drawn 留牌", description="The hand is drawn when no more than these tiles are left (R18)."),
    ] = 0

    # Seats and deal
    first_dealer: Annotated[
        Literal["east_rolls", "any_rolls"],
        Field(title="First dealer 定庄", description="Who rolls for the first dealer (R3)."),
    ] = "east_rolls"
    dealer_after_win: Annotated[
        Literal["stays_or_next", "winner", "next"],
        Field(
            title="Dealer after a win 连庄",
            description="stays_or_next: a winning dealer stays, else the next player; winner: who won; next: always "
            "the next player (R3, R42).",
        ),
    ] = "stays_or_next"
    dealer_after_draw: Annotated[
        Literal["stays", "last_drawer", "next"],
        Field(title="Dealer after a draw 臭庄", description="last_drawer: who drew the last tile (R3, R18)."),
    ] = "stays"
    seat_swaps: Annotated[
        Literal["none", "after_win", "after_losses"],
        Field(
            title="Seat swaps 换位",
            description="after_win: once each, after a win; after_losses: at half and at all chips lost (R2).",
        ),
    ] = "none"

    # Gold
    gold: Annotated[
        Literal["flipped", "successor"],
        Field(title="Gold 金", description="The flipped tile's face (R8), or the face after it (R10)."),
    ] = "flipped"
    gold_roller: Annotated[
        Literal["dealer", "break_owner"],
        Field(title="Gold thrower 开金", description="Who throws in 直推: the dealer, or 跳牌处的人 (R8)."),
    ] = "dealer"
    flower_gold: Annotated[
        Literal["dealer_then_next", "return_reroll", "skip_stay"],
        Field(
            title="Flower flipped 翻花",
            description="A flower flipped for the gold: the dealer's, and the next tile is flipped; turned back, and "
            "thrown again; or it stays, and the next tile is flipped (R8).",
        ),
    ] = "dealer_then_next"
    third_same_gold: Annotated[
        StrictBool,
        Field(title="Third same gold 三次同金", description="Open again when the same face comes a third time (R9)."),
    ] = False
    white_mode: Annotated[
        Literal["always", "off"],
        Field(title="White 白板", description="always: 白 is a tile of the gold's face; off: a plain honour (R12)."),
    ] = "always"

    # Shape and limits
    gold_in_pair: Annotated[
        Literal["any", "both_or_none"],
        Field(title="Gold in the pair 将", description="any, or two golds or two naturals only (R20)."),
    ] = "any"
    seven_pairs: Annotated[
        StrictBool, Field(title="Seven pairs 七对", description="Seven pairs win, hands of 13 only (R20).")
    ] = False
    min_way_by_gold: Annotated[
        tuple[LeastWay, LeastWay, LeastWay],
        Field(
            title="Least way 有金",
            description="The least way to win with 1, 2 and 3 golds: any, self (自摸), youjin, shuangyou (R21).",
        ),
    ] = ("any", "any", "any")
    youjin: Annotated[
        StrictBool, Field(title="Youjin 游金", description="Whether the game knows 游金, 双游 and 三游 (R22, R23).")
    ] = True
    sanjindao: Annotated[
        Literal["off", "opening", "any_time"],
        Field(title="Three golds 三金倒", description="When three golds held win whatever the rest (R25, R35)."),
    ] = "off"
    qiangjin: Annotated[
        Literal["off", "opening", "in_play"],
        Field(
            title="Grabbing the gold 抢金",
            description="opening: the flipped gold completes the hand (R25); in_play: a gold discarded or drawn (R29).",
        ),
    ] = "opening"
    rob_kong: Annotated[
        StrictBool, Field(title="Robbing a kong 抢杠", description="An added kong may be robbed (R15).")
    ] = True
    rob_kong_golds: Annotated[
        StrictInt,
        Field(title="Golds in 抢杠", description="The most golds a hand that robs a kong may hold (R15).", ge=0, le=4),
    ] = 4
    several_winners: Annotated[
        StrictBool, Field(title="Several winners 一炮多响", description="One discard may be won by several (R13).")
    ] = False
    special_first: Annotated[
        StrictBool,
        Field(
            title="Special hands first 特殊牌型",
            description="Of several who claim a tile to win, one who holds three golds goes first (R13).",
        ),
    ] = False

    # Openings
    opening_priority: Annotated[
        tuple[OpeningClaim, ...],
        Field(
            title="Openings 起手",
            description="Wins before the first discard, strongest first; @others 闲, @dealer 庄 (R25).",
            max_length=7,
        ),
    ] = ()
    opening_order: Annotated[
        Literal["way", "seat"],
        Field(
            title="Opening order",
            description="way: the stronger way first, then play order from the dealer; seat: play order first (R25).",
        ),
    ] = "way"
    opening_window_ms: Annotated[
        Window, Field(title="Opening window", description="Milliseconds to claim an opening (R25).")
    ] = 10_000
    qiangjin_window: Annotated[
        Literal["dealer_discard", "own_discard"],
        Field(title="抢金 until", description="Until the dealer's first discard, or one's own (R25)."),
    ] = "dealer_discard"
    eight_flowers: Annotated[
        Literal["wins", "water", "off"],
        Field(title="Eight flowers 双花杠", description="All eight flowers win at once, or count as 水 alone (R26)."),
    ] = "off"
    sanhuayou: Annotated[
        Literal["chain", "gold_flips", "off"],
        Field(
            title="Three flowers 三花游",
            description="Three flowers in one chain of replacements, or in three gold flips, count as 游金 (R26).",
        ),
    ] = "off"

    # Play
    claim_window_ms: Annotated[
        Window, Field(title="Claim window 团碰", description="Milliseconds every discard stays open (R13).")
    ] = 2_500
    kong_after_claim: Annotated[
        StrictBool,
        Field(title="Kong after a claim", description="暗杠 and 补杠 also after an own 吃 or 碰, before a draw (R15)."),
    ] = False
    missed_tiles: Annotated[
        StrictBool,
        Field(
            title="Missed tiles 可吃不碰",
            description="A face passed for 碰 or 胡 may not be claimed again before one's own next draw (R14).",
        ),
    ] = False
    follow: Annotated[
        Literal["off", "enforce", "remind", "fault"],
        Field(title="Following honours 跟打", description="A single honour discarded before must follow (R16)."),
    ] = "off"
    gold_discard: Annotated[
        Literal["lock", "fault", "illegal"],
        Field(
            title="Discarding gold 打金",
            description="Outside 双游: lock: self-draw only until the next draw; fault: 盖牌; illegal: refused (R17).",
        ),
    ] = "lock"
    tour_guard: Annotated[
        StrictBool, Field(title="Guarded tour 保送", description="In a 双游 lap nobody else draws (R23).")
    ] = False
    tour_discard: Annotated[
        Literal["an", "ming"],
        Field(title="游金 discard", description="an 暗游: open, claimable; ming 明游: face down, others draw (R23)."),
    ] = "an"
    direct_shuangyou: Annotated[
        StrictBool, Field(title="Straight 双游", description="A gold discarded from a ready hand begins 双游 (R23).")
    ] = False
    sanyou_interrupt: Annotated[
        Literal["self_draw", "kong_only", "none"],
        Field(title="Interrupting 三游", description="What the others may win with in the last lap (R23)."),
    ] = "self_draw"
    tour_last_tile: Annotated[
        StrictBool,
        Field(
            title="Last tile of 游金 末张",
            description="A flower drawn completes 游金 too and counts; a fourth tile of an own 碰 counts 1, of an own "
            "concealed triplet as 暗杠 (R22).",
        ),
    ] = False
    kong_youjin: Annotated[
        StrictBool,
        Field(
            title="Youjin after a kong 杠上游金",
            description="After 明杠 or 补杠 the replacement is the own draw; after 暗杠 a lap more (R24).",
        ),
    ] = False
    last_tiles_no_youjin: Annotated[
        TileCount, Field(title="No 游金 in the last", description="With so few tiles left nobody enters 游金 (R27).")
    ] = 0
    last_tiles_seen_only: Annotated[
        TileCount,
        Field(title="Only seen faces in the last", description="An unseen face then pays for all 包赔 (R27)."),
    ] = 0
    false_win: Annotated[
        Literal["refuse", "foul"],
        Field(title="False win", description="A tapped 胡 that is none: refused, or 诈胡 (R28, R38)."),
    ] = "refuse"
    dealer_followed: Annotated[
        StrictBool,
        Field(title="Following the dealer 跟庄", description="He pays when all follow his first discard (R40)."),
    ] = False

    # Points
    scoring: Annotated[
        Literal["bases", "multipliers", "fan", "hardness"],
        Field(
            title="Scoring 计分",
            description="bases: points of the way + 水 (R30, R33); multipliers: (底 + 水) × the way's (R31); fan: 底 × "
            "fan (R35); hardness: (底 + 买/顶) × hardness + 财神 (R36).",
        ),
    ]
    ways: Annotated[
        dict[Way, Points | Way | Literal["agreed"]],
        Field(
            title="Ways 胡法",
            description="What a way of winning counts: points, multiplier or fan by `scoring`; the name of the way it "
            "follows; or `agreed`: the option of its own (youjin_base, sanyou_base, tour_multipliers) (R30-R36).",
            min_length=1,
        ),
    ]
    payers: Annotated[
        Literal["all", "discarder"],
        Field(title="Payers of a discard 点炮", description="Who pays for a win by discard (R30-R36, R42)."),
    ] = "all"
    water: Annotated[Water | None, Field(title="Water 水", description="The table of 水 (R30, R32, R33).")] = None
    fans: Annotated[
        dict[Pattern, Points] | None,
        Field(title="Patterns 番种", description="Fan of each pattern; gangshangkaihua multiplies by its (R35)."),
    ] = None
    hardness: Annotated[
        tuple[Points, Points, Points] | None,
        Field(title="Hardness 软硬", description="Multipliers of a soft, a hard and a double hand (R36)."),
    ] = None
    caishen: Annotated[
        Points | None, Field(title="财神 points", description="What each other pays for a gold held (R36).")
    ] = None
    white_value: Annotated[
        Literal["face", "honour"],
        Field(title="White counts as", description="What a set of 白 standing for the gold counts as (R32)."),
    ] = "face"
    flower_set: Annotated[
        Literal[4, 10] | None, Field(title="Flower set 花杠", description="水 of a whole set of four flowers (R30).")
    ] = None
    offsets: Annotated[
        StrictBool | None,
        Field(title="Losers settle 抵扣", description="Each pair of losers settles the difference of their 水 (R37)."),
    ] = None
    youjin_base: Annotated[
        Literal[8, 10] | None, Field(title="游金 points", description="And of all that counts as 游金 (R30).")
    ] = None
    sanyou_base: Annotated[
        Literal[40, 60, 80] | None, Field(title="三游 points", description="And of all that counts as 三游 (R30).")
    ] = None
    tour_multipliers: Annotated[
        tuple[Points, Points, Points] | None,
        Field(title="Tour multipliers 倍数", description="Of 游金, 双游 and 三游 (R31)."),
    ] = None
    base_others: Annotated[Points | None, Field(title="底 闲", description="The base of a non-dealer (R31).")] = None
    base_dealer: Annotated[Points | None, Field(title="底 庄", description="The dealer's base at first (R31).")] = None
    base_growth: Annotated[
        Points | Literal["double"] | None,
        Field(title="底 growth 连庄", description="What the dealer's base grows by at every step, or double (R31)."),
    ] = None
    uniform_winner_base: Annotated[
        StrictBool | None, Field(title="Winner's 底 for all", description="In all three payments (R31).")
    ] = None
    bonus: Annotated[StrictBool | None, Field(title="Bonus 课外", description="Rewards apart from chips (R34).")] = None
    bonus_points: Annotated[
        dict[Way, Points] | None, Field(title="Bonus of a way 课外", description="From each of the three (R34).")
    ] = None
    clean_sweep_bonus: Annotated[
        Points | None, Field(title="杀三", description="Bonus when one hand empties all three others (R34).")
    ] = None
    sanyou_sweeps: Annotated[
        StrictBool, Field(title="三游 is 杀三", description="A 三游 counts as emptying all three others (R41).")
    ] = False
    base: Annotated[
        Annotated[StrictInt, Field(ge=1, le=10_000)] | None, Field(title="底分", description="Points of one fan (R35).")
    ] = None
    fan_cap: Annotated[
        Annotated[StrictInt, Field(ge=1, le=10_000)] | None,
        Field(title="Cap 封顶", description="The most fan that count (R35)."),
    ] = None
    streak_fan: Annotated[
        Points | None, Field(title="Streak fan 连庄番", description="Fan for every hand the dealer has stayed (R35).")
    ] = None
    base_series: Annotated[
        Annotated[tuple[Points, ...], Field(min_length=1, max_length=20)] | None,
        Field(title="底 by turn", description="The dealer's base in his 1st, 2nd, … turn; the last stays (R36)."),
    ] = None
    foul: Annotated[
        Literal["none", "bonus", "way", "points"],
        Field(
            title="False win pays 诈胡",
            description="bonus: foul_points outside the chips; way: what the faked way is worth; points (R38).",
        ),
    ] = "none"
    foul_points: Annotated[Points, Field(title="诈胡 points", description="To each of the three others (R38).")] = 0
    foul_ready: Annotated[
        StrictBool,
        Field(title="Heavy judgement 重判", description="The offender alone pays every seat that is 游金-ready (R38)."),
    ] = False

    # Chips
    chips: Annotated[
        Literal[100, 200, 300], Field(title="Chips 筹码", description="What each player begins a match with (R41).")
    ] = 100
    chip_style: Annotated[
        Literal["plain", "cards"],
        Field(title="Chip style", description="A sum in chips, or in playing cards A-10 without 5, J Q K (R41)."),
    ] = "plain"
    debt: Annotated[StrictBool, Field(title="Debt 欠账", description="A loser may pay more than he holds (R41).")] = (
        False
    )

    @property
    def has_flowers(self) -> bool:
        """Whether the eight flowers are among the tiles."""
        return self.tiles != 136

    @property
    def sets(self) -> int:
        """Sets in a complete hand, beside the pair: 5 or 4 (R20)."""
        return (self.hand - 1) // 3

    @property
    def stacks(self) -> int:
        """Stacks a side in 直推: 15, 17 or 18."""
        return self.tiles // 8

    @property
    def row(self) -> int:
        """Tiles a side in 八卦's row; 0 where the rules know no 八卦 (R5)."""
        return 2 * (self.stacks - 8) if "bagua" in self.layouts else 0

    def faces(self) -> Counter[str]:
        """Every tile of the set: its face and how many copies there are."""
        return copies(self)

    def knows(self, way: str) -> bool:
        """Whether a hand can be won so under these rules: the way is listed and nothing else switches it off."""
        return way in self.ways and way not in switched_off(self)

    def way_table(self) -> dict[str, int | str]:
        """`ways` by plain names."""
        return {str(way): value for way, value in self.ways.items()}

    def value(self, way: str) -> int:
        """What a way counts, followed through `ways` and the agreed options; KeyError for a way not listed."""
        table = self.way_table()
        current: int | str = table[way]
        while isinstance(current, str):
            if current == "agreed":
                return self._agreed(way)
            way, current = current, table[current]
        return current

    def _agreed(self, way: str) -> int:
        """The option that gives a way its value: youjin_base and sanyou_base, or tour_multipliers."""
        if self.tour_multipliers is not None:
            return self.tour_multipliers[TOUR.index(way)]
        points = {"youjin": self.youjin_base, "sanyou": self.sanyou_base}[way]
        assert points is not None
        return points

    @model_validator(mode="after")
    def _lines_agree(self) -> Self:
        for first, second, why in contradictions(self):
            told = f"{first} and {second}: {why}"
            raise PydanticCustomError("contradiction", "{told}", {"told": told, "field": first})
        return self


def copies(rules: Ruleset) -> Counter[str]:
    """Every tile of the set: four of each face, one of each flower."""
    honours = (WHITE,) if rules.tiles == 120 else HONOURS
    counted = Counter({face: 4 for face in SUITED + honours})
    if rules.has_flowers:
        counted.update({face: 1 for face in FLOWERS})
    return counted
