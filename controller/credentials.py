"""The broker users of one table: made once, kept in one private file, and written out as the broker reads them.

Passwords are known to this file alone; the broker's own file holds salted hashes of them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from controller.private_files import write_private
from protocol.mqtt.topics import SEATS, table_id

PARLOR = "parlor"
VIEW = "view"
SERVICE = "service"

_ITERATIONS = 101
_SALT_BYTES = 12
_PASSWORD_BYTES = 24


class CredentialsError(ValueError):
    """A credentials file that cannot be used; the message names the file and what was expected."""


@dataclass(frozen=True, slots=True)
class Credentials(Mapping[str, str]):
    """User to password, for the users of one table. Its text form shows no password."""

    table: str
    passwords: Mapping[str, str] = field(repr=False)

    def __getitem__(self, user: str) -> str:
        return self.passwords[user]

    def __iter__(self) -> Iterator[str]:
        return iter(self.passwords)

    def __len__(self) -> int:
        return len(self.passwords)

    def of_seat(self, seat: str) -> tuple[str, str]:
        """User and password of a seat's display, of the wall view (`view`) or of the repairer (`service`)."""
        user = user_of(self.table, seat)
        return user, self.passwords[user]


def user_of(table: str, role: str) -> str:
    """The broker user of a seat, of `view`, `web` or `service`."""
    return f"{table}-{role}"


def users(table: str) -> tuple[str, ...]:
    """Every broker user of a table: itself, four seats, the wall view, the page server, the repairer, the parlor."""
    table_id(table)
    return (table, *(user_of(table, role) for role in (*SEATS, VIEW, "web", SERVICE)), PARLOR)


def web_users(table: str) -> tuple[str, ...]:
    """The users that the page server must know: its own, the displays', the wall view's and the repairer's."""
    return tuple(user_of(table, role) for role in (*SEATS, VIEW, "web", SERVICE))


def make_credentials(table: str) -> Credentials:
    """Fresh random passwords for every user of the table."""
    return Credentials(table, {user: secrets.token_urlsafe(_PASSWORD_BYTES) for user in users(table)})


def load_credentials(path: Path, table: str, needed: Iterable[str] | None = None) -> Credentials:
    """The credentials in the file at `path`, of all users or at least the `needed` ones.

    Raises CredentialsError where the file is missing, damaged or of another table.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CredentialsError(f"{path}: no such file; `kaijin pair --broker-files` makes it") from None
    except OSError as error:
        raise CredentialsError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise CredentialsError(f"{path}: expected a JSON object of users and passwords") from None
    if not isinstance(raw, dict) or not all(isinstance(word, str) and word for word in raw.values()):
        raise CredentialsError(f"{path}: expected a JSON object of users and passwords")
    missing = [user for user in needed or users(table) if user not in raw]
    if missing:
        raise CredentialsError(
            f"{path}: no password for {', '.join(missing)}; is it the file of table {table}? "
            "`kaijin pair --broker-files` adds the users that an older file lacks"
        )
    return Credentials(table, raw)


def load_or_make(path: Path, table: str) -> Credentials:
    """The credentials at `path`, made now if there is no such file; an older one gets the users that it lacks.

    A damaged file is never replaced, nor is one of another table.
    """
    made = make_credentials(table)
    if path.exists():
        known = load_credentials(path, table, (table,))
        if all(user in known for user in users(table)):
            return known
        made = Credentials(table, {**made, **known})
    save_credentials(path, made)
    return made


def save_credentials(path: Path, credentials: Credentials) -> None:
    """Write the file atomically, readable by its owner alone."""
    write_private(path, json.dumps(dict(credentials), indent=1).encode() + b"\n")


def write_broker_files(folder: Path, credentials: Credentials) -> None:
    """Write `passwd` and `acl`, as deploy/mosquitto/kaijin.conf names them, into `folder`."""
    write_private(folder / "passwd", password_file(credentials).encode())
    write_private(folder / "acl", access_list(credentials.table).encode())


def broker_configuration(folder: Path, *, listener: str | None = None, store: Path | None = None) -> str:
    """deploy/mosquitto/kaijin.conf for users and access list in `folder`; listener and store as given or as shipped."""
    replaced = {"password_file": str(folder / "passwd"), "acl_file": str(folder / "acl")}
    if listener is not None:
        replaced["listener"] = listener
    if store is not None:
        replaced["persistence_location"] = f"{store}/"
    text = deployed("kaijin.conf")
    for key, value in replaced.items():
        text = _with_line(text, key, f"{key} {value}")
    return text


def password_file(credentials: Mapping[str, str]) -> str:
    """The lines of mosquitto's password file: PBKDF2 with SHA-512 over a random salt."""
    return "".join(f"{user}:{_hashed(password)}\n" for user, password in credentials.items())


def access_list(table: str) -> str:
    """The broker's access list for one table, made from the template in deploy/mosquitto."""
    return deployed("acl.template").replace("{t}", table_id(table))


def deployed(name: str) -> str:
    """The text of a file of deploy/mosquitto, in a checkout as in an installed wheel."""
    return files("deploy").joinpath("mosquitto", name).read_text(encoding="utf-8")


def _with_line(text: str, key: str, line: str) -> str:
    """The configuration with its one line for `key` replaced."""
    changed, found = re.subn(rf"(?m)^{key} .*$", lambda _: line, text)
    if found != 1:
        raise CredentialsError(f"deploy/mosquitto/kaijin.conf: expected one line `{key}`, found {found}")
    return changed


def _hashed(password: str) -> str:
    salt = os.urandom(_SALT_BYTES)
    digest = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, _ITERATIONS)
    return f"$7${_ITERATIONS}${base64.b64encode(salt).decode()}${base64.b64encode(digest).decode()}"
