"""A hand that its people referee: the rules over the true tiles, whole hands of every profile, what each seat knows."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

from engine.play import Action, apply, begin, decide, held, options, to_draw
from engine.play.state import everything
from engine.ruleset import PROFILES
from engine.tiles import SEATS, is_flower
from simulators import laying
from simulators.acts import perform
from simulators.felt import WorldError
from simulators.round import ActionRefused, Round
from simulators.sight import Eyes, Sight, public_sight, seat_sight
from tests.engine.play.hands_at_play import choose
from tests.simulators.dealt import GAMES, Table, plain, play_out

NOBODY = ["", ""]
"""An opening that nobody has won."""


def begun(table: Table, **said: Any) -> Round:
    table.act("begin_round", table.dealer, **{**table.begin, **said})
    assert table.world.round is not None
    return table.world.round


def same_as_state(table: Table, hand: Round) -> None:
    """What lies on the table is what the rules say has been played."""
    world, state = table.world, hand.state
    for seat in SEATS:
        own = state.seats[seat]
        assert Counter(world.zone_faces(seat, "hand")) == Counter(own.hand)
        assert world.zone_faces(seat, "flowers") == own.flowers
        assert [tile.face for tile in world.aside[seat]] == list(own.aside)
        melds = [(meld.kind, sorted(tile.face for tile in meld.tiles)) for meld in world.melds[seat]]
        assert melds == [(meld.kind, sorted(meld.tiles)) for meld in own.melds]
        lain = [one for one in state.discards if one.seat == seat and not one.taken]
        assert world.zone_faces(seat, "discards") == tuple(one.tile for one in lain)
        assert [tile in world.down for tile in world.discards[seat]] == [one.how == "ming" for one in lain]
    standing = {place for side in SEATS for place in world.standing(side)} - {table.gold}
    assert len(standing & set(table.lines.head)) == len(state.left)
    assert Counter(world.face_at(place) for place in standing) == Counter(state.deal.wall[at] for at in state.left)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("rules", "layout"), GAMES)
def test_whole_hands_of_every_profile_lie_as_they_are_played(rules: str, layout: str, seed: int) -> None:
    table = Table(rules, layout, seed, dealer=SEATS[seed % 4], dots=2 + seed, rich=seed % 2 == 1)
    hand = begun(table, opening=NOBODY if seed % 4 else None)
    tiles, chance = Counter(table.world.all_tiles()), random.Random(seed)
    dealt = everything(hand.state)
    while hand.state.outcome is None:
        same_as_state(table, hand)
        seat = chance.choice(hand.state.asked)
        table.act("play", seat, action=plain(choose(hand.state, seat, chance)))
        assert Counter(table.world.all_tiles()) == tiles and set(tiles.values()) == {1}
    assert everything(hand.state) == dealt
    won = {win.seat for win in hand.state.outcome.winners}
    foul = hand.state.outcome.foul
    assert table.world.shown == (won if foul is None else {foul.seat})


def test_hands_at_random_come_to_tours_kongs_and_wins_of_many_ways() -> None:
    """The hands above would prove little if they were all drawn."""
    found: Counter[str] = Counter()
    for number in range(120):
        rules, layout = GAMES[number % len(GAMES)]
        table = Table(rules, layout, number, rich=True)
        hand = begun(table, opening=NOBODY if number % 4 else None)
        play_out(table, number)
        found += Counter(win.way for win in hand.state.wins)
        found += Counter(meld.kind for own in hand.state.seats.values() for meld in own.melds)
        found += Counter({"aside": sum(len(own.aside) for own in hand.state.seats.values())})
    assert found.keys() >= {"pinghu", "zimo", "youjin", "shuangyou", "qiangjin", "chi", "pong", "aside"}
    assert found.keys() >= {"kong_open", "kong_concealed", "kong_added"}


def test_draws_come_from_the_head_and_replacements_from_the_tail() -> None:
    table = Table("classic-xiamen-144", seed=3)
    hand, chance = begun(table, opening=NOBODY), random.Random(5)
    ends = Counter[str]()
    while hand.state.outcome is None:
        before = [place for place in table.lines.head if place not in table.gone()]
        seat = chance.choice(hand.state.asked)
        table.act("play", seat, action=plain(choose(hand.state, seat, chance)))
        gone = [place for place in before if place in table.gone()]
        if len(gone) == 1:
            assert gone[0] == before[0] or gone[0] == next(p for p in table.lines.tail if p in before)
            ends["head" if gone[0] == before[0] else "tail"] += 1
    assert ends["head"] > 20


def test_flowers_are_laid_out_and_replaced_without_a_word() -> None:
    table = Table("classic-xiamen-144", seed=1)
    before = sum(len(tiles) for tiles in table.world.flowers.values())
    begun(table, opening=NOBODY)
    play_out(table, 1)
    assert sum(len(tiles) for tiles in table.world.flowers.values()) > before
    assert not any(is_flower(tile.face) for tiles in table.world.hands.values() for tile in tiles)


def test_beginning_again_changes_nothing() -> None:
    table = Table("new-xiamen-120")
    hand, seen = begun(table), table.world.version
    table.act("begin_round", "S", **table.begin)
    assert table.world.round is hand and table.world.version == seen


def test_a_hand_that_lies_wrongly_cannot_begin() -> None:
    table = Table("new-xiamen-120")
    other = next(place for place in table.lines.head if place not in table.gone())
    with pytest.raises(WorldError, match=f"{other} is not flipped"):
        table.act("begin_round", "E", **{**table.begin, "gold": other})
    table.act("take", "S", positions=[other])
    with pytest.raises(WorldError, match=r"hands.S: 17 tiles; expected 16"):
        table.act("begin_round", "E", **table.begin)
    table.act("put_back", "S")
    begun(table)


def test_the_opening_that_was_won_at_the_table_is_carried_out() -> None:
    for seed in range(60):
        table = Table("new-xiamen-120", seed=seed, rich=True)
        hand = begun(table)
        claims = [(seat, one) for seat in SEATS for one in options(hand.state, seat) if one.way == "qiangjin"]
        if claims and claims[0][0] != table.dealer:
            break
    seat = claims[0][0]
    face = table.world.face_at(table.gold)
    again = Table("new-xiamen-120", seed=seed, rich=True)
    over = begun(again, opening=[seat, "qiangjin"])
    assert over.state.outcome is not None and over.state.wins[0].way == "qiangjin"
    assert again.gold not in again.world.standing(again.gold[0]), "the gold was taken"
    assert again.world.zone_faces(seat, "hand")[-1] == face and seat in again.world.shown


def test_a_dealer_who_takes_the_gold_discards_what_he_drops() -> None:
    for seed in range(300):
        table = Table("new-xiamen-120", seed=seed, rich=True)
        hand = begun(table)
        claims = [one for one in options(hand.state, "E") if one.way == "qiangjin"]
        if claims:
            break
    table.act("play", "E", action=plain(claims[0]))
    for seat in hand.state.asked:
        table.act("play", seat, action={"name": "pass"})
    assert hand.state.wins[0].way == "qiangjin"
    assert table.world.zone_faces("E", "discards") == (claims[0].tile,)
    assert Counter(table.world.zone_faces("E", "hand")) == Counter(held(hand.state)["E"].concealed)


def test_what_is_not_allowed_is_refused_with_code_and_rule_and_changes_nothing() -> None:
    table = Table("new-xiamen-120")
    hand = begun(table, opening=NOBODY)
    seen = table.world.version
    for seat, action, code, rule in (
        ("S", {"name": "discard", "tile": table.world.hands["S"][0].face}, "not_your_turn", "R13"),
        ("E", {"name": "discard", "tile": "zz"}, "not_in_hand", "R13"),
        ("E", {"name": "pong"}, "not_asked", "R13"),
        ("E", {"name": "dance"}, "unknown_action", "R13"),
        ("E", {"name": "hu", "way": "luck"}, "unknown_way", "R28"),
        ("E", {"name": "expose_false", "kind": "odd"}, "unknown_foul", "R38"),
    ):
        with pytest.raises(ActionRefused) as refusal:
            table.act("play", seat, action=action)
        assert (refusal.value.code, refusal.value.rule) == (code, rule)
        assert code in str(refusal.value)
    with pytest.raises(ActionRefused, match="no_window"):
        table.act("close_window", "E")
    assert table.world.version == seen and hand.state.phase == "turn"


def test_a_press_that_comes_twice_does_not_answer_the_next_window() -> None:
    table = Table("new-xiamen-120", seed=5)
    hand, chance = begun(table, opening=NOBODY), random.Random(1)
    while hand.state.phase != "window":
        table.act("play", hand.state.turn, action=plain(choose(hand.state, hand.state.turn, chance)))
    number = len(hand.state.discards)
    for seat in hand.state.asked:
        table.act("play", seat, action={"name": "pass"}, number=number)
    assert hand.state.phase == "turn"
    table.act("play", hand.state.turn, action=plain(options(hand.state, hand.state.turn)[-1]), number=number)
    if hand.state.phase == "window":
        with pytest.raises(ActionRefused, match="late"):
            table.act("play", hand.state.asked[0], action={"name": "pass"}, number=number)


def test_a_window_that_all_have_answered_is_over_by_itself_and_one_that_people_close_too() -> None:
    table = Table("new-xiamen-120", seed=8)
    hand = begun(table, opening=NOBODY)
    tile = options(hand.state, "E")[-1].tile
    table.act("play", "E", action={"name": "discard", "tile": tile})
    assert hand.state.phase == "window" and hand.state.asked == ("S", "W", "N")
    table.act("play", "W", action={"name": "pass"})
    assert hand.told("W")["asked"] is False and hand.told("S")["asked"] is True
    with pytest.raises(ActionRefused, match="already_answered"):
        table.act("play", "W", action={"name": "pass"})
    table.act("close_window", "E")
    assert hand.state.phase in ("turn", "flower") and hand.state.turn == "S"


def test_nobody_goes_on_while_a_tile_is_where_it_should_not_be() -> None:
    table = Table("new-xiamen-120")
    hand = begun(table, opening=NOBODY)
    action = plain(options(hand.state, "E")[-1])
    table.act("take", "W", positions=[table.lines.tail[-1]])
    with pytest.raises(WorldError, match="W holds 17 tiles in place of 16"):
        table.act("play", "E", action=action)
    table.act("put_back", "W")
    wrong = table.world.hands["S"][0].face
    table.act("discard", "S", tile=wrong)
    with pytest.raises(WorldError, match="S holds 15 tiles"):
        table.act("play", "E", action=action)
    table.act("take", "S", positions=[next(p for p in table.lines.head if p not in table.gone())])
    with pytest.raises(WorldError, match="the tiles of S do not lie as the hand was played"):
        table.act("play", "E", action=action)
    table.act("put_back", "S")
    table.act("take_back", "S")
    table.act("play", "E", action=action)
    same_as_state(table, hand)


def test_a_false_win_is_laid_open_and_ends_the_hand() -> None:
    table = Table("new-xiamen-120")
    begun(table, opening=NOBODY)
    table.act("play", "W", action={"name": "expose_false", "kind": "zhahu"})
    over = seat_sight(table.world, "S").round
    assert over is not None and over.over is not None
    assert over.over["kind"] == "foul" and over.over["foul"] == {"seat": "W", "kind": "zhahu", "ready": []}
    assert set(public_sight(table.world).shown) == {"W"}
    with pytest.raises(ActionRefused, match="hand_over"):
        table.act("play", "E", action={"name": "pass"})


def test_a_seat_that_is_out_is_told_to_all() -> None:
    table = Table("new-xiamen-120")
    begun(table, opening=NOBODY)
    table.act("play", "W", action={"name": "cover", "reason": "wrong_count"})
    told = seat_sight(table.world, "E").round
    assert told is not None and told.covered == {"W": "wrong_count"}


@pytest.mark.parametrize("rules", PROFILES)
def test_a_seat_is_offered_its_own_choices_and_told_no_tile_of_others(rules: str) -> None:
    table = Table(rules, seed=2, rich=True)
    hand, chance = begun(table, opening=NOBODY), random.Random(4)
    asked = 0
    while hand.state.outcome is None:
        for seat in SEATS:
            told = seat_sight(table.world, seat).round
            assert told is not None
            own = set(hand.state.seats[seat].hand) | {hand.state.tile, hand.state.deal.flipped}
            assert [Action(**{**one, "tiles": tuple(one.get("tiles", ()))}) for one in told.options] == list(
                options(hand.state, seat)
            )
            assert told.asked == (seat in hand.state.asked) and (told.asked or not told.options)
            assert {one["tile"] for one in told.options if "tile" in one} <= own
            assert {tile for one in told.options for tile in one.get("tiles", ())} <= own
            assert told.drawn == "" or (seat == hand.state.turn and told.drawn == hand.state.drawn)
            assert (told.number, told.to_draw) == (len(hand.state.discards), to_draw(hand.state))
            asked += told.asked
        bystander = public_sight(table.world).round
        assert bystander is not None and not bystander.options and not bystander.asked and bystander.drawn == ""
        seat = chance.choice(hand.state.asked)
        table.act("play", seat, action=plain(choose(hand.state, seat, chance)))
    assert asked > 20


def test_three_seats_in_a_window_look_the_same_from_outside_whatever_they_hold() -> None:
    table = Table("new-xiamen-120", seed=8)
    hand, chance = begun(table, opening=NOBODY), random.Random(3)
    windows = 0
    while hand.state.outcome is None:
        if hand.state.phase == "window" and not hand.state.answers:
            windows += 1
            asked = [seat for seat in SEATS if hand.told(seat)["asked"]]
            assert asked == [seat for seat in SEATS if seat != hand.state.source]
        seat = chance.choice(hand.state.asked)
        table.act("play", seat, action=plain(choose(hand.state, seat, chance)))
    assert windows > 5


def test_what_people_know_when_a_hand_is_over() -> None:
    kinds = set()
    for number in range(40):
        table = Table("new-xiamen-120", seed=number, rich=True)
        hand = begun(table, opening=NOBODY)
        play_out(table, number)
        outcome = hand.state.outcome
        assert outcome is not None
        kinds.add(outcome.kind)
        final = held(hand.state)
        for seat in SEATS:
            told = hand.told(seat)["over"]
            assert told["kind"] == outcome.kind and told["covered"] == list(outcome.covered)
            assert [(win["seat"], win["way"], win["tile"], win["source"]) for win in told["winners"]] == [
                (win.seat, win.way, win.tile or "", win.source or "") for win in outcome.winners
            ]
            assert told["held"]["concealed"] == list(final[seat].concealed), "its own tiles, and no other's"
            assert told["held"]["flowers"] == list(final[seat].flowers)
        assert "held" not in hand.told(None)["over"]
    assert kinds == {"win", "draw"}


def test_the_next_walls_and_pushing_in_end_the_hand() -> None:
    table = Table("new-xiamen-120")
    begun(table)
    table.world.move_centre("up")
    table.act("push_in", "S")
    assert table.world.round is None and public_sight(table.world).round is None
    with pytest.raises(WorldError, match="no hand has begun"):
        table.act("play", "E", action={"name": "pass"})


def test_the_same_hand_at_both_levels() -> None:
    """The referee of the people and the rules by themselves come to the same with the same choices."""
    table = Table("classic-xiamen-144", seed=11, rich=True)
    hand = begun(table, opening=NOBODY)
    state, chance = begin(hand.state.deal), random.Random(9)
    while hand.state.outcome is None:
        seat = hand.state.asked[0]
        action = choose(hand.state, seat, chance)
        table.act("play", seat, action=plain(action))
        for event in decide(state, seat, action):
            state = apply(state, event)
    assert state == hand.state


def test_nonsense_in_play_is_refused_in_words() -> None:
    table = Table("new-xiamen-120", seed=6)
    hand, chance = begun(table), random.Random(0)
    words = ["", "1m", "zz", "hu", "E", "💥", "youjin", "qiangjin", "pong", "zhahu", "follow", "1" * 300]
    names = ["hu", "chi", "pong", "kong_open", "kong_added", "kong_concealed", "discard", "tour_discard", "pass"]
    for _ in range(1500):
        action: dict[str, Any] = {"name": chance.choice([*names, *words])}
        for field in chance.sample(["tile", "way", "reason"], chance.randint(0, 2)):
            action[field] = chance.choice(words)
        action["tiles"] = [chance.choice(words) for _ in range(chance.randint(0, 3))]
        if hand.state.outcome is not None:
            break
        try:
            perform(table.world, "play", {"seat": chance.choice(SEATS), "action": action})
        except WorldError as refusal:
            assert str(refusal)
        for seat in SEATS:
            Sight.model_validate(json.loads(Eyes(table.world).sight(seat)))


def test_putting_a_claimed_meld_apart_is_noticed() -> None:
    table = Table("new-xiamen-120", seed=8, rich=True)
    hand, chance = begun(table, opening=NOBODY), random.Random(2)
    while not any(table.world.melds.values()):
        seat = chance.choice(hand.state.asked)
        table.act("play", seat, action=plain(choose(hand.state, seat, chance)))
    seat = next(seat for seat in SEATS if table.world.melds[seat])
    laying.undo_meld(table.world, seat)
    with pytest.raises(WorldError, match=f"{seat} holds"):
        table.act("play", hand.state.asked[0], action=plain(options(hand.state, hand.state.asked[0])[-1]))
