"""The world channel: acts and their refusals, sights after every change, nonsense answered in words."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from simulators.channel import ActRefused, ChannelError, WorldClient, split_address
from simulators.pace import PaceError, parse_speed
from simulators.sight import Sight
from simulators.table import FaultSpecError, SimulatedTable, parse_failure, parse_missing
from tests.simulators.dealt import Table
from tests.simulators.host import config, hands


async def ask(address: str, *lines: bytes) -> list[dict[str, Any]]:
    """Raw lines on the channel; as many answers."""
    reader, writer = await asyncio.open_unix_connection(address)
    try:
        writer.write(b"".join(line + b"\n" for line in lines))
        return [json.loads(await asyncio.wait_for(reader.readline(), 5)) for _ in lines]
    finally:
        writer.close()


async def test_nonsense_is_answered_in_words(tmp_path: Path) -> None:
    async with SimulatedTable(config(tmp_path)) as table:
        answers = await ask(
            table.world_address,
            b"{",
            b"[1]",
            b'{"id": 1, "act": "dance"}',
            b'{"id": 2, "act": "take", "seat": "X", "positions": []}',
            b'{"id": 3, "act": "take", "seat": "E", "positions": "S2t"}',
            b'{"id": 4, "act": "press", "seat": "E", "key": "lift", "held_ms": -1}',
            b'{"id": 5, "act": "control", "verb": "explode"}',
            b'{"id": 6, "act": "control", "verb": "fault", "code": "gremlins"}',
            b'{"id": 7, "act": "control", "verb": "unplug", "seconds": "soon"}',
            b'{"id": 8, "act": "see", "seat": "E"}',
        )
    assert [answer["ok"] for answer in answers] == [False] * 9 + [True]
    words = ["no JSON", "an object, got list", "no act 'dance'", "expected E, S, W or N, got 'X'", "a list of texts"]
    words += ["0 to 60000", "unplug, reboot", "sort_timeout", "seconds: expected"]
    for answer, word in zip(answers, words, strict=False):
        assert word in answer["error"]
    assert answers[9]["sight"]["hand"] == [] and answers[9]["id"] == 8


async def test_a_watcher_sees_every_change_and_its_own_hand_alone(tmp_path: Path) -> None:
    async with SimulatedTable(config(tmp_path)) as table:
        table.world.sort(1, (15, 15, 15, 15))
        table.world.felt = {seat: [] for seat in "ESWN"}
        table.world.raise_walls(1)
        seen: asyncio.Queue[Sight] = asyncio.Queue()
        watcher = WorldClient(table.world_address, "S", seen.put_nowait)
        watching = asyncio.create_task(watcher.run())
        first = await asyncio.wait_for(seen.get(), 5)
        assert first.seat == "S" and first.hand == ()
        async with hands(table, "N") as other:
            result = await other.act("take", positions=["E1t", "E1b"])
        while (later := await asyncio.wait_for(seen.get(), 5)).seen < result["seen"]:
            pass
        assert later.counts["N"] == 2 and later.hand == () and not later.stands("E1t")
        mine = await watcher.act("take", positions=["E2t"])
        while (later := await asyncio.wait_for(seen.get(), 5)).seen < mine["seen"]:
            pass
        assert list(later.hand) == mine["tiles"]
        with pytest.raises(ActRefused, match="no tile stands at E2t any more"):
            await watcher.act("take", positions=["E2t"])
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def test_what_the_rules_forbid_is_refused_with_code_and_rule(tmp_path: Path) -> None:
    dealt = Table("new-xiamen-120")
    async with SimulatedTable(config(tmp_path)) as table:
        world = table.world
        world.walls, world.hands, world.flowers = dealt.world.walls, dealt.world.hands, dealt.world.flowers
        world.flipped, world.felt = dealt.world.flipped, {seat: [] for seat in "ESWN"}
        async with hands(table, "S") as person:
            await person.act("begin_round", **{**dealt.begin, "opening": ["", ""]})
            with pytest.raises(ActRefused, match="not_your_turn") as refusal:
                await person.act("play", action={"name": "discard", "tile": dealt.world.hands["S"][0].face}, number=0)
            assert (refusal.value.code, refusal.value.rule) == ("not_your_turn", "R13")
            with pytest.raises(ActRefused, match="no tile '9q'") as plain:
                await person.act("discard", tile="9q")
            assert (plain.value.code, plain.value.rule) == ("", "")
            answer = json.dumps({"id": 1, "act": "play", "seat": "S", "action": {"name": "pong"}}).encode()
            assert (await ask(table.world_address, answer))[0] == {
                "id": 1,
                "ok": False,
                "error": "not allowed: not_asked (R13)",
                "code": "not_asked",
                "rule": "R13",
                "params": {},
            }
        async with hands(table, "E") as dealer:
            tile = dealt.world.hands["E"][0].face
            await dealer.act("play", action={"name": "discard", "tile": tile}, number=0)
            seen = Sight.model_validate((await dealer.act("see"))["sight"])
            assert seen.round is not None and (seen.round.tile, seen.round.source) == (tile, "E")


async def test_acting_without_a_world_says_so(tmp_path: Path) -> None:
    client = WorldClient(str(tmp_path / "nowhere"), "E", lambda sight: None)
    with pytest.raises(ChannelError, match="not connected"):
        await client.act("see")
    with pytest.raises(ChannelError, match="No such file"):
        await client.run()


async def test_a_world_that_goes_away_ends_what_waits_for_it(tmp_path: Path) -> None:
    async with SimulatedTable(config(tmp_path)) as table:
        seen = asyncio.Event()
        client = WorldClient(table.world_address, "E", lambda sight: seen.set())
        running = asyncio.create_task(client.run())
        await seen.wait()
        acting = asyncio.create_task(client.act("control", verb="unplug", seconds=30))
        await asyncio.sleep(0)
    for task in (running, acting):
        with pytest.raises(ChannelError):
            await asyncio.wait_for(task, 5)


async def test_the_channel_serves_tcp_as_well(tmp_path: Path) -> None:
    async with SimulatedTable(config(tmp_path, world="127.0.0.1:0", link=None, tcp="127.0.0.1:0")) as table:
        assert table.line_name.startswith("127.0.0.1:")
        async with hands(table) as person:
            assert (await person.act("control", verb="summary"))["sorts"] == 0


async def test_faults_come_and_go_by_control(tmp_path: Path) -> None:
    async with SimulatedTable(config(tmp_path)) as table, hands(table) as person:
        await person.act("control", verb="fault", code="eye_dirty", side="W")
        assert ("eye_dirty", "W") in table.mcu.faults
        await person.act("control", verb="fault", code="eye_dirty", side="W", cleared=True)
        assert not table.mcu.faults


def test_addresses() -> None:
    assert split_address("127.0.0.1:80") == ("127.0.0.1", 80, None)
    assert split_address("[::1]:80") == ("::1", 80, None)
    assert split_address("/run/x")[2] == "/run/x"
    for wrong in ("nowhere", "host:", "host:port", "host:99999"):
        with pytest.raises(ChannelError, match="expected HOST:PORT"):
            split_address(wrong)


def test_words_of_the_command_line() -> None:
    assert parse_speed("max") is None and parse_speed("10") == 10
    for wrong in ("fast", "0", "-1", "nan", "inf"):
        with pytest.raises(PaceError, match="expected a number above 0"):
            parse_speed(wrong)
    assert parse_missing("2:S:3").count == 3 and parse_missing("1:E").count == 1
    assert parse_failure("sort:2").fault == "head_jam" and parse_failure("sort:2:eye_dirty").fault == "eye_dirty"
    for parse, wrong in (
        (parse_missing, "S"),
        (parse_missing, "1:X"),
        (parse_missing, "0:S"),
        (parse_missing, "1:S:x"),
        (parse_failure, "dance:1"),
        (parse_failure, "sort"),
        (parse_failure, "sort:x"),
        (parse_failure, "sort:1:gremlins"),
    ):
        with pytest.raises(FaultSpecError, match=wrong):
            parse(wrong)
