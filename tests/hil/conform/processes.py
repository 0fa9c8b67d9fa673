"""`kaijin conform` and the simulated table as processes, over a real pseudo-terminal or TCP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SLACK = "0.8"
"""Seconds: tests share their machine."""


def command(*words: str) -> list[str]:
    return [sys.executable, "-c", "from cli.main import main; main()", *words]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@contextmanager
def simulated(folder: Path, *words: str) -> Iterator[dict[str, str]]:
    """A simulated table as a process: where its line and its world are."""
    process = subprocess.Popen(
        command("simulate", "table", "--json", "--world", str(folder / "world"), *words),
        cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        where: dict[str, str] = json.loads(process.stdout.readline())
        yield where
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)


def run(folder: Path, *words: str, seconds: float = 100) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("conform", *words), cwd=folder, env=environment(), capture_output=True, text=True, timeout=seconds,
        check=False,
    )  # fmt: skip


def only(*numbers: str) -> list[str]:
    return [word for number in numbers for word in ("--only", number)]
