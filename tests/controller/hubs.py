"""The parlor's hub as tests have it: a book made from the ledger alone, and a ledger with nothing around it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from controller.clock import Stamp
from controller.epoch import read_epoch_file
from controller.hub import Ledger
from controller.journal import Journal, NewEvent, open_journal
from controller.metrics import Metrics
from controller.publisher import Publisher, Step
from controller.startup import notice_older_state
from protocol.mqtt.envelope import MAX_BYTES, decode
from protocol.mqtt.models import LedgerRecord

TABLE = "hall-7"


@dataclass
class HubBook:
    """What a hub that follows the rules of docs/mqtt.md holds: rows by journal and number, each once."""

    rows: dict[tuple[str, int], bytes] = field(default_factory=dict)
    repeated: int = 0

    def take(self, payload: bytes) -> LedgerRecord:
        """Commit one message; AssertionError where a row came with another content, or keeps no contract."""
        assert len(payload) <= MAX_BYTES
        envelope = decode(payload)
        assert envelope.type == "ledger"
        row = LedgerRecord.model_validate_json(json.dumps(envelope.data), strict=True)
        key = (row.journal, row.number)
        if key in self.rows:
            self.repeated += 1
            assert self.rows[key] == payload, "a row is said again as it was born"
        self.rows[key] = payload
        return row

    def complete(self, journal: str) -> int:
        """The number up to which nothing of a journal is missing: what the hub acknowledges."""
        number = 0
        while (journal, number + 1) in self.rows:
            number += 1
        return number

    @property
    def records(self) -> list[dict[str, Any]]:
        """Every row as it was said, in order, those taken back too."""
        return [json.loads(payload)["data"] for _, payload in sorted(self.rows.items())]

    @property
    def standing(self) -> list[dict[str, Any]]:
        """The records that no later one voids."""
        voided = {(row["voids"]["journal"], row["voids"]["number"]) for row in self.records if row["voids"]}
        return [row["record"] for row in self.records if (row["journal"], row["number"]) not in voided]

    def kinds(self) -> list[str]:
        """The kinds of what stands, in order, without the words that took something back."""
        return [record["kind"] for record in self.standing if record["kind"] not in ("void", "clock")]

    def points(self, match: int) -> dict[str, int]:
        """What each player won or lost in a match, from its hands alone."""
        found: dict[str, int] = {}
        for record in self.standing:
            if record["kind"] == "hand" and record["match"] == match:
                for player, points in record["points"].items():
                    found[player] = found.get(player, 0) + points
        return found


def ack(journal: str, number: int) -> bytes:
    """A hub's acknowledgement."""
    return json.dumps({"journal": journal, "number": number}).encode()


class TestClock:
    """A clock that a test turns: `ms` since the start of the epoch, `offset` to the time of day."""

    __test__ = False

    def __init__(self, offset: int = 1_800_000_000_000, clock: str = "synced") -> None:
        self.ms = 0
        self.offset = offset
        self.clock = clock

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    def mono_ms(self) -> int:
        return self.ms

    def stamp(self) -> Stamp:
        return Stamp(self.offset + self.ms, self.ms, self.clock)  # type: ignore[arg-type]


class Outlet:
    """A broker session that is there or not."""

    def __init__(self) -> None:
        self.connected = True
        self.said: list[bytes] = []

    def set_retained(self, topic: str, payload: bytes | None) -> None:
        raise AssertionError(f"{topic}: the ledger retains nothing")

    def publish(self, topic: str, payload: bytes, qos: int = 1, keep: bool = True) -> None:
        assert topic == f"kaijin/1/{TABLE}/ledger" and qos == 1 and not keep
        assert self.connected
        self.said.append(payload)


@dataclass
class Kept:
    """A ledger at work on a real journal, in one epoch."""

    journal: Journal
    ledger: Ledger
    outlet: Outlet
    clock: TestClock
    metrics: Metrics

    @property
    def id(self) -> str:
        return f"{self.journal.journal_id:016x}"

    async def store(self, steps: Sequence[Step]) -> None:
        """Store what has happened, as the core does."""
        stamp = self.clock.stamp()
        entry = self.ledger.entry(steps, stamp, 0, None)
        events = [NewEvent(step.before.hand, type(step.event).__name__, {}) for step in steps]
        await self.journal.append(events, stamp, self.journal.epoch, ledger=entry)
        self.ledger.committed(entry)

    async def said(self, count: int) -> list[bytes]:
        """The messages said, once there are so many."""
        await until(lambda: len(self.outlet.said) >= count)
        return self.outlet.said

    async def quiet(self) -> None:
        """Wait until the ledger has looked at all that it was told."""
        self.ledger.hear(b"?")
        refused = self.ledger.acks_refused
        await until(lambda: self.ledger.acks_refused > refused)
        await self.journal.ledger(lambda connection: None)

    def outcomes(self, outcome: str) -> float:
        return self.metrics.ledger_acks.labels(outcome)._value.get()


@contextlib.asynccontextmanager
async def kept(
    path: Path, epoch: int = 1, clock: TestClock | None = None, days: int = 400, retained: int | None = None
) -> AsyncIterator[Kept]:
    """A start of the ledger on the journal at `path`, where the broker knows a start; it ends without a word."""
    beside = read_epoch_file(path)
    journal, _ = open_journal(path, lambda events: sum(1 for _ in events))
    notice_older_state(journal, beside, retained)
    journal.begin_epoch(epoch)
    outlet, metrics, times = Outlet(), Metrics(), clock or TestClock()
    publisher = Publisher(TABLE, epoch, times, outlet)  # type: ignore[arg-type]
    ledger = Ledger(journal, publisher, outlet, times, metrics, days)  # type: ignore[arg-type]
    await ledger.begin()
    running = asyncio.create_task(ledger.run())
    try:
        yield Kept(journal, ledger, outlet, times, metrics)
        assert not running.done(), running.exception()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await journal.close()


async def until(true: Callable[[], bool], seconds: float = 5) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.005)
