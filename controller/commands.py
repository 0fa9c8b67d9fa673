"""Commands of the parlor: checked, answered, carried out at most once. None of those carried out moves hardware."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from controller.clock import SystemClock
from controller.metrics import Metrics
from controller.publisher import Publisher
from protocol.mqtt.inbound import InputError, parse_command
from protocol.mqtt.models import Command

CARRIED_OUT: Final = ("status", "replay", "rebirth", "start_match", "end")
"""The verbs that this table carries out; any other is rejected as not available."""

REMEMBERED: Final = 64

Result = Mapping[str, Any]
Handler = Callable[[Command], Awaitable[Result]]


class CommandFailed(Exception):
    """An accepted command could not be carried out: a code for the sender."""

    def __init__(self, code: str, expected: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.expected = expected


class CommandDesk:
    """Takes the payloads of `command/{verb}` and answers on `response/{client}`."""

    def __init__(
        self, publisher: Publisher, clock: SystemClock, metrics: Metrics, handlers: Mapping[str, Handler]
    ) -> None:
        self._publisher = publisher
        self._clock = clock
        self._metrics = metrics
        self._handlers = handlers
        self._seen: OrderedDict[tuple[str, str], list[dict[str, Any]]] = OrderedDict()

    async def take(self, verb: str, payload: bytes) -> None:
        """Check one command, carry it out once, answer it."""
        stamp = self._clock.stamp()
        utc = stamp.ts if stamp.clock == "synced" else None
        try:
            command = parse_command(payload, verb, stamp.mono_ms, self._publisher.epoch, utc)
        except InputError as error:
            self._metrics.commands.labels("rejected").inc()
            if error.client and error.id:
                body = _body(error.id, verb, "rejected", error.code, field=error.field, expected=error.expected)
                self._publisher.say_response(error.client, body, error.id)
            return
        key = (command.client, command.id)
        if key in self._seen:
            self._metrics.commands.labels("repeated").inc()
            for said in self._seen[key]:
                self._publisher.say_response(command.client, said, command.id)
            return
        self._seen[key] = []
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        await self._carry_out(verb, command)

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

    async def _carry_out(self, verb: str, command: Command) -> None:
        handler = self._handlers.get(verb)
        if handler is None:
            self._metrics.commands.labels("rejected").inc()
            self._answer(command, _body(command.id, verb, "rejected", "not_available"))
            return
        self._metrics.commands.labels("accepted").inc()
        self._answer(command, _body(command.id, verb, "accepted"))
        try:
            result = await handler(command)
        except CommandFailed as error:
            self._answer(command, _body(command.id, verb, "failed", error.code, expected=error.expected))
            return
        self._answer(command, _body(command.id, verb, "done", result=result))

    def _answer(self, command: Command, body: dict[str, Any]) -> None:
        said = self._seen.get((command.client, command.id))
        if said is not None:
            said.append(body)
        self._publisher.say_response(command.client, body, command.id)


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
        "result": dict(result or {}),
    }
