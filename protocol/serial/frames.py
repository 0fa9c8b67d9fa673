"""Frames on the line: COBS between zero delimiters, one header, CRC-16; of anything else nothing passes.

Before COBS a frame is ``header, session (u32), seq, ack, payload, crc (u16)``, little-endian. The header byte holds
the sender (bit 7: 1 is the MCU), the kind (bits 4–6) and the version of the link layer (bits 0–3).
"""

import struct
from binascii import crc_hqx
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, Literal

from cobs import cobs

Role = Literal["host", "mcu"]
FrameErrorKind = Literal["cobs", "crc", "short", "long", "form"]

LINK_VERSION: Final = 1
FRAME_LIMIT: Final = 256
"""Longest frame before COBS, header and check included."""
PAYLOAD_LIMIT: Final = 230
DELIMITER: Final = b"\x00"

_HEAD: Final = struct.Struct("<BIBB")
_CHECK: Final = struct.Struct("<H")
_CHECK_START: Final = 0xFFFF
_OVERHEAD: Final = _HEAD.size + _CHECK.size
_ENCODED_LIMIT: Final = FRAME_LIMIT + 2


class FrameKind(IntEnum):
    """What a frame is for. HELLO and HELLO_ACK keep place and form in every link version."""

    HELLO = 0
    HELLO_ACK = 1
    DATA = 2
    ACK = 3
    NAK = 4
    RESET = 5
    BYE = 6


_HANDSHAKE: Final = frozenset((FrameKind.HELLO, FrameKind.HELLO_ACK))
_PAYLOAD_RANGE: Final[dict[FrameKind, tuple[int, int]]] = {
    FrameKind.HELLO: (1, PAYLOAD_LIMIT),
    FrameKind.HELLO_ACK: (5, PAYLOAD_LIMIT),
    FrameKind.DATA: (1, PAYLOAD_LIMIT),
    FrameKind.ACK: (0, 0),
    FrameKind.NAK: (0, 0),
    FrameKind.RESET: (0, 0),
    FrameKind.BYE: (0, 0),
}


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame. ``seq`` is its own number (DATA) or the next to come (others); ``ack`` the next one expected."""

    sender: Role
    kind: FrameKind
    session: int
    seq: int = 0
    ack: int = 0
    payload: bytes = b""
    version: int = LINK_VERSION


@dataclass(frozen=True, slots=True)
class FrameError:
    """Bytes between two delimiters that are no frame."""

    kind: FrameErrorKind
    length: int


def encode_frame(frame: Frame) -> bytes:
    """The frame as it goes on the line, its closing delimiter included."""
    header = (0x80 if frame.sender == "mcu" else 0) | frame.kind << 4 | frame.version
    body = _HEAD.pack(header, frame.session, frame.seq, frame.ack) + frame.payload
    encoded: bytes = cobs.encode(body + _CHECK.pack(crc_hqx(body, _CHECK_START)))
    return encoded + DELIMITER


def decode_frame(encoded: bytes) -> Frame | FrameError:
    """What lies between two delimiters: a frame, or why it is none."""
    length = len(encoded)
    if length > _ENCODED_LIMIT:
        return FrameError("long", length)
    try:
        whole = cobs.decode(encoded)
    except cobs.DecodeError:
        return FrameError("cobs", length)
    if len(whole) < _OVERHEAD:
        return FrameError("short", length)
    if len(whole) > FRAME_LIMIT:
        return FrameError("long", length)
    body = whole[: -_CHECK.size]
    if crc_hqx(body, _CHECK_START) != _CHECK.unpack_from(whole, len(body))[0]:
        return FrameError("crc", length)
    header, session, seq, ack = _HEAD.unpack_from(body)
    payload = body[_HEAD.size :]
    try:
        kind = FrameKind(header >> 4 & 7)
    except ValueError:
        return FrameError("form", length)
    version = header & 0x0F
    low, high = _PAYLOAD_RANGE[kind]
    well_formed = low <= len(payload) <= high if version == LINK_VERSION else kind in _HANDSHAKE
    if not well_formed:
        return FrameError("form", length)
    return Frame("mcu" if header & 0x80 else "host", kind, session, seq, ack, payload, version)


@dataclass(slots=True)
class FrameDecoder:
    """Cuts the byte stream into frames; skips to the next delimiter after anything invalid and counts it by kind."""

    errors: dict[FrameErrorKind, int] = field(
        default_factory=lambda: {"cobs": 0, "crc": 0, "short": 0, "long": 0, "form": 0}
    )
    _buffer: bytearray = field(default_factory=bytearray)
    _overrun: bool = False

    def feed(self, data: bytes) -> list[Frame]:
        """The whole frames that these bytes complete."""
        return [item for item in self.scan(data) if isinstance(item, Frame)]

    def scan(self, data: bytes) -> Iterator[Frame | FrameError]:
        """Frames and errors in the order of the line. At most one encoded frame is ever kept."""
        pieces = data.split(DELIMITER)
        for piece in pieces[:-1]:
            self._keep(piece)
            item = self._cut()
            if item is not None:
                if isinstance(item, FrameError):
                    self.errors[item.kind] += 1
                yield item
        self._keep(pieces[-1])

    def reset(self) -> None:
        """Forget a half-read frame: the line was opened anew."""
        self._buffer.clear()
        self._overrun = False

    def _keep(self, piece: bytes) -> None:
        room = _ENCODED_LIMIT - len(self._buffer)
        if len(piece) > room:
            self._overrun = True
        self._buffer += piece[:room]

    def _cut(self) -> Frame | FrameError | None:
        encoded, overrun = bytes(self._buffer), self._overrun
        self.reset()
        if overrun:
            return FrameError("long", len(encoded))
        return decode_frame(encoded) if encoded else None
