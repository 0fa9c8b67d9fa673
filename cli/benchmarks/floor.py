"""The barest program that could stand between a dice frame and a display, to measure the daemon against.

Raw bytes from a pseudo-terminal, one append that is on the disk before anything is said, one message with QoS 1:
`python -m cli.benchmarks.floor PTY FILE HOST PORT USER TOPIC`, the password on standard input. It understands nothing
of what it passes on; the message is as long as the first line that it reads from the terminal says.
"""

from __future__ import annotations

import os
import sys
import tty

from cli.benchmarks.mqtt import Client


def main() -> None:
    """Pass on until the terminal hangs up."""
    pty, file, host, port, user, topic = sys.argv[1:]
    line = os.open(pty, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(line)
    journal = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    client = Client(host, int(port), user, sys.stdin.readline().strip())
    os.write(line, b"!")
    filling = bytes(int(os.read(line, 64)))
    os.write(line, b"!")
    while True:
        try:
            data = os.read(line, 4096)
        except OSError:
            return
        if not data:
            return
        os.write(journal, data)
        os.fdatasync(journal)
        client.publish(topic, data + filling[len(data) :])
        client.settle()


if __name__ == "__main__":
    main()
