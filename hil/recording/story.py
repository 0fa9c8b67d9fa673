"""A recording as what happened, item by item: messages rather than bytes, sessions, inputs, events.

The frames of both directions are read as the link itself reads them: a message counts where it was new and in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from controller.recording.core import decode_input, source_of
from controller.recording.format import Recording, RecordingError, Stream
from engine import inputs as i
from protocol.serial.frames import Frame, FrameDecoder, FrameError, FrameKind
from protocol.serial.messages import Message, decode_message
from protocol.serial.wire import MessageError

Kind = Literal[
    "no_port", "opened", "closed", "session", "reset", "said", "asked", "input", "events", "refused", "end", "gap"
]

STIMULI: Final = frozenset({"no_port", "opened", "closed", "session", "reset", "said"})
"""What came from the board's side of a line."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that happened, at `at` seconds. `line` is the number of the serial line, 0 for the core.

    `said` and `asked` have the `message` of the board, or of the daemon; `closed` and `reset` a `reason`; `input` what
    `happened` with `seat` and `id` of who said it; `events` what was decided; `refused` the `reason` and the input.
    """

    n: int
    at: float
    kind: Kind
    line: int = 0
    message: Message | None = None
    reason: str = ""
    happened: i.Input | None = None
    seat: str = ""
    id: str = ""
    asked: bool = False
    events: tuple[Mapping[str, Any], ...] = ()

    @property
    def stimulus(self) -> bool:
        """Whether it came from outside: from a board, from people, from the clock."""
        if self.kind == "input":
            return self.happened is not None and source_of(self.happened) != "board"
        return self.kind in STIMULI


@dataclass(slots=True)
class LineCounts:
    """How the link of one line was, in counts of frames; `answers` are seconds from a request to its answer."""

    frames_in: int = 0
    frames_out: int = 0
    bad: int = 0
    repeated_in: int = 0
    repeated_out: int = 0
    naks_in: int = 0
    naks_out: int = 0
    undecodable: int = 0
    sessions: int = 0
    answers: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Story:
    """What a recording tells. `heads` by stream, `items` in their order, `lines` how many serial lines there were."""

    heads: Mapping[str, Mapping[str, Any]]
    items: tuple[Item, ...]
    lines: int
    counts: tuple[LineCounts, ...]
    complete: bool
    """From the start on; the beginning of a long one may have made room."""

    @property
    def core(self) -> Mapping[str, Any]:
        """The head of the core's stream; RecordingError where there is none."""
        if "core" not in self.heads:
            raise RecordingError("only serial lines were recorded, so there is no core to compare with")
        return self.heads["core"]

    def with_items(self, items: tuple[Item, ...]) -> Story:
        """The same table with other items."""
        return replace(self, items=items)


def read_story(recording: Recording, lines_only: bool = False) -> Story:
    """All in the order in which it happened, or what went over lines alone; RecordingError where it is nonsense."""
    found: list[tuple[int, int, Item]] = []
    counts = []
    for number, stream in enumerate(recording.lines, 1):
        reader = _LineReader(number)
        for place, item in enumerate(reader.items(stream)):
            found.append((item.n, place, item))
        counts.append(reader.counts)
    if recording.core is not None and not lines_only:
        found += [(item.n, 0, item) for item in _core_items(recording.core, recording.redacted)]
    found.sort(key=lambda one: one[:2])
    return Story(
        heads={name: stream.head for name, stream in recording.streams.items()},
        items=tuple(item for _, _, item in found),
        lines=len(recording.lines),
        counts=tuple(counts),
        complete=all(stream.first_part == 1 for stream in recording.streams.values()),
    )


def _core_items(stream: Stream, redacted: bool) -> Iterator[Item]:
    for row in stream.entries:
        n, at = int(row["n"]), float(row["at"])
        if "note" in row:
            yield Item(n, at, "gap" if row["note"] == "gap" else "end", reason=str(row.get("entries", "")))
        elif "in" in row:
            if redacted:
                continue
            try:
                happened = decode_input(row["in"])
            except (ValueError, AttributeError, TypeError) as error:
                raise RecordingError(f"{stream.name}, n {n}: {error}") from None
            seat, id = str(row.get("seat", "")), str(row.get("id", ""))
            yield Item(n, at, "input", happened=happened, seat=seat, id=id, asked="asked" in row)
        elif "out" in row:
            events = row["out"]
            if not isinstance(events, list) or not all(isinstance(one, dict) and "type" in one for one in events):
                raise RecordingError(f"{stream.name}, n {n}: out: expected a list of events")
            if "refused" in row:
                yield Item(n, at, "refused", reason=f"{row['refused']}", id=str(row.get("input", "")))
            else:
                yield Item(n, at, "events", events=tuple(events))
        else:
            raise RecordingError(f"{stream.name}, n {n}: the entry of a serial line in the core's file")


class _LineReader:
    """Follows one line as its host's link did."""

    def __init__(self, number: int) -> None:
        self.counts = LineCounts()
        self._number = number
        self._heard = FrameDecoder()
        self._spoke = FrameDecoder()
        self._host_id = 0
        self._tag: int | None = None
        self._next_in = self._next_out = 0
        self._pending: dict[int, float] = {}
        self._farewell = False

    def items(self, stream: Stream) -> Iterator[Item]:
        """The items of the line, oldest first."""
        for row in stream.entries:
            n, at = int(row["n"]), float(row["at"])
            if "way" in row:
                data = bytes.fromhex(row["hex"])
                follow = self._in if row["way"] == "in" else self._out
                scanned = (self._heard if row["way"] == "in" else self._spoke).scan(data)
                for frame in scanned:
                    item = None if isinstance(frame, FrameError) else follow(frame, n, at)
                    self.counts.bad += isinstance(frame, FrameError) and row["way"] == "in"
                    if item is not None:
                        yield item
            elif "note" in row:
                yield from self._note(row, n, at)
            else:
                raise RecordingError(f"{stream.name}, n {n}: an entry of the core in the file of a serial line")

    def _note(self, row: Mapping[str, Any], n: int, at: float) -> Iterator[Item]:
        match row["note"]:
            case "closed" if self._farewell:
                self._farewell = False
                yield Item(n, at, "end", self._number)
            case "opened" | "closed":
                self._heard.reset()
                self._spoke.reset()
                self._end()
                kind: Kind = "opened" if row["note"] == "opened" else "closed"
                yield Item(n, at, kind, self._number, reason=str(row.get("reason", "")))
            case "no_port":
                yield Item(n, at, "no_port", self._number, reason=str(row.get("code", "")))
            case "gap":
                yield Item(n, at, "gap", self._number, reason=str(row.get("entries", "")))

    def _in(self, frame: Frame, n: int, at: float) -> Item | None:
        if frame.sender == "host":
            return None
        self.counts.frames_in += 1
        if frame.kind == FrameKind.HELLO_ACK:
            return self._greeted(frame, n, at)
        if self._tag is None or frame.session != self._tag:
            return None
        self.counts.naks_in += frame.kind == FrameKind.NAK
        match frame.kind:
            case FrameKind.RESET | FrameKind.BYE:
                self._end()
                return Item(n, at, "reset", self._number, reason=frame.kind.name.lower())
            case FrameKind.DATA if frame.seq == self._next_in:
                self._next_in = (self._next_in + 1) & 0xFF
                message = self._read(frame)
                if message is None:
                    return None
                asked_at = self._pending.pop(getattr(message, "req", 0), None)
                if asked_at is not None:
                    self.counts.answers.append(at - asked_at)
                return Item(n, at, "said", self._number, message)
            case FrameKind.DATA:
                self.counts.repeated_in += 1
        return None

    def _out(self, frame: Frame, n: int, at: float) -> Item | None:
        self.counts.frames_out += 1
        if frame.kind == FrameKind.HELLO:
            lost = self._tag is not None
            self._host_id = frame.session
            self._end()
            return Item(n, at, "reset", self._number, reason="lost") if lost else None
        if frame.session != self._tag:
            return None
        self._farewell = frame.kind == FrameKind.BYE
        self.counts.naks_out += frame.kind == FrameKind.NAK
        if frame.kind != FrameKind.DATA:
            return None
        if frame.seq != self._next_out:
            self.counts.repeated_out += 1
            return None
        self._next_out = (self._next_out + 1) & 0xFF
        message = self._read(frame)
        if message is None:
            return None
        if number := getattr(message, "req", 0):
            self._pending[number] = at
        return Item(n, at, "asked", self._number, message)

    def _greeted(self, frame: Frame, n: int, at: float) -> Item | None:
        if self._tag is not None or frame.session != self._host_id or len(frame.payload) < 5:
            return None
        peer = int.from_bytes(frame.payload[:4], "little")
        if not peer:
            return None
        self._tag, self._next_in, self._next_out = self._host_id ^ peer, 0, 0
        self.counts.sessions += 1
        return Item(n, at, "session", self._number)

    def _read(self, frame: Frame) -> Message | None:
        try:
            return decode_message(frame.payload)
        except MessageError:
            self.counts.undecodable += 1
            return None

    def _end(self) -> None:
        self._tag = None
        self._pending.clear()
