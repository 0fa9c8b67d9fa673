"""Where a table's broker is and as whom one connects to it."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import aiomqtt

from controller.broker_client import PromptClient

CONNECT_S: Final = 3.0
MOST_IN_FLIGHT: Final = 32

_quiet = logging.getLogger("kaijin.mqtt")
_quiet.addHandler(logging.NullHandler())
_quiet.propagate = False


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """Where the broker is and as whom to connect; `keepalive` in seconds. A socket replaces host and port."""

    host: str = "127.0.0.1"
    port: int = 1883
    socket: Path | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    keepalive: int = 2

    def client(
        self, will: aiomqtt.Will | None = None, protocol: aiomqtt.ProtocolVersion = aiomqtt.ProtocolVersion.V311
    ) -> PromptClient:
        """A client for one connection, under a random client id: two with the same id would throw each other off."""
        options: list[tuple[int, int, int | bytes] | tuple[int, int, None, int]] = []
        if self.socket is None:
            options.append((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1))
        client = PromptClient(
            hostname=str(self.socket) if self.socket is not None else self.host,
            port=self.port if self.socket is None else 1,
            transport="unix" if self.socket is not None else "tcp",
            username=self.user,
            password=self.password,
            identifier=f"kaijin-{secrets.token_hex(8)}",
            will=will,
            protocol=protocol,
            timeout=CONNECT_S,
            keepalive=self.keepalive,
            max_inflight_messages=MOST_IN_FLIGHT,
            socket_options=options,
            logger=_quiet,
        )
        client.give_up_connecting_after(CONNECT_S)
        return client


async def read_retained(address: BrokerAddress, topic: str) -> bytes | None:
    """The retained content of `topic`, None where there is none. Raises aiomqtt.MqttError where there is no broker."""
    async with address.client() as client:
        # Retained content is sent before the answer to a later subscription.
        await client.subscribe(topic, qos=0)
        await client.subscribe(topic + "/none", qos=0)
        try:
            message = await asyncio.wait_for(anext(client.messages), 0.3)
        except TimeoutError:
            return None
        return payload_bytes(message.payload) or None


def payload_bytes(payload: object) -> bytes:
    """What a message brings, as the bytes that were sent."""
    return bytes(payload) if isinstance(payload, bytes | bytearray) else str(payload).encode()
