"""What a journal holds as records (docs/records.md): each booked hand, and the matches that they make up."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from controller.records import StoredRecord
    from engine.match.events import MatchEvent
    from engine.record_match import MatchRecord


@dataclass(frozen=True)
class Evening:
    """Every hand that was booked, those taken back among them, and what happened in the session."""

    path: Path
    hands: Sequence[StoredRecord]
    said: Sequence[MatchEvent]
    gone: int = 0
    """Matches that have left the journal with their hands."""

    @cached_property
    def matches(self) -> dict[int, MatchRecord]:
        """Every match by its number; ClickException when a hand's record is missing or spoilt."""
        from engine.export import ExportError, match_records
        from engine.record_header import RecordError

        try:
            texts = [hand.text for hand in self.hands if hand.match > self.gone]
            return match_records(self.said, texts, self.gone)
        except (ExportError, RecordError, LookupError) as error:
            raise click.ClickException(f"{self.path}: its matches cannot be put together: {error}") from None


def read_evening(path: Path) -> Evening:
    """The records of a journal that a daemon may be writing; ClickException says what is wrong with it."""
    from controller.journal import JournalError, read_records, read_session
    from engine.plain import PlainError

    try:
        hands = read_records(path)
        stored = read_session(path)
        return Evening(path, hands, [_session_event(one) for one in stored.said], stored.gone)
    except JournalError as error:
        raise click.ClickException(str(error)) from None
    except (PlainError, KeyError) as error:
        raise click.ClickException(f"{path}: its session cannot be read: {error}") from None


def _session_event(body: dict[str, Any]) -> MatchEvent:
    from engine.match.events import CODEC

    found: MatchEvent = CODEC.decode(body["event"])
    return found


def chosen_hands(evening: Evening, match: int | None, hand: int | None) -> list[StoredRecord]:
    """The hands of one match or one number, where that is said; ClickException when there are none."""
    found = [
        one for one in evening.hands
        if (match is None or one.match == match) and (hand is None or one.hand == hand)
    ]  # fmt: skip
    if found:
        return found
    what = "no hand is booked" if not evening.hands else f"no {_named(match, hand)} is booked"
    there = "; ".join(
        f"match {number}: {_numbers(evening, number)}" for number in dict.fromkeys(one.match for one in evening.hands)
    )
    raise click.ClickException(what + (f"; there are {there}" if evening.hands else ""))


def standing_hand(hands: Sequence[StoredRecord]) -> StoredRecord:
    """The record that counts of one hand, or the last one taken back where none does."""
    matches = list(dict.fromkeys(one.match for one in hands))
    if len(matches) > 1:
        raise click.UsageError(f"matches {', '.join(map(str, matches))} have such a hand: say which with --match")
    return next((one for one in hands if not one.voided), hands[-1])


def only_match(evening: Evening, match: int | None) -> MatchRecord:
    """The match asked for, or the only one."""
    if match is None and len(evening.matches) > 1:
        known = ", ".join(map(str, evening.matches))
        raise click.UsageError(f"there are matches {known}: say which with --match, or --out DIR for all")
    number = next(iter(evening.matches), 0) if match is None else match
    if number not in evening.matches:
        known = ", ".join(map(str, evening.matches)) or "none"
        raise click.ClickException(f"there is no match {number}; there are: {known}" if match else "no match has begun")
    return evening.matches[number]


def write_files(evening: Evening, folder: Path, match: int | None, hand: int | None) -> list[Path]:
    """Every match chosen and every hand of it as a file of its own; hands taken back have it in their names."""
    from engine.record_match import write_match

    texts: dict[str, str] = {}
    if hand is None:
        chosen = evening.matches.values() if match is None else [only_match(evening, match)]
        texts = {f"match-{record.number}.txt": write_match(record) for record in chosen}
    for one in chosen_hands(evening, match, hand) if evening.hands or hand is not None else ():
        texts[_file_name(one, texts)] = one.text
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{error.filename or folder}: {error.strerror or error}") from None
    return [folder / name for name in texts]


def plain(evening: Evening, match: int | None, hand: int | None) -> Iterator[str]:
    """One JSON object a line: hands as they were booked, then the matches unless one hand is asked for."""
    from engine.record_match import write_match

    for one in chosen_hands(evening, match, hand):
        told: dict[str, Any] = {"match": one.match, "hand": one.hand, "voided": one.voided, "text": one.text}
        yield json.dumps(told, ensure_ascii=False)
    for number, record in evening.matches.items() if hand is None else ():
        if match in (None, number):
            yield json.dumps({"match": number, "text": write_match(record)}, ensure_ascii=False)


def _file_name(one: StoredRecord, taken: dict[str, str]) -> str:
    stem = f"match-{one.match}-hand-{one.hand:03}" + ("-voided" if one.voided else "")
    name, count = f"{stem}.txt", 1
    while name in taken:
        count += 1
        name = f"{stem}-{count}.txt"
    return name


def _named(match: int | None, hand: int | None) -> str:
    told = [f"hand {hand}"] if hand is not None else ["hand"]
    return " of ".join([*told, *([f"match {match}"] if match is not None else [])])


def _numbers(evening: Evening, match: int) -> str:
    numbers = list(dict.fromkeys(one.hand for one in evening.hands if one.match == match))
    return f"hands {numbers[0]} to {numbers[-1]}" if numbers else "no hand"
