"""买底 and 顶底, bid before the deal roll and paid with the hand (R36, P7), alike at both sensing levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from engine import events as e
from engine import inputs as i
from engine.export import hand_record
from engine.folding import apply
from engine.record_declared import DeclaredRecord, replay_declared
from engine.record_file import parse_any
from engine.record_replay import replay
from engine.ruleset import load_ruleset, profiles
from engine.tiles import SEATS
from tests.engine.evenings import Evening
from tests.engine.invariants import Invariants
from tests.engine.tables import HANDS, Table, Told, laid_wall
from tests.engine.walker import Walker, refused

SEED = "quanzhou-seed"
BIDS = {"E": 5, "S": 0, "W": 3, "N": 7}
WON = {"1": -33, "2": -21, "3": 75, "4": -21}
"""West wins hard on East's tile: 2 × (10 + 5 + 3) of the dealer, 2 × 10 of each other; 1 each for East's 财神."""


def bidding(sensing: str = "none", **changes: Any) -> Told:
    """A table whose first hand waits for bids; East deals."""
    table = Told(SEED, sensing=sensing, **changes)
    table.run(lambda state: state.phase == "bids")
    return table


def all_bid(table: Table, bids: Mapping[str, int] = BIDS) -> None:
    """All four have spoken."""
    for seat, points in bids.items():
        table.press(seat, "bid", "bid", points=points)


def read_hand(hands: int = 1) -> Table:
    """A table that has read the tiles: all have bid, the hands lie, and East is to discard."""
    table = Table(SEED, laid_wall(load_ruleset(SEED), HANDS, "9s"), hands=hands)
    table.run(lambda state: state.phase == "bids")
    all_bid(table)
    while table.state.play.game is None:
        table.step()
    table.passes(verb="opening")
    return table


def west_wins(table: Table) -> None:
    """East discards, West wins on it."""
    table.discard("E", "9m")
    table.press("W", "claim", "hu", way="pinghu")
    table.passes("S", "N")


@pytest.mark.parametrize("sensing", ["none", "full"])
def test_all_are_asked_before_the_deal_roll_and_the_dice_wait(sensing: str) -> None:
    table = bidding(sensing)
    prompts = table.prompts("bid")
    assert {seat: want.params["kind"] for seat, want in prompts.items()} == {
        "E": "buy",
        "S": "top",
        "W": "top",
        "N": "top",
    }
    assert all(
        (want.params["most"], want.params["points"], want.actions) == (10, None, ("bid",)) for want in prompts.values()
    )
    assert "roll" not in table.asked() and not table.feed(i.KeyPressed("dice"))
    all_bid(table)
    assert table.state.phase == "deal_roll" and table.prompt("roll").seat == "E"
    assert table.state.play.bids == BIDS and not table.prompts("bid")
    said = [event for event in table.events if isinstance(event, e.BidSaid)]
    assert said == [e.BidSaid(seat, points) for seat, points in BIDS.items()]


def test_a_bid_is_no_more_than_the_hands_base_and_its_refusal_says_so() -> None:
    table = bidding()
    for nonsense in (11, -1, True, "5", 2.5, None):
        refusal = table.refusal("E", "bid", "bid", points=nonsense)
        assert (refusal.code, refusal.rule, refusal.params["field"]) == ("bad_value", "R36", "points")
        assert (refusal.params["least"], refusal.params["most"]) == (0, 10)
    assert (table.refusal("E", "bid", "bid").code, table.refusal("E", "bid", "bid", seat="S", points=1).code) == (
        "bad_value", "bad_value",
    )  # fmt: skip
    table.press("E", "bid", "bid", points=10)
    again = table.refusal("E", "bid", "bid", points=10)
    assert (again.code, again.rule) == ("already_answered", "P7")


def test_the_last_word_counts_until_all_have_spoken() -> None:
    table = bidding()
    asked = table.prompt("bid", "E")
    table.press("E", "bid", "bid", points=10)
    table.press("E", "bid", "bid", points=0)
    table.press("S", "bid", "bid", points=4)
    assert table.prompt("bid", "E").params["points"] == 0 and table.state.phase == "bids"
    table.press("W", "bid", "bid", points=0)
    table.press("N", "bid", "bid", points=0)
    assert table.state.phase == "deal_roll" and table.state.play.bids["E"] == 0
    late = refused(table, i.SeatAction("E", str(asked.id), "bid", {"points": 5}))
    assert (late.code, late.rule) == ("late", "P1")


@pytest.mark.parametrize("spoken", [(), ("W",), ("E", "S", "W")])
def test_nobody_waits_longer_for_somebody_who_is_away(spoken: tuple[str, ...]) -> None:
    table = bidding()
    for seat in spoken:
        table.press(seat, "bid", "bid", points=2)
    clock = table.timer("bid_clock")
    assert clock.after_ms == table.state.match.agree_ms and clock.people
    table.elapse("bid_clock")
    assert table.state.phase == "deal_roll" and table.prompt("roll").seat == "E"
    assert table.state.play.bids == dict.fromkeys(spoken, 2), "silence bids nothing"


def test_changing_ones_word_does_not_hold_the_table() -> None:
    table = bidding()
    clock = table.timer("bid_clock")
    for points in range(1, 9):
        table.press("E", "bid", "bid", points=points)
    assert table.timer("bid_clock") == clock


@pytest.mark.parametrize("rules", [name for name in profiles() if name != SEED])
def test_rules_without_bids_ask_for_none(rules: str) -> None:
    walker = Walker(rules, sensing="none", hands=1, seed=3)
    walker.run(lambda state: state.phase == "taking")
    assert not [event for event in walker.events if isinstance(event, e.BidsAsked | e.BidSaid)]


def test_a_hand_that_was_read_is_paid_with_what_was_bid() -> None:
    table = read_hand()
    west_wins(table)
    (booking,) = table.state.session.book
    assert booking.points == WON
    reasons = {(reason.code, reason.number) for transfer in booking.transfers for reason in transfer.why}
    assert {("base_buy", 5), ("base_top", 3)} <= reasons and ("base_top", 7) not in reasons, "顶底 is with the dealer"


def test_a_hand_whose_reader_was_put_right_is_agreed_on_with_what_was_bid() -> None:
    table = read_hand()
    table.state = replace(table.state, play=replace(table.state.play, corrected=True))
    west_wins(table)
    assert table.state.book is not None and table.state.book.stage == "agreement"
    assert table.prompt("agree", "W").params["settlement"]["net"]["W"] == WON["3"]
    for seat in SEATS:
        table.press(seat, "agree", "agree")
    assert table.state.session.book[0].points == WON


def test_a_hand_that_is_told_does_not_ask_for_bids_again() -> None:
    table = bidding()
    all_bid(table)
    table.go("play")
    table.tell("W", "win", way="pinghu", seat="W", source="E")
    for seat in SEATS:
        params = table.prompt("entry", seat).params
        assert "bid" not in params["fields"] and params["said"]["bid"] == BIDS[seat]
    table.tell("W", "hardness", hardness="hard")
    table.tell("E", "items", golds=1)
    for seat in SEATS:
        table.tell(seat, "done")
    assert table.prompt("agree", "W").params["settlement"]["net"]["W"] == WON["3"], "as where tiles are read"


def test_what_was_bid_can_be_put_right_until_the_hand_is_booked() -> None:
    table = bidding()
    all_bid(table)
    table.go("play")
    table.tell("W", "win", way="pinghu", seat="W", source="E")
    table.tell("W", "hardness", hardness="hard")
    for seat in SEATS:
        table.tell(seat, "done")
    table.tell("W", "change")
    assert (
        "bid" in table.prompt("entry", "W").params["fields"]
        and "bid" not in table.prompt("entry", "S").params["fields"]
    )
    table.tell("W", "bid", points=4)
    table.tell("W", "done")
    table.tell("S", "object")
    assert all("bid" in told["fields"] for told in table.prompt("object_entry", "S").params["seats"].values())
    table.tell("S", "withdraw")
    for seat in SEATS:
        table.tell(seat, "agree")
    assert table.points()["1"] == -2 * (10 + 5 + 4)


@pytest.mark.parametrize("phase", ["bids", "deal_roll"])
def test_bids_are_said_anew_once_a_booking_was_taken_back(phase: str) -> None:
    """Who deals, and with which base, may be others then."""
    table = read_hand(hands=3)
    west_wins(table)
    while table.state.phase != "bids":
        table.step()
    asked = table.prompt("bid", "S")
    assert asked.params["kind"] == "buy" and table.state.play.bids == {}
    table.press("S", "bid", "bid", points=1)
    if phase == "deal_roll":
        table.elapse("bid_clock")
    for seat in "EW":
        table.press(seat, "undo", "undo")
    assert not table.prompts("bid") and table.state.book is not None
    assert {seat: said.bid for seat, said in table.state.book.first.seats.items()} == BIDS, "of the hand taken back"
    assert "bid" in table.prompt("entry", "W").params["fields"]
    for seat in SEATS:
        table.press(seat, "entry", "done")
    for seat in SEATS:
        table.press(seat, "agree", "agree")
    assert table.state.session.book[-1].points == WON
    anew = table.prompt("bid", "S")
    assert table.state.phase == "bids" and table.state.play.bids == {} and str(anew.id) != str(asked.id)
    assert refused(table, i.SeatAction("S", str(asked.id), "bid", {"points": 1})).code == "late"


@pytest.mark.parametrize("phase", ["bids", "deal_roll"])
def test_bids_are_said_anew_by_who_has_changed_seats(phase: str) -> None:
    table = bidding(hands=4, options={"seat_swaps": "after_win"})
    table.go("play")
    table.tell("S", "win", way="zimo", seat="S")
    table.tell("S", "hardness", hardness="hard")
    table.agreed()
    table.go("bids")
    assert (table.state.dealer, table.state.play.bids) == ("S", {})
    table.press("E", "bid", "bid", points=3)
    if phase == "deal_roll":
        table.elapse("bid_clock")
    table.press("S", "swap", "swap", right="win")
    table.press("S", "roll", "roll")
    table.feed(i.OperationDone(str(table.operation("dice_roll").id), {"dice": [1, 1], "quality": "clean"}))
    table.press("E", "seats", "ok")
    assert (table.state.phase, table.state.dealer, table.state.play.bids) == ("bids", "W", {})
    assert table.prompt("bid", "W").params["kind"] == "buy" and table.prompt("bid", "S").params["kind"] == "top"


def test_the_base_of_a_later_turn_bounds_the_bid() -> None:
    table = bidding(hands=4)
    table.go("play")
    table.tell("E", "win", way="zimo", seat="E")
    table.tell("E", "hardness", hardness="hard")
    table.agreed()
    table.go("bids")
    assert table.prompt("bid", "E").params["most"] == 20
    table.press("E", "bid", "bid", points=20)
    assert table.refusal("S", "bid", "bid", points=21).params["most"] == 20


@pytest.mark.parametrize("sensing", ["none", "full"])
def test_exported_hands_hold_what_was_bid_and_come_to_the_same_points(sensing: str) -> None:
    evening = Evening(SEED, sensing, seed=5, hands=4)
    book = evening.play().session.book
    assert any("\nbuy: " in text for text in evening.texts) and any("\ntop: " in text for text in evening.texts)
    for text, booking in zip(evening.texts, book, strict=True):
        record = parse_any(text)
        settled = (replay_declared if isinstance(record, DeclaredRecord) else replay)(record).settlement  # type: ignore[arg-type]
        assert settled is not None and settled.net == {seat: booking.points[booking.seats[seat]] for seat in SEATS}


def test_the_record_of_a_hand_that_was_read_says_what_was_bid() -> None:
    found: list[str] = []
    table = read_hand()

    def keep(before: Any, events: tuple[e.Event, ...], after: Any) -> None:
        Invariants()(before, events, after)
        state = before
        for event in events:
            if isinstance(event, e.HandEnded):
                found.append(hand_record(state))
            state = apply(state, event)

    table.watch = keep
    west_wins(table)
    assert "\nbuy: 5\ntop: W 3 N 7\n" in found[0]
