"""The flight recorder keeps the end of the story and no secret."""

import json
import random
from typing import Any

import pytest

from protocol.serial import wire
from protocol.serial.declaration import TO_HOST, MessageSpec
from protocol.serial.frames import Frame, FrameKind
from protocol.serial.link import Link
from protocol.serial.messages import (
    CATALOGUE,
    TILE_CODES,
    DiceOutcome,
    DiceRoll,
    Message,
    OpId,
    OpResult,
    Ping,
    ReadWall,
    TileFlipped,
    WallOutcome,
    Zone,
    encode_message,
)
from protocol.serial.recorder import FLIGHT_LENGTH, FlightRecorder

ROLL, WALL = OpId(1, 1, 1, 0), OpId(1, 1, 2, 0)


def heard(recorder: FlightRecorder, message: Message, now: float = 1.0) -> None:
    recorder.heard(Frame("mcu", FrameKind.DATA, 7, 1, 2, encode_message(message)), now)


def said(recorder: FlightRecorder, message: Message, now: float = 1.0) -> None:
    recorder.said(Frame("host", FrameKind.DATA, 7, 1, 2, encode_message(message)), now)


def text_of(lines: list[dict[str, Any]]) -> str:
    return json.dumps(lines, ensure_ascii=False)


def test_the_last_200_frames_each_way_in_order() -> None:
    recorder = FlightRecorder()
    for turn in range(1000):
        recorder.said(Frame("host", FrameKind.ACK, 7, turn % 256), float(turn))
        if turn % 2:
            recorder.heard(Frame("mcu", FrameKind.ACK, 7, turn % 256), turn + 0.5)
    lines = recorder.dump()
    assert [sum(line["way"] == way for line in lines) for way in ("in", "out")] == [FLIGHT_LENGTH] * 2
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)
    assert lines[-1]["at"] == 999.5


def test_a_link_writes_its_flight_with_names() -> None:
    chance, recorder = random.Random(1), FlightRecorder()
    host = Link("host", lambda: chance.getrandbits(32), recorder=recorder)
    mcu = Link("mcu", lambda: chance.getrandbits(32))
    for turn in range(3):
        mcu.receive(host.outgoing(turn / 10), turn / 10)
        host.receive(mcu.outgoing(turn / 10), turn / 10)
    host.send(DiceRoll(ROLL))
    host.outgoing(0.4)
    host.receive(b"AT\r\x00", 0.5)
    lines = recorder.dump()
    assert [line["frame"] for line in lines][:2] == ["HELLO", "HELLO_ACK"]
    roll = next(line for line in lines if line.get("message") == "DiceRoll")
    assert roll["fields"] == {"op": str(ROLL)}
    assert (roll["at"], roll["way"]) == (0.4, "out")
    assert lines[-1] == {"at": 0.5, "way": "in", "frame": "garbage", "error": "cobs", "length": 3}
    assert json.loads(text_of(lines)) == lines


def test_hidden_tiles_stay_hidden_unless_asked_for() -> None:
    recorder = FlightRecorder()
    said(recorder, ReadWall(WALL, "E"))
    heard(recorder, OpResult(WALL, "done", values=WallOutcome(("3p", "9s"), 97).pack()))
    heard(recorder, Zone("S", "hand", ("3p", "9s"), 97))
    recorder.heard(Frame("mcu", FrameKind.DATA, 7, 1, 2, b"\xc1\x01\x00\x02\x13\x29"), 2.0)  # cut short: undecodable
    told = text_of(recorder.dump())
    assert "3p" not in told
    assert "13 29" not in told
    assert "2 hidden" in told
    assert "3p" in text_of(recorder.dump(reveal=True))


@pytest.mark.parametrize("spec", CATALOGUE, ids=lambda spec: spec.name)
def test_no_message_of_the_catalogue_tells_a_concealed_tile(spec: MessageSpec) -> None:
    """Whatever carries tile codes is hidden, what is added later too; only a tile turned up in the wall is open."""
    carried = [field for field in spec.fields if isinstance(field.wire, wire.Tiles | wire.Tile | wire.Blob)]
    if not carried:
        return
    face, code = "7s", TILE_CODES["7s"]
    given: dict[str, Any] = {}
    for field in spec.fields:
        match field.wire:
            case wire.Tiles():
                given[field.name] = (face,) * 3
            case wire.Tile():
                given[field.name] = face
            case wire.Blob():
                given[field.name] = bytes((code,)) * 5
            case wire.Word():
                given[field.name] = next(iter(field.wire.codes))
            case wire.Record():
                given[field.name] = WALL
            case wire.Text():
                given[field.name] = "x"
            case _:
                given[field.name] = 1
    recorder = FlightRecorder()
    (heard if spec.direction == TO_HOST else said)(recorder, spec.cls(**given))
    told = text_of(recorder.dump())
    shown = face in told or f"{code:02x} {code:02x}" in told
    assert shown == (spec.cls is TileFlipped)


def test_what_everybody_sees_is_told() -> None:
    recorder = FlightRecorder()
    said(recorder, DiceRoll(ROLL))
    heard(recorder, OpResult(ROLL, "done", values=DiceOutcome((5, 1), "clean", 3800).pack()))
    heard(recorder, TileFlipped("W10b", "3p", 99))
    said(recorder, Ping(1))
    lines = recorder.dump()
    assert lines[1]["fields"]["values"] == "01 05 01 00 d8 0e"
    assert lines[2]["fields"] == {"position": "W10b", "tile": "3p", "confidence": 99}
