"""What is recorded at a port: of the probe, and of a daemon's line that comes and goes."""

from __future__ import annotations

import asyncio
import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from controller.recording.format import read_recording, recordings_in
from controller.recording.port import PortTap
from controller.serial_port import SerialPortError
from hil.recording.profile import as_toml, measure
from hil.recording.story import read_story
from protocol.serial.messages import CountersQuery, Identify, Identity, StatusQuery
from simulators.assumptions import measured_assumptions
from simulators.table import SimulatedTable, TableConfig
from tests.hil.recording.tables import own, words

pytestmark = pytest.mark.table


async def test_the_probe_records_what_it_said_and_heard(tmp_path: Path) -> None:
    link, world = tmp_path / "serial", tmp_path / "world"
    slow = measured_assumptions("[quirks]\nanswer = { seconds = 0.2, spread = 0.0 }")
    async with SimulatedTable(TableConfig({"1m": 4}, str(world), link=link, assumptions=slow)):
        command = [sys.executable, "-m", "cli.main", "link", "probe", str(link), "--json", "--record"]
        process = await asyncio.create_subprocess_exec(
            *command, str(tmp_path / "recordings"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    told = json.loads(out)
    (folder,) = recordings_in(tmp_path / "recordings")
    story = read_story(read_recording(folder))
    asked = [type(item.message) for item in story.items if item.kind == "asked"]
    assert asked == [Identify, StatusQuery, CountersQuery]
    (identity,) = [item.message for item in story.items if isinstance(item.message, Identity)]
    assert f"{identity.boot_id:08x}" == told["board"]["boot_id"]
    assert len(story.counts[0].answers) == 3 and min(story.counts[0].answers) >= 0.19
    again = measured_assumptions(as_toml(measure([story])))
    assert again.quirks.answer.seconds >= 0.19, "a table made from this one is as slow to answer"
    assert story.items[-1].kind == "end" and story.counts[0].frames_in >= 4
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in folder.iterdir())


async def test_a_port_that_is_not_there_is_noted_a_few_times(tmp_path: Path) -> None:
    with own(tmp_path) as (recorder, line, _):
        tap = PortTap(line)
        for _ in range(20):
            with pytest.raises(SerialPortError):
                await tap.open(str(tmp_path / "nothing"), 9600, lambda data: None, lambda reason: None)
        folder = recorder.folder
    assert words(read_recording(folder).lines[0].entries) == ["no_port"] * 5
