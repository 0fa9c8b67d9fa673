"""What displays send to the page server and what it answers: JSON objects both ways, refusals with a code."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from aiohttp import web

from controller.web_pairing import PLACES

_DEVICE = re.compile(r"[A-Za-z0-9_-]{8,64}")
_CODES = {404: "not_found", 405: "not_allowed", 413: "too_large", 503: "too_many"}


class Refusal(Exception):
    """A request that is refused: the HTTP status and what the answer says."""

    def __init__(self, status: int, **fields: str) -> None:
        super().__init__(fields)
        self.status = status
        self.fields = fields


async def body_of(request: web.Request) -> dict[str, Any]:
    """The JSON object that was posted."""
    if request.content_type != "application/json":
        _bad("payload", "a JSON object, Content-Type application/json")
    try:
        body = json.loads(await request.read())
    except (ValueError, RecursionError):
        _bad("payload", "a JSON object in UTF-8")
    if not isinstance(body, dict):
        _bad("payload", "a JSON object")
    return body


def who_asks(body: Mapping[str, Any]) -> tuple[str, str, str]:
    """Place, device and name of the display that asks."""
    place = body.get("seat")
    if not isinstance(place, str) or place not in PLACES:
        _bad("seat", "one of " + ", ".join(PLACES))
    device = body.get("device")
    if not isinstance(device, str) or _DEVICE.fullmatch(device) is None:
        _bad("device", "8 to 64 random characters of A-Z, a-z, 0-9, _ and -")
    name = text_field(body, "name", 0, 40, "a name of at most 40 characters") if "name" in body else ""
    return place, device, "".join(c for c in name if c.isprintable()).strip()


def text_field(body: Mapping[str, Any], field: str, least: int, most: int, expected: str) -> str:
    """A text of the body, `least` to `most` characters long."""
    value = body.get(field)
    if not isinstance(value, str) or not least <= len(value) <= most:
        _bad(field, expected)
    return value


def _bad(field: str, expected: str) -> NoReturn:
    raise Refusal(400, code="bad_value", field=field, expected=expected)


def reply(fields: Mapping[str, object], status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """An answer that no cache keeps."""
    return web.Response(
        body=compact_json(fields),
        status=status,
        content_type="application/json",
        headers={"Cache-Control": "no-store", **(headers or {})},
    )


def reply_to(error: web.HTTPException) -> web.Response:
    """The answer to a request that no handler took, in the same words as a refusal."""
    kept = {name: error.headers[name] for name in ("Allow", "Retry-After") if name in error.headers}
    return reply({"code": _CODES.get(error.status, "bad_request")}, error.status, kept)


def compact_json(fields: Mapping[str, object]) -> bytes:
    """The object as UTF-8 JSON."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
