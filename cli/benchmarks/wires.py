"""The wires without I/O: serial frames and messages, and the snapshots that travel over MQTT."""

from __future__ import annotations

import json
from functools import partial
from itertools import count

from pydantic_core import to_json

from cli.benchmarks.rows import Goal, Row, in_turn, seconds_of
from controller import views
from controller.live import Live, TableFacts
from engine.tiles import SEATS
from protocol.serial.events import Delivered
from protocol.serial.frames import Frame, FrameDecoder, FrameKind, encode_frame
from protocol.serial.link import Link
from protocol.serial.messages import DiceOutcome, Message, OpId, OpResult, encode_message

_FRAMES = 2_000
_MESSAGES = 2_000
_ROUNDS = 9


def frames() -> list[Row]:
    """Frames of a dice result encoded, and decoded out of one stream, a second."""
    payload = encode_message(_dice_result())
    made = [Frame("mcu", FrameKind.DATA, 0x1234_5678, number & 0xFF, 0, payload) for number in range(_FRAMES)]
    stream = b"".join(map(encode_frame, made))

    def encode() -> None:
        for frame in made:
            encode_frame(frame)

    def decode() -> None:
        found = FrameDecoder().feed(stream)
        assert len(found) == _FRAMES

    times = in_turn(encode, decode, _ROUNDS)
    size = f"{len(stream) / _FRAMES:.0f} bytes each"
    line = 115_200 / 10 / (len(stream) / _FRAMES)
    return [
        Row("frames", "serial frames encoded", "a second", _FRAMES / times.ours, unit="/s", detail=size),
        Row(
            "frames", "serial frames decoded", "a second", _FRAMES / times.theirs, unit="/s",
            detail=f"a line of 115200 baud carries {line:.0f}",
        ),
    ]  # fmt: skip


def link() -> list[Row]:
    """Messages from one link to another, acknowledged, in windows of eight."""
    board, host = _connected()
    message = _dice_result()

    def exchange() -> None:
        left = _MESSAGES
        delivered = 0
        while delivered < _MESSAGES:
            while left and board.room:
                board.send(message)
                left -= 1
            events = host.receive(board.outgoing(0.0), 0.0)
            delivered += sum(isinstance(event, Delivered) for event in events)
            board.receive(host.outgoing(0.0), 0.0)

    exchange()
    seconds = min(seconds_of(exchange) for _ in range(_ROUNDS))
    return [Row("link", "link messages delivered and acknowledged", "a second", _MESSAGES / seconds, unit="/s")]


def snapshot() -> list[Row]:
    """A public snapshot in the middle of a hand, encoded as the daemon does and by `json.dumps`."""
    from cli.benchmarks.opening import at_gold_roll

    facts = TableFacts("new-xiamen-120", "zhitui", "none", "read", "guide", 2, 0)
    state = at_gold_roll()
    live = Live(facts, link="up")
    public = views.public_view(state, live)
    repeated = range(200)

    def ours() -> None:
        for _ in repeated:
            to_json(public)

    def theirs() -> None:
        for _ in repeated:
            json.dumps(public)

    def whole() -> None:
        # As the daemon does at each change: the public part once, and what each of the four seats alone receives.
        for _ in repeated:
            shown = views.public_view(state, live)
            to_json(shown)
            for seat in SEATS:
                to_json(views.seat_view(state, seat, live, shown)["me"])

    times = in_turn(ours, theirs, _ROUNDS)
    each = seconds_of(whole) / len(repeated)
    size = len(to_json(public))
    return [
        Row(
            "snapshot", "state snapshot encoded", "json.dumps of the same dict", times.ratio, Goal("at most", 0.4),
            detail=f"{size} bytes: {_us(times.ours / 200)} against {_us(times.theirs / 200)}",
        ),
        Row("snapshot", "views of all audiences made and encoded", "a second", 1 / each, unit="/s", detail=_us(each)),
    ]  # fmt: skip


def _dice_result() -> Message:
    return OpResult(OpId(0xA1B2_C3D4_E5F6_0718, 3, 7, 1), "done", "", "", DiceOutcome((5, 1), "clean", 3_100).pack())


def _connected() -> tuple[Link, Link]:
    """A board and a host with a session between them."""
    numbers = count(1)
    board, host = (Link(role, partial(next, numbers)) for role in ("mcu", "host"))
    while not (board.connected and host.connected):
        board.receive(host.outgoing(0.0), 0.0)
        host.receive(board.outgoing(0.0), 0.0)
    return board, host


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs"
