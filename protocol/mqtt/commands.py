"""What the parlor may command: every verb with its role and the values it takes. The docs show the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from protocol.mqtt.actions import ACTIONS, Action, actions_table, told
from protocol.mqtt.params import (
    HANDS,
    LAYOUT,
    MINUTES,
    ON,
    OPTIONS,
    RULES,
    SEATING,
    Accepts,
    Param,
    one_of,
    text,
    whole,
)

__all__ = ["ACTIONS", "COMMANDS", "Action", "Param", "Role", "Verb", "actions_table", "commands_table"]

Role = Literal["reader", "floor", "owner", "service"]


@dataclass(frozen=True, slots=True)
class Verb:
    """One command of the parlor. `changes` ones need an expiry; `moves` ones move the machine, through interlocks."""

    name: str
    role: Role
    changes: bool
    moves: bool
    idempotent: bool
    args: tuple[Param, ...]
    meaning: str


_EVENT = "an event number"
_NUMBER = whole(0, (1 << 64) - 1)

CHOICES: Mapping[str | int, Literal[1, 2]] = {1: 1, 2: 2, "first": 1, "second": 2}
"""What `decide` takes, and the version of the settlement that it means."""


_CHOICE = Accepts(lambda value: type(value) in (int, str) and value in CHOICES, {"allowed": list(CHOICES)})


COMMANDS: Mapping[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb("status", "reader", False, False, True, (), "availability, use, epoch and last number, as a response"),
        Verb(
            "replay", "reader", False, False, True,
            (Param("first", _EVENT, _NUMBER), Param("last", _EVENT, _NUMBER, required=False)),
            "say the events of these numbers again, in the envelopes they were born with",
        ),
        Verb("rebirth", "reader", False, False, True, (), "say birth, state and availability again"),
        Verb("open", "floor", True, False, True, (RULES, LAYOUT), "open the table for an evening"),
        Verb(
            "extend", "floor", True, False, False,
            (
                Param("hands", "a whole number from 0 to 10000", whole(0, 10_000), required=False),
                Param("minutes", "a whole number from 0 to 1440", whole(0, 1_440), required=False),
            ),
            "let the match last so many hands, so many minutes longer",
        ),
        Verb(
            "start_match", "floor", True, False, True, (RULES, LAYOUT, OPTIONS, HANDS, MINUTES, SEATING),
            "offer a match: the start prompt at the seats names it, and a press at the table starts it",
        ),
        Verb(
            "pause", "floor", True, False, True,
            (Param("on", "true or false", ON.accepts, required=False),),
            "pause after this hand, or (`on` false) go on",
        ),
        Verb("end", "floor", True, False, True, (), "end the match after this hand"),
        Verb(
            "decide", "floor", True, False, False,
            (
                Param("choice", "1 or first, 2 or second", _CHOICE),
                Param("want", "the id in the public book", text("[A-Za-z0-9_.-]{1,64}")),
            ),
            "decide what is open in the book: the first settlement, or the objector's",
        ),
        Verb(
            "rules", "owner", True, False, True, (RULES, LAYOUT, OPTIONS),
            "the rules of the next match; nothing said: the settings' again",
        ),
        Verb(
            "export", "reader", False, False, True,
            (
                Param("match", "the number of a match of the evening", whole(1, 1_000_000), required=False),
                Param("hand", "the number of a hand of the match", whole(1, 10_000), required=False),
                Param("from", "the number of a record, or of a page of the whole match", _NUMBER, required=False),
                Param("whole", "true or false", ON.accepts, required=False),
            ),
            "the records of booked hands, as many as fit, or of a whole match; `next` says from where to ask on",
        ),
        Verb("lock", "floor", True, False, True, (), "start nothing new until unlocked"),
        Verb("unlock", "floor", True, False, True, (), "undo lock"),
        Verb(
            "park", "floor", True, True, True,
            (
                Param("on", "true or false", ON.accepts, required=False),
                Param("reason", "command, power or time", one_of("command", "power", "time"), required=False),
            ),
            "finish the cycle and bring every mechanism to rest, or (`on` false) go on; the displays say the reason",
        ),
        Verb("service", "service", True, False, True, (), "enter service; its motions need a key pressed at the table"),
        Verb("support_bundle", "service", False, False, True, (), "logs, counters and settings, without secrets"),
        Verb("restart", "service", True, False, True, (), "restart the daemon once the table is idle"),
    )
}  # fmt: skip


def commands_table() -> str:
    """The table of commands in Markdown, as docs/mqtt.md shows it."""
    rows = [
        "| verb | role | moves the machine | idempotent | needs an expiry | args | meaning |",
        "|---|---|---|---|---|---|---|",
    ]
    for verb in COMMANDS.values():
        marks = " | ".join("yes" if mark else "no" for mark in (verb.moves, verb.idempotent, verb.changes))
        rows.append(f"| `{verb.name}` | {verb.role} | {marks} | {told(verb.args)} | {verb.meaning} |")
    return "\n".join(rows) + "\n"
