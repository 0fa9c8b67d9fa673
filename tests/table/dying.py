"""A daemon that kills itself with SIGKILL at a write of its journal: `POINT:COUNT LOG` and then a `kaijin` command.

POINT is `twin` (before the twin is written), `before` (the commit) or `after` it; COUNT says at which write of this
process. Counted are the writes of play: those that carry events, and the notes of throws and pushes before they are
sent. With `:events` behind the count those with events alone; with `:all` every transaction there is (what was learned,
snapshots, what leaves, how the ledger stands, the epoch …) and every file that takes its place beside the journal (its
twin, its epoch), of which `twin` and `before` are the same point. Each is written to LOG as `first event, how many
events, what, point, what became of the daemon`, so that what was tried is known from what was written.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from controller.journal import writing
from controller.journal.writing import Writer

_ONCE = "SELECT count(*), max(value) FROM meta WHERE key GLOB 'throw:*' OR key GLOB 'sent:*'"
_BESIDE = (".epoch", ".twin", ".stale")


class Death:
    """Counts the writes of this process and ends it at one of them."""

    def __init__(self, spec: str, log: Path) -> None:
        self.point, number, *which = spec.split(":")
        self.left = int(number)
        self.which = which[0] if which else "play"
        self.log = log

    def at(self, now: str, place: str) -> None:
        """A counted write has come to a point."""
        if now != self.point:
            return
        self.left -= 1
        with self.log.open("a", encoding="ascii") as out:
            print(place, now, "dies" if self.left == 0 else "goes-on", file=out, flush=True)
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def what_is(work: Callable[..., Any]) -> str:
    """A name for a transaction, from the function that does it."""
    plain = work.func if isinstance(work, partial) else work
    name = plain.__qualname__.replace(".<locals>", "")
    if isinstance(work, partial) and "values" in work.keywords:
        return f"{name}:{'+'.join(sorted({key.partition(':')[0] for key in work.keywords['values']}))}"
    return f"{name}:{plain.__code__.co_names[0]}" if name.endswith("<lambda>") else name


def arm(spec: str, log: Path) -> None:
    """Let this process die at the point."""
    death = Death(spec, log)
    place = ""
    plain: Callable[..., Any] = Writer._transact
    put: Callable[..., None] = os.replace

    def transact(self: Writer, work: Callable[[Any], Any], events: int) -> Any:
        nonlocal place

        def watched(connection: Any) -> Any:
            nonlocal place
            before = connection.execute(_ONCE).fetchone()
            result = work(connection)
            noted = before != connection.execute(_ONCE).fetchone() and death.which != "events"
            if events or noted or death.which == "all":
                place = f"{first} {events} {what_is(work)}"
            return result

        place, first = "", self.last_event + 1
        return plain(self, watched, events)

    def reached(now: str) -> None:
        if place:
            death.at(now, place)

    def replace(source: Any, target: Any, **more: Any) -> None:
        counted = death.which == "all" and str(target).endswith(_BESIDE)
        if counted:
            death.at("before" if death.point == "before" else "twin", f"0 0 file:{Path(target).suffix}")
        put(source, target, **more)
        if counted:
            death.at("after", f"0 0 file:{Path(target).suffix}")

    writing.reached = reached
    Writer._transact = transact  # type: ignore[method-assign]
    os.replace = replace


if __name__ == "__main__":
    arm(sys.argv[1], Path(sys.argv[2]))
    sys.argv = ["kaijin", *sys.argv[3:]]
    from cli.main import main

    main()
