"""What is left when a hand is over: every seat's tiles as the points are worked out from them."""

from __future__ import annotations

from collections.abc import Mapping

from engine.outcome import HandEnd, Held
from engine.play.state import PlayState, without
from engine.tiles import SEATS, is_flower


def held(state: PlayState) -> Mapping[str, Held]:
    """What every seat has: a winner's tiles with the winning one, without one dropped; a robbed kong's tile is gone."""
    found = {}
    for seat in SEATS:
        own = state.seats[seat]
        found[seat] = Held(_concealed(state, seat), own.melds, own.flowers)
    return found


def hand_end(state: PlayState, steps: int = 0, buy: int = 0, top: Mapping[str, int] | None = None) -> HandEnd:
    """What the points of a hand that is over are worked out from; `steps`, `buy`, `top` as `HandEnd` says."""
    assert state.outcome is not None, "the hand is not over"
    bids = dict.fromkeys(SEATS, 0) if top is None else top
    return HandEnd(state.deal.dealer, state.deal.gold, state.outcome, held(state), steps, buy, bids)


def _concealed(state: PlayState, seat: str) -> tuple[str, ...]:
    hand = state.seats[seat].hand
    for win in state.wins:
        if win.way == "qianggang" and win.source == seat and win.tile is not None and win is state.wins[0]:
            hand = without(hand, win.tile)
        if win.seat != seat or win.tile is None or is_flower(win.tile):
            continue
        if seat in state.drops:
            hand = without(hand, state.drops[seat])
        taken = win.source is not None or win.way == "qiangshuangyou"
        if taken or (win.way == "qiangjin" and state.deal.rules.qiangjin == "opening"):
            hand = (*hand, win.tile)
    return hand
