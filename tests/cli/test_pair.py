"""`kaijin pair`, `kaijin web` and `kaijin schema` as people call them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.pair import pair
from cli.schema import schema
from controller.credentials import load_credentials
from controller.private_broker import PrivateBroker
from controller.web_pairing import Register, Tokens

TABLE = "hall-7"


def write_settings(folder: Path, broker: str = "") -> Path:
    path = folder / "table.toml"
    path.write_text(
        f"""
[table]
id = "{TABLE}"
[serial]
ports = ["/dev/null"]
[broker]
credentials = "credentials.json"
{broker}
[web]
listen = "127.0.0.1:0"
public_url = "http://table.lan:8480/"
state_dir = "web"
credentials = "web.json"
"""
    )
    return path


def test_an_address_pairs_once(tmp_path: Path) -> None:
    config = write_settings(tmp_path)
    done = CliRunner().invoke(pair, ["--config", str(config), "--seat", "E"])
    assert done.exit_code == 0
    found = re.fullmatch(r"http://table\.lan:8480/#seat=E&token=([\w-]{32})\n", done.output)
    assert found is not None
    assert Tokens(tmp_path / "web").use(found.group(1), "E")


def test_several_places_at_once(tmp_path: Path) -> None:
    done = CliRunner().invoke(pair, ["--config", str(write_settings(tmp_path)), "--seat", "N", "--seat", "view"])
    assert re.fullmatch(r"N  http://\S+/#seat=N&token=\S+\nview  http://\S+/wall#seat=view&token=\S+\n", done.output)


def test_unpairing(tmp_path: Path) -> None:
    config = write_settings(tmp_path)
    Register(tmp_path / "web").admit("S", "device-1", "tablet")
    told = [CliRunner().invoke(pair, ["--config", str(config), "--seat", "S", "--release"]).output for _ in range(2)]
    assert told == ["S: un-paired\n", "S: no display was paired\n"]


def test_the_brokers_files_of_a_new_table(tmp_path: Path) -> None:
    config = write_settings(tmp_path)
    folder = tmp_path / "mosquitto"
    done = CliRunner().invoke(pair, ["--config", str(config), "--broker-files", str(folder)])
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in folder.iterdir()) == ["acl", "kaijin.conf", "passwd"]
    assert f"password_file {folder}/passwd" in (folder / "kaijin.conf").read_text()
    everybody = load_credentials(tmp_path / "credentials.json", TABLE)
    assert all(password not in done.output for password in everybody.values())
    web = json.loads((tmp_path / "web.json").read_text())
    assert set(everybody) - set(web) == {TABLE, "parlor"}
    again = CliRunner().invoke(pair, ["--config", str(config), "--broker-files", str(folder)])
    assert again.exit_code == 0
    assert load_credentials(tmp_path / "credentials.json", TABLE) == everybody


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "say which seat"),
        (["--seat", "X"], "'X' is not one of"),
        (["--seat", "E", "--minutes", "0"], "0 is not in the range"),
        (["--seat", "E", "--config", "/none.toml"], "/none.toml: no such file"),
    ],
)
def test_nonsense_on_the_command_line_is_told_in_words(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = CliRunner().invoke(pair, ["--config", str(write_settings(tmp_path)), *arguments])
    assert done.exit_code in (1, 2)
    assert words in done.output
    assert "Traceback" not in done.output


def test_schemas_are_exported_and_checked(tmp_path: Path) -> None:
    assert CliRunner().invoke(schema, ["export", "--check"]).exit_code == 0
    out = tmp_path / "out"
    assert CliRunner().invoke(schema, ["export", "--out", str(out)]).exit_code == 0
    (out / "seat.schema.json").write_text("{}")
    differ = CliRunner().invoke(schema, ["export", "--out", str(out), "--check"])
    assert differ.exit_code == 1
    assert "seat.schema.json" in differ.output


def test_the_page_server_as_a_process(tmp_path: Path) -> None:
    with PrivateBroker(tmp_path / "broker", TABLE) as broker:
        config = write_settings(tmp_path, f"port = {broker.port}")
        text = config.read_text().replace('"credentials.json"', f'"{broker.credentials_path}"')
        config.write_text(text.replace('credentials = "web.json"', "").replace("http://table.lan:8480/", ""))
        process = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "web", "--config", str(config)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            found = re.fullmatch(rf"pages of table {TABLE}: (http://127\.0\.0\.1:\d+)\n", process.stdout.readline())
            assert found is not None
            with urllib.request.urlopen(found.group(1) + "/catalogue.json", timeout=5) as answer:
                assert answer.status == 200
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(found.group(1) + "/none", timeout=5)
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(5) == 0


def test_a_page_server_that_cannot_listen_says_so(tmp_path: Path) -> None:
    with PrivateBroker(tmp_path / "broker", TABLE) as broker:
        config = write_settings(tmp_path, f"port = {broker.port}")
        text = config.read_text().replace('"credentials.json"', f'"{broker.credentials_path}"')
        text = text.replace('credentials = "web.json"', "").replace("127.0.0.1:0", f"127.0.0.1:{broker.port}")
        config.write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "cli.main", "web", "--config", str(config)],
            capture_output=True, text=True, timeout=20, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert re.search(r"\[web\] listen = '127\.0\.0\.1:\d+': .*in use", done.stderr)
    assert "Traceback" not in done.stderr
