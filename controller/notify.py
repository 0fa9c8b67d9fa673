"""Telling systemd how the service fares: one datagram, never waiting."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping


class Notifier:
    """Sends states to the socket named by NOTIFY_SOCKET; without one, or with a full one, nothing happens."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        env = os.environ if environ is None else environ
        self._address = _address(env.get("NOTIFY_SOCKET", ""))
        self._watchdog_s = _watchdog(env)
        self._socket: socket.socket | None = None
        if self._address is not None:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)

    @property
    def watchdog_s(self) -> float | None:
        """How often systemd must hear `watchdog()`, halved; None where it does not watch this process."""
        return self._watchdog_s

    def ready(self) -> None:
        """The service does its work."""
        self._send("READY=1")

    def status(self, words: str) -> None:
        """One line for `systemctl status`."""
        self._send("STATUS=" + words.replace("\n", " "))

    def stopping(self) -> None:
        """The service is ending."""
        self._send("STOPPING=1")

    def watchdog(self) -> None:
        """The work advances. Call only when it really does."""
        self._send("WATCHDOG=1")

    def close(self) -> None:
        """Give the socket back."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _send(self, state: str) -> None:
        if self._socket is None or self._address is None:
            return
        try:
            self._socket.sendto(state.encode(), self._address)
        except OSError:
            # A full or vanished socket is systemd's trouble; a table does not wait for it.
            return


def _address(name: str) -> str | None:
    if name.startswith("@"):
        return "\0" + name[1:]
    return name if name.startswith("/") else None


def _watchdog(environ: Mapping[str, str]) -> float | None:
    microseconds = environ.get("WATCHDOG_USEC", "")
    owner = environ.get("WATCHDOG_PID", "")
    if not microseconds.isdigit() or int(microseconds) == 0 or (owner.isdigit() and int(owner) != os.getpid()):
        return None
    return int(microseconds) / 2_000_000
