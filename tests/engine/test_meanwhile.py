"""Presses that arrive when what they say has happened already: taken, and nothing is changed by them (P1)."""

from __future__ import annotations

import pytest

from engine import inputs as i
from engine.table import Refused, decide, wants
from engine.wants import Want
from tests.engine.tables import Table, claims_of, in_play
from tests.engine.walker import Walker, refused


def asked(walker: Walker, verb: str) -> dict[str, Want]:
    return {want.seat: want for want in wants(walker.state) if want.verb == verb and want.kind == "prompt"}


def press(want: Want, action: str, seat: str = "") -> i.SeatAction:
    return i.SeatAction(seat or want.seat, str(want.id), action)


def is_taken(walker: Walker, said: i.SeatAction) -> bool:
    """Whether a late press is taken; it must change nothing, and be refused as late where it is not."""
    try:
        assert decide(walker.state, said) == ()
    except Refused as refusal:
        assert refusal.code == "late"
        return False
    return True


# --- hands and displays (sensing full) --------------------------------------------------------------------------------


def test_a_hand_that_draws_while_its_display_says_so() -> None:
    table = in_play(draws="6s7s")
    table.discard("E", "4p")
    table.passes()
    said = press(table.prompt("draw"), "by_hand")
    assert said.seat == "S"
    table.draw("S")
    assert is_taken(table, said)
    assert not is_taken(table, i.SeatAction("W", said.want, "by_hand")), "nobody else has drawn"
    table.discard("S", "6s")
    table.passes()
    second = press(table.prompt("draw"), "by_hand")
    table.draw("W")
    assert is_taken(table, second) and not is_taken(table, said)
    ahead = i.SeatAction("W", f"{table.state.hand}.draw-{table.state.play.beat + 3}.1", "by_hand")
    assert not is_taken(table, ahead), "what has not come yet has not happened"


def test_a_flower_laid_while_its_display_says_so() -> None:
    table = in_play(draws="3f", tail="6s7s")
    table.discard("E", "4p")
    table.passes()
    table.show("S", "hand", (*table.lies("S", "hand"), "3f"))
    said = press(table.prompt("replace"), "by_hand")
    table.show("S", "flowers", "3f")
    assert is_taken(table, said)


def test_a_meld_laid_while_its_display_says_so() -> None:
    table = in_play()
    claims_of(table, "5m")
    table.press("W", "claim", "pong")
    table.passes()
    said = press(table.prompt("lay"), "by_hand")
    assert said.seat == "W"
    table.lay("W")
    assert is_taken(table, said) and not is_taken(table, i.SeatAction("S", said.want, "by_hand"))


def test_a_zone_put_right_while_its_seat_says_that_it_is() -> None:
    table = in_play()
    table.show("N", "hand", (*table.lies("N", "hand"), "6s"))
    table.elapse("count_seen")
    said, owned = (press(table.prompt("count_wrong"), action) for action in ("ok", "admit"))
    table.settle("N", "hand")
    assert is_taken(table, said)
    assert refused(table, owned).code == "late", "that something is wrong is not so any more"


def test_a_claim_that_comes_late_is_late() -> None:
    table = in_play()
    claims_of(table, "5m")
    said = [press(table.prompt("claim", "W"), action) for action in ("pass", "pong")]
    table.elapse("claim_window")
    assert [refused(table, one).code for one in said] == ["late", "late"]


# --- keys and prompts of an evening -----------------------------------------------------------------------------------


ANYBODY = {"lift": "lift", "push_in": "pushed", "row": "ok", "take": "ok", "flowers": "ok"}


@pytest.mark.parametrize(("rules", "layout"), [("new-xiamen-120", "zhitui"), ("classic-xiamen-144", "bagua")])
def test_two_who_press_the_same_have_both_done_it(rules: str, layout: str) -> None:
    """What anybody may press that four see done, at a table that reads nothing: whoever comes second is right too."""
    walker = Walker(rules, layout, sensing="none", hands=3, seed=3)
    walker.start()
    expected = set(ANYBODY) - ({"row"} if layout == "zhitui" else set())
    taken: set[str] = set()
    while not expected <= taken:
        before = [want for verb in ANYBODY for want in asked(walker, verb).values()]
        walker.step()
        outstanding = {str(want.id) for want in wants(walker.state)}
        for want in before:
            if str(want.id) not in outstanding:
                assert is_taken(walker, press(want, ANYBODY[want.verb])), (want.verb, walker.state.phase)
                taken.add(want.verb)


def test_a_seat_that_agrees_twice_or_as_the_time_is_over_has_agreed() -> None:
    walker = Walker("new-xiamen-120", sensing="none", dice_mode="hand", hands=1, seed=4)
    walker.start()
    while not (walker.state.phase == "deal_roll" and asked(walker, "dice")):
        walker.step()
    (entry,) = {str(want.id): want for want in asked(walker, "dice").values()}.values()
    walker.feed(i.SeatAction(entry.seat, str(entry.id), "dice", {"dice": [2, 3]}))
    others = [want for want in asked(walker, "dice_check").values() if "agree" in want.actions]
    walker.feed(press(others[0], "agree"))
    assert is_taken(walker, press(others[0], "agree"))
    (timer,) = [want for want in wants(walker.state) if want.verb == "dice_stands"]
    walker.feed(i.TimerElapsed(str(timer.id)))
    assert walker.state.phase == "taking", "the dice that were looked at count"
    assert is_taken(walker, press(others[1], "agree"))
    assert refused(walker, press(others[1], "object")).code == "late"


def test_what_was_entered_anew_has_not_been_agreed_to() -> None:
    walker = Walker("new-xiamen-120", sensing="none", dice_mode="hand", hands=1, seed=4)
    walker.start()
    while not asked(walker, "dice"):
        walker.step()
    entry = next(iter(asked(walker, "dice").values()))
    walker.feed(i.SeatAction(entry.seat, str(entry.id), "dice", {"dice": [2, 3]}))
    first, second = [want for want in asked(walker, "dice_check").values() if "agree" in want.actions][:2]
    walker.feed(press(first, "object"))
    assert not is_taken(walker, press(second, "agree"))
    again = next(want for want in asked(walker, "dice").values() if want.seat == entry.seat)
    walker.feed(i.SeatAction(again.seat, str(again.id), "dice", {"dice": [2, 4]}))
    assert not is_taken(walker, press(second, "agree")), "other dice"


NAMES = ["", "x", "1.draw", "0.draw-0.1.2", "-1.draw-0.1", f"{'9' * 400}.draw-0.1", "1.draw-0.1 "]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_no_want_are_late(name: str) -> None:
    table: Table = in_play()
    assert not is_taken(table, i.SeatAction("E", name, "by_hand"))
