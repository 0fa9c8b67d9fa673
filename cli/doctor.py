"""`kaijin doctor`: look a table's set-up over and say what to do."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from controller.checkup import Finding
    from controller.settings import Settings


@click.command()
@click.option("--config", required=True, type=click.Path(path_type=Path), help="The table's settings (table.toml).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def doctor(config: Path, as_json: bool) -> None:
    """Check settings, port, broker, journal, clock and disk; moves nothing.

    Each line is OK, WARN or FAIL with what to do. The exit code is 1 when something fails.
    """
    from controller.checkup import Finding
    from controller.settings import SettingsError, load_settings

    try:
        settings = load_settings(config)
    except SettingsError as error:
        for problem in error.problems:
            _print(Finding("FAIL", "settings", problem, "see deploy/table.toml"), as_json)
        raise SystemExit(1) from None
    _print(Finding("OK", "settings", str(config)), as_json)
    if asyncio.run(_examine(settings, as_json)):
        raise SystemExit(1)


async def _examine(settings: Settings, as_json: bool) -> bool:
    """Whether something fails."""
    from controller.checkup import check_all

    failed = False
    async for finding in check_all(settings):
        _print(finding, as_json)
        failed = failed or finding.level == "FAIL"
    return failed


def _print(finding: Finding, as_json: bool) -> None:
    if as_json:
        told = {"level": finding.level, "what": finding.what, "found": finding.found, "do": finding.do}
        click.echo(json.dumps(told, ensure_ascii=False))
        return
    click.echo(f"{finding.level:4} {finding.what}: {finding.found}")
    if finding.do and finding.level != "OK":
        click.echo(f"     → {finding.do}")
