"""A hardware driver over one line, and the wants that tests give it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from controller.hardware import Hardware
from controller.lines import Line
from engine import inputs
from engine.state import WantId
from engine.wants import Want
from protocol.serial import messages as serial


class Notes:
    """What outlives a daemon, in memory."""

    def __init__(self) -> None:
        self.journal_id = 0xABC
        self.values: dict[str, str] = {}

    def meta(self, key: str, default: str = "") -> str:
        return self.values.get(key, default)

    async def note(self, values: Mapping[str, str | None], *, on_disk: bool = False) -> None:
        for key, value in values.items():
            if value is None:
                self.values.pop(key, None)
            else:
                self.values[key] = value


@dataclass
class Daemon:
    """A driver over one line, as one run of the daemon has it."""

    line: Line
    hardware: Hardware
    task: asyncio.Task[None]
    heard: list[inputs.Input] = field(default_factory=list)
    fed: asyncio.Event = field(default_factory=asyncio.Event)

    def of(self, kind: type[Any]) -> list[Any]:
        return [happened for happened in self.heard if isinstance(happened, kind)]

    async def until(self, kind: type[Any], count: int = 1) -> Any:
        """The first input of a kind, once there are so many."""
        async with asyncio.timeout(10):
            while len(self.of(kind)) < count:
                self.fed.clear()
                await self.fed.wait()
        return self.of(kind)[0]

    async def heard_out(self) -> None:
        """Wait until what the driver was about to ask has been asked, and all that the board has said has arrived."""
        async with asyncio.timeout(10):
            while not self.line.ready:
                await asyncio.sleep(0.01)
            for _ in range(3):
                await self.line.request(serial.StatusQuery, serial.Status, 5)

    async def end(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        await self.hardware.close()


Start = Callable[..., Daemon]


ROLL = Want(WantId(3, "dice_roll", 1), "operation", "dice_roll", params={"purpose": "deal"})
RAISE = Want(WantId(3, "centre_raise"), "operation", "centre_raise")
PRESENT = Want(
    WantId(3, "present_group", 1), "operation", "present_group",
    params={"side": "E", "first": 3, "count": 4, "seat": "S"},
)  # fmt: skip
CLEAR = Want(WantId(3, "clear_stop", 0, 1), "operation", "clear_stop")
SORT = Want(WantId(3, "sort", 1), "operation", "sort", params={"set": 1})
