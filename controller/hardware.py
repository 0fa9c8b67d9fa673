"""The hardware driver: keeps the boards busy with what the engine wants, and turns what they say into inputs.

An operation is sent once a session; after a reconnect it is sent again under the same id, which the board answers from
memory. A board that started anew has forgotten (unless its memory outlives a reset): its mechanisms are looked at
first, and a throw is never sent twice; the dice that lie there are read, and where nobody can read them people are
asked. While an emergency stop is latched everything wanted is held: nothing new is sent, nothing is forgotten.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import structlog

from controller.clearance import Clearance
from controller.faults import FIRMWARE_MISMATCH, FaultLedger, HeldFault
from controller.gear import Gear, GearKeeper
from controller.lamps import LampKeeper
from controller.lines import Line, LineLost
from controller.mechanisms import LearnedTimes
from controller.operations import (
    LIMITS,
    RUN_AGAIN,
    UnknownOperation,
    WantedOperation,
    nobody_can_tell,
    op_id,
    proved_by_status,
    request_for,
    result_of,
)
from controller.sent import ONCE, BoardStart
from controller.sights import Sights
from controller.stops import StopKeeper
from controller.throws import OnceKeeper
from engine import inputs
from protocol.serial import messages as serial

RESEND_REFUSED_S: Final = 1.0
"""A refused operation is asked again after this time …"""

REFUSALS_BORNE: Final = 3
"""… so many times; then it has failed."""

REFUSED_FOR_GOOD: Final = frozenset({"unsupported", "bad_argument", "service_mode"})

LOOK_AGAIN_S: Final = 0.3
"""How often moving mechanisms and dice are looked at."""

QUERY_TIMEOUT_S: Final = 2.0
SENT_KEPT: Final = 512

CLEAR_STOP: Final = "clear_stop"
"""The one operation that is carried out under a latched stop: it moves nothing."""

class Notes(Protocol):
    """What outlives the daemon: the part of the journal that the driver uses."""

    @property
    def journal_id(self) -> int: ...

    def meta(self, key: str, default: str = "") -> str: ...

    async def note(self, values: Mapping[str, str | None], *, on_disk: bool = False) -> None: ...


@dataclass(slots=True)
class Sorting:
    """How far a sort is; for people to see, never kept."""

    set: int
    tiles: dict[str, int]
    seconds: int


@dataclass(slots=True)
class _Outstanding:
    want: WantedOperation
    op: serial.OpId
    perhaps_sent: bool
    """It may have reached a board already: under an earlier run of the daemon, or in an earlier session."""
    sent_to: BoardStart | None = None
    """The start of the board it was last sent to, where this run of the daemon sent it."""
    ended: bool = False
    asked_first: bool = False
    """This session is the first that it is asked in."""
    begun: float = 0.0
    """When the board began it, on the loop's clock, where that was heard; 0 before."""
    task: asyncio.Task[None] | None = None
    answers: asyncio.Queue[serial.OpAccepted | serial.OpRefused] = field(default_factory=asyncio.Queue)


class Hardware:
    """All boards of one table. `feed` takes the engine's inputs; `changed` is told when something shown has changed."""

    def __init__(
        self,
        lines: Sequence[Line],
        notes: Notes,
        feed: Callable[[inputs.Input], None],
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._lines = tuple(lines)
        self._notes = notes
        self._feed = feed
        self._changed = changed
        self._log = structlog.get_logger("hardware")
        self._outstanding: dict[str, _Outstanding] = {}
        self._sent: dict[str, BoardStart] = {}
        self._first_look = True
        self._faults = FaultLedger(self._lines, feed)
        self._gear = GearKeeper(self.table_line, self._faults)
        self._stops = StopKeeper(self._lines, feed, lambda: self._spawn(self._wake()))
        self._clearance = Clearance(self._faults, self._stops)
        self._once = OnceKeeper(notes, self._clearance)
        self.times = LearnedTimes(notes, self._faults.slow, self._faults.calm)
        self._faults.known_slow(self.times.slow())
        self._sights = Sights(feed)
        self.lamps = LampKeeper(self._lines)
        self._ready = asyncio.Condition()
        self._background: set[asyncio.Task[None]] = set()
        self.on_key: Callable[[str, str, int], bool] = lambda key, seat, pressed_ms: False
        """Sees each key first, with how long it was held in ms; True keeps it from the engine."""
        self.on_result: Callable[[serial.OpAccepted | serial.OpRefused | serial.OpResult], None] = lambda said: None
        """Hears of operations that are none of the engine's."""
        self.sorting: Sorting | None = None
        for line in self._lines:
            line.on_ready = self._line_ready
            line.on_lost = self._line_lost
            line.on_message = self._line_says
            line.on_refused = self._line_refused

    @property
    def link_state(self) -> str:
        """`up` when every board answers, `wait` before the first handshake, else `lost`."""
        if all(line.ready for line in self._lines):
            return "up"
        return "wait" if not any(line.sessions for line in self._lines) else "lost"

    @property
    def table_line(self) -> Line:
        """The line of the table's own board: the first one configured."""
        return self._lines[0]

    @property
    def last_identity(self) -> serial.Identity | None:
        """What the table's own board last said of itself."""
        return self.table_line.last_identity

    @property
    def dice_line(self) -> Line:
        """The line of the board that throws: the last that says it has dice, or has not said yet; else the last."""
        for line in reversed(self._lines):
            if line.last_identity is None or line.last_identity.capabilities.dice != "hand":
                return line
        return self._lines[-1]

    def reconcile(
        self, wants: Iterable[WantedOperation], stop: str = "", faults: Iterable[HeldFault] = (), service: bool = False
    ) -> None:
        """Make what the boards do match these wants. `stop` and `faults` are what the engine holds.

        While a stop is latched, or a repairer has the table (`service`), nothing new is sent and nothing is dropped:
        what is under way may still be answered.
        """
        operations = [want for want in wants if want.kind == "operation"]
        wanted = {str(want.id): want for want in operations if want.verb != CLEAR_STOP}
        self._stops.repairer_has_it(service)
        self._sights.hold(service)
        if not stop and not service:
            for name in self._outstanding.keys() - wanted.keys():
                self._drop(name)
        for name, want in wanted.items():
            if name not in self._outstanding:
                self._take_on(name, want)
        self._first_look = self._first_look and bool(stop or service)
        self._stops.engine_holds(stop, clear=any(want.verb == CLEAR_STOP for want in operations))
        if not any(item.want.verb == "sort" for item in self._outstanding.values()):
            self.sorting = None
        self._faults.held(faults)

    def set_gear(self, gear: Gear | None) -> None:
        """The gear of the match in play; boards in another one are set before the next operation."""
        self._gear.want(gear)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines of all boards, the table's own first."""
        return self._lines

    async def where_sets_are(self) -> tuple[str, ...] | None:
        """By set: `felt`, `sorted` or `inside`, as the table's board says; None when it does not answer."""
        line = self.table_line
        identity = line.identity
        if identity is None:
            return None
        try:
            status = await line.request(serial.StatusQuery, serial.Status, QUERY_TIMEOUT_S)
        except LineLost:
            return None
        return tuple(_where(status, number) for number in range(1, identity.capabilities.sets + 1))

    async def close(self) -> None:
        """Give up waiting for boards; what they do goes on."""
        self._stops.close()
        tasks = [item.task for item in self._outstanding.values() if item.task is not None] + list(self._background)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._outstanding.clear()

    # --- operations ---------------------------------------------------------------------------------------------------

    def _take_on(self, name: str, want: WantedOperation) -> None:
        sent_to = self._sent.get(name)
        item = _Outstanding(want, op_id(self._notes.journal_id, want), self._first_look or sent_to is not None, sent_to)
        self._outstanding[name] = item
        item.task = asyncio.create_task(self._carry_out(name, item), name=f"operation {name}")

    def _drop(self, name: str) -> None:
        item = self._outstanding.pop(name)
        if item.task is not None:
            item.task.cancel()
        if self._once.noted(item.want.verb, name):
            # The want has gone, and no stop hides anything: its outcome lies in the journal.
            self._spawn(self._once.forget(item.want.verb, name))

    async def _carry_out(self, name: str, item: _Outstanding) -> None:
        """See one operation through to its input, over any number of sessions."""
        try:
            while True:
                line = await self._line_for(item.want.verb)
                try:
                    outcome = await self._ask(name, item, line)
                except LineLost:
                    continue
                item.ended = True
                self._feed(outcome)
                return
        except UnknownOperation as error:
            self._log.error("an operation that this driver cannot carry out", want=name, problem=str(error))
            self._feed(inputs.OperationFailed(name, "unsupported"))
        except Exception:
            # A mistake here must not leave the table waiting for ever: people are asked, or it is tried again.
            self._log.critical("an operation has met a mistake", want=name, verb=item.want.verb, exc_info=True)
            if not item.ended:
                item.ended = True
                self._feed(self._overdue(name, item, "unsupported"))

    async def _line_for(self, verb: str) -> Line:
        """The ready line whose board carries the verb out; not before every stop is cleared."""
        async with self._ready:
            while True:
                line = self.dice_line if verb == "dice_roll" else self.table_line
                if line.ready and not self._stops.holds:
                    return line
                await self._ready.wait()

    async def _ask(self, name: str, item: _Outstanding, line: Line) -> inputs.Input:
        """One session's worth of asking; LineLost when the session ends first."""
        if item.want.verb == "sort" and item.want.id.attempt > 1:
            self._gear.doubt()  # whatever went wrong, a gear that somebody has turned may be behind it
        identity = await self._gear.ensure(line)
        known = item.sent_to is not None and item.sent_to.remembered_by(identity)
        settled = None
        if item.want.verb in ONCE:
            known = self._once.noted(item.want.verb, name)
            settled = await self._once.before(name, item.want, line, identity, item.perhaps_sent)
        elif item.perhaps_sent and not known:
            settled = await self._as_they_stand(name, item, line)
        settled = settled or await self._clearance.wait(name, item.want, line, known)
        if settled is not None:
            return settled
        if line.identity is not identity:
            raise LineLost("the session ended")
        item.asked_first = not item.perhaps_sent
        item.perhaps_sent, item.sent_to = True, BoardStart.of(identity)
        self._remember(name, item.sent_to)
        return await self._send_and_wait(name, item, line)

    def _remember(self, name: str, start: BoardStart) -> None:
        self._sent[name] = start
        if len(self._sent) > SENT_KEPT:
            del self._sent[next(iter(self._sent))]

    async def _as_they_stand(self, name: str, item: _Outstanding, line: Line) -> inputs.Input | None:
        """Whether the mechanisms stand as the want asks, once they are at rest; None when it is safe to ask (again).

        Where the board cannot tell where they stand, people are asked.
        """
        if item.want.verb in RUN_AGAIN:
            return None
        loop = asyncio.get_running_loop()
        until = loop.time() + LIMITS[item.want.verb].seconds if item.want.verb in LIMITS else loop.time()
        while True:
            status = await line.request(serial.StatusQuery, serial.Status, QUERY_TIMEOUT_S)
            # What stands half-way after a reset stays so: then it is for the board to go on or to refuse.
            moving = "moving" in (status.centre, status.walls) and status.running_op is not None
            if not moving or loop.time() >= until:
                break
            await line.pause(LOOK_AGAIN_S)
        if not proved_by_status(item.want, status):
            return inputs.OperationUnknown(name) if nobody_can_tell(item.want, status) else None
        self._log.info("found done already", want=name, verb=item.want.verb)
        return inputs.OperationDone(name, {})

    async def _send_and_wait(self, name: str, item: _Outstanding, line: Line) -> inputs.Input:
        """Send the operation, again where that is safe, until it ends; its outcome as an input."""
        request = request_for(item.want, item.op)
        limit = LIMITS[item.want.verb]
        refusals = 0
        patience = limit.seconds
        self._forget_answers(item)
        await line.send(request)
        while True:
            answer = await self._answer(item, line, patience)
            match answer:
                case serial.OpAccepted() if patience == limit.seconds:
                    continue
                case None if patience == limit.seconds:
                    # A repeated id is answered from memory, so asking once more cannot move anything twice.
                    patience = QUERY_TIMEOUT_S
                    await line.send(request)
                case serial.OpRefused(reason="latched"):
                    await self._until_cleared(line)
                    await line.send(request)
                case serial.OpRefused(reason=reason):
                    refusals += 1
                    if reason in REFUSED_FOR_GOOD or refusals > REFUSALS_BORNE:
                        self._log.error("the board refuses", want=name, verb=item.want.verb, reason=reason)
                        return inputs.OperationFailed(name, self._clearance.refused(reason))
                    settled = await self._before_asking_again(name, item, line, reason)
                    if settled is not None:
                        return settled
                    await line.send(request)
                case _:
                    self._log.error("an operation takes far too long", want=name, verb=item.want.verb)
                    return self._overdue(name, item, limit.fault)

    async def _before_asking_again(self, name: str, item: _Outstanding, line: Line, reason: str) -> inputs.Input | None:
        """Wait for what the refusal was about, as far as it can be waited for; its outcome if it stands done."""
        await line.pause(RESEND_REFUSED_S)
        self._clearance.check_stop()
        if reason == "gear":
            self._gear.doubt()
            await self._gear.ensure(line)
        elif reason == "interlock":
            stands = None if item.want.verb in ONCE else await self._as_they_stand(name, item, line)
            return stands or await self._clearance.wait(name, item.want, line)
        return None

    def _overdue(self, name: str, item: _Outstanding, fault: str) -> inputs.Input:
        return inputs.OperationUnknown(name) if item.want.verb in ONCE else inputs.OperationFailed(name, fault)

    def _outcome(self, name: str, item: _Outstanding, answer: serial.OpResult) -> inputs.Input:
        if answer.outcome != "done":
            fault = answer.fault or answer.outcome
            self._log.warning("operation ended", want=name, verb=item.want.verb, outcome=answer.outcome, fault=fault)
            return inputs.OperationFailed(name, fault, answer.side)
        try:
            return inputs.OperationDone(name, result_of(item.want.verb, answer))
        except serial.MessageError as error:
            self._log.error("a result that cannot be read", want=name, verb=item.want.verb, problem=error.expected)
            return inputs.OperationFailed(name, "firmware_mismatch")

    async def _answer(
        self, item: _Outstanding, line: Line, seconds: float
    ) -> serial.OpAccepted | serial.OpRefused | None:
        """The next thing the board says of this operation; None when it says nothing for so long."""
        try:
            return await line.while_up(item.answers.get(), seconds)
        except TimeoutError:
            return None

    def _forget_answers(self, item: _Outstanding) -> None:
        while not item.answers.empty():
            item.answers.get_nowait()

    # --- boards -------------------------------------------------------------------------------------------------------

    async def _until_cleared(self, line: Line) -> None:
        await line.pause(RESEND_REFUSED_S)
        async with self._ready:
            while line.ready and self._stops.holds:
                await self._ready.wait()
        if not line.ready:
            raise LineLost("the session ended")

    # --- what boards say ----------------------------------------------------------------------------------------------

    def _line_ready(self, line: Line, identity: serial.Identity) -> None:
        self._gear.greeted(line, identity)
        self._stops.greeted(line, identity.stop_reason)
        self._faults.greeted(line)
        self.lamps.greeted(line)
        self._spawn(self._settle_in(line))

    async def _settle_in(self, line: Line) -> None:
        """Whoever waits for the line goes on; lamps; and once the board has told all that stands, that is compared."""
        await self._wake()
        self.lamps.send(line)
        self._changed()
        identity = line.identity
        try:
            # Messages come in order: behind the answer to this there is no fault that stood before.
            await line.request(serial.StatusQuery, serial.Status, QUERY_TIMEOUT_S)
        except LineLost:
            return
        if line.identity is identity:
            self._faults.heard_out(line)

    def _line_lost(self, line: Line, reason: str) -> None:
        self._faults.lost(line)
        for item in self._outstanding.values():
            item.begun = 0.0
        self.sorting = None
        self._changed()

    def _line_refused(self, line: Line, words: str) -> None:
        self._faults.find(FIRMWARE_MISMATCH, "firmware", "critical")
        self._changed()

    def _line_says(self, line: Line, message: serial.Message) -> None:
        match message:
            case serial.OpAccepted() | serial.OpRefused() | serial.OpResult():
                self._operation_says(message)
            case serial.OpProgress():
                self._progress(message)
            case serial.Key(key=key, seat=seat, pressed_ms=pressed_ms):
                if not self.on_key(key, seat, pressed_ms):
                    self._feed(inputs.KeyPressed(key, seat))
            case serial.Zone(seat=seat, zone=zone, tiles=tiles, confidence=confidence):
                self._sights.see(inputs.ZoneSeen(seat, zone, tiles, confidence))
            case serial.TileFlipped(position=position, tile=tile):
                self._sights.see(inputs.TileFlipped(position, tile))
            case serial.RowLaid(side=side):
                self._sights.see(inputs.RowLaid(side))
            case serial.DiceUnasked(known=known, dice=dice):
                self._feed(inputs.DiceUnasked(dice if known else None))
            case serial.FaultRaised():
                self._faults.raised(line, message)
            case serial.FaultCleared():
                self._faults.cleared(line, message)
            case serial.StopLatched(reason=reason):
                self._stops.latched(line, reason)
            case serial.StopCleared():
                self._stops.cleared(line)

    def _operation_says(self, message: serial.OpAccepted | serial.OpRefused | serial.OpResult) -> None:
        """A result ends its operation at once, whatever its task was waiting for; an id has one result for good."""
        for name, item in self._outstanding.items():
            if item.op != message.op or item.ended:
                continue
            if isinstance(message, serial.OpResult):
                item.ended = True
                self._learn(item, message)
                self._feed(self._outcome(name, item, message))
                if item.task is not None:
                    item.task.cancel()
            else:
                if isinstance(message, serial.OpAccepted) and item.asked_first and not item.begun:
                    item.begun = asyncio.get_running_loop().time()
                item.answers.put_nowait(message)
            return
        self.on_result(message)

    def _learn(self, item: _Outstanding, result: serial.OpResult) -> None:
        """How long it took, where its begin and its end were both heard in one session."""
        if item.begun and result.outcome == "done":
            self._spawn(self.times.finished(item.want.verb, asyncio.get_running_loop().time() - item.begun))

    def _progress(self, message: serial.OpProgress) -> None:
        for item in self._outstanding.values():
            if item.op == message.op and item.want.verb == "sort":
                counted: dict[str, int] = {}
                counted.update(zip(serial.SIDES, message.tiles, strict=True))
                self.sorting = Sorting(item.want.params["set"], counted, message.seconds)
                self._changed()

    async def _wake(self) -> None:
        async with self._ready:
            self._ready.notify_all()

    def _spawn(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def _where(status: serial.Status, number: int) -> str:
    if status.set_up == number or status.felt_sets & (1 << (number - 1)):
        return "felt"
    return "sorted" if status.sorted_set == number else "inside"
