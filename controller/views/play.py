"""A hand in play as everybody sees it: discards, melds, whose turn it is; nothing that a concealed tile decides.

A draw looks the same whatever was drawn: the engine counts a flower once it lies before its seat, everybody sees the
tile leave the wall for the hand before that. A flower that was laid out looks the same whether or not it may win.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from controller.live import Live
from controller.views.once import Once, wanted
from engine import book as books
from engine.book import Book
from engine.match_wants import to_decide
from engine.melds import Meld
from engine.memo import by_identity
from engine.opening import next_tiles
from engine.play import apply
from engine.play.events import FlowerReplaced, PlayEvent, TileDrawn
from engine.play.state import MING, PlayState, place_of_next, to_draw
from engine.play_wants import ruling_id
from engine.readings import coming_draw, is_drawn, told_doubts, zone
from engine.state import State, flowers_of, gone_from_wall, set_up
from engine.tiles import SEATS, format_tiles, is_flower

WINDOW_TIMERS = {"window": "opening", "claim_window": "claim", "agree_clock": "agree", "bid_clock": "bid"}
"""Timers that everybody sees run, and what they are for."""

_STAGES = {"draw": "draw", "turn": "turn", "window": "window", "rob": "rob", "lap": "lap"}
_WINDOWS = ("window", "rob")


@by_identity(4)
def steps_seen(state: State) -> tuple[State, ...]:
    """The state and what everybody sees follow from it: no flower may win, each is replaced as soon as it is laid out.

    That one may win says that its seat is youjin-ready, or holds golds (R22, R26): its own view alone tells it.
    """
    found = [state]
    while (follows := _follows(found[-1])) is not None:
        found.append(_played(found[-1], follows))
    return tuple(found)


def _follows(state: State) -> PlayEvent | None:
    """What has happened to everybody's eyes although the game does not know it yet."""
    game = state.play.game
    if game is None:
        return None
    if game.phase == "flower":
        return FlowerReplaced(game.turn)
    draw = coming_draw(game) if game.phase == "draw" and game.end == "tail" else None
    return draw if draw is not None and is_drawn(state, draw) else None


def as_seen(state: State) -> State:
    """The state as everybody sees it."""
    return steps_seen(state)[-1]


def _played(state: State, event: PlayEvent) -> State:
    assert state.play.game is not None
    return replace(state, play=replace(state.play, game=apply(state.play.game, event)))


def flowers(state: State) -> dict[str, list[str]]:
    """The flowers that lie before each seat."""
    state = as_seen(state)
    return {seat: list(flowers_of(state, seat)) for seat in SEATS}


def play(state: State) -> dict[str, Any] | None:
    """Play as it lies open; None before the gold lies open and after the hand."""
    state = as_seen(state)
    game = state.play.game
    if game is not None:
        return _read(state, game) if game.phase in _STAGES else _over(game) if game.phase == "over" else None
    return None if state.book is None else _told(state.book)


def book(state: State) -> dict[str, Any] | None:
    """The book that people keep, as far as everybody may see it; None while there is none.

    `id` is that of what the floor may decide now (`decide`).
    """
    return None if state.book is None else {**books.public(state.book), "id": to_decide(state) or None}


def _drawn_unlaid(state: State) -> TileDrawn | None:
    """The draw of a flower that readers show already and the game does not count yet; None at every other moment."""
    game = state.play.game
    draw = coming_draw(game) if game is not None and game.phase == "draw" else None
    if draw is None or not is_flower(draw.tile):
        return None
    seen = (zone(state, draw.seat, name) or () for name in ("hand", "flowers"))
    return draw if any(draw.tile in tiles for tiles in seen) else None


drawn_unlaid: Once[TileDrawn | None] = Once(_drawn_unlaid)


def _gone(state: State) -> frozenset[str]:
    """The positions whose tiles everybody has seen leave the wall."""
    state = as_seen(state)
    left = gone_from_wall(state)
    game, draw = state.play.game, drawn_unlaid(state)
    if game is None or draw is None:
        return left
    return left | {state.play.places[place_of_next(game, draw.end)]}


gone: Once[frozenset[str]] = Once(_gone)


def draws_seen(state: State) -> int:
    """How many draws of this hand there were up to a step that everybody has seen."""
    game = state.play.game
    if game is None:
        return 0
    return sum(own.draws for own in game.seats.values()) + (drawn_unlaid(state) is not None)


def counts(state: State) -> dict[str, int] | None:
    """How many tiles each hand holds, one just drawn among them whatever it is; None where nobody knows."""
    state = as_seen(state)
    if state.setup is None or not state.reads_tiles or not set_up(state):
        return None
    game, draw = state.play.game, drawn_unlaid(state)
    if game is None:
        return {seat: len(state.play.hands.get(seat, ())) for seat in SEATS}
    return {seat: len(game.seats[seat].hand) + (draw is not None and draw.seat == seat) for seat in SEATS}


def window(state: State, live: Live) -> dict[str, Any] | None:
    """Only that a window is open and for how long: nothing that depends on who can claim (R13)."""
    for want in wanted(state):
        kind = WINDOW_TIMERS.get(want.verb) if want.kind == "timer" else None
        if kind is not None:
            return {"kind": kind, "left_ms": int(live.timers.get(str(want.id), want.after_ms))}
    return None


def melds_shown(melds: tuple[Meld, ...]) -> list[dict[str, str]]:
    """Melds as they lie."""
    return [{"kind": meld.kind, "tiles": format_tiles(meld.tiles)} for meld in melds]


def _read(state: State, game: PlayState) -> dict[str, Any]:
    asked = game.phase in _WINDOWS
    lapping = game.tour is not None and game.tour.owner != game.turn
    unlaid = drawn_unlaid(state) is not None
    return {
        "turn": game.turn if not asked else None,
        "stage": ("lap" if lapping else "turn") if unlaid else _STAGES[game.phase],
        "tile": game.tile if asked else None,
        "source": game.source if asked else None,
        **_lying(game),
        "tour": None if game.tour is None else {"owner": game.tour.owner, "level": game.tour.level},
        "to_draw": max(0, to_draw(game) - unlaid),
        "position": _next_place(state, game, unlaid),
        "unanswered": _unanswered(state),
    }


def _unanswered(state: State) -> dict[str, str] | None:
    """P8: the first zone whose seat does not answer what it was asked, with the id by which the floor may decide."""
    found = told_doubts(state)
    if not found:
        return None
    seat, name = found[0]
    return {"seat": seat, "zone": name, "id": str(ruling_id(state, seat, name))}


def _over(game: PlayState) -> dict[str, Any]:
    return {
        "turn": None, "stage": "over", "tile": None, "source": None, **_lying(game), "tour": None,
        "to_draw": to_draw(game), "position": None, "unanswered": None,
    }  # fmt: skip


def _lying(game: PlayState) -> dict[str, Any]:
    """What has been laid on the felt; a discard that was claimed lies in a meld."""
    pond: dict[str, list[str]] = {seat: [] for seat in SEATS}
    for one in game.discards:
        if not one.taken:
            pond[one.seat].append("" if one.how == MING else one.tile)
    last = game.discards[-1] if game.discards else None
    return {
        "discards": pond,
        "last": None if last is None else {"seat": last.seat, "tile": "" if last.how == MING else last.tile},
        "melds": {seat: melds_shown(game.seats[seat].melds) for seat in SEATS},
        "aside": {seat: len(game.seats[seat].aside) for seat in SEATS},
        "covered": {seat: game.seats[seat].covered for seat in SEATS if game.seats[seat].covered},
        "number": len(game.discards),
    }


def _next_place(state: State, game: PlayState, unlaid: bool) -> str | None:
    """Where the next tile comes from; while nobody is to draw, at the head."""
    lines = state.play.lines
    if lines is None or to_draw(game) - unlaid <= 0:
        return None
    tail = game.phase == "draw" and game.end == "tail" and not unlaid
    return next(iter(next_tiles(lines.tail if tail else lines.head, gone(state), 1)), None)


def _told(book: Book) -> dict[str, Any]:
    """Where nothing is read the table knows kongs and 盖牌, as people tell them."""
    told = books.kongs(book)
    kongs = {seat: [{"kind": f"kong_{kong.kind}", "tiles": ""} for kong in told[seat]] for seat in SEATS}
    return {
        "turn": None, "stage": "keep", "tile": None, "source": None,
        "discards": {}, "last": None, "melds": kongs, "aside": {},
        "covered": dict.fromkeys(books.covered(book), "told"),
        "to_draw": None, "number": 0, "tour": None, "position": None,
    }  # fmt: skip
