"""From a dice frame readable on the serial line to the new state at a display, beside the barest program's way.

The board throws for E again and again and the dice always lean, so that every sample is a real throw of the same hand:
an operation's result comes in, is decided, journaled, and said to the seats. Floor and daemon take turns.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
import tty
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from cli.benchmarks.mqtt import Received
from cli.benchmarks.rig import PATIENCE_S, TABLE, Rig, data_of
from cli.benchmarks.rows import Goal, Row, Unmeasurable, percentile, written

WARM_UP: Final = 10
QUIET_S: Final = 0.012
"""Between samples: long enough for what still follows one sample to be done."""

_FRAME: Final = bytes(range(1, 39))
"""As long as the frame of a dice result."""

_WITHOUT_FSYNC: Final = """
from controller.journal import schema
schema.SYNCHRONOUS = "OFF"
from cli.main import main
main()
"""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of every sample."""

    floor: list[float]
    daemon: list[float]


def chain(folder: Path | None, samples: int) -> list[Row]:
    """The daemon's way against the floor's."""
    with Rig(folder, autostart=True) as rig, rig.daemon():
        times = _measure(rig, samples)
        size = _seat_view_size(rig)
        disk = _filesystem(rig.folder)
    ours, floor = median(times.daemon), median(times.floor)
    quick = percentile(times.daemon, 0.25) / percentile(times.floor, 0.25)
    spread = f"9 of 10 below {percentile(times.daemon, 0.9) * 1e3:.2f} and {percentile(times.floor, 0.9) * 1e3:.2f} ms"
    return [
        Row(
            "chain", "dice frame readable → new state at a display", "barest program: pty, fdatasync, QoS 1",
            ours / floor, Goal("at most", 3.5),
            detail=f"{ours * 1e3:.2f} ms against {floor * 1e3:.2f} ms; {spread}; "
            f"lower quartiles {written(quick)}×; {len(times.daemon)} throws, "
            f"{size} bytes a view, {disk}",
        )
    ]  # fmt: skip


def durability(folder: Path | None, samples: int) -> list[Row]:
    """The same way with every commit on the disk, against a daemon whose journal does not wait for it."""
    with _rigs(folder) as rigs:
        for rig in rigs:
            _to_the_throw(rig)
        taken: tuple[list[float], ...] = tuple([] for _ in rigs)
        for number in range(WARM_UP + samples):
            for rig, times in zip(rigs, taken, strict=True):
                seconds = _sample(rig)
                if number >= WARM_UP:
                    times.append(seconds)
    full, off = taken
    return [
        Row(
            "durability", "dice frame → new state, every commit on the disk", "ourselves with synchronous=OFF",
            median(full) / median(off), Goal("at most", 2.0), detail=_median_and_p99(full, off),
        )
    ]  # fmt: skip


def _median_and_p99(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """Medians and 99th percentiles of two lists of seconds, in words."""
    worst = percentile(ours, 0.99), percentile(theirs, 0.99)
    return (
        f"median {median(ours) * 1e3:.2f} ms against {median(theirs) * 1e3:.2f} ms, "
        f"p99 {worst[0] * 1e3:.2f} ms against {worst[1] * 1e3:.2f} ms; {len(ours)} samples"
    )


@contextlib.contextmanager
def _rigs(folder: Path | None) -> Iterator[tuple[Rig, Rig]]:
    with (
        Rig(folder, autostart=True) as full,
        Rig(folder, autostart=True) as off,
        full.daemon(),
        off.daemon(_WITHOUT_FSYNC),
    ):
        yield full, off


def _measure(rig: Rig, samples: int) -> Times:
    times = Times([], [])
    _to_the_throw(rig)
    with _floor(rig) as line:
        for number in range(WARM_UP + samples):
            floor, daemon = _floor_sample(rig, line), _sample(rig)
            if number >= WARM_UP:
                times.floor.append(floor)
                times.daemon.append(daemon)
    return times


def _to_the_throw(rig: Rig) -> None:
    """Through lifting and pushing in until the walls stand and E is asked to throw."""
    end = time.monotonic() + PATIENCE_S
    state = _hear_view(rig)
    while "roll" not in (wanted := _wanted(state)):
        if time.monotonic() > end:
            asked = ", ".join(sorted(wanted)) or "nothing"
            raise Unmeasurable(f"the match stays in the phase {state['phase']}, where {asked} is asked for")
        if wanted & {"lift", "push_in"}:
            rig.board.press("lift")
        state = _hear_view(rig)
    rig.rest(0.5)


def _sample(rig: Rig) -> float:
    """One throw: seconds from its result on the line to the view that asks E to throw again."""
    rig.board.press("dice")
    rig.wait(lambda: rig.board.throw is not None)
    rig.rest(QUIET_S)
    before = rig.board.dice_lie(None)
    after = rig.hear(lambda message: message.at >= before and _asks_to_throw(rig, message)).at
    rig.rest(QUIET_S)
    return after - before


def _asks_to_throw(rig: Rig, message: Received) -> bool:
    return message.topic == rig.topics.seat("E") and "roll" in _wanted(data_of(message))


def _hear_view(rig: Rig) -> dict[str, object]:
    return data_of(rig.hear(lambda message: message.topic == rig.topics.seat("E") and bool(message.payload)))


def _wanted(view: dict[str, object]) -> set[str]:
    me = view["me"]
    assert isinstance(me, dict)
    return {want["verb"] for want in me["wants"]}


@contextlib.contextmanager
def _floor(rig: Rig) -> Iterator[int]:
    """The barest program on a line of its own; the board's end of it."""
    line, slave = os.openpty()
    tty.setraw(slave)
    place = [str(rig.folder / "floor.journal"), rig.broker.host, str(rig.broker.port), TABLE, rig.topics.ledger]
    command = [sys.executable, "-m", "cli.benchmarks.floor", os.ttyname(slave), *place]
    try:
        with rig.process(command, "floor", stdin=subprocess.PIPE) as process:
            assert process.stdin is not None
            process.stdin.write(rig.broker.credentials[TABLE].encode() + b"\n")
            process.stdin.close()
            _await_sign(rig, line)
            os.write(line, f"{_seat_view_size(rig)}".encode())
            _await_sign(rig, line)
            yield line
    finally:
        os.close(line)
        os.close(slave)


def _await_sign(rig: Rig, line: int) -> None:
    """The floor says by one byte that it has come so far."""
    rig.wait(lambda: bool(select.select([line], [], [], 0)[0]))
    os.read(line, 1)


def _floor_sample(rig: Rig, line: int) -> float:
    before = time.monotonic()
    os.write(line, _FRAME)
    after = rig.hear(lambda message: message.topic == rig.topics.ledger).at
    rig.rest(QUIET_S)
    return after - before


def _seat_view_size(rig: Rig) -> int:
    """Bytes of the last view that the broker keeps for E."""
    reader = rig.client(f"{TABLE}-E", rig.topics.seat("E"))
    try:
        found = reader.messages()
    finally:
        reader.close()
    if not found:
        raise Unmeasurable("the broker keeps no view of seat E")
    return len(found[0].payload)


def _filesystem(folder: Path) -> str:
    """On what the journals lie: a file system in memory makes every commit free."""
    best, kind = "", "an unknown file system"
    for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        _, place, fstype, *_ = line.split()
        if str(folder.resolve()).startswith(place) and len(place) >= len(best):
            best, kind = place, fstype
    return kind
