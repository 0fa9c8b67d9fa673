"""MQTT 3.1.1 over a plain socket, as little of it as a publisher and a subscriber need: nothing between it and time."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass

_CONNACK, _PUBLISH, _PUBACK, _SUBACK = 2, 3, 4, 9


class MqttError(Exception):
    """The broker refused, or closed the line."""


@dataclass(frozen=True, slots=True)
class Received:
    """A message, and when its last byte had been read, on the monotonic clock."""

    at: float
    topic: str
    payload: bytes


class Client:
    """A connection with a clean session and no keepalive. Blocking; `messages` reads what is there."""

    def __init__(self, host: str, port: int, user: str, password: str) -> None:
        self.socket = socket.create_connection((host, port), timeout=5.0)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray()
        self._next_id = 0
        self.socket.sendall(connect_packet(user, password))
        kind, body = self._next_packet()
        if kind >> 4 != _CONNACK or body[1] != 0:
            raise MqttError(f"the broker refused the user {user}")

    def subscribe(self, topic: str) -> None:
        """Subscribe with QoS 1."""
        self._next_id += 1
        self.socket.sendall(subscribe_packet(self._next_id, topic))
        kind, body = self._next_packet()
        if kind >> 4 != _SUBACK or body[2] > 1:
            raise MqttError(f"the broker refused the topic {topic}")

    def publish(self, topic: str, payload: bytes) -> None:
        """Publish with QoS 1; `settle` takes the broker's receipt."""
        self._next_id = self._next_id % 0xFFFF + 1
        self.socket.sendall(_packet(0x32, _text(topic) + self._next_id.to_bytes(2, "big") + payload))

    def settle(self) -> None:
        """Wait for the receipt of what was published last."""
        kind, _ = self._next_packet()
        if kind >> 4 != _PUBACK:
            raise MqttError(f"expected a receipt, got a packet of type {kind >> 4}")

    def messages(self) -> list[Received]:
        """The whole messages that have arrived, receipts sent; waits for bytes where there is none yet."""
        if whole_packet(self._buffer) is None:
            self._receive()
        at = time.monotonic()
        found = []
        for kind, body in self._packets():
            if kind >> 4 != _PUBLISH:
                continue
            size = int.from_bytes(body[:2], "big")
            topic, rest = body[2 : 2 + size].decode(), body[2 + size :]
            if kind & 0x06:
                self.socket.sendall(b"\x40\x02" + rest[:2])
                rest = rest[2:]
            found.append(Received(at, topic, rest))
        return found

    def close(self) -> None:
        """Say goodbye."""
        with contextlib.suppress(OSError):
            self.socket.sendall(b"\xe0\x00")
        self.socket.close()

    def _next_packet(self) -> tuple[int, bytes]:
        while True:
            for packet in self._packets():
                return packet
            self._receive()

    def _receive(self) -> None:
        data = self.socket.recv(65_536)
        if not data:
            raise MqttError("the broker closed the line")
        self._buffer += data

    def _packets(self) -> Iterator[tuple[int, bytes]]:
        while (found := whole_packet(self._buffer)) is not None:
            start, end = found
            packet = self._buffer[0], bytes(self._buffer[start:end])
            del self._buffer[:end]
            yield packet


def connect_packet(user: str, password: str, client_id: str = "", keepalive: int = 0) -> bytes:
    """CONNECT with a clean session."""
    words = b"".join(map(_text, (client_id, user, password)))
    return _packet(0x10, b"\x00\x04MQTT\x04\xc2" + keepalive.to_bytes(2, "big") + words)


def subscribe_packet(number: int, topic: str) -> bytes:
    """SUBSCRIBE to one topic with QoS 1."""
    return _packet(0x82, number.to_bytes(2, "big") + _text(topic) + b"\x01")


def whole_packet(buffer: bytearray) -> tuple[int, int] | None:
    """Where the body of the first packet begins and ends; None while it is not all there."""
    length, shift = 0, 0
    for place in range(1, min(len(buffer), 5)):
        length |= (buffer[place] & 0x7F) << shift
        shift += 7
        if not buffer[place] & 0x80:
            end = place + 1 + length
            return (place + 1, end) if end <= len(buffer) else None
    return None


def _packet(head: int, body: bytes) -> bytes:
    length, size = bytearray(), len(body)
    while True:
        size, low = size >> 7, size & 0x7F
        length.append(low | (0x80 if size else 0))
        if not size:
            return bytes((head,)) + bytes(length) + body


def _text(text: str) -> bytes:
    raw = text.encode()
    return len(raw).to_bytes(2, "big") + raw
