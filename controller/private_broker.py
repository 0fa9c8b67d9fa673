"""A mosquitto of one's own, on the shipped configuration and access list: for the demo and for tests."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from controller.credentials import Credentials, broker_configuration, load_or_make, write_broker_files
from controller.private_files import private_folder

START_S = 10.0
STOP_S = 3.0

_ATTEMPTS = 5
_MOST_SOCKET_PATH = 100
_CONNACK = bytes((0x20, 2, 0, 0))


class BrokerError(RuntimeError):
    """The broker is not installed, or did not start; the message says which, and what it said."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a broker listens: host and port, or a Unix socket."""

    host: str = "127.0.0.1"
    port: int = 0
    socket: Path | None = None


class PrivateBroker:
    """Starts a mosquitto in `folder` with the users of `table`, on a free loopback port or a Unix socket.

    Credentials stay in `folder/credentials.json` and hold over restarts. It ends with the process that started it, so
    start it from the main thread. Usable as a context manager; `start` waits until the broker answers (about 20 ms).
    """

    def __init__(self, folder: Path, table: str, *, unix: bool = False, port: int = 0) -> None:
        self.folder = folder.absolute()
        self.table = table
        self.credentials_path = self.folder / "credentials.json"
        self.log_path = self.folder / "mosquitto.log"
        private_folder(self.folder)
        self.credentials: Credentials = load_or_make(self.credentials_path, table)
        self.endpoint = Endpoint(socket=self._socket_path()) if unix else Endpoint(port=port)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def host(self) -> str:
        return self.endpoint.host

    @property
    def port(self) -> int:
        """The TCP port; 0 with a Unix socket, or before the first start."""
        return self.endpoint.port

    @property
    def socket(self) -> Path | None:
        return self.endpoint.socket

    @property
    def pid(self) -> int | None:
        """The broker's process, None while it is stopped."""
        return None if self._process is None else self._process.pid

    def start(self) -> Self:
        """Start the broker and wait until it answers a CONNECT; BrokerError otherwise."""
        if self._process is not None:
            raise BrokerError("this broker runs already")
        program = find_mosquitto()
        write_broker_files(self.folder, self.credentials)
        chosen = self.endpoint.port != 0 or self.endpoint.socket is not None
        for attempt in range(1, _ATTEMPTS + 1):
            if not chosen:
                self.endpoint = Endpoint(port=_free_port())
            try:
                self._launch(program)
                return self
            except BrokerError:
                # Between choosing a free port and listening on it, somebody else may take it.
                if chosen or attempt == _ATTEMPTS:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def stop(self) -> None:
        """End the broker, by force after 3 s. Harmless when it is stopped."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def restart(self, *, empty: bool = False) -> None:
        """Stop and start at the same address; `empty` forgets everything retained."""
        self.stop()
        if empty:
            (self.folder / "store" / "mosquitto.db").unlink(missing_ok=True)
        self.start()

    def kill(self) -> None:
        """End the broker as a power cut would: no goodbye, nothing saved."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _socket_path(self) -> Path:
        path = self.folder / "broker.sock"
        if len(os.fsencode(path)) > _MOST_SOCKET_PATH:
            raise BrokerError(f"{path}: too long for a Unix socket, expected at most {_MOST_SOCKET_PATH} bytes")
        return path

    def _launch(self, program: str) -> None:
        store = self.folder / "store"
        private_folder(store)
        if self.endpoint.socket is not None:
            self.endpoint.socket.unlink(missing_ok=True)
        configuration = self.folder / "mosquitto.conf"
        configuration.write_text(self._configuration(store), encoding="utf-8")
        command = [*_with_parent(), program, "-c", str(configuration)]
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        try:
            self._wait_until_it_answers(self._process)
        except BaseException:
            self.kill()
            raise

    def _configuration(self, store: Path) -> str:
        listener = f"{self.endpoint.port} {self.endpoint.host}"
        if self.endpoint.socket is not None:
            listener = f"0 {self.endpoint.socket}"
        text = broker_configuration(self.folder, listener=listener, store=store)
        if os.geteuid() == 0:
            # Otherwise it becomes another user before it opens its files.
            text += "\nuser root\n"
        return text

    def _wait_until_it_answers(self, process: subprocess.Popen[bytes]) -> None:
        # With our own password: whoever else may listen at this port does not know it.
        hello = _connect_packet(self.table, self.credentials[self.table])
        end = time.monotonic() + START_S
        pause = 0.005
        while time.monotonic() < end:
            if process.poll() is not None:
                raise BrokerError(f"mosquitto ended with code {process.returncode}: {self._last_words()}")
            if _answers(self.endpoint, hello):
                return
            time.sleep(pause)
            pause = min(pause * 2, 0.1)
        raise BrokerError(f"mosquitto did not answer within {START_S:.0f} s: {self._last_words()}")

    def _last_words(self) -> str:
        lines = self.log_path.read_text(encoding="utf-8", errors="replace").splitlines()
        return lines[-1] if lines else "it said nothing"


def find_mosquitto() -> str:
    """The path of mosquitto, looked for in PATH and where Debian puts it; BrokerError says how to install it."""
    places = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
    found = shutil.which("mosquitto", path=places)
    if found is None:
        raise BrokerError("mosquitto is not installed: `apt-get install mosquitto`")
    return found


def _with_parent() -> list[str]:
    """What makes the broker end with the process that started it, where the machine has it."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM"] if setpriv is not None else []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _connect_packet(user: str, password: str) -> bytes:
    """MQTT 3.1.1 CONNECT with a clean session, keepalive 5 s and a client id of the broker's choice."""
    head = b"\x00\x04MQTT\x04\xc2\x00\x05"
    body = head + b"".join(len(text).to_bytes(2, "big") + text.encode() for text in ("", user, password))
    return bytes((0x10, len(body))) + body


def _answers(endpoint: Endpoint, hello: bytes) -> bool:
    family = socket.AF_UNIX if endpoint.socket is not None else socket.AF_INET
    address = str(endpoint.socket) if endpoint.socket is not None else (endpoint.host, endpoint.port)
    with socket.socket(family) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(address)
            probe.sendall(hello)
            return probe.recv(4) == _CONNACK
        except OSError:
            return False
