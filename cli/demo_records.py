"""Whether the hands of a demo come out of its journal again: their records exported, replayed, and compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.match.events import BookingVoided, HandBooked

if TYPE_CHECKING:
    from cli.demo_story import Booked
    from engine.match.events import MatchEvent
    from engine.record_match_replay import MatchReplay

SEATS = "ESWN"


def disagreement(journal: Path, heard: Sequence[Booked]) -> str:
    """What is wrong with what a run has booked, as its public stream told it; empty when all is as it should be.

    Every hand sums to nothing, and the matches of the journal replay to the very points that were told.
    """
    for one in heard:
        if sum(one.net.values()) or sum(one.bonus.values()):
            return f"hand {one.number} of match {one.match} does not sum to 0: {_points(one.net)}"
    if not heard:
        return ""
    replays = _replays(journal, heard)
    for replayed in replays:
        where = f"match {replayed.record.number}"
        if replayed.illegal is not None:
            illegal = replayed.illegal
            return f"{where}, line {illegal.line} of its record: {illegal.text}: {illegal.code} ({illegal.rule})"
        for missed in replayed.unmet:
            wanted = " ".join((missed.want.kind, *missed.want.words))
            return f"{where}, line {missed.want.line} of its record: wanted {wanted}; found {missed.found}"
    return _compared([*_found(replays)], heard)


def _replays(journal: Path, heard: Sequence[Booked]) -> list[MatchReplay]:
    """The matches in the journal as far as the stream has been heard, each through its text."""
    from cli.journal_export import read_evening
    from engine.export import match_records
    from engine.record_match import parse_match, write_match
    from engine.record_match_replay import replay_match

    evening = read_evening(journal)
    said = list(_as_far_as(evening.said, heard))
    records = match_records(said, [hand.text for hand in evening.hands])
    return [replay_match(parse_match(write_match(record))) for record in records.values()]


def _as_far_as(said: Sequence[MatchEvent], heard: Sequence[Booked]) -> Iterator[MatchEvent]:
    """The session's events up to what was heard last: the table may have gone on for a moment."""
    booked, voided = len(heard), sum(one.voided for one in heard)
    for event in said:
        booked -= isinstance(event, HandBooked)
        voided -= isinstance(event, BookingVoided)
        if booked < 0 or voided < 0:
            return
        yield event


def _found(replays: Sequence[MatchReplay]) -> Iterator[tuple[int, int, bool, dict[str, int]]]:
    for replayed in replays:
        for booking in replayed.match.book:
            net = {seat: booking.points[player] for seat, player in booking.seats.items()}
            yield booking.match, booking.hand, booking.voided, net


def _compared(found: Sequence[tuple[int, int, bool, dict[str, int]]], heard: Sequence[Booked]) -> str:
    if len(found) != len(heard):
        return f"{len(heard)} hands were booked and {len(found)} are in the records"
    for (match, hand, voided, net), one in zip(found, heard, strict=True):
        if (match, hand, voided, net) != (one.match, one.number, one.voided, dict(one.net)):
            return (
                f"hand {one.number} of match {one.match} was booked as {_points(one.net)}, "
                f"its record comes to {_points(net)}"
            )
    return ""


def _points(net: object) -> str:
    assert isinstance(net, dict)
    return " ".join(f"{seat} {net.get(seat, 0):+d}" for seat in SEATS)
