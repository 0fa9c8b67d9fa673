"""What play starts from: the hands after 补花 and 开金, and the wall that is left, seen from both ends (R7, R8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from engine.hands import Reading, complete, reading
from engine.melds import Meld, is_meld, natural_face
from engine.play.derived import derived
from engine.ruleset import Ruleset, copies
from engine.tiles import SEATS, is_flower


class DealError(ValueError):
    """A deal that cannot be: `field` is what is wrong, the message says what was expected."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


@dataclass(frozen=True)
class Deal:
    """A dealt hand.

    `gold` is the gold's face, None in a game without; `flipped` the tile turned for it, which has left the wall (under
    R10 the indicator), empty if none. `hands` hold no flowers, the dealer's one tile more than the others'. `wall` is
    what is left, head first; `tail_order` its places in the order in which the tail gives them, from the end when
    empty. `opening`: None when R25's window is still to be held; else its winner and way, both empty when nobody won.
    `flips` counts the flowers turned in 开金 (R26).
    """

    rules: Ruleset
    dealer: str
    gold: str | None
    flipped: str
    hands: Mapping[str, tuple[str, ...]]
    flowers: Mapping[str, tuple[str, ...]]
    wall: tuple[str, ...]
    tail_order: tuple[int, ...] = ()
    opening: tuple[str, str] | None = None
    flips: int = 0

    def natural(self, face: str) -> str:
        """R12: the face a tile is read as."""
        return natural_face(self.rules, self.gold, face)

    @derived
    def reading(self) -> Reading:
        """How hands are read under these rules and this gold."""
        return reading(self.rules, self.gold)

    def complete(self, concealed: tuple[str, ...]) -> bool:
        """R20: `engine.hands.complete` under these rules and this gold."""
        if self.rules.seven_pairs:
            return complete(self.rules, self.gold, concealed)
        return len(concealed) % 3 == 2 and self.reading.complete(concealed)

    def youjin_ready(self, concealed: tuple[str, ...]) -> bool:
        """R22: `engine.hands.youjin_ready` under these rules and this gold."""
        if self.gold not in concealed or not self.rules.youjin or len(concealed) % 3 != 1:
            return False
        return self.reading.ready(self.reading.code(concealed))

    @derived
    def runs(self) -> Mapping[str, Mapping[tuple[str, str], bool]]:
        """For each face that may be claimed for 吃 the pairs near it, in tile order, and whether they make a run."""
        faces = [face for face in self.reading.faces if face != self.gold and self.natural(face)[1] != "z"]
        return {tile: self._runs_with(tile, faces) for tile in faces}

    def _runs_with(self, tile: str, faces: list[str]) -> Mapping[tuple[str, str], bool]:
        own = self.natural(tile)
        near = [face for face in faces if self.natural(face)[1] == own[1]]
        near = [face for face in near if abs(int(self.natural(face)[0]) - int(own[0])) <= 2]
        return {pair: is_meld(self.rules, self.gold, Meld("chi", (*pair, tile))) for pair in combinations(near, 2)}

    @derived
    def ways(self) -> frozenset[str]:
        """The ways by which a hand can be won under these rules."""
        return frozenset(way for way in self.rules.way_table() if self.rules.knows(way))

    @derived
    def said(self) -> dict[str, tuple[str, ...]]:
        """For each phase the ways that could be meant there, filled as it is asked for."""
        return {}

    @derived
    def tail(self) -> tuple[int, ...]:
        """Places of the wall in the order in which the tail gives them."""
        return self.tail_order or tuple(range(len(self.wall) - 1, -1, -1))


def check_deal(deal: Deal) -> None:
    """DealError where hands have a wrong number of tiles, a tile is there too often, or an end is not of this wall."""
    for field, message in _mistakes(deal):
        raise DealError(field, message)


def _mistakes(deal: Deal) -> Iterator[tuple[str, str]]:
    if deal.dealer not in SEATS:
        yield "dealer", f"{deal.dealer!r} is no seat; expected E, S, W or N"
        return
    for name, held in (("hands", deal.hands), ("flowers", deal.flowers)):
        if set(held) != set(SEATS):
            yield name, "expected the tiles of E, S, W and N"
            return
    for seat in SEATS:
        wanted = deal.rules.hand + (seat == deal.dealer)
        if len(deal.hands[seat]) != wanted:
            yield f"hands.{seat}", f"{len(deal.hands[seat])} tiles; expected {wanted}"
        if any(is_flower(face) for face in deal.hands[seat]):
            yield f"hands.{seat}", "a flower; expected them laid out (R7)"
        if not all(is_flower(face) for face in deal.flowers[seat]):
            yield f"flowers.{seat}", "expected flowers alone"
    yield from _wall_mistakes(deal)


def _wall_mistakes(deal: Deal) -> Iterator[tuple[str, str]]:
    allowed = copies(deal.rules)
    used = Counter(deal.wall)
    for seat in SEATS:
        used.update((*deal.hands[seat], *deal.flowers[seat]))
    if deal.flipped:
        used[deal.flipped] += 1
    for face, count in used.items():
        if count > allowed[face]:
            yield "wall", f"{face} is there {count} times; the set has {allowed[face]}"
    if deal.gold is not None and (is_flower(deal.gold) or deal.gold not in allowed):
        yield "gold", f"{deal.gold!r} cannot be the gold of these tiles"
    if deal.tail_order and sorted(deal.tail_order) != list(range(len(deal.wall))):
        yield "tail_order", "expected every place of the wall once"
    if deal.opening is not None:
        seat, way = deal.opening
        if seat not in ("", *SEATS) or (way == "") != (seat == "") or (way and not deal.rules.knows(way)):
            yield "opening", f"{seat!r} cannot have won by {way!r} under these rules"
