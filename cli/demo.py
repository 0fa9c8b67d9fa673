"""`kaijin demo`: whole hands on a simulated table, all parts together: broker, hardware, daemon, pages, players."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from cli.demo_parts import DemoOptions, Parts
    from cli.demo_story import Story

HTTP_PORT = 8480
STANDSTILL_S = 60.0
"""Seconds without anything happening after which a headless demo gives up."""
QUIET_SORTING_S = 5.0
"""Between two lines of sorting progress, where they do not overwrite each other."""
HEADLESS_HANDS = 4


@click.command()
@click.option("--rules", default="new-xiamen-120", show_default=True, help="Whose rules (`kaijin rules list`).")
@click.option("--layout", type=click.Choice(["zhitui", "bagua"]), help="直推 or 八卦; the rules' own by default.")
@click.option("--sensing", type=click.Choice(["none", "full"]), default="none", show_default=True,
              help="Does the table read its tiles?")  # fmt: skip
@click.option("--dice", type=click.Choice(["read", "unread"]), default="read", show_default=True,
              help="Does the table read its dice?")  # fmt: skip
@click.option("--hands", type=click.IntRange(0, 10_000), help="Stop after so many hands; 0: go on until Ctrl-C.")
@click.option("--speed", type=click.Choice(["1", "10", "max"]), default="1", show_default=True)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="The same seed, the same hands.")
@click.option("--headless", is_flag=True, help="Without pages; 4 hands unless --hands says otherwise.")
@click.option("--http-port", type=click.IntRange(1, 65535), help=f"Port of the pages; {HTTP_PORT} if it is free.")
@click.option("--mistakes", default="", metavar="NAME=RATE,…|all=RATE",
              help="Mistakes that the players make, and how often (docs/simulators.md); none by default.")  # fmt: skip
@click.option("--scenario", metavar="NAME|FILE", help="What goes wrong (`kaijin simulate scenarios`).")
@click.option("--mcu", type=click.Path(path_type=Path, dir_okay=False, exists=True),
              help="This program is the table's board (docs/c-reference.md).")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="What happened as one JSON object in the last line.")
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), help="Keep logs and journal in this folder.")
@click.option("--verbose", is_flag=True, help="Tell every event by its name as well.")
def demo(
    rules: str,
    layout: str | None,
    sensing: str,
    dice: str,
    hands: int | None,
    speed: str,
    seed: int,
    headless: bool,
    http_port: int | None,
    mistakes: str,
    scenario: str | None,
    mcu: Path | None,
    as_json: bool,
    keep: Path | None,
    verbose: bool,
) -> None:
    """Play whole hands on a simulated table: broker, hardware, daemon, pages and four players together.

    Open the printed address of a seat to take it over from its simulated player. Ctrl-C ends everything.

    At the end the records of all hands are exported from the table's journal and replayed: they must come to the points
    that were booked.
    """
    from cli.demo_parts import DemoFailed

    options = _checked(rules, layout, sensing, dice, hands, speed, seed, headless, http_port, mistakes, scenario, mcu)
    stage = Stage(options, keep, verbose)
    try:
        summary = asyncio.run(stage.play())
    except DemoFailed as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{summary['hands']} hand{'s' if summary['hands'] != 1 else ''} played in {summary['seconds']} s")
    click.echo("points: " + "  ".join(f"{seat} {amount:+d}" for seat, amount in summary["points"].items()))
    if as_json:
        click.echo(json.dumps(summary))
    if stage.interrupted and options.hands:
        raise click.Abort


def _checked(
    rules: str,
    layout: str | None,
    sensing: str,
    dice: str,
    hands: int | None,
    speed: str,
    seed: int,
    headless: bool,
    http_port: int | None,
    mistakes: str,
    scenario: str | None,
    mcu: Path | None,
) -> DemoOptions:
    from cli.demo_parts import DemoOptions, free_port, port_is_free
    from engine.ruleset import RulesetError, load_ruleset
    from simulators.mistakes import MistakeError, parse_mistakes
    from simulators.scenario.library import find_scenario
    from simulators.scenario.reading import ScenarioError

    try:
        ruleset = load_ruleset(rules)
        parse_mistakes(mistakes)
        if scenario is not None:
            find_scenario(scenario)
    except (RulesetError, MistakeError, ScenarioError) as error:
        raise click.ClickException(str(error)) from error
    chosen = layout or ruleset.layouts[0]
    if chosen not in ruleset.layouts:
        raise click.ClickException(f"{rules} has no layout {chosen}: expected {' or '.join(ruleset.layouts)}")
    if mcu is not None and scenario is not None:
        raise click.UsageError("--mcu: that program has the line to itself: without --scenario")
    if headless and http_port is not None:
        raise click.UsageError("--headless has no pages: leave out --http-port")
    if http_port is not None and not port_is_free(http_port):
        raise click.ClickException(f"port {http_port} is in use: choose another --http-port")
    port = http_port or (HTTP_PORT if port_is_free(HTTP_PORT) else free_port())
    count = hands if hands is not None else (HEADLESS_HANDS if headless else 0)
    told = ["--scenario", str(Path(scenario).absolute()) if "/" in scenario else scenario] if scenario else []
    arguments = {"table": told if mcu is None else ["--mcu", str(mcu.absolute())], "players": told}
    pages = None if headless else port
    return DemoOptions(rules, chosen, sensing, dice, count, speed, seed, pages, mistakes, arguments=arguments)


class Stage:
    """One run of the demo, from nothing to nothing left running."""

    def __init__(self, options: DemoOptions, keep: Path | None, verbose: bool) -> None:
        from cli.demo_story import Story

        self.interrupted = False
        self._options = options
        self._keep = keep
        self._verbose = verbose
        self._story: Story = Story()
        self._stopped = asyncio.Event()
        self._moved_at = time.monotonic()
        self._sorting_told_at = 0.0
        self._on_line = False
        self._last_state: Mapping[str, Any] = {}

    async def play(self) -> dict[str, Any]:
        """Play the hands; what happened, in numbers. DemoFailed when a part fails or nothing moves."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._interrupt)
        began = time.monotonic()
        with contextlib.ExitStack() as stack:
            folder = self._folder(stack)
            parts = await self._play_in(folder)
            self._check_records(parts)
        return self._summary(parts, time.monotonic() - began)

    async def _play_in(self, folder: Path) -> Parts:
        from cli.demo_parts import DemoFailed, Parts, start_broker
        from simulators.tasks import cancel_all, without_client_noise

        broker, warning = start_broker(folder)
        parts = Parts(folder, self._options, broker)
        tasks: list[asyncio.Task[Any]] = [
            asyncio.create_task(self._watch(parts)),
            asyncio.create_task(self._look(parts)),
            asyncio.create_task(self._tell_faults(parts)),
        ]
        try:
            self._say(warning)
            await parts.start()
            if self._options.http_port is not None:
                self._say_addresses(parts)
            death = asyncio.create_task(parts.first_death())
            tasks += [death, asyncio.create_task(self._until_over())]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if death in done and not self._stopped.is_set():
                dead = death.result()
                code = dead.process.returncode
                raise DemoFailed(f"the {dead.name} ended by itself with code {code}:\n{dead.last_words()}")
            for task in done:
                task.result()
        finally:
            self._end_line()
            asyncio.get_running_loop().set_exception_handler(without_client_noise)
            await cancel_all(tasks)
            await parts.stop()
        return parts

    def _check_records(self, parts: Parts) -> None:
        """DemoFailed when the records of what was played do not come to the points that were booked."""
        from cli.demo_parts import DemoFailed
        from cli.demo_records import disagreement

        wrong = disagreement(parts.journal, self._story.booked)
        if wrong:
            kept = f"; see {parts.journal}" if self._keep is not None else "; --keep FOLDER keeps the journal"
            raise DemoFailed(f"the replay of the exported records does not agree: {wrong}{kept}")

    def _folder(self, stack: contextlib.ExitStack) -> Path:
        if self._keep is None:
            return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kaijin-")))
        self._keep.mkdir(parents=True, exist_ok=True)
        if any(self._keep.iterdir()):
            raise click.UsageError(
                f"--keep {self._keep}: expected an empty folder, so that no older journal is gone on"
            )
        return self._keep.absolute()

    def _interrupt(self) -> None:
        self.interrupted = True
        self._stopped.set()

    async def _until_over(self) -> None:
        """Until the hands are played or Ctrl-C; DemoFailed when a headless demo stands still."""
        from cli.demo_parts import DemoFailed

        while not self._stopped.is_set():
            left = self._moved_at + STANDSTILL_S - time.monotonic()
            if self._options.http_port is None and left <= 0:
                phase = self._last_state.get("phase", "unknown")
                raise DemoFailed(f"nothing has happened for {STANDSTILL_S:.0f} s (phase {phase})")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), max(0.1, left) if left > 0 else 1.0)

    # --- what the table says ----------------------------------------------------------------------------------------

    async def _watch(self, parts: Parts) -> None:
        """Follow the table's public events, reconnecting for ever."""
        import aiomqtt

        from cli.demo_parts import TABLE
        from controller.broker_address import BrokerAddress
        from protocol.mqtt.topics import STREAMS, Topics

        broker, topics = parts.broker, Topics(TABLE)
        heard = [*(topics.event(stream) for stream in STREAMS), topics.state]
        user = "parlor"
        address = BrokerAddress(broker.host, broker.port, broker.socket, user, broker.credentials[user], keepalive=5)
        while True:
            with contextlib.suppress(aiomqtt.MqttError):
                async with address.client() as client:
                    await client.subscribe([(topic, 1) for topic in heard])
                    async for message in client.messages:
                        self._hear(str(message.topic), bytes(message.payload), topics.state)
            await asyncio.sleep(0.2)

    async def _look(self, parts: Parts) -> None:
        """Say what lies on the felt for all to see and the table cannot read: whoever takes a seat needs to know it."""
        from cli.demo_story import Felt
        from simulators.channel import ChannelError, WorldClient

        if self._options.http_port is None or (self._options.sensing == "full" and self._options.dice == "read"):
            await self._stopped.wait()
            return
        felt = Felt(dice=self._options.dice == "unread", tiles=self._options.sensing == "none")

        while True:
            with contextlib.suppress(ChannelError):
                await WorldClient(parts.world, None, lambda sight: self._say(felt.news(sight))).run()
            await asyncio.sleep(0.2)

    async def _tell_faults(self, parts: Parts) -> None:
        """Say what a scenario lets go wrong, as it happens."""
        told = 0
        while True:
            said = [body["happened"] for body in parts.said("table") if "happened" in body]
            for one in said[told:]:
                self._say(f"  ! {one['action']} ({one['moment']})")
            told = len(said)
            await asyncio.sleep(0.2)

    def _hear(self, topic: str, payload: bytes, state_topic: str) -> None:
        from protocol.mqtt.envelope import EnvelopeError, decode

        try:
            data = decode(payload).data
        except EnvelopeError:
            return
        if topic == state_topic:
            if data != self._last_state:
                self._moved_at = time.monotonic()
            self._last_state = data
            self._show_sorting(data)
            return
        self._moved_at = time.monotonic()
        if self._options.hands and len(self._story.hands) >= self._options.hands:
            return
        name, params = str(data.get("name")), dict(data.get("params") or {})
        params.setdefault("hand", data.get("hand"))
        params.setdefault("seat", data.get("seat"))
        line = self._story.tell(name, params)
        if line is not None or self._verbose:
            self._say(f"{line or ''}  [{name}]" if self._verbose else str(line))
        if self._options.hands and len(self._story.hands) >= self._options.hands:
            self._stopped.set()

    def _show_sorting(self, state: Mapping[str, Any]) -> None:
        from cli.demo_story import sorting_line

        line = sorting_line(dict(state.get("machine") or {}))
        if line is None or self._options.speed == "max":
            return
        if sys.stdout.isatty():
            sys.stdout.write(f"\r  {line}\x1b[K")
            sys.stdout.flush()
            self._on_line = True
        elif time.monotonic() - self._sorting_told_at >= QUIET_SORTING_S:
            self._sorting_told_at = time.monotonic()
            self._say(f"  {line}")

    def _say_addresses(self, parts: Parts) -> None:
        from cli.demo_parts import seat_addresses

        names = {"E": "东 E", "S": "南 S", "W": "西 W", "N": "北 N", "view": "wall view"}
        for place, address in seat_addresses(parts.config, list(names)).items():
            self._say(f"{names[place]}: {address}")

    def _say(self, line: str) -> None:
        if line:
            self._end_line()
            click.echo(line)

    def _end_line(self) -> None:
        if self._on_line:
            click.echo("\r\x1b[K", nl=False)
            self._on_line = False

    def _summary(self, parts: Parts, seconds: float) -> dict[str, Any]:
        options, story = self._options, self._story
        table: dict[str, Any] = next((body for body in reversed(parts.said("table")) if "sorts" in body), {})
        people: dict[str, Any] = next((body for body in reversed(parts.said("players")) if "counts" in body), {})
        return {
            "hands": len(story.hands),
            "seconds": round(seconds, 3),
            "rules": options.rules,
            "layout": options.layout,
            "sensing": options.sensing,
            "dice": options.dice,
            "speed": options.speed,
            "seed": options.seed,
            "digest": story.digest,
            "gold": [hand["gold"] for hand in story.hands],
            "dealer": [hand["dealer"] for hand in story.hands],
            "wins": dict(sorted(story.ways.items())),
            **story.settled(),
            "replayed": True,
            "counts": dict(sorted(story.counts.items())),
            "table": table,
            "players": people.get("counts", {}),
        }
