"""A replayed declared hand, or a whole match, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cli.rules_report import (
    ENDS,
    plain_not_allowed,
    plain_outcome,
    plain_unmet,
    told_not_allowed,
    told_outcome,
    told_settlement,
    told_unmet,
)
from cli.rules_words import Words

if TYPE_CHECKING:
    from engine.match.state import Booking
    from engine.record_declared import DeclaredReplay
    from engine.record_match_replay import HandReplayed, MatchReplay
    from engine.record_wants import Unmet

_OVER = {
    "": "the match goes on",
    "empty": "the match is over: somebody has no chips left",
    "hands": "the match is over: all hands agreed on are played",
    "time": "the match is over: the time agreed on is up",
    "agreed": "the match is over, as the players agreed",
}


def declared_report(replayed: DeclaredReplay, missed: tuple[Unmet, ...], verbose: bool) -> Iterator[str]:
    """The lines that tell a declared hand."""
    from engine.record_said import Said, write_said

    words = Words()
    if verbose:
        for line in replayed.record.lines:
            if isinstance(line, Said):
                yield f"{line.line:>5}  {write_said(line)}"
    outcome = replayed.last.end.outcome
    if replayed.illegal is not None:
        yield told_not_allowed(replayed.illegal, words)
    elif replayed.settlement is not None:
        yield f"the hand is {ENDS[outcome.kind]}, as declared"
        yield from told_outcome(outcome, words)
        yield from told_settlement(replayed.settlement, words)
    yield from told_unmet(missed)


def declared_plain(replayed: DeclaredReplay, missed: tuple[Unmet, ...]) -> dict[str, Any]:
    """A declared hand as JSON data."""
    return {
        "rules": replayed.record.rules,
        "declared": True,
        "outcome": plain_outcome(replayed.last.end.outcome) if replayed.settlement is not None else None,
        "illegal": plain_not_allowed(replayed.illegal),
        "settlement": replayed.settlement and replayed.settlement.plain(),
        "unmet": plain_unmet(missed),
    }


def match_report(replayed: MatchReplay, verbose: bool) -> Iterator[str]:
    """The lines that tell a match: a line for each hand, and the final table."""
    words = Words()
    record = replayed.record
    agreed = [f"{record.hands} hands"] if record.hands else []
    agreed += [f"{record.minutes} minutes"] if record.minutes else []
    options = "".join(f", {name} = {value}" for name, value in record.options)
    yield f"match {record.number}: {record.rules}{options}" + (f"; {' or '.join(agreed)}" if agreed else "")
    for hand in replayed.hands:
        if hand.booking is not None:
            yield _told_hand(hand, hand.booking, words)
            if verbose and hand.replayed.settlement is not None:
                yield from (f"    {line}" for line in told_settlement(hand.replayed.settlement, words))
    if replayed.illegal is not None:
        yield told_not_allowed(replayed.illegal, words)
    yield from told_unmet(replayed.unmet)
    yield from _table(replayed)


def _told_hand(hand: HandReplayed, booking: Booking, words: Words) -> str:
    points = "  ".join(f"{seat} {booking.points[player]:+d}" for seat, player in booking.seats.items())
    steps = f" +{booking.steps}" if booking.steps else ""
    void = "   (taken back)" if booking.voided else ""
    how = "declared" if _is_declared(hand) else "played"
    return f"hand {booking.hand:>3}  dealer {booking.dealer}{steps}  {_ended(booking, words)}, {how}:  {points}{void}"


def _is_declared(hand: HandReplayed) -> bool:
    from engine.record_declared import DeclaredReplay

    return isinstance(hand.replayed, DeclaredReplay)


def _ended(booking: Booking, words: Words) -> str:
    if booking.kind == "draw":
        return "drawn 流局"
    if booking.kind == "foul":
        return f"false win 诈胡 of {booking.foul}"
    source = f" of {booking.source}" if booking.source else ""
    return " and ".join(f"{win['seat']} {words.way(win['way'])}{source}" for win in booking.wins)


def _table(replayed: MatchReplay) -> Iterator[str]:
    """Who won and lost what, and what he holds."""
    match = replayed.match
    standing = sum(1 for booking in match.book if not booking.voided)
    yield f"{_OVER[match.ended]}; {standing} hand{'s' if standing != 1 else ''} booked"
    bonus = replayed.bonus if any(replayed.bonus.values()) else {}
    yield "seat  player            points   chips" + ("   bonus 课外" if bonus else "")
    for seat, player in match.seats.items():
        name = next(one.name for one in match.players if one.id == player)
        more = f"   {bonus[player]:+6d}" if bonus else ""
        told = f"{player} {name}".strip()
        yield f"{seat:<4}  {told:<16}  {replayed.points[player]:+6d}  {match.chips[player]:>6}{more}"


def match_plain(replayed: MatchReplay, verbose: bool) -> dict[str, Any]:
    """A match as JSON data."""
    record, match = replayed.record, replayed.match
    return {
        "match": record.number,
        "rules": record.rules,
        "options": dict(record.options),
        "hands_agreed": record.hands,
        "minutes_agreed": record.minutes,
        "players": [{"id": player.id, "name": player.name} for player in record.players],
        "seats": dict(match.seats),
        "hands": [_plain_hand(hand, hand.booking, verbose) for hand in replayed.hands if hand.booking is not None],
        "points": replayed.points,
        "bonus": replayed.bonus,
        "chips": dict(match.chips),
        "by_seat": replayed.by_seat,
        "next": {"dealer": match.dealer or None, "base_steps": match.steps},
        "over": match.ended or None,
        "illegal": plain_not_allowed(replayed.illegal),
        "unmet": plain_unmet(replayed.unmet),
    }


def _plain_hand(hand: HandReplayed, booking: Booking, verbose: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "hand": booking.hand,
        "declared": _is_declared(hand),
        "voided": booking.voided,
        "dealer": booking.dealer,
        "base_steps": booking.steps,
        "kind": booking.kind,
        "wins": [dict(win) for win in booking.wins],
        "from": booking.source,
        "foul": booking.foul,
        "points": _by_seat(booking, booking.points),
        "bonus": _by_seat(booking, booking.bonus),
        "next": {"dealer": booking.next_dealer, "base_steps": booking.next_steps},
    }
    if verbose:
        found["transfers"] = [transfer.plain() for transfer in booking.transfers]
    return found


def _by_seat(booking: Booking, told: Mapping[str, int]) -> dict[str, int]:
    return {seat: told[player] for seat, player in booking.seats.items()}
