"""The book at a table: its clocks, which nobody can hold up, and the floor's word on what it was said of (P1-P4)."""

from __future__ import annotations

import pytest

from engine import inputs as i
from engine.asking import Want
from engine.book.state import OWN_RESTARTS
from engine.match_wants import to_decide
from engine.table import Refused, decide, wants
from engine.tiles import SEATS
from tests.engine.tables import Told

NEW = "new-xiamen-120"


def told_win(way: str = "zimo") -> Told:
    """S has won, says its display; nobody has entered anything."""
    table = Told(NEW, hands=0)
    table.run(lambda state: state.phase == "play")
    table.tell("S", "win", way=way, seat="S")
    return table


def timers(table: Told) -> list[Want]:
    """The clocks of the book that run."""
    return [want for want in wants(table.state) if want.verb in ("entry_clock", "agree_clock")]


def test_a_late_word_of_the_floor_decides_no_other_objection() -> None:
    table = told_win()
    for seat in SEATS:
        table.tell(seat, "done")
    table.tell("N", "object")
    first = to_decide(table.state)
    table.tell("N", "withdraw")
    assert to_decide(table.state) == "" != first
    for want in (first, "nonsense"):
        with pytest.raises(Refused) as refused:
            decide(table.state, i.Decide(1, want))
        assert (refused.value.code, refused.value.rule) == ("late", "P1")
    table.tell("W", "object")
    with pytest.raises(Refused, match="late"):
        decide(table.state, i.Decide(1, first))
    assert table.state.book is not None and table.state.book.by == "W"
    table.feed(i.Decide(1, to_decide(table.state)))
    assert table.state.book is None and table.points()["2"] == 12


def test_what_the_floor_names_is_what_its_people_are_asked() -> None:
    """The id is that of the prompt before every seat that is to answer."""
    table = told_win()
    assert to_decide(table.state) == str(table.prompt("entry", "W").id)
    for seat in SEATS:
        table.tell(seat, "done")
    table.tell("W", "object")
    assert to_decide(table.state) == str(table.prompt("objection", "E").id)
    table.tell("W", "items", seat="S", golds=1)
    table.tell("W", "propose")
    assert to_decide(table.state) == str(table.prompt("vote", "W").id)


def test_a_winner_who_walks_away_without_a_word_is_settled_by_time() -> None:
    """One gold at least: 游金 10 and 1 水 from each."""
    table = told_win("youjin")
    table.elapse("entry_clock")
    assert table.state.book is not None and table.state.book.stage == "agreement"
    assert [timer.verb for timer in timers(table)] == ["agree_clock"]
    table.elapse("agree_clock")
    assert table.state.book is None and table.points()["2"] == 33


def test_the_floor_ends_an_entry() -> None:
    table = told_win("youjin")
    table.feed(i.Decide(1, to_decide(table.state)))
    assert table.state.book is not None and table.state.book.stage == "agreement"


def test_two_against_two_are_decided_by_time() -> None:
    table = told_win()
    for seat in SEATS:
        table.tell(seat, "done")
    table.tell("W", "object")
    table.tell("W", "items", seat="S", golds=1)
    table.tell("W", "propose")
    for seat, choice in (("E", 2), ("S", 1)):
        table.tell(seat, "vote", choice=choice)
    (before,) = timers(table)
    table.tell("N", "vote", choice=1)
    (after,) = timers(table)
    agree_ms = table.state.match.agree_ms
    assert (before.after_ms, after.after_ms) == (4 * agree_ms, 16 * agree_ms) and before.id != after.id
    table.elapse("entry_clock")
    assert table.state.book is None and table.points()["2"] == 12


def test_pressing_on_does_not_hold_the_clock() -> None:
    table = told_win()
    ids = []
    for press in range(3 * OWN_RESTARTS):
        table.tell("N", "win", way=("youjin", "zimo")[press % 2], seat="S")
        ids += [timer.id for timer in timers(table)]
    assert len(ids) == 3 * OWN_RESTARTS and len(set(ids)) == OWN_RESTARTS
    assert ids[OWN_RESTARTS:] == ids[-1:] * (2 * OWN_RESTARTS), "it runs on"
    table.elapse("entry_clock")
    assert table.state.book is not None and table.state.book.stage == "agreement"
