"""How play, the book, bookings and seats change the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine import book as books
from engine import events as e
from engine import match as matches
from engine import play as plays
from engine.book import sheet_of
from engine.changing import replace
from engine.dealing import make_deal, places_left
from engine.folding.shared import attempts_now, of_sorting, with_play, zone_shown
from engine.match.events import BookingVoided
from engine.match.statistics import trimmed
from engine.outcome import Held
from engine.play import Action
from engine.play import events as p
from engine.play.state import fresh
from engine.scoring import buy_and_top
from engine.state import (
    HandState,
    Result,
    State,
    Undoable,
    gone_from_wall,
)


def _session(state: State, event: e.SessionSaid) -> State:
    session = trimmed(matches.apply(state.session, event.event))
    moved = session.seats != state.session.seats
    kept = {} if isinstance(event.event, BookingVoided) else state.came_from
    came_from = (state.session.seats or session.seats) if moved else kept
    dealer = session.dealer if session.seats and session.deal else ""
    return replace(state, session=session, came_from=came_from, dealer=dealer)


def _book(state: State, event: e.BookSaid) -> State:
    book = books.apply(state.book or books.blank(state.match.rules), event.event)
    turned = state.book is None or book.stage != state.book.stage
    return replace(state, book=book, book_turn=state.book_turn + turned)


def _play_begun(state: State, _: e.PlayBegun) -> State:
    hand, gold = state.play, state.play.gold
    assert gold is not None and hand.lines is not None
    gone = gone_from_wall(state)
    flips = sum(1 for passed in hand.passed if passed.why == "flower")
    deal = make_deal(
        state.match.rules,
        state.dealer,
        hand.lines,
        gone,
        hand.wall,
        hand.hands,
        hand.flowers,
        flipped=gold.tile,
        flips=flips,
    )
    places = places_left(hand.lines, gone)
    return with_play(replace(state, phase="opening"), game=fresh(deal), places=places, entries=(), beat=0)


def _seat_played(state: State, event: e.SeatPlayed) -> State:
    action = Action(event.name, event.tile, event.tiles, event.way, event.kind, event.reason)
    return with_play(state, entries=(*state.play.entries, (event.seat, action)), refused=None)


def _window_time_up(state: State, _: e.WindowTimeUp) -> State:
    return with_play(state, entries=(*state.play.entries, None))


_NO_BEAT = (p.ClaimAnswered, p.NoFlowers, p.DealerFollowed, p.SeatCovered)
"""Events of play behind which everybody is asked what he was asked before."""


def _played(state: State, event: e.Played) -> State:
    hand = state.play
    assert hand.game is not None
    game = plays.apply(hand.game, event.event)
    beat = hand.beat + (not isinstance(event.event, _NO_BEAT))
    phase = "opening" if game.phase == "opening" else "play"
    return with_play(replace(state, phase=phase), game=game, beat=beat)


def _answered(state: State, seat: str, zone: str) -> State:
    """What was asked, told and said of a zone is over."""
    at = (seat, zone)
    return with_play(
        state,
        doubted=tuple(one for one in state.play.doubted if one != at),
        told=tuple(one for one in state.play.told if one != at),
        rulings=tuple(one for one in state.play.rulings if one[1:3] != at),
    )


def _zone_accepted(state: State, event: e.ZoneAccepted) -> State:
    state = _answered(state, event.seat, event.zone)
    return zone_shown(state, event.seat, event.zone, event.tiles, corrected=True)


def _wall_corrected(state: State, event: e.WallCorrected) -> State:
    """The wall as it is now; a game in play is dealt from it anew, as nobody has seen what changed."""
    hand = state.play
    wall = {**hand.wall, **dict(event.tiles)}
    game = hand.game
    if game is not None:
        faces = tuple(wall[position] for position in hand.places)
        game = game.but(deal=replace(game.deal, wall=faces))
    return with_play(state, wall=wall, game=game, corrected=True)


def _count_doubted(state: State, event: e.CountDoubted) -> State:
    at, play = (event.seat, event.zone), state.play
    return with_play(state, doubted=(*play.doubted, at), asks={**play.asks, at: play.asks.get(at, 0) + 1})


def _count_right(state: State, event: e.CountRight) -> State:
    return _answered(state, event.seat, event.zone)


def _count_told(state: State, event: e.CountTold) -> State:
    return with_play(state, told=(*state.play.told, (event.seat, event.zone)))


def _count_ruled(state: State, event: e.CountRuled) -> State:
    others = tuple(one for one in state.play.rulings if one[:3] != (event.by, event.seat, event.zone))
    return with_play(state, rulings=(*others, (event.by, event.seat, event.zone, event.ruling)))


def _end_doubted(state: State, event: e.EndDoubted) -> State:
    return with_play(state, doubted_end=event.seats)


def _call_off_asked(state: State, event: e.CallOffAsked) -> State:
    return with_play(state, called_off=(*state.play.called_off, event.seat))


def _call_off_kept(state: State, _: e.CallOffKept) -> State:
    return with_play(state, called_off=(), calls_off=state.play.calls_off + 1)


def _discard_refused(state: State, event: e.DiscardRefused) -> State:
    return with_play(state, refused=(event.seat, event.tile, event.code, event.rule))


def _hand_ended(state: State, event: e.HandEnded) -> State:
    gold = state.play.gold
    history = state.gold_history
    if gold is not None and gold.face:
        history = (*history, gold.face)[-2:]
    felt = tuple("felt" if where == "up" else where for where in state.sets)
    booking = state.session.last_booking()
    dealt = booking.dealer if booking is not None else state.dealer
    return replace(
        state,
        phase="sorting",
        hand=state.hand + 1,
        dealer=event.next_dealer,
        streak=event.streak,
        sets=felt,
        attempts={},
        gold_history=history,
        result=Result(state.hand, event.winner, event.way, dealt, booking, _held(state)),
        undoable=Undoable(state.hand, dealt, state.streak, _sheet(state)),
        book=None,
        play=HandState(),
        problems=of_sorting(state),
    )


def _held(state: State) -> Mapping[str, Held]:
    """What lies open when a hand is over: what was read, or what people have entered tile by tile."""
    if state.book is not None and state.book.closed is not None:
        sheet = state.book.closed
        return {seat: sheet.seats[seat].held(sheet.gold) for seat in sheet.shown}
    if state.play.game is not None and state.play.game.outcome is not None:
        return plays.held(state.play.game)
    return {}


def _sheet(state: State) -> Any:
    if state.book is not None and state.book.closed is not None:
        return state.book.closed
    if state.play.game is not None and state.play.game.outcome is not None:
        booking = state.session.last_booking()
        steps = booking.steps if booking is not None else 0
        buy, top = buy_and_top(state.play.game.deal.dealer, state.play.bids)
        return sheet_of(state.match.rules, plays.hand_end(state.play.game, steps, buy, top))
    return None


def _undo_asked(state: State, event: e.UndoAsked) -> State:
    assert state.undoable is not None
    return replace(state, undoable=replace(state.undoable, asked_by=(*state.undoable.asked_by, event.seat)))


def _undo_kept(state: State, _: e.UndoKept) -> State:
    assert state.undoable is not None
    return replace(state, undoable=replace(state.undoable, asked_by=(), times=state.undoable.times + 1))


def _end_asked(state: State, event: e.EndAsked) -> State:
    return replace(state, end_asked=(*state.end_asked, event.seat))


def _end_kept(state: State, _: e.EndKept) -> State:
    return replace(state, end_asked=(), end_times=state.end_times + 1)


def _reopened(state: State, _: e.HandReopened) -> State:
    assert state.undoable is not None
    undoable = replace(state.undoable, asked_by=(), times=state.undoable.times + 1)
    back = "sorting" if state.phase == "ended" else state.phase
    dealer, streak = undoable.dealer, undoable.streak
    return replace(state, phase="settle", back=back, undoable=undoable, ending=False, dealer=dealer, streak=streak)


def _rebooked(state: State, event: e.HandRebooked) -> State:
    booking = state.session.last_booking()
    assert booking is not None and state.undoable is not None and state.result is not None
    win = booking.wins[0] if booking.wins else {"seat": "", "way": ""}
    result = replace(state.result, winner=win["seat"], way=win["way"], booking=booking, held=_held(state))
    return replace(
        state,
        phase=state.back,
        back="",
        dealer=event.next_dealer,
        streak=event.streak,
        result=result,
        undoable=replace(state.undoable, sheet=_sheet(state) or state.undoable.sheet),
        book=None,
    )


def _seats_taken(state: State, _: e.SeatsTaken) -> State:
    if state.phase == "settle":
        return replace(state, came_from={})
    phase = state.back or "sorting"
    state = replace(
        state, phase=phase, back="", swap=("", "", ""), came_from={}, attempts=attempts_now(state)
    )
    return with_play(state, roll=None)


def _swap_asked(state: State, event: e.SwapAsked) -> State:
    return replace(state, swap=(event.seat, event.right, event.player), back=state.phase)


HAND_FOLDS: Mapping[type[Any], Callable[[State, Any], State]] = {
    e.SessionSaid: _session,
    e.BookSaid: _book,
    e.PlayBegun: _play_begun,
    e.SeatPlayed: _seat_played,
    e.WindowTimeUp: _window_time_up,
    e.Played: _played,
    e.ZoneAccepted: _zone_accepted,
    e.WallCorrected: _wall_corrected,
    e.CountDoubted: _count_doubted,
    e.CountRight: _count_right,
    e.CountTold: _count_told,
    e.CountRuled: _count_ruled,
    e.EndDoubted: _end_doubted,
    e.CallOffAsked: _call_off_asked,
    e.CallOffKept: _call_off_kept,
    e.DiscardRefused: _discard_refused,
    e.UndoAsked: _undo_asked,
    e.UndoKept: _undo_kept,
    e.EndAsked: _end_asked,
    e.EndKept: _end_kept,
    e.HandReopened: _reopened,
    e.HandRebooked: _rebooked,
    e.SeatsTaken: _seats_taken,
    e.SwapAsked: _swap_asked,
    e.HandEnded: _hand_ended,
}
