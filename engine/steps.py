"""Steps of the procedure that several inputs lead to: throws, taking, flowers, the count to the gold."""

from __future__ import annotations

from engine import events as e
from engine.claims import eight_flowers_win
from engine.deciding import Chain
from engine.opening import gold_path, gold_thrower, next_flower_turn
from engine.scoring import most_bid
from engine.state import (
    State,
    current_take,
    expected_hand,
    flower_turn_seat,
    flowers_of,
    gone_from_wall,
    held_flowers,
    next_of_tail,
)
from engine.tiles import FLOWERS


def record_step(chain: Chain, seat: str) -> None:
    """The due seat has taken its tiles, or replaced its flowers (R7)."""
    state = chain.state
    take = current_take(state)
    if take is not None:
        chain.add(e.TakeDone(take[0], tuple(state.play.wall[position] for position in take[2])))
        return
    assert state.play.flower_turn is not None and flower_turn_seat(state) == seat
    number, _ = state.play.flower_turn
    flowers = held_flowers(state, seat)
    positions = next_of_tail(state, len(flowers))
    kept = len(state.play.hands[seat]) - len(flowers)
    drawn = expected_hand(state, seat)[kept:]
    chain.add(e.FlowersReplaced(number, seat, flowers, positions, drawn))


def next_turn(chain: Chain, at: tuple[int, int]) -> None:
    turn = next_flower_turn(chain.state.play.hands, chain.state.dealer, at)
    if turn is None:
        chain.add(e.FlowersDone(""))
        want_gold_roll(chain)
    else:
        chain.add(e.FlowerTurn(*turn))


def want_gold_roll(chain: Chain) -> None:
    state = chain.state
    deal = next(roll.dice for roll in state.play.rolls if roll.purpose == "deal")
    thrower = gold_thrower(state.match.rules, state.match.layout, state.dealer, deal)
    nth = 1 + sum(1 for roll in state.play.rolls if roll.purpose == "gold")
    want_roll(chain, "gold", nth, thrower)


def want_deal(chain: Chain) -> None:
    """The deal roll, and before it what everybody bids where the rules know bids (P7)."""
    state = chain.state
    if most_bid(state.match.rules, state.session.steps):
        chain.add(e.BidsAsked())
    else:
        want_roll(chain, "deal", 1, state.dealer)


def want_roll(chain: Chain, purpose: str, nth: int, thrower: str) -> None:
    chain.add(e.RollWanted(purpose, nth, thrower))


def count_gold(chain: Chain) -> None:
    """R8; R9: a throw after a third same gold counts on from behind it, a flower turned back in between or not."""
    state = chain.state
    assert state.play.lines is not None
    after = next((passed.position for passed in reversed(state.play.passed) if passed.why == "third_same"), None)
    steps = sum(state.play.rolls[-1].dice)
    chain.add(e.GoldCounted(gold_path(state.play.lines, gone_from_wall(state), steps, after)))


def wins_by_flowers(state: State, seat: str) -> bool:
    """R26: whether a seat has all eight flowers laid out, in rules where they win at once."""
    return eight_flowers_win(state.match.rules) and len(set(flowers_of(state, seat))) == len(FLOWERS)


def dice_stand(chain: Chain, how: str) -> None:
    roll = chain.state.play.roll
    assert roll is not None and roll.dice is not None
    chain.add(e.DiceRolled(roll.purpose, roll.by, roll.dice, how))


def sort_again(chain: Chain, number: int) -> None:
    job = chain.state.sort
    assert job is not None
    chain.add(e.SortBegun(number, job.hand, job.attempt + 1))
