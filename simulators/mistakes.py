"""Mistakes that simulated people are asked to make, and how often: `NAME=RATE,…`, or `all=RATE`.

Each is one that a table must take: it is refused, taken back, voted down or waited for, and nothing wrong is booked.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

MISTAKES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "forget_flower": "a flower is not laid out, or not touched, until it is missed",
        "wrong_claim": "碰 or 杠 said without the tiles for it",
        "no_press": "吃, 碰 or 杠 laid without a word on the display, where tiles are read",
        "false_win": "胡 said where none is, and taken back",
        "object": "an objection to a right settlement, withdrawn or outvoted",
        "away": "no answer for a while",
        "double_press": "the same answer three times, one of them under a name of its own",
        "unasked_throw": "the dice key held though nothing is to be thrown",
        "wrong_entry": "golds entered that are not held; the others object",
        "forget_draw": "a discard without a draw, or two draws (相公)",
        "ignore_question": "no answer to what the table asks about a count or a reader until all are told of it",
        "expose_false": "a hand laid open that does not win (诈胡), which costs points: only where it is named",
    }
)
"""Every mistake, and what it looks like."""

_NOT_IN_ALL: Final = ("expose_false",)


class MistakeError(ValueError):
    """Words that name no mistake or no rate; the message says which and what was expected."""


def parse_mistakes(text: str) -> Mapping[str, float]:
    """The rates of words such as `object=0.1,away=0.05` or `all=0.1,away=0`; a later word holds over an earlier.

    `all` means every mistake but those that cost points. MistakeError names the first wrong word.
    """
    rates: dict[str, float] = {}
    for word in filter(None, (part.strip() for part in text.split(","))):
        name, equals, told = word.partition("=")
        if not equals:
            raise MistakeError(f"mistake {word!r}: expected NAME=RATE, such as object=0.1")
        if name != "all" and name not in MISTAKES:
            raise MistakeError(f"mistake {name!r}: expected one of all, {', '.join(MISTAKES)}")
        names = [known for known in MISTAKES if known not in _NOT_IN_ALL] if name == "all" else [name]
        rates.update(dict.fromkeys(names, _rate(name, told)))
    return {name: rate for name, rate in rates.items() if rate}


def _rate(name: str, told: str) -> float:
    try:
        rate = float(told)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise MistakeError(f"mistake {name}={told}: expected a rate from 0 to 1, such as 0.1")
    return rate
