"""A match as a text record: players, rules, what was agreed, throws, swaps, and its hands one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from engine.dice import Dice
from engine.match.state import Player
from engine.record import Record, read_record, write_record
from engine.record_declared import DECLARED, DeclaredRecord, read_declared, write_declared
from engine.record_header import (
    Headings,
    Numbered,
    Options,
    RecordError,
    bad,
    count,
    heading_of,
    numbered,
    rules_lines,
)
from engine.record_header import text as text_told
from engine.record_lines import Expected, Want, WantShapes, number_of, parse_want, write_line
from engine.ruleset import Ruleset
from engine.tiles import SEATS

MATCH = "match"
MATCH_HEADINGS: tuple[str, ...] = ("match", "about", "rules", "option", "player", "seats", "hands", "minutes")
END = "end"
RIGHTS: tuple[str, ...] = ("win", "half", "all")
STOPS: tuple[str, ...] = ("time", "agreed")
OVERS: tuple[str, ...] = ("empty", "hands", *STOPS)

_SEVERAL = ("about", "option", "player")
_NEEDED = ("match", "rules", "player")
_LONGEST = 20_000_000
_LONGEST_ID = 64

Hand: TypeAlias = Record | DeclaredRecord


@dataclass(frozen=True, slots=True)
class ThrownForSeat:
    """R2: a player's throw for his seat."""

    player: str
    dice: Dice
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ThrownForDealer:
    """R3: the throw that made the first dealer, and the seat that threw."""

    seat: str
    dice: Dice
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class HandOf:
    """A hand of the match, by its number in it."""

    number: int
    hand: Hand
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The hand before was taken back: it counts nothing, and the same hand follows as it was booked then."""

    why: str = ""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Swapped:
    """R2: a player used his right to a swap."""

    player: str
    right: str
    dice: Dice
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class StoppedBy:
    """The match is over, because of `time` or as agreed."""

    why: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ExtendedBy:
    """More hands or minutes than were agreed."""

    hands: int
    minutes: int
    line: int = field(default=0, compare=False)


MatchLine: TypeAlias = ThrownForSeat | ThrownForDealer | HandOf | TakenBack | Swapped | ExtendedBy | StoppedBy | Want


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """A match: its number in the evening, four players (in the order E S W N where `by_dice` is false), what was
    agreed, and what happened. The hands' own rules are those of the match.
    """

    number: int
    rules: str
    ruleset: Ruleset
    players: tuple[Player, ...]
    lines: tuple[MatchLine, ...] = ()
    options: Options = ()
    hands: int = 0
    minutes: int = 0
    by_dice: bool = False
    about: tuple[str, ...] = ()


def parse_match(text: str, search: Sequence[Path] = ()) -> MatchRecord:
    """The match of a text; RecordError names the line. `search`: folders of a house's own rules (`load_ruleset`)."""
    if len(text) > _LONGEST:
        raise RecordError(1, f"a match of at most {_LONGEST} letters, not {len(text)}")
    told, last = numbered(text), len(text.splitlines())
    header = Headings(MATCH_HEADINGS, several=_SEVERAL)
    place = 0
    while place < len(told) and header.knows(told[place][1]):
        header.read(told[place][1], told[place][0])
        place += 1
    header.finish(_NEEDED, last)
    rules, options, ruleset = header.ruleset(search)
    return MatchRecord(
        number=header.one("match", _from_one, 1),
        rules=rules,
        ruleset=ruleset,
        players=_players(header),
        lines=tuple(_lines(told[place:], last, header, ruleset, search)),
        options=options,
        hands=header.one("hands", count, 0),
        minutes=header.one("minutes", count, 0),
        by_dice=header.one("seats", _seats, "free") == "dice",
        about=tuple(header.each("about", text_told)),
    )


def write_match(record: MatchRecord) -> str:
    """The text of a match: `parse_match` gives the same record."""
    lines = [f"{MATCH}: {record.number}", *(f"about: {line}" for line in record.about)]
    lines += rules_lines(record.rules, record.options)
    lines += [f"player: {player.id} {player.name}".rstrip() for player in record.players]
    lines += ["seats: dice"] if record.by_dice else []
    lines += [f"{name}: {number}" for name, number in (("hands", record.hands), ("minutes", record.minutes)) if number]
    lines.append("")
    for line in record.lines:
        lines += _WRITTEN[type(line)](line)
    return "\n".join(lines) + "\n"


def write_hand(hand: Hand, rules: bool = True) -> str:
    """The text of a hand, played or declared; without `rules` the lines that name them are left out."""
    return write_record(hand, rules) if isinstance(hand, Record) else write_declared(hand, rules)


def read_hand(
    told: Sequence[Numbered],
    last: int,
    search: Sequence[Path] = (),
    given: Mapping[str, list[tuple[str, int]]] | None = None,
) -> Hand:
    """The hand of numbered lines, declared where a heading says so; `last` and `given` as in `read_record`."""
    if any(heading_of(line) == DECLARED for _, line in told):
        return read_declared(told, last, search, given)
    return read_record(told, last, search, given)


def _lines(
    told: Sequence[Numbered], last: int, header: Headings, ruleset: Ruleset, search: Sequence[Path]
) -> Iterator[MatchLine]:
    given = {name: told for name, told in header.texts.items() if name in ("rules", "option")}
    place = 0
    while place < len(told):
        number, line = told[place]
        place += 1
        words = line.split()
        if words[0] != "hand":
            yield _line(line, number)
            continue
        if len(words) != 2 or not words[1].isascii() or not words[1].isdigit() or len(words[1]) > 5:
            raise bad(number, "`hand NUMBER`", line)
        over = next((at for at in range(place, len(told)) if told[at][1] == END), None)
        if over is None:
            raise RecordError(max(last, 1), f"a line `{END}` after hand {words[1]}, which begins in line {number}")
        hand = read_hand(told[place:over], told[over][0], search, given)
        if _rules_of(hand) != ruleset:
            raise RecordError(_line_of_rules(told[place:over], number), "the rules of the match, or none")
        yield HandOf(int(words[1]), hand, number)
        place = over + 1


def _line(text: str, number: int) -> MatchLine:
    try:
        if text.startswith("want:"):
            return parse_want(text[5:].split(), number, MATCH_WANTS)
        words = text.split()
        if words[0] not in _VERBS:
            raise Expected(f"one of {', '.join((*_VERBS, 'hand'))}, or want:")
        shape, read = _VERBS[words[0]]
        found = read(words[1:], number)
        if found is None:
            raise Expected(f"`{words[0]} {shape}`")
        return found
    except Expected as error:
        raise bad(number, str(error), text) from error


def _throw(words: Sequence[str], number: int) -> MatchLine | None:
    return ThrownForSeat(words[0], _dice(words[1]), number) if len(words) == 2 else None


def _dealer(words: Sequence[str], number: int) -> MatchLine | None:
    fits = len(words) == 2 and words[0] in SEATS
    return ThrownForDealer(words[0], _dice(words[1]), number) if fits else None


def _swap(words: Sequence[str], number: int) -> MatchLine | None:
    fits = len(words) == 3 and words[1] in RIGHTS
    return Swapped(words[0], words[1], _dice(words[2]), number) if fits else None


def _void(words: Sequence[str], number: int) -> MatchLine | None:
    return TakenBack(" ".join(words), number)


def _extend(words: Sequence[str], number: int) -> MatchLine | None:
    return ExtendedBy(count(words[0]), count(words[1]), number) if len(words) == 2 else None


def _stop(words: Sequence[str], number: int) -> MatchLine | None:
    return StoppedBy(words[0], number) if len(words) == 1 and words[0] in STOPS else None


def _dice(word: str) -> Dice:
    """`3+4`."""
    if len(word) != 3 or word[1] != "+" or not {word[0], word[2]} <= set("123456"):
        raise Expected(f"two dice such as 3+4, not {word!r}")
    return int(word[0]), int(word[2])


_VERBS: Mapping[str, tuple[str, Callable[[Sequence[str], int], MatchLine | None]]] = {
    "throw": ("PLAYER DICE", _throw),
    "dealer": ("SEAT DICE", _dealer),
    "swap": ("PLAYER win|half|all DICE", _swap),
    "void": ("[WHY]", _void),
    "extend": ("HANDS MINUTES", _extend),
    "stop": ("time|agreed", _stop),
}

MATCH_VERBS: tuple[str, ...] = (*_VERBS, "hand", END)


def _player_numbers(words: Sequence[str]) -> bool:
    pairs = len(words) % 2 == 0 and bool(words) and all(number_of(word) is not None for word in words[1::2])
    return pairs and len(set(words[::2])) == len(words) // 2


def _deal_words(words: Sequence[str]) -> bool:
    return len(words) == 2 and words[0] in SEATS and number_of(words[1]) is not None


def _seat_words(words: Sequence[str]) -> bool:
    return len(words) == 8 and tuple(words[::2]) == SEATS


MATCH_WANTS: WantShapes = {
    "points": ("PLAYER NUMBER ...", _player_numbers),
    "bonus": ("PLAYER NUMBER ...", _player_numbers),
    "chips": ("PLAYER NUMBER ...", _player_numbers),
    "next": ("DEALER STEPS", _deal_words),
    "seats": ("E PLAYER S PLAYER W PLAYER N PLAYER", _seat_words),
    "over": ("no|empty|hands|time|agreed", lambda words: len(words) == 1 and words[0] in ("no", *OVERS)),
}
"""What can be wanted between the hands of a match."""


def _written_hand(line: HandOf) -> list[str]:
    own = write_hand(line.hand, rules=False).splitlines()
    return [f"hand {line.number}", *own, END, ""]


_WRITTEN: Mapping[type[Any], Callable[[Any], list[str]]] = {
    ThrownForSeat: lambda line: [f"throw {line.player} {_write_dice(line.dice)}"],
    ThrownForDealer: lambda line: [f"dealer {line.seat} {_write_dice(line.dice)}", ""],
    HandOf: _written_hand,
    TakenBack: lambda line: [f"void {line.why}".rstrip()],
    Swapped: lambda line: [f"swap {line.player} {line.right} {_write_dice(line.dice)}"],
    ExtendedBy: lambda line: [f"extend {line.hands} {line.minutes}"],
    StoppedBy: lambda line: [f"stop {line.why}"],
    Want: lambda line: [write_line(line)],
}


def match_line(line: MatchLine) -> str:
    """A line of a match as text, of a hand its number alone."""
    return f"hand {line.number}" if isinstance(line, HandOf) else str(_WRITTEN[type(line)](line)[0])


def _write_dice(dice: Dice) -> str:
    return f"{dice[0]}+{dice[1]}"


def _players(header: Headings) -> tuple[Player, ...]:
    players = tuple(header.each("player", _player))
    if len(players) != len(SEATS) or len({player.id for player in players}) != len(SEATS):
        raise RecordError(header.line("player"), "four lines `player: ID [NAME]`, each of another player")
    return players


def _player(told: str) -> Player:
    name, _, rest = told.partition(" ")
    if not name or len(name) > _LONGEST_ID:
        raise Expected("an id without blanks, and a name if there is one: `player: 1 阿明`")
    return Player(name, rest.strip())


def _seats(told: str) -> str:
    if told not in ("free", "dice"):
        raise Expected("free or dice")
    return told


def _from_one(told: str) -> int:
    found = count(told)
    if not found:
        raise Expected("the number of the match, from 1")
    return found


def _rules_of(hand: Hand) -> Ruleset:
    return hand.deal.rules if isinstance(hand, Record) else hand.sheet.rules


def _line_of_rules(told: Sequence[Numbered], otherwise: int) -> int:
    return next((number for number, line in told if heading_of(line) in ("rules", "option")), otherwise)
