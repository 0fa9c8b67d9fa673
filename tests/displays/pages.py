"""A small server for tests: the pages with the content security policy of the page server, and the harness."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import displays

PAGES = Path(displays.__file__).parent
HERE = Path(__file__).parent
POLICY = "default-src 'self'; connect-src 'self'; worker-src blob:; img-src 'self' data:"


class _Handler(SimpleHTTPRequestHandler):
    def translate_path(self, path: str) -> str:
        name = path.split("?")[0].split("#")[0].lstrip("/") or "index.html"
        root = HERE if name.startswith("harness/") else PAGES
        return str(root / name.removeprefix("harness/"))

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: requests are of no interest to a test."""


@contextlib.contextmanager
def serve() -> Iterator[str]:
    """The address of a running server, on a free port of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
