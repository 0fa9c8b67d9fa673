"""How one field lies on the wire: each kind packs and unpacks its value and says its own layout.

Multi-byte numbers are little-endian. ``take`` never reads past the end and never trusts a value.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, get_type_hints

from protocol.serial.vocabulary import TILE_CODES, TILES_BY_CODE


class MessageError(ValueError):
    """A message that does not keep the contract: names the field, what was expected and what was there."""

    def __init__(self, field: str, expected: str, got: object) -> None:
        super().__init__(f"{field}: expected {expected}, got {got}")
        self.field = field
        self.expected = expected
        self.got = got


class Wire(Protocol):
    """One kind of field: ``put`` gives bytes, ``take`` gives (value, offset behind it); both raise MessageError."""

    @property
    def layout(self) -> str: ...

    def put(self, name: str, value: Any) -> bytes: ...

    def take(self, name: str, data: bytes, at: int) -> tuple[Any, int]: ...


@dataclass(frozen=True)
class Number:
    """A whole number of 1, 2, 4 or 8 bytes (``code`` as in struct) within low..high."""

    code: str
    low: int
    high: int

    @cached_property
    def layout(self) -> str:
        bits = 8 * self._form.size
        name = f"i{bits}" if self._signed else f"u{bits}"
        lowest, highest = (-(1 << bits - 1), (1 << bits - 1) - 1) if self._signed else (0, (1 << bits) - 1)
        return name if (self.low, self.high) == (lowest, highest) else f"{name} {self.low}–{self.high}"

    def put(self, name: str, value: Any) -> bytes:
        if type(value) is not int or not self.low <= value <= self.high:
            raise self._refusal(name, value)
        return self._form.pack(value)

    def take(self, name: str, data: bytes, at: int) -> tuple[int, int]:
        size = self._form.size
        value = int.from_bytes(slice_exactly(name, data, at, size), "little", signed=self._signed)
        if not self.low <= value <= self.high:
            raise self._refusal(name, value)
        return value, at + size

    def _refusal(self, name: str, value: object) -> MessageError:
        return MessageError(name, f"a whole number {self.low}..{self.high}", repr(value))

    @cached_property
    def _form(self) -> struct.Struct:
        return struct.Struct("<" + self.code)

    @cached_property
    def _signed(self) -> bool:
        return self.low < 0


@dataclass(frozen=True)
class Flag:
    """One byte, 0 or 1."""

    layout: str = "bool"

    def put(self, name: str, value: Any) -> bytes:
        if not isinstance(value, bool):
            raise MessageError(name, "True or False", repr(value))
        return b"\x01" if value else b"\x00"

    def take(self, name: str, data: bytes, at: int) -> tuple[bool, int]:
        value = slice_exactly(name, data, at, 1)[0]
        if value > 1:
            raise MessageError(name, "0 or 1", value)
        return value == 1, at + 1


@dataclass(frozen=True)
class Word:
    """One byte that stands for a word; ``label`` names a list that is described elsewhere."""

    codes: Mapping[str, int]
    label: str = ""

    @property
    def layout(self) -> str:
        if self.label:
            return f"u8: {self.label}" + (f", {self.codes['']} none" if "" in self.codes else "")
        return "u8: " + ", ".join(f"{code} {word or 'none'}" for word, code in self.codes.items())

    def put(self, name: str, value: Any) -> bytes:
        code = self.codes.get(value) if isinstance(value, str) else None
        if code is None:
            raise MessageError(name, f"one of {self._words()}", repr(value))
        return bytes((code,))

    def take(self, name: str, data: bytes, at: int) -> tuple[str, int]:
        code = slice_exactly(name, data, at, 1)[0]
        word = self._by_code.get(code)
        if word is None:
            raise MessageError(name, f"the code of one of {self._words()}", code)
        return word, at + 1

    @cached_property
    def _by_code(self) -> dict[int, str]:
        return {code: word for word, code in self.codes.items()}

    def _words(self) -> str:
        return ", ".join(repr(word) for word in self.codes)


@dataclass(frozen=True)
class Text:
    """A length byte and that many bytes of UTF-8."""

    limit: int

    @property
    def layout(self) -> str:
        return f"text ≤ {self.limit}"

    def put(self, name: str, value: Any) -> bytes:
        if not isinstance(value, str):
            raise MessageError(name, "text", repr(value))
        try:
            encoded = value.encode()
        except UnicodeEncodeError:
            raise MessageError(name, "text that UTF-8 can carry", repr(value)) from None
        return Blob(self.limit).put(name, encoded)

    def take(self, name: str, data: bytes, at: int) -> tuple[str, int]:
        encoded, behind = Blob(self.limit).take(name, data, at)
        try:
            return encoded.decode(), behind
        except UnicodeDecodeError:
            raise MessageError(name, "UTF-8 text", encoded.hex(" ")) from None


@dataclass(frozen=True)
class Blob:
    """A length byte and that many bytes."""

    limit: int

    @property
    def layout(self) -> str:
        return f"bytes ≤ {self.limit}"

    def put(self, name: str, value: Any) -> bytes:
        if not isinstance(value, bytes):
            raise MessageError(name, "bytes", repr(value))
        if len(value) > self.limit:
            raise MessageError(name, f"at most {self.limit} bytes", f"{len(value)} bytes")
        return bytes((len(value),)) + value

    def take(self, name: str, data: bytes, at: int) -> tuple[bytes, int]:
        length = slice_exactly(name, data, at, 1)[0]
        if length > self.limit:
            raise MessageError(name, f"at most {self.limit} bytes", f"{length} bytes")
        return slice_exactly(name, data, at + 1, length), at + 1 + length


@dataclass(frozen=True)
class Several:
    """A fixed count of the same kind, one behind the other: a tuple in Python."""

    kind: Wire
    count: int

    @property
    def layout(self) -> str:
        return f"{self.count} × {self.kind.layout}"

    def put(self, name: str, value: Any) -> bytes:
        if not isinstance(value, tuple) or len(value) != self.count:
            raise MessageError(name, f"a tuple of {self.count}", repr(value))
        packed: list[bytes] = []
        try:
            for item in value:
                packed.append(self.kind.put(name, item))
        except MessageError as error:
            raise MessageError(f"{name}[{len(packed)}]", error.expected, error.got) from None
        return b"".join(packed)

    def take(self, name: str, data: bytes, at: int) -> tuple[tuple[Any, ...], int]:
        items: list[Any] = []
        try:
            for _ in range(self.count):
                item, at = self.kind.take(name, data, at)
                items.append(item)
        except MessageError as error:
            raise MessageError(f"{name}[{len(items)}]", error.expected, error.got) from None
        return tuple(items), at


@dataclass(frozen=True)
class Tiles:
    """A count byte and one byte a tile (tile codes); words in Python."""

    limit: int

    @property
    def layout(self) -> str:
        return f"tiles ≤ {self.limit}"

    def put(self, name: str, value: Any) -> bytes:
        if not isinstance(value, tuple) or len(value) > self.limit:
            raise MessageError(name, f"a tuple of at most {self.limit} tiles", type(value).__name__)
        return bytes((len(value), *(tile_code(name, tile) for tile in value)))

    def take(self, name: str, data: bytes, at: int) -> tuple[tuple[str, ...], int]:
        packed, behind = Blob(self.limit).take(name, data, at)
        return tuple(tile_word(name, code) for code in packed), behind


@dataclass(frozen=True)
class Tile:
    """One byte, one tile code."""

    layout: str = "tile"

    def put(self, name: str, value: Any) -> bytes:
        return bytes((tile_code(name, value),))

    def take(self, name: str, data: bytes, at: int) -> tuple[str, int]:
        return tile_word(name, slice_exactly(name, data, at, 1)[0]), at + 1


@dataclass(frozen=True)
class Optional:
    """A byte 0 (nothing follows: None) or 1 (the value follows)."""

    kind: Wire

    @property
    def layout(self) -> str:
        return f"optional {self.kind.layout}"

    def put(self, name: str, value: Any) -> bytes:
        return b"\x00" if value is None else b"\x01" + self.kind.put(name, value)

    def take(self, name: str, data: bytes, at: int) -> tuple[Any, int]:
        present, at = Flag().take(name, data, at)
        return self.kind.take(name, data, at) if present else (None, at)


@dataclass(frozen=True)
class Record:
    """Another dataclass, its fields one behind the other."""

    label: str
    build: type[Any]
    fields: tuple[tuple[str, Wire], ...]

    @property
    def layout(self) -> str:
        return self.label

    def put(self, name: str, value: Any) -> bytes:
        if not isinstance(value, self.build):
            raise MessageError(name, self.label, repr(value))
        try:
            return b"".join([kind.put(part, getattr(value, part)) for part, kind in self.fields])
        except MessageError as error:
            raise MessageError(f"{name}.{error.field}", error.expected, error.got) from None

    def take(self, name: str, data: bytes, at: int) -> tuple[Any, int]:
        values = []
        try:
            for part, kind in self.fields:
                value, at = kind.take(part, data, at)
                values.append(value)
        except MessageError as error:
            raise MessageError(f"{name}.{error.field}", error.expected, error.got) from None
        return self.build(*values), at


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field of a message: its name, its kind on the wire, and what it says."""

    name: str
    wire: Wire
    says: str


def fields_of(cls: type[Any]) -> tuple[FieldSpec, ...]:
    """The wire fields a dataclass declares as ``Annotated[type, Wire, "what it says"]``, in order."""
    hints = get_type_hints(cls, include_extras=True)
    return tuple(FieldSpec(name, *hint.__metadata__) for name, hint in hints.items() if hasattr(hint, "__metadata__"))


def record(cls: type[Any]) -> Record:
    """The kind of field that holds a whole dataclass of wire fields."""
    return Record(cls.__name__, cls, tuple((field.name, field.wire) for field in fields_of(cls)))


def slice_exactly(name: str, data: bytes, at: int, size: int) -> bytes:
    """The next ``size`` bytes, or MessageError where the message ends too early."""
    piece = data[at : at + size]
    if len(piece) != size:
        raise MessageError(name, f"{size} more bytes", f"{len(piece)}: the message is too short")
    return piece


def tile_code(name: str, tile: object) -> int:
    """The wire code of a tile word."""
    code = TILE_CODES.get(tile) if isinstance(tile, str) else None
    if code is None:
        raise MessageError(name, "a tile such as 5m, or ??", repr(tile))
    return code


def tile_word(name: str, code: int) -> str:
    """The tile word of a wire code."""
    tile = TILES_BY_CODE.get(code)
    if tile is None:
        raise MessageError(name, "a tile code", f"0x{code:02x}")
    return tile
