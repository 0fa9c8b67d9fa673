"""What a seat's own part tells: its tiles, its points after a swap, its countdowns; and that a view always fits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic_core import from_json, to_json

from controller.clock import SystemClock
from controller.live import Live, TableFacts
from controller.publisher import Publisher
from controller.views import fitted, lasting, own, public_view, seat_view
from engine import events as e
from engine.match import events as m
from engine.ruleset import profiles
from engine.state import Fault, State
from engine.table import apply, wants
from engine.tiles import SEATS, parse_tiles
from protocol.mqtt.envelope import MAX_BYTES, encode_parts
from tests.controller.undoing import walk
from tests.engine.walker import Walker
from tests.protocol.mqtt.examples import largest_view

LIVE = Live(TableFacts("new-xiamen-120", "zhitui", "full", "read", "guide", 2, 0))


def at_turn(seed: int = 3) -> State:
    """A seat has drawn and is to discard."""
    walker = Walker("new-xiamen-120", hands=1, seed=seed)
    walker.run(lambda state: state.play.game is not None and state.play.game.phase == "turn" and state.play.beat > 12)
    return walker.state


def test_the_tile_just_drawn_stands_last() -> None:
    state = at_turn()
    game = state.play.game
    assert game is not None and game.drawn
    tiles = own(state, game.turn, LIVE)["tiles"]
    assert tiles is not None and parse_tiles(tiles)[-1] == game.drawn
    assert sorted(parse_tiles(tiles)) == sorted(game.seats[game.turn].hand)
    other = next(seat for seat in SEATS if seat != game.turn)
    held = parse_tiles(own(state, other, LIVE)["tiles"])
    assert held == sorted(held, key=lambda face: ("mpsz".index(face[1]), face))


def test_a_seat_sees_what_its_readers_see_and_what_they_cannot_read_is_left_out() -> None:
    state = at_turn()
    game = state.play.game
    assert game is not None
    seen = {**state.play.seen, (game.turn, "hand"): (*game.seats[game.turn].hand[:-2], "??", "7z")}
    odd = replace(state, play=replace(state.play, seen=seen))
    tiles = parse_tiles(own(odd, game.turn, LIVE)["tiles"])
    assert len(tiles) == len(game.seats[game.turn].hand) - 1 and tiles[-1] == "7z"


@pytest.mark.parametrize("verb", ["opening", "claim"])
def test_claims_are_shown_to_their_seat_alone_and_the_countdown_to_all(verb: str) -> None:
    """R13, R25: the same buttons at every seat; what a seat could do stands in its own prompt."""
    walker = Walker("new-xiamen-120", hands=1, seed=8)
    walker.run(lambda state: state.phase == ("opening" if verb == "opening" else "play") and _asked(state, verb))
    state = walker.state
    asked = [seat for seat in SEATS for want in own(state, seat, LIVE)["wants"] if want["verb"] == verb]
    assert len(asked) == (4 if verb == "opening" else 3)
    rules = state.match.rules
    length = rules.opening_window_ms if verb == "opening" else rules.claim_window_ms
    buttons = set()
    for seat in asked:
        (want,) = [want for want in own(state, seat, LIVE)["wants"] if want["verb"] == verb]
        buttons.add(tuple(want["actions"]))
        assert want["left_ms"] == length
    assert len(buttons) == 1
    assert public_view(state, LIVE)["window"] == {"kind": verb, "left_ms": length}


def _asked(state: State, verb: str) -> bool:
    return any(want["verb"] == verb for seat in SEATS for want in own(state, seat, LIVE)["wants"])


def booked(sensing: str = "full") -> State:
    """A hand that somebody won is booked and can be taken back."""
    for seed in range(30):
        walker = Walker("new-xiamen-120", sensing=sensing, hands=0, seed=seed)
        walker.run(lambda state: state.undoable is not None)
        result = walker.state.result
        if result is not None and result.booking is not None and result.booking.wins:
            return walker.state
    raise AssertionError("nobody wins")


@pytest.mark.parametrize("sensing", ["none", "full"])
def test_scores_and_reasons_are_shown_until_the_deal_and_follow_the_players(sensing: str) -> None:
    state = booked(sensing)
    assert state.result is not None and state.result.booking is not None
    one = state.result.booking
    before = {seat: seat_view(state, seat, LIVE) for seat in SEATS}
    result = before["E"]["result"]
    assert sum(result["net"].values()) == 0 and result["open"] and result["kind"] == "win"
    assert result["net"] == {seat: one.points[player] for seat, player in one.seats.items()}
    if sensing == "full":
        assert set(result["tiles"]) == set(SEATS)
    for seat in SEATS:
        lines = before[seat]["me"]["lines"]
        gained = sum(line["amount"] * (1 if line["receiver"] == seat else -1) for line in lines)
        assert gained == result["net"][seat] + result["bonus"][seat] and all(line["why"] for line in lines)
        assert before[seat]["me"]["points"] == result["net"][seat]
    swap = m.SeatsSwapped(state.session.seats["E"], "win", (1, 1), state.session.seats["S"])
    moved = apply(state, e.SessionSaid(swap))
    after = {seat: seat_view(moved, seat, LIVE) for seat in SEATS}
    assert after["S"]["result"]["net"]["S"] == result["net"]["E"] and after["E"]["me"]["points"] == result["net"]["S"]
    turned = {"E": "S", "S": "E", "W": "W", "N": "N"}
    assert _amounts(after["S"]) == {(turned[p], turned[r], a) for p, r, a in _amounts(before["E"])}
    dealt = public_view(replace(state, undoable=None), LIVE)["result"]
    assert dealt["net"] == result["net"] and (dealt["tiles"], dealt["melds"], dealt["open"]) == ({}, {}, False)
    assert own(replace(state, undoable=None), "E", LIVE)["lines"] == []


def _amounts(view: dict[str, Any]) -> set[tuple[str, str, int]]:
    return {(line["payer"], line["receiver"], line["amount"]) for line in view["me"]["lines"]}


def test_a_hand_that_is_taken_back_has_no_result_until_it_is_booked_again() -> None:
    walker = Walker("new-xiamen-120", sensing="none", hands=0, seed=2)
    state = walk(walker, lambda state: state.phase == "settle" and state.undoable is not None)
    view = seat_view(state, "E", LIVE)
    assert state.book is not None and view["gold"]["face"] == state.book.frame.gold, "golds are counted anew"
    assert view["result"] is None and view["me"]["lines"] == []
    assert view["book"]["stage"] in ("entry", "agreement")
    assert view["match"]["points"] == dict.fromkeys(SEATS, 0) and view["me"]["points"] == 0


def test_a_view_sheds_only_what_matters_least() -> None:
    me = largest_view()["me"]
    me["sheet"] = {"what": "record", "page": 0, "pages": 3, "text": "1m " * 600}
    me["wants"][0] = {**me["wants"][0], "params": {"kind": "win", "lines": me["lines"]}}
    full = len(to_json(me))
    assert fitted(me, full) == to_json(me)
    for room in range(full - 1, 1_600, -150):
        encoded = fitted(me, room)
        shed = from_json(encoded)
        assert len(encoded) <= room
        assert (shed["tiles"], shed["points"], shed["seat"]) == (me["tiles"], me["points"], me["seat"])
        assert shed["answers"] == me["answers"][-len(shed["answers"]) :]
        assert [(want["id"], want["actions"]) for want in shed["wants"]] == [
            (want["id"], want["actions"]) for want in me["wants"]
        ]
    assert from_json(fitted(me, full - 1)) == {**me, "answers": me["answers"][-8:]}
    assert from_json(fitted(me, 3_000))["sheet"] == {"what": "record", "missing": "no_room"}


def loud() -> Live:
    """Everything beside the state that a view can show, as large as it can become."""
    view = largest_view()
    table = TableFacts("classic-xiamen-144", "zhitui", "none", "read", "guide", 2, 0, rulesets=profiles())
    return Live(
        table,
        link="lost",
        sorting={"set": 2, "tiles": dict.fromkeys(SEATS, 36), "seconds": 59},
        answers=dict.fromkeys(SEATS, view["me"]["answers"]),
        devices=dict.fromkeys(SEATS, "n" * 40),
        pairing=view["me"]["pairing"],
        notices=view["notices"],
        sheets={seat: {"what": "record", "page": 0, "pages": 9, "text": "1m " * 600} for seat in SEATS},
    )


@pytest.mark.parametrize(
    ("rules", "layout", "sensing"),
    [
        ("classic-xiamen-144", "bagua", "none"),
        ("quanzhou-seed", "zhitui", "none"),
        ("classic-xiamen-144", "bagua", "full"),
        ("new-xiamen-120", "zhitui", "full"),
    ],
)
def test_every_view_fits_into_a_message_whatever_is_shown_beside_it(rules: str, layout: str, sensing: str) -> None:
    """Whole matches with every fault, notice, pairing display, answer and sheet at once."""
    walker = Walker(rules, layout, sensing, "unread", hands=3, seed=4, fail_rate=0.2, object_rate=0.5)
    faults = tuple(Fault("elevator_timeout", "fault", "elevator", side) for side in SEATS)
    publisher = Publisher("t" * 32, 2**40, SystemClock(), Silent())
    publisher.seq = 2**40
    live, largest, states = loud(), 0, 0

    def watch(before: State, events: tuple[e.Event, ...], after: State) -> None:
        nonlocal largest, states
        states += 1
        if states % (6 if sensing == "full" else 2):
            return
        encoded = publisher.encode_views(replace(after, faults=faults, unasked=((6, 6),)), live)
        head = publisher.envelope("seat", {}, cause="c" * 40)
        for seat in SEATS:
            largest = max(largest, len(encode_parts(head, encoded.public, encoded.mine[seat])))
        largest = max(largest, len(encode_parts(head, encoded.public)))

    walker.watch = watch
    walk(walker)
    assert 6_000 < largest <= MAX_BYTES


class Silent:
    """Nobody listens."""

    def set_retained(self, topic: str, payload: bytes | None) -> None:
        raise AssertionError(topic)

    def publish(self, topic: str, payload: bytes, qos: int = 1) -> None:
        raise AssertionError(topic)


def test_a_view_lasts_while_only_its_countdown_goes_on() -> None:
    walker = Walker("new-xiamen-120", hands=1, seed=8)
    walker.run(lambda state: _asked(state, "claim"))
    state = walker.state
    timers = {str(want.id): want.after_ms for want in wants(state) if want.kind == "timer"}
    later = replace(LIVE, timers={name: left - 700 for name, left in timers.items()})
    now = replace(LIVE, timers=timers)
    assert public_view(state, now) != public_view(state, later)
    assert lasting(public_view(state, now)) == lasting(public_view(state, later))
    for seat in SEATS:
        assert lasting(own(state, seat, now)) == lasting(own(state, seat, later))
    answered = replace(later, answers={"E": ({"id": "a", "ok": True},)})
    assert lasting(own(state, "E", now)) != lasting(own(state, "E", answered))
