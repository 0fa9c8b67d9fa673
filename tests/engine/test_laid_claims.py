"""Sensing full: melds that hands lay without a word on the display are claims like those pressed (R13, R15, R23)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations

import pytest

from engine import events as e
from engine.play import events as p
from engine.play.state import without
from engine.table import wants
from engine.tiles import parse_tiles, sort_tiles
from engine.wants import Want
from tests.engine.tables import HANDS, Table, claims_of, in_play, played
from tests.engine.test_refereeing import CLASSIC

ASKED_ABOUT = {"count_wrong", "reader_check", "wrong_discard"}


class Laying:
    """A meld with E's last discard as a seat lays it: three zones change, in any order."""

    def __init__(self, table: Table, seat: str, own: str) -> None:
        source, tile, mine = table.game.source, table.game.tile, parse_tiles(own)
        meld = tuple(sort_tiles((*mine, tile)))
        self.table, self.seat, self.source = table, seat, source
        self.before = {(at, zone): table.lies(at, zone) for at, zone in self._zones()}
        self.after = {
            (seat, "melds"): (*table.lies(seat, "melds"), *meld),
            (source, "discards"): without(table.lies(source, "discards"), tile),
            (seat, "hand"): without(table.lies(seat, "hand"), *mine),
        }

    def _zones(self) -> tuple[tuple[str, str], ...]:
        return ((self.seat, "melds"), (self.source, "discards"), (self.seat, "hand"))

    def down(self, zones: Iterable[tuple[str, str]] = ()) -> None:
        """The readers show it, these zones alone where they are named."""
        for at in zones or self.after:
            self.table.show(*at, self.after[at])

    def up(self) -> None:
        """It is taken up again."""
        for at in reversed(self._zones()):
            self.table.show(*at, self.before[at])


def lay(table: Table, seat: str, own: str) -> Laying:
    found = Laying(table, seat, own)
    found.down()
    return found


def waits(table: Table) -> bool:
    """Whether a laid meld is looked at for a moment before it counts."""
    return any(want.verb == "laid" for want in wants(table.state))


def answers(table: Table) -> list[tuple[str, str]]:
    """What has been answered since the last discard."""
    happened = [event.event for event in table.events if isinstance(event, e.Played)]
    last = max(at for at, event in enumerate(happened) if isinstance(event, p.TileDiscarded))
    return [(event.seat, event.name) for event in happened[last:] if isinstance(event, p.ClaimAnswered)]


def others(table: Table, seat: str) -> list[Want]:
    """All that anybody but a seat is asked, and the clocks that everybody sees."""
    return [want for want in wants(table.state) if want.seat not in ("", seat) or want.verb == "claim_window"]


# --- claims -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", list(permutations((("W", "melds"), ("E", "discards"), ("W", "hand")))))
def test_a_pong_laid_without_a_word_is_claimed_whichever_reader_is_first(order: tuple[tuple[str, str], ...]) -> None:
    table = in_play()
    claims_of(table, "5m")
    meld = Laying(table, "W", "5m5m")
    for number, at in enumerate(order, 1):
        assert not waits(table)
        meld.down([at])
        assert number == len(order) or not waits(table), "one reader after the other"
    table.elapse("laid")
    assert answers(table) == [("W", "pong")]
    assert table.game.phase == "window" and "claim" not in table.asked("W") and {"claim"} <= table.asked("S")
    table.passes()
    assert [(one.kind, one.tiles) for one in table.game.seats["W"].melds] == [("pong", ("5m",) * 3)]
    assert table.prompt("turn").seat == "W" and "lay" not in table.asked(), "it lies there"
    assert not table.asked() & ASKED_ABOUT and not table.state.play.corrected
    table.discard("W", "9m")
    assert table.game.phase == "window" and table.game.source == "W"


def pressed_pong(table: Table) -> None:
    table.press("W", "claim", "pong")


def laid_pong(table: Table) -> None:
    lay(table, "W", "5m5m")
    table.elapse("laid")


def test_the_others_are_told_the_same_whether_a_claim_is_pressed_or_laid() -> None:
    """R13: until the window closes, and by what it closes, nothing differs but to who has claimed."""
    told = []
    for claim in (pressed_pong, laid_pong):
        table = in_play()
        claims_of(table, "5m")
        begun = len(played(table, p.TileDiscarded))
        claim(table)
        steps = [others(table, "W")]
        for seat in ("N", "S"):
            assert table.game.phase == "window", "it waits for all three"
            table.press(seat, "claim", "pass")
            steps.append(others(table, "W"))
        events = [event for event in table.events if isinstance(event, e.SeatPlayed | e.Played)]
        told.append((begun, steps, events, table.game))
    assert told[0] == told[1]


def test_while_it_is_looked_at_nobody_is_told_anything() -> None:
    table = in_play()
    claims_of(table, "5m")
    before = others(table, "W")
    mine = table.prompt("claim", "W")
    for at in (meld := Laying(table, "W", "5m5m")).after:
        meld.down([at])
        assert others(table, "W") == before
    assert table.prompt("claim", "W") == mine, "it may be pressed all the same"
    table.press("W", "claim", "pong")
    assert not waits(table) and others(table, "W") == before
    table.passes()
    assert table.prompt("turn").seat == "W" and "lay" not in table.asked()


def test_a_window_that_a_laid_claim_ends_is_open_until_it_counts() -> None:
    table = in_play()
    claims_of(table, "5m")
    table.passes("S", "N")
    lay(table, "W", "5m5m")
    assert table.game.phase == "window"
    table.elapse("laid")
    assert table.game.phase == "turn" and table.game.turn == "W"


def test_what_lies_there_when_the_time_is_over_is_claimed() -> None:
    table = in_play()
    claims_of(table, "5m")
    lay(table, "S", "4m6m")
    table.elapse("claim_window")
    assert answers(table) == [("S", "chi")] and table.game.turn == "S" and table.game.entry == "claim"
    assert not [want for want in wants(table.state) if want.kind == "timer"]


def test_a_kong_laid_without_a_word_draws_at_the_tail() -> None:
    table = in_play(tail="6s")
    claims_of(table, "5m")
    lay(table, "W", "5m5m5m")
    table.elapse("laid")
    table.passes()
    assert answers(table)[0] == ("W", "kong_open")
    assert table.prompt("draw").params["end"] == "tail"
    assert table.draw("W") == "6s"


def test_who_lays_and_discards_at_once_has_done_both() -> None:
    """W does not wait for the display: the meld, and 9m behind it, lie there before the window is over."""
    table = in_play()
    claims_of(table, "5m")
    meld = lay(table, "W", "5m5m")
    table.show("W", "discards", "9m")
    table.show("W", "hand", without(meld.after[("W", "hand")], "9m"))
    table.elapse("laid")
    assert table.game.phase == "window" and table.game.source == "E"
    table.passes()
    assert (table.game.phase, table.game.source, table.game.tile) == ("window", "W", "9m")
    assert not table.asked() & ASKED_ABOUT


def test_a_meld_taken_up_again_in_time_is_no_claim() -> None:
    table = in_play()
    claims_of(table, "5m")
    meld = lay(table, "W", "5m5m")
    first = table.timer("laid")
    meld.up()
    assert not waits(table)
    meld.down()
    assert table.timer("laid").id != first.id, "its time begins anew"
    meld.up()
    table.passes()
    assert table.prompt("draw").seat == "S" and not table.asked() & ASKED_ABOUT
    assert all(name == "pass" for _, name in answers(table))


# --- precedence -------------------------------------------------------------------------------------------------------


def test_a_run_laid_loses_to_a_pong_pressed_and_its_seat_alone_is_asked_for_the_tiles() -> None:
    table = in_play()
    claims_of(table, "5m")
    meld = lay(table, "S", "4m6m")
    table.elapse("laid")
    table.press("N", "claim", "pass")
    table.press("W", "claim", "pong")
    assert table.game.turn == "W" and not table.game.seats["S"].melds
    assert table.prompt("lay").seat == "W" and not table.asked() & ASKED_ABOUT
    table.elapse("count_seen")
    asked = table.prompt("count_wrong")
    assert (asked.seat, asked.params) == ("S", {"zone": "melds", "seen": 3, "expected": 0})
    meld.up()
    assert not table.asked() & ASKED_ABOUT
    table.lay("W")
    assert table.prompt("turn").seat == "W" and table.asked("W") >= {"turn"} and "lay" not in table.asked()
    assert not table.state.play.corrected and not table.state.play.doubted


@pytest.mark.parametrize("first", ["N", "S"])
def test_a_win_goes_before_a_pong_that_lies_there(first: str) -> None:
    table = in_play({**HANDS, "E": "159m159p159s468m2468p8s", "N": "111p333p555p777p99p88s"})
    claims_of(table, "8s")
    for seat in sorted("NS", key=lambda seat: seat != first):
        if seat == "N":
            lay(table, "N", "8s8s")
            table.elapse("laid")
        else:
            table.press("S", "claim", "hu", way="pinghu")
    assert table.state.result is None, "W has not answered"
    table.press("W", "claim", "pass")
    assert table.state.result is not None and (table.state.result.winner, table.state.result.way) == ("S", "pinghu")


def test_a_win_pressed_at_the_last_moment_goes_before_what_lies_there_then() -> None:
    table = in_play({**HANDS, "E": "159m159p159s468m2468p8s", "N": "111p333p555p777p99p88s"})
    claims_of(table, "8s")
    table.press("S", "claim", "hu", way="pinghu")
    table.press("W", "claim", "pass")
    lay(table, "N", "8s8s")
    table.elapse("claim_window")
    assert table.state.result is not None and table.state.result.winner == "S"


# --- what is no claim -------------------------------------------------------------------------------------------------


MISREAD = [
    ("the melds alone", "555m", None, None),
    ("the discards alone", None, "", None),
    ("the hand alone", None, None, "111m333m5m777m99m22s"),
    ("melds and hand, but the discard lies there still", "555m", None, "111m333m5m777m99m22s"),
    ("discards and hand, but no meld", None, "", "111m333m5m777m99m22s"),
    ("a wrong face in the meld", "556m", "", "111m333m5m777m99m22s"),
    ("a tile of the meld missing", "55m", "", "111m333m5m777m99m22s"),
    ("a tile of the meld doubled", "5555m5m", "", "111m333m5m777m99m22s"),
    ("a tile of the meld not read", ("5m", "5m", "??"), "", "111m333m5m777m99m22s"),
    ("the hand is whole", "555m", "", "111m333m555m777m99m22s"),
    ("a meld without the discard", "333m", "", "111m555m777m99m22s"),
]


@pytest.mark.parametrize(("what", "melds", "discards", "hand"), MISREAD, ids=[row[0] for row in MISREAD])
def test_readers_that_do_not_agree_make_no_claim(
    what: str, melds: str | tuple[str, ...] | None, discards: str | None, hand: str | None
) -> None:
    table = in_play()
    claims_of(table, "5m")
    for at, zone, tiles in (("W", "melds", melds), ("E", "discards", discards), ("W", "hand", hand)):
        if tiles is not None:
            table.show(at, zone, tiles)
    assert not waits(table), what
    table.passes("S", "N")
    table.elapse("claim_window")
    assert answers(table) == [("S", "pass"), ("N", "pass")] and table.game.phase == "draw"
    assert not table.game.seats["W"].melds


def test_one_tile_of_the_hand_may_be_read_wrongly() -> None:
    for hand in ("111m333m5m777m99m2s", "111m333m5m777m99m22s2s", "111m333m5m777m99m23s"):
        table = in_play()
        claims_of(table, "5m")
        Laying(table, "W", "5m5m").down([("W", "melds"), ("E", "discards")])
        table.show("W", "hand", hand)
        assert waits(table)


def test_who_has_passed_has_passed() -> None:
    table = in_play()
    claims_of(table, "5m")
    table.press("W", "claim", "pass")
    lay(table, "W", "5m5m")
    assert not waits(table)
    table.passes()
    assert table.game.phase == "draw" and not table.game.seats["W"].melds
    table.elapse("count_seen")
    assert table.prompt("count_wrong").seat == "W" and table.prompt("count_wrong").params["zone"] == "melds"


def test_a_meld_that_may_not_be_claimed_is_asked_back_from_its_seat_alone() -> None:
    """吃 is for the next seat alone (R13); E, whose discard lies there no more, is not asked about it."""
    table = in_play({**HANDS, "N": "111p333p555p777p4m6m33s"})
    claims_of(table, "5m")
    meld = lay(table, "N", "4m6m")
    assert not waits(table)
    table.elapse("count_seen")
    assert {want.seat for verb in ASKED_ABOUT for want in table.prompts(verb).values()} == {"N"}
    assert table.prompt("count_wrong").params == {"zone": "melds", "seen": 3, "expected": 0}
    table.passes()
    assert table.prompt("draw").seat == "S"
    meld.up()
    assert not table.asked() & ASKED_ABOUT and not table.state.play.corrected


def test_a_missed_tile_is_not_claimed_by_laying_it() -> None:
    """R14 (classic): W lets 5m pass and may not 碰 the next one, pressed or laid."""
    hands = {**CLASSIC, "S": "1z234m234p34s5m678m678p", "W": "11m333m55m777m3z22s88s2z"}
    table = in_play(hands, rules="classic-xiamen-144", draws="6s")
    table.discard("E", "5m")
    table.passes()
    table.draw("S")
    table.discard("S", "5m")
    lay(table, "W", "5m5m")
    assert not waits(table)


# --- one's own kongs, and laps ----------------------------------------------------------------------------------------

LAST_LAP: dict[str, str] = {
    "E": "12345m234578p234578s",
    "S": "123456789m12356p89s",
    "W": "5777888p233445678s",
    "N": "777888999m1666p111s",
}
"""S goes on to 三游; in its last lap N draws the fourth 1s (`tests/records/r23-option-kong-only.txt`)."""

FACE_DOWN: dict[str, str] = {
    "E": "124578m124578p12457s",
    "S": "123456789m123569p8s",
    "W": "777889p1123456789s",
    "N": "346789m1346p134689s",
}
"""S draws a gold in W's lap of 明游 (`tests/records/r23-an-before-ming.txt`)."""


def test_a_kong_laid_in_anothers_lap_is_one() -> None:
    """R23: where nothing but a kong interrupts the last lap."""
    table = in_play(
        LAST_LAP, draws="4p2s9p3m9s9p3m4m9s5p1s", tail="1p", options={"sanyou_interrupt": "kong_only"}
    )
    table.discard("E", "2s")
    table.passes()
    discards = iter(("8s", "2s", "9p", "3m"))
    for _ in range(4):
        table.round(lambda _, __: next(discards))
    table.draw("S")
    table.discard("S", "9s")
    put_away(table, "W", "N", "E")
    table.draw("S")
    table.discard("S", "9s")
    put_away(table, "W")
    assert table.draw("N") == "1s"
    table.show("N", "melds", "1111s")
    assert table.game.phase == "lap", "one reader alone says nothing"
    table.show("N", "hand", without(table.lies("N", "hand"), *("1s",) * 4))
    assert [meld.kind for meld in table.game.seats["N"].melds] == ["kong_concealed"]
    assert table.draw("N") == "1p"


def put_away(table: Table, *seats: str) -> None:
    for seat in seats:
        table.draw(seat)
        table.press(seat, "lap", "pass")
        table.settle(seat, "hand")


def test_a_gold_laid_in_anothers_lap_leads_on() -> None:
    """R23 保送: who draws a gold in a lap of 明游 may go before it by 暗游, laid as well as pressed."""
    table = in_play(
        FACE_DOWN, gold="9p", draws="4p8p1m1m9p2s", options={"tour_discard": "ming", "tour_guard": True}
    )
    table.discard("E", "1m")
    table.passes()
    table.round(lambda _, __: "8s")
    table.draw("W")
    table.press("W", "turn", "discard_down", tile="1s")
    table.settle("W", "discards", "hand")
    put_away(table, "N", "E")
    assert table.draw("S") == "9p" and table.game.phase == "lap"
    table.discard("S", "9p")
    assert table.game.tour is not None and table.game.tour.owner == "S"
    assert not table.asked() & ASKED_ABOUT
    assert table.draw("S") == "2s"
    table.press("S", "turn", "hu", way="shuangyou")


def test_another_tile_discarded_in_a_lap_is_asked_back() -> None:
    table = in_play(
        FACE_DOWN, gold="9p", draws="4p8p1m1m9p2s", options={"tour_discard": "ming", "tour_guard": True}
    )
    table.discard("E", "1m")
    table.passes()
    table.round(lambda _, __: "8s")
    table.draw("W")
    table.press("W", "turn", "discard_down", tile="1s")
    table.settle("W", "discards", "hand")
    table.draw("N")
    table.discard("N", "3m")
    assert table.game.phase == "lap" and "wrong_discard" not in table.asked()
    hand, lying = [want for want in wants(table.state) if want.verb == "count_seen"]
    assert {hand.params["zone"], lying.params["zone"]} == {"hand", "discards"}
