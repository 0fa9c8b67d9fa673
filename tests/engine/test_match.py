"""A session of matches: seats, dealer, chips, swaps, the book and its figures (R2, R3, R34, R38, R41)."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from engine import declarations as d
from engine.chain import Refused
from engine.declared import declare, new_sheet
from engine.dice import Dice
from engine.match import Match, Player, apply, decide, fold
from engine.match import events as e
from engine.match import inputs as i
from engine.match.seating import must_throw, seats_by_dice, swap_rights
from engine.match.statistics import figures, history
from engine.outcome import Foul, HandEnd, Held, Outcome, Win
from engine.tiles import SEATS
from tests.engine.hands_told import ended, held, won
from tests.engine.random_hands import ALL_RULES, some_end

PEOPLE = (Player("ann", "Ann"), Player("bao", "阿宝"), Player("chen"), Player("deng"))
NEW = "new-xiamen-120"
CLASSIC = "classic-xiamen-144"


class Session:
    """Feeds a session; every event goes through JSON before it is applied."""

    def __init__(self) -> None:
        self.match = Match()
        self.events: list[e.MatchEvent] = []

    def do(self, happened: i.MatchInput) -> list[str]:
        """The names of the events that follow."""
        decided = decide(self.match, happened)
        for event in decided:
            carried = e.CODEC.decode(json.loads(json.dumps(e.CODEC.encode(event))))
            assert carried == event
            self.match = apply(self.match, carried)
            self.events.append(carried)
        return [type(event).__name__ for event in decided]

    def refused(self, happened: i.MatchInput) -> tuple[str, str]:
        """The code and rule with which an input is refused; nothing changes."""
        with pytest.raises(Refused) as refused:
            decide(self.match, happened)
        return refused.value.code, refused.value.rule

    def win(self, seat: str, way: str = "zimo", seats: dict[str, Held] | None = None, **more: Any) -> list[str]:
        """A hand begun and won."""
        self.do(i.BeginHand())
        end = won(seat, way, seats, dealer=self.match.dealer, steps=self.match.steps, **more)
        return self.do(i.BookPlayed(end))

    @property
    def chips(self) -> list[int]:
        """What ann, bao, chen and deng hold."""
        return [self.match.chips[player.id] for player in PEOPLE]


def session(rules: str = NEW, dice: Dice = (4, 1), **agreed: Any) -> Session:
    """A match whose first dealer a throw of East has made; East himself unless told."""
    found = Session()
    found.do(i.StartMatch(PEOPLE, rules, **agreed))
    found.do(i.ThrowForDealer("E", dice))
    return found


def rolls(**sums: list[int]) -> dict[str, tuple[Dice, ...]]:
    return {name: tuple((total - total // 2, total // 2) for total in totals) for name, totals in sums.items()}


class TestSeats:
    """R2, R3."""

    def test_the_highest_sits_east(self) -> None:
        """「摇骰子，最大坐东，第二坐南，第三坐西，第四坐北」"""
        seats = seats_by_dice(("a", "b", "c", "d"), rolls(a=[5], b=[11], c=[2], d=[7]))
        assert seats == {"E": "b", "S": "d", "W": "a", "N": "c"}

    def test_equal_throws_are_thrown_again_among_themselves(self) -> None:
        people = ("a", "b", "c", "d")
        assert must_throw(people, {}) == people
        assert must_throw(people, rolls(a=[5], b=[5])) == ("c", "d")
        once = rolls(a=[5], b=[5], c=[9], d=[9])
        assert must_throw(people, once) == ("a", "b", "c", "d")
        assert must_throw(people, once | rolls(a=[5, 3])) == ("b", "c", "d")
        twice = rolls(a=[5, 3], b=[5, 12], c=[9, 4], d=[9, 4])
        assert must_throw(people, twice) == ("c", "d")
        thrice = twice | rolls(c=[9, 4, 2], d=[9, 4, 3])
        assert must_throw(people, thrice) == ()
        assert seats_by_dice(people, thrice) == {"E": "d", "S": "c", "W": "b", "N": "a"}

    @pytest.mark.parametrize("seed", range(25))
    def test_throwing_ends_with_four_seats_in_order(self, seed: int) -> None:
        chance, found = random.Random(seed), Session()
        found.do(i.StartMatch(PEOPLE, NEW, by_dice=True))
        while found.match.phase == "seating":
            due = must_throw([player.id for player in PEOPLE], found.match.rolls)
            for player in {one.id for one in PEOPLE} - set(due):
                assert found.refused(i.ThrowForSeat(player, (1, 1))) == ("not_your_throw", "R2")
            found.do(i.ThrowForSeat(chance.choice(due), (chance.randint(1, 3), chance.randint(1, 2))))
        thrown = [[sum(dice) for dice in found.match.rolls[found.match.seats[seat]]] for seat in SEATS]
        assert thrown == sorted(thrown, reverse=True)
        assert len({tuple(one) for one in thrown}) == 4

    def test_first_dealer(self) -> None:
        """004: East rolls and the pointed seat deals; 002§壹: any player rolls."""
        found = Session()
        found.do(i.StartMatch(PEOPLE, NEW))
        assert found.refused(i.ThrowForDealer("S", (1, 2))) == ("not_your_throw", "R3")
        found.do(i.ThrowForDealer("E", (5, 1)))
        assert (found.match.dealer, found.match.deal) == ("S", "bao")
        other = Session()
        other.do(i.StartMatch(PEOPLE, "bijin-xiamen-144"))
        other.do(i.ThrowForDealer("S", (5, 1)))
        assert other.match.dealer == "W"

    def test_after_losing_half_and_after_losing_all(self) -> None:
        """「输半底换一次，输空底一次。摇骰子摇到谁就跟谁换（每人200分，100分为半底）」"""
        found = session(options={"debt": True})
        found.win("E", "sanyou")
        assert [swap_rights(found.match, one.id) for one in PEOPLE] == [(), (), (), ()]
        found.win("E", "shuangyou")
        assert found.chips == [500, 100, 100, 100]
        assert swap_rights(found.match, "bao") == ("half",)
        assert found.do(i.Swap("bao", "half", (1, 1))) == ["SeatsSwapped"]
        assert found.match.seats == {"E": "ann", "S": "chen", "W": "bao", "N": "deng"}
        assert found.refused(i.Swap("bao", "half", (1, 1))) == ("no_swap", "R2")
        found.win("E", "sanyou")
        found.win("E", "shuangyou")
        assert found.match.chips["bao"] == 0
        assert swap_rights(found.match, "bao") == ("all",)
        found.do(i.Swap("bao", "all", (4, 5)))
        assert found.match.seats["W"] == "bao", "1, 5 and 9 stay"
        assert swap_rights(found.match, "bao") == ()
        assert found.chips == [800, 0, 0, 0]

    def test_after_a_win_once_each(self) -> None:
        """002§壹 「中途四個玩家可看心情各換位一次，換位方法是胡牌後打點」; the deal goes with the winner."""
        found = session("bijin-xiamen-144")
        assert [swap_rights(found.match, one.id) for one in PEOPLE] == [()] * 4
        found.win("S")
        assert [swap_rights(found.match, one.id) for one in PEOPLE] == [("win",)] * 4, "not the winner alone"
        found.do(i.Swap("bao", "win", (1, 2)))
        assert found.match.seats == {"E": "ann", "S": "deng", "W": "chen", "N": "bao"}
        assert (found.match.deal, found.match.dealer) == ("bao", "N")
        found.win("N")
        assert swap_rights(found.match, "bao") == ()
        found.do(i.BeginHand())
        assert found.refused(i.Swap("bao", "win", (1, 2))) == ("no_swap", "R2")

    def test_each_of_the_four_swaps_once_in_a_match(self) -> None:
        """002§壹: after one win all of them may, or each after another; nobody after a drawn or a void hand."""
        found = session("bijin-xiamen-144")
        found.do(i.BeginHand())
        found.do(i.BookPlayed(ended(Outcome("draw", last_drawer="E"))))
        assert found.refused(i.Swap("ann", "win", (1, 1))) == ("no_swap", "R2")
        found.do(i.BeginHand())
        found.do(i.BookPlayed(ended(Outcome("foul", foul=Foul("S", "zhahu")))))
        assert found.refused(i.Swap("bao", "win", (1, 1))) == ("no_swap", "R2")
        found.win("S")
        found.do(i.Swap("ann", "win", (1, 1)))
        found.do(i.Swap("deng", "win", (1, 2)))
        assert sorted(found.match.seats.values()) == ["ann", "bao", "chen", "deng"]
        found.win("S")
        assert [swap_rights(found.match, one.id) for one in PEOPLE] == [(), ("win",), ("win",), ()]
        found.do(i.Swap("chen", "win", (2, 3)))
        found.do(i.Swap("bao", "win", (2, 3)))
        assert [swap_rights(found.match, one.id) for one in PEOPLE] == [()] * 4
        assert found.refused(i.Swap("bao", "win", (1, 1))) == ("no_swap", "R2")
        assert fold(found.events) == found.match

    def test_players_move_with_what_is_theirs(self) -> None:
        found = session("bijin-xiamen-144")
        found.win("S")
        found.do(i.Swap("bao", "win", (1, 1)))
        found.win("S", "zimo")
        assert found.chips == [100 - 4, 100 + 6 - 2, 100 - 2 + 6, 100 - 4]
        assert figures(found.match, "bao").wins == figures(found.match, "chen").wins == 1


class TestChips:
    """R34, R41."""

    @pytest.mark.parametrize("chips", [100, 200, 300])
    def test_begins_with_what_is_agreed(self, chips: int) -> None:
        assert session(options={"chips": chips}).chips == [chips] * 4

    def test_a_loser_pays_what_he_has_and_the_match_is_over(self) -> None:
        found = session(CLASSIC)
        assert found.win("E", "youjin") == ["HandBooked"]
        assert found.chips == [292, 36, 36, 36]
        assert found.win("E", "youjin") == ["HandBooked", "MatchOver"]
        assert found.chips == [400, 0, 0, 0]
        assert (found.match.phase, found.match.ended) == ("ended", "empty")
        assert found.match.bonus["ann"] == 150 + 150 + 300, "游金 twice and 杀三"
        assert found.refused(i.BeginHand()) == ("not_between_hands", "P6")

    def test_with_debt_it_goes_on(self) -> None:
        found = session(CLASSIC, options={"debt": True})
        found.win("E", "youjin")
        assert found.win("E", "youjin") == ["HandBooked"]
        assert found.chips == [292 + 3 * 128, 36 - 128, 36 - 128, 36 - 128]

    def test_a_fine_outside_the_chips(self) -> None:
        found = session(CLASSIC)
        found.do(i.BeginHand())
        found.do(i.BookPlayed(ended(Outcome("foul", foul=Foul("S", "zhahu")))))
        assert found.chips == [100] * 4
        assert found.match.bonus == {"ann": 50, "bao": -150, "chen": 50, "deng": 50}


class TestCourse:
    """Hands, ends and the book."""

    def test_the_base_grows_while_the_dealer_stays(self) -> None:
        found = session(CLASSIC, options={"debt": True})
        found.win("E")
        found.do(i.BeginHand())
        found.do(i.BookPlayed(ended(Outcome("draw"), steps=1)))
        assert (found.match.dealer, found.match.steps) == ("E", 2)
        found.win("W", "pinghu", source="N")
        assert (found.match.dealer, found.match.steps) == ("S", 0)
        assert found.chips[0] == 100 + 3 * 32 - 64

    def test_a_hand_of_another_deal_is_refused(self) -> None:
        found = session(CLASSIC)
        assert found.refused(i.BookPlayed(won("E", "zimo"))) == ("no_hand", "P6")
        found.do(i.BeginHand())
        assert found.refused(i.BookPlayed(won("E", "zimo", dealer="S"))) == ("other_deal", "R3")
        assert found.refused(i.BookPlayed(won("E", "zimo", steps=1))) == ("other_deal", "R3")
        sheet = new_sheet(session(NEW).match.rules, "E", "9p")
        assert found.refused(i.BookDeclared(declare(sheet, d.HandDrawn()))) == ("other_rules", "R42")

    def test_declared_hands_are_booked_as_played_ones(self) -> None:
        found = session()
        found.do(i.BeginHand())
        sheet = declare(new_sheet(found.match.rules, "E", "9p"), d.HandWon((Win("S", "youjin"),)))
        found.do(i.BookDeclared(declare(declare(sheet, d.GoldsHeld("S", 1)), d.FlowersHeld("N", ("1f",)))))
        assert found.chips == [188, 233, 188, 191]
        assert found.match.book[0].wins == ({"seat": "S", "way": "youjin", "golds": 1, "tile": None},)

    def test_the_agreed_hands_end_it_and_a_void_hand_is_none(self) -> None:
        found = session(hands=2)
        found.win("E")
        found.do(i.BeginHand())
        assert found.do(i.BookPlayed(ended(Outcome("foul", foul=Foul("S", "zhahu"))))) == ["HandBooked"]
        assert found.win("E") == ["HandBooked", "MatchOver"]
        assert (found.match.ended, found.match.hand) == ("hands", 3)

    def test_time_ends_it_after_the_hand(self) -> None:
        found = session(minutes=60)
        found.do(i.BeginHand())
        assert found.do(i.TimeUp()) == ["MatchEnding"]
        assert found.do(i.EndMatch()) == []
        assert found.do(i.BookPlayed(won("S", "zimo"))) == ["HandBooked", "MatchOver"]
        assert found.match.ended == "time"
        assert found.refused(i.TimeUp()) == ("no_match", "P6")

    def test_agreed_between_hands_it_ends_at_once(self) -> None:
        found = session()
        assert found.do(i.EndMatch()) == ["MatchOver"]
        assert found.match.ended == "agreed"

    def test_a_booking_is_taken_back_until_the_next_deal(self) -> None:
        found = session(CLASSIC)
        before = found.match
        found.win("S", "youjin")
        assert found.do(i.TakeBack("it was West")) == ["BookingVoided"]
        assert (found.chips, found.match.dealer, found.match.steps) == ([100] * 4, "E", 0)
        assert found.match.bonus == before.bonus
        assert [one.voided for one in found.match.book] == [True]
        assert found.do(i.BookPlayed(won("W", "youjin"))) == ["HandBooked"]
        assert [one.voided for one in found.match.book] == [True, False]
        assert found.match.hand == 1
        found.do(i.BeginHand())
        assert found.refused(i.TakeBack()) == ("cannot_undo", "P5")

    def test_taking_back_opens_a_match_that_it_had_ended(self) -> None:
        found = session(CLASSIC, hands=1)
        found.win("S")
        found.do(i.TakeBack())
        assert (found.match.phase, found.match.ended) == ("playing", "")
        found.do(i.BookPlayed(won("E", "zimo")))
        assert found.match.ended == "hands"

    def test_everybody_sits_as_he_sat_in_that_hand_and_not_twice(self) -> None:
        found = session("bijin-xiamen-144")
        assert found.refused(i.TakeBack()) == ("cannot_undo", "P5")
        seats = dict(found.match.seats)
        found.win("S")
        found.do(i.Swap("bao", "win", (1, 1)))
        assert found.match.seats != seats
        found.do(i.TakeBack())
        assert found.match.seats == seats and not found.match.swaps_used
        assert found.refused(i.TakeBack()) == ("cannot_undo", "P5")

    @pytest.mark.parametrize(
        ("code", "rule", "asked"),
        [
            ("four_players", "R2", i.StartMatch(PEOPLE[:3], NEW)),
            ("four_players", "R2", i.StartMatch((*PEOPLE[:3], PEOPLE[0]), NEW)),
            ("four_players", "R2", i.StartMatch((*PEOPLE[:3], Player("")), NEW)),
            ("bad_rules", "R42", i.StartMatch(PEOPLE, "no-such-rules")),
            ("bad_rules", "R42", i.StartMatch(PEOPLE, NEW, {"chips": 150})),
            ("bad_number", "R41", i.StartMatch(PEOPLE, NEW, hands=-1)),
            ("no_match", "P6", i.EndMatch()),
            ("not_asked", "R2", i.ThrowForSeat("ann", (1, 1))),
            ("not_asked", "R3", i.ThrowForDealer("E", (1, 1))),
            ("no_swap", "R2", i.Swap("ann", "win", (1, 1))),
            ("cannot_undo", "P5", i.TakeBack()),
        ],
    )
    def test_what_is_refused_before_a_match(self, code: str, rule: str, asked: i.MatchInput) -> None:
        assert Session().refused(asked) == (code, rule)

    def test_bad_dice_are_refused(self) -> None:
        found = Session()
        found.do(i.StartMatch(PEOPLE, NEW))
        assert found.refused(i.ThrowForDealer("E", (0, 7))) == ("bad_value", "R1")
        assert found.refused(i.StartMatch(PEOPLE, NEW)) == ("match_running", "P6")


def test_figures_of_a_session_of_two_matches() -> None:
    found = session(hands=2)
    found.win("S", "youjin", {"S": held("9p")})
    found.win("S", "pinghu", source="W")
    found.do(i.StartMatch(tuple(reversed(PEOPLE)), NEW, hands=1))
    found.do(i.ThrowForDealer("E", (4, 1)))
    assert found.chips == [200] * 4
    found.win("W", "shuangyou")
    bao = figures(found.match, "bao")
    assert (bao.hands, bao.wins, bao.ways, bao.golds) == (3, 3, {"youjin": 1, "pinghu": 1, "shuangyou": 1}, 1)
    assert (bao.points, bao.best) == (33 + 6 + 60, (60, 2, 1))
    chen = figures(found.match, "chen")
    assert (chen.wins, chen.paid_for, chen.best, chen.points) == (0, 1, None, -(11 + 2 + 20))
    assert [one.match for one in history(found.match, "ann")] == [1, 1, 2]
    assert sum(figures(found.match, one.id).points for one in PEOPLE) == 0


def test_bookings_taken_back_and_fouls_in_the_figures() -> None:
    found = session(CLASSIC)
    found.win("S")
    found.do(i.TakeBack())
    found.do(i.BookPlayed(ended(Outcome("foul", foul=Foul("N", "zhahu")))))
    assert figures(found.match, "bao").wins == 0
    assert (figures(found.match, "deng").fouls, figures(found.match, "deng").bonus) == (1, -150)


@pytest.mark.parametrize("name", ALL_RULES)
def test_random_sessions_replay_to_the_same_state(name: str) -> None:
    """Chips are neither made nor lost, and the events alone tell the whole session."""
    chance, found = random.Random(f"session {name}"), session(name, options={"debt": True}, hands=12)
    total = sum(found.chips)
    while found.match.phase != "ended":
        found.do(i.BeginHand())
        end = some_end(chance, found.match.rules)
        outcome = _of_this_deal(end, found.match.dealer)
        found.do(i.BookPlayed(HandEnd(found.match.dealer, end.gold, outcome, end.held, found.match.steps)))
        assert sum(found.chips) == total
        assert sum(found.match.bonus.values()) == 0
        if chance.random() < 0.3:
            state = found.match
            found.do(i.TakeBack())
            found.do(i.BookPlayed(HandEnd(found.match.dealer, end.gold, outcome, end.held, found.match.steps)))
            assert (found.match.chips, found.match.deal, found.match.steps) == (state.chips, state.deal, state.steps)
    assert fold(found.events) == found.match
    for player in PEOPLE:
        assert figures(found.match, player.id).points == found.match.chips[player.id] - found.match.rules.chips


def _of_this_deal(end: HandEnd, dealer: str) -> Outcome:
    """天胡 and 地胡 depend on who deals: such a hand counts as drawn here."""
    special = any(win.way in ("tianhu", "dihu") for win in end.outcome.winners)
    return Outcome("draw", last_drawer=dealer) if special else end.outcome
