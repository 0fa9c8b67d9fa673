"""`apply`: how each event changes the state. Total for every event that `decide` made on that state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from engine.melds import Meld
from engine.outcome import Foul, Outcome, OutcomeKind, Win
from engine.play import events as e
from engine.play.actions import Action
from engine.play.state import MING, OPEN, Discard, PlayState, Tour, drew_flower, following, place_of_next, without
from engine.tiles import is_flower, play_order


def apply(state: PlayState, event: e.PlayEvent) -> PlayState:
    """The state after an event."""
    changed: PlayState = _FOLDS[type(event)](state, event)
    return changed


def _put(state: PlayState, seat: str, **changes: Any) -> dict[str, Any]:
    return {**state.seats, seat: state.seats[seat].but(**changes)}


def _no_flowers(state: PlayState, _: e.NoFlowers) -> PlayState:
    return state.but(no_flowers=True)


def _opening_passed(state: PlayState, _: e.OpeningPassed) -> PlayState:
    dealer = state.deal.dealer
    if state.seats[dealer].covered:
        return _next_draws(state.but(answers={}), dealer)
    return state.but(phase="turn", turn=dealer, entry="deal", answers={})


def _next_draws(state: PlayState, after: str, **changes: Any) -> PlayState:
    """The next seat's turn begins with a draw at the head, after other changes, which cover nobody."""
    turn = following(state, after)
    return state.but(phase="draw", turn=turn, end="head", entry="draw", drawn="", chain=0, **changes)


def _drawn(state: PlayState, event: e.TileDrawn) -> PlayState:
    left = state.left[1:]
    if event.end != "head":
        place = place_of_next(state, event.end)
        left = tuple([other for other in state.left if other != place])
    seat = state.seats[event.seat]
    flower = is_flower(event.tile)
    lapping = state.tour is not None and state.tour.owner != event.seat
    changes: dict[str, Any] = {"draws": seat.draws + 1, "missed": (), "locked": False}
    if flower:
        changes["flowers"] = (*seat.flowers, event.tile)
    else:
        changes["hand"] = (*seat.hand, event.tile)
    return state.but(
        seats=_put(state, event.seat, **changes),
        left=left,
        phase="lap" if lapping else "flower" if flower else "turn",
        drawn=event.tile,
        chain=state.chain + 1 if flower else 0,
        last_drawer=event.seat,
    )


def _flower_replaced(state: PlayState, _: e.FlowerReplaced) -> PlayState:
    return state.but(phase="draw", end="tail", drawn="")


def _discarded(state: PlayState, event: e.TileDiscarded) -> PlayState:
    seat = state.seats[event.seat]
    locked = event.how == OPEN and event.tile == state.deal.gold
    seats = _put(
        state,
        event.seat,
        hand=without(seat.hand, event.tile),
        ready=event.ready,
        locked=locked,
        discards=seat.discards + 1,
    )
    changes = dict(
        seats=seats,
        discards=(*state.discards, Discard(event.seat, event.tile, event.how, unseen=event.unseen)),
        liable=event.seat if event.unseen else state.liable,
        chain=0,
    )
    if event.how != OPEN:
        return _lap(state.but(**changes), event.seat, 1 if event.how == MING else 2, seat.ready)
    return state.but(
        **changes, phase="window", tile=event.tile, source=event.seat, answers={}, tour=None, drawn="", entry="draw"
    )


def _lap(state: PlayState, owner: str, level: int, ready: bool) -> PlayState:
    """R23: the others draw one tile each; nobody in a guarded 双游, nor in a 三游 that cannot be interrupted."""
    rules = state.deal.rules
    reached = 1 if level == 2 and ready else 0
    if state.tour is not None and state.tour.owner == owner and level == 2:
        level, reached = state.tour.level + 1, state.tour.level
    alone = level > 1 and (rules.tour_guard or (level == 3 and rules.sanyou_interrupt == "none"))
    others = tuple(seat for seat in play_order(owner)[1:] if not state.seats[seat].covered)
    return _next_in_lap(state.but(tour=Tour(owner, level, reached, () if alone else others)))


def _next_in_lap(state: PlayState) -> PlayState:
    assert state.tour is not None
    turn = state.tour.due[0] if state.tour.due else state.tour.owner
    tour = Tour(state.tour.owner, state.tour.level, state.tour.reached, state.tour.due[1:])
    return state.but(phase="draw", turn=turn, end="head", entry="draw", drawn="", chain=0, tour=tour)


def _lap_passed(state: PlayState, event: e.LapPassed) -> PlayState:
    seat = state.seats[event.seat]
    if drew_flower(state):
        return _next_in_lap(state)
    seats = _put(state, event.seat, hand=without(seat.hand, state.drawn), aside=(*seat.aside, state.drawn))
    return _next_in_lap(state.but(seats=seats))


def _answered(state: PlayState, event: e.ClaimAnswered) -> PlayState:
    return state.answered(event.seat, _answer(event.name, event.drop, event.tiles, event.way))


@lru_cache(maxsize=1024)
def _answer(name: str, drop: str, tiles: tuple[str, ...], way: str) -> Action:
    return Action(name, tile=drop, tiles=tiles, way=way)


def _window_closed(state: PlayState, event: e.WindowClosed) -> PlayState:
    """The discard lies; what is claimed of it comes as the next event."""
    seats = state.seats
    if event.missed:
        seats = dict(seats)
        for name in event.missed:
            seats[name] = seats[name].but(missed=(*seats[name].missed, state.tile))
    return _next_draws(state, state.source, seats=seats, answers={}, tile="", source="")


def _meld(state: PlayState, event: e.MeldLaid) -> PlayState:
    seat = state.seats[event.seat]
    melds = seat.melds
    if event.kind == "kong_added":
        hand = without(seat.hand, event.tile)
        melds = tuple(_added(meld, event) for meld in melds)
    else:
        own = without(event.tiles, event.tile) if event.source else event.tiles
        hand = without(seat.hand, *own)
        melds = (*melds, Meld(event.kind, event.tiles))
    state = state.but(seats=_put(state, event.seat, hand=hand, melds=melds, ready=event.ready))
    if event.source:
        state = state.but(discards=(*state.discards[:-1], replace(state.discards[-1], taken=event.seat)))
    over = state.tour is not None and state.tour.owner == event.seat
    state = state.but(tour=None if over else state.tour)
    state = state.but(turn=event.seat, drawn="", chain=0, answers={}, tile="", source="")
    if event.kind in ("chi", "pong"):
        return state.but(phase="turn", entry="claim")
    return state.but(phase="draw", end="tail", entry="kong")


def _added(meld: Meld, event: e.MeldLaid) -> Meld:
    if meld.kind == "pong" and meld.tiles[0] == event.tile:
        return Meld("kong_added", event.tiles)
    return meld


def _kong_shown(state: PlayState, event: e.KongShown) -> PlayState:
    return state.but(phase="rob", tile=event.tile, source=event.seat, answers={})


def _covered(state: PlayState, event: e.SeatCovered) -> PlayState:
    """R39: the seat is passed over from now on; a tour of its own is over, a turn of its own too."""
    was_tour = state.tour
    answers = {seat: answer for seat, answer in state.answers.items() if seat != event.seat}
    state = state.but(seats=_put(state, event.seat, covered=event.reason, ready=False), answers=answers)
    if was_tour is not None:
        owner_out = was_tour.owner == event.seat
        due = tuple(seat for seat in was_tour.due if seat != event.seat)
        state = state.but(tour=None if owner_out else Tour(was_tour.owner, was_tour.level, was_tour.reached, due))
    if state.phase == "rob" and state.source == event.seat:
        return _next_draws(state.but(answers={}, tile="", source=""), event.seat)
    if state.phase in ("turn", "flower", "lap") and state.turn == event.seat:
        if state.phase == "lap" and state.tour is not None:
            return _next_in_lap(state)
        return _next_draws(state, event.seat)
    if state.phase == "draw" and state.turn == event.seat:
        return _next_draws(state, event.seat)
    if state.phase == "lap" and state.tour is None:
        return state.but(phase="flower" if drew_flower(state) else "turn")
    return state


def _followed(state: PlayState, _: e.DealerFollowed) -> PlayState:
    return state.but(followed=state.followed + 1)


def _won(state: PlayState, event: e.HandWon) -> PlayState:
    win = Win(event.seat, event.way, event.tile or None, event.source or None, event.after_kong)
    drops = {**state.drops, event.seat: event.drop} if event.drop else state.drops
    return state.but(wins=(*state.wins, win), drops=drops)


def _fouled(state: PlayState, event: e.HandFouled) -> PlayState:
    return state.but(foul=Foul(event.seat, event.kind, event.ready))


def _ended(state: PlayState, event: e.PlayEnded) -> PlayState:
    outcome = Outcome(
        kind=_KINDS[event.kind],
        winners=state.wins,
        covered=tuple(seat for seat, held in state.seats.items() if held.covered),
        pays_all=event.pays_all or None,
        last_drawer=state.last_drawer or None,
        foul=state.foul,
        no_flowers=state.no_flowers,
        followed=state.followed,
    )
    return state.but(phase="over", outcome=outcome)


_KINDS: Mapping[str, OutcomeKind] = {"win": "win", "draw": "draw", "foul": "foul"}

_FOLDS: Mapping[type[Any], Callable[[PlayState, Any], PlayState]] = {
    e.NoFlowers: _no_flowers,
    e.OpeningPassed: _opening_passed,
    e.TileDrawn: _drawn,
    e.FlowerReplaced: _flower_replaced,
    e.TileDiscarded: _discarded,
    e.ClaimAnswered: _answered,
    e.WindowClosed: _window_closed,
    e.MeldLaid: _meld,
    e.KongShown: _kong_shown,
    e.LapPassed: _lap_passed,
    e.SeatCovered: _covered,
    e.DealerFollowed: _followed,
    e.HandWon: _won,
    e.HandFouled: _fouled,
    e.PlayEnded: _ended,
}
