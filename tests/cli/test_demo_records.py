"""The demo's own check: its hands must come out of the journal again, as its public stream told them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cli.demo_records import disagreement
from cli.demo_story import Booked
from engine.tiles import SEATS
from tests.cli.test_journal_export import Kept


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Booked]]:
    """A journal of two matches with hands taken back, and what a stream told of them."""
    path = tmp_path_factory.mktemp("demo") / "table.journal"
    kept = Kept(path, ("new-xiamen-120", "full", 3), ("classic-xiamen-144", "none", 4), taking_back=True)
    heard = []
    for booking in kept.last.session.book:
        net = {seat: booking.points[booking.seats[seat]] for seat in SEATS}
        bonus = {seat: booking.bonus[booking.seats[seat]] for seat in SEATS}
        heard.append(Booked(booking.match, booking.hand, booking.kind, net, bonus, booking.voided))
    assert any(one.voided for one in heard) and {one.match for one in heard} == {1, 2}
    return path, heard


def test_what_was_told_is_what_the_records_come_to(evening: tuple[Path, list[Booked]]) -> None:
    path, heard = evening
    assert disagreement(path, heard) == ""


def test_the_table_may_have_gone_on_for_a_moment(evening: tuple[Path, list[Booked]]) -> None:
    """The last bookings in the journal need not have been heard."""
    path, heard = evening
    for count in range(len(heard)):
        cut = [replace(one) for one in heard[:count]]
        if not any(one.voided for one in heard[count:]) and (not cut or not cut[-1].voided):
            assert disagreement(path, cut) == ""


def test_other_points_are_told(evening: tuple[Path, list[Booked]]) -> None:
    path, heard = evening
    last = heard[-1]
    other = replace(last, net={**last.net, "E": last.net["E"] + 1, "S": last.net["S"] - 1})
    assert f"hand {last.number} of match {last.match} was booked as" in disagreement(path, [*heard[:-1], other])
    uneven = replace(last, net={**last.net, "E": last.net["E"] + 1})
    assert f"hand {last.number} of match {last.match} does not sum to 0" in disagreement(path, [*heard[:-1], uneven])
    assert "hands were booked and" in disagreement(path, [*heard, replace(last, number=99)])


def test_a_run_without_hands_has_nothing_to_disagree_about(tmp_path: Path) -> None:
    assert disagreement(tmp_path / "no.journal", []) == ""
