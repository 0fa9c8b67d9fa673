"""Each defect that a board can be told to have is found by exactly the tests that are named for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from hil.conform.requirement import REQUIREMENTS
from hil.conform.runner import chosen
from simulators.defects import DEFECTS, UnknownDefect, board_kind
from tests.hil.conform.boards import FULLEST, conform, usual, why

CONFIG: Mapping[str, Mapping[str, Any]] = {"flash_forgets": {"nonvolatile": True}}
"""What the table of a defect must have, beside the fullest."""


def test_there_are_many_and_each_is_told_of() -> None:
    assert chosen(()) and len(DEFECTS) >= 32
    for defect in DEFECTS.values():
        assert defect.says and defect.found_by, defect.name
        assert set(defect.found_by) <= set(REQUIREMENTS), defect.name
        assert set(defect.also) <= set(REQUIREMENTS) - set(defect.found_by), defect.name


def test_an_unknown_defect_is_named_with_those_that_are_known() -> None:
    with pytest.raises(UnknownDefect, match=r"defect 'gremlin': expected one of .*crc_not_checked"):
        board_kind("gremlin")


SHARE = 2
"""Every second defect in each run, all of them in the long form."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if at % SHARE else ()) for at, name in enumerate(DEFECTS)]
)
def test_a_defect_is_found(name: str) -> None:
    config = {**FULLEST, **CONFIG.get(name, {})}
    report = conform(usual(only=DEFECTS[name].found_by), defect=name, **config)
    assert set(report.failed) == set(DEFECTS[name].found_by), why(report)


@pytest.mark.long
@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_found_by_nothing_else(name: str) -> None:
    config = {**FULLEST, **CONFIG.get(name, {})}
    report = conform(defect=name, **config)
    assert set(report.failed) == {*DEFECTS[name].found_by, *DEFECTS[name].also}, why(report)
