"""A display is paired with a seat: by a token, or by a code that is confirmed at the table."""

from __future__ import annotations

import asyncio
import json
import re
import stat
from pathlib import Path

import aiomqtt
import pytest

from controller.private_broker import PrivateBroker
from controller.web_address import pairing_url
from controller.web_pairing import Asks, PairingError, Register, Tokens
from tests.controller.web.site import (
    DEVICE,
    OTHER,
    TABLE,
    TOPICS,
    Site,
    from_table,
    payload_of,
    serving,
    settings_for,
)

# --- pairing with a token ---------------------------------------------------------------------------------------------


async def test_a_token_pairs_once(site: Site) -> None:
    token = site.server.tokens.make("S")
    body = {"seat": "S", "token": token, "device": DEVICE, "name": "tablet"}
    status, fields = await site.post("/pair", body)
    assert status == 200
    assert fields["user"] == f"{TABLE}-S" and fields["table"] == TABLE and fields["seat"] == "S"
    assert fields["password"] not in site.broker.credentials.values()
    assert await site.post("/pair", body) == (403, {"code": "bad_token"})


async def test_of_many_who_use_a_token_at_once_one_is_let_in(site: Site) -> None:
    token = site.server.tokens.make("view")
    bodies = [{"seat": "view", "token": token, "device": f"device-{n:012}"} for n in range(8)]
    answers = await asyncio.gather(*(site.post("/pair", body) for body in bodies))
    assert sorted(status for status, _ in answers) == [200] + [403] * 7


async def test_a_token_is_for_its_seat_and_for_its_time(site: Site) -> None:
    token = site.server.tokens.make("S")
    answer = await site.post("/pair", {"seat": "E", "token": token, "device": DEVICE})
    assert answer == (403, {"code": "bad_token"})
    old = site.server.tokens.make("S", seconds=-1)
    answer = await site.post("/pair", {"seat": "S", "token": old, "device": DEVICE})
    assert answer == (403, {"code": "bad_token"})
    answer = await site.post("/pair", {"seat": "S", "token": token, "device": DEVICE})
    assert answer[0] == 200


async def test_a_second_device_is_refused_and_the_table_is_told(site: Site) -> None:
    async with site.table() as table:
        await table.subscribe(TOPICS.pairing("refused"), qos=1)
        first = await site.pair("E")
        token = site.server.tokens.make("E")
        body = {"seat": "E", "token": token, "device": OTHER, "name": "phone"}
        assert await site.post("/pair", body) == (409, {"code": "second_device"})
        async with asyncio.timeout(3):
            message = await anext(table.messages)
        assert json.loads(payload_of(message)) == {"seat": "E", "name": "phone"}
    # The first one stays, and the token is still good once the seat is free.
    async with site.mqtt(first["user"], first["password"]):
        pass
    site.server.register.release("E")
    assert (await site.post("/pair", body))[0] == 200


async def test_the_same_device_may_pair_again(site: Site) -> None:
    first = await site.pair("W")
    second = await site.pair("W")
    assert first["password"] != second["password"]
    async with site.mqtt(second["user"], second["password"]):
        pass
    with pytest.raises(aiomqtt.MqttError):
        async with site.mqtt(first["user"], first["password"]):
            pass


async def test_who_holds_which_seat_is_retained_for_the_table(site: Site) -> None:
    await site.pair("N", name="北 <b>tablet</b>")
    async with site.table() as table:
        await table.subscribe(TOPICS.pairing("state"), qos=1)
        async with asyncio.timeout(3):
            while True:
                state = json.loads(payload_of(await anext(table.messages)))
                if state["N"]:
                    break
    assert state == {"E": None, "S": None, "W": None, "N": "北 <b>tablet</b>", "view": None, "service": None}


async def test_pairings_survive_a_restart_of_the_server(broker: PrivateBroker, tmp_path: Path) -> None:
    settings = settings_for(broker, tmp_path / "web")
    async with serving(settings, broker) as site:
        paired = await site.pair("E")
    async with serving(settings, broker) as site, site.mqtt(paired["user"], paired["password"]):
        pass
    files = [path for path in (tmp_path / "web").rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert paired["password"] not in path.read_text()
    assert stat.S_IMODE((tmp_path / "web").stat().st_mode) == 0o700


async def test_unpairing_by_the_seat_ends_the_display_at_once(site: Site) -> None:
    paired = await site.pair("E")
    async with site.table() as table:
        with pytest.raises(aiomqtt.MqttError):
            async with site.mqtt(paired["user"], paired["password"]) as display:
                await table.publish(TOPICS.pairing("release"), from_table("pairing/release", {"seat": "E"}), qos=1)
                async with asyncio.timeout(5):
                    await anext(display.messages)
    with pytest.raises(aiomqtt.MqttError, match=r"[Nn]ot authori"):
        async with site.mqtt(paired["user"], paired["password"]):
            pass
    assert site.server.register.holders()["E"] is None


async def test_unpairing_from_outside_is_noticed(site: Site, tmp_path: Path) -> None:
    paired = await site.pair("E")
    with pytest.raises(aiomqtt.MqttError):
        async with site.mqtt(paired["user"], paired["password"]) as display:
            assert Register(tmp_path / "web").release("E")
            async with asyncio.timeout(5):
                await anext(display.messages)


# --- pairing by a code that is confirmed at the table -----------------------------------------------------------------


async def test_a_code_confirmed_at_the_table_lets_the_display_in(site: Site) -> None:
    async with site.table() as table:
        await table.subscribe(TOPICS.pairing("request"), qos=1)
        status, asked = await site.post("/pair/ask", {"seat": "W", "device": DEVICE, "name": "tablet"})
        assert status == 200
        assert re.fullmatch(r"[0-9]{6}", asked["code"])
        assert 0 < asked["expires_s"] <= 120
        async with asyncio.timeout(3):
            request = json.loads(payload_of(await anext(table.messages)))
        assert request == {"code": asked["code"], "seat": "W", "device": DEVICE, "name": "tablet"}
        assert await site.post("/pair/wait", {"ask": asked["ask"]}) == (202, {"code": "waiting"})

        wrong = {**request, "ok": True, "seat": "E"}
        await table.publish(TOPICS.pairing("grant"), from_table("pairing/grant", wrong), qos=1)
        await table.publish(TOPICS.pairing("grant"), b"no envelope", qos=1)
        right = {**request, "ok": True}
        await table.publish(TOPICS.pairing("grant"), from_table("pairing/grant", right), qos=1)
        async with asyncio.timeout(3):
            while (paired := await site.post("/pair/wait", {"ask": asked["ask"]}))[0] == 202:
                await asyncio.sleep(0.02)
    assert paired[0] == 200
    assert paired[1]["user"] == f"{TABLE}-W"
    async with site.mqtt(paired[1]["user"], paired[1]["password"]):
        pass
    assert await site.post("/pair/wait", {"ask": asked["ask"]}) == (410, {"code": "expired"})


async def test_a_code_refused_at_the_table_lets_nobody_in(site: Site) -> None:
    _, asked = await site.post("/pair/ask", {"seat": "W", "device": DEVICE})
    async with site.table() as table:
        data = {"code": asked["code"], "seat": "W", "device": DEVICE, "ok": False}
        await table.publish(TOPICS.pairing("grant"), from_table("pairing/grant", data), qos=1)
    async with asyncio.timeout(3):
        while (answer := await site.post("/pair/wait", {"ask": asked["ask"]}))[0] == 202:
            await asyncio.sleep(0.02)
    assert answer == (403, {"code": "refused"})


def test_asks_expire_and_are_few() -> None:
    asks = Asks()
    first = asks.begin("E", "device-1", "", "10.0.0.1", now=0.0)
    assert asks.outcome(first.secret, now=119.0) is None
    assert not asks.answered(first.code, "E", "device-1", True, now=121.0)
    with pytest.raises(PairingError, match="expired"):
        asks.outcome(first.secret, now=121.0)
    for number in range(4):
        asks.begin("E", f"device-{number}", "", "10.0.0.1", now=200.0)
    asks.begin("S", "device-3", "", "10.0.0.1", now=200.0)
    with pytest.raises(PairingError, match="too_many"):
        asks.begin("E", "device-9", "", "10.0.0.1", now=200.0)


def test_tokens_are_kept_as_hashes(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    token = tokens.make("E")
    (path,) = (tmp_path / "tokens").iterdir()
    assert token not in path.name and token not in path.read_text()
    tokens.make("S", seconds=-1)
    assert tokens.use(token, "E") and not tokens.use(token, "E")


def test_a_damaged_register_lets_nobody_in(tmp_path: Path) -> None:
    register = Register(tmp_path)
    secret = register.admit("E", DEVICE, "tablet")
    assert register.device_of("E", secret.encode()) == DEVICE
    (tmp_path / "devices.json").write_text("{ nonsense")
    assert register.device_of("E", secret.encode()) is None
    assert register.holders()["E"] is None


def test_the_address_carries_the_token_in_its_fragment() -> None:
    assert pairing_url("http://t:1/", "E", "abc") == "http://t:1/#seat=E&token=abc"
    assert pairing_url("http://t:1", "view", "abc") == "http://t:1/wall#seat=view&token=abc"
    assert pairing_url("http://t:1", "service", "abc") == "http://t:1/service#seat=service&token=abc"
