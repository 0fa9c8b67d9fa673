"""The page server: pages and headers, pairing, and the bridge, against a real broker."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import stat
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import aiomqtt
import pytest

from controller.credentials import CredentialsError
from controller.private_broker import PrivateBroker
from controller.settings import BrokerSettings, SerialSettings, Settings, TableSettings, WebSettings
from controller.web import ListenError, WebServer, web_credentials
from controller.web_address import pairing_url
from controller.web_pages import HEADERS, displays_folder
from controller.web_pairing import Asks, PairingError, Register, Tokens
from protocol.mqtt.envelope import Envelope, encode
from protocol.mqtt.topics import Topics

TABLE = "hall-7"
TOPICS = Topics(TABLE)
DEVICE = "device-aaaaaaaaaaaa"
OTHER = "device-bbbbbbbbbbbb"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[PrivateBroker]:
    with PrivateBroker(tmp_path / "broker", TABLE) as running:
        yield running


@dataclass
class Site:
    """A running page server and a browser's means."""

    server: WebServer
    broker: PrivateBroker
    http: aiohttp.ClientSession

    @property
    def port(self) -> int:
        return self.server.port

    @property
    def health_url(self) -> str:
        return f"http://127.0.0.1:{self.server.health_port}"

    async def post(self, path: str, body: object, **options: Any) -> tuple[int, dict[str, Any]]:
        async with self.http.post(self.server.url + path, json=body, **options) as answer:
            fields = await answer.json()
            assert answer.headers["Cache-Control"] == "no-store"
            return answer.status, fields

    async def pair(self, place: str, device: str = DEVICE, name: str = "tablet") -> dict[str, Any]:
        token = self.server.tokens.make(place)
        status, fields = await self.post("/pair", {"seat": place, "token": token, "device": device, "name": name})
        assert status == 200
        return fields

    def mqtt(self, user: str | None, password: str | None) -> aiomqtt.Client:
        """A client over the WebSocket bridge."""
        return aiomqtt.Client(
            "127.0.0.1", self.port, username=user, password=password, transport="websockets", websocket_path="/mqtt",
            timeout=3,
        )  # fmt: skip

    def table(self) -> aiomqtt.Client:
        """The table itself, straight at the broker."""
        return aiomqtt.Client(
            self.broker.host, self.broker.port, username=TABLE, password=self.broker.credentials[TABLE], timeout=3
        )


def settings_for(broker: PrivateBroker, state_dir: Path, **web: Any) -> Settings:
    return Settings(
        table=TableSettings(id=TABLE),
        serial=SerialSettings(ports=("/dev/null",)),
        broker=BrokerSettings(port=broker.port, credentials=broker.credentials_path, keepalive=1),
        web=WebSettings(listen="127.0.0.1:0", health_listen="127.0.0.1:0", state_dir=state_dir, **web),
    )


@pytest.fixture
async def site(broker: PrivateBroker, tmp_path: Path) -> AsyncIterator[Site]:
    async with serving(settings_for(broker, tmp_path / "web"), broker) as one:
        yield one


@contextlib.asynccontextmanager
async def serving(settings: Settings, broker: PrivateBroker) -> AsyncIterator[Site]:
    server = WebServer(settings)
    await server.start()
    running = asyncio.create_task(server.run())
    async with aiohttp.ClientSession() as http:
        try:
            async with asyncio.timeout(5):
                await server.session.wait_connected()
            yield Site(server, broker, http)
        finally:
            server.stop()
            async with asyncio.timeout(5):
                await running


def payload_of(message: aiomqtt.Message) -> bytes:
    assert isinstance(message.payload, bytes)
    return message.payload


async def until(true: Callable[[], bool], seconds: float = 5) -> None:
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.01)


def from_table(kind: Any, data: Mapping[str, Any]) -> bytes:
    return encode(
        Envelope(
            type=kind, table=TABLE, epoch=1, seq=0, id="1", ts=0, clock="unsynced", mono_ms=0, data=dict(data)
        )
    )  # fmt: skip


# --- pages ------------------------------------------------------------------------------------------------------------


async def test_every_answer_forbids_what_is_foreign_and_inline(site: Site) -> None:
    pages = [site.server.url + path for path in ("/", "/catalogue.json", "/no/such/page", "/mqtt")]
    for path in (*pages, site.health_url + "/healthz", site.health_url + "/no/such/page"):
        async with site.http.get(path) as answer:
            assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, path
    for refused in ({"Origin": "http://evil.example"}, {"Expect": "tea"}):
        async with site.http.get(pages[0], headers=refused) as answer:
            assert answer.status in (403, 417)
            assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, refused
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "worker-src blob:" in policy


async def test_pages_are_files_of_displays_and_nothing_else(site: Site) -> None:
    async with site.http.get(site.server.url + "/catalogue.json") as answer:
        assert answer.status == 200
        assert answer.content_type == "application/json"
        assert await answer.json()
    async with site.http.get(site.server.url + "/vendor/mqtt.esm.js") as answer:
        assert answer.status == 200
        assert answer.content_type == "text/javascript"
    for path in ("/__init__.py", "/vendor/mqtt.integrity", "/%2e%2e/pyproject.toml", "/..%2fREADME.md", "/.git/config",
                 "/a%00.js", "/css", "/css/", "/devices.json"):  # fmt: skip
        async with site.http.get(site.server.url + path) as answer:
            assert answer.status == 404, path
            assert await answer.json() == {"code": "not_found"}


async def test_no_plain_request_gives_anything_of_the_game(site: Site) -> None:
    async with site.table() as table:
        await table.publish(TOPICS.state, b"SECRET public state", qos=1, retain=True)
        await table.publish(TOPICS.seat("E"), b"SECRET hand", qos=1, retain=True)
    passwords = set(site.broker.credentials.values())
    for path in (
        "/",
        "/wall",
        "/mqtt",
        "/healthz",
        "/metrics",
        "/pair",
        "/pair/ask",
        "/pair/wait",
        "/seat/E",
        "/state",
    ):
        for method in ("GET", "POST", "PUT", "OPTIONS"):
            async with site.http.request(method, site.server.url + path) as answer:
                text = await answer.text()
                assert "SECRET" not in text
                assert path in ("/", "/wall") or answer.status >= 400
                assert not any(password in text for password in passwords)


async def test_each_place_has_its_page(site: Site) -> None:
    for path, name, place in (("/", "index.html", "seat"), ("/wall", "wall.html", "view")):
        async with site.http.get(site.server.url + path) as answer:
            assert answer.status == 200 and answer.content_type == "text/html"
            page = await answer.read()
        assert page == (displays_folder() / name).read_bytes()
        assert f'data-place="{place}"'.encode() in page
        named = re.findall(r'(?:src|href)="(/[^"]+)"', page.decode())
        assert "/app.js" in named
        for part in named:
            async with site.http.get(site.server.url + part) as answer:
                assert answer.status == 200, part


async def test_health_and_figures_have_a_listener_of_their_own(site: Site) -> None:
    async with site.http.get(site.health_url + "/healthz") as answer:
        assert (answer.status, await answer.json()) == (200, {"ok": True, "broker": "up"})
    await site.pair("E")
    async with site.http.get(site.health_url + "/metrics") as answer:
        text = await answer.text()
    assert re.search(r"^kaijin_web_pairings_total 1\.0$", text, re.M)
    assert re.search(r"^kaijin_web_places_paired 1\.0$", text, re.M)
    for path in ("/healthz", "/metrics"):
        async with site.http.get(site.server.url + path) as answer:
            assert (answer.status, await answer.json()) == (404, {"code": "not_found"})
    for path in ("/", "/wall", "/catalogue.json", "/mqtt"):
        async with site.http.get(site.health_url + path) as answer:
            assert answer.status == 404, path
    site.broker.kill()
    await until(lambda: not site.server.session.connected)
    async with site.http.get(site.health_url + "/healthz") as answer:
        assert answer.status == 503


async def test_without_a_health_listener_there_is_none(broker: PrivateBroker, tmp_path: Path) -> None:
    settings = settings_for(broker, tmp_path / "web")
    settings = settings.model_copy(update={"web": settings.web.model_copy(update={"health_listen": ""})})
    async with serving(settings, broker) as site:
        assert site.server.health_port == 0
        async with site.http.get(site.server.url + "/") as answer:
            assert answer.status == 200


@pytest.mark.parametrize("key", ["listen", "health_listen"])
async def test_an_address_that_is_taken_is_named(broker: PrivateBroker, tmp_path: Path, key: str) -> None:
    settings = settings_for(broker, tmp_path / "web")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        settings = settings.model_copy(update={"web": settings.web.model_copy(update={key: where})})
        with pytest.raises(ListenError, match=rf"^\[web\] {key} = '{where}': .*in use"):
            await WebServer(settings).start()


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
    assert state == {"E": None, "S": None, "W": None, "N": "北 <b>tablet</b>", "view": None}


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


# --- nonsense ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ([], "payload"),
        ("text", "payload"),
        ({}, "seat"),
        ({"seat": "X", "device": DEVICE, "token": "t"}, "seat"),
        ({"seat": ["E"], "device": DEVICE, "token": "t"}, "seat"),
        ({"seat": "E", "device": "short", "token": "t"}, "device"),
        ({"seat": "E", "device": DEVICE + "\n", "token": "t"}, "device"),
        ({"seat": "E", "device": DEVICE, "token": 7}, "token"),
        ({"seat": "E", "device": DEVICE, "token": ""}, "token"),
        ({"seat": "E", "device": DEVICE, "token": "t", "name": "x" * 41}, "name"),
    ],
)
async def test_a_bad_request_says_which_field_and_what_was_expected(site: Site, body: object, field: str) -> None:
    status, fields = await site.post("/pair", body)
    assert status == 400
    assert fields["code"] == "bad_value" and fields["field"] == field and fields["expected"]


async def test_bodies_that_are_no_json_or_too_large(site: Site) -> None:
    url = site.server.url + "/pair"
    kind = {"Content-Type": "application/json"}
    for body, status in ((b"\xff\xfe", 400), (b"[" * 4000, 400), (b"x" * 100_000, 413)):
        async with site.http.post(url, data=body, headers=kind) as answer:
            assert answer.status == status
            assert "code" in await answer.json()
    async with site.http.post(url, data={"seat": "E"}) as answer:
        assert answer.status == 400
    async with site.http.get(url) as answer:
        assert answer.status in (404, 405)


async def test_pages_of_other_sites_are_turned_away(site: Site) -> None:
    token = site.server.tokens.make("E")
    body = {"seat": "E", "token": token, "device": DEVICE}
    foreign = {"Origin": "http://evil.example"}
    assert await site.post("/pair", body, headers=foreign) == (403, {"code": "foreign_origin"})
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await site.http.ws_connect(site.server.url + "/mqtt", protocols=("mqtt",), headers=foreign)
    assert refused.value.status == 403
    own = {"Origin": site.server.url}
    async with site.http.ws_connect(site.server.url + "/mqtt", protocols=("mqtt",), headers=own):
        pass
    assert (await site.post("/pair", body, headers=own))[0] == 200


# --- the bridge -------------------------------------------------------------------------------------------------------


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
