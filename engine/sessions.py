"""The evening at a table: the match begun and ended, hands booked and taken back, seats drawn and swapped (R2, R3)."""

from __future__ import annotations

from engine import events as e
from engine import inputs as i
from engine import match as matches
from engine.book import begin_events as book_begun
from engine.deciding import Chain, Refused
from engine.match import Player
from engine.match import inputs as m
from engine.match.seating import must_throw, swap_rights
from engine.state import State, throw_is_open
from engine.steps import want_deal, want_roll
from engine.tiles import SEATS

UNDO_PHASES: tuple[str, ...] = ("sorting", "lift", "push_in", "row", "bids", "deal_roll", "paused", "ended")
"""Where the last booking can be taken back: between hands, while nothing moves that people wait for."""

SWAP_PHASES: tuple[str, ...] = ("sorting", "lift", "row", "bids", "deal_roll")


def start_session(chain: Chain, asked: i.StartMatch) -> None:
    """The session's part of a match that begins; the players of the evening keep their ids, wherever they sit."""
    session = chain.state.session
    known = {player.id: player for player in session.players}
    ids = [session.seats[seat] for seat in SEATS] if session.seats else [*known] or ["1", "2", "3", "4"]
    players = tuple(
        Player(one, asked.names.get(seat) or known.get(one, Player(one)).name)
        for seat, one in zip(SEATS, ids, strict=True)
    )
    say(
        chain,
        m.StartMatch(players, asked.rules, asked.options, asked.hands, asked.minutes, by_dice=asked.by_dice),
    )
    if asked.by_dice:
        next_for_seat(chain)


def say(chain: Chain, happened: m.MatchInput) -> None:
    """An input to the session, and what it causes."""
    for event in matches.decide(chain.state.session, happened):
        chain.add(e.SessionSaid(event))


def next_for_seat(chain: Chain) -> None:
    """R2: the next player throws for his seat, at the side where he has sat so far."""
    session = chain.state.session
    due = must_throw([player.id for player in session.players], session.rolls)
    if due:
        number = sum(len(rolls) for rolls in session.rolls.values())
        want_roll(chain, "seat", number + 1, SEATS[[player.id for player in session.players].index(due[0])])


def seat_thrown(chain: Chain) -> None:
    """A throw for a seat counts."""
    state = chain.state
    thrown = state.play.rolls[-1]
    player = state.session.players[SEATS.index(thrown.by)]
    say(chain, m.ThrowForSeat(player.id, thrown.dice))
    next_for_seat(chain)


def throw_is_new(state: State) -> bool:
    """Whether a throw for a seat or a swap has been made that the session does not know yet."""
    if state.play.roll is None or state.play.roll.stage != "done":
        return False
    if state.phase == "seating":
        thrown = sum(1 for roll in state.play.rolls if roll.purpose == "seat")
        return thrown > sum(len(rolls) for rolls in state.session.rolls.values())
    _, right, player = state.swap
    return bool(player) and (player, right) not in state.session.swaps_used


def waits_for_seats(state: State) -> bool:
    """Whether people are to sit down where a draw or a swap has put them, or a booking taken back."""
    roll = state.play.roll
    return sits_back(state) or (state.phase in ("seating", "swapping") and roll is not None and roll.stage == "done")


def sits_back(state: State) -> bool:
    """P5: a booking was taken back behind a swap, and its hand is not told anew before all sit where they sat in it."""
    return state.phase == "settle" and state.undoable is not None and bool(state.came_from)


def seats_before(state: State) -> dict[str, str]:
    """Who sat where before the draw or the swap."""
    if state.phase == "seating":
        return {seat: player.id for seat, player in zip(SEATS, state.session.players, strict=True)}
    return dict(state.came_from)


def swap_offers(state: State) -> dict[str, tuple[str, ...]]:
    """R2: the seats that may swap now, and by which rights; nobody while a seat wants the last booking taken back."""
    waiting = state.phase != "deal_roll" or throw_is_open(state)
    if state.phase not in SWAP_PHASES or not waiting or not state.session.seats or state.ending:
        return {}
    if state.undoable is not None and state.undoable.asked_by:
        return {}
    rights = {seat: swap_rights(state.session, player) for seat, player in state.session.seats.items()}
    return {seat: found for seat, found in rights.items() if found}


def ask_swap(chain: Chain, seat: str, right: str) -> None:
    """A seat uses its right: its throw says with whom."""
    nth = 1 + sum(1 for roll in chain.state.play.rolls if roll.purpose == "swap")
    chain.add(e.SwapAsked(seat, right, chain.state.session.seats[seat]))
    want_roll(chain, "swap", nth, seat)


def swap_thrown(chain: Chain) -> None:
    """The throw of a swap counts; who is pointed at by nobody but himself stays where he is."""
    _, right, player = chain.state.swap
    before = dict(chain.state.session.seats)
    say(chain, m.Swap(player, right, chain.state.play.rolls[-1].dice))
    if dict(chain.state.session.seats) == before:
        sit_down(chain, "")


def sit_down(chain: Chain, by: str) -> None:
    """Everybody has changed places; the table goes on where it was, or the hand taken back is told anew."""
    back = "" if sits_back(chain.state) else chain.state.back
    chain.add(e.SeatsTaken(by))
    _ask_deal_anew(chain, back)


def book_hand(chain: Chain, how: m.BookPlayed | m.BookDeclared) -> None:
    """A hand enters the book: what it brought, who deals next, and whether the match goes on (R3, R41, P6)."""
    state = chain.state
    dealt, streak, back = state.session.deal, state.streak, state.back
    say(chain, how)
    session = chain.state.session
    booking = session.last_booking()
    assert booking is not None
    stays = session.deal == dealt
    again = streak if booking.kind == "foul" else streak + 1 if stays else 0
    if back:
        chain.add(e.HandRebooked(session.dealer, again))
    else:
        win = booking.wins[0] if booking.wins else {"seat": "", "way": ""}
        chain.add(e.HandEnded(win["seat"], win["way"], session.dealer, again))
    if session.phase == "ended":
        close_match(chain)
    elif back:
        _ask_deal_anew(chain, back)


def steps_now(state: State) -> int:
    """How often the dealer's base has grown (R31)."""
    return state.session.steps


def ask_undo(chain: Chain, seat: str) -> None:
    """P5: one seat asks, a second one agrees: the booking is void and the hand's book is open again."""
    undoable = chain.state.undoable
    assert undoable is not None
    if seat in undoable.asked_by:
        raise Refused("asked_already", "P5")
    chain.add(e.UndoAsked(seat))
    undoable = chain.state.undoable
    if undoable is None or len(undoable.asked_by) < 2:
        return
    say(chain, m.TakeBack())
    chain.add(e.HandReopened())
    sheet = undoable.sheet
    begun = book_begun(
        sheet.rules,
        sheet.dealer,
        sheet.gold,
        sheet.steps,
        {seat: said.flowers or () for seat, said in sheet.seats.items()},
        covered=sheet.covered,
        sheet=sheet,
        stage="entry",
        chips=chain.state.session.chips_by_seat(),
    )
    for event in begun:
        chain.add(e.BookSaid(event))


def may_undo(state: State) -> bool:
    """Whether the last booking can still be taken back: until the next deal roll begins."""
    if state.undoable is None or state.phase not in UNDO_PHASES:
        return False
    if state.phase == "push_in":
        return not state.parking  # the centre is to close
    return state.phase != "deal_roll" or throw_is_open(state)


def end_match(chain: Chain, how: m.EndMatch | m.TimeUp) -> None:
    """The match ends: at once between hands, else after the hand in play."""
    session = chain.state.session
    if session.phase not in ("idle", "ended"):
        say(chain, how)
    if chain.state.session.phase in ("idle", "ended"):
        close_match(chain)


def end_evening(chain: Chain) -> None:
    """Nothing of the evening's matches stays at the table; where none was played nothing changes."""
    if chain.state.session.agreement is not None:
        chain.add(e.EveningEnded())


def close_match(chain: Chain) -> None:
    """No further hand: who throws for a seat need not, and walls that stand for the next hand are pushed in."""
    if not chain.state.ending:
        chain.add(e.MatchEnding())


def leave_seats(chain: Chain) -> None:
    """The match has ended while seats were drawn or swapped: a throw that has begun ends first."""
    roll = chain.state.play.roll
    if roll is None or roll.stage != "throwing":
        chain.add(e.SeatsTaken(""))


def drop_walls(chain: Chain) -> None:
    """Walls that stand with no hand to come are to be pushed in; a throw that has begun ends first."""
    roll = chain.state.play.roll
    if roll is None or roll.stage != "throwing":
        chain.add(e.HandDropped())


def _ask_deal_anew(chain: Chain, phase: str) -> None:
    """The dealer and his base may be others now: he is the one who is asked to throw, and bids are said anew."""
    if phase in ("bids", "deal_roll") and not chain.state.ending:
        want_deal(chain)
