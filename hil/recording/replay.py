"""Gives a recording to a daemon's core, hardware driver and lines again, and names what is not as it was.

All of it is the daemon's own code; the journal is a fresh one, and nobody listens to what is published. What came from
outside then comes again, in its order and with its pauses, on a clock that stands while the daemon is at work: what
boards said, what people answered, which timers ran out. Nothing is given before the daemon has done what it had done
by then, or has been waited for in vain, which is a difference.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from controller.clock import SystemClock
from controller.core import Core, Speeds
from controller.hardware import Hardware
from controller.journal import Journal, open_journal
from controller.lines import Line
from controller.metrics import Metrics
from controller.publisher import Publisher
from controller.recording.format import RecordingError
from controller.startup import fold_events
from engine import inputs as i
from engine import snapshots
from engine.events import Event, encode_event
from engine.state import State, new_state
from engine.table import Refused
from hil.clock import LeapingLoop, LoopClock
from hil.recording.around import Disk, Outlet, ReplayCore, facts, undecorated
from hil.recording.board import ReplayBoard, lenient
from hil.recording.meaning import QUERIES, REQUESTS
from hil.recording.story import Item, Story
from hil.recording.streams import Enough, Report, Stream, of_input, told_of

PATIENCE_S: Final = 6.0
"""How long the daemon may take for what it had done by then, on the replay's clock."""

SHORT_S: Final = 0.05
"""How long an answer waits for its question, where that moves nothing."""

LAST_S: Final = 1.0
"""What was under way so shortly before the end may have been cut off by it."""

KEY_S: Final = 1.0
"""So long after a key was let go the core may have heard of it."""

STALLED_S: Final = 0.1
NEAR: Final = 50
"""After so long an open question is answered with the next recorded answer, among so many items."""

STEP_S: Final = 0.02

TURN_S: Final = 1e-7
"""What one turn of the loop takes: whoever waits for the last billionth of a second must come to the end of it."""


def replay(story: Story, pace: float = 0.0, compare: bool = True) -> Report:
    """Replay what is told; `pace` real seconds for each recorded one, 0 as fast as it goes (lock-step).

    Without `compare` nothing is waited for, and `made` of the report tells what happened. RecordingError where it
    cannot be replayed: only lines, redacted, or without its beginning.
    """
    _replayable(story)
    report = Report()
    if not compare:
        story = story.with_items(tuple(item for item in story.items if item.stimulus or item.kind == "end"))
    loop = LeapingLoop(pace, TURN_S)
    with tempfile.TemporaryDirectory(prefix="kaijin-replay-") as folder:
        try:
            loop.run_until_complete(_Replay(story, report, loop, Path(folder), compare).run())
        finally:
            loop.close()
    return report


def _replayable(story: Story) -> None:
    head = story.core
    if head.get("redacted"):
        raise RecordingError("this recording is redacted: its hands are gone, so it cannot be replayed")
    try:
        journal, speeds = int(head["journal_id"], 16), [float(value) for value in head.get("timing", {}).values()]
    except (ValueError, TypeError, AttributeError):
        raise RecordingError("core: journal_id or timing: expected a hexadecimal number, and numbers") from None
    if not 0 <= journal < 1 << 64 or any(value <= 0 for value in speeds):
        raise RecordingError("core: journal_id or timing: out of range")
    if not all(isinstance(value, str) for value in head["notes"].values()):
        raise RecordingError("core: notes: expected texts")
    if not story.complete or head["state"] is None:
        raise RecordingError("this recording has lost its beginning ([serial] record_mb); it cannot be replayed")
    if any(item.kind == "gap" for item in story.items):
        raise RecordingError("entries are missing in this recording: the disk was too slow; it cannot be replayed")


class _Tap:
    """Hears what reaches today's core, in place of a recording."""

    def __init__(self, replaying: _Replay) -> None:
        self._replay = replaying

    def fed(self, happened: i.Input, seat: str, id: str, asked: bool) -> None:
        self._replay.fed(happened)

    def decided(self, events: Sequence[Event]) -> None:
        self._replay.decided([encode_event(event) for event in events])

    def refused(self, happened: i.Input, code: str) -> None:
        self._replay.refused(happened, code)


class _Replay:
    def __init__(self, story: Story, report: Report, loop: LeapingLoop, folder: Path, compare: bool) -> None:
        self._story = story
        self._report = report
        self._loop = loop
        self._folder = folder
        self._compare = compare
        self._over = False
        self._lag = 0.0
        self._boards = [ReplayBoard(self._hearing(number)) for number in range(1, story.lines + 1)]
        self._streams: dict[str, Stream] = {}
        self._last_at = 0.0
        self._place = 0
        self._end = max((item.at for item in story.items), default=0.0)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._sessions = _sessions(story)

    # --- what the daemon does -----------------------------------------------------------------------------------------

    def fed(self, happened: i.Input) -> None:
        """An input has reached the core."""
        item = Item(0, self._at(), "input", happened=happened)
        if not item.stimulus:
            self._done(item)

    def decided(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Events are on the disk."""
        for event in events:
            self._done(Item(0, self._at(), "events", events=(event,)))

    def refused(self, happened: i.Input, code: str) -> None:
        """An input was refused."""
        self._done(Item(0, self._at(), "refused", reason=code, id=type(happened).__name__))

    def _hearing(self, number: int) -> Any:
        return lambda message: self._done(Item(0, self._at(), "asked", number, message))

    def _done(self, item: Item) -> None:
        """The daemon has done something."""
        if self._over:
            return
        if not self._compare:
            self._report.made.append(item)
            return
        for name, what in told_of(item):
            self._stream(name).get(item.at, what)

    def _stream(self, name: str) -> Stream:
        found = self._streams.get(name)
        if found is None:
            found = self._streams[name] = Stream(name, self._report, waited_for=not name.endswith("lamps"))
        return found

    def _at(self) -> float:
        return self._loop.time() - self._lag

    # --- the replay ---------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        head = self._story.core
        journal, _ = await asyncio.to_thread(open_journal, self._folder / "table.journal", fold_events)
        journal.journal_id = int(head["journal_id"], 16)
        await journal.note(dict(head["notes"]))
        self._disk = Disk(journal, self._loop, paced=self._compare)
        clock = cast(SystemClock, LoopClock())
        publisher = Publisher(str(head["table"]), int(head.get("epoch") or 1), clock, Outlet())
        lines = [
            Line(str(self._story.heads[f"line-{number}"]["port"]), 115_200, "kaijin replay", self._folder, board.open)
            for number, board in enumerate(self._boards, 1)
        ]
        hardware = Hardware(lines, journal, lambda happened: core.feed(happened), lambda: core.touch())
        timing = head.get("timing", {})
        speeds = Speeds(float(timing.get("speed", 1.0)), float(timing.get("people_speed", 1.0)))
        shown = facts(str(head.get("rules", "")))
        disk = cast(Journal, self._disk)
        core = ReplayCore(
            _state(head["state"]), disk, publisher, hardware, clock, Metrics(), speeds, shown, undecorated
        )
        core.tap = cast(Any, _Tap(self))
        hardware.on_key = self._key_held
        running = [asyncio.create_task(core.run()), *(asyncio.create_task(line.run()) for line in lines)]
        try:
            await self._follow(core, running)
        except Enough:
            pass
        finally:
            self._over = True
            for task in [*running, *self._tasks]:
                task.cancel()
            await asyncio.gather(*running, *self._tasks, return_exceptions=True)
            await hardware.close()
            for board in self._boards:
                board.close()
            await journal.close()
        self._report.differences.sort(key=lambda one: one.at)
        self._report.seconds = self._last_at

    async def _follow(self, core: Core, running: list[asyncio.Task[Any]]) -> None:
        for place, item in enumerate(self._story.items):
            self._place = place
            if item.stimulus:
                await self._until(item.at + self._lag)
                await self._caught_up()
                for task in running:
                    if task.done():
                        task.result()
                self._last_at = item.at
                if not self._compare:
                    self._report.made.append(item)
                await self._give(item, core)
                await self._loop.idle()
            else:
                self._expect(item)
            if item.kind == "events":
                await self._until(item.at + self._lag)
                self._disk.stored()
                await self._loop.idle()
        await self._until(self._end + self._lag)
        await self._caught_up()
        for stream in self._streams.values():
            stream.settle()
            while stream.expected:
                stream.give_up()
            stream.extra(self._end - LAST_S)

    async def _until(self, when: float) -> None:
        if when > self._loop.time():
            await asyncio.sleep(when - self._loop.time())
        await self._loop.idle()

    async def _caught_up(self) -> None:
        """Wait until everything that had been done by then is done; what is not after a while is a difference."""
        behind = [stream for stream in self._streams.values() if stream.waited_for]
        began = self._loop.time()
        while any(stream.expected for stream in behind) and self._loop.time() < began + PATIENCE_S:
            await self._pass(STEP_S)
            if self._loop.time() > began + STALLED_S:
                self._answer_ahead()
                self._disk.stored()
                await self._loop.idle()
                for stream in behind:
                    stream.settle()
        for stream in behind:
            while stream.expected:
                stream.give_up()

    def _answer_ahead(self) -> None:
        """The daemon asks in another order than then: it hears what it was told next, so that it comes to the rest."""
        for line, board in enumerate(self._boards, 1):
            for kind in board.unanswered():
                coming = (item for item in self._story.items[self._place : self._place + NEAR] if item.line == line)
                board.answer(kind, next((it.message for it in coming if type(it.message) is QUERIES[kind]), None))

    async def _pass(self, seconds: float) -> None:
        """Let time pass that had not passed then: all that follows comes so much later."""
        await asyncio.sleep(seconds)
        self._lag += seconds
        await self._loop.idle()

    def _expect(self, item: Item) -> None:
        for name, what in told_of(item):
            self._stream(name).expect(item.at, what)

    async def _give(self, item: Item, core: Core) -> None:
        """What came from outside then comes now."""
        self._report.counts[f"given: {item.kind}"] += 1
        if item.kind == "input":
            self._people(item, core)
            return
        board = self._boards[item.line - 1]
        match item.kind:
            case "no_port":
                board.present = True  # it was tried for in vain; the next attempt finds it again
            case "opened":
                board.present = True
            case "closed":
                board.present = not item.reason
                board.lose(item.reason or "closed here then")
                self._session_over(item.line)
            case "reset":
                board.reset(item.reason)
                self._session_over(item.line)
            case "session":
                await self._begin(item, board)
            case "said":
                await self._say(item, board)

    async def _begin(self, item: Item, board: ReplayBoard) -> None:
        until = self._loop.time() + PATIENCE_S
        while not board.greeted and self._loop.time() < until:
            await self._pass(STEP_S)
        board.begin(*self._sessions[item.n])
        self._session_over(item.line)
        while not board.up and self._loop.time() < until:
            await self._pass(STEP_S)
        if not board.up:
            self._stream(f"line {item.line}").expect(item.at, "a session")
            self._stream(f"line {item.line}").give_up()

    async def _say(self, item: Item, board: ReplayBoard) -> None:
        assert item.message is not None
        if getattr(item.message, "req", 0):
            until = self._loop.time() + (SHORT_S if lenient(item.message) else PATIENCE_S)
            while board.up and not board.waits_for(item.message) and self._loop.time() < until:
                await self._pass(STEP_S)
        if not board.say(item.message):
            self._report.counts["answers nobody asked for"] += 1

    def _session_over(self, line: int) -> None:
        for name, stream in self._streams.items():
            if name.startswith(f"line {line} "):
                stream.forget()

    def _people(self, item: Item, core: Core) -> None:
        happened = item.happened
        assert happened is not None
        if item.seat:
            core.seat_says(item.seat, item.id, happened)
        elif item.asked:
            self._spawn(_asked(core, happened))
        else:
            core.feed(happened)

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _key_held(self, key: str, seat: str, pressed_ms: int) -> bool:
        """A key that did not reach the core then (it confirmed a display, or parked) does not reach it now."""
        if not self._compare:
            return False
        wanted = of_input(i.KeyPressed(key, seat))
        for item in self._story.items[self._place + 1 :]:
            if item.at > self._last_at + KEY_S:
                break
            if item.kind == "input" and item.happened is not None and of_input(item.happened) == wanted:
                return False
        return True


async def _asked(core: Core, happened: i.Input) -> None:
    with contextlib.suppress(Refused):
        await core.ask(happened)


def _state(body: Any) -> State:
    try:
        return snapshots.decode(body) if body else new_state()
    except ValueError as error:
        raise RecordingError(f"the state at the beginning cannot be read: {error}") from None


def _sessions(story: Story) -> dict[int, tuple[Counter[type[Any]], frozenset[type[Any]]]]:
    """By the number of the item that begins a session: how often the board said what, and what it never answered."""
    found: dict[int, tuple[Counter[type[Any]], frozenset[type[Any]]]] = {}
    running: dict[int, tuple[int, Counter[type[Any]], Counter[type[Any]]]] = {}

    def close(line: int) -> None:
        if line in running:
            n, asked, said = running.pop(line)
            silent = {kind for kind in asked if kind in QUERIES and not sum(said[one] for one in REQUESTS[kind])}
            found[n] = said, frozenset(silent)

    for item in story.items:
        if item.kind in ("session", "closed", "reset"):
            close(item.line)
        if item.kind == "session":
            running[item.line] = item.n, Counter(), Counter()
        elif item.kind in ("said", "asked") and item.line in running:
            _, asked, said = running[item.line]
            (asked if item.kind == "asked" else said)[type(item.message)] += 1
    for line in list(running):
        close(line)
    return found
