"""A hand of a table that reads no tiles as a text record: what people declared, settled as `engine.declared` does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from engine.chain import Refused
from engine.declared import Sheet, declare, new_sheet, settle_declared
from engine.record_header import (
    Headings,
    Numbered,
    Options,
    RecordError,
    SeatNumbers,
    bad,
    bid_lines,
    count,
    numbered,
    rules_lines,
    tile_or_none,
)
from engine.record_header import seat as one_seat
from engine.record_header import text as text_told
from engine.record_lines import WANT_SHAPES, Expected, NotAllowed, Want, WantShapes, parse_want, write_line
from engine.record_said import Said, parse_said, said_of, write_said
from engine.record_wants import Unmet, of_the_end
from engine.settlement import Settlement

DECLARED = "declared"
DECLARED_HEADINGS: tuple[str, ...] = (
    *("declared", "about", "rules", "option", "dealer", "steps", "buy", "top", "chips", "gold"),
)
_SEVERAL = ("about", "option")
_NEEDED = ("declared", "rules", "dealer", "gold")
_LONGEST = 100_000

DECLARED_WANTS: WantShapes = {
    kind: WANT_SHAPES[kind]
    for kind in ("end", "win", "foul", "pays_all", "followed", "net", "bonus", "next", "pays", "why", "illegal")
}
"""What can be wanted of a declared hand."""

DeclaredLine: TypeAlias = Said | Want


@dataclass(frozen=True, slots=True)
class DeclaredRecord:
    """A declared hand: its rules by name with single fields overridden, the empty sheet that it begins with, and what
    was said; `chips` and `about` as in `engine.record.Record`.
    """

    rules: str
    sheet: Sheet
    lines: tuple[DeclaredLine, ...] = ()
    options: Options = ()
    chips: SeatNumbers = ()
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeclaredReplay:
    """A declared record carried out: the sheet before the first line and after each, the first line that cannot be,
    and the settlement, None without an end or where one cannot be.
    """

    record: DeclaredRecord
    sheets: tuple[Sheet, ...]
    illegal: NotAllowed | None
    settlement: Settlement | None

    @property
    def last(self) -> Sheet:
        """The sheet as far as it could be filled."""
        return self.sheets[-1]


def parse_declared(text: str, search: Sequence[Path] = ()) -> DeclaredRecord:
    """The declared record of a text; RecordError names the line."""
    if len(text) > _LONGEST:
        raise RecordError(1, f"a hand of at most {_LONGEST} letters, not {len(text)}")
    return read_declared(numbered(text), len(text.splitlines()), search)


def read_declared(
    told: Sequence[Numbered],
    last: int,
    search: Sequence[Path] = (),
    given: Mapping[str, list[tuple[str, int]]] | None = None,
) -> DeclaredRecord:
    """The declared record of numbered lines; `last` and `given` as in `engine.record.read_record`."""
    header = Headings(DECLARED_HEADINGS, several=_SEVERAL, given=given)
    lines: list[DeclaredLine] = []
    for number, line in told:
        if not lines and header.knows(line):
            header.read(line, number)
            continue
        try:
            lines.append(_line(line, number))
        except Expected as error:
            raise bad(number, str(error), line) from error
    header.finish(_NEEDED, last)
    if header.texts[DECLARED][0][0]:
        raise bad(header.line(DECLARED), f"nothing behind `{DECLARED}:`", header.texts[DECLARED][0][0])
    rules, options, ruleset = header.ruleset(search)
    dealer, steps = header.one("dealer", one_seat, ""), header.one("steps", count, 0)
    buy, top, chips = header.bids(ruleset, dealer, steps)
    try:
        sheet = new_sheet(ruleset, dealer, header.one("gold", tile_or_none, "") or None, steps, buy, dict(top))
    except Refused as refused:
        name = "steps" if refused.code == "bad_number" else "gold"
        raise RecordError(header.line(name), f"a hand that can be: {refused.code} ({refused.rule})") from refused
    about = tuple(header.each("about", text_told))
    return DeclaredRecord(rules, sheet, tuple(lines), options, chips, about)


def write_declared(record: DeclaredRecord, rules: bool = True) -> str:
    """The text of a declared record: `parse_declared` gives the same record; `rules` as in `write_record`."""
    lines = [*_header_lines(record, rules), ""]
    lines += [write_said(line) if isinstance(line, Said) else write_line(line) for line in record.lines]
    return "\n".join(lines) + "\n"


def declared_of(record: DeclaredRecord, sheet: Sheet) -> DeclaredRecord:
    """The record with the lines of a sheet that began as the record's did."""
    return replace(record, lines=tuple(Said(said) for said in said_of(sheet)))


def replay_declared(record: DeclaredRecord) -> DeclaredReplay:
    """The record carried out to its end or to the first line that cannot be, and settled."""
    sheets = [record.sheet]
    for line in record.lines:
        if isinstance(line, Want):
            continue
        try:
            sheets.append(declare(sheets[-1], line.said))
        except Refused as refused:
            stopped = NotAllowed(line.line, write_said(line), refused.code, refused.rule, refused.params)
            return DeclaredReplay(record, tuple(sheets), stopped, None)
    try:
        settled = settle_declared(sheets[-1], dict(record.chips) or None)
    except Refused as refused:
        last = next((line.line for line in reversed(record.lines) if isinstance(line, Said)), 0)
        stopped = NotAllowed(last, "the end of the hand", refused.code, refused.rule, refused.params)
        return DeclaredReplay(record, tuple(sheets), stopped, None)
    return DeclaredReplay(record, tuple(sheets), None, settled)


def unmet_declared(replayed: DeclaredReplay) -> tuple[Unmet, ...]:
    """The wants of a declared record that do not hold where they stand, in their order."""
    return tuple(_unmet(replayed))


def _unmet(replayed: DeclaredReplay) -> Iterator[Unmet]:
    place = 0
    for line in replayed.record.lines:
        if isinstance(line, Said):
            place += 1
            continue
        found = _found(replayed, line, place)
        if found is not None:
            yield Unmet(line, found)


def _found(replayed: DeclaredReplay, want: Want, place: int) -> str | None:
    illegal = replayed.illegal
    if want.kind == "illegal":
        if illegal is None:
            return "every line is allowed"
        return None if [illegal.rule] == [*want.words] else f"refused by {illegal.rule}, {illegal.code}"
    if place >= len(replayed.sheets):
        return "the record stops before"
    sheet = replayed.sheets[place]
    if want.kind == "followed":
        return None if [str(sheet.followed)] == [*want.words] else str(sheet.followed)
    if sheet.outcome is None:
        return "the end of the hand is not told"
    try:
        settled = settle_declared(sheet, dict(replayed.record.chips) or None)
    except Refused as refused:
        return f"refused by {refused.rule}, {refused.code}"
    return of_the_end(want, sheet.end.outcome, settled)


def _line(text: str, number: int) -> DeclaredLine:
    if text.startswith("want:"):
        return parse_want(text[5:].split(), number, DECLARED_WANTS)
    return parse_said(text, number)


def _header_lines(record: DeclaredRecord, rules: bool) -> Iterator[str]:
    sheet = record.sheet
    yield f"{DECLARED}:"
    for line in record.about:
        yield f"about: {line}"
    if rules:
        yield from rules_lines(record.rules, record.options)
    yield f"dealer: {sheet.dealer}"
    top = tuple((seat, bid) for seat, bid in sheet.top.items() if bid)
    yield from bid_lines(sheet.steps, sheet.buy, top, record.chips)
    yield f"gold: {sheet.gold or '-'}"
