"""The physical truth of a simulated table: every tile an individual that lies in exactly one place.

What hands do are acts: each checks that it can be done and raises WorldError with the reason otherwise. The acts of
play are in `simulators.laying`, what eyes see is in `simulators.sight`. Nothing here knows time, wires or rules beyond
the table manners of R5 and R7; the same seed gives the same shuffles (by the number of the sort) and the same throws
(by the number of the throw).
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from engine.dice import Dice
from engine.tiles import SEATS, is_flower, play_order, tile_order
from simulators.felt import Felt, Happening, Tile, WorldError, Zone
from simulators.script import ScriptedHand

if TYPE_CHECKING:
    from simulators.round import Round

__all__ = ["Centre", "FlowerRounds", "Happening", "Missing", "Throw", "Tile", "World", "WorldError", "Zone"]

Centre = Literal["down", "up", "moving"]


@dataclass(frozen=True, slots=True)
class Throw:
    """Dice as they came to rest: the number of the throw (from 1), the faces, and whether one leans."""

    number: int
    dice: Dice
    cocked: bool


@dataclass(frozen=True, slots=True)
class Missing:
    """A forgotten tile: at the `sort`-th sort of the run `count` tiles are short at `side`."""

    sort: int
    side: str
    count: int = 1


@dataclass
class FlowerRounds:
    """R7's rhythm: whose turn it is to lay flowers out or to take replacements."""

    dealer: str
    round: int = 1
    place: int = 0
    owed: int = 0
    done: bool = False

    @property
    def seat(self) -> str:
        """The seat whose turn it is."""
        return play_order(self.dealer)[self.place]


@dataclass(kw_only=True)
class World(Felt):
    """Two sets of tiles, the felt, the walls, the hands and the dice.

    `faces`: how many of each face one set has; `deals`: the table itself pushes the groups to the seats; `flips`:
    flowers turned up in the walls since they rose; `round`: the hand as its people referee it where the table does not;
    `cocked_next`: so many of the throws to come lean.
    """

    faces: Mapping[str, int]
    seed: int
    script: Sequence[ScriptedHand] = ()
    missing: Sequence[Missing] = ()
    cocked_rate: float = 0.0
    cocked_next: int = 0
    deals: bool = False
    centre: Centre = "down"
    lifts: Centre = "down"
    set_up: int = 0
    inside: dict[int, list[Tile]] = field(default_factory=dict)
    stacked: dict[int, dict[str, list[Tile]]] = field(default_factory=dict)
    sorts: int = 0
    raised: int = 0
    throws: int = 0
    spinning: bool = False
    lying: Throw | None = None
    rounds: FlowerRounds | None = None
    flips: set[str] = field(default_factory=set)
    round: Round | None = None
    _dice: list[Dice] = field(default_factory=list)

    def __post_init__(self) -> None:
        sets = {number: self._new_set(number) for number in (1, 2)}
        self.inside = {1: sets[1], 2: []}
        self.stacked = {1: {}, 2: {}}
        share = len(sets[2]) // 4
        self.felt = {seat: sets[2][at * share : (at + 1) * share] for at, seat in enumerate(SEATS)}
        self.felt["N"] += sets[2][4 * share :]

    # --- what the mechanisms do ---------------------------------------------------------------------------------------

    def sort(self, set_no: int, stacks: Sequence[int]) -> dict[str, int]:
        """Stack what lies inside of a set, shuffled by the number of this sort; tiles stacked per side.

        `stacks` per side E, S, W, N. Tiles that find no place stay inside; forgotten ones (`missing`) go to the felt.
        """
        self.sorts += 1
        self.unstack(set_no)
        short = self._forget(set_no)
        tiles = self._shuffled(set_no)
        room = {side: 2 * count for side, count in zip(SEATS, stacks, strict=True)}
        self._leave_short(room, short, len(tiles))
        stacked: dict[str, list[Tile]] = {}
        for side in SEATS:
            stacked[side], tiles = tiles[: room[side]], tiles[room[side] :]
        self.stacked[set_no], self.inside[set_no] = stacked, tiles
        self.changed()
        return {side: len(stacked[side]) for side in SEATS}

    def unstack(self, set_no: int) -> None:
        """What was stacked of a set falls back among the loose tiles inside."""
        for tiles in self.stacked[set_no].values():
            self.inside[set_no] += tiles
        self.stacked[set_no] = {}

    def raise_walls(self, set_no: int) -> None:
        """The stacked set stands on the felt."""
        if any(self.walls.values()):
            raise WorldError("tiles of a wall still stand on the felt")
        if not self.stacked[set_no]:
            raise WorldError(f"set {set_no} is not stacked")
        self.walls = {side: list(tiles) for side, tiles in self.stacked[set_no].items()}
        self.stacked[set_no] = {}
        self._dice = list(self._scripted(self.raised).dice) if self.script else []
        self.raised += 1
        self.set_up = set_no
        self.rows.clear()
        self.flipped.clear()
        self.flips.clear()
        self.rounds = self.round = None
        self.changed()

    def move_centre(self, position: Centre) -> None:
        """The centre's lift is moving or has arrived; what was not pushed in when it closes lies about, forgotten."""
        self.centre = position
        if position == "down":
            self._leave_lying()
        self.changed()

    def move_lifts(self, position: Centre) -> None:
        """The walls' lifts are moving or have arrived."""
        self.lifts = position
        self.changed()

    def spin(self) -> None:
        """The dice begin to roll."""
        self.spinning, self.lying = True, None
        self.changed()

    def settle(self) -> Throw:
        """The dice come to rest; the throw that lies there now."""
        self.throws += 1
        chance = random.Random(f"{self.seed}/throw/{self.throws}")
        dice = (chance.randint(1, 6), chance.randint(1, 6))
        cocked = chance.random() < self.cocked_rate or self.cocked_next > 0
        self.cocked_next = max(0, self.cocked_next - 1)
        if self._dice:
            dice, cocked = self._dice.pop(0), False
        self.spinning, self.lying = False, Throw(self.throws, dice, cocked)
        self.changed()
        return self.lying

    # --- what hands do ------------------------------------------------------------------------------------------------

    def press(self, key: str, seat: str, held_ms: int = 80) -> None:
        """A key at the table is pressed and let go: `lift`, `dice`, `seat` or `service`."""
        self.notify(Happening("key", seat=seat, word=_key(key), held_ms=held_ms))

    def hold(self, key: str, seat: str) -> None:
        """A key at the table is pressed and held down."""
        self.notify(Happening("key_down", seat=seat, word=_key(key)))

    def throw_by_hand(self) -> Throw:
        """Somebody throws the dice with the hand."""
        if self.spinning:
            raise WorldError("the dice are rolling")
        return self.settle()

    def push_in(self, seat: str) -> int:
        """Everything on this seat's side goes into the centre, forgotten tiles aside; how many tiles."""
        if self.centre != "up":
            raise WorldError("the centre is not up")
        pushed, zones = self.clear(seat)
        for tile in pushed:
            self.inside[tile.set_no].append(tile)
        if not any(self.walls.values()) and not any(self.hands.values()):
            self.set_up, self.rounds = 0, None
        self.round = None
        self.changed()
        self.tell_zones(seat, zones)
        return len(pushed)

    def _leave_lying(self) -> None:
        for seat in SEATS:
            left, zones = self.clear(seat)
            self.forgotten += [(seat, tile) for tile in left]
            self.tell_zones(seat, zones)
        self.set_up, self.rounds, self.round = 0, None, None

    def put_in_forgotten(self) -> int:
        """Forgotten tiles are found and dropped in through the flap at the centre's rim; how many."""
        found = [tile for _, tile in self.forgotten]
        if not found:
            raise WorldError("no tile lies about")
        for tile in found:
            self.inside[tile.set_no].append(tile)
        self.forgotten.clear()
        self.changed()
        return len(found)

    def lay_row(self, side: str) -> None:
        """R5: push the eight right-hand stacks forward and lay the rest in one row, top tile before bottom."""
        if side in self.rows:
            raise WorldError(f"the row of {side} is laid")
        if not self.walls[side] or None in self.walls[side]:
            raise WorldError(f"no whole wall stands at {side}")
        self.rows.add(side)
        self.changed()
        self.notify(Happening("row", seat=side))

    def take(self, seat: str, positions: Sequence[str]) -> list[str]:
        """The tiles at these positions go into a seat's hand, in this order; their faces."""
        for position in positions:
            self.tile_at(position)
        if len(set(positions)) != len(positions):
            raise WorldError("a position is named twice")
        if not positions:
            raise WorldError("no position is named")
        self.flower_turn()
        taken = [self.lift_out(position) for position in positions]
        self.hands[seat] += taken
        self.came_from.update(zip(taken, positions, strict=True))
        if self.rounds is not None and not self.rounds.done and self.rounds.seat == seat and self.rounds.owed:
            self.rounds.owed = max(0, self.rounds.owed - len(taken))
            if not self.rounds.owed:
                self.rounds.place += 1
        self.changed()
        self.tell_zones(seat, ["hand"])
        return [tile.face for tile in taken]

    def lay_flowers(self, seat: str, faces: Collection[str] | None = None) -> list[str]:
        """A seat lays flowers of its hand (all, or these) out before it; their faces in tile order."""
        laid = [tile for tile in self.hands[seat] if is_flower(tile.face) and (faces is None or tile.face in faces)]
        if not laid:
            raise WorldError("no such flower is in this hand")
        self.flower_turn()
        self.hands[seat] = [tile for tile in self.hands[seat] if tile not in laid]
        laid.sort(key=lambda tile: tile_order(tile.face))
        self.flowers[seat] += laid
        if self.rounds is not None and not self.rounds.done and self.rounds.seat == seat:
            self.rounds.owed += len(laid)
        self.changed()
        self.tell_zones(seat, ["flowers", "hand"])
        return [tile.face for tile in laid]

    def begin_flowers(self, dealer: str) -> None:
        """The hands are complete: the rounds of R7 begin with the dealer. Saying it again changes nothing."""
        if self.rounds is None:
            self.rounds = FlowerRounds(dealer)
            self.changed()

    def flip(self, position: str) -> str:
        """A tile of the wall is turned face up where it stands; its face."""
        tile = self.tile_at(position)
        if position not in self.flipped:
            self.flipped.add(position)
            if is_flower(tile.face):
                self.flips.add(position)
            self.changed()
            self.notify(Happening("flip", position=position, face=tile.face))
        return tile.face

    def turn_back(self, position: str) -> None:
        """A flipped tile is turned face down again (R9)."""
        if position not in self.flipped:
            raise WorldError(f"{position} is not flipped")
        self.flipped.discard(position)
        self.changed()

    def give_flower(self, position: str, seat: str) -> str:
        """R8: a flower that was flipped goes to the dealer's flowers; its face."""
        tile = self.tile_at(position)
        if position not in self.flipped or not is_flower(tile.face):
            raise WorldError(f"no flower lies open at {position}")
        self.flowers[seat].append(self.lift_out(position))
        self.changed()
        self.tell_zones(seat, ["flowers"])
        return tile.face

    # --- what can be told ---------------------------------------------------------------------------------------------

    def all_tiles(self) -> list[Tile]:
        """Every tile of both sets wherever it is: each exactly once."""
        found = [tile for tiles in self.inside.values() for tile in tiles]
        found += [tile for sides in self.stacked.values() for tiles in sides.values() for tile in tiles]
        for seat in SEATS:
            found += self.lying_at(seat)
        return found + [tile for _, tile in self.forgotten]

    def flower_turn(self) -> FlowerRounds | None:
        """R7: whose turn it is now, or `done`; None before the rounds have begun."""
        rounds = self.rounds
        if rounds is None or rounds.done or rounds.owed:
            return rounds
        if not any(is_flower(tile.face) for hand in self.hands.values() for tile in hand):
            rounds.done = True
            return rounds
        while rounds.place > 3 or not any(is_flower(tile.face) for tile in self.hands[rounds.seat]):
            rounds.place += 1
            if rounds.place > 3:
                rounds.round, rounds.place = rounds.round + 1, 0
        return rounds

    # --- within -------------------------------------------------------------------------------------------------------

    def _new_set(self, set_no: int) -> list[Tile]:
        faces = [face for face in sorted(self.faces, key=tile_order) for _ in range(self.faces[face])]
        return [Tile(set_no, number, face) for number, face in enumerate(faces)]

    def _scripted(self, hand: int) -> ScriptedHand:
        return self.script[hand] if hand < len(self.script) else ScriptedHand(None, ())

    def _forget(self, set_no: int) -> dict[str, int]:
        short: dict[str, int] = {}
        for case in self.missing:
            if case.sort == self.sorts:
                chance = random.Random(f"{self.seed}/missing/{self.sorts}/{case.side}")
                inside = sorted(self.inside[set_no], key=lambda tile: tile.number)
                lost = chance.sample(inside, min(case.count, len(inside)))
                self.inside[set_no] = [tile for tile in self.inside[set_no] if tile not in lost]
                self.forgotten += [(case.side, tile) for tile in lost]
                short[case.side] = short.get(case.side, 0) + len(lost)
        return short

    def _shuffled(self, set_no: int) -> list[Tile]:
        tiles = sorted(self.inside[set_no], key=lambda tile: tile.number)
        waiting = any(self.stacked[other] for other in (1, 2) if other != set_no)
        wall = self._scripted(self.raised + waiting).wall if self.script else None
        if wall is None or len(wall) != len(tiles):
            random.Random(f"{self.seed}/sort/{self.sorts}").shuffle(tiles)
            return tiles
        by_face: dict[str, list[Tile]] = {}
        for tile in tiles:
            by_face.setdefault(tile.face, []).append(tile)
        return [by_face[face].pop(0) for face in wall]

    def _leave_short(self, room: dict[str, int], short: Mapping[str, int], tiles: int) -> None:
        for side, count in short.items():
            room[side] = max(0, room[side] - count)
        for side in reversed(SEATS):
            lacking = sum(room.values()) - tiles
            if lacking > 0:
                room[side] -= min(lacking, room[side])


def _key(key: str) -> str:
    if key not in ("lift", "dice", "seat", "service"):
        raise WorldError(f"no key {key!r}: expected lift, dice, seat or service")
    return key
