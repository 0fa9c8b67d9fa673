"""The daemon of one table: every resource has one task, one core loop has the state, all of it stops within 5 s."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import Any, Final

import structlog

from controller import commands as desk
from controller import views
from controller.adapters import opener_of
from controller.auditing import Auditor, account
from controller.broker import BrokerSession
from controller.broker_address import BrokerAddress
from controller.clock import SystemClock
from controller.core import Core, Speeds
from controller.doors import Doors
from controller.hardware import Hardware
from controller.health import HealthServer
from controller.holding import journal_notices
from controller.hub import Ledger
from controller.lines import Line, host_name
from controller.live import Live, TableFacts
from controller.matches import Matches
from controller.mending import EpochClocks
from controller.metrics import Metrics
from controller.notify import Notifier
from controller.offer import Offer
from controller.pairing import Pairing
from controller.parlor import RESTING, Parlor
from controller.publisher import Publisher
from controller.recording.start import begin_recording
from controller.reports import Reporter
from controller.reveals import Reveals
from controller.seats import SeatDesk
from controller.service.history import FaultHistory
from controller.service.mode import Service
from controller.service.restart import Restarter
from controller.settings import Settings, split_listen
from controller.sheets import Sheets
from controller.startup import Start, StartError, kaijin_version
from controller.support import SupportDesk
from engine.ruleset import load_ruleset, profiles
from engine.state import State
from protocol.mqtt.models import Command
from protocol.mqtt.topics import TopicError, Topics, parse_topic

HEARTBEAT_S: Final = 30.0
REPLAY_AT_ONCE: Final = 1000
"""Events said again for one command at most; the reader asks for the rest."""

CLOCK_LOOK_S: Final = 1.0
REVEALS_LOOK_S: Final = 0.3
RESTART_S: Final = 0.5
"""A restart that was asked for waits so long for its answer to be noted and said."""

STOP_S: Final = 4.0
"""What stopping may take altogether, of the 5 s allowed."""


class _StopAsked(Exception):
    """Somebody asked the daemon to stop."""


class Daemon:
    """One table. `run` returns when asked to stop; it raises when the journal can no longer be written."""

    def __init__(
        self, settings: Settings, begun: Start, address: BrokerAddress, clock: SystemClock, notifier: Notifier
    ) -> None:
        self._settings = settings
        self._begun = begun
        self._notifier = notifier
        self._log = structlog.get_logger("daemon")
        self._stopping = asyncio.Event()
        self._work: set[asyncio.Task[Any]] = set()
        self._ready_told = False
        self.restarting = False
        """`run` has returned because a restart was asked for."""
        self._autostarted = begun.state.setup is not None
        self._rules = load_ruleset(settings.match.rules, settings.match.options)
        self._pairing = Pairing(clock.monotonic)
        self._epoch_clocks = EpochClocks(clock, begun.journal, begun.epoch or 0)
        topics = Topics(settings.table.id)
        metrics = Metrics()
        journal = begun.journal
        host = host_name(kaijin_version())
        self._journal = journal
        self._unheard = metrics.inputs.labels("unheard")
        self._offer = Offer(settings.match, journal)
        matches = Matches(journal.path)
        self._sheets = Sheets(journal.records, matches.text)
        baud, recordings = settings.serial.baud, settings.log_directory
        self._recorded = begin_recording(settings, begun, clock.monotonic)
        self._lines = [
            Line(port, baud, host, recordings, self._recorded.opener(number, opener_of(settings, number)))
            for number, port in enumerate(settings.serial.ports, 1)
        ]
        self._session = BrokerSession(
            address,
            topics.table_reads(),
            self._broker_says,
            read_back=(topics.availability, topics.birth, topics.state),
            will=lambda: (topics.availability, self._publisher.availability_payload("lost")),
            on_refused=self._retained_refused,
            on_connected=self._connected,
        )
        self._publisher = Publisher(settings.table.id, begun.epoch or 0, clock, self._session)
        self._publisher.seq = journal.last_seq
        self._ledger = Ledger(
            journal, self._publisher, self._session, clock, metrics, settings.journal.ledger_days
        )
        self._doors = Doors(self._offer, self._ledger, journal)
        self._hardware = Hardware(
            self._lines, journal, lambda happened: self._core.feed(happened), self._hardware_changed
        )
        self._core = Core(
            begun.state, journal, self._publisher, self._hardware, clock, metrics,
            Speeds(settings.timing.speed, settings.timing.people_speed), self._facts, self._decorate, self._ledger,
        )  # fmt: skip
        self._core.on_change, self._core.tap = self._changed, self._recorded.core
        self._seats = SeatDesk(
            settings, self._core, self._hardware, self._publisher, self._pairing, metrics, self._sheets, self._facts,
            self._spawn,
        )  # fmt: skip
        self._hardware.on_key = self._key_held
        self._reporter = Reporter(
            self._lines, self._hardware, self._session, journal, clock, metrics, begun.epoch is not None, self._ledger
        )
        self._history = FaultHistory(journal, self._spawn)
        self._core.on_facts = self._history.heard
        self._service = Service(
            self._core, self._hardware, self._publisher, self._history, journal.journal_id, clock.monotonic,
            self._hardware.times, self._spawn,
        )  # fmt: skip
        self._restarter = Restarter(self._at_leisure)
        self._auditor = Auditor(self._core)
        self._reveals = Reveals(journal, self._auditor, self._hand_in_play, clock.monotonic, self._shown_at_seats)
        self._support = SupportDesk(settings, self._reporter, metrics, clock.monotonic)
        parlor = Parlor(self._core, self._offer, self._doors, journal, matches)
        handlers = {
            "status": self._status,
            "replay": self._replay,
            "rebirth": self._rebirth,
            "service": self._service.command,
            "support_bundle": self._support.command,
            "restart": self._restarter.command,
            **parlor.handlers(),
        }
        self._desk = desk.CommandDesk(self._publisher, clock, metrics, handlers, journal, self._auditor.command)
        self._health: HealthServer | None = None
        if settings.health.listen:
            host, port = split_listen(settings.health.listen)
            reporter = self._reporter
            self._health = HealthServer(
                host, port, reporter.health, metrics.registry, reporter.collect, reporter.links
            )

    def stop(self) -> None:
        """Ask `run` to end."""
        self._stopping.set()

    async def run(self) -> None:
        """Serve the table until `stop`."""
        self._start_health()
        if self._begun.epoch is not None:
            await self._ledger.begin()
        self._publisher.say_availability("starting")
        self._say_birth()
        self._judge(self._core.state)
        if self._begun.epoch is None:
            self._log.critical("no epoch of this table is known; start it once with --adopt when it is the right table")
        broker = asyncio.create_task(self._session.run(), name="broker")
        reason = "failed"
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_mind(broker), name="mind the broker session")
                group.create_task(self._beat_heart(), name="heartbeat")
                group.create_task(self._watch(), name="watch")
                if self._begun.epoch is not None:
                    await self._history.catch_up(self._journal.replay, self._journal.last_seq)
                    group.create_task(self._core.run(), name="core")
                    group.create_task(self._mind_clock(), name="clock")
                    group.create_task(self._service.run(), name="service")
                    group.create_task(self._restart_in_time(), name="restart")
                    group.create_task(self._mind_records(), name="records")
                    group.create_task(self._ledger.run(), name="ledger")
                    for line in self._lines:
                        group.create_task(line.run(), name=f"line {line.name}")
                await self._stopping.wait()
                self._log.info("stopping")
                self._publisher.say_availability("offline")
                raise _StopAsked
        except* _StopAsked:
            reason = ""
        finally:
            await self._leave(broker, reason)

    # --- stopping -----------------------------------------------------------------------------------------------------

    async def _leave(self, broker: asyncio.Task[None], reason: str) -> None:
        """Say offline, whatever ended the work, and let the broker take it; then let go of the rest."""
        self._stopping.set()
        self._notifier.stopping()
        self._publisher.say_availability("offline", reason)
        self._session.stop()
        await asyncio.wait({broker}, timeout=STOP_S / 2)
        broker.cancel()
        await self._close()

    async def _close(self) -> None:
        for task in list(self._work):
            task.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_S / 2):
                await self._hardware.close()
                if self._health is not None:
                    await asyncio.to_thread(self._health.stop)
                await self._journal.close()
        await asyncio.to_thread(self._recorded.close)
        self._notifier.close()

    # --- what happens -------------------------------------------------------------------------------------------------

    def _hardware_changed(self) -> None:
        self._service.greet()
        self._core.touch()
        self._changed(self._core.state)

    def _changed(self, state: State) -> None:
        self._judge(state)
        ready = self._hardware.link_state == "up" and state.phase == "idle" and not state.parking
        if self._settings.match.autostart and ready and not self._autostarted and not self._doors.shut:
            self._autostarted = True
            self._spawn(self._autostart())

    async def _autostart(self) -> None:
        """The board may go again before it has said where its sets are; then its next session starts the match."""
        self._autostarted = not await self._seats.start_match({})

    def _broker_says(self, topic: str, payload: bytes, retained: bool) -> None:
        try:
            address = parse_topic(topic)
        except TopicError:
            self._unheard.inc()
            return
        if self._begun.epoch is None:
            self._unheard.inc()
            return
        match address.kind:
            case "seat/input":
                self._seats.take(address.detail, payload)
            case "command":
                self._spawn(self._desk.take(address.detail, payload))
            case "pairing":
                self._seats.pairing_says(address.detail, payload)
            case "ledger/ack":
                self._ledger.hear(payload)
            case _:
                self._unheard.inc()

    def _retained_refused(self, topic: str, payload: bytes) -> None:
        """A retained input or command does nothing, ever; whoever sent it is told."""
        address = parse_topic(topic)
        if self._begun.epoch is None:
            return
        if address.kind == "command":
            self._desk.refuse_retained(address.detail, payload)
        elif address.kind == "seat/input":
            self._seats.refuse_retained(address.detail, payload)

    def _connected(self) -> None:
        """The broker has us (again): how all stands is said from the newest state."""
        if self._begun.epoch is not None:
            self._core.say_everything()
            self._ledger.connected()

    def _key_held(self, key: str, seat: str, pressed_ms: int) -> bool:
        """The service key is the repairer's first, where one has the table or asks for it; then the seats'."""
        if key == "service" and self._service.on and self._seats.confirms(key, seat, pressed_ms):
            return True  # a repairer lets another device of his in
        if key == "service" and self._service.key(pressed_ms):
            return True
        return self._seats.key_held(key, seat, pressed_ms)

    def _at_leisure(self) -> bool:
        """Nothing is played and nothing moves: the daemon may restart without anybody noticing."""
        state = self._core.state
        kept = state.phase in RESTING or state.parked or bool(state.service)
        return kept and self._hardware.sorting is None and not self._service.busy

    # --- commands -----------------------------------------------------------------------------------------------------

    async def _status(self, command: Command) -> Mapping[str, Any]:
        state = self._core.state
        return {
            "availability": self._publisher.availability_state,
            "phase": state.phase,
            "use": views.use(state, self._doors.opened),
            "locked": self._doors.locked,
            "hand": state.hand,
            "epoch": self._publisher.epoch,
            "seq": self._publisher.seq,
            "link": self._hardware.link_state,
        }

    async def _replay(self, command: Command) -> Mapping[str, Any]:
        newest = self._publisher.seq
        first = max(int(command.args["first"]), self._journal.first_kept)
        last = min(int(command.args.get("last", newest)), newest, first + REPLAY_AT_ONCE - 1)
        stored = await self._journal.replay(first, last)
        self._publisher.say_again([(fact.stream, fact.envelope) for fact in stored])
        return {"first": first, "last": first + len(stored) - 1, "count": len(stored)}

    async def _rebirth(self, command: Command) -> Mapping[str, Any]:
        self._say_birth()
        self._core.say_everything()
        self._publisher.say_availability_again()
        return {}

    # --- what is said -------------------------------------------------------------------------------------------------

    def _facts(self) -> TableFacts:
        terms = self._offer.terms
        board = self._hardware.last_identity
        can = board.capabilities if board is not None else None
        dice = self._hardware.dice_line.last_identity
        return TableFacts(
            rules=terms.rules,
            layout=terms.layout,
            sensing="none" if self._settings.match.sensing == "none" or can is None else can.sensing,
            dice=dice.capabilities.dice if dice is not None else "hand",
            aid=can.aid if can else "guide",
            sets=can.sets if can else 2,
            hands=terms.hands,
            minutes=terms.minutes,
            seats=terms.seats,
            rulesets=profiles(),
            options=terms.options,
            name=self._settings.table.name,
            locked=self._doors.locked,
            opened=self._doors.opened,
            over=self._doors.over,
            names=terms.names,
        )

    def _decorate(self, live: Live, state: State) -> Live:
        pairing = self._pairing
        return replace(
            live,
            devices=pairing.devices,
            pairing=pairing.asking(),
            notices=(
                *pairing.notices(),
                *self._service.notices(),
                *self._reveals.notices(),
                *journal_notices(self._journal, self._reporter.uptime),
            ),
            service=self._service.last,
            sheets=self._sheets.shown(state.session),
        )

    def _say_birth(self) -> None:
        self._publisher.say_birth(self._reporter.birth(self._facts(), self._rules.layouts, self._begun.boot))

    def _judge(self, state: State) -> None:
        """Say how far the table can be counted on, when that has changed."""
        if self._stopping.is_set():
            return
        if self._offer.waits and state.phase not in RESTING:
            self._spawn(self._doors.begun())
        condition, reason = self._reporter.judge(state)
        if condition == "ready" and not self._ready_told:
            self._ready_told = True
            self._say_birth()
            self._log.info("ready", seconds=round(self._reporter.uptime, 3), epoch=self._begun.epoch)
        self._publisher.say_availability(condition, reason)
        self._notifier.status(f"{condition} {reason}".strip() + f", phase {state.phase}, hand {state.hand}")

    # --- watching -----------------------------------------------------------------------------------------------------

    async def _watch(self) -> None:
        """The watchdog hears of us only when a token has been through the core."""
        self._notifier.ready()
        pause = min(self._notifier.watchdog_s or 1.0, 1.0)
        while True:
            if self._begun.epoch is not None:
                await self._core.beat()
            self._reporter.beat_at = asyncio.get_running_loop().time()
            self._notifier.watchdog()
            self._judge(self._core.state)
            await asyncio.sleep(pause)

    async def _mind_clock(self) -> None:
        """Stamps made before the time of day was known are mended once it is; nothing waits for that."""
        while True:
            try:
                if await self._epoch_clocks.look():
                    self._log.info("the time of day is known now; earlier times of this start are put right")
            except Exception as error:
                self._log.debug("the clock cannot be noted", problem=str(error))
            await asyncio.sleep(CLOCK_LOOK_S)

    async def _mind_records(self) -> None:
        """Put on record what was done beside the daemon: a table adopted, a hand revealed."""
        if self._begun.boot == "adopted":
            await self._auditor.note(account(), "adopted", {"epoch": self._begun.epoch})
        while True:
            try:
                await self._reveals.look()
            except Exception as error:
                self._log.error("it cannot be seen whether a hand was revealed", problem=repr(error))
            await asyncio.sleep(REVEALS_LOOK_S)

    def _hand_in_play(self) -> int:
        state = self._core.state
        return 0 if state.phase in RESTING else state.hand

    async def _shown_at_seats(self) -> bool:
        """Say the seats' views; whether the broker has taken all that was said."""
        self._core.touch(at_once=True)
        await asyncio.sleep(REVEALS_LOOK_S)
        return self._session.connected and not self._session.waiting

    async def _restart_in_time(self) -> None:
        """Once a restart was asked for and has begun, leave; whoever keeps the daemon running starts it again."""
        await self._restarter.begun.wait()
        self._log.warning("restarting, as asked")
        await asyncio.sleep(RESTART_S)
        self.restarting = True
        self.stop()

    async def _beat_heart(self) -> None:
        while True:
            self._publisher.say_heartbeat(self._reporter.heartbeat())
            await asyncio.sleep(HEARTBEAT_S)

    def _start_health(self) -> None:
        if self._health is None:
            return
        try:
            self._health.start()
        except OSError as error:
            listen = self._settings.health.listen
            raise StartError(f"[health] listen: {listen} cannot be listened on: {error.strerror}") from None

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._work_done)

    def _work_done(self, task: asyncio.Task[Any]) -> None:
        self._work.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._log.error("a task failed", problem=repr(task.exception()))


async def _mind(session: asyncio.Task[None]) -> None:
    """The broker session goes on by itself until it is stopped: its end is the daemon's."""
    await asyncio.wait({session})
    session.result()
    raise RuntimeError("the broker session ended by itself")
