"""`kaijin service`: what a repairer does at a table, from its own computer: service mode, sensors, motors, tests."""

from __future__ import annotations

import asyncio
import getpass
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.service_words import LANGUAGES, Words, table, usual_language

if TYPE_CHECKING:
    from controller.service.client import ServiceClient

MOTORS = ("centre", "walls", "stirrer", "lifters", "pushers", "dice")
WAIT_FOR_KEY_S = 60.0


class Refused(click.ClickException):
    """The table said no."""

    exit_code = 3


class Bench:
    """What all sub-commands share: where the table is, who asks, in which words."""

    def __init__(self, config: Path, who: str, words: Words, as_json: bool) -> None:
        self.config = config
        self.who = who
        self.words = words
        self.as_json = as_json

    def run(self, work: Callable[[ServiceClient], Awaitable[Any]]) -> Any:
        """The outcome of some work at the table; errors are told in one line."""
        from controller.credentials import CredentialsError
        from controller.service.client import ServiceAway, ServiceRefused, connected
        from controller.settings import SettingsError, load_settings

        async def connect() -> Any:
            async with connected(load_settings(self.config), self.who) as client:
                return await work(client)

        try:
            return asyncio.run(connect())
        except ServiceRefused as refused:
            words = self.words.failed(refused.code, refused.params)
            raise Refused(f"{words} ({refused.expected})" if refused.expected else words) from None
        except (SettingsError, CredentialsError, ServiceAway) as error:
            raise click.ClickException(str(error)) from None

    def ask(self, action: str, **args: Any) -> dict[str, Any]:
        """The result of one action."""

        async def work(client: ServiceClient) -> dict[str, Any]:
            return await client.ask(action, **args)

        found: dict[str, Any] = self.run(work)
        return found

    def tell(self, result: dict[str, Any], text: str) -> None:
        """The result as JSON where that was asked for, else in words."""
        click.echo(json.dumps(result, ensure_ascii=False) if self.as_json else text)


@click.group(invoke_without_command=True)
@click.option(
    "--config", type=click.Path(path_type=Path), default="/etc/kaijin/table.toml", show_default=True,
    help="The settings of the table.",
)  # fmt: skip
@click.option("--who", default="", help="Your name, shown to the four seats and kept; left out: that of your account.")
@click.option("--language", type=click.Choice(LANGUAGES), help="Left out: as the terminal's locale says.")
@click.option("--json", "as_json", is_flag=True, help="Results as one JSON object.")
@click.pass_context
def service(context: click.Context, config: Path, who: str, language: str | None, as_json: bool) -> None:
    """Repair a table: service mode, live sensors, motors, self-tests, times, faults, counters.

    Without a command it says how the table stands. What moves needs service mode and the service key held at the table.
    The exit code is 1 where there is nobody to ask, 3 where the table says no.
    """
    words = Words(language or usual_language(os.environ))
    context.obj = Bench(config, who or _account(), words, as_json)
    if context.invoked_subcommand is None:
        context.invoke(status)


@service.command()
@click.pass_obj
def status(bench: Bench) -> None:
    """Say whether a repairer has the table, who, and for how long still."""
    found = bench.ask("status")
    words = bench.words
    lines = [words.say("service.on" if found["service"] == "on" else "service.off")]
    if found["service"] == "asked":
        lines = [words.say("service.asked"), words.say("service.asked.left", n=found["left_s"])]
    elif found["service"] == "on":
        left = f"{found['left_s'] // 60}:{found['left_s'] % 60:02}"
        lines += [words.say("service.by", who=found["who"]), words.say("service.left", left=left)]
    if found["link"] != "up":
        lines.append(words.say("service.link_lost"))
    bench.tell(found, "\n".join(lines))


@service.command()
@click.pass_obj
def enter(bench: Bench) -> None:
    """Ask for service mode; it begins once the service key at the table has been held for 3 s."""

    async def work(client: ServiceClient) -> dict[str, Any]:
        found = await client.ask("enter")
        if found["service"] != "on":
            click.echo(bench.words.say("service.asked"), err=True)
        async with asyncio.timeout(WAIT_FOR_KEY_S + 1):
            while found["service"] == "asked":
                await asyncio.sleep(0.3)
                found = await client.ask("status")
        return found

    found = bench.run(work)
    if found["service"] != "on":
        raise Refused(bench.words.say("service.off"))
    bench.tell(found, bench.words.say("service.on"))


@service.command()
@click.option("--sure", is_flag=True, help="Leave although a mechanism is not home, as far as its sensors show.")
@click.pass_obj
def leave(bench: Bench, sure: bool) -> None:
    """Give the table back: play goes on where it was."""
    bench.tell(bench.ask("leave", sure=sure), bench.words.say("service.off"))


@service.command()
@click.option("--watch", is_flag=True, help="Go on showing them until Ctrl-C.")
@click.pass_obj
def sensors(bench: Bench, watch: bool) -> None:
    """Show every sensor by name and side; only in service mode."""
    if not watch:
        found = bench.ask("sensors")
        bench.tell(found, _sensors(bench.words, found))
        return

    async def work(client: ServiceClient) -> None:
        await client.ask("sensors")
        async for live in client.live():
            if bench.as_json:
                bench.tell(live, "")
            else:
                click.clear()
                click.echo(_sensors(bench.words, live))

    bench.run(work)


@service.command()
@click.argument("motor", type=click.Choice(MOTORS))
@click.option("--ms", type=click.IntRange(10, 3000), default=300, show_default=True, help="How long it runs.")
@click.option("--back", is_flag=True, help="Backwards.")
@click.pass_obj
def jog(bench: Bench, motor: str, ms: int, back: bool) -> None:
    """Run one motor for a moment, while the service key at the table is held."""
    result = bench.ask("jog", motor=motor, ms=-ms if back else ms)
    bench.tell(result, f"{bench.words.motor(motor)}: {bench.words.result(result, moved=True)}")
    if result["outcome"] != "done":
        raise click.exceptions.Exit(Refused.exit_code)


@service.command(name="test")
@click.argument("number", type=click.IntRange(0, 255), default=0)
@click.pass_obj
def self_test(bench: Bench, number: int) -> None:
    """Run the self-test of this NUMBER, 0 for all of them, and say what it found."""
    result = bench.ask("self_test", number=number)
    words = bench.words
    rows = [
        (str(check["number"]), words.test(check["test"]), _found(words, check)) for check in result["checks"]
    ] or [(str(number), words.test(result["test"]), words.result(result))]
    bench.tell(result, table(rows))
    if result["outcome"] != "done":
        raise click.exceptions.Exit(Refused.exit_code)


@service.command()
@click.pass_obj
def times(bench: Bench) -> None:
    """How long each movement usually takes, and takes now."""
    found = bench.ask("times")
    words = bench.words
    head = [words.say(f"service.times.{name}") for name in ("movement", "usual", "now", "last", "board", "limit")]
    rows = [
        [
            words.movement(one["movement"]) + (f" ({words.say('service.times.slow')})" if one["slow"] else ""),
            *(words.seconds(one[name]) for name in ("usual_ms", "now_ms", "last_ms", "board_ms", "limit_ms")),
        ]
        for one in found["movements"]
    ]
    bench.tell(found, table([head, *rows]))


@service.command()
@click.argument("movement")
@click.pass_obj
def forget(bench: Bench, movement: str) -> None:
    """A mechanism was mended: learn the usual time of this MOVEMENT (see `--json times`) anew."""
    bench.tell(bench.ask("forget", movement=movement), bench.words.say("alert.service.forget"))


@service.command()
@click.pass_obj
def history(bench: Bench) -> None:
    """Which faults there have been: at which side, by which sensor, how often, and per 1,000 cycles."""

    async def work(client: ServiceClient) -> dict[str, Any]:
        found = await client.ask("history")
        while found["next"] is not None:
            more = await client.ask("history", **{"from": found["next"]})
            found = {**found, "faults": found["faults"] + more["faults"], "next": more["next"]}
        return found

    found = bench.run(work)
    words = bench.words
    if not found["faults"]:
        bench.tell(found, words.say("service.history.none"))
        return
    head = [words.say(f"service.history.{name}") for name in ("fault", "where", "sensor", "count", "per", "last")]
    nothing = words.say("service.unknown")
    rows = [
        [
            words.fault(one["code"]),
            words.say(f"side.{one['side']}") if one["side"] else nothing,
            words.say("and").join(map(words.sensor, one["sensors"])) or nothing,
            str(one["count"]),
            nothing if one["per_1000"] is None else str(one["per_1000"]),
            words.say("service.history.ago", n=max(0, found["cycles"] - one["last_cycle"])),
        ]
        for one in found["faults"]
    ]
    bench.tell(found, f"{words.say('service.history.cycles', n=found['cycles'])}\n{table([head, *rows])}")


@service.command()
@click.pass_obj
def counters(bench: Bench) -> None:
    """Cycles, how long each motor has run, and how the lines fare."""
    found = bench.ask("counters")
    words = bench.words
    cycles = words.say("service.unknown") if found["cycles"] is None else str(found["cycles"])
    rows = [[words.say("service.counters.cycles"), cycles]]
    for motor, seconds in (found["motor_seconds"] or {}).items():
        ran = words.say("service.counters.hours", h=seconds // 3600, m=seconds % 3600 // 60)
        rows.append([words.say("service.counters.motor", motor=words.motor(motor)), ran])
    for line in found["lines"]:
        facts = {
            "in": line["frames_in"], "out": line["frames_out"], "again": line["retransmits"], "bad": line["bad_frames"],
            "lost": line["losses"],
        }  # fmt: skip
        named = words.say("service.counters.line", port=line["port"])
        rows.append([named, words.say("service.counters.line_facts", **facts)])
    bench.tell(found, table(rows))


@service.command()
@click.pass_obj
def lamps(bench: Bench) -> None:
    """Light every lamp for some seconds, each side in its colour."""
    bench.tell(bench.ask("lamps"), bench.words.say("alert.service.lamps"))


@service.command()
@click.argument("pattern", type=click.IntRange(0, 3), default=0)
@click.pass_obj
def buzzer(bench: Bench, pattern: int) -> None:
    """Sound the buzzer: 0 short, 1 double, 2 long, 3 alarm."""
    bench.tell(bench.ask("buzzer", pattern=pattern), bench.words.say("alert.service.buzzer"))


@service.command()
@click.pass_obj
def stop(bench: Bench) -> None:
    """Stop every motor at once; a seat's display clears it."""
    bench.tell(bench.ask("stop"), bench.words.say("alert.service.stop"))


@service.command()
@click.pass_obj
def restart(bench: Bench) -> None:
    """Restart the daemon, once the match is over, the table is parked, or it is in service mode."""

    async def work(client: ServiceClient) -> dict[str, Any]:
        return await client.ask("restart", verb="restart", enough="accepted")

    bench.tell(bench.run(work), bench.words.say("service.restart.waits"))


def _sensors(words: Words, found: dict[str, Any]) -> str:
    bits = [
        [words.sensor(name), f"{'●' if on else '○'} {words.say('service.on_bit' if on else 'service.off_bit')}"]
        for name, on in found["sensors"].items()
    ]
    values = [[words.sensor(name), words.reading(name, value)] for name, value in found["values"].items()]
    return table([*bits, *values])


def _found(words: Words, check: dict[str, Any]) -> str:
    if not check["fault"]:
        return words.say("service.result.done")
    return f"! {words.fault(check['fault'], check['side'])} – {words.repair(check['fault'])}"


def _account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "?"
