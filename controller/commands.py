"""Commands of the parlor: checked, answered, carried out at most once. `park` moves hardware, to its rest; `service`
with a key held at the table. No other does.

The ids of those that change something are noted in the journal before they are carried out: after a start of the daemon
a repeated one is answered as before.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final, Protocol

import structlog

from controller.clock import SystemClock
from controller.metrics import Metrics
from controller.publisher import Publisher
from protocol.mqtt.commands import COMMANDS, MAX_LIFETIME_MS
from protocol.mqtt.inbound import NOT_PASSED, InputError, left_ms, parse_command
from protocol.mqtt.models import Command

CARRIED_OUT: Final = (
    "status", "replay", "rebirth", "open", "lock", "unlock", "extend", "start_match", "pause", "end", "decide",
    "rules", "export", "park", "service", "support_bundle", "restart",
)  # fmt: skip
"""The verbs that this table carries out; any other is rejected as not available."""

REMEMBERED: Final = 64
"""Commands that change nothing, so many of the last ones; their repetition does no harm."""

REMEMBERED_LIVES: Final = 1.5
"""Commands that change something, for so many times as long as one of their verb may stay valid."""

REMEMBERED_S: Final = REMEMBERED_LIVES * MAX_LIFETIME_MS / 1000
"""That of the verbs that live longest."""

MOST_CHANGES: Final = 128
"""… and so many at once; more are rejected until the oldest are forgotten."""

_NOTED: Final = "commands"

Result = Mapping[str, Any]
Handler = Callable[[Command], Awaitable[Result]]


class CommandFailed(Exception):
    """An accepted command could not be carried out: a code for the sender, with its rule and params if it has some."""

    def __init__(
        self, code: str, expected: str = "", rule: str = "", params: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(code)
        self.code = code
        self.expected = expected
        self.rule = rule
        self.params = dict(params or {})


class Notes(Protocol):
    """What outlives the daemon: the part of the journal that is used here."""

    def meta(self, key: str, default: str = "") -> str: ...

    async def note(self, values: Mapping[str, str | None]) -> None: ...


@dataclass(slots=True)
class _Seen:
    """A command that was taken: when, and until when it may be begun, on the monotonic clock; what has been said."""

    at: float
    kept_s: float
    said: list[dict[str, Any]] = field(default_factory=list)
    until: float = inf


class CommandDesk:
    """Takes the payloads of `command/{verb}` and answers on `response/{client}`.

    `audit` puts on record who has changed what, before that is answered as done.
    """

    def __init__(
        self, publisher: Publisher, clock: SystemClock, metrics: Metrics, handlers: Mapping[str, Handler], notes: Notes,
        audit: Callable[[str, Command], Awaitable[None]] | None = None,
    ) -> None:  # fmt: skip
        self._publisher = publisher
        self._clock = clock
        self._metrics = metrics
        self._handlers = handlers
        self._notes = notes
        self._audit = audit
        self._read: OrderedDict[tuple[str, str], _Seen] = OrderedDict()
        self._changed = self._noted()

    async def take(self, verb: str, payload: bytes) -> None:
        """Check one command, carry it out once, answer it."""
        stamp = self._clock.stamp()
        now = stamp.mono_ms, self._publisher.epoch, stamp.ts if stamp.clock == "synced" else None
        try:
            command = parse_command(payload, verb, *now)
            left = left_ms(command, *now)
        except InputError as error:
            self._refused(verb, error)
            return
        key = (command.client, command.id)
        if self._repeated(key):
            return
        came = self._clock.monotonic()
        seen = _Seen(came, _kept_s(verb), until=inf if left is None else came + left / 1000)
        if verb not in self._handlers or not _changes(verb, command):
            self._read[key] = seen
            if len(self._read) > REMEMBERED:
                self._read.popitem(last=False)
            await self._carry_out(verb, command, seen)
            return
        await self._change(verb, command, key, seen)

    async def _change(self, verb: str, command: Command, key: tuple[str, str], seen: _Seen) -> None:
        """Carry out what changes something: noted before it is begun, and again with how it ended."""
        self._forget_old()
        if len(self._changed) >= MOST_CHANGES:
            self._metrics.commands.labels("rejected").inc()
            body = _body(command.id, verb, "rejected", "too_many")
            self._publisher.say_response(command.client, body, command.id)
            return
        self._changed[key] = seen
        await self._carry_out(verb, command, seen, self._note)
        await self._note()

    def refuse_retained(self, verb: str, payload: bytes) -> None:
        """A retained command is never acted on; its sender is told."""
        self._metrics.commands.labels("retained").inc()
        stamp = self._clock.stamp()
        try:
            command = parse_command(payload, verb, stamp.mono_ms, self._publisher.epoch, None)
            client, id = command.client, command.id
        except InputError as error:
            client, id = error.client, error.id
        if client and id:
            body = _body(id, verb, "rejected", "retained", expected="a message that is not retained")
            self._publisher.say_response(client, body, id)

    def _refused(self, verb: str, error: InputError) -> None:
        """Answer a command that is none, or no longer one; a repeated one is answered as it was the first time."""
        if error.id and error.client and self._repeated((error.client, error.id)):
            return
        self._metrics.commands.labels("rejected").inc()
        if error.client and error.id:
            body = _body(error.id, verb, "rejected", error.code, field=error.field, expected=error.expected)
            self._publisher.say_response(error.client, body, error.id)

    def _repeated(self, key: tuple[str, str]) -> bool:
        seen = self._changed.get(key) or self._read.get(key)
        if seen is None:
            return False
        self._metrics.commands.labels("repeated").inc()
        for said in seen.said:
            self._publisher.say_response(key[0], said, key[1])
        return True

    async def _carry_out(
        self, verb: str, command: Command, seen: _Seen, keep: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        handler = self._handlers.get(verb)
        if handler is None:
            self._metrics.commands.labels("rejected").inc()
            self._answer(command, seen, _body(command.id, verb, "rejected", "not_available"))
            return
        self._metrics.commands.labels("accepted").inc()
        accepted = _body(command.id, verb, "accepted")
        seen.said.append(accepted)
        if keep is not None:
            await keep()
        self._publisher.say_response(command.client, accepted, command.id)
        if self._clock.monotonic() > seen.until:
            # The disk took its time: what was meant for then is not done now.
            self._answer(command, seen, _body(command.id, verb, "failed", "expired", "not_after_ms", NOT_PASSED))
            return
        try:
            result = await handler(command)
        except CommandFailed as error:
            body = _body(command.id, verb, "failed", error.code, expected=error.expected)
            self._answer(command, seen, {**body, "rule": error.rule, "params": error.params})
            return
        except Exception:
            # What nobody thought of costs this one command, and its sender is told.
            structlog.get_logger("commands").exception("a command failed", verb=verb)
            self._answer(command, seen, _body(command.id, verb, "failed", "internal"))
            return
        if keep is not None and self._audit is not None:
            await self._audit(verb, command)
        self._answer(command, seen, _body(command.id, verb, "done", result=result))

    def _answer(self, command: Command, seen: _Seen, body: dict[str, Any]) -> None:
        seen.said.append(body)
        self._publisher.say_response(command.client, body, command.id)

    # --- over a start of the daemon -----------------------------------------------------------------------------------

    def _forget_old(self) -> None:
        now = self._clock.monotonic()
        self._changed = {key: seen for key, seen in self._changed.items() if now - seen.at < seen.kept_s}

    async def _note(self) -> None:
        rows = [[client, id, seen.said] for (client, id), seen in self._changed.items()]
        await self._notes.note({_NOTED: json.dumps(rows, ensure_ascii=False, separators=(",", ":"))})

    def _noted(self) -> dict[tuple[str, str], _Seen]:
        """What earlier runs took. How long ago is not known, so its time begins anew."""
        now = self._clock.monotonic()
        try:
            found = {
                (str(client), str(id)): _Seen(now, _kept_s(said[0]["verb"]), said)
                for client, id, said in json.loads(self._notes.meta(_NOTED, "[]"))
                if said[-1]["outcome"]
            }
        except (ValueError, KeyError, TypeError, IndexError):
            structlog.get_logger("commands").error("what earlier runs carried out cannot be read; none of it is known")
            return {}
        for (_, id), seen in found.items():
            if seen.said[-1]["outcome"] == "accepted":
                # The daemon ended in the middle of it: it is not begun again, and its sender is told.
                seen.said.append(_body(id, seen.said[-1]["verb"], "failed", "interrupted"))
        return found


def _changes(verb: str, command: Command) -> bool:
    """Whether a command changes something; of some verbs only some actions do."""
    known = COMMANDS[verb]
    return known.changes and command.args.get("action") not in known.reads


def _kept_s(verb: str) -> float:
    return REMEMBERED_LIVES * COMMANDS[verb].lifetime_ms / 1000


def _body(
    id: str, verb: str, outcome: str, code: str = "", field: str = "", expected: str = "", result: Result | None = None
) -> dict[str, Any]:
    return {
        "id": id,
        "verb": verb,
        "outcome": outcome,
        "code": code,
        "field": field,
        "expected": expected,
        "rule": "",
        "params": {},
        "result": dict(result or {}),
    }
