"""C and Python asked the same: any bytes as a message, and any course of operations."""

from __future__ import annotations

import ctypes
import random

import pytest

from protocol.serial.messages import (
    CATALOGUE,
    CentreRaise,
    DiceRoll,
    MessageError,
    OpAccepted,
    Operation,
    OpId,
    OpRefused,
    OpResult,
    SortStart,
    decode_message,
    encode_message,
)
from protocol.serial.operations import REMEMBERED_AT_LEAST, OperationMemory
from protocol.serial.vectors import error_of, usual
from tests.protocol.c.building import compiler
from tests.protocol.c.clink import shared

ERRORS = ("valid", "empty", "type", "short", "long", "range", "length", "utf8")


@pytest.fixture(scope="module", autouse=True)
def with_compiler() -> None:
    compiler("gcc")


def in_c(data: bytes) -> tuple[str, bytes]:
    """What C makes of these bytes, and what it encodes again."""
    again, back = ctypes.create_string_buffer(230), ctypes.c_size_t()
    error = shared().shim_decode(data, ctypes.c_size_t(len(data)), again, ctypes.byref(back))
    assert error >= 0, data.hex()
    return ERRORS[error], again.raw[: back.value]


def in_python(data: bytes) -> tuple[str, bytes]:
    """What Python makes of them."""
    try:
        return "valid", encode_message(decode_message(data))
    except MessageError as error:
        return error_of(error), b""


@pytest.mark.parametrize("seed", range(2))
def test_both_read_any_bytes_alike(seed: int) -> None:
    chance = random.Random(seed)
    good = [encode_message(spec.cls(*(usual(field.wire) for field in spec.fields))) for spec in CATALOGUE]
    seen = set()
    for _ in range(4000):
        data = bytearray(chance.choice(good))
        for _ in range(chance.choice((0, 1, 1, 2))):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 2, 3, 4, 41, 101, 254, 255, chance.randrange(256)))
        data = data[: chance.randrange(len(data) + 1)] if chance.random() < 0.1 else data
        data += chance.randbytes(chance.choice((0, 0, 0, 0, 1, 2, 250)))
        found = in_c(bytes(data))
        assert found == in_python(bytes(data)), data.hex()
        seen.add(found[0])
    assert {"valid", "type", "short", "long", "range", "length"} <= seen


class Memories:
    """An operation memory in C and one in Python that are told the same."""

    def __init__(self) -> None:
        self.c = shared()
        self.made = ctypes.c_void_p(self.c.operations_new())
        self.python = OperationMemory(REMEMBERED_AT_LEAST)
        self.buffer = ctypes.create_string_buffer(230)

    def ask(self, operation: Operation) -> str:
        data = encode_message(operation)
        known = self.python.admit(operation)
        length = self.c.operations_admit(self.made, data, ctypes.c_size_t(len(data)), self.buffer)
        if known is None:
            assert length == 0, operation
        elif isinstance(known, OpRefused):
            assert length == -1, operation
        else:
            assert length > 0, operation
            assert decode_message(self.buffer.raw[:length]) == known
        if known is None and len(self.python.running) < 8:
            self.python.begin(operation)
            assert self.c.operations_begin(self.made, data, ctypes.c_size_t(len(data)))
        elif known is None:
            assert not self.c.operations_begin(self.made, data, ctypes.c_size_t(len(data)))
        return type(known).__name__

    def finish(self, op: OpId, values: bytes) -> None:
        data = encode_message(OpResult(op, "done", "", "", values))
        if op in self.python.running:
            self.python.finish(op, "done", values=values)
            assert self.c.operations_finish(self.made, data, ctypes.c_size_t(len(data)))
        else:
            assert not self.c.operations_finish(self.made, data, ctypes.c_size_t(len(data)))

    def reset(self) -> None:
        self.python = OperationMemory.restore(self.python.export(), REMEMBERED_AT_LEAST)
        assert self.c.operations_reset(self.made, ctypes.c_long(-1))

    def told(self, which: int) -> OpId | None:
        length = self.c.operations_told(self.made, which, self.buffer)
        message = decode_message(self.buffer.raw[:length]) if length else None
        return message.op if isinstance(message, OpAccepted) else None

    def check(self) -> None:
        assert self.told(0) == self.python.last_completed
        running = self.python.running
        assert self.told(1) == (running[0] if running else None)


@pytest.mark.parametrize("seed", range(8))
def test_both_remember_alike(seed: int) -> None:
    """The same asked, ended, forgotten and reset: the same answers, the same refusals."""
    chance, both = random.Random(seed), Memories()
    journals = chance.sample(range(1, 1 << 60), chance.choice((1, 2, 12)))
    steps = chance.choice((4, 60, 400))
    answers: set[str] = set()
    asked: dict[OpId, Operation] = {}
    for turn in range(1500):
        near = max(0, turn * steps // 1500 + chance.randint(-20, 3))
        op = OpId(chance.choice(journals), near // 50, near % 50, chance.choice((0, 0, 0, 1, 2, 9)))
        operation: Operation = chance.choice((DiceRoll(op), DiceRoll(op), SortStart(op, 1), CentreRaise(op)))
        draw = chance.random()
        if draw < 0.1 and both.python.running:
            answers.add(both.ask(asked[chance.choice(both.python.running)]))
        elif draw < 0.6:
            answers.add(both.ask(operation))
            if op in both.python.running:
                asked.setdefault(op, operation)
        elif draw < 0.98:
            running = both.python.running
            both.finish(chance.choice(running) if running else op, chance.randbytes(chance.choice((0, 4, 6, 160))))
        else:
            both.reset()
        both.check()
    assert {"NoneType", "OpRefused", "OpResult", "OpAccepted"} <= answers


def test_a_damaged_image_is_noticed() -> None:
    both = Memories()
    for step in range(40):
        both.ask(DiceRoll(OpId(1, 1, step, 0)))
        both.finish(OpId(1, 1, step, 0), b"\x01\x02")
    for at in range(0, 7000, 97):
        fresh = Memories()
        fresh.ask(DiceRoll(OpId(1, 1, 1, 0)))
        assert not fresh.c.operations_reset(fresh.made, ctypes.c_long(at))
        assert fresh.told(1) is None  # an empty memory: say volatile
    both.reset()
    both.check()
