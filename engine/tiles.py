"""Tiles and seats: the words every other module speaks.

A face is a two-letter string: `1m`-`9m` 万, `1p`-`9p` 筒, `1s`-`9s` 条, `1z`-`7z` 东南西北白发中,
`1f`-`8f` 春夏秋冬梅兰竹菊. Many tiles run together share the letter: `123m55p7z`.
Seats are fixed places; play runs E → S → W → N → E (counter-clockwise seen from above).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

SEATS: tuple[str, ...] = ("E", "S", "W", "N")

SUITED: tuple[str, ...] = tuple(f"{n}{s}" for s in "mps" for n in range(1, 10))
HONOURS: tuple[str, ...] = tuple(f"{n}z" for n in range(1, 8))
FLOWERS: tuple[str, ...] = tuple(f"{n}f" for n in range(1, 9))
FACES: tuple[str, ...] = SUITED + HONOURS
ALL_FACES: tuple[str, ...] = FACES + FLOWERS
WHITE = "5z"

_ORDER = {face: index for index, face in enumerate(ALL_FACES)}


class TileError(ValueError):
    """A text that is no tile or no run of tiles; the message says which part and what was expected."""


def next_seat(seat: str, steps: int = 1) -> str:
    """The seat `steps` further in play order; 1 is the 下家 (right hand)."""
    return SEATS[(SEATS.index(seat) + steps) % 4]


def previous_seat(seat: str) -> str:
    """The 上家 (left hand) of a seat."""
    return next_seat(seat, 3)


def play_order(first: str) -> tuple[str, ...]:
    """All four seats in play order, `first` in front."""
    start = SEATS.index(first)
    return SEATS[start:] + SEATS[:start]


def is_flower(face: str) -> bool:
    """Whether a face is one of the eight flowers."""
    return face[1] == "f"


def tile_order(face: str) -> int:
    """Sort key of a face: suits in the order m p s z f, then the number."""
    return _ORDER[face]


def sort_tiles(tiles: Iterable[str]) -> list[str]:
    """The tiles in tile order m p s z f."""
    return sorted(tiles, key=_ORDER.__getitem__)


def parse_tiles(text: str) -> list[str]:
    """The faces of a run such as `123m5p`, in the order written; TileError when it is none."""
    tiles: list[str] = []
    numbers: list[str] = []
    for character in text:
        if character.isascii() and character.isdigit():
            numbers.append(character)
            continue
        if character not in "mpszf":
            raise TileError(f"no tile suit {character!r} in {text!r}: expected m, p, s, z or f")
        if not numbers:
            raise TileError(f"no number before {character!r} in {text!r}")
        for number in numbers:
            face = number + character
            if face not in _ORDER:
                raise TileError(f"no tile {face} in {text!r}")
            tiles.append(face)
        numbers = []
    if numbers:
        raise TileError(f"number {numbers[0]} without a suit at the end of {text!r}: expected m, p, s, z or f")
    return tiles


def join_tiles(tiles: Sequence[str]) -> str:
    """The tiles as one run in the order given, every tile with its letter dropped where the next shares it."""
    parts: list[str] = []
    for index, face in enumerate(tiles):
        last = index + 1 == len(tiles) or tiles[index + 1][1] != face[1]
        parts.append(face if last else face[0])
    return "".join(parts)


def format_tiles(tiles: Iterable[str]) -> str:
    """The tiles sorted and run together, each letter once: `123m5p7z`."""
    return join_tiles(sort_tiles(tiles))
