"""What the documents say: commands that exist and work, links that lead somewhere, nothing that is not there."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from cli.main import kaijin

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
CALL = re.compile(r"(?:\./|/opt/kaijin/bin/)?kaijin (?=[a-z-])(.*)")
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Block:
    """A fenced block: its words after the fence, and its text."""

    page: Path
    words: tuple[str, ...]
    text: str


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(page, tuple(words.split()), body) for words, body in FENCED.findall(text)]


def marked(page: Path, word: str) -> list[Block]:
    return [block for block in blocks(page) if word in block.words]


def prose(page: Path) -> str:
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def calls() -> Iterator[tuple[str, str]]:
    """Every call of `kaijin` in a shell block or in inline code that has arguments: page and arguments."""
    for page in PAGES:
        lines = [line for block in blocks(page) if "sh" in block.words for line in block.text.splitlines()]
        for line in [*lines, *INLINE.findall(prose(page))]:
            for part in re.split(r"\s[|&;]+\s", line.replace("\\|", ",")):
                found = CALL.match(part.strip(" &"))
                if found is not None:
                    yield page.name, found.group(1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a `./kaijin` in it, that of this environment."""
    command = tmp_path / "kaijin"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "from cli.main import main; main()" "$@"\n')
    command.chmod(0o755)
    return tmp_path


def shell(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment(), capture_output=True, text=True,
        check=False, timeout=100,
    )  # fmt: skip


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"] + ":/usr/sbin"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(prose(page)):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), f"{page.name} links {target}"
        if anchor:
            assert anchor in anchors(file), f"{page.name} links {target}"


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_every_document_stands_in_the_index() -> None:
    index = LINK.findall((ROOT / "docs" / "README.md").read_text(encoding="utf-8"))
    assert set(index) == {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}


def test_the_two_commands_stand_in_the_readme_word_for_word() -> None:
    texts = [block.text for block in blocks(ROOT / "README.md")]
    assert texts == ["./kaijin demo\n", "./kaijin test\n"]


def test_every_call_names_commands_and_options_that_exist() -> None:
    checked = 0
    for page, arguments in calls():
        words = shlex.split(re.sub(r"[…\[\]]", "", arguments))
        if words[0] in ("test", "check", "pins"):
            continue  # the script's own: tests/test_setup.py
        options = known_options(words)
        for word in words:
            if word.startswith("--"):
                assert word.partition("=")[0] in options, f"{page}: kaijin {arguments}"
        checked += 1
    assert checked > 30


def known_options(words: list[str]) -> set[str]:
    """The options that the command named by the first words has."""
    command: click.Command = kaijin
    place = 0
    while isinstance(command, click.Group) and place < len(words) and not words[place].startswith("-"):
        found = command.get_command(click.Context(command), words[place])
        assert found is not None, f"no command {' '.join(words[: place + 1])}"
        command, place = found, place + 1
    own = {option for parameter in command.params for option in parameter.opts}
    return own | {"--help", "--version"}


def test_the_options_of_the_demo_stand_in_the_readme_each_once() -> None:
    table = re.findall(r"^\| `(--[a-z-]+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(table) == len(set(table))
    assert set(table) == known_options(["demo"]) - {"--help", "--version"}


@pytest.mark.table
@pytest.mark.parametrize("number", range(len(marked(ROOT / "docs" / "getting-started.md", "run"))))
def test_what_is_to_be_tried_works(folder: Path, number: int) -> None:
    done = shell(folder, marked(ROOT / "docs" / "getting-started.md", "run")[number].text)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout


@pytest.mark.table
def test_the_parts_by_themselves_make_a_table(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAIJIN_WEB__LISTEN", f"127.0.0.1:{free_port()}")
    monkeypatch.setenv("KAIJIN_HEALTH__LISTEN", f"127.0.0.1:{free_port()}")
    running: list[subprocess.Popen[bytes]] = []
    said: list[str] = []
    try:
        for block in marked(ROOT / "docs" / "getting-started.md", "together"):
            together, background = split_block(block.text)
            if "journal show" in together:
                wait_for(lambda text=together: "TakingDone" in shell(folder, text).stdout, "a hand that was taken")
            if together:
                done = shell(folder, together)
                assert done.returncode == 0, f"{together}\n{done.stdout}{done.stderr}"
                said.append(done.stdout)
            running += [start(folder, line) for line in background]
            if "simulate table" in block.text:
                wait_for(lambda: (folder / "my-table/serial").exists(), "the simulated table's line")
            if "/kaijin run" in block.text:
                wait_for(lambda: (folder / "my-table/table.journal").exists(), "the daemon's journal")
            if "mosquitto -c" in block.text:
                wait_for(lambda: (folder / "my-table/broker.sock").exists(), "the broker's socket")
        assert "Kaijin simulated table" in "".join(said)
        assert any(text.startswith("http://127.0.0.1:") and "#seat=E&token=" in text for text in said)
        assert "TakingDone" in "".join(said), "what has happened is shown"
    finally:
        ends = [end(process) for process in reversed(running)]
    assert len(ends) == 5
    assert set(ends) <= {0, -signal.SIGTERM}


def split_block(text: str) -> tuple[str, list[str]]:
    """What runs to its end, and what stays running in the background."""
    lines = text.splitlines()
    background = [line.removesuffix("&").rstrip() for line in lines if line.endswith(" &")]
    return "\n".join(line for line in lines if not line.endswith(" &")), background


def start(folder: Path, line: str) -> subprocess.Popen[bytes]:
    log = (folder / "said.log").open("ab")
    with log:
        return subprocess.Popen(
            ["bash", "-c", f"exec {line}"], cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=log,
            stderr=log,
        )  # fmt: skip


def end(process: subprocess.Popen[bytes]) -> int:
    process.terminate()
    try:
        return process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


def wait_for(so: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + PATIENCE_S
    while not so():
        assert time.monotonic() < until, f"{what} did not come"
        time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
