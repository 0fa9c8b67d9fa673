"""`decide`: what an input does to a session of matches, or why it is refused (R2, R3, R41)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.chain import Refused
from engine.declared import Sheet, settle_declared
from engine.dice import DiceError, check_dice, pointed_seat
from engine.hands import golds_held
from engine.match import events as e
from engine.match import inputs as i
from engine.match.folding import apply
from engine.match.seating import must_throw, partner, seats_by_dice, swap_rights
from engine.match.state import Booking, Match
from engine.match.statistics import hands_counted
from engine.outcome import HandEnd
from engine.ruleset import RulesetError, load_ruleset
from engine.settlement import Settlement, settle_outcome
from engine.tiles import SEATS

_MOST_HANDS = 10_000
_MOST_MINUTES = 7 * 24 * 60


def decide(match: Match, happened: i.MatchInput) -> tuple[e.MatchEvent, ...]:
    """The events that an input causes, in order; Refused with a code and the rule when it is not legal now."""
    return tuple(_INPUTS[type(happened)](match, happened))


def fold(events: tuple[e.MatchEvent, ...] | list[e.MatchEvent], match: Match | None = None) -> Match:
    """The session after a run of events, from an empty one unless given."""
    current = Match() if match is None else match
    for event in events:
        current = apply(current, event)
    return current


def _start(match: Match, asked: i.StartMatch) -> list[e.MatchEvent]:
    _need(match, "match_running", "P6", "idle", "ended")
    ids = [player.id for player in asked.players]
    if len(set(ids)) != len(SEATS) or len(ids) != len(SEATS) or not all(ids):
        raise Refused("four_players", "R2")
    _check_agreed("hands", asked.hands, _MOST_HANDS)
    _check_agreed("minutes", asked.minutes, _MOST_MINUTES)
    try:
        load_ruleset(asked.rules, asked.options)
    except RulesetError as error:
        raise Refused("bad_rules", "R42", {"field": error.field, "why": str(error)}) from error
    begun = e.MatchBegun(asked.players, asked.rules, asked.options, asked.hands, asked.minutes, asked.by_dice)
    return [begun] if asked.by_dice else [begun, e.Seated(dict(zip(SEATS, ids, strict=True)))]


def _check_agreed(what: str, number: int, most: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= most:
        raise Refused("bad_number", "R41", {"what": what, "most": most})


def _throw_for_seat(match: Match, thrown: i.ThrowForSeat) -> list[e.MatchEvent]:
    _need(match, "not_asked", "R2", "seating")
    players = [player.id for player in match.players]
    if thrown.player not in must_throw(players, match.rolls):
        raise Refused("not_your_throw", "R2", {"player": thrown.player})
    found: list[e.MatchEvent] = [e.SeatThrown(thrown.player, _dice(thrown.dice))]
    rolls = apply(match, found[0]).rolls
    if not must_throw(players, rolls):
        found.append(e.Seated(seats_by_dice(players, rolls)))
    return found


def _throw_for_dealer(match: Match, thrown: i.ThrowForDealer) -> list[e.MatchEvent]:
    _need(match, "not_asked", "R3", "dealer")
    allowed = ("E",) if match.rules.first_dealer == "east_rolls" else SEATS
    if thrown.seat not in allowed:
        raise Refused("not_your_throw", "R3", {"player": thrown.seat})
    dice = _dice(thrown.dice)
    return [e.DealerThrown(thrown.seat, dice, pointed_seat(thrown.seat, dice))]


def _begin_hand(match: Match, _: i.BeginHand) -> list[e.MatchEvent]:
    _need(match, "not_between_hands", "P6", "between")
    return [e.HandBegun(match.hand + 1)]


def _book_played(match: Match, booked: i.BookPlayed) -> list[e.MatchEvent]:
    _need(match, "no_hand", "P6", "playing")
    _check_deal(match, booked.end)
    golds = {seat: golds_held(held.concealed, booked.end.gold) for seat, held in booked.end.held.items()}
    settled = settle_outcome(match.rules, booked.end, match.chips_by_seat())
    return _booked(match, booked.end, settled, golds)


def _book_declared(match: Match, booked: i.BookDeclared) -> list[e.MatchEvent]:
    _need(match, "no_hand", "P6", "playing")
    sheet: Sheet = booked.sheet
    _check_deal(match, sheet.end)
    if sheet.rules != match.rules:
        raise Refused("other_rules", "R42")
    return _booked(match, sheet.end, settle_declared(sheet, match.chips_by_seat()), sheet.known_golds)


def _check_deal(match: Match, end: HandEnd) -> None:
    if (end.dealer, end.steps) != (match.dealer, match.steps):
        raise Refused("other_deal", "R3", {"seat": match.dealer, "steps": match.steps})


def _booked(match: Match, end: HandEnd, settled: Settlement, golds: Mapping[str, int]) -> list[e.MatchEvent]:
    booking = Booking(
        match=match.match,
        hand=match.hand,
        seats=match.seats,
        dealer=end.dealer,
        steps=end.steps,
        kind=end.outcome.kind,
        wins=tuple(
            {"seat": w.seat, "way": w.way, "golds": golds.get(w.seat), "tile": w.tile} for w in end.outcome.winners
        ),
        source=next((win.source for win in end.outcome.winners if win.source is not None), None),
        foul=end.outcome.foul.seat if end.outcome.foul else None,
        points={match.seats[seat]: amount for seat, amount in settled.net.items()},
        bonus={match.seats[seat]: amount for seat, amount in settled.bonus.items()},
        transfers=settled.transfers,
        next_dealer=settled.dealer,
        next_steps=settled.steps,
    )
    found: list[e.MatchEvent] = [e.HandBooked(booking)]
    over = _over(apply(match, found[0]))
    return [*found, e.MatchOver(over)] if over else found


def _over(match: Match) -> str:
    """R41: why the match is over after a booking; empty while it goes on. A void hand is dealt again (R38)."""
    agreement = match.agreement
    assert agreement is not None
    if not match.rules.debt and any(held <= 0 for held in match.chips.values()):
        return "empty"
    if agreement.hands and hands_counted(match) >= agreement.hands:
        return "hands"
    return match.ending


def _take_back(match: Match, asked: i.TakeBack) -> list[e.MatchEvent]:
    _need(match, "cannot_undo", "P5", "between", "ended")
    last = match.last_booking()
    if last is None or last.hand != match.hand:
        raise Refused("cannot_undo", "P5")
    return [e.BookingVoided(last.hand, asked.why)]


def _swap(match: Match, asked: i.Swap) -> list[e.MatchEvent]:
    if asked.right not in swap_rights(match, asked.player):
        raise Refused("no_swap", "R2", {"player": asked.player})
    dice = _dice(asked.dice)
    return [e.SeatsSwapped(asked.player, asked.right, dice, partner(match, asked.player, dice))]


def _extend(match: Match, asked: i.Extend) -> list[e.MatchEvent]:
    _check_agreed("hands", asked.hands, _MOST_HANDS)
    _check_agreed("minutes", asked.minutes, _MOST_MINUTES)
    if match.agreement is None or match.phase in ("idle", "ended"):
        raise Refused("no_match", "P6")
    if (asked.hands and not match.agreement.hands) or (asked.minutes and not match.agreement.minutes):
        raise Refused("no_limit", "P6")
    return [e.MatchExtended(asked.hands, asked.minutes)] if asked.hands or asked.minutes else []


def _time_up(match: Match, _: i.TimeUp) -> list[e.MatchEvent]:
    return _stop(match, "time")


def _end(match: Match, _: i.EndMatch) -> list[e.MatchEvent]:
    return _stop(match, "agreed")


def _stop(match: Match, why: str) -> list[e.MatchEvent]:
    if match.phase in ("idle", "ended"):
        raise Refused("no_match", "P6")
    if match.phase != "playing":
        return [e.MatchOver(why)]
    return [] if match.ending else [e.MatchEnding(why)]


def _need(match: Match, code: str, rule: str, *phases: str) -> None:
    """Refused with the code and the rule in every other phase."""
    if match.phase not in phases:
        raise Refused(code, rule)


def _dice(value: object) -> tuple[int, int]:
    try:
        return check_dice(value)
    except DiceError as error:
        raise Refused("bad_value", "R1", {"field": "dice", "why": str(error)}) from error


_INPUTS: Mapping[type[Any], Callable[[Match, Any], list[e.MatchEvent]]] = {
    i.StartMatch: _start,
    i.ThrowForSeat: _throw_for_seat,
    i.ThrowForDealer: _throw_for_dealer,
    i.BeginHand: _begin_hand,
    i.BookPlayed: _book_played,
    i.BookDeclared: _book_declared,
    i.TakeBack: _take_back,
    i.Swap: _swap,
    i.Extend: _extend,
    i.TimeUp: _time_up,
    i.EndMatch: _end,
}
