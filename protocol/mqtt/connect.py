"""The first packet of an MQTT connection, read and given another password: what the page server's bridge needs."""

from __future__ import annotations

from dataclasses import dataclass

MAX_CONNECT_BYTES = 8 * 1024

_WILL, _PASSWORD, _USERNAME = 0x04, 0x40, 0x80


class ConnectError(ValueError):
    """The first bytes of a connection are no MQTT CONNECT that this side understands."""


@dataclass(frozen=True, slots=True)
class Connect:
    """A CONNECT packet (MQTT 3.1.1 or 5): who it says it is. Its text form shows no password."""

    user: str | None
    password: bytes | None
    size: int
    _before: bytes
    _after: bytes

    def __repr__(self) -> str:
        return f"Connect(user={self.user!r}, size={self.size})"

    def with_password(self, password: str) -> bytes:
        """The packet anew, with this password in place of its own."""
        if self.password is None:
            raise ConnectError("a CONNECT without a password has none to replace")
        body = self._before + _string(password.encode()) + self._after
        return b"\x10" + _length(len(body)) + body


def parse_connect(buffer: bytes) -> Connect | None:
    """The CONNECT at the start of `buffer`, None while it is incomplete; ConnectError if there is none."""
    if not buffer:
        return None
    if buffer[0] != 0x10:
        raise ConnectError(f"first byte 0x{buffer[0]:02x}, expected a CONNECT (0x10)")
    header = _read_length(buffer, 1)
    if header is None:
        return None
    remaining, start = header
    end = start + remaining
    if end > MAX_CONNECT_BYTES:
        raise ConnectError(f"a CONNECT of {end} bytes, expected at most {MAX_CONNECT_BYTES}")
    if len(buffer) < end:
        return None
    return _parse_body(buffer[start:end], end)


def _parse_body(body: bytes, size: int) -> Connect:
    name, at = _field(body, 0)
    if name != b"MQTT" or at >= len(body) or body[at] not in (4, 5):
        raise ConnectError("expected MQTT 3.1.1 or 5")
    if at + 4 > len(body):
        raise ConnectError("the CONNECT ends too early")
    version, flags = body[at], body[at + 1]
    at = _past_properties(body, at + 4, version)
    _, at = _field(body, at)
    if flags & _WILL:
        at = _past_properties(body, at, version)
        _, at = _field(body, at)
        _, at = _field(body, at)
    user: str | None = None
    if flags & _USERNAME:
        raw, at = _field(body, at)
        try:
            user = raw.decode()
        except UnicodeDecodeError:
            raise ConnectError("the user name is not UTF-8") from None
    if not flags & _PASSWORD:
        return Connect(user, None, size, body, b"")
    password, after = _field(body, at)
    return Connect(user, password, size, body[:at], body[after:])


def _past_properties(body: bytes, at: int, version: int) -> int:
    if version < 5:
        return at
    header = _read_length(body, at)
    if header is None:
        raise ConnectError("the CONNECT ends too early")
    return header[0] + header[1]


def _field(body: bytes, at: int) -> tuple[bytes, int]:
    end = at + 2 + int.from_bytes(body[at : at + 2], "big")
    if at + 2 > len(body) or end > len(body):
        raise ConnectError("the CONNECT ends too early")
    return body[at + 2 : end], end


def _read_length(buffer: bytes, at: int) -> tuple[int, int] | None:
    """A variable byte integer at `at` and where it ends; None while it is incomplete."""
    value = 0
    for place in range(4):
        if at + place >= len(buffer):
            return None
        byte = buffer[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    raise ConnectError("a length of more than four bytes")


def _length(value: int) -> bytes:
    out = bytearray()
    while True:
        value, low = divmod(value, 128)
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def _string(text: bytes) -> bytes:
    return len(text).to_bytes(2, "big") + text
