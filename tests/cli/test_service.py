"""`kaijin service` at a running daemon: every sub-command in words, its exit codes, nobody to ask."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import kaijin
from cli.service_words import LANGUAGES, Words, table, usual_language
from controller.settings import Settings
from protocol.serial import messages as serial
from protocol.serial.vocabulary import MOTORS, SELF_TESTS, SENSOR_BITS
from tests.controller.board import Board
from tests.controller.daemons import Ear, begin, broker, ear, settings

__all__ = ["broker", "ear", "settings"]

Command = Callable[..., Awaitable[Result]]


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    made = Board(tmp_path / "port")
    made.capabilities = serial.Capabilities()
    made.plug()
    yield made
    made.close()


@pytest.fixture
async def command(settings: Settings, board: Board, ear: Ear, tmp_path: Path) -> AsyncIterator[Command]:
    """`kaijin service` for a table whose daemon runs."""
    running = await begin(settings)
    await ear.available("ready")

    async def service(*arguments: str, language: str = "en") -> Result:
        shared = ["--config", str(tmp_path / "table.toml"), "--who", "Mei", "--language", language]
        return await asyncio.to_thread(CliRunner().invoke, kaijin, ["service", *shared, *arguments])

    yield service
    await running.end()


async def test_a_repairer_works_at_a_terminal(command: Command, board: Board, ear: Ear) -> None:
    assert "Service mode is off" in (await command()).output
    refused = await command("jog", "walls")
    assert refused.exit_code == 3 and "Error: Enter service mode first" in refused.output
    entering = asyncio.create_task(command("enter"))
    await board.until(lambda: serial.ServiceEnd() in board.asked)
    board.shown.add("service_mode")
    board.say(serial.Key("service", "", 3300))
    assert (await entering).exit_code == 0
    said = await command(language="zh-Hans")
    assert "维修人：Mei" in said.output and "维修模式" in said.output
    shown = (await command("sensors")).output
    assert "eye, West side" in shown and "24.0 V" in shown and "35 °C" in shown
    assert "The service key is not held" in (await command("jog", "walls")).output
    board.shown.add("service_key")
    assert (await command("jog", "walls", "--ms", "50", "--back")).output.endswith("Walls: moved\n")
    assert [asked.milliseconds for asked in board.asked if isinstance(asked, serial.Jog)] == [-50]
    board.hold = True
    testing = asyncio.create_task(command("test", "6"))
    await board.until(lambda: board.executed["SelfTest"] == 1)
    found = serial.SelfTestOutcome.of(((6, "eye_dirty", "W"),)).pack()
    board.finish(found, "failed", "eye_dirty")
    tested = await testing
    assert tested.exit_code == 3 and "West side: A sensor eye is dirty – wipe the eye" in tested.output
    assert "lamps" in (await command("lamps")).output
    assert (await command("buzzer", "2")).exit_code == 0
    board.centre = "moving"
    assert "Not home: Centre" in (await command("leave")).output
    assert (await command("leave", "--sure")).exit_code == 0
    assert (await ear.available("parked"))["data"]["reason"] == "service", "no hand at the table has said go on"


async def test_what_needs_no_service_mode(command: Command, board: Board, ear: Ear) -> None:
    assert (await command("history")).output.endswith("No fault on record\n")
    board.say(serial.FaultRaised("eye_dirty", "warning", "eye", "W"))
    async with asyncio.timeout(10):
        while "14" not in (told := (await command("history", language="zh-Hans")).output) and "西边" not in told:
            await asyncio.sleep(0.05)
    assert "光眼脏了" in told and "西边光眼" in told
    counted = json.loads((await command("--json", "counters")).output.splitlines()[-1])
    assert counted["cycles"] == 3
    assert "Raising the centre".lower() in (await command("times")).output.lower()


def test_nobody_to_ask_is_told(settings: Settings, tmp_path: Path) -> None:
    done = CliRunner().invoke(kaijin, ["service", "--config", str(tmp_path / "table.toml")])
    assert done.exit_code == 1 and "does not answer" in done.output and "Traceback" not in done.output
    done = CliRunner().invoke(kaijin, ["service", "--config", str(tmp_path / "none.toml")])
    assert done.exit_code == 1 and "none.toml" in done.output


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_name_of_the_contract_is_worded(language: str) -> None:
    words = Words(language)
    said = [*map(words.motor, MOTORS), *map(words.test, SELF_TESTS), *map(words.sensor, SENSOR_BITS)]
    assert not [one for one in said if "_" in one or "{" in one or one.startswith("service.")]


def test_the_language_is_that_of_the_terminal() -> None:
    for locale, language in (("zh_CN.UTF-8", "zh-Hans"), ("zh_TW.UTF-8", "zh-Hant"), ("de_DE", "en"), ("", "en")):
        assert usual_language({"LANG": locale}) == language
    assert usual_language({"LC_ALL": "zh_HK", "LANG": "C"}) == "zh-Hant"


def test_columns_stand_under_one_another_in_any_script() -> None:
    lines = table([["光眼", "a"], ["eye", "b"]]).splitlines()
    assert lines == ["光眼  a", "eye   b"]
