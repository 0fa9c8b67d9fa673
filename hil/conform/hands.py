"""Whose hands hold keys and open lids while a board is tried: nobody's, a person's, or those at a simulated table."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol

from hil.conform.requirement import Deed, Skipped
from simulators.channel import ActRefused, ChannelError, WorldClient
from simulators.table import SimulatedTable

FREEZE_S: Final = 1.6
"""A board is frozen for so long: longer than it waits for its host."""

SAID: Final[Mapping[Deed, str]] = {
    "reset": "reset the board (its button, or its power)",
    "open_lid": "open the lid",
    "close_lid": "close the lid",
    "press_stop": "press the stop button and leave it in",
    "release_stop": "turn the stop button out again",
    "turn_service": "hold the service key for more than 3 s, then let go",
    "hold_key": "hold the service key down, and keep holding it",
    "release_key": "let the service key go",
    "throw_unasked": "let the dice be thrown by the key at the table",
    "clear_felt": "push all tiles that lie on the felt into the centre",
    "press_lift": "press the lift key at the table for a moment",
}
"""What a person is asked to do; what is not here no hand can do."""


class Hands(Protocol):
    """What is done at the board itself."""

    def can(self, deed: Deed) -> bool: ...

    async def do(self, deed: Deed) -> None: ...


class NoHands:
    """Nobody is there."""

    def can(self, deed: Deed) -> bool:
        """Nothing."""
        return False

    async def do(self, deed: Deed) -> None:
        """Never called."""
        raise Skipped(f"nobody is there to {SAID.get(deed, deed)}")


class AskedHands:
    """A person at the board who is asked at the terminal. `ask` shows words and gives back once it was done."""

    def __init__(self, ask: Callable[[str], None]) -> None:
        self._ask = ask

    def can(self, deed: Deed) -> bool:
        """What a person can do."""
        return deed in SAID

    async def do(self, deed: Deed) -> None:
        """Ask, and wait for the answer; the session lives on meanwhile."""
        await asyncio.get_running_loop().run_in_executor(None, self._ask, SAID[deed])


_ACTS: Final[Mapping[Deed, tuple[Mapping[str, Any], ...]]] = {
    "reset": ({"act": "control", "verb": "reboot"},),
    "freeze": ({"act": "control", "verb": "freeze", "seconds": FREEZE_S},),
    "open_lid": ({"act": "control", "verb": "lid", "open": True},),
    "close_lid": ({"act": "control", "verb": "lid", "open": False},),
    "press_stop": ({"act": "control", "verb": "stop_button", "pressed": True},),
    "release_stop": ({"act": "control", "verb": "stop_button", "pressed": False},),
    "turn_service": ({"act": "press", "key": "service", "seat": "E", "held_ms": 3200},),
    "hold_key": ({"act": "hold", "key": "service", "seat": "E"},),
    "release_key": ({"act": "press", "key": "service", "seat": "E", "held_ms": 900},),
    "throw_unasked": ({"act": "press", "key": "dice", "seat": "E", "held_ms": 1600},),
    "lean_die": ({"act": "control", "verb": "cocked_dice"},),
    "clear_felt": tuple({"act": "push_in", "seat": seat} for seat in "ESWN"),
    "flip_tile": ({"act": "flip", "position": "E1t"},),
    "press_lift": ({"act": "press", "key": "lift", "seat": "E", "held_ms": 120},),
    "hide_centre": ({"act": "control", "verb": "stuck_sensor", "sensor": "centre_down", "on": False},),
    "show_centre": ({"act": "control", "verb": "heal"},),
}


class SimulatedHands:
    """The hands at a simulated table; `ask` carries out one request of its world channel (docs/simulators.md)."""

    def __init__(self, ask: Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]) -> None:
        self._ask = ask

    def can(self, deed: Deed) -> bool:
        """Everything."""
        return deed in _ACTS

    async def do(self, deed: Deed) -> None:
        """Do it; Skipped with the world's reason where it cannot be done now."""
        for request in _ACTS[deed]:
            answer = await self._ask(request)
            if not answer.get("ok"):
                raise Skipped(f"the simulated table did not let it be done: {answer.get('error')}")


def hands_in_memory(table: SimulatedTable) -> SimulatedHands:
    """The hands at a simulated table of this very process."""
    return SimulatedHands(table.act)


class WorldHands(SimulatedHands):
    """The hands at a simulated table that is reached over its world channel, PATH or HOST:PORT."""

    def __init__(self, address: str) -> None:
        super().__init__(self._over_the_channel)
        self._seen = asyncio.Event()
        self._client = WorldClient(address, None, lambda sight: self._seen.set())
        self._running: asyncio.Task[None] | None = None

    async def open(self) -> WorldHands:
        """Connect; ChannelError where there is no world."""
        self._running = asyncio.create_task(self._client.run())
        looked = asyncio.create_task(self._seen.wait())
        await asyncio.wait({self._running, looked}, return_when=asyncio.FIRST_COMPLETED)
        looked.cancel()
        if self._running.done():
            await self._running
        return self

    async def close(self) -> None:
        """Let go of the channel."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def _over_the_channel(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        words = {name: value for name, value in request.items() if name != "act"}
        try:
            return await self._client.act(str(request["act"]), **words)
        except ActRefused as refused:
            return {"ok": False, "error": str(refused)}
        except ChannelError as error:
            return {"ok": False, "error": str(error)}
