"""A match replayed from its record: every hand refereed or settled anew, with the chips as they stand by then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from engine.chain import Refused
from engine.match import Match, apply, decide
from engine.match import inputs as i
from engine.match.state import Booking
from engine.outcome import HandEnd
from engine.play import hand_end
from engine.record import Record
from engine.record_declared import DeclaredRecord, DeclaredReplay, replay_declared, unmet_declared
from engine.record_lines import NotAllowed, Want
from engine.record_match import (
    ExtendedBy,
    HandOf,
    MatchLine,
    MatchRecord,
    StoppedBy,
    Swapped,
    TakenBack,
    ThrownForDealer,
    ThrownForSeat,
    match_line,
)
from engine.record_replay import Replay, replay, why_not
from engine.record_wants import Unmet, unmet
from engine.tiles import SEATS

HandReplay: TypeAlias = Replay | DeclaredReplay


@dataclass(frozen=True, slots=True)
class HandReplayed:
    """A hand of the match, carried out; `booking` as it entered the book, None where it could not."""

    line: HandOf
    replayed: HandReplay
    booking: Booking | None


@dataclass(frozen=True, slots=True)
class MatchReplay:
    """A match carried out to its end or to the first line that cannot be.

    `match` is the session after it; `unmet` are wants that do not hold, those within hands among them.
    """

    record: MatchRecord
    match: Match
    hands: tuple[HandReplayed, ...]
    illegal: NotAllowed | None
    unmet: tuple[Unmet, ...]

    @property
    def points(self) -> dict[str, int]:
        """What every player has won or lost, hands taken back aside."""
        return _of_players(self.match, lambda booking: booking.points)

    @property
    def bonus(self) -> dict[str, int]:
        """课外 of every player."""
        return _of_players(self.match, lambda booking: booking.bonus)

    @property
    def by_seat(self) -> dict[str, int]:
        """What every seat has won or lost, whoever sat there."""
        found = dict.fromkeys(SEATS, 0)
        for booking in self.match.book:
            for seat, player in booking.seats.items():
                found[seat] += 0 if booking.voided else booking.points[player]
        return found


class _Stop(Exception):
    """A line of a match that cannot be carried out."""

    def __init__(self, stopped: NotAllowed) -> None:
        super().__init__(stopped.code)
        self.stopped = stopped


class _Evening:
    """The match as far as it is replayed."""

    def __init__(self, record: MatchRecord) -> None:
        self.record = record
        self.match = Match(match=record.number - 1)
        self.hands: list[HandReplayed] = []
        self.unmet: list[Unmet] = []

    def begin(self) -> None:
        """The players sit down."""
        record = self.record
        options = dict(record.options)
        asked = i.StartMatch(record.players, record.rules, options, record.hands, record.minutes, record.by_dice)
        self._do(asked, 1, "match")

    def carry_out(self, line: MatchLine) -> None:
        """One line; _Stop when it cannot be."""
        if isinstance(line, Want):
            found = _found(self, line)
            if found is not None:
                self.unmet.append(Unmet(line, found))
        elif isinstance(line, HandOf):
            self._hand(line)
        else:
            self._do(_INPUTS[type(line)](line), line.line, match_line(line))

    def _do(self, asked: i.MatchInput, line: int, text: str) -> None:
        try:
            for event in decide(self.match, asked):
                self.match = apply(self.match, event)
        except Refused as refused:
            raise _Stop(NotAllowed(line, text, refused.code, refused.rule, refused.params)) from refused

    def _hand(self, line: HandOf) -> None:
        if self.match.phase == "between":
            self._do(i.BeginHand(), line.line, match_line(line))
        self._check(line)
        hand = replace(line.hand, chips=tuple(self.match.chips_by_seat().items()))
        replayed: HandReplay = replay(hand) if isinstance(hand, Record) else replay_declared(hand)
        self.hands.append(HandReplayed(line, replayed, None))
        missed = unmet(replayed) if isinstance(replayed, Replay) else unmet_declared(replayed)
        self.unmet += missed
        stopped = why_not(replayed) if isinstance(replayed, Replay) else replayed.illegal
        if stopped is not None:
            raise _Stop(stopped)
        if replayed.settlement is None:
            raise _Stop(NotAllowed(line.line, match_line(line), "hand_not_over", "P6"))
        self._do(_booked(replayed), line.line, match_line(line))

    def _check(self, line: HandOf) -> None:
        """R3, R41, P6: the hand is the next one, dealt by whom it should be, with the chips that are there."""
        match, hand = self.match, line.hand
        text = match_line(line)
        if match.phase != "playing":
            raise _Stop(NotAllowed(line.line, text, "not_between_hands", "P6", {"phase": match.phase}))
        if line.number != match.hand:
            raise _Stop(NotAllowed(line.line, text, "other_hand", "P6", {"hand": match.hand}))
        dealer, steps = _dealt(hand)
        if (dealer, steps) != (match.dealer, match.steps):
            raise _Stop(NotAllowed(line.line, text, "other_deal", "R3", {"seat": match.dealer, "steps": match.steps}))
        held = match.chips_by_seat()
        if hand.chips and dict(hand.chips) != held:
            raise _Stop(NotAllowed(line.line, text, "other_chips", "R41", held))


def replay_match(record: MatchRecord) -> MatchReplay:
    """The match carried out to its end or to the first line that cannot be."""
    evening = _Evening(record)
    illegal = None
    try:
        evening.begin()
        for line in record.lines:
            evening.carry_out(line)
    except _Stop as stop:
        illegal = stop.stopped
    book = evening.match.book
    hands = tuple(
        replace(hand, booking=book[place]) if place < len(book) else hand for place, hand in enumerate(evening.hands)
    )
    return MatchReplay(record, evening.match, hands, illegal, tuple(evening.unmet))


def _dealt(hand: Record | DeclaredRecord) -> tuple[str, int]:
    return (hand.deal.dealer, hand.steps) if isinstance(hand, Record) else (hand.sheet.dealer, hand.sheet.steps)


def _booked(replayed: HandReplay) -> i.BookPlayed | i.BookDeclared:
    if isinstance(replayed, DeclaredReplay):
        return i.BookDeclared(replayed.last)
    return i.BookPlayed(_end(replayed))


def _end(replayed: Replay) -> HandEnd:
    record = replayed.record
    return hand_end(replayed.last, record.steps, record.buy, {**dict.fromkeys(SEATS, 0), **dict(record.top)})


def _of_players(match: Match, told: Callable[[Booking], Mapping[str, int]]) -> dict[str, int]:
    standing = [booking for booking in match.book if not booking.voided]
    return {player.id: sum(told(booking)[player.id] for booking in standing) for player in match.players}


_INPUTS: Mapping[type[Any], Callable[[Any], i.MatchInput]] = {
    ThrownForSeat: lambda line: i.ThrowForSeat(line.player, line.dice),
    ThrownForDealer: lambda line: i.ThrowForDealer(line.seat, line.dice),
    TakenBack: lambda line: i.TakeBack(line.why),
    Swapped: lambda line: i.Swap(line.player, line.right, line.dice),
    ExtendedBy: lambda line: i.Extend(line.hands, line.minutes),
    StoppedBy: lambda line: i.TimeUp() if line.why == "time" else i.EndMatch(),
}


def _found(evening: _Evening, want: Want) -> str | None:
    """None when a want between hands holds, else what is so."""
    match = evening.match
    if want.kind in ("next", "seats", "over"):
        words = {
            "next": (match.dealer or "nobody", str(match.steps)),
            "seats": tuple(word for seat in SEATS for word in (seat, match.seats.get(seat, "-"))),
            "over": (match.ended or "no",),
        }[want.kind]
        return None if words == want.words else " ".join(words)
    so_far = MatchReplay(evening.record, match, (), None, ())
    told = {"points": so_far.points, "bonus": so_far.bonus, "chips": match.chips}[want.kind]
    wanted = {player: int(number) for player, number in _pairs(want.words)}
    same = set(wanted) <= set(told) and all(number == wanted.get(player, 0) for player, number in told.items())
    return None if same else " ".join(f"{player} {number}" for player, number in told.items())


def _pairs(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    return zip(words[::2], words[1::2], strict=True)
