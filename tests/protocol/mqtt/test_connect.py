"""The CONNECT packet: read, given another password, and never mistaken; compared with what a real client writes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.mqtt.connect import ConnectError, parse_connect

TEXT = st.text(st.characters(blacklist_categories=("Cs",)), max_size=30)


def packet(
    user: str | None, password: str | None, *, version: int = 4, will: bytes | None = None, properties: bytes = b""
) -> bytes:
    """A CONNECT written from the standard's text."""

    def field(text: bytes) -> bytes:
        return len(text).to_bytes(2, "big") + text

    flags = 0x02 | (0x04 if will is not None else 0) | (0x80 if user is not None else 0)
    flags |= 0x40 if password is not None else 0
    with_properties = bytes((len(properties),)) + properties if version == 5 else b""
    body = field(b"MQTT") + bytes((version, flags, 0, 60)) + with_properties + field(b"display-1")
    if will is not None:
        body += (b"\x00" if version == 5 else b"") + field(b"a/topic") + field(will)
    for text in (user, password):
        if text is not None:
            body += field(text.encode())
    length, left = b"", len(body)
    while True:
        left, low = divmod(left, 128)
        length += bytes((low | (0x80 if left else 0),))
        if not left:
            return b"\x10" + length + body


@given(
    user=TEXT,
    password=TEXT,
    other=TEXT,
    version=st.sampled_from([4, 5]),
    will=st.none() | st.binary(max_size=300),
    rest=st.binary(max_size=20),
)
def test_another_password_changes_nothing_else(
    user: str, password: str, other: str, version: int, will: bytes | None, rest: bytes
) -> None:
    properties = b"\x21\x00\x14" if version == 5 else b""
    written = packet(user, password, version=version, will=will, properties=properties)
    connect = parse_connect(written + rest)
    assert connect is not None
    assert (connect.user, connect.password, connect.size) == (user, password.encode(), len(written))
    assert connect.with_password(other) == packet(user, other, version=version, will=will, properties=properties)


@given(st.integers(min_value=0))
def test_a_piece_of_a_packet_is_incomplete(cut: int) -> None:
    written = packet("hall-7-E", "secret", will=b"x" * 200)
    assert parse_connect(written[: cut % len(written)]) is None


def test_without_a_user_there_is_nothing_to_replace() -> None:
    connect = parse_connect(packet(None, None))
    assert connect is not None and connect.user is None and connect.password is None
    with pytest.raises(ConnectError):
        connect.with_password("x")


def test_the_text_form_shows_no_password() -> None:
    assert "secret" not in repr(parse_connect(packet("hall-7-E", "secret")))


@given(st.binary(max_size=80))
def test_any_bytes_are_incomplete_refused_or_a_packet(noise: bytes) -> None:
    for buffer in (noise, b"\x10" + noise, packet("u", "p")[:14] + noise):
        try:
            connect = parse_connect(buffer)
        except ConnectError as error:
            assert str(error)
        else:
            assert connect is None or connect.size <= len(buffer)


@pytest.mark.parametrize(
    "nonsense",
    [b"\x20\x02\x00\x00", b"GET /", b"\x10\xff\xff\x7f", b"\x10\xff\xff\xff\xff", b"\x10\x02\x00\x00", b"\x10\x00"],
)
def test_what_is_no_connect_is_refused_at_once(nonsense: bytes) -> None:
    with pytest.raises(ConnectError, match=r"expected|ends too early|more than four"):
        parse_connect(nonsense)


def test_older_protocols_are_refused() -> None:
    with pytest.raises(ConnectError, match=r"expected MQTT 3\.1\.1 or 5"):
        parse_connect(packet("u", "p", version=3))
