"""How the opening of a hand changes the state: throws, taking, flowers, the gold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine import events as e
from engine.changing import replace
from engine.folding.shared import attempts_now, roll_key, with_play, zone_shown
from engine.opening import lines, taking
from engine.state import (
    BID,
    SURE_FROM,
    TAKEN,
    CountedRoll,
    GoldState,
    Passed,
    Roll,
    State,
    resumable,
)


def _rows_laid(state: State, _: e.RowsLaid) -> State:
    return with_play(state, rows_laid=True)


def _bids_asked(state: State, _: e.BidsAsked) -> State:
    """Asked for anew, as another may deal, or with another base; a throw that was asked for before is given up."""
    times = state.attempts.get(BID, 0) + 1
    attempts = {**attempts_now(state), BID: times}
    return with_play(replace(state, phase="bids", attempts=attempts), roll=None, bids={})


def _bid_said(state: State, event: e.BidSaid) -> State:
    return with_play(state, bids={**state.play.bids, event.seat: event.points})


def _roll(state: State, **changes: Any) -> State:
    assert state.play.roll is not None
    return with_play(state, roll=replace(state.play.roll, **changes))


_ROLL_PHASES: Mapping[str, str] = {"seat": "seating", "swap": "swapping"}


def _roll_wanted(state: State, event: e.RollWanted) -> State:
    """Asked for again, even after a throw for something else, it is a new attempt, as another seat may be meant."""
    phase = _ROLL_PHASES.get(event.purpose, f"{event.purpose}_roll")
    attempts = attempts_now(state)
    roll = Roll(event.purpose, event.nth, event.thrower)
    roll = replace(roll, attempt=attempts.get(roll_key(roll), 0) + 1)
    return with_play(replace(state, phase=phase, attempts=attempts), roll=roll)


def _roll_begun(state: State, event: e.RollBegun) -> State:
    return _roll(replace(state, unasked=()), stage="throwing", by=event.by, dice=None, spoilt="")


def _roll_spoilt(state: State, event: e.RollSpoilt) -> State:
    assert state.play.roll is not None
    roll = state.play.roll
    return _roll(
        state,
        stage="wanted",
        attempt=roll.attempt + 1,
        thrower=roll.thrower or roll.by,
        by="",
        spoilt=event.reason,
        witnesses={},
        dice=None,
    )


def _dice_lie(state: State, _: e.DiceLie) -> State:
    return _roll(state, stage="entering")


def _dice_entered(state: State, event: e.DiceEntered) -> State:
    assert state.play.roll is not None
    by = state.play.roll.by or event.by
    return _roll(state, stage="checking", dice=event.dice, entered_by=event.by, by=by, agreed=())


def _dice_agreed(state: State, event: e.DiceAgreed) -> State:
    assert state.play.roll is not None
    return _roll(state, agreed=(*state.play.roll.agreed, event.by))


def _dice_objected(state: State, _: e.DiceObjected) -> State:
    assert state.play.roll is not None
    return _roll(state, stage="entering", dice=None, entry=state.play.roll.entry + 1)


def _dice_lost(state: State, _: e.DiceLost) -> State:
    return _roll(state, stage="lost", witnesses={})


def _dice_witnessed(state: State, event: e.DiceWitnessed) -> State:
    assert state.play.roll is not None
    return _roll(state, witnesses={**state.play.roll.witnesses, event.seat: event.dice})


def _dice_rolled(state: State, event: e.DiceRolled) -> State:
    counted = CountedRoll(event.purpose, event.by, event.dice, event.how)
    state = _roll(replace(state, unasked=()), stage="done", by=event.by, dice=event.dice)
    state = with_play(state, rolls=(*state.play.rolls, counted))
    if event.purpose == "deal":
        return _deal(replace(state, undoable=None))
    if event.purpose == "door":
        return _door(state)
    return state


def _deal(state: State) -> State:
    """R4, R5: the takes; in 直推 the dealer's last tile is one of them and the wall's ends are known."""
    rules, layout = state.match.rules, state.match.layout
    deal = state.play.rolls[-1].dice
    plan = taking(rules, layout, state.dealer, deal)
    if layout == "bagua":
        return with_play(state, first_seat=plan.first_seat, takes=plan.takes, take_shown=1)
    wall = lines(rules, layout, state.dealer, deal)
    takes = (*plan.takes, (state.dealer, (wall.extra,)))
    return with_play(state, first_seat=plan.first_seat, takes=takes, take_shown=1, lines=wall)


def _door(state: State) -> State:
    """R6: the door tile goes to the dealer."""
    rules, layout = state.match.rules, state.match.layout
    deal = next(roll.dice for roll in state.play.rolls if roll.purpose == "deal")
    wall = lines(rules, layout, state.dealer, deal, state.play.rolls[-1].dice)
    takes = (*state.play.takes, (state.dealer, (wall.extra,)))
    return with_play(state, takes=takes, take_shown=len(takes), lines=wall)


def _dealer_chosen(state: State, event: e.DealerChosen) -> State:
    return replace(state, dealer=event.seat)


def _hand_seen(state: State, event: e.HandSeen) -> State:
    refused = state.play.refused
    if refused is not None and refused[0] == event.seat:
        refused = None
    sure = event.confidence >= SURE_FROM
    return zone_shown(state, event.seat, event.zone, event.tiles, sure, refused=refused)


def _take_shown(state: State, event: e.TakeShown) -> State:
    return with_play(state, take_shown=event.n, takes_done=max(state.play.takes_done, event.n - 1))


def _take_done(state: State, event: e.TakeDone) -> State:
    seat = state.play.takes[event.n - 1][0]
    hands = state.play.hands
    if event.tiles is not None:
        hands = {**hands, seat: hands.get(seat, ()) + event.tiles}
    return with_play(state, takes_done=event.n, take_shown=event.n + 1, hands=hands)


def _group_presented(state: State, event: e.GroupPresented) -> State:
    return with_play(state, presented=event.n)


def _taking_done(state: State, event: e.TakingDone) -> State:
    total = len(state.play.takes)
    left = state.play.take_shown if event.by else 0
    return with_play(state, takes_done=total, take_shown=total + 1, take_left=left)


def _taking_resumed(state: State, _: e.TakingResumed) -> State:
    """A throw that was asked for since is given up; no id of the taking comes twice."""
    attempts = {**attempts_now(state), TAKEN: state.attempts.get(TAKEN, 1) + 1}
    shown, roll = state.play.take_left, state.play.roll
    state = replace(state, phase=resumable(state), attempts=attempts)
    kept = roll if roll is not None and roll.stage == "done" else None
    return with_play(state, roll=kept, takes_done=shown - 1, take_shown=shown, take_left=0)


def _hand_accepted(state: State, event: e.HandAccepted) -> State:
    return with_play(state, hands={**state.play.hands, event.seat: event.tiles}, corrected=True)


def _with_flowers(state: State, seat: str, flowers: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    return {**state.play.flowers, seat: flowers}


def _flower_declared(state: State, event: e.FlowerDeclared) -> State:
    held = state.play.flowers[event.seat]
    return with_play(state, flowers=_with_flowers(state, event.seat, (*held, event.tile)))


def _flower_withdrawn(state: State, event: e.FlowerWithdrawn) -> State:
    held = tuple(face for face in state.play.flowers[event.seat] if face != event.tile)
    return with_play(state, flowers=_with_flowers(state, event.seat, held))


def _tail_shifted(state: State, event: e.TailShifted) -> State:
    return with_play(state, tail_shift=state.play.tail_shift + event.by)


def _flower_turn(state: State, event: e.FlowerTurn) -> State:
    return with_play(state, flower_turn=(event.round, event.place))


def _flowers_replaced(state: State, event: e.FlowersReplaced) -> State:
    held = list(state.play.hands[event.seat])
    for face in event.flowers:
        held.remove(face)
    assert state.play.flower_turn is not None
    number, place = state.play.flower_turn
    return with_play(
        state,
        hands={**state.play.hands, event.seat: (*held, *event.tiles)},
        flowers=_with_flowers(state, event.seat, state.play.flowers[event.seat] + event.flowers),
        replaced=state.play.replaced + len(event.positions),
        flower_turn=(number, place + 1),
    )


def _flowers_done(state: State, _: e.FlowersDone) -> State:
    return with_play(state, flower_turn=None)


def _gold(state: State, **changes: Any) -> State:
    assert state.play.gold is not None
    return with_play(state, gold=replace(state.play.gold, **changes))


def _gold_counted(state: State, event: e.GoldCounted) -> State:
    old = state.play.gold
    flips = 1 if old is None else old.flips + 1
    gold = GoldState(path=event.path, position=event.path[-1], flips=flips)
    return with_play(replace(state, phase="gold"), gold=gold)


def _gold_entered(state: State, event: e.GoldEntered) -> State:
    return _gold(state, stage="checking", entered=event.tile, entered_by=event.by, agreed=())


def _gold_agreed(state: State, event: e.GoldAgreed) -> State:
    assert state.play.gold is not None
    return _gold(state, agreed=(*state.play.gold.agreed, event.by))


def _gold_objected(state: State, _: e.GoldObjected) -> State:
    assert state.play.gold is not None
    return _gold(state, stage="flipping", entered="", entered_by="", entry=state.play.gold.entry + 1)


def _gold_passed(state: State, event: e.GoldPassed) -> State:
    passed = Passed(event.position, event.tile, event.why, event.to)
    state = with_play(state, passed=(*state.play.passed, passed))
    if event.to:
        held = (*state.play.flowers[event.to], event.tile)
        state = with_play(state, flowers=_with_flowers(state, event.to, held))
    return state


def _next_flipped(state: State, event: e.NextFlipped) -> State:
    assert state.play.gold is not None
    return _gold(
        state,
        path=(*state.play.gold.path, event.position),
        position=event.position,
        stage="flipping",
        flips=state.play.gold.flips + 1,
        entered="",
        entered_by="",
    )


def _gold_opened(state: State, event: e.GoldOpened) -> State:
    return _gold(state, stage="opened", position=event.position, tile=event.tile, face=event.face, white=event.white)


OPENING_FOLDS: Mapping[type[Any], Callable[[State, Any], State]] = {
    e.RowsLaid: _rows_laid,
    e.BidsAsked: _bids_asked,
    e.BidSaid: _bid_said,
    e.RollWanted: _roll_wanted,
    e.RollBegun: _roll_begun,
    e.RollSpoilt: _roll_spoilt,
    e.DiceLie: _dice_lie,
    e.DiceEntered: _dice_entered,
    e.DiceAgreed: _dice_agreed,
    e.DiceObjected: _dice_objected,
    e.DiceLost: _dice_lost,
    e.DiceWitnessed: _dice_witnessed,
    e.DiceRolled: _dice_rolled,
    e.DealerChosen: _dealer_chosen,
    e.HandSeen: _hand_seen,
    e.TakeShown: _take_shown,
    e.TakeDone: _take_done,
    e.GroupPresented: _group_presented,
    e.TakingDone: _taking_done,
    e.TakingResumed: _taking_resumed,
    e.HandAccepted: _hand_accepted,
    e.FlowerDeclared: _flower_declared,
    e.FlowerWithdrawn: _flower_withdrawn,
    e.TailShifted: _tail_shifted,
    e.FlowerTurn: _flower_turn,
    e.FlowersReplaced: _flowers_replaced,
    e.FlowersDone: _flowers_done,
    e.GoldCounted: _gold_counted,
    e.GoldEntered: _gold_entered,
    e.GoldAgreed: _gold_agreed,
    e.GoldObjected: _gold_objected,
    e.GoldPassed: _gold_passed,
    e.NextFlipped: _next_flipped,
    e.GoldOpened: _gold_opened,
}
