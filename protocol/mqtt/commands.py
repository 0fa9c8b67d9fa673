"""The two tables of the contract: what the parlor may command, and what a seat may answer. The docs show both."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from protocol.mqtt.parts import FACE

Role = Literal["reader", "floor", "owner", "service"]


@dataclass(frozen=True, slots=True)
class Param:
    """One named value of an action or command; `expected` is told to whoever sent another."""

    name: str
    expected: str
    accepts: Callable[[Any], bool] = field(repr=False)
    required: bool = True


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


@dataclass(frozen=True, slots=True)
class Action:
    """One answer of a seat. `prompts` are the wants it may answer, none for an action that answers none."""

    name: str
    prompts: tuple[str, ...]
    phases: str
    level: Literal["both", "none", "full"]
    params: tuple[Param, ...]
    meaning: str


def _whole(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and low <= value <= high


def _text(pattern: str) -> Callable[[Any], bool]:
    compiled = re.compile(pattern)
    return lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None


def _dice(value: Any) -> bool:
    pip = _whole(1, 6)
    return isinstance(value, list) and len(value) == 2 and all(pip(one) for one in value)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _step(value: Any) -> bool:
    return type(value) is int and value in (1, -1)


def _document(value: Any) -> bool:
    return isinstance(value, dict)


_NAME = r"[A-Za-z0-9_.-]{1,64}"
_DICE = Param("dice", "two whole numbers from 1 to 6", _dice)
_TILE = Param("tile", "a flower, 1f to 8f", _text(r"[1-8]f"))
_RULES = Param("rules", "the name of a rule profile", _text(_NAME), required=False)
_LAYOUT = Param("layout", "zhitui or bagua", _text("zhitui|bagua"), required=False)

ACTIONS: Mapping[str, Action] = {
    action.name: action
    for action in (
        Action("start", ("start",), "idle", "both", (_RULES, _LAYOUT), "begin a match, with these rules and layout"),
        Action("lift", ("lift",), "lift", "both", (), "raise the centre, as the lift key does"),
        Action("pushed", ("push_in",), "push_in", "both", (), "all tiles are pushed in"),
        Action("retry", ("count", "retry"), "any", "both", (), "what stopped the machine is put right: try again"),
        Action("roll", ("roll",), "*_roll", "both", (), "throw the dice, as the dice key does"),
        Action("dice", ("dice", "dice_lost"), "*_roll", "both", (_DICE,), "what the dice show"),
        Action("agree", ("dice_check", "gold_check"), "*_roll, gold", "both", (), "what was entered is right"),
        Action("object", ("dice_check", "gold_check"), "*_roll, gold", "both", (), "what was entered is wrong"),
        Action("nobody", ("dice_lost",), "*_roll", "both", (), "I did not see the dice stop"),
        Action("cocked", ("dice",), "*_roll", "both", (), "a die leans: the throw is thrown again"),
        Action("flower", ("flowers", "tail"), "flowers, gold_roll, opening", "none", (_TILE,), "I hold this flower"),
        Action("unflower", ("flowers", "tail"), "flowers, gold_roll, opening", "none", (_TILE,), "I do not hold it"),
        Action("by_hand", ("take", "flowers"), "taking, door, flowers", "full", (), "done, though no reader saw it"),
        Action("clear", ("stopped",), "any", "both", (), "hands are off: clear the emergency stop"),
        Action(
            "tail_shift",
            ("flowers", "tail"),
            "flowers, gold_roll",
            "none",
            (Param("by", "1 or -1", _step),),
            "one tile more (1) or less (-1) is gone from the tail than the table shows",
        ),
        Action(
            "ok",
            ("take", "flowers", "row", "hand_check", "opening"),
            "taking, flowers, row, opening",
            "both",
            (),
            "done: everything is taken, nobody has more flowers, the row lies, the hand is right, play begins",
        ),
        Action(
            "face",
            ("gold_face", "flip"),
            "gold",
            "both",
            (Param("tile", "a face: 1m to 9m, p, s; 1z to 7z; 1f to 8f", _text(FACE[1:-1])),),
            "the face of the tile turned up",
        ),
        Action(
            "claim",
            ("opening",),
            "opening",
            "full",
            (Param("way", "a way to win, in lower case", _text("[a-z_]{1,40}")),),
            "claim this way of winning",
        ),
        Action("pass", ("opening",), "opening", "full", (), "claim nothing"),
        Action(
            "confirm_device",
            (),
            "any",
            "both",
            (
                Param("code", "six digits", _text("[0-9]{6}")),
                Param("ok", "true or false", _flag),
            ),
            "let the display that shows this code take the seat it asks for, or not",
        ),
        Action("unpair", (), "any", "both", (), "this display gives its seat up"),
    )
}

COMMANDS: Mapping[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb("status", "reader", False, False, True, (), "availability, use, epoch and last number, as a response"),
        Verb(
            "replay",
            "reader",
            False,
            False,
            True,
            (
                Param("first", "an event number", _whole(0, (1 << 64) - 1)),
                Param("last", "an event number", _whole(0, (1 << 64) - 1), required=False),
            ),
            "say the events of these numbers again, in the envelopes they were born with",
        ),
        Verb("rebirth", "reader", False, False, True, (), "say birth, state and availability again"),
        Verb("open", "floor", True, False, True, (_RULES, _LAYOUT), "open the table for an evening"),
        Verb(
            "extend",
            "floor",
            True,
            False,
            False,
            (Param("minutes", "a whole number from 1 to 1440", _whole(1, 1440)),),
            "let the evening last longer",
        ),
        Verb(
            "start_match",
            "floor",
            True,
            False,
            True,
            (_RULES, _LAYOUT),
            "offer a match: the start prompt at the seats names it, and a press at the table starts it",
        ),
        Verb("pause", "floor", True, False, True, (), "pause after this hand"),
        Verb("end", "floor", True, False, True, (), "end the evening after this hand"),
        Verb(
            "decide",
            "floor",
            True,
            False,
            False,
            (
                Param("objection", "the id of the objection", _text(_NAME)),
                Param("upheld", "true or false", _flag),
            ),
            "decide an objection that the seats did not settle",
        ),
        Verb("rules", "owner", True, False, True, (_RULES, _LAYOUT), "the rules of the next match"),
        Verb("export", "reader", False, False, True, (), "the ledger, as a response"),
        Verb("lock", "floor", True, False, True, (), "start nothing new until unlocked"),
        Verb("unlock", "floor", True, False, True, (), "undo lock"),
        Verb("park", "floor", True, True, True, (), "finish the cycle and bring every mechanism to rest"),
        Verb("service", "service", True, False, True, (), "enter service; its motions need a key pressed at the table"),
        Verb("support_bundle", "service", False, False, True, (), "logs, counters and settings, without secrets"),
        Verb("restart", "service", True, False, True, (), "restart the daemon once the table is idle"),
    )
}


def actions_table() -> str:
    """The table of seat actions in Markdown, as docs/mqtt.md shows it."""
    rows = ["| action | answers | phase | level | params | meaning |", "|---|---|---|---|---|---|"]
    for action in ACTIONS.values():
        prompts = ", ".join(f"`{prompt}`" for prompt in action.prompts) or "no want"
        cells = (f"`{action.name}`", prompts, action.phases, action.level, _told(action.params), action.meaning)
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def commands_table() -> str:
    """The table of commands in Markdown, as docs/mqtt.md shows it."""
    rows = [
        "| verb | role | moves the machine | idempotent | needs an expiry | args | meaning |",
        "|---|---|---|---|---|---|---|",
    ]
    for verb in COMMANDS.values():
        marks = " | ".join("yes" if mark else "no" for mark in (verb.moves, verb.idempotent, verb.changes))
        rows.append(f"| `{verb.name}` | {verb.role} | {marks} | {_told(verb.args)} | {verb.meaning} |")
    return "\n".join(rows) + "\n"


def _told(params: tuple[Param, ...]) -> str:
    parts = (f"`{one.name}`: {one.expected}{'' if one.required else ' (optional)'}" for one in params)
    return "; ".join(parts) or "–"
