"""The procedure at a table: what follows by itself when something has happened.

It reads top to bottom: (seats) → sorted → lift → walls → (dealer roll) → (row) → (bids) → deal roll → taking →
(door) → flowers → gold roll → gold → play → settlement → next hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine import events as e
from engine.closing import park_at_rest
from engine.deciding import Chain
from engine.dice import pointed_seat
from engine.golds import after_flowers
from engine.match import inputs as m
from engine.refereeing import begin_play, follow
from engine.sessions import drop_walls, leave_seats, say, seat_thrown, swap_thrown, throw_is_new
from engine.settling import keep_book
from engine.state import hand_agrees
from engine.steps import count_gold, next_turn, record_step, want_deal, want_gold_roll, want_roll
from engine.tiles import SEATS


def go_on(chain: Chain) -> None:
    """Whatever follows without anybody doing anything, until the table waits for something; nothing at a parked one."""
    while not chain.state.parked:
        before = len(chain.events)
        _pause_between_hands(chain)
        _sort_what_lies_inside(chain)
        _NEXT.get(chain.state.phase, _wait)(chain)
        park_at_rest(chain)
        if len(chain.events) == before:
            return


def _wait(_: Chain) -> None:
    return


def _pause_between_hands(chain: Chain) -> None:
    """The floor's pause begins once a hand is booked, and is over as soon as the floor says so."""
    state = chain.state
    if state.phase == "paused" and (state.ending or not state.pausing):
        chain.add(e.PhaseEntered("sorting"))
    elif state.pausing and not state.ending and state.phase in ("sorting", "lift") and state.undoable is not None:
        chain.add(e.PhaseEntered("paused"))


def _sort_what_lies_inside(chain: Chain) -> None:
    """The machine sorts one set at a time, and only with the centre closed; a stacked set must rise first."""
    state = chain.state
    if state.parking or state.setup is None or state.phase in ("centre_up", "push_in", "centre_down", "idle"):
        return
    if state.phase == "settle" and state.centre == "up":
        return  # a booking was taken back while the tiles are pushed in
    if state.sort is None and "sorted" not in state.sets and "inside" in state.sets:
        chain.add(e.SortBegun(state.sets.index("inside") + 1, state.hand, 1))


def _prepare(chain: Chain) -> None:
    """Between hands: a stacked set waits → felt is cleared → its walls rise; a table with one set clears first."""
    sets = chain.state.sets
    if chain.state.parking:
        return
    if chain.state.ending and "felt" not in sets:
        chain.add(e.MatchEnded())
    elif "sorting" in sets:
        return
    elif "felt" in sets:
        chain.add(e.PhaseEntered("lift"))
    elif "sorted" in sets:
        chain.add(e.PhaseEntered("walls"))


def _walls(chain: Chain) -> None:
    if "up" not in chain.state.sets:
        return
    if chain.state.reads_tiles:
        chain.add(e.PhaseEntered("reading"))
    else:
        _walls_stand(chain)


def _reading(chain: Chain) -> None:
    if chain.state.ending and any(problem.verb == "read_wall" for problem in chain.state.problems):
        chain.add(e.HandDropped())
    elif {position[0] for position in chain.state.play.wall} == set(SEATS):
        _walls_stand(chain)


def _walls_stand(chain: Chain) -> None:
    state = chain.state
    if state.ending:
        chain.add(e.HandDropped())
    elif not state.dealer:
        thrower = "E" if state.match.rules.first_dealer == "east_rolls" else ""
        want_roll(chain, "dealer", 1, thrower)
    elif state.match.layout == "bagua" and not state.play.rows_laid:
        chain.add(e.PhaseEntered("row"))
    else:
        want_deal(chain)


def _dealer_roll(chain: Chain) -> None:
    roll = chain.state.play.roll
    assert roll is not None
    if chain.state.ending:
        drop_walls(chain)
    elif not _thrown_by_hand(chain) and roll.stage == "done" and roll.dice is not None:
        say(chain, m.ThrowForDealer(roll.by, roll.dice))
        chain.add(e.DealerChosen(pointed_seat(roll.by, roll.dice)))
        _walls_stand(chain)


def _thrown_by_hand(chain: Chain) -> bool:
    """Dice thrown by hand need no machine: they are entered as soon as they are wanted."""
    roll = chain.state.play.roll
    assert roll is not None
    if chain.state.match.dice != "hand" or roll.stage != "wanted":
        return False
    chain.add(e.RollBegun(roll.thrower))
    chain.add(e.DiceLie())
    return True


def _row(chain: Chain) -> None:
    if chain.state.ending:
        drop_walls(chain)
    elif chain.state.play.rows_laid:
        want_deal(chain)


def _bids(chain: Chain) -> None:
    """P7: the dice wait until all four have said what they bid, or their time is over."""
    if chain.state.ending:
        drop_walls(chain)
    elif len(chain.state.play.bids) == len(SEATS):
        want_roll(chain, "deal", 1, chain.state.dealer)


def _deal_roll(chain: Chain) -> None:
    """What was booked before stands for good once the deal roll counts."""
    if chain.state.ending:
        drop_walls(chain)
    elif not _thrown_by_hand(chain) and _roll_is_done(chain):
        say(chain, m.BeginHand())
        chain.add(e.PhaseEntered("taking"))


def _roll_is_done(chain: Chain) -> bool:
    return chain.state.play.roll is not None and chain.state.play.roll.stage == "done"


def _taking(chain: Chain) -> None:
    state = chain.state
    if state.play.takes_done == len(state.play.takes):
        if state.match.layout == "bagua":
            want_roll(chain, "door", 1, state.play.first_seat)
        else:
            _after_taking(chain)
    elif state.reads_tiles:
        _step_when_seen(chain)


def _door_roll(chain: Chain) -> None:
    if not _thrown_by_hand(chain) and _roll_is_done(chain):
        chain.add(e.PhaseEntered("door"))


def _door(chain: Chain) -> None:
    if chain.state.play.takes_done == len(chain.state.play.takes):
        _after_taking(chain)
    elif chain.state.reads_tiles:
        _step_when_seen(chain)


def _after_taking(chain: Chain) -> None:
    if not chain.state.match.rules.has_flowers:
        want_gold_roll(chain)
        return
    chain.add(e.PhaseEntered("flowers"))
    if chain.state.reads_tiles:
        next_turn(chain, (1, 0))


def _flowers(chain: Chain) -> None:
    if chain.state.reads_tiles:
        _step_when_seen(chain)


def _step_when_seen(chain: Chain) -> None:
    for seat in SEATS:
        if hand_agrees(chain.state, seat):
            record_step(chain, seat)
            after_flowers(chain, seat)
            return


def _gold_roll(chain: Chain) -> None:
    if not _thrown_by_hand(chain) and _roll_is_done(chain):
        count_gold(chain)


def _gold(chain: Chain) -> None:
    gold = chain.state.play.gold
    if gold is None or gold.stage != "opened":
        return
    if chain.state.reads_tiles:
        begin_play(chain)
    else:
        keep_book(chain)


def _play(chain: Chain) -> None:
    if chain.state.reads_tiles:
        follow(chain)


def _seating(chain: Chain) -> None:
    """R2: the throws that draw the seats, one player after the other."""
    if chain.state.ending:
        leave_seats(chain)
    elif not _thrown_by_hand_if_any(chain) and throw_is_new(chain.state):
        seat_thrown(chain)


def _swapping(chain: Chain) -> None:
    """R2: the throw that says with whom a player changes places."""
    if chain.state.ending:
        leave_seats(chain)
    elif not _thrown_by_hand_if_any(chain) and throw_is_new(chain.state):
        swap_thrown(chain)


def _thrown_by_hand_if_any(chain: Chain) -> bool:
    return chain.state.play.roll is not None and _thrown_by_hand(chain)


_NEXT: Mapping[str, Callable[[Chain], None]] = {
    "sorting": _prepare,
    "walls": _walls,
    "reading": _reading,
    "dealer_roll": _dealer_roll,
    "row": _row,
    "bids": _bids,
    "deal_roll": _deal_roll,
    "taking": _taking,
    "door_roll": _door_roll,
    "door": _door,
    "flowers": _flowers,
    "gold_roll": _gold_roll,
    "gold": _gold,
    "opening": _play,
    "play": _play,
    "seating": _seating,
    "swapping": _swapping,
}
