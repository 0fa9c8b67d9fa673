"""`kaijin soak`: hours of play at a simulated table under random faults of every kind, checked after each of them."""

from __future__ import annotations

import asyncio
import json
import math
import shutil
import signal
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from cli.soaking.stage import Plan, Stage


@click.command()
@click.option("--hours-of-play", "hours", type=click.FloatRange(0, 10_000, min_open=True), default=1.0,
              show_default=True, help="How long four people would have played; minutes of real time.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True,
              help="The same seed, the same hands and the same faults in the same order.")  # fmt: skip
@click.option("--faults", "words", default="all", show_default=True, metavar="all|none|NAME,…",
              help="What goes wrong: names or groups, see --list.")  # fmt: skip
@click.option("--sensing", type=click.Choice(["none", "full"]), default="none", show_default=True,
              help="Does the table read its tiles?")  # fmt: skip
@click.option("--dice", type=click.Choice(["read", "unread"]), default="read", show_default=True,
              help="Does the table read its dice?")  # fmt: skip
@click.option("--aid", type=click.Choice(["guide", "present"]), default="guide", show_default=True,
              help="Do lamps guide the taking, or does the table push the groups to the seats?")  # fmt: skip
@click.option("--rules", default="new-xiamen-120", show_default=True, help="Whose rules (`kaijin rules list`).")
@click.option("--pause", type=click.FloatRange(0, 600), default=1.5, show_default=True,
              help="Seconds between two faults, on average.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="What happened as one JSON object in the last line.")
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), help="Keep logs and journal in this folder.")
@click.option("--list", "listed", is_flag=True, help="List the faults and end.")
def soak(
    hours: float, seed: int, words: str, sensing: str, dice: str, aid: str, rules: str, pause: float, as_json: bool,
    keep: Path | None, listed: bool,
) -> None:  # fmt: skip
    """Play for hours of table time under random faults, and check everything after each of them.

    The daemon, the broker, the line and the people are real processes; only the hardware is simulated. After each fault
    and at the end: the journal is whole, every hand is settled once and for the points that a second reckoner finds,
    no dice were thrown twice for one throw, displays show what the journal holds, and no seat was told another's tiles.
    When something is wrong it says what, when and with which seed, keeps the evidence, and ends with 1.
    """
    if listed:
        _list()
        return
    plan = _plan(hours, seed, words, sensing, dice, aid, rules, pause)
    folder = _folder(keep)
    code, summary = asyncio.run(_run(plan, folder, _command(hours, words, plan)))
    if code == 0 and keep is None:
        shutil.rmtree(folder, ignore_errors=True)
    if as_json:
        click.echo(json.dumps(summary))
    click.get_current_context().exit(code)


def _list() -> None:
    from cli.soaking.faults import KINDS

    for kind in KINDS:
        only = " (sensing full)" if kind.full else " (aid present)" if kind.presents else ""
        click.echo(f"{kind.group:<10} {kind.name:<20} {kind.says}{only}")


def _plan(
    hours: float, seed: int, words: str, sensing: str, dice: str, aid: str, rules: str, pause: float
) -> Plan:  # fmt: skip
    from cli.soaking.disk import can_be_mounted
    from cli.soaking.faults import UnknownFault, chosen
    from cli.soaking.stage import Plan
    from controller.private_broker import BrokerError, find_mosquitto
    from engine.ruleset import RulesetError, load_ruleset
    from simulators.assumptions import default_assumptions

    try:
        load_ruleset(rules)
        kinds = chosen(words, sensing, aid, can_be_mounted())
        find_mosquitto()
    except (RulesetError, UnknownFault, BrokerError) as error:
        raise click.ClickException(str(error)) from None
    minutes = default_assumptions().play.minutes_a_hand
    people = bool({"all", "people"} & set(words.split(",")))
    return Plan(rules, sensing, max(1, math.ceil(60 * hours / minutes)), seed, kinds, people, dice, pause, aid)


def _folder(keep: Path | None) -> Path:
    if keep is None:
        return Path(tempfile.mkdtemp(prefix="kaijin-soak-"))
    keep.mkdir(parents=True, exist_ok=True)
    if any(keep.iterdir()):
        raise click.UsageError(f"--keep {keep}: expected an empty folder, so that no older journal is gone on")
    return keep.absolute()


async def _run(plan: Plan, folder: Path, command: str) -> tuple[int, dict[str, Any]]:
    from cli.soaking.book import Wrong
    from cli.soaking.stage import Stage

    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    stage = Stage(plan, folder, click.echo)
    click.echo(f"{plan.hands} hands, seed {plan.seed}, {len(plan.kinds)} kinds of faults, sensing {plan.sensing}")
    try:
        summary = await stage.play(stopped)
    except Wrong as error:
        return 1, _failed(stage, folder, command, str(error))
    except Exception as error:
        # What was played is evidence all the same.
        click.echo(traceback.format_exc(), err=True)
        return 1, _failed(stage, folder, command, f"the soak itself broke: {type(error).__name__}: {error}")
    for line in _told(summary):
        click.echo(line)
    return 0, {"ok": True, **summary}


def _failed(stage: Stage, folder: Path, command: str, problem: str) -> dict[str, Any]:
    where = stage.tally.fault or "before the first fault"
    click.echo(f"WRONG: {problem}")
    click.echo(f"  when: {where}, hand {stage.book.hands + 1}, event {stage.book.n}")
    click.echo(f"  seed {stage.plan.seed}; again with: {command}")
    click.echo(f"  evidence: {folder}")
    return {"ok": False, "problem": problem, "when": where, "evidence": str(folder), **stage.summary()}


def _told(summary: dict[str, Any]) -> list[str]:
    faults = sum(summary["faults"].values())
    memory = summary["memory"]
    return [
        f"{summary['hands']} hands, {summary['events']} events, {faults} faults of {len(summary['faults'])} kinds "
        f"in {summary['seconds']} s; {summary['epochs']} starts of the daemon",
        f"every hand settled once ({summary['booked']} booked, {summary['voided']} taken back), "
        f"{summary['reckoned']} reckoned a second time, all records replayed",
        f"{summary['rolls']} throws wanted, none thrown twice; displays compared {summary['displays_checked']} times, "
        f"{summary['messages']} messages read for secrets",
        f"play went on within {summary['longest_recovery']} s of every fault; memory of the daemon at most "
        f"{memory['first_quarter']} KiB in the first quarter, {memory['last_quarter']} KiB in the last",
    ]


def _command(hours: float, words: str, plan: Plan) -> str:
    more = "" if plan.dice == "read" else f" --dice {plan.dice}"
    more += "" if plan.aid == "guide" else f" --aid {plan.aid}"
    return (
        f"kaijin soak --hours-of-play {hours:g} --seed {plan.seed} --faults {words} --sensing {plan.sensing}{more} "
        f"--rules {plan.rules} --pause {plan.pause:g}"
    )
