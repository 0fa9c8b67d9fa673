"""`kaijin link probe`, `kaijin journal show`, `kaijin doctor`: what a maker or repairer reads."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import tty
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.doctor import doctor
from cli.journal import journal
from cli.link import link
from controller.broker_address import BrokerAddress
from controller.clock import Stamp
from controller.journal import NewEvent, open_journal
from controller.private_broker import PrivateBroker
from controller.serial_port import open_serial_port
from engine.events import encode_event
from tests.controller.board import Board
from tests.engine.walker import Walker


@dataclass
class Told:
    """What a command said and how it ended."""

    code: int
    text: str


async def run(command: object, *arguments: str) -> Told:
    """Run a command beside the test's own loop, as another process would."""
    result = await asyncio.to_thread(CliRunner().invoke, command, list(arguments))  # type: ignore[arg-type]
    return Told(result.exit_code, result.output)


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    made = Board(tmp_path / "port")
    made.plug()
    yield made
    made.close()


# -- link probe --------------------------------------------------------------------------------------------------------


async def test_a_probe_tells_board_capabilities_status_and_counters(board: Board) -> None:
    told = await run(link, "probe", str(board.path), "--json")
    said = json.loads(told.text)
    assert told.code == 0
    assert said["board"]["model"] == "test board" and said["capabilities"]["sensing"] == "full"
    assert said["status"]["centre"] == "down" and said["counters"]["cycles"] == 3
    assert said["line"]["bad_frames"] == 0 and not board.executed
    text = (await run(link, "probe", str(board.path))).text
    assert "firmware" in text and "motor_seconds" in text


async def test_a_foreign_version_is_told_with_the_side_to_update(board: Board) -> None:
    board.protocol = 9
    told = await run(link, "probe", str(board.path))
    assert told.code == 1 and "update the host's software" in told.text


async def test_a_silent_port_and_a_noisy_one_are_told_apart(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    tty.setraw(slave)
    name = os.ttyname(slave)
    told = await run(link, "probe", name, "--timeout", "0.4")
    assert told.code == 1 and "nobody answers" in told.text

    noise = asyncio.create_task(_noise(master))
    told = await run(link, "probe", name, "--timeout", "0.4")
    noise.cancel()
    assert told.code == 1 and "no frame of a table's board" in told.text
    os.close(master)
    os.close(slave)


async def _noise(master: int) -> None:
    while True:
        os.write(master, b"AT\r\nOK\r\n")
        await asyncio.sleep(0.05)


async def test_a_port_that_is_none_or_taken_is_told(board: Board, tmp_path: Path) -> None:
    told = await run(link, "probe", str(tmp_path / "nothing"))
    assert told.code == 1 and "no such device" in told.text
    owner = open_serial_port(str(board.path), 115200, lambda data: None, lambda reason: None)
    told = await run(link, "probe", str(board.path))
    assert told.code == 1 and "another program holds this port" in told.text
    owner.abort()


# -- journal show ------------------------------------------------------------------------------------------------------


@pytest.fixture
async def played(tmp_path: Path) -> Path:
    """The journal of one hand that is over and one that is in play, walls and hands read."""
    walker = Walker("new-xiamen-120", sensing="full", hands=2, seed=3)
    path = tmp_path / "table.journal"
    written, _ = open_journal(path, lambda events, *since: sum(1 for _ in events))
    stored: list[NewEvent] = []
    walker.watch = lambda before, events, after: stored.extend(_as_stored(before.hand, events))
    walker.run(until=lambda state: state.hand == 2 and state.phase == "flowers")
    await written.append(stored, Stamp(1_700_000_000_000, 5, "synced"), 1)
    await written.close()
    return path


def _as_stored(hand: int, events: object) -> Iterator[NewEvent]:
    ended = 0
    for event in events:  # type: ignore[attr-defined]
        body = encode_event(event)
        kind = body.pop("type")
        yield NewEvent(hand + ended, kind, body)
        ended += kind == "HandEnded"


async def test_the_hand_in_play_is_withheld_and_the_ended_one_shown(played: Path) -> None:
    told = await run(journal, "show", str(played), "--json")
    events = [json.loads(line) for line in told.text.splitlines()]
    assert told.code == 0 and [event["n"] for event in events] == list(range(1, len(events) + 1))
    walls = {event["hand"]: event["body"]["tiles"] for event in events if event["type"] == "WallRead"}
    assert walls[2] == "withheld" and isinstance(walls[1], list)
    in_play = [json.dumps(event["body"]) for event in events if event["hand"] == 2]
    taken = [event for event in events if event["hand"] == 2 and event["type"] == "TakeDone"]
    assert taken and all(event["body"]["tiles"] == "withheld" for event in taken)
    assert in_play


async def test_one_hand_can_be_asked_for_in_words(played: Path) -> None:
    told = await run(journal, "show", str(played), "--hand", "1")
    lines = told.text.splitlines()
    assert "events" in lines[0] and all("hand 1 " in line for line in lines[1:])
    assert any("DiceRolled" in line and "2023-11-14 22:13:20.000Z" in line for line in lines)


async def test_what_is_no_journal_is_told(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    for path, words in (("text", "no journal of a table"), ("none", "no journal there")):
        told = await run(journal, "show", str(tmp_path / path))
        assert told.code == 1 and words in told.text
    assert (await run(journal, "show")).code == 2


# -- doctor ------------------------------------------------------------------------------------------------------------


def settings(tmp_path: Path, broker: str) -> Path:
    path = tmp_path / "table.toml"
    text = f'[table]\nid = "doctor-1"\n[serial]\nports = ["port"]\n[journal]\npath = "t.journal"\n[broker]\n{broker}\n'
    path.write_text(text)
    return path


def lines_of(told: Told) -> dict[str, tuple[str, str, str]]:
    found = [json.loads(line) for line in told.text.splitlines()]
    return {finding["what"].split()[0]: (finding["level"], finding["found"], finding["do"]) for finding in found}


async def test_a_table_that_is_well_set_up(tmp_path: Path, board: Board) -> None:
    with PrivateBroker(tmp_path / "broker", "doctor-1") as broker:
        path = settings(tmp_path, f'port = {broker.port}\ncredentials = "{broker.credentials_path}"')
        told = await run(doctor, "--config", str(path), "--json")
    found = lines_of(told)
    assert told.code == 0, told.text
    for what in ("settings", "rules", "port", "broker", "access", "journal", "disk"):
        assert found[what][0] == "OK", found
    assert "test board" in found["port"][1] and "kept apart" in found["access"][1]


async def test_an_access_list_that_lets_seats_see_each_other_fails(tmp_path: Path, board: Board) -> None:
    with PrivateBroker(tmp_path / "broker", "doctor-1") as broker:
        users = "".join(f"user {user}\ntopic readwrite #\n" for user in broker.credentials)
        (tmp_path / "broker" / "acl").write_text(users)
        _reload(broker)
        own = BrokerAddress(broker.host, broker.port, None, "doctor-1", broker.credentials["doctor-1"], 5)
        async with own.client() as client:
            await client.publish("kaijin/1/doctor-1/seat/S", b"{}", qos=1, retain=True)
        path = settings(tmp_path, f'port = {broker.port}\ncredentials = "{broker.credentials_path}"')
        told = await run(doctor, "--config", str(path), "--json")
    level, words, do = lines_of(told)["access"]
    assert told.code == 1 and level == "FAIL" and "seat/S" in words and "broker-files" in do


def _reload(broker: PrivateBroker) -> None:
    """mosquitto reads its access list again at SIGHUP."""
    assert broker.pid is not None
    os.kill(broker.pid, signal.SIGHUP)


async def test_everything_missing_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "t.journal").write_text("rubbish")
    path = settings(tmp_path, "port = 1")
    told = await run(doctor, "--config", str(path), "--json")
    found = lines_of(told)
    assert told.code == 1
    for what in ("port", "broker", "journal"):
        level, words, do = found[what]
        assert level == "FAIL" and words and do
    text = (await run(doctor, "--config", str(path))).text
    assert "FAIL port" in text and "→" in text


async def test_settings_that_are_wrong_end_the_look(tmp_path: Path) -> None:
    (tmp_path / "table.toml").write_text("[table]\nid = 'x'\n")
    told = await run(doctor, "--config", str(tmp_path / "table.toml"))
    assert told.code == 1 and "[table] id" in told.text and "[serial]" in told.text
