"""The state of a hand's book, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.book.fields import counts, needed
from engine.book.sheets import Frame, Reckoning, reckon
from engine.book.words import End, Kong, Page, touched
from engine.chain import Refused
from engine.declared import Sheet
from engine.ruleset import Ruleset
from engine.tiles import SEATS


@dataclass(frozen=True)
class Book:
    """The book of one hand.

    `stage`: `keeping` (play goes on), `entry` (each enters what counts), `agreement` (all look at it), `objection` (one
    writes another version), `vote` (the four decide), `closed` (it is booked).
    `kept`: it began while play went on. `done` seats have said all; `again` asked for the entry once more; `agreed`
    with the settlement. `by` objects, `second` is his version, `votes` are for 1 or 2; who has taken an objection back
    `objected`, once for every time. `turns` counts how often each seat ended the hand, reopened it or went back to the
    entry, `edits` what each has written, said or voted since it ended. `decided` is the version that stands once the
    book is closed, 0 before; `how` it came to be.
    """

    frame: Frame
    stage: str = "keeping"
    kept: bool = True
    first: Page = field(default_factory=Page)
    second: Page | None = None
    done: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    agreed: tuple[str, ...] = ()
    by: str = ""
    votes: Mapping[str, int] = field(default_factory=dict)
    objected: tuple[str, ...] = ()
    turns: Mapping[str, int] = field(default_factory=dict)
    edits: Mapping[str, int] = field(default_factory=dict)
    decided: int = 0
    how: str = ""

    @property
    def rules(self) -> Ruleset:
        """The rules of the hand."""
        return self.frame.rules

    @property
    def end(self) -> End:
        """How the hand ended by the version that is written on."""
        return self.page.end

    @property
    def page(self) -> Page:
        """The version that is written on: the objector's in an objection."""
        return self.second if self.stage == "objection" and self.second is not None else self.first

    @property
    def flowers(self) -> Mapping[str, tuple[str, ...]]:
        """The flowers that lie before each seat."""
        return {seat: self.first.seats[seat].flowers for seat in SEATS}

    @property
    def needed(self) -> tuple[str, ...]:
        """The seats that must say that they have said all."""
        return needed(self.rules, self.first.end, self.again)

    @property
    def reckoned(self) -> Reckoning:
        """What the first version comes to."""
        return self._reckoned("first", self.first)

    @property
    def reckoned_second(self) -> Reckoning:
        """What the objector's version comes to; there must be one."""
        assert self.second is not None, "nobody has objected"
        return self._reckoned("second", self.second)

    @property
    def settleable(self) -> bool:
        """Whether the hand has ended and all that must be said is said and can be settled."""
        said = bool(self.first.end.kind) and all(seat in self.done for seat in self.needed)
        return said and self.reckoned.settlement is not None

    @property
    def closed(self) -> Sheet | None:
        """What is booked; None while the book is open."""
        if not self.decided:
            return None
        return (self.reckoned if self.decided == 1 else self.reckoned_second).sheet

    def missing(self, seat: str, version: int = 1) -> Refused | None:
        """Why a version cannot be settled, as a seat may know it: no tile of a hand that is not shown is named."""
        found = (self.reckoned if version == 1 else self.reckoned_second).missing
        hidden = any(
            said.by_tiles and other != seat and not shown(self, other) for other, said in self.first.seats.items()
        )
        if found is not None and hidden and found.code == "too_many_copies":
            return Refused("tiles_clash", found.rule)
        return found

    def but(self, **changes: Any) -> Book:
        """The book with some fields changed; versions that stay are not reckoned anew."""
        changed = Book(**{**{name: getattr(self, name) for name in self.__dataclass_fields__}, **changes})
        for name in ("first", "second"):
            key = f"_{name}_reckoned"
            same = getattr(changed, name) is getattr(self, name) and changed.done == self.done
            if same and key in self.__dict__:
                changed.__dict__[key] = self.__dict__[key]
        return changed

    def _reckoned(self, name: str, page: Page) -> Reckoning:
        """A version's reckoning, worked out once."""
        key = f"_{name}_reckoned"
        found: Reckoning | None = self.__dict__.get(key)
        if found is None:
            found = self.__dict__[key] = reckon(self.frame, self._that_counts(page))
        return found

    def _that_counts(self, page: Page) -> Page:
        """A version without what seats have begun to enter on which no points rest, so that nobody waits for them."""
        for seat in SEATS:
            said = page.seats[seat]
            begun = said == self.first.seats[seat] and seat not in self.done
            if begun and page.end.kind and not counts(self.rules, page.end, seat):
                page = page.with_seat(seat, touched(said))
        return page


def blank(rules: Ruleset) -> Book:
    """What the first event of a book is folded onto."""
    return Book(Frame(rules))


def shown(book: Book, seat: str) -> bool:
    """Whether a seat's hand lies open: a winner's, and another's that has said all, once the hand has ended."""
    return bool(book.first.end.kind) and (seat in book.first.end.winners or seat in book.done)


def kongs(book: Book) -> Mapping[str, tuple[Kong, ...]]:
    """The kongs told of each seat."""
    return {seat: book.first.seats[seat].kongs for seat in SEATS}


def covered(book: Book) -> tuple[str, ...]:
    """The seats out of the hand (R39)."""
    return book.first.end.covered


def tail_taken(book: Book) -> int:
    """How many tiles were drawn at the tail: one for every flower and every kong told."""
    return sum(len(said.flowers) + len(said.kongs) for said in book.first.seats.values())


PATIENCE = 4
"""How much longer than an agreement the other stages wait for somebody who has gone away."""

PATIENCE_FOR_FLOOR = 4 * PATIENCE
"""How long a vote without a majority waits for the floor, or for somebody to change his mind."""

OWN_RESTARTS = 12
"""How many presses of one seat start the clock of a stage anew; after these it runs on, so that nobody can hold it."""

MOST_TURNS = 8
"""How often one seat may end a hand, reopen it or go back to the entry."""

MOST_OBJECTIONS = 2
"""How many objections of one seat may come to nothing in a hand: it may have taken the first back by mistake."""


def clock(book: Book) -> int:
    """How many times an agreement's time the stage waits before `decide_clock`; 0 while it waits for ever."""
    if book.stage == "agreement":
        return 1
    if book.stage == "vote":
        return PATIENCE if len(book.votes) < len(SEATS) else PATIENCE_FOR_FLOOR
    return PATIENCE if book.stage == "objection" or (book.stage == "entry" and book.first.end.kind) else 0


def decidable(book: Book) -> bool:
    """Whether the floor may decide something: an objection, or an entry that somebody does not end."""
    return book.stage in ("objection", "vote") or (book.stage == "entry" and bool(book.first.end.kind))


def restarts(book: Book) -> int:
    """How often the clock of the stage has been started anew: it never goes back, and grows only with presses that may
    start it, and once all have voted.
    """
    voted = book.stage == "vote" and len(book.votes) == len(SEATS)
    return sum(min(times, OWN_RESTARTS) for times in book.edits.values()) + voted
