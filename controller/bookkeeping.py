"""What of the evening goes into the ledger: sessions, matches, hands, and what was taken back of them.

Called with what one transaction stores, before it is stored; what it gives goes into that transaction. Tiles, names of
ways to hold them and anything else that only one seat knows are not in any row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from controller.clock import Stamp
from controller.ledger import LedgerEntry, LedgerState, Mark, NewRow, Ref, Running, Unsynced
from controller.publisher import Step
from engine.events import SessionSaid
from engine.match import events as m
from engine.match.state import Booking, Match

Seal = Callable[[Mapping[str, Any]], bytes]
"""Puts the data of a row into the envelope in which it will be said, always the same."""

By = Literal["parlor", "match"]

_OF_A_MATCH: Final = "match"


class Bookkeeper:
    """Numbers the rows of one journal in one epoch. `elapsed_ms`: how long the table was on since the state's mark.

    What it gives counts once it is stored (`stored`): a transaction that fails leaves numbers and times as they were,
    and no other may be made meanwhile.
    """

    def __init__(self, journal: str, epoch: int, state: LedgerState, elapsed_ms: int) -> None:
        self._journal = journal
        self._elapsed_ms = elapsed_ms
        self._from_mono_ms = 0
        self._restarts = max(0, epoch - state.mark.epoch) if state.mark.epoch else 0
        # Under a new id, numbers begin anew: what an older journal has given is not given again.
        self.state = state if state.journal == journal else replace(state, journal=journal, last=0)

    @property
    def in_use(self) -> str:
        """Who has taken the table into use: `parlor`, `match`, or nobody (empty)."""
        return self.state.opened

    def stored(self, entry: LedgerEntry) -> None:
        """An entry is on the disk."""
        self.state = entry.state
        self._elapsed_ms, self._from_mono_ms, self._restarts = 0, entry.state.mark.mono_ms, 0

    def booked(self, steps: Sequence[Step], stamp: Stamp, seal: Seal, barely: bool = False) -> LedgerEntry | None:
        """The entry for what has happened at the table; None where it concerns no ledger.

        `barely`: who played, won and lost how much, and nothing that a row can do without.
        """
        said = [step for step in steps if isinstance(step.event, SessionSaid) and _concerns(step.event.event)]
        if not said:
            return None
        page = self._page(stamp, seal, barely)
        for step in said:
            assert isinstance(step.event, SessionSaid)
            page.enter(step.event.event, step)
        return page.entry()

    def open(self, stamp: Stamp, seal: Seal) -> LedgerEntry | None:
        """The parlor opens the table; None where it is open."""
        if self.state.opened:
            return None
        page = self._page(stamp, seal)
        page.begin_session("parlor")
        return page.entry()

    def close(self, stamp: Stamp, seal: Seal) -> LedgerEntry | None:
        """The parlor closes the table; None where it is not open."""
        if not self.state.opened:
            return None
        page = self._page(stamp, seal)
        page.end_session("parlor")
        return page.entry()

    def mended(
        self, found: Sequence[Unsynced], zeros: Mapping[int, int], stamp: Stamp, seal: Seal
    ) -> LedgerEntry | None:
        """Clocks of epochs are known now (`zeros`): rows that were said without one get their true time by a row each;
        None where there are none.
        """
        known = [one for one in found if one.epoch in zeros]
        if not known:
            return None
        page = self._page(stamp, seal)
        for one in known:
            told = {"epoch": one.epoch, "zero_ts": zeros[one.epoch], "journal": one.journal}
            page.row({"kind": "clock", **told, "first": one.first, "last": one.last})
        return replace(page.entry(), zeros=tuple((one.epoch, zeros[one.epoch]) for one in known))

    def _page(self, stamp: Stamp, seal: Seal, barely: bool = False) -> _Page:
        """A new page, what runs brought up to this moment."""
        ms, restarts = self._elapsed_ms + max(0, stamp.mono_ms - self._from_mono_ms), self._restarts

        def on(one: Running) -> Running:
            return Running(one.ms + ms, one.restarts + restarts)

        state = replace(
            self.state,
            mark=Mark(mono_ms=stamp.mono_ms),
            of_hand=on(self.state.of_hand),
            of_match=on(self.state.of_match),
            of_session=on(self.state.of_session),
        )
        return _Page(self._journal, state, seal, barely)


class _Page:
    """The rows of one transaction, and the state that they lead to."""

    def __init__(self, journal: str, state: LedgerState, seal: Seal, barely: bool = False) -> None:
        self.state = state
        self._barely = barely
        self._journal = journal
        self._seal = seal
        self._rows: list[NewRow] = []

    def entry(self) -> LedgerEntry:
        """What is to be stored."""
        return LedgerEntry(tuple(self._rows), self.state)

    def enter(self, event: m.MatchEvent, step: Step) -> None:
        """What one event of the session brings."""
        after = step.after.session
        match event:
            case m.MatchBegun():
                self._begin_match(after, event.options)
            case m.HandBegun():
                self.state = replace(self.state, of_hand=Running())
            case m.HandBooked(booking=booking):
                self._known_match(step)
                number = self.row(self._hand(booking))
                self.state = replace(self.state, booked=number, ended=None, closed=None)
            case m.BookingVoided(hand=hand):
                self._void(step.before.session.match, hand)
            case m.MatchOver(why=why):
                self._known_match(step)
                number = self.row(self._match_ended(after, why))
                self.state = replace(self.state, ended=number)
                if self.state.opened == _OF_A_MATCH:
                    self.end_session("match")

    def _known_match(self, step: Step) -> None:
        """A match that began before there was a ledger begins in it now."""
        session = step.after.session
        if self.state.match != session.match:
            setup = step.after.setup
            self._begin_match(session, {} if setup is None else setup.options)

    def _begin_match(self, session: Match, options: Mapping[str, Any]) -> None:
        if not self.state.opened:
            self.begin_session("match")
        agreement = session.agreement
        assert agreement is not None
        begun = {
            "kind": "match_begun",
            "session": self.state.session,
            "match": session.match,
            "rules": agreement.rules.name,
            "options": {} if self._barely else dict(options),
            "hands": agreement.hands,
            "minutes": agreement.minutes,
            "players": [
                {"id": player.id, "name": "" if self._barely else player.name[:64]} for player in session.players
            ],
        }
        self.row(begun)
        self.state = replace(
            self.state,
            match=session.match,
            matches=self.state.matches + 1,
            booked=None,
            ended=None,
            closed=None,
            of_match=Running(),
            of_hand=Running(),
        )

    def _hand(self, one: Booking) -> dict[str, Any]:
        lasted = self.state.of_hand
        return {
            "kind": "hand",
            "session": self.state.session,
            "match": one.match,
            "hand": one.hand,
            "result": one.kind,
            "seats": dict(one.seats),
            "dealer": one.dealer,
            "steps": one.steps,
            **({} if self._barely else self._how(one)),
            "points": dict(one.points),
            "bonus": dict(one.bonus),
            "next_dealer": one.next_dealer,
            "duration_ms": lasted.ms,
            "restarts": lasted.restarts,
        }

    def _how(self, one: Booking) -> dict[str, Any]:
        wins = [{"seat": win["seat"], "way": win["way"]} for win in one.wins]
        return {"wins": wins, "source": one.source, "foul": one.foul}

    def _match_ended(self, session: Match, why: str) -> dict[str, Any]:
        standing = [one for one in session.book if one.match == session.match and not one.voided]
        players = [player.id for player in session.players]
        lasted = self.state.of_match
        return {
            "kind": "match_ended",
            "session": self.state.session,
            "match": session.match,
            "why": why,
            "hands": len(standing),
            "points": {player: sum(one.points.get(player, 0) for one in standing) for player in players},
            "bonus": {player: session.bonus.get(player, 0) for player in players},
            "chips": {player: session.chips.get(player, 0) for player in players},
            "duration_ms": lasted.ms,
            "restarts": lasted.restarts,
        }

    def _void(self, match: int, hand: int) -> None:
        """A booking is taken back, and with it the end of what it had ended: the newest first."""
        state = self.state
        told = {"kind": "void", "session": state.session, "match": match, "hand": hand}
        for what, row in (("session_ended", state.closed), ("match_ended", state.ended), ("hand", state.booked)):
            if row is not None:
                self.row({**told, "what": what}, row)
        if state.closed is not None:
            self.state = replace(self.state, opened=_OF_A_MATCH)
        self.state = replace(self.state, booked=None, ended=None, closed=None)

    def begin_session(self, by: By) -> None:
        """The table is taken into use."""
        session = self.state.session + 1
        self.state = replace(
            self.state, session=session, opened=by, matches=0, closed=None, of_session=Running(), of_match=Running()
        )
        self.row({"kind": "session_begun", "session": session, "by": by})

    def end_session(self, by: By) -> None:
        """The table is free again."""
        lasted = self.state.of_session
        ended = {
            "kind": "session_ended",
            "session": self.state.session,
            "by": by,
            "matches": self.state.matches,
            "duration_ms": lasted.ms,
            "restarts": lasted.restarts,
        }
        number = self.row(ended)
        self.state = replace(self.state, opened="", closed=number)

    def row(self, record: Mapping[str, Any], voids: Ref | None = None) -> Ref:
        """One row more."""
        number = self.state.last + 1
        self.state = replace(self.state, last=number)
        named = None if voids is None else {"journal": voids.journal, "number": voids.number}
        data = {"journal": self._journal, "number": number, "voids": named, "record": dict(record)}
        self._rows.append(NewRow(self._journal, number, self._seal(data).decode()))
        return Ref(self._journal, number)

def _concerns(event: m.MatchEvent) -> bool:
    return isinstance(event, m.MatchBegun | m.HandBegun | m.HandBooked | m.BookingVoided | m.MatchOver)
