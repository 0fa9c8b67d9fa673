"""Nonsense over HTTP, against `kaijin web` as it is run: it is refused in few words and leaves no trace in the log."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.private_broker import PrivateBroker
from controller.web_pairing import PLACES, Register

TABLE = "hall-7"
DEVICE = "device-aaaaaaaaaaaa"
ANSWER_S = 2.0
EXPECTED = {101, 200, 206, 304, 400, 403, 404, 405, 409, 410, 411, 413, 414, 415, 416, 417, 426, 429, 431, 501}
"""What nonsense may be answered with: never 500; 501 and 411 are said of transfer codings."""


@dataclass
class Server:
    """A running `kaijin web`."""

    port: int
    health_port: int
    log: Path
    process: subprocess.Popen[bytes]
    read: int = 0

    def answer(self, request: bytes, port: int = 0) -> tuple[int, bytes]:
        """Status and whole rest of what is answered to these very bytes; status 0 where nothing comes."""
        with socket.create_connection(("127.0.0.1", port or self.port), timeout=ANSWER_S) as line:
            line.sendall(request)
            got = b""
            try:
                while b"\r\n\r\n" not in got or not got.startswith(b"HTTP/1.1 101"):
                    more = line.recv(65536)
                    if not more:
                        break
                    got += more
            except (TimeoutError, ConnectionError):
                pass
        return (int(got.split()[1]) if got else 0), got.partition(b"\r\n\r\n")[2]

    def get(self, path: bytes, *headers: bytes, port: int = 0) -> tuple[int, bytes]:
        return self.answer(request_of(b"GET", path, headers), port)

    def post(self, path: bytes, body: bytes, *headers: bytes) -> tuple[int, bytes]:
        return self.answer(request_of(b"POST", path, (b"Content-Type: application/json", *headers), body))

    def complaints(self) -> list[str]:
        """What the log complains of since this was asked last."""
        text = self.log.read_text("utf-8", "replace")
        lines, self.read = text[self.read :].splitlines(), len(text)
        return [line for line in lines if "Traceback" in line or "request_failed" in line or "Error" in line]


def request_of(method: bytes, path: bytes, headers: tuple[bytes, ...] | list[bytes], body: bytes = b"") -> bytes:
    named = {header.partition(b":")[0].lower() for header in headers}
    lines = [method + b" " + path + b" HTTP/1.1"]
    lines += [b"Host: table"] if b"host" not in named else []
    lines += [*headers, b"Connection: close"] if b"connection" not in named else [*headers]
    lines += [b"Content-Length: %d" % len(body)] if body else []
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("nonsense")
    port, health_port, log = free_port(), free_port(), folder / "web.log"
    with PrivateBroker(folder / "broker", TABLE) as broker:
        config = folder / "table.toml"
        config.write_text(
            f'[table]\nid = "{TABLE}"\n[serial]\nports = ["/dev/null"]\n[log]\nlevel = "debug"\nformat = "json"\n'
            f'[broker]\nport = {broker.port}\ncredentials = "{broker.credentials_path}"\n'
            f'[web]\nlisten = "127.0.0.1:{port}"\nhealth_listen = "127.0.0.1:{health_port}"\nstate_dir = "web"\n'
        )
        command = [sys.executable, "-m", "cli.main", "web", "--config", str(config)]
        with (
            log.open("wb") as errors,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as process,
        ):
            assert process.stdout is not None
            assert process.stdout.readline().startswith(b"pages of table")
            yield Server(port, health_port, log, process)
            process.terminate()
            assert process.wait(8) == 0


@pytest.mark.parametrize("origin", [b"http://[::1", b"http://[", b"//[x]y", b"http://\xff[", b"null", b""])
def test_an_origin_that_is_no_address_is_foreign(server: Server, origin: bytes) -> None:
    assert server.get(b"/", b"Origin: " + origin) == (403, b'{"code":"foreign_origin"}')
    assert server.post(b"/pair", b"{}", b"Origin: " + origin) == (403, b'{"code":"foreign_origin"}')
    assert server.complaints() == []


@pytest.mark.parametrize("token", ["\ud800", "\udfff\ud800", "x\udc80", "\0", "../../devices", "金"])
def test_a_token_of_any_text_is_a_wrong_one(server: Server, token: str) -> None:
    body = json.dumps({"seat": "E", "token": token, "device": DEVICE, "name": token}).encode()
    assert server.post(b"/pair", body) == (403, b'{"code":"bad_token"}')
    assert server.post(b"/pair/wait", json.dumps({"ask": token}).encode()) == (410, b'{"code":"expired"}')
    assert server.complaints() == []


@pytest.mark.parametrize(
    "path",
    [
        b"/" + b"a" * 300 + b".js",
        b"/" + b"a/" * 2500 + b"b.js",
        b"/%ed%a0%80.js",
        b"/%ff.js",
        b"/%00.js",
        b"/index.html/x.js",
        b"//[::1/x.js",
        b"/metrics",
        b"/healthz",
    ],
)
def test_a_path_that_no_file_can_have_is_not_found(server: Server, path: bytes) -> None:
    assert server.get(path) == (404, b'{"code":"not_found"}')
    assert server.complaints() == []


@pytest.mark.parametrize(
    "request_",
    [
        request_of(b"GET", b"/\xff.js", ()),
        request_of(b"GET", b"http://[::1/", ()),
        request_of(b"GET", b"/", (b"Host: \x01[",)),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"x" * 20_000 + b": y\r\n\r\n",
    ],
)
def test_what_is_no_request_is_a_bad_one(server: Server, request_: bytes) -> None:
    assert server.answer(request_)[0] == 400
    assert server.get(b"/")[0] == 200
    assert server.complaints() == []


@pytest.mark.parametrize(("method", "path"), [(b"GET", b"/"), (b"PUT", b"/"), (b"GET", b"/no"), (b"OPTIONS", b"*")])
@pytest.mark.parametrize("expected", [b"tea", b"\x80"])
def test_an_expectation_that_is_not_known_is_refused(
    server: Server, method: bytes, path: bytes, expected: bytes
) -> None:
    answer = server.answer(request_of(method, path, (b"Expect: " + expected,)))
    assert answer == (417, b'{"code":"bad_request"}')
    assert server.complaints() == []


def test_health_and_figures_have_a_listener_of_their_own_and_no_pages_there(server: Server) -> None:
    assert server.get(b"/healthz", port=server.health_port) == (200, b'{"ok":true,"broker":"up"}')
    status, text = server.get(b"/metrics", port=server.health_port)
    assert status == 200 and b"kaijin_web_sockets 0.0" in text
    for path in (b"/", b"/wall", b"/index.html", b"/mqtt", b"/pair"):
        assert server.get(path, port=server.health_port)[0] == 404
    assert server.get(b"/metrics", b"Origin: http://[::1", port=server.health_port)[0] == 403


RAW = st.binary(max_size=60).map(lambda raw: bytes(byte for byte in raw if byte not in b"\r\n\0"))
ESCAPED = st.binary(max_size=40).map(lambda raw: b"".join(b"%%%02x" % byte for byte in raw))
PATHS = st.one_of(
    st.sampled_from(
        [b"/", b"/wall", b"/catalogue.json", b"/mqtt", b"/pair", b"/pair/ask", b"/css/", b"*", b"http://["]
    ),
    st.builds(lambda part, end: b"/" + part.replace(b" ", b"") + end, RAW | ESCAPED, st.sampled_from([b"", b".js"])),
    st.builds(lambda part, times: b"/" + part * times + b".css", ESCAPED, st.integers(1, 60)),
)
NAMES = st.sampled_from(
    [b"Origin", b"Host", b"Content-Type", b"Range", b"If-Range", b"If-Modified-Since", b"If-None-Match", b"Cookie",
     b"Accept-Encoding", b"Upgrade", b"Connection", b"Sec-WebSocket-Protocol", b"Sec-WebSocket-Key", b"Expect",
     b"Sec-WebSocket-Version", b"Sec-WebSocket-Extensions", b"X-Forwarded-For", b"Content-Encoding"],
)  # fmt: skip
VALUES = st.one_of(
    RAW,
    st.sampled_from(
        [b"http://[::1", b"http://table", b"websocket", b"Upgrade", b"mqtt", b"13", b"bytes=0-", b"bytes=9-1", b"[::1",
         b"application/json", b"application/json; charset=nonsense", b"table:99999999", b"100-continue", b"x-unknown",
         b'W/"', b"*", b"Thu, 99 Foo 2026 00:00:00 GMT", b"MDEyMzQ1Njc4OWFiY2RlZg==", b"deflate", b"permessage-deflate"]
    ),
)  # fmt: skip
HEADERS = st.lists(st.builds(lambda name, value: name + b": " + value, NAMES, VALUES), max_size=5)
ANY_TEXT = st.text(st.characters(), max_size=50)
VALUE = st.one_of(ANY_TEXT, st.none(), st.integers(), st.floats(), st.lists(ANY_TEXT, max_size=2))
BODIES = st.one_of(
    st.binary(max_size=200),
    st.dictionaries(st.sampled_from(["seat", "token", "device", "name", "ask"]), VALUE).map(
        lambda body: json.dumps(body).encode()
    ),
    st.builds(
        lambda seat, token, name: json.dumps({"seat": seat, "token": token, "device": DEVICE, "name": name}).encode(),
        st.sampled_from(PLACES), ANY_TEXT, ANY_TEXT,
    ),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    method=st.sampled_from([b"GET", b"GET", b"POST", b"HEAD", b"PUT", b"OPTIONS", b"BREW"]),
    path=PATHS, headers=HEADERS,
)  # fmt: skip
def test_no_request_is_too_strange(server: Server, method: bytes, path: bytes, headers: list[bytes]) -> None:
    status, _ = server.answer(request_of(method, path, headers))
    assert status in EXPECTED
    assert server.complaints() == []


@settings(max_examples=150, deadline=None)
@given(path=st.sampled_from([b"/pair", b"/pair/wait"]), body=BODIES)
def test_no_body_is_too_strange(server: Server, path: bytes, body: bytes) -> None:
    status, text = server.post(path, body)
    assert status in {400, 403, 410}
    said: dict[str, Any] = json.loads(text)
    assert said["code"] in {"bad_value", "bad_token", "expired"}
    assert server.complaints() == []
    assert not any(Register(server.log.parent / "web").holders().values())
