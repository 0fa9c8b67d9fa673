"""A host that keeps to the contract: the real link, requests and operations, for tests of what stands above it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import Any, Final, TypeVar

from hil.conform.endpoint import Tap, described
from hil.conform.requirement import Failed
from protocol.serial.events import Delivered, LinkDown, LinkEvent, LinkLost, SessionStarted, Undecodable
from protocol.serial.link import Link
from protocol.serial.messages import (
    PROTOCOL,
    PROTOCOL_MIN,
    ClearStop,
    EmergencyStop,
    Identify,
    Identity,
    Message,
    OpAccepted,
    Operation,
    OpId,
    OpRefused,
    OpResult,
    Sensors,
    SensorsQuery,
    Status,
    StatusQuery,
    StopCleared,
    StopLatched,
)
from protocol.serial.vocabulary import SENSOR_BITS

ANSWER_S: Final = 2.0
"""Seconds for an answer, repetitions on a bad line among them."""
ENDING_S: Final = 75.0
"""Seconds in which every operation has ended: the slowest sort is a fault at 60."""

Kind = TypeVar("Kind")


class Talk:
    """One session by the real link. `heard` are all messages of the board; `lost` why the session is over."""

    def __init__(self, tap: Tap) -> None:
        self.tap = tap
        self.link = Link("host", lambda: secrets.randbits(32))
        self.heard: list[Message] = []
        self.times: list[float] = []
        self.lost = ""
        self.stopped = False
        """A stop was asked for in this session."""
        self.unreadable: list[str] = []
        self._identity: Identity | None = None
        self._started = False
        self._open = False
        self._timer: asyncio.TimerHandle | None = None
        self._changed = asyncio.Event()
        self._req = 0

    @property
    def identity(self) -> Identity:
        """Who the board said that it is."""
        assert self._identity is not None
        return self._identity

    # --- beginning and end ------------------------------------------------------------------------------------------

    async def open(self) -> Talk:
        """Shake hands and ask who the board is; Failed where it does not say it."""
        self._open = True
        self.tap.on_bytes = self._on_bytes
        since = self.tap.mark()
        self._pump()
        await self._until(lambda: self._started, 4.0)
        if not self._started:
            raise Failed("a session within 4 s", described(self.tap.heard[since:]))
        self._identity = await self.ask(
            lambda req: Identify(req, PROTOCOL_MIN, PROTOCOL, "kaijin conform"), Identity
        )
        return self

    def end(self, goodbye: bool = True) -> None:
        """Say BYE, or nothing, and speak no more."""
        if not self._open:
            return
        if goodbye:
            self.link.close()
            self.tap.write(self.link.outgoing(self.tap.now()))
        self._open = False
        self.tap.on_bytes = lambda data: None
        if self._timer is not None:
            self._timer.cancel()

    # --- asking -----------------------------------------------------------------------------------------------------

    def next_req(self) -> int:
        """The number of the next request."""
        self._req += 1
        return self._req

    def send(self, message: Message) -> None:
        """A message that waits for no answer; Failed where the session is over."""
        try:
            self.link.send(message)
        except LinkDown:
            raise Failed("the session to go on", f"it was lost ({self.lost})") from None
        self._pump()

    async def ask(self, make: Callable[[int], Message], kind: type[Kind], within: float = ANSWER_S) -> Kind:
        """A request and its answer; Failed where none comes that carries its number."""
        answer = await self.answer(make, (kind,), within)
        assert isinstance(answer, kind)
        return answer

    async def answer(
        self, make: Callable[[int], Message], kinds: tuple[type[Any], ...], within: float = ANSWER_S
    ) -> Message:
        """A request, and the answer of one of these kinds."""
        req, since = self.next_req(), len(self.heard)
        self.send(make(req))
        found = await self.message(lambda one: isinstance(one, kinds) and getattr(one, "req", 0) == req, within, since)
        if found is None:
            names = " or ".join(kind.__name__ for kind in kinds)
            raise Failed(f"{names} with req {req} within {within:g} s", self.told(since))
        return found

    async def message(self, wanted: Callable[[Message], bool], within: float, since: int = 0) -> Message | None:
        """The first wanted message since `heard` had so many; None where it does not come in so many seconds."""

        def find() -> Message | None:
            return next((one for one in self.heard[since:] if wanted(one)), None)

        await self._until(lambda: find() is not None or bool(self.lost), within)
        return find()

    async def status(self) -> Status:
        """Where the mechanisms are."""
        return await self.ask(StatusQuery, Status)

    async def sensors(self) -> dict[str, bool]:
        """Which bits are set, by name."""
        bits = (await self.ask(SensorsQuery, Sensors)).bits
        return {name: bool(bits >> place & 1) for place, name in enumerate(SENSOR_BITS)}

    # --- operations and stops -----------------------------------------------------------------------------------------

    async def begin(self, operation: Operation, within: float = ANSWER_S) -> OpAccepted | OpRefused | OpResult:
        """Ask for an operation; the board's first answer to it. Failed where there is none."""
        since = len(self.heard)
        self.send(operation)
        found = await self.message(lambda one: _is_about(one, operation.op), within, since)
        if found is None:
            raise Failed(
                f"an answer to {type(operation).__name__} within {within:g} s: OpAccepted, OpRefused or OpResult",
                self.told(since),
            )
        assert isinstance(found, OpAccepted | OpRefused | OpResult)
        return found

    async def run(self, operation: Operation, within: float = ENDING_S) -> OpResult:
        """An operation to its end; Failed where it is refused or does not end."""
        since = len(self.heard)
        first = await self.begin(operation)
        if isinstance(first, OpRefused):
            raise Failed(f"{type(operation).__name__} to be carried out", f"refused: {first.reason}")
        return first if isinstance(first, OpResult) else await self.result(operation.op, within, since)

    async def result(self, op: OpId, within: float = ENDING_S, since: int = 0) -> OpResult:
        """The result of an operation that runs."""
        found = await self.message(lambda one: isinstance(one, OpResult) and one.op == op, within, since)
        if not isinstance(found, OpResult):
            raise Failed(f"OpResult of {op} within {within:g} s", self.told(since))
        return found

    async def stop(self, reason: str) -> StopLatched:
        """EmergencyStop and its answer."""
        since, self.stopped = len(self.heard), True
        self.send(EmergencyStop(reason))
        found = await self.message(lambda one: isinstance(one, StopLatched), ANSWER_S, since)
        if not isinstance(found, StopLatched):
            raise Failed("StopLatched, the answer to EmergencyStop", self.told(since))
        return found

    async def clear(self) -> StopCleared | StopLatched:
        """ClearStop and its answer."""
        found = await self.answer(ClearStop, (StopCleared, StopLatched))
        assert isinstance(found, StopCleared | StopLatched)
        return found

    def told(self, since: int = 0) -> str:
        """The board's messages since `heard` had so many, in words."""
        words = [str(one) for one in self.heard[since:]][-6:]
        ended = [f"the session was lost ({self.lost})"] if self.lost else []
        return ", ".join(words + ended) or "no message"

    # --- within -----------------------------------------------------------------------------------------------------

    async def _until(self, so: Callable[[], bool], within: float) -> None:
        until = self.tap.now() + within
        while not so() and (left := until - self.tap.now()) > 0:
            self._changed.clear()
            try:
                async with asyncio.timeout(left):
                    await self._changed.wait()
            except TimeoutError:
                pass

    def _on_bytes(self, data: bytes) -> None:
        self._handle(self.link.receive(data, self.tap.now()))

    def _tick(self) -> None:
        self._handle(self.link.tick(self.tap.now()))

    def _handle(self, events: list[LinkEvent]) -> None:
        for event in events:
            match event:
                case SessionStarted():
                    self._started = True
                case Delivered(message=message):
                    self.heard.append(message)
                    self.times.append(self.tap.now())
                case Undecodable(error=error):
                    self.unreadable.append(str(error))
                case LinkLost(reason=reason):
                    self.lost = self.lost or reason
                    self.link.close()  # a test is one session
        self._changed.set()
        self._pump()

    def _pump(self) -> None:
        if not self._open:
            return
        now = self.tap.now()
        if data := self.link.outgoing(now):
            self.tap.write(data)
        if self._timer is not None:
            self._timer.cancel()
        due = self.link.next_deadline()
        self._timer = None if due is None else asyncio.get_running_loop().call_at(max(due, now), self._tick)


def _is_about(message: Message, op: OpId) -> bool:
    return isinstance(message, OpAccepted | OpRefused | OpResult) and message.op == op
