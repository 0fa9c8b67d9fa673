"""A page server at work, and a browser's means."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import aiomqtt

from controller.private_broker import PrivateBroker
from controller.settings import BrokerSettings, SerialSettings, Settings, TableSettings, WebSettings
from controller.web import WebServer
from protocol.mqtt.envelope import Envelope, encode
from protocol.mqtt.topics import Topics

TABLE = "hall-7"
TOPICS = Topics(TABLE)
DEVICE = "device-aaaaaaaaaaaa"
OTHER = "device-bbbbbbbbbbbb"


@dataclass
class Site:
    """A running page server and a browser's means."""

    server: WebServer
    broker: PrivateBroker
    http: aiohttp.ClientSession

    @property
    def port(self) -> int:
        return self.server.port

    @property
    def health_url(self) -> str:
        return f"http://127.0.0.1:{self.server.health_port}"

    async def post(self, path: str, body: object, **options: Any) -> tuple[int, dict[str, Any]]:
        async with self.http.post(self.server.url + path, json=body, **options) as answer:
            fields = await answer.json()
            assert answer.headers["Cache-Control"] == "no-store"
            return answer.status, fields

    async def pair(self, place: str, device: str = DEVICE, name: str = "tablet") -> dict[str, Any]:
        token = self.server.tokens.make(place)
        status, fields = await self.post("/pair", {"seat": place, "token": token, "device": device, "name": name})
        assert status == 200
        return fields

    def mqtt(self, user: str | None, password: str | None) -> aiomqtt.Client:
        """A client over the WebSocket bridge."""
        return aiomqtt.Client(
            "127.0.0.1", self.port, username=user, password=password, transport="websockets", websocket_path="/mqtt",
            timeout=3,
        )  # fmt: skip

    def table(self) -> aiomqtt.Client:
        """The table itself, straight at the broker."""
        return aiomqtt.Client(
            self.broker.host, self.broker.port, username=TABLE, password=self.broker.credentials[TABLE], timeout=3
        )


def settings_for(broker: PrivateBroker, state_dir: Path, **web: Any) -> Settings:
    return Settings(
        table=TableSettings(id=TABLE),
        serial=SerialSettings(ports=("/dev/null",)),
        broker=BrokerSettings(port=broker.port, credentials=broker.credentials_path, keepalive=1),
        web=WebSettings(listen="127.0.0.1:0", health_listen="127.0.0.1:0", state_dir=state_dir, **web),
    )


@contextlib.asynccontextmanager
async def serving(settings: Settings, broker: PrivateBroker) -> AsyncIterator[Site]:
    server = WebServer(settings)
    await server.start()
    running = asyncio.create_task(server.run())
    async with aiohttp.ClientSession() as http:
        try:
            async with asyncio.timeout(5):
                await server.session.wait_connected()
            yield Site(server, broker, http)
        finally:
            server.stop()
            async with asyncio.timeout(5):
                await running


def payload_of(message: aiomqtt.Message) -> bytes:
    assert isinstance(message.payload, bytes)
    return message.payload


async def until(true: Callable[[], bool], seconds: float = 5) -> None:
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.01)


def from_table(kind: Any, data: Mapping[str, Any]) -> bytes:
    return encode(
        Envelope(
            type=kind, table=TABLE, epoch=1, seq=0, id="1", ts=0, clock="unsynced", mono_ms=0, data=dict(data)
        )
    )  # fmt: skip
