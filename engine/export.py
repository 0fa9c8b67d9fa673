"""What was played at a table as records (docs/records.md): a hand as it is booked, and a match put together of them.

The rules are written by the name of a ruleset that is shipped and what differs from it, so that a record can be
replayed where a house's own file is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine.declared import Sheet
from engine.match import Match, apply
from engine.match import events as e
from engine.match.state import Booking
from engine.record import Record, write_record
from engine.record_declared import DeclaredRecord, declared_of, write_declared
from engine.record_header import Options, numbered
from engine.record_lines import Want
from engine.record_match import (
    STOPS,
    ExtendedBy,
    HandOf,
    MatchLine,
    MatchRecord,
    StoppedBy,
    Swapped,
    TakenBack,
    ThrownForDealer,
    ThrownForSeat,
    read_hand,
    write_match,
)
from engine.record_replay import record_of
from engine.ruleset import EXAMPLES, PROFILES, Ruleset, has_option, load_ruleset
from engine.scoring import buy_and_top
from engine.tiles import SEATS

if TYPE_CHECKING:
    from engine.state import State


class ExportError(ValueError):
    """Something that cannot be written as a record; the message says what is missing."""


def hand_record(state: State) -> str:
    """The text of the hand that was booked last: as it was played where the table refereed it, else as people told it.

    The state is that behind the booking, before the hand is put away.
    """
    booking = state.session.last_booking()
    if booking is None:
        raise ExportError("no hand is booked")
    rules, options = named_rules(state.session.rules)
    chips = tuple(
        (seat, state.session.chips[player] - booking.points[player]) for seat, player in booking.seats.items()
    )
    about = (f"match {booking.match}, hand {booking.hand}",)
    wants = tuple(_wants(booking))
    if state.book is not None and state.book.closed is not None:
        sheet = state.book.closed
        declared = declared_of(DeclaredRecord(rules, _begun(sheet), (), options, chips, about), sheet)
        return write_declared(replace(declared, lines=(*declared.lines, *wants)))
    if state.play.game is None:
        raise ExportError(f"hand {booking.hand} of match {booking.match} was neither refereed nor told")
    buy, top = buy_and_top(booking.dealer, state.play.bids)
    bids = tuple((seat, points) for seat, points in top.items() if points)
    record = Record(rules, state.play.game.deal, (), options, booking.steps, buy, bids, chips, about)
    played = record_of(record, state.play.entries)
    return write_record(replace(played, lines=(*played.lines, *wants)))


def match_records(events: Iterable[e.MatchEvent], hands: Sequence[str], gone: int = 0) -> dict[int, MatchRecord]:
    """Every match of an evening by its number, from what happened in the session and the texts of its hands.

    `hands` are the texts in the order in which they were booked, those taken back among them. ExportError when there
    are fewer than bookings. So many matches have `gone` before the first that is told.
    """
    texts = iter(hands)
    found: dict[int, MatchRecord] = {}
    ended: dict[int, Match] = {}
    match = Match(match=gone)
    for event in events:
        if match.match == gone and not isinstance(event, e.MatchBegun):
            continue  # the rest of a match of which the beginning has gone
        match = apply(match, event)
        ended[match.match] = match
        if isinstance(event, e.MatchBegun):
            found[match.match] = _begun_match(match, event)
            continue
        lines = found[match.match].lines
        if isinstance(event, e.HandBooked):
            lines = (*lines, _hand(event.booking, texts, found[match.match]))
        elif type(event) in _LINES:
            lines = (*lines, _LINES[type(event)](event))
        elif isinstance(event, e.MatchOver) and event.why in STOPS and not _stopped_before(lines, event.why):
            lines = (*lines, StoppedBy(event.why))
        found[match.match] = replace(found[match.match], lines=lines)
    return {number: replace(one, lines=(*one.lines, *_wants_of_match(ended[number]))) for number, one in found.items()}


def match_record(events: Iterable[e.MatchEvent], hands: Sequence[str], number: int = 0, gone: int = 0) -> str:
    """The text of one match, by its number or the last; the arguments are those of `match_records`."""
    found = match_records(events, hands, gone)
    chosen = number or max(found, default=0)
    if chosen not in found:
        known = ", ".join(map(str, found)) or "none"
        raise ExportError(f"there is no match {chosen or ''}".rstrip() + f"; there are: {known}")
    return write_match(found[chosen])


def named_rules(rules: Ruleset) -> tuple[str, Options]:
    """A ruleset that is shipped, and the options that make these rules of it: a house's own by its parent."""
    name = next((one for one in (rules.name, rules.parent) if one in (*PROFILES, *EXAMPLES)), None)
    if name is None:
        raise ExportError(f"{rules.name} is no ruleset that is shipped, nor made of one")
    return name, tuple(_differing(load_ruleset(name), rules).items())


def _differing(base: Ruleset, rules: Ruleset) -> dict[str, Any]:
    """The options by which rules differ from others."""
    under, over = base.model_dump(mode="json"), rules.model_dump(mode="json")
    return {name: value for name, value in over.items() if value != under[name] and has_option(base, name)}


def _begun(sheet: Sheet) -> Sheet:
    """The sheet as it was before anything was said."""
    return Sheet(sheet.rules, sheet.dealer, sheet.gold, sheet.steps, sheet.buy, sheet.top)


def _wants(booking: Booking) -> Iterator[Want]:
    """What the hand is to come to when it is replayed."""
    yield Want("end", (booking.kind,))
    for name, told in (("net", booking.points), ("bonus", booking.bonus)):
        if name == "net" or any(told.values()):
            words = [(seat, str(told[booking.seats[seat]])) for seat in SEATS]
            yield Want(name, tuple(word for pair in words for word in pair))
    yield Want("next", (booking.next_dealer, str(booking.next_steps)))


def _begun_match(match: Match, event: e.MatchBegun) -> MatchRecord:
    rules, options = named_rules(match.rules)
    players = tuple(replace(player, name=_one_line(player.name)) for player in event.players)
    ruleset = load_ruleset(rules, dict(options))
    return MatchRecord(match.match, rules, ruleset, players, (), options, event.hands, event.minutes, event.by_dice)


def _wants_of_match(match: Match) -> Iterator[Want]:
    """What has come of a match."""
    own = [booking for booking in match.book if booking.match == match.match and not booking.voided]
    yield Want("points", _words({player.id: sum(one.points[player.id] for one in own) for player in match.players}))
    yield Want("chips", _words(match.chips))
    if any(match.bonus.values()):
        yield Want("bonus", _words(match.bonus))
    yield Want("over", (match.ended or "no",))


def _stopped_before(lines: Sequence[MatchLine], why: str) -> bool:
    """Whether the match was stopped for this before a hand was taken back: it ends again with that hand by itself."""
    for line in reversed(lines):
        if isinstance(line, StoppedBy):
            return line.why == why
        if isinstance(line, ExtendedBy) and line.minutes:
            return False
    return False


def _words(told: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(word for player, number in told.items() for word in (player, str(number)))


def _hand(booking: Booking, texts: Iterator[str], match: MatchRecord) -> HandOf:
    """The next text as a hand of the match, its rules said as the match says them."""
    text = next(texts, None)
    if not text:
        raise ExportError(f"hand {booking.hand} of match {booking.match} has no record")
    hand = read_hand(numbered(text), len(text.splitlines()))
    return HandOf(booking.hand, replace(hand, rules=match.rules, options=match.options))


def _one_line(text: str) -> str:
    return " ".join(text.split())


_LINES: Mapping[type[Any], Callable[[Any], MatchLine]] = {
    e.SeatThrown: lambda event: ThrownForSeat(event.player, event.dice),
    e.DealerThrown: lambda event: ThrownForDealer(event.thrower, event.dice),
    e.SeatsSwapped: lambda event: Swapped(event.player, event.right, event.dice),
    e.BookingVoided: lambda event: TakenBack(_one_line(event.why.replace("#", " "))),
    e.MatchExtended: lambda event: ExtendedBy(event.hands, event.minutes),
}
