"""The lines of a record: what a seat does and draws, when a window closes, what is wanted (docs/records.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, get_args

from engine.melds import MELD_KINDS
from engine.play.actions import COVER_REASONS, Action
from engine.play.state import PHASES
from engine.reasons import CODES
from engine.ruleset_model import Way
from engine.tiles import ALL_FACES, SEATS, TileError, format_tiles, parse_tiles, sort_tiles

WAYS: tuple[str, ...] = get_args(Way)
FOUL_KINDS: tuple[str, ...] = ("zhahu", "zhayou", "zhashuangyou")
KONG_VERBS: Mapping[str, str] = {"open": "kong_open", "added": "kong_added", "concealed": "kong_concealed"}
CLOSE, OPEN = "close", "open"
UNDRAWN = "undrawn"


class Expected(ValueError):
    """Words that are no line; the message says what was expected in their place."""


@dataclass(frozen=True, slots=True)
class Move:
    """What a seat does. `takes` is the tile it claims, of chi, pong and kong_open, checked against the one that lies.

    A chi's action holds the two own tiles. `line` is where it stands in a text, 0 when it comes from play.
    """

    seat: str
    action: Action
    takes: str = ""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A draw, implied by the wall and checked against it: the next tile of the `head` or the `tail`."""

    seat: str
    tile: str
    end: str = "head"
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Clock:
    """`close`: the open window closes, who has not answered passes; `open`: the record ends with its window open."""

    name: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Want:
    """What is to be so at this place of the record: a kind and its words; `move` where they tell one."""

    kind: str
    words: tuple[str, ...]
    move: Move | None = None
    line: int = field(default=0, compare=False)


Line: TypeAlias = Move | Drawn | Clock | Want


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """The first line that cannot be: where it stands, how it reads, a code that displays word, the rule, parameters."""

    line: int
    text: str
    code: str
    rule: str
    params: Mapping[str, Any] = field(default_factory=dict)


def parse_line(text: str, number: int) -> Line:
    """One line after the header, without its comment; Expected tells what should have stood there."""
    if text.startswith("want:"):
        return parse_want(text[5:].split(), number)
    words = text.split()
    if words in ([CLOSE], [OPEN]):
        return Clock(words[0], number)
    if words[0] in SEATS and words[1:2] == ["draws"]:
        if len(words) == 3 or (len(words) == 4 and words[3] == "tail"):
            return Drawn(words[0], one_tile(words[2]), "tail" if len(words) == 4 else "head", number)
        raise Expected("a tile and nothing else, or `tail` after it: E draws 3m")
    return parse_move(words, number)


def write_line(line: Line) -> str:
    """The line as text; `parse_line` gives it back."""
    if isinstance(line, Clock):
        return line.name
    if isinstance(line, Drawn):
        return f"{line.seat} draws {line.tile}" + (" tail" if line.end == "tail" else "")
    if isinstance(line, Want):
        return " ".join(("want:", line.kind, *line.words))
    return write_move(line)


def parse_move(words: Sequence[str], number: int = 0) -> Move:
    """`E discards 3m` and its like; Expected when it is none."""
    if not words or words[0] not in SEATS:
        raise Expected(f"a seat E, S, W or N, {CLOSE}, {OPEN} or want:")
    verb = words[1] if len(words) > 1 else ""
    if verb not in VERBS:
        raise Expected(f"one of {', '.join(VERBS)} after {words[0]}")
    shape, read = VERBS[verb]
    try:
        action, takes = read(words[2:])
    except _Shape:
        raise Expected(f"`{words[0]} {verb} {shape}`".replace(" `", "`")) from None
    return Move(words[0], action, takes, number)


def write_move(move: Move) -> str:
    """A move as `parse_move` reads it."""
    action = move.action
    told = {
        "discard": f"discards {action.tile}",
        "discard_down": f"discards {action.tile} down",
        "tour_discard": f"tours {action.tile}",
        "chi": f"chi {move.takes} with {format_tiles(action.tiles)}",
        "pong": f"pong {move.takes}",
        "kong_open": f"kong {move.takes} open",
        "kong_added": f"kong {action.tile} added",
        "kong_concealed": f"kong {action.tile} concealed",
        "pass": "pass",
        "hu": f"hu {action.way}" + (f" drop {action.tile}" if action.tile else ""),
        "expose_false": f"false {action.kind}",
        "cover": f"covered {action.reason}" + (" undrawn" if action.kind else ""),
    }
    return f"{move.seat} {told[action.name]}"


def one_tile(word: str) -> str:
    """A single tile such as 3m."""
    if word not in ALL_FACES:
        raise Expected(f"a tile such as 3m, 5z or 2f, not {word!r}")
    return word


def some_tiles(word: str) -> list[str]:
    """A run of tiles such as 123m5z, in the order written; `-` is none."""
    try:
        return [] if word == "-" else parse_tiles(word)
    except TileError as error:
        raise Expected(f"tiles such as 123m5z: {error}") from error


class _Shape(Exception):
    """Words that a verb does not take."""


def _discards(words: Sequence[str]) -> tuple[Action, str]:
    if len(words) == 2 and words[1] == "down":
        return Action("discard_down", tile=one_tile(words[0])), ""
    return Action("discard", tile=one_tile(_only(words))), ""


def _tours(words: Sequence[str]) -> tuple[Action, str]:
    return Action("tour_discard", tile=one_tile(_only(words))), ""


def _chi(words: Sequence[str]) -> tuple[Action, str]:
    if len(words) != 3 or words[1] != "with":
        raise _Shape
    own = some_tiles(words[2])
    if len(own) != 2:
        raise _Shape
    return Action("chi", tiles=tuple(sort_tiles(own))), one_tile(words[0])


def _pong(words: Sequence[str]) -> tuple[Action, str]:
    return Action("pong"), one_tile(_only(words))


def _kong(words: Sequence[str]) -> tuple[Action, str]:
    if len(words) != 2 or words[1] not in KONG_VERBS:
        raise _Shape
    tile, name = one_tile(words[0]), KONG_VERBS[words[1]]
    return (Action(name), tile) if name == "kong_open" else (Action(name, tile=tile), "")


def _pass(words: Sequence[str]) -> tuple[Action, str]:
    if words:
        raise _Shape
    return Action("pass"), ""


def _hu(words: Sequence[str]) -> tuple[Action, str]:
    if not words or words[0] not in WAYS:
        raise Expected(f"a way of winning after hu: {', '.join(WAYS)}")
    if len(words) == 1:
        return Action("hu", way=words[0]), ""
    if len(words) != 3 or words[1] != "drop":
        raise _Shape
    return Action("hu", way=words[0], tile=one_tile(words[2])), ""


def _false(words: Sequence[str]) -> tuple[Action, str]:
    if len(words) != 1 or words[0] not in FOUL_KINDS:
        raise Expected(f"one of {', '.join(FOUL_KINDS)} after false")
    return Action("expose_false", kind=words[0]), ""


def _covered(words: Sequence[str]) -> tuple[Action, str]:
    if len(words) not in (1, 2) or words[1:] not in ([], [UNDRAWN]):
        raise _Shape
    if words[0] not in COVER_REASONS:
        raise Expected(f"one of {', '.join(COVER_REASONS)} after covered")
    return Action("cover", reason=words[0], kind=words[1] if words[1:] else ""), ""


def _only(words: Sequence[str]) -> str:
    if len(words) != 1:
        raise _Shape
    return words[0]


VERBS: Mapping[str, tuple[str, Callable[[Sequence[str]], tuple[Action, str]]]] = {
    "draws": ("TILE [tail]", _pass),
    "discards": ("TILE [down]", _discards),
    "tours": ("GOLD", _tours),
    "chi": ("TILE with OWN-TWO", _chi),
    "pong": ("TILE", _pong),
    "kong": ("TILE open|added|concealed", _kong),
    "pass": ("", _pass),
    "hu": ("WAY [drop TILE]", _hu),
    "false": ("KIND", _false),
    "covered": ("REASON [undrawn]", _covered),
}


def parse_want(words: Sequence[str], number: int = 0, shapes: WantShapes | None = None) -> Want:
    """What follows `want:`, of the kinds of `shapes`; Expected when it is nothing that can be looked at."""
    known = WANT_SHAPES if shapes is None else shapes
    if not words or words[0] not in known:
        raise Expected(f"one of {', '.join(known)} after want:")
    kind, rest = words[0], tuple(words[1:])
    shape, reads = known[kind]
    if not reads(rest):
        raise Expected(f"`want: {kind} {shape}`")
    told = rest[1:] if kind == "refused" else rest
    return Want(kind, rest, parse_move(told, number) if kind in ("may", "fault", "refused") else None, number)


def number_of(word: str) -> int | None:
    """A whole number of at most nine digits, perhaps below nothing."""
    digits = word.removeprefix("-")
    return int(word) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def by_seat(words: Sequence[str]) -> dict[str, int] | None:
    """`E -3 S 1 W 1 N 1` as numbers by seat; None when it is not that."""
    told: dict[str, int] = {}
    for seat, word in zip(words[::2], words[1::2], strict=False):
        value = number_of(word)
        if seat not in SEATS or seat in told or value is None:
            return None
        told[seat] = value
    return told if len(words) % 2 == 0 and told else None


def _fits(*kinds: str) -> Callable[[Sequence[str]], bool]:
    return lambda words: len(words) == len(kinds) and all(map(_is, words, kinds))


def _is(word: str, kind: str) -> bool:
    """Whether a word is what its place asks for."""
    if kind == "seat":
        return word in SEATS
    if kind == "number":
        return number_of(word) is not None
    if kind == "tile":
        return word in ALL_FACES
    if kind == "tiles":
        some_tiles(word)
        return True
    if kind == "rule":
        return word[:1] == "R" and word[1:].isascii() and word[1:].isdigit()
    return word in kind.split("|")


def _win_words(words: Sequence[str]) -> bool:
    shape = ["seat", "|".join(WAYS)]
    rest = list(words[2:])
    if rest and rest[0] in ALL_FACES:
        shape.append("tile")
        rest = rest[1:]
    if rest[:1] == ["from"]:
        shape += ["from", "seat"]
        rest = rest[2:]
    if rest == ["after_kong"]:
        shape.append("after_kong")
    return _fits(*shape)(words)


def _meld_words(words: Sequence[str]) -> bool:
    return len(words) % 2 == 1 and _fits("seat", *("|".join(MELD_KINDS), "tiles") * (len(words) // 2))(words)


def _pays_words(words: Sequence[str]) -> bool:
    return _fits("seat", "seat", "number")(words) or _fits("seat", "seat", "number", "bonus")(words)


def _foul_words(words: Sequence[str]) -> bool:
    return len(words) >= 2 and _fits("seat", "|".join(FOUL_KINDS), *("seat",) * (len(words) - 2))(words)


def _move_words(words: Sequence[str]) -> bool:
    return bool(words)


def _refused_words(words: Sequence[str]) -> bool:
    return len(words) > 1 and _is(words[0], "rule")


WantShapes: TypeAlias = Mapping[str, tuple[str, Callable[[Sequence[str]], bool]]]

WANT_SHAPES: WantShapes = {
    "phase": ("|".join(PHASES), _fits("|".join(PHASES))),
    "turn": ("SEAT", _fits("seat")),
    "tour": ("SEAT LEVEL", _fits("seat", "1|2|3")),
    "left": ("NUMBER", _fits("number")),
    "hand": ("SEAT TILES", _fits("seat", "tiles")),
    "melds": ("SEAT [KIND TILES]...", _meld_words),
    "flowers": ("SEAT TILES", _fits("seat", "tiles")),
    "waits": ("SEAT TILES", _fits("seat", "tiles")),
    "ready": ("SEAT yes|no", _fits("seat", "yes|no")),
    "may": ("MOVE", _move_words),
    "fault": ("MOVE", _move_words),
    "refused": ("RULE MOVE", _refused_words),
    "illegal": ("RULE", _fits("rule")),
    "end": ("win|draw|foul", _fits("win|draw|foul")),
    "win": ("SEAT WAY [TILE] [from SEAT] [after_kong]", _win_words),
    "foul": ("SEAT KIND [READY-SEAT]...", _foul_words),
    "covered": ("SEAT REASON", _fits("seat", "|".join(COVER_REASONS))),
    "pays_all": ("SEAT", _fits("seat")),
    "followed": ("NUMBER", _fits("number")),
    "net": ("SEAT NUMBER ...", lambda words: by_seat(words) is not None),
    "bonus": ("SEAT NUMBER ...", lambda words: by_seat(words) is not None),
    "next": ("DEALER STEPS", _fits("seat", "number")),
    "pays": ("PAYER RECEIVER AMOUNT [bonus]", _pays_words),
    "why": ("PAYER RECEIVER CODE NUMBER", _fits("seat", "seat", "|".join(CODES), "number")),
}
"""Every kind of want: what follows it, and whether words are that."""
