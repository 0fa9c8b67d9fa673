"""What is put on record beside the game: commands that changed something, a table adopted, a hand revealed.

Each is an event in the journal and a public fact on `event/audit`, with who and what. What service mode does is put on
record by itself (`controller.service.mode`).
"""

from __future__ import annotations

import json
import os
import pwd
from collections.abc import Mapping
from typing import Any, Final

import structlog

from controller.core import Core
from engine import inputs as i
from engine.chain import Refused
from protocol.mqtt.models import Command

MOST_BYTES: Final = 2_000
"""What the values of one entry may take; longer ones are told by their size."""

SPEAKS_FOR_ITSELF: Final = "service"
"""The verb whose actions are on record one by one."""


def account() -> str:
    """Who runs this process, as the machine knows them; behind `sudo` the one who called it."""
    name = os.environ.get("SUDO_USER", "")
    if not name or os.geteuid() != 0:
        try:
            name = pwd.getpwuid(os.getuid()).pw_name
        except KeyError:
            name = f"uid {os.getuid()}"
    return name[:64]


class Auditor:
    """Writes entries through the core, so that they stand in the order of everything else."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._log = structlog.get_logger("audit")

    async def command(self, verb: str, command: Command) -> None:
        """A command that changed something was carried out."""
        if verb != SPEAKS_FOR_ITSELF:
            said = {"client": command.client, "verb": verb, "args": _bounded(command.args)}
            await self.note(command.who, "command", said, command.id)

    async def note(self, by: str, act: str, params: Mapping[str, Any], cause: str | None = None) -> bool:
        """Put something on record; whether it is on the disk now. What the disk does not take stands in the log."""
        try:
            await self._core.ask(i.Audit(by[:64] or "?", act, params), cause)
        except Refused as refused:
            self._log.error("not on record", act=act, by=by, params=dict(params), reason=refused.code)
            return False
        self._log.warning("on record", act=act, by=by, params=dict(params))
        return True


def _bounded(args: Mapping[str, Any]) -> dict[str, Any]:
    size = len(json.dumps(dict(args), ensure_ascii=False).encode("utf-8", "replace"))
    return dict(args) if size <= MOST_BYTES else {"bytes": size}
