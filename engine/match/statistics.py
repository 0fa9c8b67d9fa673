"""What the book says of each player: his history and his figures, whichever chair he sat on (R2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from engine.match.state import Booking, Match


@dataclass(frozen=True, slots=True)
class Figures:
    """One player over all matches of a session; bookings taken back do not count.

    `golds` are those held in the hands he won. `paid_for` counts the wins on his tiles. `best` is his biggest hand as
    `(points, match, hand)`, None before he ever gained; `bonus` is 课外, apart from the points.
    """

    hands: int
    wins: int
    ways: Mapping[str, int]
    golds: int
    paid_for: int
    fouls: int
    points: int
    bonus: int
    best: tuple[int, int, int] | None


def history(match: Match, player: str) -> tuple[Booking, ...]:
    """The hands a player sat at, oldest first, without those taken back."""
    return tuple(one for one in match.book if player in one.points and not one.voided)


def figures(match: Match, player: str) -> Figures:
    """A player's figures."""
    hands = history(match, player)
    wins = [win for one in hands for win in one.wins if one.seats[win["seat"]] == player]
    gains = [(one.points[player], one.match, one.hand) for one in hands if one.points[player] > 0]
    return Figures(
        hands=len(hands),
        wins=len(wins),
        ways=dict(Counter(win["way"] for win in wins)),
        golds=sum(win["golds"] or 0 for win in wins),
        paid_for=sum(one.source is not None and one.seats[one.source] == player for one in hands),
        fouls=sum(one.foul is not None and one.seats[one.foul] == player for one in hands),
        points=sum(one.points[player] for one in hands),
        bonus=sum(one.bonus[player] for one in hands),
        best=max(gains, key=lambda gain: (gain[0], -gain[1], -gain[2]), default=None),
    )
