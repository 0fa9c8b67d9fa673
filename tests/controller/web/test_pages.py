"""Pages and their headers, health, and requests that are nonsense."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import aiohttp
import pytest

from controller.private_broker import PrivateBroker
from controller.web import ListenError, WebServer
from controller.web_pages import HEADERS, displays_folder
from tests.controller.web.site import (
    DEVICE,
    TOPICS,
    Site,
    serving,
    settings_for,
    until,
)


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
    for path, name, place, script in (
        ("/", "index.html", "seat", "/app.js"),
        ("/wall", "wall.html", "view", "/app.js"),
        ("/service", "service.html", "service", "/service.js"),
    ):
        async with site.http.get(site.server.url + path) as answer:
            assert answer.status == 200 and answer.content_type == "text/html"
            page = await answer.read()
        assert page == (displays_folder() / name).read_bytes()
        assert f'data-place="{place}"'.encode() in page
        named = re.findall(r'(?:src|href)="(/[^"]+)"', page.decode())
        assert script in named
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
