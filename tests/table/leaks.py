"""What must stay hidden at a table, from its journal or its script, and a search for it in everything that was said."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from controller.journal import read_events
from engine import events as e
from engine.opening import side_positions, wall_positions
from engine.play import PlayState, options
from engine.ruleset import load_ruleset
from engine.state import new_state
from engine.table import apply
from engine.tiles import ALL_FACES, SEATS, TileError, format_tiles, is_flower, parse_tiles, sort_tiles

LEAST_LIST = 3
"""Faces in a row that make a list worth looking at; fewer are met by chance."""
LEAST_TEXT = 4
"""Faces in a text that make it a run of tiles."""
UNREAD = {"id", "cause"}
"""Fields of the envelope that are random letters and digits."""

_FACES = frozenset(ALL_FACES)
_TEXT = re.compile(r"(?<![0-9A-Za-z])(?:[1-9]+[mpszf])+(?![0-9A-Za-z])")
_LIST = re.compile(r"""(?<![0-9A-Za-z])[1-9][mpszf](?:[\\"', ()\[\]]+[1-9][mpszf])+(?![0-9A-Za-z])""")

Where = tuple[str | int, ...]


@dataclass
class Hidden:
    """What nobody may be told: wall sides in their order; hands, takes and replacements as sorted faces; ways to win.

    `own`: the hands of each seat, sorted, which this seat itself may read. `shown`: hands told when they are booked,
    `laid`: melds and discards as they lie open. `claims`: the ways by which each seat could have won.
    """

    sides: set[tuple[str, ...]] = field(default_factory=set)
    groups: set[tuple[str, ...]] = field(default_factory=set)
    claims: set[tuple[str, str]] = field(default_factory=set)
    own: dict[str, set[tuple[str, ...]]] = field(default_factory=lambda: {seat: set() for seat in SEATS})
    shown: set[str] = field(default_factory=set)
    laid: set[tuple[str, ...]] = field(default_factory=set)
    _joined: set[str] = field(default_factory=set)

    def add_group(self, tiles: Iterable[str]) -> None:
        """A hand or a take."""
        group = tuple(sort_tiles(tiles))
        if len(group) >= LEAST_LIST:
            self.groups.add(group)

    def add_hand(self, seat: str, tiles: Iterable[str]) -> None:
        """A hand that its seat sees."""
        hand = tuple(sort_tiles(tiles))
        self.own[seat].add(hand)
        self.add_group(hand)

    def holds(self, faces: Sequence[str]) -> bool:
        """Whether a run of faces is part of a wall side, in either direction, or a whole hand or take in any order."""
        if len(faces) < LEAST_LIST:
            return False
        if tuple(sort_tiles(faces)) in self.groups:
            return True
        text = " ".join(faces)
        back = " ".join(reversed(faces))
        if len(self._joined) != len(self.sides):
            self._joined = {" ".join(side) for side in self.sides}
        return any(text in side or back in side for side in self._joined)


def hidden_in_journal(path: Path) -> Hidden:
    """Everything secret that a table has read, in all its hands."""
    hidden, state = Hidden(), new_state()
    for stored in read_events(path):
        event = e.decode_event({**stored.body, "type": stored.type})
        state = apply(state, event)
        match event:
            case e.WallRead():
                hidden.sides.add(event.tiles)
            case e.TakeDone(tiles=tuple() as tiles):
                hidden.add_group(tiles)
            case e.FlowersReplaced():
                hidden.add_group(event.tiles)
            case e.HandEnded() | e.HandRebooked() if state.result is not None:
                hidden.shown.update(format_tiles(held.concealed) for held in state.result.held.values())
        for seat in SEATS:
            for tiles in (state.play.hands.get(seat, ()), state.play.seen.get((seat, "hand"), ())):
                hidden.add_hand(seat, [face for face in tiles if face in _FACES])
        if state.play.game is not None:
            _hidden_in_play(hidden, state.play.game)
    return hidden


def _hidden_in_play(hidden: Hidden, game: PlayState) -> None:
    for seat, held in game.seats.items():
        hidden.add_hand(seat, held.hand)
        hidden.laid.update(meld.tiles for meld in held.melds)
        lying = [one for one in game.discards if one.seat == seat and not one.taken]
        hidden.laid.add(tuple(one.tile for one in lying if one.how != "ming"))
        hidden.claims.update((seat, action.way) for action in options(game, seat) if action.name == "hu")


def hidden_in_case(row: Mapping[str, Any]) -> Hidden:
    """The same of a written case that is laid into a table: its wall, its takes and its hands (no seat reads any)."""
    rules = load_ruleset(row["rules"])
    layout = row.get("layout") or rules.layouts[0]
    at = dict(zip(wall_positions(rules, layout), parse_tiles(row["wall"]), strict=True))
    hidden = Hidden(sides={tuple(at[place] for place in side_positions(rules, layout, side)) for side in SEATS})
    for _, positions in row["want"]["takes"]:
        hidden.add_group(at[position] for position in positions)
    for tiles in row["want"]["hands"].values():
        hidden.add_group(parse_tiles(tiles))
    return hidden


def leaks_in_message(payload: bytes, hidden: Hidden, seat: str = "") -> list[str]:
    """What a message tells to a reader that may see the hand of `seat` alone; each as `place: what`."""
    if not payload:
        return []
    return [f"{'.'.join(map(str, where))}: {what}" for where, what in _leaks(json.loads(payload), (), hidden, seat)]


def leaks_in_text(text: str, hidden: Hidden) -> list[str]:
    """What logs or figures tell: runs of tiles in the notation, and hidden ones as lists."""
    found = [run for run in _TEXT.findall(text) if _is_told(_parsed(run), hidden)]
    for match in _LIST.finditer(text):
        if _told_part(re.findall(r"[1-9][mpszf]", match.group()), hidden):
            found.append(match.group())
    return found


def _told_part(faces: Sequence[str], hidden: Hidden) -> Sequence[str]:
    """The first hidden run within a run, which may begin or end with something harmless; empty without one."""
    parts = (faces[at:end] for at in range(len(faces)) for end in range(at + LEAST_LIST, len(faces) + 1))
    return next((part for part in parts if hidden.holds(part)), ())


def _leaks(value: Any, where: Where, hidden: Hidden, seat: str) -> Iterator[tuple[Where, str]]:
    if isinstance(value, str):
        yield from _text_leaks(value, where, hidden, seat)
        return
    if isinstance(value, Mapping):
        for faces in (list(value), list(value.values())):
            yield from _list_leaks(faces, where, hidden)
        for key, part in value.items():
            yield from _text_leaks(key, (*where, "key"), hidden, seat)
            if where or key not in UNREAD:
                yield from _leaks(part, (*where, key), hidden, seat)
    elif isinstance(value, list):
        yield from _list_leaks(value, where, hidden)
        if len(value) == 2 and tuple(map(str, value)) in hidden.claims:
            yield where, f"claim {value}"
        for index, part in enumerate(value):
            yield from _leaks(part, (*where, index), hidden, seat)


def _list_leaks(value: Sequence[Any], where: Where, hidden: Hidden) -> Iterator[tuple[Where, str]]:
    """Faces side by side, or one in each of several small parts such as `["E1t", "3m"]`."""
    faces = [part for part in value if isinstance(part, str) and part in _FACES]
    if not faces and where[-1:] != ("passed",) and not _lies_open(where):
        inner = [[face for face in _strings(part) if face in _FACES] for part in value]
        faces = [found[0] for found in inner if len(found) == 1]
    if faces and not (_may_list_flowers(where) and all(map(is_flower, faces))):
        if _lies_open(where) and (tuple(faces) in hidden.laid or not hidden.laid):
            return
        if where[:3] == _WANTS and _of_the_own(where):
            return
        told = _told_part(faces, hidden)
        if told:
            yield where, f"list {told}"


_WANTS = ("data", "me", "wants")
_OWN_LISTS = ("discards", "follow", "tiles", "seen", "believed")


def _lies_open(where: Where) -> bool:
    """Discards and melds, as the public part shows them."""
    return where[:3] in (("data", "play", "discards"), ("data", "play", "melds"), ("data", "result", "melds"))


def _of_the_own(where: Where) -> bool:
    """What a seat is asked to do with tiles of its own hand: that prompt is in its own view alone."""
    return "params" in where and any(name in where for name in _OWN_LISTS)


def _strings(value: Any) -> list[str]:
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return [part for part in parts if isinstance(part, str)]


def _may_list_flowers(where: Where) -> bool:
    """Flowers lie open once they are laid out; those that a seat is asked to lay out are its own."""
    return "flowers" in where or (where[:2] == ("data", "me") and where[-1] in ("mine", "taken", "tiles"))


def _text_leaks(text: str, where: Where, hidden: Hidden, seat: str) -> Iterator[tuple[Where, str]]:
    if where == ("data", "me", "tiles") and tuple(sort_tiles(_parsed(text))) in hidden.own.get(seat, ()):
        return
    if where[:3] in (("data", "result", "tiles"), ("data", "params", "tiles")) and text in hidden.shown:
        return
    if (_lies_open(where) or where == ("data", "params", "tiles")) and _is_laid(text, hidden):
        return
    for run in leaks_in_text(text, hidden):
        yield where, f"tiles {run}"
    ways = {way for _, way in hidden.claims}
    if text in ways and not _may_name_way(text, where, hidden, seat):
        yield where, f"claim {text}"


def _is_laid(text: str, hidden: Hidden) -> bool:
    """Whether the text is a meld that lies open."""
    return tuple(sort_tiles(_parsed(text))) in {tuple(sort_tiles(tiles)) for tiles in hidden.laid}


def _may_name_way(way: str, where: Where, hidden: Hidden, seat: str) -> bool:
    """A way to win is offered to its seat alone; how a hand was won is told when it is over."""
    if (where[:3] == _WANTS and where[-1] == "way") or "claims" in where:
        return (seat, way) in hidden.claims
    return where[:2] in (("data", "params"), ("data", "result"), ("data", "book")) or where[:3] == (
        "data",
        "me",
        "lines",
    )


def _is_told(faces: Sequence[str], hidden: Hidden) -> bool:
    """Runs of tiles are never said; short ones and flowers alone could be something else."""
    return (len(faces) >= LEAST_TEXT and not all(map(is_flower, faces))) or hidden.holds(faces)


def _parsed(text: str) -> list[str]:
    try:
        return parse_tiles(text)
    except TileError:
        return []
