"""Sensing full: what the readers of the zones should show of the hand in play, and where they show something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from engine.melds import Meld
from engine.memo import by_identity
from engine.play import Action, options
from engine.play.events import PlayEvent, TileDrawn
from engine.play.flow import PlayChain, go_on
from engine.play.melding import laid
from engine.play.state import Discard, PlayState, without
from engine.state import UNREAD, State, same
from engine.tiles import SEATS, is_flower

ZONES: tuple[str, ...] = ("hand", "flowers", "melds", "discards")

CLAIMED_MELDS: tuple[str, ...] = ("kong_open", "pong", "chi")
"""Melds with a tile of another's discards; their names are those of the claims."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A zone that shows other tiles than those `believed` to lie there, the nearest of what could be.

    `otherwise`: the hand of the seat whose turn it is, were its discards as they are seen (a tile discarded that its
    hand still shows, or none although its hand has lost one); None where they cannot be so.
    """

    seat: str
    zone: str
    seen: tuple[str, ...]
    believed: tuple[str, ...]
    otherwise: tuple[str, ...] | None = None

    @property
    def counts_differ(self) -> bool:
        """Whether it is the number of tiles that is wrong (相公), not a face or what was discarded."""
        return self.otherwise is None and len(self.seen) != len(self.believed)


@by_identity(4)
def coming_draw(game: PlayState) -> TileDrawn | None:
    """The draw that a hand is to make now; None when none is due, or the wall has ended."""
    events = what_follows(game) if game.phase == "draw" else ()
    first = events[0] if events else None
    return first if isinstance(first, TileDrawn) else None


def what_follows(game: PlayState) -> tuple[PlayEvent, ...]:
    """What happens by itself from a state, draws among it."""
    chain = PlayChain(game)
    go_on(chain)
    return tuple(chain.events)


def zone(state: State, seat: str, name: str) -> tuple[str, ...] | None:
    """What the reader of a zone shows; None before it has shown anything."""
    return state.play.seen.get((seat, name))


def discards_of(game: PlayState, seat: str) -> tuple[str, ...]:
    """The discards that lie before a seat, oldest first."""
    return tuple(one.tile for one in game.discards if one.seat == seat and not one.taken)


def melds_of(game: PlayState, seat: str) -> tuple[str, ...]:
    """The tiles of a seat's melds."""
    return tuple(tile for meld in game.seats[seat].melds for tile in meld.tiles)


def hand_is(state: State, seat: str, believed: tuple[str, ...]) -> bool:
    """Whether the reader of a seat's hand shows these tiles."""
    seen = zone(state, seat, "hand")
    return seen is not None and same(seen, believed)


def is_drawn(state: State, draw: TileDrawn) -> bool:
    """Whether the readers show that a draw has been made; a flower counts once it lies before its seat (R7).

    Who has discarded already has drawn, where his hand has the very tile that stood there in the place of another that
    lies among his discards.
    """
    game = state.play.game
    assert game is not None
    own = game.seats[draw.seat]
    if is_flower(draw.tile):
        laid = zone(state, draw.seat, "flowers") or ()
        return draw.tile in laid and same(laid, (*own.flowers, draw.tile))
    drawn = (*own.hand, draw.tile)
    return hand_is(state, draw.seat, drawn) or _discarded_from(state, game, draw, drawn)


def _discarded_from(state: State, game: PlayState, draw: TileDrawn, hand: tuple[str, ...]) -> bool:
    """Whether hand and discards both show that another tile than the drawn one was discarded since."""
    lying, known = zone(state, draw.seat, "discards") or (), discards_of(game, draw.seat)
    more = list((Counter(lying) - Counter(known)).elements())
    if len(lying) != len(known) + 1 or len(more) != 1 or more[0] == draw.tile or more[0] not in hand:
        return False
    seen = zone(state, draw.seat, "hand") or ()
    return UNREAD not in seen and same(seen, without(hand, more[0]))


def holds_flower(state: State, draw: TileDrawn) -> bool:
    """Whether a flower that was drawn is in the hand still and is to be laid out."""
    game = state.play.game
    assert game is not None
    seen = zone(state, draw.seat, "hand")
    return is_flower(draw.tile) and seen is not None and draw.tile in seen


def unlaid(state: State, seat: str) -> tuple[str, ...]:
    """Tiles of melds that are a seat's by right and do not lie there yet."""
    game = state.play.game
    assert game is not None
    seen = zone(state, seat, "melds") or ()
    melds = melds_of(game, seat)
    return () if same(seen, melds) else tuple((Counter(melds) - Counter(seen)).elements())


def put_away(state: State, seat: str) -> str:
    """The tile that a seat has drawn in another's lap and still holds though it is to be put away (R23); or empty."""
    game = state.play.game
    assert game is not None
    own = game.seats[seat]
    if not own.aside:
        return ""
    return own.aside[-1] if hand_is(state, seat, (*own.hand, own.aside[-1])) else ""


def discard_shown(state: State, game: PlayState) -> str:
    """The tile that the seat whose turn it is has discarded, as both its hand and its discards show; empty for none.

    One of the two alone says nothing: it may be late, or wrong. A wrong face that an unsure reader shows in the right
    number of tiles contradicts nothing, if the other leaves no choice.
    """
    if game.phase not in ("turn", "lap"):
        return ""
    candidates = _candidates(state, game)
    fitting = [tile for tile in candidates if _misfit(state, game, tile) == (0, 0)]
    if not fitting and state.play.unsure:
        fitting = [tile for tile in candidates if _misfit(state, game, tile, forgiving=True) == (0, 0)]
    return fitting[0] if len(fitting) == 1 else ""


def laid_claim(state: State) -> tuple[str, Action] | None:
    """The claim that a seat has laid in the open window in place of pressing it (R13); None while nobody has.

    Its melds must show exactly a meld that it may claim, and the discards from which it came must have lost that very
    tile; its hand may show one tile wrongly. A seat that has answered is not looked at.
    """
    game = state.play.game
    if game is None or game.phase != "window":
        return None
    lying = discards_of(game, game.source)
    if lying[-1:] != (game.tile,) or not same(zone(state, game.source, "discards") or (), lying[:-1]):
        return None
    for seat in game.asked:
        for action in options(game, seat):
            if action.name in CLAIMED_MELDS and _lies(state, game, seat, action):
                return seat, action
    return None


def _lies(state: State, game: PlayState, seat: str, action: Action) -> bool:
    """Whether the readers show the meld of a claim beside a hand that has lost its own tiles of it."""
    rest = list(zone(state, seat, "melds") or ())
    tiles = laid(game, seat, action, game.source).tiles
    if Counter(tiles) - Counter(rest):
        return False
    for tile in tiles:
        rest.remove(tile)
    if not same(rest, melds_of(game, seat)):
        return False
    hand = zone(state, seat, "hand")
    return hand is None or _distance(hand, without(game.seats[seat].hand, *without(tiles, game.tile))) <= 1


def _mislaid(state: State, game: PlayState, seat: str) -> Counter[str]:
    """Tiles that lie among the melds of a seat and are none of its melds."""
    seen, melds = zone(state, seat, "melds") or (), melds_of(game, seat)
    if seen == melds:
        return Counter()
    return Counter(tile for tile in seen if tile != UNREAD) - Counter(melds)


@by_identity(4)
def doubts(state: State) -> tuple[Doubt, ...]:
    """Zones that show what no hand on its way explains."""
    game = state.play.game
    if game is None or game.phase == "over":
        return ()
    return tuple(found for seat in SEATS if not game.seats[seat].covered for found in _of_seat(state, game, seat))


def told_doubts(state: State) -> tuple[tuple[str, str], ...]:
    """P8: seat and zone of every doubt that stands and that all four have been told of, in the order of the seats."""
    told = state.play.told
    return tuple(at for doubt in doubts(state) if (at := (doubt.seat, doubt.zone)) in told) if told else ()


def contradicted(state: State) -> tuple[str, ...]:
    """R39: the seats of which a zone shows, as a hand is about to end, what no hand on its way explains, asked about or
    not. A meld that is being laid for a claim, and the tile of the window that a hand has taken to itself, are none.
    """
    game = state.play.game
    found = {doubt.seat for doubt in doubts(state) if doubt.zone != "discards" and not _on_its_way(state, doubt)}
    return tuple(seat for seat in SEATS if game is not None and seat in found)


def _on_its_way(state: State, doubt: Doubt) -> bool:
    game = state.play.game
    if game is None or game.phase not in ("window", "rob"):
        return False
    if doubt.zone == "hand":
        lying = zone(state, game.source, "discards") or ()
        taken = game.phase == "rob" or same(lying, discards_of(game, game.source)[:-1])
        return taken and same(doubt.seen, (*game.seats[doubt.seat].hand, game.tile))
    new = Counter(doubt.seen) - Counter(melds_of(game, doubt.seat))
    claims = (action for action in options(game, doubt.seat) if action.name in CLAIMED_MELDS)
    return doubt.zone == "melds" and any(
        not new - Counter(laid(game, doubt.seat, action, game.source).tiles) for action in claims
    )


def _of_seat(state: State, game: PlayState, seat: str) -> Iterator[Doubt]:
    in_turn = game.phase == "turn" and game.turn == seat
    for name in ("flowers", "melds") if in_turn else ZONES:
        seen = zone(state, seat, name)
        if seen is None:
            continue
        allowed = _allowed(state, game, seat, name)
        if not any(same(seen, tiles) for tiles in allowed):
            yield Doubt(seat, name, seen, _nearest(game, seat, name, seen, allowed))
    if in_turn:
        yield from _of_turn(state, game, seat)


def _nearest(
    game: PlayState, seat: str, name: str, seen: tuple[str, ...], allowed: list[tuple[str, ...]]
) -> tuple[str, ...]:
    """What lies there most likely; a hand that shows the very tile it was to draw has drawn it."""
    draw = coming_draw(game)
    if name == "hand" and draw is not None and draw.seat == seat:
        own = game.seats[seat].hand
        if draw.tile in Counter(seen) - Counter(own):
            return (*own, draw.tile)
    return min(allowed, key=lambda tiles: (abs(len(tiles) - len(seen)), _distance(seen, tiles)))


def _distance(seen: tuple[str, ...], tiles: tuple[str, ...]) -> int:
    """How often a reader that shows some tiles has erred where others lie: a tile missing, doubled or with a wrong
    face is one error, one that it could not read none.
    """
    if seen == tiles or same(seen, tiles):
        return 0
    legible = Counter(tile for tile in seen if tile != UNREAD)
    more, less = (legible - Counter(tiles)).total(), (Counter(tiles) - legible).total()
    unread = seen.count(UNREAD)
    return max(more + max(0, unread - less), less - unread)


def _of_turn(state: State, game: PlayState, seat: str) -> Iterator[Doubt]:
    """Hand and discards of the seat whose turn it is, judged together: it may be discarding (R13).

    Where one of them is wrong the hand is believed, as it has all the tiles, and the seat may say otherwise. A discard
    that cannot be read is named before the hand is asked about.
    """
    candidates = ["", *_candidates(state, game)]
    fits = {tile: _misfit(state, game, tile) for tile in candidates}
    best = min(candidates, key=lambda tile: (sum(fits[tile]), fits[tile][0]))
    sure = fits[best] == (0, 0) and list(fits.values()).count((0, 0)) == 1
    unnamed = bool(best) and not sure and UNREAD in (zone(state, seat, "discards") or ())
    for number, name in enumerate(("hand", "discards")):
        seen = zone(state, seat, name)
        doubtful = (name == "discards") if unnamed else fits[best][number] > 0
        if not doubtful or (seen is None and name == "hand"):
            continue
        seen = seen or ()
        believed = _nearest(game, seat, name, seen, _as_discarded(state, game, best)[number])
        others = [tile for tile in candidates if tile != best and not fits[tile][1]]
        so = len(others) == 1 and name == "discards" and not fits[best][0]
        yield Doubt(seat, name, seen, believed, _as_discarded(state, game, others[0])[0][0] if so else None)


def _candidates(state: State, game: PlayState) -> tuple[str, ...]:
    """Tiles of its hand that the seat whose turn it is may have discarded: its hand lacks them, or they lie there."""
    seat = game.turn
    held = game.seats[seat]
    hand, lying = zone(state, seat, "hand"), zone(state, seat, "discards") or ()
    if (hand is not None and UNREAD in hand) or UNREAD in lying:
        return held.faces
    near = Counter(lying) - Counter(discards_of(game, seat))
    if hand is not None:
        near += Counter(held.hand) - Counter(hand)
    return tuple(tile for tile in held.faces if near[tile])


def _misfit(state: State, game: PlayState, tile: str, forgiving: bool = False) -> tuple[int, int]:
    """By how many tiles hand and discards of the seat whose turn it is are wrong if it has discarded this one, or
    nothing; `forgiving`: an unsure reader may show one wrong face.
    """
    hands, discards = _as_discarded(state, game, tile)
    hand = zone(state, game.turn, "hand")
    lying = zone(state, game.turn, "discards") or ()
    unsure = state.play.unsure if forgiving else ()
    return (
        0 if hand is None else min(_wrong(hand, tiles, (game.turn, "hand") in unsure) for tiles in hands),
        min(_wrong(lying, tiles, (game.turn, "discards") in unsure) for tiles in discards),
    )


def _wrong(seen: tuple[str, ...], tiles: tuple[str, ...], unsure: bool) -> int:
    """By how many tiles a reader that shows some is wrong where others lie; one wrong face of an unsure one is none."""
    wrong = _distance(seen, tiles)
    return 0 if unsure and wrong == 1 and len(seen) == len(tiles) else wrong


def _as_discarded(state: State, game: PlayState, tile: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """What hand and discards of the seat whose turn it is may be once it has discarded a tile, or while it has not."""
    seat = game.turn
    discards = _allowed(state, game, seat, "discards")
    if not tile:
        return _allowed(state, game, seat, "hand"), discards
    return [without(game.seats[seat].hand, tile)], [(*tiles, tile) for tiles in discards]


def _allowed(state: State, game: PlayState, seat: str, name: str) -> list[tuple[str, ...]]:
    own = game.seats[seat]
    draw = coming_draw(game)
    mine = draw if draw is not None and draw.seat == seat else None
    adding = game.tile if game.phase == "rob" and game.source == seat else ""
    if name == "hand":
        missing = own_part(state, game, seat)
        found = [own.hand]
        if missing:
            found.append((*own.hand, *missing))
        if mine is not None:
            found.append((*own.hand, mine.tile))
        if own.aside:
            found.append((*own.hand, own.aside[-1]))
        if adding:
            found.append(without(own.hand, adding))
        return found + _beside_mislaid(state, game, seat)
    if name == "flowers":
        return [own.flowers, *([(*own.flowers, mine.tile)] if mine is not None and is_flower(mine.tile) else [])]
    if name == "melds":
        lying = melds_of(game, seat)
        missing = unlaid(state, seat)
        found = [lying, *([(*lying, adding)] if adding else [])]
        claim = _claim_of(state, game, seat)
        if claim is not None:
            found.append((*lying, *laid(game, seat, claim, game.source).tiles))
        return [*found, tuple((Counter(lying) - Counter(missing)).elements())] if missing else found
    lying = discards_of(game, seat)
    taken = [one for one in game.discards if one.seat == seat and one.taken]
    if taken and unlaid(state, taken[-1].taken):
        return [lying, (*lying, taken[-1].tile)]
    return [lying, lying[:-1]] if _last_is_elsewhere(state, game, seat) else [lying]


def _claim_of(state: State, game: PlayState, seat: str) -> Action | None:
    """The meld that a seat has claimed in the open window, by a press or as it lies there."""
    if game.phase != "window":
        return None
    answer = game.answers.get(seat)
    if answer is not None:
        return answer if answer.name in CLAIMED_MELDS else None
    found = laid_claim(state)
    return found[1] if found is not None and found[0] == seat else None


def _beside_mislaid(state: State, game: PlayState, seat: str) -> list[tuple[str, ...]]:
    """What a hand may be while tiles of it lie wrongly among the melds, the last discard among them or not: the melds
    are asked about, the hand need not be.
    """
    mislaid, hand = _mislaid(state, game, seat), game.seats[seat].hand
    last = game.discards[-1].tile if game.discards else ""
    gone = [mislaid, mislaid - Counter([last])] if mislaid[last] else [mislaid]
    return [without(hand, *tiles.elements()) for tiles in gone if tiles and not tiles - Counter(hand)]


def _last_is_elsewhere(state: State, game: PlayState, seat: str) -> bool:
    """Whether the last discard, which nobody has been given, lies wrongly among another's melds."""
    last = game.discards[-1] if game.discards else None
    if last is None or last.seat != seat or last.taken:
        return False
    return any(_mislaid(state, game, other)[last.tile] > 0 for other in SEATS if other != seat)


def own_part(state: State, game: PlayState, seat: str) -> tuple[str, ...]:
    """Tiles of the own hand that are to be laid in a meld still: those of it but the one claimed."""
    missing = list(unlaid(state, seat))
    taken = claimed_for(game, seat, unlaid_meld(state, seat)) if missing else None
    if taken is not None and taken.tile in missing:
        missing.remove(taken.tile)
    return tuple(missing)


def unlaid_meld(state: State, seat: str) -> Meld:
    """The last meld of a seat whose tiles do not all lie there: others have been laid before it. It must have one."""
    assert state.play.game is not None
    melds = state.play.game.seats[seat].melds
    lying, found = Counter(zone(state, seat, "melds") or ()), melds[-1]
    for meld in melds:
        if Counter(meld.tiles) - lying:
            found = meld
        else:
            lying -= Counter(meld.tiles)
    return found


def claimed_for(game: PlayState, seat: str, meld: Meld) -> Discard | None:
    """The discard that a seat claimed for a meld; None for a kong of its own."""
    if meld.kind not in ("chi", "pong", "kong_open"):
        return None
    return next((one for one in reversed(game.discards) if one.taken == seat and one.tile in meld.tiles), None)
