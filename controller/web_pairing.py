"""Which display holds which seat: one-time tokens, displays that ask, and the register of those that were let in.

Tokens and secrets are kept as hashes. A token is one file and using it removes that file, so that of two who use it at
once one is let in. The register may be changed by `kaijin pair --release` while the page server runs.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from controller.private_files import private_folder, write_private

PLACES = ("E", "S", "W", "N", "view", "service")
SERVICE = "service"
TOKEN_S = 15 * 60
ASK_S = 120
MOST_VIEWS = 8
MOST_ASKS = 8
MOST_ASKS_EACH = 4

_SECRET_BYTES = 24


class PairingError(Exception):
    """A display that is not let in; `code` is bad_token, second_device, too_many, expired or refused."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(slots=True)
class PairingCounters:
    """Displays let in and not let in since the start."""

    paired: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Device:
    """A display that was let in. `device` is its own random name, `secret` the hash of what it connects with."""

    device: str
    name: str
    secret: str


class Tokens:
    """One-time tokens, each for one place (a seat or `view`)."""

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / "tokens"

    def make(self, place: str, seconds: float = TOKEN_S) -> str:
        """A fresh token for the place, valid for this long or until the machine restarts."""
        token = secrets.token_urlsafe(_SECRET_BYTES)
        content = {"place": _place(place), "boot": _boot_id(), "until": _since_boot() + seconds}
        write_private(self._path(token), json.dumps(content).encode())
        self._remove_expired()
        return token

    def check(self, token: str, place: str) -> bool:
        """Whether the token is valid for the place."""
        return _valid(self._path(token), place)

    def use(self, token: str, place: str) -> bool:
        """Use the token up; whether it was valid for the place."""
        path = self._path(token)
        if not _valid(path, place):
            return False
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        return True

    def _path(self, token: str) -> Path:
        return self._folder / f"{_hashed(token)}.json"

    def _remove_expired(self) -> None:
        for path in self._folder.glob("*.json"):
            if not any(_valid(path, place) for place in PLACES):
                path.unlink(missing_ok=True)


class Register:
    """The displays that were let in, in a file shared between the page server and `kaijin pair`."""

    def __init__(self, state_dir: Path) -> None:
        private_folder(state_dir)
        self._path = state_dir / "devices.json"
        self._lock = state_dir / "devices.lock"
        self._stamp: tuple[int, int] | None = None
        self._devices: dict[str, tuple[Device, ...]] = {}

    def holders(self) -> dict[str, str | None]:
        """The name of the display at each place, None where there is none; the latest one of several views."""
        devices = self._load()
        return {place: devices[place][-1].name if devices.get(place) else None for place in PLACES}

    def held_by_other(self, place: str, device: str) -> bool:
        """Whether the place has no room for this display. A repairer's page makes room: a key let the new one in."""
        if place == SERVICE:
            return False
        others = [one for one in self._load().get(place, ()) if one.device != device]
        return len(others) >= (MOST_VIEWS if place == "view" else 1)

    def admit(self, place: str, device: str, name: str) -> str:
        """Let the display in; the secret it connects with. Raises PairingError(second_device) without room."""
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        with self._changing() as devices:
            if self.held_by_other(_place(place), device):
                raise PairingError("second_device")
            kept = () if place == SERVICE else devices.get(place, ())
            others = tuple(one for one in kept if one.device != device)
            devices[place] = (*others, Device(device, name, _hashed(secret)))
        return secret

    def release(self, place: str) -> bool:
        """Un-pair every display at the place; whether there was one."""
        with self._changing() as devices:
            return bool(devices.pop(_place(place), ()))

    def device_of(self, place: str, secret: bytes) -> str | None:
        """The display at this place that connects with this secret."""
        digest = hashlib.sha256(secret).hexdigest()
        for one in self._load().get(place, ()):
            if secrets.compare_digest(one.secret, digest):
                return one.device
        return None

    def holds(self, place: str, secret_hash: str) -> bool:
        """Whether a display with the secret of this hash is still let in."""
        return any(one.secret == secret_hash for one in self._load().get(place, ()))

    @contextmanager
    def _changing(self) -> Iterator[dict[str, tuple[Device, ...]]]:
        descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            devices = dict(self._load())
            yield devices
            content = {place: [asdict(one) for one in held] for place, held in devices.items()}
            write_private(self._path, json.dumps(content, ensure_ascii=False).encode())
        finally:
            os.close(descriptor)

    def _load(self) -> Mapping[str, tuple[Device, ...]]:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            self._stamp, self._devices = None, {}
            return self._devices
        stamp = (status.st_ino, status.st_mtime_ns)
        if stamp != self._stamp:
            self._devices = _devices(self._path)
            self._stamp = stamp
        return self._devices


@dataclass(slots=True)
class Ask:
    """A display that shows a code and waits for somebody at the table to confirm it."""

    code: str
    secret: str
    place: str
    device: str
    name: str
    address: str
    until: float
    answer: bool | None = None


class Asks:
    """The displays that wait to be confirmed, each for at most 120 s. Kept in memory alone."""

    def __init__(self) -> None:
        self._asks: dict[str, Ask] = {}

    def begin(self, place: str, device: str, name: str, address: str, now: float) -> Ask:
        """A fresh ask with its six-digit code; the same display's former ask ends. Raises PairingError(too_many)."""
        self._drop_expired(now)
        self._asks = {secret: ask for secret, ask in self._asks.items() if ask.device != device}
        mine = sum(ask.address == address for ask in self._asks.values())
        if len(self._asks) >= MOST_ASKS or mine >= MOST_ASKS_EACH:
            raise PairingError("too_many")
        taken = {ask.code for ask in self._asks.values()}
        code = next(code for code in iter(_six_digits, "") if code not in taken)
        ask = Ask(code, secrets.token_urlsafe(_SECRET_BYTES), place, device, name, address, now + ASK_S)
        self._asks[ask.secret] = ask
        return ask

    def answered(self, code: str, place: str, device: str, ok: bool, now: float) -> bool:
        """Somebody at the table has decided; whether there was such an ask."""
        self._drop_expired(now)
        for ask in self._asks.values():
            if (ask.code, ask.place, ask.device) == (code, place, device):
                ask.answer = ok
                return True
        return False

    def outcome(self, secret: str, now: float) -> Ask | None:
        """The ask once it is granted, which ends it; None while it waits. Raises PairingError(expired or refused)."""
        self._drop_expired(now)
        ask = self._asks.get(secret)
        if ask is None:
            raise PairingError("expired")
        if ask.answer is None:
            return None
        del self._asks[secret]
        if not ask.answer:
            raise PairingError("refused")
        return ask

    def _drop_expired(self, now: float) -> None:
        self._asks = {secret: ask for secret, ask in self._asks.items() if ask.until > now}


def secret_hash(secret: bytes) -> str:
    """How a secret is kept."""
    return hashlib.sha256(secret).hexdigest()


def _six_digits() -> str:
    return f"{secrets.randbelow(1_000_000):06d}"


def _place(place: str) -> str:
    if place not in PLACES:
        raise ValueError(f"place {place!r}: expected one of {', '.join(PLACES)}")
    return place


def _hashed(text: str) -> str:
    # JSON can carry half a surrogate pair, which is no UTF-8: a wrong token like any other.
    return secret_hash(text.encode(errors="surrogatepass"))


def _valid(path: Path, place: str) -> bool:
    try:
        content: Any = json.loads(path.read_bytes())
        if content["place"] != place or content["boot"] != _boot_id():
            return False
        return bool(content["until"] > _since_boot())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _devices(path: Path) -> dict[str, tuple[Device, ...]]:
    """The register's content; what cannot be understood lets nobody in."""
    try:
        raw = json.loads(path.read_bytes())
        return {place: tuple(Device(**one) for one in raw.get(place, ())) for place in PLACES if raw.get(place)}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _since_boot() -> float:
    # Time of day jumps on a board without a battery clock, at its first synchronisation.
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "unknown"
