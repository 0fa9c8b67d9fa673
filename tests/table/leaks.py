"""A search for what is hidden (`hidden.py`) in everything that a table says.

A tile may be named at the places listed here and at no other, and there only as it lies open or as its own seat sees
it: a single drawn tile at a wrong place is found like a whole wall.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from engine.ruleset import load_ruleset, profiles
from engine.tiles import SEATS, TileError, is_flower, parse_tiles, sort_tiles
from tests.table.hidden import Hand, Hidden, canonical

LEAST_TEXT = 4
"""Faces in a line of a log that make it a run of tiles."""
ENVELOPE = {"id", "cause", "ts", "table"}
"""Fields of the envelope that are random letters and digits, a time, or the table's own name."""

_TEXT = re.compile(r"(?<![0-9A-Za-z])(?:[1-9]+[mpszf])+(?![0-9A-Za-z])")
_LIST = re.compile(r"""(?<![0-9A-Za-z])[1-9][mpszf](?:[\\"', ()\[\]]+[1-9][mpszf])+(?![0-9A-Za-z])""")
_QUOTED = re.compile(r"""(?<=["'=])(?:[1-9]+[mpszf])+(?=[\\"',}\]\s]|$)""", re.MULTILINE)
_WAYS = frozenset(str(way) for name in profiles() for way in load_ruleset(name).ways)

Where = tuple[str | int, ...]


@dataclass(frozen=True)
class Told:
    """A message: who reads it (a seat, or nobody in particular), and the hands that it can speak of."""

    body: Mapping[str, Any]
    seat: str
    hand: Hand
    last: Hand | None

    @cached_property
    def data(self) -> Mapping[str, Any]:
        data = self.body.get("data")
        return data if isinstance(data, Mapping) else {}

    @cached_property
    def own(self) -> set[str]:
        """The faces in the reader's own hand, as the same message shows it."""
        me = self.data.get("me")
        return set(_parsed(str(me["tiles"] or ""))) if isinstance(me, Mapping) else set()

    def want(self, where: Where) -> Mapping[str, Any]:
        """The prompt that a place is part of."""
        found: Mapping[str, Any] = self.data["me"]["wants"][where[3]]
        return found


def leaks_in_message(payload: bytes, hidden: Hidden, seat: str = "") -> list[str]:
    """What a message tells to a reader that may see the hand of `seat` alone; each as `place: what`."""
    if not payload:
        return []
    body = json.loads(payload)
    if not isinstance(body, Mapping):
        body = {"data": body}
    seq = body.get("seq")
    hand, last = hidden.at(str(body.get("type")), seq if isinstance(seq, int) else 0)
    told = Told(body, seat, hand, last)
    return [f"{'.'.join(map(str, where))}: {what}" for where, what in _leaks(body, (), told)]


def leaks_in_text(text: str) -> list[str]:
    """What logs or figures tell: runs and lists of tiles, and single ones that are a value by themselves."""
    found = [run for run in _TEXT.findall(text) if _is_run(run, LEAST_TEXT)]
    lists = [match.group() for match in _LIST.finditer(text)]
    found += [run for run in lists if not all(map(is_flower, _faces_of(run)))]
    return found + [run for run in _QUOTED.findall(text) if _is_run(run, 1)]


def told_in_windows(messages: Sequence[tuple[str, bytes]]) -> list[str]:
    """Public events of the game while a claim window is open, and the presses named as what closed one: nobody is told
    who answers, and when.
    """
    found, opened = [], False
    for topic, payload in messages:
        if not topic.endswith("/event/game") or not payload:
            continue
        body = json.loads(payload)
        name = body["data"]["name"]
        if opened and name not in _CLOSE_WINDOWS:
            found.append(name)
        if opened and body["cause"] is not None:
            found.append(f"{name} because of {body['cause']}")
        opened = name in ("discarded", "kong_shown")
    return found


_CLOSE_WINDOWS = ("window_closed", "won", "fouled")


# --- the walk ---------------------------------------------------------------------------------------------------------


def _leaks(value: Any, where: Where, told: Told) -> Iterator[tuple[Where, str]]:
    if isinstance(value, str):
        yield from _text_leaks(value, where, told)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _text_leaks(key, (*where, "key"), told)
            if not _is_name(where, key):
                yield from _leaks(part, (*where, key), told)
    elif isinstance(value, list):
        if where[-1:] == ("options",) and where[:3] == _WANTS:
            yield from _offered_leaks(value, where, told)
        for index, part in enumerate(value):
            yield from _leaks(part, (*where, index), told)


def _is_name(where: Where, key: str) -> bool:
    """Whether a field only names a message, a prompt or a press."""
    return key in ENVELOPE if not where else key == "id" and where[:3] in (_WANTS, _ANSWERS) and len(where) == 4


def _text_leaks(text: str, where: Where, told: Told) -> Iterator[tuple[Where, str]]:
    if text in _WAYS and not _may_name_way(text, where, told):
        yield where, f"way {text}"
    runs = [run for run in (*_TEXT.findall(text), *(match.group() for match in _LIST.finditer(text)))]
    faces = [face for run in runs for face in _faces_of(run)]
    if faces and not _may_name_tiles(faces, where, told):
        yield where, f"tiles {' '.join(runs)}"


def _offered_leaks(options: list[Any], where: Where, told: Told) -> Iterator[tuple[Where, str]]:
    """What a seat is offered is what it may do, not what another may."""
    want = told.want(where)
    may = told.hand.offered.get((str(want["id"]), told.seat))
    if want["verb"] in _OF_THE_OWN and told.hand.offered:
        for option in options:
            if may is None or canonical(option) not in may:
                yield where, f"option {option}"


def _faces_of(run: str) -> list[str]:
    return _parsed(run) if _TEXT.fullmatch(run) else re.findall(r"[1-9][mpszf]", run)


def _parsed(run: str) -> list[str]:
    try:
        return parse_tiles(run)
    except TileError:
        return []


def _is_run(run: str, least: int) -> bool:
    faces = _parsed(run)
    return len(faces) >= least and not all(map(is_flower, faces))


# --- places -----------------------------------------------------------------------------------------------------------


def _shape(where: Where) -> tuple[str, ...]:
    """A place without its numbers (`#`) and seats (`@`)."""
    return tuple("#" if isinstance(part, int) else "@" if part in SEATS else part for part in where)


def _may_name_tiles(faces: list[str], where: Where, told: Told) -> bool:
    shape = _shape(where)
    if shape[:3] == _WANTS:
        return bool(told.seat) and _in_prompt(faces, where, told)
    if shape[:2] == ("data", "me") and not told.seat:
        return False
    if told.body.get("type") == "event":
        allowed = _IN_EVENTS.get((str(told.data.get("name")), shape[2:]))
        return shape[:2] == ("data", "params") and allowed is not None and allowed(faces, where, told)
    place = _IN_VIEWS.get(shape[1:]) if shape[:1] == ("data",) else None
    if place is not None:
        return place(faces, where, told)
    return shape[:3] in _OF_THE_OWN_PLAYER and bool(told.seat) and _of_the_own_player(faces, where, told)


_Check = Callable[[list[str], Where, Told], bool]
_WANTS = ("data", "me", "wants")
_ANSWERS = ("data", "me", "answers")
_OF_THE_OWN_PLAYER = (_ANSWERS, ("data", "me", "lines"), ("data", "me", "sheet"))


def _flower(faces: list[str], where: Where, told: Told) -> bool:
    return all(any(face in laid for laid in told.hand.flowers.values()) for face in faces)


def _gold(faces: list[str], where: Where, told: Told) -> bool:
    return set(faces) <= told.hand.gold


def _on_table(faces: list[str], where: Where, told: Told) -> bool:
    return set(faces) <= told.hand.on_table()


def _pond(faces: list[str], where: Where, told: Told) -> bool:
    """A pond holds open discards of its seat alone, none oftener than it was discarded."""
    seat = str(where[3])
    lying = Counter(face for face in told.data["play"]["discards"][seat] if face)
    return not lying - told.hand.discards[seat]


def _last_discard(faces: list[str], where: Where, told: Told) -> bool:
    return set(faces) <= set(told.hand.discards[told.data["play"]["last"]["seat"]])


def _meld(faces: list[str], where: Where, told: Told) -> bool:
    return tuple(sort_tiles(faces)) in told.hand.melds[str(where[3])]


def _own_hand(faces: list[str], where: Where, told: Told) -> bool:
    return bool(told.seat) and tuple(sort_tiles(faces)) in told.hand.own[told.seat]


def _shown_before(faces: list[str], where: Where, told: Told) -> bool:
    return told.last is not None and tuple(sort_tiles(faces)) in told.last.shown


def _laid_before(faces: list[str], where: Where, told: Told) -> bool:
    laid = () if told.last is None else told.last.melds.values()
    return any(tuple(sort_tiles(faces)) in melds for melds in laid)


def _won_before(faces: list[str], where: Where, told: Told) -> bool:
    return told.last is not None and set(faces) <= set().union(*told.last.ever.values(), told.last.on_table())


def _meld_now(faces: list[str], where: Where, told: Told) -> bool:
    return any(tuple(sort_tiles(faces)) in melds for melds in told.hand.melds.values())


def _of_the_own_player(faces: list[str], where: Where, told: Told) -> bool:
    """Answers speak of the own hand and of what lies open; payments and what is looked at of hands that are over."""
    if where[2] != "answers":
        return told.last is not None
    known = told.hand.ever[told.seat] | told.hand.on_table() | told.hand.gold
    return set(faces) <= known | set().union(*told.hand.flowers.values())


_IN_VIEWS: Mapping[tuple[str, ...], _Check] = {
    ("flowers", "@", "#"): _flower,
    ("gold", "face"): _gold,
    ("gold", "tile"): _gold,
    ("gold", "white"): _gold,
    ("gold", "indicator"): _gold,
    ("gold", "passed", "#", "#"): _gold,
    ("play", "tile"): _on_table,
    ("play", "last", "tile"): _last_discard,
    ("play", "discards", "@", "#"): _pond,
    ("play", "melds", "@", "#", "tiles"): _meld,
    ("result", "tiles", "@"): _shown_before,
    ("result", "melds", "@", "#", "tiles"): _laid_before,
    ("result", "wins", "#", "tile"): _won_before,
    ("me", "tiles"): _own_hand,
}
"""Where a view names tiles."""


def _ended(faces: list[str], where: Where, told: Told) -> bool:
    """A win lays the hand open."""
    return set(faces) <= set().union(*told.hand.ever.values(), told.hand.on_table(), told.hand.gold)


_IN_EVENTS: Mapping[tuple[str, tuple[str, ...]], _Check] = {
    ("flower", ("tile",)): _flower,
    ("flower_withdrawn", ("tile",)): _flower,
    ("flowers_replaced", ("flowers", "#")): _flower,
    ("gold_passed", ("tile",)): _gold,
    ("gold", ("tile",)): _gold,
    ("gold", ("face",)): _gold,
    ("gold", ("white",)): _gold,
    ("discarded", ("tile",)): _on_table,
    ("melded", ("tiles",)): _meld_now,
    ("melded", ("tile",)): _on_table,
    ("kong", ("tiles",)): _meld_now,
    ("kong_shown", ("tile",)): _on_table,
    ("won", ("tile",)): _ended,
    ("won", ("drop",)): _ended,
}
"""Where the public stream names tiles."""


# --- prompts ----------------------------------------------------------------------------------------------------------

_OF_THE_OWN = ("opening", "turn", "claim", "lap", "flower", "replace", "flowers", "hand_check")
"""Prompts about tiles of the own hand as the same view shows it."""
_OF_FLOWERS = ("flowers", "tail", "book", "entry", "object_entry")
_OF_THE_END = ("entry", "object_entry", "vote", "agree")


def _in_prompt(faces: list[str], where: Where, told: Told) -> bool:
    """Whether a prompt may name tiles to its seat: its own, those that lie open, and all once the hand is over."""
    want, hand, seat = told.want(where), told.hand, told.seat
    verb, named = want["verb"], set(faces)
    if verb in _OF_FLOWERS and named <= set().union(*hand.flowers.values()):
        return True
    if verb in _OF_THE_END:
        whose = hand.ever[seat] if verb == "entry" else set().union(*hand.ever.values())
        laid = {face for melds in hand.melds.values() for meld in melds for face in meld}
        return told.data.get("phase") == "settle" and named <= whose | laid | hand.on_table()
    if verb in _OF_THE_OWN:
        lent = {str(want["params"].get("tile") or "")} & hand.on_table() if verb == "claim" else set()
        return named <= told.own | lent | (hand.gold if verb == "opening" else set())
    if verb == "lay":
        laid = {face for meld in hand.melds[seat] for face in meld}
        return named <= told.own | laid
    if verb in ("wrong_discard", "reader_check"):
        return named <= hand.ever[seat]
    return verb == "gold_check" and named <= hand.gold


_NAMES_WAYS = (
    ("data", "result", "way"),
    ("data", "result", "wins", "#", "way"),
    ("data", "book", "winners", "#", "way"),
    ("data", "params", "way"),
    ("data", "params", "wins", "#", "way"),
    ("data", "record", "wins", "#", "way"),
)
"""How a hand was won is told when it is over (also in the ledger, once it is booked), and what people say of it."""


def _may_name_way(way: str, where: Where, told: Told) -> bool:
    """A way to win is offered to its seat alone; what the rules know and what is over is told to all."""
    shape = _shape(where)
    if shape in _NAMES_WAYS or shape[:2] == ("data", "options") or shape[:3] == ("data", "record", "options"):
        return True
    if shape[:3] == _WANTS and told.seat:
        of_play = told.want(where)["verb"] in _OF_THE_OWN
        return not of_play or (told.seat, way) in told.hand.claims
    return shape[:3] in _OF_THE_OWN_PLAYER and bool(told.seat)
