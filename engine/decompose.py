"""A complete hand read aloud: its sets and its pair, and what each gold stands for (R11, R12, R20)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.hands import Reading, complete, reading
from engine.ruleset import Ruleset
from engine.tiles import tile_order

GroupKind = Literal["run", "triplet", "pair"]


@dataclass(frozen=True, slots=True)
class Group:
    """A set or a pair: the faces that it shows, and under each the tile that is held: itself, a gold, or 白 (R12)."""

    kind: GroupKind
    faces: tuple[str, ...]
    held: tuple[str, ...]


def decompose(rules: Ruleset, gold: str | None, concealed: Sequence[str]) -> tuple[Group, ...] | None:
    """One reading of 3n+2 concealed tiles: sets in tile order, then the pair (or seven pairs); None if not complete.

    Natural tiles are preferred to golds. Golds that are left over stand for themselves.
    """
    if not complete(rules, gold, concealed):
        return None
    book = reading(rules, gold)
    if book.complete(concealed):
        groups = _read(book, _Tiles.of(book, concealed), need_pair=True)
        assert groups is not None, "what is complete can be read"
        return tuple(sorted(groups, key=_order))
    return _seven_pairs(book, concealed)


def _order(group: Group) -> tuple[bool, object]:
    return group.kind == "pair", tile_order(group.faces[0])


@dataclass(frozen=True, slots=True)
class _Tiles:
    """Natural tiles by the face they show, each with the tile that is held, in tile order; and how many golds."""

    naturals: tuple[tuple[str, str], ...]
    golds: int

    @classmethod
    def of(cls, book: Reading, tiles: Sequence[str]) -> _Tiles:
        gold = book.gold
        shown = [(_shown(book, face), face) for face in tiles if face != gold]
        return cls(tuple(sorted(shown, key=lambda pair: tile_order(pair[0]))), sum(face == gold for face in tiles))

    def less(self, group: Group, gold: str | None) -> _Tiles:
        left = list(self.naturals)
        golds = self.golds
        for face, held in zip(group.faces, group.held, strict=True):
            if held == gold:
                golds -= 1
            else:
                left.remove((face, held))
        return _Tiles(tuple(left), golds)


def _shown(book: Reading, face: str) -> str:
    """The face that a natural tile counts as."""
    gold = book.gold
    if gold is not None and face == "5z" and book.steps[face] != _OWN_PLACE:
        return gold
    return face


_OWN_PLACE = (3, 5**4)
"""Field and power of 白 where it is itself."""


def _read(book: Reading, tiles: _Tiles, need_pair: bool) -> list[Group] | None:
    """Groups of all the tiles. What is left after each group must be completable, which the tables tell at once, so
    that no choice is ever taken back."""
    if not tiles.naturals:
        return _golds_alone(book.gold, tiles.golds, need_pair)
    for group in _groups(book, tiles, need_pair):
        left = tiles.less(group, book.gold)
        pair_left = need_pair and group.kind != "pair"
        if _completable(book, left, pair_left):
            further = _read(book, left, pair_left)
            return None if further is None else [group, *further]
    return None


def _completable(book: Reading, tiles: _Tiles, need_pair: bool) -> bool:
    held = [held for _, held in tiles.naturals]
    if book.gold is not None:
        held += [book.gold] * tiles.golds
    if need_pair:
        return book.complete(held)
    return book.sets_alone(book.code(held))


def _golds_alone(gold: str | None, golds: int, need_pair: bool) -> list[Group]:
    face = gold or ""
    groups = [Group("triplet", (face,) * 3, (face,) * 3) for _ in range(golds // 3)]
    return [*groups, Group("pair", (face,) * 2, (face,) * 2)] if need_pair else groups


def _groups(book: Reading, tiles: _Tiles, need_pair: bool) -> Iterator[Group]:
    """Groups with the first natural tile, those with few golds first."""
    first = tiles.naturals[0][0]
    shapes: list[tuple[GroupKind, tuple[str, ...]]] = [("triplet", (first,) * 3)]
    if first[1] != "z":
        number = int(first[0])
        shapes += [
            ("run", tuple(f"{start + step}{first[1]}" for step in range(3)))
            for start in range(max(1, number - 2), min(7, number) + 1)
        ]
    if need_pair:
        shapes.append(("pair", (first,) * 2))
    found = []
    for kind, faces in shapes:
        for golds in range(min(tiles.golds, len(faces) - 1) + 1):
            if kind == "pair" and golds and book.natural_pairs:
                continue
            for held in _held(book.gold, tiles.naturals, faces, golds):
                found.append((golds, Group(kind, faces, held)))
    return (group for _, group in sorted(found, key=lambda item: item[0]))


def _held(
    gold: str | None, naturals: Sequence[tuple[str, str]], faces: Sequence[str], golds: int
) -> Iterator[tuple[str, ...]]:
    """The ways to lay these faces with so many golds."""
    if not faces:
        if golds == 0:
            yield ()
        return
    face, rest = faces[0], faces[1:]
    natural = next((pair for pair in naturals if pair[0] == face), None)
    if natural is not None:
        left = list(naturals)
        left.remove(natural)
        yield from ((natural[1], *others) for others in _held(gold, left, rest, golds))
    if gold is not None and golds > 0:
        yield from ((gold, *others) for others in _held(gold, naturals, rest, golds - 1))


def _seven_pairs(book: Reading, concealed: Sequence[str]) -> tuple[Group, ...]:
    tiles = _Tiles.of(book, concealed)
    naturals, golds = list(tiles.naturals), tiles.golds
    pairs = []
    while naturals:
        face, held = naturals.pop(0)
        other = next((pair for pair in naturals if pair[0] == face), None)
        if other is not None:
            naturals.remove(other)
        else:
            golds -= 1
        pairs.append(Group("pair", (face, face), (held, other[1] if other is not None else book.gold or "")))
    return (*pairs, *_golds_in_pairs(book.gold, golds))


def _golds_in_pairs(gold: str | None, golds: int) -> list[Group]:
    face = gold or ""
    return [Group("pair", (face, face), (face, face)) for _ in range(golds // 2)]
