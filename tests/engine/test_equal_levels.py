"""A hand read by the table and the same hand told by its people are booked alike, under every profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from engine import events as e
from engine import inputs as i
from engine.book import Book
from engine.folding import apply
from engine.match.state import Booking
from engine.outcome import HandEnd
from engine.play import hand_end
from engine.ruleset import load_ruleset, profiles
from engine.scoring import buy_and_top
from engine.settlement import foul_kinds
from engine.state import State
from engine.table import wants
from engine.tiles import SEATS
from tests.engine.book import telling
from tests.engine.hands_at_table import SkilledHands
from tests.engine.tables import Told
from tests.engine.walker import Walker

Refereed = tuple[HandEnd, str, Booking]
"""How a hand ended, the tile that was flipped for its gold, and what was booked."""

THROW_OF: dict[str, tuple[int, int]] = {"E": (4, 1), "S": (1, 1), "W": (1, 2), "N": (2, 2)}
"""East's throw for each first dealer."""


class Readers(Walker):
    """A table that reads its tiles; keeps what each of its hands came to."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.hands_at = SkilledHands(self)
        self.hands_played: list[Refereed] = []
        self.watch = self._see

    def _see(self, before: State, events: tuple[e.Event, ...], after: State) -> None:
        state = before
        for event in events:
            if isinstance(event, e.HandEnded) and state.play.game is not None:
                booking = state.session.last_booking()
                assert booking is not None
                game = state.play.game
                bids = buy_and_top(booking.dealer, state.play.bids)
                self.hands_played.append((hand_end(game, booking.steps, *bids), game.deal.flipped, booking))
            state = apply(state, event)


def nobody(_: Walker) -> None:
    """Nobody does anything wrong."""


def admits(table: Walker) -> None:
    """Whoever may act next holds a tile too many for once, and says so (R39)."""
    game = table.state.play.game
    if game is None or game.phase != "window" or any(own.covered for own in game.seats.values()):
        return
    seat = next(seat for seat in SEATS if seat != game.source)
    table.feed(i.ZoneSeen(seat, "hand", (*game.seats[seat].hand, "1m")))
    for want in wants(table.state):
        if want.verb == "count_seen" and want.params == {"seat": seat, "zone": "hand"}:
            table.feed(i.TimerElapsed(str(want.id)))
    for want in wants(table.state):
        if want.verb == "count_wrong" and want.params["zone"] == "hand" and want.seat == seat:
            table.feed(i.SeatAction(seat, str(want.id), "admit"))


def exposes(table: Walker) -> None:
    """After some discards a hand is laid open that is none (R38)."""
    game = table.state.play.game
    kinds = foul_kinds(table.book)
    if game is None or not kinds or game.phase != "window" or len(game.discards) < 12:
        return
    for want in wants(table.state):
        if want.verb == "claim" and all(option["name"] == "pass" for option in want.params["options"]):
            table.feed(i.SeatAction(want.seat, str(want.id), "expose_false", {"kind": kinds[0]}))
            return


def refereed(rules: str, seed: int, mischief: Callable[[Walker], None], hands: int) -> list[Refereed]:
    """Hands played at a table that reads its tiles, up to the first that was not (R26 before the gold)."""
    table = Readers(rules, hands=0, seed=seed)
    table.start()
    for _ in range(20_000):
        if len(table.state.session.book) >= hands or table.state.phase == "ended":
            played = table.hands_played
            return played[: hands if len(played) == len(table.state.session.book) else 0]
        mischief(table)
        table.step()
    raise AssertionError("the hands do not end")


class People(Told):
    """A table that reads nothing; its people tell what happened elsewhere."""

    def __init__(self, rules: str, played: list[Refereed]) -> None:
        dealer = played[0][2].dealer
        super().__init__(rules, hands=0, dice=[THROW_OF[dealer]])
        self.played = played

    def _params(self, want: Any, action: str) -> dict[str, Any] | None:
        if action == "face":
            return {"tile": self.played[len(self.state.session.book)][1]}
        return super()._params(want, action)

    def say(self, book: Book, seat: str, action: str, /, **params: Any) -> Book:
        """As `telling.say`, through the table's prompts."""
        self.tell(seat, action, **params)
        return self.state.book or book


def told(table: People, end: HandEnd, tiles: Iterable[str]) -> Booking:
    """The hand told from its bids to its booking, agreed on by silence; nothing that was bid is told again."""
    table.bids = {**end.top, end.dealer: end.buy}
    table.go("play")
    book = table.state.book
    assert book is not None
    telling.all_done(telling.entered(telling.ended(book, end), end, tiles))
    assert table.state.phase == "settle" and table.state.book is not None
    assert table.state.book.stage == "agreement", table.state.book.reckoned.missing
    table.elapse("agree_clock")
    return table.state.session.book[-1]


def plain(booking: Booking) -> tuple[Any, ...]:
    wins = [(win["seat"], win["way"]) for win in booking.wins]
    return (
        (booking.match, booking.hand, booking.dealer, booking.steps, booking.kind, wins, booking.source, booking.foul),
        (dict(booking.points), dict(booking.bonus), booking.next_dealer, booking.next_steps),
    )


WAYS: dict[str, tuple[str, ...]] = {"items": (), "tiles": SEATS, "both": ("E", "W")}
"""Who tells whole hands; the others touch what they count."""


@pytest.mark.parametrize("mischief", [nobody, admits, exposes], ids=["faultless", "covered", "fouled"])
@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("rules", profiles())
def test_the_same_hands_come_to_the_same_points(
    rules: str, how: str, mischief: Callable[[Walker], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds: Counter[str] = Counter()
    for seed in (4, 5, 6):
        played = refereed(rules, seed, mischief, hands=2)
        if not played:
            continue
        table = People(rules, played)
        monkeypatch.setattr(telling, "say", table.say)
        table.run(lambda state: state.phase == "dealer_roll")
        table.press("E", "roll", "roll")
        for end, _, booking in played:
            found = told(table, end, WAYS[how])
            assert plain(found) == plain(booking), end
            golds = [(said["golds"], seen["golds"]) for said, seen in zip(found.wins, booking.wins, strict=True)]
            assert all(said in (None, seen) for said, seen in golds), "told only where they count"
            kinds[booking.kind] += 1
    assert kinds["foul" if mischief is exposes and foul_kinds(load_ruleset(rules)) else "win"]


def test_two_win_on_one_tile_that_there_is_once() -> None:
    """R13 (003): the tile lies in both hands as they are reckoned, and is none too many."""
    hands = (refereed("basic-136", seed, nobody, hands=1) for seed in range(200))
    end, _, booking = next(one for (one,) in hands if len(one[0].outcome.winners) > 1)
    assert len({win.tile for win in end.outcome.winners}) == 1
    assert sum(booking.points.values()) == 0 and booking.source is not None
