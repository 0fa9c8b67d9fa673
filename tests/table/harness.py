"""A whole table for tests: broker, simulated hardware on a pty, daemon, page server, people; all real processes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiomqtt

from controller.private_broker import PrivateBroker
from protocol.mqtt.topics import Topics

TABLE = "test-table"


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class WholeTable:
    """Starts and stops the processes of one table in a folder; asynchronous context manager.

    `people` lists the seats that are played, `patience` how long they wait before they press what everybody may press;
    `speed` is `max` or a factor of the machine and its people; the time that people have to answer is not shortened
    (`timing`). After so many `matches` they begin no other. `mistakes` are those of `kaijin simulate players`. Logs of
    every process are in the folder and are printed when a test that waits for something gives up.
    """

    folder: Path
    rules: str = "new-xiamen-120"
    layout: str = ""
    sensing: str = "none"
    dice: str = "read"
    hands: int = 2
    seed: int = 7
    speed: str = "max"
    people: str = "ESWN"
    autostart: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    script: Sequence[Mapping[str, Any]] = ()
    simulate: Sequence[str] = ()
    web: bool = False
    timing: Mapping[str, Any] = field(default_factory=dict)
    patience: float | None = None
    mistakes: str = ""
    minutes: int = 0
    seats: str = "free"
    matches: int = 1
    dice_unit: bool = False
    """The dice are a board of their own, at a second port."""
    daemon_broker: int = 0
    """Where the daemon finds its broker, where that is not the broker's own port: a proxy."""

    def __post_init__(self) -> None:
        self.topics = Topics(TABLE)
        self.broker = PrivateBroker(self.folder / "broker", TABLE)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.port_link = self.folder / "table-port"
        self.dice_link = self.folder / "dice-port"
        self.world = self.folder / "world"
        self.config = self.folder / "table.toml"
        self.journal = self.folder / "table.journal"
        self.web_port = free_port()
        self.health_port = free_port()
        self.web_health_port = free_port()
        self._commands = 0

    # -- life ----------------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        self.broker.start()
        self.write_config()
        try:
            self.start_hardware()
            self.start_daemon()
            if self.web:
                self.start_web()
            if self.people:
                self.start_people(self.people)
        except BaseException:
            self.stop_all()
            print(self.logs())
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop_all()
        if kind is not None:
            print(self.logs())

    def write_config(self) -> None:
        """The table's settings, as TOML."""
        options = ", ".join(f"{key} = {json.dumps(value)}" for key, value in self.options.items())
        timing = "".join(f"{key} = {value}\n" for key, value in {"answer_speed": 1.0, **self.timing}.items())
        factor = "1000.0" if self.speed == "max" else f"{float(self.speed)}"
        self.config.write_text(
            f"""
[table]
id = "{TABLE}"
name = "Test"
[serial]
ports = {json.dumps([str(self.port_link), *([str(self.dice_link)] if self.dice_unit else [])])}
[broker]
port = {self.daemon_broker or self.broker.port}
credentials = "{self.broker.credentials_path}"
[journal]
path = "{self.journal}"
[match]
rules = "{self.rules}"
layout = "{self.layout}"
hands = {self.hands}
minutes = {self.minutes}
seats = "{self.seats}"
autostart = {json.dumps(self.autostart)}
options = {{ {options} }}
[timing]
speed = {factor}
{timing}
[health]
listen = "127.0.0.1:{self.health_port}"
[log]
level = "debug"
format = "json"
[web]
listen = "127.0.0.1:{self.web_port}"
health_listen = "127.0.0.1:{self.web_health_port}"
public_url = "http://127.0.0.1:{self.web_port}"
state_dir = "{self.folder / "web"}"
""",
            encoding="utf-8",
        )

    def start_hardware(self) -> None:
        """The simulated table on its pty."""
        arguments = ["simulate", "table", "--link", str(self.port_link), "--world", str(self.world), "--json"]
        arguments += ["--rules", self.rules, "--seed", str(self.seed), "--speed", self.speed]
        arguments += ["--sensing", self.sensing, "--dice", self.dice, *self.simulate]
        if self.dice_unit:
            arguments += ["--dice-link", str(self.dice_link)]
        if self.script:
            script = self.folder / "script.jsonl"
            script.write_text("".join(json.dumps(dict(hand)) + "\n" for hand in self.script), encoding="utf-8")
            arguments += ["--script", str(script)]
        self.spawn("hardware", arguments)
        wait_for(self.world.exists, "the simulated table's world")

    def start_daemon(self) -> None:
        """The daemon on this table's settings."""
        self.spawn("daemon", ["run", "--config", str(self.config)])

    def start_web(self) -> None:
        """The page server."""
        self.spawn("web", ["web", "--config", str(self.config)])
        wait_for(lambda: can_connect(self.web_port), "the page server")

    def start_people(self, seats: str = "ESWN") -> None:
        """The simulated people at these seats."""
        arguments = ["simulate", "players", "--world", str(self.world), "--broker", f"127.0.0.1:{self.broker.port}"]
        arguments += ["--credentials", str(self.broker.credentials_path), "--table", TABLE, "--seats", seats]
        if self.patience is not None:
            arguments += ["--patience", str(self.patience)]
        if self.mistakes:
            arguments += ["--mistakes", self.mistakes]
        arguments += ["--matches", str(self.matches)]
        self.spawn("people", [*arguments, "--seed", str(self.seed), "--speed", self.speed, "--json"])

    def spawn(self, name: str, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        """A `kaijin` command as a process of its own that ends with this one; its output in NAME.out and NAME.err."""
        command = [sys.executable, "-m", "cli.main", *arguments]
        with (self.folder / f"{name}.out").open("ab") as out, (self.folder / f"{name}.err").open("ab") as err:
            setpriv = shutil.which("setpriv")
            if setpriv:
                command = [setpriv, "--pdeathsig", "KILL", *command]
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        self.processes[name] = process
        return process

    def kill(self, name: str, number: int = signal.SIGKILL) -> int:
        """Signals a process and waits until it has ended; its exit code."""
        process = self.processes.pop(name)
        process.send_signal(number)
        return process.wait(10)

    def stop_all(self) -> None:
        """Everything ends, politely at first."""
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(6)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(5)
        self.processes.clear()
        self.broker.stop()

    def counts(self, name: str) -> dict[str, int]:
        """What a simulator that has ended did, in counts: `people`, or `hardware`."""
        lines = (self.folder / f"{name}.out").read_text("utf-8").splitlines()
        told: dict[str, Any] = json.loads(lines[-1])
        found: dict[str, int] = told.get("counts", told)
        return found

    def logs(self) -> str:
        """The last lines that every process wrote."""
        parts = []
        for path in sorted(self.folder.glob("*.err")) + sorted(self.folder.glob("*.out")):
            text = path.read_text("utf-8", "replace")[-3000:]
            parts.append(f"--- {path.name}\n{text}")
        return "\n".join(parts)

    # -- looking -------------------------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def client(self, user: str) -> AsyncIterator[aiomqtt.Client]:
        """An MQTT client logged in as one of the table's users (`E`, `view`, … or the whole name)."""
        name = user if user in self.broker.credentials else f"{TABLE}-{user}"
        async with aiomqtt.Client(
            "127.0.0.1", self.broker.port, username=name, password=self.broker.credentials[name], timeout=5
        ) as client:
            yield client

    async def follow(
        self, user: str, topic: str, until: Callable[[dict[str, Any]], bool], seconds: float = 60
    ) -> list[dict[str, Any]]:
        """All `data` seen on a topic as a user up to the first that satisfies `until`; AssertionError without one."""
        seen: list[dict[str, Any]] = []
        try:
            async with asyncio.timeout(seconds), self.client(user) as client:
                await client.subscribe(topic, qos=1)
                async for message in client.messages:
                    if not message.payload:
                        continue
                    body = json.loads(bytes(message.payload))
                    seen.append(body["data"])
                    if until(body["data"]):
                        return seen
        except TimeoutError:
            last = {key: seen[-1].get(key) for key in ("phase", "hand", "use", "machine", "dice")} if seen else None
            raise AssertionError(f"{topic}: not seen within {seconds} s; last: {last}\n{self.logs()}") from None
        raise AssertionError("the broker ended")

    async def state(self, until: Callable[[dict[str, Any]], bool], seconds: float = 60) -> dict[str, Any]:
        """The first public state that satisfies `until`."""
        return (await self.follow("view", self.topics.state, until, seconds))[-1]

    async def ended(self, seconds: float = 90) -> dict[str, Any]:
        """The public state once the match is over."""
        return await self.state(lambda data: data["phase"] == "ended", seconds)

    async def stored(self, name: str, count: int, seconds: float) -> None:
        """Wait until the journal holds so many events of this name; AssertionError with the logs where it does not."""
        until = time.monotonic() + seconds
        while (found := self.count(name)) < count:
            if time.monotonic() > until:
                raise AssertionError(f"{found} of {count} {name} within {seconds} s\n{self.logs()}")
            await asyncio.sleep(0.05)

    async def hands_ended(self, count: int, seconds: float) -> None:
        """Wait until so many hands are over; then the people get up and nothing more is played."""
        await self.stored("HandEnded", count, seconds)
        if "people" in self.processes:
            await asyncio.to_thread(self.kill, "people", signal.SIGTERM)

    def count(self, name: str) -> int:
        """How many events of this name the journal holds by now."""
        if not self.journal.exists():
            return 0
        with contextlib.closing(sqlite3.connect(f"file:{self.journal}?mode=ro", uri=True, timeout=5)) as reading:
            try:
                return int(reading.execute("SELECT count(*) FROM events WHERE type = ?", (name,)).fetchone()[0])
            except sqlite3.OperationalError:
                return 0  # the daemon is just making its tables

    def stored_events(self) -> int:
        """How many events the journal has stored so far."""
        with contextlib.closing(sqlite3.connect(f"file:{self.journal}?mode=ro", uri=True, timeout=5)) as reading:
            return int(reading.execute("SELECT coalesce(max(n), 0) FROM events").fetchone()[0])

    async def answer(self, seat: str, verb: str, action: str, unlike: str = "") -> str:
        """A seat answers its prompt of this verb, once it has one of another id than `unlike`; the prompt's id."""
        async with asyncio.timeout(30), self.client(seat) as client:
            await client.subscribe(self.topics.seat(seat), qos=1)
            async for message in client.messages:
                view = json.loads(bytes(message.payload)) if message.payload else {}
                asked = [want["id"] for want in view["data"]["me"]["wants"] if want["verb"] == verb] if view else []
                if asked and asked[0] != unlike:
                    said = {"id": f"{verb}-{asked[0]}", "epoch": view["epoch"], "want": asked[0], "action": action}
                    await client.publish(self.topics.seat_input(seat), json.dumps({**said, "params": {}}), qos=1)
                    return str(asked[0])
        raise AssertionError("the broker ended")

    async def command(self, verb: str, **args: Any) -> dict[str, Any]:
        """A command of the parlor, carried out; the result. AssertionError where it is refused or fails."""
        self._commands += 1
        client, id = "tests", f"{verb}-{self._commands}"
        response = self.topics.response(client)
        async with asyncio.timeout(30), self.client("parlor") as parlor:
            await parlor.subscribe([(response, 1), (self.topics.state, 1)])
            async for message in parlor.messages:
                envelope = json.loads(bytes(message.payload))
                data = envelope["data"]
                if str(message.topic) != response:
                    # Its clock is what a command expires by.
                    expiry = {"epoch": envelope["epoch"], "not_after_ms": envelope["mono_ms"] + 20_000}
                    body = {"id": id, "client": client, "who": "tests", "args": args, **expiry}
                    await parlor.publish(self.topics.command(verb), json.dumps(body), qos=1)
                    await parlor.unsubscribe(self.topics.state)
                elif data["id"] == id and data["outcome"] != "accepted":
                    assert data["outcome"] == "done", data
                    return dict(data["result"])
        raise AssertionError("the broker ended")

    async def dice_roll(self, seconds: float = 60) -> None:
        """Wait until a throw is asked for and the dice really turn."""
        async with asyncio.timeout(seconds):
            while True:
                await self.state(lambda data: data["dice"] is not None and data["dice"]["state"] == "rolling", seconds)
                if (await self.sight())["dice"]["moving"]:
                    return

    async def world_act(self, act: str, **arguments: Any) -> dict[str, Any]:
        """One act at the simulated table: `control` with a verb for faults, or what a hand does at a `seat`."""
        reader, writer = await asyncio.open_unix_connection(str(self.world))
        try:
            writer.write(json.dumps({"id": 1, "act": act, **arguments}).encode() + b"\n")
            async with asyncio.timeout(30):
                answer: dict[str, Any] = json.loads(await reader.readline())
        finally:
            writer.close()
        assert answer.get("ok"), answer
        return answer

    async def sight(self) -> dict[str, Any]:
        """What a bystander sees of the simulated table now."""
        reader, writer = await asyncio.open_unix_connection(str(self.world), limit=1 << 20)
        try:
            writer.write(b'{"id": 1, "act": "watch"}\n')
            async with asyncio.timeout(30):
                async for line in reader:
                    message = json.loads(line)
                    if "sight" in message:
                        return dict(message["sight"])
        finally:
            writer.close()
        raise AssertionError("the world was closed")

    async def physical(self) -> dict[str, Any]:
        """What really happened at the hardware, in counts: throws, sorts, walls, boots, operations repeated, …"""
        return await self.world_act("control", verb="summary")

    def events(self) -> list[tuple[str, dict[str, Any]]]:
        """The journal's events, by the documented command."""
        rows = map(json.loads, self.journal_rows())
        return [(row["type"], row["body"]) for row in rows]

    def journal_rows(self) -> list[str]:
        """The journal's events as lines of JSON, by the documented command."""
        done = subprocess.run(
            [sys.executable, "-m", "cli.main", "journal", "show", str(self.journal), "--json"],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout.splitlines()


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 20) -> None:
    """Polls until a condition holds; AssertionError names what did not happen."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"not within {seconds} s: {what}"
        time.sleep(0.01)


def can_connect(port: int) -> bool:
    """Whether something listens on a loopback port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def children(pid: int) -> set[int]:
    """The living descendants of a process."""
    parents: dict[int, int] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                parents[int(entry)] = int(Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[1])
    found: set[int] = set()
    grown = True
    while grown:
        more = {child for child, parent in parents.items() if parent in found | {pid}} - found
        grown = bool(more)
        found |= more
    return {child for child in found if alive(child)}
