"""The judge of empty tests finds them out."""

from __future__ import annotations

import ast

import pytest

from tests.engine.empty_tests import judged

EMPTY = """
import pytest
from tests.helper import imported, looks_on

def holds(x): assert x
def calm(x): return x
def hollow(x):
    return x
    assert x
def test_docstring():
    '''Only words.'''
def test_passes(): pass
def test_dots(): ...
def test_returns():
    return
    assert 1 == 2
def test_returns_later():
    x = 1
    return
    assert x == 2
def test_calls_what_checks_nothing(): calm(1)
def test_calls_what_returns_first(): hollow(1)
def test_imports_what_checks_nothing(): looks_on(1)
def test_a_constant(): assert True
def test_only_inside():
    def inner(): assert 1 == 2
@pytest.mark.skip(reason="x")
def test_skipped(): assert 1 == 2
@pytest.mark.skipif(True, reason="x")
def test_skipped_if(): assert 1 == 2
@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.xfail)])
def test_expected_to_fail(x): assert x == 2
def test_skips_itself():
    pytest.skip("x")
    assert 1 == 2
@pytest.mark.skip
class TestSkipped:
    def test_inside(self): assert 1 == 2
class TestHeld:
    def look(self, x): assert x
    def test_by_method(self): self.look(1)
def test_asserts(): assert calm(1) == 1
def test_waits_for_an_error():
    with pytest.raises(ValueError):
        int("x")
def test_asks_a_helper(): holds(1)
def test_asks_an_imported_helper(): imported(1)
def test_in_a_loop():
    for x in (1, 2):
        if x == 1:
            continue
        assert x
"""
HELPER = "def imported(x): assert x\ndef looks_on(x): print(x)\n"


def test_empty_tests_are_found_out() -> None:
    found = judged(EMPTY, lambda name: ast.parse(HELPER) if name == "tests.helper" else None)
    nothing, unchecked, skipped = "it does nothing", "it checks nothing", "skipped"
    assert found == {
        "test_docstring": nothing,
        "test_passes": nothing,
        "test_dots": nothing,
        "test_returns": nothing,
        "test_returns_later": unchecked,
        "test_calls_what_checks_nothing": unchecked,
        "test_calls_what_returns_first": unchecked,
        "test_imports_what_checks_nothing": unchecked,
        "test_a_constant": unchecked,
        "test_only_inside": unchecked,
        "test_skipped": skipped,
        "test_skipped_if": skipped,
        "test_expected_to_fail": skipped,
        "test_skips_itself": skipped,
        "TestSkipped::test_inside": skipped,
        "TestHeld::test_by_method": None,
        "test_asserts": None,
        "test_waits_for_an_error": None,
        "test_asks_a_helper": None,
        "test_asks_an_imported_helper": None,
        "test_in_a_loop": None,
    }


@pytest.mark.parametrize("mark", ["pytest.mark.skip", "[pytest.mark.xfail]"])
def test_a_module_that_is_skipped_holds_nothing(mark: str) -> None:
    assert judged(f"pytestmark = {mark}\ndef test_x(): assert 1 == 2\n") == {"test_x": "skipped"}
