"""`rules eval` and the table answer from the same functions: when one is broken, both change (R1-R38)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from engine import play
from engine.chain import Refused
from engine.inputs import SeatAction
from engine.match import Player, apply, decide
from engine.match import inputs as i
from engine.match.state import Match
from engine.questions import answer
from engine.ruleset import load_ruleset
from engine.state import State
from engine.table import wants
from engine.tiles import SEATS, format_tiles, is_flower, parse_tiles
from tests.engine.hands_told import COMPLETE_16
from tests.engine.walker import Walker

NEW = "new-xiamen-120"
BASIC = "basic-136"
BASIC_HAND = "111m222m333m44z555s"
"""14 tiles: 碰碰胡 and 门清."""

Look = Callable[[], object]


def deal(rules_name: str, dealer: str, gold: str, flipped: str, concealed: str, flowers: str = "") -> play.Deal:
    """A deal in which the dealer holds what is told and everybody else what is left, in tile order."""
    rules = load_ruleset(rules_name)
    left = Counter(rules.faces())
    left.subtract([*parse_tiles(concealed), *parse_tiles(flowers), flipped])
    rest = [face for face in left.elements() if not is_flower(face)]
    hands = {dealer: tuple(parse_tiles(concealed))}
    for number, seat in enumerate(seat for seat in SEATS if seat != dealer):
        hands[seat] = tuple(rest[number::3][: rules.hand])
    held = Counter(face for tiles in hands.values() for face in tiles)
    held.update([*parse_tiles(flowers), flipped])
    laid = {seat: tuple(parse_tiles(flowers)) if seat == dealer else () for seat in SEATS}
    return play.Deal(rules, dealer, gold, flipped, hands, laid, tuple((rules.faces() - held).elements()))


def table_after_a_throw() -> State:
    """A table after the first dealer's throw of 5 and 1, and the deal's of 2 and 1."""
    walker = Walker(NEW, layout="zhitui", dice=[(5, 1), (2, 1), (1, 1), (1, 1)], seed=3)
    walker.run(until=lambda state: state.phase in ("flowers", "taking"))
    return walker.state


def booked(rules_name: str = NEW) -> dict[str, int]:
    """What the dealer's 天胡 brings him in the book of a match, refereed from the deal on."""
    basic = rules_name == BASIC
    dealt = deal(BASIC, "E", "9p", "8p", BASIC_HAND) if basic else deal(NEW, "E", "9p", "9p", COMPLETE_16, "123f")
    state = play.begin(dealt)
    for seat in SEATS:
        while state.outcome is None and seat in play.asked(state):
            wins = [choice.action for choice in play.legal(state, seat) if choice.action.name == "hu"]
            action = wins[0] if wins and seat == "E" else play.Action("pass")
            for event in play.decide(state, seat, action):
                state = play.apply(state, event)
    for event in () if state.outcome else play.decide_clock(state):
        state = play.apply(state, event)
    match = Match()
    people = tuple(Player(name) for name in "abcd")
    for asked in (i.StartMatch(people, rules_name), i.ThrowForDealer("E", (4, 1)), i.BeginHand()):
        for happened in decide(match, asked):
            match = apply(match, happened)
    for happened in decide(match, i.BookPlayed(play.hand_end(state))):
        match = apply(match, happened)
    return dict(match.chips)


def may_win() -> bool:
    """Whether the table lets the dealer win a complete hand as 天胡 before his first discard."""
    state = play.begin(deal(NEW, "E", "9p", "9p", COMPLETE_16))
    return any(choice.action.way == "tianhu" for choice in play.legal(state, "E"))


def claims_at_the_table() -> tuple[tuple[str, str], ...]:
    """The opening claims that a table knows once its gold is open."""
    walker = Walker(NEW, layout="zhitui", wall=_wall_of_a_tianhu(), dice=[(4, 1)] * 9, seed=1, hands=1)
    walker.run(until=lambda state: state.play.game is not None)
    asked = (want for want in wants(walker.state) if want.verb == "opening")
    return tuple((want.seat, option["way"]) for want in asked for option in want.params["options"])


def opening_won_at_the_table() -> tuple[str, str]:
    """Who wins the opening when the dealer claims the 天胡 that he holds and nobody else anything."""
    walker = Walker(NEW, layout="zhitui", wall=_wall_of_a_tianhu(), dice=[(4, 1)] * 9, seed=1, hands=1)
    walker.run(until=lambda state: state.play.game is not None)
    asked = [want for want in wants(walker.state) if want.verb == "opening"]
    for want in sorted(asked, key=lambda want: want.seat != "E"):
        claim = ("claim", {"way": "tianhu"}) if want.seat == "E" else ("pass", {})
        walker.feed(SeatAction(want.seat, str(want.id), *claim))
    result = walker.state.result
    return ("", "") if result is None else (result.winner, result.way)


def _wall_of_a_tianhu() -> str:
    """The wall in which the dealer East, with throws of 4 and 1, is dealt a complete hand."""
    rules = load_ruleset(NEW)
    question = {"op": "opening", "rules": NEW, "layout": "zhitui", "dealer": "E", "rolls": {"deal": [4, 1]}}
    plan = answer(question)
    wanted = parse_tiles(COMPLETE_16)
    positions = [place for seat, places in plan["takes"] if seat == "E" for place in places] + [plan["extra"]]
    from_hand = dict(zip(positions, wanted, strict=True))
    left = Counter(rules.faces())
    left.subtract(wanted)
    rest = sorted(left.elements(), key=lambda face: (is_flower(face), face[::-1]))
    places = [f"{side}{stack}{tier}" for side in SEATS for stack in range(1, rules.stacks + 1) for tier in "tb"]
    spare = iter(rest)
    return "".join(from_hand[place] if place in from_hand else next(spare) for place in places)


def point() -> object:
    return answer({"op": "point", "roller": "E", "dice": [5, 1]})


def opening() -> object:
    question = {"op": "opening", "rules": NEW, "layout": "zhitui", "dealer": "S", "rolls": {"deal": [2, 1]}}
    return answer(question)["takes"]


def hand() -> object:
    return answer({"op": "hand", "rules": NEW, "gold": "9p", "concealed": COMPLETE_16})["complete"]


def claims() -> object:
    hands = {seat: format_tiles(tiles) for seat, tiles in deal(NEW, "E", "9p", "9p", COMPLETE_16).hands.items()}
    return answer({"op": "opening_claims", "rules": NEW, "dealer": "E", "gold": "9p", "hands": hands})["order"]


def settled() -> object:
    return answer({"op": "settle", "rules": NEW, "dealer": "E", "winner": "E", "way": "tianhu"})["net"]


def water() -> object:
    asked = {"op": "water", "rules": NEW, "gold": "9p", "flowers": "123f", "concealed": COMPLETE_16}
    return answer(asked)["water"]


def fan() -> object:
    return answer({"op": "fan", "rules": BASIC, "gold": "9p", "concealed": BASIC_HAND, "way": "tianhu"})["total"]


def _never(rules: Any, gold: Any, concealed: Any) -> bool:
    return False


def _no_claims(rules: Any, dealer: Any, gold: Any, hands: Any) -> list[Any]:
    return []


def _backwards(rules: Any, side: str, leave: int) -> tuple[str, ...]:
    stacks = [f"{owner}{stack}" for owner in reversed(SEATS) for stack in range(1, rules.stacks + 1)]
    return tuple(f"{stack}{tier}" for stack in stacks for tier in "tb")


BREAKS: list[tuple[str, Any, list[Look]]] = [
    ("engine.dice.next_seat", lambda seat, steps=1: seat, [point, lambda: table_after_a_throw().dealer]),
    ("engine.opening._ring", _backwards, [opening, lambda: table_after_a_throw().play.takes]),
    ("engine.hands.complete.__code__", _never.__code__, [hand, claims, may_win, claims_at_the_table]),
    ("engine.claims.opening_claims.__code__", _no_claims.__code__, [claims, opening_won_at_the_table]),
    ("engine.settlement.owed", lambda *_: (), [settled, booked]),
    ("engine.water._flowers", lambda *_: iter(()), [water, booked]),
    ("engine.fan._shape", lambda *_: [], [fan, lambda: booked(BASIC)]),
]


@pytest.mark.parametrize(("broken", "instead", "looks"), BREAKS, ids=[broken for broken, _, _ in BREAKS])
def test_what_is_broken_changes_both(
    monkeypatch: pytest.MonkeyPatch, broken: str, instead: Any, looks: list[Look]
) -> None:
    whole = [_seen(look) for look in looks]
    monkeypatch.setattr(broken, instead)
    for look, before in zip(looks, whole, strict=True):
        assert _seen(look) != before


def _seen(look: Look) -> object:
    """What a look sees; a refusal is an answer too."""
    try:
        return look()
    except Refused as refused:
        return ("refused", refused.code)


def test_what_the_looks_see() -> None:
    """The sound answers themselves, so that a look that never sees anything fails."""
    assert point() == {"seat": "S"}
    assert table_after_a_throw().dealer == "S"
    assert hand() is True and may_win() is True
    assert claims() == [["E", "tianhu"], ["N", "qiangjin"], ["E", "qiangjin"]]
    assert ("E", "tianhu") in claims_at_the_table()
    assert opening_won_at_the_table() == ("E", "tianhu")
    assert settled() == {"E": 30, "S": -10, "W": -10, "N": -10}
    assert water() == 3
    assert booked() == {"a": 239, "b": 187, "c": 187, "d": 187}
    assert fan() == 13
    assert booked(BASIC) == {"a": 139, "b": 87, "c": 87, "d": 87}
