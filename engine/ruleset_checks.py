"""Which lines of a ruleset cannot both be true: each contradiction names the two lines at odds and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.ruleset_model import Ruleset

SCORING_LINES: Mapping[str, tuple[str, ...]] = {
    "bases": ("water", "offsets"),
    "multipliers": ("water", "offsets", "base_others", "base_dealer", "base_growth", "uniform_winner_base"),
    "fan": ("base", "fans"),
    "hardness": ("base_series", "hardness", "caishen"),
}
"""Lines that a kind of scoring cannot do without (R30-R37)."""

SCORING_EXTRAS: Mapping[str, tuple[str, ...]] = {
    "bases": ("flower_set", "youjin_base", "sanyou_base"),
    "multipliers": ("tour_multipliers", "bonus", "bonus_points", "clean_sweep_bonus"),
    "fan": ("fan_cap", "streak_fan"),
    "hardness": (),
}
"""Lines that a kind of scoring may have besides."""

PATTERNS: tuple[str, ...] = ("menqing", "pengpenghu", "hunyise", "qingyise", "jinlong", "gangshangkaihua")
"""Patterns that `fans` gives a value to (R35)."""

_TOUR = ("youjin", "shuangyou", "sanyou")
_LEAST_FIRST = ("any", "self", "youjin", "shuangyou")
_OF_YOUJIN: Mapping[str, bool | int | str] = {
    "tour_guard": False,
    "tour_discard": "an",
    "direct_shuangyou": False,
    "sanyou_interrupt": "self_draw",
    "tour_last_tile": False,
    "kong_youjin": False,
    "last_tiles_no_youjin": 0,
    "sanyou_sweeps": False,
}
"""Lines that say how 游金 is played, with what they are when they say nothing (R22-R24, R27, R41)."""


def switched_off(rules: Ruleset) -> frozenset[str]:
    """Ways that another line of the same ruleset takes out of the game."""
    off: set[str] = set()
    if not rules.youjin:
        off.update(_TOUR)
    if not rules.rob_kong:
        off.add("qianggang")
    if rules.qiangjin == "off":
        off.add("qiangjin")
    if rules.sanjindao == "off":
        off.add("sanjindao")
    if rules.sanjindao != "any_time":
        off.add("sanjindao_late")
    if rules.eight_flowers != "wins":
        off.add("shuanghuagang")
    if rules.sanhuayou == "off":
        off.add("sanhuayou")
    return frozenset(off)


def contradictions(rules: Ruleset) -> Iterator[tuple[str, str, str]]:
    """Every pair of lines at odds, as `(line, other line, why)`; nothing when the rules agree with themselves."""
    yield from _tiles(rules)
    yield from _shape(rules)
    yield from _tours(rules)
    yield from _ways(rules)
    yield from _openings(rules)
    yield from _scoring(rules)
    yield from _money(rules)


def _tiles(rules: Ruleset) -> Iterator[tuple[str, str, str]]:
    if rules.flowers is not None and rules.flowers != rules.has_flowers:
        has = "have" if rules.has_flowers else "have no"
        yield f"flowers = {_told(rules.flowers)}", f"tiles = {rules.tiles}", f"{rules.tiles} tiles {has} flowers"
    if len(set(rules.layouts)) != len(rules.layouts):
        yield "layouts", "layouts", "the same layout twice"
    if "bagua" in rules.layouts and rules.hand != 16:
        yield "layouts = bagua", f"hand = {rules.hand}", "八卦 pushes out hands of 16 (R5)"
    if not rules.has_flowers:
        for line in ("eight_flowers", "sanhuayou"):
            value = getattr(rules, line)
            if value != "off":
                yield f"{line} = {value}", f"tiles = {rules.tiles}", "there are no flowers among these tiles"
    if rules.sanhuayou == "gold_flips" and rules.flower_gold != "dealer_then_next":
        yield "sanhuayou = gold_flips", f"flower_gold = {rules.flower_gold}", "no flower flipped is the dealer's (R26)"


def _shape(rules: Ruleset) -> Iterator[tuple[str, str, str]]:
    if rules.seven_pairs and rules.hand != 13:
        yield "seven_pairs = true", f"hand = {rules.hand}", "seven pairs are 14 tiles (R20)"
    if not rules.youjin:
        for least in rules.min_way_by_gold:
            if least in ("youjin", "shuangyou"):
                yield f"min_way_by_gold = {least}", "youjin = false", "the game knows no 游金 (R21, R22)"
    ranks = [_LEAST_FIRST.index(least) for least in rules.min_way_by_gold]
    for golds, (fewer, more) in enumerate(pairwise(rules.min_way_by_gold), start=1):
        if ranks[golds] < ranks[golds - 1]:
            held = f"min_way_by_gold = {fewer} for {golds}", f"min_way_by_gold = {more} for {golds + 1}"
            yield *held, "more golds cannot ask for less (R21)"


def _tours(rules: Ruleset) -> Iterator[tuple[str, str, str]]:
    """Lines about 游金 in a game that knows none; a derived ruleset takes inherited ones out by `without`."""
    if rules.youjin:
        return
    for line, nothing in _OF_YOUJIN.items():
        value = getattr(rules, line)
        if value != nothing:
            yield f"{line} = {_told(value)}", "youjin = false", "the game knows no 游金 (R22-R24)"


def _ways(rules: Ruleset) -> Iterator[tuple[str, str, str]]:
    table = rules.way_table()
    for way, value in table.items():
        if isinstance(value, str) and value != "agreed" and not isinstance(_end(table, way), int | None):
            yield f"ways.{way} = {value}", "ways", "the way it follows is not listed, or they follow each other"
    for way in ("pinghu", "zimo"):
        if way not in table:
            yield f"ways.{way}", "ways", "every game is won by discard and by self-draw"
    if rules.special_first and rules.several_winners:
        yield "special_first = true", "several_winners = true", "where all of them win nobody goes first (R13)"
    needed = [("rob_kong = true", "qianggang", rules.rob_kong)]
    needed += [("youjin = true", way, rules.youjin) for way in _TOUR]
    needed += [
        (f"qiangjin = {rules.qiangjin}", "qiangjin", rules.qiangjin != "off"),
        (f"sanjindao = {rules.sanjindao}", "sanjindao", rules.sanjindao != "off"),
        (f"sanjindao = {rules.sanjindao}", "sanjindao_late", rules.sanjindao == "any_time"),
        (f"eight_flowers = {rules.eight_flowers}", "shuanghuagang", rules.eight_flowers == "wins"),
        (f"sanhuayou = {rules.sanhuayou}", "sanhuayou", rules.sanhuayou != "off"),
    ]
    for line, way, wanted in needed:
        if wanted and way not in table:
            yield line, f"ways.{way}", "what it counts is not said"


def _openings(rules: Ruleset) -> Iterator[tuple[str, str, str]]:
    if len(set(rules.opening_priority)) != len(rules.opening_priority):
        yield "opening_priority", "opening_priority", "the same claim twice"
    for claim in rules.opening_priority:
        way = claim.partition("@")[0]
        if not rules.knows(way):
            yield f"opening_priority = {claim}", f"ways.{way}", "these rules do not know that way"
        if way == "qiangjin" and rules.qiangjin != "opening":
            yield f"opening_priority = {claim}", f"qiangjin = {rules.qiangjin}", "抢金 is no opening here (R25, R29)"
    if rules.qiangjin_window == "own_discard" and all(
        claim.partition("@")[0] != "qiangjin" for claim in rules.opening_priority
    ):
        yield "qiangjin_window = own_discard", "opening_priority", "抢金 is not among the openings (R25)"


def _scoring(rules: Ruleset) -> Iterator[tuple[str, str, str]]:
    kind = f"scoring = {rules.scoring}"
    allowed = SCORING_LINES[rules.scoring] + SCORING_EXTRAS[rules.scoring]
    for line in SCORING_LINES[rules.scoring]:
        if getattr(rules, line) is None:
            yield line, kind, "this kind of scoring needs it"
    for lines in (*SCORING_LINES.values(), *SCORING_EXTRAS.values()):
        for line in lines:
            if line not in allowed and getattr(rules, line) is not None:
                yield line, kind, "this kind of scoring has no use for it"
    for pattern in PATTERNS:
        if rules.fans is not None and pattern not in rules.fans:
            yield f"fans.{pattern}", kind, "what it counts is not said; 0 for nothing (R35)"
    agreed = {"youjin": rules.youjin_base, "sanyou": rules.sanyou_base}
    for way, value in rules.ways.items():
        if value == "agreed" and (rules.tour_multipliers is None or way not in _TOUR) and agreed.get(way) is None:
            yield f"ways.{way} = agreed", kind, "no option gives its value (youjin_base, sanyou_base, tour_multipliers)"
    for way, line in (("youjin", "youjin_base"), ("sanyou", "sanyou_base")):
        if getattr(rules, line) is not None and rules.way_table().get(way) != "agreed":
            yield line, f"ways.{way}", "the way has a value of its own: say agreed there, or leave the option out"


def _money(rules: Ruleset) -> Iterator[tuple[str, str, str]]:
    if (rules.bonus is None) != (rules.bonus_points is None):
        yield "bonus", "bonus_points", "say both or neither (R34)"
    if rules.foul == "way" and not (rules.youjin and rules.scoring in ("bases", "multipliers")):
        yield "foul = way", f"scoring = {rules.scoring}", "what is faked is 游金, 双游 or 三游 (R38)"
    if rules.foul in ("none", "way") and rules.foul_points:
        yield f"foul_points = {rules.foul_points}", f"foul = {rules.foul}", "the points are not used"
    if rules.foul == "points" and not rules.foul_points:
        yield "foul = points", "foul_points = 0", "what a false win costs is not said (R38)"
    if rules.false_win == "foul" and rules.foul == "none":
        yield "false_win = foul", "foul = none", "these rules know no 诈胡 (R28, R38)"
    if rules.foul_ready and (rules.foul != "bonus" or rules.scoring != "multipliers"):
        yield "foul_ready = true", f"foul = {rules.foul}", "重判 goes with 底 and a 课外 fine (R38)"
    if rules.foul == "bonus" and rules.bonus_points is None:
        yield "foul = bonus", "bonus_points", "there is no 课外 to pay it in"
    if rules.chip_style == "cards" and rules.chips == 100:
        yield "chip_style = cards", "chips = 100", "playing cards make 200 or 300 (R41)"


def _end(table: Mapping[str, int | str], way: str) -> int | str | None:
    """What following names from `way` ends at: a number, None for an agreed option, else a name that leads nowhere."""
    current: int | str = way
    for _ in range(len(table) + 1):
        if current == "agreed":
            return None
        if isinstance(current, int) or current not in table:
            return current
        current = table[current]
    return current


def _told(value: bool | int | str) -> str:
    """A value as it is written in a file, without quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)
