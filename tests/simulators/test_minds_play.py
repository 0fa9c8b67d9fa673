"""Four minds at a table without wires: every profile and layout, at both levels, to the end of its openings."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import events as e
from engine import inputs
from engine.match.state import Booking
from engine.ruleset import load_ruleset, profiles
from engine.tiles import SEATS, format_tiles, is_flower, parse_tiles, play_order
from simulators.mind import Intention
from simulators.script import ScriptedHand
from simulators.world import Missing
from tests.simulators.tabletop import Tabletop

CASES = [
    case
    for line in (Path(__file__).parent.parent / "cases" / "opening.jsonl").read_text(encoding="utf-8").splitlines()
    if "wall" in (case := json.loads(line)) and "error" not in case["want"]
]
BY_KEY = ("press", "lift", "pushed", "roll", "start")
"""What a key of the table does as well as a touch."""
TABLES = [(rules, layout) for rules in profiles() for layout in load_ruleset(rules).layouts]


@pytest.mark.parametrize("dice", ["read", "unread"])
@pytest.mark.parametrize("sensing", ["none", "full"])
@pytest.mark.parametrize(("rules", "layout"), TABLES)
def test_hands_are_opened(rules: str, layout: str, sensing: str, dice: str) -> None:
    table = Tabletop(rules, layout, sensing, dice, seed=7)
    for number in (1, 2):
        table.play(lambda table, number=number: len(table.of(e.HandEnded)) >= number or lies_open(table))
        ended = table.of(e.HandEnded)
        if len(ended) < number:
            assert_hands_are_right(table, sensing)
            table.play(lambda table, number=number: len(table.of(e.HandEnded)) >= number)
    assert table.refused == []
    assert Counter(table.world.all_tiles()).most_common(1)[0][1] == 1


def lies_open(table: Tabletop) -> bool:
    """Whether the gold lies open and nobody has done anything in play yet."""
    return table.state.phase in ("opening", "play") and table.world.round is None


def assert_hands_are_right(table: Tabletop, sensing: str) -> None:
    """At the opening the world's hands are complete, without flowers, and the gold lies where the table says."""
    world, state = table.world, table.state
    sizes = [len(world.hands[seat]) for seat in play_order(state.dealer)]
    size = table.rules.hand
    assert sizes == [size + 1, size, size, size]
    assert not any(is_flower(tile.face) for hand in world.hands.values() for tile in hand)
    laid = {seat: sorted(world.zone_faces(seat, "flowers")) for seat in SEATS}
    assert laid == {seat: sorted(state.play.flowers[seat]) for seat in SEATS}
    opened = table.of(e.GoldOpened)[-1]
    assert world.face_at(opened.position) == opened.tile
    if sensing == "full":
        assert {seat: sorted(world.zone_faces(seat, "hand")) for seat in SEATS} == {
            seat: sorted(state.play.hands[seat]) for seat in SEATS
        }


def test_both_levels_and_both_kinds_of_dice_play_the_same_hands() -> None:
    stories = []
    for sensing in ("none", "full"):
        for dice in ("read", "unread"):
            table = Tabletop("new-xiamen-120", "bagua", sensing, dice, seed=11)
            table.play(lambda table: len(table.of(e.HandEnded)) >= 3)
            rolls = [(event.purpose, event.by, event.dice) for event in table.of(e.DiceRolled)]
            golds = [(event.position, event.face) for event in table.of(e.GoldOpened)]
            stories.append((rolls, golds))
    assert all(story == stories[0] for story in stories)


@pytest.mark.parametrize(("rules", "layout"), TABLES)
def test_whole_hands_come_to_the_same_points_at_both_levels(rules: str, layout: str) -> None:
    """The same people, the same tiles: whether the table reads or is told, and nobody is ever asked in vain."""
    booked = []
    for sensing in ("none", "full"):
        table = Tabletop(rules, layout, sensing, "read", seed=17, hands=4)
        table.play(lambda table: len(table.of(e.HandEnded)) >= 4)
        assert (table.refused, table.elapsed) == ([], [])
        booked.append([(one.kind, won(one), one.points, one.bonus) for one in table.state.session.book])
    assert booked[0] == booked[1]
    assert any(kind == "win" for kind, *_ in booked[0])


def test_people_bid_the_same_at_both_levels_and_it_is_paid() -> None:
    """R36, P7: what is said before the deal roll comes to the same points, and nobody is asked for it twice."""
    stories = []
    for sensing in ("none", "full"):
        table = Tabletop("quanzhou-seed", "zhitui", sensing, "read", seed=17, hands=6)
        table.play(lambda table: len(table.of(e.HandEnded)) >= 6)
        assert (table.refused, table.elapsed) == ([], [])
        acts = [wanted.act for seat in SEATS for wanted in table.done_by[seat]]
        assert acts.count("bid") == 4 * 6
        paid = {
            (one.hand, why.code, why.number)
            for one in table.state.session.book
            for transfer in one.transfers
            for why in transfer.why
            if why.code in ("base_buy", "base_top")
        }
        stories.append((table.of(e.BidSaid), paid, [one.points for one in table.state.session.book]))
    assert stories[0] == stories[1]
    assert {code for _, code, _ in stories[0][1]} == {"base_buy", "base_top"}
    assert {bool(said.points) for said in stories[0][0]} == {True, False}


def won(booking: Booking) -> list[dict[str, Any]]:
    """Who won how; the winning tile is known only of hands that were read or told tile by tile."""
    return [{name: value for name, value in win.items() if name != "tile"} for win in booking.wins]


@pytest.mark.parametrize("sensing", ["none", "full"])
def test_a_match_ends_and_the_next_begins(sensing: str) -> None:
    table = Tabletop("new-xiamen-120", "zhitui", sensing, "read", seed=4, hands=2)
    table.play(lambda table: len(table.of(e.HandEnded)) >= 3)
    assert [one.match for one in table.state.session.book] == [1, 1, 2]
    assert table.refused == []


@pytest.mark.parametrize("sensing", ["none", "full"])
def test_seats_are_swapped_by_who_has_a_right_to(sensing: str) -> None:
    """R2: whoever has won may swap once; the others wait for who has said that it will."""
    table = Tabletop("bijin-xiamen-144", "bagua", sensing, "read", seed=3, hands=40)
    table.play(lambda table: sum(event.purpose == "swap" for event in table.of(e.DiceRolled)) >= 2)
    assert (table.refused, table.elapsed) == ([], [])


def test_at_level_none_a_hand_without_flowers_needs_few_touches() -> None:
    """Before play at most three a seat; then the win, and each seat's own entry: numbers or tiles, done, agreed."""
    table = Tabletop("basic-136", "zhitui", "none", "read", seed=6, hands=3)
    for number in (1, 2, 3):
        begun = {seat: len(table.done_by[seat]) for seat in SEATS}
        table.play(lambda table, number=number: lies_open(table) and len(table.of(e.HandEnded)) == number - 1)
        opened = {seat: len(table.done_by[seat]) for seat in SEATS}
        table.play(lambda table, number=number: len(table.of(e.HandEnded)) >= number)
        for seat in SEATS:
            acts = table.done_by[seat]
            before = [one.act for one in acts[begun[seat] : opened[seat]] if one.want and one.act not in BY_KEY]
            after = [one.act for one in acts[opened[seat] :] if one.want]
            kongs = after.count("kong")
            assert len(before) <= 3, before
            assert len(after) - kongs <= 5, after
            assert set(after) <= {"kong", "win", "items", "tiles", "patterns", "done", "agree", "drawn", "foul"}, after
    assert table.refused == []


def test_another_seed_plays_other_hands() -> None:
    golds = set()
    for seed in range(3):
        table = Tabletop("new-xiamen-120", "zhitui", "none", "read", seed=seed)
        table.play(lambda table: len(table.of(e.HandEnded)) >= 2)
        golds.add(tuple((event.position, event.face) for event in table.of(e.GoldOpened)))
    assert len(golds) == 3


def test_players_find_a_forgotten_tile_and_the_hand_goes_on() -> None:
    table = Tabletop("new-xiamen-120", "zhitui", "full", "read", seed=3, missing=(Missing(1, "S"), Missing(3, "W", 2)))
    table.play(lambda table: len(table.of(e.HandEnded)) >= 3)
    assert [event.sides for event in table.of(e.SetMiscounted)] == [(("S", 29, 30),), (("W", 28, 30),)]
    assert [wanted.act for seat in "SW" for wanted in table.done_by[seat]].count("put_in") == 2


def test_a_cocked_die_is_thrown_again_by_the_same_seat() -> None:
    table = Tabletop("new-xiamen-120", "zhitui", "none", "read", seed=3, cocked_rate=0.5)
    table.play(lambda table: len(table.of(e.HandEnded)) >= 2)
    assert table.of(e.RollSpoilt)
    assert table.refused == []


def test_wrong_dice_are_objected_to_and_entered_again() -> None:
    lied: list[str] = []

    def lie(seat: str, wanted: Intention) -> Intention:
        if wanted.act == "dice" and not lied:
            lied.append(seat)
            seen = wanted.arguments["dice"]
            return replace(wanted, arguments={"dice": [seen[0] % 6 + 1, seen[1]]})
        return wanted

    table = Tabletop("new-xiamen-120", "zhitui", "none", "unread", seed=3, meddle=lie)
    table.play(lambda table: bool(table.of(e.DiceRolled)))
    assert lied and table.of(e.DiceObjected)
    assert table.world.lying is not None and table.of(e.DiceRolled)[0].dice == table.world.lying.dice


def test_a_wrong_gold_is_objected_to_and_entered_again() -> None:
    lied: list[str] = []

    def lie(seat: str, wanted: Intention) -> Intention:
        if wanted.act == "face" and not lied:
            lied.append(str(wanted.arguments["tile"]))
            return replace(wanted, arguments={"tile": "1m" if wanted.arguments["tile"] != "1m" else "2m"})
        return wanted

    table = Tabletop("new-xiamen-120", "zhitui", "none", "read", seed=3, meddle=lie)
    table.play(lambda table: bool(table.of(e.GoldOpened)))
    assert table.of(e.GoldObjected) and table.of(e.GoldOpened)[0].tile == lied[0]


def test_a_display_that_lost_count_of_the_tail_is_put_right_before_the_gold_roll() -> None:
    table = Tabletop("new-xiamen-120", "zhitui", "none", "read", seed=7)
    table.play(lambda table: table.state.phase == "gold_roll")
    want = next(want for want in table.view("W").me.wants if want.verb == "tail")
    table.feed(inputs.SeatAction("W", want.id, "tail_shift", {"by": 1}))
    table.play(lambda table: bool(table.of(e.GoldOpened)))
    assert [event.by for event in table.of(e.TailShifted)] == [1, -1]
    opened = table.of(e.GoldOpened)[0]
    assert table.world.face_at(opened.position) == opened.tile


@pytest.mark.parametrize("sensing", ["none", "full"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_rule_cases_come_out_at_the_table(case: dict[str, Any], sensing: str) -> None:
    """The walls and dice of the rule cases, laid into the world: the same hands, flowers and gold at the seats."""
    rolls = case["rolls"]
    dice = [rolls["deal"], *([rolls["door"]] if "door" in rolls else []), *rolls.get("gold", [])]
    hand = ScriptedHand(tuple(parse_tiles(case["wall"])), tuple((first, second) for first, second in dice))
    layout = case.get("layout") or load_ruleset(case["rules"]).layouts[0]
    table = Tabletop(case["rules"], layout, sensing, "read", seed=1, options=case.get("options", {}), script=[hand])
    session = table.state.session
    between = replace(session, phase="between", deal=session.seats[case["dealer"]])
    history = tuple(case.get("gold_history", ()))
    table.state = replace(table.state, dealer=case["dealer"], session=between, gold_history=history)
    table.play(lambda table: lies_open(table) or bool(table.of(e.HandEnded)))
    want, world = case["want"], table.world
    assert table.refused == []
    assert {seat: format_tiles(world.zone_faces(seat, "hand")) for seat in SEATS} == want["hands"]
    assert {seat: format_tiles(world.zone_faces(seat, "flowers")) for seat in SEATS} == want["flowers"]
    golds = [{"position": event.position, "tile": event.face} for event in table.of(e.GoldOpened)]
    wanted = want.get("gold")
    assert golds == ([{key: wanted[key] for key in ("position", "tile")}] if wanted else [])
    assert [[event.position, event.tile] for event in table.of(e.GoldPassed)] == want.get("passed", [])
