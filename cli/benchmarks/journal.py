"""The journal by itself: how it grows with each hand, and how long a start takes with so many hands behind it."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, Final

from cli.benchmarks.people import People, by_brain
from cli.benchmarks.rows import Goal, Row, percentile
from controller.clock import Stamp, SystemClock
from controller.journal import Journal, Keeping, NewEvent, NewPublished, open_journal, schema
from controller.publisher import Publisher, Step
from controller.records import NewRecord
from controller.startup import fold_events, thaw
from engine import inputs as i
from engine import snapshots
from engine.events import HandEnded, encode_event
from engine.export import hand_record
from engine.state import State
from engine.table import apply, decide

RULES: Final = "new-xiamen-120"
STORED: Final = (10, 100, 1_000, 10_000)
GROWN_OVER: Final = 12
SAMPLES: Final = 400
_STARTS: Final = 5
_HANDS_A_MATCH: Final = 16
_AT_ONCE: Final = 8
"""Hands that are stored together, so that it does not take an hour."""

_KEEP_ALL: Final = Keeping(days=3650, megabytes=4096)


class _Nobody:
    """Hears nothing."""

    def set_retained(self, topic: str, payload: bytes | None) -> None: ...

    def publish(self, topic: str, payload: bytes, qos: int = 1) -> None: ...


@dataclass
class _Hand:
    """What one hand stores: a transaction for each input that changed something."""

    commits: list[list[Step]]
    after: State
    record: str = ""


class _Writing(People):
    """People whose hands are kept as what a daemon would store of them."""

    def __init__(self, hands: int) -> None:
        self.hands: list[_Hand] = []
        self._commits: list[list[Step]] = []
        super().__init__(RULES, hands, 7, by_brain)

    def _feed(self, happened: i.Input) -> None:
        self.inputs += 1
        steps: list[Step] = []
        for event in decide(self.state, happened):
            before, self.state = self.state, apply(self.state, event)
            steps.append(Step(event, before, self.state))
        if not steps:
            return
        self._commits.append(steps)
        ended = next((step for step in steps if isinstance(step.event, HandEnded)), None)
        if ended is not None:
            self.hands.append(_Hand(self._commits, self.state, hand_record(ended.before)))
            self._commits = []


def growth(folder: Path | None) -> list[Row]:
    """Bytes that a hand adds to the journal, where every tile is read: the most there is to store."""
    people = _Writing(GROWN_OVER)
    people.play(lambda state: state.phase == "ended")
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place) / "t.journal"

        async def write() -> tuple[int, int, dict[str, int]]:
            journal, _ = open_journal(path, fold_events, thaw, _KEEP_ALL)
            journal.begin_epoch(1)
            for hand in people.hands[:2]:
                await _store(journal, hand)
            with contextlib.closing(sqlite3.connect(path)) as other:
                other.execute("PRAGMA wal_checkpoint").fetchall()
            before = path.stat().st_size
            for hand in people.hands[2:]:
                await _store(journal, hand)
            await journal.close()
            return before, path.stat().st_size, _parts(path)

        before, after, parts = asyncio.run(write())
    many = len(people.hands) - 2
    commits = sum(len(hand.commits) for hand in people.hands) / len(people.hands)
    shares = ", ".join(f"{name} {size / len(people.hands) / 1000:.1f}" for name, size in parts.items())
    return [
        Row(
            "growth", "journal growth for each hand, tiles read", "the file itself", (after - before) / many / 1000,
            unit="kB", detail=f"{commits:.0f} commits a hand; kB of content a hand: {shares}; "
            "old hands leave at [journal] keep_mb and keep_days",
        )
    ]  # fmt: skip


def recovery(folder: Path | None) -> list[Row]:
    """Seconds from the file to the state in the middle of a hand, by how many hands were played before."""
    people = _Writing(4)
    people.play(lambda state: state.phase == "ended")
    found: dict[int, tuple[float, float]] = {}
    for stored in STORED:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            path = Path(place) / "t.journal"
            asyncio.run(_fill(path, people.hands, stored))
            found[stored] = (median([_start(path) for _ in range(_STARTS)]), path.stat().st_size / 1e6)
    first, last = found[STORED[0]][0], found[STORED[-1]][0]
    told = "; ".join(f"{many:,}: {seconds:.3f} s, {size:.1f} MB" for many, (seconds, size) in found.items())
    return [
        Row(
            "recovery", f"start from the journal of {STORED[-1]:,} hands", "–", last, Goal("at most", 2.0, "s"),
            detail=f"by hands stored: {told}",
        ),
        Row(
            "recovery", f"the same against {STORED[0]} hands", "the same file with fewer hands", last / first,
            unit="×", detail="what grows is the check of a file that grows up to keep_mb",
        ),
    ]  # fmt: skip


def commits(folder: Path | None) -> list[Row]:
    """One state change on the disk and ready to be published, with and without waiting for the disk."""
    times = {"FULL": _commit_times(folder, "FULL"), "OFF": _commit_times(folder, "OFF")}
    full, off = times["FULL"], times["OFF"]
    p99 = percentile(full, 0.99), percentile(off, 0.99)
    return [
        Row(
            "durability", "state change → on the disk → ready to be said", "ourselves with synchronous=OFF",
            median(full) / median(off),
            detail=f"median {median(full) * 1e3:.2f} ms against {median(off) * 1e3:.2f} ms, "
            f"p99 {p99[0] * 1e3:.2f} ms against {p99[1] * 1e3:.2f} ms; {len(full)} commits",
        )
    ]  # fmt: skip


def _commit_times(folder: Path | None, synchronous: str) -> list[float]:
    people = _Writing(2)
    people.play(lambda state: state.phase == "ended")
    steps = [commit for hand in people.hands for commit in hand.commits][:SAMPLES]
    before, schema.SYNCHRONOUS = schema.SYNCHRONOUS, synchronous
    try:
        with tempfile.TemporaryDirectory(dir=folder) as place:

            async def write() -> list[float]:
                journal, _ = open_journal(Path(place) / "t.journal", fold_events, thaw)
                publisher = Publisher("bench", 1, SystemClock(), _Nobody())
                taken = []
                for commit in steps:
                    began = time.perf_counter()
                    facts = publisher.facts(commit, journal.next_seq, publisher._clock.stamp(), None)
                    await journal.append(_events(commit), publisher._clock.stamp(), 1, facts)
                    publisher.say_facts(facts)
                    taken.append(time.perf_counter() - began)
                await journal.close()
                return taken

            return asyncio.run(write())
    finally:
        schema.SYNCHRONOUS = before


def _events(steps: Sequence[Step]) -> list[NewEvent]:
    stored = []
    for step in steps:
        body = encode_event(step.event)
        stored.append(NewEvent(step.before.hand, body.pop("type"), body))
    return stored


async def _store(journal: Journal, hand: _Hand) -> None:
    """A hand as the daemon stores it, commit by commit."""
    publisher = Publisher("bench", 1, SystemClock(), _Nobody())
    for steps in hand.commits:
        stamp = publisher._clock.stamp()
        facts = publisher.facts(steps, journal.next_seq, stamp, None)
        booked = any(isinstance(step.event, HandEnded) for step in steps)
        session = hand.after.session
        records = [NewRecord(session.match, session.hand, hand.record)] if booked else []
        await journal.append(_events(steps), stamp, 1, facts, records)
    await journal.keep_snapshot(lambda: snapshots.encode(hand.after), hand.after.session.match, stamp)


def _parts(path: Path) -> dict[str, int]:
    """Bytes of content by table."""
    sizes = {"events": "events", "published": "published", "records": "records", "snapshots": "snapshots"}
    columns = {"published": "envelope"}
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return {
            name: connection.execute(f"SELECT total(length({columns.get(table, 'body')})) FROM {table}").fetchone()[0]
            for name, table in sizes.items()
        }


async def _fill(path: Path, hands: Sequence[_Hand], count: int) -> None:
    """So many hands, some together, with snapshots and pruning as ever; then half a hand that is not over."""
    journal, _ = open_journal(path, fold_events, thaw)
    journal.begin_epoch(1)
    plain = journal._writer
    connection = plain.connection

    def quick(work: Callable[[sqlite3.Connection], Any], events: int = 0, *, needed: bool = False) -> Any:
        # What is not measured need neither be written twice nor be waited for.
        connection.execute("BEGIN")
        found = work(connection)
        connection.execute("COMMIT")
        plain.last_event += events
        return found

    connection.execute("PRAGMA synchronous = OFF")
    setattr(plain, "transact", quick)  # noqa: B010
    first, again, rest = hands[0], hands[1], hands[2]
    publisher = Publisher("bench", 1, SystemClock(), _Nobody())
    shapes = []
    for hand in (first, again):
        steps = [step for commit in hand.commits for step in commit]
        shapes.append((_events(steps), publisher.facts(steps, 1, Stamp(0, 0, "synced"), None), hand.record))
    body: Mapping[str, Any] = snapshots.encode(again.after)
    now = int(time.time() * 1000)
    at_once = _AT_ONCE if count >= 1_000 else 1
    for last in range(at_once, count + 1, at_once):
        # One hand every eight minutes, up to now; a match is as many hands as an evening has time for.
        stamp = Stamp(now - (count - last) * 480_000, 0, "synced")
        told: list[NewEvent] = []
        said: list[NewPublished] = []
        records = []
        for number in range(last - at_once, last):
            events, facts, record = shapes[number % _HANDS_A_MATCH != 0]
            told += [replace(event, hand=number + 1) for event in events]
            seq = journal.next_seq + len(said)
            said += [NewPublished(seq + place, fact.stream, fact.envelope) for place, fact in enumerate(facts)]
            records.append(NewRecord(number // _HANDS_A_MATCH + 1, number + 1, record))
        await journal.append(told, stamp, 1, said, records)
        await journal.keep_snapshot(lambda: body, last // _HANDS_A_MATCH + 1, stamp)
    half = rest.commits[: len(rest.commits) // 2]
    for commit in half:
        await journal.append(_events(commit), Stamp(now, 0, "synced"), 1)
    await journal.close()


def _start(path: Path) -> float:
    """Seconds to the state, by a process that has nothing of it in memory but what the system caches."""
    began = time.perf_counter()
    journal, _ = open_journal(path, fold_events, thaw)
    seconds = time.perf_counter() - began
    asyncio.run(_closed(journal))
    return seconds


async def _closed(journal: Journal) -> None:
    await journal.close()

