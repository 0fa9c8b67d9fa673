"""A hand in play as a pure state machine: `begin(deal)`, `legal(state, seat)`, `decide(state, seat, action)`, `apply`.

Only what somebody decides is an action; draws, flowers and the end of a window that all have answered come by
themselves as events behind it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from engine.chain import Refused
from engine.play.actions import Action, Choice, Fault, No
from engine.play.deal import Deal, check_deal
from engine.play.events import PlayEvent
from engine.play.flow import PlayChain, close, go_on, start
from engine.play.folding import apply
from engine.play.foresee import foresee
from engine.play.moves import MOVES, MOVES_IN, PASS, only_passes, punish, verdict
from engine.play.state import PlayState, asked, fresh
from engine.tiles import ALL_FACES, sort_tiles

_PASS_ALONE = (PASS,)


def begin(deal: Deal) -> PlayState:
    """The state in which a seat is first asked, or the hand is over already. DealError for a deal that cannot be."""
    return fold(deal, begin_events(deal))


def begin_events(deal: Deal) -> tuple[PlayEvent, ...]:
    """What happens by itself at the beginning; a record of the hand begins with these."""
    check_deal(deal)
    chain = PlayChain(fresh(deal))
    start(chain)
    return tuple(chain.events)


def fold(deal: Deal, events: Iterable[PlayEvent]) -> PlayState:
    """The state after all events of a hand, those of its beginning first."""
    state = fresh(deal)
    for event in events:
        state = apply(state, event)
    return state


def options(state: PlayState, seat: str) -> tuple[Action, ...]:
    """Every action that a seat may take now, the strongest first; none when it is not asked."""
    if seat not in asked(state):
        return ()
    found = state.offers.get(seat)
    if found is None:
        found = state.offers[seat] = _offered(state, seat)
    return found


def _offered(state: PlayState, seat: str) -> tuple[Action, ...]:
    if state.phase == "window" and only_passes(state, seat):
        return _PASS_ALONE
    found: list[Action] = []
    for move in MOVES_IN[state.phase]:
        tried = move.candidates(state, seat)
        if tried:
            found += tried if move.sure else [one for one in tried if move.check(state, seat, one) is None]
    return tuple(found)


def legal(state: PlayState, seat: str) -> tuple[Choice, ...]:
    """`options` with what each would do."""
    return tuple(foresee(state, seat, action) for action in options(state, seat))


def faults(state: PlayState, seat: str) -> tuple[Action, ...]:
    """What would be carried out and punished: false wins (R38), and what ends in 盖牌 (R16, R17, R39)."""
    if state.phase == "over" or state.seats[seat].covered:
        return ()
    sources = [move.faulty for move in MOVES.values() if not move.sure]
    if seat in asked(state):
        sources += [move.faulty if move.sure else move.candidates for move in MOVES_IN[state.phase]]
    tried = dict.fromkeys(action for source in sources for action in source(state, seat))
    return tuple(action for action in tried if isinstance(verdict(state, seat, action), Fault))


def decide(state: PlayState, seat: str, action: Action) -> tuple[PlayEvent, ...]:
    """The events that an action causes, in order. Refused with a code and a rule's number when it is not allowed."""
    return tuple(_decided(state, seat, action).events)


def _decided(state: PlayState, seat: str, action: Action) -> PlayChain:
    if len(action.tiles) > 1 and set(action.tiles) <= set(ALL_FACES):
        action = replace(action, tiles=tuple(sort_tiles(action.tiles)))
    found = verdict(state, seat, action)
    if isinstance(found, No):
        raise Refused(found.code, found.rule, found.params)
    chain = PlayChain(state)
    if isinstance(found, Fault):
        punish(chain, seat, action, found)
    else:
        MOVES[action.name].carry_out(chain, seat, action)
    go_on(chain)
    return chain


def decide_clock(state: PlayState) -> tuple[PlayEvent, ...]:
    """The events of a window's time being over: who has not answered has passed (R13). None when no window is open."""
    if state.phase not in ("opening", "window", "rob"):
        return ()
    chain = PlayChain(state)
    close(chain)
    go_on(chain)
    return tuple(chain.events)


def step(state: PlayState, seat: str, action: Action) -> PlayState:
    """The state after an action; Refused when it is not allowed."""
    return _decided(state, seat, action).state


