"""The header of a record: headings with their texts and lines, and what every kind of record reads from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, TypeVar

from engine.record_lines import Expected, by_seat, one_tile, some_tiles
from engine.ruleset import Ruleset, RulesetError, load_ruleset
from engine.scoring import dealer_base
from engine.tiles import SEATS

Told = TypeVar("Told")
Numbered: TypeAlias = tuple[int, str]
"""A line of a text with its number, from 1."""

Options: TypeAlias = tuple[tuple[str, object], ...]
SeatNumbers: TypeAlias = tuple[tuple[str, int], ...]

_WHOLE = ("about", "player")
"""Headings whose text may hold a #."""


class RecordError(ValueError):
    """A text that is no record: `line` counts from 1, `expected` says what should have stood there."""

    def __init__(self, line: int, expected: str) -> None:
        super().__init__(f"line {line}: expected {expected}")
        self.line = line
        self.expected = expected


def numbered(text: str) -> list[Numbered]:
    """The lines of a text that say something, without their comments and the blanks around them."""
    found = []
    for number, raw in enumerate(text.splitlines(), 1):
        whole = raw.lstrip().partition(":")[0] in _WHOLE
        line = (raw if whole else raw.partition("#")[0]).strip()
        if line:
            found.append((number, line))
    return found


def heading_of(line: str) -> str:
    """What the line would be the heading of: its first word, up to a colon."""
    return line.partition(":")[0].split(" ")[0] if ":" in line else ""


class Headings:
    """A header as far as it has been read: each heading's texts, and the line of each.

    `known` are the headings that may stand there, those `of_seats` with a seat behind; `several` may stand more than
    once. `given` are texts that stand where the header itself says neither `rules` nor `option`.
    """

    def __init__(
        self,
        known: Sequence[str],
        of_seats: Sequence[str] = (),
        several: Sequence[str] = (),
        given: Mapping[str, list[tuple[str, int]]] | None = None,
    ) -> None:
        self.texts: dict[str, list[tuple[str, int]]] = {}
        self._known = known
        self._of_seats = of_seats
        self._several = several
        self._given = given or {}

    def knows(self, line: str) -> bool:
        """Whether a line is one of the header."""
        return heading_of(line) in self._known

    def read(self, line: str, number: int) -> None:
        """One line of the header; RecordError when it is none, or stands there twice."""
        name, colon, text = line.partition(":")
        name = " ".join(name.split())
        heading, _, seat = name.partition(" ")
        if not colon or (seat != "") != (heading in self._of_seats) or (seat and seat not in SEATS):
            raise bad(number, "a heading such as `rules: new-xiamen-120` or `hand E: 123m5z`", line)
        if name in self.texts and heading not in self._several:
            raise bad(number, f"`{name}:` once; it stands in line {self.texts[name][0][1]} already", line)
        self.texts.setdefault(name, []).append((text.strip(), number))

    def finish(self, needed: Iterable[str], last: int) -> None:
        """The header is read: what is given stands in, and RecordError names the `last` line when one is missing."""
        if not any(name in self.texts for name in ("rules", "option")):
            self.texts.update({name: list(told) for name, told in self._given.items()})
        for name in needed:
            if name not in self.texts:
                raise RecordError(max(last, 1), f"a line `{name}: ...` before the end")

    def one(self, name: str, read: Callable[[str], Told], missing: Told) -> Told:
        """What stands behind a heading, or what is so without it."""
        return next(self.each(name, read), missing)

    def each(self, name: str, read: Callable[[str], Told]) -> Iterator[Told]:
        """What stands behind each heading of a name."""
        for text, line in self.texts.get(name, ()):
            try:
                yield read(text)
            except Expected as error:
                raise bad(line, str(error), text) from error

    def line(self, name: str, other: str = "rules") -> int:
        """The last line of a heading, or else that of another, which is there."""
        return self.texts[name if name in self.texts else other][-1][1]

    def ruleset(self, search: Sequence[Path]) -> tuple[str, Options, Ruleset]:
        """The rules by name, the options in their order, and the ruleset of both."""
        name, options = self.one("rules", text, ""), tuple(self.each("option", option))
        try:
            return name, options, load_ruleset(name, dict(options), search)
        except RulesetError as error:
            named = error.field.removeprefix("options.")
            places = [line for told, line in self.texts.get("option", ()) if told.partition("=")[0].strip() == named]
            line = places[-1] if places else self.line("rules")
            raise RecordError(line, f"a ruleset that can be: {error}") from error

    def bids(self, rules: Ruleset, dealer: str, steps: int) -> tuple[int, SeatNumbers, SeatNumbers]:
        """买底, 顶底 by seat, and chips by seat.

        R36, R41: bids of this game, no higher than the hand's base, 顶底 not the dealer's; chips of all four seats.
        """
        none: SeatNumbers = ()
        buy, top = self.one("buy", count, 0), self.one("top", seat_numbers, none)
        chips = self.one("chips", seat_numbers, none)
        for name, bids in (("buy", (buy,)), ("top", tuple(number for _, number in top))):
            if name in self.texts and rules.base_series is None:
                raise RecordError(self.line(name), f"no `{name}:` in rules without 买底 and 顶底")
            if any(not 0 <= bid <= dealer_base(rules, steps) for bid in bids if bid):
                most = dealer_base(rules, steps)
                raise RecordError(self.line(name), f"no more than this hand's base, {most} (R36)")
        if dict(top).get(dealer):
            raise RecordError(self.line("top"), f"no 顶底 of {dealer}, who deals (R36)")
        if chips and (set(dict(chips)) != set(SEATS) or any(held < 0 and not rules.debt for _, held in chips)):
            raise RecordError(self.line("chips"), "the chips of all four seats")
        return buy, top, chips


def bad(line: int, expected: str, got: str) -> RecordError:
    """The error of a line that is not what was expected."""
    return RecordError(line, f"{expected}; got {got[:60]!r}")


def rules_lines(name: str, options: Options) -> Iterator[str]:
    """The lines that name a ruleset."""
    yield f"rules: {name}"
    for field, value in options:
        yield f"option: {field} = {json.dumps(value, ensure_ascii=False)}"


def bid_lines(steps: int, buy: int, top: SeatNumbers, chips: SeatNumbers) -> Iterator[str]:
    """The lines of a hand's steps, bids and chips, as far as there are some."""
    if steps:
        yield f"steps: {steps}"
    if buy:
        yield f"buy: {buy}"
    for name, told in (("top", top), ("chips", chips)):
        if told:
            yield f"{name}: " + " ".join(f"{seat} {number}" for seat, number in told)


def text(told: str) -> str:
    """A text that is not empty."""
    if not told:
        raise Expected("a text")
    return told


def option(told: str) -> tuple[str, object]:
    """`FIELD = VALUE`, the value as JSON."""
    name, equals, written = told.partition("=")
    try:
        value = json.loads(written) if equals else None
    except (ValueError, RecursionError):
        value = None
    if not equals or value is None or not name.strip():
        raise Expected('`option: FIELD = VALUE`, the value as JSON: 8, true, "fault", [4, 8, 12]')
    return name.strip(), value


def seat(told: str) -> str:
    """One of the four."""
    if told not in SEATS:
        raise Expected("E, S, W or N")
    return told


def count(told: str) -> int:
    """A whole number of at most five digits, not below nothing."""
    if not (told.isascii() and told.isdigit() and len(told) < 6):
        raise Expected("a whole number from 0")
    return int(told)


def seat_numbers(told: str) -> SeatNumbers:
    """`S 10 W 5`."""
    found = by_seat(told.split())
    if found is None:
        raise Expected("seats and numbers such as `S 10 W 5`")
    return tuple(found.items())


def tile_or_none(told: str) -> str:
    """A tile, or nothing for `-`."""
    return "" if told == "-" else one_tile(told)


def tiles(told: str) -> tuple[str, ...]:
    """Tiles in the order written."""
    return tuple(tile for word in told.split() for tile in some_tiles(word))
