"""What a repairer reads in a terminal, from the displays' catalogue: sensors, motors, tests, faults, refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, Final

LANGUAGES: Final = ("zh-Hans", "zh-Hant", "en")
_SIDED: Final = re.compile(r"(.+)_([ESWN])")


def usual_language(environ: Mapping[str, str]) -> str:
    """The language of a terminal, by its locale: English where it is none of ours."""
    locale = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
    if not locale.startswith("zh"):
        return "en"
    return "zh-Hant" if any(place in locale for place in ("TW", "HK", "MO", "Hant")) else "zh-Hans"


class Words:
    """The catalogue in one language."""

    def __init__(self, language: str) -> None:
        text = files("displays").joinpath("catalogue.json").read_text(encoding="utf-8")
        self._lines: Mapping[str, list[str]] = json.loads(text)
        self._place = LANGUAGES.index(language)

    def say(self, key: str, **parts: Any) -> str:
        """The words of a key with its parts filled in; the key itself where there are none."""
        line = self._lines.get(key)
        if line is None:
            return key

        def filled(found: re.Match[str]) -> str:
            value = parts.get(found[1], "")
            if found[2] is not None:
                return found[2] if value == 1 else found[3]
            return str(value)

        return re.sub(r"\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}", filled, line[self._place])

    def motor(self, code: str) -> str:
        return self._named("service.motor", code)

    def test(self, code: str) -> str:
        return self._named("service.test", code)

    def movement(self, code: str) -> str:
        return self._named("op", code)

    def sensor(self, code: str) -> str:
        """A sensor's name, with its side where it has one."""
        sided = _SIDED.fullmatch(code)
        if sided is not None and f"service.sensor.{sided[1]}" in self._lines:
            return self.say(f"service.sensor.{sided[1]}", side=self.say(f"side.{sided[2]}"))
        return self._named("service.sensor", code)

    def fault(self, code: str, side: str = "") -> str:
        """A fault, and at which side."""
        what = self._named("fault", code)
        return self.say("service.result.failed_side", side=self.say(f"side.{side}"), what=what) if side else what

    def repair(self, code: str) -> str:
        """What to look at."""
        key = f"fault.{code}.repair"
        return self.say(key if key in self._lines else "fault.other.repair")

    def result(self, result: Mapping[str, Any], moved: bool = False) -> str:
        """How a jog (`moved`) or a self-test ended."""
        if result["outcome"] == "failed":
            return self.fault(result["fault"], result["side"]) if result["fault"] else self.say("service.unknown")
        if result["outcome"] == "interrupted":
            return self.say("service.result.interrupted")
        return self.say("service.result.moved" if moved else "service.result.done")

    def failed(self, code: str, params: Mapping[str, Any]) -> str:
        """Why something was not done."""
        what = self.say("and").join(self.motor(name) for name in params if name != "what")
        key = f"service.failed.{code}"
        if key not in self._lines:
            return self.say("service.failed.other", code=code)
        return self.say(key, **{**params, "what": what})

    def reading(self, name: str, value: int) -> str:
        """A reading with its unit."""
        if name == "supply":
            return f"{value / 1000:.1f} V"
        if name == "motor_current":
            return f"{value / 1000:.2f} A"
        if name.endswith("_temperature"):
            return f"{value / 10 - 273.15:.0f} °C"
        return f"{value / 10:.0f} %"

    def seconds(self, ms: int | None) -> str:
        """Milliseconds as seconds."""
        return self.say("service.unknown") if ms is None else self.say("service.jog.seconds", n=f"{ms / 1000:.2f}")

    def _named(self, group: str, code: str) -> str:
        key = f"{group}.{code}"
        return self.say(key) if key in self._lines else self.say(f"{group}.other", code=code)


def table(rows: Iterable[Iterable[str]]) -> str:
    """Rows under one another, columns aligned: Chinese characters are twice as wide."""
    cells = [list(row) for row in rows]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    lines = (
        "  ".join(cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )
    return "\n".join(lines)


def _width(text: str) -> int:
    return sum(2 if "⺀" <= character <= "￦" else 1 for character in text)
