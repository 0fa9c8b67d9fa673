"""A journal as the daemon writes it, of a walk of the engine: events, facts, records, notes, snapshots; for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from controller.clock import Stamp
from controller.core import Core, Speeds
from controller.journal import Journal, Keeping, NewEvent, NewPublished, open_journal
from controller.live import TableFacts
from controller.metrics import Metrics
from controller.publisher import Step
from controller.startup import fold_events, thaw
from engine import events as e
from engine import snapshots
from engine.events import encode_event
from engine.state import State
from engine.table import apply
from tests.engine.walker import Walker

STAMP = Stamp(1_700_000_000_000, 12, "synced")
FACTS = TableFacts("new-xiamen-120", "zhitui", "none", "hand", "guide", 2, 0)


def opened(path: Path, keeping: Keeping | None = None) -> tuple[Journal, State]:
    """The journal as a daemon opens it."""
    return open_journal(path, fold_events, thaw, keeping)


class Scribe:
    """Writes what a walker decides into a journal, transaction by transaction, as the core does."""

    def __init__(self, journal: Journal, every: int = 1) -> None:
        nothing: Any = None
        self.journal = journal
        self.stamp = STAMP
        self.states: list[tuple[int, State]] = []
        self._core = Core(
            State(), nothing, nothing, nothing, nothing, Metrics(), Speeds(), lambda: FACTS, lambda live, state: live
        )
        self._every = every

    async def write(self, before: State, decided: tuple[e.Event, ...]) -> State:
        """Store one transaction, and a snapshot behind a booking."""
        steps = []
        state = before
        for event in decided:
            after = apply(state, event)
            steps.append(Step(event, state, after))
            state = after
        stored = []
        for step in steps:
            body = encode_event(step.event)
            stored.append(NewEvent(step.before.hand, body.pop("type"), body))
        seq = self.journal.next_seq
        facts = [NewPublished(seq, "game", f'{{"hand": {state.hand}}}')]
        await self.journal.append(stored, self.stamp, 1, facts, self._core._records(steps))
        if any(isinstance(event, e.HandEnded | e.HandRebooked) for event in decided):
            await self.journal.note({"told": str(state.hand), f"gone-{state.hand}": None})
            await self.journal.keep_snapshot(lambda: snapshots.encode(state), state.session.match, self.stamp)
        self.states.append((self.journal.last_event, state))
        return state


async def written(path: Path, hands: int = 2, until: Callable[[State], bool] | None = None, **walk: Any) -> Scribe:
    """A journal of a match up to a state, still open."""
    journal, state = opened(path)
    if not journal.epoch:
        journal.begin_epoch(1)
    scribe = Scribe(journal)
    walker = Walker(**{"rules": "new-xiamen-120", "sensing": "none", "hands": hands, "seed": 5, **walk})
    decided: list[tuple[State, tuple[e.Event, ...]]] = []
    walker.watch = lambda before, events, after: decided.append((before, events))
    walker.state = state
    walker.run(until)
    for before, events in decided:
        if events:
            await scribe.write(before, events)
        await asyncio.sleep(0)
    return scribe
