"""The `kaijin` command line: lazy, and every expected failure one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cli.main import COMMANDS, Entry, LazyGroup, kaijin, run_command


def group(**table: Entry) -> LazyGroup:
    return LazyGroup("kaijin", table=table)


def test_help_names_every_command_and_imports_nothing_heavy() -> None:
    program = (
        "import sys, cli.main\n"
        "code = cli.main.run_command(cli.main.kaijin, ['--help'])\n"
        "heavy = {'pydantic', 'aiohttp', 'aiomqtt', 'asyncio', 'structlog', 'engine', 'controller', 'simulators'}\n"
        "print(code, sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"
    for name, entry in COMMANDS.items():
        assert f"  {name} " in done.stdout
        assert entry.help in done.stdout


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_of_the_table_has_help(name: str) -> None:
    result = CliRunner().invoke(kaijin, [name, "--help"])
    assert result.exit_code == 0, result.output
    assert "Usage:" in result.output


def test_version() -> None:
    assert CliRunner().invoke(kaijin, ["--version"]).output.startswith("kaijin 0.")


def test_a_command_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(group(gone=Entry("cli.gone_away:gone", "")), ["gone"]) == 1
    assert capsys.readouterr().err == "Error: `kaijin gone` is not part of this installation (cli.gone_away)\n"


def test_a_module_that_a_command_lacks_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lacking.py").write_text("import no_such_module_anywhere\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert run_command(group(lacking=Entry("lacking:it", "")), ["lacking"]) == 1
    assert "needs the Python module 'no_such_module_anywhere'" in capsys.readouterr().err


def test_an_unknown_command_is_one_line_of_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(kaijin, ["shuffle"]) == 2
    error = capsys.readouterr().err
    assert "No such command 'shuffle'" in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("raised", "code", "told"),
    [
        (KeyboardInterrupt(), 130, ""),
        (BrokenPipeError(), 1, ""),
        (click.ClickException("no such table"), 1, "Error: no such table\n"),
        (PermissionError(13, "Permission denied", "/dev/ttyACM0"), 1, "Error: /dev/ttyACM0: Permission denied\n"),
        (click.exceptions.Exit(3), 3, ""),
    ],
)
def test_how_a_command_ends(raised: BaseException, code: int, told: str, capfd: pytest.CaptureFixture[str]) -> None:
    @click.command()
    def fails() -> None:
        raise raised

    assert run_command(fails, []) == code
    assert capfd.readouterr().err.strip("\n") == told.strip("\n")


def test_a_reader_that_leaves_is_no_error() -> None:
    program = "import click, cli.main\n@click.command()\ndef talk():\n    [click.echo('x' * 80) for _ in range(5000)]\n"
    program += "import sys; sys.exit(cli.main.run_command(talk, []))"
    talking = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert talking.stdout is not None
    assert talking.stderr is not None
    talking.stdout.readline()
    talking.stdout.close()
    assert talking.stderr.read() == b""
    talking.stderr.close()
    assert talking.wait(timeout=30) == 1
