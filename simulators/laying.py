"""What hands do in play: discards, melds, tiles put away, hands laid open, and wrong moves put right.

Each act checks that hands can do it and raises WorldError with the reason otherwise, having changed nothing. Whether it
is allowed is for the referee to say, the table or the people: a tile can be taken or discarded out of turn. Readers
notice first where a tile has come to, then where it has left.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.tiles import FACES, tile_order
from simulators.felt import Felt, LaidMeld, Tile, WorldError

CLAIMS = ("chi", "pong", "kong_open")
"""Melds with a tile of another's discards."""
KONGS = ("concealed", "added")
"""Kongs of one's own tiles."""
_OWN_OF = {"chi": 2, "pong": 2, "kong_open": 3}


def discard(felt: Felt, seat: str, face: str, down: bool = False) -> None:
    """A tile of the hand goes to the seat's discards, face up or (明游) face down."""
    [tile] = _held(felt, seat, [face])
    felt.hands[seat].remove(tile)
    felt.discards[seat].append(tile)
    if down:
        felt.down.add(tile)
    felt.changed()
    felt.tell_zones(seat, ["discards", "hand"])


def take_back(felt: Felt, seat: str) -> str:
    """The seat's last discard goes back into its hand; its face."""
    if not felt.discards[seat]:
        raise WorldError(f"no discard lies before {seat}")
    tile = felt.discards[seat].pop()
    felt.down.discard(tile)
    felt.hands[seat].append(tile)
    felt.changed()
    felt.tell_zones(seat, ["hand", "discards"])
    return tile.face


def meld(felt: Felt, seat: str, kind: str, source: str, face: str, own: Sequence[str]) -> None:
    """R13: the last discard of `source` and own tiles are laid down as a meld."""
    if kind not in CLAIMS:
        raise WorldError(f"kind: expected {', '.join(CLAIMS)}, got {kind!r}")
    if source == seat:
        raise WorldError(f"{seat} cannot claim a discard of its own")
    if len(own) != _OWN_OF[kind]:
        raise WorldError(f"a {kind} needs {_OWN_OF[kind]} own tiles, not {len(own)}")
    claimed = _last_discard(felt, source, face)
    mine = _held(felt, seat, own)
    felt.discards[source].pop()
    for tile in mine:
        felt.hands[seat].remove(tile)
    tiles = tuple(sorted((*mine, claimed), key=lambda tile: tile_order(tile.face)))
    felt.melds[seat].append(LaidMeld(kind, tiles, source, claimed))
    felt.changed()
    felt.tell_zones(seat, ["melds"])
    felt.tell_zones(source, ["discards"])
    felt.tell_zones(seat, ["hand"])


def kong(felt: Felt, seat: str, kind: str, face: str) -> None:
    """R15: four alike of the hand are laid down, or the fourth is added to an own 碰."""
    if kind not in KONGS:
        raise WorldError(f"kind: expected {' or '.join(KONGS)}, got {kind!r}")
    if kind == "concealed":
        mine = _held(felt, seat, [face] * 4)
        felt.melds[seat].append(LaidMeld("kong_concealed", tuple(mine)))
    else:
        at = _pong_of(felt, seat, face)
        mine = _held(felt, seat, [face])
        pong = felt.melds[seat][at]
        felt.melds[seat][at] = LaidMeld("kong_added", (*pong.tiles, *mine), pong.source, pong.claimed)
    for tile in mine:
        felt.hands[seat].remove(tile)
    felt.changed()
    felt.tell_zones(seat, ["melds", "hand"])


def undo_meld(felt: Felt, seat: str) -> None:
    """The seat's last meld is taken up again: what was claimed goes back to where it lay, the rest into the hand."""
    if not felt.melds[seat]:
        raise WorldError(f"no meld lies before {seat}")
    last = felt.melds[seat].pop()
    source = last.source
    if last.kind == "kong_added":
        *pong, added = last.tiles
        felt.melds[seat].append(LaidMeld("pong", tuple(pong), source, last.claimed))
        felt.hands[seat].append(added)
        source = ""
    else:
        felt.hands[seat] += [tile for tile in last.tiles if tile is not last.claimed]
        if last.claimed is not None:
            felt.discards[source].append(last.claimed)
    felt.changed()
    felt.tell_zones(seat, ["hand"])
    if source:
        felt.tell_zones(source, ["discards"])
    felt.tell_zones(seat, ["melds"])


def put_away(felt: Felt, seat: str, face: str = "") -> str:
    """R23: a tile drawn in another's lap is laid aside, face down: the last one that came, or one of a face."""
    if not felt.hands[seat]:
        raise WorldError(f"{seat} holds no tile")
    tile = _held(felt, seat, [face])[0] if face else felt.hands[seat][-1]
    felt.hands[seat].remove(tile)
    felt.aside[seat].append(tile)
    felt.changed()
    felt.tell_zones(seat, ["hand"])
    return tile.face


def take_flipped(felt: Felt, seat: str, position: str) -> str:
    """R25: the tile turned up in 开金 is taken into the hand (抢金); its face."""
    tile = felt.tile_at(position)
    if position not in felt.flipped:
        raise WorldError(f"{position} is not flipped")
    felt.hands[seat].append(felt.lift_out(position))
    felt.came_from[tile] = position
    felt.changed()
    felt.tell_zones(seat, ["hand"])
    return tile.face


def show_hand(felt: Felt, seat: str, open_: bool = True) -> None:
    """A hand is laid open before all, or taken up again. Doing it twice changes nothing."""
    if open_ and not felt.hands[seat]:
        raise WorldError(f"{seat} holds no tile")
    if open_ == (seat in felt.shown):
        return
    if open_:
        felt.shown.add(seat)
    else:
        felt.shown.discard(seat)
    felt.changed()


def put_back(felt: Felt, seat: str, position: str = "") -> str:
    """A tile goes back to the wall where it was taken from: the last one taken of those in the hand, or that of a
    position; the position.
    """
    found = _taken_from(felt, seat, position)
    if found is None:
        where = f" that stood at {position}" if position else " of the wall"
        raise WorldError(f"{seat} holds no tile{where}")
    tile, position = found
    side, index = felt.place(position)
    if felt.walls[side][index] is not None:
        raise WorldError(f"a tile stands at {position}")
    felt.walls[side][index] = tile
    felt.hands[seat].remove(tile)
    del felt.came_from[tile]
    felt.changed()
    felt.tell_zones(seat, ["hand"])
    return position


def _held(felt: Felt, seat: str, faces: Sequence[str]) -> list[Tile]:
    """One tile of the hand for each face, the one that came last; WorldError when one is missing."""
    left = felt.hands[seat][::-1]
    found = []
    for face in faces:
        tile = next((tile for tile in left if tile.face == face), None)
        if tile is None:
            raise WorldError(f"{seat} does not hold {face}" if face in FACES else f"no tile {face!r} is in this hand")
        left.remove(tile)
        found.append(tile)
    return found


def _last_discard(felt: Felt, source: str, face: str) -> Tile:
    if not felt.discards[source]:
        raise WorldError(f"no discard lies before {source}")
    tile = felt.discards[source][-1]
    if tile in felt.down:
        raise WorldError(f"the last discard of {source} lies face down")
    if tile.face != face:
        raise WorldError(f"the last discard of {source} is {tile.face}, not {face}")
    return tile


def _pong_of(felt: Felt, seat: str, face: str) -> int:
    for at, laid in enumerate(felt.melds[seat]):
        if laid.kind == "pong" and laid.tiles[0].face == face:
            return at
    raise WorldError(f"no pong of {face} lies before {seat}")


def _taken_from(felt: Felt, seat: str, position: str) -> tuple[Tile, str] | None:
    for tile in reversed(felt.hands[seat]):
        came_from = felt.came_from.get(tile, "")
        if came_from and position in ("", came_from):
            return tile, came_from
    return None
