"""People change places between hands (R2), and a match that was agreed for a time ends with it (R41)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from engine import events as e
from engine.match import events as m
from engine.tiles import SEATS
from tests.table.evening import bookings, check_book, failures, steps
from tests.table.harness import WholeTable

pytestmark = [pytest.mark.table, pytest.mark.timeout(400)]

CHIPS = 100
"""What everybody begins with in 比金."""


@pytest.mark.parametrize("sensing", ["none", "full"])
async def test_points_go_with_the_players_who_change_places(tmp_path: Path, sensing: str) -> None:
    """比金: after a hand that was won people swap; they sit where the throw points, with what they hold."""
    table = WholeTable(tmp_path, rules="bijin-xiamen-144", hands=3, sensing=sensing, seed=17, seats="dice")
    async with table:
        await table.ended(240)
        last = (await table.state(lambda data: data["phase"] == "ended"))["match"]

    asked: list[e.SwapAsked] = []
    moved = taken = 0
    for _, event, before, after in steps(table.journal):
        match event:
            case e.SwapAsked(seat=seat, player=player):
                assert before.session.seats[seat] == player
                asked.append(event)
            case e.SessionSaid(event=m.SeatsSwapped(player=player, dice=dice, other=other)):
                assert (player, "win") == (asked[-1].player, asked[-1].right)
                was, now = before.session.seats, after.session.seats
                pointed = SEATS[(SEATS.index(asked[-1].seat) + {2: 1, 3: 2, 0: 3, 1: 0}[sum(dice) % 4]) % 4]
                assert other == was[pointed]
                assert now == {**was, asked[-1].seat: other, pointed: player}
                assert after.session.chips == before.session.chips
                moved += now != was
            case e.SeatsTaken() if before.phase == "swapping":
                taken += 1
    assert len(asked) == taken == len({one.player for one in asked}), "each once a match"
    assert moved

    booked = bookings(table.journal)
    total = Counter[str]()
    for one in booked:
        assert not one.voided
        total.update(one.points)
    assert booked[0].seats != booked[-1].seats
    player = {seat: told["id"] for seat, told in last["players"].items()}
    assert player == booked[-1].seats
    assert last["points"] == {seat: total[player[seat]] for seat in SEATS}
    assert last["chips"] == {seat: CHIPS + total[player[seat]] for seat in SEATS}
    check_book(table.journal)
    assert failures(table) == []


async def test_a_match_by_minutes_ends_with_the_hand_in_which_its_time_is_up(tmp_path: Path) -> None:
    """Minutes pass as fast as its machine; the hand in play is played to its end and booked, no other begins."""
    async with WholeTable(tmp_path, hands=0, minutes=100, seed=11) as table:
        last = await table.ended(240)

    happened = list(steps(table.journal))
    assert happened[-1][3].minutes == 100
    (up,) = [at for at, (_, _, before, after) in enumerate(happened) if (before.minutes, after.minutes) == (99, 100)]
    (over,) = [at for at, (_, event, _, _) in enumerate(happened) if said(event, m.MatchOver)]
    begun = [at for at, (_, event, _, _) in enumerate(happened) if said(event, m.HandBegun)]
    booked = [at for at, (_, event, _, _) in enumerate(happened) if said(event, m.HandBooked)]
    assert begun[-1] < over and len(booked) == len(begun) and booked[-1] < over
    assert begun[-1] < up, "a hand was begun after the time"
    assert happened[over][1].event.why == "time"
    assert last["match"]["ended"] == "time" and last["match"]["left_min"] in (0, None)
    assert last["match"]["hand"] == len(bookings(table.journal))
    check_book(table.journal)
    assert failures(table) == []


def said(event: e.Event, kind: type) -> bool:
    """Whether the evening's book was told something of a kind."""
    return isinstance(event, e.SessionSaid) and isinstance(event.event, kind)
