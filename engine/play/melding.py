"""吃, 碰 and the kongs: what may be laid, and what it makes of the hand (R11-R15, R24)."""

from __future__ import annotations

from collections.abc import Iterator

from engine.melds import Meld, is_meld
from engine.play import events as e
from engine.play.actions import Action, No
from engine.play.limits import in_own_turn, must_complete, too_late
from engine.play.state import PlayState, without
from engine.tiles import next_seat, sort_tiles

COPIES_NEEDED = {"pong": 2, "kong_open": 3}
LEAST_COPIES = min(COPIES_NEEDED.values())


def chi_pairs(state: PlayState, seat: str) -> Iterator[tuple[str, ...]]:
    """Pairs of own faces that could make a run with the tile in the window, each in tile order."""
    if seat != next_seat(state.source):
        return
    runs = state.deal.runs.get(state.tile)
    if runs:
        faces = state.seats[seat].faces
        yield from (pair for pair, fits in runs.items() if fits and pair[0] in faces and pair[1] in faces)


def concealed_kongs(state: PlayState, seat: str) -> Iterator[Action]:
    """Kongs of four alike in hand."""
    hand = state.seats[seat].hand
    faces = state.seats[seat].faces
    if len(faces) <= len(hand) - 3:
        yield from (Action("kong_concealed", face) for face in faces if hand.count(face) == 4)


def added_kongs(state: PlayState, seat: str) -> Iterator[Action]:
    """Fourth tiles of own pongs in hand."""
    held = state.seats[seat]
    pongs = (meld.tiles[0] for meld in held.melds if meld.kind == "pong")
    yield from (Action("kong_added", face) for face in pongs if face in held.hand)


def check_claim(state: PlayState, seat: str, action: Action) -> No | None:
    """R11, R13, R14: whether a discard may be claimed for 吃, 碰 or 明杠."""
    if state.phase != "window" or seat not in state.asked:
        answered = seat in state.answers
        return No("already_answered", "R14") if answered else No("not_asked", "R13")
    if state.tile == state.deal.gold:
        return No("gold_not_claimable", "R11")
    return _check_chi(state, seat, action) if action.name == "chi" else _check_same(state, seat, action)


def check_kong(state: PlayState, seat: str, action: Action) -> No | None:
    """R15: 暗杠 from four in hand, 补杠 on an own 碰; in another's last lap one that the drawn tile makes (R23)."""
    held, rules, tile = state.seats[seat], state.deal.rules, action.tile
    if state.phase == "lap" and state.turn == seat:
        if not _kongs_in_lap(state) or tile != state.drawn:
            return No("no_kong_in_lap", "R23")
    elif no := in_own_turn(state, seat) or must_complete(state, seat):
        return no
    if state.entry == "claim" and not rules.kong_after_claim:
        return No("kong_needs_draw", "R15")
    if tile == state.deal.gold:
        return No("gold_not_claimable", "R11")
    if action.name == "kong_concealed":
        fits = held.hand.count(tile) == 4
    else:
        fits = tile in held.hand and _pong_of(state, seat, tile) is not None
    return None if fits else No("no_kong", "R15", {"tile": tile})


def laid(state: PlayState, seat: str, action: Action, source: str) -> e.MeldLaid:
    """The event of a meld that is carried out; `source` is the discarder, empty for a kong of one's own."""
    if action.name == "chi":
        tiles = tuple(sort_tiles((*action.tiles, state.tile)))
    elif action.name in COPIES_NEEDED:
        tiles = (state.tile,) * (COPIES_NEEDED[action.name] + 1)
    else:
        tiles = (action.tile,) * 4
    taken = {"kong_concealed": "", "kong_added": action.tile}.get(action.name, state.tile)
    gone = tiles if not taken else (taken,) if action.name == "kong_added" else without(tiles, taken)
    return e.MeldLaid(seat, action.name, tiles, taken, source, _ready_by_kong(state, seat, action.name, gone))


def robbable(state: PlayState) -> bool:
    """R15: whether a 补杠 is shown before it is laid; in another's lap nobody is asked."""
    return state.deal.rules.rob_kong and state.phase != "lap"


def _ready_by_kong(state: PlayState, seat: str, kind: str, gone: tuple[str, ...]) -> bool:
    """R24: after 明杠 and 补杠 the replacement counts as the own draw of a 游金; after 暗杠 a lap more is needed.

    Where that rule is off a kong leads nobody into 游金, but one that leaves a ready hand ready does not end it (R22).
    """
    rules, held = state.deal.rules, state.seats[seat]
    if rules.kong_youjin:
        if kind not in ("kong_open", "kong_added") or (not held.ready and too_late(state) is not None):
            return False
    elif not held.ready:
        return False
    return state.deal.youjin_ready(without(held.hand, *gone))


def _check_chi(state: PlayState, seat: str, action: Action) -> No | None:
    if seat != next_seat(state.source):
        return No("chi_seat", "R13")
    hand, gold = state.seats[seat].hand, state.deal.gold
    if len(action.tiles) != 2 or any(hand.count(tile) < action.tiles.count(tile) for tile in action.tiles):
        return No("not_in_hand", "R13", {"tiles": action.tiles})
    low, high = action.tiles
    fits = state.deal.runs.get(state.tile, {}).get((low, high))
    if not (is_meld(state.deal.rules, gold, Meld("chi", (low, high, state.tile))) if fits is None else fits):
        return No("no_set", "R13", {"tiles": action.tiles})
    return None


def _check_same(state: PlayState, seat: str, action: Action) -> No | None:
    held = state.seats[seat]
    if held.hand.count(state.tile) < COPIES_NEEDED[action.name]:
        return No("no_set", "R13", {"tile": state.tile})
    return No("missed", "R14", {"tile": state.tile}) if state.tile in held.missed else None


def _kongs_in_lap(state: PlayState) -> bool:
    tour = state.tour
    return tour is not None and tour.level == 3 and state.deal.rules.sanyou_interrupt == "kong_only"


def _pong_of(state: PlayState, seat: str, tile: str) -> Meld | None:
    melds = state.seats[seat].melds
    return next((meld for meld in melds if meld.kind == "pong" and meld.tiles[0] == tile), None)
