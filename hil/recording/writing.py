"""A story as a recording again: its messages in frames of sessions made anew, so that any part of one can be read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from controller.private_files import private_folder, write_private
from controller.recording.core import encode_input, source_of
from controller.recording.format import part_name
from hil.recording.story import Item, Story
from protocol.serial.frames import DELIMITER, Frame, FrameKind, Role, encode_frame
from protocol.serial.messages import Message, encode_message

WINDOW = 8


def write_story(story: Story, out: Path) -> None:
    """Write the recording into an empty or new folder; FileExistsError where something is in it."""
    private_folder(out)
    if any(out.iterdir()):
        raise FileExistsError(f"{out}: expected an empty or a new folder")
    rows: dict[str, list[Mapping[str, Any]]] = {name: [{**head, "part": 1}] for name, head in story.heads.items()}
    lines = [_LineWriter() for _ in range(story.lines)]
    n = 0
    for item in story.items:
        name = f"line-{item.line}" if item.line else "core"
        told = lines[item.line - 1].rows(item) if item.line else _core_rows(item)
        for row in told:
            n += 1
            rows[name].append({"n": n, "at": round(item.at, 6), **row})
    for name, entries in rows.items():
        text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
        write_private(out / part_name(name, 1), text.encode("utf-8", "backslashreplace"))


def _core_rows(item: Item) -> Iterator[dict[str, Any]]:
    match item.kind:
        case "input" if item.happened is not None:
            row: dict[str, Any] = {"in": encode_input(item.happened), "from": source_of(item.happened)}
            if item.seat:
                row |= {"seat": item.seat, "id": item.id}
            elif item.asked:
                row["asked"] = "1"
            yield row
        case "events":
            yield {"out": list(item.events)}
        case "refused":
            yield {"out": [], "refused": item.reason, "input": item.id}
        case "gap":
            yield {"note": "gap", "entries": item.reason}
        case "end":
            yield {"note": "end"}


class _LineWriter:
    """Frames of one line, numbered as a link would number them."""

    def __init__(self) -> None:
        self._sessions = 0
        self._tag = 0
        self._from_host = self._from_board = 0

    def rows(self, item: Item) -> Iterator[dict[str, Any]]:
        match item.kind:
            case "opened":
                yield {"note": "opened"}
            case "no_port":
                yield {"note": "no_port", "code": item.reason}
            case "closed":
                yield {"note": "closed", **({"by": "port", "reason": item.reason} if item.reason else {"by": "host"})}
            case "gap":
                yield {"note": "gap", "entries": item.reason}
            case "session":
                yield from self._session()
            case "reset" if item.reason in ("reset", "bye"):
                yield _row("in", Frame("mcu", FrameKind[item.reason.upper()], self._tag, self._from_board))
            case "reset":
                yield _row("out", self._hello(self._sessions + 1))
            case "end":
                if self._tag:
                    yield _row("out", Frame("host", FrameKind.BYE, self._tag, self._from_host, self._from_board))
                yield {"note": "closed", "by": "host"}
            case "said" if item.message is not None:
                yield _row("in", self._data("mcu", self._from_board, self._from_host, item.message))
                self._from_board = (self._from_board + 1) & 0xFF
            case "asked" if item.message is not None:
                yield _row("out", self._data("host", self._from_host, self._from_board, item.message))
                self._from_host = (self._from_host + 1) & 0xFF

    def _session(self) -> Iterator[dict[str, Any]]:
        self._sessions += 1
        host, board = self._sessions, 0x4B000000 + self._sessions
        self._tag, self._from_host, self._from_board = host ^ board, 0, 0
        yield _row("out", self._hello(host))
        payload = board.to_bytes(4, "little") + bytes((WINDOW,))
        yield _row("in", Frame("mcu", FrameKind.HELLO_ACK, host, payload=payload))

    def _hello(self, host: int) -> Frame:
        return Frame("host", FrameKind.HELLO, host, payload=bytes((WINDOW,)))

    def _data(self, sender: Role, seq: int, ack: int, message: Message) -> Frame:
        return Frame(sender, FrameKind.DATA, self._tag, seq, ack, encode_message(message))


def _row(way: str, frame: Frame) -> dict[str, Any]:
    return {"way": way, "hex": (DELIMITER + encode_frame(frame)).hex()}
