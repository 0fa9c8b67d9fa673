"""`kaijin conform` as a process, over a real pseudo-terminal and over TCP, and what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from cli.main import kaijin, run_command
from hil.conform.report import as_junit, as_text, listed
from hil.conform.requirement import GROUPS, in_order
from tests.hil.conform.boards import FULLEST, conform, conform_nobody, usual
from tests.hil.conform.processes import SLACK, only, run, simulated


@pytest.mark.table
def test_a_board_at_a_pty_passes(tmp_path: Path) -> None:
    with simulated(tmp_path, "--link", "serial", "--speed", "50") as where:
        done = run(
            tmp_path, "serial", "--moves", "--provoke", "--gear", "120", "--world", where["world"], "--slack", SLACK,
            "--json", "--junit", "report.xml", *only("1.9", "2.7", "3.3", "4.2", "6.9", "7.1.2", "7.2.20", "7.5.4"),
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["counts"] == {"pass": 8, "fail": 0, "skip": 0}
    assert told["claim"]["board"]["model"] == "Kaijin simulated table"
    assert told["profiles"] == ["core", "dice", "deal", "lamps", "service"]
    root = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert (root.tag, root.get("tests"), root.get("failures")) == ("testsuites", "8", "0")


@pytest.mark.table
def test_a_bad_board_at_tcp_fails_and_the_report_says_why(tmp_path: Path) -> None:
    with simulated(tmp_path, "--tcp", "127.0.0.1:0", "--speed", "max", "--defect", "second_reason_kept") as where:
        port = f"socket://{where['line']}"
        done = run(tmp_path, port, "--slack", SLACK, "--junit", "report.xml", *only("6.2", "6.6"))
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "  FAIL 6.2     The first reason is kept\n" in done.stdout
    assert "contract: The first reason is kept and told … later ones change nothing. (docs/serial.md, section 7)" in (
        done.stdout
    )
    assert "expected: StopLatched with the first reason, 'the first'" in done.stdout
    assert "seen:     'the second'" in done.stdout
    assert "SKIP 6.6     Operations are refused while a stop is latched: it lets motors run: --moves is not given" in (
        done.stdout
    )
    assert "failed: 6.2\n0 passed, 1 failed, 1 skipped" in done.stdout
    assert len(ElementTree.parse(tmp_path / "report.xml").getroot().findall(".//failure")) == 1


def test_a_port_that_is_none_is_told_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(kaijin, ["conform", str(tmp_path / "none")]) == 1
    assert "no such device; is the board plugged in and powered?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ([], "PORT is missing"),
        (["x", "--only", "9.9"], "9.9: there is no such test or group; --list shows them"),
        (["x", "--provoke"], "--provoke goes with --moves"),
        (["x", "--profile", "core,dices"], "--profile 'dices': expected some of core, dice, deal"),
        (["x", "--gear", "99"], "--gear 99: none of the usual gears (108, 112"),
        (["x", "--gear", "144", "--stacks", "18,18,18"], "expected four numbers up to 40"),
        (["x", "--gear", "144", "--stacks", "18,18,18,17"], "two tiles a stack make 142, --gear says 144"),
        (["x", "--stacks", "18,18,18,18"], "--stacks goes with --gear"),
        (["x", "--world", "/tmp/w", "--ask"], "one pair of hands is enough"),
    ],
)
def test_what_is_asked_wrongly_is_told(words: list[str], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(kaijin, ["conform", *words]) == 2
    assert error in " ".join(capsys.readouterr().err.split())


def test_the_list_has_every_test_with_its_sentence() -> None:
    text = listed()
    for one in in_order():
        assert f"  {one.number:<7} {one.title} [" in text
        assert one.says in text
        assert one.group in GROUPS
    assert "[deal, --moves, --provoke, hands: open lid, hands: close lid]" in text


def test_a_dead_board_is_told_once_and_the_rest_is_skipped() -> None:
    report = conform(usual(only=("1.9", "1.10", "2.1")), defect="long_frames_kill", **FULLEST)
    assert report.failed == ("1.9",)
    assert {result.reason for result in report.of("skip")} == {"the board does not answer any more since 1.9"}


@pytest.mark.parametrize(("echoes", "seen"), [(False, "nothing"), (True, "HELLO ")])
def test_where_no_board_is_that_is_told_once(echoes: bool, seen: str) -> None:
    report = conform_nobody(echoes)
    assert report.claim is None and report.trouble.startswith(f"expected a session within 4 s; seen: {seen}")
    assert report.failed == ("1.1",)
    assert {result.reason for result in report.of("skip")} == {"the board does not answer any more since 1.1"}
    assert "it did not say what it is: expected a session within 4 s" in as_text(report)
    assert ElementTree.fromstring(as_junit(report).encode()).get("failures") == "1"


def test_a_latched_stop_is_not_cleared_unasked() -> None:
    from hil.conform.runner import ConformError
    from tests.hil.conform.boards import with_a_latched_stop

    with pytest.raises(ConformError, match=r"a stop is latched \(stop button\): look why, then clear it"):
        with_a_latched_stop(usual(only=("1.1",)))
    assert not with_a_latched_stop(usual(only=("1.1",), clear_stop=True)).failed


def test_the_reports_agree_whatever_a_board_says() -> None:
    report = conform(usual(only=("4.2", "6.6", "7.1.8")), defect="result_differs", **FULLEST)
    root = ElementTree.fromstring(as_junit(report).encode())
    suites = {suite.get("name"): suite for suite in root}
    assert set(suites) == {"4 Operations", "6 Stop", "7.1 Dice"}
    assert [suite.get("failures") for suite in root] == ["1", "0", "0"]
    failure = suites["4 Operations"].find("testcase/failure")
    assert failure is not None and "contract: The MCU begins an id at most once." in (failure.text or "")
    skip = suites["7.1 Dice"].find("testcase/skipped")
    assert skip is not None and skip.get("message") == "dice read: the board throws"
    text = as_text(report)
    assert "failed: 4.2\n1 passed, 1 failed, 1 skipped" in text
    assert "  board: model Kaijin simulated table, firmware sim-1.0" in text
    plain: dict[str, Any] = {"4.2": "FAIL", "6.6": "PASS", "7.1.8": "SKIP"}
    for number, verdict in plain.items():
        assert f"  {verdict} {number}" in text
