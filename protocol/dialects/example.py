"""The example dialect: frames of four bytes, `AA code argument sum`, in both directions, without any answer. Pure.

`sum` is the low byte of the first three added up. The tables of docs/dialects.md say what each code means; both sides
of the line are here, the host's (`ExampleDialect`) and the board's (`OrderEar`, `told_bytes`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Generic, TypeVar

from protocol.dialects import Order, Pressed, Shown, Started, Told, Verb
from protocol.serial.vocabulary import KeyName, Seat

START: Final = 0xAA
LENGTH: Final = 4

ORDERS: Final[Mapping[int, Verb]] = {
    0x11: "centre_raise",
    0x12: "centre_lower",
    0x24: "walls_raise",
    0x28: "sort",
    0x41: "dice_roll",
    0x53: "gear",
    0x7E: "stop",
}
"""Code → order (host → board)."""

SHOWN: Final = 0x80
PRESSED: Final = 0x81
STARTED: Final = 0x82

KEYS: Final[tuple[tuple[KeyName, Seat], ...]] = (
    ("lift", ""), ("dice", ""), ("seat", "E"), ("seat", "S"), ("seat", "W"), ("seat", "N"),
)  # fmt: skip
"""Argument of `PRESSED` → the key."""

CLOSED, HOME, BUTTON, STACKED_1, STACKED_2, OUT_1, OUT_2, BUSY = (1 << bit for bit in range(8))

_CODES: Final = {verb: code for code, verb in ORDERS.items()}
_WITH_SET: Final = ("walls_raise", "sort")

_Meaning = TypeVar("_Meaning")


class FourByteEar(Generic[_Meaning]):
    """Finds frames in bytes. `meaning` of code and argument, None where they are none: then one byte is passed over."""

    def __init__(self, meaning: Callable[[int, int], _Meaning | None]) -> None:
        self.junk = 0
        self._meaning = meaning
        self._kept = b""

    def feed(self, data: bytes) -> list[_Meaning]:
        """What these bytes complete."""
        found: list[_Meaning] = []
        kept, at = self._kept + data, 0
        while at < len(kept):
            if kept[at] == START and len(kept) - at < LENGTH:
                break
            meant = self._at(kept[at : at + LENGTH])
            if meant is None:
                self.junk += 1
                at += 1
            else:
                found.append(meant)
                at += LENGTH
        self._kept = kept[at:]
        return found

    def _at(self, frame: bytes) -> _Meaning | None:
        if len(frame) < LENGTH or frame[0] != START or frame[3] != sum(frame[:3]) & 0xFF:
            return None
        return self._meaning(frame[1], frame[2])


class ExampleDialect:
    """The host's side of the example dialect."""

    name = "example"
    model = "example dialect"
    repeats_s = 1.0

    def order(self, order: Order) -> bytes:
        """The bytes of an order."""
        return frame(_CODES[order.verb], order.arg)

    def ear(self) -> FourByteEar[Told]:
        """A reader of what the board tells."""
        return FourByteEar(_told)


def order_ear() -> FourByteEar[Order]:
    """A reader of orders: the board's side."""
    return FourByteEar(_ordered)


def told_bytes(told: Told) -> bytes:
    """What the board puts on the line to tell something."""
    match told:
        case Shown():
            return frame(SHOWN, _bits(told))
        case Pressed(key=key, seat=seat):
            return frame(PRESSED, KEYS.index((key, seat)))
        case Started():
            return frame(STARTED, 0)


def frame(code: int, argument: int) -> bytes:
    """One frame; code and argument 0-255."""
    return bytes((START, code, argument, (START + code + argument) & 0xFF))


def _bits(shown: Shown) -> int:
    lit = {
        CLOSED: shown.closed, HOME: shown.home, BUTTON: shown.button, BUSY: shown.busy,
        STACKED_1: 1 in shown.stacked, STACKED_2: 2 in shown.stacked, OUT_1: shown.out == 1, OUT_2: shown.out == 2,
    }  # fmt: skip
    return sum(bit for bit, on in lit.items() if on)


def _told(code: int, argument: int) -> Told | None:
    if code == SHOWN and argument & (OUT_1 | OUT_2) != OUT_1 | OUT_2:
        return Shown(
            closed=bool(argument & CLOSED),
            home=bool(argument & HOME),
            button=bool(argument & BUTTON),
            stacked=frozenset(number for number, bit in ((1, STACKED_1), (2, STACKED_2)) if argument & bit),
            out=1 if argument & OUT_1 else 2 if argument & OUT_2 else 0,
            busy=bool(argument & BUSY),
        )
    if code == PRESSED and argument < len(KEYS):
        return Pressed(*KEYS[argument])
    return Started() if (code, argument) == (STARTED, 0) else None


def _ordered(code: int, argument: int) -> Order | None:
    verb = ORDERS.get(code)
    if verb is None:
        return None
    if verb in _WITH_SET:
        return Order(verb, argument) if argument in (1, 2) else None
    if verb == "gear":
        return Order(verb, argument) if argument else None
    return Order(verb) if argument == 0 else None
