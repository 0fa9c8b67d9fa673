"""Play on and on with one daemon that nobody stops: the process whose memory `cli.benchmarks.memory` looks at.

`python -m cli.benchmarks.endless CONFIG EVENTS` runs the daemon of CONFIG with its journal, ledger, views and broker as
ever, in this one process. People of the engine feed its core as fast as it takes their inputs, match after match; what
they think, and what they remember of it, is in a process of its own. No board is on the line. Each sample is a JSON
line on stdout, `{"n", "bytes", "hands", "journal"}`: events stored, resident memory, hands begun, bytes of the journal.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from cli.benchmarks.people import People
from cli.benchmarks.rig import resident_mb
from controller.clock import SystemClock
from controller.core import Core
from controller.daemon import Daemon
from controller.logs import configure_logging
from controller.notify import Notifier
from controller.settings import load_settings
from controller.startup import broker_address, start
from engine import inputs as i
from engine.play import Action, PlayState
from engine.ruleset import load_ruleset
from engine.state import State
from simulators import brain

RULES: Final = "new-xiamen-120"
HANDS_A_MATCH: Final = 16
SAMPLES: Final = 400
PATIENCE: Final = 0.001
"""Timers run so slowly that none goes off by itself: the people let them elapse."""


class Players(People):
    """People whose every input goes through a daemon's core: what a seat presses is answered, the rest is asked."""

    def __init__(self, core: Core, loop: asyncio.AbstractEventLoop, minds: Executor) -> None:
        self._core = core
        self._loop = loop
        self._minds = minds
        self._pressed = 0
        super().__init__(RULES, HANDS_A_MATCH, 7, self._thought)

    def _thought(self, state: PlayState, seat: str, found: tuple[Action, ...], chance: random.Random) -> Action:
        if len(found) == 1:
            return found[0]
        known = (state.deal.gold, state.seats[seat].hand, len(state.discards), found, state.tile)
        return self._minds.submit(_think, known, chance.random()).result()

    def again(self) -> None:
        """The next match, by the same people."""
        self._feed(i.StartMatch(rules=RULES, sensing="full", dice="read", sets=("sorted", "felt"), hands=HANDS_A_MATCH))

    def _feed(self, happened: i.Input) -> None:
        self.inputs += 1
        self._loop.run_until_complete(self._said(happened))
        self.state = self._core.state

    async def _said(self, happened: i.Input) -> None:
        if isinstance(happened, i.SeatAction):
            self._pressed += 1
            self._core.seat_says(happened.seat, f"press-{self._pressed}", happened)
            await self._core.beat()
            answer = self._core.answers.shown()[happened.seat][-1]
            if not answer["ok"]:
                raise RuntimeError(f"{happened} was refused: {answer}")
            return
        await self._core.ask(happened)


def _think(known: tuple[Any, ...], chance: float) -> Action:
    return brain.choose(brain.Knowledge(load_ruleset(RULES), *known), random.Random(chance))


class Evenings:
    """A daemon in this process, and those who play at it until so many events are stored."""

    def __init__(self, config: Path, events: int, say: Callable[[Mapping[str, int]], None]) -> None:
        self._config = config
        self._events = events
        self._say = say
        self._every = max(1, events // SAMPLES)
        self._told_at = 0

    def run(self) -> None:
        """Play. RuntimeError when the daemon has ended, or refused what may not be refused."""
        with asyncio.Runner() as runner:
            daemon = runner.run(self._begun())
            loop = runner.get_loop()
            work = loop.create_task(daemon.run())
            try:
                with ProcessPoolExecutor(1, get_context("spawn")) as minds:
                    self._play(daemon, work, Players(daemon._core, loop, minds))
            finally:
                daemon.stop()
                loop.run_until_complete(asyncio.wait({work}, timeout=10))

    async def _begun(self) -> Daemon:
        settings, clock = load_settings(self._config), SystemClock()
        slow = settings.timing.model_copy(update={"speed": PATIENCE, "people_speed": PATIENCE})
        settings = settings.model_copy(update={"timing": slow})
        address = broker_address(settings, settings.broker_user)
        return Daemon(settings, await start(settings, address, False), address, clock, Notifier())

    def _play(self, daemon: Daemon, work: asyncio.Task[None], players: Players) -> None:
        while True:
            players.play(lambda state: self._left(daemon, work, state))
            if daemon._journal.last_event >= self._events:
                return
            players.again()

    def _left(self, daemon: Daemon, work: asyncio.Task[None], state: State) -> bool:
        """Whether this match is to be left. The hub takes what was said of the ledger, and all is told where due."""
        if work.done():
            work.result()
            raise RuntimeError("the daemon has ended")
        n = daemon._journal.last_event
        if n - self._told_at >= self._every:
            self._told_at = n
            acknowledged = {"journal": daemon._ledger._id, "number": daemon._ledger._said_up_to}
            daemon._ledger.hear(json.dumps(acknowledged).encode())
            size = daemon._journal.path.stat().st_size
            self._say({"n": n, "bytes": round(resident_mb(os.getpid()) * 1e6), "hands": state.hand, "journal": size})
        return state.phase == "ended" or n >= self._events


def main() -> None:
    """The program."""
    config, events = sys.argv[1:]
    configure_logging("warning", "json")
    sys.setswitchinterval(0.0002)
    Evenings(Path(config), int(events), lambda sample: print(json.dumps(sample), flush=True)).run()


if __name__ == "__main__":
    main()
