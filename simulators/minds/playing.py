"""Sensing full: draws, discards, claims and melds as the own display asks for them, and what readers get wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from engine.play import Action
from engine.tiles import SEATS, is_flower, parse_tiles
from protocol.mqtt.views import SeatView, Want
from simulators.brain import action_of
from simulators.minds.choosing import chosen
from simulators.minds.person import LEAVE, Answering, Intention, Person, rules_of, table_of, text, texts
from simulators.minds.walls import undrawn
from simulators.sight import Sight

EXPOSED_BY = 16
"""Discards after which somebody who lays a false win open has done so, if the hand goes on."""

_ON_DISPLAY: Mapping[str, tuple[str, ...]] = {
    "hu": ("way", "tile"),
    "kong_open": (),
    "pong": (),
    "chi": ("tiles",),
    "kong_concealed": ("tile",),
    "kong_added": ("tile",),
    "discard_down": ("tile",),
    "pass": (),
    "expose_false": ("kind",),
}
"""Actions that are pressed, with what each needs; discards are made by hand, and read."""

_OWN_TILES: Mapping[str, int] = {"chi": 2, "pong": 2, "kong_open": 3}
"""How many own tiles a claim takes."""

_KONGS = ("kong_concealed", "kong_added")
_LAID = (*_OWN_TILES, *_KONGS)


def follow_display(person: Person, view: SeatView, sight: Sight) -> Iterator[Intention]:
    """A draw or a discard that was pressed in place of made: the tile is drawn, or laid there, now."""
    play = view.play
    if view.sensing != "full" or view.phase != "play" or play is None or view.me.tiles is None:
        return
    told = next((lie for seat, lie in play.discards.items() if seat == person.seat), ())
    lying = sight.discards[person.seat]
    last = play.last
    mine = play.turn == person.seat or (play.stage == "window" and play.source == person.seat)
    if mine and len(sight.hand) % 3 == 1 and len(told) - len(lying) in (0, 1):
        # Told as drawn, and discarded perhaps, before it has been: what the table takes for drawn is drawn now.
        positions = undrawn(view, sight)
        if len(positions) == 1:
            yield Intention("take", {"positions": positions}, pace="reaction")
        return
    if last is not None and (last.seat, play.turn == person.seat) == (person.seat, False) and len(told) == len(lying):
        # Claimed already, though it has not been laid yet: whoever claimed it waits for it.
        if last.tile in sight.hand and len(sight.hand) % 3 == 2:
            yield replace(_discard(last.tile), pace="reaction")
        return
    if len(told) != len(lying) + 1:
        return
    # What is in the hand beyond what the table believes stands last there; a discard face down is shown to nobody.
    shown = parse_tiles(view.me.tiles)
    tile = told[-1] or (shown[-1] if len(shown) % 3 == 2 else "")
    if tile in sight.hand and len(sight.hand) % 3 == 2:
        yield replace(_discard(tile, down=told[-1] == ""), pace="reaction")


def unasked_throw(person: Person, view: SeatView, sight: Sight) -> Iterator[Intention]:
    """Somebody holds the dice key though nothing is to be thrown."""
    number = number_of(view, sight)
    if view.phase != "play" or number is None or sight.dice.moving:
        return
    if number == 1 + int(12 * person.chance("unasked_at", view.hand).random()):
        slip = person.slip("unasked_throw", view.hand)
        if slip:
            yield Intention("press", {"key": "dice", "held_ms": 1600}, slip=slip)


def number_of(view: SeatView, sight: Sight) -> int | None:
    """Discards so far; None where nobody counts them."""
    if view.sensing == "full":
        return view.play.number if view.play is not None else None
    return sight.round.number if sight.round is not None else None


def _opening(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    options = _options(want)
    action = chosen(person, view, sight, 0, [*options, {"name": "pass"}])
    if action is not None and action.name == "hu":
        tile = {"tile": action.tile} if action.tile else {}
        yield Intention("claim", {"way": action.way, **tile}, want=want.id, pace="claim")
    elif action is not None:
        yield Intention("pass", want=want.id, pace="claim")


def _draw(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    position = text(want, "position")
    number = number_of(view, sight) or 0
    if len(sight.hand) % 3 == 2 and not sight.stands(position):
        # The tile is in the hand and no reader has seen it come: the table takes a word for it.
        yield Intention("by_hand", want=want.id, pace="think", rank=1)
    if len(sight.hand) % 3 != 1 or not sight.stands(position):
        return
    slip = person.slip("forget_draw", view.hand, number)
    if slip and not person.hands_only:
        gold = view.gold.face if view.gold is not None else None
        kept = [tile for tile in sight.hand if tile != gold]
        if kept:
            yield _discard(person.chance("forgotten", view.hand, number).choice(kept), slip=slip)
    yield Intention("take", {"positions": [position]}, pace="draw")


def _turn(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if person.hands_only or any(map(is_flower, sight.hand)):
        return
    if len(sight.hand) % 3 != 2:
        yield from _unread_discard(person, view, sight, want)
        return
    number = number_of(view, sight) or 0
    options = _options(want)
    yield from _false(person, view, want, number, options, "zimo")
    yield from _draws_twice(person, view, sight, number)
    discards = [{"name": "discard", "tile": tile} for tile in texts(want, "discards")]
    action = chosen(person, view, sight, number, [*options, *discards])
    if action is not None:
        yield from _silently(person, view, sight, want, action)
        yield _done(want, action)


def _unread_discard(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """A discard that no reader shows, while the table still asks for one, is told on the display after a while."""
    lying = sight.discards[person.seat]
    discards = view.play.discards if view.play is not None else {}
    told = next((tiles for seat, tiles in discards.items() if seat == person.seat), ())
    if len(sight.hand) % 3 == 1 and len(lying) > len(told):
        yield Intention("discard", {"tile": lying[-1]}, want=want.id, pace="think", rank=1)


def _claim(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if len(sight.hand) % 3 != 1 or _melds_laid(person, sight) - _melds_told(person, view):
        return
    number = number_of(view, sight) or 0
    options = _options(want)
    slip = person.slip("wrong_claim", view.hand, number)
    wrong = wrong_claim([action_of(option) for option in options]) if slip else None
    if wrong is not None and wrong.name in want.actions:
        yield _pressed(want, wrong, slip)
    yield from _false(person, view, want, number, options, "pinghu")
    action = chosen(person, view, sight, number, options, text(want, "tile"))
    if action is not None:
        yield from _silently(person, view, sight, want, action)
        yield _pressed(want, action)


def _lap(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    action = None if person.hands_only else chosen(person, view, sight, number_of(view, sight) or 0, _options(want))
    if action is not None:
        yield _done(want, action)


def _flower(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    action = chosen(person, view, sight, number_of(view, sight) or 0, _options(want))
    if action is not None:
        yield _done(want, action)


def _lay(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """What is a seat's by right is carried out: a meld laid beside the hand, or a tile put away."""
    kind, tiles, tile, source = text(want, "kind"), texts(want, "tiles"), text(want, "tile"), text(want, "source")
    held = Counter(sight.hand)
    if view.play is not None and kind != "aside" and not _melds_told(person, view) - _melds_laid(person, sight):
        return
    if kind in ("chi", "pong", "kong_open"):
        own = Counter(tiles) - Counter([tile])
        givers = [seat for seat, lying in sight.discards.items() if lying[-1:] == (tile,) and seat != person.seat]
        if not own - held and givers:
            giver = source if source in givers else givers[0]
            arguments = {"kind": kind, "from": giver, "tile": tile, "own": sorted(own.elements())}
            yield Intention("meld", arguments, pace="lay")
    elif kind in ("kong_concealed", "kong_added") and tiles:
        face = tiles[0]
        copies = 4 if kind == "kong_concealed" else 1
        if held[face] >= copies:
            yield Intention("kong", {"kind": kind.removeprefix("kong_"), "tile": face}, pace="lay")
    elif kind == "aside" and tiles and held[tiles[0]] and len(sight.hand) % 3 == 2:
        yield Intention("put_away", {"tile": tiles[0]}, pace="lay")


def _replace(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """A flower is laid out at once; who forgets it is asked for it until it lies there."""
    tile = text(want, "tile")
    if tile in sight.hand:
        slip = person.slip("forget_flower", view.hand, tile)
        yield Intention("lay_flowers", {"faces": [tile]}, pace="forgotten" if slip else "lay", slip=slip)


def _wrong_discard(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if sight.discards[person.seat] and len(sight.hand) % 3 != 2:
        yield Intention("take_back", pace="lay")
    elif _melds_laid(person, sight) - _melds_told(person, view):
        yield Intention("undo_meld", pace="lay")


def _count_wrong(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """相公, or a reader that sees badly: put right by hand, owned up to, or the reader is told off."""
    if _ignores(person, view, want):
        yield from _left(person, view, want)
        return
    zone, seen, expected = text(want, "zone"), want.params.get("seen"), want.params.get("expected")
    lying = len(_zone(person, sight, zone))
    if not isinstance(expected, int) or (lying == expected and lying != seen):
        yield Intention("ok", want=want.id, pace="think")
        return
    if lying == expected:
        return
    if zone == "melds" and lying > expected:
        yield Intention("undo_meld", pace="lay")
        return
    honest = person.chance("admits", view.hand, number_of(view, sight)).random() < 0.5
    forgot = _forgot_to_draw(view, sight)
    if forgot and honest and "admit" in want.actions:
        yield Intention("admit", want=want.id, pace="think")
    elif forgot or (zone == "discards" and lying > expected):
        yield Intention("take_back", pace="lay")
    elif zone == "hand" and lying > expected:
        yield Intention("put_back", pace="lay")
    elif "admit" in want.actions:
        yield Intention("admit", want=want.id, pace="think")


def _reader_check(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """Eyes decide; `seen` and `believed` are what the reader shows too much and too little, a drawn tile unnamed.

    Where neither is true in one's own turn the display takes what was discarded; who has not discarded just goes on.
    """
    if _ignores(person, view, want):
        yield from _left(person, view, want)
        return
    lying = Counter(_zone(person, sight, text(want, "zone")))
    believed, seen = Counter(texts(want, "believed")), Counter(texts(want, "seen"))
    counts = want.params.get("counts")
    if want.params.get("drawn"):
        as_seen = lying - Counter(parse_tiles(view.me.tiles or "")) == seen
    elif isinstance(counts, Mapping) and counts.get("seen") != counts.get("believed"):
        as_seen = lying.total() == counts.get("seen")
    else:
        as_seen = bool(believed - lying) and not seen - lying
    turn = next((other for other in view.me.wants if other.verb == "turn"), None)
    if as_seen and "seen" in want.actions:
        yield Intention("seen", want=want.id, pace="think")
    elif turn is None or not believed - lying:
        yield Intention("believed", want=want.id, pace="think")
    elif len(sight.hand) % 3 == 1 and sight.discards[person.seat]:
        yield Intention("discard", {"tile": sight.discards[person.seat][-1]}, want=turn.id, pace="think")


def _count_ruling(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """What another does not answer is said by those who look: whether the zone has as many tiles as the table knows.
    Who holds one too many is left to put it back, as it is another's.
    """
    seat, zone = text(want, "seat"), text(want, "zone")
    play, said = view.play, table_of(want, "said")
    if play is None or seat not in SEATS:
        return
    known, lying = {
        "hand": (next((n for whose, n in (view.counts or {}).items() if whose == seat), None), sight.counts.get(seat)),
        "discards": (
            sum(len(tiles) for whose, tiles in play.discards.items() if whose == seat),
            len(sight.discards[seat]),
        ),
        "melds": (
            sum(len(meld.tiles) for whose, melds in play.melds.items() if whose == seat for meld in melds),
            sum(len(meld.tiles) for meld in sight.melds[seat]),
        ),
    }.get(zone, (0, 0))
    short = zone == "hand" and known is not None and lying is not None and lying < known
    ruling = "believed" if known == lying else "out" if short else ""
    if ruling in want.actions and said.get(person.seat) is None:
        yield Intention(ruling, want=want.id, pace="think")


# --- mistakes ---------------------------------------------------------------------------------------------------------


def _ignored(view: SeatView, want: Want) -> tuple[str, int, str]:
    """The mistake of leaving a question open: it belongs to a zone in a hand, however often its reader moves."""
    return ("ignore_question", view.hand, text(want, "zone"))


def _ignores(person: Person, view: SeatView, want: Want) -> bool:
    """Nobody leaves a question open once all four have been told of it."""
    unanswered = view.play.unanswered if view.play is not None else None
    told = unanswered is not None and unanswered.seat == person.seat
    return not told and person.errs(*_ignored(view, want))


def _left(person: Person, view: SeatView, want: Want) -> Iterator[Intention]:
    if not person.has_made(*_ignored(view, want)):
        yield Intention(LEAVE, want=want.id, slip=person.slip(*_ignored(view, want)))


def wrong_claim(options: list[Action]) -> Action | None:
    """A claim that may not be made; None where all may."""
    names = {option.name for option in options}
    return next((Action(name) for name in ("pong", "kong_open") if name not in names), None)


def exposes(person: Person, view: SeatView, number: int) -> str:
    """The slip of laying a false win open (R38), from a moment of the hand on that chance has chosen."""
    begins = person.chance("exposes_at", view.hand).randrange(EXPOSED_BY)
    return person.slip("expose_false", view.hand) if number >= begins else ""


def _false(
    person: Person, view: SeatView, want: Want, number: int, options: list[Mapping[str, Any]], way: str
) -> Iterator[Intention]:
    """胡 where none is, tapped where the rules refuse that; a hand laid open only by who was asked to."""
    rules = rules_of(view)
    if rules is None or any(option.get("name") == "hu" for option in options):
        return
    exposed = exposes(person, view, number)
    kinds = texts(want, "fouls")
    if exposed and kinds and "expose_false" in want.actions:
        yield _pressed(want, Action("expose_false", kind=kinds[0]), exposed)
    tapped = person.slip("false_win", view.hand, number)
    if tapped and rules.false_win == "refuse" and "hu" in want.actions:
        yield _pressed(want, Action("hu", way=way), tapped)


def _silently(person: Person, view: SeatView, sight: Sight, want: Want, action: Action) -> Iterator[Intention]:
    """A claim or a kong of one's own that hands lay in place of pressing it."""
    if person.hands_only or action.name not in _LAID:
        return
    slip = person.slip("no_press", view.hand, number_of(view, sight) or 0)
    source, tile = text(want, "source"), text(want, "tile")
    if not slip:
        return
    if action.name in _KONGS:
        arguments = {"kind": action.name.removeprefix("kong_"), "tile": action.tile}
        yield Intention("kong", arguments, pace="claim", slip=slip)
    elif sight.discards[source][-1:] == (tile,):
        own = list(action.tiles) or [tile] * _OWN_TILES[action.name]
        meld = {"kind": action.name, "from": source, "tile": tile, "own": own}
        yield Intention("meld", meld, pace="claim", slip=slip)


def _draws_twice(person: Person, view: SeatView, sight: Sight, number: int) -> Iterator[Intention]:
    position = view.play.position if view.play is not None else None
    if position is not None and sight.stands(position) and number:
        slip = person.slip("forget_draw", view.hand, number, "twice")
        if slip:
            yield Intention("take", {"positions": [position]}, pace="draw", slip=slip)


def _forgot_to_draw(view: SeatView, sight: Sight) -> bool:
    """Whether a tile was discarded by who had drawn none."""
    return len(sight.hand) % 3 == 0 and view.play is not None and view.play.stage == "draw"


# --- what is asked, and done ------------------------------------------------------------------------------------------


def _options(want: Want) -> list[Mapping[str, Any]]:
    value = want.params.get("options", ())
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []


def _done(want: Want, action: Action) -> Intention:
    """A discard is made by hand, everything else is pressed."""
    if action.name in ("discard", "tour_discard"):
        return _discard(action.tile)
    return _pressed(want, action)


def _pressed(want: Want, action: Action, slip: str = "") -> Intention:
    values: Mapping[str, Any] = {
        "way": action.way,
        "tile": action.tile,
        "tiles": list(action.tiles),
        "kind": action.kind,
    }
    params = {name: values[name] for name in _ON_DISPLAY[action.name] if values[name]}
    return Intention(action.name, params, want=want.id, pace="claim", slip=slip)


def _discard(tile: str, down: bool = False, slip: str = "") -> Intention:
    return Intention("discard", {"tile": tile, **({"down": True} if down else {})}, pace="think", slip=slip)


def _zone(person: Person, sight: Sight, zone: str) -> tuple[str, ...]:
    """What really lies in one of the own zones; a discard face down is known to who laid it, but not looked at."""
    if zone == "hand":
        return sight.hand
    if zone == "melds":
        return tuple(tile for meld in sight.melds[person.seat] for tile in meld.tiles)
    return (sight.flowers if zone == "flowers" else sight.discards)[person.seat]


def _melds_told(person: Person, view: SeatView) -> Counter[str]:
    """The melds that the table says lie before this seat, by kind."""
    melds = view.play.melds if view.play is not None else {}
    return Counter(meld.kind for seat, laid in melds.items() if seat == person.seat for meld in laid)


def _melds_laid(person: Person, sight: Sight) -> Counter[str]:
    return Counter(meld.kind for meld in sight.melds[person.seat])


WANTS: Mapping[str, Answering] = {
    "opening": _opening,
    "draw": _draw,
    "turn": _turn,
    "claim": _claim,
    "lap": _lap,
    "flower": _flower,
    "lay": _lay,
    "replace": _replace,
    "wrong_discard": _wrong_discard,
    "count_wrong": _count_wrong,
    "count_ruling": _count_ruling,
    "reader_check": _reader_check,
}
