"""A hand as a text record, one event a line (docs/records.md): read, written, and back exactly.

A record says what play starts from, the header, and what happens then, the lines. What a wall implies need not be
written; what is written is checked when the record is replayed (`engine.record_replay`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from engine.play.deal import Deal, DealError, check_deal
from engine.record_lines import WAYS, Expected, Line, by_seat, one_tile, parse_line, some_tiles, write_line
from engine.ruleset import Ruleset, RulesetError, copies, load_ruleset
from engine.scoring import dealer_base
from engine.tiles import ALL_FACES, SEATS, join_tiles, sort_tiles

Told = TypeVar("Told")

HEADINGS: tuple[str, ...] = (
    *("about", "rules", "option", "dealer", "steps", "buy", "top", "chips"),
    *("gold", "flipped", "flips", "opening", "hand", "flowers", "wall", "tail"),
)
"""What a header's lines begin with; `hand` and `flowers` name a seat behind."""

_SEVERAL = ("about", "option", "wall", "tail")
_NEEDED = ("rules", "dealer", "gold", *(f"hand {seat}" for seat in SEATS), "wall")
_REST = "..."
_NO_TILES: tuple[str, ...] = ()
_TILES_A_LINE = 20
_LONGEST = 100_000


class RecordError(ValueError):
    """A text that is no record: `line` counts from 1, `expected` says what should have stood there."""

    def __init__(self, line: int, expected: str) -> None:
        super().__init__(f"line {line}: expected {expected}")
        self.line = line
        self.expected = expected


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
    header = _Header()
    lines: list[Line] = []
    count = 0
    if len(text) > _LONGEST:
        raise RecordError(1, f"a hand of at most {_LONGEST} letters, not {len(text)}")
    for count, raw in enumerate(text.splitlines(), 1):
        line = (raw if raw.lstrip().startswith("about:") else raw.partition("#")[0]).strip()
        try:
            if not line:
                continue
            if not lines and line.partition(":")[0].split(" ")[0] in HEADINGS:
                header.read(line, count)
            else:
                lines.append(parse_line(line, count))
        except Expected as error:
            raise RecordError(count, f"{error}; got {line[:60]!r}") from error
    return header.record(tuple(lines), count, search)


def write_record(record: Record) -> str:
    """The text of a record: `parse_record` gives the same record."""
    return "\n".join((*_header_lines(record), "", *(write_line(line) for line in record.lines))) + "\n"


def _header_lines(record: Record) -> Iterator[str]:
    deal = record.deal
    for line in record.about:
        yield f"about: {line}"
    yield f"rules: {record.rules}"
    for name, value in record.options:
        yield f"option: {name} = {json.dumps(value, ensure_ascii=False)}"
    yield f"dealer: {deal.dealer}"
    if record.steps:
        yield f"steps: {record.steps}"
    if record.buy:
        yield f"buy: {record.buy}"
    for name, told in (("top", record.top), ("chips", record.chips)):
        if told:
            yield f"{name}: " + " ".join(f"{seat} {number}" for seat, number in told)
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


class _Header:
    """The header as far as it has been read: each heading's texts, and the line of each."""

    def __init__(self) -> None:
        self.texts: dict[str, list[tuple[str, int]]] = {}

    def read(self, line: str, number: int) -> None:
        name, colon, text = line.partition(":")
        name = " ".join(name.split())
        heading, _, seat = name.partition(" ")
        if not colon or (seat != "") != (heading in ("hand", "flowers")) or (seat and seat not in SEATS):
            raise Expected("a heading such as `rules: new-xiamen-120` or `hand E: 123m5z`")
        if name in self.texts and heading not in _SEVERAL:
            raise Expected(f"`{name}:` once; it stands in line {self.texts[name][0][1]} already")
        self.texts.setdefault(name, []).append((text.strip(), number))

    def record(self, lines: tuple[Line, ...], count: int, search: Sequence[Path]) -> Record:
        """The whole record; the last line is named for what is missing."""
        for name in _NEEDED:
            if name not in self.texts:
                raise RecordError(max(count, 1), f"a line `{name}: ...` before the end")
        options = tuple(self._each("option", _option))
        record = Record(
            rules=self._one("rules", _text, ""),
            deal=self._deal(self._ruleset(dict(options), search)),
            lines=lines,
            options=options,
            steps=self._one("steps", _count, 0),
            buy=self._one("buy", _count, 0),
            top=self._one("top", _numbers, ()),
            chips=self._one("chips", _numbers, ()),
            about=tuple(self._each("about", _text)),
        )
        self._check_bids(record)
        return record

    def _check_bids(self, record: Record) -> None:
        """R36, R41: bids of this game, no higher than the hand's base; chips of all four seats."""
        rules = record.deal.rules
        for name, bids in (("buy", (record.buy,)), ("top", tuple(number for _, number in record.top))):
            if name in self.texts and rules.base_series is None:
                raise RecordError(self._line(name), f"no `{name}:` in rules without 买底 and 顶底")
            if any(not 0 <= bid <= dealer_base(rules, record.steps) for bid in bids if bid):
                most = dealer_base(rules, record.steps)
                raise RecordError(self._line(name), f"no more than this hand's base, {most} (R36)")
        if record.chips and (set(dict(record.chips)) != set(SEATS) or any(held < 0 for _, held in record.chips)):
            raise RecordError(self._line("chips"), "the chips of all four seats")

    def _one(self, name: str, read: Callable[[str], Told], missing: Told) -> Told:
        return next(self._each(name, read), missing)

    def _each(self, name: str, read: Callable[[str], Told]) -> Iterator[Told]:
        for text, line in self.texts.get(name, ()):
            try:
                yield read(text)
            except Expected as error:
                raise RecordError(line, f"{error}; got {text[:60]!r}") from error

    def _line(self, name: str) -> int:
        return self.texts[name][-1][1] if name in self.texts else self.texts["wall"][0][1]

    def _ruleset(self, options: Mapping[str, object], search: Sequence[Path]) -> Ruleset:
        try:
            return load_ruleset(self._one("rules", _text, ""), options, search)
        except RulesetError as error:
            named = error.field.removeprefix("options.")
            places = [line for text, line in self.texts.get("option", ()) if text.partition("=")[0].strip() == named]
            line = places[-1] if places else self._line("rules")
            raise RecordError(line, f"a ruleset that can be: {error}") from error

    def _deal(self, rules: Ruleset) -> Deal:
        gold = self._one("gold", _tile_or_none, "")
        hands = {seat: self._one(f"hand {seat}", _tiles, _NO_TILES) for seat in SEATS}
        flowers = {seat: self._one(f"flowers {seat}", _tiles, _NO_TILES) for seat in SEATS}
        flipped = self._one("flipped", _tile_or_none, gold)
        words = tuple(word for told in self._each("wall", _wall) for word in told)
        dealt: Counter[str] = Counter([flipped] if flipped else [])
        for seat in SEATS:
            dealt.update((*hands[seat], *flowers[seat]))
        deal = Deal(
            rules=rules,
            dealer=self._one("dealer", _seat, ""),
            gold=gold or None,
            flipped=flipped,
            hands=hands,
            flowers=flowers,
            wall=self._whole_wall(rules, words, dealt),
            tail_order=tuple(place for told in self._each("tail", _places) for place in told),
            opening=self._one("opening", _opening, None),
            flips=self._one("flips", _count, 0),
        )
        try:
            check_deal(deal)
        except DealError as error:
            name = {"tail_order": "tail"}.get(error.field, error.field.replace(".", " ").replace("hands", "hand"))
            raise RecordError(self._line(name), f"a deal that can be: {error}") from error
        nowhere = copies(rules) - dealt - Counter(deal.wall)
        if nowhere:
            told = " ".join(sort_tiles(nowhere.elements())[:_TILES_A_LINE])
            raise RecordError(self._line("wall"), f"the rest of the set in the wall; nowhere are {told}")
        return deal

    def _whole_wall(self, rules: Ruleset, words: Sequence[str], dealt: Counter[str]) -> tuple[str, ...]:
        """The wall with `...` filled: every tile of the set that is nowhere else, in tile order."""
        if _REST not in words:
            return tuple(words)
        place = words.index(_REST)
        named = [*words[:place], *words[place + 1 :]]
        if _REST in named:
            raise RecordError(self._line("wall"), f"{_REST} once in the wall")
        left = copies(rules) - dealt - Counter(named)
        rest = [face for face in ALL_FACES for _ in range(left[face])]
        return (*words[:place], *rest, *words[place + 1 :])


def _text(text: str) -> str:
    if not text:
        raise Expected("a text")
    return text


def _option(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    try:
        told = json.loads(value) if equals else None
    except (ValueError, RecursionError):
        told = None
    if not equals or told is None or not name.strip():
        raise Expected('`option: FIELD = VALUE`, the value as JSON: 8, true, "fault", [4, 8, 12]')
    return name.strip(), told


def _seat(text: str) -> str:
    if text not in SEATS:
        raise Expected("E, S, W or N")
    return text


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise Expected("a whole number from 0")
    return int(text)


def _numbers(text: str) -> tuple[tuple[str, int], ...]:
    told = by_seat(text.split())
    if told is None:
        raise Expected("seats and numbers such as `S 10 W 5`")
    return tuple(told.items())


def _tile_or_none(text: str) -> str:
    return "" if text == "-" else one_tile(text)


def _tiles(text: str) -> tuple[str, ...]:
    return tuple(tile for word in text.split() for tile in some_tiles(word))


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
