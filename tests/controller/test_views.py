"""Every view of a table keeps the contract, whatever is played and entered. `test_secrecy` says what none may hold."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from pydantic_core import to_json

from controller.live import Live, TableFacts
from controller.views import HEAD_ROOM, lamps, public_events, public_view, seat_view
from engine.events import BidSaid
from engine.opening import wall_positions
from engine.ruleset import load_ruleset, profiles
from engine.state import State
from engine.table import new_state, wants
from engine.tiles import SEATS
from protocol.mqtt.envelope import MAX_BYTES
from protocol.mqtt.views import PublicState, SeatView
from tests.engine.tables import Told
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
    walker = Walker(
        name, layout, sensing, "unread", hands=2, seed=3, spoil_rate=0.1, fail_rate=0.1, object_rate=0.3, undo_rate=0.3
    )
    for number, state in enumerate([new_state(), *states(walker)]):
        public = json.loads(to_json(public_view(state, LIVE)))
        PublicState.model_validate(public, extra="forbid")
        seat = SEATS[number % len(SEATS)]
        view = json.loads(to_json(seat_view(state, seat, LIVE, public)))
        SeatView.model_validate(view, extra="forbid")
        assert {key: value for key, value in view.items() if key != "me"} == public
        assert len(to_json(view)) < MAX_BYTES - HEAD_ROOM
        for side, first, last, colour in lamps(state):
            assert side in SEATS and 1 <= first <= last <= 18 and colour in (*SEATS, "gold", "white")


@pytest.mark.parametrize("sensing", ["none", "full"])
def test_what_is_bid_lies_open_from_its_word_to_the_settlement(sensing: str) -> None:
    """R36, P7: who has not spoken is told by being left out, and every seat sees the time that is left."""
    table = Told("quanzhou-seed", sensing=sensing)
    assert public_view(table.state, LIVE)["bids"] is None, "nothing is played"
    table.run(lambda state: state.phase == "bids")
    timers = {str(table.timer("bid_clock").id): 20_000}
    live = replace(LIVE, timers=timers)
    assert (public_view(table.state, live)["bids"], public_view(table.state, live)["phase"]) == ({}, "bids")
    assert public_view(table.state, live)["window"] == {"kind": "bid", "left_ms": 20_000}
    table.press("W", "bid", "bid", points=4)
    for seat in SEATS:
        view = seat_view(table.state, seat, live)
        (asked,) = [want for want in view["me"]["wants"] if want["verb"] == "bid"]
        assert view["bids"] == {"W": 4} and asked["left_ms"] == 20_000
        assert asked["params"]["points"] == (4 if seat == "W" else None)
    told = public_events(BidSaid("W", 4), table.state, table.state)
    assert told == (("game", "bid", {"hand": 1, "seat": "W", "kind": "top", "points": 4}),)
    table.elapse("bid_clock")
    table.go("play", "opening")
    assert public_view(table.state, LIVE)["bids"] == {"W": 4}
    plain = Told("new-xiamen-120")
    plain.run(lambda state: state.phase == "taking")
    assert public_view(plain.state, LIVE)["bids"] is None, "no bids in these rules"


def test_from_the_second_match_on_the_sums_of_the_evening_are_public() -> None:
    walker = Walker("classic-xiamen-144", sensing="none", hands=2, seed=6)
    walker.run()
    first = public_view(walker.state, LIVE)["match"]
    assert (first["evening"], first["evening_bonus"]) == ({}, {})
    walker.run()
    second = public_view(walker.state, LIVE)["match"]
    came = {one["players"][seat]["id"]: 0 for one in (first, second) for seat in SEATS}
    for one in (first, second):
        assert any(one["points"].values())
        for seat in SEATS:
            came[one["players"][seat]["id"]] += one["points"][seat]
    assert second["evening"] == came and sum(came.values()) == 0


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
