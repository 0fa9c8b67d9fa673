"""Hands at a table that reads its tiles: what prompts of play make them do, and what the readers then show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine import inputs as i
from engine.play import Action, PlayState
from engine.play.state import without
from engine.play_wants import plain_action
from engine.readings import coming_draw, discards_of, melds_of
from engine.state import State
from engine.wants import Want
from tests.engine.test_played_hands_settle import chosen

if TYPE_CHECKING:
    from tests.engine.walker import Walker

PLAYED = (
    *("opening", "draw", "turn", "claim", "lay", "lap", "flower", "replace"),
    *("wrong_discard", "count_wrong", "reader_check"),
)
ZONES = ("hand", "flowers", "melds", "discards")


class HandsAtPlay:
    """Moves tiles as the prompts of play ask, each move told by the readers; random among what is allowed.

    `greed`: how often a claim that is allowed is made; `noise`: how often a reader shows a wrong face on the way.
    """

    greed = 0.4
    noise = 0.0

    def __init__(self, walker: Walker) -> None:
        self.walker = walker

    def answer(self, want: Want) -> None:
        """One prompt answered, on the display or by hand."""
        getattr(self, f"_{want.verb}")(want)

    @property
    def state(self) -> State:
        return self.walker.state

    @property
    def game(self) -> PlayState:
        game = self.state.play.game
        assert game is not None
        return game

    def show(self, seat: str, name: str, tiles: tuple[str, ...]) -> None:
        """A reader shows a zone."""
        self.walker.feed(i.ZoneSeen(seat, name, tiles))

    def settle(self, seat: str, *names: str) -> None:
        """A seat's zones lie as the game says."""
        for name in names:
            if self.state.play.game is not None:
                self.show(seat, name, believed(self.game, seat, name))

    def press(self, want: Want, action: str, **params: Any) -> None:
        """A touch of the display."""
        self.walker.feed(i.SeatAction(want.seat, str(want.id), action, params))

    def _opening(self, want: Want) -> None:
        self._choose(want, want.params["options"], claim=True)

    def _claim(self, want: Want) -> None:
        self._choose(want, want.params["options"])

    def _choose(self, want: Want, options: list[dict[str, Any]], claim: bool = False) -> None:
        chance = self.walker.random
        more = [option for option in options if option["name"] != "pass"]
        if more and chance.random() < self.greed:
            self._act(want, chance.choice(more), claim)
        else:
            self.press(want, "pass")

    def _act(self, want: Want, option: dict[str, Any], claim: bool = False) -> None:
        params = {key: value for key, value in option.items() if key != "name"}
        self.press(want, "claim" if claim else option["name"], **params)

    def _draw(self, want: Want) -> None:
        draw = coming_draw(self.game)
        assert draw is not None and draw.seat == want.seat
        self.show(want.seat, "hand", (*self.game.seats[want.seat].hand, draw.tile))

    def _replace(self, want: Want) -> None:
        own = self.game.seats[want.seat]
        self.show(want.seat, "flowers", (*own.flowers, want.params["tile"]))
        self.show(want.seat, "hand", own.hand)

    def _turn(self, want: Want) -> None:
        chance, seat, game = self.walker.random, want.seat, self.game
        options = want.params["options"]
        if any(option["name"] == "hu" for option in options):
            self._act(want, next(option for option in options if option["name"] == "hu"))
        elif options and chance.random() < self.greed:
            self._act(want, chance.choice(options))
        else:
            allowed = want.params["discards"] or [option["tile"] for option in options if "tile" in option]
            if not want.params["discards"]:
                self._act(want, chance.choice(options))
                return
            tile = chance.choice(allowed)
            rest = list(game.seats[seat].hand)
            rest.remove(tile)
            self.show(seat, "hand", tuple(rest))
            self.show(seat, "discards", (*discards_of(game, seat), tile))

    def _lap(self, want: Want) -> None:
        self._choose(want, want.params["options"])

    def _flower(self, want: Want) -> None:
        self._choose(want, want.params["options"])

    def _lay(self, want: Want) -> None:
        if want.params["source"]:
            self.settle(want.params["source"], "discards")
        self.settle(want.seat, "melds", "hand")

    def _wrong_discard(self, want: Want) -> None:
        self.settle(want.seat, "discards", "hand")

    def _count_wrong(self, want: Want) -> None:
        self.settle(want.seat, *ZONES)

    def _reader_check(self, want: Want) -> None:
        self.press(want, "believed")


class SkilledHands(HandsAtPlay):
    """Hands of people with a little skill: most of what they play is won by somebody."""

    def _turn(self, want: Want) -> None:
        action = chosen(self.walker.random, self.game, want.seat)
        if action.name not in ("discard", "discard_down", "tour_discard"):
            self.press(want, action.name, **params_of(action))
            return
        if action.name == "discard_down":
            self.press(want, action.name, tile=action.tile)
            self.settle(want.seat, "discards", "hand")
            return
        hand, lying = self.game.seats[want.seat].hand, discards_of(self.game, want.seat)
        self.show(want.seat, "discards", (*lying, action.tile))
        self.show(want.seat, "hand", without(hand, action.tile))

    def _opening(self, want: Want) -> None:
        action = chosen(self.walker.random, self.game, want.seat)
        self.press(want, "claim" if action.name == "hu" else action.name, **params_of(action))

    def _claim(self, want: Want) -> None:
        action = chosen(self.walker.random, self.game, want.seat)
        self.press(want, action.name, **params_of(action))

    _lap = _flower = _claim


def params_of(action: Action) -> dict[str, Any]:
    """What an action is pressed with."""
    return {key: value for key, value in plain_action(action).items() if key != "name"}


def believed(game: PlayState, seat: str, name: str) -> tuple[str, ...]:
    """What lies in a zone of a seat in truth."""
    own = game.seats[seat]
    melds, discards = melds_of(game, seat), discards_of(game, seat)
    return {"hand": own.hand, "flowers": own.flowers, "melds": melds, "discards": discards}[name]
