"""What a person plays: one of the actions that the rules offer, chosen from what the person knows. Pure.

People aim for complete hands by the fewest tiles to exchange, and of two ways as near by the tiles that help. They keep
golds, go for 游金 and its tours where these bring more than they risk, and claim only what brings them nearer.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from engine.hands import Reading, reading, split
from engine.melds import natural_face
from engine.play import Action
from engine.ruleset import Ruleset
from engine.ruleset_model import TOUR
from engine.shanten import shanten, shanten_of, to_youjin
from engine.tiles import FACES, is_flower, sort_tiles, tile_order

COPIES: Final = 4
LOOKED_AT: Final = 6
"""Discards as near as each other of which the tiles that help are counted."""
LAP: Final = 4
"""Tiles that are drawn until it is one's own turn again."""
TRUST_YOUJIN: Final = 0.75
"""How likely people hold it that a lap passes and nobody else wins."""
TRUST_TOUR: Final = 0.7
"""The same where the others draw to win by self-draw."""
DARING: Final = 0.1
"""How much trust differs from one moment to the next, with the mood."""
BOLD_UNTIL: Final = 24
"""Tiles that must be left for somebody bold to go for a 游金 that is further off."""
DETOUR: Final = 2
"""How many exchanges more a 游金 may cost somebody bold."""
FAR: Final = 99


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a person knows when the rules ask.

    `hand`: the own concealed tiles, a drawn one among them. `tile`: what may be claimed or robbed, else empty.
    `number`: how many discards there have been. `options`: what may be done, in any order. `bold`: who would rather
    have a 游金 than the first win that comes.
    """

    rules: Ruleset
    gold: str | None
    hand: tuple[str, ...]
    number: int
    options: tuple[Action, ...]
    tile: str = ""
    bold: bool = False


def action_of(plain: Mapping[str, Any]) -> Action:
    """An action of the wires: only what is not empty stands in it; unknown fields are passed over."""
    tiles = plain.get("tiles", ())
    return Action(
        name=str(plain.get("name", "")),
        tile=str(plain.get("tile", "")),
        tiles=tuple(sort_tiles(tiles)) if all(tile in FACES for tile in tiles) else tuple(tiles),
        way=str(plain.get("way", "")),
        kind=str(plain.get("kind", "")),
        reason=str(plain.get("reason", "")),
    )


def plain_of(action: Action) -> dict[str, Any]:
    """The action as it travels: its name and what is not empty."""
    fields: dict[str, Any] = {
        "tile": action.tile,
        "tiles": list(action.tiles),
        "way": action.way,
        "kind": action.kind,
        "reason": action.reason,
    }
    return {"name": action.name, **{name: value for name, value in fields.items() if value}}


def normal(options: Iterable[Action]) -> tuple[Action, ...]:
    """The options, each once and in an order of their own."""
    return tuple(sorted(set(options), key=_key))


def fits(hand: Iterable[str], options: Iterable[Action], tile: str = "") -> bool:
    """Whether a hand holds what these options need: not while eyes and display tell of different moments."""
    held = Counter(hand)
    return all(not Counter(_needed(option, tile)) - held for option in options)


def choose(known: Knowledge, chance: random.Random) -> Action:
    """The action that this person takes; ValueError where nothing is offered.

    The same knowledge and chance give the same action, in whatever order the options come.
    """
    offered = normal(known.options)
    if not offered:
        raise ValueError("no action is offered: expected at least one")
    if len(offered) == 1:
        return offered[0]
    person = _Player(known, offered, chance)
    if any(one.name in ("discard", "discard_down") for one in offered):
        return person.own_turn()
    return person.answer()


class _Player:
    """One decision: the hand by its code, the options by their names."""

    def __init__(self, known: Knowledge, offered: tuple[Action, ...], chance: random.Random) -> None:
        self._rules, self._gold, self._chance = known.rules, known.gold, chance
        self._book: Reading = reading(known.rules, known.gold)
        self._hand = tuple(sort_tiles(tile for tile in known.hand if not is_flower(tile)))
        self._code = self._book.code(self._hand) if self._hand else 0
        self._tile = known.tile
        self._offered = offered
        self._left = _tiles_left(known.rules, known.number)
        self._bold = known.bold and known.rules.knows("youjin") and self._left > BOLD_UNTIL
        self._mood = chance.uniform(-DARING, DARING)

    # --- decisions --------------------------------------------------------------------------------------------------

    def own_turn(self) -> Action:
        win, tour = self._best_win(), self._first("tour_discard")
        if tour is not None and (win is None or self._tours_on(win)):
            return tour
        discards = [one for one in self._offered if one.name == "discard"]
        if win is not None and not (discards and self._waits_for_youjin(win, discards)):
            return win
        discard = self._best_discard(discards) if discards else None
        if win is None and (kong := self._kong(discard)) is not None:
            return kong
        return self._laid_down(discard)

    def answer(self) -> Action:
        """In a window, in another's lap, on a flower."""
        win, tour = self._best_win(), self._first("tour_discard")
        passing = self._first("pass") or self._offered[0]
        if tour is not None and (win is None or self._tours_on(win)):
            return tour
        if win is not None:
            return passing if win.way in ("pinghu", "dihu") and self._keeps_youjin(win) else win
        kong = self._first("kong_concealed", "kong_added")
        return kong if kong is not None else self._claim(passing)

    def _claim(self, passing: Action) -> Action:
        if not self._tile or self._in_youjin():
            return passing
        now = self._far(self._code, len(self._hand))
        nearer = []
        for place, one in enumerate(self._offered):
            own = _given(one, self._tile)
            if own is None:
                continue
            far = self._far(self._without(own), len(self._hand) - len(own))
            if far < now or (one.name == "kong_open" and far == now):
                nearer.append((far, one.name == "chi", place, one))
        return min(nearer)[-1] if nearer else passing

    # --- winning ----------------------------------------------------------------------------------------------------

    def _best_win(self) -> Action | None:
        wins = [one for one in self._offered if one.name == "hu"]
        return max(wins, key=lambda one: self._worth(one.way), default=None)

    def _worth(self, way: str) -> int:
        return _worth(self._rules, way)

    def _tours_on(self, win: Action) -> bool:
        """R23: whether the next level is worth the others' draws."""
        level = TOUR.index(win.way) + 1 if win.way in TOUR else 1
        if level >= len(TOUR):
            return False
        return self._left > LAP and self._worth(TOUR[level]) * (TRUST_TOUR + self._mood) > self._worth(win.way)

    def _waits_for_youjin(self, win: Action, discards: Sequence[Action]) -> bool:
        """Whether a small win is let go for a 游金 that one's next draw brings."""
        if win.way not in ("zimo", "pinghu") or not self._youjin_pays(win):
            return False
        return any(self._ready(self._without((one.tile,))) for one in discards if one.tile != self._gold)

    def _keeps_youjin(self, win: Action) -> bool:
        return self._in_youjin() and self._youjin_pays(win)

    def _youjin_pays(self, win: Action) -> bool:
        rules = self._rules
        late = self._left <= max(2 * LAP, rules.last_tiles_no_youjin + 2 * LAP)
        more = self._worth("youjin") * (TRUST_YOUJIN + self._mood) > self._worth(win.way)
        return rules.youjin and rules.knows("youjin") and not late and more

    def _in_youjin(self) -> bool:
        return len(self._hand) % 3 == 1 and self._ready(self._code)

    def _ready(self, code: int) -> bool:
        return self._rules.youjin and self._book.ready(code)

    # --- getting nearer ---------------------------------------------------------------------------------------------

    def _best_discard(self, discards: Sequence[Action]) -> Action:
        kept = [one for one in discards if one.tile != self._gold] or list(discards)
        count = len(self._hand) - 1
        far = {one: self._far(self._without((one.tile,)), count) for one in kept}
        nearest = min(far.values())
        even = [one for one in kept if far[one] == nearest]
        if len(even) == 1:
            return even[0]
        held = Counter(map(self._natural, self._hand))
        even = sorted(even, key=lambda one: (_company(held, self._natural(one.tile)), tile_order(one.tile)))[:LOOKED_AT]
        help_for = {one: self._help(self._without((one.tile,)), count, nearest, one.tile) for one in even}
        most = max(help_for.values())
        return self._chance.choice([one for one in even if help_for[one] == most])

    def _laid_down(self, discard: Action | None) -> Action:
        """明游 (R23): the discard that makes the hand ready lies face down where the rules know it."""
        down = next(
            (
                one
                for one in self._offered
                if one.name == "discard_down" and (discard is None or one.tile == discard.tile)
            ),
            None,
        )
        return down or discard or self._offered[0]

    def _kong(self, discard: Action | None) -> Action | None:
        """A kong that takes the hand no further from its end than the best discard would."""
        if discard is None:
            return self._first("kong_concealed", "kong_added")
        nearest = self._far(self._without((discard.tile,)), len(self._hand) - 1)
        for one in self._offered:
            if one.name in ("kong_concealed", "kong_added"):
                gone = (one.tile,) * (COPIES if one.name == "kong_concealed" else 1)
                if self._far(self._without(gone), len(self._hand) - len(gone)) <= nearest:
                    return one
        return None

    def _far(self, code: int, count: int) -> int:
        """Tiles to exchange until a hand waits for a win that these golds allow (R21); -1 for one that has won."""
        golds = self._golds(code)
        if golds and self._rules.min_way_by_gold[min(golds, 3) - 1] in ("youjin", "shuangyou"):
            far = to_youjin(code, count)
            return FAR if far is None else far
        far = shanten_of(self._book, code, count)
        if self._rules.seven_pairs and count in (13, 14):
            far = min(far, shanten(self._rules, self._gold, self._tiles_of(code)))
        if golds and self._bold and far >= 0:
            ready = to_youjin(code, count)
            return far if ready is None else min(ready, far + DETOUR)
        return far

    def _golds(self, code: int) -> int:
        return 0 if self._gold is None else code // self._book.weights[self._gold]

    def _help(self, code: int, count: int, far: int, gone: str) -> int:
        """Copies of the tiles that would bring the hand nearer; all that there are for a hand in 游金."""
        if self._ready(code):
            return COPIES * len(FACES)
        held = Counter(self._hand)
        kept = {self._natural(tile) for tile in held if tile != gone or held[tile] > 1}
        near = {face for tile in kept for face in _around(tile)}
        helping = 0
        for face, weight in self._book.weights.items():
            if held[face] >= COPIES or (face != self._gold and self._natural(face) not in near):
                continue
            if self._far(code + weight, count + 1) < far:
                helping += COPIES - held[face]
        return helping

    # --- tiles ------------------------------------------------------------------------------------------------------

    def _natural(self, tile: str) -> str:
        """R12: the face a tile is read as."""
        return natural_face(self._rules, self._gold, tile)

    def _without(self, gone: Sequence[str]) -> int:
        return self._code - sum(self._book.weights[tile] for tile in gone)

    def _tiles_of(self, code: int) -> list[str]:
        """The tiles of a code."""
        *codes, golds = split(code)
        tiles = [self._gold] * golds if self._gold is not None else []
        for field, own in zip(self._book.fields, codes, strict=True):
            tiles += [face for face, power in field for _ in range(own // power % 5)]
        return tiles

    def _first(self, *names: str) -> Action | None:
        return next((one for one in self._offered if one.name in names), None)


def _key(action: Action) -> tuple[str, ...]:
    return (action.name, action.way, action.tile, *action.tiles, action.kind, action.reason)


def _needed(action: Action, tile: str) -> tuple[str, ...]:
    """Own tiles without which an action cannot be."""
    if action.name == "kong_concealed":
        return (action.tile,) * COPIES
    return _given(action, tile) or ((action.tile,) if action.tile else ())


def _given(action: Action, tile: str) -> tuple[str, ...] | None:
    """Own tiles that a claim lays beside the claimed one; None for no claim."""
    match action.name:
        case "chi":
            return action.tiles
        case "pong":
            return (tile,) * 2
        case "kong_open":
            return (tile,) * 3
    return None


def _company(held: Mapping[str, int], tile: str) -> int:
    """How much a tile has to do with the others: pairs, neighbours, and not at the end of a suit."""
    near = sum(held[face] for face in _around(tile) if face != tile and face in held)
    central = 0 if tile[1] == "z" else min(int(tile[0]), 10 - int(tile[0]), 3)
    return 4 * (held[tile] - 1) + 2 * near + central


@cache
def _around(tile: str) -> tuple[str, ...]:
    """The faces that can stand in a set with a tile."""
    if tile[1] == "z":
        return (tile,)
    number = int(tile[0])
    return tuple(f"{other}{tile[1]}" for other in range(max(1, number - 2), min(9, number + 2) + 1))


def _tiles_left(rules: Ruleset, number: int) -> int:
    """About how many tiles may still be drawn: everybody draws one for each discard."""
    flowers = 8 if rules.has_flowers else 0
    return rules.tiles - 4 * rules.hand - 2 - flowers - rules.reserve - number


def _worth(rules: Ruleset, way: str) -> int:
    """What a way counts; 0 for one that these rules do not know."""
    return rules.value(way) if rules.knows(way) else 0
