"""Operations at most once: the MCU's memory of the ids it began and of how they ended."""

import struct
from binascii import crc_hqx
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, Literal

from protocol.serial.messages import (
    FaultCode,
    OpAccepted,
    Operation,
    OpId,
    OpRefused,
    OpResult,
    Outcome,
    Seat,
    decode_message,
    encode_message,
)
from protocol.serial.wire import MessageError

REMEMBERED: Final = 64
"""Results a board of ours remembers; the contract asks for 32 at least."""
REMEMBERED_AT_LEAST: Final = 32
JOURNALS: Final = 8
"""Of so many journals a board of ours knows how far it has forgotten: the host's own, its repairer's, former ones."""

_EXPORT_VERSION: Final = 2
_EXPORT_HEAD: Final = struct.Struct("<BHB")
_EXPORT_ENTRY: Final = struct.Struct("<HHB")
_CHECK: Final = struct.Struct("<H")


@dataclass(slots=True)
class _Remembered:
    """What was asked (check over its bytes), and the result once there is one."""

    asked: int
    result: OpResult | None = None


class OperationMemory:
    """The MCU's side: which ids have begun, which have ended and how.

    ``admit`` first; where it gives None check the interlocks, then ``begin`` and move; ``finish`` or ``interrupt``
    at the end. A refusal is not remembered. An id older than those already forgotten is refused, since it may have run.
    """

    def __init__(self, capacity: int = REMEMBERED) -> None:
        if capacity < REMEMBERED_AT_LEAST:
            raise ValueError(f"capacity: expected at least {REMEMBERED_AT_LEAST}, got {capacity}")
        self._capacity: Final = capacity
        self._known: OrderedDict[OpId, _Remembered] = OrderedDict()
        self._forgotten: OrderedDict[int, OpId] = OrderedDict()
        """By journal: the latest id that is not remembered any more."""
        self._last_completed: OpId | None = None

    @property
    def running(self) -> tuple[OpId, ...]:
        """Ids that have begun and not ended, oldest first."""
        return tuple(op for op, known in self._known.items() if known.result is None)

    @property
    def last_completed(self) -> OpId | None:
        """The id whose result was stored last."""
        return self._last_completed

    def admit(self, operation: Operation) -> OpAccepted | OpResult | OpRefused | None:
        """The answer to an operation asked before; None: it is new and may begin."""
        known = self._known.get(operation.op)
        if known is not None:
            if known.asked != _check_of(operation):
                return OpRefused(operation.op, "bad_argument")
            return known.result or OpAccepted(operation.op)
        gone = self._forgotten.get(operation.op.journal)
        if (gone is not None and operation.op <= gone) or self._is_followed(operation.op):
            return OpRefused(operation.op, "bad_argument")
        return None

    def begin(self, operation: Operation) -> OpAccepted:
        """Remember the id as running. ValueError for an id that ``admit`` would have answered."""
        if self.admit(operation) is not None:
            raise ValueError(f"op: expected an id that has not begun, got {operation.op}")
        self._known[operation.op] = _Remembered(_check_of(operation))
        return OpAccepted(operation.op)

    def finish(
        self, op: OpId, outcome: Outcome, fault: FaultCode | Literal[""] = "", side: Seat = "", values: bytes = b""
    ) -> OpResult:
        """Store the result of a running id, for good; ValueError if it does not run."""
        known = self._known.get(op)
        if known is None or known.result is not None:
            raise ValueError(f"op: expected a running id, got {op}")
        result = OpResult(op, outcome, fault, side, values)
        encode_message(result)
        known.result = result
        self._last_completed = op
        self._known.move_to_end(op)
        self._forget()
        return result

    def interrupt(self, fault: FaultCode | Literal[""] = "", side: Seat = "") -> tuple[OpResult, ...]:
        """Everything that runs was stopped half-way: its stored result is ``interrupted``."""
        return tuple(self.finish(op, "interrupted", fault, side) for op in self.running)

    def export(self) -> bytes:
        """The memory as bytes with a check, for a board that keeps it over a reset."""
        entries = bytearray()
        for op, known in self._known.items():
            message = encode_message(known.result or OpAccepted(op))
            entries += _EXPORT_ENTRY.pack(known.asked, len(message), known.result is not None) + message
        marks = b"".join(_optional(op) for op in (*self._forgotten.values(), self._last_completed))
        body = _EXPORT_HEAD.pack(_EXPORT_VERSION, len(self._known), len(self._forgotten)) + marks + entries
        return body + _CHECK.pack(crc_hqx(body, 0xFFFF))

    @classmethod
    def restore(cls, data: bytes, capacity: int = REMEMBERED) -> "OperationMemory":
        """The memory of ``export`` after a reset: what was running then is ``interrupted`` now.

        MessageError if the bytes are damaged: begin with an empty memory, and say ``volatile``.
        """
        if len(data) < _EXPORT_HEAD.size + _CHECK.size or crc_hqx(data[:-2], 0xFFFF) != _CHECK.unpack(data[-2:])[0]:
            raise MessageError("memory", "an export with a matching check", f"{len(data)} bytes")
        version, count, gone = _EXPORT_HEAD.unpack_from(data)
        if version != _EXPORT_VERSION:
            raise MessageError("memory.version", str(_EXPORT_VERSION), version)
        try:
            return cls._read(data, count, gone, capacity)
        except struct.error:
            raise MessageError("memory", f"{count} whole entries", f"{len(data)} bytes") from None

    @classmethod
    def _read(cls, data: bytes, count: int, gone: int, capacity: int) -> "OperationMemory":
        memory, at = cls(capacity), _EXPORT_HEAD.size
        for _ in range(gone):
            op, at = _optional_from(data, at)
            if op is not None:
                memory._forgotten[op.journal] = op
        memory._last_completed, at = _optional_from(data, at)
        for _ in range(count):
            asked, length, _ended = _EXPORT_ENTRY.unpack_from(data, at)
            at += _EXPORT_ENTRY.size
            message = decode_message(data[at : at + length])
            at += length
            if isinstance(message, OpResult):
                memory._known[message.op] = _Remembered(asked, message)
            elif isinstance(message, OpAccepted):
                memory._known[message.op] = _Remembered(asked, None)
            else:
                raise MessageError("memory", "OpResult or OpAccepted", type(message).__name__)
        memory.interrupt("brown_out")
        memory._forget()
        return memory

    def _forget(self) -> None:
        """Beyond the capacity go first the attempts that a later one of the same step has followed: they leave no mark,
        so that a step which fails again and again is not taken for one that may have run.
        """
        ended = [op for op, known in self._known.items() if known.result is not None]
        over = len(ended) - self._capacity
        if over <= 0:
            return
        behind = self._followed()
        ended.sort(key=lambda op: op not in behind)  # stable: otherwise the oldest first
        for op in ended[:over]:
            followed = op in behind
            del self._known[op]
            known = self._forgotten.get(op.journal)
            if not followed and (known is None or op > known):
                self._forgotten[op.journal] = op
                self._forgotten.move_to_end(op.journal)
                while len(self._forgotten) > JOURNALS:
                    self._forgotten.popitem(last=False)

    def _followed(self) -> set[OpId]:
        """The known ids of whose step a later attempt is known."""
        latest: dict[tuple[int, int, int], int] = {}
        for op in self._known:
            step = (op.journal, op.hand, op.step)
            latest[step] = max(op.attempt, latest.get(step, 0))
        return {op for op in self._known if op.attempt < latest[op.journal, op.hand, op.step]}

    def _is_followed(self, op: OpId) -> bool:
        """Whether a later attempt of the same step is known."""
        step = (op.journal, op.hand, op.step)
        return any((one.journal, one.hand, one.step) == step and one.attempt > op.attempt for one in self._known)


def _check_of(operation: Operation) -> int:
    return crc_hqx(encode_message(operation), 0xFFFF)


def _optional(op: OpId | None) -> bytes:
    return b"\x00" if op is None else encode_message(OpAccepted(op))


def _optional_from(data: bytes, at: int) -> tuple[OpId | None, int]:
    if data[at : at + 1] == b"\x00":
        return None, at + 1
    message = decode_message(data[at : at + 17])
    if not isinstance(message, OpAccepted):
        raise MessageError("memory", "an operation id", type(message).__name__)
    return message.op, at + 17
