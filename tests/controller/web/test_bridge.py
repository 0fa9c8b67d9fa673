"""The bridge from the pages to the broker."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import aiohttp
import aiomqtt
import pytest

from controller.credentials import CredentialsError
from controller.private_broker import PrivateBroker
from controller.web import web_credentials
from tests.controller.web.site import (
    DEVICE,
    OTHER,
    TABLE,
    TOPICS,
    Site,
    serving,
    settings_for,
    until,
)


async def test_a_paired_display_sees_its_seat_and_is_heard(site: Site) -> None:
    paired = await site.pair("E")
    async with site.table() as table, site.mqtt(paired["user"], paired["password"]) as display:
        await table.subscribe(TOPICS.seat_input("E"), qos=1)
        await display.subscribe("#", qos=1)
        for seat in "SWNE":
            await table.publish(TOPICS.seat(seat), f"view of {seat}".encode(), qos=1, retain=True)
        async with asyncio.timeout(3):
            message = await anext(display.messages)
            assert (message.topic.value, message.payload) == (TOPICS.seat("E"), b"view of E")
            await display.publish(TOPICS.seat_input("E"), b"press", qos=1)
            assert (await anext(table.messages)).payload == b"press"
        assert len(display.messages) == 0


@pytest.mark.parametrize("protocol", [aiomqtt.ProtocolVersion.V311, aiomqtt.ProtocolVersion.V5])
async def test_both_versions_of_mqtt_and_a_will_pass(site: Site, protocol: aiomqtt.ProtocolVersion) -> None:
    paired = await site.pair("view")
    client = aiomqtt.Client(
        "127.0.0.1", site.port, username=paired["user"], password=paired["password"], transport="websockets",
        websocket_path="/mqtt", protocol=protocol, will=aiomqtt.Will("nowhere", b"x" * 300), timeout=3,
    )  # fmt: skip
    async with client, site.table() as table:
        await client.subscribe(TOPICS.state)
        await table.publish(TOPICS.state, b"x" * 8000, qos=1)
        async with asyncio.timeout(3):
            assert (await anext(client.messages)).payload == b"x" * 8000


async def test_without_a_credential_there_is_availability_and_nothing_else(site: Site) -> None:
    async with site.table() as table:
        for topic in TOPICS.table_retains():
            await table.publish(topic, topic.encode(), qos=1, retain=True)
        async with site.mqtt(None, None) as nobody:
            await nobody.subscribe("#", qos=1)
            await table.publish(TOPICS.event("game"), b"event", qos=1)
            await table.publish(TOPICS.availability, b"last", qos=1, retain=True)
            async with asyncio.timeout(3):
                heard = [await anext(nobody.messages) for _ in range(2)]
    assert [message.topic.value for message in heard] == [TOPICS.availability] * 2
    assert heard[1].payload == b"last"
    for user, password in ((f"{TABLE}-E", "guess"), (f"{TABLE}-E", None), (TABLE, "x"), ("nobody", "x")):
        with pytest.raises(aiomqtt.MqttError, match=r"[Nn]ot authori"):
            async with site.mqtt(user, password):
                pass


@pytest.mark.parametrize(
    "garbage",
    [b"\x00", b"GET / HTTP/1.1\r\n\r\n", b"\x10\xff\xff\xff\xff\x01", b"\x10\x04\x00\x04MQ", b"\x10\xff\xff\x7f"],
)
async def test_a_first_packet_that_is_no_connect_ends_the_socket(site: Site, garbage: bytes) -> None:
    async with site.http.ws_connect(site.server.url + "/mqtt", protocols=("mqtt",)) as socket:
        await socket.send_bytes(garbage)
        message = await socket.receive(timeout=3)
        assert message.type is aiohttp.WSMsgType.CLOSE
        assert socket.close_code == 1002
    assert site.server.bridge.counters.bad_connects == 1


async def test_a_connect_in_pieces_passes(site: Site) -> None:
    connect = bytes((0x10, 12, 0, 4)) + b"MQTT" + bytes((4, 2, 0, 60, 0, 0))
    async with site.http.ws_connect(site.server.url + "/mqtt", protocols=("mqtt",)) as socket:
        for byte in connect:
            await socket.send_bytes(bytes((byte,)))
        assert (await socket.receive(timeout=3)).data == bytes((0x20, 2, 0, 0))


async def test_text_and_oversized_messages_end_the_socket(site: Site) -> None:
    connect = bytes((0x10, 12, 0, 4)) + b"MQTT" + bytes((4, 2, 0, 60, 0, 0))
    async with site.http.ws_connect(site.server.url + "/mqtt", protocols=("mqtt",)) as socket:
        await socket.send_bytes(connect)
        await socket.receive(timeout=3)
        await socket.send_str("hello")
        assert (await socket.receive(timeout=3)).type is aiohttp.WSMsgType.CLOSE
        assert socket.close_code == 1003
    async with site.http.ws_connect(site.server.url + "/mqtt", protocols=("mqtt",)) as socket:
        await socket.send_bytes(connect)
        await socket.receive(timeout=3)
        await socket.send_bytes(b"\x30" * (70 * 1024))
        message = await socket.receive(timeout=3)
        assert message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
        assert socket.close_code == 1009
    await until(lambda: site.server.bridge.open == 0)


async def test_garbage_after_the_connect_ends_that_display_alone(site: Site) -> None:
    paired = await site.pair("E")
    connect = bytes((0x10, 12, 0, 4)) + b"MQTT" + bytes((4, 2, 0, 60, 0, 0))
    async with site.mqtt(paired["user"], paired["password"]) as display:
        async with site.http.ws_connect(site.server.url + "/mqtt", protocols=("mqtt",)) as socket:
            await socket.send_bytes(connect + b"\xff\xff\xff\xff\xff\xff")
            while (message := await socket.receive(timeout=3)).type is aiohttp.WSMsgType.BINARY:
                pass
            assert message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
        await display.subscribe(TOPICS.seat("E"))
    assert site.server.session.connected


async def test_plain_requests_and_foreign_subprotocols_are_refused(site: Site) -> None:
    async with site.http.get(site.server.url + "/mqtt") as answer:
        assert answer.status == 426
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await site.http.ws_connect(site.server.url + "/mqtt", protocols=("chat",))
    assert refused.value.status == 426


async def test_sockets_are_capped_and_given_back(broker: PrivateBroker, tmp_path: Path) -> None:
    settings = settings_for(broker, tmp_path / "web", max_sockets=3, max_sockets_each=2)
    async with serving(settings, broker) as site:
        url = site.server.url + "/mqtt"
        held = [await site.http.ws_connect(url, protocols=("mqtt",)) for _ in range(2)]
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await site.http.ws_connect(url, protocols=("mqtt",))
        assert refused.value.status == 503
        await held.pop().close()
        await until(lambda: site.server.bridge.open == 1)
        async with site.http.ws_connect(url, protocols=("mqtt",)):
            pass
        await held.pop().close()
        await until(lambda: site.server.bridge.open == 0)


async def test_a_display_that_does_not_read_holds_up_nobody(site: Site) -> None:
    stalled, lively = await site.pair("E"), await site.pair("S", OTHER)
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port, limit=1024)
    writer.write(
        b"GET /mqtt HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n"
    )
    assert b" 101 " in await reader.readline()
    body = b"\x00\x04MQTT\x04\xc2\x00\x3c" + b"".join(
        len(text).to_bytes(2, "big") + text.encode() for text in ("", stalled["user"], stalled["password"])
    )
    topic = TOPICS.seat("E").encode()
    subscribe = b"\x00\x01" + len(topic).to_bytes(2, "big") + topic + b"\x00"
    for packet in (bytes((0x10, len(body))) + body, bytes((0x82, len(subscribe))) + subscribe):
        # One masked frame, masked with zeros.
        writer.write(bytes((0x82, 0x80 | len(packet))) + bytes(4) + packet)
    async with site.table() as table, site.mqtt(lively["user"], lively["password"]) as display:
        await display.subscribe(TOPICS.seat("S"), qos=1)
        for _ in range(1500):
            await table.publish(TOPICS.seat("E"), b"x" * 8000)
        await table.publish(TOPICS.seat("S"), b"your turn", qos=1)
        async with asyncio.timeout(3):
            assert (await anext(display.messages)).payload == b"your turn"
    writer.close()


async def test_without_a_broker_the_bridge_says_so_and_recovers(site: Site) -> None:
    paired = await site.pair("E")
    connect = bytes((0x10, 12, 0, 4)) + b"MQTT" + bytes((4, 2, 0, 60, 0, 0))
    site.broker.kill()
    async with site.http.ws_connect(site.server.url + "/mqtt", protocols=("mqtt",)) as socket:
        await socket.send_bytes(connect)
        await socket.receive(timeout=5)
        assert socket.close_code == 1013
    await until(lambda: not site.server.session.connected)
    answer = await site.post("/pair/ask", {"seat": "S", "device": DEVICE})
    assert answer == (503, {"code": "no_table"})
    site.broker.start()
    await until(lambda: site.server.session.connected)
    async with site.mqtt(paired["user"], paired["password"]):
        pass


async def test_open_bridges_do_not_delay_the_end(broker: PrivateBroker, tmp_path: Path) -> None:
    async with aiohttp.ClientSession() as outside:
        sockets = []
        async with serving(settings_for(broker, tmp_path / "web"), broker) as site:
            url = site.server.url + "/mqtt"
            sockets = [await outside.ws_connect(url, protocols=("mqtt",)) for _ in range(5)]
        # `serving` has waited for the end, at most 5 s, with nobody answering the close.
        for socket in sockets:
            await socket.close()


def test_the_page_server_needs_only_its_own_users(broker: PrivateBroker, tmp_path: Path) -> None:
    own = tmp_path / "web.json"
    needed = {user: word for user, word in broker.credentials.items() if user not in (TABLE, "parlor")}
    own.write_text(json.dumps(needed))
    assert set(web_credentials(settings_for(broker, tmp_path, credentials=own))) == set(needed)
    own.write_text(json.dumps({f"{TABLE}-E": "x"}))
    with pytest.raises(CredentialsError, match=f"no password for {TABLE}-S"):
        web_credentials(settings_for(broker, tmp_path, credentials=own))
