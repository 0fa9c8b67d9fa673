"""A daemon that kills itself with SIGKILL at a write of its journal: `POINT:COUNT LOG` and then a `kaijin` command.

POINT is `twin` (before the twin is written), `before` (the commit) or `after` it; COUNT says at which write of this
process. Counted are the writes of play: those that carry events, and the notes of throws and pushes before they are
sent; with `:events` behind the count those with events alone. Each is written to LOG as `first event, point`, so that
what was tried is known from what was written.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from controller.journal import writing
from controller.journal.writing import Writer


def arm(spec: str, log: Path) -> None:
    """Let this process die at the point."""
    point, number, *which = spec.split(":")
    left = int(number)
    counted = False
    plain: Callable[..., Any] = Writer._transact

    def transact(self: Writer, work: Callable[[Any], Any], events: int) -> Any:
        nonlocal counted

        def watched(connection: Any) -> Any:
            nonlocal counted
            before = connection.execute("SELECT count(*), max(value) FROM meta WHERE key GLOB 'throw:*'").fetchone()
            result = work(connection)
            after = connection.execute("SELECT count(*), max(value) FROM meta WHERE key GLOB 'throw:*'").fetchone()
            counted = events > 0 or (before != after and which != ["events"])
            return result

        counted = False
        self_first = self.last_event + 1
        with log.open("a", encoding="ascii") as out:
            reached.place = f"{self_first} {events}"  # type: ignore[attr-defined]
            reached.out = out  # type: ignore[attr-defined]
            return plain(self, watched, events)

    def reached(now: str) -> None:
        nonlocal left
        if not counted or now != point:
            return
        left -= 1
        print(reached.place, now, "dies" if left == 0 else "goes on", file=reached.out, flush=True)  # type: ignore[attr-defined]
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    writing.reached = reached
    Writer._transact = transact  # type: ignore[method-assign]


if __name__ == "__main__":
    arm(sys.argv[1], Path(sys.argv[2]))
    sys.argv = ["kaijin", *sys.argv[3:]]
    from cli.main import main

    main()
