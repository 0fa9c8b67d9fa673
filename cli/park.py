"""`kaijin park`: bring a table to rest before its power goes, or take that back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

WAIT_S = 90
"""Longer than any cycle of the machine: a sort is at fault after 60 s, an open centre closes after 30 s."""


class Late(click.ClickException):
    """The table took the word, and had not come to rest in time."""

    exit_code = 3


@click.command()
@click.option(
    "--config", type=click.Path(path_type=Path), default="/etc/kaijin/table.toml", show_default=True,
    help="The settings of the table.",
)  # fmt: skip
@click.option(
    "--wait", type=click.IntRange(1, 600), default=WAIT_S, show_default=True, metavar="SECONDS",
    help="How long it may take the table to come to rest.",
)  # fmt: skip
@click.option(
    "--reason", type=click.Choice(["power", "command", "time"]), default="command", show_default=True,
    help="What the displays say about it: the power is going, somebody said so, time is up.",
)  # fmt: skip
@click.option(
    "--unpark", is_flag=True, help="Take back an order to park instead. A parked table goes on by a press at a seat."
)
def park(config: Path, wait: int, reason: str, unpark: bool) -> None:
    """Finish what the machine does, close the centre, park the table and keep its match.

    Asks the running daemon over the table's broker and returns when it says that the table is parked. The exit code is
    1 where there is nobody to ask or the answer is no, 3 where it takes longer than --wait.
    """
    from controller import parking
    from controller.credentials import CredentialsError
    from controller.settings import SettingsError, load_settings

    try:
        settings = load_settings(config)
        done = parking.unpark(settings) if unpark else parking.park(settings, reason, wait)
        click.echo(asyncio.run(done))
    except parking.NotInTime as late:
        raise Late(str(late)) from None
    except (SettingsError, CredentialsError, parking.ParkError) as wrong:
        raise click.ClickException(str(wrong)) from None
