"""`decide`: what an action does to a hand's book, or why it is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from engine.book import events as e
from engine.book import params as read
from engine.book.folding import apply
from engine.book.least import least
from engine.book.params import Params
from engine.book.sheets import page_of
from engine.book.state import MOST_OBJECTIONS, MOST_TURNS, Book, blank, decidable
from engine.book.words import End, Page, Said
from engine.book.writing import WRITINGS, Writer, not_ended, written
from engine.chain import Refused
from engine.claims import eight_flowers_win
from engine.declared import Sheet
from engine.outcome import Win
from engine.ruleset import Ruleset
from engine.tiles import FLOWERS, SEATS, sort_tiles

KEEPING: tuple[str, ...] = ("flower", "unflower", "kong", "unkong", "win", "drawn", "foul", "cover", "followed")
ENTRY: tuple[str, ...] = (*WRITINGS, "done", "undone", "reopen")
AGREEMENT: tuple[str, ...] = ("agree", "object", "change")
OBJECTION: tuple[str, ...] = (*WRITINGS, "propose", "withdraw")
VOTE: tuple[str, ...] = ("vote", "withdraw")
"""What may be done in each stage."""

_ENDS = ("win", "drawn", "foul")
_MAJORITY = 3


class _Chain:
    """Events decided so far and the book after them."""

    __slots__ = ("book", "events")

    def __init__(self, book: Book) -> None:
        self.book = book
        self.events: list[e.BookEvent] = []

    def add(self, event: e.BookEvent) -> None:
        self.events.append(event)
        self.book = apply(self.book, event)


def begin_events(
    rules: Ruleset,
    dealer: str,
    gold: str | None,
    steps: int,
    flowers: Mapping[str, Iterable[str]] | None = None,
    covered: Iterable[str] = (),
    sheet: Sheet | None = None,
    stage: str = "keeping",
    chips: Mapping[str, int] | None = None,
    bids: Mapping[str, int] | None = None,
) -> tuple[e.BookEvent, ...]:
    """What happens as a book is opened: empty but for flowers, 盖牌 and bids, or with what a sheet holds of the hand.

    `stage` is `keeping`, `entry` or `agreement`; a sheet that cannot be settled is entered first.
    """
    page = page_of(sheet) if sheet is not None else _first_page(flowers or {}, covered, bids or {})
    chain = _Chain(blank(rules))
    begun = "entry" if stage == "agreement" else stage
    done = SEATS if stage == "agreement" else ()
    chain.add(e.BookBegun(dealer, gold, steps, chips, begun, page, done))
    _eight_flowers(chain)
    _go_on(chain)
    return tuple(chain.events)


def begin(rules: Ruleset, *args: Any, **kwargs: Any) -> Book:
    """The book after `begin_events`."""
    return fold(blank(rules), begin_events(rules, *args, **kwargs))


def fold(book: Book, events: Iterable[e.BookEvent]) -> Book:
    """The book after some events."""
    for event in events:
        book = apply(book, event)
    return book


def decide(book: Book, seat: str, action: str, params: Params | None = None) -> tuple[e.BookEvent, ...]:
    """The events that an action of a seat causes, in order. Refused with a code, the rule and parameters."""
    if seat not in SEATS:
        raise Refused("bad_seat", "R2", {"seat": str(seat)})
    if action not in actions(book, seat):
        code = "not_asked" if action in _KNOWN else "unknown_action"
        raise Refused(code, "P1", {"action": str(action)})
    chain = _Chain(book)
    values = {} if params is None else params
    if action in WRITINGS:
        _write(chain, seat, action, values)
    else:
        step, rule = _STEPS[action]
        if action != "vote":
            read.only(values, rule)
        step(chain, seat, values)
    _go_on(chain)
    return tuple(chain.events)


def decide_clock(book: Book) -> tuple[e.BookEvent, ...]:
    """The events of a stage's time being over: who says nothing agrees, has said all that counts, objects no longer,
    and votes for what was proposed first; a vote without a majority leaves that as it was (P2-P4).
    """
    chain = _Chain(book)
    _TIMES_UP.get(book.stage, _nothing)(chain)
    _go_on(chain)
    return tuple(chain.events)


def decide_floor(book: Book, choice: int) -> tuple[e.BookEvent, ...]:
    """The events of the floor's decision over an objection: 1 at any time of it, 2 once it is proposed. In the entry 1
    ends it as its time does.
    """
    if not decidable(book):
        raise Refused("nothing_to_decide", "P4")
    if isinstance(choice, bool) or choice not in (1, 2):
        raise read.bad("choice", "1 or 2", "P4", allowed=[1, 2])
    if choice == 2 and book.stage != "vote":
        raise Refused("not_proposed", "P4")
    return decide_clock(book) if book.stage == "entry" else (e.BookClosed(choice, "floor"),)


def actions(book: Book, seat: str) -> tuple[str, ...]:
    """The names of what a seat may do now, whatever the values."""
    if book.stage == "entry":
        return ENTRY if book.kept else tuple(name for name in ENTRY if name != "reopen")
    if book.stage == "objection":
        return OBJECTION if seat == book.by else ()
    if book.stage == "vote":
        return VOTE if seat == book.by else ("vote",)
    return {"keeping": KEEPING, "agreement": AGREEMENT}.get(book.stage, ())


def offered(book: Book, seat: str) -> tuple[str, ...]:
    """`actions` without those of the agreement that a seat has used up: its objections (P4), its turns (P2)."""
    if book.stage != "agreement":
        return actions(book, seat)
    used = {"object": not _has_objections(book, seat), "change": not _has_turns(book, seat)}
    return tuple(name for name in actions(book, seat) if not used.get(name))


def _first_page(flowers: Mapping[str, Iterable[str]], covered: Iterable[str], bids: Mapping[str, int]) -> Page:
    seats = {seat: Said(flowers=tuple(sort_tiles(flowers.get(seat, ()))), bid=bids.get(seat, 0)) for seat in SEATS}
    out = tuple(covered)
    return Page(seats, End(covered=tuple(seat for seat in SEATS if seat in out)))


def _write(chain: _Chain, seat: str, action: str, params: Params) -> None:
    """An action that writes, on the version at hand; the words of who had said all are to be ended anew."""
    book, whose, values = chain.book, seat, dict(params)
    if WRITINGS[action].own or action in ("drawn", "followed"):
        whose = read.seat(values, "seat", WRITINGS[action].rule, seat)
        values.pop("seat", None)
        if whose != seat and book.stage != "objection":
            raise read.bad("seat", f"left out, or {seat}", WRITINGS[action].rule)
    before = book.page
    if action in _ENDS and book.stage == "keeping" and any(_has_turns(book, other) for other in SEATS):
        _check_turns(book, seat)
    after = written(Writer(book.frame, before, whose, book.stage == "keeping"), action, values)
    version = 2 if book.stage == "objection" else 1
    for other in SEATS:
        if after.seats[other] != before.seats[other]:
            chain.add(e.SeatWritten(seat, other, after.seats[other], version))
    if after.end != before.end:
        chain.add(e.EndWritten(seat, after.end, version))
    if book.stage == "keeping":
        if action in _ENDS:
            chain.add(e.EntryBegun(""))
        elif action == "flower":
            _eight_flowers(chain)
    elif book.stage == "entry":
        _undo_done(chain, (*SEATS,) if action in (*_ENDS, "unwin") else (seat,))


def _undo_done(chain: _Chain, seats: Iterable[str]) -> None:
    over = tuple(seat for seat in seats if seat in chain.book.done)
    if over:
        chain.add(e.SeatsDone(over, False))


def _eight_flowers(chain: _Chain) -> None:
    """R26: the eighth flower of one seat ends the hand where that wins."""
    book = chain.book
    for seat, said in book.first.seats.items():
        if book.stage == "keeping" and eight_flowers_win(book.rules) and len(said.flowers) == len(FLOWERS):
            wins = (Win(seat, "shuanghuagang"),)
            chain.add(e.EndWritten(seat, not_ended(book.first.end, kind="win", wins=wins), 1))
            chain.add(e.EntryBegun(""))


def _done(chain: _Chain, seat: str, _: Params) -> None:
    """A seat has said all; refused while what it said itself, or what all have said, cannot be settled."""
    book = chain.book
    if seat in book.done:
        raise Refused("already_done", "P2")
    missing = book.but(done=(*book.done, seat)).missing(seat)
    if missing is not None and (_concerns(book, seat, missing) or set(book.needed) <= {*book.done, seat}):
        raise Refused(missing.code, missing.rule, missing.params)
    chain.add(e.SeatsDone((seat,), True))


def _concerns(book: Book, seat: str, missing: Refused) -> bool:
    return missing.params.get("seat") == seat or seat in book.first.end.winners


def _undone(chain: _Chain, seat: str, _: Params) -> None:
    if seat not in chain.book.done:
        raise Refused("not_done", "P2")
    chain.add(e.SeatsDone((seat,), False))


def _reopen(chain: _Chain, seat: str, _: Params) -> None:
    """The hand has not ended. What was entered is kept for the next end, which may be the same once more."""
    _check_turns(chain.book, seat)
    chain.add(e.EndWritten(seat, not_ended(chain.book.first.end), 1))
    chain.add(e.KeepingResumed(seat))


def _check_turns(book: Book, seat: str) -> None:
    """P2: nobody ends and reopens a hand for ever; another seat may do it in his place. Once nobody else may, a hand in
    play can still be ended, for good.
    """
    if not _has_turns(book, seat):
        raise Refused("too_often", "P2", {"times": MOST_TURNS})


def _has_turns(book: Book, seat: str) -> bool:
    return book.turns.get(seat, 0) < MOST_TURNS


def _agree(chain: _Chain, seat: str, _: Params) -> None:
    if seat in chain.book.agreed:
        raise Refused("already_answered", "P3")
    chain.add(e.SeatAgreed(seat))


def _object(chain: _Chain, seat: str, _: Params) -> None:
    """P4: whoever has taken an objection back may object once more, and then no more, so that nobody holds it up."""
    if not _has_objections(chain.book, seat):
        raise Refused("objected_already", "P4", {"times": MOST_OBJECTIONS})
    chain.add(e.SeatObjected(seat))


def _has_objections(book: Book, seat: str) -> bool:
    return book.objected.count(seat) < MOST_OBJECTIONS


def _change(chain: _Chain, seat: str, _: Params) -> None:
    _check_turns(chain.book, seat)
    _undo_done(chain, (seat,))
    chain.add(e.EntryBegun(seat))


def _propose(chain: _Chain, _: str, __: Params) -> None:
    book = chain.book
    if book.second == book.first:
        raise Refused("no_difference", "P4")
    missing = book.missing(book.by, 2)
    if missing is not None:
        raise Refused(missing.code, missing.rule, missing.params)
    chain.add(e.VersionProposed())


def _withdraw(chain: _Chain, _: str, __: Params) -> None:
    chain.add(e.ObjectionWithdrawn())


def _vote(chain: _Chain, seat: str, params: Params) -> None:
    read.only(params, "P4", "choice")
    choice = params.get("choice")
    if isinstance(choice, bool) or choice not in (1, 2):
        raise read.bad("choice", "1 or 2", "P4", allowed=[1, 2])
    if chain.book.votes.get(seat) == choice:
        raise Refused("already_answered", "P4")
    chain.add(e.SeatVoted(seat, choice))


def _go_on(chain: _Chain) -> None:
    """What follows by itself."""
    if chain.book.stage == "entry" and chain.book.settleable:
        chain.add(e.AgreementBegun())
    book = chain.book
    if book.stage == "agreement" and len(book.agreed) == len(SEATS):
        chain.add(e.BookClosed(1, "agreed"))
    if book.stage == "vote":
        for choice in (1, 2):
            if list(book.votes.values()).count(choice) >= _MAJORITY:
                chain.add(e.BookClosed(choice, "vote"))


def _nothing(_: _Chain) -> None:
    """Play has all the time in the world."""


def _entry_over(chain: _Chain) -> None:
    """Somebody has gone away: what he has entered counts, or the least that the end implies where that is no hand."""
    book = chain.book
    if not book.first.end.kind:
        return
    silent = tuple(seat for seat in book.needed if seat not in book.done)
    said = book.but(done=(*book.done, *silent))
    page = least(book.first, silent, lambda version: said.but(first=version).settleable)
    for seat, words in page.seats.items():
        if words != book.first.seats[seat]:
            chain.add(e.SeatWritten("", seat, words, 1))
    if silent:
        chain.add(e.SeatsDone(silent, True))


def _agreement_over(chain: _Chain) -> None:
    chain.add(e.BookClosed(1, "silence"))


def _objection_over(chain: _Chain) -> None:
    chain.add(e.ObjectionWithdrawn())


def _vote_over(chain: _Chain) -> None:
    if len(chain.book.votes) == len(SEATS):
        chain.add(e.BookClosed(1, "silence"))
    for seat in SEATS:
        if seat not in chain.book.votes:
            chain.add(e.SeatVoted(seat, 1))


_TIMES_UP: Mapping[str, Callable[[_Chain], None]] = {
    "entry": _entry_over,
    "agreement": _agreement_over,
    "objection": _objection_over,
    "vote": _vote_over,
}

_STEPS: Mapping[str, tuple[Callable[[_Chain, str, Params], None], str]] = {
    "done": (_done, "P2"),
    "undone": (_undone, "P2"),
    "reopen": (_reopen, "P2"),
    "agree": (_agree, "P3"),
    "object": (_object, "P4"),
    "change": (_change, "P2"),
    "propose": (_propose, "P4"),
    "withdraw": (_withdraw, "P4"),
    "vote": (_vote, "P4"),
}
"""What an action that writes nothing does, and the rule it rests on."""

_KNOWN = frozenset((*KEEPING, *ENTRY, *AGREEMENT, *OBJECTION, *VOTE))
