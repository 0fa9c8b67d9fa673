"""Writes the tables of ``docs/serial.md``: ``python -m protocol.serial.document [--check] [FILE]``."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from protocol.serial.faults import FAULTS
from protocol.serial.frames import Frame, FrameKind, encode_frame
from protocol.serial.messages import (
    CATALOGUE,
    Capabilities,
    DiceFaces,
    DiceOutcome,
    DiceQuery,
    DiceRoll,
    Identify,
    Identity,
    Message,
    MessageSpec,
    OpAccepted,
    OpId,
    OpResult,
    Ping,
    Pong,
    SelfTestOutcome,
    SortOutcome,
    SortStart,
    WallOutcome,
    encode_message,
)
from protocol.serial.parts import FAULT
from protocol.serial.vocabulary import LEARNED, MOTORS, MOVING_TESTS, SELF_TESTS, SENSOR_BITS, SENSOR_VALUES, TILE_CODES
from protocol.serial.wire import fields_of

DOCUMENT: Final = Path(__file__).resolve().parents[2] / "docs" / "serial.md"

_GROUPS: Final[dict[str, range]] = {
    "Requests (host → MCU)": range(0x00, 0x20),
    "Operations (host → MCU)": range(0x20, 0x40),
    "Shows and stops (host → MCU)": range(0x40, 0x80),
    "Answers (MCU → host)": range(0x80, 0xA0),
    "Course of operations (MCU → host)": range(0xA0, 0xC0),
    "Events (MCU → host)": range(0xC0, 0x100),
}

_FAULT_HEAD: Final = ("no.", "code", "usual severity", "mechanism", "side", "means")
_SESSION: Final = 0x1B9D3F42 ^ 0x8C5A0E77
_OP: Final = OpId(0x5EED0123456789AB, 3, 7, 0)
_IDENTITY: Final = Identity(
    1, 1, "1.0.3", "four-port", "KJ-0042", 0x0BADCAFE, Capabilities(), 144, (18, 18, 18, 18), None, ""
)  # fmt: skip


def messages() -> str:
    """Every message with its fields, grouped by what it is for."""
    parts = []
    for title, types in _GROUPS.items():
        parts += [f"### {title}", ""]
        for spec in CATALOGUE:
            if spec.type_id in types:
                parts += [*_message(spec), ""]
    return "\n".join(parts).rstrip()


def parts() -> str:
    """The records inside messages, and the outcomes inside ``OpResult.values``."""
    lines: list[str] = []
    for cls in (OpId, Capabilities, DiceOutcome, SortOutcome, WallOutcome, SelfTestOutcome):
        says = " ".join((cls.__doc__ or "").split("\n\n")[0].split())
        lines += [f"**{cls.__name__}** – {says}", ""]
        lines += [*_table(("field", "wire", "says"), ((f.name, f.wire.layout, f.says) for f in fields_of(cls))), ""]
    return "\n".join(lines).rstrip()


def faults() -> str:
    """The fault vocabulary."""
    rows = (
        (
            str(FAULT.codes[code]),
            f"`{code}`",
            fault.severity,
            fault.mechanism,
            "yes" if fault.sided else "–",
            fault.says,
        )
        for code, fault in FAULTS.items()
    )
    return "\n".join(_table(_FAULT_HEAD, rows))


def numbers() -> str:
    """Tiles, motors, learned movements and sensors by number."""
    suits = {"m": "characters", "p": "dots", "s": "bamboo", "z": "honours", "f": "flowers"}
    tiles = []
    for suit, name in suits.items():
        codes = [(tile, code) for tile, code in TILE_CODES.items() if tile.endswith(suit)]
        (first, low), (last, high) = codes[0], codes[-1]
        tiles.append((f"{first} – {last}", f"0x{low:02x} – 0x{high:02x}", name))
    tiles.append(("??", "0xff", "a tile that could not be read"))
    motors = [(str(number), MOTORS[number], LEARNED[number]) for number in range(len(MOTORS))]
    bits = [(str(bit), name) for bit, name in enumerate(SENSOR_BITS)]
    tests = [(str(place), name, "yes" if name in MOVING_TESTS else "–") for place, name in enumerate(SELF_TESTS)]
    values = [(str(place), name, unit) for place, (name, unit) in enumerate(SENSOR_VALUES)]
    return "\n".join(
        [
            *_table(("tile", "code", "suit"), tiles),
            "",
            *_table(("no.", "motor (`Jog`, `motor_seconds`)", "movement (`learned_ms`)"), motors),
            "",
            *_table(("bit of `Sensors.bits`", "set when it is so"), bits),
            "",
            *_table(("place in `Sensors.values`", "name", "unit"), values),
            "",
            *_table(("number of `SelfTest`", "looks at", "moves"), tests),
        ]
    )


def vectors() -> str:
    """A short talk in bytes, as it lies on the line."""
    host, mcu = "host", "mcu"
    window = b"\x08"
    own = 0x1B9D3F42
    sort = SortStart(OpId(_OP.journal, 3, 8, 0), 2)
    talk: list[tuple[str, Frame, Message | None]] = [
        ("HELLO", Frame("host", FrameKind.HELLO, own, payload=window), None),
        ("HELLO_ACK", Frame("mcu", FrameKind.HELLO_ACK, own, payload=bytes.fromhex("770e5a8c") + window), None),
        ("ACK, confirms the session", Frame("host", FrameKind.ACK, _SESSION), None),
        *_data(host, 0, 0, Identify(1, 1, 1, "kaijin 0.1")),
        *_data(mcu, 0, 1, _IDENTITY),
        *_data(host, 1, 1, DiceRoll(_OP)),
        *_data(mcu, 1, 2, OpAccepted(_OP)),
        *_data(mcu, 2, 2, OpResult(_OP, "done", values=DiceOutcome((5, 1), "clean", 3800).pack())),
        *_data(host, 2, 3, DiceQuery(2)),
        *_data(mcu, 3, 3, DiceFaces(2, True, (5, 1))),
        *_data(host, 3, 4, sort),
        *_data(mcu, 4, 4, OpAccepted(sort.op)),
        *_data(host, 4, 5, Ping(3)),
        *_data(mcu, 5, 5, Pong(3)),
        ("NAK, the host's frame 5 could not be read", Frame("mcu", FrameKind.NAK, _SESSION, 6, 5), None),
        ("BYE", Frame("host", FrameKind.BYE, _SESSION, 5, 6), None),
        ("RESET, to a frame that came after it", Frame("mcu", FrameKind.RESET, _SESSION), None),
    ]
    lines = []
    for what, frame, message in talk:
        lines.append(f"{frame.sender:4} {what}")
        if message is not None:
            lines.append(f"     message {encode_message(message).hex(' ')}")
        lines.append(f"     line    {encode_frame(frame).hex(' ')}")
    return "\n".join(["```text", *lines, "```"])


SECTIONS: Final[dict[str, Callable[[], str]]] = {
    "messages": messages,
    "parts": parts,
    "faults": faults,
    "numbers": numbers,
    "vectors": vectors,
}


def renewed(text: str) -> str:
    """The document with every generated section as the code has it now; ValueError if a section's marks are missing."""
    for name, make in SECTIONS.items():
        begin, end = f"<!-- generated: {name} -->\n", f"<!-- end: {name} -->"
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise ValueError(f"section {name}: expected the marks {begin.strip()} and {end}")
        text = f"{before}{begin}\n{make()}\n\n{end}{after}"
    return text


def main(arguments: list[str]) -> int:
    """Renew the document, or with ``--check`` only say whether it is up to date."""
    names = [argument for argument in arguments if argument != "--check"]
    path = Path(names[0]) if names else DOCUMENT
    try:
        before = path.read_text(encoding="utf-8")
        after = renewed(before)
    except (OSError, ValueError) as error:
        print(f"{path.name}: {error}", file=sys.stderr)
        return 2
    if before == after:
        print(f"{path.name}: up to date")
        return 0
    if "--check" in arguments:
        print(f"{path.name}: differs from the catalogue; run python -m protocol.serial.document", file=sys.stderr)
        return 1
    path.write_text(after, encoding="utf-8")
    print(f"{path.name}: renewed")
    return 0


def _message(spec: MessageSpec) -> list[str]:
    head = f"**0x{spec.type_id:02x} {spec.name}** – {spec.says}"
    if not spec.fields:
        return [head, "", "No fields."]
    return [head, "", *_table(("field", "wire", "says"), ((f.name, f.wire.layout, f.says) for f in spec.fields))]


def _data(sender: str, seq: int, ack: int, message: Message) -> list[tuple[str, Frame, Message | None]]:
    role: Final = "mcu" if sender == "mcu" else "host"
    frame = Frame(role, FrameKind.DATA, _SESSION, seq, ack, encode_message(message))
    return [(f"DATA {seq}, ack {ack}: {type(message).__name__}", frame, message)]


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = [head, tuple("---" for _ in head), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
