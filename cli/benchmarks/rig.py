"""What the chain is measured on: a private broker, a board on a pseudo-terminal, and a real daemon between them."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from pydantic_core import from_json

from cli.benchmarks.board import BenchBoard
from cli.benchmarks.mqtt import Client, Received
from cli.benchmarks.rows import Unmeasurable
from controller.private_broker import BrokerError, PrivateBroker
from protocol.mqtt.topics import Topics

TABLE: Final = "bench"
PATIENCE_S: Final = 60.0
STOP_S: Final = 6.0

_SETTINGS: Final = """
[table]
id = "{table}"
[serial]
ports = ["{serial}"]
[broker]
host = "{host}"
port = {port}
credentials = "{credentials}"
[journal]
path = "{folder}/table.journal"
[match]
autostart = {autostart}
[health]
listen = "127.0.0.1:0"
[log]
level = "warning"
format = "json"
[web]
listen = "127.0.0.1:0"
health_listen = ""
state_dir = "{folder}/web"
"""


class Rig:
    """A folder with all of it, as a context manager; at its end nothing is left running.

    `seat` hears the view of seat E, `public` what the parlor may hear. `wait` keeps board and both served.
    """

    def __init__(self, folder: Path | None, autostart: bool) -> None:
        self._below = folder
        self._autostart = autostart
        self._stack = contextlib.ExitStack()
        self._heard: list[Received] = []
        self.topics = Topics(TABLE)

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            try:
                self.folder = Path(
                    stack.enter_context(tempfile.TemporaryDirectory(prefix="kaijin-bench-", dir=self._below))
                )
                self.broker = stack.enter_context(PrivateBroker(self.folder / "broker", TABLE))
            except BrokerError as error:
                raise Unmeasurable(str(error)) from None
            except OSError as error:
                raise Unmeasurable(f"{self._below or tempfile.gettempdir()}: {error.strerror}") from None
            self.board = BenchBoard(self.folder / "serial")
            stack.callback(self.board.close)
            self.seat = self.client(f"{TABLE}-E", self.topics.seat("E"))
            self.public = self.client("parlor", self.topics.availability, self.topics.ledger)
            for client in (self.seat, self.public):
                stack.callback(client.close)
            self.config = self.folder / "table.toml"
            self.config.write_text(self._settings(), encoding="utf-8")
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @contextlib.contextmanager
    def daemon(self, program: str = "from cli.main import main; main()") -> Iterator[subprocess.Popen[bytes]]:
        """`kaijin run`, until the block ends."""
        with self.process([sys.executable, "-c", program, "run", "--config", str(self.config)], "run") as process:
            yield process

    @contextlib.contextmanager
    def process(self, command: list[str], name: str, **more: Any) -> Iterator[subprocess.Popen[bytes]]:
        """A child process whose words go to a file in the folder; asked to end, then made to, when the block ends."""
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(command, **{"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, **more})
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                self.wait(lambda: process.poll() is not None, STOP_S)
            except Unmeasurable:
                process.kill()
            process.wait()

    def client(self, user: str, *topics: str) -> Client:
        """A connection of one of the table's users."""
        client = Client(self.broker.host, self.broker.port, user, self.broker.credentials[user])
        for topic in topics:
            client.subscribe(topic)
        return client

    def wait(self, until: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
        """Serve the board and hear the broker until something is so; Unmeasurable after so many seconds."""
        end = time.monotonic() + seconds
        while not until():
            left = end - time.monotonic()
            if left <= 0:
                raise Unmeasurable(f"nothing came within {seconds:g} s{self._last_words()}")
            self._serve(left)

    def rest(self, seconds: float) -> None:
        """Serve for so long whatever comes, and forget what was heard."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._serve(left)
        self._heard.clear()

    def hear(self, wanted: Callable[[Received], bool], seconds: float = PATIENCE_S) -> Received:
        """The next message that is wanted; what comes before it is forgotten."""
        found: list[Received] = []

        def come() -> bool:
            while self._heard and not found:
                message = self._heard.pop(0)
                if wanted(message):
                    found.append(message)
            return bool(found)

        self.wait(come, seconds)
        return found[0]

    def ready(self) -> Received:
        """The daemon's first `ready`."""
        return self.hear(lambda message: self.says(message, self.topics.availability, "ready"))

    def says(self, message: Received, topic: str, state: str) -> bool:
        """Whether this is an availability with that state."""
        return message.topic == topic and bool(message.payload) and data_of(message)["state"] == state

    def _serve(self, seconds: float) -> None:
        deadline = self.board.deadline
        now = time.monotonic()
        if deadline is not None and deadline <= now:
            self.board.tick()
        pause = min(seconds, 0.05 if deadline is None else max(0.0, deadline - now), 0.05)
        clients = {client.socket.fileno(): client for client in (self.seat, self.public)}
        readable, _, _ = select.select([*clients, self.board.descriptor], [], [], pause)
        for descriptor in readable:
            if descriptor == self.board.descriptor:
                self.board.read()
            else:
                self._heard += clients[descriptor].messages()

    def _settings(self) -> str:
        return _SETTINGS.format(
            table=TABLE, serial=self.board.path, host=self.broker.host, port=self.broker.port,
            credentials=self.broker.credentials_path, folder=self.folder, autostart=str(self._autostart).lower(),
        )  # fmt: skip

    def _last_words(self) -> str:
        """What the daemon said last, where it did."""
        log = self.folder / "run.log"
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
        return f"; the daemon's last words: {lines[-1]}" if lines else ""


def data_of(message: Received) -> dict[str, Any]:
    """The data in an envelope."""
    data: dict[str, Any] = from_json(message.payload)["data"]
    return data


def resident_mb(process: int) -> float:
    """Memory of a process that is in use now, in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
