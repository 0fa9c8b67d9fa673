"""Tables for exact cases: walls laid so that given hands are dealt, and hands that move tiles as readers see them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine import events as e
from engine import inputs as i
from engine.opening import gold_path, lines, taking, wall_positions
from engine.play import PlayState
from engine.play.state import place_of_next, without
from engine.readings import coming_draw, discards_of, melds_of
from engine.ruleset import Ruleset, load_ruleset
from engine.table import Refused, wants
from engine.tiles import SEATS, is_flower, parse_tiles
from engine.wants import Want
from tests.engine.invariants import Invariants
from tests.engine.tellers import TOLD
from tests.engine.walker import Walker, refused

DEALER, DEAL, GOLD = (4, 1), (4, 1), (1, 1)
"""Throws in 直推: East deals, at his own wall with one stack left standing; the second tile of the tail is flipped."""

RULES = "new-xiamen-120"

HANDS: Mapping[str, str] = {
    "E": "159m159p159s2468m2468p",
    "S": "234m234p234s678m678p8s",
    "W": "111m333m555m777m99m22s",
    "N": "111p333p555p777p99p33s",
}
"""Hands of `RULES` without flowers: E holds a little of everything, S runs, W waits for 9m and 2s, N for 9p and 3s."""


def laid_wall(
    rules: Ruleset,
    hands: Mapping[str, str],
    gold: str,
    draws: str = "",
    tail: str = "",
    dealer: str = "E",
) -> str:
    """A 直推 wall from which, with the throws of this module, these hands are dealt, `gold` is flipped, and then
    `draws` come at the head and `tail` at the tail; flowers stand as deep in it as they can.
    """
    wall, takes = lines(rules, "zhitui", dealer, DEAL), taking(rules, "zhitui", dealer, DEAL).takes
    places: dict[str, str] = {}
    for seat in SEATS:
        tiles = parse_tiles(hands[seat])
        taken = [place for who, positions in takes if who == seat for place in positions]
        taken += [wall.extra] if seat == dealer else []
        assert len(tiles) == len(taken), (seat, len(tiles), len(taken))
        places |= dict(zip(taken, tiles, strict=True))
    flipped = gold_path(wall, set(places), sum(GOLD))[-1]
    places[flipped] = gold
    for line, faces in ((wall.head, draws), (wall.tail, tail)):
        free = [place for place in line if place not in places]
        tiles = parse_tiles(faces)
        places |= dict(zip(free[: len(tiles)], tiles, strict=True))
    left = rules.faces() - Counter(places.values())
    assert not Counter(places.values()) - rules.faces(), "a tile is given too often"
    free = [place for place in wall.head if place not in places]
    deepest = sorted(range(len(free)), key=lambda at: min(at, len(free) - 1 - at))
    for at, face in zip(deepest, sorted(left.elements(), key=is_flower), strict=True):
        places[free[at]] = face
    return "".join(places[place] for place in wall_positions(rules, "zhitui"))


class Table(Walker):
    """A table at which a test presses and moves tiles itself; every input is watched for what must always hold."""

    def __init__(self, rules: str = RULES, wall: str = "", **changes: Any) -> None:
        changes.setdefault("dice", [DEALER, DEAL, GOLD])
        changes.setdefault("watch", Invariants())
        changes.setdefault("hands", 1)
        super().__init__(rules, "zhitui", wall=wall, **changes)

    @property
    def game(self) -> PlayState:
        """The game in play."""
        game = self.state.play.game
        assert game is not None
        return game

    def prompts(self, verb: str) -> dict[str, Want]:
        """The prompts of a verb by seat."""
        return {want.seat: want for want in wants(self.state) if want.verb == verb and want.kind == "prompt"}

    def prompt(self, verb: str, seat: str = "") -> Want:
        """The one prompt of a verb, or that of a seat."""
        found = [want for want in self.prompts(verb).values() if not seat or want.seat == seat]
        assert len(found) == 1, (verb, seat, self.state.phase, [want.verb for want in wants(self.state)])
        return found[0]

    def timer(self, verb: str) -> Want:
        """The one timer of a verb."""
        (found,) = [want for want in wants(self.state) if want.verb == verb and want.kind == "timer"]
        return found

    def operation(self, verb: str) -> Want:
        """The one operation of a verb."""
        (found,) = [want for want in wants(self.state) if want.verb == verb and want.kind == "operation"]
        return found

    def asked(self, seat: str = "") -> set[str]:
        """The verbs of everything that a seat, or anybody, is asked."""
        return {want.verb for want in wants(self.state) if want.kind == "prompt" and seat in ("", want.seat)}

    def elapse(self, verb: str) -> tuple[e.Event, ...]:
        """The time of a timer is over."""
        return self.feed(i.TimerElapsed(str(self.timer(verb).id)))

    def press(self, seat: str, verb: str, action: str, /, **params: Any) -> tuple[e.Event, ...]:
        """A touch of a display."""
        return self.feed(i.SeatAction(seat, str(self.prompt(verb, seat).id), action, params))

    def refusal(self, seat: str, verb: str, action: str, /, **params: Any) -> Refused:
        """The refusal of a touch, which changes nothing."""
        return refused(self, i.SeatAction(seat, str(self.prompt(verb, seat).id), action, params))

    def show(self, seat: str, zone: str, tiles: str | Sequence[str]) -> tuple[e.Event, ...]:
        """A reader shows a zone."""
        faces = tuple(parse_tiles(tiles)) if isinstance(tiles, str) else tuple(tiles)
        return self.feed(i.ZoneSeen(seat, zone, faces))

    def lies(self, seat: str, zone: str) -> tuple[str, ...]:
        """What lies in a zone by the game, as far as it has come."""
        own = self.game.seats[seat]
        told = {"hand": own.hand, "flowers": own.flowers}
        return told[zone] if zone in told else (melds_of if zone == "melds" else discards_of)(self.game, seat)

    def draw(self, seat: str) -> str:
        """A seat draws the tile that is due, flowers laid out and replaced."""
        while True:
            coming = coming_draw(self.game)
            assert coming is not None and coming.seat == seat, (seat, coming)
            assert (
                self.prompt("draw", seat).params["position"]
                == self.state.play.places[place_of_next(self.game, coming.end)]
            )
            own = self.game.seats[seat]
            self.show(seat, "hand", (*own.hand, coming.tile))
            if not is_flower(coming.tile):
                return coming.tile
            if self.state.play.game is None:
                return coming.tile
            assert self.prompt("replace", seat).params["tile"] == coming.tile
            self.show(seat, "flowers", (*own.flowers, coming.tile))
            self.show(seat, "hand", own.hand)
            if self.state.play.game is None or self.game.phase != "draw":
                return coming.tile

    def discard(self, seat: str, tile: str) -> tuple[e.Event, ...]:
        """A seat lays a tile among its discards, as its readers tell it: the discards first."""
        hand, lying = without(self.lies(seat, "hand"), tile), (*self.lies(seat, "discards"), tile)
        return (*self.show(seat, "discards", lying), *self.show(seat, "hand", hand))

    def passes(self, *seats: str, verb: str = "claim") -> None:
        """Seats let a window pass; all who are asked unless named."""
        for seat in seats or tuple(self.prompts(verb)):
            self.press(seat, verb, "pass")

    def lay(self, seat: str) -> None:
        """A seat carries out what is its own by right: the claimed tile comes over, then its own go beside it."""
        want = self.prompt("lay", seat)
        if want.params["source"]:
            self.settle(want.params["source"], "discards")
        self.settle(seat, "melds", "hand")

    def settle(self, seat: str, *zones: str) -> None:
        """Zones of a seat lie as the game says."""
        for zone in zones:
            self.show(seat, zone, self.lies(seat, zone))

    def round(self, tile_of: Callable[[Table, str], str] | None = None) -> None:
        """The next seat draws and discards what it drew, or what is chosen; nobody claims."""
        seat = self.game.turn
        if self.game.phase == "draw":
            self.draw(seat)
        tile = tile_of(self, seat) if tile_of is not None else self.game.drawn
        self.discard(seat, tile)
        self.passes()


class Told(Table):
    """A table that reads no tiles: its people tell a hand as the test says; nobody has a flower unless told. The set
    with the number `hold_sort` is being sorted for as long as the test wants. Nobody bids but as `bids` says.
    """

    def __init__(self, rules: str = RULES, hold_sort: int = 0, **changes: Any) -> None:
        changes.setdefault("dice", [DEALER])
        changes.setdefault("sensing", "none")
        super().__init__(rules, **changes)
        self.hold_sort = hold_sort
        self.bids: dict[str, int] = {}

    def _params(self, want: Want, action: str) -> dict[str, Any] | None:
        if action in ("flower", "unflower", "tail_shift"):
            return None
        if action == "bid":
            points = self.bids.get(want.seat, 0)
            return {"points": points} if points != want.params["points"] else None
        if action == "face":
            return {"tile": f"{9 - self.state.hand % 3}s"}
        return super()._params(want, action)

    def _machine(self, want: Want) -> None:
        if want.verb != "sort" or want.params["set"] != self.hold_sort:
            super()._machine(want)

    def go(self, *phases: str) -> None:
        """On until one of some phases is reached, nobody doing anything but what is asked."""
        for _ in range(20_000):
            if self.state.phase in phases:
                return
            self.step()
        raise AssertionError(f"{phases} are not reached: {self.state.phase}")

    def tell(self, seat: str, action: str, /, **params: Any) -> tuple[e.Event, ...]:
        """Something told in the book, whatever it asks the seat now."""
        (want,) = [want for want in wants(self.state) if want.seat == seat and want.verb in TOLD and want.actions]
        return self.feed(i.SeatAction(seat, str(want.id), action, params))

    def won(self, seat: str, way: str = "pinghu", source: str = "", golds: int = 0) -> None:
        """A hand from its play to its booking: a seat has won, and all agree."""
        if self.state.book is None:
            self.go("play")
        self.tell(seat, "win", way=way, seat=seat, **({"source": source} if source else {}))
        if golds:
            self.tell(seat, "items", golds=golds)
        self.agreed()

    def drawn(self, last_drawer: str = "") -> None:
        """A hand from its play to its booking: nobody has won."""
        if self.state.book is None:
            self.go("play")
        self.tell("E", "drawn", **({"last_drawer": last_drawer} if last_drawer else {}))
        self.agreed()

    def fouled(self, seat: str, kind: str = "zhahu") -> None:
        """A hand from its play to its booking: a false win was laid open."""
        if self.state.book is None:
            self.go("play")
        self.tell(seat, "foul", kind=kind, seat=seat)
        self.agreed()

    def agreed(self) -> None:
        """All who must say so have said all, and everybody agrees."""
        for seat in SEATS:
            if self.state.book is not None and self.state.book.stage == "entry" and seat in self.state.book.needed:
                self.tell(seat, "done")
        for seat in SEATS:
            self.tell(seat, "agree")

    def points(self) -> dict[str, int]:
        """What each player has won or lost in this match."""
        session = self.state.session
        return {player: held - session.rules.chips for player, held in session.chips.items()}


def in_play(
    hands: Mapping[str, str] = HANDS,
    gold: str = "9s",
    draws: str = "",
    tail: str = "",
    rules: str = RULES,
    options: Mapping[str, Any] | None = None,
    passed: bool = True,
    hands_in_match: int = 1,
    **changes: Any,
) -> Table:
    """A table at which these hands have been dealt to East, who deals, and the others; the openings passed by all."""
    book = load_ruleset(rules, dict(options or {}))
    wall = laid_wall(book, hands, gold, draws, tail)
    table = Table(rules, wall, options=dict(options or {}), hands=hands_in_match, **changes)
    table.run(lambda state: state.play.game is not None)
    if passed and table.state.phase == "opening":
        table.passes(verb="opening")
    return table


def played(table: Table, kind: type[Any]) -> list[Any]:
    """The events of play of a kind so far."""
    return [event.event for event in table.events if isinstance(event, e.Played) and isinstance(event.event, kind)]


def claims_of(table: Table, tile: str) -> None:
    """East discards a tile, and all three are asked alike."""
    table.discard("E", tile)
    asked = table.prompts("claim")
    assert set(asked) == {"S", "W", "N"}
    assert len({want.actions for want in asked.values()}) == 1
    assert len({str(want.id) for want in asked.values()}) == 1
