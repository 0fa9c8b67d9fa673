"""What a person at the table does next, from what the own display says and what eyes see. Pure.

A person keeps the manners of the table: does what hands must do first, answers what the display asks for, and leaves
what anybody may press to one of the four (the dealer, as a rule), unless that one takes too long. `simulators.minds`
holds a room for each part of an evening.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from protocol.mqtt.views import SeatView, Want
from simulators.minds import between, entering, opening, playing, telling
from simulators.minds.person import LEAVE, Answering, Intention, Person, chosen_thrower
from simulators.sight import Sight

__all__ = ["LEAVE", "Intention", "Person", "chosen_thrower", "intention"]


def intention(person: Person, view: SeatView, sight: Sight) -> Intention | None:
    """What is to be done now: hands before display, what others are asked for first last; None: nothing."""
    allowed = [
        found
        for found in _everything(person, view, sight)
        if found.key not in person.done and not (person.hands_only and found.want)
    ]
    return min(allowed, key=lambda found: found.rank, default=None)


def _everything(person: Person, view: SeatView, sight: Sight) -> Iterator[Intention]:
    yield from opening.clear_felt(person, sight)
    yield from opening.lay_row(person, view, sight)
    if view.sensing == "none":
        yield from opening.take_in_turn(person, view, sight)
    yield from opening.put_flipped_right(person, view, sight)
    if view.sensing == "none":
        yield from telling.begin_round(person, view, sight)
        yield from telling.play_round(person, view, sight)
        yield from telling.lay_open(person, view, sight)
    else:
        yield from playing.follow_display(person, view, sight)
    for want in view.me.wants:
        yield from _WANTS.get(want.verb, _leave)(person, view, sight, want)
    yield from playing.unasked_throw(person, view, sight)


def _leave(person: Person, view: SeatView, sight: Sight, want: Want) -> Iterator[Intention]:
    return iter(())


_WANTS: Mapping[str, Answering] = {
    **between.WANTS,
    **opening.WANTS,
    **playing.WANTS,
    **telling.WANTS,
    **entering.WANTS,
}
