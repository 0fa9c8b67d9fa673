"""`/healthz` and `/metrics` of the daemon, for whoever watches the board.

Served by a thread of its own: it answers, truly, even when the event loop has stopped.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

MOST_AT_ONCE: Final = 16
"""Requests answered at the same time; more are turned away."""

REQUEST_TIMEOUT_S: Final = 5.0

Checks = Callable[[], tuple[bool, Mapping[str, Any]]]


class HealthServer:
    """`checks` gives whether the table can do its work, and what is known; `collect` runs before each scrape; `links`
    has what `/links` tells.

    They are called from other threads and must only read.
    """

    def __init__(
        self,
        host: str,
        port: int,
        checks: Checks,
        registry: CollectorRegistry,
        collect: Callable[[], None],
        links: Callable[[], object] = list,
    ) -> None:
        def metrics() -> tuple[int, str, bytes]:
            collect()
            return 200, CONTENT_TYPE_LATEST, generate_latest(registry)

        def health() -> tuple[int, str, bytes]:
            well, body = checks()
            text = json.dumps({"ok": well, **body}, ensure_ascii=False)
            return 200 if well else 503, "application/json", text.encode()

        def lines() -> tuple[int, str, bytes]:
            return 200, "application/json", json.dumps({"links": links()}, ensure_ascii=False).encode()

        self._pages = {"/healthz": health, "/metrics": metrics, "/links": lines}
        self._address = (host, port)
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return self._address[1] if self._server is None else int(self._server.server_address[1])

    def start(self) -> None:
        """Listen; OSError when the address cannot be had."""
        self._server = _Server(self._address, self._pages)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="health", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Listen no more; blocks for 0.1 s at most."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join(timeout=0.5)
            self._server = None


Page = Callable[[], tuple[int, str, bytes]]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], pages: Mapping[str, Page]) -> None:
        self.pages = pages
        self._places = threading.BoundedSemaphore(MOST_AT_ONCE)
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Request)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is no news."""


class _Request(BaseHTTPRequestHandler):
    server: _Server
    timeout = REQUEST_TIMEOUT_S
    server_version = "kaijin"
    sys_version = ""

    def do_GET(self) -> None:
        page = self.server.pages.get(self.path.partition("?")[0])
        if page is None:
            self.send_error(404, f"expected {' or '.join(self.server.pages)}")
            return
        status, kind, body = page()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Scrapes are not logged."""
