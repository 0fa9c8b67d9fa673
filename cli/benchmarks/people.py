"""Four people and a faultless machine that do at once what is wanted, with the engine alone: no wires, clock or disk.

At a table that reads its tiles they move them, and the readers' sights are told; what they play a `Player` chooses.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final, TypeAlias

from engine import inputs as i
from engine.play import Action, PlayState, options
from engine.play.state import without
from engine.readings import ZONES, coming_draw, discards_of, melds_of
from engine.ruleset import load_ruleset
from engine.state import State, new_state
from engine.table import apply, decide, wants
from engine.tiles import SEATS, is_flower
from engine.wants import Want
from simulators import brain

Player: TypeAlias = Callable[[PlayState, str, tuple[Action, ...], random.Random], Action]

_MOST_INPUTS: Final = 6_000
"""More than any hand takes: about 400 are usual where tiles are read."""
_TAKEN: Final = frozenset({"take", "flowers", "flip"})
"""What the readers see when people do it in the opening; it may be said by hand as well, for when they do not."""
_CHOSEN: Final = frozenset({"opening", "turn", "claim", "lap", "flower"})
_BY_HAND: Final = ("discard", "tour_discard")
_OPEN: Final = frozenset({"undo", "swap", "end", "bid", "taken"})
"""What may be done, and is left alone."""


def by_chance(state: PlayState, seat: str, found: tuple[Action, ...], chance: random.Random) -> Action:
    """Anything that is legal."""
    return chance.choice(found)


def by_brain(state: PlayState, seat: str, found: tuple[Action, ...], chance: random.Random) -> Action:
    """As the simulated players choose."""
    deal, hand = state.deal, state.seats[seat].hand
    return brain.choose(brain.Knowledge(deal.rules, deal.gold, hand, len(state.discards), found, state.tile), chance)


class People:
    """The same seed and player give the same hands. `inputs` and `chosen` count what was fed and decided."""

    def __init__(self, rules: str, hands: int, seed: int, player: Player = by_chance) -> None:
        self.state = new_state()
        self.inputs = 0
        self.chosen = 0
        self._player = player
        self._random = random.Random(seed)
        self._book = load_ruleset(rules)
        self._walls: dict[int, list[str]] = {}
        self._feed(i.StartMatch(rules=rules, sensing="full", dice="read", sets=("sorted", "felt"), hands=hands))

    def play(self, until: Callable[[State], bool]) -> None:
        """Meet one want after the other until a state is reached."""
        while not until(self.state):
            if self.inputs > _MOST_INPUTS * (self.state.hand + 1):
                raise RuntimeError(f"the hands do not come to an end: phase {self.state.phase}")
            self._meet(next(want for want in wants(self.state) if not _left_alone(want)))

    def _feed(self, happened: i.Input) -> None:
        self.inputs += 1
        for event in decide(self.state, happened):
            self.state = apply(self.state, event)

    def _press(self, want: Want, action: str, **params: Any) -> None:
        self._feed(i.SeatAction(want.seat, str(want.id), action, params))

    def _see(self, seat: str, zone: str, tiles: tuple[str, ...]) -> None:
        self._feed(i.ZoneSeen(seat, zone, tiles))

    def _meet(self, want: Want) -> None:
        if want.kind == "operation":
            self._feed(i.OperationDone(str(want.id), self._result(want)))
        elif want.kind == "timer":
            self._feed(i.TimerElapsed(str(want.id)))
        elif want.verb in _CHOSEN:
            self._choose(want)
        elif self.state.play.game is not None and self.state.phase in ("opening", "play"):
            self._move(want)
        elif not want.actions or want.verb in _TAKEN:
            self._take(want)
        else:
            self._press(want, want.actions[0])

    # --- the machine --------------------------------------------------------------------------------------------------

    def _result(self, want: Want) -> dict[str, Any]:
        side = self._book.stacks * 2
        match want.verb:
            case "sort":
                return {"tiles": dict.fromkeys(SEATS, side)}
            case "read_wall":
                first = SEATS.index(want.params["side"]) * side
                return {"tiles": self._wall()[first : first + side], "confidence": 99}
            case "dice_roll":
                dice = [self._random.randint(1, 6), self._random.randint(1, 6)]
                return {"dice": dice, "quality": "clean", "spin_ms": 3_000}
        return {}

    def _wall(self) -> list[str]:
        """The faces of this hand's wall, side by side from E."""
        hand = self.state.hand
        if hand not in self._walls:
            tiles = [face for face, copies in self._book.faces().items() for _ in range(copies)]
            self._random.shuffle(tiles)
            self._walls = {hand: tiles}
        return self._walls[hand]

    # --- the opening --------------------------------------------------------------------------------------------------

    def _take(self, want: Want) -> None:
        """Somebody takes tiles, lays flowers out or turns the gold; the readers see it."""
        seat, play = want.seat, self.state.play
        if want.verb == "flip":
            position = want.params["position"]
            self._feed(i.TileFlipped(position, play.wall[position]))
            return
        held = play.seen.get((seat, "hand"), ())
        drawn = tuple(play.wall[position] for position in want.params["positions"])
        if want.verb == "flowers":
            laid = play.seen.get((seat, "flowers"), ())
            self._see(seat, "flowers", laid + tuple(filter(is_flower, held)))
            held = tuple(face for face in held if not is_flower(face))
        self._see(seat, "hand", held + drawn)

    # --- play ---------------------------------------------------------------------------------------------------------

    def _game(self) -> PlayState:
        game = self.state.play.game
        assert game is not None, "no hand is in play"
        return game

    def _choose(self, want: Want) -> None:
        """Somebody decides, and presses it or lays the tile down."""
        game, seat = self._game(), want.seat
        action = self._player(game, seat, options(game, seat), self._random)
        self.chosen += 1
        if action.name in _BY_HAND:
            self._see(seat, "discards", (*discards_of(game, seat), action.tile))
            self._see(seat, "hand", without(game.seats[seat].hand, action.tile))
            return
        name = "claim" if want.verb == "opening" and action.name == "hu" else action.name
        self._press(want, name, **_params(action))
        if action.name == "discard_down":
            self._lie(seat, "discards", "hand")

    def _move(self, want: Want) -> None:
        """Tiles are moved as the table asks: a draw, a flower, a meld; or lie as they should."""
        game, seat = self._game(), want.seat
        draw = coming_draw(game)
        if want.verb == "draw" and draw is not None:
            self._see(seat, "hand", (*game.seats[seat].hand, draw.tile))
        elif want.verb == "replace":
            self._see(seat, "flowers", (*game.seats[seat].flowers, want.params["tile"]))
            self._see(seat, "hand", game.seats[seat].hand)
        elif want.verb == "lay":
            if want.params["source"]:
                self._lie(want.params["source"], "discards")
            self._lie(seat, "melds", "hand")
        else:
            self._lie(seat, *ZONES)

    def _lie(self, seat: str, *zones: str) -> None:
        """A seat's tiles lie as they should."""
        for zone in zones:
            game = self.state.play.game
            if game is not None:
                self._see(seat, zone, _in_zone(game, seat, zone))


def _left_alone(want: Want) -> bool:
    """What may be done and need not be: it is open to a seat, or the seat has agreed and waits for the others."""
    return want.verb in _OPEN or (want.verb == "agree" and want.params.get("agreed", {}).get(want.seat, False))


def _in_zone(game: PlayState, seat: str, zone: str) -> tuple[str, ...]:
    match zone:
        case "discards":
            return discards_of(game, seat)
        case "melds":
            return melds_of(game, seat)
        case "flowers":
            return game.seats[seat].flowers
    return game.seats[seat].hand


def _params(action: Action) -> dict[str, Any]:
    """What an action is pressed with: all that is not empty."""
    return {item.name: getattr(action, item.name) for item in fields(action)[1:] if getattr(action, item.name)}
