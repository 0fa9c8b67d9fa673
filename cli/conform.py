"""`kaijin conform`: try a board against the serial contract, requirement by requirement."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from hil.conform.bench import Gear
    from hil.conform.hands import Hands
    from hil.conform.requirement import Profile
    from hil.conform.runner import Options, Report


@click.command()
@click.argument("port", required=False)
@click.option("--baud", default=115200, show_default=True, type=click.IntRange(1200, 4_000_000))
@click.option("--profile", "profiles", metavar="NAME,…", default="",
              help="core, dice, deal, lamps, readers, service; by default all that the board claims.")  # fmt: skip
@click.option("--only", multiple=True, metavar="NUMBER", help="Only this test or group: 3.2, or 3.")
@click.option("--moves/--no-moves", default=False, help="Let motors run. Nobody's hands in the table then.")
@click.option("--provoke", is_flag=True,
              help="Also ask for motions that a board must refuse: a bad one makes them (with --moves).")  # fmt: skip
@click.option("--gear", type=click.IntRange(2, 255), metavar="TILES",
              help="Tiles of one set that lie in the table; by default the gear that the board has.")  # fmt: skip
@click.option("--stacks", metavar="E,S,W,N", help="Stacks of each side; known for the usual gears.")
@click.option("--world", metavar="PATH|HOST:PORT", help="A simulated table's world channel: it lends its hands.")
@click.option("--ask", is_flag=True, help="Ask a person at the terminal for what hands must do at the board.")
@click.option("--clear-stop", is_flag=True, help="Clear a stop that is latched at the beginning.")
@click.option("--slack", default=0.15, show_default=True, type=click.FloatRange(0.01, 1.0),
              help="Seconds that line and machine may add to any time.")  # fmt: skip
@click.option("--list", "as_list", is_flag=True, help="Only list the tests.")
@click.option("--json", "as_json", is_flag=True, help="The report as one JSON object.")
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="Also write the report here, JUnit XML.")
def conform(
    port: str | None,
    baud: int,
    profiles: str,
    only: tuple[str, ...],
    moves: bool,
    provoke: bool,
    gear: int | None,
    stacks: str | None,
    world: str | None,
    ask: bool,
    clear_stop: bool,
    slack: float,
    as_list: bool,
    as_json: bool,
    junit: Path | None,
) -> None:
    """Try the board at PORT against the serial contract (docs/serial.md), test by test.

    PORT is a device such as /dev/kaijin-table, or socket://host:port. The daemon must not hold it. Without --moves no
    motor is asked to run. Ends with 1 where a test failed.
    """
    from hil.conform.report import listed
    from hil.conform.runner import ConformError, Options, chosen

    try:
        tests = chosen(only)
    except ConformError as error:
        raise click.UsageError(str(error)) from None
    if as_list:
        click.echo(listed(tests))
        return
    if port is None:
        raise click.UsageError("PORT is missing: a device such as /dev/kaijin-table, or socket://host:port")
    if provoke and not moves:
        raise click.UsageError("--provoke goes with --moves")
    if world is not None and ask:
        raise click.UsageError("--world and --ask: one pair of hands is enough")
    options = Options(_profiles(profiles), only, moves, provoke, clear_stop, _gear(gear, stacks), slack)
    report = asyncio.run(_run(port, baud, options, world, ask, quiet=as_json))
    _tell(report, as_json, junit)
    if report.failed:
        raise SystemExit(1)


async def _run(port: str, baud: int, options: Options, world: str | None, ask: bool, quiet: bool) -> Report:
    from controller.serial_port import SerialPortError
    from hil.conform.endpoint import open_endpoint
    from hil.conform.hands import AskedHands, NoHands, WorldHands
    from hil.conform.runner import ConformError, Result, run_suite
    from simulators.channel import ChannelError

    def progress(result: Result) -> None:
        if not quiet and sys.stderr.isatty():
            click.echo(f"{result.verdict.upper()} {result.requirement.number}", err=True)

    hands: Hands = NoHands()
    lent: WorldHands | None = None
    try:
        if world is not None:
            hands = lent = await WorldHands(world).open()
        elif ask:
            hands = AskedHands(_asked)
        endpoint = await open_endpoint(port, baud)
        return await run_suite(endpoint, options, hands, progress)
    except (ConformError, SerialPortError, ChannelError) as error:
        raise click.ClickException(str(error)) from None
    finally:
        if lent is not None:
            await lent.close()


def _asked(words: str) -> None:
    click.echo(f"please {words}, then press Enter", err=True)
    input()


def _tell(report: Report, as_json: bool, junit: Path | None) -> None:
    from hil.conform.report import as_junit, as_plain, as_text

    if junit is not None:
        try:
            junit.write_text(as_junit(report), encoding="utf-8")
        except OSError as error:
            raise click.ClickException(f"{junit}: {error.strerror}") from None
    click.echo(json.dumps(as_plain(report), ensure_ascii=False) if as_json else as_text(report))


def _profiles(text: str) -> tuple[Profile, ...]:
    from hil.conform.requirement import PROFILES

    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in PROFILES:
            raise click.UsageError(f"--profile {word!r}: expected some of {', '.join(PROFILES)}")
    return tuple(profile for profile in PROFILES if profile in words)


def _gear(tiles: int | None, stacks: str | None) -> Gear | None:
    from hil.conform.bench import USUAL_GEARS

    if tiles is None:
        if stacks is not None:
            raise click.UsageError("--stacks goes with --gear")
        return None
    if stacks is None:
        if tiles not in USUAL_GEARS:
            raise click.UsageError(f"--gear {tiles}: none of the usual gears "
                                   f"({', '.join(map(str, USUAL_GEARS))}); --stacks E,S,W,N is needed")  # fmt: skip
        return tiles, USUAL_GEARS[tiles]
    parts = stacks.split(",")
    if len(parts) != 4 or not all(part.isascii() and part.isdigit() and int(part) <= 40 for part in parts):
        raise click.UsageError(f"--stacks {stacks!r}: expected four numbers up to 40, such as 18,18,18,18")
    east, south, west, north = (int(part) for part in parts)
    if 2 * (east + south + west + north) != tiles:
        raise click.UsageError(f"--stacks {stacks}: two tiles a stack make {2 * (east + south + west + north)}, "
                               f"--gear says {tiles}")  # fmt: skip
    return tiles, (east, south, west, north)
