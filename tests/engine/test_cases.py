"""Every case of the rule book, through the very line that `kaijin rules eval` reads and writes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.questions import OPERATIONS, answer_line

CASES = Path(__file__).resolve().parents[1] / "cases"
UNORDERED = ("items", "fan")
"""Parts of an answer whose order says nothing."""


def _cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def _question(case: dict[str, Any]) -> str:
    return json.dumps({field: value for field, value in case.items() if field not in ("want", "why")})


def _wanted(case: dict[str, Any], found: dict[str, Any]) -> bool:
    if found.pop("id") != case["id"]:
        return False
    want = dict(case["want"])
    if "error" in want:
        return want["error"] in found.get("error", "")
    for part in UNORDERED:
        for side in (want, found):
            if part in side:
                side[part] = sorted(side[part])
    return bool(found == want)


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_every_case_is_answered_as_wanted(operation: str) -> None:
    cases = _cases(operation)
    assert len(cases) >= 50
    wrong = []
    for case in cases:
        found = json.loads(answer_line(_question(case)))
        if not _wanted(case, dict(found)):
            wrong.append((case["id"], case["why"], case["want"], found))
    assert wrong == []


def test_every_case_file_belongs_to_an_operation() -> None:
    assert {path.stem for path in CASES.glob("*.jsonl")} == set(OPERATIONS)


def test_the_command_answers_the_cases_of_an_opened_hand() -> None:
    cases = [case for name in ("point", "opening", "opening_claims") for case in _cases(name)]
    questions = "".join(_question(case) + "\n" for case in cases)
    done = subprocess.run(
        [sys.executable, "-c", "from cli.main import main; main()", "rules", "eval"],
        input=questions.encode(),
        capture_output=True,
        cwd=CASES.parents[1],
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert len(answers) == len(cases)
    wrong = [(case["id"], found) for case, found in zip(cases, answers, strict=True) if not _wanted(case, dict(found))]
    assert wrong == []
