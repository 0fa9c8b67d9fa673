"""`kaijin support-bundle`: one file for a repairer far away, with nothing in it that is anybody's secret."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from controller.settings import Settings
    from controller.support_parts import Parts

FETCH_S = 5.0
MOST_FETCHED = 4 * 1024 * 1024
TOLD_S = 15.0
"""A running daemon has shown the seats that a hand is revealed within so long, or nothing is revealed."""


@click.command(name="support-bundle")
@click.option("--config", required=True, type=click.Path(path_type=Path), help="The table's settings (table.toml).")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write, .tar.gz or .zip; left out: kaijin-support-TABLE-TIME.tar.gz here.",
)  # fmt: skip
@click.option("--reveal", is_flag=True, help="With the tiles of the hand in play; as root at a terminal, and told.")
def support_bundle(config: Path, out: Path | None, reveal: bool) -> None:
    """Write one file that tells a repairer how the table is; the daemon may be running.

    Without passwords, keys, tokens and without the tiles of a hand in play. --reveal adds that hand: the four seats are
    shown by whom before the file is written, and it is on record.
    """
    from controller.settings import SettingsError, load_settings
    from controller.support import bundled, kind_of, packed

    try:
        settings = load_settings(config)
    except SettingsError as error:
        raise click.ClickException(str(error)) from None
    if out is None:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        out = Path(f"kaijin-support-{settings.table.id}-{stamp}.tar.gz")
    kind = kind_of(out)
    if not kind:
        raise click.UsageError(f"-o {out}: expected a name that ends in .tar.gz or .zip")
    if reveal:
        _announce(settings)
    live = asyncio.run(_live(settings))
    files = bundled(settings, live, revealed=reveal)
    _write(out, packed(files, kind))
    click.echo(str(out))
    click.echo(f"{len(files)} files, {out.stat().st_size} bytes; look at manifest.json first", err=True)


def _write(out: Path, content: bytes) -> None:
    from controller.private_files import write_private

    if not out.absolute().parent.is_dir():
        raise click.ClickException(f"{out}: there is no folder {out.absolute().parent}")
    write_private(out, content)


# --- what the running table says --------------------------------------------------------------------------------------


async def _live(settings: Settings) -> Parts:
    """Doctor's findings, and what a running daemon tells of itself."""
    from controller.checkup import check_all
    from controller.support_parts import Parts

    parts = Parts()
    try:
        parts.findings([finding async for finding in check_all(settings)])
    except Exception as error:
        # A table that is broken in a way that nobody thought of is what bundles are for.
        parts.missing["doctor.jsonl"] = f"{type(error).__name__}: {error}"
    for path, name in (("/healthz", "health.json"), ("/metrics", "metrics.txt"), ("/links", "links.json")):
        try:
            parts.files[name] = await asyncio.to_thread(_fetched, settings, path)
        except (OSError, ValueError) as error:
            parts.missing[name] = f"the daemon does not tell: {error}"
    return parts


def _fetched(settings: Settings, path: str) -> bytes:
    from http.client import HTTPConnection, HTTPException

    from controller.settings import split_listen

    if not settings.health.listen:
        raise OSError("[health] listen is empty")
    host, port = split_listen(settings.health.listen)
    asked = HTTPConnection({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port, timeout=FETCH_S)
    try:
        asked.request("GET", path)
        return asked.getresponse().read(MOST_FETCHED)
    except HTTPException as error:
        raise OSError(f"{type(error).__name__}: {error}") from None
    finally:
        asked.close()


# --- a hand that is revealed ------------------------------------------------------------------------------------------


def _announce(settings: Settings) -> None:
    """Ask, and tell everybody first; ClickException where that is not to be had."""
    from controller.auditing import account
    from controller.reveals import announce, daemon_runs

    if os.geteuid() != 0 or not sys.stdin.isatty():
        raise click.ClickException("--reveal: only as root, at a terminal")
    journal = settings.journal.path
    if not journal.exists():
        raise click.ClickException(f"{journal}: no journal there, so no hand to reveal")
    click.echo("The tiles of the hand in play will be in the bundle. All four seats are told who looked.", err=True)
    said = click.prompt(f"Type the table's id, {settings.table.id}, to go on", default="", show_default=False, err=True)
    if said.strip() != settings.table.id:
        raise click.ClickException("nothing is revealed")
    running = daemon_runs(journal)
    word = announce(journal, account())
    if not running:
        click.echo("The daemon does not run: its next start tells the seats.", err=True)
        return
    until = time.monotonic() + TOLD_S
    while word.exists():
        if time.monotonic() > until:
            if not daemon_runs(journal):
                return  # It has ended meanwhile: the word waits for its next start.
            # The word stays: it was said that somebody wanted to look, and will be told.
            raise click.ClickException(
                "nothing is revealed: the daemon has not shown it to the seats (is the broker there, the disk well?)"
            )
        time.sleep(0.1)
