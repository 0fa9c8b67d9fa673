"""The `kaijin` command: which sub-commands there are, each imported only when it is called."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command lives, as `module:attribute`, and its line in `kaijin --help`."""

    target: str
    help: str


COMMANDS: Mapping[str, Entry] = {
    "bench": Entry("cli.bench:bench", "Measure the chain from serial line to page."),
    "conform": Entry("cli.conform:conform", "Try a board against the serial contract."),
    "demo": Entry("cli.demo:demo", "Play hands on a simulated table, all parts together."),
    "doctor": Entry("cli.doctor:doctor", "Check settings, port, broker, clock, disk; say what to do."),
    "journal": Entry("cli.journal:journal", "Show the journal of a table."),
    "link": Entry("cli.link:link", "Speak to a table's hardware over its serial line."),
    "pair": Entry("cli.pair:pair", "Pair a display with a seat."),
    "park": Entry("cli.park:park", "Bring a table to rest before its power goes."),
    "replay": Entry("cli.replay:replay", "Give a recording of a table to a daemon again, and compare."),
    "rules": Entry("cli.rules:rules", "List, show and evaluate house rules."),
    "run": Entry("cli.run:run", "Run the daemon of one table."),
    "schema": Entry("cli.schema:schema", "Export the MQTT contract."),
    "service": Entry("cli.service:service", "Repair a table: sensors, motors, self-tests, faults."),
    "simulate": Entry("cli.simulate:simulate", "Simulate a table's hardware, or its players."),
    "soak": Entry("cli.soak:soak", "Play for hours under random faults, and check everything."),
    "support-bundle": Entry("cli.support_bundle:support_bundle", "Write one file for a repairer, without secrets."),
    "web": Entry("cli.web:web", "Serve the pages, and MQTT over WebSocket."),
}


class LazyGroup(click.Group):
    """A group whose commands stand in a table; `--help` and `--version` import none of them."""

    def __init__(self, *args: Any, table: Mapping[str, Entry], **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.table.get(cmd_name)
        return None if entry is None else _load(cmd_name, entry)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.table[name].help) for name in self.list_commands(ctx)])


@click.group(cls=LazyGroup, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="kaijin", prog_name="kaijin", message="%(prog)s %(version)s")
def kaijin() -> None:
    """Kaijin (开金), the controller of an automatic mahjong table."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code; expected errors are one line on standard error."""
    sys.exit(run_command(kaijin, arguments))


def run_command(command: click.Command, arguments: Sequence[str] | None = None) -> int:
    """The exit code of `command`: 130 when interrupted, 1 or 2 after an error that has been told."""
    try:
        outcome = command.main(
            args=None if arguments is None else list(arguments), prog_name="kaijin", standalone_mode=False
        )
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        _drop_stdout()
        return 1
    except OSError as error:
        click.echo(f"Error: {_told(error)}", err=True)
        return 1
    # click hands back the code of `ctx.exit()` as the outcome.
    return outcome if isinstance(outcome, int) else 0


def _load(name: str, entry: Entry) -> click.Command:
    module_name, _, attribute = entry.target.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name == module_name:
            raise click.ClickException(f"`kaijin {name}` is not part of this installation ({module_name})") from error
        raise click.ClickException(
            f"`kaijin {name}` needs the Python module {error.name!r}, which is not installed here"
        ) from error
    command = getattr(module, attribute, None)
    if not isinstance(command, click.Command):
        raise click.ClickException(f"`kaijin {name}` is broken in this installation: {entry.target} is no command")
    return command


def _told(error: OSError) -> str:
    if error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror


def _drop_stdout() -> None:
    """Nobody reads any more: keep the interpreter from complaining when it flushes at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    main()
