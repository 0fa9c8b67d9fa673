"""A repairer in the middle of a hand: real daemon, line, broker and command; the hand waits, and goes on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any

import pytest

from controller.service.client import ServiceClient, ServiceRefused, connected
from controller.settings import load_settings
from tests.table.harness import WholeTable

pytestmark = pytest.mark.table

HELD = 3500


@contextlib.asynccontextmanager
async def repairer(table: WholeTable) -> AsyncIterator[ServiceClient]:
    """A repairer's connection, as `kaijin service` has it."""
    async with connected(load_settings(table.config, {}), "Mei") as client:
        yield client


async def refused(asking: Awaitable[Any]) -> tuple[str, dict[str, Any]]:
    with pytest.raises(ServiceRefused) as error:
        await asking
    return error.value.code, error.value.params


async def available(table: WholeTable, wanted: str, seconds: float = 30) -> None:
    await table.follow("E", table.topics.availability, lambda data: data["state"] == wanted, seconds)


async def test_a_repairer_comes_in_mid_hand_and_the_hand_goes_on(tmp_path: Path) -> None:
    async with WholeTable(tmp_path, hands=1, speed="20") as table:
        await table.state(lambda data: data["phase"] in ("flowers", "gold_roll", "play"))
        before = (await table.physical())["throws"]
        async with repairer(table) as mei:
            assert (await mei.ask("enter"))["service"] == "asked"
            waits = await table.follow("S", table.topics.seat("S"), lambda data: bool(data["notices"]), 20)
            assert waits[-1]["notices"][0]["code"] == "service_asked"
            await table.world_act("press", key="service", seat="E", held_ms=HELD)
            await available(table, "maintenance")
            seen = await table.follow(
                "N", table.topics.seat("N"), lambda data: data["machine"]["service"] is not None, 10
            )
            assert seen[-1]["machine"]["service"]["who"] == "Mei" and seen[-1]["me"]["wants"] == []

            assert await refused(mei.ask("jog", motor="stirrer")) == ("key_not_held", {})
            await table.world_act("hold", key="service", seat="E")
            shown = (await mei.ask("sensors"))["sensors"]
            assert shown["service_key"] and shown["centre_down"]
            assert (await mei.ask("jog", motor="stirrer", ms=400))["outcome"] == "done"
            await mei.ask("jog", motor="centre", ms=600)
            assert not (await mei.ask("sensors"))["sensors"]["centre_down"], "half-way up"
            assert await refused(mei.ask("leave", sure=False)) == ("not_home", {"centre": "moving"})
            await mei.ask("jog", motor="centre", ms=-700)
            await table.world_act("control", verb="fault", code="eye_dirty", side="W", seat="E")
            tested = await mei.ask("self_test", number=0)
            assert (tested["fault"], tested["side"]) == ("eye_dirty", "W")
            await table.world_act("control", verb="fault", code="eye_dirty", side="W", seat="E", cleared=True)
            await table.world_act("press", key="service", seat="E", held_ms=30_000)

        table.kill("daemon")
        table.start_daemon()
        await table.follow("E", table.topics.availability, lambda data: data["reason"] == "service", 30)
        async with repairer(table) as mei:
            found = await mei.ask("status")
            assert (found["service"], found["who"]) == ("on", "Mei"), "a start of the daemon gives nothing back"
            assert (await table.physical())["throws"] == before
            await until_up(mei)
            assert (await mei.ask("leave", sure=False))["service"] == "off"
            await available(table, "parked")
            await table.answer("W", "parked", "unpark")
            await available(table, "ready")
            await table.ended()
            faults = (await mei.ask("history"))["faults"]
            assert [(one["code"], one["side"], one["count"]) for one in faults] == [("eye_dirty", "W", 1)]
            assert (await mei.ask("counters"))["cycles"] > 0
    names = [name for name, _ in table.events()]
    assert names.count("ServiceBegun") == names.count("ServiceEnded") == names.count("HandEnded") == 1
    done = [body["act"] for name, body in table.events() if name == "ServiceDone"]
    assert done == ["jog", "jog", "jog", "self_test"], "what was refused is not among them"
    assert names.count("DiceRolled") == names.count("RollBegun"), "every roll was thrown once"


async def until_up(mei: ServiceClient) -> None:
    """The daemon has been started anew: its board answers after a moment."""
    async with asyncio.timeout(20):
        while (await mei.ask("status"))["link"] != "up":
            await asyncio.sleep(0.1)
