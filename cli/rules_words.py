"""The words of ways, reasons and refusals for the command line, from the displays' catalogue."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.reasons import Reason

_CHINESE, _ENGLISH = 0, 2


def value(told: object) -> str:
    """A value as a person reads it: the parts of a list one after the other."""
    return ", ".join(map(str, told)) if isinstance(told, tuple | list) else str(told)


class Words:
    """The words of ways, reasons and refusals, English with the Chinese term, from the displays' catalogue."""

    def __init__(self) -> None:
        text = files("displays").joinpath("catalogue.json").read_text(encoding="utf-8")
        self._lines: Mapping[str, list[str]] = json.loads(text)

    def way(self, way: str) -> str:
        """`Youjin 游金`."""
        english, chinese = self._both(f"way.{way}", way, {})
        return english if english == chinese else f"{english} {chinese}"

    def why(self, reason: Reason) -> str:
        """A reason in words, its seat and way in theirs."""
        parts: dict[str, object] = {"number": reason.number, **reason.params}
        told = []
        for language in (_ENGLISH, _CHINESE):
            filled = dict(parts)
            if "way" in parts:
                filled["way"] = self._lines.get(f"way.{parts['way']}", [str(parts["way"])] * 3)[language]
            told.append(self._say(f"why.{reason.code}", reason.code, filled, language))
        return f"{told[0]} [{told[1]}]"

    def refused(self, code: str, params: Mapping[str, object]) -> str:
        """Why a line is refused, and its code."""
        own = _OWN_REFUSALS.get(code)
        english, _ = (own, "") if own else self._both(f"refused.{code}", code, params)
        return english if english == code else f"{english} [{code}]"

    def _both(self, key: str, other: str, parts: Mapping[str, object]) -> tuple[str, str]:
        return self._say(key, other, parts, _ENGLISH), self._say(key, other, parts, _CHINESE)

    def _say(self, key: str, other: str, parts: Mapping[str, object], language: int) -> str:
        line = self._lines.get(key)
        if line is None:
            return other
        text = line[language]
        for name, part in parts.items():
            text = text.replace("{" + name + "}", value(part))
        return text


_OWN_REFUSALS = {
    "no_window": "no window is open that could close",
    "no_draw": "nobody draws here",
    "draw_differs": "the wall gives another tile, or to another seat",
    "other_tile": "another tile lies there to be claimed",
    "hand_not_over": "the hand is not over",
    "other_hand": "another hand is due",
    "other_deal": "somebody else deals, or his base has grown otherwise",
    "other_chips": "the seats hold other chips by now",
}
"""What a record can be wrong in beside the rules."""
