"""The pages themselves: files of `displays/` and nothing else, under headers that keep a browser to them."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from aiohttp import web

SEAT_PAGE = "index.html"
WALL_PAGE = "wall.html"
SERVICE_PAGE = "service.html"

CONTENT_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".webmanifest": "application/manifest+json",
    ".md": "text/plain",
}

HEADERS = {
    "Server": "kaijin",
    "Content-Security-Policy": (
        "default-src 'self'; connect-src 'self'; worker-src blob:; img-src 'self' data:; object-src 'none'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Pages:
    """Serves the files of one folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = (folder if folder is not None else displays_folder()).resolve()

    def add_routes(self, app: web.Application) -> None:
        """`/` is the seat's page, `/wall` the wall view, `/service` the repairer's; every other file has its path."""
        app.router.add_get("/", self._seat_page)
        app.router.add_get("/wall", self._wall_page)
        app.router.add_get("/service", self._service_page)
        app.router.add_get("/{path:.+}", self._file)

    async def _seat_page(self, request: web.Request) -> web.StreamResponse:
        return self._response(SEAT_PAGE)

    async def _wall_page(self, request: web.Request) -> web.StreamResponse:
        return self._response(WALL_PAGE)

    async def _service_page(self, request: web.Request) -> web.StreamResponse:
        return self._response(SERVICE_PAGE)

    async def _file(self, request: web.Request) -> web.StreamResponse:
        return self._response(request.match_info["path"])

    def _response(self, name: str) -> web.StreamResponse:
        content_type = CONTENT_TYPES.get(Path(name).suffix)
        hidden = any(part.startswith(".") for part in Path(name).parts)
        if content_type is None or hidden or "\0" in name:
            raise web.HTTPNotFound
        path = self._found(name)
        if path is None:
            raise web.HTTPNotFound
        charset = "" if content_type.startswith("image/") else "; charset=utf-8"
        # Asked for again each time, and answered with 304 while unchanged: an update is there at the next load.
        headers = {"Content-Type": content_type + charset, "Cache-Control": "no-cache"}
        return web.FileResponse(path, headers=headers)

    def _found(self, name: str) -> Path | None:
        """The file of this name in the folder; None where there is none or no file can be called so."""
        try:
            path = (self._folder / name).resolve()
            return path if path.is_relative_to(self._folder) and path.is_file() else None
        except (OSError, ValueError):
            return None


def displays_folder() -> Path:
    """The folder of the pages, in a checkout as in an installed wheel."""
    return Path(str(files("displays")))


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Put the security headers on every answer."""
    for name, value in HEADERS.items():
        response.headers[name] = value
