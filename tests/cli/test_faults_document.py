"""`docs/faults.md` says what the code does: every fault, refusal, interlock, question and limit."""

from __future__ import annotations

import pytest

from cli.faults_document import DOCUMENT, SECTIONS, main, written
from controller.remedies import AIDS, REFUSALS, REMEDIES, TRIES_BORNE, named, remedy
from protocol.serial.faults import FAULTS
from protocol.serial.vocabulary import FAULT_CODES, REFUSAL_REASONS, SENSOR_BITS, SENSOR_VALUES

SENSORS = {*SENSOR_BITS, *(name for name, _ in SENSOR_VALUES)}


def test_the_document_is_written_from_the_code() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert main(["--check"]) == 0, "run python -m cli.faults_document"
    assert written(text.replace("`head_jam`", "`jam`")) == text, "what was changed by hand is written anew"
    with pytest.raises(ValueError, match="no mark"):
        written(text.replace("<!-- generated: asked -->", ""))
    assert all(f"| `{code}` |" in text for code in FAULT_CODES) and len(SECTIONS) == 5


def test_every_fault_of_the_vocabulary_has_its_row_and_no_other() -> None:
    assert list(REMEDIES) == list(FAULT_CODES)
    assert set(REFUSALS) >= set(REFUSAL_REASONS) - {"latched"}, "a latched stop is waited for, not told as a failure"
    assert {row.aid for row in (*REMEDIES.values(), *REFUSALS.values())} <= set(AIDS)


@pytest.mark.parametrize("code", FAULT_CODES)
def test_sensors_are_those_of_the_contract_and_name_the_side_where_there_is_one(code: str) -> None:
    for side in "ESWN" if FAULTS[next(known for known in FAULT_CODES if known == code)].sided else ("",):
        told = named(code, side)["sensors"]
        assert set(told) <= SENSORS and len(told) == len(remedy(code).sensors)


def test_what_players_did_not_mend_is_for_the_repairer() -> None:
    assert named("head_jam", "S", TRIES_BORNE)["send"] == "floor"
    assert named("head_jam", "S", TRIES_BORNE + 1)["send"] == "repairer"
    assert named("head_jam", "S")["sensors"] == ["head_S"] and named("head_jam")["sensors"] == []


def test_a_code_that_a_newer_board_tells_is_told_all_the_same() -> None:
    assert named("something_new", "E") == {"sensors": [], "aid": "retry", "send": "floor"}
    assert named("slow_sort")["send"] == "repairer"
