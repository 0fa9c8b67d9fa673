"""What tells of hands is readable to its owner alone, however the daemon is started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.run import run
from controller.flight import FlightLog
from protocol.serial.recorder import FlightRecorder


@pytest.fixture
def open_to_all() -> Iterator[None]:
    """A process whose files everybody may read and write."""
    before = os.umask(0o000)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_to_all")
def test_a_daemon_makes_nothing_for_others(tmp_path: Path) -> None:
    CliRunner().invoke(run, ["--config", str(tmp_path / "none.toml")])
    made = tmp_path / "made"
    made.touch(0o666)
    assert made.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("open_to_all")
def test_a_recording_of_a_line_is_for_its_owner(tmp_path: Path) -> None:
    written = FlightLog(tmp_path, "/dev/ttyUSB0").write(FlightRecorder(), "lost", {}, 1.0)
    assert written.stat().st_mode & 0o777 == 0o600
