"""What people tell of a hand, in the words of their displays: counts or tiles of a seat, and how the hand ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.melds import Meld
from engine.outcome import Foul, Win
from engine.tiles import SEATS

STAGES: tuple[str, ...] = ("keeping", "entry", "agreement", "objection", "vote", "closed")
"""Play goes on; each enters what counts; all look at it; one writes another version; the four decide; it is booked."""

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
    `LAST_TILES`. `bid` is the dealer's 买底, another's 顶底 (R36).
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


@dataclass(frozen=True, slots=True)
class End:
    """How the hand ended, as far as it is told: `kind` is empty, `win`, `draw` or `foul`; the rest as in `Outcome`."""

    kind: str = ""
    wins: tuple[Win, ...] = ()
    foul: Foul | None = None
    last_drawer: str | None = None
    covered: tuple[str, ...] = ()
    pays_all: str | None = None
    no_flowers: bool = False
    followed: int = 0
    hardness: str | None = None

    @property
    def winners(self) -> tuple[str, ...]:
        """The seats that won."""
        return tuple(win.seat for win in self.wins)


@dataclass(frozen=True, slots=True)
class Page:
    """One version of a hand."""

    seats: Mapping[str, Said] = field(default_factory=lambda: {seat: Said() for seat in SEATS})
    end: End = End()

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
