"""The repairer at the simulated board: a key held and let go, what a jog moves, what self-tests find."""

from __future__ import annotations

import asyncio
from pathlib import Path

from protocol.serial.messages import (
    SELF_TESTS,
    SENSOR_BITS,
    CentreRaise,
    DiceFaces,
    DiceQuery,
    DiceUnasked,
    Jog,
    Key,
    OpAccepted,
    OpResult,
    SelfTest,
    SelfTestOutcome,
    Sensors,
    SensorsQuery,
    ServiceEnd,
)
from simulators.channel import WorldClient
from simulators.table import SimulatedTable
from tests.simulators.host import Host, hands, table_and_host


async def sensors(host: Host) -> dict[str, bool]:
    host.send(SensorsQuery(host.next_req()))
    bits = (await host.until(Sensors)).bits
    return {name: bool(bits >> bit & 1) for bit, name in enumerate(SENSOR_BITS)}


async def enter(person: WorldClient, host: Host) -> None:
    await person.act("press", key="service", held_ms=3500)
    await host.until(Key)


async def test_the_key_turns_the_mode_and_a_press_that_ran_a_motor_does_not(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host), hands(table) as person:
        await host.identify()
        await person.act("press", key="service", held_ms=1000)
        assert not (await sensors(host))["service_mode"], "too short"
        await enter(person, host)
        assert (await sensors(host))["service_mode"]
        await person.act("hold", key="service")
        assert (await sensors(host))["service_key"]
        await host.run(Jog, motor=2, milliseconds=200)
        await person.act("press", key="service", held_ms=9000)
        shown = await sensors(host)
        assert shown["service_mode"] and not shown["service_key"], "held for the motor's sake"
        await person.act("press", key="service", held_ms=3500)
        assert not (await sensors(host))["service_mode"]


async def test_a_motor_stops_when_the_key_is_let_go(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, speed=1) as (table, host), hands(table) as person:
        await host.identify()
        await enter(person, host)
        await person.act("hold", key="service")
        host.send(Jog(host.new_op(), 2, 3000))
        await host.until(OpAccepted)
        await person.act("press", key="service", held_ms=200)
        assert (await host.until(OpResult)).outcome == "interrupted"
        assert table.mcu.mechanisms.motor_seconds[2] < 2
        assert await host.refused(Jog, motor=2, milliseconds=100) == "service_mode"


async def test_the_host_ends_service_mode_and_a_running_motor(tmp_path: Path) -> None:
    async with table_and_host(tmp_path, speed=1) as (table, host), hands(table) as person:
        await host.identify()
        await enter(person, host)
        await person.act("hold", key="service")
        host.send(Jog(host.new_op(), 2, 3000))
        await host.until(OpAccepted)
        host.send(ServiceEnd())
        assert (await host.until(OpResult)).outcome == "interrupted"
        assert await host.refused(SelfTest, number=1) == "service_mode"


async def test_sensors_follow_what_is_jogged(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host), hands(table) as person:
        await host.identify()
        await enter(person, host)
        await person.act("hold", key="service")
        await host.run(Jog, motor=0, milliseconds=600)
        half = await sensors(host)
        assert not half["centre_down"] and not half["centre_up"]
        found = SelfTestOutcome.unpack((await host.run(SelfTest, number=4)).values)
        assert found.checks == ((4, "centre_limit_missing", ""),)
        await host.run(Jog, motor=0, milliseconds=700)
        assert (await sensors(host))["centre_up"]
        stalled = await host.run(Jog, motor=0, milliseconds=1000)
        assert (stalled.outcome, stalled.fault) == ("failed", "motor_stall"), "it stands at its end"
        await host.run(Jog, motor=0, milliseconds=-1250)
        assert (await sensors(host))["centre_down"]
        assert (await host.run(CentreRaise)).outcome == "done"


async def test_a_jog_of_the_dice_throws_nothing(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host), hands(table) as person:
        await host.identify()
        await enter(person, host)
        await person.act("hold", key="service")
        await host.run(Jog, motor=5, milliseconds=300)
        assert not (await host.until(DiceUnasked)).known
        host.send(DiceQuery(host.next_req()))
        assert not (await host.until(DiceFaces)).known and table.world.throws == 0


async def test_self_tests_name_what_is_wrong_and_where(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host), hands(table) as person:
        await host.identify()
        await enter(person, host)
        await person.act("control", verb="fault", code="eye_dirty", side="W")
        sound = await host.run(SelfTest, number=1)
        assert (sound.outcome, SelfTestOutcome.unpack(sound.values).checks) == ("done", ((1, "", ""),))
        result = await host.run(SelfTest, number=SELF_TESTS.index("eyes"))
        assert (result.outcome, result.fault, result.side) == ("failed", "eye_dirty", "W")
        assert await host.refused(SelfTest, number=0) == "service_mode", "all of them move something too"
        await person.act("hold", key="service")
        checks = SelfTestOutcome.unpack((await host.run(SelfTest, number=0)).values).checks
        assert [number for number, _, _ in checks] == [1, 2, 3, 4, 5, 6, 7, 8, 10], "there are no readers"
        assert (6, "eye_dirty", "W") in checks
        assert await host.refused(SelfTest, number=SELF_TESTS.index("readers")) == "unsupported"
        assert await host.refused(SelfTest, number=200) == "unsupported"


async def test_a_board_that_starts_anew_is_out_of_service_mode(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host), hands(table) as person:
        await host.identify()
        await enter(person, host)
        assert isinstance(table, SimulatedTable) and table.mcu.mechanisms.service
        await asyncio.wait_for(table.mcu.reboot(), 5)
        assert not table.mcu.mechanisms.service
