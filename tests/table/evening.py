"""What an evening at a whole table came to: what its journal booked, and what the world knows of every hand."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from cli import journal_ledger
from cli.demo_records import disagreement
from cli.demo_story import Booked
from controller.journal import StoredEvent, read_events
from engine import events as e
from engine.match.events import BookingVoided, HandBooked
from engine.match.state import Booking
from engine.melds import Meld
from engine.outcome import HandEnd, Held
from engine.play import hand_end
from engine.scoring import buy_and_top
from engine.state import State, new_state
from engine.table import apply
from engine.tiles import SEATS, is_flower
from simulators import reckoner
from simulators.sight import Sight
from simulators.witness import Truth as Truth
from simulators.witness import Witness
from tests.engine.random_hands import as_question
from tests.table.harness import WholeTable

SIGHT_LIMIT = 1 << 20
IN_WORDS = {"qiangjin", "qiangshuangyou", "qianggang"}
"""Ways by which tiles change hands in words alone: the gold that is taken, the kong that is robbed."""

# --- the journal ------------------------------------------------------------------------------------------------------


def steps(journal: Path) -> Iterator[tuple[StoredEvent, e.Event, State, State]]:
    """Every event of a journal as it was stored, with the states around it."""
    state = new_state()
    for stored in read_events(journal):
        event = e.decode_event({**stored.body, "type": stored.type})
        before, state = state, apply(state, event)
        yield stored, event, before, state


def bookings(journal: Path) -> list[Booking]:
    """The hands in the book, oldest first; those taken back among them, marked."""
    last = [state for _, _, _, state in steps(journal)][-1]
    return list(last.session.book)


def standing(journal: Path) -> list[dict[str, Any]]:
    """The hands that stand in the book, as what they came to: how they ended, points and 课外 by seat."""
    return [came_to(one) for one in bookings(journal) if not one.voided]


def came_to(one: Booking) -> dict[str, Any]:
    """A hand in the book by seats."""
    return {
        "kind": one.kind,
        "dealer": one.dealer,
        "wins": [(win["seat"], win["way"]) for win in one.wins],
        "foul": one.foul,
        "net": {seat: one.points[player] for seat, player in one.seats.items()},
        "bonus": {seat: one.bonus[player] for seat, player in one.seats.items()},
        "next": one.next_dealer,
    }


def check_book(journal: Path) -> None:
    """Every hand sums to nothing; the records exported replay to what was booked, and the ledger says the same."""
    booked = []
    for one in bookings(journal):
        brought = came_to(one)
        booked.append(Booked(one.match, one.hand, one.kind, brought["net"], brought["bonus"], one.voided))
        assert sum(brought["net"].values()) == sum(brought["bonus"].values()) == 0, one
    assert booked, "nothing was booked"
    assert disagreement(journal, booked) == ""
    assert journal_ledger.disagreement(journal, bookings(journal)) == ""


def voids(journal: Path) -> int:
    """How many bookings were taken back."""
    return sum(
        isinstance(event, e.SessionSaid) and isinstance(event.event, BookingVoided) for _, event, _, _ in steps(journal)
    )


def failures(table: WholeTable) -> list[str]:
    """Lines of the daemon's log that should never be written."""
    lines = (table.folder / "daemon.err").read_text("utf-8", "replace").splitlines()
    return [line for line in lines if any(word in line for word in _FAILURES)]


_FAILURES = ('"level": "error"', '"level": "critical"', "Traceback")


def longest_wait(journal: Path) -> tuple[float, str]:
    """The longest time in seconds in which nothing happened, on the table's own clock, and in which phase that was."""
    longest, where, last = 0.0, "", None
    for stored, _, before, _ in steps(journal):
        now = (stored.epoch, stored.stamp.mono_ms)
        if last is not None and last[0] == now[0] and before.setup is not None and now[1] - last[1] > longest * 1000:
            longest, where = (now[1] - last[1]) / 1000, before.phase
        last = now
    return longest, where


# --- the world --------------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def witnessed(table: WholeTable) -> AsyncIterator[Witness]:
    """A witness of everything that lies on a table while the block runs."""
    witness = Witness()
    looking = [asyncio.create_task(_look(table, seat, witness)) for seat in SEATS]
    try:
        yield witness
    finally:
        for task in looking:
            task.cancel()
        for ended in await asyncio.gather(*looking, return_exceptions=True):
            if isinstance(ended, Exception):
                raise ended


async def _look(table: WholeTable, seat: str, witness: Witness) -> None:
    reader, writer = await asyncio.open_unix_connection(str(table.world), limit=SIGHT_LIMIT)
    try:
        writer.write(json.dumps({"act": "watch", "seat": seat}).encode() + b"\n")
        async for line in reader:
            message = json.loads(line)
            if "sight" in message:
                witness.saw(seat, Sight.model_validate(message["sight"]))
    finally:
        writer.close()


# --- both -------------------------------------------------------------------------------------------------------------


def check_against_world(table: WholeTable, witness: Witness) -> None:
    """Every hand in the book is what lay on the table: its end and points where people told them, its tiles where the
    table has read them; points are worked out by the second reckoner. Where people agreed on a hand that was read, its
    points are those of the tiles that lay there, whatever the readers said.
    """
    number = 0
    for _, event, before, after in steps(table.journal):
        if not isinstance(event, e.HandEnded):
            continue
        booking = before.session.last_booking()
        assert booking is not None
        assert number < len(witness.truths), "a hand was booked that nobody saw"
        truth = witness.truths[number]
        number += 1
        if before.reads_tiles:
            game = before.play.game
            covered = [seat for seat in SEATS if game is not None and game.seats[seat].covered]
            _check_tiles(after, truth, booking, covered)
        gold = before.play.gold.face if before.play.gold is not None else None
        end = _as_lay(before, truth, booking) if before.reads_tiles else truth.end(booking, gold or None)
        if end is None:
            (win,) = booking.wins  # eight flowers, before there was a game (R26)
            assert win["way"] == "shuanghuagang" and len(truth.flowers[win["seat"]]) == 8, booking
            continue
        buy, top = buy_and_top(booking.dealer, before.play.bids)
        end = replace(end, buy=buy, top=top)
        chips = _chips_before(before, booking)
        told = as_question(before.match.rules.name, dict(before.match.options), end) | {"chips": chips}
        want = reckoner.settle(before.match.rules.name, dict(before.match.options), told)
        found = came_to(booking)
        assert {"net": found["net"], "bonus": found["bonus"]} == {"net": want["net"], "bonus": want["bonus"]}, end
        assert sorted(found["wins"]) == sorted((win.seat, win.way) for win in end.outcome.winners), end
        assert found["kind"] == end.outcome.kind, end
        # Where tiles are read the end that is compared is the table's own, covered seats with it.
        if not before.reads_tiles and before.book is not None and before.book.closed is not None:
            assert set(before.book.closed.covered) == set(end.outcome.covered), (booking, end)
    assert number, "no hand was booked"


def _chips_before(state: State, booking: Booking) -> dict[str, int]:
    """What every seat held before the hand was booked."""
    now = state.session.chips_by_seat()
    return {seat: now[seat] - booking.points[player] for seat, player in booking.seats.items()}


def _as_lay(state: State, truth: Truth, booking: Booking) -> HandEnd | None:
    """The end as the table has read it; where people had to agree on it, with the tiles that lay there. None where the
    hand ended before its game began.
    """
    if state.play.game is None:
        return None
    end = hand_end(state.play.game, booking.steps)
    if state.book is None or {win.way for win in end.outcome.winners} & IN_WORDS:
        return end
    won = {win.seat: win.tile for win in end.outcome.winners if win.source and win.tile}
    held = {seat: _lay(truth, seat, won.get(seat)) for seat in SEATS if seat not in end.outcome.covered}
    return replace(end, held={**end.held, **held})


def _lay(truth: Truth, seat: str, won: str | None) -> Held:
    """What a seat held as it lay; the tile that it won by, where another discarded it, may not be among it."""
    concealed = [face for face in truth.hands[seat] if not is_flower(face)]
    melds = tuple(Meld(kind, tiles) for kind, tiles in truth.melds[seat])
    missing = won is not None and len(concealed) % 3 == 1
    return Held((*concealed, *((won,) if missing and won else ())), melds, truth.flowers[seat])


def _check_tiles(after: State, truth: Truth, booking: Booking, covered: Collection[str]) -> None:
    """What the table laid open at the end is what lay there; the hand of a 相公 (R39) counts for nothing."""
    assert after.result is not None
    winners = {win["seat"] for win in booking.wins}
    for seat, held in after.result.held.items():
        kinds = {win["way"] for win in booking.wins if win["seat"] == seat}
        if seat in covered:
            continue
        if kinds & {"qiangjin", "qiangshuangyou"} or "qianggang" in {win["way"] for win in booking.wins}:
            continue  # tiles change hands in words alone: the gold that is taken, the kong that is robbed
        booked = Counter(held.concealed)
        lying = Counter(face for face in truth.hands[seat] if not is_flower(face))
        claimed = 1 if booking.source and seat in winners else 0
        melds = list(truth.melds[seat])
        if len(melds) > len(held.melds) and booking.source and seat not in winners:
            # Laid for the discard that another has won by, and not taken up again.
            outbid = Counter(melds.pop()[1])
            (won,) = {win["tile"] for win in booking.wins}
            lying += outbid - Counter([won])
        assert (booked - lying).total() == claimed and not lying - booked, (seat, booking, held, truth.hands[seat])
        assert sorted((meld.kind, meld.tiles) for meld in held.melds) == sorted(melds), (seat, booking)
        assert set(held.flowers) == set(truth.flowers[seat]), (seat, booking)


def booked_events(journal: Path) -> list[HandBooked]:
    """Every booking as it happened."""
    found = []
    for _, event, _, _ in steps(journal):
        if isinstance(event, e.SessionSaid) and isinstance(event.event, HandBooked):
            found.append(event.event)
    return found
