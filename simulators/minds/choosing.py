"""From what a display or the people's own referee offers to what a person plays (`simulators.brain`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.play import Action
from protocol.mqtt.views import SeatView
from simulators.brain import Knowledge, action_of, choose, fits
from simulators.minds.person import Person, rules_of
from simulators.sight import Sight

BOLD = 0.35
"""How likely a person would rather have a 游金 in this hand than the first win that comes."""


def chosen(
    person: Person, view: SeatView, sight: Sight, number: int, options: Iterable[Mapping[str, Any]], tile: str = ""
) -> Action | None:
    """What this person plays; None where the rules are not known, nothing is offered, or the hand is another by now.

    The same hand, number of discards and options give the same choice, whoever referees.
    """
    rules = rules_of(view)
    offered = tuple(action_of(option) for option in options)
    if rules is None or not offered or not fits(sight.hand, offered, tile):
        return None
    gold = view.gold.face if view.gold is not None else None
    bold = person.chance("bold", view.hand).random() < BOLD
    known = Knowledge(rules, gold, sight.hand, number, offered, tile, bold)
    return choose(known, person.chance("brain", view.hand, number))
