"""Recordings for tests: of a whole table under a scenario, real processes on a real line; and small ones."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from controller.journal import read_events
from controller.recording.core import CoreTap
from controller.recording.format import CORE, LINE, read_recording, recordings_in
from controller.recording.writer import Recorder, StreamWriter
from hil.recording.story import Item, Story, read_story
from tests.table.harness import WholeTable


@dataclass(frozen=True)
class Recorded:
    """What was recorded of one table, and its journal."""

    recording: Path
    journal: Path
    said_wrong: int
    """How many lines of the daemon's log tell of an error."""

    @property
    def story(self) -> Story:
        return read_story(read_recording(self.recording))

    def journaled(self) -> list[dict[str, Any]]:
        """The journal's events as they are in a recording."""
        return [{"type": event.type, **event.body} for event in read_events(self.journal)]


def record(folder: Path, scenario: str, sensing: str = "none", hands: int = 1, **more: Any) -> Recorded:
    """Play hands at a table with a scenario, recorded by its daemon from its start to its end."""
    folder.mkdir(parents=True, exist_ok=True)
    simulate = ["--scenario", scenario] if scenario else []
    table = WholeTable(folder, sensing=sensing, hands=hands, seed=4, simulate=simulate, **more)

    async def play() -> None:
        async with table:
            await table.ended(150)
            # The daemon goes first, so that the end of its line is its own doing.
            await asyncio.to_thread(table.kill, "daemon", 15)

    with environment(KAIJIN_SERIAL__RECORD=str(folder / "recordings")):
        asyncio.run(play())
    (recording,) = recordings_in(folder / "recordings")
    log = (folder / "daemon.err").read_text("utf-8", "replace")
    return Recorded(recording, table.journal, log.count('"level": "critical"'))


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """Environment variables while the block runs."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def own(folder: Path, most_bytes: int = 1 << 20) -> Iterator[tuple[Recorder, StreamWriter, StreamWriter]]:
    """A recording written by the block: recorder, a line's stream, the core's stream."""
    clock = iter(range(10_000_000))
    recorder = Recorder(folder, "test", most_bytes, lambda: next(clock) / 1000, "0")
    line = recorder.stream(f"{LINE}1", {"port": "port"})
    core = recorder.stream(CORE, {"journal_id": "1", "state": None, "notes": {}})
    try:
        yield recorder, line, core
    finally:
        recorder.close()


def tap(core: StreamWriter) -> CoreTap:
    return CoreTap(core)


def changed(story: Story, place: int, **values: Any) -> Story:
    """The story with one item changed."""
    items = list(story.items)
    items[place] = replace(items[place], **values)
    return story.with_items(tuple(items))


def inserted(story: Story, place: int, item: Item) -> Story:
    """The story with an item more before this place."""
    return story.with_items((*story.items[:place], item, *story.items[place:]))


def places(story: Story, kind: str, message: type[Any] | None = None) -> list[int]:
    """Where items of this kind, and of this message, stand."""
    return [
        place
        for place, item in enumerate(story.items)
        if item.kind == kind and (message is None or isinstance(item.message, message))
    ]


def words(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The entries' names, without those of the end."""
    return [next(str(row[key]) for key in ("way", "note") if key in row) for row in rows if row.get("note") != "end"]
