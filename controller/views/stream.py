"""The public stream: what each event tells everybody. Nothing of a concealed tile, nothing that only one decides.

A draw is told without its tile, a flower when it is laid out, an answer in a window not at all: when the window
is over, what comes of it is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from controller.remedies import mechanism_of, named
from controller.views.evening import match_hand
from controller.views.faults import tries_of
from controller.views.play import as_seen, draws_seen, flowers, steps_seen
from engine import book as books
from engine import events as e
from engine.book import Book
from engine.book import events as b
from engine.match import events as m
from engine.match.state import Match
from engine.play import events as p
from engine.play.state import MING, OPEN, PlayState
from engine.state import State
from engine.tiles import SEATS, format_tiles

Told = tuple[str, str, dict[str, Any]]
"""Stream, name and data of a public event."""

_Tell = Callable[[Any, State, State], tuple[Told, ...]]
_InPlay = Callable[[Any, PlayState, PlayState], tuple[tuple[str, dict[str, Any]], ...]]


def public_events(event: e.Event, before: State, after: State) -> tuple[Told, ...]:
    """The event as the public stream tells it: `(stream, type, data)`; empty for what is secret or of no interest."""
    tell = _TOLD.get(type(event))
    told = () if tell is None else tell(event, before, after)
    return (*told, *_draw_seen(before, after))


def _draw_seen(before: State, after: State) -> tuple[Told, ...]:
    """A draw is told as soon as the tile has left the wall, a flower as soon as it lies before its seat, by whatever
    event that is known.
    """
    if before.play.game is None or after.play.game is None:
        return ()
    hand, draws = match_hand(after), draws_seen(as_seen(before))
    lying = {face for faces in flowers(before).values() for face in faces}
    told: list[Told] = []
    for step in steps_seen(after):
        game = step.play.game
        assert game is not None
        if draws_seen(step) > draws:
            draws = draws_seen(step)
            told.append(("game", "drawn", {"hand": hand, "seat": game.turn, "end": game.end}))
        new = [(seat, face) for seat in SEATS for face in game.seats[seat].flowers if face not in lying]
        told += [("game", "flower", {"hand": hand, "seat": seat, "tile": face}) for seat, face in new]
        lying.update(face for _, face in new)
    return tuple(told)


def _plain(stream: str, name: str, *names: str) -> _Tell:
    def tell(event: Any, _: State, after: State) -> tuple[Told, ...]:
        data: dict[str, Any] = {"hand": match_hand(after)}
        for field in names:
            value = getattr(event, field)
            data[field] = list(value) if isinstance(value, tuple) else value
        return ((stream, name, data),)

    return tell


def _audited(event: e.Audited, _: State, after: State) -> tuple[Told, ...]:
    return (("audit", event.act, {"hand": match_hand(after), "by": event.by, **event.params}),)


def _hand_ended(event: e.HandEnded, before: State, after: State) -> tuple[Told, ...]:
    data = {
        "hand": match_hand(before),
        "winner": event.winner or None,
        "way": event.way or None,
        "dealer": after.result.dealer if after.result is not None else before.dealer,
        "next_dealer": event.next_dealer,
    }
    return (("game", "hand_ended", data),)


def _bid(event: e.BidSaid, before: State, after: State) -> tuple[Told, ...]:
    kind = "buy" if event.seat == after.dealer else "top"
    return (("game", "bid", {"hand": match_hand(after), "seat": event.seat, "kind": kind, "points": event.points}),)


def _take(event: e.TakeDone, before: State, after: State) -> tuple[Told, ...]:
    seat, positions = after.play.takes[event.n - 1]
    return (("game", "taken", {"hand": match_hand(after), "n": event.n, "seat": seat, "positions": list(positions)}),)


def _counted(event: e.SetMiscounted, before: State, after: State) -> tuple[Told, ...]:
    sides = [
        {"side": side, "counted": counted, "expected": wanted, **_named(_miscount(counted, wanted), side)}
        for side, counted, wanted in event.sides
    ]
    return (("fault", "miscounted", {"set": event.set, "sides": sides}),)


def _miscount(counted: int, wanted: int) -> str:
    return "side_short" if counted < wanted else "side_long"


def _named(code: str, side: str, tries: int = 1) -> dict[str, Any]:
    return {"code": code, **named(code, side, tries)}


def _broken(event: e.OperationBroken, before: State, after: State) -> tuple[Told, ...]:
    problem = next(one for one in after.problems if one.key == event.step)
    told = {"verb": event.verb, "fault": event.fault, "side": event.side}
    more = named(event.fault, event.side, tries_of(after, problem))
    return (("fault", "operation_failed", {"hand": match_hand(after), **told, **more}),)


def _throw_broken(event: e.ThrowBroken, before: State, after: State) -> tuple[Told, ...]:
    told = {"verb": "dice_roll", "fault": event.fault, "side": event.side}
    return (("fault", "operation_failed", {"hand": match_hand(after), **told, **named(event.fault, event.side)}),)


def _fault(event: e.FaultNoted, before: State, after: State) -> tuple[Told, ...]:
    mechanism = mechanism_of(event.code, event.mechanism)
    told = {"code": event.code, "severity": event.severity, "mechanism": mechanism, "side": event.side}
    return (("fault", "raised", {"hand": match_hand(after), **told, **named(event.code, event.side)}),)


# -- in play -----------------------------------------------------------------------------------------------------------


def _played(event: e.Played, before: State, after: State) -> tuple[Told, ...]:
    tell = _TOLD_IN_PLAY.get(type(event.event))
    if tell is None or before.play.game is None or after.play.game is None:
        return ()
    hand = match_hand(after)
    return tuple(
        ("game", name, {"hand": hand, **data}) for name, data in tell(event.event, before.play.game, after.play.game)
    )


def _simple(name: str, *names: str) -> _InPlay:
    def tell(event: Any, before: PlayState, after: PlayState) -> tuple[tuple[str, dict[str, Any]], ...]:
        return ((name, {field: getattr(event, field) for field in names}),)

    return tell


def _discarded(event: p.TileDiscarded, before: PlayState, after: PlayState) -> tuple[tuple[str, dict[str, Any]], ...]:
    down = event.how == MING
    tile = "" if down else event.tile
    told: tuple[str, dict[str, Any]] = (
        "discarded", {"seat": event.seat, "tile": tile, "down": down, "number": len(after.discards)}
    )  # fmt: skip
    if event.how == OPEN or after.tour is None:
        return (told,)
    return (told, ("tour", {"seat": after.tour.owner, "level": after.tour.level}))


def _melded(event: p.MeldLaid, before: PlayState, after: PlayState) -> tuple[tuple[str, dict[str, Any]], ...]:
    name = "melded" if event.kind in ("chi", "pong") else "kong"
    data = {"seat": event.seat, "kind": event.kind, "tiles": format_tiles(event.tiles), "source": event.source or None}
    return ((name, data),)


def _lap_passed(event: p.LapPassed, before: PlayState, after: PlayState) -> tuple[tuple[str, dict[str, Any]], ...]:
    return (("put_away", {"seat": event.seat}),)


_TOLD_IN_PLAY: Mapping[type[Any], _InPlay] = {
    p.NoFlowers: _simple("no_flowers", "points"),
    p.OpeningPassed: _simple("opening_passed"),
    p.TileDiscarded: _discarded,
    p.WindowClosed: _simple("window_closed"),
    p.MeldLaid: _melded,
    p.KongShown: _simple("kong_shown", "seat", "tile"),
    p.LapPassed: _lap_passed,
    p.SeatCovered: _simple("covered", "seat", "reason"),
    p.DealerFollowed: _simple("followed", "points"),
    p.HandWon: _simple("won", "seat", "way", "tile", "source"),
    p.HandFouled: _simple("fouled", "seat", "kind"),
    p.PlayEnded: _simple("play_over", "kind"),
}
"""`ClaimAnswered` is not told: an answer is secret until its window closes, and so is when it was given. `TileDrawn` is
told by what everybody sees of it, `FlowerReplaced` not at all.
"""


# -- the book that people keep -----------------------------------------------------------------------------------------


def _book(event: e.BookSaid, before: State, after: State) -> tuple[Told, ...]:
    hand = match_hand(after)
    return tuple(("game", name, {"hand": hand, **data}) for name, data in _told_of_book(event.event, before, after))


def _told_of_book(said: b.BookEvent, before: State, after: State) -> list[tuple[str, dict[str, Any]]]:
    match said:
        case b.SeatWritten(seat=seat, version=1) if before.book is not None and after.book is not None:
            return _touched(seat, before.book, after.book)
        case b.SeatAgreed(seat=seat):
            return [("agreed", {"seat": seat})]
        case b.SeatObjected(seat=seat):
            return [("objection", {"seat": seat})]
        case b.ObjectionWithdrawn():
            return [("objection_withdrawn", {})]
        case b.VersionProposed():
            return [("vote", {})]
        case b.SeatVoted(seat=seat, choice=choice):
            return [("voted", {"seat": seat, "choice": choice})]
        case b.BookClosed(choice=choice, how=how):
            return [("decided", {"choice": choice, "how": how})]
    return []


def _touched(seat: str, before: Book, after: Book) -> list[tuple[str, dict[str, Any]]]:
    """What lies open before a seat has changed: flowers and kongs; what it enters of its hand is not told."""
    flowers = (set(before.flowers[seat]), set(after.flowers[seat]))
    kongs = (Counter(books.kongs(before)[seat]), Counter(books.kongs(after)[seat]))
    told = [("flower", {"seat": seat, "tile": face}) for face in sorted(flowers[1] - flowers[0])]
    told += [("flower_withdrawn", {"seat": seat, "tile": face}) for face in sorted(flowers[0] - flowers[1])]
    for name, changed in (("kong", kongs[1] - kongs[0]), ("kong_withdrawn", kongs[0] - kongs[1])):
        told += [(name, {"seat": seat, "kind": f"kong_{kong.kind}"}) for kong in changed.elements()]
    return told


# -- the match ---------------------------------------------------------------------------------------------------------


def _session(event: e.SessionSaid, before: State, after: State) -> tuple[Told, ...]:
    tell = _TOLD_OF_MATCH.get(type(event.event))
    if tell is None:
        return ()
    name, data = tell(event.event, after.session)
    return (("game", name, {"hand": match_hand(after) or None, "match": after.session.match, **data}),)


def _begun(event: m.MatchBegun, session: Match) -> tuple[str, dict[str, Any]]:
    return "match_begun", {"hands": event.hands, "minutes": event.minutes, "by_dice": event.by_dice}


def _thrown(event: m.SeatThrown, session: Match) -> tuple[str, dict[str, Any]]:
    return "seat_thrown", {"player": event.player, "dice": list(event.dice)}


def _seated(event: m.Seated, session: Match) -> tuple[str, dict[str, Any]]:
    return "seats", {"seats": dict(event.seats)}


def _hand_begun(event: m.HandBegun, session: Match) -> tuple[str, dict[str, Any]]:
    return "hand_begun", {"number": event.hand}


def _booked(event: m.HandBooked, session: Match) -> tuple[str, dict[str, Any]]:
    one = event.booking
    return "booked", {
        "number": one.hand,
        "kind": one.kind,
        "wins": [{"seat": win["seat"], "way": win["way"]} for win in one.wins],
        "source": one.source,
        "foul": one.foul,
        "net": {seat: one.points[one.seats[seat]] for seat in SEATS},
        "bonus": {seat: one.bonus[one.seats[seat]] for seat in SEATS},
        "next_dealer": one.next_dealer,
    }


def _voided(event: m.BookingVoided, session: Match) -> tuple[str, dict[str, Any]]:
    return "booking_voided", {"number": event.hand, "why": event.why, "seats": dict(session.seats)}


def _swapped(event: m.SeatsSwapped, session: Match) -> tuple[str, dict[str, Any]]:
    return "swapped", {
        "player": event.player,
        "right": event.right,
        "dice": list(event.dice),
        "other": event.other,
        "seats": dict(session.seats),
    }


def _extended(event: m.MatchExtended, session: Match) -> tuple[str, dict[str, Any]]:
    return "match_extended", {"hands": event.hands, "minutes": event.minutes}


def _match_ending(event: m.MatchEnding, session: Match) -> tuple[str, dict[str, Any]]:
    return "match_ending", {"why": event.why}


def _match_over(event: m.MatchOver, session: Match) -> tuple[str, dict[str, Any]]:
    return "match_over", {"why": event.why}


_TOLD_OF_MATCH: Mapping[type[Any], Callable[[Any, Match], tuple[str, dict[str, Any]]]] = {
    m.MatchBegun: _begun,
    m.SeatThrown: _thrown,
    m.Seated: _seated,
    m.HandBegun: _hand_begun,
    m.HandBooked: _booked,
    m.BookingVoided: _voided,
    m.SeatsSwapped: _swapped,
    m.MatchExtended: _extended,
    m.MatchEnding: _match_ending,
    m.MatchOver: _match_over,
}

_TOLD: Mapping[type[Any], _Tell] = {
    e.MatchStarted: _plain("game", "match_started", "rules", "layout", "sensing", "dice", "hands"),
    e.MatchEnded: _plain("game", "match_ended"),
    e.EveningEnded: _plain("game", "evening_ended"),
    e.SortBegun: _plain("machine", "sort_begun", "set", "attempt"),
    e.SetSorted: _plain("machine", "sorted", "set"),
    e.SetMiscounted: _counted,
    e.CentreRaised: _plain("machine", "centre_up"),
    e.CentreLowered: _plain("machine", "centre_down"),
    e.WallsRaised: _plain("machine", "walls_up", "set"),
    e.RowsLaid: _plain("game", "rows_laid"),
    e.BidsAsked: _plain("game", "bids_wanted"),
    e.BidSaid: _bid,
    e.RollWanted: _plain("game", "roll_wanted", "purpose", "nth", "thrower"),
    e.RollSpoilt: _plain("game", "roll_spoilt", "reason"),
    e.DiceRolled: _plain("game", "rolled", "purpose", "by", "dice", "how"),
    e.DiceObjected: _plain("game", "dice_disputed", "by"),
    e.DiceLost: _plain("game", "dice_lost"),
    e.DealerChosen: _plain("game", "dealer", "seat"),
    e.TakeDone: _take,
    e.TakingDone: _plain("game", "all_taken"),
    e.TakingResumed: _plain("game", "taking_resumed", "by"),
    e.FlowerDeclared: _plain("game", "flower", "seat", "tile"),
    e.FlowerWithdrawn: _plain("game", "flower_withdrawn", "seat", "tile"),
    e.TailShifted: _plain("game", "tail_shifted", "seat", "by"),
    e.FlowersReplaced: _plain("game", "flowers_replaced", "round", "seat", "flowers", "positions"),
    e.FlowersDone: _plain("game", "flowers_done"),
    e.GoldCounted: _plain("game", "gold_counted", "path"),
    e.GoldPassed: _plain("game", "gold_passed", "position", "tile", "why", "to"),
    e.GoldOpened: _plain("game", "gold", "position", "tile", "face", "white"),
    e.PlayBegun: _plain("game", "opening"),
    e.Played: _played,
    e.SessionSaid: _session,
    e.BookSaid: _book,
    e.SwapAsked: _plain("game", "swap_asked", "seat", "right"),
    e.SeatsTaken: _plain("game", "seats_taken", "by"),
    e.UndoAsked: _plain("audit", "undo_asked", "seat"),
    e.UndoKept: _plain("audit", "undo_kept", "seat"),
    e.EndAsked: _plain("audit", "end_asked", "seat"),
    e.EndKept: _plain("audit", "end_kept", "seat"),
    e.CountTold: _plain("game", "count_unanswered", "seat", "zone"),
    e.CountRuled: _plain("audit", "count_ruled", "by", "seat", "zone", "ruling"),
    e.EndDoubted: _plain("game", "end_doubted", "seats"),
    e.CallOffAsked: _plain("audit", "call_off_asked", "seat"),
    e.CallOffKept: _plain("audit", "call_off_kept", "seat"),
    e.HandReopened: _plain("game", "reopened"),
    e.HandRebooked: _plain("game", "rebooked", "next_dealer"),
    e.HandDropped: _plain("game", "hand_dropped"),
    e.PauseWanted: _plain("game", "paused", "on"),
    e.ParkWanted: _plain("machine", "parking", "reason"),
    e.Parked: _plain("machine", "parked"),
    e.Unparked: _plain("machine", "unparked", "by"),
    e.ServiceBegun: _plain("audit", "service_begun", "by"),
    e.ServiceDone: _plain("audit", "service_done", "by", "act", "params"),
    e.ServiceEnded: _plain("audit", "service_ended", "by"),
    e.Audited: _audited,
    e.HandEnded: _hand_ended,
    e.OperationBroken: _broken,
    e.OperationRetried: _plain("fault", "operation_retried", "step"),
    e.OperationVouched: _plain("audit", "vouched", "step", "by"),
    e.OperationStands: _plain("fault", "operation_stands", "step"),
    e.ThrowBroken: _throw_broken,
    e.UnaskedThrow: _plain("audit", "unasked_throw", "dice"),
    e.FaultNoted: _fault,
    e.MechanismSlow: _plain("fault", "slow", "verb", "now_ms", "usual_ms"),
    e.FaultGone: _plain("fault", "cleared", "code", "side"),
    e.Stopped: _plain("fault", "stopped", "reason"),
    e.ReleaseWanted: _plain("audit", "clear_stop", "by"),
    e.Released: _plain("fault", "released"),
}
