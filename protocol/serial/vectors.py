"""Writes the test vectors ``protocol/vectors/*.json`` from the catalogue and the link of this package.

``python -m protocol.serial.vectors [--check] [FOLDER]``; a test fails when what is committed differs. The files are for
makers of boards: one vector a line, no number in them needs more than 32 bits except operation ids.
"""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import Any, Final

from protocol.serial.declaration import TO_HOST, TO_MCU
from protocol.serial.exchanges import exchanges
from protocol.serial.frame_vectors import frames
from protocol.serial.messages import CATALOGUE, MESSAGE_LIMIT, MessageSpec, decode_message, encode_message
from protocol.serial.wire import (
    Blob,
    Flag,
    MessageError,
    Number,
    Optional,
    Record,
    Several,
    Text,
    Tile,
    Tiles,
    Wire,
    Word,
)

FOLDER: Final = Path(__file__).resolve().parents[1] / "vectors"

MESSAGES_ABOUT: Final = (
    "Each hex is one message, type byte first. error: null where it is valid, else the first thing that is wrong, read "
    "from front to back: empty, type (no such type), short, long, range (a number out of range, or a code that stands "
    "for nothing), length (text, bytes or tiles beyond their limit), utf8. field: which field that is. fields: the "
    "values of a valid one; bytes in hex, an optional part that is not there null."
)


@dataclass(frozen=True, slots=True)
class Wrong:
    """Bytes of one field that no message may have: what is wrong, the error it makes, and the field it is told of."""

    what: str
    data: bytes
    error: str
    field: str


@dataclass(slots=True)
class Vector:
    """One line of ``messages.json``."""

    name: str
    hex: str
    meaning: str
    error: str | None = None
    field: str | None = None
    fields: dict[str, Any] | None = None
    message: str = ""
    direction: str = ""

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        names = ("name", "message", "direction", "hex", "meaning", "error", "field", "fields")
        return {name: getattr(self, name) for name in names}


@dataclass(slots=True)
class _Samples:
    """The vectors of one message."""

    spec: MessageSpec
    found: list[Vector] = field(default_factory=list)

    def make(self) -> list[Vector]:
        spec = self.spec
        samples = {
            "minimum": [lowest(one.wire) for one in spec.fields],
            "maximum": [highest(one.wire) for one in spec.fields],
            "typical": [usual(one.wire) for one in spec.fields],
        }
        for name, values in samples.items():
            message = spec.cls(*values)
            told = {one.name: plain(getattr(message, one.name)) for one in spec.fields}
            self._add(name, encode_message(message), f"{name} values", fields=told)
        pieces = [one.wire.put(one.name, value) for one, value in zip(spec.fields, samples["typical"], strict=True)]
        whole = bytes((spec.type_id,)) + b"".join(pieces)
        for cut in sorted({1, len(whole) // 2, len(whole) - 1} - {0, len(whole)}):
            self._add(f"cut to {cut}", whole[:cut], "it ends too early", "short")
        if len(whole) > 1:
            self._add("too long", whole + b"\x00", "a byte behind its last field", "long")
        else:
            self._add("too long", whole + b"\x01", "a byte where no field is", "long")
        self._add("beyond the limit", whole.ljust(MESSAGE_LIMIT + 1, b"\x01"), "longer than any message", "long")
        for at, one in enumerate(spec.fields):
            for wrong in wrongs(one.wire, one.name):
                data = bytes((spec.type_id,)) + b"".join((*pieces[:at], wrong.data, *pieces[at + 1 :]))
                self._add(f"{wrong.field} {wrong.what}", data, wrong.what, wrong.error, wrong.field)
        return self.found

    def _add(
        self,
        name: str,
        data: bytes,
        meaning: str,
        error: str | None = None,
        field: str | None = None,
        fields: dict[str, Any] | None = None,
    ) -> None:
        who = "host" if self.spec.direction == TO_MCU else "mcu"
        vector = Vector(f"{self.spec.name}: {name}", data.hex(), meaning, error, field, fields, self.spec.name, who)
        check(vector)
        self.found.append(vector)


def messages() -> list[dict[str, Any]]:
    """Every message at its least, its most and in between, and with everything wrong that can be wrong with it."""
    found = [vector for spec in CATALOGUE for vector in _Samples(spec).make()]
    found.append(Vector("nothing", "", "no byte at all", "empty", "type"))
    known = {spec.type_id for spec in CATALOGUE}
    for type_id in range(256):
        if type_id not in known and (type_id - 1 in known or type_id + 1 in known or type_id in (0, 0xFF)):
            found.append(Vector(f"type 0x{type_id:02x}", f"{type_id:02x}0100", "no such type", "type", "type"))
    for vector in found:
        check(vector)
    return [vector.plain() for vector in found]


def check(vector: Vector) -> None:
    """ValueError where this package's own codec does not see a vector as it is described."""
    try:
        message = decode_message(bytes.fromhex(vector.hex))
    except MessageError as error:
        if vector.error is None or (vector.field is not None and error.field != vector.field):
            raise ValueError(f"{vector.name}: expected {vector.field}, got {error}") from None
        if error_of(error) != vector.error:
            raise ValueError(f"{vector.name}: expected {vector.error}, got {error}") from None
        return
    if vector.error is not None or encode_message(message).hex() != vector.hex:
        raise ValueError(f"{vector.name}: expected {vector.error}, got a message")


def error_of(error: MessageError) -> str:
    """Which of the errors of the vectors a MessageError is."""
    expected, got = error.expected, str(error.got)
    if got == "nothing":
        return "empty"
    if expected == "a type of the catalogue":
        return "type"
    if "too short" in got:
        return "short"
    if "too long" in got or (expected == f"at most {MESSAGE_LIMIT} bytes" and error.field == "message"):
        return "long"
    if expected.startswith("at most "):
        return "length"
    return "utf8" if expected == "UTF-8 text" else "range"


# --- values -----------------------------------------------------------------------------------------------------------


def lowest(wire: Wire) -> Any:
    """The least value of a kind of field."""
    match wire:
        case Number(low=low):
            return low
        case Flag():
            return False
        case Word(codes=codes):
            return min(codes, key=codes.__getitem__)
        case Text():
            return ""
        case Blob():
            return b""
        case Tiles():
            return ()
        case Tile():
            return "1m"
        case Optional():
            return None
    return _composed(wire, lowest)


def highest(wire: Wire) -> Any:
    """The greatest, the longest."""
    match wire:
        case Number(high=high):
            return high
        case Flag():
            return True
        case Word(codes=codes):
            return max(codes, key=codes.__getitem__)
        case Text(limit=limit):
            return "z" * limit
        case Blob(limit=limit):
            return b"\xff" * limit
        case Tiles(limit=limit):
            return ("??",) * limit
        case Tile():
            return "??"
        case Optional(kind=kind):
            return highest(kind)
    return _composed(wire, highest)


def usual(wire: Wire) -> Any:
    """One in between."""
    match wire:
        case Number(low=low, high=high):
            return low + (high - low) * 3 // 5
        case Flag():
            return True
        case Word(codes=codes):
            return list(codes)[len(codes) // 2]
        case Text(limit=limit):
            return "桌 1"[: max(1, limit // 4)]
        case Blob():
            return b"\x01\x00\x02"
        case Tiles():
            return ("1m", "9p", "5s", "7z", "8f", "??")
        case Tile():
            return "5s"
        case Optional(kind=kind):
            return usual(kind)
    return _composed(wire, usual)


def _composed(wire: Wire, of: Callable[[Wire], Any]) -> Any:
    match wire:
        case Several(kind=kind, count=count):
            return tuple(of(kind) for _ in range(count))
        case Record(build=build, fields=fields):
            return build(*(of(kind) for _, kind in fields))
    raise ValueError(f"expected a kind of field with samples, got {wire.layout}")


def wrongs(wire: Wire, name: str) -> Iterator[Wrong]:
    """Every way in which the bytes of a field can be wrong by their value."""
    match wire:
        case Number(code=code, low=low, high=high):
            top = 0xFF if code == "B" else high
            for what, value in (("below its range", low - 1), ("above its range", high + 1), ("far above", top)):
                if 0 <= value <= top and not low <= value <= high:
                    yield Wrong(what, bytes((value,)), "range", name)
        case Flag():
            yield Wrong("neither 0 nor 1", b"\x02", "range", name)
            yield Wrong("all bits", b"\xff", "range", name)
        case Word(codes=codes):
            known = set(codes.values())
            for byte in range(256):
                if byte not in known and (byte - 1 in known or byte + 1 in known):
                    yield Wrong(f"code {byte}", bytes((byte,)), "range", name)
        case Text(limit=limit):
            yield Wrong("too long", bytes((limit + 1,)) + b"z" * (limit + 1), "length", name)
            for what, text in (
                ("half a letter", b"\xe6\xa1"),
                ("a lone follower", b"a\x80"),
                ("a surrogate", b"\xed\xa0\x80"),
                ("longer than needed", b"\xc0\xaf"),
                ("beyond U+10FFFF", b"\xf4\x90\x80\x80"),
            ):
                yield Wrong(what, bytes((len(text),)) + text, "utf8", name)
        case Blob(limit=limit):
            yield Wrong("too long", bytes((limit + 1,)) + bytes(limit + 1), "length", name)
        case Tiles(limit=limit):
            yield Wrong("too many", bytes((limit + 1,)) + b"\x01" * (limit + 1), "length", name)
            for byte in (0x00, 0x0A, 0x38, 0x49, 0xFE):
                yield Wrong(f"tile 0x{byte:02x}", bytes((2, 1, byte)), "range", name)
        case Tile():
            for byte in (0x00, 0x0A, 0x1A, 0x2A, 0x38, 0x40, 0x49, 0x51, 0xFE):
                yield Wrong(f"tile 0x{byte:02x}", bytes((byte,)), "range", name)
        case Several(kind=kind, count=count):
            good = kind.put(name, usual(kind))
            for place in (0, count - 1):
                for wrong in wrongs(kind, f"{name}[{place}]"):
                    data = good * place + wrong.data + good * (count - 1 - place)
                    yield Wrong(wrong.what, data, wrong.error, wrong.field)
        case Optional(kind=kind):
            yield Wrong("neither there nor not", b"\x02" + kind.put(name, usual(kind)), "range", name)
            for wrong in wrongs(kind, name):
                yield Wrong(wrong.what, b"\x01" + wrong.data, wrong.error, wrong.field)
        case Record(fields=fields):
            pieces = [kind.put(part, usual(kind)) for part, kind in fields]
            for at, (part, kind) in enumerate(fields):
                for wrong in wrongs(kind, f"{name}.{part}"):
                    data = b"".join((*pieces[:at], wrong.data, *pieces[at + 1 :]))
                    yield Wrong(wrong.what, data, wrong.error, wrong.field)


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


# --- files ------------------------------------------------------------------------------------------------------------

_FRAMES_ABOUT: Final = (
    "Each hex is what lies on the line. finds: what a receiver finds in it, in order: SENDER KIND VERSION SESSION SEQ "
    "ACK PAYLOAD of a frame (session and payload in hex, no payload -), or error and why it is none: cobs, crc, short, "
    "long, form (unknown kind, a length that does not fit the kind, another version)."
)
_EXCHANGES_ABOUT: Final = (
    "Talks of a host with a board's link. numbers: the random numbers that the board draws, in order. A step happens "
    "at so many ms: receive these bytes, or send this message, or (neither) let time pass; silence is judged first. "
    "Then the board has told these events and writes exactly out. Events: started TAG; message HEX; undecodable; lost "
    "WHY UNDELIVERED (messages that were not acknowledged); version N (a host of another link version)."
)

FILES: Final[dict[str, tuple[str, Callable[[], list[dict[str, Any]]]]]] = {
    "frames.json": (_FRAMES_ABOUT, frames),
    "messages.json": (MESSAGES_ABOUT, messages),
    "exchanges.json": (_EXCHANGES_ABOUT, exchanges),
}


def text_of(name: str) -> str:
    """The file of this name as it should be: one vector a line."""
    about, make = FILES[name]
    lines = ",\n".join(json.dumps(vector, ensure_ascii=True) for vector in make())
    return f'{{"about": {json.dumps(about)},\n"vectors": [\n{lines}\n]}}\n'


def main(arguments: list[str]) -> int:
    """Write the files, or with ``--check`` only say whether they are up to date."""
    names = [argument for argument in arguments if argument != "--check"]
    folder, code = Path(names[0]) if names else FOLDER, 0
    for name in FILES:
        path, text = folder / name, text_of(name)
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        if before == text:
            print(f"{name}: up to date")
        elif "--check" in arguments:
            print(f"{name}: differs from the catalogue; run python -m protocol.serial.vectors", file=sys.stderr)
            code = 1
        else:
            path.write_text(text, encoding="utf-8")
            print(f"{name}: written")
    return code


assert {spec.direction for spec in CATALOGUE} == {TO_MCU, TO_HOST}

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
