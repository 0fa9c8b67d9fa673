"""Whole hands by random legal players, under every profile and option of play (R13-R29, R38-R40)."""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import StrictBool

import engine
from engine.chain import Refused
from engine.hands import complete
from engine.play import (
    ACTIONS,
    COVER_REASONS,
    Action,
    Deal,
    PlayEvent,
    PlayState,
    apply,
    asked,
    begin,
    decide,
    decide_clock,
    decode_play_event,
    encode_play_event,
    everything,
    faults,
    fold,
    hand_end,
    legal,
    options,
)
from engine.play.hand import begin_events
from engine.play.state import fresh
from engine.ruleset import EXAMPLES, PROFILES, Ruleset, load_ruleset
from engine.settlement import settle_outcome
from engine.tiles import FACES, SEATS, is_flower
from simulators import reckoner
from tests.engine.play.hands_at_play import choose, random_deal, rich_deal
from tests.engine.random_hands import as_question

HANDS = int(os.environ.get("KAIJIN_RANDOM_HANDS", "10"))
"""Random hands of each variant; twice as many are dealt rich."""

FREE = {"min_way_by_gold": ["any", "any", "any"]}
OPTIONS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("classic-xiamen-144", {"follow": "remind", "missed_tiles": False}),
    ("classic-xiamen-144", {"follow": "fault", "false_win": "foul"}),
    ("classic-xiamen-144", {"follow": "off", "gold_discard": "illegal", "kong_youjin": False}),
    ("classic-xiamen-144", {"gold_discard": "fault", "tour_guard": True, "kong_after_claim": True}),
    ("classic-xiamen-144", {"sanyou_interrupt": "kong_only", "follow": "off"}),
    ("classic-xiamen-144", {"sanyou_interrupt": "none", "follow": "off", "direct_shuangyou": True}),
    ("classic-xiamen-144", {"tour_discard": "ming", "follow": "enforce", "reserve": 0}),
    ("classic-xiamen-144", {"several_winners": True, **FREE}),
    ("new-xiamen-120", {"qiangjin_window": "own_discard", "direct_shuangyou": True}),
    ("new-xiamen-120", {"tour_discard": "ming", "tour_guard": True, "sanhuayou": "off"}),
    ("new-xiamen-120", {"last_tiles_no_youjin": 40, "last_tiles_seen_only": 40, "direct_shuangyou": True}),
    ("new-xiamen-120", {"gold_discard": "illegal", "rob_kong_golds": 0, "sanhuayou": "gold_flips"}),
    ("new-xiamen-120", {"false_win": "foul", "tour_last_tile": False, "eight_flowers": "water"}),
    ("new-xiamen-120-base", {"missed_tiles": True, "sanyou_interrupt": "kong_only", "tour_discard": "ming"}),
    ("bijin-xiamen-144", {"rob_kong": False, "gold_discard": "fault", "dealer_followed": True}),
    ("bijin-xiamen-144", {"qiangjin_window": "own_discard", "white_mode": "off", "reserve": 30}),
    ("basic-136", {"seven_pairs": True, "gold_in_pair": "any", "missed_tiles": True, "gold_discard": "fault"}),
    ("basic-136", {"several_winners": False, "follow": "enforce", "gold_discard": "illegal"}),
    ("quanzhou-seed", {"special_first": False, "several_winners": True, "follow": "fault"}),
    ("quanzhou-common", {"eight_flowers": "wins", "follow": "enforce", "kong_youjin": True, "tour_guard": True}),
    ("xiamen-offline", {"last_tiles_no_youjin": 30, "last_tiles_seen_only": 30, "tour_guard": False}),
    ("new-xiamen-120", {"dealer_followed": True, "opening_order": "seat", "payers": "discarder"}),
    ("new-xiamen-120", {"sanjindao": "any_time", "ways": {"sanjindao_late": "youjin"}, **FREE}),
    ("new-xiamen-120", {"sanjindao": "off", "opening_priority": ["tianhu", "qiangjin@others", "qiangjin@dealer"]}),
    ("classic-xiamen-144", {"sanhuayou": "chain", "ways": {"sanhuayou": "youjin"}, "opening_order": "seat"}),
    ("classic-xiamen-144", {"sanjindao": "opening", "payers": "discarder", "several_winners": True, **FREE}),
    ("bijin-xiamen-144", {"sanhuayou": "chain", "ways": {"sanhuayou": 12}, "payers": "discarder", **FREE}),
    ("basic-136", {"payers": "all", "sanjindao": "off", "opening_priority": ["tianhu", "dihu"]}),
    ("basic-136", {"sanjindao": "opening", "opening_order": "seat"}),
    ("quanzhou-seed", {"payers": "discarder", "opening_order": "way", "sanjindao": "opening"}),
    ("quanzhou-common", {"dealer_followed": True, "sanhuayou": "chain", "ways": {"sanhuayou": "youjin"}}),
    ("quanzhou-common", {"flower_gold": "return_reroll", "opening_order": "seat"}),
    ("zhangzhou", {"payers": "all", "dealer_followed": True}),
)
# None of the other options can touch play. `third_same_gold`, `gold_roller`, `layouts` and `tail_stack_order` are
# settled before a `Deal`, which has the gold and the tail's order in it; dealers, seats and chips belong to the match,
# the windows to the clock, and the rest to the points.
VARIANTS = (*((name, {}) for name in PROFILES + EXAMPLES), *OPTIONS)
ENGINE = Path(engine.__file__).parent
PLAY = (*sorted((ENGINE / "play").glob("*.py")), ENGINE / "claims.py", ENGINE / "hands.py")
"""Where play reads the rules."""
TOLD_LATER = ("payers", "sanjindao")
"""Choices that play reads as the ways the rules know, or its settlement reads."""

NOT_SHAPED = {"sanjindao", "sanjindao_late", "shuanghuagang", "sanhuayou"}


def called(variant: tuple[str, Mapping[str, Any]]) -> str:
    return "-".join((variant[0], *(f"{field}={value}" for field, value in variant[1].items())))


@cache
def universe() -> tuple[Action, ...]:
    """Every action that words could say, but for tiles that make no sense: most are never legal."""
    found = [Action(name) for name in ACTIONS]
    names = ("discard", "discard_down", "tour_discard", "kong_concealed", "kong_added", "pong", "pass")
    found += [Action(name, tile=tile) for name in names for tile in FACES]
    pairs = [pair for pair in combinations_with_replacement(FACES, 2) if pair[0][1] == pair[1][1]]
    found += [Action("chi", tiles=pair) for pair in pairs]
    ways = [way for way in Ruleset.model_fields["ways"].annotation.__args__[0].__args__]  # type: ignore[union-attr]
    found += [Action("hu", way=way, tile=tile) for way in ways for tile in ("", *FACES)]
    found += [Action("expose_false", kind=kind) for kind in ("zhahu", "zhayou", "zhashuangyou", "other")]
    found += [Action("cover", reason=reason) for reason in (*COVER_REASONS, "other")]
    return tuple(found)


def accepted(state: PlayState, seat: str, action: Action) -> bool:
    try:
        decide(state, seat, action)
    except Refused as refused:
        assert re.fullmatch(r"R\d+", refused.rule), (refused.code, refused.rule)
        return False
    return True


def check_state(state: PlayState, whole: Counter[str]) -> None:
    assert everything(state) == whole
    seats = asked(state)
    assert bool(seats) == (state.outcome is None)
    for name in SEATS:
        assert bool(options(state, name)) == (name in seats), name
    for name, seat in state.seats.items():
        extra = (name == state.turn and state.phase in ("turn", "lap")) or (
            state.phase == "rob" and name == state.source
        )
        sets = 3 * len(seat.melds)
        drew_flower = extra and state.drawn != "" and is_flower(state.drawn)
        if not seat.covered and state.phase not in ("over", "opening"):
            assert len(seat.hand) + sets == state.deal.rules.hand + (extra and not drew_flower), (name, state.phase)


def check_answers(state: PlayState, chance: random.Random) -> None:
    """legal and decide agree: what is listed is accepted, a sample of everything else is refused."""
    seat = chance.choice(asked(state))
    listed = options(state, seat)
    assert tuple(choice.action for choice in legal(state, seat)) == listed
    punished = faults(state, seat)
    assert not set(listed) & set(punished)
    for action in (*listed, *punished):
        assert accepted(state, seat, action), action
    allowed = {*listed, *punished}
    for action in chance.sample(universe(), 60):
        assert accepted(state, seat, action) == (action in allowed), action
    other = chance.choice(SEATS)
    for action in chance.sample(universe(), 10):
        assert accepted(state, other, action) == (action in {*options(state, other), *faults(state, other)}), action


def check_end(state: PlayState, variant: tuple[str, Mapping[str, Any]]) -> None:
    """The end makes sense, and its points are those of the second reckoner."""
    outcome, rules, gold = state.outcome, state.deal.rules, state.deal.gold
    assert outcome is not None
    end = hand_end(state)
    settlement = settle_outcome(rules, end)
    assert sum(settlement.net.values()) == 0 and sum(settlement.bonus.values()) == 0
    assert bool(outcome.winners) == (outcome.kind == "win") and bool(outcome.foul) == (outcome.kind == "foul")
    for win in outcome.winners:
        assert rules.knows(win.way) and not state.seats[win.seat].covered
        tiles = end.held[win.seat].concealed
        flower = win.tile is not None and is_flower(win.tile)
        if win.way not in NOT_SHAPED and not flower and not (win.tile is None and win.way in ("youjin", "shuangyou")):
            assert complete(rules, gold, tiles), (win, tiles)
    assert {"net": settlement.net, "bonus": settlement.bonus, "next": settlement.plain()["next"]} == reckoner.settle(
        variant[0], dict(variant[1]), as_question(variant[0], variant[1], end)
    )
    if outcome.pays_all is not None:
        assert outcome.pays_all not in {win.seat for win in outcome.winners}


def hands(variant: tuple[str, Mapping[str, Any]]) -> Iterator[tuple[Deal, random.Random]]:
    rules = load_ruleset(*variant)
    for number in range(HANDS):
        chance = random.Random(f"{called(variant)} {number}")
        yield random_deal(rules, chance), chance
        yield rich_deal(rules, chance), chance
        yield rich_deal(rules, chance), chance


def test_the_variants_have_every_value_of_every_choice_that_play_reads() -> None:
    read = {field for path in PLAY for field in re.findall(r"\brules\.(\w+)", path.read_text(encoding="utf-8"))}
    found = [load_ruleset(*variant) for variant in VARIANTS]
    missing = []
    for field in sorted({*read, *TOLD_LATER} & set(Ruleset.model_fields)):
        kind = Ruleset.model_fields[field].annotation
        choices = (False, True) if kind in (bool, StrictBool) else get_args(kind) if get_origin(kind) is Literal else ()
        had = {value for rules in found if isinstance(value := getattr(rules, field), Hashable)}
        missing += [(field, choice) for choice in choices if choice not in had]
    assert {"follow", "opening_order", "sanhuayou", "dealer_followed"} <= read
    assert missing == []


@pytest.mark.parametrize("variant", VARIANTS, ids=called)
def test_whole_hands(variant: tuple[str, Mapping[str, Any]]) -> None:
    for deal, chance in hands(variant):
        whole = everything(fresh(deal))
        events: list[PlayEvent] = list(begin_events(deal))
        state = begin(deal)
        for _ in range(3000):
            check_state(state, whole)
            if state.outcome is not None:
                break
            if chance.random() < 0.02:
                check_answers(state, chance)
            seat = chance.choice(asked(state))
            happened = _something(state, seat, chance)
            for event in happened:
                state = apply(state, event)
            events += happened
        assert state.outcome is not None, "the hand does not end"
        told = [json.loads(json.dumps(encode_play_event(event))) for event in events]
        assert fold(deal, [decode_play_event(body) for body in told]) == state
        check_end(state, variant)


def _something(state: PlayState, seat: str, chance: random.Random) -> tuple[PlayEvent, ...]:
    """Mostly a legal action; now and then the clock, and seldom a fault."""
    luck = chance.random()
    if luck < 0.02 and (ticked := decide_clock(state)):
        return ticked
    if luck < 0.025:
        done = [action for action in faults(state, seat) if action.name != "expose_false"]
        return decide(state, seat, chance.choice(done))
    if luck < 0.0253 and (exposed := [action for action in faults(state, seat) if action.name == "expose_false"]):
        return decide(state, seat, chance.choice(exposed))
    return decide(state, seat, choose(state, seat, chance))
