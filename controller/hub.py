"""The ledger on its way to the parlor's hub: said in order, so many at once, until the hub says that it has them.

A receipt of the broker frees nothing. What the hub has not acknowledged is said again, in the envelope it was born
with, after each connection, when the hub asks, and after a while in which nothing has come.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import structlog
from pydantic import ValidationError

from controller import ledger as books
from controller.bookkeeping import Bookkeeper, Seal
from controller.clock import AgeJudge, Stamp, SystemClock
from controller.journal import JournalUnwritable
from controller.ledger import BOOK, HUB, SAID, LedgerEntry, LedgerState, Ref, Standing, StoredRow
from controller.mending import NOTED, read_zeros
from controller.metrics import Metrics
from controller.publisher import Publisher, Step
from protocol.mqtt.envelope import encode
from protocol.mqtt.models import LedgerAck

AT_ONCE: Final = 32
"""Rows that are on their way to the hub; the next is said when the hub has acknowledged the first of them."""

AGAIN_S: Final = 30.0
LONGEST_AGAIN_S: Final = 600.0
"""Without a word of the hub, rows are said again so late at first and at last; each time the pause doubles."""

ASKED_AGAIN_S: Final = 1.0
"""A hub that repeats its acknowledgement is answered so often at most."""

MOST_ACK_BYTES: Final = 1_024
LOOK_AT_CLOCK_S: Final = 10.0
"""How often it is looked whether the clock has been set at last, and whether old rows may leave."""

PRUNE_EVERY_S: Final = 6 * 3600.0
DAY_MS: Final = 86_400_000

_MOST_ACKS = 32
_Found = TypeVar("_Found")


class LedgerError(Exception):
    """What has happened cannot be told to the parlor, so it must not be booked."""


class Journal(Protocol):
    """The part of the journal that is used here."""

    @property
    def journal_id(self) -> int: ...

    def meta(self, key: str, default: str = "") -> str: ...

    async def note(self, values: Mapping[str, str | None]) -> None: ...

    async def ledger(self, work: Callable[[sqlite3.Connection], _Found]) -> _Found: ...

    def append(
        self, events: Sequence[Any], stamp: Stamp, epoch: int, *, ledger: LedgerEntry | None = None
    ) -> asyncio.Future[None]: ...


class Outlet(Protocol):
    """The part of the broker session that is used here."""

    @property
    def connected(self) -> bool: ...

    def publish(self, topic: str, payload: bytes, qos: int = 1, keep: bool = True) -> None: ...


class Ledger:
    """Keeps the ledger of one table in one epoch: `begin` first, then `run` beside everything else."""

    def __init__(
        self, journal: Journal, publisher: Publisher, outlet: Outlet, clock: SystemClock, metrics: Metrics, days: int
    ) -> None:
        self.acks_refused = 0
        self.turn = asyncio.Lock()
        """Held from an entry that is made until it is stored: two at once would bear the same numbers."""
        self._journal = journal
        self._publisher = publisher
        self._outlet = outlet
        self._clock = clock
        self._metrics = metrics
        self._days = days
        self._id = f"{journal.journal_id:016x}"
        self._keeper: Bookkeeper | None = None
        self._standing = Standing(0, None)
        self._acked = 0
        self._said_up_to = 0
        self._said: set[int] = set()
        self._acks: deque[bytes] = deque(maxlen=_MOST_ACKS)
        self._told: set[str] = set()
        self._wake = asyncio.Event()
        self._again_s = AGAIN_S
        self._again_at = clock.monotonic() + AGAIN_S
        self._hub = False
        self._asked_at = -ASKED_AGAIN_S
        self._mended: set[int] = set()
        self._pruned_at = -PRUNE_EVERY_S
        self._ages = AgeJudge()
        self._log = structlog.get_logger("ledger")

    async def begin(self) -> None:
        """Read how the ledger stands. Before the core runs."""
        state = await self._noted()
        elapsed = await self._journal.ledger(partial(books.time_on, mark=state.mark)) if state.mark.epoch else 0
        self._keeper = Bookkeeper(self._id, self._publisher.epoch, state, elapsed)
        self._standing = await self._journal.ledger(books.standing)
        self._hub = bool(self._journal.meta(HUB))
        self._acked = await self._journal.ledger(partial(books.acknowledged, journal=self._id))
        journal, _, number = self._journal.meta(SAID).partition(" ")
        self._said_up_to = 0
        if journal == self._id:
            # Where the number is spoilt rows are said again before acknowledgements of them count.
            known = number.isascii() and number.isdecimal() and len(number) < 19
            self._said_up_to = int(number) if known else self._acked
            if not known:
                self._log.critical("the note of what was said of the ledger is spoilt", note=SAID)

    async def _noted(self) -> LedgerState:
        """How the ledger stands: as it was noted, or as its rows tell it where that note is spoilt or lost."""
        text = self._journal.meta(BOOK)
        last = await self._journal.ledger(partial(books.last_number, journal=self._id))
        problem = ""
        try:
            state = LedgerState.decode(text)
            if (state.last if state.journal == self._id else 0) >= last:
                return state
            problem = f"it ends with row {state.last}, but there is a row {last}"
        except ValueError as error:
            problem = str(error)
        self._log.critical("the note of how the ledger stands is spoilt; its rows are read", note=BOOK, problem=problem)
        return await self._journal.ledger(partial(books.rebuilt, journal=self._id))

    # --- what is entered ----------------------------------------------------------------------------------------------

    @property
    def in_use(self) -> str:
        """Who has taken the table into use: `parlor`, `match`, or nobody (empty)."""
        return "" if self._keeper is None else self._keeper.in_use

    @property
    def keeper(self) -> Bookkeeper:
        """Who numbers the rows; `begin` has been called."""
        assert self._keeper is not None, "the ledger is not begun"
        return self._keeper

    def entry(self, steps: Sequence[Step], stamp: Stamp, seq: int, cause: str | None) -> LedgerEntry | None:
        """What a transaction that stores these steps brings to the ledger; it must store that too, holding `turn`.

        Rows that cannot be written whole are written with what was won and lost alone. LedgerError where not even that
        can be: then nothing may be stored, for what is booked must not be missing from the ledger.
        """

        def seal(data: Mapping[str, Any]) -> bytes:
            return encode(self._publisher.envelope("ledger", data, seq=seq, cause=cause, stamp=stamp))

        try:
            return self.keeper.booked(steps, stamp, seal)
        except Exception:
            self._metrics.failures.inc()
            self._log.critical("a row of the ledger cannot be written whole; it says the least", exc_info=True)
        try:
            return self.keeper.booked(steps, stamp, seal, barely=True)
        except Exception as error:
            self._metrics.failures.inc()
            self._log.critical("a row of the ledger cannot be written; nothing is booked", problem=repr(error))
            raise LedgerError(f"no row can be written: {error!r}") from error

    def committed(self, entry: LedgerEntry | None) -> None:
        """An entry is on the disk: it counts, and what it brought is said."""
        if entry is None:
            return
        self.keeper.stored(entry)
        if entry.rows:
            self._wake.set()

    async def open(self, cause: str) -> bool:
        """The parlor opens the table; False where it was open. JournalUnwritable where the disk does not take it."""
        return await self._enter(self.keeper.open, cause)

    async def close(self, cause: str) -> bool:
        """The parlor closes the table; False where it was not open. JournalUnwritable as `open`."""
        return await self._enter(self.keeper.close, cause)

    async def _enter(self, write: Callable[[Stamp, Seal], LedgerEntry | None], cause: str | None) -> bool:
        async with self.turn:
            stamp = self._clock.stamp()
            entry = write(
                stamp, lambda data: encode(self._publisher.envelope("ledger", data, cause=cause, stamp=stamp))
            )
            if entry is None:
                return False
            await self._journal.append([], stamp, self._publisher.epoch, ledger=entry)
            self.committed(entry)
            return True

    # --- what is said -------------------------------------------------------------------------------------------------

    def connected(self) -> None:
        """The broker has us (again): what nobody has acknowledged is said from the first row on."""
        self._say_again()

    def hear(self, payload: bytes) -> None:
        """An acknowledgement of the hub; looked at in its turn."""
        if len(self._acks) == _MOST_ACKS:
            # A hub says its newest number again: what is pushed out here is told later, or is noise.
            self._metrics.ledger_acks.labels("pushed_out").inc()
        self._acks.append(payload)
        self._wake.set()

    async def run(self) -> None:
        """Say what waits, for ever. Raises when the journal cannot be written."""
        while True:
            self._wake.clear()
            while self._acks:
                await self._take(self._acks.popleft())
            await self._mend()
            await self._prune()
            await self._say()
            left = self._again_at - self._clock.monotonic()
            try:
                async with asyncio.timeout(min(left, LOOK_AT_CLOCK_S)):
                    await self._wake.wait()
            except TimeoutError:
                if self._clock.monotonic() >= self._again_at:
                    self._pause(self._again_s * 2)
                    self._said.clear()

    @property
    def waiting(self) -> int:
        """How many rows the hub has not acknowledged."""
        return self._standing.waiting

    def heartbeat(self) -> dict[str, Any]:
        """How much waits, for how long, and what made no sense."""
        oldest = self._standing.oldest
        return {
            "ledger_last": self.keeper.state.last if self._keeper is not None else 0,
            "ledger_waiting": self._standing.waiting,
            "oldest_unacknowledged_s": None if oldest is None else self._age_s(oldest),
            "acks_refused": self.acks_refused,
        }

    def _age_s(self, row: StoredRow) -> int:
        """For how long a row has waited, at least."""
        now = self._clock.stamp()
        if row.epoch == self._publisher.epoch:
            return max(0, now.mono_ms - row.mono_ms) // 1000
        known = now.clock == "synced" and row.clock != "unsynced"
        return max(now.mono_ms, now.ts - row.ts if known else 0) // 1000

    async def _say(self) -> None:
        self._standing = await self._journal.ledger(books.standing)
        if not self._outlet.connected:
            return
        rows = await self._journal.ledger(partial(books.waiting_rows, most=AT_ONCE))
        self._said &= {row.id for row in rows}
        new = [row for row in rows if row.id not in self._said]
        highest = max((row.number for row in new if row.journal == self._id), default=0)
        if highest > self._said_up_to:
            # Noted before it is said: no acknowledgement of it can be taken for one of something never said.
            await self._journal.note({SAID: f"{self._id} {highest}"})
            self._said_up_to = highest
        for row in new:
            if not self._outlet.connected:
                return
            self._outlet.publish(self._publisher.topics.ledger, row.envelope.encode(), keep=False)
            self._said.add(row.id)

    def _say_again(self) -> None:
        self._said.clear()
        self._pause(AGAIN_S)
        self._wake.set()

    def _pause(self, seconds: float) -> None:
        """Without a word of the hub, rows are said again so much later."""
        self._again_s = min(seconds, LONGEST_AGAIN_S)
        self._again_at = self._clock.monotonic() + self._again_s

    # --- what the hub says --------------------------------------------------------------------------------------------

    async def _take(self, payload: bytes) -> None:
        """Free what the hub has; a word that makes no sense is counted, told once, and changes nothing."""
        if len(payload) > MOST_ACK_BYTES:
            self._refuse("too_large", bytes=len(payload))
            return
        try:
            said = LedgerAck.model_validate_json(payload, strict=True)
        except ValidationError as error:
            self._refuse("ill_typed", problem=error.errors(include_url=False, include_input=False)[0]["msg"])
            return
        if said.journal != self._id:
            await self._take_older(said)
            return
        if said.number > self._said_up_to:
            self._refuse("beyond", number=said.number, said=self._said_up_to)
            return
        if said.number < self._acked:
            self._refuse("backwards", number=said.number, acknowledged=self._acked)
            return
        if said.number == self._acked:
            self._asked()
            return
        await self._free(Ref(said.journal, said.number))
        self._acked = said.number
        self._told.clear()

    async def _take_older(self, said: LedgerAck) -> None:
        """An acknowledgement for the journal that this one is a copy of, or a later state of: it frees what is here."""
        before = self._standing.waiting
        if self._standing.oldest is not None and self._standing.oldest.journal == said.journal and said.number:
            await self._free(Ref(said.journal, said.number))
        if before and self._standing.waiting < before:
            return
        if self._standing.oldest is not None and self._standing.oldest.journal == said.journal:
            self._asked()
        else:
            self._refuse("other_journal", journal=said.journal)

    async def _free(self, up_to: Ref) -> None:
        await self._journal.ledger(partial(books.acknowledge, up_to=up_to))
        self._standing = await self._journal.ledger(books.standing)
        self._hub = True
        self._pause(AGAIN_S)
        self._metrics.ledger_acks.labels("taken").inc()

    def _asked(self) -> None:
        """The hub says again what we know: it waits for what follows."""
        self._metrics.ledger_acks.labels("repeated").inc()
        now = self._clock.monotonic()
        if now - self._asked_at >= ASKED_AGAIN_S:
            self._asked_at = now
            self._say_again()

    def _refuse(self, why: str, **about: Any) -> None:
        self.acks_refused += 1
        self._metrics.ledger_acks.labels(why).inc()
        if why not in self._told:
            self._told.add(why)
            self._log.warning("an acknowledgement of the ledger that makes no sense is ignored", why=why, **about)

    # --- time ---------------------------------------------------------------------------------------------------------

    async def _mend(self) -> None:
        """Once the clock of an epoch is known, rows said without it get their true time by a row of its own."""
        zeros = read_zeros(self._journal.meta(NOTED))
        if zeros.keys() <= self._mended:
            return
        self._mended |= zeros.keys()
        found = await self._journal.ledger(books.unsynced)
        try:
            await self._enter(partial(self.keeper.mended, found, zeros), None)
        except JournalUnwritable:
            self._mended -= zeros.keys()

    async def _prune(self) -> None:
        now = self._clock.monotonic()
        stamp = self._clock.stamp()
        old = self._ages.may_judge(stamp)
        if not old or not self._days or now - self._pruned_at < PRUNE_EVERY_S:
            return
        self._pruned_at = now
        await self._journal.ledger(partial(books.prune, older_than_ts=stamp.ts - self._days * DAY_MS, hub=self._hub))
