"""One run: the scripts on the board at a port, the record of it, and a machine that stands still afterwards."""

from __future__ import annotations

import asyncio
import signal
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from controller.clock import SystemClock
from controller.lines import host_name
from controller.recording.port import Opener
from controller.serial_port import open_port
from controller.startup import kaijin_version
from hil.host.bench import Bench, BenchError
from hil.host.limits import Between, Limits
from hil.host.measure import at_most, info, within
from hil.host.operator import Operator
from hil.host.record import BoardRecord, Record, ScriptRecord, StepRecord
from hil.host.script import Script
from hil.host.steps import Steps


@dataclass(frozen=True, slots=True)
class Run:
    """What is to be done. `speed` of a simulated table, None for `max`; `note` is the tester's own words."""

    port: str
    baud: int
    scripts: Sequence[Script]
    limits: Limits
    limits_from: str
    operator: Operator
    speed: float | None = 1.0
    note: str = ""
    opener: Opener = open_port


async def run_scripts(run: Run, tell: Callable[[str], None], signals: bool = False) -> Record:
    """Run all scripts; the record, whole or of what was done. BenchError where the board does not answer at first.

    Cancelling it stops the machine safely and gives the record of what was measured. `signals`: SIGINT and SIGTERM do
    that, and a second one latches an emergency stop at once.
    """
    clock = SystemClock()
    with tempfile.TemporaryDirectory(prefix="kaijin-host-") as folder:
        async with Bench(run.port, run.baud, Path(folder), run.opener) as bench:
            record = _begun(run, bench, clock)
            work = asyncio.create_task(_all(run, bench, record, tell), name="scripts")
            stopping = _Signals(bench, work, signals)
            try:
                complete = await _finished(work, record)
                record.left = await asyncio.shield(asyncio.ensure_future(bench.make_safe()))
            finally:
                stopping.end()
            _line(record, bench, run.limits)
            record.board.boot_ids = [f"{boot:08x}" for boot in bench.boot_ids]
            record.ended = _utc(clock)
            record.judge(complete)
            return record


async def _finished(work: asyncio.Task[None], record: Record) -> bool:
    """Whether all scripts were done; if not, the record says why."""
    try:
        await asyncio.wait({work})
    except asyncio.CancelledError:
        work.cancel()
        await asyncio.wait({work})
    if work.cancelled():
        record.reasons.append("stopped before its end")
        return False
    error = work.exception()
    if isinstance(error, BenchError):
        record.reasons.append(str(error))
        return False
    if error is not None:
        raise error
    return True


class _Signals:
    """The first signal stops politely, the second at once."""

    def __init__(self, bench: Bench, work: asyncio.Task[None], wanted: bool) -> None:
        self._bench = bench
        self._work = work
        self._heard = 0
        self._numbers = (signal.SIGINT, signal.SIGTERM) if wanted else ()
        self._urgent: asyncio.Task[None] | None = None
        for number in self._numbers:
            asyncio.get_running_loop().add_signal_handler(number, self._hear)

    def _hear(self) -> None:
        self._heard += 1
        self._work.cancel()
        if self._heard > 1 and self._urgent is None:
            self._urgent = asyncio.create_task(self._bench.emergency("the end-of-line test was stopped"))

    def end(self) -> None:
        """Signals do again what they did."""
        for number in self._numbers:
            asyncio.get_running_loop().remove_signal_handler(number)


async def _all(run: Run, bench: Bench, record: Record, tell: Callable[[str], None]) -> None:
    steps = Steps(bench, run.limits, run.operator, run.speed, tell)
    for script in run.scripts:
        done = ScriptRecord(name=script.name, title=script.about.title)
        record.scripts.append(done)
        tell(script.about.title)
        for step in script.steps:
            await steps.do(step, done.steps)


def _begun(run: Run, bench: Bench, clock: SystemClock) -> Record:
    identity = bench.identity
    assert identity is not None
    return Record(
        begun=_utc(clock),
        clock=clock.stamp().clock,
        host=host_name(kaijin_version()),
        port=run.port,
        speed=run.speed if run.speed is not None else "max",
        operator=run.operator.name,
        note=run.note,
        board=BoardRecord(
            model=identity.model,
            firmware=identity.firmware,
            serial_number=identity.serial_number,
            protocol=identity.protocol,
            capabilities=asdict(identity.capabilities),
            gear={"tiles": identity.gear_tiles, "stacks": list(identity.stacks)},
            boot_ids=[],
        ),
        limits=run.limits.model_dump(mode="json"),
        limits_from=run.limits_from,
    )


def _line(record: Record, bench: Bench, limits: Limits) -> None:
    """What the line itself was like over the whole run."""
    stats, step = bench.line.stats, StepRecord(do="line")
    sent = max(1, stats.frames_out)
    step.measurements = [
        at_most("sessions lost", bench.losses, limits.line.losses),
        at_most("boots meanwhile", len(bench.boot_ids) - 1, limits.line.boots),
        within("frames sent again", round(stats.retransmits / sent, 5), "", Between(max=limits.line.retransmits)),
        info("frames in", stats.frames_in),
        info("frames out", stats.frames_out),
        info("bad frames", sum(stats.errors.values())),
        info("messages that keep no contract", stats.undecodable),
        info("round trip", None if stats.round_trip is None else round(1000 * stats.round_trip, 2), "ms"),
    ]
    step.judge()
    record.line = step


def _utc(clock: SystemClock) -> str:
    stamp = datetime.fromtimestamp(clock.stamp().ts / 1000, UTC)
    return stamp.strftime("%Y-%m-%dT%H:%M:%SZ")


__all__ = ["BenchError", "Run", "run_scripts"]
