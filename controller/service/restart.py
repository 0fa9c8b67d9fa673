"""`restart`: the daemon ends, to be started anew, once nobody plays and nothing moves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

from protocol.mqtt.models import Command

LOOK_S: Final = 0.5

EXIT_CODE: Final = 75
"""With which the daemon leaves then: whoever runs it starts it again (`RestartForceExitStatus` of its unit)."""


class Restarter:
    """`at_leisure` says whether the daemon may go now. `begun` is set when it does."""

    def __init__(self, at_leisure: Callable[[], bool]) -> None:
        self.begun = asyncio.Event()
        self._at_leisure = at_leisure

    async def command(self, command: Command) -> Mapping[str, Any]:
        """Wait until the table is at leisure, however long a match lasts; returns when the restart begins."""
        while not self._at_leisure():
            await asyncio.sleep(LOOK_S)
        self.begun.set()
        return {}
