"""What eyes see: pure functions from the world to what one person at a seat, or a bystander, can make out.

Nobody sees another hand that is not laid open, the face of a tile in a wall that is not turned up, of a discard that
lies face down, or of a tile put away.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from engine.tiles import SEATS, sort_tiles
from simulators.world import World


class _Seen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class DiceSight(_Seen):
    """The dice: do they roll, which throw lies there (they are counted from 1), its faces, and does one lean."""

    moving: bool
    throw: int
    values: tuple[int, int] | None
    cocked: bool


class Turn(_Seen):
    """R7 by table manners: whose turn it is to lay flowers out, or, having laid them, to take `owed` tiles."""

    done: bool
    round: int
    seat: str
    owed: int


class MeldSight(_Seen):
    """A meld: `chi`, `pong`, `kong_open`, `kong_concealed` or `kong_added`, and its faces."""

    kind: str
    tiles: tuple[str, ...]


class RoundSight(_Seen):
    """A hand that its people referee, as one seat knows it (`simulators.round`).

    `asked` and `options` (plain actions) are of this seat alone, `drawn` is what it drew last. `number`: discards so
    far. `tile` of `source` may be claimed or robbed. `over` is None until the hand is over.
    """

    asked: bool
    options: tuple[dict[str, Any], ...]
    number: int
    phase: str
    turn: str
    drawn: str
    tile: str
    source: str
    tour: dict[str, Any] | None
    to_draw: int
    covered: dict[str, str]
    over: dict[str, Any] | None


class Sight(_Seen):
    """What a person sees; `hand` is the own one and empty for a bystander. `seen` grows with every change.

    Of `discards` the oldest comes first, one face down is an empty text; `aside` counts tiles put away; `shown` are the
    hands that lie open; `round` is None where nobody but the table referees.
    """

    seen: int
    centre: Literal["down", "up", "moving"]
    deals: bool
    set_up: int
    standing: dict[str, tuple[str, ...]]
    rows: tuple[str, ...]
    flipped: dict[str, str]
    dice: DiceSight
    counts: dict[str, int]
    flowers: dict[str, tuple[str, ...]]
    discards: dict[str, tuple[str, ...]]
    melds: dict[str, tuple[MeldSight, ...]]
    aside: dict[str, int]
    shown: dict[str, tuple[str, ...]]
    felt: dict[str, int]
    forgotten: tuple[str, ...]
    turn: Turn | None
    seat: str = ""
    hand: tuple[str, ...] = ()
    round: RoundSight | None = None

    def stands(self, position: str) -> bool:
        """Whether a tile stands at this position."""
        return position in self.standing.get(position[:1], ())


def public_sight(world: World) -> Sight:
    """What everybody at or beside the table sees."""
    return Sight.model_validate({**_public(world), **_own(world, None)})


def seat_sight(world: World, seat: str) -> Sight:
    """What the person at this seat sees: everything public, the own hand, and what only this seat is asked."""
    return Sight.model_validate({**_public(world), **_own(world, seat)})


class Eyes:
    """The sights of one world as JSON objects, for many who look at each change: what all see is told once."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._version = -1
        self._public = ""
        self._told: dict[str | None, str] = {}

    def sight(self, seat: str | None) -> str:
        """What the person at a seat, or with None a bystander, sees now."""
        if self._version != self._world.version:
            self._version = self._world.version
            self._public = json.dumps(_public(self._world), separators=(",", ":"))
            self._told = {}
        if seat not in self._told:
            own = json.dumps(_own(self._world, seat), separators=(",", ":"))
            self._told[seat] = f"{self._public[:-1]},{own[1:]}"
        return self._told[seat]


def _public(world: World) -> Mapping[str, Any]:
    return {
        "seen": world.version,
        "centre": world.centre,
        "deals": world.deals,
        "set_up": world.set_up,
        "standing": {side: world.standing(side) for side in SEATS},
        "rows": [side for side in SEATS if side in world.rows],
        "flipped": {position: world.face_at(position) for position in sorted(world.flipped)},
        "dice": _dice(world),
        "counts": {seat: len(world.hands[seat]) for seat in SEATS},
        "flowers": {seat: world.zone_faces(seat, "flowers") for seat in SEATS},
        "discards": {seat: _discards(world, seat) for seat in SEATS},
        "melds": {seat: _melds(world, seat) for seat in SEATS},
        "aside": {seat: len(world.aside[seat]) for seat in SEATS},
        "shown": {seat: _hand(world, seat) for seat in SEATS if seat in world.shown},
        "felt": {seat: len(world.felt[seat]) for seat in SEATS},
        "forgotten": [side for side, _ in world.forgotten],
        "turn": _turn(world),
    }


def _own(world: World, seat: str | None) -> Mapping[str, Any]:
    told = None if world.round is None else world.round.told(seat)
    return {"seat": seat or "", "hand": [] if seat is None else _hand(world, seat), "round": told}


def _hand(world: World, seat: str) -> list[str]:
    return sort_tiles([tile.face for tile in world.hands[seat]])


def _discards(world: World, seat: str) -> list[str]:
    return ["" if tile in world.down else tile.face for tile in world.discards[seat]]


def _melds(world: World, seat: str) -> list[Mapping[str, Any]]:
    return [{"kind": meld.kind, "tiles": [tile.face for tile in meld.tiles]} for meld in world.melds[seat]]


def _dice(world: World) -> Mapping[str, Any]:
    lying = world.lying
    values = None if lying is None or lying.cocked else lying.dice
    cocked = lying is not None and lying.cocked
    return {"moving": world.spinning, "throw": world.throws, "values": values, "cocked": cocked}


def _turn(world: World) -> Mapping[str, Any] | None:
    rounds = world.flower_turn()
    if rounds is None:
        return None
    seat = "" if rounds.done else rounds.seat
    return {"done": rounds.done, "round": rounds.round, "seat": seat, "owed": rounds.owed}
