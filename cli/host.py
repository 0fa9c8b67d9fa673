"""`kaijin simulate host`: the other side of a line, for who tests firmware: scripts, limits, and a record."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from hil.host.operator import Operator
    from hil.host.script import Script

FAILED, NOT_DONE = 1, 3
"""Exit codes: a limit was not kept; the run was stopped, or could not be made. 0: passed; 2: the call was wrong."""


@click.command()
@click.argument("port", required=False)
@click.argument("scripts", nargs=-1, metavar="SCRIPT…")
@click.option("--limits", "limits_file", type=click.Path(path_type=Path), help="TOML; its default: --show-limits.")
@click.option("--record", type=click.Path(path_type=Path, dir_okay=False), help="Write the record here, as JSON.")
@click.option("--world", metavar="PATH|HOST:PORT", help="A simulated table's world: its hands do what is asked.")
@click.option("--speed", default="1", show_default=True, metavar="FACTOR|max", help="The simulated table's speed.")
@click.option("--baud", default=115200, show_default=True, type=click.IntRange(1200, 4_000_000))
@click.option("--dialect", type=click.Choice(["example"]), help="The board speaks this dialect (docs/dialects.md).")
@click.option("--note", default="", help="The tester's own words for the record: bench, order, name.")
@click.option("--show-limits", is_flag=True, help="Write the limits out as TOML, and do nothing else.")
@click.option("--show-schema", is_flag=True, help="Write the JSON schema of a record, and do nothing else.")
@click.option("--list", "as_list", is_flag=True, help="The built-in scripts, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="The record as JSON on stdout, in the place of the text.")
def host(
    port: str | None,
    scripts: tuple[str, ...],
    limits_file: Path | None,
    record: Path | None,
    world: str | None,
    speed: str,
    baud: int,
    dialect: str | None,
    note: str,
    show_limits: bool,
    show_schema: bool,
    as_list: bool,
    as_json: bool,
) -> None:
    """Drive the board at PORT through scripts and write the record of an end-of-line test.

    SCRIPT is a built-in one such as dice or sort, a file such as my.toml, or either with words of its own:
    dice:times=200. The machine stands still afterwards, after Ctrl-C too; a second one latches an emergency stop.
    Exit code: 0 passed, 1 a limit was not kept, 2 the call was wrong, 3 stopped, or the board does not answer.
    """
    import structlog

    from controller.adapters import opener_for
    from controller.serial_port import SerialPortError
    from hil.host.limits import LimitsError, limits_toml, load_limits
    from hil.host.record import Record, as_text, write_record
    from hil.host.record import as_json as plain
    from hil.host.runner import BenchError, Run, run_scripts
    from hil.host.script import ScriptError, find_script, names
    from simulators.channel import ChannelError, split_address
    from simulators.pace import PaceError, parse_speed

    try:
        limits, factor = load_limits(limits_file), parse_speed(speed)
        if world is not None:
            split_address(world)
        if show_limits:
            click.echo(limits_toml(limits))
            return
        if show_schema:
            click.echo(json.dumps(Record.model_json_schema(), ensure_ascii=False, indent=1))
            return
        if as_list:
            for name in names():
                about = find_script(name).about
                click.echo(f"{name:<10} {about.says}")
            return
        if port is None or not scripts:
            raise click.UsageError("PORT and at least one SCRIPT are needed (--list)")
        found = [find_script(name) for name in scripts]
    except (LimitsError, ScriptError, PaceError, ChannelError) as error:
        raise click.UsageError(str(error)) from None
    if record is not None and not record.absolute().parent.is_dir():
        raise click.UsageError(f"--record {record}: there is no folder {record.absolute().parent}")
    run = Run(
        port=port,
        baud=baud,
        scripts=found,
        limits=limits,
        limits_from="default" if limits_file is None else str(limits_file),
        operator=_operator(world, found),
        speed=factor,
        note=note,
        opener=opener_for(dialect or ""),
    )
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    try:
        done = asyncio.run(run_scripts(run, lambda words: click.echo(words, err=True), signals=True))
    except (BenchError, SerialPortError) as error:
        raise _NotDone(str(error)) from None
    click.echo(json.dumps(plain(done), ensure_ascii=False) if as_json else as_text(done))
    if record is not None:
        try:
            write_record(done, record)
        except OSError as error:
            raise _NotDone(f"--record {record}: cannot be written: {error.strerror or error}") from None
    sys.exit({"pass": 0, "fail": FAILED, "stopped": NOT_DONE}[done.verdict])


class _NotDone(click.ClickException):
    exit_code = NOT_DONE


def _operator(world: str | None, scripts: list[Script]) -> Operator:
    """Whose hands there are; UsageError where a script needs some and there are none."""
    from hil.host.operator import Nobody, Person, SimulatedHands
    from hil.host.script import every
    from hil.host.steps import needs_operator

    if world is not None:
        return SimulatedHands(world)
    if sys.stdin.isatty():
        return Person()
    for script in scripts:
        if any(needs_operator(step) for step in every(script.steps)):
            raise click.UsageError(
                f"{script.name} needs somebody at the table: call it in a terminal, or name a simulated one's --world"
            )
    return Nobody()
