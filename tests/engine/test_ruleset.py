"""Rulesets: the seven profiles as the rule book tables them, derivation, options, and errors that name the line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from engine.ruleset import (
    EXAMPLES,
    Ruleset,
    RulesetError,
    copies,
    has_option,
    load_ruleset,
    load_ruleset_file,
    profiles,
    ruleset_from_mapping,
)
from engine.ruleset_model import Water
from engine.tiles import FLOWERS, HONOURS

NEW = ("new-xiamen-120", "new-xiamen-120-base")

TABLE: Mapping[str, tuple[Any, ...]] = {
    # tiles, hand, sets, layouts, stacks, row, gold, white, reserve, least ways
    "new-xiamen-120": (
        120,
        16,
        5,
        ("zhitui", "bagua"),
        15,
        14,
        "flipped",
        "always",
        0,
        ("self", "youjin", "shuangyou"),
    ),
    "new-xiamen-120-base": (
        *(120, 16, 5, ("zhitui", "bagua"), 15, 14, "flipped", "always", 0, ("self", "youjin", "shuangyou")),
    ),
    "classic-xiamen-144": (144, 16, 5, ("zhitui", "bagua"), 18, 20, "flipped", "always", 16, ("self", "self", "self")),
    "bijin-xiamen-144": (144, 16, 5, ("bagua", "zhitui"), 18, 20, "flipped", "always", 0, ("self", "youjin", "youjin")),
    "basic-136": (136, 13, 4, ("zhitui",), 17, 0, "successor", "off", 16, ("any", "any", "any")),
    "quanzhou-seed": (136, 16, 5, ("zhitui",), 17, 0, "flipped", "always", 16, ("any", "any", "any")),
    "quanzhou-common": (144, 16, 5, ("zhitui",), 18, 0, "flipped", "off", 16, ("any", "self", "self")),
}


@pytest.mark.parametrize("name", profiles())
def test_tiles_walls_and_gold_are_as_tabled(name: str) -> None:
    rules = load_ruleset(name)
    found = (
        *(rules.tiles, rules.hand, rules.sets, rules.layouts, rules.stacks, rules.row),
        *(rules.gold, rules.white_mode, rules.reserve, rules.min_way_by_gold),
    )
    assert rules.name == name
    assert found == TABLE[name]


@pytest.mark.parametrize("name", (*profiles(), *EXAMPLES))
def test_the_set_has_as_many_tiles_as_it_says(name: str) -> None:
    rules = load_ruleset(name)
    counted = rules.faces()
    assert counted == copies(rules)
    assert sum(counted.values()) == rules.tiles == rules.stacks * 8
    assert all(counted[flower] == (1 if rules.has_flowers else 0) for flower in FLOWERS)
    assert [face for face in HONOURS if counted[face]] == (["5z"] if rules.tiles == 120 else list(HONOURS))


def test_what_a_discard_win_costs_and_who_deals_next() -> None:
    rules = {name: load_ruleset(name) for name in profiles()}
    assert [name for name in rules if rules[name].payers == "discarder"] == ["basic-136"]
    assert [name for name in rules if rules[name].several_winners] == ["basic-136"]
    assert [name for name in rules if rules[name].offsets] == [*NEW, "bijin-xiamen-144", "quanzhou-common"]
    assert [name for name in rules if rules[name].dealer_after_win == "winner"] == ["bijin-xiamen-144"]
    assert [name for name in rules if rules[name].dealer_after_draw == "last_drawer"] == ["bijin-xiamen-144"]
    assert [name for name in rules if rules[name].third_same_gold] == list(NEW)
    assert [name for name in rules if rules[name].follow == "enforce"] == ["classic-xiamen-144"]
    assert [name for name in rules if not rules[name].rob_kong] == ["basic-136"]


@pytest.mark.parametrize(
    ("name", "way", "value"),
    [
        ("new-xiamen-120", "shuanghuagang", 80),
        ("new-xiamen-120", "sanjindao", 10),
        ("new-xiamen-120-base", "sanhuayou", 4),
        ("new-xiamen-120-base", "qiangshuangyou", 8),
        ("classic-xiamen-144", "sanyou", 16),
        ("classic-xiamen-144", "sanjindao_late", 3),
        ("bijin-xiamen-144", "qiangjin", 8),
        ("quanzhou-common", "qiangjin", 2),
        ("quanzhou-common", "sanjindao", 3),
        ("basic-136", "dihu", 10),
    ],
)
def test_what_ways_count(name: str, way: str, value: int) -> None:
    rules = load_ruleset(name)
    assert rules.knows(way) and rules.value(way) == value


def test_ways_follow_what_they_are_worth_as() -> None:
    rules = load_ruleset("new-xiamen-120", {"youjin_base": 8, "sanyou_base": 40})
    assert [rules.value(way) for way in ("qiangjin", "tianhu", "sanhuayou", "shuanghuagang")] == [8, 8, 8, 40]
    based = load_ruleset("classic-xiamen-144", {"tour_multipliers": [3, 6, 9]})
    assert [based.value(way) for way in ("qiangjin", "shuangyou", "sanyou", "tianhu")] == [3, 6, 9, 4]


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("new-xiamen-120", "sanjindao_late"),
        ("new-xiamen-120", "dihu"),
        ("classic-xiamen-144", "qiangshuangyou"),
        ("bijin-xiamen-144", "tianhu"),
        ("basic-136", "youjin"),
        ("basic-136", "qianggang"),
        ("quanzhou-seed", "qiangjin"),
        ("quanzhou-common", "shuanghuagang"),
    ],
)
def test_ways_that_a_game_does_not_know(name: str, way: str) -> None:
    assert not load_ruleset(name).knows(way)


def test_eight_flowers_may_be_agreed_on_in_quanzhou() -> None:
    assert load_ruleset("quanzhou-common", {"eight_flowers": "wins"}).knows("shuanghuagang")


def test_a_ruleset_cannot_be_changed() -> None:
    rules: Any = load_ruleset("basic-136")
    with pytest.raises(ValidationError):
        rules.hand = 16


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("new-xiamen-120", {"tail_order": "bottom_first"}, "options.tail_order: new-xiamen-120 knows no such option"),
        ("new-xiamen-120", {"tail_stack_order": "bottom"}, "options.tail_stack_order: expected 'top_first' or"),
        ("new-xiamen-120", {"youjin_base": 9}, "options.youjin_base: expected 8 or 10, got 9"),
        ("new-xiamen-120", {"name": "mine"}, "options.name: new-xiamen-120 knows no such option"),
        ("new-xiamen-120", {"opening_window_ms": 5}, "options.opening_window_ms: expected at least 500, got 5"),
        ("new-xiamen-120", {"opening_window_ms": "10"}, "options.opening_window_ms: expected a whole number"),
        ("new-xiamen-120", {"third_same_gold": 1}, "options.third_same_gold: expected true or false"),
        ("new-xiamen-120", {"layouts": []}, "options.layouts: expected at least 1 of them"),
        ("new-xiamen-120", {"tiles": 136}, "tiles = 136"),
        ("new-xiamen-120", {"ways": {"tianhu": "tianhu"}}, "ways.tianhu"),
        ("classic-xiamen-144", {"flower_set": 10}, "options.flower_set: classic-xiamen-144 knows no such option"),
        ("classic-xiamen-144", {"fan_cap": 8}, "options.fan_cap: classic-xiamen-144 knows no such option"),
        ("classic-xiamen-144", {"base_growth": "triple"}, "options.base_growth: expected a whole number or 'double'"),
        ("classic-xiamen-144", {"tour_multipliers": [4, 8]}, "options.tour_multipliers: expected more values"),
        ("quanzhou-seed", {"flower_gold": "skip_stay"}, "options.flower_gold: quanzhou-seed knows no such option"),
        ("basic-136", {"layouts": ["bagua"]}, "layouts = bagua and hand = 13"),
        ("basic-136", {"eight_flowers": "wins"}, "eight_flowers = wins and tiles = 136"),
        ("basic-136", {"min_way_by_gold": ["any", "any", "youjin"]}, "min_way_by_gold = youjin and youjin = false"),
        ("basic-136", {"rob_kong": True}, "rob_kong = true and ways.qianggang"),
        ("no-such-rules", {}, "rules: there is no ruleset 'no-such-rules'; expected one of new-xiamen-120"),
        ("../basic-136", {}, "rules: there is no ruleset"),
        ("", {}, "rules: there is no ruleset"),
    ],
)
def test_errors_name_the_line_and_what_was_expected(name: str, options: Mapping[str, object], told: str) -> None:
    with pytest.raises(RulesetError) as caught:
        load_ruleset(name, options)
    assert told in str(caught.value)


def test_options_that_are_known() -> None:
    assert load_ruleset("basic-136", {"fan_cap": None}).fan_cap is None
    assert load_ruleset("basic-136", {"flowers": True}).tiles == 144
    assert load_ruleset("basic-136", {"tiles": 144}).has_flowers
    assert not has_option(load_ruleset("classic-xiamen-144"), "youjin_base")
    assert has_option(load_ruleset("new-xiamen-120"), "youjin_base")


OWN_OPENING = {"qiangjin_window": "own_discard"}


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        (
            *("new-xiamen-120", {"sanhuayou": "gold_flips", "flower_gold": "skip_stay"}),
            "sanhuayou = gold_flips and flower_gold = skip_stay",
        ),
        (
            *("new-xiamen-120", {"sanhuayou": "gold_flips", "flower_gold": "return_reroll"}),
            "sanhuayou = gold_flips and flower_gold = return_reroll",
        ),
        ("quanzhou-common", {"false_win": "foul"}, "false_win = foul and foul = none"),
        ("quanzhou-seed", {"tour_guard": True}, "tour_guard = true and youjin = false"),
        ("quanzhou-seed", {"tour_discard": "ming"}, "tour_discard = ming and youjin = false"),
        ("quanzhou-seed", {"direct_shuangyou": True}, "direct_shuangyou = true and youjin = false"),
        ("quanzhou-seed", {"sanyou_interrupt": "none"}, "sanyou_interrupt = none and youjin = false"),
        ("quanzhou-seed", {"kong_youjin": True}, "kong_youjin = true and youjin = false"),
        ("quanzhou-seed", {"tour_last_tile": True}, "tour_last_tile = true and youjin = false"),
        ("basic-136", {"last_tiles_no_youjin": 4}, "last_tiles_no_youjin = 4 and youjin = false"),
        ("basic-136", {"sanyou_sweeps": True}, "sanyou_sweeps = true and youjin = false"),
        (
            *("new-xiamen-120", {"min_way_by_gold": ["shuangyou", "any", "self"]}),
            "min_way_by_gold = shuangyou for 1 and min_way_by_gold = any for 2",
        ),
        (
            *("new-xiamen-120", {"min_way_by_gold": ["any", "youjin", "self"]}),
            "min_way_by_gold = youjin for 2 and min_way_by_gold = self for 3",
        ),
        ("quanzhou-seed", OWN_OPENING, "qiangjin_window = own_discard and opening_priority"),
        ("basic-136", OWN_OPENING, "qiangjin_window = own_discard and opening_priority"),
        (
            *("classic-xiamen-144", {**OWN_OPENING, "opening_priority": ["tianhu", "sanjindao"]}),
            "qiangjin_window = own_discard and opening_priority",
        ),
        ("basic-136", {"special_first": True}, "special_first = true and several_winners = true"),
        ("quanzhou-seed", {"several_winners": True}, "special_first = true and several_winners = true"),
        ("bijin-xiamen-144", {"foul_points": 0}, "foul = points and foul_points = 0"),
        ("quanzhou-common", {"foul": "points"}, "foul = points and foul_points = 0"),
    ],
)
def test_lines_that_cannot_both_be_true(name: str, options: Mapping[str, object], told: str) -> None:
    with pytest.raises(RulesetError) as caught:
        load_ruleset(name, options)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("new-xiamen-120", {"sanhuayou": "gold_flips"}),
        ("quanzhou-common", {"false_win": "foul", "foul": "points", "foul_points": 5}),
        ("new-xiamen-120", OWN_OPENING),
        ("bijin-xiamen-144", {"min_way_by_gold": ["any", "any", "shuangyou"]}),
        ("quanzhou-seed", {"several_winners": True, "special_first": False}),
        ("new-xiamen-120", {"tour_guard": True, "tour_discard": "ming", "direct_shuangyou": True}),
    ],
)
def test_neighbours_of_what_cannot_be_still_load(name: str, options: Mapping[str, object]) -> None:
    rules = load_ruleset(name, options)
    wanted = {field: tuple(value) if isinstance(value, list) else value for field, value in options.items()}
    assert {field: getattr(rules, field) for field in options} == wanted


def test_a_house_without_youjin_leaves_out_what_belongs_to_it(tmp_path: Path) -> None:
    """R42: a line that came from the parent is taken out by `without`; only what is left can contradict."""
    text = 'parent = "classic-xiamen-144"\nyoujin = false\n'
    with pytest.raises(RulesetError, match=r"kong_youjin = true and youjin = false"):
        load_ruleset_file(_house(tmp_path, "house", text))
    rules = load_ruleset_file(_house(tmp_path, "house", f'{text}without = ["kong_youjin", "sanyou_sweeps"]\n'))
    assert (rules.youjin, rules.kong_youjin, rules.knows("shuangyou")) == (False, False, False)


def _house(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(f'name = "{name}"\ntitle = "a house"\n{text}', encoding="utf-8")
    return path


def test_a_house_says_only_what_differs(tmp_path: Path) -> None:
    _house(tmp_path, "mother", 'parent = "new-xiamen-120"\nyoujin_base = 8\n[water]\nflowers = [0, 1, 2, 3, 10]\n')
    path = _house(
        tmp_path, "house", 'parent = "mother"\nreserve = 8\nwithout = ["ways.sanhuayou"]\nsanhuayou = "off"\n'
    )
    rules = load_ruleset_file(path)
    assert (rules.name, rules.reserve, rules.youjin_base, rules.tiles) == ("house", 8, 8, 120)
    assert rules.water is not None and (rules.water.flowers[4], rules.water.kong_concealed) == (10, (2, 2))
    assert "sanhuayou" not in rules.ways
    assert load_ruleset("house", search=[tmp_path]) == rules
    assert load_ruleset_file(path, {"youjin_base": 10}).youjin_base == 10


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('parent = "house"\n', "parent: house → house goes in a circle"),
        ('parent = "nobody"\n', "there is no ruleset 'nobody'"),
        ("parent = 3\n", "parent: expected the name of a ruleset"),
        ('parent = "new-xiamen-120"\nwithout = ["bonus"]\n', "without: the parent has no line 'bonus'"),
        ('parent = "new-xiamen-120"\nwithout = "ways"\n', "without: expected a list"),
        ('parent = "new-xiamen-120"\ntyles = 120\n', "tyles: there is no such field"),
        ('parent = "new-xiamen-120"\nscoring = "fan"\n', "and scoring = fan"),
        ('parent = "new-xiamen-120"\n[ways]\ntian = 3\n', "ways.tian: expected"),
        ('parent = "new-xiamen-120"\n[water]\nflowers = [1]\n', "water.flowers: expected more values"),
        ('parent = "new-xiamen-120"\nchip_style = "cards"\nchips = 100\n', "chip_style = cards and chips = 100"),
        ('parent = "new-xiamen-120"\nfoul_points = 3\n', "foul_points = 3 and foul = way"),
        ("tiles = 120\n", "missing"),
        ("tiles =\n", "is no TOML"),
    ],
)
def test_a_house_file_with_a_mistake_is_told_so(tmp_path: Path, text: str, told: str) -> None:
    path = _house(tmp_path, "house", text)
    with pytest.raises(RulesetError) as caught:
        load_ruleset_file(path)
    assert told in str(caught.value)


def test_two_parents_in_a_circle(tmp_path: Path) -> None:
    _house(tmp_path, "one", 'parent = "two"\n')
    path = _house(tmp_path, "two", 'parent = "one"\n')
    with pytest.raises(RulesetError, match="goes in a circle"):
        load_ruleset_file(path)


@pytest.mark.parametrize("name", [str(Path(__file__).with_name("house.toml")), "house.toml", 7, {"name": "x"}, None])
def test_a_name_from_outside_opens_no_file(name: Any) -> None:
    with pytest.raises(RulesetError, match=r"^rules: there is no ruleset"):
        load_ruleset(name)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(RulesetError, match=r"rules: cannot read .*nowhere\.toml"):
        load_ruleset_file(Path("/nowhere/nowhere.toml"))


def test_a_mapping_makes_a_ruleset() -> None:
    rules = ruleset_from_mapping({"name": "mine", "title": "mine", "parent": "basic-136", "base": 2})
    assert (rules.base, rules.parent) == (2, "basic-136")


def test_the_examples_say_what_the_rule_book_says() -> None:
    zhangzhou, offline = (load_ruleset(name) for name in EXAMPLES)
    assert (zhangzhou.payers, zhangzhou.dealer_after_win, zhangzhou.dealer_after_draw) == ("discarder", "next", "next")
    assert (zhangzhou.white_mode, zhangzhou.parent) == ("always", "classic-xiamen-144")
    assert (offline.tour_discard, offline.tour_guard, offline.dealer_followed) == ("ming", True, True)
    assert (offline.last_tiles_no_youjin, offline.last_tiles_seen_only, offline.gold_discard) == (4, 8, "fault")


@pytest.mark.parametrize("model", [Ruleset, Water])
def test_every_field_is_described(model: type[Ruleset] | type[Water]) -> None:
    for field, about in model.model_fields.items():
        assert about.title and about.description, field
        assert about.description.endswith("."), field
