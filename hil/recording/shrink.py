"""Makes a failing recording small: what came from outside is left out piece by piece while it still fails.

Messages of boards, answers of people and timers are left out; sessions are made anew around what stays, so every
candidate is a whole recording (`writing`).
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from controller.recording.format import RecordingError
from hil.recording.meaning import NOTHING, QUERIES, Difference, of_event
from hil.recording.replay import replay
from hil.recording.story import Item, Story
from hil.recording.streams import Report, told_of
from hil.recording.writing import write_story

RUNS: Final = 400
"""Candidates that are tried at most."""

COMMAND_S: Final = 120.0
END_S: Final = 6.0
"""A shrunk recording ends so long after the last that happens in it."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The smallest story found, how many candidates were tried, and how many messages and inputs were given before."""

    story: Story
    runs: int
    before: int

    @property
    def after(self) -> int:
        """How many are given now."""
        return len(_given(self.story.items))


def shrink_difference(story: Story, most: int = RUNS) -> Shrunk:
    """The least that leads to the first difference of this recording; RecordingError where it replays as it was.

    The result expects what today's daemon does, but for the one difference.
    """
    found = replay(story).differences
    if not found:
        raise RecordingError("this recording replays as it was: there is no difference to keep")
    wanted = found[0]
    before = _before(story, wanted)

    def still(candidate: Story) -> bool:
        return _shows(replay(candidate, compare=False), wanted, before)

    small, runs = _shrunk(story, still, most)
    return Shrunk(_expecting(small, story, wanted, before), runs, len(_given(story.items)))


def shrink_while(story: Story, command: Sequence[str], most: int = RUNS) -> Shrunk:
    """The least for which the command still ends with 0; a recording's folder stands for `{}` in it, or comes last."""
    parts = list(command)
    if "{}" not in parts:
        parts.append("{}")

    def still(candidate: Story) -> bool:
        with tempfile.TemporaryDirectory(prefix="kaijin-shrink-") as folder:
            written = Path(folder) / "recording"
            write_story(candidate, written)
            told = [str(written) if part == "{}" else part for part in parts]
            try:
                done = subprocess.run(
                    told, capture_output=True, stdin=subprocess.DEVNULL, timeout=COMMAND_S, check=False
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise RecordingError(f"{parts[0]}: {error}") from None
            return done.returncode == 0

    small, runs = _shrunk(story, still, most)
    return Shrunk(small, runs, len(_given(story.items)))


# --- leaving out ------------------------------------------------------------------------------------------------------

_Unit: TypeAlias = tuple[int, ...]
"""Places of items that are left out together."""


def _given(items: Sequence[Item]) -> list[int]:
    """The places of what boards said, and of the inputs of people and the clock."""
    return [place for place, item in enumerate(items) if item.stimulus and item.kind in ("said", "input")]


def _units(items: Sequence[Item]) -> list[_Unit]:
    """What may be left out: each message and input by itself, and each time that a line went and came again."""
    units: list[_Unit] = [(place,) for place in _given(items)]
    for line in {item.line for item in items if item.line}:
        gone: list[int] = []
        for place, item in enumerate(items):
            if item.line != line or item.kind not in ("closed", "reset", "no_port", "opened", "session"):
                continue
            if gone or item.kind in ("closed", "reset"):
                gone.append(place)
            if gone and item.kind == "session":
                units.append(tuple(gone))
                gone = []
        if gone:
            units.append(tuple(gone))
    return sorted(units)


def _shrunk(story: Story, still: Callable[[Story], bool], most: int) -> tuple[Story, int]:
    """Delta debugging (ddmin) over what was given, each with what followed from it."""
    runs = 0
    units = _units(story.items)

    def fails(kept: Sequence[_Unit]) -> bool:
        nonlocal runs
        runs += 1
        return still(_only(story, units, kept))

    kept = units
    if not fails(kept):
        raise RecordingError("this recording does not fail as it stands, so there is nothing to keep")
    pieces = 2
    while len(kept) > 1 and runs < most:
        size = -(-len(kept) // pieces)
        for first in range(0, len(kept), size):
            rest = kept[:first] + kept[first + size :]
            if rest and runs < most and fails(rest):
                kept, pieces = rest, max(pieces - 1, 2)
                break
        else:
            if size == 1:
                break
            pieces = min(len(kept), pieces * 2)
    return _only(story, units, kept), runs


def _only(story: Story, units: Sequence[_Unit], kept: Sequence[_Unit]) -> Story:
    """The story without the units that are not kept, and without what followed from them."""
    dropped = {place for unit in units for place in unit} - {place for unit in kept for place in unit}
    items: list[Item] = []
    dropping = False
    for place, item in enumerate(story.items):
        if item.stimulus:
            dropping = place in dropped
        if not dropping or item.kind == "end":
            items.append(item)
    return story.with_items(tuple(items))


# --- one difference ---------------------------------------------------------------------------------------------------


def _before(story: Story, wanted: Difference) -> str:
    """What had been done in the same stream just before: a candidate must still come so far."""
    last = ""
    for item in story.items:
        for name, what in told_of(item):
            if name != wanted.where:
                continue
            if item.at >= wanted.at:
                return last
            last = what
    return last


def _shows(report: Report, wanted: Difference, before: str) -> bool:
    got = [what for item in report.made for name, what in told_of(item) if name == wanted.where]
    if wanted.got != NOTHING:
        return wanted.got in got and wanted.expected not in got
    return wanted.expected not in got and (not before or before in got)


def _expecting(small: Story, origin: Story, wanted: Difference, before: str) -> Story:
    """What the daemon does now as what is expected, but for the difference, which is expected as it was."""
    then = _as_it_was(origin, wanted)
    items: list[Item] = []
    planted = False
    for item in replay(small, compare=False).made:
        words = [what for name, what in told_of(item) if name == wanted.where]
        instead = not planted and wanted.got != NOTHING and wanted.got in words
        behind = not planted and wanted.got == NOTHING and (not before or before in words)
        if not instead and type(item.message) not in QUERIES:
            # What was only asked is not compared; without it every question is answered.
            items.append(item)
        if (instead or behind) and then is not None:
            items.append(replace(then, at=item.at))
        planted = planted or instead or behind
    last = items[-1].at if items else 0.0
    ends = [replace(item, at=last + END_S) for item in small.items if item.kind == "end"]
    return small.with_items((*items, *ends))


def _as_it_was(origin: Story, wanted: Difference) -> Item | None:
    for item in origin.items:
        if item.kind == "events":
            for event in item.events:
                if wanted.expected == of_event(event):
                    return replace(item, events=(event,))
        elif (wanted.where, wanted.expected) in told_of(item):
            return item
    return None
