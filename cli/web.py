"""`kaijin web`: the pages and their bridge to the broker, as a process of its own."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from controller.web import WebServer

THREADS = 3


@click.command()
@click.option(
    "--config", type=click.Path(path_type=Path), default="/etc/kaijin/table.toml", show_default=True,
    help="The settings of the table.",
)  # fmt: skip
def web(config: Path) -> None:
    """Serve the pages of one table, and MQTT over WebSocket at /mqtt.

    Prints the address of the pages. Ends within 5 s of SIGTERM or Ctrl-C.
    """
    from controller.credentials import CredentialsError
    from controller.logs import configure_logging
    from controller.settings import SettingsError, load_settings
    from controller.web import WebServer

    try:
        settings = load_settings(config)
        configure_logging(settings.log.level, settings.log.format)
        server = WebServer(settings)
    except (SettingsError, CredentialsError) as error:
        raise click.ClickException(str(error)) from None
    asyncio.run(_serve(server))


async def _serve(server: WebServer) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from controller.memory import trim_memory
    from controller.notify import Notifier
    from controller.web import ListenError

    loop = asyncio.get_running_loop()
    # Threads open files and connect to the broker, both short; each costs memory for good.
    loop.set_default_executor(ThreadPoolExecutor(max_workers=THREADS))
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.stop)
    try:
        await server.start()
    except ListenError as error:
        raise click.ClickException(str(error)) from None
    trim_memory()
    click.echo(f"pages of table {server.table}: {server.url}")
    await server.run(Notifier())
