"""One outstanding thing that a table wants, and how prompts and timers are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.state import WantId


@dataclass(frozen=True, slots=True)
class Want:
    """One outstanding thing: kind `operation` (verb, params), `prompt` (seat, verb, params, actions) or `timer`.

    `people`: a timer that gives people time to answer, which no fast simulation shortens.
    """

    id: WantId
    kind: str
    verb: str
    seat: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    actions: tuple[str, ...] = ()
    after_ms: int = 0
    people: bool = False


def prompt(
    wanted: WantId, verb: str, seats: tuple[str, ...], actions: tuple[str, ...], /, **params: Any
) -> list[Want]:
    """The same prompt at several seats."""
    return [Want(wanted, "prompt", verb, seat=seat, params=params, actions=actions) for seat in seats]


def timer(wanted: WantId, after_ms: int, people: bool = False, **params: Any) -> Want:
    """A timer whose verb is its step."""
    return Want(wanted, "timer", wanted.step, params=params, after_ms=after_ms, people=people)
