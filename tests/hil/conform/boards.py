"""The suite against boards in memory, on a clock that jumps: minutes of a table in a second."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from typing import Any

from engine.ruleset import load_ruleset
from hil.conform.hands import Hands, NoHands, hands_in_memory
from hil.conform.runner import Options, Report, run_suite
from hil.conform.virtual import MemoryEndpoint, run_virtual
from simulators.assumptions import default_assumptions
from simulators.dice_unit import DiceMechanisms, DiceUnit
from simulators.mcu import Board
from simulators.mechanisms import Build
from simulators.pace import Pace
from simulators.port import MemoryPort
from simulators.table import SimulatedTable, TableConfig
from simulators.world import World

RULES = load_ruleset("new-xiamen-120")
GEAR = (120, (15, 15, 15, 15))
FULLEST: dict[str, Any] = {"sensing": "full", "aid": "present"}
"""The table at which every profile is claimed."""


def usual(**changes: Any) -> Options:
    """Everything is tried unless told otherwise."""
    return Options(**{"moves": True, "provoke": True, "gear": GEAR, **changes})


def conform(options: Options | None = None, hands: Hands | None = None, **config: Any) -> Report:
    """The suite at a simulated table of this configuration."""

    async def main() -> Report:
        port = MemoryPort()
        with tempfile.TemporaryDirectory() as folder:
            usually = {"faces": RULES.faces(), "world": f"{folder}/world", "port": port, "seed": 7, "cocked": 0.0}
            async with SimulatedTable(TableConfig(**{**usually, **config})) as table:
                return await run_suite(MemoryEndpoint(port), options or usual(), hands or hands_in_memory(table))

    return run_virtual(main)


def with_a_latched_stop(options: Options) -> Report:
    """The suite at a table whose stop button was pressed and turned out again."""

    async def main() -> Report:
        port = MemoryPort()
        with tempfile.TemporaryDirectory() as folder:
            config = TableConfig(faces=RULES.faces(), world=f"{folder}/world", port=port)
            async with SimulatedTable(config) as table:
                table.mcu.press_stop()
                table.mcu.release_stop()
                return await run_suite(MemoryEndpoint(port), options)

    return run_virtual(main)


class NoBoard:
    """A port at which no board is: what is written is thrown away, or comes back."""

    def __init__(self, echoes: bool) -> None:
        self.name = "nobody"
        self._echoes = echoes
        self._on_data: Callable[[bytes], None] = lambda data: None

    def attach(self, on_data: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        self._on_data = on_data

    def write(self, data: bytes) -> None:
        if self._echoes:
            asyncio.get_running_loop().call_later(0.001, self._on_data, data)

    def close(self) -> None:
        self._on_data = lambda data: None


def conform_nobody(echoes: bool) -> Report:
    """The suite where nobody answers."""
    return run_virtual(lambda: run_suite(NoBoard(echoes), Options()))


def conform_dice_unit(options: Options, **build: Any) -> Report:
    """The suite at a dice unit that is a board of its own."""

    async def main() -> Report:
        port, pace = MemoryPort(), Pace(1)
        world = World(faces=RULES.faces(), seed=7)
        unit = DiceUnit(DiceMechanisms(world, Build(**build), default_assumptions(), pace), Board("D-1"), port)
        world.notify = unit.noticed
        await unit.start()
        try:
            return await run_suite(MemoryEndpoint(port), options, NoHands())
        finally:
            await unit.stop()

    return run_virtual(main)


def why(report: Report) -> str:
    """What failed, and why, for the message of a test."""
    return "\n".join(
        f"{result.requirement.number}: expected {result.expected}; seen {result.seen}" for result in report.of("fail")
    )
