"""A board on the bench: one line to it, operations under ids of this run, and what it tells by itself."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from controller.lines import Line, LineLost, host_name
from controller.recording.port import Opener
from controller.serial_port import open_port
from controller.startup import kaijin_version
from protocol.serial import messages as serial

ANSWER_S: Final = 2.0
COMES_BACK_S: Final = 10.0
"""A line that is lost may be away so long before the run ends."""

SLACK_S: Final = 5.0
"""What the line may add to a movement's longest time."""

_Answer = TypeVar("_Answer", bound=serial.Message)


class BenchError(Exception):
    """The board cannot be tested (any longer); the message says why."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How an operation ended. `seconds` from its order to its result, None where a lost line lay between."""

    outcome: str
    """`done`, `failed`, `interrupted`; `refused`; `overdue`; `forgotten`: the board started anew meanwhile."""
    reason: str = ""
    side: str = ""
    values: bytes = b""
    seconds: float | None = None

    @property
    def words(self) -> str:
        """How it ended, for the record."""
        return " ".join(filter(None, (self.outcome, self.reason, self.side)))


class Bench:
    """Asynchronous context manager: the board answers inside. `on_change` hears of everything that comes."""

    def __init__(self, port: str, baud: int, recordings: Path, opener: Opener = open_port) -> None:
        self.line = Line(port, baud, host_name(kaijin_version()), recordings, opener)
        self.identity: serial.Identity | None = None
        self.boot_ids: list[int] = []
        self.losses = 0
        self.latched = False
        """An emergency stop was ordered from here."""
        self.keys: list[serial.Key] = []
        self.standing: dict[tuple[str, str], serial.FaultRaised] = {}
        self.progress = 0
        """Progress reports of sorts so far."""
        self._journal = secrets.randbits(63) + 1
        self._number = 0
        self._answers: dict[serial.OpId, asyncio.Queue[Any]] = {}
        self._under_way: dict[serial.OpId, tuple[serial.Operation, float]] = {}
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self.line.on_ready, self.line.on_lost = self._ready, self._lost
        self.line.on_message, self.line.on_refused = self._said, lambda line, words: None
        self._task = asyncio.create_task(self.line.run(), name="bench line")
        if not await self.until(lambda: self.line.ready or bool(self.line.refusal), COMES_BACK_S):
            await self._end()
            raise BenchError(f"{self.line.name}: {self.line.trouble}")
        if self.line.refusal:
            await self._end()
            raise BenchError(f"{self.line.name}: {self.line.refusal}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    async def _end(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    # --- asking -------------------------------------------------------------------------------------------------------

    @property
    def can(self) -> serial.Capabilities:
        """What the board says it can."""
        assert self.identity is not None
        return self.identity.capabilities

    async def ask(self, make: Callable[[int], serial.Message], answer: type[_Answer]) -> _Answer:
        """One request and its answer, over a lost line too."""
        for _ in range(3):
            await self.back()
            with contextlib.suppress(LineLost):
                return await self.line.request(make, answer, ANSWER_S)
        raise BenchError(f"no {answer.__name__} came: {self.line.trouble or 'the board does not answer'}")

    async def status(self) -> serial.Status:
        """Where the mechanisms are."""
        return await self.ask(serial.StatusQuery, serial.Status)

    async def show(self, *messages: serial.Message) -> None:
        """Lamps, sounds, and what else is not answered."""
        for message in messages:
            await self.back()
            with contextlib.suppress(LineLost):
                await self.line.send(message)

    async def run(self, make: Callable[[serial.OpId], serial.Operation], limit_s: float) -> Ended:
        """One operation to its end, under an id of its own that is asked again over a lost line. A throw is not asked
        again of a board that started anew.
        """
        op = self._new_id()
        operation = make(op)
        queue = self._answers[op] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        until = loop.time() + limit_s + SLACK_S
        boot, sessions, ordered = self.boot_ids[-1], self.line.sessions, loop.time()
        try:
            while True:
                await self.back()
                if self.boot_ids[-1] != boot:
                    self._under_way.pop(op, None)
                    return Ended("forgotten", "the board started anew")
                self._under_way[op] = (operation, until)
                with contextlib.suppress(LineLost):
                    await self.line.send(operation)
                    while True:
                        said = await self.line.while_up(queue.get(), max(0.0, until - loop.time()))
                        if isinstance(said, serial.OpRefused):
                            self._under_way.pop(op, None)
                            return Ended("refused", said.reason)
                        if isinstance(said, serial.OpResult):
                            self._under_way.pop(op, None)
                            seconds = loop.time() - ordered if self.line.sessions == sessions else None
                            return Ended(said.outcome, said.fault, said.side, said.values, seconds)
        except TimeoutError:
            return Ended("overdue", f"no result within {limit_s + SLACK_S:g} s")
        finally:
            del self._answers[op]

    async def back(self) -> None:
        """The line stands, or comes back; BenchError where it does not."""
        if not self.line.ready and not await self.until(lambda: self.line.ready, COMES_BACK_S):
            raise BenchError(f"the line is lost: {self.line.trouble}")

    async def until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Whether something comes true in time; looked at whenever the board says something, and now and then."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not condition():
            left = end - loop.time()
            if left <= 0:
                return False
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, 0.2)):
                    await self._changed.wait()
        return True

    # --- stopping -----------------------------------------------------------------------------------------------------

    async def make_safe(self) -> list[str]:
        """Nothing moves afterwards as far as the board can be told: a sort is stopped, anything else ends by itself;
        what does not end in time is ended by an emergency stop, which stays latched. What was done, in words.
        """
        done: list[str] = []
        try:
            if any(isinstance(operation, serial.SortStart) for operation, _ in self._under_way.values()):
                await self.line.send(serial.SortStop(self._new_id()))
                done.append("the sort was stopped")
            if self._under_way:
                loop = asyncio.get_running_loop()
                left = max(until for _, until in self._under_way.values()) - loop.time()
                sorts = all(isinstance(operation, serial.SortStart) for operation, _ in self._under_way.values())
                if not await self.until(lambda: not self._under_way, min(left, SLACK_S) if sorts else left):
                    await self.emergency("the end-of-line test was stopped")
            await self.line.send(serial.LampsOff())
            await self.line.send(serial.ServiceEnd())
            await self.line.request(serial.StatusQuery, serial.Status, ANSWER_S)
        except LineLost:
            done.append("the line was lost: a board of the contract stops its motors by itself")
        if self.latched:
            done.append("an emergency stop is latched: clear it before the table is used")
        return done

    async def emergency(self, reason: str) -> None:
        """Stop every motor at once, and latch."""
        self.latched = True
        with contextlib.suppress(LineLost):
            await self.line.send(serial.EmergencyStop(reason))

    # --- what the board says ------------------------------------------------------------------------------------------

    def _new_id(self) -> serial.OpId:
        self._number += 1
        hand, step = divmod(self._number, 0xFFFF)
        return serial.OpId(self._journal, hand + 1, step, 1)

    def _ready(self, line: Line, identity: serial.Identity) -> None:
        self.identity = identity
        if not self.boot_ids or self.boot_ids[-1] != identity.boot_id:
            self.boot_ids.append(identity.boot_id)
        self.standing.clear()
        self._changed.set()

    def _lost(self, line: Line, reason: str) -> None:
        self.losses += 1
        self._changed.set()

    def _said(self, line: Line, message: serial.Message) -> None:
        match message:
            case serial.OpAccepted(op=op) | serial.OpRefused(op=op) | serial.OpResult(op=op):
                if not isinstance(message, serial.OpAccepted):
                    self._under_way.pop(op, None)
                if op in self._answers:
                    self._answers[op].put_nowait(message)
            case serial.OpProgress():
                self.progress += 1
            case serial.Key():
                self.keys.append(message)
            case serial.FaultRaised(code=code, side=side):
                self.standing[code, side] = message
            case serial.FaultCleared(code=code, side=side):
                self.standing.pop((code, side), None)
        self._changed.set()
