"""What a person at the table does next, from what the own display says and what eyes see. Pure.

A person keeps the manners of the table: does what hands must do first, answers what the display asks for, and leaves
what anybody may press to one of the four (the dealer, as a rule), unless that one takes too long.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from engine.opening import Lines, Taking, lines, taking
from engine.ruleset import Ruleset, RulesetError, load_ruleset
from engine.tiles import SEATS, is_flower, play_order
from protocol.mqtt.views import SeatView, Want
from simulators.sight import Sight


@dataclass(frozen=True, slots=True)
class Intention:
    """One thing to do: an act in the world, or, with a `want`, an answer on the display (or a key pressed for it).

    `pace` names the time it takes (`simulators.assumptions.People`); `rank` how many others are asked before this
    seat; `key` tells it from every other thing that could be done.
    """

    act: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    want: str = ""
    pace: str = "reaction"
    rank: int = 0

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
    question; `hands_only` where somebody else holds this seat's display.
    """

    seat: str
    seed: int
    done: Collection[str] = ()
    thrown_before: int | None = None
    hands_only: bool = False

    def chance(self, *turn: object) -> random.Random:
        """Chance that depends on the seed, the turn and the seat alone."""
        return random.Random("/".join(map(str, (self.seed, *turn, self.seat))))


def intention(person: Person, view: SeatView, sight: Sight) -> Intention | None:
    """What is to be done now: hands before display, what others are asked for first last; None: nothing."""
    allowed = [
        found
        for found in _everything(person, view, sight)
        if found.key not in person.done and not (person.hands_only and found.want)
    ]
    return min(allowed, key=lambda found: found.rank, default=None)


def _everything(person: Person, view: SeatView, sight: Sight) -> Iterator[Intention]:
    yield from _clear_felt(person, sight)
    yield from _lay_row(person, view, sight)
    if view.sensing == "none":
        yield from _take_in_turn(person, view, sight)
    yield from _put_flipped_right(person, view, sight)
    for want in view.me.wants:
        yield from _WANTS.get(want.verb, _leave)(person, view, sight, want)


def chosen_thrower(seed: int, hand: int) -> str:
    """Which seat throws where anybody may: chance has named one of the four."""
    return random.Random(f"{seed}/thrower/{hand}").choice(SEATS)


# --- what hands do ----------------------------------------------------------------------------------------------------


def _clear_felt(person: Person, sight: Sight) -> Iterator[Intention]:
    mine = sight.felt[person.seat] + sight.counts[person.seat] + len(sight.flowers[person.seat])
    if sight.centre == "up" and mine + len(sight.standing[person.seat]):
        yield Intention("push_in", pace="push")


def _lay_row(person: Person, view: SeatView, sight: Sight) -> Iterator[Intention]:
    if view.phase == "row" and person.seat not in sight.rows and sight.standing[person.seat]:
        yield Intention("lay_row", pace="row")


def _take_in_turn(person: Person, view: SeatView, sight: Sight) -> Iterator[Intention]:
    """Level none: the order of the takes is known from the roll, and everybody sees whose turn it is."""
    if view.phase not in ("taking", "door_roll", "door", "flowers"):
        return
    turn = _next_take(view, sight)
    if turn is not None and turn[0] == person.seat and not _dealt_by_table(sight, turn[1]):
        yield Intention("take", {"positions": list(turn[1])}, pace="take")


def _put_flipped_right(person: Person, view: SeatView, sight: Sight) -> Iterator[Intention]:
    """R8, R9: a flipped flower goes to the dealer where the table counts it there; what is rejected is turned back."""
    gold = view.gold
    for position, face in sight.flipped.items():
        if gold is not None and gold.position == position:
            continue
        if is_flower(face):
            if view.dealer is not None and face in view.flowers.get(view.dealer, ()):
                if person.seat == view.dealer:
                    yield Intention("give_flower", {"position": position, "to": view.dealer}, pace="flip")
            elif view.phase == "gold_roll" and person.seat == _gold_thrower(view):
                yield Intention("turn_back", {"position": position}, pace="flip")
        elif view.phase in ("gold_roll", "gold") and person.seat == _gold_thrower(view):
            yield Intention("turn_back", {"position": position}, pace="flip")


# --- what the display asks --------------------------------------------------------------------------------------------

Answering = Callable[[Person, SeatView, Sight, Want], Iterator[Intention]]


def _leave(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    return iter(())


def _start(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if view.phase == "idle":
        yield _by_anybody(person, "E", want, "start")


def _lift(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    yield _by_lift_key(person, view, want, "lift")


def _push_in(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if sight.centre == "up" and not _left_on_felt(sight):
        yield _by_lift_key(person, view, want, "pushed")


def _count(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if sight.forgotten:
        yield Intention("put_in", pace="push", rank=_rank(person, sight.forgotten[0]))
    else:
        yield _by_lift_key(person, view, want, "retry")


def _retry(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    yield _by_anybody(person, view.dealer, want, "retry")


def _row(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if len(sight.rows) == 4:
        yield _by_anybody(person, view.dealer, want, "ok")


def _roll(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """The thrower presses the key or the display; where anybody may throw, chance has named one of the four."""
    if sight.dice.moving or (view.phase == "gold_roll" and view.sensing == "none" and _tail_is_off(view, sight)):
        return
    thrower = view.dice.by if view.dice is not None else ""
    if thrower == person.seat and person.chance("key", view.hand, want.id).random() < 0.5:
        yield Intention("press", {"key": "dice"}, want=want.id)
    elif (thrower or chosen_thrower(person.seed, view.hand)) == person.seat:
        # Nobody throws in his place where anybody may: the count starts at the thrower, so it would be another hand.
        yield Intention("roll", want=want.id)


def _dice(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if sight.dice.moving:
        return
    if view.dice_mode == "hand" and sight.dice.throw == (person.thrown_before or 0):
        yield Intention("throw", pace="flip")
    elif sight.dice.values is not None:
        by = view.dice.by if view.dice is not None else ""
        yield _by_anybody(person, by or person.seat, want, "dice", dice=list(sight.dice.values))


def _dice_check(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if sight.dice.moving or sight.dice.values is None:
        return
    yield from _check(person, want, list(sight.dice.values), list(want.params.get("dice", ())))


def _dice_lost(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if sight.dice.moving:
        return
    stopped_since = person.thrown_before is not None and sight.dice.throw > person.thrown_before
    if stopped_since and sight.dice.values is not None:
        yield Intention("dice", {"dice": list(sight.dice.values)}, want=want.id)
    else:
        yield Intention("nobody", want=want.id)


def _take(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if "ok" in want.actions:
        if _next_take(view, sight) is None and _hands_begun(sight):
            yield _by_anybody(person, view.dealer, want, "ok")
    elif want.params.get("seat") == person.seat:
        standing = [position for position in _texts(want, "positions") if sight.stands(position)]
        if standing and not _dealt_by_table(sight, standing):
            yield Intention("take", {"positions": standing}, pace="take")


def _flowers(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if "flower" in want.actions:
        yield from _flowers_touched(person, view, sight, want)
        return
    held = [face for face in _texts(want, "tiles") if face in sight.hand]
    standing = [position for position in _texts(want, "positions") if sight.stands(position)]
    if held:
        yield Intention("lay_flowers", {"faces": held}, pace="lay")
    elif standing:
        yield Intention("take", {"positions": standing}, pace="take")


def _flowers_touched(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """Level none: lay out, touch each on the display, take as many from the tail, in the rhythm of R7."""
    yield from _touch_laid(person, sight, want)
    if want.verb != "flowers" or _next_take(view, sight) is not None or view.dealer is None:
        return
    turn = sight.turn
    if turn is None:
        yield Intention("begin_flowers", {"dealer": view.dealer})
    elif turn.done:
        laid = {seat: sorted(faces) for seat, faces in sight.flowers.items()}
        if laid == {seat: sorted(faces) for seat, faces in view.flowers.items()}:
            yield _by_anybody(person, view.dealer, want, "ok")
    elif turn.seat == person.seat and turn.owed:
        tail = _from_tail(view, sight, turn.owed)
        if tail:
            yield Intention("take", {"positions": tail}, pace="take")
    elif turn.seat == person.seat:
        yield Intention("lay_flowers", pace="lay")


def _touch_laid(person: Person, sight: Sight, want: Want) -> Iterator[Intention]:
    taken = want.params.get("taken")
    known = taken if isinstance(taken, dict) else {}
    for face in sight.flowers[person.seat]:
        if face not in known:
            yield Intention("flower", {"tile": face}, want=want.id)


def _tail(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    yield from _touch_laid(person, sight, want)
    by = _tail_is_off(view, sight)
    if by and "tail_shift" in want.actions:
        yield _by_anybody(person, view.dealer, want, "tail_shift", by=by)


def _gold_face(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    position = str(want.params.get("position", ""))
    if position in sight.flipped:
        yield Intention("face", {"tile": sight.flipped[position]}, want=want.id)
    elif sight.stands(position):
        yield Intention("flip", {"position": position}, pace="flip")


def _gold_check(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    position = view.gold.position if view.gold is not None else None
    if position is not None and position in sight.flipped:
        yield from _check(person, want, sight.flipped[position], want.params.get("tile"))


def _flip(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    position = str(want.params.get("position", ""))
    if sight.stands(position) and position not in sight.flipped:
        yield Intention("flip", {"position": position}, pace="flip")


def _hand_check(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    """The hand lies as it should; the readers are believed only after a while, they may just be slow."""
    yield Intention("ok", want=want.id, rank=1)


def _opening(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    if "ok" in want.actions:
        yield _by_anybody(person, view.dealer, want, "ok")
        return
    claims = _texts(want, "claims")
    if claims:
        yield Intention("claim", {"way": claims[0]}, want=want.id)
    else:
        yield Intention("pass", want=want.id)


_WANTS: Mapping[str, Answering] = {
    "start": _start,
    "lift": _lift,
    "push_in": _push_in,
    "count": _count,
    "retry": _retry,
    "row": _row,
    "roll": _roll,
    "dice": _dice,
    "dice_check": _dice_check,
    "dice_lost": _dice_lost,
    "take": _take,
    "flowers": _flowers,
    "tail": _tail,
    "gold_face": _gold_face,
    "gold_check": _gold_check,
    "flip": _flip,
    "hand_check": _hand_check,
    "opening": _opening,
}


# --- manners ----------------------------------------------------------------------------------------------------------


def _rank(person: Person, first: str) -> int:
    return play_order(first).index(person.seat)


def _by_anybody(person: Person, first: str | None, want: Want, action: str, **params: Any) -> Intention:
    return Intention(action, params, want=want.id, rank=_rank(person, first or "E"))


def _by_lift_key(person: Person, view: SeatView, want: Want, action: str) -> Intention:
    """The lift key or the display, as chance will have it; the dealer sees to it."""
    asked = _by_anybody(person, view.dealer, want, action)
    if person.chance("key", view.hand, want.id).random() < 0.5:
        return Intention("press", {"key": "lift"}, want=want.id, rank=asked.rank)
    return asked


def _check(person: Person, want: Want, seen: object, entered: object) -> Iterator[Intention]:
    """Object to what is not so, agree to what is."""
    if seen != entered:
        yield Intention("object", want=want.id)
    elif "agree" in want.actions:
        yield Intention("agree", want=want.id)


def _left_on_felt(sight: Sight) -> bool:
    walls = any(sight.standing[side] for side in SEATS)
    return walls or any(sight.felt[seat] + sight.counts[seat] + len(sight.flowers[seat]) for seat in SEATS)


def _hands_begun(sight: Sight) -> bool:
    return any(sight.counts.values())


def _texts(want: Want, name: str) -> list[str]:
    value = want.params.get(name, ())
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []


# --- what a player knows of the rules ---------------------------------------------------------------------------------


def _roll_of(view: SeatView, purpose: str) -> tuple[int, int] | None:
    return next((roll.values for roll in reversed(view.rolls) if roll.purpose == purpose), None)


def _gold_thrower(view: SeatView) -> str | None:
    if view.dice is not None and view.dice.purpose == "gold" and view.dice.by:
        return view.dice.by
    return view.gold.by if view.gold is not None and view.gold.by else view.dealer


def _dealt_by_table(sight: Sight, positions: Sequence[str]) -> bool:
    """Where the table deals it pushes out whole stacks of one side; everything else is taken by hand."""
    stacks = Counter(position[:-1] for position in positions)
    one_side = len({position[0] for position in positions}) == 1
    stacked = all(position[-1] in "tb" for position in positions)
    return sight.deals and one_side and stacked and set(stacks.values()) == {2}


def _next_take(view: SeatView, sight: Sight) -> tuple[str, tuple[str, ...]] | None:
    """The first take of the deal that is not done yet, the dealer's last tile included; None when all are."""
    deal = _roll_of(view, "deal")
    if deal is None or view.layout is None or view.dealer is None:
        return None
    known = _taking(view.rules, view.layout, view.dealer, deal)
    if known is None:
        return None
    for seat, positions in known.takes:
        standing = tuple(position for position in positions if sight.stands(position))
        if standing:
            return seat, standing
    wall = _lines(view.rules, view.layout, view.dealer, deal, _roll_of(view, "door"))
    if wall is not None and sight.stands(wall.extra):
        return view.dealer, (wall.extra,)
    return None


def _tail_order(view: SeatView) -> tuple[str, ...]:
    """The tail's order; which tile of a stack comes first is taken from the display, since a house may differ."""
    deal = _roll_of(view, "deal")
    if deal is None or view.layout is None or view.dealer is None:
        return ()
    wall = _lines(view.rules, view.layout, view.dealer, deal, _roll_of(view, "door"))
    if wall is None:
        return ()
    shown = view.tail.next if view.tail is not None else ()
    for first, second in itertools.pairwise(shown):
        if first[:-1] == second[:-1] and first[-1] in "tb" and first[-1] != second[-1]:
            return _stacks_begin_with(wall.tail, first[-1])
    return wall.tail


def _stacks_begin_with(tail: tuple[str, ...], tier: str) -> tuple[str, ...]:
    turned = list(tail)
    for at in range(len(turned) - 1):
        if turned[at][:-1] == turned[at + 1][:-1] and turned[at][-1] != tier:
            turned[at], turned[at + 1] = turned[at + 1], turned[at]
    return tuple(turned)


def _tail_is_off(view: SeatView, sight: Sight) -> int:
    """Level none: 1 or -1 where the display is behind or ahead of the tiles gone from the tail, else 0."""
    shown = view.tail.next[0] if view.tail is not None and view.tail.next else None
    end = _from_tail(view, sight, 1)
    order = _tail_order(view)
    if not end or shown is None or shown == end[0] or shown not in order:
        return 0
    return 1 if order.index(end[0]) > order.index(shown) else -1


def _from_tail(view: SeatView, sight: Sight, count: int) -> list[str]:
    standing = [position for position in _tail_order(view) if sight.stands(position)]
    return standing[:count]


@cache
def _ruleset(name: str) -> Ruleset | None:
    try:
        return load_ruleset(name)
    except RulesetError:
        return None


@cache
def _taking(rules: str, layout: str, dealer: str, deal: tuple[int, int]) -> Taking | None:
    known = _ruleset(rules)
    return None if known is None else taking(known, layout, dealer, deal)


@cache
def _lines(rules: str, layout: str, dealer: str, deal: tuple[int, int], door: tuple[int, int] | None) -> Lines | None:
    known = _ruleset(rules)
    if known is None or (layout == "bagua") != (door is not None):
        return None
    return lines(known, layout, dealer, deal, door)
