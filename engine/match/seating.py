"""Seats by dice, and swaps of seats (R2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.dice import Dice, pointed_seat
from engine.match.state import Match
from engine.tiles import SEATS

Rolls = Mapping[str, tuple[Dice, ...]]


def must_throw(players: Sequence[str], rolls: Rolls) -> tuple[str, ...]:
    """Who has to throw now: all at first, then those whose throws were equal, among themselves."""
    return _must_throw(players, rolls, 0)


def seats_by_dice(players: Sequence[str], rolls: Rolls) -> dict[str, str]:
    """The highest East, then South, West, North; nobody may have to throw any more."""
    ranked = sorted(players, key=lambda player: [sum(dice) for dice in rolls[player]], reverse=True)
    return dict(zip(SEATS, ranked, strict=True))


def swap_rights(match: Match, player: str) -> tuple[str, ...]:
    """R2: the swaps a player may make now, between hands: `win` once a match after a hand that anybody won; `half` and
    `all` once each after he has lost half and all of his chips.
    """
    if match.agreement is None or match.phase not in ("between", "ended") or player not in match.seats.values():
        return ()
    return tuple(right for right in _earned(match, player) if (player, right) not in match.swaps_used)


def partner(match: Match, player: str, dice: Dice) -> str:
    """R1, R2: whom the throw points at, counted from the player; himself on 1, 5 and 9."""
    return match.seats[pointed_seat(match.seat_of(player), dice)]


def _earned(match: Match, player: str) -> tuple[str, ...]:
    kind = match.rules.seat_swaps
    if kind == "after_win":
        last = match.last_booking()
        return ("win",) if last is not None and last.wins else ()
    if kind == "after_losses":
        lost = match.rules.chips - match.chips[player]
        return tuple(
            right for right, share in (("half", match.rules.chips / 2), ("all", match.rules.chips)) if lost >= share
        )
    return ()


def _must_throw(players: Sequence[str], rolls: Rolls, depth: int) -> tuple[str, ...]:
    """Of players whose throws are equal up to `depth`."""
    if len(players) < 2:
        return ()
    waiting = tuple(player for player in players if len(rolls.get(player, ())) <= depth)
    if waiting:
        return waiting
    equal: dict[int, list[str]] = {}
    for player in players:
        equal.setdefault(sum(rolls[player][depth]), []).append(player)
    return tuple(player for group in equal.values() for player in _must_throw(group, rolls, depth + 1))
