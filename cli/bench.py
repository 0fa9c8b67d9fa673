"""`kaijin bench`: every goal of docs/performance.md beside what is measured here and now."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from cli.benchmarks.rows import Row

BENCHMARKS: Final[Mapping[str, str]] = {
    "chain": "dice frame → state at a display, against the barest program",
    "durability": "the same with and without waiting for the disk",
    "growth": "bytes that a hand adds to the journal",
    "recovery": "start from a journal of so many hands",
    "start": "daemon started → ready, and its memory",
    "web": "memory of the page server",
    "frames": "serial frames encoded and decoded",
    "link": "serial messages delivered",
    "snapshot": "table state encoded",
    "hands": "hand shapes against the package mahjong",
    "opening": "hands opened by the engine alone",
    "play": "whole hands refereed against a bare loop",
    "table": "whole hands at a table that reads its tiles",
    "memory": "memory of the daemon over many hands",
}
_NAME, _VALUE, _GOAL = 58, 13, 10


@click.command()
@click.option(
    "--only", type=click.Choice(list(BENCHMARKS)), multiple=True, metavar="NAME",
    help=f"Run this one alone; may be given several times. One of {', '.join(BENCHMARKS)}.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
@click.option("--samples", type=click.IntRange(20, 100_000), default=200, show_default=True, help="Of the chain.")
@click.option(
    "--events", type=click.IntRange(1_000, 1_000_000_000),
    help="Of the memory: one daemon plays on until so many are stored; left out: some hands at a table, and 10,000.",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="End with 1 where a goal is missed, or something cannot be measured.")
@click.option(
    "--folder", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where the journals of the chain lie while it runs; left out: the folder for temporary files.",
)  # fmt: skip
def bench(
    only: tuple[str, ...], as_json: bool, samples: int, events: int | None, strict: bool, folder: Path | None
) -> None:
    """Measure, and print each goal beside what was measured.

    Every goal is a ratio of two things done in turn on this machine, so that it means the same on another one. A goal
    that is missed is marked, and what cannot be measured here says why; neither is an error unless --strict.
    """
    chosen = [name for name in BENCHMARKS if not only or name in only]
    rows: list[Row] = []
    if not as_json:
        click.echo(_line("what", "measured", "goal", ""))
    for name in chosen:
        if not as_json:
            click.echo(f"… {name}: {BENCHMARKS[name]}", err=True)
        for row in _measure(name, samples, folder, events):
            rows.append(row)
            if not as_json:
                click.echo("\n".join(_printed(row)))
    if as_json:
        click.echo(json.dumps({"rows": [_as_json(row) for row in rows]}, ensure_ascii=False))
    missed = [row for row in rows if row.met is False]
    absent = [row for row in rows if row.value is None]
    if not as_json:
        kept = sum(row.met is True for row in rows)
        click.echo(f"\ngoals reached: {kept}, missed: {len(missed)}; not measured: {len(absent)}")
    if strict and (missed or absent):
        click.get_current_context().exit(1)


def _measure(name: str, samples: int, folder: Path | None, events: int | None) -> Sequence[Row]:
    from cli.benchmarks.rows import Row, Unmeasurable

    try:
        return _program(name, samples, folder, events)()
    except Unmeasurable as lack:
        return [Row(name, BENCHMARKS[name], "", None, detail=str(lack))]
    except Exception as error:
        # One benchmark that breaks must not hide the others.
        return [Row(name, BENCHMARKS[name], "", None, detail=f"broke: {type(error).__name__}: {error}")]


def _program(name: str, samples: int, folder: Path | None, events: int | None) -> Callable[[], Sequence[Row]]:
    from cli.benchmarks import chain, hands, journal, memory, opening, play, processes, table, wires

    return {
        "chain": lambda: chain.chain(folder, samples),
        "durability": lambda: [*journal.commits(folder), *chain.durability(folder, samples)],
        "growth": lambda: journal.growth(folder),
        "recovery": lambda: journal.recovery(folder),
        "start": lambda: processes.start(folder),
        "web": lambda: processes.web(folder),
        "frames": wires.frames,
        "link": wires.link,
        "snapshot": wires.snapshot,
        "hands": hands.hands,
        "opening": opening.opening,
        "play": play.play,
        "table": table.table,
        "memory": lambda: memory.memory(folder, events),
    }[name]


def _printed(row: Row) -> Iterator[str]:
    mark = {True: "", False: "MISSED", None: ""}[row.met]
    goal = str(row.goal) if row.goal is not None else ""
    yield _line(row.what, row.measured, goal, mark)
    against = f"against {row.against}" if row.goal is not None and row.against else ""
    under = "; ".join(filter(None, (against, row.detail)))
    width = max(60, shutil.get_terminal_size().columns) - 4
    yield from textwrap.wrap(under, width, initial_indent="    ", subsequent_indent="    ")


def _line(what: str, measured: str, goal: str, mark: str) -> str:
    return f"{what:<{_NAME}}{measured:>{_VALUE}}  {goal:<{_GOAL}}{mark}".rstrip()


def _as_json(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "what": row.what,
        "against": row.against,
        "value": row.value,
        "unit": row.goal.unit if row.goal is not None else row.unit,
        "goal": None if row.goal is None else {"bound": row.goal.bound, "number": row.goal.number},
        "met": row.met,
        "detail": row.detail,
    }
