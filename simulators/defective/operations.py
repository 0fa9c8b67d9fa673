"""Boards whose memory of operations is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from protocol.serial.messages import OpAccepted, Operation, OpId, OpRefused, OpResult
from protocol.serial.operations import OperationMemory
from simulators.mcu import Mcu

Answer = OpAccepted | OpResult | OpRefused | None


class BeginsAgain(OperationMemory):
    """What has ended is begun again."""

    def admit(self, operation: Operation) -> Answer:
        answer = super().admit(operation)
        if isinstance(answer, OpResult):
            del self._known[operation.op]
            return None
        return answer


class ForgetsSoon(OperationMemory):
    """Four results are all it remembers."""

    def _forget(self) -> None:
        super()._forget()
        ended = [op for op, known in self._known.items() if known.result is not None]
        for op in ended[:-4]:
            del self._known[op]
            self._forgotten[op.journal] = op


class NoMarks(OperationMemory):
    """It does not know what it has forgotten."""

    def _forget(self) -> None:
        super()._forget()
        self._forgotten.clear()


class ResultsDiffer(OperationMemory):
    """Asked again it tells another result."""

    def admit(self, operation: Operation) -> Answer:
        answer = super().admit(operation)
        return replace(answer, outcome="interrupted") if isinstance(answer, OpResult) else answer


class ArgumentsIgnored(OperationMemory):
    """An id is all it looks at."""

    def admit(self, operation: Operation) -> Answer:
        known = self._known.get(operation.op)
        if known is not None:
            return known.result or OpAccepted(operation.op)
        return super().admit(operation)


class AttemptsCount(OperationMemory):
    """Attempts that were followed make earlier ids count as forgotten."""

    def _followed(self) -> set[OpId]:
        return set()


class HandIgnored(OperationMemory):
    """The hand is no part of the ids that it remembers."""

    def admit(self, operation: Operation) -> Answer:
        for op, known in self._known.items():
            if op != operation.op and replace(op, hand=operation.op.hand) == operation.op and known.result is not None:
                return replace(known.result, op=operation.op)
        return super().admit(operation)


class RefusalsRemembered(Mcu):
    """An id that was refused stays refused."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self._refused: dict[OpId, OpRefused] = {}

    def _on_operation(self, operation: Operation) -> None:
        if operation.op in self._refused:
            self._send(self._refused[operation.op])
            return
        super()._on_operation(operation)

    def _send(self, message: object) -> None:
        if isinstance(message, OpRefused):
            self._refused[message.op] = message
        super()._send(message)  # type: ignore[arg-type]


class NoLast(OperationMemory):
    """Which operation was the last nobody can tell."""

    @property
    def last_completed(self) -> OpId | None:
        return None


class FlashForgets(Mcu):
    """It claims a memory that outlives resets, and has none."""

    def _keep(self) -> None:
        """Nothing is written."""


def _board(kind: type[OperationMemory]) -> type[Mcu]:
    return type(kind.__name__, (Mcu,), {"memory_kind": kind})


KINDS: Final[tuple[tuple[str, str, type[Mcu]], ...]] = (
    ("executed_twice", "carries an operation out again that is asked for again", _board(BeginsAgain)),
    ("forgets_after_four", "remembers four results", _board(ForgetsSoon)),
    ("forgotten_begun_again", "begins an id again that it has forgotten", _board(NoMarks)),
    ("result_differs", "tells another result when it is asked again", _board(ResultsDiffer)),
    ("arguments_ignored", "takes the same id with other arguments for the same operation", _board(ArgumentsIgnored)),
    ("attempts_count_as_forgotten", "refuses ids because another step failed often", _board(AttemptsCount)),
    ("hand_ignored", "does not compare the hand of two ids", _board(HandIgnored)),
    ("refusals_remembered", "refuses an id for ever that it has refused once", RefusalsRemembered),
    ("last_op_missing", "does not tell the last completed operation", _board(NoLast)),
    ("flash_forgets", "forgets at a reset what it said it would keep", FlashForgets),
)
"""Name, what the board does, and the board."""
