"""The state of a session of matches: who plays, where they sit, what they hold, and the hands booked.

Chips, points and history belong to the player; seats stay where they are (R2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.dice import Dice
from engine.reasons import Transfer
from engine.ruleset import Ruleset
from engine.tiles import SEATS

PHASES: tuple[str, ...] = ("idle", "seating", "dealer", "between", "playing", "ended")
"""No match; throwing for seats; throwing for the first dealer; between hands; a hand is played; a match is over."""


@dataclass(frozen=True, slots=True)
class Player:
    """Somebody who plays: an id for good, and a name if he gave one."""

    id: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a match is played by: the rules (chips, debt among them), the hands and minutes agreed, 0 for no limit."""

    rules: Ruleset
    hands: int = 0
    minutes: int = 0


@dataclass(frozen=True, slots=True)
class Booking:
    """One hand in the book; of every player what he won or lost. `voided`: taken back, kept as a record."""

    match: int
    hand: int
    seats: Mapping[str, str]
    dealer: str
    steps: int
    kind: str
    wins: tuple[Mapping[str, Any], ...]
    source: str | None
    foul: str | None
    points: Mapping[str, int]
    bonus: Mapping[str, int]
    transfers: tuple[Transfer, ...]
    next_dealer: str
    next_steps: int
    voided: bool = False


@dataclass(frozen=True, slots=True)
class Figures:
    """One player over all matches of a session; bookings taken back do not count.

    `golds` are those held in the hands he won. `paid_for` counts the wins on his tiles. `best` is his biggest hand as
    `(points, match, hand)`, None before he ever gained; `bonus` is 课外, apart from the points.
    """

    hands: int = 0
    wins: int = 0
    ways: Mapping[str, int] = field(default_factory=dict)
    golds: int = 0
    paid_for: int = 0
    fouls: int = 0
    points: int = 0
    bonus: int = 0
    best: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """What stays of hands that have left the book: each player's figures; of the match numbered `match` how many hands
    counted to its end (R41), and what they brought each player.
    """

    figures: Mapping[str, Figures] = field(default_factory=dict)
    match: int = 0
    counted: int = 0
    points: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Match:
    """A session, an evening: the match being played and everything booked before. `seats` is seat → player's id.

    `match` counts on over all evenings; `before` is the number of the last match of an earlier one.

    `rolls` are throws for seats by player, oldest first; `swaps_used` are `(player, right)` of this match, `swapped`
    says whether one was made since the last booking, `swaps_booked` how many were before it. `deal` names the player
    who deals: the deal goes with him. `hand` counts the match's hands from 1 as they begin. `book` holds the newest
    hands (`statistics.trimmed`), `past` what those before came to.
    """

    agreement: Agreement | None = None
    phase: str = "idle"
    match: int = 0
    players: tuple[Player, ...] = ()
    seats: Mapping[str, str] = field(default_factory=dict)
    rolls: Mapping[str, tuple[Dice, ...]] = field(default_factory=dict)
    deal: str = ""
    steps: int = 0
    hand: int = 0
    chips: Mapping[str, int] = field(default_factory=dict)
    bonus: Mapping[str, int] = field(default_factory=dict)
    swaps_used: tuple[tuple[str, str], ...] = ()
    swapped: bool = False
    book: tuple[Booking, ...] = ()
    ending: str = ""
    ended: str = ""
    past: Past = field(default_factory=Past)
    before: int = 0
    swaps_booked: int = 0

    @property
    def rules(self) -> Ruleset:
        """The rules of the match; there must be one."""
        assert self.agreement is not None
        return self.agreement.rules

    @property
    def dealer(self) -> str:
        """The seat that deals; empty before the first dealer is known."""
        return self.seat_of(self.deal) if self.deal else ""

    def seat_of(self, player: str) -> str:
        """Where a player sits."""
        return next(seat for seat in SEATS if self.seats.get(seat) == player)

    def chips_by_seat(self) -> dict[str, int]:
        """What every seat holds now."""
        return {seat: self.chips[player] for seat, player in self.seats.items()}

    def last_booking(self) -> Booking | None:
        """The last hand of this match that stands in the book."""
        standing = [one for one in self.book if one.match == self.match and not one.voided]
        return standing[-1] if standing else None
