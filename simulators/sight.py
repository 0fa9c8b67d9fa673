"""What eyes see: pure functions from the world to what one person at a seat, or a bystander, can make out.

Nobody sees another hand or the face of a tile in a wall that is not turned up.
"""

from __future__ import annotations

from typing import Literal

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


class Sight(_Seen):
    """What a person sees; `hand` is the own one and empty for a bystander. `seen` grows with every change."""

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
    felt: dict[str, int]
    forgotten: tuple[str, ...]
    turn: Turn | None
    seat: str = ""
    hand: tuple[str, ...] = ()

    def stands(self, position: str) -> bool:
        """Whether a tile stands at this position."""
        return position in self.standing.get(position[:1], ())


def public_sight(world: World) -> Sight:
    """What everybody at or beside the table sees."""
    return Sight(
        seen=world.version,
        centre=world.centre,
        deals=world.deals,
        set_up=world.set_up,
        standing={side: tuple(world.standing(side)) for side in SEATS},
        rows=tuple(side for side in SEATS if side in world.rows),
        flipped={position: world.face_at(position) for position in sorted(world.flipped)},
        dice=_dice(world),
        counts={seat: len(world.hands[seat]) for seat in SEATS},
        flowers={seat: world.zone_faces(seat, "flowers") for seat in SEATS},
        felt={seat: len(world.felt[seat]) for seat in SEATS},
        forgotten=tuple(side for side, _ in world.forgotten),
        turn=_turn(world),
    )


def seat_sight(world: World, seat: str) -> Sight:
    """What the person at this seat sees: everything public and the own hand."""
    hand = tuple(sort_tiles(world.zone_faces(seat, "hand")))
    return public_sight(world).model_copy(update={"seat": seat, "hand": hand})


def _dice(world: World) -> DiceSight:
    lying = world.lying
    values = None if lying is None or lying.cocked else lying.dice
    cocked = lying is not None and lying.cocked
    return DiceSight(moving=world.spinning, throw=world.throws, values=values, cocked=cocked)


def _turn(world: World) -> Turn | None:
    rounds = world.flower_turn()
    if rounds is None:
        return None
    seat = "" if rounds.done else rounds.seat
    return Turn(done=rounds.done, round=rounds.round, seat=seat, owed=rounds.owed)
