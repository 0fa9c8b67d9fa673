"""Writes the tables of `docs/faults.md`: `python -m cli.faults_document [--check]`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from importlib.resources import files
from pathlib import Path
from typing import Final

from controller.interlocks import INTERLOCKS, WAITED_FOR
from controller.operations import LIMITS
from controller.remedies import REFUSALS, REMEDIES, SLOW, Remedy
from engine.wants import SEEN_BY_PEOPLE
from protocol.serial.faults import FAULTS
from protocol.serial.vocabulary import FAULT_CODES

DOCUMENT: Final = Path(__file__).resolve().parents[1] / "docs" / "faults.md"
ENGLISH: Final = 2
"""Which of a catalogue's words are English."""


def faults() -> str:
    """Every fault: how it is found, what is told to whom, and how the hand goes on."""
    said = _catalogue()
    rows = []
    for code in FAULT_CODES:
        fault, row = FAULTS[code], REMEDIES[code]
        rows.append(
            (
                f"`{code}`", row.found, "yes" if fault.sided else "–", _sensors(row), fault.severity,
                said[f"fault.{code}.do"], said[f"fault.{code}.repair"], f"`{row.aid}`", row.send, row.play, row.ends,
            )
        )  # fmt: skip
    head = (
        "code", "found by", "side", "sensors", "severity", "players", "repairer looks at", "`aid`", "`send`", "play",
        "how the hand goes on",
    )  # fmt: skip
    return _table(head, rows)


def others() -> str:
    """What ends an operation and is no fault of the vocabulary, and the warning before one."""
    said = _catalogue()
    rows = [
        (f"`{code}`", row.found, said[f"fault.{code}.do"], f"`{row.aid}`", row.send, row.ends)
        for code, row in REFUSALS.items()
    ]
    rows.append(("`slow_…`", SLOW.found, said["fault.slow_sort.do"], f"`{SLOW.aid}`", SLOW.send, SLOW.ends))
    return _table(("code", "found by", "players", "`aid`", "`send`", "how the hand goes on"), rows)


def interlocks() -> str:
    """Motion × what must be true, as the daemon keeps it."""
    rows = []
    for verb, conditions in INTERLOCKS.items():
        waits = [one for one in conditions if one in WAITED_FOR]
        rows.append((f"`{verb}`", "; ".join(conditions) or "–", "; ".join(waits) or "–"))
    return _table(("motion", "must be true", "waited for"), rows)


def asked() -> str:
    """What is asked of people, by fault and operation, in the words of the displays."""
    said = _catalogue()
    rows = [
        (f"`{fault}`", f"`{verb}`", said[f"stands.{verb}"])
        for fault, verbs in SEEN_BY_PEOPLE.items()
        for verb in sorted(verbs)
    ]
    rows.append(("any", "`dice_roll`", said["do.dice_lost"]))
    return _table(("fault", "operation", "the seats are asked"), rows)


def limits() -> str:
    """After how long without a result an operation has failed."""
    return _table(
        ("operation", "fails after", "with"),
        ((f"`{verb}`", f"{limit.seconds:g} s", f"`{limit.fault}`") for verb, limit in LIMITS.items()),
    )


SECTIONS: Final[dict[str, Callable[[], str]]] = {
    "faults": faults,
    "others": others,
    "interlocks": interlocks,
    "asked": asked,
    "limits": limits,
}


def written(text: str) -> str:
    """The document with every table between its marks written anew; ValueError names a mark that is missing."""
    for name, make in SECTIONS.items():
        pattern = re.compile(rf"(<!-- generated: {name} -->\n).*?(<!-- end: {name} -->)", re.DOTALL)
        if pattern.search(text) is None:
            raise ValueError(f"{DOCUMENT.name}: no mark `generated: {name}`")
        body = make()
        text = pattern.sub(lambda found, body=body: f"{found[1]}\n{body}\n\n{found[2]}", text)  # type: ignore[misc]
    return text


def main(arguments: list[str]) -> int:
    """Write, or with `--check` say whether it is written; the exit code."""
    text = DOCUMENT.read_text(encoding="utf-8")
    new = written(text)
    if "--check" in arguments:
        return int(new != text)
    DOCUMENT.write_text(new, encoding="utf-8")
    return 0


def _sensors(row: Remedy) -> str:
    return ", ".join(f"`{name.replace('{side}', '…')}`" for name in row.sensors) or "–"


def _catalogue() -> dict[str, str]:
    words = json.loads(files("displays").joinpath("catalogue.json").read_text(encoding="utf-8"))
    return {key: said[ENGLISH] for key, said in words.items()}


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
