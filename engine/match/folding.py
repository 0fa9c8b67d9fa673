"""`apply`: how each event changes a session of matches. Total for every event that `decide` made on that state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from engine.match import events as e
from engine.match.state import Agreement, Match
from engine.ruleset import load_ruleset
from engine.tiles import SEATS


def apply(match: Match, event: e.MatchEvent) -> Match:
    """The session after an event."""
    changed: Match = _FOLDS[type(event)](match, event)
    return changed


def _begun(match: Match, event: e.MatchBegun) -> Match:
    rules = load_ruleset(event.rules, event.options)
    ids = [player.id for player in event.players]
    return Match(
        agreement=Agreement(rules, event.hands, event.minutes),
        phase="seating",
        match=match.match + 1,
        players=event.players,
        chips=dict.fromkeys(ids, rules.chips),
        bonus=dict.fromkeys(ids, 0),
        book=match.book,
        past=match.past,
        before=match.before,
    )


def _seat_thrown(match: Match, event: e.SeatThrown) -> Match:
    thrown = (*match.rolls.get(event.player, ()), event.dice)
    return replace(match, rolls={**match.rolls, event.player: thrown})


def _seated(match: Match, event: e.Seated) -> Match:
    return replace(match, seats=event.seats, phase="dealer")


def _dealer_thrown(match: Match, event: e.DealerThrown) -> Match:
    return replace(match, deal=match.seats[event.dealer], phase="between")


def _hand_begun(match: Match, event: e.HandBegun) -> Match:
    return replace(match, hand=event.hand, phase="playing")


def _booked(match: Match, event: e.HandBooked) -> Match:
    one = event.booking
    return replace(
        match,
        phase="between",
        chips=_sum(match.chips, one.points, 1),
        bonus=_sum(match.bonus, one.bonus, 1),
        deal=one.seats[one.next_dealer],
        steps=one.next_steps,
        book=(*match.book, one),
        swapped=False,
        swaps_booked=len(match.swaps_used),
    )


def _voided(match: Match, event: e.BookingVoided) -> Match:
    """The hand is open again, everybody sits where he sat in it, and who has swapped seats since may do so again.

    A match that was ended by word or by the clock ends again with the hand.
    """
    one = match.last_booking()
    assert one is not None
    stopped = match.ended if match.ended in ("time", "agreed") else ""
    return replace(
        match,
        phase="playing",
        seats=one.seats,
        swaps_used=match.swaps_used[: match.swaps_booked] if match.swapped else match.swaps_used,
        swapped=False,
        chips=_sum(match.chips, one.points, -1),
        bonus=_sum(match.bonus, one.bonus, -1),
        deal=one.seats[one.dealer],
        steps=one.steps,
        book=tuple(replace(kept, voided=True) if kept is one else kept for kept in match.book),
        ending=match.ending or stopped,
        ended="",
    )


def _swapped(match: Match, event: e.SeatsSwapped) -> Match:
    swap = {event.player: event.other, event.other: event.player}
    return replace(
        match,
        seats={seat: swap.get(match.seats[seat], match.seats[seat]) for seat in SEATS},
        swaps_used=(*match.swaps_used, (event.player, event.right)),
        swapped=True,
    )


def _extended(match: Match, event: e.MatchExtended) -> Match:
    assert match.agreement is not None
    old = match.agreement
    agreement = Agreement(old.rules, old.hands + event.hands, old.minutes + event.minutes)
    # Time that had run out runs on; what the players agreed stays agreed.
    return replace(match, agreement=agreement, ending="" if match.ending == "time" and event.minutes else match.ending)


def _ending(match: Match, event: e.MatchEnding) -> Match:
    return replace(match, ending=event.why)


def _over(match: Match, event: e.MatchOver) -> Match:
    return replace(match, phase="ended", ended=event.why)


def _sum(held: Mapping[str, int], change: Mapping[str, int], sign: int) -> dict[str, int]:
    return {player: amount + sign * change[player] for player, amount in held.items()}


_FOLDS: Mapping[type[Any], Callable[[Match, Any], Match]] = {
    e.MatchBegun: _begun,
    e.SeatThrown: _seat_thrown,
    e.Seated: _seated,
    e.DealerThrown: _dealer_thrown,
    e.HandBegun: _hand_begun,
    e.HandBooked: _booked,
    e.BookingVoided: _voided,
    e.SeatsSwapped: _swapped,
    e.MatchExtended: _extended,
    e.MatchEnding: _ending,
    e.MatchOver: _over,
}
