"""What people play: near hands, golds kept, 游金 sought, the same from the same facts; whole hands over play alone."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from engine.hands import reading, youjin_ready
from engine.play import Action, PlayState, begin, options, step
from engine.ruleset import EXAMPLES, load_ruleset, profiles
from engine.shanten import shanten, shanten_of, to_youjin
from engine.tiles import is_flower, parse_tiles
from simulators.brain import Knowledge, action_of, choose, fits, plain_of
from tests.engine.play.hands_at_play import random_deal

RULES = load_ruleset("new-xiamen-120")
HANDS = 60
WINS = 0.7
"""The least share of hands that good players win before the wall's end."""
CHANCE = 7


def turn(hand: str, gold: str, *others: Action, number: int = 12, rules: str = "new-xiamen-120") -> Action:
    tiles = tuple(parse_tiles(hand))
    discards = tuple(Action("discard", tile) for tile in dict.fromkeys(tiles))
    return choose(Knowledge(load_ruleset(rules), gold, tiles, number, (*others, *discards)), random.Random(1))


def answer(hand: str, gold: str, tile: str, *others: Action, number: int = 12, rules: str = "new-xiamen-120") -> Action:
    tiles = tuple(parse_tiles(hand))
    known = Knowledge(load_ruleset(rules), gold, tiles, number, (*others, Action("pass")), tile)
    return choose(known, random.Random(1))


def hu(way: str) -> Action:
    return Action("hu", way=way)


# --- discards ---------------------------------------------------------------------------------------------------------


def test_a_lone_tile_goes_first() -> None:
    assert turn("123456789m123p456s19p", "5z").tile in ("1p", "9p")
    assert turn("123456789m12344p67s9p", "5z").tile == "9p"


def test_gold_is_never_thrown_while_there_is_something_else() -> None:
    chance = random.Random(3)
    faces = [face for face in RULES.faces() if not is_flower(face)]
    for _ in range(200):
        hand = [*chance.sample(faces, 16), "3p"]
        known = Knowledge(RULES, "3p", tuple(hand), 3, tuple(Action("discard", face) for face in set(hand)))
        assert choose(known, chance).tile != "3p"


def test_of_even_discards_the_one_that_leaves_most_tiles_to_wait_for() -> None:
    # Without 9s it waits for both ends of 67s; without 6s or 7s for one tile alone.
    assert turn("123456789m22p44567s9s", "5z").tile in ("4s", "9s")


def test_a_ready_hand_for_every_tile_is_preferred_to_a_wait() -> None:
    # One gold: dropping 9s leaves five sets and the gold, 游金; dropping 3m would wait for a few faces.
    hand = "123m456m789m123p456p9s1z"
    drop = turn(hand, "1z", rules="classic-xiamen-144")
    rest = parse_tiles(hand)
    rest.remove(drop.tile)
    assert youjin_ready(load_ruleset("classic-xiamen-144"), "1z", rest)


# --- wins -------------------------------------------------------------------------------------------------------------


def test_a_win_is_taken() -> None:
    assert turn("123456789m12344p678s", "5z", hu("zimo")) == hu("zimo")


def test_a_small_win_is_let_go_for_youjin_that_comes_next() -> None:
    hand = "123m456m789m123p456p9s5z"
    assert turn(hand, "5z", hu("zimo")) == Action("discard", "9s")
    assert turn(hand, "5z", hu("zimo"), number=45) == hu("zimo"), "not where the wall ends before"


def test_the_tour_goes_on_where_it_pays() -> None:
    tour = Action("tour_discard", "5z")
    assert turn("123m456m789m123p45p55z", "5z", hu("youjin"), tour) == tour
    assert turn("123m456m789m123p45p55z", "5z", tour) == tour, "R21 may leave nothing else"


def test_the_greatest_way_is_claimed() -> None:
    hand = tuple(parse_tiles("123m456m789m123p45p555z"))
    known = Knowledge(RULES, "5z", hand, 0, (hu("qiangjin"), hu("qiangshuangyou"), Action("pass")))
    assert choose(known, random.Random(1)) == hu("qiangshuangyou")


def test_who_is_in_youjin_lets_a_small_win_by_discard_go() -> None:
    hand = "123m456m789m123p456p5z"
    rules = "quanzhou-common"
    assert answer(hand, "5z", "9s", hu("pinghu"), rules=rules) == Action("pass")
    assert answer(hand, "5z", "9s", hu("pinghu"), rules=rules, number=60) == hu("pinghu")


# --- claims -----------------------------------------------------------------------------------------------------------


def test_claims_are_made_where_they_bring_the_hand_nearer() -> None:
    pong = Action("pong")
    assert answer("123m456m789m55p99p7s1s3m", "5z", "5p", pong) == pong
    assert answer("123m456m789m55p67p79s1s", "5z", "5p", pong) == Action("pass"), "the only pair stays"
    chi = Action("chi", tiles=("7s", "9s"))
    assert answer("123m456m789m55p67p79s1s", "5z", "8s", chi) == chi
    assert answer("123m456m789m123p789s5z", "5z", "8s", chi) == Action("pass"), "in 游金 nothing is claimed"


def test_a_kong_is_made_where_it_costs_nothing() -> None:
    kong = Action("kong_concealed", "9s")
    assert turn("9999s123m456m789m1p3p55p", "5z", kong) == kong
    assert turn("999978s123m456m78m55p1p", "5z", kong).name == "discard", "the run needs one of them"


# --- the same from the same -------------------------------------------------------------------------------------------


def test_the_order_of_the_options_does_not_matter() -> None:
    hand = tuple(parse_tiles("13579m13579p13579s55z"))
    offered = [Action("discard", tile) for tile in dict.fromkeys(hand)]
    chosen = set()
    for order in itertools.islice(itertools.permutations(offered), 0, 4000, 100):
        chosen.add(choose(Knowledge(RULES, "1m", hand, 5, tuple(order)), random.Random(9)))
    assert len(chosen) == 1


def test_actions_travel_as_plain_data() -> None:
    for action in (Action("chi", tiles=("1m", "2m")), hu("zimo"), Action("discard", "1m"), Action("pass")):
        assert action_of(plain_of(action)) == action
    assert action_of({"name": "chi", "tiles": ["2m", "1m"]}).tiles == ("1m", "2m")


def test_eyes_and_display_of_different_moments_are_noticed() -> None:
    assert fits(parse_tiles("123m"), (Action("discard", "1m"), Action("pass")))
    assert not fits(parse_tiles("123m"), (Action("discard", "4m"),))
    assert not fits(parse_tiles("13m"), (Action("pong"),), "1m")
    assert not fits(parse_tiles("111m"), (Action("kong_concealed", "1m"),))


def test_without_options_there_is_nothing_to_choose() -> None:
    with pytest.raises(ValueError, match="expected at least one"):
        choose(Knowledge(RULES, None, (), 0, ()), random.Random(1))


# --- whole hands ------------------------------------------------------------------------------------------------------


def played(rules_name: str, number: int) -> tuple[PlayState, list[Action]]:
    """A random deal played by four, without a table."""
    rules = load_ruleset(rules_name)
    state = begin(random_deal(rules, random.Random(f"{rules_name} {number}")))
    done: list[Action] = []
    while state.asked:
        seat = state.asked[0]
        bold = random.Random(f"{number}/{seat}").random() < 0.35
        offered = options(state, seat)
        held = state.seats[seat].hand
        known = Knowledge(rules, state.deal.gold, held, len(state.discards), offered, state.tile, bold)
        done.append(choose(known, random.Random(f"{number}/{len(state.discards)}/{seat}")))
        state = step(state, seat, done[-1])
    return state, done


@pytest.mark.parametrize("rules", (*profiles(), *EXAMPLES))
def test_hands_come_to_an_end_and_are_mostly_won(rules: str) -> None:
    ways: Counter[str] = Counter()
    golds_thrown = 0
    for number in range(HANDS):
        state, _ = played(rules, number)
        assert state.outcome is not None
        ways.update([win.way for win in state.outcome.winners] or [state.outcome.kind])
        for discard in state.discards:
            golds_thrown += discard.tile == state.deal.gold and discard.how == "open"
    won = 1 - (ways["draw"] + ways["foul"]) / HANDS
    assert won >= WINS, ways
    assert ways["foul"] == 0 and golds_thrown == 0
    if load_ruleset(rules).knows("youjin"):
        assert ways["youjin"], ways


def test_the_same_hand_is_played_alike_again() -> None:
    for number in range(10):
        assert played("new-xiamen-120", number)[1] == played("new-xiamen-120", number)[1]


# --- how far ----------------------------------------------------------------------------------------------------------


def test_how_far_from_youjin_is_what_exchanges_make_of_it() -> None:
    """0 where the hand is ready; and one exchange that helps makes it one less, none makes it two less."""
    rules, gold = load_ruleset("basic-136", {"seven_pairs": False}), "1z"
    chance = random.Random(CHANCE)
    book = reading(RULES, "5z")
    faces = [face for face in RULES.faces() if not is_flower(face)]
    for _ in range(60):
        hand = [*chance.sample(["1m", "2m", "3m", "4m", "5m", "6m", "2p", "2p", "3p", "4p", "5z", "5z"], 7)]
        far = to_youjin(book.code(hand), len(hand))
        assert (far is None) == ("5z" not in hand)
        if far is None:
            continue
        assert (far == 0) == youjin_ready(RULES, "5z", hand)
        nearest = min(
            one
            for at in range(len(hand))
            for face in faces
            if (one := to_youjin(book.code([*hand[:at], *hand[at + 1 :], face]), len(hand))) is not None
        )
        assert nearest == max(0, far - 1)
    assert shanten(rules, gold, parse_tiles("123m456m789m11p99s")) == shanten_of(
        reading(rules, gold), reading(rules, gold).code(parse_tiles("123m456m789m11p99s")), 13
    )
