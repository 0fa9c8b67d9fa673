"""Writes the contract in C, ``protocol/c/table_link.h`` and ``table_link_messages.c``, from the catalogue.

``python -m protocol.serial.c_code [--check] [FOLDER]``; a test fails when what is committed differs.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Final

from protocol.serial.events import LinkConfig
from protocol.serial.frames import FRAME_LIMIT, LINK_VERSION, PAYLOAD_LIMIT, FrameKind
from protocol.serial.messages import (
    CATALOGUE,
    LEARNED,
    MESSAGE_LIMIT,
    MOTORS,
    OPERATIONS,
    PROTOCOL,
    SELF_TESTS,
    SENSOR_BITS,
    SENSOR_VALUES,
    TILE_CODES,
    UNKNOWN_TILE,
    Capabilities,
    DiceOutcome,
    MessageSpec,
    OpId,
    SelfTestOutcome,
    SortOutcome,
    WallOutcome,
)
from protocol.serial.operations import JOURNALS, REMEMBERED_AT_LEAST
from protocol.serial.parts import FAULT, POSITION, REASON, SEAT
from protocol.serial.retransmission import RTO_HIGHEST, RTO_LOWEST, RTO_START
from protocol.serial.vocabulary import SEVERITIES
from protocol.serial.wire import (
    Blob,
    FieldSpec,
    Flag,
    Number,
    Optional,
    Record,
    Several,
    Text,
    Tile,
    Tiles,
    Wire,
    Word,
    fields_of,
)

FOLDER: Final = Path(__file__).resolve().parents[1] / "c"

_HEAD: Final = "/* Generated from the message catalogue by `python -m protocol.serial.c_code`; do not edit. */"
_OUTCOMES: Final = (DiceOutcome, SortOutcome, WallOutcome, SelfTestOutcome)
_WIDTHS: Final = {"B": 8, "H": 16, "I": 32, "Q": 64, "h": 16}

# Word lists by the name they have in C; a list in the catalogue that is none of these stops the generator.
_NAMED: Final[dict[str, Word]] = {
    "side": SEAT,
    "position": POSITION,
    "refusal": REASON,
    "fault": FAULT,
    **{
        name: field.wire
        for name, cls, label in (
            ("sensing", Capabilities, "sensing"),
            ("aid", Capabilities, "aid"),
            ("dice", Capabilities, "dice"),
            ("memory", Capabilities, "memory"),
            ("quality", DiceOutcome, "quality"),
        )
        for field in fields_of(cls)
        if field.name == label and isinstance(field.wire, Word)
    },
}
_BY_FIELD: Final = {"outcome": "outcome", "colour": "lamp", "key": "key", "zone": "zone", "severity": "severity"}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a message's table: kind of field, how many, its range or limit, where it lies in the struct."""

    kind: str
    count: int
    low: int
    high: int
    member: str


def snake(name: str) -> str:
    """``OpResult`` → ``op_result``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def vocabularies() -> dict[str, dict[str, int]]:
    """Every list of words on the wire: its name in C → word → code, the empty word left out."""
    found = {name: {word: code for word, code in kind.codes.items() if word} for name, kind in _NAMED.items()}
    for spec in CATALOGUE:
        for field in spec.fields:
            if isinstance(field.wire, Word):
                words = {word: code for word, code in field.wire.codes.items() if word}
                if words in found.values():
                    continue
                if field.name not in _BY_FIELD:
                    raise ValueError(f"{spec.name}.{field.name}: expected a list of words with a name in C")
                found[_BY_FIELD[field.name]] = words
    found["motor"] = {word: code for code, word in enumerate(MOTORS)}
    found["learned"] = {word: code for code, word in enumerate(LEARNED)}
    found["sensor_bit"] = {word: code for code, word in enumerate(SENSOR_BITS)}
    found["sensor_value"] = {word: code for code, (word, _) in enumerate(SENSOR_VALUES)}
    found["self_test"] = {word: code for code, word in enumerate(SELF_TESTS)}
    assert tuple(found["severity"]) == SEVERITIES
    return found


def constants() -> dict[str, int]:
    """Versions, limits and times (ms) that both sides keep."""
    config = LinkConfig()
    return {
        "PROTOCOL": PROTOCOL,
        "LINK_VERSION": LINK_VERSION,
        "MESSAGE_LIMIT": MESSAGE_LIMIT,
        "PAYLOAD_LIMIT": PAYLOAD_LIMIT,
        "FRAME_LIMIT": FRAME_LIMIT,
        "ENCODED_LIMIT": FRAME_LIMIT + 2,
        "KEEPALIVE_MS": _ms(config.keepalive),
        "HOST_SILENCE_MS": _ms(config.mcu_silence),
        "PATIENCE_MS": _ms(config.patience),
        "RTO_START_MS": _ms(RTO_START),
        "RTO_LOWEST_MS": _ms(RTO_LOWEST),
        "RTO_HIGHEST_MS": _ms(RTO_HIGHEST),
        "WINDOW_MAX": config.window,
        "REMEMBERED": REMEMBERED_AT_LEAST,
        "JOURNALS": JOURNALS,
        "NONE": 0xFF,
        "TILE_UNKNOWN": TILE_CODES[UNKNOWN_TILE],
    }


def header() -> str:
    """``table_link.h``."""
    lines = [
        _HEAD,
        "#ifndef TABLE_LINK_H",
        "#define TABLE_LINK_H",
        "",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
        "/* Versions, limits (bytes, frames, results) and times (milliseconds); docs/serial.md says what they bind. */",
        *(f"#define TL_{name} {value}u" for name, value in constants().items()),
        "",
        "/* Kinds of frame. */",
        *_enum("frame_kind", {kind.name.lower(): int(kind) for kind in FrameKind}),
        "",
        "/* Words and their codes on the wire. A field of a struct holds the code as uint8_t; where it may be empty",
        " * it is TL_NONE for a side, 0 for a fault or a refusal. */",
    ]
    for name, words in vocabularies().items():
        lines += [*_enum(name, words), ""]
    lines += [
        "/* Message types: below 0x80 the host sends, from 0x80 on the MCU. */",
        *_enum("type", {snake(spec.name): spec.type_id for spec in CATALOGUE}, hexadecimal=True),
        "",
        f"#define TL_IS_OPERATION(type) (((type) >= {OPERATIONS_FIRST}u) && ((type) < {OPERATIONS_BEHIND}u))",
        "",
        "/* Text (UTF-8, no closing zero), bytes and tile codes with their length before them. */",
    ]
    for name, limit in _blobs():
        lines.append(f"typedef struct {{ uint8_t length; uint8_t bytes[{limit}]; }} {name};")
    lines += ["", "/* Parts. */"]
    for part in (OpId, Capabilities):
        lines += [*_struct(snake(part.__name__), fields_of(part)), ""]
    lines += [
        "typedef struct { uint8_t present; tl_op_id value; } tl_optional_op_id;",
        "typedef struct { uint8_t present; uint8_t value[2]; } tl_optional_dice;",
        "",
        "/* What op_result.values hold, by tl_outcome_encode: after dice_roll, sort_start, read_wall and self_test. */",
    ]
    for cls in _OUTCOMES:
        lines += [*_struct(snake(cls.__name__), fields_of(cls)), ""]
    lines.append("/* Messages. */")
    for spec in CATALOGUE:
        if spec.fields:
            lines += wrap(f"/* 0x{spec.type_id:02x} {spec.name}: {_plain(spec.says)} */", 120, subsequent_indent=" * ")
            lines += [*_struct(snake(spec.name), spec.fields), ""]
    lines += ["/* Any message: its type and its fields. */", "typedef struct {", "    uint8_t type;", "    union {"]
    lines += [f"        tl_{snake(spec.name)} {snake(spec.name)};" for spec in CATALOGUE if spec.fields]
    lines += ["    } as;", "} tl_message;", ""]
    return "\n".join(lines) + _TAIL


_TAIL: Final = """\
/* Why bytes are no message, or a struct cannot be sent. */
typedef enum {
    TL_OK = 0,
    TL_ERROR_EMPTY = 1,  /* nothing at all */
    TL_ERROR_TYPE = 2,   /* no such type */
    TL_ERROR_SHORT = 3,  /* it ends too early */
    TL_ERROR_LONG = 4,   /* more bytes than its fields */
    TL_ERROR_RANGE = 5,  /* a number out of range, or a code that stands for nothing */
    TL_ERROR_LENGTH = 6, /* a text, bytes or tiles beyond their limit */
    TL_ERROR_UTF8 = 7,   /* a text that is no UTF-8 */
    TL_ERROR_ROOM = 8    /* the buffer is too small */
} tl_error;

/* Decodes one message; on an error *message holds nothing to be used. */
tl_error tl_decode(const uint8_t *data, size_t length, tl_message *message);

/* Encodes one message into data; *length says how many bytes. TL_MESSAGE_LIMIT bytes are always room enough. */
tl_error tl_encode(const tl_message *message, uint8_t *data, size_t room, size_t *length);

/* Encodes an outcome (tl_dice_outcome after dice_roll, and so on: by the type of the operation) for op_result.values;
 * TL_ERROR_TYPE where that operation has none. */
tl_error tl_outcome_encode(uint8_t operation, const void *outcome, uint8_t *data, size_t room, size_t *length);

/* The tables behind them (table_link_messages.c). A row is one field; the rows of a message follow one another. */
typedef enum {
    TL_U8 = 0,       /* low..high */
    TL_U8_NONE = 1,  /* low..high, or 255 */
    TL_U16 = 2,
    TL_U32 = 3,
    TL_U64 = 4,
    TL_TEXT = 5,     /* at most high bytes */
    TL_BYTES = 6,
    TL_TILES = 7,
    TL_TILE = 8,
    TL_OPTIONAL = 9  /* a flag; where it is 0 the next count rows are not there */
} tl_kind;

typedef struct {
    uint8_t kind;
    uint8_t count;
    uint8_t low;
    uint8_t high;
    uint16_t offset;
} tl_row;

typedef struct {
    uint8_t type;
    uint8_t rows;
    uint16_t first;
} tl_layout;

extern const tl_row tl_rows[];
extern const tl_layout tl_layouts[];
extern const uint8_t tl_layout_count;
extern const tl_layout tl_outcomes[];
extern const uint8_t tl_outcome_count;

/* Whether a byte is the code of a tile, TL_TILE_UNKNOWN included. */
int tl_is_tile(uint8_t code);

#endif
"""

OPERATIONS_FIRST: Final = "0x20"
OPERATIONS_BEHIND: Final = "0x40"


def tables() -> str:
    """``table_link_messages.c``: a row a field, flat, in the order of the wire."""
    rows: list[str] = []
    layouts: list[str] = []
    outcomes: list[str] = []
    operation_of = {DiceOutcome: 0x26, SortOutcome: 0x24, WallOutcome: 0x28, SelfTestOutcome: 0x2A}
    sources: list[tuple[list[str], int, str, tuple[FieldSpec, ...]]] = [
        *((layouts, spec.type_id, snake(spec.name), spec.fields) for spec in CATALOGUE),
        *((outcomes, operation_of[cls], snake(cls.__name__), fields_of(cls)) for cls in _OUTCOMES),
    ]
    for into, type_id, name, fields in sources:
        own = [row for field in fields for row in _rows(field.wire, field.name)]
        into.append(f"    {{0x{type_id:02x}u, {len(own)}u, {len(rows)}u}}, /* {name} */")
        rows += [
            f"    {{(uint8_t)TL_{row.kind}, {row.count}u, {row.low}u, {row.high}u, "
            f"(uint16_t)offsetof(tl_{name}, {row.member})}},"
            for row in own
        ]
    suits = [(code & 0xF0, code & 0x0F) for tile, code in TILE_CODES.items() if tile != UNKNOWN_TILE]
    highest = {base: max(rank for suit, rank in suits if suit == base) for base, _ in suits}
    ranks = ", ".join(f"{highest[base]}u" for base in sorted(highest))
    return "\n".join(
        [
            _HEAD,
            '#include "table_link.h"',
            "",
            "const tl_row tl_rows[] = {",
            *rows,
            "};",
            "",
            "const tl_layout tl_layouts[] = {",
            *layouts,
            "};",
            "",
            f"const uint8_t tl_layout_count = {len(layouts)}u;",
            "",
            "/* By the operation whose result they are. */",
            "const tl_layout tl_outcomes[] = {",
            *outcomes,
            "};",
            "",
            f"const uint8_t tl_outcome_count = {len(outcomes)}u;",
            "",
            "int tl_is_tile(uint8_t code)",
            "{",
            "    /* The highest rank of each suit, the suit in the high nibble. */",
            f"    static const uint8_t ranks[] = {{{ranks}}};",
            "    const uint8_t suit = (uint8_t)(code >> 4);",
            "    const uint8_t rank = (uint8_t)(code & 0x0Fu);",
            "",
            "    if (code == TL_TILE_UNKNOWN) {",
            "        return 1;",
            "    }",
            "    return (suit < sizeof ranks) && (rank >= 1u) && (rank <= ranks[suit]);",
            "}",
            "",
        ]
    )


FILES: Final = {"table_link.h": header, "table_link_messages.c": tables}


def main(arguments: list[str]) -> int:
    """Write the files, or with ``--check`` only say whether they are up to date."""
    names = [argument for argument in arguments if argument != "--check"]
    folder, code = Path(names[0]) if names else FOLDER, 0
    for name, make in FILES.items():
        path, text = folder / name, make()
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        if before == text:
            print(f"{name}: up to date")
        elif "--check" in arguments:
            print(f"{name}: differs from the catalogue; run python -m protocol.serial.c_code", file=sys.stderr)
            code = 1
        else:
            path.write_text(text, encoding="utf-8")
            print(f"{name}: written")
    return code


# --- within -----------------------------------------------------------------------------------------------------------


def _enum(name: str, words: dict[str, int], hexadecimal: bool = False) -> list[str]:
    form = "0x{:02x}" if hexadecimal else "{}"
    told = [f"    TL_{name.upper()}_{word.upper()} = {form.format(code)}" for word, code in words.items()]
    return ["typedef enum {", *(f"{line}," for line in told[:-1]), told[-1], f"}} tl_{name}_code;"]


def _blobs() -> list[tuple[str, int]]:
    """The types of texts, bytes and tiles in use, each once."""
    found: dict[str, int] = {}
    specs: list[Iterable[FieldSpec]] = [spec.fields for spec in CATALOGUE]
    for fields in [*specs, *(fields_of(cls) for cls in _OUTCOMES)]:
        for field in fields:
            if isinstance(field.wire, Text | Blob | Tiles):
                found[_member(field.wire, "")[0]] = field.wire.limit
    return sorted(found.items())


def _struct(name: str, fields: Iterable[FieldSpec]) -> list[str]:
    lines = ["typedef struct {"]
    for field in fields:
        kind, member = _member(field.wire, field.name)
        said = f"/* {_plain(field.says)}: {_plain(field.wire.layout)} */"
        line = f"    {kind} {member}; {said}"
        lines += [line] if len(line) <= 120 else [*(f"    {part}" for part in wrap(said, 110)), f"    {kind} {member};"]
    return [*lines, f"}} tl_{name};"]


def _member(wire: Wire, name: str) -> tuple[str, str]:
    """The C type of a field and its declarator."""
    match wire:
        case Number(code=code, low=low):
            return f"{'int' if low < 0 else 'uint'}{_WIDTHS[code]}_t", name
        case Flag() | Word() | Tile():
            return "uint8_t", name
        case Text(limit=limit):
            return f"tl_text_{limit}", name
        case Blob(limit=limit):
            return f"tl_bytes_{limit}", name
        case Tiles(limit=limit):
            return f"tl_tiles_{limit}", name
        case Several(kind=kind, count=count):
            return _member(kind, "")[0], f"{name}[{count}]"
        case Record(build=build):
            return f"tl_{snake(build.__name__)}", name
        case Optional(kind=Record(build=build)) if build is OpId:
            return "tl_optional_op_id", name
        case Optional(kind=Several(kind=Number(code="B"), count=2)):
            return "tl_optional_dice", name
    raise ValueError(f"{name}: expected a kind of field that has a form in C, got {wire.layout}")


def _rows(wire: Wire, member: str) -> Iterator[Row]:
    """The rows of a field; records are laid flat."""
    match wire:
        case Number(code="B", low=low, high=high):
            yield Row("U8", 1, low, high, member)
        case Number(code=code, low=low, high=high):
            bits, signed = _WIDTHS[code], low < 0
            if (low, high) != ((-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)):
                raise ValueError(f"{member}: expected a range only of a u8, got {wire.layout}")
            yield Row(f"U{bits}", 1, 0, 0, member)
        case Flag():
            yield Row("U8", 1, 0, 1, member)
        case Word(codes=codes):
            values = sorted(codes.values())
            kind = "U8_NONE" if values[-1] == 0xFF else "U8"
            values = values[:-1] if kind == "U8_NONE" else values
            if values != list(range(values[0], values[-1] + 1)):
                raise ValueError(f"{member}: expected codes without a gap, got {wire.layout}")
            yield Row(kind, 1, values[0], values[-1], member)
        case Text(limit=limit):
            yield Row("TEXT", 1, 0, limit, member)
        case Blob(limit=limit):
            yield Row("BYTES", 1, 0, limit, member)
        case Tiles(limit=limit):
            yield Row("TILES", 1, 0, limit, member)
        case Tile():
            yield Row("TILE", 1, 0, 0, member)
        case Several(kind=kind, count=count):
            (row,) = _rows(kind, member)
            yield Row(row.kind, count, row.low, row.high, row.member)
        case Record(fields=fields):
            for name, part in fields:
                yield from _rows(part, f"{member}.{name}")
        case Optional(kind=kind):
            inner = list(_rows(kind, f"{member}.value"))
            yield Row("OPTIONAL", len(inner), 0, 1, f"{member}.present")
            yield from inner
        case _:
            raise ValueError(f"{member}: expected a kind of field that has a form in C, got {wire.layout}")


def _plain(text: str) -> str:
    """Words that may stand in a C comment, on one line, in ASCII."""
    for sign, word in (("–", "-"), ("×", "x"), ("≤", "<="), ("→", "->"), ("八卦", "bagua"), ("/*", ""), ("*/", "")):
        text = text.replace(sign, word)
    return text.encode("ascii", "replace").decode()


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _is_operation(spec: MessageSpec) -> bool:
    """As the macro TL_IS_OPERATION has it."""
    return int(OPERATIONS_FIRST, 16) <= spec.type_id < int(OPERATIONS_BEHIND, 16)


assert all(_is_operation(spec) == (spec.cls in OPERATIONS) for spec in CATALOGUE)

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
