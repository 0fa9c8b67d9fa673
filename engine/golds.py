"""Flowers that are laid out and the tile that is flipped: what they lead to (R8-R10, R26)."""

from __future__ import annotations

from engine import events as e
from engine.deciding import Chain
from engine.opening import gold_of, next_to_flip, third_in_a_row, white_stands_for
from engine.settling import settle_flowers
from engine.state import State, gone_from_wall
from engine.steps import next_turn, want_gold_roll, wins_by_flowers
from engine.tiles import SEATS, is_flower


def after_flowers(chain: Chain, seat: str) -> None:
    """A seat has replaced its flowers: all eight win at once (R26), else the next seat's turn."""
    if chain.state.phase != "flowers":
        return
    if wins_by_flowers(chain.state, seat):
        settle_flowers(chain, seat)
    elif chain.state.play.flower_turn is not None:
        next_turn(chain, chain.state.play.flower_turn)


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
            settle_flowers(chain, to)
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


FACES_BELIEVED = 3
"""An entry of a flipped face that no reader knows where to look for is believed the third time that nobody objects."""


def face_stands(chain: Chain) -> None:
    """Nobody objects to the face that was entered; where walls are read, the tile it was taken for stands elsewhere.

    Whether it can be is never said to who enters it, as that depends on hands: when all have agreed and it lies in
    none of the places that are left, it is looked at once more, and at last a hand's reader was wrong.
    """
    state = chain.state
    gold = state.play.gold
    assert gold is not None
    old = state.play.wall.get(gold.position, "")
    if state.reads_tiles and old != gold.entered:
        there = place_of_face(state, gold.entered)
        if there:
            chain.add(e.WallCorrected(gold.entered_by, ((gold.position, gold.entered), (there, old))))
        elif gold.entry < FACES_BELIEVED or is_flower(old):
            chain.add(e.GoldObjected(""))
            return
        else:
            _exchange_with_a_hand(chain, gold.position, gold.entered, old)
    face_known(chain, gold.entered)


def _exchange_with_a_hand(chain: Chain, position: str, face: str, old: str) -> None:
    """Some seat was thought to hold the tile that four people see lie there: it holds the other one."""
    hands = chain.state.play.hands
    seat = next((seat for seat in SEATS if face in hands.get(seat, ())), "")
    if seat:
        held = list(hands[seat])
        held[held.index(face)] = old
        chain.add(e.HandAccepted(seat, tuple(held)))
    chain.add(e.WallCorrected(seat, ((position, face),)))


def place_of_face(state: State, tile: str) -> str:
    """Sensing full: where a face stands in the wall that nobody has seen lie there, the tile to be flipped before all
    others; empty where none does.
    """
    gold, wall = state.play.gold, state.play.wall
    gone = gone_from_wall(state) | {passed.position for passed in state.play.passed}
    places = [place for place, face in wall.items() if face == tile and place not in gone]
    if gold is not None and gold.position in places:
        return gold.position
    return places[-1] if places else ""
