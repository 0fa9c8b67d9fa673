"""Sensing full: readers' events become draws, discards and melds, and the table referees (R13-R18, R22-R25, R39)."""

from __future__ import annotations

from itertools import permutations

import pytest

from engine import inputs as i
from engine.play import events as p
from engine.play.state import without
from engine.table import wants
from engine.tiles import SEATS
from tests.engine.tables import HANDS, Table, claims_of, in_play, played

ROB: dict[str, str] = {
    "E": "59m159p159s2468m2468p2s",
    "S": "234m234p678m678p13s88s",
    "W": "111m333m555m777m99m22s",
    "N": "111p333p555p777p99p33s",
}
"""S waits for 2s, W holds two of it and E discards one; the fourth is left in the wall."""

YOUJIN: dict[str, str] = {
    "E": "123m456m789m123p45p99s5s",
    "S": "123p456p789p258m2266s",
    "W": "111s333s444s777m4p689m",
    "N": "888p777s888s12345m55z",
}
"""With 9s the gold E is youjin-ready once 5s has gone: 45p and a gold, and another gold to spare."""

CLASSIC: dict[str, str] = {
    "E": "1z159m159p159s246m2468p",
    "S": "1z234m234p234s678m678p",
    "W": "111m333m555m777m3z22s2z",
    "N": "111p333p555p777p4z33s2z",
}


# --- the turn (R13) ---------------------------------------------------------------------------------------------------


def test_a_discard_counts_once_hand_and_discards_show_it_whichever_comes_first() -> None:
    for order in permutations(("discards", "hand")):
        table = in_play()
        told = {"discards": ("4p",), "hand": without(table.lies("E", "hand"), "4p")}
        first, second = order
        table.show("E", first, told[first])
        assert table.game.phase == "turn", "one reader alone is no discard"
        table.show("E", second, told[second])
        assert table.game.phase == "window"
        assert [(event.seat, event.tile) for event in played(table, p.TileDiscarded)] == [("E", "4p")]
        assert not table.state.play.corrected


def test_a_discard_may_be_pressed_and_then_laid() -> None:
    table = in_play()
    table.press("E", "turn", "discard", tile="4p")
    assert table.game.phase == "window"
    table.settle("E", "discards", "hand")
    assert not table.asked("E") & {"count_wrong", "reader_check"}
    table.passes()
    assert table.prompt("draw").seat == "S"


def test_the_next_seat_draws_where_the_wall_stands_and_only_what_it_has_drawn_is_known() -> None:
    table = in_play(draws="6s7s")
    table.discard("E", "4p")
    table.passes()
    assert table.prompt("draw").seat == "S" and table.prompt("draw").params["end"] == "head"
    assert table.game.seats["S"].draws == 0 and table.game.phase == "draw"
    table.draw("S")
    assert (table.game.turn, table.game.drawn, table.game.phase) == ("S", "6s", "turn")
    assert table.prompt("turn").params["drawn"] == "6s"


def test_a_window_closes_early_only_when_all_three_have_answered_whatever_they_hold() -> None:
    """R13: W alone could claim; the answers of who can do nothing are waited for all the same."""
    for order in permutations(("S", "W", "N")):
        table = in_play()
        claims_of(table, "5m")
        for seat in order:
            assert table.game.phase == "window"
            table.press(seat, "claim", "pass")
            assert not table.prompts("claim").get(seat)
        assert table.game.phase == "draw" and table.game.turn == "S"
    table = in_play()
    claims_of(table, "5m")
    table.press("W", "claim", "pong")
    table.press("S", "claim", "chi", tiles=["4m", "6m"])
    table.elapse("claim_window")
    assert table.game.phase == "turn" and table.game.turn == "W", "碰 before 吃, and N has passed"


def test_an_answer_is_given_once() -> None:
    table = in_play()
    claims_of(table, "5m")
    want = table.prompt("claim", "W")
    table.press("W", "claim", "pass")
    assert table.refusal("S", "claim", "pong").code == "no_set"
    with pytest.raises(Exception, match="late"):
        table.feed(i.SeatAction("W", str(want.id), "pong"))


def test_a_claim_that_is_not_allowed_is_refused_and_the_seat_may_still_answer() -> None:
    table = in_play()
    claims_of(table, "4p")
    assert table.refusal("N", "claim", "chi", tiles=["3p", "5p"]).rule == "R13"
    assert table.refusal("W", "claim", "hu", way="pinghu").rule == "R20"
    assert table.refusal("S", "claim", "hu", way="nothing").rule == "R28"
    table.passes()
    assert table.prompt("draw").seat == "S"


def test_a_win_by_discard_is_booked_without_typing() -> None:
    """平胡 2 from each of the three (R30); E's gold is one 水 that the other losers owe it (R37)."""
    table = in_play()
    claims_of(table, "5s")
    table.passes()
    table.draw("S")
    table.discard("S", "2s")
    table.press("W", "claim", "hu", way="pinghu")
    table.press("E", "claim", "pass")
    assert table.state.result is None
    table.press("N", "claim", "pass")
    result = table.state.result
    assert result is not None and result.booking is not None
    assert (result.winner, result.way, result.booking.source) == ("W", "pinghu", "S")
    assert result.booking.points == {"1": 0, "2": -3, "3": 6, "4": -3}
    assert set(result.held) == set(SEATS)


def test_a_self_drawn_win_and_what_it_pays() -> None:
    """自摸 4 from each, E's gold apart (R37)."""
    table = in_play(draws="6s2s")
    table.round(lambda _, __: "4p")
    table.round()
    table.draw("W")
    assert {"name": "hu", "way": "zimo"} in table.prompt("turn").params["options"]
    table.press("W", "turn", "hu", way="zimo")
    assert table.state.result is not None and table.state.result.booking is not None
    assert table.state.result.booking.points == {"1": -2, "2": -5, "3": 12, "4": -5}


def test_nobody_wins_when_the_wall_is_empty() -> None:
    """R18: 流局 without points, and the dealer stays."""
    table = in_play()
    while table.state.result is None:
        table.round(lambda at, seat: at.prompt("turn").params["discards"][-1])
    assert table.state.result.winner == "" and table.state.result.booking is not None
    assert table.state.result.booking.kind == "draw"
    assert set(table.state.result.booking.points.values()) == {0}
    assert table.state.dealer == "E" and table.state.streak == 1


# --- melds (R14, R15) -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", list(permutations((("W", "melds"), ("E", "discards"), ("W", "hand")))))
def test_a_pong_may_be_laid_in_any_order_of_the_readers(order: tuple[tuple[str, str], ...]) -> None:
    table = in_play({**HANDS, "S": "234m234p13s678m678p88s", "E": "59m159p159s2468m2468p2s"})
    claims_of(table, "2s")
    table.passes("S", "N")
    table.press("W", "claim", "pong")
    lay = table.prompt("lay")
    assert lay.seat == "W"
    assert lay.params == {"kind": "pong", "tiles": ["2s"] * 3, "tile": "2s", "source": "E"}
    for seat, zone in order:
        assert "lay" in table.asked("W") or (("W", "melds") in order[: order.index((seat, zone))])
        table.settle(seat, zone)
        assert not table.asked() & {"count_wrong", "reader_check"}
    assert "lay" not in table.asked() and table.prompt("turn").seat == "W"
    assert not [want for want in table.asked("W") if want == "draw"]
    table.discard("W", "9m")
    assert table.game.phase == "window" and not table.state.play.corrected


def test_who_discards_before_he_has_laid_is_waited_for() -> None:
    table = in_play({**HANDS, "S": "234m234p13s678m678p88s", "E": "59m159p159s2468m2468p2s"})
    claims_of(table, "2s")
    table.passes("S", "N")
    table.press("W", "claim", "pong")
    table.show("W", "discards", "9m")
    table.show("W", "hand", "111m333m555m777m9m22s")
    assert table.game.phase == "turn" and "lay" in table.asked("W")
    table.show("W", "melds", "222s")
    table.settle("E", "discards")
    table.show("W", "hand", "111m333m555m777m9m")
    assert table.game.phase == "window" and table.game.tile == "9m"


def test_a_run_from_the_seat_before() -> None:
    table = in_play()
    claims_of(table, "5m")
    table.press("S", "claim", "chi", tiles=["6m", "4m"])
    table.passes("W", "N")
    table.lay("S")
    assert [(meld.kind, meld.tiles) for meld in table.game.seats["S"].melds] == [("chi", ("4m", "5m", "6m"))]
    assert table.prompt("turn").seat == "S" and table.prompt("turn").params["drawn"] == ""


def test_two_runs_of_the_same_tiles_are_laid_one_after_the_other() -> None:
    """What is to be laid is the meld that does not lie there yet, though another like it does."""
    hands = {**HANDS, "S": "3344m234p234s678p88s9m", "W": "111m555m777m99m22s666s"}
    table = in_play(hands, draws="6s7s2m")
    for times in (1, 2):
        table.discard("E", "2m")
        table.press("S", "claim", "chi", tiles=["3m", "4m"])
        table.passes("W", "N")
        assert table.prompt("lay").params["tiles"] == ["2m", "3m", "4m"]
        table.lay("S")
        assert table.lies("S", "melds") == ("2m", "3m", "4m") * times
        if times == 1:
            table.discard("S", "9m")
            table.passes()
            for _ in "WN":
                table.round()
            assert table.draw("E") == "2m"


def test_an_open_kong_draws_at_the_tail() -> None:
    table = in_play(tail="3f6s")
    claims_of(table, "5m")
    table.press("W", "claim", "kong_open")
    table.passes("S", "N")
    assert "draw" not in table.asked(), "laid first"
    table.lay("W")
    assert table.prompt("draw").params["end"] == "tail"
    assert table.draw("W") == "6s"
    assert table.game.seats["W"].flowers == ("3f",)
    assert table.prompt("turn").seat == "W"


def test_a_concealed_kong_laid_beside_the_hand_is_one() -> None:
    hands = {**HANDS, "E": "269m159p159s2468m2468p"}
    table = in_play(hands, draws="6s5m")
    table.round(lambda _, __: "4p")
    table.round()
    assert table.draw("W") == "5m"
    table.show("W", "melds", "5555m")
    table.show("W", "hand", "111m333m777m99m22s")
    assert [meld.kind for meld in table.game.seats["W"].melds] == ["kong_concealed"]
    assert table.prompt("draw").seat == "W" and not table.state.play.corrected


def test_a_kong_by_the_display_is_laid_afterwards() -> None:
    hands = {**HANDS, "E": "269m159p159s2468m2468p"}
    table = in_play(hands, draws="6s5m")
    table.round(lambda _, __: "4p")
    table.round()
    table.draw("W")
    table.press("W", "turn", "kong_concealed", tile="5m")
    assert table.prompt("lay").params["kind"] == "kong_concealed"
    table.lay("W")
    assert table.prompt("draw").seat == "W"


def rob(by_hand: bool) -> Table:
    """W has laid a pong of 2s and adds the fourth, which S waits for; by hand before it is announced, or after."""
    table = in_play(ROB, draws="6s7s7s2s")
    claims_of(table, "2s")
    table.passes("S", "N")
    table.press("W", "claim", "pong")
    table.lay("W")
    table.discard("W", "9m")
    table.passes()
    for _ in "NES":
        table.round()
    assert table.draw("W") == "2s"
    if by_hand:
        table.show("W", "melds", "2222s")
        table.show("W", "hand", without(table.lies("W", "hand"), "2s"))
    else:
        table.press("W", "turn", "kong_added", tile="2s")
    return table


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_kong_may_be_robbed_before_it_stands(by_hand: bool) -> None:
    """R15: 抢杠 counts as a self-drawn win: 4 from each."""
    table = rob(by_hand)
    asked = table.prompts("claim")
    assert table.game.phase == "rob" and set(asked) == {"N", "E", "S"}
    assert asked["E"].params["kind"] == "kong" and asked["E"].params["tile"] == "2s"
    assert len({want.actions for want in asked.values()}) == 1
    assert not [want for want in table.asked() if want in ("count_seen", "count_wrong", "lay")]
    table.press("S", "claim", "hu", way="qianggang")
    table.passes("N", "E")
    result = table.state.result
    assert result is not None and result.booking is not None
    assert (result.winner, result.way, result.booking.source) == ("S", "qianggang", "W")
    assert result.booking.points == {"1": -2, "2": 12, "3": -5, "4": -5}


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_kong_that_nobody_robs_stands(by_hand: bool) -> None:
    table = rob(by_hand)
    table.passes()
    if not by_hand:
        assert table.prompt("lay").params["kind"] == "kong_added"
        told = {want.verb for want in wants(table.state) if want.kind == "timer"}
        assert "count_seen" not in told, "the fourth is in the hand until it is laid"
        table.lay("W")
    assert [meld.kind for meld in table.game.seats["W"].melds] == ["kong_added"]
    assert table.prompt("draw").seat == "W" and table.prompt("draw").params["end"] == "tail"
    assert "lay" not in table.asked()


def test_a_missed_tile_is_not_claimed_again_before_the_next_draw() -> None:
    """R14 (classic): W lets 5m pass and may not claim the next one."""
    hands = {**CLASSIC, "S": "1z234m234p34s5m678m678p", "W": "11m333m55m777m3z22s88s2z"}
    table = in_play(hands, rules="classic-xiamen-144", draws="6s")
    table.discard("E", "5m")
    table.passes()
    table.draw("S")
    table.discard("S", "5m")
    assert table.refusal("W", "claim", "pong").code == "missed"


# --- flowers in play (R7) ---------------------------------------------------------------------------------------------


def test_a_drawn_flower_is_laid_out_and_replaced_from_the_tail() -> None:
    table = in_play(draws="3f", tail="6s7s")
    table.discard("E", "4p")
    table.passes()
    before = table.state
    assert table.draw("S") == "6s"
    assert table.game.seats["S"].flowers == ("3f",)
    ends = [(event.tile, event.end) for event in played(table, p.TileDrawn)]
    assert ends == [("3f", "head"), ("6s", "tail")]
    assert before.play.game is not None and before.play.game.phase == "draw"


def test_a_flower_laid_straight_from_the_wall_counts_too() -> None:
    table = in_play(draws="3f", tail="6s7s")
    table.discard("E", "4p")
    table.passes()
    table.show("S", "flowers", "3f")
    assert table.game.seats["S"].flowers == ("3f",)
    assert table.prompt("draw").params["end"] == "tail"


def test_a_flower_by_hand_where_no_reader_shows_it() -> None:
    table = in_play(draws="3f", tail="6s7s")
    table.discard("E", "4p")
    table.passes()
    table.press("S", "draw", "by_hand")
    table.press("S", "replace", "by_hand")
    table.press("S", "draw", "by_hand")
    assert table.game.seats["S"].flowers == ("3f",) and table.prompt("turn").params["drawn"] == "6s"


# --- tours and laps (R22, R23) ----------------------------------------------------------------------------------------


def touring() -> Table:
    """E has discarded a gold on its 游金 draw: 双游, and the others draw one tile each."""
    table = in_play(YOUJIN, draws="1m1m2m6p6p8m3s4s")
    table.round(lambda _, __: "5s")
    assert table.game.seats["E"].ready
    for _ in "SWN":
        table.round()
    assert table.draw("E") == "6p"
    names = [option["name"] for option in table.prompt("turn").params["options"]]
    assert "hu" in names and "tour_discard" in names
    table.discard("E", "9s")
    return table


def test_a_gold_discarded_on_a_youjin_draw_begins_the_lap() -> None:
    table = touring()
    assert table.game.tour is not None and (table.game.tour.owner, table.game.tour.level) == ("E", 2)
    assert not table.prompts("claim"), "nobody may claim it"
    for seat, drawn in zip("SWN", ("6p", "8m", "3s"), strict=True):
        assert table.draw(seat) == drawn
        assert table.prompt("lap").seat == seat and table.prompt("lap").params["drawn"] == drawn
        table.press(seat, "lap", "pass")
        lay = table.prompt("lay", seat)
        assert lay.params == {"kind": "aside", "tiles": [drawn], "tile": "", "source": ""}
        assert not [want for want in table.asked(seat) if want in ("count_wrong", "reader_check")]
        table.settle(seat, "hand")
        assert "lay" not in table.asked(seat)
    assert table.draw("E") == "4s"
    table.press("E", "turn", "hu", way="shuangyou")
    result = table.state.result
    assert result is not None and result.booking is not None
    assert (result.winner, result.way) == ("E", "shuangyou")
    # 20 and one 水 for the gold that is left.
    assert result.booking.points == {"1": 63, "2": -21, "3": -21, "4": -21}


def test_a_tile_put_away_late_is_asked_for_but_holds_nobody_up() -> None:
    table = touring()
    table.draw("S")
    table.press("S", "lap", "pass")
    assert table.prompt("draw").seat == "W"
    table.draw("W")
    table.press("W", "lap", "pass")
    assert {want.seat for want in table.prompts("lay").values()} == {"S", "W"}
    table.press("S", "lay", "by_hand")
    assert {want.seat for want in table.prompts("lay").values()} == {"W"}


def test_after_a_draw_that_completes_a_tour_nothing_else_may_be_discarded() -> None:
    """R23: a draw that completes the level wins or leads on."""
    table = touring()
    for seat in "SWN":
        table.draw(seat)
        table.press(seat, "lap", "pass")
        table.settle(seat, "hand")
    table.draw("E")
    assert table.prompt("turn").params["discards"] == []
    table.discard("E", "4s")
    refused = table.prompt("wrong_discard")
    assert (refused.seat, refused.params["code"], refused.params["rule"]) == ("E", "tour_forced", "R23")
    table.show("E", "hand", table.lies("E", "hand"))
    table.show("E", "discards", table.lies("E", "discards"))
    assert "wrong_discard" not in table.asked()
    table.press("E", "turn", "hu", way="shuangyou")


# --- discards that are not allowed (R16, R17) -------------------------------------------------------------------------


def test_an_honour_that_must_follow_is_asked_for() -> None:
    """R16 (classic): E discards 1z, S holds one and must discard it now; another tile is taken back."""
    table = in_play(CLASSIC, rules="classic-xiamen-144", draws="6s")
    table.discard("E", "1z")
    table.passes()
    table.draw("S")
    turn = table.prompt("turn")
    assert turn.params["follow"] == ["1z"] and turn.params["discards"] == ["1z"]
    table.discard("S", "6s")
    refused = table.prompt("wrong_discard")
    assert refused.seat == "S" and refused.params == {"tile": "6s", "code": "follow", "rule": "R16"}
    assert refused.actions == () and table.game.phase == "turn"
    table.show("S", "hand", table.lies("S", "hand"))
    table.show("S", "discards", ())
    assert "wrong_discard" not in table.asked()
    table.discard("S", "1z")
    assert table.game.phase == "window" and table.game.tile == "1z" and not table.state.play.corrected


def test_a_wrong_discard_may_be_mended_on_the_display() -> None:
    table = in_play(CLASSIC, rules="classic-xiamen-144", draws="6s")
    table.discard("E", "1z")
    table.passes()
    table.draw("S")
    table.discard("S", "6s")
    table.press("S", "turn", "discard", tile="1z")
    assert "wrong_discard" not in table.asked() and table.game.tile == "1z"
    table.settle("S", "discards", "hand")
    assert not table.asked("S") & {"count_wrong", "reader_check"}


@pytest.mark.parametrize(("how", "phase"), [("lock", "window"), ("illegal", "turn"), ("fault", "window")])
def test_gold_discarded_outside_a_tour(how: str, phase: str) -> None:
    """R17: it locks its seat, is taken back, or puts the seat out of the hand, as the house says."""
    table = in_play(options={"gold_discard": how})
    assert table.game.deal.gold == "9s"
    table.discard("E", "9s")
    assert table.game.phase == phase
    if how == "illegal":
        assert table.prompt("wrong_discard").params["rule"] == "R17"
    else:
        own = table.game.seats["E"]
        assert (own.locked, own.covered) == ((True, "") if how == "lock" else (own.locked, "gold_discard"))
        assert all("pong" not in str(want.params["options"]) for want in table.prompts("claim").values())


def test_a_false_win_laid_open_voids_the_hand() -> None:
    """R38: each of the others gets the base of the way faked; the dealer stays, and the hand does not count."""
    table = in_play()
    claims_of(table, "4p")
    table.press("N", "claim", "expose_false", kind="zhahu")
    result = table.state.result
    assert result is not None and result.booking is not None
    assert result.booking.kind == "foul" and result.booking.points == {"1": 10, "2": 10, "3": 10, "4": -30}
    assert table.state.dealer == "E" and table.state.streak == 0


# --- openings (R25) ---------------------------------------------------------------------------------------------------

EX48: dict[str, str] = {
    "E": "234678m111678p16677s",
    "S": "12789m123999p44488s",
    "W": "358m223467p122369s5z",
    "N": "123789m234888p4599s",
}


def test_the_strongest_opening_wins_and_one_that_is_none_is_refused() -> None:
    """004: 闲家 before 庄家, among 闲家 the nearest to the dealer; E drops 1s for the gold."""
    hands = {**EX48, "E": "234678m111678p6677s1s"}
    table = in_play(hands, gold="5p", passed=False)
    asked = table.prompts("opening")
    assert set(asked) == set(SEATS) and len({want.actions for want in asked.values()}) == 1
    assert asked["S"].params["claims"] == ["qiangjin"] and asked["W"].params["claims"] == []
    refusal = table.refusal("W", "opening", "claim", way="tianhu")
    assert refusal.rule == "R25"
    table.press("E", "opening", "claim", way="qiangjin", tile="1s")
    table.press("N", "opening", "claim", way="qiangjin")
    table.press("S", "opening", "claim", way="qiangjin")
    assert table.state.result is None, "W has not answered"
    table.elapse("window")
    assert table.state.result is not None and (table.state.result.winner, table.state.result.way) == ("S", "qiangjin")


def test_a_dealer_who_takes_the_gold_names_what_he_drops() -> None:
    table = in_play({**EX48, "E": "234678m111678p6677s1s"}, gold="5p", passed=False)
    assert table.refusal("E", "opening", "claim", way="qiangjin").rule in ("R25", "R28")
    assert table.refusal("E", "opening", "claim", way="qiangjin", tile="2m").rule in ("R25", "R28")
    table.press("E", "opening", "claim", way="qiangjin", tile="1s")
    table.passes(verb="opening")
    assert table.state.result is not None and table.state.result.winner == "E"
