"""The state of a hand in play, and what follows from it.

A `PlayState` is frozen plain data; what can be derived is a function here and never a field.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.melds import Meld
from engine.outcome import Foul, Outcome, Win
from engine.play.actions import Action
from engine.play.deal import Deal
from engine.play.derived import derived
from engine.tiles import SEATS, is_flower, play_order, sort_tiles

PHASES: tuple[str, ...] = ("opening", "turn", "window", "rob", "lap", "flower", "draw", "over")
"""`opening` R25's window; `turn` a seat is to discard; `window` a discard may be claimed; `rob` a 补杠 may be robbed;
`lap` a seat has drawn in another's tour; `flower` a flower has come that may win; `draw` a tile is to be drawn, which
no state that `decide` leaves is in; `over`."""

OPEN, TOUR, MING = "open", "tour", "ming"
"""How a discard lies: open; a gold that leads into 双游 or 三游; face down (明游)."""


@dataclass(frozen=True)
class PlaySeat:
    """One seat: `hand` its concealed tiles, a drawn one last; `aside` tiles put away in a tour's lap.

    `ready`: youjin-ready after the last own discard (R22). `locked`: no win by discard until the next draw (R17).
    `missed`: faces let pass (R14). `draws` and `discards` count. `covered`: the reason of a 盖牌, or empty (R39).
    """

    hand: tuple[str, ...]
    melds: tuple[Meld, ...] = ()
    flowers: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    ready: bool = False
    locked: bool = False
    missed: tuple[str, ...] = ()
    draws: int = 0
    discards: int = 0
    covered: str = ""

    def but(self, **changes: Any) -> PlaySeat:
        """The seat with some fields changed."""
        seat = object.__new__(PlaySeat)
        kept = seat.__dict__
        kept.update(self.__dict__)
        kept.update(changes)
        kept.pop("faces", None)
        return seat

    @derived
    def faces(self) -> tuple[str, ...]:
        """The faces in hand, in tile order."""
        return tuple(sort_tiles(set(self.hand)))


@dataclass(frozen=True, slots=True)
class Discard:
    """A discard: how it lies, who claimed it (or empty), and whether its face was unseen at the wall's end (R27)."""

    seat: str
    tile: str
    how: str = OPEN
    taken: str = ""
    unseen: bool = False


@dataclass(frozen=True, slots=True)
class Tour:
    """A lap of 明游 (level 1), 双游 (2) or 三游 (3): `reached` is the level that the owner could have won by before,
    0 for none; `due` are the seats still to draw before him (R23).
    """

    owner: str
    level: int
    reached: int
    due: tuple[str, ...]


@dataclass(frozen=True)
class PlayState:
    """A hand in play.

    `turn` is the seat that acts or draws next; `entry` says how its turn began: `deal`, `draw`, `kong` (a replacement)
    or `claim`; `drawn` the tile it drew, empty after a claim; `end` the wall's end of the next draw; `chain` how many
    flowers came in a row. `tile` of `source` may be claimed or robbed, by `answers` so far. `liable` was the last to
    discard an unseen face (R27). `followed` counts the dealer's discards that all three followed (R40).
    """

    deal: Deal
    seats: Mapping[str, PlaySeat]
    left: tuple[int, ...]
    phase: str = "opening"
    turn: str = ""
    entry: str = "deal"
    drawn: str = ""
    end: str = "head"
    chain: int = 0
    discards: tuple[Discard, ...] = ()
    tile: str = ""
    source: str = ""
    answers: Mapping[str, Action] = field(default_factory=dict)
    tour: Tour | None = None
    liable: str = ""
    no_flowers: bool = False
    followed: int = 0
    last_drawer: str = ""
    wins: tuple[Win, ...] = ()
    drops: Mapping[str, str] = field(default_factory=dict)
    foul: Foul | None = None
    outcome: Outcome | None = None

    def but(self, **changes: Any) -> PlayState:
        """The state with some fields changed: `dataclasses.replace` without its price, as a hand has hundreds."""
        state = object.__new__(PlayState)
        kept = state.__dict__
        kept.update(self.__dict__)
        kept.update(changes)
        for name in _DERIVED:
            kept.pop(name, None)
        return state

    def answered(self, seat: str, action: Action) -> PlayState:
        """The state after an answer in a window; what the others may do there is not changed by it."""
        state = self.but(answers={**self.answers, seat: action})
        state.__dict__["offers"] = self.offers
        state.__dict__["asked"] = tuple([other for other in self.asked if other != seat])
        return state

    @derived
    def asked(self) -> tuple[str, ...]:
        """The seats that are to act now."""
        if self.phase in ("opening", "window", "rob"):
            return waiting(self)
        return (self.turn,) if self.phase in ("turn", "lap", "flower") else ()

    @derived
    def offers(self) -> dict[str, tuple[Action, ...]]:
        """What seats that are asked may do, filled as it is asked for; the same for all states of one window."""
        return {}

    @derived
    def bound(self) -> dict[str, tuple[str, ...]]:
        """The honours that seats must follow with (R16), filled as it is asked for."""
        return {}

    @derived
    def thrown(self) -> frozenset[str]:
        """Honours that lie or lay open as discards (R16)."""
        return frozenset(one.tile for one in self.discards if one.tile[1] == "z" and one.how != MING)


_DERIVED = ("asked", "offers", "bound", "thrown")
"""What a state works out once, and a changed one anew."""

_OTHERS: Mapping[str, tuple[str, ...]] = {seat: play_order(seat)[1:] for seat in SEATS}


def fresh(deal: Deal) -> PlayState:
    """The state before anything has happened, not even what happens by itself at the beginning."""
    seats = {seat: PlaySeat(deal.hands[seat], flowers=deal.flowers[seat]) for seat in SEATS}
    return PlayState(deal, seats, tuple(range(len(deal.wall))))


def to_draw(state: PlayState) -> int:
    """Tiles that may still be drawn (R18); the reserve is not counted."""
    return max(0, len(state.left) - state.deal.rules.reserve)


def place_of_next(state: PlayState, end: str) -> int:
    """The place of the wall that the next draw at an end takes; a tile must be left."""
    if end == "head":
        return state.left[0]
    present = set(state.left)
    return next(place for place in state.deal.tail if place in present)


def following(state: PlayState, seat: str) -> str:
    """The next seat in play order that is not under 盖牌; empty when all are (R39)."""
    return next((other for other in (*play_order(seat)[1:], seat) if not state.seats[other].covered), "")


def waiting(state: PlayState) -> tuple[str, ...]:
    """Seats whose answer a window still waits for, in play order from its source (R13)."""
    order = _OTHERS[state.source] if state.source else play_order(state.deal.dealer)
    answers, seats = state.answers, state.seats
    return tuple([seat for seat in order if seat not in answers and not seats[seat].covered])


def asked(state: PlayState) -> tuple[str, ...]:
    """The seats that are to act now."""
    return state.asked


def drew_flower(state: PlayState) -> bool:
    """Whether the turn's seat has drawn a flower last."""
    return state.drawn != "" and is_flower(state.drawn)


def visible(state: PlayState) -> frozenset[str]:
    """R27: the faces already seen on the table: discards that lie open, melds, the flipped tile."""
    seen = {discard.tile for discard in state.discards if discard.how != MING}
    for seat in state.seats.values():
        seen.update(tile for meld in seat.melds for tile in meld.tiles)
    return frozenset(seen | ({state.deal.flipped} if state.deal.flipped else set()))


def without(tiles: tuple[str, ...], *gone: str) -> tuple[str, ...]:
    """The tiles without one copy of each that goes, in their order; each must be there."""
    rest = list(tiles)
    for tile in gone:
        rest.remove(tile)
    return tuple(rest)


def everything(state: PlayState) -> Counter[str]:
    """Every tile of the hand, wherever it is: never more or fewer than were dealt."""
    tiles = Counter(state.deal.wall[place] for place in state.left)
    for seat in state.seats.values():
        tiles.update((*seat.hand, *seat.flowers, *seat.aside))
        tiles.update(tile for meld in seat.melds for tile in meld.tiles)
    tiles.update(discard.tile for discard in state.discards if not discard.taken)
    if state.deal.flipped:
        tiles[state.deal.flipped] += 1
    return tiles
