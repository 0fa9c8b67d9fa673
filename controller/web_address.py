"""How the pages are reached, and the address that pairs a display."""

from __future__ import annotations

from controller.settings import Settings, split_listen


def pages_url(settings: Settings, port: int | None = None) -> str:
    """How the pages are reached: as the settings say, else at the address listened on."""
    if settings.web.public_url:
        return settings.web.public_url.rstrip("/")
    host, configured = split_listen(settings.web.listen)
    shown = "127.0.0.1" if host in ("0.0.0.0", "::", "localhost") else host
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port or configured}"


def pairing_url(base: str, place: str, token: str) -> str:
    """The address that pairs a display: the token stands in the fragment, which browsers keep to themselves."""
    page = {"view": "wall", "service": "service"}.get(place, "")
    return f"{base.rstrip('/')}/{page}#seat={place}&token={token}"
