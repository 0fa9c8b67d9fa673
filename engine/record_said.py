"""The lines of a declared hand: what people said of it, and back from a sheet (docs/records.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine import declarations as d
from engine.declared import Sheet
from engine.melds import MELD_KINDS, Meld
from engine.outcome import Outcome, Win
from engine.reasons import WATER_ITEMS
from engine.record_lines import FOUL_KINDS, WAYS, Expected, number_of, some_tiles
from engine.ruleset_checks import PATTERNS
from engine.tally import HARDNESS
from engine.tiles import ALL_FACES, SEATS, join_tiles

ITEMS: tuple[str, ...] = (*WATER_ITEMS, "water")
TOLD_PATTERNS: tuple[str, ...] = (*PATTERNS, "zimo", "sanjindao")
NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Said:
    """One declaration and the line where it stands, 0 when it comes from a sheet."""

    said: d.Declaration
    line: int = field(default=0, compare=False)


def parse_said(text: str, number: int = 0) -> Said:
    """One line of a declared hand, without its comment; Expected tells what should have stood there."""
    words = text.split()
    if words[0] in SEATS:
        return Said(_of_seat(words[0], words[1:]), number)
    if words[0] not in _OF_HAND:
        raise Expected(f"a seat E, S, W or N, {', '.join(_OF_HAND)}, or want:")
    shape, read = _OF_HAND[words[0]]
    try:
        return Said(read(words[1:]), number)
    except _Shape:
        raise Expected(f"`{words[0]} {shape}`") from None


def write_said(line: Said) -> str:
    """The line as text; `parse_said` gives it back."""
    return _WRITTEN[type(line.said)](line.said)


def said_of(sheet: Sheet) -> Iterator[d.Declaration]:
    """What was said of a sheet, each word once: declared on the same beginning it comes to the same sheet."""
    for seat in SEATS:
        told = sheet.seats[seat]
        if told.flowers is not None:
            yield d.FlowersHeld(seat, told.flowers)
        if told.melds:
            yield d.MeldsLaid(seat, told.melds)
        if told.golds is not None:
            yield d.GoldsHeld(seat, told.golds)
        if told.triplets:
            yield d.TripletsHeld(seat, told.triplets)
        if told.concealed is not None:
            yield d.HandShown(seat, told.concealed)
        if told.items is not None:
            yield d.WaterTold(seat, told.items)
        if told.patterns is not None:
            yield d.PatternsTold(seat, told.patterns)
    if sheet.hardness is not None:
        yield d.HardnessTold(sheet.hardness)
    yield from (d.SeatCovered(seat) for seat in sheet.covered)
    if sheet.no_flowers or sheet.followed:
        yield d.DealerFollowed(sheet.no_flowers, sheet.followed)
    if sheet.pays_all is not None:
        yield d.PaysAll(sheet.pays_all)
    if sheet.outcome is not None:
        yield _ended(sheet.outcome)


def _ended(outcome: Outcome) -> d.Declaration:
    if outcome.foul is not None:
        return d.FalseWinShown(outcome.foul.seat, outcome.foul.kind, outcome.foul.ready)
    return d.HandWon(outcome.winners) if outcome.winners else d.HandDrawn(outcome.last_drawer)


class _Shape(Exception):
    """Words that a verb does not take."""


def _of_seat(seat: str, words: Sequence[str]) -> d.Declaration:
    verb = words[0] if words else ""
    if verb not in _OF_SEAT:
        raise Expected(f"one of {', '.join(_OF_SEAT)} after {seat}")
    shape, read = _OF_SEAT[verb]
    try:
        return read(seat, words[1:])
    except _Shape:
        raise Expected(f"`{seat} {verb} {shape}`".replace(" `", "`")) from None


def _tiles(words: Sequence[str]) -> tuple[str, ...]:
    if not words:
        raise _Shape
    return tuple(tile for word in words for tile in some_tiles(word))


def _melds(words: Sequence[str]) -> tuple[Meld, ...]:
    if list(words) == [NOTHING]:
        return ()
    if not words or len(words) % 2:
        raise _Shape
    for kind in words[::2]:
        if kind not in MELD_KINDS:
            raise Expected(f"one of {', '.join(MELD_KINDS)}, not {kind!r}")
    return tuple(Meld(kind, _tiles([tiles])) for kind, tiles in zip(words[::2], words[1::2], strict=True))


def _items(words: Sequence[str]) -> tuple[tuple[str, int], ...]:
    if list(words) == [NOTHING]:
        return ()
    if not words or len(words) % 2:
        raise _Shape
    found = []
    for name, number in zip(words[::2], words[1::2], strict=True):
        if name not in ITEMS:
            raise Expected(f"one of {', '.join(ITEMS)}, not {name!r}")
        found.append((name, _number(number)))
    return tuple(found)


def _patterns(words: Sequence[str]) -> tuple[str, ...]:
    if list(words) == [NOTHING]:
        return ()
    if not words:
        raise _Shape
    for name in words:
        if name not in TOLD_PATTERNS:
            raise Expected(f"one of {', '.join(TOLD_PATTERNS)}, not {name!r}")
    return tuple(words)


def _won(seat: str, words: Sequence[str]) -> d.HandWon:
    """`zimo 3m`, `pinghu 9p from E and W pinghu 9p from E`."""
    each = [[seat]]
    for word in words:
        if word == "and":
            each.append([])
        else:
            each[-1].append(word)
    return d.HandWon(tuple(_one_win(told) for told in each))


def _one_win(words: Sequence[str]) -> Win:
    if len(words) < 2 or words[0] not in SEATS:
        raise _Shape
    seat, way, rest = words[0], words[1], list(words[2:])
    if way not in WAYS:
        raise Expected(f"a way of winning such as {', '.join(WAYS)}, not {way!r}")
    tile = rest.pop(0) if rest and rest[0] in ALL_FACES else None
    source = None
    if rest[:1] == ["from"] and rest[1:2] and rest[1] in SEATS:
        source, rest = rest[1], rest[2:]
    after_kong = rest == ["after_kong"]
    if rest and not after_kong:
        raise _Shape
    return Win(seat, way, tile, source, after_kong)


def _drawn(words: Sequence[str]) -> d.HandDrawn:
    if not words:
        return d.HandDrawn()
    return d.HandDrawn(_seat_of(words))


def _false(seat: str, words: Sequence[str]) -> d.FalseWinShown:
    if not words or words[0] not in FOUL_KINDS:
        raise Expected(f"one of {', '.join(FOUL_KINDS)} after false")
    if len(words) == 1:
        return d.FalseWinShown(seat, words[0])
    if words[1] != "ready" or len(words) < 3 or any(other not in SEATS for other in words[2:]):
        raise _Shape
    return d.FalseWinShown(seat, words[0], tuple(words[2:]))


def _followed(words: Sequence[str]) -> d.DealerFollowed:
    if not words or words[1:] not in ([], ["no_flowers"]):
        raise _Shape
    return d.DealerFollowed(len(words) == 2, _number(words[0]))


def _hardness(words: Sequence[str]) -> d.HardnessTold:
    if len(words) != 1 or words[0] not in HARDNESS:
        raise _Shape
    return d.HardnessTold(words[0])


def _pays_all(words: Sequence[str]) -> d.PaysAll:
    return d.PaysAll(None if list(words) == [NOTHING] else _seat_of(words))


def _seat_of(words: Sequence[str]) -> str:
    if len(words) != 1 or words[0] not in SEATS:
        raise _Shape
    return words[0]


def _covered(covered: bool) -> Callable[[str, Sequence[str]], d.Declaration]:
    def read(seat: str, words: Sequence[str]) -> d.Declaration:
        if words:
            raise _Shape
        return d.SeatCovered(seat, covered)

    return read


def _golds(seat: str, words: Sequence[str]) -> d.GoldsHeld:
    if len(words) != 1:
        raise _Shape
    return d.GoldsHeld(seat, _number(words[0]))


def _number(word: str) -> int:
    value = number_of(word)
    if value is None:
        raise Expected(f"a whole number, not {word!r}")
    return value


_OF_SEAT: Mapping[str, tuple[str, Callable[[str, Sequence[str]], d.Declaration]]] = {
    "flowers": ("TILES", lambda seat, words: d.FlowersHeld(seat, _tiles(words))),
    "melds": ("KIND TILES ...", lambda seat, words: d.MeldsLaid(seat, _melds(words))),
    "golds": ("NUMBER", _golds),
    "triplets": ("TILES", lambda seat, words: d.TripletsHeld(seat, _tiles(words))),
    "shows": ("TILES", lambda seat, words: d.HandShown(seat, _tiles(words))),
    "water": ("ITEM NUMBER ...", lambda seat, words: d.WaterTold(seat, _items(words))),
    "patterns": ("PATTERN ...", lambda seat, words: d.PatternsTold(seat, _patterns(words))),
    "won": ("WAY [TILE] [from SEAT] [after_kong] [and SEAT WAY ...]", _won),
    "false": ("KIND [ready SEAT ...]", _false),
    "covered": ("", _covered(True)),
    "uncovered": ("", _covered(False)),
}

_OF_HAND: Mapping[str, tuple[str, Callable[[Sequence[str]], d.Declaration]]] = {
    "drawn": ("[SEAT]", _drawn),
    "hardness": ("soft|hard|double", _hardness),
    "pays_all": ("SEAT", _pays_all),
    "followed": ("NUMBER [no_flowers]", _followed),
}

SAID_VERBS: tuple[str, ...] = (*_OF_SEAT, *_OF_HAND)
"""Every verb of a declared hand."""


def _joined(words: Sequence[str]) -> str:
    return " ".join(words) or NOTHING


def _write_won(said: d.HandWon) -> str:
    told: list[str] = []
    for win in said.wins:
        words = [win.seat, *(["won"] if not told else []), win.way]
        words += [win.tile] if win.tile is not None else []
        words += ["from", win.source] if win.source is not None else []
        told.append(" ".join([*words, *(["after_kong"] if win.after_kong else [])]))
    return " and ".join(told)


def _write_false(said: d.FalseWinShown) -> str:
    return f"{said.seat} false {said.kind}" + (f" ready {' '.join(said.ready)}" if said.ready else "")


def _in_order(tiles: Sequence[str]) -> str:
    """Tiles that come back in the order they have."""
    return join_tiles(tiles) or NOTHING


_WRITTEN: Mapping[type[Any], Callable[[Any], str]] = {
    d.FlowersHeld: lambda said: f"{said.seat} flowers {_in_order(said.faces)}",
    d.MeldsLaid: lambda said: (
        f"{said.seat} melds {_joined([f'{meld.kind} {_in_order(meld.tiles)}' for meld in said.melds])}"
    ),
    d.GoldsHeld: lambda said: f"{said.seat} golds {said.golds}",
    d.TripletsHeld: lambda said: f"{said.seat} triplets {_in_order(said.faces)}",
    d.HandShown: lambda said: f"{said.seat} shows {_in_order(said.concealed)}",
    d.WaterTold: lambda said: f"{said.seat} water {_joined([f'{name} {value}' for name, value in said.items])}",
    d.PatternsTold: lambda said: f"{said.seat} patterns {_joined(said.patterns)}",
    d.HardnessTold: lambda said: f"hardness {said.hardness}",
    d.HandWon: _write_won,
    d.HandDrawn: lambda said: " ".join(("drawn", *([said.last_drawer] if said.last_drawer else []))),
    d.FalseWinShown: _write_false,
    d.SeatCovered: lambda said: f"{said.seat} {'covered' if said.covered else 'uncovered'}",
    d.PaysAll: lambda said: f"pays_all {said.seat or NOTHING}",
    d.DealerFollowed: lambda said: f"followed {said.followed}" + (" no_flowers" if said.no_flowers else ""),
}
