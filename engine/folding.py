"""`apply`: how each event changes the state. Total for every event that `decide` made on that state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine import book as books
from engine import events as e
from engine import match as matches
from engine import play as plays
from engine.book import sheet_of
from engine.changing import replace
from engine.dealing import make_deal, places_left
from engine.opening import lines, side_positions, stand_positions, taking
from engine.outcome import Held
from engine.play import Action
from engine.play import events as p
from engine.play.state import fresh
from engine.ruleset import load_ruleset
from engine.state import (
    CountedRoll,
    Fault,
    GoldState,
    HandState,
    Passed,
    Problem,
    Result,
    Roll,
    Setup,
    SortJob,
    State,
    Undoable,
    gone_from_wall,
)


def apply(state: State, event: e.Event) -> State:
    """The state after an event."""
    changed: State = _FOLDS[type(event)](state, event)
    return changed


def _match_started(state: State, event: e.MatchStarted) -> State:
    setup = Setup(
        rules=load_ruleset(event.rules, event.options),
        layout=event.layout,
        sensing=event.sensing,
        dice=event.dice,
        aid=event.aid,
        hands=event.hands,
        object_ms=event.object_ms,
        take_pace_ms=event.take_pace_ms,
        options=event.options,
        agree_ms=event.agree_ms,
    )
    return State(
        setup=setup,
        session=state.session,
        book_turn=state.book_turn,
        book_said=state.book_said,
        parks=state.parks,
        gold_history=state.gold_history,
        phase="sorting",
        hand=state.hand + 1,
        first_hand=state.hand + 1,
        sets=event.sets,
        faults=state.faults,
        stop=state.stop,
        stops=state.stops,
        clearing=state.clearing,
        unasked=state.unasked,
    )


def _match_ending(state: State, _: e.MatchEnding) -> State:
    return replace(state, ending=True)


def _match_ended(state: State, _: e.MatchEnded) -> State:
    return replace(state, phase="ended")


def _phase(state: State, event: e.PhaseEntered) -> State:
    """Back among the flowers the book that the eighth of them had opened is given up for what it says of them."""
    if event.phase == "flowers" and state.book is not None:
        flowers = dict(state.book.flowers)
        return _play(replace(state, phase="flowers", book=None), flowers=flowers)
    return replace(state, phase=event.phase)


def _with_set(state: State, number: int, where: str) -> tuple[str, ...]:
    return tuple(where if index + 1 == number else old for index, old in enumerate(state.sets))


def _sort_begun(state: State, event: e.SortBegun) -> State:
    return replace(
        state,
        sets=_with_set(state, event.set, "sorting"),
        sort=SortJob(event.set, event.hand, event.attempt),
        problems=_without(state, f"sort-{event.set}"),
    )


def _set_sorted(state: State, event: e.SetSorted) -> State:
    return replace(state, sets=_with_set(state, event.set, "sorted"), sort=None)


def _set_miscounted(state: State, event: e.SetMiscounted) -> State:
    problem = Problem("count", f"sort-{event.set}", "sort", set=event.set, sides=event.sides, hand=state.hand)
    return replace(state, problems=(*state.problems, problem))


def _lift(state: State, _: e.LiftPressed) -> State:
    return replace(state, phase="centre_up")


def _centre_raised(state: State, _: e.CentreRaised) -> State:
    return replace(state, centre="up", phase="push_in")


def _pushed(state: State, _: e.TilesPushed) -> State:
    return replace(state, phase="centre_down")


def _centre_lowered(state: State, _: e.CentreLowered) -> State:
    inside = tuple("inside" if where == "felt" else where for where in state.sets)
    return replace(state, centre="down", sets=inside, phase="sorting")


def _walls_raised(state: State, event: e.WallsRaised) -> State:
    return replace(state, sets=_with_set(state, event.set, "up"))


def _play(state: State, **changes: Any) -> State:
    return replace(state, play=replace(state.play, **changes))


def _wall_read(state: State, event: e.WallRead) -> State:
    places = side_positions(state.match.rules, state.match.layout, event.side)
    assert len(places) == len(stand_positions(state.match.rules, event.side))
    return _play(state, wall={**state.play.wall, **dict(zip(places, event.tiles, strict=True))})


def _wall_rejected(state: State, _: e.WallRejected) -> State:
    """All sides are to be read anew: each under a new attempt, since a board answers a known id from memory."""
    attempts = dict(state.attempts)
    for index in range(4):
        attempts[f"read_wall-{index}"] = attempts.get(f"read_wall-{index}", 1) + 1
    return _play(replace(state, attempts=attempts), wall={})


def _rows_laid(state: State, _: e.RowsLaid) -> State:
    return _play(state, rows_laid=True)


def _roll(state: State, **changes: Any) -> State:
    assert state.play.roll is not None
    return _play(state, roll=replace(state.play.roll, **changes))


_ROLL_PHASES: Mapping[str, str] = {"seat": "seating", "swap": "swapping"}


def _roll_wanted(state: State, event: e.RollWanted) -> State:
    """Asked for again, even after a throw for something else, it is a new attempt, as another seat may be meant."""
    phase = _ROLL_PHASES.get(event.purpose, f"{event.purpose}_roll")
    attempts = _attempts(state)
    roll = Roll(event.purpose, event.nth, event.thrower)
    roll = replace(roll, attempt=attempts.get(_roll_key(roll), 0) + 1)
    return _play(replace(state, phase=phase, attempts=attempts), roll=roll)


def _roll_key(roll: Roll) -> str:
    return f"roll-{roll.index}"


def _attempts(state: State) -> Mapping[str, int]:
    """The attempts with those of the throw that is given up: no id of it may come twice."""
    roll = state.play.roll
    return state.attempts if roll is None else {**state.attempts, _roll_key(roll): roll.attempt}


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
    state = _play(state, rolls=(*state.play.rolls, counted))
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
        return _play(state, first_seat=plan.first_seat, takes=plan.takes, take_shown=1)
    wall = lines(rules, layout, state.dealer, deal)
    takes = (*plan.takes, (state.dealer, (wall.extra,)))
    return _play(state, first_seat=plan.first_seat, takes=takes, take_shown=1, lines=wall)


def _door(state: State) -> State:
    """R6: the door tile goes to the dealer."""
    rules, layout = state.match.rules, state.match.layout
    deal = next(roll.dice for roll in state.play.rolls if roll.purpose == "deal")
    wall = lines(rules, layout, state.dealer, deal, state.play.rolls[-1].dice)
    takes = (*state.play.takes, (state.dealer, (wall.extra,)))
    return _play(state, takes=takes, take_shown=len(takes), lines=wall)


def _dealer_chosen(state: State, event: e.DealerChosen) -> State:
    return replace(state, dealer=event.seat)


def _hand_seen(state: State, event: e.HandSeen) -> State:
    refused = state.play.refused
    if refused is not None and refused[0] == event.seat:
        refused = None
    return _shown(state, event.seat, event.zone, event.tiles, refused=refused)


def _shown(state: State, seat: str, zone: str, tiles: tuple[str, ...], **changes: Any) -> State:
    """A zone lies so, whoever says it."""
    at = (seat, zone)
    looks = {**state.play.looks, at: state.play.looks.get(at, 0) + 1}
    return _play(state, seen={**state.play.seen, at: tiles}, looks=looks, **changes)


def _take_shown(state: State, event: e.TakeShown) -> State:
    return _play(state, take_shown=event.n, takes_done=max(state.play.takes_done, event.n - 1))


def _take_done(state: State, event: e.TakeDone) -> State:
    seat = state.play.takes[event.n - 1][0]
    hands = state.play.hands
    if event.tiles is not None:
        hands = {**hands, seat: hands.get(seat, ()) + event.tiles}
    return _play(state, takes_done=event.n, take_shown=event.n + 1, hands=hands)


def _taking_done(state: State, _: e.TakingDone) -> State:
    total = len(state.play.takes)
    return _play(state, takes_done=total, take_shown=total + 1)


def _hand_accepted(state: State, event: e.HandAccepted) -> State:
    return _play(state, hands={**state.play.hands, event.seat: event.tiles}, corrected=True)


def _with_flowers(state: State, seat: str, flowers: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    return {**state.play.flowers, seat: flowers}


def _flower_declared(state: State, event: e.FlowerDeclared) -> State:
    held = state.play.flowers[event.seat]
    return _play(state, flowers=_with_flowers(state, event.seat, (*held, event.tile)))


def _flower_withdrawn(state: State, event: e.FlowerWithdrawn) -> State:
    held = tuple(face for face in state.play.flowers[event.seat] if face != event.tile)
    return _play(state, flowers=_with_flowers(state, event.seat, held))


def _tail_shifted(state: State, event: e.TailShifted) -> State:
    return _play(state, tail_shift=state.play.tail_shift + event.by)


def _flower_turn(state: State, event: e.FlowerTurn) -> State:
    return _play(state, flower_turn=(event.round, event.place))


def _flowers_replaced(state: State, event: e.FlowersReplaced) -> State:
    held = list(state.play.hands[event.seat])
    for face in event.flowers:
        held.remove(face)
    assert state.play.flower_turn is not None
    number, place = state.play.flower_turn
    return _play(
        state,
        hands={**state.play.hands, event.seat: (*held, *event.tiles)},
        flowers=_with_flowers(state, event.seat, state.play.flowers[event.seat] + event.flowers),
        replaced=state.play.replaced + len(event.positions),
        flower_turn=(number, place + 1),
    )


def _flowers_done(state: State, _: e.FlowersDone) -> State:
    return _play(state, flower_turn=None)


def _gold(state: State, **changes: Any) -> State:
    assert state.play.gold is not None
    return _play(state, gold=replace(state.play.gold, **changes))


def _gold_counted(state: State, event: e.GoldCounted) -> State:
    old = state.play.gold
    flips = 1 if old is None else old.flips + 1
    gold = GoldState(path=event.path, position=event.path[-1], flips=flips)
    return _play(replace(state, phase="gold"), gold=gold)


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
    state = _play(state, passed=(*state.play.passed, passed))
    if event.to:
        held = (*state.play.flowers[event.to], event.tile)
        state = _play(state, flowers=_with_flowers(state, event.to, held))
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


def _session(state: State, event: e.SessionSaid) -> State:
    session = matches.apply(state.session, event.event)
    moved = session.seats != state.session.seats
    came_from = (state.session.seats or session.seats) if moved else state.came_from
    dealer = session.dealer if session.seats and session.deal else ""
    return replace(state, session=session, came_from=came_from, dealer=dealer)


def _book(state: State, event: e.BookSaid) -> State:
    book = books.apply(state.book or books.blank(state.match.rules), event.event)
    turned = state.book is None or book.stage != state.book.stage
    return replace(state, book=book, book_turn=state.book_turn + turned, book_said=state.book_said + 1)


def _play_begun(state: State, _: e.PlayBegun) -> State:
    hand, gold = state.play, state.play.gold
    assert gold is not None and hand.lines is not None
    gone = gone_from_wall(state)
    flips = sum(1 for passed in hand.passed if passed.why == "flower")
    deal = make_deal(
        state.match.rules,
        state.dealer,
        hand.lines,
        gone,
        hand.wall,
        hand.hands,
        hand.flowers,
        flipped=gold.tile,
        flips=flips,
    )
    places = places_left(hand.lines, gone)
    return _play(replace(state, phase="opening"), game=fresh(deal), places=places, entries=(), beat=0)


def _seat_played(state: State, event: e.SeatPlayed) -> State:
    action = Action(event.name, event.tile, event.tiles, event.way, event.kind, event.reason)
    return _play(state, entries=(*state.play.entries, (event.seat, action)), refused=None)


def _window_time_up(state: State, _: e.WindowTimeUp) -> State:
    return _play(state, entries=(*state.play.entries, None))


_NO_BEAT = (p.ClaimAnswered, p.NoFlowers, p.DealerFollowed, p.SeatCovered)
"""Events of play behind which everybody is asked what he was asked before."""


def _played(state: State, event: e.Played) -> State:
    hand = state.play
    assert hand.game is not None
    game = plays.apply(hand.game, event.event)
    beat = hand.beat + (not isinstance(event.event, _NO_BEAT))
    phase = "opening" if game.phase == "opening" else "play"
    return _play(replace(state, phase=phase), game=game, beat=beat)


def _zone_accepted(state: State, event: e.ZoneAccepted) -> State:
    doubted = tuple(one for one in state.play.doubted if one != (event.seat, event.zone))
    return _shown(state, event.seat, event.zone, event.tiles, doubted=doubted, corrected=True)


def _wall_corrected(state: State, event: e.WallCorrected) -> State:
    """The wall as it is now; a game in play is dealt from it anew, as nobody has seen what changed."""
    hand = state.play
    wall = {**hand.wall, **dict(event.tiles)}
    game = hand.game
    if game is not None:
        faces = tuple(wall[position] for position in hand.places)
        game = game.but(deal=replace(game.deal, wall=faces))
    return _play(state, wall=wall, game=game, corrected=True)


def _count_doubted(state: State, event: e.CountDoubted) -> State:
    return _play(state, doubted=(*state.play.doubted, (event.seat, event.zone)))


def _count_right(state: State, event: e.CountRight) -> State:
    return _play(state, doubted=tuple(one for one in state.play.doubted if one != (event.seat, event.zone)))


def _discard_refused(state: State, event: e.DiscardRefused) -> State:
    return _play(state, refused=(event.seat, event.tile, event.code, event.rule))


def _hand_ended(state: State, event: e.HandEnded) -> State:
    gold = state.play.gold
    history = state.gold_history
    if gold is not None and gold.face:
        history = (*history, gold.face)[-2:]
    felt = tuple("felt" if where == "up" else where for where in state.sets)
    booking = state.session.last_booking()
    dealt = booking.dealer if booking is not None else state.dealer
    return replace(
        state,
        phase="sorting",
        hand=state.hand + 1,
        dealer=event.next_dealer,
        streak=event.streak,
        sets=felt,
        attempts={},
        gold_history=history,
        result=Result(state.hand, event.winner, event.way, dealt, event.tiles, booking, _held(state)),
        undoable=Undoable(state.hand, dealt, state.streak, _sheet(state)),
        book=None,
        play=HandState(),
        problems=_of_sorting(state),
    )


def _held(state: State) -> Mapping[str, Held]:
    """What lies open when a hand is over: what was read, or what people have entered tile by tile."""
    if state.book is not None and state.book.closed is not None:
        sheet = state.book.closed
        return {seat: sheet.seats[seat].held(sheet.gold) for seat in sheet.shown}
    if state.play.game is not None and state.play.game.outcome is not None:
        return plays.held(state.play.game)
    return {}


def _sheet(state: State) -> Any:
    if state.book is not None and state.book.closed is not None:
        return state.book.closed
    if state.play.game is not None and state.play.game.outcome is not None:
        booking = state.session.last_booking()
        steps = booking.steps if booking is not None else 0
        return sheet_of(state.match.rules, plays.hand_end(state.play.game, steps))
    return None


def _undo_asked(state: State, event: e.UndoAsked) -> State:
    assert state.undoable is not None
    return replace(state, undoable=replace(state.undoable, asked_by=(*state.undoable.asked_by, event.seat)))


def _undo_kept(state: State, _: e.UndoKept) -> State:
    assert state.undoable is not None
    return replace(state, undoable=replace(state.undoable, asked_by=(), times=state.undoable.times + 1))


def _reopened(state: State, _: e.HandReopened) -> State:
    assert state.undoable is not None
    undoable = replace(state.undoable, asked_by=(), times=state.undoable.times + 1)
    back = "sorting" if state.phase == "ended" else state.phase
    dealer, streak = undoable.dealer, undoable.streak
    return replace(
        state, phase="settle", back=back, undoable=undoable, ending=False, dealer=dealer, streak=streak
    )


def _rebooked(state: State, event: e.HandRebooked) -> State:
    booking = state.session.last_booking()
    assert booking is not None and state.undoable is not None and state.result is not None
    win = booking.wins[0] if booking.wins else {"seat": "", "way": ""}
    result = replace(state.result, winner=win["seat"], way=win["way"], booking=booking, held=_held(state))
    return replace(
        state,
        phase=state.back,
        back="",
        dealer=event.next_dealer,
        streak=event.streak,
        result=result,
        undoable=replace(state.undoable, sheet=_sheet(state) or state.undoable.sheet),
        book=None,
    )


def _seats_taken(state: State, _: e.SeatsTaken) -> State:
    phase = state.back or "sorting"
    state = replace(state, phase=phase, back="", swap=("", "", ""), attempts=_attempts(state))
    return _play(state, roll=None)


def _swap_asked(state: State, event: e.SwapAsked) -> State:
    return replace(state, swap=(event.seat, event.right, event.player), back=state.phase)


def _dropped(state: State, _: e.HandDropped) -> State:
    felt = tuple("felt" if where == "up" else where for where in state.sets)
    problems = _of_sorting(state)
    hand = state.hand + 1
    return replace(state, phase="sorting", hand=hand, sets=felt, attempts={}, play=HandState(), problems=problems)


def _of_sorting(state: State) -> tuple[Problem, ...]:
    """The problems that a hand leaves behind."""
    return tuple(problem for problem in state.problems if problem.verb == "sort")


def _minute(state: State, event: e.MinutePassed) -> State:
    return replace(state, minutes=event.minutes)


def _pause(state: State, event: e.PauseWanted) -> State:
    return replace(state, pausing=event.on)


def _park(state: State, event: e.ParkWanted) -> State:
    return replace(state, parking=event.reason)


def _parked(state: State, _: e.Parked) -> State:
    return replace(state, parked=True, parks=state.parks + 1)


def _unparked(state: State, _: e.Unparked) -> State:
    return replace(state, parking="", parked=False)


def _without(state: State, key: str) -> tuple[Problem, ...]:
    return tuple(problem for problem in state.problems if problem.key != key)


def _broken(state: State, event: e.OperationBroken) -> State:
    problem = Problem("failed", event.step, event.verb, event.fault, event.side, hand=state.hand)
    return replace(state, problems=(*_without(state, event.step), problem))


def _retried(state: State, event: e.OperationRetried) -> State:
    attempts = {**state.attempts, event.step: state.attempts.get(event.step, 1) + 1}
    return replace(state, problems=_without(state, event.step), attempts=attempts)


def _unasked(state: State, event: e.UnaskedThrow) -> State:
    return replace(state, unasked=(event.dice,))


def _fault_noted(state: State, event: e.FaultNoted) -> State:
    kept = tuple(f for f in state.faults if (f.code, f.side) != (event.code, event.side))
    return replace(state, faults=(*kept, Fault(event.code, event.severity, event.mechanism, event.side)))


def _fault_gone(state: State, event: e.FaultGone) -> State:
    return replace(state, faults=tuple(f for f in state.faults if (f.code, f.side) != (event.code, event.side)))


def _stopped(state: State, event: e.Stopped) -> State:
    return replace(state, stop=state.stop or event.reason, stops=state.stops + 1, clearing=False)


def _release_wanted(state: State, _: e.ReleaseWanted) -> State:
    return replace(state, clearing=True)


def _released(state: State, _: e.Released) -> State:
    return replace(state, stop="", clearing=False)


_FOLDS: Mapping[type[Any], Callable[[State, Any], State]] = {
    e.MatchStarted: _match_started,
    e.MatchEnding: _match_ending,
    e.MatchEnded: _match_ended,
    e.PhaseEntered: _phase,
    e.SortBegun: _sort_begun,
    e.SetSorted: _set_sorted,
    e.SetMiscounted: _set_miscounted,
    e.LiftPressed: _lift,
    e.CentreRaised: _centre_raised,
    e.TilesPushed: _pushed,
    e.CentreLowered: _centre_lowered,
    e.WallsRaised: _walls_raised,
    e.WallRead: _wall_read,
    e.WallRejected: _wall_rejected,
    e.RowsLaid: _rows_laid,
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
    e.TakingDone: _taking_done,
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
    e.SessionSaid: _session,
    e.BookSaid: _book,
    e.PlayBegun: _play_begun,
    e.SeatPlayed: _seat_played,
    e.WindowTimeUp: _window_time_up,
    e.Played: _played,
    e.ZoneAccepted: _zone_accepted,
    e.WallCorrected: _wall_corrected,
    e.CountDoubted: _count_doubted,
    e.CountRight: _count_right,
    e.DiscardRefused: _discard_refused,
    e.UndoAsked: _undo_asked,
    e.UndoKept: _undo_kept,
    e.HandReopened: _reopened,
    e.HandRebooked: _rebooked,
    e.SeatsTaken: _seats_taken,
    e.SwapAsked: _swap_asked,
    e.HandDropped: _dropped,
    e.MinutePassed: _minute,
    e.PauseWanted: _pause,
    e.ParkWanted: _park,
    e.Parked: _parked,
    e.Unparked: _unparked,
    e.HandEnded: _hand_ended,
    e.OperationBroken: _broken,
    e.OperationRetried: _retried,
    e.UnaskedThrow: _unasked,
    e.FaultNoted: _fault_noted,
    e.FaultGone: _fault_gone,
    e.Stopped: _stopped,
    e.ReleaseWanted: _release_wanted,
    e.Released: _released,
}
