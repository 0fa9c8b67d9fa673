"""Displays of seats in the hands of a test: plain MQTT clients that read the own view and press.

Where a display holds a seat, its simulated person moves the tiles and leaves every press to it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import aiomqtt

from engine.tiles import SEATS
from tests.table.harness import WholeTable

BY_ANYBODY: Mapping[str, str] = {"start": "start", "lift": "lift", "roll": "roll", "seats": "ok"}
"""What is simply pressed where it is asked for."""


@dataclass
class Display:
    """One seat's display. `view` is the last one, `answers` what it has ever said to each press (without repeats)."""

    table: WholeTable
    seat: str
    view: Mapping[str, Any] = field(default_factory=dict)
    answers: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    epoch: int = 0
    _client: aiomqtt.Client | None = None
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def wants(self) -> list[Mapping[str, Any]]:
        """What is asked now."""
        return list(self.view["me"]["wants"]) if self.view else []

    def want(self, verb: str) -> Mapping[str, Any] | None:
        """The prompt of this verb; None where there is none."""
        return next((want for want in self.wants if want["verb"] == verb), None)

    async def press(self, want: Mapping[str, Any], action: str, id: str = "", **params: Any) -> str:
        """One press on a prompt; its id."""
        assert self._client is not None
        number = id or f"{self.seat}-{secrets.token_hex(6)}"
        body = {"id": number, "epoch": self.epoch, "want": want["id"], "action": action, "params": params}
        await self._client.publish(self.table.topics.seat_input(self.seat), json.dumps(body), qos=1)
        return number

    async def until(self, holds: Callable[[], bool], what: str, seconds: float = 30) -> None:
        """Wait until something holds; it is looked at after every view."""
        try:
            async with asyncio.timeout(seconds), self._changed:
                await self._changed.wait_for(holds)
        except TimeoutError:
            wants = [(want["verb"], want["id"]) for want in self.wants]
            raise AssertionError(f"{self.seat}: not within {seconds} s: {what}; asked {wants}") from None

    async def answered(self, number: str, seconds: float = 30) -> Mapping[str, Any]:
        """The answer to a press, once it is there."""
        await self.until(lambda: number in self.answers, f"an answer to {number}", seconds)
        return self.answers[number][0]

    async def read(self) -> None:
        """Read the seat's view for ever."""
        topics = self.table.topics
        async with self.table.client(self.seat) as client:
            await client.subscribe(topics.seat(self.seat), qos=1)
            self._client = client
            async for message in client.messages:
                if message.payload:
                    await self._show(json.loads(bytes(message.payload)))

    async def _show(self, envelope: Mapping[str, Any]) -> None:
        async with self._changed:
            self.epoch = envelope["epoch"]
            self.view = envelope["data"]
            for answer in self.view["me"]["answers"]:
                known = self.answers.setdefault(answer["id"], [])
                if answer not in known:
                    known.append(answer)
            self._changed.notify_all()


@contextlib.asynccontextmanager
async def seated(table: WholeTable, seats: str = "ESWN") -> AsyncIterator[dict[str, Display]]:
    """Displays that hold these seats while the block runs; the page server of the table must not run beside it."""
    displays = {seat: Display(table, seat) for seat in seats}
    reading = [asyncio.create_task(display.read()) for display in displays.values()]
    held = {seat: f"test {seat}" if seat in seats else None for seat in SEATS}
    try:
        async with table.client("web") as web:
            payload = json.dumps({**held, "view": None})
            await web.publish(table.topics.pairing("state"), payload, qos=1, retain=True)
        for display in displays.values():
            await display.until(lambda display=display: bool(display.view), "a view")  # type: ignore[misc]
            await display.until(
                lambda display=display: display.view["me"]["device"] is not None, "that it holds its seat"  # type: ignore[misc]
            )
        yield displays
    finally:
        for task in reading:
            task.cancel()
        for ended in await asyncio.gather(*reading, return_exceptions=True):
            if isinstance(ended, Exception):
                raise ended

