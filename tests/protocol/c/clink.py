"""The C link behind the interface of `protocol.serial.link.Link`, so that the same tests can be asked of both."""

from __future__ import annotations

import ctypes
import functools
import math
import struct
from collections.abc import Callable
from typing import Any

from protocol.serial.declaration import TO_HOST
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
from protocol.serial.frames import LINK_VERSION
from protocol.serial.link import Link as PythonLink
from protocol.serial.messages import Message, MessageError, decode_message, direction_of, encode_message
from tests.protocol.c.building import library

REASONS: tuple[LossReason, ...] = ("silence", "no_answer", "peer_restarted", "peer_closed", "line", "closed")
NEVER = 0xFFFFFFFF
_COUNTS = (
    *("frames_in", "frames_out", "retransmits", "naks_in", "naks_out", "duplicates", "gaps", "foreign", "echoes"),
    *("undecodable", "sessions", "losses"),
)
_Random = ctypes.CFUNCTYPE(ctypes.c_uint32)


@functools.cache
def shared(cc: str = "gcc") -> ctypes.CDLL:
    """The shim, loaded."""
    loaded = ctypes.CDLL(str(library(cc)))
    loaded.shim_new.restype = loaded.operations_new.restype = ctypes.c_void_p
    for name in ("shim_log", "shim_outgoing"):
        getattr(loaded, name).restype = ctypes.c_size_t
    loaded.shim_wait.restype = ctypes.c_uint32
    return loaded


class CLink:
    """A board's link in C. Times are whole milliseconds within."""

    role = "mcu"

    def __init__(self, session_ids: Callable[[], int], config: LinkConfig | None = None) -> None:
        self.config = config or LinkConfig()
        self._c = shared()
        self._random = _Random(lambda: session_ids() & 0xFFFFFFFF)
        self._made = ctypes.c_void_p(self._c.shim_new(self._random, self.config.window))
        self._buffer = ctypes.create_string_buffer(1 << 16)
        self._now = 0
        self._zero = 0.0
        self._closed = False

    def __del__(self) -> None:
        self._c.shim_free(self._made)

    @property
    def connected(self) -> bool:
        return bool(self._c.shim_connected(self._made))

    @property
    def room(self) -> int:
        return self.config.queue - self._c.shim_queued(self._made) if self.connected else 0

    @property
    def stats(self) -> LinkStats:
        told = (ctypes.c_uint32 * 14)()
        self._c.shim_stats(self._made, told)
        stats = LinkStats(**dict(zip(_COUNTS, told, strict=False)))
        stats.rto = told[12] / 1000
        return stats

    def send(self, message: Message) -> None:
        payload = encode_message(message)
        if direction_of(message) != TO_HOST:
            assert not self._c.shim_send(self._made, payload, len(payload))
            raise MessageError("message", "one that a mcu sends", type(message).__name__)
        if not self.connected:
            assert not self._c.shim_send(self._made, payload, len(payload))
            raise LinkDown("the link has no session")
        if self.room == 0:
            raise LinkFull("full")
        assert self._c.shim_send(self._made, payload, len(payload))

    def receive(self, data: bytes, now: float) -> list[LinkEvent]:
        self._c.shim_receive(self._made, data, ctypes.c_size_t(len(data)), self._ms(now))
        return self._events()

    def tick(self, now: float) -> list[LinkEvent]:
        self._c.shim_tick(self._made, self._ms(now))
        return self._events()

    def outgoing(self, now: float, room: int = 4096) -> bytes:
        length = self._c.shim_outgoing(self._made, self._buffer, ctypes.c_size_t(room), self._ms(now))
        return self._buffer.raw[:length]

    def next_deadline(self) -> float | None:
        wait = self._c.shim_wait(self._made, ctypes.c_uint32(self._now & NEVER))
        return None if wait == NEVER else (self._now + wait) / 1000

    def line_lost(self) -> list[LinkEvent]:
        self._c.shim_line_lost(self._made)
        return self._events()

    def close(self) -> list[LinkEvent]:
        self._c.shim_close(self._made)
        return self._events()

    def _ms(self, now: float) -> ctypes.c_uint32:
        self._now = math.floor(now * 1000 + 1e-3)
        return ctypes.c_uint32(self._now & NEVER)

    def _events(self) -> list[LinkEvent]:
        length = self._c.shim_log(self._made, self._buffer)
        log, at, events = self._buffer.raw[:length], 0, []
        while at < length:
            kind, size = struct.unpack_from("<cH", log, at)
            events.append(_event(kind, log[at + 3 : at + 3 + size]))
            at += 3 + size
        return events


def _event(kind: bytes, data: bytes) -> LinkEvent:
    match kind:
        case b"s":
            return SessionStarted(int.from_bytes(data, "little"))
        case b"m":
            return Delivered(decode_message(data))
        case b"u":
            return Undecodable(MessageError("message", "a message", f"error {data[0]}"))
        case b"l":
            return LinkLost(REASONS[data[0]], int.from_bytes(data[1:], "little"))
    assert kind == b"v"
    what = "the board's firmware" if data[0] > LINK_VERSION else "the host's software"
    return VersionRefused(data[0], f"the peer speaks link version {data[0]}, this side {LINK_VERSION}: update {what}")


def make(role: str, session_ids: Callable[[], int], config: LinkConfig | None = None) -> Any:
    """In place of `Link`: the board's end in C, the host's in Python."""
    return CLink(session_ids, config) if role == "mcu" else PythonLink("host", session_ids, config)
