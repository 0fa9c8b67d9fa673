"""The record of an end-of-line test: who was tested, against which limits, every measurement, and why it passed or not.

JSON of a versioned schema (`Record`), and the same as text. A record of a run that was stopped holds what was measured.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA: Final = "kaijin.end-of-line"
VERSION: Final = 1

Verdict = Literal["pass", "fail", "skipped", "info"]
"""`info` is measured and judged by no limit; `skipped` was not measured, with the reason."""

Overall = Literal["pass", "fail", "stopped"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Bounds(_Strict):
    """What a value was held against; both inclusive."""

    min: float | None = None
    max: float | None = None


class Measurement(_Strict):
    """One value. `reason` says why it failed, or was not measured."""

    name: str
    value: float | int | str | None = None
    unit: str = ""
    limit: Bounds | None = None
    verdict: Verdict
    reason: str = ""


class StepRecord(_Strict):
    """One step of a script. `data` are the single values behind the measurements."""

    do: str
    words: dict[str, Any] = Field(default_factory=dict)
    seconds: float = 0.0
    verdict: Verdict = "info"
    measurements: list[Measurement] = Field(default_factory=list)
    data: dict[str, Any] = Field(default_factory=dict)

    def judge(self) -> None:
        """The step's verdict from its measurements: one that failed fails it."""
        found = {one.verdict for one in self.measurements}
        order: tuple[Verdict, ...] = ("fail", "pass", "skipped", "info")
        self.verdict = next((one for one in order if one in found), "info")


class ScriptRecord(_Strict):
    """One script."""

    name: str
    title: str
    verdict: Verdict = "info"
    steps: list[StepRecord] = Field(default_factory=list)


class BoardRecord(_Strict):
    """Who was tested, as it says itself; `boot_ids` in their order: more than one says that it started anew."""

    model: str
    firmware: str
    serial_number: str
    protocol: int
    capabilities: dict[str, Any]
    gear: dict[str, Any]
    boot_ids: list[str]


class Record(_Strict):
    """The record of one run."""

    schema_name: Literal["kaijin.end-of-line"] = Field(SCHEMA, alias="schema")
    version: Literal[1] = VERSION
    verdict: Overall = "stopped"
    reasons: list[str] = Field(default_factory=list)
    begun: str
    ended: str = ""
    clock: Literal["synced", "unsynced"]
    host: str
    port: str
    speed: float | Literal["max"]
    operator: str = "nobody"
    note: str = ""
    board: BoardRecord
    limits: dict[str, Any]
    limits_from: str
    scripts: list[ScriptRecord] = Field(default_factory=list)
    line: StepRecord = Field(default_factory=lambda: StepRecord(do="line"))
    left: list[str] = Field(default_factory=list)
    """What was done to leave the machine stopped safely."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    def judge(self, complete: bool) -> None:
        """The verdict: failed where a step failed, passed where all were done, else stopped."""
        for script in self.scripts:
            order: tuple[Verdict, ...] = ("fail", "pass", "skipped", "info")
            found = {step.verdict for step in script.steps}
            script.verdict = next((one for one in order if one in found), "info")
        wrong = list(self._failures())
        self.reasons = wrong + [reason for reason in self.reasons if reason not in wrong]
        self.verdict = "fail" if wrong else "pass" if complete else "stopped"

    def _failures(self) -> Iterator[str]:
        for script in self.scripts:
            for number, step in enumerate(script.steps, 1):
                for one in step.measurements:
                    if one.verdict == "fail":
                        yield f"{script.name}, step {number} ({step.do}): {one.name}: {one.reason}"
        for one in self.line.measurements:
            if one.verdict == "fail":
                yield f"line: {one.name}: {one.reason}"


def as_json(record: Record) -> dict[str, Any]:
    """The record as JSON data."""
    return record.model_dump(mode="json", by_alias=True)


def read_record(text: str) -> Record:
    """A record that was written; pydantic's ValidationError says what of it is wrong."""
    return Record.model_validate_json(text)


def write_record(record: Record, path: Path) -> None:
    """Write it whole or not at all; OSError."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(json.dumps(as_json(record), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    beside.replace(path)


def as_text(record: Record) -> str:
    """The record for people."""
    board = record.board
    number = board.serial_number or "–"
    lines = [
        f"{record.verdict.upper()}  {board.model}, firmware {board.firmware}, serial number {number}",
        f"begun {record.begun}, ended {record.ended or '–'}"
        + ("" if record.clock == "synced" else " (the clock was not set)"),
        f"boot {', '.join(board.boot_ids)}; port {record.port}; limits {record.limits_from}"
        + (f"; {record.note}" if record.note else ""),
    ]
    lines += [f"  because {reason}" for reason in record.reasons]
    for script in record.scripts:
        lines += ["", f"{script.title} ({script.name}): {script.verdict}"]
        for step in script.steps:
            lines += _step(step)
    lines += ["", *_step(record.line), *(f"left: {words}" for words in record.left)]
    return "\n".join(lines)


def _step(step: StepRecord) -> list[str]:
    words = " ".join(f"{key}={value}" for key, value in step.words.items())
    lines = [f"  {step.do} {words}".rstrip() + f": {step.verdict}, {step.seconds:.1f} s"]
    for one in step.measurements:
        value = "–" if one.value is None else f"{one.value:.4g}" if isinstance(one.value, float) else f"{one.value}"
        bounds = _bounds(one.limit)
        told = f"    {one.verdict:<8}{one.name:<34}{value} {one.unit}".rstrip()
        lines.append(told + (f"  [{bounds}]" if bounds else "") + (f"  {one.reason}" if one.reason else ""))
    return lines


def _bounds(limit: Bounds | None) -> str:
    if limit is None:
        return ""
    least = "" if limit.min is None else f"at least {limit.min:g}"
    most = "" if limit.max is None else f"at most {limit.max:g}"
    return ", ".join(filter(None, (least, most)))
