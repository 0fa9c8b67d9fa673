"""What the book says of each player: his history and his figures, whichever chair he sat on (R2)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

from engine.match.state import Booking, Figures, Match, Past

BOOK_KEPT: Final = 200
"""Hands that stay in the book with all that was paid; of those before only figures are kept."""

_TRIMMED_AT = BOOK_KEPT + 40


def history(match: Match, player: str) -> tuple[Booking, ...]:
    """The hands of the book that a player sat at, oldest first, without those taken back."""
    return tuple(one for one in match.book if player in one.points and not one.voided)


def figures(match: Match, player: str) -> Figures:
    """A player's figures, over the book and what was before it."""
    before = match.past.figures.get(player, Figures())
    return _sum(before, _counted(history(match, player), player))


def points(match: Match, player: str) -> int:
    """What a player has won or lost in this match."""
    before = match.past.points.get(player, 0) if match.past.match == match.match else 0
    here = (one for one in match.book if one.match == match.match and not one.voided)
    return before + sum(one.points.get(player, 0) for one in here)


def hands_counted(match: Match) -> int:
    """R41: how many hands of this match count to its end; a void hand is dealt again (R38)."""
    before = match.past.counted if match.past.match == match.match else 0
    return before + _hands_counted(match.book, match.match)


def trimmed(match: Match) -> Match:
    """The session with a book of bounded length: the oldest hands leave it and count among the figures."""
    if len(match.book) < _TRIMMED_AT:
        return match
    gone, kept = match.book[:-BOOK_KEPT], match.book[-BOOK_KEPT:]
    before = replace(match, book=gone)
    players = {*match.past.figures, *(player for one in gone for player in one.points)}
    past = Past(
        figures={player: figures(before, player) for player in sorted(players)},
        match=match.match,
        counted=hands_counted(before),
        points={player.id: points(before, player.id) for player in match.players},
    )
    return replace(match, book=kept, past=past)


def _hands_counted(book: tuple[Booking, ...], match: int) -> int:
    return sum(1 for one in book if one.match == match and not one.voided and one.kind != "foul")


def _counted(hands: tuple[Booking, ...], player: str) -> Figures:
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
        best=max(gains, key=_by_points, default=None),
    )


def _sum(before: Figures, here: Figures) -> Figures:
    if not before.hands:
        return here
    best = [one for one in (before.best, here.best) if one is not None]
    return Figures(
        before.hands + here.hands,
        before.wins + here.wins,
        {**before.ways, **{way: before.ways.get(way, 0) + count for way, count in here.ways.items()}},
        before.golds + here.golds,
        before.paid_for + here.paid_for,
        before.fouls + here.fouls,
        before.points + here.points,
        before.bonus + here.bonus,
        max(best, key=_by_points, default=None),
    )


def _by_points(gain: tuple[int, int, int]) -> tuple[int, int, int]:
    """The biggest, the first of equal ones."""
    return gain[0], -gain[1], -gain[2]
