"""What a recorded table is like: how long its mechanisms take and stray, how its dice lie, what fails, how it answers.

The result is TOML for `kaijin simulate table --assumptions`: what was measured; for all else the assumptions stand.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, pstdev
from typing import Any, Final

from controller.recording.format import RecordingError
from hil.recording.story import Story
from protocol.serial import messages as serial
from protocol.serial.parts import DiceOutcome
from protocol.serial.wire import MessageError
from simulators.assumptions import default_assumptions
from simulators.wear import WEAR

MOVEMENTS: Final[Mapping[type[Any], str]] = {
    serial.CentreRaise: "centre_up",
    serial.CentreLower: "centre_down",
    serial.WallsRaise: "walls_up",
    serial.WallsLower: "walls_down",
    serial.DiceRoll: "dice",
    serial.PresentGroup: "present",
    serial.ReadWall: "read_wall",
}
"""Operation → the movement of the assumptions whose time it is."""

LEAST: Final = 5
"""Cycles below which a spread says nothing; the mean is told, marked as of few."""

EVEN: Final = math.sqrt(3)
"""Half the width of an even spread over its standard deviation."""

_VERBS: Final[Mapping[type[Any], str]] = {
    serial.SortStart: "sort", serial.WallsRaise: "walls_raise", serial.CentreRaise: "centre_raise",
}  # fmt: skip


@dataclass(slots=True)
class Measured:
    """What stories tell of one table."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Seconds of each movement, and of `sort`."""
    cycles: Counter[str] = field(default_factory=Counter)
    faults: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By verb and fault, how often it ended so."""
    throws: Counter[str] = field(default_factory=Counter)
    answers: list[float] = field(default_factory=list)
    model: str = ""
    firmware: str = ""
    frames: int = 0
    bad: int = 0
    repeated: int = 0
    sessions: int = 0
    seconds: float = 0.0


def measure(stories: Sequence[Story]) -> Measured:
    """All that stories of one table tell of it; RecordingError where boards of different kinds are in them."""
    found = Measured()
    for story in stories:
        for line in range(1, story.lines + 1):
            _measure_line(found, story, line)
        found.seconds += max((item.at for item in story.items), default=0.0)
        for counts in story.counts:
            found.answers += counts.answers
            found.frames += counts.frames_in
            found.bad += counts.bad
            found.repeated += counts.repeated_out
            found.sessions += counts.sessions
    return found


def _measure_line(found: Measured, story: Story, line: int) -> None:
    asked: dict[serial.OpId, type[Any]] = {}
    begun: dict[serial.OpId, float] = {}
    ended: set[serial.OpId] = set()
    for item in story.items:
        if item.line != line:
            continue
        message: Any = item.message
        if item.kind in ("session", "closed", "reset"):
            begun.clear()  # what went on meanwhile is not known to the second
        elif item.kind == "asked" and isinstance(message, serial.Operation):
            asked.setdefault(message.op, type(message))
        elif isinstance(message, serial.Identity):
            known = (found.model, found.firmware)
            if line == 1 and known not in (("", ""), (message.model, message.firmware)):
                raise RecordingError(
                    f"recordings of different boards: {known[0]} {known[1]} and {message.model} {message.firmware}"
                )
            if line == 1:
                found.model, found.firmware = message.model, message.firmware
        elif isinstance(message, serial.OpAccepted):
            begun.setdefault(message.op, item.at)
        elif isinstance(message, serial.OpResult) and message.op not in ended:
            ended.add(message.op)
            _ended(found, asked.get(message.op), message, begun.get(message.op), item.at)


def _ended(found: Measured, kind: Any, result: serial.OpResult, began: float | None, at: float) -> None:
    if kind is None:
        return
    name = "sort" if kind is serial.SortStart else MOVEMENTS.get(kind, "")
    verb = _VERBS.get(kind, name)
    found.cycles[verb] += 1
    if result.outcome == "failed":
        found.faults[verb, result.fault] += 1
    if result.outcome == "done" and began is not None and name:
        found.times[name].append(at - began)
    if kind is serial.DiceRoll and result.outcome == "done":
        try:
            found.throws[DiceOutcome.unpack(result.values).quality] += 1
        except MessageError:
            found.throws["unreadable"] += 1


def as_toml(found: Measured) -> str:
    """The profile; RecordingError where nothing was measured."""
    if not found.times and not found.answers:
        raise RecordingError("no operation of this table was recorded from its begin to its end: nothing to measure")
    lines = [
        f"# Measured at {_word(found.model) or 'a table'}, firmware {_word(found.firmware) or '?'}, from "
        f"{found.seconds:.0f} recorded seconds.",
        "# For `kaijin simulate table --assumptions`; what is not here is assumed as ever.",
        "",
    ]
    movements = [(name, times) for name, times in sorted(found.times.items()) if name != "sort" and times]
    if movements:
        lines.append("[movements]")
        lines += [f"{name} = {_duration(times)}" for name, times in movements]
        lines.append("")
    if found.times.get("sort"):
        lines += _sort(found.times["sort"])
    throws = sum(found.throws[one] for one in ("clean", "cocked", "ambiguous"))
    if throws:
        leaning = found.throws["cocked"] + found.throws["ambiguous"]
        lines += ["[rates]", f"cocked = {leaning / throws:.4f}  # of {throws} throws that were read", ""]
    lines += _faults(found)
    if found.answers:
        lines += ["[quirks]", f"answer = {_duration(found.answers)}", ""]
    if found.frames:
        lines.append(
            f"# The line: {1000 * found.bad / found.frames:.1f} bad and {1000 * found.repeated / found.frames:.1f} "
            f"repeated frames in 1,000, {found.sessions} sessions."
        )
    return "\n".join(lines).rstrip() + "\n"


def _duration(times: Sequence[float]) -> str:
    mean = fmean(times)
    spread = min(1.0, EVEN * pstdev(times) / mean) if mean > 0 and len(times) >= LEAST else 0.0
    few = "" if len(times) >= LEAST else ", too few for a spread"
    return f"{{ seconds = {mean:.4f}, spread = {spread:.3f} }}  # {len(times)} measured{few}"


def _sort(times: Sequence[float]) -> list[str]:
    warn, fault = default_assumptions().sort.warn, default_assumptions().sort.fault
    usual = [seconds for seconds in times if seconds <= warn] or list(times)
    shortest, longest = max(min(usual), 0.001), max(max(usual), 0.001)
    middle = max(median(usual), 0.001)
    lines = ["[sort]", f"shortest = {shortest:.4f}", f"median = {middle:.4f}", f"longest = {longest:.4f}"]
    if longest > warn:
        lines += [f"warn = {longest:.4f}", f"fault = {max(fault, longest * 1.5):.4f}"]
    return [*lines, "stragglers = 0  # the last tiles are in these times", f"# {len(times)} sorts measured", ""]


def _faults(found: Measured) -> list[str]:
    told: dict[str, str] = {}
    for verb, known in WEAR.items():
        cycles = found.cycles[verb]
        seen: set[str] = set()
        for name, fault in known:
            if cycles and fault not in seen:
                seen.add(fault)
                told[name] = f"{name} = {1000 * found.faults[verb, fault] / cycles:.2f}  # in {cycles} cycles"
    slow = [seconds for seconds in found.times.get("sort", []) if seconds > default_assumptions().sort.warn]
    if found.times.get("sort"):
        told["slow_tail"] = f"slow_tail = {1000 * len(slow) / len(found.times['sort']):.2f}"
    return ["[faults_per_1000_cycles]", *told.values(), ""] if told else []


def _word(text: str) -> str:
    return " ".join(text.split())
