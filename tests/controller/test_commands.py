"""The desk of the parlor's commands: what it remembers, for how long, and over a start of the daemon."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from controller.clock import SystemClock
from controller.commands import MOST_CHANGES, REMEMBERED, REMEMBERED_S, CommandDesk
from controller.metrics import Metrics
from controller.publisher import Publisher
from protocol.mqtt.models import Command

EPOCH = 4


class Clock(SystemClock):
    """The monotonic clock, as far ahead as a test says."""

    ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


class Notes:
    """What outlives a desk, in memory."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def meta(self, key: str, default: str = "") -> str:
        return self.values.get(key, default)

    async def note(self, values: Mapping[str, str | None]) -> None:
        self.values.update({key: value for key, value in values.items() if value is not None})
        await asyncio.sleep(0)


class SlowNotes(Notes):
    """A disk that takes nothing until it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.takes = asyncio.Event()

    async def note(self, values: Mapping[str, str | None]) -> None:
        await self.takes.wait()
        await super().note(values)


class Desk:
    """A desk as one run of the daemon has it: what it carried out, and what it said to which id."""

    def __init__(self, notes: Notes, ahead: float = 0.0) -> None:
        self.clock = Clock()
        self.clock.ahead = ahead
        self.carried_out: list[str] = []
        self.said: list[tuple[str, str, str]] = []
        self.noted_before: list[bool] = []
        self._notes = notes
        publisher = Publisher("test-desk", EPOCH, self.clock, self)
        handlers = {
            "status": self._handle, "end": self._handle, "start_match": self._never_done, "service": self._handle,
        }  # fmt: skip
        self.desk = CommandDesk(publisher, self.clock, Metrics(), handlers, notes)

    def set_retained(self, topic: str, payload: bytes | None) -> None:
        """No command's answer is retained."""
        raise AssertionError(topic)

    def publish(self, topic: str, payload: bytes, qos: int = 1) -> None:
        data = json.loads(payload)["data"]
        self.said.append((data["id"], data["outcome"], data["code"]))

    async def hears(self, verb: str, id: str, **more: Any) -> None:
        """This command comes."""
        body = {"id": id, "client": "hub", "who": "test", "epoch": EPOCH, "not_after_ms": 300_000, "args": {}, **more}
        await self.desk.take(verb, json.dumps(body).encode())

    async def says(self, verb: str, id: str, **more: Any) -> list[tuple[str, str]]:
        """What this command is answered now."""
        before = len(self.said)
        await self.hears(verb, id, **more)
        assert all(said == id for said, _, _ in self.said[before:])
        return [(outcome, code) for _, outcome, code in self.said[before:]]

    async def _handle(self, command: Command) -> Mapping[str, Any]:
        self.noted_before.append(command.id in self._notes.meta("commands"))
        self.carried_out.append(command.id)
        return {}

    async def _never_done(self, command: Command) -> Mapping[str, Any]:
        self.carried_out.append(command.id)
        await asyncio.Event().wait()
        return {}


DONE = [("accepted", ""), ("done", "")]


async def test_a_change_is_noted_before_it_is_carried_out_and_never_carried_out_again() -> None:
    notes = Notes()
    first = Desk(notes)
    assert await first.says("end", "a") == DONE and first.noted_before == [True]
    again = Desk(notes)
    assert await again.says("end", "a") == DONE
    assert await again.says("end", "a", epoch=EPOCH - 1) == DONE, "an old one is answered as it was then"
    assert again.carried_out == []


async def test_commands_that_only_ask_push_no_change_out_of_memory_and_write_nothing() -> None:
    notes = Notes()
    desk = Desk(notes)
    await desk.says("end", "a")
    noted = dict(notes.values)
    for number in range(REMEMBERED + 1):
        await desk.says("status", f"s{number}")
    assert await desk.says("end", "a") == DONE
    assert desk.carried_out.count("a") == 1 and notes.values == noted


async def test_changes_are_forgotten_in_time_and_only_so_many_are_taken() -> None:
    notes = Notes()
    desk = Desk(notes)
    for number in range(MOST_CHANGES):
        assert await desk.says("end", f"c{number}") == DONE
    assert await desk.says("end", "more") == [("rejected", "too_many")]
    desk.clock.ahead = REMEMBERED_S + 1
    assert await desk.says("end", "more") == DONE
    assert [id for _, id, _ in json.loads(notes.meta("commands"))] == ["more"]


async def test_a_command_that_the_daemons_end_cut_short_is_not_begun_again() -> None:
    notes = Notes()
    first = Desk(notes)
    running = asyncio.create_task(first.says("start_match", "m"))
    async with asyncio.timeout(5):
        while not first.carried_out:
            await asyncio.sleep(0)
    running.cancel()
    again = Desk(notes)
    assert await again.says("start_match", "m") == [("accepted", ""), ("failed", "interrupted")]
    assert again.carried_out == []


async def test_what_expires_while_the_disk_takes_nothing_is_not_carried_out_afterwards() -> None:
    notes = SlowNotes()
    desk = Desk(notes)
    jog = {"action": "jog", "motor": "walls"}
    hears = [
        asyncio.create_task(desk.hears("end", "old", not_after_ms=5_000)),
        asyncio.create_task(desk.hears("service", "jog", args=jog, not_after_ms=5_000)),
        asyncio.create_task(desk.hears("end", "still", not_after_ms=299_000)),
    ]
    await asyncio.sleep(0)
    assert not desk.said, "nothing is answered before it is noted"
    desk.clock.ahead = 200
    notes.takes.set()
    await asyncio.gather(*hears)
    assert [said for said in desk.said if said[0] == "old"] == [("old", "accepted", ""), ("old", "failed", "expired")]
    assert ("jog", "failed", "expired") in desk.said
    assert desk.carried_out == ["still"]
    again = Desk(notes)
    assert await again.says("end", "old") == [("accepted", ""), ("failed", "expired")] and again.carried_out == []


async def test_another_senders_id_is_another_command() -> None:
    desk = Desk(Notes())
    await desk.says("end", "a")
    assert await desk.says("end", "a", client="tablet") == DONE
    assert desk.carried_out == ["a", "a"]


async def test_what_a_repairer_moves_is_noted_and_what_he_looks_at_is_not() -> None:
    notes = Notes()
    desk = Desk(notes)
    soon = {"not_after_ms": 10_000}
    assert await desk.says("service", "j", args={"action": "jog", "motor": "walls"}, **soon) == DONE
    assert await desk.says("service", "j", args={"action": "jog", "motor": "walls"}, **soon) == DONE
    assert desk.carried_out == ["j"], "a duplicate moves nothing"
    noted = dict(notes.values)
    for number in range(REMEMBERED + 1):
        assert await desk.says("service", f"s{number}", args={"action": "sensors"}, **soon) == DONE
    assert notes.values == noted
    again = Desk(notes)
    assert await again.says("service", "j", args={"action": "jog", "motor": "walls"}, **soon) == DONE
    assert again.carried_out == [], "nor does it after a start"


async def test_what_a_repairer_asks_for_is_meant_for_now() -> None:
    desk = Desk(Notes())
    jog = {"action": "jog", "motor": "walls"}
    assert await desk.says("service", "far", args=jog) == [("rejected", "expiry_too_far")]
    desk.clock._began -= 60
    assert await desk.says("service", "late", args=jog, not_after_ms=59_000) == [("rejected", "expired")]
    assert await desk.says("service", "never", args=jog, epoch=None, not_after_ms=None) == [("rejected", "no_expiry")]
    fly = {"action": "fly"}
    assert await desk.says("service", "what", args=fly, not_after_ms=70_000) == [("rejected", "bad_value")]
    assert desk.carried_out == []
