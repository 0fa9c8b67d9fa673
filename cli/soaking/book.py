"""The journal as the soak reads it beside the daemon: folded as it grows, each hand reckoned a second time.

Nothing here asks the daemon anything. What is found to be wrong is said in a sentence; nothing wrong is an empty text.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine import events as e
from engine.match.events import BookingVoided, HandBooked
from engine.match.state import Booking
from engine.outcome import HandEnd
from engine.play import hand_end
from engine.scoring import buy_and_top
from engine.state import State, new_state
from engine.table import apply
from engine.tiles import SEATS, sort_tiles
from simulators.reckoning import reckoned
from simulators.witness import Witness

FACTS_KEPT = 20_000
"""Public facts of which it is known to which hand they belong."""


class Wrong(Exception):
    """Something that must never be: the message says what."""


@dataclass
class Shoulders:
    """One hand as the table has read it (sensing full): what each seat held, sorted, and the sides of the wall."""

    held: dict[str, set[tuple[str, ...]]] = field(default_factory=lambda: {seat: set() for seat in SEATS})
    sides: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Ended:
    """A hand that has just been booked, with the state before its tiles went."""

    booking: Booking
    before: State
    wall: int


class Book:
    """Follows one journal. `state` is the table after event `n`; `shoulders` the hands by the number of their walls."""

    def __init__(self, journal: Path) -> None:
        self.journal = journal
        self.state: State = new_state()
        self.n = 0
        self.counts: Counter[str] = Counter()
        self.shoulders: dict[int, Shoulders] = {}
        self.walls = 0
        self._wall_at: list[tuple[int, int]] = []
        self._ended: list[_Ended] = []
        self._standing: set[tuple[int, int]] = set()
        self._told_at: dict[int, tuple[int, str]] = {0: (0, "")}
        self._phases: dict[int, str] = {}
        self._last_seq = 0

    @property
    def hands(self) -> int:
        """Hands that are over."""
        return self.counts["HandEnded"]

    def read(self) -> int:
        """Fold what was stored since; how many events that were. Wrong when they do not follow."""
        before = self.n
        if not self.journal.exists():
            return 0
        with self._connected() as connection:
            for n, kind, body in self._rows(connection):
                if n != self.n + 1:
                    raise Wrong(f"the journal has no event {self.n + 1}, {n} follows {self.n}")
                self._fold(n, kind, body)
            for seq, n in self._facts(connection):
                self._last_seq, self._told_at[seq] = seq, (self.wall_at(n), self._phases.get(n, ""))
                self._told_at.pop(seq - FACTS_KEPT, None)
        return self.n - before

    def check(self, witness: Witness) -> int:
        """Hands that were booked since: each comes to what it should, by the second reckoner; how many were reckoned.

        Wrong names the hand and both sums.
        """
        ended, self._ended = self._ended, []
        return sum(self._check(one, witness) for one in ended)

    def quick_check(self) -> None:
        """Wrong when SQLite finds something wrong with the file."""
        with self._connected() as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise Wrong(f"the journal is damaged: {found}")

    async def check_whole(self, folder: Path) -> None:
        """With the daemon gone: the file opens as the daemon would open it, and folds to the very same state."""
        from controller.journal import JournalError, open_journal
        from controller.startup import fold_events, thaw

        folder.mkdir(parents=True, exist_ok=True)
        for part in self.journal.parent.glob(f"{self.journal.name}*"):
            if part.is_file() and not part.name.endswith(".lock"):
                shutil.copy(part, folder / part.name)
        try:
            journal, state = open_journal(folder / self.journal.name, fold_events, thaw)
        except JournalError as error:
            raise Wrong(f"the journal does not open: {error}") from None
        await journal.close()
        if journal.opening.damaged is not None:
            raise Wrong(f"the journal would be put aside: {journal.opening.reason}")
        if state != self.state:
            raise Wrong("the journal folds to another state than it did while it was written")

    def shown(self, seq: int) -> Shoulders | None:
        """The hand that a message under this number of a public fact speaks of; None where it is too long ago."""
        return self.shoulders.get(self.wall_shown(seq))

    def wall_shown(self, seq: int) -> int:
        """How many walls had risen when this public fact was said; 0 where it is too long ago."""
        return self._told_at.get(seq, (0, ""))[0]

    def phase_shown(self, seq: int) -> str:
        """The phase after the event of this public fact; empty where it is too long ago."""
        return self._told_at.get(seq, (0, ""))[1]

    def wall_at(self, n: int) -> int:
        """How many walls had risen at event `n`."""
        return next((wall for at, wall in reversed(self._wall_at) if at <= n), 0)

    def last_seq(self) -> int:
        """The number of the last public fact that was read."""
        return self._last_seq

    # --- within -------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(f"file:{self.journal}?mode=ro", uri=True, timeout=10)
        try:
            yield connection
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise Wrong(f"the journal cannot be read: {error}") from None
        except sqlite3.DatabaseError as error:
            raise Wrong(f"the journal cannot be read: {error}") from None
        finally:
            connection.close()

    def _rows(self, connection: sqlite3.Connection) -> Iterator[tuple[int, str, str]]:
        try:
            yield from connection.execute("SELECT n, type, body FROM events WHERE n > ? ORDER BY n", (self.n,))
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise

    def _facts(self, connection: sqlite3.Connection) -> Iterator[tuple[int, int]]:
        try:
            yield from connection.execute(
                "SELECT seq, n FROM published WHERE seq > ? AND n <= ? ORDER BY seq", (self._last_seq, self.n)
            )
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise

    def _fold(self, n: int, kind: str, body: str) -> None:
        try:
            event = e.decode_event({**json.loads(body), "type": kind})
            before, after = self.state, apply(self.state, event)
        except Exception as error:
            raise Wrong(f"event {n} ({kind}) does not follow: {type(error).__name__}: {error}") from None
        self.n, self.state = n, after
        self.counts[kind] += 1
        self._phases[n] = after.phase
        self._phases.pop(n - FACTS_KEPT, None)
        match event:
            case e.WallsRaised():
                self.walls += 1
                self._wall_at.append((n, self.walls))
                self.shoulders[self.walls] = Shoulders()
                self.shoulders.pop(self.walls - 4, None)
            case e.WallRead() if self.walls:
                self.shoulders[self.walls].sides.append(" ".join(event.tiles))
            case e.HandEnded():
                booking = before.session.last_booking()
                if booking is None:
                    raise Wrong(f"event {n}: a hand has ended and is in no book")
                self._ended.append(_Ended(booking, before, self.walls))
            case e.SessionSaid(event=HandBooked(booking=booked)):
                self.counts["booked"] += 1
                self._book(booked)
            case e.SessionSaid(event=BookingVoided(hand=hand)):
                self.counts["voided"] += 1
                self._standing.discard((before.session.match, hand))
        game = after.play.game
        if game is not None and self.walls and game is not (before.play.game):
            for seat in SEATS:
                self.shoulders[self.walls].held[seat].add(tuple(sort_tiles(game.seats[seat].hand)))

    def _book(self, booking: Booking) -> None:
        key = (booking.match, booking.hand)
        if key in self._standing:
            raise Wrong(f"hand {booking.hand} of match {booking.match} was settled twice")
        if booking.hand > 1 and (booking.match, booking.hand - 1) not in self._standing:
            raise Wrong(f"hand {booking.hand} of match {booking.match} was settled, the one before it was not")
        self._standing.add(key)
        for name, sums in (("points", booking.points), ("bonus", booking.bonus)):
            if sum(sums.values()):
                raise Wrong(f"hand {booking.hand} of match {booking.match}: its {name} come to {sum(sums.values())}")

    def _check(self, ended: _Ended, witness: Witness) -> int:
        before, booking = ended.before, ended.booking
        end = self._end(ended, witness)
        if end is None:
            return 0
        buy, top = buy_and_top(booking.dealer, before.play.bids)
        end = replace(end, buy=buy, top=top)
        now = before.session.chips_by_seat()
        chips = {seat: now[seat] - booking.points[player] for seat, player in booking.seats.items()}
        want = reckoned(before.match.rules.name, before.match.options, end, chips)
        for name, sums in (("net", booking.points), ("bonus", booking.bonus)):
            found = {seat: sums[player] for seat, player in booking.seats.items()}
            if found != want[name]:
                raise Wrong(
                    f"hand {booking.hand} of match {booking.match} was booked as {name} {_sum(found)}, "
                    f"it comes to {_sum(want[name])}: {end}"
                )
        return 1

    def _end(self, ended: _Ended, witness: Witness) -> HandEnd | None:
        """How the hand ended: as the table read it, or as those saw it who played it; None where nobody can know."""
        before, booking = ended.before, ended.booking
        if before.reads_tiles:
            game = before.play.game
            return None if game is None or before.book is not None else hand_end(game, booking.steps)
        if not 0 < ended.wall <= len(witness.truths):
            raise Wrong(f"hand {booking.hand} of match {booking.match} was booked, and nobody saw it played")
        truth = witness.truths[ended.wall - 1]
        if truth.over.keys() != set(SEATS):
            return None
        gold = before.play.gold.face if before.play.gold is not None else None
        end = truth.end(booking, gold or None)
        told = sorted((win["seat"], win["way"]) for win in booking.wins)
        seen = sorted((win.seat, win.way) for win in end.outcome.winners)
        if (booking.kind, told) != (end.outcome.kind, seen):
            raise Wrong(
                f"hand {booking.hand} of match {booking.match} was booked as {booking.kind} {told}, "
                f"it was {end.outcome.kind} {seen}"
            )
        return end


def _sum(points: Any) -> str:
    return " ".join(f"{seat} {points.get(seat, 0):+d}" for seat in SEATS)
