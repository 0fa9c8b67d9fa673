"""What no support bundle may hold, taken out of whatever text it was found in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from controller.settings import Settings

WITHHELD: Final = "withheld"
SHORTEST: Final = 6
"""Words that are shorter are no secrets of this table, and would be found everywhere."""

_KEYS = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
_SAID = re.compile(
    rb"(?i)(\b(?:password|passwd|secret|token|authorization|cookie|api[-_]?key)\b[\"']?\s*[=:]\s*)"
    rb"(\"[^\"\n]*\"|'[^'\n]*'|(?:bearer\s+|basic\s+)?[^\s,;\"'}\]]+)"
)
_IN_ADDRESS = re.compile(rb"(?i)([a-z][a-z0-9+.-]*://)[^/\s@\"']+@")
_QUERY = re.compile(rb"(?i)([?&#](?:token|secret|key)=)[^&\s\"']+")


class Scrubber:
    """Knows the table's own secrets as far as this process may read them, and the looks of others."""

    def __init__(self, settings: Settings) -> None:
        found = {word for path in _secret_files(settings) for word in _words(path)}
        self._secrets = sorted((word.encode() for word in found if len(word) >= SHORTEST), key=len, reverse=True)

    def __call__(self, content: bytes) -> bytes:
        """The content without them."""
        mark = WITHHELD.encode()
        for secret in self._secrets:
            content = content.replace(secret, mark)
        content = _KEYS.sub(mark, content)
        content = _SAID.sub(_quoted_alike, content)
        content = _IN_ADDRESS.sub(rb"\1" + mark + b"@", content)
        return _QUERY.sub(rb"\1" + mark, content)


def _quoted_alike(said: re.Match[bytes]) -> bytes:
    quote = said[2][:1] if said[2][:1] in (b'"', b"'") else b""
    return said[1] + quote + WITHHELD.encode() + quote


def told_settings(settings: Settings) -> dict[str, Any]:
    """The settings, with credentials by whether they are there alone."""
    told = settings.model_dump(mode="json")
    for section in ("broker", "web"):
        path = getattr(settings, section).credentials
        told[section]["credentials"] = None if path is None else f"{WITHHELD} ({_state_of(path)})"
    return told


def _state_of(path: Path) -> str:
    try:
        return f"a file of mode {path.stat().st_mode & 0o777:04o}"
    except FileNotFoundError:
        return "no such file"
    except OSError as error:
        return error.strerror or "cannot be looked at"


def _secret_files(settings: Settings) -> list[Path]:
    return [path for path in (settings.broker.credentials, settings.web.credentials) if path is not None]


def _words(path: Path) -> Iterator[str]:
    """The passwords in a credentials file; none where it cannot be read."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return
    if isinstance(said, dict):
        yield from (word for word in said.values() if isinstance(word, str))
