"""A table that cannot start says so where people look: its availability, instead of silence at four displays."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Final

import aiomqtt

from controller.broker_address import BrokerAddress
from controller.clock import SystemClock
from controller.epoch import EpochFile
from controller.journal import JournalError, JournalTaken, JournalUnwritable
from controller.journal.rows import why_unwritable
from protocol.mqtt.envelope import Envelope, encode
from protocol.mqtt.topics import Topics

SAY_S: Final = 3.0
"""A start that has failed waits no longer for the broker."""

LITTLE: Final = 64 * 1024
"""With fewer bytes left nothing can be begun on a disk."""


def why(error: JournalError | OSError, journal: Path) -> str:
    """The reason that availability gives for a journal that cannot be used: what is wrong with its disk, else
    `journal_unusable`; empty where another daemon has it, who speaks for the table.
    """
    if isinstance(error, OSError):
        return why_unwritable(error)
    if isinstance(error, JournalTaken):
        return ""
    if isinstance(error, JournalUnwritable):
        return error.reason
    folder = journal.parent
    try:
        if folder.is_dir():
            if os.statvfs(folder).f_flag & os.ST_RDONLY or not os.access(folder, os.W_OK):
                return "disk_read_only"
            if shutil.disk_usage(folder).free < LITTLE:
                return "disk_full"
    except OSError as of_the_disk:
        return why_unwritable(of_the_disk)
    return "journal_unusable"


async def say(address: BrokerAddress, table: str, known: tuple[EpochFile | None, int | None], reason: str) -> bool:
    """Say `fault` and why, retained, in the last known epoch; whether a broker took it. Never raises for the broker."""
    beside, retained = known
    epoch = max(beside.epoch if beside else 0, retained or 0)
    at = SystemClock().stamp()
    said = Envelope(
        v=1, type="availability", table=table, epoch=epoch, seq=0, id=os.urandom(8).hex(), ts=at.ts, clock=at.clock,
        mono_ms=at.mono_ms, data={"state": "fault", "reason": reason},
    )  # fmt: skip
    try:
        async with asyncio.timeout(SAY_S), address.client() as client:
            await client.publish(Topics(table).availability, encode(said), qos=1, retain=True, timeout=SAY_S)
    except (aiomqtt.MqttError, OSError, TimeoutError):
        return False
    return True
