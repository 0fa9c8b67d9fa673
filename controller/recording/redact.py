"""Takes out of a recording what is anybody's secret: tiles of hands and walls, serial numbers, names, journal notes.

Frames stay frames: a message with hidden tiles is encoded anew with as many unknown ones (`??`), the same serial number
always becomes the same other word, and bytes that were no frame become as many bytes that are none. Of the core's
stream only what lies open at the table stays: a redacted recording still decodes, and cannot be replayed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from controller.private_files import private_folder, write_private
from controller.recording.format import CORE, Recording, part_name, parts_in, read_part, read_recording
from controller.redaction import PUBLIC_EVENTS, WITHHELD
from protocol.serial import messages as serial
from protocol.serial.frames import DELIMITER, Frame, FrameKind, decode_frame, encode_frame
from protocol.serial.messages import CATALOGUE, UNKNOWN_TILE, decode_message, encode_message
from protocol.serial.parts import WallOutcome
from protocol.serial.wire import MessageError, Tile, Tiles

FILLER: Final = b"\xff"
"""No frame and no message begins with it."""

_TILED: Final = {
    spec.cls: {part.name: isinstance(part.wire, Tiles) for part in spec.fields if isinstance(part.wire, Tiles | Tile)}
    for spec in CATALOGUE
}
"""By message the fields that hold tiles, and whether several."""

_TELLS_NO_TILE: Final = (serial.DiceRoll, serial.SortStart, serial.SelfTest)
_NAMED_EVENTS: Final = frozenset(
    {"MatchStarted", "SessionSaid", "SeatsTaken", "SwapAsked", "Audited", "ServiceBegun", "ServiceDone", "ServiceEnded",
     "HandEnded", "HandRebooked", "HandReopened"}
)  # fmt: skip
"""Open at the table, but with people's names or hands in them."""

_FACES: Final = re.compile(r"([1-9]+[mpszf])+")
_WHO: Final = frozenset({"by", "names", "params", "id", "name"})


class Redactor:
    """Redacts the streams of one recording; words are replaced alike in all of them."""

    def __init__(self) -> None:
        self._serials: dict[str, str] = {}
        self._open_ops: set[serial.OpId] = set()

    def rows(self, name: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """The entries of one stream without secrets; half a frame goes with the entry that completes it."""
        if name == CORE:
            yield from map(_core_row, rows)
            return
        begun = {"in": b"", "out": b""}
        for row in rows:
            if "way" not in row:
                if row.get("note") in ("opened", "closed"):
                    begun = {"in": b"", "out": b""}
                yield dict(row)
                continue
            pieces = (begun[row["way"]] + bytes.fromhex(row["hex"])).split(DELIMITER)
            begun[row["way"]] = pieces.pop()[-2 * serial.MESSAGE_LIMIT :]
            if pieces:
                yield {**row, "hex": b"".join(self._piece(piece) for piece in pieces).hex()}

    def head(self, name: str, head: Mapping[str, Any]) -> dict[str, Any]:
        """The head of one stream without secrets."""
        told = {**head, "redacted": True}
        return {**told, "state": None, "notes": {}} if name == CORE else told

    def message(self, message: serial.Message) -> serial.Message:
        """A message without what is secret in it."""
        if isinstance(message, _TELLS_NO_TILE):
            self._open_ops.add(message.op)
        if isinstance(message, serial.Identity):
            return replace(message, serial_number=self._serial(message.serial_number))
        if isinstance(message, serial.Identify):
            return replace(message, host="host")
        if isinstance(message, serial.OpResult) and message.values and message.op not in self._open_ops:
            return replace(message, values=_hidden_values(message.values))
        hidden = {
            name: (UNKNOWN_TILE,) * len(getattr(message, name)) if several else UNKNOWN_TILE
            for name, several in _TILED[type(message)].items()
        }
        made: serial.Message = replace(message, **hidden)  # type: ignore[arg-type]
        return made

    def _serial(self, number: str) -> str:
        return self._serials.setdefault(number, f"S{len(self._serials) + 1}")

    def _piece(self, piece: bytes) -> bytes:
        """What stands between two delimiters, with its closing one."""
        if not piece:
            return DELIMITER
        frame = decode_frame(piece)
        if not isinstance(frame, Frame):
            return FILLER * len(piece) + DELIMITER
        if frame.kind != FrameKind.DATA:
            return piece + DELIMITER
        try:
            payload = encode_message(self.message(decode_message(frame.payload)))
        except MessageError:
            payload = FILLER * len(frame.payload)
        return encode_frame(replace(frame, payload=payload))


def redact(source: Path, out: Path) -> Recording:
    """Write the recording in `source` to the folder `out` without secrets; the redacted recording, as it can be read.

    RecordingError where the source cannot be read, FileExistsError where `out` holds something.
    """
    recording = read_recording(source)
    private_folder(out)
    if any(out.iterdir()):
        raise FileExistsError(f"{out}: expected an empty or a new folder")
    redactor = Redactor()
    for name, stream in sorted(recording.streams.items(), key=lambda one: one[0] == CORE):
        head = {**redactor.head(name, stream.head), "part": stream.first_part}
        lines = [json.dumps(row, ensure_ascii=False) for row in (head, *redactor.rows(name, stream.entries))]
        write_private(out / part_name(name, stream.first_part), ("\n".join(lines) + "\n").encode())
    return read_recording(out)


def redacted_ends(folder: Path) -> dict[str, bytes]:
    """The newest file of each stream in a recording by its name, without secrets; RecordingError as ever."""
    redactor = Redactor()
    files: dict[str, bytes] = {}
    for name, parts in sorted(parts_in(folder).items(), reverse=True):
        path = parts[-1][1]
        head, rows, _ = read_part(name, path)
        told = (redactor.head(name, head), *redactor.rows(name, (row for _, row in rows)))
        files[path.name] = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in told).encode()
    return files


def _hidden_values(values: bytes) -> bytes:
    try:
        wall = WallOutcome.unpack(values)
    except MessageError:
        return bytes(len(values))
    return WallOutcome((UNKNOWN_TILE,) * len(wall.tiles), wall.confidence).pack()


def _core_row(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in row.items() if key not in ("in", "out", "id", "seat")}
    if "in" in row:
        said = row["in"] if isinstance(row["in"], Mapping) else {}
        seats = said.get("type") == "SeatAction"  # who claims, or lets go by, is nobody else's to know
        kept["in"] = {
            key: WITHHELD if key in _WHO or (seats and key != "type") else without_tiles(value)
            for key, value in said.items()
        }
    if row.get("input") == "SeatAction":
        kept["refused"] = WITHHELD
    if "out" in row:
        events = row["out"] if isinstance(row["out"], list) else []
        kept["out"] = [_event(event) for event in events if isinstance(event, Mapping)]
    return kept


def _event(event: Mapping[str, Any]) -> dict[str, Any]:
    name = str(event.get("type"))
    if name not in PUBLIC_EVENTS or name in _NAMED_EVENTS:
        return {"type": name, WITHHELD: sorted(key for key in event if key != "type")}
    return {key: value if key == "type" else without_tiles(value) for key, value in event.items()}


def without_tiles(value: Any) -> Any:
    """JSON data with `??` for each tile, wherever it stands; what is named after tiles is emptied."""
    if isinstance(value, str):
        if _FACES.fullmatch(value) is None:
            return value
        return UNKNOWN_TILE * sum(character.isdigit() for character in value)
    if isinstance(value, list | tuple):
        return [without_tiles(one) for one in value]
    if isinstance(value, Mapping):
        if any(_FACES.fullmatch(str(key)) for key in value):
            return {}
        return {key: without_tiles(one) for key, one in value.items()}
    return value

