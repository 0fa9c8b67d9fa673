"""Where tiles can lie on a table: walls, hands, flowers, discards, melds, tiles put away, loose ones, forgotten ones.

Every tile is an individual that lies in exactly one place. Nothing here knows rules, time or wires.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from engine.tiles import SEATS

Zone = Literal["hand", "flowers", "discards", "melds"]
ZONES: tuple[Zone, ...] = ("hand", "flowers", "discards", "melds")
"""What readers tell apart at a seat; tiles put away lie in none of them."""
PUSHED = 16
"""Tiles of a side that are pushed forward in 八卦 (R5): eight stacks."""


class WorldError(ValueError):
    """An act that hands cannot do; the message says why."""


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile: its set (1 green back, 2 blue back), its number within the set, its face."""

    set_no: int
    number: int
    face: str


@dataclass(frozen=True, slots=True)
class LaidMeld:
    """A meld on the table: `chi`, `pong`, `kong_open`, `kong_concealed` or `kong_added`.

    `claimed` is the tile taken from the discards of `source`; None and empty for a 暗杠.
    """

    kind: str
    tiles: tuple[Tile, ...]
    source: str = ""
    claimed: Tile | None = None


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that sensors may notice.

    `zone`: seat and which zone (`word`); `flip`: position and face; `row`: side (`seat`); `key_down`: which key
    (`word`), where; `key`: that it was let go, how long it was held in ms; `tiles`: anything else that eyes can see.
    """

    kind: Literal["zone", "flip", "row", "key_down", "key", "tiles"]
    seat: str = ""
    word: str = ""
    position: str = ""
    face: str = ""
    held_ms: int = 0


def _empty() -> dict[str, list[Any]]:
    return {seat: [] for seat in SEATS}


@dataclass(kw_only=True)
class Felt:
    """The tiles that are not inside the table. `version` grows with every change, which `notify` hears of.

    `down`: tiles that lie face down among discards; `shown`: seats whose hands are laid open; `came_from`: the places
    of the wall that tiles in hands were taken from.
    """

    notify: Callable[[Happening], None] = lambda happening: None
    version: int = 0
    rows: set[str] = field(default_factory=set)
    walls: dict[str, list[Tile | None]] = field(default_factory=_empty)
    flipped: set[str] = field(default_factory=set)
    hands: dict[str, list[Tile]] = field(default_factory=_empty)
    flowers: dict[str, list[Tile]] = field(default_factory=_empty)
    discards: dict[str, list[Tile]] = field(default_factory=_empty)
    melds: dict[str, list[LaidMeld]] = field(default_factory=_empty)
    aside: dict[str, list[Tile]] = field(default_factory=_empty)
    felt: dict[str, list[Tile]] = field(default_factory=_empty)
    forgotten: list[tuple[str, Tile]] = field(default_factory=list)
    down: set[Tile] = field(default_factory=set)
    shown: set[str] = field(default_factory=set)
    came_from: dict[Tile, str] = field(default_factory=dict)

    # --- what can be told ---------------------------------------------------------------------------------------------

    def names(self, side: str) -> list[str]:
        """The names of a side's places in wall order: stacks top before bottom; 八卦's row once it is laid."""
        return list(_indexes(side, len(self.walls[side]), side in self.rows))

    def standing(self, side: str) -> list[str]:
        """The names of the places of a side where a tile stands, in wall order."""
        names = _indexes(side, len(self.walls[side]), side in self.rows)
        return [name for name, tile in zip(names, self.walls[side], strict=True) if tile is not None]

    def face_at(self, position: str) -> str:
        """The face of a standing tile."""
        return self.tile_at(position).face

    def tile_at(self, position: str) -> Tile:
        """A standing tile; WorldError when none stands there."""
        side, index = self.place(position)
        tile = self.walls[side][index]
        if tile is None:
            raise WorldError(f"no tile stands at {position} any more")
        return tile

    def place(self, position: str) -> tuple[str, int]:
        """Side and index of a position of the wall, whether or not a tile stands there."""
        side = position[:1]
        if side not in SEATS:
            raise WorldError(f"no position {position!r}: expected such as S2t or N8")
        index = _indexes(side, len(self.walls[side]), side in self.rows).get(position)
        if index is None:
            raise WorldError(f"there is no place {position} at side {side}")
        return side, index

    def zone_tiles(self, seat: str, zone: str) -> list[Tile]:
        """The tiles in a seat's zone, in the order they came; melds one after the other."""
        match zone:
            case "hand":
                return self.hands[seat]
            case "flowers":
                return self.flowers[seat]
            case "discards":
                return self.discards[seat]
            case "melds":
                return [tile for meld in self.melds[seat] for tile in meld.tiles]
        raise WorldError(f"no zone {zone!r}: expected {', '.join(ZONES)}")

    def zone_faces(self, seat: str, zone: str) -> tuple[str, ...]:
        """The faces in a seat's zone, in the order they came; melds one after the other."""
        return tuple([tile.face for tile in self.zone_tiles(seat, zone)])

    def lying_at(self, seat: str) -> list[Tile]:
        """Every tile on a seat's side of the table, forgotten ones aside."""
        tiles = [tile for tile in self.walls[seat] if tile is not None]
        for zone in ZONES:
            tiles += self.zone_tiles(seat, zone)
        return tiles + self.aside[seat] + self.felt[seat]

    def felt_sets(self) -> int:
        """Bit 0: set 1, bit 1: set 2 has tiles on the felt, forgotten ones aside."""
        return sum({1 << (tile.set_no - 1) for seat in SEATS for tile in self.lying_at(seat)})

    # --- for those who move tiles -------------------------------------------------------------------------------------

    def lift_out(self, position: str) -> Tile:
        """A standing tile leaves its place in the wall; it lies open there no more."""
        tile = self.tile_at(position)
        side, index = self.place(position)
        self.walls[side][index] = None
        self.flipped.discard(position)
        return tile

    def clear(self, seat: str) -> tuple[list[Tile], list[Zone]]:
        """Everything on a seat's side leaves it: the tiles, and the zones that readers see change."""
        tiles = self.lying_at(seat)
        zones = [zone for zone in ZONES if self.zone_tiles(seat, zone)]
        self.walls[seat], self.felt[seat], self.aside[seat] = [], [], []
        self.hands[seat], self.flowers[seat], self.discards[seat], self.melds[seat] = [], [], [], []
        self.flipped = {position for position in self.flipped if position[0] != seat}
        self.down.difference_update(tiles)
        self.shown.discard(seat)
        for tile in tiles:
            self.came_from.pop(tile, None)
        return tiles, zones

    def changed(self, happening: Happening | None = None) -> None:
        """Something that eyes can see is different."""
        self.version += 1
        self.notify(happening or Happening("tiles"))

    def tell_zones(self, seat: str, zones: Sequence[str]) -> None:
        """Readers look at these zones of a seat."""
        for zone in zones:
            self.notify(Happening("zone", seat=seat, word=zone))


def place_name(side: str, index: int, row_laid: bool) -> str:
    """The name of the place with this index (from 0) in a side's wall order."""
    if row_laid and index >= PUSHED:
        return f"{side}{index - PUSHED + 1}"
    return f"{side}{index // 2 + 1}{'tb'[index % 2]}"


@lru_cache(maxsize=64)
def _indexes(side: str, tiles: int, row_laid: bool) -> Mapping[str, int]:
    """The names of a side's places and their indexes, in wall order."""
    return {place_name(side, index, row_laid): index for index in range(tiles)}
