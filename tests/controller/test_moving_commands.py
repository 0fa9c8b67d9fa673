"""Nothing retained, replayed, expired or duplicated moves hardware: every command that could is tried."""

from __future__ import annotations

import json
from typing import Any

import pytest

from controller.clock import SystemClock
from controller.commands import CommandDesk
from controller.metrics import Metrics
from controller.publisher import Publisher
from protocol.mqtt.commands import COMMANDS
from protocol.mqtt.models import Command
from tests.controller.test_commands import EPOCH, Notes

MOVING = [verb.name for verb in COMMANDS.values() if verb.moves]
ARGS: dict[str, dict[str, Any]] = {"park": {}, "service": {"action": "jog", "motor": "walls"}}


class Desk:
    """A desk whose every verb is counted; nothing else of a table is there."""

    def __init__(self, notes: Notes) -> None:
        self.moved: list[str] = []
        self.said: list[dict[str, Any]] = []
        clock = SystemClock()
        clock._began -= 60  # the table has run for a minute
        publisher = Publisher("test-desk", EPOCH, clock, self)
        self.desk = CommandDesk(publisher, clock, Metrics(), dict.fromkeys(MOVING, self._handle), notes)

    def set_retained(self, topic: str, payload: bytes | None) -> None:
        raise AssertionError(topic)

    def publish(self, topic: str, payload: bytes, qos: int = 1) -> None:
        self.said.append(json.loads(payload)["data"])

    async def _handle(self, command: Command) -> dict[str, Any]:
        self.moved.append(command.id)
        return {}


def order(verb: str, **more: Any) -> bytes:
    body = {"id": "m1", "client": "hub", "who": "test", "epoch": EPOCH, "not_after_ms": 69_000, "args": ARGS[verb]}
    return json.dumps({**body, **more}).encode()


def test_the_commands_that_move_are_these() -> None:
    assert set(MOVING) == set(ARGS)
    assert not any(verb in COMMANDS for verb in ("clear_stop", "stop", "clear")), "a person at the table clears a stop"


@pytest.mark.parametrize("verb", MOVING)
async def test_a_fresh_one_is_carried_out_and_its_duplicate_is_not(verb: str) -> None:
    notes = Notes()
    desk = Desk(notes)
    for _ in range(3):
        await desk.desk.take(verb, order(verb))
    assert desk.moved == ["m1"]
    after_a_start = Desk(notes)
    await after_a_start.desk.take(verb, order(verb))
    assert not after_a_start.moved and after_a_start.said[-1]["outcome"] == "done", "answered as it was, not done again"


@pytest.mark.parametrize("verb", MOVING)
@pytest.mark.parametrize(
    "more",
    [{"not_after_ms": 59_000}, {"epoch": EPOCH - 1}, {"epoch": EPOCH + 1}, {"epoch": None, "not_after_ms": None},
     {"not_after_ms": None}, {"args": {"on": "perhaps", "action": "perhaps"}}],
    ids=["expired", "old epoch", "coming epoch", "no expiry", "no time", "ill-typed"],
)  # fmt: skip
async def test_one_that_is_late_old_or_ill_typed_moves_nothing_and_is_answered(verb: str, more: dict[str, Any]) -> None:
    desk = Desk(Notes())
    await desk.desk.take(verb, order(verb, **more))
    assert not desk.moved and desk.said[-1]["outcome"] == "rejected"


@pytest.mark.parametrize("verb", MOVING)
async def test_a_retained_one_moves_nothing_and_is_answered(verb: str) -> None:
    desk = Desk(Notes())
    desk.desk.refuse_retained(verb, order(verb))
    assert not desk.moved and (desk.said[-1]["outcome"], desk.said[-1]["code"]) == ("rejected", "retained")
