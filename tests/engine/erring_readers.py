"""Hands whose readers err: what truly lies there is kept apart from what is shown, and people answer by their eyes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from engine import inputs as i
from engine.play import PlayState
from engine.play.state import without
from engine.readings import coming_draw, doubts
from engine.table import Refused, wants
from engine.tiles import ALL_FACES, SEATS
from engine.wants import Want
from tests.engine.hands_at_table import ZONES, SkilledHands, believed, params_of
from tests.engine.test_played_hands_settle import chosen

if TYPE_CHECKING:
    from tests.engine.walker import Walker


class ErringReaders(SkilledHands):
    """Skilled people at readers of which each reading errs with the chance `rate`, until the zone changes again."""

    def __init__(self, walker: Walker, rate: float) -> None:
        super().__init__(walker)
        self.rate = rate
        self.true: dict[tuple[str, str], tuple[str, ...]] = {}
        self.laid = dict.fromkeys(SEATS, 0)
        self.hand = 0
        self.erred = 0

    def untrue(self, game: PlayState) -> list[str]:
        """The seats whose hands a game believes to be others than they are, but for a tile about to be put away."""
        found = []
        for seat, own in game.seats.items():
            true, held = Counter(self.true[(seat, "hand")]), Counter(own.hand)
            late = Counter([*own.aside[-1:], *([game.drawn] if game.turn == seat else [])])
            if held - true or true - held - late:
                found.append(seat)
        return found

    def answer(self, want: Want) -> None:
        """One prompt answered, as what truly lies there tells."""
        if self.hand != self.state.hand:
            self.hand = self.state.hand
            self.laid = dict.fromkeys(SEATS, 0)
            self.true = {(seat, zone): believed(self.game, seat, zone) for seat in SEATS for zone in ZONES}
        super().answer(want)

    def show(self, seat: str, name: str, tiles: tuple[str, ...]) -> None:
        """Something changes, and the reader tells it rightly or not."""
        self.true[(seat, name)] = tiles
        if self.state.play.game is not None:
            self.walker.feed(i.ZoneSeen(seat, name, *self._read(tiles)))

    def _read(self, tiles: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
        """What the reader tells, and how sure it is of it: not at all, or in error, where it shows a wrong face."""
        chance = self.walker.random
        if not tiles or chance.random() >= self.rate:
            return tiles, 100
        self.erred += 1
        at = chance.randrange(len(tiles))
        wrong = chance.choice([(), (tiles[at], tiles[at]), (chance.choice(ALL_FACES[:27]),), ("??",)])
        sure = len(wrong) != 1 or chance.random() < 0.5
        return (*tiles[:at], *wrong, *tiles[at + 1 :]), 100 if sure else 40

    def press(self, want: Want, action: str, **params: Any) -> None:
        """A touch; who is asked about his count answers that before he wins."""
        try:
            super().press(want, action, **params)
        except Refused as refused:
            assert (refused.code, action) == ("count", "hu")

    def _draw(self, want: Want) -> None:
        draw = coming_draw(self.game)
        assert draw is not None
        own = self.game.seats[want.seat]
        laid = len(self.true[(want.seat, "flowers")]) > len(own.flowers)
        if laid or len(self.true[(want.seat, "hand")]) > len(own.hand):
            self.press(want, "by_hand")
        else:
            self.show(want.seat, "hand", (*self.game.seats[want.seat].hand, draw.tile))

    def _replace(self, want: Want) -> None:
        own = self.game.seats[want.seat]
        if len(self.true[(want.seat, "flowers")]) > len(own.flowers):
            self.press(want, "by_hand")
            return
        self.show(want.seat, "flowers", (*own.flowers, want.params["tile"]))
        self.show(want.seat, "hand", own.hand)

    def _turn(self, want: Want) -> None:
        seat, hand = want.seat, self.game.seats[want.seat].hand
        if self.laid[seat] > sum(one.seat == seat for one in self.game.discards):
            # It lies there: the table will ask, unless both readers show nothing of it.
            if not any(doubt.seat == seat for doubt in doubts(self.state)):
                self._name_the_discard(seat)
            return
        if len(self.true[(seat, "hand")]) < len(hand) and self.game.drawn:
            self.show(seat, "hand", hand)  # a reader that erred took it for drawn: it is drawn now
            return
        if Counter(self.true[(seat, "hand")]) != Counter(hand):
            return  # a meld or a tile put away first
        action = chosen(self.walker.random, self.game, seat)
        if action.name in ("discard", "tour_discard"):
            self.laid[seat] += 1
            self.show(seat, "discards", (*self.true[(seat, "discards")], action.tile))
            self.show(seat, "hand", without(self.true[(seat, "hand")], action.tile))
        else:
            self.press(want, action.name, **params_of(action))
            if action.name == "discard_down":
                self.laid[seat] += 1
                self.settle(seat, "discards", "hand")

    def _lay(self, want: Want) -> None:
        laid = Counter(self.true[(want.seat, "melds")]) == Counter(believed(self.game, want.seat, "melds"))
        if laid and want.params["kind"] != "aside":
            self.press(want, "by_hand")
        else:
            super()._lay(want)

    def _wrong_discard(self, want: Want) -> None:
        raise AssertionError("nobody discards what is not allowed")

    def _count_wrong(self, want: Want) -> None:
        seat, zone = want.seat, want.params["zone"]
        true = len(self.true[(seat, zone)])
        if zone == "discards" and true == want.params["expected"] + 1 and self.game.turn == seat:
            self.laid[seat] -= 1
            tile = self.true[(seat, zone)][-1]
            self.show(seat, "hand", (*self.true[(seat, "hand")], tile))
            self.show(seat, zone, self.true[(seat, zone)][:-1])
            return
        assert true == want.params["expected"] or self._underway(want.seat), (want, self.true)
        if true == want.params["expected"]:
            self.press(want, "ok")

    def _underway(self, seat: str) -> bool:
        """What the seat has done is not yet known, and is asked about elsewhere."""
        return any(self.true[(seat, zone)] != believed(self.game, seat, zone) for zone in ZONES)

    def _reader_check(self, want: Want) -> None:
        seat, zone, true = want.seat, want.params["zone"], Counter(self.true[(want.seat, want.params["zone"])])
        doubt = next(one for one in doubts(self.state) if (one.seat, one.zone) == (seat, zone))
        own = self.game.seats[seat]
        if want.params["drawn"] and true.total() == len(own.hand):
            return  # it has not drawn yet
        if true == Counter(doubt.seen) and "seen" in want.actions:
            self.press(want, "seen")
        elif true != Counter(doubt.believed) and "turn" in {one.verb for one in wants(self.state) if one.seat == seat}:
            self._name_the_discard(seat)
        else:
            self.press(want, "believed")

    def _name_the_discard(self, seat: str) -> None:
        """Both readers are wrong: the display takes the discard that lies there; who has made none goes on."""
        if self.laid[seat] <= sum(one.seat == seat for one in self.game.discards):
            return
        (turn,) = [want for want in wants(self.state) if want.verb == "turn" and want.seat == seat]
        self.press(turn, "discard", tile=self.true[(seat, "discards")][-1])
