"""The parts of the demo as processes: a broker, the simulated table and players, the daemon, the page server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from controller.credentials import Credentials, load_or_make
from controller.private_broker import BrokerError, PrivateBroker, find_mosquitto

TABLE = "demo"
STOP_S = 2.5
"""Seconds that a part is given to end by itself."""
LONGEST_END_S = 10.0
"""Seconds within which a part that was signalled ends."""
LAST_WORDS = 12
"""Lines of a part's log that are shown when it fails."""


class DemoFailed(RuntimeError):
    """The demo cannot go on; the message says which part and why."""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What is played, and how. `hands` 0: until it is stopped; `http_port` None: without pages.

    `settings` go beside the table's own by section; `arguments` beside a simulator's own by its name.
    """

    rules: str
    layout: str
    sensing: str
    dice: str
    hands: int
    speed: str
    seed: int
    http_port: int | None
    mistakes: str = ""
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    arguments: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def answer_speed(self) -> float:
        """What divides the timers in which people answer. Where there are pages somebody may sit at one, and at speed
        max nobody is hurried beyond a person's time: a window that all have answered is over at once in any case.
        """
        return 1.0 if self.speed == "max" or self.http_port is not None else float(self.speed)

    @property
    def object_ms(self) -> int:
        """How long entered dice and gold may be objected to, to be divided by `timer_speed`: real time with pages."""
        return OBJECT_MS if self.http_port is None else min(LONGEST_OBJECT_MS, round(OBJECT_MS * self.timer_speed))

    @property
    def timer_speed(self) -> float:
        """What divides the daemon's timers: at speed max people and machine still need a moment to answer."""
        return MAX_TIMER_SPEED if self.speed == "max" else float(self.speed)


MAX_TIMER_SPEED = 20.0
OBJECT_MS = 4000
LONGEST_OBJECT_MS = 60_000
"""The most that `[timing] object_ms` takes."""


class Broker(Protocol):
    """What the parts need of a broker."""

    @property
    def host(self) -> str: ...

    @property
    def port(self) -> int: ...

    @property
    def socket(self) -> Path | None: ...

    @property
    def credentials(self) -> Credentials: ...

    @property
    def credentials_path(self) -> Path: ...

    def stop(self) -> None: ...


def start_broker(folder: Path) -> tuple[Broker, str]:
    """A private broker and what must be said about it; DemoFailed says what to install."""
    try:
        find_mosquitto()
    except BrokerError as missing:
        return _start_iotcore(folder, missing)
    try:
        return PrivateBroker(folder / "broker", TABLE, unix=_is_short(folder)).start(), ""
    except BrokerError as error:
        raise DemoFailed(f"the broker does not start: {error}") from None


def _is_short(folder: Path) -> bool:
    return len(os.fsencode(folder.absolute())) < 70


def _start_iotcore(folder: Path, missing: BrokerError) -> tuple[Broker, str]:
    try:
        return IotcoreBroker(folder / "broker"), (
            "mosquitto is not installed: a small broker WITHOUT ACCESS LISTS takes its place, so that every seat "
            "could read every other one's tiles. For the demo alone."
        )
    except ImportError:
        raise DemoFailed(
            f"{missing}, or `pip install 'kaijin[demo]'` for a small broker without access lists"
        ) from None
    except (OSError, RuntimeError) as error:
        raise DemoFailed(f"the small broker does not start: {error}") from None


class IotcoreBroker:
    """iotcore's broker on a free loopback port, with the same users but without access lists."""

    def __init__(self, folder: Path) -> None:
        from iotcore import Broker as Native

        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.host = "127.0.0.1"
        self.port = free_port()
        self.socket: Path | None = None
        self.credentials_path = folder / "credentials.json"
        self.credentials = load_or_make(self.credentials_path, TABLE)
        config = folder / "iotcore.toml"
        config.write_text(self._config(), encoding="utf-8")
        config.chmod(0o600)
        self._native = Native(config_path=str(config))
        self._native.start()

    def stop(self) -> None:
        """End the broker."""
        self._native.stop()

    def _config(self) -> str:
        users = "\n".join(f"{json.dumps(user)} = {json.dumps(word)}" for user, word in self.credentials.items())
        return (
            "id = 0\n[router]\nid = 0\nmax_connections = 100\nmax_outgoing_packet_count = 200\n"
            "max_segment_size = 1048576\nmax_segment_count = 10\n"
            f'[v4.1]\nname = "v4-1"\nlisten = "{self.host}:{self.port}"\nnext_connection_delay_ms = 1\n'
            "[v4.1.connections]\nconnection_timeout_ms = 5000\nmax_payload_size = 65536\nmax_inflight_count = 100\n"
            f"[v4.1.connections.auth]\n{users}\n"
        )


@dataclass
class Part:
    """One process of the demo: its name, and the lines of JSON that it said on standard output."""

    name: str
    process: asyncio.subprocess.Process
    log: Path
    said: list[dict[str, Any]] = field(default_factory=list)
    reading: asyncio.Task[None] | None = None

    def last_words(self) -> str:
        """The end of its log."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-LAST_WORDS:]) or "it said nothing"


class Parts:
    """Starts the parts in `folder` and ends them all, whatever has happened."""

    def __init__(self, folder: Path, options: DemoOptions, broker: Broker) -> None:
        self.folder = folder
        self.options = options
        self.broker = broker
        self.config = folder / "table.toml"
        self.state_dir = folder / "web"
        self.journal = folder / "journal" / "table.journal"
        self.world = str(folder / "world.sock") if _is_short(folder) else f"127.0.0.1:{free_port()}"
        self._line = folder / "table-serial"
        self._parts: list[Part] = []
        self.ended: list[dict[str, Any]] = []
        """What parts that were killed had said."""

    async def start(self) -> None:
        """Start every part; they find each other by themselves."""
        self.config.write_text(self._settings(), encoding="utf-8")
        for name in ("table", "daemon", "web", "players"):
            if name != "web" or self.options.http_port is not None:
                await self.start_part(name)

    async def start_part(self, name: str) -> None:
        """Start one part: `table`, `daemon`, `web` or `players`."""
        options, broker = self.options, self.broker
        pace = ["--seed", str(options.seed), "--speed", options.speed, *options.arguments.get(name, ())]
        mistakes = ["--mistakes", options.mistakes] if options.mistakes else []
        where = str(broker.socket) if broker.socket is not None else f"{broker.host}:{broker.port}"
        arguments = {
            "table": [
                "simulate", "table", "--link", str(self._line), "--world", self.world, "--rules", options.rules,
                "--sensing", options.sensing, "--dice", options.dice, "--json", *pace,
            ],
            "daemon": ["run", "--config", str(self.config)],
            "web": ["web", "--config", str(self.config)],
            "players": [
                "simulate", "players", "--world", self.world, "--broker", where, "--table", TABLE,
                "--credentials", str(broker.credentials_path), "--json", *pace, *mistakes,
            ],
        }  # fmt: skip
        await self._start(name, arguments[name])

    def part(self, name: str) -> Part | None:
        """A part that was started and not killed, the last of its name."""
        return next((part for part in reversed(self._parts) if part.name == name), None)

    async def kill(self, name: str, number: int = signal.SIGKILL) -> int:
        """Signal a part and wait until it has ended; its exit code. It can be started again."""
        part = self.part(name)
        if part is None:
            return 0
        self._parts.remove(part)
        _signal(part, number)
        try:
            async with asyncio.timeout(LONGEST_END_S):
                code = await part.process.wait()
        except TimeoutError:
            _signal(part, signal.SIGKILL)
            await part.process.wait()
            raise DemoFailed(f"the {name} did not end within {LONGEST_END_S:.0f} s of signal {number}") from None
        finally:
            self.ended.extend(part.said)
        return code

    async def first_death(self) -> Part:
        """Wait until a part ends by itself; it."""
        waiting = {asyncio.create_task(part.process.wait()): part for part in self._parts}
        try:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            return waiting[next(iter(done))]
        finally:
            for task in waiting:
                task.cancel()

    async def stop(self) -> None:
        """End all parts at once, by force those that need too long; then the broker."""
        for part in reversed(self._parts):
            _signal(part, signal.SIGTERM)
        ends = [asyncio.create_task(part.process.wait()) for part in self._parts]
        if ends:
            await asyncio.wait(ends, timeout=STOP_S)
        for part in self._parts:
            _signal(part, signal.SIGKILL)
        await asyncio.gather(*ends, *(part.reading for part in self._parts if part.reading is not None))
        self.broker.stop()

    def said(self, name: str) -> list[dict[str, Any]]:
        """The JSON lines that a part has written."""
        return next((part.said for part in self._parts if part.name == name), [])

    async def _start(self, name: str, arguments: Sequence[str]) -> None:
        log = self.folder / f"{name}.log"
        with log.open("ab") as errors:
            process = await asyncio.create_subprocess_exec(
                *_with_parent(),
                sys.executable,
                "-m",
                "cli.main",
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        part = Part(name, process, log)
        part.reading = asyncio.create_task(_read_json(part))
        self._parts.append(part)

    def _settings(self) -> str:
        options, broker = self.options, self.broker
        where = (
            {"socket": str(broker.socket)} if broker.socket is not None else {"host": broker.host, "port": broker.port}
        )
        sections: dict[str, dict[str, Any]] = {
            "table": {"id": TABLE, "name": "Demo"},
            "serial": {"ports": [str(self._line)]},
            "broker": {**where, "credentials": str(broker.credentials_path)},
            "journal": {"path": str(self.journal)},
            "match": {"rules": options.rules, "layout": options.layout},
            "timing": {
                "speed": options.timer_speed,
                "answer_speed": options.answer_speed,
                "object_ms": options.object_ms,
            },
            "health": {"listen": ""},
            "log": {"format": "json", "level": "info"},
        }
        for name, body in options.settings.items():
            sections[name] = {**sections.get(name, {}), **body}
        if options.http_port is not None:
            sections["web"] = {
                "listen": f"127.0.0.1:{options.http_port}",
                "health_listen": "",
                "state_dir": str(self.state_dir),
            }
        self.journal.parent.mkdir(mode=0o700, exist_ok=True)
        return "".join(
            f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in body.items())
            for name, body in sections.items()
        )


def free_port() -> int:
    """A TCP port of the loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def port_is_free(port: int) -> bool:
    """Whether the loopback's port can be listened on."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return True
    return False


def seat_addresses(config: Path, places: Sequence[str]) -> dict[str, str]:
    """The address of each place's page, with a token in its fragment that pairs one display once."""
    from controller.settings import load_settings
    from controller.web_address import pages_url, pairing_url
    from controller.web_pairing import Tokens

    settings = load_settings(config)
    tokens = Tokens(settings.web.state_dir)
    return {place: pairing_url(pages_url(settings), place, tokens.make(place)) for place in places}


async def _read_json(part: Part) -> None:
    stream = part.process.stdout
    assert stream is not None
    async for line in stream:
        with contextlib.suppress(ValueError):
            body = json.loads(line)
            if isinstance(body, dict):
                part.said.append(body)


def _signal(part: Part, number: int) -> None:
    if part.process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(part.process.pid, number)


def _with_parent() -> list[str]:
    """What makes a part end with the demo, however that ends, where the machine has it."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM"] if setpriv is not None else []
