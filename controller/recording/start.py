"""A recording of the daemon from its start, where the settings ask for one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import structlog

from controller.recording.core import NOTES, CoreTap
from controller.recording.format import CORE, LINE
from controller.recording.port import Opener, PortTap
from controller.recording.writer import Recorder
from controller.serial_port import open_port
from controller.settings import Settings
from controller.startup import Start, kaijin_version
from engine import snapshots

MB = 1_000_000


class Recorded:
    """What is recorded of this start; nothing where nothing is asked for."""

    def __init__(
        self, recorder: Recorder | None = None, core: CoreTap | None = None, ports: tuple[str, ...] = ()
    ) -> None:
        self.core = core
        self._recorder = recorder
        self._ports = ports

    def opener(self, number: int, base: Opener = open_port) -> Opener:
        """How the port of this number (from 1) is opened, given how it would be without a recording."""
        if self._recorder is None:
            return base
        return PortTap(self._recorder.stream(f"{LINE}{number}", {"port": self._ports[number - 1]}), base).open

    def close(self) -> None:
        """End the recording; waits for the disk a moment, so not for the loop."""
        if self._recorder is not None:
            self._recorder.close()


def begin_recording(settings: Settings, begun: Start, now: Callable[[], float]) -> Recorded:
    """Begin to record; a folder that cannot be made is told, and the table goes on without."""
    directory = settings.serial.record
    if directory is None:
        return Recorded()
    try:
        recorder = Recorder(directory, settings.table.id, settings.serial.record_mb * MB, now, kaijin_version())
    except OSError as error:
        structlog.get_logger("recording").error(
            "nothing is recorded", folder=str(directory), problem=error.strerror or str(error)
        )
        return Recorded()
    journal = begun.journal
    core = recorder.stream(
        CORE,
        {
            "journal_id": f"{journal.journal_id:016x}",
            "epoch": begun.epoch,
            "boot": begun.boot,
            "ports": list(settings.serial.ports),
            "rules": settings.match.rules,
            "timing": {"speed": settings.timing.speed, "people_speed": settings.timing.people_speed},
            "notes": {key: value for key, value in journal.notes().items() if key.startswith(NOTES)},
            "state": snapshots.encode(begun.state),
        },
    )
    return Recorded(recorder, CoreTap(core), settings.serial.ports)


def recorder_for_probe(
    directory: Path, port: str, now: Callable[[], float], base: Opener = open_port
) -> tuple[Recorder, Opener]:
    """A recording of one look at one port: `kaijin link probe --record`."""
    recorder = Recorder(directory, "probe", 64 * MB, now, kaijin_version())
    return recorder, PortTap(recorder.stream(f"{LINE}1", {"port": port}), base).open
