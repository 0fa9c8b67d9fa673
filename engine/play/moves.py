"""The table of actions: what each needs, which of it a seat could try, whether it may, and what it does.

`options`, `faults` and `decide` read the same rows, so that they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TypeAlias

from engine.play import events as e
from engine.play import fouls
from engine.play.actions import Action, Fault, No
from engine.play.flow import PlayChain, discard, win
from engine.play.limits import check_discard, check_down, check_tour, discardable, followed_with, must_complete
from engine.play.melding import (
    COPIES_NEEDED,
    LEAST_COPIES,
    added_kongs,
    check_claim,
    check_kong,
    chi_pairs,
    concealed_kongs,
    laid,
    robbable,
)
from engine.play.state import MING, OPEN, PHASES, TOUR, PlayState, asked
from engine.play.wins import by_discard_alone, said, ways
from engine.tiles import ALL_FACES, next_seat

Verdict: TypeAlias = No | Fault | None
"""Refused, carried out and punished, or plainly legal."""

_NEEDED = tuple(item.name for item in fields(Action) if item.name != "name")

_Source: TypeAlias = Callable[[PlayState, str], Iterable[Action]]


@dataclass(frozen=True, slots=True)
class Move:
    """One action: the phases in which a seat that is asked may try it, the fields it needs, candidates, the check that
    decides, and how it is carried out.

    `candidates` hold every action that the check does not refuse; `faulty` what could be a fault besides, at any time.
    Where they are `sure` the candidates hold no other, and `faulty` those that are to be asked about in these phases.
    """

    phases: tuple[str, ...]
    needs: tuple[str, ...]
    candidates: _Source
    check: Callable[[PlayState, str, Action], Verdict]
    carry_out: Callable[[PlayChain, str, Action], None]
    faulty: _Source = lambda state, seat: ()
    sure: bool = False


def verdict(state: PlayState, seat: str, action: Action) -> Verdict:
    """What becomes of an action of a seat."""
    move = MOVES.get(action.name)
    if move is None:
        return No("unknown_action", "R13", {"action": action.name, "allowed": tuple(MOVES)})
    if state.phase == "over":
        return No("hand_over", "R13")
    if seat not in state.seats:
        return No("not_your_turn", "R13", {"seat": seat})
    if state.seats[seat].covered:
        return No("covered", "R39", {"reason": state.seats[seat].covered})
    for offered in state.offers.get(seat, ()):
        if offered is action and seat in state.asked:
            return None
    for field in _NEEDED:
        if field not in move.needs and getattr(action, field):
            return No("bad_value", "R13", {"field": field})
    return move.check(state, seat, action)


def only_passes(state: PlayState, seat: str) -> bool:
    """A quick look at a seat's tiles in a window: whether they make nothing with the discard, whatever the rules say.

    False where a closer look is needed.
    """
    deal, hand = state.deal, state.seats[seat].hand
    if hand.count(state.tile) >= LEAST_COPIES or (seat == next_seat(state.source) and any(chi_pairs(state, seat))):
        return False
    return by_discard_alone(deal) and not deal.complete((*hand, state.tile))


def _discards(state: PlayState, seat: str) -> Iterable[Action]:
    """The discards that are plainly legal: of tiles that are no gold either all are or those that follow (R16)."""
    if must_complete(state, seat):
        return ()
    gold, wanted = state.deal.gold, followed_with(state, seat)
    found = []
    for tile in discardable(state, seat):
        action = _DISCARDS[tile]
        if (tile != gold and (not wanted or tile in wanted)) or (
            tile == gold and check_discard(state, seat, action) is None
        ):
            found.append(action)
    return found


def _faulty_discards(state: PlayState, seat: str) -> Iterable[Action]:
    return [_DISCARDS[tile] for tile in discardable(state, seat)]


def _same(name: str) -> _Source:
    action = Action(name)
    least = COPIES_NEEDED[name]
    return lambda state, seat: (action,) if state.seats[seat].hand.count(state.tile) >= least else ()


def _downs(state: PlayState, seat: str) -> Iterable[Action]:
    if state.deal.rules.tour_discard != "ming":
        return ()
    return (Action("discard_down", tile) for tile in discardable(state, seat))


def _tour_discards(state: PlayState, seat: str) -> Iterable[Action]:
    gold = state.deal.gold
    return (Action("tour_discard", gold),) if gold is not None and gold in state.seats[seat].hand else ()


def _check_pass(state: PlayState, seat: str, action: Action) -> Verdict:
    """R13: in a window, in another's lap (R23), and on a flower that would win by itself alone (R26)."""
    if state.phase in _ANSWERS:
        if seat in asked(state):
            return None
        return No("already_answered", "R14") if seat in state.answers else No("not_asked", "R13")
    if state.phase not in ("lap", "flower") or state.turn != seat:
        return No("not_asked", "R13")
    tour_draw = state.phase == "flower" and any(hu.way != "sanhuayou" for hu in ways(state, seat))
    return No("tour_forced", "R22") if tour_draw else None


def _answer(chain: PlayChain, seat: str, action: Action) -> None:
    chain.add(_answered(seat, action.name, action.tiles, action.way, action.tile))


def _hu(chain: PlayChain, seat: str, action: Action) -> None:
    if chain.state.phase in _ANSWERS:
        _answer(chain, seat, action)
    else:
        win(chain, [(seat, action)])


def _pass(chain: PlayChain, seat: str, action: Action) -> None:
    if chain.state.phase == "lap":
        chain.add(e.LapPassed(seat))
    elif chain.state.phase == "flower":
        chain.add(e.FlowerReplaced(seat))
    else:
        _answer(chain, seat, action)


def _discard(how: str) -> Callable[[PlayChain, str, Action], None]:
    return lambda chain, seat, action: discard(chain, seat, action.tile, how)


def _kong(chain: PlayChain, seat: str, action: Action) -> None:
    if action.name == "kong_added" and robbable(chain.state):
        chain.add(e.KongShown(seat, action.tile))
    else:
        chain.add(laid(chain.state, seat, action, ""))


def _punished(chain: PlayChain, seat: str, action: Action) -> None:
    """Nothing but what the fault brings."""


def _runs(state: PlayState, seat: str) -> Iterable[Action]:
    if seat != next_seat(state.source):
        return ()
    return [_chi(pair) for pair in chi_pairs(state, seat)]


def _nothing(state: PlayState, seat: str) -> Iterable[Action]:
    return ()


@lru_cache(maxsize=1024)
def _chi(pair: tuple[str, ...]) -> Action:
    return Action("chi", tiles=pair)


PASS = Action("pass")
_DISCARDS: Mapping[str, Action] = {face: Action("discard", face) for face in ALL_FACES}
_answered = lru_cache(maxsize=1024)(e.ClaimAnswered)
_CLAIM = ("window",)
_OWN = ("turn",)
_DRAWN = ("turn", "lap")
_ANSWERS = ("opening", "window", "rob")
_TILE = ("tile",)

MOVES: Mapping[str, Move] = {
    "hu": Move((*_ANSWERS, *_DRAWN, "flower"), ("way", "tile"), said, fouls.check_hu, _hu, fouls.false_wins),
    "kong_open": Move(_CLAIM, (), _same("kong_open"), check_claim, _answer),
    "pong": Move(_CLAIM, (), _same("pong"), check_claim, _answer),
    "chi": Move(_CLAIM, ("tiles",), _runs, check_claim, _answer),
    "kong_concealed": Move(_DRAWN, _TILE, concealed_kongs, check_kong, _kong),
    "kong_added": Move(_DRAWN, _TILE, added_kongs, check_kong, _kong),
    "tour_discard": Move(_DRAWN, _TILE, _tour_discards, check_tour, _discard(TOUR)),
    "discard_down": Move(_OWN, _TILE, _downs, check_down, _discard(MING)),
    "discard": Move(_OWN, _TILE, _discards, check_discard, _discard(OPEN), _faulty_discards, sure=True),
    "pass": Move((*_ANSWERS, "lap", "flower"), (), lambda state, seat: (PASS,), _check_pass, _pass),
    "expose_false": Move((), ("kind",), _nothing, fouls.check_exposed, _punished, fouls.exposures),
    "cover": Move((), ("reason", "kind"), _nothing, fouls.check_cover, _punished, fouls.coverings),
}

MOVES_IN: Mapping[str, tuple[Move, ...]] = {
    phase: tuple(move for move in MOVES.values() if phase in move.phases) for phase in PHASES
}
"""The rows that a seat which is asked in a phase may try."""


def punish(chain: PlayChain, seat: str, action: Action, fault: Fault) -> None:
    """R38, R39: a fault is carried out as far as it can be, then punished."""
    if action.name in ("discard", "discard_down"):
        MOVES[action.name].carry_out(chain, seat, action)
        fouls.cover(chain, seat, fault.why)
    elif action.name == "cover":
        fouls.cover(chain, seat, fault.why)
    else:
        fouls.foul(chain, seat, fault.why)
