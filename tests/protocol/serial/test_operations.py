"""At most once, whatever is asked how often."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.serial.messages import (
    CentreLower,
    CentreRaise,
    DiceOutcome,
    DiceRoll,
    MessageError,
    OpAccepted,
    Operation,
    OpId,
    OpRefused,
    OpResult,
    SortStart,
)
from protocol.serial.operations import REMEMBERED_AT_LEAST, OperationMemory


def op(step: int, attempt: int = 0, journal: int = 0xA1, hand: int = 1) -> OpId:
    return OpId(journal, hand, step, attempt)


def test_an_operation_begins_once_and_its_result_is_the_answer_ever_after() -> None:
    memory, roll, moved = OperationMemory(), DiceRoll(op(1)), 0
    for _ in range(5):
        if memory.admit(roll) is None:
            memory.begin(roll)
            moved += 1
        assert memory.admit(roll) == OpAccepted(roll.op)
        assert memory.running == (roll.op,)
    values = DiceOutcome((5, 1), "clean", 3800).pack()
    result = memory.finish(roll.op, "done", values=values)
    assert result == OpResult(roll.op, "done", "", "", values)
    assert [memory.admit(roll) for _ in range(3)] == [result] * 3
    assert moved == 1
    assert memory.running == ()
    assert memory.last_completed == roll.op


def test_a_result_is_for_good() -> None:
    memory = OperationMemory()
    memory.begin(DiceRoll(op(1)))
    memory.finish(op(1), "done")
    with pytest.raises(ValueError, match="running"):
        memory.finish(op(1), "failed")
    with pytest.raises(ValueError, match="running"):
        memory.finish(op(2), "done")
    with pytest.raises(ValueError, match="not begun"):
        memory.begin(DiceRoll(op(1)))


def test_an_id_never_means_two_things() -> None:
    memory = OperationMemory()
    memory.begin(SortStart(op(1), 1))
    assert memory.admit(SortStart(op(1), 2)) == OpRefused(op(1), "bad_argument")
    assert memory.admit(CentreRaise(op(1))) == OpRefused(op(1), "bad_argument")
    memory.finish(op(1), "done")
    assert memory.admit(SortStart(op(1), 2)) == OpRefused(op(1), "bad_argument")


def test_what_was_stopped_half_way_is_interrupted_and_a_new_attempt_goes_on() -> None:
    memory = OperationMemory()
    memory.begin(SortStart(op(1), 1))
    memory.begin(DiceRoll(op(2)))
    memory.finish(op(2), "done")
    assert memory.interrupt("lid_open") == (OpResult(op(1), "interrupted", "lid_open"),)
    assert memory.interrupt() == ()
    assert memory.admit(SortStart(op(1), 1)) == OpResult(op(1), "interrupted", "lid_open")
    assert memory.admit(SortStart(op(1, attempt=1), 1)) is None


def test_at_least_32_results_are_remembered_and_what_runs_is_never_forgotten() -> None:
    with pytest.raises(ValueError, match="at least 32"):
        OperationMemory(31)
    memory = OperationMemory(REMEMBERED_AT_LEAST)
    memory.begin(SortStart(op(0), 1))
    for step in range(1, 101):
        memory.begin(DiceRoll(op(step)))
        memory.finish(op(step), "done")
    assert memory.admit(SortStart(op(0), 1)) == OpAccepted(op(0))
    for step in range(69, 101):
        assert memory.admit(DiceRoll(op(step))) == OpResult(op(step), "done")


def test_an_id_too_old_to_be_remembered_is_refused_since_it_may_have_run() -> None:
    memory = OperationMemory(32)
    for step in range(100):
        memory.begin(DiceRoll(op(step)))
        memory.finish(op(step), "done")
    assert memory.admit(DiceRoll(op(10))) == OpRefused(op(10), "bad_argument")
    assert memory.admit(DiceRoll(op(200))) is None
    assert memory.admit(DiceRoll(op(10, journal=0xB2))) is None  # a new journal has new ids


operations = st.lists(
    st.tuples(st.integers(0, 60), st.sampled_from(("ask", "finish", "stop", "reset"))), min_size=1, max_size=120
)


@settings(max_examples=60)
@given(operations)
def test_nothing_ever_runs_twice_even_over_resets(steps: list[tuple[int, str]]) -> None:
    """A board with a nonvolatile memory: begun ids are counted; none is begun a second time."""
    memory, begun = OperationMemory(32), []
    for step, what in steps:
        operation: Operation = DiceRoll(op(step))
        match what:
            case "ask":
                if memory.admit(operation) is None:
                    memory.begin(operation)
                    begun.append(operation.op)
            case "finish":
                for running in memory.running[:1]:
                    memory.finish(running, "done")
            case "stop":
                memory.interrupt()
            case "reset":
                memory = OperationMemory.restore(memory.export(), 32)
                assert memory.running == ()
    assert len(begun) == len(set(begun))


def test_a_nonvolatile_memory_survives_a_reset() -> None:
    memory = OperationMemory(32)
    for step in range(50):
        memory.begin(DiceRoll(op(step)))
        memory.finish(op(step), "done", values=bytes((step,)))
    memory.begin(SortStart(op(50), 2))
    again = OperationMemory.restore(memory.export(), 32)
    assert again.admit(DiceRoll(op(49))) == OpResult(op(49), "done", values=b"\x31")
    assert again.admit(SortStart(op(50), 2)) == OpResult(op(50), "interrupted", "brown_out")
    assert again.admit(DiceRoll(op(3))) == OpRefused(op(3), "bad_argument")
    assert again.last_completed == op(50)
    empty = OperationMemory.restore(OperationMemory().export())
    assert empty.last_completed is None
    assert empty.admit(DiceRoll(op(1))) is None


@settings(max_examples=100, derandomize=True)
@given(st.data())
def test_a_damaged_memory_is_noticed(data: st.DataObject) -> None:
    memory = OperationMemory()
    for step in range(5):
        memory.begin(DiceRoll(op(step)))
        memory.finish(op(step), "done")
    export = bytearray(memory.export())
    at = data.draw(st.integers(0, len(export) - 1))
    if data.draw(st.booleans()):
        del export[at:]
    else:
        export[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(MessageError):
        OperationMemory.restore(bytes(export))


def test_a_step_that_fails_again_and_again_may_be_tried_again_for_ever() -> None:
    """Attempts that later ones have followed are forgotten first, and never run again; what else ended stays known."""
    memory = OperationMemory(32)
    later = CentreLower(OpId(1, 12, 40, 1))
    memory.begin(later)
    memory.finish(later.op, "done")
    for attempt in range(1, 300):
        operation = CentreRaise(OpId(1, 12, 7, attempt))
        assert memory.admit(operation) is None, attempt
        memory.begin(operation)
        memory.finish(operation.op, "failed", "motor_stall")
    assert isinstance(memory.admit(later), OpResult)
    assert isinstance(memory.admit(CentreRaise(OpId(1, 12, 7, 299))), OpResult)
    for attempt in (1, 100, 260):
        assert isinstance(memory.admit(CentreRaise(OpId(1, 12, 7, attempt))), OpRefused)
