"""Whether the daemon's memory grows with what it has played: whole hands at a table that reads its tiles, as the soak
plays them, without faults.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from statistics import median
from typing import Final

from cli.benchmarks.rows import Goal, Row, Unmeasurable

HANDS: Final = 30
FLAT: Final = Goal("at most", 1.1)


def memory(folder: Path | None) -> list[Row]:
    """Resident memory in the last quarter of the events against that in the second."""
    from cli.soaking.book import Wrong
    from cli.soaking.stage import Plan, Stage
    from controller.private_broker import BrokerError, find_mosquitto

    try:
        find_mosquitto()
    except BrokerError as error:
        raise Unmeasurable(str(error)) from None
    with tempfile.TemporaryDirectory(prefix="kaijin-", dir=folder) as place:
        stage = Stage(Plan("new-xiamen-120", "full", HANDS, 1, (), False), Path(place), lambda line: None)
        try:
            asyncio.run(stage.play(asyncio.Event()))
        except Wrong as error:
            raise Unmeasurable(f"the soak that is measured went wrong: {error}") from None
    samples = [(n, size / 1e6) for n, size in stage.tally.memory if size]
    events = samples[-1][0]
    second = median(size for n, size in samples if events / 4 <= n < events / 2)
    last = median(size for n, size in samples if n >= 3 * events / 4)
    detail = f"{second:.1f} MB, then {last:.1f} MB; {HANDS} hands, {events} events"
    return [Row("growth", "memory of the daemon at the end", "the second quarter", last / second, FLAT, detail=detail)]
