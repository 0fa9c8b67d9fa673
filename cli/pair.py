"""`kaijin pair`: an address that pairs a display with a seat, un-pairing, and the broker's files of a new table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from controller.settings import Settings


@click.command()
@click.option(
    "--config", type=click.Path(path_type=Path), default="/etc/kaijin/table.toml", show_default=True,
    help="The settings of the table.",
)  # fmt: skip
@click.option(
    "--seat", "places", type=click.Choice(["E", "S", "W", "N", "view", "service"]), multiple=True,
    help="A seat, the wall view, or the page of a repairer; may be given several times.",
)  # fmt: skip
@click.option("--minutes", type=click.IntRange(1, 1440), default=15, show_default=True, help="How long it is valid.")
@click.option("--release", is_flag=True, help="Un-pair the display that holds the seat instead.")
@click.option(
    "--broker-files", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Write the broker's configuration, users and access list for this table into DIR, and stop.",
)  # fmt: skip
def pair(config: Path, places: tuple[str, ...], minutes: int, release: bool, broker_files: Path | None) -> None:
    """Print an address that pairs one display with a seat.

    The address holds a token that works once, in its fragment, which browsers send to nobody.
    """
    from controller.credentials import CredentialsError
    from controller.settings import SettingsError, load_settings

    try:
        settings = load_settings(config)
        if broker_files is not None:
            _write_broker_files(settings, broker_files.absolute())
            return
    except (SettingsError, CredentialsError) as error:
        raise click.ClickException(str(error)) from None
    if not places:
        raise click.UsageError("say which seat: --seat E, S, W, N, view or service")
    if release:
        _release(settings, places)
    else:
        _print_addresses(settings, places, minutes)


def _print_addresses(settings: Settings, places: tuple[str, ...], minutes: int) -> None:
    from controller.web_address import pages_url, pairing_url
    from controller.web_pairing import Tokens

    tokens = Tokens(settings.web.state_dir)
    for place in places:
        address = pairing_url(pages_url(settings), place, tokens.make(place, minutes * 60))
        click.echo(f"{place}  {address}" if len(places) > 1 else address)


def _release(settings: Settings, places: tuple[str, ...]) -> None:
    from controller.web_pairing import Register

    register = Register(settings.web.state_dir)
    for place in places:
        click.echo(f"{place}: {'un-paired' if register.release(place) else 'no display was paired'}")


def _write_broker_files(settings: Settings, folder: Path) -> None:
    from controller import credentials as users
    from controller.private_files import write_private

    path = settings.broker.credentials
    if path is None:
        raise users.CredentialsError("[broker] credentials: missing; expected the path of a file to keep passwords in")
    table = settings.table.id
    made = users.load_or_make(path, table)
    users.write_broker_files(folder, made)
    broker = settings.broker
    listener = f"{broker.port} {broker.host}" if broker.socket is None else f"0 {broker.socket}"
    write_private(folder / "kaijin.conf", users.broker_configuration(folder, listener=listener).encode())
    written = [path, folder / "kaijin.conf", folder / "passwd", folder / "acl"]
    own = settings.web.credentials
    if own is not None and own != path:
        users.save_credentials(own, users.Credentials(table, {user: made[user] for user in users.web_users(table)}))
        written.append(own)
    for file in written:
        click.echo(str(file))
