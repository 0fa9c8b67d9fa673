"""The board's side of a recorded line: it says what it said then, in a session of its own with the daemon of today."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from controller.serial_port import SerialPortError
from hil.recording.meaning import QUERIES, REQUESTS
from protocol.serial.events import Delivered, LinkConfig, LinkEvent, LinkLost, SessionStarted
from protocol.serial.frames import Frame, FrameDecoder, FrameKind, encode_frame
from protocol.serial.link import Link
from protocol.serial.messages import Message

_QUEUE: Final = 100_000


class ReplayBoard:
    """One recorded line. `heard` gets every message of the daemon; `open` is the opener of its port."""

    def __init__(self, heard: Callable[[Message], None]) -> None:
        self.present = True
        """Whether the port can be opened."""
        self.session = 0
        """How many sessions have begun."""
        self._heard = heard
        self._sessions = 0
        self._link: Link | None = None
        self._port: _Port | None = None
        self._hello = b""
        self._timer: asyncio.TimerHandle | None = None
        self._up = False
        self._tag = 0
        self._open_questions: defaultdict[type[Any], deque[int]] = defaultdict(deque)
        self._to_come: Counter[type[Any]] = Counter()
        self._silent: frozenset[type[Any]] = frozenset()
        self._latest: dict[type[Any], Message] = {}

    # --- what the line uses -------------------------------------------------------------------------------------------

    async def open(
        self, name: str, baud: int, on_data: Callable[[bytes], None], on_lost: Callable[[str], None],
        on_drained: Callable[[], None] = lambda: None,
    ) -> _Port:  # fmt: skip
        """The port, while it is there."""
        if not self.present:
            raise SerialPortError("missing", f"{name}: not there at this moment of the recording")
        self._port = _Port(self, on_data, on_lost)
        return self._port

    def written(self, port: _Port, data: bytes) -> None:
        """The daemon has written."""
        if port is not self._port:
            return
        if self._link is not None:
            self._handle(self._link.receive(data, self._now()))
            return
        for frame in FrameDecoder().feed(data):
            if frame.kind == FrameKind.HELLO:
                self._hello = data

    def dropped(self, port: _Port) -> None:
        """The daemon has let go of the port."""
        if port is self._port:
            self._port = None
            self._hang_up()

    # --- what the replay orders ---------------------------------------------------------------------------------------

    @property
    def up(self) -> bool:
        """A session with the daemon stands."""
        return self._up

    @property
    def greeted(self) -> bool:
        """The daemon has the port open and offers a session."""
        return self._port is not None and bool(self._hello or self._link)

    def begin(self, answers: Mapping[type[Any], int], silent: frozenset[type[Any]]) -> None:
        """A session begins now: take what the daemon offers.

        `answers`: how many of which kind the board gave in it; `silent`: questions that it never answered.
        """
        self._hang_up(keep_hello=True)
        self._to_come, self._silent = Counter(answers), silent
        self._link = Link("mcu", self._next_id, LinkConfig(queue=_QUEUE))
        if self._hello:
            hello, self._hello = self._hello, b""
            self._handle(self._link.receive(hello, self._now()))

    def lose(self, reason: str) -> None:
        """The port is gone."""
        port, self._port = self._port, None
        self._hang_up()
        if port is not None:
            port.lose(reason)

    def reset(self, kind: str) -> None:
        """The board ends the session by itself: `reset` knows it no more, `bye` says so; else the host has given up."""
        link, port = self._link, self._port
        if link is None or port is None or kind not in ("reset", "bye"):
            self.lose("the session of then was lost here")
            return
        if kind == "bye":
            link.close()
            port.deliver(link.outgoing(self._now()))
        elif self._tag:
            port.deliver(b"\x00" + encode_frame(Frame("mcu", FrameKind.RESET, self._tag)))
        self._hang_up()

    def waits_for(self, answer: Message) -> bool:
        """Whether the daemon has asked what this answers."""
        return any(self._open_questions[question] for question in _questions(answer))

    def say(self, message: Message) -> bool:
        """Say a message; an answer bears the number of today's request. False where nobody has asked for it."""
        self._latest[type(message)] = message
        self._to_come[type(message)] -= 1
        if getattr(message, "req", 0):
            open_ones = (self._open_questions[one] for one in _questions(message))
            waiting = next(filter(None, open_ones), None)
            if waiting is None:
                return False
            message = _numbered(message, waiting.popleft())
        return self._send(message)

    def unanswered(self) -> list[type[Any]]:
        """The questions that move nothing and wait for their answer, but for those that never got one."""
        heard = QUERIES.keys() - self._silent
        return [kind for kind, numbers in self._open_questions.items() if numbers and kind in heard]

    def answer(self, kind: type[Any], answer: Message | None) -> None:
        """Answer such a question ahead of its time, or from memory."""
        known = answer or self._latest.get(QUERIES[kind])
        if known is not None:
            self._send(_numbered(known, self._open_questions[kind].popleft()))

    def close(self) -> None:
        """Nothing more is said."""
        self._hang_up()

    # --- within -------------------------------------------------------------------------------------------------------

    def _next_id(self) -> int:
        self._sessions += 1
        return self._sessions

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _send(self, message: Message) -> bool:
        if self._link is None or not self._link.connected:
            return False
        self._link.send(message)
        self._pump()
        return True

    def _handle(self, events: list[LinkEvent]) -> None:
        for event in events:
            match event:
                case SessionStarted(session=tag):
                    self._up, self._tag = True, tag
                    self.session += 1
                case LinkLost():
                    self._up = False
                case Delivered(message=message):
                    self._question(message)
                    self._heard(message)
        self._pump()

    def _question(self, message: Message) -> None:
        kind = type(message)
        if kind not in REQUESTS:
            return
        number: int = getattr(message, "req", 0)
        self._open_questions[kind].append(number)
        if kind not in QUERIES:
            return
        coming = sum(self._to_come[answer] for answer in REQUESTS[kind])
        if kind not in self._silent and len(self._open_questions[kind]) > coming:
            asyncio.get_running_loop().call_soon(self._answer_by_memory, kind, number, self.session)

    def _answer_by_memory(self, kind: type[Any], number: int, session: int) -> None:
        """What is asked more often than then."""
        if session != self.session or number not in self._open_questions[kind]:
            return
        known = next((self._latest[answer] for answer in REQUESTS[kind] if answer in self._latest), None)
        if known is not None:
            self._open_questions[kind].remove(number)
            self._send(_numbered(known, number))

    def _pump(self) -> None:
        link, port = self._link, self._port
        if link is None or port is None:
            return
        while data := link.outgoing(self._now()):
            port.deliver(data)
        if self._timer is not None:
            self._timer.cancel()
        due = link.next_deadline()
        self._timer = None if due is None else asyncio.get_running_loop().call_at(due, self._tick)

    def _tick(self) -> None:
        self._timer = None
        if self._link is not None:
            self._handle(self._link.tick(self._now()))

    def _hang_up(self, keep_hello: bool = False) -> None:
        self._up, self._link = False, None
        self._open_questions.clear()
        self._to_come.clear()
        if not keep_hello:
            self._hello = b""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _questions(answer: Message) -> list[type[Any]]:
    return [question for question, answers in REQUESTS.items() if type(answer) in answers]


def _numbered(answer: Message, number: int) -> Message:
    kind: Any = answer
    made: Message = replace(kind, req=number)
    return made


def lenient(answer: Message) -> bool:
    """Whether this answers a question that moves nothing."""
    return type(answer) in QUERIES.values()


class _Port:
    """The daemon's end, as `controller.serial_port.SerialPort`; bytes arrive in the next turn of the loop."""

    def __init__(self, board: ReplayBoard, on_data: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        self._board = board
        self._on_data = on_data
        self._on_lost = on_lost
        self._alive = True
        self.bytes_in = 0

    @property
    def alive(self) -> bool:
        return self._alive

    @property
    def pending(self) -> int:
        return 0

    def write(self, data: bytes) -> None:
        if self._alive and data:
            asyncio.get_running_loop().call_soon(self._board.written, self, bytes(data))

    def moved(self) -> bool:
        return False

    def abort(self) -> None:
        if self._alive:
            self._alive = False
            self._board.dropped(self)

    def deliver(self, data: bytes) -> None:
        """Bytes for the daemon."""
        asyncio.get_running_loop().call_soon(self._arrive, data)

    def lose(self, reason: str) -> None:
        """The port is gone under the daemon."""
        if self._alive:
            self._alive = False
            self._on_lost(reason)

    def _arrive(self, data: bytes) -> None:
        if self._alive:
            self.bytes_in += len(data)
            self._on_data(data)
