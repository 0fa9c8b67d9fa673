"""What the tag readers make of the zones before the seats: the truth, or a misreading until the zone changes again."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from engine.tiles import FACES
from simulators.felt import ZONES, WorldError
from simulators.world import World

Misreading = Literal["missing", "doubled", "wrong"]
MISREADINGS: tuple[Misreading, ...] = ("missing", "doubled", "wrong")
"""A tile is not read, is read twice, or is read as another with little confidence."""
SURE = 100
UNSURE = (20, 59)
"""Confidence of a wrong face, per cent, from and to."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader says of a zone: its faces in the order they came, and how sure it is, per cent."""

    tiles: tuple[str, ...]
    confidence: int


@dataclass(frozen=True, slots=True)
class _Error:
    kind: Misreading
    at: int
    face: str = ""
    confidence: int = SURE


class Readers:
    """The readers of all zones. `rate`: the chance that a change in play is read wrongly; seed and the number of the
    zone's change alone decide. `misread` counts.

    Before the first discard of a hand nothing is read wrongly by chance.
    """

    def __init__(self, world: World, rate: float = 0.0) -> None:
        self.misread = 0
        self._world = world
        self._rate = rate
        self._errors: dict[tuple[str, str], _Error] = {}
        self._changes: Counter[tuple[str, str]] = Counter()

    def read(self, seat: str, zone: str) -> Reading:
        """What the reader of a zone says now."""
        tiles = self._world.zone_faces(seat, zone)
        error = self._errors.get((seat, zone))
        if error is None:
            return Reading(tiles, SURE)
        read = list(tiles)
        match error.kind:
            case "missing":
                del read[error.at]
            case "doubled":
                read.insert(error.at, read[error.at])
            case "wrong":
                read[error.at] = error.face
        return Reading(tuple(read), error.confidence)

    def changed(self, seat: str, zone: str) -> None:
        """A zone has changed: what was read wrongly is read anew."""
        self._changes[seat, zone] += 1
        self._errors.pop((seat, zone), None)
        if self._rate <= 0 or not self._in_play() or not self._world.zone_faces(seat, zone):
            return
        chance = self._chance(seat, zone)
        if chance.random() < self._rate:
            self._err(seat, zone, chance.choice(MISREADINGS), chance)

    def err(self, seat: str, zone: str, kind: str, face: str = "", read_as: str = "") -> None:
        """A zone is read wrongly from now until it changes: the last tile, or the last one of a face; `read_as` what a
        `wrong` one is taken for. WorldError for what cannot be.
        """
        found = next((word for word in MISREADINGS if word == kind), None)
        if found is None:
            raise WorldError(f"kind: expected {', '.join(MISREADINGS)}, got {kind!r}")
        if zone not in ZONES:
            raise WorldError(f"zone: expected {', '.join(ZONES)}, got {zone!r}")
        if read_as and read_as not in self._world.faces:
            raise WorldError(f"as: expected a tile of the set, got {read_as!r}")
        self._err(seat, zone, found, self._chance(seat, zone), face, read_as)

    def _err(
        self, seat: str, zone: str, kind: Misreading, chance: random.Random, face: str = "", read_as: str = ""
    ) -> None:
        tiles = self._world.zone_faces(seat, zone)
        places = [at for at, tile in enumerate(tiles) if face in ("", tile)]
        if not places:
            raise WorldError(f"no tile{f' {face}' if face else ''} lies in the zone {zone} of {seat}")
        at = places[-1]
        if kind == "wrong":
            others = [other for other in FACES if other in self._world.faces and other != tiles[at]]
            other = read_as or chance.choice(others)
            self._errors[seat, zone] = _Error(kind, at, other, chance.randint(*UNSURE))
        else:
            self._errors[seat, zone] = _Error(kind, at)
        self.misread += 1

    def _in_play(self) -> bool:
        return self._world.centre == "down" and any(self._world.discards.values())

    def _chance(self, seat: str, zone: str) -> random.Random:
        return random.Random(f"{self._world.seed}/reader/{seat}/{zone}/{self._changes[seat, zone]}")
