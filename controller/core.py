"""The core loop: one input at a time is decided, journaled, applied, said, and what is wanted is made to happen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog

from controller import views
from controller.answers import Answers
from controller.clock import SystemClock
from controller.gear import Gear
from controller.hardware import Hardware
from controller.holding import Holding
from controller.hub import Ledger, LedgerError
from controller.journal import Journal, JournalUnwritable, NewEvent, NewPublished
from controller.live import Live, TableFacts
from controller.metrics import Metrics
from controller.publisher import EncodedViews, Publisher, Step
from controller.recording.core import CoreTap
from controller.records import NewRecord
from engine import inputs as i
from engine import snapshots
from engine.events import Event, HandEnded, HandRebooked, Played, SessionSaid, encode_event
from engine.export import hand_record
from engine.match.events import BookingVoided
from engine.match_wants import waits_for_hands_off
from engine.play.events import ClaimAnswered
from engine.state import State
from engine.table import Refused, apply, decide
from engine.wants import Want

COALESCE_S: Final = 0.25
REFRESH_S: Final = 3.0
COMMIT_WAIT_S: Final = 0.01
MOST_PENDING: Final = 32
"""Inputs of one seat that wait at most; what a page says beyond is answered `busy` and not heard."""

DISK: Final = "disk"
"""The answer to what cannot be stored now (`controller.holding`)."""

REFUSED: Final = "refused"
"""What metrics call every refusal of the engine: which one it is may depend on concealed tiles."""

_SENTENCES: Final = ("expected", "why")
"""Params of refusals that are English, for the command line: codes and values travel to the seats."""


@dataclass(frozen=True, slots=True)
class _Work:
    """An input of the engine, and the seat's input that it answers where there is one."""

    happened: i.Input
    cause: str | None = None
    seat: str = ""
    id: str = ""
    ended: asyncio.Future[None] | None = None
    """Who waits for it learns here that it was taken, or why it was refused."""


@dataclass(frozen=True, slots=True)
class _Beat:
    """Comes back when the core reaches it."""

    reached: asyncio.Future[None]


@dataclass(frozen=True, slots=True)
class Speeds:
    """What timers are divided by: the table's own, and those in which people answer."""

    table: float = 1.0
    people: float = 1.0

    def seconds(self, want: Want) -> float:
        """How long a timer runs."""
        return want.after_ms / 1000 / (self.people if want.people else self.table)


@dataclass(slots=True)
class _Timer:
    handle: asyncio.TimerHandle
    due: float


class Core:
    """Owns the engine's state. Everything else tells it what happened and is told what is so."""

    def __init__(
        self,
        state: State,
        journal: Journal,
        publisher: Publisher,
        hardware: Hardware,
        clock: SystemClock,
        metrics: Metrics,
        speeds: Speeds,
        facts: Callable[[], TableFacts],
        decorate: Callable[[Live, State], Live],
        ledger: Ledger | None = None,
    ) -> None:
        self.state = state
        self.answers = Answers()
        self.on_change: Callable[[State], None] = lambda state: None
        self.on_facts: Callable[[Sequence[NewPublished]], None] = lambda facts: None
        """Hears of public facts once they are on the disk."""
        self.tap: CoreTap | None = None
        self._journal = journal
        self._ledger = ledger
        self._turn = asyncio.Lock() if ledger is None else ledger.turn
        self._publisher = publisher
        self._hardware = hardware
        self._clock = clock
        self._metrics = metrics
        self._speeds = speeds
        self._facts = facts
        self._decorate = decorate
        self._queue: asyncio.Queue[_Work | _Beat] = asyncio.Queue()
        self._pending: dict[str, int] = {}
        self._timers: dict[str, _Timer] = {}
        self._flush: asyncio.TimerHandle | None = None
        self._flush_seats = False
        self._committing = False
        self._state_said = 0.0
        self._holding: Holding[_Work] = Holding(journal, self._disk_changed, lambda work: work.happened)
        self._log = structlog.get_logger("core")

    # --- what others call ---------------------------------------------------------------------------------------------

    def feed(self, happened: i.Input, cause: str | None = None) -> None:
        """Something has happened; it is taken in its turn."""
        self._queue_up(_Work(happened, cause))

    async def ask(self, happened: i.Input, cause: str | None = None) -> None:
        """Something that is asked for beside the seats: returns once it is carried out; Refused where it is not."""
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue_up(_Work(happened, cause, ended=ended))
        await ended

    def seat_says(self, seat: str, id: str, happened: i.Input) -> bool:
        """A seat's input, answered in its view under `id`: `busy` at once (False) when too many of it wait already."""
        if self._pending.get(seat, 0) >= MOST_PENDING:
            self.refuse(seat, id, "busy")
            return False
        if self._holding.on:
            self.refuse(seat, id, DISK)
            return False
        self._pending[seat] = self._pending.get(seat, 0) + 1
        self._queue_up(_Work(happened, id, seat, id))
        return True

    def refuse(
        self, seat: str, id: str, code: str, rule: str = "", params: Mapping[str, Any] | None = None, outcome: str = ""
    ) -> None:
        """Answer an input that never reaches the engine; metrics count it under `outcome`, or its code."""
        if not self.answers.repeated(seat, id):
            self.answers.refuse(seat, id, code, rule, params)
        self._metrics.inputs.labels(outcome or code).inc()
        self.touch(at_once=True)

    def accept(self, seat: str, id: str) -> None:
        """Answer an input that was carried out beside the engine."""
        self.answers.accept(seat, id)
        self._metrics.inputs.labels("accepted").inc()
        self.touch(at_once=True)

    def repeated(self, seat: str, id: str) -> bool:
        """Whether this input has been answered before; its answer is shown again."""
        if not self.answers.repeated(seat, id):
            return False
        self._metrics.inputs.labels("duplicate").inc()
        self.touch(at_once=True)
        return True

    def touch(self, at_once: bool = False) -> None:
        """Something that people see beside the state has changed: say it at once, or within 250 ms."""
        self._flush_seats = True
        self._schedule(0.0 if at_once else COALESCE_S)

    async def beat(self) -> None:
        """Return when the core has come by: it works."""
        reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait(_Beat(reached))
        await reached

    def say_everything(self) -> None:
        """Say all views anew, changed or not."""
        if self._committing:
            # What is not on the disk yet must not be said; the views follow the commit by themselves.
            return
        encoded = self._encode(self.state)
        if encoded is not None:
            self._publisher.say_seats(encoded, only_changed=False)
            self._say_state(encoded)

    # --- the loop -----------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Take what happens, one after the other, until cancelled. Raises when the journal cannot be written."""
        self._holding.begin()
        self._settle()
        self.say_everything()
        refresh = asyncio.create_task(self._refresh(), name="refresh")
        try:
            while True:
                work = self._holding.next() or await self._queue.get()
                self._metrics.queue.set(self._queue.qsize())
                if isinstance(work, _Beat):
                    if not work.reached.done():
                        work.reached.set_result(None)
                    continue
                if work.seat:
                    self._pending[work.seat] = max(0, self._pending[work.seat] - 1)
                if self._holding.on:
                    self._not_stored(work)
                    continue
                await self._take(work)
                if work.ended is not None and not work.ended.done():
                    work.ended.set_result(None)
        finally:
            refresh.cancel()
            self._holding.close()
            for timer in self._timers.values():
                timer.handle.cancel()
            if self._flush is not None:
                self._flush.cancel()

    def _queue_up(self, work: _Work) -> None:
        if self.tap is not None:
            self.tap.fed(work.happened, work.seat, work.id, work.ended is not None)
        self._queue.put_nowait(work)

    async def _take(self, work: _Work) -> None:
        """Decide, journal beside encoding, apply, say, and go on."""
        if work.seat and self.repeated(work.seat, work.id):
            return
        try:
            happened = decide(self.state, work.happened)
            steps = self._apply(happened)
        except Refused as refused:
            self._refused(work, refused)
            return
        except Exception:
            # A mistake in the engine costs this one input, never the hand.
            self._metrics.failures.inc()
            self._log.exception("the engine failed on an input", input=type(work.happened).__name__)
            if work.seat:
                self.refuse(work.seat, work.id, "internal", outcome=REFUSED)
            elif work.ended is not None:
                work.ended.set_exception(Refused("internal"))
            return
        if work.seat:
            self.answers.accept(work.seat, work.id)
            self._metrics.inputs.labels("accepted").inc()
        if not steps:
            if work.seat:
                self.touch(at_once=True)
            return
        try:
            async with self._turn:
                await self._commit(steps, work.cause, work.seat)
        except JournalUnwritable:
            self._not_stored(work, tried=True)
        except LedgerError:
            self._not_booked(work)

    def _not_booked(self, work: _Work) -> None:
        """An input whose booking no row of the ledger can tell: nothing of it has happened."""
        if work.seat:
            self.answers.refuse(work.seat, work.id, "internal")
            self._metrics.inputs.labels(REFUSED).inc()
            self.touch(at_once=True)
        elif work.ended is not None and not work.ended.done():
            work.ended.set_exception(Refused("internal"))

    def _not_stored(self, work: _Work, tried: bool = False) -> None:
        """An input that the disk does not take: who pressed hears of it at once; what the machine says waits."""
        if work.seat:
            self.answers.refuse(work.seat, work.id, DISK)
            self._metrics.inputs.labels(DISK).inc()
            self.touch(at_once=True)
        elif work.ended is not None:
            if not work.ended.done():
                work.ended.set_exception(Refused(DISK))
        else:
            self._holding.keep(work, first=tried)

    def _disk_changed(self) -> None:
        """The disk takes nothing any more, or takes it again: all is told, and the loop looks at what has waited."""
        self._queue.put_nowait(_Beat(asyncio.get_running_loop().create_future()))
        self.touch(at_once=True)
        self.on_change(self.state)

    def _apply(self, happened: tuple[Event, ...]) -> list[Step]:
        steps: list[Step] = []
        state = self.state
        for event in happened:
            before, state = state, apply(state, event)
            steps.append(Step(event, before, state))
        return steps

    async def _commit(self, steps: list[Step], cause: str | None, seat: str) -> None:
        after = steps[-1].after
        stamp = self._clock.stamp()
        told_cause = None if _answers_in_secret(steps) else cause
        facts = self._publisher.facts(steps, self._journal.next_seq, stamp, told_cause)
        stored = []
        for step in steps:
            body = encode_event(step.event)
            stored.append(NewEvent(step.before.hand, body.pop("type"), body))
        ledger, last = self._ledger, facts[-1].seq if facts else self._publisher.seq
        entry = None if ledger is None else ledger.entry(steps, stamp, last, told_cause)
        commit = self._journal.append(stored, stamp, self._publisher.epoch, facts, self._records(steps), entry)
        self._committing = True
        try:
            # The selector lets the journal's thread go ahead; it is on its way to the disk during the encoding.
            await asyncio.sleep(0)
            encoded = self._encode(after)
            await commit
        finally:
            self._committing = False
        self.state = after
        if self.tap is not None:
            self.tap.decided([step.event for step in steps])
        if facts:
            self._publisher.seq = facts[-1].seq
        self._metrics.commit.observe(self._journal.append_seconds)
        if encoded is not None:
            self._publisher.say_seats(encoded, cause, first=seat, others=told_cause)
        self._settle()
        if encoded is not None:
            self._say_state_in_time(encoded)
        self._publisher.say_facts(facts)
        self.on_facts(facts)
        if ledger is not None:
            ledger.committed(entry)
        if self._journal.snapshot_is_due or any(isinstance(step.event, HandEnded | HandRebooked) for step in steps):
            self._journal.keep_snapshot(lambda: snapshots.encode(after), after.session.match, stamp)
        for fact in facts:
            self._metrics.facts.labels(fact.stream).inc()
        for step in steps:
            self._metrics.hands.inc(isinstance(step.event, HandEnded))
            self._log.debug("event", type=type(step.event).__name__, hand=step.before.hand, phase=step.after.phase)

    def _records(self, steps: list[Step]) -> list[NewRecord]:
        """What booking and taking back change of the records; each is written as the hand is before it is put away."""
        found: list[NewRecord] = []
        for step in steps:
            match step.event:
                case SessionSaid(event=BookingVoided(hand=hand)):
                    found.append(NewRecord(step.before.session.match, hand, None))
                case HandEnded() | HandRebooked():
                    found += self._record(step.before)
        return found

    def _record(self, state: State) -> list[NewRecord]:
        booking = state.session.last_booking()
        if booking is None:
            return []
        try:
            text = hand_record(state)
        except Exception:
            # The points are booked whatever becomes of the text about them.
            self._metrics.failures.inc()
            self._log.exception("the record of a hand cannot be written", match=booking.match, hand=booking.hand)
            text = ""
        return [NewRecord(booking.match, booking.hand, text)]

    def _refused(self, work: _Work, refused: Refused) -> None:
        if self.tap is not None:
            self.tap.refused(work.happened, refused.code)
        if work.seat:
            self.refuse(work.seat, work.id, refused.code, refused.rule, _without_words(refused.params), REFUSED)
        elif work.ended is not None:
            work.ended.set_exception(refused)
        else:
            self._log.info("refused", input=type(work.happened).__name__, code=refused.code)

    # --- making the world match ---------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """What the state wants is made to happen; what it wants no more ends."""
        state = self.state
        rules = state.setup.rules if state.setup is not None else None
        self._hardware.set_gear(None if rules is None else Gear(rules.tiles, (rules.stacks,) * 4))
        held = bool(state.service) or waits_for_hands_off(state)
        self._hardware.reconcile(views.wanted(state), state.stop, state.faults, held)
        self._hardware.lamps.show(views.lamps(state))
        self._manage_timers()
        self.on_change(state)

    def _manage_timers(self) -> None:
        wanted: dict[str, Want] = {str(want.id): want for want in views.wanted(self.state) if want.kind == "timer"}
        for name in self._timers.keys() - wanted.keys():
            self._timers.pop(name).handle.cancel()
        loop = asyncio.get_running_loop()
        for name, want in wanted.items():
            if name not in self._timers:
                seconds = self._speeds.seconds(want)
                handle = loop.call_later(seconds, self.feed, i.TimerElapsed(name))
                self._timers[name] = _Timer(handle, loop.time() + seconds)

    # --- views --------------------------------------------------------------------------------------------------------

    def live(self, state: State) -> Live:
        """What people see beside a state, now."""
        sorting = self._hardware.sorting
        shown = None
        if sorting is not None:
            shown = {"set": sorting.set, "tiles": sorting.tiles, "seconds": sorting.seconds}
        live = Live(
            table=self._facts(),
            link=self._hardware.link_state,
            sorting=shown,
            timers={str(want.id): self._left_ms(want) for want in views.wanted(state) if want.kind == "timer"},
            answers=self.answers.shown(),
        )
        return self._decorate(live, state)

    def _left_ms(self, want: Want) -> int:
        running = self._timers.get(str(want.id))
        if running is None:
            return int(self._speeds.seconds(want) * 1000)
        return max(0, int((running.due - asyncio.get_running_loop().time()) * 1000))

    def _encode(self, state: State) -> EncodedViews | None:
        try:
            return self._publisher.encode_views(state, self.live(state))
        except Exception:
            self._metrics.failures.inc()
            self._log.exception("a view cannot be made", phase=state.phase)
            return None

    def _schedule(self, delay: float) -> None:
        loop = asyncio.get_running_loop()
        if self._flush is not None:
            if self._flush.when() <= loop.time() + delay:
                return
            self._flush.cancel()
        self._flush = loop.call_later(delay, self._say_changes)

    def _say_state_in_time(self, encoded: EncodedViews) -> None:
        """The snapshot goes out at once, but at most every 250 ms; what comes in between is said together.

        What changes nothing that everybody sees is not said: when it happened may tell what a seat holds.
        """
        if self._publisher.state_is_said(encoded):
            return
        ago = asyncio.get_running_loop().time() - self._state_said
        if ago >= COALESCE_S:
            self._say_state(encoded)
        else:
            self._schedule(COALESCE_S - ago)

    def _say_state(self, encoded: EncodedViews) -> None:
        self._state_said = asyncio.get_running_loop().time()
        self._publisher.say_state(encoded)

    def _say_changes(self) -> None:
        self._flush = None
        if self._committing:
            self._schedule(COMMIT_WAIT_S)
            return
        encoded = self._encode(self.state)
        if encoded is None:
            return
        if self._flush_seats:
            self._flush_seats = False
            self._publisher.say_seats(encoded)
        self._say_state_in_time(encoded)

    async def _refresh(self) -> None:
        """Readers know by this that the table lives."""
        while True:
            await asyncio.sleep(REFRESH_S)
            self.say_everything()


def _without_words(params: Mapping[str, Any]) -> dict[str, Any]:
    """The params of a refusal as they travel to a seat."""
    return {key: value for key, value in params.items() if key not in _SENTENCES or not isinstance(value, str)}


def _answers_in_secret(steps: Sequence[Step]) -> bool:
    """Whether somebody has answered in a window: nobody else is told whose press closed it (R13)."""
    return any(isinstance(step.event, Played) and isinstance(step.event.event, ClaimAnswered) for step in steps)
