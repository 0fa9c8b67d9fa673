"""The book of a hand at the table: opened when play begins or is over, closed when everybody has agreed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from engine import book as books
from engine import declarations as d
from engine import events as e
from engine.deciding import Chain
from engine.declared import Sheet, declare, new_sheet
from engine.hands import golds_held
from engine.match import inputs as m
from engine.outcome import Win
from engine.play import hand_end
from engine.scoring import buy_and_top
from engine.sessions import book_hand, steps_now
from engine.state import State, flowers_of
from engine.tiles import SEATS, is_flower


def keep_book(chain: Chain) -> None:
    """Sensing none: play begins, and people tell what counts of it."""
    _open(chain, "keeping", None)


def settle_game(chain: Chain, doubted: tuple[str, ...] = (), called_off: bool = False) -> None:
    """Sensing full: the hand is over; it is booked as it was read. It is agreed on where a reader was corrected, where
    a zone of one of the `doubted` seats showed otherwise as it ended (P8), and where it was called off (P9).
    """
    if doubted:
        chain.add(e.EndDoubted(doubted))
    state = chain.state
    assert state.play.game is not None
    end = hand_end(state.play.game, steps_now(state), *buy_and_top(state.dealer, state.play.bids))
    if state.play.corrected or doubted or called_off:
        _open(chain, "agreement", books.sheet_of(state.match.rules, end))
    else:
        book_hand(chain, m.BookPlayed(end))


def settle_flowers(chain: Chain, winner: str) -> None:
    """Sensing full, R26: all eight flowers win before the gold is opened."""
    state = chain.state
    bids = buy_and_top(state.dealer, state.play.bids)
    sheet = new_sheet(state.match.rules, state.dealer, None, steps_now(state), *bids)
    for seat in SEATS:
        held = Counter(face for face in state.play.hands.get(seat, ()) if not is_flower(face))
        triplets = tuple(face for face, copies in held.items() if copies >= 3)
        sheet = declare(sheet, d.FlowersHeld(seat, flowers_of(state, seat)))
        sheet = declare(sheet, d.GoldsHeld(seat, golds_held(tuple(held.elements()), None)))
        sheet = declare(sheet, d.TripletsHeld(seat, triplets))
    sheet = declare(sheet, d.HandWon((Win(winner, "shuanghuagang"),)))
    _open(chain, "agreement", sheet)
    if not state.play.corrected:
        agreed_by_silence(chain)


def tell(chain: Chain, seat: str, action: str, params: Mapping[str, Any]) -> None:
    """What a seat does in the book."""
    assert chain.state.book is not None
    _said(chain, books.decide(chain.state.book, seat, action, params))


def agreed_by_silence(chain: Chain) -> None:
    """Nobody has objected in time."""
    if chain.state.book is not None:
        _said(chain, books.decide_clock(chain.state.book))


def decided_by_floor(chain: Chain, choice: int) -> None:
    """The floor decides an objection."""
    assert chain.state.book is not None
    _said(chain, books.decide_floor(chain.state.book, choice))


def _open(chain: Chain, stage: str, sheet: Sheet | None) -> None:
    state = chain.state
    gold = state.play.gold.face or None if state.play.gold is not None else None
    begun = books.begin_events(
        state.match.rules,
        state.dealer,
        gold,
        steps_now(state),
        {seat: flowers_of(state, seat) for seat in SEATS},
        sheet=sheet,
        stage=stage,
        chips=state.session.chips_by_seat(),
        bids=state.play.bids,
    )
    chain.add(e.PhaseEntered("play" if stage == "keeping" else "settle"))
    _said(chain, begun)


def _said(chain: Chain, events: tuple[books.BookEvent, ...]) -> None:
    for event in events:
        chain.add(e.BookSaid(event))
    book = chain.state.book
    if book is None:
        return
    if book.closed is not None:
        book_hand(chain, m.BookDeclared(book.closed))
    elif book.stage == "keeping" and not _gold_lies_open(chain.state):
        chain.add(e.PhaseEntered("flowers"))
    elif (book.stage == "keeping") != (chain.state.phase == "play"):
        chain.add(e.PhaseEntered("play" if book.stage == "keeping" else "settle"))


def _gold_lies_open(state: State) -> bool:
    return state.play.gold is not None and state.play.gold.stage == "opened"
