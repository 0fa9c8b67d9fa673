"""Whether the daemon's memory grows with what it has played: some hands at a whole table that reads its tiles, as the
soak plays them, without faults; and as many events as are asked for, by one daemon that is never started anew.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import linear_regression, median
from typing import Final

import click

from cli.benchmarks.rig import Rig
from cli.benchmarks.rows import Goal, Row, Unmeasurable

HANDS: Final = 30
EVENTS: Final = 10_000
FLAT: Final = Goal("at most", 1.1)
ENDLESS: Final = "from cli.benchmarks.endless import main; main()"
_TOLD: Final = 20
"""So often it is told how far it is."""

Sample = tuple[int, float]
"""Events stored, and the memory then in MB."""


def memory(folder: Path | None, events: int | None = None) -> list[Row]:
    """Resident memory in the last quarter of the events against that in the second; `events` asks for the long one."""
    if events is not None:
        return [endless(folder, events, ENDLESS)]
    return [_at_a_table(folder), endless(folder, EVENTS, ENDLESS)]


def endless(folder: Path | None, events: int, program: str) -> Row:
    """One daemon over so many events (`cli.benchmarks.endless`), its core fed as fast as it takes them."""
    samples: list[Sample] = []
    last = {"hands": 0, "journal": 0}
    with Rig(folder, autostart=False) as rig:
        command = [sys.executable, "-c", program, str(rig.config), str(events)]
        with rig.process(command, "endless", stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for line in process.stdout:
                last = json.loads(line)
                samples.append((last["n"], last["bytes"] / 1e6))
                if last["n"] * _TOLD // events > (samples[-2][0] if len(samples) > 1 else 0) * _TOLD // events:
                    click.echo(f"    {last['n']:,} events, {last['hands']:,} hands, {samples[-1][1]:.1f} MB", err=True)
            code = process.wait()
        if code or not samples or samples[-1][0] < events / 2:
            words = (rig.folder / "endless.log").read_text(encoding="utf-8", errors="replace").splitlines()
            raise Unmeasurable(f"the daemon ended with {code} at event {last.get('n', 0)}: {' '.join(words[-1:])}")
    about = f"{last['hands']:,} hands, journal at the end {last['journal'] / 1e6:.1f} MB"
    return flatness("memory of one daemon without a restart", samples, about)


def flatness(what: str, samples: Sequence[Sample], about: str) -> Row:
    """The row of samples in their order: the medians of the last and the second quarter, and how it climbs at last."""
    events = samples[-1][0]
    second = median(size for n, size in samples if events / 4 <= n < events / 2)
    last = median(size for n, size in samples if n >= 3 * events / 4)
    half = [one for one in samples if one[0] >= events / 2]
    slope = linear_regression([n / 100_000 for n, _ in half], [size for _, size in half]).slope
    detail = (
        f"{second:.1f} MB, then {last:.1f} MB; {slope:+.2f} MB for each 100,000 events of the second half; "
        f"{events:,} events, {about}"
    )
    return Row("growth", what, "the second quarter", last / second, FLAT, detail=detail)


def _at_a_table(folder: Path | None) -> Row:
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
    return flatness("memory of the daemon at the end", samples, f"{HANDS} hands at a table with its line")
