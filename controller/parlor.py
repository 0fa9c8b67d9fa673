"""What the parlor's commands do: the match on offer, its rules and length, pause, end, objections, records, parking.

A command that the engine refuses is answered with the engine's own code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import to_json

from controller.commands import CommandFailed, Handler
from controller.core import Core
from controller.doors import LOCKED, Doors
from controller.journal import Journal, JournalUnwritable
from controller.matches import Matches, parts
from controller.offer import Offer, OfferRefused
from controller.records import StoredRecord
from engine import inputs as i
from engine.chain import Refused
from protocol.mqtt.commands import CHOICES
from protocol.mqtt.models import Command

RESTING: Final = ("idle", "ended")
"""Phases in which no match is played."""

EXPORT_BYTES: Final = 6_500
"""What the records of one answer may take, of the 8 KiB of a message."""

RECORDS_AT_ONCE: Final = 16

_Result = Mapping[str, Any]


class Parlor:
    """Carries commands out; everything that changes the table goes through the core."""

    def __init__(self, core: Core, offer: Offer, doors: Doors, journal: Journal, matches: Matches) -> None:
        self._core = core
        self._doors = doors
        self._offer = offer
        self._journal = journal
        self._matches = matches

    def handlers(self) -> dict[str, Handler]:
        """By verb."""
        return {
            "open": self._open,
            "lock": self._lock,
            "unlock": self._unlock,
            "start_match": self._start_match,
            "rules": self._rules,
            "extend": self._extend,
            "pause": self._pause,
            "end": self._end,
            "decide": self._decide,
            "export": self._export,
            "park": self._park,
        }

    async def _start_match(self, command: Command) -> _Result:
        """Put a match on the table: only a press there starts it, nothing from afar moves the machine."""
        self._may_begin()
        try:
            await self._offer.make(command.args)
        except OfferRefused as error:
            raise CommandFailed("bad_value", str(error)) from None
        return self._offered()

    async def _open(self, command: Command) -> _Result:
        """The evening begins: its matches are played by these rules; a press at the table starts each.

        Nothing that was played before is shown any more, unless the evening was open already.
        """
        self._may_begin()
        try:
            self._offer.usual(command.args)
            if not self._doors.opened:
                await self._feed(command, i.EndEvening())
            await self._doors.open(command.args, command.id)
        except OfferRefused as error:
            raise CommandFailed("bad_value", str(error)) from None
        except JournalUnwritable:
            raise CommandFailed("disk") from None
        return self._offered()

    async def _lock(self, command: Command) -> _Result:
        """Nothing new begins; a match that is played goes on to its end."""
        await self._doors.lock(True)
        self._core.touch(at_once=True)
        return {"locked": True}

    async def _unlock(self, command: Command) -> _Result:
        await self._doors.lock(False)
        self._core.touch(at_once=True)
        self._core.on_change(self._core.state)
        return {"locked": False}

    def _may_begin(self) -> None:
        if self._core.state.phase not in RESTING:
            raise CommandFailed("match_running")
        if self._doors.locked:
            raise CommandFailed(LOCKED)

    async def _rules(self, command: Command) -> _Result:
        """A match that is played goes on by its own rules."""
        try:
            await self._offer.set_rules(command.args)
        except OfferRefused as error:
            raise CommandFailed("bad_value", str(error)) from None
        return self._offered()

    async def _extend(self, command: Command) -> _Result:
        hands, minutes = command.args.get("hands", 0), command.args.get("minutes", 0)
        if not hands and not minutes:
            raise CommandFailed("bad_value", "args: expected hands or minutes above 0")
        await self._feed(command, i.Extend(hands, minutes))
        return {}

    async def _pause(self, command: Command) -> _Result:
        await self._feed(command, i.Pause(command.args.get("on", True)))
        return {}

    async def _end(self, command: Command) -> _Result:
        if self._core.state.phase not in RESTING:
            await self._feed(command, i.EndMatch())
            return {}
        offered, played = self._offer.made, self._core.state.session.agreement is not None
        if self._doors.opened or (played and not offered):
            await self._end_evening(command)
        if offered:
            await self._offer.withdraw()
        try:
            closed = await self._doors.close(command.id)
        except JournalUnwritable:
            raise CommandFailed("disk") from None
        if not closed and not offered and not played:
            raise CommandFailed("no_match")
        self._core.touch(at_once=True)
        return {}

    async def _end_evening(self, command: Command) -> None:
        """A table that the parlor had opened is closed first: nobody is asked at it whether to begin a match."""
        closing = self._doors.opened
        try:
            await self._doors.set_over(closing)
            await self._feed(command, i.EndEvening())
        except JournalUnwritable:
            raise CommandFailed("disk") from None
        except CommandFailed:
            await self._doors.set_over(False)
            raise

    async def _decide(self, command: Command) -> _Result:
        await self._feed(command, i.Decide(CHOICES[command.args["choice"]], command.args["want"]))
        return {}

    async def _park(self, command: Command) -> _Result:
        """Park, or take that back as long as the table is not parked: then only somebody who sees it lets it go on."""
        reason = command.args.get("reason", "command")
        await self._feed(
            command, i.Park(reason) if command.args.get("on", True) else i.Unpark("command", from_afar=True)
        )
        return {}

    async def _export(self, command: Command) -> _Result:
        """Records from a number on, as many as fit into one answer; `next` is where to go on, None at the end."""
        args = command.args
        if args.get("whole", False):
            return await self._whole(args)
        found = await self._journal.records(
            args.get("match"), args.get("hand"), args.get("from", 0), RECORDS_AT_ONCE + 1
        )
        told: list[dict[str, Any]] = []
        size = 0
        for record in found[:RECORDS_AT_ONCE]:
            one = _told(record)
            size += len(to_json(one))
            if told and size > EXPORT_BYTES:
                break
            told.append(one)
        following = found[len(told)].number if len(told) < len(found) else None
        return {"records": told, "next": following}

    async def _whole(self, args: Mapping[str, Any]) -> _Result:
        """The record of a match, the last one unless numbered, by whole lines from a page on."""
        session, page = self._core.state.session, args.get("from", 0)
        if "hand" in args:
            raise CommandFailed("bad_value", "args.hand: nothing, where whole is true")
        number = args.get("match") or session.match
        pages = parts(await self._matches.text(session, number), EXPORT_BYTES) if number else ()
        if not pages:
            raise CommandFailed("no_match")
        if page >= len(pages):
            raise CommandFailed("bad_value", f"args.from: a page from 0 to {len(pages) - 1}")
        following = page + 1 if page + 1 < len(pages) else None
        return {"match": number, "page": page, "pages": len(pages), "text": pages[page], "next": following}

    async def _feed(self, command: Command, happened: i.Input) -> None:
        try:
            await self._core.ask(happened, command.id)
        except Refused as refused:
            raise CommandFailed(refused.code, "", refused.rule, refused.params) from None

    def _offered(self) -> _Result:
        self._core.touch(at_once=True)
        terms = self._offer.terms
        return {"rules": terms.rules, "layout": terms.layout}


def _told(record: StoredRecord) -> dict[str, Any]:
    """A record as it travels; one too long for a message is told by its size, and lies in the journal."""
    text = record.text if len(to_json(record.text)) <= EXPORT_BYTES else None
    return {
        "number": record.number,
        "match": record.match,
        "hand": record.hand,
        "voided": record.voided,
        "ts": record.ts,
        "clock": record.clock,
        "text": text,
        "bytes": len(record.text.encode()),
    }
