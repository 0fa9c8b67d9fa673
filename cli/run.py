"""`kaijin run`: the daemon of one table."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from controller.settings import Settings


@click.command()
@click.option(
    "--config", "config", required=True, type=click.Path(path_type=Path), help="The table's settings (table.toml)."
)
@click.option("--speed", type=click.FloatRange(min=0, min_open=True), help="Divide all timers by this; to simulate.")
@click.option("--adopt", is_flag=True, help="Take this table on although nothing is known of its past.")
def run(config: Path, speed: float | None, adopt: bool) -> None:
    """Run the daemon of one table until SIGTERM or Ctrl-C."""
    import os

    from controller.logs import configure_logging
    from controller.settings import SettingsError, load_settings

    # Hands lie in what it writes: nothing of it is for others on this machine.
    os.umask(0o077)
    try:
        settings = load_settings(config)
    except SettingsError as error:
        raise click.ClickException(str(error)) from None
    if speed is not None:
        settings = settings.model_copy(update={"timing": settings.timing.model_copy(update={"speed": speed})})
    configure_logging(settings.log.level, settings.log.format)
    raise SystemExit(asyncio.run(_serve(settings, adopt)))


async def _serve(settings: Settings, adopt: bool) -> int:
    import sys

    import structlog

    from controller.clock import SystemClock
    from controller.credentials import CredentialsError
    from controller.daemon import Daemon
    from controller.notify import Notifier
    from controller.service.restart import EXIT_CODE
    from controller.startup import StartError, broker_address, check_rules, start

    # The journal's thread must get its turn while the loop encodes views, not 5 ms later.
    sys.setswitchinterval(0.0002)
    log = structlog.get_logger("run")
    clock = SystemClock()
    try:
        check_rules(settings)
        address = broker_address(settings, settings.broker_user)
        begun = await start(settings, address, adopt)
        daemon = Daemon(settings, begun, address, clock, Notifier())
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, daemon.stop)
        await daemon.run()
    except (StartError, CredentialsError) as error:
        raise click.ClickException(str(error)) from None
    except ExceptionGroup as group:
        for fatal in group.exceptions:
            log.critical("the daemon must stop", problem=f"{type(fatal).__name__}: {fatal}")
        return 1
    log.info("stopped")
    return EXIT_CODE if daemon.restarting else 0
