"""The vectors of ``frames.json``: what lies on the line, and what a receiver finds in it."""

import struct
from binascii import crc_hqx
from typing import Any, Final

from cobs import cobs

from protocol.serial.frames import (
    DELIMITER,
    FRAME_LIMIT,
    LINK_VERSION,
    PAYLOAD_LIMIT,
    Frame,
    FrameDecoder,
    FrameError,
    FrameKind,
    Role,
    encode_frame,
)

_TAG: Final = 0x97C73135


def frames() -> list[dict[str, Any]]:
    """Good frames of every kind, everything that is none, noise before, and what a burst looks like."""
    found: list[dict[str, Any]] = []

    def add(name: str, line: bytes, meaning: str, *expected: str) -> None:
        finds = [told(item) for item in FrameDecoder().scan(line)]
        if expected and [find.split()[-1] if find.startswith("error") else "frame" for find in finds] != [*expected]:
            raise ValueError(f"{name}: expected {expected}, found {finds}")
        found.append({"name": name, "hex": line.hex(), "meaning": meaning, "finds": finds})

    good: dict[FrameKind, bytes] = {
        FrameKind.HELLO: b"\x08",
        FrameKind.HELLO_ACK: b"\x77\x0e\x5a\x8c\x08",
        FrameKind.DATA: b"\x02\x03\x00",
    }
    roles: tuple[Role, ...] = ("host", "mcu")
    for role in roles:
        for kind in FrameKind:
            frame = Frame(role, kind, _TAG, 5, 250, good.get(kind, b""))
            add(f"{kind.name} of the {role}", encode_frame(frame), "a good frame", "frame")
    ping = encode_frame(Frame("host", FrameKind.DATA, _TAG, 1, 2, b"\x02\x03\x00"))
    for size in (1, 229, PAYLOAD_LIMIT):
        for what, byte in (("zeros", b"\x00"), ("ones", b"\xff")):
            data = encode_frame(Frame("mcu", FrameKind.DATA, _TAG, 0, 0, byte * size))
            add(f"DATA of {size} bytes, all {what}", data, "a good frame", "frame")
    add("zeros everywhere", encode_frame(Frame("host", FrameKind.DATA, 0, 0, 0, bytes(9))), "a good frame", "frame")
    for kind in (FrameKind.HELLO, FrameKind.HELLO_ACK):
        for payload in (b"", b"\x01", bytes(PAYLOAD_LIMIT)):
            line = encode_frame(Frame("host", kind, _TAG, payload=payload, version=2))
            add(f"{kind.name} of version 2, {len(payload)} bytes", line, "its form is its version's own", "frame")

    add("nothing", b"", "no byte")
    add("zeros", bytes(5), "empty frames mean nothing")
    add("not ended", ping[:-1], "a frame ends with its zero")
    add("a burst", DELIMITER + ping + ping, "zeros between, one before", "frame", "frame")
    add("noise before", b"AT\r\r\n" + DELIMITER + ping, "the zero ends the noise", "cobs", "frame")
    add("noise joined", b"AT\r" + ping, "noise without a zero spoils the frame", "cobs")
    add("half a frame", ping[:6] + DELIMITER + ping, "a board that was reset in mid-frame", "cobs", "frame")
    add("cut in two by a zero", ping[:5] + DELIMITER + ping[5:], "both halves are none", "cobs", "cobs")

    for bit in range(8 * (len(ping) - 1)):
        flipped = bytearray(ping)
        flipped[bit // 8] ^= 1 << bit % 8
        add(f"bit {bit} flipped", bytes(flipped), "one bit of a good frame is wrong")
    add("bad check", _line(_body(2, b"\x02\x03\x00"), b"\x00\x00"), "the CRC is of something else", "crc")
    add("check of other end", _line(_body(2, b"\x02\x03\x00"), swapped=True), "the CRC big-endian", "crc")
    add("COBS runs beyond its end", b"\x09\x01\x02\x00", "a count that points behind the zero", "cobs")
    add("COBS 255 beyond its end", b"\xff" + b"\x01" * 253 + b"\x00", "one byte too few", "cobs")
    for size in (0, 1, 8):
        add(f"{size} bytes and COBS", cobs.encode(b"\x21" * size) + b"\x00", "shorter than any frame", "short")
    for size in (FRAME_LIMIT - 9 - PAYLOAD_LIMIT, 0):
        line = _line(_body(2, bytes((1,)) * (PAYLOAD_LIMIT + size)))
        what, error = ("the longest frame before COBS", "form") if size else ("the longest of DATA", "frame")
        add(f"payload of {PAYLOAD_LIMIT + size}", line, what, error)
    add("257 bytes", _line(_body(2, bytes((1,)) * (FRAME_LIMIT - 8))), "one more than a frame may have", "long")
    add("257 bytes full of zeros", _line(_body(2, bytes(FRAME_LIMIT - 8))), "the same in 258 bytes", "long")
    add("258 bytes on the line", b"\x01" * 258 + b"\x00", "257 bytes before COBS", "long")
    add("1000 bytes, then a frame", b"\x55" * 1000 + DELIMITER + ping, "thrown away to the next zero", "long", "frame")

    for number in (7,):
        add(f"kind {number}", _line(_body(number, b"")), "no such kind", "form")
        add(f"kind {number} with payload", _line(_body(number, b"\x01")), "no such kind", "form")
    for kind in FrameKind:
        for size in (0, 1, 4, 5):
            low, high = _range(kind)
            if not low <= size <= high:
                line = _line(_body(kind, bytes(size)))
                add(f"{kind.name} with {size} bytes", line, "a length that does not fit the kind", "form")
    for version in (0, 2, 15):
        line = _line(_body(2, b"\x02\x03\x00", version))
        add(f"DATA of version {version}", line, "another version in any kind but HELLO and HELLO_ACK", "form")
        add(f"ACK of version {version}", _line(_body(3, b"", version)), "another version", "form")
    return found


def told(item: Frame | FrameError) -> str:
    """What was found, in the words of ``frames.json``."""
    if isinstance(item, FrameError):
        return f"error {item.kind}"
    head = f"{item.sender} {item.kind.name} {item.version} {item.session:08x} {item.seq} {item.ack}"
    return f"{head} {item.payload.hex() or '-'}"


def _range(kind: FrameKind) -> tuple[int, int]:
    least = {FrameKind.HELLO: 1, FrameKind.DATA: 1, FrameKind.HELLO_ACK: 5}
    return (least[kind], PAYLOAD_LIMIT) if kind in least else (0, 0)


def _body(kind: int, payload: bytes, version: int = LINK_VERSION) -> bytes:
    return struct.pack("<BIBB", kind << 4 | version, _TAG, 5, 6) + payload


def _line(body: bytes, check: bytes | None = None, swapped: bool = False) -> bytes:
    crc = struct.pack(">H" if swapped else "<H", crc_hqx(body, 0xFFFF)) if check is None else check
    encoded: bytes = cobs.encode(body + crc)
    return encoded + DELIMITER
