"""Parking a table from beside its daemon: the parlor's `park` over the table's own broker, heard out to its end."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import aiomqtt
from pydantic_core import to_json

from controller.credentials import PARLOR
from controller.settings import Settings
from controller.startup import broker_address
from protocol.mqtt.envelope import EnvelopeError, decode
from protocol.mqtt.topics import Topics

TIMES_ASKED: Final = 6
ANSWER_S: Final = 1.0
"""How soon a daemon that lives answers; one that has just been started hears the next time."""

_VALID_MS: Final = 10_000
"""How long the command may travel; the daemon acts on none that comes later."""

_GONE: Final = ("offline", "lost")
_RESTING: Final = ("idle", "ended")


class ParkError(Exception):
    """There is nobody to park, or the table said no; the message says which."""


class NotInTime(ParkError):
    """The table took the word, and had not come to rest in the time given."""


async def park(settings: Settings, reason: str, wait_s: float) -> str:
    """Park the table, wait until it says that it is, and tell how it stands then.

    `reason` is `power`, `command` or `time`. Raises NotInTime or ParkError, and CredentialsError where the broker's
    users cannot be read.
    """

    async def word(table: _Table) -> str:
        before = await table.status()
        if table.availability == "parked":
            return f"{table.id} is parked already ({table.reason})"
        await table.order({"reason": reason})
        try:
            await table.until(lambda: table.availability == "parked", wait_s)
        except TimeoutError:
            phase = (await table.status())["phase"]
            raise NotInTime(f"{table.id} is not parked after {wait_s:g} s (phase {phase}); it still will be") from None
        kept = "" if before["phase"] in _RESTING else "; the match is kept"
        return f"{table.id} is parked ({table.reason}){kept}"

    return await _connected(settings, word)


async def unpark(settings: Settings) -> str:
    """Take back an order to park that has not been carried out; a table that was not to be parked is told as it stands.

    ParkError where the table is parked: it moves when somebody there says so. Otherwise raises as `park`.
    """

    async def word(table: _Table) -> str:
        await table.status()
        if table.availability == "parked":
            raise ParkError(
                f"{table.id} is parked ({table.reason}) and stays so: it goes on by a press at one of its seats, "
                "or with its service key held for 5 s"
            )
        await table.order({"on": False})
        return f"{table.id} is not parked ({table.availability}), and will not be"

    return await _connected(settings, word)


async def _connected(settings: Settings, word: Callable[[_Table], Awaitable[str]]) -> str:
    address = broker_address(settings, PARLOR)
    where = address.socket or f"{address.host}:{address.port}"
    try:
        async with address.client() as client:
            table = _Table(settings.table.id, client)
            await table.listen()
            return await word(table)
    except (aiomqtt.MqttError, OSError) as error:
        raise ParkError(f"the broker at {where} cannot be used: {error}") from None


class _Table:
    """How a table stands, as the parlor hears it."""

    def __init__(self, id: str, client: aiomqtt.Client) -> None:
        self.id = id
        self.availability = ""
        self.reason = ""
        self._topics = Topics(id)
        self._client = client
        self._name = f"park-{secrets.token_hex(8)}"
        self._epoch = 0
        self._mono_ms = 0
        self._answers: dict[str, dict[str, Any]] = {}

    async def listen(self) -> None:
        """Hear how it stands, and what it answers."""
        await self._client.subscribe([(self._topics.availability, 1), (self._topics.response(self._name), 1)])

    async def status(self) -> dict[str, Any]:
        """What the table says of itself; with it come epoch and clock, without which it takes no order."""
        said = await self._ask("status")
        self.availability = said["availability"]
        return said

    async def order(self, args: Mapping[str, Any]) -> None:
        """Say `park` with these arguments and hear that it is taken; call `status` before."""
        await self._ask("park", args=args, epoch=self._epoch, not_after_ms=self._mono_ms + _VALID_MS)

    async def until(self, holds: Callable[[], bool], seconds: float) -> None:
        """Hear what comes until something holds; TimeoutError when it takes longer, ParkError when the table goes."""
        async with asyncio.timeout(seconds):
            while not holds():
                self._hear(await anext(self._client.messages))
                if self.availability in _GONE:
                    raise ParkError(f"the daemon of {self.id} is not running ({self.availability}): nothing moves")

    async def _ask(self, verb: str, **more: Any) -> dict[str, Any]:
        """The result of a command, said until it is heard: the same id is carried out once."""
        id = f"{verb}-{secrets.token_hex(8)}"
        asked = to_json({"id": id, "client": self._name, "who": "kaijin park", **more})
        for _ in range(TIMES_ASKED):
            await self._client.publish(self._topics.command(verb), asked, qos=1)
            try:
                await self.until(lambda: self._answers.get(id, {}).get("outcome", "accepted") != "accepted", ANSWER_S)
            except TimeoutError:
                continue
            answer = self._answers[id]
            if answer["outcome"] != "done":
                raise ParkError(f"{self.id} does not do it: {verb} is {answer['outcome']}, {answer['code']}")
            return dict(answer["result"])
        stands = f" (its availability: {self.availability})" if self.availability else ""
        raise ParkError(f"the daemon of {self.id} does not answer{stands}")

    def _hear(self, message: aiomqtt.Message) -> None:
        if not isinstance(message.payload, bytes) or not message.payload:
            return
        try:
            said = decode(message.payload)
        except EnvelopeError:
            return
        if said.epoch < self._epoch:
            return  # the late will of an earlier run
        self._epoch = said.epoch
        if said.type == "availability":
            self.availability, self.reason = said.data["state"], said.data.get("reason", "")
        elif said.type == "response":
            self._mono_ms = said.mono_ms
            self._answers[said.data["id"]] = said.data
