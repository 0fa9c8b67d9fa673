"""Boards whose link layer is wrong: frames, sessions, delivery, liveness."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from protocol.serial.events import Delivered, LinkEvent, SessionStarted, Undecodable
from protocol.serial.frames import DELIMITER, Frame, FrameDecoder, FrameError, FrameKind, decode_frame
from protocol.serial.link import Link, _Flight, _Session
from protocol.serial.messages import decode_message
from protocol.serial.retransmission import RoundTrip
from protocol.serial.wire import MessageError
from simulators.mcu import Mcu

NEVER_S: Final = 1e9
_IN_SESSION: Final = (FrameKind.DATA, FrameKind.ACK, FrameKind.NAK, FrameKind.BYE)


# --- frames -----------------------------------------------------------------------------------------------------------


class _EmptyIsGarbage(FrameDecoder):
    def scan(self, data: bytes) -> Iterator[Frame | FrameError]:
        for place, piece in enumerate(data.split(DELIMITER)):
            if place:
                if not self._buffer and not self._overrun:
                    self.errors["short"] += 1
                    yield FrameError("short", 0)
                yield from super().scan(DELIMITER)
            yield from super().scan(piece)


class EmptyIsGarbage(Link):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._decoder = _EmptyIsGarbage()


class _NoCheck(FrameDecoder):
    def _cut(self) -> Frame | FrameError | None:
        from cobs import cobs

        from protocol.serial.frames import encode_frame

        encoded = bytes(self._buffer)
        item = super()._cut()
        if isinstance(item, FrameError) and item.kind == "crc":
            whole = cobs.decode(encoded)
            head = Frame("host", FrameKind.DATA, int.from_bytes(whole[1:5], "little"), whole[5], whole[6], whole[7:-2])
            again = decode_frame(encode_frame(replace(head, kind=FrameKind(min(6, whole[0] >> 4 & 7))))[:-1])
            return again if whole[0] & 0x8F == 1 else item
        return item


class NoCheck(Link):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._decoder = _NoCheck()


class LongFramesKill(Link):
    def receive(self, data: bytes, now: float) -> list[LinkEvent]:
        before = self._decoder.errors["long"]
        events = super().receive(data, now)
        self._closed = self._closed or self._decoder.errors["long"] > before
        return events


class NakForEach(Link):
    def _on_garbage(self) -> None:
        if self._session is not None:
            self._session.in_garbage, self._session.nak_due = True, True


class NoNak(Link):
    def _on_garbage(self) -> None:
        """It keeps quiet."""


class _HostsOnly(FrameDecoder):
    def _cut(self) -> Frame | FrameError | None:
        item = super()._cut()
        return replace(item, sender="host") if isinstance(item, Frame) else item


class EchoIsHeard(Link):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._decoder = _HostsOnly()


class NoZeroFirst(Link):
    def outgoing(self, now: float, room: int = 4096) -> bytes:
        return super().outgoing(now, room).lstrip(DELIMITER)


class NotCounted(Link):
    def receive(self, data: bytes, now: float) -> list[LinkEvent]:
        events = super().receive(data, now)
        self._decoder.errors.update(dict.fromkeys(self._decoder.errors, 0))
        return events


# --- sessions ---------------------------------------------------------------------------------------------------------


class TagNotChecked(Link):
    def _on_frame(self, frame: Frame, now: float) -> list[LinkEvent]:
        session = self._session
        waiting = self._candidate is not None and frame.session == self._candidate[0] ^ self._candidate[1]
        if session is not None and frame.kind in _IN_SESSION and not waiting:
            frame = replace(frame, session=session.tag)
        return super()._on_frame(frame, now)


class OldSessionAnswered(Link):
    former: int | None = None

    def _on_frame(self, frame: Frame, now: float) -> list[LinkEvent]:
        before = None if self._session is None else self._session.tag
        if self._session is not None and frame.kind in _IN_SESSION and frame.session == self.former:
            # The old one lives on beside the new one.
            frame = replace(frame, session=self._session.tag, seq=self._session.expected)
        events = super()._on_frame(frame, now)
        if before is not None and self._session is not None and self._session.tag != before:
            self.former = before
        return events


class HelloEndsSession(Link):
    def _on_hello(self, frame: Frame) -> list[LinkEvent]:
        events = super()._on_hello(frame)
        known = self._confirmed is not None and self._confirmed[0] == frame.session
        return events if known or self._session is None else [*events, self._lose("peer_restarted")]


class HelloAnswersDiffer(Link):
    def _on_hello(self, frame: Frame) -> list[LinkEvent]:
        if self._session is None:
            self._candidate = None
        return super()._on_hello(frame)


class NumbersNotFresh(Link):
    def _fresh_id(self) -> int:
        return 0x5EED5EED


class VersionAccepted(Link):
    def _on_hello(self, frame: Frame) -> list[LinkEvent]:
        return super()._on_hello(replace(frame, version=1))


class WindowIgnored(Link):
    def _begin(self, tag: int, window: int, now: float) -> SessionStarted:
        return super()._begin(tag, self.config.window, now)


class OldWordsInNewSession(Link):
    def _begin(self, tag: int, window: int, now: float) -> SessionStarted:
        started = super()._begin(tag, window, now)
        if self._session is not None:
            self._session.queue = deque(self._kept)
        self._kept.clear()
        return started

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._kept: list[bytes] = []

    def _lose(self, reason: Any) -> Any:
        if self._session is not None:
            self._kept = [flight.payload for flight in self._session.flights] + list(self._session.queue)
        return super()._lose(reason)


class ByeIgnored(Link):
    def _on_frame(self, frame: Frame, now: float) -> list[LinkEvent]:
        return [] if frame.kind == FrameKind.BYE else super()._on_frame(frame, now)


class ResetNotSaid(Link):
    def _due_frames(self) -> list[tuple[Frame, _Flight | None]]:
        self._reset_due = None
        return super()._due_frames()


# --- delivery ---------------------------------------------------------------------------------------------------------


class DuplicatesDelivered(Link):
    def _on_data(self, session: _Session, frame: Frame) -> list[LinkEvent]:
        events = super()._on_data(session, frame)
        return events or ([self._open(frame.payload)] if (frame.seq - session.expected) & 0xFF >= 0x80 else [])


class OutOfOrder(Link):
    def _on_data(self, session: _Session, frame: Frame) -> list[LinkEvent]:
        if (frame.seq - session.expected) & 0xFF < 0x80:
            session.expected = frame.seq
        return super()._on_data(session, frame)


class AckOfTheLast(Link):
    def _session_frame(self, session: _Session, kind: FrameKind, seq: int, payload: bytes = b"") -> Frame:
        frame = super()._session_frame(session, kind, seq, payload)
        return replace(frame, ack=(frame.ack - 1) & 0xFF)


class GapNotAskedFor(Link):
    def _on_gap(self, session: _Session, seq: int) -> None:
        """It waits for whatever comes."""


class NeverSentAgain(Link):
    def tick(self, now: float) -> list[LinkEvent]:
        if self._session is not None:
            self._session.retransmit_at = None
        return super().tick(now)

    def next_deadline(self) -> float | None:
        if self._session is not None:
            self._session.retransmit_at = None
        return super().next_deadline()


@dataclass(slots=True)
class _NoBackOff(RoundTrip):
    def back_off(self) -> None:
        """The next time-out is as short."""


class NeverDoubled(Link):
    def _begin(self, tag: int, window: int, now: float) -> SessionStarted:
        started = super()._begin(tag, window, now)
        if self._session is not None:
            self._session.round_trip = _NoBackOff()
        return started


class RepeatedIsSample(Link):
    def _on_acknowledged(self, session: _Session, ack: int, now: float) -> None:
        for flight in session.flights:
            if flight.sends > 1:
                # As if the latest sending had been acknowledged: short where the first one was.
                flight.sends, flight.sent_at = 1, now
        super()._on_acknowledged(session, ack, now)


class NakNotAnswered(Link):
    def _resend_at_once(self, session: _Session, ack: int, now: float) -> None:
        """It waits for its time-out."""


class AnyAckCounts(Link):
    def _on_acknowledged(self, session: _Session, ack: int, now: float) -> None:
        if session.flights and (ack - session.flights[0].seq) & 0xFF > len(session.flights):
            ack = session.next_seq
        super()._on_acknowledged(session, ack, now)


class NeverGivesUp(Link):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.config = replace(self.config, patience=NEVER_S)  # type: ignore[misc]


class UnknownKillsLink(Link):
    def _on_data(self, session: _Session, frame: Frame) -> list[LinkEvent]:
        events = super()._on_data(session, frame)
        unknown = any(isinstance(event, Undecodable) and event.error.field == "type" for event in events)
        return [*events, self._lose("line")] if unknown else events


class UnknownNotAcknowledged(Link):
    def _on_data(self, session: _Session, frame: Frame) -> list[LinkEvent]:
        before = session.expected
        events = super()._on_data(session, frame)
        if any(isinstance(event, Undecodable) for event in events):
            session.expected = before
        return events


class WrongDirection(Link):
    def _open(self, payload: bytes) -> LinkEvent:
        try:
            return Delivered(decode_message(payload))
        except MessageError:
            return super()._open(payload)


class LengthNotChecked(Link):
    def _open(self, payload: bytes) -> LinkEvent:
        return super()._open(payload[:3] if payload[:1] == b"\x02" else payload)


# --- liveness ---------------------------------------------------------------------------------------------------------


class NoHeartbeat(Link):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.config = replace(self.config, keepalive=NEVER_S)  # type: ignore[misc]


class HostNeverLost(Link):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.config = replace(self.config, mcu_silence=NEVER_S)  # type: ignore[misc]


class HostLostTooSoon(Link):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.config = replace(self.config, mcu_silence=0.4)  # type: ignore[misc]


class ReadBeforeJudged(Link):
    def receive(self, data: bytes, now: float) -> list[LinkEvent]:
        if self._session is not None:
            self._session.heard_at = now
        return super().receive(data, now)


class NoiseIsLife(Link):
    def _on_garbage(self) -> None:
        super()._on_garbage()
        if self._session is not None and self._latest is not None:
            self._session.heard_at = self._latest

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._latest: float | None = None

    def receive(self, data: bytes, now: float) -> list[LinkEvent]:
        self._latest = now
        return super().receive(data, now)


class WrongWayBoard(Mcu):
    link_kind = WrongDirection

    def _on_message(self, message: Any) -> None:
        from protocol.serial.messages import StopCleared

        super()._on_message(message)
        if isinstance(message, StopCleared):
            self.stop_reason = ""


def _board(kind: type[Link]) -> type[Mcu]:
    return type(kind.__name__, (Mcu,), {"link_kind": kind})


KINDS: Final[tuple[tuple[str, str, type[Mcu]], ...]] = (
    ("empty_frame_is_garbage", "takes two zeros in a row for a bad frame", _board(EmptyIsGarbage)),
    ("crc_not_checked", "reads frames whose CRC is wrong", _board(NoCheck)),
    ("long_frames_kill", "is dead after a frame that is longer than its buffer", _board(LongFramesKill)),
    ("nak_for_each_bad_frame", "answers each bad frame with a NAK, not each burst", _board(NakForEach)),
    ("no_nak", "never asks again for what it could not read", _board(NoNak)),
    ("echo_taken_as_own", "does not look at bit 7: hears its own frames as the host's", _board(EchoIsHeard)),
    ("no_zero_first", "begins its bursts without a zero", _board(NoZeroFirst)),
    ("bad_frames_not_counted", "does not count what it threw away", _board(NotCounted)),
    ("tag_not_checked", "takes any session's frames for its own", _board(TagNotChecked)),
    ("old_session_answered", "goes on with an older session beside the new one", _board(OldSessionAnswered)),
    ("hello_ends_session", "ends the running session at a HELLO", _board(HelloEndsSession)),
    ("hello_answers_differ", "answers the same HELLO with another number each time", _board(HelloAnswersDiffer)),
    ("session_number_constant", "brings the same number to every session", _board(NumbersNotFresh)),
    ("link_version_accepted", "shakes hands with a host of another link version", _board(VersionAccepted)),
    ("window_ignored", "sends as many frames as it likes", _board(WindowIgnored)),
    ("old_words_in_new_session", "says in a new session what was left of the old one", _board(OldWordsInNewSession)),
    ("bye_ignored", "does not know BYE", _board(ByeIgnored)),
    ("reset_not_said", "keeps silent to frames of a session that it does not know", _board(ResetNotSaid)),
    ("duplicates_delivered", "acts twice on a frame that comes twice", _board(DuplicatesDelivered)),
    ("out_of_order_delivered", "acts on a frame from ahead and forgets the one between", _board(OutOfOrder)),
    ("ack_of_the_last", "acknowledges with the number of the last frame, not of the next", _board(AckOfTheLast)),
    ("gap_not_asked_for", "does not ask for a frame that is missing", _board(GapNotAskedFor)),
    ("never_sent_again", "sends nothing again by itself", _board(NeverSentAgain)),
    ("rto_never_doubled", "repeats at the same pace for ever", _board(NeverDoubled)),
    ("repeated_frame_is_sample", "measures the round trip by frames that it sent twice", _board(RepeatedIsSample)),
    ("nak_not_answered", "does not send again at a NAK", _board(NakNotAnswered)),
    ("any_ack_counts", "takes any ack for one of what it has sent", _board(AnyAckCounts)),
    ("never_gives_up", "repeats for ever what nobody acknowledges", _board(NeverGivesUp)),
    ("unknown_message_kills_link", "ends the session at a message that it does not know", _board(UnknownKillsLink)),
    ("unknown_not_acknowledged", "does not acknowledge what it cannot read", _board(UnknownNotAcknowledged)),
    ("wrong_direction_accepted", "acts on messages that are the board's own", WrongWayBoard),
    ("length_not_checked", "reads a message that is too long", _board(LengthNotChecked)),
    ("no_heartbeat", "says nothing unless it is asked", _board(NoHeartbeat)),
    ("host_never_lost", "waits for its host for ever, motors running", _board(HostNeverLost)),
    ("host_lost_too_soon", "gives its host up after 0.4 s", _board(HostLostTooSoon)),
    ("silence_judged_late", "reads what has come before it asks how long nothing came", _board(ReadBeforeJudged)),
    ("noise_is_life", "takes noise for a sign of life", _board(NoiseIsLife)),
)
"""Name, what the board does, and the board."""
