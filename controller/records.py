"""Records of booked hands in the journal: the notation of `kaijin rules play`, numbered without gaps, never deleted."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from controller.clock import Stamp

RECORDS_SINCE: Final = 2
"""The version of the journal's schema that brought the table of records."""


@dataclass(frozen=True, slots=True)
class NewRecord:
    """The record of a hand that was booked, or without `text` the word that its booking was taken back."""

    match: int
    hand: int
    text: str | None


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A hand's record; numbers have no gaps. `voided`: the booking was taken back, a later record may stand for it."""

    number: int
    match: int
    hand: int
    ts: int
    clock: str
    voided: bool
    text: str


def put_record(connection: sqlite3.Connection, record: NewRecord, n: int, stamp: Stamp) -> None:
    """A new record, or the mark on the one that stands for its hand; what was booked once is never deleted."""
    if record.text is None:
        connection.execute(
            "UPDATE records SET voided = 1 WHERE match = ? AND hand = ? AND voided = 0", (record.match, record.hand)
        )
        return
    connection.execute(
        "INSERT INTO records SELECT coalesce(max(number), 0) + 1, ?, ?, ?, ?, ?, 0, ? FROM records",
        (n, record.match, record.hand, stamp.ts, stamp.clock, record.text),
    )


def select_records(
    connection: sqlite3.Connection, match: int | None, hand: int | None, first: int = 0, most: int = -1
) -> Iterator[StoredRecord]:
    """Records from number `first` on, oldest first, of one match or one hand where that is said.

    ValueError for a row that no record can be made of.
    """
    rows = connection.execute(
        "SELECT number, match, hand, ts, clock, voided, body FROM records"
        " WHERE number >= ? AND match = coalesce(?, match) AND hand = coalesce(?, hand) ORDER BY number LIMIT ?",
        (first, match, hand, most),
    )
    for number, of_match, of_hand, ts, clock, voided, text in rows:
        if not (type(of_match) is type(of_hand) is type(ts) is int and type(clock) is type(text) is str):
            raise ValueError(f"record {number} has columns of other kinds")
        yield StoredRecord(number, of_match, of_hand, ts, clock, bool(voided), text)
