"""People who make mistakes: a table that behaves well takes every one of them, and books what is so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.simulate import simulate
from engine import events as e
from engine.book import events as b
from engine.play import events as p
from engine.play import hand_end
from engine.play.state import PlayState
from engine.readings import CLAIMED_MELDS
from engine.settlement import settle_outcome
from engine.tiles import SEATS
from simulators.mind import Intention
from simulators.mistakes import MISTAKES, MistakeError, parse_mistakes
from tests.simulators.tabletop import Tabletop

HANDS = 12
OFTEN = {"new-xiamen-120": "zhitui", "classic-xiamen-144": "bagua", "basic-136": "zhitui", "xiamen-offline": "zhitui"}


class Watched:
    """What was held before a hand was booked, so that its points can be worked out again from the true tiles."""

    def __init__(self, hands: int) -> None:
        self.hands = hands
        self.booked = 0
        self._before: tuple[Mapping[str, int], int] = ({}, 0)

    def __call__(self, table: Tabletop) -> bool:
        """To be asked after every act: whether enough hands are booked; each is checked as it is."""
        ended = len(table.of(e.HandEnded))
        if ended > self.booked:
            self.booked = ended
            self._check(table)
        session = table.state.session
        if table.state.phase in ("play", "opening"):
            self._before = (session.chips_by_seat(), session.steps)
        return ended >= self.hands

    def _check(self, table: Tabletop) -> None:
        booking = table.state.session.book[-1]
        points = {seat: booking.points[player] for seat, player in booking.seats.items()}
        bonus = {seat: booking.bonus[player] for seat, player in booking.seats.items()}
        assert sum(points.values()) == 0 and sum(bonus.values()) == 0
        game = table.world.round.state if table.world.round is not None else table.game
        assert game is not None and game.outcome is not None
        assert_true_tiles(table, game)
        chips, steps = self._before
        right = settle_outcome(table.rules, replace(hand_end(game), steps=steps), chips)
        assert (points, bonus) == (right.net, right.bonus), (table.state.hand, game.outcome)


def assert_true_tiles(table: Tabletop, game: PlayState) -> None:
    """Whatever happened at the readers or by careless hands, the hand that was settled is the one that lies there."""
    winners = {win.seat for win in game.outcome.winners} if game.outcome is not None else set()
    for seat in SEATS:
        own = game.seats[seat]
        if not own.covered and seat not in winners:
            lying, right = Counter(table.world.zone_faces(seat, "hand")), Counter(own.hand)
            lying += outbid(table, game, seat)
            # A tile drawn in another's lap may be on its way to be put away.
            assert not right - lying and not lying - right - Counter(own.aside), (seat, table.state.hand)


def outbid(table: Tabletop, game: PlayState, seat: str) -> Counter[str]:
    """Tiles of a hand that lie in a meld, laid for a discard that another has won by."""
    melds = table.world.melds[seat]
    if len(melds) == len(game.seats[seat].melds):
        return Counter()
    claimed = melds[-1].claimed
    assert claimed is not None and game.wins and game.wins[0].tile == game.tile == claimed.face
    return Counter(tile.face for tile in melds[-1].tiles if tile is not claimed)


def play(
    rules: str, layout: str, sensing: str, rates: Mapping[str, float], hands: int = HANDS, seed: int = 5
) -> Tabletop:
    table = Tabletop(rules, layout, sensing, "read", seed=seed, rates=rates, hands=1000)
    table.play(Watched(hands))
    return table


def always(name: str, sensing: str, rules: str = "new-xiamen-120", hands: int = 3) -> Tabletop:
    """Everybody makes one mistake whenever it can be made."""
    table = play(rules, OFTEN[rules], sensing, {name: 1.0}, hands)
    assert table.mistakes[name] > 0
    return table


def said(table: Tabletop) -> list[object]:
    """What happened in the books of the hands."""
    return [one.event for one in table.of(e.BookSaid)]


@pytest.mark.parametrize("sensing", ["none", "full"])
@pytest.mark.parametrize("rules", OFTEN)
def test_every_mistake_at_a_tenth_and_nothing_wrong_is_booked(rules: str, sensing: str) -> None:
    table = play(rules, OFTEN[rules], sensing, dict.fromkeys(MISTAKES, 0.1))
    assert table.mistakes.total() > HANDS / 2


def test_wrong_golds_are_voted_down_by_those_who_see_the_hand() -> None:
    table = always("wrong_entry", "none")
    closed = [event for event in said(table) if isinstance(event, b.BookClosed)]
    assert closed and all((event.choice, event.how) == (2, "vote") for event in closed)


def test_an_objection_to_what_is_right_is_withdrawn_or_outvoted() -> None:
    table = always("object", "none", hands=8)
    closed = [event for event in said(table) if isinstance(event, b.BookClosed)]
    assert {event.choice for event in closed} == {1}
    assert {event.how for event in closed} == {"agreed", "vote"}
    assert any(isinstance(event, b.ObjectionWithdrawn) for event in said(table))


def test_a_win_touched_too_early_is_taken_back_and_play_goes_on() -> None:
    table = always("false_win", "none", hands=1)
    resumed = [event for event in said(table) if isinstance(event, b.KeepingResumed)]
    ended = [event for event in said(table) if isinstance(event, b.EntryBegun) and not event.seat]
    assert len(resumed) == len(ended) - 1, "every end but the true one"
    assert 8 < len(resumed) <= table.mistakes["false_win"]
    assert all(" win " in one and "too_often" in one for one in table.refused), "a seat ends a hand only so often (P2)"


def test_a_win_tapped_in_vain_is_refused() -> None:
    table = always("false_win", "full", hands=1)
    assert len(table.refused) == table.mistakes["false_win"]
    assert all(" hu " in refusal for refusal in table.refused)


@pytest.mark.parametrize("sensing", ["none", "full"])
def test_a_claim_without_the_tiles_is_refused(sensing: str) -> None:
    table = always("wrong_claim", sensing, hands=1)
    assert len(table.refused) == table.mistakes["wrong_claim"]


def test_melds_that_nobody_presses_are_claims_all_the_same() -> None:
    """R13: the hands are played to the same points as if every claim had been pressed; pressed is only a claim of what
    somebody else has laid by then.
    """
    pressed = play("new-xiamen-120", "zhitui", "full", {}, hands=6)
    lay_there: list[bool] = []

    def look(seat: str, wanted: Intention) -> Intention:
        game = table.state.play.game
        if wanted.act in CLAIMED_MELDS and game is not None:
            lay_there.append(table.world.zone_faces(game.source, "discards")[-1:] == (game.tile,))
        return wanted

    table = Tabletop("new-xiamen-120", "zhitui", "full", "read", 5, look, rates={"no_press": 1.0}, hands=1000)
    table.play(Watched(6))
    melds = [event.event for event in table.of(e.Played) if isinstance(event.event, p.MeldLaid)]
    assert table.mistakes["no_press"] >= len(melds) - len(lay_there) > 20 and not any(lay_there)
    assert {one.kind for one in melds} >= {"chi", "pong"}
    assert [one.points for one in table.state.session.book] == [one.points for one in pressed.state.session.book]
    assert not table.of(e.ZoneAccepted) and table.refused == []


def test_a_meld_laid_that_another_outbids_is_taken_up_again() -> None:
    """碰 before 吃: tiles that lie there by then go back to where they came from, and the hand is the one that lies
    there.
    """
    table = play("classic-xiamen-144", "bagua", "full", {"no_press": 1.0}, hands=20, seed=5)
    taken_up = [wanted for seat in SEATS for wanted in table.done_by[seat] if wanted.act == "undo_meld"]
    assert taken_up and not any(wanted.act == "admit" for seat in SEATS for wanted in table.done_by[seat])
    assert not table.of(e.ZoneAccepted)


@pytest.mark.parametrize("sensing", ["none", "full"])
def test_a_flower_forgotten_is_remembered_before_the_hand_is_booked(sensing: str) -> None:
    table = always("forget_flower", sensing, hands=4)
    assert table.refused == []


@pytest.mark.parametrize("sensing", ["none", "full"])
def test_who_lays_a_false_win_open_pays_for_it(sensing: str) -> None:
    table = always("expose_false", sensing, hands=2)
    assert [booking.kind for booking in table.state.session.book] == ["foul", "foul"]


@pytest.mark.parametrize("sensing", ["none", "full"])
def test_wrong_draws_are_put_right_or_end_in_a_covered_hand(sensing: str) -> None:
    table = play("new-xiamen-120", "zhitui", sensing, {"forget_draw": 0.1}, hands=6)
    assert table.mistakes["forget_draw"] >= 4
    acts = Counter(wanted.act for seat in SEATS for wanted in table.done_by[seat])
    assert acts["take_back"] + acts["put_back"] > 0
    covers = [wanted for seat in SEATS for wanted in table.done_by[seat] if wanted.act in ("admit", "cover")]
    assert covers


@pytest.mark.parametrize("sensing", ["none", "full"])
def test_dice_thrown_unasked_change_nothing(sensing: str) -> None:
    table = always("unasked_throw", sensing, hands=3)
    assert table.refused == []


def test_the_same_seed_makes_the_same_mistakes() -> None:
    first, again = (play("new-xiamen-120", "zhitui", "none", {"object": 0.5, "wrong_claim": 0.2}, 4) for _ in range(2))
    assert first.mistakes == again.mistakes and first.refused == again.refused


# --- words ------------------------------------------------------------------------------------------------------------


def test_rates_are_read_a_later_word_over_an_earlier() -> None:
    everything = parse_mistakes("all=0.1")
    assert set(everything) == set(MISTAKES) - {"expose_false"} and set(everything.values()) == {0.1}
    assert parse_mistakes(" object=1 , away=0.5,") == {"object": 1.0, "away": 0.5}
    assert parse_mistakes("all=0.2,away=0,expose_false=0.3")["expose_false"] == 0.3
    assert "away" not in parse_mistakes("all=0.2,away=0")
    assert parse_mistakes("") == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sleep=0.1", "mistake 'sleep': expected one of all, forget_flower"),
        ("object", "expected NAME=RATE"),
        ("object=often", "mistake object=often: expected a rate from 0 to 1"),
        ("object=1.5", "expected a rate from 0 to 1"),
        ("object=nan", "expected a rate from 0 to 1"),
    ],
)
def test_words_that_are_no_rates_are_refused_by_name(text: str, words: str) -> None:
    with pytest.raises(MistakeError, match=words):
        parse_mistakes(text)


def test_the_command_line_says_which_word_is_wrong(tmp_path: Path) -> None:
    users = tmp_path / "users.json"
    users.write_text("{}", encoding="utf-8")
    arguments = ["players", "--world", "/w", "--credentials", str(users), "--mistakes", "sleep=1"]
    result = CliRunner().invoke(simulate, arguments)
    assert result.exit_code == 1 and "mistake 'sleep'" in result.output and "Traceback" not in result.output
