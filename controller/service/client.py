"""The repairer's end at the table's own broker: commands of service and their answers, and what is said live."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import aiomqtt
from pydantic_core import to_json

from controller.credentials import SERVICE, user_of
from controller.settings import Settings
from controller.startup import broker_address
from protocol.mqtt.envelope import Envelope, EnvelopeError, decode
from protocol.mqtt.topics import Topics

CLIENT: Final = "service"
"""The one name under which repairers are answered; who asked knows the answer by its id."""

ANSWER_S: Final = 6.0
TIMES_ASKED: Final = 6
LONG_S: Final = 120.0
"""A self-test of everything, or a jog, takes its time; a restart is only waited for until it is taken."""

_VALID_MS: Final = 10_000


class ServiceAway(Exception):
    """There is nobody to ask; the message says who is away and what to do."""


class ServiceRefused(Exception):
    """The table does not do it: its code and params."""

    def __init__(self, code: str, params: Mapping[str, Any], expected: str = "") -> None:
        super().__init__(f"{code} {expected}".strip())
        self.code = code
        self.params = dict(params)
        self.expected = expected


class ServiceClient:
    """One connection as the table's service user; `who` is told to the seats and kept."""

    def __init__(self, table: str, client: aiomqtt.Client, who: str) -> None:
        self.table = table
        self.availability = ""
        self.who = who
        self._topics = Topics(table)
        self._client = client
        self._clock: tuple[int, int, float] | None = None

    async def listen(self) -> None:
        """Hear how the table stands and what it answers."""
        topics = (self._topics.availability, self._topics.response(CLIENT), self._topics.service)
        await self._client.subscribe([(topic, 1) for topic in topics])
        for left in reversed(range(TIMES_ASKED)):
            try:
                # Moves nothing, so it may be asked again: a daemon that has just been started hears the next one.
                await self.ask("status", verb="status", wait_s=ANSWER_S / TIMES_ASKED)
                return
            except ServiceAway:
                if not left:
                    raise

    async def ask(
        self, action: str, verb: str = "service", enough: str = "done", wait_s: float = 0.0, **args: Any
    ) -> dict[str, Any]:
        """The result of an action, sent once. ServiceRefused with its code, ServiceAway when nobody answers."""
        id = f"{action}-{secrets.token_hex(8)}"
        body: dict[str, Any] = {"id": id, "client": CLIENT, "who": self.who, "args": {}}
        if verb == "service":
            body["args"] = {"action": action, **args}
        if self._clock is not None:
            epoch, mono_ms, heard_at = self._clock
            passed = int((asyncio.get_running_loop().time() - heard_at) * 1000)
            body |= {"epoch": epoch, "not_after_ms": mono_ms + passed + _VALID_MS}
        await self._client.publish(self._topics.command(verb), to_json(body), qos=1)
        usual = LONG_S if action in ("jog", "self_test") else ANSWER_S
        try:
            async with asyncio.timeout(wait_s or usual):
                return await self._answer(id, enough)
        except TimeoutError:
            stands = f" (its availability: {self.availability})" if self.availability else ""
            raise ServiceAway(f"the daemon of {self.table} does not answer{stands}; is `kaijin run` running?") from None

    async def live(self) -> AsyncIterator[dict[str, Any]]:
        """What the table says in service mode, as it comes; for ever."""
        async for message in self._client.messages:
            said = self._hear(message)
            if said is not None and said.type == "service":
                yield said.data

    async def _answer(self, id: str, enough: str) -> dict[str, Any]:
        async for message in self._client.messages:
            said = self._hear(message)
            if said is None or said.type != "response" or said.data["id"] != id:
                continue
            outcome = said.data["outcome"]
            if outcome in ("done", enough):
                return dict(said.data["result"])
            if outcome != "accepted":
                raise ServiceRefused(said.data["code"], said.data["params"], said.data["expected"])
        raise ServiceAway("the broker's messages have ended")

    def _hear(self, message: aiomqtt.Message) -> Envelope | None:
        if not isinstance(message.payload, bytes) or not message.payload:
            return None
        try:
            said = decode(message.payload)
        except EnvelopeError:
            return None
        if said.type == "availability":
            self.availability = said.data["state"]
        elif not message.retain:
            self._clock = (said.epoch, said.mono_ms, asyncio.get_running_loop().time())
        return said


@contextlib.asynccontextmanager
async def connected(settings: Settings, who: str) -> AsyncIterator[ServiceClient]:
    """A connection to the table of these settings; ServiceAway where the broker cannot be used."""
    address = broker_address(settings, user_of(settings.table.id, SERVICE))
    where = address.socket or f"{address.host}:{address.port}"
    try:
        async with address.client() as client:
            made = ServiceClient(settings.table.id, client, who)
            await made.listen()
            yield made
    except (aiomqtt.MqttError, OSError) as error:
        raise ServiceAway(f"the broker at {where} cannot be used: {error}") from None
