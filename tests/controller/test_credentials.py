"""The broker users of a table: made once, private, and in the form that mosquitto reads."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from pathlib import Path

import pytest

from controller import private_files
from controller.credentials import (
    Credentials,
    CredentialsError,
    access_list,
    broker_configuration,
    load_credentials,
    load_or_make,
    make_credentials,
    password_file,
    save_credentials,
    users,
    write_broker_files,
)
from protocol.mqtt.topics import TopicError


def test_every_user_has_a_password_of_its_own() -> None:
    made = make_credentials("hall-7")
    assert set(made) == {
        "hall-7", "hall-7-E", "hall-7-S", "hall-7-W", "hall-7-N", "hall-7-view", "hall-7-web", "hall-7-service",
        "parlor",
    }  # fmt: skip
    assert len(set(made.values())) == len(made)
    assert all(len(password) >= 32 for password in made.values())
    assert made.of_seat("E") == ("hall-7-E", made["hall-7-E"])
    assert not set(made.values()) & set(make_credentials("hall-7").values())


def test_passwords_show_in_no_text_form() -> None:
    made = make_credentials("hall-7")
    assert not any(password in f"{made!r} {made}" for password in made.values())


def test_made_at_the_first_start_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "secrets" / "credentials.json"
    made = load_or_make(path, "hall-7")
    assert load_or_make(path, "hall-7") == made
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [one.name for one in path.parent.iterdir()] == ["credentials.json"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"hall-7": 1}', '{"hall-7": ""}', '{"other": "x"}', "\udcff"])
def test_a_damaged_file_is_named_and_kept(tmp_path: Path, content: str) -> None:
    path = tmp_path / "credentials.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    before = path.read_bytes()
    with pytest.raises(CredentialsError, match=r"credentials\.json"):
        load_or_make(path, "hall-7")
    assert path.read_bytes() == before


def test_the_file_of_another_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "credentials.json"
    save_credentials(path, make_credentials("hall-6"))
    with pytest.raises(CredentialsError, match="is it the file of table hall-7"):
        load_credentials(path, "hall-7")
    with pytest.raises(CredentialsError, match="no such file"):
        load_credentials(tmp_path / "none.json", "hall-7")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "credentials.json"
    save_credentials(path, make_credentials("hall-7"))
    before = path.read_bytes()

    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(private_files.os, "fsync", no_space)
    with pytest.raises(OSError, match="No space"):
        save_credentials(path, make_credentials("hall-7"))
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["credentials.json"]


def test_password_lines_are_salted_pbkdf2_of_sha512() -> None:
    credentials = Credentials("hall-7", {"hall-7": "correct horse"})
    first, second = password_file(credentials), password_file(credentials)
    assert first != second
    user, _, secret = first.strip().partition(":")
    _, kind, iterations, salt, digest = secret.split("$")
    assert (user, kind, iterations) == ("hall-7", "7", "101")
    expected = hashlib.pbkdf2_hmac("sha512", b"correct horse", base64.b64decode(salt), 101)
    assert base64.b64decode(digest) == expected
    assert "correct horse" not in first


def test_the_access_list_names_one_table_and_every_user() -> None:
    text = access_list("hall-7")
    rules = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert [line.removeprefix("user ") for line in rules if line.startswith("user ")] == sorted(
        users("hall-7"), key=users("hall-7").index
    )
    assert all("{t}" not in line for line in rules)
    assert all("kaijin/1/hall-7/" in line for line in rules if line.startswith("topic"))
    assert not any("#" in line for line in rules), "a wildcard over levels lets more through than anybody reads"
    with pytest.raises(TopicError, match="3 to 32"):
        access_list("hall/#")


def test_the_configuration_is_the_shipped_one_with_its_paths_replaced(tmp_path: Path) -> None:
    text = broker_configuration(tmp_path, listener="18830 127.0.0.1", store=tmp_path / "store")
    lines = text.splitlines()
    assert "listener 18830 127.0.0.1" in lines
    assert f"password_file {tmp_path}/passwd" in lines
    assert f"acl_file {tmp_path}/acl" in lines
    assert f"persistence_location {tmp_path}/store/" in lines
    assert not any(line.startswith("protocol websockets") for line in lines)
    shipped = broker_configuration(Path("/etc/kaijin/mosquitto")).splitlines()
    assert "listener 1883 127.0.0.1" in shipped
    assert len(shipped) == len(lines)


def test_broker_files_are_private(tmp_path: Path) -> None:
    write_broker_files(tmp_path / "mosquitto", make_credentials("hall-7"))
    for name in ("passwd", "acl"):
        assert stat.S_IMODE((tmp_path / "mosquitto" / name).stat().st_mode) == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_root_makes_belongs_to_the_owner_of_the_folder(tmp_path: Path) -> None:
    os.chown(tmp_path, 1234, 1234)
    private_files.write_private(tmp_path / "tokens" / "one", b"x")
    assert (tmp_path / "tokens").stat().st_uid == 1234
    assert (tmp_path / "tokens" / "one").stat().st_uid == 1234
