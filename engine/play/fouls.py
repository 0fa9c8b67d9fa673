"""What is carried out and punished: false wins (R28, R38) and 盖牌 (R39)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.play import events as e
from engine.play.actions import COVER_REASONS, UNDRAWN, Action, Fault, No
from engine.play.flow import PlayChain
from engine.play.state import PlayState, asked
from engine.play.wins import judge, ways
from engine.settlement import foul_kinds
from engine.tiles import SEATS

_KIND_OF_WAY: Mapping[str, str] = {"youjin": "zhayou", "shuangyou": "zhashuangyou", "sanyou": "zhashuangyou"}


def check_hu(state: PlayState, seat: str, action: Action) -> No | Fault | None:
    """R28: a tapped 胡 that is none is refused, or a false win where the house says so.

    A hand that may win another way is no false win: only the way was named wrongly, and that is refused.
    """
    no = judge(state, seat, action)
    rules = state.deal.rules
    if no is None or rules.false_win == "refuse" or action.tile or seat not in asked(state):
        return no
    if any(True for _ in ways(state, seat)):
        return no
    kinds = foul_kinds(rules)
    if not kinds or not rules.knows(action.way):
        return no
    kind = _KIND_OF_WAY.get(action.way, "zhahu")
    return Fault(kind if kind in kinds else kinds[0])


def check_exposed(state: PlayState, seat: str, action: Action) -> No | Fault:
    """R38: a hand laid open as a win that it is not; one that may win now is no false win."""
    kinds = foul_kinds(state.deal.rules)
    if action.kind not in kinds:
        return No("unknown_foul", "R38", {"kind": action.kind, "allowed": kinds})
    if seat in asked(state) and any(True for _ in ways(state, seat)):
        return No("it_wins", "R28")
    return Fault(action.kind)


def check_cover(state: PlayState, seat: str, action: Action) -> No | Fault:
    """R39: any seat that is in the hand can be put out of it, for a reason of the rule book; `undrawn` before the draw
    that is due to it, which is then the next seat's.
    """
    if action.reason not in COVER_REASONS:
        return No("bad_reason", "R39", {"reason": action.reason, "allowed": COVER_REASONS})
    if action.kind and (action.kind != UNDRAWN or (state.phase, state.turn) != ("draw", seat)):
        return No("drawn_already", "R39")
    return Fault(action.reason)


def false_wins(state: PlayState, seat: str) -> Iterator[Action]:
    """Every 胡 that could be tapped falsely, without tiles."""
    yield from (Action("hu", way=str(way)) for way in state.deal.rules.ways)


def exposures(state: PlayState, seat: str) -> Iterator[Action]:
    """Every false win that a seat could lay open."""
    yield from (Action("expose_false", kind=kind) for kind in foul_kinds(state.deal.rules))


def coverings(state: PlayState, seat: str) -> Iterator[Action]:
    """Every reason to put a seat out of the hand."""
    yield from (Action("cover", reason=reason) for reason in COVER_REASONS)


def foul(chain: PlayChain, seat: str, kind: str) -> None:
    """R38: the hand is void; who is youjin-ready at that moment is told for 重判."""
    seats = chain.state.seats
    ready = tuple(other for other in SEATS if other != seat and seats[other].ready and not seats[other].covered)
    chain.add(e.HandFouled(seat, kind, ready))
    chain.add(e.PlayEnded("foul", ""))


def cover(chain: PlayChain, seat: str, reason: str) -> None:
    """R39: the seat is out of the hand."""
    chain.add(e.SeatCovered(seat, reason))
