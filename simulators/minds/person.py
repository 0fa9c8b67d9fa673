"""Who decides, and what a decision is: intentions, persons, and the manners that all of them keep."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from engine.ruleset import Ruleset, RulesetError, load_ruleset
from engine.tiles import SEATS, play_order
from protocol.mqtt.views import SeatView, Want
from simulators.sight import Sight


@dataclass(frozen=True, slots=True)
class Intention:
    """One thing to do: an act in the world, or, with a `want`, an answer on the display (or a key pressed for it).

    `pace` names the time it takes (`simulators.assumptions.People`); `rank` how many others are asked before this
    seat; `slip` names the mistake that it is, with its moment; `key` tells it from every other thing to do.
    """

    act: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    want: str = ""
    pace: str = "reaction"
    rank: int = 0
    slip: str = ""

    @property
    def key(self) -> str:
        """What makes it the same intention again."""
        return f"{self.want}|{self.act}|{sorted(self.arguments.items())}"

    @property
    def on_display(self) -> bool:
        """Whether it is a touch of the display rather than an act of hands."""
        return bool(self.want) and self.act != "press"


@dataclass(frozen=True, slots=True)
class Person:
    """Who decides: the seat, the seed of the run, and what is remembered.

    `done` are keys not to be done (again) now; `thrown_before` is the number of the last throw seen before the one in
    question; `hands_only` where somebody else holds this seat's display. `rates` are chances of mistakes by name
    (`simulators.mistakes`), `made` the slips that have happened; `ordered` tells of a seat, a mistake and its moment
    (first the hand) whether a scenario has it there. `matches` of an evening are begun at most, 0: any.
    """

    seat: str
    seed: int
    done: Collection[str] = ()
    thrown_before: int | None = None
    hands_only: bool = False
    rates: Mapping[str, float] = field(default_factory=dict)
    made: Collection[str] = ()
    matches: int = 0
    ordered: Callable[[str, str, tuple[object, ...]], bool] = lambda seat, name, moment: False

    def chance(self, *turn: object) -> random.Random:
        """Chance that depends on the seed, the turn and the seat alone."""
        return random.Random("/".join(map(str, (self.seed, *turn, self.seat))))

    def errs(self, name: str, *moment: object) -> bool:
        """Whether this mistake belongs to this moment, made already or not."""
        rate = self.rates.get(name, 0.0)
        by_chance = rate > 0 and self.chance(name, *moment).random() < rate
        return by_chance or self.ordered(self.seat, name, moment)

    def has_made(self, name: str, *moment: object) -> bool:
        """Whether this mistake has been made."""
        return "/".join(map(str, (name, *moment))) in self.made

    def slip(self, name: str, *moment: object) -> str:
        """The name of a mistake that is to be made now; empty for none, or for one that has been made."""
        if not self.errs(name, *moment) or self.has_made(name, *moment):
            return ""
        return "/".join(map(str, (name, *moment)))


LEAVE = "leave"
"""The act of an intention to leave a question unanswered: nothing is done."""

Answering = Callable[[Person, SeatView, Sight, Want], Iterator[Intention]]
"""What a person does about one want."""


def rank_of(person: Person, first: str) -> int:
    """How many others come before this seat in play order from `first`."""
    return play_order(first).index(person.seat)


def by_anybody(person: Person, first: str | None, want: Want, action: str, **params: Any) -> Intention:
    """What anybody may press is left to one of the four, unless that one takes too long."""
    return Intention(action, params, want=want.id, rank=rank_of(person, first or "E"))


def by_lift_key(person: Person, view: SeatView, want: Want, action: str) -> Intention:
    """The lift key or the display, as chance will have it; the dealer sees to it."""
    asked = by_anybody(person, view.dealer, want, action)
    if person.chance("key", view.hand, want.id).random() < 0.5:
        return Intention("press", {"key": "lift"}, want=want.id, rank=asked.rank)
    return asked


def check(person: Person, want: Want, seen: object, entered: object) -> Iterator[Intention]:
    """Object to what is not so, agree to what is."""
    if seen != entered:
        yield Intention("object", want=want.id)
    elif "agree" in want.actions:
        yield Intention("agree", want=want.id)


def texts(want: Want, name: str) -> list[str]:
    """A param that is a list of texts; empty where it is none."""
    value = want.params.get(name, ())
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []


def text(want: Want, name: str) -> str:
    """A param that is a text; empty where it is none."""
    value = want.params.get(name)
    return value if isinstance(value, str) else ""


def table_of(want: Want, name: str) -> Mapping[str, Any]:
    """A param that is an object; empty where it is none."""
    value = want.params.get(name)
    return value if isinstance(value, Mapping) else {}


def rules_of(view: SeatView) -> Ruleset | None:
    """The rules that are played, the house's options with them; None where this person does not know them."""
    return _rules(view.rules, tuple(sorted((name, _hashable(value)) for name, value in view.options.items())))


@cache
def _rules(name: str, options: tuple[tuple[str, Any], ...]) -> Ruleset | None:
    try:
        return load_ruleset(name, {field: _plain(value) for field, value in options})
    except RulesetError:
        return None


def _hashable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return ("table", tuple(sorted((key, _hashable(one)) for key, one in value.items())))
    return ("list", tuple(map(_hashable, value))) if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    kind, inside = value
    return {key: _plain(one) for key, one in inside} if kind == "table" else [_plain(one) for one in inside]


def chosen_thrower(seed: int, hand: int) -> str:
    """Which seat throws where anybody may: chance has named one of the four."""
    return random.Random(f"{seed}/thrower/{hand}").choice(SEATS)
