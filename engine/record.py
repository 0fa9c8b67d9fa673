"""A hand as a text record, one event a line (docs/records.md): read, written, and back exactly.

A record says what play starts from, the header, and what happens then, the lines. What a wall implies need not be
written; what is written is checked when the record is replayed (`engine.record_replay`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from engine.play.deal import Deal, DealError, check_deal
from engine.record_header import (
    Headings,
    Numbered,
    RecordError,
    bad,
    bid_lines,
    count,
    numbered,
    rules_lines,
    tile_or_none,
    tiles,
)
from engine.record_header import seat as one_seat
from engine.record_header import text as text_told
from engine.record_lines import WAYS, Expected, Line, parse_line, some_tiles, write_line
from engine.ruleset import Ruleset, copies
from engine.tiles import ALL_FACES, SEATS, join_tiles, sort_tiles

__all__ = ["HEADINGS", "Record", "RecordError", "parse_record", "read_record", "write_record"]

Given: TypeAlias = Mapping[str, list[tuple[str, int]]]

HEADINGS: tuple[str, ...] = (
    *("about", "rules", "option", "dealer", "steps", "buy", "top", "chips"),
    *("gold", "flipped", "flips", "opening", "hand", "flowers", "wall", "tail"),
)
"""What a header's lines begin with; `hand` and `flowers` name a seat behind."""

OF_SEATS = ("hand", "flowers")
SEVERAL = ("about", "option", "wall", "tail")
_NEEDED = ("rules", "dealer", "gold", *(f"hand {seat}" for seat in SEATS), "wall")
_REST = "..."
_NO_TILES: tuple[str, ...] = ()
_TILES_A_LINE = 20
LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class Record:
    """A hand: its rules by name with single fields overridden, what was dealt and bid, and what happened.

    `chips`: what every seat held before, None without a match (R41). `about`: lines for people, none of them empty.
    """

    rules: str
    deal: Deal
    lines: tuple[Line, ...] = ()
    options: tuple[tuple[str, object], ...] = ()
    steps: int = 0
    buy: int = 0
    top: tuple[tuple[str, int], ...] = ()
    chips: tuple[tuple[str, int], ...] = ()
    about: tuple[str, ...] = ()


def parse_record(text: str, search: Sequence[Path] = ()) -> Record:
    """The record of a text; RecordError names the line. `search`: folders of a house's own rules (`load_ruleset`)."""
    if len(text) > LONGEST:
        raise RecordError(1, f"a hand of at most {LONGEST} letters, not {len(text)}")
    return read_record(numbered(text), len(text.splitlines()), search)


def read_record(told: Sequence[Numbered], last: int, search: Sequence[Path] = (), given: Given | None = None) -> Record:
    """The record of numbered lines, the `last` of which is named for what is missing; `given` as in `Headings`."""
    header = Headings(HEADINGS, OF_SEATS, SEVERAL, given)
    lines: list[Line] = []
    for number, line in told:
        if not lines and header.knows(line):
            header.read(line, number)
            continue
        try:
            lines.append(parse_line(line, number))
        except Expected as error:
            raise bad(number, str(error), line) from error
    header.finish(_NEEDED, last)
    rules, options, ruleset = header.ruleset(search)
    deal, steps = _deal(header, ruleset), header.one("steps", count, 0)
    buy, top, chips = header.bids(ruleset, deal.dealer, steps)
    about = tuple(header.each("about", text_told))
    return Record(rules, deal, tuple(lines), options, steps, buy, top, chips, about)


def write_record(record: Record, rules: bool = True) -> str:
    """The text of a record: `parse_record` gives the same record. Without `rules` the lines that name them are left
    out.
    """
    lines = (write_line(line) for line in record.lines)
    return "\n".join((*_header_lines(record, rules), "", *lines)) + "\n"


def _header_lines(record: Record, rules: bool) -> Iterator[str]:
    deal = record.deal
    for line in record.about:
        yield f"about: {line}"
    if rules:
        yield from rules_lines(record.rules, record.options)
    yield f"dealer: {deal.dealer}"
    yield from bid_lines(record.steps, record.buy, record.top, record.chips)
    yield f"gold: {deal.gold or '-'}"
    yield f"flipped: {deal.flipped or '-'}"
    if deal.flips:
        yield f"flips: {deal.flips}"
    if deal.opening is not None:
        yield "opening: " + (" ".join(deal.opening) if deal.opening[0] else "passed")
    for seat in SEATS:
        yield f"hand {seat}: {join_tiles(deal.hands[seat])}"
    for seat in SEATS:
        if deal.flowers[seat]:
            yield f"flowers {seat}: {join_tiles(deal.flowers[seat])}"
    yield from _split("wall", deal.wall)
    if deal.tail_order:
        yield from _split("tail", [str(place + 1) for place in deal.tail_order])


def _split(name: str, words: Sequence[str]) -> Iterator[str]:
    for start in range(0, max(len(words), 1), _TILES_A_LINE):
        yield f"{name}: {' '.join(words[start : start + _TILES_A_LINE]) or '-'}"


def _deal(header: Headings, rules: Ruleset) -> Deal:
    gold = header.one("gold", tile_or_none, "")
    hands = {seat: header.one(f"hand {seat}", tiles, _NO_TILES) for seat in SEATS}
    flowers = {seat: header.one(f"flowers {seat}", tiles, _NO_TILES) for seat in SEATS}
    flipped = header.one("flipped", tile_or_none, gold)
    words = tuple(word for told in header.each("wall", _wall) for word in told)
    dealt: Counter[str] = Counter([flipped] if flipped else [])
    for seat in SEATS:
        dealt.update((*hands[seat], *flowers[seat]))
    deal = Deal(
        rules=rules,
        dealer=header.one("dealer", one_seat, ""),
        gold=gold or None,
        flipped=flipped,
        hands=hands,
        flowers=flowers,
        wall=_whole_wall(header, rules, words, dealt),
        tail_order=tuple(place for told in header.each("tail", _places) for place in told),
        opening=header.one("opening", _opening, None),
        flips=header.one("flips", count, 0),
    )
    try:
        check_deal(deal)
    except DealError as error:
        name = {"tail_order": "tail"}.get(error.field, error.field.replace(".", " ").replace("hands", "hand"))
        raise RecordError(header.line(name, "wall"), f"a deal that can be: {error}") from error
    nowhere = copies(rules) - dealt - Counter(deal.wall)
    if nowhere:
        told = " ".join(sort_tiles(nowhere.elements())[:_TILES_A_LINE])
        raise RecordError(header.line("wall"), f"the rest of the set in the wall; nowhere are {told}")
    return deal


def _whole_wall(header: Headings, rules: Ruleset, words: Sequence[str], dealt: Counter[str]) -> tuple[str, ...]:
    """The wall with `...` filled: every tile of the set that is nowhere else, in tile order."""
    if _REST not in words:
        return tuple(words)
    place = words.index(_REST)
    named = [*words[:place], *words[place + 1 :]]
    if _REST in named:
        raise RecordError(header.line("wall"), f"{_REST} once in the wall")
    left = copies(rules) - dealt - Counter(named)
    rest = [face for face in ALL_FACES for _ in range(left[face])]
    return (*words[:place], *rest, *words[place + 1 :])


def _wall(text: str) -> tuple[str, ...]:
    return tuple(tile for word in text.split() for tile in ([_REST] if word == _REST else some_tiles(word)))


def _places(text: str) -> tuple[int, ...]:
    """Places of the wall from 1, single or as ranges that may run down: `40 39 20-1`; as indexes."""
    found: list[int] = []
    for word in text.split():
        first, dash, last = word.partition("-")
        if not all(part.isascii() and part.isdigit() and 1 <= len(part) < 4 for part in (first, last) if part or dash):
            raise Expected("places of the wall from 1 such as `40 39 20-1`")
        start, end = int(first), int(last or first)
        step = 1 if end >= start else -1
        found += [place - 1 for place in range(start, end + step, step)]
    return tuple(found)


def _opening(text: str) -> tuple[str, str] | None:
    if text == "passed":
        return ("", "")
    words = text.split()
    if len(words) != 2 or words[0] not in SEATS or words[1] not in WAYS:
        raise Expected("`passed`, or a seat and a way such as `S qiangjin`")
    return (words[0], words[1])
