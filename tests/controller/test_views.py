"""The security boundary: no view holds what its audience's eyes could not see, and every view keeps the contract."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from controller.live import Live, TableFacts
from controller.views import lamps, public_events, public_view, seat_view
from engine import events as e
from engine.opening import next_to_flip, wall_positions
from engine.ruleset import load_ruleset, profiles
from engine.state import State
from engine.table import apply, fold, new_state, wants
from engine.tiles import SEATS
from protocol.mqtt.views import PublicState, SeatView
from tests.engine.walker import Walker

LIVE = Live(TableFacts("new-xiamen-120", "zhitui", "none", "read", "guide", 2, 0))
GAMES = [(name, layout) for name in profiles() for layout in load_ruleset(name).layouts]


def states(walker: Walker) -> list[State]:
    """The states after every input of a finished match."""
    seen: list[State] = []
    walker.watch = lambda _before, _events, after: seen.append(after)
    walker.run()
    return seen


@pytest.mark.parametrize(("name", "layout"), GAMES)
@pytest.mark.parametrize("sensing", ["none", "full"])
def test_every_view_of_a_match_keeps_the_contract(name: str, layout: str, sensing: str) -> None:
    walker = Walker(name, layout, sensing, "unread", hands=2, seed=3, spoil_rate=0.1, fail_rate=0.1, object_rate=0.3)
    for state in [new_state(), *states(walker)]:
        public = json.loads(json.dumps(public_view(state, LIVE)))
        PublicState.model_validate(public, extra="forbid")
        for seat in SEATS:
            view = json.loads(json.dumps(seat_view(state, seat, LIVE, public)))
            SeatView.model_validate(view, extra="forbid")
            assert {key: value for key, value in view.items() if key != "me"} == public
            assert len(json.dumps(view)) < 8000
        for side, first, last, colour in lamps(state):
            assert side in SEATS and 1 <= first <= last <= 18 and colour in (*SEATS, "gold", "white")


def swapped(walker: Walker, state: State, seat: str) -> State | None:
    """The same table but for two tiles that only `seat` may know of: one of its hand and one that still stands."""
    play = state.play
    if play.gold is None or play.gold.stage != "opened" or play.lines is None:
        return None
    standing = next_to_flip(play.lines, frozenset(), play.lines.tail[-20])
    mine, other = play.hands[seat][0], play.wall[standing]
    if mine == other:
        return None
    wall = {place: other if face == mine else mine if face == other else face for place, face in play.wall.items()}
    hands = {**play.hands, seat: (other, *play.hands[seat][1:])}
    seen = {**play.seen, (seat, "hand"): hands[seat]}
    claims = (("S", "tianhu"),) if seat == "S" else ()
    return replace(state, play=replace(play, wall=wall, hands=hands, seen=seen, claims=claims))


@pytest.mark.parametrize("seat", SEATS)
def test_nothing_but_a_seats_own_view_depends_on_its_hidden_tiles(seat: str) -> None:
    walker = Walker("new-xiamen-120", hands=6, seed=11)
    compared = 0
    for state in states(walker):
        other = swapped(walker, state, seat)
        if other is None:
            continue
        compared += 1
        assert public_view(state, LIVE) == public_view(other, LIVE)
        assert lamps(state) == lamps(other)
        for watcher in SEATS:
            if watcher != seat:
                assert seat_view(state, watcher, LIVE) == seat_view(other, watcher, LIVE)
        assert seat_view(state, seat, LIVE) != seat_view(other, seat, LIVE)
    assert compared > 3


def hidden_words(value: Any, found: set[str]) -> None:
    if isinstance(value, dict):
        for item in value.values():
            hidden_words(item, found)
    elif isinstance(value, list | tuple):
        for item in value:
            hidden_words(item, found)
    elif isinstance(value, str):
        found.add(value)


def test_no_public_word_names_a_concealed_tile() -> None:
    """Faces in the public view are only flowers laid out, the flipped tiles and the gold."""
    walker = Walker("classic-xiamen-144", "bagua", hands=3, seed=4)
    for state in states(walker):
        found: set[str] = set()
        hidden_words(json.loads(json.dumps(public_view(state, LIVE))), found)
        faces = found & set(walker.book.faces())
        allowed = {tile for flowers in state.play.flowers.values() for tile in flowers}
        allowed |= {passed.tile for passed in state.play.passed}
        if state.play.gold is not None:
            allowed |= {state.play.gold.tile, state.play.gold.face}
        assert faces <= allowed


def test_the_public_stream_tells_no_secret() -> None:
    """What the stream says of a match is the same whatever the concealed tiles are named."""
    walker = Walker("new-xiamen-120", hands=3, seed=2)
    walker.run()
    secret = (e.HandSeen, e.WallRead, e.OpeningBegun, e.OpeningAnswered, e.HandAccepted)
    state = new_state()
    for event in walker.events:
        after = apply(state, event)
        told = public_events(event, state, after)
        if isinstance(event, secret):
            assert not [data for _, name, data in told if name != "opening"]
        if isinstance(event, e.TakeDone | e.FlowersReplaced):
            assert "tiles" not in told[0][2]
        state = after
    assert fold(walker.events) == state


def test_claims_are_shown_to_their_seat_alone() -> None:
    walker = Walker("new-xiamen-120", seed=8)
    walker.run(lambda state: state.phase == "opening")
    state = replace(walker.state, play=replace(walker.state.play, claims=(("S", "sanjindao"), ("S", "qiangjin"))))
    for seat in SEATS:
        (want,) = [want for want in seat_view(state, seat, LIVE)["me"]["wants"] if want["verb"] == "opening"]
        assert want["params"]["claims"] == (["sanjindao", "qiangjin"] if seat == "S" else [])
        assert want["actions"] == ["claim", "pass"]
        assert want["left_ms"] == state.match.rules.opening_window_ms
    assert "sanjindao" not in json.dumps(public_view(state, LIVE))
    answered = replace(state, play=replace(state.play, answers={"S": "sanjindao"}))
    assert public_view(answered, LIVE) == public_view(state, LIVE)


def test_the_wall_is_drawn_bit_by_bit_as_it_is_taken() -> None:
    walker = Walker("new-xiamen-120", hands=1, seed=6)
    walker.run(lambda state: state.phase == "opening")
    view = public_view(walker.state, LIVE)
    places = wall_positions(walker.book, "zhitui")
    bits = "".join(view["wall"][seat] for seat in SEATS)
    standing = {place for place, bit in zip(places, bits, strict=True) if bit == "1"}
    assert walker.state.play.gold is not None and walker.state.play.gold.position not in standing
    assert len(standing) == view["left"]
    assert view["head"] in standing and set(view["tail"]["next"]) <= standing
    assert [want for want in wants(walker.state) if want.verb == "opening"]
