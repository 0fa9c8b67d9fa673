"""`kaijin simulate`: a table's hardware, and the people at it, without a table."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.host import host

if TYPE_CHECKING:
    from simulators.scenario.director import Happened
    from simulators.table import TableConfig


@click.group()
def simulate() -> None:
    """Simulate a table's hardware, its players, or the host that tests a board."""


simulate.add_command(host)


@simulate.command()
@click.option("--link", type=click.Path(path_type=Path), help="Lay this symlink to a pseudo-terminal: the serial port.")
@click.option("--tcp", metavar="HOST:PORT", help="Listen here in place of a pseudo-terminal (a daemon's socket://).")
@click.option("--dice-link", type=click.Path(path_type=Path),
              help="Lay this symlink for a dice unit that is a board of its own.")  # fmt: skip
@click.option("--world", metavar="PATH|HOST:PORT", required=True, help="Where people see the table and act at it.")
@click.option("--rules", default="new-xiamen-120", show_default=True, help="Whose tiles lie in the table.")
@click.option("--seed", default=1, show_default=True, help="The same seed gives the same shuffles and throws.")
@click.option("--speed", default="1", show_default=True, metavar="FACTOR|max", help="How fast the mechanisms move.")
@click.option("--sensing", type=click.Choice(["none", "full"]), default="none", show_default=True)
@click.option("--dice", type=click.Choice(["read", "unread", "software", "hand"]), default="read", show_default=True)
@click.option("--aid", type=click.Choice(["guide", "present"]), default="guide", show_default=True)
@click.option("--memory", type=click.Choice(["volatile", "nonvolatile"]), default="volatile", show_default=True)
@click.option("--cocked", type=click.FloatRange(0, 1), help="Chance that a die leans (dice read); default assumed.")
@click.option("--missing-tile", "missing", multiple=True, metavar="SORT:SIDE[:N]", help="Tiles forgotten at a sort.")
@click.option("--fail", "failures", multiple=True, metavar="OP:K[:FAULT]", help="The K-th operation fails once.")
@click.option("--faults", "wear", type=click.FloatRange(0, 100), default=0.0, show_default=True,
              help="Times the assumed rates of faults, for long simulations.")  # fmt: skip
@click.option("--reader-faults", type=click.FloatRange(0, 1), default=0.0, show_default=True, metavar="RATE",
              help="Chance that a change in play is read wrongly (sensing full).")  # fmt: skip
@click.option("--script", type=click.Path(path_type=Path), help="Walls and dice of each hand, JSON lines.")
@click.option("--baud", type=click.IntRange(1200, 4_000_000), help="Send no faster than a line of this rate.")
@click.option("--dialect", type=click.Choice(["example"]), help="Its board speaks this in the contract's place.")
@click.option("--noise", type=click.FloatRange(0, 1), default=0.0, show_default=True, metavar="RATE",
              help="Chance that a byte of the dialect's line is lost or another.")  # fmt: skip
@click.option("--mcu", type=click.Path(path_type=Path, dir_okay=False, exists=True),
              help="This program is the board (docs/c-reference.md).")  # fmt: skip
@click.option("--scenario", metavar="NAME|FILE", help="What goes wrong (`kaijin simulate scenarios`).")
@click.option("--scenario-seed", type=click.IntRange(0), help="Chance in the scenario; its own seed by default.")
@click.option("--defect", default="", metavar="NAME", help="What is wrong with its program (`simulate defects`).")
@click.option("--assumptions", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Times and rates of a measured table (`kaijin replay profile`).")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Say where it is, and at the end what happened, as JSON.")
def table(as_json: bool, **options: Any) -> None:
    """Simulate a table's hardware on a pseudo-terminal (--link) or a TCP port (--tcp).

    The hardware is a model with true tiles; it speaks the serial contract from its own side. People act at the table
    over the channel --world: `kaijin simulate players`, or any program (docs/simulators.md). It ends at SIGTERM.
    """
    from simulators.table import SimulatedTable

    config = _table_config(**options)

    def tell(happened: Happened) -> None:
        plain = happened.plain()
        words = f"{plain['action']} at {plain['moment']}, {plain['at']:.1f} s" + (
            f": not done, {plain['not_done']}" if plain["not_done"] else ""
        )
        click.echo(json.dumps({"happened": plain}) if as_json else words, err=not as_json)

    async def serve() -> Mapping[str, Any]:
        stopped = _until_signalled()
        async with SimulatedTable(config, tell) as simulated:
            where = {"line": str(config.link or simulated.line_name), "world": simulated.world_address}
            click.echo(json.dumps(where) if as_json else f"table on {where['line']}, world on {where['world']}")
            await stopped.wait()
        return simulated.summary()

    summary = asyncio.run(serve())
    if as_json:
        click.echo(json.dumps(summary))


@simulate.command()
@click.option("--world", metavar="PATH|HOST:PORT", required=True, help="The simulated table's world channel.")
@click.option("--broker", metavar="HOST:PORT|SOCKET", default="127.0.0.1:1883", show_default=True)
@click.option(
    "--credentials",
    type=click.Path(path_type=Path),
    required=True,
    help="JSON of user → password; each seat logs in as its own user.",
)
@click.option("--table", "table_id", default="demo", show_default=True, help="The table's id.")
@click.option("--seats", default="ESWN", show_default=True, help="Which seats are taken by simulated people.")
@click.option("--seed", default=1, show_default=True, help="Decides what is left to chance in their play.")
@click.option("--speed", default="1", show_default=True, metavar="FACTOR|max", help="How fast people react.")
@click.option(
    "--patience",
    type=click.FloatRange(0, 3600),
    help="Seconds until somebody else presses what everybody may press; as assumed by default.",
)
@click.option(
    "--mistakes",
    default="",
    metavar="NAME=RATE,…|all=RATE",
    help="Mistakes they make, and how often (docs/simulators.md); none by default.",
)
@click.option("--matches", type=click.IntRange(0), default=0, show_default=True,
              help="Begin no more matches of the evening than these; 0: play on.")  # fmt: skip
@click.option("--scenario", metavar="NAME|FILE", help="What they do wrong (`kaijin simulate scenarios`).")
@click.option("--scenario-seed", type=click.IntRange(0), help="Chance in the scenario; its own seed by default.")
@click.option("--json", "as_json", is_flag=True, help="At the end say what was done, as JSON.")
def players(
    world: str,
    broker: str,
    credentials: Path,
    table_id: str,
    seats: str,
    seed: int,
    speed: str,
    patience: float | None,
    mistakes: str,
    matches: int,
    scenario: str | None,
    scenario_seed: int | None,
    as_json: bool,
) -> None:
    """Simulate people at a table: they read their seat's display and act at the table and on the display.

    Where a person has taken over a seat's display, the simulated one only moves the tiles there.
    """
    from simulators.crew import CrewConfig, CrewError, run_crew
    from simulators.scenario.library import find_scenario
    from simulators.scenario.manners import Manners
    from simulators.scenario.reading import ScenarioError

    try:
        manners = None if scenario is None else Manners.of(find_scenario(scenario), scenario_seed)
        config = CrewConfig.checked(
            world, broker, credentials, table_id, seats, seed, speed, patience, mistakes, matches, manners
        )
    except (CrewError, ScenarioError) as error:
        raise click.ClickException(str(error)) from error

    async def serve() -> Mapping[str, int]:
        return await run_crew(config, _until_signalled())

    counts = asyncio.run(serve())
    if as_json:
        click.echo(json.dumps({"counts": counts}))


@simulate.command()
@click.option("--world", metavar="PATH|HOST:PORT", required=True, help="The simulated table's world channel.")
@click.argument("action")
@click.argument("words", nargs=-1, metavar="[WORD=VALUE]…")
def fault(world: str, action: str, words: tuple[str, ...]) -> None:
    """Let something go wrong at a simulated table now: an ACTION of a scenario with its words, or `summary`.

    `kaijin simulate fault --world /tmp/world unplug seconds=0.6`; `kaijin simulate scenarios --actions` lists them all.
    """
    from simulators.channel import ActRefused, ChannelError, order

    try:
        answer = asyncio.run(order(world, action, _order_words(words)))
    except (ActRefused, ChannelError) as error:
        raise click.ClickException(str(error)) from error
    if action == "summary":
        click.echo(json.dumps({name: value for name, value in answer.items() if name not in ("ok", "id", "seen")}))


@simulate.command()
def defects() -> None:
    """List what a simulated board's program can have wrong (--defect), and which tests of `kaijin conform` find it."""
    from simulators.defects import DEFECTS

    for defect in DEFECTS.values():
        click.echo(f"{defect.name:<28} {defect.says} ({', '.join(defect.found_by)})")


@simulate.command()
@click.argument("name", required=False)
@click.option("--actions", is_flag=True, help="Every action that a scenario may have, with its words.")
def scenarios(name: str | None, actions: bool) -> None:
    """List the scenarios that come with Kaijin, or show the file of one."""
    from simulators.scenario import library
    from simulators.scenario.model import KINDS, words_of
    from simulators.scenario.reading import ScenarioError

    if actions:
        for action, kind in KINDS.items():
            told = " ".join(_told_word(word, value) for word, value in words_of(kind).items())
            click.echo(f"{action:<16} {' '.join((kind.__doc__ or '').split())}")
            if told:
                click.echo(f"{'':<16} {told}")
    elif name is not None:
        try:
            click.echo(library.text_of(name), nl=False)
        except ScenarioError as error:
            raise click.ClickException(str(error)) from None
    else:
        for known in library.names():
            about = library.shipped(known).about
            click.echo(f"{known:<20} {about.title if about is not None else ''}")


def _told_word(word: str, value: Any) -> str:
    return word if value is ... else f"{word}={json.dumps(value, ensure_ascii=False)}"


def _order_words(words: tuple[str, ...]) -> dict[str, Any]:
    """`WORD=VALUE` each; a value is TOML where it can be, a text otherwise."""
    import tomllib

    found: dict[str, Any] = {}
    for told in words:
        name, equals, value = told.partition("=")
        if not equals or not name.isidentifier():
            raise click.UsageError(f"{told!r}: expected WORD=VALUE, such as seconds=0.6")
        try:
            found[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name] = value
    return found


def _table_config(
    link: Path | None,
    tcp: str | None,
    dice_link: Path | None,
    world: str,
    rules: str,
    seed: int,
    speed: str,
    sensing: Any,
    dice: Any,
    aid: Any,
    memory: str,
    cocked: float | None,
    missing: tuple[str, ...],
    failures: tuple[str, ...],
    wear: float,
    reader_faults: float,
    script: Path | None,
    baud: int | None,
    dialect: str | None,
    noise: float,
    mcu: Path | None,
    scenario: str | None,
    scenario_seed: int | None,
    defect: str,
    assumptions: Path | None,
) -> TableConfig:
    from engine.ruleset import RulesetError, load_ruleset
    from simulators.assumptions import AssumptionsError, measured_assumptions
    from simulators.channel import ChannelError, split_address
    from simulators.defects import UnknownDefect, known_defect
    from simulators.pace import PaceError, parse_speed
    from simulators.scenario.library import find_scenario
    from simulators.scenario.reading import ScenarioError
    from simulators.script import ScriptError, read_script
    from simulators.table import FaultSpecError, TableConfig, parse_failure, parse_missing

    if (link is None) == (tcp is None):
        raise click.UsageError("one of --link PATH and --tcp HOST:PORT is needed")
    if dice_link is not None and dice == "hand":
        raise click.UsageError("--dice-link: a unit for dice that are thrown by hand has nothing to do")
    if dialect is not None and (sensing != "none" or aid != "guide" or memory != "volatile"):
        raise click.UsageError("--dialect: such a board reads nothing, deals nothing and remembers nothing")
    if dialect is None and noise:
        raise click.UsageError("--noise: belongs to --dialect; other lines have scenarios")
    if mcu is not None and (link is None or baud is not None or dialect is not None or scenario is not None):
        raise click.UsageError("--mcu: that program has the line: with --link, not --baud, --dialect, --scenario")
    if defect and (mcu is not None or dialect is not None):
        raise click.UsageError("--defect: belongs to the simulated board, not to --mcu or --dialect")
    try:
        faces = load_ruleset(rules).faces()
        parse_speed(speed)
        for address in filter(None, (world, tcp)):
            split_address(address)
        return TableConfig(
            faces=faces,
            world=world,
            link=link,
            tcp=tcp,
            dice_link=dice_link,
            seed=seed,
            speed=speed,
            sensing=sensing,
            dice=dice,
            aid=aid,
            nonvolatile=memory == "nonvolatile",
            cocked=cocked,
            missing=[parse_missing(text) for text in missing],
            failures=[parse_failure(text) for text in failures],
            wear=wear,
            reader_faults=reader_faults,
            script=() if script is None else read_script(script, faces),
            baud=baud,
            dialect=dialect or "",
            noise=noise,
            mcu=None if mcu is None else mcu.absolute(),
            scenario=None if scenario is None else find_scenario(scenario),
            scenario_seed=scenario_seed,
            defect=known_defect(defect),
            assumptions=None if assumptions is None else measured_assumptions(assumptions.read_text("utf-8")),
        )
    except (
        RulesetError, PaceError, ScriptError, FaultSpecError, ChannelError, ScenarioError, UnknownDefect,
        AssumptionsError, UnicodeDecodeError,
    ) as error:  # fmt: skip
        raise click.ClickException(str(error)) from error


def _until_signalled() -> asyncio.Event:
    """An event that SIGTERM or SIGINT sets."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    return stopped
