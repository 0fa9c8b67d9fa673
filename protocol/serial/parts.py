"""Parts that messages share: kinds of field, operation ids, capabilities, and what ``OpResult.values`` hold."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar

from protocol.serial.vocabulary import (
    FAULT_CODES,
    REFUSAL_REASONS,
    SIDES,
    DealingAid,
    DiceAbility,
    DiceQuality,
    FaultCode,
    OperationStore,
    Seat,
    Sensing,
)
from protocol.serial.wire import Blob, Flag, MessageError, Number, Optional, Record, Several, Text, Tiles, Word, record

# --- kinds of field ---------------------------------------------------------------------------------------------------

U8 = Number("B", 0, 0xFF)
U16 = Number("H", 0, 0xFFFF)
U32 = Number("I", 0, 0xFFFFFFFF)
U64 = Number("Q", 0, 0xFFFFFFFFFFFFFFFF)
TEXT = Text(48)


def words(*words: str, none: int | None = None, first: int = 0) -> Word:
    """Words numbered from ``first``; ``none`` is the code of the empty word."""
    codes = {word: first + place for place, word in enumerate(words)}
    return Word(codes if none is None else {**codes, "": none})


SIDE = words(*SIDES)
SEAT = words(*SIDES, none=0xFF)
FACES = Several(Number("B", 0, 6), 2)
STACKS = Several(Number("B", 0, 40), 4)
SET = Number("B", 1, 2)
SET_OR_NONE = Number("B", 0, 2)
POSITION = words("down", "up", "moving", "unknown")
FAULT = Word(words(*FAULT_CODES, first=1).codes, "fault no.")
FAULT_OR_NONE = Word({**FAULT.codes, "": 0}, "fault no.")
REASON = words(*REFUSAL_REASONS, first=1)
REASON_OR_NONE = words(*REFUSAL_REASONS, first=1, none=0)

# --- MCU → host: answers ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, order=True)
class OpId:
    """Identity of one operation, executed at most once by an MCU, whatever the line does.

    Its text form is ``journal.hand.step.attempt``, the journal as 16 hexadecimal digits.
    """

    journal: Annotated[int, U64, "random number of the journal"]
    hand: Annotated[int, U32, "hand within the journal"]
    step: Annotated[int, U16, "step within the hand"]
    attempt: Annotated[int, U16, "0 at first; going on after an interruption is the next"]

    def __str__(self) -> str:
        return f"{self.journal:016x}.{self.hand}.{self.step}.{self.attempt}"

    @classmethod
    def parse(cls, text: str) -> "OpId":
        """The id of its text form; MessageError on anything else."""
        parts = text.split(".")
        try:
            journal, hand, step, attempt = int(parts[0], 16), *(int(part) for part in parts[1:])
            op = cls(journal, hand, step, attempt)
            OP_ID.put("op", op)
        except (ValueError, IndexError):
            raise MessageError("op", "journal.hand.step.attempt such as 00000000000000a1.3.7.0", repr(text)) from None
        if str(op) != text:
            raise MessageError("op", f"the exact form {op}", repr(text))
        return op


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What this table can do, told once at the handshake."""

    sensing: Annotated[Sensing, words("none", "full"), "does it read tile faces"] = "none"
    aid: Annotated[DealingAid, words("guide", "present"), "people take, guided; or the table presents groups"] = "guide"
    sets: Annotated[int, SET, "tile sets in circulation"] = 2
    dice: Annotated[DiceAbility, words("read", "unread", "software", "hand"), "who throws and who reads"] = "read"
    memory: Annotated[OperationStore, words("volatile", "nonvolatile"), "do results outlive a reset"] = "volatile"
    lamps: Annotated[bool, Flag(), "lamps along the walls"] = True
    readers: Annotated[bool, Flag(), "tag readers in zones and walls"] = False
    service: Annotated[bool, Flag(), "service mode is on"] = False


@dataclass(frozen=True, slots=True)
class DiceOutcome:
    """What DiceRoll found: the faces (None where they could not be read), how they lay and how long they spun."""

    dice: Annotated[tuple[int, int] | None, Optional(Several(Number("B", 1, 6), 2)), "faces 1–6"]
    quality: Annotated[DiceQuality, words("clean", "cocked", "ambiguous", "unread"), "how they lay"]
    spin_ms: Annotated[int, U16, "how long they spun, ms"]

    def pack(self) -> bytes:
        return _DICE_OUTCOME.put("dice", self)

    @classmethod
    def unpack(cls, values: bytes) -> "DiceOutcome":
        """The outcome in ``OpResult.values``; MessageError where it is none."""
        return _unpack(_DICE_OUTCOME, cls, values)


@dataclass(frozen=True, slots=True)
class SortOutcome:
    """What SortStart found: tiles stacked at E, S, W, N."""

    tiles: Annotated[tuple[int, int, int, int], Several(U8, 4), "tiles stacked at E, S, W, N"]

    def pack(self) -> bytes:
        return _SORT_OUTCOME.put("sort", self)

    @classmethod
    def unpack(cls, values: bytes) -> "SortOutcome":
        """The outcome in ``OpResult.values``; MessageError where it is none."""
        return _unpack(_SORT_OUTCOME, cls, values)


@dataclass(frozen=True, slots=True)
class WallOutcome:
    """What ReadWall found: one side's tiles in wall order.

    From the side's right-hand end: stack 0 top, stack 0 bottom, stack 1 top, …; after 八卦 the stacks, then the row.
    """

    tiles: Annotated[tuple[str, ...], Tiles(80), "tiles in wall order"]
    confidence: Annotated[int, Number("B", 0, 100), "how sure the reader is, %"]

    def pack(self) -> bytes:
        return _WALL_OUTCOME.put("wall", self)

    @classmethod
    def unpack(cls, values: bytes) -> "WallOutcome":
        """The outcome in ``OpResult.values``; MessageError where it is none."""
        return _unpack(_WALL_OUTCOME, cls, values)


@dataclass(frozen=True, slots=True)
class SelfTestOutcome:
    """What SelfTest found: three bytes for each test that ran, its number, the fault found (0: none), its side."""

    found: Annotated[bytes, Blob(90), "number, fault no. or 0, side or 255; for each test"]

    @classmethod
    def of(cls, checks: "tuple[tuple[int, FaultCode | Literal[''], Seat], ...]") -> "SelfTestOutcome":
        """The outcome of these checks: number, fault (empty: sound) and side of each."""
        packed = (
            bytes((number,)) + FAULT_OR_NONE.put("fault", fault) + SEAT.put("side", side)
            for number, fault, side in checks
        )
        return cls(b"".join(packed))

    @property
    def checks(self) -> tuple[tuple[int, str, str], ...]:
        """Number, fault and side of each test that ran; MessageError where the bytes are none."""
        if len(self.found) % 3:
            raise MessageError("found", "three bytes a test", f"{len(self.found)} bytes")
        rows = (self.found[at : at + 3] for at in range(0, len(self.found), 3))
        return tuple((row[0], FAULT_OR_NONE.take("fault", row, 1)[0], SEAT.take("side", row, 2)[0]) for row in rows)

    def pack(self) -> bytes:
        return _SELF_TEST_OUTCOME.put("self_test", self)

    @classmethod
    def unpack(cls, values: bytes) -> "SelfTestOutcome":
        """The outcome in ``OpResult.values``; MessageError where it is none."""
        return _unpack(_SELF_TEST_OUTCOME, cls, values)


OP_ID = record(OpId)
CAPABILITIES = record(Capabilities)
_DICE_OUTCOME = record(DiceOutcome)
_SORT_OUTCOME = record(SortOutcome)
_WALL_OUTCOME = record(WallOutcome)
_SELF_TEST_OUTCOME = record(SelfTestOutcome)

_Outcome = TypeVar("_Outcome")


def _unpack(kind: Record, cls: type[_Outcome], values: bytes) -> _Outcome:
    outcome, behind = kind.take("values", values, 0)
    if behind != len(values) or not isinstance(outcome, cls):
        raise MessageError("values", f"{behind} bytes of {cls.__name__}", f"{len(values)} bytes")
    return outcome
