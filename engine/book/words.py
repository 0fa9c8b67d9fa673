"""What people tell of a hand, in the words of their displays: counts or tiles of a seat, and how the hand ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.melds import Meld
from engine.outcome import Foul, Win
from engine.tiles import SEATS

KONG_KINDS: tuple[str, ...] = ("open", "added", "concealed")

LAST_TILES: tuple[tuple[str, bool], ...] = (("", False), ("pong", False), ("triplet", False), ("triplet", True))
"""R22: what the last tile of a 游金 made four of, by the number in `Said.last_tile`: nothing, an own pong, an own
concealed triplet, one of honours."""

COUNTS: tuple[str, ...] = (
    "golds",
    "pongs_suited",
    "pongs_honour",
    "triplets_suited",
    "triplets_honour",
    "last_tile",
)
"""Numbers that a seat may tell in place of its tiles."""


@dataclass(frozen=True, slots=True)
class Kong:
    """A kong told with one touch: `open`, `added` or `concealed`; of honours only where that counts otherwise."""

    kind: str
    honour: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """What is told of one seat; secret until its hand is shown.

    `golds` and `patterns` are None where nothing was said. `by_tiles`: the hand is told by `concealed` and `melds`, not
    by the counts, which stay for who takes the tiles back. `tile` is the winning tile. `last_tile` is a place in
    `LAST_TILES`. `bid` is the dealer's 买底, another's 顶底; `hardness` is that of a winner's hand (R36). `ready`: the
    seat was 游金-ready as a false win was laid open (R38). Words that do not fit how the hand ended are kept and do not
    count.
    """

    flowers: tuple[str, ...] = ()
    kongs: tuple[Kong, ...] = ()
    golds: int | None = None
    pongs_suited: int = 0
    pongs_honour: int = 0
    triplets_suited: int = 0
    triplets_honour: int = 0
    last_tile: int = 0
    by_tiles: bool = False
    concealed: tuple[str, ...] = ()
    melds: tuple[Meld, ...] = ()
    tile: str = ""
    patterns: tuple[str, ...] | None = None
    bid: int = 0
    hardness: str | None = None
    ready: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """How the hand ended, as far as it is told: `kind` is empty, `win`, `draw` or `foul`; the rest as in `Outcome`.

    `pays_all` is kept where nobody has won; which seats are `ready` is theirs to say. `Page` tells what counts of both.
    """

    kind: str = ""
    wins: tuple[Win, ...] = ()
    foul: Foul | None = None
    last_drawer: str | None = None
    covered: tuple[str, ...] = ()
    pays_all: str | None = None
    no_flowers: bool = False
    followed: int = 0

    @property
    def winners(self) -> tuple[str, ...]:
        """The seats that won."""
        return tuple(win.seat for win in self.wins)


@dataclass(frozen=True, slots=True)
class Page:
    """One version of a hand."""

    seats: Mapping[str, Said] = field(default_factory=lambda: {seat: Said() for seat in SEATS})
    end: End = End()

    @property
    def foul(self) -> Foul | None:
        """The false win, with the seats that were ready: neither the offender nor who is out of the hand (R38, R39)."""
        foul = self.end.foul
        if foul is None:
            return None
        out = (foul.seat, *self.end.covered)
        return replace(foul, ready=tuple(seat for seat in SEATS if self.seats[seat].ready and seat not in out))

    @property
    def hardness(self) -> str | None:
        """How hard the winning hand is told to be (R36)."""
        return next((self.seats[win.seat].hardness for win in self.end.wins), None)

    @property
    def pays_all(self) -> str | None:
        """R27: who pays for all; nobody where nobody won, and no winner."""
        end = self.end
        return end.pays_all if end.kind == "win" and end.pays_all not in end.winners else None

    def with_seat(self, seat: str, said: Said) -> Page:
        """The page with another word about a seat."""
        return Page({**self.seats, seat: said}, self.end)

    def with_end(self, end: End) -> Page:
        """The page with another end."""
        return Page(self.seats, end)


def touched(said: Said) -> Said:
    """What was told of a seat in play alone: flowers, kongs, and what it bid before."""
    return Said(flowers=said.flowers, kongs=said.kongs, bid=said.bid)


def plain_said(said: Said) -> dict[str, Any]:
    """What a seat has said, as its display shows it; tiles apart."""
    return {
        "by": "tiles" if said.by_tiles else "items",
        "flowers": list(said.flowers),
        "kongs": [{"kind": kong.kind, "honour": kong.honour} for kong in said.kongs],
        **{name: getattr(said, name) for name in COUNTS},
        "patterns": None if said.patterns is None else list(said.patterns),
        "bid": said.bid,
    }


def plain_tiles(said: Said) -> dict[str, Any]:
    """The tiles a seat has entered; None in place of each list when it is told by counts."""
    if not said.by_tiles:
        return {"concealed": None, "melds": None, "tile": None}
    melds = [{"kind": meld.kind, "tiles": list(meld.tiles)} for meld in said.melds]
    return {"concealed": list(said.concealed), "melds": melds, "tile": said.tile or None}
