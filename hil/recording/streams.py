"""What a recording tells and what a daemon does, as rows of words that are compared in their order."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Final

from controller.recording.core import encode_input
from engine import inputs as i
from hil.recording.meaning import NOTHING, Difference, alike, channel_of, of_event, of_message
from hil.recording.story import Item

MOST: Final = 20
"""Differences after which a replay ends."""

AHEAD: Final = 8
"""How far a stream is searched for where it goes on after a difference."""

REPEATED: Final = (i.FaultRaised, i.FaultCleared, i.StopLatched, i.StopCleared)
"""Inputs that are fed again until the core has come to them: the journal tells what became of them."""


@dataclass(slots=True)
class Report:
    """What a replay came to."""

    differences: list[Difference] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    """Recorded seconds that were replayed."""
    made: list[Item] = field(default_factory=list)
    """What was given and what the daemon did, in the order of today, where nothing was compared."""

    @property
    def same(self) -> bool:
        """Nothing differs."""
        return not self.differences


class Enough(Exception):
    """There is no use in going on."""


class Stream:
    """One row of things in their order, then and now."""

    def __init__(self, name: str, report: Report, waited_for: bool = True) -> None:
        self.name = name
        self.waited_for = waited_for
        self.expected: deque[tuple[float, str]] = deque()
        self.got: deque[tuple[float, str]] = deque()
        self._report = report

    def expect(self, at: float, what: str) -> None:
        """Something was done then."""
        self.expected.append((at, what))
        self._match()

    def get(self, at: float, what: str) -> None:
        """Something is done now."""
        self.got.append((at, what))
        self._match()

    def give_up(self) -> None:
        """What was expected first does not come."""
        at, what = self.expected.popleft()
        self._differ(at, what, NOTHING)
        self._match()

    def forget(self) -> None:
        """A session has ended: what was just being said is not compared."""
        self.expected.clear()
        self.got.clear()

    def extra(self, before: float) -> None:
        """At the end: what came now and had not come then."""
        for at, what in self.got:
            if at < before:
                self._differ(at, NOTHING, what)
        self.got.clear()

    def settle(self) -> None:
        """Where something else was done than then, find where the two go on alike; called when all is quiet."""
        while self.expected and self.got:
            (at, expected), (_, got) = self.expected[0], self.got[0]
            later = [what for _, what in list(self.got)[1:AHEAD]]
            sooner = [what for _, what in list(self.expected)[1:AHEAD]]
            if any(alike(expected, what) for what in later):
                self._differ(at, NOTHING, got)
                self.got.popleft()
            elif any(alike(what, got) for what in sooner):
                self._differ(at, expected, NOTHING)
                self.expected.popleft()
            else:
                self._differ(at, expected, got)
                self.expected.popleft()
                self.got.popleft()
            self._match()

    def _match(self) -> None:
        while self.expected and self.got and alike(self.expected[0][1], self.got[0][1]):
            self._report.counts[self.name] += 1
            self.expected.popleft()
            self.got.popleft()

    def _differ(self, at: float, expected: str, got: str) -> None:
        self._report.differences.append(Difference(at, self.name, expected, got))
        if len(self._report.differences) >= MOST:
            raise Enough


def told_of(item: Item) -> list[tuple[str, str]]:
    """What the daemon has done, as the streams in which it is compared, and its words there."""
    match item.kind:
        case "asked" if item.message is not None:
            channel = channel_of(item.message)
            return [(f"line {item.line} {channel}", of_message(item.message))] if channel else []
        case "input" if item.happened is not None and not item.stimulus:
            return [] if isinstance(item.happened, REPEATED) else [("inputs", of_input(item.happened))]
        case "events":
            return [("journal", of_event(event)) for event in item.events]
        case "refused":
            return [("journal", f"refused {item.reason}: {item.id}")]
    return []


def of_input(happened: i.Input) -> str:
    """An input by kind and values."""
    return of_event(encode_input(happened))
