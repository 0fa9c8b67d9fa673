"""Settings: every error names the file (or variable), the key and what was expected."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from controller.settings import Settings, SettingsError, load_settings, split_listen

SMALLEST = '[table]\nid = "table-1"\n[serial]\nports = ["/dev/kaijin-table"]\n'


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "table.toml"
    path.write_text(text, encoding="utf-8")
    return path


def problems(tmp_path: Path, text: str, environ: dict[str, str] | None = None) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as error:
        load_settings(written(tmp_path, text), environ or {})
    return error.value.problems


def test_two_keys_are_enough(tmp_path: Path) -> None:
    settings = load_settings(written(tmp_path, SMALLEST), {})
    assert settings.broker_user == "table-1"
    assert settings.serial.ports == ("/dev/kaijin-table",)
    assert settings.web.listen == "127.0.0.1:8480" and settings.health.listen == "127.0.0.1:9470"
    assert settings.web.health_listen == "127.0.0.1:9471"
    assert settings.log_directory == settings.journal.path.parent


def test_the_shipped_example_says_what_holds_anyway() -> None:
    example = Path(__file__).parents[2] / "deploy" / "table.toml"
    settings = load_settings(example, {})
    bare = Settings.model_validate({"table": {"id": "table-1"}, "serial": {"ports": ["/dev/kaijin-table"]}})
    for section in ("journal", "match", "timing", "health", "web"):
        assert getattr(settings, section) == getattr(bare, section)
    shown = example.read_text(encoding="utf-8")
    for section in type(bare).model_fields:
        assert f"[{section}]" in shown


def test_people_answer_at_the_tables_speed_unless_it_is_said_otherwise(tmp_path: Path) -> None:
    fast = load_settings(written(tmp_path, SMALLEST + "[timing]\nspeed = 20\n"), {})
    assert fast.timing.people_speed == 20
    slow = load_settings(written(tmp_path, SMALLEST + "[timing]\nspeed = 20\nanswer_speed = 1\n"), {})
    assert (slow.timing.speed, slow.timing.people_speed) == (20, 1)


@pytest.mark.parametrize(
    ("text", "where", "expected"),
    [
        (SMALLEST.replace("table-1", "Table 1"), "[table] id", "letters a-z, digits and hyphens"),
        (SMALLEST + "[broker]\nport = 70000\n", "[broker] port", "whole number 1-65535, got 70000"),
        (SMALLEST + "[broker]\nprot = 1\n", "[broker] prot", "unknown key; expected one of host, port"),
        (SMALLEST + "[broker]\nprot = 1\n", "[broker] prot", "did you mean port?"),
        (SMALLEST + "[brokr]\n", "[brokr]", "did you mean broker?"),
        (SMALLEST + "broker = 5\n", "[serial] broker", "unknown key"),
        ("broker = 5\n" + SMALLEST, "[broker]", "expected a section"),
        (SMALLEST + '[health]\nlisten = "9470"\n', "[health] listen", 'host:port such as "127.0.0.1:9470"'),
        (SMALLEST + "[timing]\nspeed = 0\n", "[timing] speed", "a number above 0"),
        (SMALLEST + "[timing]\nanswer_speed = -1\n", "[timing] answer_speed", "left out: the same as speed"),
        (SMALLEST + "[timing]\nagree_ms = 10\n", "[timing] agree_ms", "1000-600000, got 10"),
        (SMALLEST + "[match]\nminutes = 20000\n", "[match] minutes", "0-10080"),
        (SMALLEST + '[match]\nseats = "drawn"\n', "[match] seats", '"free" (people sit where they like) or "dice"'),
        (SMALLEST + '[match]\nlayout = "round"\n', "[match] layout", '"zhitui", "bagua"'),
        (SMALLEST.replace('["/dev/kaijin-table"]', "[]"), "[serial] ports", "list of 1-4 devices"),
        (SMALLEST.replace('["/dev/kaijin-table"]', '[" "]'), "[serial] ports.0", "list of 1-4 devices"),
        ('[table]\nid = "table-1"\n', "[serial]", "this section is missing"),
        ("[table]\n[serial]\nports = ['x']\n", "[table] id", "missing; expected the table's immutable id"),
        ("[table\n", "table.toml", "expected TOML"),
        (SMALLEST + '[web]\npublic_url = "tablet"\n', "[web] public_url", '"http://host:port"'),
    ],
)
def test_what_is_wrong_is_told_with_file_and_key(tmp_path: Path, text: str, where: str, expected: str) -> None:
    told = problems(tmp_path, text)
    assert any("table.toml" in line and where in line and expected in line for line in told), told


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    told = problems(tmp_path, SMALLEST + "[broker]\nport = 0\n[log]\nlevel = 'loud'\n")
    assert len(told) == 2


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no such file"):
        load_settings(tmp_path / "none.toml", {})


def test_the_environment_overrides_the_file(tmp_path: Path) -> None:
    environ = {
        "KAIJIN_BROKER__PORT": "1999",
        "KAIJIN_SERIAL__PORTS": '["/dev/a", "/dev/b"]',
        "KAIJIN_MATCH__AUTOSTART": "true",
        "KAIJIN_MATCH__OPTIONS": '{ gold = "successor" }',
        "KAIJIN_TABLE__NAME": "12",
        "KAIJIN_HOME": "not a setting",
        "PATH": "/bin",
    }
    settings = load_settings(written(tmp_path, SMALLEST + "[broker]\nport = 5\n"), environ)
    assert settings.broker.port == 1999 and settings.serial.ports == ("/dev/a", "/dev/b")
    assert settings.match.autostart is True and settings.match.options == {"gold": "successor"}
    assert settings.table.name == "12"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("KAIJIN_BROKER__PORT", "many", "environment KAIJIN_BROKER__PORT: expected a whole number"),
        ("KAIJIN_BROKR__PORT", "1", "environment KAIJIN_BROKR__PORT: there is no section [brokr]"),
        ("KAIJIN_BROKER__PROT", "1", "environment KAIJIN_BROKER__PROT: unknown key"),
        ("KAIJIN_SERIAL__PORTS", "[", "environment KAIJIN_SERIAL__PORTS: expected a TOML value"),
    ],
)
def test_a_wrong_variable_is_named(tmp_path: Path, name: str, value: str, expected: str) -> None:
    assert any(line.startswith(expected) for line in problems(tmp_path, SMALLEST, {name: value}))


def test_relative_paths_start_at_the_file(tmp_path: Path) -> None:
    settings = load_settings(written(tmp_path, SMALLEST + '[journal]\npath = "data/t.journal"\n'), {})
    assert settings.journal.path == tmp_path / "data" / "t.journal"


@pytest.mark.parametrize(
    ("text", "address"), [("127.0.0.1:80", ("127.0.0.1", 80)), ("[::1]:0", ("::1", 0)), ("host:65535", ("host", 65535))]
)
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert split_listen(text) == address


def test_the_command_says_it_in_one_line_a_problem(tmp_path: Path) -> None:
    path = written(tmp_path, SMALLEST + "[broker]\nport = 0\n")
    command = [sys.executable, "-c", "from cli.main import main; main()", "run", "--config", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1 and re.search(r"table\.toml: \[broker\] port: expected", done.stderr)
    assert "Traceback" not in done.stderr
