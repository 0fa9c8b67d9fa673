"""What a choice would do, as codes and parameters for a display and a player (R13-R17, R22-R27)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.hands import waits
from engine.play.actions import Action, Choice
from engine.play.ends import hand_end
from engine.play.flow import PlayChain, win
from engine.play.limits import must_follow, ready_after, unseen
from engine.play.melding import robbable
from engine.play.state import PlayState, to_draw, without
from engine.play.wins import ways, winning_tile
from engine.ruleset_model import TOUR
from engine.settlement import settle_outcome


def foresee(state: PlayState, seat: str, action: Action) -> Choice:
    """The action with its effect; only what is worth telling stands in it."""
    told = _EFFECTS.get(action.name)
    effect = {} if told is None else told(state, seat, action)
    return Choice(action, {key: value for key, value in effect.items() if value not in (False, "", ())})


def _discard(state: PlayState, seat: str, action: Action) -> Mapping[str, Any]:
    """`waits` and `ready` of the rest, `locks` (R17), `unseen` (包赔, R27), `follow` what would follow (R16)."""
    rest = without(state.seats[seat].hand, action.tile)
    down = action.name == "discard_down"
    follow = must_follow(state, seat)
    return {
        "waits": waits(state.deal.rules, state.deal.gold, rest),
        "ready": ready_after(state, seat, action.tile),
        "level": TOUR[0] if down else "",
        "locks": action.tile == state.deal.gold,
        "unseen": not down and unseen(state, action.tile),
        "follow": () if action.tile in follow else follow,
    }


def _tour(state: PlayState, seat: str, action: Action) -> Mapping[str, Any]:
    """`level` that the next draw completes."""
    tour = state.tour
    done = tour.level if tour is not None and tour.owner == seat else 1
    return {"level": TOUR[done], "ready": True}


def _hu(state: PlayState, seat: str, action: Action) -> Mapping[str, Any]:
    """`way`, the `tile` it is won with, the `points` and 课外 `bonus` it brings if nobody else wins on the tile.

    Reckoned as if the dealer's base had not grown and nothing had been bid (买底, 顶底): play does not know of these.
    """
    chain = PlayChain(state)
    win(chain, [(seat, action)])
    settled = settle_outcome(state.deal.rules, hand_end(chain.state))
    return {
        "way": action.way,
        "tile": winning_tile(state, seat, action.way),
        "points": settled.net[seat],
        "bonus": settled.bonus[seat],
        "drop": action.tile,
    }


def _kong(state: PlayState, seat: str, action: Action) -> Mapping[str, Any]:
    """`robbable` (R15); `last`: no replacement is left and the hand is drawn (R18)."""
    return {"robbable": action.name == "kong_added" and robbable(state), "last": to_draw(state) == 0}


def _claim(state: PlayState, seat: str, action: Action) -> Mapping[str, Any]:
    """The `tiles` of the meld."""
    return {"tiles": (*action.tiles, state.tile)}


def _pong(state: PlayState, seat: str, action: Action) -> Mapping[str, Any]:
    """The `tiles` of the meld."""
    return {"tiles": (state.tile,) * 3}


def _pass(state: PlayState, seat: str, action: Action) -> Mapping[str, Any]:
    """`misses`: faces that may not be claimed again before the next own draw (R14)."""
    held = state.seats[seat].hand.count(state.tile) >= 2
    missed = state.phase == "window" and (held or any(True for _ in ways(state, seat)))
    return {"misses": (state.tile,) if missed else ()}


_EFFECTS: Mapping[str, Callable[[PlayState, str, Action], Mapping[str, Any]]] = {
    "discard": _discard,
    "discard_down": _discard,
    "tour_discard": _tour,
    "hu": _hu,
    "kong_concealed": _kong,
    "kong_added": _kong,
    "kong_open": _kong,
    "chi": _claim,
    "pong": _pong,
    "pass": _pass,
}
