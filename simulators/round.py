"""A hand as its people referee it where the table reads nothing: the rules of play over the true tiles.

What a seat does is refused with a code and a rule, or carried out with everything that hands do for it: tiles are drawn
where the wall's ends are, flowers laid out, melds laid, tiles put away, a winner's hand laid open. A window that all
have answered is over by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.chain import Refused
from engine.dealing import make_deal, places_left
from engine.opening import lines
from engine.play import Action, DealError, PlayState, apply, begin_events, decide, decide_clock, held, options, to_draw
from engine.play import events as e
from engine.play.state import MING, PlaySeat, fresh, place_of_next
from engine.ruleset import Ruleset
from engine.tiles import SEATS, is_flower
from simulators import laying
from simulators.felt import WorldError
from simulators.world import World

_ACTION_FIELDS = ("name", "tile", "way", "kind", "reason")


class ActionRefused(WorldError):
    """An action that the rules do not allow: a code that displays word, the rule, parameters."""

    def __init__(self, code: str, rule: str, params: Mapping[str, Any]) -> None:
        super().__init__(f"not allowed: {code} ({rule})")
        self.code = code
        self.rule = rule
        self.params = params


class Round:
    """One hand from the gold on to its end; `state` is where it stands."""

    def __init__(
        self,
        world: World,
        rules: Ruleset,
        layout: str,
        dealer: str,
        deal: tuple[int, int],
        door: tuple[int, int] | None,
        gold: str,
        flips: int | None = None,
        opening: tuple[str, str] | None = None,
    ) -> None:
        """The hand that lies on the table: `gold` the position turned up, empty in a game without; `flips` how many
        flowers were turned on the way (None: as many as were); `opening` as a deal has it. WorldError where what lies
        there can be no hand.
        """
        wall = lines(rules, layout, dealer, deal, door)
        standing = {position for side in SEATS for position in world.standing(side)}
        gone = {position for position in wall.head if position not in standing or position == gold}
        if gold and gold not in world.flipped:
            raise WorldError(f"{gold} is not flipped")
        self._world = world
        self._gold = gold
        self._places = places_left(wall, gone)
        self._told: dict[str | None, Mapping[str, Any]] = {}
        try:
            dealt = make_deal(
                rules,
                dealer,
                wall,
                gone,
                {position: world.face_at(position) for position in self._places},
                {seat: world.zone_faces(seat, "hand") for seat in SEATS},
                {seat: world.zone_faces(seat, "flowers") for seat in SEATS},
                world.face_at(gold) if gold else "",
                len(world.flips) if flips is None else flips,
                opening,
            )
            begun = begin_events(dealt)
        except DealError as error:
            raise WorldError(f"this can be no hand: {error}") from None
        self.state: PlayState = fresh(dealt)
        self._happen(begun)

    def play(self, seat: str, action: Action, number: int | None = None) -> None:
        """A seat's action with all that comes of it; ActionRefused when it is not allowed.

        `number`: the discards that it had seen; an action meant for a moment that is past is refused.
        """
        if number is not None and number != len(self.state.discards):
            raise ActionRefused("late", "R13", {"number": len(self.state.discards)})
        self._in_order()
        try:
            self._happen(decide(self.state, seat, action))
        except Refused as refused:
            raise ActionRefused(refused.code, refused.rule, refused.params) from None

    def close_window(self) -> None:
        """People wait no longer for those who have not answered: they have passed (R13)."""
        self._in_order()
        events = decide_clock(self.state)
        if not events:
            raise ActionRefused("no_window", "R13", {"phase": self.state.phase})
        self._happen(events)

    def told(self, seat: str | None) -> Mapping[str, Any]:
        """What a seat, or a bystander, knows of it, as `simulators.sight.RoundSight` has it."""
        if seat not in self._told:
            self._told[seat] = self._tell(seat)
        return self._told[seat]

    # --- telling --------------------------------------------------------------------------------------------------

    def _tell(self, seat: str | None) -> Mapping[str, Any]:
        state = self.state
        may = () if seat is None else options(state, seat)
        tour = state.tour
        return {
            "asked": seat in state.asked,
            "options": [_plain(action) for action in may],
            "number": len(state.discards),
            "phase": state.phase,
            "turn": state.turn,
            "drawn": state.drawn if seat == state.turn else "",
            "tile": state.tile,
            "source": state.source,
            "tour": None if tour is None else {"owner": tour.owner, "level": tour.level},
            "to_draw": to_draw(state),
            "covered": {other: one.covered for other, one in state.seats.items() if one.covered},
            "over": self._over(seat),
        }

    def _over(self, seat: str | None) -> Mapping[str, Any] | None:
        """What people know when the hand is over, and a seat of its own tiles as the points are worked out."""
        outcome = self.state.outcome
        if outcome is None:
            return None
        foul = outcome.foul
        told: dict[str, Any] = {
            "kind": outcome.kind,
            "winners": [
                {
                    "seat": win.seat,
                    "way": win.way,
                    "tile": win.tile or "",
                    "source": win.source or "",
                    "after_kong": win.after_kong,
                }
                for win in outcome.winners
            ],
            "foul": None if foul is None else {"seat": foul.seat, "kind": foul.kind, "ready": list(foul.ready)},
            "covered": list(outcome.covered),
            "last_drawer": outcome.last_drawer or "",
            "no_flowers": outcome.no_flowers,
            "followed": outcome.followed,
            "pays_all": outcome.pays_all or "",
        }
        if seat is not None:
            own = held(self.state)[seat]
            melds = [{"kind": meld.kind, "tiles": list(meld.tiles)} for meld in own.melds]
            told["held"] = {"concealed": list(own.concealed), "melds": melds, "flowers": list(own.flowers)}
        return told

    # --- carrying out ---------------------------------------------------------------------------------------------

    def _happen(self, events: Sequence[e.PlayEvent]) -> None:
        for event in events:
            carry_out = _HANDS.get(type(event))
            if carry_out is not None:
                carry_out(self, event)
            self.state = apply(self.state, event)
        self._told = {}
        self._world.changed()
        self._settled_at = self._world.version

    def _drawn(self, event: e.TileDrawn) -> None:
        position = self._places[place_of_next(self.state, event.end)]
        self._world.take(event.seat, [position])
        if is_flower(event.tile):
            self._world.lay_flowers(event.seat, [event.tile])

    def _discarded(self, event: e.TileDiscarded) -> None:
        laying.discard(self._world, event.seat, event.tile, event.how == MING)

    def _meld_laid(self, event: e.MeldLaid) -> None:
        if event.kind in laying.CLAIMS:
            own = list(event.tiles)
            own.remove(event.tile)
            laying.meld(self._world, event.seat, event.kind, event.source, event.tile, own)
        else:
            laying.kong(self._world, event.seat, event.kind.removeprefix("kong_"), event.tiles[0])

    def _lap_passed(self, event: e.LapPassed) -> None:
        if not is_flower(self.state.drawn):
            laying.put_away(self._world, event.seat, self.state.drawn)

    def _won(self, event: e.HandWon) -> None:
        takes_gold = event.way in ("qiangjin", "qiangshuangyou") and self.state.deal.rules.qiangjin != "in_play"
        if takes_gold and self._gold in self._world.flipped:
            laying.take_flipped(self._world, event.seat, self._gold)
        if event.drop:
            laying.discard(self._world, event.seat, event.drop)
        laying.show_hand(self._world, event.seat)

    def _fouled(self, event: e.HandFouled) -> None:
        laying.show_hand(self._world, event.seat)

    # --- what lies there ------------------------------------------------------------------------------------------

    def _in_order(self) -> None:
        """Nobody goes on while tiles lie where they should not; looked at only where hands have moved something."""
        if self._world.version == self._settled_at or self.state.outcome is not None:
            return
        for seat in SEATS:
            self._seat_in_order(seat, self.state.seats[seat])
        for place in self.state.left:
            position = self._places[place]
            if position not in self._world.standing(position[0]):
                raise WorldError(f"the tile of {position} has to be put back first")
        self._settled_at = self._world.version

    def _seat_in_order(self, seat: str, should: PlaySeat) -> None:
        hand = Counter(self._world.zone_faces(seat, "hand"))
        if hand.total() != len(should.hand):
            raise WorldError(f"{seat} holds {hand.total()} tiles in place of {len(should.hand)}")
        lain = Counter(one.tile for one in self.state.discards if one.seat == seat and not one.taken)
        melds = Counter(tile for meld in should.melds for tile in meld.tiles)
        right = (
            hand == Counter(should.hand)
            and Counter(self._world.zone_faces(seat, "discards")) == lain
            and Counter(self._world.zone_faces(seat, "melds")) == melds
            and Counter(self._world.zone_faces(seat, "flowers")) == Counter(should.flowers)
        )
        if not right:
            raise WorldError(f"the tiles of {seat} do not lie as the hand was played")


def _plain(action: Action) -> Mapping[str, Any]:
    told: dict[str, Any] = {name: value for name in _ACTION_FIELDS if (value := getattr(action, name))}
    if action.tiles:
        told["tiles"] = list(action.tiles)
    return told


_HANDS: Mapping[type[Any], Callable[[Round, Any], None]] = {
    e.TileDrawn: Round._drawn,
    e.TileDiscarded: Round._discarded,
    e.MeldLaid: Round._meld_laid,
    e.LapPassed: Round._lap_passed,
    e.HandWon: Round._won,
    e.HandFouled: Round._fouled,
}
