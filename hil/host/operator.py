"""Who does what a board cannot do to itself: a person who is told, simulated hands, or nobody."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from protocol.serial.faults import FAULTS
from protocol.serial.vocabulary import FaultCode
from simulators.channel import SIGHT_LIMIT, ActRefused, split_address

Deed = Literal["press", "hold", "let_go", "push_in", "service", "provoke", "undo"]


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done at the table. `key` and `seat` of a key, `code` and `side` of a fault."""

    deed: Deed
    key: str = ""
    seat: str = ""
    code: FaultCode | None = None
    side: str = ""


class Operator(Protocol):
    """Somebody at the table. `name` stands in the record."""

    name: str

    async def do(self, task: Task) -> None:
        """See to it that it is done; returns when it is, or, where the board will tell, when it was asked for."""

    async def sees(self, question: str) -> bool | None:
        """Whether it is so; None where nobody can look."""


class Absent(RuntimeError):
    """There is nobody who could do this."""


PROVOKE: Final[dict[FaultCode, tuple[str, str]]] = {
    "sort_timeout": ("hold a tile back at the feed mouth", "let go of the tile"),
    "side_short": ("take a tile of side {side} out of the sorter", "put it back"),
    "side_long": ("add a tile to side {side}", "take it out"),
    "head_jam": ("wedge a tile into the feed head of side {side}", "take it out"),
    "single_tile_push": ("take the upper tile off a stack of side {side}", "put it back"),
    "push_incomplete": ("block the pusher of side {side} with a soft wedge", "take the wedge out"),
    "wall_not_home": ("unplug the home switch of the lift of side {side}", "plug it in again"),
    "centre_limit_missing": ("unplug both end switches of the centre", "plug them in again"),
    "eye_dirty": ("cover the eye of side {side} with tracing paper", "take the paper away"),
    "sets_mixed": ("put a tile of the other back among those inside", "take it out again"),
    "tile_left_out": ("leave a tile on the felt sensor", "take it away"),
    "gear_mismatch": ("put two tiles too many in", "take them out"),
    "dice_stuck": ("wedge the dice plate", "take the wedge out"),
    "dice_ambiguous": ("cover the dice reader", "take the cover away"),
    "key_stuck": ("hold the seat key of {side} down", "let go of it"),
    "motor_overheat": ("warm the motor's thermistor", "let it cool"),
    "motor_stall": ("block the shaft of the centre's motor with the test wedge", "take the wedge out"),
    "brown_out": ("lower the supply to 18 V", "raise it to 24 V again"),
    "lid_open": ("open the lid", "close the lid"),
    "reader_blind": ("unplug the antenna of side {side}", "plug it in again"),
    "link_lost": ("", ""),
    "firmware_mismatch": ("", ""),
}
"""How each fault is provoked at a bench, and how that is ended."""

Exercise = Literal["sort", "dice", "centre", "walls"]
EXERCISE: Final[dict[FaultCode, Exercise]] = {
    **dict.fromkeys(
        ("sort_timeout", "side_short", "side_long", "head_jam", "single_tile_push", "push_incomplete", "sets_mixed",
         "gear_mismatch"), "sort",
    ),
    **dict.fromkeys(("dice_stuck", "dice_ambiguous"), "dice"),
    **dict.fromkeys(("centre_limit_missing", "motor_stall"), "centre"),
    "wall_not_home": "walls",
}  # fmt: skip
"""Faults that a board finds as it moves, and what must move: somebody prepares it, and presses Enter with hands off."""


def told(task: Task) -> str:
    """What a person reads."""
    where = f" of seat {task.seat}" if task.seat else ""
    match task.deed:
        case "press":
            return f"press the {task.key} key{where}"
        case "hold":
            return f"hold the {task.key} key{where} down until told otherwise"
        case "let_go":
            return f"let go of the {task.key} key{where}"
        case "push_in":
            return "push every tile into the centre"
        case "service":
            return "hold the service key for three seconds, then let go of it"
        case "provoke" | "undo":
            assert task.code is not None
            return PROVOKE[task.code][task.deed == "undo"].format(side=task.side or "E")


class Nobody:
    """A bench without people."""

    name = "nobody"

    async def do(self, task: Task) -> None:
        """Absent, always."""
        raise Absent(f"nobody is there to {told(task)}")

    async def sees(self, question: str) -> bool | None:
        """Nobody looks."""
        return None


class Person:
    """Somebody at a terminal: told on stderr, answers by a line on stdin."""

    name = "a person"

    def __init__(self) -> None:
        self._typed = b""

    async def do(self, task: Task) -> None:
        """Ask for it; where no board tells that it was done, wait for Enter."""
        self._say(told(task))
        if task.deed == "push_in" or task.code in EXERCISE:
            self._say("then press Enter" + ("" if task.code is None else ", hands off: it moves"))
            await self._line()

    async def sees(self, question: str) -> bool | None:
        """Ask, and take y, n, or Enter for neither."""
        self._say(f"{question} [y/n]")
        answer = (await self._line()).strip().lower()[:1]
        return {"y": True, "n": False}.get(answer)

    @staticmethod
    def _say(words: str) -> None:
        print(f">> {words}", file=sys.stderr, flush=True)

    async def _line(self) -> str:
        """A line of stdin, without a thread that would outlive a Ctrl-C; what was typed ahead is taken first."""
        loop, number = asyncio.get_running_loop(), sys.stdin.fileno()
        while b"\n" not in self._typed:
            ready = asyncio.Event()
            loop.add_reader(number, ready.set)
            try:
                await ready.wait()
            finally:
                loop.remove_reader(number)
            more = os.read(number, 1024)
            if not more:
                raise Absent("nobody answers any more: the terminal was closed")
            self._typed += more
        line, _, self._typed = self._typed.partition(b"\n")
        return line.decode(errors="replace")


class SimulatedHands:
    """The hands at a simulated table, over its world channel. They cannot see lamps."""

    name = "simulated hands"

    def __init__(self, world: str) -> None:
        self._world = world

    async def do(self, task: Task) -> None:
        """Do it; Absent where the world does not let it happen."""
        try:
            await self._do(task)
        except (ActRefused, OSError) as error:
            raise Absent(f"{told(task)}: {error}") from None

    async def sees(self, question: str) -> bool | None:
        """Nobody looks."""
        return None

    async def _do(self, task: Task) -> None:
        seat = task.seat or "E"
        match task.deed:
            case "press":
                await self._act("press", seat=seat, key=task.key, held_ms=80)
            case "hold":
                await self._act("hold", seat=seat, key=task.key)
            case "let_go":
                await self._act("press", seat=seat, key=task.key, held_ms=1000)
            case "push_in":
                for side in ("E", "S", "W", "N"):
                    await self._act("push_in", seat=side)
            case "service":
                await self._act("press", seat=seat, key="service", held_ms=3100)
            case "provoke" | "undo":
                await self._fault(task)

    async def _fault(self, task: Task) -> None:
        assert task.code is not None
        undone = task.deed == "undo"
        if task.code == "lid_open":
            await self._act("control", verb="lid", open=not undone)
            return
        side = (task.side or "E") if FAULTS[task.code].sided else ""
        words = {"cleared": True} if undone else {"severity": FAULTS[task.code].severity}
        await self._act("control", verb="fault", code=task.code, side=side, **words)

    async def _act(self, act: str, **words: Any) -> None:
        host, port, path = split_address(self._world)
        if path is not None:
            reader, writer = await asyncio.open_unix_connection(path, limit=SIGHT_LIMIT)
        else:
            reader, writer = await asyncio.open_connection(host, port, limit=SIGHT_LIMIT)
        try:
            writer.write(json.dumps({"id": 1, "act": act, **words}).encode() + b"\n")
            line = await reader.readline()
        finally:
            writer.close()
        answer = json.loads(line) if line else {"error": "the world was closed"}
        if not answer.get("ok"):
            raise ActRefused(str(answer.get("error", "")))
