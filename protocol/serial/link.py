"""The link: sessions, numbering, acknowledgement, retransmission and liveness, without I/O and without a clock.

``now`` is monotonic seconds, the same clock in every call. See ``protocol.serial`` for an example.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from protocol.serial.declaration import TO_HOST, TO_MCU
from protocol.serial.events import (
    Delivered,
    LinkConfig,
    LinkDown,
    LinkEvent,
    LinkFull,
    LinkLost,
    LinkStats,
    LossReason,
    SessionStarted,
    Undecodable,
    VersionRefused,
)
from protocol.serial.frames import (
    DELIMITER,
    LINK_VERSION,
    Frame,
    FrameDecoder,
    FrameError,
    FrameKind,
    Role,
    encode_frame,
)
from protocol.serial.messages import Message, decode_message, direction_of, encode_message
from protocol.serial.recorder import FlightRecorder
from protocol.serial.retransmission import RoundTrip
from protocol.serial.wire import MessageError


@dataclass(slots=True)
class _Flight:
    """A DATA frame on its way: ``due`` to be written; ``sends`` times it was."""

    seq: int
    payload: bytes
    due: bool = True
    sends: int = 0
    sent_at: float = 0.0


@dataclass(slots=True)
class _Session:
    """Everything that begins anew with a session."""

    tag: int
    window: int
    heard_at: float
    spoke_at: float
    next_seq: int = 0
    expected: int = 0
    flights: deque[_Flight] = field(default_factory=deque)
    queue: deque[bytes] = field(default_factory=deque)
    round_trip: RoundTrip = field(default_factory=RoundTrip)
    retransmit_at: float | None = None
    waiting_since: float | None = None
    ack_due: bool = False
    nak_due: bool = False
    in_garbage: bool = False
    naked_for: int | None = None


class Link:
    """One end of the line: give it what was read and the time; it gives events, bytes to write, its next deadline."""

    def __init__(
        self,
        role: Role,
        session_ids: Callable[[], int],
        config: LinkConfig | None = None,
        recorder: FlightRecorder | None = None,
    ) -> None:
        """``session_ids`` gives a fresh random number of 32 bits at each call."""
        self.role: Final = role
        self.config: Final = config or LinkConfig()
        self.recorder: Final = recorder
        self._session_ids = session_ids
        self._decoder = FrameDecoder()
        self._stats = LinkStats()
        self._session: _Session | None = None
        self._own_id = self._fresh_id()
        self._hello_at: float | None = 0.0 if role == "host" else None
        self._hello_due = role == "host"
        self._hello_sent_at = 0.0
        self._candidate: tuple[int, int, int] | None = None  # MCU: host's id, our id, window, until the host confirms
        self._confirmed: tuple[int, int] | None = None  # MCU: host's id and ours of the running session
        self._answer_due: Frame | None = None
        self._reset_due: int | None = None
        self._bye_due: Frame | None = None
        self._closed = False
        self._told_version: int | None = None

    # --- what the shell calls -----------------------------------------------------------------------------------------

    @property
    def connected(self) -> bool:
        """A session is up."""
        return self._session is not None

    @property
    def room(self) -> int:
        """How many messages ``send`` takes before it raises LinkFull; 0 without a session."""
        return 0 if self._session is None else self.config.queue - len(self._session.queue)

    @property
    def stats(self) -> LinkStats:
        """The counts so far."""
        self._stats.errors = dict(self._decoder.errors)
        if self._session is not None:
            self._stats.round_trip = self._session.round_trip.smoothed
            self._stats.rto = self._session.round_trip.rto
        return self._stats

    def send(self, message: Message) -> None:
        """Queue a message; LinkDown without a session, LinkFull beyond the queue, MessageError if it cannot lie so."""
        if direction_of(message) != (TO_MCU if self.role == "host" else TO_HOST):
            raise MessageError("message", f"one that a {self.role} sends", type(message).__name__)
        payload = encode_message(message)
        if self._session is None:
            raise LinkDown("the link has no session")
        if len(self._session.queue) >= self.config.queue:
            raise LinkFull(f"{self.config.queue} messages wait already")
        self._session.queue.append(payload)

    def receive(self, data: bytes, now: float) -> list[LinkEvent]:
        """Take what the line brought. A silence that lasted too long is a loss even when bytes come now."""
        if self._closed:
            return []
        self._stats.bytes_in += len(data)
        events = self._check_silence(now)
        for item in self._decoder.scan(data):
            if self.recorder is not None:
                self.recorder.heard(item, now)
            if isinstance(item, FrameError):
                self._on_garbage()
            elif item.sender == self.role:
                self._stats.echoes += 1
            else:
                self._stats.frames_in += 1
                events += self._on_frame(item, now)
        return events

    def tick(self, now: float) -> list[LinkEvent]:
        """Let time pass: call it when ``next_deadline`` is due. Silence, retransmission, heartbeat, HELLO."""
        if self._closed:
            return []
        events = self._check_silence(now)
        session = self._session
        if session is None:
            if self._hello_at is not None and now >= self._hello_at:
                self._hello_at = now + self.config.hello_interval
                self._hello_due = True
            return events
        if session.retransmit_at is not None and now >= session.retransmit_at:
            session.round_trip.back_off()
            self._resend(session, now)
        if session.waiting_since is not None and now - session.waiting_since >= self.config.patience:
            return [*events, self._lose("no_answer")]
        if now >= session.spoke_at + self.config.keepalive:
            session.spoke_at = now
            session.ack_due = True
        return events

    def outgoing(self, now: float, room: int = 4096) -> bytes:
        """Bytes to write now, whole frames, at most ``room``: after ``receive``, ``tick``, ``send`` and ``close``.

        What does not fit stays due for the next call: nothing piles up while the writer is blocked.
        """
        frames = bytearray()
        for frame, flight in self._due_frames():
            encoded = encode_frame(frame)
            if len(frames) + len(encoded) + 1 > room:
                break
            if not frames:
                frames += DELIMITER  # ends whatever noise lies before us on an idle line
            frames += encoded
            self._written(frame, flight, now)
        self._stats.bytes_out += len(frames)
        return bytes(frames)

    def next_deadline(self) -> float | None:
        """When ``tick`` must be called next; None: not before something is received."""
        if self._closed:
            return None
        session = self._session
        if session is None:
            return self._hello_at
        deadlines = [session.heard_at + self._silence_limit, session.spoke_at + self.config.keepalive]
        if session.retransmit_at is not None:
            deadlines.append(session.retransmit_at)
        return min(deadlines)

    def line_lost(self) -> list[LinkEvent]:
        """The port is gone or was opened anew: the session ends, half a frame is forgotten, HELLO goes at once."""
        self._decoder.reset()
        self._candidate = None
        events: list[LinkEvent] = [] if self._session is None else [self._lose("line")]
        if self.role == "host" and not self._closed:
            self._hello_at, self._hello_due = 0.0, True
        return events

    def close(self) -> list[LinkEvent]:
        """End for good: the peer is told by the next ``outgoing``."""
        if self._closed:
            return []
        events: list[LinkEvent] = []
        if self._session is not None:
            self._bye_due = self._session_frame(self._session, FrameKind.BYE, self._next_to_send(self._session))
            events.append(self._lose("closed"))
        self._closed = True
        self._hello_due, self._answer_due, self._reset_due = False, None, None
        return events

    # --- frames in ----------------------------------------------------------------------------------------------------

    def _on_frame(self, frame: Frame, now: float) -> list[LinkEvent]:
        match frame.kind:
            case FrameKind.HELLO:
                return self._on_hello(frame)
            case FrameKind.HELLO_ACK:
                return self._on_hello_ack(frame, now)
            case FrameKind.RESET:
                return self._on_reset(frame)
        events = self._confirm(frame, now)
        session = self._session
        if session is None or frame.session != session.tag:
            self._stats.foreign += 1
            if self.role == "mcu" and frame.kind != FrameKind.BYE:
                self._reset_due = frame.session
            return events
        session.heard_at = now
        session.in_garbage = False
        self._on_acknowledged(session, frame.ack, now)
        match frame.kind:
            case FrameKind.DATA:
                events += self._on_data(session, frame)
            case FrameKind.ACK:
                self._on_gap(session, frame.seq)
            case FrameKind.NAK:
                self._stats.naks_in += 1
                self._on_gap(session, frame.seq)
                self._resend_at_once(session, frame.ack, now)
            case FrameKind.BYE:
                events.append(self._lose("peer_closed"))
        return events

    def _on_hello(self, frame: Frame) -> list[LinkEvent]:
        """MCU: answer; a running session ends only when the host confirms the new one with its first frame."""
        if self.role != "mcu":
            return []
        if frame.version != LINK_VERSION:
            self._answer_due = Frame("mcu", FrameKind.HELLO_ACK, frame.session, payload=bytes(5))
            return self._refuse_version(frame.version)
        window = min(self.config.window, max(1, frame.payload[0]))
        if self._confirmed is not None and self._confirmed[0] == frame.session:
            own = self._confirmed[1]
        elif self._candidate is not None and self._candidate[0] == frame.session:
            own = self._candidate[1]
        else:
            own = self._fresh_id()
            self._candidate = (frame.session, own, window)
        payload = own.to_bytes(4, "little") + bytes((self.config.window,))
        self._answer_due = Frame("mcu", FrameKind.HELLO_ACK, frame.session, payload=payload)
        return []

    def _on_hello_ack(self, frame: Frame, now: float) -> list[LinkEvent]:
        """Host: the session is up if this answers our HELLO of now; later copies change nothing."""
        if self.role != "host" or frame.session != self._own_id or self._session is not None:
            return []
        if frame.version != LINK_VERSION:
            return self._refuse_version(frame.version)
        peer = int.from_bytes(frame.payload[:4], "little")
        if peer == 0:
            return []
        return [self._begin(self._own_id ^ peer, min(self.config.window, max(1, frame.payload[4])), now)]

    def _on_reset(self, frame: Frame) -> list[LinkEvent]:
        """Host: the MCU knows nothing of this session."""
        if self.role == "host" and self._session is not None and frame.session == self._session.tag:
            return [self._lose("peer_reset")]
        return []

    def _confirm(self, frame: Frame, now: float) -> list[LinkEvent]:
        """MCU: the first frame of an offered session puts it in place of the old one."""
        if self._candidate is None or frame.kind == FrameKind.BYE:
            return []
        host, own, window = self._candidate
        if frame.session != host ^ own:
            return []
        events: list[LinkEvent] = [] if self._session is None else [self._lose("peer_restarted")]
        self._candidate, self._confirmed = None, (host, own)
        return [*events, self._begin(host ^ own, window, now)]

    def _on_data(self, session: _Session, frame: Frame) -> list[LinkEvent]:
        ahead = (frame.seq - session.expected) & 0xFF
        if ahead == 0:
            session.expected = (session.expected + 1) & 0xFF
            session.ack_due, session.nak_due, session.naked_for = True, False, None
            return [self._open(frame.payload)]
        if ahead < 0x80:
            self._on_gap(session, frame.seq)
        else:
            self._stats.duplicates += 1
            session.ack_due = True
        return []

    def _open(self, payload: bytes) -> LinkEvent:
        try:
            message = decode_message(payload)
            if direction_of(message) == (TO_MCU if self.role == "host" else TO_HOST):
                raise MessageError("message", f"one that a {self.role} receives", type(message).__name__)
        except MessageError as error:
            self._stats.undecodable += 1
            return Undecodable(error)
        return Delivered(message)

    def _on_gap(self, session: _Session, seq: int) -> None:
        """The peer has sent what we have not got: ask once for it."""
        if 0 < (seq - session.expected) & 0xFF < 0x80 and session.naked_for != session.expected:
            self._stats.gaps += 1
            session.naked_for, session.nak_due = session.expected, True

    def _on_garbage(self) -> None:
        """Ask once for what may have been in it; the burst lasts until a frame of the session comes."""
        session = self._session
        if session is not None and not session.in_garbage:
            session.in_garbage, session.nak_due, session.naked_for = True, True, session.expected

    # --- frames out ---------------------------------------------------------------------------------------------------

    def _due_frames(self) -> "list[tuple[Frame, _Flight | None]]":
        due: list[tuple[Frame, _Flight | None]] = []
        if self._bye_due is not None:
            due.append((self._bye_due, None))
        if self._reset_due is not None:
            due.append((Frame(self.role, FrameKind.RESET, self._reset_due), None))
        if self._answer_due is not None:
            due.append((self._answer_due, None))
        session = self._session
        if session is None:
            if self._hello_due:
                payload = bytes((self.config.window,))
                due.append((Frame("host", FrameKind.HELLO, self._own_id, payload=payload), None))
            return due
        while session.queue and len(session.flights) < session.window:
            session.flights.append(_Flight(session.next_seq, session.queue.popleft()))
            session.next_seq = (session.next_seq + 1) & 0xFF
        data = [flight for flight in session.flights if flight.due]
        if session.nak_due:
            due.append((self._session_frame(session, FrameKind.NAK, self._next_to_send(session)), None))
        elif session.ack_due and not data:
            due.append((self._session_frame(session, FrameKind.ACK, self._next_to_send(session)), None))
        due += [(self._session_frame(session, FrameKind.DATA, one.seq, one.payload), one) for one in data]
        return due

    def _next_to_send(self, session: _Session) -> int:
        return next((flight.seq for flight in session.flights if flight.due), session.next_seq)

    def _session_frame(self, session: _Session, kind: FrameKind, seq: int, payload: bytes = b"") -> Frame:
        return Frame(self.role, kind, session.tag, seq, session.expected, payload)

    def _written(self, frame: Frame, flight: _Flight | None, now: float) -> None:
        self._stats.frames_out += 1
        if self.recorder is not None:
            self.recorder.said(frame, now)
        match frame.kind:
            case FrameKind.HELLO:
                self._hello_due, self._hello_sent_at = False, now
                self._hello_at = now + self.config.hello_interval
                return
            case FrameKind.HELLO_ACK:
                self._answer_due = None
                return
            case FrameKind.RESET:
                self._reset_due = None
                return
            case FrameKind.BYE:
                self._bye_due = None
                return
        session = self._session
        if session is None:
            return
        session.spoke_at = now
        session.ack_due = False
        if frame.kind == FrameKind.NAK:
            session.nak_due = False
            self._stats.naks_out += 1
        if flight is not None:
            self._stats.retransmits += flight.sends > 0
            flight.due, flight.sends, flight.sent_at = False, flight.sends + 1, now
            if session.retransmit_at is None:
                session.retransmit_at = now + session.round_trip.rto
                session.waiting_since = now

    def _on_acknowledged(self, session: _Session, ack: int, now: float) -> None:
        """Everything before ``ack`` has arrived; an ``ack`` outside what is in flight says nothing."""
        first = session.flights[0].seq if session.flights else session.next_seq
        count = (ack - first) & 0xFF
        if not 0 < count <= sum(1 for flight in session.flights if flight.sends):
            return
        for _ in range(count):
            flight = session.flights.popleft()
        if flight.sends == 1:
            session.round_trip.sample(now - flight.sent_at)
        in_flight = any(flight.sends for flight in session.flights)
        session.retransmit_at = now + session.round_trip.rto if in_flight else None
        session.waiting_since = now if in_flight else None

    def _resend_at_once(self, session: _Session, ack: int, now: float) -> None:
        """NAK: send again from ``ack`` on, unless that was sent too recently for the NAK to know of it."""
        if not session.flights or session.flights[0].seq != ack or not session.flights[0].sends:
            return
        if now - session.flights[0].sent_at >= (session.round_trip.smoothed or 0.0) / 2:
            self._resend(session, now)

    def _resend(self, session: _Session, now: float) -> None:
        for flight in session.flights:
            flight.due = True
        session.retransmit_at = now + session.round_trip.rto

    # --- sessions -----------------------------------------------------------------------------------------------------

    @property
    def _silence_limit(self) -> float:
        return self.config.host_silence if self.role == "host" else self.config.mcu_silence

    def _check_silence(self, now: float) -> list[LinkEvent]:
        if self._session is not None and now >= self._session.heard_at + self._silence_limit:
            return [self._lose("silence")]
        return []

    def _begin(self, tag: int, window: int, now: float) -> SessionStarted:
        self._session = _Session(tag, window, heard_at=now, spoke_at=now, ack_due=True)
        self._stats.sessions += 1
        self._told_version = None
        self._hello_due = False
        return SessionStarted(tag)

    def _lose(self, reason: LossReason) -> LinkLost:
        session = self._session
        undelivered = 0 if session is None else len(session.flights) + len(session.queue)
        self._session = self._confirmed = None
        self._stats.losses += 1
        if self.role == "host":
            self._own_id = self._fresh_id()
            self._hello_at = self._hello_sent_at + self.config.hello_interval
        return LinkLost(reason, undelivered)

    def _refuse_version(self, version: int) -> list[LinkEvent]:
        if self._told_version == version:
            return []
        self._told_version = version
        host_is_older = (version > LINK_VERSION) == (self.role == "host")
        what = "the host's software" if host_is_older else "the board's firmware"
        words = f"the peer speaks link version {version}, this side {LINK_VERSION}: update {what}"
        return [VersionRefused(version, words)]

    def _fresh_id(self) -> int:
        return (self._session_ids() & 0xFFFFFFFF) or 1
