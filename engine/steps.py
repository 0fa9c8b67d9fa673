"""Steps of the procedure that several inputs lead to: throws, taking, flowers, the gold, the end of a hand."""

from __future__ import annotations

from engine import events as e
from engine.chain import Chain
from engine.claims import eight_flowers_win, opening_claims
from engine.opening import (
    gold_of,
    gold_path,
    gold_thrower,
    next_flower_turn,
    next_to_flip,
    third_in_a_row,
    white_stands_for,
)
from engine.state import (
    State,
    current_take,
    expected_hand,
    flower_turn_seat,
    gone_from_wall,
    held_flowers,
    next_of_tail,
)
from engine.tiles import FLOWERS, SEATS, is_flower, next_seat


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


def after_flowers(chain: Chain, seat: str) -> None:
    """A seat has replaced its flowers: all eight win at once (R26), else the next seat's turn."""
    if chain.state.phase != "flowers":
        return
    if wins_by_flowers(chain.state, seat):
        end_hand(chain, seat, "shuanghuagang")
    elif chain.state.play.flower_turn is not None:
        next_turn(chain, chain.state.play.flower_turn)


def next_turn(chain: Chain, at: tuple[int, int]) -> None:
    turn = next_flower_turn(chain.state.play.hands, chain.state.dealer, at)
    if turn is None:
        chain.add(e.FlowersDone(""))
        want_gold_roll(chain)
    else:
        chain.add(e.FlowerTurn(*turn))


def face_known(chain: Chain, tile: str) -> None:
    """R8-R10: the flipped face is the gold, a flower, or the third of its kind in a row."""
    state = chain.state
    rules, gold = state.match.rules, state.play.gold
    assert gold is not None and state.play.lines is not None
    if is_flower(tile):
        to = state.dealer if rules.flower_gold == "dealer_then_next" else ""
        chain.add(e.GoldPassed(gold.position, tile, "flower", to))
        if rules.flower_gold == "return_reroll":
            want_gold_roll(chain)
            return
        if to and state.reads_tiles and wins_by_flowers(chain.state, to):
            end_hand(chain, to, "shuanghuagang")
            return
        gone = gone_from_wall(chain.state)
        chain.add(e.NextFlipped(next_to_flip(state.play.lines, gone, gold.position)))
        return
    face = gold_of(rules, tile)
    if third_in_a_row(rules, state.gold_history, face):
        chain.add(e.GoldPassed(gold.position, tile, "third_same", ""))
        want_gold_roll(chain)
        return
    chain.add(e.GoldOpened(gold.position, tile, face, white_stands_for(rules, face)))


def want_gold_roll(chain: Chain) -> None:
    state = chain.state
    deal = next(roll.dice for roll in state.play.rolls if roll.purpose == "deal")
    thrower = gold_thrower(state.match.rules, state.match.layout, state.dealer, deal)
    nth = 1 + sum(1 for roll in state.play.rolls if roll.purpose == "gold")
    want_roll(chain, "gold", nth, thrower)


def want_roll(chain: Chain, purpose: str, nth: int, thrower: str) -> None:
    chain.add(e.RollWanted(purpose, nth, thrower))


def count_gold(chain: Chain) -> None:
    """R8; R9: a throw after a third same gold counts on from behind it, a flower turned back in between or not."""
    state = chain.state
    assert state.play.lines is not None
    after = next((passed.position for passed in reversed(state.play.passed) if passed.why == "third_same"), None)
    steps = sum(state.play.rolls[-1].dice)
    chain.add(e.GoldCounted(gold_path(state.play.lines, gone_from_wall(state), steps, after)))


def end_hand(chain: Chain, winner: str, way: str) -> None:
    """The hand ends in its opening: by a win, or, since play itself is not followed, when play would begin.

    After a win the deal goes on as the rules say; an opening without a win passes it to the next player.
    """
    state = chain.state
    rules = state.match.rules
    if winner == state.dealer and rules.dealer_after_win != "next":
        dealer, streak = winner, state.streak + 1
    elif winner and rules.dealer_after_win == "winner":
        dealer, streak = winner, 0
    else:
        dealer, streak = next_seat(state.dealer), 0
    tiles = None
    if winner and state.reads_tiles:
        tiles = state.play.hands.get(winner)
    chain.add(e.HandEnded(winner, way, tiles, dealer, streak))


def close_window(chain: Chain) -> None:
    answers = chain.state.play.answers
    for seat, way in chain.state.play.claims:
        if answers.get(seat) == way:
            return end_hand(chain, seat, way)
    return end_hand(chain, "", "")


def valid_claims(state: State) -> tuple[tuple[str, str], ...]:
    """R25: all valid claims, strongest first; none where the hands are not read or do not count right."""
    gold = state.play.gold
    assert gold is not None
    if not state.reads_tiles:
        return ()
    size = state.match.rules.hand
    for seat in SEATS:
        if len(state.play.hands.get(seat, ())) != size + (seat == state.dealer):
            return ()
    return tuple(opening_claims(state.match.rules, state.dealer, gold.face, state.play.hands))


def wins_by_flowers(state: State, seat: str) -> bool:
    """R26: whether a seat has all eight flowers laid out, in rules where they win at once."""
    return eight_flowers_win(state.match.rules) and len(set(state.play.flowers[seat])) == len(FLOWERS)


def face_stands(chain: Chain) -> None:
    gold = chain.state.play.gold
    assert gold is not None
    face_known(chain, gold.entered)


def dice_stand(chain: Chain, how: str) -> None:
    roll = chain.state.play.roll
    assert roll is not None and roll.dice is not None
    chain.add(e.DiceRolled(roll.purpose, roll.by, roll.dice, how))


def sort_again(chain: Chain, number: int) -> None:
    job = chain.state.sort
    assert job is not None
    chain.add(e.SortBegun(number, job.hand, job.attempt + 1))
