"""Sensing full: wrong counts (R39), readers that see wrongly, and what nobody is told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine import events as e
from engine import inputs as i
from engine.folding import apply
from engine.match.state import Booking
from engine.outcome import HandEnd
from engine.play import events as p
from engine.play import hand_end
from engine.play.state import without
from engine.play_wants import DOUBT_MS, UNSURE_MS
from engine.ruleset import profiles
from engine.scoring import buy_and_top
from engine.settlement import settle_outcome
from engine.state import State
from engine.table import wants
from engine.tiles import SEATS, parse_tiles
from engine.wants import Want
from tests.engine.erring_readers import ErringReaders
from tests.engine.invariants import Invariants
from tests.engine.tables import HANDS, Table, claims_of, in_play
from tests.engine.walker import Walker

# --- wrong counts: 相公 (R39) -----------------------------------------------------------------------------------------


def one_too_many() -> Table:
    """N's reader shows a tile too many while it is E's turn."""
    table = in_play()
    table.show("N", "hand", (*table.lies("N", "hand"), "6s"))
    assert "count_wrong" not in table.asked(), "hands are quicker than readers"
    table.elapse("count_seen")
    return table


def test_a_wrong_count_is_told_to_that_seat_alone() -> None:
    plain, table = in_play(), one_too_many()
    assert set(table.prompts("count_wrong")) == {"N"}
    want = table.prompt("count_wrong")
    assert want.params == {"zone": "hand", "seen": 17, "expected": 16} and want.actions == ("ok", "admit")
    for seat in "ESW":
        assert table.asked(seat) == plain.asked(seat)


def test_a_count_put_right_by_hand_is_forgotten() -> None:
    table = one_too_many()
    table.settle("N", "hand")
    assert "count_wrong" not in table.asked() and not table.state.play.doubted
    assert not table.state.play.corrected


def test_a_reader_that_counts_wrongly_is_told_so() -> None:
    table = one_too_many()
    table.press("N", "count_wrong", "ok")
    assert "count_wrong" not in table.asked() and table.state.play.corrected
    assert table.game.seats["N"].hand == tuple(parse_tiles(HANDS["N"]))
    assert not table.game.seats["N"].covered


def test_who_admits_a_wrong_count_is_out_of_the_hand() -> None:
    """R39: draws and claims nothing, is passed over, and pays the winner."""
    table = one_too_many()
    table.press("N", "count_wrong", "admit")
    assert table.game.seats["N"].covered == "wrong_count" and table.asked("N") == {"end"}
    table.discard("E", "4p")
    assert set(table.prompts("claim")) == {"S", "W"}
    table.passes()
    for seat in "SW":
        assert table.prompt("draw").seat == seat
        table.round()
    assert table.prompt("draw").seat == "E", "N is passed over"
    table.show("N", "hand", "1m")
    assert table.asked("N") == {"end"}, "nobody looks at what it does"


def test_nobody_wins_while_he_is_asked_about_his_count() -> None:
    table = in_play()
    table.discard("E", "2m")
    table.passes()
    table.draw("S")
    table.show("W", "hand", (*table.lies("W", "hand"), "6s"))
    table.elapse("count_seen")
    table.discard("S", "2s")
    refusal = table.refusal("W", "claim", "hu", way="pinghu")
    assert (refusal.code, refusal.rule) == ("count", "R39")
    table.press("W", "count_wrong", "ok")
    table.press("W", "claim", "hu", way="pinghu")


def test_who_discards_without_drawing_may_put_it_right_or_admit() -> None:
    for admits in (True, False):
        table = in_play(draws="6s")
        table.discard("E", "4p")
        table.passes()
        hand = table.lies("S", "hand")
        table.show("S", "discards", "8s")
        table.show("S", "hand", without(hand, "8s"))
        assert table.game.phase == "draw", "nothing is drawn for it"
        (of_hand,) = [want for want in timers(table, "count_seen") if want.params["zone"] == "hand"]
        table.feed(i.TimerElapsed(str(of_hand.id)))
        assert table.prompt("count_wrong").params == {"zone": "hand", "seen": 15, "expected": 16}
        if admits:
            table.press("S", "count_wrong", "admit")
            assert table.prompt("draw").seat == "W" and table.game.seats["S"].draws == 0
            assert table.draw("W") == "6s", "the tile that S did not draw stands there still"
        else:
            table.show("S", "hand", hand)
            table.show("S", "discards", ())
            assert not table.asked("S") & {"count_wrong", "reader_check"}
            assert table.draw("S") == "6s"


def timers(table: Table, verb: str) -> list[Want]:
    return [want for want in wants(table.state) if want.kind == "timer" and want.verb == verb]


def test_who_takes_two_tiles_and_admits_has_drawn_his_own() -> None:
    table = in_play(draws="6s7s")
    table.discard("E", "4p")
    table.passes()
    table.show("S", "hand", (*table.lies("S", "hand"), "6s", "7s"))
    table.elapse("count_seen")
    assert table.prompt("count_wrong").params == {"zone": "hand", "seen": 18, "expected": 17}
    table.press("S", "count_wrong", "admit")
    assert table.game.seats["S"].draws == 1
    assert table.prompt("draw").seat == "W" and table.draw("W") == "7s"


# --- readers that see wrongly -----------------------------------------------------------------------------------------

READINGS = [
    # what the discards show, what the hand loses and shows instead, what is asked of which zone, what is answered
    ("a wrong face among the discards", "6s", "", [("discards", "reader_check", "believed")]),
    ("a wrong face that is in the hand too", "4m", "", [("discards", "reader_check", "believed")]),
    ("a discard not read at all", "", "", [("discards", "reader_check", "believed")]),
    ("an older tile doubled beside it", "4p4p", "", [("discards", "count_wrong", "ok")]),
    ("a wrong face in the hand", "4p", "5p", [("hand", "reader_check", "believed")]),
    ("a tile of the hand missing", "4p", "-", [("hand", "count_wrong", "ok")]),
    ("a tile of the hand doubled", "4p", "+", [("discards", "reader_check", "seen")]),
]


@pytest.mark.parametrize(("what", "discards", "hand", "asked"), READINGS, ids=[row[0] for row in READINGS])
def test_a_reader_that_sees_wrongly_never_corrupts_a_discard(
    what: str, discards: str, hand: str, asked: list[tuple[str, str, str]]
) -> None:
    """E discards 4p; one of its readers shows something else; the seat's word makes it that very discard."""
    table = in_play()
    shown = list(without(table.lies("E", "hand"), "4p"))
    if hand == "-":
        shown.remove("2m")
    elif hand == "+":
        shown.append("4p")
    elif hand:
        shown[shown.index("2m")] = hand
    table.show("E", "discards", discards)
    table.show("E", "hand", shown)
    assert table.game.phase == "turn", "nothing is believed that does not go together"
    for zone, verb, answer in asked:
        table.elapse("count_seen")
        want = table.prompt(verb)
        assert (want.seat, want.params["zone"]) == ("E", zone)
        table.press("E", verb, answer)
    assert table.game.phase == "window" and table.game.tile == "4p", what
    assert sorted(table.game.seats["E"].hand) == sorted(without(tuple(parse_tiles(HANDS["E"])), "4p"))
    assert table.state.play.corrected


def test_a_tile_that_was_never_discarded_is_none_though_a_reader_shows_it() -> None:
    table = in_play()
    table.show("E", "discards", "4p")
    table.elapse("count_seen")
    want = table.prompt("reader_check")
    assert want.params == {
        "zone": "discards", "seen": ["4p"], "believed": [], "counts": {"seen": 1, "believed": 0}, "drawn": False
    }  # fmt: skip
    table.press("E", "reader_check", "believed")
    assert table.game.phase == "turn" and table.prompt("turn").seat == "E"
    table.discard("E", "2m")
    assert table.game.tile == "2m"


def test_a_tile_held_in_the_air_is_not_asked_about_at_once() -> None:
    table = in_play()
    table.show("E", "hand", without(table.lies("E", "hand"), "4p"))
    assert table.timer("count_seen").after_ms > 5000
    table.show("E", "discards", "4p")
    assert table.game.phase == "window"


def test_tiles_that_cannot_be_read_stand_for_what_must_be_there() -> None:
    table = in_play(draws="6s")
    hand = without(table.lies("E", "hand"), "4p")
    table.show("E", "discards", ("??",))
    assert table.game.phase == "turn"
    table.show("E", "hand", hand)
    assert table.game.tile == "4p"
    table.passes()
    table.show("S", "hand", (*table.lies("S", "hand"), "??"))
    assert table.prompt("turn").params["drawn"] == "6s", "what was drawn is what stood there"
    assert not table.state.play.corrected


def test_a_drawn_tile_that_the_reader_shows_otherwise_is_asked_without_naming_the_wall() -> None:
    for answer, drawn in (("believed", "6s"), ("seen", "7s")):
        table = in_play(draws="6s")
        table.discard("E", "4p")
        table.passes()
        table.show("S", "hand", (*table.lies("S", "hand"), "7s"))
        assert table.game.phase == "draw"
        table.elapse("count_seen")
        want = table.prompt("reader_check")
        assert want.seat == "S" and want.actions == ("believed", "seen")
        assert want.params["seen"] == ["7s"] and want.params["believed"] == [] and want.params["drawn"]
        table.press("S", "reader_check", answer)
        assert table.prompt("turn").params["drawn"] == drawn
        assert table.state.play.corrected


def test_a_tile_that_stands_nowhere_was_not_drawn() -> None:
    table = in_play(draws="6s")
    table.discard("E", "4p")
    table.passes()
    table.show("S", "hand", (*table.lies("S", "hand"), "1m"))
    table.elapse("count_seen")
    refusal = table.refusal("S", "reader_check", "seen")
    assert (refusal.code, refusal.params["tile"]) == ("no_such_tile", "1m")


def test_a_hand_that_lacks_another_tile_has_drawn_none_the_less() -> None:
    table = in_play(draws="6s")
    table.discard("E", "4p")
    table.passes()
    table.show("S", "hand", (*without(table.lies("S", "hand"), "2m"), "6s"))
    table.elapse("count_seen")
    assert table.prompt("count_wrong").params == {"zone": "hand", "seen": 16, "expected": 17}
    table.press("S", "count_wrong", "ok")
    assert table.prompt("turn").params["drawn"] == "6s"


def test_a_question_keeps_its_name_while_others_move() -> None:
    """A press must not be late because another seat's reader told something meanwhile."""
    table = one_too_many()
    asked = table.prompt("count_wrong")
    table.discard("E", "4p")
    table.passes("S", "W")
    table.feed(i.SeatAction("N", str(asked.id), "ok"))
    assert "count_wrong" not in table.asked()


def test_corrections_are_agreed_on_before_the_hand_is_booked() -> None:
    table = one_too_many()
    table.press("N", "count_wrong", "ok")
    claims_of(table, "4p")
    table.passes()
    table.draw("S")
    table.discard("S", "2s")
    table.press("W", "claim", "hu", way="pinghu")
    table.passes("E", "N")
    assert table.state.phase == "settle" and table.state.result is None
    agree = table.prompt("agree", "S")
    assert agree.params["settlement"]["net"] == {"E": 0, "S": -3, "W": 6, "N": -3}
    table.elapse("agree_clock")
    assert table.state.result is not None and table.state.result.booking is not None
    assert table.state.result.booking.points == {"1": 0, "2": -3, "3": 6, "4": -3}


def test_a_blind_reader_loses_no_hand() -> None:
    """S's hand is read by nobody: its word makes every draw, what it discards is seen where it lies."""
    table = in_play()
    blind = "S"
    for _ in range(24):
        seat = table.game.turn
        if table.game.phase == "draw":
            if seat != blind:
                table.draw(seat)
            while table.game.phase == "draw" and seat == blind:
                verb = "replace" if "replace" in table.asked(blind) else "draw"
                table.press(blind, verb, "by_hand")
        tile = table.prompt("turn").params["discards"][-1]
        if seat == blind:
            table.show(seat, "discards", (*table.lies(seat, "discards"), tile))
            table.elapse("count_seen")
            table.press(seat, "reader_check", "seen")
        else:
            table.discard(seat, tile)
        assert (table.game.phase, table.game.tile) == ("window", tile)
        table.passes()
    assert not table.asked() & {"count_wrong", "reader_check"}


def test_a_reader_of_melds_that_is_blind() -> None:
    table = in_play()
    claims_of(table, "5m")
    table.press("W", "claim", "pong")
    table.passes("S", "N")
    table.settle("E", "discards")
    table.press("W", "lay", "by_hand")
    assert table.prompt("turn").seat == "W" and "lay" not in table.asked()
    table.discard("W", "9m")
    assert table.game.phase == "window"


@pytest.mark.parametrize(("seed", "rate"), [(1, 0.05), (3, 0.25)])
@pytest.mark.parametrize("rules", profiles())
def test_whole_hands_at_readers_that_err(rules: str, seed: int, rate: float) -> None:
    """Missing, doubled, wrong and unread tiles in any zone: people answer by their eyes, and no hand is ever another
    than it is; nobody is put out of it, and what is booked is what was played.
    """
    table, invariants = Walker(rules, hands=1, seed=seed), Invariants()
    hands = ErringReaders(table, rate)
    ends: list[HandEnd] = []

    def watch(before: State, events: tuple[e.Event, ...], after: State) -> None:
        invariants(before, events, after)
        state = before
        for event in events:
            state = apply(state, event)
            if isinstance(event, e.Played) and isinstance(event.event, p.PlayEnded):
                game = state.play.game
                assert game is not None and not any(own.covered for own in game.seats.values())
                assert hands.untrue(game) == []
                ends.append(hand_end(game, state.session.steps, *buy_and_top(state.dealer, state.play.bids)))

    table.hands_at, table.watch = hands, watch
    table.run(lambda state: state.phase == "settle" or state.result is not None)
    assert hands.erred
    for want in wants(table.state):
        if want.verb == "agree_clock":
            table.feed(i.TimerElapsed(str(want.id)))
    session, (end,) = table.state.session, ends
    (booking,) = session.book
    chips = dict.fromkeys(SEATS, session.rules.chips)
    assert by_seat(booking) == settle_outcome(session.rules, end, chips).net


def by_seat(booking: Booking) -> dict[str, int]:
    """What was booked of each seat."""
    return {seat: booking.points[player] for seat, player in booking.seats.items()}


# --- readers that are not sure ----------------------------------------------------------------------------------------


def unsure(table: Table, seat: str, zone: str, tiles: Sequence[str], confidence: int = 59) -> None:
    """A reader shows a zone and is not sure of it."""
    table.feed(i.ZoneSeen(seat, zone, tuple(tiles), confidence))


def swapped(tiles: tuple[str, ...], face: str, other: str) -> tuple[str, ...]:
    """Tiles of which one is read as another."""
    at = tiles.index(face)
    return (*tiles[:at], other, *tiles[at + 1 :])


def test_an_unsure_reader_is_given_more_time_and_then_its_seat_is_asked() -> None:
    waits = []
    for confidence in (100, 60, 59, 0):
        table = in_play()
        unsure(table, "N", "hand", swapped(table.lies("N", "hand"), "9p", "8p"), confidence)
        waits.append(table.timer("count_seen").after_ms)
        table.elapse("count_seen")
        want = table.prompt("reader_check")
        assert want.seat == "N" and "admit" not in want.actions
    assert waits == [DOUBT_MS, DOUBT_MS, UNSURE_MS, UNSURE_MS] and UNSURE_MS > DOUBT_MS


def test_a_reader_that_becomes_sure_of_the_same_is_waited_for_no_longer() -> None:
    table = in_play()
    wrong = swapped(table.lies("N", "hand"), "9p", "8p")
    unsure(table, "N", "hand", wrong)
    first = table.timer("count_seen")
    unsure(table, "N", "hand", wrong, 40)
    assert table.timer("count_seen") == first, "as unsure as before: its time goes on"
    unsure(table, "N", "hand", wrong, 80)
    assert table.timer("count_seen").after_ms == DOUBT_MS and table.timer("count_seen").id != first.id
    table.settle("N", "hand")
    assert not timers(table, "count_seen")


@pytest.mark.parametrize("first", ["hand", "discards"])
@pytest.mark.parametrize("zone", ["hand", "discards"])
def test_a_wrong_face_of_an_unsure_reader_holds_no_discard_up(zone: str, first: str) -> None:
    """E discards 4p; one reader is unsure and has one face wrong, the other is sure: 4p it is, and E alone is asked
    about the face if it stays.
    """
    table = in_play()
    told = {"hand": without(table.lies("E", "hand"), "4p"), "discards": ("4p",)}
    told[zone] = swapped(told[zone], "2m" if zone == "hand" else "4p", "5p")
    for name in sorted(told, key=lambda name: name != first):
        unsure(table, "E", name, told[name], 30 if name == zone else 100)
    assert (table.game.phase, table.game.tile) == ("window", "4p")
    assert sorted(table.game.seats["E"].hand) == sorted(without(tuple(parse_tiles(HANDS["E"])), "4p"))
    table.elapse("count_seen")
    want = table.prompt("reader_check")
    assert (want.seat, want.params["zone"], want.actions) == ("E", zone, ("believed",))
    table.settle("E", zone)
    assert not table.asked() & {"reader_check", "count_wrong"} and not table.state.play.corrected


@pytest.mark.parametrize(
    ("hand", "discards", "confidence"),
    [
        ("a face wrong", "a face wrong", (30, 30)),
        ("two faces wrong", "right", (30, 100)),
        ("a tile missing", "right", (30, 100)),
        ("a face wrong", "right", (100, 30)),
    ],
)
def test_more_than_one_wrong_face_of_one_unsure_reader_is_not_forgiven(
    hand: str, discards: str, confidence: tuple[int, int]
) -> None:
    table = in_play()
    shown = without(table.lies("E", "hand"), "4p")
    if hand != "right":
        shown = swapped(shown, "2m", "5p") if "face" in hand else without(shown, "2m")
    if hand == "two faces wrong":
        shown = swapped(shown, "4m", "6p")
    unsure(table, "E", "hand", shown, confidence[0])
    unsure(table, "E", "discards", ("4p",) if discards == "right" else ("3p",), confidence[1])
    assert table.game.phase == "turn"


def test_a_draw_read_unsurely_makes_no_wrong_count_of_the_discard_behind_it() -> None:
    """S draws 6s, which is read as 7s; before anybody is asked it discards, and its hand is read anew."""
    table = in_play(draws="6s")
    table.discard("E", "4p")
    table.passes()
    hand = table.lies("S", "hand")
    unsure(table, "S", "hand", (*hand, "7s"), 35)
    assert table.game.phase == "draw" and table.timer("count_seen").after_ms == UNSURE_MS
    table.show("S", "discards", "8s")
    table.show("S", "hand", (*without(hand, "8s"), "6s"))
    assert (table.game.phase, table.game.source, table.game.tile) == ("window", "S", "8s")
    assert table.game.seats["S"].draws == 1 and not table.state.play.corrected
    assert not timers(table, "count_seen") and not table.asked() & {"count_wrong", "reader_check"}


def test_a_tile_doubled_among_the_discards_is_no_draw_and_no_discard() -> None:
    """S's reader doubles its last discard, which happens to be the face that stands next in the wall."""
    table = in_play(draws="6s4s7s1s6s")
    for _ in range(5):
        table.round(lambda at, _: at.game.drawn or "4p")
    assert table.lies("S", "discards") == ("6s",) and table.prompt("draw").seat == "S"
    table.show("S", "discards", "6s6s")
    assert table.game.phase == "draw" and table.game.seats["S"].draws == 1
    table.elapse("count_seen")
    assert table.prompt("count_wrong").params == {"zone": "discards", "seen": 2, "expected": 1}


def test_readings_recorded_before_they_told_their_confidence_are_sure() -> None:
    event = e.HandSeen("E", "hand", ("1m",), 35)
    body = e.encode_event(event)
    assert body["confidence"] == 35 and e.decode_event(body) == event
    del body["confidence"]
    assert e.decode_event(body) == e.HandSeen("E", "hand", ("1m",), 100)
    del body["tiles"]
    with pytest.raises(e.EventError, match="tiles"):
        e.decode_event(body)


# --- secrecy ----------------------------------------------------------------------------------------------------------


def test_nothing_tells_what_stands_in_the_wall() -> None:
    """Two tables whose walls differ only behind the third draw say the very same until it is drawn (R13)."""
    told: list[tuple[object, ...]] = []
    for draws in ("6s7s8s6m", "6s7s8s4s"):
        table = in_play(draws=draws)
        begun = len(table.events)
        table.round(lambda _, __: "4p")
        for _ in "SWN":
            table.round()
        assert table.prompt("draw").seat == "E"
        table.show("E", "hand", (*table.lies("E", "hand"), "8s"))
        told.append((table.events[begun:], wants(table.state)))
        table.elapse("count_seen")
        told[-1] += (wants(table.state),)
        table.draw("E")
    assert told[0] == told[1]
