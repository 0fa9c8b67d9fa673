"""The C board behind a real pty with the simulated table's mechanisms: the tests of the Python board."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tests.simulators.host as shared
from protocol.serial.messages import CentreRaise, DiceRoll, Identify, OpId, OpRefused, OpResult, Ping, Pong
from simulators.c_board import CMcu
from simulators.table import SimulatedTable, TableConfig
from tests.protocol.c.building import SANITIZED, board
from tests.simulators.host import LinkLost, table_and_host
from tests.simulators.test_mcu import *  # noqa: F403

# Of ports that are no pty of the program's own.
del test_over_tcp_a_pulled_line_comes_back_at_the_same_port  # noqa: F821
del test_a_slow_line_takes_its_time  # noqa: F821
del test_a_file_in_place_of_the_link_is_left_alone  # noqa: F821
# Of the mechanisms alone.
del test_wear_brings_faults_as_the_seed_will_have_it  # noqa: F821
del test_two_tables_of_one_seed_deal_the_same  # noqa: F821


@pytest.fixture(scope="module", autouse=True)
def in_c() -> Iterator[None]:
    """Every simulated table of this module has its firmware in C."""
    program, usual = board(flags=SANITIZED), shared.config

    def config(folder: Path, **changes: Any) -> TableConfig:
        return replace(usual(folder, **changes), mcu=program)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared, "config", config)
        yield


async def test_the_board_is_the_one_in_c(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host):
        assert isinstance(table.mcu, CMcu)
        await host.identify()


async def test_a_board_that_stood_still_acts_on_nothing_of_the_flood(tmp_path: Path) -> None:
    """Its process is stopped while the host asks for a throw again and again: awake, it throws once, asked anew."""
    async with table_and_host(tmp_path, speed=20) as (table, host):
        await host.identify()
        await host.set_gear()
        freezing = asyncio.create_task(table.mcu.freeze(2.6))
        await asyncio.sleep(0.05)
        roll = DiceRoll(host.new_op())
        host.send(roll)
        await host.until(LinkLost)
        await freezing
        assert table.world.throws == 0
        await host.identify()
        host.send(roll)
        result = await host.until(OpResult)
        assert (result.op, result.outcome, table.world.throws) == (roll.op, "done", 1)


async def test_a_host_of_another_protocol_is_refused_every_operation(tmp_path: Path) -> None:
    async with table_and_host(tmp_path) as (table, host):
        await host.identify()
        host.send(Identify(host.next_req(), 2, 9, "from tomorrow"))
        host.send(CentreRaise(OpId(1, 1, 1, 0)))
        assert (await host.until(OpRefused)).reason == "unsupported"
        assert table.world.centre == "down"
        host.send(Ping(5))
        assert (await host.until(Pong)).req == 5


async def test_a_program_that_is_none_says_so(tmp_path: Path) -> None:
    missing = tmp_path / "no-such-program"
    with pytest.raises(OSError, match="no-such-program"):
        async with SimulatedTable(replace(shared.config(tmp_path), mcu=missing)):
            pass
    (tmp_path / "serial").write_text("mine")
    with pytest.raises(OSError, match="ended with code 1"):
        async with SimulatedTable(shared.config(tmp_path)):
            pass
    assert (tmp_path / "serial").read_text() == "mine"


async def test_a_full_queue_loses_nothing(tmp_path: Path) -> None:
    """More than the board's queue holds, told at once while the host is slow: all of it arrives, in order."""
    async with table_and_host(tmp_path) as (table, host):
        await host.identify()
        host.deaf = True
        for number in range(300):
            table.mcu.say(Pong(number + 1))
        await asyncio.sleep(0.2)
        host.deaf = False
        heard = [(await host.until(Pong)).req for _ in range(300)]
        assert heard == list(range(1, 301))
