"""The core loop: one input at a time is decided, journaled, applied, said, and what is wanted is made to happen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import structlog

from controller import views
from controller.answers import Answers
from controller.clock import SystemClock
from controller.gear import Gear
from controller.hardware import Hardware
from controller.journal import Journal, NewEvent
from controller.live import Live, TableFacts
from controller.metrics import Metrics
from controller.publisher import EncodedViews, Publisher, Step
from engine import inputs as i
from engine.events import Event, HandEnded, encode_event
from engine.state import State
from engine.table import Refused, apply, decide, wants
from engine.wants import Want

COALESCE_S: Final = 0.25
REFRESH_S: Final = 3.0
COMMIT_WAIT_S: Final = 0.01
MOST_PENDING: Final = 32
"""Inputs of one seat that wait at most; a page that floods the table is not heard further."""


@dataclass(frozen=True, slots=True)
class _Work:
    """An input of the engine, and the seat's input that it answers where there is one."""

    happened: i.Input
    cause: str | None = None
    seat: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class _Beat:
    """Comes back when the core reaches it."""

    reached: asyncio.Future[None]


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
        speed: float,
        facts: Callable[[], TableFacts],
        decorate: Callable[[Live], Live],
    ) -> None:
        self.state = state
        self.answers = Answers()
        self.on_change: Callable[[State], None] = lambda state: None
        self._journal = journal
        self._publisher = publisher
        self._hardware = hardware
        self._clock = clock
        self._metrics = metrics
        self._speed = speed
        self._facts = facts
        self._decorate = decorate
        self._queue: asyncio.Queue[_Work | _Beat] = asyncio.Queue()
        self._pending: dict[str, int] = {}
        self._timers: dict[str, _Timer] = {}
        self._flush: asyncio.TimerHandle | None = None
        self._flush_seats = False
        self._committing = False
        self._state_said = 0.0
        self._log = structlog.get_logger("core")

    # --- what others call ---------------------------------------------------------------------------------------------

    def feed(self, happened: i.Input, cause: str | None = None) -> None:
        """Something has happened; it is taken in its turn."""
        self._queue.put_nowait(_Work(happened, cause))

    def seat_says(self, seat: str, id: str, happened: i.Input) -> bool:
        """A seat's input, answered in its view under `id`. False when too many of this seat wait already."""
        if self._pending.get(seat, 0) >= MOST_PENDING:
            self._metrics.inputs.labels("flood").inc()
            return False
        self._pending[seat] = self._pending.get(seat, 0) + 1
        self._queue.put_nowait(_Work(happened, id, seat, id))
        return True

    def refuse(self, seat: str, id: str, code: str, rule: str = "", params: Mapping[str, Any] | None = None) -> None:
        """Answer an input that never reaches the engine."""
        if not self.answers.repeated(seat, id):
            self.answers.refuse(seat, id, code, rule, params)
        self._metrics.inputs.labels(code).inc()
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
        self._settle()
        self.say_everything()
        refresh = asyncio.create_task(self._refresh(), name="refresh")
        try:
            while True:
                work = await self._queue.get()
                self._metrics.queue.set(self._queue.qsize())
                if isinstance(work, _Beat):
                    if not work.reached.done():
                        work.reached.set_result(None)
                    continue
                if work.seat:
                    self._pending[work.seat] -= 1
                await self._take(work)
        finally:
            refresh.cancel()
            for timer in self._timers.values():
                timer.handle.cancel()
            if self._flush is not None:
                self._flush.cancel()

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
                self.refuse(work.seat, work.id, "internal")
            return
        if work.seat:
            self.answers.accept(work.seat, work.id)
            self._metrics.inputs.labels("accepted").inc()
        if not steps:
            if work.seat:
                self.touch(at_once=True)
            return
        await self._commit(steps, work.cause, work.seat)

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
        facts = self._publisher.facts(steps, self._journal.next_seq, stamp, cause)
        stored = []
        for step in steps:
            body = encode_event(step.event)
            stored.append(NewEvent(step.before.hand, body.pop("type"), body))
        commit = self._journal.append(stored, stamp, self._publisher.epoch, facts)
        self._committing = True
        try:
            # The selector lets the journal's thread go ahead; it is on its way to the disk during the encoding.
            await asyncio.sleep(0)
            encoded = self._encode(after)
            await commit
        finally:
            self._committing = False
        self.state = after
        if facts:
            self._publisher.seq = facts[-1].seq
        self._metrics.commit.observe(self._journal.append_seconds)
        self._metrics.events.inc(len(stored))
        if encoded is not None:
            self._publisher.say_seats(encoded, cause, first=seat)
        self._settle()
        if encoded is not None:
            self._say_state_in_time(encoded)
        self._publisher.say_facts(facts)
        for fact in facts:
            self._metrics.facts.labels(fact.stream).inc()
        for step in steps:
            self._metrics.hands.inc(isinstance(step.event, HandEnded))
            self._log.debug("event", type=type(step.event).__name__, hand=step.before.hand, phase=step.after.phase)

    def _refused(self, work: _Work, refused: Refused) -> None:
        if work.seat:
            self.refuse(work.seat, work.id, refused.code, refused.rule, refused.params)
        else:
            self._log.info("refused", input=type(work.happened).__name__, code=refused.code)

    # --- making the world match ---------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """What the state wants is made to happen; what it wants no more ends."""
        state = self.state
        rules = state.setup.rules if state.setup is not None else None
        self._hardware.set_gear(None if rules is None else Gear(rules.tiles, (rules.stacks,) * 4))
        self._hardware.reconcile(wants(state), state.stop, state.faults)
        self._hardware.show(views.lamps(state))
        self._manage_timers()
        self.on_change(state)

    def _manage_timers(self) -> None:
        wanted: dict[str, Want] = {str(want.id): want for want in wants(self.state) if want.kind == "timer"}
        for name in self._timers.keys() - wanted.keys():
            self._timers.pop(name).handle.cancel()
        loop = asyncio.get_running_loop()
        for name, want in wanted.items():
            if name not in self._timers:
                seconds = want.after_ms / 1000 / self._speed
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
            timers={str(want.id): self._left_ms(want) for want in wants(state) if want.kind == "timer"},
            answers=self.answers.shown(),
        )
        return self._decorate(live)

    def _left_ms(self, want: Want) -> int:
        running = self._timers.get(str(want.id))
        if running is None:
            return int(want.after_ms / self._speed)
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
        """The snapshot goes out at once, but at most every 250 ms; what comes in between is said together."""
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


def with_devices(live: Live, devices: Mapping[str, str | None], pairing: Any, notices: Any) -> Live:
    """The same moment with what is known of displays."""
    return replace(live, devices=devices, pairing=pairing, notices=notices)
