"""Sensing full: the readers' events become draws, discards and melds, and the table referees (R13-R17, R23, R39).

The game is held before each draw until a hand has made it: nothing is said of a tile that stands in the wall. A
reader that shows what cannot be never changes the hand: the seat is asked, and its word is kept as a correction.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from engine import events as e
from engine import inputs as i
from engine.deciding import Chain, Refused
from engine.play import Action, PlayState, begin_events, decide, decide_clock
from engine.play.actions import UNDRAWN
from engine.play.deal import check_deal
from engine.play.events import PlayEnded, PlayEvent, TileDrawn
from engine.play.limits import check_tour
from engine.play.state import place_of_next, without
from engine.readings import (
    Doubt,
    coming_draw,
    contradicted,
    discard_shown,
    doubts,
    hand_is,
    is_drawn,
    laid_claim,
    melds_of,
    own_part,
    told_doubts,
    unlaid,
    what_follows,
    zone,
)
from engine.settling import settle_game
from engine.state import State
from engine.tiles import SEATS, is_flower
from engine.wants import Want


def begin_play(chain: Chain) -> None:
    """The gold lies open: the openings (R25), then the dealer's turn."""
    chain.add(e.PlayBegun())
    game = _game(chain.state)
    check_deal(game.deal)
    _carry(chain, begin_events(game.deal))


def play(chain: Chain, seat: str, action: Action) -> None:
    """What a seat does; Refused where the rules do not allow it, and to win while it is asked about its count (R39)."""
    state = chain.state
    if action.name == "hu" and any(doubt.counts_differ for doubt in doubts(state) if _is_asked(state, doubt, seat)):
        raise Refused("count", "R39", {"seat": seat})
    events = decide(_game(state), seat, action)
    chain.add(
        e.SeatPlayed(seat, action.name, action.tile, action.tiles, action.way, action.kind, action.reason)
    )
    _carry(chain, events)


def laid_stays(chain: Chain) -> None:
    """R13: a meld has lain in an open window for a while; it is what its seat answers, as if it had pressed it."""
    found = laid_claim(chain.state)
    if found is not None:
        play(chain, *found)


def window_over(chain: Chain) -> None:
    """R13: the time of a window is over; a claim that lies there by then is made."""
    laid_stays(chain)
    game = chain.state.play.game
    events = decide_clock(game) if game is not None else ()
    if events:
        chain.add(e.WindowTimeUp())
        _carry(chain, events)


def follow(chain: Chain) -> None:
    """Everything that the readers show to have been done, and what they show that cannot be."""
    game = chain.state.play.game
    if game is None or game.phase == "over":
        return
    if game.phase == "draw":
        _follow_draw(chain, game)
    elif game.phase in ("turn", "lap"):
        _follow_turn(chain, game)
    _follow_doubts(chain)


def _follow_draw(chain: Chain, game: PlayState) -> None:
    draw = coming_draw(game)
    if draw is None or is_drawn(chain.state, draw):
        _carry(chain, what_follows(game), drawn=True)


def _follow_turn(chain: Chain, game: PlayState) -> None:
    """A tile gone from the hand to the discards: a discard; a kong laid beside the hand: a kong. In another's lap
    only a gold leads on by being discarded (R23).
    """
    seat = game.turn
    if chain.state.play.refused is not None:
        return
    action = _discard_lies(chain.state, game, seat) or _kong_laid(chain.state, game, seat)
    if action is None:
        return
    try:
        play(chain, seat, action)
    except Refused as refused:
        chain.add(e.DiscardRefused(seat, action.tile, refused.code, refused.rule))


def _discard_lies(state: State, game: PlayState, seat: str) -> Action | None:
    tile = discard_shown(state, game)
    if not tile:
        return None
    gold = tile == game.deal.gold
    if game.phase == "lap" and not gold:
        return None
    name = "tour_discard" if gold and check_tour(game, seat, Action("tour_discard", tile)) is None else "discard"
    return Action(name, tile)


def _kong_laid(state: State, game: PlayState, seat: str) -> Action | None:
    """R15: four of a face laid beside the hand, or the fourth to an own 碰, and gone from the hand."""
    seen = Counter(zone(state, seat, "melds") or ())
    known = Counter(tile for meld in game.seats[seat].melds for tile in meld.tiles)
    new = seen - known
    if len(new) != 1 or unlaid(state, seat):
        return None
    ((tile, copies),) = new.items()
    hand = game.seats[seat].hand
    if tile not in hand or not hand_is(state, seat, without(hand, *(tile,) * min(copies, hand.count(tile)))):
        return None
    if copies == 4 and hand.count(tile) == 4:
        return Action("kong_concealed", tile)
    ponged = any(meld.kind == "pong" and meld.tiles[0] == tile for meld in game.seats[seat].melds)
    return Action("kong_added", tile) if copies == 1 and ponged else None


def _follow_doubts(chain: Chain) -> None:
    found = {(doubt.seat, doubt.zone) for doubt in doubts(chain.state)}
    for seat, name in chain.state.play.doubted:
        if (seat, name) not in found:
            chain.add(e.CountRight(seat, name))


def doubt_stays(chain: Chain, wanted: Want) -> None:
    """A zone has shown for a while what cannot be."""
    chain.add(e.CountDoubted(wanted.params["seat"], wanted.params["zone"]))


def _is_asked(state: State, doubt: Doubt, seat: str) -> bool:
    return doubt.seat == seat and (seat, doubt.zone) in state.play.doubted


def doubt_of(state: State, seat: str, name: str) -> Doubt | None:
    """What is doubted of a zone; None where it shows what it should."""
    return next((doubt for doubt in doubts(state) if (doubt.seat, doubt.zone) == (seat, name)), None)


def believe(chain: Chain, asked: i.SeatAction, wanted: Want) -> None:
    """The seat says that its zone is as the table believes: its reader is wrong."""
    doubt = doubt_of(chain.state, asked.seat, wanted.params["zone"])
    if doubt is not None:
        chain.add(e.ZoneAccepted(asked.seat, doubt.zone, doubt.believed))


def admit(chain: Chain, asked: i.SeatAction, wanted: Want) -> None:
    """R39 相公: the seat says that it does hold a wrong number of tiles; with one too many it has drawn its own."""
    _put_out(chain, asked.seat)


def _put_out(chain: Chain, seat: str) -> None:
    game = _game(chain.state)
    draw, seen = coming_draw(game), zone(chain.state, seat, "hand") or ()
    undrawn = draw is not None and draw.seat == seat
    if undrawn and len(seen) > len(game.seats[seat].hand):
        _carry(chain, what_follows(game)[:1], drawn=True)
        undrawn = False
    play(chain, seat, Action("cover", kind=UNDRAWN if undrawn else "", reason="wrong_count"))


def tell_all(chain: Chain, wanted: Want) -> None:
    """P8: what a seat was asked about a zone has stayed unanswered; now all four know of it."""
    chain.add(e.CountTold(wanted.params["seat"], wanted.params["zone"]))


def rule(chain: Chain, asked: i.SeatAction, wanted: Want) -> None:
    """P8: what another seat says of a zone whose seat does not answer; once all three say the same it holds."""
    seat, name = wanted.params["seat"], wanted.params["zone"]
    if (asked.seat, seat, name, asked.action) in chain.state.play.rulings:
        raise Refused("already_answered", "P8")
    chain.add(e.CountRuled(asked.seat, seat, name, asked.action))
    same_said = [one for one in chain.state.play.rulings if one[1:] == (seat, name, asked.action)]
    if len(same_said) == len(SEATS) - 1:
        _ruled(chain, seat, name, asked.action)


def decided_by_floor(chain: Chain, choice: int) -> None:
    """P8: the floor rules on the first zone whose seat does not answer: 1 its reader errs, 2 it is out of the hand."""
    seat, name = told_doubts(chain.state)[0]
    ruling = "believed" if choice == 1 else "out"
    chain.add(e.CountRuled("", seat, name, ruling))
    _ruled(chain, seat, name, ruling)


def _ruled(chain: Chain, seat: str, name: str, ruling: str) -> None:
    doubt = doubt_of(chain.state, seat, name)
    if ruling == "out":
        _put_out(chain, seat)
    elif doubt is not None:
        chain.add(e.ZoneAccepted(seat, name, doubt.believed))


def ask_call_off(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    """P9: a second seat that wants the same ends the hand as one that nobody has won; all four agree on it."""
    chain.add(e.CallOffAsked(asked.seat))
    if len(chain.state.play.called_off) > 1:
        doubted = contradicted(chain.state)
        chain.add(e.Played(PlayEnded("draw", "")))
        settle_game(chain, doubted, called_off=True)


def keep_on(chain: Chain, asked: i.SeatAction, _: Want) -> None:
    """P9: a seat wants the hand to go on."""
    chain.add(e.CallOffKept(asked.seat))


def as_seen(chain: Chain, asked: i.SeatAction, wanted: Want) -> None:
    """The seat has drawn another tile than the wall's readers said: the wall is put right (a correction). Or it has
    discarded what its discards show, whatever its hand does.
    """
    state = chain.state
    doubt = doubt_of(state, asked.seat, wanted.params["zone"])
    game = _game(state)
    if doubt is not None and doubt.otherwise is not None:
        chain.add(e.ZoneAccepted(asked.seat, "hand", doubt.otherwise))
        return
    draw = coming_draw(game)
    if doubt is None or draw is None or draw.seat != asked.seat or doubt.zone != "hand":
        raise Refused("known_before", "R39")
    new = list((Counter(doubt.seen) - Counter(game.seats[asked.seat].hand)).elements())
    others = [at for at in game.left if game.deal.wall[at] == new[0]] if len(new) == 1 else []
    if len(new) != 1 or not others:
        raise Refused("no_such_tile", "R39", {"tile": new[0] if new else ""})
    here, there = place_of_next(game, draw.end), others[-1]
    positions = state.play.places
    chain.add(e.WallCorrected(asked.seat, ((positions[here], new[0]), (positions[there], draw.tile))))


def done_by_hand(chain: Chain, asked: i.SeatAction, wanted: Want) -> None:
    """The seat says that it has drawn, laid out or put away what it was to, although no reader shows it."""
    state = chain.state
    game = _game(state)
    own = game.seats[asked.seat]
    if wanted.verb == "lay":
        laid = own_part(state, game, asked.seat) or own.aside[-1:]
        if hand_is(state, asked.seat, (*own.hand, *laid)):
            chain.add(e.ZoneAccepted(asked.seat, "hand", own.hand))
        if wanted.params["kind"] != "aside":
            chain.add(e.ZoneAccepted(asked.seat, "melds", melds_of(game, asked.seat)))
        return
    draw = coming_draw(game)
    if draw is None or draw.seat != asked.seat:
        return
    if is_flower(draw.tile) and wanted.verb == "replace":
        chain.add(e.ZoneAccepted(asked.seat, "flowers", (*own.flowers, draw.tile)))
        chain.add(e.ZoneAccepted(asked.seat, "hand", own.hand))
    else:
        chain.add(e.ZoneAccepted(asked.seat, "hand", (*own.hand, draw.tile)))


def action_of(asked: i.SeatAction) -> Action:
    """The action of an answer; Refused names a field that is none."""
    values: dict[str, Any] = {"name": asked.action}
    for field in ("tile", "way", "kind", "reason"):
        value = asked.params.get(field, "")
        if not isinstance(value, str):
            raise Refused("bad_value", "R13", {"field": field, "expected": "a text"})
        values[field] = value
    tiles = asked.params.get("tiles", ())
    if not isinstance(tiles, list | tuple) or not all(isinstance(tile, str) for tile in tiles):
        raise Refused("bad_value", "R13", {"field": "tiles", "expected": "two tiles"})
    return Action(**values, tiles=tuple(tiles))


def _carry(chain: Chain, events: tuple[PlayEvent, ...], drawn: bool = False) -> None:
    """What happens in play, up to the next draw that a hand has to make; `drawn`: the first of them has been made."""
    before = chain.state
    for event in events:
        if isinstance(event, TileDrawn):
            if not drawn:
                break
            drawn = False
        chain.add(e.Played(event))
    if _game(chain.state).phase == "over":
        settle_game(chain, contradicted(before))


def _game(state: State) -> PlayState:
    game = state.play.game
    assert game is not None, "no hand is in play"
    return game
