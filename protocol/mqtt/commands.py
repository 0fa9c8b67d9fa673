"""What the parlor may command: every verb with its role and the values it takes. The docs show the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from protocol.mqtt.actions import ACTIONS, Action, actions_table, told
from protocol.mqtt.params import (
    HANDS,
    LAYOUT,
    MINUTES,
    NAMES,
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

MAX_LIFETIME_MS: Final = 10 * 60 * 1000
"""No command stays valid for longer."""

SERVICE_LIFETIME_MS: Final = 15 * 1000
"""What a repairer asks for is meant for now."""

SERVICE_READS: Final = frozenset({"status", "sensors", "times", "history", "counters"})
SERVICE_ACTIONS: Final = (
    "enter", "leave", "jog", "self_test", "lamps", "buzzer", "stop", "forget",
    "status", "sensors", "times", "history", "counters",
)  # fmt: skip
MOST_JOG_MS: Final = 3000
"""A motor is jogged for so long at most; then its button is pressed again."""


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
    lifetime_ms: int = MAX_LIFETIME_MS
    """How far away its end may be: one that is valid for longer could be stored and played back."""
    reads: frozenset[str] = frozenset()
    """Values of its `action` that change nothing: these are not noted in the journal."""


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
        Verb(
            "open", "floor", True, False, True, (RULES, LAYOUT, NAMES),
            "open the table for an evening, nothing of an earlier one is shown any more: its matches are played by "
            "these rules until it is closed (`end`), the first by players of these names",
        ),
        Verb(
            "extend", "floor", True, False, False,
            (
                Param("hands", "a whole number from 0 to 10000", whole(0, 10_000), required=False),
                Param("minutes", "a whole number from 0 to 1440", whole(0, 1_440), required=False),
            ),
            "let the match last so many hands, so many minutes longer",
        ),
        Verb(
            "start_match", "floor", True, False, True, (RULES, LAYOUT, OPTIONS, HANDS, MINUTES, SEATING, NAMES),
            "offer a match: the start prompt at the seats names it, and a press at the table starts it",
        ),
        Verb(
            "pause", "floor", True, False, True,
            (Param("on", "true or false", ON.accepts, required=False),),
            "pause after this hand, or (`on` false) go on",
        ),
        Verb(
            "end", "floor", True, False, True, (),
            "end the match after this hand; with none in play: withdraw the offer, end the evening and close the table",
        ),
        Verb(
            "decide", "floor", True, False, False,
            (
                Param("choice", "1 or first, 2 or second", _CHOICE),
                Param("want", "the id in the public book or of `play.unanswered`", text("[A-Za-z0-9_.-]{1,64}")),
            ),
            "decide what is open in the book: the first settlement, or the objector's; or a zone whose seat does not "
            "answer: its reader errs (1), or the seat is out of the hand (2)",
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
        Verb("lock", "floor", True, False, True, (), "start nothing new until unlocked; what is played goes on"),
        Verb("unlock", "floor", True, False, True, (), "undo lock"),
        Verb(
            "park", "floor", True, True, True,
            (
                Param("on", "true or false", ON.accepts, required=False),
                Param("reason", "command, power or time", one_of("command", "power", "time"), required=False),
            ),
            "finish the cycle and bring every mechanism to rest; `on` false takes that back until it has come to rest",
        ),
        Verb(
            "service", "service", True, True, False,
            (
                Param("action", ", ".join(SERVICE_ACTIONS), one_of(*SERVICE_ACTIONS)),
                Param("motor", "the name of a motor", text("[a-z_]{1,24}"), required=False),
                Param("ms", "a whole number from -3000 to 3000", whole(-MOST_JOG_MS, MOST_JOG_MS), required=False),
                Param("number", "the number of a self-test, 0: all", whole(0, 255), required=False),
                Param("movement", "the name of a movement of `times`", text("[a-z_]{1,24}"), required=False),
                Param("pattern", "0 short, 1 double, 2 long, 3 alarm", whole(0, 3), required=False),
                Param("from", "a whole number: the row to go on from", whole(0, 100_000), required=False),
                Param("sure", "true or false", ON.accepts, required=False),
            ),
            "what a repairer does and looks at; its motions need the service key held at the table",
            lifetime_ms=SERVICE_LIFETIME_MS, reads=SERVICE_READS,
        ),
        Verb(
            "support_bundle", "service", False, False, True, (),
            "write a bundle for the repairer at the table: its name and size as a response; nothing of a hand in play",
        ),
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
