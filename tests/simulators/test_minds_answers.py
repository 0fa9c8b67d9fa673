"""What a person answers when readers see badly, and what hands do where somebody else holds the display."""

from __future__ import annotations

from typing import Any

import pytest

from engine import inputs
from engine.table import wants
from engine.tiles import SEATS
from protocol.mqtt.hands import Unanswered
from protocol.mqtt.views import SeatView, Want
from simulators.mind import Intention, Person, intention
from simulators.sight import Sight, seat_sight
from tests.simulators.tabletop import Tabletop


@pytest.fixture(scope="module")
def table() -> Tabletop:
    """Somebody is to discard, at a table that reads, after a few discards."""
    table = Tabletop("new-xiamen-120", "zhitui", "full", "read", seed=7)
    table.play(lambda table: in_turn(table) and len(table.state.play.game.discards) > 6)
    return table


def in_turn(table: Tabletop) -> bool:
    """A seat has drawn and is to discard."""
    return asked(table, "turn") is not None and asked(table, "lay") is None


def asked(table: Tabletop, verb: str) -> str | None:
    return next((want.seat for want in wants(table.state) if want.kind == "prompt" and want.verb == verb), None)


def faced(table: Tabletop, verb: str, actions: tuple[str, ...], **params: Any) -> tuple[str, SeatView, Sight]:
    """The seat whose turn it is, its view with another prompt in it, and what it sees."""
    seat = asked(table, "turn")
    assert seat is not None
    view = table.view(seat)
    want = Want(id="1.x-0.1", verb=verb, params=params, actions=actions, left_ms=None)
    return seat, view.model_copy(update={"me": view.me.model_copy(update={"wants": (want,)})}), table_sight(table, seat)


def table_sight(table: Tabletop, seat: str) -> Sight:
    return seat_sight(table.world, seat)


def done(seat: str, view: SeatView, sight: Sight, **person: Any) -> Intention:
    found = intention(Person(seat, 7, **person), view, sight)
    assert found is not None
    return found


def test_eyes_decide_between_the_reader_and_the_table(table: Tabletop) -> None:
    seat = asked(table, "turn")
    assert seat is not None
    mine = table_sight(table, seat).hand[0]
    other = next(face for face in table.rules.faces() if face not in table_sight(table, seat).hand)
    both = ("believed", "seen")
    right = faced(table, "reader_check", both, zone="hand", seen=[other], believed=[mine])
    assert done(*right).act == "believed"
    wrong = faced(table, "reader_check", both, zone="hand", seen=[mine], believed=[other])
    assert done(*wrong).act == "seen"


def test_a_reader_that_counts_wrongly_is_told_so(table: Tabletop) -> None:
    seat = asked(table, "turn")
    assert seat is not None
    count = len(table_sight(table, seat).hand)
    assert done(*faced(table, "count_wrong", ("ok", "admit"), zone="hand", seen=count - 1, expected=count)).act == "ok"
    assert done(*faced(table, "count_wrong", ("ok", "admit"), zone="hand", seen=count, expected=count - 1)).act == (
        "put_back"
    )
    assert done(*faced(table, "count_wrong", ("ok", "admit"), zone="hand", seen=count, expected=count + 1)).act == (
        "admit"
    )


def test_who_ignores_a_question_leaves_it_open_until_all_are_told(table: Tabletop) -> None:
    seat = asked(table, "turn")
    assert seat is not None
    count = len(table_sight(table, seat).hand)
    seat, view, sight = faced(table, "count_wrong", ("ok", "admit"), zone="hand", seen=count - 1, expected=count)
    ignoring = {"ignore_question": 1.0}
    assert done(seat, view, sight, rates=ignoring).act == "leave"
    assert view.play is not None
    told = view.play.model_copy(update={"unanswered": Unanswered(seat=seat, zone="hand", id="1.count_ruling-0.1")})
    assert done(seat, view.model_copy(update={"play": told}), sight, rates=ignoring).act == "ok"


def test_what_is_right_again_is_left_alone(table: Tabletop) -> None:
    seat = asked(table, "turn")
    assert seat is not None
    count = len(table_sight(table, seat).hand)
    seat, view, sight = faced(table, "count_wrong", ("ok", "admit"), zone="hand", seen=count, expected=count)
    assert intention(Person(seat, 7), view, sight) is None


def test_a_wrong_discard_is_taken_back(table: Tabletop) -> None:
    seat, view, sight = faced(table, "wrong_discard", (), tile="1m", code="follow", rule="R16")
    lying = {**sight.discards, seat: (*sight.discards[seat], sight.hand[-1])}
    after = sight.model_copy(update={"hand": sight.hand[:-1], "discards": lying})
    assert done(seat, view, after).act == "take_back"


def test_nobody_discards_while_eyes_and_display_tell_of_different_moments(table: Tabletop) -> None:
    seat = asked(table, "turn")
    assert seat is not None
    view, sight = table.view(seat), table_sight(table, seat)
    assert done(seat, view, sight).act in ("discard", "hu", "kong_concealed", "kong_added", "tour_discard")
    early = sight.model_copy(update={"hand": sight.hand[:-1]})
    assert intention(Person(seat, 7), view, early) is None


def test_hands_follow_a_display_that_somebody_else_holds() -> None:
    """Whoever holds the display presses the discard; the simulated hands lay the tile there, and nothing else."""
    table = Tabletop("new-xiamen-120", "zhitui", "full", "read", seed=7)
    table.play(lambda table: asked(table, "turn") is not None)
    seat = asked(table, "turn")
    assert seat is not None
    assert intention(Person(seat, 7, hands_only=True), table.view(seat), table_sight(table, seat)) is None
    want = next(want for want in wants(table.state) if want.kind == "prompt" and want.verb == "turn")
    tile = want.params["discards"][0]
    table.feed(inputs.SeatAction(seat, str(want.id), "discard", {"tile": tile}))
    follows = done(seat, table.view(seat), table_sight(table, seat), hands_only=True)
    assert (follows.act, follows.arguments, follows.want) == ("discard", {"tile": tile}, "")


def test_hands_draw_what_a_display_has_told_as_drawn() -> None:
    """Whoever holds the display says that he has drawn, and discards, before the simulated hand has been there: it
    draws that very tile, then lays the other; no reader contradicts, and the table has never to ask.
    """
    for hurried in (False, True):
        table = Tabletop("new-xiamen-120", "zhitui", "full", "read", seed=7)
        table.play(lambda table: (table.game is not None and asked(table, "draw") is not None))
        seat = asked(table, "draw")
        assert seat is not None
        person = {"hands_only": True}
        draw = next(want for want in wants(table.state) if want.verb == "draw" and want.kind == "prompt")
        assert done(seat, table.view(seat), table_sight(table, seat), **person).arguments == {
            "positions": [draw.params["position"]]
        }
        table.feed(inputs.SeatAction(seat, str(draw.id), "by_hand"))
        turn = next(want for want in wants(table.state) if want.kind == "prompt" and want.verb == "turn")
        tile = turn.params["discards"][0]
        if hurried:
            table.feed(inputs.SeatAction(seat, str(turn.id), "discard", {"tile": tile}))
        follows = done(seat, table.view(seat), table_sight(table, seat), **person)
        assert (follows.act, follows.arguments) == ("take", {"positions": [draw.params["position"]]})
        table.do(seat, follows)
        if not hurried:
            assert intention(Person(seat, 7, hands_only=True), table.view(seat), table_sight(table, seat)) is None
            table.feed(inputs.SeatAction(seat, str(turn.id), "discard", {"tile": tile}))
        table.do(seat, done(seat, table.view(seat), table_sight(table, seat), **person))
        assert table.world.zone_faces(seat, "discards")[-1] == tile
        assert not {want.verb for want in wants(table.state)} & {"count_seen", "count_wrong", "reader_check"}


def test_a_discard_claimed_before_it_was_laid_is_laid_for_who_claimed_it() -> None:
    """The page has pressed the discard, and another's claim closed the window, while the simulated hand was on its way:
    the tile is laid all the same, and claimed where it lies.
    """
    table = Tabletop("new-xiamen-120", "zhitui", "full", "read", seed=7)
    table.play(lambda table: claimable(table) is not None)
    found = claimable(table)
    assert found is not None
    seat, tile, claimer = found
    turn = next(want for want in wants(table.state) if want.kind == "prompt" and want.verb == "turn")
    before = table.world.zone_faces(seat, "discards")
    table.feed(inputs.SeatAction(seat, str(turn.id), "discard", {"tile": tile}))
    for other in [other for other in SEATS if other != seat]:
        claim = next(want for want in wants(table.state) if want.verb == "claim" and want.seat == other)
        table.feed(inputs.SeatAction(other, str(claim.id), "pong" if other == claimer else "pass"))
    assert asked(table, "lay") == claimer and table.world.zone_faces(seat, "discards") == before
    assert intention(Person(claimer, 7), table.view(claimer), table_sight(table, claimer)) is None, "nothing lies there"
    follows = done(seat, table.view(seat), table_sight(table, seat), hands_only=True)
    assert (follows.act, follows.arguments, follows.want) == ("discard", {"tile": tile}, "")
    table.do(seat, follows)
    assert intention(Person(seat, 7, hands_only=True), table.view(seat), table_sight(table, seat)) is None, "once"
    meld = done(claimer, table.view(claimer), table_sight(table, claimer))
    assert (meld.act, meld.arguments["from"], meld.arguments["tile"]) == ("meld", seat, tile)
    table.do(claimer, meld)
    assert asked(table, "lay") is None and asked(table, "turn") == claimer
    assert table.world.zone_faces(seat, "discards") == before


def claimable(table: Tabletop) -> tuple[str, str, str] | None:
    """Who is to discard, a tile it may discard, and a seat that could 碰 it; None while there is no such."""
    turn = next((want for want in wants(table.state) if want.kind == "prompt" and want.verb == "turn"), None)
    if turn is None or not in_turn(table) or table.state.play.game is None:
        return None
    for other in [other for other in SEATS if other != turn.seat]:
        held = table.state.play.game.seats[other].hand
        for tile in turn.params["discards"]:
            if held.count(tile) >= 2 and tile != table.state.play.game.deal.gold:
                return turn.seat, tile, other
    return None


def test_only_the_own_view_decides() -> None:
    """Four persons with the same seed and four seats: nobody answers what another is asked."""
    table = Tabletop("new-xiamen-120", "zhitui", "full", "read", seed=7)
    table.play(lambda table: asked(table, "turn") is not None)
    turn = asked(table, "turn")
    for seat in SEATS:
        found = intention(Person(seat, 7), table.view(seat), table_sight(table, seat))
        assert (found is not None) == (seat == turn)


def test_a_die_that_leans_is_said_to_lean_where_the_board_reads_none(table: Tabletop) -> None:
    seat, view, sight = faced(table, "dice", ("dice", "cocked"))
    leaning = sight.dice.model_copy(update={"values": None, "cocked": True})
    found = done(seat, view, sight.model_copy(update={"dice": leaning}))
    assert (found.act, found.want) == ("cocked", "1.x-0.1")
