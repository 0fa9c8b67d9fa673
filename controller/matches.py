"""Records of whole matches, put together from the journal's session and its hands (docs/records.md)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import structlog
from pydantic_core import to_json

from controller.journal import JournalError, read_session
from engine.events import SessionSaid, decode_event
from engine.export import ExportError, match_record
from engine.match.state import Match
from engine.plain import PlainError
from engine.record_header import RecordError

MOST_KEPT: Final = 4


class Matches:
    """The records of an evening's matches; each is kept until the session has gone on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: list[tuple[Match, int, str]] = []
        self._log = structlog.get_logger("matches")

    async def text(self, session: Match, number: int = 0) -> str:
        """The record of a match, of the last one unless numbered; empty where there is none."""
        number = number or session.match
        for then, kept, text in self._kept:
            if then is session and kept == number:
                return text
        text = await asyncio.to_thread(self._written, number)
        self._kept = [*(one for one in self._kept if one[0] is session), (session, number, text)][-MOST_KEPT:]
        return text

    def _written(self, number: int) -> str:
        try:
            stored = read_session(self._path)
            said = [event.event for body in stored.said if isinstance(event := decode_event(body), SessionSaid)]
            return match_record(said, [hand.text for hand in stored.hands], number, stored.gone)
        except ExportError:
            return ""
        except (JournalError, RecordError, PlainError) as error:
            self._log.error("the record of a match cannot be put together", match=number, reason=type(error).__name__)
            return ""


def parts(text: str, most: int) -> tuple[str, ...]:
    """A text by whole lines, each part of at most so many bytes as JSON, a longer line alone."""
    found: list[str] = []
    size = 0
    for line in text.splitlines(keepends=True):
        more = len(to_json(line)) - 2
        if found and size + more <= most - 2:
            found[-1] += line
            size += more
        else:
            found.append(line)
            size = more
    return tuple(found)
