"""Types that several payloads share: seats, faces, positions, walls, numbers, names."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from protocol.mqtt.envelope import U64
from protocol.mqtt.topics import Seat

FACE = r"^([1-9][mps]|[1-7]z|[1-8]f)$"
POSITION = r"^[ESWN]([1-9]|[1-3][0-9])[tb]?$"

Face = Annotated[str, Field(pattern=FACE, description="a tile: 1m..9m, 1p..9p, 1s..9s, 1z..7z, 1f..8f")]
Position = Annotated[str, Field(pattern=POSITION, description="a place in a wall: S2t, S2b; in a row: N8")]
Bits = Annotated[str, Field(pattern=r"^[01]{0,40}$", description="one character a tile, 1 stands there, 0 is gone")]
Code = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,40}$", description="a code; the reader words it")]
Name = Annotated[str, Field(max_length=64)]
Pip = Annotated[int, Field(ge=1, le=6)]
Dice = tuple[Pip, Pip]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
Milliseconds = Annotated[int, Field(ge=0)]
TileSet = Literal[1, 2]
Viewer = Literal["E", "S", "W", "N", "view", "service"]
Params = dict[str, Any]

__all__ = [
    "FACE", "POSITION", "U64", "Bits", "Code", "Count", "Dice", "Face", "Milliseconds", "Name", "Params", "Payload",
    "Pip", "Position", "Seat", "TileSet", "Viewer",
]  # fmt: skip


class Payload(BaseModel):
    """A payload of the contract: readers ignore fields they do not know."""

    # Built when first used: importing the contract must not cost a small board 10 MB and a quarter of a second.
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)
