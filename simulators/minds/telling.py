"""Sensing none: play by people's own referee, and the book that their displays keep of it.

One touch for each flower and kong; the winner tells the win, the dealer a draw or a false win.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.book.sheets import kong_of
from engine.melds import KONGS, counts_as_honour
from engine.outcome import Win
from engine.play import Action
from engine.ruleset import Ruleset
from engine.settlement import foul_kinds
from engine.tiles import is_flower
from protocol.mqtt.views import SeatView, Want
from simulators.brain import action_of, plain_of
from simulators.minds.choosing import chosen
from simulators.minds.person import Answering, Intention, Person, by_anybody, rank_of, rules_of, table_of
from simulators.minds.playing import exposes, wrong_claim
from simulators.minds.truth import Over, over_of, win_of
from simulators.minds.walls import roll_of
from simulators.sight import RoundSight, Sight

# --- play -------------------------------------------------------------------------------------------------------------


def begin_round(person: Person, view: SeatView, sight: Sight) -> Iterator[Intention]:
    """The gold lies open: the dealer says that play begins."""
    deal, gold = roll_of(view, "deal"), view.gold
    if view.phase != "play" or sight.round is not None or deal is None or view.dealer is None:
        return
    if gold is None or gold.position is None or gold.position not in sight.flipped:
        return
    door = roll_of(view, "door")
    arguments = {
        "rules": view.rules,
        "options": dict(view.options),
        "layout": view.layout,
        "dealer": view.dealer,
        "deal": list(deal),
        "door": list(door) if door is not None else None,
        "gold": gold.position,
    }
    yield Intention("begin_round", arguments, rank=rank_of(person, view.dealer))


def play_round(person: Person, view: SeatView, sight: Sight) -> Iterator[Intention]:
    """Whatever the rules of play ask of this seat, done by hand and by word."""
    game = sight.round
    if game is None or game.over is not None or view.phase != "play":
        return
    if (_should_hold(game, person.seat) - len(sight.hand)) % 3 == 1 and sight.discards[person.seat]:
        # Discarded out of turn: the tile is taken back before anybody goes on.
        yield Intention("take_back", pace="lay")
        return
    if not game.asked:
        yield from _forgotten_draw(person, view, sight)
        return
    number, options = game.number, list(game.options)
    yield from _errors(person, view, sight, [action_of(option) for option in options])
    action = chosen(person, view, sight, number, options, game.tile)
    if action is not None:
        own_turn = game.phase == "turn"
        yield _play(action, number, "think" if own_turn else "claim")


def lay_open(person: Person, view: SeatView, sight: Sight) -> Iterator[Intention]:
    """The hand is over: everybody lays the tiles open, so that all see what is paid for."""
    if over_of(sight) is not None and person.seat not in sight.shown and sight.hand and sight.centre == "down":
        yield Intention("show_hand", pace="lay")


def _should_hold(game: RoundSight, seat: str) -> int:
    """Whether a seat should hold 3n+1 tiles or one more: 1 or 2."""
    drawn = game.turn == seat and game.phase in ("turn", "lap") and not (game.drawn and is_flower(game.drawn))
    return 2 if drawn or (game.phase == "rob" and game.source == seat) else 1


def _play(action: Action, number: int, pace: str, slip: str = "") -> Intention:
    return Intention("play", {"action": plain_of(action), "number": number}, pace=pace, slip=slip)


def _errors(person: Person, view: SeatView, sight: Sight, options: Sequence[Action]) -> Iterator[Intention]:
    game, rules = sight.round, rules_of(view)
    if game is None or rules is None:
        return
    slip = person.slip("wrong_claim", view.hand, game.number)
    wrong = wrong_claim(list(options)) if slip and game.phase == "window" else None
    if wrong is not None:
        yield _play(wrong, game.number, "claim", slip)
    exposed = exposes(person, view, game.number)
    wins = any(option.name == "hu" for option in options)
    if exposed and not wins and game.phase in ("turn", "window") and foul_kinds(rules):
        yield _play(Action("expose_false", kind=foul_kinds(rules)[0]), game.number, "think", exposed)


def _forgotten_draw(person: Person, view: SeatView, sight: Sight) -> Iterator[Intention]:
    """相公: a discard without a draw, taken back, or owned up to when the others see it."""
    game = sight.round
    if game is None or game.phase != "window" or game.source == person.seat or person.seat in game.covered:
        return
    slip = person.slip("forget_draw", view.hand, game.number)
    if not slip or len(sight.hand) % 3 != 1:
        return
    chance = person.chance("forgotten", view.hand, game.number)
    gold = view.gold.face if view.gold is not None else None
    kept = [tile for tile in sight.hand if tile != gold]
    if chance.random() < 0.5:
        yield _play(Action("cover", reason="wrong_count"), game.number, "think", slip)
    elif kept:
        yield Intention("discard", {"tile": chance.choice(kept)}, pace="think", slip=slip)


# --- the book ---------------------------------------------------------------------------------------------------------


def touch_laid(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """One touch for each flower that lies before this seat; who forgets one remembers it when the hand is over."""
    known = {*table_of(want, "taken"), *listed(want.params, "mine"), *listed(table_of(want, "said"), "flowers")}
    for face in sight.flowers[person.seat]:
        if face in known:
            continue
        slip = person.slip("forget_flower", view.hand, face) if view.phase in ("play", "settle") else ""
        if not slip or over_of(sight) is not None:
            yield Intention("flower", {"tile": face}, want=want.id, slip=slip)


def touch_kongs(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """One touch for each kong; one too many is taken back."""
    rules = rules_of(view)
    said = table_of(want, "said")
    if rules is None or said.get("by") == "tiles":
        return
    told = said.get("kongs") if said else table_of(want, "kongs").get(person.seat)
    touched = Counter((str(kong["kind"]), bool(kong.get("honour"))) for kong in told or () if isinstance(kong, Mapping))
    mine = Counter(_kongs_of(rules, view, sight, person.seat))
    for (kind, honour), _ in (mine - touched).items():
        yield Intention("kong", {"kind": kind, **({"honour": True} if honour else {})}, want=want.id)
    for (kind, honour), _ in (touched - mine).items():
        yield Intention("unkong", {"kind": kind, **({"honour": True} if honour else {})}, want=want.id)


def _kongs_of(rules: Ruleset, view: SeatView, sight: Sight, seat: str) -> Iterator[tuple[str, bool]]:
    gold = view.gold.face if view.gold is not None else None
    for meld in sight.melds[seat]:
        if meld.kind in KONGS:
            honour = counts_as_honour(rules, gold, meld.tiles[0])
            kong = kong_of(rules, meld.kind.removeprefix("kong_"), honour)
            yield kong.kind, kong.honour


def _book(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    yield from touch_laid(person, view, sight, want)
    yield from touch_kongs(person, view, sight, want)
    over = over_of(sight)
    if over is None:
        yield from _false_win(person, view, sight, want)
        return
    yield from beside_the_end(person, view, want, over)
    yield from the_end(person, view, want, over)


def _false_win(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """胡 touched where nobody has won; it is taken back at once."""
    game = sight.round
    if game is None or game.asked or "win" not in want.actions:
        return
    slip = person.slip("false_win", view.hand, game.number)
    if slip:
        yield Intention("win", {"way": "zimo"}, want=want.id, slip=slip)


def beside_the_end(person: Person, view: SeatView, want: Want, over: Over) -> Iterator[Intention]:
    """盖牌 and 跟庄, told before the end is."""
    teller = teller_of(view, over)
    told = listed(want.params, "covered")
    for seat in over["covered"]:
        if seat not in told:
            yield by_anybody(person, teller, want, "cover", seat=seat, on=True)
    for seat in told:
        if seat not in over["covered"]:
            yield by_anybody(person, teller, want, "cover", seat=seat, on=False)
    followed = {"no_flowers": bool(over["no_flowers"]), "followed": int(over["followed"])}
    known = want.params.get("followed")
    if isinstance(known, Mapping) and dict(known) != followed:
        yield by_anybody(person, teller, want, "followed", **followed)


def the_end(person: Person, view: SeatView, want: Want, over: Over) -> Iterator[Intention]:
    """Each winner tells the own win, the dealer how the hand ended otherwise; another in the place of who does not."""
    teller = teller_of(view, over)
    if over["kind"] == "win":
        for won in over["winners"]:
            win = win_of(over, won["seat"])
            if win is not None and not tells(want, win):
                yield by_anybody(person, win.seat, want, "win", seat=win.seat, **_said_win(win))
    elif over["kind"] == "draw":
        last = over["last_drawer"] if want.params.get("last_drawer") is True else ""
        yield by_anybody(person, teller, want, "drawn", **({"last_drawer": last} if last else {}))
    elif over["foul"] is not None:
        yield by_anybody(person, teller, want, "foul", kind=over["foul"]["kind"], seat=over["foul"]["seat"])


def tells(want: Want, win: Win) -> bool:
    """Whether this win is among those told."""
    plain = {"seat": win.seat, "way": win.way, "source": win.source}
    return any(dict(one) == plain for one in want.params.get("winners", ()) if isinstance(one, Mapping))


def teller_of(view: SeatView, over: Over) -> str:
    """Who tells how the hand ended: the first winner, else the dealer."""
    return str(over["winners"][0]["seat"]) if over["winners"] else view.dealer or "E"


def listed(params: Mapping[str, Any], name: str) -> Sequence[Any]:
    """A list in params; empty where it is none."""
    value = params.get(name, ())
    return value if isinstance(value, list | tuple) else ()


def _said_win(win: Win) -> dict[str, Any]:
    return {"way": win.way, **({"source": win.source} if win.source is not None else {})}


WANTS: Mapping[str, Answering] = {"book": _book}
