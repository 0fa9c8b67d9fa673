"""A board on a pseudo-terminal, and drivers at it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from controller.hardware import Hardware
from controller.lines import Line
from engine import inputs
from tests.controller.board import Board
from tests.controller.hardware.rig import Daemon, Notes, Start


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    made = Board(tmp_path / "port")
    made.plug()
    yield made
    made.close()


@pytest.fixture
async def start(board: Board, tmp_path: Path) -> AsyncIterator[Start]:
    running: list[Daemon] = []

    def begin(notes: Notes, **options: Any) -> Daemon:
        line = Line(str(board.path), 115200, "test", tmp_path / "flights")
        hardware = Hardware([line], notes, lambda happened: tell(happened), **options)
        daemon = Daemon(line, hardware, asyncio.create_task(line.run()))

        def tell(happened: inputs.Input) -> None:
            daemon.heard.append(happened)
            daemon.fed.set()

        running.append(daemon)
        return daemon

    yield begin
    for daemon in running:
        await daemon.end()
