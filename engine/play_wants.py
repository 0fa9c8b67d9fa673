"""Sensing full: what seats are asked for in play (R13-R17, R22-R25, R39).

Every discard opens the same window with the same buttons at the three other seats; what a seat may do with it is told
to that seat alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from engine.asking import Want, prompt, timer
from engine.play import Action, PlayState, options
from engine.play.limits import must_follow
from engine.play.state import place_of_next
from engine.readings import (
    Doubt,
    claimed_for,
    coming_draw,
    doubts,
    holds_flower,
    laid_claim,
    put_away,
    told_doubts,
    unlaid,
    unlaid_meld,
)
from engine.settlement import foul_kinds
from engine.state import State, WantId, looks_at
from engine.tiles import SEATS

CLAIMS: tuple[str, ...] = ("hu", "kong_open", "pong", "chi", "pass", "expose_false")
"""The same at every seat in every window (R13)."""

LAID_MS = 500
"""How long a meld laid in a window must lie before it is its seat's claim: a hand may be on its way back."""

DOUBT_MS = 1500
"""How long a zone may show what cannot be before its seat is asked: hands are quicker than readers."""

UNSURE_MS = 4000
"""The same where the reader itself is not sure: it may look again before people have to."""

IN_THE_AIR_MS = 6000
"""How long a tile may have left the hand of the seat whose turn it is before it is asked where it lies."""


def play_wants(state: State) -> list[Want]:
    """Prompts and timers of a hand in play."""
    game = state.play.game
    if game is None or game.phase == "over":
        return []
    found = list(_ASKS[game.phase](state, game))
    found += _to_lay(state, game)
    found += _refused(state)
    found += _doubted(state, game)
    found += _to_rule(state)
    found += _to_call_off(state)
    return found


def plain_action(action: Action) -> dict[str, Any]:
    """An action as it travels: its name and what is not empty."""
    body: dict[str, Any] = {}
    for item in fields(action):
        value = getattr(action, item.name)
        if value:
            body[item.name] = list(value) if isinstance(value, tuple) else value
    return body


def _may(game: PlayState, seat: str, *but: str) -> list[dict[str, Any]]:
    return [plain_action(action) for action in options(game, seat) if action.name not in but]


def _opening(state: State, game: PlayState) -> Iterator[Want]:
    wanted = WantId(state.hand, "opening")
    for seat in game.asked:
        may = _may(game, seat, "pass")
        ways = list(dict.fromkeys(action["way"] for action in may))
        yield from prompt(wanted, "opening", (seat,), ("claim", "pass"), options=may, claims=ways)
    yield timer(WantId(state.hand, "window"), state.match.rules.opening_window_ms, people=True)


def _turn(state: State, game: PlayState) -> Iterator[Want]:
    seat = game.turn
    may = options(game, seat)
    rules = state.match.rules
    kinds = ("expose_false",) if foul_kinds(rules) else ()
    names = ("hu", "kong_concealed", "kong_added", "tour_discard", "discard", "discard_down", *kinds)
    yield from prompt(
        WantId(state.hand, "turn", state.play.beat),
        "turn",
        (seat,),
        names,
        drawn=game.drawn,
        options=[plain_action(action) for action in may if action.name != "discard"],
        discards=[action.tile for action in may if action.name == "discard"],
        follow=list(must_follow(game, seat)),
        fouls=list(foul_kinds(rules)),
    )


def _window(state: State, game: PlayState) -> Iterator[Want]:
    wanted = WantId(state.hand, "claim", state.play.beat)
    kind = "kong" if game.phase == "rob" else "discard"
    fouls = list(foul_kinds(state.match.rules))
    for seat in game.asked:
        yield from prompt(
            wanted,
            "claim",
            (seat,),
            CLAIMS,
            tile=game.tile,
            source=game.source,
            kind=kind,
            options=_may(game, seat),
            fouls=fouls,
        )
    yield timer(WantId(state.hand, "claim_window", state.play.beat), state.match.rules.claim_window_ms, people=True)
    found = laid_claim(state)
    if found is not None:
        looks = looks_at(state, found[0], "melds") + looks_at(state, game.source, "discards")
        wanted = WantId(state.hand, "laid", state.play.beat * 4 + SEATS.index(found[0]), looks + 1)
        yield timer(wanted, LAID_MS, people=True)


def _draw(state: State, game: PlayState) -> Iterator[Want]:
    draw = coming_draw(game)
    if draw is None or unlaid(state, draw.seat):
        return
    position = state.play.places[place_of_next(game, game.end)]
    if holds_flower(state, draw):
        wanted = WantId(state.hand, "replace", state.play.beat)
        yield from prompt(wanted, "replace", (draw.seat,), ("by_hand",), tile=draw.tile)
        return
    wanted = WantId(state.hand, "draw", state.play.beat)
    yield from prompt(wanted, "draw", (draw.seat,), ("by_hand",), position=position, end=game.end)


def _lap(state: State, game: PlayState) -> Iterator[Want]:
    wanted = WantId(state.hand, "lap", state.play.beat)
    names = ("hu", "kong_concealed", "kong_added", "tour_discard", "pass", "expose_false")
    yield from prompt(wanted, "lap", (game.turn,), names, drawn=game.drawn, options=_may(game, game.turn))


def _flower(state: State, game: PlayState) -> Iterator[Want]:
    wanted = WantId(state.hand, "flower", state.play.beat)
    yield from prompt(
        wanted, "flower", (game.turn,), ("hu", "pass"), tile=game.drawn, options=_may(game, game.turn)
    )


def _to_lay(state: State, game: PlayState) -> Iterator[Want]:
    """What is a seat's by right and is to be laid out, or put away (R23)."""
    for place, seat in enumerate(SEATS):
        own = game.seats[seat]
        if unlaid(state, seat):
            meld = unlaid_meld(state, seat)
            taken = claimed_for(game, seat, meld)
            added = sum(1 for laid in own.melds if laid.kind == "kong_added")
            yield from prompt(
                WantId(state.hand, "lay", len(own.melds) * 4 + place, added + 1),
                "lay",
                (seat,),
                ("by_hand",),
                kind=meld.kind,
                tiles=list(meld.tiles),
                tile=taken.tile if taken is not None else "",
                source=taken.seat if taken is not None else "",
            )
        elif tile := put_away(state, seat):
            wanted = WantId(state.hand, "lay", 64 + len(own.aside) * 4 + place)
            yield from prompt(wanted, "lay", (seat,), ("by_hand",), kind="aside", tiles=[tile], tile="", source="")


def _refused(state: State) -> Iterator[Want]:
    if state.play.refused is not None:
        seat, tile, code, rule = state.play.refused
        wanted = WantId(state.hand, "wrong_discard", looks_at(state, seat))
        yield from prompt(wanted, "wrong_discard", (seat,), (), tile=tile, code=code, rule=rule)


def _doubted(state: State, game: PlayState) -> Iterator[Want]:
    """A zone that shows what cannot be: watched for a moment, then its seat alone is asked (R39)."""
    for doubt in doubts(state):
        index = SEATS.index(doubt.seat) * 4 + _ZONES.index(doubt.zone)
        if (doubt.seat, doubt.zone) not in state.play.doubted:
            wanted = WantId(state.hand, "count_seen", index, looks_at(state, doubt.seat, doubt.zone) + 1)
            unsure = (doubt.seat, doubt.zone) in state.play.unsure
            wait = IN_THE_AIR_MS if _in_the_air(doubt) else UNSURE_MS if unsure else DOUBT_MS
            yield timer(wanted, wait, people=True, seat=doubt.seat, zone=doubt.zone)
        else:
            yield from _ask(state, game, doubt, index)
            if (doubt.seat, doubt.zone) not in state.play.told:
                wanted = WantId(state.hand, "count_open", index, _times_asked(state, doubt.seat, doubt.zone))
                yield timer(wanted, state.match.agree_ms, people=True, seat=doubt.seat, zone=doubt.zone)


def _times_asked(state: State, seat: str, name: str) -> int:
    return state.play.asks.get((seat, name), 1)


def ruling_id(state: State, seat: str, name: str) -> WantId:
    """P8: what names the question about a zone that the others, or the floor, may answer in place of its seat."""
    index = SEATS.index(seat) * 4 + _ZONES.index(name)
    return WantId(state.hand, "count_ruling", index, _times_asked(state, seat, name))


def _to_rule(state: State) -> Iterator[Want]:
    """P8: a seat does not answer; the three others may in its place. No number or face of its tiles is named."""
    for seat, name in told_doubts(state):
        said = {by: ruling for by, owner, where, ruling in state.play.rulings if (owner, where) == (seat, name)}
        for other in SEATS:
            if other != seat:
                actions = tuple(ruling for ruling in ("believed", "out") if said.get(other) != ruling)
                wanted = ruling_id(state, seat, name)
                yield from prompt(wanted, "count_ruling", (other,), actions, seat=seat, zone=name, said=said)


def _to_call_off(state: State) -> Iterator[Want]:
    """P9: a hand that cannot go on, or behind which the match ends anyway, may be called off by two seats."""
    asked = state.play.called_off
    if not (asked or state.session.ending or told_doubts(state)):
        return
    wanted = WantId(state.hand, "call_off", 0, state.play.calls_off + 1)
    for seat in SEATS:
        actions = ("keep",) if seat in asked else ("call_off", "keep") if asked else ("call_off",)
        yield from prompt(wanted, "call_off", (seat,), actions, asked_by=list(asked))


def _in_the_air(doubt: Doubt) -> bool:
    return doubt.otherwise is not None and len(doubt.seen) < len(doubt.believed)


def _ask(state: State, game: PlayState, doubt: Doubt, index: int) -> Iterator[Want]:
    """The seat's word is asked for; a tile that it may not have drawn yet is not named."""
    times = looks_at(state, doubt.seat, doubt.zone) + 1
    if doubt.counts_differ:
        yield from prompt(
            WantId(state.hand, "count_wrong", index, times),
            "count_wrong",
            (doubt.seat,),
            ("ok", "admit"),
            zone=doubt.zone,
            seen=len(doubt.seen),
            expected=len(doubt.believed),
        )
        return
    draw = coming_draw(game)
    drawn = draw is not None and draw.seat == doubt.seat and doubt.zone == "hand"
    believed = Counter(doubt.believed) - Counter(doubt.seen)
    if draw is not None and drawn:
        believed -= Counter([draw.tile])
    yield from prompt(
        WantId(state.hand, "reader_check", index, times),
        "reader_check",
        (doubt.seat,),
        ("believed", "seen") if drawn or doubt.otherwise is not None else ("believed",),
        zone=doubt.zone,
        seen=sorted((Counter(doubt.seen) - Counter(doubt.believed)).elements()),
        believed=sorted(believed.elements()),
        counts={"seen": len(doubt.seen), "believed": len(doubt.believed)},
        drawn=drawn,
    )


_ZONES = ("hand", "flowers", "melds", "discards")

_ASKS: Mapping[str, Callable[[State, PlayState], Iterator[Want]]] = {
    "opening": _opening,
    "turn": _turn,
    "window": _window,
    "rob": _window,
    "draw": _draw,
    "lap": _lap,
    "flower": _flower,
}
