"""One supervised serial line: port, link, handshake and requests; it comes back for ever."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import structlog

from controller.backoff import Backoff
from controller.flight import FlightLog
from controller.link_history import LinkHistory, totals
from controller.recording.port import Opener, PortLike
from controller.repeats import Repeats
from controller.serial_port import SerialPortError, open_port
from protocol.serial import messages as serial
from protocol.serial.events import (
    Delivered,
    LinkDown,
    LinkEvent,
    LinkFull,
    LinkLost,
    LinkStats,
    SessionStarted,
    Undecodable,
    VersionRefused,
)
from protocol.serial.link import Link
from protocol.serial.recorder import FlightRecorder

IDENTIFY_TIMEOUT_S: Final = 1.0
REOPEN_AFTER_S: Final = 3.0
"""Without a session for so long, the port is opened anew."""
CHECK_PORT_S: Final = 0.5
OUTBOX_LIMIT: Final = 512
SECONDS_RECORDED: Final = 60
"""Seconds of its history that a flight recording has at its head."""

_WRITE_AHEAD = 4096
_BACKOFF_CAP_S = 2.0
_SECOND_S = 1.0
_FAREWELL_S = 0.05

_Answer = TypeVar("_Answer", bound=serial.Message)
_Value = TypeVar("_Value")


class LineLost(Exception):
    """The session ended before the answer came."""


class Line:
    """A board at one port. Set the three callbacks, then let `run` go on for ever.

    `on_ready(line, identity)` after each handshake, `on_lost(line, reason)` after each end of a ready session,
    `on_message(line, message)` for whatever is no answer to a request, `on_refused(line, words)` for a board that this
    daemon must not drive.
    """

    def __init__(self, name: str, baud: int, host: str, recordings: Path, opener: Opener = open_port) -> None:
        self.name, self._open = name, opener
        self.identity: serial.Identity | None = None
        self.last_identity: serial.Identity | None = None
        self.refusal = ""
        self.trouble = "not opened yet"
        self.sessions = 0
        self.failures = 0
        """Messages that this daemon failed on; each cost itself alone."""
        self.on_ready: Callable[[Line, serial.Identity], None] = lambda line, identity: None
        self.on_lost: Callable[[Line, str], None] = lambda line, reason: None
        self.on_message: Callable[[Line, serial.Message], None] = lambda line, message: None
        self.on_refused: Callable[[Line, str], None] = lambda line, words: None
        self._baud = baud
        self._host = host
        self._recorder = FlightRecorder()
        self._flight = FlightLog(recordings, name)
        self._link = Link("host", lambda: secrets.randbits(32), recorder=self._recorder)
        self._loop: asyncio.AbstractEventLoop
        self._port: PortLike | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._port_lost: asyncio.Future[str] | None = None
        self._session_end: asyncio.Future[None] | None = None
        self._no_session_since = 0.0
        self._echoes_before = 0
        self._requests: dict[int, tuple[tuple[type[Any], ...], asyncio.Future[Any]]] = {}
        self._next_request = 1
        self._outbox: list[serial.Message] = []
        self._waiting_for_room: list[asyncio.Future[None]] = []
        self._early: list[serial.Message] = []
        self._handshake: asyncio.Task[None] | None = None
        self._failed_on: set[str] = set()
        self._repeats = Repeats()
        self._history = LinkHistory()
        self._log = structlog.get_logger("line").bind(port=name)

    @property
    def ready(self) -> bool:
        """The board has said who it is and may be driven."""
        return self.identity is not None and self._session_end is not None

    @property
    def stats(self) -> LinkStats:
        """The link's counts since the daemon's start."""
        return self._link.stats

    def statistics(self, seconds: int = 600) -> dict[str, Any]:
        """How the line is and has been, as JSON: totals since the start, a summary, each of the last `seconds`.

        Safe to call from other threads.
        """
        return {
            "port": self.name,
            "state": "up" if self.ready else "lost",
            "trouble": "" if self.ready else self.trouble,
            "boot_id": None if self.last_identity is None else f"{self.last_identity.boot_id:08x}",
            "since_start": {**totals(self._link.stats), "failed_messages": self.failures},
            "lately": self._history.summary(),
            "each_second": self._history.last(seconds),
        }

    async def run(self) -> None:
        """Keep the port open and the session up, until cancelled."""
        self._loop = asyncio.get_running_loop()
        backoff = Backoff(0.1, _BACKOFF_CAP_S, stable=5.0)
        counting = self._loop.create_task(self._count_seconds(), name=f"seconds {self.name}")
        try:
            while True:
                began = self._loop.time()
                reason = await self._one_port()
                self._tell(reason)
                backoff.held(self._loop.time() - began)
                await asyncio.sleep(backoff.next())
        finally:
            counting.cancel()
            self._close_port()

    async def _count_seconds(self) -> None:
        while True:
            await asyncio.sleep(_SECOND_S)
            waiting = 0 if self._port is None else self._port.pending
            self._history.note(self._link.stats, self.ready, waiting, self._loop.time())

    async def send(self, message: serial.Message) -> None:
        """Send a message in this session; LineLost when there is none or it ends while waiting for room."""
        while True:
            if not self.ready:
                raise LineLost("no session")
            if not self._outbox:
                try:
                    self._link.send(message)
                except LinkDown:
                    raise LineLost("no session") from None
                except LinkFull:
                    pass
                else:
                    self._pump()
                    return
            room: asyncio.Future[None] = self._loop.create_future()
            self._waiting_for_room.append(room)
            await room

    def send_soon(self, messages: Iterable[serial.Message]) -> None:
        """Send shows (lamps, sounds) when there is room; forgotten when the session ends."""
        self._outbox.extend(messages)
        del self._outbox[:-OUTBOX_LIMIT]
        self._pump()

    async def request(self, make: Callable[[int], serial.Message], answer: type[_Answer], timeout: float) -> _Answer:
        """Ask and await the answer that names this request; a later answer to an earlier one is never taken for it.

        LineLost when the session ends or the board says nothing for `timeout` seconds.
        """
        wanted: tuple[type[serial.Message], ...] = (cast(type[serial.Message], answer),)
        return cast(_Answer, await self.ask(make, wanted, timeout))

    async def ask(
        self, make: Callable[[int], serial.Message], answers: tuple[type[Any], ...], timeout: float
    ) -> serial.Message:
        """As `request`, where the answer may be one of several messages."""
        number = self._next_request
        self._next_request = number % 0xFFFF + 1
        future: asyncio.Future[Any] = self._loop.create_future()
        self._requests[number] = (answers, future)
        try:
            async with asyncio.timeout(timeout):
                await self.send(make(number))
                reply: serial.Message = await future
                return reply
        except TimeoutError:
            expected = " or ".join(answer.__name__ for answer in answers)
            raise LineLost(f"no {expected} within {timeout:g} s") from None
        finally:
            self._requests.pop(number, None)

    async def pause(self, seconds: float) -> None:
        """Let time pass; LineLost when the session ends meanwhile."""
        with contextlib.suppress(TimeoutError):
            await self.while_up(asyncio.Event().wait(), seconds)

    async def while_up(self, work: Awaitable[_Value], timeout: float) -> _Value:
        """The result of `work`; LineLost when the session ends first, TimeoutError after `timeout` seconds."""
        end = self._session_end
        task = asyncio.ensure_future(work)
        try:
            if end is None:
                raise LineLost("no session")
            await asyncio.wait(
                set[asyncio.Future[Any]]((task, end)), timeout=timeout, return_when=asyncio.FIRST_COMPLETED
            )
            if task.done():
                return task.result()
            if end.done():
                raise LineLost("the session ended")
            raise TimeoutError
        finally:
            task.cancel()

    def hang_up(self) -> None:
        """Tell the board that the daemon goes, as far as the line takes it at once."""
        self._handle(self._link.close())
        if self._port is not None:
            self._port.write(self._link.outgoing(self._loop.time()))

    # --- the port -----------------------------------------------------------------------------------------------------

    async def _one_port(self) -> str:
        """Open the port and use it until it is lost; why it was."""
        self._port_lost = self._loop.create_future()
        try:
            self._port = await self._open(self.name, self._baud, self._read, self._port_ended, self._pump)
        except SerialPortError as error:
            return str(error)
        self._no_session_since = self._loop.time()
        self._echoes_before = self._link.stats.echoes
        self._handle(self._link.line_lost())
        self._pump()
        try:
            lost = self._port_lost
            while not lost.done():
                await asyncio.wait({lost}, timeout=CHECK_PORT_S)
                self._check_port()
            return lost.result()
        except asyncio.CancelledError:
            await self._take_leave()
            raise
        finally:
            self._close_port()

    async def _take_leave(self) -> None:
        """Tell the board that the daemon goes, so that it need not find out by silence."""
        self.hang_up()
        if self._port is not None and self._port.alive and not self._port.pending:
            # Letting go of the port throws away what it has not sent yet.
            await asyncio.sleep(_FAREWELL_S)

    def _check_port(self) -> None:
        """What only time shows: the name leads elsewhere now, or nobody answers on this port."""
        if self._port is None or not self._port.alive:
            return
        if self._port.moved():
            self._port_ended("the adapter has come back under another name")
        elif not self._link.connected and self._loop.time() - self._no_session_since > REOPEN_AFTER_S:
            if self._port.bytes_in:
                self._record("no_session")
            self._port_ended(self.refusal or self._nobody())

    def _nobody(self) -> str:
        stats = self._link.stats
        if self._port is None or not self._port.bytes_in:
            return "nobody answers on the line"
        if stats.echoes > self._echoes_before:
            return "the line echoes what is sent: are its two wires joined?"
        came = f"{self._port.bytes_in} bytes came, but no answer of a table's board"
        return f"{came}: is it the right port, and {self._baud} its baud rate?"

    def _port_ended(self, reason: str) -> None:
        if self._port_lost is not None and not self._port_lost.done():
            self._port_lost.set_result(reason)
        self._close_port()

    def _close_port(self) -> None:
        if self._port is not None:
            self._port.abort()
            self._port = None
            self._handle(self._link.line_lost())
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _read(self, data: bytes) -> None:
        self._handle(self._link.receive(data, self._loop.time()))
        self._pump()

    def _tick(self) -> None:
        self._timer = None
        self._handle(self._link.tick(self._loop.time()))
        self._pump()

    def _pump(self) -> None:
        """Write what is due and come back when the next thing is."""
        if self._port is None:
            return
        self._fill()
        room = _WRITE_AHEAD - self._port.pending
        if room > 0:
            self._port.write(self._link.outgoing(self._loop.time(), room))
        if self._port is None:
            return
        deadline = self._link.next_deadline()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if deadline is None else self._loop.call_at(deadline, self._tick)

    def _fill(self) -> None:
        """Move what waits into the link as far as it has room."""
        while self._outbox and self.ready and self._link.room:
            self._link.send(self._outbox.pop(0))
        if self._link.room and not self._outbox:
            self._wake_waiting()

    def _wake_waiting(self) -> None:
        waiting, self._waiting_for_room = self._waiting_for_room, []
        for room in waiting:
            if not room.done():
                room.set_result(None)

    # --- the session --------------------------------------------------------------------------------------------------

    def _handle(self, events: Iterable[LinkEvent]) -> None:
        """Take each event; what this daemon fails on costs itself alone: the link has acknowledged those behind it."""
        for event in events:
            try:
                self._take(event)
            except Exception:
                self._failed(event.message if isinstance(event, Delivered) else event)

    def _take(self, event: LinkEvent) -> None:
        match event:
            case SessionStarted():
                self._begin_session()
            case Delivered(message=message):
                self._deliver(message)
            case LinkLost(reason=reason):
                self._end_session(reason)
            case Undecodable(error=error):
                self._warn("a message that keeps no contract", field=error.field, expected=error.expected)
            case VersionRefused(words=words):
                self._refuse(words)

    def _failed(self, what: object) -> None:
        """Count a failure, and tell the first of its kind."""
        self.failures += 1
        kind = type(what).__name__
        if kind not in self._failed_on:
            self._failed_on.add(kind)
            self._log.exception("the daemon failed on a message; it goes on with the next", message=kind)

    def _begin_session(self) -> None:
        self._session_end = self._loop.create_future()
        self._early = []
        self._handshake = self._loop.create_task(self._identify(), name=f"handshake {self.name}")

    async def _identify(self) -> None:
        """Ask the board who it is; begin the session anew when it does not say."""
        number = self._next_request
        self._next_request = number % 0xFFFF + 1
        future: asyncio.Future[Any] = self._loop.create_future()
        self._requests[number] = ((serial.Identity,), future)
        self._link.send(serial.Identify(number, serial.PROTOCOL_MIN, serial.PROTOCOL, self._host))
        self._pump()
        try:
            async with asyncio.timeout(IDENTIFY_TIMEOUT_S):
                identity: serial.Identity = await future
        except TimeoutError:
            self._record("no_identity")
            self._port_ended("the board does not say who it is")
            return
        except LineLost:
            return
        finally:
            self._requests.pop(number, None)
        words = serial.protocol_refusal(identity.protocol)
        if words is not None:
            self._refuse(words)
            return
        self._greet(identity)

    def _greet(self, identity: serial.Identity) -> None:
        self.identity = self.last_identity = identity
        self.refusal = self.trouble = ""
        self.sessions += 1
        summary = self._repeats.hear("board ready", self._loop.time())
        if summary is not None:
            self._log.info(
                "board ready",
                model=identity.model,
                firmware=identity.firmware,
                serial_number=identity.serial_number,
                boot_id=f"{identity.boot_id:08x}",
                sessions=self.sessions,
            )
        self.on_ready(self, identity)
        early, self._early = self._early, []
        for message in early:
            try:
                self.on_message(self, message)
            except Exception:
                self._failed(message)

    def _refuse(self, words: str) -> None:
        if self.refusal != words:
            self.refusal = self.trouble = words
            self._log.error("this board cannot be driven", problem=words)
            self._record("refused")
            self.on_refused(self, words)

    def _deliver(self, message: serial.Message) -> None:
        number = getattr(message, "req", 0)
        answers, future = self._requests.get(number, ((), None))
        if future is not None and type(message) in answers:
            if not future.done():
                future.set_result(message)
            return
        if self.identity is not None:
            self.on_message(self, message)
        else:
            # What the board says right behind its Identity may come before the handshake has been told of that.
            self._early.append(message)

    def _end_session(self, reason: str) -> None:
        was_ready = self.ready
        end, self._session_end = self._session_end, None
        self.identity = None
        self.trouble = reason
        self._no_session_since = self._loop.time()
        self._outbox.clear()
        if end is not None and not end.done():
            end.set_result(None)
        for _, future in self._requests.values():
            if not future.done():
                future.set_exception(LineLost(reason))
        self._wake_waiting()
        if self._handshake is not None and not self._handshake.done() and self._handshake is not _current_task():
            self._handshake.cancel()
        if was_ready:
            self._record(reason)
            self.on_lost(self, reason)
        if reason in ("silence", "no_answer"):
            # What still waits in the port would reach the board late, in one heap.
            self._loop.call_soon(self._port_ended, f"the board fell silent ({reason})")

    def _record(self, reason: str) -> None:
        """Write the flight recording down, off the loop."""
        now = self._loop.time()
        if not self._flight.due(reason, now):
            return
        stats, seconds = totals(self._link.stats), self._history.last(SECONDS_RECORDED)
        future = self._loop.run_in_executor(None, self._flight.write, self._recorder, reason, stats, now, seconds)
        future.add_done_callback(self._recorded)

    def _recorded(self, future: asyncio.Future[Path]) -> None:
        if future.cancelled():
            return
        error = future.exception()
        if error is not None:
            self._warn("the flight recording cannot be written", problem=str(error))
        else:
            self._log.info("flight recording written", path=str(future.result()))

    def _tell(self, reason: str) -> None:
        """One line for each trouble, then summaries further and further apart."""
        self.trouble = self.refusal or reason
        self._warn("line down", problem=reason)

    def _warn(self, event: str, **values: Any) -> None:
        """A warning, unless the same one was given a short while ago; of troubles, whatever their numbers."""
        kind = re.sub(r"\d+", "#", f"{event} {values.get('problem', '')}")
        summary = self._repeats.hear(kind, self._loop.time())
        if summary is not None and summary.times == 1 and not summary.seconds:
            self._log.warning(event, **values)
        elif summary is not None:
            self._log.warning(event, **values, times=summary.times, minutes=round(summary.seconds / 60, 1))


def host_name(version: str) -> str:
    """How this daemon names itself to a board, within the contract's 48 bytes."""
    return f"kaijin {version} {socket.gethostname()}".encode()[:48].decode(errors="ignore")


def _current_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
