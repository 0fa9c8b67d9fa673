"""What a link tells and how it is set: events, errors, times and counts."""

from dataclasses import dataclass, field
from typing import Literal

from protocol.serial.frames import FrameErrorKind
from protocol.serial.messages import Message
from protocol.serial.wire import MessageError

LossReason = Literal["silence", "no_answer", "peer_restarted", "peer_reset", "peer_closed", "line", "closed"]


@dataclass(frozen=True, slots=True)
class LinkConfig:
    """Times in seconds, counts in frames or messages."""

    hello_interval: float = 0.25
    keepalive: float = 0.3
    host_silence: float = 2.0
    """The host declares the link lost after so long without a frame of the session."""
    mcu_silence: float = 1.0
    """The MCU declares its host lost, and stops its motors, after so long."""
    window: int = 8
    """Frames this side takes unacknowledged; the smaller of both sides' counts."""
    queue: int = 64
    """Messages that wait for their turn, beside those in flight."""
    patience: float = 4.0
    """How long the oldest frame may wait for its acknowledgement, however often it was sent again;
    then the link is given up."""


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """A session is up: numbering begins at 0, messages may be sent."""

    session: int


@dataclass(frozen=True, slots=True)
class Delivered:
    """One message of the peer, once and in order."""

    message: Message


@dataclass(frozen=True, slots=True)
class Undecodable:
    """A well-framed message that does not keep the catalogue: skipped, the link goes on."""

    error: MessageError


@dataclass(frozen=True, slots=True)
class LinkLost:
    """The session is over. ``undelivered`` messages given to ``send`` were not acknowledged and are forgotten.

    On the MCU this is the loss of the host: stop every motor. The host begins a new session by itself.
    """

    reason: LossReason
    undelivered: int


@dataclass(frozen=True, slots=True)
class VersionRefused:
    """The peer speaks another version of the link layer; ``words`` say which side must be updated."""

    peer_version: int
    words: str


LinkEvent = SessionStarted | Delivered | Undecodable | LinkLost | VersionRefused


class LinkDown(RuntimeError):
    """Nothing can be sent: no session is up."""


class LinkFull(RuntimeError):
    """Nothing more can be sent now: the queue is full."""


@dataclass(slots=True)
class LinkStats:
    """Counts since the link was made; round trip in seconds."""

    frames_in: int = 0
    frames_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    retransmits: int = 0
    naks_in: int = 0
    naks_out: int = 0
    duplicates: int = 0
    gaps: int = 0
    foreign: int = 0
    echoes: int = 0
    undecodable: int = 0
    sessions: int = 0
    losses: int = 0
    errors: dict[FrameErrorKind, int] = field(default_factory=dict)
    round_trip: float | None = None
    rto: float = 0.0
